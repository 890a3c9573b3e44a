//! What can be wrong with a file.

use alloc::string::String;
use core::fmt;

/// Where in a file something is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The part of the file: `header`, `section table`, or a section's kind.
    pub section: &'static str,
    /// The number of the section, for sections.
    pub number: Option<usize>,
    /// The byte of the file.
    pub offset: u64,
}

/// `section 3 (program), byte 1024`
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            Some(number) => write!(f, "section {number} ({}), byte {}", self.section, self.offset),
            None => write!(f, "{}, byte {}", self.section, self.offset),
        }
    }
}

/// Why a file is no module that can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModuleError {
    /// Another kind of file.
    #[error("E301: no .smalti file: it begins with {found}")]
    Magic {
        /// Its first bytes.
        found: String,
    },
    /// Of a format that this reader does not know.
    #[error("E302: a .smalti file of format {}.{}, this reader knows {}.{}; read it with a newer Smalti, or compile the model again", found.0, found.1, known.0, known.1)]
    Version {
        /// The file's.
        found: (u16, u16),
        /// The reader's.
        known: (u16, u16),
    },
    /// Cut off, or changed.
    #[error("E303: damaged .smalti file: {place}: {reason}")]
    Damaged {
        /// Where.
        place: Place,
        /// What is wrong there.
        reason: String,
    },
    /// A program that does not parse or verify.
    #[error("E304: the program section for {target}: {reason}")]
    Program {
        /// Whose.
        target: String,
        /// What is wrong with it.
        reason: String,
    },
}
