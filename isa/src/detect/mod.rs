//! Asks the machine what it can do. The only place in Smalti that does.
//!
//! On x86-64 the processor is asked; on aarch64 and riscv64 the Linux kernel is, since the processor answers it alone.
//! Elsewhere the architecture's baseline is reported.

use crate::Target;

#[cfg(any(all(target_arch = "aarch64", target_os = "linux"), test))]
mod aarch64;
#[cfg(all(target_os = "linux", not(target_arch = "x86_64")))]
mod linux;
#[cfg(any(all(target_arch = "riscv64", target_os = "linux"), test))]
mod riscv64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detection {
    /// The machine. Features that the operating system has not enabled are left out.
    pub target: Target,
    /// What a user of the machine should know: a sentence on a feature that it seems to have, and why it is left out.
    pub note: Option<&'static str>,
}

/// Asks the machine that this program runs on.
pub fn detect() -> Detection {
    #[cfg(target_arch = "x86_64")]
    return Detection { target: x86_64::target(&x86_64::Cpu), note: None };
    #[cfg(all(target_arch = "aarch64", target_os = "linux"))]
    return Detection { target: aarch64::target(&linux::Kernel), note: None };
    #[cfg(all(target_arch = "riscv64", target_os = "linux"))]
    return riscv64::detection(&linux::Kernel);
    #[cfg(not(any(target_arch = "x86_64", target_os = "linux")))]
    {
        let arch = if cfg!(target_arch = "aarch64") { crate::Arch::Aarch64 } else { crate::Arch::Riscv64 };
        Detection { target: Target::baseline(arch), note: None }
    }
}

impl Target {
    /// The machine that this program runs on: the target of [`detect`].
    pub fn host() -> Target {
        detect().target
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    /// The machine that runs the tests, whichever it is, is one that a text can name.
    #[test]
    fn the_host_is_a_target() {
        let Detection { target, .. } = detect();
        assert_eq!(Target { caches: target.caches, ..Target::parse(&target.to_string()).unwrap() }, target);
        assert_eq!(target.arch.name(), std::env::consts::ARCH);
        assert!(target.features.iter().all(|f| f.arch() == target.arch));
    }
}
