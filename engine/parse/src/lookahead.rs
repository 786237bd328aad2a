//! One byte of look-ahead: the bytes with which the text may go on after a state. A state that the next byte rules out
//! is not entered, so on grammars like those of programming languages only a few threads are alive at a time.

use crate::program::{Program, State, StateId};

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bytes([u64; 4]);

impl Bytes {
    fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    /// Adds `other`; says whether that changes anything.
    fn add(&mut self, other: Bytes) -> bool {
        let before = *self;
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own |= other);
        *self != before
    }

    fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] >> (byte & 63) & 1 == 1
    }
}

/// The bytes that may come next, and whether the text may end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Next {
    bytes: Bytes,
    end: bool,
}

/// The next byte of the text, or its end.
pub(crate) type Peek = Option<u8>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Lookahead {
    /// The bytes with which a state's own derivation, up to the end of its callee, can begin.
    first: Vec<Bytes>,
    /// The bytes that may come at a state.
    next: Vec<Next>,
}

impl Lookahead {
    /// Returns true if a state may go on with this byte, in its own callee or after it.
    #[inline]
    pub fn allows(&self, state: StateId, peek: Peek) -> bool {
        let next = &self.next[state as usize];
        match peek {
            Some(byte) => next.bytes.contains(byte),
            None => next.end,
        }
    }

    /// Returns true if a state's own derivation can begin so.
    #[inline]
    pub fn begins(&self, state: StateId, peek: Peek) -> bool {
        peek.is_some_and(|byte| self.first[state as usize].contains(byte))
    }

    /// Finds the least sets that satisfy the states: when a state's set grows, it is added to the sets of the states
    /// that depend on it, each time at the cost of one set.
    pub fn new(program: &Program) -> Lookahead {
        let count = program.states.len();
        let mut dependents: Vec<Vec<StateId>> = vec![Vec::new(); count];
        for state in 0..count as StateId {
            match program.states[state as usize] {
                State::Bytes { .. } | State::Class { .. } | State::End => {}
                State::Call { callee, next, skip } => {
                    let callee = &program.callees[callee as usize];
                    dependents[callee.entry as usize].push(state);
                    if callee.nullable && skip {
                        dependents[next as usize].push(state);
                    }
                }
                State::Operation { operation, .. } if !program.operations.may_read_nothing(operation) => {}
                State::Choice { .. }
                | State::Rounds { .. }
                | State::Count { .. }
                | State::Round { .. }
                | State::Mark { .. }
                | State::Operation { .. } => {
                    program.successors(state).for_each(|next| dependents[next as usize].push(state));
                }
            }
        }
        let mut first: Vec<Bytes> = (0..count as StateId).map(|state| own(program, state)).collect();
        // Whether the end of the callee can be reached from a state without reading.
        let mut empty: Vec<bool> = program.states.iter().map(|state| matches!(state, State::End)).collect();
        let mut open: Vec<StateId> = (0..count as StateId).rev().collect();
        let mut waits = vec![true; count];
        while let Some(state) = open.pop() {
            let at = state as usize;
            waits[at] = false;
            let (bytes, ends) = (first[at], empty[at]);
            for &dependent in &dependents[at] {
                let to = dependent as usize;
                // The end of a callee is not the end of its caller; but if the callee may be empty, the state after the
                // call may end it.
                let ends = ends
                    && match program.states[to] {
                        State::Call { callee, next, skip } => {
                            next == state && skip && program.callees[callee as usize].nullable
                        }
                        _ => true,
                    };
                let changed = first[to].add(bytes) | (ends && !empty[to]);
                empty[to] |= ends;
                if changed && !std::mem::replace(&mut waits[to], true) {
                    open.push(dependent);
                }
            }
        }
        let follow = follow(program, &first, &empty);
        let next = (0..count).map(|state| {
            let mut next = Next { bytes: first[state], end: false };
            if empty[state] {
                let follow = follow[program.owners[state] as usize];
                next.bytes.add(follow.bytes);
                next.end |= follow.end;
            }
            next
        });
        let next = next.collect();
        Lookahead { first, next }
    }
}

/// Returns the bytes with which a state's own reading begins.
fn own(program: &Program, state: StateId) -> Bytes {
    let mut bytes = Bytes::default();
    match program.states[state as usize] {
        State::Bytes { start, .. } => bytes.insert(program.bytes[start as usize]),
        State::Class { class, .. } => {
            let set = &program.classes[class as usize].set;
            for &(low, high) in set.ranges() {
                // Lead bytes ascend with the members.
                let lead = |member| set.encode(member).as_ref()[0];
                (lead(low)..=lead(high)).for_each(|byte| bytes.insert(byte));
            }
        }
        State::Operation { operation, .. } => {
            let may_begin = |&byte: &u8| program.operations.may_begin_with(operation, byte);
            (0..=u8::MAX).filter(may_begin).for_each(|byte| bytes.insert(byte));
        }
        _ => {}
    }
    bytes
}

/// Returns the bytes that may follow each callee.
fn follow(program: &Program, first: &[Bytes], empty: &[bool]) -> Vec<Next> {
    let count = program.callees.len();
    let mut follow = vec![Next::default(); count];
    follow[program.start as usize].end = true;
    // What is coded is a text of its own.
    program.operations.coded.iter().for_each(|coded| follow[coded.callee as usize].end = true);
    // The first of each pair passes its followers on to the second.
    let mut passes_on: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (state, kind) in program.states.iter().enumerate() {
        let calls = match *kind {
            State::Call { callee, next, .. } => vec![(callee, next)],
            State::Operation { operation, .. } => program.operations.calls(operation),
            _ => Vec::new(),
        };
        for (callee, next) in calls {
            follow[callee as usize].bytes.add(first[next as usize]);
            if empty[next as usize] {
                passes_on[program.owners[state] as usize].push(callee);
            }
        }
    }
    for callees in &mut passes_on {
        callees.sort_unstable();
        callees.dedup();
    }
    let mut open: Vec<u32> = (0..count as u32).collect();
    let mut waits = vec![true; count];
    while let Some(callee) = open.pop() {
        waits[callee as usize] = false;
        let known = follow[callee as usize];
        for &behind in &passes_on[callee as usize] {
            let other = &mut follow[behind as usize];
            let changed = other.bytes.add(known.bytes) | (known.end && !other.end);
            other.end |= known.end;
            if changed && !std::mem::replace(&mut waits[behind as usize], true) {
                open.push(behind);
            }
        }
    }
    follow
}
