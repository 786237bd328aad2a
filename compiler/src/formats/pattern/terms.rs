//! Regular languages as terms with intersection and complement, and their automata, which are built from derivatives
//! (Brzozowski, "Derivatives of regular expressions", 1964).

use crate::ordered::{Map, Set};

/// A set of letters, one bit each.
pub(in crate::formats) type Letters = u128;

/// The greatest number of letters.
pub(in crate::formats) const MAX_LETTERS: usize = 128;
/// The greatest number of terms.
const MAX_TERMS: usize = 1 << 15;
/// The deepest nesting of terms.
const MAX_DEPTH: u32 = 1 << 10;
/// The greatest number of states of an automaton.
const MAX_STATES: usize = 1 << 10;

/// The index of a term.
pub(in crate::formats) type Id = usize;

/// No text.
pub(in crate::formats) const NEVER: Id = 0;
/// The empty text.
pub(in crate::formats) const EMPTY: Id = 1;
/// Any text.
pub(in crate::formats) const ALL: Id = 2;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Term {
    Never,
    Empty,
    One(Letters),
    Seq(Id, Id),
    Or(Vec<Id>),
    And(Vec<Id>),
    Not(Id),
    Star(Id),
    /// The texts that become texts of the term when these letters are removed.
    With(Id, Letters),
}

/// Terms without duplicates.
pub(in crate::formats) struct Terms {
    terms: Vec<Term>,
    nullable: Vec<bool>,
    ids: Map<Term, Id>,
    derived: Map<(Id, u32), Id>,
    /// Whether a limit was exceeded. Later terms are meaningless.
    is_full: bool,
    /// The number of derivatives that may still be computed.
    steps_left: usize,
}

impl Terms {
    pub(in crate::formats) fn new() -> Terms {
        Terms::within(usize::MAX)
    }

    /// Returns an empty set of terms with this limit on its steps.
    pub(in crate::formats) fn within(steps: usize) -> Terms {
        let mut terms = Terms {
            terms: Vec::new(),
            nullable: Vec::new(),
            ids: Map::new(),
            derived: Map::new(),
            is_full: false,
            steps_left: steps,
        };
        terms.add(Term::Never);
        terms.add(Term::Empty);
        terms.add(Term::Not(NEVER));
        terms
    }

    /// Returns the number of terms.
    pub(in crate::formats) fn len(&self) -> usize {
        self.terms.len()
    }

    /// Returns the number of steps left.
    pub(in crate::formats) fn steps_left(&self) -> usize {
        self.steps_left
    }

    /// Takes some of the steps. `None` if not enough are left.
    pub(in crate::formats) fn spend(&mut self, steps: usize) -> Option<()> {
        let left = self.steps_left.checked_sub(steps);
        self.is_full |= left.is_none();
        self.steps_left = left.unwrap_or(0);
        left.map(|_| ())
    }

    fn add(&mut self, term: Term) -> Id {
        if let Some(&id) = self.ids.get(&term) {
            return id;
        }
        if self.terms.len() >= MAX_TERMS {
            self.is_full = true;
            return NEVER;
        }
        let nullable = match &term {
            Term::Never | Term::One(_) => false,
            Term::Empty | Term::Star(_) => true,
            Term::Seq(first, second) => self.nullable[*first] && self.nullable[*second],
            Term::Or(items) => items.iter().any(|&item| self.nullable[item]),
            Term::And(items) => items.iter().all(|&item| self.nullable[item]),
            Term::Not(inner) => !self.nullable[*inner],
            Term::With(inner, _) => self.nullable[*inner],
        };
        self.nullable.push(nullable);
        self.terms.push(term.clone());
        self.ids.insert(term, self.terms.len() - 1);
        self.terms.len() - 1
    }

    /// Returns a single letter of a set.
    pub(in crate::formats) fn one(&mut self, letters: Letters) -> Id {
        if letters == 0 { NEVER } else { self.add(Term::One(letters)) }
    }

    pub(in crate::formats) fn seq(&mut self, first: Id, second: Id) -> Id {
        // Sequences are kept right-associative.
        let (mut heads, mut last) = (Vec::new(), first);
        while let Term::Seq(head, tail) = self.terms[last] {
            heads.push(head);
            last = tail;
        }
        let whole = self.pair(last, second);
        heads.into_iter().rev().fold(whole, |whole, head| self.pair(head, whole))
    }

    fn pair(&mut self, first: Id, second: Id) -> Id {
        match (first, second) {
            (NEVER, _) | (_, NEVER) => NEVER,
            (EMPTY, other) | (other, EMPTY) => other,
            (ALL, ALL) => ALL,
            _ => self.add(Term::Seq(first, second)),
        }
    }

    pub(in crate::formats) fn all_of(&mut self, items: &[Id]) -> Id {
        items.iter().rev().fold(EMPTY, |tail, &item| self.seq(item, tail))
    }

    pub(in crate::formats) fn or(&mut self, items: impl IntoIterator<Item = Id>) -> Id {
        let (mut flat, mut letters) = (Set::new(), 0);
        for item in items {
            match &self.terms[item] {
                Term::Or(inner) => flat.extend(inner.iter().copied()),
                _ => drop(flat.insert(item)),
            }
        }
        flat.retain(|&item| match self.terms[item] {
            Term::One(more) => {
                letters |= more;
                false
            }
            _ => item != NEVER,
        });
        if flat.contains(&ALL) {
            return ALL;
        }
        if letters != 0 {
            flat.insert(self.one(letters));
        }
        self.joined(flat, NEVER, Term::Or)
    }

    pub(in crate::formats) fn and(&mut self, items: impl IntoIterator<Item = Id>) -> Id {
        let mut flat = Set::new();
        for item in items {
            match &self.terms[item] {
                Term::And(inner) => flat.extend(inner.iter().copied()),
                _ => drop(flat.insert(item)),
            }
        }
        flat.remove(&ALL);
        if flat.contains(&NEVER) { NEVER } else { self.joined(flat, ALL, Term::And) }
    }

    fn joined(&mut self, items: Set<Id>, none: Id, join: fn(Vec<Id>) -> Term) -> Id {
        let items: Vec<Id> = items.into_iter().collect();
        match items.as_slice() {
            [] => none,
            [only] => *only,
            _ => self.add(join(items)),
        }
    }

    pub(in crate::formats) fn not(&mut self, inner: Id) -> Id {
        match self.terms[inner] {
            Term::Not(inside) => inside,
            _ => self.add(Term::Not(inner)),
        }
    }

    pub(in crate::formats) fn star(&mut self, inner: Id) -> Id {
        match self.terms[inner] {
            Term::Never | Term::Empty => EMPTY,
            Term::Star(_) => inner,
            _ if inner == ALL => ALL,
            _ => self.add(Term::Star(inner)),
        }
    }

    /// Returns the texts of a term with any number of these letters anywhere in them.
    pub(in crate::formats) fn with(&mut self, inner: Id, letters: Letters) -> Id {
        if inner == NEVER { NEVER } else { self.add(Term::With(inner, letters)) }
    }

    /// Returns the derivative of a term: the rests of its texts that begin with `letter`. `depth` is the nesting of the
    /// term.
    fn derive(&mut self, id: Id, letter: u32, depth: u32) -> Id {
        if depth > MAX_DEPTH || self.spend(1).is_none() {
            self.is_full = true;
            return NEVER;
        }
        if let Some(&known) = self.derived.get(&(id, letter)) {
            return known;
        }
        let result = match self.terms[id].clone() {
            Term::Never | Term::Empty => NEVER,
            Term::One(letters) => {
                if letters >> letter & 1 == 1 {
                    EMPTY
                } else {
                    NEVER
                }
            }
            Term::Seq(first, second) => {
                let head = self.derive(first, letter, depth + 1);
                let head = self.seq(head, second);
                if self.nullable[first] {
                    let tail = self.derive(second, letter, depth + 1);
                    self.or([head, tail])
                } else {
                    head
                }
            }
            Term::Or(items) => {
                let items: Vec<Id> = items.into_iter().map(|item| self.derive(item, letter, depth + 1)).collect();
                self.or(items)
            }
            Term::And(items) => {
                let items: Vec<Id> = items.into_iter().map(|item| self.derive(item, letter, depth + 1)).collect();
                self.and(items)
            }
            Term::Not(inner) => {
                let inner = self.derive(inner, letter, depth + 1);
                self.not(inner)
            }
            Term::Star(inner) => {
                let head = self.derive(inner, letter, depth + 1);
                self.seq(head, id)
            }
            Term::With(_, letters) if letters >> letter & 1 == 1 => id,
            Term::With(inner, letters) => {
                let inner = self.derive(inner, letter, depth + 1);
                self.with(inner, letters)
            }
        };
        if !self.is_full {
            self.derived.insert((id, letter), result);
        }
        result
    }

    /// Returns the automaton of a term. `None` if it is too large.
    pub(in crate::formats) fn automaton(&mut self, start: Id, letters: u32) -> Option<Automaton> {
        let mut places = Map::from([(start, 0)]);
        let mut order = vec![start];
        let mut automaton = Automaton::default();
        while let Some(&id) = order.get(automaton.next.len()) {
            let mut row = Vec::new();
            for letter in 0..letters {
                let next = self.derive(id, letter, 0);
                if self.is_full || order.len() > MAX_STATES {
                    return None;
                }
                row.push((next != NEVER).then(|| {
                    *places.entry(next).or_insert_with(|| {
                        order.push(next);
                        order.len() - 1
                    })
                }));
            }
            automaton.next.push(row);
            automaton.is_end.push(self.nullable[id]);
        }
        Some(automaton)
    }
}

/// A side of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::formats) enum Edge {
    Beginning,
    End,
}

/// The state of another path through the automaton with the same letters, compared to the current path.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Other {
    /// All its repetitions began and ended at the same places.
    Same,
    /// Path that has just left a repetition that the current path is still in.
    Left,
    /// Path that left a repetition earlier.
    Shorter,
}

type Others = Set<(usize, Other)>;

/// Returns the automaton of the states that are reachable from `start`. `None` if there are too many.
fn determined<S: Clone + Ord>(
    start: S,
    letters: usize,
    next: impl Fn(&S, usize) -> Option<S>,
    mut is_end: impl FnMut(&S) -> bool,
) -> Option<Automaton> {
    let mut places = Map::from([(start.clone(), 0)]);
    let mut order = vec![start];
    let mut automaton = Automaton::default();
    while let Some(state) = order.get(automaton.next.len()).cloned() {
        let mut row = Vec::new();
        for letter in 0..letters {
            let Some(next) = next(&state, letter) else {
                row.push(None);
                continue;
            };
            let count = order.len();
            if count > MAX_STATES {
                return None;
            }
            let place = *places.entry(next.clone()).or_insert(count);
            if place == count {
                order.push(next);
            }
            row.push(Some(place));
        }
        automaton.next.push(row);
        automaton.is_end.push(is_end(&state));
    }
    Some(automaton)
}

/// A deterministic automaton, whose first state is its start.
#[derive(Default)]
pub(in crate::formats) struct Automaton {
    /// The next state for each state and letter.
    pub(in crate::formats) next: Vec<Vec<Option<usize>>>,
    /// Flag for each state: true if a text may end in it.
    pub(in crate::formats) is_end: Vec<bool>,
}

impl Automaton {
    /// Returns the number of entries in its table.
    pub(in crate::formats) fn size(&self) -> usize {
        self.next.iter().map(Vec::len).sum()
    }

    /// Returns the automaton of the same language, but without the letters from `first` on in its texts. `None` if it
    /// is too large.
    pub(in crate::formats) fn without_letters_from(&self, first: usize) -> Option<Automaton> {
        let closed = |states: &mut Set<usize>| {
            let mut pending: Vec<usize> = states.iter().copied().collect();
            while let Some(state) = pending.pop() {
                for next in self.next[state][first..].iter().flatten() {
                    if states.insert(*next) {
                        pending.push(*next);
                    }
                }
            }
        };
        let mut start = Set::from([0]);
        closed(&mut start);
        determined(
            start,
            first,
            |states, letter| {
                let mut next: Set<usize> = states.iter().filter_map(|&state| self.next[state][letter]).collect();
                closed(&mut next);
                (!next.is_empty()).then_some(next)
            },
            |states| states.iter().any(|&state| self.is_end[state]),
        )
    }

    /// Removes the texts in which a repetition goes on although ending it would give a shorter text. `early` are the
    /// letters before such repetitions, `left` the letters after them. Letters from `first` on are not part of the
    /// texts. `None` if the result is too large.
    pub(in crate::formats) fn ending_early(&self, first: usize, early: Letters, left: Letters) -> Option<Automaton> {
        let is_in = |letters: Letters, letter: usize| letters >> letter & 1 == 1;
        let closed = |mut others: Others| {
            let mut pending: Vec<(usize, Other)> = others.iter().copied().collect();
            while let Some((state, other)) = pending.pop() {
                for letter in first..self.next[state].len() {
                    let Some(next) = self.next[state][letter] else { continue };
                    let other = match other {
                        Other::Same if is_in(early, letter) => continue,
                        Other::Same if is_in(left, letter) => Other::Left,
                        _ => other,
                    };
                    if others.insert((next, other)) {
                        pending.push((next, other));
                    }
                }
            }
            others
        };
        // Each path through the automaton is compared with all others that read the same letters.
        let step = |others: &Others, letter: usize| -> Option<Others> {
            let is_mark = letter >= first;
            if is_mark && !is_in(early | left, letter) {
                return Some(others.clone());
            }
            if !is_mark && others.iter().any(|&(state, other)| other != Other::Same && self.is_end[state]) {
                return None;
            }
            let next = others.iter().filter_map(|&(state, other)| match other {
                Other::Left if is_in(left, letter) => None,
                Other::Same => Some((self.next[state][letter]?, Other::Same)),
                _ if is_mark => Some((state, Other::Shorter)),
                _ => Some((self.next[state][letter]?, Other::Shorter)),
            });
            Some(closed(next.collect()))
        };
        let start = (0, closed(Set::from([(0, Other::Same)])));
        determined(
            start,
            self.next[0].len(),
            |(state, others), letter| self.next[*state][letter].and_then(|next| Some((next, step(others, letter)?))),
            |(state, _)| self.is_end[*state],
        )
    }

    /// Returns the texts of `own`, and the texts of `more` that are not beginnings (or ends, as `edge` says) of texts
    /// of `own`. Also whether there are any of the latter. `own` must be minimal. `None` if the result is too large.
    pub(in crate::formats) fn joined(
        own: Option<&Automaton>,
        more: &Automaton,
        edge: Edge,
    ) -> Option<(Automaton, bool)> {
        let go = |state: usize, letter: usize| own.and_then(|own| own.next[state][letter]);
        let ends = |state: usize| own.is_some_and(|own| own.is_end[state]);
        let around = match (own, edge) {
            (None, _) => Set::new(),
            (_, Edge::Beginning) => Set::from([0]),
            (Some(own), Edge::End) => (0..own.next.len()).collect(),
        };
        let adds = |around: &Set<usize>, more_state: Option<usize>| {
            more_state.is_some_and(|state| more.is_end[state])
                && match edge {
                    Edge::Beginning => around.is_empty(),
                    Edge::End => !around.iter().any(|&state| ends(state)),
                }
        };
        let mut has_more = false;
        let joined = determined(
            (own.map(|_| 0), around, Some(0)),
            more.next[0].len(),
            |(own, around, other), letter| {
                let own = own.and_then(|state| go(state, letter));
                let other = other.and_then(|state| more.next[state][letter]);
                let around = around.iter().filter(|_| other.is_some()).filter_map(|&state| go(state, letter)).collect();
                (own.is_some() || other.is_some()).then_some((own, around, other))
            },
            |(own, around, other)| {
                let adds = adds(around, *other);
                has_more |= adds;
                adds || own.is_some_and(ends)
            },
        )?;
        Some((joined, has_more))
    }

    /// Returns the minimal automaton of this language, without dead states. `None` if the language is empty.
    pub(in crate::formats) fn smallest(&self) -> Option<Automaton> {
        // Finds the states that lead to an end, beginning at the ends.
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.next.len()];
        for (state, row) in self.next.iter().enumerate() {
            row.iter().flatten().for_each(|&next| before[next].push(state));
        }
        let mut leads = self.is_end.clone();
        let mut pending: Vec<usize> = (0..leads.len()).filter(|&state| leads[state]).collect();
        while let Some(state) = pending.pop() {
            for &from in &before[state] {
                if !std::mem::replace(&mut leads[from], true) {
                    pending.push(from);
                }
            }
        }
        if !leads[0] {
            return None;
        }
        // Moore's algorithm.
        let mut part: Vec<usize> = self.is_end.iter().map(|&is_end| usize::from(is_end)).collect();
        let mut count = 0;
        loop {
            let mut parts: Map<(usize, Vec<Option<usize>>), usize> = Map::new();
            let mut refined = vec![0; part.len()];
            for state in (0..part.len()).filter(|&state| leads[state]) {
                let row = self.next[state].iter().map(|next| next.filter(|&next| leads[next]).map(|next| part[next]));
                let next = parts.len();
                refined[state] = *parts.entry((part[state], row.collect())).or_insert(next);
            }
            part = refined;
            if parts.len() == count {
                break;
            }
            count = parts.len();
        }
        // The start becomes state 0, because parts are numbered by their first states.
        let mut automaton = Automaton { next: vec![Vec::new(); count], is_end: vec![false; count] };
        for state in (0..part.len()).filter(|&state| leads[state]) {
            let row = self.next[state].iter().map(|next| next.filter(|&next| leads[next]).map(|next| part[next]));
            automaton.next[part[state]] = row.collect();
            automaton.is_end[part[state]] = self.is_end[state];
        }
        Some(automaton)
    }
}
