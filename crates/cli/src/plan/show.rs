//! A plan in words, and its table.

use crate::sim::run::bound;
use coherence::plan::{BufferPlan, Chain, Row, Sureness};
use coherence::scenario::Bound;
use jvm::Result;
use jvm::agent::{AgentOptions, BufferSize, Levels, Tlab};
use jvm::size;
use present::numbers::{count, human, times};
use present::table::Table;
use std::path::Path;

/// What would help against a bound, in words.
pub(super) const fn decides(bound: Bound) -> &'static str {
    match bound {
        Bound::Work => "the threads' own work is nearest to its limit, nearer than the heap's top or memory",
        Bound::Heap => "refills wait for the heap: larger TLABs, or buffers",
        Bound::Line => "refills wait for a buffer's line: larger TLABs, or buffers of fewer CPUs",
        Bound::Core | Bound::Cluster | Bound::Memory => "no kind of refill changes that: allocate less",
        Bound::Link => "eden is spread over the packages: -XX:+UseNUMA keeps it local",
    }
}

/// What the machine's ranges leave of the choice.
pub(super) fn how_sure(plan: &BufferPlan) -> String {
    if plan.all.len() == 1 {
        return "nothing was compared: no fixed TLAB size fits so many threads, such objects and this eden; 'terrace \
                plan --machine NAME --map' shows where buffers pay off"
            .into();
    }
    let Some(sure) = &plan.sure else {
        return "HotSpot's own TLABs are as fast as anything here".into();
    };
    let range = format!(
        "{} to {} of HotSpot's growing TLABs over all ranges and seeds ({} where all numbers are adverse, {} where all \
         are favourable)",
        times(sure.low),
        times(sure.high),
        times(sure.adverse),
        times(sure.favourable)
    );
    if sure.wins() {
        return range;
    }
    format!("no difference that this model can resolve: {} is {range}", words(&plan.best))
}

const TOLD: usize = 3;

pub(super) fn hangs_on(sure: &Sureness) -> String {
    let told = sure.tornado.iter().take(TOLD);
    let text = told.map(|one| format!("{}: {} to {}", one.parameter, times(one.low), times(one.high)));
    text.collect::<Vec<_>>().join("; ")
}

/// A configuration in words.
pub(super) fn words(row: &Row) -> String {
    let mut text = format!("{} levels, TLABs ", row.chain.depth());
    match row.tlab.as_str() {
        "growing" => text.push_str("as HotSpot sizes them"),
        size => text.push_str(&format!("of {size}")),
    }
    for (name, bytes) in [("core", row.core_bytes), ("L3", row.l3_bytes), ("package", row.package_bytes)] {
        if let Some(bytes) = bytes {
            text.push_str(&format!(", {name} buffers of {}", size::format(bytes)));
        }
    }
    text
}

/// What it is expected to give and to take.
pub(super) fn kept(row: &Row, stock: &Row, eden: u64) -> String {
    let of_eden = |row: &Row| row.held_bytes as f64 / eden as f64 * 100.0;
    let mut text = format!(
        "{} objects/s with {} in buffers ({:.2} % of eden)",
        count(row.objects_per_second),
        human(row.held_bytes as f64),
        of_eden(row)
    );
    if row != stock {
        text.push_str(&format!(
            "; HotSpot's growing TLABs: {} objects/s with {} ({:.2} %)",
            count(stock.objects_per_second),
            human(stock.held_bytes as f64),
            of_eden(stock)
        ));
    }
    text
}

/// How many levels, and what stands between thread buffers and heap.
fn chain(chain: Chain) -> &'static str {
    match chain {
        Chain::Heap => "2: none",
        Chain::Core => "3: core",
        Chain::L3 => "3: L3",
        Chain::CoreL3 => "4: core <- L3",
        Chain::CorePackage => "4: core <- package",
    }
}

fn sizes(row: &Row) -> String {
    let levels = [row.core_bytes, row.l3_bytes, row.package_bytes].into_iter().flatten().map(size::format);
    std::iter::once(row.tlab.clone()).chain(levels).collect::<Vec<_>>().join(" <- ")
}

pub(super) fn table(plan: &BufferPlan, columns: u16) -> String {
    let header = [
        "levels: between",
        "TLAB <- buffers",
        "objects/s",
        "over growing",
        "over same TLAB",
        "heap requests/s",
        "in buffers",
        "bound by",
    ];
    let row = |row: &Row| {
        let mark = if row.agent { "" } else { " *" };
        vec![
            format!("{}{mark}", chain(row.chain)),
            sizes(row),
            count(row.objects_per_second),
            times(row.over_growing),
            times(row.over_same_tlab),
            count(row.heap_requests_per_second),
            human(row.held_bytes as f64),
            row.limit.as_ref().map_or_else(String::new, bound),
        ]
    };
    let mut text = Table::new(header).with(plan.chains.iter().map(row)).text(columns);
    if plan.chains.iter().any(|row| !row.agent) {
        text.push_str(
            "* simulated only: the agent has no buffers for packages that have several L3 caches\n",
        );
    }
    text
}

/// What to start java with.
pub(super) fn options(row: &Row) -> Result<String> {
    let tlab = match row.tlab.as_str() {
        "growing" => Tlab::Stock,
        _ => Tlab::Bytes(row.tlab_bytes),
    };
    let levels = match row.chain {
        Chain::Core => Levels::Core,
        Chain::L3 => Levels::Processor,
        Chain::CoreL3 => Levels::Both,
        Chain::Heap | Chain::CorePackage => {
            // No buffers of ours: plain HotSpot.
            return Ok(match tlab {
                Tlab::Bytes(bytes) => format!("-XX:TLABSize={} -XX:-ResizeTLAB", size::format(bytes)),
                Tlab::Auto | Tlab::Stock => "no options: HotSpot's default TLAB sizes".into(),
            });
        }
    };
    let buffer = |bytes: Option<u64>| bytes.map_or(BufferSize::Auto, BufferSize::Bytes);
    let (core, processor) = (buffer(row.core_bytes), buffer(row.l3_bytes));
    let options = AgentOptions { levels: Some(levels), core, processor, tlab, ..AgentOptions::default() };
    options.flag(Path::new("/path/to/libterrace.so"))
}
