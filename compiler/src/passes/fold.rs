//! Folds what is known: nodes of constants by the as-run interpreter, and shape arithmetic. Drops what is not used.

use crate::tiled::DIMS;
use smalti_graph::ops::constant::CONSTANT;
use smalti_graph::{Attr, Attrs, Block, Elem, Fact, Graph, Node, Tensor, Type, ValueId, interp};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What folding may cost where a model has next to no constants: bytes of results, and terms that are computed. The
/// rest is left to the run.
const FREE: Budget = Budget { bytes: 16 << 20, terms: 4 << 20 };
/// What it may cost for each byte of a model's constants.
const PER_BYTE: Budget = Budget { bytes: 4, terms: 16 };

/// What folding may still cost: no model of a few bytes makes a compilation long or large.
struct Budget {
    bytes: usize,
    terms: usize,
}

impl Budget {
    fn of(block: &Block) -> Budget {
        let constants = constant_bytes(block);
        let part = |free: usize, each: usize| free.saturating_add(each.saturating_mul(constants));
        Budget { bytes: part(FREE.bytes, PER_BYTE.bytes), terms: part(FREE.terms, PER_BYTE.terms) }
    }

    /// Takes the cost out, if there is as much.
    fn spend(&mut self, bytes: usize, terms: usize) -> Option<()> {
        let left = self.bytes.checked_sub(bytes).zip(self.terms.checked_sub(terms))?;
        (self.bytes, self.terms) = left;
        Some(())
    }
}

fn constant_bytes(block: &Block) -> usize {
    let of = |node: &Node| {
        let own = node.attrs.tensor("value").map_or(0, |t| t.bytes.len());
        own + node.regions.iter().map(|r| constant_bytes(&r.block)).sum::<usize>()
    };
    block.nodes.iter().map(of).sum()
}

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
    let mut budget = Budget::of(&body);
    fold_block(graph, &mut body, &mut HashMap::new(), &mut budget);
    graph.body = body;
    drop_unused(graph);
}

/// Drops nodes and captures that nothing uses.
pub fn drop_unused(graph: &mut Graph) {
    let mut live: HashSet<ValueId> = graph.bindings.iter().map(|b| b.value).collect();
    drop_unused_of(&mut graph.body, &mut live);
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

fn fold_block(
    graph: &mut Graph,
    block: &mut Block,
    constants: &mut HashMap<ValueId, Arc<Tensor>>,
    budget: &mut Budget,
) {
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
                fold_block(graph, &mut region.block, constants, budget);
            }
            block.nodes.push(node);
            continue;
        }
        if let Some(tensors) = known(graph, &node).or_else(|| evaluated(graph, &node, constants, budget)) {
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

fn evaluated(
    graph: &Graph,
    node: &Node,
    constants: &HashMap<ValueId, Arc<Tensor>>,
    budget: &mut Budget,
) -> Option<Vec<Tensor>> {
    if node.inputs.is_empty() {
        return None;
    }
    let inputs: Vec<Option<&Tensor>> = node
        .inputs
        .iter()
        .map(|i| i.map(|i| constants.get(&i).map(|t| &**t)).map_or(Some(None), |t| t.map(Some)))
        .collect::<Option<_>>()?;
    let (mut bytes, mut results) = (0usize, 0usize);
    for &output in &node.outputs {
        let fact = graph.fact(output);
        let count = smalti_dims::product(fact.shape().ok()?).size()?;
        results = results.checked_add(count)?;
        bytes = bytes.checked_add(count.checked_mul(fact.elem().ok()?.size())?)?;
    }
    let read = inputs.iter().flatten().map(|t| t.len()).sum::<usize>();
    budget.spend(bytes, results.checked_mul(terms(node, &inputs)?)?.checked_add(read)?)?;
    interp::fold(node, &inputs).ok()
}

/// How many terms one element of the result has.
fn terms(node: &Node, inputs: &[Option<&Tensor>]) -> Option<usize> {
    let dims = |i: usize| inputs.get(i).copied().flatten().map(|t| &t.shape[..]);
    match node.op.name {
        "matmul" => {
            let k = if node.attrs.int("trans_a", 0) != 0 { 2 } else { 1 };
            let a = dims(0)?;
            a.len().checked_sub(k.min(a.len())).map(|i| a[i])
        }
        "conv" => Some(dims(1)?.get(1..)?.iter().product()),
        "max_pool" | "average_pool" => {
            let kernel = node.attrs.ints("kernel_shape").iter();
            kernel.map(|&k| usize::try_from(k).ok()).try_fold(1usize, |p, k| p.checked_mul(k?))
        }
        _ => Some(1),
    }
}

/// `live` holds what is used from outside.
fn drop_unused_of(block: &mut Block, live: &mut HashSet<ValueId>) {
    live.extend(&block.outputs);
    let mut kept = Vec::new();
    for mut node in std::mem::take(&mut block.nodes).into_iter().rev() {
        if !node.outputs.iter().any(|o| live.contains(o)) {
            continue;
        }
        for region in &mut node.regions {
            drop_unused_of(&mut region.block, live);
            region.captures.retain(|(_, inside)| live.contains(inside));
            live.extend(region.captures.iter().map(|c| c.0));
        }
        live.extend(node.inputs.iter().flatten());
        kept.push(node);
    }
    kept.reverse();
    block.nodes = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(body: &str) -> Vec<&'static str> {
        let mut graph = Graph::parse(&format!("graph \"g\" {{\n{body}\n}}"), &[]).unwrap();
        fold(&mut graph);
        graph.body.nodes.iter().map(|n| n.op.name).collect()
    }

    #[test]
    fn results_that_are_larger_than_the_model_warrants_are_left_to_the_run() {
        let expand = |n: usize| {
            folded(&format!(
                "%0 = constant \"x\" {{value = f32[] [1.0]}}: f32[]\n%1 = constant \"s\" {{value = i64[2] [{n}, 1024]}}: i64[2]\n\
                 %2 = expand \"e\" (%0, %1): f32[{n},1024]\noutput %2"
            ))
        };
        assert_eq!(expand(1024), ["constant"]);
        assert_eq!(expand(8192), ["constant", "constant", "expand"]);
    }

    #[test]
    fn products_of_more_terms_than_the_model_warrants_are_left_to_the_run() {
        let product = |k: usize| {
            folded(&format!(
                "%0 = constant \"x\" {{value = f32[] [1.0]}}: f32[]\n%1 = constant \"s\" {{value = i64[2] [{k}, 1]}}: i64[2]\n\
                 %2 = expand \"e\" (%0, %1): f32[{k},1]\n%3 = matmul \"m\" (%2, %2) {{trans_a = 1}}: f32[1,1]\n\
                 %4 = matmul \"n\" (%2, %2) {{trans_b = 1}}: f32[{k},{k}]\noutput %3\noutput %4"
            ))
        };
        assert_eq!(product(64), ["constant", "constant"]);
        assert_eq!(product(4096), ["constant", "constant", "matmul"]);
    }
}
