//! Where a segment may lie if the kernel's own choice is too far from the first one for the buffers' words.
//!
//! The kernel maps below what is mapped already. A process that maps terabytes so gets its next mapping beyond them, although there is
//! room elsewhere near the arena.

/// The distances that are tried, in bytes: this one, and twice as much each time.
const FIRST: usize = 1 << 30;
/// Up to the farthest ones that a word can say.
const COUNT: u32 = 13;
/// What a program's first stack is left to grow, at least.
const STACK: usize = 1 << 30;

/// Addresses at multiples of `granule` (a power of two) for `len` bytes inside `base` and so many bytes from there, the nearest to `first` first: above
/// and below by turns.
pub(crate) fn addresses(
    first: usize,
    len: usize,
    granule: usize,
    base: usize,
    span: usize,
) -> impl Iterator<Item = usize> {
    let end = base.saturating_add(span).min(below_the_stack());
    let distances = (0..COUNT).map(|twice| FIRST << twice);
    let both = distances.flat_map(move |far| [first.checked_add(far), first.checked_sub(far)]);
    let rounded = both.flatten().map(move |address| address & !(granule - 1));
    rounded.filter(move |address| *address >= base && address.checked_add(len).is_some_and(|to| to <= end))
}

/// Whatever lies higher could be in the way of the stack that the kernel made, whose size may grow to its limit.
fn below_the_stack() -> usize {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a valid place.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) } == 0;
    let size = if known { limit.rlim_cur.min(1 << 46) as usize } else { 0 };
    // SAFETY: the kernel's own answer: what it wrote at the beginning of that stack.
    let top = unsafe { libc::getauxval(libc::AT_RANDOM) } as usize;
    top.saturating_sub(size.max(STACK))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn all_are_inside_and_the_nearest_come_first() {
        const TB: usize = 1 << 40;
        let (first, base) = (20 * TB + 4096, 14 * TB);
        let found: Vec<usize> = addresses(first, 1 << 30, 2 << 20, base, 8 * TB).collect();
        assert_eq!(found[..2], [20 * TB + (1 << 30), 20 * TB - (1 << 30)]);
        assert!(found.len() > 20);
        assert!(found.iter().all(|at| at % (2 << 20) == 0 && *at >= base && at + (1 << 30) <= base + 8 * TB));
        let distance = |at: &usize| at.abs_diff(first) >> 30;
        assert!(found.is_sorted_by_key(|at| distance(at).next_power_of_two()), "{found:?}");
        assert_eq!(addresses(first, 9 * TB, 4096, base, 8 * TB).count(), 0);
        let local = 0;
        assert!((&raw const local).addr() > 0 && below_the_stack() < usize::MAX - STACK);
    }
}
