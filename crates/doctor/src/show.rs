//! A report as one screen of a terminal.

use crate::facts::facts;
use crate::finding::{Advised, Finding, Remedy};
use crate::nothing::nothing;
use crate::report::Report;
use present::numbers::ratio;
use present::table::{Table, indented, wrapped};

/// The width of the facts' names.
const NAMES: usize = 13;
/// What stands before each remedy.
const REMEDY: &str = "   - ";
const EXPECTED: &str = "Effects expected for the same work, relative to now (speed above 1 is faster):";

/// Where notes on remedies are left out.
const NOTES: &str = "Other notes on these remedies: --format html";

/// With what else should be known of each remedy, unless a terminal of so many rows shows all only without the last
/// of these notes, and says so. `None`: no terminal.
pub fn report(report: &Report, columns: u16, rows: Option<u16>) -> String {
    let advice = report.findings.iter().map(|finding| finding.advice.len()).sum();
    let full = lines(report, columns, advice);
    // The prompt takes one.
    let fits = |text: &str| rows.is_none_or(|rows| text.lines().count() < usize::from(rows));
    if fits(&full) {
        return full;
    }
    let brief = |notes| format!("{}{NOTES}\n", lines(report, columns, notes));
    (0..advice).rev().map(brief).find(|text| fits(text)).unwrap_or(full)
}

/// With the notes on so many remedies, and on each that has side effects.
fn lines(report: &Report, columns: u16, notes: usize) -> String {
    let mut text = String::new();
    for (name, value) in facts(&report.evidence) {
        text += &indented(&format!("{name:<NAMES$}"), &value, columns);
    }
    // One line between what was seen and what follows from it: a terminal has few.
    match report.findings.is_empty() {
        true => {
            text += &format!("\n{}\n", wrapped(&nothing(&report.evidence), usize::from(columns)).join("\n"))
        }
        false => text += &format!("{EXPECTED}\n"),
    }
    let mut remedies = 0;
    let mut noted = || {
        remedies += 1;
        remedies <= notes
    };
    for (number, finding) in report.findings.iter().enumerate() {
        let head = format!("{}. {}: {}", number + 1, finding.rule, finding.evidence);
        for line in wrapped(&head, usize::from(columns)) {
            text += &format!("{line}\n");
        }
        match report.trials.is_empty() {
            true => text.extend(
                finding.advice.iter().map(|advice| indented(REMEDY, &expected(advice, noted()), columns)),
            ),
            false => {
                text += &advice(finding, report).text(columns);
                text.extend(
                    finding.advice.iter().map(|advice| {
                        indented(REMEDY, &format!("{}: {}", advice.text(), advice.note), columns)
                    }),
                );
            }
        }
    }
    for line in trials(report).into_iter().chain(how_to_install(report)) {
        text += &format!("{}\n", wrapped(&line, usize::from(columns)).join("\n"));
    }
    text
}

/// The command for advice that is no flag and no change.
pub(crate) fn how_to_install(report: &Report) -> Option<String> {
    let mut advice = report.findings.iter().flat_map(|finding| &finding.advice);
    advice.any(|advice| matches!(advice.remedy, Remedy::Terrace(_))).then(|| match report.started {
        true => "To run the program with terrace: terrace run -- java ...".into(),
        false => {
            let pid = report.evidence.jvm.pid;
            // An agent that is there is not loaded once more.
            let on = match report.evidence.terrace {
                Some(_) => format!("Switch terrace on: terrace on {pid}"),
                None => format!("Load terrace: terrace attach {pid}"),
            };
            format!("{on}; switch it off again: terrace off {pid}")
        }
    })
}

/// What the tables of advice do not say of trials: those of what nobody advised, and notes.
pub(crate) fn trials(report: &Report) -> Vec<String> {
    let advised = |remedy: &str| {
        let mut advice = report.findings.iter().flat_map(|finding| &finding.advice);
        advice.any(|advice| advice.remedy.text() == remedy)
    };
    let mut lines = Vec::new();
    for trial in &report.trials {
        // What was there before is no advice.
        if let Some(speed) = trial.speed.as_ref().filter(|_| !advised(&trial.remedy)) {
            let collections = trial.collections.map(|ratio| format!(", collections {ratio:.3}"));
            lines.push(format!(
                "{} on against off: speed {}{}",
                trial.remedy,
                ratio(speed),
                collections.unwrap_or_default()
            ));
        }
        if trial.speed.is_none() && !advised(&trial.remedy) {
            lines.push(format!("{}: {}", trial.remedy, trial.note));
        }
        if let Some(speed) = trial.speed_cpu.as_ref().filter(|_| trial.speed.is_some()) {
            lines.push(format!("{}: work per CPU-second {}", trial.remedy, ratio(speed)));
        }
        if trial.speed.is_some() && !trial.note.is_empty() {
            lines.push(format!("{}: {}", trial.remedy, trial.note));
        }
    }
    lines
}

/// A remedy, what it is expected to do, how sure that is, and with `notes` what else should be known.
fn expected(advice: &Advised, notes: bool) -> String {
    let Advised { remedy, effect, note, .. } = advice;
    let one = |name: &str, value: Option<f64>| value.map(|value| format!("{name} {value:.3}"));
    let effects = [one("collections", effect.collections), one("speed", effect.speed)];
    let effects: Vec<String> = effects.into_iter().flatten().collect();
    let known = match effects.is_empty() {
        true => format!("{} ({})", advice.text(), effect.sure.text()),
        false => format!("{}: {} ({})", advice.text(), effects.join(", "), effect.sure.text()),
    };
    if notes || remedy.has_side_effects() { format!("{known}; {note}") } else { known }
}

pub(crate) fn advice(finding: &Finding, report: &Report) -> Table {
    let tried = !report.trials.is_empty();
    let mut columns = vec!["remedy", "collections", "speed", "confidence"];
    if tried {
        columns = vec!["remedy", "collections expected", "measured", "speed expected", "measured"];
    }
    let mut table = Table::new(columns);
    let number = |value: Option<f64>| value.map_or("?".to_owned(), |value| format!("{value:.3}"));
    for Advised { remedy, effect, .. } in &finding.advice {
        let text = remedy.text();
        let found = report.trial(&text);
        if tried {
            table.push([
                text.clone(),
                number(effect.collections),
                found.and_then(|trial| trial.collections).map_or("-".into(), |value| format!("{value:.3}")),
                number(found.filter(|trial| trial.shared).map_or(effect.speed, |_| effect.speed_cpu)),
                found.map_or("-".into(), |trial| trial.speed.as_ref().map_or(trial.note.clone(), ratio)),
            ]);
        } else {
            table.push([
                text,
                number(effect.collections),
                number(effect.speed),
                effect.sure.text().to_owned(),
            ]);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Evidence;
    use crate::finding::{Effect, Sure};
    use crate::trial::Trial;
    use jvm::Error;
    use statistics::Interval;

    fn report(trials: Vec<Trial>) -> Report {
        let advice = Advised {
            remedy: Remedy::flag("-Xmn848m"),
            effect: Effect { collections: Some(0.25), sure: Sure::Estimated, ..Effect::default() },
            note: "if few additional objects survive",
            replaces: vec![],
        };
        let finding = Finding {
            rule: "small young generation",
            evidence: "It is.".into(),
            advice: vec![advice],
            source: "",
        };
        Report {
            findings: vec![finding],
            trials,
            ..Report::of(Evidence { seconds: 1.0, ..Evidence::default() })
        }
    }

    /// Of JVMs that share CPUs, which are compared by CPU time.
    #[test]
    fn what_was_measured_stands_beside_an_expectation_of_the_same_kind() {
        let trial = |shared| Trial { remedy: "-Xmn848m".into(), shared, ..Trial::default() };
        let table = |shared| {
            let mut report = report(vec![trial(shared)]);
            let effect = &mut report.findings[0].advice[0].effect;
            (effect.speed, effect.speed_cpu) = (Some(1.05), Some(1.34));
            advice(&report.findings[0], &report).text(100)
        };
        assert!(table(true).contains("1.340") && !table(true).contains("1.050"), "{}", table(true));
        assert!(table(false).contains("1.050") && !table(false).contains("1.340"), "{}", table(false));
    }

    #[test]
    fn what_came_of_trials_is_on_the_page_too() {
        let trial = |remedy: &str, note: &str| Trial {
            remedy: remedy.into(),
            collections: Some(0.5),
            speed: Some(Interval { median: 1.25, low: 1.0, high: 1.5 }),
            speed_cpu: note.is_empty().then_some(Interval { median: 1.125, low: 1.0, high: 1.25 }),
            note: note.into(),
            ..Trial::default()
        };
        let report = report(vec![trial("-Xmn848m", "only 4 pairs"), trial("terrace", "")]);
        let lines = [
            "-Xmn848m: only 4 pairs",
            "terrace on against off: speed 1.250 [1.000, 1.500], collections 0.500",
            "terrace: work per CPU-second 1.125 [1.000, 1.250]",
        ];
        assert_eq!(trials(&report), lines);
        let shown = super::report(&report, 120, None);
        assert!(lines.iter().all(|line| shown.contains(line)), "{shown}");
        #[cfg(feature = "pages")]
        {
            let page = crate::page::render(&report).unwrap();
            assert!(lines.iter().all(|line| page.contains(line)), "{page}");
        }
    }

    #[test]
    fn as_many_notes_as_there_is_room_for_are_kept() {
        let mut report = report(vec![]);
        let advice = |note| Advised {
            remedy: Remedy::flag("-XX:TLABSize=4k"),
            note,
            ..report.findings[0].advice[0].clone()
        };
        let first = "which is so much that it takes another line of the terminal";
        let last = "and so does this, with so many words that two lines of a terminal do not hold them, and not even three \
            in which they are all that there is";
        report.findings[0].advice = vec![advice(first), advice(last)];
        let all = super::report(&report, 80, None).lines().count();
        let text = super::report(&report, 80, Some(all as u16));
        assert!(text.contains("another line") && !text.contains("so does this"), "{text}");
        assert!(text.ends_with(&format!("{NOTES}\n")), "{text}");
    }

    #[test]
    fn notes_are_left_out_where_that_makes_it_one_screen() {
        let lines = |findings: usize, rows: Option<u16>| {
            let mut report = report(vec![]);
            let finding = report.findings.remove(0);
            let long = Advised {
                remedy: Remedy::flag("-XX:TLABSize=4k"),
                note: "which is so much that it takes another line of the terminal: more than it has",
                ..finding.advice[0].clone()
            };
            report.findings = vec![Finding { advice: vec![long], ..finding }; findings];
            let shown = super::report(&report, 80, rows);
            (shown.lines().count(), shown.matches("another line").count())
        };
        let (few, some, many) = (lines(2, Some(24)), lines(7, Some(24)), lines(30, Some(24)));
        assert!(few.0 < 24 && few.1 == 2, "{few:?}");
        assert!(some.0 < 24 && some.1 < 7, "{some:?}");
        assert!(many.0 >= 24 && many.1 == 30, "nothing is won: {many:?}");
        assert_eq!([lines(7, None).1, lines(7, Some(60)).1], [7; 2], "there is room");
    }

    #[test]
    fn what_a_remedy_does_beside_its_purpose_is_never_left_out() {
        let mut report = report(vec![]);
        let other = Advised {
            remedy: Remedy::Terrace(vec![]),
            note: "another",
            ..report.findings[0].advice[0].clone()
        };
        report.findings[0].advice.push(other);
        let brief = lines(&report, 80, 0);
        assert!(brief.contains("if few additional objects survive") && !brief.contains("another"), "{brief}");
    }

    /// The rest of a remedy with an old flag in force may be worse than none: a young generation as large as the heap.
    #[test]
    fn options_that_a_remedy_replaces_are_never_left_out() {
        let mut report = report(vec![]);
        let advice = &mut report.findings[0].advice[0];
        advice.remedy = Remedy::Flags(vec!["-Xmx994m".into()]);
        advice.replaces = vec!["-Xmx512m".into()];
        let brief = lines(&report, 80, 0);
        assert!(brief.contains("- -Xmx994m in place of your -Xmx512m: collections 0.250"), "{brief}");
        let advice = &mut report.findings[0].advice[0];
        advice.remedy = Remedy::Flags(vec!["-Xmn994m".into(), "-Xmx1258m".into()]);
        let text = "-Xmn994m -Xmx1258m in place of your -Xmx512m, set both together";
        assert!(lines(&report, 120, 0).contains(&format!("- {text}: collections")));
        report.findings[0].advice[0].effect = Effect::default();
        assert!(lines(&report, 120, 0).contains(&format!("- {text} (needs a trial)")));
        #[cfg(feature = "pages")]
        {
            let page = crate::page::render(&report).unwrap();
            let expected =
                "<code>-Xmn994m -Xmx1258m</code> in place of your -Xmx512m, set both together: if few";
            assert!(page.contains(expected), "{page}");
        }
        report.trials.push(Trial::failure("-Xmn994m -Xmx1258m".into(), &Error::failed("no memory")));
        assert!(super::report(&report, 120, None).contains(&format!("- {text}: if few")));
    }

    #[test]
    fn advice_to_use_terrace_has_its_command() {
        let mut report = report(vec![]);
        assert!(!super::report(&report, 80, None).contains("terrace"));
        report.findings[0].advice[0].remedy = Remedy::Terrace(vec![]);
        report.evidence.jvm.pid = 4711;
        assert!(super::report(&report, 80, None).contains("terrace attach 4711;"));
        // The page is read where it is sent, and has the command, too.
        #[cfg(feature = "pages")]
        assert!(crate::page::render(&report).unwrap().contains("terrace attach 4711;"));
        report.evidence.terrace = Some(crate::evidence::Buffers::default());
        let there = super::report(&report, 80, None);
        assert!(there.contains("Switch terrace on: terrace on 4711") && !there.contains("attach"), "{there}");
        report.evidence.terrace = None;
        report.started = true;
        assert!(super::report(&report, 80, None).contains("terrace run -- java"));
    }

    #[test]
    fn what_else_should_be_known_of_a_remedy_is_shown() {
        let shown = super::report(&report(vec![]), 80, None);
        let line = "   - -Xmn848m: collections 0.250 (estimated); if few additional objects survive\n";
        assert!(shown.contains(line), "{shown}");
        let trial = Trial::failure("-Xmn848m".into(), &Error::failed("no memory"));
        // Of buffers that were there before there is no advice.
        let present = Trial::failure("terrace".into(), &Error::failed("only 3 pairs"));
        let shown = super::report(&report(vec![trial, present]), 80, None);
        for part in [
            "terrace: failed: only 3 pairs",
            "failed: no memory",
            "   - -Xmn848m: if few additional objects survive\n",
        ] {
            assert!(shown.contains(part), "'{part}' in {shown}");
        }
    }
}
