//! The agent's report, and the equations that it must satisfy.

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

    pub fn number(&self, key: &str) -> u64 {
        self.0[key].as_u64().unwrap_or(0)
    }

    pub fn setting(&self, key: &str) -> &Value {
        &self.0["settings"][key]
    }

    /// reserved = allocated + waste + remaining, on every level; and what a level took is what the one above it gave.
    ///
    /// Bytes served are counted by plain additions, of which a thread that is moved or interrupted in the midst loses some:
    /// allocated may be less than it was, never more.
    pub fn check(&self) -> Result<(), String> {
        let levels = self.0["levels"].as_array().ok_or("the report has no levels")?;
        let total = self.0["total"].as_object().ok_or("the report has no total")?;
        // The others are counted by plain additions, and daemon threads count on while the report is written.
        for counter in
            ["refills", "refill_bytes", "direct", "direct_bytes", "stolen", "waste_collection_bytes"]
        {
            let sum: u64 = (0..levels.len()).map(|level| self.sum(level, counter)).sum();
            if total[counter].as_u64().is_none_or(|total| total < sum) {
                return Err(format!("total {counter}: {} is less than its parts, {sum}", total[counter]));
            }
        }
        for (level, found) in levels.iter().enumerate() {
            let name = found["name"].as_str().unwrap_or("");
            let size = self.setting(&format!("{name}_bytes")).as_u64().unwrap_or(0).max(512 << 10);
            let domains = found["domains"].as_array().map_or(0, Vec::len) as u64;
            let sum =
                |counters: &[&str]| counters.iter().map(|counter| self.sum(level, counter)).sum::<u64>();
            let reserved = sum(&["refill_bytes"]);
            let allocated = sum(&["buffer_bytes", "object_bytes", "stolen_bytes"]);
            let waste = sum(&["waste_refill_bytes", "waste_collection_bytes", "waste_alignment_bytes"]);
            // What threads do between the readings of two counters: less than two extents for each domain.
            if allocated + waste > reserved + 2 * size * domains {
                return Err(format!("{name}: allocated {allocated} + waste {waste} > reserved {reserved}"));
            }
            let lost = reserved - (allocated + waste).min(reserved);
            // A lost addition is rare where it is one instruction, and common in an unoptimised build.
            let bearable = if cfg!(debug_assertions) { reserved } else { reserved / 20 };
            if lost > 2 * size * domains + bearable {
                return Err(format!(
                    "{name}: reserved {reserved} - allocated {allocated} - waste {waste} = {lost}"
                ));
            }
            if level + 1 < levels.len() && name == "core" && levels[level + 1]["name"] == "processor" {
                let taken = sum(&["refill_bytes", "direct_bytes"]);
                let given: u64 = ["buffer_bytes", "stolen_bytes", "direct_bytes"]
                    .iter()
                    .map(|counter| self.sum(level + 1, counter))
                    .sum();
                if taken + 2 * size * domains < given
                    || (!cfg!(debug_assertions) && given + given / 20 + size < taken)
                {
                    return Err(format!("core took {taken}, processor gave {given}"));
                }
            }
        }
        Ok(())
    }
}
