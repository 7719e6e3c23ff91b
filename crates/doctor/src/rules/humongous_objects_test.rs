use crate::evidence::Evidence;
use crate::finding::{Advised, Finding};
use crate::rules::examine;
use crate::rules::sick::{ergonomic, full_of_humongous_objects, healthy};
use jvm::large_objects::{Class, LargeObjects};

const MB: u64 = 1 << 20;

/// So many objects of so many bytes each.
fn large(objects: &[(u64, u64)]) -> Option<LargeObjects> {
    let class = |(count, bytes): &(u64, u64)| Class {
        most: bytes.next_power_of_two(),
        count: *count,
        bytes: count * bytes,
    };
    Some(LargeObjects(objects.iter().map(class).collect()))
}

/// Ten seconds of a heap of 1 GB with regions of 1 MB: 1 GB a second in an eden of 1 GB, and of five collections a second four for humongous objects.
fn found(objects: &[(u64, u64)], change: impl Fn(&mut Evidence)) -> Finding {
    let mut evidence = healthy();
    full_of_humongous_objects(&mut evidence);
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

fn collections(advice: &Advised) -> f64 {
    advice.effect.collections.unwrap()
}

const IN_THE_PROGRAM: &str = "allocate smaller arrays, or keep large ones";

#[test]
fn regions_are_as_large_as_the_objects_need_and_no_larger() {
    for (bytes, region) in [(600_000, "2m"), (MB, "2m"), (MB + 16, "4m"), (3 * MB, "8m"), (8 * MB, "16m")] {
        let advice = advised(&[(100, bytes)], |_| ());
        assert_eq!(remedies(&advice), [format!("-XX:G1HeapRegionSize={region}"), IN_THE_PROGRAM.into()]);
        for advice in &advice {
            assert!((collections(advice) - 0.2).abs() < 1e-6, "one a second remains: {advice:?}");
        }
    }
}

/// Half of a region of 16 MB is the most that 64 regions of this heap leave.
#[test]
fn objects_that_no_region_takes_are_for_the_program() {
    let found = found(&[(100, 20 * MB)], |_| ());
    assert_eq!(remedies(&found.advice), [IN_THE_PROGRAM]);
    assert_eq!(found.advice[0].note, "if none is larger than half a region any more");
    let said = "Of 210 MB/s of such objects 100 % are in ones of 16.8 MB to 33.6 MB.";
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
    // Two of the four collections a second stay, and eden fills with what is left: 0.933 GB/s.
    let fill = 1e10 / (1e10 - 32.0 * 20.0 * MB as f64);
    let others = 2.0;
    let expected = (others + others / f64::exp_m1(others * fill)) / 5.0;
    assert!((collections(&advice[0]) - expected).abs() < 1e-6, "{} {expected}", collections(&advice[0]));
    assert!(collections(&advice[1]) < 0.21, "the program could do without all of them");
}

#[test]
fn objects_whose_sizes_nobody_has_seen_are_taken_to_fit() {
    for unseen in [None, large(&[]), large(&[(100, 500_000)])] {
        let advice = advised(&[], |e| e.large_objects.clone_from(&unseen));
        assert_eq!(remedies(&advice)[0], "-XX:G1HeapRegionSize=4m");
        assert!(advice[0].note.starts_with("at best"));
        assert!(advice[1].note.starts_with("-Xlog:gc+humongous=debug"));
    }
}

#[test]
fn who_chose_a_size_keeps_it() {
    let advice = advised(&[(100, 600_000)], |e| {
        e.jvm.flags = crate::rules::sick::flags("G1HeapRegionSize=1048576 MaxHeapSize=1073741824");
    });
    assert_eq!(remedies(&advice), [IN_THE_PROGRAM]);
}
