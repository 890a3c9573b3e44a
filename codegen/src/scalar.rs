//! The arithmetic of single operations, on bits: the definition that back ends reproduce.

use crate::nest::{BinOp, CmpOp, UnOp};
use crate::{Elem, Elem::*};

pub(crate) fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

pub(crate) fn f64_of(bits: u64) -> f64 {
    f64::from_bits(bits)
}

fn bits32(x: f32) -> u64 {
    x.to_bits().into()
}

/// Bits of an integer type, sign- or zero-extended to 128.
pub(crate) fn int(ty: Elem, bits: u64) -> i128 {
    match ty {
        I64 => i128::from(bits as i64),
        I32 => i128::from(bits as i32),
        I16 => i128::from(bits as i16),
        I8 => i128::from(bits as i8),
        U64 => i128::from(bits),
        U32 => i128::from(bits as u32),
        U16 => i128::from(bits as u16),
        _ => i128::from(bits as u8),
    }
}

/// The low bits of `value`, as a type of `ty`'s size holds them.
pub(crate) fn wrap(ty: Elem, value: i128) -> u64 {
    match ty.size() {
        8 => value as u64,
        4 => u64::from(value as u32),
        2 => u64::from(value as u16),
        _ => u64::from(value as u8),
    }
}

/// The least and the greatest value.
pub(crate) fn extremes(ty: Elem) -> [u64; 2] {
    match ty {
        F64 => [f64::NEG_INFINITY.to_bits(), f64::INFINITY.to_bits()],
        F32 | F16 | Bf16 => [bits32(f32::NEG_INFINITY), bits32(f32::INFINITY)],
        Bool => [0, 1],
        _ => int_range(ty).map(|v| wrap(ty, v)),
    }
}

fn int_range(ty: Elem) -> [i128; 2] {
    let bits = ty.size() as u32 * 8;
    if ty.is_signed() { [-(1 << (bits - 1)), (1 << (bits - 1)) - 1] } else { [0, (1 << bits) - 1] }
}

pub(crate) fn unary(op: UnOp, ty: Elem, a: u64) -> u64 {
    match ty {
        F32 => {
            let x = f32_of(a);
            match op {
                UnOp::Neg => a ^ 0x8000_0000,
                UnOp::Abs => a & 0x7fff_ffff,
                UnOp::Not => a,
                UnOp::Sqrt => bits32(libm::sqrtf(x)),
                UnOp::Floor => bits32(libm::floorf(x)),
                UnOp::Ceil => bits32(libm::ceilf(x)),
                UnOp::Trunc => bits32(libm::truncf(x)),
                UnOp::Nearest => bits32(libm::rintf(x)),
            }
        }
        F64 => {
            let x = f64_of(a);
            match op {
                UnOp::Neg => a ^ 1 << 63,
                UnOp::Abs => a & !(1 << 63),
                UnOp::Not => a,
                UnOp::Sqrt => libm::sqrt(x).to_bits(),
                UnOp::Floor => libm::floor(x).to_bits(),
                UnOp::Ceil => libm::ceil(x).to_bits(),
                UnOp::Trunc => libm::trunc(x).to_bits(),
                UnOp::Nearest => libm::rint(x).to_bits(),
            }
        }
        Bool => u64::from(a == 0),
        _ => {
            let x = int(ty, a);
            let value = match op {
                UnOp::Neg => -x,
                UnOp::Abs => x.abs(),
                UnOp::Not => !x,
                _ => x,
            };
            wrap(ty, value)
        }
    }
}

pub(crate) fn binary(op: BinOp, ty: Elem, a: u64, b: u64) -> u64 {
    match ty {
        F32 => {
            let (x, y) = (f32_of(a), f32_of(b));
            match op {
                BinOp::Add => bits32(x + y),
                BinOp::Sub => bits32(x - y),
                BinOp::Mul => bits32(x * y),
                BinOp::Div => bits32(x / y),
                BinOp::Min | BinOp::Max if x.is_nan() || y.is_nan() => bits32(f32::NAN),
                BinOp::Min => {
                    if x < y {
                        a
                    } else if y < x {
                        b
                    } else {
                        a | b
                    }
                }
                BinOp::Max => {
                    if x > y {
                        a
                    } else if y > x {
                        b
                    } else {
                        a & b
                    }
                }
                _ => 0,
            }
        }
        F64 => {
            let (x, y) = (f64_of(a), f64_of(b));
            match op {
                BinOp::Add => (x + y).to_bits(),
                BinOp::Sub => (x - y).to_bits(),
                BinOp::Mul => (x * y).to_bits(),
                BinOp::Div => (x / y).to_bits(),
                BinOp::Min | BinOp::Max if x.is_nan() || y.is_nan() => f64::NAN.to_bits(),
                BinOp::Min => {
                    if x < y {
                        a
                    } else if y < x {
                        b
                    } else {
                        a | b
                    }
                }
                BinOp::Max => {
                    if x > y {
                        a
                    } else if y > x {
                        b
                    } else {
                        a & b
                    }
                }
                _ => 0,
            }
        }
        Bool => match op {
            BinOp::And | BinOp::Min | BinOp::Mul => a & b,
            BinOp::Or | BinOp::Max | BinOp::Add => a | b,
            _ => a ^ b,
        },
        _ => {
            let (x, y) = (int(ty, a), int(ty, b));
            let bits = ty.size() as i128 * 8;
            let value = match op {
                BinOp::Add => x + y,
                BinOp::Sub => x - y,
                BinOp::Mul => x.wrapping_mul(y),
                BinOp::Div => x.checked_div(y).unwrap_or(0),
                BinOp::Rem => x.checked_rem(y).unwrap_or(0),
                BinOp::Min => x.min(y),
                BinOp::Max => x.max(y),
                BinOp::And => x & y,
                BinOp::Or => x | y,
                BinOp::Xor => x ^ y,
                BinOp::Shl => {
                    if (0..bits).contains(&y) {
                        x << y
                    } else {
                        0
                    }
                }
                BinOp::Shr => {
                    if (0..bits).contains(&y) {
                        x >> y
                    } else {
                        x >> 64
                    }
                }
            };
            wrap(ty, value)
        }
    }
}

pub(crate) fn fma(ty: Elem, a: u64, b: u64, c: u64) -> u64 {
    if ty == F64 {
        libm::fma(f64_of(a), f64_of(b), f64_of(c)).to_bits()
    } else {
        bits32(libm::fmaf(f32_of(a), f32_of(b), f32_of(c)))
    }
}

pub(crate) fn compare(op: CmpOp, ty: Elem, a: u64, b: u64) -> u64 {
    use core::cmp::Ordering;
    let order = match ty {
        F32 => f32_of(a).partial_cmp(&f32_of(b)),
        F64 => f64_of(a).partial_cmp(&f64_of(b)),
        _ => Some(int(ty, a).cmp(&int(ty, b))),
    };
    let truth = match op {
        CmpOp::Eq => order == Some(Ordering::Equal),
        CmpOp::Ne => order != Some(Ordering::Equal),
        CmpOp::Lt => order == Some(Ordering::Less),
        CmpOp::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        CmpOp::Gt => order == Some(Ordering::Greater),
        CmpOp::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    };
    truth.into()
}

pub(crate) fn cast(from: Elem, to: Elem, a: u64) -> u64 {
    let float = |x: f64, narrow: u64| match to {
        F64 => x.to_bits(),
        Bool => u64::from(x != 0.0),
        _ if to.is_float() => narrow,
        // Saturates, and takes NaN to 0, as Rust's own conversion does.
        _ if to.is_signed() => {
            let [low, high] = int_range(to);
            wrap(to, i128::from(x as i64).clamp(low, high))
        }
        _ => wrap(to, i128::from(x as u64).min(int_range(to)[1])),
    };
    match from {
        F32 => float(f32_of(a).into(), a),
        F64 => float(f64_of(a), bits32(f64_of(a) as f32)),
        _ => {
            let x = if from == Bool { i128::from(a != 0) } else { int(from, a) };
            match to {
                // Straight from 64 bits, so that there is one rounding.
                F32 if from == U64 => bits32(x as u64 as f32),
                F32 => bits32(x as i64 as f32),
                F64 if from == U64 => (x as u64 as f64).to_bits(),
                F64 => (x as i64 as f64).to_bits(),
                Bool => u64::from(x != 0),
                _ => wrap(to, x),
            }
        }
    }
}

/// Rounds an f32 to a narrower type, and keeps it as f32.
pub(crate) fn round(to: Elem, a: u64) -> u64 {
    match to {
        F16 => bits32(half::f16::from_f32(f32_of(a)).to_f32()),
        Bf16 => bits32(half::bf16::from_f32(f32_of(a)).to_f32()),
        _ => a,
    }
}

/// Reads an element from memory, widened.
pub(crate) fn load(elem: Elem, bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(word);
    match elem {
        F16 => bits32(half::f16::from_bits(bits as u16).to_f32()),
        Bf16 => bits32(half::bf16::from_bits(bits as u16).to_f32()),
        Bool => u64::from(bits != 0),
        _ => bits,
    }
}

/// Writes a widened value to memory.
pub(crate) fn store(elem: Elem, value: u64, bytes: &mut [u8]) {
    let bits = match elem {
        F16 => u64::from(half::f16::from_f32(f32_of(value)).to_bits()),
        Bf16 => u64::from(half::bf16::from_f32(f32_of(value)).to_bits()),
        _ => value,
    };
    bytes.copy_from_slice(&bits.to_le_bytes()[..elem.size()]);
}
