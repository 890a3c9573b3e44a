//! Where outputs go, and how they are compared with what was expected.

use crate::value::{self, Port, ValueError};
use crate::{Tensor, npy};
use smalti_codegen::Elem;
use std::fs::File;

/// How far apart outputs may be: absolute differences by type, and a relative one that is added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Of f32 and f64.
    pub f32: f64,
    /// Of f16.
    pub f16: f64,
    /// Of bf16.
    pub bf16: f64,
    /// Times the expected magnitude.
    pub rtol: f64,
}

impl Tolerance {
    /// What is taken where nothing else is said.
    pub const DEFAULT: Tolerance = Tolerance { f32: 1e-4, f16: 1e-3, bf16: 1e-2, rtol: 1e-5 };
}

/// What is done with the outputs of a run, as a command line says.
pub struct Outputs<'a> {
    ports: &'a [Port],
    places: Vec<Option<&'a str>>,
    print: bool,
    expected: Vec<Option<Tensor>>,
    tolerance: Tolerance,
    most: usize,
}

impl<'a> Outputs<'a> {
    /// `places` says where outputs go: see [`place`]; without any, all are printed. `expected` says what they should be:
    /// see [`value::read`]; `(ignored)` takes anything.
    ///
    /// # Errors
    /// A text that names no output, or what should be there can't be read.
    pub fn new(
        ports: &'a [Port],
        places: &'a [String],
        expected: &[String],
        tolerance: Tolerance,
        most: usize,
    ) -> Result<Outputs<'a>, ValueError> {
        let texts = value::assign(ports, expected, "output")?;
        let wanted = |(text, port): (Option<&str>, &Port)| {
            text.filter(|t| *t != "(ignored)").map(|text| value::read(text, port)).transpose()
        };
        Ok(Outputs {
            ports,
            places: value::assign(ports, places, "output")?,
            print: places.is_empty(),
            expected: texts.into_iter().zip(ports).map(wanted).collect::<Result<_, _>>()?,
            tolerance,
            most,
        })
    }

    /// Prints and writes outputs. The result has a sentence for each that is not what it should be.
    ///
    /// # Errors
    /// An output that can't be written.
    pub fn take(&self, results: &[Tensor]) -> Result<Vec<String>, ValueError> {
        let mut differences = Vec::new();
        for (i, (port, tensor)) in self.ports.iter().zip(results).enumerate() {
            place(self.places[i], self.print, port, tensor, self.most)?;
            let difference = self.expected[i].as_ref().and_then(|wanted| differs(tensor, wanted, &self.tolerance));
            differences.extend(difference.map(|d| format!("output '{}' differs: {d}", port.name)));
        }
        Ok(differences)
    }
}

/// Prints an output (`-`, or nothing at all where `print` says so: at most `most` elements), or writes it: `@FILE.npy`,
/// `+FILE.npy` (append), `@FILE.bin`. An empty text ignores it.
///
/// # Errors
/// No place, or a file that can't be written.
pub fn place(text: Option<&str>, print: bool, port: &Port, tensor: &Tensor, most: usize) -> Result<(), ValueError> {
    match text {
        None if !print => Ok(()),
        None | Some("-") => {
            println!("{}: {}", port.name, value::show(tensor, most));
            if let Some(line) = arg_max(tensor) {
                println!("{line}");
            }
            Ok(())
        }
        Some("") => Ok(()),
        Some(text) => {
            let (append, path) = match (text.strip_prefix('@'), text.strip_prefix('+')) {
                (Some(path), _) => (false, path),
                (_, Some(path)) => (true, path),
                _ => return Err(ValueError(format!("output '{text}': write @FILE.npy, +FILE.npy, @FILE.bin or -"))),
            };
            let opened = if append { File::options().append(true).create(true).open(path) } else { File::create(path) };
            let file = opened.map_err(|e| ValueError(format!("{path}: {e}")))?;
            if path.ends_with(".bin") {
                use std::io::Write;
                let mut file = file;
                return file.write_all(&tensor.bytes).map_err(|e| ValueError(format!("{path}: {e}")));
            }
            npy::write(file, path, tensor)
        }
    }
}

/// The place of the greatest element along the last dim, for up to 16 rows.
fn arg_max(tensor: &Tensor) -> Option<String> {
    let last = *tensor.shape.last()?;
    if last < 2 || tensor.elem == Elem::Bool || tensor.len() / last > 16 {
        return None;
    }
    let row = |r: usize| {
        let at = |i: usize| tensor.get(r * last + i);
        (1..last).fold(0, |best, i| if at(i) > at(best) { i } else { best })
    };
    let found: Vec<String> = (0..tensor.len() / last).map(|r| row(r).to_string()).collect();
    Some(format!("arg-max {}", found.join(" ")))
}

/// How an output differs from what was expected.
pub fn differs(got: &Tensor, wanted: &Tensor, tolerance: &Tolerance) -> Option<String> {
    if got.elem != wanted.elem || got.shape != wanted.shape {
        return Some(format!("it is {}{:?}, expected {}{:?}", got.elem, got.shape, wanted.elem, wanted.shape));
    }
    let absolute = match got.elem {
        Elem::F32 | Elem::F64 => tolerance.f32,
        Elem::F16 => tolerance.f16,
        Elem::Bf16 => tolerance.bf16,
        _ => 0.0,
    };
    let relative = if got.elem.is_float() { tolerance.rtol } else { 0.0 };
    let wrong = |i: &usize| {
        if !got.elem.is_float() {
            return got.at(*i) != wanted.at(*i);
        }
        let (a, b) = (got.get(*i), wanted.get(*i));
        let exact = got.at(*i) == wanted.at(*i) || a == b || a.is_nan() && b.is_nan();
        // Beside an infinity every tolerance is infinite.
        let close = a.is_finite() && b.is_finite() && (a - b).abs() <= absolute + relative * b.abs();
        !(exact || close)
    };
    let count = (0..got.len()).filter(wrong).count();
    let first = (0..got.len()).find(wrong)?;
    Some(format!("[{first}] is {}, expected {} ({count} of {} differ)", got.get(first), wanted.get(first), got.len()))
}
