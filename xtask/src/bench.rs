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

/// Options of `bench arena`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Few objects and rounds: to see that it works.
    #[arg(long)]
    quick: bool,

    /// Seconds for each size of objects and number of threads [default: 10, quick: as few as possible].
    #[arg(long)]
    seconds: Option<u64>,

    /// The most memory that all objects of a pass take together [default: 256, quick: 64].
    #[arg(long)]
    megabytes: Option<usize>,

    /// Leave the peers' settings alone, and everything on small pages. Otherwise they are told to keep freed memory, as the arena
    /// does, and to lie on huge pages.
    #[arg(long)]
    as_shipped: bool,

    /// Leave everything on small pages.
    #[arg(long)]
    small_pages: bool,
}

/// Builds the benchmark, which is a package of its own because of its peers' C and C++ code, and runs it.
pub fn run(subject: &Subject) -> Result<()> {
    let Subject::Arena(arguments) = subject;
    let mut command = cargo();
    command.args(["run", "--quiet", "--release", "--manifest-path", "benches/arena/Cargo.toml", "--"]);
    if arguments.quick {
        command.arg("--quick");
    }
    if let Some(seconds) = arguments.seconds {
        command.args(["--seconds", &seconds.to_string()]);
    }
    if let Some(megabytes) = arguments.megabytes {
        command.args(["--megabytes", &megabytes.to_string()]);
    }
    if arguments.as_shipped {
        command.arg("--as-shipped");
    }
    if arguments.small_pages {
        command.arg("--small-pages");
    }
    run_command(&mut command)
}
