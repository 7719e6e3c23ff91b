use super::*;
use crate::counters_test::file;
use crate::evidence::Costs;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

const LENGTH: Duration = Duration::from_secs(2);
/// In the second half.
const END: &str = "1.4";

/// A process that has a JVM's files: its counters are in a folder of `/tmp`, as HotSpot's are, and its control group in `root`.
fn start(counters: &Path, root: &Path) -> Child {
    let script = "cd \"$1\" && sleep 0.3 && cat later > $$ && sleep $3 && rm $$ && rm -r \"$2/proc/$$\"";
    let child =
        Command::new("sh").args(["-c", script, "sh"]).args([counters, root]).arg(END).spawn().unwrap();
    let values = |collections: i64| {
        let [seconds, count] = [("sun.rt.safepointTime", 50), ("sun.gc.collector.0.invocations", 1)];
        let times = [seconds, count].map(|(name, one)| (name, one * collections));
        file(&[&[("sun.os.hrt.frequency", 1000)], &times[..]].concat(), &[])
    };
    let write = |path: PathBuf, bytes: &[u8]| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    let pid = child.id().to_string();
    write(counters.join(&pid), &values(3));
    write(counters.join("later"), &values(10));
    write(root.join("proc").join(&pid).join("cgroup"), b"0::/app");
    let mount = b"30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
    write(root.join("proc/self/mountinfo"), mount);
    write(root.join("sys/fs/cgroup/app/memory.max"), b"8192");
    write(root.join("sys/fs/cgroup/app/memory.current"), b"4096");
    child
}

/// Watches one that ends meanwhile; what nobody waits for is still listed. `None` where this machine let either of the two come too late for the other.
fn watched_to_its_end(is_waited_for: bool) -> Option<Evidence> {
    let counters = tempfile::Builder::new().prefix("hsperfdata_").tempdir_in("/tmp").unwrap();
    let root = tempfile::tempdir().unwrap();
    let mut child = start(counters.path(), root.path());
    let system = System::at(root.path());
    let watched = Watched { pid: child.id(), control: None, attached: None, system, missing: vec![] };
    let costs = Measured { costs: Costs::default(), missing: None };
    let (done, is_done) = std::sync::mpsc::channel();
    let waiting = std::thread::spawn(move || {
        if !is_waited_for {
            is_done.recv().unwrap();
        }
        child.wait()
    });
    let evidence = watch_where(&watched, costs, LENGTH, &Progress::none());
    let _ = done.send(());
    let has_written = waiting.join().unwrap().unwrap().success();
    let in_time =
        |evidence: &Evidence| evidence.seconds < LENGTH.as_secs_f64() && evidence.eden.collections == Some(7);
    evidence.ok().filter(in_time).filter(|_| has_written)
}

fn watch_to_its_end(is_waited_for: bool) {
    let evidence =
        (0..100).find_map(|_| watched_to_its_end(is_waited_for)).expect("seven collections up to its end");
    assert!((evidence.eden.stopped.unwrap() - 0.35).abs() < 1e-9, "{:?}", evidence.eden);
    assert_eq!(evidence.memory.available, Some(4096));
    assert_eq!((evidence.process_cpu, evidence.application_cpu), (None, None));
    assert_eq!(evidence.memory.resident, None);
    let missing = evidence.missing.join("; ");
    assert!(!missing.contains("group") && !missing.contains("counters"), "{missing}");
    assert!(missing.contains("ended while it was watched; use a shorter --seconds"), "{missing}");
}

#[test]
fn a_program_that_ends_while_it_is_watched_was_watched_until_then() {
    watch_to_its_end(true);
}

#[test]
fn a_program_that_has_ended_shows_nothing_where_it_is_still_listed() {
    watch_to_its_end(false);
}
