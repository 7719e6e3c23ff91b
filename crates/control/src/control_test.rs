use super::*;
use crate::header::FORMAT;
use hab::Counter;
use std::os::unix::fs::PermissionsExt;

pub(crate) fn own_directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    directory
}

pub(crate) fn refused(path: &Path) -> String {
    let error = Control::create(path, &[1]).err().expect("refused").to_string();
    assert_eq!(error.lines().count(), 1);
    error
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
    command.ask_for_sizes(&[
        (1, Asked::Bytes(65536)),
        (0, Asked::Formula),
        (2, Asked::Auto),
        (MAX_LEVELS, Asked::Bytes(7)),
    ]);
    assert_eq!(
        [0, 1, 2, 3].map(|level| agent.asked(level)),
        [Asked::Formula, Asked::Bytes(65536), Asked::Auto, Asked::Nothing]
    );
    assert!(!command.has_taken_sizes());
    agent.set_sizes(&[1024, 2048]);
    agent.take_sizes(agent.asked_number());
    assert!(command.has_taken_sizes());
    assert_eq!([command.size(0), command.size(1), command.size(2)], [1024, 2048, 0]);

    assert!(!agent.is_to_withdraw());
    command.ask_to_withdraw();
    assert!(agent.is_to_withdraw());
    // It is the living memory, not a copy.
    agent.counters(0)[0].add(Counter::Refills, 1);
    assert_eq!(command.total(Counter::Refills), 4);
}

#[test]
fn an_agent_of_another_version_is_told_as_such() {
    let directory = own_directory();
    let path = directory.path().join("7");
    let agent = Control::create(&path, &[1]).unwrap();
    agent.header().format.store(FORMAT + 7, Ordering::Relaxed);
    agent.set_state(State::Installed);
    let said = View::open(&path).err().expect("another version").to_string();
    assert!(
        said.contains(&format!("(control format {}, this command supports {FORMAT})", FORMAT + 7)),
        "{said}"
    );
    assert_eq!(crate::Error::of_other_version(&path).unwrap().to_string(), said);
    // A process that has its memory open.
    let memory = std::fs::File::open(format!("/proc/self/fd/{}", agent.living().unwrap().1)).unwrap();
    let mut child = std::process::Command::new("sleep").arg("60").stdin(memory).spawn().unwrap();
    let error = View::of_process(child.id()).err().expect("another version");
    assert!(
        error.is_of_other_version() && error.to_string().contains(&format!("in process {}", child.id())),
        "{error}"
    );
    // One that has gone is in nobody's way: a doctor of another release was there.
    for (state, is_there) in [
        (State::Withdrawn, false),
        (State::Observing, true),
        (State::Refused, false),
        (State::Ended, false),
        (State::Starting, true),
    ] {
        agent.set_state_in_memory(state);
        let found = View::of_process(child.id());
        assert_eq!(found.is_err(), is_there, "{state:?}");
        assert!(found.is_err() || found.unwrap().is_none());
    }
    agent.header().format.store(FORMAT, Ordering::Relaxed);
    assert!(View::of_process(child.id()).unwrap().is_none(), "ours, of a process that forked");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(crate::Error::of_other_version(directory.path()).is_none());
}

#[test]
fn what_an_ended_process_has_written_is_read_from_its_copy() {
    let directory = own_directory();
    let path = directory.path().join("7");
    let agent = Control::create(&path, &[1]).unwrap();
    let early = View::open(&path).unwrap();
    agent.counters(0)[0].add(Counter::Refills, 3);
    agent.set_state(State::Ended);
    agent.counters(0)[0].add(Counter::Refills, 1);
    drop(agent);
    let late = Control::open(&path).unwrap();
    assert_eq!((late.state(), late.total(Counter::Refills)), (Some(State::Ended), 3));
    late.set_mode(Mode::On);
    assert_eq!(early.total(Counter::Refills), 4, "who had it open keeps the memory");
}

#[test]
fn the_file_is_private_and_replaces_an_older_one_of_ours() {
    let directory = own_directory();
    let path = directory.path().join("7");
    drop(Control::create(&path, &[200]).unwrap());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let control = Control::create(&path, &[1]).unwrap();
    let found = std::fs::metadata(&path).unwrap();
    assert_eq!(
        (found.permissions().mode() & 0o777, found.len() as usize),
        (0o600, control.view.memory.bytes())
    );
    assert_eq!(View::open(&path).unwrap().counters(0).len(), 1);
    std::fs::write(&path, "").unwrap();
    drop(control);
    assert!(Control::create(&path, &[1]).is_ok(), "an empty file has nothing to lose");
}

#[test]
fn a_file_of_a_running_process_stays() {
    let directory = own_directory();
    let path = directory.path().join("7");
    let first = Control::create(&path, &[1]).unwrap();
    let error = refused(&path);
    assert!(error.contains("belongs to a running JVM") && error.contains("%p"), "{error}");
    first.set_mode(Mode::On);
    assert_eq!(View::open(&path).unwrap().mode(), Mode::On);
}

#[test]
fn a_truncated_file_harms_neither_side() {
    let directory = own_directory();
    let path = directory.path().join("7");
    let agent = Control::create(&path, &[300]).unwrap();
    let command = View::open(&path).unwrap();
    for bytes in [4096, 100, 0] {
        std::fs::File::options().write(true).open(&path).unwrap().set_len(bytes).unwrap();
        agent.counters(0)[299].add(Counter::Refills, 1);
        agent.set_mode(Mode::On);
        assert!(command.total(Counter::Refills) > 0);
        let error = View::open(&path).err().unwrap().to_string();
        assert!(error.contains("not a control file"), "{error}");
    }
    agent.set_state(State::Ended);
    assert_eq!(View::open(&path).unwrap().total(Counter::Refills), 3, "the end writes all of it again");
}

#[test]
fn what_is_no_control_file_is_refused() {
    let directory = own_directory();
    let path = directory.path().join("7");
    for bytes in [b"short".to_vec(), vec![7; 100_000], vec![0; 64 << 20]] {
        std::fs::write(&path, bytes).unwrap();
        assert!(Control::open(&path).err().unwrap().to_string().contains("not a control file"));
    }
    assert!(Control::open(&directory.path().join("none")).is_err());
}

#[test]
fn a_copy_cannot_lead_to_the_memory_of_another_user() {
    // SAFETY: geteuid has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        skips::skip!("root only");
        return;
    }
    let directory = own_directory();
    let path = directory.path().join("7");
    let agent = Control::create(&path, &[1]).unwrap();
    assert_eq!(std::process::Command::new("chown").arg("65534").arg(&path).status().unwrap().code(), Some(0));
    Control::open(&path).unwrap().set_mode(Mode::On);
    assert_eq!(agent.mode(), Mode::Off, "the file is another user's, so it was only a copy");
}

/// A process of its own, since other tests of this one have memory, too. `before` stands before its command line.
fn waiting(before: &[&str], path: &Path) -> (std::process::Child, std::path::PathBuf) {
    let us = std::env::current_exe().unwrap().display().to_string();
    let words = [us.as_str(), "--exact", "control::tests::a_process_that_waits", "--ignored", "--nocapture"];
    let all: Vec<&str> = before.iter().chain(&words).copied().collect();
    let child = std::process::Command::new(all[0])
        .args(&all[1..])
        .env("CONTROL", path)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    (child, path.to_owned())
}

/// Waits until the process has said that it is there; `None` if it has ended.
fn installed(
    child: &mut std::process::Child,
    look: impl Fn() -> Result<Option<View>, Error>,
) -> Option<View> {
    loop {
        match look() {
            Ok(Some(view)) if view.state() == Some(State::Installed) => return Some(view),
            _ if child.try_wait().unwrap().is_some() => return None,
            _ => std::thread::sleep(std::time::Duration::from_millis(5)),
        }
    }
}

#[test]
fn a_process_has_it_among_its_descriptors() {
    let directory = own_directory();
    let (mut child, _) = waiting(&[], &directory.path().join("7"));
    let pid = child.id();
    let view = installed(&mut child, || View::of_process(pid)).expect("a process that waits");
    assert_eq!((view.pid(), view.total(Counter::Refills)), (pid, 7));
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    assert!(View::of_process(pid).is_err());
    assert_eq!(view.total(Counter::Refills), 7);
}

#[test]
fn process_1_of_two_containers() {
    let container = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"];
    let can = std::process::Command::new(container[0]).args(&container[1..]).arg("true").output();
    if !can.is_ok_and(|output| output.status.success()) {
        skips::skip!("unshare makes no PID namespace here");
        return;
    }
    let directory = own_directory();
    let mut both = [7, 8].map(|name| waiting(&container, &directory.path().join(name.to_string())));
    for (child, path) in &mut both {
        // By its file, which knows only the number 1.
        let living = |path: &Path| {
            View::open(path)
                .map(|view| Some(view).filter(|view| view.counters(0)[0].get(Counter::Refills) == 7))
        };
        let of_file = installed(child, || living(path)).expect("a process that waits");
        // By the number that it has here: it is the only child of unshare.
        let pid = child.id();
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        let inner = children.trim().parse().unwrap();
        let view = View::of_process(inner).unwrap().expect("its memory");
        assert_eq!((view.pid(), view.total(Counter::Refills)), (1, 7));
        assert_eq!((of_file.pid(), of_file.process(), view.process()), (1, inner, inner));
    }
    for (mut child, _) in both {
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
    }
}

#[test]
#[ignore = "the other process of the test above"]
fn a_process_that_waits() {
    let Some(path) = std::env::var_os("CONTROL") else { return };
    let control = Control::create(Path::new(&path), &[1]).unwrap();
    control.counters(0)[0].add(Counter::Refills, 7);
    control.set_state(State::Installed);
    let _ = std::io::read_to_string(std::io::stdin());
}

#[test]
fn a_place_is_auto_or_a_path_for_each_process() {
    let directory = own_directory();
    let control = Control::at(directory.path().join("%p.t").to_str().unwrap(), &[1]).unwrap();
    assert!(control.found_by().copy.is_some());
    assert!(View::open(&directory.path().join(format!("{}.t", std::process::id()))).is_ok());
    assert!(Control::at("auto", &[1]).unwrap().found_by().copy.is_none());
}

#[test]
fn what_was_given_up_can_be_taken_over() {
    let directory = own_directory();
    let path = directory.path().join("7");
    let refused = Control::create(&path, &[100]).unwrap();
    refused.set_message("refused");
    refused.set_state(State::Refused);
    refused.counters(0)[99].add(Counter::Refills, 7);
    let looking = View::open(&path).unwrap();
    assert_eq!((looking.message(), looking.total(Counter::Refills)), ("refused".into(), 7));
    refused.give_up();
    let kept = if crate::memory::commits_strictly() { 7 } else { 0 };
    assert_eq!((looking.state(), looking.total(Counter::Refills)), (Some(State::Refused), kept));
    let again = Control::create(&path, &[1]).unwrap();
    refused.set_state(State::Ended);
    again.set_state(State::Installed);
    assert_eq!(View::open(&path).unwrap().state(), Some(State::Installed));
}

#[test]
fn what_takes_the_place_of_another_gets_its_file() {
    let directory = own_directory();
    let path = directory.path().join("7");
    let (name, other) = (path.to_str().unwrap(), directory.path().join("8"));
    let first = Control::at(name, &[1]).unwrap();
    first.set_state(State::Observing);
    first.counters(0)[0].add(Counter::Passed, 7);
    // Refused: all is as it was.
    let in_vain = first.beside(name, &[2]).unwrap();
    in_vain.set_state(State::Refused);
    in_vain.give_up();
    assert_eq!(View::open(&path).unwrap().state(), Some(State::Observing));
    let second = first.beside(name, &[2]).unwrap();
    second.set_state(State::Installed);
    first.make_way(&second);
    assert_eq!(first.state(), Some(State::Withdrawn));
    let found = View::open(&path).unwrap();
    assert_eq!((found.state(), found.counters(0).len()), (Some(State::Installed), 2));
    first.give_up();
    assert!(refused(&path).contains("belongs to a running JVM"), "the lock goes with the file");
    // Another file is another one's, and each has its own last state.
    let third = second.beside(other.to_str().unwrap(), &[1]).unwrap();
    third.set_state(State::Installed);
    second.counters(0)[1].add(Counter::Refills, 3);
    second.make_way(&third);
    drop(second);
    let left = View::open(&path).unwrap();
    assert_eq!((left.state(), left.total(Counter::Refills)), (Some(State::Withdrawn), 3));
    assert_eq!(View::open(&other).unwrap().state(), Some(State::Installed));
    assert!(third.beside("auto", &[1]).unwrap().found_by().copy.is_none());
}

#[test]
fn memory_of_a_refused_attempt_serves_the_next_one_that_is_alike() {
    let agent = Control::shared(&[2]).unwrap();
    agent.set_message("refused for a reason");
    agent.set_mode(Mode::On);
    agent.ask_to_withdraw();
    agent.ask_for_sizes(&[(0, Asked::Bytes(65536))]);
    agent.set_state(State::Refused);
    for (place, levels) in
        [(None, &[2][..]), (Some("/tmp/x"), &[2]), (Some("auto"), &[3]), (Some("auto"), &[2, 1])]
    {
        assert!(!agent.try_again(place, levels), "{place:?} {levels:?}");
    }
    assert_eq!(agent.state(), Some(State::Refused));
    assert!(agent.try_again(Some("auto"), &[2]));
    assert_eq!((agent.state(), agent.message().as_str()), (Some(State::Starting), ""));
    assert_eq!((agent.mode(), agent.asked(0)), (Mode::Off, Asked::Nothing));
    assert!(agent.has_taken_sizes() && !agent.is_to_withdraw());
    // What has counted may be counted in by a late thread, and is looked at.
    for state in [State::Installed, State::Observing, State::Withdrawn, State::Ended] {
        agent.set_state(state);
        assert!(!agent.try_again(Some("auto"), &[2]), "{state:?}");
    }
    let private = Control::anonymous(&[2]).unwrap();
    assert!(!private.try_again(Some("auto"), &[2]) && private.try_again(None, &[2]));
    let directory = own_directory();
    let path = directory.path().join("control");
    let with_a_file = Control::create(&path, &[2]).unwrap();
    assert!(!with_a_file.try_again(Some("auto"), &[2]) && !with_a_file.try_again(path.to_str(), &[2]));
}
