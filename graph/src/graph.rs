//! Graphs, blocks, nodes, and how they are built.

use crate::ops::{self, OpDef};
use crate::{Tensor, Type};
use smalti_codegen::Elem;
use smalti_dims::{Dim, Symbol, Symbols};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The number of a value, unique in a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueId(pub u32);

/// A graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// Its name.
    pub name: String,
    /// Names of the symbols of dims.
    pub symbols: Symbols,
    /// Every value of every block, by number.
    pub values: Vec<ValueInfo>,
    /// Its nodes.
    pub body: Block,
    /// Symbols that stand for elements of values: bound when the value is there.
    pub bindings: Vec<Binding>,
    /// Equalities that shape rules have taken for granted: to be checked at run time.
    pub checks: Vec<Check>,
}

/// What is known of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueInfo {
    /// Its name in the model, or empty.
    pub name: String,
    /// Its type and, of small integer tensors, its elements.
    pub fact: Fact,
}

/// A type and, of integer tensors of few elements, each element as an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The type.
    pub ty: Type,
    /// The elements in row-major order.
    pub known: Option<Vec<Dim>>,
}

/// `symbol` is element `index` of `value`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// The symbol.
    pub symbol: Symbol,
    /// An integer tensor.
    pub value: ValueId,
    /// Which element.
    pub index: usize,
}

/// Two dims that must be equal at run time.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// The node that needs it.
    pub node: String,
    /// One dim.
    pub left: Dim,
    /// The other.
    pub right: Dim,
}

/// Nodes in the order in which they run.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Block {
    /// Values that come from outside.
    pub inputs: Vec<ValueId>,
    /// The nodes.
    pub nodes: Vec<Node>,
    /// Values that go outside.
    pub outputs: Vec<ValueId>,
}

/// A block inside a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// Values of the enclosing block, and the values that stand for them inside.
    pub captures: Vec<(ValueId, ValueId)>,
    /// The block. Its inputs are the node's own, without captures.
    pub block: Block,
}

/// One operation.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name in the model.
    pub name: String,
    /// What it does.
    pub op: &'static OpDef,
    /// How.
    pub attrs: Attrs,
    /// What it reads; an absent optional input is `None`.
    pub inputs: Vec<Option<ValueId>>,
    /// What it makes.
    pub outputs: Vec<ValueId>,
    /// Its blocks.
    pub regions: Vec<Region>,
}

impl PartialEq for Node {
    fn eq(&self, other: &Node) -> bool {
        self.op.name == other.op.name
            && (&self.name, &self.attrs, &self.inputs) == (&other.name, &other.attrs, &other.inputs)
            && (&self.outputs, &self.regions) == (&other.outputs, &other.regions)
    }
}

/// An attribute.
#[derive(Clone, Debug, PartialEq)]
pub enum Attr {
    /// An integer or a truth value.
    Int(i64),
    /// Integers.
    Ints(Vec<i64>),
    /// A number.
    Float(f32),
    /// A word.
    Word(String),
    /// An element type.
    Elem(Elem),
    /// A tensor.
    Tensor(Arc<Tensor>),
}

/// Attributes by name.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Attrs(pub BTreeMap<String, Attr>);

impl Attrs {
    /// No attributes.
    pub fn none() -> Attrs {
        Attrs::default()
    }

    /// These attributes and one more.
    #[must_use]
    pub fn with(mut self, name: &str, attr: Attr) -> Attrs {
        self.0.insert(name.to_owned(), attr);
        self
    }

    /// An integer; `default` where it is absent.
    pub fn int(&self, name: &str, default: i64) -> i64 {
        match self.0.get(name) {
            Some(Attr::Int(i)) => *i,
            _ => default,
        }
    }

    /// Integers; none where they are absent.
    pub fn ints(&self, name: &str) -> &[i64] {
        match self.0.get(name) {
            Some(Attr::Ints(i)) => i,
            _ => &[],
        }
    }

    /// A number; `default` where it is absent.
    pub fn float(&self, name: &str, default: f32) -> f32 {
        match self.0.get(name) {
            Some(Attr::Float(x)) => *x,
            _ => default,
        }
    }

    /// A word; empty where it is absent.
    pub fn word(&self, name: &str) -> &str {
        match self.0.get(name) {
            Some(Attr::Word(w)) => w,
            _ => "",
        }
    }

    /// An element type; f32 where it is absent.
    pub fn elem(&self, name: &str) -> Elem {
        match self.0.get(name) {
            Some(Attr::Elem(e)) => *e,
            _ => Elem::F32,
        }
    }

    /// A tensor.
    pub fn tensor(&self, name: &str) -> Option<&Arc<Tensor>> {
        match self.0.get(name) {
            Some(Attr::Tensor(t)) => Some(t),
            _ => None,
        }
    }
}

/// What a node's inputs contradict, or a graph lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// The inputs' types or shapes don't fit the operation.
    #[error("{op} '{node}': {reason} (inputs: {inputs})")]
    Node {
        /// The operation.
        op: String,
        /// The node's name.
        node: String,
        /// What does not fit.
        reason: String,
        /// The types of all inputs.
        inputs: String,
    },
    /// The graph is not well-formed.
    #[error("graph: {0}")]
    Verify(String),
    /// A text that is no graph.
    #[error(transparent)]
    Syntax(#[from] smalti_codegen::lexer::SyntaxError),
}

/// Integer tensors of up to so many elements are followed as expressions.
const FOLLOWED: usize = 64;

impl Fact {
    /// A type of which nothing more is known.
    pub fn of(ty: Type) -> Fact {
        Fact { ty, known: None }
    }

    /// A tensor type of which nothing more is known.
    pub fn tensor(elem: Elem, shape: impl IntoIterator<Item = Dim>) -> Fact {
        Fact::of(Type::tensor(elem, shape))
    }

    /// All that is known of a constant.
    pub fn constant(tensor: &Tensor) -> Fact {
        let fact = Fact::tensor(tensor.elem, tensor.shape.iter().map(|&d| Dim::from(d)));
        let follow = tensor.elem.is_int() && tensor.len() <= FOLLOWED;
        Fact { known: follow.then(|| tensor.ints().into_iter().map(Dim::from).collect()), ..fact }
    }

    /// The element type, where it is a tensor.
    pub fn elem(&self) -> Result<Elem, String> {
        match &self.ty {
            Type::Tensor { elem, .. } => Ok(*elem),
            _ => Err("a tensor is needed".to_owned()),
        }
    }

    /// The dims, where it is a tensor.
    pub fn shape(&self) -> Result<&[Dim], String> {
        match &self.ty {
            Type::Tensor { shape, .. } => Ok(shape),
            _ => Err("a tensor is needed".to_owned()),
        }
    }
}

/// What a shape rule sees and may add to.
pub struct Infer<'a> {
    /// The node's name.
    pub node: &'a str,
    /// The node's attributes.
    pub attrs: &'a Attrs,
    /// The node's regions.
    pub regions: &'a [Region],
    ids: &'a [Option<ValueId>],
    values: &'a mut Vec<ValueInfo>,
    /// Symbols of dims.
    pub symbols: &'a mut Symbols,
    bindings: &'a mut Vec<Binding>,
    checks: &'a mut Vec<Check>,
}

impl Infer<'_> {
    /// Whether a dim's form shows that it is not negative: elements of tensors may be.
    pub fn is_size(&self, dim: &Dim) -> bool {
        dim.is_size(&|s| !self.is_bound(s))
    }

    /// How many inputs there are, absent ones counted.
    pub fn inputs(&self) -> usize {
        self.ids.len()
    }

    /// Whether input `i` is there.
    pub fn has(&self, i: usize) -> bool {
        self.ids.get(i).is_some_and(Option::is_some)
    }

    /// What is known of input `i`.
    ///
    /// # Errors
    /// It is absent.
    pub fn input(&self, i: usize) -> Result<&Fact, String> {
        match self.ids.get(i).copied().flatten() {
            Some(id) => Ok(self.fact(id)),
            None => Err(format!("input {i} is missing")),
        }
    }

    /// What is known of a value.
    pub fn fact(&self, id: ValueId) -> &Fact {
        &self.values[id.0 as usize].fact
    }

    /// The dims of input `i`.
    ///
    /// # Errors
    /// It is absent or no tensor.
    pub fn shape(&self, i: usize) -> Result<Vec<Dim>, String> {
        self.input(i)?.shape().map(<[Dim]>::to_vec)
    }

    /// The element type of input `i`.
    ///
    /// # Errors
    /// It is absent or no tensor.
    pub fn elem(&self, i: usize) -> Result<Elem, String> {
        self.input(i)?.elem()
    }

    /// The elements of integer input `i`. What is not known gets symbols that are bound at run time.
    ///
    /// # Errors
    /// It has too many elements, or a number of them that is not known.
    pub fn elements(&mut self, i: usize) -> Result<Vec<Dim>, String> {
        let fact = self.input(i)?;
        if let Some(known) = &fact.known {
            return Ok(known.clone());
        }
        if !fact.elem()?.is_int() {
            return Err(format!("input {i} must be an integer tensor"));
        }
        let count = smalti_dims::product(fact.shape()?).size().filter(|&n| n <= FOLLOWED);
        let count = count.ok_or(format!("input {i} must have a fixed number of elements, at most {FOLLOWED}"))?;
        let value = self.ids[i].expect("the input is there");
        let hint = Symbols::clean(&self.values[value.0 as usize].name);
        let mut known = Vec::new();
        for index in 0..count {
            let symbol = self.symbols.fresh(&format!("{hint}.{index}"));
            self.bindings.push(Binding { symbol, value, index });
            known.push(Dim::symbol(symbol));
        }
        self.values[value.0 as usize].fact.known = Some(known.clone());
        Ok(known)
    }

    /// Whether a symbol stands for an element of a value.
    pub fn is_bound(&self, symbol: Symbol) -> bool {
        self.bindings.iter().any(|b| b.symbol == symbol)
    }

    /// Takes two dims for equal: now, if they are integers, else at run time. Gives the simpler one.
    ///
    /// # Errors
    /// They differ.
    pub fn equal(&mut self, what: &str, left: &Dim, right: &Dim) -> Result<Dim, String> {
        let difference = left.clone() - right.clone();
        if difference.is_too_long() {
            return Err(format!("{what} are too long expressions of sizes that are known at run time only"));
        }
        match difference.int() {
            Some(0) => {}
            Some(_) => {
                let (left, right) = (self.symbols.text(left), self.symbols.text(right));
                return Err(format!("{what} differ: {left} and {right}"));
            }
            None => {
                self.checks.push(Check { node: self.node.to_owned(), left: left.clone(), right: right.clone() });
            }
        }
        Ok(if left.int().is_some() { left } else { right }.clone())
    }

    /// The shape of two shapes broadcast together, as ONNX and NumPy do. Where it is not known whether a dim is 1, the
    /// result's dim is decided, and checked, at run time.
    ///
    /// # Errors
    /// Two dims differ and neither is 1.
    pub fn broadcast(&mut self, a: &[Dim], b: &[Dim]) -> Result<Vec<Dim>, String> {
        let rank = a.len().max(b.len());
        let one = Dim::from(1i64);
        let mut shape = Vec::with_capacity(rank);
        for d in 0..rank {
            let at = |s: &[Dim]| (d + s.len()).checked_sub(rank).map_or(one.clone(), |i| s[i].clone());
            let (x, y) = (at(a), at(b));
            shape.push(if x.is(1) || x == y {
                y
            } else if y.is(1) {
                x
            } else if x.int().is_some() && y.int().is_some() {
                self.equal("broadcast dims", &x, &y)?
            } else {
                let dim = if x.int().is_some() {
                    x.clone()
                } else if y.int().is_some() {
                    y.clone()
                } else {
                    Dim::choose(&x, &one, &y, &x)
                };
                for side in [&x, &y] {
                    self.equal("broadcast dims", &Dim::choose(side, &one, &dim, side), &dim)?;
                }
                dim
            });
        }
        Ok(shape)
    }

    /// `axis`, counted from the end where it is negative.
    ///
    /// # Errors
    /// It lies outside `rank`.
    pub fn axis(&self, axis: i64, rank: usize) -> Result<usize, String> {
        ops::axis(axis, rank)
    }
}

impl Graph {
    /// A graph without inputs, nodes and outputs.
    pub fn new(name: impl Into<String>) -> Graph {
        Graph {
            name: name.into(),
            symbols: Symbols::default(),
            values: Vec::new(),
            body: Block::default(),
            bindings: Vec::new(),
            checks: Vec::new(),
        }
    }

    /// A new value.
    pub fn value(&mut self, name: impl Into<String>, fact: Fact) -> ValueId {
        self.values.push(ValueInfo { name: name.into(), fact });
        ValueId(self.values.len() as u32 - 1)
    }

    /// What is known of a value.
    pub fn fact(&self, id: ValueId) -> &Fact {
        &self.values[id.0 as usize].fact
    }

    /// The type of a value in words.
    pub fn type_text(&self, id: ValueId) -> String {
        self.fact(id).ty.text(&self.symbols)
    }

    /// Runs a shape rule, or a part of one, on an existing node.
    ///
    /// # Errors
    /// Those of the rule.
    pub fn infer<T>(
        &mut self,
        node: &Node,
        rule: impl FnOnce(&mut Infer<'_>) -> Result<T, String>,
    ) -> Result<T, String> {
        rule(&mut Infer {
            node: &node.name,
            attrs: &node.attrs,
            regions: &node.regions,
            ids: &node.inputs,
            values: &mut self.values,
            symbols: &mut self.symbols,
            bindings: &mut self.bindings,
            checks: &mut self.checks,
        })
    }

    /// Makes a node, with the outputs that its shape rule says.
    ///
    /// # Errors
    /// The inputs don't fit the operation.
    pub fn node(
        &mut self,
        name: &str,
        op: &'static OpDef,
        attrs: Attrs,
        inputs: Vec<Option<ValueId>>,
        regions: Vec<Region>,
    ) -> Result<Node, GraphError> {
        let mut infer = Infer {
            node: name,
            attrs: &attrs,
            regions: &regions,
            ids: &inputs,
            values: &mut self.values,
            symbols: &mut self.symbols,
            bindings: &mut self.bindings,
            checks: &mut self.checks,
        };
        let facts = (op.infer)(&mut infer).and_then(|mut facts| {
            for fact in &mut facts {
                fact.ty.check(infer.symbols)?;
                fact.known = fact.known.take().filter(|k| !k.iter().any(Dim::is_too_long));
            }
            Ok(facts)
        });
        let facts = facts.map_err(|reason| {
            let types = inputs.iter().map(|i| i.map_or("none".to_owned(), |i| self.type_text(i)));
            let inputs = types.collect::<Vec<_>>().join(", ");
            GraphError::Node { op: op.name.to_owned(), node: name.to_owned(), reason, inputs }
        })?;
        let outputs = facts.into_iter().map(|fact| self.value("", fact)).collect();
        Ok(Node { name: name.to_owned(), op, attrs, inputs, outputs, regions })
    }
}
