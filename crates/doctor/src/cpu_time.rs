//! Whose the CPU time is that a JVM used.

use crate::evidence::Evidence;
use present::numbers::{share, significant};

/// CPUs' worth of time.
const LEAST_CPU: f64 = 0.01;
/// Of the collector's CPU time.
const LEAST_CONCURRENT: f64 = 0.01;

/// What HotSpot has beside collectors and compilers is with the latter. A process that uses next to none has nothing to divide.
pub(crate) fn shares(evidence: &Evidence) -> Option<String> {
    let all = evidence.process_cpu.filter(|all| *all >= LEAST_CPU * evidence.seconds)?;
    let mut text =
        format!("{} of {} CPUs", significant(all / evidence.seconds), significant(evidence.usable_cpus()));
    if let Some((application, collector)) = evidence.application_cpu.zip(evidence.collector_cpu) {
        let part = |cpu: f64| share((cpu / all).clamp(0.0, 1.0));
        text += &format!(": program {}, collector {}", part(application), part(collector));
        let concurrent =
            evidence.concurrent_cpu.filter(|cpu| *cpu >= LEAST_CONCURRENT * collector && *cpu > 0.0);
        text.extend(concurrent.map(|cpu| format!(" ({} concurrently)", part(cpu))));
        text += &format!(", compilers {}", part(all - application - collector));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::sick::{SECONDS, healthy};

    #[test]
    fn the_programs_the_collectors_and_the_compilers() {
        let mut evidence = healthy();
        (evidence.process_cpu, evidence.application_cpu) = (Some(1.5 * SECONDS), Some(1.2 * SECONDS));
        (evidence.collector_cpu, evidence.concurrent_cpu) = (Some(0.24 * SECONDS), Some(0.0));
        assert_eq!(
            shares(&evidence).unwrap(),
            "1.50 of 2 CPUs: program 80 %, collector 16 %, compilers 4.00 %"
        );
        evidence.concurrent_cpu = Some(0.12 * SECONDS);
        let text = shares(&evidence).unwrap();
        assert!(text.contains("collector 16 % (8") && text.contains(" % concurrently), compilers"), "{text}");
        evidence.process_cpu = Some(0.001 * SECONDS);
        assert_eq!(shares(&evidence), None);
    }
}
