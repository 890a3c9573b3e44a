//! From a problem and a target to a plan.

use crate::blocking::{Blocks, Grid, Tiles, blocks};
use crate::encoding::Layout;
use crate::problem::{Conv2d, Matmul, Order, Problem};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use smalti_isa::Target;
use smalti_ukernels::name::{Dim, Op, Types};
use smalti_ukernels::select::{self, Mmt4dQuery};
use smalti_ukernels::table::{Family, Numerics, ROWS, Row, Tier};

/// How a problem is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// Tiles of a product.
    Matmul,
    /// A convolution as a batch-reduce over taps and groups of channels; tiles are runs of pixels of one output row.
    Direct,
    /// A 1x1 convolution of stride 1: tiles are runs of pixels of the whole plane.
    Pointwise,
}

impl Algorithm {
    /// The name in plans.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Matmul => "matmul",
            Algorithm::Direct => "direct",
            Algorithm::Pointwise => "pointwise",
        }
    }
}

/// A row that was considered and not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The row's name.
    pub row: &'static str,
    /// Why.
    pub reason: String,
}

/// How a problem is computed on a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The problem.
    pub problem: Problem,
    /// The target.
    pub target: Target,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The family of kernels.
    pub family: Family,
    /// The class of all tiles.
    pub numerics: Numerics,
    /// What may be expected of the kernels.
    pub tier: Tier,
    /// N0 and K0 on this target; reckoned with the least vector length where N0 follows one that the target leaves open.
    pub tile: [usize; 2],
    /// The left operand: activations.
    pub lhs: Layout,
    /// The right operand: weights.
    pub rhs: Layout,
    /// The output.
    pub out: Layout,
    /// How a task's rows (of a product), an output row's pixels, or a task's pixels are cut.
    pub tiles: Tiles,
    /// The same for the last task's rows, where it has fewer.
    pub last_tiles: Tiles,
    /// Cache blocks. For [`Algorithm::Direct`] `mc` counts output rows and `kc` is the whole depth.
    pub blocks: Blocks,
    /// Tasks.
    pub grid: Grid,
    /// Workspace of one worker, in bytes.
    pub scratch: usize,
    /// Rows that were not taken.
    pub rejected: Vec<Rejected>,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Sizes that no convolution can have.
    #[error("{problem}: {reason}")]
    Impossible {
        /// The problem's text.
        problem: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// No row for the operand types.
    #[error("{0}: no kernel has these operand types")]
    Types(String),
}

/// Channels that are summed before the next tap is turned to: the order of a convolution's sum.
pub const CHANNEL_GROUP: usize = 16;

/// The plan for `problem`, from `family` where that is given.
///
/// # Errors
/// Sizes that contradict each other, or types that no row has.
pub fn plan(problem: &Problem, family: Option<Family>, target: &Target) -> Result<Plan, PlanError> {
    match problem {
        Problem::Matmul(p) => matmul(p, family, target),
        Problem::Conv2d(p) => conv2d(p, family, target),
    }
}

/// The kernels that a plan is made of: the selected row's family, class and tier, and its M0s.
struct Kernels {
    family: Family,
    numerics: Numerics,
    tier: Tier,
    tile: [usize; 2],
    rows: Vec<(usize, &'static Row)>,
    rejected: Vec<Rejected>,
}

/// M0, N0 and K0 of a row whose tile is given at run time.
const GENERIC_TILE: [usize; 3] = [8, 8, 1];

fn kernels(query: &Mmt4dQuery, problem: Problem, target: &Target) -> Result<Kernels, PlanError> {
    let selection = select::mmt4d(query, target).ok_or_else(|| PlanError::Types(problem.to_string()))?;
    let row = selection.row;
    let family = row.family().or(query.family).unwrap_or(Family {
        types: query.types,
        n0: Dim::Fixed(GENERIC_TILE[1] as u16),
        k0: Dim::Fixed(GENERIC_TILE[2] as u16),
        flipped: row.flipped,
    });
    let peers = |r: &&Row| {
        r.op == Op::Mmt4d
            && !r.by_tile
            && r.family() == row.family()
            && r.types == row.types
            && r.flipped == row.flipped
            && r.numerics == row.numerics
            && r.tier() == row.tier()
            && r.runs_on(target)
    };
    let mut rows: Vec<(usize, &Row)> = Vec::new();
    for r in ROWS.iter().filter(peers) {
        let m0 = r.tile[0].on(target).unwrap_or(GENERIC_TILE[0]);
        // A later row of the same M0 takes an earlier one's place.
        rows.retain(|other| other.0 != m0);
        rows.push((m0, r));
    }
    if row.tier() == Tier::Generic {
        rows = (1..=GENERIC_TILE[0]).map(|m0| (m0, row)).collect();
    }
    let rejected =
        selection.rejected().map(|(row, reason)| Rejected { row: row.name, reason: reason.to_string() }).collect();
    let size = |dim: Dim| dim.expected_on(target).unwrap_or(1);
    Ok(Kernels {
        family,
        numerics: row.numerics,
        tier: row.tier(),
        tile: [size(family.n0), size(family.k0)],
        rows,
        rejected,
    })
}

impl Plan {
    /// The row for tiles of `m0` rows: of the plan's family, class and tier.
    pub fn row(&self, m0: usize) -> Option<&'static Row> {
        let generic = self.tier == Tier::Generic;
        ROWS.iter().rev().find(|r| {
            r.op == Op::Mmt4d
                && !r.by_tile
                && r.types == self.family.types
                && r.flipped == self.family.flipped
                && r.numerics == self.numerics
                && r.tier() == self.tier
                && r.runs_on(&self.target)
                && (generic || r.family() == Some(self.family) && r.tile[0].on(&self.target) == Some(m0))
        })
    }
}

/// Bytes from which on packed constants are to be the same on every machine of a target, so that they are mapped from a
/// file; smaller ones are packed when a program is loaded.
const MAPPED: usize = 1 << 20;

fn worth_mapping(types: Types, n: usize, k: usize) -> bool {
    n.saturating_mul(k).saturating_mul(types.list[1].bits()) / 8 >= MAPPED
}

fn matmul(p: &Matmul, family: Option<Family>, target: &Target) -> Result<Plan, PlanError> {
    let mappable = family.is_none() && p.rhs_constant && worth_mapping(p.types, p.n, p.k);
    let flipped = p.rhs_constant;
    let query = Mmt4dQuery { types: p.types, family, strict: p.strict, mappable, flipped, m: p.m, n: p.n, k: p.k };
    let kernels = kernels(&query, Problem::Matmul(*p), target)?;
    let [n0, k0] = kernels.tile;
    let panel = |t0, constant, flipped| Layout::Panels { t0, t1: k0, constant, flipped };
    // In place where a k-tile of a row is contiguous: always for K0 = 1.
    let lhs = if k0 == 1 || p.lhs == Order::Rows { Layout::InPlace(p.lhs) } else { panel(Dim::Fixed(1), false, false) };
    let rhs = if p.rhs_constant || p.rhs == Order::Columns || k0 > 1 {
        panel(kernels.family.n0.settled_on(target), p.rhs_constant, kernels.family.flipped)
    } else {
        Layout::InPlace(Order::Rows)
    };
    let bytes = p.types.list[0].bits() / 8;
    let unit = kernels.rows.iter().map(|r| r.0).max().unwrap_or(1);
    let mut blocks = blocks(p.m, p.n, p.k, [unit, n0, k0], bytes, &target.caches);
    if matches!(kernels.numerics, Numerics::SplitK(_)) {
        // Chains end with a block: with one block, results don't depend on cache sizes.
        blocks.kc = p.k.max(1);
    }
    let grid = Grid { batch: p.batch, m: p.m.div_ceil(blocks.mc), n: p.n.div_ceil(blocks.nc) };
    Ok(finish(
        Problem::Matmul(*p),
        target,
        Algorithm::Matmul,
        kernels,
        [lhs, rhs, Layout::InPlace(Order::Rows)],
        blocks,
        grid,
        p.m,
    ))
}

fn conv2d(p: &Conv2d, family: Option<Family>, target: &Target) -> Result<Plan, PlanError> {
    let impossible = |reason| PlanError::Impossible { problem: Problem::Conv2d(*p).to_string(), reason };
    if p.groups == 0 || !p.ic.is_multiple_of(p.groups) || !p.oc.is_multiple_of(p.groups) {
        return Err(impossible("groups must divide both channel counts"));
    }
    if p.stride.contains(&0) || p.dilation.contains(&0) || p.kernel.contains(&0) {
        return Err(impossible("stride, dilation and kernel must be at least 1"));
    }
    let [height, width] = p.output().ok_or_else(|| impossible("the kernel is larger than the padded input"))?;
    let (ic, oc) = (p.ic / p.groups, p.oc / p.groups);
    let pointwise = p.kernel == [1, 1] && p.stride == [1, 1] && p.pad == [0; 4] && !p.rows_apart;
    let algorithm = if pointwise { Algorithm::Pointwise } else { Algorithm::Direct };
    let pixels = if pointwise { height * width } else { width };
    let k = ic * p.kernel[0] * p.kernel[1];
    let mappable = family.is_none() && worth_mapping(p.types, p.oc, k);
    let query = Mmt4dQuery { types: p.types, family, strict: p.strict, mappable, flipped: false, m: pixels, n: oc, k };
    let kernels = kernels(&query, Problem::Conv2d(*p), target)?;
    let n0 = kernels.tile[0];
    let longest = kernels.rows.iter().map(|r| r.0).max().unwrap_or(1);
    let channels = CHANNEL_GROUP.min(ic.max(1));
    let weights = Layout::Weights { n0: kernels.family.n0.settled_on(target), channels };
    let layouts = [Layout::InPlace(Order::Columns), weights, Layout::InPlace(Order::Columns)];
    let bytes = p.types.list[0].bits() / 8;
    let (rows, unit) = if pointwise { (pixels, longest) } else { (height, 1) };
    let mut blocks = blocks(rows * if pointwise { 1 } else { width }, oc, k, [longest, n0, 1], bytes, &target.caches);
    if !pointwise {
        blocks.mc = (blocks.mc / width.max(1)).clamp(1, height.max(1));
    }
    blocks.mc = blocks.mc.max(unit.min(rows.max(1)));
    blocks.kc = k.max(1);
    let grid = Grid { batch: p.n * p.groups, m: rows.div_ceil(blocks.mc), n: oc.div_ceil(blocks.nc) };
    let cut = if pointwise { rows } else { width };
    let mut plan = finish(Problem::Conv2d(*p), target, algorithm, kernels, layouts, blocks, grid, cut);
    if !pointwise {
        // Every output row is cut alike.
        plan.last_tiles = plan.tiles.clone();
    }
    Ok(plan)
}

#[allow(clippy::too_many_arguments)] // The parts of a plan, each decided by the caller.
fn finish(
    problem: Problem,
    target: &Target,
    algorithm: Algorithm,
    kernels: Kernels,
    [lhs, rhs, out]: [Layout; 3],
    blocks: Blocks,
    grid: Grid,
    rows: usize,
) -> Plan {
    let whole = if algorithm == Algorithm::Direct { rows } else { blocks.mc.min(rows) };
    let last = rows - whole * (rows.div_ceil(whole.max(1)).max(1) - 1);
    let cut = |m| Tiles::cut(m, &kernels.rows, target.core);
    let [n0, _] = kernels.tile;
    // A finished tile, where the output is written by another step than the kernel.
    let longest = kernels.rows.iter().map(|r| r.0).max().unwrap_or(1);
    let scratch = longest * n0 * problem.types().list[2].bits() / 8;
    let tiles = [cut(whole), cut(last)];
    let [tiles, last_tiles] = tiles;
    Plan {
        problem,
        target: *target,
        algorithm,
        family: kernels.family,
        numerics: kernels.numerics,
        tier: kernels.tier,
        tile: kernels.tile,
        lhs,
        rhs,
        out,
        tiles,
        last_tiles,
        blocks,
        grid,
        scratch,
        rejected: kernels.rejected,
    }
}
