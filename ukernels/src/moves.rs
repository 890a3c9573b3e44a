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
    /// 16 bytes: the first half, or the last.
    unsafe fn store_half(self, last: bool, to: *mut u8);
    /// In each half, elements of `W` bytes of `self` and `other` in turns: of the first 8 bytes, and of the last 8.
    unsafe fn zip<const W: usize>(self, other: Self) -> [Self; 2];

    /// A transpose of eight rows and columns of 4 bytes.
    #[inline(always)]
    unsafe fn eight(from: *const u8, src_row: isize, to: *mut u8, out_column: isize) {
        let rows = Rows::<Self, 4, 4, 2> { src_row, chunk: out_column, high: [16, 4 * out_column], of: PhantomData };
        // SAFETY: the caller's.
        unsafe { rows.run(1, from, 0, to, 0) }
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
/// times as many rows are moved as one block, so that more of a line is stored at once. Where there are rows on f32 alone, nothing
/// else is transposed.
macro_rules! of_width {
    ($of_width:ident, $width:expr, $transposes:expr) => {
        match $width {
            1 if cfg!(feature = "every-type") => $of_width::<1, 16, 1>($transposes),
            2 if cfg!(feature = "every-type") => $of_width::<2, 8, 1>($transposes),
            8 if cfg!(feature = "every-type") => $of_width::<8, 2, 4>($transposes),
            _ => $of_width::<4, 4, 1>($transposes),
        }
    };
}
pub(crate) use of_width;

/// `n / d`, where most divisors are powers of two and a division takes longer than many a block.
#[inline(always)]
pub(crate) fn quotient(n: usize, d: usize) -> usize {
    if d.is_power_of_two() { n >> d.trailing_zeros() } else { n / d }
}

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
    /// `N` elements of `W` bytes fill half a vector; a block has `G` times `N` rows where it can.
    ///
    /// # Safety
    /// As [`Moves::run`].
    #[inline(always)]
    pub(crate) unsafe fn run<V: Halves, const W: usize, const N: usize, const G: usize>(&self) {
        let dense = self.out_column == (self.rows * W) as isize;
        // SAFETY: the caller's.
        unsafe {
            match self.rows {
                rows if self.cols < N || rows == 1 || rows < N && !(dense && rows.is_power_of_two()) => {
                    self.each::<W>()
                }
                2 if N > 2 && dense => self.blocks::<V, W, N, 2, 1>(),
                4 if N > 4 && dense => self.blocks::<V, W, N, 4, 1>(),
                8 if N > 8 && dense => self.blocks::<V, W, N, 8, 1>(),
                rows if W == 4 && rows.min(self.cols) >= 8 => self.eight::<V>(),
                rows if G > 1 && rows >= G * N && self.cols >= 2 * N => self.wide::<V, W, N, N, G>(),
                _ => self.blocks::<V, W, N, N, 1>(),
            }
        }
    }

    /// Runs `block` on blocks of so many rows and columns that cover everything. What is left over of rows or columns is in a
    /// block that overlaps the one before it.
    ///
    /// # Safety
    /// As [`Moves::run`]; there are as many rows and columns.
    #[inline(always)]
    unsafe fn cover<const W: usize>(&self, rows: usize, columns: usize, block: impl Block) {
        // The innermost loop is along the columns of one transpose, or over transposes: so many at a time that they are still in
        // cache when their other rows and columns come.
        let along = self.count[1] == 1;
        let (units, other_columns, from_next, to_next) = if along {
            (self.cols / columns, 0, (columns * W) as isize, columns as isize * self.out_column)
        } else {
            (self.count[1], self.cols - columns, self.src_next[1], self.out_next[1])
        };
        let all = units + usize::from(along && !self.cols.is_multiple_of(columns));
        let more_rows = self.rows - rows;
        for i in 0..self.count[0] as isize {
            let (src, out) =
                (self.src.wrapping_offset(i * self.src_next[0]), self.out.wrapping_offset(i * self.out_next[0]));
            let mut unit = 0;
            while unit < all {
                let (count, from_at, to_at) = if unit < units {
                    ((units - unit).min(CHUNK), unit as isize * from_next, unit as isize * to_next)
                } else {
                    let column = (self.cols - columns) as isize;
                    (1, column * W as isize, column * self.out_column)
                };
                unit += count;
                let (mut from, mut to) = (src.wrapping_offset(from_at), out.wrapping_offset(to_at));
                let mut columns_left = other_columns;
                loop {
                    let (mut from_row, mut to_row, mut rows_left) = (from, to, more_rows);
                    loop {
                        // SAFETY: blocks inside, of which the caller vouches.
                        unsafe { block.run(count, from_row, from_next, to_row, to_next) };
                        let step = rows_left.min(rows);
                        if step == 0 {
                            break;
                        }
                        from_row = from_row.wrapping_offset(step as isize * self.src_row);
                        to_row = to_row.wrapping_add(step * W);
                        rows_left -= step;
                    }
                    let step = columns_left.min(columns);
                    if step == 0 {
                        break;
                    }
                    from = from.wrapping_add(step * W);
                    to = to.wrapping_offset(step as isize * self.out_column);
                    columns_left -= step;
                }
            }
        }
    }

    /// Blocks of eight rows and columns of 4 bytes.
    ///
    /// # Safety
    /// As [`Moves::run`]; there are as many rows and columns.
    #[inline(always)]
    unsafe fn eight<V: Halves>(&self) {
        let block = Eight::<V> { src_row: self.src_row, out_column: self.out_column, of: PhantomData };
        // SAFETY: the caller's.
        unsafe { self.cover::<4>(8, 8, block) }
    }

    /// Blocks of `G` times `R` rows and as many columns as fill a vector.
    ///
    /// # Safety
    /// As [`Moves::run`]; there are as many rows and columns.
    #[inline(always)]
    unsafe fn wide<V: Halves, const W: usize, const N: usize, const R: usize, const G: usize>(&self) {
        // SAFETY: the caller's.
        unsafe { self.cover::<W>(G * R, 2 * N, Wide(self.block::<V, W, N, R, G>([16, N as isize * self.out_column]))) }
    }

    /// Blocks of `R` rows and `N` columns, two at a time: of one transpose, or of two that follow each other. Where `R` is less
    /// than `N`, it is all rows, and the columns of the output follow each other.
    ///
    /// # Safety
    /// As [`Moves::run`]; there are as many rows and columns.
    #[inline(always)]
    unsafe fn blocks<V: Halves, const W: usize, const N: usize, const R: usize, const G: usize>(&self) {
        if self.cols >= 2 * N {
            // SAFETY: the caller's.
            return unsafe { self.wide::<V, W, N, R, G>() };
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
            unsafe { transposes.cover::<W>(G * R, N, self.block::<V, W, N, R, G>(high)) }
        }
    }

    fn block<V, const W: usize, const N: usize, const R: usize, const G: usize>(
        &self,
        high: [isize; 2],
    ) -> Rows<V, W, R, G> {
        Rows { src_row: self.src_row, chunk: if R < N { 16 } else { self.out_column }, high, of: PhantomData }
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

/// A block of eight rows and columns of 4 bytes.
struct Eight<V> {
    src_row: isize,
    out_column: isize,
    of: PhantomData<V>,
}

impl<V: Halves> Block for Eight<V> {
    #[inline(always)]
    unsafe fn run(&self, count: usize, mut from: *const u8, from_next: isize, mut to: *mut u8, to_next: isize) {
        for _ in 0..count {
            // SAFETY: the caller's.
            unsafe { V::eight(from, self.src_row, to, self.out_column) };
            from = from.wrapping_offset(from_next);
            to = to.wrapping_offset(to_next);
        }
    }
}

/// Two blocks of `G` groups of `R` rows, and as many columns as fill half a vector.
struct Rows<V, const W: usize, const R: usize, const G: usize> {
    src_row: isize,
    /// From 16 bytes of the output to the next, of one group.
    chunk: isize,
    /// From the first block to the second, in the source and the output.
    high: [isize; 2],
    of: PhantomData<V>,
}

impl<V: Halves, const W: usize, const R: usize, const G: usize> Block for Rows<V, W, R, G> {
    #[inline(always)]
    unsafe fn run(&self, count: usize, mut from: *const u8, from_next: isize, mut to: *mut u8, to_next: isize) {
        for _ in 0..count {
            let row = |r: usize| from.wrapping_offset(r as isize * self.src_row);
            // SAFETY: the caller's.
            unsafe {
                let mut groups = [[V::load(from, from.wrapping_offset(self.high[0])); R]; G];
                for (g, group) in groups.iter_mut().enumerate() {
                    for (r, vector) in group.iter_mut().enumerate() {
                        let row = row(g * R + r);
                        *vector = V::load(row, row.wrapping_offset(self.high[0]));
                    }
                    *group = interleave::<V, W, R>(*group);
                }
                // Stores of one column follow each other, because a cache takes two at once where they are of one line.
                for last in [false, true] {
                    let to = to.wrapping_offset(if last { self.high[1] } else { 0 });
                    for i in 0..R {
                        for (g, group) in groups.iter().enumerate() {
                            group[i].store_half(last, to.wrapping_offset(i as isize * self.chunk).wrapping_add(16 * g));
                        }
                    }
                }
            }
            from = from.wrapping_offset(from_next);
            to = to.wrapping_offset(to_next);
        }
    }
}

/// The same where one block follows the other in the source, so that both are loaded as one.
struct Wide<B>(B);

impl<V: Halves, const W: usize, const R: usize, const G: usize> Block for Wide<Rows<V, W, R, G>> {
    #[inline(always)]
    unsafe fn run(&self, count: usize, from: *const u8, from_next: isize, to: *mut u8, to_next: isize) {
        let block = Rows::<V, W, R, G> { high: [16, self.0.high[1]], ..self.0 };
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
