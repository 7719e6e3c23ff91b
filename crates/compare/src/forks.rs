//! Fork mode: whole JVMs in pairs, one after another or at the same time.
//!
//! For what is decided when a JVM starts: flags, the size of thread buffers, HotSpot's own growing strategy. While a JVM is measured
//! we sleep, whichever side it is.

mod run;

use crate::measure::{Amount, Pair};
use crate::memory::Memory;
use crate::side::Side;
use crate::{Comparison, Measured, machine, memory};
use jvm::agent::AgentOptions;
use jvm::{Error, Result};
use present::progress::Progress;
use run::Fork;
use statistics::Random;
use std::time::Duration;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// How the two JVMs of a pair are run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase", parse_err_ty = Error, parse_err_fn = unknown)]
pub enum Schedule {
    /// One after the other: right for every program, also one that exists once.
    #[default]
    Interleaved,
    /// At the same time: both meet the same machine. The program has to bear that.
    Concurrent,
}

impl Schedule {
    /// As the user writes it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// JVMs that run at the same time.
    const fn jvms(self) -> usize {
        match self {
            Schedule::Interleaved => 1,
            Schedule::Concurrent => 2,
        }
    }
}

fn unknown(text: &str) -> Error {
    Error::usage(format!("unknown schedule '{text}'; choose one of {}", Schedule::VARIANTS.join(", ")))
}

/// The order within each pair; `true` is A. By chance A B, B A or B A, A B for each two pairs: a drift that is steady favours nobody,
/// and neither does anything that has a rhythm.
fn order(pairs: usize, seed: u64) -> Vec<[bool; 2]> {
    let mut random = Random::new(seed);
    let blocks = (0..pairs.div_ceil(2)).flat_map(|_| {
        let first = random.coin();
        [[first, !first], [!first, first]]
    });
    blocks.take(pairs).collect()
}

/// As many pairs as fit into the duration, an even number of them and at least two.
fn pairs_in(duration: Duration, fork: Duration) -> usize {
    let pairs = (duration.as_secs_f64() / (2.0 * fork.as_secs_f64())).round() as usize;
    (pairs + pairs % 2).max(2)
}

pub(crate) fn measure(
    comparison: &Comparison,
    (fork, schedule): (Duration, Schedule),
    progress: &Progress,
) -> Result<Measured> {
    if schedule == Schedule::Interleaved {
        return scheduled(comparison, (fork, schedule), progress).map_err(Failure::into_error);
    }
    let why = match shortage(comparison)? {
        Some(shortage) => format!(
            "the JVMs of a pair run one after the other, because {shortage}: the ratio scatters more; use a machine with more memory, or \
             a smaller -Xmx, to run them at the same time"
        ),
        None => match scheduled(comparison, (fork, schedule), progress) {
            Ok(measured) => return Ok(measured),
            Err(Failure::OfFirst(error)) if !error.is_interruption() && !error.is_usage() => {
                format!("two JVMs could not run at the same time, so they ran one after the other: {error}")
            }
            Err(failure) => return Err(failure.into_error()),
        },
    };
    progress.line(&why);
    let mut measured =
        scheduled(comparison, (fork, Schedule::Interleaved), progress).map_err(Failure::into_error)?;
    measured.notes.push(why);
    Ok(measured)
}

/// Why the memory does not suffice for both sides' JVMs, if so.
fn shortage(comparison: &Comparison) -> Result<Option<String>> {
    let jvms = comparison.sides.iter().map(|side| comparison.options_of(side)).collect::<Result<Vec<_>>>()?;
    let memory = Memory { limit: machine::memory_bytes(), usable: machine::usable_bytes() };
    Ok(memory::shortage(&jvms, memory))
}

/// Of the first pair, when a user's program may not bear a second JVM beside it, or any other.
enum Failure {
    OfFirst(Error),
    Later(Error),
}

impl Failure {
    fn into_error(self) -> Error {
        match self {
            Failure::OfFirst(error) | Failure::Later(error) => error,
        }
    }
}

fn scheduled(
    comparison: &Comparison,
    (fork, schedule): (Duration, Schedule),
    progress: &Progress,
) -> std::result::Result<Measured, Failure> {
    let sides = comparison.sides.each_ref().map(|side| observed(comparison, side));
    let count = pairs_in(comparison.duration, fork);
    let each = fork + comparison.warmup;
    let [name_a, name_b] = sides.each_ref().map(|side| &side.name);
    progress.start(&format!("comparing {name_a} and {name_b} in forks"), each * 2 * count as u32);

    let is_ours = comparison.program.is_workload();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for (number, pair) in order(count, comparison.seed).into_iter().enumerate() {
        for (part, together) in pair.chunks(schedule.jvms()).enumerate() {
            let first = 2 * number + part + 1;
            progress.say(match together {
                [true] => format!("fork {first} of {}: {name_a}", 2 * count),
                [_] => format!("fork {first} of {}: {name_b}", 2 * count),
                _ => format!("forks {first} and {} of {}", first + 1, 2 * count),
            });
            let of = |is_a: &bool| if *is_a { &sides[0] } else { &sides[1] };
            let chosen: Vec<&Side> = together.iter().map(of).collect();
            let failed = if number == 0 && !is_ours { Failure::OfFirst } else { Failure::Later };
            let done = run::forks(comparison, &chosen, fork).map_err(failed)?;
            whole_runs(done.iter(), fork).map_err(failed)?;
            for (is_a, fork) in together.iter().zip(done) {
                if *is_a { a.push(fork) } else { b.push(fork) }
            }
            progress.passed(each * (first + together.len() - 1) as u32);
        }
    }
    measured(comparison, sides, (a, b), (fork, schedule)).map_err(Failure::Later)
}

/// Whether these ran to their ends. An error if only some did.
fn whole_runs<'a>(forks: impl Iterator<Item = &'a Fork> + Clone, fork: Duration) -> Result<bool> {
    let (all, whole) = (forks.clone().count(), forks.filter(|fork| fork.whole_run).count());
    if whole != 0 && whole != all {
        return Err(Error::failed(format!(
            "{whole} of {all} runs ended by themselves within {} s, the others did not; use a longer --fork-seconds to measure whole \
             runs, or a shorter one",
            fork.as_secs_f64()
        )));
    }
    Ok(whole > 0)
}

fn measured(
    comparison: &Comparison,
    sides: [Side; 2],
    (mut a, mut b): (Vec<Fork>, Vec<Fork>),
    (fork, schedule): (Duration, Schedule),
) -> Result<Measured> {
    let whole = whole_runs(a.iter().chain(&b), fork)?;
    let amount = match (whole, comparison.program.is_workload()) {
        (true, _) => Amount::Runs,
        (false, true) => Amount::Operations,
        (false, false) => Amount::Bytes,
    };
    let mut notes: Vec<String> = Vec::new();
    for note in a.iter().chain(&b).flat_map(|fork| &fork.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    let pairs = a.iter().zip(&b).map(|(a, b)| Pair { a: a.measure, b: b.measure, steps: None }).collect();
    let (Some(a), Some(b)) = (a.pop(), b.pop()) else {
        return Err(Error::failed("no fork was run"));
    };
    Ok(Measured {
        pairs,
        amount: Some(amount),
        operation: a.operation,
        report: None,
        names: sides.map(|side| side.name),
        settings: [a.settings, b.settings],
        flags: [a.flags, b.flags],
        command: a.command,
        window: None,
        latency: None,
        schedule: Some(schedule),
        notes,
    })
}

/// A workload counts its own operations; of any other program the bytes must be counted on both sides.
fn observed(comparison: &Comparison, side: &Side) -> Side {
    if comparison.program.is_workload() || side.agent.is_some() {
        return side.clone();
    }
    let agent = Some(AgentOptions::observing());
    Side { name: format!("{}, observed", side.name), agent, ..side.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_have_names() {
        assert_eq!("concurrent".parse::<Schedule>().unwrap(), Schedule::Concurrent);
        let error = "parallel".parse::<Schedule>().unwrap_err().to_string();
        assert!(error.contains("interleaved, concurrent"), "{error}");
        assert_eq!(Schedule::default().name(), "interleaved");
    }

    #[test]
    fn the_order_is_random_and_balanced_in_every_two_pairs() {
        let found = order(400, 1);
        assert!(found.iter().all(|[first, second]| first != second));
        assert!(found.chunks(2).all(|block| block[0] != block[1]));
        let a_first = found.chunks(2).filter(|block| block[0] == [true, false]).count();
        assert!((70..130).contains(&a_first), "{a_first} of 200");
        assert_eq!(found, order(400, 1), "the seed's");
        assert_ne!(found, order(400, 2));
        assert_eq!(order(3, 1)[..2], found[..2]);
    }

    #[test]
    fn pairs_are_even_in_number_so_that_both_orders_are_as_frequent() {
        let seconds = Duration::from_secs;
        assert_eq!(pairs_in(seconds(60), seconds(5)), 6);
        assert_eq!(pairs_in(seconds(50), seconds(5)), 6);
        assert_eq!(pairs_in(seconds(1), seconds(5)), 2);
    }
}
