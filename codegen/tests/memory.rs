//! No page is writable and executable at a time, and a module's memory goes with it.
#![cfg(target_os = "linux")]
#![allow(missing_docs)]

use smalti_codegen::Nest;
use smalti_codegen::jit::JitModule;
use smalti_isa::Target;

fn mappings() -> Vec<String> {
    std::fs::read_to_string("/proc/self/maps").unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn code_is_never_writable_and_is_freed() {
    let nest = Nest::parse(
        "nest @n outer 0 inner 1 {\n  out y: f32 unit\n  loop {\n    %0 = const.f32 1.0\n    store y %0\n  }\n}",
    )
    .unwrap();
    let address = |m: &JitModule| m.entry(0).unwrap() as usize;
    let holds = |line: &String, at: usize| {
        let (from, to) = line.split(' ').next().unwrap().split_once('-').unwrap();
        (usize::from_str_radix(from, 16).unwrap()..usize::from_str_radix(to, 16).unwrap()).contains(&at)
    };
    let (module, _) = JitModule::new([&nest], &Target::host()).unwrap();
    let at = address(&module);
    let maps = mappings();
    assert!(maps.iter().all(|l| !l.split(' ').nth(1).unwrap().starts_with("rwx")), "{maps:?}");
    let own = maps.iter().find(|l| holds(l, at)).unwrap();
    assert!(own.split(' ').nth(1).unwrap().starts_with("r-x"), "{own}");
    drop(module);
    let after = mappings();
    assert!(!after.iter().any(|l| holds(l, at) && l.contains("r-x") && l.split(' ').count() < 7), "{after:?}");
}
