//! Vectors of f32 on aarch64. Source: Arm Architecture Reference Manual, C7.2 (FMLA by element, TRN1, TRN2, BSL).

use crate::vector::Vector;
use core::arch::aarch64::*;
use core::arch::asm;

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

    #[inline(always)]
    unsafe fn transpose(rows: *const f32, row_stride: isize, columns: *mut f32, column_stride: isize) {
        // SAFETY: the caller's: four rows of four, four columns of four.
        unsafe {
            let row = |i: isize| vld1q_f32(rows.wrapping_offset(i * row_stride));
            let place = |i: isize| columns.wrapping_offset(i * column_stride);
            let pairs = |a, b| [vtrn1q_f32(a, b), vtrn2q_f32(a, b)].map(|x| vreinterpretq_f64_f32(x));
            let [even01, odd01] = pairs(row(0), row(1));
            let [even23, odd23] = pairs(row(2), row(3));
            vst1q_f32(place(0), vreinterpretq_f32_f64(vtrn1q_f64(even01, even23)));
            vst1q_f32(place(1), vreinterpretq_f32_f64(vtrn1q_f64(odd01, odd23)));
            vst1q_f32(place(2), vreinterpretq_f32_f64(vtrn2q_f64(even01, even23)));
            vst1q_f32(place(3), vreinterpretq_f32_f64(vtrn2q_f64(odd01, odd23)));
        }
    }
}
