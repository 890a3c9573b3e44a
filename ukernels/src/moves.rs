//! What `pack` and `unpack` are made of: transposes of elements that lie together along the source's rows and, in the
//! other order, along the output's columns; and runs of bytes, which are copied.
//!
//! Bits are moved, so all is in bytes: a width is that of an element, or of the elements that stay together. Bodies are
//! `#[inline(always)]` and called from functions that enable the vectors' instructions.

use crate::pack::generic::copy;
use core::marker::PhantomData;

/// Vectors of two halves of 16 bytes.
///
/// # Safety
/// Every method needs a machine with the vector's instructions; loads and stores access the bytes that they say, at any
/// alignment.
pub(crate) trait Halves: Copy {
    /// 16 bytes from each place.
    unsafe fn load(low: *const u8, high: *const u8) -> Self;
    /// 32 bytes.
    unsafe fn store(self, to: *mut u8);
    /// 16 bytes to each place.
    unsafe fn store_halves(self, low: *mut u8, high: *mut u8);
    /// In each half, elements of `W` bytes of `self` and `other` in turns: of the first 8 bytes, and of the last 8.
    unsafe fn zip<const W: usize>(self, other: Self) -> [Self; 2];

    /// A transpose of `2N` rows and columns of `W` bytes, `N` of which fill half a vector.
    #[inline(always)]
    unsafe fn tall<const W: usize, const N: usize>(from: *const u8, src_row: isize, to: *mut u8, out_column: isize) {
        // SAFETY: the caller's.
        unsafe { tall::<Self, W, N>(from, src_row, to, out_column) }
    }
}

/// Moves with a machine's instructions.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    /// Transposes of elements of so many bytes: see [`Moves`].
    pub(crate) transposes: unsafe fn(usize, &Transposes),
    /// Copies.
    pub(crate) runs: unsafe fn(&Runs),
}

/// Calls `$of_width`, which has a machine's instructions, with a width, how many elements of that fill half a vector, and how many
/// a whole one. Where there are rows on f32 alone, nothing else is transposed.
macro_rules! of_width {
    ($of_width:ident, $width:expr, $transposes:expr) => {
        match $width {
            1 if cfg!(feature = "every-type") => $of_width::<1, 16, 32>($transposes),
            2 if cfg!(feature = "every-type") => $of_width::<2, 8, 16>($transposes),
            8 if cfg!(feature = "every-type") => $of_width::<8, 2, 4>($transposes),
            _ => $of_width::<4, 4, 8>($transposes),
        }
    };
}
pub(crate) use of_width;

/// Blocks that are moved before others of the same transposes.
const CHUNK: usize = 16;

/// Transposes of one shape: element `(r, c)` at `r · src_row + c · width` goes to `c · out_column + r · width`.
#[derive(Clone, Copy)]
pub(crate) struct Transposes {
    /// How many, in two dims.
    pub(crate) count: [usize; 2],
    /// Rows of the source.
    pub(crate) rows: usize,
    /// Columns of the source.
    pub(crate) cols: usize,
    pub(crate) src: *const u8,
    /// From one row to the next.
    pub(crate) src_row: isize,
    /// From one transpose to the next, in either dim.
    pub(crate) src_next: [isize; 2],
    pub(crate) out: *mut u8,
    /// From one column to the next.
    pub(crate) out_column: isize,
    /// From one transpose to the next, in either dim.
    pub(crate) out_next: [isize; 2],
}

impl Transposes {
    /// `N` elements of `W` bytes fill half a vector, `D` a whole one.
    ///
    /// # Safety
    /// As [`Moves::run`].
    #[inline(always)]
    pub(crate) unsafe fn run<V: Halves, const W: usize, const N: usize, const D: usize>(&self) {
        let dense = self.out_column == (self.rows * W) as isize;
        // SAFETY: the caller's.
        unsafe {
            match self.rows {
                rows if self.cols < N || rows == 1 || rows < N && !(dense && rows.is_power_of_two()) => {
                    self.each::<W>()
                }
                2 if N > 2 && dense => self.short::<V, W, N, D, 2>(),
                4 if N > 4 && dense => self.short::<V, W, N, D, 4>(),
                8 if N > 8 && dense => self.short::<V, W, N, D, 8>(),
                rows if rows.min(self.cols) >= D => self.tall::<V, W, N, D>(),
                _ => self.short::<V, W, N, D, N>(),
            }
        }
    }

    /// Runs `block` on blocks of `R` rows and so many columns that cover everything. What is left over of rows or columns is in a
    /// block that overlaps the one before it.
    ///
    /// # Safety
    /// As [`Moves::run`]; there are as many rows and columns.
    #[inline(always)]
    unsafe fn cover<const W: usize, const R: usize>(&self, columns: usize, block: impl Block) {
        // The innermost loop is along the columns of one transpose, or over transposes: so many at a time that they are still in
        // cache when their other rows and columns come.
        let along = self.count[1] == 1;
        let (units, other_columns, from_next, to_next) = if along {
            (self.cols / columns, 1, (columns * W) as isize, columns as isize * self.out_column)
        } else {
            (self.count[1], self.cols.div_ceil(columns), self.src_next[1], self.out_next[1])
        };
        let rest = along && !self.cols.is_multiple_of(columns);
        let chunks = units.div_ceil(CHUNK);
        for i in 0..self.count[0] as isize {
            let (src, out) =
                (self.src.wrapping_offset(i * self.src_next[0]), self.out.wrapping_offset(i * self.out_next[0]));
            for chunk in 0..chunks + usize::from(rest) {
                let (first, count, column) = if chunk < chunks {
                    (chunk * CHUNK, (units - chunk * CHUNK).min(CHUNK), 0)
                } else {
                    (0, 1, self.cols - columns)
                };
                for c in 0..other_columns {
                    let c = column + (c * columns).min(self.cols - columns);
                    let mut r = 0;
                    loop {
                        let at = |next: isize, row: isize, column: isize| {
                            first as isize * next + r as isize * row + c as isize * column
                        };
                        let from = src.wrapping_offset(at(from_next, self.src_row, W as isize));
                        let to = out.wrapping_offset(at(to_next, W as isize, self.out_column));
                        // SAFETY: blocks inside, of which the caller vouches.
                        unsafe { block.run(count, from, from_next, to, to_next) };
                        if r + R >= self.rows {
                            break;
                        }
                        r = (r + R).min(self.rows - R);
                    }
                }
            }
        }
    }

    /// Blocks of `D` rows and as many columns: a column fills a vector.
    ///
    /// # Safety
    /// As [`Moves::run`]; there are as many rows and columns.
    #[inline(always)]
    unsafe fn tall<V: Halves, const W: usize, const N: usize, const D: usize>(&self) {
        let block = Tall::<V, W, N> { src_row: self.src_row, out_column: self.out_column, of: PhantomData };
        // SAFETY: the caller's.
        unsafe { self.cover::<W, D>(D, block) }
    }

    /// Blocks of `R` rows and `N` columns, two at a time: of one transpose, or of two that follow each other. Where `R` is less
    /// than `N`, it is all rows, and the columns of the output follow each other.
    ///
    /// # Safety
    /// As [`Moves::run`]; there are as many rows and columns.
    #[inline(always)]
    unsafe fn short<V: Halves, const W: usize, const N: usize, const D: usize, const R: usize>(&self) {
        let chunk = if R < N { 16 } else { self.out_column };
        let block = Short::<V, W, R> {
            src_row: self.src_row,
            chunk,
            high: [16, N as isize * self.out_column],
            of: PhantomData,
        };
        if self.cols >= D {
            // SAFETY: the caller's.
            return unsafe { self.cover::<W, R>(D, Wide(block)) };
        }
        let ([panels, next], [out_panels, out_next]) = (self.src_next, self.out_next);
        let (src_next, twice) = ([panels, 2 * next], [out_panels, 2 * out_next]);
        let pairs = Transposes { count: [self.count[0], self.count[1] / 2], src_next, out_next: twice, ..*self };
        // Where there is an odd one, it is both halves.
        let last = (self.count[1] - 1) as isize;
        let (src, out) = (self.src.wrapping_offset(last * next), self.out.wrapping_offset(last * out_next));
        let odd = Transposes { count: [self.count[0] * (self.count[1] % 2), 1], src, out, ..*self };
        for (transposes, high) in [(pairs, [next, out_next]), (odd, [0, 0])] {
            // SAFETY: the caller's.
            unsafe {
                transposes.cover::<W, R>(N, Short::<V, W, R> { src_row: self.src_row, chunk, high, of: PhantomData })
            }
        }
    }

    /// Element by element.
    #[inline(always)]
    unsafe fn each<const W: usize>(&self) {
        for t in 0..self.count[0] * self.count[1] {
            let [i, j] = [t / self.count[1], t % self.count[1]].map(|t| t as isize);
            let next = |next: [isize; 2]| i * next[0] + j * next[1];
            for c in 0..self.cols {
                for r in 0..self.rows {
                    let from = next(self.src_next) + r as isize * self.src_row + (c * W) as isize;
                    let to = next(self.out_next) + c as isize * self.out_column + (r * W) as isize;
                    // SAFETY: one element of each operand.
                    unsafe { copy::<W>(self.src.offset(from), self.out.offset(to)) }
                }
            }
        }
    }
}

/// What is done at places of one line.
trait Block {
    /// # Safety
    /// What is read and written is inside operands that don't overlap; the machine has what the block needs.
    unsafe fn run(&self, count: usize, from: *const u8, from_next: isize, to: *mut u8, to_next: isize);
}

/// A block of `2N` rows and columns.
struct Tall<V, const W: usize, const N: usize> {
    src_row: isize,
    out_column: isize,
    of: PhantomData<V>,
}

impl<V: Halves, const W: usize, const N: usize> Block for Tall<V, W, N> {
    #[inline(always)]
    unsafe fn run(&self, count: usize, mut from: *const u8, from_next: isize, mut to: *mut u8, to_next: isize) {
        for _ in 0..count {
            // SAFETY: the caller's.
            unsafe { V::tall::<W, N>(from, self.src_row, to, self.out_column) };
            from = from.wrapping_offset(from_next);
            to = to.wrapping_offset(to_next);
        }
    }
}

/// [`Halves::tall`], wherever no other way is better.
///
/// # Safety
/// As there.
#[inline(always)]
pub(crate) unsafe fn tall<V: Halves, const W: usize, const N: usize>(
    from: *const u8,
    src_row: isize,
    to: *mut u8,
    out_column: isize,
) {
    for half in 0..2 {
        let row = |r: usize| from.wrapping_add(half * N * W).wrapping_offset(r as isize * src_row);
        let column = |c: usize| to.wrapping_offset((half * N + c) as isize * out_column);
        // SAFETY: the caller's.
        unsafe {
            let mut rows = [V::load(row(0), row(N)); N];
            for (r, vector) in rows.iter_mut().enumerate().skip(1) {
                *vector = V::load(row(r), row(r + N));
            }
            for (c, vector) in interleave::<V, W, N>(rows).into_iter().enumerate() {
                vector.store(column(c));
            }
        }
    }
}

/// Two blocks of `R` rows and as many columns as fill half a vector.
struct Short<V, const W: usize, const R: usize> {
    src_row: isize,
    /// From 16 bytes of the output to the next.
    chunk: isize,
    /// From the first block to the second, in the source and the output.
    high: [isize; 2],
    of: PhantomData<V>,
}

impl<V: Halves, const W: usize, const R: usize> Block for Short<V, W, R> {
    #[inline(always)]
    unsafe fn run(&self, count: usize, mut from: *const u8, from_next: isize, mut to: *mut u8, to_next: isize) {
        for _ in 0..count {
            let row = |r: usize| from.wrapping_offset(r as isize * self.src_row);
            // SAFETY: the caller's.
            unsafe {
                let mut rows = [V::load(from, from.wrapping_offset(self.high[0])); R];
                for (r, vector) in rows.iter_mut().enumerate().skip(1) {
                    *vector = V::load(row(r), row(r).wrapping_offset(self.high[0]));
                }
                for (i, chunks) in interleave::<V, W, R>(rows).into_iter().enumerate() {
                    let to = to.wrapping_offset(i as isize * self.chunk);
                    chunks.store_halves(to, to.wrapping_offset(self.high[1]));
                }
            }
            from = from.wrapping_offset(from_next);
            to = to.wrapping_offset(to_next);
        }
    }
}

/// The same where one block follows the other in the source, so that both are loaded as one.
struct Wide<B>(B);

impl<V: Halves, const W: usize, const R: usize> Block for Wide<Short<V, W, R>> {
    #[inline(always)]
    unsafe fn run(&self, count: usize, from: *const u8, from_next: isize, to: *mut u8, to_next: isize) {
        let block = Short::<V, W, R> { high: [16, self.0.high[1]], ..self.0 };
        // SAFETY: the caller's.
        unsafe { block.run(count, from, from_next, to, to_next) }
    }
}

/// `B` bytes.
struct Piece<const B: usize>;

impl<const B: usize> Block for Piece<B> {
    #[inline(always)]
    unsafe fn run(&self, count: usize, mut from: *const u8, from_next: isize, mut to: *mut u8, to_next: isize) {
        for _ in 0..count {
            // SAFETY: the caller's.
            unsafe { copy::<B>(from, to) };
            from = from.wrapping_offset(from_next);
            to = to.wrapping_offset(to_next);
        }
    }
}

/// So many bytes, `B` or more or none, in pieces of `B`; the last may overlap the one before it.
struct Pieces<const B: usize>(usize);

impl<const B: usize> Block for Pieces<B> {
    #[inline(always)]
    unsafe fn run(&self, count: usize, mut from: *const u8, from_next: isize, mut to: *mut u8, to_next: isize) {
        for _ in 0..count {
            for at in (0..self.0).step_by(B) {
                let at = at.min(self.0 - B);
                // SAFETY: a piece inside.
                unsafe { copy::<B>(from.add(at), to.add(at)) }
            }
            from = from.wrapping_offset(from_next);
            to = to.wrapping_offset(to_next);
        }
    }
}

/// In each half: the first elements of all vectors, then the second ones, and so on.
///
/// # Safety
/// The machine has the vectors' instructions.
#[inline(always)]
unsafe fn interleave<V: Halves, const W: usize, const R: usize>(mut rows: [V; R]) -> [V; R] {
    let mut done = 1;
    while done < R {
        let mut next = rows;
        for i in 0..R / 2 {
            // SAFETY: the caller's.
            [next[2 * i], next[2 * i + 1]] = unsafe { rows[i].zip::<W>(rows[i + R / 2]) };
        }
        rows = next;
        done *= 2;
    }
    rows
}

/// Whether elements of so many bytes are transposed; where not, they are copied.
pub(crate) const fn is_transposed(width: usize) -> bool {
    matches!(width, 1 | 2 | 4 | 8) && (cfg!(feature = "every-type") || width == 4)
}

/// Moves of one shape.
pub(crate) enum Moves {
    /// Transposes of elements of so many bytes: see [`is_transposed`].
    Transposes(usize, Transposes),
    /// Copies.
    Runs(Runs),
}

impl Moves {
    /// Moves.
    ///
    /// # Safety
    /// What is read and written is inside operands that don't overlap; it is the machine at hand.
    pub(crate) unsafe fn run(&self, machine: &Machine) {
        // SAFETY: the caller's.
        unsafe {
            match self {
                Moves::Transposes(width, transposes) => (machine.transposes)(*width, transposes),
                Moves::Runs(runs) => (machine.runs)(runs),
            }
        }
    }
}

/// Runs of bytes, in three dims.
#[derive(Clone, Copy)]
pub(crate) struct Runs {
    /// How many.
    pub(crate) count: [usize; 3],
    pub(crate) bytes: usize,
    pub(crate) src: *const u8,
    pub(crate) src_next: [isize; 3],
    pub(crate) out: *mut u8,
    pub(crate) out_next: [isize; 3],
}

impl Runs {
    /// Copies.
    ///
    /// # Safety
    /// As [`Moves::run`].
    #[inline(always)]
    pub(crate) unsafe fn run(&self) {
        // SAFETY: the caller's.
        unsafe {
            match self.bytes {
                32 => self.each(Piece::<32>),
                64 => self.each(Piece::<64>),
                128 => self.each(Piece::<128>),
                n @ 32.. => self.each(Pieces::<32>(n)),
                n @ 16.. => self.each(Pieces::<16>(n)),
                n @ 8.. => self.each(Pieces::<8>(n)),
                n @ 4.. => self.each(Pieces::<4>(n)),
                n => self.each(Pieces::<1>(n)),
            }
        }
    }

    /// Copies of 64 bytes, as many for a run as it has.
    ///
    /// # Safety
    /// As [`Moves::run`]; a run is a multiple of 64 bytes.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(crate) unsafe fn run_lines(&self) {
        // SAFETY: the caller's.
        unsafe {
            match self.bytes {
                64 => self.each(Piece::<64>),
                128 => self.each(Piece::<128>),
                n => self.each(Pieces::<64>(n)),
            }
        }
    }

    /// # Safety
    /// As [`Moves::run`].
    #[inline(always)]
    unsafe fn each(&self, block: impl Block) {
        let [count @ .., inner] = self.count;
        let ([.., from_next], [.., to_next]) = (self.src_next, self.out_next);
        for i in 0..count[0] as isize {
            let mut from = self.src.wrapping_offset(i * self.src_next[0]);
            let mut to = self.out.wrapping_offset(i * self.out_next[0]);
            for _ in 0..count[1] {
                // SAFETY: the caller's.
                unsafe { block.run(inner, from, from_next, to, to_next) };
                from = from.wrapping_offset(self.src_next[1]);
                to = to.wrapping_offset(self.out_next[1]);
            }
        }
    }
}
