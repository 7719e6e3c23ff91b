use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};

fn own_directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    directory
}

#[test]
fn what_the_agent_writes_the_command_reads() {
    let directory = own_directory();
    let path = directory.path().join("7");
    let agent = Control::create(&path, &[2, 1]).unwrap();
    agent.set_settings(r#"{"levels":"core"}"#);
    agent.set_message("ready");
    agent.counters(1)[0].add(Counter::Refills, 3);
    agent.counters(0)[1].add_plainly(Counter::Buffers, 5);
    agent.set_state(State::Installed);

    let command = Control::open(&path).unwrap();
    assert_eq!(command.state(), Some(State::Installed));
    assert_eq!(command.settings(), r#"{"levels":"core"}"#);
    assert_eq!(command.message(), "ready");
    assert_eq!(command.pid(), std::process::id());
    assert_eq!((command.total(Counter::Refills), command.total(Counter::Buffers)), (3, 5));
    assert_eq!(command.counters(2).len(), 0);

    command.set_mode(Mode::On);
    assert_eq!(agent.mode(), Mode::On);
}

#[test]
fn the_file_is_private_and_replaces_an_older_one() {
    let directory = own_directory();
    let path = directory.path().join("7");
    std::fs::write(&path, "left by an earlier process").unwrap();
    let control = Control::create(&path, &[1]).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    control.remove();
    assert!(!path.exists());
}

#[test]
fn a_link_is_not_followed() {
    let directory = own_directory();
    let target = directory.path().join("precious");
    std::fs::write(&target, "precious").unwrap();
    let path = directory.path().join("7");
    symlink(&target, &path).unwrap();
    let error = Control::create(&path, &[1]).err().unwrap().to_string();
    assert!(error.contains("no regular file"), "{error}");
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
}

#[test]
fn a_directory_open_to_others_is_refused_with_the_remedy() {
    let directory = own_directory();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let error = Control::create(&directory.path().join("7"), &[1]).err().unwrap().to_string();
    assert!(error.contains("mkdir -m 700"), "{error}");
}

#[test]
fn what_is_no_control_file_is_refused() {
    let directory = own_directory();
    let path = directory.path().join("7");
    std::fs::write(&path, "short").unwrap();
    assert!(Control::open(&path).err().unwrap().to_string().contains("not a control file"));
    std::fs::write(&path, vec![7u8; 100_000]).unwrap();
    assert!(Control::open(&path).err().unwrap().to_string().contains("not a control file"));
    assert!(Control::open(&directory.path().join("none")).is_err());
}

#[test]
fn percent_p_is_the_process() {
    assert_eq!(expand_path("/run/x/%p.t", 5, 42), PathBuf::from("/run/x/42.t"));
    assert_eq!(expand_path("auto", 5, 42), PathBuf::from("/dev/shm/terrace_5/42"));
}
