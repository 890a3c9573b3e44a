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

            /// Whether it has a binary point.
            pub const fn is_float(self) -> bool {
                matches!(self, ElemType::F64 | ElemType::F32 | ElemType::F16 | ElemType::Bf16)
            }

            /// Elements in a byte; 1 where they are longer.
            pub const fn per_byte(self) -> usize {
                8usize.div_ceil(self.bits())
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
    /// Elements that one value holds.
    const COUNT: usize;

    /// With the sign bit of each element flipped; of an unsigned one the most significant bit.
    fn flipped(self) -> Self;
}

/// Two signed 4-bit integers, the first one in the low nibble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct I4x2(pub u8);

/// Two unsigned 4-bit integers, the first one in the low nibble.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct U4x2(pub u8);

macro_rules! elems {
    ($($rust:ty => $variant:ident, $x:ident: $flipped:expr;)*) => {
        $(impl sealed::Sealed for $rust {}
        impl Elem for $rust {
            const TYPE: ElemType = ElemType::$variant;
            const COUNT: usize = 8 * size_of::<$rust>() / ElemType::$variant.bits();

            fn flipped(self) -> $rust {
                let $x = self;
                $flipped
            }
        })*
    };
}

elems! {
    f64 => F64, x: -x;
    f32 => F32, x: -x;
    half::f16 => F16, x: -x;
    half::bf16 => Bf16, x: -x;
    i32 => I32, x: x ^ i32::MIN;
    i16 => I16, x: x ^ i16::MIN;
    i8 => I8, x: x ^ i8::MIN;
    u8 => U8, x: x ^ 0x80;
    I4x2 => I4, x: I4x2(x.0 ^ 0x88);
    U4x2 => U4, x: U4x2(x.0 ^ 0x88);
}
