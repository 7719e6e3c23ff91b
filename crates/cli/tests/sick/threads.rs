//! JVMs whose threads leave TLABs unused, and which threads these are.

use crate::examined::{finding, memory_is_readable, report_when, rules};
use crate::start_program;
use serde_json::Value;

#[test]
fn threads_whose_tlabs_are_unused_when_a_collection_comes_are_named() {
    // Eden is full after seconds, and many times in each.
    for (collector, arrays) in
        [("Serial", "200"), ("Serial", "10000"), ("Parallel", "10000"), ("G1", "10000")]
    {
        sleepers_are_named(&format!("-XX:+Use{collector}GC"), arrays);
    }
}

fn sleepers_are_named(collector: &str, arrays: &str) {
    let flags = [collector, "-Xmn64m", "-XX:TLABSize=256k", "-XX:-ResizeTLAB"];
    let jvm = start_program(&flags, "Sleepers.java", &["80", arrays]);
    let Some(jvm) = jvm.filter(|_| memory_is_readable()) else { return };
    let of_sleepers = |report: &Value| {
        let evidence = &report["evidence"];
        let groups = evidence["threads"]["groups"].as_array()?;
        let sleepers = groups.iter().find(|group| group["name"] == "sleeper-N")?;
        let all = evidence["allocation"]["waste_collection"].as_f64()?;
        Some((sleepers["waste_collection"].as_f64()?, all, evidence["allocation"]["used"].as_f64()?))
    };
    // While the JVM starts, others fill eden.
    report_when(jvm.0.id(), |report| {
        rules(report).contains(&"refill waste")
            && of_sleepers(report).is_some_and(|(own, all, used)| own > 0.8 * all && all > 0.05 * used)
    });
}

/// They live for microseconds: hardly one is met alive.
#[test]
fn threads_that_end_at_once_are_named() {
    let flags = ["-XX:+UseSerialGC", "-Xmn64m", "-XX:TLABSize=256k", "-XX:-ResizeTLAB"];
    let jvm = start_program(&flags, "Mayflies.java", &[]);
    let Some(jvm) = jvm.filter(|_| memory_is_readable()) else { return };
    let kinds = |report: &Value| -> Vec<(String, f64, f64)> {
        let kinds = report["evidence"]["threads"]["short_lived"].as_array();
        let of = |kind: &Value| {
            let number = |name: &str| kind[name].as_f64().unwrap_or(f64::NAN);
            (kind["name"].as_str().unwrap_or_default().to_owned(), number("share"), number("unused"))
        };
        kinds.into_iter().flatten().map(of).collect()
    };
    let is = |kind: &(String, f64, f64), name: &str, share: f64| {
        kind.0.starts_with(name) && (kind.1 - share).abs() < 0.02
    };
    // While the JVM starts, others come and go as well.
    let report = report_when(jvm.0.id(), |report| {
        rules(report).contains(&"ended threads")
            && matches!(&kinds(report)[..], [one, other, ..] if is(one, "mayfly-N", 0.75) && is(other, "request", 0.25))
    });
    let all = report["evidence"]["allocation"]["waste_ended"].as_f64().unwrap();
    let (_, share, unused) = &kinds(&report)[0];
    assert!((unused / all - share).abs() < 1e-9, "{report:#}");
    let text = finding(&report, "ended threads")["evidence"].as_str().unwrap();
    assert!(text.contains(" mayfly-N, ") && text.contains("threads/s (by name: "), "{text}");
}
