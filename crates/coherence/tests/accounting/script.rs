//! Requests to a hierarchy of buffers, as data: the same for both implementations.

use proptest::prelude::*;
use terrace_coherence::machine::Machine;
use terrace_coherence::programs::allocate::Domain;

pub const BASE: usize = 1 << 32;

/// One level.
#[derive(Clone, Debug)]
pub struct Rank {
    pub domain_of_cpu: Vec<u16>,
    pub group_of_domain: Vec<u16>,
    pub bytes: usize,
}

impl Rank {
    pub fn new(machine: &Machine, domain: Domain, bytes: usize) -> Rank {
        let cpus = 0..machine.shape.cpus();
        let domain_of_cpu: Vec<u16> = cpus.clone().map(|cpu| domain.of(machine, cpu) as u16).collect();
        let mut group_of_domain = vec![0; usize::from(domain_of_cpu[domain_of_cpu.len() - 1]) + 1];
        for cpu in cpus {
            group_of_domain[domain.of(machine, cpu) as usize] = machine.shape.package_of(cpu) as u16;
        }
        Rank { domain_of_cpu, group_of_domain, bytes }
    }

    pub fn domains(&self) -> usize {
        self.group_of_domain.len()
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Request {
    /// For a thread's buffer.
    Buffer { cpu: u32, min: usize, desired: usize },
    /// A single object from what the own buffer has.
    Carve { cpu: u32, bytes: usize },
    /// A single object that may refill.
    Object { cpu: u32, bytes: usize },
    /// A single object from any tail.
    Tails { cpu: u32, bytes: usize },
    /// How much there is.
    Available { cpu: u32 },
    /// A thread moved during its request.
    Moved { from: u32, to: u32 },
    /// All of a level is given up.
    Retire { level: usize },
    /// Another size for a level.
    Resize { level: usize, bytes: usize },
}

/// The nearest level first.
#[derive(Clone, Debug)]
pub struct Script {
    pub ranks: Vec<Rank>,
    pub heap: usize,
    pub requests: Vec<Request>,
}

/// One, two or three levels over the heap: domains from near to far, sizes from small to large.
pub fn ranks(machine: &Machine) -> impl Strategy<Value = Vec<Rank>> + use<> {
    let machine = machine.clone();
    let domains = proptest::sample::subsequence(vec![Domain::Core, Domain::Cluster, Domain::Package], 1..=3);
    (domains, 512..8192_usize, 1..6_usize).prop_map(move |(domains, bytes, factor)| {
        let rank = |(level, domain)| Rank::new(&machine, domain, bytes * factor.pow(level as u32));
        domains.into_iter().enumerate().map(rank).collect()
    })
}

fn request(cpus: u32) -> impl Strategy<Value = Request> {
    // One CPU too many: it was plugged in later.
    let cpu = 0..=cpus;
    let bytes = || (1..400_usize).prop_map(|grains| grains * 8);
    let buffer = (cpu.clone(), bytes(), 0..200_usize).prop_map(|(cpu, min, more)| Request::Buffer {
        cpu,
        min,
        desired: min + more * 8,
    });
    prop_oneof![
        20 => buffer,
        3 => (cpu.clone(), bytes()).prop_map(|(cpu, bytes)| Request::Carve { cpu, bytes }),
        3 => (cpu.clone(), bytes()).prop_map(|(cpu, bytes)| Request::Object { cpu, bytes }),
        2 => (cpu.clone(), bytes()).prop_map(|(cpu, bytes)| Request::Tails { cpu, bytes }),
        2 => cpu.clone().prop_map(|cpu| Request::Available { cpu }),
        2 => (cpu.clone(), cpu).prop_map(|(from, to)| Request::Moved { from, to }),
        1 => (0..3_usize).prop_map(|level| Request::Retire { level }),
        1 => (0..3_usize, 0..8192_usize).prop_map(|(level, bytes)| Request::Resize { level, bytes }),
    ]
}

pub fn scripts(machine: &Machine) -> impl Strategy<Value = Script> + use<> {
    let requests = proptest::collection::vec(request(machine.shape.cpus()), 1..150);
    (ranks(machine), 10_000..200_000_usize, requests).prop_map(|(ranks, heap, requests)| Script {
        ranks,
        heap,
        requests,
    })
}
