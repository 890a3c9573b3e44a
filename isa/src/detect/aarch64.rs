//! Linux's hardware capabilities (`Documentation/arch/arm64/elf_hwcaps.rst`) and MIDR_EL1 (Arm Architecture Reference
//! Manual, D24.2), which the kernel lets programs read where it says so
//! (`Documentation/arch/arm64/cpu-feature-registers.rst`).

use crate::{Arch, CoreClass, Feature, Features, Target};

/// The questions that detection asks, so that tests can answer them.
pub(super) trait Probe {
    /// AT_HWCAP and AT_HWCAP2.
    fn hwcaps(&self) -> [u64; 2];
    /// MIDR_EL1. Called only where AT_HWCAP has [`CPUID`].
    fn midr(&self) -> u64;
}

/// The kernel answers reads of identification registers.
const CPUID: u64 = 1 << 11;

/// Which of the two words, and the bits of it that make the feature.
const BITS: &[(usize, u64, Feature)] = &[
    // Scalar and vector arithmetic have a bit each.
    (0, 1 << 9 | 1 << 10, Feature::Fp16),
    (0, 1 << 20, Feature::Dotprod),
    (0, 1 << 22, Feature::Sve),
    (0, 1 << 23, Feature::Fhm),
    (1, 1 << 1, Feature::Sve2),
    (1, 1 << 13, Feature::I8mm),
    (1, 1 << 14, Feature::Bf16),
];

pub(super) fn target(probe: &impl Probe) -> Target {
    let words = probe.hwcaps();
    let features =
        Features::closed(|f| BITS.iter().any(|&(word, bits, feature)| feature == f && words[word] & bits == bits));
    let core = if words[0] & CPUID != 0 { core_class(probe.midr()) } else { CoreClass::Generic };
    Target { features, core, ..Target::baseline(Arch::Aarch64) }
}

/// The class of the core that was asked: where a machine has several kinds, whichever the program began on.
fn core_class(midr: u64) -> CoreClass {
    const ARM: u64 = 0x41;
    match (midr >> 24 & 0xff, midr >> 4 & 0xfff) {
        (ARM, 0xd03) => CoreClass::CortexA53,
        (ARM, 0xd05) => CoreClass::CortexA55,
        // A76, A76AE, A77, A78, A78AE, A78C.
        (ARM, 0xd0b | 0xd0e | 0xd0d | 0xd41 | 0xd42 | 0xd4b) => CoreClass::CortexA76,
        (ARM, 0xd0c) => CoreClass::NeoverseN1,
        (ARM, 0xd40) => CoreClass::NeoverseV1,
        _ => CoreClass::Generic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FP, ASIMD, AES, PMULL, SHA1, SHA2, CRC32: the baseline and its usual company.
    const BASE: u64 = 0xfb;
    const ATOMICS: u64 = 1 << 8;
    const FPHP: u64 = 1 << 9;
    const ASIMDHP: u64 = 1 << 10;
    const ASIMDDP: u64 = 1 << 20;

    struct Fake {
        hwcaps: [u64; 2],
        midr: u64,
    }

    impl Probe for Fake {
        fn hwcaps(&self) -> [u64; 2] {
            self.hwcaps
        }

        fn midr(&self) -> u64 {
            assert!(self.hwcaps[0] & CPUID != 0, "MRS faults where the kernel does not emulate it");
            self.midr
        }
    }

    fn found(hwcap: u64, hwcap2: u64, midr: u64) -> Target {
        target(&Fake { hwcaps: [hwcap, hwcap2], midr })
    }

    #[test]
    fn cortex_a53_has_the_baseline() {
        assert_eq!(found(BASE | CPUID, 0, 0x410f_d034), Target::parse("aarch64,cpu=cortex-a53").unwrap());
    }

    #[test]
    fn neoverse_n1_has_dot_products_and_halves() {
        let hwcap = BASE | ATOMICS | FPHP | ASIMDHP | CPUID | ASIMDDP;
        assert_eq!(found(hwcap, 0, 0x413f_d0c1), Target::parse("aarch64+fp16,dotprod,cpu=neoverse-n1").unwrap());
    }

    #[test]
    fn everything() {
        let expected = Target::parse("aarch64+fp16,dotprod,i8mm,bf16,fhm,sve,sve2").unwrap();
        assert_eq!(found(!CPUID, u64::MAX, 0), expected);
        // An implementer that is not Arm.
        assert_eq!(found(u64::MAX, u64::MAX, 0x610f_d0c1), expected);
    }

    #[test]
    fn features_without_what_they_imply_are_left_out() {
        // FHM, SVE, SVE2 without half-precision vectors; I8MM without dot products.
        let t = found(BASE | FPHP | 1 << 22 | 1 << 23, 1 << 1 | 1 << 13, 0);
        assert_eq!(t, Target::baseline(Arch::Aarch64));
    }

    #[test]
    fn an_old_kernel_has_no_identification_registers() {
        assert_eq!(found(BASE | ASIMDDP, 0, 0x413f_d0c1), Target::parse("aarch64+dotprod").unwrap());
    }
}
