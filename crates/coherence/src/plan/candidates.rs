//! What is simulated for a plan.

use super::Request;
use crate::machine::Machine;
use crate::programs::allocate::{Domain, Hierarchy, Rank, Tlab};
use crate::scenario::{Levels, bearable};
use serde::Serialize;

/// From threads to the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Chain {
    /// Thread buffers over the heap: two levels.
    Heap,
    /// Core buffers between them: three.
    Core,
    /// Buffers of those who share an L3 between them: three.
    L3,
    /// Core buffers over L3 buffers: four.
    CoreL3,
    /// Core buffers over package buffers: four.
    CorePackage,
}

impl Chain {
    /// All of them, the shorter first.
    pub const ALL: [Chain; 5] = [Chain::Heap, Chain::Core, Chain::L3, Chain::CoreL3, Chain::CorePackage];

    /// The levels between thread buffers and heap.
    pub const fn levels(self) -> Levels {
        match self {
            Chain::Heap => Levels::NONE,
            Chain::Core => Levels::CORE,
            Chain::L3 => Levels::L3,
            Chain::CoreL3 => Levels::CORE_L3,
            Chain::CorePackage => Levels::CORE_PACKAGE,
        }
    }

    /// All levels: threads, what is between, and the heap.
    pub const fn depth(self) -> usize {
        self.levels().domains().len() + 2
    }

    /// Whether the agent has such buffers, or needs none. Its processor level is what shares an L3.
    pub const fn agent(self) -> bool {
        !matches!(self, Chain::CorePackage)
    }

    /// Sizes to try, nearest level first.
    const fn sizes(self) -> &'static [&'static [usize]] {
        match self {
            Chain::Heap => &[&[]],
            Chain::Core => &[&[64 << 10], &[256 << 10], &[512 << 10]],
            Chain::L3 => &[&[512 << 10], &[2 << 20], &[8 << 20]],
            Chain::CoreL3 => &[&[64 << 10, 2 << 20], &[256 << 10, 4 << 20], &[512 << 10, 32 << 20]],
            Chain::CorePackage => &[&[128 << 10, 8 << 20], &[512 << 10, 32 << 20]],
        }
    }
}

/// Thread buffers of fixed size that are tried, from HotSpot's `MinTLABSize` on.
const TLABS: [usize; 4] = [2 << 10, 4 << 10, 16 << 10, 64 << 10];
/// So many bytes for each thread at least, where eden has room for them: simulating hundreds of threads with small buffers takes long,
/// and there the memory is in the levels' buffers anyway.
const LEAST_FOR_EACH_THREAD: usize = 16;
/// A thread buffer is to hold so many objects of mean size.
const OBJECTS_IN_TLAB: f64 = 8.0;
/// A buffer is to serve so many requests: it passes on what is more than half of it.
const REQUESTS_IN_BUFFER: usize = 4;

/// One configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Which levels.
    pub chain: Chain,
    /// Threads' buffers.
    pub tlab: Tlab,
    /// The levels with their sizes.
    pub ranks: Vec<Rank>,
}

impl Candidate {
    /// As simulations want it.
    pub fn hierarchy(&self) -> Hierarchy {
        if self.ranks.is_empty() { Hierarchy::None } else { Hierarchy::Levels(self.ranks.clone()) }
    }

    /// Bytes of buffers of core, L3 and package.
    pub fn bytes(&self) -> [Option<u64>; 3] {
        [Domain::Core, Domain::Cluster, Domain::Package]
            .map(|domain| self.ranks.iter().find(|rank| rank.domain == domain).map(|rank| rank.bytes as u64))
    }

    /// Whether each level serves some requests of the one below.
    fn serves(&self) -> bool {
        let mut below = match self.tlab {
            Tlab::Bytes(bytes) => bytes,
            Tlab::None | Tlab::Growing => return self.ranks.is_empty(),
        };
        self.ranks.iter().all(|rank| {
            let serves = rank.bytes >= REQUESTS_IN_BUFFER * below;
            below = rank.bytes;
            serves
        })
    }
}

/// What is worth simulating: HotSpot's own thread buffers first, then fixed ones with and without levels.
pub fn candidates(machine: &Machine, request: &Request) -> Vec<Candidate> {
    let mut all = vec![Candidate { chain: Chain::Heap, tlab: Tlab::Growing, ranks: Vec::new() }];
    for tlab in sizes(request).into_iter().map(Tlab::Bytes) {
        for chain in Chain::ALL.into_iter().filter(|chain| exists(machine, *chain)) {
            for sizes in chain.sizes() {
                let rank = |(domain, bytes): (&Domain, &usize)| Rank {
                    domain: *domain,
                    bytes: bearable(*bytes, request.eden, domain.count(machine)),
                };
                let ranks = chain.levels().domains().iter().zip(*sizes).map(rank).collect();
                let candidate = Candidate { chain, tlab, ranks };
                if candidate.serves() && !all.contains(&candidate) {
                    all.push(candidate);
                }
            }
        }
    }
    all
}

/// The fixed sizes of thread buffers that are tried: those that hold some objects and fit into eden. With many threads only the larger
/// ones, but always one: crowds over small edens, where none is large enough, are what buffers are for.
fn sizes(request: &Request) -> Vec<usize> {
    let threads = request.threads as usize;
    let mean = request
        .scenario(0, Tlab::Growing, Hierarchy::None)
        .mutator()
        .map_or(0.0, |mutator| mutator.mean_bytes());
    let fits = |bytes: &usize| *bytes as f64 >= OBJECTS_IN_TLAB * mean && bytes * threads <= request.eden / 4;
    let mut sizes: Vec<usize> = TLABS.into_iter().filter(fits).collect();
    let quick = sizes.iter().position(|bytes| *bytes >= LEAST_FOR_EACH_THREAD * threads);
    sizes.drain(..quick.unwrap_or(sizes.len().saturating_sub(1)));
    sizes
}

/// Whether a chain's levels are not the same buffers twice, or one for the whole machine beside the heap.
fn exists(machine: &Machine, chain: Chain) -> bool {
    match chain {
        Chain::Heap | Chain::Core | Chain::L3 => true,
        Chain::CoreL3 => machine.shape.cores > 1,
        Chain::CorePackage => machine.shape.clusters > 1,
    }
}
