//! Broken protocols. Loom has to find the error in each: otherwise the passes of the scenarios mean nothing.

use super::*;
use crate::sequence::replace;
use crate::slot::{EMPTY, pack};
use hab::{CpuIndex, Source};

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flaw {
    None,
    /// The word is not made the refiller's before it publishes.
    PublishesWithoutOwnership,
    /// The buffer is published without release.
    RelaxedPublication,
}

/// What is wrong with growth in place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Growth {
    Sound,
    /// The new word is stored whatever became of the old one.
    StoresBlindly,
    /// What lies behind the block is taken, whoever's it is.
    ForgetsToLook,
}

/// A refill of CPU 0's first word, as `PerCpu::refill` does it, with a flaw; takes one grain.
fn refill(scene: &Scene, flaw: Flaw) {
    let word = &scene.buffers.slots()[0].words[0];
    if flaw == Flaw::PublishesWithoutOwnership {
        if word.load(Ordering::Acquire) != EMPTY {
            return;
        }
    } else {
        // SAFETY: a word of CPU 0.
        let owned = unsafe { replace(scene.area, word, 0, EMPTY, REFILLING) };
        if !owned {
            return;
        }
    }
    let extent = scene.reserve.acquire(CpuIndex(0), GRAIN, 3 * GRAIN).unwrap();
    scene.write(extent);
    let (mine, rest) = extent.split(GRAIN);
    let order = if flaw == Flaw::RelaxedPublication { Ordering::Relaxed } else { Ordering::Release };
    word.store(pack(BASE, rest), order);
    scene.own(mine.start, 1);
}

fn run(flaw: Flaw) {
    model(3, move || {
        let scene = Scene::new(3, 12, &[0, 0]);
        let other = scene.spawn(1, move |scene| assert!(scene.take(1) && scene.take(1)));
        scene.area.run_as(0);
        refill(scene, flaw);
        finish(scene, [other]);
    });
}

#[test]
fn the_sound_one_passes() {
    run(Flaw::None);
}

#[test]
#[should_panic(expected = "bytes")]
fn a_publication_without_ownership_loses_bytes() {
    run(Flaw::PublishesWithoutOwnership);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn an_unordered_publication_races() {
    run(Flaw::RelaxedPublication);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_sequence_that_is_not_begun_again_hands_bytes_out_twice() {
    model(3, || {
        let scene = Scene::on(Area::new(2, &[0, 0], false), 4, 12);
        scene.area.run_as(0);
        assert!(scene.take(1));
        let other = scene.spawn(1, |scene| assert!(scene.take(1)));
        assert!(scene.take(1));
        finish(scene, [other]);
    });
}

/// A block of one grain becomes one of two, as `PerCpu::resize` does it, with a flaw, while another thread takes one.
fn grow(growth: Growth) {
    model(3, move || {
        let scene = Scene::new(4, 12, &[0, 0]);
        scene.area.run_as(0);
        let start =
            scene.buffers.allocate(GRAIN, GRAIN, &scene.reserve, |extent| scene.write(extent)).unwrap();
        let other = scene.spawn(1, |scene| assert!(scene.take(1)));
        let word = &scene.buffers.slots()[0].words[0];
        let old = word.load(Ordering::Acquire);
        let rest = (old & REST_MASK) as usize;
        let is_last = scene.buffers.start(old) == start + GRAIN;
        let new = pack(BASE, Extent { start: start + 2 * GRAIN, bytes: (rest - 1) * GRAIN });
        let grown = match growth {
            // SAFETY: a word of CPU 0.
            Growth::Sound => is_last && unsafe { replace(scene.area, word, 0, old, new) },
            Growth::StoresBlindly => {
                if is_last {
                    word.store(new, Ordering::Release);
                }
                is_last
            }
            // SAFETY: as above.
            Growth::ForgetsToLook => unsafe { replace(scene.area, word, 0, old, new) },
        };
        scene.own(start, if grown { 2 } else { 1 });
        finish(scene, [other]);
    });
}

#[test]
fn sound_growth_passes() {
    grow(Growth::Sound);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn growth_that_stores_blindly_takes_what_another_thread_has() {
    grow(Growth::StoresBlindly);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn growth_that_forgets_to_look_at_the_top_takes_another_block() {
    grow(Growth::ForgetsToLook);
}
