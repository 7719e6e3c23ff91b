//! What the machine and the operating system do to a JVM while it runs: CPUs taken away and given back, child processes, heaps that
//! grow and shrink; and strings that the collector deduplicates.

use crate::affinity;
use crate::launch::Launch;
use crate::matrix::{JDKS, SERVED, Setting, USUAL, hazard, matrix, since};
use crate::process::Running;
use crate::runner::{Case, Outcome, QUIET};
use crate::{jdk, switching};
use control::Control;
use hab::Counter;
use hotspot::collector::Collector;
use std::time::Duration;

/// A load that the collector can bear, for as long as something is done beside it.
pub fn load(main: &'static str, setting: Setting) -> Launch {
    match setting.collector {
        Collector::Epsilon => Launch::new(main).args(&["most=400m"]).flags("-Xmx2g"),
        Collector::Shenandoah | Collector::GenerationalShenandoah => {
            Launch::new(main).flags("-XX:+ShenandoahVerify").collects(1)
        }
        _ => Launch::new(main).flags("-Xmn8m").collects(2),
    }
}

pub fn cases(cases: &mut Vec<Case>) {
    matrix(cases, "affinity", JDKS, SERVED, |setting| {
        let cpus = affinity::allowed();
        if cpus.len() < 2 {
            return Ok(Outcome::Skipped("two CPUs: this process may use one".into()));
        }
        let launch = load("Load", setting)
            .args(&["until=released"])
            .agent("core=64k,control=control")
            .flags(&jdk::collector_flags(setting.collector, setting.jdk.feature).join(" "))
            .beside(move |running| herded(running, &cpus));
        QUIET.shared(|| launch.run(setting.jdk)).map(|_| Outcome::Passed)
    });
    // Started on one CPU, set free later: a domain for the one, and one for whatever comes beyond it.
    matrix(cases, "affinity_that_widens", JDKS, USUAL, |setting| {
        let cpus = affinity::allowed();
        if cpus.len() < 2 {
            return Ok(Outcome::Skipped("two CPUs: this process may use one".into()));
        }
        let all = cpus.clone();
        let launch = load("Load", setting)
            .args(&["until=released"])
            .agent("core=64k,control=control")
            .flags(&jdk::collector_flags(setting.collector, setting.jdk.feature).join(" "))
            .beside(move |running| widened(running, &all))
            .after(|finished| {
                let report = finished.report()?;
                let (domains, source) = (report.setting("domains"), report.setting("cpu_source"));
                if domains[0].as_u64() != Some(1) {
                    return Err(format!("{domains} domains for one CPU ({source})"));
                }
                Ok(())
            });
        // A child inherits the affinity of the thread that starts it.
        affinity::set(0, &cpus[..1]);
        let outcome = QUIET.shared(|| launch.run(setting.jdk));
        affinity::set(0, &cpus);
        outcome.map(|_| Outcome::Passed)
    });
    for mechanism in ["POSIX_SPAWN", "VFORK", "FORK"] {
        let collectors = if mechanism == "POSIX_SPAWN" { SERVED } else { &[Collector::G1] };
        hazard(cases, &format!("children::{}", mechanism.to_lowercase()), JDKS, collectors, move |setting| {
            load("Children", setting).flags(&format!("-Djdk.lang.Process.launchMechanism={mechanism}"))
        });
    }
    sizes(cases);
    // Before 18 only some collectors know it.
    let deduplicates = |_| {
        Launch::new("Duplicates").flags("-XX:+UseStringDeduplication -XX:StringDeduplicationAgeThreshold=1")
    };
    let opened = move |setting: Setting| {
        let launch = deduplicates(setting).flags("--add-opens=java.base/java.lang=ALL-UNNAMED");
        match setting.collector {
            Collector::Shenandoah | Collector::GenerationalShenandoah => {
                launch.flags("-XX:+ShenandoahVerify").collects(2)
            }
            _ => launch.flags("-Xmn8m").collects(3),
        }
    };
    hazard(cases, "deduplicated_strings", &[11, 17], &[Collector::G1, Collector::Shenandoah], opened);
    hazard(cases, "deduplicated_strings", since(21), &SERVED[..5], opened);
}

/// Heaps that grow and shrink: the program waits until a quarter of what it had made the heap grow to was given back, twice.
fn sizes(cases: &mut Vec<Case>) {
    let collectors =
        [Collector::Serial, Collector::G1, Collector::Shenandoah, Collector::GenerationalShenandoah];
    hazard(cases, "growing_and_shrinking", JDKS, &collectors, |setting| {
        let launch =
            Launch::new("Waves").flags("-Xms8m -Xmx96m -XX:MinHeapFreeRatio=5 -XX:MaxHeapFreeRatio=15");
        match setting.collector {
            Collector::Serial => launch,
            // It shrinks its heap in full collections alone.
            Collector::G1 if setting.jdk.feature.0 < 12 => launch,
            // It shrinks the heap on its own, while the program hardly allocates.
            Collector::G1 => launch
                .args(&["gc=0"])
                .maybe_says("is too large for this heap")
                .flags("-XX:G1PeriodicGCInterval=50"),
            _ => launch
                .flags("-XX:ShenandoahUncommitDelay=50 -XX:ShenandoahGuaranteedGCInterval=50")
                .flags("-XX:+ShenandoahVerify"),
        }
    });
    // It gives hardly anything back, but its spaces change their sizes with each collection.
    hazard(cases, "adaptive_sizes", JDKS, &[Collector::Parallel], |_| {
        Launch::new("Load")
            .args(&["until=released", "gentle=false", "live=8m"])
            .maybe_says("is too large for this heap")
            .flags("-XX:+UseAdaptiveSizePolicy -Xms8m -Xmx128m -Xlog:gc+heap:file=gc.log")
            .beside(|running| {
                running.wait_until("a young generation that grew and shrank", |running| {
                    let log = std::fs::read(running.directory.join("gc.log")).unwrap_or_default();
                    let sizes = young_sizes(&String::from_utf8_lossy(&log));
                    let pairs = || sizes.iter().zip(sizes.iter().skip(1));
                    Ok(pairs().any(|(before, after)| before < after)
                        && pairs().any(|(before, after)| before > after))
                })
            })
    });
}

/// Of each collection by Parallel: how large the young generation was behind it. `PSYoungGen: 2048K(2560K)->496K(2560K)`.
fn young_sizes(log: &str) -> Vec<u64> {
    log.lines()
        .filter_map(|line| line.split_once("PSYoungGen: ")?.1.split_once("->")?.1.split_once('('))
        .filter_map(|(_, rest)| rest.split_once('K')?.0.parse().ok())
        .collect()
}

/// Requests that each domain served.
fn served(control: &Control) -> Vec<u64> {
    control.counters(0).iter().map(|domain| domain.get(Counter::Buffers)).collect()
}

/// All threads on one CPU, then on the next: requests are served by the domain of the CPU on which they come. Then each thread
/// somewhere else every few milliseconds.
pub fn herded(running: &mut Running<'_>, cpus: &[usize]) -> Result<(), String> {
    let control = switching::open(running)?;
    let pid = running.pid();
    if !running.wait_for("running") {
        return Err("the program ended before it began".into());
    }
    for cpu in &cpus[..2] {
        affinity::set_all(pid, &[*cpu])?;
        let before = served(&control);
        // A request that began before comes to its end, and is counted, where it began: one for each thread.
        let tasks = affinity::tasks(pid).len() as u64;
        let grown = |after: Vec<u64>| -> Vec<u64> {
            after.into_iter().zip(&before).map(|(after, before)| after - before).collect()
        };
        running.wait_until("requests on one CPU", |_| {
            Ok(grown(served(&control)).iter().sum::<u64>() > 10 * tasks)
        })?;
        let grown = grown(served(&control));
        let most = grown.iter().max().copied().unwrap_or(0);
        if grown.iter().sum::<u64>() - most > tasks {
            return Err(format!("all {tasks} threads were on CPU {cpu}, and the domains served {grown:?}"));
        }
    }
    let mut state = 1usize;
    for _ in 0..60 {
        for task in affinity::tasks(pid) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            affinity::set(task, &[cpus[(state >> 33) % cpus.len()]]);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    affinity::set_all(pid, cpus)
}

/// Sets the threads free, and waits until the domain of what came later has served.
fn widened(running: &mut Running<'_>, cpus: &[usize]) -> Result<(), String> {
    let control = switching::open(running)?;
    affinity::set_all(running.pid(), cpus)?;
    let served = |domain: usize| {
        let domains = control.counters(0);
        domains.get(domain).map_or(0, |counters| counters.get(Counter::Buffers))
    };
    running.wait_until("requests beyond the first CPU", |_| Ok(served(0) > 10 && served(1) > 10))
}
