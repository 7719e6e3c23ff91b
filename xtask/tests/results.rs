//! A figure stands in one place: what README says was measured stands in docs/results.md, too, so that the two cannot contradict each
//! other.

use std::path::Path;

/// Every ratio with its interval, such as `1.22 [1.13, 1.27]`.
fn ratios(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(" [") {
        let (before, after) = (&text[..at], &text[at + 2..]);
        let value =
            before.rsplit(|letter: char| !letter.is_ascii_digit() && letter != '.').next().unwrap_or("");
        let Some((interval, _)) = after.split_once(']') else { continue };
        let numbers = || interval.split(", ").chain([value]);
        if numbers().count() == 3
            && numbers().all(|number| number.contains('.') && number.parse::<f64>().is_ok())
        {
            found.push(format!("{value} [{interval}]"));
        }
    }
    found
}

#[test]
fn what_readme_says_was_measured_stands_in_the_results() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let (readme, results) = (read("README.md"), read("docs/results.md"));
    let figures = ratios(&readme);
    assert!(figures.len() >= 5, "README has its table: {figures:?}");
    for figure in figures {
        assert!(results.contains(&figure), "README says {figure}, docs/results.md does not");
    }
}

#[test]
fn the_tables_are_what_the_kept_results_say() {
    let output =
        std::process::Command::new(env!("CARGO_BIN_EXE_xtask")).args(["results", "--check"]).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn ratios_are_found() {
    let text = "| 1.22 [1.13, 1.27] | see [there](x) | 0.5 [no, 1.0] | x9.1 [8.0, 9.9].";
    assert_eq!(ratios(text), ["1.22 [1.13, 1.27]", "9.1 [8.0, 9.9]"]);
}
