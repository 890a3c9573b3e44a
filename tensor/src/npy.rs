//! Tensors in .npy files.

use crate::Tensor;
use crate::value::ValueError;
use npyz::{DType, Endianness, NpyFile, Order, TypeChar, WriterBuilder};
use smalti_codegen::Elem;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};

/// Reads the next array of a stream. `wanted` says how bits that .npy has no name for are taken.
///
/// # Errors
/// What is wrong with the file.
pub fn read(path: &str, wanted: Option<Elem>) -> Result<Tensor, ValueError> {
    let wrong = |reason: String| ValueError(format!("{path}: {reason}"));
    let file = File::open(path).map_err(|e| wrong(e.to_string()))?;
    let npy = NpyFile::new(BufReader::new(file)).map_err(|e| wrong(format!("no .npy file, or cut off: {e}")))?;
    let DType::Plain(dtype) = npy.dtype() else { return Err(wrong("structured arrays are no tensors".to_owned())) };
    let elem = match (dtype.type_char(), dtype.size_field()) {
        (TypeChar::Float, 8) => Elem::F64,
        (TypeChar::Float, 4) => Elem::F32,
        (TypeChar::Float, 2) => Elem::F16,
        (TypeChar::Int, 8) => Elem::I64,
        (TypeChar::Int, 4) => Elem::I32,
        (TypeChar::Int, 2) => Elem::I16,
        (TypeChar::Int, 1) => Elem::I8,
        (TypeChar::Uint, 8) => Elem::U64,
        (TypeChar::Uint, 4) => Elem::U32,
        (TypeChar::Uint, 2) => Elem::U16,
        (TypeChar::Uint, 1) => Elem::U8,
        (TypeChar::Bool, 1) => Elem::Bool,
        _ => return Err(wrong(format!("elements of type {dtype} are not supported"))),
    };
    let swap = dtype.endianness() == Endianness::Big;
    let order = npy.order();
    let shape: Vec<usize> = npy.shape().iter().map(|&d| d as usize).collect();
    let count = shape.iter().try_fold(elem.size(), |p, &d| p.checked_mul(d)).filter(|&b| b <= isize::MAX as usize);
    let count = count.ok_or_else(|| wrong(format!("a shape of {shape:?} has too many elements")))?;
    let mut bytes = Vec::new();
    npy.into_inner().take(count as u64).read_to_end(&mut bytes).map_err(|e| wrong(e.to_string()))?;
    if bytes.len() != count {
        return Err(wrong(format!("{} bytes of data, the shape {shape:?} needs {count}", bytes.len())));
    }
    if swap {
        bytes.chunks_exact_mut(elem.size()).for_each(<[u8]>::reverse);
    }
    if order == Order::Fortran {
        bytes = row_major(&bytes, &shape, elem.size());
    }
    // bfloat16 travels as its bits.
    let elem = if elem == Elem::U16 && wanted == Some(Elem::Bf16) { Elem::Bf16 } else { elem };
    Ok(Tensor::new(elem, shape, bytes))
}

fn row_major(bytes: &[u8], shape: &[usize], size: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for i in 0..bytes.len() / size.max(1) {
        let (mut rest, mut from) = (i, 0);
        for d in (0..shape.len()).rev() {
            from += rest % shape[d] * shape[..d].iter().product::<usize>();
            rest /= shape[d];
        }
        out.extend_from_slice(&bytes[from * size..(from + 1) * size]);
    }
    out
}

/// Writes an array at the end of `file`.
///
/// # Errors
/// The file can't be written.
pub fn write(file: File, path: &str, tensor: &Tensor) -> Result<(), ValueError> {
    let name = match tensor.elem {
        Elem::F64 => "<f8",
        Elem::F32 => "<f4",
        Elem::F16 => "<f2",
        Elem::I64 => "<i8",
        Elem::I32 => "<i4",
        Elem::I16 => "<i2",
        Elem::I8 => "|i1",
        Elem::U64 => "<u8",
        Elem::U32 => "<u4",
        // bfloat16 travels as its bits.
        Elem::U16 | Elem::Bf16 => "<u2",
        Elem::U8 => "|u1",
        Elem::Bool => "|b1",
    };
    let dtype = name.parse().map_err(|e| ValueError(format!("{path}: {e}")))?;
    let shape: Vec<u64> = tensor.shape.iter().map(|&d| d as u64).collect();
    let mut out = BufWriter::new(file);
    let options = npyz::WriteOptions::new_header_only().dtype(DType::Plain(dtype)).shape(&shape);
    let result = options.writer(&mut out).write_header_only().map(drop);
    result
        .and_then(|()| out.write_all(&tensor.bytes))
        .and_then(|()| out.flush())
        .map_err(|e| ValueError(format!("{path}: {e}")))
}
