//! The agent's report, and the equations that it must satisfy.

use crate::artifacts;
use serde_json::Value;

/// A report that was read.
#[derive(Clone, Debug)]
pub struct Report(pub Value);

impl Report {
    pub fn read(text: &str) -> Result<Report, String> {
        serde_json::from_str(text)
            .map(Report)
            .map_err(|error| format!("the report is not JSON: {error}\n{text}"))
    }

    /// A counter's sum over a level's domains.
    pub fn sum(&self, level: usize, counter: &str) -> u64 {
        let domains = self.0["levels"][level]["domains"].as_array();
        domains.into_iter().flatten().filter_map(|domain| domain[counter].as_u64()).sum()
    }

    /// Bytes that a level's buffers still hold.
    pub fn remaining(&self, level: usize) -> u64 {
        self.0["levels"][level]["remaining_bytes"].as_u64().unwrap_or(0)
    }

    /// How many domains a level has.
    pub fn domains(&self, level: usize) -> u64 {
        self.0["levels"][level]["domains"].as_array().map_or(0, |domains| domains.len() as u64)
    }

    pub fn number(&self, key: &str) -> u64 {
        self.0[key].as_u64().unwrap_or(0)
    }

    pub fn setting(&self, key: &str) -> &Value {
        &self.0["settings"][key]
    }

    /// reserved = allocated + waste + remaining, on every level; and what a level took is what the one above it gave.
    ///
    /// To the byte, if the counters were exact (`exact=true`) and nobody allocated while the report was written.
    pub fn check_exactly(&self) -> Result<(), String> {
        if self.setting("exact").as_bool() != Some(true) {
            return Err("the counters were not exact: give the option exact=true".into());
        }
        self.check()?;
        let levels = self.levels();
        for (level, name) in levels.iter().enumerate() {
            let (reserved, allocated, waste) = self.balance(level);
            let remaining =
                self.0["levels"][level]["remaining_bytes"].as_u64().ok_or("no remaining_bytes")?;
            if reserved != allocated + waste + remaining {
                return Err(format!(
                    "{name}: reserved {reserved} is not allocated {allocated} + waste {waste} + remaining {remaining}"
                ));
            }
        }
        if let [core, processor, ..] = &levels[..]
            && (core.as_str(), processor.as_str()) == ("core", "processor")
        {
            let (taken, given) = (self.taken(0), self.given(1));
            if taken != given {
                return Err(format!("core took {taken}, processor gave {given}"));
            }
        }
        Ok(())
    }

    /// The same within what plain additions lose (of which a thread that is moved in the midst loses some) and within what threads do
    /// while the report is written: allocated may be less than it was, never more.
    pub fn check(&self) -> Result<(), String> {
        let total = self.0["total"].as_object().ok_or("the report has no total")?;
        let levels = self.levels();
        // The others are counted by plain additions, and daemon threads count on while the report is written.
        for counter in
            ["refills", "refill_bytes", "direct", "direct_bytes", "stolen", "waste_collection_bytes"]
        {
            let sum: u64 = (0..levels.len()).map(|level| self.sum(level, counter)).sum();
            if total[counter].as_u64().is_none_or(|total| total < sum) {
                return Err(format!("total {counter}: {} is less than its parts, {sum}", total[counter]));
            }
        }
        for (level, name) in levels.iter().enumerate() {
            let size = self.setting(&format!("{name}_bytes")).as_u64().unwrap_or(0).max(512 << 10);
            let domains = self.0["levels"][level]["domains"].as_array().map_or(0, Vec::len) as u64;
            let (reserved, allocated, waste) = self.balance(level);
            // What threads do between the readings of two counters: less than two extents for each domain.
            if allocated + waste > reserved + 2 * size * domains {
                return Err(format!("{name}: allocated {allocated} + waste {waste} > reserved {reserved}"));
            }
            // A domain may hold up to four buffers.
            let remaining = self.0["levels"][level]["remaining_bytes"].as_u64().unwrap_or(0);
            let lost = reserved - (allocated + waste + remaining).min(reserved);
            // A lost addition is rare where it is one instruction, and common in an unoptimised build.
            let bearable = if artifacts::is_shipped() { reserved / 20 } else { reserved };
            if lost > 2 * size * domains + bearable {
                return Err(format!(
                    "{name}: reserved {reserved} - allocated {allocated} - waste {waste} - remaining {remaining} = {lost}"
                ));
            }
            if name == "core" && levels.get(level + 1).is_some_and(|upper| upper == "processor") {
                let (taken, given) = (self.taken(level), self.given(level + 1));
                if taken + 2 * size * domains < given
                    || (artifacts::is_shipped() && given + given / 20 + size < taken)
                {
                    return Err(format!("core took {taken}, processor gave {given}"));
                }
            }
        }
        Ok(())
    }

    fn levels(&self) -> Vec<String> {
        let levels = self.0["levels"].as_array().into_iter().flatten();
        levels.map(|level| level["name"].as_str().unwrap_or("").to_owned()).collect()
    }

    /// Bytes reserved, allocated and wasted.
    fn balance(&self, level: usize) -> (u64, u64, u64) {
        let sum = |counters: &[&str]| counters.iter().map(|counter| self.sum(level, counter)).sum::<u64>();
        (
            sum(&["refill_bytes"]),
            sum(&["buffer_bytes", "object_bytes", "stolen_bytes"]),
            sum(&["waste_refill_bytes", "waste_collection_bytes", "waste_alignment_bytes"]),
        )
    }

    /// Bytes that a level took from the one above it.
    fn taken(&self, level: usize) -> u64 {
        ["refill_bytes", "direct_bytes"].iter().map(|counter| self.sum(level, counter)).sum()
    }

    /// Bytes that a level gave to the one below it.
    fn given(&self, level: usize) -> u64 {
        ["buffer_bytes", "object_bytes", "stolen_bytes", "direct_bytes"]
            .iter()
            .map(|counter| self.sum(level, counter))
            .sum()
    }
}
