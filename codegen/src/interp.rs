//! The interpreter: the definition of what a nest computes.

use crate::nest::{Nest, Op, PARTIALS, Phase, Value};
use crate::{Elem, scalar};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// The bytes of an operand.
#[derive(Debug)]
pub enum Data<'a> {
    /// Only read.
    In(&'a [u8]),
    /// Written, and read where the operand is also an input.
    Out(&'a mut [u8]),
}

/// Extents and strides of one run.
#[derive(Clone, Copy, Debug)]
pub struct Space<'a> {
    /// The extent of each dim.
    pub extents: &'a [usize],
    /// Each operand's stride in each dim, in elements: operand by operand.
    pub strides: &'a [i64],
    /// Where each operand's first element lies in its data, in elements.
    pub offsets: &'a [i64],
}

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// An access outside an operand.
    #[error("nest {nest}: operand {operand} is accessed at element {at}, it has {len}")]
    Bounds {
        /// The nest.
        nest: String,
        /// The operand.
        operand: String,
        /// The element.
        at: i64,
        /// How many elements the operand has.
        len: usize,
    },
    /// The space does not fit the nest.
    #[error("nest {nest}: {expected} {what} are needed, {found} were given")]
    Space {
        /// The nest.
        nest: String,
        /// Of what.
        what: &'static str,
        /// How many are needed.
        expected: usize,
        /// How many were given.
        found: usize,
    },
}

/// Runs `[begin, end)` of the first dim.
///
/// # Errors
/// An access outside an operand; what was written before it stays.
pub fn run(nest: &Nest, space: &Space<'_>, data: &mut [Data<'_>], begin: usize, end: usize) -> Result<(), RunError> {
    let rank = nest.rank();
    for (what, expected, found) in [
        ("extents", rank, space.extents.len()),
        ("strides", rank * nest.operands.len(), space.strides.len()),
        ("offsets", nest.operands.len(), space.offsets.len()),
        ("operands", nest.operands.len(), data.len()),
    ] {
        if expected != found {
            return Err(RunError::Space { nest: nest.name.clone(), what, expected, found });
        }
    }
    let mut machine = Machine {
        nest,
        space,
        data,
        values: vec![0; nest.insts().count()],
        types: nest.insts().map(|i| i.ty).collect(),
    };
    let mut extents = space.extents.to_vec();
    let mut first = vec![0; rank];
    if rank > 0 {
        extents[0] = end;
        first[0] = begin;
    }
    let (outer, inner) = extents.split_at(nest.outer);
    let (first_outer, first_inner) = first.split_at(nest.outer);
    let mut point = first.clone();
    each(outer, first_outer, &mut |at| {
        point[..nest.outer].copy_from_slice(at);
        machine.outer_point(&mut point, inner, first_inner)
    })
}

/// Calls `visit` for each point between `first` and `extents`, the last dim fastest.
fn each(
    extents: &[usize],
    first: &[usize],
    visit: &mut dyn FnMut(&[usize]) -> Result<(), RunError>,
) -> Result<(), RunError> {
    if extents.iter().zip(first).any(|(e, f)| f >= e) {
        return Ok(());
    }
    let mut at = first.to_vec();
    loop {
        visit(&at)?;
        let mut dim = at.len();
        loop {
            if dim == 0 {
                return Ok(());
            }
            dim -= 1;
            at[dim] += 1;
            if at[dim] < extents[dim] {
                break;
            }
            at[dim] = first[dim];
        }
    }
}

struct Machine<'a, 'b, 'c> {
    nest: &'a Nest,
    space: &'a Space<'a>,
    data: &'b mut [Data<'c>],
    values: Vec<u64>,
    types: Vec<Elem>,
}

impl Machine<'_, '_, '_> {
    fn outer_point(&mut self, point: &mut [usize], inner: &[usize], first: &[usize]) -> Result<(), RunError> {
        let nest = self.nest;
        let mut number = 0;
        for phase in &nest.phases {
            let insts = phase.insts();
            match phase {
                Phase::Once(_) => {
                    point[nest.outer..].fill(0);
                    self.body(insts, number, point, &mut |_, _, _| {})?;
                }
                Phase::Loop(_) => {
                    let mut partials: Vec<[u64; PARTIALS]> = insts
                        .iter()
                        .filter_map(|i| match i.op {
                            Op::Reduce(op) => Some([op.identity(i.ty); PARTIALS]),
                            _ => None,
                        })
                        .collect();
                    let mut count = 0usize;
                    each(inner, first, &mut |at| {
                        point[nest.outer..].copy_from_slice(at);
                        let mut which = 0;
                        let slot = count % PARTIALS;
                        self.body(insts, number, point, &mut |op, ty, value| {
                            let partial = &mut partials[which][slot];
                            *partial = scalar::binary(op.step(), ty, *partial, value);
                            which += 1;
                        })?;
                        count += 1;
                        Ok(())
                    })?;
                    let mut which = 0;
                    for (i, inst) in insts.iter().enumerate() {
                        if let Op::Reduce(op) = inst.op {
                            let folded = halve(&mut partials[which], op.step(), inst.ty);
                            self.values[number + i] = if count == 0 { op.of_nothing(inst.ty) } else { folded };
                            which += 1;
                        }
                    }
                }
            }
            number += insts.len();
        }
        Ok(())
    }

    fn body(
        &mut self,
        insts: &[crate::Inst],
        number: usize,
        point: &[usize],
        reduce: &mut dyn FnMut(crate::RedOp, Elem, u64),
    ) -> Result<(), RunError> {
        for (i, inst) in insts.iter().enumerate() {
            let arg = |k: usize| {
                let Value(v) = inst.args[k];
                self.values[v as usize]
            };
            let result = match inst.op {
                Op::Const(bits) => bits,
                Op::Load(operand) => {
                    let at = self.at(operand, point)?;
                    let elem = self.nest.operands[operand as usize].elem;
                    let bytes: &[u8] = match &self.data[operand as usize] {
                        Data::In(bytes) => bytes,
                        Data::Out(bytes) => bytes,
                    };
                    scalar::load(elem, &bytes[at..at + elem.size()])
                }
                Op::Store(operand) => {
                    let at = self.at(operand, point)?;
                    let elem = self.nest.operands[operand as usize].elem;
                    let value = arg(0);
                    if let Data::Out(bytes) = &mut self.data[operand as usize] {
                        scalar::store(elem, value, &mut bytes[at..at + elem.size()]);
                    }
                    value
                }
                Op::Un(op) => scalar::unary(op, inst.ty, arg(0)),
                Op::Bin(op) => scalar::binary(op, inst.ty, arg(0), arg(1)),
                Op::Fma => scalar::fma(inst.ty, arg(0), arg(1), arg(2)),
                Op::Cmp(op) => scalar::compare(op, self.type_of(inst.args[0]), arg(0), arg(1)),
                Op::Select => {
                    if arg(0) != 0 {
                        arg(1)
                    } else {
                        arg(2)
                    }
                }
                Op::Cast => scalar::cast(self.type_of(inst.args[0]), inst.ty, arg(0)),
                Op::Round(to) => scalar::round(to, arg(0)),
                Op::Bitcast => arg(0),
                Op::Call(func) => {
                    let wide = |k: usize| if k < func.arity() { scalar::cast(inst.ty, Elem::F64, arg(k)) } else { 0 };
                    let y = func.call(scalar::f64_of(wide(0)), scalar::f64_of(wide(1)));
                    scalar::cast(Elem::F64, inst.ty, y.to_bits())
                }
                Op::Reduce(op) => {
                    reduce(op, inst.ty, arg(0));
                    continue;
                }
            };
            self.values[number + i] = result;
        }
        Ok(())
    }

    fn type_of(&self, Value(v): Value) -> Elem {
        self.types[v as usize]
    }

    /// The byte at which an operand's element for `point` begins.
    fn at(&self, operand: u32, point: &[usize]) -> Result<usize, RunError> {
        let o = operand as usize;
        let rank = point.len();
        let strides = &self.space.strides[o * rank..(o + 1) * rank];
        let element = self.space.offsets[o] + point.iter().zip(strides).map(|(&p, s)| p as i64 * s).sum::<i64>();
        let size = self.nest.operands[o].elem.size();
        let len = match &self.data[o] {
            Data::In(bytes) => bytes.len(),
            Data::Out(bytes) => bytes.len(),
        } / size;
        match usize::try_from(element) {
            Ok(at) if at < len => Ok(at * size),
            _ => Err(RunError::Bounds {
                nest: self.nest.name.clone(),
                operand: self.nest.operands[o].name.clone(),
                at: element,
                len,
            }),
        }
    }
}

fn halve(partials: &mut [u64; PARTIALS], step: crate::BinOp, ty: Elem) -> u64 {
    let mut half = PARTIALS / 2;
    while half > 0 {
        for j in 0..half {
            partials[j] = scalar::binary(step, ty, partials[j], partials[j + half]);
        }
        half /= 2;
    }
    partials[0]
}
