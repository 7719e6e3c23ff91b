//! Thread buffers refilled a thousand million times, in real JVMs of every collector and JDK, while buffers and levels are switched, the
//! heap is collected and walked, and the agent is loaded again and again: no verification error, no object damaged, no byte lost.

mod plan;
mod round;
mod state;

use crate::files::{at, bytes, fresh};
use crate::maven::compile;
use crate::{build, jdks};
use jvm::{Error, Result};
use plan::{Cell, RoundPlan};
use present::numbers;
use present::table::{Table, columns};
use round::Kit;
use state::{Counts, Done, Header, State};
use statistics::Random;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A soak that fails so often has shown it.
const MOST_FAILURES: u64 = 5;

/// Options of `soak`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Refills of thread buffers, over all rounds. Each collector on each JDK has at least one round.
    #[arg(long, default_value = "1e9", value_parser = refills)]
    refills: u64,
    /// Seed for all random choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Directory for the log of rounds and for failures.
    #[arg(long, default_value = "target/terrace/soak")]
    out: PathBuf,
    /// Resume the soak in --out.
    #[arg(long)]
    resume: bool,
    /// Run only this round, and keep its files.
    #[arg(long)]
    round: Option<u64>,
    /// Seconds for which each JVM is disturbed.
    #[arg(long, default_value_t = 20)]
    round_seconds: u64,
}

fn refills(text: &str) -> std::result::Result<u64, String> {
    let number: f64 = text.parse().map_err(|_| format!("'{text}' is not a number such as 1e9"))?;
    if (1.0..1e15).contains(&number) {
        Ok(number as u64)
    } else {
        Err("choose a number from 1 to 1e15".into())
    }
}

pub fn run(arguments: &Arguments) -> Result<()> {
    let folder = std::path::absolute(&arguments.out).map_err(at(&arguments.out))?;
    let agent = build::agent()?;
    let time = Duration::from_secs(arguments.round_seconds);
    let classes = folder.join("classes");
    compile("xtask/src/soak/Soak.java", &classes)?;
    let kit = Kit { classes, time, agent };
    let cells = cells()?;
    if let Some(number) = arguments.round {
        let (plan, outcome) = one(&kit, &cells, arguments.seed, number, &folder)?;
        println!("round {number}, {}: {}: {outcome:?}", plan.cell.name(), plan.options);
        return outcome.map(|_| ());
    }
    let header = Header { seed: arguments.seed, agent: hash(&kit.agent)? };
    let mut state = State::open(&folder, &header, arguments.resume)?;
    while !is_enough(&state, &cells, arguments.refills) {
        let number = state.done.len() as u64;
        let (plan, outcome) = one(&kit, &cells, arguments.seed, number, &folder)?;
        let (counts, failure) = match outcome {
            Ok(counts) => (counts, None),
            Err(error) if error.is_interruption() => {
                eprintln!("stopped in round {number}; continue with: {} --resume", again(arguments));
                return Err(error);
            }
            Err(error) => (Counts { rounds: 1, errors: 1, ..Counts::default() }, Some(error.to_string())),
        };
        if let Some(failure) = &failure {
            eprintln!("round {number}, {}, failed: {failure}", plan.cell.name());
            eprintln!(
                "kept in {}; repeat it: {} --round {number}",
                place(&folder, number).display(),
                again(arguments)
            );
        }
        let line = format!("round {number}, {}, {}", plan.cell.name(), plan.options);
        state.add(Done { round: number, cell: plan.cell.name(), counts: counts.clone(), failure })?;
        tell(&line, &counts, &state.total(), arguments.refills);
    }
    println!("{}", table(&state));
    let total = state.total();
    if total.errors > 0 {
        return Err(Error::failed(format!("{} of {} rounds failed; see above", total.errors, total.rounds)));
    }
    Ok(())
}

/// The command of this soak.
fn again(arguments: &Arguments) -> String {
    format!(
        "cargo xtask soak --refills {} --seed {} --round-seconds {} --out {}",
        arguments.refills,
        arguments.seed,
        arguments.round_seconds,
        arguments.out.display()
    )
}

fn is_enough(state: &State, cells: &[Cell], refills: u64) -> bool {
    let total = state.total();
    (total.refills >= refills && total.rounds >= cells.len() as u64) || total.errors >= MOST_FAILURES
}

/// Every collector of every supported JDK.
fn cells() -> Result<Vec<Cell>> {
    jdks::install()?;
    Ok(Cell::all(&jdks::measured()))
}

fn hash(path: &Path) -> Result<u64> {
    let bytes = bytes(path)?;
    let mut hasher = DefaultHasher::new();
    hasher.write(&bytes);
    Ok(hasher.finish())
}

fn place(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("round-{number}"))
}

/// Runs a round; what it leaves is thrown away if all went well.
fn one(
    kit: &Kit,
    cells: &[Cell],
    seed: u64,
    number: u64,
    folder: &Path,
) -> Result<(RoundPlan, Result<Counts>)> {
    // Neighbouring seeds and rounds have nothing in common.
    let mut random =
        Random::new(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ number.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let plan = RoundPlan::new(cells, number, &mut random);
    let place = place(folder, number);
    fresh(&place)?;
    let outcome = round::run(kit, &plan, &place, &mut random);
    if outcome.is_ok() {
        let _ = std::fs::remove_dir_all(&place);
    }
    Ok((plan, outcome))
}

fn tell(line: &str, counts: &Counts, total: &Counts, goal: u64) {
    let rate = total.refills as f64 / total.seconds.max(1e-9);
    let left = goal.saturating_sub(total.refills) as f64 / rate.max(1.0);
    eprintln!(
        "{line}: {} refills in {} | {} of {}, {}/s, about {} left",
        numbers::count(counts.refills as f64),
        numbers::duration(counts.seconds),
        numbers::count(total.refills as f64),
        numbers::count(goal as f64),
        numbers::count(rate),
        numbers::duration(left)
    );
}

fn table(state: &State) -> String {
    let mut cells: BTreeMap<&str, Counts> = BTreeMap::new();
    for done in &state.done {
        cells.entry(&done.cell).or_default().add(&done.counts);
    }
    let mut table = Table::new([
        "collector, JDK",
        "rounds",
        "TLAB refills",
        "buffer refills",
        "pauses",
        "walks",
        "attaches",
        "switches",
        "objects checked",
        "errors",
    ]);
    let total = state.total();
    for (name, counts) in cells.into_iter().chain([("all", total)]) {
        let rounded = |number: u64| numbers::count(number as f64);
        table.push([
            name.to_owned(),
            counts.rounds.to_string(),
            rounded(counts.refills),
            rounded(counts.buffer_refills),
            counts.pauses.to_string(),
            counts.walks.to_string(),
            counts.attaches.to_string(),
            counts.switches.to_string(),
            rounded(counts.checked),
            counts.errors.to_string(),
        ]);
    }
    table.text(columns())
}
