//! The protocol under loom, which runs the interleavings of a few threads (here those with up to three to six preemptions, where
//! not all) and the values that a load may return under the memory orders given.
//!
//! What a pass does not show: loom treats `SeqCst` accesses as acquire and release (only `SeqCst` fences, which the protocol
//! uses, are modelled as such), exchanges never fail without a reason, and capacities and numbers of threads are tiny. Loom's
//! search also skips interleavings that a load hides; `atomics` and `heap` here make up for that. A bug
//! that needs more threads, more preemptions or a load that is carried out later than loom allows stays unseen: a pass is no
//! proof.
//!
//! `heap` gives each grain a cell that loom watches: whoever gets a grain without having synchronised with its previous owner
//! fails the test, even if the addresses are right. `controls` are broken protocols, in which loom has to find the error.
//!
//! Run by `RUSTFLAGS="--cfg loom" cargo test -p terrace-hab --release --test loom`.
#![cfg(loom)]

// The agent calls it so.
extern crate terrace_hab as hab;

mod atomics;
mod controls;
mod heap;
mod publication;
mod records;
mod three_threads;
mod two_threads;

use atomics::Loom;
use heap::{BASE, GRAIN, Heap, SHAPE};
use loom::thread;
use std::cell::RefCell;
use terrace_hab::{Counter, Counters, CpuIndex, DomainIndex, Layout, Level, Request, Shared, Source, State};

/// A level over the heap, and one over such a level.
type Rank<S> = Level<'static, Shared, S, Loom>;
type OneLevel = Rank<&'static Heap>;
type TwoLevels = Rank<&'static OneLevel>;

const CPU0: CpuIndex = CpuIndex(0);
const CPU1: CpuIndex = CpuIndex(1);

/// Runs `scenario` with all interleavings, or with those of up to `preemptions` preemptions.
fn model(preemptions: Option<usize>, scenario: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.max_branches = 20_000;
    builder.check(move || {
        scenario();
        LENT.take().into_iter().rev().for_each(|release| release());
    });
}

thread_local! {
    /// How to release what this execution has lent: loom runs all threads of an execution on one thread of the system.
    static LENT: RefCell<Vec<Box<dyn FnOnce()>>> = const { RefCell::new(Vec::new()) };
}

/// `value` until the execution's end. Loom's threads need `'static`; there are millions of executions, too many to leak.
fn lend<T>(value: T) -> &'static T {
    let pointer = Box::into_raw(Box::new(value));
    // SAFETY: from `Box::into_raw`; called once, and when the scenario has joined its threads and returned.
    LENT.with_borrow_mut(|lent| lent.push(Box::new(move || drop(unsafe { Box::from_raw(pointer) }))));
    // SAFETY: the value stays where it is until then.
    unsafe { &*pointer }
}

/// A heap of so many grains.
fn heap(grains: usize) -> &'static Heap {
    lend(Heap::new(grains))
}

/// A level of buffers of `size` grains, one for each of `domains` CPUs.
fn level<S: Source + 'static>(domains: u16, size: usize, upper: S) -> &'static Rank<S> {
    let counters: Vec<Counters<Loom>> = (0..domains).map(|_| Counters::default()).collect();
    let layout = Layout {
        domain_of_cpu: (0..domains).map(DomainIndex).collect(),
        group_of_domain: (0..domains).map(|_| 0).collect(),
        // Plain additions may get lost, and the equations below would not be exact.
        exclusive: 0,
    };
    lend(Level::new(BASE, SHAPE, size * GRAIN, layout, lend(counters), upper))
}

/// Requests one grain from the level; it becomes the caller's.
fn take<S: Source>(level: &Rank<S>, heap: &Heap, cpu: CpuIndex) -> bool {
    let extent = level.allocate(cpu, Request::buffer(GRAIN, GRAIN));
    extent.inspect(|&extent| heap.own(extent)).is_some()
}

fn sum<S: Source>(level: &Rank<S>, counters: &[Counter]) -> u64 {
    counters.iter().flat_map(|&counter| level.counters().iter().map(move |domain| domain.get(counter))).sum()
}

/// When all threads are done: reserved = allocated + waste + remaining.
fn check_level<S: Source>(level: &Rank<S>) {
    let remaining = level.states().map(|state| match state {
        State::Empty => 0,
        State::Refilling => panic!("a refill was never ended"),
        State::Free(tail) => tail.bytes as u64,
    });
    let remaining = remaining.sum::<u64>();
    let allocated = sum(level, &[Counter::BufferBytes, Counter::ObjectBytes, Counter::StolenBytes]);
    let waste = sum(level, &[Counter::WasteRefill, Counter::WasteCollection, Counter::WasteAlignment]);
    assert_eq!(sum(level, &[Counter::RefillBytes]), allocated + waste + remaining);
}

/// As `check_level`; and when the buffers are retired, each byte of the heap was handed out or retired, exactly once.
fn check(level: &OneLevel, heap: &Heap) {
    check_level(level);
    level.retire_buffers();
    check_level(level);
    heap.check();
}
