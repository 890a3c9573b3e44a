//! Runs kernels and machine code on buffers. Everything that is accessed here was compared with its buffer when the
//! call was prepared.

use crate::code::Code;
use crate::error::RunError;
use crate::memory::{Lent, Memory};
use crate::pool::Pool;
use crate::prepare::{Conv, Dispatch, Matmul, Pack, Prepared, Strided, Tail};
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use smalti_codegen::abi::{self, DispatchArgs, HELPERS};
use smalti_codegen::{Access, Nest, interp};
use smalti_program::{BufferId, Place, Program};
use smalti_tiling::{Algorithm, CHANNEL_GROUP};
use smalti_ukernels::mmt4d::{Batch, RawArgs, Tile};
use smalti_ukernels::pack;

/// A job that workers may call until it is taken back.
#[cfg(feature = "std")]
pub(crate) struct SharedJob(*const (dyn Fn(usize, usize) + Sync));

// SAFETY: the job is `Sync`, and the pointer is only used while `lend` keeps it alive.
#[cfg(feature = "std")]
unsafe impl Send for SharedJob {}

#[cfg(feature = "std")]
impl SharedJob {
    /// Lends `job` for the time of `with`, which must not return before every copy is out of use.
    pub(crate) fn lend(job: &(dyn Fn(usize, usize) + Sync), with: impl FnOnce(SharedJob)) {
        let pointer: *const (dyn Fn(usize, usize) + Sync + '_) = job;
        // SAFETY: only the lifetime is changed. `Threads::run`, the one caller, waits in `with` until no worker is
        // busy and no copy is left, also when a job panics.
        with(SharedJob(unsafe {
            core::mem::transmute::<*const (dyn Fn(usize, usize) + Sync + '_), *const (dyn Fn(usize, usize) + Sync)>(
                pointer,
            )
        }));
    }

    pub(crate) fn share(&self) -> SharedJob {
        SharedJob(self.0)
    }

    pub(crate) fn call(&self, task: usize, worker: usize) {
        // SAFETY: the lender waits until every call has returned.
        unsafe { (*self.0)(task, worker) }
    }
}

/// Memory of one worker.
#[derive(Default)]
pub(crate) struct Worker {
    pub(crate) scratch: Memory,
    pub(crate) batches: Vec<Batch>,
}

/// One worker's memory, for whoever has its number.
#[derive(Default)]
pub(crate) struct WorkerCell {
    taken: AtomicBool,
    worker: UnsafeCell<Worker>,
}

// SAFETY: the flag lets one user in at a time.
unsafe impl Sync for WorkerCell {}

impl WorkerCell {
    fn with<T>(&self, use_it: impl FnOnce(&mut Worker) -> T) -> T {
        assert!(!self.taken.swap(true, Ordering::Acquire), "a pool has given one worker's number twice at a time");
        /// Frees the flag, also when the user panics.
        struct Free<'a>(&'a AtomicBool);
        impl Drop for Free<'_> {
            fn drop(&mut self) {
                self.0.store(false, Ordering::Release);
            }
        }
        let _free = Free(&self.taken);
        // SAFETY: the flag was free and is ours now.
        use_it(unsafe { &mut *self.worker.get() })
    }

    pub(crate) fn get_mut(&mut self) -> &mut Worker {
        self.worker.get_mut()
    }
}

/// Addresses of a run's inputs. They are dead between runs.
#[derive(Default)]
pub(crate) struct InputBases(Vec<(*const u8, usize)>);

// SAFETY: the addresses are used only while the run that pushed them borrows what they point at.
unsafe impl Send for InputBases {}

impl InputBases {
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.0.push((bytes.as_ptr(), bytes.len()));
    }
}

/// The memory of a session, as addresses.
pub(crate) struct Bases<'a> {
    pub(crate) program: &'a Program,
    pub(crate) inputs: &'a InputBases,
    pub(crate) constants: &'a [Lent],
    pub(crate) once: &'a mut [Memory],
    pub(crate) slots: &'a mut [Memory],
}

/// An address that tasks may use: they write disjoint parts, or none.
#[derive(Clone, Copy)]
struct Base(*mut u8, usize);

// SAFETY: an address is shared, not what it points at; tasks access what the plan gives them.
unsafe impl Sync for Base {}
// SAFETY: as above.
unsafe impl Send for Base {}

impl Bases<'_> {
    fn base(&mut self, id: BufferId) -> Base {
        let memory = match self.program.buffer(id).place {
            Place::Input(i) => {
                let (pointer, len) = self.inputs.0[i as usize];
                return Base(pointer.cast_mut(), len);
            }
            Place::Constant(i) => {
                let bytes = self.constants[i as usize].bytes();
                return Base(bytes.as_ptr().cast_mut(), bytes.len());
            }
            Place::Once(i) => &mut self.once[i as usize],
            Place::Slot(i) => &mut self.slots[i as usize],
        };
        let bytes = memory.bytes_mut();
        Base(bytes.as_mut_ptr(), bytes.len())
    }

    /// The address of a view's first element, in elements of `size` bytes.
    fn at(&mut self, view: &Strided, size: usize) -> *mut u8 {
        self.base(view.buffer).0.wrapping_offset(view.offset * size as isize)
    }

    /// Copies the first `bytes` of one buffer over `offset` of another.
    pub(crate) fn copy(&mut self, from: BufferId, to: BufferId, offset: usize, bytes: usize) {
        let (from, to) = (self.base(from), self.base(to));
        assert!(bytes <= from.1 && offset + bytes <= to.1, "a copy outside its buffers");
        // SAFETY: both lengths were compared; `copy` allows an overlap.
        unsafe { ptr::copy(from.0, to.0.add(offset), bytes) };
    }

    /// The bytes of a buffer.
    pub(crate) fn bytes(&mut self, id: BufferId, len: usize) -> &[u8] {
        let base = self.base(id);
        assert!(len <= base.1, "a read outside its buffer");
        // SAFETY: the length was compared, and `self` is borrowed for the life of the slice.
        unsafe { core::slice::from_raw_parts(base.0, len) }
    }

    /// Writes into a buffer of a session.
    pub(crate) fn bytes_mut(&mut self, id: BufferId, len: usize) -> &mut [u8] {
        let base = self.base(id);
        let place = self.program.buffer(id).place;
        assert!(len <= base.1 && matches!(place, Place::Once(_) | Place::Slot(_)), "a write outside its buffer");
        // SAFETY: the length was compared, the memory is the session's, and `self` is borrowed alone.
        unsafe { core::slice::from_raw_parts_mut(base.0, len) }
    }
}

/// Runs a prepared call.
pub(crate) fn run(
    name: &str,
    prepared: &Prepared,
    bases: &mut Bases<'_>,
    code: &Code,
    workers: &[WorkerCell],
    pool: &dyn Pool,
) -> Result<(), RunError> {
    let status = match prepared {
        Prepared::Dispatch(d) => dispatch(d, bases, code, pool),
        Prepared::Matmul(m) => matmul(m, bases, code, pool),
        Prepared::Conv(c) => conv(c, bases, code, workers, pool),
        Prepared::Pack(p) => {
            panels(p, bases);
            abi::OK
        }
        Prepared::Dims { out, values } => {
            let size = bases.program.buffer(*out).elem.size();
            let bytes = bases.bytes_mut(*out, values.len() * size);
            for (place, value) in bytes.chunks_exact_mut(size).zip(values) {
                place.copy_from_slice(&value.to_le_bytes()[..size]);
            }
            abi::OK
        }
    };
    match status {
        abi::OK => Ok(()),
        status => Err(RunError::Status { node: String::from(name), status }),
    }
}

/// At most so many operands have their addresses on the stack.
const OPERANDS: usize = 32;

fn dispatch(d: &Dispatch, bases: &mut Bases<'_>, code: &Code, pool: &dyn Pool) -> u32 {
    let nest = &bases.program.nests[d.nest as usize];
    if d.empty {
        return abi::OK;
    }
    let first = d.extents[0];
    let Some(entry) = code.entry(d.nest).filter(|_| d.operands.len() <= OPERANDS) else {
        return interpret(d, nest, bases);
    };
    let mut pointers = [ptr::null_mut(); OPERANDS];
    for ((pointer, view), operand) in pointers.iter_mut().zip(&d.operands).zip(&nest.operands) {
        *pointer = bases.at(view, operand.elem.size());
    }
    let pointers = Pointers(pointers);
    let status = AtomicU32::new(abi::OK);
    let task = |task: usize, _: usize| {
        let begin = task as u64 * d.chunk;
        let pointers = &pointers;
        let args = DispatchArgs {
            size: size_of::<DispatchArgs>() as u64,
            operands: pointers.0.as_ptr(),
            extents: d.extents.as_ptr(),
            strides: d.strides.as_ptr(),
            helpers: &HELPERS,
        };
        // SAFETY: every operand holds the whole space, which was compared when the call was prepared; there are several
        // tasks only if no two points of the first dim write one element.
        let result = unsafe { entry(&args, begin, first.min(begin + d.chunk), ptr::null_mut()) };
        if result != abi::OK {
            status.store(result, Ordering::Relaxed);
        }
    };
    spread(pool, false, d.tasks, &task);
    status.into_inner()
}

struct Pointers([*mut u8; OPERANDS]);

// SAFETY: addresses of operands, which tasks access as the dispatch's ABI says.
unsafe impl Sync for Pointers {}

/// The same on the interpreter, by one thread.
fn interpret(d: &Dispatch, nest: &Nest, bases: &mut Bases<'_>) -> u32 {
    let all: Vec<Base> = d.operands.iter().map(|v| bases.base(v.buffer)).collect();
    let mut data: Vec<interp::Data<'_>> = nest
        .operands
        .iter()
        .zip(&all)
        .map(|(operand, base)| slice(operand.access, base.0, base.1, operand.elem.size()))
        .collect();
    let offsets: Vec<i64> = d.operands.iter().map(|v| v.offset as i64).collect();
    let extents: Vec<usize> = d.extents.iter().map(|&e| e as usize).collect();
    let space = interp::Space { extents: &extents, strides: &d.strides, offsets: &offsets };
    match interp::run(nest, &space, &mut data, 0, extents[0]) {
        Ok(()) => abi::OK,
        Err(_) => abi::BAD_INDEX,
    }
}

fn slice<'a>(access: Access, base: *mut u8, bytes: usize, size: usize) -> interp::Data<'a> {
    let bytes = bytes / size * size;
    if access == Access::In {
        // SAFETY: the memory of a buffer, which no operand of the nest writes (the program was verified).
        interp::Data::In(unsafe { core::slice::from_raw_parts(base, bytes) })
    } else {
        // SAFETY: the memory of a buffer, which no other operand of the nest accesses (the program was verified).
        interp::Data::Out(unsafe { core::slice::from_raw_parts_mut(base, bytes) })
    }
}

/// An epilogue with addresses: `starts` are those of its operands at the output's first element.
struct Finish<'a> {
    tail: &'a Tail,
    nest: &'a Nest,
    entry: Option<abi::Dispatch>,
    starts: Pointers,
    bases: Vec<Base>,
}

impl<'a> Finish<'a> {
    fn new(tail: &'a Tail, nest: &'a Nest, bases: &mut Bases<'_>, code: &Code) -> Finish<'a> {
        let mut starts = [ptr::null_mut(); OPERANDS];
        for ((start, view), operand) in starts.iter_mut().zip(&tail.operands).zip(&nest.operands[1..]) {
            *start = bases.at(view, operand.elem.size());
        }
        let entry = code.entry(tail.nest).filter(|_| tail.operands.len() < OPERANDS);
        // Only the interpreter needs whole buffers; it allocates anyway.
        let bases = match entry {
            Some(_) => Vec::new(),
            None => tail.operands.iter().map(|v| bases.base(v.buffer)).collect(),
        };
        Finish { tail, nest, entry, starts: Pointers(starts), bases }
    }

    /// Runs on the tile `acc`, whose strides are `acc_strides`, over `extents`; operand `o` is at `place(o)` elements
    /// from its start and has the strides `strides(o)`.
    ///
    /// # Safety
    /// The tile, and every operand over the extents, is inside its memory.
    unsafe fn run(
        &self,
        acc: *mut u8,
        acc_strides: [i64; 2],
        extents: [u64; 2],
        place: impl Fn(&Strided) -> isize,
        strides: impl Fn(&Strided) -> [i64; 2],
    ) -> u32 {
        let count = self.tail.operands.len() + 1;
        let mut pointers = [ptr::null_mut(); OPERANDS];
        let mut steps = [0i64; 2 * OPERANDS];
        pointers[0] = acc;
        steps[..2].copy_from_slice(&acc_strides);
        if count > OPERANDS {
            return abi::BAD_INDEX;
        }
        for (i, view) in self.tail.operands.iter().enumerate() {
            let size = self.nest.operands[i + 1].elem.size() as isize;
            pointers[i + 1] = self.starts.0[i].wrapping_offset(place(view) * size);
            steps[2 * (i + 1)..2 * (i + 2)].copy_from_slice(&strides(view));
        }
        if let Some(entry) = self.entry {
            let args = DispatchArgs {
                size: size_of::<DispatchArgs>() as u64,
                operands: pointers.as_ptr(),
                extents: extents.as_ptr(),
                strides: steps.as_ptr(),
                helpers: &HELPERS,
            };
            // SAFETY: the caller's.
            return unsafe { entry(&args, 0, extents[0], ptr::null_mut()) };
        }
        let extents = extents.map(|e| e as usize);
        // Rows of the tile may run backwards in memory.
        let spans = extents.iter().zip(acc_strides).map(|(&e, s)| (e as i64 - 1) * s);
        let (before, after) = spans.fold((0, 0), |(before, after), s| (before - s.min(0), after + s.max(0)));
        let mut offsets = alloc::vec![before];
        let start = acc.wrapping_offset(-(before as isize) * 4);
        let mut data = alloc::vec![slice(self.nest.operands[0].access, start, (before + after + 1) as usize * 4, 4)];
        for (i, (view, base)) in self.tail.operands.iter().zip(&self.bases).enumerate() {
            let operand = &self.nest.operands[i + 1];
            offsets.push((view.offset + place(view)) as i64);
            data.push(slice(operand.access, base.0, base.1, operand.elem.size()));
        }
        let space = interp::Space { extents: &extents, strides: &steps[..2 * count], offsets: &offsets };
        match interp::run(self.nest, &space, &mut data, 0, extents[0]) {
            Ok(()) => abi::OK,
            Err(_) => abi::BAD_INDEX,
        }
    }
}

/// Runs tasks on the pool, or here where the interpreter takes part: it borrows whole buffers.
///
/// Each call of the pool takes the next task, whatever number the pool gives it: tasks write disjoint memory only if
/// none runs twice, and that must not rest on a pool that is not ours.
fn spread(pool: &dyn Pool, alone: bool, tasks: usize, job: &(dyn Fn(usize, usize) + Sync)) {
    let next = AtomicUsize::new(0);
    let take = |worker: usize| {
        let task = next.fetch_add(1, Ordering::Relaxed);
        let there = task < tasks;
        if there {
            job(task, worker);
        }
        there
    };
    if !alone && tasks > 1 {
        pool.run(tasks, &|_, worker| {
            take(worker);
        });
    }
    while take(0) {}
}

fn matmul(m: &Matmul, bases: &mut Bases<'_>, code: &Code, pool: &dyn Pool) -> u32 {
    let [rows, n, k] = m.size;
    let plan = &m.plan;
    let n0 = plan.tile[0];
    let lhs = Base(bases.at(&m.lhs, 4), 0);
    let (rhs, panels) = match &m.rhs {
        Ok(view) => (Base(bases.at(view, 4), 0), true),
        Err(view) => (Base(bases.at(view, 4), 0), false),
    };
    let out = Base(bases.at(&m.out, 4), 0);
    let program = bases.program;
    let finish = m.tail.as_ref().map(|t| Finish::new(t, &program.nests[t.nest as usize], bases, code));
    let alone = finish.as_ref().is_some_and(|f| f.entry.is_none());
    let status = AtomicU32::new(abi::OK);
    let rank = m.batch.len();
    let passes = k.div_ceil(plan.blocks.kc).max(1);
    let task = |task: usize, _: usize| {
        let (lhs, rhs, out) = (lhs, rhs, out);
        let finish = &finish;
        let [batch, mb, nb] = plan.grid.at(task);
        // The offset of this batch in a view.
        let start = |strides: &[isize]| {
            let mut rest = batch;
            let mut offset = 0;
            for d in (0..rank).rev() {
                offset += (rest % m.batch[d]) as isize * strides[d];
                rest /= m.batch[d];
            }
            offset
        };
        let lhs_start = start(&m.lhs.strides);
        let [lr, lk] = [m.lhs.strides[rank], m.lhs.strides[rank + 1]];
        let (rhs_start, rk) = match &m.rhs {
            Ok(view) => (start(&view.strides), n0 as isize),
            Err(view) => (start(&view.strides), view.strides[rank]),
        };
        let (out_start, or) = (start(&m.out.strides), m.out.strides[rank]);
        let first_row = mb * plan.blocks.mc;
        let tiles = if mb + 1 == plan.grid.m { &plan.last_tiles } else { &plan.tiles };
        let columns = nb * plan.blocks.nc..n.min((nb + 1) * plan.blocks.nc);
        for pass in 0..passes {
            let depth = pass * plan.blocks.kc..k.min((pass + 1) * plan.blocks.kc);
            for j in columns.clone().step_by(n0) {
                let cols = n0.min(n - j);
                let column = |j: usize| if panels { (j / n0 * n0 * k) as isize } else { j as isize };
                for (i, m0) in tiles.iter() {
                    let row = first_row + i;
                    let Some((_, kernel)) = m.rows.iter().find(|r| r.0 == m0) else { continue };
                    let depth_start = depth.start as isize;
                    let lhs_at = lhs_start + row as isize * lr + depth_start * lk;
                    let rhs_at = rhs_start + column(j) + depth_start * rk;
                    let out_at = out.0.cast::<f32>().wrapping_offset(out_start + row as isize * or + j as isize);
                    let next = j + n0 < columns.end && i == 0;
                    let prefetch = rhs.0.cast::<f32>().wrapping_offset(rhs_start + column(j + n0) + depth_start * rk);
                    let args = RawArgs {
                        tile: Tile { m0, n0, k0: plan.tile[1] },
                        rows: m0.min(rows - row),
                        cols,
                        lhs: lhs.0.cast::<f32>().wrapping_offset(lhs_at).cast(),
                        lhs_row_stride: lr,
                        lhs_k_stride: lk,
                        rhs: rhs.0.cast::<f32>().wrapping_offset(rhs_at).cast(),
                        rhs_k_stride: rk,
                        batches: &Batch::default(),
                        batch_count: 1,
                        k_per_batch: depth.len(),
                        init: ptr::null(),
                        init_row_stride: 0,
                        bias: ptr::null(),
                        clamp: ptr::null(),
                        out: out_at.cast(),
                        out_row_stride: or,
                        accumulate: pass > 0,
                        scales: ptr::null(),
                        zero_points: ptr::null(),
                        lhs_sums: ptr::null(),
                        prefetch_rhs: if next { prefetch.cast() } else { ptr::null() },
                        prefetch_out: ptr::null(),
                        scratch: ptr::null_mut(),
                    };
                    // SAFETY: rows, columns and depth are inside the operands, which was compared when the call was
                    // prepared; no two tasks share a tile.
                    unsafe { kernel.run_raw(&args) };
                    let Some(finish) = finish.as_ref().filter(|_| pass + 1 == passes) else { continue };
                    // SAFETY: the tile was just written; the operands hold every element of the output's dims.
                    let result = unsafe {
                        finish.run(
                            out_at.cast(),
                            [or as i64, 1],
                            [args.rows as u64, cols as u64],
                            |v| start(&v.strides) + row as isize * v.strides[rank] + j as isize * v.strides[rank + 1],
                            |v| [v.strides[rank] as i64, v.strides[rank + 1] as i64],
                        )
                    };
                    if result != abi::OK {
                        status.store(result, Ordering::Relaxed);
                    }
                }
            }
        }
    };
    spread(pool, alone, plan.grid.tasks(), &task);
    status.into_inner()
}

fn conv(c: &Conv, bases: &mut Bases<'_>, code: &Code, workers: &[WorkerCell], pool: &dyn Pool) -> u32 {
    let x = Base(bases.at(&c.x, 4), 0);
    let weights = bases.base(c.weights);
    let program = bases.program;
    let finish = Finish::new(&c.tail, &program.nests[c.tail.nest as usize], bases, code);
    let alone = finish.entry.is_none();
    let status = AtomicU32::new(abi::OK);
    let plan = &c.plan;
    let height = c.output[0];
    let task = |task: usize, worker: usize| {
        let [batch, mb, nb] = plan.grid.at(task);
        workers[worker].with(|worker| {
            let mut tiles = TileRun { c, x, weights, finish: &finish, worker, status: &status };
            let image = [batch / c.problem.groups, batch % c.problem.groups];
            if plan.algorithm == Algorithm::Pointwise {
                tiles.run(image, nb, 0, mb * plan.blocks.mc, mb + 1 == plan.grid.m);
            } else {
                for row in mb * plan.blocks.mc..height.min((mb + 1) * plan.blocks.mc) {
                    tiles.run(image, nb, row, 0, true);
                }
            }
        });
    };
    spread(pool, alone, plan.grid.tasks(), &task);
    status.into_inner()
}

/// A run of pixels by a block of output channels.
struct TileRun<'a> {
    c: &'a Conv,
    x: Base,
    weights: Base,
    finish: &'a Finish<'a>,
    worker: &'a mut Worker,
    status: &'a AtomicU32,
}

impl TileRun<'_> {
    /// Output row `row`, from pixel `first` on.
    fn run(&mut self, [image, group]: [usize; 2], nb: usize, row: usize, first: usize, last: bool) {
        let (c, plan) = (self.c, &self.c.plan);
        let p = &c.problem;
        let (ic, oc, n0) = (p.ic / p.groups, p.oc / p.groups, plan.tile[0]);
        let taps = p.kernel[0] * p.kernel[1];
        let panel = ic * taps * n0;
        let tiles = if last { &plan.last_tiles } else { &plan.tiles };
        let [xn, xc, _, xw] = <[isize; 4]>::try_from(&c.x.strides[..]).unwrap_or_default();
        let full = ic / CHANNEL_GROUP * CHANNEL_GROUP;
        for (i, m0) in tiles.iter() {
            let pixel = first + i;
            let Some((_, kernel)) = c.rows.iter().find(|r| r.0 == m0) else { continue };
            for j in (nb * plan.blocks.nc..oc.min((nb + 1) * plan.blocks.nc)).step_by(n0) {
                let cols = n0.min(oc - j);
                let panel_at = (group * oc.div_ceil(n0) + j / n0) * panel;
                let image_at = image as isize * xn + (group * ic) as isize * xc;
                let tile = self.worker.scratch.bytes_mut().as_mut_ptr();
                let mut args = RawArgs {
                    tile: Tile { m0, n0, k0: 1 },
                    rows: m0,
                    cols,
                    lhs: self.x.0.cast::<f32>().wrapping_offset(image_at).cast(),
                    lhs_row_stride: p.stride[1] as isize * xw,
                    lhs_k_stride: xc,
                    rhs: self.weights.0.cast::<f32>().wrapping_add(panel_at).cast(),
                    rhs_k_stride: n0 as isize,
                    batches: ptr::null(),
                    batch_count: 0,
                    k_per_batch: CHANNEL_GROUP,
                    init: ptr::null(),
                    init_row_stride: 0,
                    bias: ptr::null(),
                    clamp: ptr::null(),
                    out: tile,
                    out_row_stride: n0 as isize,
                    accumulate: false,
                    scales: ptr::null(),
                    zero_points: ptr::null(),
                    lhs_sums: ptr::null(),
                    prefetch_rhs: ptr::null(),
                    prefetch_out: ptr::null(),
                    scratch: ptr::null_mut(),
                };
                for (begin, end, depth) in [(0, full, CHANNEL_GROUP), (full, ic, ic - full)] {
                    if begin == end && (begin > 0 || ic > 0) {
                        continue;
                    }
                    self.batches(row, pixel, m0, begin..end, depth);
                    args.batches = self.worker.batches.as_ptr();
                    args.batch_count = self.worker.batches.len();
                    args.k_per_batch = depth;
                    args.accumulate = begin > 0;
                    // SAFETY: taps outside the image are left out or skipped, the others, the panel and the tile are
                    // inside their memory, which was compared when the call was prepared.
                    unsafe { kernel.run_raw(&args) };
                }
                let channel = (group * oc + j) as isize;
                let image = image as isize;
                // SAFETY: the tile was just written; the operands hold every element of the output's dims.
                let result = unsafe {
                    self.finish.run(
                        tile,
                        [1, n0 as i64],
                        [cols as u64, m0 as u64],
                        |v| {
                            let s = &v.strides;
                            image * s[0] + channel * s[1] + row as isize * s[2] + pixel as isize * s[3]
                        },
                        |v| [v.strides[1] as i64, v.strides[3] as i64],
                    )
                };
                if result != abi::OK {
                    self.status.store(result, Ordering::Relaxed);
                }
            }
        }
    }

    /// The taps of `rows` pixels from `pixel` on, for groups of `depth` channels.
    fn batches(&mut self, row: usize, pixel: usize, rows: usize, channels: core::ops::Range<usize>, depth: usize) {
        let p = &self.c.problem;
        let [_, xc, xh, xw] = <[isize; 4]>::try_from(&self.c.x.strides[..]).unwrap_or_default();
        let n0 = self.c.plan.tile[0];
        let taps = p.kernel[0] * p.kernel[1];
        let [height, width] = p.input.map(|s| s as isize);
        let step = p.stride[1] as isize;
        let pointwise = self.c.plan.algorithm == Algorithm::Pointwise;
        self.worker.batches.clear();
        for first in channels.step_by(depth.max(1)) {
            for kh in 0..p.kernel[0] {
                let y = (row * p.stride[0] + kh * p.dilation[0]) as isize - p.pad[0] as isize;
                if y < 0 || y >= height {
                    continue;
                }
                for kw in 0..p.kernel[1] {
                    let left = pixel as isize * step + (kw * p.dilation[1]) as isize - p.pad[1] as isize;
                    let (skip_first, end) = if pointwise {
                        (0, rows)
                    } else {
                        let before = (-left).max(0) as usize;
                        let room = (width - left).max(0) as usize;
                        (before.div_ceil(step as usize).min(rows), room.div_ceil(step as usize).min(rows))
                    };
                    if skip_first >= end {
                        continue;
                    }
                    let tap = kh * p.kernel[1] + kw;
                    self.worker.batches.push(Batch {
                        lhs: first as isize * xc + y * xh + left * xw,
                        rhs: (first * taps * n0 + tap * depth * n0) as isize,
                        skip_first,
                        skip_last: rows - end,
                    });
                }
            }
        }
    }
}

fn panels(p: &Pack, bases: &mut Bases<'_>) {
    let src = bases.at(&p.src, 4);
    let out = bases.base(p.out);
    let rank = p.batch.len();
    for batch in 0..p.batch.iter().product::<usize>() {
        let mut rest = batch;
        let mut offset = 0;
        for d in (0..rank).rev() {
            offset += (rest % p.batch[d]) as isize * p.src.strides[d];
            rest /= p.batch[d];
        }
        let args = pack::RawArgs {
            tile: [p.t0, 1],
            size: p.size,
            src: src.cast::<f32>().wrapping_offset(offset).cast(),
            src_strides: [p.src.strides[rank], p.src.strides[rank + 1]],
            outer: [p.size[0].div_ceil(p.t0), p.size[1]],
            out: out.0.cast::<f32>().wrapping_add(p.offset + batch * p.batch_stride).cast(),
            out_strides: [p.panel as isize, p.t0 as isize],
            padding: 0,
        };
        // SAFETY: the matrix and the panels of every batch are inside their buffers, which was compared when the call
        // was prepared.
        unsafe { p.row.pack_raw(&args) };
    }
}
