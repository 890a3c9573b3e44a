//! One file and one static program: models are compiled on this machine for many targets, and run by the runtime alone on
//! emulated machines of other architectures.

use crate::emulated::{self, MACHINES};
use crate::{Outcome, command_line, cross, output};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const TARGETS: [&str; 4] = ["x86_64_v3", "x86_64_v4", "aarch64", "riscv64+v"];

/// A model with an input, and with the output that another's implementation gives where there is one.
struct Model {
    name: &'static str,
    path: PathBuf,
    input: PathBuf,
    expected: Option<PathBuf>,
}

/// Compiles `models` into one file each, runs it everywhere, and compares: with what is expected, with this machine's
/// outputs and, under `strict`, with their bits. With `compiler`, that program for riscv64 compiles them too, to the same
/// bytes.
pub(crate) fn boards(root: &Path, compiler: bool) -> Outcome {
    let smalti = command_line(root)?;
    let place = root.join("target/boards");
    fs::create_dir_all(&place).map_err(|e| format!("{}: {e}", place.display()))?;
    // Each is optimised as a whole, by one processor.
    let runtimes =
        at_once(["aarch64", "riscv64"], |arch| cross::program(root, arch, "smalti-run").map(|path| (arch, path)))?;
    let compiler = if compiler { Some(cross::program(root, "riscv64", "smalti")?) } else { None };
    let magika = root.join(".cache/real-models/magika-file-type");
    let mut models = vec![Model {
        name: "digits",
        path: root.join("models/digits.onnx"),
        input: root.join("models/seven.npy"),
        expected: None,
    }];
    if magika.is_dir() {
        models.push(Model {
            name: "magika",
            path: magika.join("model.onnx"),
            input: magika.join("in_0.npy"),
            expected: Some(magika.join("out_0.npy")),
        });
    } else {
        println!("ignored magika: cargo xtask conformance fetches it");
    }
    for model in &models {
        for strict in [false, true] {
            let name = format!("{}{}", model.name, if strict { "-strict" } else { "" });
            let file = place.join(format!("{name}.smalti"));
            output(compile(&mut Command::new(&smalti), model, strict, &file))?;
            let here = place.join(format!("{name}-here.npy"));
            output(run_file(&mut Command::new(&smalti), &["run"], model, &file, &here))?;
            let expected = model.expected.as_ref().unwrap_or(&here);
            let texts = at_once([&runtimes[0], &runtimes[1]], |(arch, runtime)| {
                let mut text = String::new();
                // The files have code for vectors: a machine without any would have to compile.
                for machine in MACHINES.iter().filter(|m| m.arch.name == *arch && !m.requires.is_empty()) {
                    // Machine code of the file, and its dispatches interpreted.
                    for native in [&[][..], &["--no-native"]] {
                        let there = place.join(format!("{name}-{arch}.npy"));
                        let mut board = emulated::program(root, machine, runtime)?;
                        let expected = format!("--expected_output=@{}", expected.display());
                        output(run_file(&mut board, &[], model, &file, &there).arg(expected).args(native))?;
                        let read = |path: &Path| fs::read(path).map_err(|e| format!("{}: {e}", path.display()));
                        let same = read(&here)? == read(&there)?;
                        if strict && !same {
                            return Err(format!("{name}: the bits of {} are not those of this machine", machine.name));
                        }
                        let bits = if same { "the same bits" } else { "within bounds" };
                        text += &format!("{name:14} {}{}: {bits}\n", machine.name, native.concat().replace("--", ", "));
                    }
                }
                Ok(text)
            })?;
            print!("{}", texts.concat());
            if let Some(compiler) = &compiler {
                let there = place.join(format!("{name}-there.smalti"));
                let machine = MACHINES.iter().find(|m| m.arch.name == "riscv64").ok_or("no machine of riscv64")?;
                let mut board = emulated::program(root, machine, compiler)?;
                output(compile(&mut board, model, strict, &there))?;
                if fs::read(&there).ok() != fs::read(&file).ok() {
                    return Err(format!("{name}: the compiler on riscv64 writes another file than this machine's"));
                }
                println!("{name:14} the compiler on riscv64 writes the same file");
            }
        }
    }
    Ok(())
}

/// Does the same with two things at once, and gives both results in order.
fn at_once<T: Send, R: Send>(things: [T; 2], task: impl Fn(T) -> Result<R, String> + Sync) -> Result<[R; 2], String> {
    let task = &task;
    let [first, second] = std::thread::scope(|s| {
        let threads = things.map(|thing| s.spawn(move || task(thing)));
        threads.map(|t| t.join().unwrap_or_else(|_| Err("a thread panicked".to_owned())))
    });
    Ok([first?, second?])
}

fn compile<'a>(command: &'a mut Command, model: &Model, strict: bool, file: &Path) -> &'a mut Command {
    command.arg("compile").arg(&model.path).arg("-o").arg(file);
    for target in TARGETS {
        command.args(["--target", target]);
    }
    if strict {
        command.arg("--strict");
    }
    command
}

fn run_file<'a>(command: &'a mut Command, words: &[&str], model: &Model, file: &Path, out: &Path) -> &'a mut Command {
    let value = |flag: &str, path: &Path| format!("--{flag}=@{}", path.display());
    command.args(words).arg(file).arg(value("input", &model.input)).arg(value("output", out))
}
