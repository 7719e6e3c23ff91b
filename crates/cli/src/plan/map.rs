//! `terrace plan --map`: threads x eden, and in each place the simplest way to refill that is as fast as any.

use crate::sim::page::{self, Contents, Plot};
use coherence::machine::Machine;
use coherence::plan::map::{Place, Way};
use jvm::Result;
use jvm::size;
use present::figure::{Axis, Figure, Kind, Panel, Point, Series, Tick};
use present::numbers::{count, share, times};
use present::table::{Table, indented};
use statistics::Interval;

fn edens(places: &[Place]) -> Vec<usize> {
    let mut edens: Vec<usize> = places.iter().map(|place| place.eden).collect();
    edens.sort_unstable();
    edens.dedup();
    edens
}

fn threads(places: &[Place]) -> Vec<u32> {
    let mut threads: Vec<u32> = places.iter().map(|place| place.threads).collect();
    threads.dedup();
    threads
}

/// The way, what it gains, and what decides before and after.
fn words(place: &Place) -> String {
    let (choice, stock) = (place.choice(), &place.rates[0]);
    if choice.way == Way::Growing {
        return format!("growing ({})", choice.bound);
    }
    let bounds = if choice.bound == stock.bound {
        choice.bound.to_string()
    } else {
        format!("{}: {}", stock.bound, choice.bound)
    };
    let (low, high) = place.range;
    format!("{} {low:.1} to {high:.1} x ({bounds})", choice.way.name())
}

/// A row for each number of threads, a column for each eden.
pub fn text(machine: &Machine, places: &[Place], columns: u16) -> String {
    let edens = edens(places);
    let header = std::iter::once("threads".to_owned())
        .chain(edens.iter().map(|eden| format!("eden {}", size::format(*eden as u64))));
    let rows = threads(places).into_iter().map(|threads| {
        let of = places.iter().filter(|place| place.threads == threads).map(words);
        std::iter::once(threads.to_string()).chain(of).collect::<Vec<String>>()
    });
    let mut text = Table::new(header).with(rows).text(columns);
    for line in [
        "In each cell: the source of TLAB refills, the gain over HotSpot's growing TLABs within the ranges of \
         all numbers, and the bottleneck (before: after). growing: nothing is faster over the whole ranges.",
        "4k: TLABs of 4 KB from the heap. core, L3, core+L3: TLABs of 4 KB from Terrace's buffers.",
        &format!(
            "simulated on {} ({} CPUs), not measured: bounds of refills, memory and collections",
            machine.name,
            machine.shape.cpus()
        ),
    ] {
        text.push_str(&indented("", line, columns));
    }
    text
}

fn plot(places: &[Place]) -> Plot {
    let (edens, threads) = (edens(places), threads(places));
    let point = |place: &Place| {
        let series = threads.iter().position(|threads| *threads == place.threads)?;
        let at = edens.iter().position(|eden| *eden == place.eden)? as f64;
        let (median, choice) = (place.gain(), place.choice());
        let own = choice.way == Way::Growing;
        let (low, high) = if own { (1.0, 1.0) } else { place.range };
        let value = Interval { median, low, high };
        let text = format!("{} [{} - {}]", times(median), choice.way.name(), choice.bound);
        Some(Point { series, at, value, text, values: 1 })
    };
    let tick = |(at, eden): (usize, &usize)| Tick {
        at: at as f64,
        label: size::format(*eden as u64),
        number: false,
    };
    let title = "Gain over HotSpot's growing TLABs";
    let figure = Figure {
        kind: Kind::Heat,
        title: title.into(),
        unit: "x".into(),
        log: true,
        x: Axis {
            name: "eden".into(),
            words: true,
            ticks: edens.iter().enumerate().map(tick).collect(),
            ..Axis::default()
        },
        series: threads.iter().map(|threads| Series::of(format!("{threads} threads"))).collect(),
        panels: vec![Panel { points: places.iter().filter_map(point).collect(), ..Panel::default() }],
        ..Figure::default()
    };
    let caption = "In brackets: the source of refills, and the resulting bottleneck.".into();
    Plot { title: title.into(), caption, drawing: figure.drawing() }
}

/// All ways in all places.
fn numbers(places: &[Place]) -> Table {
    let header = ["threads", "eden", "TLABs from", "objects/s", "bound by", "collecting"];
    let rows = places.iter().flat_map(|place| {
        place.rates.iter().map(|rate| {
            vec![
                place.threads.to_string(),
                size::format(place.eden as u64),
                rate.way.name().into(),
                count(rate.per_second),
                rate.bound.to_string(),
                share(rate.collecting),
            ]
        })
    });
    Table { names: 3, ..Table::new(header) }.with(rows)
}

/// The map as a page.
pub fn html(machine: &Machine, places: &[Place], meta: String) -> Result<String> {
    let contents = Contents {
        question: "Where do buffers pay off? Each cell has the simplest way to refill TLABs that is at most 2 % slower than the fastest, if it gains over the whole range of all numbers."
            .into(),
        plots: vec![plot(places)],
        tables: vec![("All ways", numbers(places))],
        ..Contents::default()
    };
    page::page(format!("Where buffers pay off on {}", machine.name), meta, &contents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_fits_a_narrow_terminal() {
        let machine = Machine::named("opsian-haswell").unwrap();
        let text = text(&machine, &[], 40);
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
    }
}
