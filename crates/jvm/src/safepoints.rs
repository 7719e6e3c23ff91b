//! When a JVM stopped its threads, from its own log: `-Xlog:safepoint:file=...`.

/// The application's threads stood still.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Safepoint {
    /// When it was logged, which is at its end, in seconds since the JVM's start.
    pub ended: f64,
    /// How long they stood still, in seconds: from the request until they ran again.
    pub seconds: f64,
}

/// The lines of such a log that tell of a safepoint; the JVM's default decorations are expected.
pub fn parse(log: &str) -> Vec<Safepoint> {
    log.lines().filter_map(line).collect()
}

/// `[0.303s][info][safepoint] Safepoint "Name", Time since last: 1 ns, ..., Total: 5622614 ns`; newer JVMs have more after that.
fn line(text: &str) -> Option<Safepoint> {
    let (decorations, rest) = text.split_once("Safepoint \"")?;
    let ended = decorations.strip_prefix('[')?.split_once("s]")?.0.trim().parse().ok()?;
    let total = rest.split_once("Total:")?.1.trim_start();
    let nanoseconds: f64 = total.split_once(" ns")?.0.parse().ok()?;
    Some(Safepoint { ended, seconds: nanoseconds / 1e9 })
}

/// The safepoints of a span of time, taken together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stopped {
    pub count: usize,
    pub seconds: f64,
    /// Seconds of the longest.
    pub longest: f64,
}

impl Stopped {
    /// Those that ended in the last `span` seconds before the last one: the end of a run, when everything is warm.
    pub fn last(span: f64, safepoints: &[Safepoint]) -> Stopped {
        let end = safepoints.iter().map(|safepoint| safepoint.ended).fold(0.0, f64::max);
        let mut stopped = Stopped::default();
        for safepoint in safepoints.iter().filter(|safepoint| safepoint.ended > end - span) {
            stopped.count += 1;
            stopped.seconds += safepoint.seconds;
            stopped.longest = stopped.longest.max(safepoint.seconds);
        }
        stopped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // JDK 17.0.x and 25.0.x, as they wrote them.
    const OLD: &str = r#"
[0.303s][info][safepoint] Safepoint "ParallelGCFailedAllocation", Time since last: 283850663 ns, Reaching safepoint: 5500 ns, Cleanup: 122630 ns, At safepoint: 5494484 ns, Total: 5622614 ns
[0.369s][info][safepoint] Safepoint "ThreadDump", Time since last: 95430 ns, Reaching safepoint: 560 ns, Cleanup: 1220 ns, At safepoint: 25580 ns, Total: 27360 ns
"#;
    const NEW: &str = r#"
[0.404s][info][safepoint] Safepoint "ParallelCollectForAllocation", Time since last: 800901 ns, Reaching safepoint: 2190 ns, At safepoint: 2434161 ns, Leaving safepoint: 4871234 ns, Total: 7307585 ns, Threads: 0 runnable, 10 total
[0.439s][info][safepoint] Safepoint "ThreadDump", Time since last: 283760 ns, Reaching safepoint: 69290 ns, At safepoint: 25300 ns, Leaving safepoint: 1080 ns, Total: 95670 ns, Threads: 1 runnable, 10 total
"#;

    #[test]
    fn logs_of_old_and_new_jvms_are_read() {
        let found = |log| -> Vec<(f64, f64)> {
            parse(log).iter().map(|safepoint| (safepoint.ended, safepoint.seconds)).collect()
        };
        assert_eq!(found(OLD), [(0.303, 5622614e-9), (0.369, 27360e-9)]);
        assert_eq!(found(NEW), [(0.404, 7307585e-9), (0.439, 95670e-9)]);
    }

    #[test]
    fn other_lines_are_passed_over() {
        assert_eq!(
            parse("[0.1s][info][safepoint] Entering safepoint region: Cleanup\n\n[x] Safepoint \"\n"),
            []
        );
    }

    #[test]
    fn the_end_of_a_run_is_taken_together() {
        let safepoints: Vec<Safepoint> = [(1.0, 0.5), (9.5, 0.01), (10.0, 0.02)]
            .map(|(ended, seconds)| Safepoint { ended, seconds })
            .into();
        let stopped = Stopped::last(1.0, &safepoints);
        assert_eq!((stopped.count, stopped.longest), (2, 0.02));
        assert_eq!(Stopped::last(100.0, &safepoints).count, 3);
        assert_eq!(Stopped::last(1.0, &[]), Stopped::default());
    }
}
