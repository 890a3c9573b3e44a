//! Fused elementwise loops and reductions.
//!
//! A [`Nest`] is one dispatch: an iteration space whose extents and strides are given at run time, operands, and
//! straight-line bodies of typed scalar operations. It has a text form ([`Nest::parse`] and `Display`), a
//! [verifier](Nest::verify), and an [interpreter](interp) that is the definition of its arithmetic. Back ends agree
//! with the interpreter to the bit, any NaN being equal to any NaN:
//!
//! * `clif` (feature `cranelift`): Cranelift, to bytes that run wherever they are copied to; maps no memory. Feature
//!   `all-arch` makes code for every architecture on every machine.
//! * `jit`: executable memory, written before it is executable and never after: for bytes that are already there
//!   (feature `executable`), or compiled in this process (feature `jit`).
//!
//! Without features this crate needs no operating system.
//!
//! ```
//! use smalti_codegen::{Nest, interp};
//! let nest = Nest::parse("
//! nest @double outer 0 inner 1 {
//!   in x: f32 unit
//!   out y: f32 unit
//!   loop {
//!     %0 = load x
//!     %1 = add.f32 %0 %0
//!     store y %1
//!   }
//! }").unwrap();
//! let x = [1.0f32, 2.5].map(f32::to_ne_bytes).concat();
//! let mut y = vec![0; 8];
//! let data = [interp::Data::In(&x), interp::Data::Out(&mut y)];
//! let space = interp::Space { extents: &[2], strides: &[1, 1], offsets: &[0, 0] };
//! interp::run(&nest, &space, &mut { data }, 0, 2).unwrap();
//! assert_eq!(y, [2.0f32, 5.0].map(f32::to_ne_bytes).concat());
//! ```
#![no_std]
#![deny(unsafe_code)]

extern crate alloc;
#[cfg(any(feature = "cranelift", feature = "executable"))]
extern crate std;

pub mod abi;
mod builder;
#[cfg(feature = "cranelift")]
pub mod clif;
mod elem;
mod func;
pub mod interp;
#[cfg(feature = "executable")]
#[allow(unsafe_code)] // Executable memory: one of the four rooms for unsafe code.
pub mod jit;
pub mod lexer;
pub mod math;
mod nest;
mod scalar;
mod text;
mod verify;

pub use builder::Builder;
pub use elem::Elem;
pub use func::Func;
pub use nest::{Access, BinOp, CmpOp, Inst, Nest, Op, Operand, Phase, RedOp, Step, UnOp, Value};
pub use text::ParseError;
pub use verify::VerifyError;
