//! From bytes to expressions: what a place lacks, as rules of the grammar, lists of them, and literals.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use gramjet_compiler::ast::{Expr, Grammar, Name};
use gramjet_compiler::charset::{CharSet, Unit};

use crate::refine::evidence::kind;
use crate::refine::mutants::tokens;
use crate::refine::place::{NEW, choice, class, literal, reference, repeat, seq};
use crate::refine::reader::Reader;

/// Longer bytes are not cut into pieces, and are no literals.
const MOST_CUT: usize = 24;

/// At most this many examples are looked at, short and long ones.
const MOST_LACKS: usize = 12;

/// A rule may stand for bytes of which it reads one in this many: a place may lack several things.
const LEAST_READ: usize = 8;

/// Words and groups of marks of a literal, as in `IF NOT EXISTS` and `<![CDATA[`.
const MOST_GROUPS: usize = 3;

/// At most this many literals become alternatives together.
const MOST_LITERALS: usize = 4;

/// Rules beyond this number are not looked at: each has a parser of its own.
const MOST_RULES: usize = 160;

/// Pieces of texts by which it is known whether a rule takes nearly anything, and the most tokens of one.
const MOST_PIECES: usize = 48;
const LONGEST_PIECE: usize = 6;

/// Texts with fewer kinds of bytes do not show whether a rule takes most of them.
const FEW_KINDS: usize = 8;

/// The rules of a grammar as languages.
pub(crate) struct Rules<'g> {
    grammar: &'g Grammar,
    /// Pieces of texts, of any kind.
    pieces: Vec<&'g [u8]>,
    /// Single bytes of texts, one of each kind.
    bytes: Vec<&'g [u8]>,
    readers: RefCell<BTreeMap<usize, Option<Rc<Reader>>>>,
    /// Answers to which rule reads which bytes, as far as it was asked.
    known: RefCell<BTreeMap<(usize, Vec<u8>), bool>>,
}

impl<'g> Rules<'g> {
    /// Returns the rules of a grammar. `texts` are of the language, or near it.
    pub(crate) fn new(grammar: &'g Grammar, texts: &'g [Vec<u8>]) -> Rules<'g> {
        let pieces = texts.iter().flat_map(|text| {
            let tokens = tokens(text);
            let ends = |at: usize| tokens[(at + at % LONGEST_PIECE).min(tokens.len() - 1)].end;
            (0..tokens.len()).map(|at| &text[tokens[at].start..ends(at)]).collect::<Vec<&[u8]>>()
        });
        let pieces: Vec<&[u8]> = pieces.collect::<BTreeSet<&[u8]>>().into_iter().collect();
        let step = pieces.len().div_ceil(MOST_PIECES).max(1);
        let pieces = pieces.into_iter().step_by(step).collect();
        let single = texts.iter().flat_map(|text| text.chunks(1)).filter(|byte| byte.is_ascii());
        let bytes: BTreeMap<u8, &[u8]> = single.map(|byte| (kind(byte[0]), byte)).collect();
        let bytes = if bytes.len() < FEW_KINDS { Vec::new() } else { bytes.into_values().collect() };
        Rules { grammar, pieces, bytes, readers: RefCell::default(), known: RefCell::default() }
    }

    /// Returns true if an expression refers to a rule that takes nearly anything: a half of any pieces, or of the
    /// bytes, of which anything consists.
    pub(crate) fn is_lax(&self, expr: &Expr) -> bool {
        let mut is_lax = false;
        expr.each(&mut |expr| {
            if let Some(name) = expr.as_rule()
                && let Some(rule) = self.grammar.rules.iter().position(|rule| rule.name.text == name)
            {
                is_lax |= [&self.pieces, &self.bytes].into_iter().any(|texts| {
                    let read = texts.iter().filter(|text| self.reads(rule, text)).count();
                    2 * read > texts.len()
                });
            }
        });
        is_lax
    }

    fn count(&self) -> usize {
        self.grammar.rules.len().min(MOST_RULES)
    }

    fn name(&self, rule: usize) -> &str {
        &self.grammar.rules[rule].name.text
    }

    fn reads(&self, rule: usize, text: &[u8]) -> bool {
        let key = (rule, text.to_vec());
        if let Some(&known) = self.known.borrow().get(&key) {
            return known;
        }
        let reader = self.readers.borrow_mut().entry(rule).or_insert_with(|| self.reader(rule)).clone();
        let reads = reader.is_some_and(|reader| reader.reads(text));
        self.known.borrow_mut().insert(key, reads);
        reads
    }

    fn reader(&self, rule: usize) -> Option<Rc<Reader>> {
        let start = Name { text: self.name(rule).to_string(), span: NEW };
        Reader::new(&Grammar { start: Some(start), ..self.grammar.clone() }).map(Rc::new)
    }

    /// Returns expressions for these bytes, the more general ones first.
    pub(crate) fn expressions(&self, lacks: &[&[u8]]) -> Vec<Expr> {
        let mut lacks: Vec<&[u8]> = lacks.iter().copied().filter(|bytes| !bytes.is_empty()).collect();
        lacks.sort_by_key(|bytes| (bytes.len(), *bytes));
        lacks.dedup();
        let step = lacks.len().div_ceil(MOST_LACKS).max(1);
        let lacks: Vec<&[u8]> = lacks.into_iter().step_by(step).collect();
        let Some(&shortest) = lacks.first() else { return Vec::new() };
        let mut found = Vec::new();
        for rule in 0..self.count() {
            let read = lacks.iter().filter(|bytes| self.reads(rule, bytes)).count();
            if LEAST_READ * read >= lacks.len() {
                found.push(reference(self.name(rule)));
            }
        }
        found.extend(runs(&lacks));
        for is_outermost in [true, false] {
            let cut: Vec<Vec<Piece>> = lacks
                .iter()
                .filter(|bytes| bytes.len() <= MOST_CUT)
                .map(|bytes| self.pieces(bytes, is_outermost))
                .collect();
            found.extend(self.list(&cut));
            found.extend(cut.iter().take(3).map(|pieces| self.joined(pieces)));
        }
        let words: Vec<Expr> = lacks.iter().filter(|bytes| is_word(bytes)).map(|bytes| literal(bytes)).collect();
        if words.len() == lacks.len() && (2..=MOST_LITERALS).contains(&words.len()) {
            found.push(choice(words));
        }
        if is_word(shortest) {
            found.push(literal(shortest));
        }
        distinct(found)
    }

    /// Returns the bytes as rules, where a rule reads a part of them that is not all, and literals between them. Longer
    /// parts come first; of the rules, the first one or the last one.
    fn pieces(&self, bytes: &[u8], is_outermost: bool) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        let ends: Vec<usize> = tokens(bytes).into_iter().map(|token| token.end).collect();
        let mut at = 0;
        while at < bytes.len() {
            let mut until = ends.iter().rev().filter(|&&end| end > at && (at > 0 || end < bytes.len()));
            let found = until.find_map(|&end| Some((end, self.rule_of(&bytes[at..end], is_outermost)?)));
            let (end, piece) = match found {
                Some((end, rule)) => (end, Piece::Rule(rule)),
                None => {
                    let end = ends.iter().copied().find(|&end| end > at).unwrap_or(bytes.len());
                    (end, Piece::Bytes(bytes[at..end].to_vec()))
                }
            };
            pieces.push(piece);
            at = end;
        }
        pieces
    }

    fn rule_of(&self, bytes: &[u8], is_outermost: bool) -> Option<usize> {
        let reads = |rule: &usize| self.reads(*rule, bytes);
        if is_outermost { (0..self.count()).find(reads) } else { (0..self.count()).rev().find(reads) }
    }

    fn expr(&self, piece: &Piece) -> Expr {
        match piece {
            Piece::Rule(rule) => reference(self.name(*rule)),
            Piece::Bytes(bytes) => literal(bytes),
        }
    }

    fn joined(&self, pieces: &[Piece]) -> Expr {
        let mut joined: Vec<Piece> = Vec::new();
        for piece in pieces {
            match (joined.last_mut(), piece) {
                (Some(Piece::Bytes(before)), Piece::Bytes(bytes)) => before.extend_from_slice(bytes),
                _ => joined.push(piece.clone()),
            }
        }
        seq(joined.iter().map(|piece| self.expr(piece)).collect())
    }

    /// Returns what all have at their beginnings and ends, and between these a list of one piece, perhaps with
    /// separators, that may be empty.
    fn list(&self, all: &[Vec<Piece>]) -> Option<Expr> {
        let first = all.first().filter(|_| all.len() > 1)?;
        let shortest = all.iter().map(Vec::len).min()?;
        let before = (0..shortest).take_while(|&at| all.iter().all(|one| one[at] == first[at])).count();
        let at_end = |one: &[Piece], at: usize| one[one.len() - 1 - at].clone();
        let after = (0..shortest - before).take_while(|&at| all.iter().all(|one| at_end(one, at) == at_end(first, at)));
        let after = after.count();
        let middles: Vec<&[Piece]> = all.iter().map(|one| &one[before..one.len() - after]).collect();
        let longest = middles.iter().max_by_key(|middle| middle.len())?;
        let item = longest.first()?;
        let separator = longest.get(1).filter(|separator| *separator != item);
        let is_list = |middle: &&[Piece]| {
            let step = 1 + usize::from(separator.is_some());
            let fits =
                |(at, piece): (usize, &Piece)| if at % step == 0 { piece == item } else { Some(piece) == separator };
            (middle.is_empty() || middle.len() % step == 1 % step) && middle.iter().enumerate().all(fits)
        };
        if !middles.iter().all(is_list) {
            return None;
        }
        let rest = match separator {
            Some(separator) => seq(vec![self.expr(separator), self.expr(item)]),
            None => self.expr(item),
        };
        let list = seq(vec![self.expr(item), repeat(rest, 0, None)]);
        let may_be_empty = middles.iter().any(|middle| middle.is_empty());
        let list = if may_be_empty { repeat(list, 0, Some(1)) } else { list };
        let mut items: Vec<Expr> = first[..before].iter().map(|piece| self.expr(piece)).collect();
        items.push(list);
        items.extend(first[first.len() - after..].iter().map(|piece| self.expr(piece)));
        Some(seq(items))
    }
}

/// Returns true if bytes may be a literal of a language. What has more words and groups of marks is a text of its own.
fn is_word(bytes: &[u8]) -> bool {
    bytes.len() <= MOST_CUT && groups(bytes) <= MOST_GROUPS
}

/// Returns the number of words and groups of marks.
pub(crate) fn groups(bytes: &[u8]) -> usize {
    let (mut groups, mut is_in_marks) = (0, false);
    for token in tokens(bytes) {
        let first = bytes[token.start];
        let is_mark = first.is_ascii_punctuation() && first != b'_';
        let goes_on = is_in_marks && is_mark;
        groups += usize::from(!goes_on && !first.is_ascii_whitespace());
        is_in_marks = is_mark;
    }
    groups
}

/// A part of what is lacking.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Rule(usize),
    Bytes(Vec<u8>),
}

/// Kinds of characters of which runs consist.
const KINDS: [&[(u32, u32)]; 5] = [
    &[(0x30, 0x39)],
    &[(0x61, 0x7A)],
    &[(0x41, 0x5A), (0x61, 0x7A)],
    &[(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)],
    &[(0x09, 0x0A), (0x0D, 0x0D), (0x20, 0x20)],
];

/// Runs of characters of one kind, if all are such runs and more than one character occurs.
fn runs(lacks: &[&[u8]]) -> Vec<Expr> {
    let kind = KINDS.iter().find(|ranges| {
        let contains = |byte: &u8| ranges.iter().any(|&(low, high)| (low..=high).contains(&u32::from(*byte)));
        lacks.iter().all(|bytes| bytes.iter().all(contains))
    });
    let Some(ranges) = kind.filter(|_| lacks.len() > 1) else { return Vec::new() };
    let one = class(CharSet::new(Unit::Char, ranges.iter().copied()));
    let are_single = lacks.iter().all(|bytes| bytes.len() == 1);
    let run = repeat(one.clone(), 1, None);
    if are_single { vec![one, run] } else { vec![run] }
}

/// Returns each once, in order.
fn distinct(exprs: Vec<Expr>) -> Vec<Expr> {
    let mut distinct: Vec<Expr> = Vec::new();
    for expr in exprs {
        if !distinct.iter().any(|known| known.is_same(&expr)) {
            distinct.push(expr);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refine::source::written;
    use crate::refine::testing::grammar;

    fn found(text: &str, lacks: &[&str]) -> Vec<String> {
        let grammar = grammar(text);
        let lacks: Vec<&[u8]> = lacks.iter().map(|text| text.as_bytes()).collect();
        Rules::new(&grammar, &[]).expressions(&lacks).iter().map(written).collect()
    }

    #[test]
    fn a_rule_that_takes_nearly_anything_is_known() {
        let grammar = grammar("line ::= sum '\\n'\nsum ::= [0-9]+ ('+' sum)*\ntext ::= [^\\n]*\n");
        let texts = [b"1+22+3\n4+5".to_vec(), b"6+7+8+9\n".to_vec()];
        let rules = Rules::new(&grammar, &texts);
        assert!(rules.is_lax(&seq(vec![literal(b"x"), reference("text")])) && !rules.is_lax(&reference("line")));
        let grammar =
            crate::refine::testing::grammar("text ::= (word | char)*\nword ::= [0-9a-zA-Z]+\nchar ::= [^-]\n");
        let texts = [b"<a b=\"1\">&lt;!-- x/y --></a>".to_vec()];
        let rules = Rules::new(&grammar, &texts);
        assert!(rules.is_lax(&reference("char")) && !rules.is_lax(&reference("word")));
    }

    #[test]
    fn bytes_become_rules_lists_and_literals() {
        let text = "value ::= number | 'true'\nnumber ::= [0-9]+\nstring ::= '\"' [a-z]* '\"'\n";
        assert_eq!(found(text, &["\"\"", "\"ab\"", "\"c\""])[0], "string");
        assert!(found(text, &["[]", "[1]", "[1,true]"]).contains(&"\"[\" (value (\",\" value)*)? \"]\"".to_string()));
        let some = found(text, &["(1)", "(23)"]);
        assert!(some.contains(&"\"(\" value \")\"".to_string()), "{some:?}");
        assert!(some.contains(&"\"(\" number \")\"".to_string()), "{some:?}");
        assert_eq!(found(text, &["null"]), ["\"null\""]);
        assert_eq!(found(text, &["ORDER BY"])[0], "\"ORDER BY\"");
        let text_of_its_own: Vec<String> = found(text, &["\"x\":A."]);
        assert!(!text_of_its_own.contains(&"\"\\\"x\\\":A.\"".to_string()), "{text_of_its_own:?}");
        assert_eq!(found(text, &["a", "bcd"])[0], "[a-z]+");
    }
}
