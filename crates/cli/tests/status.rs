//! `terrace status PID`.

mod common;

use common::{Home, assert_refused, real_java, shown};
use control::{Control, Mode, State};
use std::io::Read;
use std::process::{Child, Command, Stdio};

#[test]
fn processes_without_terrace() {
    let home = Home::new("exit 0");
    let none = home.terrace(&["status", "1073741823"]).output().unwrap();
    assert_refused(&none, 1, &["no such process 1073741823"]);
    // A process of its own: in this one another test has a control file mapped.
    let other = Killed(Command::new("sleep").arg("600").spawn().unwrap());
    let refused = home.terrace(&["status", &other.0.id().to_string()]).output().unwrap();
    assert_refused(&refused, 1, &["is not a JVM"]);
}

#[test]
fn what_a_control_file_says_is_shown() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    // This test's own process has the file mapped, as a JVM with control=PATH has.
    let control = Control::create(&folder.path().join("here"), &[2]).unwrap();
    control.set_settings(r#"{"levels":"core","core":"auto","collector":"Serial"}"#);
    control.set_message("core buffers reduced to 16k: the heap is small");
    control.set_mode(Mode::On);
    control.counters(0)[1].add(hab::Counter::BufferBytes, 5_000_000);
    control.set_state(State::Installed);

    let home = Home::new("exit 0");
    let us = std::process::id().to_string();
    let table = shown(&home.terrace(&["status", &us]).output().unwrap());
    for part in ["installed", "reduced to 16k", "collector Serial", "5.00 MB", "| core"] {
        assert!(table.contains(part), "'{part}' in: {table}");
    }
    assert!(!table.contains("why core"), "{table}");
    let why = shown(&home.terrace(&["status", &us, "--why"]).output().unwrap());
    assert!(why.contains("collector Serial") && why.contains("auto, starts with the formula's"), "{why}");
    let json = home.terrace(&["status", &us, "--format", "json"]).output().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&json["state"], &json["mode"]), (&"installed".into(), &"on".into()));
    assert_eq!(json["levels"][0]["domains"][1]["buffer_bytes"], 5_000_000);
    assert_eq!(json["sizing"]["levels"][0]["asked"], "auto");
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_real_jvm_without_terrace() {
    let Some(java) = real_java() else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("Waits.java");
    let text = "class Waits { public static void main(String[] a) throws Exception { \
                System.out.print('r'); System.out.flush(); Thread.sleep(600000); } }";
    std::fs::write(&source, text).unwrap();
    let child = Command::new(java).arg(&source).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut child = Killed(child);
    child.0.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
    let home = Home::new("exit 0");
    let output = home.terrace(&["status", &child.0.id().to_string()]).output().unwrap();
    assert_refused(
        &output,
        1,
        &["is a JVM without terrace", "terrace attach", "start the program with 'terrace run -- java ...'"],
    );
}
