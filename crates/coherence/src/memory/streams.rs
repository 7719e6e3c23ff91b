//! The ways of lines to and from memory and between packages: each carries so many bytes a second, and who comes later waits.

use crate::constants;
use crate::machine::{Grid, Machine, Picoseconds};
use serde::Serialize;

/// One way: a core's, a cluster's port, a package's channels, or its links to the others.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Picoseconds for a byte.
    each: f64,
    /// Until when it is busy.
    busy: f64,
    bytes: f64,
}

impl Way {
    fn of(bytes_per_second: f64) -> Way {
        Way { each: 1e12 / bytes_per_second, busy: 0.0, bytes: 0.0 }
    }

    /// Carries bytes after all that was asked for before; says when it has.
    fn carry(&mut self, bytes: f64, now: f64) -> f64 {
        self.bytes += bytes;
        self.busy = self.busy.max(now) + bytes * self.each;
        self.busy
    }
}

/// The links out of each package to the others.
#[derive(Debug)]
pub struct Links {
    ways: Vec<Way>,
    /// Bytes that all cores together have under way at most: a line waits for no more than that.
    most: f64,
    /// The moment of the simulation, which a line that is asked for later does not move.
    now: f64,
}

impl Links {
    /// Of a machine on which nothing is on its way.
    pub fn new(machine: &Machine) -> Links {
        let (shape, bandwidth) = (&machine.shape, &machine.bandwidth);
        Links {
            ways: (0..shape.packages).map(|_| Way::of(bandwidth.link)).collect(),
            most: f64::from(shape.cores()) * constants::UNDER_WAY.value * LINE_BYTES,
            now: 0.0,
        }
    }

    /// A line sets out of a package, and takes so long by itself; says how long with what it waits for: the objects and lines that the
    /// link has still to carry. New objects are told to their ways many lines at a time, and a core has few of them under way.
    pub(super) fn line(&mut self, package: u32, begin: Picoseconds, way: Picoseconds) -> Picoseconds {
        let link = &mut self.ways[package as usize];
        let wait = (link.busy - begin as f64).clamp(0.0, self.most * link.each);
        link.carry(LINE_BYTES, self.now);
        (wait + (way as f64).max(LINE_BYTES * link.each)).ceil() as Picoseconds
    }
}

/// Bytes of a line.
const LINE_BYTES: f64 = 64.0;

/// All ways of a machine.
#[derive(Debug)]
pub struct Streams {
    cores: Vec<Way>,
    clusters: Vec<Way>,
    channels: Vec<Way>,
    links: Links,
    /// Bytes on the way for each byte of new objects; 0 where nothing streams: what is allocated in is smaller than the caches.
    traffic: f64,
    /// Whether they are in the memory of their writer's package.
    local: bool,
}

/// What ways of one kind carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Carried {
    /// Bytes on all of them together.
    pub bytes: f64,
    /// Bytes on the one that carried most.
    pub most: f64,
    /// How many of them there are.
    pub ways: u32,
    /// What one of them carries in a second at most.
    pub bytes_per_second: f64,
}

/// What all ways carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Streamed {
    /// Ways of cores.
    pub cores: Carried,
    /// Ports of clusters.
    pub clusters: Carried,
    /// Memory channels of packages.
    pub channels: Carried,
    /// Links out of packages.
    pub links: Carried,
}

impl Streams {
    pub(super) fn new(machine: &Machine) -> Streams {
        let (shape, bandwidth) = (&machine.shape, &machine.bandwidth);
        let ways = |count: u32, rate: f64| vec![Way::of(rate); count as usize];
        Streams {
            cores: ways(shape.cores(), bandwidth.core),
            clusters: ways(shape.packages * shape.clusters, bandwidth.cluster),
            channels: ways(shape.packages, bandwidth.channels),
            links: Links::new(machine),
            traffic: 0.0,
            local: false,
        }
    }

    /// From now on new objects stream, with so many bytes on the way for each of theirs, to their writer's package or to all.
    pub(super) const fn set(&mut self, traffic: f64, local: bool) {
        (self.traffic, self.local) = (traffic, local);
    }

    /// The links at a moment, for lines that come from another package's cores or memory.
    pub(super) const fn links(&mut self, now: Picoseconds) -> &mut Links {
        self.links.now = now as f64;
        &mut self.links
    }

    pub(super) fn any(&self) -> bool {
        self.traffic > 0.0
    }

    /// A core begins to write so many bytes of new objects; says when the last of them has gone all its ways. Unless they are local
    /// eden's pages are spread over all packages: who writes to them comes by chance after each collection. Of what comes from another
    /// package half are lines that are read, over its links, and half are lines that are written back, over this package's.
    pub(super) fn write(&mut self, grid: &Grid<'_>, core: u32, bytes: f64, now: Picoseconds) -> Picoseconds {
        let packages = f64::from(grid.machine.shape.packages);
        let (now, bytes) = (now as f64, bytes * self.traffic);
        let mut end = self.cores[core as usize].carry(bytes, now);
        end = end.max(self.clusters[grid.cluster(core) as usize].carry(bytes, now));
        let own = grid.package(core) as usize;
        if self.local {
            return end.max(self.channels[own].carry(bytes, now)).ceil() as Picoseconds;
        }
        for way in &mut self.channels {
            end = end.max(way.carry(bytes / packages, now));
        }
        if packages > 1.0 {
            for (package, way) in self.links.ways.iter_mut().enumerate() {
                let others = if package == own { packages - 1.0 } else { 1.0 };
                end = end.max(way.carry(bytes / packages / 2.0 * others, now));
            }
        }
        end.ceil() as Picoseconds
    }

    pub(super) fn carried(&self) -> Streamed {
        let of = |ways: &[Way]| Carried {
            bytes: ways.iter().map(|way| way.bytes).sum(),
            most: ways.iter().map(|way| way.bytes).fold(0.0, f64::max),
            ways: ways.len() as u32,
            bytes_per_second: ways.first().map_or(0.0, |way| 1e12 / way.each),
        };
        Streamed {
            cores: of(&self.cores),
            clusters: of(&self.clusters),
            channels: of(&self.channels),
            links: of(&self.links.ways),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two links that carry a line in a nanosecond, and at most so many lines under way.
    fn links(most: f64) -> Links {
        Links { ways: vec![Way::of(64e9); 2], most: most * LINE_BYTES, now: 0.0 }
    }

    /// How long a line of 100 ns takes that sets out at once.
    fn line(links: &mut Links, package: u32, now: Picoseconds) -> Picoseconds {
        links.now = now as f64;
        links.line(package, now, 100_000)
    }

    #[test]
    fn a_line_waits_for_what_its_link_has_still_to_carry() {
        let mut links = links(100.0);
        assert_eq!([line(&mut links, 0, 5_000), line(&mut links, 0, 5_000)], [100_000, 101_000]);
        assert_eq!(line(&mut links, 0, 6_500), 100_500);
        assert_eq!(line(&mut links, 1, 6_500), 100_000, "each package has its own");
        assert_eq!(line(&mut links, 0, 20_000), 100_000);
        assert_eq!(links.ways[0].bytes, 256.0);
    }

    #[test]
    fn a_line_waits_for_no_more_than_cores_have_under_way() {
        let mut links = links(16.0);
        links.ways[0].carry(8192.0, 0.0);
        assert_eq!(line(&mut links, 0, 0), 116_000, "128 lines were told at once");
        // And a line that takes less than its link does takes what the link does.
        assert_eq!(links.line(1, 0, 100), 1_000);
    }

    #[test]
    fn what_is_asked_for_later_keeps_nobody_waiting_before() {
        let mut links = links(100.0);
        assert_eq!(links.line(0, 150_000, 100_000), 100_000);
        assert_eq!(line(&mut links, 0, 3_000), 100_000);
    }
}
