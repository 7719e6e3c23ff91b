//! scratch
use terrace_coherence::{machine,programs::{self}};
fn main(){
 let m0=machine::haswell();
  for (res,w) in [(0u64,8.0),(0,12.0),(0,16.0),(0,24.0),(4000,12.0),(8000,12.0),(12000,12.0)] { let mut m=m0.clone(); m.costs.residency=res;
   print!("haswell res {} w {}: ",res,w);
   for t in [1,2,3,4] { let o=programs::Options{threads:t,pinned:true,seed:1,length:500_000_000,events:1};
    let r=programs::untlab::run(&m,16,w,&o).unwrap();
    let tr=r.outcome.traffic.total();
    let top=r.outcome.traffic.lines.iter().find(|l|l.name=="top").unwrap();
    let ob=r.outcome.traffic.lines.iter().find(|l|l.name=="new objects").unwrap();
    let n=r.operations as f64;
    print!("{:.1}M/s({:.2} lost, top {:.2}M rd {:.2}, obj {:.2}) ",r.per_second()/1e6,r.lost as f64/n,top.modified as f64/n,top.modified_reads as f64/n,ob.modified as f64/n);}
   println!();  }
}
