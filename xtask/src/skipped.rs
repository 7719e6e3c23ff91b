//! What was skipped.

use crate::shell::root;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::PathBuf;

/// Where tests tell what they skip.
pub fn file() -> PathBuf {
    root().join("target/skips")
}

/// No test was skipped yet.
pub fn forget() {
    let _ = std::fs::remove_file(file());
}

/// What was skipped since, in order, each once.
pub fn all() -> Vec<String> {
    let text = std::fs::read_to_string(file()).unwrap_or_default();
    let lines: BTreeSet<String> = text.lines().map(str::to_owned).collect();
    lines.into_iter().collect()
}

/// Something of ours was skipped.
pub fn note(what: &str, reason: impl Display) {
    skips::note_in(&file(), "xtask", what, reason);
}
