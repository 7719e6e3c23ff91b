//! `terrace plan --rate`: how much work there is between two objects of a program that allocates so much.

use coherence::machine::Machine;
use coherence::programs::allocate::Mutator;
use coherence::scenario::{BYTE_CYCLES, work as objects_per_second};

/// Between two objects a thread does at least this, in cycles.
const LEAST_WORK: f64 = 1.0;

fn bytes_per_second(machine: &Machine, object: u32, cycles: f64, threads: u32) -> f64 {
    let mutator = Mutator::constant(object, cycles, BYTE_CYCLES);
    objects_per_second(machine, &mutator, threads) * mutator.mean_bytes()
}

/// The most that threads allocate in a second.
pub fn most(machine: &Machine, object: u32, threads: u32) -> f64 {
    bytes_per_second(machine, object, LEAST_WORK, threads)
}

/// The cycles between two objects with which threads that never wait allocate so many bytes in a second; none where they cannot.
pub fn work(machine: &Machine, object: u32, threads: u32, bytes: f64) -> Option<f64> {
    // The rate is inverse to the cycles of an object: its work, and that for its bytes.
    let of_bytes = BYTE_CYCLES * Mutator::constant(object, 0.0, BYTE_CYCLES).mean_bytes();
    let cycles = most(machine, object, threads) / bytes * (LEAST_WORK + of_bytes) - of_bytes;
    (cycles >= LEAST_WORK).then_some(cycles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_is_that_of_the_rate() {
        let machine = Machine::named("epyc-9654-2x96").unwrap();
        for (threads, bytes) in [(1, 1e9), (24, 5e9), (192, 100e9), (2000, 5e9)] {
            let work = work(&machine, 64, threads, bytes).unwrap();
            let found = bytes_per_second(&machine, 64, work, threads);
            assert!((found / bytes - 1.0).abs() < 1e-9, "{threads}: {found} of {bytes}");
        }
        assert_eq!(work(&machine, 64, 1, 1e12), None);
    }
}
