//! Changes that a trace makes at a transition, made once for the same registers and kept.
//!
//! A view is the registers of a configuration whose choices belong to the derivation. At a transition, the view after
//! it determines the view before it and the choices made there.

use std::collections::HashMap;

use super::hash::Mixing;

/// The number of a view.
pub(super) type ViewId = u32;

/// The view of no registers.
pub(super) const NO_REGISTERS: ViewId = 0;
/// A view without a number: it is too large, or there are too many.
pub(super) const UNNUMBERED: ViewId = u32::MAX;

/// A register whose choices belong to the derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Register {
    pub number: u32,
    /// Number of times in succession: left recursion leaves the register of its caller once for each level.
    pub times: u32,
}

/// Views with more registers, or the same one more times, get no number.
const MOST_NUMBERED: usize = 16;

/// The result of the last change at a transition, if all of it is one change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    pub from: ViewId,
    pub changed: Changed,
}

/// No view: there was no change yet, or there is no view above.
pub(super) const NO_VIEW: ViewId = u32::MAX - 1;

impl Last {
    const NONE: Last = Last { from: NO_VIEW, changed: Changed { view: NO_VIEW, above: NO_VIEW, written: 0 } };
}

/// Change of a view at a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Change {
    /// The registers come from these origins.
    Step { origins: u32 },
    /// The last register is that of a frame that returned, and comes from this origin.
    Return { origin: u32 },
    /// Two configurations become one: a place of [`super::Automaton::merged`].
    Merge { first: u32 },
}

/// The result of a change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Changed {
    pub view: ViewId,
    /// The view of the configuration above, where there is one more; `NO_VIEW` at a step.
    pub above: ViewId,
    /// The choices made: a place of `Origins::written`.
    pub written: u32,
}

#[derive(Debug)]
pub(super) struct Views {
    numbers: HashMap<Box<[Register]>, ViewId, Mixing>,
    registers: Vec<Box<[Register]>>,
    changes: HashMap<(Change, ViewId), Changed, Mixing>,
    joined: HashMap<(ViewId, ViewId), ViewId, Mixing>,
    /// For each transition.
    last: Vec<Last>,
    /// The memory that the views take, about.
    size: usize,
}

impl Views {
    pub fn new() -> Views {
        let mut views = Views {
            numbers: HashMap::default(),
            registers: Vec::new(),
            changes: HashMap::default(),
            joined: HashMap::default(),
            last: Vec::new(),
            size: 0,
        };
        let none = views.number(&[], usize::MAX);
        debug_assert_eq!(none, NO_REGISTERS);
        views
    }

    /// The memory that is kept for each transition, in bytes. It is counted with the transitions, before it is needed.
    pub const SIZE_OF_LAST: usize = size_of::<Last>();

    /// Returns the memory that the views take, about, in bytes, but for what is kept for each transition.
    pub fn size(&self) -> usize {
        self.size
            + self.changes.capacity() * (size_of::<((Change, ViewId), Changed)>() + 1)
            + self.joined.capacity() * (size_of::<((ViewId, ViewId), ViewId)>() + 1)
    }

    /// Returns the number of a view; `UNNUMBERED` if it is too large, or if it is new and all take more than `most`
    /// bytes.
    pub fn number(&mut self, registers: &[Register], most: usize) -> ViewId {
        if registers.len() > MOST_NUMBERED || registers.iter().any(|register| register.times as usize > MOST_NUMBERED) {
            return UNNUMBERED;
        }
        if let Some(&number) = self.numbers.get(registers) {
            return number;
        }
        if self.size() > most {
            return UNNUMBERED;
        }
        let number = self.registers.len() as ViewId;
        // The registers are in the list and in the hash table.
        self.size += 2 * size_of_val(registers) + 128;
        self.registers.push(registers.into());
        self.numbers.insert(registers.into(), number);
        number
    }

    pub fn registers(&self, view: ViewId) -> &[Register] {
        &self.registers[view as usize]
    }

    /// Makes room for the last changes at these transitions, and no more than the list of them has.
    pub fn make_room<T>(&mut self, transitions: &Vec<T>) {
        self.last.reserve_exact(transitions.capacity() - self.last.len());
        self.last.resize(transitions.len(), Last::NONE);
    }

    /// Returns the last change at a transition.
    #[inline]
    pub fn last(&mut self, transition: u32) -> &mut Last {
        &mut self.last[transition as usize]
    }

    pub fn changed(&self, change: Change, view: ViewId) -> Option<Changed> {
        self.changes.get(&(change, view)).copied()
    }

    /// Keeps the result of a change, if all take at most `most` bytes.
    pub fn set_changed(&mut self, change: Change, view: ViewId, changed: Changed, most: usize) {
        if self.size() <= most {
            self.changes.insert((change, view), changed);
        }
    }

    pub fn joined(&self, before: ViewId, after: ViewId) -> Option<ViewId> {
        match (before, after) {
            (UNNUMBERED, _) | (_, UNNUMBERED) => None,
            (NO_REGISTERS, view) | (view, NO_REGISTERS) => Some(view),
            both => self.joined.get(&both).copied(),
        }
    }

    /// Keeps the result of joining two views. There are fewer pairs than the changes that they come from.
    pub fn set_joined(&mut self, before: ViewId, after: ViewId, joined: ViewId) {
        self.joined.insert((before, after), joined);
    }
}

/// Appends a register, or makes the last one count more often.
pub(super) fn push(registers: &mut Vec<Register>, register: Register) {
    match registers.last_mut() {
        Some(last) if last.number == register.number => last.times += register.times,
        _ => registers.push(register),
    }
}
