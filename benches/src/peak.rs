//! Loops of independent instructions: the machine's limits, in the same run as what is measured against them.

use smalti_ukernels::Host;
use smalti_ukernels::table::Row;
use std::hint::black_box;

/// Instructions of a round, each with a chain of its own where there are registers: more than one takes cycles, times those
/// of a cycle.
const CHAINS: usize = 12;

/// One instruction's loop.
#[derive(Clone, Copy)]
pub struct Peak {
    /// The instruction, and the bits of its vectors.
    pub name: &'static str,
    /// Multiply-adds of an instruction.
    macs: u64,
    run: fn(usize),
}

impl Peak {
    /// The loop of the instruction that does a row's products.
    pub fn of(row: &Row, host: &Host) -> Peak {
        #[cfg(target_arch = "aarch64")]
        use aarch64::of;
        #[cfg(target_arch = "riscv64")]
        use riscv64::of;
        #[cfg(target_arch = "x86_64")]
        use x86_64::of;
        of(row, host).unwrap_or(Peak { name: "mul, add: compiled", macs: 1, run: scalar })
    }

    /// Multiply-adds of one instruction.
    pub fn macs_of_one(&self) -> u64 {
        self.macs
    }

    /// Multiply-adds of so many rounds.
    pub fn macs(&self, rounds: usize) -> u64 {
        (rounds * CHAINS) as u64 * self.macs
    }

    /// Runs the loop.
    pub fn run(&self, rounds: usize) {
        (self.run)(rounds);
    }
}

fn scalar(rounds: usize) {
    let mut acc = [black_box(1.0f32); CHAINS];
    for _ in 0..rounds {
        acc = acc.map(|a| a * 0.999 + 0.001);
    }
    black_box(acc);
}

/// So many cycles: a chain of additions that depend on each other, one a cycle.
pub fn cycles(count: usize) {
    let mut x = black_box(1u64);
    for _ in 0..count / 16 {
        // SAFETY: additions in a register.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::asm!(".rept 16", "add {0}, {0}", ".endr", inout(reg) x, options(pure, nomem, nostack));
        }
        // SAFETY: additions in a register.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            std::arch::asm!(".rept 16", "add {0}, {0}, {0}", ".endr", inout(reg) x, options(pure, nomem, nostack));
        }
        // SAFETY: additions in a register.
        #[cfg(target_arch = "riscv64")]
        unsafe {
            std::arch::asm!(".rept 16", "add {0}, {0}, {0}", ".endr", inout(reg) x, options(pure, nomem, nostack));
        }
    }
    black_box(x);
}

/// The ways, compiled for a machine that has these features.
macro_rules! reads {
    ($($features:literal)?) => {
        vec![
            reads!(@ "read: plain", plain, $($features)?),
            reads!(@ "read: four streams", streams, $($features)?),
            reads!(@ "read: prefetch 2 KiB ahead", ahead::<2>, $($features)?),
            reads!(@ "read: prefetch 4 KiB ahead", ahead::<4>, $($features)?),
            reads!(@ "read: prefetch 16 KiB ahead", ahead::<16>, $($features)?),
        ]
    };
    (@ $name:literal, $way:expr, ) => { Read { name: $name, run: |memory| $way(memory) } };
    (@ $name:literal, $way:expr, $features:literal) => {{
        #[target_feature(enable = $features)]
        fn wide(memory: &[u8]) {
            $way(memory);
        }
        Read {
            name: $name,
            // SAFETY: the machine was asked for the features.
            run: |memory| unsafe { wide(memory) },
        }
    }};
}
/// A way to read memory from one end to the other.
#[derive(Clone, Copy)]
pub struct Read {
    /// What it does.
    pub name: &'static str,
    run: fn(&[u8]),
}

impl Read {
    /// The ways of this machine, with its widest vectors.
    pub fn all(host: &Host) -> Vec<Read> {
        #[cfg(target_arch = "x86_64")]
        {
            use smalti_isa::Level::{Avx2Fma, Avx512};
            let features = host.target().features;
            if features.contains(Avx512.features()) {
                return reads!("avx512f,avx512bw");
            } else if features.contains(Avx2Fma.features()) {
                return reads!("avx2");
            }
        }
        let _ = host;
        reads!()
    }

    /// Reads whole lines.
    pub fn run(&self, memory: &[u8]) {
        (self.run)(memory);
    }
}

const LINE: usize = 64;

/// Bytes of lines come together by a bit operation, so that vectors of any width do.
#[inline(always)]
fn add(sum: &mut [u8; LINE], line: &[u8; LINE]) {
    sum.iter_mut().zip(line).for_each(|(sum, byte)| *sum ^= byte);
}

#[inline(always)]
fn plain(memory: &[u8]) {
    let mut sum = [0; LINE];
    memory.as_chunks().0.iter().for_each(|line| add(&mut sum, line));
    black_box(sum);
}

#[inline(always)]
fn streams(memory: &[u8]) {
    let mut sums = [[0; LINE]; 4];
    let lines = memory.as_chunks().0;
    let quarter = lines.len() / 4;
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| &lines[i * quarter..(i + 1) * quarter]);
    for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
        let [sa, sb, sc, sd] = &mut sums;
        add(sa, a);
        add(sb, b);
        add(sc, c);
        add(sd, d);
    }
    black_box(sums);
}

#[inline(always)]
fn ahead<const KIB: usize>(memory: &[u8]) {
    let mut sum = [0; LINE];
    for line in memory.as_chunks().0 {
        prefetch(line.as_ptr().wrapping_add(KIB << 10));
        add(&mut sum, line);
    }
    black_box(sum);
}

/// Asks for a line in the second-level cache, where there is an instruction for it.
#[inline(always)]
fn prefetch(p: *const u8) {
    // SAFETY: a hint, which never faults.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T1 }>(p.cast());
    }
    // SAFETY: a hint, which never faults.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("prfm pldl2keep, [{0}]", in(reg) p, options(nostack, readonly, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = p;
}

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use super::Peak;
    use smalti_ukernels::Host;
    use smalti_ukernels::table::Row;
    use std::arch::asm;

    /// Every machine has Advanced SIMD, so that all rows are measured against it.
    pub(super) fn of(_: &Row, _: &Host) -> Option<Peak> {
        Some(Peak { name: "fmla 4s", macs: 4, run: fmla })
    }

    fn fmla(rounds: usize) {
        // SAFETY: arithmetic in registers that are named.
        unsafe {
            asm!(
                "movi v30.4s, #0",
                "movi v31.4s, #0",
                "cbz {n}, 3f",
                "2:",
                ".irp r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11",
                "fmla v\\r\\().4s, v30.4s, v31.s[0]",
                ".endr",
                "subs {n}, {n}, #1",
                "b.ne 2b",
                "3:",
                n = inout(reg) rounds => _,
                out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _, out("v6") _, out("v7") _,
                out("v8") _, out("v9") _, out("v10") _, out("v11") _, out("v30") _, out("v31") _,
                options(nomem, nostack),
            );
        }
    }
}

#[cfg(target_arch = "riscv64")]
mod riscv64 {
    use super::Peak;
    use smalti_isa::Level::V;
    use smalti_ukernels::Host;
    use smalti_ukernels::table::Row;
    use std::arch::asm;

    /// Where there are vectors, all rows are measured against them.
    pub(super) fn of(_: &Row, host: &Host) -> Option<Peak> {
        let target = host.target();
        let vlen = target.vlen.filter(|_| target.features.contains(V.features()))?;
        Some(Peak { name: "vfmacc.vf e32 m4", macs: u64::from(vlen) / 32 * 4, run: vfmacc })
    }

    fn vfmacc(rounds: usize) {
        // SAFETY: the machine has V; arithmetic in registers that are named.
        unsafe {
            asm!(
                ".option push",
                ".option arch, +v",
                "vsetvli {vl}, zero, e32, m4, ta, ma",
                "vmv.v.i v24, 0",
                "fmv.w.x {zero}, zero",
                "beqz {n}, 3f",
                "2:",
                // Six groups of registers, twice: twelve instructions a round.
                ".rept 2",
                ".irp r, 0, 4, 8, 12, 16, 20",
                "vfmacc.vf v\\r, {zero}, v24",
                ".endr",
                ".endr",
                "addi {n}, {n}, -1",
                "bnez {n}, 2b",
                "3:",
                ".option pop",
                n = inout(reg) rounds => _,
                vl = out(reg) _,
                zero = out(freg) _,
                out("v0") _, out("v1") _, out("v2") _, out("v3") _, out("v4") _, out("v5") _, out("v6") _, out("v7") _,
                out("v8") _, out("v9") _, out("v10") _, out("v11") _, out("v12") _, out("v13") _, out("v14") _, out("v15") _,
                out("v16") _, out("v17") _, out("v18") _, out("v19") _, out("v20") _, out("v21") _, out("v22") _, out("v23") _,
                out("v24") _, out("v25") _, out("v26") _, out("v27") _,
                options(nomem, nostack),
            );
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::{CHAINS, Peak, black_box};
    use smalti_isa::Level::{Avx2Fma, Avx512, Avx512Bf16, Avx512Vnni, AvxVnni};
    use smalti_ukernels::Host;
    use smalti_ukernels::elem::ElemType::{F64, I4, I32};
    use smalti_ukernels::name::{Dim, Place};
    use smalti_ukernels::table::{Numerics, Row};
    use std::arch::x86_64::*;
    use std::mem::transmute;

    /// Rows for no instruction set in particular are measured against the best that the machine has for f32.
    pub(super) fn of(row: &Row, host: &Host) -> Option<Peak> {
        let wide = host.target().features.contains(Avx512.features());
        let narrow = host.target().features.contains(Avx2Fma.features());
        let level = match row.place {
            Place::Isa(level, _) => level,
            _ if wide => Avx512,
            _ if narrow => Avx2Fma,
            _ => return None,
        };
        let [lhs, rhs, out] = row.types.list;
        // Products of integers are summed as such.
        let sums = if lhs.is_float() { out } else { I32 };
        let bytes = lhs.bits() == 8 && row.tile[2] != Dim::Fixed(2);
        Some(match (sums, level) {
            (I32, Avx512Vnni) if bytes => Peak { name: "vpdpbusd zmm", macs: 64, run: run!(vpdpbusd_zmm) },
            (I32, AvxVnni) if bytes => Peak { name: "vpdpbusd ymm", macs: 32, run: run!(vpdpbusd_ymm) },
            (I32, Avx512Vnni) => Peak { name: "vpdpwssd zmm", macs: 32, run: run!(vpdpwssd_zmm) },
            (I32, AvxVnni) => Peak { name: "vpdpwssd ymm", macs: 16, run: run!(vpdpwssd_ymm) },
            (I32, Avx512) if rhs == I4 => Peak { name: "vpmaddubsw zmm", macs: 64, run: run!(vpmaddubsw_zmm) },
            (I32, _) if rhs == I4 => Peak { name: "vpmaddubsw ymm", macs: 32, run: run!(vpmaddubsw_ymm) },
            (I32, Avx512) => Peak { name: "vpmaddwd zmm", macs: 32, run: run!(vpmaddwd_zmm) },
            (I32, _) => Peak { name: "vpmaddwd ymm", macs: 16, run: run!(vpmaddwd_ymm) },
            (_, Avx512Bf16) if row.numerics == Numerics::Bf16Dot => {
                Peak { name: "vdpbf16ps zmm", macs: 32, run: run!(vdpbf16ps_zmm) }
            }
            (F64, Avx512) => Peak { name: "vfmadd231pd zmm", macs: 8, run: run!(vfmadd231pd_zmm) },
            (F64, _) => Peak { name: "vfmadd231pd ymm", macs: 4, run: run!(vfmadd231pd_ymm) },
            (_, Avx512 | Avx512Vnni | Avx512Bf16) => {
                Peak { name: "vfmadd231ps zmm", macs: 16, run: run!(vfmadd231ps_zmm) }
            }
            _ => Peak { name: "vfmadd231ps ymm", macs: 8, run: run!(vfmadd231ps_ymm) },
        })
    }

    /// A loop as a plain function.
    macro_rules! run {
        ($name:ident) => {
            |rounds| {
                // SAFETY: the row that is measured needs the loop's instructions, or the machine was asked for them.
                unsafe { $name(rounds) }
            }
        };
    }
    use run;

    macro_rules! loops {
        ($($name:ident, $features:literal, $start:expr, $x:ident, $with:expr, $acc:ident => $step:expr;)*) => {$(
            #[target_feature(enable = $features)]
            fn $name(rounds: usize) {
                let mut chains = [$start; CHAINS];
                let $x = black_box($with);
                for _ in 0..rounds / 2 {
                    // Written out: a loop over the chains would keep them in memory.
                    each!(chains, $acc => $step, 0 1 2 3 4 5 6 7 8 9 10 11);
                    each!(chains, $acc => $step, 0 1 2 3 4 5 6 7 8 9 10 11);
                }
                black_box(chains);
            }
        )*};
    }

    macro_rules! each {
        ($chains:ident, $acc:ident => $step:expr, $($i:literal)*) => {$(
            let $acc = $chains[$i];
            $chains[$i] = $step;
        )*};
    }

    loops! {
        vfmadd231ps_zmm, "avx512f", _mm512_set1_ps(1.0), x, _mm512_set1_ps(0.5), a => _mm512_fmadd_ps(a, x, x);
        vfmadd231ps_ymm, "avx2,fma", _mm256_set1_ps(1.0), x, _mm256_set1_ps(0.5), a => _mm256_fmadd_ps(a, x, x);
        vfmadd231pd_zmm, "avx512f", _mm512_set1_pd(1.0), x, _mm512_set1_pd(0.5), a => _mm512_fmadd_pd(a, x, x);
        vfmadd231pd_ymm, "avx2,fma", _mm256_set1_pd(1.0), x, _mm256_set1_pd(0.5), a => _mm256_fmadd_pd(a, x, x);
        vpmaddwd_zmm, "avx512bw", _mm512_set1_epi16(3), x, _mm512_set1_epi16(5), a => _mm512_madd_epi16(a, x);
        vpmaddwd_ymm, "avx2", _mm256_set1_epi16(3), x, _mm256_set1_epi16(5), a => _mm256_madd_epi16(a, x);
        vpmaddubsw_zmm, "avx512bw", _mm512_set1_epi8(3), x, _mm512_set1_epi8(5), a => _mm512_maddubs_epi16(a, x);
        vpmaddubsw_ymm, "avx2", _mm256_set1_epi8(3), x, _mm256_set1_epi8(5), a => _mm256_maddubs_epi16(a, x);
        vpdpwssd_zmm, "avx512vnni", _mm512_set1_epi16(3), x, _mm512_set1_epi16(5), a => _mm512_dpwssd_epi32(a, x, x);
        vpdpwssd_ymm, "avxvnni", _mm256_set1_epi16(3), x, _mm256_set1_epi16(5), a => _mm256_dpwssd_avx_epi32(a, x, x);
        vpdpbusd_zmm, "avx512vnni", _mm512_set1_epi8(3), x, _mm512_set1_epi8(5), a => _mm512_dpbusd_epi32(a, x, x);
        vpdpbusd_ymm, "avxvnni", _mm256_set1_epi8(3), x, _mm256_set1_epi8(5), a => _mm256_dpbusd_avx_epi32(a, x, x);
        vdpbf16ps_zmm, "avx512f,avx512bf16", _mm512_set1_ps(1.0), x, _mm512_set1_epi16(0x3f00), a => {
            // SAFETY: both are 64 bytes of bf16.
            let x = unsafe { transmute::<__m512i, __m512bh>(x) };
            _mm512_dpbf16_ps(a, x, x)
        };
    }
}
