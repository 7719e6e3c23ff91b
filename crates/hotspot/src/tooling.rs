//! What HotSpot prepares for tools.
//!
//! As soon as any agent has a capability, whatever it is for, HotSpot prepares for all that agents may still ask for in a running JVM
//! (`JvmtiManageCapabilities::update`), such as other versions of a class: the compilers then note of each compiled method which methods it was made of (since 25 they do in every JVM),
//! and the archive of classes is mapped to be written to. A JVM without an agent begins without. There it is prepared when a tool that needs it attaches:
//! its first change of a class discards all compiled code (`VM_RedefineClasses::flush_dependent_code`).

use crate::structs::peek;

/// Static members of `JvmtiExport`, each a `bool`, of all supported versions.
pub(crate) const SYMBOLS: [&str; 4] = [
    "_ZN11JvmtiExport31_can_hotswap_or_post_breakpointE",
    "_ZN11JvmtiExport21_can_modify_any_classE",
    "_ZN11JvmtiExport19_can_walk_any_spaceE",
    "_ZN11JvmtiExport30_all_dependencies_are_recordedE",
];

/// The words of HotSpot that say so. Without one of them there is nothing to read, and nothing to change.
#[derive(Clone, Copy, Debug)]
pub struct Tooling {
    /// Addresses in this process.
    flags: Option<[usize; 4]>,
}

/// How they were at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prepared([bool; 4]);

impl Tooling {
    /// By the addresses of [`SYMBOLS`], in their order. They belong together: one without the others is another version.
    pub(crate) fn of(places: [Option<usize>; 4]) -> Tooling {
        let [Some(hotswap), Some(modify), Some(walk), Some(recorded)] = places else {
            return Tooling { flags: None };
        };
        Tooling { flags: Some([hotswap, modify, walk, recorded]) }
    }

    /// What is prepared now.
    pub fn look(&self) -> Prepared {
        // SAFETY: the symbol table says that there is a bool.
        Prepared(self.flags.map_or([false; 4], |flags| flags.map(|flag| unsafe { peek::<u8>(flag) } != 0)))
    }

    /// Has HotSpot prepare for no more than it did before the caller got its capability. What others had it prepare for stays, and who comes later
    /// has it prepared anew.
    ///
    /// # Safety
    /// One thread runs (`Agent_OnLoad`), and nobody but the caller has got a capability since `before`; the caller must never ask for what is prepared here.
    pub unsafe fn put_back(&self, before: Prepared) {
        for (flag, was) in self.flags.into_iter().flatten().zip(before.0) {
            if !was {
                // SAFETY: a bool in HotSpot's writable memory, which no other thread reads now (the caller's promise).
                unsafe { std::ptr::with_exposed_provenance_mut::<u8>(flag).write(0) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_had_prepared_stays() {
        let mut words = [0_u8; 4];
        let places = words.each_mut().map(|word| Some((&raw mut *word).expose_provenance()));
        let found = Tooling::of(places);
        let before = found.look();
        *std::hint::black_box(&mut words) = [1; 4];
        // SAFETY: this thread alone knows of them.
        unsafe { found.put_back(before) };
        assert_eq!((words, found.look()), ([0; 4], before));
        *std::hint::black_box(&mut words) = [1, 0, 0, 0];
        let before = found.look();
        *std::hint::black_box(&mut words) = [1; 4];
        // SAFETY: as above.
        unsafe { found.put_back(before) };
        assert_eq!(words, [1, 0, 0, 0]);
        let [first, ..] = places;
        assert!(Tooling::of([first, None, None, None]).flags.is_none());
    }
}
