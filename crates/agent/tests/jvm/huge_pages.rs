//! Heaps on huge pages. A launch has shown something only if the kernel says that the heap is on them (`/proc/PID/smaps`): HotSpot goes on without
//! them, and says nothing.

use crate::environment::load;
use crate::jdk::collector_flags;
use crate::matrix::{JDKS, SERVED, Setting, matrix};
use crate::process::Running;
use crate::runner::{Case, Outcome, QUIET, Verdict};
use hotspot::collector::Collector;
use pages::{Mapping, Mappings, Obtained, PageSize, Policy, Pool, Reservation};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

pub fn cases(cases: &mut Vec<Case>) {
    matrix(cases, "pages::transparent_huge", JDKS, SERVED, transparent);
    matrix(cases, "pages::explicit_huge", JDKS, SERVED, explicit);
}

/// So much of the range that the log names is touched in any case: then it is the heap's. In bytes.
const TOUCHED: u64 = 4 << 20;

/// Runs a load with such flags, and tells on which pages its heap was.
fn heap_of(setting: Setting, flags: &str) -> Result<Obtained, String> {
    let found = Rc::new(RefCell::new(Obtained::default()));
    let seen = found.clone();
    let launch = load("Load", setting)
        .args(&["until=released"])
        .flags(&format!("-XX:+AlwaysPreTouch -Xlog:gc+heap+coops=debug:file=heap.log {flags}"))
        .flags(&collector_flags(setting.collector, setting.jdk.feature).join(" "))
        .beside(move |running| {
            running.wait_until("running", |running| Ok(running.stdout().contains("running")))?;
            let heap = heap(running)?;
            // Some versions do not touch at the start what is on explicit huge pages.
            running.wait_until("some of its heap has been touched", |running| {
                let obtained = Mappings::of_process(running.pid()).map(|mappings| mappings.of_range(&heap));
                *seen.borrow_mut() = obtained.map_err(|error| error.to_string())?.0;
                Ok(seen.borrow().resident() >= TOUCHED)
            })
        });
    launch.run(setting.jdk)?;
    Ok(found.take())
}

/// Where the heap is: `Heap address: 0x00000000fc000000, size: 64 MB, Compressed Oops mode: 32-bit`.
fn heap(running: &Running<'_>) -> Result<Range<usize>, String> {
    let log = std::fs::read_to_string(running.directory.join("heap.log")).unwrap_or_default();
    let place = log.lines().find_map(|line| {
        let (address, rest) = line.split_once("Heap address: 0x")?.1.split_once(", size: ")?;
        let start = usize::from_str_radix(address, 16).ok()?;
        let megabytes: usize = rest.split_once(" MB")?.0.parse().ok()?;
        Some(start..start + (megabytes << 20))
    });
    place.ok_or_else(|| format!("the log does not tell where the heap is: {log}"))
}

fn transparent(setting: Setting) -> Verdict {
    let enabled = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    if enabled.is_empty() || enabled.contains("[never]") {
        return Ok(Outcome::Skipped("transparent huge pages: not in this kernel, or switched off".into()));
    }
    // Nobody else takes what is left of them between the two looks.
    QUIET.alone(|| transparent_alone(setting))
}

fn transparent_alone(setting: Setting) -> Verdict {
    let heap = heap_of(setting, "-XX:+UseTransparentHugePages")?;
    if heap.transparent > 0 {
        return Ok(Outcome::Passed);
    }
    // Does anybody get them?
    let mut other = Mapping::new(64 << 20, Policy::Transparent).map_err(|error| error.to_string())?;
    let obtained = other.touch().and_then(|()| other.obtained()).map_err(|error| error.to_string())?;
    if obtained.transparent > 0 {
        return Err(format!("the heap has {heap}, where other memory gets {obtained}"));
    }
    Ok(Outcome::Skipped("transparent huge pages: the kernel has none to give".into()))
}

fn explicit(setting: Setting) -> Verdict {
    let size = PageSize::TwoMegabytes;
    // The heap, and what HotSpot has beside it. It reserves the code cache first: 240 MB, or nothing if there is less.
    let most = if setting.collector == Collector::Epsilon { 1300 } else { 60 };
    // Nobody else takes them meanwhile.
    QUIET.alone(|| {
        let free = Pool::find(size).map_or(0, |pool| pool.available());
        // Who may change a setting of the machine fills the pool, and has it emptied again.
        let filled = match std::env::var_os("TERRACE_ALLOW_SYSCTL") {
            Some(_) => Reservation::fill(size, most).map(Some).map_err(|error| error.to_string()),
            None if free < most => Err(format!("there are {free}; as root: TERRACE_ALLOW_SYSCTL=1")),
            None => Ok(None),
        };
        let _filled = match filled {
            Ok(filled) => filled,
            Err(why) => {
                return Ok(Outcome::Skipped(format!("{most} free huge pages (vm.nr_hugepages): {why}")));
            }
        };
        let heap = heap_of(setting, "-XX:+UseLargePages")?;
        // HotSpot maps all of the heap at once, or nothing.
        match heap.explicit(size) {
            0 => Err(format!("{free} huge pages were free, and the heap has {heap}")),
            _ => Ok(Outcome::Passed),
        }
    })
}
