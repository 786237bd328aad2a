//! The character sets of fragments: those of fragments that match single characters, and the characters that texts are
//! drawn from.

use super::alphabet::{Alphabet, MAX_LISTED};
use super::{Fragment, Lexer, Pattern};
use crate::charset::{CharSet, Unit};
use crate::ordered::Set;

/// The number of ranges that are visited.
const MAX_WORK: usize = 1 << 22;

/// The sets of a lexer's fragments.
#[derive(Debug)]
pub(crate) struct Sets {
    /// For each fragment that matches only single characters, the set of these.
    fragments: Vec<Option<CharSet>>,
    /// For each fragment, whether it refers to itself, directly or through others.
    recursive: Vec<bool>,
}

impl Sets {
    pub(crate) fn new(fragments: &[Fragment]) -> Sets {
        let count = fragments.len();
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); count];
        let mut unknown = vec![0usize; count];
        for (number, fragment) in fragments.iter().enumerate() {
            let mut used = Set::new();
            each_part(&fragment.pattern, &mut |part| {
                if let Pattern::Fragment(fragment) = part {
                    used.insert(*fragment);
                }
            });
            unknown[number] = used.len();
            used.into_iter().for_each(|used| users[used].push(number));
        }
        let mut sets = Sets { fragments: vec![None; count], recursive: vec![true; count] };
        let mut budget = MAX_WORK;
        // A fragment is visited when all fragments that it refers to are known. Those that refer to themselves, and
        // those that refer to them, are never visited. This does no harm: they are only not shared.
        let mut ready: Vec<usize> = (0..count).filter(|&number| unknown[number] == 0).collect();
        while let Some(number) = ready.pop() {
            sets.recursive[number] = false;
            let set = sets.set(&fragments[number].pattern);
            budget = budget.saturating_sub(set.as_ref().map_or(1, |set| 1 + set.ranges().len()));
            sets.fragments[number] = set.filter(|_| budget > 0);
            for &user in &users[number] {
                unknown[user] -= 1;
                if unknown[user] == 0 {
                    ready.push(user);
                }
            }
        }
        sets
    }

    /// Returns true if a fragment refers to itself, or to a fragment that does.
    pub(super) fn is_recursive(&self, fragment: usize) -> bool {
        self.recursive[fragment]
    }

    /// Returns the characters that a pattern matches, if it matches only single characters.
    pub(crate) fn set(&self, pattern: &Pattern) -> Option<CharSet> {
        const MAX_RANGES: usize = 1 << 14;
        fn add(sets: &Sets, pattern: &Pattern, ranges: &mut Vec<(u32, u32)>) -> Option<()> {
            match pattern {
                _ if ranges.len() > MAX_RANGES => None,
                Pattern::Set { set, .. } => {
                    ranges.extend(set.ranges());
                    Some(())
                }
                Pattern::Fragment(fragment) => {
                    ranges.extend(sets.fragments[*fragment].as_ref()?.ranges());
                    Some(())
                }
                Pattern::Seq(items) if items.len() == 1 => add(sets, &items[0], ranges),
                Pattern::Choice(items) if !items.is_empty() => {
                    items.iter().try_for_each(|item| add(sets, item, ranges))
                }
                _ => None,
            }
        }
        let mut ranges = Vec::new();
        add(self, pattern, &mut ranges)?;
        Some(CharSet::new(Unit::Char, ranges))
    }
}

/// Returns for each lexer rule the characters that its texts are drawn from. If a rule refers to too much, all
/// characters count.
pub(super) fn drawn(lexer: &Lexer, alphabet: Alphabet) -> Vec<CharSet> {
    let mut budget = MAX_WORK;
    lexer.rules.iter().map(|rule| drawn_from(lexer, &rule.pattern, alphabet, &mut budget)).collect()
}

fn drawn_from(lexer: &Lexer, pattern: &Pattern, alphabet: Alphabet, budget: &mut usize) -> CharSet {
    let mut ranges = Vec::new();
    let mut pending = vec![pattern];
    let mut seen = Set::new();
    while let Some(pattern) = pending.pop() {
        each_part(pattern, &mut |part| {
            *budget = budget.saturating_sub(1);
            match part {
                _ if *budget == 0 => {}
                Pattern::Set { set, listed } => {
                    let before = ranges.len();
                    if *listed && set.len() <= MAX_LISTED {
                        ranges.extend(set.ranges());
                    } else {
                        ranges.extend(alphabet.restrict(set).ranges());
                    }
                    *budget = budget.saturating_sub(set.ranges().len() + ranges.len() - before);
                }
                Pattern::Fragment(fragment) if seen.insert(*fragment) => {
                    pending.push(&lexer.fragments[*fragment].pattern);
                }
                _ => {}
            }
        });
        if *budget == 0 {
            return CharSet::new(Unit::Char, [(0, 0x10_FFFF)]);
        }
    }
    CharSet::new(Unit::Char, ranges)
}

/// Visits a pattern and all its parts.
pub(crate) fn each_part<'p>(pattern: &'p Pattern, visit: &mut dyn FnMut(&'p Pattern)) {
    visit(pattern);
    match pattern {
        Pattern::Set { .. } | Pattern::Fragment(_) => {}
        Pattern::Seq(items) | Pattern::Choice(items) => items.iter().for_each(|item| each_part(item, visit)),
        Pattern::Repeat { item, .. } => each_part(item, visit),
    }
}
