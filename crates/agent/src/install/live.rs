//! The levels over the live heap, and the hooks.

use super::plan::{Plan, check_heap};
use super::settings::settings;
use crate::agent::{self, Agent, Observed, Originals, Sized};
use crate::hierarchy::{Hierarchy, ThreadBuffers};
use crate::log::{Severity, say};
use crate::options::Levels;
use crate::report;
use crate::source::HeapSource;
use crate::tlab;
use control::{Mode, State, size};
use hab::sizing::{Room, SMALLEST, Wish};
use hab::{Level, Shared};
use hotspot::heap::{Heap, Machine as Jvm};
use hotspot::patch::Unlocked;
use std::time::Duration;

/// An agent that is ready to be put in place.
pub(crate) struct Live {
    agent: Agent,
    settings: String,
    remarks: Vec<String>,
}

impl Live {
    /// Builds it. At VMInit, or attached to a running JVM, on a thread that HotSpot knows.
    pub(crate) fn make(plan: &Plan) -> Result<Live, String> {
        let heap: &'static Heap = Box::leak(Box::new(plan.jvm.heap().map_err(|error| error.to_string())?));
        check_heap(heap.bytes(), plan.shape)?;
        let mut remarks = plan.remarks.clone();
        let agent = build(plan, heap, &mut remarks);
        let settings = settings(plan, &agent);
        Ok(Live { agent, settings, remarks })
    }

    /// Puts it in place. The only thing that can still fail comes before anything is changed: the pages of the vtable are made
    /// writable.
    pub(crate) fn commit(self, plan: &Plan) -> Result<(), String> {
        let unlocked = Unlocked::of(&plan.hooks).map_err(|error| error.to_string())?;
        let Live { agent, settings, remarks } = self;
        let control = plan.control;
        control.set_settings(&settings);
        if !remarks.is_empty() {
            control.set_message(&remarks.join("; "));
        }
        control.set_mode(if plan.options.start { Mode::On } else { Mode::Off });
        agent::publish(agent);
        // SAFETY: `exchange_for` has paired hooks with functions of their types; the agent is never unloaded; what the hooks need
        // was published before.
        unsafe { unlocked.exchange() };
        let observing = plan.options.levels == Levels::None;
        control.set_state(if observing { State::Observing } else { State::Installed });
        for remark in &remarks {
            say(Severity::Warn, remark);
        }
        say(Severity::Info, &format!("installed: {}", report::without_addresses(&settings)));
        Ok(())
    }
}

fn build(plan: &Plan, heap: &'static Heap, remarks: &mut Vec<String>) -> Agent {
    let Plan { jvm, maps, layouts, options, shape, control, .. } = plan;
    let shape = *shape;
    // SAFETY: the heap is initialised, and this thread is known to HotSpot.
    let (largest, eden) = unsafe { (heap.max_tlab_size(), heap.tlab_capacity()) };
    let largest_extent = shape.floor(largest.min(Level::<Shared, &'static HeapSource>::max_size(shape)));
    let room = Room { eden, largest_extent, shape };
    let names: &[&str] = match options.levels {
        Levels::None => &[],
        Levels::Core => &["core"],
        Levels::Processor => &["processor"],
        Levels::CoreAndProcessor => &["core", "processor"],
    };
    let asked = |name: &str| if name == "core" { options.core } else { options.processor };
    let wishes: Vec<Wish> = (names.iter().zip(maps))
        .map(|(name, map)| Wish { asked: asked(name), domains: map.known() })
        .collect();
    let sized = Sized { wishes, largest_extent, shape };
    let sizes = sized.in_eden(room.eden);
    for ((name, wish), bytes) in names.iter().zip(&sized.wishes).zip(&sizes) {
        if let Some(asked) = wish.asked.filter(|asked| bytes < asked) {
            remarks.push(format!(
                "{name}={} is more than this heap bears: reduced to {bytes} bytes (eden has {} KB, the largest TLAB {} KB); \
                 give more heap (-Xmx, -Xmn) or ask for less",
                size::format(asked), eden >> 10, largest >> 10
            ));
        }
    }
    let upper: &'static HeapSource = Box::leak(Box::new(HeapSource::new(
        heap,
        largest_extent,
        Duration::from_micros(options.delay as u64),
    )));
    // The vectors have an entry for each level; what they lack is a level without buffers, and never asked for.
    let bytes = |at: usize| sizes.get(at).copied().unwrap_or(0);
    let level = |at: usize| {
        let layout = layouts.get(at).or(layouts.first()).cloned();
        layout.map(|layout| Level::new(heap.base(), shape, bytes(at), layout, control.counters(at), upper))
    };
    let hierarchy = match (options.levels, level(0), layouts.first()) {
        (Levels::Core | Levels::Processor, Some(only), _) => Hierarchy::Three(only),
        (Levels::CoreAndProcessor, _, Some(layout)) => match level(1) {
            Some(outer) => Hierarchy::Four(Level::new(
                heap.base(),
                shape,
                bytes(0),
                layout.clone(),
                control.counters(0),
                outer,
            )),
            None => Hierarchy::None,
        },
        _ => Hierarchy::None,
    };
    let bound = (options.bound && jvm.hooks.parsability).then(|| {
        let size = sizes.first().copied().unwrap_or(SMALLEST);
        ThreadBuffers::new(heap.base(), shape, size, control.counters(maps.len()), upper)
    });
    Agent {
        control,
        cpu_source: plan.cpu_source,
        largest_object: largest_object(jvm, &sizes),
        grows: plan.tlabs.grow,
        refill_for_objects: !tlab::are_used(jvm),
        observed: layouts
            .first()
            .map(|layout| Observed { layout: layout.clone(), counters: control.counters(0) }),
        bound,
        originals: Originals::of(&jvm.functions),
        heap,
        shape,
        sized,
        hierarchy,
    }
}

/// Objects that a buffer may serve: small against it (a large one would waste what it leaves behind), and not those that the
/// collector wants in its old generation.
fn largest_object(jvm: &Jvm, sizes: &[usize]) -> usize {
    if !jvm.hooks.objects {
        return 0;
    }
    let by_size = sizes.first().map_or(0, |size| size / 4);
    match jvm.flags.number("PretenureSizeThreshold") {
        Some(threshold) if threshold > 0 => by_size.min(threshold - 1),
        _ => by_size,
    }
}
