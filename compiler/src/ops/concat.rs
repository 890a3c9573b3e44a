//! Concat, and Split as its reverse.

use super::{Lowering, OnnxOp};
use crate::import::{ImportError, NodeImport};
use smalti_dims::Dim;
use smalti_graph::{Attr, Attrs, Tensor, ValueId};

pub(super) const OPS: &[OnnxOp] = &[
    OnnxOp {
        name: "Concat",
        import: |c| {
            let inputs = c.all()?;
            let attrs = Attrs::none().with("axis", Attr::Int(c.int("axis", 1)));
            Ok(vec![c.one("concat", attrs, &inputs)?])
        },
    },
    OnnxOp { name: "Split", import: split },
];

fn split(c: &mut NodeImport<'_, '_>) -> Result<Vec<ValueId>, ImportError> {
    let x = c.input(0)?;
    let shape = c.shape(x)?;
    let axis = smalti_graph::ops::axis(c.int("axis", 0), shape.len())?;
    let sizes = match c.optional(1) {
        Some(id) => Some(c.ints_of(id, "the sizes of the parts")?),
        None => c.ints("split"),
    };
    let count = c.outputs() as i64;
    if count == 0 {
        return Err("there are no outputs".into());
    }
    let given = c.int("num_outputs", count);
    if given != count {
        return Err(format!("num_outputs is {given}, there are {count} outputs").into());
    }
    let sizes: Vec<i64> = match sizes {
        Some(sizes) => sizes,
        None => {
            let extent =
                shape[axis].int().ok_or(ImportError::Unsupported("a split of a dim that is not known".to_owned()))?;
            let part = extent.unsigned_abs().div_ceil(count as u64) as i64;
            (0..count).map(|i| part.min(extent - i * part).max(0)).collect()
        }
    };
    let total = sizes.iter().try_fold(0i64, |a, &s| a.checked_add(s)).filter(|_| sizes.iter().all(|&s| s >= 0));
    let total = total.ok_or(ImportError::Node(format!("{sizes:?} are no sizes of parts")))?;
    if let Some(extent) = shape[axis].int()
        && total != extent
    {
        return Err(format!("the parts {sizes:?} don't add up to the dim of {extent}").into());
    }
    let mut parts = Vec::new();
    let mut start = 0;
    let axes = c.constant(Tensor::i64([1], &[axis as i64]));
    for size in sizes {
        let begin = c.constant(Tensor::i64([1], &[start]));
        let end = c.constant(Tensor::i64([1], &[start + size]));
        parts.push(c.one("slice", Attrs::none(), &[x, begin, end, axes])?);
        start += size;
    }
    Ok(parts)
}

pub(super) const LOWERINGS: &[(&str, Lowering)] = &[("concat", |l, node| {
    let out = node.outputs[0];
    let shape = l.shape(out)?;
    let elem = l.elem(out)?;
    let at = smalti_graph::ops::axis(node.attrs.int("axis", 0), shape.len())?;
    let to = l.fresh(elem, &shape);
    let mut start = Dim::from(0i64);
    for &input in node.inputs.iter().flatten() {
        let part = l.shape(input)?;
        let from = l.loc(input)?;
        let mut place = to.clone();
        place.offset = place.offset.clone() + start.clone() * to.strides[at].clone();
        l.copy(&node.name, elem, &part, &from, &place);
        start = start + part[at].clone();
    }
    l.set(out, to);
    Ok(())
})];
