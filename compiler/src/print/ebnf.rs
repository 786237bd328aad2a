//! Our EBNF: [`ast::dump`](crate::ast::dump) with names that can be read back. Bytes that are not UTF-8 stand alone.

use super::{Names, Printer};
use crate::ast::{self, Expr, Grammar};
use crate::diagnostics::Diagnostics;

/// The `ebnf` notation.
pub(super) struct Ebnf;

impl Printer for Ebnf {
    fn name(&self) -> &'static str {
        "ebnf"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["ebnf", "w3c"]
    }

    fn print(&self, grammar: &Grammar, _: &mut Diagnostics) -> Option<String> {
        let names = Names::new(grammar, allowed, str::to_string, &[]);
        let mut renamed = grammar.clone();
        for rule in &mut renamed.rules {
            rule.name.text = names.get(&rule.name.text).to_string();
            rewrite(&mut rule.body, &names);
        }
        if let Some(start) = &mut renamed.start {
            start.text = names.get(&start.text).to_string();
        }
        Some(ast::dump(&renamed))
    }
}

/// Returns the name with `_` and `-` in place of characters that the notation does not allow.
fn allowed(name: &str) -> String {
    let in_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-');
    let mut new: String = name.chars().map(|c| if in_name(c) { c } else { '-' }).collect();
    if !new.starts_with(|c: char| c == '_' || c.is_alphabetic()) {
        new.insert(0, '_');
    }
    // A double minus after a name may begin a comment, so no name ends with a minus.
    while new.ends_with('-') {
        new.pop();
    }
    if new.is_empty() { "_".to_string() } else { new }
}

fn rewrite(expr: &mut Expr, names: &Names) {
    expr.each_mut(&mut |expr| {
        let span = expr.span;
        if let Some(name) = expr.as_rule_mut() {
            *name = names.get(name).to_string();
        } else if let Some(items) = expr.as_bytes().and_then(pieces) {
            *expr = Expr::seq(items.into_iter().map(|bytes| Expr::bytes(bytes, span)).collect(), span);
        }
    });
}

/// Returns the text and the single bytes of a literal, if some bytes are not text.
fn pieces(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    if bytes.len() < 2 || std::str::from_utf8(bytes).is_ok() {
        return None;
    }
    let mut pieces = Vec::new();
    for chunk in bytes.utf8_chunks() {
        if !chunk.valid().is_empty() {
            pieces.push(chunk.valid().as_bytes().to_vec());
        }
        pieces.extend(chunk.invalid().iter().map(|&byte| vec![byte]));
    }
    Some(pieces)
}
