//! Runs of nests by the interpreter and by machine code.
#![allow(dead_code)] // Each test uses a part.

use smalti_codegen::abi::{DispatchArgs, HELPERS};
use smalti_codegen::jit::JitModule;
use smalti_codegen::{Access, Elem, Nest, interp};
use smalti_isa::Target;

/// Targets that differ in the code that is made for them.
pub(crate) const TARGETS: [&str; 8] =
    ["x86_64", "x86_64_v2", "x86_64_v3", "x86_64_v4", "aarch64", "riscv64", "riscv64+v", "riscv64+v,zba,zbb"];

/// This machine, and every lesser one whose code it runs.
pub(crate) fn levels() -> Vec<(&'static str, Target)> {
    let levels = ["host"].into_iter().chain(TARGETS).map(|text| (text, Target::parse(text).unwrap()));
    levels.filter(|(_, target)| Target::host().runs(target)).collect()
}

/// What a nest runs on.
pub(crate) struct Case {
    pub(crate) extents: Vec<usize>,
    pub(crate) strides: Vec<i64>,
    pub(crate) data: Vec<Vec<u8>>,
}

impl Case {
    pub(crate) fn interpret(
        &self,
        nest: &Nest,
        data: &mut [Vec<u8>],
        begin: usize,
        end: usize,
    ) -> Result<(), interp::RunError> {
        let offsets = vec![0; data.len()];
        let space = interp::Space { extents: &self.extents, strides: &self.strides, offsets: &offsets };
        let mut views: Vec<interp::Data<'_>> = data
            .iter_mut()
            .zip(&nest.operands)
            .map(|(d, o)| if o.access == Access::In { interp::Data::In(d) } else { interp::Data::Out(d) })
            .collect();
        interp::run(&smalti_codegen::math::expand(nest), &space, &mut views, begin, end)
    }

    pub(crate) fn execute(&self, module: &JitModule, dispatch: usize, data: &mut [Vec<u8>], begin: usize, end: usize) {
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
        let status = unsafe { module.call(dispatch, &args, begin as u64, end as u64) };
        assert_eq!(status, Some(0));
    }

    pub(crate) fn compare(&self, nest: &Nest, expected: &[Vec<u8>], got: &[Vec<u8>], what: &str) -> Result<(), String> {
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

/// Elements among which are NaN, infinities, zeros and denormals.
pub(crate) fn random(elem: Elem, count: usize, seed: u64) -> Vec<u8> {
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

/// An element as text.
pub(crate) fn one(elem: Elem, b: &[u8]) -> String {
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
