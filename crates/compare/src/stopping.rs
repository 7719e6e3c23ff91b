//! When there are pairs enough: a rule that looks at the interval's width, at moments fixed in advance, and never at where it
//! lies.

use crate::estimate::Estimate;

/// The first look. With fewer pairs the width itself is a guess.
const FIRST: usize = 12;
/// From one look to the next there are so many times as many pairs, so that there are few looks.
const GROWTH: f64 = 1.25;
/// A width is found too small as often as too large, and the rule stops at those too small. Asking for a little more than is
/// wanted keeps the interval's 95 % (`simulations_of_the_rule` in the tests).
const CAUTION: f64 = 0.92;

/// Half of the interval's width that is wanted, as a share: 0.015 for an interval within 3 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision(pub f64);

impl Precision {
    /// Whether so many pairs are looked at.
    pub fn looks_at(pairs: usize) -> bool {
        let mut look = FIRST;
        while look < pairs {
            look = (look as f64 * GROWTH).ceil() as usize;
        }
        look == pairs
    }

    /// Whether this is precise enough.
    pub fn is_reached(self, estimate: &Estimate) -> bool {
        estimate.precision() <= CAUTION * self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_few_and_fixed() {
        let looks: Vec<usize> = (0..100).filter(|pairs| Precision::looks_at(*pairs)).collect();
        assert_eq!(looks, [12, 15, 19, 24, 30, 38, 48, 60, 75, 94]);
    }
}
