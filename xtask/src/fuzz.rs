//! Random operation programs against the models of the hierarchy, of the arena and of simulated memory, and random machine files.

use crate::shell::{cargo, root, run as run_command, works};
use lab::{Error, Result};

/// Options of `fuzz`.
#[derive(clap::Args)]
pub struct Arguments {
    /// How long each.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// What; all in turn if nothing is said.
    #[arg(long)]
    target: Option<Target>,
}

/// What has a model, or reads what anybody may have written.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Target {
    /// The hierarchy of buffers.
    Hab,
    /// The arena.
    Arena,
    /// The description of a machine.
    Machine,
    /// Programs on simulated machines.
    Simulation,
    /// The memory that an agent shares.
    Control,
}

impl Target {
    const ALL: [Target; 5] =
        [Target::Hab, Target::Arena, Target::Machine, Target::Simulation, Target::Control];

    /// The crate's folder, and the fuzz target in it.
    const fn place(self) -> (&'static str, &'static str) {
        match self {
            Target::Hab => ("crates/hab", "operations"),
            Target::Arena => ("crates/arena", "operations"),
            Target::Machine => ("crates/coherence", "machine_file"),
            Target::Simulation => ("crates/coherence", "program"),
            Target::Control => ("crates/control", "image"),
        }
    }
}

/// Runs the fuzzer.
pub fn run(arguments: &Arguments) -> Result<()> {
    if !works(cargo().args(["fuzz", "--version"])) {
        return Err(Error::failed("cargo-fuzz is not installed; run: cargo install cargo-fuzz"));
    }
    let limit = format!("-max_total_time={}", arguments.seconds);
    let targets = arguments.target.map_or(Target::ALL.to_vec(), |target| vec![target]);
    for target in targets {
        let (folder, name) = target.place();
        // `cargo +nightly` is rustup's: the cargo that runs this is the stable one itself.
        run_command(
            std::process::Command::new("rustup")
                .current_dir(root().join(folder))
                .args(["run", "nightly", "cargo", "fuzz", "run", name, "--", &limit]),
        )?;
    }
    Ok(())
}
