//! `terrace attach PID`, `terrace on PID`, `terrace off PID`, `terrace set PID`.

use clap::Args;
use control::Mode;
use jvm::Result;
use jvm::agent::AgentOptions;
use jvm::install::Install;
use jvm::resize::{self, Wish};
use jvm::switch::{self, Switched};

/// A JVM that runs.
#[derive(Args)]
pub struct Process {
    /// The JVM's process ID ('jps' lists them).
    #[arg(value_name = "PID", value_parser = crate::usage::process_number)]
    pub pid: u32,
}

/// Arguments of `attach`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  terrace attach 4711
  terrace attach 4711 core=256k
  terrace attach 4711 levels=none       counts only
  terrace attach 4711 start=off         then: terrace on 4711

No JDK is needed. The JVM may be in a container, and as root it may be another user's.
Flags that HotSpot reads at its start keep their values: a fixed TLAB size (tlab=4k) holds
for threads that start from then on. The agent stays until the JVM ends; 'terrace off PID'
has the JVM go on as a stock one. One that only counts is withdrawn by 'terrace off PID', or
when buffers are attached.")]
pub struct Attach {
    #[command(flatten)]
    process: Process,

    /// The agent's options (docs/options.md): levels, core, processor, tlab, report, log, start, bound, times.
    #[arg(value_name = "KEY=VALUE")]
    options: Vec<String>,
}

impl Attach {
    /// Loads the agent, and says what came of it.
    pub fn execute(self) -> Result<()> {
        jvm::os::note_signals();
        let options = AgentOptions::read(&self.options)?;
        let tell = |line: &str| eprintln!("terrace: {line}");
        let status = switch::attach(self.process.pid, &options, &Install::here()?, tell)?;
        print!("{}", jvm::show::status(&status, present::table::columns()));
        Ok(())
    }
}

/// Arguments of `on`.
#[derive(Args)]
pub struct On {
    #[command(flatten)]
    process: Process,
}

impl On {
    /// Switches.
    pub fn execute(self) -> Result<()> {
        switched(self.process.pid, Mode::On, "on")
    }
}

/// Arguments of `off`.
#[derive(Args)]
pub struct Off {
    #[command(flatten)]
    process: Process,
}

impl Off {
    /// Switches.
    pub fn execute(self) -> Result<()> {
        switched(self.process.pid, Mode::Off, "off")
    }
}

/// Arguments of `set`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  terrace set 4711 core=256k
  terrace set 4711 core=64k processor=1m
  terrace set 4711 core=auto            follows what is seen at collections again (status --why)
  terrace set 4711 core=formula         by eden alone, whatever is seen

A buffer takes its new size when it is refilled. A size that the heap does not bear is reduced,
as when the agent is loaded.")]
pub struct Set {
    #[command(flatten)]
    process: Process,

    /// The sizes of buffers: bytes, a number with k, m or g, auto or formula.
    #[arg(value_name = "LEVEL=SIZE", required = true)]
    sizes: Vec<String>,
}

impl Set {
    /// Asks for the sizes, and says which are in force.
    pub fn execute(self) -> Result<()> {
        let wishes = self.sizes.iter().map(|word| Wish::read(word)).collect::<Result<Vec<Wish>>>()?;
        for resized in resize::resize(self.process.pid, &wishes)? {
            println!("{resized}");
        }
        Ok(())
    }
}

fn switched(pid: u32, mode: Mode, name: &str) -> Result<()> {
    match switch::switch(pid, mode)? {
        Switched::From(before) => {
            println!("buffers {name}{}", if before == mode { ", as before" } else { "" })
        }
        Switched::Withdrawn => println!("observer withdrawn"),
    }
    Ok(())
}
