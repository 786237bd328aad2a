//! The labelled parts of a text that is being derived: where they are, what they leave of the slack, and the bytes that
//! follow from them.
//!
//! A part that others follow from makes them longer as it gets longer itself. So a part gets the greatest slack with
//! which all of the rest still fits ([`Labels::enter`]), and is charged for what it and the rest need
//! ([`Labels::leave`]). The rest is as short as it can be: what makes it longer pays for that itself
//! ([`Labels::extra`]).
//!
//! Bytes that follow from parts which stand later, or which are not final, are filled in at the end
//! ([`Labels::settle`]).

mod settle;

pub use settle::Moves;

use crate::derived::{Derived, Form, Measure, Term, Value};
use crate::ir::labels::least;
use crate::ir::{Composition, Count, Ir, Known, LabelId, Leaf, NodeId, Scope};

use settle::{Mark, Span};

/// From this on a slack is no limit: what is paid from none leaves about as much.
const FREE: u64 = 1 << 62;

/// The labelled parts of a text.
#[derive(Debug, Default)]
pub struct Labels {
    /// Whether the grammar has labels.
    are_used: bool,
    /// The part of each label that is seen.
    parts: Vec<State>,
    /// States of labels outside the open scopes.
    outside: Vec<State>,
    scopes: Vec<OpenScope>,
    open: Vec<Open>,
    marks: Vec<Mark>,
    /// Marks that wait for labels of open scopes.
    waiting: Vec<u32>,
    /// The number of bytes by which what was emitted will be longer.
    inserted: u64,
}

/// The part of a label, as far as it is known.
#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// The part comes later, or never.
    #[default]
    Unknown,
    /// The part is complete.
    Known(Span),
}

/// A scope that is being derived.
#[derive(Clone, Copy, Debug)]
struct OpenScope {
    node: NodeId,
    /// The number of marks that waited before.
    waiting: usize,
}

/// A labelled part that is being derived.
#[derive(Clone, Copy, Debug)]
struct Open {
    label: LabelId,
    from: u64,
    inserted: u64,
    first_mark: u32,
    /// The slack outside at the beginning, and the slack that the part was given since.
    outside: u64,
    given: u64,
    /// The repetition whose rounds are counted.
    counted: Option<NodeId>,
    rounds: u64,
}

/// A label, and how much longer its part is than the shortest: in bytes and in rounds.
type Longer = (LabelId, u64, u64);

impl Labels {
    /// Returns no labelled parts of this grammar yet.
    pub fn new(ir: &Ir) -> Labels {
        Labels { are_used: ir.has_labels(), ..Labels::default() }
    }

    /// Returns true if the grammar has labels.
    #[inline]
    pub fn are_used(&self) -> bool {
        self.are_used
    }

    /// Begins a scope.
    pub fn enter_scope(&mut self, ir: &Ir, node: NodeId) {
        let Some(scope) = ir.node(node).scope() else { return };
        self.parts.resize(ir.label_count(), State::Unknown);
        for label in &scope.labels {
            self.outside.push(std::mem::take(&mut self.parts[label.index()]));
        }
        self.scopes.push(OpenScope { node, waiting: self.waiting.len() });
    }

    /// Ends the scope that was begun last.
    pub fn leave_scope(&mut self, ir: &Ir) {
        let Some(OpenScope { node, waiting }) = self.scopes.pop() else { return };
        debug_assert_eq!(self.waiting.len(), waiting, "all labels of the scope are known");
        self.waiting.truncate(waiting);
        let Some(scope) = ir.node(node).scope() else { return };
        for label in scope.labels.iter().rev() {
            self.parts[label.index()] = self.outside.pop().unwrap_or_default();
        }
    }

    /// Begins a labelled part after so many emitted bytes. Returns the slack within it.
    pub fn enter(&mut self, ir: &Ir, (label, count, body): (LabelId, Count, NodeId), emitted: u64, slack: u64) -> u64 {
        let slack = if slack >= FREE { u64::MAX } else { slack };
        let given = self.greatest(ir, label, 0, slack);
        let counted = (count == Count::Counted).then_some(body);
        let (inserted, first_mark) = (self.inserted, self.marks.len() as u32);
        self.open.push(Open { label, from: emitted, inserted, first_mark, outside: slack, given, counted, rounds: 0 });
        given
    }

    /// Ends the labelled part that was begun last, after so many emitted bytes. `least` is its least length.
    /// Returns the slack after it.
    pub fn leave(&mut self, ir: &Ir, emitted: u64, least: u64, count: Count) -> u64 {
        let Some(open) = self.open.pop() else { return u64::MAX };
        let len = emitted - open.from + (self.inserted - open.inserted);
        let rounds = match count {
            Count::Fixed(rounds) => rounds.into(),
            Count::Counted | Count::Unused => open.rounds,
        };
        let marks = (open.first_mark, self.marks.len() as u32);
        let span = Span { raw: (open.from, emitted), len, rounds, marks };
        self.parts[open.label.index()] = State::Known(span);
        self.resolve(ir);
        if open.outside == u64::MAX {
            return u64::MAX;
        }
        let further = open.rounds.saturating_sub(self.least_rounds(ir, open.label));
        let cost = self.cost(ir, (open.label, len.saturating_sub(least), further));
        open.outside.saturating_sub(cost)
    }

    /// Returns the slack within the part that was begun last if it has one more round, whatever the round costs. `None`
    /// if it does not fit.
    pub fn round(&self, ir: &Ir, slack: u64) -> Option<u64> {
        let open = self.open.last()?;
        let given = self.greatest_of_round(ir, open, open.rounds + 1)?;
        if slack >= FREE {
            return Some(slack);
        }
        let lost = open.given.saturating_sub(given);
        slack.checked_sub(lost)
    }

    /// Notes that a round of the part that was begun last begins.
    pub fn begin_round(&mut self, ir: &Ir) {
        let Some(mut open) = self.open.pop() else { return };
        open.rounds += 1;
        let given = self.greatest_of_round(ir, &open, open.rounds);
        open.given = given.unwrap_or(open.given).min(open.given);
        self.open.push(open);
    }

    /// Returns true if the part that was begun last is this repetition, and its rounds are counted.
    pub fn counts_rounds(&self, node: NodeId) -> bool {
        self.open.last().is_some_and(|open| open.counted == Some(node))
    }

    /// Returns the value of a number of rounds.
    pub fn rounds(&self, value: &Value<Known>) -> u64 {
        self.value(value).unwrap_or_else(|| least(value))
    }

    /// Returns by how much the shortest text of a node is longer than it could be, as the parts that it refers to are
    /// not the shortest.
    #[inline]
    pub fn extra(&self, ir: &Ir, node: NodeId) -> u64 {
        if ir.free(node).is_empty() {
            return 0;
        }
        let scope = self.scopes.last().map(|scope| scope.node);
        Walk { labels: self, ir, longer: None, scope }.extra(node)
    }

    /// Emits the bytes of a leaf, or zeros and a mark if they are not known yet.
    pub fn emit(&mut self, node: NodeId, leaf: &Leaf, output: &mut Vec<u8>, base: usize) {
        let at = (output.len() - base) as u64;
        match &leaf.derived {
            Derived::Copy(known) => {
                let Some(span) = self.known(known.label) else { return };
                let (from, to) = (base + span.raw.0 as usize, base + span.raw.1 as usize);
                output.extend_from_within(from..to);
                if span.has_marks() {
                    let raw = span.raw.1 - span.raw.0;
                    self.marks.push(Mark { node, at, raw, width: span.len, spans: vec![span] });
                    self.inserted += span.len - raw;
                }
            }
            Derived::Number(value, form) => match self.spans(value) {
                Some(spans) if spans.iter().zip(&value.terms).all(|(span, term)| span.is_final(term.measure)) => {
                    let number = settle::number(value, &spans, |span| &output[base..][span.range()]);
                    form.write(number, output);
                }
                Some(spans) => {
                    let width = form.width(settle::number(value, &spans, |_| &[]));
                    output.resize(output.len() + width as usize, 0);
                    self.marks.push(Mark { node, at, raw: width, width, spans });
                }
                None => {
                    output.resize(output.len() + leaf.min_len as usize, 0);
                    self.waiting.push(self.marks.len() as u32);
                    self.marks.push(Mark { node, at, raw: leaf.min_len, width: leaf.min_len, spans: Vec::new() });
                }
            },
        }
    }

    /// Fills in all bytes that were not known when they were emitted. `None` if there are none.
    pub fn settle(&mut self, ir: &Ir, output: &mut Vec<u8>, base: usize) -> Option<Moves> {
        let marks = std::mem::take(&mut self.marks);
        (!marks.is_empty()).then(|| settle::settle(ir, &marks, output, base))
    }

    fn known(&self, label: LabelId) -> Option<Span> {
        match self.parts.get(label.index())? {
            State::Known(span) => Some(*span),
            State::Unknown => None,
        }
    }

    /// Returns the parts of all terms, if all are known.
    fn spans(&self, value: &Value<Known>) -> Option<Vec<Span>> {
        value.terms.iter().map(|term| self.known(term.label.label)).collect()
    }

    fn value(&self, value: &Value<Known>) -> Option<u64> {
        Some(settle::number(value, &self.spans(value)?, |_| &[]))
    }

    /// Tells the marks that have waited for the label of a part what the part is.
    fn resolve(&mut self, ir: &Ir) {
        let from = self.scopes.last().map_or(0, |scope| scope.waiting);
        let waiting = self.waiting.split_off(from.min(self.waiting.len()));
        for mark in waiting {
            let node = self.marks[mark as usize].node;
            let Some(Derived::Number(value, form)) = ir.node(node).leaf().map(|leaf| &leaf.derived) else { continue };
            let Some(spans) = self.spans(value) else {
                self.waiting.push(mark);
                continue;
            };
            let width = form.width(settle::number(value, &spans, |_| &[]));
            let found = &mut self.marks[mark as usize];
            self.inserted += width - found.raw;
            (found.width, found.spans) = (width, spans);
        }
    }

    /// Returns the scope of the labels of its sequence.
    fn scope<'i>(&self, ir: &'i Ir) -> Option<&'i Scope> {
        ir.node(self.scopes.last()?.node).scope()
    }

    /// Returns the least number of rounds of the part with a label, where something depends on it.
    fn least_rounds(&self, ir: &Ir, label: LabelId) -> u64 {
        let Some(scope) = self.scope(ir) else { return 0 };
        known_in(ir, scope.body, label).map_or(0, |known| known.rounds)
    }

    /// Returns by how much a part and the rest of its scope are longer if the part is so much longer.
    fn cost(&self, ir: &Ir, longer: Longer) -> u64 {
        let Some(scope) = self.scopes.last() else { return longer.1 };
        let rest = |longer| Walk { labels: self, ir, longer: Some(longer), scope: Some(scope.node) }.rest();
        let shortest = rest((longer.0, 0, 0));
        longer.1.saturating_add(rest(longer).saturating_sub(shortest))
    }

    /// Returns true if a part may be so much longer: the rest fits, and so do its numbers into their fields.
    fn fits(&self, ir: &Ir, longer: Longer, slack: u64) -> bool {
        let Some(scope) = self.scope(ir) else { return longer.1 <= slack };
        let walk = Walk { labels: self, ir, longer: Some(longer), scope: self.scopes.last().map(|scope| scope.node) };
        let measures = |value: &Value<Known>| value.terms.iter().any(|term| term.label.label == longer.0);
        let mut fields = scope.fields.iter().filter(|field| measures(&field.value));
        (slack == u64::MAX || self.cost(ir, longer) <= slack)
            && fields.all(|field| walk.value(&field.value) <= field.greatest)
    }

    /// Returns the greatest number of bytes by which a part with so many further rounds may be longer.
    fn greatest(&self, ir: &Ir, label: LabelId, rounds: u64, slack: u64) -> u64 {
        let is_measured = self.scope(ir).is_some_and(|scope| !scope.fields.is_empty());
        if slack == u64::MAX && !is_measured {
            return u64::MAX;
        }
        let fits = |len: u64| self.fits(ir, (label, len, rounds), slack);
        if slack == u64::MAX && fits(u64::MAX / 4) {
            return u64::MAX;
        }
        // Mostly each further byte costs as much as the first one.
        let first = self.cost(ir, (label, 1, rounds)).saturating_sub(self.cost(ir, (label, 0, rounds))).max(1);
        let (mut least, mut beyond) = (0, slack.min(u64::MAX / 4));
        let guess = slack / first;
        if guess < beyond && fits(guess) {
            least = guess;
            if !fits(guess + 1) {
                return guess;
            }
        }
        if fits(beyond) {
            return beyond;
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

    /// Returns the slack that an open part has with so many rounds; `None` if they do not fit.
    fn greatest_of_round(&self, ir: &Ir, open: &Open, rounds: u64) -> Option<u64> {
        let longer = rounds.saturating_sub(self.least_rounds(ir, open.label));
        self.fits(ir, (open.label, 0, longer), open.outside)
            .then(|| self.greatest(ir, open.label, longer, open.outside))
    }
}

/// Returns a reference to a label in a part.
fn known_in(ir: &Ir, node: NodeId, label: LabelId) -> Option<Known> {
    if ir.free(node).is_empty() && ir.node(node).scope().is_none() {
        return None;
    }
    let of_terms = |terms: &[Term<Known>]| terms.iter().map(|term| term.label).find(|known| known.label == label);
    let of_leaf =
        ir.node(node).leaf().and_then(|leaf| leaf.derived.labels().copied().find(|known| known.label == label));
    let own = of_leaf.or_else(|| ir.node(node).times().and_then(|(_, rounds)| of_terms(&rounds.terms)));
    own.or_else(|| ir.children(node).iter().find_map(|&child| known_in(ir, child, label)))
}

/// Computes lengths of shortest texts where some parts are not the shortest.
#[derive(Clone, Copy)]
struct Walk<'w> {
    labels: &'w Labels,
    ir: &'w Ir,
    /// A label whose part is taken to be so much longer.
    longer: Option<Longer>,
    /// The scope that labels are looked for in which are not known yet.
    scope: Option<NodeId>,
}

impl Walk<'_> {
    /// Returns how much longer the rest of the scope is, without the part that is taken to be longer.
    fn rest(self) -> u64 {
        let Some(node) = self.scope else { return 0 };
        let Some(scope) = self.ir.node(node).scope() else { return 0 };
        self.items(scope.body).iter().fold(0, |sum, &item| {
            let is_own = self.labels_of(item).any(|(label, _)| self.longer.is_some_and(|longer| longer.0 == label));
            if is_own { sum } else { sum.saturating_add(self.extra(item)) }
        })
    }

    /// Returns the items of a sequence; a node of another kind by itself.
    fn items(&self, body: NodeId) -> Vec<NodeId> {
        self.ir.node(body).items().map_or_else(|| vec![body], <[NodeId]>::to_vec)
    }

    /// Returns the labels of an item, outer ones first, each with its part.
    fn labels_of(&self, item: NodeId) -> impl Iterator<Item = (LabelId, NodeId)> {
        let of = |node: NodeId| self.ir.node(node).label().map(|(label, _, body)| (label, body));
        std::iter::successors(of(item), move |&(_, body)| of(body))
    }

    fn extra(self, node: NodeId) -> u64 {
        let ir = self.ir;
        if ir.free(node).is_empty() {
            return 0;
        }
        match ir.node(node).composition() {
            Composition::Bytes(_) | Composition::Class(_) | Composition::Instance(..) => 0,
            Composition::All(items) => items.iter().fold(0, |sum: u64, &item| sum.saturating_add(self.extra(item))),
            Composition::One(choice) => choice.options.first().map_or(0, |&first| self.extra(first)),
            Composition::Rounds { item, min, .. } => self.extra(item).saturating_mul(min.into()),
            Composition::Derived(leaf) => self.of_leaf(leaf),
            Composition::Times { item, rounds } => {
                let each = ir.facts(item).min_len;
                let all = self.value(rounds).saturating_mul(each.saturating_add(self.extra(item)));
                all.saturating_sub(least(rounds).saturating_mul(each))
            }
            Composition::Label(_, _, body) => self.extra(body),
            Composition::Scope(scope) => Walk { scope: Some(node), ..self }.extra(scope.body),
        }
    }

    fn of_leaf(self, leaf: &Leaf) -> u64 {
        match &leaf.derived {
            Derived::Copy(known) => self.longer(known).0,
            Derived::Number(_, Form::Integer(..) | Form::Text(_, Some(_))) => 0,
            Derived::Number(value, form) => form.width(self.value(value)).saturating_sub(leaf.min_len),
        }
    }

    /// Returns a number. Checksums count as 0.
    fn value(self, value: &Value<Known>) -> u64 {
        let of_term = |term: &Term<Known>| {
            let known = &term.label;
            match term.measure {
                Measure::Len => known.len.saturating_add(self.longer(known).0),
                Measure::Count => known.rounds.saturating_add(self.longer(known).1),
                Measure::Sum(_) => 0,
            }
        };
        value.of(of_term).max(0).unsigned_abs()
    }

    /// Returns by how much the part of a label is longer than the shortest, in bytes and in rounds.
    fn longer(self, known: &Known) -> (u64, u64) {
        if let Some((label, len, rounds)) = self.longer
            && label == known.label
        {
            return (len, rounds);
        }
        if let Some(span) = self.labels.known(known.label) {
            return (span.len.saturating_sub(known.len), span.rounds.saturating_sub(known.rounds));
        }
        let Some(node) = self.scope else { return (0, 0) };
        let Some(scope) = self.ir.node(node).scope() else { return (0, 0) };
        let items = self.items(scope.body);
        let found = items.iter().find_map(|&item| self.labels_of(item).find(|&(label, _)| label == known.label));
        (found.map_or(0, |(_, body)| self.extra(body)), 0)
    }
}
