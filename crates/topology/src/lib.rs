//! Terrace: topology. Which CPUs there are, what they share, and which of them runs this thread.

mod cpu_list;
mod error;
mod id;

pub use cpu_list::parse_cpu_list;
pub use error::Error;
pub use id::{CPU_LIMIT, CpuId, DomainIndex};
