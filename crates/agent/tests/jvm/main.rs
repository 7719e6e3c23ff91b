//! Real JVMs under the agent, launched from declarations, with heap verification on.
//!
//! Each [`launch::Launch`] says which program runs with which flags and options and what has to come of it; a hazard is such a
//! declaration for a matrix of JDKs and collectors. What a machine cannot run is skipped, and told by name at the end; a run in which
//! nothing could run is a failure.
//!
//! No launch ends after a time: programs run until what the launch is about has happened (`tests/java/Evidence.java`: pauses, commands,
//! a file that says that work from outside is done), whatever the speed and the load of the machine.
//!
//! | part | what it is |
//! |---|---|
//! | `jdk` | the JDKs of this machine and the collectors that they were built with |
//! | `artifacts` | the agent, the Java programs and the helper agents, built once |
//! | `launch` | the declaration of a launch and its check |
//! | `matrix` | the JDKs and collectors that a hazard is for |
//! | `surroundings` | what a JVM finds around it: mounts, a sandbox |
//! | `process` | a JVM that runs, with a time limit |
//! | `report` | the agent's report and the equations that it must satisfy |
//! | `domains` | how many buffers the agent can have here |
//! | `runner` | runs the cases, two at a time, and tells the result as libtest does |
//! | `record` | the same for README's table, in a file |
//! | the others | the hazards, by subject |
//!
//! `TERRACE_JDKS` (separated by colons) names further JDKs; all that it names must be there, and where it or `CI` is set, the JDK 21 that
//! `cargo xtask jdks` installs, too. Arguments are those of libtest: names to choose cases by (each has to choose one), `--skip`,
//! `--exact`, `--list`, `--test-threads`, `--nocapture` (tells each launch's command line), `--all` (what runs only if asked,
//! too) and `--ignored` (that alone). `TERRACE_TURN` chooses which JDK meets which collector without `--all`
//! ([`matrix::turn`]).

mod accounting;
mod adaptive;
mod affinity;
mod archives;
mod artifacts;
mod attach;
mod collections;
mod control_memory;
mod domains;
mod ending;
mod environment;
mod flight;
mod graal;
mod hostile;
mod huge_pages;
mod jar;
mod jar_attach;
mod jdk;
mod launch;
mod leases;
mod levels;
mod limits;
mod loading;
mod matrix;
mod numa;
mod objects;
mod observing;
mod options;
mod out_of_memory;
mod process;
mod publication;
mod record;
mod report;
mod resizing;
mod returning;
mod runner;
mod surroundings;
mod switching;
mod tails;
mod threads;
mod transitions;
mod version_number;
mod versions;
mod walkers;
mod waste;
mod zgc;

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [leases::HOLD, pid] = arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        return leases::hold(pid).map_or_else(
            |line| {
                eprintln!("{line}");
                std::process::ExitCode::FAILURE
            },
            |()| std::process::ExitCode::SUCCESS,
        );
    }
    let mut cases = Vec::new();
    for add in [
        matrix::cases,
        options::cases,
        loading::cases,
        publication::cases,
        ending::cases,
        out_of_memory::cases,
        limits::cases,
        tails::cases,
        waste::cases,
        objects::cases,
        collections::cases,
        numa::cases,
        walkers::cases,
        attach::cases,
        levels::cases,
        switching::cases,
        observing::cases,
        returning::cases,
        leases::cases,
        resizing::cases,
        adaptive::cases,
        control_memory::cases,
        archives::cases,
        accounting::cases,
        threads::cases,
        transitions::cases,
        environment::cases,
        huge_pages::cases,
        hostile::cases,
        jar::cases,
        jar_attach::cases,
        versions::cases,
        flight::cases,
        graal::cases,
        zgc::cases,
    ] {
        add(&mut cases);
    }
    matrix::missing(&mut cases);
    runner::run(cases)
}
