//! Small machines of any shape and cost.

use terrace_coherence::machine::{Machine, Protocol, Shape};

/// What a machine is made of.
pub type Numbers = [u16; 20];

/// A machine of up to 64 CPUs. Far is no cheaper than near, as in files; everything else is as the numbers say.
pub fn of(numbers: &Numbers) -> Machine {
    let mut machine = Machine::named("two-vcpu-epyc").expect("it is shipped");
    let mut numbers = numbers.iter().map(|number| u64::from(*number));
    let mut next = move || numbers.next().expect("as many as are asked for");
    machine.protocol = [Protocol::Mesi, Protocol::Mesif, Protocol::Moesi][next() as usize % 3];
    let mut factor = |most: u64| 1 + (next() % most) as u32;
    machine.shape = Shape { packages: factor(4), clusters: factor(2), cores: factor(4), threads: factor(2) };
    let costs = &mut machine.costs;
    let mut picoseconds = || 1 + next();
    costs.l1 = picoseconds();
    costs.l3 = picoseconds();
    costs.transfer_cluster = picoseconds();
    costs.transfer_package = costs.transfer_cluster + picoseconds();
    costs.transfer_remote = costs.transfer_package + picoseconds();
    costs.home_remote = Some(picoseconds()).filter(|cost| cost % 2 == 0);
    costs.memory_local = picoseconds();
    costs.memory_remote = picoseconds();
    costs.drain = picoseconds();
    costs.locked = costs.drain + picoseconds();
    costs.store = picoseconds();
    costs.residency = picoseconds() - 1;
    costs.sibling_work = 1.6;
    // From one access to longer than most programs.
    costs.quantum = picoseconds().pow(2);
    // A million in a second is the most that files may say.
    costs.migration_rate = (picoseconds() % 11) as f64 * 1e5;
    costs.switch = picoseconds() * 10;
    machine
}
