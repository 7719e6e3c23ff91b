//! What the user sees.

use crate::Findings;
use crate::contestants::Contestant;
use crate::fill::{Filled, Way};
use crate::objects::{Cell, GROUPS, SIZES};
use crate::reach::{Figure, held, middle, ratio, shown};
use crate::small::{Maker, Small};
use present::numbers::{self, three};
use present::table::{Table, columns};
use serde_json::{Value, json};
use statistics::{bootstrap, median};

fn print(table: &Table) {
    print!("{}", table.text(columns()));
}

/// One line of progress.
pub fn line(cell: &Cell) -> String {
    let times: Vec<String> = Contestant::ALL
        .iter()
        .filter_map(|one| Some(format!("{one} {}", three(middle(cell, *one, |pass| pass.all)?))))
        .collect();
    format!("{} bytes, {} threads, ns: {}", cell.bytes, cell.threads, times.join(", "))
}

/// All tables.
pub fn show(findings: &Findings, figures: &[Figure]) {
    objects(findings);
    #[cfg(feature = "mmtk")]
    fresh(&findings.fresh);
    small(&findings.small);
    memory(findings);
    findings.fills.iter().for_each(fill);
    let mut rows = Table::new(["asked for", "limit", "found: median [95 % interval]", "verdict"]);
    for figure in figures {
        rows.push([figure.what.clone(), figure.limit.clone(), figure.found.clone(), figure.verdict()]);
    }
    print(&rows);
    let mut rows = Table::new(["peer", "what is unfair in the comparison"]);
    for one in Contestant::ALL.iter().filter(|one| !one.unfair().is_empty()) {
        rows.push([one.name(), one.unfair()]);
    }
    print(&rows);
    if findings.peers_keep_memory {
        println!(
            "mimalloc, jemalloc and glibc were told to keep freed memory; --as-shipped leaves them alone"
        );
    }
    if let Some(cell) = findings.cells.first() {
        let megabytes = |(one, bytes): (&Contestant, &u64)| format!("{one} {}", bytes >> 20);
        println!(
            "objects were asked to lie on {}; MB on huge pages before the first round of {} bytes (arenas: all that is touched beforehand): {}",
            findings.pages,
            cell.bytes,
            cell.huge.iter().map(megabytes).collect::<Vec<_>>().join(", ")
        );
    }
    for missing in &findings.missing {
        println!("not measured: {missing}");
    }
    if findings.quick {
        println!("a quick run: few objects and rounds, good to see that it works, not to quote");
    }
}

fn objects(findings: &Findings) {
    let mut header = vec!["bytes".to_owned(), "contestant".to_owned()];
    header.extend(GROUPS.iter().flat_map(|group| group.iter()).map(|threads| format!("{threads} thr.")));
    let mut ratios = Table::new(header.clone());
    header.push("faults".into());
    let mut times = Table::new(header);
    for bytes in SIZES {
        let cells: Vec<&Cell> = findings.cells.iter().filter(|cell| cell.bytes == bytes).collect();
        for &one in Contestant::ALL {
            let names = [bytes.to_string(), one.name().to_owned()];
            let time = |cell: &&Cell| {
                let of = |pick: fn(&crate::objects::Pass) -> f64| middle(cell, one, pick).map(three);
                let both = of(|pass| pass.allocate).zip(of(|pass| pass.all));
                both.map_or("-".into(), |(allocate, all)| format!("{allocate} / {all}"))
            };
            let faults =
                cells.iter().filter_map(|cell| middle(cell, one, |pass| pass.faults)).fold(0.0, f64::max);
            let row = names.iter().cloned().chain(cells.iter().map(time)).chain([three(faults)]);
            times.push(row);
            if one != Contestant::Thread {
                let against = |cell: &&Cell| {
                    let found = ratio(cell, one, Contestant::Thread, |pass| pass.all);
                    found.as_ref().map(shown).unwrap_or_default()
                };
                ratios.push(names.into_iter().chain(cells.iter().map(against)));
            }
        }
    }
    print(&times);
    println!(
        "ns for each object and CPU ({} CPUs), medians of rounds: allocate / allocate and drop all; faults: page faults for each 1,000 objects, the most of the row; all objects of a pass together take at most {} MB",
        findings.cpus, findings.megabytes
    );
    print(&ratios);
    println!(
        "allocate and drop all, over that of thread in the same round: median [bootstrap 95 % interval]"
    );
}

fn small(all: &[Small]) {
    let mut header = vec!["arena".to_owned()];
    header.extend(
        all.iter().map(|one| format!("{} B, {} thr.", numbers::human(one.bytes as f64), one.threads)),
    );
    let mut rows = Table::new(header);
    for maker in Maker::ALL {
        let time =
            |one: &Small| one.rounds.get(&maker).and_then(|rounds| median(rounds)).map_or("-".into(), three);
        rows.push([maker.name().to_owned()].into_iter().chain(all.iter().map(time)));
    }
    print(&rows);
    println!("ns for an arena that is made, filled with objects of 64 bytes, and dropped: medians of rounds");
}

fn memory(findings: &Findings) {
    let mut rows = Table::new(["contestant", "from the reserve", "resident growth"]);
    let bytes = |bytes: Option<f64>| bytes.map_or("-".into(), numbers::human);
    for one in findings.memory.keys() {
        let used = held(findings, *one, |held| held.used);
        let resident = held(findings, *one, |held| Some(held.resident));
        rows.push([one.name().to_owned(), bytes(used), bytes(resident)]);
    }
    print(&rows);
    println!(
        "1,000 threads alive, each with 16 objects of 64 bytes; each contestant in a process of its own; floor allocates nothing. \
         glibc has set up a part of its threads' memory before: threads themselves use it"
    );
}

#[cfg(feature = "mmtk")]
fn fresh(all: &[crate::fresh::Fresh]) {
    use crate::fresh::Found;
    let header =
        ["bytes", "memory", "thread, ns", "mmtk NoGC, ns", "thread / mmtk", "faults", "MB on huge pages"];
    let mut rows = Table::new(header);
    for one in all {
        let interval = |values: Vec<f64>| bootstrap(&values, 1).as_ref().map(shown).unwrap_or_default();
        let times = |found: &[Found]| interval(found.iter().map(|found| found.allocate).collect());
        let pairs = one.arena.iter().zip(&one.mmtk);
        let both = |pick: fn(&Found) -> f64| {
            let of = |found: &[Found]| {
                median(&found.iter().map(pick).collect::<Vec<_>>()).map_or("-".into(), three)
            };
            format!("{} / {}", of(&one.arena), of(&one.mmtk))
        };
        rows.push([
            one.bytes.to_string(),
            if one.touched { "touched".into() } else { "new".into() },
            times(&one.arena),
            times(&one.mmtk),
            interval(pairs.map(|(arena, mmtk)| arena.allocate / mmtk.allocate).collect()),
            both(|found| found.faults),
            both(|found| found.huge as f64),
        ]);
    }
    print(&rows);
    println!(
        "allocate only, one thread, one pass in a process of its own, since mmtk's NoGC never takes memory back: medians of pairs of \
         processes [95 % interval]; new memory is found by the kernel while objects are allocated, which takes longer than that; \
         faults: for each 1,000 objects"
    );
}

fn fill(filled: &Filled) {
    let mut rows = Table::new([format!("fill on {}", filled.asked), "GB/s: median [95 % interval]".into()]);
    for way in Way::ALL {
        let rounds = filled.rounds.get(&way).and_then(|rounds| bootstrap(rounds, 1));
        rows.push([way.name().to_owned(), rounds.as_ref().map(shown).unwrap_or_default()]);
    }
    print(&rows);
    println!(
        "{} MB in blocks of 64 KB by {} threads, touched before; plain memory lies on {}, the arena has {}",
        filled.bytes >> 20,
        filled.threads,
        filled.obtained[0],
        filled.obtained[1]
    );
}

/// Medians and intervals of everything, for the file.
pub fn intervals(cells: &[Cell]) -> Vec<Value> {
    let of = |cell: &Cell, one: Contestant| {
        let values = |pick: fn(&crate::objects::Pass) -> f64| -> Vec<f64> {
            cell.rounds.get(&one).into_iter().flatten().map(pick).collect()
        };
        json!({
            "bytes": cell.bytes,
            "threads": cell.threads,
            "contestant": one,
            "rounds": values(|pass| pass.all).len(),
            "allocate_ns": bootstrap(&values(|pass| pass.allocate), 1),
            "all_ns": bootstrap(&values(|pass| pass.all), 1),
            "faults_per_1000": median(&values(|pass| pass.faults)),
            "allocate_over_thread": ratio(cell, one, Contestant::Thread, |pass| pass.allocate),
            "all_over_thread": ratio(cell, one, Contestant::Thread, |pass| pass.all),
        })
    };
    cells.iter().flat_map(|cell| Contestant::ALL.iter().map(move |one| of(cell, *one))).collect()
}
