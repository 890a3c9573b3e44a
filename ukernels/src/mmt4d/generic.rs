//! One row a type for any tile: right everywhere, and the tier of last resort.

use super::RawArgs;

/// # Computes
/// The [operation](super) on f32.
/// # Operands
/// Tile, rows, columns and strides as given; no alignment.
/// # Needs
/// Nothing.
/// # Numerics
/// `FusedChain`: each step is rounded once, so the bits are those of the rows that have an FMA instruction.
/// # Registers
/// One accumulator.
/// # Safety
/// As [`Kernel`](super::Kernel) on f32.
pub unsafe fn mmt4d_f32f32f32_nxnxn_generic(a: &RawArgs) {
    let k0 = a.tile.k0 as isize;
    for r in 0..a.rows as isize {
        for c in 0..a.cols as isize {
            // SAFETY: every offset is one of the formula's, which the caller vouches for.
            unsafe {
                let out = a.out.cast::<f32>().offset(r * a.out_row_stride + c);
                let mut acc = if a.accumulate { out.read() } else { 0.0 };
                if !a.init.is_null() {
                    let init = a.init.cast::<f32>().offset(r * a.init_row_stride + c).read();
                    acc = if a.accumulate { acc + init } else { init };
                }
                for b in 0..a.batch_count {
                    let b = &*a.batches.add(b);
                    if (r as usize) < b.skip_first || r as usize >= a.rows.saturating_sub(b.skip_last) {
                        continue;
                    }
                    for k in 0..a.k_per_batch as isize {
                        let lhs = b.lhs + r * a.lhs_row_stride + k / k0 * a.lhs_k_stride + k % k0;
                        let rhs = b.rhs + k / k0 * a.rhs_k_stride + c * k0 + k % k0;
                        acc = fma(a.lhs.cast::<f32>().offset(lhs).read(), a.rhs.cast::<f32>().offset(rhs).read(), acc);
                    }
                }
                if !a.bias.is_null() {
                    acc += a.bias.cast::<f32>().offset(c).read();
                }
                if !a.clamp.is_null() {
                    let [low, high] = a.clamp.cast::<[f32; 2]>().read();
                    acc = if acc < low { low } else { acc };
                    acc = if acc > high { high } else { acc };
                }
                out.write(acc);
            }
        }
    }
}

/// `x · y + z` rounded once. The product is exact in f64; the sum is rounded to odd there, after which the
/// conversion rounds correctly (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms
/// using rounding to odd", IEEE Trans. Computers 57, 2008).
fn fma(x: f32, y: f32, z: f32) -> f32 {
    let product = f64::from(x) * f64::from(y);
    let z = f64::from(z);
    let sum = product + z;
    let shadow = sum - product;
    let error = (product - (sum - shadow)) + (z - shadow);
    let bits = sum.to_bits();
    let odd = if sum.is_finite() && error != 0.0 && bits & 1 == 0 {
        // The true sum lies between two neighbours: take the one whose last bit is set.
        if (error > 0.0) == (sum > 0.0) { bits + 1 } else { bits - 1 }
    } else {
        bits
    };
    f64::from_bits(odd) as f32
}

#[cfg(test)]
mod tests {
    use super::fma;
    use proptest::prelude::*;

    proptest! {
        /// The standard library's `mul_add` is rounded once by definition.
        #[test]
        fn fma_rounds_once(x in any::<u32>(), y in any::<u32>(), z in any::<u32>()) {
            let [x, y, z] = [x, y, z].map(f32::from_bits);
            let expected = std::primitive::f32::mul_add(x, y, z);
            let got = fma(x, y, z);
            prop_assert!(got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan(), "{x} {y} {z}");
        }

        /// Sums that nearly cancel, and products near a rounding boundary of the result.
        #[test]
        fn fma_rounds_once_near_ties(x in any::<u16>(), y in any::<u16>(), e in -60i32..60, s in any::<bool>()) {
            let x = 1.0 + f32::from(x) / 65536.0;
            let y = 1.0 + f32::from(y) / 65536.0;
            let z = std::primitive::f32::powi(2.0, e) * if s { -1.0 } else { 1.0 };
            prop_assert_eq!(fma(x, y, z).to_bits(), std::primitive::f32::mul_add(x, y, z).to_bits());
        }
    }
}
