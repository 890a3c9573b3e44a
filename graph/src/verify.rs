//! What makes a graph well-formed.

use crate::Type;
use crate::graph::{Block, Graph, GraphError, Node, ValueId};
use std::collections::HashSet;

impl Graph {
    /// Checks that every value is of a type that can be, and made once, before it is used, in a block that sees it.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verify(&self) -> Result<(), GraphError> {
        for (i, info) in self.values.iter().enumerate() {
            let wrong = |e: String| GraphError::Verify(format!("value %{i}: {e}"));
            info.fact.ty.check(&self.symbols).map_err(wrong)?;
            let fits = |known: &&Vec<smalti_dims::Dim>| match &info.fact.ty {
                Type::Tensor { elem, shape } if elem.is_int() => {
                    smalti_dims::product(shape).size().is_none_or(|elements| elements == known.len())
                }
                _ => false,
            };
            if let Some(known) = info.fact.known.as_ref().filter(|k| !fits(k)) {
                let ty = info.fact.ty.text(&self.symbols);
                return Err(wrong(format!("{} elements are known of {ty}", known.len())));
            }
        }
        let mut made = HashSet::new();
        self.block(&self.body, &mut made).map_err(GraphError::Verify)
    }

    /// Checks that values have the types that the shape rules of their nodes give them, as far as both are numbers. A
    /// graph that was made by [`Graph::node`] has; one that was read from a text may say anything. Nodes of which `made`
    /// is true have no rule.
    ///
    /// # Errors
    /// The first node whose rule says something else.
    pub fn verify_types(&self, made: &dyn Fn(&Node) -> bool) -> Result<(), GraphError> {
        // Rules make symbols and checks of their own, which are not this graph's.
        let mut scratch = self.clone();
        self.block_types(&mut scratch, &self.body, made)
    }

    fn block_types(&self, scratch: &mut Graph, block: &Block, made: &dyn Fn(&Node) -> bool) -> Result<(), GraphError> {
        for node in &block.nodes {
            for region in &node.regions {
                for &(outside, inside) in &region.captures {
                    self.same_type(node, "captured", &self.fact(outside).ty, inside)?;
                }
                self.block_types(scratch, &region.block, made)?;
            }
            if made(node) {
                continue;
            }
            let facts = scratch.infer(node, |c| (node.op.infer)(c)).map_err(|reason| self.wrong(node, reason))?;
            if facts.len() != node.outputs.len() {
                return Err(self.wrong(node, format!("it has {} outputs, not {}", facts.len(), node.outputs.len())));
            }
            for (fact, &id) in facts.iter().zip(&node.outputs) {
                self.same_type(node, "given", &fact.ty, id)?;
            }
        }
        Ok(())
    }

    fn same_type(&self, node: &Node, what: &str, rule: &Type, id: ValueId) -> Result<(), GraphError> {
        let stated = &self.fact(id).ty;
        let same = match (rule, stated) {
            (Type::Tensor { elem: a, shape: x }, Type::Tensor { elem: b, shape: y }) => {
                let apart = |(x, y): (&smalti_dims::Dim, &smalti_dims::Dim)| matches!((x.int(), y.int()), (Some(x), Some(y)) if x != y);
                a == b && x.len() == y.len() && !x.iter().zip(y).any(apart)
            }
            (a, b) => a == b,
        };
        if same {
            return Ok(());
        }
        let reason = format!("%{} is stated as {}, another type is {what}", id.0, stated.text(&self.symbols));
        Err(self.wrong(node, reason))
    }

    fn wrong(&self, node: &Node, reason: String) -> GraphError {
        let types = node.inputs.iter().map(|i| i.map_or("none".to_owned(), |i| self.type_text(i)));
        let inputs = types.collect::<Vec<_>>().join(", ");
        GraphError::Node { op: node.op.name.to_owned(), node: node.name.clone(), reason, inputs }
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
