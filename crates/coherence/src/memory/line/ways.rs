//! How long a line takes to a core.

use super::Line;
use crate::machine::{Costs, Distance, Grid, Picoseconds};
use crate::memory::Links;
use crate::protocol::State;

impl Line {
    /// How long the data takes to come to a core. Between packages it waits for what the link has still to carry; requests and
    /// invalidations carry no data and do not wait.
    pub(super) fn way(
        &self,
        grid: &Grid<'_>,
        links: &mut Links,
        core: u32,
        begin: Picoseconds,
    ) -> Picoseconds {
        let (way, package) = self.source(grid, core);
        if package == grid.package(core) { way } else { links.line(package, begin, way) }
    }

    /// How long the data takes to come to a core where nothing else is on the way, and from which package it comes.
    fn source(&self, grid: &Grid<'_>, core: u32) -> (Picoseconds, u32) {
        let own = grid.package(core);
        // What a core of the cluster has and nobody may have changed, the cluster's last cache has too.
        let clean = self.answerer.is_some_and(|(answerer, state)| {
            state == State::Forward && grid.cluster(answerer) == grid.cluster(core)
        });
        if clean || self.any_shared(grid.cores_of_cluster(core)) {
            return (grid.costs().l3, own);
        }
        if let Some((answerer, _)) = self.answerer
            && answerer != core
        {
            return (self.transfer(grid, answerer, core), grid.package(answerer));
        }
        if self.any_shared(grid.cores_of_package(core)) {
            (grid.costs().transfer_package, own)
        } else if own == self.home {
            (grid.costs().memory_local, own)
        } else {
            (grid.costs().memory_remote, self.home)
        }
    }

    /// How long it takes from core to core.
    pub(super) fn transfer(&self, grid: &Grid<'_>, from: u32, to: u32) -> Picoseconds {
        let Costs { l1, transfer_cluster, transfer_package, transfer_remote, home_remote, .. } =
            *grid.costs();
        let package = |core: u32| grid.package(core);
        match grid.distance(from, to) {
            Distance::SameCore => l1,
            Distance::SameCluster => transfer_cluster,
            Distance::SamePackage if package(to) != self.home => home_remote.unwrap_or(transfer_package),
            Distance::SamePackage => transfer_package,
            // The directory at home sends the request on: one way more where home is neither of the two.
            Distance::OtherPackage if package(to) != self.home && package(from) != self.home => {
                transfer_remote + grid.costs().memory_remote.saturating_sub(grid.costs().memory_local) / 2
            }
            Distance::OtherPackage => transfer_remote,
        }
    }
}
