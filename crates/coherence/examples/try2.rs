//! scratch
use terrace_coherence::{
    machine::Machine,
    programs::{self, allocate::*},
};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let m = Machine::named(&a[1]).unwrap();
    let ths: Vec<u32> = a[2].split(',').map(|x| x.parse().unwrap()).collect();
    let kb = |k: usize| k << 10;
    let core = |b| Rank { domain: Domain::Core, bytes: b };
    let clus = |b| Rank { domain: Domain::Cluster, bytes: b };
    let hs = [
        ("none", Hierarchy::None),
        ("core512k", Hierarchy::Levels(vec![core(kb(512))])),
        ("core8m", Hierarchy::Levels(vec![core(kb(8192))])),
        ("L3 32m", Hierarchy::Levels(vec![clus(kb(32768))])),
        ("core512k+L3 8m", Hierarchy::Levels(vec![core(kb(512)), clus(kb(8192))])),
        ("paperP 32m", Hierarchy::Paper(clus(kb(32768)))),
    ];
    for tl in [Tlab::None, Tlab::Bytes(1024), Tlab::Bytes(4096), Tlab::Bytes(kb(64)), Tlab::Growing] {
        for (n, h) in &hs {
            print!("{tl:?} {n}: ");
            for &t in &ths {
                let o = programs::Options {
                    threads: t,
                    pinned: false,
                    seed: 1,
                    length: 2_000_000_000,
                    events: 0,
                };
                let al = Allocation {
                    tlab: tl,
                    hierarchy: h.clone(),
                    eden: kb(8 << 20),
                    mutator: Mutator::constant(64, 40.0, 0.2),
                    refill_cycles: 200.0,
                    heap_cycles: 100.0,
                    pause: 0,
                };
                let s = std::time::Instant::now();
                let r = run(&m, &al, &o).unwrap();
                let w = s.elapsed().as_secs_f64();
                print!(
                    "{t}: {:.1}M/s ({:.1} M sim/s, {:.2}s, gc {}) ",
                    r.run.per_second() / 1e6,
                    r.run.operations as f64 / w / 1e6,
                    w,
                    r.collections
                );
            }
            println!();
        }
    }
}
