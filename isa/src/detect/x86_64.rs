//! CPUID and XGETBV (Intel SDM volume 1, chapter 13 and volume 2A, CPUID; AMD APM volume 3, appendix E).

use crate::{Arch, Caches, CoreClass, Feature, Features, Target};
use core::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};

/// The two questions that detection asks, so that tests can answer them.
pub(super) trait Probe {
    /// CPUID of (leaf, subleaf): `[eax, ebx, ecx, edx]`.
    fn cpuid(&self, leaf: u32, subleaf: u32) -> [u32; 4];
    /// XCR0. Called only where CPUID reports OSXSAVE.
    fn xcr0(&self) -> u64;
}

/// The processor itself.
pub(super) struct Cpu;

impl Probe for Cpu {
    fn cpuid(&self, leaf: u32, subleaf: u32) -> [u32; 4] {
        let highest = __cpuid(leaf & 0x8000_0000).eax;
        if leaf > highest {
            return [0; 4];
        }
        let r = __cpuid_count(leaf, subleaf);
        [r.eax, r.ebx, r.ecx, r.edx]
    }

    fn xcr0(&self) -> u64 {
        #[target_feature(enable = "xsave")]
        fn read() -> u64 {
            // SAFETY: XGETBV with ECX = 0 exists wherever OSXSAVE is set, which the caller has checked.
            unsafe { _xgetbv(0) }
        }
        // SAFETY: `xcr0` is called only where CPUID reports OSXSAVE, which implies XSAVE.
        unsafe { read() }
    }
}

/// `(leaf, subleaf, register, bit, feature)`; registers count eax, ebx, ecx, edx.
const BITS: &[(u32, u32, usize, u32, Feature)] = &[
    (1, 0, 2, 12, Feature::Fma),
    (1, 0, 2, 29, Feature::F16c),
    (1, 0, 2, 28, Feature::Avx),
    (7, 0, 1, 5, Feature::Avx2),
    (7, 0, 1, 16, Feature::Avx512f),
    (7, 0, 1, 17, Feature::Avx512dq),
    (7, 0, 1, 28, Feature::Avx512cd),
    (7, 0, 1, 30, Feature::Avx512bw),
    (7, 0, 1, 31, Feature::Avx512vl),
    (7, 0, 2, 11, Feature::Avx512vnni),
    (7, 1, 0, 5, Feature::Avx512bf16),
    (7, 1, 0, 4, Feature::Avxvnni),
];

/// Bits of leaf 1 ECX that make the x86-64-v2 level: SSE3, SSSE3, CX16, SSE4.1, SSE4.2, POPCNT.
const V2_BITS: u32 = 1 | 1 << 9 | 1 << 13 | 1 << 19 | 1 << 20 | 1 << 23;
/// Features that need the upper halves of the vector registers to be saved by the operating system.
const YMM_STATE: u64 = 0b110;
const ZMM_STATE: u64 = 0b1110_0110;

pub(super) fn target(probe: &impl Probe) -> Target {
    let basic = probe.cpuid(1, 0);
    let osxsave = basic[2] >> 27 & 1 == 1;
    let xcr0 = if osxsave { probe.xcr0() } else { 0 };
    let features = Features::closed(|f| match BITS.iter().find(|b| b.4 == f) {
        Some(&(leaf, subleaf, register, bit, feature)) => {
            let wide = Features::of(&[feature]).has(Feature::Avx512f);
            let state = if wide { ZMM_STATE } else { YMM_STATE };
            xcr0 & state == state && probe.cpuid(leaf, subleaf)[register] >> bit & 1 == 1
        }
        None => f == Feature::Sse42 && basic[2] & V2_BITS == V2_BITS,
    });
    Target { arch: Arch::X86_64, features, vlen: None, caches: caches(probe), core: core_class(probe, basic[0]) }
}

/// Leaf 4 (Intel) or 0x8000001D (AMD): one subleaf a cache.
fn caches(probe: &impl Probe) -> Caches {
    let mut found = Caches { l1d: 0, l2: 0, l3: 0, line: 0 };
    let leaf = if vendor(probe) == *b"AuthenticAMD" { 0x8000_001D } else { 4 };
    for subleaf in 0..8 {
        let [eax, ebx, ecx, _] = probe.cpuid(leaf, subleaf);
        let kind = eax & 31;
        if kind == 0 {
            break;
        }
        let ways = (ebx >> 22) + 1;
        let partitions = (ebx >> 12 & 0x3ff) + 1;
        let line = (ebx & 0xfff) + 1;
        let bytes = u64::from(ways) * u64::from(partitions) * u64::from(line) * (u64::from(ecx) + 1);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        match (kind, eax >> 5 & 7) {
            (1, 1) => (found.l1d, found.line) = (bytes, line),
            (1 | 3, 2) => found.l2 = bytes,
            (1 | 3, 3) => found.l3 = bytes,
            _ => {}
        }
    }
    if found.l1d == 0 || found.l2 == 0 { Caches::ASSUMED } else { found }
}

fn vendor(probe: &impl Probe) -> [u8; 12] {
    let [_, ebx, ecx, edx] = probe.cpuid(0, 0);
    let mut text = [0; 12];
    for (i, word) in [ebx, edx, ecx].into_iter().enumerate() {
        text[i * 4..i * 4 + 4].copy_from_slice(&word.to_le_bytes());
    }
    text
}

fn core_class(probe: &impl Probe, signature: u32) -> CoreClass {
    let family = (signature >> 8 & 15) + if signature >> 8 & 15 == 15 { signature >> 20 & 255 } else { 0 };
    let model = signature >> 4 & 15 | signature >> 12 & 0xf0;
    match (&vendor(probe), family, model) {
        (b"AuthenticAMD", 0x19, 0x10..=0x1f | 0x60..=0xaf) => CoreClass::Zen4,
        (b"AuthenticAMD", 0x19, _) => CoreClass::Zen3,
        (b"AuthenticAMD", 0x1a, _) => CoreClass::Zen5,
        (b"GenuineIntel", 6, 0x8f | 0xcf) => CoreClass::SapphireRapids,
        (b"GenuineIntel", 6, 0x6a | 0x6c) => CoreClass::IcelakeServer,
        (b"GenuineIntel", 6, 0x4e | 0x5e | 0x8e | 0x9e | 0xa5 | 0xa6) => CoreClass::Skylake,
        _ => CoreClass::Generic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Zen 4 as its manual describes it; `xcr0` is the operating system's part.
    struct Fake {
        xcr0: u64,
        osxsave: bool,
    }

    impl Probe for Fake {
        fn cpuid(&self, leaf: u32, subleaf: u32) -> [u32; 4] {
            match (leaf, subleaf) {
                (0, _) => {
                    [16, u32::from_le_bytes(*b"Auth"), u32::from_le_bytes(*b"cAMD"), u32::from_le_bytes(*b"enti")]
                }
                (1, _) => {
                    let ecx = V2_BITS | 1 << 12 | 1 << 28 | 1 << 29 | u32::from(self.osxsave) << 27;
                    [0x00a1_0f10, 0, ecx, 0]
                }
                (7, 0) => [1, 1 << 5 | 1 << 16 | 1 << 17 | 1 << 28 | 1 << 30 | 1 << 31, 1 << 11, 0],
                (7, 1) => [1 << 5, 0, 0, 0],
                (0x8000_001D, 0) => [1 | 1 << 5, 7 << 22 | 63, 63, 0],
                (0x8000_001D, 1) => [3 | 2 << 5, 7 << 22 | 63, 2047, 0],
                (0x8000_001D, 2) => [3 | 3 << 5, 15 << 22 | 63, 32767, 0],
                _ => [0; 4],
            }
        }

        fn xcr0(&self) -> u64 {
            assert!(self.osxsave, "XGETBV without OSXSAVE faults");
            self.xcr0
        }
    }

    #[test]
    fn zen4_with_everything_enabled() {
        let t = target(&Fake { xcr0: 0xe7, osxsave: true });
        assert_eq!(t.core, CoreClass::Zen4);
        assert_eq!(t.caches, Caches { l1d: 32 << 10, l2: 1 << 20, l3: 32 << 20, line: 64 });
        let expected = Target::parse("x86_64_v4+avx512vnni,avx512bf16").unwrap();
        assert_eq!(t.features, expected.features);
    }

    #[test]
    fn os_disabled_avx512() {
        let t = target(&Fake { xcr0: 0x7, osxsave: true });
        assert_eq!(t.features, Target::parse("x86_64_v3").unwrap().features);
    }

    #[test]
    fn os_without_xsave() {
        let t = target(&Fake { xcr0: 0, osxsave: false });
        assert_eq!(t.features, Target::parse("x86_64_v2").unwrap().features);
    }
}
