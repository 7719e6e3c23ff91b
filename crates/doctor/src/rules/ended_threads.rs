//! Threads that end leave the rest of their TLABs unused.

use super::room::{self, FilledEden};
use super::young_generation;
use crate::evidence::{Allocation, Evidence, ShortLived};
use crate::finding::{Advice, Effect, Found, Remedy, Rule, Sure};
use crate::need::{FEWEST_ENDED, Need};
use crate::short_lived::MOSTLY;
use jvm::vm_flags::VmFlags;
use present::numbers::{bytes, count, human, share, significant};

/// Less of eden than this is no trouble.
const LEAST_SHARE: f64 = 0.05;
/// A first TLAB that HotSpot accepts and nearly every short thread fits.
const FIRST_TLAB: f64 = 4096.0;
/// With Terrace a thread's first TLAB, the least of all others, and the most of them as a part of what the thread has allocated
/// (docs/decisions/growing-tlab.md).
const FIRST_OF_TERRACE: f64 = 2048.0;
const LEAST_OF_TERRACE: f64 = 4096.0;
const PART_OF_TERRACE: f64 = 4.0;
/// Terrace serves requests up to this size as they are, and all requests where one of these flags was chosen.
const SMALL_OF_TERRACE: f64 = 8192.0;
/// Small first TLABs do not pay where they save a smaller share of the time, or less than so many nanoseconds of a CPU for each byte allocated: Terrace
/// leaves them to HotSpot then, and a server with a thread for each connection did 0.965 of the work with `-XX:TLABSize=4k` (docs/results/advice.md).
const LEAST_GAIN: f64 = 0.005;
const NS_FOR_BYTE: f64 = 0.2;
/// Kinds of threads that are named, and the least share of each.
const MOST_NAMES: usize = 2;
const LEAST_NAMED: f64 = 0.1;
const NEARLY_ALL: f64 = 0.99;
const CHOSEN: [&str; 3] = ["TLABSize", "ResizeTLAB", "MinTLABSize"];

pub const RULE: Rule = Rule {
    name: "ended threads",
    source: "HotSpot: ThreadLocalAllocBuffer::initial_desired_size, JavaThread::exit; docs/results.md, workload churn",
    needs: |_| &[Need::EndedThreads],
    examine,
};

fn examine(evidence: &Evidence) -> Option<Found> {
    let allocation = evidence.allocation.as_ref()?;
    let ended = evidence.threads.ended? as f64;
    let lost = allocation.waste_ended / allocation.used;
    if lost < LEAST_SHARE || ended / evidence.seconds < FEWEST_ENDED {
        return None;
    }
    let own = allocation.of_ended_thread?;
    let text = format!(
        "{} threads/s{} each use {} of a first TLAB of {}; {} of eden is unused{}.",
        count(ended / evidence.seconds),
        named(&evidence.threads.short_lived),
        human(own),
        human((allocation.waste_ended / ended) + own),
        share(lost),
        caused(evidence, allocation),
    );
    let text = match room::of_filled_eden(evidence) {
        FilledEden::Fits(sentence) => text + &sentence,
        FilledEden::Lacks(sentence) => {
            return Some(Found { evidence: text + &sentence, advice: vec![without_room(evidence)] });
        }
    };
    let reserve = reserve(&evidence.jvm.flags);
    let mut advice = Vec::new();
    let flags = &evidence.jvm.flags;
    // HotSpot does not start with a TLAB below its least one, and keeps every thread's at this size where it does not resize.
    let accepted = flags.number("MinTLABSize").is_none_or(|least| least as f64 <= FIRST_TLAB);
    let resizes = flags.get("ResizeTLAB").is_none_or(|flag| flag.value == "true");
    let with_flag = used(allocation, ended * unused_of_fixed(own, FIRST_TLAB, reserve));
    let stopped = evidence.full_eden_share();
    // A concurrent collector works while threads run, which they notice where CPUs are busy.
    let concurrent = evidence.collector_cpu.filter(|_| evidence.is_busy());
    let concurrent = concurrent.map_or(0.0, |cpu| cpu / evidence.usable_seconds());
    let collecting = stopped.map(|share| share.max(concurrent));
    if !flags.is_chosen("TLABSize")
        && accepted
        && resizes
        && pays(evidence, allocation, with_flag, collecting)
    {
        advice.push(Advice {
            remedy: Remedy::flag(format!("-XX:TLABSize={}", bytes(FIRST_TLAB))),
            effect: effect(evidence, with_flag),
            note: "a new thread's first TLAB only; HotSpot resizes those of threads that stay",
        });
    }
    let (what, note) = match evidence.threads.attached {
        Some(share) if share > MOSTLY => (
            "do not detach native threads",
            "attach each once (AttachCurrentThreadAsDaemon), and keep it attached; this also saves attaching",
        ),
        Some(_) => (
            "use a pool of threads",
            "or virtual threads; it also saves starting threads, which is not predicted",
        ),
        // Threads that live for microseconds are rarely seen alive, and the ended ones do not tell who started them.
        None => (
            "use a pool of threads",
            "or virtual threads; attached by native code: do not detach native threads",
        ),
    };
    advice.push(Advice {
        remedy: Remedy::Program(what.into()),
        effect: effect(evidence, used(allocation, 0.0)),
        note,
    });
    let chosen = CHOSEN.iter().any(|name| evidence.jvm.flags.is_chosen(name));
    let with_terrace = used(allocation, ended * unused_of_growing(own, reserve));
    let pays = pays(evidence, allocation, with_terrace, stopped);
    if !chosen && pays && allocation.waste_ended / ended + own > SMALL_OF_TERRACE {
        advice.push(Advice {
            remedy: Remedy::Terrace(vec![]),
            effect: effect(evidence, with_terrace),
            note: "helps a running JVM, without a restart",
        });
    }
    Some(Found { evidence: text, advice })
}

/// Which threads these are.
fn named(short_lived: &[ShortLived]) -> String {
    let named: Vec<&ShortLived> =
        short_lived.iter().take(MOST_NAMES).filter(|group| group.share >= LEAST_NAMED).collect();
    let names: Vec<String> =
        named.iter().map(|group| format!("{} {}", share(group.share), group.name)).collect();
    // A native thread has the name of the one that has started it.
    let may_be_inherited = named.iter().any(|group| group.is_of_others);
    match (named.as_slice(), may_be_inherited) {
        ([], _) => String::new(),
        // A share of all would say nothing.
        ([only], true) if only.share >= NEARLY_ALL => {
            format!(
                " (named {} by the kernel, possibly inherited from the thread that started them)",
                only.name
            )
        }
        ([only], false) if only.share >= NEARLY_ALL => format!(" (named {})", only.name),
        (_, true) => format!(" (by kernel name, possibly inherited: {})", names.join(", ")),
        (_, false) => format!(" (by name: {})", names.join(", ")),
    }
}

/// The collections that this causes.
fn caused(evidence: &Evidence, allocation: &Allocation) -> String {
    let all = evidence.collections_a_second().filter(|rate| *rate > 0.0 && !evidence.eden.phases);
    all.map_or(String::new(), |all| {
        let saved = all * (1.0 - evidence.collections_using(used(allocation, 0.0)));
        format!(", which causes {} of {} collections/s", significant(saved), significant(all))
    })
}

/// An eden that objects fill is resident as a whole, whoever saves the rest of the TLABs: a control group's limit would end the process. One that is too
/// small already is not to become smaller.
fn without_room(evidence: &Evidence) -> Advice {
    let is_too_small = (young_generation::RULE.examine)(evidence).is_some();
    let room = if is_too_small { "more memory" } else { "a smaller young generation (-Xmn) or more memory" };
    Advice {
        remedy: Remedy::Program(format!("{room}, and then -XX:TLABSize=4k or a pool of threads")),
        effect: Effect::default(),
        note: "what ended threads leave unused is not touched, and takes no memory now",
    }
}

/// Whether fewer collections, which take such a share of the time, save more than small TLABs cost a thread that allocates densely. Where nobody knows
/// that share it is not ruled out.
fn pays(evidence: &Evidence, allocation: &Allocation, used: f64, collecting: Option<f64>) -> bool {
    // Of the threads' own time, as pauses are: on a machine with many CPUs one busy thread pays as much as on a small one.
    let own = evidence.application_cpu.filter(|cpu| *cpu > 0.0);
    let dense = allocation.objects * NS_FOR_BYTE / 1e9 / own.unwrap_or_else(|| evidence.usable_seconds());
    let left = evidence.full_eden_using(used);
    collecting.is_none_or(|share| share * (1.0 - left) >= LEAST_GAIN + dense)
}

/// Bytes at a TLAB's end that hold no objects: what the processor may fetch ahead (HotSpot 17 to 25,
/// `ThreadLocalAllocBuffer::startup_initialization`).
fn reserve(flags: &VmFlags) -> f64 {
    let number = |name: &str| flags.number(name).unwrap_or(0) as f64;
    let lines = number("AllocatePrefetchLines").max(number("AllocateInstancePrefetchLines")) + 2.0;
    number("AllocatePrefetchDistance") + number("AllocatePrefetchStepSize") * lines
}

/// What an ended thread leaves when each TLAB has `size` bytes, `reserve` of them at its end, and a thread allocates `own`.
fn unused_of_fixed(own: f64, size: f64, reserve: f64) -> f64 {
    // Threads do not all allocate the same: of many TLABs the last one is half used, of few it is as the mean has it.
    const MANY: f64 = 4.0;
    let needed = own / (size - reserve).max(size / 8.0);
    let number = if needed > MANY { needed + 0.5 } else { needed.ceil().max(1.0) };
    number * size - own
}

/// The same for Terrace's TLABs: a small first one, then a quarter of what the thread has allocated.
fn unused_of_growing(own: f64, reserve: f64) -> f64 {
    let (mut taken, mut held) = (0.0, 0.0);
    while held < own || taken == 0.0 {
        let least = if taken == 0.0 { FIRST_OF_TERRACE } else { LEAST_OF_TERRACE };
        let size = least.max(held / PART_OF_TERRACE);
        taken += size;
        held += (size - reserve).max(size / 8.0);
    }
    taken - own
}

/// How much of eden is used up for the same work, as a ratio to now, when ended threads leave so many bytes instead.
fn used(allocation: &Allocation, ended: f64) -> f64 {
    let kept = (allocation.used - allocation.waste_ended).max(allocation.objects);
    ((kept + ended.min(allocation.waste_ended)) / allocation.used).min(1.0)
}

fn effect(evidence: &Evidence, used: f64) -> Effect {
    let saved = evidence.saved_by_fewer_collections(evidence.full_eden_using(used));
    evidence.effect(Some(evidence.collections_using(used)), saved, Sure::Counted)
}

#[cfg(test)]
mod tests {
    use super::super::sick::{churning, healthy};
    use super::*;

    #[test]
    fn threads_that_leave_eden_unused_are_named_with_what_they_bring() {
        let found = |names: &[(&str, f64)]| {
            let mut evidence = healthy();
            churning(&mut evidence);
            evidence.eden.collections = Some(50);
            let group = |(name, share): &(&str, f64)| ShortLived {
                name: (*name).into(),
                share: *share,
                is_of_others: *name == "driver-N",
                unused: None,
            };
            evidence.threads.short_lived = names.iter().map(group).collect();
            examine(&evidence).unwrap().evidence
        };
        let text = found(&[("Thread-N", 1.0)]);
        assert!(
            text.starts_with("1.00 k threads/s (named Thread-N) each use 3.00 kB of a first TLAB"),
            "{text}"
        );
        assert!(text.contains("99.6 % of eden is unused, which causes 4.98 of 5 collections/s."), "{text}");
        let text = found(&[("http-N", 0.75), ("Thread-N", 0.2), ("x", 0.05)]);
        assert!(text.contains("threads/s (by name: 75 % http-N, 20 % Thread-N) each use"), "{text}");
        let text = found(&[("driver-N", 0.995), ("x", 0.005)]);
        assert!(
            text.contains(
                "threads/s (named driver-N by the kernel, possibly inherited from the thread that started"
            ),
            "{text}"
        );
        let text = found(&[("driver-N", 0.6), ("x", 0.4)]);
        assert!(text.contains("(by kernel name, possibly inherited: 60 % driver-N, 40 % x)"), "{text}");
        assert!(found(&[]).starts_with("1.00 k threads/s each use"));
        assert!(found(&[("a", 0.05); 20]).starts_with("1.00 k threads/s each use"), "no name tells much");
    }

    #[test]
    fn the_end_of_a_tlab_is_as_hotspot_has_it() {
        let line = |name: &str, value: u32| format!("int {name} = {value} {{product}} {{default}}\n");
        let flags = [
            ("AllocatePrefetchDistance", 256),
            ("AllocatePrefetchStepSize", 64),
            ("AllocatePrefetchLines", 3),
        ];
        let text: String = flags.iter().map(|(name, value)| line(name, *value)).collect();
        assert_eq!((reserve(&VmFlags::parse(&text)), reserve(&VmFlags::default())), (576.0, 0.0));
    }

    #[test]
    fn what_threads_leave_follows_from_what_they_allocate() {
        assert_eq!(unused_of_fixed(1000.0, 4096.0, 0.0), 3096.0);
        assert_eq!(unused_of_fixed(5000.0, 4096.0, 0.0), 3192.0);
        assert_eq!(unused_of_fixed(1e6, 4096.0, 0.0), 2048.0);
        assert_eq!(unused_of_growing(1000.0, 0.0), 1048.0);
        assert_eq!(unused_of_growing(5000.0, 0.0), 1144.0);
        // Of 2 KB, four of 4 KB, and one of a quarter of them.
        assert_eq!(unused_of_growing(23_000.0, 0.0), 23_040.0 - 23_000.0);
        // What fits 4 KB but for the end of it takes two TLABs.
        assert_eq!(unused_of_fixed(4080.0, 4096.0, 576.0), 2.0 * 4096.0 - 4080.0);
        assert_eq!(unused_of_growing(1400.0, 576.0), 2048.0 - 1400.0);
        assert_eq!(unused_of_growing(1500.0, 576.0), 6144.0 - 1500.0);
    }
}
