//! Runs a graph by the references of its operations.

use crate::graph::{Block, Graph, Node, ValueId};
use crate::ops::Eval;
use crate::{Elem, Tensor, Type};
use std::collections::HashMap;

/// How references compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Floats as f64: the oracle.
    Exact,
    /// In the arithmetic of machine code.
    AsRun,
}

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// An operation refused its inputs.
    #[error("{op} '{node}': {reason}")]
    Node {
        /// The operation.
        op: String,
        /// The node.
        node: String,
        /// Why.
        reason: String,
    },
    /// An input that does not fit the graph.
    #[error("input '{name}': {reason}")]
    Input {
        /// The input.
        name: String,
        /// Why.
        reason: String,
    },
}

/// Sees each node of the graph's body with its outputs, in order, and may put others in their place.
pub type Observer<'a> = &'a mut dyn FnMut(&Node, &mut [Tensor]);

/// Runs `graph` on its inputs.
///
/// # Errors
/// A node that refuses its inputs, or an input of the wrong type.
pub fn run(graph: &Graph, inputs: &[Tensor], mode: Mode, observe: Observer<'_>) -> Result<Vec<Tensor>, RunError> {
    let mut machine = Machine { graph, mode, values: HashMap::new() };
    for (&id, tensor) in graph.body.inputs.iter().zip(inputs) {
        let name = graph.values[id.0 as usize].name.clone();
        let Type::Tensor { elem, shape } = &graph.fact(id).ty else {
            return Err(RunError::Input { name, reason: "is no tensor".to_owned() });
        };
        if *elem != tensor.elem || shape.len() != tensor.shape.len() {
            let reason = format!("is {}{:?}, the model wants {}", tensor.elem, tensor.shape, graph.type_text(id));
            return Err(RunError::Input { name, reason });
        }
        let tensor = if mode == Mode::Exact { tensor.promoted() } else { tensor.clone() };
        machine.values.insert(id, tensor);
    }
    machine.block(&graph.body, observe)
}

/// Runs one node on constants, as machine code would.
///
/// # Errors
/// The node refuses its inputs.
pub fn fold(node: &Node, inputs: &[Option<&Tensor>]) -> Result<Vec<Tensor>, String> {
    (node.op.eval)(&Eval { attrs: &node.attrs, inputs, exact: false })
}

struct Machine<'a> {
    graph: &'a Graph,
    mode: Mode,
    values: HashMap<ValueId, Tensor>,
}

impl Machine<'_> {
    fn block(&mut self, block: &Block, observe: Observer<'_>) -> Result<Vec<Tensor>, RunError> {
        for node in &block.nodes {
            let wrong = |reason| RunError::Node { op: node.op.name.to_owned(), node: node.name.clone(), reason };
            let mut outputs = match node.op.name {
                "if" => self.branch(node)?,
                "loop" => self.rounds(node)?,
                _ => {
                    let inputs = node
                        .inputs
                        .iter()
                        .map(|i| i.map(|i| self.value(i).map_err(wrong)).transpose())
                        .collect::<Result<Vec<_>, _>>()?;
                    let eval = Eval { attrs: &node.attrs, inputs: &inputs, exact: self.mode == Mode::Exact };
                    (node.op.eval)(&eval).map_err(wrong)?
                }
            };
            observe(node, &mut outputs);
            for (&id, tensor) in node.outputs.iter().zip(outputs) {
                self.values.insert(id, tensor);
            }
        }
        block
            .outputs
            .iter()
            .map(|&id| self.value(id).cloned().map_err(|reason| RunError::Input { name: String::new(), reason }))
            .collect()
    }

    fn value(&self, id: ValueId) -> Result<&Tensor, String> {
        self.values.get(&id).ok_or(format!("value %{} is used before it is made", id.0))
    }

    /// Runs a region's block with its captures in place.
    fn region(&mut self, node: &Node, which: usize, inputs: Vec<Tensor>) -> Result<Vec<Tensor>, RunError> {
        let wrong = |reason| RunError::Node { op: node.op.name.to_owned(), node: node.name.clone(), reason };
        let region = &node.regions[which];
        for &(outside, inside) in &region.captures {
            let tensor = self.value(outside).map_err(wrong)?.clone();
            self.values.insert(inside, tensor);
        }
        for (&id, tensor) in region.block.inputs.iter().zip(inputs) {
            self.values.insert(id, tensor);
        }
        self.block(&region.block, &mut |_, _| {})
    }

    fn flag(&self, node: &Node, i: usize, default: bool) -> Result<bool, RunError> {
        let wrong = |reason| RunError::Node { op: node.op.name.to_owned(), node: node.name.clone(), reason };
        let Some(id) = node.inputs.get(i).copied().flatten() else { return Ok(default) };
        let tensor = self.value(id).map_err(wrong)?;
        if tensor.len() != 1 {
            return Err(wrong(format!("the condition has {} elements, it must have one", tensor.len())));
        }
        Ok(tensor.int(0) != 0)
    }

    fn branch(&mut self, node: &Node) -> Result<Vec<Tensor>, RunError> {
        let which = usize::from(!self.flag(node, 0, true)?);
        self.region(node, which, Vec::new())
    }

    fn rounds(&mut self, node: &Node) -> Result<Vec<Tensor>, RunError> {
        let wrong = |reason: String| RunError::Node { op: node.op.name.to_owned(), node: node.name.clone(), reason };
        let most = match node.inputs.first().copied().flatten() {
            Some(id) => {
                let rounds = self.value(id).map_err(wrong)?;
                if rounds.len() != 1 {
                    return Err(wrong(format!("the number of rounds has {} elements, it must have one", rounds.len())));
                }
                rounds.int(0)
            }
            None => i64::MAX,
        };
        let mut go = self.flag(node, 1, true)?;
        let mut carried = node.inputs[2..]
            .iter()
            .map(|i| i.ok_or("a carried value is missing".to_owned()).and_then(|i| self.value(i).cloned()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(wrong)?;
        let block = &node.regions[0].block;
        let mut stacks: Vec<Vec<Tensor>> = vec![Vec::new(); block.outputs.len() - carried.len() - 1];
        let mut round = 0;
        while go && round < most {
            let mut inputs = vec![Tensor::i64([], &[round]), Tensor::new(Elem::Bool, [], vec![u8::from(go)])];
            inputs.append(&mut carried);
            let mut outputs = self.region(node, 0, inputs)?.into_iter();
            go = outputs.next().is_some_and(|t| t.bytes.iter().any(|&b| b != 0));
            carried = outputs.by_ref().take(node.inputs.len() - 2).collect();
            for (stack, value) in stacks.iter_mut().zip(outputs) {
                stack.push(value);
            }
            round += 1;
        }
        let first = carried.len() + 1;
        for (i, stack) in stacks.into_iter().enumerate() {
            let (elem, inner) = match (stack.first(), &self.graph.fact(block.outputs[first + i]).ty) {
                (Some(t), _) => (t.elem, t.shape.clone()),
                (None, Type::Tensor { elem, shape }) => {
                    let inner: Option<Vec<usize>> = shape.iter().map(smalti_dims::Dim::size).collect();
                    let elem = if self.mode == Mode::Exact && elem.is_float() { Elem::F64 } else { *elem };
                    (elem, inner.ok_or_else(|| wrong("no round was run, so a shape is not known".to_owned()))?)
                }
                _ => return Err(wrong("only tensors are stacked".to_owned())),
            };
            if stack.iter().any(|t| t.shape != inner) {
                return Err(wrong("the rounds give different shapes to stack".to_owned()));
            }
            let shape = [&[stack.len()], &inner[..]].concat();
            carried.push(Tensor::new(elem, shape, stack.into_iter().flat_map(|t| t.bytes).collect()));
        }
        Ok(carried)
    }
}
