//! Collections of every kind: failed evacuation, pinned arrays, concurrent marking, metaspace.

use crate::launch::Launch;
use crate::matrix::{JDKS, SERVED, USUAL, hazard};
use crate::runner::Case;
use hotspot::collector::Collector;

const LOG: &str = "-Xlog:gc*:file=gc.log";
const SHENANDOAHS: &[Collector] = &[Collector::Shenandoah, Collector::GenerationalShenandoah];

pub fn cases(cases: &mut Vec<Case>) {
    // Every collector, every JDK, nothing special: the case that must hold before all others.
    hazard(cases, "load", JDKS, SERVED, |setting| {
        let launch = Launch::new("Load");
        match setting.collector {
            Collector::Epsilon => launch.args(&["most=500m"]).flags("-Xmx1g"),
            Collector::Shenandoah | Collector::GenerationalShenandoah => {
                launch.flags("-XX:+ShenandoahVerify").collects(4)
            }
            _ => launch.flags("-Xmn8m -XX:+VerifyBeforeExit").collects(6),
        }
    });
    // Verification makes the heap parsable, and with that retires the buffers: the collections must do without it, too.
    hazard(cases, "load_unverified", JDKS, &SERVED[..5], |setting| {
        let launch = Launch::new("Load").without(&["-XX:+VerifyBeforeGC", "-XX:+VerifyAfterGC"]);
        let launch = launch.flags("-XX:+VerifyBeforeExit").collects(3);
        if USUAL.contains(&setting.collector) { launch.flags("-Xmn8m") } else { launch.args(&["gc=20"]) }
    });
    // Threads come and go: their TLABs are retired at odd moments.
    hazard(cases, "short_lived_threads", JDKS, USUAL, |_| {
        Launch::new("Load").args(&["threads=32", "rounds=200"]).flags("-Xmn8m").collects(1)
    });
    // Of HotSpot's own sizes: the threads' TLABs begin small and grow.
    hazard(cases, "growing", JDKS, USUAL, |_| {
        Launch::new("Load")
            .without(&["-XX:-ResizeTLAB", "-XX:TLABSize=8k"])
            .args(&["threads=32", "rounds=200"])
            .flags("-Xmn32m")
            .collects(2)
    });
    hazard(cases, "evacuation_failure", JDKS, &[Collector::G1], |_| {
        Launch::new("Load")
            .args(&["live=55%", "largest=4k"])
            .flags("-Xmx32m -XX:G1ReservePercent=0 -XX:G1NewSizePercent=30 -XX:InitiatingHeapOccupancyPercent=90")
            .flags(LOG)
            .collects(5)
            .until_logged(&["Evacuation Failure", "To-space exhausted"])
    });
    hazard(cases, "pinned_arrays", JDKS, SERVED, |setting| {
        let launch = Launch::new("Critical");
        match setting.collector {
            // As much as the memory bears, whatever the speed.
            Collector::Epsilon => launch.args(&["most=64m"]).flags("-Xmx2g"),
            _ => launch.flags("-Xmn12m").collects(2),
        }
    });
    hazard(cases, "concurrent_marking", JDKS, &[Collector::G1], |_| {
        Launch::new("Load")
            .args(&["gc=10", "live=12m"])
            .flags("-XX:InitiatingHeapOccupancyPercent=1 -XX:+ExplicitGCInvokesConcurrent -XX:+VerifyDuringGC -Xmn8m")
            .flags(LOG)
            .collects(5)
            .until_logged(&["Pause Remark"])
    });
    hazard(cases, "concurrent_marking", JDKS, SHENANDOAHS, |_| {
        Launch::new("Load")
            .args(&["gc=10", "live=12m"])
            .flags("-XX:+ShenandoahVerify -XX:+ExplicitGCInvokesConcurrent")
            .flags(LOG)
            .collects(3)
            .until_logged(&["Concurrent marking"])
    });
    hazard(cases, "metaspace", JDKS, USUAL, |_| {
        Launch::new("Classes")
            .flags("-XX:MetaspaceSize=2m -XX:MaxMetaspaceSize=20m -Xmn16m")
            .flags(LOG)
            .collects(2)
            .until_logged(&["Metadata GC"])
    });
    hazard(cases, "interpreted", JDKS, USUAL, |_| {
        Launch::new("Load").args(&["threads=4", "live=1m"]).flags("-Xint -Xmn4m")
    });
    hazard(cases, "compiled", JDKS, &[Collector::G1], |_| {
        Launch::new("Load").args(&["threads=4"]).flags("-Xcomp -XX:TieredStopAtLevel=1 -Xmn4m").collects(1)
    });
}
