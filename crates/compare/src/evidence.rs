//! What is found out beside the counters: when the threads were stopped, and what single calls took. Windows and evidence
//! together give pairs.

use crate::measure::{CallsDone, Measure, Pair};
use jvm::calls::Call;
use jvm::counts::Counts;
use jvm::stops::{self, Stop};
use std::collections::BTreeMap;

/// From here to there one mode was on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// When counting began.
    pub from: Counts,
    /// When it ended.
    pub to: Counts,
}

/// Four neighbouring windows, in the order A B B A or B A A B: a drift that is steady favours nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Block {
    /// The two of side a.
    pub a: [Span; 2],
    /// The two of side b.
    pub b: [Span; 2],
}

/// What was found out beside the counters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// All stops, where they are known.
    pub stops: Option<Vec<Stop>>,
    /// All calls, where the program records them.
    pub calls: Option<Vec<Call>>,
}

/// Of each block a pair.
pub fn pairs(blocks: &[Block], evidence: &Evidence) -> Vec<Pair> {
    let spans: Vec<Span> = blocks.iter().flat_map(|block| block.a.into_iter().chain(block.b)).collect();
    let calls = evidence.calls.as_ref().map(|calls| calls_in(&spans, calls)).filter(|calls| fit(calls));
    let measure = |number: usize| {
        let Span { from, to } = spans[number];
        let mut measure = Measure::between(&from, &to);
        measure.stopped = evidence.stops.as_ref().map(|stops| stops::between(stops, from.at, to.at));
        measure.calls = calls.as_ref().map(|calls| calls[number]);
        measure
    };
    let both = |first: usize| -> Measure {
        let mut sum = measure(first);
        sum += measure(first + 1);
        sum
    };
    (0..blocks.len()).map(|block| Pair { a: both(4 * block), b: both(4 * block + 2) }).collect()
}

/// Whether windows are long enough for whole calls: in four of five blocks there are some on both sides.
fn fit(calls: &[CallsDone]) -> bool {
    let has = |calls: &[CallsDone]| calls.iter().any(|done| done.count > 0.0);
    let blocks = calls.chunks_exact(4);
    let all = blocks.len();
    let with = blocks.filter(|block| has(&block[..2]) && has(&block[2..])).count();
    5 * with >= 4 * all
}

/// The calls that lie wholly inside of each span. A call that saw a switch belongs to neither side. What a call of a kind is
/// expected to take is the mean of all of its kind, on both sides together.
fn calls_in(spans: &[Span], calls: &[Call]) -> Vec<CallsDone> {
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|number| spans[*number].from.at);
    let inside: Vec<(usize, &Call)> = calls
        .iter()
        .filter_map(|call| {
            let after = order.partition_point(|number| spans[*number].from.at <= call.begin);
            let number = order[after.checked_sub(1)?];
            (call.end <= spans[number].to.at).then_some((number, call))
        })
        .collect();
    let mut kinds: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    for (_, call) in &inside {
        let (count, seconds) = kinds.entry(call.kind).or_default();
        *count += 1.0;
        *seconds += call.cpu.as_secs_f64();
    }
    let mut done = vec![CallsDone::default(); spans.len()];
    for (number, call) in inside {
        let (count, seconds) = kinds[&call.kind];
        done[number].count += 1.0;
        done[number].cpu_seconds += call.cpu.as_secs_f64();
        done[number].expected_seconds += seconds / count;
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn ms(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    fn span(from: u64, to: u64) -> Span {
        let at = |number| Counts { at: ms(number), ..Counts::default() };
        Span { from: at(from), to: at(to) }
    }

    #[test]
    fn calls_that_saw_a_switch_belong_to_nobody() {
        let block = Block { a: [span(0, 100), span(300, 400)], b: [span(100, 200), span(200, 300)] };
        let call = |kind, begin, end, cpu| Call { kind, begin: ms(begin), end: ms(end), cpu: ms(cpu) };
        let calls = vec![
            call(1, 10, 90, 40),
            call(1, 90, 110, 1000),
            call(1, 110, 190, 60),
            call(2, 310, 320, 10),
            call(2, 250, 260, 30),
            call(2, 500, 510, 30),
        ];
        let evidence = Evidence { stops: None, calls: Some(calls) };
        let found = pairs(&[block], &evidence);
        let (a, b) = (found[0].a.calls.unwrap(), found[0].b.calls.unwrap());
        // Expected: kind 1 takes 50 ms, kind 2 takes 20 ms.
        assert_eq!((a.count, b.count), (2.0, 2.0));
        assert!((a.cpu_seconds - 0.050).abs() < 1e-12 && (a.expected_seconds - 0.070).abs() < 1e-12);
        assert!((b.cpu_seconds - 0.090).abs() < 1e-12 && (b.expected_seconds - 0.070).abs() < 1e-12);
        assert!((a.rate().unwrap() / b.rate().unwrap() - 1.8).abs() < 1e-12);
    }

    #[test]
    fn stops_are_laid_beside_the_windows() {
        let block = Block { a: [span(0, 100), span(300, 400)], b: [span(100, 200), span(200, 300)] };
        let stop = |from, to, collection| Stop { from: ms(from), to: ms(to), collection };
        let stops = vec![stop(50, 60, true), stop(190, 310, true), stop(350, 351, false)];
        let found = pairs(&[block], &Evidence { stops: Some(stops), calls: None });
        let (a, b) = (found[0].a.stopped.unwrap(), found[0].b.stopped.unwrap());
        assert!((a.seconds - 0.021).abs() < 1e-12 && (a.pause_seconds - 0.020).abs() < 1e-12);
        assert!((b.seconds - 0.110).abs() < 1e-12);
        assert_eq!((a.pauses, b.pauses), (1.0, 1.0));
        assert_eq!(found[0].a.calls, None);
    }
}
