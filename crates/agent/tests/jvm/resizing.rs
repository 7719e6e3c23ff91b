//! Buffers that get other sizes while they are in use.

use crate::launch::Launch;
use crate::matrix::{JDKS, SERVED, Setting, hazard};
use crate::process::Running;
use crate::runner::Case;
use crate::switching::open;
use control::{Asked, Control};
use hab::Counter;
use hotspot::collector::Collector;
use jvm::resize::{Wish, resize};

pub fn wish(running: &Running<'_>, words: &[&str]) -> Result<Vec<String>, String> {
    let wishes: Result<Vec<Wish>, _> = words.iter().map(|word| Wish::read(word)).collect();
    let done = wishes.and_then(|wishes| resize(running.pid(), &wishes));
    done.map(|done| done.iter().map(ToString::to_string).collect()).map_err(|error| error.to_string())
}

/// Waits for refills, and gives the mean of their bytes.
fn refilled(running: &mut Running<'_>, control: &Control, level: usize) -> Result<u64, String> {
    let read = |counter| control.counters(level).iter().map(|domain| domain.get(counter)).sum::<u64>();
    let (refills, bytes) = (read(Counter::Refills), read(Counter::RefillBytes));
    // At eden's end a refill gets what is left: of many, most are whole.
    running.wait_until("refills", |_| Ok(read(Counter::Refills) >= refills + 40))?;
    Ok((read(Counter::RefillBytes) - bytes) / (read(Counter::Refills) - refills))
}

/// Waits until a size is in force, however it was asked for.
pub fn in_force(
    running: &mut Running<'_>,
    control: &Control,
    level: usize,
    bytes: u64,
) -> Result<(), String> {
    running.wait_until(&format!("{bytes} bytes in force"), |_| Ok(control.size(level) == bytes))
}

fn one_level(running: &mut Running<'_>) -> Result<(), String> {
    let control = open(running)?;
    let installed = control.size(0);
    for size in ["16k", "32k", "8k"] {
        let bytes = control::size::parse(size)? as u64;
        wish(running, &[&format!("core={size}")])?;
        in_force(running, &control, 0, bytes)?;
        // A few that were under way, perhaps for a whole collection, still have the size before.
        refilled(running, &control, 0)?;
        let mean = refilled(running, &control, 0)?;
        if mean > bytes * 3 / 2 || mean < bytes / 2 {
            return Err(format!("refills of {mean} bytes with core={size}"));
        }
    }
    let none = wish(running, &["processor=1m"]).err().unwrap_or_default();
    if !none.contains("has no processor buffers (levels=core)") {
        return Err(format!("a level that is not there: {none}"));
    }
    // Whoever can write there can ask for nothing that an installation would have refused.
    for bytes in [1, 4095, 4097, (1 << 63) + 1] {
        control.ask_for_sizes(&[
            (0, Asked::Bytes(bytes)),
            (1, Asked::Bytes(bytes)),
            (2, Asked::Bytes(bytes)),
        ]);
        running.wait_until("a look at a bad size", |_| Ok(control.has_taken_sizes()))?;
        in_force(running, &control, 0, installed)?;
    }
    control.ask_for_sizes(&[(0, Asked::Bytes(1 << 62))]);
    running.wait_until("a look at a huge size", |_| Ok(control.has_taken_sizes()))?;
    if control.size(0) > 8 << 20 {
        return Err(format!("a buffer of {} bytes", control.size(0)));
    }
    refilled(running, &control, 0)?;
    let automatic = wish(running, &["core=auto"])?;
    running.wait_until("automatic sizes", |_| Ok(control.has_taken_sizes()))?;
    if control.size(0) < 4096 || !automatic.iter().all(|line| line.starts_with("core buffers")) {
        return Err(format!("{} bytes, {automatic:?}", control.size(0)));
    }
    refilled(running, &control, 0).map(|_| ())
}

fn two_levels(running: &mut Running<'_>) -> Result<(), String> {
    let control = open(running)?;
    wish(running, &["core=16k", "processor=64k"])?;
    in_force(running, &control, 0, 16 << 10)?;
    in_force(running, &control, 1, 64 << 10)?;
    let said = wish(running, &["processor=32k"])?.concat();
    in_force(running, &control, 1, 32 << 10)?;
    in_force(running, &control, 0, 16 << 10)?;
    if !said.starts_with("processor buffers 32k") {
        return Err(said);
    }
    refilled(running, &control, 1)?;
    let mean = refilled(running, &control, 1)?;
    if mean > 48 << 10 { Err(format!("refills of {mean} bytes with processor=32k")) } else { Ok(()) }
}

/// Of what a small eden does not allow, as much is in force as each one allows.
fn with_eden(running: &mut Running<'_>) -> Result<(), String> {
    let control = open(running)?;
    let installed = control.settings();
    let reduced = control.message();
    if !reduced.contains("core=256k is too large for this heap") {
        return Err(format!("{reduced}; {installed}"));
    }
    in_force(running, &control, 0, 256 << 10)?;
    refilled(running, &control, 0).map(|_| ())
}

/// Eden grows and shrinks, and what was asked for with it: as much as each one allows.
fn with_waves(running: &mut Running<'_>) -> Result<(), String> {
    const ASKED: u64 = 256 << 10;
    let control = open(running)?;
    for _ in 0..2 {
        running.wait_until("less in a small eden", |_| Ok(control.size(0) < ASKED))?;
        in_force(running, &control, 0, ASKED)?;
    }
    Ok(())
}

pub fn cases(cases: &mut Vec<Case>) {
    type Beside = fn(&mut Running<'_>) -> Result<(), String>;
    hazard(cases, "resizing::with_eden", JDKS, &[Collector::Parallel, Collector::G1], |_| {
        Launch::new("Load")
            .args(&["until=released"])
            .agent("core=256k,control=control")
            .flags("-Xms8m -Xmx512m")
            .up_to_domains(32)
            .says("core=256k is too large for this heap")
            .beside(with_eden)
            .collects(2)
    });
    let with_waves = |setting: Setting| {
        let launch = Launch::new("Waves")
            .args(&["until=released"])
            .agent("core=256k,control=control")
            .flags("-Xms8m -Xmx96m -XX:MinHeapFreeRatio=5 -XX:MaxHeapFreeRatio=15")
            // Of 256 KB in the largest eden, which is 25 MB.
            .up_to_domains(6)
            .says("core=256k is too large for this heap")
            .beside(with_waves);
        match setting.collector {
            // It shrinks its heap in full collections alone.
            Collector::G1 if setting.jdk.feature.0 < 12 => launch,
            Collector::G1 => launch.args(&["gc=0"]).flags("-XX:G1PeriodicGCInterval=50"),
            _ => launch,
        }
    };
    // From 25 on Serial's eden stays small once a few waves have passed (2.3 MB of the 8 MB that 256 KB need).
    hazard(cases, "resizing::with_waves", &[11, 17, 21], &[Collector::Serial], with_waves);
    hazard(cases, "resizing::with_waves", JDKS, &[Collector::G1], with_waves);
    for (name, options, beside) in [
        ("one_level", "core=64k", one_level as Beside),
        ("two_levels", "levels=core+processor,core=32k,processor=128k", two_levels),
    ] {
        hazard(cases, &format!("resizing::{name}"), JDKS, SERVED, move |setting| {
            let launch = Launch::new("Load")
                .args(&["until=released"])
                .agent(format!("{options},control=control"))
                .without(&["-XX:TLABSize=8k"])
                .flags("-XX:TLABSize=2k")
                .beside(beside);
            match setting.collector {
                Collector::Epsilon => launch.args(&["most=1500m", "threads=4"]).flags("-Xmx2g -Xint"),
                Collector::Shenandoah | Collector::GenerationalShenandoah => {
                    launch.flags("-XX:+ShenandoahVerify").collects(1)
                }
                _ => launch.flags("-Xmn16m").collects(2),
            }
        });
    }
}
