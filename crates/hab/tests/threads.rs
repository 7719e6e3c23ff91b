//! Real threads: many of them on few CPUs, with a heap that lingers and collections that stop the world.

use std::cell::RefCell;
use std::sync::{Mutex, RwLock, RwLockReadGuard};
use std::thread;
use std::time::{Duration, Instant};
use terrace_hab::{
    Counter, Counters, CpuIndex, DomainIndex, Extent, Layout, Level, Request, Shape, Shared, Source,
};

const SHAPE: Shape = Shape { grain_shift: 3, min_remainder: 16 };
const BASE: usize = 1 << 30;
const THREADS: u64 = 8;
const DOMAINS: u16 = 4;
const DURATION: Duration = Duration::from_millis(350);
const PATIENCE: Duration = Duration::from_secs(600);

/// Held for reading while a thread is in the levels, for writing by a collection.
static WORLD: RwLock<()> = RwLock::new(());

thread_local! {
    /// This thread's hold on the world; given up while it waits in the heap, as HotSpot's threads do.
    static RUNNING: RefCell<Option<RwLockReadGuard<'static, ()>>> = const { RefCell::new(None) };
}

fn enter() {
    let guard = WORLD.read().unwrap();
    RUNNING.with(|running| *running.borrow_mut() = Some(guard));
}

fn leave() {
    RUNNING.with(|running| running.borrow_mut().take());
}

/// A bump pointer without end, and everything that was retired.
#[derive(Default)]
struct Heap {
    used: Mutex<usize>,
    retired: Mutex<Vec<Extent>>,
}

impl Source for &Heap {
    fn acquire(&self, cpu: CpuIndex, _min: usize, desired: usize) -> Option<Extent> {
        leave();
        if cpu.0 == 0 {
            thread::sleep(Duration::from_micros(50));
        } else {
            thread::yield_now();
        }
        enter();
        let start = {
            let mut used = self.used.lock().unwrap();
            *used += desired;
            BASE + *used - desired
        };
        // Between receiving and publishing nothing stops this thread, but others run.
        if cpu.0 == 1 {
            thread::yield_now();
        }
        Some(Extent { start, bytes: desired })
    }

    fn available(&self, _cpu: CpuIndex) -> usize {
        1 << 30
    }

    fn retire(&self, tail: Extent) {
        assert!(tail.bytes >= SHAPE.min_remainder);
        self.retired.lock().unwrap().push(tail);
    }
}

/// Xorshift: the next of a row of numbers.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

fn layout(domains: u16) -> Layout {
    Layout {
        domain_of_cpu: (0..DOMAINS).map(|cpu| DomainIndex(cpu % domains)).collect(),
        group_of_domain: (0..domains).map(|domain| domain / 2).collect(),
        // CPUs are chosen at random, so every domain is shared, and plain additions would get lost.
        exclusive: 0,
    }
}

fn counters(domains: u16) -> Vec<Counters> {
    (0..domains).map(|_| Counters::default()).collect()
}

/// Whether there has been what the test is about: a machine may have let nobody work in the time.
fn has_happened<S: Source>(level: &Level<Shared, S>) -> bool {
    [Counter::Stolen, Counter::WasteCollection].iter().all(|counter| sum(level, &[*counter]) > 0)
}

/// Allocates as a thread whose CPU changes with each request, until the time is over and it has happened.
fn mutate<S: Source>(level: &Level<Shared, S>, seed: u64, end: Instant) -> Vec<Extent> {
    let (mut random, mut mine) = (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15), Vec::new());
    while Instant::now() < end || !has_happened(level) && Instant::now() < end + PATIENCE {
        for _ in 0..32 {
            let number = next(&mut random);
            let cpu = CpuIndex((number >> 8) as u32 % u32::from(DOMAINS + 1));
            let min = 16 + (number >> 16) as usize % 16 * 8;
            enter();
            let extent = match number % 8 {
                0 => level.allocate(cpu, Request::object(min)),
                1 => level.allocate(cpu, Request::object_with_refill(min)),
                _ => level.allocate(cpu, Request::buffer(min, min + (number >> 24) as usize % 64 * 8)),
            };
            leave();
            mine.extend(extent);
        }
    }
    mine
}

fn sum<S: Source>(level: &Level<Shared, S>, counters: &[Counter]) -> usize {
    let each = level.counters().iter().flat_map(|domain| counters.iter().map(|&counter| domain.get(counter)));
    each.sum::<u64>() as usize
}

fn bytes(extents: &[Extent]) -> usize {
    extents.iter().map(|extent| extent.bytes).sum()
}

#[test]
fn no_byte_is_handed_out_twice_or_lost() {
    let heap = Heap::default();
    let (outer, inner) = (counters(2), counters(DOMAINS));
    let processor: Level<Shared, _> = Level::new(BASE, SHAPE, 16 << 10, layout(2), &outer, &heap);
    let core: Level<Shared, _> = Level::new(BASE, SHAPE, 2 << 10, layout(DOMAINS), &inner, &processor);
    let end = Instant::now() + DURATION;
    let mut extents: Vec<Extent> = thread::scope(|scope| {
        let core = &core;
        let mutators: Vec<_> =
            (1..=THREADS).map(|seed| scope.spawn(move || mutate(core, seed, end))).collect();
        let collections = scope.spawn(|| {
            loop {
                thread::sleep(Duration::from_micros(300));
                let _stopped = WORLD.write().unwrap();
                core.retire_buffers();
                processor.retire_buffers();
                let now = Instant::now();
                if now >= end && has_happened(core) || now >= end + PATIENCE {
                    break;
                }
            }
        });
        collections.join().unwrap();
        mutators.into_iter().flat_map(|mutator| mutator.join().unwrap()).collect()
    });
    core.retire_buffers();
    processor.retire_buffers();

    let served = [Counter::BufferBytes, Counter::ObjectBytes, Counter::StolenBytes];
    let waste = [Counter::WasteRefill, Counter::WasteCollection, Counter::WasteAlignment];
    let direct = [Counter::DirectBytes];
    let from_above = [Counter::RefillBytes, Counter::DirectBytes];
    assert_eq!(sum(&core, &[Counter::RefillBytes]), sum(&core, &served) + sum(&core, &waste));
    assert_eq!(sum(&processor, &[Counter::RefillBytes]), sum(&processor, &served) + sum(&processor, &waste));
    assert_eq!(sum(&core, &served) + sum(&core, &direct), bytes(&extents));
    assert_eq!(sum(&core, &from_above), sum(&processor, &served) + sum(&processor, &direct));
    assert_eq!(sum(&processor, &from_above), *heap.used.lock().unwrap());
    assert!(has_happened(&core));

    extents.append(&mut heap.retired.lock().unwrap());
    extents.sort_unstable_by_key(|extent| extent.start);
    let mut end = BASE;
    for extent in extents {
        assert_eq!(extent.start, end, "bytes lost or handed out twice before {extent:?}");
        end = extent.end();
    }
    assert_eq!(end, BASE + *heap.used.lock().unwrap());
}
