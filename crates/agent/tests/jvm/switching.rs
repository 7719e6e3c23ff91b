//! Buffers switched off and on at run time, under load and collections.

use crate::launch::Launch;
use crate::matrix::{JDKS, SERVED, Setting, hazard};
use crate::process::Running;
use crate::runner::Case;
use control::{Control, Mode, State};
use hab::Counter;
use hotspot::collector::Collector;
use std::time::Duration;

/// Opens the control file once the agent says that its hooks are in place.
pub fn open(running: &mut Running<'_>) -> Result<Control, String> {
    let path = running.directory.join("control");
    let mut opened = None;
    running.wait_until("the control file says that the agent is installed", |_| {
        opened = Control::open(&path).ok().filter(|control| control.state() == Some(State::Installed));
        Ok(opened.is_some())
    })?;
    opened.ok_or_else(|| "no control file".into())
}

/// Switches every few milliseconds until each way has been taken often.
fn flip(modes: &'static [Mode], private: bool) -> impl Fn(&mut Running<'_>) -> Result<(), String> {
    move |running| {
        let control = open(running)?;
        let mut flips = 0;
        running.wait_until("requests in every mode", |_| {
            control.set_mode(modes[flips % modes.len()]);
            flips += 1;
            std::thread::sleep(Duration::from_millis(2));
            // Private buffers have counters behind the levels' own.
            let own = control.counters(control.levels() - 1).iter();
            let own = own.map(|counters| counters.get(Counter::Buffers)).sum::<u64>();
            let (served, passed) = (control.total(Counter::Buffers), control.total(Counter::Passed));
            let all = served > 100 && passed > 100 && (!private || own > 100);
            Ok(flips > 20 && all)
        })
    }
}

/// Buffers with such options under load and collections, switched through `modes`.
pub fn under_load(setting: Setting, options: &str, modes: &'static [Mode]) -> Launch {
    // Without a hook for walks there are no private buffers, and the mode is as good as off.
    let shenandoah = [Collector::Shenandoah, Collector::GenerationalShenandoah];
    let private = modes.contains(&Mode::Bound) && !shenandoah.contains(&setting.collector);
    let launch = Launch::new("Load")
        .args(&["until=released"])
        .agent(format!("{options},control=control,start=off"))
        .beside(flip(modes, private));
    match setting.collector {
        Collector::Epsilon => launch.args(&["most=500m"]).flags("-Xmx1g"),
        Collector::Shenandoah | Collector::GenerationalShenandoah => {
            launch.flags("-XX:+ShenandoahVerify").collects(1)
        }
        _ => launch.flags("-Xmn8m").collects(2),
    }
}

pub const OFF_AND_ON: &[Mode] = &[Mode::Off, Mode::On];

pub fn cases(cases: &mut Vec<Case>) {
    for (name, options, modes) in [
        ("on_off", "core=64k", OFF_AND_ON),
        ("two_levels", "levels=core+processor,core=32k,processor=256k", OFF_AND_ON),
        ("bound", "core=64k,bound=true,exact=true", &[Mode::Bound, Mode::On, Mode::Bound, Mode::Off]),
    ] {
        hazard(cases, &format!("switching::{name}"), JDKS, SERVED, move |setting| {
            under_load(setting, options, modes)
        });
    }
}
