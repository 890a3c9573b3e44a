//! The buffer plan: buffers whose lives don't overlap share a slot.

use smalti_program::{Bind, BufferId, Call, Epilogue, Place, Program, Rhs, Step};
use std::collections::{BTreeMap, HashSet};

/// The first and the last moment of a buffer's life.
#[derive(Clone, Copy)]
struct Life {
    first: usize,
    last: usize,
}

/// Gives every buffer of a run a slot.
pub(super) fn share(program: &mut Program) {
    let mut lives: BTreeMap<BufferId, Life> = BTreeMap::new();
    let mut clock = 0;
    walk(&program.steps, &mut clock, &mut lives);
    for port in &program.outputs {
        touch(&mut lives, port.buffer, usize::MAX);
    }
    let mut order: Vec<(BufferId, Life)> =
        lives.into_iter().filter(|(id, _)| matches!(program.buffers[id.0 as usize].place, Place::Slot(_))).collect();
    order.sort_by_key(|(id, life)| (life.first, *id));
    // For each slot: until when it is taken, and how long its buffers are, where that is known.
    let mut slots: Vec<(usize, Option<usize>)> = Vec::new();
    for (id, life) in order {
        let buffer = &program.buffers[id.0 as usize];
        let bytes = buffer.len.size().map(|n| n * buffer.elem.size());
        let free = (0..slots.len()).filter(|&s| slots[s].0 < life.first);
        // The slot whose length is nearest; one of a length that is not known for one that is not.
        let best = free.min_by_key(|&s| match (slots[s].1, bytes) {
            (Some(a), Some(b)) => a.abs_diff(b),
            (None, None) => 0,
            _ => usize::MAX,
        });
        let at = best.unwrap_or_else(|| {
            slots.push((0, bytes));
            slots.len() - 1
        });
        slots[at].0 = life.last;
        slots[at].1 = slots[at].1.zip(bytes).map(|(a, b)| a.max(b));
        program.buffers[id.0 as usize].place = Place::Slot(at as u32);
    }
}

fn touch(lives: &mut BTreeMap<BufferId, Life>, id: BufferId, now: usize) {
    let life = lives.entry(id).or_insert(Life { first: now, last: now });
    life.first = life.first.min(now);
    life.last = life.last.max(now);
}

fn walk(steps: &[Step], clock: &mut usize, lives: &mut BTreeMap<BufferId, Life>) {
    for step in steps {
        *clock += 1;
        let now = *clock;
        match step {
            Step::Call(call) => buffers(call, &mut |id| touch(lives, id, now)),
            Step::Branch { condition, yes, no } => {
                touch(lives, *condition, now);
                // Values that leave a branch live from its beginning, whichever list writes them.
                let before: HashSet<BufferId> = lives.keys().copied().collect();
                walk(yes, clock, lives);
                let after_yes: HashSet<BufferId> = lives.keys().copied().collect();
                walk(no, clock, lives);
                for id in after_yes.difference(&before) {
                    if lives[id].last > now {
                        touch(lives, *id, now);
                    }
                }
            }
            Step::Loop(l) => {
                let outside: HashSet<BufferId> = lives.keys().copied().collect();
                for id in [Some(l.round), Some(l.go), l.most, l.begin].into_iter().flatten() {
                    touch(lives, id, now);
                }
                l.carried.iter().chain(&l.stacked).for_each(|m| touch(lives, m.1, now));
                walk(&l.body, clock, lives);
                *clock += 1;
                let end = *clock;
                for id in [l.round, l.go, l.next] {
                    touch(lives, id, end);
                }
                for (from, to) in l.carried.iter().chain(&l.stacked) {
                    touch(lives, *from, end);
                    touch(lives, *to, end);
                }
                // What came from outside is read again in the next round.
                for id in &outside {
                    if lives[id].last >= now {
                        touch(lives, *id, end);
                    }
                }
            }
            Step::BindDim { value: Bind::Element(id, _), .. } => touch(lives, *id, now),
            Step::BindDim { .. } | Step::Check { .. } => {}
        }
    }
}

fn buffers(call: &Call, visit: &mut dyn FnMut(BufferId)) {
    let epilogue = |e: &Epilogue, visit: &mut dyn FnMut(BufferId)| e.operands.iter().for_each(|v| visit(v.buffer));
    match call {
        Call::Dispatch(d) => d.operands.iter().for_each(|v| visit(v.buffer)),
        Call::Matmul(m) => {
            visit(m.lhs.buffer);
            match &m.rhs {
                Rhs::InPlace(v) | Rhs::Panels(v) => visit(v.buffer),
            }
            visit(m.out.buffer);
            m.epilogue.iter().for_each(|e| epilogue(e, visit));
        }
        Call::Conv(c) => {
            visit(c.x.buffer);
            visit(c.weights);
            epilogue(&c.epilogue, visit);
        }
        Call::Pack(p) => {
            visit(p.src.buffer);
            visit(p.out);
        }
        Call::Dims { out, .. } => visit(*out),
    }
}
