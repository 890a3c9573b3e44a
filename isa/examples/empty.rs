//! An empty program: how big one of a target is, before anything of ours is in it (`cargo xtask cross`).

fn main() {}
