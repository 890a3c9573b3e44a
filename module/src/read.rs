//! From the bytes of a file to a module.

use crate::manifest::{self, Manifest};
use crate::{
    ALIGN, Blob, Code, ENTRY, HEADER, MAGIC, MANIFEST, Module, ModuleError, Place, Port, Portable, SECTIONS, VERSION,
    Variant, kind,
};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use bytes::Bytes;
use prost::Message;
use smalti_codegen::Elem;
use smalti_isa::Target;

/// A section that lies inside of its file.
#[derive(Clone, Copy)]
struct Section {
    number: usize,
    kind: u32,
    crc: u32,
    start: usize,
    length: usize,
}

impl Section {
    fn damaged(&self, at: usize, reason: impl Into<String>) -> ModuleError {
        let place =
            Place { section: kind::name(self.kind), number: Some(self.number), offset: (self.start + at) as u64 };
        ModuleError::Damaged { place, reason: reason.into() }
    }
}

fn damaged(section: &'static str, offset: usize, reason: impl Into<String>) -> ModuleError {
    ModuleError::Damaged { place: Place { section, number: None, offset: offset as u64 }, reason: reason.into() }
}

/// A little-endian number; zeros where the bytes end.
fn number(bytes: &[u8], at: usize, width: usize) -> u64 {
    let mut word = [0; 8];
    if let Some(found) = bytes.get(at..at + width) {
        word[..width].copy_from_slice(found);
    }
    u64::from_le_bytes(word)
}

/// Whether a file begins like a module.
pub(crate) fn is_module(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// The section table, in the order of the file.
fn sections(file: &[u8]) -> Result<Vec<Section>, ModuleError> {
    if !is_module(file) {
        let found: String = file.iter().take(8).map(|b| format!("{b:02x} ")).collect();
        let found = if found.is_empty() { "nothing" } else { found.trim_end() };
        return Err(ModuleError::Magic { found: found.to_string() });
    }
    let found = (number(file, 8, 2) as u16, number(file, 10, 2) as u16);
    if file.len() >= HEADER && (found.0 != VERSION.0 || VERSION.0 == 0 && found.1 != VERSION.1) {
        return Err(ModuleError::Version { found, known: VERSION });
    }
    let length = number(file, 16, 8);
    if file.len() < HEADER || length != file.len() as u64 {
        return Err(damaged("header", 16, format!("the file has {} bytes, it should have {length}", file.len())));
    }
    let count = number(file, 12, 4) as usize;
    if !(2..=SECTIONS).contains(&count) {
        return Err(damaged("header", 12, format!("{count} sections; a file has 2 to {SECTIONS}")));
    }
    let end = HEADER + count * ENTRY;
    let Some(head) = file.get(..end) else {
        return Err(damaged("section table", HEADER, format!("it ends at {end}, beyond the file's {length} bytes")));
    };
    let mut hash = crc32fast::Hasher::new();
    hash.update(&head[..24]);
    hash.update(&[0; 4]);
    hash.update(&head[28..]);
    let (stated, found) = (number(head, 24, 4) as u32, hash.finalize());
    if stated != found {
        return Err(damaged("header", 24, format!("the checksum is {found:08x}, it should be {stated:08x}")));
    }
    let mut list = Vec::new();
    let mut free = end;
    for i in 0..count {
        let at = HEADER + i * ENTRY;
        let (start, length) = (number(head, at + 8, 8), number(head, at + 16, 8));
        let inside = start.checked_add(length).is_some_and(|end| end <= file.len() as u64);
        if !inside || start < free as u64 || !start.is_multiple_of(ALIGN as u64) {
            let reason = format!(
                "section {i} has {length} bytes from {start}; it must begin at a multiple of {ALIGN}, not before {free}, and end in the file"
            );
            return Err(damaged("section table", at + 8, reason));
        }
        free = (start + length) as usize;
        list.push(Section {
            number: i,
            kind: number(head, at, 4) as u32,
            crc: number(head, at + 4, 4) as u32,
            start: start as usize,
            length: length as usize,
        });
    }
    Ok(list)
}

/// A file with its sections, all of which but the constants have the right checksums.
struct Reader<'a> {
    file: &'a Bytes,
    sections: Vec<Section>,
    manifest: Section,
    constants: Section,
}

impl<'a> Reader<'a> {
    fn new(file: &'a Bytes) -> Result<(Reader<'a>, Manifest), ModuleError> {
        let sections = sections(file)?;
        let one = |kind: u32| {
            let mut found = sections.iter().filter(|s| s.kind == kind);
            match (found.next(), found.next()) {
                (Some(section), None) => Ok(*section),
                _ => Err(damaged("section table", HEADER, format!("there must be one {} section", kind::name(kind)))),
            }
        };
        let (manifest, constants) = (one(kind::MANIFEST)?, one(kind::CONSTANTS)?);
        for s in sections.iter().filter(|s| s.kind != kind::CONSTANTS) {
            let found = crc32fast::hash(&file[s.start..s.start + s.length]);
            if found != s.crc {
                let reason =
                    format!("the checksum of its {} bytes is {found:08x}, it should be {:08x}", s.length, s.crc);
                return Err(s.damaged(0, reason));
            }
        }
        if manifest.length > MANIFEST {
            return Err(manifest.damaged(0, format!("it has {} bytes, at most {MANIFEST} are read", manifest.length)));
        }
        let reader = Reader { file, sections, manifest, constants };
        let manifest = Manifest::decode(reader.bytes(&manifest)).map_err(|e| reader.wrong(e.to_string()))?;
        Ok((reader, manifest))
    }

    fn wrong(&self, reason: impl Into<String>) -> ModuleError {
        self.manifest.damaged(0, reason)
    }

    fn bytes(&self, section: &Section) -> Bytes {
        self.file.slice(section.start..section.start + section.length)
    }

    fn section(&self, number: u32, kind: u32, whose: &str) -> Result<Bytes, ModuleError> {
        let found = self.sections.get(number as usize).filter(|s| s.kind == kind);
        let name = kind::name(kind);
        let found = found.ok_or_else(|| self.wrong(format!("{whose} has section {number}, which is no {name}")))?;
        Ok(self.bytes(found))
    }

    fn elem(&self, text: &str) -> Result<Elem, ModuleError> {
        Elem::parse(text).ok_or_else(|| self.wrong(format!("'{text}' is no element type")))
    }

    fn ports(&self, list: Vec<manifest::Port>) -> Result<Vec<Port>, ModuleError> {
        list.into_iter().map(|p| Ok(Port { elem: self.elem(&p.elem)?, name: p.name, dims: p.dims })).collect()
    }

    /// The module that the manifest describes.
    fn module(&self, manifest: Manifest) -> Result<Module, ModuleError> {
        let constants = manifest.constants.iter().enumerate().map(|(i, c)| {
            let section = &self.constants;
            let end = c.offset.checked_add(c.length).filter(|&end| end <= section.length as u64);
            match end {
                Some(end) if c.offset.is_multiple_of(ALIGN as u64) => {
                    Ok(self.file.slice(section.start + c.offset as usize..section.start + end as usize))
                }
                _ => Err(self.wrong(format!(
                    "constant {i} has {} bytes from {}; it must begin at a multiple of {ALIGN} and end in the {} bytes of section {}",
                    c.length, c.offset, section.length, section.number
                ))),
            }
        });
        let constants: Vec<Bytes> = constants.collect::<Result<_, _>>()?;
        let constant = |number: u32, whose: &str| {
            let count = constants.len();
            let found = constants.get(number as usize).cloned();
            found.ok_or_else(|| self.wrong(format!("{whose} has constant {number}, there are {count}")))
        };
        let graph = manifest.graph.ok_or_else(|| self.wrong("there is no portable part"))?;
        let blobs = graph.blobs.into_iter().map(|b| {
            let elem = self.elem(&b.elem)?;
            let bytes = constant(b.constant, "the graph")?;
            let shape: Vec<usize> = b.shape.iter().map(|&d| usize::try_from(d).unwrap_or(usize::MAX)).collect();
            let length = shape.iter().try_fold(elem.size(), |p, &d| p.checked_mul(d));
            if length != Some(bytes.len()) {
                return Err(self.wrong(format!("a blob {elem}{shape:?} has {} bytes", bytes.len())));
            }
            Ok(Blob { elem, shape, bytes })
        });
        let blobs = blobs.collect::<Result<_, _>>()?;
        let graph = Portable { text: self.section(graph.section, kind::GRAPH, "the portable part")?, blobs };
        let variants = manifest.variants.into_iter().map(|v| {
            let target = Target::parse(&v.target).map_err(|e| self.wrong(e.to_string()))?;
            if v.target == "host" {
                return Err(self.wrong("a variant is for 'host', which says nothing"));
            }
            let whose = format!("the variant for {}", v.target);
            let code = v.code.map(|c| {
                let bytes = self.section(c.section, kind::CODE, &whose)?;
                let entries = c.entries.iter().map(|&e| match e.checked_sub(1) {
                    Some(at) if at as usize >= bytes.len() => {
                        let reason = format!("{whose}: a function begins at {at} of {} bytes of code", bytes.len());
                        Err(self.wrong(reason))
                    }
                    at => Ok(at),
                });
                Ok(Code { abi: c.abi, entries: entries.collect::<Result<_, _>>()?, bytes })
            });
            Ok(Variant {
                target,
                text: self.section(v.program, kind::PROGRAM, &whose)?,
                constants: v.constants.iter().map(|&c| constant(c, &whose)).collect::<Result<_, _>>()?,
                code: code.transpose()?,
            })
        });
        let variants = variants.collect::<Result<_, _>>()?;
        Ok(Module {
            version: (number(self.file, 8, 2) as u16, number(self.file, 10, 2) as u16),
            producer: manifest.producer,
            name: manifest.name,
            strict: manifest.strict,
            inputs: self.ports(manifest.inputs)?,
            outputs: self.ports(manifest.outputs)?,
            graph,
            variants,
        })
    }
}

impl Module {
    /// Whether a file begins like a module.
    pub fn begins(bytes: &[u8]) -> bool {
        is_module(bytes)
    }

    /// Reads a file: checks its structure and all checksums but those of constants. Constants and texts are parts of
    /// `file`, not copies.
    ///
    /// # Errors
    /// No module, one of another version, or the section and byte where it is damaged.
    pub fn read(file: &Bytes) -> Result<Module, ModuleError> {
        let (reader, manifest) = Reader::new(file)?;
        reader.module(manifest)
    }

    /// Checks what [`Module::read`] leaves out: checksums of constants, zeros between sections, and every program.
    ///
    /// # Errors
    /// The section and byte of the first thing that is wrong.
    pub fn verify(file: &Bytes) -> Result<(), ModuleError> {
        let (reader, manifest) = Reader::new(file)?;
        let module = reader.module(manifest.clone())?;
        for (i, c) in manifest.constants.iter().enumerate() {
            let section = &reader.constants;
            let start = section.start + c.offset as usize;
            let found = crc32fast::hash(&file[start..start + c.length as usize]);
            if found != c.crc {
                let reason = format!("the checksum of constant {i} is {found:08x}, it should be {:08x}", c.crc);
                return Err(section.damaged(c.offset as usize, reason));
            }
        }
        let mut gaps = Vec::new();
        let mut end = HEADER + reader.sections.len() * ENTRY;
        for s in &reader.sections {
            gaps.push((end, s.start));
            end = s.start + s.length;
        }
        gaps.push((end, file.len()));
        let mut at = reader.constants.start;
        for c in &manifest.constants {
            let start = reader.constants.start + c.offset as usize;
            gaps.push((at.min(start), start));
            at = start + c.length as usize;
        }
        for (from, to) in gaps {
            if let Some(at) = (from..to).find(|&i| file[i] != 0) {
                let reason = format!("{:02x} between two parts, where only zeros may be", file[at]);
                return Err(damaged("padding", at, reason));
            }
        }
        module.variants.iter().try_for_each(|v| v.program().map(drop))
    }
}
