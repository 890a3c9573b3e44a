//! What a machine can do.
//!
//! A [`Target`] is a small `Copy` value: architecture, instruction-set [`Features`], the RVV vector length where it
//! is pinned, [`Caches`] and the [`CoreClass`] whose timing the cost models use. It is detected once
//! ([`Target::host`], feature `detect`) or parsed from text ([`Target::parse`]) and passed down; nothing else in
//! Smalti asks the processor anything.
//!
//! ```
//! use smalti_isa::{Feature, Target};
//! let t = Target::parse("riscv64+v,vlen=256").unwrap();
//! assert!(t.features.has(Feature::V));
//! assert_eq!(t.vlen, Some(256));
//! assert_eq!(t.to_string(), "riscv64+v,vlen=256");
//! ```
#![no_std]
#![deny(unsafe_code)]

#[cfg(test)]
extern crate std;

mod core_class;
#[cfg(feature = "detect")]
#[allow(unsafe_code)] // One of the four rooms for unsafe code: the processor and the kernel are asked by instructions.
mod detect;
mod features;
mod target;

pub use core_class::CoreClass;
#[cfg(feature = "detect")]
pub use detect::{Detection, detect};
pub use features::{Feature, Features, Level};
pub use target::{Arch, Caches, Target, TargetError};
