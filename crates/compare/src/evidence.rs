//! What is found out beside the counters: when the threads were stopped, and what single steps took. Windows and evidence
//! together give pairs.

use crate::block::{Block, Span};
use crate::exposure;
use crate::measure::{Measure, Pair};
use jvm::calls::Call;
use jvm::stops::{self, Stop};

/// What was found out beside the counters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// All stops, where they are known.
    pub stops: Option<Vec<Stop>>,
    /// The steps of all calls, where the program records them.
    pub steps: Option<Vec<Call>>,
}

/// Of each block a pair.
pub fn pairs(blocks: &[Block], evidence: &Evidence) -> Vec<Pair> {
    let stops = evidence.stops.as_deref();
    let steps = evidence
        .steps
        .as_ref()
        .and_then(|steps| exposure::of_blocks(blocks, steps, stops.unwrap_or_default()));
    let measure = |Span { from, to }: &Span| {
        let mut measure = Measure::between(from, to);
        measure.stopped = stops.map(|stops| stops::between(stops, from.at, to.at));
        measure
    };
    let both = |[first, second]: &[Span; 2]| {
        let mut sum = measure(first);
        sum += measure(second);
        sum
    };
    let pair = |(number, block): (usize, &Block)| Pair {
        a: both(&block.a),
        b: both(&block.b),
        steps: steps.as_ref().map(|steps| steps[number]),
    };
    blocks.iter().enumerate().map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use jvm::counts::Counts;
    use std::time::Duration;

    fn ms(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    fn span(from: u64, to: u64) -> Span {
        let at = |number| Counts { at: ms(number), ..Counts::default() };
        Span { from: at(from), to: at(to) }
    }

    #[test]
    fn stops_are_laid_beside_the_windows() {
        let block = Block { a: [span(0, 100), span(300, 400)], b: [span(100, 200), span(200, 300)] };
        let stop = |from, to, collection| Stop { from: ms(from), to: ms(to), collection };
        let stops = vec![stop(50, 60, true), stop(190, 310, true), stop(350, 351, false)];
        let found = pairs(&[block], &Evidence { stops: Some(stops), steps: None });
        let (a, b) = (found[0].a.stopped.unwrap(), found[0].b.stopped.unwrap());
        assert!((a.seconds - 0.021).abs() < 1e-12 && (a.pause_seconds - 0.020).abs() < 1e-12);
        assert!((b.seconds - 0.110).abs() < 1e-12);
        assert_eq!((a.pauses, b.pauses), (1.0, 1.0));
        assert_eq!(found[0].steps, None);
    }
}
