//! Writes lexer rules as expressions over characters.

use super::alphabet::{Alphabet, MAX_LISTED};
use super::bits::Bits;
use super::boundaries::FirstId;
use super::language::{Drawing, MAX_WRITTEN, NEVER, Table, Written, language, language_of};
use super::states::Automata;
use super::stays::Stays;
use super::{Lexer, Pattern};
use crate::ast::{self, Alternative, Expr, ExprKind, Name};
use crate::charset::CharSet;
use crate::diagnostics::Span;
use crate::ordered::{Map, Set};

/// The deepest nesting of fragments during writing.
const MAX_DEPTH: usize = 100;
/// Smaller fragments are written in place: the greatest number of nodes.
const MAX_INLINE: usize = 12;

/// Makes names that are not taken yet.
#[derive(Debug, Default)]
pub(super) struct Names {
    next: Map<String, usize>,
}

impl Names {
    /// Returns `base`, or the first of `base.2`, `base.3`, ... that is not taken.
    pub(super) fn fresh(&mut self, base: &str) -> String {
        let mut name = base.to_string();
        while self.next.contains_key(&name) {
            let count = self.next.entry(base.to_string()).or_insert(1);
            *count += 1;
            name = format!("{base}.{count}");
        }
        self.next.insert(name.clone(), 1);
        name
    }
}

/// Writes lexer rules and the fragments that they need.
pub(super) struct Writer<'a> {
    pub(super) lexer: &'a Lexer,
    pub(super) automata: &'a Automata,
    alphabet: Alphabet,
    pub(super) names: Names,
    pub(super) rules: Vec<ast::Rule>,
    /// Lexer rules that are written as in the grammar, although the lexer takes some of their texts for other rules'.
    /// The exact rule would be too large.
    pub(super) in_full: Set<usize>,
    /// The hidden matches of modes that lead to other modes.
    pub(super) stays: Stays,
    /// Whether hidden texts are left out that lead through other modes, as there are too many ways.
    pub(super) has_long_ways: bool,
    /// The number of states for which expressions may still be written.
    left: usize,
    /// The reference to each lexer rule.
    written: Map<usize, Expr>,
    begun: Map<(usize, FirstId), Expr>,
    fragments: Map<usize, String>,
    /// Rules without a body yet: the place of the rule, and its fragment.
    pending: Vec<(usize, usize)>,
    /// The number of fragments that are being written within one another.
    depth: usize,
    /// Whether the pattern is at the end of the text, for which an empty choice may stand.
    is_last: bool,
}

impl<'a> Writer<'a> {
    pub(super) fn new(lexer: &'a Lexer, automata: &'a Automata, alphabet: Alphabet, names: Names) -> Writer<'a> {
        Writer {
            lexer,
            automata,
            alphabet,
            names,
            rules: Vec::new(),
            in_full: Set::new(),
            stays: Stays::new(),
            has_long_ways: false,
            left: MAX_WRITTEN,
            written: Map::new(),
            begun: Map::new(),
            fragments: Map::new(),
            pending: Vec::new(),
            depth: 0,
            is_last: false,
        }
    }

    /// Returns an expression for the texts that the lexer takes for a rule's.
    pub(super) fn lexer_rule(&mut self, number: usize) -> Expr {
        if let Some(expr) = self.written.get(&number) {
            return expr.clone();
        }
        let rule = &self.lexer.rules[number];
        let span = rule.span;
        let stand_in = self.lexer.layout.and_then(|tokens| tokens.stand_in(rule.outcome));
        let expr = if let Some(name) = stand_in {
            Expr::rule(name, span)
        } else if let Some(text) = rule.pattern.as_text().filter(|text| !text.is_empty()) {
            Expr::bytes(text, span)
        } else {
            let name = self.names.fresh(&rule.name);
            let expr = Expr::rule(name.clone(), span);
            let body = self.body(number, &name);
            self.rules.push(ast::Rule::new(Name { text: name, span }, body));
            expr
        };
        self.written.insert(number, expr.clone());
        expr
    }

    /// Returns an expression for the texts that the lexer takes for a rule's and that begin with one of the classes
    /// `first`. `id` is the number of this set.
    pub(super) fn beginning(&mut self, number: usize, id: FirstId, first: &Bits) -> Expr {
        if let Some(expr) = self.begun.get(&(number, id)) {
            return expr.clone();
        }
        let rule = &self.lexer.rules[number];
        let span = rule.span;
        let own = self.automata.facts(number).map(|facts| facts.first.clone()).unwrap_or_default();
        let expr = if own.is_empty() || own.intersection(first) == own {
            self.lexer_rule(number)
        } else {
            let name = self.names.fresh(&rule.name);
            let (names, left) = (&mut self.names, &mut self.left);
            let mut part = |_| names.fresh(&format!("{name}.part"));
            let (body, rules) = language(self.automata, number, Some(first), self.alphabet, span, left, &mut part)
                .unwrap_or_else(|| (Expr::rule(NEVER, span), Vec::new()));
            let rules = rules.into_iter().chain([(name.clone(), body)]);
            self.rules.extend(rules.map(|(text, body)| ast::Rule::new(Name { text, span }, body)));
            Expr::rule(name, span)
        };
        self.begun.insert((number, id), expr.clone());
        expr
    }

    /// Returns a name, and an expression for the texts of an automaton with the rules that it refers to, whose names
    /// begin with the name. `None` if they are too large.
    pub(super) fn texts(
        &mut self,
        table: &Table,
        first: Option<&Bits>,
        drawn: &CharSet,
        span: Span,
    ) -> (String, Option<Written>) {
        let name = self.names.fresh("inside");
        let (names, left) = (&mut self.names, &mut self.left);
        let mut part = |_| names.fresh(&format!("{name}.part"));
        let drawing = Drawing { drawn, alphabet: self.alphabet, span };
        let written = language_of(self.automata, table, first, &drawing, left, &mut part);
        (name, written)
    }

    fn body(&mut self, number: usize, name: &str) -> Expr {
        let rule = &self.lexer.rules[number];
        if self.automata.is_shaped(number) {
            let (names, left) = (&mut self.names, &mut self.left);
            let mut part = |_| names.fresh(&format!("{name}.part"));
            let written = language(self.automata, number, None, self.alphabet, rule.span, left, &mut part);
            if let Some((body, rules)) = written {
                self.rules
                    .extend(rules.into_iter().map(|(text, body)| ast::Rule::new(Name { text, span: rule.span }, body)));
                return body;
            }
            if self.automata.is_told(number) {
                self.in_full.insert(number);
            }
        }
        self.pattern(&rule.pattern, rule.span)
    }

    /// Returns an expression for one character of a set.
    pub(super) fn one_of(&self, set: CharSet, span: Span) -> Expr {
        self.alphabet.one_of(set, span)
    }

    /// Returns a lexer rule's pattern as written, at the end of the text.
    pub(super) fn last(&mut self, rule: usize, span: Span) -> Expr {
        self.is_last = true;
        let expr = self.pattern(&self.lexer.rules[rule].pattern, span);
        self.is_last = false;
        expr
    }

    /// Returns a pattern as written.
    pub(super) fn pattern(&mut self, pattern: &Pattern, span: Span) -> Expr {
        let kind = match pattern {
            Pattern::Set { set, listed } => {
                let is_restricted = !listed || set.len() > MAX_LISTED;
                let set = if is_restricted { self.alphabet.restrict(set) } else { set.clone() };
                if !set.is_empty() {
                    return self.alphabet.one_of(set, span);
                }
                ExprKind::Rule(NEVER.to_string())
            }
            Pattern::Fragment(fragment) => return self.fragment(*fragment, span),
            Pattern::Seq(items) => match pattern.as_text() {
                Some(text) => ExprKind::Bytes(text.into_bytes()),
                None => ExprKind::Seq(items.iter().map(|item| self.pattern(item, span)).collect()),
            },
            Pattern::Choice(items) if items.is_empty() && self.is_last => ExprKind::Seq(Vec::new()),
            Pattern::Choice(items) if items.is_empty() => ExprKind::Rule(NEVER.to_string()),
            Pattern::Choice(items) => {
                if let [only] = items.as_slice() {
                    return self.pattern(only, span);
                }
                // A large set that the grammar writes as a choice.
                if let Some(set) = self.automata.sets.set(pattern).filter(|set| set.len() > MAX_LISTED) {
                    return self.alphabet.one_of(self.alphabet.restrict(&set), span);
                }
                let option = |item| Alternative { expr: self.pattern(item, span), weight: None };
                ExprKind::Choice(items.iter().map(option).collect())
            }
            Pattern::Repeat { item, min, max, .. } => {
                ExprKind::Repeat { item: Box::new(self.pattern(item, span)), min: *min, max: *max }
            }
        };
        Expr { kind, span }
    }

    fn fragment(&mut self, number: usize, span: Span) -> Expr {
        if let Some(name) = self.fragments.get(&number) {
            return Expr::rule(name.clone(), span);
        }
        let fragment = &self.lexer.fragments[number];
        if size(&fragment.pattern).is_some_and(|size| size <= MAX_INLINE) {
            return self.pattern(&fragment.pattern, span);
        }
        let name = self.names.fresh(&fragment.name);
        self.fragments.insert(number, name.clone());
        let index = self.rules.len();
        let empty = Expr::empty(span);
        self.rules.push(ast::Rule::new(Name { text: name.clone(), span: fragment.span }, empty));
        self.pending.push((index, number));
        // The native stack is bounded: the outermost call writes deeper fragments.
        if self.depth < MAX_DEPTH {
            self.depth += 1;
            let last = self.depth == 1;
            while let Some((index, number)) = self.pending.pop() {
                let fragment = &self.lexer.fragments[number];
                self.rules[index].body = self.pattern(&fragment.pattern, fragment.span);
                if !last {
                    break;
                }
            }
            self.depth -= 1;
        }
        Expr::rule(name, span)
    }
}

/// Returns the number of nodes of a pattern without fragments.
fn size(pattern: &Pattern) -> Option<usize> {
    match pattern {
        Pattern::Set { .. } => Some(1),
        Pattern::Fragment(_) => None,
        Pattern::Seq(items) | Pattern::Choice(items) => {
            items.iter().try_fold(1usize, |sum, item| Some(sum.saturating_add(size(item)?)))
        }
        Pattern::Repeat { item, .. } => size(item).map(|size| size + 1),
    }
}
