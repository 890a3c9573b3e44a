//! The inner loop of a row, read from the program's own machine code.

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Formatter, Instruction, IntelFormatter, Mnemonic, OpKind, Register,
};
use smalti_benches::peak::Peak;
use smalti_ukernels::table::{self, Row};
use std::collections::BTreeSet;

/// The body of the inner loop of a row.
#[derive(Clone, Debug)]
pub(crate) struct InnerLoop {
    /// Its instructions, in Intel syntax.
    pub(crate) text: Vec<String>,
    /// How many of them are the key instruction.
    pub(crate) key: usize,
    /// How many have vectors on the stack, or store there.
    pub(crate) spills: usize,
    /// How many load something else from the stack.
    pub(crate) reloads: usize,
    /// How many divide.
    pub(crate) divisions: usize,
    /// Vector registers that it names.
    pub(crate) vectors: usize,
}

/// So much code is read of a function at most.
const MOST: usize = 1 << 16;

impl InnerLoop {
    /// That of a row whose function this build has, and whose products are the instruction of `peak`.
    pub(crate) fn of(row: &Row, peak: &Peak) -> Option<InnerLoop> {
        let table::Code::Mmt4d(Some(kernel)) = row.code else { return None };
        let code = function(kernel as usize as u64);
        // Straight runs of instructions: a branch ends one, and what a branch leads to begins one. The body of the inner
        // loop is the one that multiplies most; of two, the one without masks is shorter.
        let branches = |i: &Instruction| {
            matches!(i.flow_control(), FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch)
        };
        let led_to: BTreeSet<u64> = code.iter().filter(|i| branches(i)).map(Instruction::near_branch_target).collect();
        let runs = code.chunk_by(|before, i| !branches(before) && !led_to.contains(&i.ip()));
        let keys = |l: &[Instruction]| l.iter().filter(|i| is_of(peak, i.mnemonic())).count();
        let best = runs.max_by_key(|l| (keys(l), usize::MAX - l.len()))?;
        let mut formatter = IntelFormatter::new();
        let text = best.iter().map(|i| {
            let mut line = String::new();
            formatter.format(i, &mut line);
            line
        });
        let stack = |i: &&Instruction| i.memory_base() == Register::RSP;
        let spill = |i: &&Instruction| i.op0_kind() == OpKind::Memory || i.op_register(0).is_vector_register();
        let registers = best.iter().flat_map(|i| (0..i.op_count()).map(|o| i.op_register(o)));
        let vectors: BTreeSet<usize> = registers.filter(|r| r.is_vector_register()).map(Register::number).collect();
        Some(InnerLoop {
            text: text.collect(),
            key: keys(best),
            spills: best.iter().filter(stack).filter(spill).count(),
            reloads: best.iter().filter(stack).filter(|i| !spill(i)).count(),
            divisions: best.iter().filter(|i| matches!(i.mnemonic(), Mnemonic::Div | Mnemonic::Idiv)).count(),
            vectors: vectors.len(),
        })
    }
}

/// Whether an instruction is that of a peak loop.
fn is_of(peak: &Peak, mnemonic: Mnemonic) -> bool {
    let name = peak.name.split(' ').next().unwrap_or_default();
    let this = format!("{mnemonic:?}").to_lowercase();
    // Fused multiply-adds differ in which operand the result replaces.
    let fused = |name: &str| name.starts_with("vfmadd");
    this == name || fused(name) && fused(&this) && this[this.len() - 2..] == name[name.len() - 2..]
}

/// The instructions of the function at `start`, which may be no more than a jump to another one.
fn function(start: u64) -> Vec<Instruction> {
    // SAFETY: a function of this program; its section is followed by others, and reading stops at its end.
    let bytes = unsafe { std::slice::from_raw_parts(start as *const u8, MOST) };
    let mut furthest = start;
    let mut code: Vec<Instruction> = Vec::new();
    for i in Decoder::with_ip(64, bytes, start, DecoderOptions::NONE).iter() {
        if code.is_empty() && i.code() == Code::Jmp_rel32_64 {
            return function(i.near_branch_target());
        }
        let near = i.near_branch_target();
        if i.flow_control() == FlowControl::ConditionalBranch || i.flow_control() == FlowControl::UnconditionalBranch {
            furthest = furthest.max(near);
        }
        // Between functions there is nothing but padding, to a multiple of 16.
        let stops = bytes.get((i.next_ip() - start) as usize) == Some(&0xcc);
        let padded = i.next_ip().is_multiple_of(16) || stops;
        let ends = match i.flow_control() {
            FlowControl::Return | FlowControl::UnconditionalBranch | FlowControl::Exception => true,
            // Of what never returns.
            FlowControl::Call | FlowControl::IndirectCall => stops,
            _ => false,
        };
        code.push(i);
        if ends && i.next_ip() > furthest && padded {
            break;
        }
    }
    code
}
