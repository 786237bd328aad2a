//! Room for labelled parts: how much longer a part may be, with all that follows from it.

use super::walk::{self, Longer, Memo, Walk};
use super::{Labels, Open};
use crate::derived::{Measure, Term};
use crate::ir::{Field, Ir, Known, LabelId, NodeId, Scope};

/// The room in an open scope, or in an open labelled part of it.
#[derive(Clone, Copy)]
pub(super) struct Room<'r> {
    labels: &'r Labels,
    ir: &'r Ir,
    /// The number of the scope. `None` outside all scopes.
    level: Option<usize>,
    /// The number of the open part. Labels of a group are seen outside it, too.
    part: Option<usize>,
    /// The labels within that are taken to be longer, in an open part or in a round of a repetition.
    within: &'r [Longer],
}

impl Labels {
    /// Returns the room in the innermost scope, or in the innermost open part if that is in it.
    pub(super) fn room<'r>(&'r self, ir: &'r Ir) -> Room<'r> {
        self.room_after(ir, self.open.len())
    }

    /// Returns the room that the part which was begun last is in.
    pub(super) fn room_of_last<'r>(&'r self, ir: &'r Ir) -> Room<'r> {
        self.room_after(ir, self.open.len().saturating_sub(1))
    }

    /// Returns the room if this number of parts is open.
    fn room_after<'r>(&'r self, ir: &'r Ir, open: usize) -> Room<'r> {
        let part = open.checked_sub(1).filter(|&part| self.open[part].level == self.level());
        Room { labels: self, ir, level: self.scopes.len().checked_sub(1), part, within: &[] }
    }
}

impl<'r> Room<'r> {
    /// Returns the scope.
    fn scope(&self) -> Option<&'r Scope> {
        self.ir.node(self.labels.scopes.get(self.level?)?.node).scope()
    }

    /// Returns the part that the room is in, and the room around it, given what is longer within. The part is open in
    /// the same scope, or the scope is a round of it that mirrors see.
    pub fn around<'o>(&'o self, within: &'o [Longer]) -> Option<(usize, Room<'o>)> {
        let (level, part) = match self.part {
            Some(part) => (self.level, part),
            None => {
                let repetition = self.scope()?.round_of()?;
                let part = self.labels.open.iter().rposition(|open| open.label == repetition)?;
                (self.level?.checked_sub(1), part)
            }
        };
        let open = &self.labels.open;
        let outer = part.checked_sub(1).filter(|&outer| open[outer].level == open[part].level);
        Some((part, Room { level, part: outer, within, ..*self }))
    }

    /// Returns the node whose items make room for each other.
    fn body(&self) -> Option<NodeId> {
        match self.part {
            Some(part) => Some(self.labels.open[part].body),
            None => self.scope().map(|scope| scope.body),
        }
    }

    /// Returns the least number of rounds of the part with a label, where something depends on it.
    pub fn least_rounds(&self, label: LabelId) -> u64 {
        let own = self.scope().and_then(|scope| walk::known_in(self.ir, scope.body, label));
        // Mirrors may count what nothing in the round does.
        let around = || self.around(&[]).map_or(0, |(_, outer)| outer.least_rounds(label));
        own.map_or_else(around, |known| known.rounds)
    }

    /// Returns the parts that are taken to be longer.
    fn all<'l>(&self, longer: &'l Longer, more: &'l mut Vec<Longer>) -> &'l [Longer] {
        if self.within.is_empty() {
            return std::slice::from_ref(longer);
        }
        more.push(*longer);
        more.extend(self.within);
        more
    }

    /// Returns by how much a part and the rest of its scope are longer than the shortest if the part is so much longer.
    pub fn total(&self, longer: Longer) -> i64 {
        let Some(body) = self.body() else { return longer.1 };
        let (memo, mut more) = (Memo::default(), Vec::new());
        let rest = Walk::new(self.labels, self.ir, self.all(&longer, &mut more), &memo).rest(body);
        longer.1.saturating_add(rest)
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

    /// Returns true if a part may be so much longer: the rest fits, so do its numbers into their fields, and so does
    /// what is outside the part around. The slack is that at the beginning of the part, when the part and the rest were
    /// so much longer than the least.
    fn fits(&self, longer: Longer, had: (u64, i64)) -> bool {
        let mut fits = true;
        self.each_level(longer, had, &mut |room, longer, left| {
            fits &= left >= 0 && room.fields_fit(longer);
            fits
        });
        fits
    }

    /// Calls `visit` with this room and each one around it, the part in it that is longer if a part of this one is, and
    /// the slack that is left then. Goes on as long as `visit` returns true.
    fn each_level(
        &self,
        longer: Longer,
        (slack, before): (u64, i64),
        visit: &mut dyn FnMut(&Room<'_>, Longer, i128) -> bool,
    ) {
        let left = match slack {
            u64::MAX => i128::from(u64::MAX),
            slack => i128::from(slack) + i128::from(before) - i128::from(self.total(longer)),
        };
        let mut more = Vec::new();
        if !visit(self, longer, left) {
            return;
        }
        let Some((part, outer)) = self.around(self.all(&longer, &mut more)) else { return };
        let open = &self.labels.open[part];
        // What the part around had and has not any more is by how much it is longer.
        let grown = if slack == u64::MAX || open.given == u64::MAX { 0 } else { i128::from(open.given) - left };
        let grown = u64::try_from(grown.max(0)).unwrap_or(u64::MAX);
        let further = open.rounds.saturating_sub(outer.least_rounds(open.label));
        let longer = (open.label, open.shortest.saturating_add_unsigned(grown), further);
        outer.each_level(longer, (open.outside, open.before), visit);
    }

    /// Returns true if the numbers of fixed width of the scope fit if a part is so much longer.
    fn fields_fit(&self, longer: Longer) -> bool {
        let Some(scope) = self.scope() else { return true };
        let (memo, mut more) = (Memo::default(), Vec::new());
        let walk = Walk::new(self.labels, self.ir, self.all(&longer, &mut more), &memo);
        let opened = self.level.and_then(|level| self.labels.scopes.get(level));
        walk.fields_fit(scope) && opened.is_none_or(|opened| walk.waiting_fit(opened.waiting))
    }

    /// Returns the room that the part around loses if a part is so much longer, as what is outside gets longer. `None`
    /// if that does not fit.
    pub fn lost(&self, longer: Longer) -> Option<u64> {
        let mut more = Vec::new();
        let Some((part, outer)) = self.around(self.all(&longer, &mut more)) else { return Some(0) };
        let open = &self.labels.open[part];
        let given = outer.given(open, open.rounds)?;
        Some(if open.given == u64::MAX { 0 } else { open.given.saturating_sub(given) })
    }

    /// Returns true if there is a limit on the length, or a field that may bound a part.
    pub fn is_bounded(&self, slack: u64) -> bool {
        let has_fields = |room: &Room<'_>| room.scope().is_some_and(|scope| walk::has_fields(self.ir, scope));
        slack != u64::MAX || has_fields(self) || self.around(&[]).is_some_and(|(_, outer)| has_fields(&outer))
    }

    /// Returns the greatest number of bytes by which a part may be longer than `shortest`.
    pub fn greatest(&self, (label, shortest, rounds): Longer, (slack, before): (u64, i64)) -> u64 {
        if !self.is_bounded(slack) {
            return u64::MAX;
        }
        let longer = |len: u64| (label, shortest.saturating_add_unsigned(len), rounds);
        let fits = |len: u64| self.fits(longer(len), (slack, before));
        if slack == u64::MAX && fits(u64::MAX / 4) {
            return u64::MAX;
        }
        let (mut least, mut beyond) = (0, slack.min(u64::MAX / 4));
        let guess = self.guess(longer(0), longer(1), (slack, before)).min(self.measured(label, shortest));
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

    /// Returns how many bytes fit about, given a part that is none and one that is one byte longer: mostly each further
    /// byte costs as much as the first one.
    fn guess(&self, shortest: Longer, longer: Longer, had: (u64, i64)) -> u64 {
        let left = |longer: Longer| {
            let mut all = Vec::new();
            self.each_level(longer, had, &mut |_, _, left| {
                all.push(left);
                true
            });
            all
        };
        let (without, with) = (left(shortest), left(longer));
        let of_level = |(without, with): (i128, i128)| (without > with).then(|| without.max(0) / (without - with));
        let least = without.into_iter().zip(with).filter_map(of_level).min();
        least.and_then(|least| u64::try_from(least).ok()).unwrap_or(had.0).min(u64::MAX / 4)
    }

    /// Returns by how much a part may be longer than `shortest` for the numbers that measure its length alone.
    fn measured(&self, label: LabelId, shortest: i64) -> u64 {
        let of_field = |Field { value, greatest }: &Field| match value.terms[..] {
            [Term { times: times @ 1.., measure: Measure::Len, label: known }] if known.label == label => {
                let len = (value.greatest_sum(*greatest) - i128::from(value.plus)) / i128::from(times);
                Some(len - i128::from(known.len) - i128::from(shortest))
            }
            _ => None,
        };
        let most = self.scope().and_then(|scope| scope.fields.iter().filter_map(of_field).min());
        most.map_or(u64::MAX, |most| u64::try_from(most.max(0)).unwrap_or(u64::MAX))
    }

    /// Returns true if padding follows the part with a label in its sequence.
    fn is_padded(&self, label: LabelId) -> bool {
        fn pads(ir: &Ir, node: NodeId, label: LabelId) -> bool {
            let padded = ir.node(node).leaf().and_then(|leaf| leaf.derived.padding());
            padded.is_some_and(|(padded, _)| padded.label == label)
                || ir.node(node).items().is_some_and(|items| items.iter().any(|&item| pads(ir, item, label)))
        }
        self.body().is_some_and(|body| pads(self.ir, body, label))
    }

    /// Returns the slack that an open part of the scope has if it has `rounds` rounds. `None` if they do not fit.
    pub fn given(&self, open: &Open, rounds: u64) -> Option<u64> {
        let longer = rounds.saturating_sub(self.least_rounds(open.label));
        let had = (open.outside, open.before);
        let shortest = (open.label, open.shortest, longer);
        self.fits(shortest, had).then(|| self.greatest(shortest, had))
    }
}
