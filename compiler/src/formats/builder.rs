//! Builds the expressions of all front ends. Keeps the budgets on their number and nesting, and collects findings.

use super::{MAX_EXPRESSIONS, pattern};
use crate::ast::{Alternative, Expr, ExprKind, MAX_NESTING, Name, Rule, Weight};
use crate::charset::{CharSet, Unit};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::ordered::{Map, Set};

/// An error has been reported. The parser goes on where it can.
#[derive(Debug)]
pub(super) struct Reported;

/// An expression and the depth of its nesting.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) expr: Expr,
    pub(super) height: u32,
}

impl Part {
    /// Returns the place of the expression.
    pub(super) fn span(&self) -> Span {
        self.expr.span
    }
}

/// One alternative, before the parser knows whether there are others.
pub(super) type Choosable = (Part, Option<Weight>);

/// Builds expressions and collects findings.
pub(super) struct Builder<'d> {
    diagnostics: &'d mut Diagnostics,
    expressions: usize,
    errors: usize,
    /// Set while a parser looks for the next rule. Findings are dropped then, because they would be noise.
    pub(super) quiet: bool,
    approximated: Set<String>,
    /// The steps that look-aheads and look-behinds may still take: see [`pattern`].
    pub(super) steps_left: usize,
}

impl<'d> Builder<'d> {
    pub(super) fn new(diagnostics: &'d mut Diagnostics) -> Builder<'d> {
        let approximated = Set::new();
        Builder { diagnostics, expressions: 0, errors: 0, quiet: false, approximated, steps_left: pattern::MAX_STEPS }
    }

    /// Adds a finding.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        if !self.quiet {
            self.errors += 1;
            self.diagnostics.push(diagnostic);
        }
        Reported
    }

    /// Adds a warning.
    pub(super) fn warn(&mut self, warning: Diagnostic) {
        if !self.quiet {
            self.diagnostics.push(warning);
        }
    }

    /// Adds a syntax error.
    pub(super) fn error(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) -> Reported {
        self.report(Diagnostic::error(Code::Syntax, span, message).help(help))
    }

    /// Adds a syntax error that a file may hold at every byte. Its message and hint are made only if the error is
    /// listed.
    pub(super) fn error_of(&mut self, span: Span, text: impl FnOnce() -> (String, &'static str)) -> Reported {
        if self.quiet {
            return Reported;
        }
        if self.diagnostics.is_full() {
            self.errors += 1;
            self.diagnostics.count_error();
            return Reported;
        }
        let (message, help) = text();
        self.error(span, message, help)
    }

    /// Reports something that is only partly honoured, once for each message, at its first place.
    pub(super) fn approximate(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        let message = message.into();
        if !self.quiet && self.approximated.len() < Diagnostics::MAX && self.approximated.insert(message.clone()) {
            self.diagnostics.push(Diagnostic::warning(Code::NotContextFree, span, message).help(help));
        }
    }

    /// Returns the number of expressions counted so far.
    pub(super) fn expressions(&self) -> usize {
        self.expressions
    }

    /// Returns true if the limit on errors or expressions is reached, so that the parser can stop.
    pub(super) fn gives_up(&self) -> bool {
        self.errors >= Diagnostics::MAX || self.expressions > MAX_EXPRESSIONS
    }

    /// Returns an expression whose parts nest `below` deep.
    pub(super) fn build(&mut self, kind: ExprKind, span: Span, below: u32) -> Result<Part, Reported> {
        self.count(1, span)?;
        if below >= MAX_NESTING {
            return Err(self.too_deep(span));
        }
        Ok(Part { expr: Expr { kind, span }, height: below + 1 })
    }

    /// Counts expressions that are built elsewhere.
    pub(super) fn count(&mut self, expressions: usize, span: Span) -> Result<(), Reported> {
        let before = self.expressions;
        self.expressions = before.saturating_add(expressions);
        if self.expressions <= MAX_EXPRESSIONS {
            return Ok(());
        }
        if before <= MAX_EXPRESSIONS {
            let message = format!("the grammar has more than {MAX_EXPRESSIONS} expressions");
            self.quiet = false;
            self.report(Diagnostic::error(Code::TooLarge, span, message));
        }
        Err(Reported)
    }

    pub(super) fn too_deep(&mut self, span: Span) -> Reported {
        let message = format!("this is nested more than {MAX_NESTING} levels deep");
        self.report(Diagnostic::error(Code::TooDeep, span, message).help("move the inner part into a rule of its own"))
    }

    /// Reports that a group which begins at `open` is not closed before `end`.
    pub(super) fn not_closed(&mut self, open: Span, end: Span) -> Reported {
        let diagnostic = Diagnostic::error(Code::Syntax, open, "this group is not closed")
            .related(end, "`)` is missing before this")
            .help("close it with `)`");
        self.report(diagnostic)
    }

    pub(super) fn bytes(&mut self, bytes: impl Into<Vec<u8>>, span: Span) -> Result<Part, Reported> {
        self.build(ExprKind::Bytes(bytes.into()), span, 0)
    }

    pub(super) fn rule(&mut self, name: impl Into<String>, span: Span) -> Result<Part, Reported> {
        self.build(ExprKind::Rule(name.into()), span, 0)
    }

    /// Returns a class. An empty one is an error. An ASCII set becomes one of characters, whatever its unit: that is
    /// easier to read.
    pub(super) fn class(&mut self, mut set: CharSet, span: Span) -> Result<Part, Reported> {
        if set.unit() == Unit::Byte && set.ranges().last().is_some_and(|&(_, high)| high <= 0x7F) {
            set = CharSet::new(Unit::Char, set.ranges().iter().copied());
        }
        if set.is_empty() {
            let diagnostic = Diagnostic::error(Code::EmptyClass, span, "this class has no members");
            return Err(self.report(diagnostic.help("add a member, or remove what needs one")));
        }
        // A class also counts by its ranges, so that a million classes of all letters are refused.
        self.count(set.ranges().len() / 16, span)?;
        self.build(ExprKind::Class(set), span, 0)
    }

    /// Returns a single part as it is, several (or none) as a sequence. `span` is the place of an empty sequence.
    pub(super) fn seq(&mut self, mut parts: Vec<Part>, span: Span) -> Result<Part, Reported> {
        if parts.len() == 1
            && let Some(only) = parts.pop()
        {
            return Ok(only);
        }
        let height = parts.iter().map(|part| part.height).max().unwrap_or(0);
        let span = parts.iter().map(Part::span).reduce(Span::to).unwrap_or(span);
        self.build(ExprKind::Seq(parts.into_iter().map(|part| part.expr).collect()), span, height)
    }

    /// Returns a single alternative without a weight as it is, others as a choice.
    pub(super) fn choice(&mut self, mut options: Vec<Choosable>, span: Span) -> Result<Part, Reported> {
        if let [(_, None)] = options.as_slice()
            && let Some((only, _)) = options.pop()
        {
            return Ok(only);
        }
        let height = options.iter().map(|(part, _)| part.height).max().unwrap_or(0);
        let span = options.iter().map(|(part, _)| part.span()).reduce(Span::to).unwrap_or(span);
        let alternatives = options.into_iter().map(|(part, weight)| Alternative { expr: part.expr, weight }).collect();
        self.build(ExprKind::Choice(alternatives), span, height)
    }

    /// Returns a choice without weights.
    pub(super) fn any(&mut self, parts: Vec<Part>, span: Span) -> Result<Part, Reported> {
        self.choice(parts.into_iter().map(|part| (part, None)).collect(), span)
    }

    pub(super) fn repeat(&mut self, part: Part, min: u32, max: Option<u32>, span: Span) -> Result<Part, Reported> {
        let Part { expr, height } = part;
        self.build(ExprKind::Repeat { item: Box::new(expr), min, max }, span, height)
    }

    /// Returns a text in which the case of ASCII letters does not matter: each letter is a class of two.
    pub(super) fn any_case(&mut self, text: &str, span: Span) -> Result<Part, Reported> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        for character in text.chars() {
            if !character.is_ascii_alphabetic() {
                literal.push(character);
                continue;
            }
            if !literal.is_empty() {
                parts.push(self.bytes(std::mem::take(&mut literal), span)?);
            }
            let both = [character.to_ascii_lowercase(), character.to_ascii_uppercase()].map(u32::from);
            parts.push(self.class(CharSet::new(Unit::Byte, both.map(|c| (c, c))), span)?);
        }
        if !literal.is_empty() || parts.is_empty() {
            parts.push(self.bytes(literal, span)?);
        }
        self.seq(parts, span)
    }
}

/// Returns the count of a rule in addition to its expressions. Several copies of its name exist on the way to the
/// checked grammar.
pub(super) fn rule_weight(name: &Name) -> usize {
    1 + name.text.len() / 16
}

/// Rules by name. The alternatives of a rule may be added bit by bit.
#[derive(Default)]
pub(super) struct RuleList {
    rules: Vec<(Name, Vec<Choosable>)>,
    index: Map<String, usize>,
}

impl RuleList {
    /// Returns the place of the rule `name`. A new rule is added and counted.
    pub(super) fn rule(&mut self, name: Name, builder: &mut Builder<'_>) -> Result<usize, Reported> {
        let (before, span, weight) = (self.rules.len(), name.span, rule_weight(&name));
        let place = self.place(name);
        if self.rules.len() > before {
            builder.count(weight, span)?;
        }
        Ok(place)
    }

    /// Returns the place of the rule `name`. A new rule is added, but not counted: that has been done already.
    pub(super) fn place(&mut self, name: Name) -> usize {
        let next = self.rules.len();
        let place = *self.index.entry(name.text.clone()).or_insert(next);
        if place == next {
            self.rules.push((name, Vec::new()));
        }
        place
    }

    /// Adds alternatives to a rule.
    pub(super) fn add(&mut self, rule: usize, options: impl IntoIterator<Item = Choosable>) {
        self.rules[rule].1.extend(options);
    }

    /// Returns the rules with their alternatives.
    pub(super) fn into_rules(self) -> Vec<(Name, Vec<Choosable>)> {
        self.rules
    }

    /// Returns the rules in the order of their first alternatives. A rule that lost all of them to errors derives the
    /// empty string.
    pub(super) fn finish(self, builder: &mut Builder<'_>) -> Vec<Rule> {
        let mut rules = Vec::with_capacity(self.rules.len());
        for (name, options) in self.rules {
            let body = if options.is_empty() { None } else { builder.choice(options, name.span).ok() };
            let empty = Expr::empty(name.span);
            rules.push(Rule::new(name, body.map_or(empty, |part| part.expr)));
        }
        rules
    }
}
