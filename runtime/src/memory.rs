//! Memory that is aligned to cache lines and only grows.

use alloc::vec::Vec;
use bytemuck::{Pod, Zeroable};
use bytes::Bytes;

/// A cache line.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([u64; 8]);

/// Bytes, aligned to 64.
#[derive(Default)]
pub(crate) struct Memory(Vec<Line>);

impl Memory {
    /// Makes room for `bytes`. What is there stays.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        let lines = bytes.div_ceil(size_of::<Line>());
        if self.0.len() < lines {
            // What grows in small steps is moved seldom.
            let lines = if self.0.is_empty() { lines } else { lines.max(self.0.len() + self.0.len() / 2) };
            self.0.resize(lines, Line::zeroed());
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

/// Bytes that are only read, aligned to 64: where they were, or copied if they lay badly.
pub(crate) enum Lent {
    There(Bytes),
    Copied(Memory),
}

impl Lent {
    pub(crate) fn new(bytes: &Bytes) -> Lent {
        if bytes.as_ptr().addr().is_multiple_of(align_of::<Line>()) {
            return Lent::There(bytes.clone());
        }
        let mut memory = Memory::default();
        memory.reserve(bytes.len());
        memory.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
        Lent::Copied(memory)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Lent::There(bytes) => bytes,
            Lent::Copied(memory) => memory.bytes(),
        }
    }
}
