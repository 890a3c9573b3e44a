//! Files with mistakes that know nothing of their format.

use arbitrary::{Result, Unstructured};
use std::ops::Range;

/// Numbers at which sizes and counters turn.
const EDGES: [i64; 28] = [
    -1,
    0,
    1,
    63,
    64,
    65,
    127,
    128,
    255,
    256,
    1 << 12,
    32_767,
    1 << 16,
    1_000_000,
    (1 << 24) + 1,
    1 << 30,
    i32::MAX as i64,
    1 << 31,
    i32::MIN as i64,
    u32::MAX as i64,
    1 << 32,
    1 << 40,
    1 << 47,
    1 << 53,
    1 << 62,
    i64::MAX - 1,
    i64::MAX,
    i64::MIN,
];

/// A number: a small one, an edge, or any.
///
/// # Errors
/// Too few bytes.
pub fn number(u: &mut Unstructured<'_>) -> Result<i64> {
    Ok(match u.int_in_range(0..=7u8)? {
        0..=2 => u.int_in_range(-4..=9)?,
        3 => u.int_in_range(-70..=3000)?,
        4..=6 => *u.choose(&EDGES)?,
        _ => u.arbitrary()?,
    })
}

/// Changes one to four places of `bytes`; `donor` is another file of the format.
///
/// # Errors
/// Too few bytes in `u`.
pub fn mutate(u: &mut Unstructured<'_>, bytes: &mut Vec<u8>, donor: &[u8]) -> Result<()> {
    for _ in 0..u.int_in_range(1..=4)? {
        let part = range(u, bytes.len())?;
        let at = part.start;
        match u.int_in_range(0..=8u8)? {
            0 => {
                let bit = u.int_in_range(0..=7)?;
                bytes.iter_mut().skip(at).take(1).for_each(|b| *b ^= 1 << bit);
            }
            1 => {
                let value = *u.choose(&[0, 1, 0x7f, 0x80, 0xff])?;
                bytes.iter_mut().skip(at).take(1).for_each(|b| *b = value);
            }
            2 => bytes.truncate(at),
            3 => drop(bytes.drain(part)),
            4 => {
                let copy = bytes[part].to_vec();
                let times = u.int_in_range(1..=20)?;
                bytes.splice(at..at, copy.repeat(times));
            }
            5 => {
                let from = range(u, donor.len())?;
                bytes.splice(part, donor[from].iter().copied());
            }
            6 => {
                let count = u.int_in_range(1..=16)?;
                let noise = u.bytes(count)?.to_vec();
                bytes.splice(at..at, noise);
            }
            // A length or a counter of Protocol Buffers.
            7 => {
                let end = (at..bytes.len()).find(|&i| bytes[i] < 0x80).map_or(at, |i| i + 1);
                let value = number(u)?;
                bytes.splice(at..end, varint(value as u64));
            }
            _ => {
                let value = number(u)?;
                bytes.iter_mut().skip(at).zip(value.to_le_bytes()).for_each(|(b, v)| *b = v);
            }
        }
    }
    Ok(())
}

/// A part of a file: anywhere, or near an end, where formats keep their headers.
fn range(u: &mut Unstructured<'_>, len: usize) -> Result<Range<usize>> {
    let at = u.int_in_range(0..=len)?;
    let at = match u.int_in_range(0..=3u8)? {
        0 => at % 1024,
        1 => len - at % 1024.min(len + 1),
        _ => at,
    };
    let long = if u.ratio(1, 8)? { len } else { 64 };
    let end = at.saturating_add(u.int_in_range(0..=long)?);
    Ok(at.min(len)..end.min(len))
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}
