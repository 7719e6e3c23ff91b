//! What can be known before the heap exists. Nothing here changes the JVM but [`Plan::commit`].

use super::ground::{Ground, check_lost, check_number};
use crate::hierarchy;
use crate::hooks;
use crate::log::{Severity, say};
use crate::options::{Levels, Options, Tlab};
use crate::source::HeapSource;
use crate::state::When;
use crate::tlab::{self, Tlabs};
use control::{Asked, Control};
use hab::{Layout, Shape};
use hotspot::WORD;
use hotspot::flags::Change;
use hotspot::heap::Jvm;
use hotspot::library::Library;
use hotspot::patch::{Exchange, Unlocked};
use std::time::Instant;
use topology::{CpuSource, DomainMap, Machine};

/// An installation that nothing is known to stand against.
pub(crate) struct Plan {
    pub(crate) options: Options,
    pub(crate) control: &'static Control,
    pub(crate) jvm: Jvm,
    pub(crate) machine: Machine,
    /// What tells a thread's place.
    pub(crate) cpu_source: CpuSource,
    /// For each level, the threads' level first.
    pub(crate) maps: Vec<DomainMap>,
    pub(crate) layouts: Vec<Layout>,
    pub(crate) shape: Shape,
    pub(crate) tlabs: Tlabs,
    /// What the user should know though it works.
    pub(crate) remarks: Vec<String>,
    /// The hook that has to be in place before the JVM makes its interpreter (JDK 11 and 17 without TLABs).
    early: Vec<Exchange>,
    /// Flags other than TLABs'.
    flags: Vec<Change>,
}

impl Plan {
    /// Looks at the JVM.
    pub(crate) fn make(mut options: Options, when: When, ground: Ground) -> Result<Plan, String> {
        let Ground { machine, cpu_source, maps, control, mut remarks } = ground;
        let begin = Instant::now();
        let jvm = Jvm::find(options.try_unknown).map_err(|refusal| refusal.to_string())?;
        let (version, collector, took) = (&jvm.version, jvm.collector.name(), begin.elapsed().as_micros());
        say(Severity::Debug, &format!("JDK {version}, {collector}: found in {took} us"));
        if let Some(line) = jvm.collector.only_observed() {
            observe_only(&mut options, &jvm, control, &mut remarks, line)?;
        } else if !tlab::are_used(&jvm) && !options.levels_asked {
            // Compiled code of such a JVM takes memory from eden by itself; buffers would put a call into its way.
            options.levels = Levels::None;
            control.set_message("-XX:-UseTLAB: no buffers; specify levels=core to use them anyway");
        }
        if !options.observes() {
            // What had to be assumed decides where buffers are shared.
            remarks.splice(..0, machine.remarks().iter().cloned());
        }
        let (shape, tlabs) = asked(&jvm, &options, when, &mut remarks)?;
        // Tried now, because what is set for the heap's construction cannot be taken back afterwards. The entries are those of any
        // hierarchy.
        let hooks = hooks::exchanges::<&HeapSource>(&jvm.functions, jvm.hooks);
        drop(Unlocked::of(&hooks).map_err(|error| error.to_string())?);
        let mut flags = Vec::new();
        if !options.observes()
            && jvm.flags.boolean("EpsilonElasticTLAB") == Some(true)
            && jvm.flags.boolean("UseEpsilonGC") == Some(true)
        {
            let change = jvm.flags.boolean_change("EpsilonElasticTLAB", false);
            flags.push(change.map_err(|error| error.to_string())?);
        }
        let inline = options.levels != Levels::None && !tlab::are_used(&jvm) && when == When::Load;
        let early: Vec<Exchange> = (jvm.functions.supports_inline_contig_alloc.iter())
            .filter(|_| inline)
            .map(|slot| slot.exchange_for(hooks::supports_inline_contig_alloc))
            .collect();
        drop(Unlocked::of(&early).map_err(|error| error.to_string())?);
        let layouts = maps.iter().map(|map| hierarchy::layout(&machine, map, options.exact)).collect();
        Ok(Plan {
            options,
            control,
            jvm,
            machine,
            cpu_source,
            maps,
            layouts,
            shape,
            tlabs,
            remarks,
            early,
            flags,
        })
    }

    /// Refuses what a later installation in this JVM would be refused for: its options, or `libjvm.so` replaced meanwhile.
    pub(crate) fn check(&self, options: &Options, when: When) -> Result<(), String> {
        Library::find().and_then(|library| library.symbols()).map_err(|refusal| refusal.to_string())?;
        let (feature, version) = (self.jvm.feature, &self.jvm.version);
        feature.check(version, options.try_unknown).map_err(|refusal| refusal.to_string())?;
        check_number()?;
        asked(&self.jvm, options, when, &mut Vec::new()).map(drop)
    }

    /// Flags that it sets.
    fn changes(&self) -> impl Iterator<Item = &Change> {
        self.flags.iter().chain(&self.tlabs.changes)
    }

    /// Sets what the heap's construction reads. Before it, on the only thread; on attach, when everything else is in place.
    pub(crate) fn commit(&self) {
        for change in self.changes() {
            // SAFETY: in Agent_OnLoad one thread runs, and the heap's construction reads the flags later. On attach TLABSize and MinTLABSize
            // are read when a thread starts, ResizeTLAB at a collection, EpsilonElasticTLAB at a request: any mixture is a right one.
            unsafe { change.apply() };
        }
        if let Ok(unlocked) = Unlocked::of(&self.early) {
            // Without it compiled code takes memory from eden past the buffers, which is as sound.
            // SAFETY: `exchange_for` has paired the types; the agent is never unloaded.
            let _ = unsafe { unlocked.exchange() };
        }
    }

    /// Sets the flags back, from VMInit on. What the heap's construction has read by now stays: TLABs of the size asked for until the
    /// first collection, and no inlined allocation in a JVM without TLABs.
    pub(crate) fn revert(&self) {
        for change in self.changes() {
            // SAFETY: from VMInit on: as on attach, see `commit`.
            unsafe { change.revert() };
        }
    }
}

/// A collector without buffers: who has asked for nothing gets an observer and is told so; who insists on buffers gets the reason why not.
fn observe_only(
    options: &mut Options,
    jvm: &Jvm,
    control: &Control,
    remarks: &mut Vec<String>,
    line: &str,
) -> Result<(), String> {
    if options.insists_on_buffers() {
        jvm.collector.buffers().map_err(|refusal| refusal.to_string())?;
    }
    options.levels = Levels::None;
    // There are none that could be on.
    options.start = false;
    if options.levels_asked {
        control.set_message(line);
    } else {
        remarks.push(line.to_owned());
    }
    Ok(())
}

/// What the options ask for, unless this JVM cannot have it.
fn asked(
    jvm: &Jvm,
    options: &Options,
    when: When,
    remarks: &mut Vec<String>,
) -> Result<(Shape, Tlabs), String> {
    let shape = Shape { grain_shift: jvm.grain().trailing_zeros(), min_remainder: jvm.min_filler() };
    check_sizes(options, jvm.grain())?;
    if !options.observes() {
        check_lost()?;
        check_heap(jvm.flags.number("MaxHeapSize").unwrap_or(0), shape)?;
        check_tlab_flags(jvm, options, when)?;
    }
    Ok((shape, tlab::plan(jvm, options, when, remarks)?))
}

fn check_sizes(options: &Options, grain: usize) -> Result<(), String> {
    for (key, asked) in [("core", options.core), ("processor", options.processor)] {
        if let Asked::Bytes(bytes) = asked
            && !bytes.is_multiple_of(grain as u64)
        {
            return Err(format!("{key}={bytes}: use a multiple of ObjectAlignmentInBytes={grain}"));
        }
    }
    Ok(())
}

/// Refuses TLABs of which each would end between the places where objects may begin. HotSpot takes these flags as they are (`initial_desired_size`,
/// `G1CollectedHeap::unsafe_max_tlab_alloc`); where it allocates them itself, they lie one behind the other all the same, but a buffer counts in whole grains.
fn check_tlab_flags(jvm: &Jvm, options: &Options, when: When) -> Result<(), String> {
    let grain = jvm.grain();
    // A size of ours takes the place of the flag's before the first thread has asked.
    let is_replaced = matches!(options.tlab, Tlab::Fixed(_)) && when == When::Load;
    let in_force = ["TLABSize", "MinTLABSize"].into_iter().skip(usize::from(is_replaced));
    for name in in_force.filter(|_| tlab::are_used(jvm)) {
        if let Some(bytes) = jvm.flags.number(name)
            && !(bytes / WORD * WORD).is_multiple_of(grain)
        {
            return Err(format!(
                "{name}={bytes}: use a multiple of ObjectAlignmentInBytes={grain} (-XX:{name})"
            ));
        }
    }
    Ok(())
}

/// Refuses a heap that a buffer's word cannot name.
pub(crate) fn check_heap(bytes: usize, shape: Shape) -> Result<(), String> {
    let most = shape.max_span();
    if bytes <= most {
        return Ok(());
    }
    Err(format!(
        "a heap of {} GB is too large for terrace: use at most {} TB (-Xmx)",
        bytes >> 30,
        most.div_ceil(1 << 40)
    ))
}
