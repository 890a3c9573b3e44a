//! The native functions.
