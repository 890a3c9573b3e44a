//! Encodings of products: set, chosen for the target, materialized, and elided where an operand is used as it lies.

use super::each_block;
use crate::Options;
use crate::error::CompileError;
use crate::lower::problem;
use crate::tiled::{ENCODE, PACK, PACK_WEIGHTS, elem_of};
use smalti_graph::{Attr, Attrs, Block, Elem, Graph, Node, ValueId};
use smalti_tiling::{Layout, plan};
use smalti_ukernels::name::Dim;
use std::collections::HashMap;

/// Sets an encoding on both operands of every f32 product and convolution.
pub fn encode(graph: &mut Graph) {
    let mut body = std::mem::take(&mut graph.body);
    each_block(&mut body, &mut |block| {
        for mut node in std::mem::take(&mut block.nodes) {
            let kind = match node.op.name {
                "matmul" => "matmul",
                "conv" if (3..=4).contains(&graph_rank(graph, &node)) => "conv2d",
                _ => "",
            };
            let f32s = node.inputs.iter().take(2).flatten().all(|&i| elem_of(graph, i) == Some(Elem::F32));
            if !kind.is_empty() && f32s {
                for (i, role) in [(0, "lhs"), (1, "rhs")] {
                    let Some(id) = node.inputs[i] else { continue };
                    let fact = graph.fact(id).clone();
                    let encoded = graph.value("", fact);
                    let text = format!("#{kind}<f32f32f32, {role}>");
                    block.nodes.push(Node {
                        name: node.name.clone(),
                        op: &ENCODE,
                        attrs: Attrs::none().with("encoding", Attr::Word(text)),
                        inputs: vec![Some(id)],
                        outputs: vec![encoded],
                        regions: Vec::new(),
                    });
                    node.inputs[i] = Some(encoded);
                }
            }
            block.nodes.push(node);
        }
    });
    graph.body = body;
}

fn graph_rank(graph: &Graph, node: &Node) -> usize {
    node.inputs[0].and_then(|i| graph.fact(i).shape().ok().map(<[_]>::len)).unwrap_or(0)
}

/// Plans every encoded product: its family goes to the node, its layouts to the encodings.
///
/// # Errors
/// Sizes that no plan has.
pub fn choose(graph: &mut Graph, options: &Options) -> Result<(), CompileError> {
    let mut body = std::mem::take(&mut graph.body);
    let mut result = Ok(());
    each_block(&mut body, &mut |block| {
        if result.is_ok() {
            result = choose_block(graph, block, options);
        }
    });
    graph.body = body;
    result
}

fn choose_block(graph: &Graph, block: &mut Block, options: &Options) -> Result<(), CompileError> {
    let mut encodings: HashMap<ValueId, usize> = HashMap::new();
    let mut constants: HashMap<ValueId, bool> = HashMap::new();
    for n in 0..block.nodes.len() {
        let node = &block.nodes[n];
        if node.op.name == "constant" {
            constants.insert(node.outputs[0], true);
        }
        if node.op.name == "encode" {
            let constant = node.inputs[0].is_some_and(|i| constants.contains_key(&i));
            constants.extend(constant.then_some((node.outputs[0], true)));
            encodings.insert(node.outputs[0], n);
            continue;
        }
        let operands: Vec<usize> =
            node.inputs.iter().take(2).flatten().filter_map(|i| encodings.get(i).copied()).collect();
        let [lhs, rhs] = operands[..] else { continue };
        let constant = node.inputs[1].is_some_and(|i| constants.contains_key(&i));
        let Some(problem) = problem(graph, node, constant, options.strict) else { continue };
        let plan = plan(&problem, None, &options.target)
            .map_err(|e| CompileError::Internal(format!("{} '{}': {e}", node.op.name, node.name)))?;
        let attrs = &mut block.nodes[n].attrs.0;
        attrs.insert("algorithm".to_owned(), Attr::Word(plan.algorithm.name().to_owned()));
        attrs.insert("family".to_owned(), Attr::Word(plan.family.to_string()));
        attrs.insert("numerics".to_owned(), Attr::Word(plan.numerics.to_string()));
        attrs.insert("tier".to_owned(), Attr::Word(plan.tier.name().to_owned()));
        for (at, layout) in [(lhs, plan.lhs), (rhs, plan.rhs)] {
            let attrs = &mut block.nodes[at].attrs.0;
            attrs.insert("layout".to_owned(), Attr::Word(layout.to_string()));
            let (Layout::Panels { t0, .. } | Layout::Weights { n0: t0, .. }) = layout else { continue };
            let (Dim::Fixed(rows) | Dim::Vscale(rows)) = t0 else { continue };
            attrs.insert("t0".to_owned(), Attr::Int(rows.into()));
            if matches!(t0, Dim::Vscale(_)) {
                attrs.insert("vscale".to_owned(), Attr::Int(1));
            }
        }
    }
    Ok(())
}

/// Turns encodings of panels and weights into packs. The product says so, and the pack knows which way it reads.
pub fn materialize(graph: &mut Graph) {
    each_block(&mut graph.body, &mut |block| {
        let mut packs: HashMap<ValueId, usize> = HashMap::new();
        for n in 0..block.nodes.len() {
            let node = &mut block.nodes[n];
            if node.op.name == "encode" && node.attrs.int("t0", 0) > 0 {
                let weights = node.attrs.word("encoding").starts_with("#conv2d");
                node.op = if weights { &PACK_WEIGHTS } else { &PACK };
                packs.insert(node.outputs[0], n);
                continue;
            }
            let pack = node.inputs.get(1).copied().flatten().and_then(|i| packs.get(&i).copied());
            if let Some(pack) = pack {
                let (group, trans) = (node.attrs.int("group", 1), node.attrs.int("trans_b", 0));
                node.attrs.0.insert("rhs".to_owned(), Attr::Word("packed".to_owned()));
                let attrs = &mut block.nodes[pack].attrs.0;
                attrs.insert("group".to_owned(), Attr::Int(group));
                attrs.insert("trans".to_owned(), Attr::Int(trans));
            }
        }
    });
}

/// Drops encodings of operands that are used as they lie.
pub fn elide(graph: &mut Graph) {
    each_block(&mut graph.body, &mut |block| {
        let mut plain: HashMap<ValueId, ValueId> = HashMap::new();
        for node in &block.nodes {
            if let ("encode", Some(input)) = (node.op.name, node.inputs.first().copied().flatten()) {
                plain.insert(node.outputs[0], input);
            }
        }
        block.nodes.retain(|n| n.op.name != "encode");
        for node in &mut block.nodes {
            for input in node.inputs.iter_mut().flatten() {
                *input = plain.get(input).copied().unwrap_or(*input);
            }
        }
    });
}
