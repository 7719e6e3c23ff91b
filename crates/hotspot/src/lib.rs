//! Everything that terrace knows about HotSpot, and nothing else.
//!
//! | part | what it knows |
//! |---|---|
//! | [`version`] | which JDK versions are supported, and how to say what differs between them |
//! | [`collector`] | which collectors are supported, and which hooks each one needs |
//! | [`symbols`] | names and addresses in a `libjvm.so` or its separate debug file |
//! | [`slots`] | at which places of a heap class's vtable its virtual functions stand |
//! | [`vtable`] | where a class has its table of virtual functions |
//! | [`operations`] | the VM operations in which a collector pauses |
//! | [`library`] | the `libjvm.so` of this process |
//! | [`structs`] | HotSpot's table of its own fields (`gHotSpotVMStructs`) |
//! | [`flags`] | reading and writing `-XX` flags |
//! | [`functions`] | the heap's virtual functions with their types |
//! | [`heap`] | the live heap, callable |
//! | [`accounts`] | what threads have allocated, by HotSpot's own count |
//! | [`transitions`] | whether JVMTI is told of virtual threads |
//! | [`patch`] | exchanging entries of a vtable |
//! | [`jvmti`] | the few JVMTI functions that the agent calls |
//! | [`jni`] | and those of JNI |
//!
//! Names are looked up at run time; what is not found is an [`Error`], never a guess. Sizes that HotSpot counts in words are
//! converted to bytes here, at the border.

mod error;
mod mapped;

pub mod accounts;
pub mod collector;
pub mod flags;
pub mod functions;
pub mod heap;
pub mod jni;
pub mod jvmti;
pub mod library;
pub mod operations;
pub mod patch;
pub mod slots;
pub mod structs;
pub mod symbols;
pub mod tooling;
pub mod transitions;
pub mod version;
pub mod vtable;

pub use error::Error;

/// Bytes of a HotSpot word.
pub const WORD: usize = size_of::<usize>();
