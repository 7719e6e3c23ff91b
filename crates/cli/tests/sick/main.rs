//! JVMs that are ill in one way each, and some that are well: the doctor's rules, with real programs.

mod card_marks;
#[path = "../common/cpus.rs"]
mod cpus;
#[path = "../common/examined.rs"]
mod examined;
#[path = "../common/real.rs"]
mod installed;
mod other_causes;
mod threads;
mod well;

use doctor::evidence::Evidence;
use examined::{advised, answer_when, finding, report, report_finding, report_when, rules, start, start_on};
use installed::{Busy, PATIENCE, installed, jar, java};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

#[test]
fn small_tlabs_and_a_small_young_generation_are_found() {
    let flags = ["-XX:+UseSerialGC", "-Xmn8m", "-XX:TLABSize=2k", "-XX:-ResizeTLAB"];
    let Some(jvm) = start(&flags, &["alloc", "--threads", "2", "--size", "400"]) else { return };
    let both = ["refill waste", "small young generation"];
    let report = report_when(jvm.0.id(), |report| both.iter().all(|rule| rules(report).contains(rule)));
    let advice = &finding(&report, "refill waste")["advice"];
    assert_eq!(advice[0]["remedy"]["what"], "leave out -XX:TLABSize and -XX:-ResizeTLAB", "{report:#}");
    let advice = &finding(&report, "small young generation")["advice"];
    assert!(advice[0]["remedy"]["what"][0].as_str().unwrap().starts_with("-Xmn"), "{advice:#}");
}

#[test]
fn without_tlabs_it_says_so() {
    let Some(jvm) = start(&["-XX:+UseSerialGC", "-XX:-UseTLAB"], &["alloc", "--threads", "1"]) else {
        return;
    };
    assert!(rules(&report(&jvm)).contains(&"no TLABs"));
}

#[test]
fn tiny_tlabs_whose_refills_threads_share_are_found() {
    let flags = ["-XX:+UseParallelGC", "-XX:TLABSize=1k", "-XX:MinTLABSize=1k", "-XX:-ResizeTLAB"];
    let Some(jvm) = start(&flags, &["alloc", "--threads", "2"]) else { return };
    let report = report_finding(&jvm, "shared refills");
    let advice = &finding(&report, "shared refills")["advice"];
    assert_eq!(advice[0]["remedy"]["what"][0], "-XX:TLABSize=8k", "{advice:#}");
    assert_eq!(advice[1]["remedy"]["kind"], "terrace", "{advice:#}");
}

#[test]
fn objects_that_do_not_fit_a_tlab_are_found() {
    let flags = ["-XX:+UseSerialGC", "-XX:TLABSize=2k", "-XX:-ResizeTLAB"];
    let Some(jvm) = start(&flags, &["alloc", "--threads", "2", "--size", "4000"]) else { return };
    let report = report_finding(&jvm, "objects outside TLABs");
    let advice = &finding(&report, "objects outside TLABs")["advice"];
    assert_eq!(advice[0]["remedy"]["kind"], "terrace", "its TLABs are not resized: {advice:#}");
}

/// Terrace leaves them to HotSpot there.
#[test]
fn objects_that_do_not_fit_a_tlab_are_found_with_shenandoah() {
    if installed().is_none() {
        return;
    }
    let mut probe = Command::new(java());
    probe.args(["-XX:+UseShenandoahGC", "-version"]).stdout(Stdio::null()).stderr(Stdio::null());
    if !probe.status().unwrap().success() {
        skips::skip!("Shenandoah: the newest JDK here has none");
        return;
    }
    let flags = ["-XX:+UseShenandoahGC", "-XX:TLABSize=2k", "-XX:-ResizeTLAB"];
    let Some(jvm) = start(&flags, &["alloc", "--threads", "2", "--size", "4000"]) else { return };
    let report = report_finding(&jvm, "objects outside TLABs");
    let advice = &finding(&report, "objects outside TLABs")["advice"];
    assert_eq!(
        advice[0]["remedy"]["what"], "larger TLABs (-XX:TLABSize), or HotSpot's own sizes",
        "{advice:#}"
    );
}

#[test]
fn humongous_objects_that_bring_collections_are_found() {
    // Its heap is so small that regions have 1 MB, and 4 MB at most.
    let started = |size: &str, flags: &[&str]| {
        start(&[&["-XX:+UseG1GC"], flags].concat(), &["alloc", "--threads", "1", "--size", size])
    };
    let Some(jvm) = started("600000", &[]) else { return };
    let report = report_finding(&jvm, "humongous objects");
    drop(jvm);
    let advice = &finding(&report, "humongous objects")["advice"];
    assert_eq!(advice[0]["remedy"]["what"][0], "-XX:G1HeapRegionSize=2m", "{report:#}");
    assert!(advice[0]["effect"]["collections"].as_f64().is_some_and(|left| left < 0.9), "{report:#}");
    let evidence = &report["evidence"];
    assert!(evidence["eden"]["causes"]["G1 Humongous Allocation"].as_u64() > Some(0), "{report:#}");
    let objects = &evidence["large_objects"][0];
    let each = objects["bytes"].as_f64().unwrap() / objects["count"].as_f64().unwrap();
    assert!(objects["most_bytes"] == 1 << 20 && (600_000.0..600_100.0).contains(&each), "{report:#}");
    let Some(jvm) = started("3000000", &[]) else { return };
    let report = report_finding(&jvm, "humongous objects");
    drop(jvm);
    let found = finding(&report, "humongous objects");
    assert_eq!(found["advice"][0]["remedy"]["kind"], "program", "no region takes them: {report:#}");
    assert!(found["evidence"].as_str().unwrap().contains("in objects of 2.10 MB to 4.19 MB"), "{report:#}");
    let Some(jvm) = started("600000", &["-XX:G1HeapRegionSize=2m"]) else { return };
    let cured =
        report_when(jvm.0.id(), |report| report["evidence"]["eden"]["collections"].as_u64() >= Some(5));
    assert!(!rules(&cured).contains(&"humongous objects"), "{cured:#}");
}

/// A small heap is full again at once, and ZGC collects while the program runs.
#[test]
fn a_concurrent_collector_that_has_no_rest_is_found() {
    // One thread has it collect all the time, which is a share of the CPUs that there are.
    let jvm = start_on(Some(2), &["-XX:+UseZGC", "-Xmx64m"], &["alloc", "--threads", "1"]);
    let Some(jvm) = jvm else { return };
    let report = report_finding(&jvm, "concurrent collections");
    let advice = &finding(&report, "concurrent collections")["advice"];
    assert_eq!(advice[0]["remedy"]["what"][0], "-Xmx128m", "{report:#}");
    let evidence = &report["evidence"];
    assert!(evidence["concurrent_cpu"].as_f64() <= evidence["collector_cpu"].as_f64(), "{report:#}");
}

/// What javac keeps alive takes most of such a heap.
#[test]
fn a_heap_that_is_nearly_full_is_found() {
    let Some(jvm) = start(&["-XX:+UseSerialGC", "-Xmx48m"], &["javac", "--threads", "1"]) else { return };
    let report = report_finding(&jvm, "full collections");
    let advice = &finding(&report, "full collections")["advice"];
    assert_eq!(advice[0]["remedy"]["what"][0], "-Xmx96m", "{report:#}");
}

/// The program of that name beside the tests.
fn start_program(flags: &[&str], program: &str, arguments: &[&str]) -> Option<Busy> {
    installed()?;
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(program);
    let mut command = Command::new(java());
    command.args(["-Xmx256m", "-XX:+EnableDynamicAgentLoading"]).args(flags).arg(source).args(arguments);
    command.env_remove("JAVA_TOOL_OPTIONS").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    Some(Busy(command.spawn().unwrap()))
}

/// To whom the kernel gives transparent huge pages.
fn transparent_huge_pages() -> Option<String> {
    let modes = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").ok()?;
    Some(modes.split_once('[')?.1.split_once(']')?.0.to_owned())
}

/// Watched from its start on, when nothing of its heap has been touched.
#[test]
fn a_heap_that_is_touched_for_the_first_time_is_found() {
    let Some(folder) = installed() else { return };
    if transparent_huge_pages().as_deref() == Some("always") {
        skips::skip!("first touch: with transparent huge pages for all a heap has few pages");
        return;
    }
    let (java, jar) = (java(), jar(&folder));
    // A busy machine may have touched all of it before it is looked at, or next to nothing meanwhile.
    let examined = |flags: &[&str], ready: fn(&Value) -> bool| -> Value {
        let doctor = ["doctor", "--warmup", "0", "--seconds", "2", "--format", "json", "--", &java];
        let heap = ["-XX:+UseSerialGC", "-Xms1g", "-Xmx1g", "-Xmn750m"];
        let program = ["-jar", &jar, "alloc", "--threads", "1", "--size", "4000", "--seconds", "600"];
        answer_when(&[&doctor[..], &heap, flags, &program].concat(), ready)
    };
    let report = examined(&[], |report| rules(report).contains(&"first touch"));
    let advice = &finding(&report, "first touch")["advice"];
    assert_eq!(advice[0]["remedy"]["what"][0], "-XX:+AlwaysPreTouch", "{report:#}");
    let cured = examined(&["-XX:+AlwaysPreTouch"], |report| {
        report["evidence"]["allocation"]["used"].as_f64() > Some(1e6)
    });
    assert!(!rules(&cured).contains(&"first touch"), "{cured:#}");
    let resident = |report: &Value| report["evidence"]["memory"]["heap_resident"].as_u64().unwrap();
    assert!(resident(&cured) <= 1 << 30 && resident(&cured) >= 1000 << 20, "{cured:#}");
    assert!(resident(&report) < 900 << 20, "its old generation is empty: {report:#}");
}

#[test]
fn a_large_heap_on_small_pages_is_found() {
    if transparent_huge_pages().as_deref() != Some("madvise") {
        skips::skip!("small pages: the kernel gives transparent huge pages to all, or to nobody");
        return;
    }
    let flags = ["-XX:+UseSerialGC", "-Xms1200m", "-Xmx1200m", "-XX:+AlwaysPreTouch"];
    let Some(jvm) = start(&flags, &["alloc", "--threads", "1"]) else { return };
    let report = report(&jvm);
    let advice = &finding(&report, "small pages")["advice"];
    assert_eq!(advice[0]["remedy"]["what"][0], "-XX:+UseTransparentHugePages", "{report:#}");
}

/// A control group of this test's with a tenth of a CPU, removed when dropped.
struct Quota(PathBuf);

impl Quota {
    fn new() -> Option<Quota> {
        let (first, second) = (PathBuf::from("/sys/fs/cgroup/cpu"), PathBuf::from("/sys/fs/cgroup"));
        let name = format!("terrace-test-{}", std::process::id());
        let (group, file, quota) = match second.join("cgroup.controllers").is_file() {
            true => (second.join(name), "cpu.max", "10000 100000"),
            false => (first.join(name), "cpu.cfs_quota_us", "10000"),
        };
        let made = std::fs::create_dir(&group).map(|()| Quota(group.clone()));
        if let Ok(made) = made
            && std::fs::write(group.join(file), quota).is_ok()
        {
            return Some(made);
        }
        skips::skip!("throttled: no control group with a quota can be made here");
        None
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // Once nobody is in it any more.
        while std::fs::remove_dir(&self.0)
            .is_err_and(|error| error.kind() == std::io::ErrorKind::ResourceBusy)
        {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

#[test]
fn a_quota_that_throttles_is_found() {
    let Some(quota) = Quota::new() else { return };
    let flags = ["-XX:+UseSerialGC", "-XX:-UseContainerSupport"];
    let Some(jvm) = start(&flags, &["alloc", "--threads", "2"]) else { return };
    report(&jvm);
    if std::fs::write(quota.0.join("cgroup.procs"), jvm.0.id().to_string()).is_err() {
        skips::skip!("throttled: no process can be moved to another control group here");
        return;
    }
    let report = report_finding(&jvm, "throttled");
    let found = finding(&report, "throttled");
    assert!(found["evidence"].as_str().unwrap().contains("quota of 0.1"), "{found:#}");
    assert!(advised(&report, "raise the quota of its control group").is_some(), "{found:#}");
    assert!(advised(&report, "-XX:ActiveProcessorCount=1").is_none(), "it would be another JVM: {found:#}");
    drop(jvm);
}

/// What is seen of a JVM on a machine whose `/proc` and `/sys` are below a directory, once that is as it is waited for.
fn watch_until(jvm: &Busy, root: impl AsRef<Path>, ready: impl Fn(&Evidence) -> bool) -> Evidence {
    let attached = jvm::attach::Attached::to(jvm.0.id(), PATIENCE).unwrap();
    let watched = doctor::watched::Watched {
        pid: jvm.0.id(),
        control: None,
        attached: Some(&attached),
        system: doctor::placement::System::at(root.as_ref()),
        missing: vec![],
    };
    let (progress, until) = (present::progress::Progress::none(), Instant::now() + PATIENCE);
    loop {
        let evidence = doctor::watch::watch(&watched, std::time::Duration::from_secs(2), &progress).unwrap();
        if ready(&evidence) || Instant::now() > until {
            return evidence;
        }
    }
}

/// A machine of two memory nodes, a CPU each, whose memory is all on the first one: of a real JVM's pages and threads everything is as the kernel
/// says, only the nodes are not there.
#[test]
fn memory_far_from_its_threads_is_found() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let cpus = doctor::placement::listed(allowed.trim());
    let cpus: Vec<String> = cpus.iter().map(|cpu| cpu.0.to_string()).collect();
    if cpus.len() < 2 || std::path::Path::new("/sys/devices/system/node/node1").exists() {
        skips::skip!("memory nodes: two CPUs on one node are needed");
        return;
    }
    let flags = ["-XX:+UseParallelGC", "-Xms256m", "-XX:+AlwaysPreTouch"];
    let Some(jvm) = start(&flags, &["alloc", "--threads", "2"]) else { return };
    let root = tempfile::tempdir().unwrap();
    let nodes = root.path().join("sys/devices/system/node");
    for (node, cpus) in [("node0", cpus[..1].join(",")), ("node1", cpus[1..].join(","))] {
        std::fs::create_dir_all(nodes.join(node)).unwrap();
        std::fs::write(nodes.join(node).join("cpulist"), cpus).unwrap();
    }
    std::os::unix::fs::symlink("/proc", root.path().join("proc")).unwrap();
    // Until it can be asked.
    report(&jvm);
    // On a busy machine all threads may have been on one CPU meanwhile.
    let evidence = watch_until(&jvm, root.path(), |evidence| {
        evidence.placement.as_ref().is_none_or(|placed| placed.remote >= 0.05)
    });
    let Some(placed) = &evidence.placement else {
        skips::skip!("memory nodes: the kernel does not show where memory is (/proc/PID/numa_maps)");
        return;
    };
    assert!(placed.pages[0] > 0.9 && placed.threads[1] > 0.0, "{placed:?}");
    let rules = doctor::rules::examine(&evidence);
    let found =
        rules.iter().find(|found| found.rule == "memory nodes").unwrap_or_else(|| panic!("{rules:?}"));
    assert_eq!(found.advice[0].remedy.text(), "-XX:+UseNUMA", "{found:?}");
    assert!(found.evidence.contains("different node"), "{found:?}");
}

/// The arguments that run a program of the experiment `applications` on the newest JDK, for as long as a test can take; it unpacks what it brings in
/// `scratch`.
fn application(name: &str, scratch: &Path) -> Option<Vec<String>> {
    let install = jvm::install::Install::at(vec![installed()?]);
    let jdk = jvm::jdk::newest().unwrap();
    match jvm::application::Application::named(name).unwrap().arguments(&jdk, &install, scratch) {
        Ok(arguments) => {
            let words = arguments.into_iter().map(|word| word.into_string().unwrap());
            Some(words.chain(["--seconds".into(), "86400".into()]).collect())
        }
        Err(error) => {
            skips::skip!("{name}: {error}");
            None
        }
    }
}

/// Threads of native code, attached for a call each, from the program of the experiment `applications`.
#[test]
fn native_threads_that_attach_for_each_call_are_found() {
    let scratch = tempfile::tempdir().unwrap();
    let Some(arguments) = application("callbacks-jni", scratch.path()) else { return };
    let java = java();
    let words =
        ["doctor", "--warmup", "3", "--seconds", "3", "--format", "json", "--", &java, "-XX:+UseParallelGC"];
    let words = words.into_iter().chain(arguments.iter().map(String::as_str)).collect::<Vec<_>>();
    let report = answer_when(&words, |report| rules(report).contains(&"ended threads"));
    let advice = finding(&report, "ended threads")["advice"].as_array().unwrap();
    let program = advice.iter().find(|advice| advice["remedy"]["kind"] == "program").unwrap();
    // Threads that live for microseconds may not be met in any look: then both remedies are named, and none is ruled out.
    let told = match report["evidence"]["threads"]["attached"].as_f64() {
        Some(share) => share > 0.5 && program["remedy"]["what"] == "do not detach native threads",
        None => program["note"].as_str().unwrap().contains("do not detach native threads"),
    };
    assert!(told, "{report:#}");
}
