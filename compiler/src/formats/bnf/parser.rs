//! Rules and alternatives of BNF.

use super::lexer::{Kind, Lexer, Token};
use crate::ast::{Grammar, MAX_NESTING, Name};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::formats::builder::{Builder, Choosable, Part, Reported, RuleList};

/// Parses the whole text.
pub(super) fn parse(text: &str, diagnostics: &mut Diagnostics) -> Grammar {
    let mut builder = Builder::new(diagnostics);
    let mut lexer = Lexer::new(text);
    let next = lexer.token(&mut builder);
    let mut parser = Parser { lexer, next, last_span: Span::default(), builder, groups: 0 };
    let mut rules = RuleList::default();
    while parser.next.kind != Kind::End && !parser.builder.gives_up() {
        if parser.rule(&mut rules).is_err() {
            parser.builder.quiet = true;
            while !matches!(parser.next.kind, Kind::End | Kind::Rule(_)) {
                parser.take();
            }
            parser.builder.quiet = false;
        }
    }
    Grammar { rules: rules.finish(&mut parser.builder), ..Grammar::default() }
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

    fn rule(&mut self, rules: &mut RuleList) -> Result<(), Reported> {
        let Kind::Rule(name) = self.next.kind else { return Err(self.unexpected("a rule")) };
        let span = self.take().span;
        // Several rules with one name are alternatives of one rule.
        let place = rules.rule(Name { text: name.to_string(), span }, &mut self.builder)?;
        self.groups = 0;
        let options = self.alternatives()?;
        rules.add(place, options);
        match self.next.kind {
            Kind::End | Kind::Rule(_) => Ok(()),
            Kind::Close(mark) => {
                let help = format!("nothing was opened before it in this rule; as text it is `\"{mark}\"`");
                Err(self.builder.error(self.next.span, format!("unmatched `{mark}`"), help))
            }
            _ => Err(self.unexpected("the next rule")),
        }
    }

    fn alternatives(&mut self) -> Result<Vec<Choosable>, Reported> {
        let mut options = Vec::new();
        loop {
            options.push((self.sequence()?, None));
            if self.next.kind != Kind::Bar {
                return Ok(options);
            }
            self.take();
        }
    }

    fn sequence(&mut self) -> Result<Part, Reported> {
        let start = Span { start: self.last_span.end, end: self.last_span.end };
        let mut parts = Vec::new();
        while !matches!(self.next.kind, Kind::Bar | Kind::Close(_) | Kind::End | Kind::Rule(_)) {
            let mut part = self.item()?;
            while let Kind::Postfix(mark) = self.next.kind {
                let span = part.span().to(self.take().span);
                let (min, max) = match mark {
                    '?' => (0, Some(1)),
                    '*' => (0, None),
                    _ => (1, None),
                };
                part = self.builder.repeat(part, min, max, span)?;
            }
            parts.push(part);
        }
        self.builder.seq(parts, start)
    }

    fn item(&mut self) -> Result<Part, Reported> {
        if let Kind::Open(mark) = self.next.kind {
            return self.group(mark);
        }
        if let Kind::Postfix(mark) = self.next.kind {
            let help = format!("a repetition mark follows an item; as text it is `\"{mark}\"`");
            return Err(self.builder.error(self.next.span, "there is nothing to repeat here", help));
        }
        let Token { kind, span } = self.take();
        match kind {
            Kind::Name(name) => self.builder.rule(name, span),
            Kind::Text(text) => self.builder.bytes(text, span),
            Kind::Empty => self.builder.seq(Vec::new(), span),
            // The lexer has reported it.
            _ => Err(Reported),
        }
    }

    fn group(&mut self, mark: char) -> Result<Part, Reported> {
        let open = self.take().span;
        if self.groups == MAX_NESTING {
            return Err(self.builder.too_deep(open));
        }
        self.groups += 1;
        let options = self.alternatives()?;
        let inside = self.builder.choice(options, open)?;
        self.groups -= 1;
        let (close, bounds) = match mark {
            '(' => (')', None),
            '[' => (']', Some(Some(1))),
            _ => ('}', Some(None)),
        };
        if self.next.kind != Kind::Close(close) {
            let diagnostic = Diagnostic::error(Code::Syntax, open, "this group is not closed")
                .related(self.next.span, format!("`{close}` is missing before this"))
                .help(format!("close it with `{close}`; as text it is `\"{mark}\"`"));
            return Err(self.builder.report(diagnostic));
        }
        let span = open.to(self.take().span);
        match bounds {
            None => Ok(inside),
            Some(max) => self.builder.repeat(inside, 0, max, span),
        }
    }

    fn unexpected(&mut self, wanted: &str) -> Reported {
        let span = self.next.span;
        if self.next.kind == Kind::Error {
            return Reported;
        }
        let found = &self.lexer.scan.text[span.start as usize..span.end as usize];
        let found: String = found.chars().take(40).collect();
        let help = "a rule is written `<name> ::= alternative | alternative`, at the beginning of a line";
        self.builder.error(span, format!("expected {wanted}, found `{}`", found.escape_debug()), help)
    }
}
