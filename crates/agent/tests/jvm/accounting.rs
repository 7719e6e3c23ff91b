//! Counters mean what they are called: held to the collector's log, to the flight recorder, to JVMTI's samples, and to HotSpot's own
//! count of each thread's bytes.

use crate::launch::Launch;
use crate::matrix::{JDKS, SERVED, Setting, USUAL, hazard, since};
use crate::process::{Finished, Running, number};
use crate::runner::Case;
use crate::{artifacts, switching};
use control::Control;
use hab::Counter;
use hotspot::collector::Collector;
use hotspot::version::Feature;
use std::cell::RefCell;
use std::rc::Rc;

/// What the agent has counted at one moment.
#[derive(Clone, Copy, Debug)]
struct Counts {
    /// Thread buffers, whoever gave them; and their bytes.
    tlabs: u64,
    tlab_bytes: u64,
    /// Objects outside any thread buffer.
    outside: u64,
    outside_bytes: u64,
    /// Either: a tail of another domain's buffer serves both.
    stolen: u64,
    stolen_bytes: u64,
    pauses: u64,
    parsability: u64,
    passed: u64,
}

impl Counts {
    fn of(control: &Control) -> Counts {
        let all = |counters: &[Counter]| counters.iter().map(|counter| control.total(*counter)).sum();
        Counts {
            tlabs: all(&[Counter::Buffers, Counter::Direct]),
            tlab_bytes: all(&[Counter::BufferBytes, Counter::DirectBytes]),
            outside: all(&[Counter::Objects, Counter::Missed]),
            outside_bytes: all(&[Counter::ObjectBytes, Counter::MissedBytes]),
            stolen: all(&[Counter::Stolen]),
            stolen_bytes: all(&[Counter::StolenBytes]),
            pauses: control.pauses(),
            parsability: control.parsability(),
            passed: all(&[Counter::Passed]),
        }
    }
}

/// Goes through the program's marks; gives what was counted at each of them.
fn counts_at(running: &mut Running<'_>, marks: &[&str]) -> Result<Vec<Counts>, String> {
    let control = switching::open(running)?;
    let mut counts = Vec::new();
    for mark in marks {
        running.at(mark, |_| {
            counts.push(Counts::of(&control));
            Ok(())
        })?;
    }
    Ok(counts)
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?}, expected {expected:?}")) }
}

/// Pauses in the log (`gc` and `safepoint`), as HotSpot announces them: each of G1's and Shenandoah's, but Serial's and Parallel's once
/// for each safepoint, also if it tells of two (the young generation was collected, and then the whole heap).
fn pauses_in(log: &str, collector: Collector) -> u64 {
    let once = matches!(collector, Collector::Serial | Collector::Parallel);
    let (mut pauses, mut here) = (0, 0);
    for line in log.lines() {
        // "GC(7) Pause Young (Normal) (G1 Evacuation Pause) 12M->4M(64M) 1.234ms".
        here += u64::from(line.contains("Pause ") && line.ends_with("ms"));
        if line.contains("Safepoint \"") {
            pauses += if once { here.min(1) } else { here };
            here = 0;
        }
    }
    pauses
}

const LOG: &str = "-Xlog:gc,safepoint:file=gc.log";

/// A heap that the collector can work with for a while.
fn sized(launch: Launch, setting: Setting) -> Launch {
    match setting.collector {
        Collector::Epsilon => launch.args(&["most=200m"]).flags("-Xmx1g"),
        Collector::Shenandoah | Collector::GenerationalShenandoah => launch.flags("-Xmx64m").collects(4),
        _ => launch.flags("-Xmx64m -Xmn16m").flags(one_pause(setting)).collects(4),
    }
}

/// Before 25 Parallel collects the young generation first when it is asked for a full collection: two collections in one pause.
fn one_pause(setting: Setting) -> &'static str {
    match setting.collector {
        Collector::Parallel if setting.jdk.feature.0 < 25 => "-XX:-ScavengeBeforeFullGC",
        _ => "",
    }
}

/// Heap verification makes the heap parsable on its own account.
const UNVERIFIED: [&str; 2] = ["-XX:+VerifyBeforeGC", "-XX:+VerifyAfterGC"];

pub fn cases(cases: &mut Vec<Case>) {
    // JDK 11's log does not tell a safepoint's end in a line of its own.
    hazard(cases, "accounting::pauses_and_walks", since(17), SERVED, |setting| {
        let launch = Launch::new("Counted").without(&UNVERIFIED).agent("core=64k,control=control").flags(LOG);
        sized(launch, setting).beside(move |running| {
            let counts =
                counts_at_and_logged(running, setting.collector, &["loaded", "collected", "walked"])?;
            let [(loaded, _), (collected, _), (walked, _)] = counts[..] else { return Err("marks".into()) };
            for (counts, logged) in &counts {
                expect("pauses as in the log", counts.pauses, *logged)?;
                expect("requests while off", counts.passed, 0)?;
            }
            let (asked, pauses) = (7, collected.pauses - loaded.pauses);
            let parsable = collected.parsability - loaded.parsability;
            match setting.collector {
                Collector::Epsilon => expect("pauses of System.gc()", (pauses, parsable), (0, 0))?,
                // One has several, and the collector begins others on its own account; the log has them all.
                _ if is_shenandoah(setting) && pauses >= asked => expect("parsability", parsable, 0)?,
                _ => expect("pauses of System.gc()", (pauses, parsable), (asked, asked))?,
            }
            let (pauses, parsable) =
                (walked.pauses - collected.pauses, walked.parsability - collected.parsability);
            // No function of Shenandoah's makes the heap parsable: there is none to count.
            if is_shenandoah(setting) {
                return expect("parsability of walks", parsable, 0);
            }
            expect("pauses and parsability of walks", (pauses, parsable), (0, 11))
        })
    });
    // Pauses that only end or clean up after a concurrent marking are pauses, too.
    hazard(cases, "accounting::concurrent_pauses", since(17), &[Collector::G1], |_| {
        Launch::new("Load")
            .without(&UNVERIFIED)
            .args(&["threads=4", "gc=5", "asked=20", "live=12m"])
            .flags("-XX:+ExplicitGCInvokesConcurrent -XX:InitiatingHeapOccupancyPercent=1 -Xmn8m")
            .flags(LOG)
            .collects(10)
            .until_logged(&["Pause Cleanup"])
            .after(|finished| {
                let log = std::fs::read_to_string(finished.directory.join("gc.log")).unwrap_or_default();
                // A marking may still be under way when the JVM ends, and its pauses are not announced any more.
                let (counted, logged) = (finished.report()?.number("pauses"), pauses_in(&log, Collector::G1));
                if counted <= logged && logged <= counted + 2 {
                    return Ok(());
                }
                Err(format!("{counted} pauses, {logged} in the log"))
            })
    });
    recorded(cases);
    passed(cases);
    sampled(cases);
    threads(cases);
}

fn is_shenandoah(setting: Setting) -> bool {
    matches!(setting.collector, Collector::Shenandoah | Collector::GenerationalShenandoah)
}

/// Counts at each mark, each with the pauses in the log by then: the line of a safepoint may come a moment after it.
fn counts_at_and_logged(
    running: &mut Running<'_>,
    collector: Collector,
    marks: &[&str],
) -> Result<Vec<(Counts, u64)>, String> {
    let control = switching::open(running)?;
    let mut counts = Vec::new();
    for mark in marks {
        running.at(mark, |running| {
            let mut both = (Counts::of(&control), 0);
            let settled = running.wait_until("as many pauses as in the log", |running| {
                let log = std::fs::read_to_string(running.directory.join("gc.log")).unwrap_or_default();
                both = (Counts::of(&control), pauses_in(&log, collector));
                Ok(both.0.pauses == both.1)
            });
            settled.map_err(|why| format!("at {mark}: {why}: {both:?}"))?;
            counts.push(both);
            Ok(())
        })?;
    }
    Ok(counts)
}

/// Each thread buffer, each object outside of one, and each pause is an event of the flight recorder.
fn recorded(cases: &mut Vec<Case>) {
    hazard(cases, "accounting::recorded", since(17), SERVED, |setting| {
        let launch = Launch::new("Recorded").agent("core=64k,control=control");
        let launch = match setting.collector {
            Collector::Epsilon => launch.flags("-Xmx1g"),
            // Enough for no marking to be under way when the recording ends: its pauses are recorded with its end.
            Collector::G1 => launch.flags("-Xmx256m -Xmn16m -XX:InitiatingHeapOccupancyPercent=100"),
            _ => launch.flags("-Xmx256m -Xmn16m"),
        };
        let counted = Rc::new(RefCell::new(Vec::new()));
        let found = Rc::clone(&counted);
        launch
            .flags(one_pause(setting))
            .flags("-XX:FlightRecorderOptions:repository=recorded")
            .beside(move |running| {
                *counted.borrow_mut() = counts_at(running, &["before", "started", "worked", "stopped"])?;
                Ok(())
            })
            .after(move |finished| compare(setting, finished, &found.borrow()))
    });
}

/// What passes buffers that are off is what HotSpot serves: thread buffers and objects outside of them, and their bytes.
fn passed(cases: &mut Vec<Case>) {
    hazard(cases, "accounting::passed_as_recorded", since(17), USUAL, |_| {
        let counted = Rc::new(RefCell::new(Vec::new()));
        let found = Rc::clone(&counted);
        Launch::new("Recorded")
            .agent("core=64k,start=off,control=control")
            .flags("-Xmx256m -Xmn16m -XX:FlightRecorderOptions:repository=recorded")
            .beside(move |running| {
                let control = switching::open(running)?;
                for mark in ["before", "started", "worked", "stopped"] {
                    running.at(mark, |_| {
                        let total = |counter| control.total(counter);
                        let (requests, bytes) = (total(Counter::Passed), total(Counter::PassedBytes));
                        counted.borrow_mut().push([requests, bytes, control.pauses()]);
                        Ok(())
                    })?;
                }
                Ok(())
            })
            .after(move |finished| {
                let counts = found.borrow();
                let [before, started, worked, stopped] = counts[..] else { return Err("marks".into()) };
                let unrecorded = unrecorded(finished, stopped[2] - before[2])?;
                for (at, keys) in [["tlabs", "outside"], ["tlab_bytes", "outside_bytes"]].iter().enumerate() {
                    let recorded = finished.printed(keys[0])? + finished.printed(keys[1])?;
                    let (least, most) = (worked[at] - started[at], stopped[at] - before[at]);
                    if least <= unrecorded[at] || recorded + unrecorded[at] < least || recorded > most {
                        return Err(format!(
                            "{keys:?}: {recorded} recorded, {least} to {most} passed, of which {} may be the recorder's",
                            unrecorded[at]
                        ));
                    }
                }
                expect("events lost", finished.printed("lost")?, 0)
            })
    });
}

/// Requests and bytes of the recorder's own threads that are counted, but not recorded, at most: a TLAB of each after each collection, as many as its objects fill, and
/// objects beyond HotSpot's limit of what is given up of a TLAB (1/64) outside of them.
pub fn unrecorded(finished: &Finished, pauses: u64) -> Result<[u64; 2], String> {
    const TLAB: u64 = 8 << 10;
    let (bytes, threads) = (finished.printed("excluded")?, finished.printed("recorders")?);
    let tlabs = threads * (pauses + 1) + 2 * bytes / TLAB;
    Ok([tlabs + 64 * bytes / TLAB, tlabs * TLAB + bytes])
}

/// The recording began between the first two moments, and ended between the last two: what it has is between what was counted from
/// the second to the third and from the first to the fourth.
fn compare(setting: Setting, finished: &Finished, counts: &[Counts]) -> Result<(), String> {
    let [before, started, worked, stopped] = counts else { return Err(format!("{counts:?}")) };
    let unrecorded = unrecorded(finished, stopped.pauses - before.pauses)?;
    let within = |key: &str, count: &dyn Fn(&Counts) -> u64, maybe: &dyn Fn(&Counts) -> u64| {
        let recorded = finished.printed(key)?;
        let least = count(worked) - count(started);
        let most = count(stopped) + maybe(stopped) - count(before) - maybe(before);
        if least == 0 && key != "pauses" {
            return Err(format!("{key}: nothing was counted"));
        }
        let own = match key {
            "pauses" => 0,
            "tlabs" | "outside" => unrecorded[0],
            _ => unrecorded[1],
        };
        if least <= recorded + own && recorded <= most {
            return Ok(());
        }
        Err(format!(
            "{key}: {recorded} recorded, {least} to {most} counted, of which {own} may be the recorder's"
        ))
    };
    expect("events lost", finished.printed("lost")?, 0)?;
    within("tlabs", &|counts| counts.tlabs, &|counts| counts.stolen)?;
    within("tlab_bytes", &|counts| counts.tlab_bytes, &|counts| counts.stolen_bytes)?;
    within("outside", &|counts| counts.outside, &|counts| counts.stolen)?;
    within("outside_bytes", &|counts| counts.outside_bytes, &|counts| counts.stolen_bytes)?;
    // Of Shenandoah's pauses a stock JDK 28 records hardly any.
    if !(is_shenandoah(setting) && setting.jdk.feature >= Feature(28)) {
        within("pauses", &|counts| counts.pauses, &|_| 0)?;
    }
    // A sample's weight is what its thread has allocated since its last one. What comes after the last one has no weight: the thread
    // buffer in use, and objects outside of it until they amount to another one, of which the last may be 60 KB.
    let most = (8 + 8 + 60) << 10;
    match finished.printed("unsampled")? {
        bytes if bytes <= most => Ok(()),
        bytes => Err(format!(
            "a thread's samples miss {bytes} bytes of what it has allocated, {most} at most expected"
        )),
    }
}

/// Programs reckon with headers of the usual length, which are not the default any more since 27.
fn usual_headers(setting: Setting) -> &'static str {
    if setting.jdk.feature.0 >= 27 { "-XX:-UseCompactObjectHeaders" } else { "" }
}

/// JVMTI's samples: every object at an interval of 0, and one for each interval otherwise.
fn sampled(cases: &mut Vec<Case>) {
    let launch = |setting: Setting, interval: u64, count: u64| {
        let helper = artifacts::helper("sampler").expect("the helper agent");
        let launch = Launch::new("Sampled")
            .args(&[&format!("count={count}")])
            .flag(format!("-agentpath:{}={interval}", helper.display()));
        let launch = match setting.collector {
            Collector::Epsilon => launch.flags("-Xmx2g"),
            Collector::Shenandoah | Collector::GenerationalShenandoah => {
                launch.flags("-XX:+ShenandoahVerify")
            }
            _ => launch.flags("-Xmn16m"),
        };
        launch.flags(usual_headers(setting))
    };
    let sampled = |finished: &Finished, key: &str| {
        let line = finished.stderr.lines().find(|line| line.starts_with("sampled ")).unwrap_or("");
        number(line, key).ok_or_else(|| format!("the helper agent did not tell {key}"))
    };
    hazard(cases, "accounting::every_sample", since(17), SERVED, move |setting| {
        launch(setting, 0, 10_000).after(move |finished| {
            expect("objects", sampled(finished, "marked")?, finished.printed("marked")?)?;
            expect("bytes", sampled(finished, "marked_bytes")?, finished.printed("marked_bytes")?)
        })
    });
    // 11 misses samples of some objects that follow a refill (docs/troubleshooting.md).
    hazard(cases, "accounting::samples", since(17), SERVED, move |setting| {
        let interval = 8 << 10;
        launch(setting, interval, 400_000).after(move |finished| {
            let expected = finished.printed("marked_bytes")? as f64 / interval as f64;
            let found = sampled(finished, "marked")? as f64;
            // The distance between two samples is random (exponential): as many samples as expected, give or take their root; six
            // times that comes once in a billion runs.
            if (found - expected).abs() < 6.0 * expected.sqrt() {
                return Ok(());
            }
            Err(format!("{found} samples, expected about {expected}"))
        })
    });
}

/// `ThreadMXBean.getThreadAllocatedBytes`: to the byte what the program has allocated, as in the stock JVM.
fn threads(cases: &mut Vec<Case>) {
    for (name, options) in [("defaults", "log=warn"), ("small", "core=64k,tlab=2k"), ("stock", "")] {
        hazard(cases, &format!("accounting::thread_bytes::{name}"), JDKS, SERVED, move |setting| {
            // The first compiler leaves out no object.
            let launch =
                Launch::bare("Allocated").flags("-XX:TieredStopAtLevel=1 -Xmn16m").after(|finished| {
                    for thread in 0..8 {
                        let counted = finished.printed(&format!("counted{thread}"))?;
                        expect(
                            "bytes of a thread",
                            counted,
                            finished.printed(&format!("expected{thread}"))?,
                        )?;
                    }
                    Ok(())
                });
            let launch =
                if setting.collector == Collector::Epsilon { launch.flags("-Xmx1g") } else { launch };
            let launch = launch.flags(usual_headers(setting));
            if name == "stock" { launch.stock() } else { launch.agent(options) }
        });
    }
}
