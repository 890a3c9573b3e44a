//! Hand-tuned, data-tiled microkernels for matmul and convolution, with the table that selects them.
//!
//! * [`table::ROWS`] is THE table: planner, dispatch, tests, benches and docs read it and nothing else.
//! * [`name::Name`] is the grammar of kernel names; every row's name parses back into the row's fields.
//! * [`layout`] says how panels lie in memory and draws them.
//! * [`select`] picks rows: a pure function of what is asked, a [`Target`](smalti_isa::Target) and the table.
//! * [`mmt4d`], [`pack`](mod@pack), [`unpack`](mod@unpack) hold the kernels, one file per instruction set.
//!
//! The way in is safe: [`Row::bind`](table::Row::bind) with a [`Host`] gives a callable row, whose `run` checks its arguments. The
//! crate needs no operating system and allocates nothing.
//!
//! ```
//! use smalti_isa::{Arch, Target};
//! use smalti_ukernels::{elem::ElemType, select};
//! let target = Target::parse("x86_64_v4").unwrap();
//! let choice = select::mmt4d(&select::Mmt4dQuery::new([ElemType::F32; 3], 14, 32, 256), &target).unwrap();
//! assert_eq!(choice.row.name, "mmt4d_f32f32f32_14x32x1_x86_64_avx512");
//! ```
#![no_std]
#![deny(unsafe_code)]

pub mod elem;
pub mod layout;
pub mod name;
pub mod select;
pub mod table;

#[allow(unsafe_code)] // Kernels: one of the four rooms for unsafe code.
pub mod mmt4d;
#[allow(unsafe_code)] // Kernels: one of the four rooms for unsafe code.
pub mod pack;
#[allow(unsafe_code)] // Kernels: one of the four rooms for unsafe code.
pub mod unpack;

#[allow(unsafe_code)] // The assumption that a target is the machine at hand can't be checked.
mod host;

#[cfg(target_arch = "aarch64")]
#[allow(unsafe_code)] // Intrinsics under names that kernels share.
mod aarch64;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[allow(unsafe_code)] // Transposes and copies that kernels share.
mod moves;
#[cfg(target_arch = "riscv64")]
#[allow(unsafe_code)] // Assembly that kernels share.
mod riscv64;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[allow(unsafe_code)] // The names.
mod vector;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)] // Intrinsics under names that kernels share.
mod x86_64;

pub use host::Host;
