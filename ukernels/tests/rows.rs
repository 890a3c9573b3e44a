//! One test a row of THE table, plus the laws that all rows of an operation share.
//!
//! A row that this machine can't run is listed as ignored with the features that are missing. `SMALTI_REQUIRE` names
//! levels (`x86_64_avx512,…`) whose rows must run: there, a missing feature is a failure. With `SMALTI_ROWS=tuned`, rows
//! whose code is the same on every processor of an architecture are listed as ignored: another machine runs them.
#![allow(missing_docs)]

mod support;

use libtest_mimic::{Arguments, Failed, Trial};
use smalti_ukernels::Host;
use smalti_ukernels::mmt4d::reference::with_types;
use smalti_ukernels::name::{Dim, Op, Place};
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
    trials.push(Trial::test("verdicts_of_a_bare_machine", || {
        verdicts_of_a_bare_machine();
        Ok(())
    }));
    trials.push(Trial::test("tiles_that_follow_the_vector_length_need_it", || {
        tiles_that_follow_the_vector_length_need_it();
        Ok(())
    }));
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// What happens to a row's test on a machine.
#[derive(Debug, PartialEq)]
enum Verdict {
    Runs,
    /// With what is missing.
    Ignored(String),
    /// It was required.
    Fails(String),
}

fn verdict(row: &'static Row, host: &Host, required: &[String]) -> Verdict {
    let Err(error) = row.bind(host) else { return Verdict::Runs };
    let missing = match error {
        BindError::Missing { missing, .. } => format!("needs {missing}"),
        BindError::VectorLength { .. } => "needs the vector length".to_owned(),
        BindError::NotInThisBuild { .. } => format!("needs {}", row.place),
    };
    let must = matches!(row.place, Place::Isa(..)) && required.contains(&row.place.to_string());
    if must { Verdict::Fails(missing) } else { Verdict::Ignored(missing) }
}

/// On a machine without features, tuned rows are ignored with the reason, and fail where they are required.
fn verdicts_of_a_bare_machine() {
    let host = Host::detect();
    let bare = host.capped(&smalti_isa::Target::baseline(host.target().arch));
    for row in ROWS {
        let foreign = row.place.arch().is_some_and(|a| a != bare.target().arch);
        let tuned = foreign || !row.place.features().is_empty();
        let place = [row.place.to_string()];
        match verdict(row, &bare, &[]) {
            Verdict::Runs => assert!(!tuned, "{}", row.name),
            Verdict::Ignored(reason) => {
                assert!(tuned && reason.starts_with("needs "), "{}: {reason}", row.name);
                assert_eq!(verdict(row, &bare, &place), Verdict::Fails(reason));
            }
            Verdict::Fails(_) => panic!("{} was not required", row.name),
        }
    }
}

/// Where nobody knows the vector length, a row whose tile follows it is refused as such, unless it is already refused for
/// something else.
fn tiles_that_follow_the_vector_length_need_it() {
    let host = Host::detect();
    // SAFETY: the machine at hand, of which less is said.
    let unknown = unsafe { Host::assume(smalti_isa::Target { vlen: None, ..*host.target() }) };
    for row in ROWS {
        let follows = row.tile.iter().any(|d| matches!(d, Dim::Vscale(_)));
        let expected = match row.bind(&host).err() {
            None if follows => Some(BindError::VectorLength { row: row.name }),
            other => other,
        };
        assert_eq!(row.bind(&unknown).err(), expected);
    }
}

fn trial(row: &'static Row, host: &Host, required: &[String]) -> Trial {
    let tuned_alone = std::env::var_os("SMALTI_ROWS").is_some_and(|v| v == "tuned");
    let missing = match verdict(row, host, required) {
        Verdict::Runs if tuned_alone && !matches!(row.place, Place::Isa(..)) => {
            Some(("runs on another machine of this architecture".to_owned(), true))
        }
        Verdict::Runs => None,
        Verdict::Ignored(reason) => Some((reason, true)),
        Verdict::Fails(reason) => Some((reason, false)),
    };
    if let Some((reason, ignored)) = missing {
        let text = reason.clone();
        return Trial::test(row.name, move || Err(Failed::from(text))).with_kind(reason).with_ignored_flag(ignored);
    }
    let host = *host;
    Trial::test(row.name, move || {
        let bound = row.bind(&host).map_err(|e| Failed::from(e.to_string()))?;
        match row.op {
            Op::Mmt4d => with_types(row.types, support::mmt4d::All(bound)).ok_or("the reference has no such types")?,
            Op::Pack => support::moves::pack(bound),
            Op::Unpack => support::moves::unpack(bound),
        }
        Ok(())
    })
}
