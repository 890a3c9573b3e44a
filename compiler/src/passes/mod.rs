//! Passes: from graph to graph.

mod encode;
mod epilogue;
mod fold;
mod fuse;

pub use encode::{choose, elide, encode, materialize};
pub use epilogue::fuse_epilogues;
pub use fold::{drop_unused, expose, fold};
pub use fuse::fuse_elementwise;

use smalti_graph::{Block, Graph, ValueId};
use std::collections::HashMap;

/// How often each value is used in a block, by nodes, captures, outputs and the graph's symbols.
pub(crate) fn uses(graph: &Graph, block: &Block) -> HashMap<ValueId, usize> {
    let mut uses = HashMap::new();
    let mut count = |id: ValueId| *uses.entry(id).or_insert(0) += 1;
    for node in &block.nodes {
        node.inputs.iter().flatten().for_each(|&id| count(id));
        node.regions.iter().flat_map(|r| &r.captures).for_each(|c| count(c.0));
    }
    block.outputs.iter().for_each(|&id| count(id));
    graph.bindings.iter().for_each(|b| count(b.value));
    uses
}

/// Calls `pass` on every block that is no fused region, innermost first.
pub(crate) fn each_block(block: &mut Block, pass: &mut dyn FnMut(&mut Block)) {
    for node in &mut block.nodes {
        if matches!(node.op.name, "if" | "loop") {
            for region in &mut node.regions {
                each_block(&mut region.block, pass);
            }
        }
    }
    pass(block);
}
