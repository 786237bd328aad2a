//! Lookarounds of regular expressions: look-aheads, look-behinds and lazy repetitions, which end at the first possible
//! place. They stand in expressions as marks. A token with marks is rewritten from the automaton of its texts.
//!
//! A mark is a letter of its own. The texts with marks form a regular language, and so do the texts in which the
//! context of a mark satisfies it. The marks are then removed from the intersection of both.

use super::super::builder::Builder;
use super::terms::{Automaton, Edge, Letters, MAX_LETTERS, Terms};
use crate::ast::Expr;
use crate::charset::{CharSet, Unit};
use crate::diagnostics::Span;
use crate::ordered::Set;

use alphabet::{Alphabet, Sets};
use eliminate::Elimination;
use translate::Translating;

mod alphabet;
mod eliminate;
mod translate;

pub(in crate::formats) use alphabet::letters;

/// The depth to which rules are followed.
const MAX_DEPTH: u32 = 32;
/// Repetitions with a greater bound are not written out.
const MAX_ROUNDS: u32 = 64;
/// Expressions with more different sets of characters are left as they are.
const MAX_SETS: usize = 1 << 9;
/// Expressions with more parts are not used.
const MAX_PARTS: usize = 1 << 14;
/// The limit on the work for the marks of one grammar, in steps between states of automata.
pub(in crate::formats) const MAX_STEPS: usize = 1 << 20;

/// The steps counted for each state and letter of an automaton, for later work on it.
const STATE_STEPS: usize = 8;

/// The condition of a mark.
#[derive(Clone, Debug)]
pub(in crate::formats) struct Mark {
    pub(super) kind: MarkKind,
    /// The expression that must, or must not, stand beside the mark.
    pub(super) body: Expr,
}

/// The kinds of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::formats) enum MarkKind {
    Ahead,
    NotAhead,
    Behind,
    NotBehind,
    /// The repetition after this mark, up to its `Left`, ends at the first possible place.
    Early,
    /// The end of a repetition that begins with an `Early`.
    Left,
}

impl MarkKind {
    pub(super) const OF_GROUPS: [(MarkKind, &str); 4] = [
        (MarkKind::NotAhead, "not_ahead"),
        (MarkKind::NotBehind, "not_behind"),
        (MarkKind::Ahead, "ahead"),
        (MarkKind::Behind, "behind"),
    ];

    /// Returns true if its condition is about the text beside it.
    pub(super) fn asks_beside(self) -> bool {
        !matches!(self, MarkKind::Early | MarkKind::Left)
    }
}

/// The prefix of marks' names, which no rule has.
const PREFIX: &str = "\0look.";

/// Returns the mark for the numbered look.
pub(super) fn mark(number: usize, span: Span) -> Expr {
    Expr::rule(format!("{PREFIX}{number}"), span)
}

/// The name of the end of a word in a look-ahead: no letter, digit or underscore follows.
const WORD_END: &str = "\0look.word_end";

/// Returns an expression for the end of a word.
pub(super) fn word_end(span: Span) -> Expr {
    Expr::rule(WORD_END, span)
}

/// Returns the characters of words, as in `\w`.
fn word() -> CharSet {
    let ranges = [('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
    CharSet::new(Unit::Char, ranges.map(|(low, high)| (low.into(), high.into())))
}

/// Returns true if all characters of the set are word characters.
pub(super) fn is_in_words(set: &CharSet) -> bool {
    set.difference(&word()).is_empty()
}

fn number(expr: &Expr) -> Option<usize> {
    expr.as_rule()?.strip_prefix(PREFIX)?.parse().ok()
}

/// The expression of a token without marks, and the characters that must not follow it.
pub(in crate::formats) struct Resolved {
    pub(in crate::formats) expr: Expr,
    pub(in crate::formats) not_behind: CharSet,
    /// Whether the condition of a mark can reach beyond the beginning of the token.
    pub(in crate::formats) asks_in_front: bool,
    /// Whether the condition of a look-ahead can reach beyond the end of the token.
    pub(in crate::formats) asks_behind: bool,
    /// The number of parts of the expression.
    pub(in crate::formats) parts: usize,
}

/// Returns true if the expression, or a rule that it refers to, has marks.
pub(in crate::formats) fn has_marks<'g>(expr: &'g Expr, rule: &impl Fn(&str) -> Option<&'g Expr>) -> bool {
    let mut seen: Set<&str> = Set::new();
    let mut pending = vec![expr];
    let mut found = false;
    while let Some(expr) = pending.pop() {
        expr.each_reference(&mut |name| {
            found |= name.starts_with(PREFIX);
            if seen.insert(name) {
                pending.extend(rule(name));
            }
        });
    }
    found
}

/// Removes the marks of an expression. With a `builder`, warns of those that are not honoured.
pub(in crate::formats) fn leave_out(expr: &mut Expr, looks: &[Mark], builder: Option<&mut Builder<'_>>) {
    let span = expr.span;
    let (mut looks_beside, mut ends_early) = (false, false);
    expr.each(&mut |expr| {
        let kind = number(expr).and_then(|number| looks.get(number)).map(|look| look.kind);
        looks_beside |= kind.is_some_and(MarkKind::asks_beside);
        ends_early |= kind == Some(MarkKind::Early);
    });
    if looks_beside || ends_early {
        strip(expr);
    }
    let Some(builder) = builder else { return };
    if looks_beside {
        let help = "a grammar cannot look ahead or behind; write out what it excludes";
        builder.approximate(span, "a look-ahead or look-behind is left out", help);
    }
    if ends_early {
        let help = "what it draws may hold what ends it; write out what it must not hold";
        builder.approximate(span, "a non-greedy repetition is read as a greedy one", help);
    }
}

/// Removes the marks.
fn strip(expr: &mut Expr) {
    if number(expr).is_some() {
        *expr = Expr::empty(expr.span);
    }
    if let Some(items) = expr.as_seq_mut() {
        items.retain(|item| number(item).is_none());
    }
    expr.children_mut().for_each(strip);
    if let Some(items) = expr.as_seq_mut().filter(|items| items.len() == 1) {
        *expr = items.remove(0);
    } else if expr.as_repeat().and_then(|rounds| rounds.item.as_seq()).is_some_and(<[Expr]>::is_empty) {
        *expr = Expr::empty(expr.span);
    }
}

/// Returns an expression for the texts that satisfy the marks. `None` if there are no such texts, or if it is too
/// large. The work is taken from `steps`.
pub(in crate::formats) fn resolve<'g>(
    expr: &'g Expr,
    looks: &'g [Mark],
    rule: &dyn Fn(&str) -> Option<&'g Expr>,
    steps: &mut usize,
) -> Option<Resolved> {
    if *steps == 0 {
        return None;
    }
    let mut terms = Terms::within(*steps);
    let resolved = resolve_in(&mut terms, expr, looks, rule);
    *steps = terms.steps_left();
    resolved
}

fn resolve_in<'g>(
    terms: &mut Terms,
    expr: &'g Expr,
    looks: &'g [Mark],
    rule: &dyn Fn(&str) -> Option<&'g Expr>,
) -> Option<Resolved> {
    let mut alphabet = Sets { rule, looks, sets: Set::new(), marks: Set::new(), steps: 0 };
    alphabet.collect(expr, MAX_DEPTH)?;
    if alphabet.sets.len() > MAX_SETS {
        return None;
    }
    let marks: Vec<usize> = alphabet.marks.iter().copied().collect();
    let alphabet = Alphabet::new(&alphabet.sets);
    let texts = alphabet.letters.len();
    if texts + marks.len() > MAX_LETTERS {
        return None;
    }
    let text_letters = Letters::MAX >> (MAX_LETTERS - texts);
    let letters_of = |wanted: &dyn Fn(MarkKind) -> bool| -> Letters {
        let places = (0..marks.len()).filter(|&place| wanted(looks[marks[place]].kind));
        places.fold(0, |letters, place| letters | 1 << (texts + place))
    };
    let mark_letters = letters_of(&|_| true);
    let mut writer = Translating { terms, alphabet: &alphabet, rule, looks, marks: &marks, texts, mark_letters };
    let all = writer.term(expr, true, MAX_DEPTH)?;
    let honoured = writer.honoured(all, None)?;
    let letters = u32::try_from(texts + marks.len()).ok()?;
    let mut automaton = writer.terms.automaton(honoured, letters)?.smallest();
    let (mut not_behind, mut asks_in_front, mut asks_behind) = (CharSet::empty(Unit::Char), false, false);
    let mut whole = honoured;
    for (kind, edge, asks) in
        [(MarkKind::Ahead, Edge::Beginning, &mut asks_behind), (MarkKind::Behind, Edge::End, &mut asks_in_front)]
    {
        let reaching = writer.honoured(all, Some(kind))?;
        if reaching != honoured {
            let reaching_texts = writer.terms.automaton(reaching, letters)?;
            let joined;
            writer.terms.spend(STATE_STEPS * reaching_texts.size())?;
            (joined, *asks) = Automaton::joined(automaton.as_ref(), &reaching_texts, edge)?;
            automaton = joined.smallest();
            whole = writer.terms.or([whole, reaching]);
        }
    }
    for (place, &mark) in marks.iter().enumerate() {
        let look = &looks[mark];
        if !matches!(look.kind, MarkKind::NotAhead | MarkKind::NotBehind) {
            continue;
        }
        let touching = writer.touching(place, whole, text_letters)?;
        let touches = writer.terms.automaton(touching, letters)?.smallest().is_some();
        match look.kind {
            MarkKind::NotAhead if touches => not_behind = not_behind.union(&members(&look.body)),
            _ => asks_in_front |= touches,
        }
    }
    let mut automaton = automaton?;
    writer.terms.spend(STATE_STEPS * automaton.size())?;
    let early = letters_of(&|kind| kind == MarkKind::Early);
    if early != 0 {
        automaton = automaton.ending_early(texts, early, letters_of(&|kind| kind == MarkKind::Left))?;
    }
    let automaton = automaton.without_letters_from(texts)?;
    writer.terms.spend(STATE_STEPS * automaton.size())?;
    let automaton = automaton.smallest()?;
    let expr = Elimination::of(&automaton, &alphabet, expr.span)?;
    let parts = expr.size();
    Some(Resolved { expr, not_behind, asks_in_front, asks_behind, parts })
}

/// Returns an expression for the texts of `left` that are no texts of `right`. `None` if there are none, if one of them
/// is not regular, or if it is too large. The work is taken from `steps`.
pub(in crate::formats) fn difference<'g>(
    left: &'g Expr,
    right: &'g Expr,
    rule: &dyn Fn(&str) -> Option<&'g Expr>,
    steps: &mut usize,
) -> Option<Expr> {
    let mut terms = Terms::within(*steps);
    let found = difference_in(&mut terms, left, right, rule);
    *steps = terms.steps_left();
    found
}

fn difference_in<'g>(
    terms: &mut Terms,
    left: &'g Expr,
    right: &'g Expr,
    rule: &dyn Fn(&str) -> Option<&'g Expr>,
) -> Option<Expr> {
    let mut sets = Sets { rule, looks: &[], sets: Set::new(), marks: Set::new(), steps: 0 };
    sets.collect(left, MAX_DEPTH)?;
    sets.collect(right, MAX_DEPTH)?;
    let is_small = sets.sets.len() <= MAX_SETS;
    let alphabet = is_small.then(|| Alphabet::new(&sets.sets))?;
    let texts = alphabet.letters.len();
    if texts > MAX_LETTERS {
        return None;
    }
    let mut writer = Translating { terms, alphabet: &alphabet, rule, looks: &[], marks: &[], texts, mark_letters: 0 };
    let all = writer.term(left, true, MAX_DEPTH)?;
    let lost = writer.term(right, true, MAX_DEPTH)?;
    let lost = writer.terms.not(lost);
    let kept = writer.terms.and([all, lost]);
    let automaton = writer.terms.automaton(kept, u32::try_from(texts).ok()?)?;
    writer.terms.spend(STATE_STEPS * automaton.size())?;
    Elimination::of(&automaton.smallest()?, &alphabet, left.span)
}

/// Returns the texts of an automaton as an expression. `None` if it is too large.
pub(in crate::formats) fn eliminated(automaton: &Automaton, letters: Vec<CharSet>, span: Span) -> Option<Expr> {
    Elimination::of(automaton, &Alphabet { letters }, span)
}

/// Returns all characters in an expression.
fn members(expr: &Expr) -> CharSet {
    let mut all = CharSet::empty(Unit::Char);
    expr.each(&mut |expr| {
        for c in String::from_utf8_lossy(expr.as_bytes().unwrap_or_default()).chars() {
            all = all.union(&CharSet::single(Unit::Char, c.into()));
        }
        if let Some(set) = expr.as_class().filter(|set| set.unit() == Unit::Char) {
            all = all.union(set);
        }
    });
    all
}
