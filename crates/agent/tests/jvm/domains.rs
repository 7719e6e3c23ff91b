//! How many core domains the agent can have here. Each has buffers of its own, so that a heap bears the smaller ones the more there are.

use std::sync::OnceLock;
use topology::{DomainKind, Machine, Places};

/// Those for CPUs that turn up later among them: sizes are held to what all of them could hold.
pub fn possible() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| {
        let machine = Machine::detect();
        Places::detect(&machine).domains(&machine, DomainKind::Core).count()
    })
}
