//! The reference interpreter: the [machine](crate::machine) that interprets an IR, with recorders for tests, trees and
//! coverage. Every other engine must agree with it to the byte (E1).

use crate::analysis::pools::Pools;
use crate::ir::{Ir, NodeId, RuleId};
use crate::labels::Moves;
pub use crate::limits::Limits;
use crate::machine::{DecidedSite, Kind, Machine, NONE, Nothing, Part, Position, Recorder};

/// If the output has more bytes and no longer `max_len` allows them, no more choice bytes are read. This bounds the
/// memory.
const MAX_OUTPUT: u64 = 1 << 30;

/// The record of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The rule instances in the order of their beginnings, including those replaced by a pool string.
    pub instances: Vec<Instance>,
    /// The decided sites, in order. Sites after the end of the choice bytes are included.
    pub sites: Vec<Site>,
}

/// An instance of a rule, with its part of the choice bytes and its part of the output.
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
    /// Whether it is replaced by a string of the pool.
    pub pooled: bool,
}

/// A decided site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// The node of the choice. For a pool, the reference to its rule.
    pub node: NodeId,
    /// The option taken, in canonical order.
    pub option: u32,
    /// The number of offered options.
    pub offered: u32,
    /// The position of its choice bytes.
    pub at: u64,
}

/// The rules and options that derivations have reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// By rule. A pool string in place of an instance counts for its rule.
    rules: Vec<bool>,
    /// By node: for a choice, the options that were taken.
    options: Vec<Box<[bool]>>,
}

impl Reached {
    /// Returns the coverage of this grammar without any derivation.
    pub fn none(ir: &Ir) -> Reached {
        let options = |node| {
            let options = ir.node(node).choice().map_or(0, |choice| choice.options.len());
            vec![false; options].into()
        };
        Reached {
            rules: vec![false; ir.rules().len()],
            options: (0..ir.node_count()).map(NodeId::new).map(options).collect(),
        }
    }

    /// Returns true if an instance of the rule was derived.
    pub fn rule(&self, rule: RuleId) -> bool {
        self.rules[rule.index()]
    }

    /// Returns for each option of a choice, in canonical order, whether it was taken. Derivations inside pool strings
    /// don't count.
    pub fn options(&self, choice: NodeId) -> &[bool] {
        &self.options[choice.index()]
    }

    /// Adds the coverage of other derivations of the same grammar. Returns whether it contains anything new.
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

impl Recorder for &mut Trace {
    fn begin(&mut self, kind: Kind, part: Part, depth: u32, at: Position) -> u32 {
        let (Part::Rule(rule) | Part::Pool(rule)) = part else { return NONE };
        self.instances.push(Instance {
            rule,
            depth,
            choices: at.consumed..at.consumed,
            output: at.emitted..at.emitted,
            pooled: kind == Kind::Pool,
        });
        self.instances.len() as u32 - 1
    }

    fn end(&mut self, span: u32, at: Position) {
        let instance = &mut self.instances[span as usize];
        (instance.choices.end, instance.output.end) = (at.consumed, at.emitted);
    }

    fn settled(&mut self, moves: &Moves) {
        // Instances are in the order of their beginnings.
        for instance in self.instances.iter_mut().rev().take_while(|instance| instance.output.start >= moves.first()) {
            let (start, end) = moves.of_part((instance.output.start, instance.output.end));
            instance.output = start..end;
        }
    }

    fn site(&mut self, DecidedSite { node, option, offered, at, .. }: DecidedSite) {
        self.sites.push(Site { node, option, offered, at: at.consumed });
    }
}

impl Recorder for &mut Reached {
    fn begin(&mut self, _kind: Kind, part: Part, _depth: u32, _at: Position) -> u32 {
        if let Part::Rule(rule) | Part::Pool(rule) = part {
            self.rules[rule.index()] = true;
        }
        NONE
    }

    fn option(&mut self, choice: NodeId, option: u32) {
        self.options[choice.index()][option as usize] = true;
    }
}

/// Output and number of choice bytes read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// The output.
    pub output: Vec<u8>,
    /// The number of choice bytes read.
    pub consumed: u64,
}

/// Runs the grammar on the choice bytes that `next_byte` returns (always `None` once there are no more), and appends to
/// `output`. Returns the number of bytes read.
///
/// A depth limit needs the pools of the grammar. A rule without a pool is derived as if it were within the limit.
pub fn run(
    ir: &Ir,
    pools: &Pools,
    limits: Limits,
    next_byte: &mut dyn FnMut() -> Option<u8>,
    output: &mut Vec<u8>,
    trace: Option<&mut Trace>,
) -> u64 {
    match trace {
        Some(trace) => run_recorded(ir, pools, limits, next_byte, output, trace),
        None => run_recorded(ir, pools, limits, next_byte, output, Nothing),
    }
}

/// Derives an input as [`run`] does, with coverage: adds the rules and options of the derivation to `reached`.
pub fn run_covering(
    ir: &Ir,
    pools: &Pools,
    limits: Limits,
    next_byte: &mut dyn FnMut() -> Option<u8>,
    output: &mut Vec<u8>,
    reached: &mut Reached,
) -> u64 {
    run_recorded(ir, pools, limits, next_byte, output, reached)
}

fn run_recorded(
    ir: &Ir,
    pools: &Pools,
    limits: Limits,
    next_byte: &mut dyn FnMut() -> Option<u8>,
    output: &mut Vec<u8>,
    recorder: impl Recorder,
) -> u64 {
    let max_output = limits.max_len.unwrap_or(0).max(MAX_OUTPUT);
    let machine = Machine::new(ir, pools, limits, max_output, next_byte, output, recorder);
    machine.derive(Part::Rule(ir.start()), 0, &mut Vec::new()).consumed
}

/// Derives an input as [`run`] does, from a slice.
pub fn render(ir: &Ir, pools: &Pools, limits: Limits, choices: &[u8]) -> Run {
    let mut bytes = choices.iter().copied();
    let mut output = Vec::new();
    let consumed = run(ir, pools, limits, &mut || bytes.next(), &mut output, None);
    Run { output, consumed }
}
