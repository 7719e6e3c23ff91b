//! Ranges that were handed out.

use std::alloc::Layout;

pub fn layout(bytes: usize, align: usize) -> Layout {
    Layout::from_size_align(bytes, align).unwrap()
}

/// Every range once, none over another, all aligned.
pub fn check(mut ranges: Vec<(usize, Layout)>) {
    ranges.sort_unstable_by_key(|(start, _)| *start);
    for pair in ranges.windows(2) {
        let [(start, layout), (next, _)] = [pair[0], pair[1]];
        assert!(start + layout.size() <= next, "{start:x} + {} reaches into {next:x}", layout.size());
    }
    for (start, layout) in ranges {
        assert_eq!(start % layout.align(), 0);
    }
}
