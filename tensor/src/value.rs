//! Values as users write them: `@x.npy`, `2x3xf32=1 2 3 4 5 6`, `2x2xi32=[[1 2][3 4]]`, `1x3xf32=2`, `3.14`, each
//! after an optional `NAME=`.

use crate::{Tensor, npy};
use smalti_codegen::Elem;
use std::fs;

/// A sentence about a text or a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ValueError(pub String);

/// What a value is for: a name, and the element type that is expected.
#[derive(Clone, Debug)]
pub struct Port {
    /// The name.
    pub name: String,
    /// The type of its elements.
    pub elem: Elem,
    /// The whole type, for messages, such as `f32[N,3]`.
    pub ty: String,
}

/// For each port, the text that is meant for it: by name, else by order.
///
/// # Errors
/// A name that there is none of, a port given twice, or more texts than ports.
pub fn assign<'a>(ports: &[Port], texts: &'a [String], what: &str) -> Result<Vec<Option<&'a str>>, ValueError> {
    let mut found: Vec<Option<&str>> = vec![None; ports.len()];
    let mut next = 0;
    for text in texts {
        let named = ports
            .iter()
            .position(|p| !p.name.is_empty() && text.strip_prefix(&p.name).is_some_and(|r| r.starts_with('=')));
        let (at, value) = match named {
            Some(at) => (at, &text[ports[at].name.len() + 1..]),
            None => {
                if let Some((name, rest)) = text.split_once('=')
                    && !text.starts_with(['@', '+', '-', '('])
                    && typed(name).is_none()
                {
                    let known: Vec<&str> = ports.iter().map(|p| p.name.as_str()).collect();
                    let _ = rest;
                    return Err(ValueError(format!("the model has no {what} '{name}'; it has {}", known.join(", "))));
                }
                while next < found.len() && found[next].is_some() {
                    next += 1;
                }
                (next, text.as_str())
            }
        };
        match found.get_mut(at) {
            Some(slot) if slot.is_none() => *slot = Some(value),
            Some(_) => return Err(ValueError(format!("{what} '{}' is given twice", ports[at].name))),
            None => {
                return Err(ValueError(format!("{} {what}s are given, the model has {}", texts.len(), ports.len())));
            }
        }
    }
    Ok(found)
}

/// `2x3xf32` as a shape and a type.
fn typed(text: &str) -> Option<(Vec<usize>, Elem)> {
    let mut parts: Vec<&str> = text.split('x').collect();
    let elem = parts.pop()?;
    let elem = Elem::parse(elem).or(match elem {
        "i1" => Some(Elem::Bool),
        _ => elem
            .strip_prefix("si")
            .or(elem.strip_prefix("ui"))
            .and_then(|w| Elem::parse(&format!("{}{w}", if elem.starts_with('s') { "i" } else { "u" }))),
    })?;
    let shape = parts.into_iter().map(|p| p.parse().ok()).collect::<Option<Vec<usize>>>()?;
    Some((shape, elem))
}

/// Reads a value.
///
/// # Errors
/// The part that is no value, or a file that can't be read.
pub fn read(text: &str, port: &Port) -> Result<Tensor, ValueError> {
    if let Some(path) = text.strip_prefix('@') {
        return npy::read(path, Some(port.elem));
    }
    let (ty, data) = match text.split_once('=') {
        Some((ty, data)) => (Some(ty), data),
        None if typed(text).is_some() => (Some(text), "0"),
        None => (None, text),
    };
    let (shape, elem) = match ty {
        Some(ty) => typed(ty).ok_or_else(|| ValueError(format!("'{ty}' is no shape and type such as 2x3xf32")))?,
        None => (Vec::new(), port.elem),
    };
    let count = shape.iter().try_fold(1usize, |p, &d| p.checked_mul(d)).filter(|c| *c <= isize::MAX as usize / 8);
    let count = count.ok_or_else(|| ValueError(format!("'{text}' has too many elements")))?;
    if let Some(path) = data.strip_prefix('@') {
        let bytes = fs::read(path).map_err(|e| ValueError(format!("{path}: {e}")))?;
        if bytes.len() != count * elem.size() {
            let needed = count * elem.size();
            return Err(ValueError(format!("{path}: {} bytes, a {elem}{shape:?} has {needed}", bytes.len())));
        }
        return Ok(Tensor::new(elem, shape, bytes));
    }
    let words: Vec<&str> =
        data.split(|c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']')).filter(|w| !w.is_empty()).collect();
    if words.len() != count && words.len() != 1 {
        return Err(ValueError(format!("'{text}': {} values, a {elem}{shape:?} has {count}", words.len())));
    }
    let mut bytes = Vec::with_capacity(count * elem.size());
    for i in 0..count {
        let word = words[if words.len() == 1 { 0 } else { i }];
        let element = one(elem, word).ok_or_else(|| ValueError(format!("'{word}' is no {elem}")))?;
        bytes.extend_from_slice(&element);
    }
    Ok(Tensor::new(elem, shape, bytes))
}

/// Values for all ports, which are inputs.
///
/// # Errors
/// An input without a value, besides those of [`assign`] and [`read`].
pub fn read_all(ports: &[Port], texts: &[String]) -> Result<Vec<Tensor>, ValueError> {
    let found = assign(ports, texts, "input")?;
    ports
        .iter()
        .zip(found)
        .map(|(port, text)| match text {
            Some(text) => read(text, port),
            None => Err(ValueError(format!(
                "input '{0}' of {1} is missing; give it as --input={0}=@FILE.npy",
                port.name, port.ty
            ))),
        })
        .collect()
}

fn one(elem: Elem, word: &str) -> Option<Vec<u8>> {
    Some(match elem {
        Elem::F64 => word.parse::<f64>().ok()?.to_le_bytes().to_vec(),
        Elem::F32 => word.parse::<f32>().ok()?.to_le_bytes().to_vec(),
        Elem::F16 => half::f16::from_f64(word.parse().ok()?).to_le_bytes().to_vec(),
        Elem::Bf16 => half::bf16::from_f64(word.parse().ok()?).to_le_bytes().to_vec(),
        Elem::Bool => match word {
            "true" | "1" => vec![1],
            "false" | "0" => vec![0],
            _ => return None,
        },
        Elem::U64 => word.parse::<u64>().ok()?.to_le_bytes().to_vec(),
        _ => {
            let value: i128 = word.parse().ok()?;
            let bits = elem.size() as u32 * 8;
            let (low, high) =
                if elem.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
            (low..=high).contains(&value).then(|| value.to_le_bytes()[..elem.size()].to_vec())?
        }
    })
}

/// A tensor as `--input` reads it, at most `most` elements.
pub fn show(tensor: &Tensor, most: usize) -> String {
    let dims: String = tensor.shape.iter().map(|d| format!("{d}x")).collect();
    let value = |i: usize| match tensor.elem {
        Elem::F32 => format!("{}", tensor.get(i) as f32),
        e if e.is_float() => format!("{}", tensor.get(i)),
        Elem::Bool => format!("{}", tensor.int(i) != 0),
        Elem::U64 => format!("{}", tensor.int(i) as u64),
        _ => format!("{}", tensor.int(i)),
    };
    let shown: Vec<String> = (0..tensor.len().min(most)).map(value).collect();
    let rest = if tensor.len() > most { " …" } else { "" };
    format!("{dims}{}={}{rest}", tensor.elem, shown.join(" "))
}
