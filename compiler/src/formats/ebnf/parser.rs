//! Rules and expressions of the EBNF: recursive descent with up to four tokens of lookahead.
//!
//! The native stack is bounded: groups nest at most [`MAX_NESTING`] deep, and so does the resulting expression (a chain
//! of postfix operators nests without recursion here, but not in later stages). Without optimisation, 1 MiB of stack is
//! enough.

use std::collections::VecDeque;

use super::levels::{Levels, give_levels};
use super::lexer::{Kind, Lexer, Token};
use crate::ast::{Alternative, Expr, ExprKind, Grammar, MAX_NESTING, Name, Rule, Weight};
use crate::charset::{CharSet, Unit};
use crate::coding::Coding;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::formats::MAX_EXPRESSIONS;
use crate::formats::builder::{Builder, Part};
use crate::formats::difference::{self, Difference};
use crate::formats::pattern::{self, Flags};

/// Parses the whole text.
pub(super) fn parse(text: &str, diagnostics: &mut Diagnostics) -> Grammar {
    let mut parser = Parser::new(text, diagnostics);
    parser.rules();
    let Parser { mut lexer, mut grammar, levels, differences, rules_with_differences, .. } = parser;
    difference::resolve(&mut grammar, differences, &rules_with_differences, &mut |diagnostic| lexer.report(diagnostic));
    give_levels(&mut grammar, &levels);
    grammar
}

/// An error has been reported. The parser goes on with the next rule.
pub(super) struct Reported;

/// An expression and the depth of its nesting.
pub(super) struct Sized {
    pub(super) expr: Expr,
    pub(super) height: u32,
}

pub(super) struct Parser<'t, 'd> {
    pub(super) lexer: Lexer<'t, 'd>,
    /// Tokens that were read but not taken.
    ahead: VecDeque<Token<'t>>,
    /// The last token that was taken.
    pub(super) last_span: Span,
    pub(super) grammar: Grammar,
    /// The levels of each rule so far, and of the rule that is being read.
    levels: Vec<Levels>,
    /// The differences so far. Each is an empty class in its rule until all rules are known.
    differences: Vec<Difference>,
    rules_with_differences: Vec<usize>,
    /// The number of open groups.
    groups: u32,
    /// The number of expressions so far, against [`MAX_EXPRESSIONS`].
    expressions: usize,
}

impl<'t, 'd> Parser<'t, 'd> {
    pub(super) fn new(text: &'t str, diagnostics: &'d mut Diagnostics) -> Parser<'t, 'd> {
        Parser {
            lexer: Lexer::new(text, diagnostics),
            ahead: VecDeque::new(),
            last_span: Span::default(),
            grammar: Grammar::default(),
            levels: Vec::new(),
            differences: Vec::new(),
            rules_with_differences: Vec::new(),
            groups: 0,
            expressions: 0,
        }
    }
}

impl<'t> Parser<'t, '_> {
    pub(super) fn peek(&mut self, distance: usize) -> &Token<'t> {
        while self.ahead.len() <= distance {
            let token = self.lexer.token();
            self.ahead.push_back(token);
        }
        &self.ahead[distance]
    }

    pub(super) fn take(&mut self) -> Token<'t> {
        let token = self.ahead.pop_front().unwrap_or_else(|| self.lexer.token());
        self.last_span = token.span;
        token
    }

    pub(super) fn take_if(&mut self, kind: &Kind<'_>) -> bool {
        let found = self.peek(0).kind == *kind;
        if found {
            self.take();
        }
        found
    }

    pub(super) fn error(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) -> Reported {
        self.lexer.report(Diagnostic::error(Code::Syntax, span, message).help(help));
        Reported
    }

    /// Returns the number of tokens in the production number of the rule that begins here. `None` if no rule begins
    /// here.
    fn rule_begins(&mut self) -> Option<usize> {
        match &self.peek(0).kind {
            Kind::Name(_) => self.is_head(0).then_some(0),
            Kind::Class(_) => {
                let token = self.peek(0);
                let (span, starts_line) = (token.span, token.starts_line);
                // `[12]` might also be a class. It is a production number if it is the first token of its line, with
                // the name on the same line.
                let numbered =
                    starts_line && is_production_number(&self.lexer.text[span.start as usize..span.end as usize]);
                let named = numbered && matches!(self.peek(1), Token { kind: Kind::Name(_), starts_line: false, .. });
                (named && self.is_head(1)).then_some(1)
            }
            _ => None,
        }
    }

    /// Returns true if the name that comes after a number of tokens, perhaps with parameters, is defined there.
    fn is_head(&mut self, before: usize) -> bool {
        let mut next = before + 1;
        if self.peek(next).kind == Kind::Open {
            next += 2;
            while matches!(self.peek(next - 1).kind, Kind::Name(_)) && self.peek(next).kind == Kind::Comma {
                next += 2;
            }
            if !matches!(self.peek(next - 1).kind, Kind::Name(_)) || self.peek(next).kind != Kind::Close {
                return false;
            }
            next += 1;
        }
        self.peek(next).kind == Kind::Defines
    }

    fn rules(&mut self) {
        while !self.lexer.gives_up() {
            if let Some(number) = self.rule_begins() {
                self.rule(number);
                continue;
            }
            match self.peek(0).kind {
                Kind::End => return,
                Kind::Semicolon => drop(self.take()),
                Kind::Directive(_) => {
                    if self.directive().is_err() {
                        self.skip_to_rule();
                    }
                }
                _ => {
                    self.unexpected("a rule");
                    self.skip_to_rule();
                }
            }
        }
    }

    /// Recovers from an error: skips to the beginning of a rule or a directive.
    fn skip_to_rule(&mut self) {
        self.lexer.quiet = true;
        while !matches!(self.peek(0).kind, Kind::End | Kind::Directive(_)) && self.rule_begins().is_none() {
            self.take();
        }
        self.lexer.quiet = false;
    }

    fn rule(&mut self, number: usize) {
        for _ in 0..number {
            self.take();
        }
        let name = self.take();
        let Kind::Name(text) = name.kind else { return };
        let name = Name { text: text.to_string(), span: name.span };
        let parameters = self.parameters();
        self.take();
        let first_difference = self.differences.len();
        self.groups = 0;
        self.levels.push(Vec::new());
        let body = self.body();
        if body.is_err() {
            self.differences.truncate(first_difference);
            self.skip_to_rule();
        } else if self.differences.len() > first_difference {
            self.rules_with_differences.push(self.grammar.rules.len());
        }
        // A broken rule is kept, so that references to it are not reported too.
        let body = body.unwrap_or_else(|Reported| Expr::empty(name.span));
        self.grammar.rules.push(Rule { name, parameters, body });
    }

    fn body(&mut self) -> Result<Expr, Reported> {
        let body = self.choice()?.expr;
        let separated = self.take_if(&Kind::Semicolon);
        if separated || self.rule_begins().is_some() {
            return Ok(body);
        }
        match self.peek(0).kind {
            Kind::End | Kind::Directive(_) => Ok(body),
            Kind::Close => {
                let span = self.peek(0).span;
                Err(self.error(span, "unmatched `)`", "there is no `(` before it in this rule; as text it is `')'`"))
            }
            _ => Err(self.unexpected("the next rule")),
        }
    }

    /// Parses alternatives separated by `|`.
    fn choice(&mut self) -> Result<Sized, Reported> {
        let (mut height, mut alternatives, mut levels) = (0, Vec::new(), Levels::new());
        loop {
            let sequence = self.sequence()?;
            height = height.max(sequence.height);
            let weight = self.weight()?;
            let level = self.level()?;
            if !self.is_in_group() {
                levels.push(level);
            }
            alternatives.push(Alternative { expr: sequence.expr, weight });
            if !self.take_if(&Kind::Bar) {
                break;
            }
        }
        if let Some(own) = self.levels.last_mut().filter(|_| levels.iter().any(Option::is_some)) {
            *own = levels;
        }
        if alternatives.len() == 1
            && alternatives[0].weight.is_none()
            && let Some(only) = alternatives.pop()
        {
            return Ok(Sized { expr: only.expr, height });
        }
        let span = alternatives.iter().map(|a| a.expr.span).reduce(Span::to).unwrap_or_default();
        self.build(ExprKind::Choice(alternatives), span, height)
    }

    /// Returns true if a group is open.
    pub(super) fn is_in_group(&self) -> bool {
        self.groups > 0
    }

    /// Parses `@ number`, if it is there.
    fn weight(&mut self) -> Result<Option<Weight>, Reported> {
        if !self.take_if(&Kind::At) {
            return Ok(None);
        }
        let help = "a weight is a number such as `@ 3` or `@ 0.25`, zero or more";
        let at = self.last_span;
        let Token { kind, span, starts_line } = self.peek(0);
        // A token on the next line is not part of the mistake, and may begin a rule.
        let span = if *starts_line { at } else { *span };
        let value = match kind {
            Kind::Number(digits) => digits.parse::<f64>().ok().filter(|value| value.is_finite()),
            Kind::Minus => return Err(self.error(span, "a weight cannot be negative", help)),
            _ => None,
        };
        let Some(value) = value else {
            return Err(self.error(span, "this is not a weight", help));
        };
        let span = self.take().span;
        if !matches!(
            self.peek(0).kind,
            Kind::Bar | Kind::Close | Kind::End | Kind::Semicolon | Kind::Directive(_) | Kind::Level(_)
        ) && self.rule_begins().is_none()
        {
            let span = self.peek(0).span;
            return Err(self.error(
                span,
                "a weight ends its alternative",
                "put the weight after the whole alternative",
            ));
        }
        Ok(Some(Weight { value, span }))
    }

    /// Parses items one after the other, up to something that ends an alternative.
    fn sequence(&mut self) -> Result<Sized, Reported> {
        let mut height = 0;
        let mut items = Vec::new();
        let start = self.last_span.end;
        loop {
            let ends = matches!(
                self.peek(0).kind,
                Kind::Bar | Kind::Close | Kind::End | Kind::At | Kind::Semicolon | Kind::Directive(_) | Kind::Level(_)
            );
            if ends || self.rule_begins().is_some() {
                break;
            }
            let item = self.difference()?;
            height = height.max(item.height);
            items.push(item.expr);
        }
        if items.len() == 1
            && let Some(expr) = items.pop()
        {
            return Ok(Sized { expr, height });
        }
        let span = items.iter().map(|item| item.span).reduce(Span::to).unwrap_or(Span { start, end: start });
        self.build(ExprKind::Seq(items), span, height)
    }

    /// Returns an item, or several with `-` between them.
    fn difference(&mut self) -> Result<Sized, Reported> {
        let mut left = self.repeated()?;
        while self.take_if(&Kind::Minus) {
            let right = self.repeated()?;
            let span = left.expr.span.to(right.expr.span);
            self.differences.push(Difference { left: left.expr, right: right.expr, span });
            left = self.build(ExprKind::Class(CharSet::empty(Unit::Char)), span, 0)?;
        }
        Ok(left)
    }

    /// Returns a primary expression and its postfix operators.
    fn repeated(&mut self) -> Result<Sized, Reported> {
        if let Some(label) = self.label() {
            // Labels follow each other without recursion here, but nest in later stages.
            let mut labels = vec![label];
            labels.extend(std::iter::from_fn(|| self.label()));
            let mut labelled = self.repeated_without_label()?;
            while let Some(label) = labels.pop() {
                let Sized { expr, height } = labelled;
                let span = label.span.to(expr.span);
                labelled = self.build(ExprKind::Label { label, item: Box::new(expr) }, span, height)?;
            }
            return Ok(labelled);
        }
        self.repeated_without_label()
    }

    fn repeated_without_label(&mut self) -> Result<Sized, Reported> {
        let mut item = self.primary()?;
        loop {
            if self.begins_times() {
                item = self.times(item)?;
                continue;
            }
            let (min, max) = match self.peek(0).kind {
                Kind::Question => (0, Some(1)),
                Kind::Star => (0, None),
                Kind::Plus => (1, None),
                Kind::OpenBrace => self.bounds()?,
                _ => return Ok(item),
            };
            // The operator, or the brace that closes the bounds.
            let operator = self.take();
            let Sized { expr, height } = item;
            let span = expr.span.to(operator.span);
            item = self.build(ExprKind::Repeat { item: Box::new(expr), min, max }, span, height)?;
        }
    }

    /// Parses `{n}`, `{n,}` or `{n,m}` up to the closing brace, which is left to be taken.
    fn bounds(&mut self) -> Result<(u32, Option<u32>), Reported> {
        let open = self.take().span;
        let (min, min_span) = self.bound()?;
        let mut max = Some(min);
        if self.take_if(&Kind::Comma) {
            max = None;
            if self.peek(0).kind != Kind::CloseBrace {
                let (value, span) = self.bound()?;
                if value < min {
                    let message = "the bounds of this repetition are reversed";
                    return Err(self.error(min_span.to(span), message, "the smaller bound comes first"));
                }
                max = Some(value);
            }
        }
        let close = self.peek(0);
        if close.kind != Kind::CloseBrace {
            let span = open.to(close.span);
            return Err(self.error(span, "this repetition is not closed", "write `{3}`, `{2,}` or `{2,5}`"));
        }
        Ok((min, max))
    }

    fn bound(&mut self) -> Result<(u32, Span), Reported> {
        let Token { kind, span, .. } = self.peek(0);
        let span = *span;
        let Kind::Number(digits) = kind else {
            return Err(self.error(span, "a repetition needs a number", "write `{3}`, `{2,}`, `{2,5}` or `{0,5}`"));
        };
        let Ok(value) = digits.parse() else {
            let help = format!("a bound is a whole number up to {}", u32::MAX);
            return Err(self.error(span, "this is not a number of rounds", help));
        };
        self.take();
        Ok((value, span))
    }

    fn primary(&mut self) -> Result<Sized, Reported> {
        match self.peek(0).kind {
            Kind::Question | Kind::Star | Kind::Plus | Kind::OpenBrace => {
                let span = self.peek(0).span;
                let help = "a repetition mark follows an item; as text it is in quotes, such as `'*'`";
                return Err(self.error(span, "there is nothing to repeat here", help));
            }
            Kind::Open => return self.group(),
            Kind::Dollar(name) => {
                let span = self.take().span;
                if self.begins_naming(name) {
                    return self.naming(name, span);
                }
                if self.begins_mirror(name) {
                    return self.mirror(span);
                }
                if self.begins_call(name) {
                    return self.call(span);
                }
                if let Some(coding) = Coding::by_name(name).filter(|_| self.peek(0).kind == Kind::Open) {
                    return self.coded(coding, span);
                }
                return self.derived_item(name, span);
            }
            Kind::Pattern(pattern, flags) => return self.pattern(pattern, flags),
            Kind::Name(_) | Kind::Bytes(_) | Kind::Class(_) => {}
            _ => return Err(self.unexpected("an item")),
        }
        let token = self.take();
        let kind = match token.kind {
            Kind::Name(name) => ExprKind::Rule(name.to_string()),
            Kind::Bytes(bytes) => ExprKind::Bytes(bytes),
            Kind::Class(set) => ExprKind::Class(set),
            _ => return Err(Reported),
        };
        self.build(kind, token.span, 0)
    }

    fn pattern(&mut self, pattern: &str, flags: &str) -> Result<Sized, Reported> {
        let span = self.take().span;
        let mut read = Flags::default();
        if let Some(unknown) = flags.chars().find(|&letter| !read.add(letter)) {
            let message = format!("unknown flag `{unknown}` of a regular expression");
            return Err(self.error(span, message, "the flags are `i`, `m`, `s` and `x`"));
        }
        let mut diagnostics = Diagnostics::default();
        let mut builder = Builder::new(&mut diagnostics);
        let part = pattern::part(pattern, read, span, &mut builder);
        let expressions = builder.expressions();
        diagnostics.iter().for_each(|diagnostic| self.lexer.report(diagnostic.clone()));
        self.count(expressions, span)?;
        let part = part.map_err(|_| Reported)?;
        // Counts the new expressions, and checks that they do not nest too deep here.
        let Part { expr: Expr { kind, span }, height } = part;
        self.build(kind, span, height.saturating_sub(1))
    }

    /// Parses the choice within parentheses that have been opened.
    pub(super) fn nested(&mut self, open: Span) -> Result<Sized, Reported> {
        if self.groups == MAX_NESTING {
            return Err(self.too_deep(open));
        }
        self.groups += 1;
        let inside = self.choice()?;
        self.groups -= 1;
        Ok(inside)
    }

    fn group(&mut self) -> Result<Sized, Reported> {
        let open = self.take().span;
        let mut inside = self.nested(open)?;
        if !self.take_if(&Kind::Close) {
            let end = self.peek(0).span;
            let diagnostic = Diagnostic::error(Code::Syntax, open, "this group is not closed")
                .related(end, "`)` is missing before this")
                .help("close it with `)`");
            self.lexer.report(diagnostic);
            return Err(Reported);
        }
        // So the text at a span is an expression by itself. A difference is known by its span until it is resolved.
        let whole = open.to(self.last_span);
        if let Some(last) = self.differences.last_mut().filter(|last| last.span == inside.expr.span)
            && inside.expr.as_class().is_some()
        {
            last.span = whole;
        }
        inside.expr.span = whole;
        if inside.expr.as_label().is_some() {
            // The label is not seen outside the group.
            let Sized { expr, height } = inside;
            return self.build(ExprKind::Seq(vec![expr]), whole, height);
        }
        Ok(inside)
    }

    /// Returns an expression that was made elsewhere.
    pub(super) fn made(&mut self, expr: Expr) -> Result<Sized, Reported> {
        let height = expr.height();
        self.count(expr.size() - 1, expr.span)?;
        self.build(expr.kind, expr.span, height - 1)
    }

    /// Returns an expression whose parts nest `below` deep.
    pub(super) fn build(&mut self, kind: ExprKind, span: Span, below: u32) -> Result<Sized, Reported> {
        self.count(1, span)?;
        if below >= MAX_NESTING {
            return Err(self.too_deep(span));
        }
        Ok(Sized { expr: Expr { kind, span }, height: below + 1 })
    }

    /// Counts further expressions.
    pub(super) fn count(&mut self, expressions: usize, span: Span) -> Result<(), Reported> {
        let before = self.expressions;
        self.expressions = before.saturating_add(expressions);
        if self.expressions <= MAX_EXPRESSIONS {
            return Ok(());
        }
        if before <= MAX_EXPRESSIONS {
            let message = format!("the grammar has more than {MAX_EXPRESSIONS} expressions");
            self.lexer.report(Diagnostic::error(Code::TooLarge, span, message));
        }
        // Stops reading.
        self.lexer.position = self.lexer.text.len();
        self.ahead.clear();
        Err(Reported)
    }

    fn too_deep(&mut self, span: Span) -> Reported {
        let message = format!("this is nested more than {MAX_NESTING} levels deep");
        self.lexer
            .report(Diagnostic::error(Code::TooDeep, span, message).help("move the inner part into a rule of its own"));
        Reported
    }

    /// Reports that the next token is not `wanted`.
    pub(super) fn unexpected(&mut self, wanted: &str) -> Reported {
        let token = self.peek(0);
        let span = token.span;
        let found = match &token.kind {
            // The lexer has reported it.
            Kind::Error => return Reported,
            Kind::End => "the end of the file".to_string(),
            Kind::Bytes(_) => "a literal".to_string(),
            Kind::Class(_) => "a class".to_string(),
            Kind::Pattern(..) => "a regular expression".to_string(),
            Kind::Directive(name) => format!("the directive `%{name}`"),
            _ => format!("`{}`", &self.lexer.text[span.start as usize..span.end as usize]),
        };
        let help = match self.peek(0).kind {
            Kind::Number(_) => "text stands in quotes, such as `'1'`; a repetition is `{3}`",
            Kind::Defines => "a rule is written `name ::= expression`; names begin with a letter or `_`",
            _ if wanted == "a rule" => "a rule is written `name ::= expression`",
            _ => "an item is a literal, a class, a code point such as `#x41`, a name, or a group in parentheses",
        };
        self.error(span, format!("expected {wanted}, found {found}"), help)
    }
}

/// Returns true if a class looks like the number of a production, `[12]` or `[12a]`.
fn is_production_number(text: &str) -> bool {
    let inside = text.trim_start_matches('[').trim_end_matches(']');
    let digits = inside.trim_end_matches(|c: char| c.is_ascii_lowercase());
    !digits.is_empty() && inside.len() <= digits.len() + 1 && digits.bytes().all(|byte| byte.is_ascii_digit())
}
