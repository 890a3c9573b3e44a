//! What the runtime takes for granted.

use crate::program::{Bind, BufferId, Call, Epilogue, Place, Program, Rhs, Step, View};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use smalti_codegen::{Access, Elem, Phase};
use smalti_dims::{Dim, Symbol};
use smalti_isa::Feature;
use smalti_ukernels::elem::ElemType;
use smalti_ukernels::name::Types;
use smalti_ukernels::table::ROWS;

/// Sizes of convolutions and tiles stay below this, so that products of two never overflow.
const LARGEST: usize = 1 << 31;
/// Operands of an epilogue, its tile counted.
const OPERANDS: usize = 31;

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
        if let Some(s) = self.vscale {
            if !self.target.features.has(Feature::V) {
                return Err(format!(
                    "{} has no vector length that symbol {} could follow",
                    self.target,
                    self.symbols.name(s)
                ));
            }
            self.bind(s, &mut state)?;
        }
        let machine = state.bound.clone();
        for buffer in &self.buffers {
            let (count, at, what) = match buffer.place {
                Place::Input(i) => (self.inputs.len(), i, "input"),
                Place::Constant(i) => (self.constants.len(), i, "constant"),
                Place::Once(i) | Place::Slot(i) => (self.buffers.len(), i, "slot"),
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
        // Symbols of a load have no values in a run.
        if state.bound != machine {
            return Err("a step that runs once binds a symbol".into());
        }
        for (i, port) in self.inputs.iter().enumerate() {
            let buffer = self.buffer(port.buffer);
            let whole = smalti_dims::product(&port.shape);
            if buffer.place != Place::Input(i as u32) || buffer.len != whole {
                return Err(format!("input {} is not the whole of its buffer", port.name));
            }
            for dim in &port.shape {
                state.bound.extend(dim.as_symbol());
            }
            state.written.insert(port.buffer);
        }
        self.steps(&self.steps, &mut state, false)?;
        for port in &self.outputs {
            self.read(port.buffer, &state)?;
            port.shape.iter().try_for_each(|d| self.dim(d, &state))?;
            let buffer = self.buffer(port.buffer);
            if matches!(buffer.place, Place::Input(_)) || buffer.len != smalti_dims::product(&port.shape) {
                return Err(format!("output {} is not the whole of a buffer of the program's own", port.name));
            }
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
                    for (id, elem) in [(l.round, Elem::I64), (l.go, Elem::Bool)] {
                        self.write(id, state, once)?;
                        self.element(id, elem, state)?;
                        if !self.buffer(id).len.is(1) {
                            return Err(format!("buffer {} of a loop has more than one element", id.0));
                        }
                    }
                    l.rounds.iter().try_for_each(|&s| self.bind(s, state))?;
                    for &(_, to) in &l.carried {
                        self.read(to, state)?;
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
                    // What is stacked is whole only when the loop has ended.
                    for &(_, to) in &l.stacked {
                        self.write(to, state, once)?;
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
                    self.bind(*symbol, state)?;
                }
                Step::Check { left, right, .. } => {
                    self.dim(left, state)?;
                    self.dim(right, state)?;
                }
            }
        }
        Ok(())
    }

    /// A symbol keeps its value for the whole run: lengths of buffers depend on it.
    fn bind(&self, symbol: Symbol, state: &mut State) -> Result<(), String> {
        if symbol.0 as usize >= self.symbols.len() {
            return Err(format!("there is no symbol number {}", symbol.0));
        }
        let fresh = state.bound.insert(symbol);
        if fresh { Ok(()) } else { Err(format!("symbol {} is bound twice", self.symbols.name(symbol))) }
    }

    fn call(&self, call: &Call, state: &mut State, once: bool) -> Result<(), String> {
        // Buffers that the call reads and writes; what is written shares its memory with nothing else of the call.
        let mut reads: Vec<BufferId> = Vec::new();
        let mut writes: Vec<BufferId> = Vec::new();
        match call {
            Call::Dispatch(d) => {
                let nest = self.nests.get(d.nest as usize).ok_or(format!("there is no nest {}", d.nest))?;
                d.extents.iter().try_for_each(|e| self.dim(e, state))?;
                if d.operands.len() != nest.operands.len() || d.extents.len() != nest.rank() {
                    return Err(format!("dispatch {} does not fit its nest", d.name));
                }
                self.operands(&d.operands, &nest.operands, nest.rank(), state, [&mut reads, &mut writes])?;
            }
            Call::Matmul(m) => {
                let rank = m.batch.len() + 2;
                m.batch.iter().chain([&m.m, &m.n, &m.k]).try_for_each(|d| self.dim(d, state))?;
                self.family(&m.family)?;
                self.view(&m.lhs, rank, Elem::F32, state)?;
                let rhs = match &m.rhs {
                    Rhs::InPlace(view) => {
                        self.view(view, rank, Elem::F32, state)?;
                        view
                    }
                    Rhs::Panels(view) => {
                        self.view(view, rank - 2, Elem::F32, state)?;
                        view
                    }
                };
                self.view(&m.out, rank, Elem::F32, state)?;
                reads.extend([m.lhs.buffer, rhs.buffer]);
                writes.push(m.out.buffer);
                if let Some(e) = &m.epilogue {
                    // Tiles are written row by row.
                    self.epilogue(
                        e,
                        rank,
                        [smalti_codegen::Step::Any, smalti_codegen::Step::Unit],
                        state,
                        [&mut reads, &mut writes],
                    )?;
                }
            }
            Call::Conv(c) => {
                [&c.n, &c.input[0], &c.input[1]].into_iter().try_for_each(|d| self.dim(d, state))?;
                self.family(&c.family)?;
                let sizes = [&[c.ic, c.oc, c.groups][..], &c.kernel, &c.stride, &c.dilation].concat();
                if sizes.contains(&0) || sizes.iter().chain(&c.pad).any(|&s| s >= LARGEST) {
                    return Err(format!("convolution {} has a size of 0, or of {LARGEST} or more", c.name));
                }
                self.view(&c.x, 4, Elem::F32, state)?;
                self.element(c.weights, Elem::F32, state)?;
                reads.extend([c.x.buffer, c.weights]);
                // Tiles lie in scratch, pixel by pixel: along channels, and so along pixels, with any stride.
                self.epilogue(&c.epilogue, 4, [smalti_codegen::Step::Any; 2], state, [&mut reads, &mut writes])?;
            }
            Call::Pack(p) => {
                let dims = [&p.t0, &p.rows, &p.cols, &p.panel, &p.offset, &p.batch_stride];
                p.batch.iter().chain(dims).try_for_each(|d| self.dim(d, state))?;
                self.view(&p.src, p.batch.len() + 2, Elem::F32, state)?;
                self.id(p.out)?;
                if self.buffer(p.out).elem != Elem::F32 {
                    return Err("panels are of f32".into());
                }
                reads.push(p.src.buffer);
                writes.push(p.out);
            }
            Call::Dims { out, values } => {
                values.iter().try_for_each(|d| self.dim(d, state))?;
                self.id(*out)?;
                if !matches!(self.buffer(*out).elem, Elem::I64 | Elem::I32) {
                    return Err("dims are i64 or i32".into());
                }
                writes.push(*out);
            }
        }
        reads.iter().try_for_each(|&id| self.read(id, state))?;
        for (i, &id) in writes.iter().enumerate() {
            self.write(id, state, once)?;
            let place = self.buffer(id).place;
            let shared = |other: &BufferId| self.buffer(*other).place == place;
            // A buffer that is packed or filled in parts is written by several calls, each alone.
            if writes[..i].iter().any(shared) || reads.iter().any(shared) {
                return Err(format!("buffer {} shares its memory with another operand of its call", id.0));
            }
        }
        Ok(())
    }

    fn family(&self, family: &smalti_ukernels::table::Family) -> Result<(), String> {
        let known = ROWS.iter().filter_map(smalti_ukernels::table::Row::family).any(|f| f == *family);
        if !known {
            return Err(format!("there is no family {family}"));
        }
        // Panels and tiles are addressed as those of such families.
        if family.types != Types::new([ElemType::F32; 3]) || family.k0 != smalti_ukernels::name::Dim::Fixed(1) {
            return Err(format!("family {family} is not of f32 with a K0 of 1, which alone are run"));
        }
        Ok(())
    }

    fn operands(
        &self,
        views: &[View],
        operands: &[smalti_codegen::Operand],
        rank: usize,
        state: &mut State,
        [reads, writes]: [&mut Vec<BufferId>; 2],
    ) -> Result<(), String> {
        for (view, operand) in views.iter().zip(operands) {
            self.view(view, rank, operand.elem, state)?;
            match operand.access {
                Access::In => reads.push(view.buffer),
                Access::Out => writes.push(view.buffer),
                Access::InOut => {
                    self.read(view.buffer, state)?;
                    writes.push(view.buffer);
                }
            }
        }
        Ok(())
    }

    fn epilogue(
        &self,
        e: &Epilogue,
        rank: usize,
        tile: [smalti_codegen::Step; 2],
        state: &mut State,
        lists: [&mut Vec<BufferId>; 2],
    ) -> Result<(), String> {
        let nest = self.nests.get(e.nest as usize).ok_or(format!("there is no nest {}", e.nest))?;
        let plain = matches!(nest.phases[..], [Phase::Loop(_)]) && !nest.reduces();
        if nest.outer != 1 || nest.inner != 1 || !plain || nest.operands.len() > OPERANDS {
            return Err(format!("nest {} is no epilogue: one loop over rows and columns", nest.name));
        }
        let [first, rest @ ..] = &nest.operands[..] else {
            return Err(format!("epilogue {} takes no tile", nest.name));
        };
        if rest.len() != e.operands.len() {
            return Err(format!("epilogue {} has {} operands beside the tile", nest.name, rest.len()));
        }
        if first.elem != Elem::F32 || !tile.contains(&first.step) {
            return Err(format!("epilogue {} does not take tiles as its call writes them", nest.name));
        }
        self.operands(&e.operands, rest, rank, state, lists)
    }
}

#[derive(Clone, Default)]
struct State {
    written: BTreeSet<BufferId>,
    bound: BTreeSet<Symbol>,
}
