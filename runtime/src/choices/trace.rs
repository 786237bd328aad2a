//! The structure of choice bytes: which of them derive which part of the output.
//!
//! Derivation goes depth first, left to right. The choice bytes of a rule instance, a repetition or a choice are
//! therefore contiguous: a *span*. Spans nest. A span can be replaced by any other with the same symbol, and the bytes
//! around it keep their meaning. The exception is a length limit, where the options at a site depend on everything
//! emitted before. So parts are exchanged in choice bytes without the limit, which tracers rewrite: if a text is within
//! the limit, the limit offers each of its options.

use std::ops::{Deref, DerefMut, Range};

use crate::choices::ChoiceSource;
use crate::limits::Limits;
use crate::producer::Producer;

/// A producer that also records its choices.
pub trait Tracer: Producer {
    /// Appends the input of these choice bytes to `output`, as [`Producer::produce`] does; returns how many were read.
    /// The record replaces the contents of `trace`.
    fn trace(&mut self, choices: &[u8], output: &mut Vec<u8>, trace: &mut Trace) -> u64;

    /// Appends the choice bytes of a new part with this symbol to `choices`, taken from `source`, and returns the
    /// length of its output in bytes. `depth` is the depth of the span that it is for. The source may be asked for more
    /// bytes than needed. After `most` bytes, or if the source has no more, the part is completed in the shortest way.
    /// The length limit in force is that of a whole, and not kept; instead, if no part of at most `max_len` bytes was
    /// found, it appends nothing and returns `None`. The choice bytes are those without a length limit.
    fn draw(
        &mut self,
        symbol: u32,
        depth: u32,
        max_len: u64,
        source: &mut dyn ChoiceSource,
        most: usize,
        choices: &mut Vec<u8>,
    ) -> Option<u64>;

    /// Returns the number of choice bytes, all of them zero, of the shortest part with this symbol at this depth, under
    /// the depth limit in force.
    fn shortest(&mut self, symbol: u32, depth: u32) -> usize;

    /// Returns the name of the rule whose instances have this symbol; `None` for other parts.
    fn rule_name(&self, symbol: u32) -> Option<&str>;

    /// Returns how many options the choice with this symbol has; 0 for parts of other kinds.
    fn options(&self, _symbol: u32) -> u32 {
        0
    }

    /// Returns true if there are options that are only read: texts have them, and generated inputs do not.
    fn reads_more(&self) -> bool {
        false
    }

    /// Derives a part anew that contains as many of `parts` as possible, by weight and in their order, and is otherwise
    /// as short as possible. Appends its choice bytes to `choices`, and the numbers of the contained parts to `kept`.
    /// Says whether there is such an option.
    fn refit(&mut self, _whole: Refit, _parts: &[Part<'_>], _kept: &mut Vec<usize>, _choices: &mut Vec<u8>) -> bool {
        false
    }

    /// Returns a number of bytes: if a text is shorter than a length limit by this number or by more, each of its sites
    /// offers all options, so that its choice bytes are the same with the limit and without.
    fn ample_room(&self) -> u64 {
        u64::MAX
    }

    /// Appends the choice bytes that make the input of `choices` without the length limit in force, missing ones
    /// included. Says whether the tracer can do that. Under a depth limit there may be no such choice bytes; then their
    /// input is another one.
    fn without_max_len(&mut self, _choices: &[u8], _without: &mut Vec<u8>) -> bool {
        false
    }

    /// Does the reverse of [`Tracer::without_max_len`]: appends the choice bytes that make, under the length limit in
    /// force, the input that `without` makes without it. Says whether that is possible; it is if the input is within
    /// the limit. If it is not, an option that is not offered is replaced by the last one that is.
    fn within_max_len(&mut self, _without: &[u8], _choices: &mut Vec<u8>) -> bool {
        false
    }

    /// Returns true if texts can be parsed.
    fn parses(&self) -> bool {
        false
    }

    /// Returns the choice bytes that produce `text` without limits on depth and length; `None` if it does not conform,
    /// or if there is no parser at hand.
    fn parse(&mut self, _text: &[u8]) -> Option<Vec<u8>> {
        None
    }
}

/// A tracer whose length limit is not in force while this lives. It has another bound on choice bytes.
pub(super) struct Lifted<'t, T: Tracer + ?Sized> {
    tracer: &'t mut T,
    limits: Limits,
}

impl<'t, T: Tracer + ?Sized> Lifted<'t, T> {
    pub(super) fn new(tracer: &'t mut T, max_choices: u64) -> Lifted<'t, T> {
        let limits = tracer.limits();
        // Nothing that is longer is of use. Fewer limits can be kept if more can.
        let max_output = limits.length().unwrap_or(limits.output());
        let _ = tracer.set_limits(limits.max_len(None).max_output(max_output).max_choices(max_choices));
        Lifted { tracer, limits }
    }
}

impl<T: Tracer + ?Sized> Drop for Lifted<'_, T> {
    fn drop(&mut self) {
        // They were in force before.
        let _ = self.tracer.set_limits(self.limits);
    }
}

impl<T: Tracer + ?Sized> Deref for Lifted<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.tracer
    }
}

impl<T: Tracer + ?Sized> DerefMut for Lifted<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.tracer
    }
}

/// Returns true if the choice bytes of an output of this length may depend on the length limit in force.
pub(super) fn depends_on_max_len(tracer: &(impl Tracer + ?Sized), len: usize) -> bool {
    tracer.limits().length().is_some_and(|max_len| (len as u64).saturating_add(tracer.ample_room()) > max_len)
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

/// A part to keep when the part around it is derived anew.
#[derive(Clone, Copy, Debug)]
pub struct Part<'p> {
    /// Its symbol.
    pub symbol: u32,
    /// Its choice bytes.
    pub choices: &'p [u8],
    /// The number of the next part that is not within this one.
    pub next: usize,
    /// Importance of keeping the part.
    pub weight: u64,
}

/// The kind of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// An instance of a rule.
    Rule,
    /// An instance of a rule beyond the depth limit: a string of its pool.
    Pool,
    /// A choice among alternatives, with the one that was taken.
    Choice,
    /// All rounds of a repetition, with the site that ended it. After the last possible round there is no such site.
    Repetition {
        /// Number of further rounds that were possible.
        room: u32,
    },
    /// One round of a repetition after its minimum, with the site that decided on it.
    Round,
}

/// A part of the choice bytes and of the output that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The kind.
    pub kind: SpanKind,
    /// Spans of the same symbol can stand for each other.
    pub symbol: u32,
    /// The depth of the rule instance that it is or is in: 0 for the start rule.
    pub depth: u32,
    /// Beginning and end of its choice bytes.
    pub choices: (u32, u32),
    /// Beginning and end of its output.
    pub output: (u32, u32),
    /// The number of the first later span that is not within this one.
    pub next: u32,
}

impl Span {
    /// Returns the range of its choice bytes.
    pub fn choices(&self) -> Range<usize> {
        self.choices.0 as usize..self.choices.1 as usize
    }

    /// Returns the range of its part of the output.
    pub fn output(&self) -> Range<usize> {
        self.output.0 as usize..self.output.1 as usize
    }
}

/// A choice that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    /// Place where its choice bytes begin.
    pub at: u32,
    /// Number of choice bytes that it reads: 1 to 3.
    pub width: u8,
    /// The option taken.
    pub option: u32,
    /// Number of options that were offered.
    pub offered: u32,
}

/// The record of a run. Positions count missing choice bytes as if they had been there, as zeros.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The spans, in the order in which they begin, outer ones first.
    pub spans: Vec<Span>,
    /// The sites, in order.
    pub sites: Vec<Site>,
    /// The number of choice bytes that all sites read together, missing ones included.
    pub read: u32,
    /// Whether an option was taken that is only read.
    pub takes_only_read: bool,
}

impl Trace {
    /// Forgets all, but keeps the memory.
    pub fn clear(&mut self) {
        self.spans.clear();
        self.sites.clear();
        self.read = 0;
        self.takes_only_read = false;
    }
}
