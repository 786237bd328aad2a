//! The steps of a machine, as it reports them to a recorder.

use super::Part;
use crate::ir::NodeId;
use crate::labels::Moves;

/// The kinds of spans that are reported to a recorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An instance of a rule.
    Instance,
    /// An instance that is replaced by a string of its pool.
    Pool,
    /// A choice.
    Choice,
    /// A repetition.
    Repetition,
    /// A round of a repetition that a site decides on.
    Round,
}

/// The progress of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The number of choice bytes that sites have read, including missing ones.
    pub read: u64,
    /// The number of choice bytes that were read and not missing.
    pub consumed: u64,
    /// The number of bytes emitted.
    pub emitted: u64,
    /// The number of places that are still to be filled in.
    pub marks: u32,
}

/// A decided site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecidedSite {
    /// The node of the site. For a pool, the reference to its rule.
    pub node: NodeId,
    /// The option taken, in canonical order.
    pub option: u32,
    /// The number of offered options.
    pub offered: u32,
    /// The number of choice bytes that it reads.
    pub width: u32,
    /// The position before the site.
    pub at: Position,
    /// The bytes that the text may still have beyond the fewest that are to come; the greatest value without a limit.
    pub slack: u64,
}

/// The number of a span that is not recorded.
pub const NONE: u32 = u32::MAX;

/// Receives the steps of a machine. A recorder that does nothing costs nothing.
pub trait Recorder {
    /// Flag for the text: true if the machine writes it. A recorder of decisions alone can do without, but then
    /// positions say nothing of the bytes emitted, and there must be no bound on the output. A limit on the length is
    /// kept.
    const TEXT: bool = true;

    /// Records that a span begins. Returns a number for the later reports about it, or [`NONE`].
    fn begin(&mut self, _kind: Kind, _part: Part, _depth: u32, _at: Position) -> u32 {
        NONE
    }

    /// Records that a span with a number ends.
    fn end(&mut self, _span: u32, _at: Position) {}

    /// Records that the span that was begun last is dropped: the site decided against the round.
    fn cancel(&mut self, _span: u32) {}

    /// Records that a repetition may have at most `room` further rounds. `u32::MAX` means no bound.
    fn room(&mut self, _span: u32, _room: u32) {}

    /// Records that a site was decided, by choice bytes or because there are none left.
    fn site(&mut self, _site: DecidedSite) {}

    /// Records that bytes were filled in that needed more room than they had: positions after them have moved.
    fn settled(&mut self, _moves: &Moves) {}

    /// Records that a choice takes an option, also if there was only one to take.
    fn option(&mut self, _choice: NodeId, _option: u32) {}

    /// Records that a labelled part, a coded part, a scope or a part that gives a name begins.
    fn enter(&mut self, _node: NodeId, _at: Position) {}

    /// Records that what was entered last ends. A coded part is settled and coded by then.
    fn leave(&mut self, _node: NodeId, _at: Position) {}

    /// Records bytes that follow from labelled parts, from a position up to another one. They can be filled in later.
    fn derived(&mut self, _node: NodeId, _from: Position, _to: Position) {}
}

/// Records nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Recorder for Nothing {}
