//! Tokens from examples: which other numbers, words and texts in quotation marks stand where one does.

use crate::expr::Expr;
use crate::set::{Others, Set};

/// Asks whether a token can stand in the places of another.
pub(crate) type Fits<'a> = dyn FnMut(&[u8]) -> bool + 'a;

/// A name for a rule, and its expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lexeme {
    pub name: &'static str,
    pub expr: Expr,
    /// Characters that the token can have in any order, if these are more than those of words.
    pub text: Option<Set>,
    /// The words without marks, if there are marks.
    pub simple: Option<Expr>,
}

fn all(fits: &mut Fits<'_>, texts: &[&str]) -> bool {
    texts.iter().all(|text| fits(text.as_bytes()))
}

fn digits(from: u8) -> Expr {
    Expr::Set(Set::of(from..=b'9'))
}

/// Returns the lexeme of numbers; `None` if no other number fits.
pub(crate) fn number(examples: &[&[u8]], fits: &mut Fits<'_>) -> Option<Lexeme> {
    if !all(fits, &["7", "3", "1"]) {
        return None;
    }
    let is_long = all(fits, &["42", "1789", "50361"]);
    // The greatest number of digits that fits.
    let most = if is_long { 1 } else { lengths(&["1", "9"], fits).1 };
    let (has_zero, has_zeros) = (all(fits, &["0"]), all(fits, &["007", "00"]));
    let without_zero = Expr::Seq(vec![digits(b'1'), digits(b'0').star()]);
    let whole = match (is_long, has_zero, has_zeros) {
        (true, true, true) => digits(b'0').plus(),
        (true, true, false) => Expr::Alt(vec![Expr::literal("0"), without_zero]),
        (true, false, _) => without_zero,
        (false, true, true) if most > 1 => Expr::Times(Box::new(digits(b'0')), 1, most),
        (false, true, _) if most > 1 => {
            let rest = Expr::Times(Box::new(digits(b'0')), 0, most - 1);
            Expr::Alt(vec![Expr::literal("0"), Expr::Seq(vec![digits(b'1'), rest])])
        }
        (false, false, _) if most > 1 => {
            Expr::Seq(vec![digits(b'1'), Expr::Times(Box::new(digits(b'0')), 0, most - 1)])
        }
        (false, true, _) => digits(b'0'),
        (false, false, _) => digits(b'1'),
    };
    let mut parts = vec![whole];
    let has_fraction = is_long && all(fits, &["1.5", "20.75"]);
    if has_fraction {
        let fraction = |whole: Vec<Expr>| Expr::Seq([whole, vec![Expr::literal("."), digits(b'0').plus()]].concat());
        parts.push(fraction(Vec::new()).optional());
        if all(fits, &[".5", ".75"]) {
            parts = vec![Expr::Alt(vec![Expr::Seq(parts), fraction(Vec::new())])];
        }
    }
    if is_long && all(fits, &["1e5", "2e17"]) && (!has_fraction || all(fits, &["1.5e3"])) {
        parts.push(exponent(fits).optional());
    }
    if let Some(sign) = sign(examples, fits) {
        parts.insert(0, sign.optional());
    }
    let name = match (has_fraction, is_long) {
        (true, _) => "number",
        (false, true) if parts.len() == 1 && has_zeros => "digits",
        (false, true) => "integer",
        (false, false) if most > 1 => "integer",
        (false, false) => "digit",
    };
    Some(Lexeme { name, expr: Expr::Seq(parts), simple: None, text: None })
}

/// The most digits of which each length is tried.
const LONGEST: u32 = 16;

/// Returns the least and the greatest length, up to one, of texts that consist of one of these digits and fit; 0 if
/// none does.
fn lengths(digits: &[&str], fits: &mut Fits<'_>) -> (u32, u32) {
    let mut fit = |len: u32| digits.iter().all(|digit| fits(digit.repeat(len as usize).as_bytes()));
    let Some(least) = (1..=LONGEST).find(|&len| fit(len)) else { return (0, 0) };
    (least, (least + 1..=LONGEST).take_while(|&len| fit(len)).last().unwrap_or(least))
}

/// Returns the lengths, as ranges, of texts that consist of one of these digits and fit.
fn all_lengths(digits: &[&str], fits: &mut Fits<'_>) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for len in 1..=LONGEST {
        if digits.iter().all(|digit| fits(digit.repeat(len as usize).as_bytes())) {
            match ranges.last_mut() {
                Some((_, most)) if *most + 1 == len => *most = len,
                _ => ranges.push((len, len)),
            }
        }
    }
    ranges
}

/// Returns the lexeme of hexadecimal numbers; `None` if other letters fit, too, or no letters do. They may have certain
/// lengths, such as 3 or 6.
pub(crate) fn hexadecimal_number(fits: &mut Fits<'_>) -> Option<Lexeme> {
    let ranges = all_lengths(&["a", "f", "9"], fits);
    let least = ranges.first()?.0;
    let is_other = |fits: &mut Fits<'_>| ["g", "q"].iter().any(|letter| fits(letter.repeat(least as usize).as_bytes()));
    if is_other(fits) {
        return None;
    }
    let has_capitals = ["A", "F"].iter().all(|letter| fits(letter.repeat(least as usize).as_bytes()));
    let set = Set::of(hexadecimal().ascii().filter(|byte| has_capitals || !byte.is_ascii_uppercase()));
    let digit = Expr::Set(set);
    let of_lengths = |(least, most): (u32, u32)| match (least, most) {
        (1, LONGEST) => digit.clone().plus(),
        (_, LONGEST) => Expr::Seq(vec![Expr::Times(Box::new(digit.clone()), least, least), digit.clone().star()]),
        (1, 1) => digit.clone(),
        _ => Expr::Times(Box::new(digit.clone()), least, most),
    };
    let mut parts: Vec<Expr> = ranges.iter().copied().map(of_lengths).collect();
    let expr = if parts.len() == 1 { parts.remove(0) } else { Expr::Alt(parts) };
    Some(Lexeme { name: "hexadecimal", expr, simple: None, text: None })
}

fn exponent(fits: &mut Fits<'_>) -> Expr {
    let letters = if all(fits, &["1E5", "2E17"]) { Set::of(*b"eE") } else { Set::of(*b"e") };
    let signs: Vec<u8> = b"+-".iter().copied().filter(|&sign| fits(&[b'1', b'e', sign, b'5'])).collect();
    let sign = if signs.is_empty() { Expr::empty() } else { Expr::Set(Set::of(signs)).optional() };
    Expr::Seq(vec![Expr::Set(letters), sign, digits(b'0').plus()])
}

/// Returns the sign of numbers, if an example has one.
fn sign(examples: &[&[u8]], fits: &mut Fits<'_>) -> Option<Expr> {
    let signs = b"+-".iter().copied().filter(|&sign| {
        let is_known = examples.iter().any(|example| example.first() == Some(&sign));
        is_known && fits(&[sign, b'7']) && fits(&[sign, b'4', b'2'])
    });
    let set = Set::of(signs);
    (!set.is_empty()).then_some(Expr::Set(set))
}

/// Returns the lexeme of words, or of texts of any characters; `None` if only some are known. `may_be_blank` says
/// whether blanks can be part of a text; if not, they stand between texts.
pub(crate) fn word(may_be_blank: bool, fits: &mut Fits<'_>) -> Option<Lexeme> {
    if !all(fits, &["q", "z", "qzx"]) {
        return if all(fits, &["q", "z"]) { letter(fits) } else { None };
    }
    let mut first = Set::of(b'a'..=b'z');
    if all(fits, &["Q", "Z", "QZJ", "qQ", "Zq"]) {
        first = first.union(Set::of(b'A'..=b'Z'));
    }
    let mut rest = first;
    if all(fits, &["q7", "zq42j"]) {
        rest = rest.union(Set::of(b'0'..=b'9'));
        if all(fits, &["7", "42", "7q", "4z2j"]) {
            first = first.union(Set::of(b'0'..=b'9'));
        }
    }
    first.others = Others::find(|text| all(fits, &[text, &format!("q{text}q")]));
    rest.others = first.others;
    let mut has_marks = false;
    let mut separates = separators(fits);
    for mark in (0x21..0x7F_u8).filter(u8::is_ascii_punctuation) {
        if separates(fits, mark) {
            continue;
        }
        let [starts, stays] = place_of(mark, fits);
        // What begins a comment can be followed by anything.
        if stays && fits(&[b'q', mark, b')']) && !fits(b"q)") {
            continue;
        }
        // Assignments and lists continue a word, but are not part of it.
        if stays && (starts || !b"=;,".contains(&mark)) {
            rest.insert(mark);
        }
        if starts {
            first.insert(mark);
            has_marks |= mark != b'_';
        }
    }
    if (may_be_blank || rest.has(b'(')) && place_of(b' ', fits) == [true, true] {
        first.insert(b' ');
        rest.insert(b' ');
    }
    Some(spelled(first, rest, has_marks, fits))
}

/// Tells what separates texts from what is part of them: only a separator can stand between texts in quotation marks.
fn separators(fits: &mut Fits<'_>) -> impl FnMut(&mut Fits<'_>, u8) -> bool + use<> {
    let is_known = fits(b"\"q\"") && !fits(b"\"q\"q\"q\"");
    move |fits, mark| is_known && fits(&[b'"', b'q', b'"', mark, b'"', b'q', b'"'])
}

/// Returns whether a mark can begin a word, and whether it can be within one.
fn place_of(mark: u8, fits: &mut Fits<'_>) -> [bool; 2] {
    let stays = fits(&[b'q', mark]) && fits(&[b'q', mark, b'q']) && fits(&[b'q', mark, mark, b'q']);
    let starts = stays && fits(&[mark]) && fits(&[mark, b'q']) && fits(&[mark, mark]);
    [starts, stays]
}

/// Returns the word with these characters.
fn spelled(first: Set, rest: Set, has_marks: bool, fits: &mut Fits<'_>) -> Lexeme {
    let is_free = first == rest;
    let is_escaped = !rest.has(b'%') && all(fits, &["q%2Fq", "%2f", "%A0"]) && !all(fits, &["q%q"]);
    let one = |set: Set| {
        let hex = Expr::Set(hexadecimal());
        let escape = Expr::Seq(vec![Expr::literal("%"), Expr::Times(Box::new(hex), 2, 2)]);
        if is_escaped { Expr::Alt(vec![Expr::Set(set), escape]) } else { Expr::Set(set) }
    };
    let expr = match is_free {
        true => one(rest).plus(),
        false => Expr::Seq(vec![one(first), one(rest).star()]),
    };
    let expr = if rest.has(b' ') && fits(b"") { expr.optional() } else { expr };
    let name = match (rest.has(b' '), has_marks, first.has(b'0')) {
        (true, ..) => "text",
        (false, true, _) => "symbol",
        (false, false, true) => "word",
        (false, false, false) => "identifier",
    };
    let mut text = first;
    if is_escaped {
        text.insert(b'%');
    }
    let simple = match first.of_words() == rest.of_words() {
        true => Expr::Set(first.of_words()).plus(),
        false => Expr::Seq(vec![Expr::Set(first.of_words()), Expr::Set(rest.of_words()).star()]),
    };
    Lexeme {
        name,
        expr,
        text: (has_marks || is_escaped || first.has(b' ')).then_some(text),
        simple: (rest.of_words() != rest).then_some(simple),
    }
}

/// Returns a single letter.
fn letter(fits: &mut Fits<'_>) -> Option<Lexeme> {
    let mut set = Set::of((b'a'..=b'z').filter(|&letter| fits(&[letter])));
    for letter in (b'A'..=b'Z').chain(b"_".iter().copied()).filter(|&letter| fits(&[letter])) {
        set.insert(letter);
    }
    (!set.is_empty()).then_some(Lexeme { name: "letter", expr: Expr::Set(set), simple: None, text: None })
}

fn hexadecimal() -> Set {
    Set::of((b'0'..=b'9').chain(b'A'..=b'F').chain(b'a'..=b'f'))
}

/// Returns the lexeme of texts in quotation marks; `None` if only some are known.
pub(crate) fn quoted(quote: u8, fits: &mut Fits<'_>) -> Option<Lexeme> {
    let mut holds = |content: &[u8]| fits(&[&[quote], content, &[quote]].concat());
    if !(holds(b"q") && holds(b"zq") && holds(b"qzjkv")) {
        return None;
    }
    let plain = plain(quote, &mut holds);
    let mut parts = vec![Expr::Set(plain)];
    if !plain.has(b'\\') {
        parts.extend(escapes(&mut holds));
    }
    // Where a blank can stand between the two, they are the end of one text and the beginning of another.
    let is_doubled = holds(&[b'q', quote, quote, b'q']) && !holds(&[b'q', quote, b' ', quote, b'q']);
    if is_doubled && !holds(&[b'q', quote, b'q']) {
        parts.push(Expr::literal([quote, quote]));
    }
    let content = Expr::Alt(parts);
    let content = if holds(b"") { content.star() } else { content.plus() };
    let mark = Expr::literal([quote]);
    Some(Lexeme { name: "string", expr: Expr::Seq(vec![mark.clone(), content, mark]), simple: None, text: None })
}

/// Returns the characters that stand for themselves.
fn plain(quote: u8, holds: &mut impl FnMut(&[u8]) -> bool) -> Set {
    let others = (0x20..0x80_u8).filter(|&byte| byte != quote && byte != b'\\').collect::<Vec<u8>>();
    let mut plain = Set::of(others.iter().copied());
    if !(holds(&others) && holds(b"q%q") && holds(b"q#{q")) {
        others.iter().filter(|&&byte| !holds(&[b'q', byte, b'q'])).for_each(|&byte| plain.remove(byte));
    }
    [b'\t', b'\n', b'\r'].into_iter().filter(|&byte| holds(&[b'q', byte, b'q'])).for_each(|byte| plain.insert(byte));
    // A backslash that stands for itself can stand before any character, and before the quotation mark.
    if holds(b"\\") && holds(b"q\\%q") && holds(b"\\\\\\") {
        plain.insert(b'\\');
    }
    plain.others = Others::find(|text| holds(text.as_bytes()));
    plain
}

/// Returns what a backslash can begin.
fn escapes(holds: &mut impl FnMut(&[u8]) -> bool) -> Vec<Expr> {
    let single = Set::of((0x21..0x7F_u8).filter(|&byte| holds(&[b'\\', byte]) && holds(&[b'q', b'\\', byte, b'q'])));
    let mut parts = Vec::new();
    if !single.is_empty() {
        parts.push(Expr::Seq(vec![Expr::literal("\\"), Expr::Set(single)]));
    }
    for (letter, len) in [(b'u', 4), (b'x', 2)] {
        let number = |digit: u8| [&[b'\\', letter][..], &vec![digit; len]].concat();
        if !single.has(letter) && holds(&number(b'3')) {
            let digit = if holds(&number(b'b')) { hexadecimal() } else { Set::of(b'0'..=b'9') };
            let digits = Expr::Times(Box::new(Expr::Set(digit)), len as u32, len as u32);
            parts.push(Expr::Seq(vec![Expr::literal([b'\\', letter]), digits]));
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(lexeme: Option<Lexeme>) -> (&'static str, Expr) {
        let lexeme = lexeme.expect("other tokens fit");
        (lexeme.name, lexeme.expr.resolved(&Default::default()))
    }

    #[test]
    fn numbers_may_not_begin_with_a_zero() {
        let mut fits = |text: &[u8]| text.iter().all(u8::is_ascii_digit) && (text == b"0" || text[0] != b'0');
        let (name, expr) = found(number(&[b"12"], &mut fits));
        assert_eq!(name, "integer");
        assert!(expr.matches(b"0") && expr.matches(b"10") && !expr.matches(b"01") && !expr.matches(b"-1"));
        assert_eq!(number(&[b"12"], &mut |text: &[u8]| text == b"12"), None);
    }

    #[test]
    fn numbers_have_as_many_digits_as_fit() {
        let mut fits = |text: &[u8]| (1..=4).contains(&text.len()) && text.iter().all(u8::is_ascii_hexdigit);
        let (name, expr) = found(hexadecimal_number(&mut fits));
        assert_eq!(name, "hexadecimal");
        assert!(expr.matches(b"7") && expr.matches(b"3aFc") && !expr.matches(b"2001a") && !expr.matches(b"g"));
        let mut fits = |text: &[u8]| (1..=3).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
        let (name, expr) = found(number(&[b"1"], &mut fits));
        assert_eq!(name, "integer");
        assert!(expr.matches(b"7") && expr.matches(b"042") && !expr.matches(b"1789"));
        assert_eq!(hexadecimal_number(&mut fits), None);
        assert_eq!(hexadecimal_number(&mut |text: &[u8]| text.iter().all(u8::is_ascii_alphanumeric)), None);
        let (_, expr) =
            found(hexadecimal_number(&mut |text: &[u8]| text.len() == 6 && text.iter().all(u8::is_ascii_hexdigit)));
        assert!(expr.matches(b"00fFee") && !expr.matches(b"00f") && !expr.matches(b"00fFee1"));
        let mut colour = |text: &[u8]| matches!(text.len(), 3 | 6) && text.iter().all(u8::is_ascii_hexdigit);
        let (_, expr) = found(hexadecimal_number(&mut colour));
        assert!(expr.matches(b"00f") && expr.matches(b"00fFee") && !expr.matches(b"00fF") && !expr.matches(b"00"));
    }

    #[test]
    fn numbers_have_the_parts_that_fit() {
        let mut fits = |text: &[u8]| std::str::from_utf8(text).unwrap().parse::<f64>().is_ok();
        let (name, expr) = found(number(&[b"-1"], &mut fits));
        assert_eq!(name, "number");
        for text in ["-1", "007", "1.5", ".5", "-2.5E-7", "1e9"] {
            assert!(expr.matches(text.as_bytes()), "{text}");
        }
        assert!(!expr.matches(b"1e") && !expr.matches(b"--1") && !expr.matches(b"."));
    }

    #[test]
    fn words_have_the_characters_that_fit() {
        let mut fits = |text: &[u8]| !text[0].is_ascii_digit() && text.iter().all(u8::is_ascii_alphanumeric);
        let (name, expr) = found(word(false, &mut fits));
        assert_eq!(name, "identifier");
        assert!(expr.matches(b"aB7") && !expr.matches(b"7a") && !expr.matches(b"a_"));
        assert_eq!(word(false, &mut |text: &[u8]| text == b"true"), None);
        let mut fits = |text: &[u8]| !text.contains(&b',') && !text.contains(&b'\n');
        let (name, expr) = found(word(true, &mut fits));
        assert_eq!(name, "text");
        assert!(expr.matches(b"") && expr.matches("a b: (1.5) é".as_bytes()) && !expr.matches(b"a,b"));
    }

    #[test]
    fn strings_have_the_escapes_that_fit() {
        let mut fits = |text: &[u8]| match &text[1..text.len() - 1] {
            [b'\\', escaped] | [b'q', b'\\', escaped, b'q'] => b"n\\".contains(escaped),
            inner => !inner.contains(&b'\\') && !inner.contains(&b'"') && !inner.contains(&b'\n'),
        };
        let (_, expr) = found(quoted(b'"', &mut fits));
        assert!(expr.matches(br#""a\nb\\ #%""#) && !expr.matches(br#""\t""#) && !expr.matches(br#"""""#));
    }
}
