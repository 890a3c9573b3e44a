//! Functions beyond arithmetic, and the table through which machine code calls them.

use core::fmt;
use core::mem::offset_of;

/// A row is a function of one pinned libm, so that its bits are the same on every machine. The order of the table is
/// part of the [ABI](crate::abi): a new row goes to the table's end.
macro_rules! helpers {
    (
        functions($a:ident, $b:ident) { $($(#[$doc:meta])* $func:ident = $name:ident($($x:ident),+);)* }
        instructions { $($inst:ident($($arg:ident),+) $ty:ident;)* }
    ) => {
        /// Functions beyond arithmetic.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Func { $($(#[$doc])* $func),* }

        impl Func {
            /// Every function.
            pub const ALL: &'static [Func] = &[$(Func::$func),*];

            /// How many arguments it takes.
            pub const fn arity(self) -> usize {
                match self { $(Func::$func => [$(stringify!($x)),+].len()),* }
            }

            /// What texts call it.
            pub const fn name(self) -> &'static str {
                match self { $(Func::$func => stringify!($name)),* }
            }

            /// Where it stands in [`Helpers`], in bytes.
            #[cfg(feature = "cranelift")]
            pub(crate) const fn offset(self) -> usize {
                match self { $(Func::$func => offset_of!(Helpers, $name)),* }
            }

            /// Its value; a function of one argument ignores the second.
            pub(crate) fn call(self, $a: f64, $b: f64) -> f64 {
                match self { $(Func::$func => libm::$name($($x),+)),* }
            }
        }

        /// Functions that machine code calls: those of [`Func`], then operations for which some machines have no
        /// instruction. Each has the C ABI of the function in C's `math.h` that has its name.
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub struct Helpers {
            $($(#[$doc])* pub $name: extern "C" fn($(helpers!(@ f64 $x)),+) -> f64,)*
            $(
                #[doc = concat!("The operation that C calls `", stringify!($inst), "`.")]
                pub $inst: extern "C" fn($(helpers!(@ $ty $arg)),+) -> $ty,
            )*
        }

        /// The helper table of this build.
        pub static HELPERS: Helpers = Helpers {
            $($name: {
                extern "C" fn $name($($x: f64),+) -> f64 {
                    libm::$name($($x),+)
                }
                $name
            },)*
            $($inst: {
                extern "C" fn $inst($($arg: $ty),+) -> $ty {
                    libm::$inst($($arg),+)
                }
                $inst
            },)*
        };
    };
    (@ $ty:ident $arg:ident) => { $ty };
}

helpers! {
    functions(x, y) {
        /// eˣ.
        Exp = exp(x);
        /// Hyperbolic tangent.
        Tanh = tanh(x);
        /// Natural logarithm.
        Log = log(x);
        /// Error function.
        Erf = erf(x);
        /// Sine.
        Sin = sin(x);
        /// Cosine.
        Cos = cos(x);
        /// Tangent.
        Tan = tan(x);
        /// Arc sine.
        Asin = asin(x);
        /// Arc cosine.
        Acos = acos(x);
        /// Arc tangent.
        Atan = atan(x);
        /// Hyperbolic sine.
        Sinh = sinh(x);
        /// Hyperbolic cosine.
        Cosh = cosh(x);
        /// Area hyperbolic sine.
        Asinh = asinh(x);
        /// Area hyperbolic cosine.
        Acosh = acosh(x);
        /// Area hyperbolic tangent.
        Atanh = atanh(x);
        /// log(1 + x).
        Log1p = log1p(x);
        /// Power.
        Pow = pow(x, y);
        /// Remainder with the dividend's sign.
        Fmod = fmod(x, y);
    }
    instructions {
        floorf(x) f32;
        ceilf(x) f32;
        truncf(x) f32;
        rintf(x) f32;
        fmaf(x, y, z) f32;
        floor(x) f64;
        ceil(x) f64;
        trunc(x) f64;
        rint(x) f64;
        fma(x, y, z) f64;
    }
}

impl fmt::Display for Func {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

// What code of earlier versions was compiled to.
const _: () = {
    assert!(offset_of!(Helpers, exp) == 0);
    assert!(offset_of!(Helpers, fmod) == 17 * 8);
    assert!(offset_of!(Helpers, floorf) == 18 * 8);
    assert!(offset_of!(Helpers, fma) == 27 * 8);
};
