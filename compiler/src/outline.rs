//! Finds where the parts of a text stand: instances of rules, labelled parts, bytes that follow from them, coded parts.

use std::ops::Range;

use crate::analysis::pools::Pools;
use crate::ast::{Name, derived_text};
use crate::coding::Coding;
use crate::derived::Derived;
use crate::diagnostics::Span;
use crate::ir::{Ir, Known, LabelId, NodeId, RuleId};
use crate::labels::Moves;
use crate::limits::Limits;
use crate::machine::{Kind, Machine, NONE, Part, Position, Recorder};

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Kind of part.
    pub what: What,
    /// The number of pieces around it.
    pub depth: u32,
    /// The coded part that it stands in, by its number; `None` outside of coded parts.
    pub within: Option<u32>,
    /// Place in the text, or in what the coded part around it stands for.
    pub place: Range<u64>,
}

/// The kinds of pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// An instance of a rule.
    Rule(RuleId),
    /// A labelled part.
    Label(LabelId),
    /// Bytes that follow from labelled parts.
    Derived(NodeId),
    /// A coded part.
    Coded(Coding),
}

/// A text with its pieces, in the order of their beginnings.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// The text.
    pub text: Vec<u8>,
    /// The pieces.
    pub pieces: Vec<Piece>,
}

impl Outline {
    /// Returns the outline of the text that choice bytes produce without limits.
    pub fn of(ir: &Ir, pools: &Pools, choices: &[u8]) -> Outline {
        let mut bytes = choices.iter().copied();
        let mut next = || bytes.next();
        let mut outline = Outline::default();
        let recorder = Outliner { ir, pieces: &mut outline.pieces, marks: Vec::new(), open: Vec::new() };
        let machine = Machine::new(ir, pools, Limits::default(), u64::MAX, &mut next, &mut outline.text, recorder);
        machine.derive(Part::Rule(ir.start()), 0, &mut Vec::new());
        outline
    }
}

/// Returns what bytes follow from, as the EBNF notation writes it.
pub fn title(ir: &Ir, node: NodeId) -> String {
    let Some(leaf) = ir.node(node).leaf() else { return String::new() };
    let mut name = |known: &Known| {
        let text = ir.label_name(known.label).unwrap_or_default().to_string();
        Name { text, span: Span::default() }
    };
    format!("${}", derived_text(&leaf.derived.map(&mut name)))
}

/// Returns the number that bytes are which follow from labelled parts, if they are one. Checksums are hexadecimal.
pub fn number(ir: &Ir, node: NodeId, bytes: &[u8]) -> Option<String> {
    match &ir.node(node).leaf()?.derived {
        Derived::Number(value, form) if value.digest().is_none() => {
            let number = form.read(bytes)?;
            let is_checksum = value.terms.iter().any(|term| term.measure.is_of_content());
            Some(if is_checksum { format!("0x{number:X}") } else { number.to_string() })
        }
        Derived::Number(..) | Derived::Copy(_) | Derived::Bits(_) | Derived::Padding(..) => None,
    }
}

/// Notes pieces while a machine derives a text.
struct Outliner<'o> {
    ir: &'o Ir,
    pieces: &'o mut Vec<Piece>,
    /// For each piece the numbers of places before its beginning and its end that are still to be filled in.
    marks: Vec<(u32, u32)>,
    /// The numbers of the open pieces.
    open: Vec<u32>,
}

impl Outliner<'_> {
    /// Returns the kind of piece that a node with labels is, if it is one.
    fn what(&self, node: NodeId) -> Option<What> {
        let node = self.ir.node(node);
        let label = node.label().map(|(label, ..)| What::Label(label));
        label.or_else(|| node.coded().map(|(codec, _)| What::Coded(codec.coding)))
    }

    /// Begins a piece. Returns its number.
    fn open(&mut self, what: What, at: Position) -> u32 {
        let (number, depth) = (self.pieces.len() as u32, self.open.len() as u32);
        self.pieces.push(Piece { what, depth, within: None, place: at.emitted..at.emitted });
        self.marks.push((at.marks, at.marks));
        self.open.push(number);
        number
    }

    /// Ends the piece that was begun last.
    fn close(&mut self, at: Position) {
        if let Some(number) = self.open.pop() {
            self.pieces[number as usize].place.end = at.emitted;
            self.marks[number as usize].1 = at.marks;
        }
    }
}

impl Recorder for Outliner<'_> {
    fn begin(&mut self, _kind: Kind, part: Part, _depth: u32, at: Position) -> u32 {
        let (Part::Rule(rule) | Part::Pool(rule)) = part else { return NONE };
        self.open(What::Rule(rule), at)
    }

    fn end(&mut self, _span: u32, at: Position) {
        self.close(at);
    }

    fn enter(&mut self, node: NodeId, at: Position) {
        if let Some(what) = self.what(node) {
            self.open(what, at);
        }
    }

    fn leave(&mut self, node: NodeId, at: Position) {
        if self.what(node).is_some() {
            self.close(at);
        }
    }

    fn derived(&mut self, node: NodeId, from: Position, to: Position) {
        self.open(What::Derived(node), from);
        self.close(to);
    }

    fn settled(&mut self, moves: &Moves) {
        // The pieces of a coded part begin after it. Those of coded parts in it have their places.
        let around = moves.coded().and(self.open.last().copied());
        let (first, from) = (around.map_or(0, |number| number + 1), moves.coded().unwrap_or(0));
        let pieces = self.pieces[first as usize..].iter_mut().zip(&self.marks[first as usize..]);
        for (piece, &(before, up_to)) in pieces.filter(|(piece, _)| piece.within.is_none()) {
            let Range { start, end } = piece.place;
            piece.place = moves.settled(start, before) - from..moves.settled(end, up_to) - from;
            piece.within = around;
        }
    }
}
