//! The program of a grammar with labels that reads what follows from its parts as any text of the same form: a copy as
//! any text of its part, a name as any name of its kind, `item{count}` as any number of rounds. It marks where parts
//! begin and end, so that what was read can be compared afterwards.

use gramjet_compiler::charset::{CharSet, Unit};
use gramjet_compiler::derived::{Derived, Value};
use gramjet_compiler::ir::{Count, Ir, KindId, Known, LabelId, NodeId, Rounds, RuleId, Scope};
use gramjet_compiler::naming::Naming;

use super::operations::Place;
use super::{Builder, Class, Program, SiteCode, State, StateId};

/// A place of a text where something begins or ends that others follow from, or that follows from others.
#[derive(Clone, Debug)]
pub(crate) enum Mark {
    /// Begins a scope of this number of labels. So many labels of the rule are seen outside it.
    Scope { labels: u32, outer: u32 },
    /// Ends a scope of this number of labels.
    LeaveScope(u32),
    /// Begins the part with the label at this place, whose number of rounds is this, unless they are counted.
    Enter(u32, u32),
    /// Ends the part with the label at this place.
    Leave(u32),
    /// Begins a copy of the part at this place.
    Copy(u32),
    /// Ends the text of a copy, or of a name that was given before.
    Text,
    /// Ends a copy.
    Copied,
    /// Begins rounds that are counted.
    Begin,
    /// Ends a round.
    Round,
    /// Ends the rounds of the part with the label at this place.
    End(u32),
    /// Stands before each of some rounds that threads count, but the automaton does not.
    Counted,
    /// Ends rounds that are as many as a number says, of the part at this place, if it has a
    /// label.
    EndTimes(Box<Value<Place>>, Option<u32>),
    /// Begins a part that gives a name.
    BeginName,
    /// Comes between a unique name and the digits that are appended to it.
    Digits,
    /// Ends a part that gives a name of a kind.
    Name(KindId),
    /// Ends a part that gives a unique name of a kind, and the digits after it.
    Unique(KindId),
    /// Gives the part at this place as a name of a kind.
    Declare(KindId, u32),
    /// Begins a name of a kind that was given before.
    Given(KindId),
    /// Begins what stands where no name of a kind is seen.
    Other(KindId),
    /// Ends either.
    Taken,
    /// Begins a scope of names of these kinds.
    Names(Box<[KindId]>),
    /// Ends a scope of names.
    LeaveNames,
}

impl Program {
    /// Returns the program that reads all texts of a grammar with labels, and more. `None` if it has parts that cannot
    /// be read so: numbers, above all.
    pub fn relaxed(ir: &Ir) -> Option<Program> {
        Program::with(ir, vec![true; ir.node_count()], [false, true])
    }

    /// Returns the relaxed program for texts without options that are only read; `None` also if there are none.
    pub fn relaxed_of_generated(ir: &Ir) -> Option<Program> {
        Program::with(ir, super::shortest_that_are_generated(ir), [true, true]).filter(|_| super::reads_more(ir))
    }
}

impl Builder<'_> {
    /// Adds a mark.
    pub(super) fn mark(&mut self, mark: Mark, next: StateId) -> StateId {
        let marks = self.program.marks.get_or_insert_default();
        marks.push(mark);
        let mark = marks.len() as u32 - 1;
        self.add(State::Mark { mark, next })
    }

    /// Notes that the grammar cannot be read so.
    fn refuse(&mut self, next: StateId) -> StateId {
        self.is_refused = true;
        next
    }

    /// Returns a site that writes nothing.
    fn no_site(&mut self) -> u32 {
        self.program.sites.push(SiteCode { options: 1, slots: None });
        self.program.sites.len() as u32 - 1
    }

    /// Returns the state that goes on at any of these.
    fn fork(&mut self, targets: &[StateId]) -> StateId {
        let (site, first) = (self.no_site(), self.program.targets.len() as u32);
        self.program.targets.extend(targets);
        self.program.options.extend(targets.iter().map(|_| 0));
        self.add(State::Choice { site, first, count: targets.len() as u32 })
    }

    /// Returns the state of any number of rounds of an item, which are marked if `is_marked`.
    fn rounds(&mut self, site: u32, item: NodeId, next: StateId, is_marked: bool) -> (StateId, StateId) {
        let rounds = self.add(State::Rounds { site, item: next, stop: next });
        let after = if is_marked { self.mark(Mark::Round, rounds) } else { rounds };
        let item = self.node(item, after);
        self.program.states[rounds as usize] = State::Rounds { site, item, stop: next };
        (rounds, item)
    }

    /// Returns the state of a node that only grammars with labels have.
    pub(super) fn relaxed(&mut self, node: NodeId, next: StateId) -> StateId {
        let ir = self.ir;
        let node = ir.node(node);
        if let Some(leaf) = node.leaf() {
            return self.any_derived(&leaf.derived, next);
        }
        if let Some((item, rounds)) = node.times() {
            return self.any_times(item, rounds, None, next);
        }
        if let Some((label, count, part)) = node.label() {
            return self.marked_part(label, count, part, next);
        }
        if let Some(scope) = node.scope() {
            return self.marked_scope(scope, next);
        }
        match node.naming() {
            Some((naming, body)) => self.marked_naming(naming, body, next),
            // Coded parts are decoded by threads.
            None => self.refuse(next),
        }
    }

    fn place_of(&self, label: LabelId) -> u32 {
        self.place(label, (0, 0)).place
    }

    fn any_derived(&mut self, derived: &Derived<Known>, next: StateId) -> StateId {
        let Derived::Copy(known) = derived else { return self.refuse(next) };
        let place = self.place_of(known.label);
        let Some(callee) = self.any_copy(known.label) else { return self.refuse(next) };
        let copied = self.mark(Mark::Copied, next);
        let call = self.add(State::Call { callee, next: copied, skip: true });
        self.mark(Mark::Copy(place), call)
    }

    /// Returns the callee that derives any text of the part with a label, if nothing in it follows from other parts.
    fn any_copy(&mut self, label: LabelId) -> Option<u32> {
        let known = &self.program.operations.labels[label.index()];
        if known.copy.is_some() {
            return known.copy;
        }
        let part = known.part.filter(|&part| self.ir.free(part).is_empty())?;
        let callee = self.further_callee(part);
        self.program.operations.labels[label.index()].copy = Some(callee);
        self.callee_with(callee, |builder, end| {
            let end = builder.mark(Mark::Text, end);
            builder.node(part, end)
        });
        Some(callee)
    }

    /// Returns the state of rounds as many as a number says, which is compared at their end. Empty rounds could stand
    /// anywhere.
    fn any_times(&mut self, item: NodeId, rounds: &Value<Known>, counted: Option<u32>, next: StateId) -> StateId {
        let is_countable = rounds.terms.iter().all(|term| !term.measure.is_of_content());
        if self.ir.facts(item).min_len == 0 || !is_countable {
            return self.refuse(next);
        }
        let value = Box::new(self.value(rounds));
        let end = self.mark(Mark::EndTimes(value, counted), next);
        let site = self.no_site();
        let (rounds, _) = self.rounds(site, item, end, true);
        self.mark(Mark::Begin, rounds)
    }

    fn marked_part(&mut self, label: LabelId, count: Count, part: NodeId, next: StateId) -> StateId {
        let place = self.place_of(label);
        let leave = self.mark(Mark::Leave(place), next);
        let state = match count {
            Count::Counted => self.counted_part(place, part, leave),
            Count::Unused | Count::Fixed(_) => self.node(part, leave),
        };
        let rounds = if let Count::Fixed(rounds) = count { rounds } else { 0 };
        self.mark(Mark::Enter(place, rounds), state)
    }

    /// Returns the state of a part whose rounds others follow from.
    fn counted_part(&mut self, place: u32, part: NodeId, next: StateId) -> StateId {
        let ir = self.ir;
        if let Some((item, rounds)) = ir.node(part).times() {
            return self.any_times(item, rounds, Some(place), next);
        }
        let Some(Rounds { item, min: min @ (0 | 1), max: None }) = ir.node(part).rounds() else {
            return self.refuse(next);
        };
        if ir.facts(item).min_len == 0 {
            return self.refuse(next);
        }
        let (site, end) = (self.site(part), self.mark(Mark::End(place), next));
        let (rounds, item) = self.rounds(site, item, end, true);
        self.mark(Mark::Begin, if min == 0 { rounds } else { item })
    }

    fn marked_scope(&mut self, scope: &Scope, next: StateId) -> StateId {
        // Mirrors and rules with parameters are left to threads.
        if !scope.fields.is_empty() || scope.repetition().is_some() || !scope.arguments.is_empty() {
            return self.refuse(next);
        }
        let (labels, outer) = (scope.labels.len() as u32, self.seen.len() as u32);
        self.seen.extend(&scope.labels);
        let leave = self.mark(Mark::LeaveScope(labels), next);
        let body = self.node(scope.body, leave);
        self.seen.truncate(outer as usize);
        self.mark(Mark::Scope { labels, outer }, body)
    }

    fn marked_naming(&mut self, naming: &Naming<KindId>, body: NodeId, next: StateId) -> StateId {
        match naming {
            // Nothing follows from these names.
            Naming::Define(kind) if !self.is_known(*kind) => self.node(body, next),
            Naming::Declare(kind) if !self.is_known(*kind) => next,
            Naming::Define(kind) => {
                let end = self.mark(Mark::Name(*kind), next);
                let part = self.node(body, end);
                self.mark(Mark::BeginName, part)
            }
            Naming::Unique(kind) => {
                let end = self.mark(Mark::Unique(*kind), next);
                let digits = self.digits_after(body, end);
                let named = self.mark(Mark::Digits, digits);
                let part = self.node(body, named);
                self.mark(Mark::BeginName, part)
            }
            Naming::Declare(kind) => match self.ir.node(body).leaf().map(|leaf| &leaf.derived) {
                Some(Derived::Copy(known)) => {
                    let place = self.place_of(known.label);
                    self.mark(Mark::Declare(*kind, place), next)
                }
                _ => next,
            },
            Naming::Use(kind) => self.any_name(*kind, body, next),
            Naming::Scope(kinds) => {
                let leave = self.mark(Mark::LeaveNames, next);
                let body = self.node(body, leave);
                self.mark(Mark::Names(kinds.clone().into()), body)
            }
        }
    }

    /// Returns the state of the digits that may be appended to a unique name. If they could belong to the name itself,
    /// they do: then each text with digits appended is a text without, and only that one is found.
    fn digits_after(&mut self, name: NodeId, next: StateId) -> StateId {
        if ends_in_any_digits(self.ir, name) {
            return next;
        }
        let site = self.no_site();
        let rest = self.add(State::Rounds { site, item: next, stop: next });
        let further = self.digit(b'0', rest);
        self.program.states[rest as usize] = State::Rounds { site, item: further, stop: next };
        let first = self.digit(b'1', rest);
        self.fork(&[first, next])
    }

    /// Returns the state of a digit, from this one on.
    fn digit(&mut self, least: u8, next: StateId) -> StateId {
        let set = CharSet::new(Unit::Byte, [(least.into(), b'9'.into())]);
        self.program.sites.push(SiteCode { options: set.len(), slots: None });
        let class = Class::new(self.program.sites.len() as u32 - 1, &set);
        self.program.classes.push(class);
        let class = self.program.classes.len() as u32 - 1;
        self.add(State::Class { class, next })
    }

    /// Returns the state of any name of a kind, or of what stands where none is seen.
    fn any_name(&mut self, kind: KindId, other: NodeId, next: StateId) -> StateId {
        let Some(given) = self.any_given(kind) else { return self.refuse(next) };
        let taken = self.mark(Mark::Taken, next);
        let mut targets = Vec::new();
        for (part, callee) in given {
            // Names that are written like the other text are found there.
            let is_closed = !self.program.operations.kinds[kind.index()].is_unique || ends_in_any_digits(self.ir, part);
            if !is_closed || !self.ir.is_written_like(part, other) {
                let call = self.add(State::Call { callee, next: taken, skip: false });
                targets.push(self.mark(Mark::Given(kind), call));
            }
        }
        let other = self.node(other, taken);
        targets.push(self.mark(Mark::Other(kind), other));
        self.fork(&targets)
    }

    /// Returns the parts that give names of a kind, with the callees that derive them. `None` if there are too many.
    fn any_given(&mut self, kind: KindId) -> Option<Vec<(NodeId, u32)>> {
        let known = &self.program.operations.kinds[kind.index()];
        let (given, is_unique) = (known.given.clone(), known.is_unique);
        if known.has_more {
            return None;
        }
        for &part in &given[known.callees.len()..] {
            let callee = self.further_callee(part);
            self.program.operations.kinds[kind.index()].callees.push(callee);
            self.callee_with(callee, |builder, end| {
                let end = builder.mark(Mark::Text, end);
                let end = if is_unique { builder.digits_after(part, end) } else { end };
                builder.node(part, end)
            });
        }
        Some(given.into_iter().zip(self.program.operations.kinds[kind.index()].callees.iter().copied()).collect())
    }
}

/// Returns true if the node ends in a repetition of all digits, so that each text of it with digits appended is one,
/// too.
fn ends_in_any_digits(ir: &Ir, node: NodeId) -> bool {
    let mut node = node;
    // Each rule is looked into once.
    let mut left = ir.rules().len() + ir.node_count();
    while left > 0 {
        left -= 1;
        let of = ir.node(node);
        if let Some(Rounds { item, max: None, .. }) = of.rounds() {
            return has_all_digits(ir, item, &mut vec![false; ir.rules().len()]);
        }
        let last = of.items().and_then(|items| items.last().copied());
        let Some(inner) = last.or_else(|| of.instance().and_then(|rule| ir.body(rule))) else { return false };
        node = inner;
    }
    false
}

/// Returns true if each digit is a text of the node. Rules that are `seen` are not looked into again.
fn has_all_digits(ir: &Ir, node: NodeId, seen: &mut Vec<bool>) -> bool {
    let of = ir.node(node);
    if let Some(set) = of.class() {
        return (b'0'..=b'9').all(|digit| set.contains(digit.into()));
    }
    if let Some(choice) = of.choice() {
        let options = choice.options.iter().enumerate().filter(|&(option, _)| !choice.is_only_read(option));
        return options.into_iter().any(|(_, &option)| has_all_digits(ir, option, seen));
    }
    let is_new = |rule: &RuleId| !std::mem::replace(&mut seen[rule.index()], true);
    let body = of.instance().filter(is_new).and_then(|rule| ir.body(rule));
    body.is_some_and(|body| has_all_digits(ir, body, seen))
}
