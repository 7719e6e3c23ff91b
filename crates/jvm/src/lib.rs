//! Java programs: what is started, and what is seen of it while it runs.
//!
//! | part | what it is |
//! |---|---|
//! | [`jdk`], [`install`] | the JDKs of this machine, Terrace's own files |
//! | [`agent`], [`workload`], [`application`], [`launch`], [`jvm_options`], [`option_names`] | command lines; the options that a JVM gets, in its own order; what an option sets |
//! | [`archive`], [`loadable`] | JVMs that write a class data archive, and refuse agents; JVMs that cannot load ours |
//! | [`running`], [`arrival`], [`observe`], [`progress_file`], [`status`] | a running JVM, whether it is up with the agent, and its counters |
//! | [`together`] | programs of ours in one measured window |
//! | [`safepoints`], [`stops`] | what a JVM logged of its stops: after its end; while it runs, beside our own clock |
//! | [`attach`], [`switch`], [`resize`] | commands to a JVM that runs: HotSpot's attach mechanism, and our control memory |
//! | [`cpu`], [`calls`], [`accounts`] | CPU time by what threads do, and of single calls of a workload; bytes allocated |
//! | [`observer`], [`lease`] | an agent that only counts, for as long as somebody looks; how it knows |
//! | [`refills`], [`clock`], [`large_objects`], [`new_threads`] | what an observer counts: how long requests took, how large objects were, whose first TLABs they were |
//! | [`counter_values`], [`counts`], [`mod@size`], [`show`], [`why`] | what was counted, sizes that users write, a status as a table, why sizes are what they are |
//! | [`perfdata`], [`thread_dump`], [`vm_flags`] | what HotSpot itself says of a JVM that runs: counters, threads, flags |
//! | [`resident`] | on which pages a JVM lies |
//! | [`os`], [`out_file`], [`error`], [`printable`] | what we need from Linux; a file for a result; errors as one line; texts of others without control characters |

#![allow(missing_docs, reason = "not published")]

pub mod accounts;
pub mod agent;
pub mod application;
pub mod archive;
mod argument_file;
pub mod arrival;
pub mod attach;
pub mod calls;
pub mod clock;
pub mod collection_cause;
pub mod counter_values;
pub mod counts;
pub mod cpu;
pub mod error;
pub mod heap_log;
#[cfg(test)]
mod idle;
pub mod install;
pub mod jdk;
pub mod jvm_options;
pub mod large_objects;
pub mod launch;
pub mod lease;
pub mod loadable;
mod loaded;
pub mod new_threads;
pub mod observe;
pub mod observer;
pub mod option_names;
pub mod os;
pub mod out_file;
pub mod perfdata;
mod primitive;
pub mod printable;
mod process;
pub mod progress_file;
pub mod refills;
pub mod resident;
pub mod resize;
pub mod running;
pub mod safepoints;
pub mod show;
pub mod size;
pub mod status;
pub mod stops;
pub mod switch;
pub mod thread_dump;
pub mod together;
pub mod vm_flags;
pub mod why;
mod withdraw;
pub mod workload;

pub use error::{Error, Result};
