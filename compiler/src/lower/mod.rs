//! Tiled graphs to programs: every value gets a place, every node its steps.

mod control;
mod nests;
mod products;
mod slots;

use crate::Options;
use crate::error::CompileError;
use crate::ops;
pub(crate) use products::problem;
use smalti_codegen::{Elem, Nest};
use smalti_dims::{Dim, Symbol};
use smalti_graph::ops::slice::Taken;
use smalti_graph::{Block, Check, Graph, Node, Tensor, Type, ValueId};
use smalti_program::{Bind, Buffer, BufferId, Call, Constant, Dispatch, Place, Port, Program, Step, View};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Why a node can't be lowered.
#[derive(Clone, Debug)]
pub(crate) struct LowerError(pub(crate) String);

impl From<String> for LowerError {
    fn from(reason: String) -> LowerError {
        LowerError(reason)
    }
}

impl From<&str> for LowerError {
    fn from(reason: &str) -> LowerError {
        LowerError(reason.to_owned())
    }
}

/// Where a value lies: elements of a buffer, by strides.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Loc {
    pub(crate) buffer: BufferId,
    pub(crate) offset: Dim,
    pub(crate) strides: Vec<Dim>,
}

impl Loc {
    /// A view with other strides.
    pub(crate) fn view(&self, strides: Vec<Dim>) -> View {
        View { buffer: self.buffer, offset: self.offset.clone(), strides }
    }

    /// A value of `shape` read as one of `to`: stride 0 along dims that are broadcast, also where only the run shows
    /// that they are.
    pub(crate) fn broadcast(&self, shape: &[Dim], to: &[Dim]) -> Loc {
        let lead = to.len() - shape.len();
        let zero = Dim::from(0i64);
        let strides = (0..to.len())
            .map(|d| match d.checked_sub(lead) {
                Some(i) if shape[i] == to[d] => self.strides[i].clone(),
                Some(i) if !shape[i].is(1) => Dim::choose(&shape[i], &to[d], &self.strides[i], &zero),
                _ => zero.clone(),
            })
            .collect();
        Loc { strides, ..self.clone() }
    }
}

/// Row-major strides.
pub(crate) fn dense(shape: &[Dim]) -> Vec<Dim> {
    let mut strides = vec![Dim::from(1i64); shape.len()];
    for d in (1..shape.len()).rev() {
        strides[d - 1] = strides[d].clone() * shape[d].clone();
    }
    strides
}

/// Builds a program.
pub(crate) struct Lower<'a> {
    graph: &'a Graph,
    /// The same, for shape rules, which may add to a graph.
    rules: Graph,
    options: &'a Options,
    program: Program,
    locs: HashMap<ValueId, Loc>,
    /// Steps of the block at work.
    steps: Vec<Step>,
    /// The place of each constant tensor, by address.
    constants: HashMap<*const Tensor, BufferId>,
    once: u32,
    slots: u32,
    bound: HashSet<Symbol>,
    checks: Vec<Check>,
}

/// Lowers a tiled graph.
///
/// # Errors
/// A node that has no steps yet, with its name and the shapes of its inputs.
pub(crate) fn lower(graph: &Graph, options: &Options) -> Result<Program, CompileError> {
    let mut l = Lower {
        graph,
        rules: graph.clone(),
        options,
        program: Program {
            name: graph.name.clone(),
            target: options.target,
            symbols: graph.symbols.clone(),
            vscale: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            constants: Vec::new(),
            buffers: Vec::new(),
            nests: Vec::new(),
            once: Vec::new(),
            steps: Vec::new(),
        },
        locs: HashMap::new(),
        steps: Vec::new(),
        constants: HashMap::new(),
        once: 0,
        slots: 0,
        bound: HashSet::new(),
        checks: graph.checks.clone(),
    };
    l.inputs()?;
    l.block(&graph.body)?;
    l.outputs()?;
    l.program.steps = std::mem::take(&mut l.steps);
    let mut program = l.program;
    slots::share(&mut program);
    program.verify().map_err(|e| CompileError::Internal(e.to_string()))?;
    Ok(program)
}

impl Lower<'_> {
    fn inputs(&mut self) -> Result<(), CompileError> {
        for (i, &id) in self.graph.body.inputs.iter().enumerate() {
            let info = &self.graph.values[id.0 as usize];
            let Type::Tensor { elem, shape } = &info.fact.ty else {
                return Err(CompileError::UnsupportedNode {
                    op: "input".to_owned(),
                    node: info.name.clone(),
                    reason: "inputs that are no tensors".to_owned(),
                    inputs: self.graph.type_text(id),
                });
            };
            let buffer = self.buffer(*elem, smalti_dims::product(shape), Place::Input(i as u32));
            for dim in shape {
                self.bound.extend(dim.as_symbol());
            }
            self.program.inputs.push(Port { name: info.name.clone(), shape: shape.clone(), buffer });
            self.locs.insert(id, Loc { buffer, offset: Dim::from(0i64), strides: dense(shape) });
        }
        self.check_what_is_bound();
        for &id in &self.graph.body.inputs {
            self.bind(id).map_err(|e| CompileError::Internal(e.0))?;
        }
        Ok(())
    }

    /// Values that leave the program lie densely in slots of their own.
    fn outputs(&mut self) -> Result<(), CompileError> {
        let mut taken: HashSet<BufferId> = HashSet::new();
        for &id in &self.graph.body.outputs {
            let name = self.graph.values[id.0 as usize].name.clone();
            let internal = |e: LowerError| CompileError::UnsupportedNode {
                op: "output".to_owned(),
                node: name.clone(),
                reason: e.0,
                inputs: self.graph.type_text(id),
            };
            let shape = self.shape(id).map_err(internal)?;
            let loc = self.loc(id).map_err(internal)?;
            let elem = self.elem(id).map_err(internal)?;
            let buffer = self.program.buffer(loc.buffer);
            let own = matches!(buffer.place, Place::Slot(_)) && buffer.len == smalti_dims::product(&shape);
            let buffer = if own && loc.offset.is(0) && loc.strides == dense(&shape) && !taken.contains(&loc.buffer) {
                loc.buffer
            } else {
                let to = self.fresh(elem, &shape);
                self.copy(&name, elem, &shape, &loc, &to);
                to.buffer
            };
            taken.insert(buffer);
            self.program.outputs.push(Port { name, shape, buffer });
        }
        Ok(())
    }

    pub(crate) fn block(&mut self, block: &Block) -> Result<(), CompileError> {
        for node in &block.nodes {
            self.node(node)?;
        }
        Ok(())
    }

    fn node(&mut self, node: &Node) -> Result<(), CompileError> {
        let wrong = |graph: &Graph, reason: String| {
            let types = node.inputs.iter().map(|i| i.map_or("none".to_owned(), |i| graph.type_text(i)));
            CompileError::UnsupportedNode {
                op: node.op.name.to_owned(),
                node: node.name.clone(),
                reason,
                inputs: types.collect::<Vec<_>>().join(", "),
            }
        };
        let lowering = ops::lowering(node.op.name)
            .ok_or_else(|| CompileError::Internal(format!("{} is never lowered", node.op.name)))?;
        lowering(self, node).map_err(|e| wrong(self.graph, e.0))?;
        for &output in &node.outputs {
            self.bind(output).map_err(|e| wrong(self.graph, e.0))?;
        }
        Ok(())
    }

    /// Binds the symbols that stand for a value's elements.
    fn bind(&mut self, id: ValueId) -> Result<(), LowerError> {
        let bindings: Vec<_> = self.graph.bindings.iter().filter(|b| b.value == id).copied().collect();
        if bindings.is_empty() {
            return Ok(());
        }
        let loc = self.contiguous("bind", id)?;
        for b in bindings {
            let at = loc.offset.size().ok_or("a binding inside a view")? + b.index;
            let value = Bind::Element(loc.buffer, at as u32);
            self.steps.push(Step::BindDim { symbol: b.symbol, value });
            self.bound.insert(b.symbol);
        }
        self.check_what_is_bound();
        Ok(())
    }

    /// Emits the checks whose symbols all have values now.
    pub(crate) fn check_what_is_bound(&mut self) {
        let bound = &self.bound;
        let ready = |c: &Check| {
            let mut all = true;
            for dim in [&c.left, &c.right] {
                dim.symbols(&mut |s| all &= bound.contains(&s));
            }
            all
        };
        let (now, later): (Vec<Check>, Vec<Check>) = std::mem::take(&mut self.checks).into_iter().partition(ready);
        self.checks = later;
        for c in now {
            let step = Step::Check { node: c.node, left: c.left, right: c.right };
            if !self.steps.contains(&step) {
                self.steps.push(step);
            }
        }
    }

    pub(crate) fn shape(&self, id: ValueId) -> Result<Vec<Dim>, LowerError> {
        Ok(self.graph.fact(id).shape()?.to_vec())
    }

    pub(crate) fn elem(&self, id: ValueId) -> Result<Elem, LowerError> {
        Ok(self.graph.fact(id).elem()?)
    }

    pub(crate) fn known(&self, id: ValueId) -> Option<Vec<Dim>> {
        self.graph.fact(id).known.clone()
    }

    pub(crate) fn loc(&self, id: ValueId) -> Result<Loc, LowerError> {
        self.locs.get(&id).cloned().ok_or(LowerError(format!("value %{} has no place", id.0)))
    }

    pub(crate) fn set(&mut self, id: ValueId, loc: Loc) {
        self.locs.insert(id, loc);
    }

    fn buffer(&mut self, elem: Elem, len: Dim, place: Place) -> BufferId {
        self.program.buffers.push(Buffer { elem, len, place });
        BufferId(self.program.buffers.len() as u32 - 1)
    }

    /// New memory for a value of a run.
    pub(crate) fn fresh(&mut self, elem: Elem, shape: &[Dim]) -> Loc {
        let place = Place::Slot(self.slots);
        self.slots += 1;
        let buffer = self.buffer(elem, smalti_dims::product(shape), place);
        Loc { buffer, offset: Dim::from(0i64), strides: dense(shape) }
    }

    /// The machine's vector length / 128 bits.
    pub(crate) fn vscale(&mut self) -> Dim {
        let symbols = &mut self.program.symbols;
        Dim::symbol(*self.program.vscale.get_or_insert_with(|| symbols.fresh("vscale")))
    }

    /// New memory that is written once.
    pub(crate) fn fresh_once(&mut self, elem: Elem, len: Dim) -> BufferId {
        let place = Place::Once(self.once);
        self.once += 1;
        self.buffer(elem, len, place)
    }

    /// The place of a constant.
    pub(crate) fn constant(&mut self, tensor: &Arc<Tensor>, name: &str) -> Loc {
        let strides = Tensor::strides(&tensor.shape).into_iter().map(Dim::from).collect();
        if let Some(&buffer) = self.constants.get(&Arc::as_ptr(tensor)) {
            return Loc { buffer, offset: Dim::from(0i64), strides };
        }
        self.program.constants.push(Constant { name: name.to_owned(), bytes: tensor.bytes.clone().into() });
        let place = Place::Constant(self.program.constants.len() as u32 - 1);
        let buffer = self.buffer(tensor.elem, Dim::from(tensor.len()), place);
        self.constants.insert(Arc::as_ptr(tensor), buffer);
        Loc { buffer, offset: Dim::from(0i64), strides }
    }

    /// A constant of f64 numbers as another type.
    pub(crate) fn constant_as(&mut self, tensor: &Tensor, elem: Elem) -> Loc {
        let converted = if elem == Elem::F64 {
            tensor.clone()
        } else {
            let node = smalti_graph::ops::elementwise::CAST.eval;
            let attrs = smalti_graph::Attrs::none().with("to", smalti_graph::Attr::Elem(elem));
            let eval = smalti_graph::ops::Eval { attrs: &attrs, inputs: &[Some(tensor)], exact: false };
            node(&eval).ok().and_then(|t| t.into_iter().next()).unwrap_or_else(|| tensor.clone())
        };
        let strides = Tensor::strides(&converted.shape).into_iter().map(Dim::from).collect();
        let len = Dim::from(converted.len());
        self.program
            .constants
            .push(Constant { name: "made by the compiler".to_owned(), bytes: converted.bytes.into() });
        let place = Place::Constant(self.program.constants.len() as u32 - 1);
        Loc { buffer: self.buffer(elem, len, place), offset: Dim::from(0i64), strides }
    }

    /// A number of elements as one element of `elem`, with `rank` strides of 0: a constant, or made in the run.
    pub(crate) fn count(&mut self, name: &str, elem: Elem, count: Dim, rank: usize) -> View {
        let zeros = vec![Dim::from(0i64); rank];
        if let Some(n) = count.int() {
            return self.constant_as(&Tensor::f64([], &[n as f64]), elem).view(zeros);
        }
        let dims = self.fresh(Elem::I64, &[]);
        self.steps.push(Step::Call(Call::Dims { out: dims.buffer, values: vec![count] }));
        let to = self.fresh(elem, &[]);
        let nest = nests::cast(Elem::I64, elem);
        let (from, place) = (dims.view(vec![Dim::from(0i64)]), to.view(vec![Dim::from(0i64)]));
        self.dispatch(name, nest, vec![Dim::from(1i64)], vec![from, place]);
        to.view(zeros)
    }

    /// A value whose elements lie one after the other: as it is, or copied.
    pub(crate) fn contiguous(&mut self, name: &str, id: ValueId) -> Result<Loc, LowerError> {
        let (shape, loc) = (self.shape(id)?, self.loc(id)?);
        // The stride of a dim of extent 1 says nothing.
        let own = dense(&shape);
        if (0..shape.len()).all(|d| shape[d].is(1) || loc.strides[d] == own[d]) {
            return Ok(Loc { strides: own, ..loc });
        }
        let elem = self.elem(id)?;
        let to = self.fresh(elem, &shape);
        self.copy(name, elem, &shape, &loc, &to);
        Ok(to)
    }

    /// A nest of the program; equal ones are shared.
    pub(crate) fn nest(&mut self, nest: Nest) -> u32 {
        let at = self.program.nests.iter().position(|n| *n == nest);
        at.unwrap_or_else(|| {
            self.program.nests.push(nest);
            self.program.nests.len() - 1
        }) as u32
    }

    pub(crate) fn dispatch(&mut self, name: &str, nest: Nest, extents: Vec<Dim>, operands: Vec<View>) {
        let nest = self.nest(nest);
        let dispatch = Dispatch { name: name.to_owned(), nest, extents, operands };
        self.steps.push(Step::Call(Call::Dispatch(dispatch)));
    }

    /// An integer tensor whose elements are dims.
    pub(crate) fn dims(&mut self, node: &Node) -> Result<(), LowerError> {
        let out = node.outputs[0];
        let values = self.known(out).ok_or("dims without values")?;
        let to = self.fresh(self.elem(out)?, &self.shape(out)?);
        self.steps.push(Step::Call(Call::Dims { out: to.buffer, values }));
        self.set(out, to);
        Ok(())
    }

    /// Whether a dim's form shows that it is not negative.
    pub(crate) fn is_size(&self, dim: &Dim) -> bool {
        dim.is_size(&|s| !self.graph.bindings.iter().any(|b| b.symbol == s))
    }

    /// What a slice takes of each dim, by the shape rule's own arithmetic.
    pub(crate) fn taken(&mut self, node: &Node) -> Result<Vec<Taken>, LowerError> {
        // The rule may ask for symbols of elements that are not known; they were made when the node was.
        Ok(self.rules.infer(node, smalti_graph::ops::slice::taken)?)
    }
}
