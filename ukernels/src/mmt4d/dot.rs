//! What the rows of one operand type on one kind of vector have of their own: the product of a k-tile, and how
//! accumulators meet the output.

use crate::vector::Vector;
use core::marker::PhantomData;

/// Accumulators on one kind of vector, and the output's elements that they become. Masks select the first columns of a
/// vector; what they leave out is not accessed.
///
/// # Safety
/// Every method needs a machine with the vector's instructions; loads and stores access what they say.
pub(super) trait Output {
    /// Columns of a vector.
    const LANES: usize;
    /// Bytes of an element of the output.
    const BYTES: usize;
    /// A vector of accumulators.
    type Acc: Copy;
    /// Selects columns.
    type Mask: Copy;

    /// The first `lanes` columns, at most all.
    unsafe fn mask(lanes: usize) -> Self::Mask;
    /// Zeros.
    unsafe fn zero() -> Self::Acc;
    /// The columns of the mask.
    unsafe fn load(p: *const u8, mask: Self::Mask) -> Self::Acc;
    /// All columns.
    unsafe fn load_all(p: *const u8) -> Self::Acc;
    /// The columns of the mask.
    unsafe fn store(acc: Self::Acc, p: *mut u8, mask: Self::Mask);
    /// All columns.
    unsafe fn store_all(acc: Self::Acc, p: *mut u8);
    /// One element in every column.
    unsafe fn broadcast(p: *const u8) -> Self::Acc;
    /// Sum.
    unsafe fn add(a: Self::Acc, b: Self::Acc) -> Self::Acc;
    /// `a` where it is less than `b`, else `b`: also where one is a NaN or both are zeros.
    unsafe fn min(a: Self::Acc, b: Self::Acc) -> Self::Acc;
    /// `a` where it is greater than `b`, else `b`.
    unsafe fn max(a: Self::Acc, b: Self::Acc) -> Self::Acc;
    /// Asks for the line of `p` in the second-level cache. `p` may be anywhere.
    unsafe fn prefetch(p: *const u8);
}

/// Products of one operand type on one kind of vector.
///
/// # Safety
/// As [`Output`].
pub(super) trait Dot {
    /// Elements of a k-tile.
    const K0: usize = 1;
    /// Bytes of an element of the left operand.
    const LHS_BYTES: usize;
    /// Bits of an element of the right operand.
    const RHS_BITS: usize;
    /// Bytes of a column's k-tile of the right operand.
    const RHS_TILE: usize = Self::K0 * Self::RHS_BITS / 8;
    /// Parts that a k-tile is multiplied in, each of as many bytes of the left operand: what is unpacked of the right operand
    /// takes registers, and need not all be there at once.
    const PARTS: usize = 1;
    /// Bytes of an element of the left operand as products take it. Where that is not as it is stored, it is converted
    /// into scratch first.
    const STEP: usize = Self::LHS_BYTES;
    /// Whether the left operand is converted.
    const STAGED: bool = false;
    /// What fills the last k-tile of a converted row: times 0 it changes no sum, not even the sign of a zero.
    const NOTHING: [u8; 4] = [0; 4];
    /// Whether batches that leave rows out must be as fast as those that don't: taps of convolutions.
    const TAPS: bool = false;
    /// Tiles of at most so many accumulators have two k-tiles in a pass of the inner loop, those of half as many four: as
    /// far as there are registers for the operands.
    const TWICE: usize = 16;
    /// What is added times the sum of a row's elements after its products; not 0 only where the output is i32.
    const SUMS: i32 = 0;
    /// The accumulators.
    type Out: Output;
    /// A k-tile of a vector's columns.
    type Right: Copy;

    /// A k-tile of the columns of the mask.
    unsafe fn right(p: *const u8, mask: <Self::Out as Output>::Mask) -> Self::Right;
    /// A k-tile of all columns.
    unsafe fn right_all(p: *const u8) -> Self::Right;
    /// Part `index` of a k-tile.
    #[inline(always)]
    unsafe fn part(right: Self::Right, index: usize) -> Self::Right {
        let _ = index;
        right
    }
    /// Where the k-tile lies for the next part, hidden behind sums of the last: or the compiler would unpack all parts first,
    /// and have no registers for them.
    #[inline(always)]
    unsafe fn next(rhs: *const u8, sums: <Self::Out as Output>::Acc) -> *const u8 {
        let _ = sums;
        rhs
    }
    /// Adds the products of a part of one row's k-tile, as products take it, with that of `right`.
    unsafe fn row<const NV: usize>(
        acc: &mut [<Self::Out as Output>::Acc; NV],
        lhs: *const u8,
        right: &[Self::Right; NV],
    );
    /// Sums of the elements of rows, as products take them.
    unsafe fn sums(lhs: &Lhs, sums: &mut [i32; 16]) {
        let _ = (lhs, sums);
    }
    /// Converts `count` contiguous elements of the left operand, whole k-tiles except for the last.
    unsafe fn stage(from: *const u8, to: *mut u8, count: usize) {
        let _ = (from, to, count);
    }
}

/// Bytes of `elements` of the right operand, which are whole bytes.
#[inline(always)]
pub(super) fn rhs_bytes<D: Dot>(elements: isize) -> isize {
    elements * D::RHS_BITS as isize / 8
}

/// Rows `first` to `last` of a left operand as products take them, `steps` k-tiles deep. Strides count bytes.
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only rows of x86-64 sum the left operand"))]
pub(super) struct Lhs {
    pub(super) lhs: *const u8,
    pub(super) row_stride: isize,
    pub(super) k_stride: isize,
    pub(super) steps: usize,
    pub(super) first: usize,
    pub(super) last: usize,
}

#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "only rows of x86-64 sum the left operand"))]
impl Lhs {
    /// The first element of row `r`.
    pub(super) fn row(&self, r: usize) -> *const u8 {
        self.lhs.wrapping_offset(r as isize * self.row_stride)
    }
}

/// Sums of bytes, signed ones, of each row.
///
/// # Safety
/// The rows are readable.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn sums_of_bytes<D: Dot>(lhs: &Lhs, sums: &mut [i32; 16]) {
    for (r, sum) in sums.iter_mut().enumerate().take(lhs.last).skip(lhs.first) {
        for t in 0..lhs.steps {
            let from = lhs.row(r).wrapping_offset(t as isize * lhs.k_stride).cast::<i8>();
            for k in 0..D::K0 {
                // SAFETY: the caller's.
                *sum += i32::from(unsafe { from.add(k).read() });
            }
        }
    }
}

/// f32 on any vectors of f32.
pub(super) struct F32<V>(PhantomData<V>);

impl<V: Vector> Output for F32<V> {
    const LANES: usize = V::LANES;
    const BYTES: usize = 4;
    type Acc = V;
    type Mask = V::Mask;

    #[inline(always)]
    unsafe fn mask(lanes: usize) -> V::Mask {
        // SAFETY: the caller's.
        unsafe { V::mask(lanes) }
    }

    #[inline(always)]
    unsafe fn zero() -> V {
        // SAFETY: the caller's.
        unsafe { V::broadcast(&0.0) }
    }

    #[inline(always)]
    unsafe fn load(p: *const u8, mask: V::Mask) -> V {
        // SAFETY: the caller's.
        unsafe { V::load(p.cast(), mask) }
    }

    #[inline(always)]
    unsafe fn load_all(p: *const u8) -> V {
        // SAFETY: the caller's.
        unsafe { V::load_all(p.cast()) }
    }

    #[inline(always)]
    unsafe fn store(acc: V, p: *mut u8, mask: V::Mask) {
        // SAFETY: the caller's.
        unsafe { acc.store(p.cast(), mask) }
    }

    #[inline(always)]
    unsafe fn store_all(acc: V, p: *mut u8) {
        // SAFETY: the caller's.
        unsafe { acc.store_all(p.cast()) }
    }

    #[inline(always)]
    unsafe fn broadcast(p: *const u8) -> V {
        // SAFETY: the caller's.
        unsafe { V::broadcast(p.cast()) }
    }

    #[inline(always)]
    unsafe fn add(a: V, b: V) -> V {
        // SAFETY: the caller's.
        unsafe { a.add(b) }
    }

    #[inline(always)]
    unsafe fn min(a: V, b: V) -> V {
        // SAFETY: the caller's.
        unsafe { a.min(b) }
    }

    #[inline(always)]
    unsafe fn max(a: V, b: V) -> V {
        // SAFETY: the caller's.
        unsafe { a.max(b) }
    }

    #[inline(always)]
    unsafe fn prefetch(p: *const u8) {
        // SAFETY: the caller's.
        unsafe { V::prefetch(p.cast()) }
    }
}

impl<V: Vector> Dot for F32<V> {
    const LHS_BYTES: usize = 4;
    const RHS_BITS: usize = 32;
    const TAPS: bool = true;
    type Out = Self;
    type Right = V;

    #[inline(always)]
    unsafe fn right(p: *const u8, mask: V::Mask) -> V {
        // SAFETY: the caller's.
        unsafe { V::load(p.cast(), mask) }
    }

    #[inline(always)]
    unsafe fn right_all(p: *const u8) -> V {
        // SAFETY: the caller's.
        unsafe { V::load_all(p.cast()) }
    }

    #[inline(always)]
    unsafe fn row<const NV: usize>(acc: &mut [V; NV], lhs: *const u8, right: &[V; NV]) {
        // SAFETY: the caller's.
        unsafe {
            let left = V::left(lhs.cast());
            for (acc, &right) in acc.iter_mut().zip(right) {
                *acc = V::fma(left, right, *acc);
            }
        }
    }
}
