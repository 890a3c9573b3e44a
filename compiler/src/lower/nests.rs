//! Dispatches: fused regions, copies, padding.

use super::{Loc, Lower, LowerError, dense};
use smalti_codegen::{Access, Builder, Elem, Nest, Step, Value};
use smalti_dims::Dim;
use smalti_graph::ops::elementwise;
use smalti_graph::{Block, Node, ValueId};
use smalti_program::View;
use std::collections::HashMap;

/// One value converted.
pub(super) fn cast(from: Elem, to: Elem) -> Nest {
    let mut b = Builder::new("cast", 0, 1);
    let x = b.operand("x", from, Access::In, Step::Any);
    let y = b.operand("y", to, Access::Out, Step::Any);
    let value = b.load(x);
    let value = b.cast(to, value);
    b.store(y, value);
    b.finish()
}

fn step(stride: Option<&Dim>) -> Step {
    match stride {
        Some(s) if s.is(1) => Step::Unit,
        Some(s) if s.is(0) => Step::Zero,
        _ => Step::Any,
    }
}

/// Merges neighbouring dims that every operand walks as one, and drops dims of extent 1. At least one dim is left.
fn collapse(extents: &mut Vec<Dim>, operands: &mut [View]) {
    let mut d = 0;
    while d < extents.len() && extents.len() > 1 {
        if extents[d].is(1) {
            extents.remove(d);
            operands.iter_mut().for_each(|o| drop(o.strides.remove(d)));
            continue;
        }
        let joins = |o: &View| o.strides[d - 1] == o.strides[d].clone() * extents[d].clone();
        if d > 0 && operands.iter().all(joins) {
            let inner = extents.remove(d);
            extents[d - 1] = extents[d - 1].clone() * inner;
            operands.iter_mut().for_each(|o| drop(o.strides.remove(d - 1)));
            continue;
        }
        d += 1;
    }
    if extents.is_empty() {
        extents.push(Dim::from(1i64));
        operands.iter_mut().for_each(|o| o.strides.push(Dim::from(0i64)));
    }
}

/// Emits the nodes of a fused region. `values` holds its inputs; the result is its outputs.
pub(super) fn region(
    b: &mut Builder,
    lower: &Lower<'_>,
    block: &Block,
    inputs: &[Value],
) -> Result<Vec<Value>, LowerError> {
    let mut values: HashMap<ValueId, Value> = block.inputs.iter().copied().zip(inputs.iter().copied()).collect();
    for node in &block.nodes {
        let args: Vec<Value> = node
            .inputs
            .iter()
            .map(|i| i.and_then(|i| values.get(&i).copied()).ok_or(LowerError("a region without a value".to_owned())))
            .collect::<Result<_, _>>()?;
        let value = match node.op.name {
            "cast" => b.cast(node.attrs.elem("to"), args[0]),
            "where" => b.select(args[0], args[1], args[2]),
            name => {
                let row = elementwise::find(name).ok_or(format!("{name} is not elementwise"))?;
                (row.body)(b, &node.attrs, &args)
            }
        };
        // Each node of a narrow float type rounds, as it does when it stands alone.
        let elem = lower.elem(node.outputs[0])?;
        let value = b.cast(elem, value);
        values.insert(node.outputs[0], value);
    }
    let outputs = block.outputs.iter().map(|o| values.get(o).copied());
    outputs.collect::<Option<_>>().ok_or(LowerError("a region without its output".to_owned()))
}

impl Lower<'_> {
    /// A fused region as one dispatch over the shape of its outputs.
    pub(crate) fn fused(&mut self, node: &Node) -> Result<(), LowerError> {
        let block = &node.regions.first().ok_or("a fused node without a region")?.block;
        let shape = self.shape(node.outputs[0])?;
        let mut operands = Vec::new();
        for &id in node.inputs.iter().flatten() {
            let loc = self.loc(id)?.broadcast(&self.shape(id)?, &shape);
            operands.push(loc.view(loc.strides.clone()));
        }
        for &id in &node.outputs {
            let to = self.fresh(self.elem(id)?, &shape);
            operands.push(to.view(to.strides.clone()));
            self.set(id, to);
        }
        let mut extents = shape;
        collapse(&mut extents, &mut operands);
        let rank = extents.len();
        let mut b = Builder::new("fused", rank - 1, 1);
        let mut loads = Vec::new();
        for (i, &id) in node.inputs.iter().flatten().enumerate() {
            let elem = self.elem(id)?;
            loads.push(b.operand(format!("x{i}"), elem, Access::In, step(operands[i].strides.last())));
        }
        let inputs: Vec<Value> = loads.into_iter().map(|o| b.load(o)).collect();
        let results = region(&mut b, self, block, &inputs)?;
        for (i, (&id, value)) in node.outputs.iter().zip(results).enumerate() {
            let view = &operands[inputs.len() + i];
            let out = b.operand(format!("y{i}"), self.elem(id)?, Access::Out, step(view.strides.last()));
            b.store(out, value);
        }
        self.dispatch(&node.name, b.finish(), extents, operands);
        Ok(())
    }

    /// Copies the elements of `from` to `to`, both over `shape`.
    pub(crate) fn copy(&mut self, name: &str, elem: Elem, shape: &[Dim], from: &Loc, to: &Loc) {
        let mut operands = vec![from.view(from.strides.clone()), to.view(to.strides.clone())];
        let mut extents = shape.to_vec();
        collapse(&mut extents, &mut operands);
        let mut b = Builder::new("copy", extents.len() - 1, 1);
        let x = b.operand("x", elem, Access::In, step(operands[0].strides.last()));
        let y = b.operand("y", elem, Access::Out, step(operands[1].strides.last()));
        let value = b.load(x);
        b.store(y, value);
        self.dispatch(name, b.finish(), extents, operands);
    }

    /// A copy with `value` around it, or less than there was: `pads` are all begins, then all ends.
    pub(crate) fn padded(
        &mut self,
        name: &str,
        elem: Elem,
        shape: &[Dim],
        from: &Loc,
        pads: &[i64],
        value: f64,
    ) -> Loc {
        let rank = shape.len();
        let larger: Vec<Dim> = (0..rank).map(|d| shape[d].clone() + Dim::from(pads[d] + pads[d + rank])).collect();
        let to = self.fresh(elem, &larger);
        let mut b = Builder::new("fill", 0, 1);
        let y = b.operand("y", elem, Access::Out, Step::Unit);
        let fill = b.number(elem.widened(), value);
        b.store(y, fill);
        let whole = to.view(vec![Dim::from(1i64)]);
        self.dispatch(name, b.finish(), vec![smalti_dims::product(&larger)], vec![whole]);
        let (mut source, mut place, mut part) = (from.clone(), to.clone(), shape.to_vec());
        for d in 0..rank {
            let (begin, end) = (pads[d], pads[d + rank]);
            let cut = Dim::from(begin.min(0) + end.min(0));
            part[d] = part[d].clone() + cut;
            source.offset = source.offset.clone() + source.strides[d].clone() * Dim::from((-begin).max(0));
            place.offset = place.offset.clone() + dense(&larger)[d].clone() * Dim::from(begin.max(0));
        }
        self.copy(name, elem, &part, &source, &place);
        to
    }
}
