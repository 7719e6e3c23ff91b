//! Allocation alone, from memory that is used for the first time: against mmtk's `NoGC`, which never takes anything back.
//!
//! One pass of one thread in a process of its own, so that neither finds what an earlier pass left. Processes of both take turns; the
//! figures of a pair are compared with each other.

use crate::nogc::NoGc;
use crate::objects::{Chain, allocate, objects, walk};
use crate::settings;
use arena::{Arena, Path, Policy};
use pages::{Faults, Mappings};
use serde::{Deserialize, Serialize};
use std::alloc::Layout;
use std::process::Command;

/// Who is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    /// The arena with thread buffers.
    Arena,
    /// mmtk's bump allocator.
    Mmtk,
}

/// One pass.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Run {
    who: Who,
    bytes: usize,
    touched: bool,
    huge: bool,
    working_set: usize,
}

/// What a pass found.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Found {
    /// Nanoseconds for each object.
    pub allocate: f64,
    /// Page faults for each thousand objects.
    pub faults: f64,
    /// Megabytes of the process on huge pages at the end.
    pub huge: u64,
}

/// What was found for a size; the same position is the same pair.
#[derive(Clone, Debug, Serialize)]
pub struct Fresh {
    /// The size of an object.
    pub bytes: usize,
    /// Whether the memory was touched beforehand.
    pub touched: bool,
    /// The arena's passes.
    pub arena: Vec<Found>,
    /// mmtk's passes.
    pub mmtk: Vec<Found>,
}

/// What allocators may need beyond the objects themselves.
const SLACK: usize = 64 << 20;

/// Measures so many pairs.
pub fn measure(
    bytes: usize,
    touched: bool,
    pages: Policy,
    working_set: usize,
    pairs: usize,
) -> Result<Fresh, String> {
    let mut fresh = Fresh { bytes, touched, arena: Vec::new(), mmtk: Vec::new() };
    for pair in 0..pairs {
        // The one that is first in a pair is second in the next.
        let order = if pair % 2 == 0 { [Who::Arena, Who::Mmtk] } else { [Who::Mmtk, Who::Arena] };
        for who in order {
            let run = Run { who, bytes, touched, huge: pages == Policy::Transparent, working_set };
            let found = in_a_process(run)?;
            match who {
                Who::Arena => fresh.arena.push(found),
                Who::Mmtk => fresh.mmtk.push(found),
            }
        }
    }
    Ok(fresh)
}

fn in_a_process(run: Run) -> Result<Found, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let run = serde_json::to_string(&run).map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    let output = settings::on_small_pages(command.args(["--fresh", &run])).output();
    let output = output.map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("{run}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("{run}: {error}"))
}

/// Measures one pass, described as text, in this process.
pub fn here(run: &str) -> Result<Found, String> {
    let run: Run = serde_json::from_str(run).map_err(|error| error.to_string())?;
    match run.bytes {
        16 => pass::<16>(run),
        64 => pass::<64>(run),
        256 => pass::<256>(run),
        bytes => Err(format!("no objects of {bytes} bytes")),
    }
}

fn pass<const SIZE: usize>(run: Run) -> Result<Found, String> {
    let pages = if run.huge { Policy::Transparent } else { Policy::Small };
    let count = objects(SIZE, run.working_set);
    let room = count * SIZE + SLACK;
    match run.who {
        Who::Arena => {
            let builder =
                Arena::builder().path(Path::Thread).pages(pages).reserve(room).pre_touch(run.touched);
            let arena = builder.build().map_err(|error| error.to_string())?;
            timed::<SIZE>(count, |layout| {
                arena.try_alloc_layout(layout).map_or(std::ptr::null_mut(), |at| at.as_ptr())
            })
        }
        Who::Mmtk => {
            let mut nogc = NoGc::new(room, pages)?;
            let mut take = nogc.allocator();
            if run.touched {
                // The heap is one range from the first object on, mapped when mmtk begins.
                let first = take(Layout::new::<u64>());
                for at in (0..room - (1 << 20)).step_by(pages::small_page_bytes()) {
                    // SAFETY: inside the heap of `room` bytes, of which nobody has anything but the first word.
                    unsafe { first.add(at).write_volatile(0) };
                }
            }
            timed::<SIZE>(count, take)
        }
    }
}

fn timed<const SIZE: usize>(count: usize, take: impl FnMut(Layout) -> *mut u8) -> Result<Found, String> {
    let mut chain = Chain { last: std::ptr::null_mut(), sum: 0 };
    let faults = Faults::of_process().minor;
    let span = allocate::<SIZE>(count, &mut chain, take);
    let faults = Faults::of_process().minor - faults;
    if !span.right || !walk::<SIZE>(count, &chain, |_, _| {}).right {
        return Err("no memory, or the objects written are not those allocated".into());
    }
    let huge = Mappings::of_this_process().map_err(|error| error.to_string())?.anonymous().huge() >> 20;
    Ok(Found {
        allocate: (span.end - span.start).as_secs_f64() * 1e9 / count as f64,
        faults: faults as f64 * 1000.0 / count as f64,
        huge,
    })
}
