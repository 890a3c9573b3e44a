//! The proof that a target is the machine at hand.

use smalti_isa::Target;

/// A machine that is really there: what [`Row::bind`](crate::table::Row::bind) asks for, so that a parsed target can
/// never run what the machine lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host(Target);

impl Host {
    /// The machine that this program runs on, as [`Target::host`] sees it.
    #[cfg(feature = "detect")]
    pub fn detect() -> Host {
        Host(Target::host())
    }

    /// Takes `target` for the machine at hand.
    ///
    /// # Safety
    /// The machine has every feature of `target`, and its vector length if `target` pins one.
    pub const unsafe fn assume(target: Target) -> Host {
        Host(target)
    }

    /// The same machine with no more than the features of `cap`: for comparing levels on one machine.
    #[must_use]
    pub fn capped(self, cap: &Target) -> Host {
        Host(Target { features: self.0.features.intersect(cap.features), ..self.0 })
    }

    /// What the machine can do.
    pub const fn target(&self) -> &Target {
        &self.0
    }
}
