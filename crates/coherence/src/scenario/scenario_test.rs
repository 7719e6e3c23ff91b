use super::*;
use crate::programs::allocate::{Collector, Domain};

fn scenario(program: Program) -> Scenario {
    Scenario {
        program,
        threads: 8,
        tlab: Tlab::Bytes(4096),
        hierarchy: Hierarchy::Levels(vec![Rank { domain: Domain::Core, bytes: 64 << 10 }]),
        eden: 64 << 20,
        collector: Collector::Parallel,
        object: DEFAULT_OBJECT,
        work: DEFAULT_WORK,
        calls: Calls::default(),
        pinned: true,
        seed: 1,
        length: 100_000_000,
    }
}

#[test]
fn every_program_runs_and_is_found_by_its_name() {
    let machine = Machine::named("opsian-haswell").unwrap();
    for program in Program::ALL.iter().copied() {
        assert_eq!(program.name().parse(), Ok(program));
        let (measured, _) = scenario(program).run(&machine, 0).unwrap();
        assert!(measured.operations > 0, "{}", program.name());
        assert_eq!(measured.buffers.is_some(), program.allocates());
        assert_eq!(measured.program, program.name());
    }
}

#[test]
fn the_same_seed_gives_the_same() {
    let machine = Machine::named("paper-4x10x2").unwrap();
    let one = Scenario { pinned: false, ..scenario(Program::Allocate) };
    let other = Scenario { seed: 2, ..one.clone() };
    let run = |scenario: &Scenario| scenario.run(&machine, 0).unwrap().0;
    assert_eq!(run(&one), run(&one));
    assert_ne!(run(&one), run(&other));
}

#[test]
fn what_is_held_is_told_by_the_domains_in_use() {
    let machine = Machine::named("paper-4x10x2").unwrap();
    let scenario = scenario(Program::Allocate);
    assert_eq!(scenario.held(&machine), 8 * 4096 + 8 * (64 << 10));
    let anywhere = Scenario { pinned: false, ..scenario };
    assert_eq!(anywhere.held(&machine), 8 * 4096 + 40 * (64 << 10));
}

#[test]
fn what_cannot_be_is_refused_with_a_remedy() {
    let refused = |scenario: Scenario, part: &str| {
        let text = scenario.check().unwrap_err();
        assert!(text.contains(part) && text.contains("; specify "), "{text}");
    };
    let good = || scenario(Program::Allocate);
    assert_eq!(good().check(), Ok(()));
    refused(Scenario { threads: 0, ..good() }, "0 threads");
    refused(Scenario { threads: 8193, ..good() }, "8193 threads");
    refused(Scenario { length: 0, ..good() }, "a time of 0");
    refused(Scenario { eden: 1 << 10, ..good() }, "too small");
    refused(Scenario { tlab: Tlab::Bytes(16 << 20), ..good() }, "too small");
    refused(Scenario { eden: 2 << 40, ..good() }, "too large");
    let rank = Rank { domain: Domain::Cluster, bytes: 1 << 30 };
    refused(Scenario { hierarchy: Hierarchy::Levels(vec![rank]), ..good() }, "L3 buffer");
}
