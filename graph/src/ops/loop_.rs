//! `loop`: inputs are the greatest number of rounds (optional), whether to begin (optional), then the carried values.
//! The region takes the round's number, the condition, and the carried values; it gives the condition for the next
//! round, the carried values, and values that are stacked over all rounds.

use super::OpDef;
use crate::graph::Fact;
use crate::{Elem, Type};
use smalti_dims::Dim;

/// The operation.
pub static LOOP: OpDef = OpDef {
    name: "loop",
    infer: |c| {
        if c.has(0) && c.elem(0)? != Elem::I64 {
            return Err("the number of rounds must be i64".to_owned());
        }
        if c.has(1) && c.elem(1)? != Elem::Bool {
            return Err("the condition must be bool".to_owned());
        }
        for i in [0, 1].into_iter().filter(|&i| c.has(i)).collect::<Vec<_>>() {
            c.one_element(i)?;
        }
        let [region] = c.regions else { return Err("there must be one region".to_owned()) };
        let carried = c.inputs().saturating_sub(2);
        let outputs = region.block.outputs.clone();
        if region.block.inputs.len() != carried + 2 || outputs.len() < carried + 1 {
            return Err(format!(
                "{carried} values are carried; the region takes {} and gives {}",
                region.block.inputs.len(),
                outputs.len()
            ));
        }
        let go = c.fact(outputs[0]);
        if go.elem()? != Elem::Bool || smalti_dims::product(go.shape()?).int().is_some_and(|n| n != 1) {
            return Err(format!("the region's condition is {}; it must be one bool", go.ty.text(c.symbols)));
        }
        let mut facts = Vec::new();
        for i in 0..carried {
            let (before, after) = (c.input(i + 2)?.ty.clone(), c.fact(outputs[i + 1]).ty.clone());
            if before != after {
                let (before, after) = (before.text(c.symbols), after.text(c.symbols));
                return Err(format!(
                    "carried value {i} is {before} before a round and {after} after it; its type must stay"
                ));
            }
            facts.push(Fact::of(before));
        }
        // One symbol for the rounds that were run.
        let stacked: Vec<Type> = outputs[carried + 1..].iter().map(|&v| c.fact(v).ty.clone()).collect();
        if !stacked.is_empty() {
            let rounds = Dim::symbol(c.symbols.fresh("rounds"));
            for ty in stacked {
                let Type::Tensor { elem, shape } = ty else { return Err("only tensors are stacked".to_owned()) };
                facts.push(Fact::tensor(elem, std::iter::once(rounds.clone()).chain(shape)));
            }
        }
        Ok(facts)
    },
    eval: |_| Err("the interpreter runs regions itself".to_owned()),
};
