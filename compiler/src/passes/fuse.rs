//! Fuses elementwise nodes over one shape into regions that run as one loop.

use super::{each_block, uses};
use crate::tiled::{FUSED, is_elementwise};
use smalti_dims::Dim;
use smalti_graph::{Attrs, Block, Graph, Node, Region, ValueId};
use std::collections::{BTreeSet, HashMap, HashSet};

/// A region has at most so many inputs.
const INPUTS: usize = 20;

/// Puts every elementwise node into a fused region. A node joins the region of a producer over the same shape, unless
/// a path between them leaves the region.
pub fn fuse_elementwise(graph: &mut Graph) {
    let mut body = std::mem::take(&mut graph.body);
    each_block(&mut body, &mut |block| fuse_block(graph, block));
    graph.body = body;
}

/// Nodes that will be one, by number; a node that is not elementwise stands alone.
struct Units {
    of: Vec<usize>,
    members: Vec<Vec<usize>>,
    /// Values that a unit reads and does not make.
    reads: Vec<BTreeSet<ValueId>>,
    /// The node that makes a value.
    maker: HashMap<ValueId, usize>,
}

impl Units {
    /// Whether `from` is `to`, or needs it.
    fn needs(&self, from: usize, to: usize) -> bool {
        let mut seen = HashSet::new();
        let mut stack = vec![from];
        while let Some(unit) = stack.pop() {
            if unit == to {
                return true;
            }
            if seen.insert(unit) {
                stack.extend(self.outside(unit));
            }
        }
        false
    }

    /// Units whose values a unit reads.
    fn outside(&self, unit: usize) -> BTreeSet<usize> {
        self.reads[unit].iter().filter_map(|id| self.maker.get(id)).map(|&n| self.of[n]).collect()
    }

    /// Whether two units can be one: no path between them runs through a third one.
    fn joins(&self, a: usize, b: usize) -> bool {
        let through = |from: usize, to: usize| self.outside(from).iter().any(|&u| u != to && self.needs(u, to));
        !through(a, b) && !through(b, a)
    }

    /// What two units read as one.
    fn reads_of_both(&self, a: usize, b: usize) -> BTreeSet<ValueId> {
        let inside = |id: &ValueId| self.maker.get(id).is_some_and(|&n| self.of[n] == a || self.of[n] == b);
        self.reads[a].union(&self.reads[b]).filter(|id| !inside(id)).copied().collect()
    }

    fn join(&mut self, a: usize, b: usize, reads: BTreeSet<ValueId>) {
        let members = std::mem::take(&mut self.members[b]);
        members.iter().for_each(|&n| self.of[n] = a);
        self.members[a].extend(members);
        self.reads[a] = reads;
    }

    /// The units in an order in which each comes after what it reads, otherwise as their first nodes stand.
    fn order(&self) -> Vec<usize> {
        let mut order = Vec::new();
        let mut done: HashSet<usize> = HashSet::new();
        for &first in &self.of {
            // Units that wait for what they read, with what is not placed yet of that.
            let mut waiting: Vec<(usize, Vec<usize>)> = Vec::new();
            let mut next = Some(first);
            loop {
                if let Some(unit) = next.take().filter(|&u| done.insert(u)) {
                    waiting.push((unit, self.outside(unit).into_iter().rev().collect()));
                }
                let Some((unit, before)) = waiting.last_mut() else { break };
                next = before.pop();
                if next.is_none() {
                    order.push(*unit);
                    waiting.pop();
                }
            }
        }
        order
    }
}

fn fuse_block(graph: &mut Graph, block: &mut Block) {
    let nodes = std::mem::take(&mut block.nodes);
    let mut maker: HashMap<ValueId, usize> = HashMap::new();
    for (n, node) in nodes.iter().enumerate() {
        maker.extend(node.outputs.iter().map(|&o| (o, n)));
    }
    let read = |node: &Node| -> Vec<ValueId> {
        let captured = node.regions.iter().flat_map(|r| r.captures.iter().map(|c| c.0));
        node.inputs.iter().flatten().copied().chain(captured).collect()
    };
    let mut units = Units {
        of: (0..nodes.len()).collect(),
        members: (0..nodes.len()).map(|n| vec![n]).collect(),
        reads: nodes.iter().map(|n| read(n).into_iter().collect()).collect(),
        maker,
    };
    let shape = |node: &Node| -> Option<Vec<Dim>> {
        is_elementwise(node).then(|| graph.fact(node.outputs[0]).shape().map(<[Dim]>::to_vec).ok()).flatten()
    };
    let shapes: Vec<Option<Vec<Dim>>> = nodes.iter().map(shape).collect();
    for n in 0..nodes.len() {
        let Some(shape) = &shapes[n] else { continue };
        for id in read(&nodes[n]) {
            let Some(&p) = units.maker.get(&id) else { continue };
            let (a, b) = (units.of[p], units.of[n]);
            if a == b || shapes[p].as_ref() != Some(shape) || !units.joins(a, b) {
                continue;
            }
            let reads = units.reads_of_both(a, b);
            if reads.len() <= INPUTS {
                units.join(a, b, reads);
            }
        }
    }

    let mut used = uses(graph, block);
    for node in &nodes {
        for id in read(node) {
            *used.entry(id).or_insert(0) += 1;
        }
    }
    let mut slots: Vec<Option<Node>> = nodes.into_iter().map(Some).collect();
    for unit in units.order() {
        let mut numbers = std::mem::take(&mut units.members[unit]);
        numbers.sort_unstable();
        let members: Vec<Node> = numbers.into_iter().filter_map(|n| slots[n].take()).collect();
        match &members[..] {
            [only] if !is_elementwise(only) => block.nodes.extend(members),
            _ => {
                let node = region(graph, &members, &used);
                block.nodes.push(node);
            }
        }
    }
}

/// One node that holds `members`. Values that are used outside are its outputs.
fn region(graph: &mut Graph, members: &[Node], used: &HashMap<ValueId, usize>) -> Node {
    let mut within: HashMap<ValueId, usize> = HashMap::new();
    for id in members.iter().flat_map(|m| m.inputs.iter().flatten()) {
        *within.entry(*id).or_insert(0) += 1;
    }
    let mut inside: HashMap<ValueId, ValueId> = HashMap::new();
    let mut block = Block::default();
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for member in members {
        let mut node = member.clone();
        for input in node.inputs.iter_mut().flatten() {
            if !inside.contains_key(input) {
                let fact = graph.fact(*input).clone();
                let own = graph.value("", fact);
                inside.insert(*input, own);
                block.inputs.push(own);
                inputs.push(Some(*input));
            }
            *input = inside[input];
        }
        for output in &mut node.outputs {
            let info = graph.values[output.0 as usize].clone();
            let own = graph.value(info.name, info.fact);
            inside.insert(*output, own);
            if used.get(output).copied().unwrap_or(0) > within.get(output).copied().unwrap_or(0) {
                outputs.push(*output);
                block.outputs.push(own);
            }
            *output = own;
        }
        block.nodes.push(node);
    }
    let name = members.last().map(|m| m.name.clone()).unwrap_or_default();
    Node {
        name,
        op: &FUSED,
        attrs: Attrs::none(),
        inputs,
        outputs,
        regions: vec![Region { captures: Vec::new(), block }],
    }
}
