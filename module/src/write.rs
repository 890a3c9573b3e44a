//! From a module to the bytes of its file.

use crate::manifest::{self, Manifest};
use crate::{ALIGN, ENTRY, HEADER, MAGIC, Module, Port, VERSION, kind};
use alloc::collections::BTreeMap;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use bytes::Bytes;
use prost::Message;

/// Constants of a file: each content once.
#[derive(Default)]
struct Pool {
    /// Numbers of the constants that have a checksum and a length.
    found: BTreeMap<(u32, usize), Vec<u32>>,
    constants: Vec<(Bytes, manifest::Constant)>,
    end: usize,
}

impl Pool {
    fn number(&mut self, bytes: &Bytes) -> u32 {
        let crc = crc32fast::hash(bytes);
        let same = self.found.entry((crc, bytes.len())).or_default();
        if let Some(&at) = same.iter().find(|&&at| self.constants[at as usize].0 == *bytes) {
            return at;
        }
        let at = self.constants.len() as u32;
        same.push(at);
        let constant = manifest::Constant { offset: self.end as u64, length: bytes.len() as u64, crc };
        self.constants.push((bytes.clone(), constant));
        self.end = (self.end + bytes.len()).next_multiple_of(ALIGN);
        at
    }
}

fn ports(list: &[Port]) -> Vec<manifest::Port> {
    list.iter()
        .map(|p| manifest::Port { name: p.name.clone(), elem: p.elem.to_string(), dims: p.dims.clone() })
        .collect()
}

impl Module {
    /// The bytes of the file, in pieces: constants are lent, not copied. [`VERSION`] is written, whatever the module's
    /// own is.
    pub fn encode(&self) -> Vec<Bytes> {
        let mut pool = Pool::default();
        // Section 0 is the manifest; the constants are the last.
        let mut sections: Vec<(u32, Bytes)> = vec![(kind::MANIFEST, Bytes::new())];
        let mut add = |kind, bytes: &Bytes| {
            sections.push((kind, bytes.clone()));
            sections.len() as u32 - 1
        };
        let blobs = self.graph.blobs.iter().map(|b| manifest::Blob {
            constant: pool.number(&b.bytes),
            elem: b.elem.to_string(),
            shape: b.shape.iter().map(|&d| d as u64).collect(),
        });
        let blobs = blobs.collect();
        let graph = manifest::Portable { section: add(kind::GRAPH, &self.graph.text), blobs };
        let variants = self.variants.iter().map(|v| manifest::Variant {
            target: v.target.to_string(),
            program: add(kind::PROGRAM, &v.text),
            constants: v.constants.iter().map(|c| pool.number(c)).collect(),
            code: v.code.as_ref().map(|code| manifest::Code {
                section: add(kind::CODE, &code.bytes),
                abi: code.abi,
                entries: code.entries.iter().map(|e| e.map_or(0, |at| at + 1)).collect(),
            }),
        });
        let variants = variants.collect();
        let manifest = Manifest {
            producer: self.producer.clone(),
            name: self.name.clone(),
            strict: self.strict,
            inputs: ports(&self.inputs),
            outputs: ports(&self.outputs),
            constants: pool.constants.iter().map(|c| c.1).collect(),
            graph: Some(graph),
            variants,
        };
        sections[0].1 = Bytes::from(manifest.encode_to_vec());

        let mut head = Vec::new();
        let mut at = (HEADER + (sections.len() + 1) * ENTRY).next_multiple_of(ALIGN);
        let mut table = Vec::new();
        let mut entry = |kind: u32, crc: u32, length: usize| {
            table.extend_from_slice(&kind.to_le_bytes());
            table.extend_from_slice(&crc.to_le_bytes());
            table.extend_from_slice(&(at as u64).to_le_bytes());
            table.extend_from_slice(&(length as u64).to_le_bytes());
            table.extend_from_slice(&[0; 8]);
            let end = at + length;
            at = end.next_multiple_of(ALIGN);
            end
        };
        for (kind, bytes) in &sections {
            entry(*kind, crc32fast::hash(bytes), bytes.len());
        }
        let length = entry(kind::CONSTANTS, 0, pool.end);
        head.extend_from_slice(&MAGIC);
        head.extend_from_slice(&VERSION.0.to_le_bytes());
        head.extend_from_slice(&VERSION.1.to_le_bytes());
        head.extend_from_slice(&(sections.len() as u32 + 1).to_le_bytes());
        head.extend_from_slice(&(length as u64).to_le_bytes());
        head.extend_from_slice(&[0; 8]);
        head.extend_from_slice(&table);
        let crc = crc32fast::hash(&head);
        head[24..28].copy_from_slice(&crc.to_le_bytes());

        let mut pieces = Vec::new();
        let mut push = |bytes: Bytes| {
            let padding = bytes.len().next_multiple_of(ALIGN) - bytes.len();
            pieces.push(bytes);
            pieces.push(Bytes::from_static(&[0; ALIGN]).slice(..padding));
        };
        push(Bytes::from(head));
        sections.into_iter().for_each(|s| push(s.1));
        pool.constants.into_iter().for_each(|c| push(c.0));
        pieces.retain(|p| !p.is_empty());
        pieces
    }
}
