//! The tiles that rows on vectors share: whole rows of a tile are copied by vectors where the output's columns are
//! contiguous.

use super::{RawArgs, generic};
use crate::vector::Vector;

/// Tiles of `T0` rows and `NV` vectors.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on f32; the machine has the vector's instructions.
#[inline(always)]
pub(super) unsafe fn tiles<V: Vector, const T0: usize, const NV: usize>(a: &RawArgs) {
    let t1 = NV * V::LANES;
    let a = &RawArgs { tile: [T0, t1], ..*a };
    let whole = if a.out_strides[1] == 1 { a.size[1] / t1 } else { 0 };
    for r in 0..a.size[0] {
        let from = a.src.cast::<f32>().wrapping_offset((r / T0) as isize * a.src_strides[0]).wrapping_add(r % T0 * t1);
        let to = a.out.cast::<f32>().wrapping_offset(r as isize * a.out_strides[0]);
        // SAFETY: whole tiles by vectors, the rest element by element; the caller vouches for both operands.
        unsafe {
            for o1 in 0..whole {
                let from = from.wrapping_offset(o1 as isize * a.src_strides[1]);
                for v in 0..NV {
                    V::load_all(from.add(v * V::LANES)).store_all(to.add(o1 * t1 + v * V::LANES));
                }
            }
            generic::row(a, r, whole * t1);
        }
    }
}
