//! How much of a buffer's rest one request gets.

/// What every cut must respect, so that what remains can always be given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Log2 of the grain in bytes: starts and lengths are whole grains (HotSpot's `MinObjAlignment`; 3 for 8 bytes).
    pub grain_shift: u32,
    /// The smallest remainder that [`Source::retire`](crate::Source::retire) can take, in bytes: a whole number of grains
    /// (HotSpot's minimum filler). A remainder of nothing is always allowed.
    pub min_remainder: usize,
}

impl Shape {
    /// The grain in bytes.
    pub const fn grain(self) -> usize {
        1 << self.grain_shift
    }

    /// `bytes` rounded down to whole grains.
    pub const fn floor(self, bytes: usize) -> usize {
        bytes >> self.grain_shift << self.grain_shift
    }

    /// How many of `rest` bytes a request for `min` to `desired` bytes gets; 0 if it does not fit.
    ///
    /// Never more than `desired`. Where taking `desired` would leave less than the smallest filler, the cut is shrunk; a rest
    /// below `desired` is given whole.
    #[inline(always)]
    pub const fn cut(self, rest: usize, min: usize, desired: usize) -> usize {
        if rest >= desired + self.min_remainder {
            return desired;
        }
        let give = if rest <= desired { rest } else { rest.saturating_sub(self.min_remainder) };
        if rest == desired || give >= min { give } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SHAPE: Shape = Shape { grain_shift: 3, min_remainder: 16 };

    #[test]
    fn ordinary_and_tail() {
        assert_eq!(SHAPE.cut(4096, 64, 1024), 1024);
        assert_eq!(SHAPE.cut(1024, 64, 1024), 1024);
        assert_eq!(SHAPE.cut(512, 64, 1024), 512);
        assert_eq!(SHAPE.cut(56, 64, 1024), 0);
        assert_eq!(SHAPE.cut(0, 64, 1024), 0);
    }

    #[test]
    fn a_remainder_too_small_for_a_filler_shrinks_the_cut() {
        assert_eq!(SHAPE.cut(1032, 64, 1024), 1016);
        assert_eq!(SHAPE.cut(1032, 1024, 1024), 0);
        assert_eq!(SHAPE.cut(1040, 1024, 1024), 1024);
    }

    #[test]
    fn a_rest_below_the_smallest_filler_is_given_whole_or_not_at_all() {
        let shape = Shape { grain_shift: 3, min_remainder: 24 };
        assert_eq!(shape.cut(16, 8, 8), 0);
        assert_eq!(shape.cut(16, 8, 16), 16);
    }

    proptest! {
        #[test]
        fn every_cut_keeps_the_rules(
            shift in 3u32..9, filler_grains in 1usize..4, rest in 0usize..700, min in 1usize..600, more in 0usize..600,
        ) {
            let shape = Shape { grain_shift: shift, min_remainder: filler_grains << shift };
            let (rest, min, desired) = (rest << shift, min << shift, (min + more) << shift);
            let cut = shape.cut(rest, min, desired);
            if cut > 0 {
                prop_assert!(cut >= min && cut <= desired && cut <= rest);
                prop_assert_eq!(cut % shape.grain(), 0);
                prop_assert!(rest == cut || rest - cut >= shape.min_remainder);
            } else {
                // Refused only when no cut could keep the rules.
                prop_assert!(rest < min || (rest > desired && rest - min < shape.min_remainder));
            }
        }
    }
}
