//! For how long each JVM is measured in which a remedy is tried: several collections have to fall into it, or its speed has all of a pause, or none.

use crate::evidence::Evidence;
use crate::finding::Advised;
use compare::result::Side;
use std::time::Duration;

/// The least.
const LEAST: Duration = Duration::from_secs(3);
/// Collections that tell what they cost. JVMs begin alike, so that all would have the same part of one.
const ENOUGH: f64 = 5.0;
/// JVMs that are measured in all the time for a remedy, at least: six pairs decide.
const JVMS: u32 = 12;

/// As long as the collections take to come that are left with the remedy, but no longer than the time for it has room for.
pub(crate) fn of(advice: &Advised, evidence: &Evidence, duration: Duration) -> Duration {
    let most = (duration / JVMS).max(LEAST);
    let rate = rate_with(advice, evidence).filter(|rate| *rate > 0.0);
    rate.map_or(LEAST, |rate| Duration::from_secs_f64((ENOUGH / rate).min(most.as_secs_f64())).max(LEAST))
}

/// Collections a second that are expected with it, where it acts through them alone.
fn rate_with(advice: &Advised, evidence: &Evidence) -> Option<f64> {
    if !advice.remedy.saves_collections_only() || evidence.eden.phases {
        return None;
    }
    // What is expected of the rarer kind is not known: as many as now.
    let full = evidence.eden.pauses.filter(|pauses| pauses.full_count > 0);
    let full = full.map(|pauses| pauses.full_count as f64 / evidence.seconds);
    match advice.effect.collections {
        Some(ratio) => evidence.collections_a_second().map(|rate| rate * ratio),
        None => full.or_else(|| evidence.collections_a_second()),
    }
}

/// That too few collections came in each of these JVMs.
pub(crate) fn few(advice: &Advised, with_remedy: &Side, pairs: usize) -> Option<String> {
    let each = with_remedy.collections? as f64 / pairs.max(1) as f64;
    (advice.remedy.saves_collections_only() && each < ENOUGH).then(|| {
        format!("only {each:.1} collections came in the measured time of a JVM with it, so that chance decides what they cost: use a longer --duration")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Pauses;
    use crate::finding::{Effect, Remedy};

    #[test]
    fn rare_collections_take_longer_to_measure() {
        let time = |flag: &str, count: u64, ratio: Option<f64>, seconds: u64| {
            let advice = Advised {
                remedy: Remedy::flag(flag),
                effect: Effect { collections: ratio, ..Effect::default() },
                note: "",
                replaces: vec![],
            };
            let mut evidence = Evidence { seconds: 30.0, ..Evidence::default() };
            evidence.eden.collections = Some(count);
            evidence.eden.pauses = Some(Pauses { full_count: 3, ..Pauses::default() });
            of(&advice, &evidence, Duration::from_secs(seconds)).as_secs_f64()
        };
        assert_eq!(time("-Xmn1g", 3000, Some(0.25), 60), 3.0);
        assert_eq!(time("-Xmn1g", 60, Some(0.25), 240), 10.0);
        assert_eq!(time("-Xmn1g", 60, Some(0.25), 60), 5.0, "no more than there is time for");
        assert_eq!(time("-Xmx1g", 3000, None, 600), 50.0, "three full collections in half a minute");
        assert_eq!(time("-XX:TLABSize=4k", 60, Some(0.01), 60), 3.0, "told by what is used up");
        assert_eq!(time("-Xmn1g", 60, Some(0.25), 4), 3.0);
    }
}
