//! The request as a user's code would contain it, compiled as what is shipped is compiled. A crate of its own, because it needs the
//! shipped profile and little else: all other tests are built with assertions.

use hab::{CpuIndex, Extent, Level, Request, Shared, Source};

/// A heap behind which there is nothing.
#[derive(Debug)]
pub struct Nothing;

impl Source for Nothing {
    fn acquire(&self, _cpu: CpuIndex, _min: usize, _desired: usize) -> Option<Extent> {
        None
    }

    fn available(&self, _cpu: CpuIndex) -> usize {
        0
    }

    fn retire(&self, _tail: Extent) {}
}

/// The request; 0 if it is refused.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub extern "C" fn golden_allocate(
    level: &Level<'static, Shared, Nothing>,
    cpu: u32,
    min: usize,
    desired: usize,
) -> usize {
    level.allocate(CpuIndex(cpu), Request::buffer(min, desired)).map_or(0, |extent| extent.start)
}
