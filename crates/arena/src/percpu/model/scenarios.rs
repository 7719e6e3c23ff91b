//! What may happen between threads, CPUs and the end of the reserve.

use super::*;

#[test]
fn refill_against_take_on_the_same_cpu() {
    model(3, || {
        let scene = Scene::new(3, 9, &[0, 0]);
        let other = scene.spawn(1, |scene| assert!(scene.take(1) && scene.take(1)));
        scene.area.run_as(0);
        assert!(scene.take(1) && scene.take(1));
        finish(scene, [other]);
    });
}

#[test]
fn a_refiller_that_lost_its_cpu_holds_nobody_up() {
    model(2, || {
        let scene = Scene::new(2, 12, &[0, 0, 0]);
        let others = [1, 2].map(|number| scene.spawn(number, |scene| assert!(scene.take(1))));
        scene.area.run_as(0);
        assert!(scene.take(1) && scene.take(1));
        finish(scene, others);
    });
}

#[test]
fn a_migration_at_any_moment() {
    model(3, || {
        let scene = Scene::new(3, 12, &[0, 1]);
        let mover = scene.spawn(1, |scene| assert!(scene.take(1) && scene.take(1)));
        // The kernel: a thread that allocates nothing.
        let kernel = thread::spawn(move || scene.area.migrate(0, 1));
        scene.area.run_as(0);
        assert!(scene.take(1) && scene.take(1));
        finish(scene, [mover, kernel]);
    });
}

#[test]
fn there_and_back_again() {
    model(3, || {
        let scene = Scene::new(2, 12, &[0, 0]);
        let other = scene.spawn(1, |scene| assert!(scene.take(1)));
        let kernel = thread::spawn(move || {
            scene.area.migrate(0, 1);
            scene.area.migrate(0, 0);
        });
        scene.area.run_as(0);
        assert!(scene.take(1) && scene.take(1));
        finish(scene, [other, kernel]);
    });
}

#[test]
fn exhaustion_while_refilling() {
    model(3, || {
        // Four grains for five requests.
        let scene = Scene::new(3, 4, &[0, 1]);
        let other = scene.spawn(1, |scene| {
            scene.take(2);
            scene.take(1);
        });
        scene.area.run_as(0);
        scene.take(2);
        scene.take(1);
        scene.take(1);
        finish(scene, [other]);
        assert!(!scene.take(4), "there were four grains");
    });
}

#[test]
fn two_refillers_of_one_word() {
    model(3, || {
        let scene = Scene::new(2, 12, &[0, 0]);
        // A word with a tail that is too short for both.
        scene.area.run_as(0);
        assert!(scene.take(1));
        let other = scene.spawn(1, |scene| assert!(scene.take(2)));
        assert!(scene.take(2));
        finish(scene, [other]);
    });
}

#[test]
fn the_limit_is_reached_exactly() {
    model(3, || {
        let scene = Scene::new(2, 4, &[0, 0]);
        let other = scene.spawn(1, |scene| {
            scene.take(1);
            scene.take(1);
        });
        scene.area.run_as(0);
        scene.take(1);
        scene.take(1);
        other.join().unwrap();
        // Threads on the same CPU find whatever is left there: every grain is handed out.
        while scene.take(1) {}
        finish(scene, []);
        let happened = scene.buffers.happened();
        assert_eq!((scene.reserve.used(), happened.wasted, happened.remaining), (4 * GRAIN, 0, 0));
    });
}

#[test]
fn the_reserve_alone_serves_alignments_between_refills() {
    model(4, || {
        let scene = Scene::new(2, 8, &[0, 1]);
        let aligned = |scene: &Scene| {
            if let Some(start) = scene.reserve.aligned(GRAIN, 2 * GRAIN) {
                assert_eq!(start % (2 * GRAIN), 0);
                scene.own(start, 1);
            }
        };
        let other = scene.spawn(1, move |scene| {
            aligned(scene);
            aligned(scene);
        });
        scene.area.run_as(0);
        assert!(scene.take(1) && scene.take(2));
        other.join().unwrap();
        // What an alignment skips is lost, and nothing is handed out twice.
        let mut owned = scene.owned.lock().unwrap().clone();
        owned.sort_by_key(|extent| extent.start);
        assert!(owned.windows(2).all(|pair| pair[0].end() <= pair[1].start), "{owned:?}");
    });
}

/// Each grain's cell tells whether it is handed out twice; what alignment skips is nobody's.
#[test]
fn aligned_requests_against_others_on_the_same_cpu() {
    model(3, || {
        let scene = Scene::new(5, 24, &[0, 0]);
        let other = scene.spawn(1, |scene| assert!(scene.take(1) && scene.take_aligned(1, 2)));
        scene.area.run_as(0);
        assert!(scene.take_aligned(1, 2) && scene.take_aligned(2, 4));
        join([other]);
        scene.no_byte_twice();
    });
}

#[test]
fn an_aligned_request_that_is_moved() {
    model(3, || {
        let scene = Scene::new(4, 24, &[0, 1]);
        let mover = scene.spawn(1, |scene| assert!(scene.take(1) && scene.take_aligned(1, 2)));
        let kernel = thread::spawn(move || scene.area.migrate(0, 1));
        scene.area.run_as(0);
        assert!(scene.take(1) && scene.take_aligned(1, 2));
        join([mover, kernel]);
        scene.no_byte_twice();
    });
}
