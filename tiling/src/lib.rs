//! The planner: from a [`Problem`] and a target to a [`Plan`], a pure function of these and the kernel table.
//!
//! [`Encoding`]s say what role an operand plays, without a target; [`plan`] chooses the algorithm and the family of
//! kernels, materializes encodings to [`Layout`]s, and cuts the work into cache blocks, tiles and tasks. A plan is
//! data: comparable and printable. It names a family, a class of numerics and M0s, never a row.
//!
//! ```
//! use smalti_isa::Target;
//! use smalti_tiling::{Problem, plan};
//! let problem = Problem::parse("matmul f32f32f32 m=17 n=512 k=512 rhs=constant").unwrap();
//! let plan = plan(&problem, None, &Target::parse("x86_64_v4").unwrap()).unwrap();
//! assert_eq!(plan.tiles.to_string(), "8+8+1");
//! ```
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod blocking;
mod encoding;
mod explain;
mod plan;
mod problem;

pub use blocking::{Blocks, Grid, Run, Tiles};
pub use encoding::{Encoding, Layout, Role};
pub use plan::{Algorithm, CHANNEL_GROUP, Plan, PlanError, Rejected, plan};
pub use problem::{Conv2d, Matmul, Order, Problem, ProblemError};
