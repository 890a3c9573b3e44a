//! Core classes: whose timing a cost model uses.

macro_rules! classes {
    ($($(#[$doc:meta])* $variant:ident, $text:literal;)*) => {
        /// A microarchitecture, or a group of them that schedules alike. It never decides what may run, only what is
        /// expected to be fast.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub enum CoreClass { #[default] $($(#[$doc])* $variant),* }

        impl CoreClass {
            /// Every class.
            pub const ALL: &'static [CoreClass] = &[$(CoreClass::$variant),*];

            /// The name used after `cpu=` in target texts and in kernel names.
            pub const fn name(self) -> &'static str {
                match self { $(CoreClass::$variant => $text),* }
            }

            /// The class of that name.
            pub fn parse(text: &str) -> Option<CoreClass> {
                CoreClass::ALL.iter().copied().find(|c| c.name() == text)
            }
        }
    };
}

classes! {
    /// Nothing known: a wide out-of-order core is assumed.
    Generic, "generic";
    /// AMD Zen 3.
    Zen3, "zen3";
    /// AMD Zen 4.
    Zen4, "zen4";
    /// AMD Zen 5.
    Zen5, "zen5";
    /// Intel Skylake and its like (AVX2 only).
    Skylake, "skylake";
    /// Intel Ice Lake server and its like.
    IcelakeServer, "icelake-server";
    /// Intel Sapphire Rapids and Emerald Rapids.
    SapphireRapids, "sapphire-rapids";
    /// Arm Cortex-A53.
    CortexA53, "cortex-a53";
    /// Arm Cortex-A55.
    CortexA55, "cortex-a55";
    /// Arm Cortex-A76 and its like.
    CortexA76, "cortex-a76";
    /// Arm Neoverse N1.
    NeoverseN1, "neoverse-n1";
    /// Arm Neoverse V1.
    NeoverseV1, "neoverse-v1";
    /// SpacemiT X60 (VLEN 256, in order).
    SpacemitX60, "spacemit-x60";
    /// SiFive X280 (VLEN 512, in order).
    SifiveX280, "sifive-x280";
    /// SiFive P670 (VLEN 128, out of order).
    SifiveP670, "sifive-p670";
    /// T-Head C908 (VLEN 128, in order).
    TheadC908, "thead-c908";
}
