//! The last step of building: ops that only lead to another op are merged with it, and what is then out of reach is
//! dropped.
//!
//! Where two instances begin one inside the other, the stronger check alone decides whether both are within the depth
//! limit; only where it fails are they checked one after the other.

use super::program::{Code, Exit, HALT, NO_LEVEL, Op, Pc, Program, RETURN, Way};

/// Ops in a row are merged if they are at most this many, or a few more.
const ROUNDS: usize = 3;

pub(super) fn merge(program: &mut Program) {
    let built = program.ops.len();
    let mut moved: Vec<Pc> = (0..built as Pc).collect();
    for _ in 0..ROUNDS {
        for pc in (RETURN as usize + 1)..built {
            merge_op(&mut program.ops, &mut moved, pc);
        }
    }
    program.redirect(|pc| moved.get(pc as usize).copied().unwrap_or(pc));
    drop_unreachable(program);
}

fn merge_op(ops: &mut Vec<Op>, moved: &mut [Pc], pc: usize) {
    let op = ops[pc];
    let follows = op.code == Code::Go && op.way.push() == 0 && op.deeper == 0 && op.way.next() != RETURN;
    if !follows || moved[pc] != pc as Pc {
        return;
    }
    let target = op.way.next() as usize;
    let target = ops[moved.get(target).map_or(target, |&target| target as usize)];
    if matches!(target.code, Code::Unset | Code::Halt) {
        return;
    }
    let Some(text) = op.text.then(target.text) else { return };
    let merged = Op { text, level: op.level.max(target.level), ..target };
    match (op.level, target.level) {
        (_, NO_LEVEL) => ops[pc] = merged,
        (NO_LEVEL, _) => {
            // It cannot be moved if it stands for an instance beyond the depth limit.
            if ops.get(pc + 1).is_none_or(|next| next.level == NO_LEVEL) {
                ops.push(op);
                moved[pc] = ops.len() as Pc;
                ops.push(merged);
            }
        }
        _ => {
            let beyond = ops[pc - 1];
            ops.push(beyond);
            let one_by_one = ops.len() as Pc;
            ops.push(op);
            ops[pc - 1] = Op::go(Exit::to(one_by_one));
            ops[pc] = merged;
        }
    }
}

fn drop_unreachable(program: &mut Program) {
    let mut kept = vec![false; program.ops.len()];
    let mut open = vec![RETURN, HALT, program.start];
    while let Some(pc) = open.pop() {
        if std::mem::replace(&mut kept[pc as usize], true) {
            continue;
        }
        let op = program.ops[pc as usize];
        if op.level != NO_LEVEL {
            open.push(pc - 1);
        }
        let mut follow = |way: Way| open.extend([way.next(), way.push() as Pc]);
        follow(op.way);
        program.exits_of(&op).iter().for_each(|exit| follow(exit.way));
    }
    let mut pcs = vec![RETURN; kept.len()];
    let mut next = 0;
    for (pc, _) in kept.iter().enumerate().filter(|(_, kept)| **kept) {
        pcs[pc] = next;
        program.ops[next as usize] = program.ops[pc];
        next += 1;
    }
    program.ops.truncate(next as usize);
    program.ops.shrink_to_fit();
    program.redirect(|pc| pcs[pc as usize]);
}

impl Program {
    fn redirect(&mut self, target: impl Fn(Pc) -> Pc) {
        // What is out of reach has become `RETURN`, which pushes no frame.
        let redirected = |way: Way| match target(way.next()) {
            RETURN => Way::new(RETURN, 0),
            next => Way::new(next, target(way.push() as Pc)),
        };
        self.ops.iter_mut().for_each(|op| op.way = redirected(op.way));
        self.exits.iter_mut().for_each(|exit| exit.way = redirected(exit.way));
        self.start = target(self.start);
    }

    /// The exits among which an op decides.
    fn exits_of(&self, op: &Op) -> &[Exit] {
        let argument = op.argument as usize;
        let (first, count) = match op.code {
            Code::Choice => (op.argument, u32::from(op.small) + 1),
            Code::Site => (self.sites[argument].first, self.sites[argument].count),
            Code::Run => (self.runs[argument].exits, 3),
            Code::Round => (self.rounds[argument].exits, 2),
            _ => (0, 0),
        };
        &self.exits[first as usize..][..count as usize]
    }
}
