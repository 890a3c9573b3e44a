//! `.plan` files: a problem and targets, one a line, and the plans that are made of them.
#![allow(missing_docs)]

use smalti_isa::Target;
use smalti_tiling::{Algorithm, Problem, plan};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    smalti_filetest::run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans"), "plan", |input| {
        let mut lines = input.lines().filter(|l| !l.is_empty() && !l.starts_with(';'));
        let text = lines.next().ok_or("no problem")?;
        let problem = Problem::parse(text).map_err(|e| e.to_string());
        let problem = match problem {
            Ok(problem) => problem,
            Err(error) => return Ok(format!("error: {error}")),
        };
        assert_eq!(Problem::parse(&problem.to_string()).map_err(|e| e.to_string())?, problem, "the text round-trips");
        let mut out = String::new();
        for line in lines {
            let target = Target::parse(line).map_err(|e| e.to_string())?;
            match plan(&problem, None, &target) {
                Ok(plan) => {
                    laws(&plan);
                    out += &format!("{plan}\n");
                }
                Err(error) => out += &format!("error: {error}\n"),
            }
        }
        Ok(out)
    })
}

/// What holds for every plan, whatever it prints.
fn laws(plan: &smalti_tiling::Plan) {
    let rows: usize = plan.tiles.iter().map(|t| t.1).sum();
    let last: usize = plan.last_tiles.iter().map(|t| t.1).sum();
    let (m, n) = match &plan.problem {
        Problem::Matmul(p) => (p.m, p.n),
        Problem::Conv2d(p) => {
            let [height, width] = p.output().unwrap();
            (if plan.algorithm == Algorithm::Pointwise { height * width } else { width }, p.oc / p.groups)
        }
    };
    if plan.algorithm == Algorithm::Direct {
        assert_eq!(rows, m, "the tiles cover an output row");
    } else {
        assert_eq!(
            rows * plan.grid.m.saturating_sub(1) + if plan.grid.m == 0 { 0 } else { last },
            m,
            "the tiles cover all rows"
        );
    }
    assert!(plan.blocks.nc * plan.grid.n >= n, "the tasks cover all columns");
    assert!(plan.blocks.nc.is_multiple_of(plan.tile[0]) || plan.grid.n <= 1, "a task's columns are whole tiles");
    for (_, m0) in plan.tiles.iter().chain(plan.last_tiles.iter()) {
        assert!(plan.row(m0).is_some(), "each tile has a row");
    }
}
