//! What is found out before a JVM is started: sides that cannot be, or would not be what they are called.

use crate::side::Side;
use crate::{Comparison, Method, flags};
use control::Mode;
use jvm::agent::Levels;
use jvm::launch::Launch;
use jvm::{Error, Result, archive, jvm_options, loadable, option_names};
use std::time::Duration;

/// Stands behind a side's flags where it is looked at what comes after them.
const END: &str = "-Dterrace.flags=end";

impl Comparison {
    pub(crate) fn check(&self) -> Result<()> {
        for side in &self.sides {
            let given = [self.flags_of(side), vec![END.to_owned()]].concat();
            let launch = self.program.launch(&given, None, None, &self.install)?;
            check_flags(side, &jvm_options::of(&launch))?;
            if let Some(option) = archive::written_by(&launch) {
                return Err(Error::usage(format!(
                    "{option} writes a class data archive, which HotSpot does not do with any native agent; compare runs that use \
                     the finished archive (-XX:SharedArchiveFile)"
                )));
            }
            if side.agent.as_ref().is_some_and(|agent| agent.levels() != Levels::None) && uses_zgc(&launch) {
                return Err(Error::usage(
                    "ZGC already allocates from per-CPU pages, so that there are no buffers to compare; use terrace doctor, or another \
                     collector (serial, parallel, g1)",
                ));
            }
            if side.agent.is_some() {
                loadable::check(&self.install.agent()?, &launch.program)?;
            }
        }
        match self.method {
            Method::Windows { window, skip, .. } => self.check_windows(window, skip),
            Method::Forks { .. } if self.sides.iter().any(|side| side.mode() == Some(Mode::Bound)) => {
                Err(Error::usage(
                    "the bound is compared inside one JVM only; the other side has to be terrace or off, with the same \
                     settings and flags",
                ))
            }
            Method::Forks { .. } => Ok(()),
        }
    }

    fn check_windows(&self, window: Duration, skip: Duration) -> Result<()> {
        let [a, b] = &self.sides;
        let empty = |side: &Side| side.agent.as_ref().is_some_and(|agent| agent.levels() == Levels::None);
        if empty(a) || empty(b) {
            return Err(Error::usage(
                "--levels none has no buffers to switch on; specify levels, or use --b stock",
            ));
        }
        if !a.shares_jvm(b) {
            return Err(Error::usage(format!(
                "'{}' and '{}' cannot share one JVM; compare them in forks",
                a.name, b.name
            )));
        }
        if window <= skip {
            return Err(Error::usage(
                "--window must be longer than --skip; the defaults are 100 ms and 5 ms",
            ));
        }
        if 4 * window > self.duration {
            return Err(Error::usage(
                "--duration is too short for a pair (four windows); use a longer --duration or a shorter --window",
            ));
        }
        Ok(())
    }
}

/// Whether the command line says so; what a script says is seen by the agent.
fn uses_zgc(launch: &Launch) -> bool {
    let options = jvm_options::of(launch);
    let last = options.iter().rev().find(|option| option_names::sets(option).contains(&"UseZGC"));
    last.is_some_and(|option| option == "-XX:+UseZGC")
}

/// An error if one of the side's flags is overruled by one of the program's own. A script's own are seen when it runs ([`crate::in_force`]).
fn check_flags(side: &Side, options: &[String]) -> Result<()> {
    let end = options.iter().position(|option| option == END).map_or(options.len(), |at| at + 1);
    flags::overruled(&side.flags, &options[end..]).map_or(Ok(()), |found| Err(found.error(&side.name)))
}
