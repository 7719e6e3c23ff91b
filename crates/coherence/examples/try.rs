//! scratch
use terrace_coherence::{
    machine::Machine,
    programs::{self, counters::*},
};
fn main() {
    for m in ["opsian-haswell", "thompson-nehalem", "thompson-sandy-bridge", "two-vcpu-epyc"] {
        for res in [0u64, 40_000, 60_000] {
            let mut m = Machine::named(m).unwrap();
            if res > 0 && m.name != "thompson-nehalem" {
                continue;
            }
            m.costs.residency = res;
            for inc in [Increment::ExchangeAdd, Increment::CompareExchange] {
                print!("{} res {} {:?}: ", m.name, res, inc);
                for t in 1..=m.shape.cpus() {
                    let o = programs::Options {
                        threads: t,
                        pinned: true,
                        seed: 1,
                        length: 2_000_000_000,
                        events: 0,
                    };
                    let s = std::time::Instant::now();
                    let r = run(&m, inc, &o).unwrap();
                    let w = s.elapsed().as_secs_f64();
                    let tr = r.outcome.traffic.total();
                    print!(
                        "{:.1}M/s({:.2},{:.2};{:.0}ns) ",
                        r.per_second() / 1e6,
                        r.lost as f64 / r.operations as f64,
                        tr.modified as f64 / r.operations as f64,
                        w * 1e9 / r.operations as f64
                    );
                }
                println!();
            }
        }
    }
}
