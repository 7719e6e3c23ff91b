//! What a rule says: what was found, what would help, and how sure that is.

use crate::evidence::Evidence;
use crate::need::Need;
use serde::{Deserialize, Serialize};

/// A rule of the doctor's. Each is a file of its own; [`crate::rules::ALL`] has the list.
pub struct Rule {
    pub name: &'static str,
    /// Where it comes from: HotSpot's function, a paper, a measurement of this project's.
    pub source: &'static str,
    /// Without these it cannot say that there is nothing to find.
    pub needs: fn(&Evidence) -> &'static [Need],
    /// `None` when there is nothing to find, or nothing to judge by.
    pub examine: fn(&Evidence) -> Option<Found>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// One or two sentences with the numbers.
    pub evidence: String,
    /// What would help, the cheapest first.
    pub advice: Vec<Advice>,
}

/// A finding as it is reported.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    pub rule: &'static str,
    pub evidence: String,
    pub advice: Vec<Advised>,
    pub source: &'static str,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    pub remedy: Remedy,
    pub effect: Effect,
    /// What else should be known.
    pub note: &'static str,
}

/// Advice as it is reported.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advised {
    pub remedy: Remedy,
    pub effect: Effect,
    pub note: &'static str,
    /// Options of this JVM that the remedy's flags replace; without a value where only their origin is known.
    pub replaces: Vec<String>,
}

impl Advised {
    /// The remedy with the options that have to go. One that stays may come later than the new flag of the same name, and overrule it alone: a larger young
    /// generation in the old heap leaves no room for the old generation.
    pub fn text(&self) -> String {
        let remedy = self.remedy.text();
        if self.replaces.is_empty() {
            return remedy;
        }
        let together = match &self.remedy {
            Remedy::Flags(flags) if flags.len() == 2 => ", set both together",
            Remedy::Flags(flags) if flags.len() > 2 => ", set all together",
            _ => "",
        };
        format!("{remedy} in place of your {}{together}", self.replaces.join(" "))
    }
}

/// What to change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "what")]
pub enum Remedy {
    /// Flags of the JVM, at its next start.
    Flags(Vec<String>),
    /// The program itself, in words.
    Program(String),
    /// Terrace with these settings; a JVM that runs can get it at once.
    Terrace(Vec<String>),
}

impl Remedy {
    pub fn flag(flag: impl Into<String>) -> Remedy {
        Remedy::Flags(vec![flag.into()])
    }

    /// Whether collections come for more bytes each, or for fewer causes: then as much of the heap is used up as before, by fewer collections.
    pub fn saves_collections_only(&self) -> bool {
        const SAVING: [&str; 5] =
            ["-Xmn", "-Xmx", "-Xms", "-XX:G1HeapRegionSize", "-XX:+ExplicitGCInvokesConcurrent"];
        let saves = |flag: &String| SAVING.iter().any(|name| flag.starts_with(name));
        matches!(self, Remedy::Flags(flags) if flags.iter().any(saves))
    }

    /// Whether its note has to be read before it is used: it takes memory at once, or ends a goal that the collector has.
    pub fn has_side_effects(&self) -> bool {
        let changes = ["-Xmn", "AlwaysPreTouch", "UseTransparentHugePages"];
        let text = self.text();
        changes.iter().any(|name| text.contains(name))
    }

    /// As the user would write it.
    pub fn text(&self) -> String {
        match self {
            Remedy::Flags(flags) => flags.join(" "),
            Remedy::Program(what) => what.clone(),
            Remedy::Terrace(settings) if settings.is_empty() => "terrace".into(),
            Remedy::Terrace(settings) => format!("terrace {}", settings.join(" ")),
        }
    }
}

/// What a remedy is expected to do, as ratios to now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Effect {
    /// Collections for the same work. `None`: it does not change them, or nobody can tell.
    pub collections: Option<f64>,
    /// Work for each second.
    pub speed: Option<f64>,
    /// Work for each CPU-second of the whole process: what JVMs that share CPUs are compared by.
    pub speed_cpu: Option<f64>,
    pub sure: Sure,
}

/// How sure an effect is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sure {
    /// It follows from what was counted.
    Counted,
    /// It rests on what operations cost on this machine.
    Estimated,
    /// Only trying tells.
    #[default]
    Untold,
}

impl Sure {
    pub fn text(self) -> &'static str {
        match self {
            Sure::Counted => "from counters",
            Sure::Estimated => "estimated",
            Sure::Untold => "needs a trial",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As much of the heap is used up for the same work, whatever became of the collections.
    #[test]
    fn what_keeps_collections_from_coming_is_measured_by_their_number() {
        let saves = |flag: &str| Remedy::flag(flag).saves_collections_only();
        for flag in ["-Xmn848m", "-Xmx2g", "-Xms4096m", "-XX:+ExplicitGCInvokesConcurrent"] {
            assert!(saves(flag), "{flag}");
        }
        assert!(!saves("-XX:TLABSize=4k") && !Remedy::Terrace(vec![]).saves_collections_only());
    }
}
