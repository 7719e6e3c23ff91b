//! By which column JVMs are sorted.

use crate::activity::Activity;
use std::str::FromStr;

/// The largest first, except for names and numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    #[default]
    Allocated,
    Tlabs,
    Refills,
    Waste,
    Collections,
    Program,
    Pid,
}

impl Order {
    pub const ALL: [Order; 7] = [
        Order::Allocated,
        Order::Tlabs,
        Order::Refills,
        Order::Waste,
        Order::Collections,
        Order::Program,
        Order::Pid,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Order::Allocated => "allocated",
            Order::Tlabs => "tlabs",
            Order::Refills => "refills",
            Order::Waste => "waste",
            Order::Collections => "collections",
            Order::Program => "program",
            Order::Pid => "pid",
        }
    }

    /// The next column.
    pub fn next(self) -> Order {
        let at = Order::ALL.iter().position(|order| *order == self).unwrap_or(0);
        Order::ALL[(at + 1) % Order::ALL.len()]
    }

    pub fn sort(self, jvms: &mut [Activity]) {
        let most = |of: fn(&Activity) -> Option<f64>| {
            move |a: &Activity, b: &Activity| {
                let value = |jvm| of(jvm).unwrap_or(-1.0);
                value(b).total_cmp(&value(a)).then(a.pid.cmp(&b.pid))
            }
        };
        match self {
            Order::Allocated => jvms.sort_by(most(|jvm| jvm.allocated)),
            Order::Tlabs => jvms.sort_by(most(|jvm| jvm.tlabs)),
            Order::Refills => jvms.sort_by(most(|jvm| jvm.refills)),
            Order::Waste => jvms.sort_by(most(|jvm| jvm.waste)),
            Order::Collections => jvms.sort_by(most(|jvm| jvm.collections)),
            Order::Program => jvms.sort_by(|a, b| a.program.cmp(&b.program).then(a.pid.cmp(&b.pid))),
            Order::Pid => jvms.sort_by_key(|jvm| jvm.pid),
        }
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Order, String> {
        let names = || Order::ALL.map(Order::name).join(", ");
        let found = Order::ALL.into_iter().find(|order| order.name() == text);
        found.ok_or_else(|| format!("unknown column '{text}'; choose one of {}", names()))
    }
}
