//! What benches share: loops that reach the machine's peak, and calls of rows on operands in cache.
#![deny(unsafe_code)]

#[allow(unsafe_code)] // Intrinsics, for calibration only.
pub mod peak;
pub mod rows;
