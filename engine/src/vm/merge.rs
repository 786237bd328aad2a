//! The last step of building: what only leads to another op is merged with it, and what is then out of reach is dropped.
//!
//! Where two instances begin one inside the other, the stronger check alone decides whether both are within the depth
//! limit; only where it fails are they checked one after the other.

use super::draft::{Exit, Op};
use super::program::{Code, NO_LEVEL, Pc, RETURN};
use super::tables::Tables;

/// Ops in a row are merged if they are at most this many, or a few more.
const ROUNDS: usize = 3;

/// Returns which op has taken the place of each.
pub(super) fn merge(tables: &mut Tables) -> Vec<Pc> {
    let built = tables.ops.len();
    let mut moved: Vec<Pc> = (0..built as Pc).collect();
    let bare = bare_exits(tables);
    for _ in 0..ROUNDS {
        for at in 0..bare.len() {
            merge_exit(tables, at, bare[at]);
        }
        for pc in (RETURN as usize + 1)..built {
            merge_op(tables, &mut moved, pc);
        }
    }
    moved.extend(moved.len() as Pc..tables.ops.len() as Pc);
    moved
}

/// The exits whose texts are not emitted: those that follow one of several texts.
fn bare_exits(tables: &Tables) -> Vec<bool> {
    let mut bare = vec![false; tables.exits.len()];
    for op in &tables.ops {
        bare[op.exits as usize] |= op.is_site() && op.exits != op.texts;
    }
    bare
}

/// Lets an exit that leads to an op without a decision take that op's exit.
fn merge_exit(tables: &mut Tables, at: usize, bare: bool) {
    let exit = tables.exits[at];
    let target = tables.ops[exit.next as usize];
    if exit.next == RETURN || target.level != NO_LEVEL || !target.is_go() {
        return;
    }
    let then = tables.exits[target.exits as usize];
    let (push, push_deeper) = match (exit.push, then.push) {
        (push, 0) => (push, Some(exit.push_deeper)),
        (0, push) => (push, exit.deeper.checked_add(then.push_deeper)),
        _ => return,
    };
    let (Some(deeper), Some(push_deeper)) = (exit.deeper.checked_add(then.deeper), push_deeper) else { return };
    let merged = match then.next {
        // What is popped is what was just pushed; what was left of the depth there is left again.
        RETURN if push != 0 => Exit { next: push, deeper: push_deeper, ..Exit::RETURN },
        next => Exit { next, push, deeper, push_deeper, ..Exit::RETURN },
    };
    if bare && !then.is_bare() {
        return;
    }
    if let Some(text) = exit.text.then(then.text) {
        tables.exits[at] = Exit { text, ..merged };
    }
}

/// Lets an op without a decision do what the next op does.
fn merge_op(tables: &mut Tables, moved: &mut [Pc], pc: usize) {
    let op = tables.ops[pc];
    let exit = tables.exits[op.exits as usize];
    if !op.is_go() || !exit.is_jump() || exit.next == RETURN || moved[pc] != pc as Pc {
        return;
    }
    let target_pc = exit.next as usize;
    let target_pc = moved.get(target_pc).map_or(target_pc, |&target| target as usize);
    let target = tables.ops[target_pc];
    if matches!(target.code, Code::Unset | Code::Halt) {
        return;
    }
    let Some(merged) = tables.after_text(exit.text, target) else { return };
    let merged = Op { level: op.level.max(target.level), ..merged };
    if target.level == NO_LEVEL {
        tables.ops[pc] = merged;
        return;
    }
    let at_limit = tables.after_text(exit.text, tables.ops[target_pc - 2]);
    let ops = &mut tables.ops;
    if op.level == NO_LEVEL {
        // It cannot be moved if it stands for an instance at the depth limit or beyond.
        let stands_for = |other: usize| ops.get(other).is_some_and(|other| other.level != NO_LEVEL);
        if !stands_for(pc + 1) && !stands_for(pc + 2) {
            ops.extend([at_limit.unwrap_or(op), op, merged]);
            moved[pc] = ops.len() as Pc - 1;
        }
        return;
    }
    let others = [ops[pc - 2], ops[pc - 1]];
    ops.extend(others);
    let one_by_one = Exit::to(ops.len() as Pc);
    ops.push(op);
    let one_by_one = tables.go(one_by_one);
    if target.level > op.level {
        tables.ops[pc - 2] = at_limit.unwrap_or(one_by_one);
    }
    tables.ops[pc - 1] = one_by_one;
    tables.ops[pc] = merged;
}
