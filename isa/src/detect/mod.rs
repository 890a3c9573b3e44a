//! Asks the machine what it can do. The only place in Smalti that does.

use crate::{Arch, Target};

#[cfg(target_arch = "x86_64")]
mod x86_64;

impl Target {
    /// The machine that this program runs on. Features that the operating system has not enabled are left out.
    ///
    /// On aarch64 and riscv64 the architecture's baseline is reported: no more is promised there than every
    /// machine of that architecture has.
    pub fn host() -> Target {
        #[cfg(target_arch = "x86_64")]
        return x86_64::target(&x86_64::Cpu);
        #[cfg(target_arch = "aarch64")]
        return Target::baseline(Arch::Aarch64);
        #[cfg(target_arch = "riscv64")]
        return Target::baseline(Arch::Riscv64);
    }
}

// `Arch` is named by every architecture's arm but one.
const _: Arch = Arch::X86_64;
