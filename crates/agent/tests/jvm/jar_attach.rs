//! `java -jar terrace.jar attach PID`, by another JVM than the one it is for.

use crate::artifacts;
use crate::attach::{collect, outlasting};
use crate::jdk;
use crate::matrix::{JDKS, Setting, USUAL, hazard, matrix};
use crate::process::Running;
use crate::runner::{Case, Outcome, QUIET};
use crate::surroundings::Surroundings;
use hotspot::collector::Collector;
use std::process::Command;

pub fn cases(cases: &mut Vec<Case>) {
    hazard(cases, "jar::attach", JDKS, USUAL, |setting| {
        let launch = outlasting(setting.collector).beside(|running| {
            attach(running, "core=64k,report=report.json", (0, "terrace is in process"))?;
            collect(running)
        });
        launch.after(|finished| {
            let report = finished.report()?;
            report.check()?;
            if report.sum(0, "refills") > 0 { Ok(()) } else { Err("no refill".into()) }
        })
    });
    matrix(cases, "jar::attach_to_another_user", JDKS, &[Collector::G1], |setting| {
        let within = Surroundings::another_user(&[&setting.jdk.java(), artifacts::classes()?]);
        surrounded(setting, within, "core=64k,report=report.json", (0, "terrace is in process"))
    });
    // Somebody else could exchange folders there while they are written to.
    matrix(cases, "jar::attach_to_other_folders", JDKS, &[Collector::G1], |setting| {
        surrounded(setting, Surroundings::mounts("true"), "core=64k", (1, "is in another mount namespace"))
    });
}

/// Attaches to a JVM in these surroundings, if there can be such.
fn surrounded(
    setting: Setting,
    within: Result<Surroundings, String>,
    options: &'static str,
    expected: (i32, &'static str),
) -> Result<Outcome, String> {
    let within = match within {
        Ok(within) => within,
        Err(why) => return Ok(Outcome::Skipped(why)),
    };
    let launch = outlasting(setting.collector).within(within).beside(move |running| {
        attach(running, options, expected)?;
        collect(running)
    });
    QUIET.shared(|| launch.run(setting.jdk)).map(|_| Outcome::Passed)
}

/// Attaches, and compares exit code and answer.
fn attach(running: &mut Running<'_>, options: &str, (code, says): (i32, &str)) -> Result<(), String> {
    if !running.wait_for("running") {
        return Err("the program ended before it began".into());
    }
    let java = jdk::compiler().ok_or("no JDK with a compiler")?.with_file_name("java");
    let output = Command::new(java)
        .args(["-Xmx64m", "-XX:+UseSerialGC", "-jar"])
        .arg(artifacts::jar()?)
        .args(["attach", &running.pid().to_string(), options])
        .env("XDG_CACHE_HOME", artifacts::scratch().join("cache"))
        .output()
        .map_err(|error| error.to_string())?;
    let said =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    let lines = said.lines().filter(|line| !line.starts_with("WARNING")).count();
    if output.status.code() == Some(code) && said.contains(says) && lines == 1 {
        return Ok(());
    }
    Err(format!("{}: {said}; expected {code} and one line with '{says}'", output.status))
}
