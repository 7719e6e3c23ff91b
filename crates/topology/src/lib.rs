//! Terrace: topology. Which CPUs there are, what they share, and which of them runs this thread.
//!
//! | word | meaning here | not to be confused with |
//! |---|---|---|
//! | [`CpuId`] | the operating system's CPU number; sparse | a position in an array |
//! | [`DomainIndex`] | dense number of a domain, counted from 0 | Linux's `core_id`, package or node number |
//! | domain | the CPUs that share a resource: a core, an L3 cache, a package, a NUMA node | the kernel's scheduling domains |
//! | core | the hardware threads with one first-level cache | a CPU, which is *one* hardware thread |
//! | processor | the L3 cache, or the package where the cache is no narrower: [`Machine::processor_kind`] | a CPU |
//!
//! - [`Machine`] is the list of CPUs this process may use, in an order in which neighbours are near.
//! - [`DomainMap`] turns a CPU number into the index of its domain: one bounds check and one load.
//! - [`Places`] says by which numbers buffers are kept, and in how many domains: CPUs, or the kernel's dense concurrency ids where
//!   the process may use less than the machine.
//! - [`CpuSource`] says which CPU runs the calling thread: a load from the thread's rseq area where there is one.
//!
//! ```
//! use topology::{CpuSource, DomainKind, Machine};
//!
//! let machine = Machine::detect();
//! let cores = machine.domains(DomainKind::Core);
//! let source = CpuSource::detect();
//! let mine = cores.of(source.current());
//! assert!(mine.index() < cores.count());
//! ```
//!
//! # CPUs that come and go
//!
//! A [`Machine`] is a picture of one moment. CPUs that are offline then are left out (the kernel removes their topology
//! folder, and `sched_getaffinity` does not name them). When such a CPU is switched on later, or the affinity is widened,
//! threads turn up on CPUs that the picture lacks. [`DomainMap::of`] gives them the valid domain `id % count`: correct,
//! perhaps not the nearest. A CPU that goes offline merely leaves its domain unused. Detect again to see the change.

mod affinity;
pub mod cgroup;
mod cpu_list;
mod domain;
mod error;
mod fake;
mod id;
mod machine;
mod places;
mod rseq;
mod source;
mod sysfs;
#[cfg(test)]
mod test_support;
mod thread_name;

pub use cpu_list::parse_cpu_list;
pub use domain::{DomainKind, DomainMap};
pub use error::Error;
pub use fake::Fake;
pub use id::{CPU_LIMIT, CpuId, DomainIndex};
pub use machine::{Cpu, Machine};
pub use places::Places;
pub use rseq::RseqArea;
pub use source::CpuSource;
pub use thread_name::own_thread_name;
