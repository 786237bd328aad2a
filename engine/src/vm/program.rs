//! The program that the interpreter runs: ops of 32 bytes and the tables that they refer to.
//!
//! Each op does the same three things: it checks the depth limit of the rule instance that begins with it, emits a short
//! text, and, after what its code says, *follows* an exit: pushes a frame, or pops one, and goes to the next op. What the
//! code of most ops says is to decide a site; its options are data, so deciding does not branch.

use super::text::Text;

/// The number of an op.
pub(super) type Pc = u32;

/// As an exit's next op: pop a frame and go on where it says. It is also the number of an op that does only that.
pub(super) const RETURN: Pc = 0;

/// The op that ends the run.
pub(super) const HALT: Pc = 1;

/// The level of an op with which no instance begins.
pub(super) const NO_LEVEL: i8 = -1;

/// Sites of ops hold the number of options less one in a byte; larger ones stand in [`Program::sites`].
pub(super) const SMALL: usize = 256;

/// What an op does between its text and its exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Code {
    /// Not built yet; never run.
    Unset,
    /// Ends the run.
    Halt,
    /// Nothing. `argument` is what [`Exit::push_deeper`] is for exits; with the other codes that is 0.
    Go,
    /// One of `small + 1` exits from `argument` on, instead of the op's own.
    Choice,
    /// The same for any site: `argument` is in [`Program::sites`], its options are exits.
    Site,
    /// Emits one of `small + 1` bytes from `argument` on.
    Byte,
    /// Emits one of `small + 1` texts from `argument` on.
    Short,
    /// The same for any site: `argument` is in [`Program::sites`], its options are texts.
    ShortSite,
    /// Emits a member of the class `argument`.
    Member,
    /// Emits a string of the pool `argument`.
    Pool,
    /// The same for a pool of short strings.
    ShortPool,
    /// Emits the long text `argument`.
    Long,
    /// Does as many rounds as it can of the run `argument`, then takes one of its exits.
    Run,
    /// Pushes a counter of rounds.
    Count,
    /// Decides on another round of the repetition `argument` by the counter on the stack, then takes one of its exits.
    Round,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C, align(32))]
pub(super) struct Op {
    pub text: Text,
    pub code: Code,
    pub small: u8,
    /// An instance begins here if this is not [`NO_LEVEL`]: it is beyond the depth limit if less than this is left of the
    /// depth. Then the op before this one runs instead.
    pub level: i8,
    pub deeper: u8,
    pub argument: u32,
    pub way: Way,
}

/// Where an exit leads: the op to go to, or [`RETURN`], and where to go on when the next frame is popped, or 0 if none is
/// pushed. [`RETURN`] pushes none.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Way(u64);

impl Way {
    pub const fn new(next: Pc, push: Pc) -> Way {
        Way(next as u64 | ((push as u64) << 32))
    }

    #[inline(always)]
    pub fn next(self) -> Pc {
        self.0 as Pc
    }

    /// As the lower half of a frame.
    #[inline(always)]
    pub fn push(self) -> u64 {
        self.0 >> 32
    }
}

impl std::fmt::Debug for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} pushing {}", self.next(), self.push())
    }
}

/// Where to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C, align(32))]
pub(super) struct Exit {
    pub text: Text,
    pub way: Way,
    /// How much is taken from what is left of the depth.
    pub deeper: u16,
    /// How much is taken from it in the frame that is pushed.
    pub push_deeper: u16,
}

/// A site that does not fit into an op.
#[derive(Clone, Debug)]
pub(super) struct Site {
    /// Number of options, and where they begin in their table.
    pub count: u32,
    pub first: u32,
    /// log2 of the number of slots; 0 if all options are equally probable.
    pub bits: u32,
    /// Where the ends of the slots begin in [`Program::slot_ends`].
    pub ends: u32,
    /// If there are 256 slots: in [`Program::tables`], the option of each.
    pub map: Option<u32>,
}

/// A class of more than 256 characters.
#[derive(Clone, Debug)]
pub(super) struct Class {
    /// The first member of each range and the number of members before it.
    pub ranges: Box<[(u32, u32)]>,
    /// The number of members of at most 1, 2, 3 and 4 bytes.
    pub within: [u32; 4],
    pub min_len: u32,
}

/// The pool of a rule.
#[derive(Clone, Debug)]
pub(super) struct PoolSite {
    /// Where its strings begin in [`Program::shorts`] or [`Program::longs`].
    pub first: u32,
    /// What each string costs more than the shortest string of the rule.
    pub costs: Box<[u64]>,
    /// The shortest string of the rule, in [`Program::longs`], if no string of the pool is as short.
    pub shortest: Option<u32>,
}

/// Rounds of a repetition of one byte, or of a tail-recursive rule that emits one byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// In [`Program::tables`]: the byte that each choice byte below `bound` emits.
    pub table: u32,
    pub bound: u32,
    /// Each round takes one from the depth, and this much must be left in the end (`deepens`); or none does.
    pub depth: u32,
    pub deepens: bool,
    /// The rounds done count for the exit of a repetition that stopped, too.
    pub stops_deeper: bool,
    /// The round that stops derives the byte, too.
    pub plus: bool,
    /// No round is done here where less of the slack is left.
    pub slack: u64,
    /// The first of three exits: the repetition stopped; another member was chosen; as many rounds as possible are done.
    pub exits: u32,
}

/// A repetition with a counter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    pub min: u32,
    pub max: Option<u32>,
    /// What a further round costs.
    pub cost: u64,
    /// The first of two exits: stop, go on.
    pub exits: u32,
}

/// A program for one way of treating the depth limit.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub start: Pc,
    pub ops: Vec<Op>,
    pub exits: Vec<Exit>,
    /// What each exit costs more than the first of its site.
    pub exit_costs: Vec<u64>,
    pub bytes: Vec<u8>,
    pub shorts: Vec<Text>,
    pub short_costs: Vec<u64>,
    pub sites: Vec<Site>,
    pub slot_ends: Vec<u32>,
    pub classes: Vec<Class>,
    pub pools: Vec<PoolSite>,
    pub longs: Vec<Box<[u8]>>,
    pub runs: Vec<Run>,
    pub tables: Vec<[u8; 256]>,
    pub rounds: Vec<Round>,
}

impl Op {
    pub const UNSET: Op = Op {
        text: Text::EMPTY,
        code: Code::Unset,
        small: 0,
        level: NO_LEVEL,
        deeper: 0,
        argument: 0,
        way: Way::new(RETURN, 0),
    };
}

impl Class {
    /// How many members cost at most `slack` bytes more than the shortest.
    pub fn offered(&self, slack: u64) -> u32 {
        self.within[(slack.saturating_add(u64::from(self.min_len)).min(4) - 1) as usize]
    }

    /// A member as UTF-8.
    pub fn encoded(&self, index: u32) -> Text {
        let behind = self.ranges.partition_point(|&(_, before)| before <= index);
        let (first, before) = self.ranges[behind - 1];
        // Ranges hold scalar values only.
        let character = char::from_u32(first + (index - before)).unwrap_or('\u{FFFD}');
        Text::of_char(character)
    }
}

impl Program {
    /// Checks that every reference is in range and that no op runs unbuilt.
    ///
    /// # Errors
    ///
    /// The first violation, described.
    pub fn verify(&self) -> Result<(), String> {
        let built = |pc: Pc| self.ops.get(pc as usize).is_some_and(|op| op.code != Code::Unset);
        let follows =
            |way: Way| built(way.next()) && built(way.push() as Pc) && (way.next() != RETURN || way.push() == 0);
        let exits = |first: u32, count: usize| first as usize + count <= self.exits.len();
        for exit in &self.exits {
            if !follows(exit.way) {
                return Err(format!("exit {exit:?}"));
            }
        }
        for (pc, op) in self.ops.iter().enumerate() {
            let (first, count) = (op.argument as usize, usize::from(op.small) + 1);
            let site = || self.sites.get(first).ok_or(format!("site of op {pc}"));
            let in_range = match op.code {
                Code::Unset | Code::Halt | Code::Go | Code::Count => true,
                Code::Choice => exits(op.argument, count) && self.exit_costs.len() == self.exits.len(),
                Code::Site => exits(site()?.first, site()?.count as usize),
                Code::Byte => first + count <= self.bytes.len(),
                Code::Short => first + count <= self.shorts.len() && self.short_costs.len() == self.shorts.len(),
                Code::ShortSite => (site()?.first + site()?.count) as usize <= self.shorts.len(),
                Code::Member => first < self.classes.len(),
                Code::Pool | Code::ShortPool => self.pools.get(first).is_some_and(|pool| {
                    let strings = if op.code == Code::Pool { self.longs.len() } else { self.shorts.len() };
                    pool.costs.len() == count && pool.first as usize + count <= strings
                }),
                Code::Long => first < self.longs.len(),
                Code::Run => self.runs.get(first).is_some_and(|run| {
                    exits(run.exits, 3) && (run.table as usize) < self.tables.len() && run.bound <= 256
                }),
                Code::Round => self.rounds.get(first).is_some_and(|round| exits(round.exits, 2)),
            };
            let beyond = op.level == NO_LEVEL || (pc > 0 && built(pc as Pc - 1) && self.ops[pc - 1].level == NO_LEVEL);
            if !in_range || !beyond || !follows(op.way) {
                return Err(format!("op {pc}: {op:?}"));
            }
        }
        for site in &self.sites {
            let ends = self.slot_ends.get(site.ends as usize..).unwrap_or_default();
            let mapped = site.map.is_none_or(|map| (map as usize) < self.tables.len());
            if !mapped
                || site.count < 2
                || (site.bits > 0 && ends.get(site.count as usize - 1) != Some(&(1 << site.bits)))
            {
                return Err(format!("site {site:?}"));
            }
        }
        if built(self.start) { Ok(()) } else { Err("the start is not built".into()) }
    }
}
