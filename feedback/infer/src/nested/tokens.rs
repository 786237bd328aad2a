//! Expressions for letters: which texts a token can have.

use crate::asked::Asked;
use crate::expr::{Expr, Undone};
use crate::lex::TokenKind;
use crate::lexical;
use crate::nested::letters::{Letter, Letters};
use crate::set::{Others, Set};

/// Returns a name and an expression for a letter; `None` for brackets.
pub(crate) fn expression(letters: &Letters, number: usize, asked: &mut Asked<'_>) -> Option<(&'static str, Expr)> {
    let examples: Vec<&[u8]> = letters.of_samples(number).collect();
    let places = &letters.places[number];
    let mut fits = |text: &[u8]| {
        !places.is_empty()
            && places.iter().all(|(before, after)| asked.accepts(&[&before[..], text, &after[..]].concat()))
    };
    let found = match &letters.all[number] {
        Letter::Literal(text) => return Some(("mark", Expr::literal(text))),
        Letter::Group(_) => return None,
        Letter::Line => {
            let line = Expr::literal("\n");
            let expr = if fits(b"\r\n") { Expr::Seq(vec![Expr::literal("\r").optional(), line]) } else { line };
            Some(("line_end", expr))
        }
        Letter::Text(..) => text(&mut fits).map(|expr| ("text", expr)),
        Letter::Open(TokenKind::Number, _) => lexical::number(&examples, &mut fits).map(|one| (one.name, one.expr)),
        Letter::Open(TokenKind::Quoted(quote), _) => lexical::quoted(*quote, &mut fits).map(|one| (one.name, one.expr)),
        Letter::Open(..) => word(&mut fits),
    };
    let plain = Expr::Alt(examples.iter().map(Expr::literal).collect());
    let Some((name, expr)) = found else { return Some(("keyword", plain)) };
    let resolved = expr.resolved(&Undone::new());
    let missed = examples.iter().filter(|text| !resolved.matches(text)).map(Expr::literal);
    let general = Expr::Alt(std::iter::once(resolved.clone()).chain(missed).collect());
    Some((name, Expr::general(format!("token {number}"), general, plain)))
}

/// Returns the characters of a text, as far as any of them can stand beside any other.
fn text(fits: &mut dyn FnMut(&[u8]) -> bool) -> Option<Expr> {
    let alone = |byte: u8, fits: &mut dyn FnMut(&[u8]) -> bool| fits(&[byte]) && fits(&[b'q', byte, byte, b'7']);
    let mut set = Set::of((0x20..0x7F_u8).filter(|&byte| alone(byte, fits)));
    [b'\t', b'\n'].into_iter().filter(|&byte| alone(byte, fits)).for_each(|byte| set.insert(byte));
    let members: Vec<u8> = set.ascii().collect();
    for &byte in members.iter().filter(|byte| !byte.is_ascii_alphanumeric()) {
        let others = members.iter().filter(|&&other| other != byte && set.has(other));
        let mixed: Vec<u8> = others.rev().flat_map(|&other| [other, byte]).collect();
        if !fits(&mixed) {
            // Without it, do the others mix?
            set.remove(byte);
        }
    }
    if !set.has_ascii() {
        return None;
    }
    set.others = Others::find(|text| fits(text.as_bytes()));
    if set.is_empty() {
        return None;
    }
    let all = Expr::Set(set);
    Some(if fits(b"") { all.star() } else { all.plus() })
}

/// Returns the expression of words: which characters can begin them, be within them and end them.
pub(crate) fn word(fits: &mut dyn FnMut(&[u8]) -> bool) -> Option<(&'static str, Expr)> {
    let mut all = |texts: &[&str]| texts.iter().all(|text| fits(text.as_bytes()));
    let (has_lower, has_upper) =
        (all(&["q", "z", "qzx", "zj"]), all(&["Q", "Z", "Qzx", "Zj"]) || all(&["Q", "Z", "QZJ"]));
    if !has_lower && !has_upper {
        let letters = (b'a'..=b'z').chain(b'A'..=b'Z').filter(|&byte| fits(&[byte]));
        let set = Set::of(letters);
        return (!set.is_empty()).then_some(("letter", Expr::Set(set)));
    }
    let start: &str = if has_lower { "q" } else { "Q" };
    let mut follows = |texts: &[&str]| texts.iter().all(|text| fits(format!("{start}{text}").as_bytes()));
    let mut rest = Set::default();
    let ranges: [(&[&str], std::ops::RangeInclusive<u8>); 3] =
        [(&["zx", "jv"], b'a'..=b'z'), (&["ZX", "Jv", "Z"], b'A'..=b'Z'), (&["7", "42", "0z", "7z3"], b'0'..=b'9')];
    for (texts, range) in ranges {
        let lower_only: Vec<&str> = texts.iter().copied().filter(|text| has_lower || !text.contains('v')).collect();
        if follows(&lower_only) {
            range.for_each(|byte| rest.insert(byte));
        }
    }
    let mut inner = rest;
    for mark in (0x21..0x7F_u8).filter(u8::is_ascii_punctuation) {
        let mark_text = char::from(mark).to_string();
        let within = [format!("{mark_text}z"), format!("{mark_text}{mark_text}z"), format!("z{mark_text}7")];
        let is_within = within.iter().all(|text| follows(&[text.as_str()]));
        let is_apart = follows(&[format!(" {mark_text} z").as_str()]) && mark != b'_';
        if !is_within || is_apart {
            continue;
        }
        inner.insert(mark);
        if follows(&[mark_text.as_str(), format!("{mark_text}{mark_text}").as_str()]) {
            rest.insert(mark);
        }
    }
    let mut first = Set::of((b'a'..=b'z').filter(|_| has_lower).chain((b'A'..=b'Z').filter(|_| has_upper)));
    let mut all = |texts: &[&str]| texts.iter().all(|text| fits(text.as_bytes()));
    if rest.has(b'0') && all(&["7", "42", "7q", "4z2j"]) {
        (b'0'..=b'9').for_each(|byte| first.insert(byte));
    }
    for mark in inner.ascii().filter(u8::is_ascii_punctuation) {
        let mark_text = char::from(mark).to_string();
        if all(&[&mark_text, &format!("{mark_text}q"), &format!("{mark_text}{mark_text}")]) {
            first.insert(mark);
        }
    }
    let others = Others::find(|text| all(&[text, &format!("q{text}q")]));
    for set in [&mut first, &mut rest, &mut inner] {
        set.others = others;
    }
    let expr = if inner == rest {
        if first == rest { Expr::Set(first).plus() } else { Expr::Seq(vec![Expr::Set(first), Expr::Set(rest).star()]) }
    } else {
        let tail = Expr::Seq(vec![Expr::Set(inner).star(), Expr::Set(rest)]);
        Expr::Seq(vec![Expr::Set(first), tail.optional()])
    };
    let is_number = first.has(b'0');
    Some((
        if is_number {
            "word"
        } else if first.ascii().any(|byte| byte.is_ascii_punctuation() && byte != b'_') {
            "symbol"
        } else {
            "identifier"
        },
        expr,
    ))
}
