//! How windows lie in time.

use jvm::counts::Counts;

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
