//! Vectors of f32: what bodies are generic over where the choice of instruction does not matter.
//!
//! Bodies are `#[inline(always)]` and called from functions that enable the features; there the methods become the
//! instructions that they name.

/// A vector of f32 and the mask of its first lanes.
///
/// # Safety
/// Every method needs a machine with the vector's instructions; loads and stores access the lanes that they say.
pub(crate) trait Vector: Copy {
    /// How many lanes.
    const LANES: usize;
    /// Selects lanes.
    type Mask: Copy;
    /// An element of a left operand, as `fma` takes it.
    type Left: Copy;

    /// The first `lanes` lanes, at most all.
    unsafe fn mask(lanes: usize) -> Self::Mask;
    /// The lanes of the mask; zeros beside them.
    unsafe fn load(p: *const f32, mask: Self::Mask) -> Self;
    /// All lanes.
    unsafe fn load_all(p: *const f32) -> Self;
    /// The lanes of the mask.
    unsafe fn store(self, p: *mut f32, mask: Self::Mask);
    /// All lanes.
    unsafe fn store_all(self, p: *mut f32);
    /// One element in every lane.
    unsafe fn broadcast(p: *const f32) -> Self;
    /// An element of a left operand.
    unsafe fn left(p: *const f32) -> Self::Left;
    /// `left · right + acc`, rounded once, in every lane.
    unsafe fn fma(left: Self::Left, right: Self, acc: Self) -> Self;
    /// Sum.
    unsafe fn add(self, b: Self) -> Self;
    /// `self` where it is less than `b`, else `b`: also where one is a NaN or both are zeros.
    unsafe fn min(self, b: Self) -> Self;
    /// `self` where it is greater than `b`, else `b`.
    unsafe fn max(self, b: Self) -> Self;
    /// Asks for the line of `p` in the second-level cache. `p` may be anywhere.
    unsafe fn prefetch(p: *const f32);
}
