//! The source's claims, and the question answered.

use super::{CORE, NONE, PARALLEL, SMALLEST, TLAB};
use experiment::Relation::{Above, Alike, AtMost, Below};
use experiment::claim::OWN;
use experiment::{Claim, Measured, NO_ANSWER, Term, Value};
use present::numbers::{quantity, three};

const OPSIAN: &str = "Jaffer (Opsian), Why Java's TLABs are so important";
/// "About half".
const HALF: f64 = 0.55;
/// "About the same rate".
const SAME: f64 = 1.25;

fn rate(name: &'static str, bytes: u32, threads: u32, buffers: &str) -> Term {
    let rate = Term::metric(name, "rate").at("bytes", bytes).at("threads", threads);
    rate.at("buffers", buffers)
}

fn one(buffers: &str) -> Term {
    rate("1 thread", SMALLEST, 1, buffers)
}

fn two(buffers: &str) -> Term {
    rate("2 threads", SMALLEST, 2, buffers)
}

pub(super) fn claims(_: &Measured) -> Vec<Claim> {
    // For each JDK and collector that is measured; the source is about one collector.
    let claim = |text, source| {
        Claim::new(text, source).each("jdk").each("collector").decided_at("collector", PARALLEL)
    };
    let of = |name, bytes| rate(name, bytes, 2, NONE);
    vec![
        claim("without TLABs the rate of 2 threads together is below that of 1", OPSIAN)
            .that(two(NONE).is(Below, one(NONE))),
        claim("with TLABs a second thread adds to the rate", OPSIAN).that(two(TLAB).is(Above, one(TLAB))),
        claim("one thread without TLABs is at most about half as fast as with", OPSIAN)
            .that(rate("without", SMALLEST, 1, NONE).is(AtMost(HALF), rate("with", SMALLEST, 1, TLAB))),
        claim("contended, objects of 16, 48 and 144 bytes fall to about the same rate without TLABs", OPSIAN)
            .that(of("16 bytes", SMALLEST).is(Alike(SAME), of("48 bytes", 48)))
            .that(of("16 bytes", SMALLEST).is(Alike(SAME), of("144 bytes", 144)))
            .that(of("48 bytes", 48).is(Alike(SAME), of("144 bytes", 144))),
        claim("with core buffers in place of TLABs a second thread adds to the rate", OWN)
            .that(two(CORE).is(Above, one(CORE))),
    ]
}

pub(super) fn answer(measured: &Measured) -> String {
    // Words stay in the order of the cells: the JDK to use first and the source's collector are first.
    let (jdks, collectors) = (measured.values("jdk", "rate"), measured.values("collector", "rate"));
    let mut pairs = jdks.iter().flat_map(|jdk| collectors.iter().map(move |collector| (jdk, collector)));
    pairs.find_map(|(jdk, collector)| of(measured, jdk, collector)).unwrap_or_else(|| NO_ANSWER.into())
}

fn of(measured: &Measured, jdk: &Value, collector: &Value) -> Option<String> {
    let median = |term: Term| {
        let found = term.at("jdk", jdk.clone()).at("collector", collector.clone()).of(measured)?;
        Some(found.interval.median)
    };
    let rate = |value| quantity(value, "objects/s");
    let (alone, without, with) = (median(one(NONE))?, median(two(NONE))?, median(two(TLAB))?);
    let mut text = format!(
        "Without TLABs 2 threads allocate {} times as fast as 1 ({} against {}; 16 bytes, {collector}, JDK {jdk}); TLABs give them \
         {} times that",
        three(without / alone),
        rate(without),
        rate(alone),
        three(with / without)
    );
    if let (Some(core_alone), Some(core)) = (median(one(CORE)), median(two(CORE))) {
        // Both numbers: what a second thread gains, one may lose, because compiled code then calls for each object.
        text += &format!(
            ", core buffers {} times ({}), and one thread with core buffers is {} times as fast as without ({})",
            three(core / without),
            rate(core),
            three(core_alone / alone),
            rate(core_alone)
        );
    }
    Some(text + ".")
}

#[cfg(test)]
mod tests {
    use super::super::experiment;
    use super::*;
    use experiment::fixture::{conclude, holds};
    use experiment::{MeasuredCell, Quantity, fixture, parameters};

    fn cell(jdk: &str, collector: &str, bytes: u32, threads: u32, buffers: &str, rate: f64) -> MeasuredCell {
        let at = parameters([
            ("jdk", jdk.into()),
            ("collector", collector.into()),
            ("bytes", bytes.into()),
            ("threads", threads.into()),
            ("buffers", buffers.into()),
        ]);
        fixture::cell(at, &[("rate", rate)])
    }

    fn all(jdk: &str, collector: &str) -> Vec<MeasuredCell> {
        [
            (16, 1, TLAB, 1.5e9),
            (16, 1, NONE, 40e6),
            (16, 1, CORE, 40e6),
            (16, 2, TLAB, 3e9),
            (16, 2, NONE, 20e6),
            (16, 2, CORE, 80e6),
            (48, 2, NONE, 19e6),
            (144, 2, NONE, 18e6),
        ]
        .map(|(bytes, threads, buffers, rate)| cell(jdk, collector, bytes, threads, buffers, rate))
        .into()
    }

    #[test]
    fn the_sentence_has_the_numbers_of_the_first_jdk() {
        let cells = [all("25", PARALLEL), all("17", PARALLEL)].concat();
        let (answer, checks) = conclude(&experiment(), &cells);
        assert_eq!(
            answer,
            "Without TLABs 2 threads allocate 0.500 times as fast as 1 (20.0 M objects/s against 40.0 M objects/s; 16 bytes, Parallel, JDK 25); TLABs \
             give them 150 times that, core buffers 4.00 times (80.0 M objects/s), and one thread with core buffers is 1.00 times as fast \
             as without (40.0 M objects/s)."
        );
        assert_eq!(holds(&checks), [Some(true); 5], "{checks:#?}");
        assert!(checks[0].found.contains("JDK 25") && checks[0].found.contains("JDK 17"), "{checks:#?}");
    }

    #[test]
    fn what_disagrees_is_said() {
        let mut cells = all("25", PARALLEL);
        cells[4] = cell("25", PARALLEL, 16, 2, NONE, 60e6);
        let (_, checks) = conclude(&experiment(), &cells);
        assert_eq!((checks[0].holds, checks[3].holds), (Some(false), Some(false)), "{checks:#?}");
        cells[4] = cell("25", PARALLEL, 16, 2, NONE, 40.1e6);
        let open = &conclude(&experiment(), &cells).1[0];
        assert!(open.holds.is_none() && open.found.contains("overlap"), "{open:?}");
    }

    #[test]
    fn other_collectors_are_told_and_do_not_decide() {
        let mut cells = [all("25", PARALLEL), all("25", "G1")].concat();
        cells[12] = cell("25", "G1", 16, 2, NONE, 60e6);
        let check = &conclude(&experiment(), &cells).1[0];
        assert!(check.holds == Some(true) && check.found.contains("G1, JDK 25: 2 threads 60.0"), "{check:?}");
    }

    #[test]
    fn a_jdk_that_could_not_be_measured_leaves_it_open_and_one_that_was_not_to_be_does_not() {
        let mut cells = [all("25", PARALLEL), all("17", PARALLEL)[..6].to_vec()].concat();
        assert_eq!(conclude(&experiment(), &cells).1[3].holds, Some(true));
        cells[12].metrics.insert("rate".into(), Quantity::of(vec![], "failed: out of memory"));
        let check = &conclude(&experiment(), &cells).1[0];
        assert_eq!(check.holds, None);
        assert!(check.found.contains("failed: out of memory (Parallel, JDK 17)"), "{}", check.found);
    }

    #[test]
    fn nothing_measured_is_nothing_claimed() {
        let (answer, checks) = conclude(&experiment(), &[]);
        assert_eq!(answer, NO_ANSWER);
        assert_eq!(holds(&checks), [None; 5]);
    }
}
