//! Images of the memory that an agent shares, from bytes: shared by the test of the committed inputs and the fuzz target.

use hab::Counter;
use std::path::{Path, PathBuf};
use terrace_control::times::{BUCKETS, Kind, Way};
use terrace_control::{Control, Counted, MAX_LEVELS, View};

/// A good image, and a file for those that are made of it.
pub struct Images {
    path: PathBuf,
    good: Vec<u8>,
}

impl Images {
    /// In a folder that nobody else may write to.
    pub fn within(folder: &Path) -> Images {
        let path = folder.join("image");
        let _ = std::fs::remove_file(&path);
        let control =
            Control::create(&path, Counted { levels: &[3, 2, 1], timed: 2 }).expect("a control file");
        control.set_settings(r#"{"levels":"core+processor"}"#);
        control.set_message("a message");
        drop(control);
        let good = std::fs::read(&path).expect("the copy");
        Images { path, good }
    }

    /// Reads an image as memory, and as a file. It has to be refused, or read within its bounds; says whether it was read as memory.
    pub fn check(&self, bytes: &[u8]) -> bool {
        let Some(image) = self.of(bytes) else { return false };
        let view = View::of_bytes(&image);
        if let Some(view) = &view {
            read(view);
        }
        // The same as a file, which may name any process and descriptor.
        std::fs::write(&self.path, &image).expect("a file in memory");
        if let Ok(view) = View::open(&self.path) {
            read(&view);
        }
        view.is_some()
    }

    /// The first byte chooses: the rest as it is, or changes to the good image (place, value), which get further.
    fn of(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let (way, rest) = bytes.split_first()?;
        if way % 2 == 0 {
            return Some(rest.to_vec());
        }
        let mut image = self.good.clone();
        for change in rest.chunks_exact(6) {
            let at = usize::from(u16::from_ne_bytes([change[0], change[1]])) * 4 % (image.len() - 4);
            image[at..at + 4].copy_from_slice(&change[2..6]);
        }
        // Cut somewhere, or not.
        image.truncate(image.len() - usize::from(way / 2).min(image.len()));
        Some(image)
    }
}

/// Everything that can be asked.
fn read(view: &View) {
    use std::hint::black_box;
    assert!(view.levels() <= MAX_LEVELS);
    for level in 0..view.levels() + 1 {
        for domain in view.counters(level) {
            for counter in Counter::ALL {
                black_box(domain.get(counter));
            }
        }
    }
    for counter in Counter::ALL {
        black_box(view.total(counter));
    }
    for times in view.times() {
        for (kind, way) in Kind::ALL.into_iter().flat_map(|kind| Way::ALL.map(|way| (kind, way))) {
            let histogram = times.of(kind, way);
            black_box((0..=BUCKETS).map(|bucket| histogram.count(bucket)).max());
            black_box((histogram.sum(), histogram.longest(), histogram.timed(), times.passed(kind, way)));
        }
    }
    if let Some(threads) = view.new_threads() {
        black_box(threads.kinds().map(|(kind, threads)| kind.text().len() as u64 ^ threads).max());
        black_box(threads.others());
    }
    if let Some(waste) = view.thread_waste() {
        black_box(waste.threads().map(|(thread, left)| thread ^ left.at_collection ^ left.at_refills).max());
        black_box(waste.all());
    }
    for text in [view.settings(), view.message()] {
        assert!(!text.contains(char::is_control));
    }
    black_box((view.pid(), view.state(), view.mode(), view.pauses(), view.parsability(), view.first_tlab()));
    for level in 0..=MAX_LEVELS {
        black_box((view.asked(level), view.size(level)));
        for decision in view.latest_decision(level).into_iter().chain(view.changes()) {
            assert!(decision.level < MAX_LEVELS);
            let refills = decision.seen.refills_cost_ns(decision.most as usize);
            black_box((decision.seen.waste_cost_ns(), refills));
        }
    }
    black_box((view.is_to_withdraw(), view.has_taken_sizes()));
}
