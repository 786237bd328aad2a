//! Derivations as lists of decisions: the option taken at each site, sites with one option included.
//!
//! Under a length limit the options offered at a site are a prefix of all its options, so the number of an option
//! means the same wherever the site stands. The choice bytes of an option do not: they depend on how many options are
//! offered, and so on all that was emitted before. Searches therefore change decisions, and write choice bytes
//! at the end.
//!
//! If the text of a list of decisions is no longer than the limit, each of its decisions is offered: at each site, the
//! bytes emitted and the fewest bytes still to come are at most the length of the text. So a part that replaces another
//! one of its symbol keeps its text, and the text around it, if the whole fits the limit.

use std::sync::Arc;

use gramjet::choices::SpanKind;
use gramjet_compiler::fnv::fnv1a;
use gramjet_compiler::ir::{Ir, NodeId, Site};
use gramjet_compiler::labels::Moves;
use gramjet_compiler::machine::{
    Decide, Decided, DecidedSite, Kind, Machine, NONE, Nothing, Part as Node, Position, Recorder, Task, min_len_of,
};
use gramjet_compiler::reference::Limits;

use crate::tracer::{Grammar, span_kind};

mod derivation;
mod graft;
mod guide;
mod offers;
mod outline;
mod stretches;

pub use derivation::{Decision, Derivation, Part};
pub use graft::{Change, Edit, Extent};
pub use guide::{Begun, Guide};
pub(crate) use offers::Offers;
pub use outline::Outline;
pub(crate) use outline::Weights;
pub use stretches::{Around, Stretch};

/// A site at which a decision is due.
#[derive(Clone, Copy, Debug)]
pub struct OpenSite<'s> {
    place: NodeId,
    site: Site<'s>,
}

impl OpenSite<'_> {
    /// Returns the number of the node in the grammar.
    pub fn place(&self) -> u32 {
        self.place.index() as u32
    }

    /// Returns the number of options that are offered.
    pub fn offered(&self) -> u32 {
        self.site.options()
    }

    /// Returns true if an option that is offered can be read, but is not in generated inputs.
    pub fn is_only_read(&self, option: u32) -> bool {
        self.site.slots().is_some_and(|slots| slots.is_only_read(option as usize))
    }

    /// Returns the weight of an option that is offered, in proportion to its probability in generated inputs: 0 if it
    /// is only read.
    pub fn weight(&self, option: u32) -> f64 {
        self.site.slots().map_or(1.0, |slots| slots.share(option as usize))
    }
}

/// Decides the sites of a derivation.
pub trait Chooser {
    /// Returns an option below [`OpenSite::offered`]. Called at sites with a single option as well.
    fn choose(&mut self, site: &OpenSite<'_>) -> u32;
}

impl<F: FnMut(&OpenSite<'_>) -> u32> Chooser for F {
    fn choose(&mut self, site: &OpenSite<'_>) -> u32 {
        self(site)
    }
}

/// Answer to the question whether all decisions of a list were taken as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// All, and no site was left without one.
    Exact,
    /// All, but sites after them were decided by the chooser.
    Longer,
    /// An option was not offered where it was to be taken, or decisions were left over.
    Changed,
}

/// Something that an option stands for. Options that derive the same text, or the same rule, are one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Item {
    /// The empty text.
    Empty,
    /// A literal, or a member of a class: a hash of its text.
    Literal(u64),
    /// An instance of a rule: the number of the rule.
    Rule(u32),
    /// Another node: its number.
    Node(u32),
    /// The end of a repetition (false), or its next round: the number of its node.
    Rounds(u32, bool),
}

/// Derives texts from decisions, under a limit on length and none on depth. A clone shares the grammar.
#[derive(Clone, Debug)]
pub struct Deriver {
    grammar: Arc<Grammar>,
    max_len: Option<u64>,
    tasks: Vec<Task>,
    /// Memory for texts that get their parts.
    whole: Derivation,
}

/// At most this many decisions for each byte of the limit, and this many more; then option 0 is taken everywhere.
const DECISIONS_PER_BYTE: u64 = 64;
const MORE_DECISIONS: u64 = 1024;
/// At most this many decisions if there is no limit.
const MOST_DECISIONS: u64 = 1 << 26;
/// A derivation without a limit on length is completed after this many bytes.
const MAX_OUTPUT: u64 = 1 << 28;

impl Deriver {
    pub(crate) fn new(grammar: Arc<Grammar>, max_len: Option<u64>) -> Deriver {
        Deriver { grammar, max_len, tasks: Vec::new(), whole: Derivation::default() }
    }

    /// Returns the greatest length of a text, in bytes.
    pub fn max_len(&self) -> Option<u64> {
        self.max_len
    }

    /// Returns the length of the shortest text, in bytes.
    pub fn min_len(&self) -> u64 {
        min_len_of(self.ir(), self.start())
    }

    /// Returns the length of the shortest text of a part with this symbol, in bytes.
    #[inline]
    pub fn min_len_of(&self, symbol: u32) -> u64 {
        self.grammar.min_lens.get(symbol as usize).copied().unwrap_or(0)
    }

    /// Returns the sites of the grammar, each with all its options, in the order of their nodes.
    pub fn sites(&self) -> impl Iterator<Item = OpenSite<'_>> {
        let ir = self.ir();
        let nodes = (0..ir.node_count()).map(NodeId::new);
        nodes.filter_map(|place| Some(OpenSite { place, site: ir.node(place).site()? }))
    }

    /// Returns the name of the rule whose instances have this symbol; `None` for other parts.
    pub fn rule_name(&self, symbol: u32) -> Option<&str> {
        match self.grammar.part(symbol)? {
            Node::Rule(rule) | Node::Pool(rule) => Some(&self.ir().rule(rule).name),
            Node::Node(_) | Node::Round(_) => None,
        }
    }

    /// Returns the number of rules that texts can have instances of.
    pub fn rule_count(&self) -> usize {
        self.ir().bodies().count()
    }

    /// Returns the rule of which a part with this symbol is an instance, if it is one.
    pub fn rule_of(&self, symbol: u32) -> Option<usize> {
        match self.grammar.part(symbol)? {
            Node::Rule(rule) | Node::Pool(rule) => Some(rule.index()),
            Node::Node(_) | Node::Round(_) => None,
        }
    }

    /// Returns the symbol of the start rule.
    pub fn start_symbol(&self) -> u32 {
        self.grammar.symbol(self.start())
    }

    /// Derives a whole text: first by `options`, then by the chooser. An option that is not offered is replaced by the
    /// last one that is.
    pub fn derive(&mut self, options: &[u32], chooser: &mut dyn Chooser, derivation: &mut Derivation) -> Fit {
        self.derive_as(Extent::Whole, options, chooser, derivation)
    }

    /// Derives a text as [`Deriver::derive`] does. `extent` says how much of the derivation is written.
    pub fn derive_as(
        &mut self,
        extent: Extent,
        options: &[u32],
        chooser: &mut dyn Chooser,
        derivation: &mut Derivation,
    ) -> Fit {
        let most = self.max_len;
        let fit = self.run((self.start(), 0), most, options, chooser, extent, derivation);
        if extent == Extent::NoParts {
            derivation.parts.clear();
        }
        fit
    }

    /// Derives a text by `options` alone; after them option 0 is taken everywhere.
    pub fn replay(&mut self, options: &[u32], derivation: &mut Derivation) -> Fit {
        self.derive(options, &mut |_: &OpenSite<'_>| 0, derivation)
    }

    /// Derives a part with this symbol, of at most `bytes` bytes or as short as it can be; `depth` is that of its
    /// place. Says whether there is such a symbol.
    pub fn draw(
        &mut self,
        symbol: u32,
        depth: u32,
        bytes: u64,
        chooser: &mut dyn Chooser,
        derivation: &mut Derivation,
    ) -> bool {
        self.draw_after(&[], (symbol, depth), bytes, chooser, Extent::Whole, derivation).is_some()
    }

    /// Derives a part with this symbol that begins with these options, of at most `bytes` bytes or as short as it can
    /// be. `extent` says how much of it is written. `None` if there is no such symbol.
    pub fn draw_after(
        &mut self,
        options: &[u32],
        (symbol, depth): (u32, u32),
        bytes: u64,
        chooser: &mut dyn Chooser,
        extent: Extent,
        derivation: &mut Derivation,
    ) -> Option<Fit> {
        let part = self.grammar.part(symbol).filter(|&part| self.grammar.is_closed(part))?;
        Some(self.run((part, depth), Some(bytes), options, chooser, extent, derivation))
    }

    /// Derives the text of choice bytes that stand for it without limits. The limit on length is not kept.
    pub fn decode(&mut self, choices: &[u8], derivation: &mut Derivation) {
        derivation.clear();
        let grammar = Arc::clone(&self.grammar);
        let start = self.start();
        let mut text = std::mem::take(&mut derivation.text);
        let record = Record::<true> { grammar: &grammar, derivation };
        let mut bytes = choices.iter();
        let reader = Reader(|| bytes.next().copied());
        let machine =
            Machine::new(&grammar.lowered, &grammar.pools, Limits::default(), MAX_OUTPUT, reader, &mut text, record);
        machine.derive(start, 0, &mut self.tasks);
        derivation.text = text;
    }

    /// Returns a derivation that was made without a limit on length, made by the same options under the limit here;
    /// `None` if its text is longer.
    pub fn limited(&mut self, free: &Derivation) -> Option<Derivation> {
        let (options, mut limited) = (free.options().collect::<Vec<u32>>(), Derivation::default());
        (self.replay(&options, &mut limited) == Fit::Exact).then_some(limited)
    }

    /// Returns the choice bytes with which these options derive their text without limits on depth and length.
    pub fn encode(&mut self, options: &[u32]) -> Vec<u8> {
        let grammar = Arc::clone(&self.grammar);
        let (mut text, mut choices) = (Vec::new(), Vec::new());
        let mut options = options.iter();
        let mut writing = |site: &OpenSite<'_>| {
            let option = options.next().copied().unwrap_or(0).min(site.offered() - 1);
            let value = site.site.value_of(option);
            choices.extend_from_slice(&value.to_le_bytes()[..site.site.width() as usize]);
            option
        };
        let mut asking = Asking { options: &[], at: 0, left: MOST_DECISIONS, fits: true, chooser: &mut writing };
        let limits = Limits::default();
        let (ir, pools) = (&grammar.lowered, &grammar.pools);
        let machine = Machine::new(ir, pools, limits, MAX_OUTPUT, &mut asking, &mut text, Nothing);
        machine.derive(self.start(), 0, &mut self.tasks);
        choices
    }

    /// Returns the item that an option of a node stands for.
    pub fn item(&self, place: u32, option: u32) -> Item {
        let ir = self.ir();
        let node = NodeId::new(place as usize);
        let node = ir.node(node);
        if let Some(set) = node.class() {
            return set.nth(option).map_or(Item::Empty, |member| literal(set.encode(member).as_ref()));
        }
        if let Some(choice) = node.choice() {
            return choice.options.get(option as usize).map_or(Item::Empty, |&taken| of(ir, taken));
        }
        if node.rounds().is_some() { Item::Rounds(place, option == 1) } else { Item::Node(place) }
    }

    /// Returns the character that an option of a node derives, if it derives one and nothing else. A byte beyond ASCII
    /// counts as one.
    pub fn character(&self, place: u32, option: u32) -> Option<char> {
        let ir = self.ir();
        let one = |bytes: &[u8]| match bytes {
            [byte] => Some(char::from(*byte)),
            _ => std::str::from_utf8(bytes).ok()?.chars().next().filter(|first| first.len_utf8() == bytes.len()),
        };
        let node = ir.node(NodeId::new(place as usize));
        match node.class() {
            Some(set) => one(set.encode(set.nth(option)?).as_ref()),
            None => one(ir.node(*node.choice()?.options.get(option as usize)?).literal()?),
        }
    }

    /// Returns how many rounds a repetition with this symbol has at least; `None` for other parts.
    pub fn min_rounds(&self, symbol: u32) -> Option<u32> {
        let Node::Node(node) = self.grammar.part(symbol)? else { return None };
        Some(self.ir().node(node).rounds()?.min)
    }

    /// Returns true if texts may have an option of a node, but generated inputs do not.
    pub fn is_only_read(&self, place: u32, option: u32) -> bool {
        let choice = self.ir().node(NodeId::new(place as usize)).choice();
        choice.is_some_and(|choice| choice.is_only_read(option as usize))
    }

    /// Returns true if a node is a class: its option is a character or byte, and derives nothing else.
    pub fn is_class(&self, place: u32) -> bool {
        self.ir().node(NodeId::new(place as usize)).class().is_some()
    }

    fn ir(&self) -> &Ir {
        &self.grammar.lowered
    }

    fn start(&self) -> Node {
        Node::Rule(self.ir().start())
    }

    fn run(
        &mut self,
        place: (Node, u32),
        bytes: Option<u64>,
        options: &[u32],
        chooser: &mut dyn Chooser,
        extent: Extent,
        derivation: &mut Derivation,
    ) -> Fit {
        match extent {
            Extent::Whole => self.run_as::<true>(place, bytes, options, chooser, derivation),
            Extent::NoParts => self.run_as::<false>(place, bytes, options, chooser, derivation),
        }
    }

    fn run_as<const PARTS: bool>(
        &mut self,
        (part, depth): (Node, u32),
        bytes: Option<u64>,
        options: &[u32],
        chooser: &mut dyn Chooser,
        derivation: &mut Derivation,
    ) -> Fit {
        derivation.clear();
        let grammar = Arc::clone(&self.grammar);
        let mut text = std::mem::take(&mut derivation.text);
        let most = most_decisions(bytes);
        let mut asking = Asking { options, at: 0, left: most, fits: true, chooser };
        let record = Record::<PARTS> { grammar: &grammar, derivation };
        // The slack is set below for the part.
        let limits = Limits { max_depth: None, max_len: bytes };
        let machine =
            Machine::new(&grammar.lowered, &grammar.pools, limits, MAX_OUTPUT, &mut asking, &mut text, record);
        let machine = match bytes {
            Some(bytes) => machine.within(part, bytes),
            None => machine,
        };
        machine.derive(part, depth, &mut self.tasks);
        let fit = match () {
            () if !asking.fits || asking.at < options.len() => Fit::Changed,
            () if derivation.decisions.len() > options.len() => Fit::Longer,
            () => Fit::Exact,
        };
        derivation.text = text;
        fit
    }
}

fn most_decisions(bytes: Option<u64>) -> u64 {
    bytes.map_or(MOST_DECISIONS, |bytes| bytes.saturating_mul(DECISIONS_PER_BYTE).saturating_add(MORE_DECISIONS))
}

/// Returns the item that a node is.
fn of(ir: &Ir, node: NodeId) -> Item {
    let kind = ir.node(node);
    if let Some(bytes) = kind.literal() {
        return if bytes.is_empty() { Item::Empty } else { literal(bytes) };
    }
    kind.instance().map_or(Item::Node(node.index() as u32), |rule| Item::Rule(rule.index() as u32))
}

/// Returns the item of a literal.
fn literal(text: &[u8]) -> Item {
    Item::Literal(fnv1a(text))
}

/// Takes options from a list, then from a chooser.
struct Asking<'a> {
    options: &'a [u32],
    at: usize,
    left: u64,
    fits: bool,
    chooser: &'a mut dyn Chooser,
}

impl Decide for &mut Asking<'_> {
    const FORCED: bool = true;
    const READS: bool = false;

    fn decide(&mut self, place: NodeId, site: Site<'_>) -> Decided {
        let most = site.options().saturating_sub(1);
        if self.left == 0 {
            return Decided { option: 0, missing: 0 };
        }
        self.left -= 1;
        let wanted = match self.options.get(self.at) {
            Some(&option) => {
                self.at += 1;
                self.fits &= option <= most;
                option
            }
            None => self.chooser.choose(&OpenSite { place, site }),
        };
        Decided { option: wanted.min(most), missing: 0 }
    }
}

/// Reads choice bytes, and records sites with one option, too.
struct Reader<N>(N);

impl<N: FnMut() -> Option<u8>> Decide for Reader<N> {
    const FORCED: bool = true;

    fn decide(&mut self, node: NodeId, site: Site<'_>) -> Decided {
        self.0.decide(node, site)
    }
}

/// Records decisions, and either all parts or only the outermost one.
struct Record<'r, const PARTS: bool> {
    grammar: &'r Grammar,
    derivation: &'r mut Derivation,
}

impl<const PARTS: bool> Record<'_, PARTS> {
    fn decided(&self) -> u32 {
        self.derivation.decisions.len() as u32
    }
}

impl<const PARTS: bool> Recorder for Record<'_, PARTS> {
    fn begin(&mut self, kind: Kind, part: Node, depth: u32, at: Position) -> u32 {
        let number = self.derivation.parts.len() as u32;
        if number == NONE {
            return NONE;
        }
        let is_listed = PARTS || number == 0;
        // Other kinds of parts have no place in the outline.
        if !is_listed && kind != Kind::Instance {
            return NONE;
        }
        let symbol = self.grammar.symbol(part);
        let kind = span_kind(kind);
        self.derivation.outline.add(self.grammar.weights.of(symbol));
        if !is_listed {
            return NONE;
        }
        let (decided, emitted) = (self.decided(), at.emitted as u32);
        let (decisions, text) = ((decided, decided), (emitted, emitted));
        self.derivation.parts.push(Part { kind, symbol, depth, decisions, text, next: number + 1 });
        number
    }

    fn end(&mut self, number: u32, at: Position) {
        let (decided, next) = (self.decided(), self.derivation.parts.len() as u32);
        let part = &mut self.derivation.parts[number as usize];
        (part.decisions.1, part.text.1, part.next) = (decided, at.emitted as u32, next);
    }

    fn cancel(&mut self, _number: u32) {
        // It was a round, which has no place in the outline.
        self.derivation.parts.pop();
    }

    fn settled(&mut self, moves: &Moves) {
        let moved = |place: u32| moves.of(place.into()) as u32;
        // Parts are in the order of their beginnings.
        for part in self.derivation.parts.iter_mut().rev().take_while(|part| u64::from(part.text.0) >= moves.first()) {
            part.text = (moved(part.text.0), moved(part.text.1));
        }
    }

    fn room(&mut self, number: u32, room: u32) {
        self.derivation.parts[number as usize].kind = SpanKind::Repetition { room };
    }

    fn site(&mut self, DecidedSite { node, option, offered, slack, .. }: DecidedSite) {
        let room = u32::try_from(slack).unwrap_or(u32::MAX);
        self.derivation.decisions.push(Decision { place: node.index() as u32, option, offered, room });
    }
}
