//! Packs constants while compiling, so that they can be mapped.

use bytes::Bytes;
use smalti_program::{BufferId, Call, Constant, Pack, Place, Program, Step};
use std::collections::BTreeMap;

/// Turns packs of constants, whose tiles have a fixed size, into constants. Where a tile follows the vector length, its
/// packs stay as they are: they run when the program is loaded.
pub(crate) fn pack_constants(program: &mut Program) {
    let mut packs: BTreeMap<BufferId, Vec<usize>> = BTreeMap::new();
    for (i, step) in program.once.iter().enumerate() {
        if let Step::Call(Call::Pack(p)) = step {
            packs.entry(p.out).or_default().push(i);
        }
    }
    let mut done = Vec::new();
    for (out, steps) in packs {
        let buffer = program.buffer(out);
        let Some(length) = buffer.len.size() else { continue };
        let mut bytes = vec![0; length * buffer.elem.size()];
        let written = steps.iter().all(|&i| match &program.once[i] {
            Step::Call(Call::Pack(p)) => pack(program, p, &mut bytes).is_some(),
            _ => false,
        });
        if !written {
            continue;
        }
        let name = match &program.once[steps[0]] {
            Step::Call(Call::Pack(p)) => p.name.clone(),
            _ => String::new(),
        };
        program.constants.push(Constant { name, bytes: Bytes::from(bytes) });
        program.buffers[out.0 as usize].place = Place::Constant(program.constants.len() as u32 - 1);
        done.extend(steps);
    }
    let mut i = 0;
    program.once.retain(|_| {
        i += 1;
        !done.contains(&(i - 1))
    });
}

/// Writes the panels of one pack; nothing where it has sizes that are not known yet, or no constant source.
fn pack(program: &Program, p: &Pack, out: &mut [u8]) -> Option<()> {
    let source = program.buffer(p.src.buffer);
    let Place::Constant(constant) = source.place else { return None };
    let (from, size) = (&program.constants[constant as usize].bytes, source.elem.size());
    let int = |d: &smalti_dims::Dim| d.int();
    let ints = |list: &[smalti_dims::Dim]| list.iter().map(int).collect::<Option<Vec<i64>>>();
    let (batch, strides) = (ints(&p.batch)?, ints(&p.src.strides)?);
    let (t0, rows, cols) = (int(&p.t0)?, int(&p.rows)?, int(&p.cols)?);
    let (first, panel) = (int(&p.offset)?, int(&p.panel)?);
    let (batch_stride, start) = (int(&p.batch_stride)?, int(&p.src.offset)?);
    let count: i64 = batch.iter().product();
    for b in 0..count {
        let (mut rest, mut at) = (b, start);
        for d in (0..batch.len()).rev() {
            at += rest % batch[d] * strides[d];
            rest /= batch[d];
        }
        let [row_stride, col_stride] = [strides[batch.len()], strides[batch.len() + 1]];
        for row in 0..rows {
            let tile = first + b * batch_stride + row / t0 * panel + row % t0;
            for col in 0..cols {
                let from_at = usize::try_from(at + row * row_stride + col * col_stride).ok()? * size;
                let to_at = usize::try_from(tile + col * t0).ok()? * size;
                out.get_mut(to_at..to_at + size)?.copy_from_slice(from.get(from_at..from_at + size)?);
            }
        }
    }
    Some(())
}
