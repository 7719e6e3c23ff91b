//! Allocate many objects, then drop them all.
//!
//! Every thread chains its objects: the first word of each is the address of the one before. So every contestant writes the same, needs
//! no list of what to free, and a walk along the chain shows that no memory was handed out twice: the number of objects and the sum of
//! their addresses must be those of the allocation. The mallocs free on that walk, which is timed; the others are walked untimed.
//!
//! A round is a pass over all contestants and one back; its figures are the mean of the two, so that a drift of the machine cancels.
//! Both phases are timed from the first thread's begin to the last one's end; the reset of an arena is timed where it is called.

use crate::contestants::{Contestant, Malloc};
use crate::with_malloc;
use arena::Arena;
use bumpalo::Bump;
use pages::{Faults, Mapping, Policy};
use serde::Serialize;
use std::alloc::Layout;
use std::collections::BTreeMap;
use std::ptr;
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

/// Sizes of objects in bytes.
pub const SIZES: [usize; 3] = [16, 64, 256];
/// Numbers of threads.
pub const THREADS: [usize; 5] = [1, 2, 4, 16, 64];
/// Rounds that are measured at least, whatever the time.
const FEWEST_ROUNDS: usize = lab::statistics::FEW_PAIRS;

/// What one pass, or one round, found: nanoseconds for each object and CPU.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Pass {
    /// Allocate and write the first word.
    pub allocate: f64,
    /// That, and drop all.
    pub all: f64,
    /// Page faults for each thousand objects.
    pub faults: f64,
}

/// What was found for one size and number of threads.
#[derive(Clone, Debug, Serialize)]
pub struct Cell {
    /// The size of an object.
    pub bytes: usize,
    /// Threads.
    pub threads: usize,
    /// Objects in a pass, of all threads together.
    pub objects: usize,
    /// The rounds of each contestant; the same position is the same round.
    pub rounds: BTreeMap<Contestant, Vec<Pass>>,
}

/// Measures one cell for so long.
pub fn cell(bytes: usize, threads: usize, working_set: usize, length: Duration) -> Result<Cell, String> {
    match bytes {
        16 => measure::<16>(threads, working_set, length),
        64 => measure::<64>(threads, working_set, length),
        256 => measure::<256>(threads, working_set, length),
        _ => Err(format!("no objects of {bytes} bytes")),
    }
}

/// As many objects as the working set holds, at most four million; the same for every number of threads.
fn objects(bytes: usize, working_set: usize) -> usize {
    (working_set / bytes).clamp(64, 4 << 20)
}

#[derive(Clone, Copy)]
enum Step {
    Fill(Contestant),
    Drop(Contestant),
    Quit,
}

/// What a thread reports of a step.
struct Span {
    start: Instant,
    end: Instant,
    /// What the step's own work took, without the check, where that is not all of it.
    own: Option<Duration>,
    /// Whether the chain was whole; of an allocation whether there was memory.
    right: bool,
}

/// What the threads of a cell share.
struct Crew {
    arenas: BTreeMap<Contestant, RwLock<Arena>>,
    barrier: Barrier,
    step: Mutex<Step>,
    spans: Mutex<Vec<Span>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn measure<const SIZE: usize>(threads: usize, working_set: usize, length: Duration) -> Result<Cell, String> {
    let each = objects(SIZE, working_set) / threads;
    let mut arenas = BTreeMap::new();
    for &contestant in Contestant::ALL {
        if let Some(arena) =
            contestant.touched_arena(each * threads * SIZE).map_err(|error| error.to_string())?
        {
            arenas.insert(contestant, RwLock::new(arena));
        }
    }
    let mut ranges = Vec::new();
    for _ in 0..threads {
        ranges.push(Mapping::touched(each * SIZE, Policy::Small).map_err(|error| error.to_string())?);
    }
    let crew = Crew {
        arenas,
        barrier: Barrier::new(threads + 1),
        step: Mutex::new(Step::Quit),
        spans: Mutex::new(Vec::with_capacity(threads)),
    };
    thread::scope(|scope| {
        for range in ranges {
            let crew = &crew;
            scope.spawn(move || work::<SIZE>(crew, each, range));
        }
        let cell = rounds(&crew, SIZE, threads, each * threads, length);
        *lock(&crew.step) = Step::Quit;
        crew.barrier.wait();
        cell
    })
}

fn rounds(
    crew: &Crew,
    bytes: usize,
    threads: usize,
    objects: usize,
    length: Duration,
) -> Result<Cell, String> {
    let mut rounds: BTreeMap<Contestant, Vec<Pass>> = BTreeMap::new();
    // Unmeasured: finds memory for everything.
    for &contestant in Contestant::ALL {
        pass(crew, contestant, threads, objects)?;
    }
    let since = Instant::now();
    let mut done = 0;
    while done < FEWEST_ROUNDS || since.elapsed() < length {
        let mut sums: BTreeMap<Contestant, Pass> = BTreeMap::new();
        for &contestant in Contestant::ALL.iter().chain(Contestant::ALL.iter().rev()) {
            let found = pass(crew, contestant, threads, objects)?;
            let sum = sums.entry(contestant).or_default();
            sum.allocate += found.allocate / 2.0;
            sum.all += found.all / 2.0;
            sum.faults += found.faults / 2.0;
        }
        for (contestant, sum) in sums {
            rounds.entry(contestant).or_default().push(sum);
        }
        done += 1;
    }
    Ok(Cell { bytes, threads, objects, rounds })
}

/// Both phases of one contestant.
fn pass(crew: &Crew, contestant: Contestant, threads: usize, objects: usize) -> Result<Pass, String> {
    let faults = Faults::of_process().minor;
    let filled = step(crew, contestant, Step::Fill(contestant))?;
    let mut dropped = step(crew, contestant, Step::Drop(contestant))?;
    let faults = Faults::of_process().minor - faults;
    if let Some(arena) = crew.arenas.get(&contestant) {
        let since = Instant::now();
        arena.write().unwrap_or_else(PoisonError::into_inner).reset();
        dropped = since.elapsed();
    }
    if contestant == Contestant::Floor {
        dropped = Duration::ZERO;
    }
    let share = |wall: Duration| wall.as_secs_f64() * 1e9 * threads.min(cpus()) as f64 / objects as f64;
    Ok(Pass {
        allocate: share(filled),
        all: share(filled + dropped),
        faults: faults as f64 * 1000.0 / objects as f64,
    })
}

/// Has all threads do a step; the time from the first one's begin to the last one's end.
fn step(crew: &Crew, contestant: Contestant, step: Step) -> Result<Duration, String> {
    *lock(&crew.step) = step;
    lock(&crew.spans).clear();
    crew.barrier.wait();
    crew.barrier.wait();
    let spans = lock(&crew.spans);
    if !spans.iter().all(|span| span.right) {
        return Err(format!("{contestant}: no memory, or the objects written are not those allocated"));
    }
    // Threads that check for different times do their work at different times: the longest counts.
    if let Some(longest) = spans.iter().map(|span| span.own).collect::<Option<Vec<_>>>() {
        return longest.into_iter().max().ok_or_else(|| "no threads".into());
    }
    let (start, end) = (spans.iter().map(|span| span.start).min(), spans.iter().map(|span| span.end).max());
    start.zip(end).map(|(start, end)| end - start).ok_or_else(|| "no threads".into())
}

/// CPUs that this process may use.
pub fn cpus() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// A thread's chain of objects.
struct Chain {
    last: *mut u8,
    sum: usize,
}

/// A thread's life: steps until the end.
fn work<const SIZE: usize>(crew: &Crew, count: usize, mut range: Mapping) {
    // Filled downwards from the end of one chunk, which is large enough; touched like everything by the unmeasured pass.
    let mut bump = Bump::with_capacity(count * SIZE + 4096);
    let mut chain = Chain { last: ptr::null_mut(), sum: 0 };
    loop {
        crew.barrier.wait();
        let step = *lock(&crew.step);
        let span = match step {
            Step::Quit => return,
            Step::Fill(contestant) => fill::<SIZE>(crew, contestant, count, &mut range, &bump, &mut chain),
            Step::Drop(contestant) => {
                let check = |_: *mut u8, _: Layout| {};
                let span = with_malloc!(contestant, |library| {
                    // SAFETY: each object of the chain came from this library with this layout, and the chain is given up.
                    walk::<SIZE>(count, &chain, |object, layout| unsafe { library.give(object, layout) })
                }, else walk::<SIZE>(count, &chain, check));
                if contestant == Contestant::Bumpalo {
                    let start = Instant::now();
                    bump.reset();
                    let end = Instant::now();
                    Span { start, end, own: Some(end - start), right: span.right }
                } else {
                    span
                }
            }
        };
        lock(&crew.spans).push(span);
        crew.barrier.wait();
    }
}

fn fill<const SIZE: usize>(
    crew: &Crew,
    contestant: Contestant,
    count: usize,
    range: &mut Mapping,
    bump: &Bump,
    chain: &mut Chain,
) -> Span {
    let none = |_| ptr::null_mut();
    if let Some(arena) = crew.arenas.get(&contestant) {
        // Only the reset, which comes later, wants it alone.
        let arena = arena.read().unwrap_or_else(PoisonError::into_inner);
        let arena: &Arena = &arena;
        return allocate::<SIZE>(count, chain, |layout| {
            arena.try_alloc_layout(layout).map_or_else(none, |at| at.as_ptr())
        });
    }
    match contestant {
        Contestant::Floor => {
            let mut top = range.as_mut_ptr();
            allocate::<SIZE>(count, chain, |layout| {
                let at = top;
                top = top.wrapping_add(layout.size());
                at
            })
        }
        Contestant::Bumpalo => allocate::<SIZE>(count, chain, |layout| {
            bump.try_alloc_layout(layout).map_or(ptr::null_mut(), |at| at.as_ptr())
        }),
        _ => {
            with_malloc!(contestant, |library| allocate::<SIZE>(count, chain, |layout| library.take(layout)),
            else allocate::<SIZE>(count, chain, |_| ptr::null_mut()))
        }
    }
}

const fn layout<const SIZE: usize>() -> Layout {
    match Layout::from_size_align(SIZE, align_of::<*mut u8>()) {
        Ok(layout) => layout,
        Err(_) => panic!("no such layout"),
    }
}

#[inline(never)]
fn allocate<const SIZE: usize>(
    count: usize,
    chain: &mut Chain,
    mut take: impl FnMut(Layout) -> *mut u8,
) -> Span {
    let (mut last, mut sum, mut right) = (ptr::null_mut::<u8>(), 0_usize, true);
    let start = Instant::now();
    for _ in 0..count {
        let at = take(const { layout::<SIZE>() });
        if at.is_null() {
            right = false;
            break;
        }
        // SAFETY: an object of at least a word, aligned for it, which nobody else has.
        unsafe { at.cast::<*mut u8>().write(last) };
        sum = sum.wrapping_add(at.addr());
        last = at;
    }
    let end = Instant::now();
    *chain = Chain { last, sum };
    Span { start, end, own: None, right }
}

#[inline(never)]
fn walk<const SIZE: usize>(count: usize, chain: &Chain, mut give: impl FnMut(*mut u8, Layout)) -> Span {
    let (mut at, mut seen, mut sum) = (chain.last, 0, 0_usize);
    let start = Instant::now();
    // A chain that was overwritten may be a circle.
    while !at.is_null() && seen <= count {
        // SAFETY: an object of the chain, whose first word `allocate` wrote.
        let next = unsafe { at.cast::<*mut u8>().read() };
        seen += 1;
        sum = sum.wrapping_add(at.addr());
        give(at, const { layout::<SIZE>() });
        at = next;
    }
    Span { start, end: Instant::now(), own: None, right: seen == count && sum == chain.sum }
}
