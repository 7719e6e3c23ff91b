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
    /// The JVM's process ID ('terrace top' lists them).
    #[arg(value_name = "PID", value_parser = crate::usage::process_number)]
    pub pid: u32,
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  terrace attach 4711
  terrace attach 4711 core=256k
  terrace attach 4711 levels=none       counts only
  terrace attach 4711 start=off         then: terrace on 4711

No JDK is needed. The JVM may be in a container and, for root, may belong to another user.
Flags that HotSpot reads at start-up keep their values: a fixed TLAB size (tlab=4k) applies
to threads started from then on. The agent stays until the JVM ends; after 'terrace off PID'
the JVM allocates as a stock one, but with a fixed TLAB size, if one was chosen. An agent
that only counts is withdrawn by 'terrace off PID', or when buffers are attached.

From JDK 21 on HotSpot prints a warning unless the JVM was started with
-XX:+EnableDynamicAgentLoading, and each switch of a virtual thread takes about 0.1 µs more
until the JVM ends. Where short-lived threads made it collect early, all of eden is filled
now, and up to 4.3 times as much memory is resident: a smaller -Xmn reduces it.")]
pub struct Attach {
    #[command(flatten)]
    process: Process,

    /// The agent's options (docs/options.md): levels, core, processor, tlab, report, log, start, bound, times, unknown.
    #[arg(value_name = "KEY=VALUE")]
    options: Vec<String>,
}

impl Attach {
    pub fn execute(self) -> Result<()> {
        jvm::os::note_signals();
        jvm::os::outlive_closed_pipes();
        let options = AgentOptions::read(&self.options)?;
        let tell = |line: &str| eprintln!("terrace: {line}");
        let status = switch::attach(self.process.pid, &options, &Install::here()?, tell)?;
        print!("{}", jvm::show::status(&status, present::table::columns()));
        Ok(())
    }
}

#[derive(Args)]
#[command(after_help = "\
Examples:
  terrace set 4711 core=256k
  terrace set 4711 core=64k processor=1m
  terrace set 4711 core=auto            adapts at collections again (status --why)
  terrace set 4711 core=formula         follows eden alone

A buffer gets its new size when it is next refilled. A size that is too large for the heap is
reduced, as when the agent is loaded.")]
pub struct Set {
    #[command(flatten)]
    process: Process,

    /// Sizes of buffers: bytes, a number with k, m or g, auto or formula.
    #[arg(value_name = "LEVEL=SIZE", required = true)]
    sizes: Vec<String>,
}

impl Set {
    pub fn execute(self) -> Result<()> {
        let wishes = self.sizes.iter().map(|word| Wish::read(word)).collect::<Result<Vec<Wish>>>()?;
        for resized in resize::resize(self.process.pid, &wishes)? {
            println!("{resized}");
        }
        Ok(())
    }
}

pub fn switched(process: &Process, mode: Mode, name: &str) -> Result<()> {
    // An observer is withdrawn on attach, whose file in the JVM's directory has to go first.
    jvm::os::note_signals();
    match switch::switch(process.pid, mode)? {
        Switched::From(before) => {
            println!("buffers {name}{}", if before == mode { ", as before" } else { "" })
        }
        Switched::Withdrawn => println!("observer withdrawn"),
    }
    Ok(())
}
