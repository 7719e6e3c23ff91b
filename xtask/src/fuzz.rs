//! Random operation programs against the models of the hierarchy and of the arena.

use crate::shell::{cargo, root, run as run_command, works};
use lab::{Error, Result};

/// Options of `fuzz`.
#[derive(clap::Args)]
pub struct Arguments {
    /// How long each.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// What; both in turn if nothing is said.
    #[arg(long)]
    target: Option<Target>,
}

/// What has a model.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Target {
    /// The hierarchy of buffers.
    Hab,
    /// The arena.
    Arena,
}

/// Runs the fuzzer.
pub fn run(arguments: &Arguments) -> Result<()> {
    if !works(cargo().args(["fuzz", "--version"])) {
        return Err(Error::failed("cargo-fuzz is not installed; run: cargo install cargo-fuzz"));
    }
    let limit = format!("-max_total_time={}", arguments.seconds);
    let targets = arguments.target.map_or(vec![Target::Hab, Target::Arena], |target| vec![target]);
    for target in targets {
        let folder = match target {
            Target::Hab => "crates/hab",
            Target::Arena => "crates/arena",
        };
        // `cargo +nightly` is rustup's: the cargo that runs this is the stable one itself.
        run_command(std::process::Command::new("rustup").current_dir(root().join(folder)).args([
            "run",
            "nightly",
            "cargo",
            "fuzz",
            "run",
            "operations",
            "--",
            &limit,
        ]))?;
    }
    Ok(())
}
