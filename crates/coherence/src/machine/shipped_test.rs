//! The shipped machines, one by one, and how a machine is found.

use super::*;
use crate::machine::{Distance, Origin, Protocol, Shape, Unit};
use std::collections::BTreeSet;

#[test]
fn every_shipped_machine_is_read_and_has_its_own_name_and_title() {
    let machines: Vec<_> =
        shipped().iter().map(|(name, text)| Machine::parse(text, name).expect("a shipped machine")).collect();
    let names: BTreeSet<_> = machines.iter().map(|machine| &machine.name).collect();
    let titles: BTreeSet<_> = machines.iter().map(|machine| &machine.title).collect();
    assert_eq!((names.len(), titles.len()), (shipped().len(), shipped().len()));
}

#[test]
fn every_number_of_a_shipped_machine_has_an_origin() {
    for (name, text) in shipped() {
        let machine = Machine::parse(text, name).expect("a shipped machine");
        let keys: BTreeSet<_> = machine.figures.iter().map(|figure| figure.key.as_str()).collect();
        assert_eq!(keys.len(), machine.figures.len(), "{name}: a number has more than one figure");
        for figure in &machine.figures {
            assert!(figure.origin.text().len() >= 3, "{name}: {} has no origin", figure.key);
        }
        // What the file does not have is assumed; what it has says itself where it is from.
        let written = text.lines().filter(|line| line.contains("value = "));
        for line in written {
            let origins = ["source = \"", "assumed = \"", "measured = \"", "calibrated = \""];
            let found = origins.iter().filter(|origin| line.contains(*origin)).count();
            assert_eq!(found, 1, "{name}: {line}");
        }
    }
}

#[test]
fn shapes_and_protocols_are_those_of_the_names() {
    let facts = |name: &str| {
        let machine = Machine::named(name).expect("a shipped machine");
        (machine.shape.cpus(), machine.shape.cores(), machine.protocol)
    };
    assert_eq!(facts("paper-4x10x2"), (80, 40, Protocol::Mesif));
    assert_eq!(facts("thompson-nehalem"), (8, 4, Protocol::Mesif));
    assert_eq!(facts("thompson-sandy-bridge"), (8, 4, Protocol::Mesif));
    assert_eq!(facts("opsian-haswell"), (8, 4, Protocol::Mesif));
    assert_eq!(facts("epyc-9654-2x96"), (192, 192, Protocol::Moesi));
    assert_eq!(facts("epyc-9754-2x128x2"), (512, 256, Protocol::Moesi));
    assert_eq!(facts("xeon-8375c-2x32x2"), (128, 64, Protocol::Mesif));
    assert_eq!(facts("xeon-8480-2x56x2"), (224, 112, Protocol::Mesif));
    assert_eq!(facts("graviton2-64"), (64, 64, Protocol::Moesi));
    assert_eq!(facts("graviton3-64"), (64, 64, Protocol::Moesi));
    assert_eq!(facts("ampere-altra-80"), (80, 80, Protocol::Moesi));
    assert_eq!(facts("downs-skylake"), (8, 4, Protocol::Mesif));
    assert_eq!(facts("downs-ice-lake"), (8, 4, Protocol::Mesif));
    assert_eq!(facts("two-vcpu-epyc"), (2, 2, Protocol::Moesi));
}

#[test]
fn what_is_assumed_throughout_says_so_throughout_and_is_not_shipped() {
    assert!(Machine::named("assumed-2x256").is_err());
    let text = include_str!("../../../../docs/machines/assumed-2x256.toml");
    let machine = Machine::parse(text, "assumed-2x256").expect("a file to copy");
    assert_eq!((machine.shape.cpus(), machine.protocol), (512, Protocol::Moesi));
    assert!(machine.figures.iter().all(|figure| matches!(figure.origin, Origin::Assumed(_))));
}

#[test]
fn a_residency_is_never_anything_but_calibrated_or_absent() {
    for (name, text) in shipped() {
        let machine = Machine::parse(text, name).expect("a shipped machine");
        let residency = machine.figure("costs.residency").expect("always there");
        let calibrated = matches!(residency.origin, Origin::Calibrated(_));
        assert!(calibrated || machine.costs.residency == 0, "{name}");
    }
}

#[test]
fn farther_is_dearer_and_the_home_counts_between_clusters() {
    for (name, text) in shipped() {
        let costs = Machine::parse(text, name).expect("a shipped machine").costs;
        assert!(costs.l1 <= costs.l2 && costs.l2 <= costs.l3 && costs.l3 <= costs.memory_local, "{name}");
        assert!(costs.l1 <= costs.sibling && costs.sibling <= costs.transfer_cluster, "{name}");
        assert!(costs.home_remote.is_none_or(|home| home >= costs.transfer(Distance::SamePackage)), "{name}");
    }
}

#[test]
fn an_unknown_name_lists_the_shipped_ones() {
    let error = Machine::named("no-such-machine").expect_err("no such machine").to_string();
    assert!(
        error.starts_with("no-such-machine: neither a shipped machine nor a file; name a shipped machine (")
    );
    assert!(shipped().iter().all(|(name, _)| error.contains(name)), "{error}");
}

#[test]
fn a_path_is_read_and_named_after_its_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("mine.toml");
    let (_, text) = shipped().iter().find(|(name, _)| *name == "opsian-haswell").expect("shipped");
    std::fs::write(&path, text).expect("written");
    let machine = Machine::named(&path.to_string_lossy()).expect("a machine");
    assert_eq!(machine.name, "mine");
    assert_eq!(machine.figure("costs.locked").map(|figure| figure.unit), Some(Unit::Cycles));

    std::fs::write(&path, "title = 3").expect("written");
    let error = Machine::named(&path.to_string_lossy()).expect_err("wrong").to_string();
    assert!(error.starts_with(&*path.to_string_lossy()), "{error}");
}

#[test]
fn what_is_no_description_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |path: &Path| Machine::named(&path.to_string_lossy()).expect_err("refused").to_string();
    assert!(refused(folder.path()).contains("name a shipped machine"));
    let path = folder.path().join("large.toml");
    std::fs::write(&path, vec![b'#'; LARGEST + 1]).expect("written");
    assert!(refused(&path).contains("larger than 64 KB"));
    std::fs::write(&path, [0xff, 0xfe]).expect("written");
    assert!(refused(&path).contains("not UTF-8 text"));
}

#[test]
fn the_documentation_lists_every_machine_and_its_example_is_read() {
    let page = include_str!("../../../../docs/machines.md");
    for (name, text) in shipped() {
        let start = format!("| `{name}` |");
        let row = page.lines().find(|line| line.starts_with(&start));
        let row = row.unwrap_or_else(|| panic!("docs/machines.md does not list {name}"));
        let machine = Machine::parse(text, name).expect("a shipped machine");
        let Shape { packages, clusters, cores, threads } = machine.shape;
        let mut facts = vec![format!("| {packages} x {clusters} x {cores} x {threads} | ")];
        facts.push(format!(" | {:?} | {} | ", machine.clock_ghz, machine.protocol));
        facts.push(format!(" | {:.1} | ", machine.costs.locked as f64 / 1e3));
        let transfers = machine.figures.iter().filter(|figure| figure.key.contains(".transfer_"));
        facts.extend(transfers.map(|figure| figure.value.to_string()));
        for fact in facts {
            assert!(row.contains(&fact), "docs/machines.md has not {fact:?} for {name}");
        }
    }
    let example =
        page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let machine = Machine::parse(example, "docs/machines.md").expect("the example");
    assert_eq!(machine.shape.cpus(), 64);
    for figure in &machine.figures {
        let key = figure.key.rsplit('.').next().expect("a key");
        assert!(page.contains(key), "docs/machines.md does not explain {}", figure.key);
    }
}
