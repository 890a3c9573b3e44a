//! Products of one tile, with everything optional on or off.

use arbitrary::{Result, Unstructured};
use smalti_isa::Target;
use smalti_ukernels::elem::ElemType;
use smalti_ukernels::mmt4d::Batch;
use smalti_ukernels::table::{ROWS, Row};
use std::ops::RangeInclusive;

/// One call of one row. Operands are as long as the call reaches, and small numbers that all types of rows have: sums of
/// as many products as a case has are exact in them, in whatever order and however they are rounded.
#[derive(Clone, Debug)]
pub struct Case {
    /// The row's place in the table: one that runs here.
    pub row: usize,
    /// The tile, for rows that take one.
    pub tile: [usize; 3],
    /// Valid rows and columns.
    pub size: [usize; 2],
    /// Depth of a batch.
    pub k: usize,
    /// Strides of the left operand: row, k-tile.
    pub lhs_strides: [isize; 2],
    /// Stride of the right operand.
    pub rhs_stride: isize,
    /// The products.
    pub batches: Vec<Batch>,
    /// Operands.
    pub lhs: Vec<i8>,
    /// Right operand.
    pub rhs: Vec<i8>,
    /// Starting values.
    pub init: Option<Vec<i8>>,
    /// Bias.
    pub bias: Option<Vec<i8>>,
    /// Clamp.
    pub clamp: Option<[i8; 2]>,
    /// Scales and zero points, as many as there are.
    pub scales: Vec<i8>,
    /// Zero points.
    pub zero_points: Option<Vec<i8>>,
    /// Output before.
    pub out: Vec<i8>,
    /// Its stride.
    pub out_stride: isize,
    /// Whether it is added to.
    pub accumulate: bool,
}

fn values(u: &mut Unstructured<'_>, count: usize, range: RangeInclusive<i8>) -> Result<Vec<i8>> {
    (0..count).map(|_| u.int_in_range(range.clone())).collect()
}

/// Makes a case.
///
/// # Errors
/// Too few bytes.
pub fn case(u: &mut Unstructured<'_>) -> Result<Case> {
    let target = *crate::oracle::mmt4d::host().target();
    let here = |row: &Row| row.op == smalti_ukernels::name::Op::Mmt4d && row.runs_on(&target);
    let rows: Vec<usize> = (0..ROWS.len()).filter(|&i| here(&ROWS[i])).collect();
    let row = *u.choose(&rows)?;
    let tile = tile(&ROWS[row], &target, u)?;
    let [m0, n0, k0] = tile;
    let operands = ROWS[row].types;
    let types = operands.list;
    // Elements of a byte stay together.
    let count = types[1].per_byte();
    let size = [u.int_in_range(0..=m0)?, u.int_in_range(0..=n0)?];
    let k: usize = u.int_in_range(0..=40)?;
    let k_tiles = k.div_ceil(k0);
    let lhs_strides = if u.arbitrary()? { [k0, m0 * k0] } else { [k_tiles * k0 + u.int_in_range(0..=3)?, k0] };
    let rhs_stride = size[1] * k0 + u.int_in_range(0..=4)? / count * count;
    let mut batches = Vec::new();
    for _ in 0..u.int_in_range(0..=3)? {
        let skip_first = if u.ratio(1, 3)? { u.int_in_range(0..=size[0])? } else { 0 };
        let skip_last = if u.ratio(1, 3)? { u.int_in_range(0..=size[0])? } else { 0 };
        let shift = u.int_in_range(0..=2)?;
        let offset = u.int_in_range(0..=2)? / count * count;
        let lhs = shift as isize - (skip_first * lhs_strides[0]) as isize;
        batches.push(Batch { lhs, rhs: offset as isize, skip_first, skip_last });
    }
    // How far the calls reach.
    let (mut lhs_len, mut rhs_len) = (0isize, 0isize);
    for b in &batches {
        let end = size[0].saturating_sub(b.skip_last);
        if b.skip_first >= end || k == 0 || size[1] == 0 {
            continue;
        }
        let inner = ((k - 1) % k0) as isize;
        let last = ((k_tiles - 1) * lhs_strides[1] + (end - 1) * lhs_strides[0]) as isize;
        lhs_len = lhs_len.max(b.lhs + last + inner.max(if k >= k0 { k0 as isize - 1 } else { 0 }) + 1);
        let last = ((k_tiles - 1) * rhs_stride + (size[1] - 1) * k0) as isize;
        rhs_len = rhs_len.max(b.rhs + last + k0 as isize);
    }
    let out_stride = size[1] + u.int_in_range(0..=3)?;
    let out_len = if size.contains(&0) { 0 } else { (size[0] - 1) * out_stride + size[1] };
    let panel = match operands.groups(batches.len(), k) {
        Some(groups) if groups > 0 => (groups - 1) * n0 + size[1],
        _ => 0,
    };
    Ok(Case {
        row,
        tile,
        size,
        k,
        lhs_strides: lhs_strides.map(|s| s as isize),
        rhs_stride: rhs_stride as isize,
        lhs: values(u, lhs_len.max(0) as usize, range(types[0]))?,
        rhs: values(u, rhs_len.max(0) as usize, range(types[1]))?,
        init: if u.arbitrary()? { Some(values(u, size[0] * size[1], range(types[2]))?) } else { None },
        bias: if u.arbitrary()? { Some(values(u, size[1], range(types[2]))?) } else { None },
        clamp: if u.arbitrary()? { Some([-2, 3]) } else { None },
        scales: values(u, panel, -2..=2)?,
        zero_points: if u.arbitrary()? { Some(values(u, panel, -2..=2)?) } else { None },
        out: values(u, out_len, range(types[2]))?,
        out_stride: out_stride as isize,
        accumulate: u.arbitrary()?,
        batches,
    })
}

/// Values of a type: 40 products of three batches stay below 2048, which f16 counts to; below 256 for bf16.
fn range(elem: ElemType) -> RangeInclusive<i8> {
    match elem {
        ElemType::U8 | ElemType::U4 => 0..=4,
        ElemType::Bf16 => -1..=1,
        _ => -4..=4,
    }
}

fn tile(row: &Row, target: &Target, u: &mut Unstructured<'_>) -> Result<[usize; 3]> {
    let [m0, n0, k0] = row.tile.map(|dim| dim.on(target));
    Ok([
        m0.map_or_else(|| u.int_in_range(1..=9), Ok)?,
        n0.map_or_else(|| u.int_in_range(1..=9), Ok)?,
        k0.map_or_else(|| Ok(u.int_in_range(1..=5)? * row.types.list[1].per_byte()), Ok)?,
    ])
}
