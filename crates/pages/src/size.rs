//! Sizes of explicit huge pages.

use std::fmt;

/// The size of an explicit huge page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PageSize {
    /// 2 MB.
    TwoMegabytes,
    /// 1 GB.
    OneGigabyte,
}

impl PageSize {
    /// Both.
    pub const ALL: [PageSize; 2] = [PageSize::TwoMegabytes, PageSize::OneGigabyte];

    /// In bytes.
    pub const fn bytes(self) -> usize {
        match self {
            PageSize::TwoMegabytes => 2 << 20,
            PageSize::OneGigabyte => 1 << 30,
        }
    }

    /// What tells the kernel.
    pub(crate) const fn flag(self) -> libc::c_int {
        match self {
            PageSize::TwoMegabytes => libc::MAP_HUGE_2MB,
            PageSize::OneGigabyte => libc::MAP_HUGE_1GB,
        }
    }

    /// How many of these pages hold so many bytes.
    pub const fn pages_for(self, bytes: usize) -> u64 {
        bytes.div_ceil(self.bytes()) as u64
    }
}

impl fmt::Display for PageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PageSize::TwoMegabytes => "2 MB",
            PageSize::OneGigabyte => "1 GB",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_rounded_up() {
        assert_eq!(PageSize::TwoMegabytes.pages_for(1), 1);
        assert_eq!(PageSize::TwoMegabytes.pages_for(4 << 20), 2);
        assert_eq!(PageSize::OneGigabyte.pages_for((1 << 30) + 1), 2);
    }
}
