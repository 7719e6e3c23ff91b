//! `terrace doctor` with real JVMs.

#[path = "../common/cpus.rs"]
mod cpus;
#[path = "../common/examined.rs"]
mod examined;
#[path = "../common/real.rs"]
mod installed;
#[path = "../common/jvm.rs"]
mod running;
#[path = "../common/screen.rs"]
mod screen;

mod looks;
mod started;
mod terminal;
mod trials;

/// Collections of threads' unused TLABs that take enough of the time for fewer of them to pay: on a quick machine they would take 1 % of it, but not with more collector threads than it has
/// CPUs, which wait for each other.
const PAYING: [&str; 5] = [
    "-XX:+UseParallelGC",
    "-Xmx1500m",
    "-Xmn16m",
    "-XX:ParallelGCThreads=32",
    "-XX:-UseDynamicNumberOfGCThreads",
];

/// The same for a program that the doctor starts.
fn paying() -> Vec<String> {
    PAYING.iter().map(|flag| format!("--jvm-arg={flag}")).collect()
}

/// As many threads on every machine: where there are many, HotSpot begins with TLABs so small that none is left unused.
const CHURN: [&str; 3] = ["churn", "--threads", "4"];

/// Without the ends of lines.
fn words(said: &str) -> String {
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}
