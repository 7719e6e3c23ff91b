//! What is done with a command line other than running it as it stands.

/// What is done instead.
#[derive(Clone, Copy)]
pub enum Instead {
    /// Run with these words behind the given one: the documented words all stay.
    With(&'static str, &'static str),
    /// Its words are read, and nothing is done: of our own commands the help is asked for with all of them (and those of `cargo xtask` are parsed to
    /// the end, in xtask/src/documented.rs), of cargo's the packages, features and tests have to be there, and make tells what it would do.
    Read,
    /// This file has a test that follows the page.
    Elsewhere(&'static str),
    /// Not touched at all.
    Left,
}
use Instead::{Elsewhere, Left, Read, With};

/// Documented text (with a star: and whatever follows), what is done, and why.
pub const EXCEPTIONS: &[(&str, Instead, &str)] = &[
    (
        "cargo xtask *",
        Read,
        "builds, tests or measures for minutes; continuous integration runs 'cargo xtask test' itself",
    ),
    ("terrace compare -- java *", With("compare", "--duration 2s --warmup 0s"), "20 s by default"),
    (
        "terrace compare --control *",
        With("compare", "--duration 4s --warmup 0s"),
        "20 s by default; one side in one JVM",
    ),
    (
        "terrace compare --b *",
        With("compare", "--fork-seconds 1s --duration 4s --warmup 0s"),
        "a minute by default",
    ),
    (
        "terrace compare --a 'terrace core=auto' *",
        With("compare", "--duration 4s --warmup 0s"),
        "20 s by default; sizes are compared inside one JVM",
    ),
    (
        "terrace compare --a 'terrace core=64k' *",
        With("compare", "--duration 4s --warmup 0s"),
        "20 s by default; sizes are compared inside one JVM",
    ),
    (
        "terrace compare --a *",
        With("compare", "--fork-seconds 1s --duration 4s --warmup 0s"),
        "a minute by default",
    ),
    (
        "terrace compare --a terrace --b stock --workload churn *",
        Read,
        "the command of a kept result, three minutes",
    ),
    (
        "terrace compare --a terrace --b '-XX:TLABSize=4k' --workload churn *",
        Read,
        "the command of a kept result, two minutes",
    ),
    (
        "terrace compare --a terrace --b off --workload churn *",
        Read,
        "the command of a kept result, a minute",
    ),
    ("terrace compare --a SIDE *", Read, "names of placeholders"),
    ("terrace doctor PID", With("doctor", "--seconds 2s"), "30 s by default"),
    ("terrace doctor PID --verify", With("doctor", "--seconds 2s --duration 4s"), "a minute by default"),
    ("terrace doctor -- java *", With("doctor", "--seconds 2s --warmup 0s"), "half a minute by default"),
    (
        "terrace doctor --verify -- java *",
        With("doctor", "--seconds 2s --warmup 0s --duration 4s"),
        "a minute for each remedy by default",
    ),
    (
        "terrace doctor --verify --forks interleaved --workload *",
        Read,
        "the command of a kept result, three minutes",
    ),
    (
        "java -cp terrace-benchmarks.jar:terrace-jmh.jar *",
        With("org.openjdk.jmh.Main", "-f 1 -wi 1 -w 100ms -i 2 -r 100ms"),
        "minutes by JMH's defaults",
    ),
    ("terrace lab run *", Read, "measures for minutes; the command's own tests run single cells"),
    ("terrace lab machine *", Read, "needs measured latencies, which take a minute"),
    (
        "terrace sim evaluate *",
        Read,
        "simulates hundreds of cells; the simulator's own tests hold it to its sources",
    ),
    ("terrace sim run", Read, "the command's name alone"),
    ("terrace sim sweep", Read, "the command's name alone"),
    ("terrace sim explain", Read, "the command's name alone"),
    ("terrace sim explain --timeline FILE", Read, "an option alone"),
    (
        "jcmd PID JVMTI.agent_load",
        Left,
        "the command's name alone: without a library there is nothing to load",
    ),
    ("terrace sim run ...", Left, "stands for the lines above it"),
    ("cargo test *", Read, "builds for minutes; 'cargo xtask test' runs them all"),
    ("cargo build *", Read, "builds for minutes"),
    ("cargo run *", Read, "builds for minutes"),
    ("make *", Read, "builds for minutes; crates/arena-c/tests/from_c.rs installs what is built"),
    ("export PATH=$PWD/target/release:$PATH", Left, "the folder of the build that the line before makes"),
    (
        "export *",
        With(
            "bin:$PATH",
            "&& test $(command -v terrace) = $PWD/terrace-*/bin/terrace && terrace run -- java -version",
        ),
        "it lasts as long as its shell",
    ),
    ("docker build *", Elsewhere("crates/cli/tests/containers.rs"), "Docker and the network"),
    (
        "systemctl edit app",
        Elsewhere("crates/cli/tests/containers.rs"),
        "an editor, and a machine that runs systemd",
    ),
    ("mkdir -m 700", With("700", "made"), "the command's words alone"),
    ("docker pause", Left, "the command's name alone"),
    ("docker unpause", Left, "the command's name alone"),
    ("jfr print", Left, "the command's name alone"),
    ("find . *", Left, "what has been downloaded, in a folder of the build: 450 MB"),
    ("cd java && ./mvnw *", Left, "downloads, and builds for minutes"),
];

/// A command that is only named: `terrace on`.
pub fn is_named(command: &str) -> bool {
    command.strip_prefix("terrace ").is_some_and(|rest| !rest.contains(' ') && !rest.starts_with('-'))
}

/// The declaration for a command, the most special one that fits.
pub fn exception(command: &str) -> Option<usize> {
    let fits = |text: &str| match text.strip_suffix(" *") {
        Some(begin) => {
            command.strip_prefix(begin).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        }
        None => text == command,
    };
    let fitting = EXCEPTIONS.iter().enumerate().filter(|(_, (text, ..))| fits(text));
    fitting.max_by_key(|(_, (text, ..))| (!text.ends_with('*'), text.len())).map(|(at, _)| at)
}
