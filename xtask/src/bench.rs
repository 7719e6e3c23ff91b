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
    /// The benchmark's own: --quick, --seconds N, --megabytes N, --as-shipped, --small-pages.
    #[arg(value_name = "OPTION", trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<String>,
}

/// Builds the benchmark, which is a package of its own because of its peers' C and C++ code, and runs it.
pub fn run(subject: &Subject) -> Result<()> {
    let Subject::Arena(arguments) = subject;
    let mut command = cargo();
    command.args(["run", "--quiet", "--release", "--manifest-path", "benches/arena/Cargo.toml", "--"]);
    run_command(command.args(&arguments.options))
}
