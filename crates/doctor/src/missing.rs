//! Why something could not be seen, and what makes it visible.

use control::View;
use jvm::os;
use jvm::vm_flags::VmFlags;
use serde_json::Value;
use std::io;
use topology::cgroup::MemoryLeft;

/// Of what the control group may still use.
pub(crate) fn of_memory_left(left: MemoryLeft) -> Option<String> {
    let hidden = "what its control group may still use of memory, so no heap size is recommended (run the doctor in the same container, or on the host)";
    (left == MemoryLeft::Unseen).then(|| hidden.into())
}

/// Of what only a process that is there shows.
pub(crate) fn of_ended() -> String {
    "CPU time, objects in eden, and resident memory: the program ended while it was watched; use a shorter --seconds, or a program that runs longer".into()
}

/// Of ZGC's heap: memory of a file that has no name in the file system.
pub(crate) fn of_zgc_heap() -> String {
    "which pages ZGC's heap lies on (/proc/PID/smaps has it, at memfd:java_heap)".into()
}

/// Of threads that are so many that a list of them would stop the program for long.
pub(crate) fn of_many_threads(threads: u64) -> String {
    format!("which of {threads} threads allocate: a thread dump of so many would stop the program for long")
}

/// Of its control group's quota.
pub(crate) fn of_quota() -> String {
    "the quota of its control group, and whether it throttles the process (run the doctor in the same container, or on the host)".into()
}

/// Of HotSpot's own counters: what switches them off.
pub(crate) fn of_counters(flags: &VmFlags) -> String {
    let off = flags.get("UsePerfData").is_some_and(|flag| flag.value == "false");
    let remedy = match (off, flags.is_on("PerfDisableSharedMem"), flags.is_known()) {
        (true, ..) => "start without -XX:-UsePerfData",
        (false, true, _) => "start without -XX:+PerfDisableSharedMem",
        (false, false, true) => "their file is not in /tmp/hsperfdata_USER: keep /tmp from being cleaned up",
        (false, false, false) => "start without -XX:-UsePerfData and -XX:+PerfDisableSharedMem",
    };
    format!("HotSpot's own counters ({remedy})")
}

/// Of counters that stopped, or began to count something else: by another command, or because the agent has not heard of us (this process was stopped, or
/// had no CPU).
pub(crate) fn of_changed_agent(view: &View) -> String {
    let why = match view.has_lapsed() {
        true => view.message(),
        false => "the agent was withdrawn or switched by another command meanwhile".into(),
    };
    format!("the use of eden, and refills: {why}; run the doctor again")
}

/// Of what threads have allocated: the agent says where it is, and we read it.
pub(crate) fn of_accounts(pid: u32, settings: &Value) -> String {
    let why = match settings["accounts"]["list"].as_u64() {
        None => "the agent did not find what threads have allocated in this JVM".to_owned(),
        Some(list) => match os::read_memory(pid, &[list as usize], &mut [0]) {
            Ok(()) => {
                "threads started and ended faster than their list could be read; run the doctor again, as root with 'nice -n -10' in front of it".into()
            }
            Err(error) => unreadable(&error),
        },
    };
    format!("the use of eden: {why}")
}

fn unreadable(error: &io::Error) -> String {
    // Yama lets a user read the memory of his own processes' children only, by default.
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            ": run the doctor as root or with CAP_SYS_PTRACE, set kernel.yama.ptrace_scope=0, or have it start the program ('terrace doctor -- java ...')"
        }
        _ => "",
    };
    format!("the JVM's memory cannot be read ({error}){remedy}")
}

/// Of how long refills take: buffers count them only.
pub(crate) fn of_refill_times() -> String {
    "how long refills take: Terrace's buffers are in this JVM, and do not time them (watch one without Terrace)".into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_flag_that_is_set_is_named() {
        let of = |flags: &str| of_counters(&VmFlags::parse(flags));
        let line = |name: &str, value: bool| format!("bool {name} = {value} {{product}} {{command line}}\n");
        let shared = line("UsePerfData", true) + &line("PerfDisableSharedMem", true);
        assert!(of(&shared).ends_with("(start without -XX:+PerfDisableSharedMem)"));
        assert!(of(&line("UsePerfData", false)).ends_with("(start without -XX:-UsePerfData)"));
        let none = of(&line("UsePerfData", true));
        assert!(none.contains("hsperfdata") && !none.contains("-XX"), "{none}");
        assert!(of("").contains("-UsePerfData and -XX:+PerfDisableSharedMem"), "nobody knows which");
    }

    #[test]
    fn an_agent_that_left_by_itself_says_why() {
        let control = control::Control::anonymous(&[1]).unwrap();
        assert!(of_changed_agent(&control).contains("by another command meanwhile; run the doctor again"));
        control.lapse();
        control.set_message("the agent withdraws because of a reason");
        assert!(of_changed_agent(&control).contains("because of a reason; run the doctor again"));
    }

    #[test]
    fn memory_that_may_not_be_read_has_a_remedy() {
        let denied = unreadable(&io::Error::from_raw_os_error(1));
        for remedy in ["root", "CAP_SYS_PTRACE", "kernel.yama.ptrace_scope=0", "terrace doctor -- java"] {
            assert!(denied.contains(remedy), "{denied}");
        }
        let word = 7_u64;
        let at =
            |address: usize| of_accounts(std::process::id(), &json!({ "accounts": { "list": address } }));
        assert!(at(std::ptr::from_ref(&word) as usize).contains("nice -n -10"));
        assert!(at(8).contains("cannot be read") && !at(8).contains("ptrace_scope"), "{}", at(8));
        assert!(of_accounts(1, &json!({})).contains("did not find"));
    }
}
