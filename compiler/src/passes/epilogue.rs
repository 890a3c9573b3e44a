//! Fuses regions into the product or convolution whose result they read, so that they run on finished tiles.

use super::{each_block, uses};
use smalti_graph::{Block, Elem, Graph, Node, ValueId};
use std::collections::HashMap;

/// A region becomes the epilogue of the f32 product or convolution that it alone reads, if it runs over that shape.
pub fn fuse_epilogues(graph: &mut Graph) {
    let mut body = std::mem::take(&mut graph.body);
    each_block(&mut body, &mut |block| fuse_block(graph, block));
    graph.body = body;
}

fn fuse_block(graph: &Graph, block: &mut Block) {
    let used = uses(graph, block);
    let mut products: HashMap<ValueId, usize> = HashMap::new();
    let mut nodes: Vec<Option<Node>> = Vec::new();
    for node in std::mem::take(&mut block.nodes) {
        let product = match node.op.name {
            "matmul" => true,
            // Kernels convolve in one or two dims.
            "conv" => graph.fact(node.outputs[0]).shape().is_ok_and(|s| (3..=4).contains(&s.len())),
            _ => false,
        };
        if product && graph.fact(node.outputs[0]).elem() == Ok(Elem::F32) {
            products.insert(node.outputs[0], nodes.len());
        }
        let found = node
            .inputs
            .iter()
            .flatten()
            .find(|i| products.contains_key(i) && fits(graph, &node, **i, used.get(i).copied().unwrap_or(0)));
        match found.copied().filter(|_| node.op.name == "fused") {
            None => nodes.push(Some(node)),
            Some(result) => {
                let at = products.remove(&result).unwrap_or_default();
                let product = nodes[at].take();
                nodes.extend(product.map(|product| Some(joined(product, node, result))));
            }
        }
    }
    block.nodes = nodes.into_iter().flatten().collect();
}

/// Whether `region` is all that reads `result`, and runs over its shape.
fn fits(graph: &Graph, region: &Node, result: ValueId, uses: usize) -> bool {
    let within = region.inputs.iter().filter(|i| **i == Some(result)).count();
    let shape = graph.fact(result).shape();
    uses == within && region.outputs.iter().all(|&o| graph.fact(o).shape() == shape)
}

/// The product with the region as its epilogue: the region's first input is the finished tile.
fn joined(mut product: Node, region: Node, result: ValueId) -> Node {
    let mut epilogue = region.regions.into_iter().next().unwrap_or_else(|| unreachable!("a fused node has a region"));
    let at = region.inputs.iter().position(|i| *i == Some(result)).unwrap_or_default();
    let tile = epilogue.block.inputs.remove(at);
    epilogue.block.inputs.insert(0, tile);
    product.inputs.truncate(2);
    product.inputs.extend(region.inputs.into_iter().enumerate().filter(|i| i.0 != at).map(|i| i.1));
    product.outputs = region.outputs;
    product.regions = vec![epilogue];
    product
}
