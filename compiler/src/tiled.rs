//! The tiled graph: a graph whose elementwise work stands in fused regions, and whose products carry encodings, and
//! then the family of kernels that was chosen.

use smalti_codegen::lexer::quote;
use smalti_graph::ops::OpDef;
use smalti_graph::{Block, Elem, Fact, Graph, GraphError, Node, Parsed, Tensor, Type};
use std::sync::Arc;

/// A graph between folding and lowering.
#[derive(Clone, Debug, PartialEq)]
pub struct TiledGraph(pub Graph);

/// Elementwise operations that run as one loop: the region's inputs are the node's.
pub static FUSED: OpDef = OpDef {
    name: "fused",
    infer: |c| {
        let [region] = c.regions else { return Err("there must be one region".to_owned()) };
        Ok(region.block.outputs.iter().map(|&id| c.fact(id).clone()).collect())
    },
    eval: |_| Err("fused regions are run as programs".to_owned()),
};

/// An operand in a layout that only its `encoding` names yet.
pub static ENCODE: OpDef =
    OpDef { name: "encode", infer: |c| Ok(vec![c.input(0)?.clone()]), eval: |c| Ok(vec![c.input(0)?.clone()]) };

/// A right operand as panels of `t0` columns.
pub static PACK: OpDef = OpDef { name: "pack", infer: packed, eval: |_| Err("packs are run as programs".to_owned()) };

/// Convolution weights as the plan lays them out.
pub static PACK_WEIGHTS: OpDef =
    OpDef { name: "pack_weights", infer: packed, eval: |_| Err("packs are run as programs".to_owned()) };

/// An integer tensor whose elements are dims.
pub static DIMS: OpDef = OpDef {
    name: "dims",
    infer: |_| Err("dims are made by the folder".to_owned()),
    eval: |_| Err("dims have values at run time only".to_owned()),
};

fn packed(c: &mut smalti_graph::ops::Infer<'_>) -> Result<Vec<Fact>, String> {
    Ok(vec![Fact::tensor(Elem::F32, c.shape(0)?)])
}

/// Operations that only tiled graphs have.
pub fn ops() -> impl Iterator<Item = &'static OpDef> {
    [&FUSED, &ENCODE, &PACK, &PACK_WEIGHTS, &DIMS].into_iter()
}

impl TiledGraph {
    /// Writes the graph.
    pub fn print(&self) -> Parsed {
        self.0.print()
    }

    /// Reads what [`TiledGraph::print`] wrote, and verifies it.
    ///
    /// # Errors
    /// The first line that is wrong, or what makes the graph ill-formed.
    pub fn parse(text: &str, blobs: &[Arc<Tensor>]) -> Result<TiledGraph, GraphError> {
        let find = |name: &str| smalti_graph::ops::find(name).or_else(|| ops().find(|o| o.name == name));
        let graph = TiledGraph(Graph::parse_with(text, blobs, &find)?);
        graph.verify()?;
        Ok(graph)
    }

    /// Checks that the graph is well-formed, that elementwise work is in fused regions, and that these hold nothing
    /// else.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verify(&self) -> Result<(), GraphError> {
        self.0.verify()?;
        self.block(&self.0.body, false).map_err(GraphError::Verify)
    }

    fn block(&self, block: &Block, fused: bool) -> Result<(), String> {
        for node in &block.nodes {
            if is_elementwise(node) != fused {
                let place = if fused { "inside" } else { "outside of" };
                return Err(format!("{} {} stands {place} a fused region", node.op.name, quote(&node.name)));
            }
            for region in &node.regions {
                let inner = matches!(node.op.name, "fused" | "matmul" | "conv");
                if inner && !region.captures.is_empty() {
                    return Err(format!("{} {} captures values", node.op.name, quote(&node.name)));
                }
                self.block(&region.block, inner)?;
            }
        }
        Ok(())
    }
}

/// Whether a node belongs in a fused region.
pub(crate) fn is_elementwise(node: &Node) -> bool {
    smalti_graph::ops::elementwise::find(node.op.name).is_some() || matches!(node.op.name, "cast" | "where")
}

/// Element type of a tensor value, where it is one.
pub(crate) fn elem_of(graph: &Graph, id: smalti_graph::ValueId) -> Option<Elem> {
    match &graph.fact(id).ty {
        Type::Tensor { elem, .. } => Some(*elem),
        _ => None,
    }
}
