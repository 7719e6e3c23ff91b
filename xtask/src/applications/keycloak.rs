//! Keycloak: its distribution unpacked, and configured once for the database that it is run with, as `kc.sh build` does.

use crate::files::{at, names, remove, remove_file, rename};
use crate::maven::compiler_jdk;
use crate::shell::run;
use jvm::application::KEYCLOAK_FLAGS;
use jvm::{Error, Result};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const DISTRIBUTION: &str = "keycloak-";
/// Its tools write here.
const SCRATCH: &str = "data";

pub fn build(folder: &Path) -> Result<()> {
    let name = names(folder)?
        .into_iter()
        .find(|name| name.starts_with(DISTRIBUTION) && name.ends_with(".zip"))
        .ok_or_else(|| {
            Error::failed("Keycloak's distribution was not fetched; check java/applications/pom.xml")
        })?;
    let zip = folder.join(&name);
    let jdk = compiler_jdk()?;
    run(Command::new(jdk.home.join("bin/jar")).current_dir(folder).arg("xf").arg(&zip))?;
    remove_file(&zip)?;
    let unpacked = fs::read_dir(folder)
        .map_err(at(folder))?
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().starts_with(DISTRIBUTION))
        .ok_or_else(|| {
            Error::failed(format!(
                "{name} has no directory {DISTRIBUTION}*; check that it is Keycloak's distribution"
            ))
        })?;
    let home = folder.join("keycloak");
    rename(unpacked.path(), &home)?;
    println!("configuring Keycloak ...");
    let mut command = Command::new(jdk.java());
    command
        .args(KEYCLOAK_FLAGS)
        .arg(format!("-Dkc.home.dir={}", home.display()))
        .arg(format!("-Djboss.server.config.dir={}", home.join("conf").display()))
        .arg("-Dpicocli.disable.closures=true")
        .arg("-cp")
        .arg(home.join("lib/quarkus-run.jar"))
        .args(["io.quarkus.bootstrap.runner.QuarkusEntryPoint", "build", "--db=dev-mem"])
        .stdout(Stdio::null());
    run(&mut command)?;
    remove(&home.join(SCRATCH))
}
