//! Lookarounds of regular expressions: look-aheads, look-behinds and lazy repetitions, which end at the first possible
//! place. They stand in expressions as marks. A token with marks is rewritten from the automaton of its texts.
//!
//! A mark is a letter of its own. The texts with marks form a regular language, and so do the texts in which the
//! context of a mark satisfies it. The marks are then removed from the intersection of both.

use super::super::builder::Builder;
use super::terms::{ALL, Automaton, EMPTY, Edge, Id, Letters, MAX_LETTERS, NEVER, Terms};
use crate::ast::{Alternative, Expr, ExprKind, MAX_NESTING};
use crate::charset::{CharSet, Unit};
use crate::diagnostics::Span;
use crate::ordered::{Map, Set};

/// The depth to which rules are followed.
const MAX_DEPTH: u32 = 32;
/// Repetitions with a greater bound are not written out.
const MAX_ROUNDS: u32 = 64;
/// Expressions with more different sets of characters are left as they are.
const MAX_SETS: usize = 1 << 9;
/// Automata with more states are not written as expressions.
const MAX_STATES: usize = 96;
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

    /// Whether its condition is about the text beside it.
    pub(super) fn asks_beside(self) -> bool {
        !matches!(self, MarkKind::Early | MarkKind::Left)
    }
}

/// The prefix of marks' names, which no rule has.
const PREFIX: &str = "\0look.";

/// The mark for the numbered look.
pub(super) fn mark(number: usize, span: Span) -> Expr {
    Expr { kind: ExprKind::Rule(format!("{PREFIX}{number}")), span }
}

/// The name of the end of a word in a look-ahead: no letter, digit or underscore follows.
const WORD_END: &str = "\0look.word_end";

/// The end of a word.
pub(super) fn word_end(span: Span) -> Expr {
    Expr { kind: ExprKind::Rule(WORD_END.to_string()), span }
}

/// The characters of words, as in `\w`.
fn word() -> CharSet {
    let ranges = [('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')];
    CharSet::new(Unit::Char, ranges.map(|(low, high)| (low.into(), high.into())))
}

/// Whether all characters of the set are word characters.
pub(super) fn is_in_words(set: &CharSet) -> bool {
    set.difference(&word()).is_empty()
}

fn number(expr: &Expr) -> Option<usize> {
    match &expr.kind {
        ExprKind::Rule(name) => name.strip_prefix(PREFIX)?.parse().ok(),
        _ => None,
    }
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

/// Whether the expression, or a rule that it refers to, has marks.
pub(in crate::formats) fn has_marks<'g>(expr: &'g Expr, rule: &impl Fn(&str) -> Option<&'g Expr>) -> bool {
    let mut seen: Set<&str> = Set::new();
    let mut pending = vec![expr];
    let mut found = false;
    while let Some(expr) = pending.pop() {
        visit(expr, &mut |expr| {
            let ExprKind::Rule(name) = &expr.kind else { return };
            found |= name.starts_with(PREFIX);
            if seen.insert(name) {
                pending.extend(rule(name));
            }
        });
    }
    found
}

fn visit<'e>(expr: &'e Expr, act: &mut dyn FnMut(&'e Expr)) {
    act(expr);
    match &expr.kind {
        ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Rule(_) => {}
        ExprKind::Seq(items) => items.iter().for_each(|item| visit(item, act)),
        ExprKind::Choice(options) => options.iter().for_each(|option| visit(&option.expr, act)),
        ExprKind::Repeat { item, .. } => visit(item, act),
    }
}

/// Removes the marks of an expression. With a `builder`, warns of those that are not honoured.
pub(in crate::formats) fn leave_out(expr: &mut Expr, looks: &[Mark], builder: Option<&mut Builder<'_>>) {
    let span = expr.span;
    let (mut looks_beside, mut ends_early) = (false, false);
    visit(expr, &mut |expr| {
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
    let is_empty = |expr: &Expr| matches!(&expr.kind, ExprKind::Seq(items) if items.is_empty());
    if number(expr).is_some() {
        expr.kind = ExprKind::Seq(Vec::new());
    }
    match &mut expr.kind {
        ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Rule(_) => {}
        ExprKind::Seq(items) => {
            items.retain(|item| number(item).is_none());
            items.iter_mut().for_each(strip);
            if items.len() == 1 {
                *expr = items.remove(0);
            }
        }
        ExprKind::Choice(options) => options.iter_mut().for_each(|option| strip(&mut option.expr)),
        ExprKind::Repeat { item, .. } => {
            strip(item);
            if is_empty(item) {
                expr.kind = ExprKind::Seq(Vec::new());
            }
        }
    }
}

/// An expression for the texts that satisfy the marks. `None` if there are no such texts, or if it is too large. The
/// work is taken from `steps`.
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
    let parts = size(&expr);
    Some(Resolved { expr, not_behind, asks_in_front, asks_behind, parts })
}

/// All characters in an expression.
fn members(expr: &Expr) -> CharSet {
    let mut all = CharSet::empty(Unit::Char);
    visit(expr, &mut |expr| match &expr.kind {
        ExprKind::Bytes(bytes) => {
            for c in String::from_utf8_lossy(bytes).chars() {
                all = all.union(&CharSet::single(Unit::Char, c.into()));
            }
        }
        ExprKind::Class(set) if set.unit() == Unit::Char => all = all.union(set),
        _ => {}
    });
    all
}

/// Collects the sets of characters in an expression and in the conditions of its marks.
struct Sets<'s, 'g> {
    rule: &'s dyn Fn(&str) -> Option<&'g Expr>,
    looks: &'g [Mark],
    sets: Set<Vec<(u32, u32)>>,
    marks: Set<usize>,
    steps: usize,
}

impl<'g> Sets<'_, 'g> {
    fn collect(&mut self, expr: &'g Expr, depth: u32) -> Option<()> {
        self.steps += 1;
        if self.steps > MAX_PARTS {
            return None;
        }
        match &expr.kind {
            ExprKind::Bytes(bytes) => {
                for c in std::str::from_utf8(bytes).ok()?.chars() {
                    self.sets.insert(vec![(c.into(), c.into())]);
                }
            }
            ExprKind::Class(set) if set.unit() == Unit::Char => drop(self.sets.insert(set.ranges().to_vec())),
            ExprKind::Class(_) => return None,
            ExprKind::Rule(name) => match number(expr) {
                Some(number) => {
                    if self.marks.insert(number) {
                        self.collect(&self.looks.get(number)?.body, depth)?;
                    }
                }
                None if name == WORD_END => drop(self.sets.insert(word().ranges().to_vec())),
                None if depth == 0 => return None,
                None => self.collect((self.rule)(name)?, depth - 1)?,
            },
            ExprKind::Seq(items) => items.iter().try_for_each(|item| self.collect(item, depth))?,
            ExprKind::Choice(options) => options.iter().try_for_each(|option| self.collect(&option.expr, depth))?,
            ExprKind::Repeat { item, .. } => self.collect(item, depth)?,
        }
        Some(())
    }
}

/// The letters: characters that are in the same sets are one letter.
struct Alphabet {
    letters: Vec<CharSet>,
}

/// The classes of characters that are in the same sets. The ranges of each set must be in order.
pub(in crate::formats) fn letters(sets: &Set<Vec<(u32, u32)>>) -> Vec<CharSet> {
    let mut cuts: Set<u32> = Set::from([0, 0x11_0000]);
    for &(low, high) in sets.iter().flatten() {
        cuts.extend([low, high + 1]);
    }
    let cuts: Vec<u32> = cuts.into_iter().filter(|&cut| cut <= 0x11_0000).collect();
    let mut by_sets: Map<Vec<usize>, Vec<(u32, u32)>> = Map::new();
    for pair in cuts.windows(2) {
        let holds = |ranges: &Vec<(u32, u32)>| {
            let next = ranges.partition_point(|&(_, high)| high < pair[0]);
            ranges.get(next).is_some_and(|&(low, _)| low <= pair[0])
        };
        let members = sets.iter().enumerate().filter(|(_, ranges)| holds(ranges)).map(|(place, _)| place).collect();
        by_sets.entry(members).or_default().push((pair[0], pair[1] - 1));
    }
    by_sets.into_values().map(|ranges| CharSet::new(Unit::Char, ranges)).collect()
}

impl Alphabet {
    fn new(sets: &Set<Vec<(u32, u32)>>) -> Alphabet {
        Alphabet { letters: letters(sets) }
    }

    fn letters_of(&self, set: &CharSet) -> Letters {
        let within = |letter: &CharSet| letter.ranges().first().is_some_and(|&(low, _)| set.contains(low));
        let places = self.letters.iter().enumerate().filter(|(_, letter)| within(letter));
        places.fold(0, |letters, (place, _)| letters | 1 << place)
    }
}

struct Translating<'s, 'g> {
    terms: &'s mut Terms,
    alphabet: &'s Alphabet,
    rule: &'s dyn Fn(&str) -> Option<&'g Expr>,
    looks: &'g [Mark],
    /// The marks. Each is a letter.
    marks: &'s [usize],
    /// The number of letters that stand for characters.
    texts: usize,
    mark_letters: Letters,
}

impl<'g> Translating<'_, 'g> {
    /// The language of an expression. Marks are letters if `marked`. In the condition of a mark they are not: there,
    /// marks may stand anywhere.
    fn term(&mut self, expr: &'g Expr, marked: bool, depth: u32) -> Option<Id> {
        Some(match &expr.kind {
            ExprKind::Bytes(bytes) => {
                let mut items = Vec::new();
                for c in std::str::from_utf8(bytes).ok()?.chars() {
                    items.push(self.letters(&CharSet::single(Unit::Char, c.into()), marked));
                }
                self.terms.all_of(&items)
            }
            ExprKind::Class(set) => self.letters(set, marked),
            ExprKind::Rule(name) => match number(expr) {
                Some(number) if marked => {
                    let place = self.marks.iter().position(|&mark| mark == number)?;
                    self.terms.one(1 << (self.texts + place))
                }
                // A mark within the condition of another.
                Some(_) => return None,
                None if depth == 0 => return None,
                None => self.term((self.rule)(name)?, marked, depth - 1)?,
            },
            ExprKind::Seq(items) => {
                let items: Option<Vec<Id>> = items.iter().map(|item| self.term(item, marked, depth)).collect();
                self.terms.all_of(&items?)
            }
            ExprKind::Choice(options) => {
                let options: Option<Vec<Id>> =
                    options.iter().map(|option| self.term(&option.expr, marked, depth)).collect();
                self.terms.or(options?)
            }
            ExprKind::Repeat { item, min, max } => {
                if *min > MAX_ROUNDS || max.is_some_and(|max| max > MAX_ROUNDS) {
                    return None;
                }
                let item = self.term(item, marked, depth)?;
                let mut rest = match max {
                    None => self.terms.star(item),
                    Some(_) => EMPTY,
                };
                for _ in *min..max.unwrap_or(*min) {
                    let round = self.terms.seq(item, rest);
                    rest = self.terms.or([EMPTY, round]);
                }
                (0..*min).fold(rest, |rest, _| self.terms.seq(item, rest))
            }
        })
    }

    fn letters(&mut self, set: &CharSet, marked: bool) -> Id {
        let one = self.terms.one(self.alphabet.letters_of(set));
        if marked {
            return one;
        }
        let marks = self.any_marks();
        let behind = self.terms.seq(one, marks);
        self.terms.seq(marks, behind)
    }

    /// Any number of marks.
    fn any_marks(&mut self) -> Id {
        let marks = self.terms.one(self.mark_letters);
        self.terms.star(marks)
    }

    /// The texts of `all` in which each mark's condition holds. For marks of the kind `reaching`, the condition may
    /// continue beyond the text if it holds as far as the text goes.
    fn honoured(&mut self, all: Id, reaching: Option<MarkKind>) -> Option<Id> {
        let mut honoured = all;
        for place in 0..self.marks.len() {
            let bad = self.refused(place, reaching)?;
            let good = self.terms.not(bad);
            honoured = self.terms.and([honoured, good]);
        }
        Some(honoured)
    }

    /// The texts in which the condition of a mark does not hold.
    fn refused(&mut self, place: usize, reaching: Option<MarkKind>) -> Option<Id> {
        let looks = self.looks;
        let look = &looks[self.marks[place]];
        if !look.kind.asks_beside() {
            return Some(NEVER);
        }
        let mark = self.terms.one(1 << (self.texts + place));
        let is_ahead = matches!(look.kind, MarkKind::Ahead | MarkKind::NotAhead);
        let mut beside = if is_ahead {
            self.beginning_with(&look.body)?
        } else {
            let body = self.term(&look.body, false, MAX_DEPTH)?;
            self.terms.seq(ALL, body)
        };
        if matches!(look.kind, MarkKind::Ahead | MarkKind::Behind) {
            if reaching == Some(look.kind) {
                let cut = self.cut(&look.body, if is_ahead { Edge::Beginning } else { Edge::End })?;
                beside = self.terms.or([beside, cut]);
            }
            beside = self.terms.not(beside);
        }
        Some(self.terms.all_of(&if is_ahead { [ALL, mark, beside] } else { [beside, mark, ALL] }))
    }

    /// The texts that begin with one of these. The end of the text is the end of a word.
    fn beginning_with(&mut self, body: &'g Expr) -> Option<Id> {
        Some(match &body.kind {
            ExprKind::Rule(name) if name == WORD_END => {
                let others = CharSet::new(Unit::Char, [(0, 0x10_FFFF)]).difference(&word());
                let other = self.letters(&others, false);
                let more = self.terms.seq(other, ALL);
                let none = self.any_marks();
                self.terms.or([none, more])
            }
            ExprKind::Seq(items) => {
                let Some((last, before)) = items.split_last() else { return Some(ALL) };
                let parts: Option<Vec<Id>> = before.iter().map(|item| self.term(item, false, MAX_DEPTH)).collect();
                let mut parts = parts?;
                parts.push(self.beginning_with(last)?);
                self.terms.all_of(&parts)
            }
            ExprKind::Choice(options) => {
                let options: Option<Vec<Id>> = options.iter().map(|option| self.beginning_with(&option.expr)).collect();
                self.terms.or(options?)
            }
            _ => {
                let body = self.term(body, false, MAX_DEPTH)?;
                self.terms.seq(body, ALL)
            }
        })
    }

    /// The texts of a mark's condition, cut off at one side: their beginnings or their ends.
    fn cut(&mut self, body: &'g Expr, edge: Edge) -> Option<Id> {
        let none = self.any_marks();
        Some(match &body.kind {
            ExprKind::Bytes(bytes) => {
                let mut parts = Vec::new();
                for c in std::str::from_utf8(bytes).ok()?.chars() {
                    let one = self.letters(&CharSet::single(Unit::Char, c.into()), false);
                    parts.push((none, one));
                }
                self.cut_seq(parts, edge)
            }
            ExprKind::Class(set) => {
                let one = self.letters(set, false);
                self.terms.or([none, one])
            }
            ExprKind::Rule(_) => return None,
            ExprKind::Seq(items) => {
                let mut parts = Vec::new();
                for item in items {
                    parts.push((self.cut(item, edge)?, self.term(item, false, MAX_DEPTH)?));
                }
                self.cut_seq(parts, edge)
            }
            ExprKind::Choice(options) => {
                let options: Option<Vec<Id>> = options.iter().map(|option| self.cut(&option.expr, edge)).collect();
                self.terms.or(options?)
            }
            ExprKind::Repeat { item, max, .. } => {
                let (cut, whole) = (self.cut(item, edge)?, self.term(item, false, MAX_DEPTH)?);
                let rounds = match max {
                    None => self.terms.star(whole),
                    Some(max) => (1..*max).fold(EMPTY, |rounds, _| {
                        let round = self.terms.seq(whole, rounds);
                        self.terms.or([EMPTY, round])
                    }),
                };
                let last = match edge {
                    Edge::Beginning => self.terms.seq(rounds, cut),
                    Edge::End => self.terms.seq(cut, rounds),
                };
                self.terms.or([none, last])
            }
        })
    }

    /// The same for a sequence. Each part comes with its own [`cut`](Self::cut).
    fn cut_seq(&mut self, mut parts: Vec<(Id, Id)>, edge: Edge) -> Id {
        if edge == Edge::Beginning {
            parts.reverse();
        }
        let none = self.any_marks();
        parts.into_iter().fold(none, |rest, (cut, whole)| {
            let more = match edge {
                Edge::Beginning => self.terms.seq(whole, rest),
                Edge::End => self.terms.seq(rest, whole),
            };
            self.terms.or([cut, more])
        })
    }

    /// The texts in which the condition of a mark reaches the edge of the text.
    fn touching(&mut self, place: usize, whole: Id, text_letters: Letters) -> Option<Id> {
        let look = &self.looks[self.marks[place]];
        let length = longest(&look.body)?;
        let mark = self.terms.one(1 << (self.texts + place));
        let marks = self.any_marks();
        let any = self.terms.one(text_letters);
        let mut beside = marks;
        for _ in 1..length.min(MAX_ROUNDS) {
            let more = self.terms.all_of(&[marks, any, beside]);
            beside = self.terms.or([marks, more]);
        }
        let shape = match look.kind {
            MarkKind::NotAhead => [ALL, mark, beside],
            _ => [beside, mark, ALL],
        };
        let shape = self.terms.all_of(&shape);
        Some(self.terms.and([whole, shape]))
    }
}

/// The greatest length of an expression's texts in characters. The expression has no marks. `None` if there is no
/// bound, or if it refers to rules.
fn longest(expr: &Expr) -> Option<u32> {
    match &expr.kind {
        ExprKind::Bytes(bytes) => u32::try_from(bytes.len()).ok(),
        ExprKind::Class(_) => Some(1),
        ExprKind::Rule(name) => (name == WORD_END).then_some(0),
        ExprKind::Seq(items) => items.iter().try_fold(0u32, |length, item| Some(length.saturating_add(longest(item)?))),
        ExprKind::Choice(options) => {
            options.iter().try_fold(0, |length, option| Some(longest(&option.expr)?.max(length)))
        }
        ExprKind::Repeat { item, max, .. } => Some(longest(item)?.saturating_mul((*max)?)),
    }
}

/// Turns an automaton into an expression: states are removed one by one, and paths through them become edges.
struct Elimination {
    edges: Map<(usize, usize), Expr>,
    span: Span,
}

impl Elimination {
    fn of(automaton: &Automaton, alphabet: &Alphabet, span: Span) -> Option<Expr> {
        let states = automaton.next.len();
        if states > MAX_STATES {
            return None;
        }
        let mut elimination = Elimination { edges: Map::new(), span };
        let (start, end) = (states, states + 1);
        elimination.edges.insert((start, 0), elimination.expr(ExprKind::Seq(Vec::new())));
        for (state, row) in automaton.next.iter().enumerate() {
            let mut by_target: Map<usize, CharSet> = Map::new();
            for (letter, next) in row.iter().enumerate() {
                if let Some(next) = next {
                    let set = by_target.entry(*next).or_insert_with(|| CharSet::empty(Unit::Char));
                    *set = set.union(&alphabet.letters[letter]);
                }
            }
            for (next, set) in by_target {
                elimination.edges.insert((state, next), elimination.expr(ExprKind::Class(set)));
            }
            if automaton.is_end[state] {
                elimination.edges.insert((state, end), elimination.expr(ExprKind::Seq(Vec::new())));
            }
        }
        let mut left: Set<usize> = (0..states).collect();
        while !left.is_empty() {
            let weight = |state: usize| {
                let count = |towards: bool| {
                    let is_beside =
                        |&&(from, to): &&(usize, usize)| from != to && state == if towards { to } else { from };
                    elimination.edges.keys().filter(is_beside).count()
                };
                (count(true) * count(false), state)
            };
            let state = left.iter().copied().min_by_key(|&state| weight(state))?;
            left.remove(&state);
            elimination.take_out(state);
            if elimination.edges.values().map(size).sum::<usize>() > MAX_PARTS {
                return None;
            }
        }
        let whole = elimination.edges.remove(&(start, end))?;
        (height(&whole) < MAX_NESTING / 2).then_some(whole)
    }

    fn expr(&self, kind: ExprKind) -> Expr {
        Expr { kind, span: self.span }
    }

    fn take_out(&mut self, state: usize) {
        let round = self.edges.remove(&(state, state));
        let round = round.map(|item| self.expr(ExprKind::Repeat { item: Box::new(item), min: 0, max: None }));
        let (beside, edges): (Map<_, _>, Map<_, _>) =
            std::mem::take(&mut self.edges).into_iter().partition(|&((from, to), _)| from == state || to == state);
        self.edges = edges;
        let before = || beside.iter().filter(|((_, to), _)| *to == state);
        for (&(from, _), first) in before() {
            for (&(_, to), last) in beside.iter().filter(|((from, _), _)| *from == state) {
                let parts = [Some(first), round.as_ref(), Some(last)];
                let way = self.seq(parts.into_iter().flatten().cloned());
                let all = match self.edges.remove(&(from, to)) {
                    Some(other) => self.either(other, way),
                    None => way,
                };
                self.edges.insert((from, to), all);
            }
        }
    }

    fn seq(&self, parts: impl Iterator<Item = Expr>) -> Expr {
        let mut items: Vec<Expr> = Vec::new();
        for part in parts {
            match part.kind {
                ExprKind::Seq(more) => items.extend(more),
                _ => items.push(part),
            }
        }
        if items.len() == 1 { items.remove(0) } else { self.expr(ExprKind::Seq(items)) }
    }

    fn either(&self, first: Expr, second: Expr) -> Expr {
        let mut options: Vec<Alternative> = Vec::new();
        for part in [first, second] {
            match part.kind {
                ExprKind::Choice(more) => options.extend(more),
                _ => options.push(Alternative { expr: part, weight: None }),
            }
        }
        self.expr(ExprKind::Choice(options))
    }
}

fn size(expr: &Expr) -> usize {
    let mut parts = 0;
    visit(expr, &mut |_| parts += 1);
    parts
}

fn height(expr: &Expr) -> u32 {
    1 + match &expr.kind {
        ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Rule(_) => 0,
        ExprKind::Seq(items) => items.iter().map(height).max().unwrap_or(0),
        ExprKind::Choice(options) => options.iter().map(|option| height(&option.expr)).max().unwrap_or(0),
        ExprKind::Repeat { item, .. } => height(item),
    }
}
