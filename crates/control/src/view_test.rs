use super::*;
use crate::Control;
use crate::large::CLASSES;
use crate::limits::MAX_SETTINGS;
use crate::memory;
use crate::memory::Access;
use crate::times::{BUCKETS, Kind, Way};
use proptest::prelude::*;
use std::mem::offset_of;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// Everything that can be asked.
fn read_all(view: &View) -> u64 {
    let mut sum = u64::from(view.pid())
        .wrapping_add(view.pauses())
        .wrapping_add(view.parsability() ^ view.first_tlab());
    for level in 0..view.levels() + 2 {
        for domain in view.counters(level) {
            sum = Counter::ALL.iter().fold(sum, |sum, counter| sum.wrapping_add(domain.get(*counter)));
        }
    }
    for counter in Counter::ALL {
        sum = sum.wrapping_add(view.total(counter));
    }
    for times in view.times() {
        for (kind, way) in Kind::ALL.into_iter().flat_map(|kind| Way::ALL.map(|way| (kind, way))) {
            let histogram = times.of(kind, way);
            sum = (0..=BUCKETS).fold(sum, |sum, bucket| sum.wrapping_add(histogram.count(bucket)));
            let words = [histogram.sum(), histogram.longest(), histogram.timed(), times.passed(kind, way)];
            sum = words.into_iter().fold(sum, u64::wrapping_add);
        }
        for class in 0..=CLASSES {
            let (count, bytes) = times.large().of(class);
            sum = sum.wrapping_add(count).wrapping_add(bytes);
        }
    }
    if let Some(threads) = view.new_threads() {
        sum = threads.kinds().fold(sum.wrapping_add(threads.others()), |sum, (kind, threads)| {
            sum.wrapping_add(threads).wrapping_add(kind.text().len() as u64)
        });
    }
    if let Some(waste) = view.thread_waste() {
        let sums = waste.threads().map(|(_, left)| left).chain([waste.all()]);
        sum = sums.fold(sum, |sum, left| sum.wrapping_add(left.at_collection ^ left.at_refills));
    }
    for level in 0..=MAX_LEVELS {
        sum = sum.wrapping_add(view.size(level));
        let _ = view.asked(level);
    }
    let latest = (0..=MAX_LEVELS).filter_map(|level| view.latest_decision(level));
    for decision in latest.chain(view.changes()) {
        assert!(decision.level < MAX_LEVELS);
        sum = sum
            .wrapping_add(decision.seen.waste_cost_ns())
            .wrapping_add(decision.seen.refills_cost_ns(decision.most as usize));
    }
    let _ = (view.has_taken_sizes(), view.changed());
    for text in [view.settings(), view.message()] {
        assert!(text.chars().all(|letter| !letter.is_control()), "{text:?}");
        sum = sum.wrapping_add(text.len() as u64);
    }
    let _ = (view.state(), view.mode(), view.living(), view.is_to_withdraw());
    sum
}

/// With the times of one domain.
fn image(levels: &[usize]) -> Vec<u8> {
    let control = Control::anonymous(Counted { levels, timed: 1 }).unwrap();
    control.set_settings(r#"{"levels":"core"}"#);
    let memory = &control.memory;
    // SAFETY: nobody writes to it any more, and it lives across the call.
    unsafe { std::slice::from_raw_parts(memory.base().as_ptr(), memory.bytes()) }.to_vec()
}

fn put(image: &mut [u8], at: usize, word: u32) {
    image[at..at + 4].copy_from_slice(&word.to_ne_bytes());
}

#[test]
fn counts_that_do_not_fit_are_refused() {
    let good = image(&[2, 1]);
    assert_eq!(View::of_bytes(&good).unwrap().levels(), 2);
    for (at, word) in [
        (offset_of!(Header, magic), 0),
        (offset_of!(Header, format), FORMAT + 1),
        (offset_of!(Header, levels), MAX_LEVELS as u32 + 1),
        (offset_of!(Header, levels), u32::MAX),
        (offset_of!(Header, domains), 3),
        (offset_of!(Header, domains), u32::MAX),
        (offset_of!(Header, domains) + 4, MAX_DOMAINS as u32),
        (offset_of!(Header, timed), 2),
        (offset_of!(Header, timed), u32::MAX),
    ] {
        let mut bad = good.clone();
        put(&mut bad, at, word);
        assert!(View::of_bytes(&bad).is_none(), "{at} {word}");
    }
    assert!(View::of_bytes(&good[..good.len() - 1]).is_none());
    assert!(View::of_bytes(&[]).is_none());
}

#[test]
fn lengths_of_texts_beyond_their_room_and_letters_that_control_are_harmless() {
    let mut image = image(&[1]);
    for at in [offset_of!(Header, settings_bytes), offset_of!(Header, message_bytes)] {
        put(&mut image, at, u32::MAX);
    }
    let at = offset_of!(Header, message);
    image[at..at + 6].copy_from_slice(b"a\x1b[2J\n");
    let view = View::of_bytes(&image).unwrap();
    assert_eq!(view.settings().len(), MAX_SETTINGS);
    assert!(view.message().starts_with("a [2J "), "{}", view.message());
    read_all(&view);
}

#[test]
fn every_counter_is_documented() {
    let text = include_str!("../../../docs/counters.md");
    for counter in Counter::ALL {
        let name = counter.name();
        assert!(text.contains(&format!("`{name}`")), "docs/counters.md lacks {name}");
    }
}

#[test]
fn sums_do_not_overflow() {
    let control = Control::anonymous(&[2]).unwrap();
    for domain in control.counters(0) {
        domain.add(Counter::Refills, u64::MAX - 1);
    }
    assert_eq!(control.total(Counter::Refills), u64::MAX);
}

#[test]
fn times_stand_behind_all_counters() {
    let control = Control::anonymous(Counted { levels: &[2, 1], timed: 2 }).unwrap();
    for (alone, ticks) in [(true, 100), (false, 3), (true, 1 << 50)] {
        control.times()[1].record(Kind::Object, Way::Collection, ticks, alone);
    }
    control.counters(1)[0].add(Counter::Refills, 7);
    let histogram = control.times()[1].of(Kind::Object, Way::Collection);
    assert_eq!((histogram.sum(), histogram.longest()), (103 + (1 << 50), 1 << 50));
    assert_eq!([3, 22, BUCKETS - 1].map(|bucket| histogram.count(bucket)), [1; 3]);
    assert_eq!(
        (control.times()[0].of(Kind::Object, Way::Collection).sum(), control.total(Counter::Refills)),
        (0, 7)
    );
}

/// The memory is another process's, which may write anything at any time.
#[test]
fn memory_that_changes_while_it_is_read() {
    let control = Control::shared(Counted { levels: &[3, 2], timed: 3 }).unwrap();
    let link = format!("/proc/self/fd/{}", control.living().unwrap().1);
    let (file, found) = memory::take(Path::new(&link), Access::Read, |_| true).unwrap();
    let view = View::over(Memory::shared(&file, found.bytes, Access::Read).unwrap()).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let base = control.memory.base().as_ptr().cast::<AtomicU32>();
            let mut random = 1_u32;
            while !stop.load(Ordering::Relaxed) {
                for word in 0..control.memory.bytes() / 4 {
                    random ^= random << 13;
                    random ^= random >> 17;
                    random ^= random << 5;
                    // SAFETY: inside the mapping, aligned, and accessed by atomics only.
                    unsafe { (*base.add(word)).store(random, Ordering::Relaxed) };
                }
            }
        });
        let mut sum = 0_u64;
        for _ in 0..2000 {
            sum = sum.wrapping_add(read_all(&view));
            let lengths = [view.levels(), view.counters(0).len(), view.counters(1).len(), view.times().len()];
            assert_eq!(lengths, [2, 3, 2, 3]);
            assert_eq!(view.pid(), std::process::id());
        }
        stop.store(true, Ordering::Relaxed);
        assert_ne!(sum, 0);
    });
}

proptest! {
    #[test]
    fn random_bytes_are_read_within_their_bounds(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..20_000),
        marked: bool,
        levels in 0_u32..5,
        domains in proptest::array::uniform3(0_u32..40),
        timed in 0_u32..3,
    ) {
        if marked && bytes.len() > size_of::<Header>() {
            bytes[..MAGIC.len()].copy_from_slice(&MAGIC);
            put(&mut bytes, offset_of!(Header, format), FORMAT);
            put(&mut bytes, offset_of!(Header, levels), levels);
            put(&mut bytes, offset_of!(Header, timed), timed);
            for (slot, count) in domains.into_iter().enumerate() {
                put(&mut bytes, offset_of!(Header, domains) + 4 * slot, count);
            }
        }
        if let Some(view) = View::of_bytes(&bytes) {
            prop_assert!(marked);
            read_all(&view);
        }
    }

    #[test]
    fn a_good_image_with_changed_words(changes in proptest::collection::vec((any::<usize>(), any::<u32>()), 1..8)) {
        let mut image = image(&[3, 2, 1]);
        for (at, word) in changes {
            let words = image.len() / 4;
            put(&mut image, at % words * 4, word);
        }
        if let Some(view) = View::of_bytes(&image) {
            read_all(&view);
        }
    }
}
