//! `.loop` files: a nest and runs of it. Interpreter and machine code must give the same bits (any NaN equals any
//! NaN), on the whole range and on two halves; the file says what they give.
//!
//! A run is `run 2x3 x=[1 2 3]@0,1 y=6@3,1`: extents, then each operand's data and strides. Data is a list, a count of
//! zeros, or `~N`, N pseudo-random elements among which are NaN, infinities, zeros and denormals.
#![allow(missing_docs)]

mod support;

use smalti_codegen::jit::JitModule;
use smalti_codegen::{Access, Elem, Nest};
use std::path::Path;
use std::process::ExitCode;
use support::{Case, levels, one, random};

fn main() -> ExitCode {
    smalti_filetest::run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/loops"), "loop", file)
}

fn file(input: &str) -> Result<String, String> {
    let (runs, text): (Vec<&str>, Vec<&str>) = input.lines().partition(|l| l.starts_with("run "));
    let text = text.join("\n");
    let nest = match Nest::parse(&text) {
        Ok(nest) => nest,
        Err(error) => return Ok(format!("error: {error}")),
    };
    let again = Nest::parse(&nest.to_string()).map_err(|e| format!("the printed text does not parse: {e}\n{nest}"))?;
    assert_eq!(again.to_string(), nest.to_string(), "the text form round-trips");
    let mut modules = Vec::new();
    let mut out = String::new();
    for (level, target) in levels() {
        let (module, refused) = JitModule::new([&nest], &target).map_err(|e| e.to_string())?;
        if refused.is_empty() {
            modules.push((level, module));
        } else if level == "host" {
            out = refused.iter().map(|(_, e)| format!("{e}\n")).collect();
        }
    }
    for run in runs {
        let case = parse(&nest, run)?;
        let mut data = case.data.clone();
        case.interpret(&nest, &mut data, 0, case.extents[0]).map_err(|e| e.to_string())?;
        for (level, module) in &modules {
            let mut whole = case.data.clone();
            case.execute(module, 0, &mut whole, 0, case.extents[0]);
            case.compare(&nest, &data, &whole, &format!("machine code for {level}"))?;
            let mut parts = case.data.clone();
            let middle = case.extents[0] / 2;
            case.execute(module, 0, &mut parts, middle, case.extents[0]);
            case.execute(module, 0, &mut parts, 0, middle);
            case.compare(&nest, &data, &parts, &format!("machine code for {level}, in two parts"))?;
        }
        out += &format!("{run}\n");
        for (o, bytes) in nest.operands.iter().zip(&data).filter(|o| o.0.access != Access::In) {
            out += &format!("  {} = {}\n", o.name, show(o.elem, bytes));
        }
    }
    Ok(out)
}

fn parse(nest: &Nest, run: &str) -> Result<Case, String> {
    let words = split(run);
    let extents: Vec<usize> = words[1].split('x').map(|e| e.parse().unwrap_or(0)).collect();
    let mut case = Case { extents, strides: Vec::new(), data: Vec::new() };
    for (i, o) in nest.operands.iter().enumerate() {
        let word = words.iter().find_map(|w| w.strip_prefix(&format!("{}=", o.name)));
        let (data, strides) = word.and_then(|w| w.split_once('@')).ok_or(format!("{run}: no {}", o.name))?;
        case.strides.extend(strides.split(',').map(|s| s.parse::<i64>().unwrap_or(0)));
        case.data.push(if let Some(list) = data.strip_prefix('[') {
            let list = list.strip_suffix(']').ok_or("a list ends in ']'")?;
            list.split_whitespace().flat_map(|v| bytes(o.elem, v)).collect()
        } else if let Some(count) = data.strip_prefix('~') {
            random(o.elem, count.parse().map_err(|_| "a count follows '~'")?, i as u64)
        } else {
            vec![0; data.parse::<usize>().map_err(|_| format!("'{data}' is no data"))? * o.elem.size()]
        });
    }
    Ok(case)
}

/// Words, lists kept whole.
fn split(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut depth = 0;
    for c in line.chars() {
        depth += i32::from(c == '[') - i32::from(c == ']');
        if c == ' ' && depth == 0 { words.push(String::new()) } else { words.last_mut().unwrap().push(c) }
    }
    words
}

fn bytes(elem: Elem, text: &str) -> Vec<u8> {
    let int = || text.parse::<i128>().unwrap_or_else(|_| panic!("'{text}' is no {elem}"));
    match elem {
        Elem::F64 => text.parse::<f64>().unwrap().to_le_bytes().to_vec(),
        Elem::F32 => text.parse::<f32>().unwrap().to_le_bytes().to_vec(),
        Elem::F16 => half::f16::from_f32(text.parse().unwrap()).to_le_bytes().to_vec(),
        Elem::Bf16 => half::bf16::from_f32(text.parse().unwrap()).to_le_bytes().to_vec(),
        Elem::Bool => vec![u8::from(text == "true")],
        _ => int().to_le_bytes()[..elem.size()].to_vec(),
    }
}

fn show(elem: Elem, bytes: &[u8]) -> String {
    let values: Vec<String> = bytes.chunks(elem.size()).map(|b| one(elem, b)).collect();
    if values.len() <= 24 {
        return format!("[{}]", values.join(" "));
    }
    let hash = values
        .join(" ")
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("{} elements, fnv1a {hash:016x}, begins [{}]", values.len(), values[..8].join(" "))
}
