//! Products and convolutions of every shape that cuts differently: strict programs give the as-run interpreter's bits,
//! on one thread and on three.
#![allow(missing_docs)]

use smalti::{Elem, Session, Target, Tensor};
use smalti_compiler::{Options, compile};
use smalti_dims::Dim;
use smalti_graph::interp::{self, Mode};
use smalti_graph::ops::{constant, conv, elementwise, matmul};
use smalti_graph::{Attr, Attrs, Fact, Graph, ValueId};
use smalti_program::{Call, Step};
use smalti_tiling::{Plan, Problem, plan};
use std::sync::Arc;

fn data(shape: &[usize], seed: u64) -> Tensor {
    let mut state = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let values: Vec<f32> = (0..shape.iter().product())
        .map(|_| {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40) as f32 / (1 << 23) as f32 - 1.0
        })
        .collect();
    Tensor::f32(shape, &values)
}

struct Build {
    graph: Graph,
    inputs: Vec<Tensor>,
}

impl Build {
    fn new() -> Build {
        Build { graph: Graph::new("product"), inputs: Vec::new() }
    }

    fn input(&mut self, tensor: Tensor) -> ValueId {
        let fact = Fact::tensor(Elem::F32, tensor.shape.iter().map(|&d| Dim::from(d)));
        let id = self.graph.value(format!("x{}", self.inputs.len()), fact);
        self.graph.body.inputs.push(id);
        self.inputs.push(tensor);
        id
    }

    fn constant(&mut self, tensor: Tensor) -> ValueId {
        let attrs = Attrs::none().with("value", Attr::Tensor(Arc::new(tensor)));
        self.node(&constant::CONSTANT, attrs, &[])
    }

    fn node(&mut self, op: &'static smalti_graph::ops::OpDef, attrs: Attrs, inputs: &[ValueId]) -> ValueId {
        let inputs = inputs.iter().copied().map(Some).collect();
        let node = self.graph.node(op.name, op, attrs, inputs, Vec::new()).unwrap();
        let out = node.outputs[0];
        self.graph.body.nodes.push(node);
        out
    }

    fn relu(&mut self, x: ValueId) -> ValueId {
        self.node(&elementwise::find("relu").unwrap().def, Attrs::none(), &[x])
    }

    fn add(&mut self, x: ValueId, y: ValueId) -> ValueId {
        self.node(&elementwise::find("add").unwrap().def, Attrs::none(), &[x, y])
    }

    /// Compiles and runs, and compares with the interpreter, to the bit. The result is the plan of the first product.
    fn judge(mut self, output: ValueId, what: &str) -> Plan {
        self.graph.body.outputs.push(output);
        let expected = interp::run(&self.graph, &self.inputs, Mode::AsRun, &mut |_, _| {}).unwrap();
        let options = Options { target: Target::host(), strict: true, every_value: false };
        let stages = compile(self.graph, &options).unwrap();
        for (threads, native) in [(1, true), (3, true), (3, false)] {
            let load = if native { Session::new } else { Session::interpreted };
            let mut session = load(&stages, threads).unwrap();
            for round in 0..2 {
                let got = session.run(&self.inputs).unwrap();
                assert_eq!(got[0].shape, expected[0].shape, "{what}");
                for i in 0..got[0].len() {
                    let (g, e) = (got[0].get(i) as f32, expected[0].get(i) as f32);
                    assert_eq!(
                        g.to_bits(),
                        e.to_bits(),
                        "{what}: [{i}] is {g}, expected {e}; {threads} threads, machine code {native}, run {round}"
                    );
                }
            }
        }
        let mut found = None;
        stages.program.each_step(&mut |step| {
            let size = |d: &Dim| d.size().ok_or("a size that is not known");
            let (problem, family) = match step {
                Step::Call(Call::Matmul(m)) => (Problem::Matmul(m.problem(size).unwrap()), m.family),
                Step::Call(Call::Conv(c)) => (Problem::Conv2d(c.problem(size).unwrap()), c.family),
                _ => return,
            };
            found.get_or_insert_with(|| plan(&problem, Some(family), &Target::host()).unwrap());
        });
        found.unwrap_or_else(|| panic!("{what} has no kernel call"))
    }
}

/// `[m, k]` by `[k, n]`, with a bias and a relu on finished tiles.
fn product(m: usize, n: usize, k: usize, constant: bool, trans: [bool; 2]) -> Plan {
    let mut b = Build::new();
    let (lhs, rhs) = (if trans[0] { [k, m] } else { [m, k] }, if trans[1] { [n, k] } else { [k, n] });
    let x = b.input(data(&lhs, 1));
    let w = if constant { b.constant(data(&rhs, 2)) } else { b.input(data(&rhs, 2)) };
    let bias = b.constant(data(&[n], 3));
    let attrs = Attrs::none().with("trans_a", Attr::Int(trans[0].into())).with("trans_b", Attr::Int(trans[1].into()));
    let y = b.node(&matmul::MATMUL, attrs, &[x, w]);
    let y = b.add(y, bias);
    let y = b.relu(y);
    b.judge(y, &format!("{m}x{n}x{k}, constant {constant}, transposed {trans:?}"))
}

#[test]
fn products_of_many_shapes() {
    for [m, n, k] in [
        [1, 1, 1],
        [1, 33, 7],
        [2, 64, 50],
        [3, 5, 100],
        [13, 31, 17],
        [14, 32, 64],
        [15, 65, 33],
        [29, 100, 5],
        [64, 16, 40],
        [7, 3, 0],
    ] {
        for constant in [false, true] {
            for trans in [[false, false], [true, false], [false, true], [true, true]] {
                product(m, n, k, constant, trans);
            }
        }
    }
}

/// A depth that takes several passes: later ones go on with the sum in the output, and the epilogue runs after the last.
#[test]
fn products_of_several_passes() {
    for constant in [false, true] {
        let plan = product(5, 70, 2500, constant, [false, false]);
        assert!(plan.blocks.kc < 2500, "{plan}");
        product(1, 1, 32767, constant, [false, false]);
    }
}

/// Several blocks of rows and of columns.
#[test]
fn products_of_many_tasks() {
    let plan = product(600, 100, 300, true, [false, false]);
    assert!(plan.grid.m > 1 && plan.grid.n > 1, "{plan}");
}

#[test]
fn products_of_batches() {
    for (a, b) in [
        (vec![3, 4, 9, 5], vec![3, 4, 5, 20]),
        (vec![2, 6, 8], vec![8, 33]),
        (vec![2, 1, 6, 8], vec![3, 8, 10]),
        (vec![5], vec![4, 5, 6]),
        (vec![4, 3, 5], vec![5]),
    ] {
        for constant in [false, true] {
            let mut build = Build::new();
            let x = build.input(data(&a, 5));
            let w = if constant { build.constant(data(&b, 6)) } else { build.input(data(&b, 6)) };
            let y = build.node(&matmul::MATMUL, Attrs::none(), &[x, w]);
            let y = build.relu(y);
            build.judge(y, &format!("{a:?} by {b:?}, constant {constant}"));
        }
    }
}

struct Image {
    x: [usize; 4],
    oc: usize,
    kernel: [usize; 2],
    stride: [i64; 2],
    pads: [i64; 4],
    dilation: [i64; 2],
    groups: usize,
}

fn convolution(c: &Image) -> Plan {
    let mut b = Build::new();
    let x = b.input(data(&c.x, 7));
    let w = b.constant(data(&[c.oc, c.x[1] / c.groups, c.kernel[0], c.kernel[1]], 8));
    let bias = b.constant(data(&[c.oc, 1, 1], 9));
    let attrs = Attrs::none()
        .with("strides", Attr::Ints(c.stride.to_vec()))
        .with("pads", Attr::Ints(c.pads.to_vec()))
        .with("dilations", Attr::Ints(c.dilation.to_vec()))
        .with("group", Attr::Int(c.groups as i64));
    let y = b.node(&conv::CONV, attrs, &[x, w]);
    let y = b.add(y, bias);
    let y = b.relu(y);
    let what = format!(
        "{:?}, {} channels out, kernel {:?}, stride {:?}, pads {:?}, dilation {:?}, groups {}",
        c.x, c.oc, c.kernel, c.stride, c.pads, c.dilation, c.groups
    );
    b.judge(y, &what)
}

#[test]
fn convolutions_of_many_shapes() {
    let plain =
        || Image { x: [1, 3, 8, 8], oc: 5, kernel: [3, 3], stride: [1, 1], pads: [1; 4], dilation: [1, 1], groups: 1 };
    let cases = [
        plain(),
        Image { x: [2, 16, 7, 9], oc: 33, ..plain() },
        Image { x: [1, 17, 6, 30], oc: 40, ..plain() },
        Image { x: [1, 40, 5, 5], oc: 8, pads: [0; 4], ..plain() },
        Image { stride: [2, 2], x: [1, 4, 15, 16], oc: 12, ..plain() },
        Image { stride: [3, 2], kernel: [5, 4], pads: [2, 1, 0, 3], x: [2, 3, 20, 19], ..plain() },
        Image { dilation: [2, 3], pads: [2, 3, 2, 3], x: [1, 5, 11, 12], ..plain() },
        Image { groups: 4, x: [2, 8, 9, 7], oc: 12, ..plain() },
        Image { groups: 6, x: [1, 6, 10, 40], oc: 6, ..plain() },
        // Narrower than the padding, and than a tile: whole taps lie outside.
        Image { x: [1, 2, 2, 1], kernel: [5, 5], pads: [2; 4], ..plain() },
        Image { x: [1, 2, 1, 3], kernel: [3, 7], pads: [1, 3, 1, 3], stride: [1, 3], ..plain() },
        Image { x: [3, 20, 6, 6], oc: 70, kernel: [1, 1], pads: [0; 4], ..plain() },
        Image { x: [1, 20, 7, 6], oc: 9, kernel: [1, 1], pads: [0; 4], stride: [2, 2], ..plain() },
        Image { x: [1, 8, 9, 9], oc: 9, kernel: [1, 1], pads: [1; 4], ..plain() },
        Image { x: [0, 3, 8, 8], ..plain() },
    ];
    for case in &cases {
        convolution(case);
    }
}

#[test]
fn convolutions_of_many_tasks() {
    let c =
        Image { x: [1, 64, 40, 40], oc: 80, kernel: [3, 3], stride: [1, 1], pads: [1; 4], dilation: [1, 1], groups: 1 };
    let plan = convolution(&c);
    assert!(plan.grid.tasks() > 3, "{plan}");
    let c = Image { kernel: [1, 1], pads: [0; 4], x: [1, 256, 40, 40], ..c };
    let plan = convolution(&c);
    assert!(plan.grid.tasks() > 3 && plan.last_tiles != plan.tiles, "{plan}");
}

/// One spatial dim runs on the same kernels as two.
#[test]
fn convolutions_of_one_dim() {
    for (length, pads, stride) in [(50, [2, 2], 1), (31, [0, 3], 2), (3, [4, 4], 1)] {
        let mut b = Build::new();
        let x = b.input(data(&[2, 18, length], 10));
        let w = b.constant(data(&[33, 18, 5], 11));
        let attrs = Attrs::none().with("pads", Attr::Ints(pads.to_vec())).with("strides", Attr::Ints(vec![stride]));
        let y = b.node(&conv::CONV, attrs, &[x, w]);
        let y = b.relu(y);
        b.judge(y, &format!("length {length}"));
    }
}
