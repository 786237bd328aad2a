//! The labelled parts of a text that is being derived: where they are, what they leave of the slack, and the bytes that
//! follow from them.
//!
//! A part that others follow from makes them longer as it gets longer itself. So a part gets the greatest slack with
//! which all of the rest still fits ([`Labels::begin`]), and is charged for what it and the rest need
//! ([`Labels::end`]). The rest is as short as it can be: what makes it longer pays for that itself
//! ([`Labels::offered`]).
//!
//! Bytes that follow from parts which stand later, or which are not final, are filled in at the end
//! ([`Labels::settle`]).

mod codes;
mod names;
mod room;
mod rounds;
mod settle;
mod walk;

pub use settle::Moves;
pub(crate) use walk::longer_calls;

use crate::derived::{Bits, Derived, Value};
use crate::ir::labels::least;
use crate::ir::{Choice, Count, Ir, KindId, Known, LabelId, Leaf, NodeId, Rounds, Uniques};
use crate::naming::Naming;

use codes::Codes;
use names::Names;
use rounds::{Complete, Mirrored};
use settle::{Mark, Piece, Span, difference};
use walk::{Memo, Walk};

/// The greatest length of a text with labels, in bytes, if no other limit is set: copies of copies would grow without
/// bound.
pub const MAX_LEN: u64 = 1 << 26;

/// The most digits of a number that makes a name unique: there are fewer names than bytes.
const MOST_DIGITS: u64 = 20;

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
    waiting: Vec<Waiting>,
    /// The number of bytes by which what was emitted will be longer, or shorter.
    inserted: i64,
    names: Names,
    codes: Codes,
    mirrored: Mirrored,
}

/// A number that waits for parts to be complete.
#[derive(Debug)]
struct Waiting {
    mark: u32,
    /// The parts of its terms, as far as they are known.
    spans: Vec<Option<Span>>,
    /// Whether its width is fixed, and it bounds the parts.
    bounds: bool,
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
    inserted: i64,
    first_mark: u32,
    /// The slack outside at the beginning, and the slack that the part was given since.
    outside: u64,
    given: u64,
    /// By how much the shortest part was longer at the beginning than the least, and the same of it with what follows
    /// from it.
    shortest: i64,
    before: i64,
    /// The part, and the numbers of open scopes and of open coded parts around it.
    body: NodeId,
    level: (usize, usize),
    /// The repetition whose rounds are counted.
    counted: Option<NodeId>,
    rounds: u64,
}

impl Labels {
    /// Returns no labelled parts of this grammar yet.
    pub fn new(ir: &Ir) -> Labels {
        Labels { are_used: ir.has_labels(), names: Names::new(ir), mirrored: Mirrored::new(ir), ..Labels::default() }
    }

    /// Returns the limit on the length that holds for a grammar if this one is asked for. Within it, each offset fits
    /// into its field.
    pub fn limit(ir: &Ir, max_len: Option<u64>) -> Option<u64> {
        let longest = ir.longest_text().unwrap_or(u64::MAX);
        if ir.has_labels() { Some(max_len.unwrap_or(MAX_LEN).min(longest)) } else { max_len }
    }

    /// Returns true if the grammar has labels.
    #[inline]
    pub fn are_used(&self) -> bool {
        self.are_used
    }

    /// Returns the number of places that are filled in at the end of the text or of the coded part.
    #[inline]
    pub fn marks(&self) -> u32 {
        self.marks.len() as u32
    }

    /// Begins a labelled part, a scope, a coded part, or a part that gives a name, at the byte `emitted` of the output.
    /// Returns the slack within it.
    pub fn begin(&mut self, ir: &Ir, node: NodeId, emitted: u64, slack: u64) -> u64 {
        if let Some(part) = ir.node(node).label() {
            return self.enter(ir, part, emitted, slack);
        }
        if let Some(part) = ir.node(node).coded() {
            return self.begin_code(ir, part, emitted, slack);
        }
        match ir.node(node).naming() {
            Some((Naming::Declare(kind), copy)) => self.declare(ir, *kind, copy),
            Some(part) => self.names.begin(ir, part, emitted),
            None => self.enter_scope(ir, node),
        }
        slack
    }

    /// Ends what was begun last, at the end of the output, which begins at `base`. Returns the slack after it.
    pub fn end(&mut self, ir: &Ir, node: NodeId, output: &mut Vec<u8>, base: usize, slack: u64) -> u64 {
        if ir.node(node).coded().is_some() {
            return self.end_code(ir, output, base);
        }
        match ir.node(node).naming() {
            Some((Naming::Declare(_), _)) => slack,
            Some((naming, _)) if naming.given().is_some() => slack.saturating_add(self.names.end(naming, output, base)),
            Some(_) | None => self.close(ir, node, &output[base..], slack),
        }
    }

    /// Ends the labelled part or the scope of labels or names that was begun last, at the end of a text. Nothing is
    /// written with it. Returns the slack after it.
    pub fn close(&mut self, ir: &Ir, node: NodeId, text: &[u8], slack: u64) -> u64 {
        if let Some((_, count, body)) = ir.node(node).label() {
            return self.leave(ir, text.len() as u64, ir.facts(body).min_len, count);
        }
        match ir.node(node).naming() {
            Some((naming, _)) => self.names.leave(naming, text),
            None => self.leave_scope(ir),
        }
        slack
    }

    /// Gives the part that a copy repeats as a name.
    fn declare(&mut self, ir: &Ir, kind: KindId, copy: NodeId) {
        if let Some(Derived::Copy(known)) = ir.node(copy).leaf().map(|leaf| &leaf.derived)
            && let Some(span) = self.known(known.label)
        {
            self.names.add(kind, span.raw);
        }
    }

    /// Returns the number of options that a choice offers with this slack. What an option costs depends on the text so
    /// far, and can be less than what the first one costs.
    pub fn offered(&self, ir: &Ir, node: NodeId, choice: &Choice, slack: u64) -> u32 {
        let first = choice.options[0];
        // Mostly there is room for all: the last option is the longest one, and a number has few digits.
        let last = choice.options.last().map_or(first, |&last| last);
        let costs_most = ir.facts(last).min_len.saturating_sub(ir.facts(first).min_len);
        let most = costs_most.saturating_add(ir.most_uniques(node).saturating_mul(MOST_DIGITS));
        if ir.free(node).is_empty() && ir.is_ordered() && most <= slack {
            return choice.options.len() as u32;
        }
        let fits = |&&option: &&NodeId| self.cost(ir, option, first) <= i128::from(slack);
        let offered =
            if slack == u64::MAX { choice.options.len() } else { choice.options.iter().take_while(fits).count() };
        // The first option is always there.
        offered.max(1) as u32
    }

    /// Notes the option that a choice takes. Returns the slack after it.
    pub fn choose(&mut self, ir: &Ir, choice: &Choice, option: NodeId, slack: u64) -> u64 {
        let first = choice.options[0];
        let cost = self.cost(ir, option, first);
        self.names.expect(ir.uniques(option), ir.uniques(first));
        paid(slack, cost)
    }

    /// Returns by how many bytes the shortest text gets longer if it has an option in place of another one.
    fn cost(&self, ir: &Ir, option: NodeId, instead_of: NodeId) -> i128 {
        let len = |node| i128::from(ir.facts(node).min_len) + i128::from(self.extra(ir, node));
        len(option) - len(instead_of) + self.names.cost(ir.uniques(option), ir.uniques(instead_of))
    }

    /// Returns the slack if a repetition has another round beyond its minimum. `None` if that does not fit.
    pub fn further(&self, ir: &Ir, node: NodeId, slack: u64) -> Option<u64> {
        let Rounds { item, .. } = ir.node(node).rounds()?;
        let slack = if self.counts_rounds(node) { self.round(ir, slack)? } else { slack };
        if !ir.is_open(node) {
            let len = ir.facts(item).min_len;
            return if slack == u64::MAX { Some(slack) } else { slack.checked_sub(len) };
        }
        let len = i128::from(ir.facts(item).min_len) + i128::from(self.extra(ir, item));
        let cost = len + self.names.cost(ir.uniques(item), Uniques::NONE);
        (slack == u64::MAX || cost <= i128::from(slack)).then(|| paid(slack, cost))
    }

    /// Notes that a round of a repetition begins, beyond its minimum if `is_further`.
    pub fn begin_round(&mut self, ir: &Ir, node: NodeId, is_further: bool) {
        if self.counts_rounds(node) {
            self.count_round(ir);
        }
        if is_further
            && ir.most_uniques(node) > 0
            && let Some(Rounds { item, .. }) = ir.node(node).rounds()
        {
            self.names.expect(ir.uniques(item), Uniques::NONE);
        }
    }

    /// Returns the number of names that a part may take.
    pub fn names_seen(&self, ir: &Ir, node: NodeId) -> u32 {
        match ir.node(node).naming() {
            Some((Naming::Use(kind), _)) => self.names.seen(*kind) as u32,
            _ => 0,
        }
    }

    /// Returns true if the part of a node may take the name with a number: 0 is the nearest one.
    pub fn name_fits(&self, ir: &Ir, (node, number): (NodeId, u32), slack: u64) -> bool {
        self.name(ir, node, number).is_some_and(|(_, cost)| slack == u64::MAX || cost <= i128::from(slack))
    }

    /// Writes the name that a part takes, which fits. Returns the slack after it.
    pub fn take_name(
        &mut self,
        ir: &Ir,
        (node, number): (NodeId, u32),
        slack: u64,
        output: &mut Vec<u8>,
        base: usize,
    ) -> u64 {
        let Some(((from, to), cost)) = self.name(ir, node, number) else { return slack };
        if let Some((_, other)) = ir.node(node).naming() {
            self.names.expect(Uniques::NONE, ir.uniques(other));
        }
        output.extend_from_within(base + from as usize..base + to as usize);
        paid(slack, cost)
    }

    /// Returns the place of a name that a part may take, and by how much the text gets longer by it.
    fn name(&self, ir: &Ir, node: NodeId, number: u32) -> Option<((u64, u64), i128)> {
        let (Naming::Use(kind), other) = ir.node(node).naming()? else { return None };
        let (from, to) = self.names.name(*kind, number as usize)?;
        let len = i128::from(to - from) - i128::from(ir.facts(other).min_len) - i128::from(self.extra(ir, other));
        // Unique names that would stand there need no room.
        Some(((from, to), len + self.names.cost(Uniques::NONE, ir.uniques(other))))
    }

    /// Begins a scope.
    fn enter_scope(&mut self, ir: &Ir, node: NodeId) {
        let Some(scope) = ir.node(node).scope() else { return };
        self.parts.resize(ir.label_count(), State::Unknown);
        // A parameter may be given to the rule that it is one of.
        let given: Vec<State> = scope.arguments.iter().map(|known| self.parts[known.label.index()]).collect();
        for label in &scope.labels {
            self.outside.push(std::mem::take(&mut self.parts[label.index()]));
        }
        let round = self.mirrored.begin(node, scope);
        for (label, state) in scope.labels.iter().zip(given.into_iter().chain(round)) {
            self.parts[label.index()] = state;
        }
        self.scopes.push(OpenScope { node, waiting: self.waiting.len() });
    }

    /// Ends the scope that was begun last.
    fn leave_scope(&mut self, ir: &Ir) {
        // Numbers in it that still wait do so for labels of outer scopes.
        let Some(OpenScope { node, .. }) = self.scopes.pop() else { return };
        let Some(scope) = ir.node(node).scope() else { return };
        self.mirrored.end(scope, &self.parts);
        for label in scope.labels.iter().rev() {
            self.parts[label.index()] = self.outside.pop().unwrap_or_default();
        }
    }

    /// Begins a labelled part at the byte `emitted` of the output. Returns the slack within it.
    fn enter(&mut self, ir: &Ir, (label, count, body): (LabelId, Count, NodeId), emitted: u64, slack: u64) -> u64 {
        let slack = if slack >= FREE { u64::MAX } else { slack };
        // Rounds that follow from earlier parts are known before they begin.
        let rounds = ir.node(body).times().map_or(0, |(_, rounds)| self.rounds(rounds));
        let room = self.room(ir);
        let (mut given, mut before, mut shortest) = (u64::MAX, 0, 0);
        if room.is_bounded(slack) {
            let least = room.shortest(label);
            let further = rounds.saturating_sub(room.least_rounds(label));
            (before, shortest) = (room.total(least), least.1);
            given = room.greatest((label, shortest, further), (slack, before));
        }
        let counted = (count == Count::Counted).then_some(body);
        let (inserted, first_mark) = (self.inserted, self.marks.len() as u32);
        let (outside, level) = (slack, self.level());
        self.open.push(Open {
            label,
            from: emitted,
            inserted,
            first_mark,
            outside,
            given,
            shortest,
            before,
            body,
            level,
            counted,
            rounds,
        });
        given
    }

    /// Ends the labelled part that was begun last, at the byte `emitted` of the output. `least` is its least length.
    /// Returns the slack after it.
    fn leave(&mut self, ir: &Ir, emitted: u64, least: u64, count: Count) -> u64 {
        let Some(open) = self.open.pop() else { return u64::MAX };
        let len = (emitted - open.from).saturating_add_signed(self.inserted - open.inserted);
        let rounds = match count {
            Count::Fixed(rounds) => rounds.into(),
            Count::Counted | Count::Unused => open.rounds,
        };
        let slack = match open.outside {
            u64::MAX => u64::MAX,
            outside => {
                let room = self.room(ir);
                let further = open.rounds.saturating_sub(room.least_rounds(open.label));
                let longer = (open.label, difference(len, least), further);
                let (after, lost) = (room.total(longer), room.lost(longer).unwrap_or(u64::MAX));
                self.lose(ir, lost);
                outside.saturating_add_signed(open.before.saturating_sub(after)).saturating_sub(lost)
            }
        };
        let marks = (open.first_mark, self.marks.len() as u32);
        if !self.ends_with_code(open.label, rounds) {
            self.know(ir, open.label, Span { raw: (open.from, emitted), len, rounds, marks, kept: None });
        }
        slack
    }

    /// Returns the numbers of open scopes and of open coded parts.
    fn level(&self) -> (usize, usize) {
        (self.scopes.len(), self.codes.depth())
    }

    /// Takes room of the part around: what is outside it and follows from something in it is so much longer now.
    fn lose(&mut self, ir: &Ir, lost: u64) {
        let around = self.room(ir).around(&[]).map(|(open, _)| open);
        let open = around.filter(|_| lost > 0).and_then(|open| self.open.get_mut(open));
        if let Some(open) = open.filter(|open| open.given != u64::MAX) {
            open.given = open.given.saturating_sub(lost);
        }
    }

    /// Notes that a labelled part is complete.
    fn know(&mut self, ir: &Ir, label: LabelId, span: Span) {
        self.parts[label.index()] = State::Known(span);
        self.resolve(ir, label, span);
    }

    /// Returns the slack within the part that was begun last if it has one more round, whatever the round costs. `None`
    /// if it does not fit.
    fn round(&self, ir: &Ir, slack: u64) -> Option<u64> {
        let open = self.open.last()?;
        let given = self.room_of_last(ir).given(open, open.rounds + 1)?;
        if slack >= FREE {
            return Some(slack);
        }
        let lost = open.given.saturating_sub(given);
        slack.checked_sub(lost)
    }

    /// Notes that a round of the part that was begun last begins.
    fn count_round(&mut self, ir: &Ir) {
        let Some(mut open) = self.open.pop() else { return };
        open.rounds += 1;
        let given = self.room(ir).given(&open, open.rounds);
        open.given = given.unwrap_or(open.given).min(open.given);
        self.open.push(open);
    }

    /// Returns true if the part that was begun last is this repetition, and its rounds are counted.
    fn counts_rounds(&self, node: NodeId) -> bool {
        self.open.last().is_some_and(|open| open.counted == Some(node))
    }

    /// Returns the value of a number of rounds.
    pub fn rounds(&self, value: &Value<Known>) -> u64 {
        self.value(value).unwrap_or_else(|| least(value))
    }

    /// Returns by how much the shortest text of a node is longer than it could be, as the parts that it refers to are
    /// not the shortest.
    #[inline]
    fn extra(&self, ir: &Ir, node: NodeId) -> i64 {
        if ir.free(node).is_empty() {
            return 0;
        }
        Walk::new(self, ir, &[], &Memo::default()).extra(node)
    }

    /// Emits the bytes of a leaf, or zeros and a mark if they are not known yet.
    pub fn emit(&mut self, node: NodeId, leaf: &Leaf, output: &mut Vec<u8>, base: usize) {
        let at = (output.len() - base) as u64;
        match &leaf.derived {
            Derived::Copy(known) => {
                let Some(span) = self.known(known.label) else { return };
                match span.kept {
                    Some(kept) => output.extend_from_slice(&self.codes.kept()[kept as usize]),
                    None => output.extend_from_within(base + span.raw.0 as usize..base + span.raw.1 as usize),
                }
                if span.has_marks() {
                    let raw = span.raw.1 - span.raw.0;
                    self.marks.push(Mark { node, at, raw, width: span.len, spans: vec![span] });
                    self.inserted += difference(span.len, raw);
                }
            }
            Derived::Padding(known, padding) => {
                let len = self.known(known.label).map_or(known.len, |span| span.len);
                padding.write(len, output);
            }
            Derived::Bits(bits) => match leaf.derived.labels().map(|known| self.known(known.label)).collect() {
                Some(spans) => self.emit_bits(node, bits, spans, output, base),
                None => self.emit_later(node, leaf, output, base),
            },
            Derived::Number(value, form) => match self.spans(value) {
                Some(spans) if spans.iter().zip(&value.terms).all(|(span, term)| span.is_final(term.measure)) => {
                    let bytes = |span: &Span| span.bytes(self.codes.kept(), &output[base..]);
                    let amount = settle::amount(value, &spans, |_| 0, bytes);
                    form.write_amount(&amount, output);
                }
                Some(spans) => {
                    let width = form.width(settle::number(value, &spans));
                    output.resize(output.len() + width as usize, 0);
                    self.marks.push(Mark { node, at, raw: width, width, spans });
                }
                None => self.emit_later(node, leaf, output, base),
            },
        }
    }

    /// Emits zeros in place of bytes that follow from parts which are not all known.
    fn emit_later(&mut self, node: NodeId, leaf: &Leaf, output: &mut Vec<u8>, base: usize) {
        let (at, width) = ((output.len() - base) as u64, leaf.min_len);
        output.resize(output.len() + width as usize, 0);
        let spans = leaf.derived.labels().map(|known| self.known(known.label)).collect();
        let bounds =
            leaf.derived.fixed_width().is_some() && leaf.derived.values().any(|(value, _)| walk::bounds(value));
        self.waiting.push(Waiting { mark: self.marks.len() as u32, spans, bounds });
        self.marks.push(Mark { node, at, raw: width, width, spans: Vec::new() });
    }

    /// Emits numbers of some bits each, whose parts are known.
    fn emit_bits(&mut self, node: NodeId, bits: &Bits<Known>, spans: Vec<Span>, output: &mut Vec<u8>, base: usize) {
        if bits.terms().any(|term| term.measure.is_of_place()) {
            let (at, width) = ((output.len() - base) as u64, bits.width());
            output.resize(output.len() + width as usize, 0);
            return self.marks.push(Mark { node, at, raw: width, width, spans });
        }
        settle::write_bits(bits, &spans, |_| 0, output);
    }

    /// Fills in all bytes that were not known when they were emitted. `None` if there are none.
    pub fn settle(&mut self, ir: &Ir, output: &mut Vec<u8>, base: usize) -> Option<Moves> {
        let marks = std::mem::take(&mut self.marks);
        let piece = Piece { base, from: 0, first_mark: 0, kept: self.codes.kept() };
        (!marks.is_empty()).then(|| settle::settle(ir, &marks, &piece, output))
    }

    fn known(&self, label: LabelId) -> Option<Span> {
        match self.parts.get(label.index())? {
            State::Known(span) => Some(*span),
            State::Unknown => None,
        }
    }

    /// Returns the parts of all terms, if all are known.
    fn spans(&self, value: &Value<Known>) -> Option<Vec<Span>> {
        value.labels().map(|known| self.known(known.label)).collect()
    }

    fn value(&self, value: &Value<Known>) -> Option<u64> {
        Some(settle::number(value, &self.spans(value)?))
    }

    /// Tells the marks that wait for a label what its part is.
    fn resolve(&mut self, ir: &Ir, label: LabelId, part: Span) {
        let from = self.scopes.last().map_or(0, |scope| scope.waiting);
        for mut waiting in self.waiting.split_off(from.min(self.waiting.len())) {
            let leaf = ir.node(self.marks[waiting.mark as usize].node).leaf();
            let Some(leaf) = leaf else { continue };
            for (span, known) in waiting.spans.iter_mut().zip(leaf.derived.labels()) {
                if known.label == label {
                    *span = Some(part);
                }
            }
            let Some(spans) = waiting.spans.iter().copied().collect::<Option<Vec<Span>>>() else {
                self.waiting.push(waiting);
                continue;
            };
            let width = match &leaf.derived {
                Derived::Number(value, form) => form.width(settle::number(value, &spans)),
                Derived::Bits(_) | Derived::Copy(_) | Derived::Padding(..) => leaf.min_len,
            };
            let found = &mut self.marks[waiting.mark as usize];
            self.inserted += difference(width, found.raw);
            (found.width, found.spans) = (width, spans);
        }
    }
}

/// Returns what is left of a slack.
fn paid(slack: u64, cost: i128) -> u64 {
    match slack {
        u64::MAX => u64::MAX,
        slack => u64::try_from(i128::from(slack) - cost).unwrap_or(if cost > 0 { 0 } else { u64::MAX - 1 }),
    }
}
