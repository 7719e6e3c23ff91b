//! Why the buffers of a JVM have the sizes that they have: `terrace status PID --why`.

use crate::size;
use control::{Decision, View};
use hab::adaptive::{BAND, LEFT, MATTERS, Observed, Why};
use hab::sizing::{EDEN_FRACTION, LARGEST};
use present::numbers::{count, human, share};
use present::table::{Table, labelled};
use serde::Serialize;
use serde_json::{Map, Value};

/// Costs below this share of the time are shown as such.
const LEAST_SHOWN: f64 = 1e-5;

/// The sizes of a JVM's buffers, and what has led to them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Sizing {
    pub levels: Vec<LevelSize>,
    /// How often adaptive sizes have changed.
    pub changed: u64,
    /// The last of these changes, the oldest first.
    pub changes: Vec<Judged>,
}

#[derive(Clone, Debug, Serialize)]
pub struct LevelSize {
    pub level: String,
    pub bytes: u64,
    /// auto, formula or a size.
    pub asked: String,
    /// The last evaluation, where the size is or was auto.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latest: Option<Judged>,
}

/// A decision, and what the costs were by which it was made.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    pub level: String,
    pub why: &'static str,
    #[serde(flatten)]
    pub numbers: Map<String, Value>,
    /// What refills cost, as a share of the time; nothing where the bound alone decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refills_cost: Option<f64>,
    /// What waste cost, as a share of the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waste_cost: Option<f64>,
    #[serde(skip)]
    decision: Decision,
}

impl Judged {
    fn new(decision: Decision, names: &[&str]) -> Judged {
        let of_time =
            |ns: u64| Some(ns as f64 / decision.seen.elapsed_ns as f64).filter(|share| share.is_finite());
        Judged {
            level: names.get(decision.level).copied().unwrap_or("unknown").to_owned(),
            why: decision.why.name(),
            numbers: decision
                .fields()
                .map(|(name, value)| (name.to_owned(), value.into()))
                .into_iter()
                .collect(),
            refills_cost: of_time(decision.seen.refills_cost_ns(decision.most as usize)),
            waste_cost: of_time(decision.seen.waste_cost_ns()),
            decision,
        }
    }

    fn costs(&self) -> String {
        let Observed { collections, domains, refills, past, waste, .. } = self.decision.seen;
        let cost = |cost: Option<f64>| match cost {
            None => "unavailable".into(),
            Some(cost) if cost < LEAST_SHOWN => "under 0.001 %".into(),
            Some(cost) => share(cost),
        };
        format!(
            "refills cost {} of the time ({}, and {} requests past the buffers), waste at collections {} ({}); {} collections, {domains} domains",
            cost(self.refills_cost),
            count(refills as f64),
            count(past[0] as f64),
            cost(self.waste_cost),
            human(waste as f64),
            count(collections as f64),
        )
    }
}

/// What an agent says of its sizes. `settings`: those in force.
pub fn read(control: &View, settings: &Value) -> Sizing {
    // Only where there are buffers: otherwise the settings name no sizes.
    let names: Vec<&str> = settings["levels"].as_str().unwrap_or_default().split('+').collect();
    let level = |(number, name): (usize, &&str)| {
        let asked = settings[*name].as_str()?.to_owned();
        let latest = control.latest_decision(number).map(|latest| Judged::new(latest, &names));
        Some(LevelSize { level: (*name).to_owned(), bytes: control.size(number), asked, latest })
    };
    Sizing {
        levels: names.iter().enumerate().filter_map(level).collect(),
        changed: control.changed(),
        changes: control.changes().into_iter().map(|change| Judged::new(change, &names)).collect(),
    }
}

/// One sentence.
fn reason(judged: &Judged) -> String {
    let decided = match judged.decision.why {
        Why::Refills => "larger".into(),
        Why::Waste => "smaller".into(),
        Why::Bound => {
            return format!("its limit has changed with eden ({})", human(judged.decision.seen.eden as f64));
        }
        Why::Balanced => format!("no change, because neither cost is {BAND} times the other"),
        Why::Minor => format!("no change, because both costs are below {}", share(1.0 / MATTERS as f64)),
        Why::AtBound => "no change, because the size is at its limit".into(),
        Why::Left => format!(
            "no change, because larger buffers would leave more than {} of eden behind",
            share(1.0 / LEFT as f64)
        ),
        Why::Undone => "no change, because smaller buffers had to be made larger again".into(),
        Why::Once => "no change until the next evaluation agrees".into(),
    };
    format!("{decided}: {}", judged.costs())
}

/// As a text for people.
pub fn show(sizing: &Sizing, columns: u16) -> String {
    if sizing.levels.is_empty() {
        return labelled("why these sizes", "no buffers, so no sizes", columns);
    }
    let mut text = String::new();
    for LevelSize { level, bytes, asked, latest } in &sizing.levels {
        let formula =
            || format!("eden/{EDEN_FRACTION} in total, at most {} each", size::format(LARGEST as u64));
        let why = match asked.as_str() {
            "formula" => format!("by the formula alone ({})", formula()),
            "auto" => match latest {
                None => format!("auto, starts with the formula's ({}); no evaluation yet", formula()),
                Some(latest) => format!("auto; at pause {}: {}", latest.decision.pause, reason(latest)),
            },
            asked => format!("{asked} was requested"),
        };
        text += &labelled(&format!("why {level}"), &format!("{}: {why}", size::format(*bytes)), columns);
    }
    if sizing.changes.is_empty() {
        return text;
    }
    text += &labelled("sizes changed", &format!("{} times; the last:", sizing.changed), columns);
    let mut table = Table::new(["pause", "level", "from", "to", "why"]);
    for judged in &sizing.changes {
        let Decision { pause, from, to, .. } = judged.decision;
        let [from, to] = [from, to].map(size::format);
        table.push([pause.to_string(), judged.level.clone(), from, to, reason(judged)]);
    }
    text + &table.text(columns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Control, State};

    const SEEN: Observed = Observed {
        collections: 4,
        domains: 2,
        refills: 200,
        served: [5000, 5_000_000],
        past: [7, 7000],
        refill_ns: 1000,
        waste: 1_000_000,
        eden: 10_000_000,
        pause_ns: 400_000_000,
        elapsed_ns: 1_000_000_000,
    };

    fn installed(asked: &str) -> Control {
        let control = Control::anonymous(&[2]).unwrap();
        control.set_settings(&format!(r#"{{"levels":"core","core":"{asked}"}}"#));
        control.set_sizes(&[131_072]);
        control.set_state(State::Installed);
        control
    }

    fn shown(control: &Control) -> String {
        show(&crate::status::read(control).sizing, 120).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_way_to_a_size_is_told() {
        for (asked, part) in [
            ("formula", "why core 128k: by the formula alone (eden/32 in total, at most 256k each)"),
            ("auto", "128k: auto, starts with the formula's"),
            ("128k", "128k: 128k was requested"),
        ] {
            let shown = shown(&installed(asked));
            assert!(shown.contains(part), "'{part}' in: {shown}");
        }
    }

    #[test]
    fn evaluations_and_changes_have_their_numbers() {
        let control = installed("auto");
        let change = Decision {
            level: 0,
            pause: 9,
            from: 262_144,
            to: 131_072,
            most: 262_144,
            why: Why::Waste,
            seen: SEEN,
        };
        control.note_change(&change);
        control.note_decision(&Decision { from: 131_072, pause: 13, why: Why::Balanced, ..change });
        let bound = Observed { eden: 5_000_000, ..Observed::default() };
        control.note_change(&Decision { pause: 14, why: Why::Bound, seen: bound, ..change });
        let shown = shown(&control);
        for part in [
            "at pause 13: no change, because neither cost is 4 times the other: refills cost 0.0207 % of the time (200, and 7 requests past the buffers), waste at \
             collections 1 % (1.00 MB); 4 collections, 2 domains",
            "sizes changed 2 times",
            "| 9 | core | 256k | 128k | smaller: refills cost",
            "its limit has changed with eden (5.00 MB)",
        ] {
            assert!(shown.contains(part), "'{part}' in: {shown}");
        }
        let json = serde_json::to_value(crate::status::read(&control)).unwrap();
        let [change, bound] = [0, 1].map(|at| &json["sizing"]["changes"][at]);
        assert_eq!((&change["why"], &change["from_bytes"]), (&"waste".into(), &262_144.into()));
        assert_eq!((&change["waste_cost"], &bound["waste_cost"]), (&0.01.into(), &Value::Null));
        assert_eq!(json["sizing"]["levels"][0]["latest"]["why"], "balanced");
    }

    #[test]
    fn a_cost_next_to_nothing_is_not_spelt_out() {
        let control = installed("auto");
        let seen = Observed { waste: 1, ..SEEN };
        control.note_decision(&Decision {
            level: 0,
            pause: 9,
            from: 131_072,
            to: 131_072,
            most: 131_072,
            why: Why::AtBound,
            seen,
        });
        assert!(shown(&control).contains("waste at collections under 0.001 %"), "{}", shown(&control));
    }

    #[test]
    fn without_buffers_there_is_nothing_to_tell() {
        let control = Control::anonymous(&[2]).unwrap();
        control.set_settings(r#"{"levels":"none","core_bytes":0}"#);
        control.set_state(State::Observing);
        assert!(shown(&control).contains("no buffers, so no sizes"));
    }
}
