//! scratch
use arena::{Arena, Path};
use std::alloc::Layout;
fn main() {
    let path = if std::env::args().nth(1).as_deref() == Some("core") { Path::Core } else { Path::Thread };
    let mut a = Arena::builder().reserve(1 << 30).limit(256<<20).pre_touch(true).path(path).build().unwrap();
    for _ in 0..50 { for i in 0..10_000_000u64 { let p = a.try_alloc_layout(Layout::new::<[u64;2]>()).unwrap(); unsafe { p.cast::<u64>().write(i) } } a.reset(); }
}
