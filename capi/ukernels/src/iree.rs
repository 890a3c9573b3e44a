//! A drop-in for IREE's microkernel library (`runtime/src/iree/builtins/ukernel`, snapshot b48a5955): its entry points, on
//! its structs, with its layouts, flags and bits of processor features.
//!
//! Kernels are those of [`smalti_ukernels`], taken by the caller's tile. Nothing is checked that IREE's library would only
//! assert: flags of no type, negative sizes, tiles beyond 2^15 and 4-bit elements that part a byte are ignored, as a call
//! that does nothing.

use core::ffi::c_void;
use smalti_isa::{Arch, Feature, Features, Target};
use smalti_ukernels::elem::ElemType::{self, Bf16, F16, F32, I4, I8, I16, I32, U4};
use smalti_ukernels::mmt4d::{Batch, RawArgs, Tile};
use smalti_ukernels::name::{Op, Place, Types};
use smalti_ukernels::table::{Code, Row};
use smalti_ukernels::{pack, select, unpack};

const TYPE: u32 = 0xff;
const ACCUMULATE: u32 = 0x100;
const ALLOW_GENERIC: u32 = 0x200;
const SKIP_ROUNDINGS: u32 = 0x400;
const TRANSPOSE_INNER: u32 = 0x100;
const TRANSPOSE_OUTER: u32 = 0x200;
/// What `_info` says of tiles that have a kernel for the machine.
const TUNED: u32 = 1;

/// `iree_uk_mmt4d_params_t`.
#[repr(C)]
#[allow(missing_docs, reason = "the fields are IREE's")]
pub struct Mmt4dParams {
    pub lhs_buffer: *const c_void,
    pub lhs_offset: isize,
    pub lhs_stride0: isize,
    pub rhs_buffer: *const c_void,
    pub rhs_offset: isize,
    pub rhs_stride0: isize,
    pub out_buffer: *mut c_void,
    pub out_offset: isize,
    pub out_stride0: isize,
    pub m: isize,
    pub n: isize,
    pub k: isize,
    pub m0: i32,
    pub n0: i32,
    pub k0: i32,
    pub flags: u32,
    pub cpu_data: *const u64,
}

/// `iree_uk_pack_params_t`.
#[repr(C)]
#[allow(missing_docs, reason = "the fields are IREE's")]
pub struct PackParams {
    pub in_buffer: *const c_void,
    pub in_offset: isize,
    pub in_stride0: isize,
    pub in_stride1: isize,
    pub out_buffer: *mut c_void,
    pub out_offset: isize,
    pub out_stride0: isize,
    pub out_stride1: isize,
    pub in_size0: isize,
    pub in_size1: isize,
    pub out_size0: isize,
    pub out_size1: isize,
    pub out_size2: isize,
    pub out_size3: isize,
    pub padding_value: u64,
    pub flags: u32,
    pub cpu_data: *const u64,
}

/// `iree_uk_unpack_params_t`.
#[repr(C)]
#[allow(missing_docs, reason = "the fields are IREE's")]
pub struct UnpackParams {
    pub in_buffer: *const c_void,
    pub in_offset: isize,
    pub in_stride0: isize,
    pub in_stride1: isize,
    pub out_buffer: *mut c_void,
    pub out_offset: isize,
    pub out_stride0: isize,
    pub out_stride1: isize,
    pub in_size0: isize,
    pub in_size1: isize,
    pub in_size2: isize,
    pub in_size3: isize,
    pub out_size0: isize,
    pub out_size1: isize,
    pub flags: u32,
    pub cpu_data: *const u64,
}

/// `iree_uk_query_tile_sizes_2d_params_t`.
#[repr(C)]
#[allow(missing_docs, reason = "the fields are IREE's")]
pub struct QueryParams {
    pub flags: u32,
    pub size0: isize,
    pub size1: isize,
    pub cpu_data: *const u64,
}

/// `iree_uk_query_tile_sizes_2d_out_params_t`.
#[repr(C)]
#[allow(missing_docs, reason = "the fields are IREE's")]
pub struct QueryOut {
    pub tile_size0: isize,
    pub tile_size1: isize,
}

/// `iree_uk_conv_nchwc_params_t`.
#[repr(C)]
#[allow(missing_docs, reason = "the fields are IREE's")]
pub struct ConvParams {
    pub input_buffer: *const c_void,
    pub input_offset: isize,
    pub input_stride_n: isize,
    pub input_stride_ic_outer: isize,
    pub input_stride_h: isize,
    pub filter_buffer: *const c_void,
    pub filter_offset: isize,
    pub filter_stride_oc_outer: isize,
    pub filter_stride_ic_outer: isize,
    pub filter_stride_fh: isize,
    pub output_buffer: *mut c_void,
    pub output_offset: isize,
    pub output_stride_n: isize,
    pub output_stride_oc_outer: isize,
    pub output_stride_oh: isize,
    pub n: isize,
    pub oc_outer: isize,
    pub oh: isize,
    pub ow: isize,
    pub ic_outer: isize,
    pub fh: isize,
    pub fw: isize,
    pub k0: i32,
    pub c0: i32,
    pub stride_h: i32,
    pub stride_w: i32,
    pub flags: u32,
    pub ow_count: isize,
    pub cpu_data: *const u64,
}

/// Bits of the first word of `cpu_data`.
#[cfg(target_arch = "x86_64")]
const BITS: &[(u32, Feature)] = &[
    (3, Feature::Sse42),
    (10, Feature::Avx),
    (11, Feature::Fma),
    (14, Feature::F16c),
    (15, Feature::Avx2),
    (20, Feature::Avx512f),
    (21, Feature::Avx512cd),
    (22, Feature::Avx512vl),
    (23, Feature::Avx512dq),
    (24, Feature::Avx512bw),
    (28, Feature::Avx512vnni),
    (31, Feature::Avx512bf16),
];
/// Bits of the first word of `cpu_data`.
#[cfg(target_arch = "aarch64")]
const BITS: &[(u32, Feature)] = &[
    (10, Feature::Fp16),
    (11, Feature::Fhm),
    (12, Feature::Dotprod),
    (13, Feature::I8mm),
    (14, Feature::Bf16),
    (20, Feature::Sve),
    (21, Feature::Sve2),
];
/// Bits of the first word of `cpu_data`.
#[cfg(target_arch = "riscv64")]
const BITS: &[(u32, Feature)] = &[(0, Feature::V), (2, Feature::Zvfh), (3, Feature::Zvfbfwma)];

/// What the caller says of the machine. It says it of features alone, those of one level together; what they imply is there.
///
/// # Safety
/// `cpu_data` is null or points to a word; the machine has what that says.
unsafe fn target(cpu_data: *const u64) -> Target {
    // SAFETY: the caller's.
    let word = if cpu_data.is_null() { 0 } else { unsafe { cpu_data.read() } };
    let has = |f: &Feature| BITS.iter().any(|&(bit, g)| g == *f && word >> bit & 1 == 1);
    let features = Feature::ALL.iter().copied().filter(has).fold(Features::NONE, Features::with);
    let arch = if cfg!(target_arch = "x86_64") {
        Arch::X86_64
    } else if cfg!(target_arch = "aarch64") {
        Arch::Aarch64
    } else {
        Arch::Riscv64
    };
    Target { features, ..Target::baseline(arch) }
}

fn types(flags: u32) -> Option<Types> {
    Some(Types::new(match flags & TYPE {
        1 => [F32, F32, F32],
        2 => [I8, I8, I32],
        3 => [F16, F16, F32],
        4 => [F16, F16, F16],
        5 => [Bf16, Bf16, F32],
        6 => [Bf16, Bf16, Bf16],
        7 => [I16, I16, I32],
        8 => [I16, U4, I32],
        9 => [I16, I8, I32],
        10 => [I8, I4, I32],
        _ => return None,
    }))
}

/// Whether sums are rounded after each product.
fn rounds_each(types: Types, flags: u32) -> bool {
    matches!(types.list[2], F16 | Bf16) && flags & SKIP_ROUNDINGS == 0
}

/// The kernel of a tile, if there is one for the machine; else any, where the caller allows that.
fn kernel(types: Types, tile: Tile, flags: u32, target: &Target) -> Option<&'static Row> {
    let tuned = |row: &&Row| matches!(row.place, Place::Isa(..)) || flags & ALLOW_GENERIC != 0;
    select::by_tile(types, tile, target).filter(tuned).filter(|row| row.scratch(tile.m0) <= SCRATCH)
}

/// As many elements' bytes.
fn bytes(elements: isize, elem: ElemType) -> isize {
    elements.wrapping_mul(elem.bits() as isize) / 8
}

/// The tile, of which every dim fits the fields that IREE has for it.
fn tile(m0: i32, n0: i32, k0: i32) -> Option<Tile> {
    let dim = |d: i32| (1..1 << 15).contains(&d).then_some(d as usize);
    Some(Tile { m0: dim(m0)?, n0: dim(n0)?, k0: dim(k0)? })
}

/// Bytes of scratch on the stack: that of the largest tile that has kernels, 16 rows of 256 converted elements.
const SCRATCH: usize = 16 * 256 * 4;

/// Products of packed panels, `out[m][n] (+)= Σ lhs[m][k]·rhs[n][k]` in tiles.
///
/// # Safety
/// As IREE's function: buffers are as large as sizes, strides and offsets say, `out` overlaps no other, and the machine has the
/// features of `cpu_data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_uk_mmt4d_p(p: *const Mmt4dParams) {
    // SAFETY: the caller's.
    let p = unsafe { &*p };
    let (Some(types), Some(tile)) = (types(p.flags), tile(p.m0, p.n0, p.k0)) else { return };
    let accumulate = p.flags & ACCUMULATE != 0;
    if p.m <= 0 || p.n <= 0 || p.k < 0 || p.k == 0 && accumulate {
        return;
    }
    let [lhs_type, rhs_type, out_type] = types.list;
    if rhs_type.per_byte() > 1 && !tile.k0.is_multiple_of(2) {
        return;
    }
    let (m0, n0, k0) = (tile.m0 as isize, tile.n0 as isize, tile.k0 as isize);
    let at = |buffer: *const c_void, offset: isize, elem| buffer.cast::<u8>().wrapping_offset(bytes(offset, elem));
    // SAFETY: the caller's.
    let target = unsafe { target(p.cpu_data) };
    let row = kernel(types, tile, p.flags, &target);
    if row.is_none() && p.flags & ALLOW_GENERIC == 0 {
        return;
    }
    let batches = [Batch::default()];
    let mut scratch = core::mem::MaybeUninit::<[u8; SCRATCH]>::uninit();
    for i in 0..p.m {
        for j in 0..p.n {
            let args = RawArgs {
                tile,
                rows: tile.m0,
                cols: tile.n0,
                lhs: at(p.lhs_buffer, p.lhs_offset + i * p.lhs_stride0, lhs_type),
                lhs_row_stride: k0,
                lhs_k_stride: m0 * k0,
                rhs: at(p.rhs_buffer, p.rhs_offset + j * p.rhs_stride0, rhs_type),
                rhs_k_stride: n0 * k0,
                batches: batches.as_ptr(),
                batch_count: 1,
                k_per_batch: (p.k * k0) as usize,
                init: core::ptr::null(),
                init_row_stride: 0,
                bias: core::ptr::null(),
                clamp: core::ptr::null(),
                out: at(p.out_buffer, p.out_offset + i * p.out_stride0 + j * m0 * n0, out_type).cast_mut(),
                out_row_stride: n0,
                accumulate,
                scales: core::ptr::null(),
                zero_points: core::ptr::null(),
                lhs_sums: core::ptr::null(),
                prefetch_rhs: core::ptr::null(),
                prefetch_out: core::ptr::null(),
                scratch: scratch.as_mut_ptr().cast(),
            };
            // SAFETY: the caller's; the row is one for the machine, and its scratch is checked where it is selected.
            unsafe {
                if rounds_each(types, p.flags) {
                    rounded(&args, out_type);
                } else if let Some(Row { code: Code::Mmt4d(Some(kernel)), .. }) = row {
                    kernel(&args);
                }
            }
        }
    }
}

/// A tile whose sums are rounded to the output's type after each product.
///
/// # Safety
/// As [`smalti_ukernels::mmt4d::Kernel`] on `elem`, f16 or bf16, of a packed tile in one batch.
unsafe fn rounded(a: &RawArgs, elem: ElemType) {
    let k0 = a.tile.k0;
    let widen = |bits: u16| match elem {
        F16 => half::f16::from_bits(bits).to_f32(),
        _ => half::bf16::from_bits(bits).to_f32(),
    };
    let round = |x: f32| match elem {
        F16 => half::f16::from_f32(x).to_bits(),
        _ => half::bf16::from_f32(x).to_bits(),
    };
    for r in 0..a.tile.m0 {
        for c in 0..a.tile.n0 {
            // SAFETY: the caller's: elements of packed panels.
            unsafe {
                let out = a.out.cast::<u16>().add(r * a.tile.n0 + c);
                let mut acc = if a.accumulate { out.read_unaligned() } else { 0 };
                for k in 0..a.k_per_batch {
                    let left = a.lhs.cast::<u16>().add((k / k0 * a.tile.m0 + r) * k0 + k % k0).read_unaligned();
                    let right = a.rhs.cast::<u16>().add((k / k0 * a.tile.n0 + c) * k0 + k % k0).read_unaligned();
                    acc = round(widen(acc) + widen(left) * widen(right));
                }
                out.write_unaligned(acc);
            }
        }
    }
}

/// Bit 0 says whether the tile has a kernel for the machine.
///
/// # Safety
/// As [`iree_uk_mmt4d_p`]; tile, flags and `cpu_data` alone are read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_uk_mmt4d_info_p(p: *const Mmt4dParams) -> u32 {
    // SAFETY: the caller's.
    let p = unsafe { &*p };
    let (Some(types), Some(tile)) = (types(p.flags), tile(p.m0, p.n0, p.k0)) else { return 0 };
    // SAFETY: the caller's.
    let target = unsafe { target(p.cpu_data) };
    let tuned = kernel(types, tile, 0, &target).is_some() && !rounds_each(types, p.flags);
    if tuned { TUNED } else { 0 }
}

/// [`iree_uk_mmt4d_p`] with the fields as arguments.
///
/// # Safety
/// As that one.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "IREE's")]
pub unsafe extern "C" fn iree_uk_mmt4d(
    lhs_buffer: *const c_void,
    lhs_offset: isize,
    lhs_stride0: isize,
    rhs_buffer: *const c_void,
    rhs_offset: isize,
    rhs_stride0: isize,
    out_buffer: *mut c_void,
    out_offset: isize,
    out_stride0: isize,
    m: isize,
    n: isize,
    k: isize,
    m0: i32,
    n0: i32,
    k0: i32,
    flags: u32,
    cpu_data: *const u64,
) {
    let p = Mmt4dParams {
        lhs_buffer,
        lhs_offset,
        lhs_stride0,
        rhs_buffer,
        rhs_offset,
        rhs_stride0,
        out_buffer,
        out_offset,
        out_stride0,
        m,
        n,
        k,
        m0,
        n0,
        k0,
        flags,
        cpu_data,
    };
    // SAFETY: the caller's.
    unsafe { iree_uk_mmt4d_p(&p) }
}

/// [`iree_uk_mmt4d_info_p`] of a tile.
///
/// # Safety
/// As that one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_uk_mmt4d_info(m0: i32, n0: i32, k0: i32, flags: u32, cpu_data: *const u64) -> u32 {
    let p = Mmt4dParams {
        lhs_buffer: core::ptr::null(),
        lhs_offset: 0,
        lhs_stride0: 0,
        rhs_buffer: core::ptr::null(),
        rhs_offset: 0,
        rhs_stride0: 0,
        out_buffer: core::ptr::null_mut(),
        out_offset: 0,
        out_stride0: 0,
        m: 0,
        n: 0,
        k: 0,
        m0,
        n0,
        k0,
        flags,
        cpu_data,
    };
    // SAFETY: the caller's.
    unsafe { iree_uk_mmt4d_info_p(&p) }
}

/// The element type of a pack or an unpack.
fn moved(flags: u32) -> Option<ElemType> {
    Some(match flags & TYPE {
        1 => F32,
        2 => I8,
        3 => I32,
        4 => F16,
        5 => Bf16,
        _ => return None,
    })
}

/// Sizes or counts: none where one is negative.
fn sizes<const N: usize>(values: [isize; N]) -> Option<[usize; N]> {
    values.iter().all(|&v| v >= 0).then(|| values.map(|v| v as usize))
}

/// Swaps both where `swap` says so.
fn turned<T>([a, b]: [T; 2], swap: bool) -> [T; 2] {
    if swap { [b, a] } else { [a, b] }
}

/// A strided matrix to panels.
///
/// # Safety
/// As IREE's function: buffers are as large as sizes, strides and offsets say, and do not overlap; the machine has the
/// features of `cpu_data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_uk_pack_p(p: *const PackParams) {
    // SAFETY: the caller's.
    let p = unsafe { &*p };
    let Some(elem) = moved(p.flags) else { return };
    let outer = [p.out_size0, p.out_size1];
    let (inner, outer_turned) = (p.flags & TRANSPOSE_INNER != 0, p.flags & TRANSPOSE_OUTER != 0);
    let Some([o0, o1, t0, t1, rows, cols]) =
        sizes([outer[0], outer[1], p.out_size2, p.out_size3, p.in_size0, p.in_size1])
    else {
        return;
    };
    // Of the source's dims: how many tiles, how far apart, and what of a tile.
    let outer = turned([o0, o1], outer_turned);
    let out_strides = turned([p.out_stride0, p.out_stride1], outer_turned);
    // A tile that is turned is that of the source turned.
    let args = pack::RawArgs {
        tile: [t0, t1],
        size: turned([rows, cols], inner),
        src: p.in_buffer.cast::<u8>().wrapping_offset(bytes(p.in_offset, elem)),
        src_strides: turned([p.in_stride0, p.in_stride1], inner),
        outer: turned(outer, inner),
        out: p.out_buffer.cast::<u8>().wrapping_offset(bytes(p.out_offset, elem)),
        out_strides: turned(out_strides, inner),
        padding: p.padding_value,
    };
    // SAFETY: the caller's.
    let target = unsafe { target(p.cpu_data) };
    let row = select::panels(Op::Pack, Types::pair(elem, elem), t0, t1, &target);
    if let Some(Row { code: Code::Pack(Some(kernel)), .. }) = row {
        // SAFETY: the caller's; the row is one for the machine.
        unsafe { kernel(&args) }
    }
}

/// Panels to a strided matrix.
///
/// # Safety
/// As [`iree_uk_pack_p`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_uk_unpack_p(p: *const UnpackParams) {
    // SAFETY: the caller's.
    let p = unsafe { &*p };
    let Some(elem) = moved(p.flags) else { return };
    let (inner, outer_turned) = (p.flags & TRANSPOSE_INNER != 0, p.flags & TRANSPOSE_OUTER != 0);
    let Some([t0, t1, rows, cols]) = sizes([p.in_size2, p.in_size3, p.out_size0, p.out_size1]) else { return };
    let src_strides = turned([p.in_stride0, p.in_stride1], outer_turned);
    let args = unpack::RawArgs {
        tile: [t0, t1],
        size: turned([rows, cols], inner),
        src: p.in_buffer.cast::<u8>().wrapping_offset(bytes(p.in_offset, elem)),
        src_strides: turned(src_strides, inner),
        out: p.out_buffer.cast::<u8>().wrapping_offset(bytes(p.out_offset, elem)),
        out_strides: turned([p.out_stride0, p.out_stride1], inner),
    };
    // SAFETY: the caller's.
    let target = unsafe { target(p.cpu_data) };
    let row = select::panels(Op::Unpack, Types::pair(elem, elem), t0, t1, &target);
    if let Some(Row { code: Code::Unpack(Some(kernel)), .. }) = row {
        // SAFETY: the caller's; the row is one for the machine.
        unsafe { kernel(&args) }
    }
}

/// [`iree_uk_pack_p`] with the fields as arguments.
///
/// # Safety
/// As that one.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "IREE's")]
pub unsafe extern "C" fn iree_uk_pack(
    in_buffer: *const c_void,
    in_offset: isize,
    in_stride0: isize,
    in_stride1: isize,
    out_buffer: *mut c_void,
    out_offset: isize,
    out_stride0: isize,
    out_stride1: isize,
    in_size0: isize,
    in_size1: isize,
    out_size0: isize,
    out_size1: isize,
    out_size2: isize,
    out_size3: isize,
    padding_value: u64,
    flags: u32,
    cpu_data: *const u64,
) {
    let p = PackParams {
        in_buffer,
        in_offset,
        in_stride0,
        in_stride1,
        out_buffer,
        out_offset,
        out_stride0,
        out_stride1,
        in_size0,
        in_size1,
        out_size0,
        out_size1,
        out_size2,
        out_size3,
        padding_value,
        flags,
        cpu_data,
    };
    // SAFETY: the caller's.
    unsafe { iree_uk_pack_p(&p) }
}

/// [`iree_uk_unpack_p`] with the fields as arguments.
///
/// # Safety
/// As that one.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "IREE's")]
pub unsafe extern "C" fn iree_uk_unpack(
    in_buffer: *const c_void,
    in_offset: isize,
    in_stride0: isize,
    in_stride1: isize,
    out_buffer: *mut c_void,
    out_offset: isize,
    out_stride0: isize,
    out_stride1: isize,
    in_size0: isize,
    in_size1: isize,
    in_size2: isize,
    in_size3: isize,
    out_size0: isize,
    out_size1: isize,
    flags: u32,
    cpu_data: *const u64,
) {
    let p = UnpackParams {
        in_buffer,
        in_offset,
        in_stride0,
        in_stride1,
        out_buffer,
        out_offset,
        out_stride0,
        out_stride1,
        in_size0,
        in_size1,
        in_size2,
        in_size3,
        out_size0,
        out_size1,
        flags,
        cpu_data,
    };
    // SAFETY: the caller's.
    unsafe { iree_uk_unpack_p(&p) }
}

/// The tile that packs for a product best have, by IREE's table.
///
/// # Safety
/// As IREE's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_uk_query_tile_sizes_2d(p: *const QueryParams, out: *mut QueryOut) {
    // SAFETY: the caller's.
    let (p, target) = unsafe { (&*p, target((*p).cpu_data)) };
    let has = |f| target.features.has(f);
    let wide = [Feature::Avx512f, Feature::Avx512vl, Feature::Avx512cd, Feature::Avx512bw, Feature::Avx512dq];
    let avx512 = wide.into_iter().all(has);
    let avx2 = has(Feature::Avx2) && has(Feature::Fma);
    let [m, k, n] = match (p.flags & 0xff00, target.arch) {
        (0x100, Arch::X86_64) if avx512 => [16, 1, 16],
        (0x100, Arch::X86_64) if avx2 => [8, 1, 8],
        (0x100, Arch::X86_64) => [8, 1, 4],
        (0x200, Arch::X86_64) if avx512 && has(Feature::Avx512vnni) => [16, 2, 16],
        (0x200, Arch::X86_64) if avx2 => [8, 2, 8],
        (0x200, Arch::X86_64) => [8, 2, 4],
        (0x200, Arch::Aarch64) if has(Feature::I8mm) => [8, 8, 8],
        (0x200, Arch::Aarch64) if has(Feature::Dotprod) => [8, 4, 8],
        (0x100 | 0x200, Arch::Aarch64) => [8, 1, 8],
        (0x100, Arch::Riscv64) if has(Feature::V) => [7, 1, 16],
        (0x200, Arch::Riscv64) if has(Feature::V) => [7, 1, 32],
        (0x100, Arch::Riscv64) => [8, 1, 8],
        (0x100..=0x600, _) => [8, 4, 8],
        _ => return,
    };
    let [tile_size0, tile_size1] = match p.flags & TYPE {
        1 => [m, k],
        2 => [n, k],
        3 => [m, n],
        _ => return,
    };
    // SAFETY: the caller's.
    unsafe { out.write(QueryOut { tile_size0, tile_size1 }) }
}

/// Taps of one call of a kernel; more are added by further calls.
const TAPS: usize = 64;

/// Pixels of a tile, at most.
const PIXELS: usize = 16;

/// The kernel of a convolution for the next of `left` pixels: the largest tile that they fill.
fn conv_kernel(k0: usize, left: usize, flags: u32, target: &Target) -> Option<(&'static Row, Tile)> {
    let f32s = Types::new([F32; 3]);
    let of = |m0: usize, flags: u32| {
        let tile = Tile { m0, n0: k0, k0: 1 };
        Some((kernel(f32s, tile, flags, target)?, tile))
    };
    let pixels = left.min(PIXELS);
    (1..=pixels).rev().find_map(|m0| of(m0, 0)).or_else(|| of(pixels, flags))
}

/// A convolution on blocked channels; the image is padded already.
///
/// # Safety
/// As IREE's function: buffers are as large as sizes, strides and offsets say, the output overlaps no other, and the machine
/// has the features of `cpu_data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_uk_conv_nchwc_p(p: *const ConvParams) {
    // SAFETY: the caller's.
    let (p, target) = unsafe { (&*p, target((*p).cpu_data)) };
    let Some(tile) = tile(1, p.k0, p.c0).filter(|_| p.flags & TYPE == 1) else { return };
    let Some([images, blocks, height, width, ic, fh, fw]) =
        sizes([p.n, p.oc_outer, p.oh, p.ow, p.ic_outer, p.fh, p.fw])
    else {
        return;
    };
    let (k0, c0) = (tile.n0 as isize, tile.k0 as isize);
    let accumulate = p.flags & ACCUMULATE != 0;
    let taps = ic * fh * fw;
    if taps == 0 && accumulate {
        return;
    }
    let mut batches = [Batch::default(); TAPS];
    // Lines are cut alike, so few numbers of pixels that are left occur.
    let mut kernels = [None; PIXELS + 1];
    for n in 0..images as isize {
        for block in 0..blocks as isize {
            for y in 0..height as isize {
                let mut x = 0;
                while x < width {
                    let left = (width - x).min(PIXELS);
                    if kernels[left].is_none() {
                        kernels[left] = conv_kernel(tile.n0, left, p.flags, &target);
                    }
                    let Some((row, tile)) = kernels[left] else { return };
                    let Code::Mmt4d(Some(kernel)) = row.code else { return };
                    let input = p.input_offset
                        + n * p.input_stride_n
                        + y * p.stride_h as isize * p.input_stride_h
                        + x as isize * p.stride_w as isize * c0;
                    let filter = p.filter_offset + block * p.filter_stride_oc_outer;
                    let output = p.output_offset
                        + n * p.output_stride_n
                        + block * p.output_stride_oc_outer
                        + y * p.output_stride_oh
                        + x as isize * k0;
                    let mut done = 0;
                    loop {
                        let count = TAPS.min(taps - done);
                        for (t, batch) in (done..).zip(&mut batches[..count]) {
                            let (i, h, w) = ((t / (fh * fw)) as isize, (t / fw % fh) as isize, (t % fw) as isize);
                            batch.lhs = i * p.input_stride_ic_outer + h * p.input_stride_h + w * c0;
                            batch.rhs = i * p.filter_stride_ic_outer + h * p.filter_stride_fh + w * c0 * k0;
                        }
                        let args = RawArgs {
                            tile,
                            rows: tile.m0,
                            cols: tile.n0,
                            lhs: p.input_buffer.cast::<u8>().wrapping_offset(bytes(input, F32)),
                            lhs_row_stride: p.stride_w as isize * c0,
                            lhs_k_stride: 1,
                            rhs: p.filter_buffer.cast::<u8>().wrapping_offset(bytes(filter, F32)),
                            rhs_k_stride: k0,
                            batches: batches.as_ptr(),
                            batch_count: count,
                            k_per_batch: c0 as usize,
                            init: core::ptr::null(),
                            init_row_stride: 0,
                            bias: core::ptr::null(),
                            clamp: core::ptr::null(),
                            out: p.output_buffer.cast::<u8>().wrapping_offset(bytes(output, F32)),
                            out_row_stride: k0,
                            accumulate: accumulate || done > 0,
                            scales: core::ptr::null(),
                            zero_points: core::ptr::null(),
                            lhs_sums: core::ptr::null(),
                            prefetch_rhs: core::ptr::null(),
                            prefetch_out: core::ptr::null(),
                            scratch: core::ptr::null_mut(),
                        };
                        // SAFETY: the caller's; the row is one for the machine, and rows on f32 take no scratch.
                        unsafe { kernel(&args) };
                        done += count;
                        if done >= taps {
                            break;
                        }
                    }
                    x += tile.m0;
                }
            }
        }
    }
}

/// Bit 0 says whether the blocks have a kernel for the machine.
///
/// # Safety
/// As [`iree_uk_conv_nchwc_p`]; blocks, flags and `cpu_data` alone are read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_uk_conv_nchwc_info_p(p: *const ConvParams) -> u32 {
    // SAFETY: the caller's.
    unsafe { iree_uk_conv_nchwc_info((*p).k0, (*p).c0, (*p).flags, (*p).cpu_data) }
}

/// As [`iree_uk_conv_nchwc_info_p`].
///
/// # Safety
/// As that one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn iree_uk_conv_nchwc_info(k0: i32, c0: i32, flags: u32, cpu_data: *const u64) -> u32 {
    // SAFETY: the caller's.
    let target = unsafe { target(cpu_data) };
    match tile(1, k0, c0).filter(|_| flags & TYPE == 1) {
        Some(tile) if conv_kernel(tile.n0, PIXELS, 0, &target).is_some() => TUNED,
        _ => 0,
    }
}

/// [`iree_uk_conv_nchwc_p`] with the fields as arguments.
///
/// # Safety
/// As that one.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "IREE's")]
pub unsafe extern "C" fn iree_uk_conv_nchwc(
    input_buffer: *const c_void,
    input_offset: isize,
    input_stride_n: isize,
    input_stride_ic_outer: isize,
    input_stride_h: isize,
    filter_buffer: *const c_void,
    filter_offset: isize,
    filter_stride_oc_outer: isize,
    filter_stride_ic_outer: isize,
    filter_stride_fh: isize,
    output_buffer: *mut c_void,
    output_offset: isize,
    output_stride_n: isize,
    output_stride_oc_outer: isize,
    output_stride_oh: isize,
    n: isize,
    oc_outer: isize,
    oh: isize,
    ow: isize,
    ic_outer: isize,
    fh: isize,
    fw: isize,
    k0: i32,
    c0: i32,
    stride_h: i32,
    stride_w: i32,
    flags: u32,
    cpu_data: *const u64,
) {
    let p = ConvParams {
        input_buffer,
        input_offset,
        input_stride_n,
        input_stride_ic_outer,
        input_stride_h,
        filter_buffer,
        filter_offset,
        filter_stride_oc_outer,
        filter_stride_ic_outer,
        filter_stride_fh,
        output_buffer,
        output_offset,
        output_stride_n,
        output_stride_oc_outer,
        output_stride_oh,
        n,
        oc_outer,
        oh,
        ow,
        ic_outer,
        fh,
        fw,
        k0,
        c0,
        stride_h,
        stride_w,
        flags,
        ow_count: 0,
        cpu_data,
    };
    // SAFETY: the caller's.
    unsafe { iree_uk_conv_nchwc_p(&p) }
}
