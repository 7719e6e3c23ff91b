//! What was launched and what came of it, for README's table of JDKs and collectors (`cargo xtask results --launches FILE`): a line of JSON for each
//! launch of a matrix, behind what the file that `TERRACE_LAUNCHES` names already has.

use crate::jdk::{self, Jdk};
use crate::runner::{Outcome, Verdict};
use std::io::{Read, Write};
use std::path::Path;

/// Appends what became of a case. A case that is not of a matrix (`hazard::Collector::JDK`) is of no table.
pub fn note(case: &str, verdict: &Verdict) {
    let Some(path) = std::env::var_os("TERRACE_LAUNCHES") else { return };
    let Some(line) = line(case, verdict) else { return };
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    // One write a line: a line of another process does not come between.
    let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
    if let Err(error) = written {
        panic!("TERRACE_LAUNCHES={}: {error}", Path::new(&path).display());
    }
}

fn line(case: &str, verdict: &Verdict) -> Option<serde_json::Value> {
    let (rest, feature) = case.rsplit_once("::")?;
    let (hazard, collector) = rest.rsplit_once("::")?;
    let jdk = jdk::of(feature.parse().ok()?).ok()?;
    let mut line = serde_json::json!({ "hazard": hazard, "collector": collector, "jdk": jdk.version,
        "architecture": architecture(jdk)? });
    let (outcome, why) = match verdict {
        Ok(Outcome::Passed) => ("passed", None),
        Ok(Outcome::Skipped(why)) => ("skipped", Some(why)),
        Err(_) => ("failed", None),
    };
    line["outcome"] = outcome.into();
    if let Some(why) = why {
        line["why"] = why.as_str().into();
    }
    Some(line)
}

/// The JVM's, which an emulator may run: from `e_machine` of its ELF header.
fn architecture(jdk: &Jdk) -> Option<&'static str> {
    let mut header = [0; 20];
    std::fs::File::open(jdk.libjvm()).ok()?.read_exact(&mut header).ok()?;
    match u16::from_le_bytes([header[18], header[19]]) {
        62 => Some("x64"),
        183 => Some("arm64"),
        _ => None,
    }
}
