//! The levels over the live heap, and the hooks.

use super::ground;
use super::plan::{Plan, check_heap};
use super::settings::settings;
use crate::agent::{self, Agent, Objects, Observed, Originals};
#[cfg(target_arch = "x86_64")]
use crate::clock::Ticks;
use crate::clock::{Clock, Monotonic, Untimed};
use crate::end;
use crate::hierarchy::{Hierarchy, Rank, ThreadBuffers};
use crate::hooks;
use crate::in_place::InPlace;
use crate::log::{Severity, say};
use crate::observer::{self, Observer, Pauses};
use crate::options::Levels;
use crate::refills::{Place, Watch, Watched};
use crate::report::{self, level_names};
use crate::sizes::{LevelWish, Sizes};
use crate::small_first::FirstTlabs;
use crate::source::HeapSource;
use crate::state::INTERNAL;
use crate::thread_waste::ThreadLooks;
use crate::tlab;
use control::{Asked, Mode, State, size};
use hab::sizing::SMALLEST;
use hab::{Level, Source};
use hotspot::Error;
use hotspot::collector::Collector;
use hotspot::heap::{Heap, Jvm};
use hotspot::patch::{Exchange, Unlocked};
use std::sync::OnceLock;
use std::time::Duration;

/// An agent that is ready to be put in place.
pub(crate) struct Live {
    built: Built,
    settings: String,
    remarks: Vec<String>,
}

impl Live {
    /// Builds it. At VMInit, or attached to a running JVM, on a thread that HotSpot knows.
    pub(crate) fn make(plan: &Plan) -> Result<Live, String> {
        let heap = heap(&plan.jvm)?;
        if !plan.options.observes() {
            check_heap(heap.bytes(), plan.shape)?;
        }
        let mut remarks = plan.remarks.clone();
        let built = build(plan, heap, &mut remarks)?;
        let settings = settings(plan, built.agent, built.clock);
        Ok(Live { built, settings, remarks })
    }

    /// Puts it in place. What can still fail comes before anything is changed: the pages of the vtable are made writable. Only an agent that changes the
    /// same entries at this moment leads to a refusal later: nothing is in place then. Gives what can be taken back.
    pub(crate) fn commit(self, plan: &Plan) -> Result<&'static InPlace, String> {
        let Live { built: Built { agent, observer, hooks, .. }, settings, remarks } = self;
        let unlocked = Unlocked::of(&hooks).map_err(|error| error.to_string())?;
        let control = plan.control;
        control.set_settings(&settings);
        control.set_sizes(&agent.hierarchy.sizes());
        agent.tell_first_tlab();
        if !remarks.is_empty() {
            control.set_message(&remarks.join("; "));
        }
        // Until all hooks are in place: a buffer that serves has its tail filled by some of them.
        control.set_mode(Mode::Off);
        control.set_lease(plan.options.lease);
        match observer {
            Some(observer) => observer::publish(observer),
            None => agent::publish_to_hooks(agent),
        }
        agent::publish(agent);
        // Nobody takes back what is being put in place.
        let mut in_place = agent.in_place.exchanges();
        // SAFETY: `exchange_for` has paired hooks with functions of their types; the agent is never unloaded; what the hooks need
        // was published before, and they are those of its hierarchy (`Build::with`).
        if let Err(error) = unsafe { unlocked.exchange() } {
            agent::forget();
            control.set_settings("");
            if observer.is_none() && matches!(error, Error::Lost { .. }) {
                ground::set_lost();
            }
            return Err(error.to_string());
        }
        in_place.clone_from(&hooks);
        control.set_mode(if plan.options.start { Mode::On } else { Mode::Off });
        control.set_state(if observer.is_some() { State::Observing } else { State::Installed });
        end::stop_if_ending(control);
        for remark in &remarks {
            say(Severity::Warn, remark);
        }
        say(Severity::Info, &format!("installed: {}", report::without_addresses(&settings)));
        Ok(agent.in_place)
    }
}

/// The heap, which is the same one as long as the process. It is looked up again with each installation, and kept once.
fn heap(jvm: &Jvm) -> Result<&'static Heap, String> {
    static HEAP: OnceLock<Heap> = OnceLock::new();
    let found = jvm.heap().map_err(|error| error.to_string())?;
    Ok(HEAP.get_or_init(|| found))
}

/// The agent, and the hooks that are its own, or the observer's.
struct Built {
    agent: &'static Agent,
    observer: Option<&'static Observer>,
    clock: Option<&'static str>,
    hooks: Vec<Exchange>,
}

fn build(plan: &Plan, heap: &'static Heap, remarks: &mut Vec<String>) -> Result<Built, String> {
    let shape = plan.shape;
    // SAFETY: the heap is initialised, and this thread is known to HotSpot.
    let (largest, eden) = unsafe { (heap.max_tlab_size(), heap.tlab_capacity()) };
    let largest_extent = shape.floor(largest.min(shape.max_buffer()));
    let wishes = wishes(plan);
    let sized = Sizes::new(wishes.clone(), largest_extent, shape);
    let sizes = sized.as_asked(eden, plan.control);
    for ((name, wish), bytes) in level_names(plan.options.levels).iter().zip(wishes).zip(&sizes) {
        if let Asked::Bytes(asked) = wish.asked
            && (*bytes as u64) < asked
        {
            remarks.push(format!(
                "{name}={} is too large for this heap: reduced to {bytes} bytes (eden: {} KB, largest TLAB: {} KB); increase the heap \
                 (-Xmx, -Xmn) or use a smaller size",
                size::format(asked as usize), eden >> 10, largest >> 10
            ));
        }
    }
    let delay = Duration::from_micros(plan.options.delay as u64);
    let take_sizes = || {
        if let Some(agent) = agent::agent_if_installed() {
            agent.take_sizes();
        }
    };
    let upper: &'static HeapSource =
        Box::leak(Box::new(HeapSource::new(heap, plan.control, take_sizes, largest_extent, delay)));
    let region = plan.jvm.flags.number("G1HeapRegionSize");
    let watch = Watch { control: plan.control, heap, lock: plan.jvm.collector.lock(region) };
    let build = Build { plan, heap, watch, sized, sizes, upper };
    match plan.options.levels {
        Levels::None if plan.options.observes() => build.observing(),
        Levels::None => Ok(build.with(upper)),
        Levels::Core | Levels::Processor => {
            let only = build.rank(0, upper)?;
            Ok(build.with(only))
        }
        Levels::CoreAndProcessor => {
            let core = build.rank(0, build.rank(1, upper)?)?;
            Ok(build.with(core))
        }
    }
}

/// What was asked for, for each level that there is to be, the threads' level first.
fn wishes(plan: &Plan) -> Vec<LevelWish> {
    let Plan { options, maps, .. } = plan;
    if options.levels == Levels::None {
        return vec![];
    }
    let asked = |name: &str| if name == "core" { options.core } else { options.processor };
    (level_names(options.levels).iter().zip(maps))
        .map(|(name, map)| LevelWish { asked: asked(name), domains: map.known(), possible: map.count() })
        .collect()
}

/// What an agent is built of, whatever its hierarchy.
struct Build<'p> {
    plan: &'p Plan,
    heap: &'static Heap,
    watch: Watch,
    sized: Sizes,
    /// For each level, in bytes.
    sizes: Vec<usize>,
    upper: &'static HeapSource,
}

impl Build<'_> {
    /// A level, by its number from the threads' on.
    fn rank<S: Source>(&self, at: usize, upper: S) -> Result<Rank<S>, String> {
        let Plan { layouts, control, shape, .. } = self.plan;
        let (Some(layout), Some(bytes)) = (layouts.get(at), self.sizes.get(at)) else {
            return Err(INTERNAL.into());
        };
        let from = if at + 1 == layouts.len() { Place::Heap } else { Place::Level(at as u8 + 1) };
        let upper = Watched::new(self.watch, from, Place::Level(at as u8), upper);
        Ok(Level::new(self.heap.base(), *shape, *bytes, layout.clone(), control.counters(at), upper))
    }

    /// Where requests are counted that no level serves.
    fn observed(&self) -> Option<Observed> {
        let Plan { layouts, control, .. } = self.plan;
        layouts.first().map(|layout| Observed::new(layout, control.counters(0)))
    }

    /// The agent with this hierarchy. It stays for ever, because a hook may use it until the process ends.
    fn with<H: Hierarchy>(self, hierarchy: H) -> Built {
        let observed = self.observed();
        let Build { plan, heap, watch, sized, sizes, upper } = self;
        let Plan { jvm, maps, control, .. } = plan;
        let bound = (plan.options.bound && jvm.hooks.parsability).then(|| {
            let size = sizes.first().copied().unwrap_or(SMALLEST);
            ThreadBuffers::new(heap.base(), plan.shape, size, control.counters(maps.len()), upper)
        });
        let agent: &'static Agent<H> = Box::leak(Box::new(Agent {
            control,
            cpu_source: plan.cpu_source,
            objects: Objects::of(most_of_object(jvm), &sizes),
            first_tlabs: FirstTlabs::new(plan.tlabs.grow),
            refill_for_objects: !tlab::are_used(jvm),
            never_collects: jvm.collector == Collector::Epsilon,
            observed,
            bound,
            originals: Originals::of(&jvm.functions),
            heap,
            watch,
            shape: plan.shape,
            sized,
            in_place: Box::leak(Box::new(InPlace::nothing(control, agent::forget))),
            hierarchy,
        }));
        Built { agent, observer: None, clock: None, hooks: hooks::exchanges::<H>(&jvm.functions, jvm.hooks) }
    }

    /// The agent without buffers, and its observer.
    fn observing(self) -> Result<Built, String> {
        let Build { plan: Plan { options, jvm, control, cpu_source, .. }, heap, watch, upper, .. } = self;
        let observed = self.observed().ok_or(INTERNAL)?;
        let built = self.with(upper);
        let (clock, now, hooks) = match options.times {
            false => hooks_of::<Untimed>(jvm),
            #[cfg(target_arch = "x86_64")]
            true if Ticks::are_steady() => hooks_of::<Ticks>(jvm),
            true => hooks_of::<Monotonic>(jvm),
        };
        let observer = Observer {
            control,
            cpu_source: *cpu_source,
            observed,
            originals: Originals::of(&jvm.functions),
            times: control.times(),
            base: heap.base(),
            lock: watch.lock,
            watch,
            now,
            since: (now(), Monotonic::now()),
            pauses: Pauses::none(),
            threads: clock
                .filter(|_| has_whole_pauses(jvm.collector))
                .map(|_| ThreadLooks::new(jvm.accounts, now)),
            in_place: built.agent.in_place,
        };
        Ok(Built { observer: Some(Box::leak(Box::new(observer))), clock, hooks, ..built })
    }
}

/// A clock's name, its reading, and the hooks that time by it.
fn hooks_of<C: Clock>(jvm: &Jvm) -> (Option<&'static str>, fn() -> u64, Vec<Exchange>) {
    (C::NAME, C::now, observer::exchanges::<C>(&jvm.functions))
}

/// Whether a collection retires all TLABs in the pause that its events are of. Shenandoah and ZGC leave that to the threads.
fn has_whole_pauses(collector: Collector) -> bool {
    matches!(collector, Collector::Serial | Collector::Parallel | Collector::G1)
}

/// Bytes of the largest object that a buffer may serve: not those that the collector wants in its old generation.
fn most_of_object(jvm: &Jvm) -> usize {
    match jvm.flags.number("PretenureSizeThreshold") {
        _ if !jvm.hooks.objects => 0,
        Some(threshold) if threshold > 0 => threshold - 1,
        _ => usize::MAX,
    }
}
