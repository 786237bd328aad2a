//! The `.g4` syntax: recursive descent with one token of lookahead. Features that need code in another language are
//! reported and left out here.
//!
//! The native stack is bounded: blocks nest at most [`MAX_GROUPS`] deep.

mod elements;

use super::lexer::{Kind, Lexer, Token};
use super::syntax::{Grammar, GrammarKind, Rule};
use crate::ast::{MAX_NESTING, Name};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};

/// The deepest nesting of blocks. Their translation nests up to four times as deep.
const MAX_GROUPS: u32 = MAX_NESTING / 4;

/// Parses the whole text.
pub(super) fn parse(text: &str, strict: bool, diagnostics: &mut Diagnostics) -> Grammar {
    let mut parser = Parser {
        lexer: Lexer::new(text, diagnostics),
        ahead: None,
        last_span: Span::default(),
        grammar: Grammar::default(),
        strict,
        groups: 0,
        elements: 0,
        is_too_large: false,
    };
    parser.file();
    parser.grammar
}

/// An error has been reported. The parser goes on with the next rule.
pub(super) struct Reported;

pub(super) struct Parser<'t, 'd> {
    pub(super) lexer: Lexer<'t, 'd>,
    /// The token that was read but not taken.
    ahead: Option<Token<'t>>,
    /// The last token that was taken.
    pub(super) last_span: Span,
    pub(super) grammar: Grammar,
    strict: bool,
    /// The number of open blocks.
    groups: u32,
    /// The number of elements, alternatives, bytes of literals and ranges of sets so far, against `MAX_EXPRESSIONS`.
    elements: usize,
    is_too_large: bool,
}

impl<'t> Parser<'t, '_> {
    pub(super) fn peek(&mut self) -> &Kind<'t> {
        &self.ahead.get_or_insert_with(|| self.lexer.token()).kind
    }

    pub(super) fn take(&mut self) -> Token<'t> {
        let token = self.ahead.take().unwrap_or_else(|| self.lexer.token());
        self.last_span = token.span;
        token
    }

    pub(super) fn take_if(&mut self, kind: &Kind<'_>) -> bool {
        let found = self.peek() == kind;
        if found {
            self.take();
        }
        found
    }

    /// Takes the name `word` if it is next.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Kind::Name(name) if *name == word);
        if found {
            self.take();
        }
        found
    }

    pub(super) fn next_span(&mut self) -> Span {
        self.peek();
        self.ahead.as_ref().map_or(self.last_span, |token| token.span)
    }

    pub(super) fn unexpected(&mut self, wanted: &str) -> Reported {
        let span = self.next_span();
        // The lexer has reported an invalid token.
        let message = match self.peek() {
            Kind::Error => return Reported,
            Kind::End => format!("the file ends where {wanted} should stand"),
            _ => {
                let text = &self.lexer.text[span.start as usize..span.end as usize];
                format!("unexpected `{}`", text.chars().take(40).collect::<String>())
            }
        };
        let help = format!("{wanted} should stand here");
        self.lexer.report(Diagnostic::error(Code::Syntax, span, message).help(help));
        Reported
    }

    pub(super) fn expect(&mut self, kind: &Kind<'_>, wanted: &str) -> Result<(), Reported> {
        if self.take_if(kind) { Ok(()) } else { Err(self.unexpected(wanted)) }
    }

    pub(super) fn name(&mut self, wanted: &str) -> Result<Name, Reported> {
        match *self.peek() {
            Kind::Name(text) => {
                let span = self.take().span;
                Ok(Name { text: text.to_string(), span })
            }
            _ => Err(self.unexpected(wanted)),
        }
    }

    /// Reports a feature that a context-free grammar cannot express.
    pub(super) fn code(&mut self, span: Span, what: &str) {
        self.grammar.has_code = true;
        let message = format!("{what} is left out");
        let help = "generation goes on without it, so some outputs may not be valid";
        let diagnostic = match self.strict {
            true => Diagnostic::error(Code::NotContextFree, span, message)
                .help("a context-free grammar cannot say it; without `--strict` generation goes on without it"),
            false => Diagnostic::warning(Code::NotContextFree, span, message).help(help),
        };
        self.lexer.report(diagnostic);
    }

    fn file(&mut self) {
        if self.declaration().is_err() {
            self.skip_to_rule();
        }
        let mut mode = None;
        while !self.lexer.gives_up() {
            self.lexer.in_lexer_rule = false;
            match *self.peek() {
                Kind::End => return,
                // Stray semicolons are harmless.
                Kind::Semicolon => drop(self.take()),
                _ => {
                    if self.item(&mut mode).is_err() {
                        self.skip_to_rule();
                    }
                }
            }
        }
    }

    /// Recovers from an error: skips the semicolon that ends the rule.
    fn skip_to_rule(&mut self) {
        let was_quiet = std::mem::replace(&mut self.lexer.quiet, true);
        while !matches!(self.peek(), Kind::End | Kind::Semicolon) {
            self.take();
        }
        self.take();
        self.lexer.quiet = was_quiet;
    }

    /// Parses `grammar Name;`
    fn declaration(&mut self) -> Result<(), Reported> {
        self.grammar.kind = match () {
            () if self.take_word("lexer") => GrammarKind::Lexer,
            () if self.take_word("parser") => GrammarKind::Parser,
            () => GrammarKind::Combined,
        };
        if !self.take_word("grammar") {
            return Err(self.unexpected("`grammar Name;`"));
        }
        self.grammar.name = Some(self.name("the name of the grammar")?);
        self.expect(&Kind::Semicolon, "`;`")
    }

    /// Parses a prequel, a mode or a rule.
    fn item(&mut self, mode: &mut Option<Name>) -> Result<(), Reported> {
        if *self.peek() == Kind::At {
            return self.named_action();
        }
        let name = self.name("a rule")?;
        match name.text.as_str() {
            "options" if self.braced() => return self.options(true).map(drop),
            "tokens" if self.braced() => {
                let names = self.names()?;
                self.grammar.tokens.extend(names);
                return Ok(());
            }
            "channels" if self.braced() => return self.names().map(drop),
            "import" if matches!(self.peek(), Kind::Name(_)) => return self.imports(),
            "mode" if matches!(self.peek(), Kind::Name(_)) => {
                *mode = Some(self.name("the name of the mode")?);
                return self.expect(&Kind::Semicolon, "`;`");
            }
            _ => {}
        }
        self.rule(name, mode.as_ref())
    }

    /// Returns true if a brace that begins no action is next; takes it.
    pub(super) fn braced(&mut self) -> bool {
        self.ahead.is_none() && self.lexer.take_open_brace()
    }

    /// Parses `name = value; ... }`; returns whether the options make a lexer rule case-insensitive.
    pub(super) fn options(&mut self, of_grammar: bool) -> Result<Option<bool>, Reported> {
        let mut case_insensitive = None;
        while !self.take_if(&Kind::CloseBrace) {
            self.count()?;
            let name = self.name("an option")?;
            self.expect(&Kind::Equals, "`=`")?;
            let value = self.option_value()?;
            self.expect(&Kind::Semicolon, "`;`")?;
            if name.text == "caseInsensitive" {
                case_insensitive = Some(value.text == "true");
            }
            if of_grammar {
                if name.text == "superClass" {
                    self.code(name.span.to(value.span), &format!("the superclass `{}`", value.text));
                }
                self.grammar.options.push((name, value));
            }
        }
        Ok(case_insensitive)
    }

    fn option_value(&mut self) -> Result<Name, Reported> {
        let start = self.next_span();
        match self.take().kind {
            Kind::Name(text) => {
                let mut text = text.to_string();
                while self.take_if(&Kind::Dot) {
                    text = text + "." + &self.name("a name")?.text;
                }
                Ok(Name { text, span: start.to(self.last_span) })
            }
            Kind::Literal(literal) => Ok(Name { text: literal.text, span: start }),
            Kind::Number | Kind::Star | Kind::Action => {
                let text = self.lexer.text[start.start as usize..start.end as usize].to_string();
                Ok(Name { text, span: start })
            }
            _ => {
                let message = "this is not the value of an option";
                self.lexer.report(
                    Diagnostic::error(Code::Syntax, start, message).help("a value is a name, a literal or a number"),
                );
                Err(Reported)
            }
        }
    }

    /// Parses `A, B }`
    fn names(&mut self) -> Result<Vec<Name>, Reported> {
        let mut names = Vec::new();
        while !self.take_if(&Kind::CloseBrace) {
            self.count()?;
            let name = self.name("a name")?;
            // ANTLR 3 allowed a literal for a token here.
            if self.take_if(&Kind::Equals) {
                self.take();
            }
            names.push(name);
            if !self.take_if(&Kind::Comma) && !self.take_if(&Kind::Semicolon) && *self.peek() != Kind::CloseBrace {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
        Ok(names)
    }

    fn imports(&mut self) -> Result<(), Reported> {
        loop {
            self.count()?;
            let mut name = self.name("the name of a grammar")?;
            if self.take_if(&Kind::Equals) {
                name = self.name("the name of a grammar")?;
            }
            self.grammar.imports.push(name);
            if !self.take_if(&Kind::Comma) {
                return self.expect(&Kind::Semicolon, "`;`");
            }
        }
    }

    /// Parses `@name {...}` or `@scope::name {...}`
    fn named_action(&mut self) -> Result<(), Reported> {
        let start = self.take().span;
        let mut name = self.name("the name of an action")?;
        if self.take_if(&Kind::ColonColon) {
            name = self.name("the name of an action")?;
        }
        self.expect(&Kind::Action, "an action in braces")?;
        // Imports and declarations do nothing by themselves.
        if !matches!(name.text.as_str(), "header" | "footer" | "members" | "definitions") {
            self.code(start.to(name.span), &format!("the action `@{}`", name.text));
        }
        Ok(())
    }

    fn rule(&mut self, first: Name, mode: Option<&Name>) -> Result<(), Reported> {
        let mut name = first;
        let mut is_fragment = false;
        while matches!(name.text.as_str(), "fragment" | "public" | "private" | "protected")
            && matches!(self.peek(), Kind::Name(_))
        {
            is_fragment |= name.text == "fragment";
            name = self.name("the name of the rule")?;
        }
        let is_lexical = super::conditions::is_lexical(&name.text);
        self.lexer.in_lexer_rule = is_lexical;
        let mut case_insensitive = None;
        loop {
            let span = self.next_span();
            match *self.peek() {
                Kind::Arguments => {
                    self.take();
                    self.code(span, &format!("the arguments of `{}`", name.text));
                }
                Kind::Name("returns" | "locals") => {
                    let what = self.take().span;
                    let what = self.lexer.text[what.start as usize..what.end as usize].to_string();
                    self.expect(&Kind::Arguments, "declarations in brackets")?;
                    let span = span.to(self.last_span);
                    self.code(span, &format!("`{what}` of `{}`", name.text));
                }
                Kind::Name("throws") => {
                    self.take();
                    self.name("the name of an exception")?;
                    while self.take_if(&Kind::Comma) || self.take_if(&Kind::Dot) {
                        self.name("the name of an exception")?;
                    }
                }
                Kind::Name("options") => {
                    self.take();
                    if !self.braced() {
                        return Err(self.unexpected("`{`"));
                    }
                    case_insensitive = self.options(false)?;
                }
                Kind::At => self.named_action()?,
                // The `!` and documentation strings of ANTLR 3 are errors.
                _ => break,
            }
        }
        self.expect(&Kind::Colon, "`:`")?;
        self.groups = 0;
        let alternatives = self.alternatives(is_lexical);
        let alternatives = match alternatives {
            Ok(alternatives) => alternatives,
            Err(reported) => {
                // A broken rule is kept, so that references to it are not reported too.
                let rule = Rule { name, is_fragment, mode: mode.cloned(), case_insensitive, alternatives: Vec::new() };
                self.grammar.rules.push(rule);
                return Err(reported);
            }
        };
        self.grammar.rules.push(Rule { name, is_fragment, mode: mode.cloned(), case_insensitive, alternatives });
        self.expect(&Kind::Semicolon, "`;` at the end of the rule")?;
        self.lexer.in_lexer_rule = false;
        self.handlers()
    }

    /// Parses `catch [...] {...} finally {...}`. These run only after an error, or don't affect the text.
    fn handlers(&mut self) -> Result<(), Reported> {
        loop {
            match *self.peek() {
                Kind::Name("catch") => {
                    self.take();
                    self.expect(&Kind::Arguments, "the exception in brackets")?;
                    self.expect(&Kind::Action, "an action in braces")?;
                }
                Kind::Name("finally") => {
                    self.take();
                    self.expect(&Kind::Action, "an action in braces")?;
                }
                _ => return Ok(()),
            }
        }
    }
}
