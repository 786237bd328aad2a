//! Puts separators between neighbours that the lexer would else cut otherwise.
//!
//! What may stand to the left of a place is known as a set of lexemes: within a rule by looking at what stands before, at
//! its beginning from the rule's *variant*, which says for each lexeme that the rule can begin with what must stand
//! before it. So a separator stands before the very tokens that need one there, and where nothing follows, none does.

use std::collections::VecDeque;

use super::SeparatorPolicy;
use super::bits::Bits;
use super::boundaries::{ANY_FIRST, Boundaries, Clash, FirstId, Need};
use super::edges::Edges;
use super::flat::{Flat, FlatGrammar};
use super::separators::Which;
use crate::ordered::{Map, Set, sort_by};

/// A rule with more variants than this gets one for several contexts.
const MAX_VARIANTS: usize = 12;
/// Neighbours that are looked at in all; ...
const MAX_WORK: usize = 1 << 23;
/// ... and needs that are written down. With more, everything is separated.
const MAX_NEEDS: usize = 1 << 21;
/// An item of more nodes than this is not written twice to treat its first round apart.
const MAX_TWICE: usize = 100;

/// Nor is an item with more repetitions in it.
const MAX_REPEATS: usize = 3;

/// Number of nodes that are written twice where what follows something optional cannot stand without it.
const MAX_COPIED: usize = 1 << 16;

/// An expression over lexemes and separators.
#[derive(Clone, Debug)]
pub(super) enum Spaced {
    /// A lexeme whose text begins with one of some classes of characters.
    Lexeme {
        lexeme: usize,
        first: FirstId,
    },
    /// One of the separators of a lexeme's mode, as bits.
    Separator {
        before: usize,
        which: Which,
    },
    /// A variant, by its place in the list of rules.
    Rule(usize),
    Seq(Vec<Spaced>),
    Choice(Vec<Spaced>),
    Repeat {
        item: Box<Spaced>,
        min: u32,
        max: Option<u32>,
    },
}

/// A rule over lexemes and separators.
#[derive(Clone, Debug)]
pub(super) struct SpacedRule {
    /// The place of the rule that it is a variant of.
    pub(super) origin: usize,
    pub(super) body: Spaced,
}

/// The result; the first rule is the start.
#[derive(Debug, Default)]
pub(super) struct SpacedGrammar {
    pub(super) rules: Vec<SpacedRule>,
    /// Neighbours that nothing separates.
    pub(super) unseparated: Vec<(usize, usize)>,
    /// Neighbours of which the lexer may go on behind the first, with nothing between them that ends it.
    pub(super) restless: Set<(usize, usize)>,
    /// Lexemes behind which the lexer does not go on before one of their neighbours, or is ended.
    pub(super) calm: Set<usize>,
}

/// Separates the lexemes of `flat`. With `only_certain`, nothing is derived in which the lexer may not cut where it should;
/// else neighbours that nothing separates are left as they are.
pub(super) fn separate(
    flat: &FlatGrammar,
    boundaries: &Boundaries<'_>,
    policy: SeparatorPolicy,
    only_certain: bool,
) -> SpacedGrammar {
    let mut separating = Separating {
        flat,
        boundaries,
        policy,
        only_certain,
        edges: Edges::new(flat),
        variants: Map::new(),
        counts: vec![0; flat.rules.len()],
        widest: Map::new(),
        pending: VecDeque::new(),
        sets: Map::new(),
        needs: Map::new(),
        budget: MAX_WORK,
        written: 0,
        copied: MAX_COPIED,
        result: SpacedGrammar::default(),
    };
    separating.variant(flat.start, Vec::new());
    while let Some((id, rule, key)) = separating.pending.pop_front() {
        let inherited = Left { inherited: true, lexemes: Bits::new(flat.lexemes.len()) };
        let (body, _) = separating.expr(&flat.rules[rule].body, &inherited, &key);
        separating.result.rules[id].body = body;
    }
    if separating.is_exhausted() {
        // Of some tokens not all neighbours were looked at.
        separating.result.restless.clear();
    }
    sort_by(&mut separating.result.unseparated, Ord::cmp);
    separating.result.unseparated.dedup();
    separating.result
}

/// The number of repetitions in an expression.
fn repeats(expr: &Flat) -> usize {
    match expr {
        Flat::Lexeme(_) | Flat::Rule(_) => 0,
        Flat::Seq(items) | Flat::Choice(items) => items.iter().map(repeats).sum(),
        Flat::Repeat { item, .. } => 1 + repeats(item),
    }
}

/// What may stand to the left of a place: these lexemes, and what stands before the rule.
#[derive(Clone, PartialEq, Eq)]
struct Left {
    inherited: bool,
    lexemes: Bits,
}

/// Whether what follows an optional item can stand without it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Skipped {
    Never,
    Sometimes,
}

/// What must stand before each lexeme that a rule can begin with; those that need nothing are left out.
type Key = Vec<(usize, Need)>;

/// Stands in a key for all lexemes.
const ANY: usize = usize::MAX;
/// What stands before a lexeme where nothing is known.
const UNKNOWN: Need = Need { clash: Clash::Possible, ..Need::FREE };

struct Separating<'a> {
    flat: &'a FlatGrammar,
    boundaries: &'a Boundaries<'a>,
    policy: SeparatorPolicy,
    only_certain: bool,
    edges: Edges,
    variants: Map<(usize, Key), usize>,
    counts: Vec<usize>,
    /// For rules with many variants the key that covers all contexts so far.
    widest: Map<usize, Key>,
    pending: VecDeque<(usize, usize, Key)>,
    /// The sets of lexemes that stood to the left of something, numbered.
    sets: Map<Bits, usize>,
    needs: Map<(usize, usize), Need>,
    /// What may still be spent on needs; then every neighbour is separated.
    budget: usize,
    /// How many needs the keys of variants hold.
    written: usize,
    /// How many nodes may still be written twice.
    copied: usize,
    result: SpacedGrammar,
}

impl Separating<'_> {
    /// The variant of a rule for these needs.
    fn variant(&mut self, rule: usize, mut key: Key) -> usize {
        if !self.variants.contains_key(&(rule, key.clone())) && self.counts[rule] >= MAX_VARIANTS {
            let wide = self.widest.remove(&rule).unwrap_or_else(|| key.clone());
            key = self.either_key(wide, key);
            self.widest.insert(rule, key.clone());
        }
        if let Some(&id) = self.variants.get(&(rule, key.clone())) {
            return id;
        }
        let id = self.result.rules.len();
        self.result.rules.push(SpacedRule { origin: rule, body: Spaced::Choice(Vec::new()) });
        self.counts[rule] += 1;
        self.written += key.len();
        self.variants.insert((rule, key.clone()), id);
        self.pending.push_back((id, rule, key));
        id
    }

    /// The key of a variant for the contexts of both.
    fn either_key(&self, a: Key, b: Key) -> Key {
        let b: Map<usize, Need> = b.into_iter().collect();
        if self.policy == SeparatorPolicy::Any {
            let both = a.into_iter().filter_map(|(lexeme, need)| Some((lexeme, need.min(*b.get(&lexeme)?))));
            return both.collect();
        }
        let mut wide: Map<usize, Need> = a.into_iter().collect();
        for (lexeme, need) in b {
            let entry = wide.entry(lexeme).or_insert(need);
            *entry = self.boundaries.both(*entry, need);
        }
        wide.into_iter().collect()
    }

    /// What must stand before `lexeme` if `left` does.
    fn need(&mut self, left: &Left, key: &Key, lexeme: usize) -> Need {
        let number = self.set_number(&left.lexemes);
        self.need_in(left, number, key, lexeme)
    }

    /// The number of a set of lexemes; 0 once no more is looked at.
    fn set_number(&mut self, lexemes: &Bits) -> usize {
        if self.is_exhausted() {
            return 0;
        }
        if let Some(&number) = self.sets.get(lexemes) {
            return number;
        }
        self.sets.insert(lexemes.clone(), self.sets.len());
        self.sets.len() - 1
    }

    fn is_exhausted(&self) -> bool {
        self.budget == 0 || self.written > MAX_NEEDS
    }

    /// The same, given the number of the set of lexemes to the left.
    fn need_in(&mut self, left: &Left, number: usize, key: &Key, lexeme: usize) -> Need {
        let mut need = self.need_behind(&left.lexemes, number, lexeme);
        if left.inherited {
            if let Ok(place) = key.binary_search_by_key(&lexeme, |&(lexeme, _)| lexeme) {
                need = match left.lexemes.is_empty() {
                    true => key[place].1,
                    false => self.either(need, key[place].1),
                };
            } else if self.policy == SeparatorPolicy::Any {
                need = Need::FREE;
            }
            if let Some(&(ANY, unknown)) = key.last() {
                need = self.boundaries.both(need, unknown);
            }
        }
        need
    }

    /// What must stand at a place that either of two texts may stand before. Where anything may stand, something must only if it
    /// must in both cases.
    fn either(&self, a: Need, b: Need) -> Need {
        match self.policy {
            SeparatorPolicy::Any => a.min(b),
            _ => self.boundaries.both(a, b),
        }
    }

    fn need_behind(&mut self, lexemes: &Bits, number: usize, right: usize) -> Need {
        let is_any = self.policy == SeparatorPolicy::Any;
        if self.is_exhausted() {
            return if lexemes.is_empty() || is_any { Need::FREE } else { UNKNOWN };
        }
        self.budget -= 1;
        let place = (number, right);
        if let Some(&need) = self.needs.get(&place) {
            return need;
        }
        let mut all = None;
        for left in lexemes.iter() {
            self.budget = self.budget.saturating_sub(1);
            if self.policy == SeparatorPolicy::Any {
                // Where anything may stand, something must only if the lexer goes on for sure, whichever of these stands there.
                all = Some(Need { clash: Clash::Certain, ..Need::FREE });
                if !self.boundaries.always_goes_on(left, right) {
                    all = None;
                    break;
                }
                continue;
            }
            let mut need = self.boundaries.need(left, right);
            match self.policy {
                SeparatorPolicy::Space if need.separators != 0 => need.clash = Clash::Certain,
                SeparatorPolicy::None => need = Need { clash: Clash::None, ..need },
                _ => {}
            }
            if need.clash != Clash::None && need.separators & need.ending == 0 {
                self.result.restless.insert((left, right));
            } else {
                self.result.calm.insert(left);
            }
            if need.clash == Clash::Certain && need.wanted() == 0 {
                self.result.unseparated.push((left, right));
            }
            all = Some(all.map_or(need, |all| self.boundaries.both(all, need)));
        }
        let mut all = all.unwrap_or(Need::FREE);
        // Which separators would do matters only if one of them must.
        let available = self.boundaries.available(right);
        if all.clash == Clash::None && all.separators & available == available {
            all = Need::FREE;
        }
        self.written += 1;
        self.needs.insert(place, all);
        all
    }

    /// The needs at the beginning of something that begins with `first`, behind `left`.
    fn key(&mut self, first: &Bits, left: &Left, key: &Key) -> Key {
        if self.is_exhausted() {
            return if self.policy == SeparatorPolicy::Any { Vec::new() } else { vec![(ANY, UNKNOWN)] };
        }
        let number = self.set_number(&left.lexemes);
        first
            .iter()
            .map(|lexeme| (lexeme, self.need_in(left, number, key, lexeme)))
            .filter(|&(_, need)| need != Need::FREE)
            .collect()
    }

    /// The expression behind `left`, with separators, and what stands to the left of what follows.
    fn expr(&mut self, expr: &Flat, left: &Left, key: &Key) -> (Spaced, Left) {
        match expr {
            Flat::Lexeme(lexeme) => {
                let need = self.need(left, key, *lexeme);
                let mut behind = Left { inherited: false, lexemes: Bits::new(self.flat.lexemes.len()) };
                behind.lexemes.insert(*lexeme);
                (self.lexeme(*lexeme, need), behind)
            }
            Flat::Rule(rule) => {
                let first = self.edges.first[*rule].clone();
                let key = self.key(&first, left, key);
                let id = self.variant(*rule, key);
                let mut behind = Left { inherited: false, lexemes: self.edges.last[*rule].clone() };
                if self.edges.nullable[*rule] {
                    behind.add(left);
                }
                (Spaced::Rule(id), behind)
            }
            Flat::Seq(items) => self.sequence(items, left, key),
            Flat::Choice(options) => {
                let mut behind = Left { inherited: false, lexemes: Bits::new(self.flat.lexemes.len()) };
                let mut spaced = Vec::with_capacity(options.len());
                for option in options {
                    let (option, end) = self.expr(option, left, key);
                    spaced.push(option);
                    behind.add(&end);
                }
                (Spaced::Choice(spaced), behind)
            }
            Flat::Repeat { item, min, max } => self.repeat(item, *min, *max, left, key),
        }
    }

    /// Items one after the other. Where what follows an optional item cannot stand without it, it is not optional; where only some of that can,
    /// what follows is written for both cases, so that the item is there before the others.
    fn sequence(&mut self, items: &[Flat], left: &Left, key: &Key) -> (Spaced, Left) {
        let mut left = left.clone();
        let mut spaced = Vec::with_capacity(items.len());
        for (place, item) in items.iter().enumerate() {
            let rest = &items[place + 1..];
            let needed = match item {
                Flat::Repeat { item: inner, min: 0, max } if self.only_certain && *max != Some(0) => {
                    let once = match max {
                        Some(1) => (**inner).clone(),
                        _ => Flat::Repeat { item: inner.clone(), min: 1, max: *max },
                    };
                    self.skipped(inner, rest, &left, key).map(|skipped| (once, skipped))
                }
                _ => None,
            };
            match needed {
                Some((once, Skipped::Sometimes)) => {
                    let size: usize = rest.iter().map(Flat::size).sum();
                    if size <= MAX_TWICE && size <= self.copied {
                        self.copied -= size;
                        let with: Vec<Flat> = std::iter::once(once).chain(rest.iter().cloned()).collect();
                        let (with, mut behind) = self.sequence(&with, &left, key);
                        let (without, end) = self.sequence(rest, &left, key);
                        behind.add(&end);
                        spaced.push(Spaced::Choice(vec![without, with]));
                        return (Spaced::Seq(spaced), behind);
                    }
                    let (item, behind) = self.expr(item, &left, key);
                    spaced.push(item);
                    left = behind;
                }
                Some((once, Skipped::Never)) => {
                    let (item, behind) = self.expr(&once, &left, key);
                    spaced.push(item);
                    left = behind;
                }
                None => {
                    let (item, behind) = self.expr(item, &left, key);
                    spaced.push(item);
                    left = behind;
                }
            }
        }
        (Spaced::Seq(spaced), left)
    }

    /// Whether what follows an item can stand without it, if it could better with it.
    fn skipped(&mut self, item: &Flat, rest: &[Flat], left: &Left, key: &Key) -> Option<Skipped> {
        let count = self.flat.lexemes.len();
        let (mut first, mut last) = (Bits::new(count), Bits::new(count));
        if rest.iter().all(|item| self.edges.add_first(item, &mut first)) || self.edges.add_last(item, &mut last) {
            return None;
        }
        let with = Left { inherited: false, lexemes: last };
        let numbers = (self.set_number(&left.lexemes), self.set_number(&with.lexemes));
        let (mut some, mut all) = (false, true);
        for lexeme in first.iter() {
            let need = self.need_in(left, numbers.0, key, lexeme);
            let is_better = self.is_unseparated(need, lexeme) && {
                let other = self.need_in(&with, numbers.1, key, lexeme);
                !self.is_unseparated(other, lexeme)
            };
            some |= is_better;
            all &= is_better && !self.boundaries.allows(need.first, lexeme);
        }
        match (some, all) {
            (true, true) => Some(Skipped::Never),
            (true, false) => Some(Skipped::Sometimes),
            (false, _) => None,
        }
    }

    /// Whether something must stand before a lexeme, and nothing can.
    fn is_unseparated(&self, need: Need, lexeme: usize) -> bool {
        need.clash == Clash::Certain && need.wanted() & self.boundaries.available(lexeme) == 0
    }

    fn repeat(&mut self, item: &Flat, min: u32, max: Option<u32>, left: &Left, key: &Key) -> (Spaced, Left) {
        let (mut first, mut last) = (Bits::new(self.flat.lexemes.len()), Bits::new(self.flat.lexemes.len()));
        let nullable = self.edges.add_first(item, &mut first);
        self.edges.add_last(item, &mut last);
        let last = Left { inherited: false, lexemes: last };
        let before_later = if nullable { union(&last, left) } else { last.clone() };
        let behind = if min == 0 || nullable { union(&last, left) } else { last };
        let repeat = |item, min, max| Spaced::Repeat { item: Box::new(item), min, max };
        if max == Some(1) {
            let (item, _) = self.expr(item, left, key);
            return (repeat(item, min, max), behind);
        }
        let at_first = self.key(&first, left, key);
        let later = self.key(&first, &before_later, key);
        if at_first != later && min <= 1 && max.is_none() && item.size() <= MAX_TWICE && repeats(item) <= MAX_REPEATS {
            let (first, _) = self.expr(item, left, key);
            let (more, _) = self.expr(item, &before_later, key);
            let rounds = Spaced::Seq(vec![first, repeat(more, 0, None)]);
            // `x*` as `(x y*)?` makes the same choices.
            return (if min == 0 { repeat(rounds, 0, Some(1)) } else { rounds }, behind);
        }
        let anywhere = union(left, &before_later);
        let (item, _) = self.expr(item, &anywhere, key);
        (repeat(item, min, max), behind)
    }

    /// A lexeme with what must stand before it.
    fn lexeme(&mut self, lexeme: usize, need: Need) -> Spaced {
        let never = self.only_certain && !self.boundaries.is_whole(lexeme);
        let which = need.wanted() & self.boundaries.available(lexeme);
        if never {
            Spaced::Choice(Vec::new())
        } else if self.only_certain && self.is_unseparated(need, lexeme) {
            // What cannot be separated must at least not begin with what the left one would go on with.
            Spaced::Lexeme { lexeme, first: need.first }
        } else if need.clash == Clash::Possible
            && which == 0
            && self.only_certain
            && self.boundaries.divides(need.first, lexeme)
        {
            Spaced::Lexeme { lexeme, first: need.first }
        } else if which != 0 {
            let token = Spaced::Lexeme { lexeme, first: ANY_FIRST };
            Spaced::Seq(vec![Spaced::Separator { before: lexeme, which }, token])
        } else {
            Spaced::Lexeme { lexeme, first: ANY_FIRST }
        }
    }
}

fn union(a: &Left, b: &Left) -> Left {
    let mut both = a.clone();
    both.add(b);
    both
}

impl Left {
    fn add(&mut self, other: &Left) {
        self.inherited |= other.inherited;
        self.lexemes.extend(&other.lexemes);
    }
}
