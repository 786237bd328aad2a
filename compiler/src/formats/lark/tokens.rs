//! The terminals of a grammar as its lexer matches them, including lookarounds in their patterns.

use crate::ast::{Expr, Name, Rule};
use crate::charset::CharSet;
use crate::formats::boundaries::Syntax;
use crate::formats::builder::Builder;
use crate::formats::pattern::{Mark, has_marks, leave_out, resolve};
use crate::ordered::{Map, Set};

/// Rewrites the terminals that have marks in them. Returns for each the characters that must not follow it.
pub(super) fn settle(
    syntax: &mut [(Name, Syntax)],
    lexical: &mut Vec<Rule>,
    ignored: &mut [Expr],
    looks: &[Mark],
    builder: &mut Builder<'_>,
) -> Map<String, CharSet> {
    let mut not_behind = Map::new();
    if looks.is_empty() {
        return not_behind;
    }
    let before = reached(syntax, ignored, lexical);
    // A terminal that is written in a rule becomes a rule of its own, so that it has a name.
    let mut count = 0;
    let mut tokens: Set<String> = Set::new();
    for (_, body) in syntax.iter_mut() {
        each_token(body, &mut |expr| {
            if expr.as_rule().is_none() && has_marks(expr, &|_| None) {
                count += 1;
                let name = Name { text: format!("pattern.{count}"), span: expr.span };
                let reference = Expr::rule(&name.text, expr.span);
                lexical.push(Rule::new(name, std::mem::replace(expr, reference)));
            }
            tokens.extend(expr.as_rule().map(str::to_string));
        });
    }
    let bodies: Map<String, Expr> = lexical.iter().map(|rule| (rule.name.text.clone(), rule.body.clone())).collect();
    let body_of = |name: &str| bodies.get(name);
    for rule in lexical.iter_mut().filter(|rule| tokens.contains(&rule.name.text)) {
        if builder.gives_up() || !has_marks(&bodies[&rule.name.text], &body_of) {
            continue;
        }
        let Some(resolved) = resolve(&bodies[&rule.name.text], looks, &body_of, &mut builder.steps_left) else {
            continue;
        };
        if builder.count(resolved.parts, rule.name.span).is_err() {
            break;
        }
        if resolved.asks_in_front {
            let help = "the token in front is not known; write out what it excludes";
            builder.approximate(rule.name.span, "a look-behind beyond the beginning of a token is left out", help);
        }
        if resolved.asks_behind {
            let help = "the token that follows is not known; write in the rules what may follow";
            builder.approximate(rule.name.span, "a look-ahead beyond the end of a token is left out", help);
        }
        rule.body = resolved.expr;
        if !resolved.not_behind.is_empty() {
            not_behind.insert(rule.name.text.clone(), resolved.not_behind);
        }
    }
    let after = reached(syntax, ignored, lexical);
    let dropped: Set<String> = before.difference(&after).cloned().collect();
    lexical.retain(|rule| !dropped.contains(&rule.name.text));
    // The remaining marks are in rules that are too large, or in no token.
    for rule in lexical.iter_mut() {
        leave_out(&mut rule.body, looks, after.contains(&rule.name.text).then_some(&mut *builder));
    }
    ignored.iter_mut().for_each(|expr| leave_out(expr, looks, None));
    not_behind
}

fn each_token(syntax: &mut Syntax, visit: &mut dyn FnMut(&mut Expr)) {
    match syntax {
        Syntax::Token(part) | Syntax::Immediate(part) => visit(&mut part.expr),
        Syntax::Blank(_) | Syntax::Rule(_) => {}
        Syntax::Seq(items) | Syntax::Choice(items) => items.iter_mut().for_each(|item| each_token(item, visit)),
        Syntax::Repeat(item, ..) => each_token(item, visit),
    }
}

/// Returns the terminals that rules and ignored terminals refer to, directly or through other terminals.
fn reached(syntax: &mut [(Name, Syntax)], ignored: &[Expr], lexical: &[Rule]) -> Set<String> {
    let bodies: Map<&str, &Expr> = lexical.iter().map(|rule| (rule.name.text.as_str(), &rule.body)).collect();
    let mut pending: Vec<String> = Vec::new();
    for (_, body) in syntax {
        each_token(body, &mut |expr| expr.each_reference(&mut |name| pending.push(name.to_string())));
    }
    ignored.iter().for_each(|expr| expr.each_reference(&mut |name| pending.push(name.to_string())));
    let mut reached = Set::new();
    while let Some(name) = pending.pop() {
        if let Some(body) = bodies.get(name.as_str())
            && reached.insert(name)
        {
            body.each_reference(&mut |name| pending.push(name.to_string()));
        }
    }
    reached
}
