//! Texts that were cut into several tokens by their look, but are one: `3 o'clock` in a table, a path in an address.

use std::ops::Range;

use crate::asked::Asked;
use crate::lex::{Token, TokenKind};
use crate::lexical::{self, Lexeme};
use crate::places::Classes;
use crate::probes::FRESH;
use crate::set::Set;
use crate::tree::Forest;
use crate::without_blanks::Lean;

/// Texts that stand in the places of a class.
pub(crate) struct Texts {
    /// Their characters.
    pub set: Set,
    class: usize,
}

/// Returns the texts of all classes of words that have other characters than words.
pub(crate) fn texts(forest: &Forest, classes: &Classes, asked: &mut Asked<'_>) -> Vec<Texts> {
    let mut found: Vec<Texts> = Vec::new();
    for class in 0..classes.classes.len() {
        if !classes.is_open(class) {
            continue;
        }
        if let Some(Lexeme { text: Some(set), .. }) = word(forest, classes, class, asked) {
            found.push(Texts { set, class });
        }
    }
    found
}

/// Returns what words stand in the places of a class.
pub(crate) fn word(forest: &Forest, classes: &Classes, class: usize, asked: &mut Asked<'_>) -> Option<Lexeme> {
    let may_be_blank = !classes.takes_groups(forest, class);
    lexical::word(may_be_blank, &mut |text| fits(forest, classes, class, text, asked))
}

/// Places of a class in which tokens are tried.
const PLACES: usize = 8;

/// Returns true if a token can stand in the places of a class.
pub(crate) fn fits(forest: &Forest, classes: &Classes, class: usize, text: &[u8], asked: &mut Asked<'_>) -> bool {
    let mut places = classes.classes[class].places.iter().take(PLACES);
    places.all(|(sample, span)| asked.accepts(&forest.with(*sample, span, text)))
}

/// Makes one token of neighbours that are one text.
pub(crate) struct Absorber<'a, 'o> {
    pub forest: &'a Forest,
    pub classes: &'a Classes,
    pub texts: &'a [Texts],
    pub asked: &'a mut Asked<'o>,
}

/// Ends of a text that are tried.
const ENDS: usize = 8;

impl Absorber<'_, '_> {
    /// Makes tokens of a sample one. Returns true if there are any.
    pub fn absorb(&mut self, lean: &mut Lean) -> bool {
        let mut is_changed = false;
        for at in 0.. {
            if at >= lean.tokens.len() {
                break;
            }
            if let Some(end) = self.end(lean, at) {
                let span = lean.tokens[at].span.start..lean.tokens[end - 1].span.end;
                lean.gaps.retain(|&place, _| place <= span.start || place >= span.end);
                lean.tokens.splice(at..end, [Token { kind: TokenKind::Word, span }]);
                is_changed = true;
            }
        }
        is_changed
    }

    /// Returns the end of the longest text that begins with this token, if it is not a word already.
    fn end(&mut self, lean: &Lean, at: usize) -> Option<usize> {
        let runs: Vec<(usize, usize)> =
            self.texts.iter().map(|texts| (run(lean, at, &texts.set), texts.class)).collect();
        // A text that could begin with the word before the mark would begin there.
        let follows_word = at > 0 && matches!(lean.tokens[at - 1].kind, TokenKind::Word | TokenKind::Number);
        if lean.tokens[at].kind == TokenKind::Mark
            && follows_word
            && !lean.gaps.contains_key(&lean.tokens[at - 1].span.end)
        {
            return None;
        }
        let longest = runs.iter().map(|run| run.0).max()?;
        let start = lean.tokens[at].span.start;
        let mut end = longest;
        for _ in 0..ENDS {
            if end <= at + usize::from(lean.tokens[at].kind == TokenKind::Word) {
                return None;
            }
            let span = start..lean.tokens[end - 1].span.end;
            if let Some(separator) = separator(lean, &span, self.asked) {
                end = lean.tokens.partition_point(|token| token.span.start < separator);
                continue;
            }
            let mut classes = runs.iter().filter(|run| run.0 >= end).map(|run| run.1);
            if is_text(lean, &span, self.asked) && classes.any(|class| self.is_mutual(lean, span.clone(), class)) {
                return Some(end);
            }
            end -= 1;
        }
        None
    }

    /// Returns true if the text can stand where those of a class do, and those in its place.
    fn is_mutual(&mut self, lean: &Lean, span: Range<usize>, class: usize) -> bool {
        let class = &self.classes.classes[class];
        let text = &lean.text[span.clone()];
        let here = class.members.iter().take(PLACES).map(|&member| with(lean, &span, self.forest.text(member)));
        let there = class.places.iter().map(|(sample, place)| self.forest.with(*sample, place, text));
        self.asked.accepts_all(here.chain(there))
    }
}

fn with(lean: &Lean, span: &Range<usize>, part: &[u8]) -> Vec<u8> {
    [&lean.text[..span.start], part, &lean.text[span.end..]].concat()
}

/// Returns the end of the tokens from this one on that have only such characters, white space between them included.
fn run(lean: &Lean, at: usize, set: &Set) -> usize {
    let has_all = |end: usize| {
        let is_line = lean.tokens[end].kind == TokenKind::Line;
        let span = &lean.tokens[end].span;
        let original = lean.originals.get(&span.start);
        !is_line && set.has_all(&lean.text[span.clone()]) && original.is_none_or(|original| set.has_all(original))
    };
    let is_joined = |end: usize| {
        end == at || {
            let gap = lean.gaps.get(&lean.tokens[end - 1].span.end);
            gap.is_none_or(|gap| set.has_all(&gap.original))
        }
    };
    (at..lean.tokens.len()).find(|&end| !(has_all(end) && is_joined(end))).unwrap_or(lean.tokens.len())
}

/// Returns true if a word can stand here.
fn is_text(lean: &Lean, span: &Range<usize>, asked: &mut Asked<'_>) -> bool {
    asked.accepts(&with(lean, span, FRESH)) && asked.accepts(&with(lean, span, b"q"))
}

/// Returns the first mark that separates texts: it can follow a text in quotation marks, where a letter cannot.
fn separator(lean: &Lean, span: &Range<usize>, asked: &mut Asked<'_>) -> Option<usize> {
    let mut marks = span.clone().skip(1).filter(|&at| lean.text[at].is_ascii_punctuation());
    marks.find(|&at| {
        asked.accepts(&with(lean, &(span.start..at), b"\"q\""))
            && !asked.accepts(&with(lean, &(span.start..at + 1), b"\"q\"q"))
    })
}
