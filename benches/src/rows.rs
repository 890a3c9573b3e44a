//! Calls of rows, checked once and repeated unchecked, as drivers call them.

use smalti_ukernels::layout::flip;
use smalti_ukernels::mmt4d::reference::{Value, WithTypes, with_types};
use smalti_ukernels::mmt4d::{Args, ArgsError, Batch, RawArgs, Tile};
use smalti_ukernels::table::Bound;
use std::ptr;

/// A whole tile of so many k-tiles, packed operands.
pub struct TileCall {
    macs: u64,
    panel: usize,
    call: Call,
}

/// Calls a row: on the right operand of its own, or on another panel, with what is prefetched meanwhile.
type Call = Box<dyn FnMut(Option<(&[u8], *const u8)>)>;

impl TileCall {
    /// Operands for `row`: none where there are no Rust types for them.
    pub fn new(row: Bound, k_tiles: usize) -> Option<TileCall> {
        let tile = row.tile(Tile { m0: 8, n0: 8, k0: row.row().types.list[1].per_byte() });
        let k = k_tiles * tile.k0;
        let types = row.row().types;
        let call = with_types(types, Operands { row, tile, k })?;
        Some(TileCall { macs: (tile.m0 * tile.n0 * k) as u64, panel: tile.n0 * k * types.list[1].bits() / 8, call })
    }

    /// Bytes of the right operand.
    pub fn panel(&self) -> usize {
        self.panel
    }

    /// Multiply-adds of a call.
    pub fn macs(&self) -> u64 {
        self.macs
    }

    /// One call.
    pub fn run(&mut self) {
        (self.call)(None);
    }

    /// One call on a right operand of these bytes, which begin at a line: the row prefetches one that begins so many bytes
    /// further on.
    pub fn run_on(&mut self, panel: &[u8], ahead: usize) {
        assert!(panel.len() == self.panel && panel.as_ptr().align_offset(64) == 0, "another panel");
        (self.call)(Some((panel, panel.as_ptr().wrapping_add(ahead))));
    }
}

/// Elements that begin at a line of 64 bytes, as constants in files and buffers of a session do.
pub(crate) struct Aligned<T> {
    values: Vec<T>,
    first: usize,
}

impl<T: Copy> Aligned<T> {
    pub(crate) fn new(len: usize, before: T, value: impl Fn(usize) -> T) -> Aligned<T> {
        let mut values: Vec<T> = Vec::with_capacity(len + 64 / size_of::<T>());
        let first = values.as_ptr().align_offset(64);
        values.resize(first, before);
        values.extend((0..len).map(value));
        Aligned { values, first }
    }

    pub(crate) fn get(&self) -> &[T] {
        &self.values[self.first..]
    }

    pub(crate) fn get_mut(&mut self) -> &mut [T] {
        &mut self.values[self.first..]
    }
}

struct Operands {
    row: Bound,
    tile: Tile,
    k: usize,
}

impl WithTypes for Operands {
    type Output = Call;

    fn run<L: Value, R: Value, O: Value>(self) -> Call {
        fn ramp<T: Value>(n: usize) -> Aligned<T> {
            let scale = if T::TYPE.is_float() { 1.0 / 17.0 } else { 1.0 };
            Aligned::new(n / T::COUNT, T::narrow(0.0), |i| T::narrow((i % 17) as f64 * scale))
        }
        let Operands { row, tile, k } = self;
        let Tile { m0, n0, k0 } = tile;
        let (lhs, mut rhs) = (ramp::<L>(m0 * k), ramp::<R>(n0 * k));
        if row.row().flipped {
            flip(rhs.get_mut());
        }
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
        let raw = args.raw(tile);
        Box::new(move |other| {
            // The operands live in the closure; all but the batches keep their place in memory.
            let _ = (&lhs, &rhs, &scales, &sums, &mut out, &mut scratch);
            let mut raw = RawArgs { batches: batches.as_ptr(), ..raw };
            if let Some((panel, ahead)) = other {
                (raw.rhs, raw.prefetch_rhs) = (panel.as_ptr(), ahead);
            }
            // SAFETY: the call was checked, and its operands live as long as the closure; another panel is as long as that
            // of the check, and any bytes are elements.
            unsafe { row.run_raw(&raw) }
        })
    }
}

/// What tiles of one row have in common. Strides count elements.
pub(crate) struct Strides {
    pub(crate) lhs_row: usize,
    pub(crate) lhs_k: usize,
    pub(crate) rhs_k: usize,
    pub(crate) out_row: usize,
    /// Depth of a batch.
    pub(crate) k: usize,
    pub(crate) clamp: Option<[f32; 2]>,
}

/// A tile: where its operands begin.
pub(crate) struct At {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) lhs: usize,
    pub(crate) rhs: usize,
    pub(crate) out: usize,
    /// Which list of batches it sums. Their offsets count from the tile's own.
    pub(crate) list: usize,
}

/// The tiles of a driver, on f32: checked as they are listed, called without a check.
pub(crate) struct Tiles {
    row: Bound,
    tile: Tile,
    strides: Strides,
    lhs: Aligned<f32>,
    rhs: Aligned<f32>,
    out: Aligned<f32>,
    lists: Vec<Vec<Batch>>,
    calls: Vec<At>,
}

impl Tiles {
    /// Operands, and the lists of batches that tiles sum.
    pub(crate) fn new(
        row: Bound,
        tile: Tile,
        strides: Strides,
        [lhs, rhs, out]: [Aligned<f32>; 3],
        lists: Vec<Vec<Batch>>,
    ) -> Tiles {
        Tiles { row, tile, strides, lhs, rhs, out, lists, calls: Vec::new() }
    }

    /// One more tile.
    pub(crate) fn push(&mut self, at: At) -> Result<(), ArgsError> {
        let Strides { lhs_row, lhs_k, rhs_k, out_row, k, clamp } = self.strides;
        let moved = |b: &Batch| Batch { lhs: b.lhs + at.lhs as isize, rhs: b.rhs + at.rhs as isize, ..*b };
        let batches: Vec<Batch> = self.lists[at.list].iter().map(moved).collect();
        let mut args = Args {
            tile: self.tile,
            rows: at.rows,
            cols: at.cols,
            lhs: self.lhs.get(),
            lhs_row_stride: lhs_row as isize,
            lhs_k_stride: lhs_k as isize,
            rhs: self.rhs.get(),
            rhs_k_stride: rhs_k as isize,
            batches: &batches,
            k_per_batch: k,
            init: None,
            init_row_stride: 0,
            bias: None,
            clamp,
            out: self.out.get_mut().get_mut(at.out..).unwrap_or_default(),
            out_row_stride: out_row as isize,
            accumulate: false,
            scales: None,
            zero_points: None,
            lhs_sums: None,
            prefetch_rhs: None,
            prefetch_out: None,
            scratch: &mut [],
        };
        self.row.run(&mut args)?;
        self.calls.push(at);
        Ok(())
    }

    /// All tiles, in the order in which they were listed.
    pub(crate) fn run(&mut self) {
        let Strides { lhs_row, lhs_k, rhs_k, out_row, k, clamp } = &self.strides;
        let (lhs, rhs, out) = (self.lhs.get().as_ptr(), self.rhs.get().as_ptr(), self.out.get_mut().as_mut_ptr());
        for at in &self.calls {
            let batches = &self.lists[at.list];
            let raw = RawArgs {
                tile: self.tile,
                rows: at.rows,
                cols: at.cols,
                lhs: lhs.wrapping_add(at.lhs).cast(),
                lhs_row_stride: *lhs_row as isize,
                lhs_k_stride: *lhs_k as isize,
                rhs: rhs.wrapping_add(at.rhs).cast(),
                rhs_k_stride: *rhs_k as isize,
                batches: batches.as_ptr(),
                batch_count: batches.len(),
                k_per_batch: *k,
                init: ptr::null(),
                init_row_stride: 0,
                bias: ptr::null(),
                clamp: clamp.as_ref().map_or(ptr::null(), |c| c.as_ptr().cast()),
                out: out.wrapping_add(at.out).cast(),
                out_row_stride: *out_row as isize,
                accumulate: false,
                scales: ptr::null(),
                zero_points: ptr::null(),
                lhs_sums: ptr::null(),
                prefetch_rhs: ptr::null(),
                prefetch_out: ptr::null(),
                scratch: ptr::null_mut(),
            };
            // SAFETY: the same call was checked when it was listed, and operands keep their lengths.
            unsafe { self.row.run_raw(&raw) }
        }
    }

    /// The left operand.
    pub(crate) fn lhs_mut(&mut self) -> &mut [f32] {
        self.lhs.get_mut()
    }

    /// The right operand.
    pub(crate) fn rhs_mut(&mut self) -> &mut [f32] {
        self.rhs.get_mut()
    }

    /// The output.
    pub(crate) fn out(&self) -> &[f32] {
        self.out.get()
    }
}
