//! Products and convolutions: calls of kernels where there are some, else reductions.

use super::{Loc, Lower, LowerError, dense, nests};
use smalti_codegen::{Access, BinOp, Builder, Elem, RedOp, Step as Stride, Value};
use smalti_dims::{Dim, product};
use smalti_graph::ops::conv::Window;
use smalti_graph::{Graph, Node, ValueId};
use smalti_program::{BufferId, Call, Conv, Epilogue, Matmul, Pack, Place, Rhs, Step, View};
use smalti_tiling::{CHANNEL_GROUP, Conv2d, Order, Problem};
use smalti_ukernels::elem::ElemType;
use smalti_ukernels::name::Types;
use smalti_ukernels::table::Family;

/// A size that stands for one that is only known at run time.
const TYPICAL: usize = 256;

/// The planner's problem of a matmul or a 2-D convolution, sizes that are not known taken for typical ones.
pub(crate) fn problem(graph: &Graph, node: &Node, constant: bool, strict: bool) -> Option<Problem> {
    let shape = |i: usize| graph.fact(node.inputs.get(i).copied().flatten()?).shape().ok();
    let size = |d: &Dim| d.size().unwrap_or(TYPICAL);
    let product = |dims: &[Dim]| dims.iter().map(size).fold(1, usize::saturating_mul);
    let types = Types::new([ElemType::F32; 3]);
    if node.op.name == "matmul" {
        let (a, b) = (shape(0)?, shape(1)?);
        let (trans_a, trans_b) = (node.attrs.int("trans_a", 0) != 0, node.attrs.int("trans_b", 0) != 0);
        let at = |s: &[Dim], back: usize| s.len().checked_sub(back).map_or(1, |i| size(&s[i]));
        let (m, k) = if trans_a { (at(a, 1), at(a, 2)) } else { (if a.len() > 1 { at(a, 2) } else { 1 }, at(a, 1)) };
        let n = if b.len() == 1 {
            1
        } else if trans_b {
            at(b, 2)
        } else {
            at(b, 1)
        };
        let lead = product(&a[..a.len().saturating_sub(2)]);
        let folds = b.len() <= 2;
        return Some(Problem::Matmul(smalti_tiling::Matmul {
            types,
            batch: if folds { 1 } else { lead },
            m: if folds { m.saturating_mul(lead) } else { m },
            n,
            k,
            lhs: if trans_a { Order::Columns } else { Order::Rows },
            rhs: if trans_b { Order::Columns } else { Order::Rows },
            rhs_constant: constant,
            strict,
        }));
    }
    let (x, w) = (shape(0)?, shape(1)?);
    let kernel: Vec<usize> = w[2..].iter().map(Dim::size).collect::<Option<_>>()?;
    let window = Window::new(&node.attrs, kernel).ok()?;
    let n = window.kernel.len();
    // One spatial dim is the second of two.
    let pair = |list: &[usize], one: usize| if n == 1 { [one, list[0]] } else { [list[0], list[1]] };
    let spatial: Vec<usize> = x[2..].iter().map(size).collect();
    let p = &window.pads;
    let problem = Conv2d {
        types,
        n: size(&x[0]),
        ic: x[1].size()?,
        input: pair(&spatial, 1),
        oc: w[0].size()?,
        kernel: pair(&window.kernel, 1),
        stride: pair(&window.strides, 1),
        pad: if n == 1 { [0, p[0], 0, p[1]] } else { [p[0], p[1], p[2], p[3]] },
        dilation: pair(&window.dilations, 1),
        groups: node.attrs.int("group", 1).max(1) as usize,
        rows_apart: false,
        strict,
    };
    countable(&problem).then_some(Problem::Conv2d(problem))
}

/// Groups of a convolution, each of which is packed by steps of its own; one of more has no kernel.
const MAX_GROUPS: usize = 1 << 13;

/// Whether kernels can count a convolution's sizes, and there is an output.
fn countable(p: &Conv2d) -> bool {
    let sizes = [&[p.ic, p.oc, p.groups][..], &p.kernel, &p.stride, &p.dilation].concat();
    let least = |&s: &usize| (1..smalti_program::LARGEST).contains(&s);
    sizes.iter().all(least)
        && p.pad.iter().all(|&s| s < smalti_program::LARGEST)
        && p.groups <= MAX_GROUPS
        && p.output().is_some()
}

impl Lower<'_> {
    fn family(node: &Node) -> Result<Family, LowerError> {
        let text = node.attrs.word("family");
        Family::parse(text).ok_or(LowerError(format!("'{text}' is no family")))
    }

    /// N0 of a family.
    fn n0(&mut self, family: &Family) -> Dim {
        use smalti_ukernels::name::Dim::{Fixed, Runtime, Vscale};
        match family.n0.settled_on(&self.options.target) {
            Fixed(n0) => Dim::from(usize::from(n0)),
            Vscale(n0) => Dim::from(usize::from(n0)) * self.vscale(),
            Runtime => Dim::from(1i64),
        }
    }

    /// Rows of the tiles that a pack writes.
    fn t0(&mut self, node: &Node) -> Dim {
        let t0 = Dim::from(node.attrs.int("t0", 1).max(1));
        if node.attrs.int("vscale", 0) != 0 { t0 * self.vscale() } else { t0 }
    }

    /// The nest of an epilogue and its operands but the tile. `views` are over the output's dims; `step_of` is the dim
    /// that the nest's inner one walks. With `in_place` the tile is written in the place of the first output.
    fn epilogue(
        &mut self,
        node: &Node,
        shape: &[Dim],
        tile: Stride,
        in_place: bool,
        step_of: usize,
    ) -> Result<(Epilogue, Vec<Loc>), LowerError> {
        let step = |strides: &[Dim]| match &strides[step_of] {
            s if s.is(1) => Stride::Unit,
            s if s.is(0) => Stride::Zero,
            _ => Stride::Any,
        };
        let mut b = Builder::new("epilogue", 1, 1);
        let access = if in_place { Access::InOut } else { Access::In };
        let acc = b.operand("tile", Elem::F32, access, tile);
        let mut operands: Vec<View> = Vec::new();
        let mut loads = vec![acc];
        for (i, &id) in node.inputs[2..].iter().flatten().enumerate() {
            let loc = self.loc(id)?.broadcast(&self.shape(id)?, shape);
            loads.push(b.operand(format!("x{i}"), self.elem(id)?, Access::In, step(&loc.strides)));
            operands.push(loc.view(loc.strides.clone()));
        }
        let inputs: Vec<Value> = loads.into_iter().map(|o| b.load(o)).collect();
        let results = match node.regions.first() {
            Some(region) => nests::region(&mut b, self, &region.block, &inputs)?,
            None => vec![inputs[0]],
        };
        let mut places = Vec::new();
        for (i, (&id, value)) in node.outputs.iter().zip(results).enumerate() {
            let place = self.fresh(self.elem(id)?, shape);
            if i == 0 && in_place {
                b.store(acc, value);
            } else {
                let out = b.operand(format!("y{i}"), self.elem(id)?, Access::Out, step(&place.strides));
                b.store(out, value);
                operands.push(place.view(place.strides.clone()));
            }
            places.push(place);
        }
        Ok((Epilogue { nest: self.nest(b.finish()), operands }, places))
    }

    pub(crate) fn matmul(&mut self, node: &Node) -> Result<(), LowerError> {
        let (a, b) =
            (node.inputs[0].ok_or("there is no left operand")?, node.inputs[1].ok_or("there is no right operand")?);
        let out = node.outputs[0];
        let shape = self.shape(out)?;
        let packed = node.attrs.word("rhs") == "packed";
        let left = self.operand(a, node.attrs.int("trans_a", 0) != 0, true)?;
        let right = self.operand(b, node.attrs.int("trans_b", 0) != 0, false)?;
        // The output with two matrix dims, whatever the operands' ranks were.
        let (vector_a, vector_b) = (self.shape(a)?.len() == 1, self.shape(b)?.len() == 1);
        let mut full = shape.clone();
        if vector_b {
            full.push(Dim::from(1i64));
        }
        if vector_a {
            full.insert(full.len() - 1, Dim::from(1i64));
        }
        let (m, n, k) = (full[full.len() - 2].clone(), full[full.len() - 1].clone(), left.0[left.0.len() - 1].clone());
        let mut batch = full[..full.len() - 2].to_vec();
        let lead = |o: &(Vec<Dim>, Loc)| -> Loc {
            let to = [&batch[..], &o.0[o.0.len() - 2..]].concat();
            o.1.broadcast(&o.0, &to)
        };
        let (mut lhs, mut rhs) = (lead(&left), lead(&right));
        if node.attrs.word("family").is_empty() {
            if !node.regions.is_empty() {
                return self.then_region(node, Self::matmul);
            }
            return self.matmul_as_reduction(node, &full, k, &lhs, &rhs);
        }
        let family = Self::family(node)?;
        let in_place = self.elem(out)? == Elem::F32;
        let (mut epilogue, places) = if node.regions.is_empty() {
            (None, vec![self.fresh(Elem::F32, &shape)])
        } else {
            let inner = shape.len().saturating_sub(1);
            if vector_a || vector_b || shape.is_empty() {
                // Epilogues run on matrices: here the region is a dispatch of its own.
                return self.then_region(node, Self::matmul);
            }
            let (e, places) = self.epilogue(node, &shape, Stride::Unit, in_place, inner)?;
            (Some(e), places)
        };
        let acc = if in_place { places[0].clone() } else { self.fresh(Elem::F32, &full) };
        let mut out_loc = Loc { strides: dense(&full), ..acc };
        for (&id, place) in node.outputs.iter().zip(&places) {
            self.set(id, place.clone());
        }
        // One right operand for many left ones: their rows are rows of one product, where they follow each other.
        let mut m = m;
        while let Some(last) = batch.len().checked_sub(1) {
            let follows = |strides: &[Dim]| strides[last] == strides[last + 1].clone() * m.clone();
            let tails = epilogue.iter().flat_map(|e| &e.operands).all(|v| follows(&v.strides));
            if !rhs.strides[last].is(0) || !follows(&lhs.strides) || !follows(&out_loc.strides) || !tails {
                break;
            }
            m = m * batch[last].clone();
            batch.pop();
            lhs.strides.remove(last);
            rhs.strides.remove(last);
            out_loc.strides.remove(last);
            epilogue.iter_mut().flat_map(|e| &mut e.operands).for_each(|v| drop(v.strides.remove(last)));
        }
        let rank = batch.len();
        let rhs = if packed {
            // From one product's panels to the next one's, along the dims that the operand has itself.
            let own = &right.0[..right.0.len() - 2];
            let n0 = self.n0(&family);
            let total = n.div_ceil(&n0) * n0 * k.clone();
            let steps: Vec<Dim> = dense(own).into_iter().map(|s| s * total.clone()).collect();
            let panels = Loc { strides: steps, ..right.1.clone() }.broadcast(own, &full[..full.len() - 2]);
            Rhs::Panels(panels.view(panels.strides[..rank].to_vec()))
        } else {
            if !n.is(1) && !rhs.strides[rank + 1].is(1) {
                let from = rhs.clone();
                let shape = [&batch[..], &[k.clone(), n.clone()]].concat();
                rhs = self.fresh(Elem::F32, &shape);
                self.copy(&node.name, Elem::F32, &shape, &from, &rhs);
            }
            Rhs::InPlace(rhs.view(rhs.strides.clone()))
        };
        let out_view = out_loc.view(out_loc.strides.clone());
        self.steps.push(Step::Call(Call::Matmul(Matmul {
            name: node.name.clone(),
            family,
            strict: self.options.strict,
            batch,
            m,
            n,
            k,
            lhs: lhs.view(lhs.strides.clone()),
            rhs,
            out: out_view,
            epilogue,
        })));
        Ok(())
    }

    /// An operand's shape and place with two matrix dims, read as its transpose where that is asked for.
    fn operand(&self, id: ValueId, transposed: bool, left: bool) -> Result<(Vec<Dim>, Loc), LowerError> {
        let (mut shape, mut loc) = (self.shape(id)?, self.loc(id)?);
        if shape.len() == 1 {
            let at = usize::from(!left);
            shape.insert(at, Dim::from(1i64));
            loc.strides.insert(at, Dim::from(0i64));
            return Ok((shape, loc));
        }
        if transposed {
            let n = shape.len();
            shape.swap(n - 2, n - 1);
            loc.strides.swap(n - 2, n - 1);
        }
        Ok((shape, loc))
    }

    /// A product without its region, which then is a dispatch of its own.
    fn then_region(
        &mut self,
        node: &Node,
        product: fn(&mut Self, &Node) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        let region = node.regions.first().ok_or("there is no region")?;
        let tile = region.block.inputs[0];
        let mut plain = node.clone();
        plain.regions.clear();
        plain.inputs.truncate(2);
        plain.outputs = vec![tile];
        product(self, &plain)?;
        let mut fused = node.clone();
        fused.inputs = std::iter::once(Some(tile)).chain(node.inputs[2..].iter().copied()).collect();
        self.fused(&fused)
    }

    /// Any element type: a reduction over k.
    fn matmul_as_reduction(
        &mut self,
        node: &Node,
        full: &[Dim],
        k: Dim,
        lhs: &Loc,
        rhs: &Loc,
    ) -> Result<(), LowerError> {
        let out = node.outputs[0];
        let elem = self.elem(out)?;
        let rank = full.len();
        let mut b = Builder::new("matmul", rank, 1);
        let x = b.operand("x", elem, Access::In, Stride::Any);
        let y = b.operand("y", elem, Access::In, Stride::Any);
        let z = b.operand("z", elem, Access::Out, Stride::Zero);
        b.inner_loop();
        let (left, right) = (b.load(x), b.load(y));
        let term = b.bin(BinOp::Mul, left, right);
        let sum = b.reduce(RedOp::Sum, term);
        b.once();
        b.store(z, sum);
        let to = self.fresh(elem, &self.shape(out)?);
        let zero = Dim::from(0i64);
        let batch = rank - 2;
        let strides = |batch: &[Dim], m: &Dim, n: &Dim, k: &Dim| [batch, &[m.clone(), n.clone(), k.clone()]].concat();
        let views = vec![
            lhs.view(strides(&lhs.strides[..batch], &lhs.strides[batch], &zero, &lhs.strides[batch + 1])),
            rhs.view(strides(&rhs.strides[..batch], &zero, &rhs.strides[batch + 1], &rhs.strides[batch])),
            to.view([dense(full), vec![zero]].concat()),
        ];
        self.dispatch(&node.name, b.finish(), [full, &[k]].concat(), views);
        self.set(out, to);
        Ok(())
    }

    /// A right operand as panels: once where it is constant.
    pub(crate) fn pack(&mut self, node: &Node) -> Result<(), LowerError> {
        let id = node.inputs[0].ok_or("there is no operand")?;
        let (shape, loc) = self.operand(id, node.attrs.int("trans", 0) != 0, false)?;
        let t0 = self.t0(node);
        let rank = shape.len() - 2;
        let (k, n) = (shape[rank].clone(), shape[rank + 1].clone());
        let panel = k.clone() * t0.clone();
        let batch_stride = n.div_ceil(&t0) * panel.clone();
        let len = product(&shape[..rank]) * batch_stride.clone();
        let mut strides = loc.strides.clone();
        strides.swap(rank, rank + 1);
        let (out, once) = self.packed(&loc, len);
        let step = Step::Call(Call::Pack(Pack {
            name: node.name.clone(),
            t0,
            batch: shape[..rank].to_vec(),
            rows: n,
            cols: k,
            src: loc.view(strides),
            panel,
            offset: Dim::from(0i64),
            batch_stride,
            out,
        }));
        if once {
            self.program.once.push(step)
        } else {
            self.steps.push(step)
        }
        // The shape is that of the operand, so that the product finds its dims.
        let shape = self.shape(id)?;
        self.set(node.outputs[0], Loc { buffer: out, offset: Dim::from(0i64), strides: dense(&shape) });
        Ok(())
    }

    /// Memory for what is packed of `loc`, and whether that happens once.
    fn packed(&mut self, loc: &Loc, len: Dim) -> (BufferId, bool) {
        let once = matches!(self.program.buffer(loc.buffer).place, Place::Constant(_));
        let buffer = if once { self.fresh_once(Elem::F32, len) } else { self.fresh(Elem::F32, &[len]).buffer };
        (buffer, once)
    }

    /// Convolution weights: for each group of output channels, panels of n0; in each, groups of input channels, taps,
    /// channels.
    pub(crate) fn pack_weights(&mut self, node: &Node) -> Result<(), LowerError> {
        let id = node.inputs[0].ok_or("there are no weights")?;
        let (shape, loc) = (self.shape(id)?, self.loc(id)?);
        let sizes: Vec<usize> = shape.iter().map(Dim::size).collect::<Option<_>>().ok_or("weights of unknown shape")?;
        let n0 = self.t0(node);
        let groups = node.attrs.int("group", 1).max(1) as usize;
        let (oc, ic) = (sizes[0] / groups, sizes[1]);
        let taps: Vec<Dim> = shape[2..].to_vec();
        let tap_count: usize = sizes[2..].iter().product();
        let panel = Dim::from(ic * tap_count) * n0.clone();
        let group_len = Dim::from(oc).div_ceil(&n0) * panel.clone();
        let (out, once) = self.packed(&loc, Dim::from(groups) * group_len.clone());
        let full = ic / CHANNEL_GROUP;
        for g in 0..groups {
            // All whole groups of channels in one call, and the rest in another.
            for (first, count, channels) in [(0, full, CHANNEL_GROUP), (full * CHANNEL_GROUP, 1, ic % CHANNEL_GROUP)] {
                if count == 0 || channels == 0 {
                    continue;
                }
                let offset = loc.offset.clone()
                    + loc.strides[0].clone() * Dim::from(g * oc)
                    + loc.strides[1].clone() * Dim::from(first);
                let group_stride = loc.strides[1].clone() * Dim::from(CHANNEL_GROUP);
                let strides =
                    [&[group_stride][..], &loc.strides[2..], &[loc.strides[0].clone(), loc.strides[1].clone()]]
                        .concat();
                let step = Step::Call(Call::Pack(Pack {
                    name: node.name.clone(),
                    t0: n0.clone(),
                    batch: [&[Dim::from(count)][..], &taps].concat(),
                    rows: Dim::from(oc),
                    cols: Dim::from(channels),
                    src: View { buffer: loc.buffer, offset, strides },
                    panel: panel.clone(),
                    offset: Dim::from(g) * group_len.clone() + Dim::from(first * tap_count) * n0.clone(),
                    batch_stride: Dim::from(channels) * n0.clone(),
                    out,
                }));
                if once { self.program.once.push(step) } else { self.steps.push(step) }
            }
        }
        self.set(node.outputs[0], Loc { buffer: out, offset: Dim::from(0i64), strides: dense(&shape) });
        Ok(())
    }

    pub(crate) fn conv(&mut self, node: &Node) -> Result<(), LowerError> {
        let (x, w) = (node.inputs[0].ok_or("there is no input")?, node.inputs[1].ok_or("there are no weights")?);
        if node.attrs.word("family").is_empty() {
            if !node.regions.is_empty() {
                return self.then_region(node, Self::conv);
            }
            return self.conv_as_reduction(node);
        }
        let family = Self::family(node)?;
        let Some(Problem::Conv2d(p)) = problem(self.graph, node, true, self.options.strict) else {
            return Err("channels that are not known".into());
        };
        let (shape, input) = (self.shape(node.outputs[0])?, self.shape(x)?);
        let rank = shape.len();
        let (mut epilogue, places) = self.epilogue(node, &shape, Stride::Any, false, rank - 1)?;
        for (&id, place) in node.outputs.iter().zip(places) {
            self.set(id, place);
        }
        let mut view = {
            let loc = self.loc(x)?;
            loc.view(loc.strides.clone())
        };
        let mut extents = [input[rank - 2].clone(), input[rank - 1].clone()];
        if rank == 3 {
            extents[0] = Dim::from(1i64);
            view.strides.insert(2, input[2].clone() * view.strides[2].clone());
            let wide = shape[2].clone();
            for v in &mut epilogue.operands {
                let step = wide.clone() * v.strides[2].clone();
                v.strides.insert(2, step);
            }
        }
        self.steps.push(Step::Call(Call::Conv(Conv {
            name: node.name.clone(),
            family,
            strict: self.options.strict,
            n: input[0].clone(),
            ic: p.ic,
            input: extents,
            oc: p.oc,
            kernel: p.kernel,
            stride: p.stride,
            pad: p.pad,
            dilation: p.dilation,
            groups: p.groups,
            x: view,
            weights: self.loc(w)?.buffer,
            epilogue,
        })));
        Ok(())
    }

    /// Any rank and element type: a padded copy, then a reduction over channels and taps, which are strides.
    fn conv_as_reduction(&mut self, node: &Node) -> Result<(), LowerError> {
        let (x, w) = (node.inputs[0].ok_or("there is no input")?, node.inputs[1].ok_or("there are no weights")?);
        let out = node.outputs[0];
        let (input, weights, shape, elem) = (self.shape(x)?, self.shape(w)?, self.shape(out)?, self.elem(out)?);
        let kernel: Vec<usize> =
            weights[2..].iter().map(Dim::size).collect::<Option<_>>().ok_or("an unknown kernel")?;
        let window = Window::new(&node.attrs, kernel)?;
        let n = window.kernel.len();
        let groups = node.attrs.int("group", 1).max(1);
        let mut from = self.loc(x)?;
        if let Some(pads) = window.all_pads() {
            from = self.padded(&node.name, elem, &input, &from, &pads, 0.0);
        }
        let (weight, to) = (self.loc(w)?, self.fresh(elem, &shape));
        let mut b = Builder::new("conv", n + 3, n + 1);
        let ox = b.operand("x", elem, Access::In, Stride::Any);
        let ow = b.operand("w", elem, Access::In, Stride::Any);
        let oy = b.operand("y", elem, Access::Out, Stride::Zero);
        b.inner_loop();
        let (left, right) = (b.load(ox), b.load(ow));
        let term = b.bin(BinOp::Mul, left, right);
        let sum = b.reduce(RedOp::Sum, term);
        b.once();
        b.store(oy, sum);
        // Outer dims: image, group, output channel in it, output position; inner: channel in the group, tap.
        let (zero, per_group) = (Dim::from(0i64), shape[1].div(&Dim::from(groups)));
        let channels = weights[1].clone();
        let mut extents = vec![shape[0].clone(), Dim::from(groups), per_group.clone()];
        extents.extend(shape[2..].iter().cloned());
        extents.push(channels.clone());
        extents.extend(window.kernel.iter().map(|&k| Dim::from(k)));
        let mut sx = vec![from.strides[0].clone(), from.strides[1].clone() * channels, zero.clone()];
        sx.extend((0..n).map(|d| from.strides[d + 2].clone() * Dim::from(window.strides[d])));
        sx.push(from.strides[1].clone());
        sx.extend((0..n).map(|d| from.strides[d + 2].clone() * Dim::from(window.dilations[d])));
        let mut sw = vec![zero.clone(), weight.strides[0].clone() * per_group.clone(), weight.strides[0].clone()];
        sw.extend(vec![zero.clone(); n]);
        sw.extend(weight.strides[1..].iter().cloned());
        let mut sy = vec![to.strides[0].clone(), to.strides[1].clone() * per_group, to.strides[1].clone()];
        sy.extend(to.strides[2..].iter().cloned());
        sy.extend(vec![zero; n + 1]);
        self.dispatch(&node.name, b.finish(), extents, vec![from.view(sx), weight.view(sw), to.view(sy)]);
        self.set(out, to);
        Ok(())
    }
}
