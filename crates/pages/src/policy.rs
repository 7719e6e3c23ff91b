//! Kinds of pages.

use crate::error::{Error, Result};
use crate::pool::Pool;
use crate::size::PageSize;
use std::fmt;
use std::fs;
use std::str::FromStr;
use std::sync::OnceLock;

/// The kind of pages that a mapping asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Policy {
    /// Small pages only, also where the system's setting would give huge ones.
    Small,
    /// Transparent huge pages: memory is aligned for them and the kernel is asked for them. It gives small ones where it finds
    /// no huge one.
    Transparent,
    /// Pages of a hugetlb pool; nothing else is obtained.
    Explicit(PageSize),
}

impl Policy {
    /// All of them, the smallest pages first.
    pub const ALL: [Policy; 4] = [
        Policy::Small,
        Policy::Transparent,
        Policy::Explicit(PageSize::TwoMegabytes),
        Policy::Explicit(PageSize::OneGigabyte),
    ];

    /// As the user writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Policy::Small => "small",
            Policy::Transparent => "transparent",
            Policy::Explicit(PageSize::TwoMegabytes) => "2m",
            Policy::Explicit(PageSize::OneGigabyte) => "1g",
        }
    }

    /// What to ask for when this cannot be had; nothing is below small pages.
    pub const fn smaller(self) -> Option<Policy> {
        match self {
            Policy::Small => None,
            Policy::Transparent => Some(Policy::Small),
            Policy::Explicit(PageSize::TwoMegabytes) => Some(Policy::Transparent),
            Policy::Explicit(PageSize::OneGigabyte) => Some(Policy::Explicit(PageSize::TwoMegabytes)),
        }
    }

    /// Lengths and addresses of mappings are multiples of so many bytes.
    pub fn granule(self) -> usize {
        match self {
            Policy::Small => small_page_bytes(),
            Policy::Transparent => transparent_page_bytes(),
            Policy::Explicit(size) => size.bytes(),
        }
    }

    /// Whether a mapping of so many bytes can be had now, and if not why and what to do. Whoever maps may still come too late.
    pub fn available(self, bytes: usize) -> Result<()> {
        match self {
            Policy::Small => Ok(()),
            Policy::Transparent => transparent_allowed(),
            Policy::Explicit(size) => Pool::find(size)?.holds(size.pages_for(bytes)),
        }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Policy::Small => write!(f, "{} KB pages", small_page_bytes() >> 10),
            Policy::Transparent => f.write_str("transparent huge pages"),
            Policy::Explicit(size) => write!(f, "explicit {size} pages"),
        }
    }
}

impl FromStr for Policy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Policy> {
        let names: Vec<&str> = Policy::ALL.iter().map(|policy| policy.name()).collect();
        Policy::ALL
            .into_iter()
            .find(|policy| policy.name() == text)
            .ok_or_else(|| Error::new(format!("unknown pages '{text}'; choose one of {}", names.join(", "))))
    }
}

/// The size of a small page in bytes.
pub fn small_page_bytes() -> usize {
    // SAFETY: sysconf has no preconditions.
    usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096)
}

const TRANSPARENT: &str = "/sys/kernel/mm/transparent_hugepage";

/// The size of a transparent huge page in bytes; 2 MB where the kernel does not tell. Read once: no kernel changes it.
pub fn transparent_page_bytes() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let told = fs::read_to_string(format!("{TRANSPARENT}/hpage_pmd_size"));
        told.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(2 << 20)
    })
}

/// Linux has a setting for all sizes, and since 6.8 one for each size, which may say `inherit`.
fn transparent_allowed() -> Result<()> {
    let size = format!("{TRANSPARENT}/hugepages-{}kB/enabled", transparent_page_bytes() >> 10);
    let general = format!("{TRANSPARENT}/enabled");
    for path in [size, general] {
        match fs::read_to_string(&path).ok().as_deref().and_then(chosen) {
            Some("inherit") | None => {}
            Some("never") => {
                return Err(Error::new(format!(
                    "transparent huge pages are switched off; as root: echo madvise > {path}"
                )));
            }
            Some(_) => return Ok(()),
        }
    }
    Err(Error::new(
        "this kernel has no transparent huge pages; use small ones, or a kernel built with CONFIG_TRANSPARENT_HUGEPAGE",
    ))
}

/// The kernel's setting for all processes: `always`, `madvise` or `never`. `None` where it has no such pages.
pub fn transparent_setting() -> Option<String> {
    let text = fs::read_to_string(format!("{TRANSPARENT}/enabled")).ok()?;
    chosen(&text).map(str::to_owned)
}

/// The word in brackets of a file such as `always [madvise] never`.
fn chosen(text: &str) -> Option<&str> {
    Some(text.split_once('[')?.1.split_once(']')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_read_as_they_are_written() {
        for policy in Policy::ALL {
            assert_eq!(policy.name().parse::<Policy>().unwrap(), policy);
        }
        assert!("4m".parse::<Policy>().unwrap_err().to_string().contains("small, transparent, 2m, 1g"));
    }

    #[test]
    fn the_way_down_ends_at_small_pages() {
        let way: Vec<Policy> =
            std::iter::successors(Some(Policy::ALL[3]), |policy| policy.smaller()).collect();
        assert!(way.iter().rev().eq(&Policy::ALL));
    }

    #[test]
    fn the_setting_in_force_is_the_one_in_brackets() {
        assert_eq!(chosen("always [madvise] never\n"), Some("madvise"));
        assert_eq!(chosen("never"), None);
    }
}
