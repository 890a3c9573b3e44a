//! A program that is ready to run.

use crate::call::{self, Bases, InputBases, WorkerCell};
use crate::code::Code;
use crate::error::{LoadError, RunError};
use crate::memory::{Lent, Memory};
use crate::pool::Pool;
use crate::prepare::{Cases, Preparer, shape_text};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use smalti_codegen::{Elem, Nest};
use smalti_dims::{Dim, Symbol};
use smalti_isa::Target;
use smalti_module::Module;
use smalti_program::{Bind, BufferId, Call, Loop, Place, Program, Rhs, Step, View};
use smalti_ukernels::Host;

/// A tensor that a run is given: row-major, little-endian.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Its elements' type.
    pub elem: Elem,
    /// Its dims.
    pub shape: &'a [usize],
    /// Its elements.
    pub bytes: &'a [u8],
}

/// A tensor that a run gives.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    /// Its name in the model.
    pub name: &'a str,
    /// Its elements' type.
    pub elem: Elem,
    /// Its dims.
    pub shape: &'a [usize],
    /// Its elements.
    pub bytes: &'a [u8],
}

/// A step with what was made of it.
enum Exec {
    Call(Box<CallState>),
    Branch { condition: BufferId, yes: Vec<Exec>, no: Vec<Exec> },
    Loop { step: Loop, body: Vec<Exec> },
    BindDim { symbol: Symbol, value: Bind },
    Check { node: String, left: Dim, right: Dim },
}

struct CallState {
    name: String,
    call: Call,
    /// Symbols that the call depends on.
    symbols: Vec<Symbol>,
    cases: Cases,
}

/// A program with its memory.
pub struct Session {
    program: Arc<Program>,
    host: Host,
    code: Code,
    notes: Vec<String>,
    pool: Arc<dyn Pool>,
    steps: Vec<Exec>,
    values: Vec<Option<i64>>,
    constants: Vec<Lent>,
    once: Vec<Memory>,
    slots: Vec<Memory>,
    workers: Vec<WorkerCell>,
    staging: Memory,
    shapes: Vec<Vec<usize>>,
    inputs: InputBases,
    /// Inputs that were not aligned to their elements, copied.
    copies: Vec<Memory>,
    /// A run panicked: nothing is known of the steps.
    broken: bool,
}

impl Session {
    /// Loads a program: verifies it, makes machine code for its dispatches where this build can, and packs constants.
    ///
    /// # Errors
    /// The program is not well-formed, or for another machine.
    pub fn new(program: Arc<Program>, host: Host, pool: Arc<dyn Pool>) -> Result<Session, LoadError> {
        Session::with(program, host, pool, Code::new)
    }

    /// The same with every dispatch interpreted: slow, and free of machine code made here.
    ///
    /// # Errors
    /// The program is not well-formed, or for another machine.
    pub fn interpreted(program: Arc<Program>, host: Host, pool: Arc<dyn Pool>) -> Result<Session, LoadError> {
        Session::with(program, host, pool, |_, _| (Code::Interpreter, Vec::new()))
    }

    /// Loads the variant of a module that serves this machine best. With `native` its machine code is executed, which is
    /// as safe as the file is trustworthy; without, code is made from its dispatches where this build can, or they are
    /// interpreted.
    ///
    /// # Errors
    /// No variant runs here, or what is wrong with its program.
    pub fn load(module: &Module, host: Host, pool: Arc<dyn Pool>, native: bool) -> Result<Session, LoadError> {
        let best = module.best(host.target()).ok_or_else(|| LoadError::NoVariant {
            targets: module.variants.iter().map(|v| v.target.to_string()).collect(),
            machine: host.target().to_string(),
        })?;
        let variant = &module.variants[best];
        let program = Arc::new(variant.program()?);
        let file = variant.code.as_ref().filter(|_| native);
        Session::with(program, host, pool, |nests, target| match file.map(Code::of) {
            Some(Ok(code)) => {
                let interpreted = (0..nests.len()).filter(|&i| code.entry(i as u32).is_none()).count();
                let note = format!("{interpreted} of {} dispatches have no machine code in the file", nests.len());
                let notes = if interpreted > 0 { vec![note + "; they are interpreted"] } else { Vec::new() };
                (code, notes)
            }
            Some(Err(note)) => {
                let (code, mut notes) = Code::new(nests, target);
                notes.insert(0, note);
                (code, notes)
            }
            None => Code::new(nests, target),
        })
    }

    fn with(
        program: Arc<Program>,
        host: Host,
        pool: Arc<dyn Pool>,
        code: impl FnOnce(&[Nest], &Target) -> (Code, Vec<String>),
    ) -> Result<Session, LoadError> {
        program.verify()?;
        if !host.target().runs(&program.target) {
            return Err(LoadError::Target { program: program.target.to_string(), machine: host.target().to_string() });
        }
        let nests: Vec<_> = program.nests.iter().map(smalti_codegen::math::expand).collect();
        let (code, mut notes) = code(&nests, host.target());
        let generic = program.generic();
        if !generic.is_empty() {
            let names = generic.join(", ");
            notes.push(format!("{} products run generic code, which is slow: {names}", generic.len()));
        }
        // The interpreter takes nests as machine code does: without functions of f32.
        let program = Arc::new(Program { nests, ..(*program).clone() });
        let count = |pick: fn(&Place) -> Option<u32>| {
            program.buffers.iter().filter_map(|b| pick(&b.place)).max().map_or(0, |m| m as usize + 1)
        };
        let memories = |n: usize| (0..n).map(|_| Memory::default()).collect::<Vec<_>>();
        let mut session = Session {
            values: vec![None; program.symbols.len()],
            constants: program.constants.iter().map(|c| Lent::new(&c.bytes)).collect(),
            once: memories(count(|p| if let Place::Once(i) = p { Some(*i) } else { None })),
            slots: memories(count(|p| if let Place::Slot(i) = p { Some(*i) } else { None })),
            workers: (0..pool.workers()).map(|_| WorkerCell::default()).collect(),
            staging: Memory::default(),
            shapes: program.outputs.iter().map(|_| Vec::new()).collect(),
            inputs: InputBases::default(),
            copies: memories(program.inputs.len()),
            broken: false,
            steps: execs(&program, &program.steps),
            program,
            host,
            code,
            notes,
            pool,
        };
        session.forget();
        session.allow_once()?;
        let mut once = execs(&session.program, &session.program.once);
        session.steps(&mut once)?;
        Ok(session)
    }

    /// Symbols have no values but what the machine gives.
    fn forget(&mut self) {
        self.values.fill(None);
        if let Some(s) = self.program.vscale {
            self.values[s.0 as usize] = self.host.target().vlen.map(|vlen| i64::from(vlen / 128));
        }
    }

    /// Refuses a program whose constants would grow out of all proportion when they are packed: panels of few columns
    /// are padded, but not without end.
    fn allow_once(&self) -> Result<(), LoadError> {
        let constants: usize = self.program.constants.iter().map(|c| c.bytes.len()).sum();
        let vscale = self.host.target().vlen.map_or(1, |vlen| usize::from(vlen / 128));
        let most = constants.saturating_mul(64).saturating_mul(vscale).saturating_add(1 << 20);
        let mut packed = 0usize;
        for buffer in self.program.buffers.iter().filter(|b| matches!(b.place, Place::Once(_))) {
            let preparer = Preparer { program: &self.program, values: &self.values, host: &self.host };
            let len = preparer.size("packed constants", &buffer.len)?;
            packed = packed.saturating_add(len.saturating_mul(buffer.elem.size()));
        }
        if packed > most { Err(LoadError::Packed { constants, packed, most }) } else { Ok(()) }
    }

    /// The program, its nests without functions of f32.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The machine code of its dispatches.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// What runs slower than it could, and why: dispatches without machine code, products of generic code.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Runs the program on tensors in the order of its inputs. The results are [`Session::output`]'s until the next
    /// run.
    ///
    /// # Errors
    /// An input that does not fit, or sizes that contradict each other.
    pub fn run(&mut self, inputs: &[Input<'_>]) -> Result<(), RunError> {
        let program = self.program.clone();
        if inputs.len() != program.inputs.len() {
            return Err(RunError::Inputs { expected: program.inputs.len(), found: inputs.len() });
        }
        self.forget();
        self.inputs.clear();
        for (i, (port, input)) in program.inputs.iter().zip(inputs).enumerate() {
            let wrong = |reason: String| RunError::Input { name: port.name.clone(), reason };
            let elem = program.buffer(port.buffer).elem;
            if input.elem != elem || input.shape.len() != port.shape.len() {
                let wanted: Vec<String> = port.shape.iter().map(|d| program.symbols.text(d)).collect();
                let found = shape_text(input.shape);
                return Err(wrong(format!("is {}{found}, the model wants {elem}[{}]", input.elem, wanted.join(","))));
            }
            let len = input.shape.iter().try_fold(elem.size(), |p, &d| p.checked_mul(d));
            if len != Some(input.bytes.len()) {
                let found = shape_text(input.shape);
                return Err(wrong(format!("has {} bytes, which are not those of {elem}{found}", input.bytes.len())));
            }
            for (d, (dim, &size)) in port.shape.iter().zip(input.shape).enumerate() {
                let size = size as i64;
                match dim.as_symbol() {
                    Some(s) if self.values[s.0 as usize].is_none() => self.values[s.0 as usize] = Some(size),
                    _ => {
                        let wanted = dim.eval(&self.values).ok();
                        if wanted != Some(size) {
                            let text = program.symbols.text(dim);
                            let value = wanted.map_or(String::new(), |v| format!(" = {v}"));
                            let value = if dim.int().is_some() { String::new() } else { value };
                            let found = shape_text(input.shape);
                            let list: Vec<String> = port.shape.iter().map(|d| program.symbols.text(d)).collect();
                            return Err(wrong(format!(
                                "is {elem}{found}, the model wants {elem}[{}]: dim {d} must be {text}{value}, it is {size}",
                                list.join(",")
                            )));
                        }
                    }
                }
            }
            if input.bytes.as_ptr().addr().is_multiple_of(elem.size()) {
                self.inputs.push(input.bytes);
            } else {
                let copy = &mut self.copies[i];
                copy.reserve(input.bytes.len());
                copy.bytes_mut()[..input.bytes.len()].copy_from_slice(input.bytes);
                self.inputs.push(&copy.bytes()[..input.bytes.len()]);
            }
        }
        if core::mem::replace(&mut self.broken, true) {
            return Err(RunError::Broken);
        }
        let mut steps = core::mem::take(&mut self.steps);
        let result = self.steps(&mut steps);
        self.steps = steps;
        self.broken = false;
        result?;
        for (port, shape) in program.outputs.iter().zip(&mut self.shapes) {
            shape.clear();
            for dim in &port.shape {
                let preparer = Preparer { program: &program, values: &self.values, host: &self.host };
                shape.push(preparer.size(&port.name, dim)?);
            }
            // An output that lies in an input's or a constant's memory has no copy of its own: the compiler makes one.
        }
        Ok(())
    }

    /// Output number `i` of the last run.
    pub fn output(&self, i: usize) -> Option<Output<'_>> {
        let port = self.program.outputs.get(i)?;
        let shape = &self.shapes[i];
        let buffer = self.program.buffer(port.buffer);
        let len = shape.iter().product::<usize>() * buffer.elem.size();
        let bytes = match buffer.place {
            Place::Slot(s) => self.slots[s as usize].bytes(),
            Place::Once(s) => self.once[s as usize].bytes(),
            Place::Constant(s) => self.constants[s as usize].bytes(),
            Place::Input(_) => return None,
        };
        Some(Output { name: &port.name, elem: buffer.elem, shape, bytes: bytes.get(..len)? })
    }

    /// All outputs of the last run.
    pub fn outputs(&self) -> impl Iterator<Item = Output<'_>> {
        (0..self.program.outputs.len()).filter_map(|i| self.output(i))
    }

    fn bases(&mut self) -> Bases<'_> {
        Bases {
            program: &self.program,
            inputs: &self.inputs,
            constants: &self.constants,
            once: &mut self.once,
            slots: &mut self.slots,
        }
    }

    fn reserve(&mut self, id: BufferId, bytes: usize) {
        match self.program.buffer(id).place {
            Place::Slot(s) => self.slots[s as usize].reserve(bytes),
            Place::Once(s) => self.once[s as usize].reserve(bytes),
            _ => {}
        }
    }

    fn reserve_whole(&mut self, id: BufferId, node: &str) -> Result<usize, RunError> {
        let program = self.program.clone();
        let preparer = Preparer { program: &program, values: &self.values, host: &self.host };
        let len = preparer.size(node, &program.buffer(id).len)?;
        let bytes = len.checked_mul(program.buffer(id).elem.size()).filter(|&b| b <= isize::MAX as usize / 2);
        let bytes = bytes.ok_or_else(|| RunError::Size {
            node: node.to_owned(),
            what: program.symbols.text(&program.buffer(id).len),
            value: "more than memory can hold".to_owned(),
        })?;
        self.reserve(id, bytes);
        Ok(bytes)
    }

    fn steps(&mut self, steps: &mut [Exec]) -> Result<(), RunError> {
        for step in steps {
            match step {
                Exec::Call(state) => self.call(state)?,
                Exec::Branch { condition, yes, no } => {
                    let chosen = if self.flag(*condition)? { yes } else { no };
                    self.steps(chosen)?;
                }
                Exec::Loop { step, body } => self.rounds(step, body)?,
                Exec::BindDim { symbol, value } => {
                    let value = match value {
                        Bind::Dim(dim) => self.eval("bind", dim)?,
                        Bind::Element(buffer, i) => self.element(*buffer, *i as usize)?,
                    };
                    self.values[symbol.0 as usize] = Some(value);
                }
                Exec::Check { node, left, right } => {
                    let (a, b) = (self.eval(node, left)?, self.eval(node, right)?);
                    if a != b {
                        return Err(RunError::Check {
                            node: node.clone(),
                            left: self.program.symbols.text(left),
                            left_value: a,
                            right: self.program.symbols.text(right),
                            right_value: b,
                        });
                    }
                }
            }
        }
        Ok(())
    }

    fn eval(&self, node: &str, dim: &Dim) -> Result<i64, RunError> {
        dim.eval(&self.values).map_err(|e| RunError::Size {
            node: node.to_owned(),
            what: self.program.symbols.text(dim),
            value: e.to_string(),
        })
    }

    /// The first element of a bool buffer.
    fn flag(&mut self, buffer: BufferId) -> Result<bool, RunError> {
        Ok(self.element(buffer, 0)? != 0)
    }

    fn element(&mut self, buffer: BufferId, i: usize) -> Result<i64, RunError> {
        let elem = self.program.buffer(buffer).elem;
        let len = self.eval("bind", &self.program.buffer(buffer).len)?;
        if i as i64 >= len {
            return Err(RunError::Bounds {
                node: "bind".to_owned(),
                operand: 0,
                at: i as i128,
                len: len.max(0) as usize,
            });
        }
        let size = elem.size();
        let mut word = [0; 8];
        word[..size].copy_from_slice(&self.bases().bytes(buffer, (i + 1) * size)[i * size..]);
        let shift = 64 - 8 * size as u32;
        let raw = i64::from_le_bytes(word) << shift;
        Ok(if elem.is_signed() { raw >> shift } else { ((raw as u64) >> shift) as i64 })
    }

    fn call(&mut self, state: &mut CallState) -> Result<(), RunError> {
        let value = |i: usize| self.values[state.symbols[i].0 as usize].unwrap_or(i64::MIN);
        let case = match state.cases.find(value) {
            Some(case) => case,
            None => {
                let key = (0..state.symbols.len()).map(value).collect();
                let preparer = Preparer { program: &self.program, values: &self.values, host: &self.host };
                let prepared = preparer.call(&state.call)?;
                state.cases.keep(key, prepared)
            }
        };
        let (prepared, needs) = state.cases.get(case);
        for &(id, bytes) in &needs.written {
            self.reserve(id, bytes);
        }
        for worker in &mut self.workers {
            let worker = worker.get_mut();
            worker.scratch.reserve(needs.scratch);
            worker.batches.clear();
            worker.batches.reserve(needs.batches);
        }
        let mut bases = Bases {
            program: &self.program,
            inputs: &self.inputs,
            constants: &self.constants,
            once: &mut self.once,
            slots: &mut self.slots,
        };
        call::run(&state.name, prepared, &mut bases, &self.code, &self.workers, &*self.pool)
    }

    fn rounds(&mut self, step: &Loop, body: &mut [Exec]) -> Result<(), RunError> {
        let most = match step.most {
            Some(buffer) => self.element(buffer, 0)?.max(0),
            None => i64::MAX,
        };
        let mut go = match step.begin {
            Some(buffer) => self.flag(buffer)?,
            None => true,
        };
        if let Some(s) = step.rounds {
            self.values[s.0 as usize] = Some(most);
        }
        self.reserve(step.round, 8);
        self.reserve(step.go, 1);
        let mut round = 0i64;
        while go && round < most {
            let mut bases = self.bases();
            bases.bytes_mut(step.round, 8).copy_from_slice(&round.to_le_bytes());
            bases.bytes_mut(step.go, 1)[0] = 1;
            self.steps(body)?;
            go = self.flag(step.next)?;
            for &(from, to) in &step.stacked {
                let bytes = self.reserve_whole(from, "loop")?;
                // Memory follows the rounds that are run, not the greatest number of them.
                let offset = bytes.saturating_mul(round as usize);
                self.reserve(to, offset.saturating_add(bytes));
                self.bases().copy(from, to, offset, bytes);
            }
            // All carried values are read before any is written.
            let mut total = 0;
            for &(from, _) in &step.carried {
                let bytes = self.reserve_whole(from, "loop")?;
                self.staging.reserve(total + bytes);
                let mut staging = core::mem::take(&mut self.staging);
                staging.bytes_mut()[total..total + bytes].copy_from_slice(self.bases().bytes(from, bytes));
                self.staging = staging;
                total += bytes;
            }
            let mut at = 0;
            for &(from, to) in &step.carried {
                let bytes = self.reserve_whole(from, "loop")?;
                self.reserve(to, bytes);
                let staging = core::mem::take(&mut self.staging);
                self.bases().bytes_mut(to, bytes).copy_from_slice(&staging.bytes()[at..at + bytes]);
                self.staging = staging;
                at += bytes;
            }
            round += 1;
        }
        if let Some(s) = step.rounds {
            self.values[s.0 as usize] = Some(round);
        }
        // What comes later reads these whole, however many rounds there were.
        for &(_, to) in step.stacked.iter().chain(&step.carried) {
            self.reserve_whole(to, "loop")?;
        }
        Ok(())
    }
}

fn execs(program: &Program, steps: &[Step]) -> Vec<Exec> {
    steps
        .iter()
        .map(|step| match step {
            Step::Call(call) => {
                let mut symbols = Vec::new();
                dims(program, call, &mut |d| d.symbols(&mut |s| symbols.push(s)));
                symbols.sort_unstable();
                symbols.dedup();
                let name = match call {
                    Call::Dispatch(d) => d.name.clone(),
                    Call::Matmul(m) => m.name.clone(),
                    Call::Conv(c) => c.name.clone(),
                    Call::Pack(p) => p.name.clone(),
                    Call::Dims { .. } => "dims".to_owned(),
                };
                Exec::Call(Box::new(CallState { name, call: call.clone(), symbols, cases: Cases::default() }))
            }
            Step::Branch { condition, yes, no } => {
                Exec::Branch { condition: *condition, yes: execs(program, yes), no: execs(program, no) }
            }
            Step::Loop(l) => Exec::Loop { step: l.clone(), body: execs(program, &l.body) },
            Step::BindDim { symbol, value } => Exec::BindDim { symbol: *symbol, value: value.clone() },
            Step::Check { node, left, right } => {
                Exec::Check { node: node.clone(), left: left.clone(), right: right.clone() }
            }
        })
        .collect()
}

/// Every dim that a call depends on, the lengths of its buffers among them.
fn dims(program: &Program, call: &Call, visit: &mut dyn FnMut(&Dim)) {
    let view = |v: &View, visit: &mut dyn FnMut(&Dim)| {
        visit(&program.buffer(v.buffer).len);
        visit(&v.offset);
        v.strides.iter().for_each(&mut *visit);
    };
    match call {
        Call::Dispatch(d) => {
            d.extents.iter().for_each(&mut *visit);
            d.operands.iter().for_each(|v| view(v, visit));
        }
        Call::Matmul(m) => {
            m.batch.iter().chain([&m.m, &m.n, &m.k]).for_each(&mut *visit);
            view(&m.lhs, visit);
            view(&m.out, visit);
            match &m.rhs {
                Rhs::InPlace(v) => view(v, visit),
                Rhs::Panels(v) => view(v, visit),
            }
            m.epilogue.iter().flat_map(|e| &e.operands).for_each(|v| view(v, visit));
        }
        Call::Conv(c) => {
            [&c.n, &c.input[0], &c.input[1], &program.buffer(c.weights).len].into_iter().for_each(&mut *visit);
            view(&c.x, visit);
            c.epilogue.operands.iter().for_each(|v| view(v, visit));
        }
        Call::Pack(p) => {
            p.batch.iter().chain([&p.t0, &p.rows, &p.cols, &p.panel, &p.offset, &p.batch_stride]).for_each(&mut *visit);
            view(&p.src, visit);
            visit(&program.buffer(p.out).len);
        }
        Call::Dims { out, values } => {
            visit(&program.buffer(*out).len);
            values.iter().for_each(visit);
        }
    }
}
