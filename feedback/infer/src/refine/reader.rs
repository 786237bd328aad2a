//! A grammar that reads texts, says what their derivations use, and makes texts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

use gramjet_compiler::analysis::pools::Pools;
use gramjet_compiler::ast::{Expr, Grammar};
use gramjet_compiler::charset::CharSet;
use gramjet_compiler::check::check;
use gramjet_compiler::diagnostics::Diagnostics;
use gramjet_compiler::ir::{Ir, NodeId, RuleId};
use gramjet_compiler::limits::Limits;
use gramjet_compiler::lower::lower_weighted;
use gramjet_compiler::machine::{DecidedSite, Kind, Machine, NONE, Part as Derived, Position, Recorder, Task};
use gramjet_compiler::shape::Weights;
use gramjet_compiler::sources::Sources;
use gramjet_parse::{Budget, Mismatch, ParseError, Parser};
use gramjet_session::Random;

use crate::refine::place::ExprPath;

/// Budget for reading a text. A text that costs more counts as one that does not conform.
const BUDGET: Budget = Budget { max_memory: 64 << 20, max_steps: Some(1 << 20) };

/// Budget for reading a text where another way is left.
const BRIEF: Budget = Budget { max_memory: 8 << 20, max_steps: Some(1 << 16) };

/// Texts that are made are cut short from here on, in bytes.
const MAX_MADE: u64 = 4096;

/// One in this many choice bytes is random where they are sparse.
const SPARSE: usize = 4;

/// A grammar with its parser.
pub(crate) struct Reader {
    ir: Ir,
    parser: Parser,
    /// For each choice, its place and the number of the alternative of each option.
    choices: BTreeMap<NodeId, (ExprPath, Vec<usize>)>,
    repetitions: BTreeMap<NodeId, ExprPath>,
    classes: BTreeMap<NodeId, ExprPath>,
    tasks: RefCell<Vec<Task>>,
}

/// A text with what its derivation is made of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Derivation {
    pub(crate) text: Vec<u8>,
    pub(crate) parts: Vec<Part>,
    pub(crate) used: Vec<Used>,
}

/// A part of a text.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    /// The rule, if it is an instance of one.
    pub(crate) rule: Option<usize>,
    pub(crate) range: Range<usize>,
}

/// Something that a derivation uses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Used {
    /// An alternative of the choice at a place.
    Alternative(ExprPath, usize),
    /// A number of rounds of the repetition at a place.
    Rounds(ExprPath, u32),
    /// A member of the class at a place, and where in the text it is.
    Member(ExprPath, u32, usize),
}

impl Reader {
    /// Returns a reader of a grammar; `None` if it does not compile.
    pub(crate) fn new(grammar: &Grammar) -> Option<Reader> {
        let mut diagnostics = Diagnostics::default();
        let checked = check(grammar, None, &mut diagnostics)?;
        let (ir, sources) = lower_weighted(&checked, &Weights::default(), &mut diagnostics)?;
        let parser = Parser::new(&ir);
        let marks: Vec<Marks> = (0..grammar.rules.len()).map(|rule| Marks::of(grammar, rule)).collect();
        let (choices, repetitions, classes) = places(&sources, &marks);
        Some(Reader { ir, parser, choices, repetitions, classes, tasks: RefCell::default() })
    }

    /// Returns true if a text conforms.
    pub(crate) fn reads(&self, text: &[u8]) -> bool {
        self.parser.parse(text, &BUDGET).is_ok()
    }

    /// Returns true if a text conforms, for a reader that reads few: learning an automaton of the grammar would take
    /// longer.
    pub(crate) fn reads_once(&self, text: &[u8]) -> bool {
        self.parser.conforms_by_threads(text, &BRIEF).unwrap_or_else(|_| self.reads(text))
    }

    /// Returns true if a text conforms, or reading it costs too much to know.
    pub(crate) fn may_read(&self, text: &[u8]) -> bool {
        self.parser.conforms_by_threads(text, &BRIEF).unwrap_or(true)
    }

    /// Returns the place where a text ceases to conform, if it does and that is known.
    pub(crate) fn mismatch(&self, text: &[u8]) -> Option<Mismatch> {
        match self.parser.parse(text, &BUDGET) {
            Err(ParseError::Mismatch(mismatch)) => Some(mismatch),
            _ => None,
        }
    }

    /// Returns a text's derivation, if it conforms.
    pub(crate) fn derivation(&self, text: &[u8]) -> Option<Derivation> {
        Some(self.derived(self.parser.parse(text, &BUDGET).ok()?.choices))
    }

    /// Returns a text's derivation, if it conforms, for a reader that reads few.
    pub(crate) fn derivation_once(&self, text: &[u8]) -> Option<Derivation> {
        match self.parser.parse_by_threads(text, &BRIEF) {
            Err(ParseError::Steps { .. } | ParseError::Memory { .. }) => self.derivation(text),
            result => Some(self.derived(result.ok()?.choices)),
        }
    }

    fn derived(&self, choices: Vec<u8>) -> Derivation {
        let mut bytes = choices.into_iter();
        self.derive(u64::MAX, || bytes.next())
    }

    /// Returns a text made of this many random choice bytes, completed in the shortest way.
    pub(crate) fn make(&self, random: &mut Random, mut choices: usize) -> Derivation {
        self.derive(MAX_MADE, || {
            choices = choices.checked_sub(1)?;
            Some(random.below(256) as u8)
        })
    }

    /// Returns a text made of random choice bytes, between two of which are some that lead the shortest way: so choices
    /// are left for what comes late in a text.
    pub(crate) fn make_sparsely(&self, random: &mut Random, mut choices: usize) -> Derivation {
        self.derive(MAX_MADE, || {
            if choices > 0 && random.below(SPARSE) > 0 {
                return Some(0);
            }
            choices = choices.checked_sub(1)?;
            Some(random.below(256) as u8)
        })
    }

    fn derive(&self, most: u64, next: impl FnMut() -> Option<u8>) -> Derivation {
        let mut notes = Notes { reader: self, made: Derivation::default(), open: Vec::new(), rounds: Vec::new() };
        let (pools, mut output) = (Pools::none(), Vec::new());
        let machine = Machine::new(&self.ir, &pools, Limits::default(), most, next, &mut output, &mut notes);
        machine.derive(Derived::Rule(self.ir.start()), 0, &mut self.tasks.borrow_mut());
        let mut made = notes.made;
        made.text = output;
        made
    }

    fn class(&self, node: NodeId) -> Option<&CharSet> {
        self.ir.node(node).class()
    }
}

/// The places of the choices and repetitions of a rule, and those of its classes, in the order of their numbers.
struct Marks {
    places: Vec<ExprPath>,
    classes: Vec<ExprPath>,
}

impl Marks {
    fn of(grammar: &Grammar, rule: usize) -> Marks {
        let mut marks = Marks { places: Vec::new(), classes: Vec::new() };
        marks.add(&grammar.rules[rule].body, ExprPath::body(rule));
        marks
    }

    fn add(&mut self, expr: &Expr, place: ExprPath) {
        if expr.as_class().is_some() {
            self.classes.push(place.clone());
        } else if expr.as_choice().is_some() || expr.as_repeat().is_some() {
            self.places.push(place.clone());
        }
        for (number, child) in expr.children().enumerate() {
            let mut inner = place.clone();
            inner.path.push(number);
            self.add(child, inner);
        }
    }
}

/// Places of choices, with the number of the alternative of each option.
type Choices = BTreeMap<NodeId, (ExprPath, Vec<usize>)>;

/// Places of other nodes.
type Placed = BTreeMap<NodeId, ExprPath>;

fn places(sources: &Sources, marks: &[Marks]) -> (Choices, Placed, Placed) {
    let mark = |rule: RuleId, place: u32| marks.get(rule.index())?.places.get(place as usize).cloned();
    let choices = sources.iter().filter_map(|(node, source)| {
        let numbers = source.alternatives.iter().map(|&(number, _)| number as usize).collect();
        Some((node, (mark(source.rule, source.place)?, numbers)))
    });
    let repetitions = sources.repetitions().filter_map(|(node, found)| Some((node, mark(found.rule, found.place)?)));
    let classes = sources.classes().filter_map(|(node, rule, number)| {
        Some((node, marks.get(rule.index())?.classes.get(number as usize).cloned()?))
    });
    (choices.collect(), repetitions.collect(), classes.collect())
}

/// Takes down what a derivation uses.
struct Notes<'r> {
    reader: &'r Reader,
    made: Derivation,
    /// The open repetitions: their spans.
    open: Vec<u32>,
    /// For each span, the node and the rounds of the repetition, if it is one.
    rounds: Vec<Option<(NodeId, u32)>>,
}

impl Recorder for &mut Notes<'_> {
    fn begin(&mut self, kind: Kind, part: Derived, _depth: u32, at: Position) -> u32 {
        let number = self.made.parts.len() as u32;
        if number >= NONE - 1 {
            return NONE;
        }
        let begin = at.emitted as usize;
        let rule = match part {
            Derived::Rule(rule) | Derived::Pool(rule) => Some(rule.index()),
            Derived::Node(_) | Derived::Round(_) => None,
        };
        self.made.parts.push(Part { rule, range: begin..begin });
        let mut rounds = None;
        match (kind, part) {
            (Kind::Repetition, Derived::Node(node)) => {
                self.open.push(number);
                rounds = Some((node, least(&self.reader.ir, node)));
            }
            (Kind::Round, _) => self.count(1),
            _ => {}
        }
        self.rounds.push(rounds);
        number
    }

    fn end(&mut self, span: u32, at: Position) {
        self.made.parts[span as usize].range.end = at.emitted as usize;
        if let Some((node, rounds)) = self.rounds[span as usize] {
            self.open.pop();
            if let Some(place) = self.reader.repetitions.get(&node) {
                self.made.used.push(Used::Rounds(place.clone(), rounds));
            }
        }
    }

    fn cancel(&mut self, _span: u32) {
        self.made.parts.pop();
        self.rounds.pop();
        self.count(-1);
    }

    fn site(&mut self, site: DecidedSite) {
        if let (Some(place), Some(set)) = (self.reader.classes.get(&site.node), self.reader.class(site.node))
            && let Some(member) = set.nth(site.option)
        {
            self.made.used.push(Used::Member(place.clone(), member, site.at.emitted as usize));
        }
    }

    fn option(&mut self, choice: NodeId, option: u32) {
        if let Some((place, numbers)) = self.reader.choices.get(&choice)
            && let Some(&number) = numbers.get(option as usize)
        {
            self.made.used.push(Used::Alternative(place.clone(), number));
        }
    }
}

impl Notes<'_> {
    /// Counts a round of the innermost open repetition.
    fn count(&mut self, change: i32) {
        let open = self.open.last().and_then(|&span| self.rounds.get_mut(span as usize)?.as_mut());
        if let Some((_, rounds)) = open {
            *rounds = rounds.saturating_add_signed(change);
        }
    }
}

/// Returns the least number of rounds of a repetition.
fn least(ir: &Ir, node: NodeId) -> u32 {
    ir.node(node).rounds().map_or(0, |rounds| rounds.min)
}
