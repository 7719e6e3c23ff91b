//! JVMs with enough memory, all of it touched: a workload, a compiler and a server, in which the doctor finds nothing.

use crate::application;
use crate::examined::{memory_is_readable, report, rules, start};
use crate::installed::{Busy, PATIENCE, java};
use std::process::{Command, Stdio};
use std::time::Instant;

const MEMORY: [&str; 4] = ["-Xms768m", "-Xmx768m", "-Xmn560m", "-XX:+AlwaysPreTouch"];

#[test]
fn a_thread_that_allocates_all_the_time_is_well() {
    for collector in ["-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC"] {
        let jvm = start(&[&[collector], &MEMORY[..]].concat(), &["alloc", "--threads", "1"]);
        let Some(jvm) = jvm else { return };
        // What a slow machine's longer pauses are taken for.
        is_well(&jvm, collector, &["small young generation"]);
    }
}

#[test]
fn a_compiler_is_well() {
    let flags = [&["-XX:+UseParallelGC"], &MEMORY[..]].concat();
    let Some(jvm) = start(&flags, &["javac", "--threads", "1"]) else { return };
    is_well(&jvm, "javac", &["small young generation", "full collections", "ended threads"]);
}

/// Its requests are served by a pool of threads.
#[test]
fn a_server_is_well() {
    let scratch = tempfile::tempdir().unwrap();
    let arguments = application("keycloak", scratch.path()).filter(|_| memory_is_readable());
    let Some(arguments) = arguments else { return };
    let mut command = Command::new(java());
    command.args(["-XX:+UseG1GC", "-XX:+EnableDynamicAgentLoading"]).args(MEMORY).args(arguments);
    command.env_remove("JAVA_TOOL_OPTIONS").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let jvm = Busy(command.spawn().unwrap());
    // While it starts, on a slow machine for minutes, it loads classes and starts threads that end, and they wait for each other.
    let starting = ["full collections", "ended threads", "shared refills", "objects outside TLABs"];
    is_well(&jvm, "keycloak", &[&starting[..], &["small young generation"]].concat());
}

/// Until it is: what is compiled, loaded and touched first has to be behind it, and collector threads that wait for a CPU stop the program for as long,
/// so that on a busy machine `passing` findings come and go. Any other is wrong at once.
fn is_well(jvm: &Busy, name: &str, passing: &[&str]) {
    report(jvm);
    let until = Instant::now() + PATIENCE;
    loop {
        let report = report(jvm);
        // What a machine's own quota and nodes do is no illness of the JVM's.
        let own = ["throttled", "memory nodes"];
        let found: Vec<&str> = rules(&report).into_iter().filter(|rule| !own.contains(rule)).collect();
        if found.is_empty() {
            return;
        }
        let passes = found.iter().all(|rule| passing.contains(rule));
        assert!(passes && Instant::now() < until, "{name}: {report:#}");
    }
}
