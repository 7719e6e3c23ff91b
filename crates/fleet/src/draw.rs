//! A view as lines of a terminal.
//!
//! Colours are the terminal's own sixteen, on its own background, so that they can be read on a light one and on a dark one; what a
//! colour says stands there in words, too.

use crate::activity::{Activity, Domain, OTHER_VERSION, Share};
use crate::order::Order;
use crate::view::View;
use present::numbers::{count, percent, quantity, significant};
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Cell, Paragraph, Row, Sparkline, StatefulWidget, Table, TableState, Widget, Wrap};

/// Name, what it sorts by, and width; 0 takes what is left.
const COLUMNS: [(&str, Option<Order>, u16); 8] = [
    ("PID", Some(Order::Pid), 7),
    ("PROGRAM", Some(Order::Program), 0),
    ("BUFFERS", None, 9),
    ("ALLOC/s", Some(Order::Allocated), 9),
    ("TLABs/s", Some(Order::Tlabs), 8),
    ("REFILLS/s", Some(Order::Refills), 10),
    ("WASTE", Some(Order::Waste), 7),
    ("GCs/s", Some(Order::Collections), 6),
];
const KEYS: &str = "q quit  up/down select  o on/off  d domains  s sort  ? help";
const HELP: [&str; 13] = [
    "up, down, j, k   select a JVM          o   its buffers on or off",
    "d, Enter         its domains or levels s   sort by the next column (*)",
    "?, h             this help             q   quit",
    "",
    "BUFFERS    on, off, bound: Terrace's; counts: an observer; stock: without",
    "ALLOC/s    bytes handed to threads; ~: of a stock JVM, eden by how often full",
    "TLABs/s    requests for TLABs and objects outside; a stock heap serves them all",
    "REFILLS/s  what the heap serves with Terrace: refills, and what passes buffers",
    "WASTE      what buffers gave up, as a share of the bytes handed out",
    "GCs/s      collections",
    "",
    "A '-' means not known: a stock JVM does not count it ('terrace attach PID",
    "levels=none' does), or its collections do not tell; -XX:-UsePerfData hides them",
];

/// Lines of the lower part: title, two histories, and a table.
const DETAIL: u16 = 9;

/// How much is needed to show everything.
pub fn height(view: &View) -> u16 {
    let rows = u16::try_from(view.jvms.len().max(1)).unwrap_or(u16::MAX);
    rows.saturating_add(2 + DETAIL)
}

/// Draws all of it. Without `colours` it is told by words and emphasis alone.
pub fn draw(view: &View, colours: bool, area: Rect, buffer: &mut Buffer) {
    let [title, list, detail, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Min(2),
        Constraint::Length(if area.height > DETAIL + 4 { DETAIL } else { 0 }),
        Constraint::Length(1),
    ])
    .areas(area);
    let painter = Painter { colours };
    Line::styled(summary(view), Modifier::BOLD).render(title, buffer);
    if view.help {
        let [lines, _] = Layout::vertical([Constraint::Length(HELP.len() as u16), Constraint::Min(0)])
            .areas(list.union(detail));
        Paragraph::new(HELP.map(Line::from).to_vec()).render(lines, buffer);
    } else {
        painter.list(view, list, buffer);
        if let Some(jvm) = view.jvms.get(view.selected()).filter(|_| detail.height > 0) {
            painter.detail(view, jvm, detail, buffer);
        }
    }
    let below = if view.message.is_empty() { KEYS } else { &view.message };
    Line::styled(below, Modifier::DIM).render(keys, buffer);
}

fn summary(view: &View) -> String {
    let with = view.jvms.iter().filter(|jvm| jvm.buffers != "stock").count();
    let known: Vec<f64> = view.jvms.iter().filter_map(|jvm| jvm.allocated).collect();
    let count = view.jvms.len();
    if count == 0 {
        return "no JVM of this user is running".into();
    }
    let allocated = match quantity(known.iter().sum(), "B/s") {
        _ if known.is_empty() => "the allocation is not known".into(),
        sum if known.len() == count => format!("together they allocate {sum}"),
        sum => format!("together they allocate at least {sum}"),
    };
    format!("{count} JVM{}, {with} with terrace; {allocated}", if count == 1 { "" } else { "s" })
}

struct Painter {
    colours: bool,
}

impl Painter {
    fn colour(&self, colour: Color) -> Style {
        if self.colours { Style::new().fg(colour) } else { Style::new() }
    }

    fn list(&self, view: &View, area: Rect, buffer: &mut Buffer) {
        let header = COLUMNS.map(|(name, order, _)| match order {
            Some(order) if order == view.order => format!("{name}*"),
            _ => name.to_owned(),
        });
        let header = Row::new(right_aligned(header)).style(Modifier::UNDERLINED);
        let rows = view.jvms.iter().map(|jvm| self.row(jvm));
        let longest = view.jvms.iter().map(|jvm| jvm.buffers.len() as u16).max().unwrap_or(0);
        let widths = COLUMNS.map(|(name, _, width)| match width {
            0 => Constraint::Fill(1),
            // Few JVMs have a long word there.
            width if name == "BUFFERS" => Constraint::Length(width.max(longest)),
            width => Constraint::Length(width),
        });
        let table =
            Table::new(rows, widths).header(header).column_spacing(1).row_highlight_style(Modifier::REVERSED);
        let mut state = TableState::new().with_selected((!view.jvms.is_empty()).then(|| view.selected()));
        StatefulWidget::render(table, area, buffer, &mut state);
    }

    fn row<'a>(&self, jvm: &Activity) -> Row<'a> {
        let estimate = if jvm.is_estimate { "~" } else { "" };
        let cells = [
            jvm.pid.to_string(),
            jvm.program.clone(),
            jvm.buffers.clone(),
            known(jvm.allocated, |rate| format!("{estimate}{}", quantity(rate, "B"))),
            known(jvm.tlabs, |rate| count(rate.round())),
            known(jvm.refills, |rate| count(rate.round())),
            known(jvm.waste, |share| percent(share, 2)),
            known(jvm.collections, |rate| significant(round(rate))),
        ];
        let style = match jvm.buffers.as_str() {
            "on" => self.colour(Color::Green),
            "off" | "counts" => self.colour(Color::Yellow),
            "refused" | OTHER_VERSION => self.colour(Color::Red),
            _ => Style::new(),
        };
        let mut cells = right_aligned(cells);
        cells[2] = cells[2].clone().style(style);
        Row::new(cells)
    }

    fn detail(&self, view: &View, jvm: &Activity, area: Rect, buffer: &mut Buffer) {
        let [title, allocated, tlabs, table] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Min(0),
        ])
        .areas(area);
        Line::styled(format!("{} {}", jvm.pid, jvm.program), Modifier::UNDERLINED).render(title, buffer);
        if let Some(past) = view.history.of(jvm) {
            let second = if jvm.tlabs.is_some() { "TLABs/s" } else { "GCs/s" };
            for (area, name, values) in
                [(allocated, "ALLOC/s", &past.allocated), (tlabs, second, &past.tlabs)]
            {
                let [label, line] =
                    Layout::horizontal([Constraint::Length(9), Constraint::Min(0)]).areas(area);
                Line::from(name).render(label, buffer);
                // The newest at the right edge.
                let newest: Vec<u64> = values.iter().rev().take(line.width.into()).rev().copied().collect();
                let most = newest.iter().copied().max().unwrap_or(0).max(1);
                Sparkline::default()
                    .data(&newest)
                    .max(most)
                    .style(self.colour(Color::Cyan))
                    .render(line, buffer);
            }
        }
        match jvm.levels.as_slice() {
            [] => Paragraph::new(without(jvm)).wrap(Wrap { trim: true }).render(table, buffer),
            levels if view.domains => self.domains(levels, table, buffer),
            levels => self.levels(levels, table, buffer),
        }
    }

    fn levels(&self, levels: &[Share], area: Rect, buffer: &mut Buffer) {
        let bar = |share: f64| "#".repeat((share.clamp(0.0, 1.0) * 30.0).round() as usize);
        let rows = levels.iter().map(|level| {
            Row::new([
                level.level.clone(),
                format!("{} %", significant(round(level.of_bytes * 100.0))),
                count(level.refills.round()),
                bar(level.of_bytes),
            ])
        });
        let widths = [10, 12, 10, 30].map(Constraint::Length);
        let header = Row::new(["level", "of bytes", "refills/s", ""]).style(Modifier::DIM);
        Widget::render(Table::new(rows, widths).header(header), area, buffer);
    }

    /// The busiest first, as many as there is room for.
    fn domains(&self, levels: &[Share], area: Rect, buffer: &mut Buffer) {
        let mut domains: Vec<(&str, &Domain)> = levels
            .iter()
            .flat_map(|level| level.domains.iter().map(|domain| (level.level.as_str(), domain)))
            .collect();
        domains.sort_by(|(_, a), (_, b)| b.bytes.total_cmp(&a.bytes));
        let rows = domains.into_iter().map(|(level, domain)| {
            Row::new([
                format!("{level} {}", domain.number),
                quantity(domain.bytes, "B/s"),
                count(domain.tlabs.round()),
                count(domain.refills.round()),
                count(domain.foreign.round()),
            ])
        });
        let widths = [14, 12, 10, 10, 10].map(Constraint::Length);
        let names = ["domain", "served", "TLABs/s", "refills/s", "foreign/s"];
        let header = Row::new(names).style(Modifier::DIM);
        Widget::render(Table::new(rows, widths).header(header), area, buffer);
    }
}

/// Why there are no levels.
fn without(jvm: &Activity) -> String {
    let pid = jvm.pid;
    match jvm.buffers.as_str() {
        "stock" => format!(
            "no buffers: 'terrace doctor {pid}' says whether they would help, 'terrace attach {pid}' adds them"
        ),
        OTHER_VERSION => {
            format!("an agent of another version, with other counters: 'terrace status {pid}' says which")
        }
        "counts" => "an observer: it counts, and there are no buffers".to_owned(),
        _ => format!("'terrace status {pid}' says why"),
    }
}

fn known(value: Option<f64>, show: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), show)
}

/// What is not 0 to three digits, but to the hundredth.
fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Numbers stand at the right; the program and the state are words.
fn right_aligned<'a>(cells: [String; 8]) -> Vec<Cell<'a>> {
    let words = [1, 2];
    let cell = |(at, text): (usize, String)| match words.contains(&at) {
        true => Cell::from(text),
        false => Cell::from(Line::from(text).right_aligned()),
    };
    cells.into_iter().enumerate().map(cell).collect()
}
