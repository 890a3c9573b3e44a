//! Vectors on aarch64. Source: Arm Architecture Reference Manual, C7.2 (FMLA by element, ZIP1, ZIP2, BSL).

use crate::moves::{Halves, Machine, Runs, Transposes, of_width};
use crate::vector::Vector;
use core::arch::aarch64::*;
use core::arch::asm;
use core::convert::identity;

/// Advanced SIMD, which every aarch64 machine has. It has no masks: parts of a vector are loaded and stored in pieces.
impl Vector for float32x4_t {
    const LANES: usize = 4;
    /// How many lanes.
    type Mask = usize;
    /// Lane 0 of a register, which FMLA takes for all lanes.
    type Left = f32;

    #[inline(always)]
    unsafe fn mask(lanes: usize) -> usize {
        lanes
    }

    #[inline(always)]
    unsafe fn load(p: *const f32, mask: usize) -> float32x4_t {
        // SAFETY: the caller's: no more than `mask` lanes are read.
        unsafe {
            let zero = vdupq_n_f32(0.0);
            match mask {
                0 => zero,
                1 => vld1q_lane_f32::<0>(p, zero),
                2 => vcombine_f32(vld1_f32(p), vdup_n_f32(0.0)),
                3 => vld1q_lane_f32::<2>(p.add(2), vcombine_f32(vld1_f32(p), vdup_n_f32(0.0))),
                _ => vld1q_f32(p),
            }
        }
    }

    #[inline(always)]
    unsafe fn load_all(p: *const f32) -> float32x4_t {
        // SAFETY: the caller's.
        unsafe { vld1q_f32(p) }
    }

    #[inline(always)]
    unsafe fn store(self, p: *mut f32, mask: usize) {
        // SAFETY: the caller's: no more than `mask` lanes are written.
        unsafe {
            match mask {
                0 => {}
                1 => vst1q_lane_f32::<0>(p, self),
                2 => vst1_f32(p, vget_low_f32(self)),
                3 => {
                    vst1_f32(p, vget_low_f32(self));
                    vst1q_lane_f32::<2>(p.add(2), self);
                }
                _ => vst1q_f32(p, self),
            }
        }
    }

    #[inline(always)]
    unsafe fn store_all(self, p: *mut f32) {
        // SAFETY: the caller's.
        unsafe { vst1q_f32(p, self) }
    }

    #[inline(always)]
    unsafe fn broadcast(p: *const f32) -> float32x4_t {
        // SAFETY: the caller's.
        unsafe { vld1q_dup_f32(p) }
    }

    #[inline(always)]
    unsafe fn left(p: *const f32) -> f32 {
        // SAFETY: the caller's. No instruction at all stands in the assembly. It hides that the element comes from memory,
        // which keeps the compiler from loading it into all lanes: that takes a vector pipe away from FMLA.
        unsafe {
            let mut element = p.read();
            asm!("/* {0:s} */", inout(vreg) element, options(pure, nomem, nostack, preserves_flags));
            element
        }
    }

    #[inline(always)]
    unsafe fn fma(left: f32, right: float32x4_t, acc: float32x4_t) -> float32x4_t {
        // SAFETY: the caller's.
        unsafe { vfmaq_n_f32(acc, right, left) }
    }

    #[inline(always)]
    unsafe fn add(self, b: float32x4_t) -> float32x4_t {
        // SAFETY: the caller's.
        unsafe { vaddq_f32(self, b) }
    }

    #[inline(always)]
    unsafe fn min(self, b: float32x4_t) -> float32x4_t {
        // SAFETY: the caller's.
        unsafe { vbslq_f32(vcltq_f32(self, b), self, b) }
    }

    #[inline(always)]
    unsafe fn max(self, b: float32x4_t) -> float32x4_t {
        // SAFETY: the caller's.
        unsafe { vbslq_f32(vcgtq_f32(self, b), self, b) }
    }

    #[inline(always)]
    unsafe fn prefetch(p: *const f32) {
        // SAFETY: a hint, which never faults.
        unsafe { asm!("prfm pldl2keep, [{}]", in(reg) p, options(readonly, nostack, preserves_flags)) }
    }
}

/// Two registers.
#[derive(Clone, Copy)]
pub(crate) struct Pair(uint8x16_t, uint8x16_t);

/// Advanced SIMD.
impl Halves for Pair {
    #[inline(always)]
    unsafe fn load(low: *const u8, high: *const u8) -> Pair {
        // SAFETY: the caller's.
        unsafe { Pair(vld1q_u8(low), vld1q_u8(high)) }
    }

    #[inline(always)]
    unsafe fn store_half(self, last: bool, to: *mut u8) {
        // SAFETY: the caller's.
        unsafe { vst1q_u8(to, if last { self.1 } else { self.0 }) }
    }

    #[inline(always)]
    unsafe fn zip<const W: usize>(self, other: Pair) -> [Pair; 2] {
        macro_rules! zip {
            ($to:ident, $from:ident, $first:ident, $last:ident) => {
                [
                    Pair($from($first($to(self.0), $to(other.0))), $from($first($to(self.1), $to(other.1)))),
                    Pair($from($last($to(self.0), $to(other.0))), $from($last($to(self.1), $to(other.1)))),
                ]
            };
        }
        // SAFETY: the caller's.
        unsafe {
            match W {
                1 => zip!(identity, identity, vzip1q_u8, vzip2q_u8),
                2 => zip!(vreinterpretq_u16_u8, vreinterpretq_u8_u16, vzip1q_u16, vzip2q_u16),
                4 => zip!(vreinterpretq_u32_u8, vreinterpretq_u8_u32, vzip1q_u32, vzip2q_u32),
                _ => zip!(vreinterpretq_u64_u8, vreinterpretq_u8_u64, vzip1q_u64, vzip2q_u64),
            }
        }
    }
}

/// Moves with Advanced SIMD.
pub(crate) static NEON: Machine = Machine { transposes, runs };

/// # Safety
/// As [`Moves::run`](crate::moves::Moves::run).
unsafe fn transposes(width: usize, transposes: &Transposes) {
    /// Functions of their own: what only one of them needs is not computed for the others.
    #[inline(never)]
    unsafe fn run<const W: usize, const N: usize, const G: usize>(transposes: &Transposes) {
        // SAFETY: the caller's.
        unsafe { transposes.run::<Pair, W, N, G>() }
    }
    // SAFETY: the caller's.
    unsafe { of_width!(run, width, transposes) }
}

/// # Safety
/// As [`Moves::run`](crate::moves::Moves::run).
unsafe fn runs(runs: &Runs) {
    // SAFETY: the caller's.
    unsafe { runs.run() }
}
