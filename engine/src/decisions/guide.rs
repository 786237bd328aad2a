//! Derivations by someone who sees in which parts a site stands.

use std::cell::RefCell;
use std::sync::Arc;

use gramjet::choices::SpanKind;
use gramjet_compiler::ir::{NodeId, Site};
use gramjet_compiler::labels::Moves;
use gramjet_compiler::machine::{Decide, Decided, DecidedSite, Kind, Machine, Part as Node, Position, Recorder};
use gramjet_compiler::reference::Limits;

use super::{Derivation, Deriver, MAX_OUTPUT, OpenSite, Record, most_decisions};
use crate::tracer::span_kind;

/// A part that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The kind.
    pub kind: SpanKind,
    /// The number of the rule, or of the node.
    pub place: u32,
    /// The depth of the rule instance that it is or is in: 0 for the start rule.
    pub depth: u32,
    /// The number of bytes before it.
    pub at: u64,
}

/// Decides the sites of a derivation. Hears of each part that begins and ends around them.
pub trait Guide {
    /// Notes that a part begins, in the part that was begun last and has not ended.
    fn begin(&mut self, part: Begun);

    /// Notes that the part that was begun last ends.
    fn end(&mut self);

    /// Returns an option below [`OpenSite::offered`]. Called at sites with a single option as well.
    fn choose(&mut self, site: &OpenSite<'_>) -> u32;

    /// Notes the option that a site has taken, and the number of bytes before it.
    fn taken(&mut self, _place: u32, _option: u32, _at: u64) {}

    /// Notes that bytes from `first` on have moved: `moved` says where to.
    fn moved(&mut self, _first: u64, _moved: &dyn Fn(u64) -> u64) {}
}

impl Deriver {
    /// Returns the number of the node that a part with this symbol is derived from, if it is no instance of a rule.
    pub fn node_of(&self, symbol: u32) -> Option<u32> {
        match self.grammar.part(symbol)? {
            Node::Node(node) | Node::Round(node) => Some(node.index() as u32),
            Node::Rule(_) | Node::Pool(_) => None,
        }
    }

    /// Derives a whole text as a guide decides.
    pub fn derive_with(&mut self, guide: &mut dyn Guide, derivation: &mut Derivation) {
        derivation.clear();
        let grammar = Arc::clone(&self.grammar);
        let (start, bytes) = (self.start(), self.max_len);
        let mut text = std::mem::take(&mut derivation.text);
        let guide = RefCell::new(guide);
        let asking = Asked { guide: &guide, left: most_decisions(bytes) };
        let record = Record::<true> { grammar: &grammar, derivation };
        let recorder = Telling { guide: &guide, record };
        let limits = Limits { max_depth: None, max_len: bytes };
        let machine = Machine::new(&grammar.lowered, &grammar.pools, limits, MAX_OUTPUT, asking, &mut text, recorder);
        machine.derive(start, 0, &mut self.tasks);
        derivation.text = text;
    }
}

type Shared<'g> = RefCell<&'g mut dyn Guide>;

/// Asks a guide, up to a number of times.
struct Asked<'r, 'g> {
    guide: &'r Shared<'g>,
    left: u64,
}

impl Decide for Asked<'_, '_> {
    const FORCED: bool = true;
    const READS: bool = false;

    fn decide(&mut self, place: NodeId, site: Site<'_>) -> Decided {
        if self.left == 0 {
            return Decided { option: 0, missing: 0 };
        }
        self.left -= 1;
        let option = self.guide.borrow_mut().choose(&OpenSite { place, site });
        Decided { option: option.min(site.options().saturating_sub(1)), missing: 0 }
    }
}

/// Records a derivation, and tells a guide of it.
struct Telling<'r, 'g> {
    guide: &'r Shared<'g>,
    record: Record<'r, true>,
}

impl Recorder for Telling<'_, '_> {
    fn begin(&mut self, kind: Kind, part: Node, depth: u32, at: Position) -> u32 {
        let place = match part {
            Node::Rule(rule) | Node::Pool(rule) => rule.index(),
            Node::Node(node) | Node::Round(node) => node.index(),
        };
        let begun = Begun { kind: span_kind(kind), place: place as u32, depth, at: at.emitted };
        self.guide.borrow_mut().begin(begun);
        self.record.begin(kind, part, depth, at)
    }

    fn end(&mut self, number: u32, at: Position) {
        self.guide.borrow_mut().end();
        self.record.end(number, at);
    }

    fn cancel(&mut self, number: u32) {
        self.guide.borrow_mut().end();
        self.record.cancel(number);
    }

    fn settled(&mut self, moves: &Moves) {
        self.guide.borrow_mut().moved(moves.first(), &|place| moves.of(place));
        self.record.settled(moves);
    }

    fn room(&mut self, number: u32, room: u32) {
        self.record.room(number, room);
    }

    fn site(&mut self, site: DecidedSite) {
        self.guide.borrow_mut().taken(site.node.index() as u32, site.option, site.at.emitted);
        self.record.site(site);
    }
}
