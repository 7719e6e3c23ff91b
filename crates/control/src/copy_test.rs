//! Where a control file may be, and what stays as it is.

use super::Copy;
use crate::control::Control;
use crate::control::tests::{own_directory, refused};
use crate::view::View;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

#[test]
fn any_other_file_stays_as_it_is() {
    let directory = own_directory();
    let path = directory.path().join("app.jar");
    for precious in ["PK\x03\x04 an application", "TERRACE", "x"] {
        std::fs::write(&path, precious).unwrap();
        let error = refused(&path);
        assert!(error.contains("left unchanged") && error.contains("specify another path"), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), precious);
    }
    // A second name: what is written to one is seen by the other.
    drop(Control::create(&directory.path().join("7"), &[1]).unwrap());
    std::fs::hard_link(directory.path().join("7"), directory.path().join("8")).unwrap();
    assert!(refused(&directory.path().join("8")).contains("left unchanged"));
}

#[test]
fn links_and_devices_are_not_opened() {
    let directory = own_directory();
    let target = directory.path().join("precious");
    std::fs::write(&target, "precious").unwrap();
    let path = directory.path().join("7");
    symlink(&target, &path).unwrap();
    assert!(refused(&path).contains("not a regular file"));
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
    let dangling = directory.path().join("8");
    symlink(directory.path().join("none"), &dangling).unwrap();
    assert!(refused(&dangling).contains("not a regular file"));
    assert!(!directory.path().join("none").exists());
    let pipe = directory.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(refused(&pipe).contains("not a regular file"));
    // Opening a pipe would wait for its writer.
    assert!(View::open(&pipe).is_err());
}

#[test]
fn only_the_file_that_was_made_is_removed_again() {
    let directory = own_directory();
    let [ours, theirs] = ["ours", "theirs"].map(|name| directory.path().join(name));
    for folder in [&ours, &theirs] {
        std::fs::create_dir_all(folder.join("inner")).unwrap();
        std::fs::set_permissions(folder.join("inner"), std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    std::fs::write(theirs.join("inner/7"), "precious").unwrap();
    let link = directory.path().join("link");
    symlink(&ours, &link).unwrap();
    let (copy, place) = Copy::create(&link.join("inner/7")).unwrap();
    std::fs::remove_file(&link).unwrap();
    symlink(&theirs, &link).unwrap();
    // Another file in its place, while it is away.
    std::fs::rename(ours.join("inner/7"), ours.join("7")).unwrap();
    std::fs::write(ours.join("inner/7"), "precious").unwrap();
    copy.remove(&place);
    std::fs::rename(ours.join("7"), ours.join("inner/8")).unwrap();
    for folder in [&ours, &theirs] {
        assert_eq!(std::fs::read_to_string(folder.join("inner/7")).unwrap(), "precious");
    }
    std::fs::rename(ours.join("inner/8"), ours.join("inner/7")).unwrap();
    copy.remove(&place);
    assert!(!ours.join("inner/7").exists() && theirs.join("inner/7").exists());
}

#[test]
fn a_file_that_has_no_room_is_removed_again() {
    let container = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"];
    let small = "mount -t tmpfs -o size=4k,mode=700 none \"$0\" && exec \"$@\"";
    let directory = own_directory();
    let run = |words: &[&str]| {
        let mut command = std::process::Command::new(container[0]);
        command.args(&container[1..]).arg(small).arg(directory.path()).args(words);
        command.env("FULL", directory.path()).output()
    };
    if !run(&["true"]).is_ok_and(|output| output.status.success()) {
        skips::skip!("unshare makes no mount namespace here");
        return;
    }
    let us = std::env::current_exe().unwrap();
    let test = "copy::tests::a_process_without_room";
    let output = run(&[us.to_str().unwrap(), "--exact", test, "--ignored", "--nocapture"]).unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
#[ignore = "the other process of the test above"]
fn a_process_without_room() {
    let Some(directory) = std::env::var_os("FULL") else { return };
    let error = refused(&Path::new(&directory).join("7"));
    assert!(error.contains("specify a path with free space"), "{error}");
    assert_eq!(std::fs::read_dir(directory).unwrap().count(), 0, "it is removed again");
}

#[test]
fn a_directory_open_to_others_is_refused_with_the_remedy() {
    let directory = own_directory();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(refused(&directory.path().join("7")).contains("mkdir -m 700"));
}

#[test]
fn a_link_on_the_way_that_another_user_may_have_placed_is_refused() {
    let directory = own_directory();
    let (open, target) = (directory.path().join("open"), directory.path().join("target"));
    for folder in [&open, &target] {
        std::fs::create_dir_all(folder.join("inner")).unwrap();
        std::fs::set_permissions(folder.join("inner"), std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    symlink(&target, open.join("link")).unwrap();
    let path = open.join("link/inner/7");
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(
        refused(&path).contains("is a symbolic link that another user may have placed; use control=auto")
    );
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(Control::create(&path, &[1]).is_ok());
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    assert!(Control::create(&open.join("inner/7"), &[1]).is_ok(), "no link");
}
