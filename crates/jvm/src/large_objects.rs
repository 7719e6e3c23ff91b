//! How large the objects were that threads asked for outside TLABs, and that G1 may have to give regions of their own.

use control::View;
use control::large::{CLASSES, most};
use serde::Serialize;

/// Objects of sizes within a power of two, the smaller ones first. Classes of which there are none are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LargeObjects(pub Vec<Class>);

/// More than half of `most_bytes`, each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Class {
    /// Bytes that one of them has at most.
    pub most_bytes: u64,
    pub count: u64,
    /// Of all of them.
    pub bytes: u64,
}

impl LargeObjects {
    /// All that an agent has counted so far; `None` if it does not.
    pub fn read(view: &View) -> Option<LargeObjects> {
        if view.times().is_empty() {
            return None;
        }
        let class = |class| {
            let domains = view.times().iter().map(|times| times.large().of(class));
            let (count, bytes) = domains.fold((0, 0), |(count, bytes): (u64, u64), (more, those)| {
                (count.saturating_add(more), bytes.saturating_add(those))
            });
            Class { most_bytes: most(class), count, bytes }
        };
        Some(LargeObjects((0..CLASSES).map(class).filter(|class| class.count > 0).collect()))
    }

    /// What came since an earlier reading.
    pub fn since(&self, earlier: &LargeObjects) -> LargeObjects {
        let fewer = |class: &Class| {
            let before = earlier.0.iter().find(|before| before.most_bytes == class.most_bytes);
            let (count, bytes) = before.map_or((0, 0), |before| (before.count, before.bytes));
            let (count, bytes) = (class.count.saturating_sub(count), class.bytes.saturating_sub(bytes));
            Class { count, bytes, ..*class }
        };
        LargeObjects(self.0.iter().map(fewer).filter(|class| class.count > 0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Control, Counted};

    #[test]
    fn those_of_all_domains_since_a_reading() {
        let control = Control::anonymous(Counted { levels: &[2], timed: 2 }).unwrap();
        let record = |domain: usize, bytes| control.times()[domain].large().record(bytes, domain == 0);
        record(0, 600_000);
        record(0, 3_000_000);
        let earlier = LargeObjects::read(&control).unwrap();
        record(0, 700_000);
        record(1, 800_000);
        record(1, 5_000_000);
        let class = |most_bytes, count, bytes| Class { most_bytes, count, bytes };
        let since = LargeObjects::read(&control).unwrap().since(&earlier);
        assert_eq!(since.0, [class(1 << 20, 2, 1_500_000), class(8 << 20, 1, 5_000_000)]);
        assert_eq!(earlier.0, [class(1 << 20, 1, 600_000), class(4 << 20, 1, 3_000_000)]);
        assert_eq!(LargeObjects::read(&Control::anonymous(&[1]).unwrap()), None);
    }

    #[test]
    fn any_numbers_are_bearable() {
        let control = Control::anonymous(Counted { levels: &[2], timed: 2 }).unwrap();
        for domain in [0, 1] {
            control.times()[domain].large().record(usize::MAX, false);
        }
        let read = LargeObjects::read(&control).unwrap();
        assert_eq!((read.0.len(), read.0[0].count, read.0[0].bytes), (1, 2, u64::MAX));
        assert_eq!(read.since(&read), LargeObjects::default());
    }
}
