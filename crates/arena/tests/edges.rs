//! What callers may ask for, at its edges.

use arena::{Arena, Path, Size};
use std::alloc::Layout;

const PATHS: [Path; 4] = [Path::Thread, Path::Core, Path::CoreExchange, Path::Shared];

#[test]
fn a_request_beyond_all_bounds_takes_nothing() {
    for path in PATHS {
        let arena = Arena::builder().reserve(1 << 20).path(path).build().unwrap();
        // Eight times these are 0 and a little more, in 64 bits.
        for size in [1 << 61, (1 << 61) + 8, 1 << 62, isize::MAX as usize - 7] {
            assert!(arena.try_alloc_layout(Layout::from_size_align(size, 8).unwrap()).is_err());
        }
        assert_eq!(arena.stats().used_bytes, 0, "{path:?}");
    }
}

/// The largest layouts there are: rounded up to whole grains, 2^63 bytes.
#[test]
fn the_largest_layouts_are_an_error_and_cost_no_buffer_its_rest() {
    for path in PATHS {
        for processors in [Size::Off, Size::Auto] {
            let builder = Arena::builder().reserve(16 << 20).path(path).processor_buffers(processors);
            let arena = builder.build().unwrap();
            let local = arena.local();
            assert_eq!((*arena.alloc(1_u64), *local.alloc(2_u64)), (1, 2));
            let before = arena.stats();
            for (size, align) in [(0, 1), (6, 1), (7, 8), (4095, 4096), ((1 << 62) - 1, 1 << 62)] {
                let layout = Layout::from_size_align(isize::MAX as usize - size, align).unwrap();
                assert!(arena.try_alloc_layout(layout).is_err(), "{path:?} {layout:?}");
                assert!(local.try_alloc_layout(layout).is_err(), "{path:?} {layout:?}");
            }
            assert_eq!(arena.stats(), before, "{path:?} {processors:?}");
        }
    }
}

#[test]
fn any_distance_to_prefetch_is_one() {
    for path in PATHS {
        for bytes in [0, 1, isize::MAX as usize, usize::MAX] {
            let arena = Arena::builder().reserve(1 << 20).path(path).prefetch(bytes).build().unwrap();
            assert_eq!(*arena.alloc([7_u8; 100]), [7; 100]);
            assert_eq!(*arena.local().alloc([7_u8; 100]), [7; 100]);
        }
    }
}

#[test]
fn any_size_of_buffers_is_one() {
    for path in PATHS {
        for size in [Size::Bytes(0), Size::Bytes(1), Size::Bytes(usize::MAX), Size::Off] {
            let arena = Arena::builder()
                .reserve(1 << 20)
                .path(path)
                .thread_buffers(size)
                .core_buffers(size)
                .processor_buffers(size)
                .build()
                .unwrap();
            let (first, second) = (arena.alloc(1_u64), arena.alloc(2_u64));
            assert_eq!((*first, *second), (1, 2), "{path:?} {size:?}");
        }
    }
}

#[test]
fn memory_is_touched_as_far_as_something_says_or_that_is_an_error() {
    let error = Arena::builder().pre_touch(true).build().unwrap_err().to_string();
    assert!(error.contains("set a reserve or a limit"), "{error}");
    let arena = Arena::builder().limit(1 << 20).pre_touch(true).build().unwrap();
    assert_eq!(arena.stats().reserved_bytes, 1 << 20);
    // One range, and so too large for one, where an arena that grows takes its first 64 KB.
    assert!(Arena::builder().limit(1 << 50).build().is_ok());
    let error = Arena::builder().limit(1 << 50).pre_touch(true).build().unwrap_err().to_string();
    assert!(error.contains("request fewer"), "{error}");
}

#[test]
fn thread_buffers_at_the_arenas_choice_are_small_where_the_limit_is() {
    let of = |limit: usize, size: Size| {
        Arena::builder().limit(limit).thread_buffers(size).build().unwrap().stats().thread_buffers
    };
    assert_eq!(of(32 << 10, Size::Auto), "4096 to 4096 bytes");
    assert_eq!(of(32 << 10, Size::Bytes(16 << 10)), "4096 to 16384 bytes");
    assert_eq!(Arena::new().stats().thread_buffers, "4096 to 262144 bytes");
    // As many threads as can run at a time leave no more than an eighth of it in their buffers, besides what core buffers hold.
    const LIMIT: usize = 1 << 20;
    let arena = Arena::builder().limit(LIMIT).core_buffers(Size::Off).build().unwrap();
    let mut bytes = 0;
    while arena.try_alloc([0_u8; 64]).is_ok() {
        bytes += 64;
        assert!(bytes <= LIMIT);
    }
    assert!(bytes > LIMIT / 8 * 7, "{bytes}");
}

#[test]
fn the_limit_is_within_what_a_word_can_say_though_pages_are_whole() {
    let error = Arena::builder().reserve(usize::MAX).build().unwrap_err().to_string();
    let most: usize =
        error.split("size of an arena, ").nth(1).unwrap().split(';').next().unwrap().parse().unwrap();
    match Arena::builder().reserve(most).build() {
        Ok(arena) => assert!(arena.stats().limit_bytes <= most, "{} of {most}", arena.stats().limit_bytes),
        Err(error) => skips::skip!("so much address space: {error}"),
    }
}

#[test]
fn a_checkpoint_from_before_a_reset_changes_nothing() {
    for path in PATHS {
        let mut arena = Arena::builder().reserve(1 << 20).path(path).build().unwrap();
        let take = |arena: &mut Arena| {
            arena.alloc([1_u8; 5000]);
            arena.checkpoint();
            arena.stats().used_bytes
        };
        take(&mut arena);
        let outer = arena.checkpoint();
        take(&mut arena);
        let inner = arena.checkpoint();
        take(&mut arena);
        arena.reset_to(inner);
        arena.reset_to(outer);
        take(&mut arena);
        let used = take(&mut arena);
        arena.reset_to(inner);
        assert_eq!(arena.stats().used_bytes, used, "{path:?}: inner is of what outer took back");
        arena.reset();
        take(&mut arena);
        let used = take(&mut arena);
        arena.reset_to(outer);
        assert_eq!(arena.stats().used_bytes, used, "{path:?}: outer is from before the reset");
        let mut other = Arena::builder().reserve(1 << 20).path(path).build().unwrap();
        take(&mut other);
        let (own, used) = (other.checkpoint(), take(&mut other));
        other.reset_to(arena.checkpoint());
        assert_eq!(other.stats().used_bytes, used, "{path:?}: another arena's");
        other.reset_to(own);
        assert!(other.stats().used_bytes < used);
    }
}

#[test]
fn a_reset_counts_what_it_takes_from_the_core_buffers() {
    for path in [Path::Core, Path::CoreExchange] {
        let mut arena = Arena::builder().reserve(1 << 20).path(path).build().unwrap();
        for _ in 0..100 {
            arena.alloc([1_u64; 8]);
        }
        arena.reset();
        let core = arena.stats().core.unwrap();
        assert_eq!(core.remaining_bytes, 0, "{path:?}");
        assert_eq!(core.reserved_bytes, 6400 + core.wasted_bytes, "{path:?}");
    }
}

/// The kernel restarts nothing in a thread that has given its area up (other code may do so and register its own).
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[test]
fn a_thread_without_restartable_sequences_is_served() {
    let arena = Arena::builder().reserve(1 << 24).path(Path::Core).build().unwrap();
    let Ok(area) = topology::RseqArea::find() else {
        skips::skip!("no restartable sequences here");
        return;
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            arena.alloc(1_u64);
            let thread: usize;
            // SAFETY: reads the thread pointer; on x86-64 the control block begins with its own address.
            unsafe {
                #[cfg(target_arch = "x86_64")]
                std::arch::asm!("mov {}, fs:[0]", out(reg) thread, options(nostack, readonly));
                #[cfg(target_arch = "aarch64")]
                std::arch::asm!("mrs {}, tpidr_el0", out(reg) thread, options(nostack, readonly));
            }
            // RSEQ_SIG of <sys/rseq.h>.
            let signature = if cfg!(target_arch = "x86_64") { 0x5305_3053_u32 } else { 0xd428_bc00 };
            let at = thread.wrapping_add_signed(area.offset());
            // Its length is the C library's secret; the kernel takes no other one.
            // SAFETY: nobody but this test relies on the area in this thread.
            let given_up = (32..=256_u32)
                .any(|bytes| unsafe { libc::syscall(libc::SYS_rseq, at, bytes, 1, signature) } == 0);
            if !given_up {
                skips::skip!("the area cannot be given up");
                return;
            }
            let places: Vec<&mut [u64; 4]> = (0..1000).map(|number| arena.alloc([number; 4])).collect();
            assert!(places.iter().zip(0..).all(|(place, number)| place[3] == number));
            while arena.try_alloc([0_u64; 1000]).is_ok() {}
        });
    });
}

/// The same in a process that may use one CPU: on a machine of several its buffers go by concurrency ids, if Linux (6.3 and later) and glibc
/// (2.40 and later) have them.
#[test]
fn a_thread_without_restartable_sequences_is_served_on_one_cpu() {
    use std::os::unix::process::CommandExt;
    let all = topology::Machine::detect();
    if topology::RseqArea::find_concurrency().is_err() || all.online() < 2 {
        skips::skip!("buffers by concurrency ids: no ids, or one CPU");
        return;
    }
    let on_one_cpu = || {
        // SAFETY: plain values; none of these calls allocates.
        let failed = unsafe {
            let mut one: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(libc::sched_getcpu() as usize, &mut one);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const one)
        };
        if failed == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    };
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", "a_thread_without_restartable_sequences_is_served"]);
    // SAFETY: as said there.
    unsafe { again.pre_exec(on_one_cpu) };
    let output = again.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
