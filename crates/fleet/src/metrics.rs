//! What agents count, as metrics: names, units (UCUM) and attributes as OpenTelemetry's semantic conventions have them.

use crate::survey::Look;
use hab::Counter;
use jvm::status::{Level, Status};
use std::fmt;
use std::time::Duration;

/// What an attribute says.
#[derive(Clone, Debug, PartialEq)]
pub enum Attribute {
    Text(String),
    Number(u32),
}

impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Attribute::Text(text) => f.write_str(text),
            Attribute::Number(number) => number.fmt(f),
        }
    }
}

/// A metric with its points, one JVM's.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    pub name: &'static str,
    /// Of one: `By`, `{refill}`.
    pub unit: &'static str,
    pub description: &'static str,
    /// Whether it only grows while the JVM lives.
    pub is_counter: bool,
    pub points: Vec<Point>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub attributes: Vec<(&'static str, Attribute)>,
    pub value: u64,
}

impl Point {
    fn new(attributes: Vec<(&'static str, Attribute)>, value: u64) -> Point {
        // What OTLP's integers can be: a collector that meets a larger one rejects what all JVMs say.
        Point { attributes, value: value.min(i64::MAX as u64) }
    }
}

/// How many CPUs this machine can have, and with them domains of a level.
pub fn possible_cpus() -> usize {
    let text = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap_or_default();
    match topology::parse_cpu_list(&text) {
        Ok(cpus) if !cpus.is_empty() => cpus.len(),
        _ => std::thread::available_parallelism().map_or(1, usize::from),
    }
}

/// What a JVM with an agent says.
#[derive(Clone, Debug)]
pub struct Resource {
    pub attributes: Vec<(&'static str, Attribute)>,
    /// The JVM's start, since 1970.
    pub began: Duration,
    pub metrics: Vec<Metric>,
}

/// A counter of every domain: its metric and its attribute, if several make one metric.
struct Counted {
    name: &'static str,
    unit: &'static str,
    description: &'static str,
    of: &'static [(Counter, Option<(&'static str, &'static str)>)],
}

const fn counted(
    name: &'static str,
    unit: &'static str,
    of: &'static [(Counter, Option<(&'static str, &'static str)>)],
    description: &'static str,
) -> Counted {
    Counted { name, unit, description, of }
}

const CAUSE: &str = "terrace.waste.cause";
const COUNTED: [Counted; 15] = [
    counted(
        "terrace.buffer.tlabs",
        "{tlab}",
        &[(Counter::Buffers, None)],
        "TLABs served by the domain's buffer.",
    ),
    counted(
        "terrace.buffer.tlab.bytes",
        "By",
        &[(Counter::BufferBytes, None)],
        "Bytes of the TLABs served by the domain's buffer.",
    ),
    counted(
        "terrace.buffer.objects",
        "{object}",
        &[(Counter::Objects, None)],
        "Objects outside TLABs served by the domain's buffer.",
    ),
    counted("terrace.buffer.object.bytes", "By", &[(Counter::ObjectBytes, None)], "Bytes of those objects."),
    counted(
        "terrace.buffer.refills",
        "{refill}",
        &[(Counter::Refills, None)],
        "Extents with which the buffer was refilled from its source.",
    ),
    counted("terrace.buffer.refill.bytes", "By", &[(Counter::RefillBytes, None)], "Bytes of those extents."),
    counted(
        "terrace.buffer.foreign",
        "{request}",
        &[(Counter::Foreign, None)],
        "Requests whose thread had left the domain by the time they were served.",
    ),
    counted(
        "terrace.buffer.stolen",
        "{request}",
        &[(Counter::Stolen, None)],
        "Requests served from the tail of another domain's buffer.",
    ),
    counted("terrace.buffer.stolen.bytes", "By", &[(Counter::StolenBytes, None)], "Bytes of those requests."),
    counted(
        "terrace.buffer.direct",
        "{request}",
        &[(Counter::Direct, None)],
        "Requests passed on to the buffer's source.",
    ),
    counted("terrace.buffer.direct.bytes", "By", &[(Counter::DirectBytes, None)], "Bytes of those requests."),
    counted(
        "terrace.buffer.waste.bytes",
        "By",
        &[
            (Counter::WasteRefill, Some((CAUSE, "refill"))),
            (Counter::WasteCollection, Some((CAUSE, "collection"))),
            (Counter::WasteAlignment, Some((CAUSE, "alignment"))),
        ],
        "Bytes that were reserved and never allocated.",
    ),
    counted(
        "terrace.heap.passed",
        "{request}",
        &[(Counter::Passed, None)],
        "Requests that the heap served while buffers were off.",
    ),
    counted("terrace.heap.passed.bytes", "By", &[(Counter::PassedBytes, None)], "Bytes of those requests."),
    counted(
        "terrace.heap.missed.bytes",
        "By",
        &[(Counter::MissedBytes, None)],
        "Bytes of objects that the heap served while buffers were on.",
    ),
];

impl Resource {
    /// With at most so many domains of a level. `None` for a JVM without an agent.
    pub fn of(look: &Look, cpus: usize) -> Option<Resource> {
        let status = look.agent.as_ref()?;
        Some(Resource {
            attributes: vec![
                ("process.pid", Attribute::Number(look.pid)),
                ("terrace.program", Attribute::Text(look.program.clone())),
            ],
            began: look.began,
            metrics: metrics(status, cpus),
        })
    }
}

fn metrics(status: &Status, cpus: usize) -> Vec<Metric> {
    let one = |name, unit, is_counter, value, description| Metric {
        name,
        unit,
        description,
        is_counter,
        points: vec![Point::new(Vec::new(), value)],
    };
    let text = |name: &str| Attribute::Text(status.settings[name].as_str().unwrap_or("").to_owned());
    let information = Metric {
        points: vec![Point::new(
            vec![
                ("terrace.state", Attribute::Text(status.state.clone())),
                ("terrace.mode", Attribute::Text(status.mode.clone())),
                ("terrace.levels", text("levels")),
                ("terrace.version", text("terrace")),
            ],
            1,
        )],
        ..one("terrace.agent", "", false, 1, "The agent's state and settings; always 1.")
    };
    let on = u64::from(status.state == "installed" && status.mode != "off");
    let mut all = vec![
        information,
        one("terrace.buffers.enabled", "", false, on, "Whether buffers are on: 1 or 0."),
        one(
            "terrace.allocated.bytes",
            "By",
            true,
            status.served_bytes,
            "Bytes handed out to threads; TLABs count as a whole.",
        ),
        one("terrace.collector.pauses", "{pause}", true, status.pauses, "Pauses of the garbage collector."),
    ];
    all.extend(COUNTED.iter().map(|counted| Metric {
        name: counted.name,
        unit: counted.unit,
        description: counted.description,
        is_counter: true,
        points: points(status, counted, cpus),
    }));
    all.retain(|metric| !metric.points.is_empty());
    all
}

/// Whether the counters are of levels that have names. The memory has counters before its settings are written, and whoever is refused
/// before that has none.
fn is_settled(status: &Status) -> bool {
    matches!(status.state.as_str(), "installed" | "observing" | "withdrawn" | "ended")
        && status.settings["levels"].is_string()
}

fn points(status: &Status, counted: &Counted, cpus: usize) -> Vec<Point> {
    let mut points = Vec::new();
    for level in status.levels.iter().filter(|_| is_settled(status)) {
        for (counter, cause) in counted.of {
            let values = level.domains.iter().map(|domain| domain.get(*counter));
            // Private buffers are threads', and a hostile process may have written any number of domains.
            if level.domains.len() > cpus {
                let sum = values.fold(0, u64::saturating_add);
                points.push(Point::new(place(level, None, *cause), sum));
            } else {
                let each = values.enumerate();
                points.extend(
                    each.map(|(domain, value)| Point::new(place(level, Some(domain), *cause), value)),
                );
            }
        }
    }
    points
}

fn place(
    level: &Level,
    domain: Option<usize>,
    cause: Option<(&'static str, &'static str)>,
) -> Vec<(&'static str, Attribute)> {
    let level = Some(("terrace.level", level.name.clone()));
    let domain = domain.map(|domain| ("terrace.domain", domain.to_string()));
    let cause = cause.map(|(name, value)| (name, value.to_owned()));
    let all = [level, domain, cause].into_iter().flatten();
    all.map(|(name, text)| (name, Attribute::Text(text))).collect()
}
