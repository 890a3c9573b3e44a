//! `constant`: the tensor `value`.

use super::OpDef;
use crate::graph::Fact;

/// The operation.
pub static CONSTANT: OpDef = OpDef {
    name: "constant",
    infer: |c| Ok(vec![Fact::constant(c.attrs.tensor("value").ok_or("attribute 'value' is missing")?)]),
    eval: |c| {
        let tensor = c.attrs.tensor("value").ok_or("attribute 'value' is missing")?;
        Ok(vec![if c.exact { tensor.promoted() } else { (**tensor).clone() }])
    },
};
