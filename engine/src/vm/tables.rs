//! The tables of a program under construction: equal tables are kept once.

use gramjet_compiler::analysis::pools::Pool;
use gramjet_compiler::ir::{self, NodeId, RuleId, Slots};
use rustc_hash::FxHashMap;

use super::draft::{Exit, Op};
use super::program::{Class, Code, Limited, NO_LEVEL, Program, RETURN, Round, Run, Word};
use super::text::Text;

/// A site of up to this number of options has exits of its own for all of them. If the options of a larger site differ
/// only in their texts, it shares a list of these with other sites.
const MAX_OWN: usize = 8;

/// A program and the indices of its tables. The maps are never iterated.
#[derive(Default)]
pub(super) struct Tables<'c> {
    /// Without ops and exits until it is laid out.
    pub program: Program,
    pub ops: Vec<Op>,
    pub exits: Vec<Exit>,
    /// Number of bytes that each exit, or its text, costs more as an option than the first of its site.
    pub costs: Vec<u64>,
    /// The exits that belong to an op alone.
    entries: FxHashMap<Exit, u32>,
    lists: FxHashMap<(Vec<Text>, Vec<u64>), u32>,
    /// Place where the 256 texts of single bytes begin.
    single_bytes: Option<u32>,
    tables: FxHashMap<[u8; 256], u32>,
    /// The tables of sites of equally probable options, by their number.
    even: FxHashMap<usize, u32>,
    pools: FxHashMap<RuleId, Op>,
    words: FxHashMap<Word, u32>,
    longs: FxHashMap<&'c [u8], u32>,
}

/// Appends and returns where.
pub(super) fn append<T: Clone>(list: &mut Vec<T>, items: &[T]) -> u32 {
    let at = list.len() as u32;
    list.extend_from_slice(items);
    at
}

impl<'c> Tables<'c> {
    /// Adds exits with their costs, one after the other.
    pub fn add_exits(&mut self, exits: &[Exit], costs: &[u64]) -> u32 {
        debug_assert_eq!(exits.len(), costs.len());
        append(&mut self.costs, costs);
        append(&mut self.exits, exits)
    }

    /// Returns the place of an exit that belongs to an op alone.
    fn entry(&mut self, exit: Exit) -> u32 {
        if let Some(&at) = self.entries.get(&exit) {
            return at;
        }
        let at = self.add_exits(&[exit], &[0]);
        self.entries.insert(exit, at);
        at
    }

    /// Returns an op that takes an exit.
    pub fn go(&mut self, exit: Exit) -> Op {
        let at = self.entry(exit);
        Op { texts: at, exits: at, ..self.decision(1, None) }
    }

    /// Returns an op with this code, argument and exit.
    pub fn op(&mut self, code: Code, argument: u32, exit: Exit) -> Op {
        Op { code, argument, texts: self.entry(Exit::RETURN), exits: self.entry(exit), ..Op::UNSET }
    }

    /// Returns the op that does the work of the exit `first` and of the op `op` that it leads to; `None` if one op
    /// cannot do that.
    pub fn after(&mut self, first: Exit, op: Op) -> Option<Op> {
        let level = match op.level {
            NO_LEVEL => NO_LEVEL,
            level => level.checked_add(i8::try_from(first.deeper).ok()?)?,
        };
        let op = Op { level, ..op };
        if first.is_plain() {
            return Some(op);
        }
        match op.code {
            Code::Unset | Code::Halt => None,
            // The counter is on top of the stack.
            Code::Count | Code::Round | Code::Times | Code::Left | Code::Further | Code::Least if first.push != 0 => {
                None
            }
            // Its exits belong to options.
            Code::Open => None,
            _ if op.is_site() && op.texts != op.exits => {
                // Other sites share its texts.
                let exit = first.then(self.exits[op.exits as usize]).filter(Exit::is_bare)?;
                Some(Op { exits: self.add_exits(&[exit], &[0]), ..op })
            }
            _ if op.is_site() && op.count as usize > MAX_OWN => None,
            _ if op.is_site() => {
                let exits = self.all_after(first, op)?;
                let costs = self.costs[op.exit_range()].to_vec();
                let at = self.add_exits(&exits, &costs);
                Some(Op { texts: at, exits: at, ..op })
            }
            _ => {
                let text = first.text.then(self.exits[op.texts as usize].text)?;
                let texts = self.entry(Exit { text, ..Exit::RETURN });
                if first.bare().is_plain() {
                    return Some(Op { texts, ..op });
                }
                let exits = self.all_after(first.bare(), op)?;
                let argument = self.deeper_argument(op, first.deeper);
                let costs = vec![0; exits.len()];
                Some(Op { argument, texts, exits: self.add_exits(&exits, &costs), ..op })
            }
        }
    }

    /// Returns the exits of an op after the exit `first`.
    fn all_after(&self, first: Exit, op: Op) -> Option<Vec<Exit>> {
        let exits = self.exits[op.exit_range()].iter().enumerate();
        let after = exits.map(|(option, &exit)| first.then(exit).filter(|_| self.may_follow(op, option, first, exit)));
        after.collect()
    }

    /// Returns true if the depth stays right if an exit of `op` is taken together with the exit `first` before the op.
    /// The rounds of a run are taken from what is left when the run's own exit is taken, and from no frame.
    fn may_follow(&self, op: Op, option: usize, first: Exit, exit: Exit) -> bool {
        let deepens = op.code == Code::Run && self.program.runs[op.argument as usize].deepens[option] != 0;
        !deepens || first.push == 0 || exit.next != RETURN
    }

    /// Returns the argument of an op that does the same, but before `deeper` is taken from the depth left.
    fn deeper_argument(&mut self, op: Op, deeper: u8) -> u32 {
        if op.code != Code::Run || deeper == 0 {
            return op.argument;
        }
        let run = self.program.runs[op.argument as usize];
        append(&mut self.program.runs, &[Run { depth: run.depth + u32::from(deeper), ..run }])
    }

    /// Returns an op that decides a site among exits.
    pub fn site(&mut self, exits: &[Exit], costs: &[u64], slots: Option<&Slots>) -> Op {
        let (count, first) = (exits.len(), exits[0]);
        let limited = if costs.last() == Some(&0) { Limited::No } else { Limited::Costs };
        let op = Op { count: count as u32, own_exits: true, limited, ..self.decision(count, slots) };
        let alike = exits.iter().all(|exit| exit.bare() == first.bare());
        if count <= MAX_OWN || !alike {
            let at = self.add_exits(exits, costs);
            return Op { texts: at, exits: at, ..op };
        }
        let texts: Vec<Text> = exits.iter().map(|exit| exit.text).collect();
        self.one_of(op, texts, costs.to_vec(), first.bare())
    }

    /// Returns the site `op` whose options are texts, followed by an exit without text.
    fn one_of(&mut self, op: Op, texts: Vec<Text>, costs: Vec<u64>, exit: Exit) -> Op {
        let op = Op { own_exits: false, exits: self.entry(exit), ..op };
        if op.code == Code::Site && op.limited == Limited::No && texts.iter().all(|text| text.len() == 1) {
            let options = *self.program.table(op.argument);
            let bytes = options.map(|option| texts[usize::from(option)].bytes()[0]);
            return Op { argument: self.table(bytes), texts: self.single_bytes(), count: 256, ..op };
        }
        let exits: Vec<Exit> = texts.iter().map(|&text| Exit { text, ..Exit::RETURN }).collect();
        let key = (texts, costs);
        let texts = match self.lists.get(&key) {
            Some(&texts) => texts,
            None => {
                let texts = self.add_exits(&exits, &key.1);
                self.lists.insert(key, texts);
                texts
            }
        };
        Op { texts, ..op }
    }

    /// Returns the texts of the 256 bytes.
    fn single_bytes(&mut self) -> u32 {
        if let Some(at) = self.single_bytes {
            return at;
        }
        let texts = (0..=255).filter_map(|byte| Text::new(&[byte]));
        let exits: Vec<Exit> = texts.map(|text| Exit { text, ..Exit::RETURN }).collect();
        let at = self.add_exits(&exits, &[0; 256]);
        self.single_bytes = Some(at);
        at
    }

    /// Returns the common parts of all sites of `count` options with these slots.
    fn decision(&mut self, count: usize, slots: Option<&Slots>) -> Op {
        let op = Op { code: Code::Large, ..Op::UNSET };
        let Some(slots) = slots else {
            return if count <= 256 { Op { code: Code::Site, argument: self.even(count), ..op } } else { op };
        };
        let (ends, bits) = (append(&mut self.program.slot_ends, slots.ends()), slots.bits() as u8);
        let op = Op { ends, bits, ..op };
        if bits != 8 {
            return op;
        }
        let argument = self.options(ir::Site::new(count as u32, Some(slots)));
        Op { code: Code::Site, argument, ..op }
    }

    fn even(&mut self, count: usize) -> u32 {
        if let Some(&table) = self.even.get(&count) {
            return table;
        }
        let table = self.options(ir::Site::even(count as u32));
        self.even.insert(count, table);
        table
    }

    /// Returns the table of the option that each choice byte takes.
    fn options(&mut self, site: ir::Site<'_>) -> u32 {
        self.table(std::array::from_fn(|byte| site.option_of(byte as u32) as u8))
    }

    pub fn table(&mut self, table: [u8; 256]) -> u32 {
        if let Some(&at) = self.tables.get(&table) {
            return at;
        }
        let at = append(&mut self.program.tables, &table);
        self.tables.insert(table, at);
        at
    }

    pub fn class(&mut self, class: Class, exit: Exit) -> Op {
        let argument = append(&mut self.program.classes, &[class]);
        self.op(Code::Member, argument, exit)
    }

    /// Returns a counted repetition, with its exits: stop, go on.
    pub fn round(&mut self, round: Round, exits: [Exit; 2]) -> Op {
        let argument = append(&mut self.program.rounds, &[round]);
        let op = self.op(Code::Round, argument, Exit::RETURN);
        Op { exits: self.add_exits(&exits, &[0; 2]), ..op }
    }

    /// Returns an op for a node with labels, with two exits.
    pub fn labelled(&mut self, code: Code, node: NodeId, exits: &[Exit]) -> Op {
        let op = self.op(code, node.index() as u32, Exit::RETURN);
        Op { exits: self.add_exits(exits, &vec![0; exits.len()]), ..op }
    }

    /// Returns an op that decides a site whose options cost what follows from labelled parts.
    pub fn open(&mut self, node: NodeId, exits: &[Exit], slots: Option<&Slots>) -> Op {
        let decision = self.decision(exits.len(), slots);
        let (texts, argument) = (self.entry(Exit::RETURN), node.index() as u32);
        let op = Op { code: Code::Open, own_exits: true, count: exits.len() as u32, ..decision };
        Op { argument, texts, exits: self.add_exits(exits, &vec![0; exits.len()]), ..op }
    }

    pub fn long(&mut self, bytes: &'c [u8], exit: Exit) -> Op {
        let argument = match self.longs.get(bytes) {
            Some(&known) => known,
            None => {
                let at = append(&mut self.program.longs, &[bytes.into()]);
                self.longs.insert(bytes, at);
                at
            }
        };
        self.op(Code::Long, argument, exit)
    }

    pub fn word(&mut self, word: Word, exit: Exit) -> Op {
        let argument = match self.words.get(&word) {
            Some(&known) => known,
            None => {
                let at = append(&mut self.program.words, &[word]);
                self.words.insert(word, at);
                at
            }
        };
        self.op(Code::Word, argument, exit)
    }

    /// Returns an op for rounds of a run, with its exits: stopped, other member, no more rounds.
    pub fn run(&mut self, run: Run, exits: [Exit; 3]) -> Op {
        let argument = append(&mut self.program.runs, &[run]);
        let op = self.op(Code::Run, argument, Exit::RETURN);
        Op { exits: self.add_exits(&exits, &[0; 3]), ..op }
    }

    /// Returns an op that emits a string of a pool and takes an exit without text.
    pub fn pool(&mut self, rule: RuleId, pool: &Pool, min_len: u64, exit: Exit) -> Op {
        let known = match self.pools.get(&rule) {
            Some(&known) => known,
            None => {
                let made = self.pool_site(pool, min_len);
                self.pools.insert(rule, made);
                made
            }
        };
        Op { exits: self.entry(exit), ..known }
    }

    fn pool_site(&mut self, pool: &Pool, min_len: u64) -> Op {
        let count = pool.strings.len();
        let costs: Vec<u64> = pool.strings.iter().map(|string| string.len() as u64 - min_len).collect();
        let op = Op { count: count as u32, ..self.decision(count, None) };
        let op = match &pool.shortest {
            Some(string) => {
                let shortest = append(&mut self.program.longs, std::slice::from_ref(string));
                Op { limited: Limited::Pool, shortest, ..op }
            }
            None if costs.last() == Some(&0) => op,
            None => Op { limited: Limited::Costs, ..op },
        };
        if let Some(texts) = pool.strings.iter().map(|string| Text::new(string)).collect() {
            return self.one_of(op, texts, costs, Exit::RETURN);
        }
        let argument = append(&mut self.program.longs, &pool.strings);
        Op { code: Code::Pool, argument, texts: self.entry(Exit::RETURN), ..op }
    }
}
