//! The native functions: a kernel is selected once, and called many times.

use core::ffi::{CStr, c_char};
use smalti_isa::Target;
use smalti_ukernels::elem::ElemType;
use smalti_ukernels::mmt4d::{Batch, RawArgs, Tile};
use smalti_ukernels::name::{Dim, Op, Types};
use smalti_ukernels::select::{self, Mmt4dQuery};
use smalti_ukernels::table::{Code, ROWS, Row};
use smalti_ukernels::{Host, pack, unpack};

/// What a call came to.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "C's names")]
pub enum smalti_status {
    /// It is done.
    SMALTI_OK = 0,
    /// A pointer is null that is needed.
    SMALTI_NULL = 1,
    /// The target's text is not understood, or it is of another architecture than the library.
    SMALTI_TARGET = 2,
    /// No kernel is on these operand types, or a type is no value of `smalti_type`.
    SMALTI_TYPES = 3,
    /// The kernel is not as `smalti_select` made it, or it is of another operation.
    SMALTI_KERNEL = 4,
    /// More rows or columns than the tile has, or a size of 0 where there is none.
    SMALTI_TILE = 5,
    /// Sizes, strides and offsets reach beyond the address space.
    SMALTI_OVERFLOW = 6,
    /// The output overlaps an operand.
    SMALTI_OVERLAP = 7,
    /// Offsets or strides part a byte of two 4-bit elements.
    SMALTI_NIBBLE = 8,
    /// Less scratch than the kernel says.
    SMALTI_SCRATCH = 9,
}
use smalti_status::*;

/// Element types. 4-bit integers lie two in a byte, the first one in the low nibble.
#[repr(C)]
#[allow(non_camel_case_types, reason = "C's names")]
pub enum smalti_type {
    /// IEEE 754 binary64.
    SMALTI_F64 = 0,
    /// IEEE 754 binary32.
    SMALTI_F32 = 1,
    /// IEEE 754 binary16.
    SMALTI_F16 = 2,
    /// The upper half of a binary32.
    SMALTI_BF16 = 3,
    /// Signed 32-bit integer.
    SMALTI_I32 = 4,
    /// Signed 16-bit integer.
    SMALTI_I16 = 5,
    /// Signed 8-bit integer.
    SMALTI_I8 = 6,
    /// Unsigned 8-bit integer.
    SMALTI_U8 = 7,
    /// Signed 4-bit integer.
    SMALTI_I4 = 8,
    /// Unsigned 4-bit integer.
    SMALTI_U4 = 9,
}

/// Operations.
#[repr(C)]
#[allow(non_camel_case_types, reason = "C's names")]
pub enum smalti_op {
    /// Batch-reduce product of tiles.
    SMALTI_MMT4D = 0,
    /// Strided matrix to panels.
    SMALTI_PACK = 1,
    /// Panels to strided matrix.
    SMALTI_UNPACK = 2,
}

/// What is asked of a kernel.
#[repr(C)]
#[allow(non_camel_case_types, reason = "C's names")]
pub struct smalti_query {
    /// A value of `smalti_op`.
    pub op: u32,
    /// Values of `smalti_type`: left, right, output; of moves the first one counts.
    pub types: [u32; 3],
    /// Elements of k that share a scale of the right operand: 0 where there are no groups.
    pub group: u32,
    /// Whether the result must have the same bits on every machine.
    pub strict: bool,
    /// Rows, columns and depth of the product; of moves the first two are the panel's tile.
    pub m: usize,
    /// See `m`.
    pub n: usize,
    /// See `m`.
    pub k: usize,
}

/// A kernel. It runs on machines of the target that it was selected for; that this machine is one is not checked.
#[repr(C)]
#[allow(non_camel_case_types, reason = "C's names")]
pub struct smalti_kernel {
    /// Its number, in this build of the library.
    pub id: usize,
    /// Rows of its tile. Of moves: rows of the panel's tile.
    pub m0: usize,
    /// Columns of its tile. Of moves: columns of the panel's tile.
    pub n0: usize,
    /// Depth of a k-tile.
    pub k0: usize,
    /// Bytes of scratch that a call needs.
    pub scratch: usize,
    /// 0 generic, 1 portable, 2 tuned.
    pub tier: u32,
    /// Whether it reads sums of the left operand's elements, which it else sums itself.
    pub lhs_sums: bool,
    /// Its name, not terminated.
    pub name: *const c_char,
    /// How many bytes the name has.
    pub name_length: usize,
}

/// One of the products that are summed.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(non_camel_case_types, reason = "C's names")]
pub struct smalti_batch {
    /// Offset of row 0's first element in the left operand.
    pub lhs: isize,
    /// Offset of column 0's first element in the right operand.
    pub rhs: isize,
    /// Leading rows that take no part.
    pub skip_first: usize,
    /// Trailing rows that take no part.
    pub skip_last: usize,
}

/// Operands of a tile of a product. Strides and offsets count elements.
///
/// `out[r][c] = clamp(out0 + init[r][c] + sum of lhs * rhs over batches and k + bias[c])`, where `out0` is `out` if
/// `accumulate`, else 0: for `b` and `k` in order the products of `lhs[b.lhs + r*lhs_row_stride + k/K0*lhs_k_stride + k%K0]`
/// and `rhs[b.rhs + k/K0*rhs_k_stride + c*K0 + k%K0]`.
#[repr(C)]
#[allow(non_camel_case_types, reason = "C's names")]
pub struct smalti_mmt4d_args {
    /// Valid rows, at most the tile's.
    pub rows: usize,
    /// Valid columns, at most the tile's.
    pub cols: usize,
    /// Left operand.
    pub lhs: *const core::ffi::c_void,
    /// From one row to the next.
    pub lhs_row_stride: isize,
    /// From one k-tile to the next.
    pub lhs_k_stride: isize,
    /// Right operand.
    pub rhs: *const core::ffi::c_void,
    /// From one k-tile to the next.
    pub rhs_k_stride: isize,
    /// The products to sum.
    pub batches: *const smalti_batch,
    /// How many.
    pub batch_count: usize,
    /// Depth of each, in elements.
    pub k_per_batch: usize,
    /// Starting values of the output's type, or null.
    pub init: *const core::ffi::c_void,
    /// From one row of starting values to the next; 0 where all rows share them.
    pub init_row_stride: isize,
    /// One value of the output's type a column, or null.
    pub bias: *const core::ffi::c_void,
    /// Low and high, of the output's type, or null.
    pub clamp: *const core::ffi::c_void,
    /// Output.
    pub out: *mut core::ffi::c_void,
    /// From one row to the next, at least the columns.
    pub out_row_stride: isize,
    /// Whether `out` is added to.
    pub accumulate: bool,
    /// Scales of the right operand, `[groups][N0]`, for types that have them; else null.
    pub scales: *const f32,
    /// Its zero points, of the same shape, or null where they are 0.
    pub zero_points: *const f32,
    /// Sums of the left operand's elements, `[groups][M0]`, or null.
    pub lhs_sums: *const i32,
    /// Where the next right operand begins, or null.
    pub prefetch_rhs: *const core::ffi::c_void,
    /// Where the next output begins, or null.
    pub prefetch_out: *const core::ffi::c_void,
    /// Workspace.
    pub scratch: *mut core::ffi::c_void,
    /// Its bytes.
    pub scratch_length: usize,
}

/// Operands of a pack: `out[o0*out_strides[0] + o1*out_strides[1] + i0*T1 + i1]` is the source's element of row `o0*T0+i0`,
/// column `o1*T1+i1`, or the padding value where there is none. Transposes are choices of strides.
#[repr(C)]
#[allow(non_camel_case_types, reason = "C's names")]
pub struct smalti_pack_args {
    /// Rows and columns of the source.
    pub size: [usize; 2],
    /// The source.
    pub src: *const core::ffi::c_void,
    /// From one row, and one column, to the next.
    pub src_strides: [isize; 2],
    /// How many tiles, in either dim.
    pub outer: [usize; 2],
    /// The panels.
    pub out: *mut core::ffi::c_void,
    /// From one tile to the next, in either dim.
    pub out_strides: [isize; 2],
    /// The padding value's bits, in the low bytes.
    pub padding: u64,
}

/// Operands of an unpack, the inverse of a pack without padding.
#[repr(C)]
#[allow(non_camel_case_types, reason = "C's names")]
pub struct smalti_unpack_args {
    /// Rows and columns of the output.
    pub size: [usize; 2],
    /// The panels.
    pub src: *const core::ffi::c_void,
    /// From one tile to the next, in either dim.
    pub src_strides: [isize; 2],
    /// The output.
    pub out: *mut core::ffi::c_void,
    /// From one row, and one column, to the next.
    pub out_strides: [isize; 2],
}

/// A sentence for a status.
#[unsafe(no_mangle)]
pub extern "C" fn smalti_status_message(status: u32) -> *const c_char {
    let text: &CStr = match status {
        0 => c"done",
        1 => c"a pointer is null that is needed",
        2 => {
            c"the target's text is not understood, or of another architecture than this library; it is like x86_64_v3, aarch64+dotprod, riscv64+v,vlen=256 or host"
        }
        3 => c"no kernel is on these operand types",
        4 => c"the kernel is none of smalti_select's, or of another operation",
        5 => c"more rows or columns than the kernel's tile has, or a size of 0 where there is none",
        6 => c"sizes, strides and offsets reach beyond the address space",
        7 => c"the output overlaps an operand",
        8 => c"offsets or strides part a byte of two 4-bit elements; they must be even",
        9 => c"less scratch than the kernel needs",
        _ => c"no status of this library",
    };
    text.as_ptr()
}

/// No target's text is as long.
const LONGEST: usize = 512;

/// Selects the kernel that serves a product, or moves panels, on machines of a target: a text such as `x86_64_v4`,
/// `riscv64+v,vlen=256` or `host`.
///
/// # Safety
/// `query` and `out` are null or valid, `target` is null or a terminated text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn smalti_select(
    query: *const smalti_query,
    target: *const c_char,
    out: *mut smalti_kernel,
) -> smalti_status {
    if query.is_null() || target.is_null() || out.is_null() {
        return SMALTI_NULL;
    }
    // SAFETY: the caller's: the text is terminated, so no byte beyond its end is read.
    let (query, length) = unsafe { (&*query, (0..LONGEST).find(|&i| target.add(i).read() == 0)) };
    let Some(length) = length else { return SMALTI_TARGET };
    // SAFETY: as many bytes were just read.
    let text = unsafe { core::slice::from_raw_parts(target.cast::<u8>(), length) };
    let Some(target) = core::str::from_utf8(text).ok().and_then(|t| Target::parse(t).ok()) else {
        return SMALTI_TARGET;
    };
    let elem = |t: u32| ElemType::ALL.get(t as usize).copied();
    let [Some(lhs), Some(rhs), Some(result)] = query.types.map(elem) else { return SMALTI_TYPES };
    let Ok(group) = u16::try_from(query.group) else { return SMALTI_TYPES };
    let row = match query.op {
        0 => {
            let types = Types::grouped([lhs, rhs, result], group);
            let asked = Mmt4dQuery {
                types,
                family: None,
                strict: query.strict,
                mappable: false,
                // C has no way to say so of a kernel, nor to flip panels.
                flipped: false,
                m: query.m,
                n: query.n,
                k: query.k,
            };
            select::mmt4d(&asked, &target).map(|s| s.row)
        }
        1 => select::panels(Op::Pack, Types::pair(lhs, lhs), query.m, query.n, &target),
        2 => select::panels(Op::Unpack, Types::pair(lhs, lhs), query.m, query.n, &target),
        _ => return SMALTI_KERNEL,
    };
    let Some(row) = row else { return SMALTI_TYPES };
    // SAFETY: the caller vouches for the machine when it calls the kernel.
    let Ok(bound) = row.bind(&unsafe { Host::assume(target) }) else { return SMALTI_TARGET };
    let tile = match query.op {
        0 => bound.tile(Tile { m0: 8, n0: 8, k0: rhs.per_byte() }),
        _ => Tile { m0: query.m, n0: query.n, k0: 1 },
    };
    if tile.m0 == 0 || tile.n0 == 0 {
        return SMALTI_TILE;
    }
    let id = ROWS.iter().position(|r| core::ptr::eq(r, row)).unwrap_or(0);
    // SAFETY: the caller's.
    unsafe {
        out.write(smalti_kernel {
            id,
            m0: tile.m0,
            n0: tile.n0,
            k0: tile.k0,
            scratch: row.scratch(tile.m0),
            tier: row.tier() as u32,
            lhs_sums: row.sums,
            name: row.name.as_ptr().cast(),
            name_length: row.name.len(),
        });
    }
    SMALTI_OK
}

/// Bytes that are accessed of an operand.
#[derive(Clone, Copy)]
struct Extent {
    low: i128,
    high: i128,
}

impl Extent {
    /// `run` elements at each point of a grid: steps are (how many, how far apart).
    fn new(base: *const u8, elem: ElemType, from: i128, steps: [(usize, isize); 2], run: usize) -> Extent {
        let bytes = |elements: i128| elements.saturating_mul(elem.bits() as i128).div_euclid(8);
        let reach = |&(count, stride): &(usize, isize)| (count as i128 - 1).saturating_mul(stride as i128);
        let low: i128 = steps.iter().map(reach).filter(|r| *r < 0).fold(from, i128::saturating_add);
        let high: i128 = steps.iter().map(reach).filter(|r| *r > 0).fold(from, i128::saturating_add);
        let end = bytes(high.saturating_add(run as i128)) + i128::from(elem.bits() < 8);
        Extent {
            low: (base.addr() as i128).saturating_add(bytes(low)),
            high: (base.addr() as i128).saturating_add(end),
        }
    }

    /// Whether all of it is in the address space.
    fn fits(&self) -> bool {
        self.low >= 0 && self.high <= isize::MAX as i128
    }

    fn overlaps(&self, other: &Extent) -> bool {
        self.low < other.high && other.low < self.high
    }
}

/// The row of a kernel.
///
/// # Safety
/// `kernel` points to a kernel.
unsafe fn row(kernel: *const smalti_kernel) -> Option<(&'static Row, Tile)> {
    // SAFETY: the caller's.
    let kernel = unsafe { &*kernel };
    let row = ROWS.get(kernel.id)?;
    let mut own = row.tile.iter().zip([kernel.m0, kernel.n0, kernel.k0]);
    let changed = own.any(|(dim, size)| matches!(*dim, Dim::Fixed(n) if usize::from(n) != size));
    (!changed).then_some((row, Tile { m0: kernel.m0, n0: kernel.n0, k0: kernel.k0 }))
}

/// Runs a tile of a product.
///
/// Not checked: that operands are as large as sizes, strides and offsets say, and that the machine is one of the target that
/// the kernel was selected for.
///
/// # Safety
/// `kernel` and `args` are null or valid; what is not checked holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn smalti_mmt4d(kernel: *const smalti_kernel, args: *const smalti_mmt4d_args) -> smalti_status {
    if kernel.is_null() || args.is_null() {
        return SMALTI_NULL;
    }
    // SAFETY: the caller's.
    let (Some((row, tile)), a) = (unsafe { (row(kernel), &*args) }) else { return SMALTI_KERNEL };
    let Code::Mmt4d(Some(run)) = row.code else { return SMALTI_KERNEL };
    if a.rows > tile.m0 || a.cols > tile.n0 || tile.k0 == 0 {
        return SMALTI_TILE;
    }
    if a.rows == 0 || a.cols == 0 {
        return SMALTI_OK;
    }
    if a.out.is_null() || a.batches.is_null() && a.batch_count > 0 {
        return SMALTI_NULL;
    }
    let [lhs_type, rhs_type, out_type] = row.types.list;
    if a.rows > 1 && a.out_row_stride < a.cols as isize {
        return SMALTI_OVERLAP;
    }
    let out = Extent::new(a.out.cast(), out_type, 0, [(a.rows, a.out_row_stride), (1, 0)], a.cols);
    if !out.fits() {
        return SMALTI_OVERFLOW;
    }
    if rhs_type.per_byte() > 1 && (a.rhs_k_stride % 2 != 0 || !tile.k0.is_multiple_of(2)) {
        return SMALTI_NIBBLE;
    }
    let k_tiles = a.k_per_batch.div_ceil(tile.k0);
    for b in 0..if k_tiles > 0 { a.batch_count } else { 0 } {
        // SAFETY: the caller's.
        let b = unsafe { *a.batches.add(b) };
        let (first, last) = (b.skip_first, a.rows.saturating_sub(b.skip_last));
        if first >= last {
            continue;
        }
        if a.lhs.is_null() || a.rhs.is_null() {
            return SMALTI_NULL;
        }
        if rhs_type.per_byte() > 1 && b.rhs % 2 != 0 {
            return SMALTI_NIBBLE;
        }
        let from = b.lhs as i128 + first as i128 * a.lhs_row_stride as i128;
        let lhs_steps = [(last - first, a.lhs_row_stride), (k_tiles, a.lhs_k_stride)];
        let lhs = Extent::new(a.lhs.cast(), lhs_type, from, lhs_steps, tile.k0);
        let Some(run) = a.cols.checked_mul(tile.k0) else { return SMALTI_OVERFLOW };
        let rhs = Extent::new(a.rhs.cast(), rhs_type, b.rhs as i128, [(k_tiles, a.rhs_k_stride), (1, 0)], run);
        if !lhs.fits() || !rhs.fits() {
            return SMALTI_OVERFLOW;
        }
        if out.overlaps(&lhs) || out.overlaps(&rhs) {
            return SMALTI_OVERLAP;
        }
    }
    let Some(groups) =
        row.types.groups(a.batch_count, a.k_per_batch).or(Some(0)).filter(|g| g.checked_mul(tile.n0).is_some())
    else {
        return SMALTI_OVERFLOW;
    };
    if groups > 0 && a.scales.is_null() {
        return SMALTI_NULL;
    }
    if row.scratch(tile.m0) > a.scratch_length || row.scratch(tile.m0) > 0 && a.scratch.is_null() {
        return SMALTI_SCRATCH;
    }
    let raw = RawArgs {
        tile,
        rows: a.rows,
        cols: a.cols,
        lhs: a.lhs.cast(),
        lhs_row_stride: a.lhs_row_stride,
        lhs_k_stride: a.lhs_k_stride,
        rhs: a.rhs.cast(),
        rhs_k_stride: a.rhs_k_stride,
        batches: a.batches.cast::<Batch>(),
        batch_count: a.batch_count,
        k_per_batch: a.k_per_batch,
        init: a.init.cast(),
        init_row_stride: a.init_row_stride,
        bias: a.bias.cast(),
        clamp: a.clamp.cast(),
        out: a.out.cast(),
        out_row_stride: a.out_row_stride,
        accumulate: a.accumulate,
        scales: a.scales,
        zero_points: a.zero_points,
        lhs_sums: a.lhs_sums,
        prefetch_rhs: a.prefetch_rhs.cast(),
        prefetch_out: a.prefetch_out.cast(),
        scratch: a.scratch.cast(),
    };
    // SAFETY: the caller's; a batch has the fields of the kernels', in their order.
    unsafe { run(&raw) };
    SMALTI_OK
}

const _: () = assert!(
    size_of::<smalti_batch>() == size_of::<Batch>()
        && core::mem::offset_of!(smalti_batch, rhs) == core::mem::offset_of!(Batch, rhs)
        && core::mem::offset_of!(smalti_batch, skip_first) == core::mem::offset_of!(Batch, skip_first)
        && core::mem::offset_of!(smalti_batch, skip_last) == core::mem::offset_of!(Batch, skip_last)
);

/// Checks the two operands of a move.
fn moved(matrix: Extent, panels: Extent) -> smalti_status {
    match (matrix.fits() && panels.fits(), matrix.overlaps(&panels)) {
        (false, _) => SMALTI_OVERFLOW,
        (true, true) => SMALTI_OVERLAP,
        (true, false) => SMALTI_OK,
    }
}

/// Packs a matrix.
///
/// Not checked: that operands are as large as sizes and strides say, that tiles do not overlap, and that the machine is one of
/// the target that the kernel was selected for.
///
/// # Safety
/// `kernel` and `args` are null or valid; what is not checked holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn smalti_pack(kernel: *const smalti_kernel, args: *const smalti_pack_args) -> smalti_status {
    if kernel.is_null() || args.is_null() {
        return SMALTI_NULL;
    }
    // SAFETY: the caller's.
    let (Some((row, tile)), a) = (unsafe { (row(kernel), &*args) }) else { return SMALTI_KERNEL };
    let Code::Pack(Some(run)) = row.code else { return SMALTI_KERNEL };
    if a.outer.contains(&0) {
        return SMALTI_OK;
    }
    let nothing = a.size.contains(&0);
    if a.out.is_null() || a.src.is_null() && !nothing {
        return SMALTI_NULL;
    }
    let Some(area) = tile.m0.checked_mul(tile.n0) else { return SMALTI_OVERFLOW };
    let elem = row.types.list[0];
    let grid = |sizes: [usize; 2], strides: [isize; 2]| [(sizes[0], strides[0]), (sizes[1], strides[1])];
    let panels = Extent::new(a.out.cast(), elem, 0, grid(a.outer, a.out_strides), area);
    let matrix = match nothing {
        true => Extent { low: 0, high: 0 },
        false => Extent::new(a.src.cast(), elem, 0, grid(a.size, a.src_strides), 1),
    };
    let status = moved(matrix, panels);
    if status != SMALTI_OK {
        return status;
    }
    let raw = pack::RawArgs {
        tile: [tile.m0, tile.n0],
        size: a.size,
        src: a.src.cast(),
        src_strides: a.src_strides,
        outer: a.outer,
        out: a.out.cast(),
        out_strides: a.out_strides,
        padding: a.padding,
    };
    // SAFETY: the caller's.
    unsafe { run(&raw) };
    SMALTI_OK
}

/// Unpacks a matrix.
///
/// Not checked: as for `smalti_pack`.
///
/// # Safety
/// `kernel` and `args` are null or valid; what is not checked holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn smalti_unpack(kernel: *const smalti_kernel, args: *const smalti_unpack_args) -> smalti_status {
    if kernel.is_null() || args.is_null() {
        return SMALTI_NULL;
    }
    // SAFETY: the caller's.
    let (Some((row, tile)), a) = (unsafe { (row(kernel), &*args) }) else { return SMALTI_KERNEL };
    let Code::Unpack(Some(run)) = row.code else { return SMALTI_KERNEL };
    if a.size.contains(&0) {
        return SMALTI_OK;
    }
    if a.out.is_null() || a.src.is_null() {
        return SMALTI_NULL;
    }
    if tile.m0 == 0 || tile.n0 == 0 {
        return SMALTI_TILE;
    }
    let Some(area) = tile.m0.checked_mul(tile.n0) else { return SMALTI_OVERFLOW };
    let elem = row.types.list[0];
    let tiles = [a.size[0].div_ceil(tile.m0), a.size[1].div_ceil(tile.n0)];
    let grid = |sizes: [usize; 2], strides: [isize; 2]| [(sizes[0], strides[0]), (sizes[1], strides[1])];
    let panels = Extent::new(a.src.cast(), elem, 0, grid(tiles, a.src_strides), area);
    let status = moved(Extent::new(a.out.cast(), elem, 0, grid(a.size, a.out_strides), 1), panels);
    if status != SMALTI_OK {
        return status;
    }
    let raw = unpack::RawArgs {
        tile: [tile.m0, tile.n0],
        size: a.size,
        src: a.src.cast(),
        src_strides: a.src_strides,
        out: a.out.cast(),
        out_strides: a.out_strides,
    };
    // SAFETY: the caller's.
    unsafe { run(&raw) };
    SMALTI_OK
}
