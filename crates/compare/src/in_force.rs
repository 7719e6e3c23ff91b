//! Whether a side's flags are in force: a script may start its JVM with others, which come after them.

use crate::flags::{Overruled, overruled};
use crate::side::Side;
use jvm::observe::Jvms;
use jvm::{Result, jvm_options};
use std::collections::BTreeSet;

/// Looks at each JVM of a side once.
pub(crate) struct InForce {
    side: String,
    flags: Vec<String>,
    /// The last of all flags that the JVM was given, which no other JVM has: what stands behind it is the program's own.
    last: Option<String>,
    seen: BTreeSet<u32>,
    /// JVMs whose options are known.
    known: usize,
    overruled: Vec<Overruled>,
}

impl InForce {
    /// `given` are all flags of its JVM, in their order, the last of which is unique.
    pub fn new(side: &Side, given: &[String]) -> InForce {
        InForce {
            side: side.name.clone(),
            flags: side.flags.clone(),
            last: given.last().cloned(),
            seen: BTreeSet::new(),
            known: 0,
            overruled: Vec::new(),
        }
    }

    /// Looks at JVMs that are new. What is not known of one, such as one that has ended, is not held against it.
    pub fn look(&mut self, jvms: &Jvms) {
        if self.flags.is_empty() {
            return;
        }
        for pid in jvms.processes() {
            if self.seen.insert(pid)
                && let Some(options) = jvm_options::of_process(pid)
            {
                self.add(&options);
            }
        }
    }

    fn add(&mut self, options: &[String]) {
        let Some(at) = options.iter().position(|option| Some(option) == self.last.as_ref()) else { return };
        self.known += 1;
        self.overruled.extend(overruled(&self.flags, &options[at + 1..]));
    }

    /// An error if a flag is in force in none of them.
    pub fn check(&self) -> Result<()> {
        match self.overruled.first() {
            Some(found) if self.overruled.len() == self.known => Err(found.error(&self.side)),
            _ => Ok(()),
        }
    }

    /// Of several JVMs of a program some may have a flag of their own.
    pub fn note(&self) -> Option<String> {
        let Overruled { flag, by } = self.overruled.first()?;
        Some(format!(
            "{flag} of '{}' is not in force in {} of {} JVMs, because their own {by} comes after it; remove it there, or compare the others alone",
            self.side,
            self.overruled.len(),
            self.known
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_flag_is_in_force_unless_each_jvm_has_its_own() {
        let side = Side::stock().with_flags(&words("-Xmn32m -Xmx128m"));
        let given = words("-agentpath:/x -Xmn32m -Xmx128m -Xlog:gc:/tmp/1");
        let found = |jvms: &[&str]| {
            let mut in_force = InForce::new(&side, &given);
            jvms.iter().for_each(|own| in_force.add(&words(&format!("-Xmx1g {} {own}", given.join(" ")))));
            (in_force.check().map_err(|error| error.to_string()), in_force.note())
        };
        assert_eq!(found(&["-Xss1m", "-Xlog:gc"]), (Ok(()), None));
        let said = found(&["-Xmx64m"]).0.unwrap_err();
        assert!(said.starts_with("-Xmx128m of 'stock -Xmn32m -Xmx128m' has no effect"), "{said}");
        assert!(said.contains("the program's own -Xmx64m comes after it"), "{said}");
        let (checked, note) = found(&["-XX:MaxHeapSize=64m", "-Xss1m"]);
        assert!(checked.is_ok() && note.unwrap().contains("is not in force in 1 of 2 JVMs"));
    }

    #[test]
    fn a_jvm_that_was_given_other_flags_says_nothing() {
        let side = Side::stock().with_flags(&words("-Xmx128m"));
        let mut in_force = InForce::new(&side, &words("-Xmx128m -Xlog:gc:/tmp/1"));
        in_force.add(&words("-Xmx64m -jar app.jar"));
        assert_eq!((in_force.check(), in_force.note()), (Ok(()), None));
    }
}
