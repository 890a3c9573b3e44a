//! What the runtime runs.
//!
//! A [`Program`] has buffers with symbolic sizes, the nests of its dispatches, and steps: calls (of a dispatch, a
//! matmul, a convolution, a pack), branches, loops, and dims that are bound at run time. It names families of kernels,
//! never rows: tiles and tasks are planned when sizes are known. Its text form ([`Program::print`],
//! [`Program::parse`]) is complete but for the bytes of constants, and [`Program::verify`] says whether the runtime may
//! take it.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod program;
mod text;
mod verify;

pub use program::{
    Bind, Buffer, BufferId, Call, Constant, Conv, Dispatch, Epilogue, Loop, Matmul, Pack, Place, Port, Program, Rhs,
    Step, View,
};
pub use verify::{LARGEST, VerifyError};
