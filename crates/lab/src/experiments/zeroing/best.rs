//! Which way of zeroing is the best for which size.

use super::NATIVE;
use super::kernels::Method;
use experiment::{Measured, Relation, Standing, Term, Value};
use present::numbers;
use statistics::Interval;

/// A way must be faster than `memset` by this factor, and with all of its interval, to be worth choosing.
const WORTH: f64 = 1.05;

/// The fastest way to zero so many bytes that are used right afterwards.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Best {
    bytes: f64,
    /// `memset` unless another is clearly faster.
    method: Method,
    /// Nanoseconds of zeroing and using.
    used: Interval,
}

/// The best way for every size that was measured with one thread, smallest first.
pub(super) fn best(measured: &Measured) -> Vec<Best> {
    let sizes = measured.values("bytes", "used");
    sizes.iter().filter_map(Value::number).filter_map(|bytes| of_size(measured, bytes)).collect()
}

fn of_size(measured: &Measured, bytes: f64) -> Option<Best> {
    let of = |method: Method| {
        let used = Term::metric(method.name(), "used").at("language", NATIVE).at("method", method.name());
        let used = used.at("bytes", bytes).at("threads", 1_u32).of(measured)?.interval;
        Some(Best { bytes, method, used })
    };
    let memset = of(Method::Memset)?;
    let worth =
        |best: &Best| Relation::AtMost(1.0 / WORTH).decide(&best.used, &memset.used) == Standing::Holds;
    let others = [Method::RepStosb, Method::NonTemporal].into_iter().filter_map(of).filter(worth);
    Some(others.min_by(|a, b| a.used.median.total_cmp(&b.used.median)).unwrap_or(memset.clone()))
}

/// Neighbouring sizes with the same method are one range.
pub(super) fn in_words(table: &[Best]) -> Option<String> {
    let ranges = table.chunk_by(|one, next| one.method == next.method).filter_map(|range| {
        let (first, last) = (range.first()?, numbers::bytes(range.last()?.bytes));
        let from = numbers::bytes(first.bytes);
        let sizes = if from == last { from } else { format!("{from} to {last}") };
        Some(format!("{} for {sizes}", first.method.name()))
    });
    let ranges = ranges.collect::<Vec<_>>().join(", ");
    (!ranges.is_empty())
        .then(|| format!("A program that zeroes memory and then uses it does best with {ranges}."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::{Declaration, fixture, parameters};

    #[test]
    fn another_way_must_be_worth_it() {
        let methods = [(Method::Memset, 40.0), (Method::RepStosb, 39.0), (Method::NonTemporal, 99.0)];
        let cells = methods.map(|(method, ns)| {
            let at = parameters([
                ("language", NATIVE.into()),
                ("method", method.name().into()),
                ("bytes", 4096_u32.into()),
                ("threads", 1_u32.into()),
            ]);
            fixture::cell(at, &[("used", ns)])
        });
        let table = best(&Measured { declaration: &Declaration::default(), cells: &cells });
        // rep stosb is 2.5 % faster at 4 KB, which is not worth it.
        assert_eq!((table[0].method, table[0].used.median), (Method::Memset, 40.0));
        assert_eq!(
            in_words(&table).unwrap(),
            "A program that zeroes memory and then uses it does best with memset for 4k."
        );
    }
}
