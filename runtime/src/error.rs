//! What can go wrong.

use alloc::string::String;
use alloc::vec::Vec;
use smalti_tiling::PlanError;

/// Why a program can't be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The program is not well-formed.
    #[error(transparent)]
    Program(#[from] smalti_program::VerifyError),
    /// It is for another machine.
    #[error("E102: the program is for {program}, this machine is {machine}")]
    Target {
        /// What the program needs.
        program: String,
        /// What the machine is.
        machine: String,
    },
    /// The module's program for this machine is not well-formed.
    #[error(transparent)]
    Module(#[from] smalti_module::ModuleError),
    /// No variant runs here, and this build makes no other.
    #[error("E104: the module has code for {}, this machine is {machine}; compile the model with --target {machine}, or run it with a smalti that has the compiler", variants(.targets))]
    NoVariant {
        /// The targets of its variants.
        targets: Vec<String>,
        /// What the machine is.
        machine: String,
    },
    /// The constants would grow out of all proportion.
    #[error(
        "E103: {constants} bytes of constants would become {packed} when they are packed, more than the {most} that are \
         allowed (this is a bug in the program)"
    )]
    Packed {
        /// Bytes of constants.
        constants: usize,
        /// Bytes of what is made of them.
        packed: usize,
        /// Bytes that may be.
        most: usize,
    },
    /// The constants could not be prepared.
    #[error(transparent)]
    Once(#[from] RunError),
}

/// Why a run stopped. Buffers hold what was written before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// Not as many inputs as the program has.
    #[error("E201: {found} inputs were given, the model has {expected}")]
    Inputs {
        /// How many it has.
        expected: usize,
        /// How many were given.
        found: usize,
    },
    /// An input of the wrong type, rank or size.
    #[error("E202: input '{name}': {reason}")]
    Input {
        /// The input.
        name: String,
        /// What does not fit.
        reason: String,
    },
    /// Two sizes that must be equal are not.
    #[error("E203: '{node}': {left} = {left_value} and {right} = {right_value} must be equal")]
    Check {
        /// The node that needs it.
        node: String,
        /// One size.
        left: String,
        /// Its value.
        left_value: i64,
        /// The other.
        right: String,
        /// Its value.
        right_value: i64,
    },
    /// A size that no buffer can have.
    #[error("E204: '{node}': {what} is {value}")]
    Size {
        /// The node.
        node: String,
        /// Which size.
        what: String,
        /// Its value, or why it has none.
        value: String,
    },
    /// An access outside a buffer: the program is wrong.
    #[error(
        "E901: '{node}': operand {operand} reaches element {at} of a buffer of {len} (this is a bug in the program)"
    )]
    Bounds {
        /// The node.
        node: String,
        /// Which operand.
        operand: usize,
        /// The element.
        at: i128,
        /// The buffer's length.
        len: usize,
    },
    /// There is no plan.
    #[error("E205: '{node}': {error}")]
    Plan {
        /// The node.
        node: String,
        /// Why.
        error: PlanError,
    },
    /// An earlier run of the session panicked, so its state is not known.
    #[error("E902: an earlier run of this session panicked; load the program again")]
    Broken,
    /// A dispatch stopped.
    #[error("E206: '{node}': an index lies outside of its tensor (bad_index, status {status})")]
    Status {
        /// The node.
        node: String,
        /// What it gave back.
        status: u32,
    },
}

fn variants(targets: &[String]) -> String {
    if targets.is_empty() { String::from("no target (its portable part alone)") } else { targets.join(", ") }
}
