//! Kinds of pages as cells have them, and the pools that some of them need.

use ::pages::{Error, PageSize, Policy, Reservation, small_page_bytes};
use experiment::{Bench, Runner};

pub(super) fn name(policy: Policy) -> String {
    match policy {
        Policy::Small => format!("{} KB", small_page_bytes() >> 10),
        Policy::Transparent => "transparent".into(),
        Policy::Explicit(size) => size.to_string(),
    }
}

/// Pages of pools that a cell needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    pub(super) policy: Policy,
    pub(super) bytes: usize,
    /// Whether a pool may be filled for it.
    pub(super) may_fill: bool,
}

impl Need {
    pub(super) fn new(bench: &Bench, policy: Policy, bytes: usize) -> Need {
        Need { policy, bytes, may_fill: bench.allow_sysctl }
    }

    /// `runner`, unless the pages cannot be had and must not be made available.
    pub(super) fn runner(self, runner: impl FnOnce() -> Runner) -> Runner {
        match self.policy.available(self.bytes) {
            Err(reason) if !(self.may_fill && matches!(self.policy, Policy::Explicit(_))) => {
                Runner::Unavailable(reason.to_string())
            }
            _ => runner(),
        }
    }

    /// Fills the pool as far as it must be and may be; it is put back when the result is dropped.
    pub(super) fn fill(self) -> Result<Option<Reservation>, Error> {
        match self.policy {
            Policy::Explicit(size) if self.may_fill => {
                Reservation::fill(size, size.pages_for(self.bytes)).map(Some)
            }
            policy => policy.available(self.bytes).map(|()| None),
        }
    }
}

/// Bytes of 2 MB pages that a JVM of this heap takes with its card table, code and class data.
pub(super) fn of_jvm(policy: Policy, heap: usize) -> usize {
    match policy {
        Policy::Explicit(PageSize::TwoMegabytes) => heap + (384 << 20),
        _ => heap,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_pages_need_no_pool() {
        let need = Need { policy: Policy::Small, bytes: 1 << 30, may_fill: true };
        assert!(need.fill().unwrap().is_none());
        assert!(
            matches!(need.runner(|| Runner::Unavailable("ran".into())), Runner::Unavailable(text) if text == "ran")
        );
    }

    #[test]
    fn names_are_short() {
        assert_eq!(Policy::ALL.map(name)[1..], ["transparent", "2 MB", "1 GB"]);
    }
}
