//! What benches share: loops that reach the machine's peak, calls of rows on operands in cache, and how they are timed.
#![deny(unsafe_code)]

pub mod measure;
#[allow(unsafe_code)] // Calls that were checked before are repeated unchecked.
pub mod moves;
#[allow(unsafe_code)] // Intrinsics, for calibration only.
pub mod peak;
pub mod products;
pub mod report;
#[allow(unsafe_code)] // Calls that were checked before are repeated unchecked.
pub mod rows;
pub mod streams;
pub mod taps;
