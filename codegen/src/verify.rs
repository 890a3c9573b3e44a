//! What makes a nest well-formed.

use crate::nest::{Access, BinOp, Inst, Nest, Op, Phase, UnOp, Value};
use crate::{Elem, scalar};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Dims of an iteration space.
const RANK: usize = 32;

/// What is wrong with a nest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("nest {nest}{}: {reason}", .inst.map(|i| format!(", value %{i}")).unwrap_or_default())]
pub struct VerifyError {
    /// The nest.
    pub nest: String,
    /// The number of the instruction, where one is to blame.
    pub inst: Option<usize>,
    /// What is wrong.
    pub reason: String,
}

/// Where a value may be used.
#[derive(Clone, Copy, PartialEq)]
enum Scope {
    /// In this and every later phase.
    Everywhere,
    /// In this phase, which has this number.
    Phase(usize),
    /// In every phase after this one.
    After(usize),
    /// Nowhere: a store.
    Nowhere,
}

impl Nest {
    /// Checks types, scopes and operands.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn verify(&self) -> Result<(), VerifyError> {
        let wrong = |inst, reason| VerifyError { nest: self.name.clone(), inst, reason };
        if self.inner == 0 || self.outer.saturating_add(self.inner) > RANK {
            return Err(wrong(None, format!("there must be an inner dim, and at most {RANK} in all")));
        }
        if self.outer == 0 && self.phases.iter().any(|p| matches!(p, Phase::Once(_))) {
            return Err(wrong(None, "a body that runs once needs an outer dim, of extent 1 if there is none".into()));
        }
        if self.outer == 0 && self.reduces() {
            return Err(wrong(None, "a reduction needs an outer dim, of extent 1 if there is none".into()));
        }
        for (i, o) in self.operands.iter().enumerate() {
            if self.operands[..i].iter().any(|p| p.name == o.name) {
                return Err(wrong(None, format!("two operands are called {}", o.name)));
            }
        }
        let mut known: Vec<(Elem, Scope)> = Vec::new();
        for (p, phase) in self.phases.iter().enumerate() {
            for inst in phase.insts() {
                let number = known.len();
                let mut args = Vec::new();
                for &Value(v) in &inst.args {
                    let visible = known.get(v as usize).filter(|k| match k.1 {
                        Scope::Everywhere => true,
                        Scope::Phase(q) => q == p,
                        Scope::After(q) => p > q,
                        Scope::Nowhere => false,
                    });
                    let Some(&(ty, _)) = visible else {
                        return Err(wrong(Some(number), format!("%{v} is not visible here")));
                    };
                    args.push(ty);
                }
                self.inst(inst, &args, phase).map_err(|reason| wrong(Some(number), reason))?;
                let scope = match (inst.op, phase) {
                    (Op::Store(_), _) => Scope::Nowhere,
                    (Op::Reduce(_), _) => Scope::After(p),
                    (_, Phase::Once(_)) => Scope::Everywhere,
                    (_, Phase::Loop(_)) => Scope::Phase(p),
                };
                known.push((inst.ty, scope));
            }
        }
        Ok(())
    }

    fn inst(&self, inst: &Inst, args: &[Elem], phase: &Phase) -> Result<(), String> {
        let ty = inst.ty;
        if ty != ty.widened() {
            return Err(format!("no value has type {ty}: it is widened when loaded"));
        }
        let operand = |o: u32| self.operands.get(o as usize).ok_or(format!("there is no operand number {o}"));
        let expected: &[Elem] = match inst.op {
            Op::Const(bits) => {
                if scalar::wrap(ty, bits.into()) != bits || ty == Elem::Bool && bits > 1 {
                    return Err(format!("the constant has more bits than a {ty}"));
                }
                &[]
            }
            Op::Load(o) => {
                let o = operand(o)?;
                if o.access == Access::Out {
                    return Err(format!("operand {} is only written", o.name));
                }
                if o.elem.widened() != ty {
                    return Err(format!("operand {} is of {}", o.name, o.elem));
                }
                &[]
            }
            Op::Store(o) => {
                let o = operand(o)?;
                if o.access == Access::In {
                    return Err(format!("operand {} is only read", o.name));
                }
                if o.elem.widened() != ty {
                    return Err(format!("operand {} is of {}", o.name, o.elem));
                }
                &[ty]
            }
            Op::Un(op) => {
                let fits = match op {
                    UnOp::Not => !ty.is_float(),
                    UnOp::Neg | UnOp::Abs => ty != Elem::Bool,
                    _ => ty.is_float(),
                };
                if !fits {
                    return Err(format!("no such operation on {ty}"));
                }
                &[ty]
            }
            Op::Bin(op) => {
                let fits = match op {
                    BinOp::Rem | BinOp::Shl | BinOp::Shr => ty.is_int(),
                    BinOp::And | BinOp::Or | BinOp::Xor => !ty.is_float(),
                    BinOp::Min | BinOp::Max => true,
                    _ => ty != Elem::Bool,
                };
                if !fits {
                    return Err(format!("no such operation on {ty}"));
                }
                &[ty, ty]
            }
            Op::Fma if ty.is_float() => &[ty, ty, ty],
            Op::Fma => return Err(format!("no such operation on {ty}")),
            Op::Cmp(_) => match args {
                [a, b] if a == b && ty == Elem::Bool => return Ok(()),
                _ => return Err("a comparison takes two values of one type and gives a bool".into()),
            },
            Op::Select => &[Elem::Bool, ty, ty],
            Op::Cast => return one(args),
            Op::Round(to) => {
                if !matches!(to, Elem::F16 | Elem::Bf16) || ty != Elem::F32 {
                    return Err(format!("f32 is not rounded to {to}"));
                }
                &[Elem::F32]
            }
            Op::Bitcast => {
                one(args)?;
                if args[0].size() != ty.size() || args[0] == Elem::Bool || ty == Elem::Bool {
                    return Err(format!("{} and {ty} have different sizes", args[0]));
                }
                return Ok(());
            }
            Op::Call(func) => {
                if !ty.is_float() {
                    return Err(format!("{func} takes floats, not {ty}"));
                }
                &[ty, ty][..func.arity()]
            }
            Op::Reduce(_) => {
                if matches!(phase, Phase::Once(_)) {
                    return Err("a reduction stands in a loop".into());
                }
                if ty == Elem::Bool {
                    return Err("bool is not reduced; cast it".into());
                }
                &[ty]
            }
        };
        if args != expected {
            let list = |types: &[Elem]| types.iter().map(|t| t.name()).collect::<Vec<_>>().join(", ");
            return Err(format!("takes ({}), is given ({})", list(expected), list(args)));
        }
        Ok(())
    }
}

fn one(args: &[Elem]) -> Result<(), String> {
    if args.len() == 1 { Ok(()) } else { Err(format!("takes one value, is given {}", args.len())) }
}
