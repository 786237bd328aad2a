//! The reference interpreter: the choice map as the design page words it, too simple to be wrong, slow.
//!
//! It is meant for the lowered IR and has an explicit stack. Every other engine must agree with it to the byte (E1).
//! Residual IR means the same to it, which is how the passes are tested (E2).

use crate::analysis::pools::Pools;
use crate::ir::{self, Ir, Node, NodeId, RuleId};
pub use crate::limits::Limits;

/// Choice bytes are not read any more once an output without a longer `max_len` has more bytes: a guard on memory.
const MAX_OUTPUT: u64 = 1 << 30;

/// What a run recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The rule instances in the order in which they began; those replaced by a pool string included.
    pub instances: Vec<Instance>,
    /// The sites that read choice bytes or were decided by the end of the choice bytes, in order.
    pub sites: Vec<Site>,
}

/// An instance of a rule: which part of the choice bytes made which part of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The rule.
    pub rule: RuleId,
    /// Its depth: 0 for the start rule.
    pub depth: u32,
    /// The choice bytes that it read.
    pub choices: std::ops::Range<u64>,
    /// The output bytes that it made.
    pub output: std::ops::Range<u64>,
    /// Whether a string of the pool stands for it.
    pub pooled: bool,
}

/// A choice that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Where the choice stands; for a pool the reference to its rule.
    pub node: NodeId,
    /// The option taken, in canonical order.
    pub option: u32,
    /// How many options were offered.
    pub offered: u32,
    /// Where its choice bytes begin.
    pub at: u64,
}

/// Which rules and options derivations came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// By rule. A string of a pool that stands for an instance is an instance of the rule.
    rules: Vec<bool>,
    /// By node; of the choices the options that were taken.
    options: Vec<Box<[bool]>>,
}

impl Reached {
    /// Nothing of this grammar yet.
    pub fn none(ir: &Ir) -> Reached {
        let options = |node| match ir.node(node) {
            Node::Choice(choice) => vec![false; choice.options.len()].into(),
            _ => Box::default(),
        };
        Reached {
            rules: vec![false; ir.rules().len()],
            options: (0..ir.node_count()).map(NodeId::new).map(options).collect(),
        }
    }

    /// Whether there was an instance of the rule.
    pub fn rule(&self, rule: RuleId) -> bool {
        self.rules[rule.index()]
    }

    /// For each option of a choice, in canonical order, whether it was taken. Derivations within the strings of pools don't
    /// count.
    pub fn options(&self, choice: NodeId) -> &[bool] {
        &self.options[choice.index()]
    }

    /// Adds what others of the same grammar came to; whether that was anything new.
    pub fn add(&mut self, other: &Reached) -> bool {
        let mut is_new = false;
        let mut add = |own: &mut bool, other: &bool| {
            is_new |= *other && !*own;
            *own |= other;
        };
        self.rules.iter_mut().zip(&other.rules).for_each(|(own, other)| add(own, other));
        for (own, other) in self.options.iter_mut().zip(&other.options) {
            own.iter_mut().zip(other).for_each(|(own, other)| add(own, other));
        }
        is_new
    }
}

/// What is recorded of a run.
enum Record<'a> {
    Nothing,
    Trace(&'a mut Trace),
    Reached(&'a mut Reached),
}

/// Output and number of choice bytes read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The output.
    pub output: Vec<u8>,
    /// How many choice bytes were read.
    pub consumed: u64,
}

/// What the machine still has to do; the last entry comes next.
enum Task {
    /// Derive a node inside a rule instance of this depth.
    Node(NodeId, u32),
    /// Further rounds of a repetition, of which so many are done.
    Rounds(NodeId, u32, u32),
    /// The end of the rule instance with this number in the trace.
    End(usize),
    /// The end of a derivation that takes option 0 everywhere.
    EndShortest,
}

/// Runs the grammar on the choice bytes that `next_byte` hands out (`None` for good when there are no more), appending to
/// `output`. Returns how many bytes were read.
///
/// A depth limit needs the pools of the grammar; a rule without one goes on as if it were within the limit.
pub fn run(
    ir: &Ir,
    pools: &Pools,
    limits: Limits,
    next_byte: &mut dyn FnMut() -> Option<u8>,
    output: &mut Vec<u8>,
    trace: Option<&mut Trace>,
) -> u64 {
    run_recorded(ir, pools, limits, next_byte, output, trace.map_or(Record::Nothing, Record::Trace))
}

/// [`run`], which adds to `reached` what the derivation comes to.
pub fn run_covering(
    ir: &Ir,
    pools: &Pools,
    limits: Limits,
    next_byte: &mut dyn FnMut() -> Option<u8>,
    output: &mut Vec<u8>,
    reached: &mut Reached,
) -> u64 {
    run_recorded(ir, pools, limits, next_byte, output, Record::Reached(reached))
}

fn run_recorded(
    ir: &Ir,
    pools: &Pools,
    limits: Limits,
    next_byte: &mut dyn FnMut() -> Option<u8>,
    output: &mut Vec<u8>,
    record: Record<'_>,
) -> u64 {
    let start = ir.rule(ir.start());
    let mut machine = Machine {
        ir,
        pools,
        limits,
        slack: limits.max_len.map(|bound| bound.saturating_sub(start.facts.min_len)),
        next_byte,
        consumed: 0,
        base: output.len(),
        output,
        shortest: 0,
        record,
        tasks: Vec::new(),
        homes: None,
    };
    machine.instance(ir.start(), None, ir.body(ir.start()), 0);
    while let Some(task) = machine.tasks.pop() {
        machine.step(task);
    }
    machine.consumed
}

/// [`run`] on a slice.
pub fn render(ir: &Ir, pools: &Pools, limits: Limits, choices: &[u8]) -> Run {
    let mut bytes = choices.iter().copied();
    let mut output = Vec::new();
    let consumed = run(ir, pools, limits, &mut || bytes.next(), &mut output, None);
    Run { output, consumed }
}

struct Machine<'a> {
    ir: &'a Ir,
    pools: &'a Pools,
    limits: Limits,
    /// Bound - (emitted + minimum of all that is pending); `None` without a bound.
    slack: Option<u64>,
    next_byte: &'a mut dyn FnMut() -> Option<u8>,
    consumed: u64,
    base: usize,
    output: &'a mut Vec<u8>,
    /// How many derivations that take option 0 everywhere are open.
    shortest: u32,
    record: Record<'a>,
    tasks: Vec<Task>,
    /// A body of each rule, where jumps back go; made when first needed.
    homes: Option<Vec<Option<NodeId>>>,
}

impl Machine<'_> {
    fn step(&mut self, task: Task) {
        match task {
            Task::Node(node, depth) => self.node(node, depth),
            Task::Rounds(node, done, depth) => self.rounds(node, done, depth),
            Task::EndShortest => self.shortest -= 1,
            Task::End(instance) => {
                let (consumed, emitted) = (self.consumed, self.emitted());
                if let Record::Trace(trace) = &mut self.record {
                    trace.instances[instance].choices.end = consumed;
                    trace.instances[instance].output.end = emitted;
                }
            }
        }
    }

    fn emitted(&self) -> u64 {
        (self.output.len() - self.base) as u64
    }

    fn node(&mut self, node: NodeId, depth: u32) {
        match self.ir.node(node) {
            Node::Bytes(bytes) => self.output.extend_from_slice(bytes),
            Node::Class(set) => {
                let min_len = set.min_len();
                let offered = match self.slack {
                    None => set.len(),
                    Some(slack) => set.len_within(slack.saturating_add(min_len)),
                };
                let index = self.pick(node, ir::Site::even(offered));
                // The index is below the number of members.
                let member = set.encode(set.nth(index).unwrap_or_default());
                self.pay(member.as_ref().len() as u64 - min_len);
                self.output.extend_from_slice(member.as_ref());
            }
            Node::Rule(rule) => self.instance(*rule, Some(node), self.ir.body(*rule), depth + 1),
            Node::Seq(items) => self.tasks.extend(items.iter().rev().map(|&item| Task::Node(item, depth))),
            Node::Choice(choice) => {
                let min_len = self.ir.facts(node).min_len;
                let cost = |option: &NodeId| self.ir.facts(*option).min_len - min_len;
                let offered = match self.slack {
                    None => choice.options.len(),
                    Some(slack) => choice.options.iter().take_while(|option| cost(option) <= slack).count(),
                };
                let option = self.pick(node, ir::Site::new(offered as u32, choice.slots.as_ref()));
                if let Record::Reached(reached) = &mut self.record {
                    reached.options[node.index()][option as usize] = true;
                }
                let option = choice.options[option as usize];
                self.pay(self.ir.facts(option).min_len - min_len);
                self.tasks.push(Task::Node(option, depth));
            }
            Node::Repeat { .. } => self.rounds(node, 0, depth),
            Node::Inline { rule, body } => self.instance(*rule, Some(node), Some(*body), depth + 1),
            Node::Again(rule) => {
                let ir = self.ir;
                let home = self.homes.get_or_insert_with(|| ir.homes())[rule.index()];
                self.instance(*rule, Some(node), home, depth + 1);
            }
        }
    }

    fn rounds(&mut self, node: NodeId, done: u32, depth: u32) {
        let Node::Repeat { item, min, max } = self.ir.node(node) else { return };
        if done < *min {
            self.tasks.push(Task::Rounds(node, done + 1, depth));
            self.tasks.push(Task::Node(*item, depth));
            return;
        }
        if max.is_some_and(|max| done >= max) {
            return;
        }
        let cost = self.ir.facts(*item).min_len;
        let offered = if self.slack.is_none_or(|slack| cost <= slack) { 2 } else { 1 };
        if self.pick(node, ir::Site::even(offered)) == 1 {
            self.pay(cost);
            // Saturation: 2^32 rounds are never reached.
            self.tasks.push(Task::Rounds(node, done.saturating_add(1), depth));
            self.tasks.push(Task::Node(*item, depth));
        }
    }

    /// Begins an instance of a rule, referred to by `node`, whose body is given.
    fn instance(&mut self, rule: RuleId, node: Option<NodeId>, body: Option<NodeId>, depth: u32) {
        let instance = self.trace_instance(rule, depth);
        let pool = match self.limits.max_depth {
            Some(max_depth) if depth > max_depth && self.shortest == 0 => self.pools.get(rule),
            _ => None,
        };
        if let Some(pool) = pool {
            let min_len = self.ir.rule(rule).facts.min_len;
            let fits = |string: &[u8]| self.slack.is_none_or(|slack| string.len() as u64 - min_len <= slack);
            let offered = pool.strings.iter().take_while(|string| fits(string)).count();
            if offered > 0 {
                // The start rule is never beyond the limit, so there is a referring node.
                let option = self.pick(node.unwrap_or(NodeId::new(0)), ir::Site::even(offered as u32));
                let string = &pool.strings[option as usize];
                self.pay(string.len() as u64 - min_len);
                self.output.extend_from_slice(string);
                if let Some(instance) = instance {
                    if let Record::Trace(trace) = &mut self.record {
                        trace.instances[instance].pooled = true;
                    }
                    self.step(Task::End(instance));
                }
                return;
            }
            // No string of the pool fits the length: the shortest derivation does.
            self.shortest += 1;
            self.tasks.push(Task::EndShortest);
        }
        self.tasks.extend(instance.map(Task::End));
        self.tasks.extend(body.map(|body| Task::Node(body, depth)));
    }

    fn trace_instance(&mut self, rule: RuleId, depth: u32) -> Option<usize> {
        let (consumed, emitted) = (self.consumed, self.emitted());
        let trace = match &mut self.record {
            Record::Trace(trace) => trace,
            Record::Reached(reached) => {
                reached.rules[rule.index()] = true;
                return None;
            }
            Record::Nothing => return None,
        };
        let choices = consumed..consumed;
        trace.instances.push(Instance { rule, depth, choices, output: emitted..emitted, pooled: false });
        Some(trace.instances.len() - 1)
    }

    fn pay(&mut self, cost: u64) {
        if let Some(slack) = &mut self.slack {
            *slack -= cost;
        }
    }

    /// The next `count` choice bytes, little endian; missing ones are 0, which leads to option 0.
    fn read(&mut self, count: u32) -> u32 {
        let mut value = 0;
        if self.emitted() > self.limits.max_len.unwrap_or(0).max(MAX_OUTPUT) {
            return value;
        }
        for index in 0..count {
            if let Some(byte) = (self.next_byte)() {
                value |= u32::from(byte) << (8 * index);
                self.consumed += 1;
            }
        }
        value
    }

    /// The option that the next choice bytes take at a site.
    fn pick(&mut self, node: NodeId, site: ir::Site<'_>) -> u32 {
        if site.width() == 0 || self.shortest > 0 {
            return 0;
        }
        let at = self.consumed;
        let option = site.option_of(self.read(site.width()));
        if let Record::Trace(trace) = &mut self.record {
            trace.sites.push(Site { node, option, offered: site.options(), at });
        }
        option
    }
}
