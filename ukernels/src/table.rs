//! THE table of kernels. A kernel is a function and a row here; everything else reads the rows.

#![cfg_attr(
    not(feature = "every-type"),
    allow(unused_imports, dead_code, reason = "names that only rows on other types use")
)]

use crate::elem::ElemType::{self, Bf16, F16, F32, F64, I4, I8, I16, I32, U4, U8};
use crate::name::{Dim, Name, Op, Place, Types};
use crate::{Host, mmt4d, pack, unpack};
use Dim::{Fixed, Runtime, Vscale};
use Numerics::{Bf16Dot, Exact, FusedChain, MulAdd, SplitK};
use Place::{Generic, Isa, Portable};
use smalti_isa::CoreClass::{self, CortexA53, CortexA55, NeoverseV1, SapphireRapids, SifiveX280, SpacemitX60, Zen4};
use smalti_isa::Level::{Avx2Fma, Avx512, Avx512Bf16, Avx512Vnni, AvxVnni, Neon, V};
use smalti_isa::{Features, Target};

/// How a row's arithmetic rounds: what its result may differ in from another row's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Numerics {
    /// No rounding at all: integers and moves.
    Exact,
    /// One fused multiply-add per k, in ascending k. All rows of this class and one type agree to the bit.
    FusedChain,
    /// A multiplication and an addition per k, each rounded, in ascending k.
    MulAdd,
    /// So many chains of fused multiply-adds that k takes in turns, what is left over going to the first; added in order in
    /// the end.
    SplitK(u8),
    /// VDPBF16PS: products of pairs, each step rounded, in an order of the row's own; denormals are zero.
    Bf16Dot,
}

impl Numerics {
    /// Whether the same bits come out on every machine.
    pub const fn is_strict(self) -> bool {
        matches!(self, Numerics::Exact | Numerics::FusedChain)
    }
}

/// The name in plans.
impl core::fmt::Display for Numerics {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Numerics::Exact => f.pad("Exact"),
            Numerics::FusedChain => f.pad("FusedChain"),
            Numerics::MulAdd => f.pad("MulAdd"),
            Numerics::SplitK(chains) => write!(f, "SplitK{chains}"),
            Numerics::Bf16Dot => f.pad("Bf16Dot"),
        }
    }
}

/// What a caller may expect of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Right, and slow: a diagnostic.
    Generic,
    /// Right everywhere, vectorised by the compiler's baseline.
    Portable,
    /// Written for the instruction set.
    Tuned,
}

impl Tier {
    /// The name in plans and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Generic => "generic",
            Tier::Portable => "portable",
            Tier::Tuned => "tuned",
        }
    }
}

/// The function of a row, where this build has it.
#[derive(Clone, Copy)]
pub enum Code {
    /// See [`mmt4d::RawArgs`].
    Mmt4d(Option<mmt4d::Kernel>),
    /// See [`pack::RawArgs`].
    Pack(Option<pack::Kernel>),
    /// See [`unpack::RawArgs`].
    Unpack(Option<unpack::Kernel>),
}

/// A kernel. The data exists in every build; the function only where the build can hold it, so that selection for
/// any target works on any host.
pub struct Row {
    /// The name: function, test and bench bear it, and it parses back into the fields below.
    pub name: &'static str,
    /// The operation.
    pub op: Op,
    /// Operand types.
    pub types: Types,
    /// The tile.
    pub tile: [Dim; 3],
    /// Where it runs.
    pub place: Place,
    /// How it rounds.
    pub numerics: Numerics,
    /// Hundredths of multiply-adds (of elements, for moves) per cycle on whole tiles in cache. The first entry holds
    /// for every core class that is not listed.
    pub rates: &'static [(CoreClass, u16)],
    /// Whether only a caller that brings the tile takes it: plans keep to families of their own.
    pub by_tile: bool,
    /// Bytes of an element of the left operand in scratch, where it is converted there; else 0.
    pub staged: u8,
    /// Whether it reads sums of the left operand's elements: it sums them itself where it is given none, a driver does so
    /// once for all tiles of those rows.
    pub sums: bool,
    /// Whether its right operand comes with the sign bit of each element flipped, as [`layout::flip`](crate::layout::flip)
    /// does it to panels: the instruction's other operand is signed, and the loop need not flip what can be packed so.
    pub flipped: bool,
    /// The function.
    pub code: Code,
}

/// Why a row can't be bound to a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// The machine lacks something.
    #[error("{row} needs {missing}, which this machine lacks")]
    Missing {
        /// The row.
        row: &'static str,
        /// The features that are missing.
        missing: Features,
    },
    /// The row's tile follows the vector length, and nobody knows it.
    #[error("{row} needs the vector length, which is not known of this machine")]
    VectorLength {
        /// The row.
        row: &'static str,
    },
    /// The row's code is for another architecture than the program.
    #[error("{row} is for another architecture than this program")]
    NotInThisBuild {
        /// The row.
        row: &'static str,
    },
}

impl Row {
    /// What the row's name says.
    pub const fn fields(&self) -> Name {
        let chains = match self.numerics {
            SplitK(chains) => Some(chains),
            _ => None,
        };
        Name { op: self.op, types: self.types, tile: self.tile, place: self.place, chains, flipped: self.flipped }
    }

    /// The row of that name.
    pub fn find(name: &str) -> Option<&'static Row> {
        ROWS.iter().find(|r| r.name == name)
    }

    /// What a caller may expect of it.
    pub const fn tier(&self) -> Tier {
        match self.place {
            Generic => Tier::Generic,
            Portable => Tier::Portable,
            Isa(..) => Tier::Tuned,
        }
    }

    /// The family that it belongs to; none for a row whose tile is given at run time, which serves every family of its types
    /// that is flipped as it is.
    pub const fn family(&self) -> Option<Family> {
        match self.tile {
            [_, Runtime, _] => None,
            [_, n0, k0] => Some(Family { types: self.types, n0, k0, flipped: self.flipped }),
        }
    }

    /// Bytes of scratch that a call needs on a machine; of a tile's rows where M0 is given at run time.
    pub fn scratch(&self, m0: usize) -> usize {
        // Tuned rows keep scaled sums there.
        let sums = match (self.tier(), self.types.scaled(), self.tile[1]) {
            (Tier::Tuned, Some(_), Fixed(n0)) => usize::from(n0) * size_of::<f32>(),
            _ => 0,
        };
        m0 * (mmt4d::STAGED_K * usize::from(self.staged) + sums)
    }

    /// Whether `target` can run it, whatever this build holds.
    pub fn runs_on(&self, target: &Target) -> bool {
        self.place.arch().is_none_or(|a| a == target.arch) && target.features.contains(self.place.features())
    }

    /// Hundredths of multiply-adds per cycle on `core`.
    pub fn rate(&self, core: CoreClass) -> u64 {
        self.rates.iter().find(|r| r.0 == core).unwrap_or(&self.rates[0]).1.into()
    }

    /// A callable row.
    ///
    /// # Errors
    /// The machine lacks a feature, its vector length is not known, or this build has no code for the row.
    pub fn bind(&'static self, host: &Host) -> Result<Bound, BindError> {
        let there = match self.code {
            Code::Mmt4d(f) => f.is_some(),
            Code::Pack(f) => f.is_some(),
            Code::Unpack(f) => f.is_some(),
        };
        if !there || self.place.arch().is_some_and(|a| a != host.target().arch) {
            return Err(BindError::NotInThisBuild { row: self.name });
        }
        let missing = self.place.features().minus(host.target().features);
        if !missing.is_empty() {
            return Err(BindError::Missing { row: self.name, missing });
        }
        let tile = self.tile.map(|dim| dim.on(host.target()));
        if self.tile.iter().zip(tile).any(|(dim, size)| size.is_none() && *dim != Runtime) {
            return Err(BindError::VectorLength { row: self.name });
        }
        Ok(Bound { row: self, tile })
    }
}

/// A row on a machine that can run it. The modules of the operations give it their `run`.
#[derive(Clone, Copy)]
pub struct Bound {
    pub(crate) row: &'static Row,
    /// The tile on the machine; none for dims that are given at run time.
    pub(crate) tile: [Option<usize>; 3],
}

impl Bound {
    /// The row.
    pub const fn row(&self) -> &'static Row {
        self.row
    }
}

/// Rows that share types, N0, K0 and what panels hold, and so the layout of packed operands. Programs and modules name families,
/// never rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Family {
    /// Operand types.
    pub types: Types,
    /// Columns of a tile.
    pub n0: Dim,
    /// Depth of a tile.
    pub k0: Dim,
    /// Whether panels of the right operand hold its elements with their sign bits [flipped](Row::flipped).
    pub flipped: bool,
}

/// `f32f32f32_32x1`, `f32i4g32f32_32x8` or `i8i8i32_32x4_flipped`: types, N0, K0, and whether sign bits are flipped.
impl core::fmt::Display for Family {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.types.write(f, 3)?;
        write!(f, "_{}x{}{}", self.n0, self.k0, if self.flipped { "_flipped" } else { "" })
    }
}

impl Family {
    /// Reads what `Display` wrote.
    pub fn parse(text: &str) -> Option<Family> {
        ROWS.iter().filter_map(Row::family).find(|f| {
            use core::fmt::Write;
            let mut rest = Suffix(Some(text));
            write!(rest, "{f}").is_ok() && rest.0 == Some("")
        })
    }
}

/// What is left of a text after the written prefix; none once they differ.
struct Suffix<'a>(Option<&'a str>);

impl core::fmt::Write for Suffix<'_> {
    fn write_str(&mut self, s: &str) -> core::fmt::Result {
        self.0 = self.0.and_then(|t| t.strip_prefix(s));
        Ok(())
    }
}

/// A function that only builds for one architecture have.
macro_rules! code {
    ($op:ident, $module:ident::$place:ident::$name:ident) => {
        Code::$op(code!(@ $module $place $name))
    };
    (@ $module:ident x86_64_avx2_fma $name:ident) => { code!(@@ "x86_64" $module::x86_64_avx2_fma::$name) };
    (@ $module:ident x86_64_avx_vnni $name:ident) => { code!(@@ "x86_64" $module::x86_64_avx_vnni::$name) };
    (@ $module:ident x86_64_avx512 $name:ident) => { code!(@@ "x86_64" $module::x86_64_avx512::$name) };
    (@ $module:ident x86_64_avx512_vnni $name:ident) => { code!(@@ "x86_64" $module::x86_64_avx512_vnni::$name) };
    (@ $module:ident x86_64_avx512_bf16 $name:ident) => { code!(@@ "x86_64" $module::x86_64_avx512_bf16::$name) };
    (@ $module:ident aarch64_neon $name:ident) => { code!(@@ "aarch64" $module::aarch64_neon::$name) };
    (@ $module:ident riscv64_v $name:ident) => { code!(@@ "riscv64" $module::riscv64_v::$name) };
    (@ $module:ident $place:ident $name:ident) => { Some($module::$place::$name) };
    (@@ $arch:literal $path:path) => {{
        #[cfg(target_arch = $arch)]
        let f = Some($path as _);
        #[cfg(not(target_arch = $arch))]
        let f = None;
        f
    }};
}

macro_rules! mmt4d {
    ($module:ident::$name:ident, $types:expr, $m0:expr, $n0:expr, $k0:expr, $place:expr, $numerics:expr, $rates:expr$(, by_tile $by_tile:literal)?$(, group $group:literal)?$(, staged $staged:literal)?$(, sums $sums:literal)?$(, flipped $flipped:literal)?) => {
        Row {
            name: stringify!($name),
            op: Op::Mmt4d,
            types: Types::grouped($types, 0 $(+ $group)?),
            tile: [$m0, $n0, $k0],
            place: $place,
            numerics: $numerics,
            rates: $rates,
            by_tile: false $(|| $by_tile)?,
            staged: 0$(+ $staged)?,
            sums: false $(|| $sums)?,
            flipped: false $(|| $flipped)?,
            code: code!(Mmt4d, mmt4d::$module::$name),
        }
    };
}

macro_rules! moves {
    ($op:ident, $folder:ident::$module:ident::$name:ident, $type:expr, $t0:expr, $t1:expr, $place:expr, $rate:expr) => {
        Row {
            name: stringify!($name),
            op: Op::$op,
            types: Types::pair($type, $type),
            tile: [$t0, $t1, Fixed(1)],
            place: $place,
            numerics: Exact,
            rates: &[(CoreClass::Generic, $rate)],
            by_tile: false,
            staged: 0,
            sums: false,
            flipped: false,
            code: code!($op, $folder::$module::$name),
        }
    };
}

const F32S: [ElemType; 3] = [F32; 3];
const AVX2: Place = Isa(Avx2Fma, None);
const AVX_VNNI: Place = Isa(AvxVnni, None);
const AVX512: Place = Isa(Avx512, None);
const AVX512_VNNI: Place = Isa(Avx512Vnni, None);
const AVX512_BF16: Place = Isa(Avx512Bf16, None);
const NEON: Place = Isa(Neon, None);
const RVV: Place = Isa(V, None);
const ANY: CoreClass = CoreClass::Generic;

/// The two parts of the table: rows on f32, and those on other types that not every build has.
macro_rules! rows {
    ($($f32:expr),* ; $($other:expr),* ;) => {
        /// Every kernel, in ascending preference: of two rows that tie in everything else, the later one is taken. Without
        /// the feature `every-type` those on f32 alone.
        pub static ROWS: &[Row] = &[
            $($f32,)*
            $(#[cfg(feature = "every-type")] $other,)*
        ];
    };
}

#[rustfmt::skip]
rows! {
    mmt4d!(generic::mmt4d_f32f32f32_nxnxn_generic, F32S, Runtime, Runtime, Runtime, Generic, FusedChain, &[(ANY, 5), (SapphireRapids, 13)]),

    mmt4d!(portable::mmt4d_f32f32f32_1x8x1_portable, F32S, Fixed(1), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 100), (SapphireRapids, 380)]),
    mmt4d!(portable::mmt4d_f32f32f32_2x8x1_portable, F32S, Fixed(2), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 200), (SapphireRapids, 198)]),
    mmt4d!(portable::mmt4d_f32f32f32_4x8x1_portable, F32S, Fixed(4), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 360), (SapphireRapids, 426)]),

    mmt4d!(x86_64_avx2_fma::mmt4d_f32f32f32_1x8x1_x86_64_avx2_fma, F32S, Fixed(1), Fixed(8), Fixed(1), AVX2, FusedChain, &[(ANY, 200), (SapphireRapids, 255)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32f32f32_2x8x1_x86_64_avx2_fma, F32S, Fixed(2), Fixed(8), Fixed(1), AVX2, FusedChain, &[(ANY, 400), (SapphireRapids, 456)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32f32f32_4x8x1_x86_64_avx2_fma, F32S, Fixed(4), Fixed(8), Fixed(1), AVX2, FusedChain, &[(ANY, 800), (SapphireRapids, 812)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32f32f32_8x8x1_x86_64_avx2_fma, F32S, Fixed(8), Fixed(8), Fixed(1), AVX2, FusedChain, &[(ANY, 1380), (SapphireRapids, 1183)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32f32f32_12x8x1_x86_64_avx2_fma, F32S, Fixed(12), Fixed(8), Fixed(1), AVX2, FusedChain, &[(ANY, 1440), (SapphireRapids, 1446)]),

    mmt4d!(x86_64_avx2_fma::mmt4d_f32f32f32_1x16x1_x86_64_avx2_fma, F32S, Fixed(1), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 400), (SapphireRapids, 457)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32f32f32_2x16x1_x86_64_avx2_fma, F32S, Fixed(2), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 800), (SapphireRapids, 814)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32f32f32_4x16x1_x86_64_avx2_fma, F32S, Fixed(4), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 1500), (SapphireRapids, 1275)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32f32f32_6x16x1_x86_64_avx2_fma, F32S, Fixed(6), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 1550), (SapphireRapids, 1449)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32f32f32_1x16x1_x86_64_avx2_fma_splitk4, F32S, Fixed(1), Fixed(16), Fixed(1), AVX2, SplitK(4), &[(ANY, 929)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32f32f32_2x16x1_x86_64_avx2_fma_splitk2, F32S, Fixed(2), Fixed(16), Fixed(1), AVX2, SplitK(2), &[(ANY, 1227)]),

    mmt4d!(x86_64_avx512::mmt4d_f32f32f32_1x32x1_x86_64_avx512, F32S, Fixed(1), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 800), (SapphireRapids, 845)]),
    mmt4d!(x86_64_avx512::mmt4d_f32f32f32_2x32x1_x86_64_avx512, F32S, Fixed(2), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 1600), (SapphireRapids, 1553), (Zen4, 1300)]),
    mmt4d!(x86_64_avx512::mmt4d_f32f32f32_4x32x1_x86_64_avx512, F32S, Fixed(4), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 2700), (SapphireRapids, 2519), (Zen4, 1560)]),
    mmt4d!(x86_64_avx512::mmt4d_f32f32f32_8x32x1_x86_64_avx512, F32S, Fixed(8), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 3000), (SapphireRapids, 3100), (Zen4, 1580)]),
    mmt4d!(x86_64_avx512::mmt4d_f32f32f32_12x32x1_x86_64_avx512, F32S, Fixed(12), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 3080), (SapphireRapids, 3140), (Zen4, 1585)]),
    mmt4d!(x86_64_avx512::mmt4d_f32f32f32_14x32x1_x86_64_avx512, F32S, Fixed(14), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 3100), (SapphireRapids, 3150), (Zen4, 1590)]),
    mmt4d!(x86_64_avx512::mmt4d_f32f32f32_1x32x1_x86_64_avx512_splitk4, F32S, Fixed(1), Fixed(32), Fixed(1), AVX512, SplitK(4), &[(ANY, 1818), (Zen4, 1060)]),
    mmt4d!(x86_64_avx512::mmt4d_f32f32f32_2x32x1_x86_64_avx512_splitk4, F32S, Fixed(2), Fixed(32), Fixed(1), AVX512, SplitK(4), &[(ANY, 2527), (Zen4, 1360)]),

    mmt4d!(aarch64_neon::mmt4d_f32f32f32_1x8x1_aarch64_neon, F32S, Fixed(1), Fixed(8), Fixed(1), NEON, FusedChain, &[(ANY, 195), (CortexA53, 133), (CortexA55, 133)]),
    mmt4d!(aarch64_neon::mmt4d_f32f32f32_2x8x1_aarch64_neon, F32S, Fixed(2), Fixed(8), Fixed(1), NEON, FusedChain, &[(ANY, 390), (CortexA53, 200), (CortexA55, 200)]),
    mmt4d!(aarch64_neon::mmt4d_f32f32f32_4x8x1_aarch64_neon, F32S, Fixed(4), Fixed(8), Fixed(1), NEON, FusedChain, &[(ANY, 775), (CortexA53, 266), (CortexA55, 266), (NeoverseV1, 780)]),
    mmt4d!(aarch64_neon::mmt4d_f32f32f32_8x8x1_aarch64_neon, F32S, Fixed(8), Fixed(8), Fixed(1), NEON, FusedChain, &[(ANY, 785), (CortexA53, 320), (CortexA55, 320), (NeoverseV1, 1550)]),
    mmt4d!(aarch64_neon::mmt4d_f32f32f32_12x8x1_aarch64_neon, F32S, Fixed(12), Fixed(8), Fixed(1), NEON, FusedChain, &[(ANY, 795), (CortexA53, 342), (CortexA55, 342), (NeoverseV1, 1570)]),

    mmt4d!(aarch64_neon::mmt4d_f32f32f32_1x12x1_aarch64_neon, F32S, Fixed(1), Fixed(12), Fixed(1), NEON, FusedChain, &[(ANY, 295), (CortexA53, 133), (CortexA55, 133)]),
    mmt4d!(aarch64_neon::mmt4d_f32f32f32_2x12x1_aarch64_neon, F32S, Fixed(2), Fixed(12), Fixed(1), NEON, FusedChain, &[(ANY, 585), (CortexA53, 200), (CortexA55, 200)]),
    mmt4d!(aarch64_neon::mmt4d_f32f32f32_4x12x1_aarch64_neon, F32S, Fixed(4), Fixed(12), Fixed(1), NEON, FusedChain, &[(ANY, 780), (CortexA53, 266), (CortexA55, 266), (NeoverseV1, 1165)]),
    mmt4d!(aarch64_neon::mmt4d_f32f32f32_8x12x1_aarch64_neon, F32S, Fixed(8), Fixed(12), Fixed(1), NEON, FusedChain, &[(ANY, 795), (CortexA53, 320), (CortexA55, 320), (NeoverseV1, 1570)]),

    mmt4d!(riscv64_v::mmt4d_f32f32f32_1x16x1_riscv64_v, F32S, Fixed(1), Fixed(16), Fixed(1), RVV, FusedChain, &[(ANY, 267), (SpacemitX60, 177), (SifiveX280, 133)]),
    mmt4d!(riscv64_v::mmt4d_f32f32f32_2x16x1_riscv64_v, F32S, Fixed(2), Fixed(16), Fixed(1), RVV, FusedChain, &[(ANY, 534), (SpacemitX60, 355), (SifiveX280, 213)]),
    mmt4d!(riscv64_v::mmt4d_f32f32f32_3x16x1_riscv64_v, F32S, Fixed(3), Fixed(16), Fixed(1), RVV, FusedChain, &[(ANY, 800), (SpacemitX60, 436), (SifiveX280, 266)]),
    mmt4d!(riscv64_v::mmt4d_f32f32f32_4x16x1_riscv64_v, F32S, Fixed(4), Fixed(16), Fixed(1), RVV, FusedChain, &[(ANY, 800), (SpacemitX60, 492), (SifiveX280, 278)]),
    mmt4d!(riscv64_v::mmt4d_f32f32f32_6x16x1_riscv64_v, F32S, Fixed(6), Fixed(16), Fixed(1), RVV, FusedChain, &[(ANY, 800), (SpacemitX60, 548), (SifiveX280, 286)]),

    mmt4d!(riscv64_v::mmt4d_f32f32f32_1x16vsx1_riscv64_v, F32S, Fixed(1), Vscale(16), Fixed(1), RVV, FusedChain, &[(ANY, 267), (SpacemitX60, 247), (SifiveX280, 534)]),
    mmt4d!(riscv64_v::mmt4d_f32f32f32_2x16vsx1_riscv64_v, F32S, Fixed(2), Vscale(16), Fixed(1), RVV, FusedChain, &[(ANY, 534), (SpacemitX60, 493), (SifiveX280, 712)]),
    mmt4d!(riscv64_v::mmt4d_f32f32f32_3x16vsx1_riscv64_v, F32S, Fixed(3), Vscale(16), Fixed(1), RVV, FusedChain, &[(ANY, 800), (SpacemitX60, 739), (SifiveX280, 712)]),
    mmt4d!(riscv64_v::mmt4d_f32f32f32_4x16vsx1_riscv64_v, F32S, Fixed(4), Vscale(16), Fixed(1), RVV, FusedChain, &[(ANY, 800), (SpacemitX60, 753), (SifiveX280, 712)]),
    mmt4d!(riscv64_v::mmt4d_f32f32f32_6x16vsx1_riscv64_v, F32S, Fixed(6), Vscale(16), Fixed(1), RVV, FusedChain, &[(ANY, 800), (SpacemitX60, 784), (SifiveX280, 712)]),

    moves!(Pack, pack::generic::pack_f32f32_nxn_generic, F32, Runtime, Runtime, Generic, 50),
    moves!(Pack, pack::x86_64_avx2_fma::pack_f32f32_nxn_x86_64_avx2_fma, F32, Runtime, Runtime, AVX2, 800),
    moves!(Pack, pack::x86_64_avx512::pack_f32f32_nxn_x86_64_avx512, F32, Runtime, Runtime, AVX512, 800),
    moves!(Pack, pack::aarch64_neon::pack_f32f32_nxn_aarch64_neon, F32, Runtime, Runtime, NEON, 200),
    moves!(Pack, pack::riscv64_v::pack_f32f32_16x1_riscv64_v, F32, Fixed(16), Fixed(1), RVV, 400),
    moves!(Pack, pack::riscv64_v::pack_f32f32_16vsx1_riscv64_v, F32, Vscale(16), Fixed(1), RVV, 400),

    moves!(Unpack, unpack::generic::unpack_f32f32_nxn_generic, F32, Runtime, Runtime, Generic, 50),
    moves!(Unpack, unpack::x86_64_avx2_fma::unpack_f32f32_nxn_x86_64_avx2_fma, F32, Runtime, Runtime, AVX2, 800),
    moves!(Unpack, unpack::x86_64_avx512::unpack_f32f32_nxn_x86_64_avx512, F32, Runtime, Runtime, AVX512, 800),
    moves!(Unpack, unpack::aarch64_neon::unpack_f32f32_nxn_aarch64_neon, F32, Runtime, Runtime, NEON, 200),
    moves!(Unpack, unpack::riscv64_v::unpack_f32f32_6x16_riscv64_v, F32, Fixed(6), Fixed(16), RVV, 400),
    moves!(Unpack, unpack::riscv64_v::unpack_f32f32_6x16vs_riscv64_v, F32, Fixed(6), Vscale(16), RVV, 400);

    moves!(Pack, pack::generic::pack_f64f64_nxn_generic, F64, Runtime, Runtime, Generic, 50),
    moves!(Pack, pack::x86_64_avx2_fma::pack_f64f64_nxn_x86_64_avx2_fma, F64, Runtime, Runtime, AVX2, 800),
    moves!(Pack, pack::x86_64_avx512::pack_f64f64_nxn_x86_64_avx512, F64, Runtime, Runtime, AVX512, 800),
    moves!(Pack, pack::aarch64_neon::pack_f64f64_nxn_aarch64_neon, F64, Runtime, Runtime, NEON, 200),
    moves!(Pack, pack::generic::pack_f16f16_nxn_generic, F16, Runtime, Runtime, Generic, 50),
    moves!(Pack, pack::x86_64_avx2_fma::pack_f16f16_nxn_x86_64_avx2_fma, F16, Runtime, Runtime, AVX2, 800),
    moves!(Pack, pack::x86_64_avx512::pack_f16f16_nxn_x86_64_avx512, F16, Runtime, Runtime, AVX512, 800),
    moves!(Pack, pack::aarch64_neon::pack_f16f16_nxn_aarch64_neon, F16, Runtime, Runtime, NEON, 200),
    moves!(Pack, pack::generic::pack_i8i8_nxn_generic, I8, Runtime, Runtime, Generic, 50),
    moves!(Pack, pack::x86_64_avx2_fma::pack_i8i8_nxn_x86_64_avx2_fma, I8, Runtime, Runtime, AVX2, 800),
    moves!(Pack, pack::x86_64_avx512::pack_i8i8_nxn_x86_64_avx512, I8, Runtime, Runtime, AVX512, 800),
    moves!(Pack, pack::aarch64_neon::pack_i8i8_nxn_aarch64_neon, I8, Runtime, Runtime, NEON, 200),

    moves!(Unpack, unpack::generic::unpack_f64f64_nxn_generic, F64, Runtime, Runtime, Generic, 50),
    moves!(Unpack, unpack::x86_64_avx2_fma::unpack_f64f64_nxn_x86_64_avx2_fma, F64, Runtime, Runtime, AVX2, 800),
    moves!(Unpack, unpack::x86_64_avx512::unpack_f64f64_nxn_x86_64_avx512, F64, Runtime, Runtime, AVX512, 800),
    moves!(Unpack, unpack::aarch64_neon::unpack_f64f64_nxn_aarch64_neon, F64, Runtime, Runtime, NEON, 200),
    moves!(Unpack, unpack::generic::unpack_f16f16_nxn_generic, F16, Runtime, Runtime, Generic, 50),
    moves!(Unpack, unpack::x86_64_avx2_fma::unpack_f16f16_nxn_x86_64_avx2_fma, F16, Runtime, Runtime, AVX2, 800),
    moves!(Unpack, unpack::x86_64_avx512::unpack_f16f16_nxn_x86_64_avx512, F16, Runtime, Runtime, AVX512, 800),
    moves!(Unpack, unpack::aarch64_neon::unpack_f16f16_nxn_aarch64_neon, F16, Runtime, Runtime, NEON, 200),
    moves!(Unpack, unpack::generic::unpack_i8i8_nxn_generic, I8, Runtime, Runtime, Generic, 50),
    moves!(Unpack, unpack::x86_64_avx2_fma::unpack_i8i8_nxn_x86_64_avx2_fma, I8, Runtime, Runtime, AVX2, 800),
    moves!(Unpack, unpack::x86_64_avx512::unpack_i8i8_nxn_x86_64_avx512, I8, Runtime, Runtime, AVX512, 800),
    moves!(Unpack, unpack::aarch64_neon::unpack_i8i8_nxn_aarch64_neon, I8, Runtime, Runtime, NEON, 200),

    mmt4d!(generic::mmt4d_f64f64f64_nxnxn_generic, [F64, F64, F64], Runtime, Runtime, Runtime, Generic, FusedChain, &[(ANY, 13)]),
    mmt4d!(generic::mmt4d_f16f16f32_nxnxn_generic, [F16, F16, F32], Runtime, Runtime, Runtime, Generic, FusedChain, &[(ANY, 6)]),
    mmt4d!(generic::mmt4d_f16f16f16_nxnxn_generic, [F16, F16, F16], Runtime, Runtime, Runtime, Generic, FusedChain, &[(ANY, 6)]),
    mmt4d!(generic::mmt4d_bf16bf16f32_nxnxn_generic, [Bf16, Bf16, F32], Runtime, Runtime, Runtime, Generic, FusedChain, &[(ANY, 10)]),
    mmt4d!(generic::mmt4d_bf16bf16bf16_nxnxn_generic, [Bf16, Bf16, Bf16], Runtime, Runtime, Runtime, Generic, FusedChain, &[(ANY, 10)]),
    mmt4d!(generic::mmt4d_i16i16i32_nxnxn_generic, [I16, I16, I32], Runtime, Runtime, Runtime, Generic, Exact, &[(ANY, 11)]),
    mmt4d!(generic::mmt4d_i16i8i32_nxnxn_generic, [I16, I8, I32], Runtime, Runtime, Runtime, Generic, Exact, &[(ANY, 11)]),
    mmt4d!(generic::mmt4d_i8i8i32_nxnxn_generic, [I8, I8, I32], Runtime, Runtime, Runtime, Generic, Exact, &[(ANY, 13)]),
    mmt4d!(generic::mmt4d_i8i8i32_nxnxn_generic_flipped, [I8, I8, I32], Runtime, Runtime, Runtime, Generic, Exact, &[(ANY, 13)], flipped true),
    mmt4d!(generic::mmt4d_u8i8i32_nxnxn_generic, [U8, I8, I32], Runtime, Runtime, Runtime, Generic, Exact, &[(ANY, 12)]),
    mmt4d!(generic::mmt4d_u8u8i32_nxnxn_generic, [U8, U8, I32], Runtime, Runtime, Runtime, Generic, Exact, &[(ANY, 12)]),
    mmt4d!(generic::mmt4d_u8u8i32_nxnxn_generic_flipped, [U8, U8, I32], Runtime, Runtime, Runtime, Generic, Exact, &[(ANY, 12)], flipped true),

    mmt4d!(portable::mmt4d_f64f64f64_1x8x1_portable, [F64, F64, F64], Fixed(1), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 224)]),
    mmt4d!(portable::mmt4d_f64f64f64_2x8x1_portable, [F64, F64, F64], Fixed(2), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 183)]),
    mmt4d!(portable::mmt4d_f64f64f64_4x8x1_portable, [F64, F64, F64], Fixed(4), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 182)]),

    mmt4d!(portable::mmt4d_f16f16f32_1x8x1_portable, [F16, F16, F32], Fixed(1), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 16)]),
    mmt4d!(portable::mmt4d_f16f16f32_2x8x1_portable, [F16, F16, F32], Fixed(2), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 30)]),
    mmt4d!(portable::mmt4d_f16f16f32_4x8x1_portable, [F16, F16, F32], Fixed(4), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 53)]),
    mmt4d!(portable::mmt4d_f16f16f32_8x8x1_portable, [F16, F16, F32], Fixed(8), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 82)]),

    mmt4d!(portable::mmt4d_f16f16f16_1x8x1_portable, [F16, F16, F16], Fixed(1), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 16)]),
    mmt4d!(portable::mmt4d_f16f16f16_2x8x1_portable, [F16, F16, F16], Fixed(2), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 30)]),
    mmt4d!(portable::mmt4d_f16f16f16_4x8x1_portable, [F16, F16, F16], Fixed(4), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 52)]),
    mmt4d!(portable::mmt4d_f16f16f16_8x8x1_portable, [F16, F16, F16], Fixed(8), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 79)]),

    mmt4d!(portable::mmt4d_bf16bf16f32_1x8x1_portable, [Bf16, Bf16, F32], Fixed(1), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 106)]),
    mmt4d!(portable::mmt4d_bf16bf16f32_2x8x1_portable, [Bf16, Bf16, F32], Fixed(2), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 152)]),
    mmt4d!(portable::mmt4d_bf16bf16f32_4x8x1_portable, [Bf16, Bf16, F32], Fixed(4), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 197)]),
    mmt4d!(portable::mmt4d_bf16bf16f32_8x8x1_portable, [Bf16, Bf16, F32], Fixed(8), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 190)]),

    mmt4d!(portable::mmt4d_bf16bf16bf16_1x8x1_portable, [Bf16, Bf16, Bf16], Fixed(1), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 106)]),
    mmt4d!(portable::mmt4d_bf16bf16bf16_2x8x1_portable, [Bf16, Bf16, Bf16], Fixed(2), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 152)]),
    mmt4d!(portable::mmt4d_bf16bf16bf16_4x8x1_portable, [Bf16, Bf16, Bf16], Fixed(4), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 191)]),
    mmt4d!(portable::mmt4d_bf16bf16bf16_8x8x1_portable, [Bf16, Bf16, Bf16], Fixed(8), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 188)]),

    mmt4d!(portable::mmt4d_i16i16i32_1x8x1_portable, [I16, I16, I32], Fixed(1), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 92)]),
    mmt4d!(portable::mmt4d_i16i16i32_2x8x1_portable, [I16, I16, I32], Fixed(2), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 59)]),
    mmt4d!(portable::mmt4d_i16i16i32_4x8x1_portable, [I16, I16, I32], Fixed(4), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 60)]),
    mmt4d!(portable::mmt4d_i16i16i32_8x8x1_portable, [I16, I16, I32], Fixed(8), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 126)]),

    mmt4d!(portable::mmt4d_i16i8i32_1x8x1_portable, [I16, I8, I32], Fixed(1), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 70)]),
    mmt4d!(portable::mmt4d_i16i8i32_2x8x1_portable, [I16, I8, I32], Fixed(2), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 58)]),
    mmt4d!(portable::mmt4d_i16i8i32_4x8x1_portable, [I16, I8, I32], Fixed(4), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 58)]),
    mmt4d!(portable::mmt4d_i16i8i32_8x8x1_portable, [I16, I8, I32], Fixed(8), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 65)]),

    mmt4d!(portable::mmt4d_i8i8i32_1x8x1_portable, [I8, I8, I32], Fixed(1), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 71)]),
    mmt4d!(portable::mmt4d_i8i8i32_2x8x1_portable, [I8, I8, I32], Fixed(2), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 60)]),
    mmt4d!(portable::mmt4d_i8i8i32_4x8x1_portable, [I8, I8, I32], Fixed(4), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 59)]),
    mmt4d!(portable::mmt4d_i8i8i32_8x8x1_portable, [I8, I8, I32], Fixed(8), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 65)]),

    mmt4d!(portable::mmt4d_u8i8i32_1x8x1_portable, [U8, I8, I32], Fixed(1), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 70)]),
    mmt4d!(portable::mmt4d_u8i8i32_2x8x1_portable, [U8, I8, I32], Fixed(2), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 61)]),
    mmt4d!(portable::mmt4d_u8i8i32_4x8x1_portable, [U8, I8, I32], Fixed(4), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 60)]),
    mmt4d!(portable::mmt4d_u8i8i32_8x8x1_portable, [U8, I8, I32], Fixed(8), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 65)]),

    mmt4d!(portable::mmt4d_u8u8i32_1x8x1_portable, [U8, U8, I32], Fixed(1), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 57)]),
    mmt4d!(portable::mmt4d_u8u8i32_2x8x1_portable, [U8, U8, I32], Fixed(2), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 60)]),
    mmt4d!(portable::mmt4d_u8u8i32_4x8x1_portable, [U8, U8, I32], Fixed(4), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 60)]),
    mmt4d!(portable::mmt4d_u8u8i32_8x8x1_portable, [U8, U8, I32], Fixed(8), Fixed(8), Fixed(1), Portable, Exact, &[(ANY, 65)]),

    mmt4d!(x86_64_avx2_fma::mmt4d_f64f64f64_1x8x1_x86_64_avx2_fma, [F64, F64, F64], Fixed(1), Fixed(8), Fixed(1), AVX2, FusedChain, &[(ANY, 228)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_f64f64f64_2x8x1_x86_64_avx2_fma, [F64, F64, F64], Fixed(2), Fixed(8), Fixed(1), AVX2, FusedChain, &[(ANY, 407)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_f64f64f64_4x8x1_x86_64_avx2_fma, [F64, F64, F64], Fixed(4), Fixed(8), Fixed(1), AVX2, FusedChain, &[(ANY, 650)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_f64f64f64_6x8x1_x86_64_avx2_fma, [F64, F64, F64], Fixed(6), Fixed(8), Fixed(1), AVX2, FusedChain, &[(ANY, 744)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_f64f64f64_1x8x1_x86_64_avx2_fma_splitk4, [F64, F64, F64], Fixed(1), Fixed(8), Fixed(1), AVX2, SplitK(4), &[(ANY, 465)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_f64f64f64_2x8x1_x86_64_avx2_fma_splitk2, [F64, F64, F64], Fixed(2), Fixed(8), Fixed(1), AVX2, SplitK(2), &[(ANY, 612)]),

    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f32_1x16x1_x86_64_avx2_fma, [F16, F16, F32], Fixed(1), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 305)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f32_2x16x1_x86_64_avx2_fma, [F16, F16, F32], Fixed(2), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 582)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f32_4x16x1_x86_64_avx2_fma, [F16, F16, F32], Fixed(4), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 1013)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f32_6x16x1_x86_64_avx2_fma, [F16, F16, F32], Fixed(6), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 1098)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f32_1x16x1_x86_64_avx2_fma_splitk2, [F16, F16, F32], Fixed(1), Fixed(16), Fixed(1), AVX2, SplitK(2), &[(ANY, 581)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f32_2x16x1_x86_64_avx2_fma_splitk2, [F16, F16, F32], Fixed(2), Fixed(16), Fixed(1), AVX2, SplitK(2), &[(ANY, 881)], staged 4),

    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f16_1x16x1_x86_64_avx2_fma, [F16, F16, F16], Fixed(1), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 305)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f16_2x16x1_x86_64_avx2_fma, [F16, F16, F16], Fixed(2), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 583)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f16_4x16x1_x86_64_avx2_fma, [F16, F16, F16], Fixed(4), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 1011)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f16_6x16x1_x86_64_avx2_fma, [F16, F16, F16], Fixed(6), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 1097)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f16_1x16x1_x86_64_avx2_fma_splitk2, [F16, F16, F16], Fixed(1), Fixed(16), Fixed(1), AVX2, SplitK(2), &[(ANY, 578)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f16_2x16x1_x86_64_avx2_fma_splitk2, [F16, F16, F16], Fixed(2), Fixed(16), Fixed(1), AVX2, SplitK(2), &[(ANY, 879)], staged 4),

    mmt4d!(x86_64_avx2_fma::mmt4d_bf16bf16f32_1x16x1_x86_64_avx2_fma, [Bf16, Bf16, F32], Fixed(1), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 303)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_bf16bf16f32_2x16x1_x86_64_avx2_fma, [Bf16, Bf16, F32], Fixed(2), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 575)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_bf16bf16f32_4x16x1_x86_64_avx2_fma, [Bf16, Bf16, F32], Fixed(4), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 976)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_bf16bf16f32_6x16x1_x86_64_avx2_fma, [Bf16, Bf16, F32], Fixed(6), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 1050)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_bf16bf16f32_1x16x1_x86_64_avx2_fma_splitk2, [Bf16, Bf16, F32], Fixed(1), Fixed(16), Fixed(1), AVX2, SplitK(2), &[(ANY, 531)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_bf16bf16f32_2x16x1_x86_64_avx2_fma_splitk2, [Bf16, Bf16, F32], Fixed(2), Fixed(16), Fixed(1), AVX2, SplitK(2), &[(ANY, 818)], staged 4),

    mmt4d!(x86_64_avx2_fma::mmt4d_bf16bf16bf16_1x16x1_x86_64_avx2_fma, [Bf16, Bf16, Bf16], Fixed(1), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 298)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_bf16bf16bf16_2x16x1_x86_64_avx2_fma, [Bf16, Bf16, Bf16], Fixed(2), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 562)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_bf16bf16bf16_4x16x1_x86_64_avx2_fma, [Bf16, Bf16, Bf16], Fixed(4), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 936)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_bf16bf16bf16_6x16x1_x86_64_avx2_fma, [Bf16, Bf16, Bf16], Fixed(6), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 1048)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_bf16bf16bf16_1x16x1_x86_64_avx2_fma_splitk2, [Bf16, Bf16, Bf16], Fixed(1), Fixed(16), Fixed(1), AVX2, SplitK(2), &[(ANY, 516)], staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_bf16bf16bf16_2x16x1_x86_64_avx2_fma_splitk2, [Bf16, Bf16, Bf16], Fixed(2), Fixed(16), Fixed(1), AVX2, SplitK(2), &[(ANY, 810)], staged 4),

    mmt4d!(x86_64_avx2_fma::mmt4d_i16i16i32_1x16x2_x86_64_avx2_fma, [I16, I16, I32], Fixed(1), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 1706)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_i16i16i32_2x16x2_x86_64_avx2_fma, [I16, I16, I32], Fixed(2), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 2148)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_i16i16i32_4x16x2_x86_64_avx2_fma, [I16, I16, I32], Fixed(4), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 2161)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_i16i16i32_6x16x2_x86_64_avx2_fma, [I16, I16, I32], Fixed(6), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 2194)]),

    mmt4d!(x86_64_avx2_fma::mmt4d_i16i8i32_1x16x2_x86_64_avx2_fma, [I16, I8, I32], Fixed(1), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 1310)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_i16i8i32_2x16x2_x86_64_avx2_fma, [I16, I8, I32], Fixed(2), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 1739)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_i16i8i32_4x16x2_x86_64_avx2_fma, [I16, I8, I32], Fixed(4), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 2020)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_i16i8i32_6x16x2_x86_64_avx2_fma, [I16, I8, I32], Fixed(6), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 2088)]),

    mmt4d!(x86_64_avx2_fma::mmt4d_i8i8i32_1x16x2_x86_64_avx2_fma, [I8, I8, I32], Fixed(1), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 1175)], staged 2),
    mmt4d!(x86_64_avx2_fma::mmt4d_i8i8i32_2x16x2_x86_64_avx2_fma, [I8, I8, I32], Fixed(2), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 1550)], staged 2),
    mmt4d!(x86_64_avx2_fma::mmt4d_i8i8i32_4x16x2_x86_64_avx2_fma, [I8, I8, I32], Fixed(4), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 1787)], staged 2),
    mmt4d!(x86_64_avx2_fma::mmt4d_i8i8i32_6x16x2_x86_64_avx2_fma, [I8, I8, I32], Fixed(6), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 1845)], staged 2),

    mmt4d!(x86_64_avx2_fma::mmt4d_u8i8i32_1x16x2_x86_64_avx2_fma, [U8, I8, I32], Fixed(1), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 1172)], staged 2),
    mmt4d!(x86_64_avx2_fma::mmt4d_u8i8i32_2x16x2_x86_64_avx2_fma, [U8, I8, I32], Fixed(2), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 1549)], staged 2),
    mmt4d!(x86_64_avx2_fma::mmt4d_u8i8i32_4x16x2_x86_64_avx2_fma, [U8, I8, I32], Fixed(4), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 1789)], staged 2),
    mmt4d!(x86_64_avx2_fma::mmt4d_u8i8i32_6x16x2_x86_64_avx2_fma, [U8, I8, I32], Fixed(6), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 1858)], staged 2),

    mmt4d!(x86_64_avx2_fma::mmt4d_u8u8i32_1x16x2_x86_64_avx2_fma, [U8, U8, I32], Fixed(1), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 1171)], staged 2),
    mmt4d!(x86_64_avx2_fma::mmt4d_u8u8i32_2x16x2_x86_64_avx2_fma, [U8, U8, I32], Fixed(2), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 1552)], staged 2),
    mmt4d!(x86_64_avx2_fma::mmt4d_u8u8i32_4x16x2_x86_64_avx2_fma, [U8, U8, I32], Fixed(4), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 1790)], staged 2),
    mmt4d!(x86_64_avx2_fma::mmt4d_u8u8i32_6x16x2_x86_64_avx2_fma, [U8, U8, I32], Fixed(6), Fixed(16), Fixed(2), AVX2, Exact, &[(ANY, 1856)], staged 2),

    mmt4d!(x86_64_avx_vnni::mmt4d_i16i16i32_1x16x2_x86_64_avx_vnni, [I16, I16, I32], Fixed(1), Fixed(16), Fixed(2), AVX_VNNI, Exact, &[(ANY, 2112)]),
    mmt4d!(x86_64_avx_vnni::mmt4d_i16i16i32_2x16x2_x86_64_avx_vnni, [I16, I16, I32], Fixed(2), Fixed(16), Fixed(2), AVX_VNNI, Exact, &[(ANY, 2294)]),
    mmt4d!(x86_64_avx_vnni::mmt4d_i16i16i32_4x16x2_x86_64_avx_vnni, [I16, I16, I32], Fixed(4), Fixed(16), Fixed(2), AVX_VNNI, Exact, &[(ANY, 2310)]),
    mmt4d!(x86_64_avx_vnni::mmt4d_i16i16i32_6x16x2_x86_64_avx_vnni, [I16, I16, I32], Fixed(6), Fixed(16), Fixed(2), AVX_VNNI, Exact, &[(ANY, 3032)]),

    mmt4d!(x86_64_avx_vnni::mmt4d_i16i8i32_1x16x2_x86_64_avx_vnni, [I16, I8, I32], Fixed(1), Fixed(16), Fixed(2), AVX_VNNI, Exact, &[(ANY, 1559)]),
    mmt4d!(x86_64_avx_vnni::mmt4d_i16i8i32_2x16x2_x86_64_avx_vnni, [I16, I8, I32], Fixed(2), Fixed(16), Fixed(2), AVX_VNNI, Exact, &[(ANY, 2356)]),
    mmt4d!(x86_64_avx_vnni::mmt4d_i16i8i32_4x16x2_x86_64_avx_vnni, [I16, I8, I32], Fixed(4), Fixed(16), Fixed(2), AVX_VNNI, Exact, &[(ANY, 2363)]),
    mmt4d!(x86_64_avx_vnni::mmt4d_i16i8i32_6x16x2_x86_64_avx_vnni, [I16, I8, I32], Fixed(6), Fixed(16), Fixed(2), AVX_VNNI, Exact, &[(ANY, 3038)]),

    mmt4d!(x86_64_avx_vnni::mmt4d_i8i8i32_1x16x4_x86_64_avx_vnni, [I8, I8, I32], Fixed(1), Fixed(16), Fixed(4), AVX_VNNI, Exact, &[(ANY, 3346)], sums true),
    mmt4d!(x86_64_avx_vnni::mmt4d_i8i8i32_2x16x4_x86_64_avx_vnni, [I8, I8, I32], Fixed(2), Fixed(16), Fixed(4), AVX_VNNI, Exact, &[(ANY, 4615)], sums true),
    mmt4d!(x86_64_avx_vnni::mmt4d_i8i8i32_4x16x4_x86_64_avx_vnni, [I8, I8, I32], Fixed(4), Fixed(16), Fixed(4), AVX_VNNI, Exact, &[(ANY, 4940)], sums true),
    mmt4d!(x86_64_avx_vnni::mmt4d_i8i8i32_6x16x4_x86_64_avx_vnni, [I8, I8, I32], Fixed(6), Fixed(16), Fixed(4), AVX_VNNI, Exact, &[(ANY, 6082)], sums true),

    mmt4d!(x86_64_avx_vnni::mmt4d_u8i8i32_1x16x4_x86_64_avx_vnni, [U8, I8, I32], Fixed(1), Fixed(16), Fixed(4), AVX_VNNI, Exact, &[(ANY, 3910)]),
    mmt4d!(x86_64_avx_vnni::mmt4d_u8i8i32_2x16x4_x86_64_avx_vnni, [U8, I8, I32], Fixed(2), Fixed(16), Fixed(4), AVX_VNNI, Exact, &[(ANY, 4598)]),
    mmt4d!(x86_64_avx_vnni::mmt4d_u8i8i32_4x16x4_x86_64_avx_vnni, [U8, I8, I32], Fixed(4), Fixed(16), Fixed(4), AVX_VNNI, Exact, &[(ANY, 4620)]),
    mmt4d!(x86_64_avx_vnni::mmt4d_u8i8i32_6x16x4_x86_64_avx_vnni, [U8, I8, I32], Fixed(6), Fixed(16), Fixed(4), AVX_VNNI, Exact, &[(ANY, 6082)]),

    mmt4d!(x86_64_avx_vnni::mmt4d_u8u8i32_1x16x4_x86_64_avx_vnni, [U8, U8, I32], Fixed(1), Fixed(16), Fixed(4), AVX_VNNI, Exact, &[(ANY, 3347)], sums true),
    mmt4d!(x86_64_avx_vnni::mmt4d_u8u8i32_2x16x4_x86_64_avx_vnni, [U8, U8, I32], Fixed(2), Fixed(16), Fixed(4), AVX_VNNI, Exact, &[(ANY, 4618)], sums true),
    mmt4d!(x86_64_avx_vnni::mmt4d_u8u8i32_4x16x4_x86_64_avx_vnni, [U8, U8, I32], Fixed(4), Fixed(16), Fixed(4), AVX_VNNI, Exact, &[(ANY, 4947)], sums true),
    mmt4d!(x86_64_avx_vnni::mmt4d_u8u8i32_6x16x4_x86_64_avx_vnni, [U8, U8, I32], Fixed(6), Fixed(16), Fixed(4), AVX_VNNI, Exact, &[(ANY, 6054)], sums true),

    mmt4d!(x86_64_avx512::mmt4d_f64f64f64_1x16x1_x86_64_avx512, [F64, F64, F64], Fixed(1), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 429)]),
    mmt4d!(x86_64_avx512::mmt4d_f64f64f64_2x16x1_x86_64_avx512, [F64, F64, F64], Fixed(2), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 769)]),
    mmt4d!(x86_64_avx512::mmt4d_f64f64f64_4x16x1_x86_64_avx512, [F64, F64, F64], Fixed(4), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 1312)]),
    mmt4d!(x86_64_avx512::mmt4d_f64f64f64_8x16x1_x86_64_avx512, [F64, F64, F64], Fixed(8), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 1424)]),
    mmt4d!(x86_64_avx512::mmt4d_f64f64f64_12x16x1_x86_64_avx512, [F64, F64, F64], Fixed(12), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 1426)]),
    mmt4d!(x86_64_avx512::mmt4d_f64f64f64_1x16x1_x86_64_avx512_splitk4, [F64, F64, F64], Fixed(1), Fixed(16), Fixed(1), AVX512, SplitK(4), &[(ANY, 902)]),
    mmt4d!(x86_64_avx512::mmt4d_f64f64f64_2x16x1_x86_64_avx512_splitk4, [F64, F64, F64], Fixed(2), Fixed(16), Fixed(1), AVX512, SplitK(4), &[(ANY, 1285)]),

    mmt4d!(x86_64_avx512::mmt4d_f16f16f32_1x32x1_x86_64_avx512, [F16, F16, F32], Fixed(1), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 712)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_f16f16f32_2x32x1_x86_64_avx512, [F16, F16, F32], Fixed(2), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 1308)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_f16f16f32_4x32x1_x86_64_avx512, [F16, F16, F32], Fixed(4), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 1735)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_f16f16f32_8x32x1_x86_64_avx512, [F16, F16, F32], Fixed(8), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 2066)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_f16f16f32_14x32x1_x86_64_avx512, [F16, F16, F32], Fixed(14), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 2196)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_f16f16f32_1x32x1_x86_64_avx512_splitk2, [F16, F16, F32], Fixed(1), Fixed(32), Fixed(1), AVX512, SplitK(2), &[(ANY, 890)], staged 4),

    mmt4d!(x86_64_avx512::mmt4d_f16f16f16_1x32x1_x86_64_avx512, [F16, F16, F16], Fixed(1), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 714)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_f16f16f16_2x32x1_x86_64_avx512, [F16, F16, F16], Fixed(2), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 1288)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_f16f16f16_4x32x1_x86_64_avx512, [F16, F16, F16], Fixed(4), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 1731)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_f16f16f16_8x32x1_x86_64_avx512, [F16, F16, F16], Fixed(8), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 2032)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_f16f16f16_14x32x1_x86_64_avx512, [F16, F16, F16], Fixed(14), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 2199)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_f16f16f16_1x32x1_x86_64_avx512_splitk2, [F16, F16, F16], Fixed(1), Fixed(32), Fixed(1), AVX512, SplitK(2), &[(ANY, 891)], staged 4),

    mmt4d!(x86_64_avx512::mmt4d_bf16bf16f32_1x32x2_x86_64_avx512, [Bf16, Bf16, F32], Fixed(1), Fixed(32), Fixed(2), AVX512, FusedChain, &[(ANY, 676)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_bf16bf16f32_2x32x2_x86_64_avx512, [Bf16, Bf16, F32], Fixed(2), Fixed(32), Fixed(2), AVX512, FusedChain, &[(ANY, 1286)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_bf16bf16f32_4x32x2_x86_64_avx512, [Bf16, Bf16, F32], Fixed(4), Fixed(32), Fixed(2), AVX512, FusedChain, &[(ANY, 2129)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_bf16bf16f32_8x32x2_x86_64_avx512, [Bf16, Bf16, F32], Fixed(8), Fixed(32), Fixed(2), AVX512, FusedChain, &[(ANY, 2330)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_bf16bf16f32_12x32x2_x86_64_avx512, [Bf16, Bf16, F32], Fixed(12), Fixed(32), Fixed(2), AVX512, FusedChain, &[(ANY, 2407)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_bf16bf16f32_1x32x2_x86_64_avx512_splitk2, [Bf16, Bf16, F32], Fixed(1), Fixed(32), Fixed(2), AVX512, SplitK(2), &[(ANY, 1192)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_bf16bf16f32_2x32x2_x86_64_avx512_splitk2, [Bf16, Bf16, F32], Fixed(2), Fixed(32), Fixed(2), AVX512, SplitK(2), &[(ANY, 1791)], staged 4),

    mmt4d!(x86_64_avx512::mmt4d_bf16bf16bf16_1x32x2_x86_64_avx512, [Bf16, Bf16, Bf16], Fixed(1), Fixed(32), Fixed(2), AVX512, FusedChain, &[(ANY, 672)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_bf16bf16bf16_2x32x2_x86_64_avx512, [Bf16, Bf16, Bf16], Fixed(2), Fixed(32), Fixed(2), AVX512, FusedChain, &[(ANY, 1258)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_bf16bf16bf16_4x32x2_x86_64_avx512, [Bf16, Bf16, Bf16], Fixed(4), Fixed(32), Fixed(2), AVX512, FusedChain, &[(ANY, 2098)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_bf16bf16bf16_8x32x2_x86_64_avx512, [Bf16, Bf16, Bf16], Fixed(8), Fixed(32), Fixed(2), AVX512, FusedChain, &[(ANY, 2322)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_bf16bf16bf16_12x32x2_x86_64_avx512, [Bf16, Bf16, Bf16], Fixed(12), Fixed(32), Fixed(2), AVX512, FusedChain, &[(ANY, 2384)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_bf16bf16bf16_1x32x2_x86_64_avx512_splitk2, [Bf16, Bf16, Bf16], Fixed(1), Fixed(32), Fixed(2), AVX512, SplitK(2), &[(ANY, 1165)], staged 4),
    mmt4d!(x86_64_avx512::mmt4d_bf16bf16bf16_2x32x2_x86_64_avx512_splitk2, [Bf16, Bf16, Bf16], Fixed(2), Fixed(32), Fixed(2), AVX512, SplitK(2), &[(ANY, 1797)], staged 4),

    mmt4d!(x86_64_avx512::mmt4d_i16i16i32_1x32x2_x86_64_avx512, [I16, I16, I32], Fixed(1), Fixed(32), Fixed(2), AVX512, Exact, &[(ANY, 2823)]),
    mmt4d!(x86_64_avx512::mmt4d_i16i16i32_2x32x2_x86_64_avx512, [I16, I16, I32], Fixed(2), Fixed(32), Fixed(2), AVX512, Exact, &[(ANY, 3095)]),
    mmt4d!(x86_64_avx512::mmt4d_i16i16i32_4x32x2_x86_64_avx512, [I16, I16, I32], Fixed(4), Fixed(32), Fixed(2), AVX512, Exact, &[(ANY, 3134)]),
    mmt4d!(x86_64_avx512::mmt4d_i16i16i32_8x32x2_x86_64_avx512, [I16, I16, I32], Fixed(8), Fixed(32), Fixed(2), AVX512, Exact, &[(ANY, 3126)]),
    mmt4d!(x86_64_avx512::mmt4d_i16i16i32_12x32x2_x86_64_avx512, [I16, I16, I32], Fixed(12), Fixed(32), Fixed(2), AVX512, Exact, &[(ANY, 3111)]),

    mmt4d!(x86_64_avx512::mmt4d_i16i8i32_1x32x2_x86_64_avx512, [I16, I8, I32], Fixed(1), Fixed(32), Fixed(2), AVX512, Exact, &[(ANY, 1892)]),
    mmt4d!(x86_64_avx512::mmt4d_i16i8i32_2x32x2_x86_64_avx512, [I16, I8, I32], Fixed(2), Fixed(32), Fixed(2), AVX512, Exact, &[(ANY, 2351)]),
    mmt4d!(x86_64_avx512::mmt4d_i16i8i32_4x32x2_x86_64_avx512, [I16, I8, I32], Fixed(4), Fixed(32), Fixed(2), AVX512, Exact, &[(ANY, 2679)]),
    mmt4d!(x86_64_avx512::mmt4d_i16i8i32_8x32x2_x86_64_avx512, [I16, I8, I32], Fixed(8), Fixed(32), Fixed(2), AVX512, Exact, &[(ANY, 2858)]),
    mmt4d!(x86_64_avx512::mmt4d_i16i8i32_12x32x2_x86_64_avx512, [I16, I8, I32], Fixed(12), Fixed(32), Fixed(2), AVX512, Exact, &[(ANY, 2920)]),

    mmt4d!(x86_64_avx512::mmt4d_i8i8i32_1x32x4_x86_64_avx512, [I8, I8, I32], Fixed(1), Fixed(32), Fixed(4), AVX512, Exact, &[(ANY, 1569)], staged 2),
    mmt4d!(x86_64_avx512::mmt4d_i8i8i32_2x32x4_x86_64_avx512, [I8, I8, I32], Fixed(2), Fixed(32), Fixed(4), AVX512, Exact, &[(ANY, 2054)], staged 2),
    mmt4d!(x86_64_avx512::mmt4d_i8i8i32_4x32x4_x86_64_avx512, [I8, I8, I32], Fixed(4), Fixed(32), Fixed(4), AVX512, Exact, &[(ANY, 2424)], staged 2),
    mmt4d!(x86_64_avx512::mmt4d_i8i8i32_8x32x4_x86_64_avx512, [I8, I8, I32], Fixed(8), Fixed(32), Fixed(4), AVX512, Exact, &[(ANY, 2667)], staged 2),
    mmt4d!(x86_64_avx512::mmt4d_i8i8i32_10x32x4_x86_64_avx512, [I8, I8, I32], Fixed(10), Fixed(32), Fixed(4), AVX512, Exact, &[(ANY, 2726)], staged 2),

    mmt4d!(x86_64_avx512::mmt4d_u8i8i32_1x32x4_x86_64_avx512, [U8, I8, I32], Fixed(1), Fixed(32), Fixed(4), AVX512, Exact, &[(ANY, 1578)], staged 2),
    mmt4d!(x86_64_avx512::mmt4d_u8i8i32_2x32x4_x86_64_avx512, [U8, I8, I32], Fixed(2), Fixed(32), Fixed(4), AVX512, Exact, &[(ANY, 2062)], staged 2),
    mmt4d!(x86_64_avx512::mmt4d_u8i8i32_4x32x4_x86_64_avx512, [U8, I8, I32], Fixed(4), Fixed(32), Fixed(4), AVX512, Exact, &[(ANY, 2426)], staged 2),
    mmt4d!(x86_64_avx512::mmt4d_u8i8i32_8x32x4_x86_64_avx512, [U8, I8, I32], Fixed(8), Fixed(32), Fixed(4), AVX512, Exact, &[(ANY, 2668)], staged 2),
    mmt4d!(x86_64_avx512::mmt4d_u8i8i32_10x32x4_x86_64_avx512, [U8, I8, I32], Fixed(10), Fixed(32), Fixed(4), AVX512, Exact, &[(ANY, 2730)], staged 2),

    mmt4d!(x86_64_avx512::mmt4d_u8u8i32_1x32x4_x86_64_avx512, [U8, U8, I32], Fixed(1), Fixed(32), Fixed(4), AVX512, Exact, &[(ANY, 1967)], staged 2),
    mmt4d!(x86_64_avx512::mmt4d_u8u8i32_2x32x4_x86_64_avx512, [U8, U8, I32], Fixed(2), Fixed(32), Fixed(4), AVX512, Exact, &[(ANY, 2361)], staged 2),
    mmt4d!(x86_64_avx512::mmt4d_u8u8i32_4x32x4_x86_64_avx512, [U8, U8, I32], Fixed(4), Fixed(32), Fixed(4), AVX512, Exact, &[(ANY, 2605)], staged 2),
    mmt4d!(x86_64_avx512::mmt4d_u8u8i32_8x32x4_x86_64_avx512, [U8, U8, I32], Fixed(8), Fixed(32), Fixed(4), AVX512, Exact, &[(ANY, 2768)], staged 2),
    mmt4d!(x86_64_avx512::mmt4d_u8u8i32_10x32x4_x86_64_avx512, [U8, U8, I32], Fixed(10), Fixed(32), Fixed(4), AVX512, Exact, &[(ANY, 2800)], staged 2),

    mmt4d!(x86_64_avx512_vnni::mmt4d_i16i16i32_1x32x2_x86_64_avx512_vnni, [I16, I16, I32], Fixed(1), Fixed(32), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 3849)]),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i16i16i32_2x32x2_x86_64_avx512_vnni, [I16, I16, I32], Fixed(2), Fixed(32), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 5859)]),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i16i16i32_4x32x2_x86_64_avx512_vnni, [I16, I16, I32], Fixed(4), Fixed(32), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 6075)]),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i16i16i32_8x32x2_x86_64_avx512_vnni, [I16, I16, I32], Fixed(8), Fixed(32), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 6120)]),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i16i16i32_14x32x2_x86_64_avx512_vnni, [I16, I16, I32], Fixed(14), Fixed(32), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 6150)]),

    mmt4d!(x86_64_avx512_vnni::mmt4d_i16i8i32_1x32x2_x86_64_avx512_vnni, [I16, I8, I32], Fixed(1), Fixed(32), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 2727)]),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i16i8i32_2x32x2_x86_64_avx512_vnni, [I16, I8, I32], Fixed(2), Fixed(32), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 3754)]),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i16i8i32_4x32x2_x86_64_avx512_vnni, [I16, I8, I32], Fixed(4), Fixed(32), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 4666)]),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i16i8i32_8x32x2_x86_64_avx512_vnni, [I16, I8, I32], Fixed(8), Fixed(32), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 5306)]),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i16i8i32_14x32x2_x86_64_avx512_vnni, [I16, I8, I32], Fixed(14), Fixed(32), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 5557)]),

    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i8i32_1x32x4_x86_64_avx512_vnni, [I8, I8, I32], Fixed(1), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 5704)], sums true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i8i32_2x32x4_x86_64_avx512_vnni, [I8, I8, I32], Fixed(2), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 8047)], sums true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i8i32_4x32x4_x86_64_avx512_vnni, [I8, I8, I32], Fixed(4), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 9809)], sums true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i8i32_8x32x4_x86_64_avx512_vnni, [I8, I8, I32], Fixed(8), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 10938)], sums true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i8i32_14x32x4_x86_64_avx512_vnni, [I8, I8, I32], Fixed(14), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 11355)], sums true),

    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i8i32_1x32x4_x86_64_avx512_vnni_flipped, [I8, I8, I32], Fixed(1), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 7270)], sums true, flipped true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i8i32_2x32x4_x86_64_avx512_vnni_flipped, [I8, I8, I32], Fixed(2), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 11230)], sums true, flipped true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i8i32_4x32x4_x86_64_avx512_vnni_flipped, [I8, I8, I32], Fixed(4), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 11830)], sums true, flipped true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i8i32_8x32x4_x86_64_avx512_vnni_flipped, [I8, I8, I32], Fixed(8), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 12140)], sums true, flipped true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i8i32_14x32x4_x86_64_avx512_vnni_flipped, [I8, I8, I32], Fixed(14), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 12200)], sums true, flipped true),

    mmt4d!(x86_64_avx512_vnni::mmt4d_u8i8i32_1x32x4_x86_64_avx512_vnni, [U8, I8, I32], Fixed(1), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 7692)]),
    mmt4d!(x86_64_avx512_vnni::mmt4d_u8i8i32_2x32x4_x86_64_avx512_vnni, [U8, I8, I32], Fixed(2), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 11973)]),
    mmt4d!(x86_64_avx512_vnni::mmt4d_u8i8i32_4x32x4_x86_64_avx512_vnni, [U8, I8, I32], Fixed(4), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 12095)]),
    mmt4d!(x86_64_avx512_vnni::mmt4d_u8i8i32_8x32x4_x86_64_avx512_vnni, [U8, I8, I32], Fixed(8), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 12226)]),
    mmt4d!(x86_64_avx512_vnni::mmt4d_u8i8i32_14x32x4_x86_64_avx512_vnni, [U8, I8, I32], Fixed(14), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 12302)]),

    mmt4d!(x86_64_avx512_vnni::mmt4d_u8u8i32_1x32x4_x86_64_avx512_vnni, [U8, U8, I32], Fixed(1), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 5713)], sums true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_u8u8i32_2x32x4_x86_64_avx512_vnni, [U8, U8, I32], Fixed(2), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 8045)], sums true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_u8u8i32_4x32x4_x86_64_avx512_vnni, [U8, U8, I32], Fixed(4), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 9817)], sums true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_u8u8i32_8x32x4_x86_64_avx512_vnni, [U8, U8, I32], Fixed(8), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 10837)], sums true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_u8u8i32_14x32x4_x86_64_avx512_vnni, [U8, U8, I32], Fixed(14), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 11427)], sums true),

    mmt4d!(x86_64_avx512_vnni::mmt4d_u8u8i32_1x32x4_x86_64_avx512_vnni_flipped, [U8, U8, I32], Fixed(1), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 7420)], sums true, flipped true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_u8u8i32_2x32x4_x86_64_avx512_vnni_flipped, [U8, U8, I32], Fixed(2), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 11220)], sums true, flipped true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_u8u8i32_4x32x4_x86_64_avx512_vnni_flipped, [U8, U8, I32], Fixed(4), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 11840)], sums true, flipped true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_u8u8i32_8x32x4_x86_64_avx512_vnni_flipped, [U8, U8, I32], Fixed(8), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 12110)], sums true, flipped true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_u8u8i32_14x32x4_x86_64_avx512_vnni_flipped, [U8, U8, I32], Fixed(14), Fixed(32), Fixed(4), AVX512_VNNI, Exact, &[(ANY, 12210)], sums true, flipped true),

    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16f32_1x32x2_x86_64_avx512_bf16, [Bf16, Bf16, F32], Fixed(1), Fixed(32), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1437)]),
    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16f32_2x32x2_x86_64_avx512_bf16, [Bf16, Bf16, F32], Fixed(2), Fixed(32), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1489)]),
    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16f32_4x32x2_x86_64_avx512_bf16, [Bf16, Bf16, F32], Fixed(4), Fixed(32), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1515)]),
    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16f32_8x32x2_x86_64_avx512_bf16, [Bf16, Bf16, F32], Fixed(8), Fixed(32), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1490)]),
    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16f32_14x32x2_x86_64_avx512_bf16, [Bf16, Bf16, F32], Fixed(14), Fixed(32), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1490)]),

    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16bf16_1x32x2_x86_64_avx512_bf16, [Bf16, Bf16, Bf16], Fixed(1), Fixed(32), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1426)]),
    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16bf16_2x32x2_x86_64_avx512_bf16, [Bf16, Bf16, Bf16], Fixed(2), Fixed(32), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1476)]),
    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16bf16_4x32x2_x86_64_avx512_bf16, [Bf16, Bf16, Bf16], Fixed(4), Fixed(32), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1489)]),
    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16bf16_8x32x2_x86_64_avx512_bf16, [Bf16, Bf16, Bf16], Fixed(8), Fixed(32), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1484)]),
    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16bf16_14x32x2_x86_64_avx512_bf16, [Bf16, Bf16, Bf16], Fixed(14), Fixed(32), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1480)]),

    mmt4d!(generic::mmt4d_i16u4i32_nxnxn_generic, [I16, U4, I32], Runtime, Runtime, Runtime, Generic, Exact, &[(ANY, 12)]),
    mmt4d!(generic::mmt4d_i8i4i32_nxnxn_generic, [I8, I4, I32], Runtime, Runtime, Runtime, Generic, Exact, &[(ANY, 12)]),
    mmt4d!(generic::mmt4d_i8i4g32f32_nxnxn_generic, [I8, I4, F32], Runtime, Runtime, Runtime, Generic, FusedChain, &[(ANY, 9)], group 32),
    mmt4d!(generic::mmt4d_f32i4g32f32_nxnxn_generic, [F32, I4, F32], Runtime, Runtime, Runtime, Generic, FusedChain, &[(ANY, 10)], group 32),
    mmt4d!(generic::mmt4d_f32i4g128f32_nxnxn_generic, [F32, I4, F32], Runtime, Runtime, Runtime, Generic, FusedChain, &[(ANY, 9)], group 128),
    mmt4d!(generic::mmt4d_f32i8f32_nxnxn_generic, [F32, I8, F32], Runtime, Runtime, Runtime, Generic, FusedChain, &[(ANY, 10)]),
    mmt4d!(generic::mmt4d_f32i8g32f32_nxnxn_generic, [F32, I8, F32], Runtime, Runtime, Runtime, Generic, FusedChain, &[(ANY, 9)], group 32),

    mmt4d!(portable::mmt4d_i16u4i32_1x8x2_portable, [I16, U4, I32], Fixed(1), Fixed(8), Fixed(2), Portable, Exact, &[(ANY, 20)]),
    mmt4d!(portable::mmt4d_i16u4i32_2x8x2_portable, [I16, U4, I32], Fixed(2), Fixed(8), Fixed(2), Portable, Exact, &[(ANY, 48)]),
    mmt4d!(portable::mmt4d_i16u4i32_4x8x2_portable, [I16, U4, I32], Fixed(4), Fixed(8), Fixed(2), Portable, Exact, &[(ANY, 50)]),
    mmt4d!(portable::mmt4d_i16u4i32_8x8x2_portable, [I16, U4, I32], Fixed(8), Fixed(8), Fixed(2), Portable, Exact, &[(ANY, 80)]),

    mmt4d!(portable::mmt4d_i8i4i32_1x8x2_portable, [I8, I4, I32], Fixed(1), Fixed(8), Fixed(2), Portable, Exact, &[(ANY, 19)]),
    mmt4d!(portable::mmt4d_i8i4i32_2x8x2_portable, [I8, I4, I32], Fixed(2), Fixed(8), Fixed(2), Portable, Exact, &[(ANY, 41)]),
    mmt4d!(portable::mmt4d_i8i4i32_4x8x2_portable, [I8, I4, I32], Fixed(4), Fixed(8), Fixed(2), Portable, Exact, &[(ANY, 49)]),
    mmt4d!(portable::mmt4d_i8i4i32_8x8x2_portable, [I8, I4, I32], Fixed(8), Fixed(8), Fixed(2), Portable, Exact, &[(ANY, 72)]),

    mmt4d!(portable::mmt4d_i8i4g32f32_1x8x2_portable, [I8, I4, F32], Fixed(1), Fixed(8), Fixed(2), Portable, MulAdd, &[(ANY, 18)], group 32),
    mmt4d!(portable::mmt4d_i8i4g32f32_2x8x2_portable, [I8, I4, F32], Fixed(2), Fixed(8), Fixed(2), Portable, MulAdd, &[(ANY, 34)], group 32),
    mmt4d!(portable::mmt4d_i8i4g32f32_4x8x2_portable, [I8, I4, F32], Fixed(4), Fixed(8), Fixed(2), Portable, MulAdd, &[(ANY, 62)], group 32),
    mmt4d!(portable::mmt4d_i8i4g32f32_8x8x2_portable, [I8, I4, F32], Fixed(8), Fixed(8), Fixed(2), Portable, MulAdd, &[(ANY, 104)], group 32),

    mmt4d!(portable::mmt4d_f32i4g32f32_1x8x2_portable, [F32, I4, F32], Fixed(1), Fixed(8), Fixed(2), Portable, MulAdd, &[(ANY, 17)], group 32),
    mmt4d!(portable::mmt4d_f32i4g32f32_2x8x2_portable, [F32, I4, F32], Fixed(2), Fixed(8), Fixed(2), Portable, MulAdd, &[(ANY, 33)], group 32),
    mmt4d!(portable::mmt4d_f32i4g32f32_4x8x2_portable, [F32, I4, F32], Fixed(4), Fixed(8), Fixed(2), Portable, MulAdd, &[(ANY, 62)], group 32),
    mmt4d!(portable::mmt4d_f32i4g32f32_8x8x2_portable, [F32, I4, F32], Fixed(8), Fixed(8), Fixed(2), Portable, MulAdd, &[(ANY, 107)], group 32),

    mmt4d!(portable::mmt4d_f32i4g128f32_1x8x2_portable, [F32, I4, F32], Fixed(1), Fixed(8), Fixed(2), Portable, MulAdd, &[(ANY, 17)], group 128),
    mmt4d!(portable::mmt4d_f32i4g128f32_2x8x2_portable, [F32, I4, F32], Fixed(2), Fixed(8), Fixed(2), Portable, MulAdd, &[(ANY, 34)], group 128),
    mmt4d!(portable::mmt4d_f32i4g128f32_4x8x2_portable, [F32, I4, F32], Fixed(4), Fixed(8), Fixed(2), Portable, MulAdd, &[(ANY, 62)], group 128),
    mmt4d!(portable::mmt4d_f32i4g128f32_8x8x2_portable, [F32, I4, F32], Fixed(8), Fixed(8), Fixed(2), Portable, MulAdd, &[(ANY, 105)], group 128),

    mmt4d!(portable::mmt4d_f32i8f32_1x8x1_portable, [F32, I8, F32], Fixed(1), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 62)]),
    mmt4d!(portable::mmt4d_f32i8f32_2x8x1_portable, [F32, I8, F32], Fixed(2), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 107)]),
    mmt4d!(portable::mmt4d_f32i8f32_4x8x1_portable, [F32, I8, F32], Fixed(4), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 167)]),
    mmt4d!(portable::mmt4d_f32i8f32_8x8x1_portable, [F32, I8, F32], Fixed(8), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 208)]),

    mmt4d!(portable::mmt4d_f32i8g32f32_1x8x1_portable, [F32, I8, F32], Fixed(1), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 51)], group 32),
    mmt4d!(portable::mmt4d_f32i8g32f32_2x8x1_portable, [F32, I8, F32], Fixed(2), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 86)], group 32),
    mmt4d!(portable::mmt4d_f32i8g32f32_4x8x1_portable, [F32, I8, F32], Fixed(4), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 129)], group 32),
    mmt4d!(portable::mmt4d_f32i8g32f32_8x8x1_portable, [F32, I8, F32], Fixed(8), Fixed(8), Fixed(1), Portable, MulAdd, &[(ANY, 176)], group 32),

    mmt4d!(x86_64_avx2_fma::mmt4d_i16u4i32_1x16x8_x86_64_avx2_fma, [I16, U4, I32], Fixed(1), Fixed(16), Fixed(8), AVX2, Exact, &[(ANY, 1096)], staged 2),
    mmt4d!(x86_64_avx2_fma::mmt4d_i16u4i32_2x16x8_x86_64_avx2_fma, [I16, U4, I32], Fixed(2), Fixed(16), Fixed(8), AVX2, Exact, &[(ANY, 1430)], staged 2),
    mmt4d!(x86_64_avx2_fma::mmt4d_i16u4i32_4x16x8_x86_64_avx2_fma, [I16, U4, I32], Fixed(4), Fixed(16), Fixed(8), AVX2, Exact, &[(ANY, 1640)], staged 2),
    mmt4d!(x86_64_avx2_fma::mmt4d_i16u4i32_5x16x8_x86_64_avx2_fma, [I16, U4, I32], Fixed(5), Fixed(16), Fixed(8), AVX2, Exact, &[(ANY, 1702)], staged 2),

    mmt4d!(x86_64_avx2_fma::mmt4d_i8i4i32_1x16x8_x86_64_avx2_fma, [I8, I4, I32], Fixed(1), Fixed(16), Fixed(8), AVX2, Exact, &[(ANY, 1444)], staged 1, sums true),
    mmt4d!(x86_64_avx2_fma::mmt4d_i8i4i32_2x16x8_x86_64_avx2_fma, [I8, I4, I32], Fixed(2), Fixed(16), Fixed(8), AVX2, Exact, &[(ANY, 1879)], staged 1, sums true),
    mmt4d!(x86_64_avx2_fma::mmt4d_i8i4i32_4x16x8_x86_64_avx2_fma, [I8, I4, I32], Fixed(4), Fixed(16), Fixed(8), AVX2, Exact, &[(ANY, 2179)], staged 1, sums true),

    mmt4d!(x86_64_avx2_fma::mmt4d_i8i4g32f32_1x16x8_x86_64_avx2_fma, [I8, I4, F32], Fixed(1), Fixed(16), Fixed(8), AVX2, FusedChain, &[(ANY, 1013)], group 32, staged 1, sums true),
    mmt4d!(x86_64_avx2_fma::mmt4d_i8i4g32f32_2x16x8_x86_64_avx2_fma, [I8, I4, F32], Fixed(2), Fixed(16), Fixed(8), AVX2, FusedChain, &[(ANY, 1482)], group 32, staged 1, sums true),
    mmt4d!(x86_64_avx2_fma::mmt4d_i8i4g32f32_4x16x8_x86_64_avx2_fma, [I8, I4, F32], Fixed(4), Fixed(16), Fixed(8), AVX2, FusedChain, &[(ANY, 1728)], group 32, staged 1, sums true),

    mmt4d!(x86_64_avx2_fma::mmt4d_f32i4g32f32_1x16x8_x86_64_avx2_fma, [F32, I4, F32], Fixed(1), Fixed(16), Fixed(8), AVX2, FusedChain, &[(ANY, 404)], group 32),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32i4g32f32_2x16x8_x86_64_avx2_fma, [F32, I4, F32], Fixed(2), Fixed(16), Fixed(8), AVX2, FusedChain, &[(ANY, 680)], group 32),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32i4g32f32_4x16x8_x86_64_avx2_fma, [F32, I4, F32], Fixed(4), Fixed(16), Fixed(8), AVX2, FusedChain, &[(ANY, 1033)], group 32),

    mmt4d!(x86_64_avx2_fma::mmt4d_f32i4g128f32_1x16x8_x86_64_avx2_fma, [F32, I4, F32], Fixed(1), Fixed(16), Fixed(8), AVX2, FusedChain, &[(ANY, 343)], group 128),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32i4g128f32_2x16x8_x86_64_avx2_fma, [F32, I4, F32], Fixed(2), Fixed(16), Fixed(8), AVX2, FusedChain, &[(ANY, 653)], group 128),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32i4g128f32_4x16x8_x86_64_avx2_fma, [F32, I4, F32], Fixed(4), Fixed(16), Fixed(8), AVX2, FusedChain, &[(ANY, 1081)], group 128),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32i4g128f32_1x16x8_x86_64_avx2_fma_splitk2, [F32, I4, F32], Fixed(1), Fixed(16), Fixed(8), AVX2, SplitK(2), &[(ANY, 467)], group 128),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32i4g128f32_2x16x8_x86_64_avx2_fma_splitk2, [F32, I4, F32], Fixed(2), Fixed(16), Fixed(8), AVX2, SplitK(2), &[(ANY, 752)], group 128),

    mmt4d!(x86_64_avx2_fma::mmt4d_f32i8f32_1x16x1_x86_64_avx2_fma, [F32, I8, F32], Fixed(1), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 405)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32i8f32_2x16x1_x86_64_avx2_fma, [F32, I8, F32], Fixed(2), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 755)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32i8f32_4x16x1_x86_64_avx2_fma, [F32, I8, F32], Fixed(4), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 1159)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32i8f32_5x16x1_x86_64_avx2_fma, [F32, I8, F32], Fixed(5), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 1205)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32i8f32_1x16x1_x86_64_avx2_fma_splitk2, [F32, I8, F32], Fixed(1), Fixed(16), Fixed(1), AVX2, SplitK(2), &[(ANY, 643)]),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32i8f32_2x16x1_x86_64_avx2_fma_splitk2, [F32, I8, F32], Fixed(2), Fixed(16), Fixed(1), AVX2, SplitK(2), &[(ANY, 948)]),

    mmt4d!(x86_64_avx2_fma::mmt4d_f32i8g32f32_1x16x1_x86_64_avx2_fma, [F32, I8, F32], Fixed(1), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 482)], group 32),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32i8g32f32_2x16x1_x86_64_avx2_fma, [F32, I8, F32], Fixed(2), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 807)], group 32),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32i8g32f32_4x16x1_x86_64_avx2_fma, [F32, I8, F32], Fixed(4), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 1076)], group 32),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32i8g32f32_5x16x1_x86_64_avx2_fma, [F32, I8, F32], Fixed(5), Fixed(16), Fixed(1), AVX2, FusedChain, &[(ANY, 1130)], group 32),
    mmt4d!(x86_64_avx2_fma::mmt4d_f32i8g32f32_1x16x1_x86_64_avx2_fma_splitk2, [F32, I8, F32], Fixed(1), Fixed(16), Fixed(1), AVX2, SplitK(2), &[(ANY, 572)], group 32),

    mmt4d!(x86_64_avx_vnni::mmt4d_i16u4i32_1x16x8_x86_64_avx_vnni, [I16, U4, I32], Fixed(1), Fixed(16), Fixed(8), AVX_VNNI, Exact, &[(ANY, 1183)], staged 2),
    mmt4d!(x86_64_avx_vnni::mmt4d_i16u4i32_2x16x8_x86_64_avx_vnni, [I16, U4, I32], Fixed(2), Fixed(16), Fixed(8), AVX_VNNI, Exact, &[(ANY, 1232)], staged 2),
    mmt4d!(x86_64_avx_vnni::mmt4d_i16u4i32_4x16x8_x86_64_avx_vnni, [I16, U4, I32], Fixed(4), Fixed(16), Fixed(8), AVX_VNNI, Exact, &[(ANY, 2089)], staged 2),
    mmt4d!(x86_64_avx_vnni::mmt4d_i16u4i32_6x16x8_x86_64_avx_vnni, [I16, U4, I32], Fixed(6), Fixed(16), Fixed(8), AVX_VNNI, Exact, &[(ANY, 2330)], staged 2),

    mmt4d!(x86_64_avx_vnni::mmt4d_i8i4i32_1x16x8_x86_64_avx_vnni, [I8, I4, I32], Fixed(1), Fixed(16), Fixed(8), AVX_VNNI, Exact, &[(ANY, 2063)], staged 1, sums true),
    mmt4d!(x86_64_avx_vnni::mmt4d_i8i4i32_2x16x8_x86_64_avx_vnni, [I8, I4, I32], Fixed(2), Fixed(16), Fixed(8), AVX_VNNI, Exact, &[(ANY, 3287)], staged 1, sums true),
    mmt4d!(x86_64_avx_vnni::mmt4d_i8i4i32_4x16x8_x86_64_avx_vnni, [I8, I4, I32], Fixed(4), Fixed(16), Fixed(8), AVX_VNNI, Exact, &[(ANY, 4079)], staged 1, sums true),
    mmt4d!(x86_64_avx_vnni::mmt4d_i8i4i32_5x16x8_x86_64_avx_vnni, [I8, I4, I32], Fixed(5), Fixed(16), Fixed(8), AVX_VNNI, Exact, &[(ANY, 4362)], staged 1, sums true),

    mmt4d!(x86_64_avx_vnni::mmt4d_i8i4g32f32_1x16x8_x86_64_avx_vnni, [I8, I4, F32], Fixed(1), Fixed(16), Fixed(8), AVX_VNNI, FusedChain, &[(ANY, 1207)], group 32, staged 1, sums true),
    mmt4d!(x86_64_avx_vnni::mmt4d_i8i4g32f32_2x16x8_x86_64_avx_vnni, [I8, I4, F32], Fixed(2), Fixed(16), Fixed(8), AVX_VNNI, FusedChain, &[(ANY, 1866)], group 32, staged 1, sums true),
    mmt4d!(x86_64_avx_vnni::mmt4d_i8i4g32f32_4x16x8_x86_64_avx_vnni, [I8, I4, F32], Fixed(4), Fixed(16), Fixed(8), AVX_VNNI, FusedChain, &[(ANY, 2724)], group 32, staged 1, sums true),

    mmt4d!(x86_64_avx512::mmt4d_i16u4i32_1x32x8_x86_64_avx512, [I16, U4, I32], Fixed(1), Fixed(32), Fixed(8), AVX512, Exact, &[(ANY, 1607)], staged 2),
    mmt4d!(x86_64_avx512::mmt4d_i16u4i32_2x32x8_x86_64_avx512, [I16, U4, I32], Fixed(2), Fixed(32), Fixed(8), AVX512, Exact, &[(ANY, 2136)], staged 2),
    mmt4d!(x86_64_avx512::mmt4d_i16u4i32_4x32x8_x86_64_avx512, [I16, U4, I32], Fixed(4), Fixed(32), Fixed(8), AVX512, Exact, &[(ANY, 2499)], staged 2),
    mmt4d!(x86_64_avx512::mmt4d_i16u4i32_8x32x8_x86_64_avx512, [I16, U4, I32], Fixed(8), Fixed(32), Fixed(8), AVX512, Exact, &[(ANY, 2714)], staged 2),
    mmt4d!(x86_64_avx512::mmt4d_i16u4i32_12x32x8_x86_64_avx512, [I16, U4, I32], Fixed(12), Fixed(32), Fixed(8), AVX512, Exact, &[(ANY, 2796)], staged 2),

    mmt4d!(x86_64_avx512::mmt4d_i8i4i32_1x32x8_x86_64_avx512, [I8, I4, I32], Fixed(1), Fixed(32), Fixed(8), AVX512, Exact, &[(ANY, 2557)], staged 1, sums true),
    mmt4d!(x86_64_avx512::mmt4d_i8i4i32_2x32x8_x86_64_avx512, [I8, I4, I32], Fixed(2), Fixed(32), Fixed(8), AVX512, Exact, &[(ANY, 3164)], staged 1, sums true),
    mmt4d!(x86_64_avx512::mmt4d_i8i4i32_4x32x8_x86_64_avx512, [I8, I4, I32], Fixed(4), Fixed(32), Fixed(8), AVX512, Exact, &[(ANY, 3576)], staged 1, sums true),
    mmt4d!(x86_64_avx512::mmt4d_i8i4i32_8x32x8_x86_64_avx512, [I8, I4, I32], Fixed(8), Fixed(32), Fixed(8), AVX512, Exact, &[(ANY, 3782)], staged 1, sums true),
    mmt4d!(x86_64_avx512::mmt4d_i8i4i32_12x32x8_x86_64_avx512, [I8, I4, I32], Fixed(12), Fixed(32), Fixed(8), AVX512, Exact, &[(ANY, 3818)], staged 1, sums true),

    mmt4d!(x86_64_avx512::mmt4d_i8i4g32f32_1x32x8_x86_64_avx512, [I8, I4, F32], Fixed(1), Fixed(32), Fixed(8), AVX512, FusedChain, &[(ANY, 2017)], group 32, staged 1, sums true),
    mmt4d!(x86_64_avx512::mmt4d_i8i4g32f32_2x32x8_x86_64_avx512, [I8, I4, F32], Fixed(2), Fixed(32), Fixed(8), AVX512, FusedChain, &[(ANY, 2592)], group 32, staged 1, sums true),
    mmt4d!(x86_64_avx512::mmt4d_i8i4g32f32_4x32x8_x86_64_avx512, [I8, I4, F32], Fixed(4), Fixed(32), Fixed(8), AVX512, FusedChain, &[(ANY, 3129)], group 32, staged 1, sums true),
    mmt4d!(x86_64_avx512::mmt4d_i8i4g32f32_8x32x8_x86_64_avx512, [I8, I4, F32], Fixed(8), Fixed(32), Fixed(8), AVX512, FusedChain, &[(ANY, 3307)], group 32, staged 1, sums true),
    mmt4d!(x86_64_avx512::mmt4d_i8i4g32f32_12x32x8_x86_64_avx512, [I8, I4, F32], Fixed(12), Fixed(32), Fixed(8), AVX512, FusedChain, &[(ANY, 3356)], group 32, staged 1, sums true),

    mmt4d!(x86_64_avx512::mmt4d_f32i4g32f32_1x32x8_x86_64_avx512, [F32, I4, F32], Fixed(1), Fixed(32), Fixed(8), AVX512, FusedChain, &[(ANY, 908)], group 32),
    mmt4d!(x86_64_avx512::mmt4d_f32i4g32f32_2x32x8_x86_64_avx512, [F32, I4, F32], Fixed(2), Fixed(32), Fixed(8), AVX512, FusedChain, &[(ANY, 1479)], group 32),
    mmt4d!(x86_64_avx512::mmt4d_f32i4g32f32_4x32x8_x86_64_avx512, [F32, I4, F32], Fixed(4), Fixed(32), Fixed(8), AVX512, FusedChain, &[(ANY, 1942)], group 32),
    mmt4d!(x86_64_avx512::mmt4d_f32i4g32f32_8x32x8_x86_64_avx512, [F32, I4, F32], Fixed(8), Fixed(32), Fixed(8), AVX512, FusedChain, &[(ANY, 2273)], group 32),
    mmt4d!(x86_64_avx512::mmt4d_f32i4g32f32_12x32x8_x86_64_avx512, [F32, I4, F32], Fixed(12), Fixed(32), Fixed(8), AVX512, FusedChain, &[(ANY, 2424)], group 32),
    mmt4d!(x86_64_avx512::mmt4d_f32i4g32f32_1x32x8_x86_64_avx512_splitk2, [F32, I4, F32], Fixed(1), Fixed(32), Fixed(8), AVX512, SplitK(2), &[(ANY, 1000)], group 32),

    mmt4d!(x86_64_avx512::mmt4d_f32i4g128f32_1x32x8_x86_64_avx512, [F32, I4, F32], Fixed(1), Fixed(32), Fixed(8), AVX512, FusedChain, &[(ANY, 790)], group 128),
    mmt4d!(x86_64_avx512::mmt4d_f32i4g128f32_2x32x8_x86_64_avx512, [F32, I4, F32], Fixed(2), Fixed(32), Fixed(8), AVX512, FusedChain, &[(ANY, 1474)], group 128),
    mmt4d!(x86_64_avx512::mmt4d_f32i4g128f32_4x32x8_x86_64_avx512, [F32, I4, F32], Fixed(4), Fixed(32), Fixed(8), AVX512, FusedChain, &[(ANY, 1986)], group 128),
    mmt4d!(x86_64_avx512::mmt4d_f32i4g128f32_8x32x8_x86_64_avx512, [F32, I4, F32], Fixed(8), Fixed(32), Fixed(8), AVX512, FusedChain, &[(ANY, 2329)], group 128),
    mmt4d!(x86_64_avx512::mmt4d_f32i4g128f32_12x32x8_x86_64_avx512, [F32, I4, F32], Fixed(12), Fixed(32), Fixed(8), AVX512, FusedChain, &[(ANY, 2470)], group 128),
    mmt4d!(x86_64_avx512::mmt4d_f32i4g128f32_1x32x8_x86_64_avx512_splitk2, [F32, I4, F32], Fixed(1), Fixed(32), Fixed(8), AVX512, SplitK(2), &[(ANY, 1035)], group 128),

    mmt4d!(x86_64_avx512::mmt4d_f32i8f32_1x32x1_x86_64_avx512, [F32, I8, F32], Fixed(1), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 741)]),
    mmt4d!(x86_64_avx512::mmt4d_f32i8f32_2x32x1_x86_64_avx512, [F32, I8, F32], Fixed(2), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 1338)]),
    mmt4d!(x86_64_avx512::mmt4d_f32i8f32_4x32x1_x86_64_avx512, [F32, I8, F32], Fixed(4), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 1796)]),
    mmt4d!(x86_64_avx512::mmt4d_f32i8f32_8x32x1_x86_64_avx512, [F32, I8, F32], Fixed(8), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 2176)]),
    mmt4d!(x86_64_avx512::mmt4d_f32i8f32_12x32x1_x86_64_avx512, [F32, I8, F32], Fixed(12), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 2332)]),
    mmt4d!(x86_64_avx512::mmt4d_f32i8f32_1x32x1_x86_64_avx512_splitk2, [F32, I8, F32], Fixed(1), Fixed(32), Fixed(1), AVX512, SplitK(2), &[(ANY, 899)]),

    mmt4d!(x86_64_avx512::mmt4d_f32i8g32f32_1x32x1_x86_64_avx512, [F32, I8, F32], Fixed(1), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 844)], group 32),
    mmt4d!(x86_64_avx512::mmt4d_f32i8g32f32_2x32x1_x86_64_avx512, [F32, I8, F32], Fixed(2), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 1312)], group 32),
    mmt4d!(x86_64_avx512::mmt4d_f32i8g32f32_4x32x1_x86_64_avx512, [F32, I8, F32], Fixed(4), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 1788)], group 32),
    mmt4d!(x86_64_avx512::mmt4d_f32i8g32f32_8x32x1_x86_64_avx512, [F32, I8, F32], Fixed(8), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 2099)], group 32),
    mmt4d!(x86_64_avx512::mmt4d_f32i8g32f32_12x32x1_x86_64_avx512, [F32, I8, F32], Fixed(12), Fixed(32), Fixed(1), AVX512, FusedChain, &[(ANY, 2253)], group 32),

    mmt4d!(x86_64_avx512_vnni::mmt4d_i16u4i32_1x32x8_x86_64_avx512_vnni, [I16, U4, I32], Fixed(1), Fixed(32), Fixed(8), AVX512_VNNI, Exact, &[(ANY, 2121)], staged 2),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i16u4i32_2x32x8_x86_64_avx512_vnni, [I16, U4, I32], Fixed(2), Fixed(32), Fixed(8), AVX512_VNNI, Exact, &[(ANY, 3142)], staged 2),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i16u4i32_4x32x8_x86_64_avx512_vnni, [I16, U4, I32], Fixed(4), Fixed(32), Fixed(8), AVX512_VNNI, Exact, &[(ANY, 4039)], staged 2),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i16u4i32_8x32x8_x86_64_avx512_vnni, [I16, U4, I32], Fixed(8), Fixed(32), Fixed(8), AVX512_VNNI, Exact, &[(ANY, 4733)], staged 2),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i16u4i32_12x32x8_x86_64_avx512_vnni, [I16, U4, I32], Fixed(12), Fixed(32), Fixed(8), AVX512_VNNI, Exact, &[(ANY, 4971)], staged 2),

    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i4i32_1x32x8_x86_64_avx512_vnni, [I8, I4, I32], Fixed(1), Fixed(32), Fixed(8), AVX512_VNNI, Exact, &[(ANY, 4017)], staged 1, sums true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i4i32_2x32x8_x86_64_avx512_vnni, [I8, I4, I32], Fixed(2), Fixed(32), Fixed(8), AVX512_VNNI, Exact, &[(ANY, 5831)], staged 1, sums true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i4i32_4x32x8_x86_64_avx512_vnni, [I8, I4, I32], Fixed(4), Fixed(32), Fixed(8), AVX512_VNNI, Exact, &[(ANY, 7767)], staged 1, sums true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i4i32_8x32x8_x86_64_avx512_vnni, [I8, I4, I32], Fixed(8), Fixed(32), Fixed(8), AVX512_VNNI, Exact, &[(ANY, 9177)], staged 1, sums true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i4i32_12x32x8_x86_64_avx512_vnni, [I8, I4, I32], Fixed(12), Fixed(32), Fixed(8), AVX512_VNNI, Exact, &[(ANY, 9734)], staged 1, sums true),

    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i4g32f32_1x32x8_x86_64_avx512_vnni, [I8, I4, F32], Fixed(1), Fixed(32), Fixed(8), AVX512_VNNI, FusedChain, &[(ANY, 2531)], group 32, staged 1, sums true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i4g32f32_2x32x8_x86_64_avx512_vnni, [I8, I4, F32], Fixed(2), Fixed(32), Fixed(8), AVX512_VNNI, FusedChain, &[(ANY, 3744)], group 32, staged 1, sums true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i4g32f32_4x32x8_x86_64_avx512_vnni, [I8, I4, F32], Fixed(4), Fixed(32), Fixed(8), AVX512_VNNI, FusedChain, &[(ANY, 5289)], group 32, staged 1, sums true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i4g32f32_8x32x8_x86_64_avx512_vnni, [I8, I4, F32], Fixed(8), Fixed(32), Fixed(8), AVX512_VNNI, FusedChain, &[(ANY, 6175)], group 32, staged 1, sums true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i4g32f32_12x32x8_x86_64_avx512_vnni, [I8, I4, F32], Fixed(12), Fixed(32), Fixed(8), AVX512_VNNI, FusedChain, &[(ANY, 6614)], group 32, staged 1, sums true),

    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f32_1x8x1_x86_64_avx2_fma, [F16, F16, F32], Fixed(1), Fixed(8), Fixed(1), AVX2, FusedChain, &[(ANY, 152)], by_tile true, staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f32_2x8x1_x86_64_avx2_fma, [F16, F16, F32], Fixed(2), Fixed(8), Fixed(1), AVX2, FusedChain, &[(ANY, 290)], by_tile true, staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f32_4x8x1_x86_64_avx2_fma, [F16, F16, F32], Fixed(4), Fixed(8), Fixed(1), AVX2, FusedChain, &[(ANY, 530)], by_tile true, staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f32_8x8x1_x86_64_avx2_fma, [F16, F16, F32], Fixed(8), Fixed(8), Fixed(1), AVX2, FusedChain, &[(ANY, 828)], by_tile true, staged 4),

    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f16_1x8x1_x86_64_avx2_fma, [F16, F16, F16], Fixed(1), Fixed(8), Fixed(1), AVX2, FusedChain, &[(ANY, 152)], by_tile true, staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f16_2x8x1_x86_64_avx2_fma, [F16, F16, F16], Fixed(2), Fixed(8), Fixed(1), AVX2, FusedChain, &[(ANY, 290)], by_tile true, staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f16_4x8x1_x86_64_avx2_fma, [F16, F16, F16], Fixed(4), Fixed(8), Fixed(1), AVX2, FusedChain, &[(ANY, 530)], by_tile true, staged 4),
    mmt4d!(x86_64_avx2_fma::mmt4d_f16f16f16_8x8x1_x86_64_avx2_fma, [F16, F16, F16], Fixed(8), Fixed(8), Fixed(1), AVX2, FusedChain, &[(ANY, 829)], by_tile true, staged 4),

    mmt4d!(x86_64_avx2_fma::mmt4d_i16i16i32_1x8x2_x86_64_avx2_fma, [I16, I16, I32], Fixed(1), Fixed(8), Fixed(2), AVX2, Exact, &[(ANY, 1017)], by_tile true),
    mmt4d!(x86_64_avx2_fma::mmt4d_i16i16i32_2x8x2_x86_64_avx2_fma, [I16, I16, I32], Fixed(2), Fixed(8), Fixed(2), AVX2, Exact, &[(ANY, 1710)], by_tile true),
    mmt4d!(x86_64_avx2_fma::mmt4d_i16i16i32_4x8x2_x86_64_avx2_fma, [I16, I16, I32], Fixed(4), Fixed(8), Fixed(2), AVX2, Exact, &[(ANY, 1959)], by_tile true),
    mmt4d!(x86_64_avx2_fma::mmt4d_i16i16i32_8x8x2_x86_64_avx2_fma, [I16, I16, I32], Fixed(8), Fixed(8), Fixed(2), AVX2, Exact, &[(ANY, 2132)], by_tile true),

    mmt4d!(x86_64_avx2_fma::mmt4d_i8i8i32_1x8x2_x86_64_avx2_fma, [I8, I8, I32], Fixed(1), Fixed(8), Fixed(2), AVX2, Exact, &[(ANY, 848)], by_tile true, staged 2),
    mmt4d!(x86_64_avx2_fma::mmt4d_i8i8i32_2x8x2_x86_64_avx2_fma, [I8, I8, I32], Fixed(2), Fixed(8), Fixed(2), AVX2, Exact, &[(ANY, 1233)], by_tile true, staged 2),
    mmt4d!(x86_64_avx2_fma::mmt4d_i8i8i32_4x8x2_x86_64_avx2_fma, [I8, I8, I32], Fixed(4), Fixed(8), Fixed(2), AVX2, Exact, &[(ANY, 1479)], by_tile true, staged 2),
    mmt4d!(x86_64_avx2_fma::mmt4d_i8i8i32_8x8x2_x86_64_avx2_fma, [I8, I8, I32], Fixed(8), Fixed(8), Fixed(2), AVX2, Exact, &[(ANY, 1605)], by_tile true, staged 2),

    mmt4d!(x86_64_avx512::mmt4d_f32f32f32_1x16x1_x86_64_avx512, F32S, Fixed(1), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 457)], by_tile true),
    mmt4d!(x86_64_avx512::mmt4d_f32f32f32_2x16x1_x86_64_avx512, F32S, Fixed(2), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 861)], by_tile true),
    mmt4d!(x86_64_avx512::mmt4d_f32f32f32_4x16x1_x86_64_avx512, F32S, Fixed(4), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 1521)], by_tile true),
    mmt4d!(x86_64_avx512::mmt4d_f32f32f32_8x16x1_x86_64_avx512, F32S, Fixed(8), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 2498)], by_tile true),
    mmt4d!(x86_64_avx512::mmt4d_f32f32f32_16x16x1_x86_64_avx512, F32S, Fixed(16), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 2869)], by_tile true),

    mmt4d!(x86_64_avx512::mmt4d_f16f16f32_1x16x1_x86_64_avx512, [F16, F16, F32], Fixed(1), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 360)], by_tile true, staged 4),
    mmt4d!(x86_64_avx512::mmt4d_f16f16f32_2x16x1_x86_64_avx512, [F16, F16, F32], Fixed(2), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 646)], by_tile true, staged 4),
    mmt4d!(x86_64_avx512::mmt4d_f16f16f32_4x16x1_x86_64_avx512, [F16, F16, F32], Fixed(4), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 1282)], by_tile true, staged 4),
    mmt4d!(x86_64_avx512::mmt4d_f16f16f32_8x16x1_x86_64_avx512, [F16, F16, F32], Fixed(8), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 1844)], by_tile true, staged 4),
    mmt4d!(x86_64_avx512::mmt4d_f16f16f32_16x16x1_x86_64_avx512, [F16, F16, F32], Fixed(16), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 1876)], by_tile true, staged 4),

    mmt4d!(x86_64_avx512::mmt4d_f16f16f16_1x16x1_x86_64_avx512, [F16, F16, F16], Fixed(1), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 354)], by_tile true, staged 4),
    mmt4d!(x86_64_avx512::mmt4d_f16f16f16_2x16x1_x86_64_avx512, [F16, F16, F16], Fixed(2), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 647)], by_tile true, staged 4),
    mmt4d!(x86_64_avx512::mmt4d_f16f16f16_4x16x1_x86_64_avx512, [F16, F16, F16], Fixed(4), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 1261)], by_tile true, staged 4),
    mmt4d!(x86_64_avx512::mmt4d_f16f16f16_8x16x1_x86_64_avx512, [F16, F16, F16], Fixed(8), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 1844)], by_tile true, staged 4),
    mmt4d!(x86_64_avx512::mmt4d_f16f16f16_16x16x1_x86_64_avx512, [F16, F16, F16], Fixed(16), Fixed(16), Fixed(1), AVX512, FusedChain, &[(ANY, 1863)], by_tile true, staged 4),

    mmt4d!(x86_64_avx512::mmt4d_i16i16i32_1x16x2_x86_64_avx512, [I16, I16, I32], Fixed(1), Fixed(16), Fixed(2), AVX512, Exact, &[(ANY, 2113)], by_tile true),
    mmt4d!(x86_64_avx512::mmt4d_i16i16i32_2x16x2_x86_64_avx512, [I16, I16, I32], Fixed(2), Fixed(16), Fixed(2), AVX512, Exact, &[(ANY, 2683)], by_tile true),
    mmt4d!(x86_64_avx512::mmt4d_i16i16i32_4x16x2_x86_64_avx512, [I16, I16, I32], Fixed(4), Fixed(16), Fixed(2), AVX512, Exact, &[(ANY, 3048)], by_tile true),
    mmt4d!(x86_64_avx512::mmt4d_i16i16i32_8x16x2_x86_64_avx512, [I16, I16, I32], Fixed(8), Fixed(16), Fixed(2), AVX512, Exact, &[(ANY, 3065)], by_tile true),
    mmt4d!(x86_64_avx512::mmt4d_i16i16i32_16x16x2_x86_64_avx512, [I16, I16, I32], Fixed(16), Fixed(16), Fixed(2), AVX512, Exact, &[(ANY, 3107)], by_tile true),

    mmt4d!(x86_64_avx512::mmt4d_i8i8i32_1x16x2_x86_64_avx512, [I8, I8, I32], Fixed(1), Fixed(16), Fixed(2), AVX512, Exact, &[(ANY, 1418)], by_tile true, staged 2),
    mmt4d!(x86_64_avx512::mmt4d_i8i8i32_2x16x2_x86_64_avx512, [I8, I8, I32], Fixed(2), Fixed(16), Fixed(2), AVX512, Exact, &[(ANY, 1967)], by_tile true, staged 2),
    mmt4d!(x86_64_avx512::mmt4d_i8i8i32_4x16x2_x86_64_avx512, [I8, I8, I32], Fixed(4), Fixed(16), Fixed(2), AVX512, Exact, &[(ANY, 2227)], by_tile true, staged 2),
    mmt4d!(x86_64_avx512::mmt4d_i8i8i32_8x16x2_x86_64_avx512, [I8, I8, I32], Fixed(8), Fixed(16), Fixed(2), AVX512, Exact, &[(ANY, 2406)], by_tile true, staged 2),
    mmt4d!(x86_64_avx512::mmt4d_i8i8i32_16x16x2_x86_64_avx512, [I8, I8, I32], Fixed(16), Fixed(16), Fixed(2), AVX512, Exact, &[(ANY, 2426)], by_tile true, staged 2),

    mmt4d!(x86_64_avx512_vnni::mmt4d_i16i16i32_1x16x2_x86_64_avx512_vnni, [I16, I16, I32], Fixed(1), Fixed(16), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 2188)], by_tile true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i16i16i32_2x16x2_x86_64_avx512_vnni, [I16, I16, I32], Fixed(2), Fixed(16), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 3881)], by_tile true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i16i16i32_4x16x2_x86_64_avx512_vnni, [I16, I16, I32], Fixed(4), Fixed(16), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 3980)], by_tile true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i16i16i32_8x16x2_x86_64_avx512_vnni, [I16, I16, I32], Fixed(8), Fixed(16), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 4010)], by_tile true),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i16i16i32_16x16x2_x86_64_avx512_vnni, [I16, I16, I32], Fixed(16), Fixed(16), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 6069)], by_tile true),

    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i8i32_1x16x2_x86_64_avx512_vnni, [I8, I8, I32], Fixed(1), Fixed(16), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 1736)], by_tile true, staged 2),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i8i32_2x16x2_x86_64_avx512_vnni, [I8, I8, I32], Fixed(2), Fixed(16), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 2743)], by_tile true, staged 2),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i8i32_4x16x2_x86_64_avx512_vnni, [I8, I8, I32], Fixed(4), Fixed(16), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 3156)], by_tile true, staged 2),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i8i32_8x16x2_x86_64_avx512_vnni, [I8, I8, I32], Fixed(8), Fixed(16), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 3291)], by_tile true, staged 2),
    mmt4d!(x86_64_avx512_vnni::mmt4d_i8i8i32_16x16x2_x86_64_avx512_vnni, [I8, I8, I32], Fixed(16), Fixed(16), Fixed(2), AVX512_VNNI, Exact, &[(ANY, 3859)], by_tile true, staged 2),

    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16f32_1x16x2_x86_64_avx512_bf16, [Bf16, Bf16, F32], Fixed(1), Fixed(16), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1332)], by_tile true),
    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16f32_2x16x2_x86_64_avx512_bf16, [Bf16, Bf16, F32], Fixed(2), Fixed(16), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1418)], by_tile true),
    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16f32_4x16x2_x86_64_avx512_bf16, [Bf16, Bf16, F32], Fixed(4), Fixed(16), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1434)], by_tile true),
    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16f32_8x16x2_x86_64_avx512_bf16, [Bf16, Bf16, F32], Fixed(8), Fixed(16), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1436)], by_tile true),
    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16f32_16x16x2_x86_64_avx512_bf16, [Bf16, Bf16, F32], Fixed(16), Fixed(16), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1485)], by_tile true),

    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16bf16_1x16x2_x86_64_avx512_bf16, [Bf16, Bf16, Bf16], Fixed(1), Fixed(16), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1324)], by_tile true),
    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16bf16_2x16x2_x86_64_avx512_bf16, [Bf16, Bf16, Bf16], Fixed(2), Fixed(16), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1408)], by_tile true),
    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16bf16_4x16x2_x86_64_avx512_bf16, [Bf16, Bf16, Bf16], Fixed(4), Fixed(16), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1424)], by_tile true),
    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16bf16_8x16x2_x86_64_avx512_bf16, [Bf16, Bf16, Bf16], Fixed(8), Fixed(16), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1451)], by_tile true),
    mmt4d!(x86_64_avx512_bf16::mmt4d_bf16bf16bf16_16x16x2_x86_64_avx512_bf16, [Bf16, Bf16, Bf16], Fixed(16), Fixed(16), Fixed(2), AVX512_BF16, Bf16Dot, &[(ANY, 1478)], by_tile true);
}
