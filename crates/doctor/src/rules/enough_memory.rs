//! What makes more memory resident is advised only where there is some.

use super::advised_flags::flags_advised;
use super::sick::{churning, flags, healthy};
use super::*;
use jvm::vm_flags::VmFlags;

/// What is advised in a heap of 1 GB with an eden of 600 MB, of which 50 MB are in use, where so much is left.
fn advised(available: Option<u64>, change: fn(&mut Evidence)) -> Vec<Finding> {
    let mut evidence = healthy();
    churning(&mut evidence);
    evidence.eden.bytes = Some(600e6);
    (evidence.memory.heap_committed, evidence.memory.heap_used) = (Some(1 << 30), Some(50_000_000));
    evidence.memory.available = available;
    change(&mut evidence);
    examine(&evidence)
}

/// What ended threads leave of their TLABs is not touched: saving it makes it resident.
#[test]
fn small_tlabs_are_advised_where_all_of_eden_fits() {
    let remedies = |available| {
        let found = advised(available, |_| ());
        found[0].advice.iter().map(|advice| advice.remedy.clone()).collect::<Vec<_>>()
    };
    let bare = |remedies: &[Remedy]| {
        remedies.iter().any(|remedy| matches!(remedy, Remedy::Flags(_) | Remedy::Terrace(_)))
    };
    assert!(bare(&remedies(Some(64 << 30))) && bare(&remedies(None)));
    let lacking = remedies(Some(100_000_000));
    assert!(!bare(&lacking) && lacking[0].text().starts_with("a smaller young generation"), "{lacking:?}");
    assert!(!bare(&remedies(Some(600_000_000))), "the next stack needs some of it");
    let said = &advised(Some(100_000_000), |_| ())[0].evidence;
    assert!(said.contains("up to 600 MB more") && said.contains("100 MB are left"), "{said}");
    // It has been touched by and by.
    let seen = advised(Some(100_000_000), |e| e.memory.heap_resident = Some((1 << 30) - 50_000_000));
    assert_eq!(seen[0].advice[0].remedy.text(), "-XX:TLABSize=4k", "{seen:?}");
    let touched = advised(Some(100_000_000), |e| e.jvm.flags = flags("AlwaysPreTouch=true"));
    assert!(!touched[0].evidence.contains("resident"), "{touched:?}");
    assert_eq!(touched[0].advice[0].remedy.text(), "-XX:TLABSize=4k");
    let unknown = advised(Some(100_000_000), |e| e.jvm.flags = VmFlags::default());
    assert!(unknown[0].advice[0].remedy.text().starts_with("a smaller"), "{unknown:?}");
}

/// One finding does not take back what another advises.
#[test]
fn a_young_generation_that_is_too_small_is_not_to_become_smaller() {
    let remedies = |collecting: f64| {
        let mut evidence = healthy();
        churning(&mut evidence);
        let bytes = evidence.allocation.as_mut().unwrap();
        bytes.waste_ended = 0.4 * bytes.used;
        evidence.eden.collecting = Some(collecting);
        evidence.eden.bytes = Some(600e6);
        (evidence.memory.heap_committed, evidence.memory.heap_used) = (Some(1 << 30), Some(50_000_000));
        evidence.memory.available = Some(100_000_000);
        let found = examine(&evidence);
        (found.len(), found[0].advice[0].remedy.text())
    };
    assert!(remedies(0.01).1.starts_with("a smaller young generation (-Xmn) or more memory"));
    let (findings, remedy) = remedies(1.0);
    assert_eq!(
        (findings, remedy.as_str()),
        (2, "more memory, and then -XX:TLABSize=4k or a pool of threads")
    );
}

/// Eden was not full when collections for humongous objects came: with larger regions it is.
#[test]
fn larger_regions_are_advised_where_all_of_eden_fits() {
    let remedies = |available: u64| {
        let mut evidence = healthy();
        super::sick::full_of_humongous_objects(&mut evidence);
        evidence.eden.bytes = Some(600e6);
        (evidence.memory.heap_committed, evidence.memory.heap_used) = (Some(1 << 30), Some(50_000_000));
        evidence.memory.available = Some(available);
        let found = examine(&evidence).into_iter().find(|found| found.rule == "humongous objects").unwrap();
        let remedies = found.advice.iter().map(|advice| advice.remedy.text()).collect::<Vec<_>>();
        (remedies, found.evidence)
    };
    let (ample, _) = remedies(64 << 30);
    assert!(ample[0].starts_with("-XX:G1HeapRegionSize="), "{ample:?}");
    let (lacking, said) = remedies(100_000_000);
    assert_eq!(lacking, ["allocate smaller arrays, or keep large ones"]);
    assert!(said.contains("more of eden becomes resident, and 100 MB are left"), "{said}");
}

/// Whatever is resident at once leaves something to the rest of the process.
#[test]
fn memory_is_not_used_up_to_the_last_byte() {
    let rules = |more: u64, available: u64, change: fn(&mut Evidence)| {
        let mut evidence = healthy();
        (evidence.memory.resident, evidence.memory.huge) = (Some(8 << 30), Some(8 << 30));
        (evidence.memory.heap_committed, evidence.memory.heap_used) = (Some(4 << 30), Some((4 << 30) - more));
        evidence.memory.available = Some(available);
        change(&mut evidence);
        examine(&evidence).iter().map(|found| found.rule).collect::<Vec<_>>()
    };
    let touching = |e: &mut Evidence| e.memory.first_touches = Some(2_000_000);
    let small = |e: &mut Evidence| e.memory.huge = Some(0);
    let mb = |number: u64| number << 20;
    assert_eq!(rules(mb(400), mb(400), touching), [""; 0]);
    assert_eq!(rules(mb(400), mb(500), touching), ["first touch"]);
    assert_eq!(rules(mb(400), mb(400), small), [""; 0]);
    assert_eq!(rules(mb(400), mb(500), small), ["small pages"]);
}

#[test]
fn a_heap_is_touched_at_the_start_only_where_it_fits() {
    let touched = |initial: u64, available: Option<u64>, used: u64| {
        flags_advised(|e| {
            e.memory.first_touches = Some(2_000_000);
            e.memory.available = available;
            (e.memory.heap_used, e.memory.heap_committed) = (Some(used), Some(initial));
            e.jvm.flags = flags(&format!("InitialHeapSize={initial}"));
        })
    };
    assert_eq!(touched(3 << 30, Some(4 << 30), 0), ["-XX:+AlwaysPreTouch"]);
    assert!(touched(3 << 30, Some(1 << 30), 1 << 20).is_empty());
    assert_eq!(touched(3 << 30, Some(1 << 30), 5 << 29), ["-XX:+AlwaysPreTouch"], "most of it is in memory");
    assert!(touched(3 << 30, None, 0).is_empty(), "a program's remedy: if it fits");
}
