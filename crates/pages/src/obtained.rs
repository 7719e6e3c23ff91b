//! Which pages were really obtained: bytes on pages of each kind.

use crate::policy::small_page_bytes;
use crate::pool::in_words;
use crate::size::PageSize;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::AddAssign;

/// Resident bytes on pages of each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Obtained {
    /// On small pages.
    pub small: u64,
    /// On transparent huge pages.
    pub transparent: u64,
    /// On explicit huge pages, by the size of a page in bytes.
    pub explicit: BTreeMap<u64, u64>,
}

impl Obtained {
    /// On explicit huge pages of a size.
    pub fn explicit(&self, size: PageSize) -> u64 {
        self.explicit.get(&(size.bytes() as u64)).copied().unwrap_or(0)
    }

    /// On huge pages of any kind.
    pub fn huge(&self) -> u64 {
        self.transparent + self.explicit.values().sum::<u64>()
    }

    /// On pages of any kind.
    pub fn resident(&self) -> u64 {
        self.small + self.huge()
    }

    /// At most so many bytes, of which huge pages are kept first.
    pub(crate) fn at_most(self, mut left: u64) -> Obtained {
        let mut take = |bytes: u64| {
            let taken = bytes.min(left);
            left -= taken;
            taken
        };
        let explicit = self.explicit.into_iter().map(|(size, bytes)| (size, take(bytes))).collect();
        let transparent = take(self.transparent);
        Obtained { explicit, transparent, small: take(self.small) }
    }
}

impl AddAssign for Obtained {
    fn add_assign(&mut self, other: Obtained) {
        self.small += other.small;
        self.transparent += other.transparent;
        for (size, bytes) in other.explicit {
            *self.explicit.entry(size).or_default() += bytes;
        }
    }
}

impl fmt::Display for Obtained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = vec![(self.small, format!("{} KB pages", small_page_bytes() >> 10))];
        parts.push((self.transparent, "transparent huge pages".into()));
        parts.extend(
            self.explicit.iter().map(|(page, bytes)| (*bytes, format!("explicit {} pages", in_words(*page)))),
        );
        parts.retain(|(bytes, _)| *bytes > 0);
        if parts.is_empty() {
            return f.write_str("nothing resident");
        }
        let words: Vec<String> =
            parts.iter().map(|(bytes, name)| format!("{:.1} MB on {name}", *bytes as f64 / 1e6)).collect();
        f.write_str(&words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_told_by_kind() {
        let mut total = Obtained::default();
        assert_eq!(total.to_string(), "nothing resident");
        let explicit =
            |size, bytes| Obtained { explicit: BTreeMap::from([(size, bytes)]), ..Obtained::default() };
        total += Obtained { small: 156 << 10, transparent: 12 << 20, ..Obtained::default() };
        total += explicit(1 << 30, 1 << 30);
        total += explicit(2 << 20, 2 << 20);
        assert_eq!(total.huge(), (12 << 20) + (1 << 30) + (2 << 20));
        assert_eq!(
            total.to_string(),
            "0.2 MB on 4 KB pages, 12.6 MB on transparent huge pages, 2.1 MB on explicit 2 MB pages, \
             1073.7 MB on explicit 1 GB pages"
        );
    }

    #[test]
    fn of_a_part_huge_pages_are_kept_first() {
        let all = Obtained { small: 40, transparent: 30, explicit: BTreeMap::from([(20, 20)]) };
        let part = |bytes| {
            let part = all.clone().at_most(bytes);
            (part.explicit[&20], part.transparent, part.small)
        };
        assert_eq!([10, 30, 70, 100].map(part), [(10, 0, 0), (20, 10, 0), (20, 30, 20), (20, 30, 40)]);
    }
}
