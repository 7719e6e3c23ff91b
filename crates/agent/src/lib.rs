//! `libterrace.so`: hierarchical allocation buffers under an unmodified HotSpot JVM.
//!
//! | part | what it is |
//! |---|---|
//! | `entry` | what HotSpot calls: `Agent_OnLoad`, `Agent_OnAttach` |
//! | `java` | what `terrace.jar` calls |
//! | `options` | the text behind `-agentpath:libterrace.so=` |
//! | `install` | from options to hooks in place, or to a reason why not |
//! | `tlab` | HotSpot's own TLAB flags |
//! | `growth` | `tlab=auto`: buffers that grow with what a thread allocates |
//! | `small_first` | whether that pays |
//! | `agent` | what is installed: what the hooks work with |
//! | `sizes`, `adaptive` | how large the buffers are: as asked, by the formula, by what is seen |
//! | `in_place` | what stands in the vtable, until HotSpot's own functions are back |
//! | `source` | HotSpot's heap as a source of extents |
//! | `hierarchy` | the levels over that source |
//! | `hooks` | the functions that stand in the heap's vtable instead of HotSpot's own |
//! | `observer`, `clock` | those that only count and time (`levels=none`) |
//! | `thread_waste` | whose TLABs collections find unused, for observers |
//! | `refills` | refills that took long, one by one, when somebody asks for them |
//! | `events` | VMInit, VMDeath, GarbageCollectionStart and its end |
//! | `report` | the counters as JSON |
//! | `state` | what all parts may ask: when the agent was loaded, where its control memory is |
//! | `destination` | where the report may go |
//! | `patient` | writing without being kept by who reads |
//! | `log` | lines on standard error |
//!
//! Nothing here panics across the border to HotSpot, and nothing is ever unloaded or freed: a thread may be in a hook at any
//! time until the process ends.

mod adaptive;
mod agent;
mod clock;
mod destination;
mod end;
mod entry;
mod events;
mod growth;
mod hierarchy;
mod hooks;
mod in_place;
mod install;
mod java;
mod lease;
mod log;
mod observer;
mod options;
mod patient;
mod refills;
mod report;
mod sizes;
mod small_first;
mod source;
mod state;
mod thread_waste;
mod tlab;
