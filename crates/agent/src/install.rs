//! From options to hooks in place, or to a reason why not.
//!
//! Two steps. [`begin`] runs before the heap exists: it looks at the JVM, refuses what has to be refused, and sets the flags that
//! the heap's construction reads. [`finish`] runs at VMInit (or at once, on attach): it builds the levels over the live heap and
//! puts the hooks in place.
#![allow(clippy::disallowed_types, reason = "a library may be loaded from two threads at once")]

use crate::agent::{self, Agent, Closing, Observed, Originals};
use crate::events;
use crate::hierarchy::{self, Hierarchy, ThreadBuffers};
use crate::hooks;
use crate::log::{Severity, say};
use crate::options::{Levels, Options};
use crate::report;
use crate::source::HeapSource;
use crate::tlab;
use control::{Control, Mode, State, size};
use hab::{Level, Shape, Shared, sizing};
use hotspot::heap::{self, Heap};
use hotspot::jvmti::{Events, Jvmti};
use hotspot::slots::Virtual;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;
use topology::{CpuSource, DomainMap, Machine};

/// When the agent was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// At the JVM's start.
    Load,
    /// In a running JVM.
    Attach,
}

static LOADED: AtomicBool = AtomicBool::new(false);
static PREPARED: Mutex<Option<Prepared>> = Mutex::new(None);
/// The control file, from the moment it exists; and the options, for the report.
static CONTROL: OnceLock<&'static Control> = OnceLock::new();

/// The control file (or its likeness in memory), if it was made.
pub(crate) fn control() -> Option<&'static Control> {
    CONTROL.get().copied()
}

/// What the first step found, for the second.
struct Prepared {
    jvm: heap::Machine,
    machine: Machine,
    maps: Vec<DomainMap>,
    cpu_source: CpuSource,
    options: Options,
    tlab: tlab::InForce,
    remarks: Vec<String>,
}

/// Records a refusal for `terrace status`, and gives the line to print.
pub(crate) fn refusal(line: &str, strict: bool) -> String {
    if let Some(control) = control()
        && control.state() == Some(State::Starting)
    {
        control.set_message(line);
        control.set_state(State::Refused);
    }
    let consequence = if strict { "strict=true: not starting" } else { "running without buffers" };
    format!("{line} ({consequence})")
}

/// The first step.
pub(crate) fn begin(jvmti: Jvmti, options: Options, when: When) -> Result<(), String> {
    if LOADED.swap(true, Ordering::AcqRel) {
        return Err(
            "libterrace.so is already loaded: name it once, or change it through its control file".into()
        );
    }
    report::set_path(options.report.clone());
    let machine = Machine::detect();
    let maps = hierarchy::domain_maps(options.levels, &machine);
    let mut remarks = Vec::new();
    let control = make_control(&options, &maps, &mut remarks)?;
    let _ = CONTROL.set(control);

    let jvm = heap::Machine::find().map_err(|refusal| refusal.to_string())?;
    check_sizes(&options, jvm.grain())?;
    let tlab = tlab::set_flags(&jvm, &options, when, &mut remarks)?;
    if jvm.flags.boolean("EpsilonElasticTLAB") == Some(true)
        && jvm.flags.boolean("UseEpsilonGC") == Some(true)
    {
        // SAFETY: a boolean flag that the heap reads at each request, where either value is right.
        unsafe { jvm.flags.set_boolean("EpsilonElasticTLAB", false) }.map_err(|error| error.to_string())?;
    }
    if options.levels != Levels::None && !tlab::are_used(&jvm) && when == When::Load {
        stop_inline_allocation(&jvm)?;
    }
    let prepared = Prepared { jvm, machine, maps, cpu_source: CpuSource::detect(), options, tlab, remarks };
    if let Ok(mut slot) = PREPARED.lock() {
        *slot = Some(prepared);
    }
    // Before the hooks: no extent may be in a buffer when the first collection comes that is not announced.
    jvmti.listen(Events {
        vm_init: events::vm_init,
        vm_death: events::vm_death,
        collection_start: events::collection_start,
    })?;
    if when == When::Attach {
        if !jvmti.is_live() {
            return Err("the JVM is not yet, or no more, running: attach to a running one".into());
        }
        try_finish()?;
    }
    Ok(())
}

/// The second step, at VMInit, where nobody can be told of an error but through the log.
pub(crate) fn finish() {
    let strict = PREPARED
        .lock()
        .ok()
        .and_then(|slot| slot.as_ref().map(|found| found.options.strict))
        .unwrap_or(false);
    if let Err(line) = try_finish() {
        say(Severity::Error, &refusal(&line, strict));
        if strict {
            // The application has not begun. exit() would run HotSpot's own handlers, in the middle of its start.
            // SAFETY: _exit has no preconditions.
            unsafe { libc::_exit(1) };
        }
    }
}

fn try_finish() -> Result<(), String> {
    let prepared = PREPARED.lock().ok().and_then(|mut slot| slot.take());
    let (Some(mut prepared), Some(control)) = (prepared, control()) else { return Ok(()) };
    let heap: &'static Heap = Box::leak(Box::new(prepared.jvm.heap().map_err(|error| error.to_string())?));
    let built = build(&mut prepared, heap, control)?;
    let settings =
        report::settings(&prepared.jvm, &prepared.options, &prepared.tlab.text, &built, &prepared.machine);
    for remark in &prepared.remarks {
        say(Severity::Warn, remark);
    }
    control.set_settings(&settings);
    control.set_message(&prepared.remarks.join("; "));
    control.set_mode(if prepared.options.start { Mode::On } else { Mode::Off });
    agent::publish(built);
    if let Err(error) = put_hooks(&prepared.jvm) {
        // Some hooks may be in place: they pass everything on.
        control.set_mode(Mode::Off);
        return Err(error.to_string());
    }
    let observing = prepared.options.levels == Levels::None;
    control.set_state(if observing { State::Observing } else { State::Installed });
    say(Severity::Info, &format!("installed: {settings}"));
    Ok(())
}

/// The control file; without one that was asked for the application still gets its buffers.
fn make_control(
    options: &Options,
    maps: &[DomainMap],
    remarks: &mut Vec<String>,
) -> Result<&'static Control, String> {
    let mut domains: Vec<usize> = maps.iter().map(DomainMap::count).collect();
    if options.bound {
        domains.push(ThreadBuffers::THREADS);
    }
    let made = match &options.control {
        Some(path) => match Control::at(path, &domains) {
            Ok(made) => Ok(made),
            Err(error) if options.strict => return Err(error.to_string()),
            Err(error) => {
                remarks.push(format!("{error} (running without a control file)"));
                Control::anonymous(&domains)
            }
        },
        None => Control::anonymous(&domains),
    };
    Ok(Box::leak(Box::new(made.map_err(|error| error.to_string())?)))
}

fn check_sizes(options: &Options, grain: usize) -> Result<(), String> {
    for (key, asked) in [("core", options.core), ("processor", options.processor)] {
        if let Some(bytes) = asked.filter(|bytes| !bytes.is_multiple_of(grain)) {
            return Err(format!("{key}={bytes}: use a multiple of ObjectAlignmentInBytes={grain}"));
        }
    }
    Ok(())
}

/// The levels over the live heap.
fn build(prepared: &mut Prepared, heap: &'static Heap, control: &'static Control) -> Result<Agent, String> {
    let Prepared { jvm, machine, maps, options, .. } = &*prepared;
    let grain = jvm.grain();
    let shape = Shape { grain_shift: grain.trailing_zeros(), min_remainder: jvm.min_filler() };
    if heap.bytes() > Level::<Shared, &'static HeapSource>::max_span(shape) {
        return Err(format!(
            "a heap of {} GB is too large for terrace: use at most 8 TB (-Xmx)",
            heap.bytes() >> 30
        ));
    }
    // SAFETY: at VMInit, or attached to a running JVM: the heap is initialised, and this thread is known to HotSpot.
    let (largest, eden) = unsafe { (heap.max_tlab_size(), heap.tlab_capacity()) };
    let largest = shape.floor(largest.min(Level::<Shared, &'static HeapSource>::max_size(shape)));
    let mut remarks = Vec::new();
    let mut size_of = |key: &str, asked: Option<usize>, map: &DomainMap| match asked {
        None => sizing::automatic(eden, map.count(), largest, shape),
        Some(bytes) => {
            let limited = sizing::limited(bytes, eden, map.count(), largest, shape);
            if limited < bytes {
                remarks.push(format!(
                    "{key}={} is more than this heap bears: reduced to {limited} bytes (eden has {} KB, the largest TLAB {} KB); \
                     give more heap (-Xmx, -Xmn) or ask for less",
                    size::format(bytes), eden >> 10, largest >> 10
                ));
            }
            limited
        }
    };
    let asked = match options.levels {
        Levels::None => vec![],
        Levels::Core => vec![("core", options.core)],
        Levels::Processor => vec![("processor", options.processor)],
        Levels::CoreAndProcessor => vec![("core", options.core), ("processor", options.processor)],
    };
    let sizes: Vec<usize> =
        asked.iter().zip(maps).map(|((key, asked), map)| size_of(key, *asked, map)).collect();
    let upper: &'static HeapSource =
        Box::leak(Box::new(HeapSource::new(heap, largest, Duration::from_micros(options.delay as u64))));
    let outer = |at: usize| {
        let layout = hierarchy::layout(machine, &maps[at]);
        Level::new(heap.base(), shape, sizes[at], layout, control.counters(at), upper)
    };
    let hierarchy = match options.levels {
        Levels::None => Hierarchy::None,
        Levels::Core | Levels::Processor => Hierarchy::Three(outer(0)),
        Levels::CoreAndProcessor => {
            let layout = hierarchy::layout(machine, &maps[0]);
            Hierarchy::Four(Level::new(heap.base(), shape, sizes[0], layout, control.counters(0), outer(1)))
        }
    };
    let bound = (options.bound && jvm.hooks.parsability).then(|| {
        let size = sizes.first().copied().unwrap_or(sizing::SMALLEST);
        ThreadBuffers::new(heap.base(), shape, size, control.counters(maps.len()), upper)
    });
    let built = Agent {
        control,
        cpu_source: prepared.cpu_source,
        largest_object: largest_object(jvm, &sizes),
        grows: prepared.tlab.grows,
        refill_for_objects: !tlab::are_used(jvm),
        observed: Observed {
            map: maps[0].clone(),
            counters: control.counters(0),
            shared: maps[0].any_shared(),
        },
        bound,
        originals: originals(jvm).map_err(|error| error.to_string())?,
        heap,
        shape,
        largest,
        automatic: asked.iter().zip(maps).map(|((_, asked), map)| (map.count(), asked.is_none())).collect(),
        closing: Closing::default(),
        hierarchy,
    };
    prepared.remarks.extend(remarks);
    Ok(built)
}

/// Objects that a buffer may serve: small against it (a large one would waste what it leaves behind), and not those that the
/// collector wants in its old generation.
fn largest_object(jvm: &heap::Machine, sizes: &[usize]) -> usize {
    if !jvm.hooks.objects {
        return 0;
    }
    let by_size = sizes.first().map_or(0, |size| size / 4);
    match jvm.flags.number("PretenureSizeThreshold") {
        Some(threshold) if threshold > 0 => by_size.min(threshold - 1),
        _ => by_size,
    }
}

fn originals(jvm: &heap::Machine) -> Result<Originals, hotspot::Error> {
    let original = |function| jvm.entry(function).map(|(_, original)| original);
    // What is not hooked is never called.
    let optional = |function| original(function).unwrap_or(0);
    let parsability = if jvm.hooks.parsability { original(Virtual::EnsureParsability)? } else { 1 };
    // SAFETY: the functions have the types that their mangled names, which were matched in full, and the C++ ABI give them. One that
    // is not hooked is never called through these.
    unsafe {
        Ok(Originals {
            allocate_new_tlab: std::mem::transmute::<usize, heap::AllocateNewTlab>(original(
                Virtual::AllocateNewTlab,
            )?),
            mem_allocate: std::mem::transmute::<usize, heap::MemAllocate>(original(Virtual::MemAllocate)?),
            unsafe_max_tlab_alloc: std::mem::transmute::<usize, heap::UnsafeMaxTlabAlloc>(original(
                Virtual::UnsafeMaxTlabAlloc,
            )?),
            ensure_parsability: std::mem::transmute::<usize, heap::EnsureParsability>(parsability),
            trace_heap: std::mem::transmute::<usize, heap::TraceHeap>(optional(Virtual::TraceHeap).max(1)),
        })
    }
}

/// Puts the hooks in place: those that give memory up first, the one that hands it out last.
fn put_hooks(jvm: &heap::Machine) -> Result<(), hotspot::Error> {
    let hooks = jvm.hooks;
    let wanted = [
        (hooks.parsability, Virtual::EnsureParsability, hooks::ensure_parsability as *const () as usize),
        (hooks.trace, Virtual::TraceHeap, hooks::trace_heap as *const () as usize),
        (hooks.available, Virtual::UnsafeMaxTlabAlloc, hooks::unsafe_max_tlab_alloc as *const () as usize),
        (true, Virtual::MemAllocate, hooks::mem_allocate as *const () as usize),
        (true, Virtual::AllocateNewTlab, hooks::allocate_new_tlab as *const () as usize),
    ];
    for (_, function, hook) in wanted.into_iter().filter(|(wanted, _, _)| *wanted) {
        let (entry, original) = jvm.entry(function)?;
        // SAFETY: the entry was found in the heap's vtable by the function's full name; the hook has its signature and is never
        // unloaded.
        unsafe { hotspot::patch::exchange(entry, original, hook, function.name()) }?;
    }
    Ok(())
}

/// JDK 17 without TLABs: interpreter and compilers inline allocation from eden unless the heap says that it does not support that.
/// They ask from the JVM's start on.
fn stop_inline_allocation(jvm: &heap::Machine) -> Result<(), String> {
    let Ok((entry, original)) = jvm.entry(Virtual::SupportsInlineContigAlloc) else { return Ok(()) };
    let hook = hooks::supports_inline_contig_alloc as *const () as usize;
    // SAFETY: as in `put_hooks`; the hook needs nothing of the agent.
    unsafe { hotspot::patch::exchange(entry, original, hook, "supports_inline_contig_alloc") }
        .map_err(|error| error.to_string())
}
