//! One arena, all threads of rayon: each allocates where it is, and the results outlive the threads' work.
//!
//!     cargo run -p terrace-arena --example parallel

use arena::Arena;
use rayon::prelude::*;

/// A tree of which threads make parts.
#[derive(Debug)]
pub struct Tree<'a> {
    depth: u32,
    children: &'a [Tree<'a>],
}

fn grow(arena: &Arena, depth: u32) -> Tree<'_> {
    if depth == 0 {
        return Tree { depth, children: &[] };
    }
    let (left, right) = rayon::join(|| grow(arena, depth - 1), || grow(arena, depth - 1));
    Tree { depth, children: arena.alloc_slice_from_iter([left, right]) }
}

fn count(tree: &Tree<'_>) -> usize {
    1 + tree.children.iter().map(count).sum::<usize>()
}

/// Grows trees, then texts, and takes each back at once.
pub fn main() {
    let mut arena = Arena::new();
    let trees = arena.scope(|scope| {
        let tree = grow(scope.arena(), 12);
        assert_eq!((tree.depth, count(&tree)), (12, (1 << 13) - 1));
        count(&tree)
    });
    // A hold of one's own for each piece of work.
    let mut lengths: Vec<usize> = (0..1000_u32)
        .into_par_iter()
        .map_init(|| arena.local(), |local, number| local.alloc([number; 8]).len() + number as usize)
        .collect();
    lengths.sort_unstable();
    assert!(lengths.iter().enumerate().all(|(number, length)| *length == number + 8));
    println!("{trees} nodes, {} values in {} bytes", lengths.len(), arena.stats().used_bytes);
    arena.reset();
}
