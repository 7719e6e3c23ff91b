//! `terrace completions SHELL`, and the manual pages that a release brings along.

use crate::Cli;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use jvm::{Error, Result};
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "\
Examples:
  terrace completions bash > ~/.local/share/bash-completion/completions/terrace
  terrace completions zsh > \"${fpath[1]}/_terrace\"
  terrace completions fish > ~/.config/fish/completions/terrace.fish")]
pub struct Completions {
    shell: Shell,
}

impl Completions {
    pub fn execute(self) -> Result<()> {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "terrace", &mut text);
        print!("{}", String::from_utf8_lossy(&text));
        Ok(())
    }
}

#[derive(Args)]
pub struct Manual {
    /// The directory for the pages.
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: PathBuf,
}

impl Manual {
    pub fn execute(self) -> Result<()> {
        clap_mangen::generate_to(Cli::command(), &self.out)
            .map_err(|error| Error::failed(format!("{}: {error}", self.out.display())))
    }
}
