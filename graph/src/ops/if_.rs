//! `if`: the first region where the input, a bool of one element, is true, else the second one.

use super::OpDef;
use crate::Elem;
use crate::Type;
use crate::graph::Fact;
use smalti_dims::Dim;

/// The operation.
pub static IF: OpDef = OpDef {
    name: "if",
    infer: |c| {
        if c.elem(0)? != Elem::Bool {
            return Err("the condition must be bool".to_owned());
        }
        c.one_element(0)?;
        let [yes, no] = c.regions else { return Err("there must be two regions".to_owned()) };
        if yes.block.outputs.len() != no.block.outputs.len() {
            return Err(format!(
                "one region gives {} values, the other {}",
                yes.block.outputs.len(),
                no.block.outputs.len()
            ));
        }
        let pairs: Vec<(Type, Type)> = yes
            .block
            .outputs
            .iter()
            .zip(&no.block.outputs)
            .map(|(&y, &n)| (c.fact(y).ty.clone(), c.fact(n).ty.clone()))
            .collect();
        pairs.into_iter().map(|(y, n)| join(c.symbols, y, n).map(Fact::of)).collect()
    },
    eval: |_| Err("the interpreter runs regions itself".to_owned()),
};

/// The type that holds both: dims that differ become new symbols.
fn join(symbols: &mut smalti_dims::Symbols, yes: Type, no: Type) -> Result<Type, String> {
    match (yes, no) {
        (Type::Tensor { elem, shape }, Type::Tensor { elem: other, shape: shape2 }) => {
            if elem != other || shape.len() != shape2.len() {
                return Err("the regions give tensors of different element types or ranks".to_owned());
            }
            let dims =
                shape.into_iter().zip(shape2).map(|(a, b)| if a == b { a } else { Dim::symbol(symbols.fresh("if")) });
            Ok(Type::tensor(elem, dims.collect::<Vec<_>>()))
        }
        (a, b) if a == b => Ok(a),
        _ => Err("the regions give values of different kinds".to_owned()),
    }
}
