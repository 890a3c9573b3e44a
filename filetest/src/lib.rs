//! Tests that are files: an input, a line `====`, and the output that is expected of it.
//!
//! With `SMALTI_BLESS=1` the outputs are rewritten instead of compared; read the difference before committing it.
#![forbid(unsafe_code)]

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

const SEPARATOR: &str = "\n====\n";

/// Runs `test` on the input of every file of `folder` that ends in `.extension`, one test a file. A folder without
/// such files is a failure.
pub fn run(folder: &Path, extension: &'static str, test: fn(&str) -> Result<String, String>) -> ExitCode {
    let mut trials = Vec::new();
    for path in files(folder, extension) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        trials.push(Trial::test(name, move || one(&path, test).map_err(Failed::from)));
    }
    if trials.is_empty() {
        eprintln!("no .{extension} file in {}", folder.display());
        return ExitCode::FAILURE;
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The files of `folder` that end in `.extension`, in order.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|p| p.extension().is_some_and(|e| e == extension))
        .collect();
    paths.sort();
    paths
}

fn one(path: &Path, test: fn(&str) -> Result<String, String>) -> Result<(), String> {
    let text = fs::read_to_string(path).map_err(|e| e.to_string())?;
    let (input, expected) = text.split_once(SEPARATOR).unwrap_or((text.trim_end(), ""));
    let actual = test(input)?;
    if blessing() {
        let text = format!("{}{SEPARATOR}{}\n", input, actual.trim_end());
        return fs::write(path, text).map_err(|e| e.to_string());
    }
    compare(expected, &actual)
}

/// Compares the whole of a file, which the code prints, with what it prints now.
///
/// # Errors
/// The first line that differs.
pub fn printed(path: &Path, actual: &str) -> Result<(), String> {
    if blessing() {
        return fs::write(path, actual).map_err(|e| format!("{}: {e}", path.display()));
    }
    let expected = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    compare(&expected, actual).map_err(|e| format!("{}: {e}", path.display()))
}

/// Whether outputs are rewritten instead of compared.
pub fn blessing() -> bool {
    env::var_os("SMALTI_BLESS").is_some_and(|v| v == "1")
}

/// A command that starts a program of this build: by the words of `SMALTI_RUNNER`, where tests run on an emulated machine.
pub fn program(path: &str) -> Command {
    let runner = env::var("SMALTI_RUNNER").unwrap_or_default();
    let mut words = runner.split_whitespace().chain([path]);
    let mut command = Command::new(words.next().unwrap_or(path));
    command.args(words);
    command
}

fn compare(expected: &str, actual: &str) -> Result<(), String> {
    let (expected, actual) = (expected.trim_end(), actual.trim_end());
    if expected == actual {
        return Ok(());
    }
    let at = expected.lines().zip(actual.lines()).take_while(|(e, a)| e == a).count();
    let line = |text: &str| text.lines().nth(at).unwrap_or("the end").to_owned();
    Err(format!(
        "line {} of the output differs (SMALTI_BLESS=1 rewrites it)\n  expected: {}\n  actual:   {}\n\nwhole output:\n{actual}",
        at + 1,
        line(expected),
        line(actual)
    ))
}

/// Compares the part of a file between `<!-- printed: NAME -->` and `<!-- end -->` with what the code prints now.
///
/// # Errors
/// There is no such part, or the first line that differs.
pub fn printed_part(path: &Path, name: &str, actual: &str) -> Result<(), String> {
    let wrong = |e: String| format!("{}, part {name}: {e}", path.display());
    let text = fs::read_to_string(path).map_err(|e| wrong(e.to_string()))?;
    let begin = format!("<!-- printed: {name} -->\n");
    let (before, rest) = text.split_once(&begin).ok_or_else(|| wrong("there is no such part".to_owned()))?;
    let (expected, after) = rest.split_once("<!-- end -->").ok_or_else(|| wrong("the part has no end".to_owned()))?;
    let actual = format!("{}\n", actual.trim_end());
    if blessing() {
        let text = format!("{before}{begin}{actual}<!-- end -->{after}");
        return fs::write(path, text).map_err(|e| wrong(e.to_string()));
    }
    compare(expected, &actual).map_err(wrong)
}
