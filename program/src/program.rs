//! Programs, buffers and steps.

use alloc::string::String;
use alloc::vec::Vec;
use bytes::Bytes;
use smalti_codegen::{Elem, Nest};
use smalti_dims::{Dim, Symbol, Symbols};
use smalti_isa::Target;
use smalti_tiling::Order;
use smalti_ukernels::select::tier;
use smalti_ukernels::table::{Family, Tier};

/// The number of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub u32);

/// A compiled model.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The model's name.
    pub name: String,
    /// What it was compiled for.
    pub target: Target,
    /// Names of the symbols in sizes.
    pub symbols: Symbols,
    /// A symbol that the machine gives its value: bits of its vector registers / 128. Tiles of families that follow the
    /// vector length are so many times as wide.
    pub vscale: Option<Symbol>,
    /// What a run is given.
    pub inputs: Vec<Port>,
    /// What a run gives.
    pub outputs: Vec<Port>,
    /// Tensors of the model.
    pub constants: Vec<Constant>,
    /// Memory.
    pub buffers: Vec<Buffer>,
    /// Bodies of dispatches and epilogues.
    pub nests: Vec<Nest>,
    /// Steps that run once, when the program is loaded: they read constants and write [`Place::Once`] buffers.
    pub once: Vec<Step>,
    /// Steps of a run.
    pub steps: Vec<Step>,
}

/// An input or an output.
#[derive(Clone, Debug, PartialEq)]
pub struct Port {
    /// Its name in the model.
    pub name: String,
    /// Its dims. A dim of an input that is a symbol alone is bound by the tensor that is given.
    pub shape: Vec<Dim>,
    /// Where it lies.
    pub buffer: BufferId,
}

/// A tensor of the model: row-major bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// Where it came from.
    pub name: String,
    /// Its bytes, owned or lent by whoever maps them.
    pub bytes: Bytes,
}

/// Memory for elements of one type.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    /// Their type.
    pub elem: Elem,
    /// How many.
    pub len: Dim,
    /// Where.
    pub place: Place,
}

/// Where a buffer lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In the memory of input number so: only read.
    Input(u32),
    /// In constant number so: only read.
    Constant(u32),
    /// In memory that is written once, when the program is loaded.
    Once(u32),
    /// In slot number so. Buffers whose lives don't overlap share a slot; it is as long as the longest needs.
    Slot(u32),
}

/// Elements of a buffer, by strides.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// The buffer.
    pub buffer: BufferId,
    /// The first element.
    pub offset: Dim,
    /// From one element to the next along each dim.
    pub strides: Vec<Dim>,
}

/// A thing to do.
#[allow(clippy::large_enum_variant, reason = "a program has few steps")]
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Computes.
    Call(Call),
    /// Runs one of two lists, by the first element of a bool buffer.
    Branch {
        /// The buffer.
        condition: BufferId,
        /// Steps where it is true.
        yes: Vec<Step>,
        /// Steps where it is false.
        no: Vec<Step>,
    },
    /// Runs a list again and again.
    Loop(Loop),
    /// Gives a symbol its value.
    BindDim {
        /// The symbol.
        symbol: Symbol,
        /// The value.
        value: Bind,
    },
    /// Stops the run where two dims differ.
    Check {
        /// Whose need it is.
        node: String,
        /// One dim.
        left: Dim,
        /// The other.
        right: Dim,
    },
}

/// What a symbol is bound to.
#[derive(Clone, Debug, PartialEq)]
pub enum Bind {
    /// An element of an integer buffer.
    Element(BufferId, u32),
    /// An expression.
    Dim(Dim),
}

/// A loop with carried values.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The greatest number of rounds: an i64 buffer.
    pub most: Option<BufferId>,
    /// Whether to begin: a bool buffer.
    pub begin: Option<BufferId>,
    /// The round's number, written before each: an i64 buffer.
    pub round: BufferId,
    /// Whether this round runs, written before each: a bool buffer.
    pub go: BufferId,
    /// Steps of a round.
    pub body: Vec<Step>,
    /// Whether another one follows, read after each: a bool buffer.
    pub next: BufferId,
    /// After each round the first buffer's elements become the second one's. All are read before any is written.
    pub carried: Vec<(BufferId, BufferId)>,
    /// After each round the first buffer's elements become element number `round` of the second one's first dim.
    pub stacked: Vec<(BufferId, BufferId)>,
    /// Bound to the number of rounds that were run; before, while the loop runs, to the greatest number.
    pub rounds: Option<Symbol>,
}

/// A computation.
#[allow(clippy::large_enum_variant, reason = "a program has few steps")]
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// Runs a nest.
    Dispatch(Dispatch),
    /// Multiplies matrices.
    Matmul(Matmul),
    /// Convolves.
    Conv(Conv),
    /// Packs a matrix into panels.
    Pack(Pack),
    /// Writes dims into an integer buffer.
    Dims {
        /// The buffer.
        out: BufferId,
        /// Its elements.
        values: Vec<Dim>,
    },
}

/// A nest on operands.
#[derive(Clone, Debug, PartialEq)]
pub struct Dispatch {
    /// Whose work it is, for reports.
    pub name: String,
    /// The nest.
    pub nest: u32,
    /// The extent of each dim.
    pub extents: Vec<Dim>,
    /// Its operands.
    pub operands: Vec<View>,
}

/// A nest on finished tiles. Its operands after the first are views over the output's dims; the first one is the tile
/// itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Epilogue {
    /// The nest: one outer dim, one inner dim.
    pub nest: u32,
    /// Its operands but the first.
    pub operands: Vec<View>,
}

/// The right operand of a matmul.
#[derive(Clone, Debug, PartialEq)]
pub enum Rhs {
    /// Read in place: strides of batch dims, k and n.
    InPlace(View),
    /// Panels of the family: strides of batch dims, from one product's to the next one's.
    Panels(View),
}

/// Products of matrices. The epilogue's dims are rows and columns of a tile; its views' are the batch dims, m and n.
#[derive(Clone, Debug, PartialEq)]
pub struct Matmul {
    /// Whose work it is, for reports.
    pub name: String,
    /// The family of kernels.
    pub family: Family,
    /// Whether the same bits must come out on every machine.
    pub strict: bool,
    /// Dims of which each has its own product.
    pub batch: Vec<Dim>,
    /// Rows.
    pub m: Dim,
    /// Columns.
    pub n: Dim,
    /// Depth.
    pub k: Dim,
    /// The left operand: batch dims, m and k.
    pub lhs: View,
    /// The right operand.
    pub rhs: Rhs,
    /// The output: batch dims, m and n, the last of stride 1.
    pub out: View,
    /// What is done with finished tiles of the output.
    pub epilogue: Option<Epilogue>,
}

/// A 2-D convolution. The epilogue's dims are output channels and pixels of a tile; its views' are images, output
/// channels, rows and columns. It writes the output.
#[derive(Clone, Debug, PartialEq)]
pub struct Conv {
    /// Whose work it is, for reports.
    pub name: String,
    /// The family of kernels.
    pub family: Family,
    /// Whether the same bits must come out on every machine.
    pub strict: bool,
    /// Images.
    pub n: Dim,
    /// Input channels.
    pub ic: usize,
    /// Input height and width.
    pub input: [Dim; 2],
    /// Output channels.
    pub oc: usize,
    /// Kernel height and width.
    pub kernel: [usize; 2],
    /// Steps between neighbouring outputs.
    pub stride: [usize; 2],
    /// Pixels of zero above, left, below, right.
    pub pad: [usize; 4],
    /// Steps between neighbouring taps.
    pub dilation: [usize; 2],
    /// Independent groups of channels.
    pub groups: usize,
    /// The activations: images, channels, rows, columns.
    pub x: View,
    /// The weights, as the plan lays them out.
    pub weights: BufferId,
    /// What is done with finished tiles.
    pub epilogue: Epilogue,
}

impl Matmul {
    /// What the planner is asked, with `size` for each dim. The left operand's rows are taken for runs of memory.
    pub fn problem<E>(&self, size: impl Fn(&Dim) -> Result<usize, E>) -> Result<smalti_tiling::Matmul, E> {
        Ok(smalti_tiling::Matmul {
            types: self.family.types,
            batch: self.batch.iter().try_fold(1usize, |product, d| Ok(product.saturating_mul(size(d)?)))?,
            m: size(&self.m)?,
            n: size(&self.n)?,
            k: size(&self.k)?,
            lhs: Order::Rows,
            rhs: Order::Rows,
            rhs_constant: matches!(self.rhs, Rhs::Panels(_)),
            strict: self.strict,
        })
    }
}

impl Conv {
    /// What the planner is asked, with `size` for each dim. Rows of images are taken to follow on one another.
    pub fn problem<E>(&self, size: impl Fn(&Dim) -> Result<usize, E>) -> Result<smalti_tiling::Conv2d, E> {
        Ok(smalti_tiling::Conv2d {
            types: self.family.types,
            n: size(&self.n)?,
            ic: self.ic,
            input: [size(&self.input[0])?, size(&self.input[1])?],
            oc: self.oc,
            kernel: self.kernel,
            stride: self.stride,
            pad: self.pad,
            dilation: self.dilation,
            groups: self.groups,
            rows_apart: false,
            strict: self.strict,
        })
    }
}

/// A matrix into panels `[rows/T0][cols][T0]`, batch after batch; what is missing in the last tile is zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Pack {
    /// Whose work it is, for reports.
    pub name: String,
    /// Rows of a tile.
    pub t0: Dim,
    /// Dims of which each has its own panels.
    pub batch: Vec<Dim>,
    /// Rows.
    pub rows: Dim,
    /// Columns.
    pub cols: Dim,
    /// The matrix: batch dims, rows, columns.
    pub src: View,
    /// Elements from one tile's panel to the next.
    pub panel: Dim,
    /// The first element that is written.
    pub offset: Dim,
    /// Elements from one batch to the next.
    pub batch_stride: Dim,
    /// The panels.
    pub out: BufferId,
}

impl Program {
    /// A buffer.
    ///
    /// # Panics
    /// There is none of that number; a verified program's are all there.
    pub fn buffer(&self, id: BufferId) -> &Buffer {
        &self.buffers[id.0 as usize]
    }

    /// Names of products that the program's target has no better than generic code for, in the order of the steps.
    pub fn generic(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.each_step(&mut |step| {
            let Step::Call(call) = step else { return };
            let (name, generic) = match call {
                Call::Matmul(m) => (&m.name, tier(m.family, m.strict, &self.target) <= Some(Tier::Generic)),
                Call::Conv(c) => (&c.name, tier(c.family, c.strict, &self.target) <= Some(Tier::Generic)),
                // Products of other types and ranks are plain reductions.
                Call::Dispatch(d) => (&d.name, matches!(self.nests[d.nest as usize].name.as_str(), "matmul" | "conv")),
                Call::Pack(_) | Call::Dims { .. } => return,
            };
            names.extend(generic.then_some(name.as_str()));
        });
        names
    }

    /// Calls `visit` for every step of `once` and `steps`, those inside branches and loops included.
    pub fn each_step<'a>(&'a self, visit: &mut dyn FnMut(&'a Step)) {
        fn walk<'a>(steps: &'a [Step], visit: &mut dyn FnMut(&'a Step)) {
            for step in steps {
                visit(step);
                match step {
                    Step::Branch { yes, no, .. } => {
                        walk(yes, visit);
                        walk(no, visit);
                    }
                    Step::Loop(l) => walk(&l.body, visit),
                    _ => {}
                }
            }
        }
        walk(&self.once, visit);
        walk(&self.steps, visit);
    }
}
