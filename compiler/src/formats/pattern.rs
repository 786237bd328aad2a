//! Regular expressions as parts of grammars, parsed by `regex-syntax`.
//!
//! `\d`, `\w` and `\s` are ASCII. `.` and negated classes, which contain the last code point, draw from printable
//! ASCII, tab and line feed. Lookarounds are honoured within a token, see [`looks`]. Lookarounds beyond it are reported
//! and left out.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Capture, Class, Hir, HirKind, Look};

use super::builder::{Builder, Part, Reported};
use crate::ast::MAX_NESTING;
use crate::charset::{CharSet, Unit};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};

mod looks;
pub(super) mod pumps;
mod rewrite;
pub(super) mod terms;

use looks::Resolved;
pub(super) use looks::{MAX_STEPS, Mark, MarkKind, difference, eliminated, has_marks, leave_out, letters, resolve};

/// The greatest length of a pattern in bytes. The result of `regex-syntax` is thousands of times as large.
const MAX_PATTERN: usize = 1 << 16;
/// Groups nest at most this deep.
const MAX_GROUPS: u32 = 150;

/// The options for reading a pattern.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    pub(super) ignore_case: bool,
    pub(super) multi_line: bool,
    pub(super) dot_all: bool,
    pub(super) extended: bool,
    /// As in Python and JavaScript, a bracket inside a class is a member of it.
    pub(super) plain_classes: bool,
}

impl Flags {
    /// Adds the flag of this letter. Returns false if there is none.
    pub(super) fn add(&mut self, letter: char) -> bool {
        match letter {
            'i' => self.ignore_case = true,
            'm' => self.multi_line = true,
            's' => self.dot_all = true,
            'x' => self.extended = true,
            'u' | 'l' | 'v' | 'g' | 'y' => {}
            _ => return false,
        }
        true
    }
}

/// Returns the expression of a pattern that is a whole token. `span` is its place.
pub(super) fn part(pattern: &str, flags: Flags, span: Span, builder: &mut Builder<'_>) -> Result<Part, Reported> {
    let mut looks = Vec::new();
    let mut part = marked(pattern, flags, span, &mut looks, builder)?;
    if looks.is_empty() {
        return Ok(part);
    }
    // The early end of a lazy repetition does not change the language by itself.
    let asks_beside = looks.iter().any(|look| look.kind.asks_beside());
    let resolved = if asks_beside { resolve(&part.expr, &looks, &|_| None, &mut builder.steps_left) } else { None };
    let is_within =
        |resolved: &Resolved| resolved.not_behind.is_empty() && !resolved.asks_in_front && !resolved.asks_behind;
    match resolved.filter(is_within) {
        Some(resolved) => {
            builder.count(resolved.parts, span)?;
            Ok(Part { expr: resolved.expr, height: MAX_NESTING / 2 })
        }
        None => {
            leave_out(&mut part.expr, &looks, Some(builder));
            Ok(part)
        }
    }
}

/// Returns the expression of a pattern that is part of a token, with marks for its lookarounds: see [`looks`].
pub(super) fn marked(
    pattern: &str,
    flags: Flags,
    span: Span,
    looks: &mut Vec<Mark>,
    builder: &mut Builder<'_>,
) -> Result<Part, Reported> {
    let (hir, pattern) = parsed(pattern, flags, span, builder)?;
    let ignore_case = flags.ignore_case || pattern.contains("(?i");
    let asks_beside = pattern.contains(LOOK);
    let mut converter = Converter { span, ignore_case, asks_beside, is_whole: false, looks, builder };
    // Anchors at both ends always hold.
    let is_anchor = |hir: &Hir| matches!(hir.kind(), HirKind::Look(look) if is_edge(*look));
    match hir.kind() {
        HirKind::Look(look) if is_edge(*look) => converter.sequence(&[]),
        HirKind::Concat(parts) => {
            let first = usize::from(parts.first().is_some_and(is_anchor));
            let last = parts.len() - usize::from(parts.len() > first && parts.last().is_some_and(is_anchor));
            converter.sequence(&parts[first..last])
        }
        _ => converter.part(&hir),
    }
}

/// Returns a pattern as `regex-syntax` reads it, and its text in Rust's syntax. Lookarounds are groups: see
/// [`look_of`].
fn parsed(pattern: &str, flags: Flags, span: Span, builder: &mut Builder<'_>) -> Result<(Hir, String), Reported> {
    if pattern.len() > MAX_PATTERN {
        let message = format!("this regular expression has more than {MAX_PATTERN} bytes");
        let diagnostic = Diagnostic::error(Code::TooLarge, span, message).help("split it over several rules");
        return Err(builder.report(diagnostic));
    }
    let pattern = rewrite::rewrite(pattern, flags, span, builder)?;
    let parsed = ParserBuilder::new()
        .case_insensitive(flags.ignore_case)
        .multi_line(flags.multi_line)
        .dot_matches_new_line(flags.dot_all)
        .ignore_whitespace(flags.extended)
        .utf8(false)
        .nest_limit(MAX_GROUPS)
        .build()
        .parse(&pattern);
    match parsed {
        Ok(hir) => Ok((hir, pattern)),
        Err(error) => {
            let reason = match &error {
                regex_syntax::Error::Parse(error) => error.kind().to_string(),
                regex_syntax::Error::Translate(error) => error.kind().to_string(),
                _ => "it is not understood".to_string(),
            };
            let help = "regular expressions are those of Rust's `regex`; a backslash makes a sign stand for itself";
            Err(builder.error(span, format!("this is no regular expression: {reason}"), help))
        }
    }
}

/// Returns a pattern of JavaScript as `regex-syntax` reads it. `None` if it is none.
pub(super) fn ecma(pattern: &str) -> Option<Hir> {
    read(pattern, Flags { plain_classes: true, ..Flags::default() })
}

/// Returns a pattern as `regex-syntax` reads it. `None` if it is none.
fn read(pattern: &str, flags: Flags) -> Option<Hir> {
    let mut unheard = Diagnostics::default();
    parsed(pattern, flags, Span::default(), &mut Builder::new(&mut unheard)).ok().map(|(hir, _)| hir)
}

/// Returns the kind of lookaround that a group stands for.
pub(super) fn look_of(capture: &Capture) -> Option<MarkKind> {
    let name = capture.name.as_deref()?.strip_prefix("look.")?;
    MarkKind::OF_GROUPS.iter().find(|(_, prefix)| name.starts_with(prefix)).map(|(kind, _)| *kind)
}

fn is_edge(look: Look) -> bool {
    matches!(look, Look::Start | Look::End | Look::StartLF | Look::EndLF | Look::StartCRLF | Look::EndCRLF)
}

/// The beginning of group names for look-aheads and look-behinds. The languages that have these allow no full stop in
/// names.
const LOOK: &str = "(?P<look.";

struct Converter<'b, 'd> {
    span: Span,
    ignore_case: bool,
    /// Whether there are look-aheads or look-behinds.
    asks_beside: bool,
    /// Whether classes keep all members, not only the readable ones.
    is_whole: bool,
    looks: &'b mut Vec<Mark>,
    builder: &'b mut Builder<'d>,
}

impl Converter<'_, '_> {
    fn part(&mut self, hir: &Hir) -> Result<Part, Reported> {
        match hir.kind() {
            HirKind::Empty => self.builder.seq(Vec::new(), self.span),
            HirKind::Literal(literal) => self.builder.bytes(literal.0.to_vec(), self.span),
            HirKind::Class(class) if self.is_whole => self.builder.class(set(class), self.span),
            HirKind::Class(class) => self.class(readable(&set(class))),
            HirKind::Look(look) => {
                let what = if is_edge(*look) { "an anchor" } else { "a word boundary" };
                let help = "a grammar cannot ask what stands beside; write it out where it matters";
                self.builder.approximate(self.span, format!("{what} inside of a regular expression is left out"), help);
                self.builder.seq(Vec::new(), self.span)
            }
            HirKind::Repetition(repetition) => {
                let item = self.part(&repetition.sub)?;
                let part = self.builder.repeat(item, repetition.min, repetition.max, self.span)?;
                if repetition.greedy || repetition.max == Some(repetition.min) || self.is_whole {
                    return Ok(part);
                }
                let early = self.empty_mark(MarkKind::Early)?;
                let left = self.empty_mark(MarkKind::Left)?;
                self.builder.seq(vec![early, part, left], self.span)
            }
            HirKind::Capture(capture) => match capture.name.as_deref().and_then(|name| name.strip_prefix("look.")) {
                Some(name) => {
                    let kinds = MarkKind::OF_GROUPS.iter();
                    let kind = kinds.filter(|(_, prefix)| name.starts_with(prefix)).map(|(kind, _)| *kind).next();
                    let before = std::mem::replace(&mut self.is_whole, true);
                    let body = match kind {
                        Some(MarkKind::NotAhead) => self.excluded(&capture.sub),
                        _ => self.part(&capture.sub),
                    };
                    self.is_whole = before;
                    self.mark(kind.unwrap_or(MarkKind::Ahead), body?)
                }
                None => self.part(&capture.sub),
            },
            HirKind::Concat(parts) => self.sequence(parts),
            HirKind::Alternation(parts) => {
                let parts: Result<Vec<Part>, Reported> = parts.iter().map(|part| self.part(part)).collect();
                self.builder.any(parts?, self.span)
            }
        }
    }

    /// Returns the texts that a look-ahead excludes. A word boundary after a letter at the end stands for the end of a
    /// word.
    fn excluded(&mut self, hir: &Hir) -> Result<Part, Reported> {
        match hir.kind() {
            HirKind::Capture(capture) if capture.name.is_none() => self.excluded(&capture.sub),
            HirKind::Alternation(parts) => {
                let parts: Result<Vec<Part>, Reported> = parts.iter().map(|part| self.excluded(part)).collect();
                self.builder.any(parts?, self.span)
            }
            HirKind::Concat(parts) => {
                let Some((last, before)) = parts.split_last() else { return self.part(hir) };
                let is_boundary = matches!(last.kind(), HirKind::Look(Look::WordAscii | Look::WordUnicode));
                let mut converted = Vec::new();
                for part in before {
                    converted.push(self.part(part)?);
                }
                converted.push(if is_boundary && before.last().is_some_and(ends_in_word) {
                    Part { expr: looks::word_end(self.span), height: 1 }
                } else {
                    self.excluded(last)?
                });
                self.builder.seq(converted, self.span)
            }
            _ => self.part(hir),
        }
    }

    fn empty_mark(&mut self, kind: MarkKind) -> Result<Part, Reported> {
        let empty = self.builder.seq(Vec::new(), self.span)?;
        self.mark(kind, empty)
    }

    fn mark(&mut self, kind: MarkKind, body: Part) -> Result<Part, Reported> {
        self.builder.count(1, self.span)?;
        self.looks.push(Mark { kind, body: body.expr });
        Ok(Part { expr: looks::mark(self.looks.len() - 1, self.span), height: 1 })
    }

    fn class(&mut self, mut set: CharSet) -> Result<Part, Reported> {
        // Besides `s` and `k` themselves, Unicode has two more letters that fold to them, which few readers expect.
        if self.ignore_case && set.unit() == Unit::Char && (set.contains('s'.into()) || set.contains('k'.into())) {
            set = set.difference(&CharSet::new(Unit::Char, [(0x17F, 0x17F), (0x212A, 0x212A)]));
        }
        self.builder.class(set, self.span)
    }

    fn sequence(&mut self, parts: &[Hir]) -> Result<Part, Reported> {
        let mut converted = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            converted.push(match (part.kind(), parts.get(number + 1)) {
                (HirKind::Repetition(repetition), Some(next)) if !repetition.greedy && !self.asks_beside => {
                    self.lazy(repetition, next, part)?
                }
                _ => self.part(part)?,
            });
        }
        self.builder.seq(converted, self.span)
    }

    /// Returns a non-greedy repetition of a class. It ends at the first place where the next part can begin, so its
    /// text must not contain such a place.
    fn lazy(&mut self, repetition: &regex_syntax::hir::Repetition, next: &Hir, whole: &Hir) -> Result<Part, Reported> {
        let (Some(set), Some((first, second))) = (class_of(&repetition.sub), beginning(next)) else {
            return self.part(whole);
        };
        let set = readable(&set);
        let rest = set.difference(&first);
        let (min, max) = (repetition.min, repetition.max);
        // A fixed number of rounds does not end early.
        if rest.is_empty() || max == Some(min) {
            return self.part(whole);
        }
        let plain = self.class(rest.clone())?;
        let round = match second {
            // The first character of a longer delimiter may occur alone. It and the next character are one round, so
            // there must be no bound.
            Some(second) if max.is_none() && first.len() == 1 && !rest.difference(&second).is_empty() => {
                let alone = self.class(first)?;
                let behind = self.class(rest.difference(&second))?;
                let pair = self.builder.seq(vec![alone, behind], self.span)?;
                self.builder.any(vec![plain, pair], self.span)?
            }
            _ => plain,
        };
        self.builder.repeat(round, min, max, self.span)
    }
}

/// Returns the set of a class of `regex-syntax`.
pub(super) fn set(class: &Class) -> CharSet {
    match class {
        Class::Unicode(class) => {
            CharSet::new(Unit::Char, class.iter().map(|range| (u32::from(range.start()), u32::from(range.end()))))
        }
        Class::Bytes(class) => {
            CharSet::new(Unit::Byte, class.iter().map(|range| (u32::from(range.start()), u32::from(range.end()))))
        }
    }
}

/// Returns the class that `hir` derives one member of.
fn class_of(hir: &Hir) -> Option<CharSet> {
    match hir.kind() {
        HirKind::Class(class) => Some(set(class)).filter(|set| set.unit() == Unit::Char),
        HirKind::Capture(capture) => class_of(&capture.sub),
        HirKind::Literal(literal) => single(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Alternation(parts) => {
            let mut members = CharSet::empty(Unit::Char);
            for part in parts {
                members = members.union(&class_of(part)?);
            }
            Some(members)
        }
        _ => None,
    }
}

/// Returns true if the last character is always a word character.
fn ends_in_word(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Literal(literal) => literal.0.last().is_some_and(|&byte| byte.is_ascii_alphanumeric() || byte == b'_'),
        HirKind::Class(class) => looks::is_in_words(&set(class)),
        HirKind::Capture(capture) => ends_in_word(&capture.sub),
        HirKind::Repetition(repetition) => repetition.min > 0 && ends_in_word(&repetition.sub),
        HirKind::Concat(parts) => parts.last().is_some_and(ends_in_word),
        HirKind::Alternation(parts) => parts.iter().all(ends_in_word),
        HirKind::Empty | HirKind::Look(_) => false,
    }
}

/// Returns the set of the only character of `text`.
fn single(text: &str) -> Option<CharSet> {
    let mut characters = text.chars();
    let first = characters.next()?;
    characters.next().is_none().then(|| CharSet::single(Unit::Char, first.into()))
}

/// Returns the characters that `hir` can begin with, and the second character if it is a single text. `None` if it may
/// be empty or is not known.
fn beginning(hir: &Hir) -> Option<(CharSet, Option<CharSet>)> {
    match hir.kind() {
        HirKind::Literal(literal) => {
            let mut characters = std::str::from_utf8(&literal.0).ok()?.chars();
            let mut next = || characters.next().map(|c| CharSet::single(Unit::Char, c.into()));
            Some((next()?, next()))
        }
        HirKind::Class(class) => Some((set(class), None)).filter(|(set, _)| set.unit() == Unit::Char),
        HirKind::Capture(capture) => beginning(&capture.sub),
        HirKind::Concat(parts) => beginning(parts.first()?),
        HirKind::Repetition(repetition) if repetition.min > 0 => {
            beginning(&repetition.sub).map(|(first, _)| (first, None))
        }
        HirKind::Alternation(parts) => {
            let mut first = CharSet::empty(Unit::Char);
            for part in parts {
                first = first.union(&beginning(part)?.0);
            }
            Some((first, None))
        }
        _ => None,
    }
}

/// Returns the characters with a Unicode property.
pub(super) fn property(name: &str) -> Option<CharSet> {
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return None;
    }
    match regex_syntax::parse(&format!("\\p{{{name}}}")).ok()?.kind() {
        HirKind::Class(class) => Some(set(class)),
        _ => None,
    }
}

/// Returns the readable members of a class. A class that contains the last code point is taken as an exclusion, and
/// reduced to printable ASCII, tab and line feed, if it has any of these.
pub(super) fn readable(set: &CharSet) -> CharSet {
    readable_up_to(char::MAX, set)
}

/// Returns the readable members of a class of a notation whose exclusions end with the character `last`.
pub(super) fn readable_up_to(last: char, set: &CharSet) -> CharSet {
    if set.unit() != Unit::Char || !set.contains(u32::from(last)) {
        return set.clone();
    }
    let shown = [(0x09, 0x0A), (0x20, 0x7E)];
    let kept: Vec<(u32, u32)> = shown
        .iter()
        .flat_map(|&(low, high)| {
            set.ranges().iter().map(move |&(from, to)| (from.max(low), to.min(high))).filter(|(from, to)| from <= to)
        })
        .collect();
    if kept.is_empty() { set.clone() } else { CharSet::new(Unit::Char, kept) }
}

#[cfg(test)]
mod tests;
