//! What a reader gets of a run: a page, tables for the terminal, CSV, and what changed between two runs.
//!
//! | part | what it is |
//! |---|---|
//! | [`mod@format`] | numbers as people read them |
//! | `plot`, `layout` | which cells are points of which plot |
//! | `tables`, `plots`, `view` | what the page's template is given |
//! | [`noise`] | what the canaries say of a run |
//! | [`html`] | the page: one file, no network |
//! | [`text`] | tables for the terminal |
//! | [`csv`] | tables for other programs |
//! | `simulated` | simulated cells beside the measured ones |
//! | [`diff`] | two runs compared |

#![allow(missing_docs, reason = "not published")]

pub mod csv;
pub mod diff;
pub mod format;
pub mod html;
mod layout;
mod machine;
pub mod noise;
mod plot;
mod plots;
mod simulated;
mod tables;
pub mod text;
mod view;

pub use html::page;
pub use jvm::{Error, Result};

use experiment::results::Results;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes `results.json`, `NAME.csv` for each experiment, `simulated.csv` and `index.html` into a folder, and says which files those are. Each
/// is complete or as it was before: it is written under another name first.
pub fn write(results: &Results, folder: &Path) -> Result<Vec<PathBuf>> {
    let json = serde_json::to_string_pretty(results).map_err(|why| {
        Error::failed(format!(
            "the results cannot be written as JSON: {why}; this is a bug, please report it"
        ))
    })?;
    let mut files = vec![("results.json".to_owned(), json + "\n")];
    for findings in &results.experiments {
        files.push((format!("{}.csv", file_name(&findings.declaration.name)), csv::findings(findings)));
    }
    if !results.simulated.is_empty() {
        files.push(("simulated.csv".to_owned(), csv::simulated(&results.simulated)));
    }
    files.push(("index.html".to_owned(), page(results)?));
    fs::create_dir_all(folder).map_err(|why| cannot(folder, &why))?;
    files.into_iter().map(|(name, text)| replace(&folder.join(name), &text)).collect()
}

/// A name that stays in its folder, whatever the results say.
fn file_name(name: &str) -> String {
    let safe = |letter: char| if letter.is_alphanumeric() || letter == '-' { letter } else { '_' };
    name.chars().map(safe).collect()
}

fn cannot(path: &Path, why: &std::io::Error) -> Error {
    Error::failed(format!("{} cannot be written: {why}; choose another directory with --out", path.display()))
}

fn replace(path: &Path, text: &str) -> Result<PathBuf> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(format!(".{}.new", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let written = fs::write(&temporary, text).and_then(|()| fs::rename(&temporary, path));
    written.map_err(|why| {
        // Nothing is lost if it stays: the error that matters is the first.
        let _ = fs::remove_file(&temporary);
        cannot(path, &why)
    })?;
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab::fixture;

    #[test]
    fn all_files_are_written_and_nothing_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("deep/er");
        let files = write(&fixture::results(), &out).unwrap();
        let mut names: Vec<String> = fs::read_dir(&out)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(
            names,
            ["atomics.csv", "hab.csv", "index.html", "results.json", "tlab.csv", "zeroing.csv"]
        );
        assert_eq!(files.len(), names.len());
        let back: Results =
            serde_json::from_str(&fs::read_to_string(out.join("results.json")).unwrap()).unwrap();
        assert_eq!(back, fixture::results());
        write(&fixture::results(), &out).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_is_an_error_with_a_remedy() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let text = write(&fixture::results(), &file.path().join("x")).unwrap_err().to_string();
        assert!(text.contains("choose another directory"), "{text}");
        assert_eq!(file_name("../a b"), "___a_b");
    }
}
