//! .smalti files with mistakes: anywhere, or behind checksums that are right.

use super::bytes::{mutate, number};
use arbitrary::{Result, Unstructured};
use std::ops::Range;

/// Bytes of the header, and of an entry of the section table.
const HEADER: usize = 32;
const ENTRY: usize = 32;

/// Modules of the models in the repository: for several targets, packed and not, and without any.
///
/// # Panics
/// A model of the repository does not compile.
pub fn corpus() -> Vec<Vec<u8>> {
    let models = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
    let targets =
        |texts: &[&str]| texts.iter().map(|t| smalti::Target::parse(t).expect("a target")).collect::<Vec<_>>();
    let host = smalti::Target::host();
    let mut files = Vec::new();
    for model in ["small_matmul.onnx", "digits.onnx"] {
        for (targets, packed) in [
            (vec![host], true),
            (vec![host], false),
            (targets(&["x86_64", "aarch64", "riscv64", "riscv64+v"]), true),
            (targets(&[]), true),
        ] {
            let graph = smalti_compiler::read(&models.join(model)).and_then(|m| m.graph()).expect("a model");
            let build = smalti::module::Build { targets, strict: packed, packed };
            files.push(smalti::module::build(graph, &build).expect("it compiles").module.encode().concat());
        }
    }
    files
}

/// A file made of one of the corpus.
///
/// # Errors
/// Too few bytes in `u`.
pub fn case(u: &mut Unstructured<'_>, corpus: &[Vec<u8>]) -> Result<Vec<u8>> {
    let mut file = u.choose(corpus)?.clone();
    match u.int_in_range(0..=7u8)? {
        0 => {
            let donor = u.choose(corpus)?;
            mutate(u, &mut file, donor)?;
        }
        // Fields of header and table.
        1 => {
            let at = u.int_in_range(0..=HEADER + 8 * ENTRY)?;
            let value = number(u)?;
            let width = *u.choose(&[2, 4, 8])?;
            file.iter_mut().skip(at).zip(value.to_le_bytes()).take(width).for_each(|(b, v)| *b = v);
            seal(&mut file);
        }
        // A section, whose length stays: bytes that are lost are made up for at its end.
        2..=5 => {
            let part = section(u, &file)?;
            let mut bytes = file[part.clone()].to_vec();
            let donor = section(u, &file)?;
            let donor = file[donor].to_vec();
            mutate(u, &mut bytes, &donor)?;
            bytes.resize(part.len(), b' ');
            file[part].copy_from_slice(&bytes);
            seal(&mut file);
        }
        // A number of a text.
        _ => {
            for _ in 0..u.int_in_range(1..=3)? {
                let part = section(u, &file)?;
                if let Some(digits) = digits(u, &file, part)? {
                    let value = number(u)?.to_string().into_bytes();
                    let width = digits.len();
                    let written: Vec<u8> = value.into_iter().chain(std::iter::repeat(b' ')).take(width).collect();
                    file[digits].copy_from_slice(&written);
                }
            }
            seal(&mut file);
        }
    }
    Ok(file)
}

fn word(file: &[u8], at: usize, width: usize) -> usize {
    let mut bytes = [0; 8];
    file.iter().skip(at).zip(&mut bytes).take(width).for_each(|(b, v)| *v = *b);
    u64::from_le_bytes(bytes) as usize
}

fn sections(file: &[u8]) -> Vec<Range<usize>> {
    let entry = |i: usize| {
        let (start, length) = (word(file, HEADER + i * ENTRY + 8, 8), word(file, HEADER + i * ENTRY + 16, 8));
        let end = start.saturating_add(length).min(file.len());
        start.min(end)..end
    };
    (0..word(file, 12, 4).min(64)).map(entry).collect()
}

fn section(u: &mut Unstructured<'_>, file: &[u8]) -> Result<Range<usize>> {
    u.choose(&sections(file)).cloned()
}

/// A run of digits in a part of a file.
fn digits(u: &mut Unstructured<'_>, file: &[u8], part: Range<usize>) -> Result<Option<Range<usize>>> {
    if part.is_empty() {
        return Ok(None);
    }
    let from = u.int_in_range(part.start..=part.end - 1)?;
    let Some(start) = (from..part.end).find(|&i| file[i].is_ascii_digit()) else { return Ok(None) };
    let end = (start..part.end).find(|&i| !file[i].is_ascii_digit()).unwrap_or(part.end);
    // A number may take the place of blanks that follow.
    let end = (end..part.end.min(end + 12)).take_while(|&i| file[i] == b' ').last().map_or(end, |i| i + 1);
    Ok(Some(start..end))
}

/// Writes checksums anew, so that what is wrong is found by more than them.
fn seal(file: &mut [u8]) {
    for (i, part) in sections(file).into_iter().enumerate() {
        let at = HEADER + i * ENTRY;
        // Constants have theirs in the manifest.
        if word(file, at, 4) == 5 || at + 8 > file.len() {
            continue;
        }
        let crc = crc32fast::hash(&file[part]);
        file[at + 4..at + 8].copy_from_slice(&crc.to_le_bytes());
    }
    let end = (HEADER + word(file, 12, 4).min(4096) * ENTRY).min(file.len());
    if end >= HEADER {
        file[24..28].fill(0);
        let crc = crc32fast::hash(&file[..end]);
        file[24..28].copy_from_slice(&crc.to_le_bytes());
    }
}
