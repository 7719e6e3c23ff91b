//! `terrace doctor` with real JVMs.

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

/// Collections of threads' unused TLABs that take enough of the time for fewer of them to pay.
const PAYING: [&str; 3] = ["-XX:+UseParallelGC", "-Xmx1500m", "-Xmn16m"];

/// Without the ends of lines.
fn words(said: &str) -> String {
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}
