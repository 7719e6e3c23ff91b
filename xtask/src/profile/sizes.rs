//! How many objects there are of which size, exactly and in buckets.

use std::collections::BTreeMap;

/// Up to this size every size has a bucket of its own.
const EXACT_BYTES: u64 = 256;

/// Objects by their size in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes(BTreeMap<u64, u64>);

/// Objects of about one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bucket {
    /// The mean size in bytes, to the nearest 8.
    pub bytes: u64,
    /// How many of all objects are in it, 0 to 1.
    pub share: f64,
}

impl Sizes {
    /// The rule of [`Sizes::buckets`] in words.
    pub const RULE: &str = "sizes up to 256 bytes: one bucket each; above: buckets end at 2^n and 1.5 * 2^n bytes, \
        (256, 384], (384, 512], (512, 768], ..., and stand at the mean size of their objects, rounded to 8 bytes; empty \
        buckets are left out; share: of all objects";

    pub fn add(&mut self, bytes: u64, count: u64) {
        *self.0.entry(bytes).or_default() += count;
    }

    /// Sizes and counts, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().map(|(bytes, count)| (*bytes, *count))
    }

    /// The objects that have been added since an earlier state. `None` if there are fewer of some size now.
    pub fn since(&self, earlier: &Sizes) -> Option<Sizes> {
        let mut left = self.0.clone();
        for (bytes, count) in earlier.iter() {
            let now = left.get_mut(&bytes)?;
            *now = now.checked_sub(count)?;
        }
        left.retain(|_, count| *count > 0);
        Some(Sizes(left))
    }

    pub fn objects(&self) -> u64 {
        self.0.values().sum()
    }

    pub fn bytes(&self) -> u64 {
        self.iter().map(|(bytes, count)| bytes * count).sum()
    }

    /// The size of the largest object in bytes, 0 if there is none.
    pub fn largest(&self) -> u64 {
        self.0.last_key_value().map_or(0, |(bytes, _)| *bytes)
    }

    /// The share of all bytes that is in objects above a size, 0 to 1.
    pub fn share_of_bytes_above(&self, limit: u64) -> f64 {
        let above = self.iter().filter(|(bytes, _)| *bytes > limit);
        above.map(|(bytes, count)| bytes * count).sum::<u64>() as f64 / self.bytes().max(1) as f64
    }

    /// The same in buckets, ascending; see [`Sizes::RULE`].
    pub fn buckets(&self) -> Vec<Bucket> {
        let mut sums: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for (bytes, count) in self.iter() {
            let (all_bytes, objects) = sums.entry(bucket_end(bytes)).or_default();
            *all_bytes += bytes * count;
            *objects += count;
        }
        let all = self.objects().max(1) as f64;
        sums.values()
            .map(|(bytes, objects)| Bucket {
                bytes: ((*bytes as f64 / *objects as f64 / 8.0).round() * 8.0) as u64,
                share: *objects as f64 / all,
            })
            .collect()
    }
}

/// The largest size in the bucket of a size.
fn bucket_end(bytes: u64) -> u64 {
    if bytes <= EXACT_BYTES {
        return bytes;
    }
    let power = bytes.next_power_of_two();
    let half = power / 4 * 3;
    if bytes <= half { half } else { power }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sizes: &[(u64, u64)]) -> Sizes {
        Sizes(sizes.iter().copied().collect())
    }

    #[test]
    fn small_sizes_are_exact_and_large_ones_share_buckets() {
        let ends = [16, 248, 256, 264, 384, 392, 512, 520, 1024, 1032].map(bucket_end);
        assert_eq!(ends, [16, 248, 256, 384, 384, 512, 512, 768, 1024, 1536]);
        let sizes = of(&[(16, 5), (24, 2), (264, 2), (384, 1), (4096, 10)]);
        let buckets = sizes.buckets();
        let bytes: Vec<u64> = buckets.iter().map(|bucket| bucket.bytes).collect();
        // (2 * 264 + 384) / 3 = 304.
        assert_eq!(bytes, [16, 24, 304, 4096]);
        assert_eq!(buckets[2].share, 3.0 / 20.0);
        assert!((buckets.iter().map(|bucket| bucket.share).sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn all_sizes_up_to_16_mb_fit_64_buckets() {
        let mut sizes = Sizes::default();
        (2..=(16 << 20) / 8).for_each(|grains| sizes.add(8 * grains, 1));
        assert!(sizes.buckets().len() <= 64, "{}", sizes.buckets().len());
    }

    #[test]
    fn sums_and_shares() {
        let sizes = of(&[(16, 10), (1024, 1), (1032, 2)]);
        assert_eq!((sizes.objects(), sizes.bytes(), sizes.largest()), (13, 3248, 1032));
        assert_eq!(sizes.share_of_bytes_above(1024), 2064.0 / 3248.0);
        assert_eq!(Sizes::default().share_of_bytes_above(0), 0.0);
    }

    #[test]
    fn what_was_there_before_is_taken_off() {
        let before = of(&[(16, 3), (24, 1)]);
        assert_eq!(of(&[(16, 5), (24, 1), (32, 1)]).since(&before), Some(of(&[(16, 2), (32, 1)])));
        assert_eq!(of(&[(16, 2), (24, 1)]).since(&before), None);
        assert_eq!(of(&[(16, 3)]).since(&before), None);
    }
}
