//! How an arena is made.

use crate::arena::{Arena, Made};
use crate::error::BuildError;
use crate::grain::{GRAIN, GRAIN_SHIFT};
use crate::ground::Ground;
use crate::kept;
use crate::levels::{Levels, Sizes, Way};
use crate::piece::{FIRST, Piece};
use crate::reserve::Reserve;
use crate::segments::{MOST, Segments};
use crate::thread;
use crate::zero::Zeroing;
use pages::{Fallback, Mapping, Policy};
use topology::Machine;

/// The size of a level's buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Size {
    /// The arena's choice.
    #[default]
    Auto,
    /// So many bytes.
    Bytes(usize),
    /// No buffers on this level.
    Off,
}

/// Which way to a buffer is taken first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Path {
    /// Thread buffers.
    #[default]
    Auto,
    /// Thread buffers: the fastest, and memory for every thread.
    Thread,
    /// No thread buffers: core buffers in restartable sequences where the system has them, otherwise by compare and swap. Memory
    /// for every core, whatever the number of threads. A Rust plugin that is linked to another object's arena, and is closed, has to be linked with
    /// `-z nodelete`.
    Core,
    /// No thread buffers, and core buffers by compare and swap even where sequences could be had.
    CoreExchange,
    /// No buffers: one shared top. For comparisons.
    Shared,
}

/// How an arena is made; see [`Arena::builder`].
#[derive(Clone, Debug)]
pub struct Builder {
    pub(crate) reserve: Option<usize>,
    pub(crate) limit: Option<usize>,
    pub(crate) pages: Policy,
    pub(crate) touch: bool,
    pub(crate) zeroing: Zeroing,
    pub(crate) path: Path,
    pub(crate) thread: Size,
    pub(crate) core: Size,
    pub(crate) processor: Size,
    pub(crate) prefetch: usize,
    pub(crate) machine: Option<Machine>,
}

/// A limit up to this is one range; with a larger one the arena grows.
const LARGEST_UNASKED: usize = 64 << 30;
/// The first buffer of a thread or a hold, and what it doubles to.
const THREAD: thread::Sizes = thread::Sizes { first: 4 << 10, last: 256 << 10 };
/// A core's buffer that serves objects; with 64 KB two threads meet at the reserve so often that each object takes 1.2 times as long.
const CORE_FOR_OBJECTS: usize = 256 << 10;
/// A core's buffer that serves thread buffers.
const CORE_FOR_THREADS: usize = 4 << 20;
/// The part of the limit that the first buffers of all domains of a level may hold together is one of so many.
const PART: usize = 8;
/// How far ahead of an allocation memory is prefetched, in bytes. Without it a loop that writes a single word to each new line runs
/// into the processor's limit of outstanding stores (AMD family 26: 3.3 instead of 1.9 ns for each line); with it nothing measured is
/// slower. `cargo xtask bench arena` compares both.
const PREFETCH: usize = 256;
/// A processor's buffer.
const PROCESSOR: usize = 16 << 20;

/// What a buffer's word can say, in bytes.
fn most_bytes() -> usize {
    let shape = hab::Shape { grain_shift: GRAIN_SHIFT, min_remainder: 0 };
    shape.max_span()
}

/// A size that somebody asked for, in whole grains and at most an arena.
fn whole_grains(bytes: usize) -> usize {
    bytes.min(most_bytes()).next_multiple_of(GRAIN)
}

impl Default for Builder {
    fn default() -> Builder {
        Builder {
            reserve: None,
            limit: None,
            pages: Policy::Small,
            touch: false,
            zeroing: Zeroing::None,
            path: Path::Auto,
            thread: Size::Auto,
            core: Size::Auto,
            processor: Size::Off,
            prefetch: PREFETCH,
            machine: None,
        }
    }
}

impl Default for Arena {
    fn default() -> Arena {
        Arena::new()
    }
}

impl Arena {
    /// An arena with everything at its default: thread buffers over core buffers. It begins with 64 KB and grows, to 128 GB; when it is dropped,
    /// its first megabytes are kept for the next arena ([`trim`](crate::trim) gives them up), so that an arena for each request is a fair use.
    ///
    /// # Panics
    /// If not even so much memory can be had; [`Arena::builder`] gives an error instead.
    pub fn new() -> Arena {
        match Arena::builder().build() {
            Ok(arena) => arena,
            Err(error) => panic!("{error}"),
        }
    }

    /// For everything that can be chosen.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl Builder {
    /// One range of address space of so many bytes. It costs no memory until it is written to, except with explicit huge pages, which are
    /// taken from their pool at once, and where the kernel promises no more than it has (`vm.overcommit_memory=2`). If nothing is said, a limit
    /// of up to 64 GB, if the process may have so much; otherwise the arena grows: it maps segments of twice as much each, which need not lie
    /// beside each other, from 64 KB (or a page of the kind) to 64 GB.
    pub fn reserve(mut self, bytes: usize) -> Builder {
        self.reserve = Some(bytes);
        self
    }

    /// The most bytes that are handed out; the reserve if nothing is said, or what an arena grows to.
    pub fn limit(mut self, bytes: usize) -> Builder {
        self.limit = Some(bytes);
        self
    }

    /// The kind of pages; small ones if nothing is said. Where it cannot be had the next smaller one is used, and
    /// [`Stats::fallback`](crate::Stats) says so.
    pub fn pages(mut self, policy: Policy) -> Builder {
        self.pages = policy;
        self
    }

    /// Finds memory for the whole [`reserve`](Builder::reserve) or limit now instead of at the first touch: it is one range then, however large
    /// it is. One of both has to be given.
    pub fn pre_touch(mut self, touch: bool) -> Builder {
        self.touch = touch;
        self
    }

    /// When memory is made zero; never if nothing is said.
    pub fn zeroing(mut self, zeroing: Zeroing) -> Builder {
        self.zeroing = zeroing;
        self
    }

    /// Which way to a buffer is taken first.
    pub fn path(mut self, path: Path) -> Builder {
        self.path = path;
        self
    }

    /// The largest buffer of a thread, and of a [`Local`](crate::Local) on any path; the first one is at most 4 KB.
    pub fn thread_buffers(mut self, size: Size) -> Builder {
        self.thread = size;
        self
    }

    /// The core buffers.
    pub fn core_buffers(mut self, size: Size) -> Builder {
        self.core = size;
        self
    }

    /// The processor buffers between core buffers and reserve; none if nothing is said.
    pub fn processor_buffers(mut self, size: Size) -> Builder {
        self.processor = size;
        self
    }

    /// How many bytes ahead of each allocation memory is fetched into the cache for writing; 0: nothing is. 256 if nothing is said.
    ///
    /// HotSpot does the same (`AllocatePrefetchStyle`, `AllocatePrefetchDistance`).
    pub fn prefetch(mut self, bytes: usize) -> Builder {
        self.prefetch = bytes;
        self
    }

    /// Another machine than this one, for tests.
    pub fn machine(mut self, machine: Machine) -> Builder {
        self.machine = Some(machine);
        self
    }

    fn has_thread_buffers(&self) -> bool {
        matches!(self.path, Path::Auto | Path::Thread) && self.thread != Size::Off
    }

    /// Of threads' buffers and of holds. One at the arena's choice is at most what a core's share of [`PART`] of the limit is: as many threads as can
    /// run at a time hold no more of it together.
    fn thread_sizes(&self, limit: usize, ground: &Ground) -> thread::Sizes {
        match self.thread {
            Size::Auto | Size::Off => {
                let last = (limit / PART / ground.cores) & !(GRAIN - 1);
                thread::Sizes { last: last.clamp(THREAD.first, THREAD.last), ..THREAD }
            }
            Size::Bytes(bytes) => {
                let last = whole_grains(bytes).max(GRAIN);
                thread::Sizes { first: THREAD.first.min(last), last }
            }
        }
    }

    fn sizes(&self, threads: bool, limit: usize, ground: &Ground) -> Sizes {
        // What buffers hold at the end cannot be handed out: the first ones of a level at most an eighth of the limit, and as much again each of
        // the three spare ones, which are filled only while a thread that refills is without its CPU.
        let most = |count: usize| (limit / PART / count) & !(GRAIN - 1);
        let (core, processor) = (most(ground.cores), most(ground.processors));
        let of = |size: Size, auto: usize| match size {
            Size::Off => None,
            Size::Auto if auto == 0 => None,
            Size::Auto => Some(auto),
            Size::Bytes(bytes) => Some(whole_grains(bytes)),
        };
        if self.path == Path::Shared {
            return Sizes { core: None, processor: None };
        }
        Sizes {
            core: of(self.core, core.min(if threads { CORE_FOR_THREADS } else { CORE_FOR_OBJECTS })),
            processor: of(self.processor, processor.min(PROCESSOR)),
        }
    }

    /// Finds the first memory and builds the levels.
    ///
    /// # Errors
    /// When the address space cannot be had, or is more than 8 TB; when memory is to be touched and nothing says how much. The text has the
    /// remedy.
    pub fn build(self) -> Result<Arena, BuildError> {
        match self.machine.clone() {
            None => self.build_on(Ground::own()),
            Some(machine) => self.build_on(&Ground::of(machine)),
        }
    }

    fn build_on(self, ground: &Ground) -> Result<Arena, BuildError> {
        let (segments, fallback) = self.segments()?;
        // Whole pages may be more than an arena can have.
        let limit = self.limit.unwrap_or(usize::MAX).min(segments.end()).min(most_bytes());
        let holds = self.thread_sizes(limit, ground);
        let threads = self.has_thread_buffers().then_some(holds);
        let (way, why) = match (self.path, ground.area) {
            (Path::CoreExchange, _) => (Way::Exchange, Some("requested")),
            (_, Ok(area)) => (Way::Sequences(area), None),
            (_, Err(reason)) => (Way::Exchange, Some(reason)),
        };
        let sizes = self.sizes(threads.is_some(), limit, ground);
        let levels = Levels::new(Reserve::new(segments, limit), sizes, way, ground);
        Ok(Arena::made_of(Made {
            levels,
            threads,
            holds,
            zeroing: self.zeroing,
            prefetch: self.prefetch,
            fallback,
            why,
            source: ground.source(),
        }))
    }

    fn segments(&self) -> Result<(Segments, Option<Fallback>), BuildError> {
        let limit = self.limit.filter(|limit| self.touch || *limit <= LARGEST_UNASKED);
        let Some(asked) = self.reserve.or(limit) else {
            if self.touch {
                return Err(BuildError(
                    "nothing says how much memory to touch; set a reserve or a limit".into(),
                ));
            }
            return self.growing();
        };
        let bytes = asked.min(self.limit.unwrap_or(asked)).max(1);
        let most = most_bytes();
        if bytes > most {
            return Err(BuildError(format!(
                "{bytes} bytes exceed the maximum size of an arena, {most}; request fewer"
            )));
        }
        match first(bytes, self.pages) {
            Ok((mut first, fallback)) => {
                if self.touch {
                    first.mapping.touch().map_err(|error| BuildError(error.to_string()))?;
                }
                let span = first.mapping.len();
                Ok((Segments::new(first, 1, span), fallback))
            }
            // The process may have less than that: the arena has what it gets.
            Err(_) if self.reserve.is_none() && !self.touch => self.growing(),
            Err(error) => Err(error),
        }
    }

    fn growing(&self) -> Result<(Segments, Option<Fallback>), BuildError> {
        if self.pages != Policy::Small {
            // Looked up in a file the first time, which an allocation that maps smaller pages than these must not be.
            pages::transparent_page_bytes();
        }
        let (first, fallback) = first(FIRST.max(self.pages.granule()), self.pages)?;
        // Those of larger pages are fewer.
        let count = MOST - (first.mapping.len() / FIRST).ilog2() as usize;
        Ok((Segments::new(first, count, most_bytes()), fallback))
    }
}

/// Memory of so many bytes, an earlier arena's or new, on pages of a kind or of a smaller one.
fn first(bytes: usize, pages: Policy) -> Result<(Piece, Option<Fallback>), BuildError> {
    if let Some(piece) = kept::take(bytes, pages) {
        return Ok((piece, None));
    }
    let (mapping, fallback) =
        Mapping::or_smaller(bytes, pages).map_err(|error| BuildError(error.to_string()))?;
    Ok((Piece { mapping, used: false }, fallback))
}
