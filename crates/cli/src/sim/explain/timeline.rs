//! The moves of lines one by one, as a page: each core has a row, each move is a bar there.

use super::lines;
use crate::sim::page::{self, Contents, Plot};
use coherence::explain::{Explanation, kind};
use coherence::machine::{Machine, Picoseconds};
use coherence::memory::{Event, Kind, Traffic};
use coherence::scenario::Scenario;
use jvm::{Error, Result};
use present::figure::scale::linear;
use present::figure::svg::{escaped, line, text};
use std::collections::BTreeMap;
use std::fmt::Write;

/// More cannot be looked at.
const MOST: usize = 2000;
/// Moves in a window that nobody chose.
const USUAL: usize = 250;
/// Rows; where more cores took part the busiest are shown.
const MOST_ROWS: usize = 64;
/// Colours; what is left shares the last one.
const COLOURS: usize = 8;

const ROW: f64 = 24.0;
const AXIS: f64 = 30.0;
const MARGIN: f64 = 16.0;
/// What a usual move is to be wide, in pixels, and the limits of the picture.
const MOVE: f64 = 18.0;
const NARROWEST: f64 = 860.0;
const WIDEST: f64 = 9000.0;

/// Some moves that follow each other.
pub struct Window<'a> {
    events: Vec<&'a Event>,
    names: BTreeMap<u32, &'a str>,
    from: Picoseconds,
    to: Picoseconds,
}

impl<'a> Window<'a> {
    /// The moves that set out from a moment on, for so long or for a usual number of them. `kept`: how many the traffic keeps.
    pub fn of(
        traffic: &'a Traffic,
        from: Picoseconds,
        length: Option<Picoseconds>,
        kept: usize,
    ) -> Result<Window<'a>> {
        let most = if length.is_some() { MOST } else { USUAL };
        let until = length.map_or(Picoseconds::MAX, |length| from.saturating_add(length));
        let all = &traffic.events;
        if all.len() >= kept && all.last().is_some_and(|last| last.begin < from) {
            return Err(Error::usage(format!(
                "--from is beyond the first {kept} moves, and no more are kept; choose an earlier one or a shorter --length"
            )));
        }
        let mut events: Vec<&Event> =
            all.iter().filter(|event| (from..until).contains(&event.begin)).take(most).collect();
        if events.is_empty() && length.is_none() {
            // Nothing moves any more: the last that did.
            events = all.iter().skip(all.len().saturating_sub(USUAL)).collect();
        }
        if events.is_empty() {
            return Err(Error::usage(
                "no line moves in that window; choose another --from or a longer --window",
            ));
        }
        let name = |event: &&&'a Event| {
            let line = &traffic.lines[event.line as usize];
            (event.line, line.name.as_str())
        };
        let names = events.iter().map(|event| name(&event)).collect();
        let from = events.iter().map(|event| event.begin).min().unwrap_or(0);
        let to = events.iter().map(|event| event.end).max().unwrap_or(from + 1);
        Ok(Window { events, names, from, to })
    }

    /// What has a colour of its own, with most moves first: lines, or their kinds where there are many.
    fn series(&self) -> (Vec<String>, BTreeMap<u32, usize>) {
        let by_kind = self.names.len() > COLOURS;
        let label = |line: &u32| {
            let name = self.names[line];
            if by_kind { kind(name) } else { name.to_owned() }
        };
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for event in &self.events {
            *counts.entry(label(&event.line)).or_default() += 1;
        }
        let mut labels: Vec<(String, usize)> = counts.into_iter().collect();
        labels.sort_by_key(|(label, count)| (std::cmp::Reverse(*count), label.clone()));
        let mut labels: Vec<String> = labels.into_iter().map(|(label, _)| label).collect();
        let colour = |line: &u32| {
            let place = labels.iter().position(|one| *one == label(line)).unwrap_or(0);
            (*line, place.min(COLOURS - 1))
        };
        let colours = self.names.keys().map(colour).collect();
        if labels.len() > COLOURS {
            labels.truncate(COLOURS - 1);
            labels.push("others".into());
        }
        (labels, colours)
    }

    /// The cores that took part, those with most moves if there are too many, by number.
    fn cores(&self) -> (Vec<u32>, usize) {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for event in &self.events {
            *counts.entry(event.to).or_default() += 1;
            if let Some(from) = event.from {
                *counts.entry(from).or_default() += 1;
            }
        }
        let all = counts.len();
        let mut cores: Vec<(u32, usize)> = counts.into_iter().collect();
        cores.sort_by_key(|(core, count)| (std::cmp::Reverse(*count), *core));
        let mut cores: Vec<u32> = cores.into_iter().take(MOST_ROWS).map(|(core, _)| core).collect();
        cores.sort_unstable();
        (cores, all)
    }
}

/// Where things are in the picture.
struct Places<'a> {
    window: &'a Window<'a>,
    cores: &'a [u32],
    scale: f64,
    width: f64,
    height: f64,
}

impl<'a> Places<'a> {
    fn new(window: &'a Window<'a>, cores: &'a [u32]) -> Places<'a> {
        let mut lengths: Vec<Picoseconds> =
            window.events.iter().map(|event| event.end - event.begin).collect();
        lengths.sort_unstable();
        let usual = lengths[lengths.len() / 2].max(1) as f64;
        let span = (window.to - window.from).max(1) as f64;
        let inner = (span * MOVE / usual).clamp(NARROWEST, WIDEST);
        Places {
            window,
            cores,
            scale: inner / span,
            width: inner + 2.0 * MARGIN,
            height: 2.0 * AXIS + ROW * cores.len() as f64,
        }
    }

    fn x(&self, time: Picoseconds) -> f64 {
        MARGIN + time.saturating_sub(self.window.from) as f64 * self.scale
    }

    /// The middle of a core's row.
    fn y(&self, core: u32) -> Option<f64> {
        let row = self.cores.iter().position(|one| *one == core)?;
        Some(AXIS + ROW * (row as f64 + 0.5))
    }
}

/// The names of the rows, in a picture of its own that stays when the other one is scrolled.
fn labels(machine: &Machine, places: &Places<'_>) -> String {
    const WIDTH: f64 = 76.0;
    let mut svg =
        format!(r#"<svg class="labels" width="{WIDTH}" height="{}" aria-hidden="true">"#, places.height);
    for &core in places.cores {
        let package = machine.shape.package_of(core * machine.shape.threads);
        let place = if machine.shape.packages > 1 { format!("P{package} · ") } else { String::new() };
        let y = places.y(core).unwrap_or_default() + 4.0;
        text(&mut svg, "core", WIDTH - 8.0, y, "end", &format!("{place}{core}"));
    }
    svg + "</svg>"
}

/// A tick about every hundred pixels, at round numbers of nanoseconds.
fn axis(svg: &mut String, places: &Places<'_>) {
    let span = (places.window.to - places.window.from) as f64 / 1e3;
    for nanoseconds in linear(0.0, span, (span * 1e3 * places.scale / 110.0) as usize) {
        let x = MARGIN + nanoseconds * 1e3 * places.scale;
        let at = format!("{x:.1}");
        line(svg, "rule", (&at, AXIS), (&at, places.height - AXIS));
        for y in [18.0, places.height - 12.0] {
            text(svg, "", &at, y, "middle", &format!("{nanoseconds} ns"));
        }
    }
}

fn picture(machine: &Machine, places: &Places<'_>, colours: &BTreeMap<u32, usize>) -> String {
    let (width, height) = (places.width, places.height);
    let mut svg = format!(
        r#"<svg width="{width:.0}" height="{height}" role="img"><title>Moves of cache lines between cores over time</title>"#
    );
    let mut before = None;
    for (row, core) in places.cores.iter().enumerate() {
        let top = AXIS + ROW * row as f64;
        if row % 2 == 0 {
            let _ = write!(svg, r#"<rect class="band" y="{top}" width="100%" height="{ROW}"/>"#);
        }
        // A line where another package begins.
        let package = machine.shape.package_of(core * machine.shape.threads);
        if before.is_some_and(|before| before != package) {
            line(&mut svg, "edge", ("0", top), ("100%", top));
        }
        before = Some(package);
    }
    axis(&mut svg, places);
    // Ways below bars.
    for event in &places.window.events {
        let (Some(from), Some(to)) = (event.from.and_then(|from| places.y(from)), places.y(event.to)) else {
            continue;
        };
        let [begin, end] = [event.begin, event.end].map(|time| format!("{:.1}", places.x(time)));
        line(&mut svg, &format!("way s{}", colours[&event.line]), (&begin, from), (&end, to));
    }
    for event in &places.window.events {
        bar(&mut svg, places, event, colours[&event.line]);
    }
    svg.push_str("</svg>");
    svg
}

fn bar(svg: &mut String, places: &Places<'_>, event: &Event, colour: usize) {
    let Some(y) = places.y(event.to) else { return };
    let (asked, begin, end) = (places.x(event.asked), places.x(event.begin), places.x(event.end));
    if begin - asked > 0.5 {
        let _ = write!(
            svg,
            r#"<rect class="wait s{colour}" x="{asked:.1}" y="{:.1}" width="{:.1}" height="6"/>"#,
            y - 3.0,
            begin - asked
        );
    }
    let (height, what) = match event.kind {
        Kind::Read => (8.0, "copied for reading"),
        Kind::Write => (15.0, "taken for writing"),
        Kind::Upgrade => (15.0, "all other copies made invalid"),
    };
    let from = event.from.map_or("from memory or a shared cache".into(), |from| format!("from core {from}"));
    let nanoseconds = |time: Picoseconds| time as f64 / 1e3;
    let _ = write!(
        svg,
        r#"<rect class="bar s{colour}" x="{begin:.1}" y="{:.1}" width="{:.1}" height="{height}" rx="2"><title>{}&#10;{what}&#10;{from} to core {}&#10;waited {:.1} ns, moved {:.1} ns</title></rect>"#,
        y - height / 2.0,
        (end - begin).max(1.5),
        escaped(places.window.names[&event.line]),
        event.to,
        nanoseconds(event.begin - event.asked),
        nanoseconds(event.end - event.begin)
    );
}

/// The page: the moves, and the most expensive lines of the whole simulation.
pub fn page(
    machine: &Machine,
    scenario: &Scenario,
    explanation: &Explanation,
    window: &Window<'_>,
) -> Result<String> {
    let (series, colours) = window.series();
    let (cores, all) = window.cores();
    let places = Places::new(window, &cores);
    let rest = if all > cores.len() {
        format!("; the {} busiest of {all} cores are shown", cores.len())
    } else {
        String::new()
    };
    let caption = format!(
        "A row for each core (P0 is package 0). A bar is a line's transfer to that core: tall for writing, low for reading. The pale bar before \
         it is the wait until the line was free, and the slanted stroke shows the core that gave it up. {} moves in {:.0} ns, from {:.3} us \
         of the simulation on{rest}.",
        window.events.len(),
        (window.to - window.from) as f64 / 1e3,
        window.from as f64 / 1e6
    );
    let key =
        |(colour, name): (usize, &String)| format!(r#"<li><i class="s{colour}"></i>{}</li>"#, escaped(name));
    let drawing = format!(
        r#"<ul class="key">{}</ul><div class="drawing picture" tabindex="0" role="region" aria-label="Moves of lines">{}{}</div>"#,
        series.iter().enumerate().map(key).collect::<String>(),
        labels(machine, &places),
        picture(machine, &places, &colours)
    );
    let contents = Contents {
        answer: explanation.verdict.clone(),
        plots: vec![Plot { title: "Moves of lines".into(), caption, drawing }],
        tables: vec![(
            "The most expensive lines of the whole simulation",
            lines(&explanation.lines[..explanation.lines.len().min(20)]),
        )],
        ..Contents::default()
    };
    let program = format!("{}, {} threads", scenario.program.name(), scenario.threads);
    let meta = page::meta(machine, &program, scenario.length, scenario.seed);
    page::page(format!("Which line bounced on {}", machine.name), meta, &contents)
}
