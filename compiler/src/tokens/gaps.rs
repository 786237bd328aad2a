//! Texts that may stand before any token: the matches of a mode's hidden rules. With them the grammar can parse texts
//! that it did not produce. A gap has one derivation, not one for each way of cutting it into matches.

use super::excursions;
use super::hidden::options_of;
use super::patterns::Writer;
use super::{Outcome, Pattern};
use crate::ast::{Alternative, Expr, ExprKind, Name, Rule, Weight};
use crate::charset::{CharSet, Unit};
use crate::diagnostics::Span;

/// One in this many tokens has an optional gap before it.
const RARITY: f64 = 15.0;
/// Blanks are this many times as frequent as other hidden matches.
const BLANKS: f64 = 15.0;

/// The rules for the gaps of each mode. They are written on demand.
#[derive(Debug)]
pub(super) struct Gaps {
    modes: Vec<Option<Gap>>,
}

/// The gaps of a mode. Fields are `None` if nothing is hidden there.
#[derive(Clone, Debug, Default)]
struct Gap {
    /// A rule for one or more hidden matches, and one that may also be empty.
    some: Option<String>,
    any: Option<String>,
    /// Hidden rules whose matches end only at the end of the text.
    open: Vec<usize>,
    /// One hidden match.
    one: Option<Expr>,
}

impl Gaps {
    pub(super) fn new(modes: usize) -> Gaps {
        Gaps { modes: vec![None; modes] }
    }

    /// Returns the gap before a token in a mode, with at least one match if it is `needed`. `None` if nothing is hidden
    /// there.
    pub(super) fn before(&mut self, writer: &mut Writer<'_>, mode: usize, needed: bool, span: Span) -> Option<Expr> {
        let gap = self.gap(writer, mode, span);
        let name = if needed { &gap.some } else { &gap.any };
        name.clone().map(|name| Expr::rule(name, span))
    }

    /// Returns the rules for the gaps before tokens.
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.modes.iter().flatten().flat_map(|gap| gap.some.iter().chain(&gap.any))
    }

    /// Returns the gap at the end of a text that ends in a mode. If lines have a layout, it must not be one of the
    /// rules for gaps before tokens, which are left out at the beginning of a line.
    pub(super) fn last(&mut self, writer: &mut Writer<'_>, mode: usize, span: Span) -> Expr {
        let gap = self.gap(writer, mode, span);
        let (open, one) = (gap.open.clone(), gap.one.clone());
        let mut items: Vec<Expr> = match one.filter(|_| writer.lexer.layout.is_some()) {
            Some(one) => vec![Expr::repeat(one, 0, None, span)],
            None => self.before(writer, mode, false, span).into_iter().collect(),
        };
        if !open.is_empty() {
            let empty = Expr::empty(span);
            let mut options = vec![Alternative { expr: empty, weight: weight(RARITY, span) }];
            for rule in open {
                options.push(Alternative { expr: writer.last(rule, span), weight: weight(1.0, span) });
            }
            items.push(Expr::choice(options, span));
        }
        Expr::seq(items, span)
    }

    /// Returns the end of a line in a mode: its text, and now and then further lines with only hidden matches.
    pub(super) fn line_end(&self, mode: usize, end: &str, span: Span) -> Expr {
        let expr = |kind| Expr { kind, span };
        let empty = || expr(ExprKind::Seq(Vec::new()));
        let either = |usual, rare, rarity| {
            expr(ExprKind::Choice(vec![
                Alternative { expr: usual, weight: weight(rarity, span) },
                Alternative { expr: rare, weight: weight(1.0, span) },
            ]))
        };
        let text = |text: &str| expr(ExprKind::Bytes(text.as_bytes().to_vec()));
        let line_break = || match end {
            "\n" => either(text("\n"), text("\r\n"), RARITY),
            other => text(other),
        };
        let item = Box::new(expr(ExprKind::Seq(vec![self.blank_line(mode, span), line_break()])));
        let blanks = expr(ExprKind::Repeat { item, min: 1, max: None });
        expr(ExprKind::Seq(vec![line_break(), either(empty(), blanks, RARITY)]))
    }

    /// Returns the contents of a line in a mode with only hidden matches.
    pub(super) fn blank_line(&self, mode: usize, span: Span) -> Expr {
        let any = self.modes.get(mode).and_then(|gap| gap.as_ref()?.any.clone());
        Expr { kind: any.map_or(ExprKind::Seq(Vec::new()), ExprKind::Rule), span }
    }

    fn gap(&mut self, writer: &mut Writer<'_>, mode: usize, span: Span) -> &Gap {
        if self.modes[mode].is_none() {
            let gap = write(writer, mode, span);
            self.modes[mode] = Some(gap);
        }
        self.modes[mode].get_or_insert_default()
    }
}

fn weight(value: f64, span: Span) -> Option<Weight> {
    Some(Weight { value, span })
}

/// Writes the rules for the gaps of a mode.
fn write(writer: &mut Writer<'_>, mode: usize, span: Span) -> Gap {
    let (lexer, automata) = (writer.lexer, writer.automata);
    let hidden: Vec<usize> = automata
        .rules_of(mode)
        .iter()
        .copied()
        .filter(|&rule| {
            let own = &lexer.rules[rule];
            own.outcome == Outcome::Hidden && own.moves.is_empty() && automata.is_possible(rule)
        })
        .collect();
    let (blanks, others) = options_of(writer, &hidden);
    let white = blanks.intersection(&CharSet::new(Unit::Char, [(0x09, 0x0D), (0x20, 0x20)]));
    let mut options = Vec::new();
    for (set, value) in [(white.clone(), BLANKS), (blanks.difference(&white), 1.0)] {
        if !set.is_empty() {
            options.push(Alternative { expr: writer.one_of(set, span), weight: weight(value, span) });
        }
    }
    let mut gap = Gap::default();
    for (rule, pattern) in others {
        let expr = match pattern {
            Some(pattern) => writer.pattern(pattern, span),
            None => {
                let text = writer.lexer_rule(rule);
                // A match that could continue is ended by a blank that cannot be part of it.
                let going_on = automata.going_on(rule);
                let ends = blanks.difference(&going_on);
                let is_open = automata.is_narrowed(rule)
                    || has_end(&lexer.rules[rule].pattern)
                    || !going_on.is_empty() && !ends.is_empty();
                if is_open {
                    gap.open.push(rule);
                }
                // Texts that need no such blank are also taken without one.
                if going_on.is_empty() || ends.is_empty() || automata.is_partly_quiet(rule) {
                    text
                } else {
                    let end = Expr::class(ends, span);
                    Expr::seq(vec![text, end], span)
                }
            }
        };
        options.push(Alternative { expr, weight: weight(1.0, span) });
    }
    if let Some(expr) = excursions::from(writer, mode, span) {
        options.push(Alternative { expr, weight: weight(1.0, span) });
    }
    if options.is_empty() {
        return gap;
    }
    let mut rule = |name: &str, kind: ExprKind| {
        let text = writer.names.fresh(name);
        let body = Expr { kind, span };
        writer.rules.push(Rule::new(Name { text: text.clone(), span }, body));
        text
    };
    let refer = |name: &str| Expr::rule(name, span);
    let one = match options.len() {
        1 => options.remove(0).expr,
        _ => refer(&rule("hidden", ExprKind::Choice(options))),
    };
    gap.one = Some(one.clone());
    let some = rule("gap", ExprKind::Repeat { item: Box::new(one), min: 1, max: None });
    let empty = Expr::empty(span);
    let alternatives = vec![
        Alternative { expr: empty, weight: weight(RARITY, span) },
        Alternative { expr: refer(&some), weight: weight(1.0, span) },
    ];
    gap.any = Some(rule("gap", ExprKind::Choice(alternatives)));
    gap.some = Some(some);
    gap
}

/// Returns true if a pattern refers to the end of the text.
fn has_end(pattern: &Pattern) -> bool {
    match pattern {
        Pattern::Set { .. } | Pattern::Fragment(_) => false,
        Pattern::Choice(items) if items.is_empty() => true,
        Pattern::Seq(items) | Pattern::Choice(items) => items.iter().any(has_end),
        Pattern::Repeat { item, .. } => has_end(item),
    }
}
