//! Threads of every kind: virtual ones, pinned and not, and native ones that attach themselves.

use crate::artifacts;
use crate::jdk::collector_flags;
use crate::launch::Launch;
use crate::matrix::{JDKS, SERVED, USUAL, hazard, matrix, since};
use crate::process::Finished;
use crate::runner::{Case, Outcome};
use crate::switching::open;
use control::Mode;
use hotspot::collector::Collector;

/// From 17 on: native methods are meant to be there.
const NATIVE_ACCESS: &str = "--enable-native-access=ALL-UNNAMED";

/// With the native methods of `Foreign.java`.
fn with_library(main: &'static str) -> Launch {
    let library = artifacts::helper("foreign").expect("the native methods");
    Launch::new(main).args(&[&format!("library={}", library.display())]).flags(NATIVE_ACCESS)
}

fn at_least(key: &'static str, least: u64) -> impl Fn(&Finished) -> Result<(), String> {
    move |finished| match finished.printed(key)? {
        found if found >= least => Ok(()),
        found => Err(format!("{key}={found}: expected {least}")),
    }
}

/// New threads begin small until it was tried whether that pays. Here it does not: the threads are always the same.
fn first_tlabs(cases: &mut Vec<Case>) {
    matrix(cases, "first_tlabs", JDKS, USUAL, |setting| {
        let launch = Launch::bare("Load")
            .args(&["until=released"])
            .flags("-Xmx64m -Xmn16m")
            .flags(&collector_flags(setting.collector, setting.jdk.feature).join(" "))
            // While the buffers are off nothing is tried.
            .agent("control=control,start=off")
            .beside(|running| {
                let control = open(running)?;
                let begun = control.first_tlab();
                if begun != 2048 {
                    return Err(format!("new threads begin with {begun} bytes"));
                }
                control.set_mode(Mode::On);
                running.wait_until("first TLABs are HotSpot's", |_| Ok(control.first_tlab() == 0))
            });
        launch.run(setting.jdk).map(|_| Outcome::Passed)
    });
}

pub fn cases(cases: &mut Vec<Case>) {
    first_tlabs(cases);
    hazard(cases, "virtual_threads", since(21), SERVED, |setting| {
        // More carriers than a small machine has CPUs, so that threads change them.
        let launch = with_library("Virtual")
            .flags("-Djdk.virtualThreadScheduler.parallelism=4")
            .after(at_least("threads", 3000));
        match setting.collector {
            Collector::Epsilon => launch.flags("-Xmx2g"),
            Collector::Shenandoah | Collector::GenerationalShenandoah => {
                launch.flags("-XX:+ShenandoahVerify").collects(2)
            }
            _ => launch.flags("-Xmn16m -XX:+VerifyBeforeExit").collects(3),
        }
    });
    hazard(cases, "native_threads", JDKS, SERVED, |setting| {
        let known: &[&str] = if setting.jdk.feature.0 < 17 { &[NATIVE_ACCESS] } else { &[] };
        let launch = with_library("Foreign").without(known).after(at_least("attached", 2000));
        match setting.collector {
            Collector::Epsilon => launch.args(&["most=200m"]).flags("-Xmx2g"),
            Collector::Shenandoah | Collector::GenerationalShenandoah => {
                launch.flags("-XX:+ShenandoahVerify").collects(2)
            }
            _ => launch.flags("-Xmn8m -XX:+VerifyBeforeExit").collects(3),
        }
    });
}
