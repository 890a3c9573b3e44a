//! Products of one row: weights that are streamed from memory, beside the fastest way to read the same memory.

use crate::measure::{Burst, in_turns};
use crate::peak::Read;
use crate::report::{Line, Unit};
use crate::rows::TileCall;
use memmap2::MmapMut;
use smalti_ukernels::Host;
use smalti_ukernels::name::{Dim, Op};
use smalti_ukernels::table::{Bound, ROWS, Row, Tier};
use std::cell::Cell;

/// Depth of the product.
const K: usize = 4096;
/// So far ahead rows prefetch their weights.
const AHEAD: usize = 16 << 10;
/// Bytes of a burst, at least.
const BURST: usize = 4 << 20;
/// Bursts of each.
const ROUNDS: usize = 60;
/// Bytes that are read before any is read again, at least.
const MEMORY: usize = 256 << 20;

/// Memory that is read by turns, each going on where the last one stopped: what is read has left the caches since.
pub struct Stream {
    memory: MmapMut,
    next: Cell<usize>,
}

impl Stream {
    /// More than the last cache holds; none where the machine has not got it.
    pub fn new(host: &Host) -> Option<Stream> {
        Stream::of(MEMORY.max(2 * host.target().caches.l3 as usize))
    }

    /// So many bytes.
    fn of(bytes: usize) -> Option<Stream> {
        let mut memory = MmapMut::map_anon(bytes).ok()?;
        // What is measured is memory, not page tables; a kernel without large pages has small ones.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        // As any type, numbers that no arithmetic is slow on.
        memory.fill(0x3c);
        Some(Stream { memory, next: Cell::new(0) })
    }

    /// The next bytes, from a line's begin.
    fn take(&self, bytes: usize) -> &[u8] {
        let from = if self.next.get() + bytes > self.memory.len() { 0 } else { self.next.get() };
        self.next.set(from + bytes.next_multiple_of(64));
        &self.memory[from..from + bytes]
    }
}

/// A row on panel after panel of a stream.
pub struct Product<'a> {
    tile: TileCall,
    stream: &'a Stream,
}

impl<'a> Product<'a> {
    /// None where there are no Rust types for the operands.
    pub fn new(row: Bound, stream: &'a Stream) -> Option<Product<'a>> {
        let k0 = row.tile(smalti_ukernels::mmt4d::Tile { m0: 1, n0: 1, k0: 1 }).k0;
        Some(Product { tile: TileCall::new(row, K / k0)?, stream })
    }

    /// Bytes of weights of a panel.
    pub fn bytes(&self) -> usize {
        self.tile.panel()
    }

    /// The next panel.
    pub fn run(&mut self) {
        self.tile.run_on(self.stream.take(self.tile.panel()), AHEAD);
    }
}

/// Tuned rows of one row of the output, which run here.
pub fn cases(host: &Host) -> impl Iterator<Item = &'static Row> + '_ {
    let one = |r: &&Row| r.op == Op::Mmt4d && r.tile[0] == Dim::Fixed(1) && r.tier() == Tier::Tuned;
    ROWS.iter().filter(one).filter(|r| r.runs_on(host.target()))
}

/// The cases whose lines' names contain `filter`.
pub(crate) fn lines<'a>(host: &'a Host, filter: &'a str) -> impl Iterator<Item = Line> + 'a {
    let mut stream = None;
    cases(host).filter_map(move |row| {
        let name = format!("{} matrix-vector", row.name);
        if !name.contains(filter) {
            return None;
        }
        let row = row.bind(host).ok()?;
        let stream = stream.get_or_insert_with(|| Stream::new(host)).as_ref()?;
        Some(line(name, Product::new(row, stream)?, stream, host))
    })
}

fn line(name: String, mut product: Product<'_>, stream: &Stream, host: &Host) -> Line {
    let bytes = product.bytes();
    let panels = BURST.div_ceil(bytes);
    let mut call = || product.run();
    let mut bursts = Burst::of(panels, &mut call);
    let ways = Read::all(host);
    let mut reads: Vec<_> = ways.iter().map(|way| move || way.run(stream.take(BURST))).collect();
    let mut limits: Vec<Burst<'_>> = reads.iter_mut().map(|read| Burst::of(1, read)).collect();
    let mut turns: Vec<_> = limits.iter_mut().chain([&mut bursts]).collect();
    in_turns(ROUNDS, &mut turns);
    let best = ways.iter().zip(&limits).min_by(|a, b| a.1.best().total_cmp(&b.1.best()));
    let (way, limit) = best.expect("memory can be read");
    Line::new(name, Unit::Gbps, (bytes as f64, &bursts), (way.name, BURST as f64, limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_taken_from_end_to_end() {
        let stream = Stream::of(1 << 16).unwrap();
        let start = stream.memory.as_ptr() as usize;
        let taken: Vec<usize> = (0..6).map(|_| stream.take(0x4000 - 1).as_ptr() as usize - start).collect();
        assert_eq!(taken, [0, 0x4000, 0x8000, 0xc000, 0, 0x4000]);
    }

    #[test]
    fn panels_are_as_long_as_their_elements() {
        let (host, stream) = (Host::detect(), Stream::of(2 << 20).unwrap());
        let ones = ROWS.iter().filter(|r| r.op == Op::Mmt4d && r.tile[0] == Dim::Fixed(1));
        for row in ones.filter_map(|r| r.bind(&host).ok()) {
            let mut product = Product::new(row, &stream).unwrap();
            let n0 = row.row().tile[1].on(host.target()).unwrap();
            assert_eq!(product.bytes(), n0 * K * row.row().types.list[1].bits() / 8, "{}", row.row().name);
            product.run();
        }
    }
}
