//! Lengths of shortest texts where some parts are not the shortest.

use std::cell::RefCell;

use super::rounds::View;
use super::settle::{Span, difference};
use super::{Complete, Labels};
use crate::derived::{Derived, Measure, Term, Value};
use crate::ir::labels::least;
use crate::ir::{First, Ir, Known, LabelId, Leaf, NodeId, Scope};
use crate::ordered::Map;

/// A label, and how much longer its part is than the shortest: in bytes and in rounds. What is coded can be shorter
/// than it counts before.
pub(super) type Longer = (LabelId, i64, u64);

/// Returns a reference to a label in a part.
pub(super) fn known_in(ir: &Ir, node: NodeId, label: LabelId) -> Option<Known> {
    if ir.free(node).is_empty() && ir.node(node).scope().is_none() {
        return None;
    }
    let of_terms = |terms: &[Term<Known>]| terms.iter().map(|term| term.label).find(|known| known.label == label);
    let leaf = ir.node(node).leaf();
    let of_leaf = leaf.and_then(|leaf| leaf.derived.labels().copied().find(|known| known.label == label));
    let own = of_leaf.or_else(|| ir.node(node).times().and_then(|(_, rounds)| of_terms(&rounds.terms)));
    let argument = || ir.node(node).scope()?.arguments.iter().find(|known| known.label == label).copied();
    let own = own.or_else(argument);
    own.or_else(|| ir.children(node).iter().find_map(|&child| known_in(ir, child, label)))
}

/// Returns true if numbers of fixed width measure parts of a scope, or parts of scopes in it.
pub(super) fn has_fields(ir: &Ir, scope: &Scope) -> bool {
    fn has_some(ir: &Ir, node: NodeId) -> bool {
        match ir.node(node).scope() {
            Some(scope) => scope.arguments.is_empty() && has_fields(ir, scope),
            None => !ir.free(node).is_empty() && ir.children(node).iter().any(|&child| has_some(ir, child)),
        }
    }
    !scope.fields.is_empty() || has_some(ir, scope.body)
}

/// Returns true if a number bounds what it measures where its width is fixed.
pub(super) fn bounds(value: &Value<Known>) -> bool {
    !value.terms.iter().any(|term| term.measure.is_of_content() || term.measure.is_of_place())
}

/// Computes lengths of shortest texts where some parts are not the shortest.
#[derive(Clone, Copy)]
pub(super) struct Walk<'w> {
    labels: &'w Labels,
    ir: &'w Ir,
    /// Labels whose parts are taken to be so much longer.
    longer: &'w [Longer],
    /// The scopes that the walk has come into, which are not open.
    within: Option<&'w Within<'w>>,
    /// The parts of open scopes that the walk has computed.
    memo: &'w Memo,
}

/// Lengths by which parts are longer that are not known yet. Each is computed once in a walk: without this, copies of
/// copies would take exponential time.
#[derive(Default)]
pub(super) struct Memo {
    parts: RefCell<Vec<(LabelId, (i64, u64))>>,
    calls: RefCell<Map<Call, i64>>,
}

/// A rule, with the lengths and the rounds of the parts that its parameters stand for.
type Call = (NodeId, Vec<(u64, u64)>);

/// A scope that a walk has come into.
struct Within<'w> {
    scope: &'w Scope,
    outer: Option<&'w Within<'w>>,
    /// The round that it sees, if it is a mirror.
    view: View,
    /// The lengths and the rounds of the parts with its labels, if these are parameters.
    given: &'w [(u64, u64)],
    memo: Memo,
}

impl<'w> Within<'w> {
    fn new(scope: &'w Scope, outer: Option<&'w Within<'w>>) -> Within<'w> {
        Within { scope, outer, view: View::Shortest, given: &[], memo: Memo::default() }
    }
}

/// Returns how much longer the shortest text of each of these references to rules is than if the parts that are given
/// were empty: they are the shortest.
pub fn longer_calls(ir: &Ir, references: impl Iterator<Item = NodeId>) -> Vec<u64> {
    let (labels, memo) = (Labels::new(ir), Memo::default());
    let longer = |node: NodeId| {
        let Some(scope) = ir.node(node).scope() else { return 0 };
        let walk = Walk::new(&labels, ir, &[], &memo);
        let called =
            |given: &dyn Fn(&Known) -> (u64, u64)| walk.called(scope, scope.arguments.iter().map(given).collect());
        let (shortest, empty) = (called(&|known| (known.len, known.rounds)), called(&|_| (0, 0)));
        u64::try_from(shortest.saturating_sub(empty)).unwrap_or(0)
    };
    references.map(longer).collect()
}

impl<'w> Walk<'w> {
    /// Returns a walk from the open scopes on.
    pub fn new(labels: &'w Labels, ir: &'w Ir, longer: &'w [Longer], memo: &'w Memo) -> Walk<'w> {
        Walk { labels, ir, longer, within: None, memo }
    }
}

impl Walk<'_> {
    /// Returns how much longer the rest of a sequence is, without the part that is taken to be longer.
    pub fn rest(self, body: NodeId) -> i64 {
        self.items(body).iter().fold(0i64, |sum, &item| {
            let is_own = self.labels_of(item).any(|(label, _)| self.longer.iter().any(|longer| longer.0 == label));
            let more = match self.ir.node(item).items() {
                _ if is_own => 0,
                // A group without a label is a part of the sequence.
                Some(_) => self.rest(item),
                None => self.extra(item),
            };
            sum.saturating_add(more)
        })
    }

    /// Returns the items of a sequence; a node of another kind by itself.
    fn items(&self, body: NodeId) -> Vec<NodeId> {
        self.ir.node(body).items().map_or_else(|| vec![body], <[NodeId]>::to_vec)
    }

    /// Returns the labels of an item, outer ones first, each with its part.
    fn labels_of(&self, item: NodeId) -> impl Iterator<Item = (LabelId, NodeId)> {
        let without_codes = |mut node: NodeId| {
            while let Some((_, body)) = self.ir.node(node).coded() {
                node = body;
            }
            node
        };
        let of = move |node: NodeId| self.ir.node(without_codes(node)).label().map(|(label, _, body)| (label, body));
        std::iter::successors(of(item), move |&(_, body)| of(body))
    }

    /// Returns how much longer the shortest text of a node is than it could be. Padding gets shorter where its part
    /// gets longer; both together do not.
    pub fn extra(self, node: NodeId) -> i64 {
        let (ir, kind) = (self.ir, self.ir.node(node));
        if ir.free(node).is_empty() {
            return 0;
        }
        if let Some(leaf) = kind.leaf() {
            return self.of_leaf(leaf);
        }
        if let Some((item, rounds)) = kind.times() {
            let (each, number) = (ir.facts(item).min_len, self.value(rounds));
            let all = match ir.node(item).scope().and_then(|scope| Some((scope, scope.mirrored()?))) {
                Some((scope, label)) => self.mirrors((item, scope), label, number),
                // A rule may have itself in rounds that there are none of.
                None if number == 0 => 0,
                None => number.saturating_mul(each.saturating_add_signed(self.extra(item))),
            };
            return difference(all, least(rounds).saturating_mul(each));
        }
        if let Some((codec, body)) = kind.coded() {
            let least = ir.facts(body).min_len;
            return difference(codec.longest(least.saturating_add_signed(self.extra(body))), codec.longest(least));
        }
        if let Some(scope) = kind.scope().filter(|scope| !scope.arguments.is_empty()) {
            return self.call(scope).saturating_sub_unsigned(scope.longer);
        }
        if let Some(scope) = kind.scope() {
            return Walk { within: Some(&Within::new(scope, self.within)), ..self }.extra(scope.body);
        }
        match kind.first() {
            First::Times(_, 0) => 0,
            First::Times(items, times) => {
                let once = items.iter().fold(0, |sum: i64, &item| sum.saturating_add(self.extra(item)));
                once.saturating_mul(times.into())
            }
            First::Instance(rule) => self.ir.body(rule).map_or(0, |body| self.extra(body)),
            First::Bytes(_) | First::Member(_) => 0,
        }
    }

    /// Returns how much longer the shortest text of a rule is, given the parts that its parameters stand for, than if
    /// these were empty. Nothing else outside the rule makes it longer.
    fn call(self, scope: &Scope) -> i64 {
        let of = |known: &Known| {
            let (len, rounds) = self.longer(known);
            (known.len.saturating_add_signed(len), known.rounds.saturating_add(rounds))
        };
        self.called(scope, scope.arguments.iter().map(of).collect())
    }

    /// Returns what [`Walk::call`] does, given the lengths and the rounds of the parts.
    fn called(self, scope: &Scope, given: Vec<(u64, u64)>) -> i64 {
        let call = (scope.body, given);
        if let Some(&found) = self.memo.calls.borrow().get(&call) {
            return found;
        }
        let within = Within { given: &call.1, ..Within::new(scope, None) };
        let found = Walk { longer: &[], within: Some(&within), ..self }.extra(scope.body);
        self.memo.calls.borrow_mut().insert(call, found);
        found
    }

    /// Returns by how much the part that a parameter stands for is longer, in a rule that the walk has come into.
    fn of_parameter(self, known: &Known) -> Option<(i64, u64)> {
        let mut within = std::iter::successors(self.within, |within| within.outer);
        within.find_map(|within| {
            // The labels of parameters have numbers in a row.
            let place = known.label.index().checked_sub(within.scope.labels.first()?.index())?;
            let (len, rounds) = *within.given.get(place)?;
            Some((difference(len, known.len), rounds.saturating_sub(known.rounds)))
        })
    }

    fn of_leaf(self, leaf: &Leaf) -> i64 {
        match &leaf.derived {
            Derived::Copy(known) => self.longer(known).0,
            Derived::Bits(_) => 0,
            Derived::Number(_, form) if form.fixed_width().is_some() => 0,
            Derived::Number(value, form) => difference(form.width(self.value(value)), leaf.min_len),
            Derived::Padding(known, padding) => {
                let len = known.len.saturating_add_signed(self.longer(known).0);
                difference(padding.width(len), leaf.min_len)
            }
        }
    }

    /// Returns a number. Checksums and offsets count as 0.
    fn value(self, value: &Value<Known>) -> u64 {
        let of_term = |term: &Term<Known>| {
            let known = &term.label;
            match term.measure {
                Measure::Len => known.len.saturating_add_signed(self.longer(known).0),
                Measure::Count => known.rounds.saturating_add(self.longer(known).1),
                Measure::Offset | Measure::Base | Measure::Sum(_) | Measure::Digest(_) => 0,
            }
        };
        value.of(of_term).max(0).unsigned_abs()
    }

    /// Returns by how much the part of a label is longer than the shortest, in bytes and in rounds.
    fn longer(self, known: &Known) -> (i64, u64) {
        if let Some(found) = self.of_round(known) {
            return found;
        }
        if let Some(found) = self.of_parameter(known) {
            return found;
        }
        if let Some(&(_, len, rounds)) = self.longer.iter().find(|longer| longer.0 == known.label) {
            return (len, rounds);
        }
        let mut within = self.within;
        while let Some(Within { scope, outer, memo, .. }) = within {
            // Another instance of the rule may know a part with this label, which is another part.
            if let Some(body) = self.part(scope, known.label) {
                return Walk { within, ..self }.once(memo, body, known);
            }
            within = *outer;
        }
        if let Some(span) = self.labels.known(known.label) {
            return span.longer(known);
        }
        let open = self.labels.scopes.iter().rev();
        let mut scopes = open.filter_map(|open| self.ir.node(open.node).scope());
        let body = scopes.find_map(|scope| self.part(scope, known.label));
        body.map_or((0, 0), |body| Walk { within: None, ..self }.once(self.memo, body, known))
    }

    /// Returns what [`Walk::longer_part`] does, computed once for each label.
    fn once(self, memo: &Memo, body: NodeId, known: &Known) -> (i64, u64) {
        if let Some((_, found)) = memo.parts.borrow().iter().find(|(label, _)| *label == known.label) {
            return *found;
        }
        let found = self.longer_part(body, known);
        memo.parts.borrow_mut().push((known.label, found));
        found
    }

    /// Returns the part of a label of this scope.
    pub fn part(&self, scope: &Scope, label: LabelId) -> Option<NodeId> {
        if scope.labels.contains(&label) { self.part_in(scope.body, label) } else { None }
    }

    /// Returns the part of a label in a sequence and its groups.
    fn part_in(&self, body: NodeId, label: LabelId) -> Option<NodeId> {
        self.items(body).iter().find_map(|&item| {
            let own = self.labels_of(item).find(|&(own, _)| own == label).map(|(_, body)| body);
            own.or_else(|| {
                let group = self.labels_of(item).last().map_or(item, |(_, body)| body);
                self.ir.node(group).items().and_then(|_| self.part_in(group, label))
            })
        })
    }

    /// Returns by how much the shortest part is longer than it could be, in bytes and in rounds.
    pub fn longer_part(self, body: NodeId, known: &Known) -> (i64, u64) {
        let times = self.ir.node(body).times();
        (self.extra(body), times.map_or(0, |(_, rounds)| self.value(rounds).saturating_sub(known.rounds)))
    }

    /// Returns true if the numbers of fixed width fit into their fields, in a scope and in all that is in it.
    pub fn fields_fit(self, scope: &Scope) -> bool {
        scope.fields.iter().all(|field| self.value(&field.value) <= field.greatest)
            && self.fields_within_fit(scope.body)
    }

    /// Returns true if the numbers of fixed width fit that wait for parts, from this one on. Their other parts may have
    /// labels that are not seen any more.
    pub fn waiting_fit(self, from: usize) -> bool {
        let mut waiting = self.labels.waiting.get(from..).unwrap_or_default().iter().filter(|waiting| waiting.bounds);
        waiting.all(|waiting| {
            let mark = self.labels.marks.get(waiting.mark as usize);
            let Some(leaf) = mark.and_then(|mark| self.ir.node(mark.node).leaf()) else { return true };
            let mut spans = waiting.spans.iter();
            leaf.derived.values().all(|(value, greatest)| {
                let mut parts = value.labels().zip(spans.by_ref()).map(|(_, span)| *span);
                let of_term = |term: &Term<Known>| self.waiting_term(term, parts.next().flatten());
                value.of(of_term).max(0).unsigned_abs() <= greatest || !bounds(value)
            })
        })
    }

    /// Returns a term of a number that waits, given its part if that is complete.
    fn waiting_term(self, term: &Term<Known>, part: Option<Span>) -> u64 {
        let known = &term.label;
        let (len, rounds) = part.map_or_else(|| self.longer(known), |span| span.longer(known));
        match term.measure {
            Measure::Len => known.len.saturating_add_signed(len),
            Measure::Count => known.rounds.saturating_add(rounds),
            Measure::Offset | Measure::Base | Measure::Sum(_) | Measure::Digest(_) => 0,
        }
    }

    fn fields_within_fit(self, node: NodeId) -> bool {
        let ir = self.ir;
        if ir.free(node).is_empty() {
            return true;
        }
        if let Some((item, rounds)) = ir.node(node).times()
            && let Some(scope) = ir.node(item).scope().filter(|scope| scope.mirrored().is_some())
        {
            return self.mirrors_fit((item, scope), self.value(rounds));
        }
        match ir.node(node).scope() {
            // Numbers in a rule are wide enough for what its parameters stand for.
            Some(scope) if !scope.arguments.is_empty() => true,
            Some(scope) => Walk { within: Some(&Within::new(scope, self.within)), ..self }.fields_fit(scope),
            None => ir.children(node).iter().all(|&child| self.fields_within_fit(child)),
        }
    }

    /// Returns true if the numbers of fixed width fit into their fields in this number of mirrors.
    fn mirrors_fit(self, (item, scope): (NodeId, &Scope), number: u64) -> bool {
        let fits = |view| {
            let within = Within { view, ..Within::new(scope, self.within) };
            Walk { within: Some(&within), ..self }.fields_fit(scope)
        };
        let complete = scope.mirrored().and_then(|label| self.complete(label));
        let (done, is_open) = complete.map_or((0, false), |rounds| (rounds.number(), rounds.has_open_round()));
        let has_more = number > done + u64::from(is_open);
        // Complete rounds fit once all that they follow from is known.
        let first = if self.is_known(item) { done } else { 0 };
        (!has_more || fits(View::Shortest))
            && (!is_open || fits(View::Open))
            && (first..done).all(|round| fits(View::Round(round as usize)))
    }

    /// Returns true if all that a mirror follows from is known, but the repetition: its complete rounds fit then.
    fn is_known(self, mirror: NodeId) -> bool {
        let label = self.ir.node(mirror).scope().and_then(Scope::mirrored);
        let mut others = self.ir.free(mirror).iter().filter(|&&other| Some(other) != label);
        others.all(|&other| self.labels.known(other).is_some())
    }

    /// Returns the rounds of a repetition of an open scope that are derived already.
    fn complete(&self, label: LabelId) -> Option<&Complete> {
        let mut within = std::iter::successors(self.within, |within| within.outer);
        let is_later = within.any(|within| within.scope.labels.contains(&label));
        if is_later { None } else { self.labels.mirrored.complete(label) }
    }

    /// Returns the length of the shortest mirrors of this number of rounds of the repetition with a label.
    fn mirrors(self, (item, scope): (NodeId, &Scope), label: LabelId, number: u64) -> u64 {
        let each = self.ir.facts(item).min_len;
        let one = |view| each.saturating_add_signed(self.mirror(scope, view));
        let Some(complete) = self.complete(label) else { return number.saturating_mul(one(View::Shortest)) };
        let done = complete.extra(item, |round| self.mirror(scope, View::Round(round)));
        let done = complete.number().saturating_mul(each).saturating_add_signed(done);
        let is_open = complete.has_open_round();
        let open = if is_open { one(View::Open) } else { 0 };
        let more = number.saturating_sub(complete.number() + u64::from(is_open));
        let more = if more > 0 { more.saturating_mul(one(View::Shortest)) } else { 0 };
        done.saturating_add(open).saturating_add(more)
    }

    /// Returns by how much the shortest mirror of a round is longer than it could be.
    fn mirror(self, scope: &Scope, view: View) -> i64 {
        let within = Within { view, ..Within::new(scope, self.within) };
        Walk { within: Some(&within), ..self }.extra(scope.body)
    }

    /// Returns by how much the part of a label is longer than the shortest that a mirror sees in a round. `None` if it
    /// is no such label, or the round is being derived.
    fn of_round(self, known: &Known) -> Option<(i64, u64)> {
        let mut within = std::iter::successors(self.within, |within| within.outer);
        let mirror = within.find(|within| within.scope.labels.contains(&known.label))?;
        let label = mirror.scope.mirrored()?;
        match mirror.view {
            View::Open => None,
            View::Shortest => Some(self.of_shortest_round(mirror, label, known)),
            View::Round(number) => {
                let place = mirror.scope.labels.iter().position(|own| *own == known.label)?;
                let span = self.complete(label).and_then(|complete| complete.part(number, place));
                Some(span.map_or((0, 0), |span| span.longer(known)))
            }
        }
    }

    /// Returns by how much the part of a label is longer than it could be in the shortest round of the repetition with
    /// another one.
    fn of_shortest_round(self, mirror: &Within<'_>, label: LabelId, known: &Known) -> (i64, u64) {
        let mut outer = std::iter::successors(mirror.outer, |within| within.outer);
        let owner = outer.find(|within| within.scope.labels.contains(&label));
        let mut open = self.labels.scopes.iter().rev().filter_map(|open| self.ir.node(open.node).scope());
        let scope = owner.map(|within| within.scope).or_else(|| open.find(|scope| scope.labels.contains(&label)));
        let body = scope.and_then(|scope| self.part(scope, label));
        // A repetition of one round is the round itself.
        let rounds = body.into_iter().flat_map(|body| self.ir.children(body).iter().copied().chain([body]));
        let mut rounds = rounds.filter_map(|node| self.ir.node(node).scope());
        let Some(round) = rounds.find(|scope| scope.round_of() == Some(label)) else { return (0, 0) };
        let Some(body) = self.part(round, known.label) else { return (0, 0) };
        let within = Within::new(round, owner);
        // Parts of the round that is being derived stand after the repetition, and are longer in that round alone.
        let own = self.longer.iter().position(|longer| longer.0 == label).map_or(self.longer.len(), |at| at + 1);
        Walk { within: Some(&within), longer: &self.longer[..own], ..self }.longer_part(body, known)
    }
}
