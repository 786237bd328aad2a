//! Makes a grammar over tokens from the rules of all files: resolves names and turns literals into tokens.

use super::adaptor::Adaptor;
use super::conditions::{Condition, TokenName, is_lexical};
use super::layout;
use super::levels;
use super::lexical::{Lexical, Names, literal};
use super::sources::Sources;
use super::syntax::{Alternative, Element, ElementKind, Rule};
use super::token_names::Tokens;
use crate::check::similar;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::formats::Surroundings;
use crate::formats::given::Given;
use crate::levels::Binding;
use crate::ordered::{Map, Set};
use crate::tokens::{self, Expectation, Lexer, LexerRule, Outcome, Syntax, TokenGrammar};

/// The most names that one message lists.
const MAX_NAMES: usize = 6;

/// Returns the grammar over tokens. `None` if there are no rules to translate.
pub(super) fn token_grammar(
    sources: &Sources,
    given: &Given,
    surroundings: &Surroundings<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<TokenGrammar> {
    let Surroundings { start, options, .. } = *surroundings;
    let modes = modes(&sources.lexer);
    let mut tokens = Tokens::default();
    let declared = sources.tokens.iter().map(|name| name.text.as_str());
    let own = sources.lexer.iter().filter(|rule| !rule.is_fragment).map(|rule| rule.name.text.as_str());
    let types = sources.lexer.iter().flat_map(|rule| &rule.alternatives).flat_map(|alternative| {
        let types = alternative.commands.iter().filter(|command| command.name.text == "type");
        types.filter_map(|command| command.argument.as_ref()).map(|name| name.text.as_str())
    });
    for name in declared {
        tokens.add(name);
    }
    for name in own.chain(types) {
        tokens.add(name);
        tokens.made.insert(name);
    }
    tokens.aliases = aliases(&sources.lexer);
    let layout = layout::tokens(sources, &options.indent, &mut tokens, diagnostics);
    let adaptor = Adaptor::of(sources, &mut tokens);
    let mut parser = Parser {
        sources,
        given,
        rules: Map::new(),
        tokens,
        taken: Set::new(),
        undefined: Set::new(),
        suggestions: similar::Budget::default(),
        strict: options.strict,
        diagnostics,
    };
    let mut grammar = parser.grammar(start)?;
    let Parser { tokens, taken, diagnostics, .. } = parser;
    let names = Names { modes: &modes, tokens: &tokens.by_name };
    let mut rules: Vec<LexerRule> = Vec::new();
    for (text, token) in &tokens.implicit {
        let name = format!("'{text}'");
        let pattern = literal(text, sources.case_insensitive);
        let span = grammar.rules[grammar.start].span;
        rules.push(LexerRule { name, span, mode: 0, pattern, outcome: Outcome::Token(*token), moves: Vec::new() });
    }
    let mut lexical = Lexical::new(&sources.lexer, diagnostics);
    for rule in sources.lexer.iter().filter(|rule| !rule.is_fragment) {
        lexical.rule(rule, &names, &mut rules);
    }
    let mut fragments = lexical.finish();
    for (name, pattern) in given.patterns(&taken, &mut fragments, diagnostics) {
        let span = grammar.rules[grammar.start].span;
        let outcome = Outcome::Token(tokens.by_name[&name]);
        rules.push(LexerRule { name, span, mode: 0, pattern, outcome, moves: Vec::new() });
    }
    grammar.lexer = Lexer { tokens: tokens.names, modes: modes.len().max(1), rules, fragments, layout };
    if let Some(adaptor) = adaptor {
        adaptor.adapt(&mut grammar.lexer, &modes);
    }
    (!diagnostics.has_errors()).then_some(grammar)
}

/// Returns the number of each mode; the default mode is 0.
fn modes(rules: &[Rule]) -> Map<String, usize> {
    let mut modes = Map::from([("DEFAULT_MODE".to_string(), 0)]);
    for mode in rules.iter().filter_map(|rule| rule.mode.as_ref()) {
        let count = modes.len();
        modes.entry(mode.text.clone()).or_insert(count);
    }
    modes
}

/// Returns the tokens whose rule is just a literal, by that literal. If several rules have the same literal, it names
/// none of them.
fn aliases(rules: &[Rule]) -> Map<&str, &str> {
    let mut aliases: Map<&str, Option<&str>> = Map::new();
    for rule in rules.iter().filter(|rule| !rule.is_fragment) {
        if let [Alternative { elements, .. }] = rule.alternatives.as_slice()
            && let [Element { kind: ElementKind::Literal(text), .. }] = elements.as_slice()
        {
            aliases.entry(text).and_modify(|name| *name = None).or_insert(Some(&rule.name.text));
        }
    }
    aliases.into_iter().filter_map(|(text, name)| Some((text, name?))).collect()
}

struct Parser<'s, 'd> {
    sources: &'s Sources,
    given: &'s Given,
    rules: Map<&'s str, usize>,
    tokens: Tokens<'s>,
    /// Tokens that the file of tokens defines, because no lexer rule does.
    taken: Set<String>,
    /// Tokens that were reported as undefined.
    undefined: Set<String>,
    suggestions: similar::Budget,
    /// Whether an omission is an error.
    strict: bool,
    diagnostics: &'d mut Diagnostics,
}

impl Parser<'_, '_> {
    fn grammar(&mut self, start: Option<&str>) -> Option<TokenGrammar> {
        for (number, rule) in self.sources.parser.iter().enumerate() {
            self.rules.insert(&rule.name.text, number);
        }
        if self.sources.has_code && self.sources.has_implicit_tokens {
            // Predicates may name literals of later rules, so all literals are collected first.
            self.sources.parser.iter().for_each(|rule| self.literals(&rule.alternatives));
        }
        let mut rules: Vec<tokens::Rule> = Vec::new();
        for rule in &self.sources.parser {
            let body = self.alternatives(&rule.alternatives);
            rules.push(tokens::Rule { name: rule.name.text.clone(), span: rule.name.span, body });
        }
        let token_rule = |rules: &mut Vec<tokens::Rule>, name: &str, token| {
            let span = Span::default();
            rules.push(tokens::Rule { name: name.to_string(), span, body: Syntax::Token(token) });
            rules.len() - 1
        };
        let first_token = self.sources.lexer.iter().find(|rule| !rule.is_fragment).map(|rule| rule.name.text.as_str());
        let chosen = start.or(first_token.filter(|_| self.sources.is_lexer && self.sources.parser.is_empty()));
        let start_rule = match chosen {
            None if rules.is_empty() => {
                let help = "a rule is written `name : alternative | alternative ;`";
                let message = "the grammar defines no rule of a parser";
                self.diagnostics.push(Diagnostic::error(Code::NoRules, None, message).help(help));
                return None;
            }
            None => 0,
            Some(name) => match (self.rules.get(name), self.tokens.by_name.get(name)) {
                (Some(&rule), _) => rule,
                (None, Some(&token)) => token_rule(&mut rules, name, token),
                (None, None) => {
                    let message = format!("the start rule `{name}` is not defined");
                    let suggestion = similar::suggestion(name, &self.rules, &mut self.suggestions);
                    let help = suggestion.unwrap_or_else(|| similar::rules(&self.rules));
                    self.diagnostics.push(Diagnostic::error(Code::UndefinedRule, None, message).help(help));
                    return None;
                }
            },
        };
        if start.is_none() {
            report_unreachable(&rules, start_rule, self.diagnostics);
        }
        let bindings: Vec<Vec<Binding>> =
            self.sources.parser.iter().map(|rule| levels::bindings(&rule.name.text, &rule.alternatives)).collect();
        tokens::give_levels(&mut rules, &bindings);
        Some(TokenGrammar { rules, start: start_rule, lexer: Lexer::default(), has_code: self.sources.has_code })
    }

    fn alternatives(&mut self, alternatives: &[Alternative]) -> Syntax {
        let mut options: Vec<Syntax> = alternatives
            .iter()
            .map(|alternative| {
                let mut items = self.sequence(&alternative.elements);
                if items.len() == 1 { items.remove(0) } else { Syntax::Seq(items) }
            })
            .collect();
        if options.len() == 1 { options.remove(0) } else { Syntax::Choice(options) }
    }

    fn sequence(&mut self, elements: &[Element]) -> Vec<Syntax> {
        let mut items = Vec::with_capacity(elements.len());
        // Expectations that apply after some more tokens, with the number of these tokens.
        let mut later: Vec<(usize, Syntax, Span)> = Vec::new();
        for element in elements {
            match &element.kind {
                ElementKind::Predicate(condition) => match self.condition(condition, element.span) {
                    (0, expected) => items.push(expected),
                    (skip, expected) => later.push((skip, expected, element.span)),
                },
                _ => {
                    let item = self.element(element);
                    // Other items have no fixed number of tokens.
                    if !matches!(item, Syntax::Token(_) | Syntax::NotTokens(_)) {
                        later.drain(..).for_each(|(_, _, span)| self.left_out(span));
                    }
                    items.push(item);
                    later.iter_mut().for_each(|(skip, ..)| *skip -= 1);
                    items.extend(later.iter().filter(|(skip, ..)| *skip == 0).map(|(_, expected, _)| expected.clone()));
                    later.retain(|(skip, ..)| *skip > 0);
                }
            }
        }
        later.into_iter().for_each(|(_, _, span)| self.left_out(span));
        items
    }

    /// Returns the expectation of a predicate, and the number of tokens before it.
    fn condition(&mut self, condition: &Condition, span: Span) -> (usize, Syntax) {
        match condition {
            Condition::Always | Condition::Previous(_) => (0, Syntax::Seq(Vec::new())),
            Condition::Never => (0, self.never(span)),
            Condition::LineBreak => (0, Syntax::Expect(Expectation::LineBreak)),
            Condition::NoLineBreak => (0, Syntax::Expect(Expectation::NoLineBreak)),
            Condition::NotPair { skip, first, seconds } => {
                let seconds: Set<usize> = seconds.iter().filter_map(|token| self.named(token)).collect();
                match self.named(first) {
                    Some(first) if !seconds.is_empty() => {
                        (*skip, Syntax::Expect(Expectation::NotPair { first, seconds }))
                    }
                    _ => {
                        self.left_out(span);
                        (0, Syntax::Seq(Vec::new()))
                    }
                }
            }
            Condition::Next { skip, tokens, end, negated } => {
                let tokens: Set<usize> = tokens.iter().filter_map(|token| self.named(token)).collect();
                if tokens.is_empty() && !negated && !end {
                    return (0, self.never(span));
                }
                // The predicate names only tokens of another grammar: it is a helper of the same name.
                if tokens.is_empty() && !end {
                    self.left_out(span);
                    return (0, Syntax::Seq(Vec::new()));
                }
                let expectation = match negated {
                    true => Expectation::NotNext { tokens, end: *end },
                    false => Expectation::Next { tokens, end: *end },
                };
                (*skip, Syntax::Expect(expectation))
            }
        }
    }

    /// Reports a predicate that is unknown at its place.
    fn left_out(&mut self, span: Span) {
        let message = "a predicate is left out";
        let diagnostic = match self.strict {
            true => Diagnostic::error(Code::NotContextFree, span, message)
                .help("a context-free grammar cannot say it; without `--strict` generation goes on without it"),
            false => Diagnostic::warning(Code::NotContextFree, span, message)
                .help("generation goes on without it, so some outputs may not be valid"),
        };
        self.diagnostics.push(diagnostic);
    }

    /// Returns the token that a predicate names, if there is one.
    fn named(&self, token: &TokenName) -> Option<usize> {
        match token {
            TokenName::Text(text) => {
                let named = self.tokens.aliases.get(text.as_str()).and_then(|name| self.tokens.by_name.get(*name));
                named.or_else(|| self.tokens.implicit_ids.get(text)).copied()
            }
            TokenName::Name(name) => self.tokens.by_name.get(name).copied(),
        }
    }

    /// Reports an alternative that needs a predicate that never holds.
    fn never(&mut self, span: Span) -> Syntax {
        let message = "what needs this predicate is left out";
        let help = "it holds only for certain words, or for what code outside of the grammar knows";
        self.diagnostics.push(Diagnostic::warning(Code::NotContextFree, span, message).help(help));
        Syntax::Choice(Vec::new())
    }

    fn element(&mut self, element: &Element) -> Syntax {
        match &element.kind {
            ElementKind::Predicate(condition) => self.condition(condition, element.span).1,
            ElementKind::Literal(text) => match self.literal(text, element.span) {
                Some(token) => Syntax::Token(token),
                None => Syntax::Choice(Vec::new()),
            },
            ElementKind::Name(name) if name == "EOF" => Syntax::End,
            ElementKind::Name(name) if is_lexical(name) => Syntax::Token(self.token(name, element.span)),
            ElementKind::Name(name) => match self.rules.get(name.as_str()) {
                Some(&rule) => Syntax::Rule(rule),
                None => {
                    let message = format!("rule `{name}` is not defined");
                    let suggestion = similar::suggestion(name, &self.rules, &mut self.suggestions);
                    let help = suggestion.unwrap_or_else(|| "define it, or import the file that does".to_string());
                    let diagnostic = Diagnostic::error(Code::UndefinedRule, element.span, message).help(help);
                    self.diagnostics.push(diagnostic);
                    Syntax::Choice(Vec::new())
                }
            },
            ElementKind::Wildcard => Syntax::NotTokens(Vec::new()),
            ElementKind::Set(_) => {
                let message = "a rule of the parser cannot say sets of characters";
                let help = "move it into a rule of the lexer, whose name begins with a capital";
                self.diagnostics.push(Diagnostic::error(Code::Syntax, element.span, message).help(help));
                Syntax::Choice(Vec::new())
            }
            ElementKind::Not(inner) => {
                let mut tokens = Vec::new();
                self.listed_tokens(inner, &mut tokens);
                Syntax::NotTokens(tokens)
            }
            ElementKind::Block(alternatives) => self.alternatives(alternatives),
            ElementKind::Repeat { item, min, max, .. } => {
                Syntax::Repeat { item: Box::new(self.element(item)), min: *min, max: *max }
            }
        }
    }

    /// Adds the tokens after `~`.
    fn listed_tokens(&mut self, element: &Element, tokens: &mut Vec<usize>) {
        match &element.kind {
            ElementKind::Literal(text) => tokens.extend(self.literal(text, element.span)),
            ElementKind::Name(name) if name == "EOF" => {}
            ElementKind::Name(name) if is_lexical(name) => tokens.push(self.token(name, element.span)),
            ElementKind::Block(alternatives)
                if alternatives.iter().all(|alternative| alternative.elements.len() == 1) =>
            {
                for alternative in alternatives {
                    self.listed_tokens(&alternative.elements[0], tokens);
                }
            }
            _ => {
                let message = "`~` is not followed by a set of tokens";
                let help = "`~` is followed by a token, or by several in parentheses with `|` between them";
                self.diagnostics.push(Diagnostic::error(Code::ClassDifference, element.span, message).help(help));
            }
        }
    }

    /// Turns all literals into tokens.
    fn literals(&mut self, alternatives: &[Alternative]) {
        for element in alternatives.iter().flat_map(|alternative| &alternative.elements) {
            let mut element = element;
            while let ElementKind::Repeat { item, .. } | ElementKind::Not(item) = &element.kind {
                element = item;
            }
            match &element.kind {
                ElementKind::Literal(text) => drop(self.literal(text, element.span)),
                ElementKind::Block(alternatives) => self.literals(alternatives),
                _ => {}
            }
        }
    }

    /// Returns the token of a literal in a parser rule.
    fn literal(&mut self, text: &str, span: Span) -> Option<usize> {
        if let Some(name) = self.tokens.aliases.get(text) {
            return self.tokens.by_name.get(*name).copied();
        }
        if let Some(&token) = self.tokens.implicit_ids.get(text) {
            return Some(token);
        }
        if !self.sources.has_implicit_tokens {
            let message = format!("no lexer rule is the literal '{}'", text.escape_debug());
            let help = "in a parser grammar each literal must be the whole of a lexer rule; what needs it is left out";
            self.diagnostics.push(Diagnostic::warning(Code::UndefinedToken, span, message).help(help));
            return None;
        }
        let token = self.tokens.add(&format!("'{text}'"));
        self.tokens.implicit.push((text.to_string(), token));
        self.tokens.implicit_ids.insert(text.to_string(), token);
        Some(token)
    }

    /// Returns the token called `name`. A token without a rule never occurs in a text.
    fn token(&mut self, name: &str, span: Span) -> usize {
        if !self.tokens.made.contains(name) && self.given.has(name) {
            self.taken.insert(name.to_string());
        } else if !self.tokens.made.contains(name) && self.undefined.insert(name.to_string()) {
            let message = format!("no lexer rule makes the token `{name}`");
            let help = "code outside of the grammar may make it; what needs it is left out, unless a file of tokens defines it";
            self.diagnostics.push(Diagnostic::warning(Code::UndefinedToken, span, message).help(help));
        }
        self.tokens.add(name)
    }
}

/// Reports the rules that the start rule does not reach. The user may have intended another start rule.
fn report_unreachable(rules: &[tokens::Rule], start: usize, diagnostics: &mut Diagnostics) {
    let mut reached = vec![false; rules.len()];
    reached[start] = true;
    let mut pending = vec![start];
    while let Some(rule) = pending.pop() {
        each_rule(&rules[rule].body, &mut |rule| {
            if !std::mem::replace(&mut reached[rule], true) {
                pending.push(rule);
            }
        });
    }
    let missing: Vec<&tokens::Rule> =
        rules.iter().zip(&reached).filter(|(_, reached)| !*reached).map(|(r, _)| r).collect();
    let Some(first) = missing.first() else { return };
    let mut names: Vec<String> = missing.iter().take(MAX_NAMES).map(|rule| format!("`{}`", rule.name)).collect();
    if missing.len() > MAX_NAMES {
        names.push(format!("{} more", missing.len() - MAX_NAMES));
    }
    let message =
        format!("rules cannot be reached from `{}`, the first of the parser: {}", rules[start].name, names.join(", "));
    let ends = missing.iter().find(|rule| has_end(&rule.body));
    let help = match ends {
        Some(rule) => {
            format!("`{}` ends with `EOF`; choose it with `--start {}` if it is the start", rule.name, rule.name)
        }
        None => "choose the start rule with `--start`".to_string(),
    };
    diagnostics.push(Diagnostic::warning(Code::UnreachableRule, first.span, message).help(help));
}

fn each_rule(syntax: &Syntax, visit: &mut dyn FnMut(usize)) {
    match syntax {
        Syntax::Token(_) | Syntax::NotTokens(_) | Syntax::End | Syntax::Expect(_) => {}
        Syntax::Rule(rule) => visit(*rule),
        Syntax::Seq(items) | Syntax::Choice(items) => items.iter().for_each(|item| each_rule(item, visit)),
        Syntax::Repeat { item, .. } => each_rule(item, visit),
    }
}

fn has_end(syntax: &Syntax) -> bool {
    match syntax {
        Syntax::End => true,
        Syntax::Token(_) | Syntax::NotTokens(_) | Syntax::Rule(_) | Syntax::Expect(_) => false,
        Syntax::Seq(items) | Syntax::Choice(items) => items.iter().any(has_end),
        Syntax::Repeat { item, .. } => has_end(item),
    }
}
