//! The machine that interprets an IR: the choice map as it is worded, with an explicit stack, and a recorder that is shown
//! what it does. The reference interpreter and the tracing engine are this machine with recorders of their own.
//!
//! It is meant for the lowered IR. Residual IR means the same to it, which is how the passes are tested (E2).

use crate::analysis::pools::Pools;
use crate::ir::{Composition, Ir, NodeId, RuleId, Site};
use crate::limits::Limits;

/// What can be derived by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// An instance of a rule.
    Rule(RuleId),
    /// An instance of a rule beyond the depth limit: a string of its pool.
    Pool(RuleId),
    /// A node.
    Node(NodeId),
    /// A round of a repetition that a site decides on.
    Round(NodeId),
}

/// What a recorder is shown as a span, from its beginning to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An instance of a rule.
    Instance,
    /// An instance for which a string of its pool stands.
    Pool,
    /// A choice.
    Choice,
    /// A repetition.
    Repetition,
    /// One of its rounds that a site decides on.
    Round,
}

/// Where the machine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// How many choice bytes sites have read, missing ones included.
    pub read: u64,
    /// How many of them there were.
    pub consumed: u64,
    /// How many bytes were emitted.
    pub emitted: u64,
}

/// A site that was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecidedSite {
    /// Where it stands; for a pool the reference to its rule.
    pub node: NodeId,
    /// The option taken, in canonical order.
    pub option: u32,
    /// How many options were offered.
    pub offered: u32,
    /// How many choice bytes it reads.
    pub width: u32,
    /// Where it begins.
    pub at: Position,
}

/// The number of a span that is not recorded.
pub const NONE: u32 = u32::MAX;

/// What is shown what a machine does. A recorder that does nothing costs nothing.
pub trait Recorder {
    /// A span begins; gives it the number that it is told of later, or [`NONE`].
    fn begin(&mut self, _kind: Kind, _part: Part, _depth: u32, _at: Position) -> u32 {
        NONE
    }

    /// A span that was given a number ends.
    fn end(&mut self, _span: u32, _at: Position) {}

    /// The last span that began does not come.
    fn cancel(&mut self, _span: u32) {}

    /// A repetition may have so many further rounds, `u32::MAX` if there is no bound.
    fn room(&mut self, _span: u32, _room: u32) {}

    /// A site was decided, by choice bytes or by their end.
    fn site(&mut self, _site: DecidedSite) {}

    /// A choice takes an option, whether it was decided or not.
    fn option(&mut self, _choice: NodeId, _option: u32) {}
}

/// Records nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Recorder for Nothing {}

/// What a machine still has to do; the last entry comes next.
#[derive(Clone, Copy, Debug)]
pub struct Task(Todo);

#[derive(Clone, Copy, Debug)]
enum Todo {
    /// Derive a node inside a rule instance of this depth.
    Node(NodeId, u32),
    /// Further rounds of a repetition, of which so many are done, and its span.
    Rounds(NodeId, u32, u32, u32),
    /// The end of the span with this number.
    End(u32),
    /// The end of a derivation that takes option 0 everywhere.
    EndShortest,
}

/// The state of one run: `N` hands out the choice bytes (`None` for good when there are no more).
#[derive(Debug)]
pub struct Machine<'m, R, N> {
    ir: &'m Ir,
    pools: &'m Pools,
    max_depth: Option<u32>,
    /// Choice bytes are not read any more once an output has more bytes.
    max_output: u64,
    /// Bound - (emitted + minimum of all that is pending); the greatest value without a bound, of which nothing is paid.
    slack: u64,
    base: usize,
    output: &'m mut Vec<u8>,
    next_byte: N,
    read: u64,
    missing: u64,
    /// How many derivations that take option 0 everywhere are open.
    shortest: u32,
    recorder: R,
    tasks: Vec<Task>,
    /// A body of each rule, where jumps back go; made when first needed.
    homes: Option<Vec<Option<NodeId>>>,
}

impl<'m, R: Recorder, N: FnMut() -> Option<u8>> Machine<'m, R, N> {
    /// A machine that appends to `output`. A depth limit needs the pools of the grammar; a rule without one goes on as if it were
    /// within the limit. Once there are more than `max_output` bytes every site takes option 0.
    pub fn new(
        ir: &'m Ir,
        pools: &'m Pools,
        limits: Limits,
        max_output: u64,
        next_byte: N,
        output: &'m mut Vec<u8>,
        recorder: R,
    ) -> Machine<'m, R, N> {
        let min_len = ir.rule(ir.start()).facts.min_len;
        Machine {
            ir,
            pools,
            max_depth: limits.max_depth,
            max_output,
            slack: limits.max_len.map_or(u64::MAX, |bound| bound.saturating_sub(min_len)),
            base: output.len(),
            output,
            next_byte,
            read: 0,
            missing: 0,
            shortest: 0,
            recorder,
            tasks: Vec::new(),
            homes: None,
        }
    }

    /// Derives a part that stands in an instance of this depth, or is one; says how far the machine came. The memory of `tasks` is
    /// made use of.
    pub fn derive(mut self, part: Part, depth: u32, tasks: &mut Vec<Task>) -> Position {
        std::mem::swap(&mut self.tasks, tasks);
        match part {
            // The start rule is never beyond the limit, so that nothing is recorded of the node.
            Part::Rule(rule) => self.instance(rule, self.ir.body(rule), NodeId::new(0), depth),
            Part::Pool(rule) => self.pool(rule, self.ir.body(rule), NodeId::new(0), depth),
            Part::Node(node) => self.node(node, depth),
            Part::Round(node) => self.round(node, depth),
        }
        while let Some(Task(task)) = self.tasks.pop() {
            match task {
                Todo::Node(node, depth) => self.node(node, depth),
                Todo::Rounds(node, done, depth, span) => self.rounds(node, done, depth, span),
                Todo::End(span) => self.end(span),
                Todo::EndShortest => self.shortest -= 1,
            }
        }
        std::mem::swap(&mut self.tasks, tasks);
        self.position()
    }

    fn position(&self) -> Position {
        Position { read: self.read, consumed: self.read - self.missing, emitted: self.emitted() }
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

    /// Ends the span behind all tasks that are added after this.
    fn end_later(&mut self, span: u32) {
        if span != NONE {
            self.todo(Todo::End(span));
        }
    }

    fn node(&mut self, node: NodeId, depth: u32) {
        let ir = self.ir;
        match ir.node(node).composition() {
            Composition::Bytes(bytes) => self.output.extend_from_slice(bytes),
            Composition::Class(set) => {
                let min_len = set.min_len();
                let offered = match self.slack {
                    u64::MAX => set.len(),
                    slack => set.len_within(slack.saturating_add(min_len)),
                };
                let index = self.pick(node, Site::even(offered));
                // The index is below the number of members.
                let member = set.encode(set.nth(index).unwrap_or_default());
                self.pay(member.as_ref().len() as u64 - min_len);
                self.output.extend_from_slice(member.as_ref());
            }
            Composition::Instance(rule, body) => {
                let body = body.or_else(|| ir.body(rule)).or_else(|| self.home(rule));
                self.instance(rule, body, node, depth + 1);
            }
            Composition::All(items) => {
                self.tasks.extend(items.iter().rev().map(|&item| Task(Todo::Node(item, depth))));
            }
            Composition::One(choice) => {
                let span = self.begin(Kind::Choice, Part::Node(node), depth);
                let min_len = ir.facts(node).min_len;
                let cost = |option: &NodeId| ir.facts(*option).min_len - min_len;
                let offered = match self.slack {
                    u64::MAX => choice.options.len(),
                    slack => choice.options.iter().take_while(|option| cost(option) <= slack).count(),
                };
                let option = self.pick(node, choice.site().narrowed(offered as u32));
                self.recorder.option(node, option);
                let option = choice.options[option as usize];
                self.pay(cost(&option));
                self.end_later(span);
                self.todo(Todo::Node(option, depth));
            }
            Composition::Rounds { .. } => {
                let span = self.begin(Kind::Repetition, Part::Node(node), depth);
                self.rounds(node, 0, depth, span);
            }
        }
    }

    /// Where a jump back goes to a rule whose body stands in place only.
    fn home(&mut self, rule: RuleId) -> Option<NodeId> {
        let ir = self.ir;
        self.homes.get_or_insert_with(|| ir.homes())[rule.index()]
    }

    fn rounds(&mut self, node: NodeId, done: u32, depth: u32, span: u32) {
        let Composition::Rounds { item, min, max } = self.ir.node(node).composition() else { return };
        if done < min {
            self.todo(Todo::Rounds(node, done + 1, depth, span));
            self.todo(Todo::Node(item, depth));
            return;
        }
        if span != NONE {
            self.recorder.room(span, max.map_or(u32::MAX, |max| max - done));
        }
        let mut goes_on = max.is_none_or(|max| done < max);
        if goes_on {
            let cost = self.ir.facts(item).min_len;
            let round = self.begin(Kind::Round, Part::Round(node), depth);
            let offered = if cost <= self.slack { 2 } else { 1 };
            goes_on = self.pick(node, Site::even(offered)) == 1;
            if goes_on {
                self.pay(cost);
                // Saturation: 2^32 rounds are never reached.
                self.todo(Todo::Rounds(node, done.saturating_add(1), depth, span));
                self.end_later(round);
                self.todo(Todo::Node(item, depth));
            } else if round != NONE {
                self.recorder.cancel(round);
            }
        }
        if !goes_on {
            self.end(span);
        }
    }

    /// One round, by itself.
    fn round(&mut self, node: NodeId, depth: u32) {
        if let Composition::Rounds { item, .. } = self.ir.node(node).composition() {
            self.pick(node, Site::even(2));
            self.todo(Todo::Node(item, depth));
        }
    }

    /// An instance of a rule, referred to by `node`, with a body of it.
    fn instance(&mut self, rule: RuleId, body: Option<NodeId>, node: NodeId, depth: u32) {
        let is_beyond = self.max_depth.is_some_and(|max_depth| depth > max_depth);
        if is_beyond && self.shortest == 0 && self.pools.get(rule).is_some() {
            self.pool(rule, body, node, depth);
            return;
        }
        let span = self.begin(Kind::Instance, Part::Rule(rule), depth);
        self.end_later(span);
        self.tasks.extend(body.map(|body| Task(Todo::Node(body, depth))));
    }

    /// An instance beyond the depth limit.
    fn pool(&mut self, rule: RuleId, body: Option<NodeId>, node: NodeId, depth: u32) {
        let Some(pool) = self.pools.get(rule) else { return };
        let (min_len, slack) = (self.ir.rule(rule).facts.min_len, self.slack);
        let offered = pool.strings.partition_point(|string| string.len() as u64 - min_len <= slack);
        if offered > 0 {
            let span = self.begin(Kind::Pool, Part::Pool(rule), depth);
            let string = &pool.strings[self.pick(node, Site::even(offered as u32)) as usize];
            self.pay(string.len() as u64 - min_len);
            self.output.extend_from_slice(string);
            self.end(span);
            return;
        }
        // No string of the pool fits the length: the shortest derivation does.
        let span = self.begin(Kind::Instance, Part::Rule(rule), depth);
        self.shortest += 1;
        self.todo(Todo::EndShortest);
        self.end_later(span);
        self.tasks.extend(body.map(|body| Task(Todo::Node(body, depth))));
    }

    fn pay(&mut self, cost: u64) {
        if self.slack != u64::MAX {
            self.slack -= cost;
        }
    }

    /// The option that the next choice bytes take at a site; missing ones are 0, which leads to option 0.
    fn pick(&mut self, node: NodeId, site: Site<'_>) -> u32 {
        let (width, offered) = (site.width(), site.options());
        if width == 0 || self.shortest > 0 {
            return 0;
        }
        let at = self.position();
        let mut value = 0;
        if self.emitted() <= self.max_output {
            for index in 0..width {
                let byte = (self.next_byte)();
                self.missing += u64::from(byte.is_none());
                value |= u32::from(byte.unwrap_or(0)) << (8 * index);
            }
            self.read += u64::from(width);
        }
        let option = site.option_of(value);
        self.recorder.site(DecidedSite { node, option, offered, width, at });
        option
    }
}
