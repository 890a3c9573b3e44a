//! Moves of matrices in cache, beside a copy of as many bytes.

use crate::measure::{Burst, in_turns, median_ratio};
use smalti_ukernels::Host;
use smalti_ukernels::elem::{Elem, ElemType};
use smalti_ukernels::name::{Dim, Op};
use smalti_ukernels::table::{Bound, ROWS, Row};
use smalti_ukernels::{pack, unpack};

/// Bytes of a matrix, at most: it and its panels are in the first-level cache.
const BYTES: usize = 5120;
/// Rows of a matrix, about.
const LINES: usize = 32;
/// Bursts of each.
const ROUNDS: usize = 120;

/// One move beside a copy of the same run.
#[derive(Clone, Debug)]
pub struct Line {
    /// The kernel's name with the tile, and the order of the matrix where its columns are contiguous.
    pub name: String,
    /// Bytes of the matrix in a nanosecond.
    pub gbps: f64,
    /// Those that `memcpy` copies.
    pub peak: f64,
    /// The best of one over the best of the other.
    pub ratio: f64,
    /// The median over the bursts.
    pub median_ratio: f64,
}

/// Every row that moves and runs here, with the tiles and orders of its width, whose name contains `filter`; one after the
/// other.
pub fn lines<'a>(host: &'a Host, filter: &'a str) -> impl Iterator<Item = Line> + 'a {
    let rows = ROWS.iter().filter(|r| matches!(r.op, Op::Pack | Op::Unpack));
    let bound = rows.filter_map(|row| row.bind(host).ok());
    let cases = bound.flat_map(|row| {
        tiles(row).into_iter().flat_map(move |tile| [false, true].map(|transposed| Case { row, tile, transposed }))
    });
    cases.filter(move |case| case.name().contains(filter)).map(|case| case.line())
}

/// The tiles that a row is measured with.
fn tiles(row: Bound) -> Vec<[usize; 2]> {
    let Row { op, types, tile, .. } = *row.row();
    let given: &[[usize; 2]] = match (op, types.list[0].bits()) {
        _ if tile[0] != Dim::Runtime => &[[0, 0]],
        (Op::Unpack, _) => &[[6, 16], [8, 8], [14, 32], [16, 16]],
        (_, 64) => &[[8, 1], [16, 1]],
        (_, 32) => &[[8, 1], [16, 1], [32, 1], [8, 8], [16, 16]],
        (_, 16) => &[[16, 1], [32, 1], [14, 2], [16, 2], [32, 2]],
        _ => &[[16, 2], [14, 4], [16, 4], [32, 4], [8, 8]],
    };
    given.iter().map(|&tile| row.panel_tile(tile)).collect()
}

/// A row, its tile, and the order of the matrix.
#[derive(Clone, Copy)]
pub struct Case {
    row: Bound,
    tile: [usize; 2],
    transposed: bool,
}

impl Case {
    /// What it is called in reports.
    pub fn name(&self) -> String {
        let [t0, t1] = self.tile;
        let mut name = self.row.row().fields();
        name.tile = [Dim::Fixed(t0 as u16), Dim::Fixed(t1 as u16), Dim::Fixed(1)];
        format!("{name}{}", if self.transposed { " transposed" } else { "" })
    }

    fn line(self) -> Line {
        let (mut call, bytes) = self.call();
        let (from, mut to) = (vec![1u8; bytes], vec![0u8; bytes]);
        let mut copy = || std::hint::black_box(&mut to[..]).copy_from_slice(std::hint::black_box(&from));
        let mut moves = Burst::new(&mut call);
        let mut copies = Burst::new(&mut copy);
        in_turns(ROUNDS, &mut [&mut copies, &mut moves]);
        let (gbps, peak) = (1e-9 * bytes as f64 / moves.best(), 1e-9 * bytes as f64 / copies.best());
        let median_ratio = median_ratio(&copies, &moves);
        Line { name: self.name(), gbps, peak, ratio: gbps / peak, median_ratio }
    }

    /// A call on whole tiles, and the bytes that it moves.
    pub fn call(self) -> (Box<dyn FnMut()>, usize) {
        match self.row.row().types.list[0] {
            ElemType::F64 => self.on::<f64>(),
            ElemType::F32 => self.on::<f32>(),
            ElemType::F16 => self.on::<i16>(),
            _ => self.on::<i8>(),
        }
    }

    fn on<T: Elem + Default>(self) -> (Box<dyn FnMut()>, usize) {
        let Case { row, tile, transposed } = self;
        let width = size_of::<T>();
        let rows = (LINES / tile[0]).max(1) * tile[0];
        let cols = (BYTES / width / rows / tile[1]).max(1) * tile[1];
        let (len, bytes) = (rows * cols, rows * cols * width);
        let strides = if transposed { [1, rows as isize] } else { [cols as isize, 1] };
        let outer = [rows / tile[0], cols / tile[1]];
        let panels = [(tile[0] * cols) as isize, (tile[0] * tile[1]) as isize];
        let (src, mut out) = (lines_of(vec![T::default(); len + 64]), lines_of(vec![T::default(); len + 64]));
        // Checked once: what is measured is the kernel, called as drivers do.
        if row.row().op == Op::Pack {
            let (src, out) = (&src.0[src.1..][..len], &mut out.0[out.1..][..len]);
            let mut args = pack::Args {
                tile,
                size: [rows, cols],
                src,
                src_strides: strides,
                outer,
                out,
                out_strides: panels,
                padding: 0,
            };
            row.pack(&mut args).expect("operands fit the tile");
        } else {
            let (src, out) = (&src.0[src.1..][..len], &mut out.0[out.1..][..len]);
            let mut args =
                unpack::Args { tile, size: [rows, cols], src, src_strides: panels, out, out_strides: strides };
            row.unpack(&mut args).expect("operands fit the tile");
        }
        let call = move || {
            let from = src.0[src.1..].as_ptr().cast();
            let to = out.0[out.1..].as_mut_ptr().cast();
            // SAFETY: the call was checked, and its operands live as long as the closure.
            unsafe {
                if row.row().op == Op::Pack {
                    row.pack_raw(&pack::RawArgs {
                        tile,
                        size: [rows, cols],
                        src: from,
                        src_strides: strides,
                        outer,
                        out: to,
                        out_strides: panels,
                        padding: 0,
                    });
                } else {
                    row.unpack_raw(&unpack::RawArgs {
                        tile,
                        size: [rows, cols],
                        src: from,
                        src_strides: panels,
                        out: to,
                        out_strides: strides,
                    });
                }
            }
        };
        (Box::new(call), bytes)
    }
}

/// The values, and the first that begins a line of 64 bytes.
fn lines_of<T>(values: Vec<T>) -> (Vec<T>, usize) {
    let first = values.as_ptr().align_offset(64);
    (values, first)
}
