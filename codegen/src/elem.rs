//! Element types of dispatches and tensors.

use core::fmt;

macro_rules! elems {
    ($($(#[$doc:meta])* $variant:ident, $text:literal, $bytes:literal;)*) => {
        /// The type of an element.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Elem { $($(#[$doc])* $variant),* }

        impl Elem {
            /// Every type.
            pub const ALL: &'static [Elem] = &[$(Elem::$variant),*];

            /// The name in texts.
            pub const fn name(self) -> &'static str {
                match self { $(Elem::$variant => $text),* }
            }

            /// Bytes of an element.
            pub const fn size(self) -> usize {
                match self { $(Elem::$variant => $bytes),* }
            }
        }
    };
}

elems! {
    /// IEEE 754 binary64.
    F64, "f64", 8;
    /// IEEE 754 binary32.
    F32, "f32", 4;
    /// IEEE 754 binary16. Widened when loaded, rounded when stored: no value in a body has this type.
    F16, "f16", 2;
    /// The upper half of a binary32. Widened when loaded, rounded when stored: no value in a body has this type.
    Bf16, "bf16", 2;
    /// Signed 64-bit integer; arithmetic wraps, as for all integers.
    I64, "i64", 8;
    /// Signed 32-bit integer.
    I32, "i32", 4;
    /// Signed 16-bit integer.
    I16, "i16", 2;
    /// Signed 8-bit integer.
    I8, "i8", 1;
    /// Unsigned 64-bit integer.
    U64, "u64", 8;
    /// Unsigned 32-bit integer.
    U32, "u32", 4;
    /// Unsigned 16-bit integer.
    U16, "u16", 2;
    /// Unsigned 8-bit integer.
    U8, "u8", 1;
    /// A truth value, stored as a byte of 0 or 1.
    Bool, "bool", 1;
}

impl Elem {
    /// The type of that name.
    pub fn parse(text: &str) -> Option<Elem> {
        Elem::ALL.iter().copied().find(|e| e.name() == text)
    }

    /// Whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Elem::F64 | Elem::F32 | Elem::F16 | Elem::Bf16)
    }

    /// Whether it is an integer type with a sign.
    pub const fn is_signed(self) -> bool {
        matches!(self, Elem::I64 | Elem::I32 | Elem::I16 | Elem::I8)
    }

    /// Whether it is an integer type.
    pub const fn is_int(self) -> bool {
        !self.is_float() && !matches!(self, Elem::Bool)
    }

    /// The type that a body computes in after a load.
    pub const fn widened(self) -> Elem {
        match self {
            Elem::F16 | Elem::Bf16 => Elem::F32,
            other => other,
        }
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
