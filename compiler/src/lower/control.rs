//! Branches and loops.

use super::{Lower, LowerError};
use crate::error::CompileError;
use smalti_codegen::Elem;
use smalti_dims::Dim;
use smalti_graph::{Node, Region, ValueId};
use smalti_program::{Bind, BufferId, Loop, Step};

impl From<CompileError> for LowerError {
    fn from(error: CompileError) -> LowerError {
        LowerError(error.to_string())
    }
}

/// What is done with the results of a region, at its end.
type Then<'a, L> = &'a mut dyn FnMut(&mut L, &[ValueId]) -> Result<(), LowerError>;

impl Lower<'_> {
    /// The buffer whose first element is the one element of a value.
    fn first_element(&mut self, node: &Node, id: ValueId) -> Result<BufferId, LowerError> {
        let loc = self.contiguous(&node.name, id)?;
        if loc.offset.is(0) {
            return Ok(loc.buffer);
        }
        let (elem, shape) = (self.elem(id)?, self.shape(id)?);
        let to = self.fresh(elem, &shape);
        self.copy(&node.name, elem, &shape, &loc, &to);
        Ok(to.buffer)
    }

    /// Steps of a region; captures are the places of what they stand for.
    fn region_steps(&mut self, region: &Region, then: Then<'_, Self>) -> Result<Vec<Step>, LowerError> {
        for &(outside, inside) in &region.captures {
            let loc = self.loc(outside)?;
            self.set(inside, loc);
        }
        let before = std::mem::take(&mut self.steps);
        let bound = self.bound.clone();
        for id in region.captures.iter().map(|c| c.1).chain(region.block.inputs.iter().copied()) {
            self.bind(id)?;
        }
        self.block(&region.block)?;
        then(self, &region.block.outputs)?;
        self.bound = bound;
        Ok(std::mem::replace(&mut self.steps, before))
    }

    pub(crate) fn branch(&mut self, node: &Node) -> Result<(), LowerError> {
        let condition = node.inputs[0].ok_or("there is no condition")?;
        let condition = self.first_element(node, condition)?;
        let mut places = Vec::new();
        for &out in &node.outputs {
            let place = self.fresh(self.elem(out)?, &self.shape(out)?);
            places.push(place.clone());
            self.set(out, place);
        }
        let mut lists = Vec::new();
        for region in &node.regions {
            lists.push(self.region_steps(region, &mut |l, results| {
                // Dims of the outputs that are symbols of their own take this branch's values.
                for (&out, &result) in node.outputs.iter().zip(results) {
                    for (dim, value) in l.shape(out)?.iter().zip(l.shape(result)?) {
                        if let Some(symbol) = dim.as_symbol().filter(|s| *dim != value && !l.bound.contains(s)) {
                            l.steps.push(Step::BindDim { symbol, value: Bind::Dim(value) });
                            l.bound.insert(symbol);
                        }
                    }
                }
                for ((&out, &result), place) in node.outputs.iter().zip(results).zip(&places) {
                    let (elem, shape, from) = (l.elem(out)?, l.shape(result)?, l.loc(result)?);
                    let to = super::Loc { strides: super::dense(&shape), ..place.clone() };
                    l.copy(&node.name, elem, &shape, &from, &to);
                }
                Ok(())
            })?);
        }
        for &out in &node.outputs {
            for dim in self.shape(out)? {
                self.bound.extend(dim.as_symbol());
            }
        }
        let no = lists.pop().ok_or("there is no second region")?;
        let yes = lists.pop().ok_or("there is no first region")?;
        self.steps.push(Step::Branch { condition, yes, no });
        self.check_what_is_bound();
        Ok(())
    }

    pub(crate) fn rounds(&mut self, node: &Node) -> Result<(), LowerError> {
        let element = |l: &mut Self, i: usize| {
            node.inputs.get(i).copied().flatten().map(|id| l.first_element(node, id)).transpose()
        };
        let most = element(self, 0)?;
        let begin = element(self, 1)?;
        let region = node.regions.first().ok_or("there is no region")?;
        let count = node.inputs.len() - 2;
        let (round, go) = (self.fresh(Elem::I64, &[]), self.fresh(Elem::Bool, &[]));
        let (round_buffer, go_buffer) = (round.buffer, go.buffer);
        let mut carried = Vec::new();
        let inner: Vec<ValueId> = region.block.inputs.clone();
        self.set(inner[0], round);
        self.set(inner[1], go);
        for (i, input) in node.inputs[2..].iter().enumerate() {
            let id = input.ok_or("a carried value is missing")?;
            let (elem, shape, from) = (self.elem(id)?, self.shape(id)?, self.loc(id)?);
            let place = self.fresh(elem, &shape);
            self.copy(&node.name, elem, &shape, &from, &place);
            self.set(inner[i + 2], place.clone());
            carried.push(place);
        }
        let mut stacked = Vec::new();
        let mut rounds = None;
        for &out in &node.outputs[count..] {
            let shape = self.shape(out)?;
            rounds = rounds.or(shape.first().and_then(Dim::as_symbol));
            let place = self.fresh(self.elem(out)?, &shape);
            stacked.push(place.clone());
            self.set(out, place);
        }
        // While the loop runs, the symbol is the greatest number of rounds.
        self.bound.extend(rounds);
        let (mut next, mut moves, mut stacks) = (None, Vec::new(), Vec::new());
        let body = self.region_steps(region, &mut |l, results| {
            next = Some(l.first_element(node, results[0])?);
            for (i, &result) in results[1..].iter().enumerate() {
                // A value that is moved lies densely in memory of its own.
                let (elem, shape, from) = (l.elem(result)?, l.shape(result)?, l.loc(result)?);
                let to = l.fresh(elem, &shape);
                l.copy(&node.name, elem, &shape, &from, &to);
                match i.checked_sub(count) {
                    None => moves.push((to.buffer, carried[i].buffer)),
                    Some(s) => stacks.push((to.buffer, stacked[s].buffer)),
                }
            }
            Ok(())
        })?;
        for (&out, place) in node.outputs.iter().zip(&carried) {
            self.set(out, place.clone());
        }
        self.steps.push(Step::Loop(Loop {
            most,
            begin,
            round: round_buffer,
            go: go_buffer,
            body,
            next: next.ok_or("the region gives no condition")?,
            carried: moves,
            stacked: stacks,
            rounds,
        }));
        self.check_what_is_bound();
        Ok(())
    }
}
