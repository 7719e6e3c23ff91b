use crate::evidence::Evidence;
use crate::finding::{Advised, Effect, Finding};
use crate::rules::examine;
use crate::rules::sick::{ergonomic, full_of_humongous_objects, healthy};
use jvm::large_objects::{Class, LargeObjects};

const MB: u64 = 1 << 20;

/// So many objects of so many bytes each.
fn large(objects: &[(u64, u64)]) -> Option<LargeObjects> {
    let class = |(count, bytes): &(u64, u64)| Class {
        most_bytes: bytes.next_power_of_two(),
        count: *count,
        bytes: count * bytes,
    };
    Some(LargeObjects(objects.iter().map(class).collect()))
}

/// Ten seconds of a heap of 2 GB with regions of 1 MB: 1 GB a second in an eden of 1 GB, and of five collections a second four for humongous objects.
fn found(objects: &[(u64, u64)], change: impl Fn(&mut Evidence)) -> Finding {
    let mut evidence = healthy();
    full_of_humongous_objects(&mut evidence);
    evidence.jvm.flags = ergonomic("G1HeapRegionSize=1048576 MaxHeapSize=2147483648");
    evidence.large_objects = large(objects);
    change(&mut evidence);
    examine(&evidence).into_iter().find(|found| found.rule == super::RULE.name).unwrap()
}

fn advised(objects: &[(u64, u64)], change: impl Fn(&mut Evidence)) -> Vec<Advised> {
    found(objects, change).advice
}

fn remedies(advice: &[Advised]) -> Vec<String> {
    advice.iter().map(|advice| advice.remedy.text()).collect()
}

fn near(advice: &Advised, collections: f64) {
    let found = advice.effect.collections.unwrap();
    assert!((found / collections - 1.0).abs() < 1e-6, "{found} instead of {collections}");
}

const IN_THE_PROGRAM: &str = "allocate smaller arrays, or keep large ones";

/// Of one a second that remains: as much more as regions have a rest that takes no other of these objects.
#[test]
fn regions_are_as_large_as_the_objects_need_and_no_larger() {
    for (bytes, region, in_one) in
        [(600_000, 2, 3), (MB, 2, 2), (MB + 16, 4, 3), (3 * MB, 8, 2), (8 * MB, 16, 2)]
    {
        let advice = advised(&[(100, bytes)], |_| ());
        assert_eq!(remedies(&advice), [format!("-XX:G1HeapRegionSize={region}m"), IN_THE_PROGRAM.into()]);
        let unused = 100.0 * ((region * MB) as f64 / in_one as f64 - bytes as f64);
        near(&advice[0], 0.2 * (1.0 + unused / 1e10));
        near(&advice[1], 0.2);
        assert!(advice[0].note.starts_with("if few"), "{}", advice[0].note);
    }
}

/// Half of a region of 16 MB is the most that 128 regions of this heap leave.
#[test]
fn objects_that_no_region_takes_are_for_the_program() {
    let found = found(&[(100, 20 * MB)], |_| ());
    assert_eq!(remedies(&found.advice), [IN_THE_PROGRAM]);
    assert_eq!(found.advice[0].note, "if none is larger than half a region any more");
    let said = "210 MB/s are allocated in such objects, 100 % of that in objects of 16.8 MB to 33.6 MB.";
    assert!(found.evidence.contains(said), "{}", found.evidence);
    let ample = |version: &str| {
        let advice = advised(&[(100, 20 * MB)], |e| {
            e.jvm.version = version.into();
            e.jvm.flags = ergonomic("G1HeapRegionSize=1048576 MaxHeapSize=8589934592");
        });
        remedies(&advice)[0].clone()
    };
    assert_eq!(ample("25"), "-XX:G1HeapRegionSize=64m");
    assert_eq!(ample("17.0.15"), IN_THE_PROGRAM, "32 MB are its largest");
}

/// 640 objects of 600,000 bytes take a region of 1 MB each, 32 of 20 MB take 20: half of the regions stay what they are, unless they get larger than these need.
#[test]
fn what_stays_humongous_goes_on_bringing_collections() {
    let advice = advised(&[(640, 600_000), (32, 20 * MB)], |_| ());
    assert_eq!(remedies(&advice)[0], "-XX:G1HeapRegionSize=2m");
    // Two of the four collections a second stay, and eden fills with the others and what they leave of a third of a region.
    let unused = 640.0 * (2.0 * MB as f64 / 3.0 - 600_000.0);
    let fill = 1e10 / (1e10 - 32.0 * 20.0 * MB as f64 + unused);
    let others = 2.0;
    near(&advice[0], (others + others / f64::exp_m1(others * fill)) / 5.0);
    assert!(advice[0].note.starts_with("at most so many"), "{}", advice[0].note);
    near(&advice[1], 0.2);
}

/// Regions of 16 MB would take all of them, and save a fortieth more than those of 2 MB.
#[test]
fn a_few_larger_ones_are_not_worth_the_largest_regions() {
    let advice = advised(&[(1000, 600_000), (10, 5 * MB)], |_| ());
    assert_eq!(remedies(&advice)[0], "-XX:G1HeapRegionSize=2m");
    let advice = advised(&[(10, 600_000), (100, 5 * MB)], |_| ());
    assert_eq!(remedies(&advice)[0], "-XX:G1HeapRegionSize=16m");
}

/// In a heap of 1 GB four times as large leaves 256 regions, eight times 128, and 16 times 64.
#[test]
fn the_largest_regions_leave_more_of_them() {
    let of = |bytes| {
        let flags = "G1HeapRegionSize=1048576 MaxHeapSize=1073741824";
        remedies(&advised(&[(100, bytes)], |e| e.jvm.flags = ergonomic(flags)))[0].clone()
    };
    assert_eq!([of(3 * MB), of(5 * MB)], ["-XX:G1HeapRegionSize=8m", IN_THE_PROGRAM]);
}

/// Where accounts may not be read, nobody knows what fills eden; sizes are known all the same.
#[test]
fn sizes_do_without_the_use_of_eden() {
    let advice = advised(&[(100, 600_000)], |e| e.allocation = None);
    assert_eq!(remedies(&advice), ["-XX:G1HeapRegionSize=2m", IN_THE_PROGRAM]);
    assert_eq!(advice[0].effect, Effect::default());
}

#[test]
fn no_region_is_advised_where_eden_does_not_fit() {
    let advice = advised(&[(100, 600_000)], |e| {
        (e.memory.heap_committed, e.memory.heap_used) = (Some(1 << 30), Some(50_000_000));
        e.memory.available = Some(100_000_000);
    });
    assert_eq!(remedies(&advice), [IN_THE_PROGRAM]);
}

#[test]
fn objects_whose_sizes_nobody_has_seen_are_taken_to_fit() {
    for unseen in [None, large(&[]), large(&[(100, 500_000)])] {
        let advice = advised(&[], |e| e.large_objects.clone_from(&unseen));
        assert_eq!(remedies(&advice)[0], "-XX:G1HeapRegionSize=4m");
        assert!(advice[0].note.starts_with("at best"));
        assert!(advice[1].note.ends_with("-Xlog:gc+humongous=debug names their sizes"));
    }
}

#[test]
fn who_chose_a_size_keeps_it() {
    let advice = advised(&[(100, 600_000)], |e| {
        e.jvm.flags = crate::rules::sick::flags("G1HeapRegionSize=1048576 MaxHeapSize=1073741824");
    });
    assert_eq!(remedies(&advice), [IN_THE_PROGRAM]);
}
