//! Translates rules. Terminals become rules as they are written. In other rules blanks are implied between tokens, if
//! the file says so: one stands where two tokens would run together.

use super::terms::{File, Kind, Rule, Term};
use crate::ast::{self, Expr, Grammar};
use crate::diagnostics::Span;
use crate::formats::boundaries::{BLANKS, Lexical, Syntax, blanks, separate};
use crate::formats::builder::{Builder, Part, Reported};
use crate::formats::pattern;
use crate::ordered::{Map, Set};

/// The depth to which terminals are written while another one is, which their differences need.
const MAX_DEPTH: u32 = 32;
/// The names of rules for blanks, if `@pass` names none.
const BLANK_RULES: &[&str] = &["WS", "Whitespace", "WhiteSpace", "S", "PASS", "PASSED_TOKENS"];

/// Returns the grammar of a file.
pub(super) fn translate(file: &File, builder: &mut Builder<'_>) -> Grammar {
    let by_name: Map<&str, &Rule> = file.rules.iter().map(|rule| (rule.name.text.as_str(), rule)).collect();
    let lexical = lexical(file, &by_name);
    let mut translator =
        Translator { by_name: &by_name, lexical: lexical.clone(), built: Map::new(), open: Set::new(), builder };
    let mut syntax = Vec::new();
    let mut twice = Vec::new();
    for rule in &file.rules {
        let name = rule.name.text.as_str();
        let is_first = by_name.get(name).is_some_and(|known| std::ptr::eq(*known, rule));
        if !is_first {
            // The check of the grammar reports it.
            twice.push(ast::Rule::new(rule.name.clone(), Expr::empty(rule.name.span)));
        } else if translator.lexical.contains(name) {
            translator.terminal(rule, MAX_DEPTH);
        } else if let Ok(body) = translator.syntax(&rule.body, rule.is_explicit) {
            syntax.push((rule.name.clone(), body));
        }
    }
    let pass = file.pass.as_ref().and_then(|pass| translator.part(pass, MAX_DEPTH).ok());
    let built = translator.built;
    let terminals: Vec<ast::Rule> =
        file.rules.iter().filter_map(|rule| built.get(rule.name.text.as_str()).cloned()).collect();
    let mut facts = Lexical::new(&terminals);
    let named = BLANK_RULES.iter().find_map(|name| terminals.iter().find(|rule| rule.name.text == *name));
    let blank = pass.map(|pass| pass.expr).or(named.map(|rule| rule.body.clone()));
    let mut separators = match &blank {
        Some(blank) => facts.separators(std::slice::from_ref(blank), BLANKS),
        None => BLANKS.to_vec(),
    };
    // The end of a line is no blank where it is a token.
    let mut tokens: Set<&str> = Set::new();
    let syntactic = file.rules.iter().filter(|rule| !lexical.contains(rule.name.text.as_str()));
    syntactic.for_each(|rule| {
        each_name(&rule.body, &mut |name| {
            tokens.insert(name);
        })
    });
    for rule in terminals.iter().filter(|rule| tokens.contains(rule.name.text.as_str())) {
        separators.retain(|blank| !facts.is_alone(&rule.body, blank.as_bytes()[0]));
    }
    let mut rules = separate(syntax, &mut facts, &blanks(&separators), builder);
    rules.extend(terminals);
    rules.extend(twice);
    let start = file.rules.first().map(|rule| rule.name.clone());
    Grammar { start, rules, ..Grammar::default() }.with_own(|name| by_name.contains_key(name))
}

/// Returns the names of the rules in which no blanks are implied: the terminals, and rules with explicit blanks that
/// refer only to such rules. Without implied blanks, these are all rules.
fn lexical<'f>(file: &'f File, by_name: &Map<&'f str, &'f Rule>) -> Set<&'f str> {
    let mut names: Set<&str> = by_name.keys().copied().collect();
    if !file.implies_blanks {
        return names;
    }
    let mut users: Map<&str, Vec<&str>> = Map::new();
    let mut lost: Vec<&str> = Vec::new();
    for (&name, rule) in by_name {
        each_name(&rule.body, &mut |used| users.entry(used).or_default().push(name));
        if !rule.is_terminal && !rule.is_explicit {
            lost.push(name);
        }
    }
    while let Some(name) = lost.pop() {
        if names.remove(name) {
            let users = users.get(name).into_iter().flatten();
            lost.extend(users.filter(|user| by_name.get(*user).is_some_and(|rule| !rule.is_terminal)));
        }
    }
    names
}

fn each_name<'f>(term: &'f Term, visit: &mut impl FnMut(&'f str)) {
    match &term.kind {
        Kind::Name(name) => visit(name),
        Kind::Seq(parts) | Kind::Choice(parts) => parts.iter().for_each(|part| each_name(part, visit)),
        Kind::Repeat(inside, ..) => each_name(inside, visit),
        Kind::Minus(left, right) => {
            each_name(left, visit);
            each_name(right, visit);
        }
        Kind::Text(_) | Kind::Class(_) => {}
    }
}

struct Translator<'f, 'b, 'd> {
    by_name: &'f Map<&'f str, &'f Rule>,
    lexical: Set<&'f str>,
    /// The terminals that are written.
    built: Map<&'f str, ast::Rule>,
    /// The terminals that are being written.
    open: Set<&'f str>,
    builder: &'b mut Builder<'d>,
}

impl<'f> Translator<'f, '_, '_> {
    /// Writes a terminal, unless that has been done.
    fn terminal(&mut self, rule: &'f Rule, depth: u32) {
        let name = rule.name.text.as_str();
        if self.built.contains_key(name) || !self.open.insert(name) {
            return;
        }
        let body = self.part(&rule.body, depth).map_or(Expr::empty(rule.name.span), |part| part.expr);
        self.open.remove(name);
        self.built.insert(name, ast::Rule::new(rule.name.clone(), body));
    }

    /// Returns an expression without implied blanks.
    fn part(&mut self, term: &'f Term, depth: u32) -> Result<Part, Reported> {
        let span = term.span;
        match &term.kind {
            Kind::Text(text) => self.builder.bytes(text.as_str(), span),
            Kind::Class(set) => self.builder.class(set.clone(), span),
            Kind::Name(name) => self.builder.rule(name.as_str(), span),
            Kind::Seq(parts) => {
                let parts: Result<Vec<Part>, Reported> = parts.iter().map(|part| self.part(part, depth)).collect();
                self.builder.seq(parts?, span)
            }
            Kind::Choice(parts) => {
                let parts: Result<Vec<Part>, Reported> = parts.iter().map(|part| self.part(part, depth)).collect();
                self.builder.any(parts?, span)
            }
            Kind::Repeat(inside, min, max) => {
                let inside = self.part(inside, depth)?;
                self.builder.repeat(inside, *min, *max, span)
            }
            Kind::Minus(left, right) => self.difference(left, right, span, depth),
        }
    }

    /// Returns the texts of one expression that are none of another one.
    fn difference(&mut self, left: &'f Term, right: &'f Term, span: Span, depth: u32) -> Result<Part, Reported> {
        if depth > 0 {
            let mut needed = Vec::new();
            [left, right].into_iter().for_each(|side| each_name(side, &mut |name| needed.push(name)));
            self.need(needed, depth - 1);
        }
        let (left, right) = (self.part(left, depth)?, self.part(right, depth)?);
        let built = &self.built;
        let rule = |name: &str| built.get(name).map(|rule| &rule.body);
        match pattern::difference(&left.expr, &right.expr, &rule, &mut self.builder.steps_left) {
            Some(expr) => {
                self.builder.count(expr.size(), span)?;
                let height = expr.height();
                Ok(Part { expr: Expr { span, ..expr }, height })
            }
            None => {
                let help = "it is computed if both sides are regular and not too large, and something is left";
                self.builder.approximate(span, "a difference is read as its left side", help);
                Ok(left)
            }
        }
    }

    /// Writes these terminals and those that they refer to.
    fn need(&mut self, mut names: Vec<&'f str>, depth: u32) {
        let mut seen = Set::new();
        while let Some(name) = names.pop() {
            let Some((&name, &rule)) = self.by_name.get_key_value(name) else { continue };
            if seen.insert(name) && !self.built.contains_key(name) && self.lexical.contains(name) {
                each_name(&rule.body, &mut |name| names.push(name));
                self.terminal(rule, depth);
            }
        }
    }

    /// Returns an expression with implied blanks, unless they are explicit.
    fn syntax(&mut self, term: &'f Term, is_explicit: bool) -> Result<Syntax, Reported> {
        let span = term.span;
        let token = |part: Part| if is_explicit { Syntax::Immediate(part) } else { Syntax::Token(part) };
        match &term.kind {
            Kind::Text(text) if text.is_empty() => Ok(Syntax::Seq(Vec::new())),
            Kind::Text(_) | Kind::Class(_) | Kind::Minus(..) => Ok(token(self.part(term, MAX_DEPTH)?)),
            Kind::Name(name) => {
                let part = self.builder.rule(name.as_str(), span)?;
                let is_token = self.lexical.contains(name.as_str()) || !self.by_name.contains_key(name.as_str());
                Ok(if is_token { token(part) } else { Syntax::Rule(part) })
            }
            Kind::Seq(parts) => {
                let parts: Result<Vec<Syntax>, Reported> =
                    parts.iter().map(|part| self.syntax(part, is_explicit)).collect();
                Ok(Syntax::Seq(parts?))
            }
            Kind::Choice(parts) => {
                let parts: Result<Vec<Syntax>, Reported> =
                    parts.iter().map(|part| self.syntax(part, is_explicit)).collect();
                Ok(Syntax::Choice(parts?))
            }
            Kind::Repeat(inside, min, max) => {
                Ok(Syntax::Repeat(Box::new(self.syntax(inside, is_explicit)?), *min, *max))
            }
        }
    }
}
