//! Rules of GBNF: recursive descent with one token of lookahead.

use super::ROOT;
use super::lexer::{Kind, Lexer, Token, any};
use crate::ast::{Grammar, MAX_NESTING, Name};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::formats::builder::{Builder, Choosable, Part, Reported, rule_weight};
use crate::formats::scanner::Scanner;
use crate::{ast, ast::Expr};

/// Parses the whole text.
pub(super) fn parse(text: &str, diagnostics: &mut Diagnostics) -> Grammar {
    let mut builder = Builder::new(diagnostics);
    let mut lexer = Lexer { scan: Scanner::new(text) };
    let next = lexer.token(&mut builder);
    let mut parser = Parser { lexer, next, last_span: Span::default(), builder, groups: 0 };
    let mut rules = Vec::new();
    while parser.next.kind != Kind::End && !parser.builder.gives_up() {
        if parser.rule(&mut rules).is_err() {
            parser.recover();
        }
    }
    // Without a rule `root`, the check says that there is none, unless another start rule is chosen.
    let span = rules.first().map(|rule: &ast::Rule| rule.name.span);
    let start = span.map(|span| Name { text: ROOT.to_string(), span });
    Grammar { rules, start, ..Grammar::default() }
}

struct Parser<'t, 'd> {
    lexer: Lexer<'t>,
    next: Token<'t>,
    last_span: Span,
    builder: Builder<'d>,
    groups: u32,
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

    /// Skips the rest of a rule: the next one begins with a name at the beginning of a line.
    fn recover(&mut self) {
        self.builder.quiet = true;
        while self.next.kind != Kind::End && !self.begins_rule() {
            self.take();
        }
        self.builder.quiet = false;
    }

    /// Returns true if a rule begins here: a name and `::=`.
    fn begins_rule(&self) -> bool {
        let is_defined = || {
            let mut scan = self.lexer.scan.clone();
            scan.take_while(|c| c.is_whitespace());
            scan.sees("::=")
        };
        matches!(self.next.kind, Kind::Name(_)) && self.next.begins_line && is_defined()
    }

    fn rule(&mut self, rules: &mut Vec<ast::Rule>) -> Result<(), Reported> {
        let Kind::Name(text) = self.next.kind else { return Err(self.unexpected("a rule")) };
        let span = self.take().span;
        if !self.take_if(&Kind::Defines) {
            return Err(self.unexpected("`::=`"));
        }
        let name = Name { text: text.to_string(), span };
        self.builder.count(rule_weight(&name), span)?;
        self.groups = 0;
        let options = self.alternatives();
        // A broken rule is kept, so that references to it are not reported too.
        let body = options.and_then(|options| self.builder.choice(options, span));
        let is_sound = body.is_ok();
        rules.push(ast::Rule::new(name, body.map_or_else(|_| Expr::empty(span), |part| part.expr)));
        match is_sound && (self.next.kind == Kind::End || self.begins_rule()) {
            true => Ok(()),
            false if is_sound => Err(self.unexpected("a rule")),
            false => Err(Reported),
        }
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
        while !matches!(self.next.kind, Kind::Bar | Kind::Close | Kind::End) && !self.begins_rule() {
            // Within brackets, and behind `::=` and `|`, a sequence goes on in the next line.
            if self.groups == 0 && self.next.begins_line && !parts.is_empty() {
                return Err(self.unexpected("a rule, or `|`"));
            }
            parts.push(self.item()?);
        }
        self.builder.seq(parts, start)
    }

    fn item(&mut self) -> Result<Part, Reported> {
        let mut part = self.primary()?;
        while let Kind::Rounds(min, max) = self.next.kind {
            let span = part.span().to(self.take().span);
            part = self.builder.repeat(part, min, max, span)?;
        }
        Ok(part)
    }

    fn primary(&mut self) -> Result<Part, Reported> {
        match self.next.kind {
            Kind::Open => return self.group(),
            Kind::Name(_) | Kind::Text(_) | Kind::Token(_) | Kind::Class(_) | Kind::Any => {}
            _ => return Err(self.unexpected("an item")),
        }
        let Token { kind, span, .. } = self.take();
        match kind {
            Kind::Name(name) => self.builder.rule(name, span),
            Kind::Text(text) => self.builder.bytes(text, span),
            Kind::Token(text) => self.builder.bytes(text, span),
            Kind::Class(set) => self.builder.class(set, span),
            _ => self.builder.class(any(), span),
        }
    }

    fn group(&mut self) -> Result<Part, Reported> {
        let open = self.take().span;
        if self.groups == MAX_NESTING {
            return Err(self.builder.too_deep(open));
        }
        self.groups += 1;
        let options = self.alternatives()?;
        let inside = self.builder.choice(options, open)?;
        self.groups -= 1;
        if self.take_if(&Kind::Close) {
            return Ok(inside);
        }
        if self.next.kind == Kind::Error {
            return Err(Reported);
        }
        let diagnostic = Diagnostic::error(Code::Syntax, open, "this `(` is not closed")
            .related(self.next.span, "`)` is missing before this")
            .help("close it with `)`");
        Err(self.builder.report(diagnostic))
    }

    fn unexpected(&mut self, wanted: &str) -> Reported {
        let span = self.next.span;
        let found = match &self.next.kind {
            // The lexer has reported it.
            Kind::Error => return Reported,
            Kind::End => "the end of the file".to_string(),
            Kind::Text(_) => "a text".to_string(),
            Kind::Class(_) => "a class".to_string(),
            _ => {
                let text = &self.lexer.scan.text[span.start as usize..span.end as usize];
                format!("`{}`", text.chars().take(60).collect::<String>().escape_debug())
            }
        };
        let help = match wanted {
            "an item" => "items are names, texts such as `\"a\"`, classes such as `[a-z]`, `.` and `( )`",
            _ => "a rule is written `name ::= item item | item` on a line; it goes on behind `|` and within `( )`",
        };
        self.builder.error(span, format!("expected {wanted}, found {found}"), help)
    }
}
