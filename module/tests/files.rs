//! Files: written, read, damaged in every byte.
#![allow(missing_docs)]

use bytes::Bytes;
use smalti_codegen::Elem;
use smalti_isa::Target;
use smalti_module::{ALIGN, Blob, Code, MAGIC, Module, ModuleError, Place, Port, Portable, VERSION, Variant};
use smalti_program::Program;

const PROGRAM: &str = r#"program "double" for "x86_64_v3" {
  input "x" = %0 [N]
  output "y" = %2 [N]
  constant "w" 16 bytes
  buffer %0: f32[N] in input 0
  buffer %1: f32[4] in constant 0
  buffer %2: f32[N] in slot 0
  | nest @double outer 0 inner 1 {
  |   in x: f32 unit
  |   out y: f32 unit
  |   loop {
  |     %0 = load x
  |     %1 = add.f32 %0 %0
  |     store y %1
  |   }
  | }
  once {
  }
  run {
    dispatch "double" nest 0 [N]
      (%0 at 0 by [1])
      (%2 at 0 by [1])
  }
}
"#;

fn module() -> Module {
    let weights = Bytes::from(vec![1u8; 16]);
    let other = Bytes::from(vec![2u8; 100]);
    let variant = |target: &str, code: &[u8]| {
        let program = Program::parse(&PROGRAM.replace("x86_64_v3", target), std::slice::from_ref(&weights)).unwrap();
        let bytes = Bytes::copy_from_slice(code);
        Variant::new(&program, Some(Code { abi: 1, entries: vec![Some(0)], bytes }))
    };
    Module {
        version: VERSION,
        producer: "a test".into(),
        name: "double".into(),
        strict: true,
        inputs: vec![Port { name: "x".into(), elem: Elem::F32, dims: vec!["N".into()] }],
        outputs: vec![Port { name: "y".into(), elem: Elem::F32, dims: vec!["N".into()] }],
        graph: Portable {
            text: Bytes::from_static(b"any text"),
            blobs: vec![
                Blob { elem: Elem::F32, shape: vec![2, 2], bytes: weights.clone() },
                Blob { elem: Elem::U8, shape: vec![100], bytes: other },
                Blob { elem: Elem::I64, shape: vec![0, 7], bytes: Bytes::new() },
            ],
        },
        variants: vec![variant("x86_64_v3", &[0xc3; 70]), variant("aarch64", &[0xc0; 8])],
    }
}

fn file(module: &Module) -> Vec<u8> {
    module.encode().concat()
}

#[test]
fn what_is_written_is_read() {
    let module = module();
    let bytes = Bytes::from(file(&module));
    assert_eq!(Module::read(&bytes).unwrap(), module);
    Module::verify(&bytes).unwrap();
    assert_eq!(Module::read(&bytes).unwrap().encode().concat(), bytes, "and written again, to the byte");
    assert_eq!(Module::read(&bytes).unwrap().variants[0].program().unwrap().print(), PROGRAM);
}

/// The 16 bytes of the weights serve the graph and both programs; each constant begins at a multiple of 64.
#[test]
fn constants_are_there_once_and_aligned() {
    let bytes = Bytes::from(file(&module()));
    let read = Module::read(&bytes).unwrap();
    let at = |b: &Bytes| b.as_ptr().addr() - bytes.as_ptr().addr();
    let weights = at(&read.graph.blobs[0].bytes);
    assert_eq!(weights % ALIGN, 0);
    assert_eq!(read.variants.iter().map(|v| at(&v.constants[0])).collect::<Vec<_>>(), [weights; 2]);
    assert_eq!(at(&read.graph.blobs[1].bytes), weights + ALIGN, "16 bytes, padded");
    assert_eq!(bytes.windows(16).filter(|w| *w == [1; 16]).count(), 1);
}

/// Whatever byte changes, reading or verifying says in which section, and at which byte, something is wrong.
#[test]
fn every_changed_byte_is_found() {
    let good = file(&module());
    let constants = Module::read(&Bytes::from(good.clone())).unwrap();
    let first = good.len() - (ALIGN + 100);
    assert_eq!(constants.graph.blobs[1].bytes.len(), 100);
    for i in 0..good.len() {
        for flip in [1u8, 0x80] {
            let mut bad = good.clone();
            bad[i] ^= flip;
            let bad = Bytes::from(bad);
            let error = Module::verify(&bad).expect_err("a changed byte");
            let text = error.to_string();
            match (&error, i) {
                (ModuleError::Magic { .. }, 0..8) | (ModuleError::Version { .. }, 8..12) => {}
                (ModuleError::Damaged { place, .. }, _) => {
                    assert!(text.contains(place.section) && text.contains(&format!("byte {}", place.offset)), "{text}");
                    assert!(place.offset <= good.len() as u64, "{text}");
                    if place.section == "padding" {
                        assert_eq!(place.offset, i as u64, "{text}");
                    }
                    if i >= first && place.section == "constants" {
                        assert!(place.offset as usize <= i && i < place.offset as usize + 100, "byte {i}: {text}");
                    }
                }
                _ => panic!("byte {i}: {text}"),
            }
            // Loading leaves constants and padding out, and nothing else.
            let padding = matches!(&error, ModuleError::Damaged { place: Place { section, .. }, .. } if *section == "padding" || *section == "constants");
            assert_eq!(Module::read(&bad).is_ok(), padding, "byte {i}: {text}");
        }
    }
}

#[test]
fn every_shorter_or_longer_file_is_refused() {
    let good = file(&module());
    for length in 0..good.len() {
        let error = Module::read(&Bytes::copy_from_slice(&good[..length])).expect_err("a cut file");
        match error {
            ModuleError::Magic { .. } => assert!(length < MAGIC.len()),
            ModuleError::Damaged { place, reason } => {
                assert_eq!((place.section, place.offset), ("header", 16), "{reason}");
                assert!(reason.starts_with(&format!("the file has {length} bytes")), "{reason}");
            }
            other => panic!("{other}"),
        }
    }
    let longer = Bytes::from([&good[..], &[0]].concat());
    assert!(Module::read(&longer).unwrap_err().to_string().contains("header, byte 16"));
}

#[test]
fn other_versions_are_refused_by_name() {
    let mut bytes = file(&module());
    bytes[8] = 7;
    let text = Module::read(&Bytes::from(bytes)).unwrap_err().to_string();
    assert!(text.contains("E302") && text.contains("format 7.1") && text.contains("knows 0.1"), "{text}");
    let text = Module::read(&Bytes::from_static(b"\x08\x07\x12\x04tiny")).unwrap_err().to_string();
    assert!(text.contains("E301") && text.contains("08 07 12 04"), "{text}");
    assert!(Module::read(&Bytes::new()).unwrap_err().to_string().contains("begins with nothing"));
}

/// Writes the checksum of header and section table anew.
fn sealed(mut bytes: Vec<u8>) -> Bytes {
    let count = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    bytes[24..28].fill(0);
    let crc = crc32fast::hash(&bytes[..32 + 32 * count]);
    bytes[24..28].copy_from_slice(&crc.to_le_bytes());
    Bytes::from(bytes)
}

/// What a later minor version may add: sections of a kind that this reader does not know.
#[test]
fn unknown_sections_are_skipped() {
    // After six entries there is room for one more before the first section.
    let mut module = module();
    module.variants[1].code = None;
    let good = file(&module);
    let count = u32::from_le_bytes(good[12..16].try_into().unwrap());
    let free = 32 + 32 * count as usize;
    let mut table = good[..free].to_vec();
    let start = good.len().next_multiple_of(ALIGN);
    let room = u64::from_le_bytes(good[40..48].try_into().unwrap()) as usize;
    assert!(room >= free + 32, "the test needs a gap after the table");
    table.extend_from_slice(&77u32.to_le_bytes());
    table.extend_from_slice(&crc32fast::hash(b"new").to_le_bytes());
    table.extend_from_slice(&(start as u64).to_le_bytes());
    table.extend_from_slice(&3u64.to_le_bytes());
    table.extend_from_slice(&[0; 8]);
    let mut bytes = good.clone();
    bytes[..free + 32].copy_from_slice(&table);
    bytes.resize(start, 0);
    bytes.extend_from_slice(b"new");
    let length = bytes.len() as u64;
    bytes[12..16].copy_from_slice(&(count + 1).to_le_bytes());
    bytes[16..24].copy_from_slice(&length.to_le_bytes());
    let bytes = sealed(bytes);
    assert_eq!(Module::read(&bytes).unwrap(), module);
    Module::verify(&bytes).unwrap();
}

/// Checksums are right here: what they protect is wrong from the start.
#[test]
fn tables_that_lie_are_refused() {
    let good = file(&module());
    let lies: [(&str, usize, u64); 4] = [
        ("a section beyond the file", 32 + 8, 1 << 40),
        ("a length beyond the file", 32 + 16, u64::MAX),
        ("a section in the table", 32 + 8, 64),
        ("a section that is not aligned", 32 + 8, 257),
    ];
    for (what, at, value) in lies {
        let mut bytes = good.clone();
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        let text = Module::read(&sealed(bytes)).unwrap_err().to_string();
        assert!(text.contains("E303") && text.contains("section table, byte 40"), "{what}: {text}");
    }
    let mut bytes = good.clone();
    bytes[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    let text = Module::read(&Bytes::from(bytes)).unwrap_err().to_string();
    assert!(text.contains("header, byte 12"), "{text}");
}

#[test]
fn the_variant_that_asks_for_most_is_best() {
    let mut module = module();
    let texts =
        ["x86_64_v3", "x86_64_v4", "x86_64_v3,cpu=zen4", "riscv64", "riscv64+v", "riscv64+v,vlen=256", "aarch64"];
    let one = module.variants[0].clone();
    module.variants = texts.iter().map(|t| Variant { target: Target::parse(t).unwrap(), ..one.clone() }).collect();
    for (machine, best) in [
        ("x86_64_v4+avx512vnni", Some("x86_64_v4")),
        ("x86_64_v3", Some("x86_64_v3")),
        ("x86_64_v3,cpu=zen4", Some("x86_64_v3,cpu=zen4")),
        ("x86_64_v2", None),
        ("riscv64", Some("riscv64")),
        ("riscv64+v,vlen=128", Some("riscv64+v")),
        ("riscv64+v,zvfh,vlen=256", Some("riscv64+v,vlen=256")),
        ("aarch64+i8mm", Some("aarch64")),
    ] {
        let found = module.best(&Target::parse(machine).unwrap());
        assert_eq!(found.map(|i| texts[i]), best, "{machine}");
    }
}
