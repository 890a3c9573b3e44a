//! The grammar of kernel names.
//!
//! ```text
//! ukernel := op "_" types "_" tile "_" where        tile's arity is the operation's own
//! types   := f64 f32 f16 bf16 i32 i16 i8 u8 i4 u4, inputs then output; a group suffix on weights: i4g32
//! tile    := dim ("x" dim)*
//! dim     := int | int "vs" | "n"                   16vs = 16 · VLEN/128 elements; n = given at run time
//! where   := ("generic" | "portable" | arch "_" level ["_" cpu]) ["_splitk" int] ["_flipped"]
//! ```

use crate::elem::ElemType;
use core::fmt;
use smalti_isa::{Arch, CoreClass, Features, Level, Target};

/// An operation that has kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Op {
    /// Batch-reduce product of tiles.
    Mmt4d,
    /// Strided matrix to panels.
    Pack,
    /// Panels to strided matrix.
    Unpack,
}

impl Op {
    /// Every operation.
    pub const ALL: &'static [Op] = &[Op::Mmt4d, Op::Pack, Op::Unpack];

    /// The name.
    pub const fn name(self) -> &'static str {
        match self {
            Op::Mmt4d => "mmt4d",
            Op::Pack => "pack",
            Op::Unpack => "unpack",
        }
    }

    /// How many operand types a name lists, inputs then output.
    pub const fn type_count(self) -> usize {
        match self {
            Op::Mmt4d => 3,
            Op::Pack | Op::Unpack => 2,
        }
    }

    /// How many dims a tile has: `M0 x N0 x K0`, or the panel's two inner dims.
    pub const fn tile_arity(self) -> usize {
        match self {
            Op::Mmt4d => 3,
            Op::Pack | Op::Unpack => 2,
        }
    }
}

/// Operand types, inputs then output. Unused places repeat the output's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Types {
    /// The types; an operation uses the first [`Op::type_count`].
    pub list: [ElemType; 3],
    /// Length of the groups along k that share a scale, on the weights: 0 where there is none.
    pub group: u16,
}

impl Types {
    /// Types without groups.
    pub const fn new(list: [ElemType; 3]) -> Types {
        Types { list, group: 0 }
    }

    /// These types, with groups of so many k.
    pub const fn grouped(list: [ElemType; 3], group: u16) -> Types {
        Types { list, group }
    }

    /// How many elements of k share a scale of the right operand: all of a call where no group is named; none where the
    /// right operand has no scales. Integers that are summed as floats have them.
    pub const fn scaled(self) -> Option<usize> {
        let [_, rhs, out] = self.list;
        match (rhs.is_float(), out.is_float(), self.group) {
            (false, true, 0) => Some(usize::MAX),
            (false, true, group) => Some(group as usize),
            _ => None,
        }
    }

    /// How many groups such a call has; none where the right operand has no scales.
    pub const fn groups(self, batches: usize, k_per_batch: usize) -> Option<usize> {
        match self.scaled() {
            Some(usize::MAX) => Some(1),
            Some(group) => Some(batches.saturating_mul(k_per_batch.div_ceil(group))),
            None => None,
        }
    }

    /// Writes the first `count` types, the group after the last input.
    pub(crate) fn write(&self, f: &mut fmt::Formatter<'_>, count: usize) -> fmt::Result {
        for (i, t) in self.list[..count].iter().enumerate() {
            f.write_str(t.name())?;
            if self.group != 0 && i + 2 == count {
                write!(f, "g{}", self.group)?;
            }
        }
        Ok(())
    }

    /// An input type and an output type.
    pub const fn pair(input: ElemType, output: ElemType) -> Types {
        Types { list: [input, output, output], group: 0 }
    }
}

/// One dim of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dim {
    /// So many elements.
    Fixed(u16),
    /// So many elements for each 128 bits of the vector length.
    Vscale(u16),
    /// Given at run time.
    Runtime,
}

impl Dim {
    /// The number of elements on `target`: none for a run-time dim, or where the vector length is not known.
    pub fn on(self, target: &Target) -> Option<usize> {
        match self {
            Dim::Fixed(n) => Some(n.into()),
            Dim::Vscale(n) => target.vlen.map(|vlen| usize::from(n) * usize::from(vlen) / 128),
            Dim::Runtime => None,
        }
    }

    /// The number of elements that plans and costs reckon with: as [`on`](Dim::on), with the least vector length where
    /// `target` leaves it open.
    pub fn expected_on(self, target: &Target) -> Option<usize> {
        self.on(&Target { vlen: target.vlen.or(Some(LEAST_VLEN)), ..*target })
    }

    /// This dim as far as `target` decides it.
    #[must_use]
    pub fn settled_on(self, target: &Target) -> Dim {
        self.on(target).and_then(|n| n.try_into().ok()).map_or(self, Dim::Fixed)
    }
}

/// The vector length that every machine with V has.
const LEAST_VLEN: u16 = 128;

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Fixed(n) => write!(f, "{n}"),
            Dim::Vscale(n) => write!(f, "{n}vs"),
            Dim::Runtime => f.write_str("n"),
        }
    }
}

/// Where a row runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Anywhere, for any tile: the tier of last resort.
    Generic,
    /// Anywhere, through portable vectors.
    Portable,
    /// On machines of one level; scheduled for one core class if that is named.
    Isa(Level, Option<CoreClass>),
}

impl Place {
    /// What the machine must have.
    pub const fn features(self) -> Features {
        match self {
            Place::Generic | Place::Portable => Features::NONE,
            Place::Isa(level, _) => level.features(),
        }
    }

    /// The architecture, where there is only one.
    pub const fn arch(self) -> Option<Arch> {
        match self {
            Place::Generic | Place::Portable => None,
            Place::Isa(level, _) => Some(level.arch()),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Generic => f.write_str("generic"),
            Place::Portable => f.write_str("portable"),
            Place::Isa(level, cpu) => {
                write!(f, "{}_{}", level.arch().name(), level.name())?;
                for c in cpu.iter().flat_map(|cpu| ['_'].into_iter().chain(cpu.name().chars())) {
                    fmt::Write::write_char(f, if c == '-' { '_' } else { c })?;
                }
                Ok(())
            }
        }
    }
}

/// A kernel name, taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// The operation.
    pub op: Op,
    /// Operand types.
    pub types: Types,
    /// The tile; an operation uses the first [`Op::tile_arity`], the others are `Fixed(1)`.
    pub tile: [Dim; 3],
    /// Where it runs.
    pub place: Place,
    /// Chains that k takes in turns, where the name says so: rows of one tile that add in another order.
    pub chains: Option<u8>,
    /// Whether panels of the right operand hold its elements with their sign bits flipped.
    pub flipped: bool,
}

/// Why a text is no kernel name: the part that was expected and what stood in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kernel name: expected {expected}, found '{found}'")]
pub struct NameError<'a> {
    /// What the grammar wants here.
    pub expected: &'static str,
    /// What is left of the text.
    pub found: &'a str,
}

impl Name {
    /// Takes a name apart.
    ///
    /// # Errors
    /// The first part that the grammar refuses.
    pub fn parse(text: &str) -> Result<Name, NameError<'_>> {
        let wrong = |expected, found| NameError { expected, found };
        let (op, rest) = text.split_once('_').ok_or(wrong("an operation", text))?;
        let op = *Op::ALL.iter().find(|o| o.name() == op).ok_or(wrong("an operation", text))?;

        let (mut types, rest) = rest.split_once('_').ok_or(wrong("operand types", rest))?;
        let mut list = [ElemType::F32; 3];
        let mut group = 0;
        for i in 0..op.type_count() {
            let t =
                *ElemType::ALL.iter().find(|t| types.starts_with(t.name())).ok_or(wrong("an element type", types))?;
            list[i..].fill(t);
            types = &types[t.name().len()..];
            if let Some(tail) = types.strip_prefix('g') {
                let digits = tail.bytes().take_while(u8::is_ascii_digit).count();
                group = tail[..digits].parse().map_err(|_| wrong("a group length", tail))?;
                types = &tail[digits..];
            }
        }
        if !types.is_empty() {
            return Err(wrong("the end of the operand types", types));
        }

        let (tile_text, rest) = rest.split_once('_').ok_or(wrong("a tile", rest))?;
        let mut tile = [Dim::Fixed(1); 3];
        let mut dims = tile_text.split('x');
        for dim in &mut tile[..op.tile_arity()] {
            let text = dims.next().ok_or(wrong("one more dim of the tile", tile_text))?;
            let number = |t: &str| t.parse().map_err(|_| wrong("a dim of the tile", tile_text));
            *dim = match text.strip_suffix("vs") {
                _ if text == "n" => Dim::Runtime,
                Some(text) => Dim::Vscale(number(text)?),
                None => Dim::Fixed(number(text)?),
            };
        }
        if dims.next().is_some() {
            return Err(wrong("the end of the tile", tile_text));
        }

        let (rest, flipped) = rest.strip_suffix("_flipped").map_or((rest, false), |rest| (rest, true));
        let (rest, chains) = match rest.rsplit_once("_splitk") {
            Some((rest, n)) => (rest, Some(n.parse().map_err(|_| wrong("a number of chains", n))?)),
            None => (rest, None),
        };
        let place = place(rest).ok_or(wrong("where it runs", rest))?;
        Ok(Name { op, types: Types { list, group }, tile, place, chains, flipped })
    }
}

fn place(text: &str) -> Option<Place> {
    match text {
        "generic" => return Some(Place::Generic),
        "portable" => return Some(Place::Portable),
        _ => {}
    }
    let arch = Arch::ALL.iter().find(|a| text.starts_with(a.name()))?;
    let rest = text[arch.name().len()..].strip_prefix('_')?;
    let level = Level::ALL
        .iter()
        .copied()
        .filter(|l| l.arch() == *arch)
        .filter(|l| rest.strip_prefix(l.name()).is_some_and(|r| r.is_empty() || r.starts_with('_')))
        .max_by_key(|l| l.name().len())?;
    let cpu = match rest[level.name().len()..].strip_prefix('_') {
        None => None,
        Some(cpu) => Some(*CoreClass::ALL.iter().find(|c| same_but_hyphens(c.name(), cpu))?),
    };
    Some(Place::Isa(level, cpu))
}

fn same_but_hyphens(name: &str, text: &str) -> bool {
    name.len() == text.len() && name.bytes().zip(text.bytes()).all(|(a, b)| a == b || (a, b) == (b'-', b'_'))
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_", self.op.name())?;
        self.types.write(f, self.op.type_count())?;
        for (i, dim) in self.tile[..self.op.tile_arity()].iter().enumerate() {
            write!(f, "{}{dim}", if i == 0 { "_" } else { "x" })?;
        }
        write!(f, "_{}", self.place)?;
        self.chains.map_or(Ok(()), |n| write!(f, "_splitk{n}"))?;
        f.write_str(if self.flipped { "_flipped" } else { "" })
    }
}
