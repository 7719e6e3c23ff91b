use super::*;
use crate::{DomainIndex, Private, Shared};
use alloc::vec::Vec;
use core::cell::RefCell;

const SHAPE: Shape = Shape { grain_shift: 3, min_remainder: 16 };
const BASE: usize = 1 << 20;

/// A heap that bumps and remembers what was retired.
#[derive(Debug)]
struct Heap {
    top: RefCell<usize>,
    end: usize,
    retired: RefCell<Vec<Extent>>,
    requests: RefCell<Vec<(usize, usize)>>,
}

impl Heap {
    fn of(bytes: usize) -> Heap {
        Heap {
            top: RefCell::new(BASE),
            end: BASE + bytes,
            retired: RefCell::default(),
            requests: RefCell::default(),
        }
    }
}

impl Source for &Heap {
    fn acquire(&self, _cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        self.requests.borrow_mut().push((min, desired));
        let start = *self.top.borrow();
        let bytes = desired.min(self.end - start);
        if bytes < min {
            return None;
        }
        *self.top.borrow_mut() += bytes;
        Some(Extent { start, bytes })
    }

    fn available(&self, _cpu: CpuIndex) -> usize {
        self.end - *self.top.borrow()
    }

    fn retire(&self, tail: Extent) {
        assert!(tail.bytes >= SHAPE.min_remainder);
        self.retired.borrow_mut().push(tail);
    }
}

fn layout(domains: u16) -> Layout {
    Layout {
        domain_of_cpu: (0..domains).map(DomainIndex).collect(),
        group_of_domain: (0..domains).map(|domain| domain / 2).collect(),
        exclusive: usize::from(domains),
    }
}

fn counters(domains: usize) -> Vec<Counters> {
    (0..domains).map(|_| Counters::default()).collect()
}

const CPU0: CpuIndex = CpuIndex(0);

#[test]
fn one_refill_serves_many_requests() {
    let (heap, counters) = (Heap::of(1 << 20), counters(2));
    let level: Level<Shared, _> = Level::new(BASE, SHAPE, 16 << 10, layout(2), &counters, &heap);
    for request in 0..16 {
        assert_eq!(
            level.allocate(CPU0, Request::buffer(64, 1024)),
            Some(Extent { start: BASE + request * 1024, bytes: 1024 })
        );
    }
    assert_eq!(*heap.requests.borrow(), [(64, 16 << 10)]);
    assert_eq!((counters[0].get(Counter::Buffers), counters[0].get(Counter::Refills)), (16, 1));
    assert_eq!(level.rest(CPU0), 0);
}

#[test]
fn large_requests_pass() {
    let (heap, counters) = (Heap::of(1 << 20), counters(1));
    let level: Level<Shared, _> = Level::new(BASE, SHAPE, 16 << 10, layout(1), &counters, &heap);
    assert_eq!(
        level.allocate(CPU0, Request::buffer(64, 12 << 10)).map(|extent| extent.bytes),
        Some(12 << 10)
    );
    assert_eq!(*heap.requests.borrow(), [(64, 12 << 10)]);
    assert_eq!(counters[0].get(Counter::DirectBytes), 12 << 10);
}

#[test]
fn a_large_tail_is_kept_for_those_whom_it_fits_but_not_for_ever() {
    let (heap, counters) = (Heap::of(1 << 20), counters(1));
    let level: Level<Shared, _> = Level::new(BASE, SHAPE, 16 << 10, layout(1), &counters, &heap);
    for _ in 0..3 {
        level.allocate(CPU0, Request::buffer(5000, 5000)).unwrap();
    }
    let tail = level.rest(CPU0);
    assert_eq!(tail, (16 << 10) - 15000);
    level.allocate(CPU0, Request::buffer(5000, 5000)).unwrap();
    assert_eq!(level.rest(CPU0), tail, "kept at first");
    assert_eq!(counters[0].get(Counter::Direct), 1);
    for _ in 0..20 {
        level.allocate(CPU0, Request::buffer(5000, 5000)).unwrap();
    }
    assert!(counters[0].get(Counter::Refills) > 1, "given up in the end");
    assert!(counters[0].get(Counter::WasteRefill) >= tail as u64);
}

#[test]
fn near_the_end_tails_are_taken_nearest_first_and_nothing_is_stranded() {
    let (heap, counters) = (Heap::of(4 << 12), counters(4));
    let level: Level<Shared, _> = Level::new(BASE, SHAPE, 4096, layout(4), &counters, &heap);
    for cpu in 0..4 {
        level.allocate(CpuIndex(cpu), Request::buffer(1024, 1024)).unwrap();
    }
    assert_eq!((&heap).available(CPU0), 0);
    let served: Vec<usize> = core::iter::from_fn(|| level.allocate(CpuIndex(2), Request::buffer(1024, 1024)))
        .map(|extent| (extent.start - BASE) >> 12)
        .collect();
    // Its own, then domain 3 of the same group, then the other group.
    assert_eq!(served, [2, 2, 2, 3, 3, 3, 0, 0, 0, 1, 1, 1]);
    assert_eq!(counters[2].get(Counter::Stolen), 9);
    assert_eq!(level.largest_tail(), 0);
}

#[test]
fn a_refill_takes_no_more_than_is_free_and_leaves_the_last_word_to_the_request() {
    let (heap, counters) = (Heap::of(6 << 10), counters(1));
    let level: Level<Shared, _> = Level::new(BASE, SHAPE, 4096, layout(1), &counters, &heap);
    for _ in 0..6 {
        assert!(level.allocate(CPU0, Request::buffer(1024, 1024)).is_some());
    }
    assert!(level.allocate(CPU0, Request::buffer(1024, 1024)).is_none());
    assert_eq!(*heap.requests.borrow(), [(1024, 4096), (1024, 2048), (1024, 1024)]);
}

#[test]
fn retirement_gives_every_tail_back_once() {
    let (heap, counters) = (Heap::of(1 << 20), counters(2));
    let level: Level<Shared, _> = Level::new(BASE, SHAPE, 4096, layout(2), &counters, &heap);
    level.allocate(CPU0, Request::buffer(1024, 1024)).unwrap();
    level.retire_buffers();
    level.retire_buffers();
    assert_eq!(*heap.retired.borrow(), [Extent { start: BASE + 1024, bytes: 3072 }]);
    assert_eq!(counters[0].get(Counter::WasteCollection), 3072);
}

#[test]
fn what_remains_is_told() {
    let (heap, counters) = (Heap::of(1 << 20), counters(2));
    let level: Level<Shared, _> = Level::new(BASE, SHAPE, 4096, layout(2), &counters, &heap);
    level.allocate(CPU0, Request::buffer(1024, 1024)).unwrap();
    level.allocate(CpuIndex(1), Request::buffer(2048, 2048)).unwrap();
    assert_eq!(level.remaining(), 3072 + 2048);
    level.retire_buffers();
    assert_eq!(level.remaining(), 0);
}

#[test]
fn an_unknown_cpu_belongs_to_the_last_domain_whose_counters_are_not_its_own() {
    let (heap, counters) = (Heap::of(1 << 20), counters(3));
    let known = Layout {
        domain_of_cpu: [DomainIndex(0), DomainIndex(1)].into(),
        group_of_domain: [0; 3].into(),
        exclusive: 2,
    };
    let level: Level<Shared, _> = Level::new(BASE, SHAPE, 4096, known, &counters, &heap);
    for cpu in [2, 3, 100] {
        level.allocate(CpuIndex(cpu), Request::buffer(1024, 1024)).unwrap();
    }
    assert_eq!(counters[2].get(Counter::Buffers), 3);
    assert_eq!(counters[0].get(Counter::Buffers) + counters[1].get(Counter::Buffers), 0);
}

#[test]
fn four_levels_by_composition() {
    let (heap, outer, inner) = (Heap::of(1 << 20), counters(1), counters(2));
    let one = Layout { domain_of_cpu: [DomainIndex(0); 2].into(), group_of_domain: [0].into(), exclusive: 0 };
    let processor: Level<Shared, _> = Level::new(BASE, SHAPE, 64 << 10, one, &outer, &heap);
    let core: Level<Shared, _> = Level::new(BASE, SHAPE, 8 << 10, layout(2), &inner, processor);
    for cpu in [0, 1, 0, 1] {
        core.allocate(CpuIndex(cpu), Request::buffer(1024, 1024)).unwrap();
    }
    assert_eq!(*heap.requests.borrow(), [(1024, 64 << 10)]);
    assert_eq!(outer[0].get(Counter::Buffers), 2);
    assert_eq!((inner[0].get(Counter::Buffers), inner[1].get(Counter::Buffers)), (2, 2));
}

#[test]
fn a_cpu_beyond_the_table_is_served_by_some_domain() {
    let (heap, counters) = (Heap::of(1 << 20), counters(2));
    let level: Level<Shared, _> = Level::new(BASE, SHAPE, 4096, layout(2), &counters, &heap);
    assert!(level.allocate(CpuIndex(u32::MAX), Request::buffer(64, 1024)).is_some());
}

#[test]
fn single_objects_are_carved_without_refill_unless_asked() {
    let (heap, counters) = (Heap::of(1 << 20), counters(1));
    let level: Level<Shared, _> = Level::new(BASE, SHAPE, 4096, layout(1), &counters, &heap);
    assert_eq!(level.allocate(CPU0, Request::object(48)), None);
    assert!(level.allocate(CPU0, Request::object_with_refill(48)).is_some());
    assert!(level.allocate(CPU0, Request::object(48)).is_some());
    assert_eq!((counters[0].get(Counter::Objects), counters[0].get(Counter::ObjectBytes)), (2, 96));
}

#[test]
fn a_thread_that_left_its_domain_is_counted() {
    let (heap, counters) = (Heap::of(1 << 20), counters(2));
    let level: Level<Shared, _> = Level::new(BASE, SHAPE, 4096, layout(2), &counters, &heap);
    level.count_migration(CPU0, CPU0);
    level.count_migration(CPU0, CpuIndex(1));
    assert_eq!(counters[0].get(Counter::Foreign), 1);
}

#[test]
fn private_buffers_are_not_stolen_from() {
    let (heap, counters) = (Heap::of(2 << 12), counters(2));
    let level: Level<Private, _> = Level::new(BASE, SHAPE, 4096, layout(2), &counters, &heap);
    for cpu in [0, 1] {
        level.allocate(CpuIndex(cpu), Request::buffer(1024, 1024)).unwrap();
    }
    let served = core::iter::from_fn(|| level.allocate(CPU0, Request::buffer(1024, 1024))).count();
    assert_eq!((served, level.rest(CpuIndex(1))), (3, 3072), "a plain store must not race with its owner's");
}

/// The buffer would get 1 grain more than the request and could not serve it: the remainder is too small for a filler.
#[test]
fn a_refill_does_not_swallow_what_the_request_needs() {
    let (heap, counters) = (Heap::of(1024 + 8), counters(1));
    let level: Level<Shared, _> = Level::new(BASE, SHAPE, 4096, layout(1), &counters, &heap);
    assert!(level.allocate(CPU0, Request::buffer(1024, 1024)).is_some());
}

/// A source may give any length from `min` on: what a buffer cannot hand out must at least be fillable.
#[test]
fn a_refill_asks_for_no_less_than_a_filler() {
    let (heap, counters) = (Heap::of(4096), counters(1));
    let shape = Shape { grain_shift: 3, min_remainder: 24 };
    let level: Level<Shared, _> = Level::new(BASE, shape, 1024, layout(1), &counters, &heap);
    level.allocate(CPU0, Request::buffer(8, 8)).unwrap();
    assert_eq!(*heap.requests.borrow(), [(24, 1024)]);
}

#[test]
fn even_a_tiny_buffer_gives_a_tail_up_in_the_end() {
    let (heap, counters) = (Heap::of(1 << 12), counters(1));
    let level: Level<Shared, _> = Level::new(BASE, SHAPE, 56, layout(1), &counters, &heap);
    level.allocate(CPU0, Request::object(24));
    for _ in 0..100 {
        level.allocate(CPU0, Request::buffer(24, 24)).unwrap();
    }
    assert!(counters[0].get(Counter::Refills) > 1);
}

/// The upper source would rather collect than give less than asked: a level must not promise what its buffer will not serve.
#[test]
fn a_level_promises_no_more_than_its_buffer_serves() {
    let (heap, outer, inner) = (Heap::of(6 << 10), counters(1), counters(1));
    let processor: Level<Shared, _> = Level::new(BASE, SHAPE, 6 << 10, layout(1), &outer, &heap);
    let core: Level<Shared, _> = Level::new(BASE, SHAPE, 4 << 10, layout(1), &inner, processor);
    core.upper().allocate(CPU0, Request::buffer(1024, 1024)).unwrap();
    assert_eq!(((&heap).available(CPU0), core.upper().rest(CPU0)), (0, 5 << 10));
    assert!(core.allocate(CPU0, Request::buffer(1024, 1024)).is_some());
    assert_eq!(*heap.requests.borrow(), [(1024, 6 << 10)], "no request at an exhausted heap");
}

/// What a source calls available is a hint. Here the upper level's last tail is as long as the request, and a grain more, which takes no
/// filler: it cannot be cut.
#[test]
fn a_request_that_the_upper_source_refuses_after_all_is_served_by_another_domain() {
    let (heap, outer, inner) = (Heap::of(4096 + 1032), counters(1), counters(2));
    let processor: Level<Shared, _> = Level::new(BASE, SHAPE, 8 << 10, layout(1), &outer, &heap);
    let core: Level<Shared, _> = Level::new(BASE, SHAPE, 2048, layout(2), &inner, processor);
    for cpu in [0, 1] {
        core.allocate(CpuIndex(cpu), Request::buffer(512, 512)).unwrap();
    }
    core.allocate(CPU0, Request::buffer(640, 640)).unwrap();
    assert_eq!((core.rest(CPU0), core.rest(CpuIndex(1)), core.upper().rest(CPU0)), (896, 1536, 1032));
    assert!(
        core.allocate(CPU0, Request::buffer(1024, 1024)).is_some(),
        "its tail is kept, the upper one cannot be cut"
    );
    assert_eq!(inner[0].get(Counter::Stolen), 1);
}

/// G1 calls more available than it has, where a region is used up and the next one means a collection; and HotSpot asks for one object after
/// another when no TLAB comes.
#[test]
fn a_request_larger_than_a_buffer_that_the_heap_refuses_is_served_from_tails() {
    let (heap, counters) = (Heap::of(8 << 10), counters(2));
    let core: Level<Shared, _> = Level::new(BASE, SHAPE, 8 << 10, layout(2), &counters, &heap);
    core.allocate(CPU0, Request::buffer(512, 512)).unwrap();
    assert_eq!((core.rest(CPU0), (&heap).available(CPU0)), ((8 << 10) - 512, 0));
    let own = core.allocate(CPU0, Request::buffer(512, 6000)).unwrap();
    assert!((512..=6000).contains(&own.bytes), "{own:?}");
    let others = core.allocate(CpuIndex(1), Request::buffer(512, 6000)).unwrap();
    assert!(others.bytes >= 512 && others.bytes + own.bytes <= (8 << 10) - 512, "{others:?}");
    let [first, second] = [0, 1].map(|domain| &counters[domain]);
    assert_eq!((first.get(Counter::Buffers), second.get(Counter::Stolen)), (2, 1));
    assert_eq!(first.get(Counter::Direct) + second.get(Counter::Direct), 0);
    assert_eq!(core.allocate(CPU0, Request::buffer(8 << 10, 8 << 10)), None);
}

type Errand = alloc::boxed::Box<dyn FnOnce()>;

/// A heap whose first request is interrupted: as if the refilling thread lost its CPU inside it, other threads of its domain go on.
struct Interrupted {
    heap: &'static Heap,
    meanwhile: RefCell<Option<Errand>>,
}

impl Source for &Interrupted {
    fn acquire(&self, cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        if let Some(errand) = self.meanwhile.take() {
            errand();
        }
        self.heap.acquire(cpu, min, desired)
    }

    fn available(&self, cpu: CpuIndex) -> usize {
        self.heap.available(cpu)
    }

    fn retire(&self, tail: Extent) {
        self.heap.retire(tail);
    }
}

fn leaked<T>(value: T) -> &'static T {
    alloc::boxed::Box::leak(alloc::boxed::Box::new(value))
}

#[test]
fn while_one_thread_refills_the_others_of_its_domain_use_the_spare_buffer() {
    let (heap, counters) = (leaked(Heap::of(1 << 20)), leaked(counters(1)));
    let upper = leaked(Interrupted { heap, meanwhile: RefCell::new(None) });
    let level: &Level<Shared, _> = leaked(Level::new(BASE, SHAPE, 4096, layout(1), counters, upper));
    *upper.meanwhile.borrow_mut() = Some(alloc::boxed::Box::new(|| {
        for _ in 0..3 {
            level.allocate(CPU0, Request::buffer(1024, 1024)).unwrap();
        }
    }));
    level.allocate(CPU0, Request::buffer(1024, 1024)).unwrap();
    assert_eq!((counters[0].get(Counter::Refills), counters[0].get(Counter::Direct)), (2, 0));
    // What is left of the spare buffer (1,024 bytes) is the next extent, before the heap is asked again.
    for _ in 0..4 {
        level.allocate(CPU0, Request::buffer(1024, 1024)).unwrap();
    }
    assert_eq!(heap.requests.borrow().len(), 2);
    assert_eq!(level.largest_tail(), 0);
}

/// A level with two buffers in use: while the first is refilled, `meanwhile` requests of 1 KB are served from the spare one.
fn with_spare(
    bytes: usize,
    meanwhile: usize,
) -> (&'static Heap, &'static [Counters], impl Fn(usize) -> bool) {
    let (heap, counters) = (leaked(Heap::of(bytes)), leaked(counters(1)));
    let upper = leaked(Interrupted { heap, meanwhile: RefCell::new(None) });
    let level: &Level<Shared, _> = leaked(Level::new(BASE, SHAPE, 4096, layout(1), counters, upper));
    let serve = |bytes| level.allocate(CPU0, Request::buffer(bytes, bytes)).is_some();
    *upper.meanwhile.borrow_mut() = Some(alloc::boxed::Box::new(move || {
        (0..meanwhile).for_each(|_| assert!(serve(1024)));
    }));
    assert!(serve(1024));
    (heap, counters, serve)
}

#[test]
fn a_large_tail_in_a_spare_buffer_is_not_given_up_for_a_request_that_it_does_not_fit() {
    let (_, counters, serve) = with_spare(1 << 20, 3);
    (0..3).for_each(|_| assert!(serve(1024)));
    // The first buffer is empty, the spare one holds 1 KB.
    assert!(serve(2048));
    assert_eq!((counters[0].get(Counter::WasteRefill), counters[0].get(Counter::Refills)), (0, 3));
}

#[test]
fn where_the_first_tail_is_kept_and_the_heap_has_nothing_the_spare_buffer_serves() {
    let (heap, counters, serve) = with_spare(8 << 10, 1);
    (0..2).for_each(|_| assert!(serve(1024)));
    // The first buffer holds 1 KB, which is too much to give up; the spare one 3 KB.
    assert!(serve(2048));
    assert_eq!((counters[0].get(Counter::Direct), heap.requests.borrow().len()), (0, 2));
}

#[test]
fn an_object_gets_the_last_tail_of_any_domain() {
    let (heap, counters) = (Heap::of(8 << 10), counters(2));
    let level: Level<Shared, _> = Level::new(BASE, SHAPE, 4096, layout(2), &counters, &heap);
    level.allocate(CpuIndex(1), Request::buffer(1024, 1024)).unwrap();
    assert_eq!(level.allocate(CPU0, Request::object(512)), None);
    assert!(level.allocate(CPU0, Request::object_from_tails(512)).is_some());
    assert_eq!(counters[0].get(Counter::Stolen), 1);
    assert_eq!(heap.requests.borrow().len(), 1, "no refill");
}
