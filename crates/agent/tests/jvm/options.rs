//! Bad input and failure: one clear line each. The application runs as without the agent; with `strict=true` it does not start.

use crate::artifacts;
use crate::jdk::{self, Jdk};
use crate::launch::{Exit, Launch};
use crate::matrix::{JDKS, MAIN, hazard, setting};
use crate::runner::{Case, Outcome, QUIET};
use crate::zgc::ZGCS;
use hotspot::collector::Collector;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The JDK that `cargo xtask jdks` installs.
const INSTALLED: u32 = 21;

/// Name, flags, options, and what the one line must have.
const MISTAKES: &[(&str, &str, &str, &str)] = &[
    ("unknown_option", "", "cores=64k", "unknown option cores: use one of levels, core"),
    ("no_value", "", "core", "write key=value"),
    ("no_size", "", "core=64kb", "core=64kb: invalid size '64kb': write bytes"),
    ("huge_size", "", "core=99999999999g", "invalid size"),
    ("too_small", "", "core=100", "core=100: use at least 4k"),
    ("processor_too_small", "", "levels=processor,processor=1k", "processor=1k: use at least 4k"),
    ("no_multiple", "", "core=65537", "use a multiple of 8 bytes"),
    (
        "no_multiple_of_alignment",
        "-XX:ObjectAlignmentInBytes=16",
        "core=65544",
        "multiple of ObjectAlignmentInBytes=16",
    ),
    // Not with such a TLABSize: JDK 25 then fails by itself ("Loader must be oop").
    (
        "odd_least_tlab_flag",
        "-XX:ObjectAlignmentInBytes=16 -XX:MinTLABSize=2056",
        "tlab=4k",
        "MinTLABSize=2056: use a multiple of ObjectAlignmentInBytes=16 (-XX:MinTLABSize)",
    ),
    ("tlab_too_small", "", "tlab=512", "tlab=512: use at least 1k"),
    ("unknown_level", "", "levels=l3", "use one of none, core, processor, core+processor"),
    ("no_switch", "", "strict=maybe", "use one of true, false"),
    ("negative_delay", "", "delay=-1", "use microseconds"),
    ("not_utf8", "", "\u{fffd}", "is not an option"),
    ("no_directory", "", "control=missing/control", "create it with mkdir -m 700"),
    ("open_directory", "", "control=open/control", "open is writable by other users"),
    ("directory_is_file", "", "control=file/control", "is not a directory"),
    ("directory_is_link", "", "control=linked/control", "links are not followed"),
    ("control_is_link", "", "control=link", "exists and is not a regular file"),
    ("control_is_directory", "", "control=directory", "exists and is not a regular file"),
];

/// What the rows above find in their directory.
fn prepare(directory: &Path) -> std::io::Result<()> {
    for name in ["open", "directory"] {
        std::fs::create_dir(directory.join(name))?;
    }
    std::fs::set_permissions(directory.join("open"), std::fs::Permissions::from_mode(0o777))?;
    std::fs::write(directory.join("file"), "precious")?;
    std::os::unix::fs::symlink("file", directory.join("link"))?;
    std::os::unix::fs::symlink("directory", directory.join("linked"))
}

pub fn cases(cases: &mut Vec<Case>) {
    for &(name, flags, options, line) in MISTAKES {
        for strict in [false, true] {
            let kind = if strict { "strict" } else { "lenient" };
            cases.push(Case::new(format!("mistake::{name}::{kind}"), move || {
                let Some(jdk) = jdk::all().iter().rev().find(|jdk| MAIN.contains(&jdk.feature.0)) else {
                    return Ok(Outcome::Skipped("no supported JDK found".into()));
                };
                let mut launch =
                    Launch::bare("Hello").flags(flags).flags("-XX:+UseSerialGC").unreported().says(line);
                if strict && name != "no_switch" {
                    launch = launch
                        .agent(format!("{options},strict=true"))
                        .prints(&[])
                        .never("hello")
                        .exit(Exit::NotZero);
                } else {
                    launch = launch.agent(options).prints(&["hello"]);
                }
                let directory =
                    tempfile::tempdir_in(artifacts::scratch()).map_err(|error| error.to_string())?;
                prepare(directory.path()).map_err(|error| error.to_string())?;
                QUIET.shared(|| launch.run_in(jdk, directory.path()))?;
                if std::fs::read(directory.path().join("file")).ok().as_deref() != Some(b"precious") {
                    return Err("the file behind the link was changed".into());
                }
                Ok(Outcome::Passed)
            }));
        }
    }
    // An end without a report is told; the application's result stands.
    hazard(cases, "report_cannot_be_written", &[25], &[Collector::G1], |_| {
        Launch::bare("Hello").agent("report=missing/report.json").unreported().prints(&["hello"]).says(
            "report=missing/report.json: No such file or directory (os error 2): specify a writable file",
        )
    });
    hazard(cases, "zgc_is_refused", JDKS, ZGCS, |_| {
        Launch::bare("Hello").prints(&["hello"]).unreported().says("ZGC already allocates from per-CPU pages")
    });
    hazard(cases, "zgc_is_refused_strictly", JDKS, ZGCS, |_| {
        (Launch::bare("Hello")
            .agent("strict=true")
            .prints(&[])
            .never("hello")
            .exit(Exit::NotZero)
            .unreported())
        .says("ZGC already allocates from per-CPU pages")
    });
    jdks_are_here(cases);
    hazard(cases, "silent_when_well", JDKS, &[Collector::G1], |_| {
        Launch::bare("Hello").agent("strict=true").prints(&["hello"]).after(|finished| {
            let report = finished.report()?;
            let state = report.0["state"].as_str().unwrap_or("").to_owned();
            let sizes = report.setting("core_bytes").as_u64().unwrap_or(0);
            let tlab = report.setting("tlab").as_str().unwrap_or("").to_owned();
            if finished.stderr.is_empty() && state == "ended" && sizes >= 4096 && !tlab.is_empty() {
                return Ok(());
            }
            Err(format!("state {state}, core {sizes}, tlab {tlab}, said {}", finished.stderr))
        })
    });
}

fn jdks_are_here(cases: &mut Vec<Case>) {
    cases.push(Case::new("every_supported_jdk_is_here", || {
        // Where JDKs are named, they are there; and the one that `cargo xtask jdks` installs can be everywhere.
        let named = std::env::var_os("TERRACE_JDKS").unwrap_or_default();
        let named: Vec<_> =
            std::env::split_paths(&named).filter(|path| !path.as_os_str().is_empty()).collect();
        if let Some(path) = named.iter().find(|path| Jdk::at(path).is_none()) {
            return Err(format!("TERRACE_JDKS names {}: no JDK is there", path.display()));
        }
        let must = |feature| feature == INSTALLED && (!named.is_empty() || std::env::var_os("CI").is_some());
        let missing = |feature: &u32| setting(*feature, Collector::Serial).err().map(|why| (*feature, why));
        match MAIN.iter().filter_map(missing).max_by_key(|(feature, _)| must(*feature)) {
            Some((feature, why)) if must(feature) => Err(format!("{why}: install it with cargo xtask jdks")),
            Some((_, why)) => Ok(Outcome::Skipped(why)),
            None => Ok(Outcome::Passed),
        }
    }));
}
