//! A plan in words.

use crate::encoding::{Encoding, Role};
use crate::plan::{Algorithm, Plan};
use core::fmt;

/// One decision a line; rejected rows follow with `{:#}`.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.problem)?;
        writeln!(f, "  target     {}", self.target)?;
        writeln!(f, "  algorithm  {}", self.algorithm.name())?;
        writeln!(f, "  family     {} ({}, {})", self.family, self.numerics, self.tier.name())?;
        for (role, layout) in [(Role::Lhs, self.lhs), (Role::Rhs, self.rhs), (Role::Out, self.out)] {
            writeln!(f, "  {:<10} {} -> {layout}", role.name(), Encoding::of(&self.problem, role))?;
        }
        let [unit, of] = match self.algorithm {
            Algorithm::Matmul => ["rows", "a task's rows"],
            Algorithm::Direct => ["output rows", "an output row's pixels"],
            Algorithm::Pointwise => ["pixels", "a task's pixels"],
        };
        write!(
            f,
            "  tiles      {} of x{}x{} cut {of}",
            self.tiles,
            self.family.n0.settled_on(&self.target),
            self.tile[1]
        )?;
        if self.last_tiles != self.tiles {
            write!(f, "; {} the last", self.last_tiles)?;
        }
        let b = self.blocks;
        write!(f, "\n  blocks     MC {} {unit}, NC {}, KC {}", b.mc, b.nc, b.kc)?;
        if self.family.n0.on(&self.target).is_none() {
            write!(f, ", reckoned with tiles of {} columns", self.tile[0])?;
        }
        let g = self.grid;
        writeln!(f, "\n  tasks      {} = {} x {} x {}", g.tasks(), g.batch, g.m, g.n)?;
        write!(f, "  scratch    {} bytes a worker", self.scratch)?;
        if f.alternate() {
            f.write_str("\n  rejected")?;
            for r in &self.rejected {
                write!(f, "\n    {}: {}", r.row, r.reason)?;
            }
        }
        Ok(())
    }
}
