//! The loop-nest IR.

use crate::{Elem, Func};
use alloc::string::String;
use alloc::vec::Vec;

/// One dispatch.
///
/// The iteration space has `outer` dims, then `inner` dims. For each outer point the phases run in order: a `once`
/// body a single time, a `loop` body for each inner point in row-major order. Extents, and each operand's stride in
/// every dim, are given at run time in elements; broadcasts, transposes and slices are strides.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Nest {
    /// What it is called in dumps.
    pub name: String,
    /// Dims that phases don't loop over.
    pub outer: usize,
    /// Dims that every `loop` phase loops over.
    pub inner: usize,
    /// What is read and written.
    pub operands: Vec<Operand>,
    /// The bodies.
    pub phases: Vec<Phase>,
}

/// What is read or written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// What it is called in texts.
    pub name: String,
    /// Element type in memory.
    pub elem: Elem,
    /// Whether it is read, written, or both.
    pub access: Access,
    /// What the last dim's stride will be.
    pub step: Step,
}

/// Whether an operand is read, written, or both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Read.
    In,
    /// Written.
    Out,
    /// Read and written at the same place.
    InOut,
}

/// A promise about an operand's stride in the last dim, which lets a back end use vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// None.
    Any,
    /// It is 1.
    Unit,
    /// It is 0: the same element for the whole row.
    Zero,
}

/// A body.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Runs once an outer point; operands are accessed at inner point 0.
    Once(Vec<Inst>),
    /// Runs for each inner point.
    Loop(Vec<Inst>),
}

impl Phase {
    /// The instructions.
    pub fn insts(&self) -> &[Inst] {
        match self {
            Phase::Once(insts) | Phase::Loop(insts) => insts,
        }
    }

    /// The instructions.
    pub fn insts_mut(&mut self) -> &mut Vec<Inst> {
        match self {
            Phase::Once(insts) | Phase::Loop(insts) => insts,
        }
    }
}

/// The number of a value. Values are numbered through all phases in order; `store` makes none, but counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(pub u32);

/// One scalar operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    /// What it does.
    pub op: Op,
    /// The result's type; of a `store`, the stored value's.
    pub ty: Elem,
    /// Its operands.
    pub args: Vec<Value>,
}

/// What an instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A constant, by its bits.
    Const(u64),
    /// Reads operand number so.
    Load(u32),
    /// Writes operand number so.
    Store(u32),
    /// One argument, of the result's type.
    Un(UnOp),
    /// Two arguments of the result's type.
    Bin(BinOp),
    /// `a · b + c` rounded once.
    Fma,
    /// Compares two arguments of one type; the result is a `bool`.
    Cmp(CmpOp),
    /// The second argument where the first, a `bool`, is true, else the third.
    Select,
    /// Converts as ONNX's Cast does: floats to integers by truncation, out-of-range values to the nearest one, NaN
    /// to 0; integers to narrower ones modulo; anything to bool by comparing with 0.
    Cast,
    /// Rounds an f32 to a narrower float type, and keeps it as f32.
    Round(Elem),
    /// The same bits as another type of that size.
    Bitcast,
    /// A function of f64 (or f32, before [`math::expand`](crate::math::expand)) of one or two arguments.
    Call(Func),
    /// Folds the argument over all inner points (see [`RedOp`]); the result exists after the loop.
    Reduce(RedOp),
}

/// Operations on one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnOp {
    /// Sign change; integers wrap.
    Neg,
    /// Absolute value; integers wrap.
    Abs,
    /// Complement of bits, or of a truth value.
    Not,
    /// Square root, correctly rounded.
    Sqrt,
    /// Rounds down.
    Floor,
    /// Rounds up.
    Ceil,
    /// Rounds toward zero.
    Trunc,
    /// Rounds to the nearest integer, ties to even.
    Nearest,
}

/// Operations on two arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient. Integers: toward zero, x/0 is 0, and the least integer over -1 wraps.
    Div,
    /// Remainder with the dividend's sign; x%0 is 0. Integers only.
    Rem,
    /// The lesser; a NaN if either is one; -0 is less than +0.
    Min,
    /// The greater; a NaN if either is one; +0 is greater than -0.
    Max,
    /// And, of bits or truth values.
    And,
    /// Or.
    Or,
    /// Exclusive or.
    Xor,
    /// Shift left by the second argument; 0 where that is not below the number of bits.
    Shl,
    /// Shift right by the second argument, arithmetic for signed types; the sign where that is not below the number
    /// of bits.
    Shr,
}

/// Comparisons: false for a NaN, but `Ne`, which is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CmpOp {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

/// Reductions. Element number i of the row-major inner space goes to partial i mod 32; then partials are halved:
/// partial j takes partial j + 16, then j + 8, and so on. Nothing goes into an empty partial's place. The order is
/// the same in every back end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RedOp {
    /// Sum; 0 over nothing.
    Sum,
    /// Product; 1 over nothing.
    Prod,
    /// [`BinOp::Min`]; the greatest value over nothing.
    Min,
    /// [`BinOp::Max`]; the least value over nothing.
    Max,
}

impl BinOp {
    /// Whether the arguments may change places.
    pub const fn commutes(self) -> bool {
        use BinOp::*;
        matches!(self, Add | Mul | And | Or | Xor | Min | Max)
    }
}

impl RedOp {
    /// The step of the fold.
    pub const fn step(self) -> BinOp {
        match self {
            RedOp::Sum => BinOp::Add,
            RedOp::Prod => BinOp::Mul,
            RedOp::Min => BinOp::Min,
            RedOp::Max => BinOp::Max,
        }
    }

    /// The value that the fold leaves unchanged, bit for bit: what a partial starts from.
    pub fn identity(self, ty: Elem) -> u64 {
        match (self, ty) {
            (RedOp::Sum, Elem::F32) => (-0.0f32).to_bits().into(),
            (RedOp::Sum, Elem::F64) => (-0.0f64).to_bits(),
            (RedOp::Sum, _) => 0,
            (RedOp::Prod, Elem::F32) => 1.0f32.to_bits().into(),
            (RedOp::Prod, Elem::F64) => 1.0f64.to_bits(),
            (RedOp::Prod, _) => 1,
            (RedOp::Min, _) => crate::scalar::extremes(ty)[1],
            (RedOp::Max, _) => crate::scalar::extremes(ty)[0],
        }
    }

    /// The result over nothing.
    pub fn of_nothing(self, ty: Elem) -> u64 {
        match self {
            RedOp::Sum => 0,
            other => other.identity(ty),
        }
    }
}

/// Partials of a reduction.
pub(crate) const PARTIALS: usize = 32;

impl Nest {
    /// Dims of the iteration space.
    pub const fn rank(&self) -> usize {
        self.outer + self.inner
    }

    /// Instructions of all phases, in the order of their numbers.
    pub fn insts(&self) -> impl Iterator<Item = &Inst> {
        self.phases.iter().flat_map(|p| p.insts())
    }

    /// Whether any phase reduces.
    pub fn reduces(&self) -> bool {
        self.insts().any(|i| matches!(i.op, Op::Reduce(_)))
    }

    /// The same nest with every float computed, read and written as f64: for references that round as little as
    /// possible.
    #[must_use]
    pub fn promoted(&self) -> Nest {
        let promote = |e: Elem| if e.is_float() { Elem::F64 } else { e };
        let mut nest = self.clone();
        for operand in &mut nest.operands {
            operand.elem = promote(operand.elem);
        }
        for phase in &mut nest.phases {
            for inst in phase.insts_mut() {
                if let (Op::Const(bits), Elem::F32) = (inst.op, inst.ty) {
                    inst.op = Op::Const(f64::from(f32::from_bits(bits as u32)).to_bits());
                }
                if let Op::Round(_) = inst.op {
                    inst.op = Op::Cast;
                }
                inst.ty = promote(inst.ty);
            }
        }
        nest
    }
}
