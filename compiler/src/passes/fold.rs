//! Folds what is known: nodes of constants by the as-run interpreter, and shape arithmetic. Drops what is not used.

use crate::tiled::DIMS;
use smalti_graph::ops::constant::CONSTANT;
use smalti_graph::{Attr, Attrs, Block, Elem, Fact, Graph, Node, Tensor, Type, ValueId, interp};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Results of more bytes than this are left to the run.
const LARGEST: usize = 64 << 20;

/// Makes every named tensor of the outermost block an output.
pub fn expose(graph: &mut Graph) {
    let mut outputs = graph.body.outputs.clone();
    for node in &graph.body.nodes {
        for &id in &node.outputs {
            let info = &graph.values[id.0 as usize];
            let tensor = matches!(info.fact.ty, Type::Tensor { .. });
            if tensor && !info.name.is_empty() && node.op.name != "constant" && !outputs.contains(&id) {
                outputs.push(id);
            }
        }
    }
    graph.body.outputs = outputs;
}

/// Folds, then drops what is not used.
pub fn fold(graph: &mut Graph) {
    let mut body = std::mem::take(&mut graph.body);
    fold_block(graph, &mut body, &mut HashMap::new());
    let mut live: HashSet<ValueId> = graph.bindings.iter().map(|b| b.value).collect();
    drop_unused(&mut body, &mut live);
    graph.body = body;
}

fn constant_node(name: String, tensor: Arc<Tensor>, output: ValueId) -> Node {
    Node {
        name,
        op: &CONSTANT,
        attrs: Attrs::none().with("value", Attr::Tensor(tensor)),
        inputs: Vec::new(),
        outputs: vec![output],
        regions: Vec::new(),
    }
}

fn fold_block(graph: &mut Graph, block: &mut Block, constants: &mut HashMap<ValueId, Arc<Tensor>>) {
    for mut node in std::mem::take(&mut block.nodes) {
        if let Some(tensor) = node.attrs.tensor("value").filter(|_| node.op.name == "constant") {
            constants.insert(node.outputs[0], tensor.clone());
            block.nodes.push(node);
            continue;
        }
        if !node.regions.is_empty() {
            for region in &mut node.regions {
                for (outside, inside) in &region.captures {
                    if let Some(tensor) = constants.get(outside).cloned() {
                        constants.insert(*inside, tensor);
                    }
                }
                fold_block(graph, &mut region.block, constants);
            }
            block.nodes.push(node);
            continue;
        }
        if let Some(tensors) = known(graph, &node).or_else(|| evaluated(graph, &node, constants)) {
            for (tensor, &output) in tensors.into_iter().zip(&node.outputs) {
                let tensor = Arc::new(tensor);
                graph.values[output.0 as usize].fact = Fact::constant(&tensor);
                constants.insert(output, tensor.clone());
                block.nodes.push(constant_node(node.name.clone(), tensor, output));
            }
            continue;
        }
        // Elements that are dims need nothing but the dims.
        if let [output] = node.outputs[..] {
            let fact = graph.fact(output);
            let integer = matches!(fact.elem(), Ok(Elem::I64 | Elem::I32));
            let own = graph.bindings.iter().any(|b| b.value == output);
            if fact.known.is_some() && integer && !own {
                node.op = &DIMS;
                node.attrs = Attrs::none();
                node.inputs.clear();
            }
        }
        block.nodes.push(node);
    }
}

/// The value of an integer tensor whose elements are all known.
fn known(graph: &Graph, node: &Node) -> Option<Vec<Tensor>> {
    let [output] = node.outputs[..] else { return None };
    let fact = graph.fact(output);
    let elem = fact.elem().ok()?;
    let shape: Vec<usize> = fact.shape().ok()?.iter().map(smalti_dims::Dim::size).collect::<Option<_>>()?;
    let ints: Vec<i64> = fact.known.as_ref()?.iter().map(smalti_dims::Dim::int).collect::<Option<_>>()?;
    let bytes: Vec<u8> = ints.iter().flat_map(|v| v.to_le_bytes()[..elem.size()].to_vec()).collect();
    (bytes.len() == shape.iter().product::<usize>() * elem.size()).then(|| vec![Tensor::new(elem, shape, bytes)])
}

fn evaluated(graph: &Graph, node: &Node, constants: &HashMap<ValueId, Arc<Tensor>>) -> Option<Vec<Tensor>> {
    if node.inputs.is_empty() {
        return None;
    }
    let inputs: Vec<Option<&Tensor>> = node
        .inputs
        .iter()
        .map(|i| i.map(|i| constants.get(&i).map(|t| &**t)).map_or(Some(None), |t| t.map(Some)))
        .collect::<Option<_>>()?;
    for &output in &node.outputs {
        let fact = graph.fact(output);
        let bytes = smalti_dims::product(fact.shape().ok()?).size()?.checked_mul(fact.elem().ok()?.size())?;
        if bytes > LARGEST {
            return None;
        }
    }
    interp::fold(node, &inputs).ok()
}

/// Drops nodes and captures that nothing uses; `live` holds what is used from outside.
fn drop_unused(block: &mut Block, live: &mut HashSet<ValueId>) {
    live.extend(&block.outputs);
    let mut kept = Vec::new();
    for mut node in std::mem::take(&mut block.nodes).into_iter().rev() {
        if !node.outputs.iter().any(|o| live.contains(o)) {
            continue;
        }
        for region in &mut node.regions {
            drop_unused(&mut region.block, live);
            region.captures.retain(|(_, inside)| live.contains(inside));
            live.extend(region.captures.iter().map(|c| c.0));
        }
        live.extend(node.inputs.iter().flatten());
        kept.push(node);
    }
    kept.reverse();
    block.nodes = kept;
}
