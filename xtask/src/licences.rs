//! Licences and bans of all dependencies, and their notices.

use crate::{Outcome, cargo, output};
use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Licences that fit ours.
const ALLOWED: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "Zlib",
    "0BSD",
    "BSL-1.0",
    "Unicode-3.0",
    "Unlicense",
    "CC0-1.0",
    "MIT-0",
];
/// Crates that must not come in, and why.
const BANNED: &[(&str, &str)] = &[
    ("openssl-sys", "nothing here speaks to a network"),
    ("protoc-bin-vendored", "the schema is compiled without protoc"),
    ("inventory", "tables are plain statics: link-time registries have no order"),
    ("linkme", "tables are plain statics: link-time registries have no order"),
];
/// What we carry of others beside crates.
const FILES: &str = "\
## Files\n\n\
| file | from | licence |\n|---|---|---|\n\
| `compiler/proto/onnx.proto` | the ONNX schema, onnx 1.23.2, ONNX Project Contributors | Apache-2.0 |\n\
| `models/*.npy` | handwritten digits of the UCI repository (Alpaydin and Kaynak), as scikit-learn ships them | CC BY 4.0 |\n";

pub(crate) fn licences(root: &Path, bless: bool) -> Outcome {
    let text = output(&mut cargo(root, &["metadata", "--format-version", "1", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let mut rows = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let text = |key: &str| package[key].as_str().unwrap_or("").to_owned();
        let (name, version, licence) = (text("name"), text("version"), text("license"));
        if let Some((_, reason)) = BANNED.iter().find(|b| b.0 == name) {
            return Err(format!("crate {name} is banned: {reason}"));
        }
        if package["source"].is_null() {
            continue;
        }
        if !fits(&licence) {
            return Err(format!(
                "crate {name} {version} has the licence '{licence}', which is not in the allowed list"
            ));
        }
        rows.push(format!("| {name} | {version} | {licence} |"));
    }
    rows.sort();
    let mut out = String::from("# Third-party notices\n\nPrinted by `cargo xtask licences --bless`.\n\n");
    let _ = write!(out, "{FILES}\n## Crates\n\n| crate | version | licence |\n|---|---|---|\n{}\n", rows.join("\n"));
    let path = root.join("THIRD-PARTY.md");
    if bless {
        return fs::write(&path, out).map_err(|e| e.to_string());
    }
    match fs::read_to_string(&path) {
        Ok(found) if found == out => Ok(()),
        _ => Err("THIRD-PARTY.md is not what `cargo xtask licences --bless` prints".to_owned()),
    }
}

/// Whether a licence expression leaves a choice that is allowed: every part of an AND, one of an OR.
fn fits(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    expression
        .split(" AND ")
        .all(|part| part.split(" OR ").any(|l| ALLOWED.contains(&l.trim().trim_matches(['(', ')']))))
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn every_part_of_an_and_one_of_an_or() {
        for (licence, fit) in [
            ("MIT", true),
            ("MIT OR GPL-3.0", true),
            ("MIT/Apache-2.0", true),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("GPL-3.0", false),
            ("MIT AND GPL-3.0", false),
            ("", false),
        ] {
            assert_eq!(fits(licence), fit, "{licence}");
        }
    }
}
