//! The words under loom.
//!
//! Loom tries another order of two accesses only if the later one conflicts with the last one before it: a load hides from its own
//! thread's exchange that another thread's access came before, and loom would miss whole interleavings. Accesses of `turn` all
//! conflict, order nothing, and leave every old value to the load.

use loom::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

macro_rules! word {
    ($name:ident, $atomic:ty, $value:ty) => {
        #[derive(Debug)]
        pub(crate) struct $name {
            value: $atomic,
            turn: AtomicUsize,
        }

        #[allow(dead_code, reason = "not every operation is used with every width")]
        impl $name {
            pub(crate) fn new(value: $value) -> $name {
                $name { value: <$atomic>::new(value), turn: AtomicUsize::new(0) }
            }

            fn value(&self) -> &$atomic {
                // Relaxed: see the module.
                self.turn.fetch_add(0, Ordering::Relaxed);
                &self.value
            }

            pub(crate) fn load(&self, order: Ordering) -> $value {
                self.value().load(order)
            }

            pub(crate) fn store(&self, value: $value, order: Ordering) {
                self.value().store(value, order);
            }

            pub(crate) fn compare_exchange_weak(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.value().compare_exchange_weak(old, new, success, failure)
            }
        }
    };
}

word!(Atomic64, AtomicU64, u64);
word!(AtomicSize, AtomicUsize, usize);
