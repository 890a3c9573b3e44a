//! Accuracy of the functions that are bodies of IR, on every 4096th f32 and all edges, against f64.
#![allow(missing_docs)]

use smalti_codegen::abi::{DispatchArgs, HELPERS};
use smalti_codegen::jit::JitModule;
use smalti_codegen::{Access, Builder, Elem, Func, Nest, Step};
use smalti_isa::Target;

fn nest(func: Func) -> Nest {
    let mut b = Builder::new("f", 0, 1);
    let x = b.operand("x", Elem::F32, Access::In, Step::Unit);
    let y = b.operand("y", Elem::F32, Access::Out, Step::Unit);
    let value = b.load(x);
    let value = b.call(func, &[value]);
    b.store(y, value);
    b.finish()
}

fn sample() -> Vec<f32> {
    let edges = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE, 1e-45, -1e-45, f32::MAX];
    let near = [88.72283, 88.72284, -87.33654, -103.97208, -103.97209, 0.625, 0.624_999_94, -0.625, 9.01, 20.0, 45.0];
    (0..1 << 20).map(|i: u32| f32::from_bits(i << 12 | ((i * 37) & 0xfff))).chain(edges).chain(near).collect()
}

fn worst(func: Func, reference: fn(f64) -> f64) -> (f64, f32) {
    let x = sample();
    let mut y = vec![0.0f32; x.len()];
    let (module, refused) = JitModule::new([&nest(func)], &Target::host()).unwrap();
    assert!(refused.is_empty());
    let operands = [x.as_ptr() as *mut u8, y.as_mut_ptr().cast()];
    let (extents, strides) = ([x.len() as u64], [1i64, 1]);
    let args = DispatchArgs {
        size: size_of::<DispatchArgs>() as u64,
        operands: operands.as_ptr(),
        extents: extents.as_ptr(),
        strides: strides.as_ptr(),
        helpers: &HELPERS,
    };
    // SAFETY: both operands have as many elements as the space.
    assert_eq!(unsafe { module.call(0, &args, 0, x.len() as u64) }, Some(0));
    let mut worst = (0.0, 0.0);
    for (&x, &y) in x.iter().zip(&y) {
        let exact = reference(f64::from(x));
        let nearest = exact as f32;
        if nearest.is_nan() {
            assert!(y.is_nan(), "{func:?}({x:e}) is {y:e}");
            continue;
        }
        assert!(!y.is_nan(), "{func:?}({x:e}) is NaN");
        if nearest.is_infinite() {
            // The greatest number is a unit in the last place away.
            assert!(y == nearest || y == f32::MAX.copysign(nearest), "{func:?}({x:e}) is {y:e}");
            continue;
        }
        if nearest == 0.0 && exact == 0.0 {
            assert_eq!(y.to_bits(), nearest.to_bits(), "{func:?}({x:e})");
        }
        let spacing = f64::from(f32::from_bits(nearest.abs().to_bits() + 1)) - f64::from(nearest.abs());
        let ulp = (f64::from(y) - exact).abs() / spacing;
        if ulp > worst.0 {
            worst = (ulp, x);
        }
    }
    worst
}

#[test]
fn exp_is_within_one_ulp() {
    let (ulp, x) = worst(Func::Exp, libm::exp);
    assert!(ulp <= 1.0, "{ulp} ulp at {x:e}");
}

#[test]
fn tanh_is_within_two_ulp() {
    let (ulp, x) = worst(Func::Tanh, libm::tanh);
    assert!(ulp <= 2.0, "{ulp} ulp at {x:e}");
}
