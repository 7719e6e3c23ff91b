//! The paper's Tables I and II.

use super::GROWING;
use experiment::Reference;

const LABEL: &str = "Kirsch, Payer, Röck 2012, 80 threads";

/// Table I: processor buffers of 4, 8, 16, 32 and 64 MB; foreign allocations in percent.
const PROCESSOR: [(&str, [f64; 5]); 9] = [
    ("none", [0.32, 0.33, 0.51, 0.94, 1.93]),
    ("1k", [0.11, 0.06, 0.09, 0.05, 0.15]),
    ("4k", [0.11, 0.06, 0.06, 0.06, 0.19]),
    ("8k", [0.13, 0.10, 0.08, 0.10, 0.29]),
    ("16k", [0.10, 0.08, 0.11, 0.08, 0.12]),
    ("32k", [0.11, 0.08, 0.08, 0.11, 0.30]),
    ("64k", [0.22, 0.15, 0.16, 0.29, 0.45]),
    ("128k", [0.52, 0.47, 0.63, 1.31, 2.60]),
    (GROWING, [0.55, 0.47, 0.64, 1.10, 2.23]),
];

/// Table II: core buffers of 512 KB, 1, 8 and 16 MB. With growing TLABs the first two were not used at all.
const CORE: [(&str, [Option<f64>; 4]); 6] = [
    ("1k", [Some(0.00), Some(0.01), Some(0.05), Some(0.07)]),
    ("4k", [Some(0.01), Some(0.01), Some(0.06), Some(0.15)]),
    ("16k", [Some(0.01), Some(0.02), Some(0.07), Some(0.13)]),
    ("64k", [Some(0.03), Some(0.03), Some(0.10), Some(0.17)]),
    ("128k", [Some(0.06), Some(0.05), Some(0.15), Some(0.26)]),
    (GROWING, [None, None, Some(1.42), Some(2.81)]),
];

/// Both tables.
pub fn foreign() -> Vec<Reference> {
    let one = |tlab: &str, level: &str, size: &str, value| {
        let at = [("tlab", tlab.into()), ("level", level.into()), ("size", size.into())];
        Reference::new(LABEL, "foreign", at, value)
    };
    let mut references = Vec::new();
    for (tlab, values) in PROCESSOR {
        for (size, value) in ["4m", "8m", "16m", "32m", "64m"].into_iter().zip(values) {
            references.push(one(tlab, "processor", size, value));
        }
    }
    for (tlab, values) in CORE {
        for (size, value) in ["512k", "1m", "8m", "16m"].into_iter().zip(values) {
            references.extend(value.map(|value| one(tlab, "core", size, value)));
        }
    }
    references
}
