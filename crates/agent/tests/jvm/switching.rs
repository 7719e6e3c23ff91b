//! Buffers switched off and on at run time, under load and collections.

use crate::launch::{JDKS, Launch, SERVED, hazard};
use crate::process::Running;
use crate::runner::Case;
use control::{Control, Mode, State};
use hotspot::collector::Collector;
use std::time::{Duration, Instant};

/// Opens the control file once the agent says that its hooks are in place.
pub fn open(running: &mut Running<'_>) -> Result<Control, String> {
    let path = running.directory.join("control");
    let begin = Instant::now();
    loop {
        match Control::open(&path) {
            Ok(control) if control.state() == Some(State::Installed) => return Ok(control),
            _ if begin.elapsed() > Duration::from_secs(20) || !running.is_running() => {
                return Err("the control file never said that the agent is installed".into());
            }
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Switches every few milliseconds until the program has ended.
fn flip(modes: &'static [Mode]) -> impl Fn(&mut Running<'_>) -> Result<(), String> {
    move |running| {
        let control = open(running)?;
        let mut flips = 0;
        // The agent's own switching off at the end must stand: no flip comes after it.
        while running.is_running()
            && control.state() == Some(State::Installed)
            && !running.stdout().contains("done")
        {
            control.set_mode(modes[flips % modes.len()]);
            flips += 1;
            std::thread::sleep(Duration::from_millis(3));
        }
        if flips > 10 { Ok(()) } else { Err(format!("only {flips} flips")) }
    }
}

pub fn cases(cases: &mut Vec<Case>) {
    for (name, options, modes) in [
        ("on_off", "core=64k", &[Mode::Off, Mode::On] as &'static [Mode]),
        ("two_levels", "levels=core+processor,core=32k,processor=256k", &[Mode::Off, Mode::On]),
        ("bound", "core=64k,bound=true", &[Mode::Bound, Mode::On, Mode::Bound, Mode::Off]),
    ] {
        hazard(cases, &format!("switching::{name}"), JDKS, SERVED, move |setting| {
            let launch =
                Launch::new("Load").agent(format!("{options},control=control,start=off")).beside(flip(modes));
            let launch = match setting.collector {
                Collector::Epsilon => launch.args(&["most=500m"]).flags("-Xmx1g"),
                Collector::Shenandoah | Collector::GenerationalShenandoah => {
                    launch.flags("-XX:+ShenandoahVerify").collects(1)
                }
                _ => launch.flags("-Xmn8m").collects(2),
            };
            launch.after(|finished| {
                let report = finished.report()?;
                let (served, passed) =
                    (report.0["total"]["buffers"].as_u64(), report.0["total"]["passed"].as_u64());
                if served.unwrap_or(0) > 0 && passed.unwrap_or(0) > 0 {
                    return Ok(());
                }
                Err(format!("served {served:?}, passed {passed:?}: one of the ways was never taken"))
            })
        });
    }
}
