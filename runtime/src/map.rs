//! Files as memory, and machine code of files.

use bytes::Bytes;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The bytes of a file: mapped, so that they are read when they are used; what is no regular file is read at once.
///
/// The file must stay as it is while the bytes are in use: whoever replaces it writes a new one and renames that.
///
/// # Errors
/// The file can't be read.
pub fn map(path: &Path) -> io::Result<Bytes> {
    let mut file = File::open(path)?;
    let about = file.metadata()?;
    if !about.is_file() || about.len() == 0 {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        return Ok(Bytes::from(bytes));
    }
    // SAFETY: the mapping is private and only read; that nobody changes the file is the caller's.
    let map = unsafe { memmap2::Mmap::map(&file)? };
    Ok(Bytes::from_owner(map))
}

/// Machine code of a module in executable memory.
#[cfg(feature = "native")]
pub(crate) fn image(code: &smalti_module::Code) -> Result<smalti_codegen::jit::Image, smalti_codegen::jit::JitError> {
    // SAFETY: the reader has compared the code with its checksum and its entries with its length, the variant's target is
    // one that this machine runs, and its ABI one that this build knows. That a file holds the code that its compiler
    // wrote is vouched for by whoever asks for native code of it.
    unsafe { smalti_codegen::jit::Image::load(&code.bytes, &code.entries) }
}
