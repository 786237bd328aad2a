//! Rules and definitions of ISO 14977: recursive descent with one token of lookahead.

use super::lexer::{Bracket, Kind, Lexer, Token};
use crate::ast::{Expr, ExprKind, Grammar, MAX_NESTING, Name, Rounds};
use crate::charset::{CharSet, Unit};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::formats::builder::{Builder, Choosable, Part, Reported, RuleList};
use crate::formats::difference::{self, Difference};
use crate::formats::scanner::{Scanner, number};
use crate::ordered::Set;

/// Parses the whole text.
pub(super) fn parse(text: &str, diagnostics: &mut Diagnostics) -> Grammar {
    let mut builder = Builder::new(diagnostics);
    let mut lexer = Lexer { scan: Scanner::new(text) };
    let next = lexer.token(&mut builder);
    let mut parser = Parser { lexer, next, last_span: Span::default(), builder, groups: 0, differences: Vec::new() };
    let mut rules = RuleList::default();
    while parser.next.kind != Kind::End && !parser.builder.gives_up() {
        if parser.rule(&mut rules).is_err() {
            parser.builder.quiet = true;
            while !matches!(parser.next.kind, Kind::End | Kind::Ends) {
                parser.take();
            }
            parser.take();
            parser.builder.quiet = false;
        }
    }
    let Parser { mut builder, differences, .. } = parser;
    let mut grammar = Grammar { rules: rules.finish(&mut builder), ..Grammar::default() };
    split_names(&mut grammar, &mut builder);
    let with_differences: Vec<usize> = (0..grammar.rules.len()).collect();
    difference::resolve(&mut grammar, differences, &with_differences, &mut |diagnostic| {
        builder.report(diagnostic);
    });
    grammar
}

/// Adds missing commas: if words with blanks between them name no rule, but each word does, they become a sequence.
fn split_names(grammar: &mut Grammar, builder: &mut Builder<'_>) {
    let names: Set<String> = grammar.rules.iter().map(|rule| rule.name.text.clone()).collect();
    for rule in &mut grammar.rules {
        rule.body.each_mut(&mut |expr| {
            let Some(name) = expr.as_rule() else { return };
            if names.contains(name) || !name.contains(' ') || !name.split(' ').all(|word| names.contains(word)) {
                return;
            }
            if builder.count(name.split(' ').count(), expr.span).is_err() {
                *expr = Expr::empty(expr.span);
                return;
            }
            let words = name.split(' ');
            let items = words.map(|word| Expr::rule(word, expr.span)).collect();
            *expr = Expr::seq(items, expr.span);
        });
    }
}

struct Parser<'t, 'd> {
    lexer: Lexer<'t>,
    next: Token<'t>,
    last_span: Span,
    builder: Builder<'d>,
    groups: u32,
    differences: Vec<Difference>,
}

impl<'t> Parser<'t, '_> {
    fn take(&mut self) -> Token<'t> {
        let next = self.lexer.token(&mut self.builder);
        let token = std::mem::replace(&mut self.next, next);
        self.last_span = token.span;
        token
    }

    fn take_if(&mut self, kind: &Kind<'_>) -> bool {
        let found = self.next.kind == *kind;
        if found {
            self.take();
        }
        found
    }

    fn rule(&mut self, rules: &mut RuleList) -> Result<(), Reported> {
        let Kind::Name(name) = self.next.kind else { return Err(self.unexpected("a rule")) };
        let span = self.take().span;
        if !self.take_if(&Kind::Defines) {
            return Err(self.unexpected("`=`"));
        }
        let place = rules.rule(Name { text: spelled(name), span }, &mut self.builder)?;
        self.groups = 0;
        let differences = self.differences.len();
        let options = self.alternatives().inspect_err(|_| self.differences.truncate(differences))?;
        if !matches!(self.next.kind, Kind::Ends | Kind::End) {
            self.differences.truncate(differences);
            return Err(self.unexpected("`;`"));
        }
        self.take_if(&Kind::Ends);
        rules.add(place, options);
        Ok(())
    }

    fn alternatives(&mut self) -> Result<Vec<Choosable>, Reported> {
        let mut options = Vec::new();
        loop {
            options.push((self.sequence()?, None));
            if !self.take_if(&Kind::Bar) {
                return Ok(options);
            }
        }
    }

    fn sequence(&mut self) -> Result<Part, Reported> {
        let start = Span { start: self.last_span.end, end: self.last_span.end };
        let mut parts = Vec::new();
        loop {
            let ends = matches!(self.next.kind, Kind::Bar | Kind::Close(_) | Kind::Ends | Kind::End | Kind::Defines);
            // The comma between items is often left out.
            if !ends && self.next.kind != Kind::Comma {
                parts.push(self.term()?);
            }
            if !self.take_if(&Kind::Comma) && (ends || self.next.kind == Kind::Minus) {
                break;
            }
        }
        self.builder.seq(parts, start)
    }

    /// Returns a factor and perhaps an exception.
    fn term(&mut self) -> Result<Part, Reported> {
        let left = self.factor()?;
        if !self.take_if(&Kind::Minus) {
            return Ok(left);
        }
        let minus = self.last_span;
        let ends = matches!(self.next.kind, Kind::Comma | Kind::Bar | Kind::Close(_) | Kind::Ends | Kind::End);
        if ends {
            // `{ item } -`: at least one item.
            if let Some(Rounds { item, min: 0, max }) = left.expr.as_repeat() {
                let part = Part { expr: item.clone(), height: left.height.saturating_sub(1) };
                return self.builder.repeat(part, 1, max, left.expr.span.to(minus));
            }
            let help = "`{item}-` is one or more; other exceptions name what is left out";
            return Err(self.builder.error(minus, "nothing is excepted here", help));
        }
        let right = self.factor()?;
        let span = left.span().to(right.span());
        self.differences.push(Difference { left: left.expr, right: right.expr, span });
        self.builder.build(ExprKind::Class(CharSet::empty(Unit::Char)), span, 0)
    }

    fn factor(&mut self) -> Result<Part, Reported> {
        let Kind::Number(digits) = self.next.kind else { return self.primary() };
        let span = self.take().span;
        let Some(count) = number(digits) else {
            let help = format!("a count is a whole number up to {}", u32::MAX);
            return Err(self.builder.error(span, "this is not a number of rounds", help));
        };
        if !self.take_if(&Kind::Star) {
            return Err(self.unexpected("`*`"));
        }
        let item = self.primary()?;
        let span = span.to(item.span());
        self.builder.repeat(item, count, Some(count), span)
    }

    fn primary(&mut self) -> Result<Part, Reported> {
        if let Kind::Open(bracket) = self.next.kind {
            return self.group(bracket);
        }
        if !matches!(self.next.kind, Kind::Name(_) | Kind::Text(_) | Kind::Special(_)) {
            return Err(self.unexpected("an item"));
        }
        let Token { kind, span } = self.take();
        match kind {
            Kind::Name(name) => self.builder.rule(spelled(name), span),
            Kind::Text(text) => self.builder.bytes(text, span),
            Kind::Special(text) => self.special(text, span),
            _ => Err(Reported),
        }
    }

    /// Returns a special sequence. The standard does not define its meaning, so only clear cases are taken.
    fn special(&mut self, text: &str, span: Span) -> Result<Part, Reported> {
        let words = text.to_ascii_lowercase();
        let any = |builder: &mut Builder<'_>| builder.class(CharSet::new(Unit::Char, [(0x20, 0x7E)]), span);
        match words.as_str() {
            "" => return self.builder.seq(Vec::new(), span),
            "any character" | "any visible character" | "all visible characters" | "any printable character" => {
                self.builder.approximate(
                    span,
                    format!("the special sequence `? {words} ?` is read as printable ASCII"),
                    "write the characters out to say which",
                );
                return any(&mut self.builder);
            }
            "white space character" | "white space characters" | "whitespace" | "space" => {
                self.builder.approximate(
                    span,
                    format!("the special sequence `? {words} ?` is read as a blank"),
                    "write the characters out to say which",
                );
                return self.builder.bytes(" ", span);
            }
            _ => {}
        }
        let shown: String = text.chars().take(60).collect();
        let help = "its meaning is not in the grammar: replace it by a rule or by text";
        Err(self.builder.error(
            span,
            format!("the special sequence `? {shown} ?` says nothing that could be derived"),
            help,
        ))
    }

    fn group(&mut self, bracket: Bracket) -> Result<Part, Reported> {
        let open = self.take().span;
        if self.groups == MAX_NESTING {
            return Err(self.builder.too_deep(open));
        }
        self.groups += 1;
        let options = self.alternatives()?;
        let inside = self.builder.choice(options, open)?;
        self.groups -= 1;
        let (opening, closing) = bracket.marks();
        if self.next.kind != Kind::Close(bracket) {
            if self.next.kind == Kind::Error {
                return Err(Reported);
            }
            let diagnostic = Diagnostic::error(Code::Syntax, open, format!("this `{opening}` is not closed"))
                .related(self.next.span, format!("`{closing}` is missing before this"))
                .help(format!("close it with `{closing}`"));
            return Err(self.builder.report(diagnostic));
        }
        let span = open.to(self.take().span);
        match bracket {
            Bracket::Group => Ok(inside),
            Bracket::Option => self.builder.repeat(inside, 0, Some(1), span),
            Bracket::Repetition => self.builder.repeat(inside, 0, None, span),
        }
    }

    fn unexpected(&mut self, wanted: &str) -> Reported {
        let span = self.next.span;
        let found = match self.next.kind {
            // The lexer has reported it.
            Kind::Error => return Reported,
            Kind::End => "the end of the file".to_string(),
            Kind::Text(_) => "a literal".to_string(),
            Kind::Special(_) => "a special sequence".to_string(),
            _ => {
                let text = &self.lexer.scan.text[span.start as usize..span.end as usize];
                format!("`{}`", text.chars().take(60).collect::<String>().escape_debug())
            }
        };
        let help = match wanted {
            "an item" => "an item is a name, text in quotes, `( )`, `[ ]` or `{ }`",
            _ => "a rule is written `name = item, item | item ;`",
        };
        self.builder.error(span, format!("expected {wanted}, found {found}"), help)
    }
}

/// Returns a name with one blank between its words.
fn spelled(name: &str) -> String {
    let mut spelled = String::new();
    for word in name.split_whitespace() {
        if !spelled.is_empty() {
            spelled.push(' ');
        }
        spelled += word;
    }
    spelled
}
