//! Instruction-set features and the named levels that bundle them.

use crate::Arch;
use core::fmt;

/// One row of the feature list: `(variant, text, architecture, features it implies directly)`.
macro_rules! features {
    ($($(#[$doc:meta])* $variant:ident, $text:literal, $arch:ident, [$($implied:ident),*];)*) => {
        /// An instruction-set extension that a kernel or an emitter may need.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Feature { $($(#[$doc])* $variant),* }

        impl Feature {
            /// Every feature, in the order in which texts list them.
            pub const ALL: &'static [Feature] = &[$(Feature::$variant),*];

            /// The name used in target texts.
            pub const fn name(self) -> &'static str {
                match self { $(Feature::$variant => $text),* }
            }

            /// The architecture that has this feature.
            pub const fn arch(self) -> Arch {
                match self { $(Feature::$variant => Arch::$arch),* }
            }

            const fn implied(self) -> &'static [Feature] {
                match self { $(Feature::$variant => &[$(Feature::$implied),*]),* }
            }
        }
    };
}

features! {
    /// SSE3, SSSE3, SSE4.1, SSE4.2 and POPCNT together (the x86-64-v2 level).
    Sse42, "sse4.2", X86_64, [];
    /// 256-bit float vectors.
    Avx, "avx", X86_64, [Sse42];
    /// Half-precision conversions.
    F16c, "f16c", X86_64, [Avx];
    /// Fused multiply-add on xmm and ymm.
    Fma, "fma", X86_64, [Avx];
    /// 256-bit integer vectors.
    Avx2, "avx2", X86_64, [Avx];
    /// AVX-512 foundation.
    Avx512f, "avx512f", X86_64, [Avx2, Fma, F16c];
    /// AVX-512 on bytes and words.
    Avx512bw, "avx512bw", X86_64, [Avx512f];
    /// AVX-512 conflict detection.
    Avx512cd, "avx512cd", X86_64, [Avx512f];
    /// AVX-512 on doublewords and quadwords.
    Avx512dq, "avx512dq", X86_64, [Avx512f];
    /// AVX-512 encodings of xmm and ymm.
    Avx512vl, "avx512vl", X86_64, [Avx512f];
    /// VPDPBUSD and VPDPWSSD on zmm.
    Avx512vnni, "avx512vnni", X86_64, [Avx512bw];
    /// VDPBF16PS.
    Avx512bf16, "avx512bf16", X86_64, [Avx512bw];
    /// VPDPBUSD and VPDPWSSD in VEX encoding.
    Avxvnni, "avxvnni", X86_64, [Avx2];
    /// Half-precision arithmetic.
    Fp16, "fp16", Aarch64, [];
    /// SDOT and UDOT.
    Dotprod, "dotprod", Aarch64, [];
    /// SMMLA, UMMLA, USDOT.
    I8mm, "i8mm", Aarch64, [Dotprod];
    /// BFDOT and BFMMLA.
    Bf16, "bf16", Aarch64, [];
    /// FMLAL: half products into single sums.
    Fhm, "fhm", Aarch64, [Fp16];
    /// Scalable vectors.
    Sve, "sve", Aarch64, [Fp16];
    /// Scalable vectors, second edition.
    Sve2, "sve2", Aarch64, [Sve];
    /// RVV 1.0 with VLEN of at least 128.
    V, "v", Riscv64, [];
    /// Half-precision scalar arithmetic.
    Zfh, "zfh", Riscv64, [];
    /// Half-precision vector arithmetic.
    Zvfh, "zvfh", Riscv64, [V, Zfh];
    /// Widening bf16 multiply-accumulate.
    Zvfbfwma, "zvfbfwma", Riscv64, [V];
    /// Address generation (sh1add and its kind).
    Zba, "zba", Riscv64, [];
    /// Basic bit manipulation.
    Zbb, "zbb", Riscv64, [];
}

/// A set of [`Feature`]s, closed under implication.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Features(u64);

impl Features {
    /// The empty set: an architecture's baseline.
    pub const NONE: Features = Features(0);

    /// The set that holds `list` and all that it implies.
    pub const fn of(list: &[Feature]) -> Features {
        let mut set = Features(0);
        let mut i = 0;
        while i < list.len() {
            set = set.with(list[i]);
            i += 1;
        }
        set
    }

    /// The features that are present together with all that they imply.
    pub fn closed(present: impl Fn(Feature) -> bool) -> Features {
        let whole = |f: &Feature| Features::of(&[*f]).iter().all(&present);
        Feature::ALL.iter().copied().filter(whole).fold(Features::NONE, Features::with)
    }

    /// This set with `feature` and all that it implies.
    #[must_use]
    pub const fn with(self, feature: Feature) -> Features {
        let mut set = Features(self.0 | 1 << feature as u8);
        let implied = feature.implied();
        let mut i = 0;
        while i < implied.len() {
            set = set.with(implied[i]);
            i += 1;
        }
        set
    }

    /// Whether `feature` is in the set.
    pub const fn has(self, feature: Feature) -> bool {
        self.0 >> feature as u8 & 1 == 1
    }

    /// Whether every feature of `other` is in the set.
    pub const fn contains(self, other: Features) -> bool {
        self.0 & other.0 == other.0
    }

    /// The features of `self` that `other` lacks.
    #[must_use]
    pub const fn minus(self, other: Features) -> Features {
        Features(self.0 & !other.0)
    }

    /// The features of both sets.
    #[must_use]
    pub const fn intersect(self, other: Features) -> Features {
        Features(self.0 & other.0)
    }

    /// The features of either set.
    #[must_use]
    pub const fn union(self, other: Features) -> Features {
        Features(self.0 | other.0)
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, in the order of [`Feature::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Feature> {
        Feature::ALL.iter().copied().filter(move |f| self.has(*f))
    }
}

/// The members separated by commas; those implied by other members are left out.
impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for feature in self.iter() {
            let implied = self.iter().any(|g| g != feature && Features::of(&[g]).has(feature));
            if !implied {
                f.write_str(if first { "" } else { "," })?;
                f.write_str(feature.name())?;
                first = false;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{self}}}")
    }
}

macro_rules! levels {
    ($($(#[$doc:meta])* $variant:ident, $arch:ident, $text:literal, [$($feature:ident),*];)*) => {
        /// A closed list of feature bundles: the `level` part of kernel names.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Level { $($(#[$doc])* $variant),* }

        impl Level {
            /// Every level, from the least to the most capable of each architecture.
            pub const ALL: &'static [Level] = &[$(Level::$variant),*];

            /// The architecture that the level belongs to.
            pub const fn arch(self) -> Arch {
                match self { $(Level::$variant => Arch::$arch),* }
            }

            /// The name, without the architecture.
            pub const fn name(self) -> &'static str {
                match self { $(Level::$variant => $text),* }
            }

            /// What a machine must have to run code of this level.
            pub const fn features(self) -> Features {
                match self { $(Level::$variant => Features::of(&[$(Feature::$feature),*])),* }
            }
        }
    };
}

levels! {
    /// AVX2, FMA and F16C.
    Avx2Fma, X86_64, "avx2_fma", [Avx2, Fma, F16c];
    /// AVX-512 F, BW, DQ and VL.
    Avx512, X86_64, "avx512", [Avx512bw, Avx512dq, Avx512vl];
    /// AVX-512 with VNNI.
    Avx512Vnni, X86_64, "avx512_vnni", [Avx512bw, Avx512dq, Avx512vl, Avx512vnni];
    /// AVX-512 with BF16.
    Avx512Bf16, X86_64, "avx512_bf16", [Avx512bw, Avx512dq, Avx512vl, Avx512bf16];
    /// AVX2 with VNNI in VEX encoding.
    AvxVnni, X86_64, "avx_vnni", [Avx2, Fma, F16c, Avxvnni];
    /// Advanced SIMD, which every aarch64 machine has.
    Neon, Aarch64, "neon", [];
    /// Advanced SIMD with half-precision arithmetic.
    NeonFp16, Aarch64, "neon_fp16", [Fp16];
    /// Advanced SIMD with SDOT.
    NeonDotprod, Aarch64, "neon_dotprod", [Dotprod];
    /// Advanced SIMD with SMMLA.
    NeonI8mm, Aarch64, "neon_i8mm", [I8mm];
    /// Advanced SIMD with BFMMLA.
    NeonBf16, Aarch64, "neon_bf16", [Bf16];
    /// RVV 1.0.
    V, Riscv64, "v", [V];
    /// RVV 1.0 with half precision.
    VZvfh, Riscv64, "v_zvfh", [Zvfh];
}
