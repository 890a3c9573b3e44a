//! The panels that rows on vectors share. Rows of the source that are contiguous along the panel are copied; those
//! that are contiguous across it go through a transpose in registers.

use super::{RawArgs, generic};
use crate::vector::Vector;

/// Panels of `NV` vectors, one column deep.
///
/// # Safety
/// As [`Kernel`](super::Kernel) on f32; the machine has the vector's instructions.
#[inline(always)]
pub(super) unsafe fn panels<V: Vector, const NV: usize>(a: &RawArgs) {
    let t0 = NV * V::LANES;
    let a = &RawArgs { tile: [t0, 1], ..*a };
    let src = a.src.cast::<f32>();
    for o0 in 0..a.outer[0] {
        let whole_rows = (o0 + 1) * t0 <= a.size[0];
        let row = src.wrapping_offset((o0 * t0) as isize * a.src_strides[0]);
        let out = a.out.cast::<f32>().wrapping_offset(o0 as isize * a.out_strides[0]);
        let columns = a.outer[1].min(a.size[1]);
        let mut done = 0;
        // SAFETY: whole tiles of the source, and tiles of `out` that the caller vouches for.
        unsafe {
            if whole_rows && a.src_strides[0] == 1 {
                while done < columns {
                    let from = row.wrapping_offset(done as isize * a.src_strides[1]);
                    let to = out.wrapping_offset(done as isize * a.out_strides[1]);
                    for v in 0..NV {
                        V::load_all(from.add(v * V::LANES)).store_all(to.add(v * V::LANES));
                    }
                    done += 1;
                }
            } else if whole_rows && a.src_strides[1] == 1 {
                while done + V::LANES <= columns {
                    for v in 0..NV {
                        let from = row.wrapping_offset((v * V::LANES) as isize * a.src_strides[0]).wrapping_add(done);
                        let to = out.wrapping_offset(done as isize * a.out_strides[1]).wrapping_add(v * V::LANES);
                        V::transpose(from, a.src_strides[0], to, a.out_strides[1]);
                    }
                    done += V::LANES;
                }
            }
            for o1 in done..a.outer[1] {
                generic::tile(a, o0, o1);
            }
        }
    }
}
