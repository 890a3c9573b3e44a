//! What is right.

pub mod mmt4d;
pub mod nest;
