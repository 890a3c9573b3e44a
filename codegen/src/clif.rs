//! Nests to machine code through Cranelift.
//!
//! [`Compiler::compile`] gives bytes that run wherever they are copied to, and maps no memory. They are the same on
//! every host. Loops over the last dim use vectors of four lanes where every operand promises a stride of 1 or 0 and
//! every operation has a vector form; the rest, and every other loop, is scalar. The arithmetic is that of the
//! [interpreter](crate::interp), to the bit.

use crate::nest::{Access, BinOp, CmpOp, Inst, Nest, Op, PARTIALS, Phase, RedOp, Step, UnOp, Value as NestValue};
use crate::{Elem, abi};
use abi::{DispatchArgs, Helpers};
use core::mem::offset_of;
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F32X4, F64, I8, I16, I32, I32X4, I64};
use cranelift_codegen::ir::{
    AbiParam, Block, BlockArg, Function, InstBuilder, MemFlagsData, Signature, StackSlot, StackSlotData, StackSlotKind,
    Type, UserFuncName, Value,
};
use cranelift_codegen::isa::{self, CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use smalti_isa::{Arch, Feature, Target};
use std::panic::{self, AssertUnwindSafe};
use std::string::{String, ToString};
use std::vec::Vec;
use std::{format, vec};

/// Machine code that is not in executable memory yet. It refers to nothing outside itself: what it calls it finds in
/// the [helper table](abi::Helpers).
#[derive(Clone, Debug)]
pub struct Code {
    /// The instructions and their constants.
    pub bytes: Vec<u8>,
    /// What the first byte must be aligned to.
    pub alignment: u64,
    /// The instructions as text.
    pub listing: String,
}

/// Why there is no machine code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClifError {
    /// The nest is not well-formed.
    #[error(transparent)]
    Verify(#[from] crate::VerifyError),
    /// An operation that this back end does not have; the interpreter does.
    #[error("nest {nest}: no machine code for {what}; the interpreter runs it")]
    Unsupported {
        /// The nest.
        nest: String,
        /// The operation.
        what: String,
    },
    /// Cranelift was built without this architecture.
    #[error("this build makes no machine code for {0}; build it with the feature all-arch")]
    Arch(&'static str),
    /// Cranelift refused what it was given, or gave code that refers to something outside itself.
    #[error("nest {nest}: {reason} (this is a bug in Smalti)")]
    Internal {
        /// The nest.
        nest: String,
        /// What went wrong, mostly in Cranelift's words.
        reason: String,
    },
}

/// `(feature, Cranelift's flags)`, where they make a difference to the types that are emitted.
const FLAGS: &[(Feature, &[&str])] = &[
    (Feature::Sse42, &["has_sse3", "has_ssse3", "has_sse41", "has_sse42", "has_popcnt"]),
    (Feature::Avx, &["has_avx"]),
    (Feature::Avx2, &["has_avx2"]),
    (Feature::Fma, &["has_fma"]),
    (Feature::V, &["has_v"]),
    (Feature::Zba, &["has_zba"]),
    (Feature::Zbb, &["has_zbb"]),
];

/// The instruction set as Cranelift knows it. Whether code is position-independent makes a difference only where it
/// refers to symbols, which ours never does.
pub(crate) fn isa(target: &Target, position_independent: bool) -> Result<OwnedTargetIsa, ClifError> {
    let arch = ClifError::Arch(target.arch.name());
    let triple = match target.arch {
        Arch::X86_64 => "x86_64-unknown-linux-gnu",
        Arch::Aarch64 => "aarch64-unknown-linux-gnu",
        Arch::Riscv64 => "riscv64gc-unknown-linux-gnu",
    };
    let mut builder = isa::lookup_by_name(triple).map_err(|_| arch.clone())?;
    for (feature, flags) in FLAGS {
        if target.features.has(*feature) {
            for flag in *flags {
                builder.enable(flag).map_err(|_| arch.clone())?;
            }
        }
    }
    let mut shared = settings::builder();
    for (key, value) in [
        ("opt_level", "speed"),
        ("is_pic", if position_independent { "true" } else { "false" }),
        ("unwind_info", "false"),
        // A frame of several pages must not reach beyond the guard page.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
    ] {
        shared.set(key, value).map_err(|_| arch.clone())?;
    }
    builder.finish(settings::Flags::new(shared)).map_err(|_| arch)
}

/// Which operations a target has instructions for, and Cranelift a lowering.
#[derive(Clone, Copy)]
struct Has {
    vectors: bool,
    /// [`UnOp::Floor`] and its kind.
    rounding: bool,
    fma: bool,
}

/// A code generator for one target: the flags are looked up once.
pub struct Compiler {
    isa: OwnedTargetIsa,
    has: Has,
}

impl Compiler {
    /// The generator for `target`.
    ///
    /// # Errors
    /// This build makes no code for the architecture.
    pub fn new(target: &Target) -> Result<Compiler, ClifError> {
        let unless = |arch, feature| target.arch != arch || target.features.has(feature);
        let has = Has {
            vectors: unless(Arch::Riscv64, Feature::V),
            rounding: unless(Arch::X86_64, Feature::Sse42),
            fma: unless(Arch::X86_64, Feature::Fma),
        };
        Ok(Compiler { isa: isa(target, true)?, has })
    }

    /// Compiles a nest to a function of the [dispatch ABI](abi).
    ///
    /// # Errors
    /// The nest is not well-formed, or has an operation without machine code.
    pub fn compile(&self, nest: &Nest) -> Result<Code, ClifError> {
        nest.verify()?;
        let nest = crate::math::expand(nest);
        if let Some(o) = nest.operands.iter().find(|o| o.elem != o.elem.widened()) {
            let what = format!("operand {} of {}", o.name, o.elem);
            return Err(ClifError::Unsupported { nest: nest.name.clone(), what });
        }
        if nest.insts().any(|i| matches!(i.op, Op::Round(_))) {
            let what = "rounding to a narrower float".to_string();
            return Err(ClifError::Unsupported { nest: nest.name.clone(), what });
        }
        // Cranelift panics where it does not know a type.
        let made = panic::catch_unwind(AssertUnwindSafe(|| self.code(&nest))).unwrap_or_else(|cause| {
            let words = cause.downcast_ref::<String>().map(String::as_str);
            Err(words.or(cause.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_string())
        });
        made.map_err(|reason| ClifError::Internal { nest: nest.name.clone(), reason })
    }

    fn code(&self, nest: &Nest) -> Result<Code, String> {
        let mut context = Context::for_function(self.function(nest));
        context.set_disasm(true);
        let compiled =
            context.compile(&*self.isa, &mut ControlPlane::default()).map_err(|e| format!("{:?}", e.inner))?;
        if let Some(relocation) = compiled.buffer.relocs().first() {
            return Err(format!("the code refers to {:?}", relocation.target));
        }
        Ok(Code {
            bytes: compiled.code_buffer().to_vec(),
            alignment: compiled.buffer.alignment.into(),
            listing: compiled.vcode.clone().unwrap_or_default(),
        })
    }

    fn function(&self, nest: &Nest) -> Function {
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params.extend([I64; 4].map(AbiParam::new));
        signature.returns.push(AbiParam::new(I32));
        let mut function = Function::with_name_signature(UserFuncName::user(0, 0), signature);
        let mut context = FunctionBuilderContext::new();
        let b = FunctionBuilder::new(&mut function, &mut context);
        let emitter = Emitter::new(b, nest, self.has);
        emitter.run(self.isa.frontend_config());
        function
    }
}

/// How wide a body is emitted.
#[derive(Clone, Copy, PartialEq)]
enum Width {
    Scalar,
    Four,
}

/// Memory flags of operands: they may lie at any address.
fn anywhere() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

struct Emitter<'a, 'b> {
    b: FunctionBuilder<'b>,
    nest: &'a Nest,
    has: Has,
    /// Types of all values.
    types: Vec<Elem>,
    /// Extents, and byte strides operand by operand.
    extents: Vec<Value>,
    strides: Vec<Value>,
    helpers: Value,
    /// Values of `once` phases and of reductions.
    shared: Vec<Option<Value>>,
    /// One area of partials for each reduction, by its number.
    partials: Vec<Option<StackSlot>>,
}

impl<'a, 'b> Emitter<'a, 'b> {
    fn new(b: FunctionBuilder<'b>, nest: &'a Nest, has: Has) -> Emitter<'a, 'b> {
        let types: Vec<Elem> = nest.insts().map(|i| i.ty).collect();
        let none = Value::from_u32(0);
        let (shared, partials) = (vec![None; types.len()], vec![None; types.len()]);
        Emitter { b, nest, has, types, extents: Vec::new(), strides: Vec::new(), helpers: none, shared, partials }
    }

    fn run(mut self, config: cranelift_codegen::isa::TargetFrontendConfig) {
        let entry = self.b.create_block();
        self.b.append_block_params_for_function_params(entry);
        self.b.switch_to_block(entry);
        let params = self.b.block_params(entry).to_vec();
        let (args, begin, end) = (params[0], params[1], params[2]);
        let ro = MemFlagsData::trusted().with_readonly();
        let field = |s: &mut Self, offset: usize| s.b.ins().load(I64, ro, args, offset as i32);
        let operands = field(&mut self, offset_of!(DispatchArgs, operands));
        let extents = field(&mut self, offset_of!(DispatchArgs, extents));
        let strides = field(&mut self, offset_of!(DispatchArgs, strides));
        self.helpers = field(&mut self, offset_of!(DispatchArgs, helpers));
        let rank = self.nest.rank();
        for d in 0..rank {
            let extent = self.b.ins().load(I64, ro, extents, d as i32 * 8);
            self.extents.push(extent);
        }
        let mut pointers = Vec::new();
        for (o, operand) in self.nest.operands.iter().enumerate() {
            pointers.push(self.b.ins().load(I64, ro, operands, o as i32 * 8));
            for d in 0..rank {
                let stride = self.b.ins().load(I64, ro, strides, (o * rank + d) as i32 * 8);
                let bytes = self.b.ins().imul_imm_s(stride, operand.elem.size() as i64);
                self.strides.push(bytes);
            }
            let skipped = self.b.ins().imul(begin, self.strides[o * rank]);
            let last = pointers.len() - 1;
            pointers[last] = self.b.ins().iadd(pointers[last], skipped);
        }
        self.extents[0] = self.b.ins().isub(end, begin);
        for (v, inst) in self.nest.insts().enumerate() {
            if matches!(inst.op, Op::Reduce(_)) {
                let bytes = (PARTIALS * inst.ty.size()) as u32;
                let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4);
                self.partials[v] = Some(self.b.create_sized_stack_slot(slot));
            }
        }
        self.outer(0, pointers);
        let ok = self.b.ins().iconst(I32, i64::from(abi::OK));
        self.b.ins().return_(&[ok]);
        self.b.seal_all_blocks();
        self.b.finalize(config);
    }

    /// Loops over outer dim `d` and those below it.
    fn outer(&mut self, d: usize, pointers: Vec<Value>) {
        if d == self.nest.outer {
            return self.point(&pointers);
        }
        let extent = self.extents[d];
        self.count(extent, 1, pointers, d, &[], &mut |s, pointers, _| {
            s.outer(d + 1, pointers.to_vec());
            Vec::new()
        });
    }

    /// A loop of `extent` steps (already in units of `by`) in which each pointer moves by its stride in dim `d` times
    /// `by`. `carried` values go round; the body gives the next ones. Returns the pointers and values after the loop.
    #[allow(clippy::type_complexity)] // The body's signature is said once.
    fn count(
        &mut self,
        extent: Value,
        by: i64,
        pointers: Vec<Value>,
        d: usize,
        carried: &[Value],
        body: &mut dyn FnMut(&mut Self, &[Value], &[Value]) -> Vec<Value>,
    ) -> (Vec<Value>, Vec<Value>) {
        let (head, inside, exit) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let zero = self.b.ins().iconst(I64, 0);
        let moving: Vec<usize> = (0..pointers.len()).filter(|&o| self.moves(o, d)).collect();
        let mut start: Vec<BlockArg> = vec![zero.into()];
        start.extend(moving.iter().map(|&o| BlockArg::from(pointers[o])));
        start.extend(carried.iter().map(|&v| BlockArg::from(v)));
        self.b.ins().jump(head, &start);
        let i = self.b.append_block_param(head, I64);
        let here: Vec<Value> = moving.iter().map(|_| self.b.append_block_param(head, I64)).collect();
        let values = self.params(head, carried);
        let after: Vec<Value> = moving.iter().map(|_| self.b.append_block_param(exit, I64)).collect();
        let results = self.params(exit, carried);

        self.b.switch_to_block(head);
        // The exit comes first: Cranelift hoists what the body does not change only then.
        let done = self.b.ins().icmp(IntCC::SignedGreaterThanOrEqual, i, extent);
        let out: Vec<BlockArg> = here.iter().chain(&values).map(|&v| BlockArg::from(v)).collect();
        self.b.ins().brif(done, exit, &out, inside, &[]);

        self.b.switch_to_block(inside);
        let mut all = pointers.clone();
        for (&o, &p) in moving.iter().zip(&here) {
            all[o] = p;
        }
        let next_values = body(self, &all, &values);
        let mut next: Vec<BlockArg> = vec![self.b.ins().iadd_imm_s(i, 1).into()];
        for (&o, &p) in moving.iter().zip(&here) {
            let unit = self.nest.operands[o].step == Step::Unit && d + 1 == self.nest.rank();
            let moved = if unit {
                let bytes = self.nest.operands[o].elem.size() as i64 * by;
                self.b.ins().iadd_imm_s(p, bytes)
            } else {
                let stride = self.strides[o * self.nest.rank() + d];
                let step = if by == 1 { stride } else { self.b.ins().imul_imm_s(stride, by) };
                self.b.ins().iadd(p, step)
            };
            next.push(moved.into());
        }
        next.extend(next_values.iter().map(|&v| BlockArg::from(v)));
        self.b.ins().jump(head, &next);
        self.b.switch_to_block(exit);
        let mut all = pointers;
        for (&o, &p) in moving.iter().zip(&after) {
            all[o] = p;
        }
        (all, results)
    }

    fn params(&mut self, block: Block, like: &[Value]) -> Vec<Value> {
        let types: Vec<Type> = like.iter().map(|&v| self.b.func.dfg.value_type(v)).collect();
        types.into_iter().map(|ty| self.b.append_block_param(block, ty)).collect()
    }

    /// Whether an operand's address changes along a dim.
    fn moves(&self, o: usize, d: usize) -> bool {
        d + 1 != self.nest.rank() || self.nest.operands[o].step != Step::Zero
    }

    fn point(&mut self, pointers: &[Value]) {
        let nest = self.nest;
        let mut number = 0;
        for phase in &nest.phases {
            match phase {
                Phase::Once(insts) => {
                    let values = self.body(insts, number, pointers, Width::Scalar, 0);
                    for (i, value) in values.into_iter().enumerate() {
                        self.shared[number + i] = value;
                    }
                }
                Phase::Loop(insts) => self.phase(insts, number, pointers.to_vec()),
            }
            number += phase.insts().len();
        }
    }

    fn phase(&mut self, insts: &[Inst], number: usize, pointers: Vec<Value>) {
        let nest = self.nest;
        let reductions: Vec<(usize, RedOp, Elem)> = insts
            .iter()
            .enumerate()
            .filter_map(|(i, inst)| match inst.op {
                Op::Reduce(op) => Some((i, op, inst.ty)),
                _ => None,
            })
            .collect();
        let width = if self.has.vectors && self.vector_form(insts, number) { Width::Four } else { Width::Scalar };
        if reductions.is_empty() {
            return self.rows(nest.outer, pointers, insts, number, width);
        }
        for &(i, op, ty) in &reductions {
            let slot = self.partials[number + i].expect("made for every reduction");
            let identity = self.constant(ty, op.identity(ty));
            for p in 0..PARTIALS {
                self.b.ins().stack_store(I64, identity, slot, (p * ty.size()) as i32);
            }
        }
        let (extent, zero) = (self.extents[nest.outer], self.b.ins().iconst(I64, 0));
        // With more inner dims a row may begin at any partial.
        if nest.inner == 1 && width == Width::Four {
            let rounds = self.b.ins().sshr_imm_u(extent, i64::from(PARTIALS.ilog2()));
            let mut start = Vec::new();
            for &(_, op, ty) in &reductions {
                let identity = self.constant(ty, op.identity(ty));
                let identity = self.splat(ty, identity);
                start.extend([identity; PARTIALS / 4]);
            }
            let (pointers, sums) =
                self.count(rounds, PARTIALS as i64, pointers, nest.outer, &start, &mut |s, pointers, sums| {
                    let mut sums = sums.to_vec();
                    for quad in 0..PARTIALS / 4 {
                        let values = s.body(insts, number, pointers, Width::Four, quad as i32 * 4);
                        for (r, &(i, op, ty)) in reductions.iter().enumerate() {
                            let at = r * (PARTIALS / 4) + quad;
                            let value = values[i].expect("a reduction's argument");
                            sums[at] = s.binary(op.step(), ty, Width::Four, sums[at], value);
                        }
                    }
                    sums
                });
            for (r, &(i, _, ty)) in reductions.iter().enumerate() {
                let slot = self.partials[number + i].expect("made for every reduction");
                for quad in 0..PARTIALS / 4 {
                    let sum = sums[r * (PARTIALS / 4) + quad];
                    self.b.ins().stack_store(I64, sum, slot, (quad * 4 * ty.size()) as i32);
                }
            }
            let left = self.b.ins().band_imm_s(extent, PARTIALS as i64 - 1);
            self.reduced_rows(nest.outer, left, pointers, insts, number, &reductions, zero);
        } else {
            self.reduced_rows(nest.outer, extent, pointers, insts, number, &reductions, zero);
        }
        let mut count = self.extents[nest.outer];
        for d in nest.outer + 1..nest.rank() {
            count = self.b.ins().imul(count, self.extents[d]);
        }
        let nothing = self.b.ins().icmp_imm_s(IntCC::Equal, count, 0);
        for &(i, op, ty) in &reductions {
            let slot = self.partials[number + i].expect("made for every reduction");
            let clif = scalar_type(ty);
            let mut partials: Vec<Value> =
                (0..PARTIALS).map(|p| self.b.ins().stack_load(I64, clif, slot, (p * ty.size()) as i32)).collect();
            while partials.len() > 1 {
                let upper = partials.split_off(partials.len() / 2);
                for (low, high) in partials.iter_mut().zip(upper) {
                    *low = self.binary(op.step(), ty, Width::Scalar, *low, high);
                }
            }
            let empty = self.constant(ty, op.of_nothing(ty));
            self.shared[number + i] = Some(self.b.ins().select(nothing, empty, partials[0]));
        }
    }

    /// Loops over inner dims from `d` on, the last one as wide as it goes.
    fn rows(&mut self, d: usize, mut pointers: Vec<Value>, insts: &[Inst], number: usize, width: Width) {
        let mut extent = self.extents[d];
        if d + 1 < self.nest.rank() {
            self.count(extent, 1, pointers, d, &[], &mut |s, pointers, _| {
                s.rows(d + 1, pointers.to_vec(), insts, number, width);
                Vec::new()
            });
            return;
        }
        if width == Width::Four {
            let quads = self.b.ins().sshr_imm_u(extent, 2);
            (pointers, _) = self.count(quads, 4, pointers, d, &[], &mut |s, pointers, _| {
                s.body(insts, number, pointers, Width::Four, 0);
                Vec::new()
            });
            extent = self.b.ins().band_imm_s(extent, 3);
        }
        self.count(extent, 1, pointers, d, &[], &mut |s, pointers, _| {
            s.body(insts, number, pointers, Width::Scalar, 0);
            Vec::new()
        });
    }

    /// Loops over inner dims from `d` on and reduces one element at a time. `seen` elements of the space came before
    /// (where it matters: modulo the number of partials); returns how many came by the end.
    #[allow(clippy::too_many_arguments)] // What a row of a phase is made of.
    fn reduced_rows(
        &mut self,
        d: usize,
        extent: Value,
        pointers: Vec<Value>,
        insts: &[Inst],
        number: usize,
        reductions: &[(usize, RedOp, Elem)],
        seen: Value,
    ) -> Value {
        let (_, after) = self.count(extent, 1, pointers, d, &[seen], &mut |s, pointers, seen| {
            if d + 1 < s.nest.rank() {
                let extent = s.extents[d + 1];
                return vec![s.reduced_rows(d + 1, extent, pointers.to_vec(), insts, number, reductions, seen[0])];
            }
            let values = s.body(insts, number, pointers, Width::Scalar, 0);
            let place = s.b.ins().band_imm_s(seen[0], PARTIALS as i64 - 1);
            for &(i, op, ty) in reductions {
                let slot = s.partials[number + i].expect("made for every reduction");
                let base = s.b.ins().stack_addr(I64, slot, 0);
                let offset = s.b.ins().imul_imm_s(place, ty.size() as i64);
                let address = s.b.ins().iadd(base, offset);
                let old = s.b.ins().load(scalar_type(ty), anywhere(), address, 0);
                let new = s.binary(op.step(), ty, Width::Scalar, old, values[i].expect("a reduction's argument"));
                s.b.ins().store(anywhere(), new, address, 0);
            }
            vec![s.b.ins().iadd_imm_s(seen[0], 1)]
        });
        after[0]
    }

    /// Whether a body has a form with four lanes.
    fn vector_form(&self, insts: &[Inst], number: usize) -> bool {
        let lanes = |ty: Elem| matches!(ty, Elem::F32 | Elem::I32 | Elem::U32);
        insts.iter().all(|inst| {
            let arg = |k: usize| self.types[inst.args[k].0 as usize];
            match inst.op {
                Op::Const(_) => lanes(inst.ty),
                Op::Load(o) | Op::Store(o) => {
                    let operand = &self.nest.operands[o as usize];
                    let step = match operand.access {
                        Access::In => operand.step != Step::Any,
                        _ => operand.step == Step::Unit,
                    };
                    step && lanes(operand.elem)
                }
                Op::Un(op) if !self.has.rounding && rounding(op, inst.ty).is_some() => false,
                Op::Un(_) => inst.ty == Elem::F32 || inst.ty == Elem::Bool,
                Op::Bin(op) => match inst.ty {
                    Elem::F32 => true,
                    // Shifts by a constant below 32, which every back end does alike.
                    Elem::I32 if matches!(op, BinOp::Shl | BinOp::Shr) => self.small_constant(inst.args[1]),
                    Elem::I32 => !matches!(op, BinOp::Div | BinOp::Rem),
                    Elem::Bool => matches!(op, BinOp::And | BinOp::Or | BinOp::Xor),
                    _ => false,
                },
                Op::Fma => self.has.fma && inst.ty == Elem::F32,
                Op::Cmp(_) => matches!(arg(0), Elem::F32 | Elem::I32),
                Op::Select => lanes(inst.ty),
                Op::Cast => matches!(
                    (arg(0), inst.ty),
                    (Elem::F32, Elem::I32) | (Elem::I32, Elem::F32) | (Elem::Bool, Elem::F32 | Elem::I32)
                ),
                Op::Bitcast => lanes(inst.ty) && lanes(arg(0)),
                Op::Reduce(_) => inst.ty == Elem::F32,
                Op::Round(_) | Op::Call(_) => false,
            }
        }) && insts.iter().flat_map(|i| &i.args).all(|v| {
            // Values of other phases are splat, which a bool has no form for.
            let outside = (v.0 as usize) < number;
            !outside || lanes(self.types[v.0 as usize])
        })
    }

    fn small_constant(&self, NestValue(v): NestValue) -> bool {
        matches!(self.nest.insts().nth(v as usize), Some(Inst { op: Op::Const(c), .. }) if *c < 32)
    }

    /// Emits a body at `element` lanes beyond the pointers. The result has each instruction's value; a reduction's is
    /// its argument.
    fn body(
        &mut self,
        insts: &[Inst],
        number: usize,
        pointers: &[Value],
        width: Width,
        element: i32,
    ) -> Vec<Option<Value>> {
        let mut values: Vec<Option<Value>> = vec![None; insts.len()];
        for (i, inst) in insts.iter().enumerate() {
            let args: Vec<Value> = inst
                .args
                .iter()
                .map(|&NestValue(v)| {
                    let v = v as usize;
                    match v.checked_sub(number).and_then(|at| values.get(at).copied().flatten()) {
                        Some(value) => value,
                        None => {
                            let value = self.shared[v].expect("a verified body uses visible values");
                            if width == Width::Four { self.splat(self.types[v], value) } else { value }
                        }
                    }
                })
                .collect();
            values[i] = Some(self.inst(inst, &args, pointers, width, element));
        }
        values
    }

    fn inst(&mut self, inst: &Inst, args: &[Value], pointers: &[Value], width: Width, element: i32) -> Value {
        let ty = inst.ty;
        let clif = match width {
            Width::Scalar => scalar_type(ty),
            Width::Four => vector_type(ty),
        };
        let from = inst.args.first().map_or(ty, |v| self.types[v.0 as usize]);
        match inst.op {
            Op::Const(bits) => {
                let value = self.constant(ty, bits);
                if width == Width::Four { self.splat(ty, value) } else { value }
            }
            Op::Load(o) => {
                let operand = &self.nest.operands[o as usize];
                let pointer = pointers[o as usize];
                if width == Width::Four && operand.step == Step::Zero {
                    let value = self.b.ins().load(scalar_type(ty), anywhere(), pointer, 0);
                    return self.splat(ty, value);
                }
                let value = self.b.ins().load(clif, anywhere(), pointer, element * operand.elem.size() as i32);
                if ty == Elem::Bool { self.b.ins().icmp_imm_s(IntCC::NotEqual, value, 0) } else { value }
            }
            Op::Store(o) => {
                let offset = element * self.nest.operands[o as usize].elem.size() as i32;
                self.b.ins().store(anywhere(), args[0], pointers[o as usize], offset);
                args[0]
            }
            Op::Un(op) => match rounding(op, ty) {
                Some(offset) if !self.has.rounding => self.call(offset, clif, args),
                _ => self.unary(op, ty, width, args[0]),
            },
            Op::Bin(op) => self.binary(op, ty, width, args[0], args[1]),
            Op::Fma if !self.has.fma => {
                let offset = if ty == Elem::F32 { offset_of!(Helpers, fmaf) } else { offset_of!(Helpers, fma) };
                self.call(offset, clif, args)
            }
            Op::Fma => self.b.ins().fma(args[0], args[1], args[2]),
            Op::Cmp(op) => self.compare(op, from, args[0], args[1]),
            Op::Select if width == Width::Scalar => self.b.ins().select(args[0], args[1], args[2]),
            Op::Select => {
                let mask = self.same_bits(clif, args[0]);
                self.b.ins().bitselect(mask, args[1], args[2])
            }
            Op::Cast if width == Width::Scalar => self.cast(from, ty, args[0]),
            Op::Cast => match (from, ty) {
                (Elem::F32, _) => self.b.ins().fcvt_to_sint_sat(I32X4, args[0]),
                (Elem::I32, _) => self.b.ins().fcvt_from_sint(F32X4, args[0]),
                // A mask keeps the bits of one.
                _ => {
                    let bits = if ty == Elem::F32 { i64::from(1.0f32.to_bits()) } else { 1 };
                    let one = self.b.ins().iconst(I32, bits);
                    let one = self.b.ins().splat(I32X4, one);
                    let kept = self.b.ins().band(args[0], one);
                    if ty == Elem::F32 { self.b.ins().bitcast(F32X4, MemFlagsData::new(), kept) } else { kept }
                }
            },
            Op::Bitcast => self.same_bits(clif, args[0]),
            Op::Call(func) => self.call(func.offset(), clif, args),
            Op::Reduce(_) => args[0],
            Op::Round(_) => unreachable!("refused before emission"),
        }
    }

    /// Calls the helper at `offset` of the table, which takes and gives values of one type.
    fn call(&mut self, offset: usize, ty: Type, args: &[Value]) -> Value {
        let mut signature = Signature::new(CallConv::SystemV);
        signature.params.extend(args.iter().map(|_| AbiParam::new(ty)));
        signature.returns.push(AbiParam::new(ty));
        let signature = self.b.import_signature(signature);
        let ro = MemFlagsData::trusted().with_readonly();
        let helper = self.b.ins().load(I64, ro, self.helpers, offset as i32);
        let call = self.b.ins().call_indirect(signature, helper, args);
        self.b.inst_results(call)[0]
    }

    fn same_bits(&mut self, clif: Type, a: Value) -> Value {
        if self.b.func.dfg.value_type(a) == clif { a } else { self.b.ins().bitcast(clif, MemFlagsData::new(), a) }
    }

    fn constant(&mut self, ty: Elem, bits: u64) -> Value {
        match ty {
            Elem::F32 => self.b.ins().f32const(f32::from_bits(bits as u32)),
            Elem::F64 => self.b.ins().f64const(f64::from_bits(bits)),
            _ => self.b.ins().iconst(scalar_type(ty), crate::scalar::int(ty, bits) as i64),
        }
    }

    fn splat(&mut self, ty: Elem, value: Value) -> Value {
        self.b.ins().splat(vector_type(ty), value)
    }

    fn unary(&mut self, op: UnOp, ty: Elem, width: Width, a: Value) -> Value {
        match (op, ty.is_float()) {
            (UnOp::Neg, true) => self.b.ins().fneg(a),
            (UnOp::Neg, false) => self.b.ins().ineg(a),
            (UnOp::Abs, true) => self.b.ins().fabs(a),
            (UnOp::Abs, false) if ty.is_signed() => {
                let negated = self.b.ins().ineg(a);
                let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, a, 0);
                self.b.ins().select(negative, negated, a)
            }
            (UnOp::Not, _) if ty == Elem::Bool && width == Width::Scalar => self.b.ins().bxor_imm_s(a, 1),
            (UnOp::Not, _) => self.b.ins().bnot(a),
            (UnOp::Sqrt, _) => self.b.ins().sqrt(a),
            (UnOp::Floor, _) => self.b.ins().floor(a),
            (UnOp::Ceil, _) => self.b.ins().ceil(a),
            (UnOp::Trunc, _) => self.b.ins().trunc(a),
            (UnOp::Nearest, _) => self.b.ins().nearest(a),
            (UnOp::Abs, false) => a,
        }
    }

    fn binary(&mut self, op: BinOp, ty: Elem, width: Width, a: Value, b: Value) -> Value {
        let signed = ty.is_signed();
        match (op, ty.is_float()) {
            (BinOp::Add, true) => self.b.ins().fadd(a, b),
            (BinOp::Sub, true) => self.b.ins().fsub(a, b),
            (BinOp::Mul, true) => self.b.ins().fmul(a, b),
            (BinOp::Div, true) => self.b.ins().fdiv(a, b),
            (BinOp::Min, true) => self.b.ins().fmin(a, b),
            (BinOp::Max, true) => self.b.ins().fmax(a, b),
            (BinOp::Add, false) => self.b.ins().iadd(a, b),
            (BinOp::Sub, false) => self.b.ins().isub(a, b),
            (BinOp::Mul, false) => self.b.ins().imul(a, b),
            (BinOp::Min, false) if signed => self.b.ins().smin(a, b),
            (BinOp::Min, false) => self.b.ins().umin(a, b),
            (BinOp::Max, false) if signed => self.b.ins().smax(a, b),
            (BinOp::Max, false) => self.b.ins().umax(a, b),
            (BinOp::And, _) => self.b.ins().band(a, b),
            (BinOp::Or, _) => self.b.ins().bor(a, b),
            (BinOp::Xor, _) => self.b.ins().bxor(a, b),
            (BinOp::Div | BinOp::Rem, _) => self.divide(op, ty, a, b),
            (BinOp::Shl | BinOp::Shr, _) => {
                let bits = ty.size() as i64 * 8;
                let shift = |s: &mut Self, by: Value| match (op, signed) {
                    (BinOp::Shl, _) => s.b.ins().ishl(a, by),
                    (_, true) => s.b.ins().sshr(a, by),
                    (_, false) => s.b.ins().ushr(a, by),
                };
                if width == Width::Four {
                    // The amount is one small constant for all lanes.
                    let by = self.b.ins().extractlane(b, 0u8);
                    return shift(self, by);
                }
                let fits = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, b, bits);
                if op == BinOp::Shr && signed {
                    let most = self.b.ins().iconst(scalar_type(ty), bits - 1);
                    let by = self.b.ins().select(fits, b, most);
                    return shift(self, by);
                }
                let shifted = shift(self, b);
                let zero = self.b.ins().iconst(scalar_type(ty), 0);
                self.b.ins().select(fits, shifted, zero)
            }
        }
    }

    /// Division without a trap: x/0 and x%0 are 0, and dividing by -1 wraps.
    fn divide(&mut self, op: BinOp, ty: Elem, a: Value, b: Value) -> Value {
        let clif = scalar_type(ty);
        let one = self.b.ins().iconst(clif, 1);
        let zero = self.b.ins().iconst(clif, 0);
        let by_zero = self.b.ins().icmp_imm_s(IntCC::Equal, b, 0);
        let mut divisor = self.b.ins().select(by_zero, one, b);
        let by_minus_one = ty.is_signed().then(|| self.b.ins().icmp_imm_s(IntCC::Equal, b, -1));
        if let Some(by_minus_one) = by_minus_one {
            divisor = self.b.ins().select(by_minus_one, one, divisor);
        }
        // Narrow types are divided in 32 bits, which every back end has.
        let narrow = ty.size() < 4;
        let wide = |s: &mut Self, v: Value| match (narrow, ty.is_signed()) {
            (true, true) => s.b.ins().sextend(I32, v),
            (true, false) => s.b.ins().uextend(I32, v),
            _ => v,
        };
        let (x, y) = (wide(self, a), wide(self, divisor));
        let result = match (op, ty.is_signed()) {
            (BinOp::Div, true) => self.b.ins().sdiv(x, y),
            (BinOp::Div, false) => self.b.ins().udiv(x, y),
            (_, true) => self.b.ins().srem(x, y),
            (_, false) => self.b.ins().urem(x, y),
        };
        let mut result = if narrow { self.b.ins().ireduce(clif, result) } else { result };
        if let Some(by_minus_one) = by_minus_one {
            let special = if op == BinOp::Div { self.b.ins().ineg(a) } else { zero };
            result = self.b.ins().select(by_minus_one, special, result);
        }
        self.b.ins().select(by_zero, zero, result)
    }

    fn compare(&mut self, op: CmpOp, ty: Elem, a: Value, b: Value) -> Value {
        if ty.is_float() {
            let cc = match op {
                CmpOp::Eq => FloatCC::Equal,
                CmpOp::Ne => FloatCC::NotEqual,
                CmpOp::Lt => FloatCC::LessThan,
                CmpOp::Le => FloatCC::LessThanOrEqual,
                CmpOp::Gt => FloatCC::GreaterThan,
                CmpOp::Ge => FloatCC::GreaterThanOrEqual,
            };
            return self.b.ins().fcmp(cc, a, b);
        }
        let cc = match (op, ty.is_signed()) {
            (CmpOp::Eq, _) => IntCC::Equal,
            (CmpOp::Ne, _) => IntCC::NotEqual,
            (CmpOp::Lt, true) => IntCC::SignedLessThan,
            (CmpOp::Le, true) => IntCC::SignedLessThanOrEqual,
            (CmpOp::Gt, true) => IntCC::SignedGreaterThan,
            (CmpOp::Ge, true) => IntCC::SignedGreaterThanOrEqual,
            (CmpOp::Lt, false) => IntCC::UnsignedLessThan,
            (CmpOp::Le, false) => IntCC::UnsignedLessThanOrEqual,
            (CmpOp::Gt, false) => IntCC::UnsignedGreaterThan,
            (CmpOp::Ge, false) => IntCC::UnsignedGreaterThanOrEqual,
        };
        self.b.ins().icmp(cc, a, b)
    }

    fn cast(&mut self, from: Elem, to: Elem, a: Value) -> Value {
        let clif = scalar_type(to);
        match (from.is_float(), to.is_float()) {
            (true, true) => match (from, to) {
                (Elem::F32, Elem::F64) => self.b.ins().fpromote(F64, a),
                (Elem::F64, Elem::F32) => self.b.ins().fdemote(F32, a),
                _ => a,
            },
            (true, false) if to == Elem::Bool => {
                let zero = self.constant(from, 0);
                self.b.ins().fcmp(FloatCC::NotEqual, a, zero)
            }
            (true, false) => {
                // Narrow types are saturated in 32 bits: Cranelift has no narrower conversion.
                let wide = if to.size() < 4 { I32 } else { clif };
                if to.is_signed() {
                    let value = self.b.ins().fcvt_to_sint_sat(wide, a);
                    if to.size() >= 4 {
                        return value;
                    }
                    let bits = to.size() as u32 * 8;
                    let low = self.b.ins().iconst(I32, -(1i64 << (bits - 1)));
                    let high = self.b.ins().iconst(I32, (1i64 << (bits - 1)) - 1);
                    let value = self.b.ins().smax(value, low);
                    let value = self.b.ins().smin(value, high);
                    self.b.ins().ireduce(clif, value)
                } else {
                    let value = self.b.ins().fcvt_to_uint_sat(wide, a);
                    if to.size() >= 4 {
                        return value;
                    }
                    let high = self.b.ins().iconst(I32, (1i64 << (to.size() * 8)) - 1);
                    let value = self.b.ins().umin(value, high);
                    self.b.ins().ireduce(clif, value)
                }
            }
            (false, true) => {
                if from.is_signed() {
                    self.b.ins().fcvt_from_sint(clif, a)
                } else {
                    self.b.ins().fcvt_from_uint(clif, a)
                }
            }
            (false, false) if to == Elem::Bool && from != Elem::Bool => self.b.ins().icmp_imm_s(IntCC::NotEqual, a, 0),
            (false, false) => match scalar_type(from).bytes().cmp(&clif.bytes()) {
                core::cmp::Ordering::Equal => a,
                core::cmp::Ordering::Greater => self.b.ins().ireduce(clif, a),
                core::cmp::Ordering::Less if from.is_signed() => self.b.ins().sextend(clif, a),
                core::cmp::Ordering::Less => self.b.ins().uextend(clif, a),
            },
        }
    }
}

/// The helper that rounds to an integer, where `op` does.
fn rounding(op: UnOp, ty: Elem) -> Option<usize> {
    Some(match (op, ty) {
        (UnOp::Floor, Elem::F32) => offset_of!(Helpers, floorf),
        (UnOp::Ceil, Elem::F32) => offset_of!(Helpers, ceilf),
        (UnOp::Trunc, Elem::F32) => offset_of!(Helpers, truncf),
        (UnOp::Nearest, Elem::F32) => offset_of!(Helpers, rintf),
        (UnOp::Floor, _) => offset_of!(Helpers, floor),
        (UnOp::Ceil, _) => offset_of!(Helpers, ceil),
        (UnOp::Trunc, _) => offset_of!(Helpers, trunc),
        (UnOp::Nearest, _) => offset_of!(Helpers, rint),
        _ => return None,
    })
}

fn scalar_type(ty: Elem) -> Type {
    match ty {
        Elem::F64 => F64,
        Elem::F32 => F32,
        _ => match ty.size() {
            8 => I64,
            4 => I32,
            2 => I16,
            _ => I8,
        },
    }
}

/// Four lanes; truth values are masks.
fn vector_type(ty: Elem) -> Type {
    if ty == Elem::F32 { F32X4 } else { I32X4 }
}
