//! Linux's hardware capabilities and `riscv_hwprobe` (`Documentation/arch/riscv/hwprobe.rst`), and the vector unit itself.
//!
//! Only RVV 1.0 counts as vectors. Cores of the draft 0.7.1 (T-Head C906, C910, C920) have other encodings under the same
//! name, and their vendors' kernels set the same capability bit. They are told apart by lengths that both versions define:
//! a vtype of 0 is e8 with m1 in either; a vtype of 8 is e16 with m1 in 1.0 (riscv-v-spec 1.0, section 3.4) and e32 with m1
//! in 0.7.1 (riscv-v-spec 0.7.1, section 3.2). So the second length is a half of the first or a quarter of it, and nothing
//! traps.

use super::Detection;
use crate::{Arch, CoreClass, Feature, Features, Target};

/// The questions that detection asks, so that tests can answer them.
pub(super) trait Probe {
    /// AT_HWCAP: one bit a letter.
    fn hwcap(&self) -> u64;
    /// The value of a key that holds for all processors; none where the kernel lacks the call or the key.
    fn hwprobe(&self, key: i64) -> Option<u64>;
    /// What `prctl(PR_RISCV_V_GET_CONTROL)` gives: negative where the kernel has no such control.
    fn vector_control(&self) -> i64;
    /// The length that `vsetvl` grants under a vtype where all is asked for. Called only where the kernel has said that
    /// there are vectors, of whatever version, and has not switched them off.
    fn vlmax(&self, vtype: u64) -> u64;
}

const MVENDORID: i64 = 0;
const MARCHID: i64 = 1;
const IMA_EXT_0: i64 = 4;
/// V in AT_HWCAP.
const HWCAP_V: u64 = 1 << (b'V' - b'A');
/// Bits of `IMA_EXT_0`.
const BITS: &[(u32, Feature)] = &[
    (2, Feature::V),
    (3, Feature::Zba),
    (4, Feature::Zbb),
    (27, Feature::Zfh),
    (30, Feature::Zvfh),
    (54, Feature::Zvfbfwma),
];

const SIFIVE: u64 = 0x489;
const THEAD: u64 = 0x5b7;
const SPACEMIT: u64 = 0x710;

const DRAFT_VECTORS: &str = "any vectors of this machine are of the draft RVV 0.7.1, whose instructions differ from those of \
     RVV 1.0; they are left unused";
const SWITCHED_OFF: &str = "the operating system has switched vectors off for this program; write 1 to \
     /proc/sys/abi/riscv_v_default_allow, or start it from a program that allows them";

pub(super) fn detection(probe: &impl Probe) -> Detection {
    let extensions = probe.hwprobe(IMA_EXT_0);
    let bit = |f: Feature| extensions.is_some_and(|e| BITS.iter().any(|&(bit, g)| g == f && e >> bit & 1 == 1));
    // Kernels without the call say V and no more.
    let claimed = if extensions.is_some() { bit(Feature::V) } else { probe.hwcap() & HWCAP_V != 0 };
    let (vlen, note) = vectors(probe, claimed);
    let features = Features::closed(|f| if f == Feature::V { vlen.is_some() } else { bit(f) });
    let core = core_class(probe, vlen);
    Detection { target: Target { features, vlen, core, ..Target::baseline(Arch::Riscv64) }, note }
}

/// The vector length in bits, where there are vectors that can be used.
fn vectors(probe: &impl Probe, claimed: bool) -> (Option<u16>, Option<&'static str>) {
    if !claimed {
        // Mainline kernels leave the draft's vectors out. These cores say nothing of themselves in marchid.
        let draft = probe.hwprobe(MVENDORID) == Some(THEAD) && probe.hwprobe(MARCHID) == Some(0);
        return (None, draft.then_some(DRAFT_VECTORS));
    }
    const OFF: i64 = 1;
    if matches!(probe.vector_control(), control @ 0.. if control & 3 == OFF) {
        return (None, Some(SWITCHED_OFF));
    }
    let bytes = probe.vlmax(0);
    if probe.vlmax(8) * 2 != bytes {
        return (None, Some(DRAFT_VECTORS));
    }
    let bits = u16::try_from(bytes.saturating_mul(8)).ok();
    (bits.filter(|b| b.is_power_of_two() && *b >= 128), None)
}

fn core_class(probe: &impl Probe, vlen: Option<u16>) -> CoreClass {
    match (probe.hwprobe(MVENDORID), probe.hwprobe(MARCHID), vlen) {
        (Some(SPACEMIT), Some(0x8000_0000_5800_0001), _) => CoreClass::SpacemitX60,
        // The 7 series; only its X280 has vectors of this length.
        (Some(SIFIVE), Some(0x8000_0000_0000_0007), Some(512)) => CoreClass::SifiveX280,
        (Some(THEAD), Some(0x8000_0000_0914_0d00), _) => CoreClass::TheadC908,
        _ => CoreClass::Generic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// IMAFDC.
    const GC: u64 = 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 8 | 1 << 12;
    const OFF: i64 = 1;
    const ON: i64 = 2;

    #[derive(Clone, Copy)]
    enum Unit {
        None,
        /// RVV 1.0 of that many bits.
        Ratified(u64),
        /// RVV 0.7.1 of that many bits.
        Draft(u64),
    }

    struct Fake {
        hwcap: u64,
        /// mvendorid, marchid, IMA_EXT_0.
        hwprobe: Option<[u64; 3]>,
        control: i64,
        unit: Unit,
    }

    const BARE: Fake = Fake { hwcap: GC, hwprobe: None, control: -22, unit: Unit::None };

    impl Probe for Fake {
        fn hwcap(&self) -> u64 {
            self.hwcap
        }

        fn hwprobe(&self, key: i64) -> Option<u64> {
            let [vendor, arch, extensions] = self.hwprobe?;
            match key {
                MVENDORID => Some(vendor),
                MARCHID => Some(arch),
                IMA_EXT_0 => Some(extensions),
                _ => None,
            }
        }

        fn vector_control(&self) -> i64 {
            self.control
        }

        /// VLMAX = LMUL · VLEN / SEW for whole LMUL, by either version's fields; 0 where vill is set.
        fn vlmax(&self, vtype: u64) -> u64 {
            assert!(self.control < 0 || self.control & 3 != OFF, "an illegal instruction");
            let (vlen, lmul, sew) = match self.unit {
                Unit::None => panic!("an illegal instruction"),
                Unit::Ratified(vlen) => (vlen, vtype & 7, vtype >> 3 & 7),
                Unit::Draft(vlen) => (vlen, vtype & 3, vtype >> 2 & 7),
            };
            assert!(lmul < 4);
            if sew > 3 { 0 } else { (vlen << lmul) / (8 << sew) }
        }
    }

    fn found(probe: &Fake) -> (std::string::String, Option<&'static str>) {
        let d = detection(probe);
        (std::format!("{}", d.target), d.note)
    }

    #[test]
    fn a_machine_without_vectors() {
        assert_eq!(found(&BARE), ("riscv64".into(), None));
        // SiFive's U74.
        let zb = 1 << 3 | 1 << 4;
        let u74 = Fake { hwprobe: Some([SIFIVE, 0x8000_0000_0000_0007, 3 | zb]), ..BARE };
        assert_eq!(found(&u74), ("riscv64+zba,zbb".into(), None));
    }

    #[test]
    fn an_old_kernel_says_no_more_than_v() {
        for vlen in [128, 256, 1024] {
            let old = Fake { hwcap: GC | HWCAP_V, unit: Unit::Ratified(vlen), ..BARE };
            assert_eq!(found(&old), (std::format!("riscv64+v,vlen={vlen}"), None));
        }
    }

    #[test]
    fn hwprobe_says_the_rest() {
        let extensions = 7 | 1 << 3 | 1 << 4 | 1 << 27 | 1 << 30;
        let x60 = Fake {
            hwcap: GC | HWCAP_V,
            hwprobe: Some([SPACEMIT, 0x8000_0000_5800_0001, extensions]),
            control: ON,
            unit: Unit::Ratified(256),
        };
        assert_eq!(found(&x60), ("riscv64+zvfh,zba,zbb,vlen=256,cpu=spacemit-x60".into(), None));
        let x280 =
            Fake { hwprobe: Some([SIFIVE, 0x8000_0000_0000_0007, 7 | 1 << 54]), unit: Unit::Ratified(512), ..x60 };
        assert_eq!(found(&x280), ("riscv64+zvfbfwma,vlen=512,cpu=sifive-x280".into(), None));
        let c908 = Fake { hwprobe: Some([THEAD, 0x8000_0000_0914_0d00, 7]), unit: Unit::Ratified(128), ..x60 };
        assert_eq!(found(&c908), ("riscv64+v,vlen=128,cpu=thead-c908".into(), None));
    }

    /// Where the call answers, it alone is believed: a unit of embedded vectors (Zve32x) is none, and is not asked.
    #[test]
    fn hwprobe_without_v_outweighs_hwcap() {
        let probe = Fake { hwcap: GC | HWCAP_V, hwprobe: Some([0, 0, 3 | 1 << 37]), control: ON, unit: Unit::None };
        assert_eq!(found(&probe), ("riscv64".into(), None));
    }

    #[test]
    fn features_without_what_they_imply_are_left_out() {
        // Zvfh without Zfh; Zvfbfwma without V.
        let without_zfh = Fake { hwprobe: Some([0, 0, 7 | 1 << 30]), unit: Unit::Ratified(128), ..BARE };
        assert_eq!(found(&without_zfh), ("riscv64+v,vlen=128".into(), None));
        assert_eq!(found(&Fake { hwprobe: Some([0, 0, 3 | 1 << 27 | 1 << 54]), ..BARE }), ("riscv64+zfh".into(), None));
    }

    #[test]
    fn the_draft_is_refused() {
        let refused = ("riscv64".into(), Some(DRAFT_VECTORS));
        for vlen in [128, 256] {
            let vendor_kernel = Fake { hwcap: GC | HWCAP_V, unit: Unit::Draft(vlen), ..BARE };
            assert_eq!(found(&vendor_kernel), refused);
            // A call that was ported back does not make it 1.0.
            let ported = Fake { hwprobe: Some([THEAD, 0, 7]), ..vendor_kernel };
            assert_eq!(found(&ported), refused);
        }
        let mainline = Fake { hwprobe: Some([THEAD, 0, 3]), ..BARE };
        assert_eq!(found(&mainline), refused);
    }

    #[test]
    fn vectors_that_are_switched_off_are_not_touched() {
        for next in [0, OFF << 2, ON << 2, 1 << 4] {
            let probe = Fake { hwcap: GC | HWCAP_V, hwprobe: Some([0, 0, 7]), control: OFF | next, unit: Unit::None };
            assert_eq!(found(&probe), ("riscv64".into(), Some(SWITCHED_OFF)));
        }
    }

    #[test]
    fn lengths_that_rvv_does_not_have() {
        for vlen in [64, 192, 65536] {
            let probe = Fake { hwcap: GC | HWCAP_V, unit: Unit::Ratified(vlen), ..BARE };
            assert_eq!(found(&probe), ("riscv64".into(), None));
        }
    }
}
