//! JVMs whose full collections come for another reason than a full heap.

use crate::examined::{advised, finding, report_when, rules};
use crate::start_program;

/// A larger heap would spare none of these.
#[test]
fn full_collections_that_come_for_another_reason_are_found() {
    const ON_REQUEST: &str = "on request (System.gc())";
    let metadata = ["-XX:+UseSerialGC", "-XX:MetaspaceSize=20m", "-XX:MaxMetaspaceFreeRatio=45"];
    for (flags, reason, why, remedy) in [
        (&["-XX:+UseG1GC"][..], "request", ON_REQUEST, "-XX:+ExplicitGCInvokesConcurrent"),
        (&["-XX:+UseSerialGC"], "request", ON_REQUEST, "call System.gc() less often"),
        (
            &["-XX:+UseParallelGC"],
            "tool",
            "for tools that look at the heap",
            "have tools inspect the heap less often",
        ),
        (
            &metadata,
            "metadata",
            "for class metadata",
            "a larger -XX:MetaspaceSize, or fewer classes loaded again and again",
        ),
    ] {
        let Some(jvm) = start_program(flags, "Collected.java", &[reason]) else { return };
        // A JVM that is too busy to tell its flags gets a weaker word.
        let report = report_when(jvm.0.id(), |report| {
            let mut found = report["findings"].as_array().into_iter().flatten();
            let is_found = found.any(|found| {
                found["rule"] == "full collections"
                    && found["evidence"].as_str().is_some_and(|text| text.contains(why))
            });
            is_found && advised(report, remedy).is_some()
        });
        let advice = finding(&report, "full collections")["advice"].to_string();
        assert!(!advice.contains("-Xm"), "no larger heap: {report:#}");
    }
    let cured = ["-XX:+UseG1GC", "-XX:+ExplicitGCInvokesConcurrent"];
    let Some(jvm) = start_program(&cured, "Collected.java", &["request"]) else { return };
    let report =
        report_when(jvm.0.id(), |report| report["evidence"]["eden"]["collections"].as_u64() > Some(1));
    assert!(!rules(&report).contains(&"full collections"), "{report:#}");
    assert!(
        !report["findings"].to_string().contains("-Xmx"),
        "requests come in a larger heap too: {report:#}"
    );
}
