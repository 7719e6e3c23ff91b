//! Graal's compiler in place of C2: its code allocates inline by rules of its own, and refills on ways of its own; the compiler itself is Java,
//! and allocates in the same heap. The jars are those of `cargo xtask jdks graal`.

use crate::attach;
use crate::jdk;
use crate::launch::Launch;
use crate::matrix::{Setting, USUAL, matrix};
use crate::publication;
use crate::runner::{Case, Outcome, QUIET};
use crate::switching;
use hotspot::collector::Collector;
use std::path::Path;

/// The JDK that the jars are for.
const JDKS: &[u32] = &[25];
const JARS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/jdks/graal");
/// The collectors whose barriers it compiles; the JVM does not start with Shenandoah, with or without an agent.
const COMPILABLE: &[Collector] = &[Collector::Serial, Collector::Parallel, Collector::G1, Collector::Epsilon];
/// What Graal tells of the methods that it compiled.
const LOG: &str = "graal.log";
/// The methods of the programs that are launched, as Graal calls their classes.
const COMPILED: &[&str] = &["LKeeper;", "LLoad;"];

/// A hazard for each collector, under Graal: what is done beside the program begins when Graal has compiled a part of it. Each takes as long as
/// ten launches without: usually only the loads run.
fn hazard(
    cases: &mut Vec<Case>,
    name: &str,
    collectors: &[Collector],
    launch: impl Fn(Setting) -> Launch + Clone + Send + Sync + 'static,
) {
    let mut all = Vec::new();
    matrix(&mut all, &format!("graal::{name}"), JDKS, collectors, move |setting| {
        if std::env::var_os("TERRACE_MACHINE").is_some() {
            return Ok(Outcome::Skipped("Graal's compiler: not under an emulator".into()));
        }
        let release = std::fs::read_to_string(setting.jdk.home.join("release")).unwrap_or_default();
        if !release.contains("jdk.internal.vm.ci") {
            return Ok(Outcome::Skipped(
                "Graal's compiler: this JDK has no compiler interface (JVMCI)".into(),
            ));
        }
        if !Path::new(JARS).is_dir() {
            return Ok(Outcome::Skipped("Graal's compiler: not there; cargo xtask jdks graal".into()));
        }
        // The compiler allocates 500 MB before it has compiled the program: a collection of every 8 MB, verified, would take a minute of that.
        let memory = if setting.collector == Collector::Epsilon { "-Xmx3g" } else { "-Xmx256m -Xmn64m" };
        let launch = launch(setting)
            .flags(memory)
            // The compiler is compiled meanwhile, by itself: the program's threads leave it its turn.
            .args(&["until=released", "threads=4", "gentle=true"])
            .flags(&jdk::collector_flags(setting.collector, setting.jdk.feature).join(" "))
            .flags("-XX:+EnableJVMCI -XX:+UseJVMCICompiler")
            .flag(format!("--upgrade-module-path={JARS}"))
            .flags(&format!("-Djdk.graal.PrintCompilation=true -Djdk.graal.LogFile={LOG}"))
            .when_written(LOG, COMPILED);
        QUIET.shared(|| launch.run(setting.jdk)).map(|_| Outcome::Passed)
    });
    let usual = name == LOAD;
    cases.extend(all.into_iter().map(|case| if usual { case } else { case.only_if_asked() }));
}

const LOAD: &str = "load";

pub fn cases(cases: &mut Vec<Case>) {
    hazard(cases, LOAD, COMPILABLE, |setting| {
        let launch = Launch::new("Load");
        match setting.collector {
            Collector::Epsilon => launch.args(&["most=500m"]),
            _ => launch.flags("-Xmn8m").collects(6),
        }
    });
    hazard(cases, "attach", USUAL, |setting| attach::during_load(setting, "core=64k"));
    hazard(cases, "switching", USUAL, |setting| {
        switching::under_load(setting, "core=64k", switching::OFF_AND_ON)
    });
    hazard(cases, "publication", USUAL, publication::publication);
}
