//! The names of a text that is being derived: which are seen, and the room for numbers that make names unique.
//!
//! A scope keeps room for the unique names that its shortest finish still gives. With `k` names known and `p` to come,
//! that is the sum of the digits of `k`, `k + 1`, ... for `p` of them: one of the numbers 1 to `k` always makes a name
//! free.

use super::Labels;
use crate::ir::{Ir, KindId, NodeId, Uniques};
use crate::naming::{Naming, digits, room};
use crate::ordered::Map;

/// The most names that a site chooses from, the nearest ones: a site has at most 2^24 options.
const MAX_SEEN: usize = (1 << 24) - 2;

/// The names of a text.
#[derive(Debug, Default)]
pub(super) struct Names {
    kinds: Vec<Kind>,
    /// The state outside the open scopes, for each of their kinds.
    outside: Vec<Outside>,
    /// The places at which open parts begin that give names.
    open: Vec<u64>,
}

/// The names of a kind.
#[derive(Debug, Default)]
struct Kind {
    /// The places of the names that are seen, without the digits that later numbers add before them.
    names: Vec<(u64, u64)>,
    /// The number of names that stand outside the innermost coded part, and are not seen in it.
    hidden: usize,
    /// The number of names that stand outside the innermost scope.
    first: usize,
    /// The number of unique names that the shortest finish of the innermost scope still gives.
    pending: u64,
    /// The numbers of the unique names among all names that are seen.
    unique: Vec<usize>,
    /// For each unique name of a scope that has more than a few its numbers among all names that are seen, and the
    /// first of the numbers to append that may be free.
    taken: Map<Box<[u8]>, Vec<(usize, u64)>>,
}

/// Up to this number of unique names of a scope are compared one by one.
const FEW: usize = 12;

/// The state outside a scope for one of its kinds.
#[derive(Clone, Copy, Debug)]
struct Outside {
    hidden: usize,
    first: usize,
    pending: u64,
}

impl Names {
    /// Returns no names of this grammar yet.
    pub fn new(ir: &Ir) -> Names {
        Names { kinds: ir.kinds().iter().map(|_| Kind::default()).collect(), ..Names::default() }
    }

    /// Forgets all names. Keeps memory.
    pub fn restart(&mut self) {
        self.outside.clear();
        self.open.clear();
        for own in &mut self.kinds {
            own.names.clear();
            own.unique.clear();
            if !own.taken.is_empty() {
                own.taken.clear();
            }
            (own.hidden, own.first, own.pending) = (0, 0, 0);
        }
    }

    /// Begins a part at this byte of the output.
    pub fn begin(&mut self, ir: &Ir, (naming, body): (&Naming<KindId>, NodeId), emitted: u64) {
        if naming.given().is_some() && !naming.is_silent() {
            self.open.push(emitted);
        }
        for &kind in naming.scoped() {
            let Some(own) = self.kinds.get_mut(kind.index()) else { continue };
            self.outside.push(own.outside());
            (own.first, own.pending) = (own.names.len(), ir.uniques(body).of(kind));
        }
    }

    /// Ends a part that gives a name, at the end of the output, which begins at `base`. Returns the room that a unique
    /// name did not need.
    pub fn end(&mut self, naming: &Naming<KindId>, output: &mut Vec<u8>, base: usize) -> u64 {
        let Some(kind) = naming.given() else { return 0 };
        let (Some(own), Some(from)) = (self.kinds.get_mut(kind.index()), self.open.pop()) else { return 0 };
        let left = if naming.unique().is_some() { own.make_unique(output, base, from) } else { 0 };
        own.names.push((from, (output.len() - base) as u64));
        left
    }

    /// Ends a part outside of which names are not seen, in this text.
    pub fn leave(&mut self, naming: &Naming<KindId>, text: &[u8]) {
        for &kind in naming.scoped().iter().rev() {
            let (Some(own), Some(outside)) = (self.kinds.get_mut(kind.index()), self.outside.pop()) else { continue };
            own.leave(outside, text);
        }
    }

    /// Begins a coded part: no names are seen in it but its own.
    pub fn begin_text(&mut self) {
        for own in &mut self.kinds {
            self.outside.push(own.outside());
            (own.hidden, own.first, own.pending) = (own.names.len(), own.names.len(), 0);
        }
    }

    /// Ends a coded part, before it is coded, in this text.
    pub fn end_text(&mut self, text: &[u8]) {
        for own in self.kinds.iter_mut().rev() {
            let Some(outside) = self.outside.pop() else { continue };
            own.leave(outside, text);
        }
    }

    /// Adds a name that stands at a place of the output.
    pub fn add(&mut self, kind: KindId, at: (u64, u64)) {
        if let Some(own) = self.kinds.get_mut(kind.index()) {
            own.names.push(at);
        }
    }

    /// Returns the number of names of a kind that a site chooses from.
    pub fn seen(&self, kind: KindId) -> usize {
        self.kinds.get(kind.index()).map_or(0, |kind| (kind.names.len() - kind.hidden).min(MAX_SEEN))
    }

    /// Returns the place of a name: the nearest one has the number 0.
    pub fn name(&self, kind: KindId, number: usize) -> Option<(u64, u64)> {
        let kind = self.kinds.get(kind.index())?;
        kind.names.len().checked_sub(number + 1).filter(|&place| place >= kind.hidden).map(|place| kind.names[place])
    }

    /// Returns by how much more room a scope keeps if these unique names come in place of those.
    pub fn cost(&self, names: &Uniques, instead_of: &Uniques) -> i128 {
        let mut sum = 0;
        for (kind, number) in instead_of.iter() {
            sum += self.cost_of(kind, names.of(kind), number);
        }
        for (kind, number) in names.iter() {
            if instead_of.of(kind) == 0 {
                sum += self.cost_of(kind, number, 0);
            }
        }
        sum
    }

    /// Returns the room that a scope keeps in addition if `number` unique names come in place of `instead_of`.
    fn cost_of(&self, kind: KindId, number: u64, instead_of: u64) -> i128 {
        let own = &self.kinds[kind.index()];
        let known = (own.names.len() - own.first) as u64;
        let with = own.pending.saturating_sub(instead_of).saturating_add(number);
        i128::from(room(known, with)) - i128::from(room(known, own.pending))
    }

    /// Notes that these unique names come in place of those.
    pub fn expect(&mut self, names: &Uniques, instead_of: &Uniques) {
        for (kind, number) in instead_of.iter() {
            let pending = &mut self.kinds[kind.index()].pending;
            *pending = pending.saturating_sub(number);
        }
        for (kind, number) in names.iter() {
            let pending = &mut self.kinds[kind.index()].pending;
            *pending = pending.saturating_add(number);
        }
    }
}

impl Labels {
    /// Gives a part of the text as a name.
    pub fn declare_part(&mut self, kind: KindId, part: (u64, u64)) {
        self.names.add(kind, part);
    }
}

impl Kind {
    fn outside(&self) -> Outside {
        Outside { hidden: self.hidden, first: self.first, pending: self.pending }
    }

    /// Ends the innermost scope, whose names stand in this text.
    fn leave(&mut self, outside: Outside, text: &[u8]) {
        self.forget(text);
        (self.hidden, self.first, self.pending) = (outside.hidden, outside.first, outside.pending);
    }

    /// Forgets the names of the innermost scope, which stand in this text.
    fn forget(&mut self, text: &[u8]) {
        let own = self.unique.partition_point(|&number| number < self.first);
        if self.unique.len() - own > FEW {
            for &number in self.unique[own..].iter().rev() {
                let (from, to) = self.names[number];
                let name = &text[from as usize..to as usize];
                if let Some(all) = self.taken.get_mut(name) {
                    all.pop();
                    if all.is_empty() {
                        self.taken.remove(name);
                    }
                }
            }
        }
        self.unique.truncate(own);
        self.names.truncate(self.first);
    }

    /// Returns the numbers of the unique names of the innermost scope.
    fn own_unique(&self) -> &[usize] {
        let others = self.unique.iter().rev().position(|&number| number < self.first);
        &self.unique[others.map_or(0, |after| self.unique.len() - after)..]
    }

    /// Appends the least number to the name from `from` on that makes it unique in its scope, if it is not. Returns the
    /// room that was kept for it and is not needed.
    fn make_unique(&mut self, output: &mut Vec<u8>, base: usize, from: u64) -> u64 {
        let kept = digits((self.names.len() - self.first) as u64);
        self.pending = self.pending.saturating_sub(1);
        let len = output.len();
        let number = self.names.len();
        let known = self.own_unique().len();
        if known <= FEW {
            self.compare(output, base, from);
        } else {
            self.look_up(output, base + from as usize);
        }
        self.unique.push(number);
        if known >= FEW {
            // Those before it are entered with the first one that is not among a few.
            let to = (output.len() - base) as u64;
            let first = if known == FEW { self.unique.len() - 1 - FEW } else { self.unique.len() - 1 };
            for &own in &self.unique[first..] {
                let (from, to) = self.names.get(own).copied().unwrap_or((from, to));
                let name = &output[base + from as usize..base + to as usize];
                self.taken.entry(name.into()).or_default().push((own, 1));
            }
        }
        kept.saturating_sub((output.len() - len) as u64)
    }

    /// Appends the number to a name among a few.
    fn compare(&self, output: &mut Vec<u8>, base: usize, from: u64) {
        let (len, from) = (output.len(), base + from as usize);
        let mut number = 0u64;
        let is_taken = |output: &[u8]| {
            let name = &output[from..];
            self.own_unique().iter().any(|&other| {
                let (from, to) = self.names[other];
                output[base + from as usize..base + to as usize] == *name
            })
        };
        while is_taken(output) {
            number += 1;
            output.truncate(len);
            output.extend_from_slice(number.to_string().as_bytes());
        }
    }

    /// Appends the number to a name among many.
    fn look_up(&mut self, output: &mut Vec<u8>, from: usize) {
        let len = output.len();
        if let Some(mut number) = self.number_after(&output[from..]) {
            let name = output[from..].to_vec();
            loop {
                output.extend_from_slice(number.to_string().as_bytes());
                number += 1;
                if self.number_after(&output[from..]).is_none() {
                    break;
                }
                output.truncate(len);
            }
            if let Some((_, next)) = self.taken.get_mut(name.as_slice()).and_then(|all| all.last_mut()) {
                *next = number;
            }
        }
    }

    /// Returns the first number to append to a name that is taken in the innermost scope; `None` if it is free.
    fn number_after(&self, name: &[u8]) -> Option<u64> {
        self.taken.get(name)?.last().filter(|(place, _)| *place >= self.first).map(|&(_, next)| next)
    }
}
