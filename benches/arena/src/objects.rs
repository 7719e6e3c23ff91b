//! Allocate many objects, then drop them all.
//!
//! Every thread chains its objects: the first word of each is the address of the one before. So every contestant writes the same, needs
//! no list of what to free, and a walk along the chain shows that no memory was handed out twice: the number of objects and the sum of
//! their addresses must be those of the allocation. The mallocs free on that walk, which is timed; the others are walked untimed.
//!
//! A round is a pass over all contestants and one back; its figures are the mean of the two, so that a drift of the machine cancels.
//! Numbers of threads that are to be compared with each other are measured in the same rounds, with the same objects in all.
//! Both phases are timed from the first thread's begin to the last one's end; the reset of an arena is timed where it is called.

use crate::contestants::{Contestant, Malloc};
use crate::settings::cpus;
use crate::with_malloc;
use arena::Arena;
use bumpalo::Bump;
use pages::{Faults, Mapping, Mappings, Policy};
use serde::Serialize;
use std::alloc::Layout;
use std::collections::BTreeMap;
use std::ptr;
use std::sync::{Barrier, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

/// Sizes of objects in bytes.
pub const SIZES: [usize; 3] = [16, 64, 256];
/// Numbers of threads, by what is measured in the same rounds.
pub const GROUPS: [&[usize]; 4] = [&[1, 2], &[4], &[16], &[64]];
/// The most that the objects of a pass take together.
pub const MOST_BYTES: usize = 1 << 30;
/// Rounds that are measured at least, whatever the time.
const FEWEST_ROUNDS: usize = statistics::FEW_PAIRS;

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
#[derive(Clone, Debug, Default, Serialize)]
pub struct Cell {
    /// The size of an object.
    pub bytes: usize,
    pub threads: usize,
    /// Objects in a pass, of all threads together.
    pub objects: usize,
    /// What the first pass of each contestant found memory on: bytes on huge pages. Those that keep memory have it from earlier
    /// cells.
    pub huge: BTreeMap<Contestant, u64>,
    /// The rounds of each contestant; the same position is the same round.
    pub rounds: BTreeMap<Contestant, Vec<Pass>>,
}

/// Measures the cells of a group for so long in all; the same position of their rounds is the same round.
pub fn cells(
    bytes: usize,
    group: &[usize],
    pages: Policy,
    working_set: usize,
    length: Duration,
) -> Result<Vec<Cell>, String> {
    match bytes {
        16 => measure::<16>(group, pages, working_set, length),
        64 => measure::<64>(group, pages, working_set, length),
        256 => measure::<256>(group, pages, working_set, length),
        _ => Err(format!("no objects of {bytes} bytes")),
    }
}

/// As many objects as the working set holds, at most four million; the same for every number of threads.
pub fn objects(bytes: usize, working_set: usize) -> usize {
    (working_set / bytes).clamp(64, 4 << 20)
}

#[derive(Clone, Copy)]
enum Step {
    Fill(Part),
    Drop(Part),
    Quit,
}

/// A contestant with a number of threads; the crew's other threads wait.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    contestant: Contestant,
    threads: usize,
    /// Objects of each thread.
    each: usize,
}

/// What a thread reports of a step.
pub struct Span {
    /// Its begin.
    pub start: Instant,
    pub end: Instant,
    /// What the step's own work took, without the check, where that is not all of it.
    own: Option<Duration>,
    /// Whether the chain was whole; of an allocation whether there was memory.
    pub right: bool,
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

fn measure<const SIZE: usize>(
    group: &[usize],
    pages: Policy,
    working_set: usize,
    length: Duration,
) -> Result<Vec<Cell>, String> {
    let most = group.iter().copied().max().unwrap_or(1);
    // The same number of objects for each number of threads of the group.
    let all = objects(SIZE, working_set) / most * most;
    let mut cells: Vec<Cell> = group
        .iter()
        .map(|&threads| Cell { bytes: SIZE, threads, objects: all / threads * threads, ..Cell::default() })
        .collect();
    let first = &mut cells[0].huge;
    let mut arenas = BTreeMap::new();
    for &contestant in
        Contestant::ALL.iter().filter(|one| group.iter().any(|&threads| one.takes_part(threads)))
    {
        let before = huge()?;
        if let Some(arena) = contestant.touched_arena(all * SIZE, pages).map_err(|error| error.to_string())? {
            arenas.insert(contestant, RwLock::new(arena));
            first.insert(contestant, huge()?.saturating_sub(before));
        }
    }
    let before = huge()?;
    let mut ranges = Vec::new();
    for number in 0..most {
        // What this thread has at most: with the fewest threads of which it is one.
        let fewest = group.iter().copied().filter(|&threads| threads > number).min().unwrap_or(most);
        let range = Mapping::touched(all / fewest * SIZE, pages).map_err(|error| error.to_string())?;
        ranges.push(range);
    }
    first.insert(Contestant::Floor, huge()?.saturating_sub(before));
    let crew = Crew {
        arenas,
        barrier: Barrier::new(most + 1),
        step: Mutex::new(Step::Quit),
        spans: Mutex::new(Vec::with_capacity(most)),
    };
    thread::scope(|scope| {
        for (number, range) in ranges.into_iter().enumerate() {
            let crew = &crew;
            scope.spawn(move || work::<SIZE>(crew, number, range));
        }
        let found = rounds(&crew, &mut cells, length);
        *lock(&crew.step) = Step::Quit;
        crew.barrier.wait();
        found
    })?;
    Ok(cells)
}

/// Bytes of this process on huge pages.
fn huge() -> Result<u64, String> {
    Ok(Mappings::of_this_process().map_err(|error| error.to_string())?.anonymous().huge())
}

fn rounds(crew: &Crew, cells: &mut [Cell], length: Duration) -> Result<(), String> {
    let mut parts = Vec::new();
    for &contestant in Contestant::ALL {
        for (index, cell) in cells.iter().enumerate().filter(|(_, cell)| contestant.takes_part(cell.threads))
        {
            let part = Part { contestant, threads: cell.threads, each: cell.objects / cell.threads };
            parts.push((index, part));
        }
    }
    // Unmeasured: finds memory for everything.
    for &(_, part) in &parts {
        let before = huge()?;
        pass(crew, part)?;
        let found = huge()?.saturating_sub(before);
        *cells[0].huge.entry(part.contestant).or_default() += found;
    }
    let since = Instant::now();
    let mut done = 0;
    while done < FEWEST_ROUNDS || since.elapsed() < length {
        let mut sums: BTreeMap<(usize, Contestant), Pass> = BTreeMap::new();
        for &(index, part) in parts.iter().chain(parts.iter().rev()) {
            let found = pass(crew, part)?;
            let sum = sums.entry((index, part.contestant)).or_default();
            sum.allocate += found.allocate / 2.0;
            sum.all += found.all / 2.0;
            sum.faults += found.faults / 2.0;
        }
        for ((index, contestant), sum) in sums {
            cells[index].rounds.entry(contestant).or_default().push(sum);
        }
        done += 1;
    }
    Ok(())
}

/// Both phases of one contestant.
fn pass(crew: &Crew, part: Part) -> Result<Pass, String> {
    let Part { contestant, threads, each } = part;
    let objects = threads * each;
    let faults = Faults::of_process().minor;
    let filled = step(crew, contestant, Step::Fill(part))?;
    let mut dropped = step(crew, contestant, Step::Drop(part))?;
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

/// A thread's chain of objects.
pub struct Chain {
    /// The youngest; its first word is the address of the one before.
    pub last: *mut u8,
    /// Of all addresses.
    pub sum: usize,
}

/// The life of the crew's thread of this number: steps until the end.
fn work<const SIZE: usize>(crew: &Crew, number: usize, mut range: Mapping) {
    // Filled downwards from the end of one chunk, which is large enough; touched like everything by the unmeasured pass.
    let mut bump = Bump::with_capacity(range.len() + 4096);
    let mut chain = Chain { last: ptr::null_mut(), sum: 0 };
    loop {
        crew.barrier.wait();
        let step = *lock(&crew.step);
        let span = match step {
            Step::Quit => return,
            Step::Fill(part) | Step::Drop(part) if part.threads <= number => None,
            Step::Fill(part) => Some(fill::<SIZE>(crew, part, &mut range, &bump, &mut chain)),
            Step::Drop(part) => Some(drop_all::<SIZE>(part, &mut bump, &chain)),
        };
        lock(&crew.spans).extend(span);
        crew.barrier.wait();
    }
}

fn drop_all<const SIZE: usize>(part: Part, bump: &mut Bump, chain: &Chain) -> Span {
    let check = |_: *mut u8, _: Layout| {};
    let span = with_malloc!(part.contestant, |library| {
        // SAFETY: each object of the chain came from this library with this layout, and the chain is given up.
        walk::<SIZE>(part.each, chain, |object, layout| unsafe { library.give(object, layout) })
    }, else walk::<SIZE>(part.each, chain, check));
    if part.contestant != Contestant::Bumpalo {
        return span;
    }
    let start = Instant::now();
    bump.reset();
    let end = Instant::now();
    Span { start, end, own: Some(end - start), right: span.right }
}

fn fill<const SIZE: usize>(
    crew: &Crew,
    part: Part,
    range: &mut Mapping,
    bump: &Bump,
    chain: &mut Chain,
) -> Span {
    let Part { contestant, each: count, .. } = part;
    let none = |_| ptr::null_mut();
    if let Some(arena) = crew.arenas.get(&contestant) {
        // Only the reset, which comes later, wants it alone.
        let arena = arena.read().unwrap_or_else(PoisonError::into_inner);
        let arena: &Arena = &arena;
        if contestant == Contestant::Local {
            let local = arena.local();
            return allocate::<SIZE>(count, chain, |layout| {
                local.try_alloc_layout(layout).map_or_else(none, |at| at.as_ptr())
            });
        }
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

/// Allocates and chains so many objects.
#[inline(never)]
pub fn allocate<const SIZE: usize>(
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

/// Walks along a chain and gives up each of its objects, which the caller sees to.
#[inline(never)]
pub fn walk<const SIZE: usize>(count: usize, chain: &Chain, mut give: impl FnMut(*mut u8, Layout)) -> Span {
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
