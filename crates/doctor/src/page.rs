//! A report as a page.

use crate::facts::facts;
use crate::finding::Advised;
use crate::nothing::nothing;
use crate::report::Report;
use crate::show;
use present::page::Page;
use serde::Serialize;

const BODY: &str = include_str!("page.html");

#[derive(Serialize)]
struct View {
    facts: Vec<(&'static str, String)>,
    findings: Vec<Shown>,
    nothing: Option<String>,
    trials: Vec<String>,
    install: Option<String>,
}

#[derive(Serialize)]
struct Shown {
    rule: &'static str,
    evidence: String,
    source: &'static str,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
    notes: Vec<Note>,
}

/// What has to be known of a remedy.
#[derive(Serialize)]
struct Note {
    remedy: String,
    /// Which options of the JVM's it replaces.
    replaces: String,
    note: &'static str,
}

impl Note {
    fn of(advice: &Advised) -> Note {
        let remedy = advice.remedy.text();
        let replaces = advice.text().split_off(remedy.len());
        Note { remedy, replaces, note: advice.note }
    }
}

/// One file, that asks no network for anything.
pub fn render(report: &Report) -> jvm::Result<String> {
    let findings = report.findings.iter().map(|finding| {
        let table = show::advice(finding, report);
        Shown {
            rule: finding.rule,
            evidence: finding.evidence.clone(),
            source: finding.source,
            columns: table.columns,
            rows: table.rows,
            notes: finding.advice.iter().map(Note::of).collect(),
        }
    });
    let view = View {
        facts: facts(&report.evidence),
        findings: findings.collect(),
        nothing: report.findings.is_empty().then(|| nothing(&report.evidence)),
        trials: show::trials(report),
        install: show::how_to_install(report),
    };
    let jvm = &report.evidence.jvm;
    let page = Page {
        brand: "terrace doctor",
        title: format!("process {}", jvm.pid),
        heading: format!("What allocation costs process {}", jvm.pid),
        meta: format!("JDK {}, {}", jvm.version, jvm.collector),
        footer: "Expected effects are relative to the current state, for the same work; a speed above 1 is faster.".into(),
        version: report.terrace,
        ..Page::default()
    };
    page.render(BODY, &view).map_err(|error| jvm::Error::failed(error.to_string()))
}
