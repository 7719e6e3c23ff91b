//! Threads that stay on their CPUs.

use crate::{Error, Result};
use std::collections::BTreeSet;
use std::io;
use std::sync::Barrier;
use std::time::Duration;

/// The kernel's numbers of the CPUs that we may use: one hardware thread of every core first, then the second ones, so that
/// the first threads of a crew do not share a core while another is free. Never empty.
pub fn places() -> Vec<u32> {
    places_of(&topology::Machine::detect())
}

fn places_of(machine: &topology::Machine) -> Vec<u32> {
    let mut rest: Vec<_> = machine.cpus().iter().map(|cpu| (cpu.core, cpu.id.0)).collect();
    let mut places = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        let mut seen = BTreeSet::new();
        rest.retain(|(core, cpu)| {
            let first = seen.insert(core.index());
            if first {
                places.push(*cpu);
            }
            !first
        });
    }
    places
}

/// The CPUs of so many threads: round and round.
pub fn round_robin(places: &[u32], threads: u32) -> Vec<u32> {
    places.iter().copied().cycle().take(threads as usize).collect()
}

/// Keeps the calling thread on a CPU, for good: it is for threads that end with their work.
fn pin(cpu: u32) -> io::Result<()> {
    // As long as glibc's own set, and longer where the CPU's number asks for it; the kernel takes any length.
    let mut mask = vec![0_u64; (cpu as usize / 64 + 1).max(16)];
    mask[cpu as usize / 64] = 1 << (cpu % 64);
    // SAFETY: the kernel reads as many bytes as the mask has; a cpu_set_t is nothing but such words.
    let failed = unsafe { libc::sched_setaffinity(0, size_of_val(mask.as_slice()), mask.as_ptr().cast()) };
    if failed == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Runs `work(index)` on one new thread for each of `cpus`, pinned there; what each returned, in their order.
///
/// All begin together, and none if one of them cannot be pinned. Meanwhile `meanwhile` runs on the calling thread, which is
/// not pinned.
pub fn crew<T: Send>(
    cpus: &[u32],
    work: impl Fn(usize) -> T + Sync,
    meanwhile: impl FnOnce(),
) -> Result<Vec<T>> {
    let barrier = Barrier::new(cpus.len() + 1);
    let refused = std::sync::Mutex::new(None);
    let refusal = || refused.lock().ok().and_then(|refused| refused.clone());
    let done: Vec<Option<T>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..cpus.len())
            .map(|index| {
                let (barrier, refused, refusal, work) = (&barrier, &refused, &refusal, &work);
                scope.spawn(move || {
                    let cpu = cpus[index];
                    if let (Err(error), Ok(mut refused)) = (pin(cpu), refused.lock()) {
                        *refused = Some(format!(
                            "a thread cannot be pinned to CPU {cpu}: {error}; allow sched_setaffinity in the sandbox, and do not change the set of CPUs during a run"
                        ));
                    }
                    barrier.wait();
                    refusal().is_none().then(|| work(index))
                })
            })
            .collect();
        barrier.wait();
        if refusal().is_none() {
            meanwhile();
        }
        handles.into_iter().map(|handle| handle.join().ok().flatten()).collect()
    });
    if let Some(refusal) = refusal() {
        return Err(Error::failed(refusal));
    }
    let done: Vec<T> = done.into_iter().flatten().collect();
    if done.len() == cpus.len() {
        return Ok(done);
    }
    Err(Error::failed("a measuring thread panicked; its message is above: report it as a bug"))
}

/// CPU time that the calling thread has used. `None` where the kernel does not tell.
pub fn thread_cpu() -> Option<Duration> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    (failed == 0).then(|| Duration::new(time.tv_sec as u64, time.tv_nsec as u32))
}

/// Runs `work` on a new thread that is pinned to the first of [`places`].
pub fn alone<T: Send>(work: impl Fn() -> T + Sync) -> Result<T> {
    let first = &places()[..1];
    let mut done = crew(first, |_| work(), || ())?;
    done.pop().ok_or_else(|| Error::failed("there is no CPU to measure on"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use topology::{CpuSource, Fake, Machine};

    #[test]
    fn a_crew_runs_where_it_was_put_and_answers_in_order() {
        let places = places();
        let cpus = round_robin(&places, 2 * places.len() as u32);
        let source = CpuSource::detect();
        let found = crew(&cpus, |index| (index, source.current().0), || ()).unwrap();
        let expected: Vec<(usize, u32)> = cpus.into_iter().enumerate().collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn nobody_works_when_one_cannot_be_pinned() {
        let worked = std::sync::Mutex::new(0);
        let error = crew(&[places()[0], 8191], |_| *worked.lock().unwrap() += 1, || ()).unwrap_err();
        assert!(error.to_string().contains("CPU 8191"), "{error}");
        assert_eq!(*worked.lock().unwrap(), 0);
    }

    #[test]
    fn cores_come_before_their_second_hardware_threads() {
        let machine = Machine::fake(Fake { packages: 2, cores: 3, threads: 2, holes: vec![1] });
        let places = places_of(&machine);
        let cores: BTreeSet<_> = (places.iter())
            .take(machine.count(topology::DomainKind::Core))
            .filter_map(|place| machine.cpu(topology::CpuId(*place)))
            .map(|cpu| cpu.core.index())
            .collect();
        assert_eq!(cores.len(), machine.count(topology::DomainKind::Core));
        assert_eq!(places.len(), machine.cpus().len());
    }
}
