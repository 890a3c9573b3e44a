//! Encodings, which know no target, and the layouts that they become on one.

use crate::problem::{Order, Problem};
use core::fmt;
use smalti_ukernels::name::{Dim, Types};

/// What an operand is to its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The left operand: activations.
    Lhs,
    /// The right operand: weights.
    Rhs,
    /// The output.
    Out,
}

impl Role {
    /// The name in texts.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Lhs => "lhs",
            Role::Rhs => "rhs",
            Role::Out => "out",
        }
    }
}

/// A virtual layout: the operation, its types, and the operand's role in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Encoding {
    /// `matmul` or `conv2d`.
    pub op: &'static str,
    /// Operand types.
    pub types: Types,
    /// The operand's role.
    pub role: Role,
}

impl Encoding {
    /// The encoding of one operand of `problem`.
    pub const fn of(problem: &Problem, role: Role) -> Encoding {
        let op = match problem {
            Problem::Matmul(_) => "matmul",
            Problem::Conv2d(_) => "conv2d",
        };
        Encoding { op, types: problem.types(), role }
    }
}

/// `#matmul<f32f32f32, rhs>`.
impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}<", self.op)?;
        self.types.list.iter().try_for_each(|t| f.write_str(t.name()))?;
        write!(f, ", {}>", self.role.name())
    }
}

/// What an encoding becomes on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layout {
    /// As the tensor lies: read or written in place through strides.
    InPlace(Order),
    /// Panels `[rows/t0][cols/t1][t0][t1]` (see [`smalti_ukernels::layout`]). `constant` ones are packed once, before
    /// any run, the others in each.
    Panels {
        /// Rows of a tile: N0 for a right operand.
        t0: Dim,
        /// Columns of a tile: K0.
        t1: usize,
        /// Whether they are packed once.
        constant: bool,
        /// Whether they hold elements with their sign bits flipped (see [`smalti_ukernels::layout::flip`]).
        flipped: bool,
    },
    /// Convolution weights `[groups][oc/n0][channel groups][kh·kw][channels in the group][n0]`.
    Weights {
        /// Output channels of a tile.
        n0: Dim,
        /// Input channels of a group.
        channels: usize,
    },
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Layout::InPlace(order) => write!(f, "in place, {}", order.name()),
            Layout::Panels { t0, t1, constant, flipped } => {
                let signs = if *flipped { ", sign bits flipped" } else { "" };
                write!(f, "panels {t0}x{t1}{signs}, {}", if *constant { "packed once" } else { "packed in each run" })
            }
            Layout::Weights { n0, channels } => write!(f, "weights x{n0} of {channels} channels, packed once"),
        }
    }
}
