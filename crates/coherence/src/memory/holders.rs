//! The rights of all cores to one line.

use crate::machine::Picoseconds;

pub(super) const NEVER: Picoseconds = Picoseconds::MAX;

/// From when to when a core may read and write a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rights {
    pub(super) core: u32,
    pub(super) read: (Picoseconds, Picoseconds),
    pub(super) write: (Picoseconds, Picoseconds),
}

impl Rights {
    const fn none(core: u32) -> Rights {
        Rights { core, read: (NEVER, NEVER), write: (NEVER, NEVER) }
    }
}

/// Rights by core: a list while there are few, by number when there are many.
#[derive(Clone, Debug, Default)]
pub(super) struct Holders {
    rights: Vec<Rights>,
    /// Whether each core has its place.
    placed: bool,
}

/// So many are looked through one after the other.
const FEW: usize = 12;
/// On a machine with so few cores each has its place at once.
const SMALL: u32 = 16;

impl Holders {
    #[inline]
    pub(super) fn of(&mut self, core: u32, cores: u32) -> &mut Rights {
        let at = if self.placed { core as usize } else { self.find(core, cores) };
        &mut self.rights[at]
    }

    #[inline(never)]
    fn find(&mut self, core: u32, cores: u32) -> usize {
        if let Some(at) = self.rights.iter().position(|rights| rights.core == core) {
            return at;
        }
        if cores > SMALL && self.rights.len() < FEW {
            self.rights.push(Rights::none(core));
            return self.rights.len() - 1;
        }
        let mut placed: Vec<Rights> = (0..cores).map(Rights::none).collect();
        for rights in &self.rights {
            placed[rights.core as usize] = *rights;
        }
        (self.rights, self.placed) = (placed, true);
        core as usize
    }

    /// Takes all rights away.
    pub(super) fn clear(&mut self) {
        if self.placed {
            for rights in &mut self.rights {
                *rights = Rights::none(rights.core);
            }
        } else {
            self.rights.clear();
        }
    }

    #[cfg(debug_assertions)]
    pub(super) fn all(&self) -> &[Rights] {
        &self.rights
    }
}
