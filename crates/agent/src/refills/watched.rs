//! A level's source, whose answers are timed when somebody asks for it.

use super::{Place, Watch};
use hab::{CpuIndex, Extent, Source};

/// What a level is refilled from.
pub(crate) struct Watched<S> {
    watch: Watch,
    from: Place,
    to: Place,
    pub(crate) source: S,
}

impl<S: Source> Watched<S> {
    pub(crate) fn new(watch: Watch, from: Place, to: Place, source: S) -> Watched<S> {
        Watched { watch, from, to, source }
    }

    #[inline(always)]
    fn timed(&self, direct: bool, serve: impl FnOnce() -> Option<Extent>) -> Option<Extent> {
        let begun = self.watch.begin();
        let served = serve();
        if let Some(begun) = &begun {
            let (start, bytes) = served.map_or((0, 0), |extent| (extent.start, extent.bytes));
            self.watch.end(begun, (self.from, self.to), direct, start, bytes);
        }
        served
    }
}

impl<S: Source> Source for Watched<S> {
    fn acquire(&self, cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        self.timed(false, || self.source.acquire(cpu, min, desired))
    }

    fn serve(&self, cpu: CpuIndex, min: usize, desired: usize) -> Option<Extent> {
        self.timed(true, || self.source.serve(cpu, min, desired))
    }

    fn available(&self, cpu: CpuIndex) -> usize {
        self.source.available(cpu)
    }

    fn retire(&self, tail: Extent) {
        self.source.retire(tail);
    }
}
