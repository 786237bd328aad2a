//! The last step of building: ops that only lead to another op are merged with it, and unreachable ops are dropped.
//!
//! Where two instances begin one inside the other, the stronger check alone decides whether both are within the depth
//! limit; only where it fails are they checked one after the other.

use super::draft::{Exit, Op};
use super::program::{Code, NO_LEVEL, Pc, RETURN};
use super::tables::Tables;

/// Ops in a row are merged if they are at most this many, or a few more.
const ROUNDS: usize = 3;

/// Returns which op has taken the place of each.
pub(super) fn merge(tables: &mut Tables<'_>) -> Vec<Pc> {
    let built = tables.ops.len();
    let mut moved: Vec<Pc> = (0..built as Pc).collect();
    let kinds = exit_kinds(tables);
    for _ in 0..ROUNDS {
        for (at, &kind) in kinds.iter().enumerate() {
            merge_exit(tables, at, kind);
        }
        for pc in (RETURN as usize + 1)..built {
            merge_op(tables, &mut moved, pc);
        }
    }
    moved.extend(moved.len() as Pc..tables.ops.len() as Pc);
    moved
}

/// The constraints on merging exits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExitKind {
    Free,
    /// Its text is not emitted: it follows one of several texts.
    Bare,
    /// The rounds of a run are subtracted from the depth left when it is taken.
    Deepening,
}

fn exit_kinds(tables: &Tables<'_>) -> Vec<ExitKind> {
    let mut kinds = vec![ExitKind::Free; tables.exits.len()];
    for op in &tables.ops {
        if op.is_site() && op.exits != op.texts {
            kinds[op.exits as usize] = ExitKind::Bare;
        }
        if op.code == Code::Run {
            let deepens = tables.program.runs[op.argument as usize].deepens;
            for (at, _) in op.exit_range().zip(deepens).filter(|(_, deepens)| *deepens != 0) {
                kinds[at] = ExitKind::Deepening;
            }
        }
    }
    kinds
}

/// Lets an exit that leads to an op without a decision take that op's exit.
fn merge_exit(tables: &mut Tables<'_>, at: usize, kind: ExitKind) {
    let exit = tables.exits[at];
    let target = tables.ops[exit.next as usize];
    if exit.next == RETURN || target.level != NO_LEVEL || !target.is_go() {
        return;
    }
    let then = tables.exits[target.exits as usize];
    let fits = match kind {
        ExitKind::Free => true,
        ExitKind::Bare => then.is_bare(),
        ExitKind::Deepening => then.push == 0 && (exit.push == 0 || then.next != RETURN),
    };
    if let Some(merged) = exit.then(then).filter(|_| fits) {
        tables.exits[at] = merged;
    }
}

/// Lets an op without a decision take over the work of the next op.
fn merge_op(tables: &mut Tables<'_>, moved: &mut [Pc], pc: usize) {
    let op = tables.ops[pc];
    let exit = tables.exits[op.exits as usize];
    if !op.is_go() || exit.next == RETURN || moved[pc] != pc as Pc {
        return;
    }
    let target_pc = exit.next as usize;
    let target_pc = moved.get(target_pc).map_or(target_pc, |&target| target as usize);
    let target = tables.ops[target_pc];
    if matches!(target.code, Code::Unset | Code::Halt) {
        return;
    }
    let Some(merged) = tables.after(exit, target) else { return };
    let inner = merged.level;
    let merged = Op { level: op.level.max(inner), ..merged };
    if inner == NO_LEVEL {
        tables.ops[pc] = merged;
        return;
    }
    let at_limit = tables.after(exit, tables.ops[target_pc - 2]);
    let beyond = tables.after(exit, tables.ops[target_pc - 1]);
    let ops = &mut tables.ops;
    if op.level == NO_LEVEL {
        // It cannot be moved if it replaces an instance at the depth limit or beyond.
        let stands_for = |other: usize| ops.get(other).is_some_and(|other| other.level != NO_LEVEL);
        if !stands_for(pc + 1) && !stands_for(pc + 2) {
            ops.extend([at_limit.unwrap_or(op), beyond.unwrap_or(op), merged]);
            moved[pc] = ops.len() as Pc - 1;
        }
        return;
    }
    let others = [ops[pc - 2], ops[pc - 1]];
    ops.extend(others);
    let one_by_one = Exit::to(ops.len() as Pc);
    ops.push(op);
    let one_by_one = tables.go(one_by_one);
    if inner > op.level {
        tables.ops[pc - 2] = at_limit.unwrap_or(one_by_one);
    }
    tables.ops[pc - 1] = one_by_one;
    tables.ops[pc] = merged;
}
