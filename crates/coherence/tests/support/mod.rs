//! Machines to test on.
#![allow(dead_code, reason = "each test binary uses a part of it")]

pub mod accesses;

use terrace_coherence::machine::Machine;

/// A machine of this shape: packages, clusters, cores, threads. Far costs more than near; `scheduler` is the text of that section.
pub fn machine(shape: [u32; 4], protocol: &str, scheduler: &str) -> Machine {
    let [packages, clusters, cores, threads] = shape;
    let text = format!(
        r#"
title = "a machine of a test"
protocol = "{protocol}"
clock = {{ value = 2, unit = "GHz", assumed = "test" }}
[shape]
packages = {packages}
clusters = {clusters}
cores = {cores}
threads = {threads}
assumed = "test"
[costs]
l1 = {{ value = 2, unit = "ns", assumed = "test" }}
l2 = {{ value = 6, unit = "ns", assumed = "test" }}
l3 = {{ value = 20, unit = "ns", assumed = "test" }}
transfer_cluster = {{ value = 30, unit = "ns", assumed = "test" }}
transfer_package = {{ value = 60, unit = "ns", assumed = "test" }}
transfer_remote = {{ value = 150, unit = "ns", assumed = "test" }}
memory_local = {{ value = 80, unit = "ns", assumed = "test" }}
memory_remote = {{ value = 140, unit = "ns", assumed = "test" }}
locked = {{ value = 10, unit = "ns", assumed = "test" }}
drain = {{ value = 8, unit = "ns", assumed = "test" }}
store = {{ value = 0.5, unit = "ns", assumed = "test" }}
[scheduler]
{scheduler}
"#
    );
    Machine::parse(&text, "test").unwrap_or_else(|error| panic!("{error}"))
}

/// One line of a scheduler's section.
pub fn number(key: &str, value: f64, unit: &str) -> String {
    format!("{key} = {{ value = {value:?}, unit = \"{unit}\", assumed = \"test\" }}\n")
}
