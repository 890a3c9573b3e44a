//! If and Loop.

use super::{Lowering, OnnxOp};
use crate::import::{ImportError, NodeImport};
use smalti_graph::ops::{if_, loop_};
use smalti_graph::{Attrs, Elem, Fact, ValueId};

pub(super) const OPS: &[OnnxOp] = &[OnnxOp { name: "If", import: branch }, OnnxOp { name: "Loop", import: rounds }];

fn branch(c: &mut NodeImport<'_, '_>) -> Result<Vec<ValueId>, ImportError> {
    let condition = c.input(0)?;
    let yes = c.region("then_branch", &[])?;
    let no = c.region("else_branch", &[])?;
    c.emit(&if_::IF, Attrs::none(), vec![Some(condition)], vec![yes, no])
}

fn rounds(c: &mut NodeImport<'_, '_>) -> Result<Vec<ValueId>, ImportError> {
    let (most, begin) = (c.optional(0), c.optional(1));
    let mut inputs = vec![most, begin];
    // What is known of carried values before the loop holds in every round only for their types.
    let mut facts = vec![Some(Fact::tensor(Elem::I64, [])), Some(Fact::tensor(Elem::Bool, []))];
    for i in 2..c.count() {
        let id = c.input(i)?;
        inputs.push(Some(id));
        facts.push(Some(Fact::of(c.fact(id).ty.clone())));
    }
    let body = c.region("body", &facts)?;
    c.emit(&loop_::LOOP, Attrs::none(), inputs, vec![body])
}

pub(super) const LOWERINGS: &[(&str, Lowering)] =
    &[("if", |l, node| l.branch(node)), ("loop", |l, node| l.rounds(node))];
