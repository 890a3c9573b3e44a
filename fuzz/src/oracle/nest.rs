//! Machine code gives the interpreter's bits, any NaN being equal to any NaN.

use crate::r#gen::nest::Case;
use smalti_codegen::abi::{DispatchArgs, HELPERS};
use smalti_codegen::jit::JitModule;
use smalti_codegen::{Access, Elem, Nest, interp, math};
use smalti_isa::Target;

/// Runs a case in one piece and in two; its text must print and parse to itself.
///
/// # Panics
/// They disagree.
pub fn judge(case: &Case) {
    case.nest.verify().unwrap_or_else(|e| panic!("{e}\n{}", case.nest));
    let text = case.nest.to_string();
    let again = Nest::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(again.to_string(), text);
    let (module, refused) = JitModule::new([&case.nest], &Target::host()).unwrap_or_else(|e| panic!("{e}"));
    assert!(refused.is_empty(), "{refused:?}");
    let mut expected = case.data.clone();
    {
        let offsets = vec![0; expected.len()];
        let space = interp::Space { extents: &case.extents, strides: &case.strides, offsets: &offsets };
        let mut data: Vec<interp::Data<'_>> = expected
            .iter_mut()
            .zip(&case.nest.operands)
            .map(|(d, o)| if o.access == Access::In { interp::Data::In(d) } else { interp::Data::Out(d) })
            .collect();
        interp::run(&math::expand(&case.nest), &space, &mut data, 0, case.extents[0])
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
    }
    let middle = case.extents[0] / 2;
    for parts in [vec![(0, case.extents[0])], vec![(middle, case.extents[0]), (0, middle)]] {
        let mut got = case.data.clone();
        for (begin, end) in parts {
            execute(case, &module, &mut got, begin, end);
        }
        for ((o, e), g) in case.nest.operands.iter().zip(&expected).zip(&got) {
            for (i, (e, g)) in e.chunks(o.elem.size()).zip(g.chunks(o.elem.size())).enumerate() {
                let same = e == g || is_nan(o.elem, e) && is_nan(o.elem, g);
                assert!(same, "{}[{i}]: {g:?}, the interpreter says {e:?}\n{:?}\n{text}", o.name, case.extents);
            }
        }
    }
}

fn execute(case: &Case, module: &JitModule, data: &mut [Vec<u8>], begin: usize, end: usize) {
    let operands: Vec<*mut u8> = data.iter_mut().map(|d| d.as_mut_ptr()).collect();
    let extents: Vec<u64> = case.extents.iter().map(|&e| e as u64).collect();
    let args = DispatchArgs {
        size: size_of::<DispatchArgs>() as u64,
        operands: operands.as_ptr(),
        extents: extents.as_ptr(),
        strides: case.strides.as_ptr(),
        helpers: &HELPERS,
    };
    // SAFETY: the interpreter has made the same accesses with bounds checks.
    let status = unsafe { module.call(0, &args, begin as u64, end as u64) };
    assert_eq!(status, Some(0));
}

fn is_nan(elem: Elem, bytes: &[u8]) -> bool {
    match elem {
        Elem::F32 => f32::from_le_bytes(bytes.try_into().unwrap_or_default()).is_nan(),
        Elem::F64 => f64::from_le_bytes(bytes.try_into().unwrap_or_default()).is_nan(),
        _ => false,
    }
}
