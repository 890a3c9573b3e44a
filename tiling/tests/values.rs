//! Right operands that are laid out as plans say give the products that arithmetic says.
#![allow(missing_docs)]

use smalti_isa::Target;
use smalti_tiling::{Layout, Problem, plan};
use smalti_ukernels::Host;
use smalti_ukernels::elem::ElemType;
use smalti_ukernels::layout::{Panels, flip};
use smalti_ukernels::mmt4d::reference::{Value, WithTypes, with_types};
use smalti_ukernels::mmt4d::{Args, Batch, Tile};
use smalti_ukernels::select;
use smalti_ukernels::table::{Family, ROWS, Tier};

const M: usize = 23;
const N: usize = 75;
const K: usize = 130;

/// Every machine that this one can stand for, the ones with flipped families among them where they are here.
fn hosts() -> Vec<Host> {
    let host = Host::detect();
    let mut hosts = vec![host, host.capped(&Target::baseline(host.target().arch))];
    if host.target().arch == smalti_isa::Arch::X86_64 {
        let levels = ["x86_64_v3", "x86_64_v4", "x86_64_v4+avx512vnni"];
        hosts.extend(levels.map(|level| host.capped(&Target::parse(level).unwrap())));
    }
    hosts
}

/// The product of the plan for `family`, or for any, on a right operand that is constant or not.
struct Product<'a> {
    host: &'a Host,
    family: Option<Family>,
    constant: bool,
}

impl WithTypes for Product<'_> {
    type Output = ();

    fn run<L: Value, R: Value, O: Value>(self) {
        let Product { host, family, constant } = self;
        let types = [L::TYPE, R::TYPE, O::TYPE].map(ElemType::name).concat();
        let text = format!("matmul {types} m={M} n={N} k={K}{}", if constant { " rhs=constant" } else { "" });
        let plan = plan(&Problem::parse(&text).unwrap(), family, host.target()).unwrap();
        // All values of a byte, in no order.
        let lhs: Vec<L> = (0..M * K).map(|i| L::narrow((i * 89 % 251) as f64)).collect();
        let element = |k: usize, n: usize| R::narrow(((k * N + n) * 151 % 257) as f64);
        let [n0, k0] = plan.tile;
        let (packed, flipped) = match plan.rhs {
            Layout::Panels { constant, flipped, .. } => (constant, flipped),
            _ => (false, false),
        };
        assert_eq!(packed, constant, "{plan}");
        assert_eq!(flipped, plan.family.flipped, "{plan}");
        let panels = Panels { rows: N, cols: K, t0: n0, t1: k0 };
        let mut rhs = vec![R::narrow(0.0); panels.len().unwrap()];
        for n in 0..N {
            for k in 0..K {
                rhs[panels.offset(n, k)] = element(k, n);
            }
        }
        if flipped {
            flip(&mut rhs);
        }
        let mut out = [O::narrow(0.0); M * N];
        for (at, m0) in plan.tiles.iter() {
            let row = plan.row(m0).unwrap().bind(host).unwrap();
            assert_eq!(row.row().flipped, flipped, "{plan}");
            for n in (0..N).step_by(n0) {
                let mut args = Args {
                    tile: Tile { m0, n0, k0 },
                    rows: m0,
                    cols: n0.min(N - n),
                    lhs: &lhs[at * K..],
                    lhs_row_stride: K as isize,
                    lhs_k_stride: k0 as isize,
                    rhs: &rhs[panels.offset(n, 0)..],
                    rhs_k_stride: (n0 * k0) as isize,
                    batches: &[Batch::default()],
                    k_per_batch: K,
                    init: None,
                    init_row_stride: 0,
                    bias: None,
                    clamp: None,
                    out: &mut out[at * N + n..],
                    out_row_stride: N as isize,
                    accumulate: false,
                    scales: None,
                    zero_points: None,
                    lhs_sums: None,
                    prefetch_rhs: None,
                    prefetch_out: None,
                    scratch: &mut vec![0; row.row().scratch(m0)],
                };
                row.run(&mut args).unwrap();
            }
        }
        for m in 0..M {
            for n in 0..N {
                let sum: f64 = (0..K).map(|k| lhs[m * K + k].widen() * element(k, n).widen()).sum();
                assert_eq!(out[m * N + n].widen(), sum, "[{m}][{n}] of\n{plan}");
            }
        }
    }
}

fn families() -> impl Iterator<Item = Family> {
    let mut families: Vec<Family> = ROWS.iter().filter(|r| !r.by_tile).filter_map(|r| r.family()).collect();
    families.sort_unstable();
    families.dedup();
    families
        .into_iter()
        .filter(|f| [ElemType::I8, ElemType::U8].contains(&f.types.list[1]) && f.types.scaled().is_none())
}

#[test]
fn products_of_bytes() {
    for host in hosts() {
        for types in families().map(|f| f.types) {
            for constant in [false, true] {
                with_types(types, Product { host: &host, family: None, constant }).unwrap();
            }
        }
    }
}

/// Where a family's rows don't run, the generic row serves its panels, flipped ones too.
#[test]
fn products_of_every_family_of_bytes_everywhere() {
    for host in hosts() {
        // Where N0 follows a vector length that nobody knows, no row is bound.
        for family in families().filter(|f| f.n0.on(host.target()).is_some()) {
            let serves = select::tier(family, false, host.target());
            assert!(serves >= Some(Tier::Generic), "{family}");
            with_types(family.types, Product { host: &host, family: Some(family), constant: true }).unwrap();
        }
    }
}

/// Flipped panels win where the right operand is constant, and are taken nowhere else.
#[test]
fn flipped_panels_are_for_constants() {
    let target = Target::parse("x86_64_v4+avx512vnni").unwrap();
    for types in ["i8i8i32", "u8u8i32"] {
        for m in [1, 2, 3, 4, 8, 14, 100] {
            let flipped = |rest: &str| {
                let problem = Problem::parse(&format!("matmul {types} m={m} n=512 k=512{rest}")).unwrap();
                plan(&problem, None, &target).unwrap().family.flipped
            };
            assert!(flipped(" rhs=constant"), "{types} {m}");
            assert!(!flipped("") && !flipped(" order=columns"), "{types} {m}");
        }
        let convolution = Problem::parse(&format!("conv2d {types} ic=64 input=28,28 oc=64")).unwrap();
        assert!(!plan(&convolution, None, &target).unwrap().family.flipped);
    }
}

/// Also where the best class of arithmetic has no tile of one row.
#[test]
fn every_tile_of_few_rows_has_a_row() {
    for target in ["x86_64_v3", "x86_64_v4", "x86_64_v4+avx512vnni", "aarch64", "riscv64"] {
        let target = Target::parse(target).unwrap();
        for (types, m) in ["f32f32f32", "i8i8i32"].into_iter().flat_map(|types| (1..=40).map(move |m| (types, m))) {
            let problem = Problem::parse(&format!("matmul {types} m={m} n=512 k=512 rhs=constant")).unwrap();
            let plan = plan(&problem, None, &target).unwrap();
            assert_eq!(plan.tiles.iter().map(|t| t.1).sum::<usize>(), m, "{plan}");
            assert!(plan.tiles.iter().all(|(_, m0)| plan.row(m0).is_some()), "{plan}");
        }
    }
}
