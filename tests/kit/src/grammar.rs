//! Random grammars: sound, small, and rich in what is hard for a compiler.

mod labels;
mod names;

use gramjet_compiler::analysis::least;
use gramjet_compiler::ast::{Alternative, Expr, ExprKind, Grammar, Name, Rule, Weight};
use gramjet_compiler::charset::{CharSet, Unit};
use gramjet_compiler::diagnostics::Span;

use crate::draw::Draw;

/// The shape of random grammars.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The greatest number of rules.
    pub rules: usize,
    /// The greatest number of alternatives, except at wide sites.
    pub alternatives: usize,
    /// The greatest number of items of a sequence.
    pub items: usize,
    /// Depth to which groups and repetitions nest within one expression.
    pub nesting: usize,
    /// The length of most literals, and that of a few that are longer, if the former is more than 3.
    pub literal: (usize, usize),
    /// The bytes of literals and small classes; if empty, all.
    pub alphabet: &'static [u8],
    /// Whether rules may derive themselves and repetitions may have no bound.
    pub unbounded: bool,
    /// Whether alternatives may have weights.
    pub weights: bool,
    /// The greatest number of options of wide sites; 0 for no wide sites.
    pub wide: usize,
    /// Whether parts may have labels, and other parts follow from them.
    pub labels: bool,
    /// Whether parts may give names, take them, and bound where they are seen.
    pub names: bool,
    /// Whether parts may be coded.
    pub codings: bool,
    /// Whether the rounds of labelled repetitions may be mirrored.
    pub mirrors: bool,
    /// Whether something outside a group may refer to labels in it.
    pub groups: bool,
    /// Whether rules may have parameters.
    pub parameters: bool,
}

impl Shape {
    /// Grammars whose short strings can be enumerated.
    pub const ENUMERABLE: Shape = Shape {
        rules: 6,
        alternatives: 4,
        items: 3,
        nesting: 2,
        literal: (2, 2),
        alphabet: b"ab",
        unbounded: true,
        weights: true,
        wide: 0,
        labels: false,
        names: false,
        codings: false,
        mirrors: false,
        groups: false,
        parameters: false,
    };

    /// Grammars whose distribution can be computed.
    pub const FINITE: Shape = Shape { unbounded: false, rules: 4, alternatives: 3, ..Shape::ENUMERABLE };

    /// Grammars with everything.
    pub const VARIED: Shape = Shape {
        rules: 12,
        alternatives: 6,
        items: 5,
        nesting: 3,
        literal: (6, 40),
        alphabet: &[],
        unbounded: true,
        weights: true,
        wide: 300,
        labels: false,
        names: false,
        codings: false,
        mirrors: false,
        groups: false,
        parameters: false,
    };

    /// Grammars with labelled parts.
    pub const LABELLED: Shape =
        Shape { rules: 3, alternatives: 3, items: 3, nesting: 2, labels: true, ..Shape::ENUMERABLE };

    /// Grammars with names, and few labelled parts.
    pub const NAMED: Shape = Shape { labels: false, names: true, rules: 4, ..Shape::LABELLED };

    /// Grammars with labelled parts and names.
    pub const LABELLED_NAMED: Shape = Shape { names: true, ..Shape::LABELLED };

    /// Grammars with labelled, coded parts.
    pub const CODED: Shape = Shape { codings: true, ..Shape::LABELLED };

    /// Grammars with labelled, coded parts and names.
    pub const CODED_NAMED: Shape = Shape { names: true, ..Shape::CODED };

    /// Grammars with labels in groups, to which something outside the groups refers.
    pub const GROUPED: Shape = Shape { groups: true, nesting: 3, ..Shape::LABELLED };

    /// Grammars with labelled parts and mirrors of rounds.
    pub const MIRRORED: Shape = Shape { mirrors: true, groups: true, ..Shape::LABELLED };

    /// Grammars with mirrors, codings and names.
    pub const MIRRORED_CODED_NAMED: Shape = Shape { mirrors: true, groups: true, ..Shape::CODED_NAMED };

    /// Grammars with labelled parts and rules with parameters.
    pub const CALLED: Shape = Shape { parameters: true, rules: 5, ..Shape::LABELLED };

    /// Grammars with parameters, mirrors, codings and names.
    pub const CALLED_MIXED: Shape = Shape { parameters: true, rules: 5, ..Shape::MIRRORED_CODED_NAMED };

    /// Grammars with long literals and sequences, which no reservation covers at once.
    pub const LONG: Shape =
        Shape { rules: 5, items: 12, literal: (150, 1300), alphabet: b"ab", wide: 0, ..Shape::VARIED };
}

/// Returns a random grammar of this shape in which the check finds no error; with labels, one in which it may find
/// that a field is too narrow or that parts follow from each other; with both labels and names, that a unique name is
/// in no scope.
pub fn random_grammar(draw: &mut dyn Draw, shape: &Shape) -> Grammar {
    let rules = draw.between(1, shape.rules);
    let mut maker = Maker { draw, shape, rules, rule: 0, scopes: Vec::new(), mirrored: None };
    let mut bodies: Vec<Expr> = (0..rules).map(|rule| maker.body(rule)).collect();
    if shape.names {
        bodies.push(maker.given_names());
    }
    let mut grammar = grammar(bodies);
    for (number, rule) in grammar.rules.iter_mut().enumerate() {
        rule.parameters = maker.parameters(number).iter().map(labels::Label::name).collect();
    }
    maker.make_productive(&mut grammar);
    maker.make_reachable(&mut grammar);
    if shape.names {
        let start = std::mem::replace(&mut grammar.rules[0].body, seq(Vec::new()));
        grammar.rules[0].body = maker.in_scope(start);
    }
    labels::place_labels(&mut grammar);
    grammar
}

/// Returns a grammar of these bodies, whose rules are called `r0`, `r1`, ...
pub fn grammar(bodies: Vec<Expr>) -> Grammar {
    let name = |rule: usize| Name { text: rule_name(rule), span: Span::default() };
    let rules = bodies.into_iter().enumerate().map(|(rule, body)| Rule::new(name(rule), body)).collect();
    Grammar { rules, ..Grammar::default() }
}

fn rule_name(rule: usize) -> String {
    format!("r{rule}")
}

fn expr(kind: ExprKind) -> Expr {
    Expr { kind, span: Span::default() }
}

/// Returns a reference to a rule, to which these labels are given.
fn called(rule: usize, labels: &[labels::Label]) -> Expr {
    let reference = expr(ExprKind::Rule(rule_name(rule)));
    match labels {
        [] => reference,
        _ => Expr::call(reference, labels.iter().map(labels::Label::name).collect(), Span::default()),
    }
}

fn literal(bytes: &[u8]) -> Expr {
    expr(ExprKind::Bytes(bytes.to_vec()))
}

fn seq(items: Vec<Expr>) -> Expr {
    expr(ExprKind::Seq(items))
}

fn choice(alternatives: Vec<Expr>) -> Expr {
    expr(ExprKind::Choice(alternatives.into_iter().map(|expr| Alternative { expr, weight: None }).collect()))
}

struct Maker<'d> {
    draw: &'d mut dyn Draw,
    shape: &'d Shape,
    rules: usize,
    /// The rule whose body is being made.
    rule: usize,
    /// The sequences with labels that are being made, outer ones first.
    scopes: Vec<labels::Scope>,
    /// The repetition whose rounds are mirrored: the numbers of its sequence, of its item, and of the sequence that is
    /// its round.
    mirrored: Option<(usize, usize, usize)>,
}

impl Maker<'_> {
    fn body(&mut self, rule: usize) -> Expr {
        self.rule = rule;
        let parameters = self.parameters(rule);
        if parameters.is_empty() {
            return self.body_without_parameters(rule);
        }
        self.scopes.push(labels::Scope::of_parameters(parameters));
        let body = self.body_without_parameters(rule);
        self.scopes.pop();
        body
    }

    fn body_without_parameters(&mut self, rule: usize) -> Expr {
        let parameters = self.parameters(rule);
        let own = || called(rule, &parameters);
        let unbounded = self.shape.unbounded;
        if self.shape.labels && self.draw.percent(60) {
            return self.labelled(self.shape.nesting);
        }
        match self.draw.below(14) {
            0 if unbounded => {
                let (tail, base) = (self.literal(), self.item(1));
                self.weighted(choice(vec![seq(vec![own(), tail]), base]))
            }
            1 if unbounded => {
                let (head, base) = (self.item(1), self.item(1));
                self.weighted(choice(vec![seq(vec![head, own()]), base]))
            }
            2 if unbounded => {
                let (open, close, base) = (self.literal(), self.literal(), self.item(1));
                self.weighted(choice(vec![seq(vec![open, own(), close]), base]))
            }
            // A right recursion through a group, with two ways back.
            3 if unbounded => {
                let (a, b, base) = (self.literal(), self.item(0), self.literal());
                let back = choice(vec![own(), seq(vec![b, own()]), seq(vec![])]);
                choice(vec![seq(vec![a, back]), base])
            }
            4 if unbounded => {
                let (item, separator) = (self.item(1), self.literal());
                let more = seq(vec![separator, item.clone()]);
                seq(vec![item, expr(ExprKind::Repeat { item: Box::new(more), min: 0, max: None })])
            }
            // Cycles of unit rules, and chains.
            5 => {
                let (other, base) = (self.reference(), self.literal());
                choice(vec![other, base])
            }
            6 if self.draw.percent(30) => self.class(),
            6 => self.reference(),
            // Options with the same tail.
            7 => {
                let tail = vec![self.item(1), self.item(1)];
                let count = self.draw.between(2, 4);
                let options = (0..count).map(|_| {
                    let mut items = vec![self.item(0)];
                    items.extend(tail.clone());
                    seq(items)
                });
                let options = options.collect();
                self.weighted(choice(options))
            }
            8 if self.shape.wide > 0 => self.wide(),
            _ => self.alternatives(self.shape.nesting),
        }
    }

    fn alternatives(&mut self, nesting: usize) -> Expr {
        let count = self.draw.between(1, self.shape.alternatives);
        if count == 1 {
            return self.sequence(nesting);
        }
        let alternatives = (0..count).map(|_| self.sequence(nesting)).collect();
        self.weighted(choice(alternatives))
    }

    fn sequence(&mut self, nesting: usize) -> Expr {
        if self.shape.labels && nesting > 0 && self.draw.percent(25) {
            return self.labelled(nesting - 1);
        }
        match self.draw.below(self.shape.items + 1) {
            1 => self.item(nesting),
            count => seq((0..count).map(|_| self.item(nesting)).collect()),
        }
    }

    fn item(&mut self, nesting: usize) -> Expr {
        if !self.scopes.is_empty()
            && self.draw.percent(30)
            && let Some(following) = self.following(false)
        {
            return following;
        }
        if self.shape.names && self.draw.percent(25) {
            return self.naming(nesting);
        }
        if self.shape.codings && self.draw.percent(12) {
            let part = if nesting > 0 { self.part(nesting) } else { self.class() };
            return self.coded(part);
        }
        match self.draw.below(20) {
            0..=5 => self.literal(),
            6..=8 => self.class(),
            9..=14 => self.reference(),
            15..=17 if nesting > 0 => self.repetition(nesting - 1),
            18..=19 if nesting > 0 => self.alternatives(nesting - 1),
            _ => self.literal(),
        }
    }

    fn reference(&mut self) -> Expr {
        let from = if self.shape.unbounded { 0 } else { self.rule + 1 };
        if from >= self.rules {
            return self.literal();
        }
        let rule = self.draw.between(from, self.rules - 1);
        self.call(rule).unwrap_or_else(|| self.literal())
    }

    fn repetition(&mut self, nesting: usize) -> Expr {
        let item = Box::new(self.item(nesting));
        let (min, max) = match self.draw.below(8) {
            0 => (0, Some(1)),
            1 => (0, None),
            2 => (1, None),
            3 => (self.draw.below(4) as u32, None),
            4 => (0, Some(self.draw.below(4) as u32)),
            5 => {
                let rounds = self.draw.between(2, 4) as u32;
                (rounds, Some(rounds))
            }
            6 => (1, Some(3)),
            _ => {
                let min = self.draw.below(3);
                (min as u32, Some((min + self.draw.below(3)) as u32))
            }
        };
        let max = if max.is_none() && !self.shape.unbounded { Some(min + 1) } else { max };
        expr(ExprKind::Repeat { item, min, max })
    }

    fn byte(&mut self) -> u8 {
        match self.shape.alphabet {
            // Quotes, ends of classes, controls and bytes that are no UTF-8 among others.
            [] if self.draw.percent(20) => self.draw.below(256) as u8,
            [] => b'a' + self.draw.below(26) as u8,
            alphabet => alphabet[self.draw.below(alphabet.len())],
        }
    }

    fn literal(&mut self) -> Expr {
        let (usual, long) = self.shape.literal;
        let most = if usual > 3 && self.draw.percent(10) { long } else { usual };
        let len = self.draw.between(0, most);
        let bytes: Vec<u8> = (0..len).map(|_| self.byte()).collect();
        literal(&bytes)
    }

    fn class(&mut self) -> Expr {
        let set = match self.shape.alphabet {
            [] if self.draw.percent(50) => {
                // Members of one to four bytes, around the borders.
                const BORDERS: [u32; 7] = [0x41, 0x7F, 0x7FF, 0xD7FE, 0xFFFE, 0x1_0000, 0x10_FFFE];
                let count = self.draw.between(1, 4);
                let ranges: Vec<(u32, u32)> = (0..count)
                    .map(|_| {
                        let low = BORDERS[self.draw.below(BORDERS.len())] + self.draw.below(3) as u32;
                        let wide = self.draw.percent(10);
                        (low, low + self.draw.below(if wide { 70_000 } else { 40 }) as u32)
                    })
                    .collect();
                CharSet::new(Unit::Char, ranges)
            }
            [] => {
                let count = self.draw.between(1, 3);
                let ranges = (0..count).map(|_| {
                    let low = self.draw.below(256) as u32;
                    (low, (low + self.draw.below(30) as u32).min(255))
                });
                CharSet::new(Unit::Byte, ranges.collect::<Vec<_>>())
            }
            alphabet => {
                let count = self.draw.between(1, alphabet.len());
                let members = (0..count).map(|_| u32::from(alphabet[self.draw.below(alphabet.len())]));
                CharSet::new(Unit::Byte, members.map(|member| (member, member)).collect::<Vec<_>>())
            }
        };
        if set.is_empty() { literal(b"b") } else { expr(ExprKind::Class(set)) }
    }

    /// Returns a site with many options, of lengths that differ, around the border between one and two choice bytes.
    fn wide(&mut self) -> Expr {
        let count = match self.draw.below(3) {
            0 => self.draw.between(250, 260),
            _ => self.draw.between(2, self.shape.wide),
        };
        let count = count.min(self.shape.wide);
        let shift = self.draw.below(10);
        let options = (0..count).map(|option| {
            let text = format!("{}{}", "x".repeat((option * 7 + shift) % 5), option);
            if self.draw.percent(5) { self.reference() } else { literal(text.as_bytes()) }
        });
        let options = options.collect();
        self.weighted(choice(options))
    }

    /// Returns the choice, perhaps with weights; not all of them are 0.
    fn weighted(&mut self, mut expr: Expr) -> Expr {
        let ExprKind::Choice(alternatives) = &mut expr.kind else { return expr };
        if !self.shape.weights || !self.draw.percent(40) {
            return expr;
        }
        const WEIGHTS: [f64; 11] = [1.0, 2.0, 3.0, 0.5, 0.25, 10.0, 0.001, 1e-9, 1e6, 0.0, 0.3];
        for alternative in alternatives.iter_mut() {
            if self.draw.percent(70) {
                let value = WEIGHTS[self.draw.below(WEIGHTS.len())];
                alternative.weight = Some(Weight { value, span: Span::default() });
            }
        }
        if alternatives.iter().all(|alternative| alternative.weight.is_some_and(|weight| weight.value == 0.0)) {
            alternatives[0].weight = None;
        }
        expr
    }

    /// Gives rules that derive no finite string a literal as further alternative, one after the other.
    fn make_productive(&mut self, grammar: &mut Grammar) {
        let resolve = |name: &str| name[1..].parse().ok();
        labels::place_labels(grammar);
        while let Some(rule) = least::of_grammar(grammar, &resolve).iter().position(Option::is_none) {
            let added = self.literal();
            add_alternative(&mut grammar.rules[rule].body, added);
        }
    }

    /// Gives most rules that are not reached a reference from an earlier rule.
    fn make_reachable(&mut self, grammar: &mut Grammar) {
        for rule in 1..grammar.rules.len() {
            if self.draw.percent(90) && !references_any(&grammar.rules[..rule], rule) {
                let from = self.draw.below(rule);
                let mut added = self.call_with_parts(rule);
                if self.draw.percent(50) {
                    added = seq(vec![added, self.literal()]);
                }
                add_alternative(&mut grammar.rules[from].body, added);
            }
        }
    }
}

fn add_alternative(body: &mut Expr, added: Expr) {
    if let ExprKind::Choice(alternatives) = &mut body.kind {
        alternatives.push(Alternative { expr: added, weight: None });
    } else {
        let old = std::mem::replace(body, seq(vec![]));
        *body = choice(vec![old, added]);
    }
}

fn references_any(rules: &[Rule], target: usize) -> bool {
    fn refers(expr: &Expr, name: &str) -> bool {
        match &expr.kind {
            ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Derived(_) => false,
            ExprKind::Rule(other) => other == name,
            ExprKind::Seq(items) => items.iter().any(|item| refers(item, name)),
            ExprKind::Choice(alternatives) => alternatives.iter().any(|a| refers(&a.expr, name)),
            ExprKind::Repeat { item, .. }
            | ExprKind::Times { item, .. }
            | ExprKind::Label { item, .. }
            | ExprKind::Naming { item, .. }
            | ExprKind::Coded { item, .. }
            | ExprKind::Call { item, .. } => refers(item, name),
        }
    }
    rules.iter().any(|rule| refers(&rule.body, &rule_name(target)))
}
