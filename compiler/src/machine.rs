//! The machine that interprets an IR. It follows the definition of the choice map literally, with an explicit stack,
//! and reports its steps to a recorder. The reference interpreter and the tracing engine are this machine with
//! recorders of their own.
//!
//! It is meant for the lowered IR. Residual IR has the same meaning to it, which the tests of the passes use (E2).

use crate::analysis::pools::Pools;
use crate::charset::CharSet;
use crate::ir::{Choice, Composition, Ir, NodeId, Rounds, RuleId, Site};
use crate::labels::Labels;
use crate::limits::Limits;

mod labels;
mod record;

pub use record::{DecidedSite, Kind, NONE, Nothing, Position, Recorder};

/// A part that can be derived by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// An instance of a rule.
    Rule(RuleId),
    /// An instance of a rule beyond the depth limit, which is a string of its pool.
    Pool(RuleId),
    /// A node.
    Node(NodeId),
    /// A round of a repetition after the minimum, which a site decides on.
    Round(NodeId),
}

/// Decides the sites of a machine.
pub trait Decide {
    /// Flag for sites with one option: true if they are decided and reported, too.
    const FORCED: bool = false;
    /// Flag for choice bytes: true if they are read. If not, positions do not count them.
    const READS: bool = true;

    /// Returns the option that a site takes.
    fn decide(&mut self, node: NodeId, site: Site<'_>) -> Decided;

    /// Notes that the last site leads to what another option stands for: the name that it takes does not fit.
    fn replace(&mut self, _option: u32) {}
}

/// The decision on a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// The option, in canonical order.
    pub option: u32,
    /// The number of choice bytes that were missing.
    pub missing: u32,
}

/// Choice bytes decide: the function returns them, and always `None` once there are no more. Missing bytes count as 0,
/// which leads to option 0.
impl<N: FnMut() -> Option<u8>> Decide for N {
    #[inline(always)]
    fn decide(&mut self, _node: NodeId, site: Site<'_>) -> Decided {
        let (mut value, mut missing) = (0, 0);
        for index in 0..site.width() {
            let byte = self();
            missing += u32::from(byte.is_none());
            value |= u32::from(byte.unwrap_or(0)) << (8 * index);
        }
        Decided { option: site.option_of(value), missing }
    }
}

/// Returns the length of the shortest text of a part, in bytes.
#[inline]
pub fn min_len_of(ir: &Ir, part: Part) -> u64 {
    match part {
        Part::Rule(rule) | Part::Pool(rule) => ir.rule(rule).facts.min_len,
        Part::Node(node) => ir.facts(node).min_len,
        Part::Round(node) => ir.node(node).rounds().map_or(0, |rounds| ir.facts(rounds.item).min_len),
    }
}

/// Returns the number of options that the site of a node offers with this slack; see [`DecidedSite::slack`].
#[inline]
pub fn offered(ir: &Ir, node: NodeId, slack: u64) -> u32 {
    match ir.node(node).composition() {
        Composition::Class(set) => offered_of_class(set, set.min_len(), slack),
        Composition::One(choice) => offered_of_choice(ir, choice, ir.facts(node).min_len, slack),
        Composition::Rounds { item, .. } => offered_of_round(ir.facts(item).min_len, slack),
        Composition::Bytes(_) | Composition::Instance(..) | Composition::All(_) => 0,
        Composition::Derived(_) | Composition::Times { .. } | Composition::Label(..) => 0,
        Composition::Scope(_) | Composition::Naming(..) | Composition::Coded(..) => 0,
    }
}

/// Returns the least slack with which the site of a node offers all its options.
pub fn ample_slack(ir: &Ir, node: NodeId) -> u64 {
    match ir.node(node).composition() {
        Composition::Class(set) => set.max_len() - set.min_len(),
        Composition::One(choice) => {
            let min_len = ir.facts(node).min_len;
            choice.options.iter().map(|&option| ir.facts(option).min_len - min_len).max().unwrap_or(0)
        }
        Composition::Rounds { item, .. } => ir.facts(item).min_len,
        Composition::Bytes(_) | Composition::Instance(..) | Composition::All(_) => 0,
        Composition::Derived(_) | Composition::Times { .. } | Composition::Label(..) => 0,
        Composition::Scope(_) | Composition::Naming(..) | Composition::Coded(..) => 0,
    }
}

/// Up to this many options are looked at in turn.
const MANY: usize = 16;

#[inline]
fn offered_of_choice(ir: &Ir, choice: &Choice, min_len: u64, slack: u64) -> u32 {
    let cost = |option: &NodeId| ir.facts(*option).min_len - min_len;
    let costs_most = choice.options.last().filter(|_| ir.is_ordered()).map(cost);
    match slack {
        u64::MAX => choice.options.len() as u32,
        // Mostly all are offered: where options are ordered, the last one tells.
        slack if costs_most.is_some_and(|cost| cost <= slack) => choice.options.len() as u32,
        slack if ir.is_ordered() && choice.options.len() > MANY => offered_of_many(ir, choice, min_len, slack),
        slack => choice.options.iter().take_while(|option| cost(option) <= slack).count() as u32,
    }
}

/// Returns the number of options that a choice offers. It is apart from the other functions, so that these stay short
/// enough to be inlined.
#[cold]
fn offered_of_many(ir: &Ir, choice: &Choice, min_len: u64, slack: u64) -> u32 {
    choice.options.partition_point(|option| ir.facts(*option).min_len - min_len <= slack) as u32
}

#[inline]
fn offered_of_class(set: &CharSet, min_len: u64, slack: u64) -> u32 {
    if slack == u64::MAX { set.len() } else { set.len_within(slack.saturating_add(min_len)) }
}

#[inline]
fn offered_of_round(cost: u64, slack: u64) -> u32 {
    if cost <= slack { 2 } else { 1 }
}

/// A pending step of a machine. The last one runs next.
#[derive(Clone, Copy, Debug)]
pub struct Task(Todo);

#[derive(Clone, Copy, Debug)]
enum Todo {
    /// Derive a node inside a rule instance of this depth.
    Node(NodeId, u32),
    /// Further rounds of a repetition: its node, the number of rounds done, the depth, and its span.
    Rounds(NodeId, u32, u32, u32),
    /// The end of the span with this number.
    End(u32),
    /// The end of a derivation that takes option 0 everywhere.
    EndShortest,
    /// Further rounds of a node: how many, and the depth.
    Times(NodeId, u64, u32),
    /// The end of the labelled part or the scope that this node is.
    Leave(NodeId),
}

/// The state of one run.
#[derive(Debug)]
pub struct Machine<'m, R, D> {
    ir: &'m Ir,
    pools: &'m Pools,
    max_depth: Option<u32>,
    /// If the output has more bytes, every site takes option 0.
    max_output: u64,
    /// Bound - (emitted + minimum of all pending). Without a bound the greatest value, which never changes.
    slack: u64,
    base: usize,
    output: &'m mut Vec<u8>,
    decider: D,
    read: u64,
    missing: u64,
    /// The number of open derivations that take option 0 everywhere.
    shortest: u32,
    recorder: R,
    tasks: Vec<Task>,
    /// A body for each rule, as the target of jumps back. Computed when first needed.
    homes: Option<Vec<Option<NodeId>>>,
    labels: Labels,
}

impl<'m, R: Recorder, D: Decide> Machine<'m, R, D> {
    /// Returns a machine that appends to `output`. A depth limit needs the pools of the grammar. A rule without a pool
    /// is derived as if it were within the limit. Once there are more than `max_output` bytes, every site takes option
    /// 0.
    pub fn new(
        ir: &'m Ir,
        pools: &'m Pools,
        limits: Limits,
        max_output: u64,
        decider: D,
        output: &'m mut Vec<u8>,
        recorder: R,
    ) -> Machine<'m, R, D> {
        debug_assert!(R::TEXT || max_output == u64::MAX, "the text is not written, so its length is not known");
        let min_len = ir.rule(ir.start()).facts.min_len;
        Machine {
            ir,
            pools,
            max_depth: limits.max_depth,
            max_output,
            slack: Labels::limit(ir, limits.max_len).map_or(u64::MAX, |bound| bound.saturating_sub(min_len)),
            base: output.len(),
            output,
            decider,
            read: 0,
            missing: 0,
            shortest: 0,
            recorder,
            tasks: Vec::new(),
            homes: None,
            labels: Labels::new(ir),
        }
    }

    /// Prepares the machine for a part that may have at most this many bytes, which must suffice for its shortest text.
    pub fn within(mut self, part: Part, bytes: u64) -> Machine<'m, R, D> {
        self.slack = bytes.saturating_sub(min_len_of(self.ir, part));
        self
    }

    /// Derives a part in an instance of this depth (or the instance itself). Returns the final position. Reuses the
    /// memory of `tasks`.
    pub fn derive(mut self, part: Part, depth: u32, tasks: &mut Vec<Task>) -> Position {
        std::mem::swap(&mut self.tasks, tasks);
        let first = match part {
            // The start rule is never beyond the limit, so nothing is recorded for this node.
            Part::Rule(rule) => self.instance(rule, self.ir.body(rule), NodeId::new(0), depth),
            Part::Pool(rule) => self.pool(rule, self.ir.body(rule), NodeId::new(0), depth),
            Part::Node(node) => Some(node),
            Part::Round(node) => self.round(node),
        };
        self.tasks.extend(first.map(|first| Task(Todo::Node(first, depth))));
        while let Some(Task(task)) = self.tasks.pop() {
            match task {
                Todo::Node(node, depth) => self.node(node, depth),
                Todo::Rounds(node, done, depth, span) => {
                    if let Some(item) = self.rounds(node, done, depth, span) {
                        self.node(item, depth);
                    }
                }
                Todo::End(span) => self.end(span),
                Todo::EndShortest => self.shortest -= 1,
                Todo::Times(item, rounds, depth) => {
                    if rounds > 1 {
                        self.todo(Todo::Times(item, rounds - 1, depth));
                    }
                    self.node(item, depth);
                }
                Todo::Leave(node) => self.leave(node),
            }
        }
        std::mem::swap(&mut self.tasks, tasks);
        if self.labels.are_used()
            && let Some(moves) = self.labels.settle(self.ir, self.output, self.base)
        {
            self.recorder.settled(&moves);
        }
        self.position()
    }

    fn position(&self) -> Position {
        let (consumed, marks) = (self.read - self.missing, self.labels.marks());
        Position { read: self.read, consumed, emitted: self.emitted(), marks }
    }

    fn emitted(&self) -> u64 {
        (self.output.len() - self.base) as u64
    }

    fn todo(&mut self, task: Todo) {
        self.tasks.push(Task(task));
    }

    fn begin(&mut self, kind: Kind, part: Part, depth: u32) -> u32 {
        let at = self.position();
        self.recorder.begin(kind, part, depth, at)
    }

    fn end(&mut self, span: u32) {
        if span != NONE {
            let at = self.position();
            self.recorder.end(span, at);
        }
    }

    /// Ends the span once all tasks added after this call are done.
    fn end_later(&mut self, span: u32) {
        if span != NONE {
            self.todo(Todo::End(span));
        }
    }

    /// Derives a node, and then the first node within it, and so on; the others become tasks.
    fn node(&mut self, mut node: NodeId, mut depth: u32) {
        let ir = self.ir;
        loop {
            let next = match ir.node(node).composition() {
                Composition::Bytes(bytes) => return self.emit(bytes),
                Composition::Class(set) => return self.class(node, set),
                Composition::Instance(rule, body) => {
                    let body = body.or_else(|| ir.body(rule)).or_else(|| self.home(rule));
                    depth += 1;
                    self.instance(rule, body, node, depth)
                }
                Composition::All(items) => {
                    let (first, rest) =
                        items.split_first().map_or((None, &[][..]), |(first, rest)| (Some(*first), rest));
                    self.tasks.extend(rest.iter().rev().map(|&item| Task(Todo::Node(item, depth))));
                    first
                }
                Composition::One(choice) => Some(self.choice(node, choice, depth)),
                Composition::Rounds { .. } => {
                    let span = self.begin(Kind::Repetition, Part::Node(node), depth);
                    self.rounds(node, 0, depth, span)
                }
                Composition::Derived(_) | Composition::Times { .. } | Composition::Label(..) => {
                    self.labelled(node, depth)
                }
                Composition::Scope(_) | Composition::Naming(..) | Composition::Coded(..) => self.labelled(node, depth),
            };
            let Some(next) = next else { return };
            node = next;
        }
    }

    /// Decides a choice. Returns the option that is to be derived.
    fn choice(&mut self, node: NodeId, choice: &Choice, depth: u32) -> NodeId {
        let ir = self.ir;
        let span = self.begin(Kind::Choice, Part::Node(node), depth);
        let min_len = ir.facts(node).min_len;
        if self.labels.are_used() && ir.is_open(node) {
            let option = self.open_choice(node, choice);
            self.end_later(span);
            return option;
        }
        let offered = offered_of_choice(ir, choice, min_len, self.slack);
        let option = self.pick(node, choice.site().narrowed(offered));
        self.recorder.option(node, option);
        let option = choice.options[option as usize];
        self.pay(ir.facts(option).min_len - min_len);
        self.end_later(span);
        option
    }

    fn class(&mut self, node: NodeId, set: &CharSet) {
        let is_free = self.slack == u64::MAX;
        if is_free && !self.writes() {
            self.pick(node, Site::even(set.len()));
            return;
        }
        let min_len = set.min_len();
        let offered = offered_of_class(set, min_len, self.slack);
        let index = self.pick(node, Site::even(offered));
        // The index is below the number of members.
        let member = set.encode(set.nth(index).unwrap_or_default());
        self.pay(member.as_ref().len() as u64 - min_len);
        self.emit(member.as_ref());
    }

    /// Returns true if the text is written: also for a recorder that does not need it, if something follows from it.
    #[inline]
    fn writes(&self) -> bool {
        R::TEXT || self.labels.are_used()
    }

    #[inline]
    fn emit(&mut self, bytes: &[u8]) {
        if self.writes() {
            match bytes {
                // Most classes and many literals are single bytes. A call that copies memory takes longer.
                [byte] => self.output.push(*byte),
                _ => self.output.extend_from_slice(bytes),
            }
        }
    }

    /// Returns the target of a jump back to a rule whose body stands only in place.
    fn home(&mut self, rule: RuleId) -> Option<NodeId> {
        let ir = self.ir;
        self.homes.get_or_insert_with(|| ir.homes())[rule.index()]
    }

    /// Decides on a further round of a repetition. Returns the item that is to be derived.
    fn rounds(&mut self, node: NodeId, done: u32, depth: u32, span: u32) -> Option<NodeId> {
        if self.labels.are_used() {
            self.rounds_of::<true>(node, done, depth, span)
        } else {
            self.rounds_of::<false>(node, done, depth, span)
        }
    }

    /// Does what [`Machine::rounds`] does, in a grammar that has labels or not.
    fn rounds_of<const LABELS: bool>(&mut self, node: NodeId, done: u32, depth: u32, span: u32) -> Option<NodeId> {
        let Rounds { item, min, max } = self.ir.node(node).rounds()?;
        if done < min {
            if LABELS {
                self.labels.begin_round(self.ir, node, false);
            }
            self.todo(Todo::Rounds(node, done + 1, depth, span));
            return Some(item);
        }
        if span != NONE {
            self.recorder.room(span, max.map_or(u32::MAX, |max| max - done));
        }
        if max.is_none_or(|max| done < max) {
            let slack = if LABELS { self.labels.further(self.ir, node, self.slack) } else { self.after_round(item) };
            let round = self.begin(Kind::Round, Part::Round(node), depth);
            if self.pick(node, Site::even(if slack.is_some() { 2 } else { 1 })) == 1 {
                if LABELS {
                    self.labels.begin_round(self.ir, node, true);
                }
                self.slack = slack.unwrap_or(self.slack);
                // Saturates: 2^32 rounds are never reached.
                self.todo(Todo::Rounds(node, done.saturating_add(1), depth, span));
                self.end_later(round);
                return Some(item);
            }
            if round != NONE {
                self.recorder.cancel(round);
            }
        }
        self.end(span);
        None
    }

    /// Returns the slack after another round of this item; `None` if it does not fit.
    #[inline]
    fn after_round(&self, item: NodeId) -> Option<u64> {
        match self.slack {
            u64::MAX => Some(u64::MAX),
            slack => slack.checked_sub(self.ir.facts(item).min_len),
        }
    }

    /// Takes the site of a single round, and returns its item.
    fn round(&mut self, node: NodeId) -> Option<NodeId> {
        let Rounds { item, .. } = self.ir.node(node).rounds()?;
        self.pick(node, Site::even(2));
        Some(item)
    }

    /// Begins an instance of a rule with this body, referred to by `node`. Returns the body if it is to be derived.
    #[inline(always)]
    fn instance(&mut self, rule: RuleId, body: Option<NodeId>, node: NodeId, depth: u32) -> Option<NodeId> {
        let is_beyond = self.max_depth.is_some_and(|max_depth| depth > max_depth);
        if is_beyond && self.shortest == 0 && self.pools.get(rule).is_some() {
            return self.pool(rule, body, node, depth);
        }
        let span = self.begin(Kind::Instance, Part::Rule(rule), depth);
        self.end_later(span);
        body
    }

    /// Derives an instance beyond the depth limit. Returns the body if it is to be derived.
    fn pool(&mut self, rule: RuleId, body: Option<NodeId>, node: NodeId, depth: u32) -> Option<NodeId> {
        let pool = self.pools.get(rule)?;
        let (min_len, slack) = (self.ir.rule(rule).facts.min_len, self.slack);
        let offered = pool.strings.partition_point(|string| string.len() as u64 - min_len <= slack);
        if offered > 0 {
            let span = self.begin(Kind::Pool, Part::Pool(rule), depth);
            let string = &pool.strings[self.pick(node, Site::even(offered as u32)) as usize];
            self.pay(string.len() as u64 - min_len);
            self.emit(string);
            self.end(span);
            return None;
        }
        // No string of the pool is short enough, so the shortest derivation is used.
        let span = self.begin(Kind::Instance, Part::Rule(rule), depth);
        self.shortest += 1;
        self.todo(Todo::EndShortest);
        self.end_later(span);
        body
    }

    fn pay(&mut self, cost: u64) {
        if self.slack != u64::MAX {
            self.slack -= cost;
        }
    }

    /// Returns the option that a site takes.
    #[inline(always)]
    fn pick(&mut self, node: NodeId, site: Site<'_>) -> u32 {
        self.pick_what(node, site, |_, option| option)
    }

    /// Returns the option that a site takes. It is reported as the one that it leads to.
    #[inline(always)]
    fn pick_what(&mut self, node: NodeId, site: Site<'_>, leads_to: impl FnOnce(&Self, u32) -> u32) -> u32 {
        let offered = site.options();
        // A site with one option reads nothing.
        if (offered <= 1 && !D::FORCED) || self.shortest > 0 {
            return leads_to(self, 0);
        }
        let at = self.position();
        let width = if D::READS { site.width() } else { 0 };
        let option = if self.emitted() <= self.max_output {
            let decided = self.decider.decide(node, site);
            self.missing += u64::from(decided.missing);
            self.read += u64::from(width);
            decided.option
        } else {
            site.option_of(0)
        };
        let taken = option;
        let option = leads_to(self, taken);
        if option != taken {
            self.decider.replace(option);
        }
        let slack = self.slack;
        self.recorder.site(DecidedSite { node, option, offered, width, at, slack });
        option
    }
}
