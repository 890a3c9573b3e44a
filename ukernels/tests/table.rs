//! Laws of THE table: names, families, files.
//!
//! The crate's tests all stand in this folder: a test inside of it would build every kernel once more.
#![allow(missing_docs)]

use smalti_ukernels::name::{Name, Place};
use smalti_ukernels::table::{Family, ROWS, Row};

#[test]
fn every_name_parses_back_into_its_row() {
    for row in ROWS {
        assert_eq!(Name::parse(row.name), Ok(row.fields()), "{}", row.name);
        assert_eq!(row.fields().to_string(), row.name);
    }
}

#[test]
fn names_are_unique() {
    for (i, row) in ROWS.iter().enumerate() {
        assert!(ROWS[..i].iter().all(|r| r.name != row.name), "{}", row.name);
    }
}

#[test]
fn every_type_has_a_generic_row() {
    for row in ROWS {
        let same = |r: &Row| r.op == row.op && r.types == row.types && r.flipped == row.flipped;
        assert!(ROWS.iter().any(|r| same(r) && r.place == Place::Generic), "{} has no generic row beside it", row.name);
    }
}

#[test]
fn families_round_trip() {
    for family in ROWS.iter().filter_map(Row::family) {
        assert_eq!(Family::parse(&family.to_string()), Some(family));
    }
    assert_eq!(Family::parse("f32f32f32_31x1"), None);
    assert_eq!(Family::parse("f32f32f32_32x1_flipped"), None);
    assert_eq!(Family::parse("f32f32f32_32x1x"), None);
}

/// The file of a kernel is part of its address: `<op>/<where without cpu>.rs`.
#[test]
fn functions_live_where_their_names_say() {
    for row in ROWS {
        let place = row.place.to_string();
        let path = format!("{}/src/{}/{place}.rs", env!("CARGO_MANIFEST_DIR"), row.op.name());
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
        assert!(text.contains(row.name), "{path} has no {}", row.name);
    }
}
