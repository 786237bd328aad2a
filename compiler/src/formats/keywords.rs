//! Removes keywords from tokens: if a lexer prefers fixed texts, `[a-z]+` must not derive `if`.

use super::boundaries::{Edges, Key, Lexical, Syntax};
use super::builder::Builder;
use crate::ast::{Expr, ExprKind, Name, Rule};
use crate::charset::Unit;
use crate::ordered::{Map, Set};
use crate::tokens::{Fragment, Pattern, Word, without_keywords};

/// Grammars with more tokens are not changed.
const MAX_TOKENS: usize = 1 << 12;
/// The most pairs of a token and a keyword to remove. Later tokens are not changed.
const MAX_PAIRS: usize = 1 << 14;
/// The depth to which references are followed to find out whether a token is a fixed text.
const MAX_DEPTH: usize = 8;

/// Tokens without the keywords among their texts.
#[derive(Default)]
pub(super) struct Words {
    /// The rules of these tokens.
    rules: Vec<Rule>,
    /// The edges of the original tokens.
    known: Vec<(String, Edges)>,
    /// Lexical rules without references.
    dropped: Set<String>,
}

impl Words {
    /// Returns the lexical rules. These tokens count as the original ones in it.
    pub(super) fn lexical<'g>(&'g self, rules: &'g [Rule]) -> Lexical<'g> {
        Lexical::knowing(rules, self.known.iter().map(|(name, edges)| (name.as_str(), edges.clone())))
    }

    /// Adds the lexical rules and the rules of these tokens.
    pub(super) fn add_to(self, all: &mut Vec<Rule>, lexical: Vec<Rule>) {
        all.extend(lexical.into_iter().filter(|rule| !self.dropped.contains(&rule.name.text)));
        all.extend(self.rules);
    }
}

/// Removes the fixed texts among the tokens of `syntax` from the texts of the other tokens.
pub(super) fn exclude(syntax: &mut [(Name, Syntax)], lexical: &mut Lexical<'_>, builder: &mut Builder<'_>) -> Words {
    exclude_by(syntax, lexical, &Map::new(), builder)
}

/// Removes the fixed texts among the tokens of `syntax` from the texts of the other tokens, where some tokens have
/// priorities, by name. Of two tokens that match the same text, the lexer takes the one with the higher priority. If
/// the priorities are equal, it prefers a fixed text.
pub(super) fn exclude_by(
    syntax: &mut [(Name, Syntax)],
    lexical: &mut Lexical<'_>,
    priorities: &Map<String, i64>,
    builder: &mut Builder<'_>,
) -> Words {
    let priority = |key: &Key| match key {
        Key::Rule(name) => priorities.get(name).copied().unwrap_or(0),
        _ => 0,
    };
    let mut tokens: Map<Key, &Expr> = Map::new();
    for (_, body) in syntax.iter() {
        each_token(body, &mut |expr| {
            tokens.insert(Key::of(expr), expr);
        });
    }
    if tokens.len() > MAX_TOKENS {
        return Words::default();
    }
    let (mut keywords, mut others) = (Vec::new(), Vec::new());
    for (key, expr) in tokens {
        let edges = lexical.edges(expr);
        match fixed(expr, lexical, 0) {
            Some(pattern) => keywords.push((pattern, edges, priority(&key), true)),
            None if !edges.nullable => others.push((key, expr, edges)),
            None => {}
        }
    }
    let mut converting = Converting::new(lexical, Vec::new());
    let least = others.iter().map(|(key, ..)| priority(key)).min().unwrap_or(0);
    for (key, expr, edges) in others.iter().filter(|(key, ..)| priority(key) > least) {
        if let Some(pattern) = converting.pattern(expr) {
            keywords.push((pattern, edges.clone(), priority(key), false));
        }
    }
    let mut words = Vec::new();
    let mut keys = Vec::new();
    let mut pairs = 0;
    for (key, expr, edges) in others {
        let among: Vec<Pattern> = keywords
            .iter()
            .filter(|(_, keyword, theirs, is_fixed)| {
                let own = priority(&key);
                (*theirs > own || *is_fixed && *theirs == own) && keyword.may_be_among(&edges)
            })
            .map(|(pattern, ..)| pattern.clone())
            .collect();
        pairs += among.len();
        if among.is_empty() || pairs > MAX_PAIRS {
            continue;
        }
        let name = match expr.as_rule() {
            Some(name) => format!("{name}.word"),
            None => format!("word.{}", keys.len() + 1),
        };
        if let Some(pattern) = converting.pattern(expr) {
            words.push(Word { name, span: expr.span, pattern, keywords: among });
            keys.push((key, edges));
        }
    }
    let fragments = converting.finish();
    let before = reached(syntax, &[], lexical);
    let mut result = Words::default();
    let mut names: Map<Key, String> = Map::new();
    for (((key, edges), word), found) in keys.into_iter().zip(&words).zip(without_keywords(&words, &fragments)) {
        let Some((body, parts)) = found else { continue };
        let all = [(word.name.clone(), body)].into_iter().chain(parts);
        result.known.push((word.name.clone(), edges));
        result.rules.extend(all.map(|(text, body)| Rule::new(Name { text, span: word.span }, body)));
        names.insert(key, word.name.clone());
    }
    if names.is_empty() {
        return result;
    }
    for (_, body) in syntax.iter_mut() {
        replace(body, &names, builder);
    }
    let after = reached(syntax, &result.rules, lexical);
    result.dropped = before.difference(&after).map(|name| name.to_string()).collect();
    // The token without keywords takes the name of its token, if that is free now.
    for (key, word) in names.iter_mut() {
        if let Key::Rule(name) = key
            && result.dropped.contains(name)
        {
            for rule in result.rules.iter_mut().filter(|rule| rule.name.text == *word) {
                rule.name.text.clone_from(name);
            }
            for (known, _) in result.known.iter_mut().filter(|(known, _)| known == word) {
                known.clone_from(name);
            }
            let renamed = Map::from([(Key::Rule(word.clone()), name.clone())]);
            syntax.iter_mut().for_each(|(_, body)| replace(body, &renamed, builder));
        }
    }
    result
}

/// Returns the lexical rules that syntactic rules and `others` refer to.
fn reached<'g>(syntax: &[(Name, Syntax)], others: &[Rule], lexical: &Lexical<'g>) -> Set<&'g str> {
    let mut reached = Set::new();
    let mut pending: Vec<&'g Expr> = Vec::new();
    let mut add = |expr: &Expr, pending: &mut Vec<&'g Expr>| {
        expr.each_reference(&mut |name| {
            if let Some((name, body)) = lexical.rule_called(name)
                && reached.insert(name)
            {
                pending.push(body);
            }
        });
    };
    for (_, body) in syntax {
        each_part(body, &mut |expr| add(expr, &mut pending));
    }
    others.iter().for_each(|rule| add(&rule.body, &mut pending));
    while let Some(body) = pending.pop() {
        add(body, &mut pending);
    }
    reached
}

fn each_part<'s>(syntax: &'s Syntax, visit: &mut dyn FnMut(&'s Expr)) {
    match syntax {
        Syntax::Token(part) | Syntax::Immediate(part) | Syntax::Blank(part) | Syntax::Rule(part) => visit(&part.expr),
        Syntax::Seq(items) | Syntax::Choice(items) => items.iter().for_each(|item| each_part(item, visit)),
        Syntax::Repeat(item, ..) => each_part(item, visit),
    }
}

fn each_token<'s>(syntax: &'s Syntax, visit: &mut dyn FnMut(&'s Expr)) {
    match syntax {
        Syntax::Token(part) => visit(&part.expr),
        Syntax::Immediate(_) | Syntax::Blank(_) | Syntax::Rule(_) => {}
        Syntax::Seq(items) | Syntax::Choice(items) => items.iter().for_each(|item| each_token(item, visit)),
        Syntax::Repeat(item, ..) => each_token(item, visit),
    }
}

fn replace(syntax: &mut Syntax, names: &Map<Key, String>, builder: &mut Builder<'_>) {
    match syntax {
        Syntax::Token(part) => {
            if let Some(name) = names.get(&Key::of(&part.expr))
                && let Ok(other) = builder.rule(name, part.span())
            {
                *part = other;
            }
        }
        Syntax::Immediate(_) | Syntax::Blank(_) | Syntax::Rule(_) => {}
        Syntax::Seq(items) | Syntax::Choice(items) => items.iter_mut().for_each(|item| replace(item, names, builder)),
        Syntax::Repeat(item, ..) => replace(item, names, builder),
    }
}

/// Returns the pattern of an expression that derives a single text, in one case or in both.
fn fixed(expr: &Expr, lexical: &Lexical<'_>, depth: usize) -> Option<Pattern> {
    match &expr.kind {
        ExprKind::Bytes(bytes) if !bytes.is_empty() => Some(Pattern::text(std::str::from_utf8(bytes).ok()?)),
        // Both cases of a letter.
        ExprKind::Class(set) if set.unit() == Unit::Char && set.len() <= 2 => {
            Some(Pattern::Set { set: set.clone(), listed: true })
        }
        ExprKind::Rule(name) if depth < MAX_DEPTH => fixed(lexical.rule_called(name)?.1, lexical, depth + 1),
        ExprKind::Seq(items) if !items.is_empty() => {
            let items: Option<Vec<Pattern>> = items.iter().map(|item| fixed(item, lexical, depth)).collect();
            items.map(Pattern::Seq)
        }
        ExprKind::Choice(options) if options.len() == 1 => fixed(&options[0].expr, lexical, depth),
        ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Rule(_) => None,
        ExprKind::Seq(_) | ExprKind::Choice(_) | ExprKind::Repeat { .. } => None,
        ExprKind::Times { .. }
        | ExprKind::Label { .. }
        | ExprKind::Derived(_)
        | ExprKind::Naming { .. }
        | ExprKind::Coded { .. }
        | ExprKind::Call { .. } => None,
    }
}

/// Converts expressions to patterns, and the rules that they refer to, to fragments.
pub(super) struct Converting<'l, 'g> {
    lexical: &'l Lexical<'g>,
    fragments: Vec<Fragment>,
    places: Map<String, usize>,
    pending: Vec<(usize, &'g Expr)>,
}

impl<'l, 'g> Converting<'l, 'g> {
    /// Returns a converter that adds to these fragments.
    pub(super) fn new(lexical: &'l Lexical<'g>, fragments: Vec<Fragment>) -> Converting<'l, 'g> {
        Converting { lexical, fragments, places: Map::new(), pending: Vec::new() }
    }

    /// Returns the pattern of an expression. `None` if it contains bytes that are not characters.
    pub(super) fn pattern(&mut self, expr: &Expr) -> Option<Pattern> {
        Some(match &expr.kind {
            ExprKind::Bytes(bytes) => Pattern::text(std::str::from_utf8(bytes).ok()?),
            ExprKind::Class(set) if set.unit() == Unit::Char => Pattern::Set { set: set.clone(), listed: true },
            ExprKind::Class(_) => return None,
            ExprKind::Times { .. }
            | ExprKind::Label { .. }
            | ExprKind::Derived(_)
            | ExprKind::Naming { .. }
            | ExprKind::Coded { .. }
            | ExprKind::Call { .. } => {
                return None;
            }
            ExprKind::Rule(name) => {
                let (_, body) = self.lexical.rule_called(name)?;
                let place = match self.places.get(name) {
                    Some(&place) => place,
                    None => {
                        let place = self.fragments.len();
                        let pattern = Pattern::Choice(Vec::new());
                        self.fragments.push(Fragment { name: name.clone(), span: expr.span, pattern });
                        self.places.insert(name.clone(), place);
                        self.pending.push((place, body));
                        place
                    }
                };
                Pattern::Fragment(place)
            }
            ExprKind::Seq(items) => Pattern::Seq(items.iter().map(|item| self.pattern(item)).collect::<Option<_>>()?),
            ExprKind::Choice(options) => {
                Pattern::Choice(options.iter().map(|option| self.pattern(&option.expr)).collect::<Option<_>>()?)
            }
            ExprKind::Repeat { item, min, max } => {
                Pattern::Repeat { item: Box::new(self.pattern(item)?), min: *min, max: *max, lazy: false }
            }
        })
    }

    pub(super) fn finish(mut self) -> Vec<Fragment> {
        while let Some((place, body)) = self.pending.pop() {
            // A rule with such bytes matches no text, so it becomes the empty choice.
            self.fragments[place].pattern = self.pattern(body).unwrap_or(Pattern::Choice(Vec::new()));
        }
        self.fragments
    }
}
