//! Hierarchical allocation buffers: the levels between a thread's buffer and the heap that all threads share.
//!
//! The idea is Kirsch, Payer and Röck's ("Hierarchical PLABs, CLABs, TLABs in Hotspot", ICONS 2012). This crate is the
//! algorithm alone: it knows no operating system, no virtual machine and no clock, and it never touches the memory that it
//! hands out. Who uses it supplies the heap as a [`Source`] and names the CPU of each request.
//!
//! | part | what it is |
//! |---|---|
//! | [`Extent`] | a half-open range of addresses |
//! | [`Source`] | what supplies extents and takes tails back |
//! | [`Buffer`] | one extent being handed out, in one atomic word |
//! | [`Level`] | a buffer for each domain over an upper source; itself a source |
//! | [`Request`] | what is asked of a level, and how far the level goes for it |
//! | [`Shape`] | the alignment and the smallest filler that every cut has to respect |
//! | [`sizing`] | how large a buffer should be |
//! | [`adaptive`] | the same by what is seen at collections |
//! | [`Counters`] | what happened, for each domain |
//! | [`atomics`] | what the words are made of: the processor's atomics, or those of a simulator or model checker |
//!
//! All sizes and addresses are in **bytes**.
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod adaptive;
pub mod atomics;
mod buffer;
mod counters;
mod cut;
mod extent;
mod level;
mod request;
pub mod sizing;
mod source;

pub use buffer::{Access, Buffer, Private, Shared, State};
pub use counters::{Counter, Counters};
pub use cut::Shape;
pub use extent::Extent;
pub use level::{BUFFERS_PER_DOMAIN, Layout, Level};
pub use request::Request;
pub use source::{CpuIndex, DomainIndex, Source};
