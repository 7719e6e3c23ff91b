//! Which configuration to use.

use super::Row;

/// Configurations that are slower than the best by no more than this are as good.
pub const CLOSE: f64 = 0.02;

/// The one with the least memory in buffers of all that are as good as the best; of those the first.
pub fn choose<'a>(rows: impl Iterator<Item = &'a Row> + Clone) -> Option<&'a Row> {
    let best = rows.clone().map(|row| row.objects_per_second).fold(0.0, f64::max);
    rows.filter(|row| row.objects_per_second >= best * (1.0 - CLOSE)).min_by_key(|row| row.held_bytes)
}
