//! Leaves out of a program what cannot be reached, and lays the rest out in the order of its ops, so that what runs
//! together stands together.

use std::collections::HashMap;

use super::program::{Exit, HALT, NO_LEVEL, Op, Pc, RETURN};
use super::tables::{Tables, append};

/// `moved` says which op has taken the place of another.
pub(super) fn lay_out(tables: &mut Tables, moved: impl Fn(Pc) -> Pc) {
    let program = &mut tables.program;
    for exit in &mut program.exits {
        (exit.next, exit.push) = (moved(exit.next), moved(exit.push));
    }
    program.start = moved(program.start);
    let pcs = keep_reachable(tables);
    Lists::default().renew(tables);
    let program = &mut tables.program;
    for exit in &mut program.exits {
        (exit.next, exit.push) = (pcs[exit.next as usize], pcs[exit.push as usize]);
        exit.argument = program.ops[exit.next as usize].argument;
        exit.growth = i8::from(exit.push != 0) - i8::from(exit.next == RETURN);
    }
    program.start = pcs[program.start as usize];
}

/// Drops the ops that cannot be reached; returns the new number of each.
fn keep_reachable(tables: &mut Tables) -> Vec<Pc> {
    let program = &mut tables.program;
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
        let exits = &program.exits[op.exits as usize..][..op.exit_count() as usize];
        open.extend(exits.iter().flat_map(|exit| [exit.next, exit.push]));
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
    pcs
}

/// The lists of exits that ops refer to, in new places. The map is never iterated.
#[derive(Default)]
struct Lists {
    exits: Vec<Exit>,
    costs: Vec<u64>,
    places: HashMap<(u32, u32), u32>,
}

impl Lists {
    fn renew(mut self, tables: &mut Tables) {
        let mut ops = std::mem::take(&mut tables.program.ops);
        for op in &mut ops {
            let (texts, exits) = (op.text_count(), op.exit_count());
            *op = Op {
                texts: self.renewed(tables, op.texts, texts),
                exits: self.renewed(tables, op.exits, exits),
                ..*op
            };
        }
        let program = &mut tables.program;
        (program.ops, program.exits, program.exit_costs) = (ops, self.exits, self.costs);
    }

    fn renewed(&mut self, tables: &Tables, first: u32, count: u32) -> u32 {
        if let Some(&place) = self.places.get(&(first, count)) {
            return place;
        }
        let range = first as usize..(first + count) as usize;
        append(&mut self.costs, &tables.program.exit_costs[range.clone()]);
        let place = append(&mut self.exits, &tables.program.exits[range]);
        self.places.insert((first, count), place);
        place
    }
}
