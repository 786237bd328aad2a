//! Letters: kinds of tokens that the automata read. The oracle is asked for each token which others can stand there.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::asked::Asked;
use crate::lex::{Token, TokenKind, join};
use crate::without_blanks;

/// A kind of tokens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Letter {
    /// A token that no other can stand for.
    Literal(Vec<u8>),
    /// Tokens of a kind, with the answers about some texts in their places.
    Open(TokenKind, Vec<bool>),
    /// Text of any characters, by the marks around it.
    Text(Vec<u8>, Vec<u8>),
    /// The end of a line where blanks are not enough.
    Line,
    /// Brackets, with the number of their content.
    Group(usize),
}

impl Letter {
    /// Returns another text of the letter, by a number; `None` if none is known.
    pub fn other(&self, number: usize) -> Option<Vec<u8>> {
        let Letter::Open(kind, answers) = self else { return None };
        let end = char::from(b'a' + u8::try_from(number % 26).unwrap_or(0));
        match kind {
            TokenKind::Word if answers[0] => Some(format!("qz{end}").into_bytes()),
            TokenKind::Word if answers[1] => Some(format!("Qz{end}").into_bytes()),
            TokenKind::Number if answers[1] => Some(format!("{}", 31 + number).into_bytes()),
            TokenKind::Quoted(quote) => Some([&[*quote][..], format!("z{end}").as_bytes(), &[*quote]].concat()),
            TokenKind::Word
            | TokenKind::Number
            | TokenKind::Text
            | TokenKind::Mark
            | TokenKind::Space
            | TokenKind::Line => None,
        }
    }
}

/// A token of a sample.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub kind: TokenKind,
    pub span: Range<usize>,
    pub letter: usize,
}

/// A sample with as little white space as it needs, and its tokens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    pub text: Vec<u8>,
    pub cells: Vec<Cell>,
}

/// Letters with examples of their texts and places.
#[derive(Debug, Default)]
pub(crate) struct Letters {
    pub all: Vec<Letter>,
    pub examples: Vec<Vec<Vec<u8>>>,
    /// By letter, what stands before and after it in some samples.
    pub places: Vec<Vec<(Vec<u8>, Vec<u8>)>>,
    /// Examples that no sample has. They are for questions, and do not get into the grammar.
    invented: BTreeSet<(usize, Vec<u8>)>,
    /// Pairs of letters that a blank must keep apart.
    pub apart: BTreeSet<(usize, usize)>,
}

/// Examples and places of a letter that are kept.
const KEPT: usize = 6;

impl Letters {
    /// Returns the number of a letter, which may be new.
    pub fn number(&mut self, letter: Letter) -> usize {
        self.all.iter().position(|one| *one == letter).unwrap_or_else(|| {
            self.all.push(letter);
            self.examples.push(Vec::new());
            self.places.push(Vec::new());
            self.all.len() - 1
        })
    }

    /// Returns the examples of a letter that samples have.
    pub fn of_samples(&self, letter: usize) -> impl Iterator<Item = &[u8]> {
        let examples = self.examples[letter].iter().map(Vec::as_slice);
        examples.filter(move |text| !self.invented.contains(&(letter, text.to_vec())))
    }

    /// Adds an example of a letter that no sample has.
    fn invent(&mut self, letter: usize, text: &[u8]) {
        if !self.examples[letter].iter().any(|example| example == text) {
            self.examples[letter].push(text.to_vec());
            self.invented.insert((letter, text.to_vec()));
        }
    }

    /// Adds an example of a letter that a sample has, with what stands around it there.
    pub fn add(&mut self, letter: usize, text: &[u8], place: (&[u8], &[u8])) {
        self.invented.remove(&(letter, text.to_vec()));
        let is_new = !self.examples[letter].iter().any(|example| example == text);
        if is_new && self.of_samples(letter).count() < KEPT {
            self.examples[letter].push(text.to_vec());
        }
        let places = &mut self.places[letter];
        let place = (place.0.to_vec(), place.1.to_vec());
        if places.len() < KEPT && !places.contains(&place) {
            places.push(place);
        }
    }
}

/// Texts that are no syntax anywhere but where any text can stand.
const JUNK: [&[u8]; 3] = [b"(q", b"q)", b"[}=;q"];

/// Returns the tokens of a sample. Where any text can stand, it is one token.
fn tokens(sample: &[u8], quotes: &[u8], asked: &mut Asked<'_>) -> Vec<Token> {
    let tokens = without_blanks::tokens_of(sample, quotes, asked);
    let mut is_free = |at: usize| JUNK.iter().all(|junk| asked.accepts(&[&sample[..at], junk, &sample[at..]].concat()));
    let mut all: Vec<Token> = Vec::new();
    let mut free_from: Option<usize> = None;
    let mut held: Vec<Token> = Vec::new();
    let close = |from: usize, to: usize, held: &mut Vec<Token>, all: &mut Vec<Token>| {
        if to > from {
            all.push(Token { kind: TokenKind::Text, span: from..to });
        }
        held.clear();
    };
    for token in tokens {
        let starts_free = is_free(token.span.start);
        if let Some(from) = free_from.filter(|_| !starts_free) {
            // The boundary before is the last one that is free.
            let to = held.last().map_or(from, |last| last.span.end).min(token.span.start);
            close(from, to, &mut held, &mut all);
            free_from = None;
        }
        if starts_free && is_free(token.span.end) && is_inside(sample, &token, &mut is_free) {
            free_from = free_from.or(Some(token.span.start));
            held.push(token);
            continue;
        }
        if let Some(from) = free_from.take() {
            close(from, token.span.start, &mut held, &mut all);
        }
        all.push(token);
    }
    if let Some(from) = free_from {
        close(from, sample.len(), &mut held, &mut all);
    }
    glued(sample, all, asked)
}

/// Returns true if junk can stand within the token, too.
fn is_inside(sample: &[u8], token: &Token, is_free: &mut impl FnMut(usize) -> bool) -> bool {
    let Range { start, end } = token.span;
    (start + 1..end).all(|at| !is_boundary(sample, at) || is_free(at))
}

/// Returns true if no character is cut here.
fn is_boundary(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| byte & 0xC0 != 0x80)
}

/// Joins words with a mark between them that are one name, such as `line-length`.
fn glued(sample: &[u8], tokens: Vec<Token>, asked: &mut Asked<'_>) -> Vec<Token> {
    let is_word = |token: &Token| matches!(token.kind, TokenKind::Word | TokenKind::Number);
    let mut all: Vec<Token> = Vec::new();
    let mut rest = tokens.into_iter().peekable();
    while let Some(token) = rest.next() {
        let is_mark = token.kind == TokenKind::Mark
            && token.span.len() == 1
            && b"-.:/+~@$%!?*'&".contains(&sample[token.span.start]);
        let before =
            all.last().filter(|last| is_mark && last.kind == TokenKind::Word && last.span.end == token.span.start);
        let after = rest.peek().filter(|next| is_word(next) && next.span.start == token.span.end);
        if let (Some(before), Some(after)) = (before, after) {
            let span = before.span.start..after.span.end;
            let mark = &sample[token.span.clone()];
            let mut with = |parts: &[&[u8]]| {
                asked.accepts(&[&sample[..span.start], &parts.concat(), &sample[span.end..]].concat())
            };
            if with(&[b"qzx"])
                && with(&[b"q", mark, mark, b"zx"])
                && with(&[b"qj", mark, b"zx"])
                && !with(&[b"qj ", mark, b" zx"])
            {
                all.pop();
                all.push(Token { kind: TokenKind::Word, span });
                rest.next();
                continue;
            }
        }
        all.push(token);
    }
    all
}

/// Returns a sample with little white space. The oracle accepts it.
pub(crate) fn reading(sample: &[u8], quotes: &[u8], asked: &mut Asked<'_>) -> Reading {
    let tokens = tokens(sample, quotes, asked);
    let mut parts: Vec<Vec<u8>> = tokens.iter().map(|token| sample[token.span.clone()].to_vec()).collect();
    for (number, token) in tokens.iter().enumerate() {
        if !token.kind.is_blank() {
            continue;
        }
        let is_edge = number == 0 || number + 1 == tokens.len();
        let joins = !is_edge && join(&parts[number - 1], &parts[number + 1]);
        let choices: &[&[u8]] = if joins { &[b" ", b"\n"] } else { &[b"", b" ", b"\n"] };
        for choice in choices {
            let text = [&parts[..number].concat(), *choice, &parts[number + 1..].concat()].concat();
            if parts[number] == *choice || asked.accepts(&text) {
                parts[number] = choice.to_vec();
                break;
            }
        }
    }
    let mut reading = Reading::default();
    for (token, part) in tokens.iter().zip(&parts) {
        let start = reading.text.len();
        reading.text.extend(part);
        let kind = if token.kind.is_blank() {
            if part.is_empty() || part == b" " && start > 0 && start + 1 < sample.len() {
                continue;
            }
            TokenKind::Line
        } else {
            token.kind
        };
        reading.cells.push(Cell { kind, span: start..reading.text.len(), letter: 0 });
    }
    reading
}

/// Texts that are tried in the places of tokens.
const WORDS: [&[u8]; 5] = [b"qzx", b"Qzx", b"q7", b"q_zx", b"7q"];
const NUMBERS: [&[u8]; 7] = [b"7", b"42", b"0", b"007", b"1.5", b"-7", b"1e5"];
const QUOTED: [&[u8]; 5] = [b"q", b"zq", b"q q", b"", b"q)("];

/// Gives each token of the samples a letter.
pub(crate) fn find(readings: &mut [Reading], letters: &mut Letters, asked: &mut Asked<'_>) {
    let mut known: BTreeMap<[Vec<u8>; 3], (Letter, u32)> = BTreeMap::new();
    for reading in readings.iter_mut() {
        for at in 0..reading.cells.len() {
            let near = |at: Option<usize>| {
                at.and_then(|at| reading.cells.get(at))
                    .map_or(Vec::new(), |cell| reading.text[cell.span.clone()].to_vec())
            };
            let key = [near(at.checked_sub(1)), near(Some(at)), near(Some(at + 1))];
            let letter = match known.get(&key) {
                Some((letter, 2)) => letter.clone(),
                _ => {
                    let found = letter(reading, at, asked);
                    let count =
                        known.get(&key).filter(|(before, _)| *before == found).map_or(1, |(_, count)| count + 1);
                    known.insert(key, (found.clone(), count));
                    found
                }
            };
            let span = reading.cells[at].span.clone();
            let number = letters.number(letter);
            let place = (&reading.text[..span.start], &reading.text[span.end..]);
            letters.add(number, &reading.text[span.clone()], place);
            // A place of a text takes this, too, and no other place does.
            let is_text = reading.cells[at].kind == TokenKind::Text;
            if is_text && asked.accepts(&[place.0, &JUNK.concat(), place.1].concat()) {
                letters.invent(number, &JUNK.concat());
            }
            reading.cells[at].letter = number;
        }
        for pair in reading.cells.windows(2) {
            if pair[0].span.end < pair[1].span.start {
                letters.apart.insert((pair[0].letter, pair[1].letter));
            }
        }
    }
}

fn letter(reading: &Reading, at: usize, asked: &mut Asked<'_>) -> Letter {
    let cell = &reading.cells[at];
    let text = &reading.text[cell.span.clone()];
    let literal = || Letter::Literal(text.to_vec());
    let mut fits =
        |part: &[u8]| asked.accepts(&[&reading.text[..cell.span.start], part, &reading.text[cell.span.end..]].concat());
    match cell.kind {
        TokenKind::Line | TokenKind::Space => {
            if text.contains(&b'\n') {
                Letter::Line
            } else {
                literal()
            }
        }
        TokenKind::Mark => literal(),
        TokenKind::Text => {
            let side = |at: Option<usize>| {
                at.and_then(|at| reading.cells.get(at)).map_or(Vec::new(), |cell| match cell.kind {
                    TokenKind::Mark | TokenKind::Line => reading.text[cell.span.clone()].to_vec(),
                    _ => b"a".to_vec(),
                })
            };
            Letter::Text(side(at.checked_sub(1)), side(Some(at + 1)))
        }
        TokenKind::Word => {
            if !(fits(b"qzx") && fits(b"jvqk") || fits(b"Qzx") && fits(b"Jvqk") || fits(b"q") && fits(b"z")) {
                return literal();
            }
            let mut answers: Vec<bool> = WORDS.iter().map(|word| fits(word)).collect();
            answers.push(fits(b"q-zx") && !fits(b"q - zx"));
            Letter::Open(cell.kind, answers)
        }
        TokenKind::Number => {
            if !(fits(b"7") && fits(b"3") && fits(b"8")) {
                return literal();
            }
            Letter::Open(cell.kind, NUMBERS.iter().map(|word| fits(word)).collect())
        }
        TokenKind::Quoted(quote) => {
            let mut holds = |part: &[u8]| fits(&[&[quote], part, &[quote]].concat());
            if !(holds(b"q") && holds(b"zq")) {
                return literal();
            }
            Letter::Open(cell.kind, QUOTED.iter().map(|word| holds(word)).collect())
        }
    }
}
