//! Makes bodies.

use crate::nest::{Access, BinOp, CmpOp, Inst, Nest, Op, Operand, Phase, RedOp, Step, UnOp, Value};
use crate::{Elem, Func, scalar};
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// Builds a nest, instruction by instruction. An instruction that repeats a visible one gives that one's value.
#[derive(Debug)]
pub struct Builder {
    nest: Nest,
    types: Vec<Elem>,
}

impl Builder {
    /// A nest without operands or phases.
    pub fn new(name: impl Into<String>, outer: usize, inner: usize) -> Builder {
        let nest = Nest { name: name.into(), outer, inner, operands: Vec::new(), phases: Vec::new() };
        Builder { nest, types: Vec::new() }
    }

    /// Adds an operand and gives its number.
    pub fn operand(&mut self, name: impl Into<String>, elem: Elem, access: Access, step: Step) -> u32 {
        self.nest.operands.push(Operand { name: name.into(), elem, access, step });
        self.nest.operands.len() as u32 - 1
    }

    /// Begins a body that runs once an outer point.
    pub fn once(&mut self) {
        self.nest.phases.push(Phase::Once(Vec::new()));
    }

    /// Begins a body that runs for each inner point.
    pub fn inner_loop(&mut self) {
        self.nest.phases.push(Phase::Loop(Vec::new()));
    }

    /// The nest.
    pub fn finish(self) -> Nest {
        self.nest
    }

    /// A value's type.
    pub fn type_of(&self, value: Value) -> Elem {
        self.types[value.0 as usize]
    }

    /// Adds an instruction to the last phase.
    pub fn inst(&mut self, op: Op, ty: Elem, args: &[Value]) -> Value {
        if self.nest.phases.is_empty() {
            self.inner_loop();
        }
        let before = self.types.len() - self.nest.phases.last().map_or(0, |p| p.insts().len());
        let insts = self.nest.phases.last_mut().expect("a phase was begun").insts_mut();
        let movable = !matches!(op, Op::Store(_) | Op::Load(_) | Op::Reduce(_));
        if movable && let Some(i) = insts.iter().position(|i| i.op == op && i.ty == ty && i.args == args) {
            return Value((before + i) as u32);
        }
        insts.push(Inst { op, ty, args: args.to_vec() });
        self.types.push(ty);
        Value(self.types.len() as u32 - 1)
    }

    /// A constant by its bits.
    pub fn bits(&mut self, ty: Elem, bits: u64) -> Value {
        self.inst(Op::Const(bits), ty, &[])
    }

    /// The float or integer nearest to `x`.
    pub fn number(&mut self, ty: Elem, x: f64) -> Value {
        self.bits(ty, scalar::cast(Elem::F64, ty, x.to_bits()))
    }

    /// Reads an operand.
    pub fn load(&mut self, operand: u32) -> Value {
        let ty = self.nest.operands[operand as usize].elem.widened();
        self.inst(Op::Load(operand), ty, &[])
    }

    /// Writes an operand.
    pub fn store(&mut self, operand: u32, value: Value) {
        self.inst(Op::Store(operand), self.type_of(value), &[value]);
    }

    /// An operation on one argument.
    pub fn un(&mut self, op: UnOp, a: Value) -> Value {
        self.inst(Op::Un(op), self.type_of(a), &[a])
    }

    /// An operation on two arguments of one type.
    pub fn bin(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        self.inst(Op::Bin(op), self.type_of(a), &[a, b])
    }

    /// `a · b + c`, rounded once.
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.inst(Op::Fma, self.type_of(a), &[a, b, c])
    }

    /// A comparison.
    pub fn cmp(&mut self, op: CmpOp, a: Value, b: Value) -> Value {
        self.inst(Op::Cmp(op), Elem::Bool, &[a, b])
    }

    /// `yes` where `condition` holds, else `no`.
    pub fn select(&mut self, condition: Value, yes: Value, no: Value) -> Value {
        self.inst(Op::Select, self.type_of(yes), &[condition, yes, no])
    }

    /// A conversion; none where the type is right already. To a narrower float than f32, the value is rounded and
    /// stays an f32.
    pub fn cast(&mut self, to: Elem, a: Value) -> Value {
        let a = if self.type_of(a) == to.widened() { a } else { self.inst(Op::Cast, to.widened(), &[a]) };
        if to == to.widened() { a } else { self.inst(Op::Round(to), Elem::F32, &[a]) }
    }

    /// The same bits as another type.
    pub fn bitcast(&mut self, to: Elem, a: Value) -> Value {
        self.inst(Op::Bitcast, to, &[a])
    }

    /// A function.
    pub fn call(&mut self, func: Func, args: &[Value]) -> Value {
        self.inst(Op::Call(func), self.type_of(args[0]), args)
    }

    /// A reduction; its value exists after the phase.
    pub fn reduce(&mut self, op: RedOp, a: Value) -> Value {
        self.inst(Op::Reduce(op), self.type_of(a), &[a])
    }

    /// Copies the instructions of `phase` into the last phase. `args` are this nest's values for the phase's loads,
    /// by operand number; `known` maps values of other phases. Stores are left out; the stored values come back,
    /// by operand number.
    pub fn inline(
        &mut self,
        phase: &Phase,
        first: usize,
        args: &dyn Fn(&mut Builder, u32) -> Value,
        known: &dyn Fn(Value) -> Option<Value>,
    ) -> Vec<(u32, Value)> {
        let mut here: Vec<Option<Value>> = vec![None; phase.insts().len()];
        let mut stored = Vec::new();
        for (i, inst) in phase.insts().iter().enumerate() {
            let map = |v: &Value| {
                let local = (v.0 as usize).checked_sub(first).and_then(|at| here.get(at).copied().flatten());
                local.or_else(|| known(*v)).expect("a verified body uses visible values")
            };
            let mapped: Vec<Value> = inst.args.iter().map(map).collect();
            here[i] = match inst.op {
                Op::Load(o) => Some(args(self, o)),
                Op::Store(o) => {
                    stored.push((o, mapped[0]));
                    None
                }
                op => Some(self.inst(op, inst.ty, &mapped)),
            };
        }
        stored
    }
}
