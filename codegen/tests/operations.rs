//! Every operation on every type that the verifier admits: the interpreter's bits from machine code for this machine
//! and all lesser ones, with and without a promise about strides; machine code without an error for every target.
#![allow(missing_docs)]

mod support;

use smalti_codegen::clif::Compiler;
use smalti_codegen::jit::JitModule;
use smalti_codegen::{Elem, Func, Nest};
use smalti_isa::Target;
use support::{Case, TARGETS, levels, random};

const TYPED: &[(&str, usize)] = &[
    ("neg", 1),
    ("abs", 1),
    ("not", 1),
    ("sqrt", 1),
    ("floor", 1),
    ("ceil", 1),
    ("trunc", 1),
    ("nearest", 1),
    ("add", 2),
    ("sub", 2),
    ("mul", 2),
    ("div", 2),
    ("rem", 2),
    ("min", 2),
    ("max", 2),
    ("and", 2),
    ("or", 2),
    ("xor", 2),
    ("shl", 2),
    ("shr", 2),
    ("fma", 3),
];
const COMPARISONS: [&str; 6] = ["eq", "ne", "lt", "le", "gt", "ge"];
const REDUCTIONS: [&str; 4] = ["reduce_sum", "reduce_prod", "reduce_min", "reduce_max"];

/// What machine code has: values of these types.
fn types() -> impl Iterator<Item = Elem> {
    Elem::ALL.iter().copied().filter(|e| *e == e.widened())
}

/// A nest of one operation.
fn nest(op: &str, takes: &[Elem], gives: Elem, step: &str) -> Option<Nest> {
    let reduces = op.starts_with("reduce");
    let mut text = format!("nest @{} outer {} inner 1 {{\n", op.replace('.', "_"), usize::from(reduces));
    for (i, elem) in takes.iter().enumerate() {
        text += &format!("  in x{i}: {elem} {step}\n");
    }
    text += &format!("  out y: {gives} {}\n  loop {{\n", if reduces { "zero" } else { step });
    for i in 0..takes.len() {
        text += &format!("    %{i} = load x{i}\n");
    }
    text += &format!("    %{} = {op}", takes.len());
    for i in 0..takes.len() {
        text += &format!(" %{i}");
    }
    text += if reduces { "\n  }\n  once {\n" } else { "\n" };
    text += &format!("    store y %{}\n  }}\n}}", takes.len());
    Nest::parse(&text).ok()
}

/// All of them, on each type that the verifier admits; every word is admitted on some.
fn nests() -> Vec<Nest> {
    let mut rows: Vec<(String, Vec<Elem>, Elem)> = Vec::new();
    for ty in types() {
        rows.extend(TYPED.iter().map(|&(word, arity)| (format!("{word}.{ty}"), vec![ty; arity], ty)));
        rows.extend(Func::ALL.iter().map(|f| (format!("{f}.{ty}"), vec![ty; f.arity()], ty)));
        rows.extend(COMPARISONS.iter().map(|word| ((*word).to_owned(), vec![ty; 2], Elem::Bool)));
        rows.extend(REDUCTIONS.iter().map(|word| (format!("{word}.{ty}"), vec![ty], ty)));
        rows.push((format!("select.{ty}"), vec![Elem::Bool, ty, ty], ty));
        rows.extend(types().flat_map(|to| ["cast", "bitcast"].map(|word| (format!("{word}.{to}"), vec![ty], to))));
    }
    let made = |row: &(String, Vec<Elem>, Elem)| ["unit", ""].map(|step| nest(&row.0, &row.1, row.2, step));
    let nests: Vec<Nest> = rows.iter().flat_map(made).flatten().collect();
    for (op, ..) in &rows {
        let word = op.split('.').next().unwrap_or_default();
        assert!(nests.iter().any(|n| n.name.starts_with(word)), "no type has {word}");
    }
    nests
}

/// Four vectors of 32 partials and three elements.
const LEN: usize = 131;

#[test]
fn machine_code_gives_the_bits_of_the_interpreter() {
    let nests = nests();
    let mut wrong = Vec::new();
    for (level, target) in levels() {
        let (module, refused) = JitModule::new(&nests, &target).unwrap();
        assert!(refused.is_empty(), "{level}: {refused:?}");
        for (i, nest) in nests.iter().enumerate() {
            let strides = vec![1; nest.operands.len()];
            let data = nest.operands.iter().enumerate().map(|(seed, o)| random(o.elem, LEN, seed as u64)).collect();
            let case = if nest.outer == 0 {
                Case { extents: vec![LEN], strides, data }
            } else {
                // One sum.
                Case { extents: vec![1, LEN], strides: vec![0, 1, 0, 0], data }
            };
            let mut expected = case.data.clone();
            case.interpret(nest, &mut expected, 0, case.extents[0]).unwrap();
            let mut got = case.data.clone();
            case.execute(&module, i, &mut got, 0, case.extents[0]);
            wrong.extend(case.compare(nest, &expected, &got, &format!("{level}\n{nest}\n")).err());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[cfg_attr(not(target_arch = "x86_64"), ignore = "code is the same from every host, which tests/code.rs shows")]
fn every_target_has_machine_code() {
    for text in TARGETS {
        let compiler = Compiler::new(&Target::parse(text).unwrap()).unwrap();
        for nest in nests() {
            if let Err(error) = compiler.compile(&nest) {
                panic!("{text}: {error}\n{nest}");
            }
        }
    }
}
