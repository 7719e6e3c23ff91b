//! What a comparison found: the JSON that is printed and kept. The field `schema` changes when a field changes meaning.

use crate::estimate::Estimate;
use crate::latency::Latency;
use crate::machine::Host;
use jvm::counts::{Requests, Waste};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use statistics::{Interval, Verdict};

/// The number of this layout. 1 had, for windows in one process, medians of pairs of windows in `ratio`, and the CPU time of
/// the whole process in `ratio_cpu`; such files are still read.
pub const SCHEMA: u32 = 2;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonResult {
    pub schema: u32,
    /// The version of terrace.
    pub terrace: String,
    /// What is taken for progress: the workload's operation, or `bytes allocated`.
    pub metric: String,
    /// What throughput is counted in: `operations/s`, `bytes/s` or `runs/s`.
    pub unit: String,
    /// `process` or `forks`.
    pub mode: String,
    /// Pairs that the ratios rest on.
    pub pairs: usize,
    /// Side a over side b, each second.
    pub ratio: Interval,
    /// Side a over side b, each CPU-second: of the application's own threads in process mode, of the whole process in forks.
    /// `null` when CPU time could not be read; a note says so.
    pub ratio_cpu: Option<Interval>,
    /// Of windows in one process: what `ratio` and `ratio_cpu` rest on, and what trimming left out. `null` for forks.
    #[serde(default)]
    pub estimate: Option<Estimate>,
    /// Heap used up for the same work, a over b, which is what collections come to in an eden of the same size. `null` when not known on a
    /// side.
    #[serde(default)]
    pub heap_use: Option<Interval>,
    /// Collections for the same work, a over b. `null` when not known on a side, or none happened on side b.
    pub collections_ratio: Option<f64>,
    /// What the interval permits to say of side a: that of work per second, or per CPU-second where both sides ran at the same time.
    pub verdict: Verdict,
    pub sides: Sides,
    /// Times of operations in windows; `null` where they are not told apart.
    #[serde(default)]
    pub latency: Option<Latency>,
    /// What a workload says of the whole of its measured time, both sides, on its last line, but for `stretches`; `null` for forks, and for programs
    /// that say nothing.
    #[serde(default)]
    pub report: Option<Value>,
    pub method: Method,
    pub machine: Host,
    pub jdk: String,
    /// The command, as it was started for side a.
    pub command: String,
    /// What a reader must know to judge the numbers, each with its remedy.
    pub notes: Vec<String>,
    /// The pairs' ratios in the order in which they were measured; of windows in one process, for each second outside of stops.
    pub ratios: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sides {
    /// The one in question.
    pub a: Side,
    /// The one that it is compared with.
    pub b: Side,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    pub name: String,
    /// The agent's settings in force, as it reported them itself; `null` when it was not loaded.
    pub settings: Value,
    /// The JVM's flags that we gave.
    pub flags: Vec<String>,
    /// Each second.
    pub throughput: Interval,
    /// Of each window or fork, each second, in the order in which they were measured.
    #[serde(default)]
    pub rates: Vec<f64>,
    /// Each CPU-second.
    pub throughput_cpu: Option<Interval>,
    /// Collections in the measured time; `null` when not known.
    pub collections: Option<u64>,
    /// Work that collections are counted for, in `collections_unit`; `null` where none could be read.
    #[serde(default)]
    pub work: Option<f64>,
    /// Collections for each `collections_unit` of work.
    pub collections_rate: Option<f64>,
    /// `million operations`, `GB` or `run`.
    pub collections_unit: String,
    /// Bytes of the heap that were used up in the measured time, where each measure is a process of its own; `null` when not known.
    #[serde(default)]
    pub heap_used: Option<f64>,
    /// Time in collections; `null` when not known.
    pub collection_seconds: Option<f64>,
    /// Waste of the agent's buffers by cause; `null` when it was not loaded.
    pub waste: Option<Waste>,
    /// Requests to the agent's buffers and how they were served; `null` when it was not loaded.
    #[serde(default)]
    pub requests: Option<Requests>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// Seconds measured, in all.
    pub seconds: f64,
    /// Seconds of warm-up of each JVM.
    pub warmup_seconds: f64,
    /// A window's length, in process mode.
    pub window_ms: Option<f64>,
    /// What is not counted of it.
    pub skip_ms: Option<f64>,
    /// A fork's measured length, in fork mode.
    pub fork_seconds: Option<f64>,
    /// Whether the forks of a pair ran one after the other (`interleaved`) or at the same time (`concurrent`), in fork mode.
    #[serde(default)]
    pub schedule: Option<String>,
    /// Half of the interval's width that was asked for, as a share; `null` when the time was fixed.
    #[serde(default)]
    pub precision: Option<f64>,
    /// The seed of order and resampling.
    pub seed: u64,
    /// Resamples of the bootstrap.
    pub resamples: usize,
}
