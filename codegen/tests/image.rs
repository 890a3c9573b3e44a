//! Code runs wherever it is copied to.
#![allow(missing_docs)]

use smalti_codegen::Nest;
use smalti_codegen::abi::{Dispatch, DispatchArgs, HELPERS, OK};
use smalti_codegen::clif::Compiler;
use smalti_codegen::jit::{Image, JitError};
use smalti_isa::Target;

/// Writes `value`, rounded up, to every element.
fn fill(value: f32) -> Nest {
    Nest::parse(&format!(
        "nest @n outer 0 inner 1 {{\n  out y: f32 unit\n  loop {{\n    %0 = const.f32 {value:?}\n    %1 = ceil.f32 %0\n    \
         store y %1\n  }}\n}}"
    ))
    .unwrap()
}

fn filled(entry: Dispatch) -> [f32; 5] {
    let mut y = [0.0f32; 5];
    let (operands, extents, strides) = ([y.as_mut_ptr().cast::<u8>()], [5u64], [1i64]);
    let args = DispatchArgs {
        size: size_of::<DispatchArgs>() as u64,
        operands: operands.as_ptr(),
        extents: extents.as_ptr(),
        strides: strides.as_ptr(),
        helpers: &HELPERS,
    };
    // SAFETY: the operand has as many elements as the space.
    assert_eq!(unsafe { entry(&args, 0, 5, std::ptr::null_mut()) }, OK);
    y
}

#[test]
fn copied_code_runs_at_any_place() {
    for text in ["host", "x86_64"] {
        let target = Target::parse(text).unwrap();
        if !Target::host().runs(&target) {
            continue;
        }
        let compiler = Compiler::new(&target).unwrap();
        let mut code = vec![0; 48];
        let mut entries = vec![None];
        for value in [1.5, -7.0] {
            let one = compiler.compile(&fill(value)).unwrap();
            code.resize(code.len().next_multiple_of(one.alignment as usize), 0);
            entries.push(Some(code.len() as u32));
            code.extend(one.bytes);
        }
        // SAFETY: the code was compiled for this machine, and its alignment is kept.
        let image = unsafe { Image::load(&code, &entries) }.unwrap();
        assert!(image.entry(0).is_none());
        assert_eq!(filled(image.entry(1).unwrap()), [2.0; 5]);
        assert_eq!(filled(image.entry(2).unwrap()), [-7.0; 5]);
        assert!(image.entry(3).is_none());
    }
}

#[test]
fn entries_outside_the_code_are_refused() {
    for (code, at) in [(&[][..], 0), (&[0; 4][..], 4), (&[0; 4][..], u32::MAX)] {
        // SAFETY: nothing is called.
        let image = unsafe { Image::load(code, &[None, Some(at)]) };
        assert_eq!(image.err(), Some(JitError::Entry { at, len: code.len() }));
    }
    // SAFETY: there is no entry.
    assert!(unsafe { Image::load(&[], &[None]) }.unwrap().entry(0).is_none());
}
