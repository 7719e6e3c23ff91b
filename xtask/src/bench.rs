//! Terrace's libraries against their peers.

use crate::cargo::cargo;
use crate::shell::run as run_command;
use jvm::Result;

/// What is measured.
#[derive(clap::Subcommand)]
pub enum Subject {
    /// The arena against mimalloc, jemalloc, snmalloc, the C library, bumpalo and mmtk (needs cmake and a C++ compiler; 5 minutes).
    Arena(Arguments),
}

/// Options of `bench arena`: the benchmark's own, known here so that help and mistakes do not wait for its build.
#[derive(clap::Args)]
pub struct Arguments {
    /// Few objects and rounds, to see that it works.
    #[arg(long)]
    quick: bool,
    /// Seconds for each size of objects and number of threads [default: 10, quick: 0].
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// The most memory of all objects of a pass, in megabytes [default: 256, quick: 64].
    #[arg(long, value_name = "N")]
    megabytes: Option<usize>,
    /// Leave the peers' settings alone, and everything on small pages.
    #[arg(long)]
    as_shipped: bool,
    /// Leave everything on small pages.
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
