//! The tracing engine: the lowered form of a grammar, interpreted with a record of what is done. It follows the choice map to
//! the byte; as it has to look at every rule and site, it is slower than the other engines.

use std::collections::BTreeMap;
use std::sync::Arc;

use gramjet::choices::{ChoiceSource, Part as Kept, Refit, Site, Span, SpanKind, Trace};
use gramjet::{Choices, Limits, LimitsError, Producer};
use gramjet_compiler::Compiled;
use gramjet_compiler::analysis::pools::Pools;
use gramjet_compiler::analysis::shortest;
use gramjet_compiler::ir::{self, Ir, Node, NodeId, RuleId};

use crate::directives::first_limits;

mod refit;

/// Runs the lowered form of a grammar and records what it does. A clone shares the grammar.
#[derive(Clone, Debug)]
pub struct Tracer {
    grammar: Arc<Grammar>,
    limits: Limits,
    /// Kept from run to run: the memory of what is to be done, and of outputs that nobody asked for.
    tasks: Vec<Task>,
    scratch: Vec<u8>,
    /// How far parts are from rules, for the symbols that were asked for.
    distances: BTreeMap<u32, Arc<[u8]>>,
}

#[derive(Debug)]
struct Grammar {
    lowered: Arc<Ir>,
    pools: Pools,
    /// How many choice bytes the shortest derivation of each rule and node reads.
    shortest: Vec<u64>,
    node_shortest: Vec<u64>,
    rule_without_pool: Option<String>,
}

/// What a symbol stands for. Symbols are numbered in this order: the rules, their pools, the nodes, the rounds of nodes.
#[derive(Clone, Copy)]
enum Part {
    Rule(RuleId),
    Pool(RuleId),
    Node(NodeId),
    Round(NodeId),
}

impl Grammar {
    fn symbol(&self, part: Part) -> u32 {
        let (rules, nodes) = (self.lowered.rules().len(), self.lowered.node_count());
        let number = match part {
            Part::Rule(rule) => rule.index(),
            Part::Pool(rule) => rules + rule.index(),
            Part::Node(node) => 2 * rules + node.index(),
            Part::Round(node) => 2 * rules + nodes + node.index(),
        };
        // Budgets of the front end keep arenas small.
        number as u32
    }

    fn part(&self, symbol: u32) -> Option<Part> {
        let (rules, nodes, symbol) = (self.lowered.rules().len(), self.lowered.node_count(), symbol as usize);
        Some(match symbol {
            _ if symbol < rules => Part::Rule(RuleId::new(symbol)),
            _ if symbol < 2 * rules => Part::Pool(RuleId::new(symbol - rules)),
            _ if symbol < 2 * rules + nodes => Part::Node(NodeId::new(symbol - 2 * rules)),
            _ if symbol < 2 * rules + 2 * nodes => Part::Round(NodeId::new(symbol - 2 * rules - nodes)),
            _ => return None,
        })
    }
}

impl Grammar {
    /// How many choice bytes the shortest derivation of a part reads without limits, and its height in rule references.
    fn shortest_part(&self, part: Part) -> (u64, u32) {
        let ir = &self.lowered;
        match part {
            Part::Rule(rule) => (self.shortest[rule.index()], ir.rule(rule).facts.height),
            Part::Pool(rule) => {
                let strings = self.pools.get(rule).map_or(1, |pool| pool.strings.len() as u32);
                (u64::from(ir::Site::even(strings).width()), 0)
            }
            Part::Node(node) => (self.node_shortest[node.index()], ir.facts(node).height),
            Part::Round(node) => match ir.node(node) {
                Node::Repeat { item, .. } => (1 + self.node_shortest[item.index()], ir.facts(*item).height),
                _ => (0, 0),
            },
        }
    }
}

impl Tracer {
    /// A producer with the limits that the grammar file asks for, else with the default depth limit.
    pub fn new(compiled: &Compiled) -> Tracer {
        let shortest = shortest::choices(&compiled.lowered);
        let grammar = Grammar {
            node_shortest: shortest::node_choices(&compiled.lowered, &shortest),
            shortest,
            lowered: compiled.lowered.clone(),
            pools: compiled.pools.clone(),
            rule_without_pool: compiled.rule_without_pool().map(str::to_string),
        };
        Tracer {
            grammar: Arc::new(grammar),
            limits: first_limits(compiled),
            tasks: Vec::new(),
            scratch: Vec::new(),
            distances: BTreeMap::new(),
        }
    }

    fn start(&self) -> RuleId {
        self.grammar.lowered.start()
    }

    /// Derives a part; returns the number of choice bytes that sites have read.
    fn run<const TRACES: bool, N: FnMut() -> Option<u8>>(
        &mut self,
        part: Part,
        depth: u32,
        limits: Limits,
        next_byte: N,
        output: &mut Vec<u8>,
        trace: &mut Trace,
    ) {
        trace.clear();
        let grammar = Arc::clone(&self.grammar);
        let min_len = grammar.lowered.rule(self.start()).facts.min_len;
        let mut machine = Machine::<TRACES, N> {
            grammar: &grammar,
            limits,
            slack: limits.length().map_or(u64::MAX, |bound| bound.saturating_sub(min_len)),
            base: output.len(),
            output,
            next_byte,
            read: 0,
            shortest: 0,
            trace,
            tasks: std::mem::take(&mut self.tasks),
        };
        match part {
            Part::Rule(rule) => machine.instance(rule, depth),
            Part::Pool(rule) => machine.pool(rule, depth),
            Part::Node(node) => machine.node(node, depth),
            Part::Round(node) => machine.round(node, depth),
        }
        while let Some(task) = machine.tasks.pop() {
            machine.step(task);
        }
        machine.trace.read = u32::try_from(machine.read).unwrap_or(u32::MAX);
        self.tasks = std::mem::take(&mut machine.tasks);
    }
}

impl Producer for Tracer {
    fn min_len(&self) -> u64 {
        self.grammar.lowered.rule(self.start()).facts.min_len
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn set_limits(&mut self, limits: Limits) -> Result<(), LimitsError> {
        limits.check(self.min_len(), self.grammar.rule_without_pool.as_deref())?;
        self.limits = limits;
        Ok(())
    }

    fn produce(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>) -> u64 {
        let mut read = 0;
        let most = self.limits.choices();
        let next_byte = || {
            let byte = if read < most { choices.next_byte() } else { None };
            read += u64::from(byte.is_some());
            byte
        };
        let (start, limits) = (Part::Rule(self.start()), self.limits);
        self.run::<false, _>(start, 0, limits, next_byte, output, &mut Trace::default());
        read
    }
}

impl gramjet::choices::Tracer for Tracer {
    fn trace(&mut self, choices: &[u8], output: &mut Vec<u8>, trace: &mut Trace) -> u64 {
        let most = usize::try_from(self.limits.choices()).unwrap_or(usize::MAX).min(choices.len());
        let mut bytes = choices[..most].iter();
        let (start, limits) = (Part::Rule(self.start()), self.limits);
        self.run::<true, _>(start, 0, limits, || bytes.next().copied(), output, trace);
        (most - bytes.len()) as u64
    }

    fn draw(
        &mut self,
        symbol: u32,
        depth: u32,
        source: &mut dyn ChoiceSource,
        most: usize,
        choices: &mut Vec<u8>,
    ) -> u64 {
        let Some(part) = self.grammar.part(symbol) else { return 0 };
        let limits = self.limits.max_len(None);
        let end = choices.len() + most;
        let (mut buffer, mut at, mut filled) = ([0; 16], 0, 0);
        let next_byte = || {
            if at == filled && choices.len() < end {
                (at, filled) = (0, source.fill(&mut buffer).min(buffer.len()));
            }
            // What is missing is written as the zero that it is read as.
            let is_there = at < filled && choices.len() < end;
            let byte = if is_there { buffer[at] } else { 0 };
            at += usize::from(is_there);
            choices.push(byte);
            Some(byte)
        };
        let mut output = std::mem::take(&mut self.scratch);
        output.clear();
        self.run::<false, _>(part, depth, limits, next_byte, &mut output, &mut Trace::default());
        let len = output.len();
        if len <= MAX_SCRATCH {
            self.scratch = output;
        }
        len as u64
    }

    fn shortest(&mut self, symbol: u32, depth: u32) -> usize {
        let Some(part) = self.grammar.part(symbol) else { return 0 };
        let (bytes, height) = self.grammar.shortest_part(part);
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let is_cut = self.limits.depth().is_some_and(|max_depth| depth.saturating_add(height) > max_depth);
        if !is_cut || bytes > MAX_SCRATCH {
            return bytes;
        }
        // Strings of pools stand for what is deeper, with sites of their own.
        let mut zeros = Vec::new();
        self.draw(symbol, depth, &mut NoChoices, 0, &mut zeros);
        zeros.len()
    }

    fn rule_name(&self, symbol: u32) -> Option<&str> {
        match self.grammar.part(symbol)? {
            Part::Rule(rule) | Part::Pool(rule) => Some(&self.grammar.lowered.rule(rule).name),
            Part::Node(_) | Part::Round(_) => None,
        }
    }

    fn options(&self, symbol: u32) -> u32 {
        match self.grammar.part(symbol) {
            Some(Part::Node(node)) => match self.grammar.lowered.node(node) {
                Node::Choice(choice) => choice.options.len() as u32,
                _ => 0,
            },
            _ => 0,
        }
    }

    fn refit(&mut self, whole: Refit, parts: &[Kept<'_>], kept: &mut Vec<usize>, choices: &mut Vec<u8>) -> bool {
        let Some(Part::Node(node)) = self.grammar.part(whole.symbol) else { return false };
        refit::refit(self, node, whole, parts, kept, choices)
    }
}

/// What the machine still has to do; the last entry comes next.
#[derive(Clone, Copy, Debug)]
enum Task {
    /// Derive a node inside a rule instance of this depth.
    Node(NodeId, u32),
    /// Further rounds of a repetition, of which so many are done, and its span.
    Rounds(NodeId, u32, u32, u32),
    /// The end of the span with this number.
    End(u32),
    /// The end of a derivation that takes option 0 everywhere.
    EndShortest,
}

struct Machine<'m, const TRACES: bool, N> {
    grammar: &'m Grammar,
    limits: Limits,
    /// Bound - (emitted + minimum of all that is pending); the greatest value without a bound, of which nothing is paid.
    slack: u64,
    base: usize,
    output: &'m mut Vec<u8>,
    next_byte: N,
    /// How many choice bytes sites have read, missing ones included.
    read: u64,
    /// How many derivations that take option 0 everywhere are open.
    shortest: u32,
    trace: &'m mut Trace,
    tasks: Vec<Task>,
}

/// All choice bytes are missing.
struct NoChoices;

impl ChoiceSource for NoChoices {
    fn fill(&mut self, _buffer: &mut [u8]) -> usize {
        0
    }
}

/// A longer output is not kept for its memory.
const MAX_SCRATCH: usize = 1 << 20;

/// No span.
const NONE: u32 = u32::MAX;

/// So many spans and sites are recorded; runs of more are not recorded to their end.
const MAX_RECORDED: usize = 1 << 24;

impl<const TRACES: bool, N: FnMut() -> Option<u8>> Machine<'_, TRACES, N> {
    fn step(&mut self, task: Task) {
        match task {
            Task::Node(node, depth) => self.node(node, depth),
            Task::Rounds(node, done, depth, span) => self.rounds(node, done, depth, span),
            Task::End(span) => self.end(span),
            Task::EndShortest => self.shortest -= 1,
        }
    }

    fn emitted(&self) -> u64 {
        (self.output.len() - self.base) as u64
    }

    fn begin(&mut self, kind: SpanKind, part: Part, depth: u32) -> u32 {
        if !TRACES || self.trace.spans.len() >= MAX_RECORDED {
            return NONE;
        }
        let choices = (self.read as u32, self.read as u32);
        let output = (self.emitted() as u32, self.emitted() as u32);
        let number = self.trace.spans.len() as u32;
        let symbol = self.grammar.symbol(part);
        self.trace.spans.push(Span { kind, symbol, depth, choices, output, next: number + 1 });
        number
    }

    fn end(&mut self, span: u32) {
        if TRACES && span != NONE {
            let (read, emitted, next) = (self.read as u32, self.emitted() as u32, self.trace.spans.len() as u32);
            let span = &mut self.trace.spans[span as usize];
            (span.choices.1, span.output.1, span.next) = (read, emitted, next);
        }
    }

    /// Ends the span behind all tasks that are added after this.
    fn end_later(&mut self, span: u32) {
        if span != NONE {
            self.tasks.push(Task::End(span));
        }
    }

    fn node(&mut self, node: NodeId, depth: u32) {
        let ir = &self.grammar.lowered;
        match ir.node(node) {
            Node::Bytes(bytes) => self.output.extend_from_slice(bytes),
            Node::Class(set) => {
                let min_len = set.min_len();
                let offered = match self.slack {
                    u64::MAX => set.len(),
                    slack => set.len_within(slack.saturating_add(min_len)),
                };
                let index = self.pick(ir::Site::even(offered));
                // The index is below the number of members.
                let member = set.encode(set.nth(index).unwrap_or_default());
                self.pay(member.as_ref().len() as u64 - min_len);
                self.output.extend_from_slice(member.as_ref());
            }
            Node::Rule(rule) | Node::Again(rule) => self.instance(*rule, depth + 1),
            Node::Seq(items) => self.tasks.extend(items.iter().rev().map(|&item| Task::Node(item, depth))),
            Node::Choice(choice) => {
                let span = self.begin(SpanKind::Choice, Part::Node(node), depth);
                let min_len = ir.facts(node).min_len;
                let cost = |option: &NodeId| ir.facts(*option).min_len - min_len;
                let offered = match self.slack {
                    u64::MAX => choice.options.len(),
                    slack => choice.options.iter().take_while(|option| cost(option) <= slack).count(),
                };
                let option = self.pick(ir::Site::new(offered as u32, choice.slots.as_ref()));
                let option = choice.options[option as usize];
                self.pay(cost(&option));
                self.end_later(span);
                self.tasks.push(Task::Node(option, depth));
            }
            Node::Repeat { .. } => {
                let span = self.begin(SpanKind::Repetition { room: 0 }, Part::Node(node), depth);
                self.rounds(node, 0, depth, span);
            }
            Node::Inline { body, .. } => self.tasks.push(Task::Node(*body, depth + 1)),
        }
    }

    fn rounds(&mut self, node: NodeId, done: u32, depth: u32, span: u32) {
        let Node::Repeat { item, min, max } = self.grammar.lowered.node(node) else { return };
        if done < *min {
            self.tasks.push(Task::Rounds(node, done + 1, depth, span));
            self.tasks.push(Task::Node(*item, depth));
            return;
        }
        let mut goes_on = max.is_none_or(|max| done < max);
        if TRACES && span != NONE {
            let room = max.map_or(u32::MAX, |max| max - done);
            self.trace.spans[span as usize].kind = SpanKind::Repetition { room };
        }
        if goes_on {
            let cost = self.grammar.lowered.facts(*item).min_len;
            let round = self.begin(SpanKind::Round, Part::Round(node), depth);
            let offered = if cost <= self.slack { 2 } else { 1 };
            goes_on = self.pick(ir::Site::even(offered)) == 1;
            if goes_on {
                self.pay(cost);
                // Saturation: 2^32 rounds are never reached.
                self.tasks.push(Task::Rounds(node, done.saturating_add(1), depth, span));
                self.end_later(round);
                self.tasks.push(Task::Node(*item, depth));
            } else if round != NONE {
                // The round that does not come is no span.
                self.trace.spans.pop();
            }
        }
        if !goes_on {
            self.end(span);
        }
    }

    /// One round, by itself.
    fn round(&mut self, node: NodeId, depth: u32) {
        if let Node::Repeat { item, .. } = self.grammar.lowered.node(node) {
            self.pick(ir::Site::even(2));
            self.tasks.push(Task::Node(*item, depth));
        }
    }

    fn instance(&mut self, rule: RuleId, depth: u32) {
        let is_pooled = self.limits.depth().is_some_and(|max_depth| depth > max_depth) && self.shortest == 0;
        if is_pooled && self.grammar.pools.get(rule).is_some() {
            self.pool(rule, depth);
            return;
        }
        let span = self.begin(SpanKind::Rule, Part::Rule(rule), depth);
        self.end_later(span);
        self.tasks.extend(self.grammar.lowered.body(rule).map(|body| Task::Node(body, depth)));
    }

    /// An instance beyond the depth limit.
    fn pool(&mut self, rule: RuleId, depth: u32) {
        let Some(pool) = self.grammar.pools.get(rule) else { return };
        let min_len = self.grammar.lowered.rule(rule).facts.min_len;
        let slack = self.slack;
        let offered = pool.strings.partition_point(|string| string.len() as u64 - min_len <= slack);
        if offered > 0 {
            let span = self.begin(SpanKind::Pool, Part::Pool(rule), depth);
            let string = &pool.strings[self.pick(ir::Site::even(offered as u32)) as usize];
            self.pay(string.len() as u64 - min_len);
            self.output.extend_from_slice(string);
            self.end(span);
            return;
        }
        // No string of the pool fits the length: the shortest derivation does.
        let span = self.begin(SpanKind::Rule, Part::Rule(rule), depth);
        self.shortest += 1;
        self.tasks.push(Task::EndShortest);
        self.end_later(span);
        self.tasks.extend(self.grammar.lowered.body(rule).map(|body| Task::Node(body, depth)));
    }

    fn pay(&mut self, cost: u64) {
        if self.slack != u64::MAX {
            self.slack -= cost;
        }
    }

    /// The option that the next choice bytes take at a site.
    fn pick(&mut self, site: ir::Site<'_>) -> u32 {
        let (width, offered) = (site.width(), site.options());
        if width == 0 || self.shortest > 0 {
            return 0;
        }
        let at = self.read as u32;
        let mut value = 0;
        // Too much memory: the machine finishes.
        if self.emitted() <= self.limits.output() {
            for index in 0..width {
                value |= u32::from((self.next_byte)().unwrap_or(0)) << (8 * index);
            }
            self.read += u64::from(width);
        }
        let option = site.option_of(value);
        if TRACES && self.trace.sites.len() < MAX_RECORDED {
            self.trace.sites.push(Site { at, width: width as u8, option, offered });
        }
        option
    }
}
