//! Conv.

use super::{Lowering, OnnxOp};
use crate::import::{ImportError, NodeImport, unsupported};
use smalti_dims::Dim;
use smalti_graph::{Attr, Attrs, ValueId};

pub(super) const OPS: &[OnnxOp] = &[OnnxOp { name: "Conv", import }];

fn import(c: &mut NodeImport<'_, '_>) -> Result<Vec<ValueId>, ImportError> {
    let (x, w) = (c.input(0)?, c.input(1)?);
    let (shape, weights) = (c.shape(x)?, c.shape(w)?);
    if weights.len() < 3 {
        return Err(format!("the weights have {} dims, at least 3 are needed", weights.len()).into());
    }
    let kernel: Option<Vec<i64>> = weights[2..].iter().map(Dim::int).collect();
    let kernel = kernel.ok_or(ImportError::Unsupported("the kernel's extents must be known".to_owned()))?;
    if c.ints("kernel_shape").is_some_and(|k| !k.is_empty() && k != kernel) {
        return Err(format!("'kernel_shape' is {:?}, the weights say {kernel:?}", c.ints("kernel_shape")).into());
    }
    let attrs = window(c, &shape, &kernel)?.with("group", Attr::Int(c.int("group", 1)));
    let y = c.one("conv", attrs, &[x, w])?;
    let Some(bias) = c.optional(2) else { return Ok(vec![y]) };
    // The bias is an elementwise sum, which is fused into the convolution's epilogue.
    let axes = Attr::Ints((1..=kernel.len() as i64).collect());
    let bias = c.one("unsqueeze", Attrs::none().with("axes", axes), &[bias])?;
    Ok(vec![c.one("add", Attrs::none(), &[y, bias])?])
}

/// `strides`, `pads` and `dilations` of a window, `auto_pad` worked out.
pub(super) fn window(c: &NodeImport<'_, '_>, shape: &[Dim], kernel: &[i64]) -> Result<Attrs, ImportError> {
    let n = kernel.len();
    if shape.len() != n + 2 {
        return Err(format!("the input has {} dims, a window of {n} needs {}", shape.len(), n + 2).into());
    }
    let list = |name: &str| c.ints(name).filter(|l| !l.is_empty());
    let strides = list("strides").unwrap_or(vec![1; n]);
    let dilations = list("dilations").unwrap_or(vec![1; n]);
    if strides.len() != n || dilations.len() != n || strides.iter().chain(&dilations).any(|&v| v < 1) {
        return Err(format!("strides {strides:?} and dilations {dilations:?} of a window of {n} dims").into());
    }
    if strides.iter().chain(&dilations).chain(kernel).any(|&v| v > i32::MAX.into()) {
        return Err(
            format!("strides {strides:?}, dilations {dilations:?}, kernel {kernel:?}: 2147483647 is the most").into()
        );
    }
    let mut pads = list("pads").unwrap_or(vec![0; 2 * n]);
    match c.text("auto_pad").as_str() {
        "" | "NOTSET" => {}
        "VALID" => pads = vec![0; 2 * n],
        kind @ ("SAME_UPPER" | "SAME_LOWER") => {
            for d in 0..n {
                let Some(extent) = shape[d + 2].int() else {
                    return unsupported("auto_pad of a dim that is not known");
                };
                let out = (extent + strides[d] - 1) / strides[d];
                let reach = dilations[d] * (kernel[d] - 1) + 1;
                let total = ((out - 1) * strides[d] + reach - extent).max(0);
                let (small, large) = (total / 2, total - total / 2);
                (pads[d], pads[d + n]) = if kind == "SAME_UPPER" { (small, large) } else { (large, small) };
            }
        }
        other => return Err(format!("auto_pad '{other}'").into()),
    }
    Ok(Attrs::none()
        .with("strides", Attr::Ints(strides))
        .with("pads", Attr::Ints(pads))
        .with("dilations", Attr::Ints(dilations)))
}

pub(super) const LOWERINGS: &[(&str, Lowering)] =
    &[("conv", |l, node| l.conv(node)), ("pack_weights", |l, node| l.pack_weights(node))];
