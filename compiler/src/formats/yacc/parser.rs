//! Declarations and rules of yacc.

use super::described::{self, describes};
use super::levels::{self, Levels};
use super::lexer::{Kind, Lexer, Token};
use super::recovery;
use super::symbols::{Symbol, Symbols};
use crate::ast::{self, Grammar, Name};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::formats::boundaries::{Lexical, Syntax, blanks, separate};
use crate::formats::builder::{Builder, Part, Reported};
use crate::formats::given::Given;
use crate::formats::keywords;
use crate::formats::levels::{add_origins, give_levels};
use crate::formats::scanner::Scanner;
use crate::ordered::Map;

/// Parses the whole text.
pub(super) fn parse(text: &str, given: &Given, diagnostics: &mut Diagnostics) -> Grammar {
    let mut builder = Builder::new(diagnostics);
    let mut lexer = Lexer { scan: Scanner::new(text) };
    let next = lexer.token(&mut builder);
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
    parser.finish(given)
}

/// The declaration of a token.
struct Declared {
    span: Span,
    /// Its text, if one is given.
    text: Option<Vec<u8>>,
    /// Whether the text describes the token.
    is_described: bool,
    /// Whether it has the number 0, which is the end of the input.
    end: bool,
}

struct Parser<'t, 'd> {
    lexer: Lexer<'t>,
    next: Token<'t>,
    builder: Builder<'d>,
    tokens: Map<&'t str, Declared>,
    levels: Levels,
    start: Option<Name>,
    rules: Vec<(Name, Vec<Symbols>)>,
    index: Map<&'t str, usize>,
}

impl<'t> Parser<'t, '_> {
    fn take(&mut self) -> Token<'t> {
        let next = self.lexer.token(&mut self.builder);
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
                        let next = self.lexer.token(&mut self.builder);
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
    }

    fn finish(self, given: &Given) -> Grammar {
        let Parser { mut builder, tokens, levels, start, rules, index, .. } = self;
        // A declared text stands for its token: `%token PLUS "+"`, then `"+"` or `PLUS`.
        let by_text: Map<&[u8], &str> =
            tokens.iter().filter_map(|(&name, declared)| Some((declared.text.as_deref()?, name))).collect();
        let mut needed: Map<&str, Span> = Map::new();
        let mut syntax = Vec::new();
        for (name, alternatives) in &rules {
            let mut choice = Vec::new();
            for symbols in alternatives {
                let mut parts = Vec::new();
                for symbol in &symbols.symbols {
                    let part = match symbol {
                        Symbol::Name(name, span) if index.contains_key(name.as_str()) => {
                            builder.rule(name.as_str(), *span).map(Syntax::Rule)
                        }
                        Symbol::Name(name, span) => {
                            needed.entry(name).or_insert(*span);
                            builder.rule(name.as_str(), *span).map(Syntax::Token)
                        }
                        Symbol::Text(text, span) => match by_text.get(text.as_slice()) {
                            Some(&name) if given.has(name) => {
                                needed.entry(name).or_insert(*span);
                                builder.rule(name, *span).map(Syntax::Token)
                            }
                            _ => builder.bytes(text.as_slice(), *span).map(Syntax::Token),
                        },
                    };
                    parts.extend(part);
                }
                choice.push(Syntax::Seq(parts));
            }
            // A rule that the budget has cut short is not reported.
            if choice.is_empty() && !builder.gives_up() {
                let help = "every alternative has `error` in it";
                builder.error(name.span, format!("rule `{}` has no alternatives left", name.text), help);
            }
            syntax.push((name.clone(), Syntax::Choice(choice)));
        }
        let names = levels::Names {
            by_text: &by_text,
            text: &|name| tokens.get(name).and_then(|declared| declared.text.as_deref()),
            is_rule: &|name| index.contains_key(name),
        };
        let bindings: Vec<_> =
            rules.iter().map(|(_, all)| all.iter().map(|one| levels.binding(one, &names)).collect()).collect();
        let is_name = |name: &str| index.contains_key(name) || tokens.contains_key(name) || needed.contains_key(name);
        let origins = give_levels(&mut syntax, &bindings, is_name, &mut builder);
        let mut lexical: Vec<ast::Rule> = Vec::new();
        let described: Vec<_> = needed
            .keys()
            .filter_map(|&name| {
                let declared = tokens.get(name).filter(|declared| declared.is_described && !declared.end)?;
                Some((name, declared.text.as_deref()?, declared.span)).filter(|_| !given.has(name))
            })
            .collect();
        described::warning(&described).into_iter().for_each(|warning| builder.warn(warning));
        for (&name, &span) in &needed {
            if !given.has(name)
                && let Ok(part) = token(name, span, tokens.get(name), &mut builder)
            {
                lexical.push(ast::Rule::new(Name { text: name.to_string(), span }, part.expr));
            }
        }
        let is_taken = |name: &str| index.contains_key(name) || needed.contains_key(name);
        lexical.extend(given.rules(needed.keys().copied(), is_taken, &mut builder));
        let words = keywords::exclude(&mut syntax, &mut Lexical::new(&lexical), &mut builder);
        let mut all = separate(syntax, &mut words.lexical(&lexical), &blanks(&[" "]), &mut builder);
        words.add_to(&mut all, lexical);
        let start = start.or_else(|| rules.first().map(|(name, _)| name.clone()));
        let grammar = Grammar { start, rules: all, ..Grammar::default() };
        let mut grammar = grammar.with_own(|name| index.contains_key(name) || tokens.contains_key(name));
        add_origins(&mut grammar, origins);
        grammar
    }
}

/// Returns the expression of a token that no other file defines.
fn token(name: &str, span: Span, declared: Option<&Declared>, builder: &mut Builder<'_>) -> Result<Part, Reported> {
    let help = format!(
        "declare it with a text, `%token {name} \"text\"`, or define it in a file of tokens beside the grammar"
    );
    match declared {
        Some(Declared { end: true, .. }) => builder.bytes("", span),
        Some(Declared { text: Some(text), .. }) => builder.bytes(text.as_slice(), span),
        Some(Declared { span: declared, .. }) => {
            let message = format!("nothing says what the token `{name}` is");
            let diagnostic =
                Diagnostic::error(Code::UndefinedRule, span, message).related(*declared, "it is declared here");
            Err(builder.report(diagnostic.help(help)))
        }
        None => {
            let message = format!("`{name}` is neither a rule nor a token that is declared");
            Err(builder.report(Diagnostic::error(Code::UndefinedRule, span, message).help(help)))
        }
    }
}
