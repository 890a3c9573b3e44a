//! Accumulators on x86-64's vectors. Source: Intel SDM volume 2.

use super::dot::Output;
use core::arch::x86_64::*;

/// f64 on AVX-512.
pub(super) struct F64x8;
/// i32 on AVX-512.
pub(super) struct I32x16;
/// f16 on AVX-512: widened, and rounded once.
pub(super) struct F16x16;
/// bf16 on AVX-512: widened, and rounded once.
pub(super) struct Bf16x16;
/// f64 on AVX2.
pub(super) struct F64x4;
/// i32 on AVX2.
pub(super) struct I32x8;
/// f16 on AVX2 and F16C: widened, and rounded once.
pub(super) struct F16x8;
/// bf16 on AVX2: widened, and rounded once.
pub(super) struct Bf16x8;

/// The line of `p` into the second-level cache.
#[inline(always)]
fn prefetch(p: *const u8) {
    // SAFETY: a hint, which never faults.
    unsafe { _mm_prefetch::<_MM_HINT_T1>(p.cast()) }
}

/// The methods that are one expression each.
macro_rules! output {
    (
        $name:ident, $lanes:literal x $bytes:literal, $acc:ty, $mask:ty;
        mask($n:ident) $make:expr; zero $zero:expr;
        load($p:ident, $m:ident) $load:expr; load_all $load_all:expr;
        store($v:ident) $store:expr; store_all $store_all:expr;
        broadcast $broadcast:expr; $add:ident $min:ident $max:ident
    ) => {
        impl Output for $name {
            const LANES: usize = $lanes;
            const BYTES: usize = $bytes;
            type Acc = $acc;
            type Mask = $mask;

            #[inline(always)]
            unsafe fn mask($n: usize) -> $mask {
                $make
            }

            #[inline(always)]
            unsafe fn zero() -> $acc {
                // SAFETY: the caller's.
                unsafe { $zero }
            }

            #[inline(always)]
            unsafe fn load($p: *const u8, $m: $mask) -> $acc {
                // SAFETY: the caller's.
                unsafe { $load }
            }

            #[inline(always)]
            unsafe fn load_all($p: *const u8) -> $acc {
                // SAFETY: the caller's.
                unsafe { $load_all }
            }

            #[inline(always)]
            unsafe fn store($v: $acc, $p: *mut u8, $m: $mask) {
                // SAFETY: the caller's.
                unsafe { $store }
            }

            #[inline(always)]
            unsafe fn store_all($v: $acc, $p: *mut u8) {
                // SAFETY: the caller's.
                unsafe { $store_all }
            }

            #[inline(always)]
            unsafe fn broadcast($p: *const u8) -> $acc {
                // SAFETY: the caller's.
                unsafe { $broadcast }
            }

            #[inline(always)]
            unsafe fn add(a: $acc, b: $acc) -> $acc {
                // SAFETY: the caller's.
                unsafe { $add(a, b) }
            }

            #[inline(always)]
            unsafe fn min(a: $acc, b: $acc) -> $acc {
                // SAFETY: the caller's.
                unsafe { $min(a, b) }
            }

            #[inline(always)]
            unsafe fn max(a: $acc, b: $acc) -> $acc {
                // SAFETY: the caller's.
                unsafe { $max(a, b) }
            }

            #[inline(always)]
            unsafe fn prefetch(p: *const u8) {
                prefetch(p);
            }
        }
    };
}

/// The first `lanes` of at most sixteen bits.
#[inline(always)]
pub(super) fn bits(lanes: usize) -> u16 {
    if lanes >= 16 { !0 } else { !(!0 << lanes) }
}

output! {
    F64x8, 8 x 8, __m512d, __mmask8;
    mask(n) bits(n.min(8)) as u8; zero _mm512_setzero_pd();
    load(p, m) _mm512_maskz_loadu_pd(m, p.cast()); load_all _mm512_loadu_pd(p.cast());
    store(v) _mm512_mask_storeu_pd(p.cast(), m, v); store_all _mm512_storeu_pd(p.cast(), v);
    broadcast _mm512_set1_pd(p.cast::<f64>().read_unaligned()); _mm512_add_pd _mm512_min_pd _mm512_max_pd
}

output! {
    I32x16, 16 x 4, __m512i, __mmask16;
    mask(n) bits(n); zero _mm512_setzero_si512();
    load(p, m) _mm512_maskz_loadu_epi32(m, p.cast()); load_all _mm512_loadu_si512(p.cast());
    store(v) _mm512_mask_storeu_epi32(p.cast(), m, v); store_all _mm512_storeu_si512(p.cast(), v);
    broadcast _mm512_set1_epi32(p.cast::<i32>().read_unaligned()); _mm512_add_epi32 _mm512_min_epi32 _mm512_max_epi32
}

output! {
    F16x16, 16 x 2, __m512, __mmask16;
    mask(n) bits(n); zero _mm512_setzero_ps();
    load(p, m) _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(m, p.cast())); load_all _mm512_cvtph_ps(_mm256_loadu_si256(p.cast()));
    store(v) _mm256_mask_storeu_epi16(p.cast(), m, _mm512_cvtps_ph::<NEAREST>(v));
    store_all _mm256_storeu_si256(p.cast(), _mm512_cvtps_ph::<NEAREST>(v));
    broadcast _mm512_cvtph_ps(_mm256_set1_epi16(p.cast::<i16>().read_unaligned())); _mm512_add_ps _mm512_min_ps _mm512_max_ps
}

output! {
    Bf16x16, 16 x 2, __m512, __mmask16;
    mask(n) bits(n); zero _mm512_setzero_ps();
    load(p, m) bf16_to_f32x16(_mm256_maskz_loadu_epi16(m, p.cast())); load_all bf16_to_f32x16(_mm256_loadu_si256(p.cast()));
    store(v) _mm256_mask_storeu_epi16(p.cast(), m, f32x16_to_bf16(v));
    store_all _mm256_storeu_si256(p.cast(), f32x16_to_bf16(v));
    broadcast bf16_to_f32x16(_mm256_set1_epi16(p.cast::<i16>().read_unaligned())); _mm512_add_ps _mm512_min_ps _mm512_max_ps
}

output! {
    F64x4, 4 x 8, __m256d, usize;
    mask(n) n.min(4); zero _mm256_setzero_pd();
    load(p, m) _mm256_maskload_pd(p.cast(), window(2 * m)); load_all _mm256_loadu_pd(p.cast());
    store(v) _mm256_maskstore_pd(p.cast(), window(2 * m), v); store_all _mm256_storeu_pd(p.cast(), v);
    broadcast _mm256_set1_pd(p.cast::<f64>().read_unaligned()); _mm256_add_pd _mm256_min_pd _mm256_max_pd
}

output! {
    I32x8, 8 x 4, __m256i, usize;
    mask(n) n.min(8); zero _mm256_setzero_si256();
    load(p, m) _mm256_maskload_epi32(p.cast(), window(m)); load_all _mm256_loadu_si256(p.cast());
    store(v) _mm256_maskstore_epi32(p.cast(), window(m), v); store_all _mm256_storeu_si256(p.cast(), v);
    broadcast _mm256_set1_epi32(p.cast::<i32>().read_unaligned()); _mm256_add_epi32 _mm256_min_epi32 _mm256_max_epi32
}

output! {
    F16x8, 8 x 2, __m256, usize;
    mask(n) n.min(8); zero _mm256_setzero_ps();
    load(p, m) _mm256_cvtph_ps(part(p, 2 * m)); load_all _mm256_cvtph_ps(_mm_loadu_si128(p.cast()));
    store(v) store_part(_mm256_cvtps_ph::<NEAREST>(v), p, 2 * m); store_all _mm_storeu_si128(p.cast(), _mm256_cvtps_ph::<NEAREST>(v));
    broadcast _mm256_cvtph_ps(_mm_set1_epi16(p.cast::<i16>().read_unaligned())); _mm256_add_ps _mm256_min_ps _mm256_max_ps
}

output! {
    Bf16x8, 8 x 2, __m256, usize;
    mask(n) n.min(8); zero _mm256_setzero_ps();
    load(p, m) bf16_to_f32x8(part(p, 2 * m)); load_all bf16_to_f32x8(_mm_loadu_si128(p.cast()));
    store(v) store_part(f32x8_to_bf16(v), p, 2 * m); store_all _mm_storeu_si128(p.cast(), f32x8_to_bf16(v));
    broadcast bf16_to_f32x8(_mm_set1_epi16(p.cast::<i16>().read_unaligned())); _mm256_add_ps _mm256_min_ps _mm256_max_ps
}

const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT;

/// How many columns a mask selects.
pub(super) trait Lanes: Copy {
    /// # Safety
    /// The machine has AVX2.
    unsafe fn lanes(self) -> usize;
}

impl Lanes for usize {
    #[inline(always)]
    unsafe fn lanes(self) -> usize {
        self
    }
}

impl Lanes for __m256i {
    #[inline(always)]
    unsafe fn lanes(self) -> usize {
        // SAFETY: the caller's.
        unsafe { _mm256_movemask_ps(_mm256_castsi256_ps(self)).count_ones() as usize }
    }
}

/// The first `lanes` of eight, as VMASKMOV selects them.
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
pub(super) unsafe fn window(lanes: usize) -> __m256i {
    static LANES: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
    // SAFETY: a window of eight inside `LANES`.
    unsafe { _mm256_loadu_si256(LANES.as_ptr().add(8 - lanes.min(8)).cast()) }
}

/// The first `count` bytes, at most 16, and zeros.
///
/// # Safety
/// They are readable.
#[inline(always)]
pub(super) unsafe fn part(p: *const u8, count: usize) -> __m128i {
    let mut bytes = [0u8; 16];
    // SAFETY: the caller's; into an array of as many.
    unsafe {
        core::ptr::copy_nonoverlapping(p, bytes.as_mut_ptr(), count.min(16));
        _mm_loadu_si128(bytes.as_ptr().cast())
    }
}

/// Writes the first `count` bytes, at most 16.
///
/// # Safety
/// They are writable.
#[inline(always)]
pub(super) unsafe fn store_part(v: __m128i, p: *mut u8, count: usize) {
    let mut bytes = [0u8; 16];
    // SAFETY: the caller's; from an array of as many.
    unsafe {
        _mm_storeu_si128(bytes.as_mut_ptr().cast(), v);
        core::ptr::copy_nonoverlapping(bytes.as_ptr(), p, count.min(16));
    }
}

/// # Safety
/// The machine has AVX-512F.
#[inline(always)]
pub(super) unsafe fn bf16_to_f32x16(v: __m256i) -> __m512 {
    // SAFETY: the caller's.
    unsafe { _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(v))) }
}

/// # Safety
/// The machine has AVX2.
#[inline(always)]
pub(super) unsafe fn bf16_to_f32x8(v: __m128i) -> __m256 {
    // SAFETY: the caller's.
    unsafe { _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(v))) }
}

/// Rounds to nearest, ties to even, denormals as any other number; NaNs stay, and become quiet.
///
/// # Safety
/// The machine has AVX-512F.
#[inline(always)]
unsafe fn f32x16_to_bf16(v: __m512) -> __m256i {
    // SAFETY: the caller's.
    unsafe {
        let bits = _mm512_castps_si512(v);
        let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
        let rounded = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
        let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(v, v);
        let quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x0040_0000));
        let bits = _mm512_mask_mov_epi32(rounded, nan, quiet);
        _mm512_cvtepi32_epi16(_mm512_srli_epi32::<16>(bits))
    }
}

/// As [`f32x16_to_bf16`].
///
/// # Safety
/// The machine has AVX2.
#[inline(always)]
unsafe fn f32x8_to_bf16(v: __m256) -> __m128i {
    // SAFETY: the caller's.
    unsafe {
        let bits = _mm256_castps_si256(v);
        let odd = _mm256_and_si256(_mm256_srli_epi32::<16>(bits), _mm256_set1_epi32(1));
        let rounded = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
        let nan = _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(v, v));
        let quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x0040_0000));
        let bits = _mm256_srli_epi32::<16>(_mm256_blendv_epi8(rounded, quiet, nan));
        let packed = _mm256_packus_epi32(bits, bits);
        _mm256_castsi256_si128(_mm256_permute4x64_epi64::<0b1000>(packed))
    }
}

/// # Safety
/// The machine has AVX2.
#[inline(always)]
pub(super) unsafe fn widened_bytes<const SIGNED: bool>(v: __m128i) -> __m256i {
    // SAFETY: the caller's.
    unsafe { if SIGNED { _mm256_cvtepi8_epi16(v) } else { _mm256_cvtepu8_epi16(v) } }
}

/// Widens bytes to i16.
///
/// # Safety
/// `count` elements are readable and writable; the machine has what `enable` names.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn widen_bytes<const SIGNED: bool>(from: *const u8, to: *mut u8, count: usize) {
    let mut at = 0;
    // SAFETY: the caller's.
    unsafe {
        while at + 16 <= count {
            let v = _mm_loadu_si128(from.add(at).cast());
            _mm256_storeu_si256(to.add(2 * at).cast(), widened_bytes::<SIGNED>(v));
            at += 16;
        }
        while at < count {
            let x = from.add(at).read();
            let wide = if SIGNED { i16::from(x as i8) } else { i16::from(x) };
            to.cast::<i16>().add(at).write_unaligned(wide);
            at += 1;
        }
    }
}

/// What the sum of a left row's bytes is taken times where VPDPBUSD multiplies bytes, `LHS` and `RHS` where they are signed.
/// Operands of one kind are no unsigned and signed one: the right one's sign bit is flipped, and plays the other part.
pub(super) const fn flipped_by(lhs: bool, rhs: bool) -> i32 {
    match (lhs, rhs) {
        (true, true) => -128,
        (false, false) => 128,
        _ => 0,
    }
}
