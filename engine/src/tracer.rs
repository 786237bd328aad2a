//! The tracing engine: interprets the lowered form of a grammar and records its choices. It follows the choice map to
//! the byte; as it has to look at every rule and site, it is slower than the other engines.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use gramjet::choices::{ChoiceSource, Part as Kept, Refit, Site, Span, SpanKind, Trace};
use gramjet::{Choices, Limits, LimitsError, Producer};
use gramjet_compiler::Compiled;
use gramjet_compiler::analysis::pools::Pools;
use gramjet_compiler::analysis::{reach, shortest};
use gramjet_compiler::ir::{self, Ir, NodeId, Rounds, RuleId};
use gramjet_compiler::labels::Moves;
use gramjet_compiler::machine::{
    Decide, Decided, DecidedSite, Kind, Machine, NONE, Nothing, Part, Position, Recorder, Task, min_len_of,
};
use gramjet_compiler::naming::Naming;
use gramjet_compiler::reference;

use crate::decisions::{Deriver, Offers, Weights};
use crate::directives::first_limits;

mod refit;
mod rewrite;

use rewrite::{Crowded, Direction, Fitting, Options, Rewriting, Unwritten, Writing};

/// Runs the lowered form of a grammar and records its choices. A clone shares the grammar.
#[derive(Clone, Debug)]
pub struct Tracer {
    grammar: Arc<Grammar>,
    limits: Limits,
    /// Memory kept from run to run: the open tasks, and outputs that the caller does not want.
    tasks: Vec<Task>,
    scratch: Vec<u8>,
    /// Distances of rules from parts, for the symbols that were asked for.
    distances: BTreeMap<u32, Arc<[u8]>>,
}

#[derive(Debug)]
pub(crate) struct Grammar {
    pub(crate) lowered: Arc<Ir>,
    pub(crate) pools: Pools,
    /// Number of choice bytes that the shortest derivation of each rule and node reads.
    shortest: Vec<u64>,
    node_shortest: Vec<u64>,
    /// For each node whether names are taken in it, or in a rule that it leads to. Empty without names.
    takes_names: Vec<bool>,
    rule_without_pool: Option<String>,
    /// Whether there are options that are only read.
    reads_more: bool,
    /// Weights that instances of rules add to outlines.
    pub(crate) weights: Weights,
    /// Number of options that each site offers, once something has asked.
    pub(crate) offers: OnceLock<Offers>,
    /// The least slack with which all sites offer all their options, and that with which all pools offer all their
    /// strings.
    ample_room: (u64, u64),
    /// For each symbol the length of its shortest text, in bytes.
    pub(crate) min_lens: Vec<u64>,
}

impl Grammar {
    /// Returns the symbol of a part. Symbols are numbered in this order: the rules, their pools, the nodes, the rounds
    /// of nodes.
    pub(crate) fn symbol(&self, part: Part) -> u32 {
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

    pub(crate) fn part(&self, symbol: u32) -> Option<Part> {
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

/// Returns for each node whether names are taken in it, or in a rule that it leads to. Empty without names.
fn takes_names(ir: &ir::Ir) -> Vec<bool> {
    if ir.kinds().is_empty() {
        return Vec::new();
    }
    reach::reaching(ir, |node| matches!(ir.node(node).naming(), Some((Naming::Use(_), _))))
}

impl Grammar {
    /// Returns true if a part can be derived by itself: nothing in it follows from labelled parts outside it, and no
    /// names are taken.
    pub(crate) fn is_closed(&self, part: Part) -> bool {
        let takes_names = |node: NodeId| self.takes_names.get(node.index()) == Some(&true);
        match part {
            Part::Rule(rule) | Part::Pool(rule) => !self.lowered.body(rule).is_some_and(takes_names),
            Part::Node(node) | Part::Round(node) => self.lowered.free(node).is_empty() && !takes_names(node),
        }
    }

    /// Returns how many choice bytes the shortest derivation of a part reads without limits, and its height in rule
    /// references.
    fn shortest_part(&self, part: Part) -> (u64, u32) {
        let ir = &self.lowered;
        match part {
            Part::Rule(rule) => (self.shortest[rule.index()], ir.rule(rule).facts.height),
            Part::Pool(rule) => {
                let strings = self.pools.get(rule).map_or(1, |pool| pool.strings.len() as u32);
                (u64::from(ir::Site::even(strings).width()), 0)
            }
            Part::Node(node) => (self.node_shortest[node.index()], ir.facts(node).height),
            Part::Round(node) => {
                let Some(Rounds { item, .. }) = ir.node(node).rounds() else { return (0, 0) };
                (1 + self.node_shortest[item.index()], ir.facts(item).height)
            }
        }
    }
}

impl Tracer {
    /// Returns a producer with the limits that the grammar file asks for, else with the default depth limit.
    pub fn new(compiled: &Compiled) -> Tracer {
        let shortest = shortest::choices(&compiled.lowered);
        let mut grammar = Grammar {
            node_shortest: shortest::node_choices(&compiled.lowered, &shortest),
            shortest,
            lowered: compiled.lowered.clone(),
            pools: compiled.pools.clone(),
            takes_names: takes_names(&compiled.lowered),
            rule_without_pool: compiled.rule_without_pool().map(str::to_string),
            reads_more: compiled.lowered.reads_more(),
            weights: Weights::new(compiled.lowered.rules().len()),
            offers: OnceLock::new(),
            ample_room: rewrite::ample_room(&compiled.lowered, &compiled.pools),
            min_lens: Vec::new(),
        };
        let parts = (0..).map_while(|symbol| grammar.part(symbol));
        grammar.min_lens = parts.map(|part| min_len_of(&grammar.lowered, part)).collect();
        Tracer {
            grammar: Arc::new(grammar),
            limits: first_limits(compiled),
            tasks: Vec::new(),
            scratch: Vec::new(),
            distances: BTreeMap::new(),
        }
    }

    /// Derives texts of the same grammar from decisions, of at most `max_len` bytes.
    pub fn deriver(&self, max_len: Option<u64>) -> Deriver {
        Deriver::new(Arc::clone(&self.grammar), max_len)
    }

    fn start(&self) -> RuleId {
        self.grammar.lowered.start()
    }

    /// Derives a part of the grammar, which is the tracer's; returns the number of choice bytes that sites have read.
    fn run(
        &mut self,
        (grammar, part, depth): (&Grammar, Part, u32),
        limits: Limits,
        decider: impl Decide,
        output: &mut Vec<u8>,
        recorder: impl Recorder,
    ) -> u64 {
        let bounds = reference::Limits { max_depth: limits.depth(), max_len: limits.length() };
        let Grammar { lowered, pools, .. } = grammar;
        let machine = Machine::new(lowered, pools, bounds, limits.output(), decider, output, recorder);
        let machine = match limits.length() {
            Some(bytes) => machine.within(part, bytes),
            None => machine,
        };
        machine.derive(part, depth, &mut self.tasks).read
    }

    /// Draws a part under these limits; returns the length of its text. `None` if, under limits on length and depth, no
    /// choice bytes stand for it without the limit on length.
    fn draw_under(
        &mut self,
        limits: Limits,
        part: Part,
        depth: u32,
        drawing: Drawing<'_>,
        output: &mut Vec<u8>,
    ) -> Option<u64> {
        let grammar = Arc::clone(&self.grammar);
        let what = (&*grammar, part, depth);
        output.clear();
        let mut is_crowded = false;
        if limits.length().is_some() {
            let crowded = Crowded { pools: &grammar.pools, max_depth: limits.depth(), found: &mut is_crowded };
            self.run(what, limits, Fitting::new(&grammar, part, drawing), output, crowded);
        } else {
            self.run(what, limits, drawing, output, Nothing);
        }
        (!is_crowded).then_some(output.len() as u64)
    }

    /// Rewrites choice bytes; says whether they are of the same derivation.
    fn rewrite(&mut self, direction: Direction, from: &[u8], to: &mut Vec<u8>) -> bool {
        let (grammar, limits) = (Arc::clone(&self.grammar), self.limits);
        let bounds = reference::Limits { max_depth: limits.depth(), max_len: limits.length() };
        if grammar.lowered.has_labels() {
            return self.rewrite_options(direction, from, to);
        }
        let mut rewriting = Rewriting::new(&grammar, direction, from, to);
        let mut output = Vec::new();
        // A text within the length limit is within the bound on outputs.
        let machine =
            Machine::new(&grammar.lowered, &grammar.pools, bounds, u64::MAX, &mut rewriting, &mut output, Unwritten);
        machine.derive(Part::Rule(grammar.lowered.start()), 0, &mut self.tasks);
        rewriting.is_exact()
    }
}

impl Tracer {
    /// Rewrites choice bytes as [`Tracer::rewrite`] does, where sites may have fewer options than all also without a
    /// limit on the length: reads the options, and writes them in a second run.
    fn rewrite_options(&mut self, direction: Direction, from: &[u8], to: &mut Vec<u8>) -> bool {
        let grammar = Arc::clone(&self.grammar);
        let start = (&*grammar, Part::Rule(grammar.lowered.start()), 0);
        let (within, without) = (self.limits, self.limits.max_len(None));
        let (read, written) = match direction {
            Direction::Within => (without, within),
            Direction::Without => (within, without),
        };
        let mut output = Vec::new();
        let mut options = Options::of(from);
        self.run(start, read, &mut options, &mut output, Nothing);
        let mut writing = Writing { options: options.options.iter(), to, fits: options.from.is_empty() };
        output.clear();
        self.run(start, written, &mut writing, &mut output, Nothing);
        writing.fits && writing.options.len() == 0
    }
}

/// Draws choice bytes from a source and writes them down. After a number of them the part is completed in a short way:
/// first without options that are only read, then, as that need not end, with option 0 everywhere.
struct Drawing<'d> {
    source: &'d mut dyn ChoiceSource,
    buffer: [u8; 16],
    at: usize,
    filled: usize,
    /// The number of choice bytes from which on nothing is drawn, and that from which on option 0 is taken.
    ends: (usize, usize),
    choices: &'d mut Vec<u8>,
}

impl<'d> Drawing<'d> {
    fn new(source: &'d mut dyn ChoiceSource, most: usize, choices: &'d mut Vec<u8>) -> Drawing<'d> {
        let end = choices.len() + most;
        Drawing { source, buffer: [0; 16], at: 0, filled: 0, ends: (end, end + most), choices }
    }

    /// Returns the next byte of the source; 0 if there are no more.
    fn next_byte(&mut self) -> u8 {
        if self.at == self.filled && self.choices.len() < self.ends.0 {
            (self.at, self.filled) = (0, self.source.fill(&mut self.buffer).min(self.buffer.len()));
        }
        // A missing byte is written as the zero that it is read as.
        let is_there = self.at < self.filled && self.choices.len() < self.ends.0;
        let byte = if is_there { self.buffer[self.at] } else { 0 };
        self.at += usize::from(is_there);
        self.choices.push(byte);
        byte
    }
}

impl Decide for Drawing<'_> {
    fn decide(&mut self, _node: NodeId, site: ir::Site<'_>) -> Decided {
        let is_only_read = |option: u32| site.slots().is_some_and(|slots| slots.is_only_read(option as usize));
        let is_short = (self.ends.0..self.ends.1).contains(&self.choices.len());
        if let Some(option) =
            (0..site.options()).find(|&option| !is_only_read(option)).filter(|&first| first > 0 && is_short)
        {
            self.choices.extend_from_slice(&site.value_of(option).to_le_bytes()[..site.width() as usize]);
            return Decided { option, missing: 0 };
        }
        let mut value = 0;
        for index in 0..site.width() {
            value |= u32::from(self.next_byte()) << (8 * index);
        }
        Decided { option: site.option_of(value), missing: 0 }
    }
}

/// Returns the kind of a span. The room of a repetition is reported later.
pub(crate) fn span_kind(kind: Kind) -> SpanKind {
    match kind {
        Kind::Instance => SpanKind::Rule,
        Kind::Pool => SpanKind::Pool,
        Kind::Choice => SpanKind::Choice,
        Kind::Repetition => SpanKind::Repetition { room: 0 },
        Kind::Round => SpanKind::Round,
    }
}

/// Records spans and sites.
struct Spans<'t> {
    grammar: &'t Grammar,
    trace: &'t mut Trace,
}

impl Recorder for Spans<'_> {
    fn begin(&mut self, kind: Kind, part: Part, depth: u32, at: Position) -> u32 {
        if self.trace.spans.len() >= MAX_RECORDED {
            return NONE;
        }
        let kind = span_kind(kind);
        let (choices, output) = ((at.read as u32, at.read as u32), (at.emitted as u32, at.emitted as u32));
        let number = self.trace.spans.len() as u32;
        let symbol = self.grammar.symbol(part);
        self.trace.spans.push(Span { kind, symbol, depth, choices, output, next: number + 1 });
        number
    }

    fn end(&mut self, span: u32, at: Position) {
        let next = self.trace.spans.len() as u32;
        let span = &mut self.trace.spans[span as usize];
        (span.choices.1, span.output.1, span.next) = (at.read as u32, at.emitted as u32, next);
    }

    fn cancel(&mut self, _span: u32) {
        // The round that does not come is no span.
        self.trace.spans.pop();
    }

    fn settled(&mut self, moves: &Moves) {
        let moved = |place: u32| moves.of(place.into()) as u32;
        // Spans are in the order of their beginnings.
        for span in self.trace.spans.iter_mut().rev().take_while(|span| u64::from(span.output.0) >= moves.first()) {
            span.output = (moved(span.output.0), moved(span.output.1));
        }
    }

    fn room(&mut self, span: u32, room: u32) {
        self.trace.spans[span as usize].kind = SpanKind::Repetition { room };
    }

    fn option(&mut self, choice: NodeId, option: u32) {
        if self.grammar.reads_more && !self.trace.takes_only_read {
            let choice = self.grammar.lowered.node(choice).choice();
            self.trace.takes_only_read = choice.is_some_and(|choice| choice.is_only_read(option as usize));
        }
    }

    fn site(&mut self, DecidedSite { option, offered, width, at, .. }: DecidedSite) {
        if self.trace.sites.len() < MAX_RECORDED {
            self.trace.sites.push(Site { at: at.read as u32, width: width as u8, option, offered });
        }
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
        let (grammar, limits) = (Arc::clone(&self.grammar), self.limits);
        self.run((&grammar, Part::Rule(self.start()), 0), limits, next_byte, output, Nothing);
        read
    }
}

impl gramjet::choices::Tracer for Tracer {
    fn trace(&mut self, choices: &[u8], output: &mut Vec<u8>, trace: &mut Trace) -> u64 {
        let most = usize::try_from(self.limits.choices()).unwrap_or(usize::MAX).min(choices.len());
        let mut bytes = choices[..most].iter();
        let (grammar, limits) = (Arc::clone(&self.grammar), self.limits);
        trace.clear();
        let spans = Spans { grammar: &grammar, trace };
        let start = (&*grammar, Part::Rule(self.start()), 0);
        let read = self.run(start, limits, || bytes.next().copied(), output, spans);
        trace.read = u32::try_from(read).unwrap_or(u32::MAX);
        (most - bytes.len()) as u64
    }

    fn draw(
        &mut self,
        symbol: u32,
        depth: u32,
        max_len: u64,
        source: &mut dyn ChoiceSource,
        most: usize,
        choices: &mut Vec<u8>,
    ) -> Option<u64> {
        let part = self.grammar.part(symbol).filter(|&part| self.grammar.is_closed(part))?;
        let (before, limits) = (choices.len(), self.limits.max_len(None));
        let mut output = std::mem::take(&mut self.scratch);
        // Most parts fit by themselves. One that does not need not be completed.
        let until = limits.max_output(self.limits.output().min(max_len));
        let drawing = Drawing::new(source, most, choices);
        let mut drawn = self.draw_under(until, part, depth, drawing, &mut output).filter(|&len| len <= until.output());
        if drawn.is_none() && min_len_of(&self.grammar.lowered, part) <= max_len {
            choices.truncate(before);
            let drawing = Drawing::new(source, most, choices);
            drawn = self.draw_under(limits.max_len(max_len), part, depth, drawing, &mut output);
        }
        if drawn.is_none() {
            choices.truncate(before);
        }
        if output.capacity() <= MAX_SCRATCH {
            self.scratch = output;
        }
        drawn
    }

    fn shortest(&mut self, symbol: u32, depth: u32) -> usize {
        let Some(part) = self.grammar.part(symbol) else { return 0 };
        let (bytes, height) = self.grammar.shortest_part(part);
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let is_cut = self.limits.depth().is_some_and(|max_depth| depth.saturating_add(height) > max_depth);
        if !is_cut || bytes > MAX_SCRATCH {
            return bytes;
        }
        // Strings of pools replace deeper instances, with sites of their own.
        let mut zeros = Vec::new();
        self.draw(symbol, depth, u64::MAX, &mut NoChoices, 0, &mut zeros);
        zeros.len()
    }

    fn rule_name(&self, symbol: u32) -> Option<&str> {
        match self.grammar.part(symbol)? {
            Part::Rule(rule) | Part::Pool(rule) => Some(&self.grammar.lowered.rule(rule).name),
            Part::Node(_) | Part::Round(_) => None,
        }
    }

    fn reads_more(&self) -> bool {
        self.grammar.reads_more
    }

    fn options(&self, symbol: u32) -> u32 {
        match self.grammar.part(symbol) {
            Some(Part::Node(node)) => {
                self.grammar.lowered.node(node).choice().map_or(0, |choice| choice.options.len() as u32)
            }
            _ => 0,
        }
    }

    fn ample_room(&self) -> u64 {
        let (of_nodes, of_pools) = self.grammar.ample_room;
        if self.limits.depth().is_some() { of_nodes.max(of_pools) } else { of_nodes }
    }

    fn without_max_len(&mut self, choices: &[u8], without: &mut Vec<u8>) -> bool {
        let most = usize::try_from(self.limits.choices()).unwrap_or(usize::MAX).min(choices.len());
        self.rewrite(Direction::Without, &choices[..most], without);
        true
    }

    fn within_max_len(&mut self, without: &[u8], choices: &mut Vec<u8>) -> bool {
        self.rewrite(Direction::Within, without, choices)
    }

    fn refit(&mut self, whole: Refit, parts: &[Kept<'_>], kept: &mut Vec<usize>, choices: &mut Vec<u8>) -> bool {
        let Some(Part::Node(node)) = self.grammar.part(whole.symbol) else { return false };
        refit::refit(self, node, whole, parts, kept, choices)
    }
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

/// At most this number of spans and sites is recorded; longer runs are not recorded to their end.
const MAX_RECORDED: usize = 1 << 24;
