//! What makes a graph well-formed.

use crate::graph::{Block, Graph, GraphError, Node, ValueId};
use std::collections::HashSet;

impl Graph {
    /// Checks that every value is of a type that can be, and made once, before it is used, in a block that sees it.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verify(&self) -> Result<(), GraphError> {
        for (i, info) in self.values.iter().enumerate() {
            info.fact.ty.check(&self.symbols).map_err(|e| GraphError::Verify(format!("value %{i}: {e}")))?;
        }
        let mut made = HashSet::new();
        self.block(&self.body, &mut made).map_err(GraphError::Verify)
    }

    fn block(&self, block: &Block, made: &mut HashSet<ValueId>) -> Result<(), String> {
        let mut here: HashSet<ValueId> = HashSet::new();
        let mut make = |here: &mut HashSet<ValueId>, id: ValueId| {
            if id.0 as usize >= self.values.len() {
                return Err(format!("there is no value %{}", id.0));
            }
            if !made.insert(id) {
                return Err(format!("value %{} is made twice", id.0));
            }
            here.insert(id);
            Ok(())
        };
        for &id in &block.inputs {
            make(&mut here, id)?;
        }
        let mut inner: Vec<(&Node, usize)> = Vec::new();
        for node in &block.nodes {
            let sees = |id: &ValueId| {
                if here.contains(id) {
                    return Ok(());
                }
                Err(format!(
                    "{} '{}' uses %{}, which is not made before it in its block",
                    node.op.name, node.name, id.0
                ))
            };
            node.inputs.iter().flatten().try_for_each(sees)?;
            node.regions.iter().flat_map(|r| &r.captures).try_for_each(|(outside, _)| sees(outside))?;
            for &id in &node.outputs {
                make(&mut here, id)?;
            }
            inner.extend((0..node.regions.len()).map(|r| (node, r)));
        }
        if let Some(id) = block.outputs.iter().find(|id| !here.contains(id)) {
            return Err(format!("output %{} is not made in its block", id.0));
        }
        for (node, r) in inner {
            let region = &node.regions[r];
            // Captures are the first inputs of a block that stands for the region.
            let mut whole = region.block.clone();
            whole.inputs.splice(0..0, region.captures.iter().map(|c| c.1));
            self.block(&whole, made)?;
        }
        Ok(())
    }
}
