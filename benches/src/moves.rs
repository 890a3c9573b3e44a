//! Packs and unpacks of a matrix in cache, beside a copy of as many bytes.

use crate::measure::{Burst, in_turns};
use crate::report::{Line, ROUNDS, Unit};
use crate::rows::Aligned;
use smalti_ukernels::Host;
use smalti_ukernels::elem::{Elem, ElemType};
use smalti_ukernels::name::{Dim, Op};
use smalti_ukernels::table::{Bound, ROWS, Tier};
use smalti_ukernels::{pack, unpack};
use std::hint::black_box;

/// Bytes of a matrix, at most: it and its panels are in the first-level cache.
const BYTES: usize = 5120;
/// Rows of a matrix, at most, where a tile has fewer.
const LINES: usize = 32;

/// A row on whole tiles of a matrix.
#[derive(Clone, Copy)]
pub struct Case {
    row: Bound,
    tile: [usize; 2],
    /// Whether the matrix has its columns in one piece, not its rows.
    transposed: bool,
}

/// Tuned rows that run here, with the tiles that they are for.
pub fn cases(host: &Host) -> impl Iterator<Item = Case> + '_ {
    let rows = ROWS.iter().filter(|r| matches!(r.op, Op::Pack | Op::Unpack) && r.tier() == Tier::Tuned);
    rows.filter_map(|row| row.bind(host).ok()).flat_map(|row| {
        let orders = move |tile| [false, true].map(|transposed| Case { row, tile, transposed });
        tiles(row).iter().map(move |&tile| row.panel_tile(tile)).flat_map(orders)
    })
}

/// The tiles that a row is measured with; those of its own, where it has them, whatever is given.
fn tiles(row: Bound) -> &'static [[usize; 2]] {
    match (row.row().op, row.row().types.list[0]) {
        _ if row.row().tile[0] != Dim::Runtime => &[[0, 0]],
        (Op::Unpack, _) => &[[6, 16], [8, 8], [14, 32], [16, 16]],
        (_, ElemType::F64) => &[[8, 1], [16, 1], [8, 8]],
        (_, ElemType::F32) => &[[8, 1], [16, 1], [32, 1], [8, 8], [16, 16]],
        (_, ElemType::F16) => &[[16, 1], [32, 1], [14, 2], [16, 2], [32, 2]],
        _ => &[[8, 2], [16, 2], [14, 4], [16, 4], [32, 4]],
    }
}

/// Every case whose name contains `filter`.
pub(crate) fn lines<'a>(host: &'a Host, filter: &'a str) -> impl Iterator<Item = Line> + 'a {
    cases(host).filter(move |case| case.name().contains(filter)).map(|case| {
        let (mut call, bytes) = case.call();
        let (from, mut to) = (Aligned::new(bytes, 0u8, |i| i as u8), Aligned::new(bytes, 0u8, |_| 0));
        let mut copy = || black_box(to.get_mut()).copy_from_slice(black_box(from.get()));
        let mut moves = Burst::new(&mut call);
        let mut copies = Burst::new(&mut copy);
        in_turns(ROUNDS, &mut [&mut copies, &mut moves]);
        let work = bytes as f64;
        Line::new(case.name(), Unit::Gbps, (work, &moves), ("memcpy", work, &copies))
    })
}

impl Case {
    /// The row's name with this tile.
    pub fn name(&self) -> String {
        let mut name = self.row.row().fields();
        name.tile = [self.tile[0], self.tile[1], 1].map(|n| Dim::Fixed(n as u16));
        format!("{name}{}", if self.transposed { " transposed" } else { "" })
    }

    /// A call, and the bytes of the matrix.
    pub fn call(self) -> (Box<dyn FnMut()>, usize) {
        match self.row.row().types.list[0] {
            ElemType::F64 => self.on(0.0f64),
            ElemType::F32 => self.on(0.0f32),
            ElemType::F16 => self.on(0i16),
            _ => self.on(0i8),
        }
    }

    fn on<T: Elem>(self, zero: T) -> (Box<dyn FnMut()>, usize) {
        let Case { row, tile: tile @ [t0, t1], transposed } = self;
        let rows = (LINES / t0).max(1) * t0;
        let cols = (BYTES / size_of::<T>() / rows / t1).max(1) * t1;
        let (size, outer) = ([rows, cols], [rows / t0, cols / t1]);
        let matrix = if transposed { [1, rows as isize] } else { [cols as isize, 1] };
        let panels = [(t0 * cols) as isize, (t0 * t1) as isize];
        let zeros = || Aligned::new(rows * cols, zero, |_| zero);
        let (src, mut out) = (zeros(), zeros());
        let (from, to) = (src.get().as_ptr().cast(), out.get_mut().as_mut_ptr().cast());
        // Checked once: what is measured is the kernel, called as drivers do.
        let call: Box<dyn FnMut()> = if row.row().op == Op::Pack {
            let (src_strides, out_strides, padding) = (matrix, panels, 0);
            let (from_slice, to_slice) = (src.get(), out.get_mut());
            row.pack(&mut pack::Args {
                tile,
                size,
                src: from_slice,
                src_strides,
                outer,
                out: to_slice,
                out_strides,
                padding,
            })
            .expect("operands fit the tiles");
            let raw = pack::RawArgs { tile, size, src: from, src_strides, outer, out: to, out_strides, padding };
            Box::new(move || {
                let _ = (&src, &mut out);
                // SAFETY: the call was checked, and its operands live as long as the closure.
                unsafe { row.pack_raw(black_box(&raw)) }
            })
        } else {
            let (src_strides, out_strides) = (panels, matrix);
            let (from_slice, to_slice) = (src.get(), out.get_mut());
            row.unpack(&mut unpack::Args { tile, size, src: from_slice, src_strides, out: to_slice, out_strides })
                .expect("operands fit the tiles");
            let raw = unpack::RawArgs { tile, size, src: from, src_strides, out: to, out_strides };
            Box::new(move || {
                let _ = (&src, &mut out);
                // SAFETY: the call was checked, and its operands live as long as the closure.
                unsafe { row.unpack_raw(black_box(&raw)) }
            })
        };
        (call, rows * cols * size_of::<T>())
    }
}
