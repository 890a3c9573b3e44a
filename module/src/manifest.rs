//! The manifest, as Protocol Buffers. Field numbers are never used again for anything else.
//!
//! ```proto
//! syntax = "proto3";
//! message Manifest {
//!   string producer = 1;            // what wrote the file
//!   string name = 2;                // the model's name
//!   bool strict = 3;                // the same bits on every machine
//!   repeated Port inputs = 4;
//!   repeated Port outputs = 5;
//!   repeated Constant constants = 6;
//!   Portable graph = 7;
//!   repeated Variant variants = 8;
//! }
//! message Port { string name = 1; string elem = 2; repeated string dims = 3; }
//! message Constant {
//!   uint64 offset = 1;              // from the first byte of the constants section, a multiple of 64
//!   uint64 length = 2;
//!   fixed32 crc = 3;                // CRC-32 of its bytes
//! }
//! message Portable { uint32 section = 1; repeated Blob blobs = 2; }
//! message Blob { uint32 constant = 1; string elem = 2; repeated uint64 shape = 3; }
//! message Variant {
//!   string target = 1;              // a target text
//!   uint32 program = 2;             // a section
//!   repeated uint32 constants = 3;
//!   Code code = 4;
//! }
//! message Code {
//!   uint32 section = 1;
//!   uint32 abi = 2;
//!   repeated uint32 entries = 3;    // by nest: first byte + 1, or 0 where there is no code
//! }
//! ```
//! `section` and `constant` are numbers in the section table and in `constants`.
#![allow(missing_docs)] // Documented by the schema above.

use alloc::string::String;
use alloc::vec::Vec;

#[derive(Clone, PartialEq, prost::Message)]
pub struct Manifest {
    #[prost(string, tag = "1")]
    pub producer: String,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(bool, tag = "3")]
    pub strict: bool,
    #[prost(message, repeated, tag = "4")]
    pub inputs: Vec<Port>,
    #[prost(message, repeated, tag = "5")]
    pub outputs: Vec<Port>,
    #[prost(message, repeated, tag = "6")]
    pub constants: Vec<Constant>,
    #[prost(message, optional, tag = "7")]
    pub graph: Option<Portable>,
    #[prost(message, repeated, tag = "8")]
    pub variants: Vec<Variant>,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Port {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(string, tag = "2")]
    pub elem: String,
    #[prost(string, repeated, tag = "3")]
    pub dims: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, prost::Message)]
pub struct Constant {
    #[prost(uint64, tag = "1")]
    pub offset: u64,
    #[prost(uint64, tag = "2")]
    pub length: u64,
    #[prost(fixed32, tag = "3")]
    pub crc: u32,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Portable {
    #[prost(uint32, tag = "1")]
    pub section: u32,
    #[prost(message, repeated, tag = "2")]
    pub blobs: Vec<Blob>,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Blob {
    #[prost(uint32, tag = "1")]
    pub constant: u32,
    #[prost(string, tag = "2")]
    pub elem: String,
    #[prost(uint64, repeated, tag = "3")]
    pub shape: Vec<u64>,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Variant {
    #[prost(string, tag = "1")]
    pub target: String,
    #[prost(uint32, tag = "2")]
    pub program: u32,
    #[prost(uint32, repeated, tag = "3")]
    pub constants: Vec<u32>,
    #[prost(message, optional, tag = "4")]
    pub code: Option<Code>,
}

#[derive(Clone, PartialEq, Eq, prost::Message)]
pub struct Code {
    #[prost(uint32, tag = "1")]
    pub section: u32,
    #[prost(uint32, tag = "2")]
    pub abi: u32,
    #[prost(uint32, repeated, tag = "3")]
    pub entries: Vec<u32>,
}
