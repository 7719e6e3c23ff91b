//! The JVMs of this machine, as they allocate: `terrace top` and `terrace export`.
//!
//! | part | what it is |
//! |---|---|
//! | [`survey`], [`others`] | which processes are JVMs, and what each says at one moment; which are none |
//! | [`activity`] | what happened between two such moments: rates and shares |
//! | [`eden`] | what a JVM without terrace allocates, by its collections |
//! | [`order`] | by which column they are sorted |
//! | [`history`] | the last minutes of each |
//! | [`view`] | what is selected and shown, and what a key does to it |
//! | [`draw`] | a view as lines of a terminal |
//! | [`live`], [`once`] | the terminal, until somebody has seen enough; one frame |
//! | [`metrics`], [`export`] | what the agents count, by OpenTelemetry's names; for Prometheus, and as OTLP |
//! | [`repeat`] | the same as a file, again and again |

#![allow(missing_docs, reason = "not published")]

pub mod activity;
#[cfg(test)]
mod agents;
mod draw;
mod eden;
pub mod export;
mod history;
pub mod live;
pub mod metrics;
pub mod once;
pub mod order;
mod others;
pub mod repeat;
pub mod survey;
mod view;

use std::time::Duration;

/// What is looked at, and how often.
#[derive(Clone, Debug)]
pub struct Request {
    /// These processes; empty: every JVM that this user may look into.
    pub processes: Vec<u32>,
    pub refresh: Duration,
    pub order: order::Order,
}
