//! The native half of `callbacks-jni`. Without a C compiler that program is missing, and says so when it is asked for.

use crate::maven::compiler_jdk;
use crate::shell::{root, run};
use jvm::Result;
use std::path::Path;
use std::process::{Command, Stdio};

const SOURCE: &str = "java/applications/src/main/c/callbacks.c";

pub fn build(folder: &Path) -> Result<()> {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let found = Command::new(&compiler).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        println!("no C compiler '{compiler}': callbacks-jni is left out; install one, or specify it with CC");
        return Ok(());
    }
    let headers = compiler_jdk()?.home.join("include");
    let mut command = Command::new(compiler);
    command
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-pthread", "-I"])
        .arg(&headers)
        .arg("-I")
        .arg(headers.join("linux"))
        .arg(root().join(SOURCE))
        .arg("-o")
        .arg(folder.join("libterrace-callbacks.so"));
    run(&mut command)
}
