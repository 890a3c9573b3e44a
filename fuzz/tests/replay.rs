//! Fixed seeds of every target, and every finding of the past. `SMALTI_FUZZ_CASES` asks for more seeds,
//! `SMALTI_FUZZ_FIRST` for another one to begin with.
#![allow(missing_docs)]

use arbitrary::Unstructured;
use smalti_fuzz::oracle::Verdict;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Files that are longer are left out of a corpus: most of them is weights, and every case reads them all.
const LONGEST: u64 = 5 << 20;
/// So many findings end a sweep.
const FINDINGS: usize = 20;

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

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

fn seeds(few: u64) -> std::ops::Range<u64> {
    let first = number("SMALTI_FUZZ_FIRST", 0);
    first..first + number("SMALTI_FUZZ_CASES", few)
}

/// Bytes of every finding of the past.
fn findings(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e != "md"));
    paths.sort();
    paths.into_iter().map(|p| (p.clone(), fs::read(p).unwrap())).collect()
}

fn replay(target: &str, few: u64, run: fn(&[u8])) {
    let seeds = seeds(few);
    for seed in seeds.clone() {
        let outcome = catch_unwind(|| run(&bytes(seed)));
        assert!(outcome.is_ok(), "{target}: seed {seed}");
    }
    let kept = findings(target);
    kept.iter().for_each(|(_, bytes)| run(bytes));
    println!("{target}: {} seeds, {} findings", seeds.end - seeds.start, kept.len());
}

#[test]
fn mmt4d() {
    replay("mmt4d", 20_000, smalti_fuzz::mmt4d);
}

#[test]
fn nest() {
    replay("nest", 3_000, smalti_fuzz::nest);
}

/// Good files of a format: those of the repository's `folders`, and of the folders in `SMALTI_FUZZ_CORPUS`.
fn corpus(folders: &[&str], extension: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let more = std::env::var_os("SMALTI_FUZZ_CORPUS").unwrap_or_default();
    let more = std::env::split_paths(&more).filter(|p| !p.as_os_str().is_empty());
    let (mut folders, mut files) = (folders.iter().map(|f| root.join(f)).chain(more).collect::<Vec<_>>(), Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display())) {
            let path = entry.unwrap().path();
            let meta = fs::metadata(&path);
            match meta {
                Ok(meta) if meta.is_dir() => folders.push(path),
                Ok(meta) if meta.len() <= LONGEST && path.extension().is_some_and(|e| e == extension) => {
                    files.push(path)
                }
                _ => {}
            }
        }
    }
    files.sort();
    files.iter().map(|f| fs::read(f).unwrap()).collect()
}

/// Makes a file of a corpus.
type Mutator = fn(&mut Unstructured<'_>, &[Vec<u8>]) -> arbitrary::Result<Vec<u8>>;

/// Files of seeds and of the past. A file that is a finding is left in the folder of the build, and the seed at work
/// beside it, for those that end the process.
fn files(target: &str, few: u64, corpus: &[Vec<u8>], case: Mutator, judge: fn(&[u8]) -> Verdict) {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (mut accepted, mut peak, mut slowest) = (0, (0, 0), (Duration::ZERO, 0));
    let mut found: Vec<PathBuf> = Vec::new();
    let seeds = seeds(few);
    for seed in seeds.clone() {
        fs::write(scratch.join(format!("{target}.seed")), seed.to_string()).unwrap();
        let Ok(file) = case(&mut Unstructured::new(&bytes(seed)), corpus) else { continue };
        let start = Instant::now();
        match catch_unwind(|| judge(&file)) {
            Ok(verdict) => {
                accepted += u64::from(verdict.accepted);
                peak = peak.max((verdict.peak, seed));
                slowest = slowest.max((start.elapsed(), seed));
            }
            Err(_) => {
                let path = scratch.join(format!("{target}-{seed}"));
                fs::write(&path, &file).unwrap();
                eprintln!("{target}: seed {seed}, written to {}", path.display());
                found.push(path);
            }
        }
        assert!(found.len() < FINDINGS, "{target}: {found:?}");
    }
    let kept = findings(target);
    for (path, bytes) in &kept {
        let start = Instant::now();
        assert!(catch_unwind(|| judge(bytes)).is_ok(), "{}", path.display());
        println!("{}: {:?}", path.display(), start.elapsed());
    }
    println!(
        "{target}: {} seeds on {} files, {accepted} accepted, at most {} bytes (seed {}) and {:?} (seed {}); {} findings of the past",
        seeds.end - seeds.start,
        corpus.len(),
        peak.0,
        peak.1,
        slowest.0,
        slowest.1,
        kept.len()
    );
    assert!(found.is_empty(), "{target}: {found:?}");
}

#[test]
fn onnx_import() {
    let mut corpus = corpus(&["models", "cases/data"], "onnx");
    corpus.retain(|file| smalti_fuzz::r#gen::onnx::reaches_the_importer(file));
    files("onnx_import", 2_000, &corpus, smalti_fuzz::r#gen::onnx::case, smalti_fuzz::onnx_import);
}

#[test]
fn module_load() {
    let corpus = smalti_fuzz::r#gen::module::corpus();
    let whole = corpus.iter().all(|file| smalti_fuzz::module_load(file).accepted);
    assert!(whole, "files without mistakes are loaded");
    files("module_load", 2_000, &corpus, smalti_fuzz::r#gen::module::case, smalti_fuzz::module_load);
}
