//! No page is writable and executable at a time, and memory of code goes with its owner.
#![cfg(target_os = "linux")]
#![allow(missing_docs)]

use smalti_codegen::Nest;
use smalti_codegen::abi::Dispatch;
use smalti_codegen::clif::Compiler;
use smalti_codegen::jit::{Image, JitModule};
use smalti_isa::Target;

fn mappings() -> Vec<String> {
    std::fs::read_to_string("/proc/self/maps").unwrap().lines().map(str::to_owned).collect()
}

fn holds(line: &str, at: usize) -> bool {
    let (from, to) = line.split(' ').next().unwrap().split_once('-').unwrap();
    (usize::from_str_radix(from, 16).unwrap()..usize::from_str_radix(to, 16).unwrap()).contains(&at)
}

/// Checks the page of `entry` before and after its owner is dropped.
fn never_writable_and_freed<T>(owner: T, entry: fn(&T) -> Option<Dispatch>) {
    let at = entry(&owner).unwrap() as usize;
    let maps = mappings();
    assert!(maps.iter().all(|l| !l.split(' ').nth(1).unwrap().starts_with("rwx")), "{maps:?}");
    let own = maps.iter().find(|l| holds(l, at)).unwrap();
    assert!(own.split(' ').nth(1).unwrap().starts_with("r-x"), "{own}");
    drop(owner);
    let after = mappings();
    assert!(!after.iter().any(|l| holds(l, at) && l.contains("r-x") && l.split(' ').count() < 7), "{after:?}");
}

#[test]
fn code_is_never_writable_and_is_freed() {
    let nest = Nest::parse(
        "nest @n outer 0 inner 1 {\n  out y: f32 unit\n  loop {\n    %0 = const.f32 1.0\n    store y %0\n  }\n}",
    )
    .unwrap();
    let (module, _) = JitModule::new([&nest], &Target::host()).unwrap();
    never_writable_and_freed(module, |m| m.entry(0));
    let code = Compiler::new(&Target::host()).unwrap().compile(&nest).unwrap();
    // SAFETY: the code was compiled for this machine.
    let image = unsafe { Image::load(&code.bytes, &[Some(0)]) }.unwrap();
    never_writable_and_freed(image, |i| i.entry(0));
}
