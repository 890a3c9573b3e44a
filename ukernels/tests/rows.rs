//! One test a row of THE table, plus the laws that all rows of an operation share.
//!
//! A row that this machine can't run is listed as ignored with the features that are missing. `SMALTI_REQUIRE` names
//! levels (`x86_64_avx512,…`) whose rows must run: there, a missing feature is a failure.
#![allow(missing_docs)]

mod support;

use libtest_mimic::{Arguments, Failed, Trial};
use smalti_ukernels::Host;
use smalti_ukernels::name::{Op, Place};
use smalti_ukernels::table::{BindError, ROWS, Row};
use std::process::ExitCode;

fn main() -> ExitCode {
    let required: Vec<String> =
        std::env::var("SMALTI_REQUIRE").unwrap_or_default().split(',').map(str::to_owned).collect();
    for name in required.iter().filter(|n| !n.is_empty()) {
        assert!(ROWS.iter().any(|r| r.place.to_string() == *name), "SMALTI_REQUIRE: no row is for '{name}'");
    }
    let host = Host::detect();
    let mut trials: Vec<Trial> = ROWS.iter().map(|row| trial(row, &host, &required)).collect();
    trials.push(Trial::test("the_fused_chain_hash_is_that_of_the_definition", || {
        support::mmt4d::hash_is_that_of_the_definition();
        Ok(())
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn trial(row: &'static Row, host: &Host, required: &[String]) -> Trial {
    match row.bind(host) {
        Ok(bound) => Trial::test(row.name, move || {
            match row.op {
                Op::Mmt4d => support::mmt4d::all(bound),
                Op::Pack => support::moves::pack(bound),
                Op::Unpack => support::moves::unpack(bound),
            }
            Ok(())
        }),
        Err(error) => {
            let must = matches!(row.place, Place::Isa(..)) && required.contains(&row.place.to_string());
            let kind = match error {
                BindError::Missing { missing, .. } => format!("needs {missing}"),
                BindError::NotInThisBuild { .. } => format!("needs {}", row.place),
            };
            Trial::test(row.name, move || Err(Failed::from(error.to_string()))).with_kind(kind).with_ignored_flag(!must)
        }
    }
}
