//! The program that the interpreter runs: ops and exits of 16 bytes, and the tables that they refer to.
//!
//! Nearly every op is a *site*: its choice byte leads through a table of 256 to an option, the option to a text, which
//! is emitted, and to an exit, which is *followed*: it pushes a frame, or pops one, and leads to the next op. An op
//! that decides nothing is a site of one option that reads nothing. As all of them do the same steps on other data,
//! running them does not branch on what was chosen.

use super::text::Text;

/// The number of an op.
pub(super) type Pc = u32;

/// Place where an op begins in [`Program::ops`], in bytes.
pub(super) type OpOffset = u32;

/// As an exit's next op: pop a frame and continue where it says. This is also the number of an op that only does that.
pub(super) const RETURN: Pc = 0;

/// The op that ends the run.
pub(super) const HALT: Pc = 1;

/// The level of an op with which no instance begins. The depth left is never less than this, not even beyond the
/// limit.
pub(super) const NO_LEVEL: i8 = i8::MIN;

/// See [`Op::reads`].
pub(super) const OTHER: u8 = u8::MAX;

/// The operation of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Code {
    /// Not built yet; never run.
    Unset,
    /// Ends the run.
    Halt,
    /// Decides a site of at most 256 options by the table in [`Program::tables`] that begins at `argument`.
    Site,
    /// Decides a site of any size.
    Large,
    /// Decides a site of any size whose options are long texts from `argument` on.
    Pool,
    /// Emits a member of the class `argument`.
    Member,
    /// Emits the long text `argument`.
    Long,
    /// Emits the word `argument`.
    Word,
    /// Does as many rounds as it can of the run `argument`, then takes one of its exits.
    Run,
    /// Pushes a counter of rounds, of which `argument` are done.
    Count,
    /// Decides on another round of the repetition `argument` by the counter on the stack, then takes one of its exits.
    Round,
    /// Emits the derived bytes, or begins the labelled part, the scope or the part with a name, that the node with the
    /// number `argument` is.
    Label,
    /// Ends what [`Code::Label`] began that the node with the number `argument` is.
    Leave,
    /// Pushes a counter of the rounds that the node with the number `argument` has.
    Times,
    /// Takes the second exit as often as the counter on the stack says, then the first one.
    Left,
    /// Decides a site of any size whose options cost what follows from labelled parts: the node with the number
    /// `argument`.
    Open,
    /// Decides on another round as [`Code::Round`] does, where its cost follows from labelled parts or rounds are
    /// counted: of the repetition that the node with the number `argument` is.
    Further,
    /// Takes a name and the first exit, or the second one if no name is seen or it does not fit: of the node with the
    /// number `argument`.
    Use,
    /// Takes the nearest name as [`Code::Use`] does, without reading.
    Nearest,
    /// Does the rounds that the repetition has at least, and counts them: the node with the number `argument`.
    Least,
}

/// The kind of a site under the length limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Limited {
    /// Offers all options: they cost the same.
    No,
    /// Offers the options that fit the slack, the first always does.
    Costs,
    /// Offers the options that fit the slack. If none fits, the long text `shortest` stands in for them.
    Pool,
}

/// The first part of an op: the work of its site without limits on the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C, align(16))]
pub(super) struct Op {
    pub argument: u32,
    /// Place where the texts of the options begin in [`Program::texts`], in bytes. Ops other than sites emit the first
    /// text before what they do; the texts of their exits follow it.
    pub texts: u32,
    /// Place where the exits of the options begin in [`Program::exits`], in bytes.
    pub exits: u32,
    /// -1 if each option has an exit of its own; 0 if all take the one of option 0.
    pub mask: i8,
    /// Number of choice bytes that a site reads: 1, or 0 if it has one option; [`OTHER`] for all ops but
    /// [`Code::Site`].
    pub reads: u8,
    /// An instance begins here if this is not [`NO_LEVEL`]: it is beyond the depth limit if less than this is left of
    /// the depth. If just this is left, no instance inside is within the limit. Either way another op runs instead; see
    /// [`Program::others`].
    pub level: i8,
    pub code: Code,
}

/// The rest of an op: what sites need that are large or under a length limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// Number of options.
    pub count: u32,
    /// Place in [`Program::costs`] where the list of the bytes begins that each option costs more than the first.
    pub costs: u32,
    /// Place where the ends of the slots of a weighted site begin in [`Program::slot_ends`].
    pub ends: u32,
    /// Place in [`Program::longs`]; see [`Limited::Pool`].
    pub shortest: u32,
    /// log2 of the number of slots; 0 if all options are equally probable.
    pub bits: u8,
    pub limited: Limited,
}

/// Place to go on, and the changes on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C, align(16))]
pub(super) struct Exit {
    /// The amount taken from the depth left.
    pub deeper: u8,
    /// Amount taken from the depth left in the frame that is pushed.
    pub push_deeper: u8,
    /// By how much the stack grows: 1, 0 or, back to a frame, -1.
    pub growth: i8,
    /// Place to go on when the frame that is pushed is popped; if none is pushed, [`RETURN`].
    pub push: OpOffset,
    /// The argument of the op to go to, which is needed as soon as the op itself.
    pub argument: u32,
    /// The op to go to, or [`RETURN`], which pushes no frame.
    pub next: OpOffset,
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

/// Bytes one after the other, each a site of its own; then a repetition of one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Word {
    /// The place in [`Program::tables`] of the byte for each choice byte.
    pub heads: [u32; Word::HEADS],
    /// Number of heads that are emitted.
    pub count: u32,
    /// The table of the repetition, and its greatest number of rounds.
    pub tail: u32,
    pub further: u64,
}

/// Rounds of a repetition of one byte, or of a tail-recursive rule that emits one byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// Place in [`Program::tables`] where the bytes begin that choice bytes below `bound` emit.
    pub table: u32,
    pub bound: u32,
    /// No round is done if less of the depth is left than this.
    pub depth: u32,
    /// 0 if each round takes one from the depth left; if none does, all bits but the sign.
    pub unbounded: i64,
    /// For each exit: -1 if the rounds done are taken from the depth left, else 0.
    pub deepens: [i32; 3],
    /// The round that stops derives the byte, too.
    pub plus: bool,
    /// No round is done if less of the slack is left than this.
    pub slack: u64,
}

/// A repetition with a counter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    pub min: u32,
    pub max: Option<u32>,
    /// The cost of a further round.
    pub cost: u64,
}

/// A program for one way of treating the depth limit.
#[derive(Clone, Debug, Default)]
pub(super) struct Program {
    pub start: OpOffset,
    pub ops: Vec<Op>,
    /// The ops that replace ops of level 0 or more near the depth limit begin here. At twice the place of an op,
    /// counted from here, is its replacement beyond the limit, and next to it the one exactly at the limit.
    pub others: OpOffset,
    /// One for each op.
    pub sites: Vec<Site>,
    pub exits: Vec<Exit>,
    pub texts: Vec<Text>,
    pub costs: Vec<u64>,
    pub slot_ends: Vec<u32>,
    pub classes: Vec<Class>,
    pub longs: Vec<Box<[u8]>>,
    pub words: Vec<Word>,
    pub runs: Vec<Run>,
    /// Tables of 256 bytes each.
    pub tables: Vec<u8>,
    pub rounds: Vec<Round>,
}

impl Op {
    /// The size of an op, an exit and a text.
    pub const SIZE: u32 = 16;
}

const _: () = assert!(size_of::<Op>() == 16 && size_of::<Exit>() == 16 && size_of::<Text>() == 16);

impl Word {
    /// A word has at most this number of bytes before its repetition.
    pub const HEADS: usize = 4;
}

impl Run {
    /// Its exits: the repetition stopped; another member was chosen; as many rounds as possible are done.
    pub const STOPPED: usize = 0;
    pub const OTHER: usize = 1;
    pub const CAPPED: usize = 2;
}

impl Class {
    /// Returns how many members cost at most `slack` bytes more than the shortest.
    pub fn offered(&self, slack: u64) -> u32 {
        self.within[(slack.saturating_add(u64::from(self.min_len)).min(4) - 1) as usize]
    }

    pub fn member(&self, index: u32) -> char {
        let behind = self.ranges.partition_point(|&(_, before)| before <= index);
        let (first, before) = self.ranges[behind - 1];
        // Ranges hold scalar values only.
        char::from_u32(first + (index - before)).unwrap_or('\u{FFFD}')
    }
}

impl Op {
    /// Returns how many texts follow each other that it refers to.
    pub fn text_count(&self, site: &Site) -> u32 {
        match self.code {
            Code::Site | Code::Large => site.count,
            Code::Open => 1 + site.count,
            _ => 1 + self.exit_count(site),
        }
    }

    /// Returns how many exits follow each other that it refers to.
    pub fn exit_count(&self, site: &Site) -> u32 {
        match self.code {
            Code::Run => 3,
            Code::Round | Code::Left | Code::Further | Code::Least | Code::Use | Code::Nearest => 2,
            _ if self.mask != 0 => site.count,
            _ => 1,
        }
    }
}

impl Program {
    /// Returns true if what the argument of an op leads to is there. Tables of sites are examined apart.
    pub fn has_argument(&self, op: &Op, site: &Site) -> bool {
        let argument = op.argument as usize;
        match op.code {
            Code::Unset | Code::Halt | Code::Count | Code::Large | Code::Site => true,
            // Nodes are looked up with a check.
            Code::Label | Code::Leave | Code::Times | Code::Left | Code::Open => true,
            Code::Further | Code::Least | Code::Use | Code::Nearest => true,
            Code::Pool => argument + site.count as usize <= self.longs.len(),
            Code::Member => argument < self.classes.len(),
            Code::Long => argument < self.longs.len(),
            Code::Word => argument < self.words.len(),
            Code::Run => argument < self.runs.len(),
            Code::Round => argument < self.rounds.len(),
        }
    }

    /// Returns the table that begins here.
    #[inline(always)]
    pub fn table(&self, start: u32) -> &[u8; 256] {
        // Verified programs refer to whole tables only.
        self.tables[start as usize..].first_chunk().unwrap_or(&[0; 256])
    }
}

impl Program {
    /// Returns the op here.
    pub fn op(&self, place: OpOffset) -> &Op {
        &self.ops[(place / Op::SIZE) as usize]
    }

    /// Returns the rest of the op here.
    #[inline(always)]
    pub fn site(&self, place: OpOffset) -> &Site {
        &self.sites[(place / Op::SIZE) as usize]
    }

    /// Returns the op here, without a check.
    ///
    /// # Safety
    ///
    /// An exit of this program, which is verified, or its start must lead here, or it must be one of the others of an
    /// op that they lead to.
    #[inline(always)]
    pub unsafe fn op_unchecked(&self, place: OpOffset) -> &Op {
        debug_assert!(((place / Op::SIZE) as usize) < self.ops.len());
        // SAFETY: the verifier has found an op there.
        unsafe { &*self.ops.as_ptr().byte_add(place as usize) }
    }

    /// Returns the text of an option, without a check.
    ///
    /// # Safety
    ///
    /// The op must be one of this program, which is verified, and have the option (one more if it is not a site).
    #[inline(always)]
    pub unsafe fn text_unchecked(&self, op: &Op, option: usize) -> &Text {
        debug_assert!((op.texts / Op::SIZE) as usize + option < self.texts.len());
        // SAFETY: the verifier has found a text there.
        unsafe { &*self.texts.as_ptr().byte_add(op.texts as usize + option * size_of::<Text>()) }
    }

    /// Returns the exit of an option, without a check.
    ///
    /// # Safety
    ///
    /// The op must be one of this program, which is verified, and have the option.
    #[inline(always)]
    pub unsafe fn exit_unchecked(&self, op: &Op, option: usize) -> &Exit {
        debug_assert!((op.exits / Op::SIZE) as usize + option < self.exits.len());
        // SAFETY: the verifier has found an exit there.
        unsafe { &*self.exits.as_ptr().byte_add(op.exits as usize + option * size_of::<Exit>()) }
    }

    /// Returns the table that begins here, without a check.
    ///
    /// # Safety
    ///
    /// It must be the argument of a site of this program, which is verified.
    #[inline(always)]
    pub unsafe fn table_unchecked(&self, start: u32) -> &[u8; 256] {
        debug_assert!(start as usize + 256 <= self.tables.len());
        // SAFETY: the verifier has found a table there.
        unsafe { &*self.tables.as_ptr().add(start as usize).cast() }
    }
}
