//! Declarations and rules of yacc.

use super::described::describes;
use super::levels::Levels;
use super::lexer::{Kind, Lexer, Token};
use super::recovery;
use super::symbols::{Symbol, Symbols};
use crate::ast::Name;
use crate::diagnostics::Span;
use crate::formats::builder::{Builder, Reported};
use crate::formats::scanner::Scanner;
use crate::ordered::Map;

/// Parses the whole text.
pub(super) fn parse<'t>(text: &'t str, builder: &mut Builder<'_>) -> Parsed<'t> {
    let mut lexer = Lexer { scan: Scanner::new(text) };
    let next = lexer.token(builder);
    let mut parser = Parser {
        lexer,
        next,
        builder,
        tokens: Map::new(),
        levels: Levels::default(),
        start: None,
        rules: Vec::new(),
        index: Map::new(),
    };
    parser.declarations();
    while !matches!(parser.next.kind, Kind::End | Kind::Section) && !parser.builder.gives_up() {
        if parser.rule().is_err() {
            parser.builder.quiet = true;
            while !matches!(parser.next.kind, Kind::End | Kind::Section | Kind::Rule(_) | Kind::Ends) {
                parser.take();
            }
            parser.builder.quiet = false;
        }
    }
    parser.leave_out_recovery();
    let Parser { tokens, levels, start, rules, index, .. } = parser;
    Parsed { tokens, levels, start, rules, index }
}

/// The declaration of a token.
pub(super) struct Declared {
    pub(super) span: Span,
    /// Its text, if one is given.
    pub(super) text: Option<Vec<u8>>,
    /// Whether the text describes the token.
    pub(super) is_described: bool,
    /// Whether it has the number 0, which is the end of the input.
    pub(super) end: bool,
}

/// The declarations and rules of a grammar.
pub(super) struct Parsed<'t> {
    pub(super) tokens: Map<&'t str, Declared>,
    pub(super) levels: Levels,
    pub(super) start: Option<Name>,
    pub(super) rules: Vec<(Name, Vec<Symbols>)>,
    /// The places of the rules.
    pub(super) index: Map<&'t str, usize>,
}

impl<'t> Parsed<'t> {
    /// Returns the tokens that are declared with a text, by that text: `%token PLUS "+"`, then `"+"` or `PLUS`.
    pub(super) fn by_text(&self) -> Map<&[u8], &'t str> {
        self.tokens.iter().filter_map(|(&name, declared)| Some((declared.text.as_deref()?, name))).collect()
    }

    /// Returns the text of a token's declaration, if it does not describe the token.
    pub(super) fn plain_text(&self, name: &str) -> Option<String> {
        let declared = self.tokens.get(name).filter(|declared| !declared.is_described)?;
        String::from_utf8(declared.text.clone()?).ok()
    }
}

struct Parser<'t, 'b, 'd> {
    lexer: Lexer<'t>,
    next: Token<'t>,
    builder: &'b mut Builder<'d>,
    tokens: Map<&'t str, Declared>,
    levels: Levels,
    start: Option<Name>,
    rules: Vec<(Name, Vec<Symbols>)>,
    index: Map<&'t str, usize>,
}

impl<'t> Parser<'t, '_, '_> {
    fn take(&mut self) -> Token<'t> {
        let next = self.lexer.token(self.builder);
        std::mem::replace(&mut self.next, next)
    }

    /// Reads everything up to `%%`.
    fn declarations(&mut self) {
        loop {
            match self.next.kind {
                Kind::Section => {
                    self.take();
                    return;
                }
                Kind::End => {
                    let help = "declarations, then `%%`, then rules `name: symbol symbol | symbol ;`";
                    self.builder.error(self.next.span, "there is no `%%`, so there are no rules", help);
                    return;
                }
                Kind::Directive(directive) => {
                    self.take();
                    self.declaration(directive);
                }
                // The arguments of other declarations.
                _ => drop(self.take()),
            }
        }
    }

    /// Reads the names of a declaration that says something of the language.
    fn declaration(&mut self, directive: &str) {
        match directive {
            _ if self.levels.begin(directive) => self.tokens(),
            "token" | "term" => self.tokens(),
            "start" => {
                if let Kind::Name(name) = self.next.kind {
                    let span = self.take().span;
                    self.start = Some(Name { text: name.to_string(), span });
                }
            }
            _ => {}
        }
    }

    /// Skips what may stand between rules. Declarations may.
    fn between_rules(&mut self) {
        let mut declares = false;
        loop {
            match self.next.kind {
                Kind::Directive(directive) => {
                    self.take();
                    self.declaration(directive);
                    declares = true;
                }
                Kind::Ends => {
                    self.take();
                    declares = false;
                }
                Kind::Code => drop(self.take()),
                // The arguments of a declaration.
                Kind::Type | Kind::Name(_) | Kind::Number(_) if declares => drop(self.take()),
                Kind::Char(_) | Kind::Text(_) | Kind::Translated(_) if declares => drop(self.take()),
                _ => return,
            }
        }
    }

    /// Reads the names of a declaration, each with an optional number and text.
    fn tokens(&mut self) {
        loop {
            match self.next.kind {
                Kind::Type => drop(self.take()),
                Kind::Char(ref text) | Kind::Text(ref text) | Kind::Translated(ref text) => {
                    self.levels.add(text, true);
                    self.take();
                    if matches!(self.next.kind, Kind::Number(_)) {
                        self.take();
                    }
                }
                Kind::Name(name) => {
                    let span = self.take().span;
                    self.levels.add(name.as_bytes(), false);
                    if self.builder.count(1, span).is_err() {
                        return;
                    }
                    // Bison's own token for the end.
                    let new = Declared { span, text: None, is_described: false, end: name == "YYEOF" };
                    let entry = self.tokens.entry(name).or_insert(new);
                    if let Kind::Number(digits) = self.next.kind {
                        entry.end = digits.bytes().all(|byte| byte == b'0');
                        let next = self.lexer.token(self.builder);
                        self.next = next;
                    }
                    let Some(entry) = self.tokens.get_mut(name) else { continue };
                    if let Kind::Text(text) | Kind::Translated(text) = &self.next.kind {
                        entry.text = Some(text.clone());
                        let is_translated = matches!(self.next.kind, Kind::Translated(_));
                        entry.is_described =
                            is_translated && text.iter().any(u8::is_ascii_alphabetic) || describes(name, text);
                        self.take();
                    }
                }
                _ => return,
            }
        }
    }

    fn rule(&mut self) -> Result<(), Reported> {
        self.between_rules();
        let Kind::Rule(name) = self.next.kind else {
            return match self.next.kind {
                Kind::End | Kind::Section => Ok(()),
                _ => Err(self.unexpected("a rule")),
            };
        };
        let span = self.take().span;
        let span = Span { end: span.start + name.len() as u32, ..span };
        // Several rules with one name are alternatives of one rule.
        let place = *self.index.entry(name).or_insert(self.rules.len());
        if place == self.rules.len() {
            self.rules.push((Name { text: name.to_string(), span }, Vec::new()));
        }
        loop {
            if let Some(symbols) = self.alternative()? {
                self.rules[place].1.push(symbols);
            }
            match self.next.kind {
                Kind::Bar => drop(self.take()),
                Kind::Ends => {
                    self.take();
                    return Ok(());
                }
                Kind::Rule(_) | Kind::End | Kind::Section | Kind::Directive(_) => return Ok(()),
                _ => return Err(self.unexpected("`|` or `;`")),
            }
        }
    }

    /// Returns the symbols of an alternative. `None` if it is for the recovery from errors.
    fn alternative(&mut self) -> Result<Option<Symbols>, Reported> {
        let Symbols { mut symbols, mut prec } = Symbols::default();
        let mut recovers = false;
        loop {
            let span = self.next.span;
            self.builder.count(1, span)?;
            match &self.next.kind {
                Kind::Name("error") => {
                    let help = "input that is wrong is not drawn";
                    self.builder.approximate(span, "an alternative with `error` is left out", help);
                    recovers = true;
                }
                Kind::Name(name) => symbols.push(Symbol::Name(name.to_string(), span)),
                Kind::Char(bytes) | Kind::Text(bytes) | Kind::Translated(bytes) => {
                    symbols.push(Symbol::Text(bytes.clone(), span))
                }
                Kind::Code => {}
                Kind::Directive("empty") => {}
                Kind::Directive("prec") => {
                    self.take();
                    let span = self.next.span;
                    prec = match &self.next.kind {
                        Kind::Name(name) => Some(Symbol::Name(name.to_string(), span)),
                        Kind::Char(text) | Kind::Text(text) | Kind::Translated(text) => {
                            Some(Symbol::Text(text.clone(), span))
                        }
                        _ => continue,
                    };
                }
                // `%dprec 1`, `%merge <f>`.
                // A declaration ends a rule that has no semicolon.
                Kind::Directive(
                    "token" | "term" | "type" | "nterm" | "start" | "left" | "right" | "nonassoc" | "precedence"
                    | "binary" | "union" | "destructor" | "printer" | "code" | "define",
                ) => return Ok((!recovers).then_some(Symbols { symbols, prec })),
                Kind::Directive(_) => {
                    self.take();
                    if !matches!(self.next.kind, Kind::Number(_) | Kind::Type) {
                        continue;
                    }
                }
                Kind::Type => {}
                _ => return Ok((!recovers).then_some(Symbols { symbols, prec })),
            }
            self.take();
        }
    }

    fn unexpected(&mut self, wanted: &str) -> Reported {
        let span = self.next.span;
        if self.next.kind == Kind::Error {
            return Reported;
        }
        let found = &self.lexer.scan.text[span.start as usize..span.end as usize];
        let found = if found.is_empty() {
            "the end of the file".to_string()
        } else {
            format!("`{}`", found.chars().take(40).collect::<String>().escape_debug())
        };
        self.builder.error(
            span,
            format!("expected {wanted}, found {found}"),
            "a rule is written `name: symbol symbol | symbol ;`",
        )
    }

    /// Leaves out the rules that are only for the recovery from errors, and what needs them.
    fn leave_out_recovery(&mut self) {
        let start = self.start.as_ref().or(self.rules.first().map(|(name, _)| name)).map(|name| name.text.clone());
        if self.builder.gives_up() {
            return;
        }
        for name in recovery::leave_out(&mut self.rules, &start.unwrap_or_default()) {
            self.index.remove(name.as_str());
        }
        let places: Map<&str, usize> =
            self.rules.iter().enumerate().map(|(place, (name, _))| (name.text.as_str(), place)).collect();
        for (name, place) in self.index.iter_mut() {
            *place = places.get(*name).copied().unwrap_or(*place);
        }
    }
}
