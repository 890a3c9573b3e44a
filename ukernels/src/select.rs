//! Which row serves a product: a pure function of the query, the target and the table.

use crate::elem::ElemType;
use crate::mmt4d::Tile;
use crate::name::{Dim, Op, Types};
use crate::table::{Family, Numerics, ROWS, Row, Tier};
use smalti_isa::Target;

/// Products of more rows have chains enough without splitting k.
const SPLIT_ROWS: usize = 2;

/// What a product asks of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mmt4dQuery {
    /// Operand types.
    pub types: Types,
    /// Only rows of this family.
    pub family: Option<Family>,
    /// Only rows whose result is the same on every machine.
    pub strict: bool,
    /// Only rows whose panels are the same on every machine of the target, so that packed constants can be mapped from
    /// a file.
    pub mappable: bool,
    /// Where no family is given: also rows whose right operand comes [flipped](Row::flipped), for one that is packed once,
    /// before any run. To flip what is packed in each run costs what it saves.
    pub flipped: bool,
    /// Rows of the product.
    pub m: usize,
    /// Columns of the product.
    pub n: usize,
    /// Depth of the product.
    pub k: usize,
}

impl Mmt4dQuery {
    /// A product of any class, of any family that is not flipped.
    pub const fn new(types: [ElemType; 3], m: usize, n: usize, k: usize) -> Mmt4dQuery {
        Mmt4dQuery { types: Types::new(types), family: None, strict: false, mappable: false, flipped: false, m, n, k }
    }
}

/// Why a row was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// It belongs to another family.
    #[error("of another family")]
    Family,
    /// The target lacks what it needs.
    #[error("the target lacks {0}")]
    Missing(smalti_isa::Features),
    /// It is for another architecture.
    #[error("for another architecture")]
    Arch,
    /// Its result may differ between machines.
    #[error("not strict")]
    NotStrict,
    /// It splits k, which is for products of few rows: of as many as its tile, or a multiple.
    #[error("splits k, for at most {SPLIT_ROWS} rows, as many as the tile's or a multiple")]
    SplitK,
    /// Its panels follow a vector length that the target leaves open.
    #[error("its panels follow the vector length, so they can't be mapped from a file; pin vlen= to admit it")]
    NotMappable,
    /// Its panels are flipped, and the right operand is not packed once.
    #[error("its panels are flipped, for a right operand that is packed once")]
    Flipped,
    /// A row of a better tier serves.
    #[error("of a lower tier")]
    Tier,
    /// More cycles are predicted for it.
    #[error("{0} cycles predicted")]
    Slower(u64),
    /// As good, but its tile is smaller or it stands earlier in the table.
    #[error("a tie, and a smaller or earlier tile")]
    Tie,
}

/// The row that serves, and what is expected of it.
#[derive(Clone, Copy)]
pub struct Selection {
    /// The row.
    pub row: &'static Row,
    /// Predicted cycles: padded multiply-adds over the row's rate.
    pub cycles: u64,
    query: Mmt4dQuery,
    target: Target,
}

impl Selection {
    /// What a caller may expect of the row.
    pub fn tier(&self) -> Tier {
        self.row.tier()
    }

    /// The other rows of the same types, each with the reason why it was not taken.
    pub fn rejected(&self) -> impl Iterator<Item = (&'static Row, Reason)> + '_ {
        candidates(self.query.types).filter(|r| !core::ptr::eq(*r, self.row)).map(|row| {
            let reason = obstacle(row, &self.query, &self.target).unwrap_or_else(|| {
                let cycles = cycles(row, &self.query, &self.target);
                if row.tier() < self.row.tier() {
                    Reason::Tier
                } else if cycles > self.cycles {
                    Reason::Slower(cycles)
                } else {
                    Reason::Tie
                }
            });
            (row, reason)
        })
    }
}

/// Picks the row for a product: those that run on the target, then the best tier, the fewest predicted cycles, the
/// bigger tile, the later row. There is one for all types that the table has: each has a generic row.
pub fn mmt4d(query: &Mmt4dQuery, target: &Target) -> Option<Selection> {
    let row = candidates(query.types).filter(|r| obstacle(r, query, target).is_none()).min_by(|a, b| {
        let by_tier = b.tier().cmp(&a.tier());
        let by_cycles = cycles(a, query, target).cmp(&cycles(b, query, target));
        // `min_by` keeps the first of equals, so a later row has to compare as smaller.
        by_tier.then(by_cycles).then(area(b, target).cmp(&area(a, target))).then(index(b).cmp(&index(a)))
    })?;
    Some(Selection { row, cycles: cycles(row, query, target), query: *query, target: *target })
}

/// What may be expected of a family's rows on a target: selection takes the best tier first, whatever the sizes.
pub fn tier(family: Family, strict: bool, target: &Target) -> Option<Tier> {
    let any = Mmt4dQuery::new(family.types.list, 1, 1, 1);
    let query = Mmt4dQuery { types: family.types, family: Some(family), strict, ..any };
    candidates(query.types).filter(|r| obstacle(r, &query, target).is_none()).map(Row::tier).max()
}

/// The row of just that tile, for callers whose panels have it: of the best tier, none that splits k, none whose right operand
/// comes flipped. For all types that
/// the table has there is one: each has a generic row.
pub fn by_tile(types: Types, tile: Tile, target: &Target) -> Option<&'static Row> {
    ROWS.iter()
        .filter(|r| r.op == Op::Mmt4d && r.types == types && r.runs_on(target))
        .filter(|r| !matches!(r.numerics, Numerics::SplitK(_)) && !r.flipped)
        .filter(|r| {
            fits(r.tile[0], tile.m0, target) && fits(r.tile[1], tile.n0, target) && fits(r.tile[2], tile.k0, target)
        })
        .max_by_key(|r| (r.tier(), index(r)))
}

/// The row that packs (or unpacks) panels of `t0 x t1`: tuned before generic, later before earlier. Bits are moved, so a row
/// serves every type of its width; of two elements in a byte, `t1` counts bytes.
pub fn panels(op: Op, types: Types, t0: usize, t1: usize, target: &Target) -> Option<&'static Row> {
    let widths = |types: Types| [0, 1].map(|i| types.list[i].bits() * types.list[i].per_byte());
    ROWS.iter()
        .filter(|r| r.op == op && widths(r.types) == widths(types) && r.runs_on(target))
        .filter(|r| fits(r.tile[0], t0, target) && fits(r.tile[1], t1, target))
        .max_by_key(|r| (r.tier(), index(r)))
}

fn fits(dim: Dim, size: usize, target: &Target) -> bool {
    dim == Dim::Runtime || dim.on(target) == Some(size)
}

fn candidates(types: Types) -> impl Iterator<Item = &'static Row> {
    ROWS.iter().filter(move |r| r.op == Op::Mmt4d && r.types == types && !r.by_tile)
}

fn obstacle(row: &Row, query: &Mmt4dQuery, target: &Target) -> Option<Reason> {
    if row.place.arch().is_some_and(|a| a != target.arch) {
        return Some(Reason::Arch);
    }
    let missing = row.place.features().minus(target.features);
    if !missing.is_empty() {
        return Some(Reason::Missing(missing));
    }
    if query.strict && !row.numerics.is_strict() {
        return Some(Reason::NotStrict);
    }
    // Plans cut a product into whole tiles of one class, and not every class has a tile of one row.
    let whole = row.tile[0].on(target).is_some_and(|m0| query.m.is_multiple_of(m0));
    if matches!(row.numerics, Numerics::SplitK(_)) && (query.m > SPLIT_ROWS || !whole) {
        return Some(Reason::SplitK);
    }
    if query.mappable && row.tile.iter().any(|d| d.on(target).is_none() && *d != Dim::Runtime) {
        return Some(Reason::NotMappable);
    }
    match (query.family, row.family()) {
        (Some(wanted), Some(family)) if wanted != family => Some(Reason::Family),
        (Some(wanted), None) if wanted.flipped != row.flipped => Some(Reason::Family),
        (None, _) if row.flipped && !query.flipped => Some(Reason::Flipped),
        _ => None,
    }
}

fn cycles(row: &Row, query: &Mmt4dQuery, target: &Target) -> u64 {
    let padded = |size: usize, dim: Dim| {
        let tile = dim.expected_on(target).unwrap_or(1);
        size.div_ceil(tile).saturating_mul(tile) as u64
    };
    let [m0, n0, k0] = row.tile;
    let macs = padded(query.m, m0).saturating_mul(padded(query.n, n0)).saturating_mul(padded(query.k, k0));
    macs.saturating_mul(100) / row.rate(target.core)
}

fn area(row: &Row, target: &Target) -> usize {
    row.tile.iter().map(|d| d.expected_on(target).unwrap_or(1)).product()
}

fn index(row: &Row) -> usize {
    ROWS.iter().position(|r| core::ptr::eq(r, row)).unwrap_or(0)
}
