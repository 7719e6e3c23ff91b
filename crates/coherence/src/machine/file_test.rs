//! What is read from a file, and the text of every refusal.

use super::*;
use crate::machine::Origin;

/// Two packages of two clusters of two cores of two threads, with all that this needs.
const GOOD: &str = r#"
title = "A machine"
protocol = "moesi"
clock = { value = 2, unit = "GHz", source = "its label" }

[shape]
packages = 2
clusters = 2
cores = 2
threads = 2
source = "its label"

[costs]
l1 = { value = 4, unit = "cycles", source = "a book" }
l2 = { value = 12, unit = "cycles", source = "a book" }
l3 = { value = 20, unit = "ns", source = "a book" }
transfer_cluster = { value = 30, unit = "ns", low = 25, high = 35.5, measured = "a command" }
transfer_package = { value = 90, unit = "ns", measured = "a command" }
transfer_remote = { value = 190, unit = "ns", measured = "a command" }
home_remote = { value = 200, unit = "ns", measured = "a command" }
memory_local = { value = 100, unit = "ns", assumed = "as usual" }
memory_remote = { value = 200, unit = "ns", assumed = "as usual" }
locked = { value = 20, unit = "cycles", calibrated = "a figure" }
drain = { value = 16, unit = "cycles", assumed = "as usual" }
store = { value = 1, unit = "cycles", assumed = "as usual" }
"#;

fn error(text: &str) -> String {
    let error = Machine::parse(text, "m.toml").expect_err(text).to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains("; "), "no remedy: {error}");
    error
}

/// The refusal of the good file with one thing replaced.
#[track_caller]
fn refused(from: &str, to: &str, expected: &str) {
    assert_eq!(GOOD.matches(from).count(), 1, "{from:?} is to be there once");
    let error = error(&GOOD.replace(from, to));
    assert!(error.starts_with(&format!("m.toml: {expected}")), "\n{error}\nis not\nm.toml: {expected}");
}

#[test]
fn a_good_file_gives_what_it_says() {
    let machine = Machine::parse(GOOD, "m").expect("good");
    assert_eq!((machine.name.as_str(), machine.title.as_str()), ("m", "A machine"));
    assert_eq!((machine.clock_ghz, machine.protocol), (2.0, Protocol::Moesi));
    let expected = Costs {
        l1: 2_000,
        l2: 6_000,
        l3: 20_000,
        sibling: 2_000,
        transfer_cluster: 30_000,
        transfer_package: 90_000,
        transfer_remote: 190_000,
        home_remote: Some(200_000),
        memory_local: 100_000,
        memory_remote: 200_000,
        locked: 10_000,
        drain: 8_000,
        store: 500,
        store_buffer: 48,
        work_scale: 1.0,
        sibling_work: 1.6,
        residency: 0,
        streak: 0,
        quantum: 4_000_000_000,
        migration_rate: 0.0,
        switch: 2_000_000,
    };
    assert_eq!(machine.costs, expected);
    // Of memory the file says nothing: what is usual for four cores in a package.
    let bandwidth = machine.bandwidth;
    assert_eq!((bandwidth.channels, bandwidth.core, bandwidth.cluster), (20e9, 15e9, 30e9));
    assert_eq!((bandwidth.link, bandwidth.traffic, bandwidth.last_cache), (10e9, 2.0, 4e6));
    let cluster = machine.figure("costs.transfer_cluster").expect("a figure");
    assert_eq!((cluster.value, cluster.low, cluster.high), (30.0, Some(25.0), Some(35.5)));
    assert_eq!((cluster.unit, &cluster.origin), (Unit::Nanoseconds, &Origin::Measured("a command".into())));
    let kinds = ["shape.cores", "costs.locked", "costs.sibling", "scheduler.quantum"]
        .map(|key| machine.figure(key).expect("a figure").origin.kind());
    assert_eq!(kinds, ["source", "calibrated", "assumed", "assumed"]);
}

#[test]
fn the_scheduler_and_the_rest_can_be_given() {
    let more = r#"
        sibling = { value = 9, unit = "ns", source = "a book" }
        work_scale = { value = 1.5, unit = "ratio", assumed = "slower" }
        residency = { value = 42, unit = "ns", calibrated = "a plateau" }
        [scheduler]
        quantum = { value = 10, unit = "ms", source = "a book" }
        migration_rate = { value = 0.5, unit = "per_second", assumed = "some" }
        switch = { value = 1500, unit = "ns", measured = "a command" }
    "#;
    let costs = Machine::parse(&format!("{GOOD}{more}"), "m").expect("good").costs;
    assert_eq!((costs.sibling, costs.work_scale, costs.residency), (9_000, 1.5, 42_000));
    assert_eq!((costs.quantum, costs.migration_rate, costs.switch), (10_000_000_000, 0.5, 1_500_000));
}

#[test]
fn costs_are_only_wanted_where_the_shape_has_the_distance() {
    let without = |text: &str, key: &str| {
        text.lines().filter(|line| !line.starts_with(key)).map(|line| format!("{line}\n")).collect::<String>()
    };
    let missing = |text: &str| error(text).replace("m.toml: costs.", "");
    let (cluster, package) = (without(GOOD, "transfer_cluster"), without(GOOD, "transfer_package"));
    let (remote, memory) = (without(GOOD, "transfer_remote"), without(GOOD, "memory_remote"));
    let wanted = "a number is missing, and";
    assert!(
        missing(&cluster).starts_with(&format!("transfer_cluster: {wanted} a cluster has several cores; "))
    );
    assert!(
        missing(&package).starts_with(&format!("transfer_package: {wanted} a package has several clust"))
    );
    assert!(missing(&remote).starts_with(&format!("transfer_remote: {wanted} there are several packages; ")));
    assert!(missing(&memory).starts_with(&format!("memory_remote: {wanted} there are several packages; ")));
    assert!(Machine::parse(&cluster.replace("cores = 2", "cores = 1"), "m").is_ok());
    assert!(Machine::parse(&package.replace("clusters = 2", "clusters = 1"), "m").is_ok());
    let one = without(&remote, "memory_remote").replace("packages = 2", "packages = 1");
    assert_eq!(Machine::parse(&one, "m").map(|machine| machine.costs.transfer_remote), Ok(0));
    for key in ["l1", "l2", "l3", "memory_local", "locked", "drain", "store"] {
        assert!(missing(&without(GOOD, key)).starts_with(&format!("{key}: a number is missing; write {{ ")));
    }
}

#[test]
fn wrong_sections_are_refused() {
    refused("[costs]", "[cost]", "line 13: unknown field `cost`, expected one of `title`, ");
    refused("title = \"A machine\"", "", "missing field `title`; docs/machines.md ");
    refused("\"A machine\"", "3", "line 2, title: invalid type: integer `3`, expected a string; docs/");
    refused("\"A machine\"", "\" \"", "title: is empty; write one line");
    refused("\"A machine\"", &format!("\"{}\"", "x".repeat(201)), "title: is longer than 200 char");
    refused("\"A machine\"", r#""a\nb""#, "title: holds control characters; ");
    refused("\"moesi\"", "\"dragon\"", "protocol: \"dragon\" is unknown; write one of mesi, mesif, moesi");
    refused("[shape]", "[shape", "line 6: ");
    refused("l2 =", "l1 =", "line 15, l1: duplicate key; docs/");
    assert!(error("").starts_with("m.toml: missing field `title`; "));
    assert!(error(&"#".repeat(LARGEST + 1)).starts_with("m.toml: larger than 64 KB; "));
    assert!(error(&format!("x = {}", "[".repeat(60_000))).starts_with("m.toml: line 1, x: "));
    assert!(error(&format!("{GOOD}[scheduler]\nslice = 3")).starts_with(
        "m.toml: scheduler.slice: unknown key; the valid keys are quantum, migration_rate, switch"
    ));
}

#[test]
fn wrong_shapes_are_refused() {
    refused(
        "packages = 2",
        "packages = 0",
        "shape.packages: 0 is out of bounds; write a whole number from 1 ",
    );
    refused("cores = 2", "cores = 1025", "shape.cores: 1025 is out of bounds; ");
    refused("threads = 2", "threads = -1", "shape.threads: -1 is out of bounds; ");
    refused(
        "cores = 2",
        "cores = 1024",
        "shape: 8192 CPUs are too many; describe a machine with at most 4096",
    );
    refused(
        "cores = 2",
        "cores = 2.5",
        "shape: invalid type: floating point `2.5`, expected a whole number in `cores`; ",
    );
    refused("cores = 2", "", "shape: missing field `cores`");
    refused("cores = 2", "cores = 2\nsockets = 1", "shape: unknown field `sockets`, expected one of ");
    refused(
        "threads = 2\nsource = \"its label\"",
        "threads = 2",
        "shape: has no origin; give one of source ",
    );
}

#[test]
fn wrong_numbers_are_refused() {
    let locked = r#"{ value = 20, unit = "cycles", calibrated = "a figure" }"#;
    let number = |to: &str, expected: &str| refused(locked, to, &format!("costs.locked: {expected}"));
    number("20", "not a table with value, unit and origin; write { value = 27.1, ");
    number("{ value = 20, unit = 'cycles' }", "has no origin; give one of source (where it is published), ");
    number(
        "{ value = 20, unit = 'cycles', source = 'a', assumed = 'b' }",
        "has more than one origin; give one ",
    );
    number("{ value = 20, unit = 'cycles', source = ' ' }", "has an empty origin; give one of ");
    number(
        "{ value = 20, unit = 'us', source = 'a' }",
        "unknown variant `us`, expected one of `ns`, `cycles`, ",
    );
    number(
        "{ value = 20, unit = 'GHz', source = 'a' }",
        "the unit GHz is wrong here; write one of ns, cycles, ms",
    );
    number("{ value = 20, source = 'a' }", "missing field `unit`");
    number("{ unit = 'ns', source = 'a' }", "missing field `value`");
    number(
        "{ value = '20', unit = 'ns', source = 'a' }",
        "invalid type: string \"20\", expected a number in `value`; ",
    );
    number("{ value = 20, unit = 'ns', sauce = 'a' }", "unknown field `sauce`, expected one of `value`, ");
    for value in ["0", "-1", "nan", "inf", "-inf", "1e9", "1e308", "0.0001"] {
        let to = format!("{{ value = {value}, unit = 'ns', source = 'a' }}");
        let number = value.parse::<f64>().expect("a number");
        number_is_out_of_bounds(
            locked,
            &to,
            &format!("the value {number:?} ns is out of bounds; a cost must be "),
        );
    }
    number(
        "{ value = 20, low = 21, unit = 'ns', source = 'a' }",
        "the value 20.0 ns is less than the number before it",
    );
    number(
        "{ value = 20, high = 9, unit = 'ns', source = 'a' }",
        "the high 9.0 ns is less than the number before it",
    );
    number("{ value = 20, low = -1, unit = 'ns', source = 'a' }", "the low -1.0 ns is out of bounds; ");
    number("{ value = 20, high = inf, unit = 'ns', source = 'a' }", "the high inf ns is out of bounds; ");
    number("{ value = 15, unit = 'cycles', source = 'a' }", "7.500 ns is less than costs.drain, 8.000 ns; ");
    refused("store = {", "stores = {", "costs.store: a number is missing; ");
    refused("store = {", "l4 = 3\nstore = {", "costs.l4: unknown key; the valid keys are l1, l2, ");
    refused(
        "value = 90",
        "value = 29",
        "costs.transfer_package: 29.000 ns is less than costs.transfer_cluster, ",
    );
    refused(
        "value = 190",
        "value = 89",
        "costs.transfer_remote: 89.000 ns is less than costs.transfer_package, ",
    );
}

#[test]
fn what_is_farther_is_not_cheaper() {
    let farther = "what is farther from the core cannot be cheaper: correct one of them";
    for (from, to, wrong) in [
        (
            "value = 12, unit = \"cycles\"",
            "value = 3, unit = \"cycles\"",
            "l2: 1.500 ns is less than costs.l1, 2.000 ns",
        ),
        (
            "value = 20, unit = \"ns\"",
            "value = 5, unit = \"ns\"",
            "l3: 5.000 ns is less than costs.l2, 6.000 ns",
        ),
        ("value = 100", "value = 19", "memory_local: 19.000 ns is less than costs.l3, 20.000 ns"),
        (
            "value = 200, unit = \"ns\", assumed",
            "value = 99, unit = \"ns\", assumed",
            "memory_remote: 99.000 ns is less than costs.memory_local, 100.000 ns",
        ),
    ] {
        refused(from, to, &format!("costs.{wrong}; {farther}"));
    }
    refused(
        "value = 200, unit = \"ns\", measured",
        "value = 89, unit = \"ns\", measured",
        "costs.home_remote: 89.000 ns is less than costs.transfer_package, 90.000 ns; a home in another ",
    );
}

#[test]
fn the_threads_of_a_core_do_what_one_or_all_do() {
    let given =
        |value: f64| format!("{GOOD}\nsibling_work = {{ value = {value:?}, unit = 'ratio', assumed = 'a' }}");
    for value in [1.0, 1.3, 2.0] {
        assert_eq!(Machine::parse(&given(value), "m").expect("good").costs.sibling_work, value);
    }
    for value in [0.9, 2.1] {
        let wrong = format!("costs.sibling_work: {value} is out of bounds; write from 1 ");
        assert!(error(&given(value)).contains(&wrong), "{value}");
    }
    // Eight threads together do what two do: 1.25 times the work of one.
    let eight = Machine::parse(&GOOD.replace("threads = 2", "threads = 8"), "m").expect("good");
    assert_eq!(eight.costs.sibling_work, 6.4);
    assert_eq!([1, 2, 4, 8].map(|busy| f64::from(busy) / eight.slowdown(busy)), [1.0, 1.25, 1.25, 1.25]);
}

#[track_caller]
fn number_is_out_of_bounds(locked: &str, to: &str, expected: &str) {
    refused(locked, to, &format!("costs.locked: {expected}"));
}

#[test]
fn wrong_clocks_rates_and_ratios_are_refused() {
    refused(
        "value = 2, unit = \"GHz\"",
        "value = 11, unit = \"GHz\"",
        "clock: the value 11.0 GHz is out of bounds",
    );
    refused(
        "value = 2, unit = \"GHz\"",
        "value = 0.05, unit = \"GHz\"",
        "clock: the value 0.05 GHz is out of b",
    );
    refused(
        "value = 2, unit = \"GHz\"",
        "value = 2, unit = \"ns\"",
        "clock: the unit ns is wrong here; write one ",
    );
    let more = |section: &str, line: &str| error(&format!("{GOOD}{section}\n{line}"));
    let rate = more("[scheduler]", "migration_rate = { value = 2e6, unit = 'per_second', assumed = 'a' }");
    assert!(
        rate.contains("scheduler.migration_rate: the value 2000000.0 per_second is out of bounds; a rate ")
    );
    let ratio = more("", "work_scale = { value = 0, unit = 'ratio', assumed = 'a' }");
    assert!(
        ratio.contains("costs.work_scale: the value 0.0 ratio is out of bounds; a ratio must be positive")
    );
    let residency = more("", "residency = { value = -1, unit = 'ns', calibrated = 'a' }");
    assert!(
        residency.contains("costs.residency: the value -1.0 ns is out of bounds; it must be 0, or at least ")
    );
}
