//! What HotSpot does for any agent, and ours does not need. It tells JVMTI of each mount and unmount of a virtual thread as soon as one has an
//! environment, which takes as long as the switch itself; and its compilers note for tools what compiled methods depend on as soon as one has a
//! capability.

use crate::attach;
use crate::jdk::{Jdk, collector_flags};
use crate::launch::Launch;
use crate::matrix::{JDKS, Setting, USUAL, matrix};
use crate::observing;
use crate::process::Running;
use crate::runner::{Case, Outcome, QUIET, Verdict};
use control::Mode;
use hotspot::collector::Collector;
use hotspot::symbols::Symbols;
use jvm::switch;
use std::os::unix::fs::FileExt;

/// `JvmtiVTMSTransitionDisabler::_VTMS_notify_jvmti_events` (21, 25), or what has it since 26: `MountUnmountDisabler::_notify_jvmti_events`, and
/// `_global_vthread_transition_disable_count`, which is 1 then. The lowest byte of each says whether it is 0.
const NOTIFIES: [&str; 3] = [
    "_ZN27JvmtiVTMSTransitionDisabler25_VTMS_notify_jvmti_eventsE",
    "_ZN20MountUnmountDisabler20_notify_jvmti_eventsE",
    "_ZN20MountUnmountDisabler40_global_vthread_transition_disable_countE",
];
/// Those that have virtual threads.
const VIRTUAL: [u32; 5] = [21, 25, 26, 27, 28];
/// Bools of `JvmtiExport`. The last two are set in all JVMs since 25.
const TOOLING: [&str; 4] = [
    "_ZN11JvmtiExport21_can_modify_any_classE",
    "_ZN11JvmtiExport19_can_walk_any_spaceE",
    "_ZN11JvmtiExport31_can_hotswap_or_post_breakpointE",
    "_ZN11JvmtiExport30_all_dependencies_are_recordedE",
];

/// Whether a running JVM tells JVMTI of virtual threads' transitions, or has them take the slow way, and is prepared for tools: all of it, or none.
fn notifies(running: &mut Running<'_>, jdk: &Jdk) -> Result<bool, String> {
    let (transitions, tooling) = match jdk.feature.0 {
        ..21 => (0, &TOOLING[..]),
        21..25 => (1, &TOOLING[..]),
        25 => (1, &TOOLING[..2]),
        26.. => (2, &TOOLING[..2]),
    };
    let symbols = Symbols::open(&jdk.libjvm()).map_err(|error| error.to_string())?;
    let mut places = Vec::new();
    let noted = symbols.each(
        |_, is_data| is_data,
        |symbol| {
            if NOTIFIES.iter().chain(tooling).any(|name| name.as_bytes() == symbol.name) {
                places.push(symbol.address);
            }
        },
    );
    noted.map_err(|error| error.to_string())?;
    if places.len() != transitions + tooling.len() {
        return Err(format!("{} of {NOTIFIES:?} and {tooling:?} are in this build", places.len()));
    }
    let process = format!("/proc/{}", running.pid());
    let maps = std::fs::read_to_string(format!("{process}/maps")).map_err(|error| error.to_string())?;
    let base = maps.lines().find(|line| line.ends_with("libjvm.so")).and_then(|line| line.split('-').next());
    let base =
        base.and_then(|base| usize::from_str_radix(base, 16).ok()).ok_or("no libjvm.so in the maps")?;
    let memory = std::fs::File::open(format!("{process}/mem")).map_err(|error| error.to_string())?;
    let mut read = Vec::new();
    for place in places {
        let mut byte = [0];
        memory.read_exact_at(&mut byte, (base + place) as u64).map_err(|error| error.to_string())?;
        read.push(byte[0] != 0);
    }
    match read.iter().all(|set| *set == read[0]) {
        true => Ok(read[0]),
        false => Err(format!("one of HotSpot's words says something else than the others: {read:?}")),
    }
}

fn expect(setting: Setting, launch: Launch, expected: bool) -> Verdict {
    expect_after(setting, launch, |_| Ok(()), expected)
}

/// An observer of the JVM's start goes, and buffers come: HotSpot's words are looked at in between, too.
fn replaced(running: &mut Running<'_>) -> Result<(), String> {
    let text = |error: jvm::Error| error.to_string();
    switch::switch(running.pid(), Mode::Off).map_err(text)?;
    let jdk = running.jdk;
    if notifies(running, jdk)? {
        return Err("HotSpot does for tools what it can since the observer has gone".into());
    }
    observing::put_buffers(running, &observing::install())
}

/// The same, once something has been done to the running JVM.
fn expect_after(
    setting: Setting,
    launch: Launch,
    done: fn(&mut Running<'_>) -> Result<(), String>,
    expected: bool,
) -> Verdict {
    let jdk = setting.jdk;
    let launch = launch
        .args(&["until=released"])
        .flags(&collector_flags(setting.collector, jdk.feature).join(" "))
        .beside(move |running| {
            if !running.wait_for("running") {
                return Err("the program ended before it began".into());
            }
            done(running)?;
            match notifies(running, jdk)? {
                found if found == expected => Ok(()),
                found => Err(format!("HotSpot does for tools what it can: {found}, expected {expected}")),
            }
        });
    QUIET.shared(|| launch.run(jdk)).map(|_| Outcome::Passed)
}

fn load() -> Launch {
    Launch::bare("Load").flags("-Xmx64m")
}

pub fn cases(cases: &mut Vec<Case>) {
    matrix(cases, "transitions::stock", JDKS, &[Collector::G1], |setting| {
        expect(setting, load().stock(), false)
    });
    matrix(cases, "transitions::unnoticed", JDKS, USUAL, |setting| expect(setting, load().agent(""), false));
    matrix(cases, "transitions::unnoticed::observer", &VIRTUAL, &[Collector::G1], |setting| {
        expect(setting, load().agent("levels=none"), false)
    });
    matrix(cases, "transitions::unnoticed::withdrawn", JDKS, USUAL, |setting| {
        let launch = load().agent("levels=none,control=auto").unreported();
        expect_after(setting, launch.flags("-XX:+EnableDynamicAgentLoading"), replaced, false)
    });
    matrix(cases, "transitions::refused", &VIRTUAL, &[Collector::Serial], |setting| {
        let text = "is too large for terrace: use at most 8 TB (-Xmx)";
        expect(setting, Launch::bare("Load").flags("-Xms64m -Xmx9000g").unreported().says(text), false)
    });
    // Nor has an attempt in a running JVM, be it refused at once or when the heap is looked at.
    matrix(cases, "transitions::refused_attach", &VIRTUAL, &[Collector::Serial], |setting| {
        let attempts = |running: &mut Running<'_>| {
            for options in ["cores=64k", "core=64k"] {
                attach::expect(&attach::load(running, options)?, "return code: -1")?;
            }
            Ok(())
        };
        let launch = Launch::bare("Load")
            .flags("-Xms64m -Xmx9000g -XX:+EnableDynamicAgentLoading")
            .says("unknown option cores")
            .says("is too large for terrace: use at most 8 TB (-Xmx)");
        expect_after(setting, launch.stock(), attempts, false)
    });
    // Another agent's wish stays, whoever comes first: HotSpot's debugger agent needs to be told.
    for (name, behind) in [("before", true), ("after", false)] {
        matrix(
            cases,
            &format!("transitions::other_agent_{name}"),
            &VIRTUAL,
            &[Collector::G1],
            move |setting| {
                if !setting.jdk.home.join("lib/libjdwp.so").is_file() {
                    return Ok(Outcome::Skipped("libjdwp.so: not in this JDK".into()));
                }
                let debugger =
                    "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y,address=127.0.0.1:0";
                let launch = load().agent("").flags(debugger);
                expect(setting, if behind { launch.behind_others() } else { launch }, true)
            },
        );
    }
}
