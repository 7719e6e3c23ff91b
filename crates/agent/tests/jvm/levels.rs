//! Every choice of levels, with TLABs and without.

use crate::launch::Launch;
use crate::matrix::{JDKS, SERVED, Setting, USUAL, hazard};
use crate::process::Finished;
use crate::runner::Case;
use hotspot::collector::Collector;

const LEVELS: [&str; 4] = ["core", "processor", "core+processor", "none"];

/// A load that the collector can bear.
fn load(setting: Setting) -> Launch {
    let launch = Launch::new("Load");
    match setting.collector {
        Collector::Epsilon => launch.args(&["most=300m"]).flags("-Xmx1g"),
        Collector::Shenandoah | Collector::GenerationalShenandoah => {
            launch.flags("-XX:+ShenandoahVerify").collects(1)
        }
        _ => launch.flags("-Xmn8m").collects(2),
    }
}

/// The levels in force must have served, or, without levels, observed.
fn served(levels: &'static str) -> impl Fn(&Finished) -> Result<(), String> {
    move |finished| {
        let report = finished.report()?;
        let names: Vec<&str> = report.0["levels"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|level| level["name"].as_str())
            .collect();
        let expected = if levels == "none" { "observed".to_owned() } else { levels.to_owned() };
        if names.join("+") != expected {
            return Err(format!("levels {names:?}"));
        }
        let (refills, passed) = (report.sum(0, "refills"), report.sum(0, "passed"));
        match levels {
            "none" if refills == 0 && passed > 0 => Ok(()),
            "none" => Err(format!("{refills} refills, {passed} passed")),
            _ if refills > 0 => Ok(()),
            _ => Err("the buffers were never refilled".into()),
        }
    }
}

pub fn cases(cases: &mut Vec<Case>) {
    for levels in LEVELS {
        hazard(cases, &format!("levels::{levels}"), JDKS, SERVED, move |setting| {
            let sizes = if levels == "none" { "" } else { ",core=32k,processor=256k" };
            load(setting)
                .agent(format!("levels={levels}{sizes},tlab=2k"))
                .without(&["-XX:TLABSize=8k", "-XX:-ResizeTLAB"])
                .after(served(levels))
        });
    }
    // Sizes and TLABs of terrace's own choice: what most users run.
    hazard(cases, "levels::defaults", JDKS, SERVED, |setting| {
        load(setting).agent("log=warn").without(&["-XX:TLABSize=8k", "-XX:-ResizeTLAB"]).after(served("core"))
    });
    // A buffer whose halves are no whole grains.
    hazard(cases, "levels::odd_buffers", JDKS, SERVED, |setting| {
        load(setting)
            .agent("core=60008")
            .without(&["-XX:TLABSize=8k", "-XX:-ResizeTLAB"])
            .after(served("core"))
    });
    for levels in LEVELS {
        hazard(cases, &format!("without_tlabs::{levels}"), JDKS, USUAL, move |setting| {
            load(setting).agent(format!("levels={levels}")).flags("-XX:-UseTLAB").after(served(levels))
        });
    }
    // Compiled code of such a JVM takes memory from eden by itself: it is left alone unless levels are asked for.
    hazard(cases, "without_tlabs::left_alone", JDKS, USUAL, |setting| {
        load(setting).agent("log=warn").flags("-XX:-UseTLAB").after(|finished| {
            let report = finished.report()?;
            let name = &report.0["levels"][0]["name"];
            let refills = report.sum(0, "refills");
            match (name.as_str(), refills) {
                (Some("observed"), 0) => Ok(()),
                _ => Err(format!("level {name} with {refills} refills, in a JVM without TLABs")),
            }
        })
    });
    hazard(cases, "without_tlabs::others", JDKS, &SERVED[3..], |setting| load(setting).flags("-XX:-UseTLAB"));
    // Elastic TLABs, whose extents may be larger than asked for, are turned off.
    hazard(cases, "elastic", JDKS, &[Collector::Epsilon], |setting| {
        load(setting).flags("-XX:+EpsilonElasticTLAB").after(served("core"))
    });
}
