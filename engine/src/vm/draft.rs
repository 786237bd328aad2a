//! Ops and exits while a program is built. An exit holds its text, and an op all its data; [`super::layout`] decides on
//! their places in the program in the end.

use std::ops::Range;

use super::program::{Code, Limited, NO_LEVEL, Pc, RETURN};
use super::text::Text;

/// An exit takes at most this from the depth left, so that even beyond the limit more than [`NO_LEVEL`] is left.
pub(super) const MAX_DEEPER: u8 = 126;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Op {
    pub argument: u32,
    /// The exit whose text is that of option 0. The options of a site follow each other. Other ops emit this text
    /// first.
    pub texts: u32,
    /// The exit of option 0.
    pub exits: u32,
    /// Whether each option has an exit of its own; if not, all take the one of option 0.
    pub own_exits: bool,
    /// An instance begins here if this is not [`NO_LEVEL`]: it is beyond the depth limit if less than this is left of
    /// the depth. Then the op before this one runs instead. If just this is left, the op before that one does: no
    /// instance inside is within the limit.
    pub level: i8,
    pub code: Code,
    /// Number of options of a site.
    pub count: u32,
    /// Place in [`super::program::Program::slot_ends`] where the ends of the slots of a weighted site begin.
    pub ends: u32,
    /// In [`super::program::Program::longs`]; see [`Limited::Pool`].
    pub shortest: u32,
    /// log2 of the number of slots; 0 if all options are equally probable.
    pub bits: u8,
    pub limited: Limited,
}

/// A text to emit, and where to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Exit {
    pub text: Text,
    /// The amount taken from the depth left.
    pub deeper: u8,
    /// Amount taken from the depth left in the frame that is pushed.
    pub push_deeper: u8,
    /// Place to go on when the frame that is pushed is popped, or 0 if none is pushed. [`RETURN`] pushes none.
    pub push: Pc,
    /// The op to go to, or [`RETURN`].
    pub next: Pc,
}

impl Op {
    pub const UNSET: Op = Op {
        argument: 0,
        texts: 0,
        exits: 0,
        own_exits: false,
        level: NO_LEVEL,
        code: Code::Unset,
        count: 1,
        ends: 0,
        shortest: 0,
        bits: 0,
        limited: Limited::No,
    };

    /// Takes its exit without a decision.
    pub fn is_go(&self) -> bool {
        self.code == Code::Site && self.count == 1 && self.texts == self.exits
    }

    /// Returns true if each of its options has a text.
    pub fn is_site(&self) -> bool {
        matches!(self.code, Code::Site | Code::Large)
    }

    /// Returns the range of its exits.
    pub fn exit_range(&self) -> Range<usize> {
        let count = match self.code {
            Code::Run => 3,
            Code::Round | Code::Left | Code::Further | Code::Least | Code::Use | Code::Nearest => 2,
            _ if self.own_exits => self.count,
            _ => 1,
        };
        self.exits as usize..self.exits as usize + count as usize
    }

    /// Returns the exits that hold its texts.
    pub fn text_range(&self) -> Range<usize> {
        let count = if self.is_site() { self.count as usize } else { 1 };
        self.texts as usize..self.texts as usize + count
    }
}

impl Exit {
    pub const RETURN: Exit = Exit::to(RETURN);

    /// Goes to an op.
    pub const fn to(next: Pc) -> Exit {
        Exit { text: Text::EMPTY, deeper: 0, push_deeper: 0, next, push: 0 }
    }

    /// Returns the same exit without its text.
    pub fn bare(self) -> Exit {
        Exit { text: Text::EMPTY, ..self }
    }

    pub fn is_bare(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns an exit that does the same as this exit, followed by the exit `then` of the op that it leads to; `None`
    /// if one exit cannot do that.
    pub fn then(self, then: Exit) -> Option<Exit> {
        let sum = |a: u8, b: u8| a.checked_add(b).filter(|&sum| sum <= MAX_DEEPER);
        let (push, push_deeper) = match (self.push, then.push) {
            (push, 0) => (push, self.push_deeper),
            (0, push) => (push, sum(self.deeper, then.push_deeper)?),
            _ => return None,
        };
        let text = self.text.then(then.text)?;
        if then.next == RETURN && push != 0 {
            // The popped frame is the one just pushed, and the depth left is the same again.
            return Some(Exit { text, deeper: push_deeper, ..Exit::to(push) });
        }
        Some(Exit { text, deeper: sum(self.deeper, then.deeper)?, push_deeper, push, next: then.next })
    }

    /// Returns true if it neither pushes a frame nor goes deeper.
    pub fn is_jump(&self) -> bool {
        self.push == 0 && self.deeper == 0
    }

    /// Returns true if it only goes to an op.
    pub fn is_plain(&self) -> bool {
        self.is_bare() && self.is_jump()
    }
}
