//! What rows of RVV share: the vector type of a tile's columns.
//!
//! Stable Rust has no RVV intrinsics, so rows are assembly.

use core::arch::asm;

/// f32, tail and mask agnostic, one register a group: the base of `vtype` values.
const E32_M1: usize = 0xd0;

/// How many columns a tile has, and so how many registers a vector takes.
pub(crate) trait Columns {
    /// N0 on a machine whose vector registers have `vlenb` bytes.
    fn count(vlenb: usize) -> usize;

    /// The `vtype` under which one vector holds so many f32.
    fn vtype(vlenb: usize) -> usize;
}

/// `16vs`: four registers at every vector length.
pub(crate) struct Scaled;

impl Columns for Scaled {
    fn count(vlenb: usize) -> usize {
        vlenb
    }

    fn vtype(_: usize) -> usize {
        E32_M1 | 2
    }
}

/// 16 columns: four registers where VLEN is 128, two, one, and half a register from 1024 on. A quarter is more than
/// the ISA promises for elements of 32 bits.
pub(crate) struct Sixteen;

impl Columns for Sixteen {
    fn count(_: usize) -> usize {
        16
    }

    fn vtype(vlenb: usize) -> usize {
        E32_M1
            | match vlenb {
                ..32 => 2,
                32..64 => 1,
                64..128 => 0,
                _ => 7,
            }
    }
}

/// Bytes of a vector register.
///
/// # Safety
/// The machine has V.
pub(crate) unsafe fn vlenb() -> usize {
    let vlenb;
    // SAFETY: reads a register that V brings.
    unsafe {
        asm!(
            ".option push",
            ".option arch, +v",
            "csrr {vlenb}, vlenb",
            ".option pop",
            vlenb = out(reg) vlenb,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    vlenb
}

/// Copies `count` elements of 32 bits, as bits; steps count elements.
///
/// # Safety
/// The machine has V; the elements may be read and written, and are aligned.
#[inline(always)]
pub(crate) unsafe fn copy(count: usize, from: *const u32, from_step: isize, to: *mut u32, to_step: isize) {
    // SAFETY: the caller's; each round moves as many elements as the machine grants.
    unsafe {
        asm!(
            ".option push",
            ".option arch, +v",
            "beqz {count}, 9f",
            "1:",
            "vsetvli {granted}, {count}, e32, m4, ta, ma",
            "beq {from_step}, {unit}, 2f",
            "vlse32.v v0, ({from}), {from_step}",
            "j 3f",
            "2:",
            "vle32.v v0, ({from})",
            "3:",
            "beq {to_step}, {unit}, 4f",
            "vsse32.v v0, ({to}), {to_step}",
            "j 5f",
            "4:",
            "vse32.v v0, ({to})",
            "5:",
            "sub {count}, {count}, {granted}",
            "mul {bytes}, {granted}, {from_step}",
            "add {from}, {from}, {bytes}",
            "mul {bytes}, {granted}, {to_step}",
            "add {to}, {to}, {bytes}",
            "bnez {count}, 1b",
            "9:",
            ".option pop",
            count = inout(reg) count => _,
            from = inout(reg) from => _,
            from_step = in(reg) from_step.wrapping_mul(4),
            to = inout(reg) to => _,
            to_step = in(reg) to_step.wrapping_mul(4),
            unit = in(reg) 4,
            granted = out(reg) _,
            bytes = out(reg) _,
            out("v0") _, out("v1") _, out("v2") _, out("v3") _,
            options(nostack),
        );
    }
}
