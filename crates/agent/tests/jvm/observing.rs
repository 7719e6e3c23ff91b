//! `levels=none`: counting and timing what passes.

use crate::launch::{JDKS, Launch, SERVED, hazard};
use crate::process::Finished;
use crate::runner::Case;
use control::times::{Kind, Way};
use control::{State, View};
use hab::Counter;
use hotspot::collector::Collector;
use jvm::refills::RefillTimes;

/// A load whose collector works.
fn observed(collector: Collector, options: &str) -> Launch {
    let launch = Launch::new("Load").agent(format!("levels=none,control=control{options}"));
    match collector {
        Collector::Epsilon => launch.args(&["most=300m"]).flags("-Xmx1g"),
        Collector::Shenandoah | Collector::GenerationalShenandoah => {
            launch.flags("-XX:+ShenandoahVerify").collects(2)
        }
        _ => launch.flags("-Xmn8m").collects(4),
    }
}

/// What the ended JVM's times have to be.
fn timed(collector: Collector, finished: &Finished) -> Result<(), String> {
    let view = View::open(&finished.directory.join("control")).map_err(|error| error.to_string())?;
    if view.state() != Some(State::Ended) {
        return Err(format!("state {:?}", view.state()));
    }
    let times = RefillTimes::read(&view).ok_or_else(|| format!("no times: {}", view.settings()))?;
    let counts = Kind::ALL.map(|kind| Way::ALL.map(|way| times.of(kind, way).count()));
    let wrong = |what: &str| Err(format!("{what}: {counts:?} of {} passed", view.total(Counter::Passed)));
    let sum: u64 = counts.iter().flatten().sum();
    // What failed is timed, too.
    if sum < view.total(Counter::Passed) || sum > 2 * view.total(Counter::Passed) {
        return wrong("not all were timed");
    }
    let all = |way: Way| Kind::ALL.iter().map(|kind| times.of(*kind, way).count()).sum::<u64>();
    let shenandoah = matches!(collector, Collector::Shenandoah | Collector::GenerationalShenandoah);
    match collector {
        Collector::G1 if all(Way::Region) == 0 || all(Way::Quick) == 0 => return wrong("regions"),
        _ if shenandoah != (all(Way::Quick) == 0) => return wrong("Shenandoah always takes its lock"),
        Collector::G1 => {}
        _ if !shenandoah && all(Way::Region) > 0 => return wrong("regions are G1's"),
        _ => {}
    }
    if (collector == Collector::Epsilon) != (all(Way::Collection) == 0) {
        return wrong("collections");
    }
    let tlabs = times.all(Kind::Tlab).summary();
    let ordered = 0 < tlabs.p50_ns && tlabs.p50_ns <= tlabs.p99_ns && tlabs.p99_ns <= tlabs.max_ns;
    if !ordered || tlabs.max_ns > tlabs.total_ns {
        return Err(format!("{tlabs:?}"));
    }
    Ok(())
}

pub fn cases(cases: &mut Vec<Case>) {
    hazard(cases, "observing::times", JDKS, SERVED, |setting| {
        let collector = setting.collector;
        observed(collector, ",times=true").after(move |finished| timed(collector, finished))
    });
    hazard(cases, "observing::times_with_levels", &[25], &[Collector::Serial], |_| {
        Launch::bare("Hello")
            .agent("times=true")
            .unreported()
            .prints(&["hello"])
            .says("times=true: only what is passed on is timed; give levels=none, without bound")
    });
}
