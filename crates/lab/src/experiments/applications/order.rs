//! The order of a round's forks: within six rounds every order of three sides comes once, in an order by chance. So no side is
//! always before another, and nothing with a rhythm favours one.

use statistics::Random;

const ALL: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// Orders without end.
pub(super) struct Orders {
    random: Random,
    left: Vec<[usize; 3]>,
}

impl Orders {
    pub fn new(seed: u64) -> Orders {
        Orders { random: Random::new(seed), left: Vec::new() }
    }

    pub fn next(&mut self) -> [usize; 3] {
        if self.left.is_empty() {
            self.left = ALL.to_vec();
        }
        let chosen = self.random.below(self.left.len());
        self.left.swap_remove(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_rounds_have_every_order_once() {
        let mut orders = Orders::new(7);
        let mut six = || {
            let mut six: Vec<_> = (0..6).map(|_| orders.next()).collect();
            let met = six.clone();
            six.sort_unstable();
            assert_eq!(six, ALL);
            met
        };
        let blocks: Vec<_> = (0..8).map(|_| six()).collect();
        assert!(blocks.iter().any(|block| *block != blocks[0]), "by chance");
    }
}
