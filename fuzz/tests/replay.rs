//! Fixed seeds of every target, and every finding of the past. `SMALTI_FUZZ_CASES` asks for more seeds.
#![allow(missing_docs)]

use std::path::Path;

/// Bytes of a seed, by Marsaglia's xorshift64*.
fn bytes(seed: u64) -> Vec<u8> {
    let mut state = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (0..1024)
        .flat_map(|_| {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            state.wrapping_mul(0x2545_f491_4f6c_dd1d).to_le_bytes()
        })
        .collect()
}

fn replay(target: &str, few: u64, run: fn(&[u8])) {
    let cases = std::env::var("SMALTI_FUZZ_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(few);
    for seed in 0..cases {
        let outcome = std::panic::catch_unwind(|| run(&bytes(seed)));
        assert!(outcome.is_ok(), "{target}: seed {seed}");
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions").join(target);
    let mut kept = 0;
    for entry in std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "bin") {
            run(&std::fs::read(&path).unwrap());
            kept += 1;
        }
    }
    println!("{target}: {cases} seeds, {kept} findings");
}

#[test]
fn mmt4d() {
    replay("mmt4d", 20_000, smalti_fuzz::mmt4d);
}

#[test]
fn nest() {
    replay("nest", 3_000, smalti_fuzz::nest);
}
