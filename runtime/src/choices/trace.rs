//! The structure of choice bytes: which part of them derives what.
//!
//! Derivation goes depth first, left to right, so what a rule instance, a repetition or a choice derives is a contiguous part
//! of the choice bytes, a *span*; spans nest. A span can be replaced by any other with the same symbol, and the bytes around it
//! keep their meaning, except under a length limit, where what is offered at a site depends on all that is emitted before.

use std::ops::Range;

use crate::choices::ChoiceSource;
use crate::producer::Producer;

/// A producer that also says what it did.
pub trait Tracer: Producer {
    /// Appends the input of these choice bytes to `output`, as [`Producer::produce`] does; returns how many were read.
    /// What was done replaces what is in `trace`.
    fn trace(&mut self, choices: &[u8], output: &mut Vec<u8>, trace: &mut Trace) -> u64;

    /// Appends to `choices` those of a new part with this symbol, taken from `source`, and returns the length of its output in
    /// bytes. `depth` is that of the span that it is for. The source may be asked for more than is needed. Behind `most` bytes, or if the source has no more, the part is
    /// completed in the shortest way. A length limit is not kept.
    fn draw(
        &mut self,
        symbol: u32,
        depth: u32,
        source: &mut dyn ChoiceSource,
        most: usize,
        choices: &mut Vec<u8>,
    ) -> u64;

    /// How many choice bytes, all of them zero, the shortest part with this symbol has at this depth, under the depth limit in
    /// force.
    fn shortest(&mut self, symbol: u32, depth: u32) -> usize;

    /// The name of the rule whose instances have this symbol; `None` for other parts.
    fn rule_name(&self, symbol: u32) -> Option<&str>;

    /// How many options the choice with this symbol has; 0 for parts of other kinds.
    fn options(&self, _symbol: u32) -> u32 {
        0
    }

    /// Appends to `choices` those of a part that is derived anew and has as much of `parts` in it as it can, by weight and in their order;
    /// the rest is the shortest there is. The numbers of the parts go to `kept`. Says whether there is such an option.
    fn refit(&mut self, _whole: Refit, _parts: &[Part<'_>], _kept: &mut Vec<usize>, _choices: &mut Vec<u8>) -> bool {
        false
    }

    /// Whether texts can be parsed.
    fn parses(&self) -> bool {
        false
    }

    /// The choice bytes that produce `text` without limits on depth and length; `None` if it does not conform, or if there is no
    /// parser at hand.
    fn parse(&mut self, _text: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

/// A part that is derived anew, with another option.
#[derive(Clone, Copy, Debug)]
pub struct Refit {
    /// Its symbol: that of a choice.
    pub symbol: u32,
    /// The option that it takes.
    pub option: u32,
    /// The depth of the span that it is for.
    pub depth: u32,
    /// Whether a place is for the first part that fits in it, rather than for the greatest.
    pub in_order: bool,
}

/// A part that is kept where what is around it is derived anew.
#[derive(Clone, Copy, Debug)]
pub struct Part<'p> {
    /// Its symbol.
    pub symbol: u32,
    /// Its choice bytes.
    pub choices: &'p [u8],
    /// The number of the next part that is not within this one.
    pub next: usize,
    /// How much it matters that it is kept.
    pub weight: u64,
}

/// What a span derives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// An instance of a rule.
    Rule,
    /// An instance of a rule beyond the depth limit: a string of its pool.
    Pool,
    /// A choice among alternatives, with the one that was taken.
    Choice,
    /// All rounds of a repetition, with the site that ended it, if there was one: there is none behind the last round that
    /// is possible.
    Repetition {
        /// How many more rounds were possible.
        room: u32,
    },
    /// One round of a repetition behind its minimum, with the site that decided on it.
    Round,
}

/// A part of the choice bytes and of the output that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// What it derives.
    pub kind: SpanKind,
    /// Spans of the same symbol can stand for each other.
    pub symbol: u32,
    /// The depth of the rule instance that it is or is in: 0 for the start rule.
    pub depth: u32,
    /// Where its choice bytes begin and end.
    pub choices: (u32, u32),
    /// Where its output begins and ends.
    pub output: (u32, u32),
    /// The number of the first span that begins behind this one's beginning and is not within it.
    pub next: u32,
}

impl Span {
    /// Its choice bytes.
    pub fn choices(&self) -> Range<usize> {
        self.choices.0 as usize..self.choices.1 as usize
    }

    /// Its part of the output.
    pub fn output(&self) -> Range<usize> {
        self.output.0 as usize..self.output.1 as usize
    }
}

/// A choice that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Where its choice bytes begin.
    pub at: u32,
    /// How many it reads: 1 to 3.
    pub width: u8,
    /// The option taken.
    pub option: u32,
    /// How many options were offered.
    pub offered: u32,
}

/// What a run did. Positions count choice bytes as if those that were missing had been there, as zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The spans, in the order in which they begin, outer ones first.
    pub spans: Vec<Span>,
    /// The sites, in order.
    pub sites: Vec<Site>,
    /// The number of choice bytes that all sites read together, missing ones included.
    pub read: u32,
}

impl Trace {
    /// Forgets all, but keeps the memory.
    pub fn clear(&mut self) {
        self.spans.clear();
        self.sites.clear();
        self.read = 0;
    }
}
