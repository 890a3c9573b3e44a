//! What the runtime takes for granted.

use crate::program::{Bind, BufferId, Call, Epilogue, Place, Program, Rhs, Step, View};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use smalti_codegen::{Access, Elem};
use smalti_dims::{Dim, Symbol};
use smalti_ukernels::table::ROWS;

/// What is wrong with a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("program: {0}")]
pub struct VerifyError(pub String);

impl Program {
    /// Checks numbers, types, ranks, and that symbols and buffers have values before they are used. Bounds are checked
    /// when sizes are known.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verify(&self) -> Result<(), VerifyError> {
        self.check().map_err(VerifyError)
    }

    fn check(&self) -> Result<(), String> {
        for nest in &self.nests {
            nest.verify().map_err(|e| format!("{e}"))?;
        }
        let mut state = State::default();
        for buffer in &self.buffers {
            let (count, at, what) = match buffer.place {
                Place::Input(i) => (self.inputs.len(), i, "input"),
                Place::Constant(i) => (self.constants.len(), i, "constant"),
                Place::Once(i) | Place::Slot(i) => (usize::MAX, i, "slot"),
            };
            if at as usize >= count {
                return Err(format!("a buffer lies in {what} {at}, there are {count}"));
            }
        }
        for port in self.inputs.iter().chain(&self.outputs) {
            self.id(port.buffer)?;
        }
        for (i, buffer) in self.buffers.iter().enumerate() {
            if let Place::Constant(c) = buffer.place {
                let bytes = self.constants[c as usize].bytes.len();
                if buffer.len.size().and_then(|n| n.checked_mul(buffer.elem.size())) != Some(bytes) {
                    return Err(format!("buffer {i} does not have the {bytes} bytes of its constant"));
                }
                state.written.insert(BufferId(i as u32));
            }
        }
        self.steps(&self.once, &mut state, true)?;
        for port in &self.inputs {
            for dim in &port.shape {
                state.bound.extend(dim.as_symbol());
            }
            state.written.insert(port.buffer);
        }
        self.steps(&self.steps, &mut state, false)?;
        for port in &self.outputs {
            self.read(port.buffer, &state)?;
            port.shape.iter().try_for_each(|d| self.dim(d, &state))?;
        }
        Ok(())
    }

    fn id(&self, id: BufferId) -> Result<(), String> {
        let count = self.buffers.len();
        if (id.0 as usize) < count { Ok(()) } else { Err(format!("there is no buffer {}, there are {count}", id.0)) }
    }

    fn dim(&self, dim: &Dim, state: &State) -> Result<(), String> {
        let mut unbound = None;
        dim.symbols(&mut |s| {
            if !state.bound.contains(&s) {
                unbound = Some(s);
            }
        });
        match unbound {
            Some(s) => Err(format!("symbol {} is used before it is bound", self.symbols.name(s))),
            None => Ok(()),
        }
    }

    fn read(&self, id: BufferId, state: &State) -> Result<(), String> {
        self.id(id)?;
        if state.written.contains(&id) { Ok(()) } else { Err(format!("buffer {} is read before it is written", id.0)) }
    }

    fn write(&self, id: BufferId, state: &mut State, once: bool) -> Result<(), String> {
        self.id(id)?;
        let buffer = self.buffer(id);
        let fits = match buffer.place {
            Place::Slot(_) => !once,
            Place::Once(_) => once,
            _ => false,
        };
        if !fits {
            return Err(format!("buffer {} can't be written here", id.0));
        }
        self.dim(&buffer.len, state)?;
        state.written.insert(id);
        Ok(())
    }

    fn element(&self, id: BufferId, elem: Elem, state: &State) -> Result<(), String> {
        self.read(id, state)?;
        let found = self.buffer(id).elem;
        if found == elem { Ok(()) } else { Err(format!("buffer {} is of {found}, {elem} is needed", id.0)) }
    }

    fn view(&self, view: &View, rank: usize, elem: Elem, state: &State) -> Result<(), String> {
        self.id(view.buffer)?;
        self.dim(&view.offset, state)?;
        view.strides.iter().try_for_each(|d| self.dim(d, state))?;
        let found = self.buffer(view.buffer).elem;
        if view.strides.len() != rank || found != elem {
            return Err(format!(
                "a view of buffer {} has {} dims of {found}, {rank} of {elem} are needed",
                view.buffer.0,
                view.strides.len()
            ));
        }
        Ok(())
    }

    fn steps(&self, steps: &[Step], state: &mut State, once: bool) -> Result<(), String> {
        for step in steps {
            match step {
                Step::Call(call) => self.call(call, state, once)?,
                Step::Branch { condition, yes, no } => {
                    self.element(*condition, Elem::Bool, state)?;
                    let mut other = state.clone();
                    self.steps(yes, state, once)?;
                    self.steps(no, &mut other, once)?;
                    // What both have done holds afterwards.
                    state.written = state.written.intersection(&other.written).copied().collect();
                    state.bound = state.bound.intersection(&other.bound).copied().collect();
                }
                Step::Loop(l) => {
                    l.most.iter().try_for_each(|&b| self.element(b, Elem::I64, state))?;
                    l.begin.iter().try_for_each(|&b| self.element(b, Elem::Bool, state))?;
                    self.write(l.round, state, once)?;
                    self.write(l.go, state, once)?;
                    state.bound.extend(l.rounds);
                    for &(_, to) in &l.carried {
                        self.read(to, state)?;
                        self.write(to, state, once)?;
                    }
                    for &(_, to) in &l.stacked {
                        self.write(to, state, once)?;
                    }
                    let mut inside = state.clone();
                    self.steps(&l.body, &mut inside, once)?;
                    self.element(l.next, Elem::Bool, &inside)?;
                    for (from, to) in l.carried.iter().chain(&l.stacked) {
                        self.read(*from, &inside)?;
                        if self.buffer(*from).elem != self.buffer(*to).elem {
                            return Err(format!("buffers {} and {} have different types", from.0, to.0));
                        }
                    }
                }
                Step::BindDim { symbol, value } => {
                    match value {
                        Bind::Element(buffer, _) => {
                            self.read(*buffer, state)?;
                            if !self.buffer(*buffer).elem.is_int() {
                                return Err(format!("buffer {} is no integer buffer", buffer.0));
                            }
                        }
                        Bind::Dim(dim) => self.dim(dim, state)?,
                    }
                    state.bound.insert(*symbol);
                }
                Step::Check { left, right, .. } => {
                    self.dim(left, state)?;
                    self.dim(right, state)?;
                }
            }
        }
        Ok(())
    }

    fn call(&self, call: &Call, state: &mut State, once: bool) -> Result<(), String> {
        match call {
            Call::Dispatch(d) => {
                let nest = self.nests.get(d.nest as usize).ok_or(format!("there is no nest {}", d.nest))?;
                d.extents.iter().try_for_each(|e| self.dim(e, state))?;
                if d.operands.len() != nest.operands.len() || d.extents.len() != nest.rank() {
                    return Err(format!("dispatch {} does not fit its nest", d.name));
                }
                self.operands(&d.operands, nest, 0, nest.rank(), state, once)
            }
            Call::Matmul(m) => {
                let rank = m.batch.len() + 2;
                m.batch.iter().chain([&m.m, &m.n, &m.k]).try_for_each(|d| self.dim(d, state))?;
                self.family(&m.family)?;
                self.view(&m.lhs, rank, Elem::F32, state)?;
                self.read(m.lhs.buffer, state)?;
                match &m.rhs {
                    Rhs::InPlace(view) => {
                        self.view(view, rank, Elem::F32, state)?;
                        self.read(view.buffer, state)?;
                    }
                    Rhs::Panels(buffer) => self.element(*buffer, Elem::F32, state)?,
                }
                self.view(&m.out, rank, Elem::F32, state)?;
                self.write(m.out.buffer, state, once)?;
                m.epilogue.iter().try_for_each(|e| self.epilogue(e, rank, state, once))
            }
            Call::Conv(c) => {
                [&c.n, &c.input[0], &c.input[1]].into_iter().try_for_each(|d| self.dim(d, state))?;
                self.family(&c.family)?;
                self.view(&c.x, 4, Elem::F32, state)?;
                self.read(c.x.buffer, state)?;
                self.element(c.weights, Elem::F32, state)?;
                self.epilogue(&c.epilogue, 4, state, once)
            }
            Call::Pack(p) => {
                let dims = [&p.rows, &p.cols, &p.panel, &p.offset, &p.batch_stride];
                p.batch.iter().chain(dims).try_for_each(|d| self.dim(d, state))?;
                self.view(&p.src, p.batch.len() + 2, Elem::F32, state)?;
                self.read(p.src.buffer, state)?;
                if p.t0 == 0 {
                    return Err("a pack into tiles of no rows".into());
                }
                self.write(p.out, state, once)?;
                if self.buffer(p.out).elem == Elem::F32 { Ok(()) } else { Err("panels are of f32".into()) }
            }
            Call::Dims { out, values } => {
                values.iter().try_for_each(|d| self.dim(d, state))?;
                self.write(*out, state, once)?;
                let buffer = self.buffer(*out);
                if matches!(buffer.elem, Elem::I64 | Elem::I32) { Ok(()) } else { Err("dims are i64 or i32".into()) }
            }
        }
    }

    fn family(&self, family: &smalti_ukernels::table::Family) -> Result<(), String> {
        let known = ROWS.iter().filter_map(smalti_ukernels::table::Row::family).any(|f| f == *family);
        if known { Ok(()) } else { Err(format!("there is no family {family}")) }
    }

    fn operands(
        &self,
        views: &[View],
        nest: &smalti_codegen::Nest,
        first: usize,
        rank: usize,
        state: &mut State,
        once: bool,
    ) -> Result<(), String> {
        let operands = &nest.operands[first..];
        for (view, operand) in views.iter().zip(operands) {
            self.view(view, rank, operand.elem, state)?;
            if operand.access != Access::Out {
                self.read(view.buffer, state)?;
            }
        }
        for (i, (view, operand)) in views.iter().zip(operands).enumerate() {
            if operand.access == Access::In {
                continue;
            }
            self.write(view.buffer, state, once)?;
            let place = |b: BufferId| self.buffer(b).place;
            let shared = views.iter().enumerate().any(|(j, v)| j != i && place(v.buffer) == place(view.buffer));
            if shared {
                return Err(format!("nest {}: operand {} shares its memory with another one", nest.name, operand.name));
            }
        }
        Ok(())
    }

    fn epilogue(&self, e: &Epilogue, rank: usize, state: &mut State, once: bool) -> Result<(), String> {
        let nest = self.nests.get(e.nest as usize).ok_or(format!("there is no nest {}", e.nest))?;
        if nest.outer != 1 || nest.inner != 1 || nest.operands.len() != e.operands.len() + 1 {
            return Err(format!("nest {} is no epilogue of {} operands", nest.name, e.operands.len() + 1));
        }
        if nest.operands[0].elem != Elem::F32 {
            return Err(format!("epilogue {} does not take tiles of f32", nest.name));
        }
        self.operands(&e.operands, nest, 1, rank, state, once)
    }
}

#[derive(Clone, Default)]
struct State {
    written: BTreeSet<BufferId>,
    bound: BTreeSet<Symbol>,
}
