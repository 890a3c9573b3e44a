//! Cases of bytes.

pub mod mmt4d;
pub mod nest;
