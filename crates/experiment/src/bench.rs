//! How much is measured, and where experiments are run.

use crate::Error;
use compare::machine::Host;
use jvm::install::Install;
use jvm::jdk::Jdk;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use strum::{EnumString, IntoStaticStr};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, EnumString, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "lowercase", parse_err_ty = Error, parse_err_fn = unknown)]
pub enum Effort {
    /// Every question answered in minutes, with few points.
    #[default]
    Quick,
    /// Every point of the sources, in hours.
    Full,
}

impl Effort {
    pub fn pick<T>(self, quick: T, full: T) -> T {
        match self {
            Effort::Quick => quick,
            Effort::Full => full,
        }
    }

    pub fn name(self) -> &'static str {
        self.into()
    }
}

fn unknown(text: &str) -> Error {
    Error::usage(format!("unknown effort '{text}'; choose quick or full"))
}

/// How much of a cell is measured, where the request says so; the experiment says the rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    pub rounds: Option<usize>,
    /// Seconds measured in each JVM, where two ways of running one are compared.
    pub seconds: Option<u64>,
    /// Seconds before it is measured.
    #[serde(default)]
    pub warmup: Option<u64>,
    /// Half of the interval's width, as a share, at which a cell needs no more of them.
    pub precision: Option<f64>,
}

/// Where experiments are run, and with what.
#[derive(Clone, Debug)]
pub struct Bench {
    pub effort: Effort,
    /// The JDKs, the one to use first. May be empty: cells that need one are then unavailable.
    pub jdks: Vec<Jdk>,
    pub install: Install,
    pub machine: Host,
    /// A folder for files that a run needs and nobody keeps.
    pub scratch: PathBuf,
    /// Whether kernel settings may be changed for a cell and put back.
    pub allow_sysctl: bool,
    pub wanted: Wanted,
}

impl Bench {
    /// Memory of this machine in bytes, or what a control group leaves of it.
    pub fn memory_bytes(&self) -> u64 {
        compare::machine::memory_bytes()
    }

    /// Seconds before a compared JVM is measured; `usual` is the experiment's.
    pub fn warmup(&self, usual: u64) -> u64 {
        self.wanted.warmup.unwrap_or(usual)
    }

    /// Of quick runs the first JDK, of full ones all.
    pub fn chosen_jdks(&self) -> &[Jdk] {
        &self.jdks[..self.effort.pick(self.jdks.len().min(1), self.jdks.len())]
    }

    /// 1, 2, 4 ... up to twice the CPUs: the numbers of threads that show contention on this machine.
    pub fn thread_counts(&self) -> Vec<u32> {
        let most = 2 * self.machine.cpus as u32;
        let mut counts: Vec<u32> = std::iter::successors(Some(1_u32), |count| Some(count * 2))
            .take_while(|count| *count < most)
            .collect();
        counts.push(most);
        counts
    }
}
