//! The grammar of kernel names, and dims on targets.
#![allow(missing_docs)]

use smalti_isa::Target;
use smalti_ukernels::name::{Dim, Name};

#[test]
fn names_of_every_shape_round_trip() {
    for text in [
        "mmt4d_f32f32f32_14x32x1_x86_64_avx512",
        "mmt4d_u8i8i32_16x16x4_x86_64_avx512_vnni",
        "mmt4d_f32f32f32_1x32x1_x86_64_avx512_splitk4",
        "mmt4d_i8i8i32_14x32x4_x86_64_avx512_vnni_flipped",
        "mmt4d_u8u8i32_nxnxn_generic_flipped",
        "mmt4d_f32i4g32f32_8x32x1_x86_64_avx2_fma",
        "mmt4d_f32f32f32_7x16vsx1_riscv64_v_spacemit_x60",
        "mmt4d_bf16bf16f32_nxnxn_generic",
        "pack_f32f32_16x1_x86_64_avx512",
        "unpack_f32f32_nxn_generic",
        "mmt4d_f32f32f32_8x8x1_portable",
    ] {
        assert_eq!(Name::parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn dims_on_targets() {
    let [open, pinned] = ["riscv64+v", "riscv64+v,vlen=512"].map(|t| Target::parse(t).unwrap());
    let sizes = |dim: Dim, target| (dim.on(target), dim.expected_on(target), dim.settled_on(target));
    assert_eq!(sizes(Dim::Vscale(16), &open), (None, Some(16), Dim::Vscale(16)));
    assert_eq!(sizes(Dim::Vscale(16), &pinned), (Some(64), Some(64), Dim::Fixed(64)));
    assert_eq!(sizes(Dim::Fixed(16), &open), (Some(16), Some(16), Dim::Fixed(16)));
    assert_eq!(sizes(Dim::Runtime, &pinned), (None, None, Dim::Runtime));
}

#[test]
fn wrong_names_say_where() {
    for (text, expected) in [
        ("gemm_f32f32f32_8x8x1_portable", "an operation"),
        ("mmt4d_f32f32_8x8x1_portable", "an element type"),
        ("mmt4d_f32f32f32f32_8x8x1_portable", "the end of the operand types"),
        ("mmt4d_f32f32f32_8x8_portable", "one more dim of the tile"),
        ("mmt4d_f32f32f32_8x8x1x1_portable", "the end of the tile"),
        ("mmt4d_f32f32f32_8xqx1_portable", "a dim of the tile"),
        ("mmt4d_f32f32f32_8x8x1_x86_64_avx1024", "where it runs"),
        ("mmt4d_f32f32f32_8x8x1_riscv64_v_z80", "where it runs"),
        ("mmt4d", "an operation"),
    ] {
        assert_eq!(Name::parse(text).unwrap_err().expected, expected, "{text}");
    }
}
