//! Expressions in the EBNF notation.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::expr::Expr;
use crate::set::{Others, Set};

/// The label of parts that are given again.
const NAME: &str = "name";

/// Levels at which an expression binds: alternatives, then sequences, then single items.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Alternatives,
    Sequence,
    Item,
}

/// Returns the rules as a grammar file.
pub(crate) fn grammar(rules: &[(String, Expr)]) -> String {
    let names: Vec<&str> = rules.iter().map(|(name, _)| name.as_str()).collect();
    let line = |(name, body): &(String, Expr)| {
        let mut text = format!("{name} ::= ");
        match body {
            Expr::Alt(parts) if parts.len() > 1 => {
                let parts: Vec<String> = parts.iter().map(|part| shown(part, &names, Level::Sequence)).collect();
                let is_short = name.len() + parts.iter().map(|part| part.len() + 3).sum::<usize>() < 80;
                let indent = format!("\n{:>width$}", "| ", width = name.len() + 5);
                text.push_str(&parts.join(if is_short { " | " } else { &indent }));
            }
            body => write(&mut text, body, &names, Level::Alternatives),
        }
        text + "\n"
    };
    let beyond =
        beyond(rules).into_iter().filter_map(Others::class).map(|(name, class)| format!("{name} ::= {class}\n"));
    rules.iter().map(line).chain(beyond).collect::<Vec<String>>().join("\n")
}

/// Returns the kinds of characters beyond ASCII that the rules derive. Each has a rule of its own.
pub(crate) fn beyond(rules: &[(String, Expr)]) -> BTreeSet<Others> {
    let mut kinds = BTreeSet::new();
    for (_, body) in rules {
        body.sets(&mut |set| {
            kinds.insert(set.others);
        });
    }
    kinds.remove(&Others::None);
    kinds
}

fn shown(expr: &Expr, names: &[&str], level: Level) -> String {
    let mut text = String::new();
    write(&mut text, expr, names, level);
    text
}

fn level(expr: &Expr) -> Level {
    match expr {
        Expr::Alt(_) => Level::Alternatives,
        Expr::Set(set) if set.others != Others::None && set.has_ascii() => Level::Alternatives,
        Expr::Seq(parts) if !parts.is_empty() => Level::Sequence,
        Expr::Literal(text) if text.len() > 1 && std::str::from_utf8(text).is_err() => Level::Sequence,
        _ => Level::Item,
    }
}

fn write(out: &mut String, expr: &Expr, names: &[&str], around: Level) {
    let is_grouped = level(expr) < around;
    if is_grouped {
        out.push('(');
    }
    let mark = |out: &mut String, part: &Expr, mark: &str| {
        let is_marked = matches!(part, Expr::Optional(_) | Expr::Star(_) | Expr::Plus(_) | Expr::Times(..));
        if is_marked {
            out.push('(');
        }
        write(out, part, names, Level::Item);
        out.push_str(if is_marked { ")" } else { "" });
        out.push_str(mark);
    };
    match expr {
        Expr::Literal(text) => literal(out, text),
        Expr::Set(set) => members(out, set),
        Expr::Rule(rule) => out.push_str(names[*rule]),
        Expr::Seq(parts) if parts.is_empty() => out.push_str("()"),
        Expr::Seq(parts) => list(out, parts, names, " ", Level::Item),
        Expr::Alt(parts) => list(out, parts, names, " | ", Level::Sequence),
        Expr::Optional(part) => mark(out, part, "?"),
        Expr::Star(part) => mark(out, part, "*"),
        Expr::Plus(part) => mark(out, part, "+"),
        Expr::Times(part, min, max) if min == max => mark(out, part, &format!("{{{min}}}")),
        Expr::Times(part, min, max) => mark(out, part, &format!("{{{min},{max}}}")),
        Expr::Named(part) => {
            out.push_str(NAME);
            out.push(':');
            write(out, part, names, Level::Item);
        }
        Expr::Again => out.extend(['$'].into_iter().chain(NAME.chars())),
        Expr::General(general) => write(out, &general.general, names, Level::Item),
    }
    if is_grouped {
        out.push(')');
    }
}

/// Writes a set. Characters beyond ASCII are drawn as rarely as in the texts that the oracle was asked about.
fn members(out: &mut String, set: &Set) {
    match set.others.class() {
        None => out.push_str(&set.to_string()),
        Some((name, _)) if !set.has_ascii() => out.push_str(name),
        Some((name, _)) => {
            // A `String` takes all that is written.
            let _ = write!(out, "{set} @ {} | {name}", Set::RARE);
        }
    }
}

fn list(out: &mut String, parts: &[Expr], names: &[&str], between: &str, level: Level) {
    for (at, part) in parts.iter().enumerate() {
        out.push_str(if at > 0 { between } else { "" });
        write(out, part, names, level);
    }
}

fn literal(out: &mut String, text: &[u8]) {
    let Ok(shown) = std::str::from_utf8(text) else {
        let bytes: Vec<String> = text.iter().map(|byte| format!("#b{byte:02X}")).collect();
        return out.push_str(&bytes.join(" "));
    };
    let quote = if shown.contains('\'') && !shown.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for character in shown.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if character == quote => out.extend(['\\', quote]),
            _ if character.is_control() => {
                // A `String` takes all that is written.
                let _ = write!(out, "\\u{{{:X}}}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out.push(quote);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_have_the_parentheses_that_they_need() {
        let (a, b) = (Expr::literal("a"), Expr::literal("'"));
        let pair = Expr::Seq(vec![a.clone(), Expr::Rule(0)]);
        let body = Expr::Seq(vec![Expr::Alt(vec![pair.clone(), b]).star(), a.optional(), pair.plus()]);
        let rules = [("x".to_string(), body)];
        assert_eq!(grammar(&rules), "x ::= ('a' x | \"'\")* 'a'? ('a' x)+\n");
        assert_eq!(shown(&Expr::literal(b"\xFF\xFE"), &[], Level::Item), "(#bFF #bFE)");
    }
}
