//! `.loop` files: a nest and runs of it. Interpreter and machine code must give the same bits (any NaN equals any
//! NaN), on the whole range and on two halves; the file says what they give.
//!
//! A run is `run 2x3 x=[1 2 3]@0,1 y=6@3,1`: extents, then each operand's data and strides. Data is a list, a count of
//! zeros, or `~N`, N pseudo-random elements among which are NaN, infinities, zeros and denormals.
#![allow(missing_docs)]

use smalti_codegen::abi::{DispatchArgs, HELPERS};
use smalti_codegen::jit::JitModule;
use smalti_codegen::{Access, Elem, Nest, interp};
use smalti_isa::Target;
use std::path::Path;
use std::process::ExitCode;

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
    // Machine code for this machine, and for every lesser level that it runs.
    let mut modules = Vec::new();
    let mut out = String::new();
    for text in ["host", "x86_64", "x86_64_v2", "x86_64_v3"] {
        let target = Target::parse(text).map_err(|e| e.to_string())?;
        if Target::host().runs(&target) {
            let (module, refused) = JitModule::new([&nest], &target).map_err(|e| e.to_string())?;
            if refused.is_empty() {
                modules.push((text, module));
            } else if text == "host" {
                out = refused.iter().map(|(_, e)| format!("{e}\n")).collect();
            }
        }
    }
    for run in runs {
        let case = Case::parse(&nest, run)?;
        let mut data = case.data.clone();
        case.interpret(&nest, &mut data, 0, case.extents[0]).map_err(|e| e.to_string())?;
        for (level, module) in &modules {
            let mut whole = case.data.clone();
            case.execute(module, &mut whole, 0, case.extents[0]);
            case.compare(&nest, &data, &whole, &format!("machine code for {level}"))?;
            let mut parts = case.data.clone();
            let middle = case.extents[0] / 2;
            case.execute(module, &mut parts, middle, case.extents[0]);
            case.execute(module, &mut parts, 0, middle);
            case.compare(&nest, &data, &parts, &format!("machine code for {level}, in two parts"))?;
        }
        out += &format!("{run}\n");
        for (o, bytes) in nest.operands.iter().zip(&data).filter(|o| o.0.access != Access::In) {
            out += &format!("  {} = {}\n", o.name, show(o.elem, bytes));
        }
    }
    Ok(out)
}

struct Case {
    extents: Vec<usize>,
    strides: Vec<i64>,
    data: Vec<Vec<u8>>,
}

impl Case {
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

    fn interpret(&self, nest: &Nest, data: &mut [Vec<u8>], begin: usize, end: usize) -> Result<(), interp::RunError> {
        let offsets = vec![0; data.len()];
        let space = interp::Space { extents: &self.extents, strides: &self.strides, offsets: &offsets };
        let mut views: Vec<interp::Data<'_>> = data
            .iter_mut()
            .zip(&nest.operands)
            .map(|(d, o)| if o.access == Access::In { interp::Data::In(d) } else { interp::Data::Out(d) })
            .collect();
        interp::run(&smalti_codegen::math::expand(nest), &space, &mut views, begin, end)
    }

    fn execute(&self, module: &JitModule, data: &mut [Vec<u8>], begin: usize, end: usize) {
        let operands: Vec<*mut u8> = data.iter_mut().map(|d| d.as_mut_ptr()).collect();
        let extents: Vec<u64> = self.extents.iter().map(|&e| e as u64).collect();
        let args = DispatchArgs {
            size: size_of::<DispatchArgs>() as u64,
            operands: operands.as_ptr(),
            extents: extents.as_ptr(),
            strides: self.strides.as_ptr(),
            helpers: &HELPERS,
        };
        // SAFETY: the interpreter has run the same accesses with bounds checks.
        let status = unsafe { module.call(0, &args, begin as u64, end as u64) };
        assert_eq!(status, Some(0));
    }

    fn compare(&self, nest: &Nest, expected: &[Vec<u8>], got: &[Vec<u8>], what: &str) -> Result<(), String> {
        for ((o, e), g) in nest.operands.iter().zip(expected).zip(got) {
            for (i, (e, g)) in e.chunks(o.elem.size()).zip(g.chunks(o.elem.size())).enumerate() {
                if e != g && !(is_nan(o.elem, e) && is_nan(o.elem, g)) {
                    let (e, g) = (one(o.elem, e), one(o.elem, g));
                    return Err(format!("{what}: {}[{i}] is {g}, the interpreter says {e}", o.name));
                }
            }
        }
        Ok(())
    }
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

fn random(elem: Elem, count: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    };
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1e-40, -88.0, 88.5, 0.5, 3e9];
    (0..count)
        .flat_map(|_| {
            let (r, pick) = (next(), next() % 40);
            let x = special.get(pick as usize).copied().unwrap_or((r >> 40) as f32 / (1 << 20) as f32 - 8.0);
            match elem {
                Elem::F64 => f64::from(x).to_le_bytes().to_vec(),
                Elem::F32 => x.to_le_bytes().to_vec(),
                Elem::F16 => half::f16::from_f32(x).to_le_bytes().to_vec(),
                Elem::Bf16 => half::bf16::from_f32(x).to_le_bytes().to_vec(),
                Elem::Bool => vec![(r & 1) as u8],
                _ => (r as i64 >> (r % 60)).to_le_bytes()[..elem.size()].to_vec(),
            }
        })
        .collect()
}

fn is_nan(elem: Elem, bytes: &[u8]) -> bool {
    matches!(one(elem, bytes).as_str(), "NaN") && elem.is_float()
}

fn one(elem: Elem, b: &[u8]) -> String {
    let word = |n: usize| {
        let mut w = [0; 8];
        w[..n].copy_from_slice(&b[..n]);
        u64::from_le_bytes(w)
    };
    let n = elem.size();
    match elem {
        Elem::F64 => format!("{:?}", f64::from_bits(word(8))),
        Elem::F32 => format!("{:?}", f32::from_bits(word(4) as u32)),
        Elem::F16 => format!("{:?}", half::f16::from_bits(word(2) as u16).to_f32()),
        Elem::Bf16 => format!("{:?}", half::bf16::from_bits(word(2) as u16).to_f32()),
        Elem::Bool => format!("{}", b[0] != 0),
        _ if elem.is_signed() => format!("{}", (word(n) as i64) << (64 - 8 * n) >> (64 - 8 * n)),
        _ => format!("{}", word(n)),
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
