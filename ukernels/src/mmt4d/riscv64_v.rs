//! RVV 1.0. Source: The RISC-V Instruction Set Manual, volume I, "V" Standard Extension for Vector Operations 1.0.
//!
//! Two families share one body: a vector register group holds the columns of a row, and only `vtype` says how many
//! registers that takes. Groups are numbered as for four registers.

use super::{Batch, RawArgs};
use crate::riscv64::{Columns, Scaled, Sixteen, vlenb};
use core::arch::asm;
use core::mem::{offset_of, size_of};

/// The text for every row below M0. `A` stands for its accumulator, `F` for the register of its left element, `P` for
/// the one of its left address, `N` for its number, `OFFSET` for its distance where rows lie side by side, `BIT` for its
/// bit in a mask of rows.
macro_rules! each_row {
    ($($part:tt)*) => {
        concat!(
            row!(["v4" "ft0" "t0" "0" "0" "1"] $($part)*),
            row!(["v8" "ft1" "t1" "1" "4" "2"] $($part)*),
            row!(["v12" "ft2" "t2" "2" "8" "4"] $($part)*),
            row!(["v16" "ft3" "t3" "3" "12" "8"] $($part)*),
            row!(["v20" "ft4" "t4" "4" "16" "16"] $($part)*),
            row!(["v24" "ft5" "t5" "5" "20" "32"] $($part)*),
        )
    };
}

macro_rules! row {
    ([$acc:tt $float:tt $pointer:tt $number:tt $offset:tt $bit:tt] $($part:tt)*) => {
        concat!(
            ".if {m0} > ", $number, "\n",
            $(row!(@ $part $acc $float $pointer $number $offset $bit),)*
            ".endif\n",
        )
    };
    (@ A $acc:tt $float:tt $pointer:tt $number:tt $offset:tt $bit:tt) => { $acc };
    (@ F $acc:tt $float:tt $pointer:tt $number:tt $offset:tt $bit:tt) => { $float };
    (@ P $acc:tt $float:tt $pointer:tt $number:tt $offset:tt $bit:tt) => { $pointer };
    (@ N $acc:tt $float:tt $pointer:tt $number:tt $offset:tt $bit:tt) => { $number };
    (@ OFFSET $acc:tt $float:tt $pointer:tt $number:tt $offset:tt $bit:tt) => { $offset };
    (@ BIT $acc:tt $float:tt $pointer:tt $number:tt $offset:tt $bit:tt) => { $bit };
    (@ $text:literal $acc:tt $float:tt $pointer:tt $number:tt $offset:tt $bit:tt) => { $text };
}

/// One k: the products of the right vector `$now`. Each left element is loaded anew right behind its use, and the next
/// right vector behind the second product. Integer instructions stand where in-order cores have the least to wait for.
macro_rules! step {
    ($now:literal, $next:literal, [$($left:tt)*], [$($advance:tt)*], $count:literal) => {
        each_row!(
            "vfmacc.vf " A ", " F ", " $now "\n"
            "flw " F ", " $($left)* "\n"
            ".if " N " == 0\n"
            "add a1, a1, a2\n"
            ".endif\n"
            ".if " N " == 1 || {m0} == 1\n"
            "vle32.v " $next ", (a1)\n"
            ".endif\n"
            $($advance)*
            ".if " N " == 3 || " N " + 1 == {m0} && {m0} < 4\n"
            $count
            ".endif\n"
        )
    };
}

/// All k of a batch, whose left elements are at `$left` for each row; `$advance` steps the addresses to the next k.
macro_rules! products {
    ([$($left:tt)*], [$($advance:tt)*]) => {
        concat!(
            // The first k is loaded ahead. a3 counts those that are left to load, less two.
            each_row!(
                "flw " F ", " $($left)* "\n"
            ),
            each_row!($($advance)*),
            "vle32.v v28, (a1)\n",
            "ld a3, {k_per_batch}(a0)\n",
            "addi a3, a3, -3\n",
            "bltz a3, 33f\n",
            "32:\n",
            step!("v28", "v0", [$($left)*], [$($advance)*], "addi a3, a3, -2\n"),
            step!("v0", "v28", [$($left)*], [$($advance)*], ""),
            "bgez a3, 32b\n",
            "33:\n",
            "addi a3, a3, 1\n",
            "bltz a3, 34f\n",
            step!("v28", "v0", [$($left)*], [$($advance)*], ""),
            each_row!("vfmacc.vf " A ", " F ", v0\n"),
            "j 31b\n",
            "34:\n",
            each_row!("vfmacc.vf " A ", " F ", v28\n"),
            "j 31b\n",
        )
    };
}

/// Where rows lie apart each has its own address. The first four step together: an addition behind each load is dearer.
macro_rules! apart {
    () => {
        products!([ "0(" P ")" ], [
            ".if " N " == 3 || " N " + 1 == {m0} && {m0} < 4\n"
            "add t0, t0, a4\n"
            ".if {m0} > 1\n"
            "add t1, t1, a4\n"
            ".endif\n"
            ".if {m0} > 2\n"
            "add t2, t2, a4\n"
            ".endif\n"
            ".if {m0} > 3\n"
            "add t3, t3, a4\n"
            ".endif\n"
            ".endif\n"
            ".if " N " == 5\n"
            "add t4, t4, a4\n"
            "add t5, t5, a4\n"
            ".endif\n"
        ])
    };
}

/// Rows that lie side by side (packed panels, columns, pixels) share an address.
macro_rules! side_by_side {
    () => {
        products!([ OFFSET "(t0)" ], [
            ".if " N " + 1 == {m0}\n"
            "add t0, t0, a4\n"
            ".endif\n"
        ])
    };
}

/// A tile of `M0` rows, one to four or six, and as many columns as `vtype` gives room for. False where the machine grants
/// fewer columns than are valid: nothing is done then.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on f32; the machine has V; there are a row and a column; at most `M0` rows.
#[inline(never)]
unsafe fn tile<const M0: usize>(a: &RawArgs, vtype: usize) -> bool {
    const { assert!(matches!(M0, 1..=4 | 6)) };
    let granted: usize;
    // SAFETY: every address is one of the formula's, which the caller vouches for. Vectors have as many elements as
    // there are valid columns; rows beyond the valid ones are neither loaded nor stored, skipped ones not read.
    unsafe {
        asm!(
            ".option push",
            ".option arch, +v",
            "vsetvl a7, a6, a7",
            "bne a7, a6, 99f",

            // Accumulators: zero, or the output, or starting values, or both.
            each_row!("vmv.v.i " A ", 0\n"),
            "ld a3, {rows}(a0)",
            "lbu t0, {accumulate}(a0)",
            "ld a5, {init}(a0)",
            "ld a1, {init_row_stride}(a0)",
            "slli a1, a1, 2",
            "bnez t0, 20f",
            "bnez a5, 21f",
            "j 30f",
            "20:",
            "ld t1, {out}(a0)",
            "ld t2, {out_row_stride}(a0)",
            "slli t2, t2, 2",
            "mv t0, a3",
            each_row!(
                "blez t0, 22f\n"
                "vle32.v " A ", (t1)\n"
                "add t1, t1, t2\n"
                "addi t0, t0, -1\n"
            ),
            "22:",
            "beqz a5, 30f",
            each_row!(
                "blez a3, 30f\n"
                "vle32.v v28, (a5)\n"
                "vfadd.vv " A ", " A ", v28\n"
                "add a5, a5, a1\n"
                "addi a3, a3, -1\n"
            ),
            "j 30f",
            "21:",
            each_row!(
                "blez a3, 30f\n"
                "vle32.v " A ", (a5)\n"
                "add a5, a5, a1\n"
                "addi a3, a3, -1\n"
            ),

            // Batches, from a5 to t6.
            "30:",
            "ld a5, {batches}(a0)",
            "ld t6, {batch_count}(a0)",
            "slli t6, t6, {batch_shift}",
            "add t6, a5, t6",
            "31:",
            "beq a5, t6, 50f",
            "ld t0, {batch_lhs}(a5)",
            "ld a1, {batch_rhs}(a5)",
            "ld a6, {skip_first}(a5)",
            "ld a7, {skip_last}(a5)",
            "ld a3, {k_per_batch}(a0)",
            "addi a5, a5, {batch_size}",
            "beqz a3, 31b",
            "ld t1, {lhs}(a0)",
            "slli t0, t0, 2",
            "add t0, t0, t1",
            "ld t1, {rhs}(a0)",
            "slli a1, a1, 2",
            "add a1, a1, t1",
            "ld t1, {lhs_row_stride}(a0)",
            "slli t1, t1, 2",
            ".if {m0} > 4",
            "slli t4, t1, 2",
            "add t5, t4, t1",
            "add t4, t4, t0",
            "add t5, t5, t0",
            ".endif",
            ".if {m0} > 2",
            "slli t2, t1, 1",
            ".if {m0} > 3",
            "add t3, t2, t1",
            "add t3, t3, t0",
            ".endif",
            "add t2, t2, t0",
            ".endif",
            "add t1, t1, t0",
            // All rows take part in most batches.
            "or a3, a6, a7",
            "bnez a3, 40f",
            "ld a3, {rows}(a0)",
            "addi a3, a3, -{m0}",
            "bnez a3, 40f",
            "ld a6, {lhs_row_stride}(a0)",
            "li a7, 1",
            "beq a6, a7, 36f",
            apart!(),
            "36:",
            side_by_side!(),

            // Some rows: a7 has a bit for each that takes part. Branches go one way for a whole batch.
            "40:",
            "ld a3, {rows}(a0)",
            "bgeu a7, a3, 31b",
            "sub a7, a3, a7",
            "bgeu a6, a7, 31b",
            "li a3, 1",
            "sll a6, a3, a6",
            "sll a7, a3, a7",
            "sub a7, a7, a6",
            "ld a3, {k_per_batch}(a0)",
            "41:",
            "vle32.v v28, (a1)",
            "add a1, a1, a2",
            each_row!(
                "andi a6, a7, " BIT "\n"
                "beqz a6, 42f\n"
                "flw " F ", 0(" P ")\n"
                "vfmacc.vf " A ", " F ", v28\n"
                "42:\n"
                "add " P ", " P ", a4\n"
            ),
            "addi a3, a3, -1",
            "bnez a3, 41b",
            "j 31b",

            // Bias, then the clamp: a comparison with a NaN is false, and so is -0 < 0.
            "50:",
            "ld t0, {bias}(a0)",
            "beqz t0, 51f",
            "vle32.v v28, (t0)",
            each_row!("vfadd.vv " A ", " A ", v28\n"),
            "51:",
            "ld t0, {clamp}(a0)",
            "beqz t0, 52f",
            "flw ft0, 0(t0)",
            "flw ft1, 4(t0)",
            each_row!(
                "vmflt.vf v0, " A ", ft0\n"
                "vfmerge.vfm " A ", " A ", ft0, v0\n"
                "vmfgt.vf v0, " A ", ft1\n"
                "vfmerge.vfm " A ", " A ", ft1, v0\n"
            ),
            "52:",
            "ld a3, {rows}(a0)",
            "ld t0, {out}(a0)",
            "ld t1, {out_row_stride}(a0)",
            "slli t1, t1, 2",
            each_row!(
                "blez a3, 53f\n"
                "vse32.v " A ", (t0)\n"
                "add t0, t0, t1\n"
                "addi a3, a3, -1\n"
            ),
            "53:",
            "ld a7, {cols}(a0)",
            "99:",
            ".option pop",
            m0 = const M0,
            rows = const offset_of!(RawArgs, rows),
            cols = const offset_of!(RawArgs, cols),
            lhs = const offset_of!(RawArgs, lhs),
            lhs_row_stride = const offset_of!(RawArgs, lhs_row_stride),
            rhs = const offset_of!(RawArgs, rhs),
            batches = const offset_of!(RawArgs, batches),
            batch_count = const offset_of!(RawArgs, batch_count),
            k_per_batch = const offset_of!(RawArgs, k_per_batch),
            init = const offset_of!(RawArgs, init),
            init_row_stride = const offset_of!(RawArgs, init_row_stride),
            bias = const offset_of!(RawArgs, bias),
            clamp = const offset_of!(RawArgs, clamp),
            out = const offset_of!(RawArgs, out),
            out_row_stride = const offset_of!(RawArgs, out_row_stride),
            accumulate = const offset_of!(RawArgs, accumulate),
            batch_size = const size_of::<Batch>(),
            batch_shift = const size_of::<Batch>().ilog2(),
            batch_lhs = const offset_of!(Batch, lhs),
            batch_rhs = const offset_of!(Batch, rhs),
            skip_first = const offset_of!(Batch, skip_first),
            skip_last = const offset_of!(Batch, skip_last),
            in("a0") a,
            in("a2") a.rhs_k_stride.wrapping_mul(4),
            in("a4") a.lhs_k_stride.wrapping_mul(4),
            inout("a6") a.cols => _,
            inout("a7") vtype => granted,
            out("a1") _, out("a3") _, out("a5") _,
            out("t0") _, out("t1") _, out("t2") _, out("t3") _, out("t4") _, out("t5") _, out("t6") _,
            out("ft0") _, out("ft1") _, out("ft2") _, out("ft3") _, out("ft4") _, out("ft5") _,
            out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _, out("v6") _, out("v7") _,
            out("v8") _, out("v9") _, out("v10") _, out("v11") _, out("v12") _, out("v13") _, out("v14") _, out("v15") _,
            out("v16") _, out("v17") _, out("v18") _, out("v19") _, out("v20") _, out("v21") _, out("v22") _, out("v23") _,
            out("v24") _, out("v25") _, out("v26") _, out("v27") _, out("v28") _, out("v29") _, out("v30") _, out("v31") _,
            options(nostack),
        );
    }
    granted == a.cols
}

/// # Safety
/// As [`Kernel`](super::Kernel) on f32; the machine has V; at most `M0` rows.
unsafe fn run<const M0: usize, C: Columns>(a: &RawArgs) {
    if a.rows == 0 || a.cols == 0 {
        return;
    }
    // SAFETY: the caller's; there are a row and a column, so the operands are read.
    let granted = unsafe { tile::<M0>(a, C::vtype(vlenb())) };
    // The ISA grants all that fit the vector type.
    assert!(granted, "the tile is narrower than {} columns on this machine", a.cols);
}

macro_rules! rows {
    ($($name:ident, $m0:literal, $columns:ident, $n0:literal, $lmul:literal;)*) => {$(
        /// # Computes
        /// The [operation](super) on f32.
        /// # Operands
        #[doc = concat!("Tile ", $m0, " x ", $n0, " x 1; strides as given; elements aligned to their size.")]
        /// # Needs
        /// V, at any VLEN.
        /// # Numerics
        /// `FusedChain`.
        /// # Registers
        #[doc = concat!($m0, " accumulators and 2 of the right operand, of ", $lmul, " each.")]
        /// # Safety
        /// As [`Kernel`](super::Kernel) on f32; the machine has V.
        pub unsafe fn $name(a: &RawArgs) {
            // SAFETY: the caller's.
            unsafe { run::<$m0, $columns>(a) }
        }
    )*};
}

rows! {
    mmt4d_f32f32f32_1x16x1_riscv64_v, 1, Sixteen, "16", "512 bits";
    mmt4d_f32f32f32_2x16x1_riscv64_v, 2, Sixteen, "16", "512 bits";
    mmt4d_f32f32f32_3x16x1_riscv64_v, 3, Sixteen, "16", "512 bits";
    mmt4d_f32f32f32_4x16x1_riscv64_v, 4, Sixteen, "16", "512 bits";
    mmt4d_f32f32f32_6x16x1_riscv64_v, 6, Sixteen, "16", "512 bits";
    mmt4d_f32f32f32_1x16vsx1_riscv64_v, 1, Scaled, "16·VLEN/128", "4 registers";
    mmt4d_f32f32f32_2x16vsx1_riscv64_v, 2, Scaled, "16·VLEN/128", "4 registers";
    mmt4d_f32f32f32_3x16vsx1_riscv64_v, 3, Scaled, "16·VLEN/128", "4 registers";
    mmt4d_f32f32f32_4x16vsx1_riscv64_v, 4, Scaled, "16·VLEN/128", "4 registers";
    mmt4d_f32f32f32_6x16vsx1_riscv64_v, 6, Scaled, "16·VLEN/128", "4 registers";
}
