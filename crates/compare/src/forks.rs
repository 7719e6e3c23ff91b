//! Fork mode: whole JVMs in turn, in pairs.
//!
//! For what is decided when a JVM starts: flags, the size of thread buffers, HotSpot's own growing strategy. While a JVM is measured
//! we sleep, whichever side it is.

use crate::measure::{Amount, Measure, Pair};
use crate::side::Side;
use crate::{Comparison, Measured};
use jvm::agent::AgentOptions;
use jvm::arrival::{await_agent, had_agent};
use jvm::counts::Counts;
use jvm::heap_log;
use jvm::launch::Launch;
use jvm::observe::Jvms;
use jvm::os::{self, Exit};
use jvm::running::Running;
use jvm::workload::Report;
use jvm::{Error, Result};
use present::progress::Progress;
use serde_json::Value;
use statistics::Random;
use std::time::{Duration, Instant};

/// How much longer than asked a workload may take.
const SLACK: Duration = Duration::from_secs(180);
/// How often what a script's JVMs have allocated is read: the accounts of one that has ended are gone.
const READ: Duration = Duration::from_millis(100);

/// The logs of collections: this, and the process ID.
const HEAP_LOG: &str = "heap-";

struct Fork {
    measure: Measure,
    whole_run: bool,
    operation: Option<String>,
    settings: Value,
    flags: Vec<String>,
    command: String,
    notes: Vec<String>,
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

pub(crate) fn measure(comparison: &Comparison, fork: Duration, progress: &Progress) -> Result<Measured> {
    let sides = comparison.sides.each_ref().map(|side| observed(comparison, side));
    let count = pairs_in(comparison.duration, fork);
    let each = fork + comparison.warmup;
    let [name_a, name_b] = sides.each_ref().map(|side| &side.name);
    progress.start(&format!("comparing {name_a} and {name_b} in forks"), each * 2 * count as u32);

    let (mut a, mut b) = (Vec::new(), Vec::new());
    for (number, pair) in order(count, comparison.seed).into_iter().enumerate() {
        for (second, is_a) in pair.into_iter().enumerate() {
            progress.say(format!(
                "fork {} of {}: {}",
                2 * number + second + 1,
                2 * count,
                if is_a { name_a } else { name_b }
            ));
            let (side, done) = if is_a { (&sides[0], &mut a) } else { (&sides[1], &mut b) };
            done.push(one(comparison, side, fork)?);
            progress.passed(each * (2 * number + second + 1) as u32);
        }
    }

    let whole = a.iter().chain(&b).filter(|fork| fork.whole_run).count();
    if whole != 0 && whole != 2 * count {
        return Err(Error::failed(format!(
            "{whole} of {} runs ended by themselves within {} s, the others did not; use a longer --fork-seconds to measure whole \
             runs, or a shorter one",
            2 * count,
            fork.as_secs_f64()
        )));
    }
    let amount = match (whole > 0, comparison.program.is_workload()) {
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
    let pairs = a.iter().zip(&b).map(|(a, b)| Pair { a: a.measure, b: b.measure, calls: None }).collect();
    let (Some(a), Some(b)) = (a.pop(), b.pop()) else {
        return Err(Error::failed("no fork was run"));
    };
    Ok(Measured {
        pairs,
        amount: Some(amount),
        operation: a.operation,
        names: sides.map(|side| side.name),
        settings: [a.settings, b.settings],
        flags: [a.flags, b.flags],
        command: a.command,
        window: None,
        latency: None,
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

fn one(comparison: &Comparison, side: &Side, fork: Duration) -> Result<Fork> {
    let mut jvms = Jvms::new()?;
    let mut flags = Vec::new();
    if let Some(agent) = &side.agent {
        flags.push(jvms.options(agent).flag(&comparison.install.agent()?)?);
    }
    flags.extend(comparison.flags_of(side));
    // Last: what is written on the command line itself stays readable.
    flags.push(heap_log::flag(&jvms.directory().join(format!("{HEAP_LOG}%p"))));
    let seconds = fork.as_secs_f64().ceil() as u64;
    let program = comparison.program.for_seconds(seconds, comparison.warmup);
    let launch = program.launch(&flags, None, None, &comparison.install)?;
    let running = Running::start(&launch, comparison.show)?;
    if program.is_workload() {
        workload(running, jvms, side.agent.is_some(), fork + comparison.warmup, flags, &launch)
    } else {
        command(running, jvms, comparison.warmup, fork, flags, &launch)
    }
}

/// A workload measures itself.
fn workload(
    mut running: Running,
    mut jvms: Jvms,
    observed: bool,
    length: Duration,
    flags: Vec<String>,
    launch: &Launch,
) -> Result<Fork> {
    if running.wait(length + SLACK)?.is_none() {
        return Err(Error::failed(format!(
            "the workload did not end within {} s",
            (length + SLACK).as_secs()
        )));
    }
    match observed {
        true => had_agent(&mut running, &mut jvms)?,
        false => running.check()?,
    }
    let report = Report::read(&running.output())?;
    let counts = observed.then(|| jvms.counts());
    let measure = Measure {
        seconds: report.seconds,
        cpu_seconds: report.cpu_seconds,
        application_cpu_seconds: None,
        stopped: None,
        operations: Some(report.operations),
        bytes: report.allocated_bytes,
        collections: report.collections,
        collection_seconds: report.collection_seconds,
        heap_used: report
            .measured()
            .and_then(|(from, to)| heap_log::used_up_by_all(jvms.directory(), HEAP_LOG, from, to)),
        waste: counts.map(|counts| counts.waste),
        requests: counts.map(|counts| counts.requests),
    };
    Ok(Fork {
        measure,
        whole_run: false,
        operation: Some(report.operation),
        settings: jvms.settings(),
        flags,
        command: launch.describe(),
        notes: jvms.notes(),
    })
}

/// Any other program is measured from the end of its warm-up until its time is over, or as a whole if it ends before.
fn command(
    mut running: Running,
    mut jvms: Jvms,
    warmup: Duration,
    fork: Duration,
    flags: Vec<String>,
    launch: &Launch,
) -> Result<Fork> {
    await_agent(&mut running, &mut jvms)?;
    let since = Instant::now();
    let read = if launch.is_java() { Duration::MAX } else { READ };
    let mut first = Counts::default();
    let mut ended = pass(&mut running, &mut jvms, since + warmup, read)?;
    if ended.is_none() {
        first = jvms.counts();
        ended = pass(&mut running, &mut jvms, since + warmup + fork, read)?;
    }
    let (measure, notes) = match ended {
        Some((exit, time)) => {
            had_agent(&mut running, &mut jvms)?;
            let whole = Measure::between(&Counts::default(), &jvms.counts());
            let heap_used = used_up(&jvms, os::monotonic().saturating_sub(time));
            let cpu_seconds = Some(exit.cpu.as_secs_f64());
            // The accounts of a JVM that has ended are gone, and a run is a run.
            (
                Measure { seconds: time.as_secs_f64(), cpu_seconds, bytes: None, heap_used, ..whole },
                jvms.notes(),
            )
        }
        None => {
            let counts = jvms.counts();
            let measure =
                Measure { heap_used: used_up(&jvms, first.at), ..Measure::between(&first, &counts) };
            running.end()?;
            (measure, jvms.notes().into_iter().chain(jvms.uncounted()).collect())
        }
    };
    Ok(Fork {
        measure,
        whole_run: ended.is_some(),
        operation: None,
        settings: jvms.settings(),
        flags,
        command: launch.describe(),
        notes,
    })
}

/// Of the heap since then, by all JVMs.
fn used_up(jvms: &Jvms, since: Duration) -> Option<f64> {
    heap_log::used_up_by_all(jvms.directory(), HEAP_LOG, since, os::monotonic())
}

/// Lets time pass until then or the program's end, whose exit and time it gives. In between it reads as often as `read` says.
fn pass(
    running: &mut Running,
    jvms: &mut Jvms,
    until: Instant,
    read: Duration,
) -> Result<Option<(Exit, Duration)>> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        let ended = running.wait(left.min(read))?;
        jvms.refresh()?;
        if ended.is_some() || left <= read {
            return Ok(ended);
        }
        jvms.read_accounts();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
