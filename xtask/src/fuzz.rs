//! Random operation programs against the model of the hierarchy.

use crate::shell::{cargo, root, run as run_command, works};
use lab::{Error, Result};

/// Options of `fuzz`.
#[derive(clap::Args)]
pub struct Arguments {
    /// How long.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

/// Runs the fuzzer.
pub fn run(arguments: &Arguments) -> Result<()> {
    if !works(cargo().args(["fuzz", "--version"])) {
        return Err(Error::failed("cargo-fuzz is not installed; run: cargo install cargo-fuzz"));
    }
    let limit = format!("-max_total_time={}", arguments.seconds);
    // `cargo +nightly` is rustup's: the cargo that runs this is the stable one itself.
    run_command(std::process::Command::new("rustup").current_dir(root().join("crates/hab")).args([
        "run",
        "nightly",
        "cargo",
        "fuzz",
        "run",
        "operations",
        "--",
        &limit,
    ]))
}
