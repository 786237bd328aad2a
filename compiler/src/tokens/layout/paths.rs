//! The states in which expressions can end. Text, line breaks and the tokens for blocks change them.

use super::{DEDENT, INDENT, NEWLINE, Writer};
use crate::ast::{Alternative, Expr, ExprKind, Name, Rule};
use crate::diagnostics::Span;
use crate::ordered::Map;

/// The most rounds of a repetition that are written out because they change the state.
const MAX_ROUNDS: u32 = 64;

/// The indentation of the current line, and the position of the text on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) level: u8,
    pub(super) line: Line,
}

/// The part of a line that has been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Line {
    /// Some text.
    Inside,
    /// Nothing, on the first line.
    First,
    /// Nothing. The indentation must be written before the first text.
    Fresh,
    /// Nothing, and the line begins a block. The indentation must be written before the first text.
    Indented,
    /// Nothing, and the line ends a block. The indentation must be written before the first text.
    Dedented,
}

/// The possible end states of an expression, each with an expression that leads there.
pub(super) type Paths = Map<Place, Expr>;

fn empty(span: Span) -> Expr {
    Expr::empty(span)
}

/// Joins two expressions, one after the other.
fn then(first: Expr, next: Expr) -> Expr {
    let span = first.span;
    Expr::joined([first, next], span)
}

/// Returns the end states of all options. Options with the same end become a choice.
fn choice(options: impl IntoIterator<Item = (Place, Alternative)>, span: Span) -> Paths {
    let mut by_out: Map<Place, Vec<Alternative>> = Map::new();
    for (out, option) in options {
        by_out.entry(out).or_default().push(option);
    }
    let one = |mut options: Vec<Alternative>| match options.len() {
        1 => options.remove(0).expr,
        _ => Expr::choice(options, span),
    };
    by_out.into_iter().map(|(out, options)| (out, one(options))).collect()
}

fn unweighted(paths: Paths) -> impl Iterator<Item = (Place, Alternative)> {
    paths.into_iter().map(|(out, expr)| (out, Alternative { expr, weight: None }))
}

impl Writer<'_> {
    /// Returns the end states of `expr` if it begins at `place`, each with an expression that leads there.
    pub(super) fn paths(&mut self, expr: &Expr, place: Place) -> Paths {
        self.work += 1;
        if self.is_too_much() {
            return Paths::new();
        }
        let span = expr.span;
        if !self.facts.expr(expr).reaches {
            return self.text(expr, place);
        }
        match &expr.kind {
            // These reach no layout token, and no grammar with a layout has labels.
            ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Derived(_) => Paths::new(),
            ExprKind::Times { .. } | ExprKind::Label { .. } | ExprKind::Naming { .. } => Paths::new(),
            ExprKind::Coded { .. } | ExprKind::Call { .. } => Paths::new(),
            ExprKind::Rule(name) => match name.as_str() {
                NEWLINE | INDENT | DEDENT => self.token(name, place, span),
                name => self.reference(name, place, span),
            },
            ExprKind::Seq(items) => {
                let mut paths = Paths::from([(place, empty(span))]);
                for item in items {
                    paths = self.append(paths, span, &mut |this, place| this.paths(item, place));
                }
                paths
            }
            ExprKind::Choice(options) => {
                let mut found = Vec::new();
                for option in options {
                    let weight = option.weight;
                    let paths = self.paths(&option.expr, place);
                    found.extend(paths.into_iter().map(|(out, expr)| (out, Alternative { expr, weight })));
                }
                choice(found, span)
            }
            ExprKind::Repeat { item, min, max } => self.repeat(item, (*min, *max), place, 0, span),
        }
    }

    /// Returns an expression that reaches no layout token.
    fn text(&mut self, expr: &Expr, place: Place) -> Paths {
        let inside = Place { line: Line::Inside, ..place };
        if place.line == Line::Inside {
            return Paths::from([(inside, self.copy(expr))]);
        }
        let fact = self.facts.expr(expr);
        let mut paths = Paths::new();
        if fact.nullable {
            paths.insert(place, empty(expr.span));
        }
        if !self.building {
            if fact.some {
                paths.insert(inside, empty(expr.span));
            }
        } else if let Some(head) = self.head(expr) {
            paths.insert(inside, self.indented(head, place.level));
        }
        paths
    }

    /// Returns a copy of the expression. Only made if bodies are being written.
    fn copy(&mut self, expr: &Expr) -> Expr {
        if !self.building {
            return empty(expr.span);
        }
        self.work += expr.size();
        expr.clone()
    }

    fn indented(&self, expr: Expr, level: u8) -> Expr {
        if level == 0 {
            return expr;
        }
        let blanks = self.layout.indentation.blanks(level);
        then(Expr::bytes(blanks, expr.span), expr)
    }

    fn token(&mut self, name: &str, place: Place, span: Span) -> Paths {
        let at = |level, line| Place { level, line };
        let is_inside = matches!(place.line, Line::Inside | Line::First);
        let below = place.level.checked_sub(1);
        let out = match (name, place.line) {
            (NEWLINE, Line::Inside | Line::First) => at(place.level, Line::Fresh),
            (INDENT, Line::Inside | Line::First | Line::Fresh)
                if place.level < self.levels && (!is_inside || self.brings_line_end) =>
            {
                self.indents |= self.building;
                at(place.level + 1, Line::Indented)
            }
            (DEDENT, Line::Inside | Line::Fresh | Line::Dedented)
                if let Some(below) = below
                    && (!is_inside || self.brings_line_end) =>
            {
                at(below, Line::Dedented)
            }
            _ => return Paths::new(),
        };
        let expr = match place.line {
            Line::Inside if self.building => self.layout.line_end.clone(),
            Line::First if self.building => then(self.layout.blank_line.clone(), self.layout.line_end.clone()),
            _ => empty(span),
        };
        Paths::from([(out, Expr { span, ..expr })])
    }

    fn reference(&mut self, name: &str, place: Place, span: Span) -> Paths {
        let Some(number) = self.facts.number(name) else { return Paths::new() };
        let fact = self.facts.rules[number];
        // If the rule begins with text, the indentation is written before the reference. So the rule needs one variant
        // less.
        let goes_first = place.line != Line::Inside && !fact.begins && !fact.nullable;
        let line = match (goes_first, fact.gap_first) {
            (true, false) => Line::Inside,
            (true, true) => Line::Fresh,
            (false, _) => place.line,
        };
        let key = (number, Place { line, ..place });
        let outs = self.entry(key);
        let mut paths = Paths::new();
        for out in outs {
            let expr = if self.building { self.reference_to(key, out, span) } else { empty(span) };
            let expr = if goes_first && !fact.gap_first { self.indented(expr, place.level) } else { expr };
            paths.insert(out, expr);
        }
        paths
    }

    /// Appends `next` to each end of `first`.
    fn append(&mut self, first: Paths, span: Span, next: &mut dyn FnMut(&mut Self, Place) -> Paths) -> Paths {
        let mut options = Vec::new();
        for (place, before) in first {
            for (out, behind) in next(self, place) {
                let expr = if self.building {
                    self.work += before.size();
                    then(before.clone(), behind)
                } else {
                    empty(span)
                };
                options.push((out, Alternative { expr, weight: None }));
            }
        }
        choice(options, span)
    }

    /// Returns a repetition. `rounds` are the least and the greatest number of rounds, `done` is the number of rounds
    /// written out already.
    fn repeat(&mut self, item: &Expr, rounds: (u32, Option<u32>), place: Place, done: u32, span: Span) -> Paths {
        let (min, max) = rounds;
        let none = if min == 0 { Paths::from([(place, empty(span))]) } else { Paths::new() };
        if max == Some(0) || done >= MAX_ROUNDS {
            return none;
        }
        let once = self.paths(item, place);
        // The usual case: the state after a round is the same as before it.
        if once.len() == 1
            && let Some(expr) = once.get(&place)
        {
            let item = Box::new(expr.clone());
            return Paths::from([(place, Expr { kind: ExprKind::Repeat { item, min, max }, span })]);
        }
        if min == 0 && max.is_none() {
            return self.star(item, place, span);
        }
        let left = (min.saturating_sub(1), max.map(|max| max - 1));
        let more = self.append(once, span, &mut |this, place| this.repeat(item, left, place, done + 1, span));
        choice(unweighted(none).chain(unweighted(more)), span)
    }

    /// Returns the end states of any number of rounds.
    fn star(&mut self, item: &Expr, place: Place, span: Span) -> Paths {
        let mut rounds: Map<Place, Paths> = Map::new();
        let mut pending = vec![place];
        while let Some(from) = pending.pop() {
            if rounds.contains_key(&from) {
                continue;
            }
            let paths = self.paths(item, from);
            pending.extend(paths.keys());
            rounds.insert(from, paths);
        }
        if !self.building {
            return rounds.into_keys().map(|out| (out, empty(span))).collect();
        }
        let mut made = Map::new();
        let outs: Vec<Place> = rounds.keys().copied().collect();
        let mut paths = Paths::new();
        for out in outs {
            if let Some(expr) = self.rounds_to(place, out, &rounds, &mut made, span) {
                paths.insert(out, expr);
            }
        }
        paths
    }

    /// Returns rounds that lead from `from` to `to`. `None` if none do.
    fn rounds_to(
        &mut self,
        from: Place,
        to: Place,
        rounds: &Map<Place, Paths>,
        made: &mut Map<(Place, Place), String>,
        span: Span,
    ) -> Option<Expr> {
        let paths = rounds.get(&from)?;
        let staying = match paths.get(&from) {
            Some(expr) => {
                let item = Box::new(self.copy(expr));
                Expr { kind: ExprKind::Repeat { item, min: 0, max: None }, span }
            }
            None => empty(span),
        };
        if !leads(from, to, rounds) {
            return None;
        }
        let leaving: Vec<(Place, &Expr)> =
            paths.iter().filter(|(out, _)| **out != from && leads(**out, to, rounds)).map(|(&o, e)| (o, e)).collect();
        if leaving.is_empty() {
            return Some(staying);
        }
        if let Some(name) = made.get(&(from, to)) {
            return Some(Expr::rule(name.clone(), span));
        }
        let text = self.names.fresh("lines");
        made.insert((from, to), text.clone());
        let mut options = Vec::new();
        if from == to {
            options.push(Alternative { expr: empty(span), weight: None });
        }
        for (out, expr) in leaving {
            if let Some(rest) = self.rounds_to(out, to, rounds, made, span) {
                let expr = then(self.copy(expr), rest);
                options.push(Alternative { expr, weight: None });
            }
        }
        let body = then(staying, Expr::choice(options, span));
        self.rules.push(Rule::new(Name { text: text.clone(), span }, body));
        Some(Expr::rule(text, span))
    }
}

/// Returns true if rounds lead from one state to another.
fn leads(from: Place, to: Place, rounds: &Map<Place, Paths>) -> bool {
    let mut seen = vec![from];
    let mut next = 0;
    while let Some(&place) = seen.get(next) {
        if place == to {
            return true;
        }
        next += 1;
        for out in rounds.get(&place).into_iter().flat_map(Map::keys) {
            if !seen.contains(out) {
                seen.push(*out);
            }
        }
    }
    false
}
