//! Tiles along m, cache blocks, and tasks.

use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use smalti_isa::{Caches, CoreClass};
use smalti_ukernels::table::Row;

/// `count` tiles of `m0` rows, one below the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Run {
    /// Rows of a tile.
    pub m0: usize,
    /// How many.
    pub count: usize,
}

/// How the rows of a block are cut into tiles: runs, from the top.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tiles(pub Vec<Run>);

impl Tiles {
    /// The first row and the rows of each tile.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let mut at = 0;
        self.0.iter().flat_map(|run| core::iter::repeat_n(run.m0, run.count)).map(move |m0| {
            let first = at;
            at += m0;
            (first, m0)
        })
    }

    /// The cheapest cut of `m` rows into tiles of the M0s of `rows`, each as dear as its row's rate says.
    ///
    /// Tiles of the cheapest M0 per row are taken until the rest is short enough to be cut by exhaustion.
    pub(crate) fn cut(m: usize, rows: &[(usize, &Row)], core: CoreClass) -> Tiles {
        // Cycles of a tile per column and k, in units fine enough to compare; rounded up, so that no
        // rounding makes many small tiles cheaper than a large one.
        let cost = |&(m0, row): &(usize, &Row)| (m0 as u64 * 1_000_000).div_ceil(row.rate(core));
        let best = rows.iter().min_by_key(|r| (cost(r) * 1000 / r.0 as u64, usize::MAX - r.0));
        let Some(&(best, _)) = best else { return Tiles(Vec::new()) };
        let longest = rows.iter().map(|r| r.0).max().unwrap_or(1);
        let bulk = if m > 2 * longest { (m - longest) / best } else { 0 };
        let rest = m - bulk * best;
        // `cheapest[i]`: cost of i rows, and the tile to take first.
        let mut cheapest = vec![(0u64, 0usize); rest + 1];
        for i in 1..=rest {
            let options = rows.iter().filter(|r| r.0 <= i).map(|r| (cheapest[i - r.0].0 + cost(r), r.0));
            // Of cuts that cost the same, the one with the bigger first tile.
            cheapest[i] = options.min_by_key(|&(c, m0)| (c, usize::MAX - m0)).unwrap_or((u64::MAX / 2, i));
        }
        let mut runs: Vec<Run> = Vec::new();
        runs.extend((bulk > 0).then_some(Run { m0: best, count: bulk }));
        let mut left = rest;
        while left > 0 {
            let m0 = cheapest[left].1;
            left -= m0;
            match runs.iter_mut().find(|run| run.m0 == m0) {
                Some(run) => run.count += 1,
                None => runs.push(Run { m0, count: 1 }),
            }
        }
        runs.sort_unstable_by_key(|run| core::cmp::Reverse(run.m0));
        Tiles(runs)
    }
}

/// `27x14+6+1`: runs from the top.
impl fmt::Display for Tiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        for (i, run) in self.0.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { "+" })?;
            match run.count {
                1 => write!(f, "{}", run.m0)?,
                2 => write!(f, "{0}+{0}", run.m0)?,
                n => write!(f, "{n}x{}", run.m0)?,
            }
        }
        Ok(())
    }
}

/// Cache blocks: rows, columns and depth that are worked on before the next ones are touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Blocks {
    /// Rows of a task.
    pub mc: usize,
    /// Columns of a task, a multiple of N0 or all of them.
    pub nc: usize,
    /// Depth of one pass over a task's tiles.
    pub kc: usize,
}

/// Tasks, in the order in which one thread runs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Grid {
    /// Independent products, images or groups.
    pub batch: usize,
    /// Blocks of rows.
    pub m: usize,
    /// Blocks of columns.
    pub n: usize,
}

impl Grid {
    /// How many tasks.
    pub const fn tasks(&self) -> usize {
        self.batch * self.m * self.n
    }

    /// Task number `i`: batch, row block, column block.
    pub const fn at(&self, i: usize) -> [usize; 3] {
        [i / (self.m * self.n), i / self.n % self.m, i % self.n]
    }
}

/// Depth at which an operand's tile is worth a second pass over the output.
const DEEP: usize = 1024;
/// Multiply-adds of a task: small enough that a few threads share a layer, large enough to hide the hand-over.
const TASK: usize = 1 << 21;

/// Blocks for `m x n x k` with tiles of `n0` columns and `k0` deep; rows come in units of `unit`.
pub(crate) fn blocks(
    m: usize,
    n: usize,
    k: usize,
    [unit, n0, k0]: [usize; 3],
    bytes: usize,
    caches: &Caches,
) -> Blocks {
    let passes = k.div_ceil(DEEP).max(1);
    let kc = k.div_ceil(passes).next_multiple_of(k0.max(1)).max(1);
    // The left block stays in the second-level cache while strips of the right operand pass.
    let half = caches.l2 as usize / 2;
    let fitting = (half / (kc * bytes)).max(1);
    let by_work = (TASK / (kc * n.clamp(1, 4 * n0))).max(1);
    // A few tiles are left in one block, where they can be cut evenly.
    let mc = if m <= 4 * unit && m <= fitting {
        m.max(1)
    } else {
        even(m, fitting.min(by_work).max(unit) / unit * unit, unit)
    };
    let nc = even(n, (TASK / (kc * mc.max(1))).max(n0) / n0 * n0, n0);
    Blocks { mc, nc, kc }
}

/// The block that cuts `size` into as many blocks as `block` would, evenly, in units.
fn even(size: usize, block: usize, unit: usize) -> usize {
    if size == 0 {
        return unit;
    }
    let count = size.div_ceil(block.max(1));
    size.div_ceil(count).next_multiple_of(unit).min(size.max(1))
}
