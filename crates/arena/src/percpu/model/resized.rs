//! The last block of a buffer grows, shrinks and is given back where it is, while other threads take from the buffer, fill it again, or come
//! to its CPU.
//!
//! What holds beside what [`Scene::check`] looks at: a block that grew begins where it began, and all of it is its owner's; one that did not is
//! as it was.

use super::*;

impl Scene {
    /// A block of so many grains.
    fn block(&self, grains: usize) -> Option<Extent> {
        let bytes = grains * GRAIN;
        let start = self.buffers.allocate(bytes, GRAIN, &self.reserve, |extent| self.write(extent))?;
        let block = Extent { start, bytes };
        self.write(block);
        Some(block)
    }

    /// The block has so many grains now, or it is as it was; whether it has.
    fn resize(&self, block: &mut Extent, grains: usize) -> bool {
        // The owner is done with all of it before it gives a part back.
        self.write(*block);
        let resized = self.buffers.resize(*block, grains * GRAIN);
        if resized {
            block.bytes = grains * GRAIN;
        }
        // A cell of a grain that is also somebody else's is a race.
        self.write(*block);
        resized
    }

    /// The block stays to the end.
    fn keep(&self, block: Extent) {
        if block.bytes > 0 {
            self.own(block.start, block.bytes / GRAIN);
        }
    }
}

#[test]
fn growth_against_take_on_the_same_cpu() {
    model(3, || {
        let scene = Scene::new(4, 12, &[0, 0]);
        scene.area.run_as(0);
        let mut block = scene.block(1).unwrap();
        let other = scene.spawn(1, |scene| assert!(scene.take(1)));
        scene.resize(&mut block, 2);
        scene.resize(&mut block, 3);
        scene.keep(block);
        finish(scene, [other]);
    });
}

#[test]
fn growth_of_two_blocks_of_one_buffer() {
    model(3, || {
        let scene = Scene::new(4, 12, &[0, 0]);
        scene.area.run_as(0);
        let mut first = scene.block(1).unwrap();
        let other = scene.spawn(1, |scene| {
            let mut second = scene.block(1).unwrap();
            scene.resize(&mut second, 2);
            scene.keep(second);
        });
        scene.resize(&mut first, 2);
        scene.keep(first);
        finish(scene, [other]);
    });
}

#[test]
fn what_is_given_back_is_somebody_elses_at_once() {
    model(3, || {
        // Nothing else is left: whoever is served has what the other gave back.
        let scene = Scene::new(3, 3, &[0, 0]);
        scene.area.run_as(0);
        assert!(scene.take(1));
        let mut block = scene.block(1).unwrap();
        let other = scene.spawn(1, |scene| {
            scene.take(1);
            scene.take(1);
        });
        assert!(scene.resize(&mut block, 0) || block.bytes == GRAIN);
        scene.keep(block);
        finish(scene, [other]);
    });
}

#[test]
fn a_block_that_shrinks_and_grows_between_takes() {
    model(3, || {
        let scene = Scene::new(4, 8, &[0, 0]);
        scene.area.run_as(0);
        let mut block = scene.block(3).unwrap();
        let other = scene.spawn(1, |scene| assert!(scene.take(1)));
        scene.resize(&mut block, 1);
        scene.resize(&mut block, 3);
        scene.keep(block);
        finish(scene, [other]);
    });
}

#[test]
fn growth_during_a_migration() {
    model(3, || {
        let scene = Scene::new(4, 12, &[0, 0]);
        scene.area.run_as(0);
        let mut block = scene.block(1).unwrap();
        let other = scene.spawn(1, |scene| assert!(scene.take(1)));
        let kernel = thread::spawn(move || {
            scene.area.migrate(0, 1);
            scene.area.migrate(0, 0);
        });
        scene.resize(&mut block, 2);
        scene.resize(&mut block, 0);
        scene.keep(block);
        finish(scene, [other, kernel]);
    });
}

#[test]
fn a_block_given_back_on_another_cpu_is_not_lost() {
    model(3, || {
        let scene = Scene::new(3, 12, &[0, 1]);
        scene.area.run_as(0);
        let mut block = scene.block(1).unwrap();
        let other = scene.spawn(1, |scene| {
            let mut own = scene.block(1).unwrap();
            scene.resize(&mut own, 0);
            scene.keep(own);
        });
        let kernel = thread::spawn(move || scene.area.migrate(0, 1));
        scene.resize(&mut block, 0);
        assert!(scene.take(1));
        scene.keep(block);
        finish(scene, [other, kernel]);
    });
}

#[test]
fn giving_back_while_another_thread_fills_the_buffer_again() {
    model(3, || {
        let scene = Scene::new(3, 12, &[0, 0]);
        scene.area.run_as(0);
        assert!(scene.take(1));
        let mut block = scene.block(1).unwrap();
        // More than the tail: it is given up for another one, which begins behind it.
        let other = scene.spawn(1, |scene| assert!(scene.take(2)));
        scene.resize(&mut block, 2);
        scene.resize(&mut block, 0);
        scene.keep(block);
        finish(scene, [other]);
    });
}

#[test]
fn a_tail_that_is_full_again_goes_to_nobody_twice() {
    model(3, || {
        // The reserve's rest is a buffer shorter than the others.
        let scene = Scene::new(3, 5, &[0, 0]);
        scene.area.run_as(0);
        let mut block = scene.block(3).unwrap();
        let other = scene.spawn(1, |scene| {
            if let Some(mut own) = scene.block(1) {
                scene.resize(&mut own, 0);
                scene.keep(own);
            }
        });
        scene.resize(&mut block, 2);
        scene.take(1);
        scene.keep(block);
        finish(scene, [other]);
    });
}

#[test]
fn the_reserve_takes_its_last_bytes_back_between_takes() {
    model(4, || {
        let scene = Scene::new(2, 6, &[0, 0]);
        let taken = |scene: &Scene| {
            let start = scene.reserve.aligned(GRAIN, GRAIN).unwrap();
            let block = Extent { start, bytes: GRAIN };
            scene.write(block);
            block
        };
        let first = taken(scene);
        let other = scene.spawn(1, move |scene| {
            let block = taken(scene);
            if !scene.reserve.take_back(block) {
                scene.keep(block);
            }
        });
        if !scene.reserve.take_back(first) {
            scene.keep(first);
        }
        let again = taken(scene);
        scene.keep(again);
        finish(scene, [other]);
    });
}
