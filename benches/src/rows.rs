//! Calls of rows on operands in cache.

use smalti_ukernels::mmt4d::reference::{Value, WithTypes, with_types};
use smalti_ukernels::mmt4d::{Args, Batch, Tile};
use smalti_ukernels::table::Bound;

/// A whole tile of so many k-tiles, packed operands.
pub struct TileCall {
    macs: u64,
    call: Box<dyn FnMut()>,
}

impl TileCall {
    /// Operands for `row`: none where there are no Rust types for them.
    pub fn new(row: Bound, k_tiles: usize) -> Option<TileCall> {
        let tile = row.tile(Tile { m0: 8, n0: 8, k0: row.row().types.list[1].per_byte() });
        let k = k_tiles * tile.k0;
        let call = with_types(row.row().types, Operands { row, tile, k })?;
        Some(TileCall { macs: (tile.m0 * tile.n0 * k) as u64, call })
    }

    /// Multiply-adds of a call.
    pub fn macs(&self) -> u64 {
        self.macs
    }

    /// One call.
    pub fn run(&mut self) {
        (self.call)();
    }
}

/// Elements that begin at a line of 64 bytes, as constants in files and buffers of a session do.
struct Aligned<T> {
    values: Vec<T>,
    first: usize,
}

impl<T: Copy> Aligned<T> {
    fn new(len: usize, before: T, value: impl Fn(usize) -> T) -> Aligned<T> {
        let mut values: Vec<T> = Vec::with_capacity(len + 64 / size_of::<T>());
        let first = values.as_ptr().align_offset(64);
        values.resize(first, before);
        values.extend((0..len).map(value));
        Aligned { values, first }
    }

    fn get(&self) -> &[T] {
        &self.values[self.first..]
    }

    fn get_mut(&mut self) -> &mut [T] {
        &mut self.values[self.first..]
    }
}

struct Operands {
    row: Bound,
    tile: Tile,
    k: usize,
}

impl WithTypes for Operands {
    type Output = Box<dyn FnMut()>;

    fn run<L: Value, R: Value, O: Value>(self) -> Box<dyn FnMut()> {
        fn ramp<T: Value>(n: usize) -> Aligned<T> {
            let scale = if T::TYPE.is_float() { 1.0 / 17.0 } else { 1.0 };
            Aligned::new(n / T::COUNT, T::narrow(0.0), |i| T::narrow((i % 17) as f64 * scale))
        }
        let Operands { row, tile, k } = self;
        let Tile { m0, n0, k0 } = tile;
        let (lhs, rhs) = (ramp::<L>(m0 * k), ramp::<R>(n0 * k));
        let mut out = Aligned::new(m0 * n0, O::narrow(0.0), |_| O::narrow(0.0));
        let mut scratch = Aligned::new(row.row().scratch(m0), 0u8, |_| 0);
        let types = row.row().types;
        let scales = Aligned::new(types.groups(1, k).unwrap_or(0) * n0, 0.0f32, |_| 0.5);
        // A driver sums rows once for all tiles that they are in.
        let group = types.scaled().unwrap_or(k).min(k);
        let element = |r: usize, i: usize| lhs.get()[(i / k0 * m0 + r) * k0 + i % k0].widen() as i32;
        let sum = |g: usize, r: usize| (g * group..k.min((g + 1) * group)).map(|i| element(r, i)).sum::<i32>();
        let sums: Vec<i32> = match row.row().sums {
            true => (0..k.div_ceil(group)).flat_map(|g| (0..m0).map(move |r| (g, r))).map(|(g, r)| sum(g, r)).collect(),
            false => Vec::new(),
        };
        let batches = [Batch::default()];
        let mut args = Args {
            tile,
            rows: m0,
            cols: n0,
            lhs: lhs.get(),
            lhs_row_stride: k0 as isize,
            lhs_k_stride: (m0 * k0) as isize,
            rhs: rhs.get(),
            rhs_k_stride: (n0 * k0) as isize,
            batches: &batches,
            k_per_batch: k,
            init: None,
            init_row_stride: 0,
            bias: None,
            clamp: None,
            out: out.get_mut(),
            out_row_stride: n0 as isize,
            accumulate: false,
            scales: Some(scales.get()),
            zero_points: None,
            lhs_sums: row.row().sums.then_some(&sums),
            prefetch_rhs: None,
            prefetch_out: None,
            scratch: scratch.get_mut(),
        };
        // Checked once: what is measured is the kernel, called as drivers do.
        row.run(&mut args).expect("operands fit the tile");
        let mut raw = args.raw(tile);
        Box::new(move || {
            // The operands live in the closure; all but the batches keep their place in memory.
            let _ = (&lhs, &rhs, &scales, &sums, &mut out, &mut scratch);
            raw.batches = batches.as_ptr();
            // SAFETY: the call was checked, and its operands live as long as the closure.
            unsafe { row.run_raw(&raw) }
        })
    }
}
