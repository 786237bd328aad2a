//! Puts separators between neighbours that the lexer would otherwise cut differently.
//!
//! The possible text to the left of a place is a set of lexemes. Within a rule it follows from the preceding parts. At
//! the beginning of a rule it comes from the rule's *variant*: for each lexeme that the rule can begin with, the
//! variant says which text must precede it. So a separator stands only before tokens that need one there, and none
//! stands where nothing follows.

use std::collections::VecDeque;

use super::SeparatorPolicy;
use super::bits::Bits;
use super::boundaries::{ANY_FIRST, Boundaries, Clash, FirstId, Need};
use super::edges::Edges;
use super::flat::{Flat, FlatGrammar};
use super::pairs::Pairs;
use super::separators::Which;
use crate::ordered::{Map, Set, sort_by};

/// The most variants of a rule for single contexts. With more, it gets one for several contexts.
const MAX_VARIANTS: usize = 12;
/// The number of pairs of neighbours that are examined.
const MAX_WORK: usize = 1 << 23;
/// The number of needs that are kept. Beyond it, everything is separated.
const MAX_NEEDS: usize = 1 << 21;
/// The largest item, in nodes, that is written twice to separate its first round from the others.
const MAX_TWICE: usize = 100;

/// The most repetitions in such an item.
const MAX_REPEATS: usize = 3;

/// The number of nodes that may be written twice because the text after an optional item cannot stand without it.
const MAX_COPIED: usize = 1 << 16;

/// An expression over lexemes and separators.
#[derive(Clone, Debug)]
pub(super) enum Spaced {
    /// A lexeme whose text begins with certain classes of characters.
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
    /// The place of the original rule.
    pub(super) origin: usize,
    pub(super) body: Spaced,
}

/// The result. The first rule is the start.
#[derive(Debug, Default)]
pub(super) struct SpacedGrammar {
    pub(super) rules: Vec<SpacedRule>,
    /// Neighbours that nothing can separate.
    pub(super) unseparated: Vec<(usize, usize)>,
    /// Pairs of neighbours where the lexer may continue beyond the first, without a separator that ends it.
    pub(super) restless: Set<(usize, usize)>,
    /// Lexemes that some neighbour can follow: the lexer does not continue before it, or a separator ends it.
    pub(super) calm: Set<usize>,
}

/// Separates the lexemes of `flat`. With `only_certain`, texts that the lexer may cut wrongly are not derived.
/// Otherwise neighbours that nothing can separate are kept as they are.
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
        variants: vec![Vec::new(); flat.rules.len()],
        widest: Map::new(),
        pending: VecDeque::new(),
        sets: Map::new(),
        needs: Pairs::default(),
        calm: Bits::new(flat.lexemes.len()),
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
        // Not all neighbours were examined, so the result is not reliable.
        separating.result.restless.clear();
    }
    separating.result.calm = separating.calm.iter().collect();
    sort_by(&mut separating.result.unseparated, Ord::cmp);
    separating.result.unseparated.dedup();
    separating.result
}

/// Returns the number of repetitions in an expression.
fn repeats(expr: &Flat) -> usize {
    match expr {
        Flat::Lexeme(_) | Flat::Rule(_) => 0,
        Flat::Seq(items) | Flat::Choice(items) => items.iter().map(repeats).sum(),
        Flat::Repeat { item, .. } => 1 + repeats(item),
    }
}

/// The possible lexemes to the left of a place. If `inherited`, also the text before the rule.
#[derive(Clone, PartialEq, Eq)]
struct Left {
    inherited: bool,
    lexemes: Bits,
}

/// Answer to the question whether the text after an optional item can stand without the item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Skipped {
    Never,
    Sometimes,
}

/// The need before each lexeme that a rule can begin with. Lexemes without a need are left out.
type Key = Vec<(usize, Need)>;

/// Stands for all lexemes in a key.
const ANY: usize = usize::MAX;
/// The need where nothing is known.
const UNKNOWN: Need = Need { clash: Clash::Possible, ..Need::FREE };

struct Separating<'a> {
    flat: &'a FlatGrammar,
    boundaries: &'a Boundaries<'a>,
    policy: SeparatorPolicy,
    only_certain: bool,
    edges: Edges,
    /// The variants of each rule, by their needs.
    variants: Vec<Vec<(Key, usize)>>,
    /// For rules with many variants, the key that covers all contexts so far.
    widest: Map<usize, Key>,
    pending: VecDeque<(usize, usize, Key)>,
    /// The sets of lexemes to the left, numbered.
    sets: Map<Bits, usize>,
    needs: Pairs<Need>,
    /// The lexemes for [`SpacedGrammar::calm`].
    calm: Bits,
    /// The remaining budget for needs. At 0, all neighbours are separated.
    budget: usize,
    /// The number of needs in the keys of variants.
    written: usize,
    /// The number of nodes that may still be written twice.
    copied: usize,
    result: SpacedGrammar,
}

impl Separating<'_> {
    /// Returns the variant of a rule for these needs.
    fn variant(&mut self, rule: usize, mut key: Key) -> usize {
        let known =
            |variants: &[(Key, usize)], key: &Key| variants.iter().find(|known| known.0 == *key).map(|known| known.1);
        if let Some(id) = known(&self.variants[rule], &key) {
            return id;
        }
        if self.variants[rule].len() >= MAX_VARIANTS {
            let wide = self.widest.remove(&rule).unwrap_or_else(|| key.clone());
            key = self.either_key(wide, key);
            self.widest.insert(rule, key.clone());
            if let Some(id) = known(&self.variants[rule], &key) {
                return id;
            }
        }
        let id = self.result.rules.len();
        self.result.rules.push(SpacedRule { origin: rule, body: Spaced::Choice(Vec::new()) });
        self.written += key.len();
        self.variants[rule].push((key.clone(), id));
        self.pending.push_back((id, rule, key));
        id
    }

    /// Returns the key of a variant for both contexts.
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

    /// Returns the need before `lexeme` after `left`.
    fn need(&mut self, left: &Left, key: &Key, lexeme: usize) -> Need {
        let number = self.set_number(&left.lexemes);
        self.need_in(left, number, key, lexeme)
    }

    /// Returns the number of a set of lexemes. 0 once the budget is spent.
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

    /// Returns the need before `lexeme` after `left`, given the number of the set of lexemes in `left`.
    fn need_in(&mut self, left: &Left, number: usize, key: &Key, lexeme: usize) -> Need {
        let mut need = self.need_behind(&left.lexemes, number, lexeme);
        if left.inherited {
            if let Ok(place) = key.binary_search_by_key(&lexeme, |&(lexeme, _)| lexeme) {
                need = if left.lexemes.is_empty() { key[place].1 } else { self.either(need, key[place].1) };
            } else if self.policy == SeparatorPolicy::Any {
                need = Need::FREE;
            }
            if let Some(&(ANY, unknown)) = key.last() {
                need = self.boundaries.both(need, unknown);
            }
        }
        need
    }

    /// Returns the need at a place that two different texts may precede. Where any text may stand, a separator is
    /// needed only if both cases need one.
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
        if let Some(&need) = self.needs.get(place) {
            return need;
        }
        let mut all = None;
        for left in lexemes.iter() {
            self.budget = self.budget.saturating_sub(1);
            if self.policy == SeparatorPolicy::Any {
                // Where any text may stand, a separator is needed only if the lexer certainly continues after each of
                // these lexemes.
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
                self.calm.insert(left);
            }
            if need.clash == Clash::Certain && need.wanted() == 0 {
                self.result.unseparated.push((left, right));
            }
            all = Some(all.map_or(need, |all| self.boundaries.both(all, need)));
        }
        let mut all = all.unwrap_or(Need::FREE);
        // The possible separators matter only if one is needed.
        let available = self.boundaries.available(right);
        if all.clash == Clash::None && all.separators & available == available {
            all = Need::FREE;
        }
        self.written += 1;
        self.needs.insert(place, all);
        all
    }

    /// Returns the needs at the beginning of an expression that begins with `first`, after `left`.
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

    /// Returns the expression after `left` with separators, and the `Left` after it.
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

    /// Returns items one after the other. If the text after an optional item cannot stand without it, the item is not
    /// optional. If only some of that text can, it is written for both cases, so that the item is present before the
    /// rest of it.
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

    /// Says whether the text after an item can stand without the item. `None` if the same separators do with and
    /// without the item, or if the item does not help to separate it.
    fn skipped(&mut self, item: &Flat, rest: &[Flat], left: &Left, key: &Key) -> Option<Skipped> {
        let count = self.flat.lexemes.len();
        let (mut first, mut last) = (Bits::new(count), Bits::new(count));
        if rest.iter().all(|item| self.edges.add_first(item, &mut first)) || self.edges.add_last(item, &mut last) {
            return None;
        }
        let with = Left { inherited: false, lexemes: last };
        let either = union(left, &with);
        let [number, number_with, number_either] = [left, &with, &either].map(|left| self.set_number(&left.lexemes));
        let (mut some, mut all) = (false, true);
        for lexeme in first.iter() {
            let need = self.need_in(left, number, key, lexeme);
            let need_with = self.need_in(&with, number_with, key, lexeme);
            let need_either = self.need_in(&either, number_either, key, lexeme);
            let helps = !self.is_unseparated(need_with, lexeme);
            // Both cases may also have separators, but none in common.
            some |= helps && self.is_unseparated(need_either, lexeme);
            all &= helps && self.is_unseparated(need, lexeme) && !self.boundaries.allows(need.first, lexeme);
        }
        match (some, all) {
            (true, true) => Some(Skipped::Never),
            (true, false) => Some(Skipped::Sometimes),
            (false, _) => None,
        }
    }

    /// Returns true if a lexeme needs a separator that does not exist.
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
            // `(x y*)?` makes the same choices as `x*`.
            return (if min == 0 { repeat(rounds, 0, Some(1)) } else { rounds }, behind);
        }
        let anywhere = union(left, &before_later);
        let (item, _) = self.expr(item, &anywhere, key);
        (repeat(item, min, max), behind)
    }

    /// Returns a lexeme with the separator before it, if one is needed.
    fn lexeme(&mut self, lexeme: usize, need: Need) -> Spaced {
        let never = self.only_certain && !self.boundaries.is_whole(lexeme);
        let which = need.wanted() & self.boundaries.available(lexeme);
        if never {
            Spaced::Choice(Vec::new())
        } else if self.only_certain && self.is_unseparated(need, lexeme) {
            // Without a separator, the lexeme must at least not begin with characters that continue the left one.
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
