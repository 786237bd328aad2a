//! The tables of a program under construction: equal tables are kept once.

use std::collections::HashMap;
use std::hash::Hash;

use gramjet_compiler::analysis::pools::Pool;
use gramjet_compiler::ir::{NodeId, RuleId, Slots};

use super::build::{SingleBytes, Stop};
use super::merge::merge;
use super::program::{Class, Code, Exit, Op, Pc, PoolSite, Program, Round, Run, SMALL, Site};
use super::text::Text;

/// A program and what its tables are found by. The maps are never iterated.
#[derive(Default)]
pub(super) struct Tables {
    pub program: Program,
    bytes: HashMap<Vec<u8>, u32>,
    shorts: HashMap<(Vec<Text>, Vec<u64>), u32>,
    tables: HashMap<[u8; 256], u32>,
    pools: HashMap<RuleId, (u32, Code)>,
    longs: HashMap<NodeId, u32>,
}

fn once<K: Hash + Eq>(map: &mut HashMap<K, u32>, key: K, add: impl FnOnce(&K) -> usize) -> u32 {
    if let Some(&at) = map.get(&key) {
        return at;
    }
    let at = add(&key) as u32;
    map.insert(key, at);
    at
}

/// Appends and returns where.
fn append<T: Clone>(list: &mut Vec<T>, items: &[T]) -> usize {
    let at = list.len();
    list.extend_from_slice(items);
    at
}

impl Tables {
    pub fn finish(mut self, start: Pc) -> Program {
        self.program.start = start;
        merge(&mut self.program);
        debug_assert_eq!(self.program.verify(), Ok(()));
        self.program
    }

    /// Exits with their costs, one after the other.
    pub fn exits(&mut self, exits: &[Exit], costs: Vec<u64>) -> u32 {
        self.program.exit_costs.extend(costs);
        append(&mut self.program.exits, exits) as u32
    }

    /// An op that decides a site among exits; if they differ only in their texts, it emits the text and takes the rest of the
    /// exit itself.
    pub fn site(&mut self, exits: &[Exit], costs: Vec<u64>, slots: Option<&Slots>) -> Op {
        let first = exits[0];
        let alike = first.push_deeper == 0 && exits.iter().all(|exit| Exit { text: first.text, ..*exit } == first);
        let small = slots.is_none() && exits.len() <= SMALL;
        let op = Op { small: if small { (exits.len() - 1) as u8 } else { 0 }, ..Op::UNSET };
        if small && alike && exits.iter().all(|exit| exit.text.len() == 1) {
            let bytes: Vec<u8> = exits.iter().map(|exit| exit.text.bytes()[0]).collect();
            let argument = once(&mut self.bytes, bytes, |bytes| append(&mut self.program.bytes, bytes));
            return Op { code: Code::Byte, argument, ..op }.then(Exit { text: Text::EMPTY, ..first });
        }
        if alike {
            let texts = exits.iter().map(|exit| exit.text).collect();
            let at = once(&mut self.shorts, (texts, costs), |(texts, costs)| {
                append(&mut self.program.short_costs, costs);
                append(&mut self.program.shorts, texts)
            });
            let (code, argument) = match small {
                true => (Code::Short, at),
                false => (Code::ShortSite, self.large_site(exits.len(), at, slots)),
            };
            return Op { code, argument, ..op }.then(Exit { text: Text::EMPTY, ..first });
        }
        let at = self.exits(exits, costs);
        match small {
            true => Op { code: Code::Choice, argument: at, ..op },
            false => Op { code: Code::Site, argument: self.large_site(exits.len(), at, slots), ..op },
        }
    }

    fn large_site(&mut self, count: usize, first: u32, slots: Option<&Slots>) -> u32 {
        let ends = slots.map_or(0, |slots| append(&mut self.program.slot_ends, slots.ends())) as u32;
        let bits = slots.map_or(0, Slots::bits);
        let map = slots.filter(|_| bits == 8).map(|slots| {
            let mut map = [0; 256];
            map.iter_mut().enumerate().for_each(|(slot, option)| *option = slots.option_of(slot as u32) as u8);
            self.table(map)
        });
        append(&mut self.program.sites, &[Site { count: count as u32, first, bits, ends, map }]) as u32
    }

    fn table(&mut self, table: [u8; 256]) -> u32 {
        once(&mut self.tables, table, |table| append(&mut self.program.tables, &[*table]))
    }

    pub fn class(&mut self, class: Class) -> u32 {
        append(&mut self.program.classes, &[class]) as u32
    }

    pub fn round(&mut self, round: Round) -> u32 {
        append(&mut self.program.rounds, &[round]) as u32
    }

    pub fn long(&mut self, node: Option<NodeId>, bytes: &[u8]) -> u32 {
        let longs = &mut self.program.longs;
        match node {
            Some(node) => once(&mut self.longs, node, |_| append(longs, &[bytes.into()])),
            None => append(longs, &[bytes.into()]) as u32,
        }
    }

    /// Rounds of a repetition at `level`, with its exits: stopped, other member, no more rounds.
    pub fn star_run(&mut self, bytes: &SingleBytes, level: u32, exits: [Exit; 3]) -> Op {
        self.run(bytes, exits, |run| Run { depth: level + bytes.wraps, ..run })
    }

    /// Rounds of a tail-recursive rule at `level`.
    pub fn looped_run(&mut self, bytes: &SingleBytes, level: u32, stops: Stop, exits: [Exit; 3]) -> Op {
        self.run(bytes, exits, |run| Run {
            depth: level + bytes.wraps.saturating_sub(1),
            deepens: true,
            stops_deeper: stops == Stop::Other,
            plus: stops == Stop::Member,
            ..run
        })
    }

    fn run(&mut self, bytes: &SingleBytes, exits: [Exit; 3], kind: impl FnOnce(Run) -> Run) -> Op {
        let table = self.table(bytes.table);
        let exits = self.exits(&exits, vec![0; 3]);
        let (bound, slack) = (bytes.bound, bytes.cost);
        let run = Run { table, bound, depth: 0, deepens: false, stops_deeper: false, plus: false, slack, exits };
        let argument = append(&mut self.program.runs, &[kind(run)]) as u32;
        Op { code: Code::Run, argument, ..Op::UNSET }
    }

    /// An op that emits a string of a pool.
    pub fn pool(&mut self, rule: RuleId, pool: &Pool, min_len: u64) -> Op {
        let small = (pool.strings.len() - 1) as u8;
        if min_len == 1 && pool.strings.iter().all(|string| string.len() == 1) {
            let bytes: Vec<u8> = pool.strings.iter().map(|string| string[0]).collect();
            let argument = once(&mut self.bytes, bytes, |bytes| append(&mut self.program.bytes, bytes));
            return Op { code: Code::Byte, small, argument, ..Op::UNSET };
        }
        let (argument, code) = match self.pools.get(&rule) {
            Some(&known) => known,
            None => {
                let made = self.pool_site(pool, min_len);
                self.pools.insert(rule, made);
                made
            }
        };
        Op { code, small, argument, ..Op::UNSET }
    }

    fn pool_site(&mut self, pool: &Pool, min_len: u64) -> (u32, Code) {
        let program = &mut self.program;
        let costs: Box<[u64]> = pool.strings.iter().map(|string| string.len() as u64 - min_len).collect();
        let texts: Option<Vec<Text>> = pool.strings.iter().map(|string| Text::new(string)).collect();
        let code = if texts.is_some() { Code::ShortPool } else { Code::Pool };
        let first = match texts {
            Some(texts) => {
                append(&mut program.short_costs, &costs);
                append(&mut program.shorts, &texts)
            }
            None => append(&mut program.longs, &pool.strings),
        } as u32;
        let shortest = pool.shortest.clone().map(|string| append(&mut program.longs, &[string]) as u32);
        (append(&mut program.pools, &[PoolSite { first, costs, shortest }]) as u32, code)
    }
}
