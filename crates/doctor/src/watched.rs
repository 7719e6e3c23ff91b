//! A JVM that is watched, and the ways to look into it.

use crate::moment::{Moment, Requests};
use crate::placement::{System, Whereabouts};
use crate::system;
use crate::thread_waste::ThreadWaste;
use control::View;
use jvm::accounts::Accounts;
use jvm::attach::Attached;
use jvm::large_objects::LargeObjects;
use jvm::new_threads::NewThreads;
use jvm::perfdata::{PerfData, PerfFile};
use jvm::refills::RefillTimes;
use jvm::{cpu, observe};
use std::time::{Duration, Instant};

/// How long the accounts of a JVM may take whose threads come and go: one reading of a hundred thousand threads takes a fifth of it.
pub(crate) const ACCOUNTS: Duration = Duration::from_secs(1);

/// A JVM that is watched, with as many ways in as it has.
pub struct Watched<'a> {
    pub pid: u32,
    /// Its agent's counters. `None` where the agent could not be loaded.
    pub control: Option<&'a View>,
    /// `None` where it does not answer.
    pub attached: Option<&'a Attached>,
    /// Where the kernel shows CPUs, memory nodes and control groups.
    pub system: System,
    /// Why something is not there.
    pub missing: Vec<String>,
}

/// What is read of it again and again.
pub(crate) struct Watch<'a> {
    pub(crate) jvm: &'a Watched<'a>,
    pub(crate) perf: Option<PerfFile>,
    pub(crate) accounts: Option<Accounts>,
    threads: cpu::Threads,
    pub(crate) whereabouts: Whereabouts,
    /// Its agent's.
    pub(crate) settings: serde_json::Value,
}

impl<'a> Watch<'a> {
    pub(crate) fn of(jvm: &'a Watched, settings: serde_json::Value) -> Watch<'a> {
        Watch {
            jvm,
            perf: PerfFile::of(jvm.pid),
            accounts: Accounts::from_settings(jvm.pid, &settings),
            threads: cpu::Threads::of(jvm.pid),
            whereabouts: Whereabouts::default(),
            settings,
        }
    }

    /// HotSpot's counters now.
    pub(crate) fn counters(&self) -> Option<PerfData> {
        self.perf.as_ref()?.read()
    }

    /// All that is counted since the JVM's start, now.
    pub(crate) fn moment(&mut self) -> Moment {
        self.threads.refresh();
        let control = self.jvm.control;
        // First: it may take time.
        let objects = self.accounts.as_mut().and_then(|accounts| accounts.read_within(ACCOUNTS));
        Moment {
            at: Instant::now(),
            perf: self.counters(),
            used: control.map_or(0, |control| observe::served(control, false)),
            buffers: control.and_then(|control| Requests::read(control, &self.settings)),
            pauses: control.map_or(0, View::pauses),
            objects,
            times: control.and_then(RefillTimes::read),
            large: control.and_then(LargeObjects::read),
            new_threads: control.and_then(NewThreads::read),
            by_thread: control.and_then(ThreadWaste::read),
            cpu: self.threads.cpu(),
            touches: system::first_touches(self.jvm.pid),
            anonymous: system::anonymous(self.jvm.pid),
            periods: self.jvm.system.periods(self.jvm.pid),
        }
    }
}
