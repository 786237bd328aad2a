//! The rules: for classes, brackets and tokens.

use std::collections::{BTreeMap, BTreeSet};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;

use crate::absorb;
use crate::asked::Asked;
use crate::expr::{Expr, Undone};
use crate::gaps::{Gap, Gaps, Owner};
use crate::generate::WHITE_SPACE;
use crate::lex::{TokenKind, closing};
use crate::lexical::{self, Lexeme};
use crate::places::{Classes, Symbol};
use crate::repeats::{Piece, Re, Repeats};
use crate::set::Set;
use crate::tree::{Forest, NodeKind};

/// The name of rules of which only the expression says what they are.
pub(crate) const ITEM: &str = "item";
/// The name of braces with what stands between them.
pub(crate) const OBJECT: &str = "object";

/// A rule with a name that others may have, too.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub name: &'static str,
    pub expr: Expr,
}

/// An expression for sequences.
struct Found {
    re: Re,
    /// The sequences of the samples that it derives.
    covered: Vec<Vec<Piece>>,
}

fn sequence_key(owner: Owner, symbols: &[Symbol]) -> String {
    format!("sequence: {owner:?} {symbols:?}")
}

/// Sequences of one class or content that are generalised, each by itself.
const SEQUENCES: usize = 40;

pub(crate) struct Writer<'a, 'o> {
    forest: &'a Forest,
    classes: &'a Classes,
    gaps: &'a Gaps,
    asked: &'a mut Asked<'o>,
    undone: &'a Undone,
    random: Xoshiro256PlusPlus,
    rules: Vec<Rule>,
    classes_done: BTreeMap<usize, usize>,
    atoms_done: BTreeMap<usize, usize>,
    groups_done: BTreeMap<(u8, usize), usize>,
    tokens_done: BTreeMap<Expr, usize>,
}

/// Makes the rules; the first one is the start. With what is undone they derive all samples.
pub(crate) fn rules(
    forest: &Forest,
    classes: &Classes,
    gaps: &Gaps,
    asked: &mut Asked<'_>,
    undone: &Undone,
    seed: u64,
) -> Vec<Rule> {
    let mut writer = Writer {
        forest,
        classes,
        gaps,
        asked,
        undone,
        random: Xoshiro256PlusPlus::seed_from_u64(seed),
        rules: Vec::new(),
        classes_done: BTreeMap::new(),
        atoms_done: BTreeMap::new(),
        groups_done: BTreeMap::new(),
        tokens_done: BTreeMap::new(),
    };
    let root = forest.nodes.iter().position(|node| node.kind == NodeKind::Root);
    let content = root.map_or(0, |root| classes.content_of[&root]);
    let start = writer.reserve("start");
    let lead = writer.outer("lead", &gaps.lead);
    let body = writer.content(content, true);
    let trail = writer.outer("trail", &gaps.trail);
    writer.rules[start].expr = Expr::Seq(vec![lead, body, trail]);
    writer.rules
}

impl Writer<'_, '_> {
    fn reserve(&mut self, name: &'static str) -> usize {
        self.rules.push(Rule { name, expr: Expr::empty() });
        self.rules.len() - 1
    }

    /// Returns the rule for a token.
    fn token(&mut self, name: &'static str, expr: Expr) -> Expr {
        if let Some(&rule) = self.tokens_done.get(&expr) {
            return Expr::Rule(rule);
        }
        let rule = self.reserve(name);
        self.rules[rule].expr = expr.clone();
        self.tokens_done.insert(expr, rule);
        Expr::Rule(rule)
    }

    /// Returns the expression for white space around a whole sample.
    fn outer(&mut self, which: &str, gap: &Gap) -> Expr {
        let set = self.gaps.outer_blanks;
        self.optional_blanks(format!("{WHITE_SPACE}: {which}"), gap, set)
    }

    fn optional_blanks(&mut self, key: String, gap: &Gap, set: Set) -> Expr {
        let plain = Expr::Alt(gap.originals.iter().map(Expr::literal).collect());
        let is_observed = gap.originals.iter().any(|original| !original.is_empty());
        if set.is_empty() || !(gap.is_open || is_observed) {
            return plain;
        }
        let blanks = self.token("space", Expr::Set(set).star());
        Expr::general(key, blanks, plain)
    }

    /// Returns what follows a symbol: white space, if it may or must.
    fn after(&mut self, owner: Owner, symbol: Option<Symbol>) -> Expr {
        let Some(gap) = self.gaps.after((owner, symbol)) else { return Expr::empty() };
        if gap.is_needed {
            return self.needed_blanks();
        }
        let gap = gap.clone();
        self.optional_blanks(format!("{WHITE_SPACE}: {owner:?} {symbol:?}"), &gap, self.gaps.blanks)
    }

    fn needed_blanks(&mut self) -> Expr {
        self.token("spaces", Expr::Set(self.gaps.blanks).plus())
    }

    /// Returns a word for a bubble: the class, and the sequence that stands for it.
    fn bubble_key(&self, node: usize) -> String {
        let children = self.forest.nodes[node].children.iter();
        let symbols: Vec<Symbol> = children.map(|&child| self.classes.symbol(child)).collect();
        self.classes.class_of(node).map_or(String::new(), |class| sequence_key(Owner::Class(class), &symbols))
    }

    /// Returns the children of a node; in place of bubbles that have proved wrong, their children.
    fn pieces(&self, node: usize) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for &child in &self.forest.nodes[node].children {
            let one = &self.forest.nodes[child];
            if one.kind == NodeKind::Bubble && self.undone.contains(&self.bubble_key(child)) {
                pieces.extend(self.pieces(child));
            } else {
                pieces.push(Piece { symbol: self.classes.symbol(child), kind: one.kind, span: one.span.clone() });
            }
        }
        pieces
    }

    /// Returns the expressions for the sequences of nodes, each with those that it derives. In those with `own`, the
    /// symbol that they stand for, recursion repeats.
    fn sequences(&mut self, nodes: &[usize], own: Option<Symbol>) -> Vec<Found> {
        let mut distinct: BTreeMap<(usize, Vec<Symbol>), (usize, Vec<Piece>)> = BTreeMap::new();
        for &node in nodes {
            let pieces = self.pieces(node);
            let symbols: Vec<Symbol> = pieces.iter().map(|piece| piece.symbol).collect();
            if !symbols.is_empty() {
                distinct.entry((symbols.len(), symbols)).or_insert((self.forest.nodes[node].sample, pieces));
            }
        }
        let mut found: Vec<Re> = Vec::new();
        for ((_, symbols), (sample, pieces)) in &distinct {
            if found.iter().any(|re| re.matches(symbols)) {
                continue;
            }
            let is_recursive = own.is_some_and(|own| symbols.contains(&own));
            if is_recursive || found.len() >= SEQUENCES {
                found.push(Re::plain(pieces));
                continue;
            }
            let mut repeats = Repeats { forest: self.forest, sample: *sample, asked: self.asked };
            found.push(repeats.of(pieces, &mut self.random));
        }
        covering(found, distinct.into_iter().map(|((_, symbols), (_, pieces))| (symbols, pieces)).collect())
    }

    /// Returns what stands between brackets, or in a whole sample.
    fn content(&mut self, number: usize, is_root: bool) -> Expr {
        let content = &self.classes.contents[number];
        let owner = Owner::Content(number);
        let found = self.sequences(&content.members, None);
        let mut parts = self.alternatives(found, owner, is_root, NodeKind::Root);
        let lead = if is_root { Expr::empty() } else { self.after(owner, None) };
        if !is_root && !parts.is_empty() {
            parts = vec![Expr::Seq(vec![lead, Expr::Alt(parts)])];
        }
        let is_empty = |&node: &usize| self.forest.nodes[node].children.is_empty();
        if content.members.iter().any(is_empty) {
            let gap = self.gaps.empty(number);
            parts.push(self.optional_blanks(format!("{WHITE_SPACE}: nothing {number}"), &gap, self.gaps.blanks));
        } else if content.accepts_nothing {
            parts.push(Expr::general(format!("nothing: content {number}"), Expr::empty(), Expr::never()));
        }
        Expr::Alt(parts)
    }

    /// Returns the sequences as alternatives. Those of bubbles have a key, by which they can be undone.
    fn alternatives(&mut self, found: Vec<Found>, owner: Owner, is_open: bool, kind: NodeKind) -> Vec<Expr> {
        let mut parts = Vec::new();
        for Found { re, covered } in found {
            let mut keys = Vec::new();
            let mut plain = Vec::new();
            for pieces in &covered {
                let symbols: Vec<Symbol> = pieces.iter().map(|piece| piece.symbol).collect();
                let part = self.shown(&Re::plain(pieces), owner, is_open);
                let key = sequence_key(owner, &symbols);
                plain.push(match kind {
                    NodeKind::Bubble => self.bubble(&key, pieces, part, owner),
                    _ => part,
                });
                keys.push(key);
            }
            if re.is_plain() {
                parts.extend(plain);
            } else {
                let key = format!("repetitions: {}", keys.concat());
                let firm = re.firm();
                let mut less = Expr::Alt(plain);
                let symbols = |pieces: &Vec<Piece>| pieces.iter().map(|piece| piece.symbol).collect::<Vec<Symbol>>();
                if firm != re && covered.iter().all(|pieces| firm.matches(&symbols(pieces))) {
                    less = Expr::general(format!("{key} at least once"), self.shown(&firm, owner, is_open), less);
                }
                parts.push(Expr::general(key, self.shown(&re, owner, is_open), less));
            }
        }
        parts
    }

    /// Returns the sequence of a bubble. If it ends with what it stands for, as in `-x`, and that proves wrong (`--x`),
    /// only tokens and brackets can stand there.
    fn bubble(&mut self, key: &str, pieces: &[Piece], part: Expr, owner: Owner) -> Expr {
        let last = pieces.last().map(|piece| piece.symbol);
        let (Some(Symbol::Class(class)), Owner::Class(own)) = (last, owner) else {
            return Expr::general(key.to_string(), part, Expr::never());
        };
        if class != own || !matches!(pieces[0].symbol, Symbol::Marks(_)) {
            return Expr::general(key.to_string(), part, Expr::never());
        }
        let before = self.shown(&Re::plain(&pieces[..pieces.len() - 1]), owner, false);
        let less = Expr::Seq(vec![before, Expr::Rule(self.atoms(class))]);
        let less = Expr::general(key.to_string(), less, Expr::never());
        Expr::general(format!("recursion: {key}"), part, less)
    }

    /// Returns the rule for those members of a class that are tokens or brackets.
    fn atoms(&mut self, class: usize) -> usize {
        if let Some(&rule) = self.atoms_done.get(&class) {
            return rule;
        }
        let rule = self.reserve(ITEM);
        self.atoms_done.insert(class, rule);
        self.rules[rule].expr = Expr::Alt(self.members(class, true));
        rule
    }

    /// Returns an expression over symbols. White space follows what it may follow; `is_open` leaves out that at the
    /// end.
    fn shown(&mut self, re: &Re, owner: Owner, is_open: bool) -> Expr {
        match re {
            Re::Piece(piece) => {
                let symbol = self.symbol(piece.symbol);
                let after = if is_open { Expr::empty() } else { self.after(owner, Some(piece.symbol)) };
                Expr::Seq(vec![symbol, after])
            }
            Re::Seq(parts) => self.sequence(parts, owner, is_open),
            Re::Optional(part) => self.shown(part, owner, false).optional(),
            Re::Star(part) => self.shown(part, owner, false).star(),
            Re::Plus(part) => self.shown(part, owner, false).plus(),
        }
    }

    fn sequence(&mut self, parts: &[Re], owner: Owner, is_open: bool) -> Expr {
        let mut all = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let is_last = is_open && at + 1 == parts.len();
            let (Re::Piece(piece), Some(Re::Piece(next))) = (part, parts.get(at + 1)) else {
                all.push(self.shown(part, owner, is_last));
                continue;
            };
            let is_needed = self.gaps.is_needed_before(next.symbol);
            all.push(self.symbol(piece.symbol));
            all.push(if is_needed { self.needed_blanks() } else { self.after(owner, Some(piece.symbol)) });
        }
        Expr::Seq(all)
    }

    fn symbol(&mut self, symbol: Symbol) -> Expr {
        match symbol {
            Symbol::Class(class) => Expr::Rule(self.class(class)),
            Symbol::Marks(set) => {
                let marks: BTreeSet<&Vec<u8>> = self.classes.marks[set].iter().map(|mark| &mark.0).collect();
                let all = Expr::Alt(marks.into_iter().map(Expr::literal).collect());
                self.token("operator", all)
            }
            Symbol::Blank(kind) => self.blank(kind),
        }
    }

    /// Returns the expression for white space that is a token.
    fn blank(&mut self, kind: TokenKind) -> Expr {
        let mut places = Vec::new();
        let mut originals = BTreeSet::new();
        for (number, node) in self.forest.nodes.iter().enumerate() {
            if node.kind == NodeKind::Token(kind) {
                let original = self.forest.samples[node.sample].originals.get(&node.span.start);
                originals.insert(original.map_or(self.forest.text(number), Vec::as_slice).to_vec());
                places.push(number);
            }
        }
        let step = (places.len() / 8).max(1);
        let some: Vec<usize> = places.into_iter().step_by(step).collect();
        let (forest, asked) = (self.forest, &mut *self.asked);
        let mut fits = |part: &[u8]| {
            let with = |&node: &usize| forest.with(forest.nodes[node].sample, &forest.nodes[node].span, part);
            asked.accepts_all(some.iter().map(with))
        };
        let set = Set::of(b" \t\n".iter().copied().filter(|&byte| fits(&[byte])));
        let mut general = Expr::Set(set);
        if !forest.is_free && !set.has(b' ') && fits(b" \n") && fits(b"\t\n") {
            general = Expr::Seq(vec![Expr::Set(Set::of(*b" \t")).star(), general]);
        }
        if fits(b"\r\n") && !fits(b"\r") {
            general = Expr::Seq(vec![Expr::literal("\r").optional(), general]);
        }
        if set.ascii().all(|byte| fits(&[byte, byte])) {
            general = general.plus();
        }
        let plain = originals.iter().map(Expr::literal).collect();
        let resolved = general.resolved(&Undone::new());
        let missed = originals.iter().filter(|original| !resolved.matches(original)).map(Expr::literal);
        let general = Expr::Alt(std::iter::once(general).filter(|_| !set.is_empty()).chain(missed).collect());
        let name = if kind == TokenKind::Line { "line_end" } else { "blank" };
        self.token(name, Expr::general(format!("{WHITE_SPACE}: {name}"), general, Expr::Alt(plain)))
    }

    /// Returns the rule of a class.
    fn class(&mut self, class: usize) -> usize {
        if let Some(&rule) = self.classes_done.get(&class) {
            return rule;
        }
        let rule = self.reserve(ITEM);
        self.classes_done.insert(class, rule);
        self.rules[rule].expr = Expr::Alt(self.members(class, false));
        rule
    }

    /// Returns the alternatives of a class, or those that are tokens or brackets.
    fn members(&mut self, number: usize, is_atom: bool) -> Vec<Expr> {
        let (forest, classes) = (self.forest, self.classes);
        let class = &classes.classes[number];
        let mut nodes: BTreeMap<NodeKind, Vec<usize>> = BTreeMap::new();
        for &node in &class.members {
            let kind = forest.nodes[node].kind;
            if kind != NodeKind::Bubble || !self.undone.contains(&self.bubble_key(node)) {
                nodes.entry(kind).or_default().push(node);
            }
        }
        let mut guessed: BTreeMap<NodeKind, Vec<usize>> = BTreeMap::new();
        let accepted = classes.probes.iter().zip(&class.accepted).filter(|(_, accepted)| **accepted);
        // What stands in a segment has a class of its own.
        for node in accepted.filter_map(|(probe, _)| probe.node).filter(|_| !class.is_segment) {
            guessed.entry(forest.nodes[node].kind).or_default().push(node);
        }
        let kinds: BTreeSet<NodeKind> = nodes.keys().chain(guessed.keys()).copied().collect();
        let mut parts = Vec::new();
        for kind in kinds {
            let known = nodes.get(&kind).map_or(&[][..], Vec::as_slice);
            let guessed = guessed.get(&kind).map_or(&[][..], Vec::as_slice);
            match kind {
                NodeKind::Token(kind) => parts.extend(self.tokens(number, kind, known, guessed)),
                NodeKind::Group(open) => parts.extend(self.groups(number, open, known, guessed)),
                NodeKind::Segment | NodeKind::Bubble if is_atom => {}
                NodeKind::Segment | NodeKind::Bubble => {
                    let found = self.sequences(known, Some(Symbol::Class(number)));
                    parts.extend(self.alternatives(found, Owner::Class(number), true, kind));
                }
                NodeKind::Root => {}
            }
        }
        parts
    }

    /// Returns the brackets in the places of a class.
    fn groups(&mut self, class: usize, open: u8, known: &[usize], guessed: &[usize]) -> Vec<Expr> {
        let contents =
            |nodes: &[usize]| -> BTreeSet<usize> { nodes.iter().map(|node| self.classes.content_of[node]).collect() };
        let (known, guessed) = (contents(known), contents(guessed));
        let mut parts: Vec<Expr> = known.iter().map(|&content| Expr::Rule(self.group(open, content))).collect();
        for &content in guessed.difference(&known) {
            let group = Expr::Rule(self.group(open, content));
            parts.push(Expr::general(format!("brackets: {class} {open} {content}"), group, Expr::never()));
        }
        parts
    }

    fn group(&mut self, open: u8, content: usize) -> usize {
        if let Some(&rule) = self.groups_done.get(&(open, content)) {
            return rule;
        }
        let rule = self.reserve(match open {
            b'(' => "group",
            b'[' => "list",
            _ => OBJECT,
        });
        self.groups_done.insert((open, content), rule);
        let inner = self.content(content, false);
        self.rules[rule].expr = Expr::Seq(vec![Expr::literal([open]), inner, Expr::literal([closing(open)])]);
        rule
    }

    /// Returns the tokens of a kind in the places of a class.
    fn tokens(&mut self, class: usize, kind: TokenKind, known: &[usize], guessed: &[usize]) -> Vec<Expr> {
        let forest = self.forest;
        let texts = |nodes: &[usize]| -> BTreeSet<&[u8]> { nodes.iter().map(|&node| forest.text(node)).collect() };
        let (known, guessed) = (texts(known), texts(guessed));
        let Some(lexeme) = self.lexeme(class, kind) else {
            let known_parts = known.iter().map(Expr::literal);
            let others = guessed.difference(&known).map(|text| {
                let key = format!("token: {class} {}", String::from_utf8_lossy(text));
                Expr::general(key, Expr::literal(text), Expr::never())
            });
            return known_parts.chain(others).collect();
        };
        let key = format!("token: {class} {kind:?}");
        let mut less = Expr::Alt(known.iter().map(Expr::literal).collect());
        // Marks may be what proves wrong.
        if let Some(simple) = lexeme.simple {
            less = Expr::general(format!("{key} without marks"), self.covering("word", &simple, &known), less);
        }
        vec![Expr::general(key, self.covering(lexeme.name, &lexeme.expr, &known), less)]
    }

    /// Returns the rule for a token, or those of the texts that it does not derive.
    fn covering(&mut self, name: &'static str, token: &Expr, known: &BTreeSet<&[u8]>) -> Expr {
        let resolved = token.resolved(&Undone::new());
        let missed: Vec<Expr> = known.iter().filter(|text| !resolved.matches(text)).map(Expr::literal).collect();
        Expr::Alt([vec![self.token(name, resolved)], missed].concat())
    }

    fn lexeme(&mut self, class: usize, kind: TokenKind) -> Option<Lexeme> {
        let (forest, classes, asked) = (self.forest, self.classes, &mut *self.asked);
        match kind {
            TokenKind::Word => absorb::word(forest, classes, class, asked)
                .or_else(|| lexical::hexadecimal_number(&mut |text| absorb::fits(forest, classes, class, text, asked))),
            TokenKind::Number => {
                let is_number = |&node: &usize| forest.nodes[node].kind == NodeKind::Token(kind);
                let examples: Vec<&[u8]> =
                    (0..forest.nodes.len()).filter(is_number).map(|node| forest.text(node)).collect();
                let mut fits = |text: &[u8]| absorb::fits(forest, classes, class, text, asked);
                lexical::hexadecimal_number(&mut fits).or_else(|| lexical::number(&examples, &mut fits))
            }
            TokenKind::Quoted(quote) => {
                lexical::quoted(quote, &mut |text| absorb::fits(forest, classes, class, text, asked))
            }
            TokenKind::Text | TokenKind::Mark | TokenKind::Space | TokenKind::Line => None,
        }
    }
}

/// Returns the fewest of the expressions that derive all sequences, each with the sequences that it derives.
fn covering(found: Vec<Re>, all: Vec<(Vec<Symbol>, Vec<Piece>)>) -> Vec<Found> {
    let mut left: Vec<(Vec<Symbol>, Vec<Piece>)> = all;
    let mut chosen = Vec::new();
    while !left.is_empty() {
        let count = |re: &Re| left.iter().filter(|(symbols, _)| re.matches(symbols)).count();
        // The first of those that derive most.
        let best = found.iter().map(|re| (count(re), re)).rev().max_by_key(|(count, _)| *count);
        let Some((1.., re)) = best else { break };
        let (covered, others): (Vec<_>, Vec<_>) = left.into_iter().partition(|(symbols, _)| re.matches(symbols));
        let covered = covered.into_iter().map(|(_, pieces)| pieces).collect();
        chosen.push(Found { re: re.clone(), covered });
        left = others;
    }
    chosen
}
