//! The same bytes on every host, for every target: their hashes are committed. Another Cranelift makes other bytes.
#![allow(missing_docs)]

mod support;

use smalti_codegen::Nest;
use smalti_codegen::clif::{ClifError, Compiler};
use smalti_isa::Target;
use std::fmt::Write;
use std::path::Path;
use support::TARGETS;

#[test]
fn bytes_depend_on_nest_and_target_alone() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut out = String::new();
    for path in smalti_filetest::files(&tests.join("loops"), "loop") {
        let text = std::fs::read_to_string(&path).unwrap();
        let nest = text.split("\nrun ").next().unwrap_or_default();
        // Texts that are broken on purpose.
        let Ok(nest) = Nest::parse(nest) else { continue };
        for target in TARGETS {
            let compiler = Compiler::new(&Target::parse(target).unwrap()).unwrap();
            let code = match compiler.compile(&nest) {
                Ok(code) => format!("{} bytes, fnv1a {:016x}", code.bytes.len(), fnv1a(&code.bytes)),
                Err(error @ ClifError::Unsupported { .. }) => error.to_string(),
                Err(error) => panic!("{}, {target}: {error}", path.display()),
            };
            writeln!(out, "@{} {target}: {code}", nest.name).unwrap();
        }
    }
    smalti_filetest::printed(&tests.join("code.txt"), &out).unwrap();
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3))
}
