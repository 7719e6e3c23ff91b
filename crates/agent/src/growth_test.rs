use super::*;

const SHAPE: Shape = Shape { grain_shift: 3, min_remainder: 16 };

#[test]
fn grows_with_what_was_allocated_until_it_is_what_hotspot_wants() {
    let mut allocated = 0;
    let sizes: Vec<usize> = (0..26)
        .map(|_| {
            let bytes = next(64, 300 << 10, SHAPE, || allocated);
            allocated += bytes;
            bytes >> 10
        })
        .collect();
    assert_eq!(sizes[..9], [2, 4, 4, 4, 4, 4, 5, 7, 8]);
    assert_eq!(sizes[22..], [199, 249, 300, 300]);
}

#[test]
fn a_thread_that_hotspot_knows_gets_what_it_wants() {
    assert_eq!(next(64, 9_000_000, SHAPE, || 100 << 20), 9_000_000);
    assert_eq!(next(64, 1024, SHAPE, || unreachable!()), 1024, "whatever it has allocated");
}

#[test]
fn never_less_than_the_object_needs() {
    assert_eq!(next(100_000, 9_000_000, SHAPE, || 0), 100_000);
}

#[test]
fn whole_grains_whatever_was_allocated() {
    for grain_shift in [3, 4, 8] {
        let shape = Shape { grain_shift, min_remainder: 16 };
        for allocated in (0..70_000).step_by(7) {
            let bytes = next(shape.grain(), 64 << 10, shape, || allocated);
            assert!(bytes.is_multiple_of(shape.grain()) && bytes >= FIRST, "{allocated}: {bytes}");
        }
    }
}

/// The end of a TLAB that HotSpot keeps free for what the processor fetches ahead (`ThreadLocalAllocBuffer::end_reserve`).
const RESERVE: usize = 584;

/// Bytes of eden that a thread takes for `own` bytes in objects of one size, by HotSpot's rules (`MemAllocator::allocate_inside_tlab_slow`), where its TLABs are to have
/// `desired` bytes and `size` says how large the next one is.
fn taken(own: usize, desired: usize, object: usize, size: impl Fn(usize, usize, usize) -> usize) -> usize {
    let (mut used, mut taken, mut rest, mut waste_limit) = (0, 0, 0, desired / 64);
    while used < own {
        if rest >= object {
            rest -= object;
        } else if rest > waste_limit {
            // Outside of TLABs: this rest is too good to be given up, as yet.
            (taken, waste_limit) = (taken + object, waste_limit + 32);
        } else {
            let bytes = size(used, object + RESERVE, desired + object);
            (taken, rest, waste_limit) = (taken + bytes, bytes - RESERVE - object, desired / 64);
        }
        used += object;
    }
    taken
}

#[test]
fn a_short_thread_takes_at_most_half_more_than_of_a_stock_jvm_and_no_more_in_the_mean() {
    for desired in [2648, 4200, 8192, 9000, 12_000, 16 << 10, 64 << 10, 276 << 10] {
        for object in [24, 600, 1000, 1504, 2104, 3000, 10_000] {
            let ratios: Vec<f64> = (1..=400)
                .map(|step| {
                    let own = 4 * desired * step / 400;
                    let ours = taken(own, desired, object, |allocated, min, requested| {
                        next(min, requested, SHAPE, || allocated)
                    });
                    ours as f64 / taken(own, desired, object, |_, _, requested| requested) as f64
                })
                .collect();
            let worst = ratios.iter().copied().fold(0.0, f64::max);
            let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
            assert!(worst < 1.5 && mean <= 1.0, "{desired}, {object}: {worst} at worst, {mean} in the mean");
        }
    }
}
