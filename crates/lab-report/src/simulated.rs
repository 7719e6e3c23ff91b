//! Simulated cells beside the measured ones: the words, the table and the plots.

use super::plots::{PlotView, plots};
use experiment::results::{Findings, Origin, Results, SimulatedCell};
use experiment::{
    Better, Declaration, Kind, MeasuredCell, Metric, Parameter, Plot, Quantity, Value, parameters,
};
use lab::simulate;
use lab::simulated::AGREEMENT;
use present::numbers;
use present::table::Table;
use serde::Serialize;
use statistics::Interval;

const TITLE: &str = "Simulated and measured";
const QUESTION: &str = "Do the latencies of this machine explain the measurements, in a model of coherent caches that executes the buffers' source?";

#[derive(Serialize)]
pub(super) struct Simulated {
    pub(super) title: &'static str,
    question: &'static str,
    /// Why there is nothing.
    pub(super) reason: Option<String>,
    pub(super) answer: String,
    pub(super) plots: Vec<PlotView>,
    pub(super) table: Table,
    /// How to read it.
    pub(super) words: Vec<String>,
}

impl Simulated {
    /// The section, if a run has cells for it.
    pub(super) fn new(results: &Results) -> Option<Simulated> {
        let cells = &results.simulated;
        let reason = simulate::lacking(results).filter(|_| cells.is_empty());
        (reason.is_some() || !cells.is_empty()).then(|| Simulated {
            title: TITLE,
            question: QUESTION,
            reason,
            answer: answer(cells),
            plots: drawn(cells),
            table: table(cells),
            words: if cells.is_empty() { Vec::new() } else { words(results) },
        })
    }
}

fn threads(cell: &SimulatedCell) -> String {
    cell.parameters.get("threads").map_or("–".into(), ToString::to_string)
}

/// Simulated with typical transfers, and from the fastest to the slowest.
fn interval(cell: &SimulatedCell) -> Interval {
    Interval { median: cell.simulated, low: cell.low, high: cell.high }
}

/// Less than this share between the fastest and the slowest transfer is not worth a reader's time.
const NO_RANGE: f64 = 0.005;

/// The simulated value; its range only where transfers matter.
fn simulated_text(cell: &SimulatedCell) -> String {
    if cell.high - cell.low <= NO_RANGE * cell.simulated {
        numbers::quantity(cell.simulated, &cell.unit)
    } else {
        numbers::interval(&interval(cell), &cell.unit)
    }
}

/// The cells of each experiment for a terminal, which has no room for all columns.
pub(super) fn narrow(cells: &[SimulatedCell]) -> Vec<Table> {
    let row = |cell: &SimulatedCell| {
        let verdict = match (cell.origin, cell.agrees) {
            (Origin::Calibrated, _) => "calibrated",
            (Origin::Predicted, true) => "within 25 %",
            (Origin::Predicted, false) => "off",
        };
        let ratio = numbers::significant(cell.ratio);
        let measured = numbers::interval(&cell.measured, &cell.unit);
        vec![simulate::name(cell), threads(cell), measured, simulated_text(cell), ratio, verdict.to_owned()]
    };
    let of_one = cells.chunk_by(|one, other| one.experiment == other.experiment);
    let table = |part: &[SimulatedCell]| {
        let name = part[0].experiment.as_str();
        Table::new([name, "threads", "measured", "simulated", "ratio", "verdict"]).with(part.iter().map(row))
    };
    of_one.map(table).collect()
}

/// How many predictions come out. Speed-ups are counted apart: where the measured ones are near 1, "no effect" would come out, too.
fn answer(cells: &[SimulatedCell]) -> String {
    let predicted = cells.iter().filter(|cell| cell.origin == Origin::Predicted);
    let (speedups, values): (Vec<&SimulatedCell>, Vec<&SimulatedCell>) =
        predicted.partition(|cell| cell.metric == "speedup");
    let agree = |cells: &[&SimulatedCell]| cells.iter().filter(|cell| cell.agrees).count();
    let calibrated = cells.len() - speedups.len() - values.len();
    let mut text = format!(
        "{} of {} predicted times and rates are within {:.0} % of the measured ones; {calibrated} more were used for calibration.",
        agree(&values),
        values.len(),
        AGREEMENT * 100.0,
    );
    let off = |cell: &SimulatedCell| cell.ratio.max(f64::MIN_POSITIVE).ln().abs();
    let worst = values.iter().filter(|cell| !cell.agrees).max_by(|a, b| off(a).total_cmp(&off(b)));
    if let Some(cell) = worst {
        let ratio = numbers::significant(cell.ratio);
        text += &format!(
            " Largest deviation, simulated over measured {ratio}: {}, threads {}.",
            simulate::name(cell),
            threads(cell)
        );
    }
    if !speedups.is_empty() {
        text += &format!(" Of the speed-ups by buffers, {} of {} are", agree(&speedups), speedups.len());
        let near = |cell: &&&SimulatedCell| (cell.measured.median - 1.0).abs() <= AGREEMENT;
        text += &match speedups.iter().filter(near).count() {
            0 => ".".to_owned(),
            near => format!(", which says little: {near} measured ones are that close to 1."),
        };
    }
    text
}

fn table(cells: &[SimulatedCell]) -> Table {
    let columns = [
        "experiment",
        "what",
        "threads",
        "metric",
        "measured",
        "simulated",
        "ratio",
        "within 25 %",
        "simulated is",
    ];
    let row = |cell: &SimulatedCell| {
        vec![
            cell.experiment.clone(),
            simulate::name(cell),
            threads(cell),
            metric_name(&cell.metric).to_owned(),
            numbers::interval(&cell.measured, &cell.unit),
            simulated_text(cell),
            numbers::significant(cell.ratio),
            if cell.agrees { "yes" } else { "no" }.to_owned(),
            cell.origin.name().to_owned(),
        ]
    };
    Table { names: 4, ..Table::new(columns) }.with(cells.iter().map(row))
}

fn metric_name(key: &str) -> &str {
    match key {
        "ns" => "time",
        "speedup" => "speed-up",
        "rate_off" => "class files",
        other => other,
    }
}

/// Plots over cells of our own, a measured and a simulated one for each.
fn drawn(cells: &[SimulatedCell]) -> Vec<PlotView> {
    let kinds = [
        (
            "ns",
            "Time, measured and simulated",
            "For counters, the wall time per increment of all threads together; for objects, the time that a thread spends on one.",
        ),
        ("speedup", "Speed-up of javac by buffers", "Over the same TLAB size without buffers."),
        ("rate_off", "javac without buffers", "Bytes of class files per second."),
    ];
    let there = kinds.into_iter().filter(|(key, ..)| cells.iter().any(|cell| cell.metric == *key));
    let (mut metrics, mut declared) = (Vec::new(), Vec::new());
    for (key, title, caption) in there {
        let unit = cells.iter().find(|cell| cell.metric == key).map_or("", |cell| cell.unit.as_str());
        let better = if key == "ns" { Better::Lower } else { Better::Higher };
        metrics.push(Metric::new(key, metric_name(key), unit, better, ""));
        let plot = Plot::new(Kind::Bars, title, key, "program", &["who"])
            .panels(&["experiment"])
            .only([("metric", key.into())])
            .caption(caption);
        declared.push(if key == "ns" { plot.log_y() } else { plot });
    }
    let one = |cell: &SimulatedCell, who: &str, interval: Interval| MeasuredCell {
        parameters: parameters([
            ("experiment", cell.experiment.as_str().into()),
            ("metric", cell.metric.as_str().into()),
            ("program", Value::from(format!("{}, threads {}", simulate::name(cell), threads(cell)))),
            ("who", who.into()),
        ]),
        metrics: [(cell.metric.clone(), Quantity::Known { interval, values: vec![interval.median] })].into(),
        ..MeasuredCell::default()
    };
    let both = |cell: &SimulatedCell| {
        [
            one(cell, "measured", cell.measured),
            one(cell, &format!("simulated, {}", cell.origin.name()), interval(cell)),
        ]
    };
    let keys = ["experiment", "program", "who", "metric"];
    let declaration = Declaration {
        name: "simulated".into(),
        title: TITLE.into(),
        parameters: keys.map(|key| Parameter::new(key, key, "")).into(),
        metrics,
        plots: declared,
        ..Declaration::default()
    };
    let cells = cells.iter().flat_map(both).collect();
    plots(&Findings { declaration, cells, ..Findings::default() })
}

/// How to read it, with this machine's transfers.
fn words(results: &Results) -> Vec<String> {
    let cells = &results.simulated;
    let mut words = vec![
        "A measured value has its 95 % interval in brackets, a simulated one its range from the fastest to the slowest line transfer of this run."
            .to_owned(),
    ];
    let machine = simulate::machine(results);
    for (key, between) in [
        ("costs.transfer_cluster", "cores of one last-level cache"),
        ("costs.transfer_package", "last-level caches of a package"),
        ("costs.transfer_remote", "packages"),
    ] {
        let Some(figure) = machine.as_ref().ok().and_then(|machine| machine.figure(key)) else { continue };
        let (low, high) = (figure.low.unwrap_or(figure.value), figure.high.unwrap_or(figure.value));
        let text = numbers::interval(&Interval { median: figure.value, low, high }, "ns");
        words.push(format!("Transferring a line between {between} took {text}."));
    }
    let reading = [
        "A virtual machine's CPUs may be any cores of the host, and different ones tomorrow: on one, transfers took from \
         40 to 200 ns, and contended lines become more expensive with it, while lines that a core owns do not. Compare \
         simulated and measured values within one run only.",
        "Predicted: determined by the latencies, and by what was calibrated on other cells. Calibrated: a parameter was fitted to this cell, so it agrees by construction, unless no permitted value reaches it.",
        "Not in the model: bandwidth, instructions that overlap a locked one, collections. With one thread, a locked \
         instruction's loads are charged although the processor hides them; large TLABs of several threads are in \
         reality limited by memory.",
    ];
    words.extend(reading.into_iter().chain(simulate::caveats(cells)).map(str::to_owned));
    let mut bases: Vec<String> = Vec::new();
    for cell in cells.iter().filter(|cell| cell.origin == Origin::Calibrated) {
        let text =
            format!("Calibrated on {}, threads {}: {}.", simulate::name(cell), threads(cell), cell.basis);
        if !bases.contains(&text) {
            bases.push(text);
        }
    }
    words.extend(bases);
    words.push("'terrace lab machine DIR' prints this machine as a file for the simulator.".to_owned());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{csv, page, text};
    use lab::fixture;

    #[test]
    fn the_page_the_tables_and_the_file_have_every_cell() {
        let results = fixture::simulable();
        let page = page(&results).unwrap();
        assert!(page.contains(r#"<section class="experiment" id="simulated""#));
        let tables = text::run(&results, 100);
        assert!(tables.contains("simulated: Simulated and measured"), "{tables}");
        let file = csv::simulated(&results.simulated);
        assert_eq!(file.lines().count(), 1 + results.simulated.len());
        assert!(file.starts_with("experiment,what,threads,metric,unit,measured,"), "{file}");
        for cell in &results.simulated {
            assert!(page.contains(&simulate::name(cell)), "{}", simulate::name(cell));
            assert!(file.contains(&simulate::name(cell).replace('"', "\"\"")), "{file}");
        }
        assert!((60..=100).contains(&present::table::widest(&tables)), "{tables}");
    }

    #[test]
    fn without_latencies_the_reason_stands_there_instead() {
        let results = fixture::results();
        let page = page(&results).unwrap();
        assert!(page.contains("Nothing is simulated: latencies were not measured"));
        assert!(!page.contains("data-experiment=\"simulated\""));
        assert!(text::run(&results, 100).contains("nothing simulated"));
        let mut unconcerned = fixture::results();
        unconcerned.experiments.retain(|findings| findings.declaration.name == "zeroing");
        assert!(Simulated::new(&unconcerned).is_none());
    }

    #[test]
    fn every_cell_is_drawn_measured_and_simulated() {
        let results = fixture::simulable();
        let section = Simulated::new(&results).unwrap();
        assert!(section.table.rows.iter().all(|row| row.len() == section.table.columns.len()));
        let drawn: usize = section.plots.iter().map(|view| view.drawing.matches(" point\"").count()).sum();
        assert_eq!((section.plots.len(), drawn), (3, 2 * results.simulated.len()));
    }

    #[test]
    fn the_answer_counts_predictions_only() {
        let results = fixture::simulable();
        let text = answer(&results.simulated);
        // Of 9 counters, 6 kinds of objects and 3 rates of javac, 1, 3 and 1 were calibrated on.
        assert!(text.contains("of 13 predicted times and rates") && text.contains("; 5 more"), "{text}");
        assert!(text.contains("2 of 2 are, which says little: 2 measured"), "{text}");
    }
}
