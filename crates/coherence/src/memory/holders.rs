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
#[derive(Clone, Debug)]
pub(super) enum Holders {
    Few(Vec<Rights>),
    Many(Vec<Rights>),
}

/// So many are looked through one after the other.
const FEW: usize = 12;

impl Holders {
    pub(super) fn of(&mut self, core: u32, cores: u32) -> &mut Rights {
        if let Holders::Few(few) = self
            && few.len() >= FEW
            && !few.iter().any(|rights| rights.core == core)
        {
            let mut many: Vec<Rights> = (0..cores).map(Rights::none).collect();
            for rights in few.iter() {
                many[rights.core as usize] = *rights;
            }
            *self = Holders::Many(many);
        }
        match self {
            Holders::Few(few) => {
                let at = few.iter().position(|rights| rights.core == core).unwrap_or_else(|| {
                    few.push(Rights::none(core));
                    few.len() - 1
                });
                &mut few[at]
            }
            Holders::Many(many) => &mut many[core as usize],
        }
    }

    #[cfg(debug_assertions)]
    pub(super) fn all(&self) -> &[Rights] {
        let (Holders::Few(all) | Holders::Many(all)) = self;
        all
    }
}
