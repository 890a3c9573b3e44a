//! The .smalti file: a compiled model that any later runtime reads.
//!
//! A [`Module`] has a portable part, the graph, from which code can be made for any machine, and variants, one for each
//! target that was asked for: a program and the machine code of its dispatches. Constants belong to both; each is in
//! the file once.
//!
//! # The file
//! All numbers are little-endian; every section begins at a multiple of 64 bytes.
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | [`MAGIC`] |
//! | 8..10, 10..12 | format version, major and minor |
//! | 12..16 | number of sections, 2 to 4096 |
//! | 16..24 | length of the file |
//! | 24..28 | CRC-32 of the header and the section table, with zeros in these four bytes |
//! | 28..32 | zero |
//! | 32.. | section table: 32 bytes a section |
//!
//! An entry of the section table:
//!
//! | bytes | what |
//! |---|---|
//! | 0..4 | kind: 1 manifest, 2 graph, 3 program, 4 code, 5 constants; readers skip kinds that they don't know |
//! | 4..8 | CRC-32 of the section; zero for constants, whose checksums are in the manifest, one each |
//! | 8..16 | first byte |
//! | 16..24 | length |
//! | 24..32 | zero |
//!
//! The manifest is a Protocol Buffers message, see [`manifest`]. Graph and programs are their text forms, in UTF-8; code is
//! machine code that can be copied anywhere, without relocations, of the [dispatch ABI](smalti_codegen::abi). CRC-32 is
//! that of IEEE 802.3.
//!
//! # Versions
//! A reader takes every minor version of its major version: what a minor version adds is fields and sections that may be
//! skipped. While the major version is 0, minor versions promise nothing to each other.
//!
//! # Trust
//! Everything but constants is compared with its checksum when it is read, and checked before it is used. Checksums
//! find damage, not malice: machine code of a file from elsewhere does what it likes, programs can't.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod error;
pub mod manifest;
mod read;
mod write;

use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;
use smalti_codegen::Elem;
use smalti_isa::{Caches, Target};
use smalti_program::Program;

pub use error::{ModuleError, Place};

/// The first bytes of every file.
pub const MAGIC: [u8; 8] = *b"\x93SMALTI\n";
/// The format version that is written: major and minor.
pub const VERSION: (u16, u16) = (0, 1);
/// What sections and constants are aligned to.
pub const ALIGN: usize = 64;

const HEADER: usize = 32;
const ENTRY: usize = 32;
const SECTIONS: usize = 4096;
/// A manifest is not larger: decoded, it is held in memory many times over.
const MANIFEST: usize = 4 << 20;

/// Kinds of sections.
mod kind {
    pub(crate) const MANIFEST: u32 = 1;
    pub(crate) const GRAPH: u32 = 2;
    pub(crate) const PROGRAM: u32 = 3;
    pub(crate) const CODE: u32 = 4;
    pub(crate) const CONSTANTS: u32 = 5;

    pub(crate) fn name(kind: u32) -> &'static str {
        match kind {
            MANIFEST => "manifest",
            GRAPH => "graph",
            PROGRAM => "program",
            CODE => "code",
            CONSTANTS => "constants",
            _ => "unknown",
        }
    }
}

/// A compiled model.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// The format version of the file.
    pub version: (u16, u16),
    /// What wrote it: a name and a version.
    pub producer: String,
    /// The model's name.
    pub name: String,
    /// Whether the same bits come out on every machine.
    pub strict: bool,
    /// What a run is given.
    pub inputs: Vec<Port>,
    /// What a run gives.
    pub outputs: Vec<Port>,
    /// The portable part.
    pub graph: Portable,
    /// Code for targets, in the order in which they were asked for.
    pub variants: Vec<Variant>,
}

/// An input or an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name in the model.
    pub name: String,
    /// Its elements' type.
    pub elem: Elem,
    /// Its dims: numbers, or expressions over symbols.
    pub dims: Vec<String>,
}

impl Port {
    /// The type in words: `f32[N,3]`.
    pub fn ty(&self) -> String {
        alloc::format!("{}[{}]", self.elem, self.dims.join(","))
    }
}

/// The graph, which only the compiler reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Portable {
    /// Its text.
    pub text: Bytes,
    /// Tensors that the text refers to, by number.
    pub blobs: Vec<Blob>,
}

/// A tensor of the graph: row-major, little-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// Its elements' type.
    pub elem: Elem,
    /// Its dims.
    pub shape: Vec<usize>,
    /// Its elements.
    pub bytes: Bytes,
}

/// What was compiled for one target.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The target.
    pub target: Target,
    /// The program's text.
    pub text: Bytes,
    /// Its constants, by number.
    pub constants: Vec<Bytes>,
    /// Machine code of its dispatches.
    pub code: Option<Code>,
}

/// Machine code of the dispatches of one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// Version of the [dispatch ABI](smalti_codegen::abi::VERSION) that it follows.
    pub abi: u32,
    /// Where each nest's function begins; none for those that are interpreted.
    pub entries: Vec<Option<u32>>,
    /// The code.
    pub bytes: Bytes,
}

impl Variant {
    /// The variant of a program, for its target.
    pub fn new(program: &Program, code: Option<Code>) -> Variant {
        Variant {
            // What a target's text says; caches are the machine's own.
            target: Target { caches: Caches::ASSUMED, ..program.target },
            text: Bytes::from(program.print()),
            constants: program.constants.iter().map(|c| c.bytes.clone()).collect(),
            code,
        }
    }

    /// The program.
    ///
    /// # Errors
    /// The first line that is wrong, or what the verifier says.
    pub fn program(&self) -> Result<Program, ModuleError> {
        let wrong = |reason| ModuleError::Program { target: alloc::format!("{}", self.target), reason };
        let text = core::str::from_utf8(&self.text).map_err(|e| wrong(alloc::format!("{e}")))?;
        let program = Program::parse(text, &self.constants).map_err(|e| wrong(alloc::format!("{e}")))?;
        if program.target != self.target {
            return Err(wrong(alloc::format!("its text is for {}", program.target)));
        }
        let entries = self.code.as_ref().map_or(program.nests.len(), |c| c.entries.len());
        if entries != program.nests.len() {
            let nests = program.nests.len();
            return Err(wrong(alloc::format!("its code has {entries} functions, its text {nests} nests")));
        }
        Ok(program)
    }
}

impl Module {
    /// The number of the variant that serves `machine` best: of those that it can run, the one that asks for most
    /// features, then for the machine's own vector length, then for its core; of equals, the first.
    pub fn best(&self, machine: &Target) -> Option<usize> {
        let rank = |t: &Target| (t.features.iter().count(), t.vlen.is_some(), t.core == machine.core);
        let fitting = self.variants.iter().enumerate().filter(|v| machine.runs(&v.1.target));
        fitting.rev().max_by_key(|v| rank(&v.1.target)).map(|v| v.0)
    }
}
