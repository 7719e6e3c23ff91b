//! A plugin of some other program: a shared object with an arena in it, which knows nothing of `-z nodelete`.

use arena::{Arena, Path};

/// Allocates from core buffers and gives everything back; 1 if there were restartable sequences, 0 if not, negative if something was wrong.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub extern "C" fn terrace_plugin_work() -> i32 {
    let Ok(arena) = Arena::builder().path(Path::Core).build() else { return -1 };
    let right = (0..10_000_u64).all(|number| *arena.alloc([number; 4]) == [number; 4]);
    if !right {
        return -2;
    }
    i32::from(arena.stats().core_buffers == "restartable sequences")
}
