//! The one ABI of dispatches: machine code, interpreter and epilogues implement it.
//!
//! ```text
//! extern "C" fn(args: *const DispatchArgs, begin: u64, end: u64, scratch: *mut u8) -> u32
//! ```
//! `[begin, end)` is the worker's part of the first dim: of the outer dims, or of the inner ones where there are no
//! outer ones. The result is a [`status`](OK). The order of the fields of [`DispatchArgs`] and [`Helpers`] is frozen.

use core::mem::offset_of;

pub use crate::func::{HELPERS, Helpers};

/// The version of this ABI. Code of an older version runs in every later runtime.
pub const VERSION: u32 = 1;

/// What a dispatch is given. All strides count elements.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DispatchArgs {
    /// `size_of::<DispatchArgs>()` of the caller: later versions append fields.
    pub size: u64,
    /// The first element of each operand.
    pub operands: *const *mut u8,
    /// The extent of each dim.
    pub extents: *const u64,
    /// Each operand's stride in each dim: operand by operand.
    pub strides: *const i64,
    /// Functions that code calls.
    pub helpers: *const Helpers,
}

// What code of earlier versions was compiled to.
const _: () = {
    assert!(offset_of!(DispatchArgs, operands) == 8);
    assert!(offset_of!(DispatchArgs, extents) == 16);
    assert!(offset_of!(DispatchArgs, strides) == 24);
    assert!(offset_of!(DispatchArgs, helpers) == 32);
};

/// A dispatch, as machine code.
pub type Dispatch = unsafe extern "C" fn(*const DispatchArgs, u64, u64, *mut u8) -> u32;

/// All went well.
pub const OK: u32 = 0;
/// An index lay outside its operand.
pub const BAD_INDEX: u32 = 1;
