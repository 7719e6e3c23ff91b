//! Who is measured.

use arena::{Arena, BuildError, Builder, Path, Policy};
use serde::Serialize;
use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt;
use std::str::FromStr;

/// One way to get memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Contestant {
    /// No allocator: every thread counts through its own touched range. What the stores themselves cost.
    Floor,
    /// The arena with thread buffers.
    Thread,
    /// The arena by a hold of each thread's own.
    Local,
    /// The arena with thread buffers, without prefetch; with one thread only.
    NoPrefetch,
    /// The arena with core buffers in restartable sequences.
    Core,
    /// The arena with core buffers by compare and swap.
    #[serde(rename = "exchange")]
    CoreExchange,
    /// The arena with one shared top.
    Shared,
    /// A `bumpalo::Bump` for each thread.
    Bumpalo,
    Mimalloc,
    Jemalloc,
    #[cfg(feature = "snmalloc")]
    Snmalloc,
    /// The C library's malloc.
    Glibc,
}

impl Contestant {
    /// All of them, in the order of a forward pass. Those that are compared most often stand beside each other.
    pub const ALL: &[Contestant] = &[
        Contestant::Floor,
        Contestant::Bumpalo,
        Contestant::Local,
        Contestant::Thread,
        Contestant::NoPrefetch,
        Contestant::Core,
        Contestant::CoreExchange,
        Contestant::Shared,
        Contestant::Mimalloc,
        Contestant::Jemalloc,
        #[cfg(feature = "snmalloc")]
        Contestant::Snmalloc,
        Contestant::Glibc,
    ];

    /// The allocators that free single objects.
    pub const MALLOCS: &[Contestant] = &[
        Contestant::Mimalloc,
        Contestant::Jemalloc,
        #[cfg(feature = "snmalloc")]
        Contestant::Snmalloc,
        Contestant::Glibc,
    ];

    /// As tables and files write it.
    pub const fn name(self) -> &'static str {
        match self {
            Contestant::Floor => "floor",
            Contestant::Thread => "thread",
            Contestant::Local => "local",
            Contestant::NoPrefetch => "thread, no prefetch",
            Contestant::Core => "core",
            Contestant::CoreExchange => "exchange",
            Contestant::Shared => "shared",
            Contestant::Bumpalo => "bumpalo",
            Contestant::Mimalloc => "mimalloc",
            Contestant::Jemalloc => "jemalloc",
            #[cfg(feature = "snmalloc")]
            Contestant::Snmalloc => "snmalloc",
            Contestant::Glibc => "glibc",
        }
    }

    /// What is unfair in a comparison of it with the arena's thread buffers.
    pub const fn unfair(self) -> &'static str {
        match self {
            Contestant::Floor => {
                "no allocator at all: it cannot run out, and the compiler sees the whole loop"
            }
            Contestant::Thread | Contestant::NoPrefetch | Contestant::Core => "",
            Contestant::Local => {
                "each thread holds its buffer, as it holds its Bump; the arena is one all the same"
            }
            Contestant::CoreExchange => "what core buffers are where there are no restartable sequences",
            Contestant::Shared => "made to be slow: what the buffers are for",
            Contestant::Bumpalo => {
                "one for each thread, none of them shared; its one chunk was made large enough beforehand"
            }
            Contestant::Mimalloc | Contestant::Jemalloc => {
                "can free single objects at any time, from any thread; the arena cannot, and does not pay for it"
            }
            Contestant::Glibc => {
                "as mimalloc; and the heaps of its threads stay on small pages, whatever it is told"
            }
            #[cfg(feature = "snmalloc")]
            Contestant::Snmalloc => {
                "as mimalloc; and has no settings: it lies on huge pages only where the kernel gives them unasked"
            }
        }
    }

    /// Whether it is measured with so many threads.
    pub fn takes_part(self, threads: usize) -> bool {
        self != Contestant::NoPrefetch || threads == 1
    }

    /// The arena's path, if it is the arena.
    pub const fn path(self) -> Option<Path> {
        match self {
            Contestant::Thread | Contestant::NoPrefetch | Contestant::Local => Some(Path::Thread),
            Contestant::Core => Some(Path::Core),
            Contestant::CoreExchange => Some(Path::CoreExchange),
            Contestant::Shared => Some(Path::Shared),
            _ => None,
        }
    }

    fn builder(self) -> Option<Builder> {
        let builder = Arena::builder().path(self.path()?);
        Some(if self == Contestant::NoPrefetch { builder.prefetch(0) } else { builder })
    }

    /// A new arena, if it is the arena: everything but what its name says at its default.
    pub fn arena(self) -> Result<Option<Arena>, BuildError> {
        self.builder().map(Builder::build).transpose()
    }

    /// The same with memory for so many bytes of objects and all buffers, touched beforehand: which addresses are used in a pass
    /// depends on the CPUs on which the threads happen to be, so that passes alone would not have touched them all.
    pub fn touched_arena(self, bytes: usize, pages: Policy) -> Result<Option<Arena>, BuildError> {
        const BUFFERS: usize = 128 << 20;
        const BUFFERS_OF_A_CPU: usize = 8 << 20;
        let room = 2 * bytes + BUFFERS + crate::settings::cpus() * BUFFERS_OF_A_CPU;
        let build = |builder: Builder| builder.pages(pages).reserve(room).pre_touch(true).build();
        self.builder().map(build).transpose()
    }
}

impl fmt::Display for Contestant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Contestant {
    type Err = String;

    fn from_str(text: &str) -> Result<Contestant, String> {
        let found = Contestant::ALL.iter().find(|one| one.name() == text);
        found.copied().ok_or_else(|| format!("no contestant '{text}'"))
    }
}

/// A library that allocates and frees single objects. Types, not trait objects: every loop is compiled for its own.
pub trait Malloc: GlobalAlloc + Copy {
    /// Null when there is no memory.
    #[inline(always)]
    fn take(self, layout: Layout) -> *mut u8 {
        // SAFETY: no layout here has size 0.
        unsafe { self.alloc(layout) }
    }

    /// Gives an object back.
    ///
    /// # Safety
    /// `object` came from `take` of the same library with the same layout, and is not used again.
    #[inline(always)]
    unsafe fn give(self, object: *mut u8, layout: Layout) {
        // SAFETY: as the caller vouches.
        unsafe { self.dealloc(object, layout) }
    }
}

impl<T: GlobalAlloc + Copy> Malloc for T {}

/// mimalloc's functions.
#[derive(Clone, Copy)]
pub struct Mimalloc;

// SAFETY: passes everything on to mimalloc's own implementation.
unsafe impl GlobalAlloc for Mimalloc {
    #[inline(always)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller vouches.
        unsafe { mimalloc::MiMalloc.alloc(layout) }
    }

    #[inline(always)]
    unsafe fn dealloc(&self, object: *mut u8, layout: Layout) {
        // SAFETY: as the caller vouches.
        unsafe { mimalloc::MiMalloc.dealloc(object, layout) }
    }
}

/// Runs a generic function with the library that a contestant stands for.
#[macro_export]
macro_rules! with_malloc {
    ($contestant:expr, |$library:ident| $body:expr, else $other:expr) => {
        match $contestant {
            $crate::contestants::Contestant::Mimalloc => {
                let $library = $crate::contestants::Mimalloc;
                $body
            }
            $crate::contestants::Contestant::Jemalloc => {
                let $library = tikv_jemallocator::Jemalloc;
                $body
            }
            #[cfg(feature = "snmalloc")]
            $crate::contestants::Contestant::Snmalloc => {
                let $library = snmalloc_rs::SnMalloc;
                $body
            }
            $crate::contestants::Contestant::Glibc => {
                let $library = $crate::contestants::GLIBC;
                $body
            }
            _ => $other,
        }
    };
}

/// The C library's functions.
pub const GLIBC: System = System;
