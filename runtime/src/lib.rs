//! Runs programs.
//!
//! A [`Session`] holds a verified [`Program`](smalti_program::Program), its constants, and memory that grows to what
//! a run needs and then stays: from the second run with the same sizes on, nothing is allocated, as long as every dispatch
//! has machine code (the interpreter allocates) and no more than sixteen sets of sizes take turns. Tiles and tasks are
//! planned when sizes are known, and kept for the sizes that were seen last. Work goes to a [`Pool`]; results don't
//! depend on how many threads it has.
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(unsafe_code)]

extern crate alloc;

#[allow(unsafe_code)] // Kernels and machine code on buffers: one of the four rooms for unsafe code.
mod call;
mod code;
mod error;
#[cfg(feature = "std")]
#[allow(unsafe_code)] // Maps files: one of the four rooms for unsafe code.
mod map;
mod memory;
mod pool;
mod prepare;
mod session;

pub use code::Code;
pub use error::{LoadError, RunError};
#[cfg(feature = "std")]
pub use map::map;
#[cfg(feature = "std")]
pub use pool::Threads;
pub use pool::{Inline, Pool};
pub use session::{Input, Output, Session};
