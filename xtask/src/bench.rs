//! Terrace's libraries against their peers.

use crate::cargo::cargo;
use crate::shell::run as run_command;
use jvm::Result;

/// What is measured.
#[derive(clap::Subcommand)]
pub enum Subject {
    /// The arena against mimalloc, jemalloc, snmalloc, the C library, bumpalo and mmtk (requires cmake and a C++ compiler; takes 5 minutes).
    Arena(Arguments),
}

/// Options of `bench arena`: the benchmark's own, known here so that help and mistakes do not wait for its build.
#[derive(clap::Args)]
pub struct Arguments {
    /// Few objects and rounds, as a smoke test.
    #[arg(long)]
    quick: bool,
    /// Seconds per object size and number of threads [default: 10, quick: 0].
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// Maximum memory of all objects of a pass, in megabytes [default: 256, quick: 64].
    #[arg(long, value_name = "N")]
    megabytes: Option<usize>,
    /// Keep the peers' default settings, with everything on small pages.
    #[arg(long)]
    as_shipped: bool,
    /// Keep everything on small pages.
    #[arg(long)]
    small_pages: bool,
}

impl Arguments {
    fn words(&self) -> Vec<String> {
        let flags =
            [("--quick", self.quick), ("--as-shipped", self.as_shipped), ("--small-pages", self.small_pages)];
        let numbers =
            [("--seconds", self.seconds), ("--megabytes", self.megabytes.map(|number| number as u64))];
        let flags = flags.into_iter().filter(|(_, given)| *given).map(|(name, _)| name.to_owned());
        let numbers = numbers.into_iter().filter_map(|(name, number)| Some(format!("{name}={}", number?)));
        flags.chain(numbers).collect()
    }
}

/// Builds the benchmark, which is a package of its own because of its peers' C and C++ code, and runs it.
pub fn run(subject: &Subject) -> Result<()> {
    let Subject::Arena(arguments) = subject;
    let mut command = cargo();
    command.args(["run", "--quiet", "--release", "--manifest-path", "benches/arena/Cargo.toml", "--"]);
    run_command(command.args(arguments.words()))
}
