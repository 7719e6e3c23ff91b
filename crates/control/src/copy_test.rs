//! Where a control file may be, and what stays as it is.

use crate::control::Control;
use crate::control::tests::{own_directory, refused};
use crate::view::View;
use std::os::unix::fs::{PermissionsExt, symlink};

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
