//! What allocation costs one program, and what would help it: the cheapest remedy first, and "nothing" is an answer.
//!
//! | part | what it is |
//! |---|---|
//! | [`evidence`] | all that was seen, as numbers; rules rest on nothing else |
//! | [`watch`], [`watched`], `looks`, `moment`, `thread_waste`, `short_lived`, `stops`, `heap`, `system`, [`placement`], [`costs`] | where it comes from: the JVM's counters, Linux, short measurements on this machine |
//! | `missing` | why something is not there |
//! | [`mod@start`] | a program that is started to be watched |
//! | [`finding`], [`rules`], [`need`] | what a rule says; a rule, a file; what it has to know |
//! | `replaced` | which of the JVM's options a remedy's flags replace |
//! | [`verify`], [`trial`], `fork_time`, `edens` | each remedy tried, beside what was predicted |
//! | [`report`], [`show`], `facts`, `page` | the result, for programs, terminals and browsers |

#![allow(missing_docs, reason = "not published")]

mod causes;
pub mod costs;
#[cfg(test)]
mod counters_test;
mod cpu_time;
mod derived;
mod edens;
pub mod evidence;
mod facts;
pub mod finding;
mod fork_time;
mod heap;
mod looks;
mod missing;
mod moment;
pub mod need;
mod nothing;
#[cfg(feature = "pages")]
pub mod page;
pub mod placement;
mod replaced;
pub mod report;
pub mod rules;
mod saved;
mod short_lived;
pub mod show;
pub mod start;
mod stops;
pub mod system;
mod thread_waste;
pub mod trial;
pub mod verify;
pub mod watch;
pub mod watched;
