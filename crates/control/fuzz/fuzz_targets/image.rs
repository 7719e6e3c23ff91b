//! Anything as the memory of an agent, or as its copy in a file: refused, or read within its bounds.
//!
//! The first byte chooses: the rest as it is, or changes to a good image (place, value), which get further.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::LazyLock;
use terrace_control::times::{BUCKETS, Kind, Way};
use terrace_control::{Control, Counted, View};
use terrace_hab::Counter;

/// In memory, one for each process.
static PATH: LazyLock<PathBuf> = LazyLock::new(|| {
    use std::os::unix::fs::DirBuilderExt;
    let directory = PathBuf::from(format!("/dev/shm/terrace-fuzz-{}", std::process::id()));
    let _ = std::fs::DirBuilder::new().mode(0o700).create(&directory);
    directory.join("image")
});

static GOOD: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let _ = std::fs::remove_file(&*PATH);
    let control = Control::create(&PATH, Counted { levels: &[3, 2, 1], timed: 2 }).expect("a control file");
    control.set_settings(r#"{"levels":"core+processor"}"#);
    control.set_message("a message");
    drop(control);
    std::fs::read(&*PATH).expect("the copy")
});

fn read(view: &View) {
    assert!(view.levels() <= terrace_control::MAX_LEVELS);
    for level in 0..view.levels() + 1 {
        for domain in view.counters(level) {
            for counter in Counter::ALL {
                std::hint::black_box(domain.get(counter));
            }
        }
    }
    for counter in Counter::ALL {
        std::hint::black_box(view.total(counter));
    }
    for times in view.times() {
        for (kind, way) in Kind::ALL.into_iter().flat_map(|kind| Way::ALL.map(|way| (kind, way))) {
            let histogram = times.of(kind, way);
            std::hint::black_box((0..=BUCKETS).map(|bucket| histogram.count(bucket)).max());
            std::hint::black_box((histogram.sum(), histogram.longest(), histogram.timed(), times.passed(kind, way)));
        }
    }
    for text in [view.settings(), view.message()] {
        assert!(!text.contains(char::is_control));
    }
    std::hint::black_box((view.pid(), view.state(), view.mode(), view.pauses(), view.parsability(), view.first_tlab()));
    for level in 0..=terrace_control::MAX_LEVELS {
        std::hint::black_box((view.asked(level), view.size(level)));
        for decision in view.latest_decision(level).into_iter().chain(view.changes()) {
            assert!(decision.level < terrace_control::MAX_LEVELS);
            std::hint::black_box((decision.seen.waste_cost_ns(), decision.seen.refills_cost_ns(decision.most as usize)));
        }
    }
    std::hint::black_box((view.is_to_withdraw(), view.has_taken_sizes()));
}

fuzz_target!(|bytes: &[u8]| {
    let good = &*GOOD;
    let Some((way, rest)) = bytes.split_first() else { return };
    let image = if way % 2 == 0 {
        rest.to_vec()
    } else {
        let mut image = good.clone();
        for change in rest.chunks_exact(6) {
            let at = usize::from(u16::from_ne_bytes([change[0], change[1]])) * 4 % (image.len() - 4);
            image[at..at + 4].copy_from_slice(&change[2..6]);
        }
        // Cut somewhere, or not.
        image.truncate(image.len() - usize::from(way / 2).min(image.len()));
        image
    };
    if let Some(view) = View::of_bytes(&image) {
        read(&view);
    }
    // The same as a file, which may name any process and descriptor.
    std::fs::write(&*PATH, &image).expect("a file in memory");
    if let Ok(view) = View::open(&PATH) {
        read(&view);
    }
});
