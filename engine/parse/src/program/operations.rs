//! The states of labelled parts and of what follows from them: operations on the environment of a thread.
//!
//! Labels are seen in one rule, so each has its place among the parts of the rule's environment.

use std::collections::HashMap;

use gramjet_compiler::coding::Coding;
use gramjet_compiler::derived::{Amount, BitPlace, Derived, NumberForm, Padding, Value};
use gramjet_compiler::ir::{Count, Field, Ir, KindId, Known, LabelId, NodeId, Rounds, Scope};
use gramjet_compiler::naming::Naming;

use super::{Builder, State, StateId};

/// A step of a thread that changes or asks its environment.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    /// Begins a scope of this number of labels.
    Scope(u32),
    /// Ends a scope of this number of labels, whose fields are these of [`Operations::fields`].
    LeaveScope(u32, u32),
    /// Begins a scope whose labels are those of a round of the repetition with a label.
    Mirror(Place),
    /// Keeps the last parts, of this number, as those of a round of the repetition with a label.
    Keep(Place, u32),
    /// Begins the part with a label, whose number of rounds is this, unless they are counted.
    Enter(Place, u32),
    /// Ends the part with a label.
    Leave(Place),
    /// Reads the bytes of a part, again. After a wrong copy that is accepted, this state comes next.
    Copy(Place, StateId),
    /// Comes after a wrong copy of a part.
    Copied(Place),
    /// Reads a number of [`Operations::numbers`].
    Number(u32),
    /// Reads the numbers of [`Operations::numbers`] between these, which share bytes.
    Bits(u32, u32),
    /// Reads the padding of a part.
    Padding(Place, Padding),
    /// Begins a repetition of [`Operations::loops`].
    Begin(u32),
    /// Decides on a round of a repetition.
    Round(u32),
    /// Comes after a round of a repetition.
    AfterRound(u32),
    /// Ends a repetition.
    End(u32),
    /// Begins a part that gives a name.
    BeginName,
    /// Ends a part that gives a name of a kind; a unique one if so.
    Name(KindId, bool),
    /// Gives a part as a name of a kind.
    Declare(KindId, Place),
    /// Takes a name, or goes on at this state with what stands where none is seen. The last state comes after a name
    /// that is not seen, but accepted.
    Use(KindId, StateId, StateId),
    /// Comes after a name of a kind that is not seen. What stands in its place has this number of sites.
    Unseen(KindId, u64),
    /// Reads a coded part of [`Operations::coded`].
    Coded(u32),
    /// Gives parts of [`Operations::arguments`] to the rule that is called next.
    Give(u32),
    /// Goes on after that rule.
    Given,
    /// Ends what a coded part of [`Operations::coded`] stands for.
    EndCode(u32),
    /// Begins a scope of names of [`Operations::scopes`].
    Names(u32),
    /// Ends a scope of names of [`Operations::scopes`].
    LeaveNames(u32),
}

/// A label, and its place among the parts of the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub label: LabelId,
    pub place: u32,
    /// The least length and the least number of rounds that the part can have, as a number knows them.
    pub least: (u64, u64),
}

/// A number that follows from labelled parts.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    pub value: Value<Place>,
    pub form: NumberForm,
    /// Whether it is a checksum.
    pub is_sum: bool,
    /// Its bits, if others have the rest of its bytes.
    pub bits: Option<BitPlace>,
}

impl Number {
    /// Returns the greatest number that can be written.
    pub fn greatest(&self) -> u64 {
        self.bits.map_or(self.form.greatest(), BitPlace::greatest)
    }

    /// Returns the number that these bytes are.
    pub fn read(&self, bytes: &[u8]) -> Option<u64> {
        let all = self.form.read(bytes)?;
        Some(self.bits.map_or(all, |place| place.read(all)))
    }

    /// Returns the bytes of a number or a digest, where these bytes are.
    pub fn written(&self, amount: &Amount, found: &[u8]) -> Vec<u8> {
        let mut written = Vec::new();
        match (amount, self.bits) {
            (Amount::Number(number), Some(place)) => {
                let all = self.form.read(found).unwrap_or(0);
                self.form.write(place.write(all, *number), &mut written);
            }
            _ => self.form.write_amount(amount, &mut written),
        }
        written
    }
}

/// A repetition whose rounds the environment counts.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub rounds: LoopRounds,
    pub item: StateId,
    /// The least length of a round.
    pub min_len: u64,
    /// The label of the repetition, if something depends on its number of rounds.
    pub counted: Option<Place>,
}

/// The number of rounds of a repetition.
#[derive(Clone, Debug)]
pub(crate) enum LoopRounds {
    /// Rounds between a least and a greatest number, by decisions of a site.
    Between { min: u32, max: Option<u32> },
    /// As many as a number says.
    Times(Value<Place>),
}

/// A coded part.
#[derive(Clone, Debug)]
pub(crate) struct Coded {
    pub coding: Coding,
    /// The callee that derives what it stands for.
    pub callee: u32,
    /// The labels of all that it stands for, also where that is coded again.
    pub labels: Vec<Place>,
}

/// Facts about a label.
#[derive(Clone, Debug, Default)]
pub(crate) struct Label {
    pub name: String,
    /// Whether something follows from the bytes of the part, or from its place.
    pub is_placed: bool,
    /// Whether an offset is that of the part, or counted from it.
    pub has_offset: bool,
    /// Whether the part is coded: its length is another one in the text.
    pub is_coded: bool,
    /// Whether it is copied.
    is_copied: bool,
    /// The part, and the callee that derives it by itself, for wrong copies.
    pub part: Option<NodeId>,
    pub copy: Option<u32>,
    /// The labels of the parts that it stands for, if it is a parameter.
    given: Vec<LabelId>,
}

/// The operations of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operations {
    pub operations: Vec<Operation>,
    pub numbers: Vec<Number>,
    pub loops: Vec<Loop>,
    pub labels: Vec<Label>,
    /// The fields of each scope, with the greatest value of each. They bound what they measure, read or not.
    pub fields: Vec<Vec<(Value<Place>, u64)>>,
    /// The kinds of names.
    pub kinds: Vec<Kind>,
    /// The kinds of names of each scope.
    pub scopes: Vec<Vec<KindId>>,
    /// The coded parts.
    pub coded: Vec<Coded>,
    /// The parts that are given to rules.
    pub arguments: Vec<Vec<Place>>,
}

/// The most parts that give names of a kind by which a name that is not seen is known.
const MAX_GIVEN: usize = 16;

/// A kind of names.
#[derive(Clone, Debug)]
pub(crate) struct Kind {
    pub name: String,
    /// The parts that give names of the kind, and the callees that derive them where a name is not seen.
    pub(super) given: Vec<NodeId>,
    pub callees: Vec<u32>,
    /// Whether there are more such parts.
    pub(super) has_more: bool,
    /// Whether the names of a scope are unique, and whether some are taken.
    pub is_unique: bool,
    is_taken: bool,
}

/// Returns a label, and those of the parts that it stands for, also through other parameters.
fn given(labels: &[Label], label: LabelId) -> Vec<LabelId> {
    let mut found = vec![label];
    let mut next = 0;
    while let Some(label) = found.get(next) {
        next += 1;
        let more = labels[label.index()].given.iter().filter(|label| !found.contains(label));
        found.extend(more.copied().collect::<Vec<LabelId>>());
    }
    found
}

impl Operations {
    pub fn new(ir: &Ir) -> Operations {
        let name = |label| ir.label_name(label).unwrap_or("?").to_string();
        let labels = (0..ir.label_count() as u32).map(LabelId::new);
        let mut labels: Vec<Label> = labels.map(|label| Label { name: name(label), ..Label::default() }).collect();
        for node in (0..ir.node_count()).map(NodeId::new) {
            let Some(derived) = ir.node(node).leaf().map(|leaf| &leaf.derived) else { continue };
            for known in derived.labels_of_content() {
                let label = &mut labels[known.label.index()];
                label.is_placed = true;
                label.is_copied |= matches!(derived, Derived::Copy(_));
            }
            let terms = derived.values().flat_map(|(value, _)| &value.terms);
            for term in terms.filter(|term| term.measure.is_of_place()) {
                let label = &mut labels[term.label.label.index()];
                (label.is_placed, label.has_offset) = (true, true);
            }
        }
        // Something in the rule may follow from the bytes of what is given to it.
        for scope in (0..ir.node_count()).filter_map(|node| ir.node(NodeId::new(node)).scope()) {
            for (parameter, argument) in scope.labels.iter().zip(&scope.arguments) {
                labels[argument.label.index()].is_placed = true;
                let parameter = &mut labels[parameter.index()];
                parameter.is_placed = true;
                if !parameter.given.contains(&argument.label) {
                    parameter.given.push(argument.label);
                }
            }
        }
        let copied: Vec<LabelId> =
            (0..).map(LabelId::new).zip(&labels).filter(|(_, of)| of.is_copied).map(|(label, _)| label).collect();
        for label in copied {
            given(&labels, label).into_iter().for_each(|label| labels[label.index()].is_copied = true);
        }
        let kind = |name: &String| Kind {
            name: name.clone(),
            given: Vec::new(),
            callees: Vec::new(),
            has_more: false,
            is_unique: false,
            is_taken: false,
        };
        let mut kinds: Vec<Kind> = ir.kinds().iter().map(kind).collect();
        let nodes = (0..ir.node_count()).map(NodeId::new);
        let parts: HashMap<LabelId, NodeId> =
            nodes.filter_map(|node| ir.node(node).label().map(|(label, _, part)| (label, part))).collect();
        parts.iter().for_each(|(label, &part)| labels[label.index()].part = Some(part));
        for node in (0..ir.node_count()).map(NodeId::new) {
            let naming = ir.node(node).naming();
            if let Some((naming @ (Naming::Unique(kind) | Naming::Use(kind)), _)) = naming {
                let known = &mut kinds[kind.index()];
                known.is_unique |= naming.unique().is_some();
                known.is_taken |= naming.unique().is_none();
            }
            let Some((kind, part)) = naming.and_then(|(naming, part)| Some((naming.given()?, part))) else { continue };
            let labelled = ir.node(part).leaf().and_then(|leaf| leaf.derived.labels().next()).map(|known| known.label);
            let part = labelled.map_or(Some(part), |label| parts.get(&label).copied());
            let Kind { given, has_more, .. } = &mut kinds[kind.index()];
            let is_known = |part: NodeId| given.iter().any(|&known| ir.is_written_like(known, part));
            match part {
                Some(_) if given.len() == MAX_GIVEN => *has_more = true,
                Some(part) if !is_known(part) => given.push(part),
                _ => {}
            }
        }
        Operations { labels, kinds, ..Operations::default() }
    }

    /// Returns the state that an operation leads to besides the next one.
    pub fn also_leads_to(&self, operation: u32) -> Option<StateId> {
        match self.operations[operation as usize] {
            Operation::Round(number) => Some(self.loops[number as usize].item),
            Operation::Use(_, other, _) => Some(other),
            _ => None,
        }
    }

    /// Returns true if an operation reads bytes, as many as the text says.
    pub fn reads(&self, operation: u32) -> bool {
        matches!(
            self.operations[operation as usize],
            Operation::Copy(..)
                | Operation::Number(_)
                | Operation::Bits(..)
                | Operation::Padding(..)
                | Operation::Use(..)
                | Operation::Name(..)
                | Operation::Coded(_)
        )
    }

    /// Returns true if an operation may go on without reading.
    pub fn may_read_nothing(&self, operation: u32) -> bool {
        !matches!(self.operations[operation as usize], Operation::Number(_) | Operation::Bits(..))
    }

    /// Returns the callees that derive a wrong copy or a name that is not seen, each with the state to return to.
    pub fn calls(&self, operation: u32) -> Vec<(u32, StateId)> {
        match self.operations[operation as usize] {
            Operation::Copy(place, copied) => {
                self.copies(place.label).into_iter().map(|callee| (callee, copied)).collect()
            }
            Operation::Use(kind, _, unseen) => {
                self.kinds[kind.index()].callees.iter().map(|&callee| (callee, unseen)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the callees that derive wrong copies of the part with a label.
    pub fn copies(&self, label: LabelId) -> Vec<u32> {
        let mut callees: Vec<u32> =
            given(&self.labels, label).into_iter().filter_map(|label| self.labels[label.index()].copy).collect();
        callees.truncate(MAX_GIVEN);
        callees
    }

    /// Returns true if a byte may begin what an operation reads.
    pub fn may_begin_with(&self, operation: u32, byte: u8) -> bool {
        match self.operations[operation as usize] {
            Operation::Number(number) => self.numbers[number as usize].form.may_begin_with(byte),
            Operation::Copy(..) | Operation::Bits(..) | Operation::Padding(..) | Operation::Use(..) => true,
            Operation::Coded(_) | Operation::EndCode(_) => true,
            Operation::Name(_, true) => byte.is_ascii_digit(),
            _ => false,
        }
    }
}

impl Builder<'_> {
    /// Returns the place of a label that is seen.
    pub(super) fn place(&self, label: LabelId, least: (u64, u64)) -> Place {
        let place = self.seen.iter().rposition(|&seen| seen == label).unwrap_or(0);
        let part = self.program.operations.labels[label.index()].part;
        let can_be_shorter = part.is_some_and(|part| self.can_be_shorter.get(part.index()) == Some(&true));
        let least = if can_be_shorter { (0, least.1) } else { least };
        Place { label, place: place as u32, least }
    }

    pub(super) fn value(&self, value: &Value<Known>) -> Value<Place> {
        value.map(&mut |known| self.place(known.label, (known.len, known.rounds)))
    }

    /// Adds the state of an operation.
    fn operation(&mut self, operation: Operation, next: StateId) -> StateId {
        let operations = &mut self.program.operations.operations;
        operations.push(operation);
        let operation = operations.len() as u32 - 1;
        self.add(State::Operation { operation, next })
    }

    /// Returns the state of bytes that follow from labelled parts.
    pub(super) fn derived(&mut self, derived: &Derived<Known>, next: StateId) -> StateId {
        match derived {
            Derived::Copy(known) => {
                let place = self.place(known.label, (known.len, known.rounds));
                let copied = self.operation(Operation::Copied(place), next);
                self.operation(Operation::Copy(place, copied), next)
            }
            Derived::Padding(known, padding) => {
                let place = self.place(known.label, (known.len, known.rounds));
                self.operation(Operation::Padding(place, *padding), next)
            }
            Derived::Number(value, form) => {
                let number = self.number(value, *form, None);
                self.operation(Operation::Number(number), next)
            }
            Derived::Bits(bits) => {
                let first = self.program.operations.numbers.len() as u32;
                for (place, value) in bits.places() {
                    self.number(value, bits.form(), Some(place));
                }
                let end = self.program.operations.numbers.len() as u32;
                self.operation(Operation::Bits(first, end), next)
            }
        }
    }

    /// Adds a number, and returns its place.
    fn number(&mut self, value: &Value<Known>, form: NumberForm, bits: Option<BitPlace>) -> u32 {
        let value = self.value(value);
        let is_sum = value.terms.iter().any(|term| term.measure.is_of_content());
        let numbers = &mut self.program.operations.numbers;
        numbers.push(Number { value, form, is_sum, bits });
        numbers.len() as u32 - 1
    }

    /// Returns the state of a labelled part.
    pub(super) fn labelled(&mut self, label: LabelId, count: Count, body: NodeId, next: StateId) -> StateId {
        let place = self.place(label, (0, 0));
        let leave = self.operation(Operation::Leave(place), next);
        let is_counted = count == Count::Counted;
        let state = if let Some(Rounds { item, min, max }) = self.ir.node(body).rounds().filter(|_| is_counted) {
            self.counted_in_place(LoopRounds::Between { min, max }, item, Some(place), leave)
        } else if let Some((item, rounds)) = self.ir.node(body).times().filter(|_| is_counted) {
            let rounds = LoopRounds::Times(self.value(rounds));
            self.counted_in_place(rounds, item, Some(place), leave)
        } else {
            self.node(body, leave)
        };
        self.add_copy(label, body);
        let rounds = if let Count::Fixed(rounds) = count { rounds } else { 0 };
        self.operation(Operation::Enter(place, rounds), state)
    }

    /// Returns the state of a coded part.
    pub(super) fn coded(&mut self, coding: Coding, body: NodeId, next: StateId) -> StateId {
        let layer = |&node: &NodeId| {
            let node = self.ir.node(node);
            node.label().map(|(.., body)| body).or(node.coded().map(|(_, body)| body))
        };
        let layers = std::iter::successors(Some(body), layer);
        let labels = layers.filter_map(|node| self.ir.node(node).label()).map(|(label, ..)| label);
        let labels = labels.filter(|label| self.seen.contains(label)).map(|label| self.place(label, (0, 0)));
        let labels: Vec<Place> = labels.collect();
        labels.iter().for_each(|place| self.program.operations.labels[place.label.index()].is_coded = true);
        let callee = self.further_callee(body);
        self.program.operations.coded.push(Coded { coding, callee, labels });
        let coded = self.program.operations.coded.len() as u32 - 1;
        // Labels outside it are seen in it.
        let outer = std::mem::replace(&mut self.owner, callee);
        let end = self.add(State::End);
        let end_code = self.operation(Operation::EndCode(coded), end);
        let entry = self.node(body, end_code);
        self.owner = outer;
        let made = &mut self.program.callees[callee as usize];
        (made.entry, made.end) = (entry, end);
        self.operation(Operation::Coded(coded), next)
    }

    /// Adds the callee that derives a part by itself, if it is copied and nothing in it follows from other parts.
    fn add_copy(&mut self, label: LabelId, body: NodeId) {
        let known = &self.program.operations.labels[label.index()];
        if known.is_copied && known.copy.is_none() && self.ir.free(body).is_empty() {
            let copy = self.further_callee(body);
            self.program.operations.labels[label.index()].copy = Some(copy);
            self.callee(copy, body);
        }
    }

    /// Returns the state of as many rounds as a number says.
    pub(super) fn times(&mut self, item: NodeId, rounds: &Value<Known>, next: StateId) -> StateId {
        let rounds = LoopRounds::Times(self.value(rounds));
        self.counted_in_place(rounds, item, None, next)
    }

    /// Returns the state of a repetition whose rounds the environment counts.
    pub(super) fn counted_in_place(
        &mut self,
        rounds: LoopRounds,
        item: NodeId,
        counted: Option<Place>,
        next: StateId,
    ) -> StateId {
        let number = self.program.operations.loops.len() as u32;
        // What is coded can be shorter than it counts, and so can its copies.
        let is_coded = self.can_be_shorter.get(item.index()) == Some(&true);
        let is_coded = is_coded || self.ir.has_codes() && !self.ir.free(item).is_empty();
        let min_len = if is_coded { 0 } else { self.ir.facts(item).min_len };
        self.program.operations.loops.push(Loop { rounds, item: 0, min_len, counted });
        let end = self.operation(Operation::End(number), next);
        if matches!(self.program.operations.loops[number as usize].rounds, LoopRounds::Times(_))
            && self.ir.node(item).is_empty()
        {
            return self.operation(Operation::Begin(number), end);
        }
        let round = self.operation(Operation::Round(number), end);
        let after = self.operation(Operation::AfterRound(number), round);
        self.program.operations.loops[number as usize].item = self.node(item, after);
        self.operation(Operation::Begin(number), round)
    }

    /// Returns true if something follows from the names of a kind.
    pub(super) fn is_known(&self, kind: KindId) -> bool {
        let kind = &self.program.operations.kinds[kind.index()];
        kind.is_unique || kind.is_taken
    }

    /// Returns the state of a part that does something with names.
    pub(super) fn naming(&mut self, naming: &Naming<KindId>, body: NodeId, next: StateId) -> StateId {
        match naming {
            // Nothing follows from these names.
            Naming::Define(kind) if !self.is_known(*kind) => self.node(body, next),
            Naming::Declare(kind) if !self.is_known(*kind) => next,
            Naming::Define(kind) | Naming::Unique(kind) => {
                let end = self.operation(Operation::Name(*kind, naming.unique().is_some()), next);
                let part = self.node(body, end);
                self.operation(Operation::BeginName, part)
            }
            Naming::Declare(kind) => match self.ir.node(body).leaf().map(|leaf| &leaf.derived) {
                Some(Derived::Copy(known)) => {
                    let place = self.place(known.label, (known.len, known.rounds));
                    self.operation(Operation::Declare(*kind, place), next)
                }
                _ => next,
            },
            Naming::Use(kind) => {
                let other = self.node(body, next);
                let unseen = self.operation(Operation::Unseen(*kind, self.zeros[body.index()]), next);
                self.add_given(*kind);
                self.operation(Operation::Use(*kind, other, unseen), next)
            }
            Naming::Scope(kinds) => {
                self.program.operations.scopes.push(kinds.clone());
                let scope = self.program.operations.scopes.len() as u32 - 1;
                let leave = self.operation(Operation::LeaveNames(scope), next);
                let body = self.node(body, leave);
                self.operation(Operation::Names(scope), body)
            }
        }
    }

    /// Adds the callees that derive names of a kind where they are not seen.
    fn add_given(&mut self, kind: KindId) {
        let known = &self.program.operations.kinds[kind.index()];
        for part in known.given.clone().into_iter().skip(known.callees.len()) {
            let callee = self.further_callee(part);
            self.program.operations.kinds[kind.index()].callees.push(callee);
            self.callee(callee, part);
        }
    }

    /// Returns the state of a scope.
    pub(super) fn scope(&mut self, scope: &Scope, next: StateId) -> StateId {
        if !scope.arguments.is_empty() {
            return self.given(scope, next);
        }
        let labels = scope.labels.len() as u32;
        self.seen.extend(&scope.labels);
        let is_seen = |field: &&Field| field.value.terms.iter().all(|term| self.seen.contains(&term.label.label));
        let fields = scope.fields.iter().filter(is_seen).map(|field| (self.value(&field.value), field.greatest));
        let fields = fields.collect();
        self.program.operations.fields.push(fields);
        let fields = self.program.operations.fields.len() as u32 - 1;
        let mut leave = self.operation(Operation::LeaveScope(labels, fields), next);
        if let Some(label) = scope.round_of() {
            leave = self.operation(Operation::Keep(self.place(label, (0, 0)), labels), leave);
        }
        let body = self.node(scope.body, leave);
        self.seen.truncate(self.seen.len() - labels as usize);
        let begin = match scope.mirrored() {
            Some(label) => Operation::Mirror(self.place(label, (0, 0))),
            None => Operation::Scope(labels),
        };
        self.operation(begin, body)
    }

    /// Returns the state of a rule to which labelled parts are given.
    fn given(&mut self, scope: &Scope, next: StateId) -> StateId {
        let arguments = scope.arguments.iter().map(|known| self.place(known.label, (known.len, known.rounds)));
        let arguments = arguments.collect();
        self.program.operations.arguments.push(arguments);
        let arguments = self.program.operations.arguments.len() as u32 - 1;
        let after = self.operation(Operation::Given, next);
        let call = self.node(scope.body, after);
        self.operation(Operation::Give(arguments), call)
    }
}
