//! A table for other programs: a line for each metric of each cell.

use experiment::Quantity;
use experiment::results::Findings;
use experiment::results::SimulatedCell;
use lab::simulate;
use present::table::Table;

/// The columns behind the parameters'.
const COLUMNS: [&str; 7] = ["metric", "unit", "median", "low", "high", "values", "unavailable"];

/// The columns of the simulated cells.
const SIMULATED: [&str; 15] = [
    "experiment",
    "what",
    "threads",
    "metric",
    "unit",
    "measured",
    "measured_low",
    "measured_high",
    "simulated",
    "simulated_low",
    "simulated_high",
    "ratio",
    "agrees",
    "origin",
    "basis",
];

/// An experiment's cells in long format: the parameters in declared order, then the metric, its unit, the median with its
/// interval, the number of values, and why there is none. Numbers are in full, in the units that the header's neighbours give.
pub fn findings(findings: &Findings) -> String {
    let declaration = &findings.declaration;
    let keys: Vec<&str> = declaration.parameters.iter().map(|parameter| parameter.key.as_str()).collect();
    let mut table = Table::new(keys.iter().copied().chain(COLUMNS));
    for cell in &findings.cells {
        for metric in &declaration.metrics {
            let place = |key: &&str| cell.parameters.get(*key).map(ToString::to_string).unwrap_or_default();
            let mut line: Vec<String> = keys.iter().map(place).collect();
            line.extend([metric.key.clone(), metric.unit.clone()]);
            line.extend(match cell.metrics.get(&metric.key) {
                Some(Quantity::Known { interval, values }) => [
                    interval.median.to_string(),
                    interval.low.to_string(),
                    interval.high.to_string(),
                    values.len().to_string(),
                    String::new(),
                ],
                Some(Quantity::Unavailable { unavailable }) => none(unavailable),
                None => none("not measured in this cell"),
            });
            table.push(line);
        }
    }
    table.csv()
}

/// The simulated cells beside the measured ones, a line each; what `origin` and `agrees` mean is in docs/lab.md.
pub fn simulated(cells: &[SimulatedCell]) -> String {
    let row = |cell: &SimulatedCell| {
        let threads = cell.parameters.get("threads").map(ToString::to_string).unwrap_or_default();
        let numbers = [
            cell.measured.median,
            cell.measured.low,
            cell.measured.high,
            cell.simulated,
            cell.low,
            cell.high,
            cell.ratio,
        ];
        let words =
            [cell.experiment.clone(), simulate::name(cell), threads, cell.metric.clone(), cell.unit.clone()];
        let last = [cell.agrees.to_string(), cell.origin.name().to_owned(), cell.basis.clone()];
        words.into_iter().chain(numbers.map(|number| number.to_string())).chain(last).collect()
    };
    Table::new(SIMULATED).with(cells.iter().map(row)).csv()
}

fn none(reason: &str) -> [String; 5] {
    ["", "", "", "0", reason].map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::{Better, Declaration, Metric, Parameter, parameters};
    use lab::fixture;

    #[test]
    fn a_line_for_each_metric_of_each_cell_in_declared_order() {
        let text = findings(&fixture::atomics());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "operation,layout,threads,metric,unit,median,low,high,values,unavailable");
        assert!(lines[1].starts_with("lock add,shared line,1,ns,ns,"), "{}", lines[1]);
        assert!(lines[3].ends_with(",failed,,,,,0,this operation cannot fail"), "{}", lines[3]);
        assert_eq!(lines.len(), 1 + 6 * 3 * 5 * 4);
    }

    #[test]
    fn what_has_commas_quotes_and_lines_is_read_back() {
        let nasty = "a,\"b\"\nc </script> µ";
        let mut found = fixture::atomics();
        found.declaration = Declaration {
            parameters: vec![Parameter::new("word", "word", "")],
            metrics: vec![Metric::new("ns", "time", "ns", Better::Lower, "")],
            ..Declaration::default()
        };
        found.cells.truncate(1);
        found.cells[0].parameters = parameters([("word", nasty.into())]);
        let text = findings(&found);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let record = reader.records().next().unwrap().unwrap();
        assert_eq!(&record[0], nasty);
        let Quantity::Known { interval, values } = &found.cells[0].metrics["ns"] else { panic!() };
        assert_eq!(record[3].parse::<f64>().unwrap(), interval.median, "in full");
        assert_eq!(record[6], values.len().to_string());
    }
}
