//! Every test.

use crate::shell::{self, cargo, root, works};
use crate::{build, jdks};
use lab::Result;
use std::time::Instant;

/// Options of `test`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Leave out the real JVMs and the model checking: what one runs while writing.
    #[arg(long)]
    quick: bool,
}

/// Runs them; stops at the first that fails.
pub fn run(arguments: &Arguments) -> Result<()> {
    let since = Instant::now();
    lints()?;
    build::all()?;
    build::workloads(true)?;
    // With debug assertions, which the release build of everything else leaves out.
    shell::run(cargo().args([
        "test",
        "--quiet",
        "-p",
        "terrace-hab",
        "-p",
        "terrace-control",
        "-p",
        "terrace-topology",
        "-p",
        "terrace-coherence",
    ]))?;
    if arguments.quick {
        shell::run(cargo().args(["test", "--quiet", "--release", "--workspace", "--lib", "--bins"]))?;
    } else {
        model_checking()?;
        real_jvms()?;
    }
    eprintln!("cargo xtask test: all passed in {} s", since.elapsed().as_secs());
    Ok(())
}

fn lints() -> Result<()> {
    for (component, arguments) in [
        ("fmt", &["fmt", "--all", "--check"][..]),
        (
            "clippy",
            &["clippy", "--quiet", "--release", "--workspace", "--all-targets", "--", "-D", "warnings"][..],
        ),
    ] {
        if works(cargo().args([component, "--version"])) {
            shell::run(cargo().args(arguments))?;
        } else {
            eprintln!("skipped: {component}: not installed (rustup component add {component})");
        }
    }
    Ok(())
}

/// Loom replaces the atomics of the hierarchy and of the arena: another build, in a folder of its own.
fn model_checking() -> Result<()> {
    for tests in [&["-p", "terrace-hab", "--test", "loom"], &["-p", "terrace-arena", "--lib", "model"][..]] {
        shell::run(
            cargo()
                .env("RUSTFLAGS", "--cfg loom")
                .args(["test", "--quiet", "--release", "--target-dir"])
                .arg(root().join("target/loom"))
                .args(tests),
        )?;
    }
    Ok(())
}

/// Everything else, among it the agent in real JVMs and the command line.
fn real_jvms() -> Result<()> {
    let mut tests = cargo();
    tests.args(["test", "--release", "--workspace"]);
    match jdks::install() {
        Ok(home) => {
            let mut jdks = home.into_os_string();
            if let Some(more) = std::env::var_os("TERRACE_JDKS") {
                jdks.push(":");
                jdks.push(more);
            }
            tests.env("TERRACE_JDKS", jdks);
        }
        Err(error) => eprintln!("skipped: Java runtime 21 from PyPI: {error}"),
    }
    shell::run(&mut tests)
}
