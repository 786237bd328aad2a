//! Finds places where a grammar lacks something: a place is tried with a hole that takes any bytes. If a text conforms
//! then, the bytes in the hole are what the place lacks. They stand between two states from which the parser goes on.

use std::collections::BTreeSet;
use std::ops::Range;

use gramjet_compiler::ast::{Alternative, Expr, ExprKind, Grammar, Name, Rule, Weight};
use gramjet_compiler::charset::{CharSet, Unit};

use crate::refine::candidate::Candidate;
use crate::refine::place::{ExprPath, NEW, alternative, class, empty, new, reference, repeat, seq};
use crate::refine::reader::{Derivation, Reader};

/// The name of the hole. No notation has such names.
const HOLE: &str = "\0hole";

/// Ways in which a hole is put at a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Put {
    /// In place of the expression.
    Instead,
    /// Before the item with this number of a sequence, or at its end.
    Before(usize),
}

/// Part of a text that a hole takes.
#[derive(Clone, Debug)]
pub(crate) struct Lack {
    pub(crate) text: Vec<u8>,
    pub(crate) range: Range<usize>,
}

impl Lack {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.text[self.range.clone()]
    }
}

/// Returns what the place lacks for each text that conforms with the hole; nothing if it helps with none.
pub(crate) fn lacks(grammar: &Grammar, place: &ExprPath, put: &Put, texts: &[Vec<u8>]) -> Vec<Lack> {
    let holed = place.get(grammar).and_then(|expr| with_hole(expr, put)).map(|expr| holed(grammar, place, expr));
    let Some(reader) = holed.as_ref().and_then(Reader::new) else { return Vec::new() };
    let number = grammar.rules.len();
    let mut lacks = Vec::new();
    for text in texts {
        let ranges = reader.derivation_once(text).map_or_else(Vec::new, |derivation| outermost(&derivation, number));
        lacks.extend(ranges.into_iter().map(|range| Lack { text: text.clone(), range }));
    }
    lacks
}

/// Returns the grammar with any bytes at a place: no other expression there has more texts.
pub(crate) fn anything(grammar: &Grammar, place: &ExprPath) -> Grammar {
    place.with(grammar, repeat(class(CharSet::new(Unit::Byte, [(0, 255)])), 0, None))
}

/// Returns what stands for an alternative that an edit adds, in the texts that conform by it.
pub(crate) fn standing(grammar: &Grammar, candidate: &Candidate, texts: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let Some(alternatives) = candidate.expr.as_choice() else { return Vec::new() };
    let mut alternatives = alternatives.to_vec();
    match alternatives.last_mut() {
        Some(last) if last.expr.is_same(&candidate.part) => last.expr = reference(HOLE),
        _ => return Vec::new(),
    }
    let mut named = candidate.place.with(grammar, new(ExprKind::Choice(alternatives)));
    named.rules.push(Rule::new(Name { text: HOLE.to_string(), span: NEW }, candidate.part.clone()));
    let Some(reader) = Reader::new(&named) else { return Vec::new() };
    let mut found = BTreeSet::new();
    for text in texts {
        let derivation = reader.derivation_once(text).unwrap_or_default();
        let ranges = outermost(&derivation, grammar.rules.len());
        found.extend(ranges.into_iter().map(|range| text[range].to_vec()));
    }
    found.into_iter().collect()
}

fn outermost(derivation: &Derivation, rule: usize) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for part in derivation.parts.iter().filter(|part| part.rule == Some(rule)) {
        if found.last().is_none_or(|last| last.end <= part.range.start) {
            found.push(part.range.clone());
        }
    }
    found
}

fn holed(grammar: &Grammar, place: &ExprPath, expr: Expr) -> Grammar {
    let mut holed = place.with(grammar, expr);
    let any = || class(CharSet::new(Unit::Byte, [(0, 255)]));
    let more = rare(seq(vec![any(), reference(HOLE)]));
    let body = new(ExprKind::Choice(vec![alternative(any()), more]));
    holed.rules.push(Rule::new(Name { text: HOLE.to_string(), span: NEW }, body));
    holed
}

/// Returns an alternative that is taken where nothing else will do.
fn rare(expr: Expr) -> Alternative {
    Alternative { expr, weight: Some(Weight { value: Weight::ONLY_READ, span: NEW }) }
}

fn with_hole(expr: &Expr, put: &Put) -> Option<Expr> {
    match (put, expr.as_choice()) {
        (Put::Instead, Some(alternatives)) => {
            let alternatives = alternatives.iter().cloned().chain([rare(reference(HOLE))]);
            Some(new(ExprKind::Choice(alternatives.collect())))
        }
        (Put::Instead, None) => Some(new(ExprKind::Choice(vec![alternative(expr.clone()), rare(reference(HOLE))]))),
        (Put::Before(number), _) => {
            let mut items = expr.as_seq()?.to_vec();
            let hole = new(ExprKind::Choice(vec![alternative(empty()), rare(reference(HOLE))]));
            items.insert((*number).min(items.len()), hole);
            Some(seq(items))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refine::testing::grammar;

    fn found(text: &str, place: &ExprPath, put: &Put, texts: &[&str]) -> Vec<String> {
        let texts: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
        let lacks = lacks(&grammar(text), place, put, &texts);
        lacks.iter().map(|lack| String::from_utf8_lossy(lack.bytes()).into_owned()).collect()
    }

    #[test]
    fn what_stands_for_an_alternative_is_known() {
        let grammar = grammar("text ::= ([a-z] | mark)*\nmark ::= '&lt;'\nany ::= [&;a-z]\n");
        let place = ExprPath::body(1);
        let edit = crate::refine::widen::alternative(&place, place.get(&grammar).expect("a literal"), reference("any"));
        let texts = [b"a&gt;b".to_vec(), b"&&".to_vec(), b"-".to_vec()];
        assert_eq!(standing(&grammar, &edit, &texts), [b"&".to_vec(), b";".to_vec()]);
    }

    #[test]
    fn a_hole_takes_what_is_lacking() {
        let text = "list ::= '[' (value (',' value)*)? ']'\nvalue ::= [0-9]+ | list\n";
        let value = ExprPath::body(1);
        let texts = ["[true]", "[1,\"a\",2]", "[[{}],[null,null]]", "(1)"];
        assert_eq!(found(text, &value, &Put::Instead, &texts), ["true", "\"a\"", "{}", "null", "null"]);
        assert_eq!(found(text, &ExprPath::body(0), &Put::Before(0), &[" [1]", "[1] "]), [" "]);
        assert_eq!(found(text, &ExprPath::body(0), &Put::Before(2), &["[1,]", "[1]"]), [","]);
    }
}
