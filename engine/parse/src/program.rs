//! The grammar as a network of states that read, choose and call. It is made from the lowered IR, and has the sites of
//! the choice map.

use gramjet_compiler::analysis::{reach, shortest};
use gramjet_compiler::charset::CharSet;
use gramjet_compiler::ir::{Choice, Composition, First, Ir, LabelId, NodeId, RuleId, Scope, Site, Slots};

use crate::lookahead::Lookahead;

pub(crate) mod operations;
pub(crate) mod relaxed;

use operations::{LoopRounds, Operation, Operations};
use relaxed::Mark;

/// The number of a state.
pub(crate) type StateId = u32;

/// The next step of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) enum State {
    /// Reads these bytes of [`Program::bytes`], at most [`MAX_BYTES`].
    Bytes { start: u32, len: u32, next: StateId },
    /// Reads a member of a class.
    Class { class: u32, next: StateId },
    /// Takes an option; the targets stand in [`Program::targets`].
    Choice { site: u32, first: u32, count: u32 },
    /// One more round of a repetition, or none.
    Rounds { site: u32, item: StateId, stop: StateId },
    /// Derives a callee that is not empty and goes on at `next`; with `skip`, goes on without it if it may be empty.
    Call { callee: u32, next: StateId, skip: bool },
    /// In a counted repetition, before a round. The thread's count is the number of rounds done.
    Count { repeat: u32 },
    /// In a counted repetition, after a round.
    Round { repeat: u32 },
    /// A step that concerns labelled parts, one of [`Operations`]. Only grammars with labels have some.
    Operation { operation: u32, next: StateId },
    /// Marks a place of the text: one of [`Program::marks`]. Only relaxed programs have some.
    Mark { mark: u32, next: StateId },
    /// The end of a callee.
    End,
}

/// Literals are read in pieces of at most this number of bytes.
pub(crate) const MAX_BYTES: usize = 48;

/// The target of a call: a rule, or a counted repetition or its item.
#[derive(Clone, Debug)]
pub(crate) struct Callee {
    pub entry: StateId,
    pub end: StateId,
    /// Whether it may be empty, and how many choice bytes, all zero, make it empty; in a grammar with labels, how many
    /// options.
    pub nullable: bool,
    pub zeros: u64,
    /// The rule itself, or the rule that contains it.
    pub rule: RuleId,
    pub is_rule: bool,
    /// Whether it is a rule with parameters. If it may be empty, that follows from the parts that they stand for.
    pub has_parameters: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Repeat {
    pub site: u32,
    pub min: u32,
    pub max: Option<u32>,
    pub item: StateId,
    pub end: StateId,
    pub count: StateId,
    /// Number of choice bytes that make an empty round, if there is such a round.
    pub empty: Option<u64>,
}

/// Ways to go on before a round of a counted repetition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another round. If all missing rounds may be empty, this number of choice bytes, all zero, leads to the end.
    Round { zeros: Option<u64> },
    /// The end.
    End,
    /// The end or another round, by the options 0 and 1 of the site.
    Either,
}

impl Repeat {
    /// Returns the ways to go on after this number of rounds.
    #[inline]
    pub fn next(&self, done: u32) -> Next {
        if done < self.min {
            let stop = u64::from(self.max != Some(self.min));
            let missing = u64::from(self.min - done);
            Next::Round { zeros: self.empty.map(|empty| missing.saturating_mul(empty).saturating_add(stop)) }
        } else if self.max == Some(done) {
            Next::End
        } else {
            Next::Either
        }
    }

    /// Returns the number of rounds after one more. After the minimum of a repetition without a maximum, all numbers
    /// are the same.
    #[inline]
    pub fn after_one_more(&self, done: u32) -> u32 {
        done.saturating_add(1).min(self.max.unwrap_or(self.min))
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub site: u32,
    pub set: CharSet,
    /// For sets of bytes: the place of each member; else `NOT`.
    pub places: Option<Box<[u16; 256]>>,
    /// Number of members before each range.
    before: Box<[u32]>,
}

impl Class {
    fn new(site: u32, set: &CharSet) -> Class {
        let places = (set.len_within(1) == set.len()).then(|| {
            let mut places = Box::new([NOT; 256]);
            set.iter().enumerate().for_each(|(place, member)| places[member as usize] = place as u16);
            places
        });
        let mut sum = 0;
        let before = set.ranges().iter().map(|&(low, high)| {
            sum += high - low + 1;
            sum - (high - low + 1)
        });
        Class { site, set: set.clone(), places, before: before.collect() }
    }

    /// Returns the place of a member in ascending order.
    pub fn place(&self, member: u32) -> Option<u32> {
        let range = self.set.ranges().partition_point(|&(_, high)| high < member);
        let &(low, _) = self.set.ranges().get(range).filter(|&&(low, _)| low <= member)?;
        Some(self.before[range] + (member - low))
    }
}

pub(crate) const NOT: u16 = u16::MAX;

/// A site in a form that does not need the IR.
#[derive(Clone, Debug)]
pub(crate) struct SiteCode {
    options: u32,
    slots: Option<Slots>,
}

impl SiteCode {
    pub fn site(&self) -> Site<'_> {
        Site::new(self.options, self.slots.as_ref())
    }
}

/// A grammar in the form for parsing.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub states: Vec<State>,
    /// The callee that each state belongs to.
    pub owners: Vec<u32>,
    /// Flag for each state: true if a thread can come to it at the same position and in the same frame in two ways.
    pub joins: Vec<bool>,
    pub bytes: Vec<u8>,
    pub targets: Vec<StateId>,
    /// The option of each target. Options that are only read come last.
    pub options: Vec<u32>,
    pub classes: Vec<Class>,
    pub repeats: Vec<Repeat>,
    /// The rules first, by their numbers.
    pub callees: Vec<Callee>,
    pub sites: Vec<SiteCode>,
    pub start: u32,
    pub rule_names: Vec<String>,
    pub operations: Operations,
    /// The marks of a relaxed program.
    pub marks: Option<Vec<Mark>>,
    pub lookahead: Lookahead,
}

impl Program {
    /// Returns the program for all texts.
    pub fn new(ir: &Ir) -> Program {
        Program::with(ir, vec![true; ir.node_count()], [false; 2]).expect("only relaxed programs are refused")
    }

    /// Returns the program for texts without options that are only read; `None` if there are no such options. A part
    /// that is empty only by another derivation than the shortest one is not found: what follows may then be missed,
    /// but never made up.
    pub fn of_generated(ir: &Ir) -> Option<Program> {
        reads_more(ir).then(|| Program::with(ir, shortest_that_are_generated(ir), [true, false])).flatten()
    }

    /// Returns a program. `can_be_empty` says of each node whether its shortest derivation may be taken for an empty
    /// text. `None` if a relaxed one cannot be made.
    fn with(ir: &Ir, can_be_empty: Vec<bool>, [only_generated, is_relaxed]: [bool; 2]) -> Option<Program> {
        let counts_sites = ir.has_labels() && !is_relaxed;
        let zeros = if counts_sites { shortest::sites(ir) } else { shortest::choices(ir) };
        let rules = ir.rules().len();
        let nothing = |rule: RuleId| Callee {
            entry: 0,
            end: 0,
            nullable: ir.rule(rule).facts.min_len == 0 && ir.body(rule).is_none_or(|body| can_be_empty[body.index()]),
            zeros: zeros[rule.index()],
            rule,
            is_rule: true,
            has_parameters: !ir.parameters(rule).is_empty(),
        };
        let program = Program {
            states: Vec::new(),
            owners: Vec::new(),
            joins: Vec::new(),
            bytes: Vec::new(),
            targets: Vec::new(),
            options: Vec::new(),
            classes: Vec::new(),
            repeats: Vec::new(),
            callees: ir.rule_ids().map(nothing).collect(),
            sites: Vec::new(),
            start: ir.start().index() as u32,
            rule_names: ir.rules().iter().map(|rule| known_name(&rule.name).to_string()).collect(),
            operations: Operations::new(ir),
            marks: is_relaxed.then(Vec::new),
            lookahead: Lookahead::default(),
        };
        debug_assert_eq!(program.callees.len(), rules);
        let zeros = if counts_sites { shortest::node_sites(ir, &zeros) } else { shortest::node_choices(ir, &zeros) };
        let can_be_shorter = if ir.has_codes() || ir.has_parameters() {
            let is_such = |scope: &Scope| scope.longer > 0;
            reach::reaching(ir, |node| ir.node(node).coded().is_some() || ir.node(node).scope().is_some_and(is_such))
        } else {
            Vec::new()
        };
        let mut builder = Builder {
            ir,
            zeros,
            can_be_empty,
            only_generated,
            program,
            owner: 0,
            seen: Vec::new(),
            can_be_shorter,
            is_refused: false,
        };
        for (rule, body) in ir.bodies() {
            builder.callee(rule.index() as u32, body);
            if builder.is_refused {
                return None;
            }
        }
        let mut program = builder.program;
        program.joins = program.joining_states();
        program.lookahead = Lookahead::new(&program);
        Some(program)
    }

    /// Returns the states that a state leads to without a frame in between; after a call, the state to return to.
    pub fn successors(&self, state: StateId) -> impl Iterator<Item = StateId> + '_ {
        let (few, many): ([Option<StateId>; 2], &[StateId]) = match self.states[state as usize] {
            State::Bytes { next, .. }
            | State::Class { next, .. }
            | State::Call { next, .. }
            | State::Mark { next, .. } => ([Some(next), None], &[]),
            State::Choice { first, count, .. } => ([None; 2], &self.targets[first as usize..][..count as usize]),
            State::Rounds { item, stop, .. } => ([Some(item), Some(stop)], &[]),
            State::Count { repeat } => {
                let repeat = &self.repeats[repeat as usize];
                ([Some(repeat.item), Some(repeat.end)], &[])
            }
            State::Round { repeat } => ([Some(self.repeats[repeat as usize].count), None], &[]),
            State::Operation { operation, next } => ([Some(next), self.operations.also_leads_to(operation)], &[]),
            State::End => ([None; 2], &[]),
        };
        few.into_iter().flatten().chain(many.iter().copied())
    }

    /// Returns the operation of a state.
    pub fn operation_at(&self, state: StateId) -> Option<Operation> {
        let State::Operation { operation, .. } = self.states[state as usize] else { return None };
        Some(self.operations.operations[operation as usize])
    }

    fn joining_states(&self) -> Vec<bool> {
        let mut ways = vec![0u8; self.states.len()];
        let mut joins = vec![false; self.states.len()];
        for callee in &self.callees {
            if callee.entry != callee.end {
                ways[callee.entry as usize] += 1;
            }
        }
        for state in 0..self.states.len() as StateId {
            for next in self.successors(state) {
                ways[next as usize] = ways[next as usize].saturating_add(1);
            }
            match self.states[state as usize] {
                // Callees that begin at different places can end at the same.
                State::Call { next, .. } => joins[next as usize] = true,
                State::End | State::Count { .. } => joins[state as usize] = true,
                State::Operation { operation, next } => joins[next as usize] |= self.operations.reads(operation),
                _ => {}
            }
        }
        for (joins, ways) in joins.iter_mut().zip(ways) {
            *joins |= ways > 1;
        }
        joins
    }
}

/// Returns true if a grammar has options that are only read.
fn reads_more(ir: &Ir) -> bool {
    (0..ir.node_count()).any(|node| ir.node(NodeId::new(node)).choice().is_some_and(Choice::reads_more))
}

/// Returns for each node whether its shortest derivation, with option 0 at every site, has no option that is only read.
fn shortest_that_are_generated(ir: &Ir) -> Vec<bool> {
    let mut are = vec![true; ir.node_count()];
    // Falls until nothing changes: a rule can stand after its references in the arena.
    loop {
        let mut has_changed = false;
        for index in 0..are.len() {
            let node = ir.node(NodeId::new(index));
            let is_taken = node.choice().is_none_or(|choice| !choice.is_only_read(0));
            let is = is_taken
                && match node.first() {
                    First::Bytes(_) | First::Member(_) | First::Times(_, 0) => true,
                    First::Instance(rule) => ir.body(rule).is_none_or(|body| are[body.index()]),
                    First::Times(items, _) => items.iter().all(|item| are[item.index()]),
                };
            has_changed |= are[index] != is;
            are[index] = is;
        }
        if !has_changed {
            return are;
        }
    }
}

/// Builds states backwards: each with the one that follows it.
struct Builder<'i> {
    ir: &'i Ir,
    /// Number of choice bytes that the shortest derivation of each node reads; in a grammar with labels, its sites.
    zeros: Vec<u64>,
    can_be_empty: Vec<bool>,
    /// Options that are only read are left out.
    only_generated: bool,
    program: Program,
    /// The callee whose states are being made.
    owner: u32,
    /// The labels that are seen in it, outer ones first.
    seen: Vec<LabelId>,
    /// For each node whether a text of it can be shorter than it counts before: something is coded in it, or in a rule
    /// that it leads to, or follows from a parameter. Empty without codings and parameters.
    can_be_shorter: Vec<bool>,
    /// Whether the grammar has something that a relaxed program cannot read.
    is_refused: bool,
}

impl Builder<'_> {
    fn add(&mut self, state: State) -> StateId {
        self.program.states.push(state);
        self.program.owners.push(self.owner);
        self.program.states.len() as StateId - 1
    }

    /// Makes the states of a callee.
    fn callee(&mut self, callee: u32, body: NodeId) {
        self.callee_with(callee, |builder, end| builder.node(body, end));
    }

    /// Makes the states of a callee by a function that gets the last state and returns the first one.
    fn callee_with(&mut self, callee: u32, states: impl FnOnce(&mut Self, StateId) -> StateId) {
        let outer = std::mem::replace(&mut self.owner, callee);
        let of = &self.program.callees[callee as usize];
        let parameters = if of.has_parameters { self.ir.parameters(of.rule).to_vec() } else { Vec::new() };
        let seen = std::mem::replace(&mut self.seen, parameters);
        let end = self.add(State::End);
        let entry = states(self, end);
        let made = &mut self.program.callees[callee as usize];
        (made.entry, made.end) = (entry, end);
        (self.owner, self.seen) = (outer, seen);
    }

    /// Returns a callee that is not a rule.
    fn further_callee(&mut self, node: NodeId) -> u32 {
        let rule = self.program.callees[self.owner as usize].rule;
        let nullable = self.can_be_empty(node);
        let zeros = self.zeros[node.index()];
        self.program.callees.push(Callee {
            entry: 0,
            end: 0,
            nullable,
            zeros,
            rule,
            is_rule: false,
            has_parameters: false,
        });
        self.program.callees.len() as u32 - 1
    }

    fn is_relaxed(&self) -> bool {
        self.program.marks.is_some()
    }

    fn can_be_empty(&self, node: NodeId) -> bool {
        self.ir.facts(node).min_len == 0 && self.can_be_empty[node.index()]
    }

    fn site(&mut self, node: NodeId) -> u32 {
        // Repetitions of a fixed number of rounds have no site, and none is asked for.
        let site = self.ir.site_of(node).unwrap_or(Site::even(1));
        self.program.sites.push(SiteCode { options: site.options(), slots: site.slots().cloned() });
        self.program.sites.len() as u32 - 1
    }

    /// Returns the state that derives `node` and goes on at `next`.
    fn node(&mut self, node: NodeId, next: StateId) -> StateId {
        let ir = self.ir;
        if self.is_relaxed() && ir.node(node).has_labels() {
            return self.relaxed(node, next);
        }
        match ir.node(node).composition() {
            Composition::Bytes(bytes) => bytes.rchunks(MAX_BYTES).fold(next, |next, piece| {
                let start = self.program.bytes.len() as u32;
                self.program.bytes.extend_from_slice(piece);
                self.add(State::Bytes { start, len: piece.len() as u32, next })
            }),
            Composition::Class(set) => {
                let site = self.site(node);
                self.program.classes.push(Class::new(site, set));
                let class = self.program.classes.len() as u32 - 1;
                self.add(State::Class { class, next })
            }
            Composition::Instance(_, Some(body)) => self.node(body, next),
            Composition::Instance(rule, None) => {
                self.add(State::Call { callee: rule.index() as u32, next, skip: true })
            }
            Composition::Derived(leaf) => self.derived(&leaf.derived, next),
            Composition::Times { item, rounds } => self.times(item, rounds, next),
            Composition::Label(label, count, body) => self.labelled(label, count, body, next),
            Composition::Scope(scope) => self.scope(scope, next),
            Composition::Naming(naming, body) => self.naming(naming, body, next),
            Composition::Coded(codec, body) => self.coded(codec.coding, body, next),
            Composition::All(items) => items.iter().rev().fold(next, |next, &item| self.node(item, next)),
            Composition::One(choice) => {
                let site = self.site(node);
                let mut targets: Vec<(u32, StateId)> =
                    (0..).zip(&choice.options).map(|(option, &taken)| (option, self.node(taken, next))).collect();
                let is_only_read = |option: u32| choice.is_only_read(option as usize);
                targets.retain(|&(option, _)| !self.only_generated || !is_only_read(option));
                targets.sort_by_key(|&(option, _)| is_only_read(option));
                let first = self.program.targets.len() as u32;
                self.program.options.extend(targets.iter().map(|(option, _)| option));
                self.program.targets.extend(targets.iter().map(|(_, state)| state));
                self.add(State::Choice { site, first, count: targets.len() as u32 })
            }
            Composition::Rounds { item, min: 0, max: Some(1) } => {
                let site = self.site(node);
                let item = self.node(item, next);
                self.add(State::Rounds { site, item, stop: next })
            }
            Composition::Rounds { item, min: min @ (0 | 1), max: None } => {
                let site = self.site(node);
                let rounds = self.add(State::Rounds { site, item: next, stop: next });
                let item = self.node(item, rounds);
                self.program.states[rounds as usize] = State::Rounds { site, item, stop: next };
                if min == 0 { rounds } else { item }
            }
            Composition::Rounds { item, min, max } if !ir.free(item).is_empty() && !self.is_relaxed() => {
                self.counted_in_place(LoopRounds::Between { min, max }, item, None, next)
            }
            Composition::Rounds { item, min, max } => {
                let callee = self.further_callee(node);
                // What follows from parts outside need not be empty.
                self.is_refused |= self.can_be_empty(item) && !ir.free(item).is_empty();
                self.counted(callee, node, item, min, max);
                self.add(State::Call { callee, next, skip: true })
            }
        }
    }

    /// Adds the states of a repetition whose rounds are counted. Where an item may be empty, its rounds are callees of
    /// their own, so that empty rounds can be distinguished: they are made only to reach the minimum.
    fn counted(&mut self, callee: u32, node: NodeId, item: NodeId, min: u32, max: Option<u32>) {
        let outer = std::mem::replace(&mut self.owner, callee);
        // The parts of a relaxed program are those of the whole text.
        let seen = if self.is_relaxed() { self.seen.clone() } else { std::mem::take(&mut self.seen) };
        let site = self.site(node);
        let end = self.add(State::End);
        let repeat = self.program.repeats.len() as u32;
        let empty = self.can_be_empty(item).then(|| self.zeros[item.index()]);
        let count = self.add(State::Count { repeat });
        self.program.repeats.push(Repeat { site, min, max, item: count, end, count, empty });
        let round = self.add(State::Round { repeat });
        let first = match empty {
            Some(_) => {
                let inner = self.further_callee(item);
                self.callee(inner, item);
                self.add(State::Call { callee: inner, next: round, skip: false })
            }
            None => self.node(item, round),
        };
        // Threads count them in another way, and may come to them in another order.
        let is_marked = self.is_relaxed() && !self.ir.free(item).is_empty();
        let first = if is_marked { self.mark(Mark::Counted, first) } else { first };
        self.program.repeats[repeat as usize].item = first;
        let made = &mut self.program.callees[callee as usize];
        (made.entry, made.end) = (count, end);
        (self.owner, self.seen) = (outer, seen);
    }
}

/// Returns the name of the rule in the grammar file. Rules that are made of another one, for a mode of a lexer or for a
/// part, have its name with `.2` or `.part`, and possibly a further number.
fn known_name(name: &str) -> &str {
    let mut known = name;
    while let Some((base, made)) = known.rsplit_once('.') {
        let is_made = made == "part" || (!made.is_empty() && made.bytes().all(|byte| byte.is_ascii_digit()));
        if base.is_empty() || !is_made {
            break;
        }
        known = base;
    }
    known
}

#[cfg(test)]
mod names {
    use super::{Next, Repeat, known_name};

    #[test]
    fn made_rules_have_the_names_of_those_they_are_made_of() {
        for (name, known) in [
            ("stylesheet.2", "stylesheet"),
            ("ID.part.3", "ID"),
            ("a.b", "a.b"),
            ("v1.0", "v1"),
            (".5", ".5"),
            ("a.", "a."),
            ("plain", "plain"),
        ] {
            assert_eq!(known_name(name), known);
        }
    }

    #[test]
    fn counted_repetitions_end_between_their_bounds() {
        let repeat = |min, max, empty| Repeat { site: 0, min, max, item: 0, end: 0, count: 0, empty };
        // Two empty rounds of 3 choice bytes each are missing, and the site that ends the repetition is read.
        let open = repeat(2, None, Some(3));
        assert_eq!(
            [0, 1, 2].map(|done| open.next(done)),
            [Next::Round { zeros: Some(7) }, Next::Round { zeros: Some(4) }, Next::Either]
        );
        assert_eq!([0, 1, 2].map(|done| open.after_one_more(done)), [1, 2, 2]);
        // With as many rounds as there can be there is no such site.
        let fixed = repeat(2, Some(2), Some(3));
        assert_eq!([0, 2].map(|done| fixed.next(done)), [Next::Round { zeros: Some(6) }, Next::End]);
        let bounded = repeat(1, Some(3), None);
        let all = [Next::Round { zeros: None }, Next::Either, Next::Either, Next::End];
        assert_eq!([0, 1, 2, 3].map(|done| bounded.next(done)), all);
        assert_eq!(bounded.after_one_more(3), 3);
    }
}
