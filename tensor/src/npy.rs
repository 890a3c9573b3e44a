//! Tensors in .npy files.

use crate::Tensor;
use crate::value::ValueError;
use smalti_codegen::Elem;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};

const MAGIC: &[u8] = b"\x93NUMPY";
/// What .npy calls an element type. bfloat16, which it has no name for, travels as its bits.
const NAMES: &[(Elem, &str)] = &[
    (Elem::F64, "f8"),
    (Elem::F32, "f4"),
    (Elem::F16, "f2"),
    (Elem::I64, "i8"),
    (Elem::I32, "i4"),
    (Elem::I16, "i2"),
    (Elem::I8, "i1"),
    (Elem::U64, "u8"),
    (Elem::U32, "u4"),
    (Elem::U16, "u2"),
    (Elem::Bf16, "u2"),
    (Elem::U8, "u1"),
    (Elem::Bool, "b1"),
];

/// Reads the next array of a stream. `wanted` says how bits that .npy has no name for are taken.
///
/// # Errors
/// What is wrong with the file.
pub fn read(path: &str, wanted: Option<Elem>) -> Result<Tensor, ValueError> {
    let wrong = |reason: String| ValueError(format!("{path}: {reason}"));
    let file = File::open(path).map_err(|e| wrong(e.to_string()))?;
    let mut file = BufReader::new(file);
    let header = header(&mut file).map_err(|e| wrong(format!("no .npy file, or cut off: {e}")))?;
    let Header { descr, fortran, shape } = parse(&header).map_err(wrong)?;
    let named = |name: &str| NAMES.iter().find(|n| n.1 == name).map(|n| n.0);
    let elem = descr.strip_prefix(['<', '>', '|']).and_then(named);
    let elem = elem.ok_or_else(|| wrong(format!("elements of type {descr} are not supported")))?;
    let swap = descr.starts_with('>');
    let count = shape.iter().try_fold(elem.size(), |p, &d| p.checked_mul(d)).filter(|&b| b <= isize::MAX as usize);
    let count = count.ok_or_else(|| wrong(format!("a shape of {shape:?} has too many elements")))?;
    let mut bytes = Vec::new();
    file.take(count as u64).read_to_end(&mut bytes).map_err(|e| wrong(e.to_string()))?;
    if bytes.len() != count {
        return Err(wrong(format!("{} bytes of data, the shape {shape:?} needs {count}", bytes.len())));
    }
    if swap {
        bytes.chunks_exact_mut(elem.size()).for_each(<[u8]>::reverse);
    }
    if fortran {
        bytes = row_major(&bytes, &shape, elem.size());
    }
    // bfloat16 travels as its bits.
    let elem = if elem == Elem::U16 && wanted == Some(Elem::Bf16) { Elem::Bf16 } else { elem };
    Ok(Tensor::new(elem, shape, bytes))
}

/// The text before the elements: a length of two bytes in version 1 of the format, of four in later ones.
fn header(file: &mut impl Read) -> Result<String, String> {
    let mut bytes = |count: u32| {
        let mut bytes = Vec::new();
        file.by_ref().take(count.into()).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
        let short = bytes.len() < count as usize;
        if short { Err(format!("{} of {count} bytes are there", bytes.len())) } else { Ok(bytes) }
    };
    let start = bytes(8)?;
    if !start.starts_with(MAGIC) {
        return Err("it does not begin as one".to_owned());
    }
    let length = bytes(if start[6] == 1 { 2 } else { 4 })?;
    let length = length.iter().rev().fold(0, |n, b| n << 8 | u32::from(*b));
    String::from_utf8(bytes(length)?).map_err(|e| e.to_string())
}

#[derive(Debug, PartialEq)]
struct Header<'a> {
    descr: &'a str,
    /// The first dim is the inner one.
    fortran: bool,
    shape: Vec<usize>,
}

/// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`, whose keys may have any order.
fn parse(text: &str) -> Result<Header<'_>, String> {
    let field = |key: &str| {
        let value = text.split_once(&format!("'{key}'")).and_then(|t| t.1.trim_start().strip_prefix(':'));
        value.map(str::trim_start).ok_or_else(|| format!("the header has no '{key}': {}", text.trim_end()))
    };
    let unknown = |key: &str, value: &str| format!("the header's '{key}' is not understood: {value}");
    let descr = field("descr")?;
    if descr.starts_with('[') {
        return Err("structured arrays are no tensors".to_owned());
    }
    let descr = descr.strip_prefix('\'').and_then(|d| d.split_once('\'')).ok_or_else(|| unknown("descr", descr))?.0;
    let order = field("fortran_order")?;
    let fortran = match (order.starts_with("True"), order.starts_with("False")) {
        (false, false) => return Err(unknown("fortran_order", order)),
        (fortran, _) => fortran,
    };
    let dims = field("shape")?;
    let inner = dims.strip_prefix('(').and_then(|d| d.split_once(')')).ok_or_else(|| unknown("shape", dims))?.0;
    let inner = inner.trim().trim_end_matches(',');
    let shape = inner.split(',').filter(|_| !inner.is_empty()).map(|d| d.trim().parse());
    let shape = shape.collect::<Result<_, _>>().map_err(|_| unknown("shape", dims))?;
    Ok(Header { descr, fortran, shape })
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
    let name = NAMES.iter().find(|n| n.0 == tensor.elem).map_or("", |n| n.1);
    let order = if tensor.elem.size() == 1 { '|' } else { '<' };
    let dims: String = tensor.shape.iter().map(|d| format!("{d}, ")).collect();
    let mut text = format!("{{'descr': '{order}{name}', 'fortran_order': False, 'shape': ({}), }}", dims.trim_end());
    // The elements begin at a multiple of 64; the header ends its line.
    let begin = MAGIC.len() + 4;
    text += &" ".repeat((begin + text.len() + 1).next_multiple_of(64) - (begin + text.len() + 1));
    text.push('\n');
    let length = u16::try_from(text.len()).map_err(|_| ValueError(format!("{path}: too many dims for a .npy file")))?;
    let mut out = BufWriter::new(file);
    [MAGIC, &[1, 0], &length.to_le_bytes(), text.as_bytes(), &tensor.bytes]
        .iter()
        .try_for_each(|part| out.write_all(part))
        .and_then(|()| out.flush())
        .map_err(|e| ValueError(format!("{path}: {e}")))
}

#[cfg(test)]
mod tests {
    use super::{Header, header, parse, read, write};
    use crate::Tensor;
    use smalti_codegen::Elem;
    use std::fs::{self, File};

    #[test]
    fn headers() {
        for (text, expected) in [
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", ("<f4", false, vec![2, 3])),
            ("{'shape':(7,),'fortran_order':True,'descr':'>i8'}", (">i8", true, vec![7])),
            ("{'descr': '|b1', 'fortran_order': False, 'shape': (), }\n", ("|b1", false, vec![])),
        ] {
            let (descr, fortran, shape) = expected;
            assert_eq!(parse(text), Ok(Header { descr, fortran, shape }), "{text}");
        }
        for (text, part) in [
            ("{'fortran_order': False, 'shape': (2,)}", "'descr'"),
            ("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,)}", "structured"),
            ("{'descr': <f4, 'fortran_order': False, 'shape': (2,)}", "'descr'"),
            ("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", "'fortran_order'"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (2}", "'shape'"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", "'shape'"),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (2,,3)}", "'shape'"),
            ("", "'descr'"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn files_that_are_cut_off() {
        for bytes in [
            &b""[..],
            b"\x93NUMPY",
            b"\x93NUMPY\x01\0\x08",
            b"\x93NUMPY\x01\0\x08\0{}",
            b"\x93NUMPY\x02\0\xff\xff\xff\xff{}",
        ] {
            assert!(header(&mut &bytes[..]).unwrap_err().contains("bytes are there"), "{bytes:?}");
        }
        assert_eq!(header(&mut &b"\x93NUMPY\x01\0\x02\0{}rest"[..]), Ok("{}".to_owned()));
        assert_eq!(header(&mut &b"\x93NUMPY\x02\0\x02\0\0\0{}rest"[..]), Ok("{}".to_owned()));
        assert_eq!(header(&mut &b"P5 640 480 255"[..]), Err("it does not begin as one".to_owned()));
    }

    #[test]
    fn what_is_written_is_read() {
        let path = std::env::temp_dir().join(format!("smalti-npy-{}", std::process::id()));
        let path = path.to_str().unwrap();
        for (elem, shape) in
            [(Elem::F32, vec![2, 3]), (Elem::I8, vec![]), (Elem::Bf16, vec![5]), (Elem::Bool, vec![0, 4])]
        {
            let count = shape.iter().product::<usize>() * elem.size();
            let tensor = Tensor::new(elem, shape, (0..count).map(|b| b as u8 % 2).collect::<Vec<u8>>());
            write(File::create(path).unwrap(), path, &tensor).unwrap();
            let bytes = fs::read(path).unwrap();
            assert_eq!((bytes.len() - count) % 64, 0);
            assert_eq!(bytes[bytes.len() - count - 1], b'\n');
            let back = read(path, Some(elem)).unwrap();
            assert_eq!((back.elem, &back.shape, &back.bytes), (tensor.elem, &tensor.shape, &tensor.bytes));
        }
        // Version 1, big endian, the first dim inner: [[1, 3], [2, 4]].
        let mut bytes = b"\x93NUMPY\x01\0".to_vec();
        let text = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 2), }\n";
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.extend([0, 1, 0, 2, 0, 3, 0, 4]);
        fs::write(path, &bytes).unwrap();
        let tensor = read(path, None).unwrap();
        assert_eq!((tensor.elem, tensor.shape), (Elem::I16, vec![2, 2]));
        assert_eq!(&tensor.bytes[..], [1, 0, 3, 0, 2, 0, 4, 0]);
        fs::remove_file(path).unwrap();
    }
}
