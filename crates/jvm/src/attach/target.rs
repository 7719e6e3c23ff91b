//! What is known of a JVM without asking it.

use super::Owner;
use crate::perfdata::PerfFile;
use crate::{Error, Result, cpu, loaded, os, process};
use std::fs;
use std::path::PathBuf;

/// What a JVM is, without asking it.
pub(super) struct Target {
    pub(super) pid: u32,
    /// `/proc/PID`.
    pub(super) directory: PathBuf,
    pub(super) owner: Owner,
    pub(super) own_pid: u32,
    /// Whether HotSpot handles SIGQUIT in it. Without a handler the signal would end the process; another runtime's handler may do so, too.
    pub(super) listens: bool,
}

/// Why a process with these mapped files is not asked as HotSpot is.
fn not_hotspot(maps: &str) -> Option<&'static str> {
    // OpenJ9's `libjvm.so` only leads to it. SIGQUIT has it write a dump of its threads to a file, and open no socket.
    if maps.contains("libj9vm") {
        return Some("is an OpenJ9 JVM, which is not supported; run the program with a HotSpot JVM");
    }
    (!loaded::runs_libjvm(maps))
        .then_some("is not a JVM; specify the JVM's own process ID ('terrace top' lists them)")
}

/// The thread that HotSpot has for SIGQUIT, and no JVM with `-Xrs`. Its handler is installed right after the thread is made (`os::initialize_jdk_signal_support`).
const DISPATCHER: &str = "Signal Dispatcher";
/// Every JVM has one.
const VM_THREAD: &str = "VM Thread";

/// Whether HotSpot takes this process's SIGQUIT: a program with a JVM in it may have a handler of its own, which may end it, and map `libjvm.so` without running it.
fn dispatches_signals(pid: u32) -> bool {
    let has = |full| cpu::names(pid).any(|name| cpu::is_called(&name, full));
    // Old releases of 8 give their threads no names; the counters tell that a JVM runs.
    let are_nameless = || cpu::names(pid).all(|name| name == "java");
    has(DISPATCHER) || (!has(VM_THREAD) && (PerfFile::of(pid).is_some() || are_nameless()))
}

impl Target {
    pub(super) fn of(pid: u32) -> Result<Target> {
        let status = process::status_of(pid)?;
        if let Some(reason) = not_hotspot(&loaded::maps(pid)?) {
            return Err(Error::failed(format!("process {pid} {reason}")));
        }
        let own_pid = process::field(&status, "NSpid:")
            .and_then(|numbers| numbers.split_whitespace().last()?.parse().ok());
        let directory = PathBuf::from(format!("/proc/{pid}"));
        let listens = os::catches(pid, os::QUIT) && dispatches_signals(pid);
        let owner = Owner::of(&status).unwrap_or(Owner::us());
        Ok(Target { pid, directory, owner, own_pid: own_pid.unwrap_or(pid), listens })
    }

    /// Why it will never listen, if its own words say so.
    pub(super) fn deaf(&self) -> Option<&'static str> {
        if self.refuses().unwrap_or_else(|| self.was_told_to_refuse()) {
            return Some(
                "was started with -XX:+DisableAttachMechanism; start it without that flag, or with 'terrace run'",
            );
        }
        (!self.listens).then_some(
            "has no HotSpot that handles SIGQUIT: it is still starting, try again; with -Xrs its socket in /tmp was removed, restart it",
        )
    }

    /// What its counters say: its first capability is to be attached to (`runtimeService.cpp`). `None` where it has none, or has not written them yet.
    fn refuses(&self) -> Option<bool> {
        let counters = PerfFile::of(self.pid)?.read()?;
        counters.text("sun.rt.jvmCapabilities")?.chars().next().map(|can| can == '0')
    }

    /// What its command line and its environment say; files of options are not looked at.
    fn was_told_to_refuse(&self) -> bool {
        let words =
            ["cmdline", "environ"].map(|file| fs::read(self.directory.join(file)).unwrap_or_default());
        words.iter().any(|text| {
            let option = b"-XX:+DisableAttachMechanism";
            text.windows(option.len()).any(|window| window == option)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{dispatches_signals, not_hotspot};
    use crate::idle::Idle;
    use std::time::{Duration, Instant};

    #[test]
    fn only_hotspot_is_asked() {
        let maps = |libraries: &[&str]| -> String {
            libraries
                .iter()
                .map(|name| format!("7f00-7f10 r-xp 0000 08:01 7 /opt/jdk/lib/{name}\n"))
                .collect()
        };
        assert_eq!(not_hotspot(&maps(&["libc.so.6", "server/libjvm.so", "libjava.so"])), None);
        let other = not_hotspot(&maps(&["server/libjvm.so", "default/libj9vm29.so", "default/libj9gc29.so"]));
        assert!(other.unwrap().contains("OpenJ9"));
        assert!(not_hotspot(&maps(&["libc.so.6"])).unwrap().contains("not a JVM"));
        assert!(not_hotspot(&maps(&["server/libjvm.so.debug"])).unwrap().contains("not a JVM"));
        let read = "7f00-7f10 r--p 0000 08:01 7 /opt/jdk/lib/server/libjvm.so\n";
        assert!(not_hotspot(read).unwrap().contains("not a JVM"), "for its symbols");
        let updated = "7f00-7f10 r-xp 0000 08:01 7 /opt/my jdk/lib/server/libjvm.so (deleted)\n";
        assert_eq!(not_hotspot(updated), None);
    }

    /// By the thread that HotSpot has for it. Another runtime's handler has none of that name.
    #[test]
    fn signals_are_dispatched_where_hotspots_thread_for_it_runs() {
        let idle = Idle::start();
        let own = std::process::id();
        assert!(!dispatches_signals(idle.pid()) && !dispatches_signals(own));
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::Builder::new().name("Signal Dispatcher".into());
        let dispatcher = thread.spawn(move || ended.recv().is_err()).unwrap();
        // It takes its name itself.
        let until = Instant::now() + Duration::from_secs(600);
        while !dispatches_signals(own) {
            assert!(Instant::now() < until);
            std::thread::yield_now();
        }
        drop(end);
        assert!(dispatcher.join().unwrap());
    }
}
