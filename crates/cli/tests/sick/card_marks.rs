//! JVMs whose threads store references, on as many CPUs as there are, and as on eight.

use crate::examined::{report, start};
use crate::watch_until;

/// Whether the rule finds something in a JVM with these flags, first as it is, then as on more CPUs. The JVM, its collector, flags, and threads are
/// real; where fewer CPUs are busy, only the CPU time of its threads is made that of nine.
#[test]
fn stores_of_references_on_many_cpus_are_found() {
    // More would not fit the heap.
    let threads = std::thread::available_parallelism().map_or(1, |cpus| cpus.get()).min(12);
    let mut is_assumed = false;
    for (flags, expected) in [
        (&["-XX:+UseParallelGC"][..], true),
        (&["-XX:+UseSerialGC"], true),
        (&["-XX:+UseParallelGC", "-XX:+UseCondCardMark"], false),
        (&["-XX:+UseG1GC"], false),
    ] {
        let Some(jvm) = start(flags, &["javac", "--threads", &threads.to_string()]) else { return };
        // Until it can be asked.
        report(&jvm);
        let mut evidence = watch_until(&jvm, "/", |evidence| {
            evidence.application_cpu > Some(0.0) && evidence.jvm.flags.get("UseTLAB").is_some()
        });
        drop(jvm);
        let busy = evidence.application_cpu.unwrap() / evidence.seconds;
        if busy < 8.0 {
            assert_eq!(advice(&evidence), None, "{busy} CPUs are busy, {flags:?}: {evidence:?}");
            evidence.application_cpu = Some(9.0 * evidence.seconds);
            is_assumed = true;
        }
        let expected = expected.then(|| "-XX:+UseCondCardMark".to_owned());
        assert_eq!(advice(&evidence), expected, "{flags:?}: {evidence:?}");
    }
    if is_assumed {
        skips::skip!("card marks on nine busy CPUs: fewer were busy, so that their CPU time was assumed");
    }
}

/// What the rule advises.
fn advice(evidence: &doctor::evidence::Evidence) -> Option<String> {
    let found = doctor::rules::examine(evidence);
    let of_rule = found.iter().find(|found| found.rule == "card marks")?;
    Some(of_rule.advice[0].remedy.text().to_string())
}
