//! Words that a predicate excludes in front of names, as in `!keyword name`, and the names that are left.

use super::edges::{Edges, bits, set};
use super::tree::{Kind, Peg};
use crate::ast::{Expr, Weight};
use crate::charset::{CharSet, Unit};
use crate::diagnostics::Span;
use crate::formats::boundaries::{Chars as Bits, chars};
use crate::formats::builder::{Builder, Choosable, Part, Reported};
use crate::formats::packrat::chars::Chars;
use crate::formats::pattern;
use crate::ordered::Map;

/// The depth to which rules are followed.
const MAX_DEPTH: u32 = 16;
/// The greatest number of words of a predicate.
const MAX_WORDS: usize = 1 << 10;
/// Words are compared up to this length.
const MAX_LENGTH: usize = 32;

/// A word.
#[derive(Clone)]
pub(super) struct Word {
    text: Vec<char>,
    free: bool,
    /// The characters behind which the word is none.
    ends: Bits,
}

/// The conditions of predicates on what follows.
#[derive(Default)]
pub(super) struct Guard {
    /// The characters that must not come first.
    pub(super) hard: Bits,
    /// The characters that begin a longer text which must not come first.
    pub(super) soft: Bits,
    pub(super) words: Vec<Word>,
    /// Whether more is asked for than a first character.
    pub(super) is_loose: bool,
}

impl Guard {
    /// Adds the condition of a predicate.
    pub(super) fn add<'r>(&mut self, predicate: &'r Peg, edges: &mut Edges<'r>) {
        if let Kind::Not(inside) = &predicate.kind {
            self.exclude(inside, MAX_DEPTH, edges);
        } else if let Kind::And(inside) = &predicate.kind {
            let refused = edges.refused(inside);
            match edges.certain(inside) == !refused {
                true => self.hard |= refused,
                false => {
                    self.soft |= refused;
                    self.is_loose = true;
                }
            }
        }
    }

    /// Adds what `!inside` excludes.
    fn exclude<'r>(&mut self, inside: &'r Peg, depth: u32, edges: &mut Edges<'r>) {
        let excluded = edges.excluded(inside);
        if edges.certain(inside) & excluded == excluded {
            self.hard |= excluded;
            return;
        }
        if depth > 0 && self.words.len() < MAX_WORDS && edges.spend() {
            if let Kind::Choice(parts) = &inside.kind {
                parts.iter().for_each(|part| self.exclude(part, depth - 1, edges));
                return;
            }
            if let Kind::Name(name) = &inside.kind
                && let Some(body) = edges.body(name)
            {
                self.exclude(body, depth - 1, edges);
                return;
            }
            if let Some(word) = word(inside, edges) {
                self.words.push(word);
                return;
            }
        }
        self.soft |= excluded;
    }

    /// Returns the first characters of the words.
    pub(super) fn beginnings(&self) -> Bits {
        self.words.iter().fold(0, |all, word| all | word.text.first().map_or(0, |&c| bits(c, word.free)))
    }
}

/// Returns the word with which all texts of an expression begin.
fn word<'r>(peg: &'r Peg, edges: &mut Edges<'r>) -> Option<Word> {
    let (first, rest) = peg.parts().split_first()?;
    let (text, free) = match edges.literal(first, MAX_DEPTH) {
        Some(literal) => (literal.text, literal.free),
        None => return None,
    };
    let ends = match rest {
        [Peg { kind: Kind::Not(inside), .. }] => edges.excluded(inside),
        _ => 0,
    };
    let whole: Vec<char> = text.chars().collect();
    let is_cut = whole.len() > MAX_LENGTH;
    let text = whole.into_iter().take(MAX_LENGTH).collect();
    Some(Word { text, free, ends: if is_cut { 0 } else { ends } })
}

/// A name: the characters at its beginning, and those after it. Without the latter, a single character.
pub(super) struct Shape {
    pub(super) head: CharSet,
    pub(super) tail: Option<CharSet>,
}

/// Returns the shape of an expression. Parts of it that are no single characters are left out.
pub(super) fn shape<'r>(peg: &'r Peg, chars: &mut Chars<'r>, edges: &Edges<'r>, depth: u32) -> Option<Shape> {
    match &peg.kind {
        Kind::Name(name) if depth > 0 => match single(peg, chars, edges, depth) {
            Some(head) if chars.class(peg).is_some() => Some(Shape { head, tail: None }),
            _ => shape(edges.body(name)?, chars, edges, depth - 1),
        },
        Kind::Repeat(item, 1, None) => {
            let head = single(item, chars, edges, depth)?;
            Some(Shape { tail: Some(head.clone()), head })
        }
        Kind::Seq(parts) => match parts.as_slice() {
            [first, Peg { kind: Kind::Repeat(item, 0, None), .. }] => {
                let (head, tail) = (single(first, chars, edges, depth)?, single(item, chars, edges, depth)?);
                Some(Shape { head, tail: Some(tail) })
            }
            [only] => shape(only, chars, edges, depth),
            _ => None,
        },
        Kind::Text(..) | Kind::Range(..) | Kind::Class(_) | Kind::Choice(_) => {
            chars.class(peg).map(|head| Shape { head, tail: None })
        }
        Kind::Name(_) | Kind::Repeat(..) | Kind::Not(_) | Kind::And(_) | Kind::Push(_) | Kind::Pushed => None,
    }
}

/// Returns the single characters among the texts of an expression.
fn single<'r>(peg: &'r Peg, chars: &mut Chars<'r>, edges: &Edges<'r>, depth: u32) -> Option<CharSet> {
    if let Some(set) = chars.class(peg) {
        return Some(set);
    }
    if depth == 0 {
        return None;
    }
    if let Kind::Choice(parts) = &peg.kind {
        let sets = parts.iter().filter_map(|part| single(part, chars, edges, depth - 1));
        return sets.reduce(|all, set| all.union(&set));
    }
    if let Kind::Name(name) = &peg.kind {
        return single(edges.body(name)?, chars, edges, depth - 1);
    }
    None
}

/// Returns the ASCII members of a class, or all if it has none: a class stands at many places among the names.
fn short(class: &CharSet, last: char) -> CharSet {
    let ascii = pattern::readable_up_to(last, class).intersection(&CharSet::new(Unit::Char, [(0, 0x7F)]));
    if ascii.is_empty() { class.clone() } else { ascii }
}

/// Writes the names of a shape that are no words.
pub(super) struct Names<'b, 'd> {
    pub(super) shape: Shape,
    pub(super) span: Span,
    /// The greatest character of a class of all others.
    pub(super) last: char,
    pub(super) builder: &'b mut Builder<'d>,
}

impl Names<'_, '_> {
    /// Returns the names that begin with none of the characters of `before`, and the characters that must not follow
    /// them. `None` if there are none.
    pub(super) fn without(&mut self, words: &[Word], before: Bits) -> Result<Option<(Part, Bits)>, Reported> {
        let head = short(&self.shape.head, self.last).difference(&set(before));
        self.shape.tail = self.shape.tail.as_ref().map(|tail| short(tail, self.last));
        let mut after = self.shape.tail.as_ref().map_or(0, chars);
        for word in words {
            let (text, free) = (&word.text, word.free);
            after |= text.iter().skip(1).fold(0, |all, &c| all | bits(c, free));
        }
        let words: Vec<&Word> = words.iter().collect();
        Ok(self.from(&words, 0, &head, false)?.map(|part| (part, after)))
    }

    /// Returns what follows the first `at` characters of these words, and begins with a character of `class`, or also
    /// nothing.
    fn from(&mut self, words: &[&Word], at: usize, class: &CharSet, may_end: bool) -> Result<Option<Part>, Reported> {
        // A word of free case makes all words so: more is excluded than need be, not less.
        let free = words.iter().any(|word| word.free);
        let mut by_next: Map<char, Vec<&Word>> = Map::new();
        for word in words.iter().filter(|word| word.text.len() > at) {
            let c = word.text[at];
            by_next.entry(if free { c.to_ascii_lowercase() } else { c }).or_default().push(word);
        }
        let cases = |c: char| if free { [c, c.to_ascii_uppercase()] } else { [c, c] };
        let set = |c: char| CharSet::new(Unit::Char, cases(c).map(|c| (u32::from(c), u32::from(c))));
        let next = by_next.keys().fold(CharSet::empty(Unit::Char), |next, &c| next.union(&set(c)));
        let others = class.difference(&next);
        let mut options: Vec<Choosable> = Vec::new();
        if may_end {
            options.push((self.builder.seq(Vec::new(), self.span)?, self.weight(1)));
        }
        if !others.is_empty() {
            let weight = self.weight(others.len());
            let parts = vec![self.builder.class(others, self.span)?];
            options.push((self.with_tail(parts)?, weight));
        }
        for (c, words) in by_next {
            let first = class.intersection(&set(c));
            if first.is_empty() {
                continue;
            }
            let weight = self.weight(first.len());
            if let Some(behind) = self.behind(&words, at + 1)? {
                let mut parts = vec![match first.len() {
                    1 => self.builder.bytes(c.to_string(), self.span)?,
                    _ => self.builder.class(first, self.span)?,
                }];
                if !behind.expr.as_seq().is_some_and(<[Expr]>::is_empty) {
                    parts.push(behind);
                }
                options.push((self.builder.seq(parts, self.span)?, weight));
            }
        }
        if let [(_, weight)] = options.as_mut_slice() {
            *weight = None;
        }
        if options.is_empty() { Ok(None) } else { self.builder.choice(options, self.span).map(Some) }
    }

    fn weight(&self, count: u32) -> Option<Weight> {
        Some(Weight { value: f64::from(count), span: self.span })
    }

    /// Returns what follows the first `at` characters, with which some of the words may end.
    fn behind(&mut self, words: &[&Word], at: usize) -> Result<Option<Part>, Reported> {
        let tail = self.shape.tail.clone();
        let mut ended = words.iter().filter(|word| word.text.len() == at).peekable();
        if ended.peek().is_none() {
            let class = tail.unwrap_or(CharSet::empty(Unit::Char));
            return self.from(words, at, &class, true);
        }
        // A longer name is none of these words only if each is no word in front of the tail.
        let Some(tail) = tail else { return Ok(None) };
        let ends = ended.fold(Bits::MAX, |ends, word| ends & word.ends);
        self.from(words, at, &tail.intersection(&set(ends)), false)
    }

    /// Returns these parts and any number of characters of the tail.
    fn with_tail(&mut self, mut parts: Vec<Part>) -> Result<Part, Reported> {
        if let Some(tail) = self.shape.tail.clone() {
            let tail = self.builder.class(tail, self.span)?;
            parts.push(self.builder.repeat(tail, 0, None, self.span)?);
        }
        self.builder.seq(parts, self.span)
    }
}
