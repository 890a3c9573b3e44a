//! Targets and their texts.

use crate::{CoreClass, Feature, Features};
use core::fmt;

/// A processor architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arch {
    /// 64-bit x86; the baseline has SSE2.
    X86_64,
    /// 64-bit Arm; the baseline has Advanced SIMD.
    Aarch64,
    /// RV64GC; the baseline has no vectors.
    Riscv64,
}

impl Arch {
    /// Every architecture.
    pub const ALL: &'static [Arch] = &[Arch::X86_64, Arch::Aarch64, Arch::Riscv64];

    /// The name used in target texts and kernel names.
    pub const fn name(self) -> &'static str {
        match self {
            Arch::X86_64 => "x86_64",
            Arch::Aarch64 => "aarch64",
            Arch::Riscv64 => "riscv64",
        }
    }
}

/// Data cache sizes in bytes, as one core sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Caches {
    /// First-level data cache.
    pub l1d: u32,
    /// Second-level cache.
    pub l2: u32,
    /// Last cache before memory; 0 where there is none beyond `l2`.
    pub l3: u32,
    /// Cache line.
    pub line: u32,
}

impl Caches {
    /// What is assumed where nothing is known.
    pub const ASSUMED: Caches = Caches { l1d: 32 << 10, l2: 512 << 10, l3: 8 << 20, line: 64 };
}

/// What is compiled for, or run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// Architecture.
    pub arch: Arch,
    /// Instruction-set features beyond the architecture's baseline.
    pub features: Features,
    /// The vector length in bits where it is known: RVV only.
    pub vlen: Option<u16>,
    /// Cache sizes.
    pub caches: Caches,
    /// Whose timing to assume.
    pub core: CoreClass,
}

/// Why a text is no target. It borrows the offending part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError<'a> {
    /// The text does not begin with a known architecture.
    #[error(
        "target '{0}': unknown architecture; write x86_64, x86_64_v2, x86_64_v3, x86_64_v4, aarch64, riscv64 or host"
    )]
    UnknownArch(&'a str),
    /// A feature that no architecture of ours has.
    #[error("target feature '{feature}' is unknown for {}; `smalti info --features` lists those that exist", .arch.name())]
    UnknownFeature {
        /// The word that was not understood.
        feature: &'a str,
        /// The architecture it was written for.
        arch: Arch,
    },
    /// A `cpu=` that is not in the closed list.
    #[error("cpu '{0}' is unknown; `smalti info --features` lists those that exist")]
    UnknownCpu(&'a str),
    /// A `vlen=` that no RVV 1.0 machine can have, or one without `v`.
    #[error("vlen '{0}' must be a power of two from 128 to 32768, and needs riscv64 with v")]
    BadVlen(&'a str),
    /// `host` where the host cannot be asked.
    #[error("target 'host' needs a program that detects its machine; write the target out")]
    NoHost,
}

const V2: Features = Features::of(&[Feature::Sse42]);
const V3: Features = Features::of(&[Feature::Avx2, Feature::Fma, Feature::F16c]);
const V4: Features = V3.union(Features::of(&[
    Feature::Avx512f,
    Feature::Avx512bw,
    Feature::Avx512cd,
    Feature::Avx512dq,
    Feature::Avx512vl,
]));

/// Bases of target texts, the longest first so that a prefix never shadows a longer name.
const BASES: &[(&str, Arch, Features)] = &[
    ("x86_64_v4", Arch::X86_64, V4),
    ("x86_64_v3", Arch::X86_64, V3),
    ("x86_64_v2", Arch::X86_64, V2),
    ("x86_64", Arch::X86_64, Features::NONE),
    ("aarch64", Arch::Aarch64, Features::NONE),
    ("riscv64", Arch::Riscv64, Features::NONE),
];

impl Target {
    /// The bare architecture with assumed caches.
    pub const fn baseline(arch: Arch) -> Target {
        Target { arch, features: Features::NONE, vlen: None, caches: Caches::ASSUMED, core: CoreClass::Generic }
    }

    /// Reads a target text: `base[+feature,…][,vlen=N][,cpu=NAME]`, or `host` where detection is built in.
    ///
    /// # Errors
    /// A sentence that names the part that was not understood.
    pub fn parse(text: &str) -> Result<Target, TargetError<'_>> {
        if text == "host" {
            #[cfg(feature = "detect")]
            return Ok(Target::host());
            #[cfg(not(feature = "detect"))]
            return Err(TargetError::NoHost);
        }
        let (base, rest) = match text.split_once(['+', ',']) {
            Some((base, rest)) => (base, rest),
            None => (text, ""),
        };
        let &(_, arch, features) = BASES.iter().find(|b| b.0 == base).ok_or(TargetError::UnknownArch(text))?;
        let mut target = Target { features, ..Target::baseline(arch) };
        for word in rest.split([',', '+']).filter(|w| !w.is_empty()) {
            if let Some(cpu) = word.strip_prefix("cpu=") {
                target.core = CoreClass::parse(cpu).ok_or(TargetError::UnknownCpu(cpu))?;
            } else if let Some(vlen) = word.strip_prefix("vlen=") {
                let bits: u32 = vlen.parse().map_err(|_| TargetError::BadVlen(vlen))?;
                let fits = bits.is_power_of_two() && (128..=32768).contains(&bits);
                if !fits || arch != Arch::Riscv64 {
                    return Err(TargetError::BadVlen(vlen));
                }
                target.vlen = Some(bits as u16);
            } else {
                let feature = Feature::ALL
                    .iter()
                    .copied()
                    .find(|f| f.name() == word && f.arch() == arch)
                    .ok_or(TargetError::UnknownFeature { feature: word, arch })?;
                target.features = target.features.with(feature);
            }
        }
        if target.vlen.is_some() && !target.features.has(Feature::V) {
            return Err(TargetError::BadVlen(rest));
        }
        Ok(target)
    }

    /// Whether code built for `other` runs on this machine: the same architecture, at least its features, and the
    /// vector length that it pins.
    pub fn runs(&self, other: &Target) -> bool {
        self.arch == other.arch
            && self.features.contains(other.features)
            && (other.vlen.is_none() || other.vlen == self.vlen)
    }
}

/// The shortest text that parses back to the same architecture, features, vector length and core class.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &(base, _, included) = BASES
            .iter()
            .find(|b| b.1 == self.arch && self.features.contains(b.2))
            .expect("each architecture has a base without features");
        f.write_str(base)?;
        let mut separator = '+';
        let mut word = |f: &mut fmt::Formatter<'_>, key: &str, value: &dyn fmt::Display| {
            let done = write!(f, "{separator}{key}{value}");
            separator = ',';
            done
        };
        let beyond = self.features.minus(included);
        for feature in beyond.iter() {
            if !beyond.iter().any(|g| g != feature && Features::of(&[g]).has(feature)) {
                word(f, "", &feature.name())?;
            }
        }
        if let Some(vlen) = self.vlen {
            word(f, "vlen=", &vlen)?;
        }
        if self.core != CoreClass::Generic {
            word(f, "cpu=", &self.core.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn texts_round_trip() {
        for text in [
            "x86_64",
            "x86_64_v2",
            "x86_64_v3",
            "x86_64_v4",
            "x86_64_v4+avx512vnni,avx512bf16,cpu=zen4",
            "x86_64_v2+fma",
            "aarch64",
            "aarch64+dotprod",
            "aarch64+i8mm,bf16,cpu=neoverse-v1",
            "riscv64",
            "riscv64+v",
            "riscv64+zvfh,vlen=256,cpu=spacemit-x60",
        ] {
            let target = Target::parse(text).unwrap();
            assert_eq!(Target::parse(&target.to_string()).unwrap(), target, "{text}");
            assert_eq!(target.to_string(), text);
        }
    }

    #[test]
    fn spelled_out_levels_are_recognised() {
        assert_eq!(Target::parse("x86_64+avx2,fma,f16c").unwrap(), Target::parse("x86_64_v3").unwrap());
    }

    #[test]
    fn implied_features_come_along() {
        let t = Target::parse("aarch64+i8mm").unwrap();
        assert!(t.features.has(Feature::Dotprod));
        let t = Target::parse("x86_64+avx512vnni").unwrap();
        assert!(t.features.has(Feature::Fma) && t.features.has(Feature::Avx512bw));
    }

    #[test]
    fn errors_name_the_part() {
        assert_eq!(Target::parse("sparc"), Err(TargetError::UnknownArch("sparc")));
        assert_eq!(
            Target::parse("aarch64+avx2"),
            Err(TargetError::UnknownFeature { feature: "avx2", arch: Arch::Aarch64 })
        );
        assert_eq!(Target::parse("riscv64+v,vlen=96"), Err(TargetError::BadVlen("96")));
        assert_eq!(Target::parse("x86_64,vlen=128"), Err(TargetError::BadVlen("128")));
        assert_eq!(Target::parse("riscv64,cpu=z80"), Err(TargetError::UnknownCpu("z80")));
        assert!(Target::parse("").is_err());
    }

    #[test]
    fn runs_is_a_subset_test() {
        let board = Target::parse("riscv64+v,vlen=256").unwrap();
        assert!(board.runs(&Target::parse("riscv64+v").unwrap()));
        assert!(!board.runs(&Target::parse("riscv64+v,vlen=512").unwrap()));
        assert!(!board.runs(&Target::parse("riscv64+zvfh").unwrap()));
        assert!(!board.runs(&Target::parse("aarch64").unwrap()));
    }
}
