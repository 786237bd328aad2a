//! Samples without the white space that they do not need, which stays known.

use std::collections::BTreeMap;

use crate::asked::Asked;
use crate::lex::{QUOTES, Token, TokenKind, join, tokens};

/// White space between two tokens that is not a token itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    /// White space that the sample has here.
    pub original: Vec<u8>,
    /// Whether it keeps two words apart, so that the text still has a blank here.
    pub is_joint: bool,
}

/// A sample with little white space.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lean {
    pub text: Vec<u8>,
    pub tokens: Vec<Token>,
    /// By the end of the token before it; 0 before all.
    pub gaps: BTreeMap<usize, Gap>,
    /// For tokens of white space that were shortened, by their beginning, what the sample has.
    pub originals: BTreeMap<usize, Vec<u8>>,
}

/// A word and a number that few texts have.
const FRESH: [&[u8]; 2] = [b"qzx", b"7"];

impl Lean {
    /// Returns the sample without the white space that it does not need. The oracle accepts the sample and the result.
    /// If blanks can be part of texts (`is_free`), all white space stays.
    pub fn new(sample: &[u8], quotes: &[u8], is_free: bool, asked: &mut Asked<'_>) -> Lean {
        if is_free {
            return Lean::of_text(sample, quotes, asked);
        }
        let tokens = tokens_of(sample, quotes, asked);
        let mut parts: Vec<Vec<u8>> = tokens.iter().map(|token| sample[token.span.clone()].to_vec()).collect();
        let blanks: Vec<usize> = (0..tokens.len()).filter(|&number| tokens[number].kind.is_blank()).collect();
        let wanted: Vec<Vec<u8>> = (0..tokens.len()).map(|number| wanted(&tokens, &parts, number)).collect();
        shorten(&mut parts, &blanks, &wanted, asked);
        for &number in &blanks {
            let one: &[u8] = if tokens[number].kind == TokenKind::Line { b"\n" } else { b" " };
            let is_left = parts[number] != wanted[number] && parts[number] != one;
            if is_left && asked.accepts(&with(&parts, number, one)) {
                parts[number] = one.to_vec();
            }
        }
        let mut lean = Lean::default();
        for (number, token) in tokens.iter().enumerate() {
            let original = &sample[token.span.clone()];
            let start = lean.text.len();
            lean.text.extend(&parts[number]);
            let is_joint = token.kind == TokenKind::Space && is_joint(&tokens, &parts, number, asked);
            if token.kind.is_blank() && (parts[number].is_empty() || is_joint) {
                lean.gaps.insert(start, Gap { original: original.to_vec(), is_joint });
                continue;
            }
            if parts[number] != original {
                lean.originals.insert(start, original.to_vec());
            }
            lean.tokens.push(Token { kind: token.kind, span: start..lean.text.len() });
        }
        lean
    }
}

/// Returns the marks that texts stand between: not `'` if what follows it is no text, as in Lisp.
pub(crate) fn quotes(samples: &[&[u8]], asked: &mut Asked<'_>) -> &'static [u8] {
    let is_text = |sample: &[u8], token: &Token, asked: &mut Asked<'_>| {
        // A text in quotation marks can have a bracket without a partner.
        let with = |part: &[u8]| [&sample[..token.span.start], part, &sample[token.span.end..]].concat();
        asked.accepts(&with(b"'('")) || asked.accepts(&with(b"')'"))
    };
    let are_texts = samples.iter().all(|sample| {
        let tokens = tokens(sample, QUOTES);
        tokens.iter().all(|token| token.kind != TokenKind::Quoted(b'\'') || is_text(sample, token, asked))
    });
    if are_texts { QUOTES } else { b"\"" }
}

/// Returns the tokens of a sample in which line ends are tokens without the blanks beside them.
fn lines(sample: &[u8], quotes: &[u8]) -> Vec<Token> {
    let mut all = Vec::new();
    for token in tokens(sample, quotes) {
        let mut start = token.span.start;
        let text = &sample[token.span.clone()];
        let ends = text.iter().enumerate().filter(|(_, byte)| token.kind == TokenKind::Line && **byte == b'\n');
        for (at, _) in ends {
            let end = token.span.start + at;
            let end_of_text = if end > start && sample[end - 1] == b'\r' { end - 1 } else { end };
            if end_of_text > start {
                all.push(Token { kind: TokenKind::Space, span: start..end_of_text });
            }
            all.push(Token { kind: TokenKind::Line, span: end_of_text..end + 1 });
            start = end + 1;
        }
        if start < token.span.end {
            let kind = if token.kind == TokenKind::Line { TokenKind::Space } else { token.kind };
            all.push(Token { kind, span: start..token.span.end });
        }
    }
    all
}

/// Returns the tokens of a sample. A sign that white space or brackets may follow is not part of a number.
pub(crate) fn tokens_of(sample: &[u8], quotes: &[u8], asked: &mut Asked<'_>) -> Vec<Token> {
    let mut all = Vec::new();
    for token in tokens(sample, quotes) {
        let Token { kind, span } = token.clone();
        let is_signed = kind == TokenKind::Number && !sample[span.start].is_ascii_digit();
        let after = span.start + 1;
        let digits = &sample[after..span.end];
        let others = [[b" ", digits].concat(), [b"(", digits, b")"].concat()];
        let mut others = others.iter().map(|part| [&sample[..after], part, &sample[span.end..]].concat());
        if is_signed && others.any(|text| asked.accepts(&text)) {
            all.push(Token { kind: TokenKind::Mark, span: span.start..after });
            all.push(Token { kind, span: after..span.end });
        } else {
            all.push(token);
        }
    }
    all
}

impl Lean {
    /// Returns a sample with all of its white space but for the end of the last line, if it is not needed.
    fn of_text(sample: &[u8], quotes: &[u8], asked: &mut Asked<'_>) -> Lean {
        let mut lean = Lean { text: sample.to_vec(), tokens: lines(sample, quotes), ..Lean::default() };
        if let [_, .., Token { kind: TokenKind::Line, span }] = lean.tokens.as_slice() {
            let start = span.start;
            if asked.accepts(&sample[..start]) {
                lean.tokens.pop();
                let original = lean.text.split_off(start);
                lean.gaps.insert(start, Gap { original, is_joint: false });
            }
        }
        lean
    }
}

/// Returns the least white space that may do in place of a token.
fn wanted(tokens: &[Token], parts: &[Vec<u8>], number: usize) -> Vec<u8> {
    if number == 0 || number + 1 == parts.len() {
        return Vec::new();
    }
    match tokens[number].kind {
        TokenKind::Line => b"\n".to_vec(),
        TokenKind::Space if join(&parts[number - 1], &parts[number + 1]) => b" ".to_vec(),
        _ => Vec::new(),
    }
}

/// Shortens as many blanks as possible: all at once, else in halves.
fn shorten(parts: &mut [Vec<u8>], blanks: &[usize], wanted: &[Vec<u8>], asked: &mut Asked<'_>) {
    if blanks.is_empty() {
        return;
    }
    let before: Vec<Vec<u8>> = blanks.iter().map(|&number| parts[number].clone()).collect();
    blanks.iter().for_each(|&number| parts[number].clone_from(&wanted[number]));
    if asked.accepts(&parts.concat()) {
        return;
    }
    blanks.iter().zip(before).for_each(|(&number, part)| parts[number] = part);
    if blanks.len() > 1 {
        let (first, second) = blanks.split_at(blanks.len() / 2);
        shorten(parts, first, wanted, asked);
        shorten(parts, second, wanted, asked);
    }
}

fn with(parts: &[Vec<u8>], number: usize, part: &[u8]) -> Vec<u8> {
    [&parts[..number].concat(), part, &parts[number + 1..].concat()].concat()
}

/// Returns true if a blank only keeps words apart. It is a token of its own if others can stand beside it, and it is
/// needed.
fn is_joint(tokens: &[Token], parts: &[Vec<u8>], number: usize, asked: &mut Asked<'_>) -> bool {
    if parts[number] != b" " || number == 0 || number + 1 == parts.len() {
        return false;
    }
    if !join(&parts[number - 1], &parts[number + 1]) {
        return false;
    }
    let is_open = |number: usize, asked: &mut Asked<'_>| {
        let fresh = FRESH[usize::from(tokens[number].kind == TokenKind::Number)];
        asked.accepts(&with(parts, number, fresh))
    };
    asked.accepts(&with(parts, number, b"")) || !(is_open(number - 1, asked) && is_open(number + 1, asked))
}
