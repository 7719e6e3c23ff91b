//! The last minutes of each JVM.

use crate::activity::Activity;
use std::collections::{BTreeMap, VecDeque};

/// As many looks as the widest terminal has columns for.
const LOOKS: usize = 300;

/// By process: number and start.
#[derive(Default)]
pub struct History(BTreeMap<(u32, u64), Past>);

/// From the oldest to the newest, for each second.
#[derive(Default)]
pub struct Past {
    pub allocated: VecDeque<u64>,
    pub tlabs: VecDeque<u64>,
}

impl History {
    /// Adds what has just been seen; what has ended is forgotten.
    pub fn add(&mut self, jvms: &[Activity]) {
        self.0.retain(|key, _| jvms.iter().any(|jvm| (jvm.pid, jvm.started) == *key));
        for jvm in jvms {
            let past = self.0.entry((jvm.pid, jvm.started)).or_default();
            for (values, value) in
                [(&mut past.allocated, jvm.allocated), (&mut past.tlabs, jvm.tlabs.or(jvm.collections))]
            {
                if values.len() == LOOKS {
                    values.pop_front();
                }
                values.push_back(value.unwrap_or(0.0) as u64);
            }
        }
    }

    pub fn of(&self, jvm: &Activity) -> Option<&Past> {
        self.0.get(&(jvm.pid, jvm.started))
    }
}
