//! Element types of kernel operands.

macro_rules! elem_types {
    ($($(#[$doc:meta])* $variant:ident, $text:literal, $bits:literal;)*) => {
        /// The type of an operand's elements.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ElemType { $($(#[$doc])* $variant),* }

        impl ElemType {
            /// Every type, in the order of the naming grammar.
            pub const ALL: &'static [ElemType] = &[$(ElemType::$variant),*];

            /// The name in kernel names.
            pub const fn name(self) -> &'static str {
                match self { $(ElemType::$variant => $text),* }
            }

            /// Bits of one element.
            pub const fn bits(self) -> usize {
                match self { $(ElemType::$variant => $bits),* }
            }
        }
    };
}

elem_types! {
    /// IEEE 754 binary64.
    F64, "f64", 64;
    /// IEEE 754 binary32.
    F32, "f32", 32;
    /// IEEE 754 binary16.
    F16, "f16", 16;
    /// The upper half of a binary32.
    Bf16, "bf16", 16;
    /// Signed 32-bit integer.
    I32, "i32", 32;
    /// Signed 16-bit integer.
    I16, "i16", 16;
    /// Signed 8-bit integer.
    I8, "i8", 8;
    /// Unsigned 8-bit integer.
    U8, "u8", 8;
    /// Signed 4-bit integer, two in a byte, the lower nibble first.
    I4, "i4", 4;
    /// Unsigned 4-bit integer, two in a byte, the lower nibble first.
    U4, "u4", 4;
}

mod sealed {
    pub trait Sealed {}
}

/// A Rust type that stands for an [`ElemType`].
pub trait Elem: Copy + sealed::Sealed + 'static {
    /// The type that it stands for.
    const TYPE: ElemType;
}

macro_rules! elems {
    ($($rust:ty => $variant:ident),*) => {
        $(impl sealed::Sealed for $rust {}
        impl Elem for $rust { const TYPE: ElemType = ElemType::$variant; })*
    };
}

elems!(f64 => F64, f32 => F32, half::f16 => F16, half::bf16 => Bf16, i32 => I32, i16 => I16, i8 => I8, u8 => U8);
