//! The text form of nests.
//!
//! ```text
//! nest @name outer 1 inner 1 {
//!   in x: f32 unit                 in | out | inout; a promise unit | zero, or none
//!   out y: f32 unit
//!   loop {                         or once { … }
//!     %0 = load x
//!     %1 = const.f32 0.5
//!     %2 = mul.f32 %0 %1
//!     store y %2
//!   }
//! }
//! ```
//! A `;` begins a comment. `store` takes a number too, so the numbers of a body may have gaps.

use crate::nest::{Access, BinOp, CmpOp, Inst, Nest, Op, Operand, Phase, RedOp, Step, UnOp, Value};
use crate::{Elem, Func, scalar};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Why a text is no nest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct ParseError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

const UN: &[(&str, UnOp)] = &[
    ("neg", UnOp::Neg),
    ("abs", UnOp::Abs),
    ("not", UnOp::Not),
    ("sqrt", UnOp::Sqrt),
    ("floor", UnOp::Floor),
    ("ceil", UnOp::Ceil),
    ("trunc", UnOp::Trunc),
    ("nearest", UnOp::Nearest),
];
const BIN: &[(&str, BinOp)] = &[
    ("add", BinOp::Add),
    ("sub", BinOp::Sub),
    ("mul", BinOp::Mul),
    ("div", BinOp::Div),
    ("rem", BinOp::Rem),
    ("min", BinOp::Min),
    ("max", BinOp::Max),
    ("and", BinOp::And),
    ("or", BinOp::Or),
    ("xor", BinOp::Xor),
    ("shl", BinOp::Shl),
    ("shr", BinOp::Shr),
];
const CMP: &[(&str, CmpOp)] =
    &[("eq", CmpOp::Eq), ("ne", CmpOp::Ne), ("lt", CmpOp::Lt), ("le", CmpOp::Le), ("gt", CmpOp::Gt), ("ge", CmpOp::Ge)];
const RED: &[(&str, RedOp)] =
    &[("reduce_sum", RedOp::Sum), ("reduce_prod", RedOp::Prod), ("reduce_min", RedOp::Min), ("reduce_max", RedOp::Max)];
fn name<T: PartialEq>(list: &'static [(&'static str, T)], op: &T) -> &'static str {
    list.iter().find(|e| e.1 == *op).map_or("?", |e| e.0)
}

fn find<T: Copy>(list: &[(&str, T)], name: &str) -> Option<T> {
    list.iter().find(|e| e.0 == name).map(|e| e.1)
}

impl fmt::Display for RedOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name(RED, self))
    }
}

/// A constant: floats so that they read back to the same bits, where they are no NaN.
struct Literal(Elem, u64);

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Elem::F32 => write!(f, "{:?}", scalar::f32_of(self.1)),
            Elem::F64 => write!(f, "{:?}", scalar::f64_of(self.1)),
            Elem::Bool => write!(f, "{}", self.1 != 0),
            ty => write!(f, "{}", scalar::int(ty, self.1)),
        }
    }
}

fn literal(ty: Elem, text: &str) -> Option<u64> {
    match ty {
        Elem::F32 => text.parse::<f32>().ok().map(|x| x.to_bits().into()),
        Elem::F64 => text.parse::<f64>().ok().map(f64::to_bits),
        Elem::Bool => text.parse::<bool>().ok().map(u64::from),
        ty => {
            let value: i128 = text.parse().ok()?;
            let bits = scalar::wrap(ty, value);
            (scalar::int(ty, bits) == value).then_some(bits)
        }
    }
}

impl fmt::Display for Nest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "nest @{} outer {} inner {} {{", self.name, self.outer, self.inner)?;
        for o in &self.operands {
            let access = match o.access {
                Access::In => "in",
                Access::Out => "out",
                Access::InOut => "inout",
            };
            let step = match o.step {
                Step::Any => "",
                Step::Unit => " unit",
                Step::Zero => " zero",
            };
            writeln!(f, "  {access} {}: {}{step}", o.name, o.elem)?;
        }
        let mut number = 0;
        for phase in &self.phases {
            writeln!(f, "  {} {{", if matches!(phase, Phase::Once(_)) { "once" } else { "loop" })?;
            for inst in phase.insts() {
                f.write_str("    ")?;
                if !matches!(inst.op, Op::Store(_)) {
                    write!(f, "%{number} = ")?;
                }
                number += 1;
                let ty = inst.ty;
                let operand = |o: u32| self.operands.get(o as usize).map_or("?", |o| o.name.as_str());
                match inst.op {
                    Op::Const(bits) => write!(f, "const.{ty} {}", Literal(ty, bits))?,
                    Op::Load(o) => write!(f, "load {}", operand(o))?,
                    Op::Store(o) => write!(f, "store {}", operand(o))?,
                    Op::Un(op) => write!(f, "{}.{ty}", name(UN, &op))?,
                    Op::Bin(op) => write!(f, "{}.{ty}", name(BIN, &op))?,
                    Op::Fma => write!(f, "fma.{ty}")?,
                    Op::Cmp(op) => write!(f, "{}", name(CMP, &op))?,
                    Op::Select => write!(f, "select.{ty}")?,
                    Op::Cast => write!(f, "cast.{ty}")?,
                    Op::Round(to) => write!(f, "round.{to}")?,
                    Op::Bitcast => write!(f, "bitcast.{ty}")?,
                    Op::Call(func) => write!(f, "{func}.{ty}")?,
                    Op::Reduce(op) => write!(f, "{op}.{ty}")?,
                }
                for Value(v) in &inst.args {
                    write!(f, " %{v}")?;
                }
                f.write_str("\n")?;
            }
            f.write_str("  }\n")?;
        }
        f.write_str("}")
    }
}

impl Nest {
    /// Reads a nest and verifies it.
    ///
    /// # Errors
    /// The first line that is wrong.
    pub fn parse(text: &str) -> Result<Nest, ParseError> {
        let mut parser = Parser { nest: None, numbers: Vec::new(), body: None, closed: false, lines: Vec::new() };
        let mut last = 0;
        for (i, line) in text.lines().enumerate() {
            let line = line.split(';').next().unwrap_or("").trim();
            if line.is_empty() {
                continue;
            }
            last = i + 1;
            parser.line(line).map_err(|reason| ParseError { line: i + 1, reason })?;
            parser.lines.resize(parser.numbers.len(), i + 1);
        }
        let at_end = |reason: &str| ParseError { line: last, reason: reason.to_owned() };
        let nest = parser.nest.filter(|_| parser.closed).ok_or_else(|| at_end("the nest does not end in '}'"))?;
        nest.verify().map_err(|e| {
            let line = e.inst.and_then(|i| parser.lines.get(i).copied()).unwrap_or(last);
            ParseError { line, reason: format!("{e}") }
        })?;
        Ok(nest)
    }
}

struct Parser {
    nest: Option<Nest>,
    /// Written number of each instruction; stores have none.
    numbers: Vec<Option<u32>>,
    body: Option<Phase>,
    closed: bool,
    /// The line of each instruction.
    lines: Vec<usize>,
}

impl Parser {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.split_whitespace().collect();
        if self.closed {
            return Err(format!("'{line}' after the end of the nest"));
        }
        let Some(nest) = &mut self.nest else {
            let ["nest", name, "outer", outer, "inner", inner, "{"] = words[..] else {
                return Err("expected 'nest @name outer N inner N {'".to_owned());
            };
            let dims =
                |t: &str| t.parse().ok().filter(|&n: &usize| n <= 16).ok_or(format!("'{t}' is no number of dims"));
            let name = name.strip_prefix('@').ok_or("the name begins with '@'")?.to_owned();
            let (outer, inner) = (dims(outer)?, dims(inner)?);
            self.nest = Some(Nest { name, outer, inner, operands: Vec::new(), phases: Vec::new() });
            return Ok(());
        };
        match (&mut self.body, &words[..]) {
            (Some(_), ["}"]) => nest.phases.extend(self.body.take()),
            (None, ["}"]) => self.closed = true,
            (None, ["once", "{"]) => self.body = Some(Phase::Once(Vec::new())),
            (None, ["loop", "{"]) => self.body = Some(Phase::Loop(Vec::new())),
            (None, [access, name, elem, step @ ..]) => {
                let access = match *access {
                    "in" => Access::In,
                    "out" => Access::Out,
                    "inout" => Access::InOut,
                    other => return Err(format!("'{other}' is neither an operand nor a body")),
                };
                let step = match step {
                    [] => Step::Any,
                    ["unit"] => Step::Unit,
                    ["zero"] => Step::Zero,
                    _ => return Err(format!("'{}' is no promise about a stride", step.join(" "))),
                };
                let name = name.strip_suffix(':').ok_or("an operand's name ends in ':'")?.to_owned();
                let elem = Elem::parse(elem).ok_or(format!("'{elem}' is no element type"))?;
                nest.operands.push(Operand { name, elem, access, step });
            }
            (Some(body), words) => {
                let operands = &nest.operands;
                let operand = |name: &str| {
                    let at = operands.iter().position(|o| o.name == name);
                    at.map(|at| at as u32).ok_or(format!("there is no operand '{name}'"))
                };
                let (number, words) = match words {
                    [number, "=", rest @ ..] => (Some(number_of(number)?), rest),
                    rest => (None, rest),
                };
                let [op, rest @ ..] = words else { return Err("an operation is missing".to_owned()) };
                let numbers = &self.numbers;
                let value = |text: &&str| {
                    let wanted = number_of(text)?;
                    let at = numbers.iter().rposition(|n| *n == Some(wanted));
                    at.map(|at| Value(at as u32)).ok_or(format!("there is no value {text} before this line"))
                };
                let (op, ty) = op.split_once('.').map_or((*op, None), |(op, ty)| (op, Some(ty)));
                let typed = || {
                    let ty = ty.ok_or(format!("'{op}' needs a type: {op}.f32"))?;
                    Elem::parse(ty).ok_or(format!("'{ty}' is no element type"))
                };
                let (op, ty, args) = match (op, rest) {
                    ("const", [text]) => {
                        let ty = typed()?;
                        let bits = literal(ty, text).ok_or(format!("'{text}' is no {ty}"))?;
                        (Op::Const(bits), ty, &rest[1..])
                    }
                    ("load", [name]) => {
                        let o = operand(name)?;
                        (Op::Load(o), operands[o as usize].elem.widened(), &rest[1..])
                    }
                    ("store", [name, _]) => {
                        let o = operand(name)?;
                        (Op::Store(o), operands[o as usize].elem.widened(), &rest[1..])
                    }
                    ("fma", _) => (Op::Fma, typed()?, rest),
                    ("select", _) => (Op::Select, typed()?, rest),
                    ("cast", _) => (Op::Cast, typed()?, rest),
                    ("bitcast", _) => (Op::Bitcast, typed()?, rest),
                    ("round", _) => (Op::Round(typed()?), Elem::F32, rest),
                    (op, _) => {
                        if let Some(un) = find(UN, op) {
                            (Op::Un(un), typed()?, rest)
                        } else if let Some(bin) = find(BIN, op) {
                            (Op::Bin(bin), typed()?, rest)
                        } else if let Some(cmp) = find(CMP, op) {
                            (Op::Cmp(cmp), Elem::Bool, rest)
                        } else if let Some(red) = find(RED, op) {
                            (Op::Reduce(red), typed()?, rest)
                        } else if let Some(func) = Func::ALL.iter().copied().find(|f| f.name() == op) {
                            (Op::Call(func), typed()?, rest)
                        } else {
                            return Err(format!("there is no operation '{op}'"));
                        }
                    }
                };
                let args = args.iter().map(value).collect::<Result<_, _>>()?;
                body.insts_mut().push(Inst { op, ty, args });
                self.numbers.push(number);
            }
            (None, _) => return Err(format!("'{line}' is neither an operand nor a body")),
        }
        Ok(())
    }
}

fn number_of(text: &str) -> Result<u32, String> {
    text.strip_prefix('%').and_then(|t| t.parse().ok()).ok_or(format!("'{text}' is no value"))
}
