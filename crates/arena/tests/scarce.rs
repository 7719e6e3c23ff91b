//! Memory and address space that run out: errors with a remedy, never an abort. Each case is a process of its own, this program again with the
//! case's name in the environment, which
//! limits itself.

use arena::{Arena, Path, Policy};
use std::process::Command;

const CASE: &str = "TERRACE_TEST_SCARCE";

/// No more than so many bytes beyond what the process has now.
fn limit_to(more: usize) {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = status.split(' ').next().unwrap().parse().unwrap();
    let bytes = (pages * pages::small_page_bytes() + more) as libc::rlim_t;
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
    // SAFETY: a valid place.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
}

fn a_build_that_finds_no_address_space() {
    limit_to(64 << 20);
    for policy in [Policy::Small, Policy::Transparent, Policy::Explicit(arena::PageSize::TwoMegabytes)] {
        let error = Arena::builder().reserve(1 << 30).pages(policy).build().unwrap_err().to_string();
        assert!(error.contains("request fewer bytes"), "{error}");
    }
    for path in [Path::Thread, Path::Core, Path::CoreExchange, Path::Shared] {
        let arena = Arena::builder().reserve(8 << 20).path(path).build().unwrap();
        while arena.try_alloc([1_u8; 1000]).is_ok() {}
    }
}

/// It grows as far as the process may, and a refusal is an error each time.
fn an_arena_that_grows_under_a_limit_of_the_process() {
    limit_to(2 << 30);
    let arena = Arena::new();
    let block = std::alloc::Layout::from_size_align(1 << 20, 8).unwrap();
    let megabytes = (0..).take_while(|_| arena.try_alloc_layout(block).is_ok()).count();
    assert!((256..2048).contains(&megabytes), "{megabytes}");
    assert!(arena.try_alloc_layout(block).is_err());
    assert!(arena.stats().reserved_bytes < 2 << 30);
    assert_eq!(*Arena::new().alloc(7_u8), 7, "another one has room");
    for limit in [3 << 30, 1 << 50] {
        let limited = Arena::builder().limit(limit).build().unwrap();
        assert_eq!(*limited.alloc(7_u8), 7, "a limit is no reserve");
        assert!(limited.stats().limit_bytes <= limit);
    }
}

/// Where the kernel would map a segment is too far from the first one for the buffers' words; but there is room near it.
fn an_arena_that_grows_beside_terabytes_of_others() {
    let block = std::alloc::Layout::from_size_align(1 << 30, 8).unwrap();
    for path in [Path::Thread, Path::Core, Path::CoreExchange, Path::Shared] {
        let arena = Arena::builder().path(path).build().unwrap();
        let first: *mut u64 = arena.alloc(7);
        for _ in 0..8 {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            // SAFETY: a new mapping at an address of the kernel's choice.
            let at = unsafe { libc::mmap(std::ptr::null_mut(), 1 << 40, libc::PROT_NONE, flags, -1, 0) };
            assert_ne!(at, libc::MAP_FAILED);
        }
        let place = arena.try_alloc_layout(block).unwrap();
        // SAFETY: so many bytes were handed out just now.
        unsafe { place.add((1 << 30) - 1).write(1) };
        let small: Vec<&mut u64> = (0..10_000).map(|number| arena.alloc(number)).collect();
        assert!(small.iter().zip(0..).all(|(value, number)| **value == number), "{path:?}");
        // SAFETY: the arena's.
        assert_eq!(unsafe { *first }, 7);
    }
}

/// From now on the kernel answers this advice with "out of memory"; false where it cannot be told to.
fn refuse(advice: libc::c_int) -> bool {
    const NUMBER: u32 = 0;
    const THIRD_ARGUMENT: u32 = 32;
    let step = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter { code: code as u16, jt, jf, k };
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let (equal, give) = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, libc::BPF_RET | libc::BPF_K);
    let mut steps = [
        step(load, NUMBER, 0, 0),
        step(equal, libc::SYS_madvise as u32, 0, 3),
        step(load, THIRD_ARGUMENT, 0, 0),
        step(equal, advice as u32, 0, 1),
        step(give, libc::SECCOMP_RET_ERRNO | libc::ENOMEM as u32, 0, 0),
        step(give, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: no more rights are given up than this process of the test needs; the program is whole, and read during the call only.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    }
}

fn a_touch_that_finds_no_memory() {
    if !refuse(libc::MADV_POPULATE_WRITE) {
        skips::skip!("no filters for system calls here: a touch that finds no memory");
        return;
    }
    let error = Arena::builder().reserve(1 << 20).pre_touch(true).build().unwrap_err().to_string();
    assert!(error.contains("touching") && error.contains("request fewer bytes"), "{error}");
    let arena = Arena::builder().reserve(1 << 20).build().unwrap();
    assert_eq!(*arena.alloc(1_u8), 1);
}

/// What the kernel did not take back is as it was, and is made zero again.
fn a_release_that_is_refused() {
    let mut arena = Arena::builder().reserve(1 << 20).zeroing(arena::Zeroing::AtRefill).build().unwrap();
    arena.alloc([1_u8; 10_000]);
    if !refuse(libc::MADV_DONTNEED) {
        skips::skip!("no filters for system calls here: a release that is refused");
        return;
    }
    let error = arena.reset_and_release().unwrap_err().to_string();
    assert!(error.contains("returning"), "{error}");
    assert_eq!(arena.stats().used_bytes, 0);
    let slice = arena.try_alloc_slice_uninit::<u8>(10_000).unwrap();
    // SAFETY: zero by the arena's promise, or what was written before.
    assert!(slice.iter().all(|byte| unsafe { byte.assume_init() } == 0));
}

fn threads_that_find_no_address_space() {
    let arena = Arena::builder().reserve(64 << 20).build().unwrap();
    limit_to(64 << 20);
    std::thread::scope(|scope| {
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let receiver = std::sync::Arc::new(std::sync::Mutex::new(receiver));
        let mut started = 0;
        let error = loop {
            let (arena, receiver) = (&arena, receiver.clone());
            // Stacks as large as threads have them.
            let builder = std::thread::Builder::new().stack_size(8 << 20);
            let spawned = builder.spawn_scoped(scope, move || {
                let value = arena.try_alloc(7_u64).unwrap();
                // Alive until all are.
                let _ = receiver.lock().map(|receiver| receiver.recv());
                assert_eq!(*value, 7);
            });
            match spawned {
                Ok(_) => started += 1,
                Err(error) => break error,
            }
            assert!(started < 100, "the limit is none");
        };
        assert!(error.raw_os_error() == Some(libc::EAGAIN), "{error}");
        // The arena goes on, in this thread and in those that are there.
        assert_eq!(*arena.try_alloc(8_u64).unwrap(), 8);
        drop(sender);
    });
}

/// All memory of the process's own allocator is gone: arenas need none of it.
fn an_allocation_without_any_other_memory() {
    const PATHS: [Path; 4] = [Path::Thread, Path::Core, Path::CoreExchange, Path::Shared];
    // More of each than a thread keeps buffers of.
    let arena = |index: usize| Arena::builder().reserve(1 << 20).path(PATHS[index % 4]).build().unwrap();
    let arenas: Vec<Arena> = (0..80).map(arena).collect();
    let mut hoard: Vec<Vec<u8>> = Vec::with_capacity(1 << 16);
    limit_to(0);
    for size in (3..24).rev().map(|shift| 1 << shift) {
        let mut bytes = Vec::new();
        while hoard.len() < hoard.capacity() && bytes.try_reserve_exact(size).is_ok() {
            hoard.push(std::mem::take(&mut bytes));
        }
    }
    assert!(hoard.len() < hoard.capacity(), "there is memory left");
    let served = (0..3).all(|_| arenas.iter().all(|arena| arena.try_alloc([1_u64; 10]).is_ok()));
    drop(hoard);
    assert!(served);
}

#[test]
fn scarce_memory_gives_errors() {
    let cases: [(&str, fn()); 7] = [
        ("build", a_build_that_finds_no_address_space),
        ("growth", an_arena_that_grows_under_a_limit_of_the_process),
        ("beside", an_arena_that_grows_beside_terabytes_of_others),
        ("touch", a_touch_that_finds_no_memory),
        ("release", a_release_that_is_refused),
        ("threads", threads_that_find_no_address_space),
        ("nothing", an_allocation_without_any_other_memory),
    ];
    if let Ok(wanted) = std::env::var(CASE) {
        let (_, case) = cases.iter().find(|(name, _)| *name == wanted).unwrap();
        return case();
    }
    for (name, _) in cases {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--test-threads=1", "--nocapture"])
            .env(CASE, name)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {}\n{text}", output.status);
    }
}
