//! MatMul and Gemm.

use super::{Lowering, OnnxOp};
use crate::import::{ImportError, NodeImport};
use smalti_graph::{Attr, Attrs, ValueId};

pub(super) const OPS: &[OnnxOp] = &[
    OnnxOp {
        name: "MatMul",
        import: |c| {
            let inputs = [c.input(0)?, c.input(1)?];
            Ok(vec![c.one("matmul", Attrs::none(), &inputs)?])
        },
    },
    OnnxOp { name: "Gemm", import: gemm },
];

fn gemm(c: &mut NodeImport<'_, '_>) -> Result<Vec<ValueId>, ImportError> {
    let (a, b) = (c.input(0)?, c.input(1)?);
    let elem = c.elem(a)?;
    if c.rank(a)? != 2 || c.rank(b)? != 2 {
        return Err("both matrices need two dims".into());
    }
    let attrs =
        Attrs::none().with("trans_a", Attr::Int(c.int("transA", 0))).with("trans_b", Attr::Int(c.int("transB", 0)));
    let mut y = c.one("matmul", attrs, &[a, b])?;
    let (alpha, beta) = (c.float("alpha", 1.0), c.float("beta", 1.0));
    if alpha != 1.0 {
        let alpha = c.scalar(elem, alpha.into());
        y = c.one("mul", Attrs::none(), &[y, alpha])?;
    }
    if let Some(mut bias) = c.optional(2) {
        if beta != 1.0 {
            let beta = c.scalar(elem, beta.into());
            bias = c.one("mul", Attrs::none(), &[bias, beta])?;
        }
        y = c.one("add", Attrs::none(), &[y, bias])?;
    }
    Ok(vec![y])
}

pub(super) const LOWERINGS: &[(&str, Lowering)] = &[
    ("matmul", |l, node| l.matmul(node)),
    ("pack", |l, node| l.pack(node)),
    // An encoding that nothing materialized: the operand as it lies.
    ("encode", |l, node| {
        let id = node.inputs[0].ok_or("an encoding without an input")?;
        let loc = l.loc(id)?;
        l.set(node.outputs[0], loc);
        Ok(())
    }),
];
