//! Room for labelled parts: how much longer a part may be, with all that follows from it.

use super::walk::{self, Longer, Memo, Walk};
use super::{Labels, Open};
use crate::ir::{Ir, Known, LabelId, NodeId, Scope};

/// The room in an open scope.
#[derive(Clone, Copy)]
pub(super) struct Room<'r> {
    labels: &'r Labels,
    ir: &'r Ir,
    /// The number of the scope. `None` outside all scopes.
    level: Option<usize>,
    /// The parts of the round of a repetition in this scope that are taken to be longer. Mirrors see them.
    of_round: &'r [Longer],
}

impl Labels {
    /// Returns the room in the innermost scope.
    pub(super) fn room<'r>(&'r self, ir: &'r Ir) -> Room<'r> {
        Room { labels: self, ir, level: self.scopes.len().checked_sub(1), of_round: &[] }
    }
}

impl<'r> Room<'r> {
    /// Returns the scope.
    fn scope(&self) -> Option<&'r Scope> {
        self.ir.node(self.labels.scopes.get(self.level?)?.node).scope()
    }

    /// Returns the room in the scope around this one, if this one is a round of a repetition in it that is mirrored.
    fn around<'o>(&'o self, of_round: &'o [Longer]) -> Option<(LabelId, Room<'o>)> {
        let repetition = self.scope()?.round_of()?;
        Some((repetition, Room { level: self.level?.checked_sub(1), of_round, ..*self }))
    }

    /// Returns the least number of rounds of the part with a label, where something depends on it.
    pub fn least_rounds(&self, label: LabelId) -> u64 {
        let known = |scope: &Scope| walk::known_in(self.ir, scope.body, label);
        let own = self.scope().and_then(known);
        let seen = || self.around(&[]).and_then(|(_, outer)| outer.scope()).and_then(known);
        own.or_else(seen).map_or(0, |known| known.rounds)
    }

    /// Returns the parts that are taken to be longer.
    fn all<'l>(&self, longer: &'l Longer, more: &'l mut Vec<Longer>) -> &'l [Longer] {
        if self.of_round.is_empty() {
            return std::slice::from_ref(longer);
        }
        more.push(*longer);
        more.extend(self.of_round);
        more
    }

    /// Returns by how much a part and the rest of its scope are longer than the shortest if the part is so much longer.
    pub fn total(&self, longer: Longer) -> i64 {
        let Some(scope) = self.scope() else { return longer.1 };
        let (memo, mut more) = (Memo::default(), Vec::new());
        let rest = Walk::new(self.labels, self.ir, self.all(&longer, &mut more), &memo).rest(scope);
        longer.1.saturating_add(rest)
    }

    /// Returns what [`Room::total`] does of the shortest part with a label.
    pub fn total_of_shortest(&self, label: LabelId) -> i64 {
        let longer = self.shortest(label);
        let Some(scope) = self.scope() else { return longer.1 };
        let memo = Memo::default();
        let walk = Walk::new(self.labels, self.ir, std::slice::from_ref(&longer), &memo);
        longer.1.saturating_add(walk.without_rounds_of(label).rest(scope))
    }

    /// Returns by how much the part of a label of the scope is longer than it could be, because what it follows from is
    /// longer. The slack has room for that already.
    pub fn shortest(&self, label: LabelId) -> Longer {
        let memo = Memo::default();
        let walk = Walk::new(self.labels, self.ir, &[], &memo);
        let body = self.scope().and_then(|scope| walk.part(scope, label));
        let least = Known { label, len: 0, rounds: self.least_rounds(label) };
        let (len, rounds) = body.map_or((0, 0), |body| walk.longer_part(body, &least));
        (label, len, rounds)
    }

    /// Returns true if a part may be so much longer: the rest fits, and so do its numbers into their fields.
    fn fits(&self, longer: Longer, slack: u64) -> bool {
        let Some(scope) = self.scope() else { return u64::try_from(longer.1).is_ok_and(|longer| longer <= slack) };
        let Some(lost) = self.lost(longer) else { return false };
        let wanted = || i128::from(self.total(longer)) + i128::from(lost);
        let had = || i128::from(slack) + i128::from(self.total_of_shortest(longer.0));
        let (memo, mut more) = (Memo::default(), Vec::new());
        let walk = Walk::new(self.labels, self.ir, self.all(&longer, &mut more), &memo);
        (slack == u64::MAX || wanted() <= had()) && walk.fields_fit(scope)
    }

    /// Returns the room that the repetition around the scope loses if a part is so much longer, as its mirror gets
    /// longer. `None` if that does not fit.
    pub fn lost(&self, longer: Longer) -> Option<u64> {
        let mut more = Vec::new();
        let Some((repetition, outer)) = self.around(self.all(&longer, &mut more)) else { return Some(0) };
        let open = self.labels.open.iter().rev().find(|open| open.label == repetition);
        let Some(open) = open else { return Some(0) };
        let given = outer.given(open, open.rounds)?;
        Some(if open.given == u64::MAX { 0 } else { open.given.saturating_sub(given) })
    }

    /// Returns true if there is a limit on the length, or a field that may bound a part.
    pub fn is_bounded(&self, slack: u64) -> bool {
        let has_fields = |room: &Room<'_>| room.scope().is_some_and(|scope| walk::has_fields(self.ir, scope));
        slack != u64::MAX || has_fields(self) || self.around(&[]).is_some_and(|(_, outer)| has_fields(&outer))
    }

    /// Returns the greatest number of bytes by which a part may be longer that has `rounds` more than it must.
    pub fn greatest(&self, label: LabelId, rounds: u64, slack: u64) -> u64 {
        if !self.is_bounded(slack) {
            return u64::MAX;
        }
        let (_, shortest, _) = self.shortest(label);
        let longer = |len: u64| (label, shortest.saturating_add_unsigned(len), rounds);
        let fits = |len: u64| self.fits(longer(len), slack);
        if slack == u64::MAX && fits(u64::MAX / 4) {
            return u64::MAX;
        }
        // Mostly each further byte costs as much as the first one.
        let first = self.total(longer(1)).saturating_sub(self.total(longer(0)));
        let first = u64::try_from(first).unwrap_or(1).max(1);
        let (mut least, mut beyond) = (0, slack.min(u64::MAX / 4));
        let guess = slack / first;
        if guess < beyond && fits(guess) {
            least = guess;
            if !fits(guess + 1) {
                return guess;
            }
        }
        if fits(beyond) {
            if !self.is_padded(label) {
                return beyond;
            }
            // The part takes the room of its padding.
            while fits(beyond) {
                (least, beyond) = (beyond, beyond.saturating_mul(2).saturating_add(1));
            }
        }
        while beyond - least > 1 {
            let middle = least + (beyond - least) / 2;
            if fits(middle) {
                least = middle;
            } else {
                beyond = middle;
            }
        }
        least
    }

    /// Returns true if padding follows the part with a label in its sequence.
    fn is_padded(&self, label: LabelId) -> bool {
        let items = self.scope().and_then(|scope| self.ir.node(scope.body).items()).unwrap_or_default();
        let padding = |item: &NodeId| self.ir.node(*item).leaf().and_then(|leaf| leaf.derived.padding());
        items.iter().filter_map(padding).any(|(padded, _)| padded.label == label)
    }

    /// Returns the slack that an open part of the scope has if it has `rounds` rounds. `None` if they do not fit.
    pub fn given(&self, open: &Open, rounds: u64) -> Option<u64> {
        let longer = rounds.saturating_sub(self.least_rounds(open.label));
        self.fits((open.label, self.shortest(open.label).1, longer), open.outside)
            .then(|| self.greatest(open.label, longer, open.outside))
    }
}
