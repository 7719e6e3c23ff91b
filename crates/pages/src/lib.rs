//! Terrace: pages. Memory from the kernel on pages of a chosen kind, and what was really obtained.
//!
//! | word | meaning here | not to be confused with |
//! |---|---|---|
//! | small page | the processor's smallest page, 4 KB on x86-64 | |
//! | transparent huge page | a huge page that the kernel uses where it can and may; nobody is told | |
//! | explicit huge page | a page of a hugetlb pool that the administrator has filled | a transparent one of the same size |
//! | asked for | what a [`Policy`] says | what was obtained, which only [`Mapping::obtained`] tells |
//! | touch | write to every page so that the kernel must find memory for it | mapping, which promises addresses |
//!
//! | part | what it is |
//! |---|---|
//! | [`Mapping`], [`Policy`] | anonymous memory on pages of a kind |
//! | [`Obtained`], [`Mappings`] | bytes on pages of each kind, as the kernel counts them; its list, read once for several questions |
//! | [`resident_of_sample`] | how much of a range of another process is in memory, from some of its pages |
//! | [`Faults`] | page faults of this thread or process |
//! | [`Pool`], [`Reservation`] | the pools of explicit huge pages, and filling one for a while |
//! | [`CachedFile`] | a file mapped for reading, and whether the page cache holds it |
//! | [`zero_around_caches`] | making large ranges zero without filling the caches with them |
//!
//! ```
//! use pages::{Mapping, PageSize, Policy};
//!
//! let (mut mapping, fallback) = Mapping::or_smaller(8 << 20, Policy::Explicit(PageSize::TwoMegabytes))?;
//! if let Some(fallback) = fallback {
//!     eprintln!("{fallback}"); // what is used instead, why, and how to get what was asked for
//! }
//! mapping.touch()?;
//! assert!(mapping.obtained()?.resident() >= 8 << 20);
//! # Ok::<(), pages::Error>(())
//! ```

mod areas;
mod error;
mod fallback;
mod faults;
mod file;
mod mapping;
mod mappings;
mod obtained;
mod policy;
mod pool;
mod reservation;
mod sampled;
mod size;
#[cfg(test)]
mod test_support;
mod zero;

pub use error::{Error, Result};
pub use fallback::Fallback;
pub use faults::Faults;
pub use file::CachedFile;
pub use mapping::Mapping;
pub use mappings::Mappings;
pub use obtained::Obtained;
pub use policy::{Policy, small_page_bytes, transparent_page_bytes, transparent_setting};
pub use pool::{Pool, pools};
pub use reservation::Reservation;
pub use sampled::resident_of_sample;
pub use size::PageSize;
pub use zero::zero_around_caches;
