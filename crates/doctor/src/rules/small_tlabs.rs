//! Where small first TLABs pay, the flag's and Terrace's: what they save against what they cost.

use super::sick::{SECONDS, churning, flags, healthy};
use super::*;
use crate::evidence::{Allocation, CpuLimits};

/// Where it would leave the TLABs as they are, it is no remedy.
#[test]
fn terrace_is_advised_only_where_it_changes_tlabs() {
    let terrace = |change: fn(&mut Evidence)| {
        let mut evidence = healthy();
        churning(&mut evidence);
        change(&mut evidence);
        examine(&evidence)[0].advice.iter().any(|advice| matches!(advice.remedy, Remedy::Terrace(_)))
    };
    assert!(terrace(|_| ()));
    assert!(!terrace(|e| e.eden.collecting = Some(0.003 * SECONDS)), "collections that cost little");
    // Of 250 MB/s, 0.2 ns for each byte are 2.5 % of two CPUs.
    let much = |stopped: f64| {
        let mut evidence = healthy();
        churning(&mut evidence);
        evidence.eden.collecting = Some(stopped * SECONDS);
        evidence.allocation.as_mut().unwrap().objects = 2.5e8 * SECONDS;
        examine(&evidence)[0].advice.iter().any(|advice| matches!(advice.remedy, Remedy::Terrace(_)))
    };
    assert!(!much(0.025), "what is saved is less than what dense use costs");
    for chosen in ["TLABSize=1048576", "ResizeTLAB=false", "MinTLABSize=4096"] {
        let mut evidence = healthy();
        churning(&mut evidence);
        evidence.jvm.flags = flags(chosen);
        let advice = &examine(&evidence)[0].advice;
        assert!(advice.iter().all(|advice| !matches!(advice.remedy, Remedy::Terrace(_))), "{chosen}");
    }
    // Threads of 3000 bytes whose first TLAB has 8000.
    assert!(!terrace(|e| {
        let (started, own, first) = (10_000.0, 3000.0, 8000.0);
        let (objects, waste_ended) = (started * own, started * (first - own));
        let used = objects + waste_ended;
        e.allocation = Some(Allocation {
            used,
            objects,
            waste_ended,
            of_ended_thread: Some(own),
            ..Allocation::default()
        });
    }));
}

/// Tomcat with a thread for each connection: a request fills nine tenths of its thread's first TLAB (Parallel, JDK 25; an eighth with G1 on
/// 17), and collections cost little. With `-XX:TLABSize=4k` it did 0.965 of the work.
#[test]
fn small_first_tlabs_are_not_advised_where_they_do_not_pay() {
    let remedies = |evidence: &Evidence| {
        let advice = examine(evidence).into_iter().flat_map(|found| found.advice);
        advice.map(|advice| advice.remedy.text()).collect::<Vec<_>>()
    };
    let mut evidence = healthy();
    (evidence.threads.started, evidence.threads.ended) = (Some(20_000), Some(20_000));
    let (objects, waste_ended) = (20_000.0 * 22_100.0, 20_000.0 * 2_300.0);
    evidence.allocation = Some(Allocation {
        used: objects + waste_ended,
        objects,
        waste_ended,
        of_ended_thread: Some(22_100.0),
        ..Allocation::default()
    });
    assert_eq!(remedies(&evidence), ["use a pool of threads"]);
    // A collector that stops nobody works all the same.
    let mut evidence = healthy();
    churning(&mut evidence);
    evidence.eden.collecting = Some(0.003 * SECONDS);
    assert_eq!(remedies(&evidence), ["use a pool of threads"]);
    (evidence.collector_cpu, evidence.process_cpu) = (Some(2.0), Some(2.0 * SECONDS));
    assert_eq!(remedies(&evidence), ["-XX:TLABSize=4k", "use a pool of threads"]);
    evidence.process_cpu = Some(1.0 * SECONDS);
    assert_eq!(remedies(&evidence), ["use a pool of threads"], "on a CPU that nobody else wants");
}

/// 220 MB/s cost 0.044 CPUs: of one busy thread more than the 2.3 % of its time that are saved, whatever the machine has beside; of four less.
#[test]
fn dense_use_costs_a_share_of_the_threads_that_work() {
    let is_advised = |cpus: usize, quota: Option<f64>, busy: Option<f64>| {
        let mut evidence = healthy();
        churning(&mut evidence);
        evidence.eden.collecting = Some(0.03 * SECONDS);
        evidence.allocation.as_mut().unwrap().objects = 2.2e8 * SECONDS;
        evidence.machine = CpuLimits { cpus, nodes: 1, quota, ..CpuLimits::default() };
        evidence.application_cpu = busy.map(|busy| busy * SECONDS);
        let found = examine(&evidence);
        found[0].advice.iter().any(|advice| matches!(advice.remedy, Remedy::Flags(_)))
    };
    for cpus in [2, 64] {
        assert!(!is_advised(cpus, None, Some(1.0)));
        assert!(is_advised(cpus, None, Some(4.0)));
    }
    // Where nobody has seen it, all that they may use.
    assert_eq!([2, 64].map(|cpus| is_advised(cpus, None, None)), [false, true]);
    assert!(!is_advised(64, Some(2.0), None));
}
