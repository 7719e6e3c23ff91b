//! Keycloak: its distribution unpacked, and configured once for the database that it is run with, as `kc.sh build` does.

use crate::build;
use crate::files::{failed, names, remove};
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
            Error::failed("Keycloak's distribution was not fetched; look at java/applications/pom.xml")
        })?;
    let zip = folder.join(&name);
    let jdk = build::compiler_jdk()?;
    run(Command::new(jdk.home.join("bin/jar")).current_dir(folder).arg("xf").arg(&zip))?;
    fs::remove_file(&zip).map_err(|error| failed(&zip, &error))?;
    let unpacked = fs::read_dir(folder)
        .map_err(|error| failed(folder, &error))?
        .flatten()
        .find(|entry| entry.file_name().to_string_lossy().starts_with(DISTRIBUTION))
        .ok_or_else(|| {
            Error::failed(format!("{name} has no folder {DISTRIBUTION}*; is it Keycloak's distribution?"))
        })?;
    let home = folder.join("keycloak");
    fs::rename(unpacked.path(), &home).map_err(|error| failed(&home, &error))?;
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
