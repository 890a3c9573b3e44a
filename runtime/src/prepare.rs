//! Calls with their sizes known: evaluated, planned, and checked against the buffers they access.

use crate::error::RunError;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use smalti_codegen::{Access, Phase};
use smalti_dims::Dim;
use smalti_program::{BufferId, Call, Epilogue, Program, Rhs, View};
use smalti_tiling::{Algorithm, CHANNEL_GROUP, Conv2d, Order, Plan, Problem, plan};
use smalti_ukernels::Host;
use smalti_ukernels::elem::ElemType;
use smalti_ukernels::name::{Op, Types};
use smalti_ukernels::select;
use smalti_ukernels::table::Bound;

/// A view with its sizes known, in elements.
#[derive(Clone, Debug)]
pub(crate) struct Strided {
    pub(crate) buffer: BufferId,
    pub(crate) offset: isize,
    pub(crate) strides: Vec<isize>,
}

pub(crate) enum Prepared {
    Dispatch(Dispatch),
    Matmul(Matmul),
    Conv(Conv),
    Pack(Pack),
    Dims { out: BufferId, values: Vec<i64> },
}

pub(crate) struct Dispatch {
    pub(crate) nest: u32,
    pub(crate) extents: Vec<u64>,
    pub(crate) strides: Vec<i64>,
    pub(crate) operands: Vec<Strided>,
    /// Steps of the first dim that one task takes.
    pub(crate) chunk: u64,
    pub(crate) tasks: usize,
    /// Whether there is nothing to do.
    pub(crate) empty: bool,
}

pub(crate) struct Tail {
    pub(crate) nest: u32,
    pub(crate) operands: Vec<Strided>,
}

pub(crate) struct Matmul {
    pub(crate) plan: Plan,
    pub(crate) rows: Vec<(usize, Bound)>,
    pub(crate) batch: Vec<usize>,
    pub(crate) size: [usize; 3],
    pub(crate) lhs: Strided,
    /// Panels, with strides of batch dims, or a view.
    pub(crate) rhs: Result<Strided, Strided>,
    pub(crate) out: Strided,
    pub(crate) tail: Option<Tail>,
}

pub(crate) struct Conv {
    pub(crate) plan: Plan,
    pub(crate) rows: Vec<(usize, Bound)>,
    pub(crate) problem: Conv2d,
    pub(crate) output: [usize; 2],
    pub(crate) x: Strided,
    pub(crate) weights: BufferId,
    pub(crate) tail: Tail,
}

pub(crate) struct Pack {
    pub(crate) row: Bound,
    pub(crate) t0: usize,
    pub(crate) batch: Vec<usize>,
    pub(crate) size: [usize; 2],
    pub(crate) src: Strided,
    pub(crate) out: BufferId,
    pub(crate) offset: usize,
    pub(crate) panel: usize,
    pub(crate) batch_stride: usize,
}

/// What a prepared call needs of its session.
pub(crate) struct Needs {
    /// Buffers that it writes, with their bytes.
    pub(crate) written: Vec<(BufferId, usize)>,
    /// Workspace of a worker, in bytes.
    pub(crate) scratch: usize,
    /// Batches of a worker.
    pub(crate) batches: usize,
}

/// Packed tiles have no more rows: sixteen registers' worth of the longest vectors that RVV allows.
const LARGEST_TILE: usize = 1 << 20;

/// Elements of a dispatch that are worth a task of their own.
const TASK: u64 = 1 << 15;

pub(crate) struct Preparer<'a> {
    pub(crate) program: &'a Program,
    pub(crate) values: &'a [Option<i64>],
    pub(crate) host: &'a Host,
}

impl Preparer<'_> {
    pub(crate) fn call(&self, call: &Call) -> Result<(Prepared, Needs), RunError> {
        let mut needs = Needs { written: Vec::new(), scratch: 0, batches: 0 };
        let prepared = match call {
            Call::Dispatch(d) => Prepared::Dispatch(self.dispatch(d, &mut needs)?),
            Call::Matmul(m) => Prepared::Matmul(self.matmul(m, &mut needs)?),
            Call::Conv(c) => Prepared::Conv(self.conv(c, &mut needs)?),
            Call::Pack(p) => Prepared::Pack(self.pack(p, &mut needs)?),
            Call::Dims { out, values } => {
                let values = values.iter().map(|d| self.int("dims", d)).collect::<Result<Vec<_>, _>>()?;
                let len = self.write(*out, "dims", &mut needs)?;
                if values.len() > len {
                    return Err(RunError::Bounds {
                        node: "dims".to_owned(),
                        operand: 0,
                        at: values.len() as i128,
                        len,
                    });
                }
                Prepared::Dims { out: *out, values }
            }
        };
        Ok((prepared, needs))
    }

    fn int(&self, node: &str, dim: &Dim) -> Result<i64, RunError> {
        dim.eval(self.values).map_err(|e| RunError::Size {
            node: node.to_owned(),
            what: self.program.symbols.text(dim),
            value: e.to_string(),
        })
    }

    pub(crate) fn size(&self, node: &str, dim: &Dim) -> Result<usize, RunError> {
        let value = self.int(node, dim)?;
        usize::try_from(value).map_err(|_| RunError::Size {
            node: node.to_owned(),
            what: self.program.symbols.text(dim),
            value: value.to_string(),
        })
    }

    /// The length of a buffer, in elements.
    fn len(&self, id: BufferId, node: &str) -> Result<usize, RunError> {
        self.size(node, &self.program.buffer(id).len)
    }

    fn write(&self, id: BufferId, node: &str, needs: &mut Needs) -> Result<usize, RunError> {
        let len = self.len(id, node)?;
        let size = self.program.buffer(id).elem.size();
        let bytes = len.checked_mul(size).filter(|&b| b <= isize::MAX as usize / 2).ok_or_else(|| RunError::Size {
            node: node.to_owned(),
            what: self.program.symbols.text(&self.program.buffer(id).len),
            value: "more than memory can hold".to_owned(),
        })?;
        needs.written.push((id, bytes));
        Ok(len)
    }

    fn view(&self, node: &str, view: &View) -> Result<Strided, RunError> {
        let int = |d: &Dim| self.int(node, d).map(|v| v as isize);
        Ok(Strided {
            buffer: view.buffer,
            offset: int(&view.offset)?,
            strides: view.strides.iter().map(int).collect::<Result<_, _>>()?,
        })
    }

    /// Compares what a view over `extents` reaches with its buffer.
    fn bounds(&self, node: &str, operand: usize, view: &Strided, extents: &[usize]) -> Result<(), RunError> {
        if extents.contains(&0) {
            return Ok(());
        }
        let len = self.len(view.buffer, node)?;
        let (mut low, mut high) = (view.offset as i128, view.offset as i128);
        for (&extent, &stride) in extents.iter().zip(&view.strides) {
            let span = (extent as i128 - 1) * stride as i128;
            low += span.min(0);
            high += span.max(0);
        }
        let at = if low < 0 { low } else { high };
        if low < 0 || high >= len as i128 {
            return Err(RunError::Bounds { node: node.to_owned(), operand, at, len });
        }
        Ok(())
    }

    fn sizes(&self, node: &str, dims: &[Dim]) -> Result<Vec<usize>, RunError> {
        dims.iter().map(|d| self.size(node, d)).collect()
    }

    fn huge(&self, node: &str) -> RunError {
        RunError::Size {
            node: node.to_owned(),
            what: "a size".to_owned(),
            value: "more than memory can hold".to_owned(),
        }
    }

    /// Refuses an output of which two elements are one: tasks would write it at the same time.
    fn apart(&self, node: &str, operand: usize, view: &Strided, extents: &[usize]) -> Result<(), RunError> {
        if is_apart(&view.strides, extents) {
            return Ok(());
        }
        let what = alloc::format!("strides of output {operand}, which overlap");
        Err(RunError::Size { node: node.to_owned(), what, value: alloc::format!("{:?}", view.strides) })
    }

    fn dispatch(&self, d: &smalti_program::Dispatch, needs: &mut Needs) -> Result<Dispatch, RunError> {
        let nest = &self.program.nests[d.nest as usize];
        let extents = self.sizes(&d.name, &d.extents)?;
        // What a phase that runs once an outer point accesses is reached at inner point 0, also where the inner dims
        // have no points; what loops alone access is then not reached at all.
        let mut once = alloc::vec![false; nest.operands.len()];
        for phase in &nest.phases {
            if let Phase::Once(insts) = phase {
                for inst in insts {
                    if let smalti_codegen::Op::Load(operand) | smalti_codegen::Op::Store(operand) = inst.op {
                        once[operand as usize] = true;
                    }
                }
            }
        }
        let mut first_point = extents.clone();
        first_point[nest.outer..].iter_mut().for_each(|e| *e = (*e).max(1));
        let mut operands = Vec::new();
        let mut strides = Vec::new();
        let mut splits = true;
        for (i, (view, operand)) in d.operands.iter().zip(&nest.operands).enumerate() {
            if operand.access != Access::In {
                self.write(view.buffer, &d.name, needs)?;
            }
            let view = self.view(&d.name, view)?;
            self.bounds(&d.name, i, &view, if once[i] { &first_point } else { &extents })?;
            self.promise(&d.name, i, operand.step, view.strides.last().copied(), extents.last().copied())?;
            if operand.access != Access::In {
                // Reductions write one element an outer point.
                let zero = view.strides[nest.outer..].iter().all(|&s| s == 0);
                let dims = if zero && nest.outer > 0 { nest.outer } else { extents.len() };
                splits &= is_apart(&view.strides[..dims], &extents[..dims]);
            }
            strides.extend(view.strides.iter().map(|&s| s as i64));
            operands.push(view);
        }
        let total = extents.iter().try_fold(1u64, |p, &e| p.checked_mul(e as u64)).ok_or_else(|| self.huge(&d.name))?;
        let first = extents.first().copied().unwrap_or(0) as u64;
        let wanted = if splits { (total / TASK).clamp(1, first.max(1)) } else { 1 };
        let chunk = first.div_ceil(wanted).max(1);
        let tasks = first.div_ceil(chunk) as usize;
        let empty = if once.contains(&true) { first_point.contains(&0) } else { extents.contains(&0) };
        let extents = extents.into_iter().map(|e| e as u64).collect();
        Ok(Dispatch { nest: d.nest, extents, strides, operands, chunk, tasks, empty })
    }

    /// What the nest was promised of the last dim's stride.
    fn promise(
        &self,
        node: &str,
        operand: usize,
        step: smalti_codegen::Step,
        stride: Option<isize>,
        extent: Option<usize>,
    ) -> Result<(), RunError> {
        let kept = match step {
            smalti_codegen::Step::Any => true,
            smalti_codegen::Step::Unit => stride == Some(1),
            smalti_codegen::Step::Zero => stride == Some(0),
        };
        if kept || extent.is_none_or(|e| e <= 1) && step == smalti_codegen::Step::Any {
            return Ok(());
        }
        Err(RunError::Size {
            node: node.to_owned(),
            what: alloc::format!("the promised last stride of operand {operand}"),
            value: alloc::format!("{stride:?}"),
        })
    }

    fn tail(
        &self,
        node: &str,
        e: &Epilogue,
        dims: &[usize],
        inner: impl Fn(&Strided) -> isize,
        needs: &mut Needs,
    ) -> Result<Tail, RunError> {
        let nest = &self.program.nests[e.nest as usize];
        let mut operands = Vec::new();
        for (i, (view, operand)) in e.operands.iter().zip(&nest.operands[1..]).enumerate() {
            if operand.access != Access::In {
                self.write(view.buffer, node, needs)?;
            }
            let view = self.view(node, view)?;
            self.bounds(node, i + 1, &view, dims)?;
            if operand.access != Access::In {
                self.apart(node, i + 1, &view, dims)?;
            }
            self.promise(node, i + 1, operand.step, Some(inner(&view)), None)?;
            operands.push(view);
        }
        Ok(Tail { nest: e.nest, operands })
    }

    fn plan(
        &self,
        node: &str,
        problem: &Problem,
        family: smalti_ukernels::table::Family,
    ) -> Result<(Plan, Vec<(usize, Bound)>), RunError> {
        let failed = |error| RunError::Plan { node: node.to_owned(), error };
        let plan = plan(problem, Some(family), self.host.target()).map_err(failed)?;
        let mut rows: Vec<(usize, Bound)> = Vec::new();
        for (_, m0) in plan.tiles.iter().chain(plan.last_tiles.iter()) {
            if rows.iter().all(|r| r.0 != m0) {
                let row = plan.row(m0).and_then(|r| r.bind(self.host).ok());
                let none = || RunError::Size {
                    node: node.to_owned(),
                    what: alloc::format!("a kernel of {m0} rows of family {family}"),
                    value: "not in this build".to_owned(),
                };
                rows.push((m0, row.ok_or_else(none)?));
            }
        }
        Ok((plan, rows))
    }

    fn matmul(&self, m: &smalti_program::Matmul, needs: &mut Needs) -> Result<Matmul, RunError> {
        let name = &m.name;
        let batch = self.sizes(name, &m.batch)?;
        let size = [self.size(name, &m.m)?, self.size(name, &m.n)?, self.size(name, &m.k)?];
        let [rows, n, k] = size;
        let dims = |a: usize, b: usize| [&batch[..], &[a, b]].concat();
        let lhs = self.view(name, &m.lhs)?;
        self.bounds(name, 0, &lhs, &dims(rows, k))?;
        let mut problem = m.problem(|d| self.size(name, d))?;
        problem.lhs = if lhs.strides.last() == Some(&1) { Order::Rows } else { Order::Columns };
        let (plan, bound) = self.plan(name, &Problem::Matmul(problem), m.family)?;
        let n0 = plan.tile[0];
        let rhs = match &m.rhs {
            Rhs::InPlace(view) => {
                let view = self.view(name, view)?;
                self.bounds(name, 1, &view, &dims(k, n))?;
                if n > 1 && view.strides.last() != Some(&1) {
                    let what = "the right operand's column stride".to_owned();
                    return Err(RunError::Size {
                        node: name.clone(),
                        what,
                        value: alloc::format!("{:?}", view.strides),
                    });
                }
                Err(view)
            }
            Rhs::Panels(view) => {
                let view = self.view(name, view)?;
                let panels = n.div_ceil(n0).checked_mul(n0).and_then(|p| p.checked_mul(k));
                let panels = panels.ok_or_else(|| self.huge(name))?;
                // Each product reads a whole run of panels.
                let run = Strided { strides: [&view.strides[..], &[1]].concat(), ..view.clone() };
                self.bounds(name, 1, &run, &[&batch[..], &[panels]].concat())?;
                Ok(view)
            }
        };
        self.write(m.out.buffer, name, needs)?;
        let out = self.view(name, &m.out)?;
        self.bounds(name, 2, &out, &dims(rows, n))?;
        self.apart(name, 2, &out, &dims(rows, n))?;
        if n > 1 && out.strides.last() != Some(&1) {
            let what = "the output's column stride".to_owned();
            return Err(RunError::Size { node: name.clone(), what, value: alloc::format!("{:?}", out.strides) });
        }
        let tail = m
            .epilogue
            .as_ref()
            .map(|e| self.tail(name, e, &dims(rows, n), |v| v.strides[v.strides.len() - 1], needs))
            .transpose()?;
        Ok(Matmul { plan, rows: bound, batch, size, lhs, rhs, out, tail })
    }

    fn conv(&self, c: &smalti_program::Conv, needs: &mut Needs) -> Result<Conv, RunError> {
        let name = &c.name;
        let n = self.size(name, &c.n)?;
        let input = [self.size(name, &c.input[0])?, self.size(name, &c.input[1])?];
        let x = self.view(name, &c.x)?;
        self.bounds(name, 0, &x, &[n, c.ic, input[0], input[1]])?;
        let mut problem = c.problem(|d| self.size(name, d))?;
        let output = problem.output().unwrap_or([0, 0]);
        // What the planner multiplies stays in range.
        let parts = [c.ic, c.oc, c.kernel[0], c.kernel[1], output[0].max(1), output[1].max(1)];
        parts.iter().try_fold(1usize, |p, &s| p.checked_mul(s)).ok_or_else(|| self.huge(name))?;
        let dims = [n, c.oc, output[0], output[1]];
        let tail = self.tail(name, &c.epilogue, &dims, |v| v.strides[3], needs)?;
        let apart = |v: &Strided, width: usize| v.strides[2] != width as isize * v.strides[3];
        problem.rows_apart = apart(&x, input[1]) || tail.operands.iter().any(|v| apart(v, output[1]));
        let (plan, rows) = self.plan(name, &Problem::Conv2d(problem), c.family)?;
        let (ic, oc) = (c.ic / c.groups, c.oc / c.groups);
        let taps = c.kernel[0] * c.kernel[1];
        let n0 = plan.tile[0];
        let parts = [oc.div_ceil(n0), n0, ic, c.kernel[0], c.kernel[1]];
        let needed = parts.iter().try_fold(c.groups, |p, &s| p.checked_mul(s)).ok_or_else(|| self.huge(name))?;
        let len = self.len(c.weights, name)?;
        if needed > len {
            return Err(RunError::Bounds { node: name.clone(), operand: 1, at: needed as i128, len });
        }
        needs.scratch = plan.scratch;
        needs.batches = ic.div_ceil(CHANNEL_GROUP) * taps;
        debug_assert!(plan.algorithm != Algorithm::Matmul);
        Ok(Conv { plan, rows, problem, output, x, weights: c.weights, tail })
    }

    fn pack(&self, p: &smalti_program::Pack, needs: &mut Needs) -> Result<Pack, RunError> {
        let name = &p.name;
        let batch = self.sizes(name, &p.batch)?;
        let size = [self.size(name, &p.rows)?, self.size(name, &p.cols)?];
        let src = self.view(name, &p.src)?;
        self.bounds(name, 0, &src, &[&batch[..], &size].concat())?;
        let t0 = self.size(name, &p.t0)?;
        if t0 == 0 || t0 > LARGEST_TILE {
            return Err(RunError::Size {
                node: name.clone(),
                what: "rows of a packed tile".to_owned(),
                value: t0.to_string(),
            });
        }
        let (offset, panel) = (self.size(name, &p.offset)?, self.size(name, &p.panel)?);
        let batch_stride = self.size(name, &p.batch_stride)?;
        let len = self.write(p.out, name, needs)?;
        let count = batch.iter().product::<usize>();
        if count > 0 && size[0] > 0 && size[1] > 0 {
            let tiles = size[0].div_ceil(t0);
            let last = offset as i128
                + (count as i128 - 1) * batch_stride as i128
                + (tiles as i128 - 1) * panel as i128
                + size[1] as i128 * t0 as i128;
            if last > len as i128 {
                return Err(RunError::Bounds { node: name.clone(), operand: 1, at: last, len });
            }
        }
        let types = Types::pair(ElemType::F32, ElemType::F32);
        let row = select::panels(Op::Pack, types, t0, 1, self.host.target());
        let row = row.and_then(|row| row.bind(self.host).ok()).ok_or_else(|| RunError::Size {
            node: name.clone(),
            what: alloc::format!("a kernel that packs panels of {t0}"),
            value: "not in this build".to_owned(),
        })?;
        Ok(Pack { row, t0, batch, size, src, out: p.out, offset, panel, batch_stride })
    }
}

/// Whether no two points of a space have one address: each stride is longer than all that the shorter ones span.
fn is_apart(strides: &[isize], extents: &[usize]) -> bool {
    let mut span = 0u128;
    let mut last = 0u128;
    // By length of stride; the list is short.
    loop {
        let next = strides
            .iter()
            .zip(extents)
            .filter(|d| *d.1 > 1)
            .map(|(s, &e)| (s.unsigned_abs() as u128, e as u128))
            .filter(|d| d.0 > last || last == 0)
            .min();
        let Some((stride, extent)) = next else { return true };
        let twice = strides.iter().zip(extents).filter(|d| *d.1 > 1 && d.0.unsigned_abs() as u128 == stride).count();
        if stride <= span || twice > 1 {
            return false;
        }
        span += stride * (extent - 1);
        last = stride;
    }
}

/// Calls as they were prepared for sizes that came before: the last few.
#[derive(Default)]
pub(crate) struct Cases {
    list: Vec<(Box<[i64]>, Prepared, Needs)>,
    /// The case to be dropped next.
    oldest: usize,
}

/// Sizes that a call is kept prepared for.
const KEPT: usize = 16;

impl Cases {
    /// The number of the case whose key is `key`.
    pub(crate) fn find(&self, mut key: impl FnMut(usize) -> i64) -> Option<usize> {
        self.list.iter().position(|c| c.0.iter().enumerate().all(|(i, &v)| key(i) == v))
    }

    pub(crate) fn get(&self, i: usize) -> (&Prepared, &Needs) {
        (&self.list[i].1, &self.list[i].2)
    }

    /// Keeps a case, in the place of the oldest one where there are many.
    pub(crate) fn keep(&mut self, key: Box<[i64]>, prepared: (Prepared, Needs)) -> usize {
        let case = (key, prepared.0, prepared.1);
        if self.list.len() < KEPT {
            self.list.push(case);
            return self.list.len() - 1;
        }
        let at = self.oldest;
        self.list[at] = case;
        self.oldest = (at + 1) % KEPT;
        at
    }
}

/// For messages.
pub(crate) fn shape_text(shape: &[usize]) -> String {
    let dims = shape.iter().map(usize::to_string).collect::<Vec<_>>();
    alloc::format!("[{}]", dims.join(","))
}
