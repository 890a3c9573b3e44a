//! `.program` files: texts that must print and parse to themselves, or be refused with a sentence.
#![allow(missing_docs)]

use bytes::Bytes;
use smalti_program::Program;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    smalti_filetest::run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs"), "program", |input| {
        // Constants are zeros of the length that the text asks for.
        let lengths = input
            .lines()
            .filter_map(|l| l.trim().strip_prefix("constant ")?.split_whitespace().rev().nth(1)?.parse().ok());
        let constants: Vec<Bytes> = lengths.map(|n: usize| vec![0; n].into()).collect();
        match Program::parse(input, &constants) {
            Ok(program) => {
                let text = program.print();
                let again = Program::parse(&text, &constants).map_err(|e| format!("{e}\n{text}"))?;
                assert_eq!(again.print(), text, "the text round-trips");
                Ok(text)
            }
            Err(error) => Ok(format!("error: {error}")),
        }
    })
}
