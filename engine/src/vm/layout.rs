//! Puts a program into its final form: unreachable ops are left out, equal lists are shared, and ops that run together
//! are placed together.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::draft;
use super::program::{Code, Exit, HALT, Limited, NO_LEVEL, OTHER, Op, Pc, RETURN, Site};
use super::tables::{Tables, append};
use super::text::Text;

/// Lays out the ops. `moved` says which op has taken the place of each.
pub(super) fn lay_out(tables: &mut Tables<'_>, start: Pc, moved: &[Pc]) {
    for exit in &mut tables.exits {
        (exit.next, exit.push) = (moved[exit.next as usize], moved[exit.push as usize]);
    }
    let start = moved[start as usize];
    let order = order(tables, start);
    let mut numbers = vec![RETURN; tables.ops.len()];
    // The first place of an op is the right one: the first two ops stand in for others that never run.
    for (number, &pc) in order.ops.iter().enumerate().rev() {
        numbers[pc as usize] = number as Pc;
    }
    let mut layout = Layout { numbers, ..Layout::default() };
    let mut laid_out = vec![None; order.ops.len()];
    // Near the depth limit other ops run: their lists are kept apart.
    for near_limit in [false, true] {
        for (number, &pc) in order.ops.iter().enumerate().filter(|(_, pc)| order.within[**pc as usize] != near_limit) {
            let op = &tables.ops[pc as usize];
            laid_out[number] = Some((layout.op(tables, op), layout.site(tables, op)));
        }
    }
    let program = &mut tables.program;
    (program.ops, program.sites) = laid_out.into_iter().flatten().unzip();
    program.start = layout.numbers[start as usize] * Op::SIZE;
    program.others = order.others * Op::SIZE;
    (program.exits, program.texts, program.costs) = (layout.exits, layout.texts, layout.costs);
}

/// The ops of a program in their final order.
struct Order {
    ops: Vec<Pc>,
    /// The number of the op that runs beyond the depth limit instead of op 0; the next one does at the limit. They are
    /// followed by those of the next ops, as far as instances begin with them.
    others: Pc,
    /// For each op whether it is reached without coming near the depth limit.
    within: Vec<bool>,
}

/// Returns the ops that can be reached: the first two, the ops with which instances begin, their replacements near the
/// depth limit, and all others.
fn order(tables: &Tables<'_>, start: Pc) -> Order {
    let within = reachable(tables, start, false);
    let kept = reachable(tables, start, true);
    let all = || (0..tables.ops.len() as Pc).filter(|&pc| kept[pc as usize]);
    let level = |pc: Pc| tables.ops[pc as usize].level;
    let mut ops = vec![RETURN, HALT];
    ops.extend(all().filter(|&pc| level(pc) != NO_LEVEL));
    let others = ops.len() as Pc;
    for number in 0..ops.len() {
        let pc = ops[number];
        // The first two never give way to others.
        ops.extend(if level(pc) == NO_LEVEL { [RETURN; 2] } else { [pc - 1, pc - 2] });
    }
    let is_other =
        |pc: Pc| [pc + 1, pc + 2].iter().any(|&pc| kept.get(pc as usize) == Some(&true) && level(pc) != NO_LEVEL);
    let rest: Vec<Pc> = all().filter(|&pc| pc > HALT && level(pc) == NO_LEVEL && !is_other(pc)).collect();
    ops.extend(rest.iter().filter(|&&pc| within[pc as usize]));
    ops.extend(rest.iter().filter(|&&pc| !within[pc as usize]));
    Order { ops, others, within }
}

/// Returns for each op whether it can be reached, with or without the replacements near the depth limit.
fn reachable(tables: &Tables<'_>, start: Pc, near_limit: bool) -> Vec<bool> {
    let mut kept = vec![false; tables.ops.len()];
    let mut open = vec![RETURN, HALT, start];
    while let Some(pc) = open.pop() {
        if std::mem::replace(&mut kept[pc as usize], true) {
            continue;
        }
        let op = &tables.ops[pc as usize];
        if op.level != NO_LEVEL && near_limit {
            open.extend([pc - 2, pc - 1]);
        }
        open.extend(tables.exits[op.exit_range()].iter().flat_map(|exit| [exit.next, exit.push]));
    }
    kept
}

/// The lists of the final program. The maps are never iterated.
#[derive(Default)]
struct Layout {
    /// The new number of each op.
    numbers: Vec<Pc>,
    exits: Vec<Exit>,
    texts: Vec<Text>,
    costs: Vec<u64>,
    known_exits: FxHashMap<Vec<Exit>, u32>,
    known_texts: FxHashMap<Vec<Text>, u32>,
    known_costs: FxHashMap<Vec<u64>, u32>,
}

/// Returns the place of a list, which is added if it is new.
fn place<T: Clone + Eq + Hash>(list: &mut Vec<T>, known: &mut FxHashMap<Vec<T>, u32>, items: Vec<T>) -> u32 {
    if let Some(&at) = known.get(&items) {
        return at;
    }
    let at = append(list, &items);
    known.insert(items, at);
    at
}

impl Layout {
    fn op(&mut self, tables: &Tables<'_>, op: &draft::Op) -> Op {
        let drafts = &tables.exits[op.exit_range()];
        let mut exits: Vec<Exit> = drafts.iter().map(|exit| self.exit(tables, exit)).collect();
        let texts = if op.is_site() {
            tables.exits[op.text_range()].iter().map(|exit| exit.text).collect()
        } else {
            let first = tables.exits[op.texts as usize].text;
            std::iter::once(first).chain(drafts.iter().map(|exit| exit.text)).collect()
        };
        let own_exits = op.own_exits && exits.iter().any(|&exit| exit != exits[0]);
        if op.own_exits && !own_exits {
            exits.truncate(1);
        }
        let reads = if op.code == Code::Site { u8::from(op.count > 1) } else { OTHER };
        Op {
            argument: op.argument,
            texts: place(&mut self.texts, &mut self.known_texts, texts) * Op::SIZE,
            exits: place(&mut self.exits, &mut self.known_exits, exits) * Op::SIZE,
            mask: if own_exits { -1 } else { 0 },
            reads,
            level: op.level,
            code: op.code,
        }
    }

    fn exit(&self, tables: &Tables<'_>, exit: &draft::Exit) -> Exit {
        let growth = i8::from(exit.push != RETURN) - i8::from(exit.next == RETURN);
        Exit {
            deeper: exit.deeper,
            push_deeper: exit.push_deeper,
            growth,
            push: self.numbers[exit.push as usize] * Op::SIZE,
            argument: tables.ops[exit.next as usize].argument,
            next: self.numbers[exit.next as usize] * Op::SIZE,
        }
    }

    fn site(&mut self, tables: &Tables<'_>, op: &draft::Op) -> Site {
        let costs = match (op.limited, op.code) {
            (Limited::No, _) => Vec::new(),
            (_, Code::Pool) => {
                let strings = &tables.program.longs[op.argument as usize..][..op.count as usize];
                let shortest = if op.limited == Limited::Pool { op.shortest } else { op.argument };
                let shortest = tables.program.longs[shortest as usize].len();
                strings.iter().map(|string| (string.len() - shortest) as u64).collect()
            }
            _ => tables.costs[op.text_range()].to_vec(),
        };
        Site {
            count: op.count,
            costs: place(&mut self.costs, &mut self.known_costs, costs),
            ends: op.ends,
            shortest: op.shortest,
            bits: op.bits,
            limited: op.limited,
        }
    }
}
