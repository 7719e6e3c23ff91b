//! What was seen of a JVM, as numbers: all that a rule may rest on.

use crate::causes::Causes;
use jvm::large_objects::LargeObjects;
use jvm::vm_flags::VmFlags;
use serde::Serialize;

/// The collector that works on the heap while threads run, and takes its lock for each request.
pub(crate) const SHENANDOAH: &str = "Shenandoah";

/// One JVM over one stretch of time. What could not be seen is `None`, and `missing` says why.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Evidence {
    pub jvm: Jvm,
    /// Seconds watched.
    pub seconds: f64,
    /// CPU-seconds of the program's own threads.
    pub application_cpu: Option<f64>,
    /// CPU-seconds of collectors.
    pub collector_cpu: Option<f64>,
    /// Of these, CPU-seconds of threads that mostly collect while the program runs.
    pub concurrent_cpu: Option<f64>,
    /// CPU-seconds of all threads, the compilers' with them.
    pub process_cpu: Option<f64>,
    pub eden: Eden,
    pub allocation: Option<Allocation>,
    /// Whether no thread asked the heap for memory, so that there is nothing to say of it.
    pub allocated_nothing: bool,
    /// Terrace's own buffers, where the JVM has them.
    pub terrace: Option<Buffers>,
    pub refills: Option<Refills>,
    /// Objects of more than 512 KB that threads asked for outside TLABs: all of those that G1 may have to give regions of their own. `None` where nobody counted.
    pub large_objects: Option<LargeObjects>,
    pub threads: Threads,
    pub memory: Memory,
    pub machine: CpuLimits,
    /// `None` on one node.
    pub placement: Option<Placement>,
    /// Times that threads were moved to another CPU.
    pub migrations: Option<u64>,
    pub costs: Costs,
    /// What could not be seen, with the remedy.
    pub missing: Vec<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Jvm {
    pub pid: u32,
    /// As the JVM says it.
    pub version: String,
    /// Serial, Parallel, G1, [`SHENANDOAH`], Z or Epsilon.
    pub collector: String,
    #[serde(skip)]
    pub flags: VmFlags,
    /// Its options for HotSpot (`-X`, `-XX`), in its own order; others may hold passwords. `None` where they cannot be read.
    pub options: Option<Vec<String>>,
}

impl Jvm {
    /// Its feature release: 8, 11, 17. `None` where the version is not known.
    pub fn feature(&self) -> Option<u32> {
        let mut numbers = self.version.split(|sign: char| !sign.is_ascii_digit()).map(str::parse);
        match numbers.next()?.ok()? {
            // 1.8.0 and before.
            1 => numbers.next()?.ok(),
            number => Some(number),
        }
    }

    /// Whether Terrace's buffers can be put there: ZGC is only observed.
    pub fn takes_buffers(&self) -> bool {
        self.collector != "Z"
    }
}

/// The space that threads allocate from, and its collections.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Eden {
    /// Bytes used up from one collection to the next: eden's capacity when watching ended.
    pub bytes: Option<f64>,
    /// The same as it was on average while it was watched.
    pub mean_bytes: Option<f64>,
    /// The young generation's capacity then: eden, and the survivor spaces.
    pub young_bytes: Option<f64>,
    /// The most that the young generation may grow to.
    pub most_bytes: Option<f64>,
    pub collections: Option<u64>,
    /// Whether what is counted so are phases of concurrent collections, several of each.
    pub phases: bool,
    /// Why they came.
    pub causes: Causes,
    /// Why those of the whole heap came.
    pub full_causes: Causes,
    /// Seconds in which all threads stood still, or were about to, for whatever reason but those of `stopped_by_dumps`.
    pub stopped: Option<f64>,
    /// Of these, seconds for collections.
    pub collecting: Option<f64>,
    /// Seconds for which the doctor's own thread dumps stopped them.
    pub stopped_by_dumps: Option<f64>,
    /// The same by what was collected; `None` where the collector counts phases, or nobody counted.
    pub pauses: Option<Pauses>,
    /// What rare collections of the whole heap took before and while it was watched. `None` where [`Eden::pauses`] is.
    pub since_start: Option<SinceStart>,
}

/// Collections of the whole heap since the JVM's start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SinceStart {
    /// Since the process began.
    pub seconds: f64,
    /// Seconds in which they stopped all threads.
    pub full: f64,
    /// How many came.
    pub full_count: u64,
}

impl SinceStart {
    /// Share of the time.
    pub fn full_share(&self) -> f64 {
        if self.seconds > 0.0 { (self.full / self.seconds).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// Seconds in which all threads stood still, or were about to, for collections of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Pauses {
    /// Of the young generation, G1's mixed ones with it.
    pub young: f64,
    /// How many of these came.
    pub young_count: u64,
    /// Of the whole heap.
    pub full: f64,
    /// How many of these came.
    pub full_count: u64,
    /// Of G1's concurrent cycle.
    pub concurrent: f64,
}

/// Where eden went, in bytes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Allocation {
    /// Handed out to threads: TLABs, and objects outside of them.
    pub used: f64,
    /// What objects took of it.
    pub objects: f64,
    /// Of the TLABs of threads that ended.
    pub waste_ended: f64,
    /// Of the TLABs of all threads when a collection came.
    pub waste_collection: f64,
    /// Of TLABs that were given up for a new one.
    pub waste_refill: f64,
    /// Of Terrace's buffers.
    pub waste_buffers: f64,
    /// Where nobody counted what was lost at collections and refills, or no thread came or went.
    pub waste_unknown: f64,
    /// Left in the TLABs of new threads that stay, which may still use it.
    pub held: f64,
    /// Bytes that an ended thread had allocated, on average. `None` when none ended.
    pub of_ended_thread: Option<f64>,
}

impl Allocation {
    pub fn waste(&self) -> f64 {
        self.waste_ended + self.waste_collection + self.waste_refill + self.waste_buffers + self.waste_unknown
    }
}

/// What Terrace's buffers did meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Buffers {
    /// `core`, `processor` or `core+processor`.
    pub levels: String,
    /// When watching ended.
    pub on: bool,
    /// TLABs and single objects that threads asked for.
    pub requests: u64,
    /// Requests to the heap that all threads share: the buffers' own, and what passed them.
    pub to_heap: u64,
    /// Bytes reserved and never allocated.
    pub waste: f64,
}

impl Buffers {
    /// Of the threads' requests those that did not reach the heap.
    pub fn saved_share(&self) -> Option<f64> {
        (self.requests > 0).then(|| (1.0 - self.to_heap as f64 / self.requests as f64).max(0.0))
    }
}

/// Requests to the heap that all threads share.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Refills {
    /// TLABs, by the way that HotSpot took.
    pub quick: Times,
    /// For which HotSpot took a lock, without the time of those that waited long for it.
    pub locked: Times,
    /// That time: others worked meanwhile, or no CPU was to be had, so that it is no cost of the program's.
    pub waited_ns: f64,
    /// That waited for a collection.
    pub collecting: Times,
    /// Objects outside TLABs, without a collection.
    pub objects: Times,
}

/// How long requests took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Times {
    pub count: u64,
    /// Of these, how many were timed; they stand for the others.
    pub timed: u64,
    /// Of all; but for those that waited for a collection, without what took longer than work can take: the thread had lost its CPU.
    pub total_ns: f64,
    /// Nine of ten took longer: what one takes that nobody disturbs.
    pub p10_ns: f64,
    pub p50_ns: f64,
    pub p99_ns: f64,
    pub max_ns: f64,
}

impl Times {
    /// Seconds that would be gained if each took what the quickest tenth takes.
    pub fn avoidable_seconds(&self) -> f64 {
        (self.total_ns - self.count as f64 * self.p10_ns).max(0.0) / 1e9
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Threads {
    /// Java threads alive when watching ended.
    pub alive: Option<u64>,
    /// Started meanwhile.
    pub started: Option<u64>,
    /// Ended meanwhile.
    pub ended: Option<u64>,
    /// That had a TLAB between two collections.
    pub allocating: Option<u64>,
    /// Of those that started: the share that native code has attached, estimated from the threads that the looks have met and whose frames tell.
    pub attached: Option<f64>,
    /// Of the threads that came or went, the shares of their names, the largest first: counted where an observer has seen their first TLABs, otherwise estimated from those that the
    /// looks have met. Their unused TLAB space is what ended threads leave.
    pub short_lived: Vec<ShortLived>,
    /// Who allocates, the most first: threads alive when watching ended.
    pub groups: Vec<Group>,
    /// Bytes that threads allocated that had ended by then: what objects took without the groups'. Their names nobody has seen.
    pub of_ended: Option<u64>,
}

impl Threads {
    /// Of the threads that came or went, those that left the rest of a TLAB behind: who came and stays still has his. `None` where there were none, or
    /// nobody counted.
    pub fn ended_share(&self) -> Option<f64> {
        let (ended, all) = (self.ended?, self.started?.max(self.ended?));
        (all > 0).then(|| ended as f64 / all as f64)
    }
}

/// Threads that come and go, whose names differ in numbers only.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShortLived {
    pub name: String,
    /// Of all that come and go.
    pub share: f64,
    /// Whether threads that stay are called so, too: a native thread keeps the name of the one that has started it.
    pub is_of_others: bool,
    /// Their part of [`Allocation::waste_ended`], in bytes, where each leaves as much.
    pub unused: Option<f64>,
}

/// Threads whose names differ in numbers only.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Group {
    pub name: String,
    /// Alive at the end.
    pub threads: u64,
    /// Bytes that they allocated meanwhile.
    pub bytes: u64,
    /// Their part of [`Allocation::waste_collection`], and of [`Allocation::waste_refill`], in bytes. `None` where nobody has seen whose TLABs those were.
    pub waste_collection: Option<f64>,
    pub waste_refill: Option<f64>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct Memory {
    /// Bytes of private memory that are resident.
    pub resident: Option<u64>,
    /// Bytes that are resident and no file's, shared memory as ZGC's heap with them.
    pub anonymous: Option<u64>,
    /// Of these on huge pages.
    pub huge: Option<u64>,
    /// `always`, `madvise` or `never`.
    pub transparent: Option<String>,
    /// Page faults that read nothing from a disk: pages touched for the first time, and others.
    pub first_touches: Option<u64>,
    /// Bytes by which anonymous memory that is resident has grown meanwhile; negative where it has shrunk.
    pub grown: Option<i64>,
    /// Bytes that the process could still get from the machine, and from its control group. `None` where the group's limit cannot be seen.
    pub available: Option<u64>,
    /// Bytes that the heap is committed to, and of these in use when the last collection ended, without eden, which has filled since.
    pub heap_committed: Option<u64>,
    pub heap_used: Option<u64>,
    /// Bytes of the heap that are resident, whatever is in use. `None` where the JVM does not say where its heap is.
    pub heap_resident: Option<u64>,
    /// Bytes of the heap that have become resident meanwhile: the rest of `grown` is native memory. `None` as for `heap_resident`.
    pub heap_touched: Option<u64>,
    /// Bytes by which its old generation may still grow.
    pub growth_left: Option<u64>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct CpuLimits {
    /// CPUs that the process may use.
    pub cpus: usize,
    /// CPUs of the machine.
    pub online: Option<usize>,
    /// CPUs of its control group, by their numbers; `None` where that cannot be seen.
    pub cpuset: Option<String>,
    /// Memory nodes with CPUs.
    pub nodes: usize,
    /// CPUs' worth of time that its control group may use.
    pub quota: Option<f64>,
    /// Whether it may have a quota that cannot be seen from here.
    pub may_have_quota: bool,
    /// Share of the periods in which the quota held the process back.
    pub throttled: Option<f64>,
    /// CPU-seconds for which it held threads of this process back that could run.
    pub held_back: Option<f64>,
}

/// Where threads and memory of a process are, on a machine with several nodes. Shares for each node, in their order.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Placement {
    /// Of its private memory, as seen from where its threads ran: on another node.
    pub remote: f64,
    pub pages: Vec<f64>,
    /// Of the CPU time.
    pub threads: Vec<f64>,
}

/// What things cost on this machine, measured before watching.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Costs {
    /// A compare-and-swap of a word that one thread has for itself.
    pub alone_ns: f64,
    /// Until one succeeds where the CPUs that the process may use, 16 at most, share the word, as they share the top of the heap; `None` with one CPU.
    pub contended_ns: Option<f64>,
    /// To zero a byte of memory that was touched before.
    pub zero_ns: f64,
    /// To touch a small page for the first time.
    pub first_touch_ns: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_begins_with_its_feature_release() {
        let feature = |version: &str| Jvm { version: version.into(), ..Jvm::default() }.feature();
        let known = ["25", "17.0.15+6", "11.0.33", "1.8.0_492-b09", "28-ea"].map(feature);
        assert_eq!(known, [25, 17, 11, 8, 28].map(Some));
        assert_eq!(["", "of unknown version", "1"].map(feature), [None; 3]);
    }
}
