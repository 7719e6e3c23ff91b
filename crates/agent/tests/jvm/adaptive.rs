//! `core=auto`: sizes that follow what is seen, in their bounds.

use crate::launch::Launch;
use crate::matrix::{USUAL, hazard};
use crate::process::{Finished, Running};
use crate::resizing::{in_force, wish};
use crate::runner::Case;
use crate::switching::open;
use crate::zgc::ZGCS;
use control::{Control, Decision, State};
use hab::BUFFERS_PER_DOMAIN;
use hab::adaptive::{MATTERS, REQUESTS, Why};
use hab::sizing::{AUTOMATIC_LIMIT, GROWN, LARGEST};
use hotspot::collector::Collector;
use jvm::why;

const YOUNG: u64 = 16 << 20;
/// Of the usual launch.
const TLAB: u64 = 8 << 10;
const JDKS: &[u32] = &[17, 25];
/// Twice [`REQUESTS`] of its thread buffers, and [`LARGEST`] in a young generation of 64 MB, fit up to as many core domains.
const DOMAINS: usize = 6;
/// Twice the smallest size (16 KB) fits up to as many.
const DOMAINS_OF_SMALL_TLABS: usize = 12;

/// Never more than the bound says: now, and whenever a size has changed.
fn in_bounds(control: &Control, young: u64) -> Result<(), String> {
    // Those for CPUs that turn up later are counted, too.
    let could_hold =
        |level: usize, size: u64| control.counters(level).len() as u64 * size * BUFFERS_PER_DOMAIN as u64;
    let all = |sizes: &[u64]| (0..).zip(sizes).map(|(level, size)| could_hold(level, *size)).sum::<u64>();
    let sizes: Vec<u64> = (0..control.levels()).map(|level| control.size(level)).collect();
    if all(&sizes) > young / AUTOMATIC_LIMIT as u64 || sizes.iter().any(|size| *size > GROWN as u64) {
        return Err(format!("buffers of {sizes:?} bytes in a young generation of {young}"));
    }
    let beyond =
        |change: &&Decision| could_hold(change.level, change.to) > change.seen.eden / AUTOMATIC_LIMIT as u64;
    match control.changes().iter().find(beyond) {
        Some(change) => Err(format!("beyond the bound: {change:?}")),
        None => Ok(()),
    }
}

/// Whether so few refills come in so long a time, after many collections, that their cost is none of the time: on a machine that is busy with other things.
fn refills_are_few(control: &Control, level: usize, since: u64) -> bool {
    control.latest_decision(level).is_some_and(|latest| {
        let cost = latest.seen.refills_cost_ns(latest.most as usize).saturating_mul(MATTERS);
        latest.why == Why::Minor && latest.pause > since + 100 && cost < latest.seen.elapsed_ns
    })
}

/// Waits for another change of a level for this reason. How far its size goes by such changes depends on how long pauses are on this machine.
fn changed(running: &mut Running<'_>, control: &Control, level: usize, why: Why) -> Result<(), String> {
    let pauses = control.pauses();
    let mut are_few = false;
    let waited = running.wait_until(&format!("a change because of {}", why.name()), |_| {
        in_bounds(control, YOUNG)?;
        are_few = why == Why::Refills && refills_are_few(control, level, pauses);
        let is = |change: &Decision| change.level == level && change.why == why && change.pause > pauses;
        Ok(are_few || control.changes().iter().any(is))
    });
    if are_few {
        return Ok(());
    }
    let shown = why::show(&jvm::status::read(control).sizing, 160);
    waited.map_err(|error| format!("{error}:\n{shown}"))?;
    let word = if why == Why::Waste { "smaller: refills cost" } else { "larger: refills cost" };
    if shown.contains(word) { Ok(()) } else { Err(format!("'{word}' is not in\n{shown}")) }
}

/// Where collections cost much, the buffers of a level become smaller; they become larger where collections cost little.
fn phases(running: &mut Running<'_>, level: usize) -> Result<(), String> {
    let control = open(running)?;
    running.at("many", |running| changed(running, &control, level, Why::Waste))?;
    running.at("few", |running| changed(running, &control, level, Why::Refills))
}

/// Where refills are many and nothing is left behind, larger than the formula ever is.
fn grown(running: &mut Running<'_>) -> Result<(), String> {
    let control = open(running)?;
    running.at("many", |_| Ok(()))?;
    running.at("few", |running| {
        let pauses = control.pauses();
        running.wait_until("buffers larger than the formula's", |_| {
            in_bounds(&control, 64 << 20)?;
            Ok(control.size(0) > LARGEST as u64 || refills_are_few(&control, 0, pauses))
        })
    })
}

/// Never smaller than some of the requests that it serves.
fn requests(running: &mut Running<'_>) -> Result<(), String> {
    let control = open(running)?;
    running.at("many", |running| {
        changed(running, &control, 0, Why::Waste)?;
        running.wait_until("a size that stays", |_| {
            in_bounds(&control, YOUNG)?;
            if control.size(0) < REQUESTS * TLAB {
                return Err(format!("too small: {:?}", control.changes().last()));
            }
            let stays = [Why::AtBound, Why::Balanced, Why::Minor];
            Ok(control.latest_decision(0).is_some_and(|latest| stays.contains(&latest.why)))
        })
    })?;
    running.at("few", |_| Ok(()))
}

/// Asked for while the JVM runs, and ended by a size.
fn set(running: &mut Running<'_>) -> Result<(), String> {
    let control = open(running)?;
    running.at("many", |running| {
        let said = wish(running, &["core=auto"])?.concat();
        // The second where the next refill does not come for a while.
        if !["(auto)", "from the next refill on"].iter().any(|known| said.contains(known)) {
            return Err(said);
        }
        changed(running, &control, 0, Why::Waste)?;
        wish(running, &["core=64k"])?;
        in_force(running, &control, 0, 64 << 10)?;
        let (pauses, changes) = (control.pauses(), control.changed());
        running.wait_until("collections with a fixed size", |_| Ok(control.pauses() > pauses + 40))?;
        if (control.size(0), control.changed()) == (64 << 10, changes) {
            Ok(())
        } else {
            Err(format!("a fixed size has changed: {:?}", control.changes().last()))
        }
    })?;
    running.at("few", |_| Ok(()))
}

/// Young generations that grow and shrink.
fn waves(running: &mut Running<'_>) -> Result<(), String> {
    let control = open(running)?;
    running.wait_until("the program's end", |running| {
        in_bounds(&control, 96 << 20)?;
        Ok(!running.is_running())
    })?;
    if control.changed() > 0 { Ok(()) } else { Err("no size has changed".into()) }
}

/// Where there are no buffers there is no size, and `--why` says so.
fn without_buffers(running: &mut Running<'_>, state: State) -> Result<(), String> {
    let path = running.directory.join("control");
    let mut shown = String::new();
    running.wait_until(state.name(), |_| {
        let control = Control::open(&path).ok().filter(|control| control.state() == Some(state));
        shown =
            control.map(|control| why::show(&jvm::status::read(&control).sizing, 100)).unwrap_or_default();
        Ok(!shown.is_empty())
    })?;
    if shown.contains("no buffers, so no sizes") { Ok(()) } else { Err(shown) }
}

/// The report's last decision on a level.
fn reported(finished: &Finished) -> Result<(), String> {
    let report = finished.report()?;
    let sizing = &report.0["sizing"];
    match sizing["changes"].as_array().and_then(|changes| changes.last()) {
        Some(change) if change["why"].is_string() && change["to_bytes"].as_u64() >= Some(8) => Ok(()),
        _ => Err(format!("the report's sizing: {sizing}")),
    }
}

pub fn cases(cases: &mut Vec<Case>) {
    for (name, options, level) in [
        ("core", "core=auto", 0),
        ("two_levels", "levels=core+processor,core=auto,processor=auto", 1),
        ("processor", "levels=processor,processor=auto", 0),
    ] {
        hazard(cases, &format!("adaptive::{name}"), JDKS, USUAL, move |_| {
            Launch::new("Phases")
                .agent(format!("{options},control=control"))
                .without(&["-XX:TLABSize=8k"])
                .flags("-Xmn16m -XX:TLABSize=2k")
                .up_to_domains(DOMAINS_OF_SMALL_TLABS)
                .beside(move |running| phases(running, level))
                .after(reported)
        });
    }
    hazard(cases, "adaptive::requests", JDKS, &USUAL[..1], |_| {
        Launch::new("Phases")
            .agent("core=auto,control=control")
            .flags("-Xmn16m")
            .up_to_domains(DOMAINS)
            .beside(requests)
    });
    hazard(cases, "adaptive::grown", JDKS, &USUAL[..1], |_| {
        Launch::new("Phases")
            .agent("control=control")
            .without(&["-XX:TLABSize=8k"])
            .flags("-Xmn64m -XX:TLABSize=2k")
            .up_to_domains(DOMAINS)
            .beside(grown)
    });
    hazard(cases, "adaptive::set", JDKS, &USUAL[..1], |_| {
        Launch::new("Phases")
            .agent("core=256k,control=control")
            .flags("-Xmn16m")
            .up_to_domains(DOMAINS)
            .beside(set)
            .after(reported)
    });
    hazard(cases, "adaptive::growing_and_shrinking", JDKS, &[Collector::Serial, Collector::G1], |setting| {
        let launch = Launch::new("Waves")
            .agent("core=auto,control=control")
            .flags("-Xms8m -Xmx96m -XX:MinHeapFreeRatio=5 -XX:MaxHeapFreeRatio=15")
            .beside(waves);
        match setting.collector {
            // It shrinks its heap in full collections alone.
            Collector::G1 if setting.jdk.feature.0 < 12 => launch,
            Collector::G1 => launch.args(&["gc=0"]).flags("-XX:G1PeriodicGCInterval=50"),
            _ => launch,
        }
    });
    hazard(cases, "adaptive::observing", &[17], &USUAL[..1], |_| {
        Launch::new("Load")
            .args(&["until=released"])
            .agent("levels=none,core=auto,control=control")
            .flags("-Xmn8m")
            .beside(|running| without_buffers(running, State::Observing))
    });
    hazard(cases, "adaptive::zgc", JDKS, ZGCS, |_| {
        Launch::bare("Load")
            .args(&["until=released"])
            .agent("core=auto,control=control")
            .flags("-Xmx256m")
            .unreported()
            .says("ZGC")
            .beside(|running| without_buffers(running, State::Refused))
    });
}
