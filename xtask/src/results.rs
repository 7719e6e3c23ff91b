//! The kept results, `docs/results.json`, and the tables of README.md and of the pages that are made from them: a figure stands in one
//! place.

mod exceptions;
mod summary;
mod tables;

use crate::files::{text as file_text, write};
use crate::launches;
use crate::shell::root;
use jvm::{Error, Result};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use tables::Column::{self, Both, Interval, Median, Words};
use tables::{Gathered, LAUNCHES, PROGRAM, TABLES, Table};

/// Options of `results`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Directories of runs that replace the kept results of their experiments, such as target/terrace/demo; without any, only the tables are rewritten.
    #[arg(value_name = "DIR")]
    runs: Vec<PathBuf>,

    /// Keep the cells that these runs did not measure: for long experiments that are measured in parts.
    #[arg(long, requires = "runs")]
    add: bool,

    /// Files written by launches of real JVMs (cargo xtask test --all), for README's table of JDKs and collectors.
    #[arg(long, value_name = "FILE")]
    launches: Vec<PathBuf>,

    /// Change nothing; fail if a table differs from the kept results.
    #[arg(long, conflicts_with_all = ["runs", "launches"])]
    check: bool,
}

const KEPT: &str = "docs/results.json";

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn number(cell: &Value, metric: &str, at: usize) -> Option<f64> {
    cell[metric][at].as_f64()
}

/// Words with a cell's parameters.
fn filled(words: &str, cell: &Value) -> String {
    let (processes, jvms) = match cell["processes"].as_u64() {
        Some(1) => ("one process".to_owned(), "1 JVM".to_owned()),
        count => {
            let count = count.unwrap_or_default();
            (format!("{count} processes"), format!("{count} JVMs"))
        }
    };
    let words = words.replace("{processes}", &processes).replace("{jvms}", &jvms);
    let parameters = cell.as_object().into_iter().flatten();
    parameters.fold(words, |words, (key, value)| words.replace(&format!("{{{key}}}"), &text(value)))
}

/// What stands where a value is not, and the key of the reason.
const UNAVAILABLE: &str = "unavailable";

impl Column {
    fn of(&self, cell: &Value) -> String {
        let lacks = |metric: &str| match cell[metric][UNAVAILABLE].as_str() {
            // Without the remedy, which is for who runs it; and a bar would end the table's cell.
            Some(why) => {
                let why = why.split_once("; ").map_or(why, |(why, _)| why);
                present::numbers::lacking(&why.replace('|', "/"))
            }
            None => UNAVAILABLE.to_owned(),
        };
        let median = |metric: &str, digits: usize| Some(format!("{:.digits$}", number(cell, metric, 0)?));
        match self {
            Words(words) => filled(words, cell),
            Interval(metric, digits) => interval(cell, metric, *digits).unwrap_or_else(|| lacks(metric)),
            Median(metric, digits) => median(metric, *digits).unwrap_or_else(|| lacks(metric)),
            Both(a, b) => {
                let both = median(a, 0).zip(median(b, 0));
                both.map_or_else(|| lacks(a), |(a, b)| format!("{a} : {b}"))
            }
        }
    }
}

/// `1.32 [1.28, 1.35]`.
fn interval(cell: &Value, metric: &str, digits: usize) -> Option<String> {
    let [median, low, high] = [0, 1, 2].map(|at| number(cell, metric, at));
    Some(format!("{:.digits$} [{:.digits$}, {:.digits$}]", median?, low?, high?))
}

impl Table {
    /// The table in Markdown.
    fn show(&self, kept: &Value) -> String {
        if self.experiment == LAUNCHES {
            return launches::table(&kept[LAUNCHES]);
        }
        let wanted = |cell: &&Value| self.only.is_none_or(|(key, value)| cell[key] == value);
        let cells: Vec<&Value> =
            kept[self.experiment]["cells"].as_array().into_iter().flatten().filter(wanted).collect();
        match self.gathered {
            Some(Gathered::By(key)) => return summary::by(&cells, key),
            Some(Gathered::Counted) => return exceptions::counted(&cells),
            Some(Gathered::Narrow) => return exceptions::narrow(&cells),
            Some(Gathered::Listed) => return exceptions::listed(&cells, PROGRAM),
            None => {}
        }
        // What all cells have in common is known without any.
        let common = self.only.map_or(Value::Null, |(key, value)| json!({ key: value }));
        let first = cells.first().copied().unwrap_or(&common);
        let mut header: Vec<String> = self.columns.iter().map(|(name, _)| filled(name, first)).collect();
        let mut rows: Vec<(Vec<String>, Vec<String>)> = Vec::new();
        let shares = |cell: &&Value| self.together.is_some_and(|(key, value)| cell[key] == value);
        let (together, cells): (Vec<&Value>, Vec<&Value>) = cells.into_iter().partition(shares);
        for cell in cells {
            let words: Vec<String> = self.columns.iter().map(|(_, column)| column.of(cell)).collect();
            if rows.last().is_none_or(|(last, _)| self.across.is_none() || *last != words) {
                rows.push((words, Vec::new()));
            }
            if let (Some((key, column)), Some((_, values))) = (self.across, rows.last_mut()) {
                let size = cell[key].as_u64().map(jvm::size::format);
                let name =
                    size.map_or_else(|| text(&cell[key]), |size| format!("{} {size}", key.to_uppercase()));
                if !header.contains(&name) {
                    header.push(name);
                }
                values.push(column.of(cell));
            }
        }
        if let (Some((_, value)), [first, ..]) = (self.together, &together[..]) {
            let names: Vec<String> = together.iter().map(|cell| self.columns[0].1.of(cell)).collect();
            let columns = self.columns.iter().skip(1).map(|(_, column)| match column {
                Words(_) => column.of(first),
                _ => "-".to_owned(),
            });
            debug_assert!(columns.clone().any(|column| column == value), "a column says what they share");
            rows.push(([names.join("; ")].into_iter().chain(columns).collect(), Vec::new()));
        }
        let line = |words: &[String]| format!("| {} |\n", words.join(" | "));
        let rule = "---|".repeat(header.len());
        let rows: String = rows.into_iter().map(|(words, values)| line(&[words, values].concat())).collect();
        format!("{}|{rule}\n{rows}", line(&header))
    }
}

/// A document with this table in its place.
fn placed(document: &str, table: &Table, shown: &str) -> Result<String> {
    let mark = format!("<!-- {} -->\n", table.name);
    let (before, after) = document.split_once(&mark).ok_or_else(|| {
        Error::failed(format!("{} has no line '{}'; add it where the table belongs", table.file, mark.trim()))
    })?;
    // A place may still be without a table.
    let end = if after.starts_with('\n') { Some(0) } else { after.find("\n\n").map(|end| end + 1) };
    let rest = end.map_or("", |end| &after[end..]);
    Ok(format!("{before}{mark}{shown}{rest}"))
}

fn parsed(path: &Path) -> Result<Value> {
    serde_json::from_str(&file_text(path)?)
        .map_err(|error| Error::failed(format!("{}: {error}; restore it, or measure again", path.display())))
}

/// What is kept of a run's experiments: medians with intervals, not the single values.
fn summary(run: &Value) -> Map<String, Value> {
    let rounded = |value: &Value| {
        let digits = |value: f64| format!("{value:.4e}").parse().unwrap_or(value);
        value.as_f64().map(digits)
    };
    let cell = |cell: &Value| {
        let mut kept = cell["parameters"].as_object().cloned().unwrap_or_default();
        for value in kept.values_mut() {
            if let Some(whole) = value.as_f64().filter(|number| number.fract() == 0.0) {
                *value = json!(whole as u64);
            }
        }
        kept.insert("processes".into(), cell["processes"].clone());
        kept.insert(STARTED.into(), run[STARTED].clone());
        for (metric, found) in cell["metrics"].as_object().into_iter().flatten() {
            let interval = ["median", "low", "high"].map(|end| rounded(&found[end]));
            // `heap` is how much there is, and how much of it was used up.
            let is_parameter = cell["parameters"].get(metric).is_some();
            let name = if is_parameter { format!("{metric}_ratio") } else { metric.clone() };
            if interval.iter().all(Option::is_some) {
                kept.insert(name, json!(interval));
            } else if let Some(why) = found[UNAVAILABLE].as_str() {
                kept.insert(name, json!({ UNAVAILABLE: why }));
            }
        }
        Value::Object(kept)
    };
    let experiment = |found: &Value| {
        let cells: Vec<Value> = found["cells"].as_array().into_iter().flatten().map(cell).collect();
        let machine = &run["machine"];
        let kept = json!({ "command": run["command"], "started_unix": run["started_unix"],
            "machine": { "model": machine["model"], "cpus": machine["cpus"], "kernel": machine["kernel"],
                "jdks": machine["jdks"] },
            "cells": cells });
        (text(&found["declaration"]["name"]), kept)
    };
    run["experiments"].as_array().into_iter().flatten().map(experiment).collect()
}

fn cells(experiment: Option<&Value>) -> Vec<Value> {
    experiment.and_then(|found| found["cells"].as_array()).cloned().unwrap_or_default()
}

/// When the run of a cell began: an experiment's cells are of several.
const STARTED: &str = "started_unix";
/// How often a cell was measured before: who measures only losses again finds fewer of them than there are.
const REPLACED: &str = "replaced";
const NO_PARAMETERS: [&str; 3] = ["processes", STARTED, REPLACED];

/// Old cells, each replaced by a new one of the same parameters, and the other new ones behind them. What an interrupted run has not measured takes
/// nothing's place.
fn joined(mut old: Vec<Value>, new: Vec<Value>) -> Vec<Value> {
    let is_measured = |cell: &Value| cell.as_object().is_some_and(|cell| cell.values().any(Value::is_array));
    // Metrics are arrays, or objects with the reason why they lack; how many processes there were, and when, is no parameter.
    let parameters = |cell: &Value| -> Map<String, Value> {
        let is = |(key, value): &(&String, &Value)| {
            !value.is_array() && !value.is_object() && !NO_PARAMETERS.contains(&key.as_str())
        };
        let all = cell.as_object().into_iter().flatten();
        all.filter(is).map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    let first = old.is_empty();
    for mut cell in new.into_iter().filter(|cell| first || is_measured(cell)) {
        match old.iter_mut().find(|old| parameters(old) == parameters(&cell)) {
            Some(old) => {
                cell[REPLACED] = json!(old[REPLACED].as_u64().unwrap_or(0) + 1);
                *old = cell;
            }
            None => old.push(cell),
        }
    }
    old
}

/// A line for each cell.
fn lines(kept: &Value) -> String {
    kept.to_string()
        .replace("},{", "},\n{")
        .replace("\"cells\":[", "\"cells\":[\n")
        .replace("],\"command", "],\n\"command")
        + "\n"
}

/// Takes runs into what is kept, and writes the tables; or checks them.
pub fn run(arguments: &Arguments) -> Result<()> {
    let path = root().join(KEPT);
    let mut kept = parsed(&path)?;
    for folder in &arguments.runs {
        let run = parsed(&folder.join("results.json"))?;
        if let Some(kept) = kept.as_object_mut() {
            let summary = summary(&run);
            let before = |name: &String| if arguments.add { cells(kept.get(name)) } else { Vec::new() };
            let old: Vec<(String, Vec<Value>)> =
                summary.keys().map(|name| (name.clone(), before(name))).collect();
            kept.extend(summary);
            for (name, old) in old {
                kept[&name]["cells"] = joined(old, cells(kept.get(&name))).into();
            }
        }
    }
    for file in &arguments.launches {
        kept[LAUNCHES] = launches::taken(&kept[LAUNCHES], &file_text(file)?)?;
    }
    if !arguments.check {
        write(&path, lines(&kept))?;
    }
    for table in &TABLES {
        let path = root().join(table.file);
        let (document, shown) = (file_text(&path)?, table.show(&kept));
        let expected = placed(&document, table, &shown)?;
        if arguments.check && expected != document {
            return Err(Error::failed(format!(
                "the table '{}' of {} differs from {KEPT}; 'cargo xtask results' rewrites it:\n{shown}",
                table.name, table.file
            )));
        }
        if !arguments.check {
            write(&path, expected)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_has_its_reason() {
        let cell = json!({ "parameters": { "remedy": "terrace" }, "processes": 1,
            "metrics": { "speed": { "unavailable": "failed: a | b; try c" } } });
        let run = json!({ "experiments": [{ "declaration": { "name": "advice" }, "cells": [cell] }] });
        let kept = summary(&run)["advice"]["cells"][0].clone();
        let shown = [Interval("speed", 3), Median("collections", 3)].map(|column| column.of(&kept));
        assert_eq!(shown, ["unavailable: failed: a / b", "unavailable"]);
        let measured = json!({ "remedy": "terrace", "processes": 1, "speed": [1.0, 0.9, 1.1] });
        let found = joined(vec![kept], vec![measured]);
        assert_eq!((found.len(), &found[0]["speed"][0]), (1, &json!(1.0)), "the same parameters");
    }

    #[test]
    fn forks_have_a_table_for_each_comparison_also_before_they_are_measured() {
        let table = TABLES.iter().find(|table| table.name == "forks-flag-stock").unwrap();
        let cell = |compared: &str, cpu: f64| {
            json!({ "program": "h2", "collector": "g1", "jdk": 25, "heap": "small", "compared": compared, "processes": 12,
            "cpu": [cpu, 0.9, 1.1], "speed": [1.0, 0.9, 1.1], "resident": [1.3, 1.2, 1.4], "pauses": [0.5, 0.4, 0.6],
            "collections_a": [11, 11, 11], "collections_b": [548, 548, 548] })
        };
        let cells = [cell("Terrace / stock", 2.0), cell("TLABSize=4k / stock", 1.02)];
        let shown = table.show(&json!({ "applications": { "cells": cells } }));
        assert!(shown.starts_with("| TLABSize=4k / stock | of | per CPU-second |"), "{shown}");
        let row = "| h2, g1 25, small | 12 processes | 1.020 [0.900, 1.100] | 1.000 [0.900, 1.100] | 11 : 548 | 0.50 | 1.30 [1.20, 1.40] |\n";
        assert!(shown.ends_with(row) && shown.lines().count() == 3, "{shown}");
        let none = table.show(&Value::Null);
        assert!(none.starts_with("| TLABSize=4k / stock | of |") && none.lines().count() == 2, "{none}");
    }

    #[test]
    fn cells_of_the_same_parameters_are_replaced_and_others_added() {
        let cell = |jdk: u32, speed: f64| json!({ "jdk": jdk, "processes": 2, "speed": [speed, 0.9, 1.1] });
        let other = |started: u64| json!({ "jdk": 17, "processes": 7, "started_unix": started, "speed": [3.0, 0.9, 1.1] });
        let all = joined(vec![cell(17, 1.0), cell(25, 1.0)], vec![other(5), cell(21, 2.0)]);
        let mut again = other(5);
        again["replaced"] = json!(1);
        assert_eq!(all, [again, cell(25, 1.0), cell(21, 2.0)]);
        assert_eq!(joined(all, vec![other(6)])[0]["replaced"], 2, "who measures again is told");
        let interrupted = json!({ "jdk": 25, "processes": 0 });
        assert_eq!(joined(vec![cell(25, 1.0)], vec![interrupted.clone()]), [cell(25, 1.0)]);
        assert_eq!(
            joined(vec![], vec![interrupted.clone()]),
            [interrupted],
            "a whole run says what it has not"
        );
    }

    #[test]
    fn a_metric_does_not_take_the_place_of_a_parameter() {
        let cell = json!({ "parameters": { "heap": "small" }, "processes": 1,
            "metrics": { "heap": { "median": 0.5, "low": 0.4, "high": 0.6 } } });
        let run = json!({ "experiments": [{ "declaration": { "name": "applications" }, "cells": [cell] }] });
        let kept = &summary(&run)["applications"]["cells"][0];
        assert_eq!((&kept["heap"], &kept["heap_ratio"]), (&json!("small"), &json!([0.5, 0.4, 0.6])));
    }

    #[test]
    fn a_run_becomes_rows_and_columns_of_a_table() {
        let cell = |tlab: f64, median: f64| {
            json!({ "parameters": { "collector": "g1", "jdk": 25.0, "threads": 2.0, "tlab": tlab }, "processes": 1,
                "metrics": { "speed": { "median": median, "low": 0.9, "high": 1.123_456, "values": [median] },
                    "cpu": { "unavailable": "no clock" } } })
        };
        let cells = [cell(1024.0, 1.0), cell(4096.0, 2.0)];
        let run = json!({ "command": "terrace lab run", "experiments": [
            { "declaration": { "name": "bound" }, "cells": cells }] });
        let kept = Value::Object(summary(&run));
        assert_eq!(kept["bound"]["cells"][0]["speed"], json!([1.0, 0.9, 1.1235]));
        let table = TABLES.iter().find(|table| table.name == "bound").unwrap();
        let shown = table.show(&kept);
        assert!(
            shown
                .starts_with("| alloc byte[16], core buffers / private buffers | of | TLAB 1k | TLAB 4k |\n"),
            "{shown}"
        );
        let row = "| g1 25, 2 threads | one process each | 1.00 [0.90, 1.12] | 2.00 [0.90, 1.12] |\n";
        assert!(shown.ends_with(row), "{shown}");
        let document = placed("a\n<!-- bound -->\n| old |\n\nb", table, &shown).unwrap();
        assert_eq!(document, format!("a\n<!-- bound -->\n{shown}\nb"));
        let document = placed("a\n<!-- bound -->\n\nwords\n\nb", table, &shown).unwrap();
        assert_eq!(document, format!("a\n<!-- bound -->\n{shown}\nwords\n\nb"), "where no table is yet");
        assert!(placed("no mark", table, "").unwrap_err().to_string().contains("<!-- bound -->"));
        assert_eq!(serde_json::from_str::<Value>(&lines(&kept)).unwrap(), kept);
    }
}
