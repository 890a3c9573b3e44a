//! What is to be computed, with sizes, and its text.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use smalti_ukernels::name::{Op, Types};

/// How a matrix lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Order {
    /// Rows are contiguous.
    #[default]
    Rows,
    /// Columns are contiguous: the transpose of a row-major matrix.
    Columns,
}

impl Order {
    /// The name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Order::Rows => "rows",
            Order::Columns => "columns",
        }
    }

    /// The order of that name.
    pub fn parse(text: &str) -> Option<Order> {
        [Order::Rows, Order::Columns].into_iter().find(|o| o.name() == text)
    }
}

/// `batch` products of `m x k` by `k x n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Matmul {
    /// Operand types.
    pub types: Types,
    /// How many products.
    pub batch: usize,
    /// Rows of the left operand and the output.
    pub m: usize,
    /// Columns of the right operand and the output.
    pub n: usize,
    /// Columns of the left operand, rows of the right one.
    pub k: usize,
    /// The left operand's order.
    pub lhs: Order,
    /// The right operand's order.
    pub rhs: Order,
    /// Whether the right operand is known before any run, so that it is packed once.
    pub rhs_constant: bool,
    /// Whether the same bits must come out on every machine.
    pub strict: bool,
}

/// A 2-D convolution, activations `[n][channels][height][width]`, weights `[oc][ic/groups][kh][kw]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Conv2d {
    /// Operand types.
    pub types: Types,
    /// Images.
    pub n: usize,
    /// Input channels.
    pub ic: usize,
    /// Input height and width.
    pub input: [usize; 2],
    /// Output channels.
    pub oc: usize,
    /// Kernel height and width.
    pub kernel: [usize; 2],
    /// Steps between neighbouring outputs, in input pixels.
    pub stride: [usize; 2],
    /// Pixels of zero above, left, below, right.
    pub pad: [usize; 4],
    /// Steps between neighbouring taps, in input pixels.
    pub dilation: [usize; 2],
    /// Independent groups of channels.
    pub groups: usize,
    /// Whether image rows lie apart, so that pixels of two rows are no run of equal steps.
    pub rows_apart: bool,
    /// Whether the same bits must come out on every machine.
    pub strict: bool,
}

impl Conv2d {
    /// Output height and width; none where the kernel does not fit the padded input once.
    pub fn output(&self) -> Option<[usize; 2]> {
        let mut size = [0; 2];
        for (d, size) in size.iter_mut().enumerate() {
            let reach = self.dilation[d].checked_mul(self.kernel[d].checked_sub(1)?)?.checked_add(1)?;
            let padded = self.input[d].checked_add(self.pad[d])?.checked_add(self.pad[d + 2])?;
            *size = padded.checked_sub(reach)?.checked_div(self.stride[d])?.checked_add(1)?;
        }
        Some(size)
    }
}

/// What the planner plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Problem {
    /// Products of matrices.
    Matmul(Matmul),
    /// A convolution.
    Conv2d(Conv2d),
}

/// Why a text is no problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("problem '{text}': {reason}")]
pub struct ProblemError {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub reason: String,
}

impl Problem {
    /// Operand types.
    pub const fn types(&self) -> Types {
        match self {
            Problem::Matmul(p) => p.types,
            Problem::Conv2d(p) => p.types,
        }
    }

    /// Whether the same bits must come out on every machine.
    pub const fn strict(&self) -> bool {
        match self {
            Problem::Matmul(p) => p.strict,
            Problem::Conv2d(p) => p.strict,
        }
    }

    /// Reads what `Display` writes; fields may be left out where 1 (for sizes), 0 (for padding) or the plainest
    /// choice is meant.
    ///
    /// # Errors
    /// A sentence that names the field.
    pub fn parse(text: &str) -> Result<Problem, ProblemError> {
        let wrong = |reason: String| ProblemError { text: text.to_string(), reason };
        let mut words = text.split_whitespace();
        let op = words.next().unwrap_or("");
        let types = words.next().unwrap_or("");
        // The name grammar reads the types.
        let name = format!("{}_{types}_nxnxn_generic", Op::Mmt4d.name());
        let types = smalti_ukernels::name::Name::parse(&name).map_err(|e| wrong(e.to_string()))?.types;
        let mut fields = Fields { words: words.collect(), wrong: &wrong };
        let problem = match op {
            "matmul" => Problem::Matmul(Matmul {
                types,
                batch: fields.sizes("batch", [1])?[0],
                m: fields.sizes("m", [1])?[0],
                n: fields.sizes("n", [1])?[0],
                k: fields.sizes("k", [1])?[0],
                lhs: fields.word("lhs", Order::parse)?.unwrap_or_default(),
                rhs: fields.word("order", Order::parse)?.unwrap_or_default(),
                rhs_constant: fields.word("rhs", |w| (w == "constant").then_some(()))?.is_some(),
                strict: fields.flag("strict"),
            }),
            "conv2d" => Problem::Conv2d(Conv2d {
                types,
                n: fields.sizes("n", [1])?[0],
                ic: fields.sizes("ic", [1])?[0],
                input: fields.sizes("input", [1; 2])?,
                oc: fields.sizes("oc", [1])?[0],
                kernel: fields.sizes("kernel", [1; 2])?,
                stride: fields.sizes("stride", [1; 2])?,
                pad: fields.sizes("pad", [0; 4])?,
                dilation: fields.sizes("dilation", [1; 2])?,
                groups: fields.sizes("groups", [1])?[0],
                rows_apart: fields.flag("rows_apart"),
                strict: fields.flag("strict"),
            }),
            other => return Err(wrong(format!("'{other}' is neither matmul nor conv2d"))),
        };
        match fields.words.first() {
            Some(word) => Err(wrong(format!("'{word}' is not a field of {op}"))),
            None => Ok(problem),
        }
    }
}

struct Fields<'a, F> {
    words: alloc::vec::Vec<&'a str>,
    wrong: &'a F,
}

impl<F: Fn(String) -> ProblemError> Fields<'_, F> {
    fn take(&mut self, key: &str) -> Option<&str> {
        let is = |w: &&str| w.split_once('=').is_some_and(|(k, _)| k == key);
        let at = self.words.iter().position(is)?;
        self.words.remove(at).split_once('=').map(|w| w.1)
    }

    fn flag(&mut self, key: &str) -> bool {
        let at = self.words.iter().position(|w| *w == key);
        at.map(|at| self.words.remove(at)).is_some()
    }

    fn sizes<const N: usize>(&mut self, key: &str, default: [usize; N]) -> Result<[usize; N], ProblemError> {
        let wrong = self.wrong;
        let Some(text) = self.take(key) else { return Ok(default) };
        let mut sizes = default;
        let mut parts = text.split(',');
        for size in &mut sizes {
            let part = parts.next().and_then(|p| p.parse().ok());
            *size = part.ok_or_else(|| wrong(format!("{key}= takes {N} whole numbers, not '{text}'")))?;
        }
        match parts.next() {
            Some(_) => Err(wrong(format!("{key}= takes {N} whole numbers, not '{text}'"))),
            None => Ok(sizes),
        }
    }

    fn word<T>(&mut self, key: &str, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>, ProblemError> {
        let wrong = self.wrong;
        let Some(text) = self.take(key) else { return Ok(None) };
        read(text).map(Some).ok_or_else(|| wrong(format!("'{text}' is no value of {key}=")))
    }
}

/// All fields that differ from the plainest choice.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Matmul(p) => {
                f.write_str("matmul ")?;
                types(f, p.types)?;
                list(f, "batch", &[p.batch], &[1])?;
                write!(f, " m={} n={} k={}", p.m, p.n, p.k)?;
                if p.lhs != Order::Rows {
                    write!(f, " lhs={}", p.lhs.name())?;
                }
                if p.rhs != Order::Rows {
                    write!(f, " order={}", p.rhs.name())?;
                }
                if p.rhs_constant {
                    f.write_str(" rhs=constant")?;
                }
                flag(f, p.strict)
            }
            Problem::Conv2d(p) => {
                f.write_str("conv2d ")?;
                types(f, p.types)?;
                list(f, "n", &[p.n], &[1])?;
                write!(f, " ic={}", p.ic)?;
                list(f, "input", &p.input, &[])?;
                write!(f, " oc={}", p.oc)?;
                list(f, "kernel", &p.kernel, &[])?;
                list(f, "stride", &p.stride, &[1; 2])?;
                list(f, "pad", &p.pad, &[0; 4])?;
                list(f, "dilation", &p.dilation, &[1; 2])?;
                list(f, "groups", &[p.groups], &[1])?;
                if p.rows_apart {
                    f.write_str(" rows_apart")?;
                }
                flag(f, p.strict)
            }
        }
    }
}

fn types(f: &mut fmt::Formatter<'_>, types: Types) -> fmt::Result {
    types.list.iter().try_for_each(|t| f.write_str(t.name()))
}

fn flag(f: &mut fmt::Formatter<'_>, strict: bool) -> fmt::Result {
    if strict { f.write_str(" strict") } else { Ok(()) }
}

fn list(f: &mut fmt::Formatter<'_>, key: &str, sizes: &[usize], plain: &[usize]) -> fmt::Result {
    if sizes == plain {
        return Ok(());
    }
    for (i, size) in sizes.iter().enumerate() {
        if i == 0 { write!(f, " {key}={size}")? } else { write!(f, ",{size}")? }
    }
    Ok(())
}
