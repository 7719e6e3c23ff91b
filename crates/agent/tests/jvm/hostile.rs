//! Surroundings that lack what is usually there: the agent does with less and says so, or refuses in one line; the application runs, and
//! its heap stays sound for twenty collections.

use crate::attach::{collect_times, outlasting};
use crate::jdk;
use crate::launch::Launch;
use crate::matrix::{JDKS, Setting, USUAL, matrix};
use crate::observing::install;
use crate::process::{Finished, Running};
use crate::runner::{Case, Outcome, QUIET, Verdict};
use crate::surroundings::Surroundings;
use hotspot::collector::Collector;
use jvm::agent::AgentOptions;
use jvm::observer::Observer;
use jvm::switch;
use topology::{Machine, Places, RseqArea};

/// Twenty collections under verification.
fn load() -> Launch {
    Launch::new("Load").args(&["gc=20"]).flags("-Xmn8m").collects(20)
}

fn run(setting: Setting, launch: Launch, surroundings: Result<Surroundings, String>) -> Verdict {
    let surroundings = match surroundings {
        Ok(surroundings) => surroundings,
        Err(why) => return Ok(Outcome::Skipped(why)),
    };
    let launch = launch
        .within(surroundings)
        .flags(&jdk::collector_flags(setting.collector, setting.jdk.feature).join(" "));
    QUIET.shared(|| launch.run(setting.jdk)).map(|_| Outcome::Passed)
}

/// The report's settings say that the CPU came from there.
fn source(expected: impl Into<String>) -> impl Fn(&Finished) -> Result<(), String> {
    let expected = expected.into();
    move |finished| {
        let report = finished.report()?;
        let source = report.setting("cpu_source").as_str().unwrap_or_default().to_owned();
        if source == expected { Ok(()) } else { Err(format!("cpu_source is {source}, expected {expected}")) }
    }
}

/// As [`run`], of what takes an rseq area that the kernel and the C library have.
fn run_with_rseq(setting: Setting, launch: Launch, surroundings: Surroundings) -> Verdict {
    match RseqArea::find() {
        Ok(_) => run(setting, launch, Ok(surroundings)),
        Err(why) => Ok(Outcome::Skipped(format!("rseq: {why}"))),
    }
}

/// What the agent has where nothing is refused: in a container with less than the machine it goes by concurrency ids.
fn usual_source() -> String {
    Places::detect(&Machine::detect()).source().to_string()
}

/// What no command could see, or switch off, is not installed.
fn refused_unseen(running: &mut Running<'_>) -> Result<(), String> {
    if !running.wait_for("running") {
        return Err("the program ended before it began".into());
    }
    let observer = Observer::attach(running.pid(), &install(), |_| {}).map(drop);
    let options = AgentOptions::read(&["core=64k".into()]).map_err(|error| error.to_string())?;
    let buffers = switch::attach(running.pid(), &options, &install(), |_| {}).map(drop);
    for outcome in [observer, buffers] {
        let said = outcome.err().map(|error| error.to_string()).unwrap_or_default();
        if !said.contains("the agent refused; the reason is on the JVM's standard error") {
            return Err(format!("not refused: {said}"));
        }
    }
    collect_times(running, 2)
}

pub fn cases(cases: &mut Vec<Case>) {
    const REFUSED: &str = "getcpu (rseq refused by the kernel (older than 4.18, or a sandbox))";
    matrix(cases, "hostile::no_rseq", JDKS, USUAL, |setting| {
        run_with_rseq(setting, load().after(source(REFUSED)), Surroundings::refusing(&[libc::SYS_rseq]))
    });
    matrix(cases, "hostile::rseq_switched_off", JDKS, &[Collector::G1], |setting| {
        let launch = load().after(source("getcpu (rseq disabled by GLIBC_TUNABLES)"));
        run_with_rseq(setting, launch, Surroundings::variable("GLIBC_TUNABLES", "glibc.pthread.rseq=0"))
    });
    matrix(cases, "hostile::no_getcpu", JDKS, &[Collector::G1], |setting| {
        let launch = load().after(source(usual_source()));
        run_with_rseq(setting, launch, Surroundings::refusing(&[libc::SYS_getcpu]))
    });
    matrix(cases, "hostile::no_rseq_no_getcpu", JDKS, &[Collector::Parallel], |setting| {
        let calls = [libc::SYS_rseq, libc::SYS_getcpu];
        run_with_rseq(setting, load().after(source(REFUSED)), Surroundings::refusing(&calls))
    });
    // Nothing of what the agent does needs them.
    matrix(cases, "hostile::no_perf_events", JDKS, &[Collector::G1], |setting| {
        run(setting, load(), Ok(Surroundings::refusing(&[libc::SYS_perf_event_open])))
    });
    matrix(cases, "hostile::no_memory_files", JDKS, &[Collector::G1], |setting| {
        let launch = load().agent("core=64k,control=auto").says(
            "cannot share counters with commands: Operation not permitted (os error 1); allow memfd_create",
        );
        run(setting, launch, Ok(Surroundings::refusing(&[libc::SYS_memfd_create])))
    });
    matrix(cases, "hostile::attach_without_memory_files", JDKS, &[Collector::G1], |setting| {
        let line =
            "cannot share counters with commands: Operation not permitted (os error 1); allow memfd_create";
        let launch = outlasting(setting.collector).says(line).says(line).beside(refused_unseen);
        run(setting, launch, Ok(Surroundings::refusing(&[libc::SYS_memfd_create])))
    });
    matrix(cases, "hostile::no_sys", JDKS, &[Collector::G1], |setting| {
        let launch = load().says("no CPU topology in /sys/devices/system/cpu");
        run(setting, launch, Surroundings::mounts("mount -t tmpfs none /sys"))
    });
    matrix(cases, "hostile::no_dev_shm", JDKS, &[Collector::G1], |setting| {
        let launch = load().agent("core=64k,control=auto");
        run(setting, launch, Surroundings::mounts("mount -t tmpfs none /dev"))
    });
    matrix(cases, "hostile::read_only", JDKS, &[Collector::G1], |setting| {
        let launch = load()
            .agent("core=64k,control=control,report=report.json")
            .unreported()
            .says("control file control: Read-only file system (os error 30); specify a writable path")
            .says("report=report.json: Read-only file system (os error 30): specify a writable file");
        let setting_up =
            "mount --bind . . && mount -o remount,ro,bind . && mount -t tmpfs -o ro none /tmp && cd \"$PWD\"";
        run(setting, launch, Surroundings::mounts(setting_up))
    });
    // One CPU, and not the first: what a control group's cpuset leaves, too.
    matrix(cases, "hostile::container_with_one_cpu", JDKS, USUAL, |setting| {
        let launch = load().after(|finished| {
            let report = finished.report()?;
            let domains = report.setting("domains").to_string();
            if domains == "[1]" { Ok(()) } else { Err(format!("domains {domains} for one CPU")) }
        });
        run(
            setting,
            launch,
            Surroundings::container(
                "mount -t proc proc /proc && last=$(sed -n 's/^Cpus_allowed_list:.*[^0-9]//p' /proc/self/status) && taskset -p -c $last $$ > /dev/null",
            ),
        )
    });
}
