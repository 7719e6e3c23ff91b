//! No byte is handed out twice, whatever happens to the threads.

mod ranges;

use arena::{Arena, Path, Size};
use ranges::{check, layout};
use std::alloc::Layout;
use std::sync::Barrier;

const PATHS: [Path; 4] = [Path::Thread, Path::Core, Path::CoreExchange, Path::Shared];

#[test]
fn threads_never_share_a_byte() {
    for path in PATHS {
        let mut arena =
            Arena::builder().reserve(1 << 30).path(path).core_buffers(Size::Bytes(4096)).build().unwrap();
        for round in 0..3_u64 {
            let barrier = Barrier::new(6);
            let ranges: Vec<(usize, Layout)> = std::thread::scope(|scope| {
                let handles: Vec<_> = (0..6_u64)
                    .map(|thread| {
                        let (arena, barrier) = (&arena, &barrier);
                        scope.spawn(move || {
                            barrier.wait();
                            let mut state = thread * 7919 + round + 1;
                            (0..20_000)
                                .map(|_| {
                                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                                    let bytes = 1 + (state >> 40) as usize % 200;
                                    let align = 1 << ((state >> 33) % 8);
                                    let layout = layout(bytes, align);
                                    let place = arena.try_alloc_layout(layout).unwrap();
                                    // SAFETY: just handed out, `bytes` long.
                                    unsafe { place.write_bytes(thread as u8 + 1, bytes) };
                                    (place.addr().get(), layout)
                                })
                                .collect::<Vec<_>>()
                        })
                    })
                    .collect();
                handles.into_iter().flat_map(|handle| handle.join().unwrap()).collect()
            });
            assert_eq!(ranges.len(), 120_000);
            check(ranges);
            arena.reset();
            assert_eq!(arena.stats().used_bytes, 0, "{path:?}");
        }
    }
}
