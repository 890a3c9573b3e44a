//! The one ABI of dispatches: machine code, interpreter and epilogues implement it.
//!
//! ```text
//! extern "C" fn(args: *const DispatchArgs, begin: u64, end: u64, scratch: *mut u8) -> u32
//! ```
//! `[begin, end)` is the worker's part of the first dim: of the outer dims, or of the inner ones where there are no
//! outer ones. The result is a [`status`](OK).

use crate::nest::Func;
use crate::scalar;

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

/// The functions of [`Func`], in its order; a function of one argument ignores the second.
#[repr(C)]
pub struct Helpers {
    /// One entry a function.
    pub functions: [extern "C" fn(f64, f64) -> f64; Func::ALL.len()],
}

/// A dispatch, as machine code.
pub type Dispatch = unsafe extern "C" fn(*const DispatchArgs, u64, u64, *mut u8) -> u32;

/// All went well.
pub const OK: u32 = 0;
/// An index lay outside its operand.
pub const BAD_INDEX: u32 = 1;

macro_rules! helpers {
    ($($func:ident),*) => {
        /// The helper table of this build.
        pub static HELPERS: Helpers = Helpers {
            functions: [$({
                extern "C" fn helper(x: f64, y: f64) -> f64 {
                    scalar::call(Func::$func, x, y)
                }
                helper
            }),*],
        };
    };
}

helpers!(Exp, Tanh, Log, Erf, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Asinh, Acosh, Atanh, Log1p, Pow, Fmod);
