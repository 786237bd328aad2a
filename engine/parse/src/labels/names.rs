//! The names that threads have read. Each environment has a chain of names for each kind, so that threads share what
//! they have in common.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};

use gramjet_compiler::ir::KindId;
use rustc_hash::FxHashMap;

/// The name before the first one of a chain.
const NOTHING: u32 = 0;

/// A name of a chain.
#[derive(Clone, Copy, Debug)]
struct Name {
    /// Beginning and end in the text.
    at: (u32, u32),
    /// The number of names up to this one.
    count: u32,
    /// The name before it, and one further back.
    before: u32,
    jump: u32,
}

/// The names of a kind that are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Seen {
    /// The last one.
    last: u32,
    /// The number of names outside the innermost scope.
    outside: u32,
    /// The place where the innermost scope begins.
    since: u32,
    /// The sums of the hashes of the different names that are seen, and of those of the innermost scope.
    hashes: (u64, u64),
}

/// The names that are seen, of all kinds.
type Environment = Box<[Seen]>;

/// The chains of names, and the environments by their numbers. Number 0 is the one without names.
#[derive(Debug, Default)]
pub(super) struct Names {
    chain: Vec<Name>,
    /// The numbers of the names by their kinds, the one before them and their places.
    known: FxHashMap<(KindId, u32, (u32, u32)), u32>,
    /// The names of each kind by the hash of their bytes, in the order of their places.
    named: FxHashMap<(KindId, u64), Vec<u32>>,
    hasher: RandomState,
    /// The lengths of the names of each kind, and whether names of a scope are unique.
    lengths: Vec<BTreeSet<u32>>,
    are_unique: Vec<bool>,
    environments: Vec<Environment>,
    numbers: FxHashMap<Environment, u32>,
    /// For each environment the first one in which the same names are seen.
    alike: Vec<u32>,
    sets: FxHashMap<Box<[(u64, u64)]>, u32>,
    /// For a unique name and the place of its scope: a number up to which all are taken, where a name is seen.
    taken: FxHashMap<(KindId, u64, u32), (u64, u32)>,
    /// The steps of looking for names that are not counted yet.
    steps: u64,
}

impl Names {
    /// Returns the environment without names, of kinds whose names are unique in a scope or not.
    pub fn new(are_unique: Vec<bool>) -> Names {
        let kinds = are_unique.len();
        let mut names = Names { lengths: vec![BTreeSet::new(); kinds], are_unique, ..Names::default() };
        names.chain.push(Name { at: (0, 0), count: 0, before: NOTHING, jump: NOTHING });
        names.number(vec![Seen { last: NOTHING, outside: 0, since: 0, hashes: (0, 0) }; kinds].into());
        names
    }

    fn number(&mut self, environment: Environment) -> u32 {
        if let Some(&number) = self.numbers.get(&environment) {
            return number;
        }
        let number = self.environments.len() as u32;
        let set = environment.iter().map(|seen| seen.hashes).collect();
        self.alike.push(*self.sets.entry(set).or_insert(number));
        self.environments.push(environment.clone());
        self.numbers.insert(environment, number);
        number
    }

    /// Returns true if the grammar has names.
    pub fn has_kinds(&self) -> bool {
        !self.lengths.is_empty()
    }

    /// Returns the number of the first environment in which the same names are seen, however often they were given.
    pub fn alike(&self, environment: u32) -> u32 {
        self.alike[environment as usize]
    }

    /// Returns the steps of looking for names since the last call.
    pub fn take_steps(&mut self) -> u64 {
        std::mem::take(&mut self.steps)
    }

    /// Returns the memory that they take in bytes, about.
    pub fn size(&self) -> usize {
        let environment = self.lengths.len() * size_of::<Seen>() + 2 * size_of::<(Environment, u32)>();
        (self.chain.len() + self.taken.len()) * (size_of::<Name>() + 64) + self.environments.len() * 3 * environment
    }

    /// Returns the environment where a scope of these kinds begins.
    pub fn begin_scope(&mut self, environment: u32, kinds: &[KindId], position: u32) -> u32 {
        let mut seen = self.environments[environment as usize].clone();
        for kind in kinds {
            let own = &mut seen[kind.index()];
            (own.outside, own.since) = (self.chain[own.last as usize].count, position);
            own.hashes.1 = 0;
        }
        self.number(seen)
    }

    /// Returns the environment after a scope of these kinds, where `outside` is the one before it.
    pub fn end_scope(&mut self, environment: u32, kinds: &[KindId], outside: u32) -> u32 {
        let mut seen = self.environments[environment as usize].clone();
        for kind in kinds {
            seen[kind.index()] = self.environments[outside as usize][kind.index()];
        }
        self.number(seen)
    }

    /// Returns the environment with a further name.
    pub fn add(&mut self, environment: u32, kind: KindId, at: (u32, u32), text: &[u8]) -> u32 {
        let name = &text[at.0 as usize..at.1 as usize];
        let is_new = self.find(environment, kind, name, text, false).is_none();
        // What a scope has matters to unique names alone.
        let is_new_in_scope = self.are_unique[kind.index()] && self.find(environment, kind, name, text, true).is_none();
        let mut seen = self.environments[environment as usize].clone();
        let before = seen[kind.index()].last;
        let hash = self.hasher.hash_one((kind, name));
        let number = match self.known.get(&(kind, before, at)) {
            Some(&number) => number,
            None => {
                let number = self.chain.len() as u32;
                let count = self.chain[before as usize].count + 1;
                self.chain.push(Name { at, count, before, jump: self.jump_over(before) });
                self.known.insert((kind, before, at), number);
                self.lengths[kind.index()].insert(at.1 - at.0);
                self.named.entry((kind, hash)).or_default().push(number);
                number
            }
        };
        let own = &mut seen[kind.index()];
        own.last = number;
        own.hashes.0 = own.hashes.0.wrapping_add(if is_new { hash } else { 0 });
        own.hashes.1 = own.hashes.1.wrapping_add(if is_new_in_scope { hash } else { 0 });
        self.number(seen)
    }

    /// Returns the name further back of the name after this one, so that each is found in logarithmic time.
    fn jump_over(&self, before: u32) -> u32 {
        let count = |name: u32| self.chain[name as usize].count;
        let first = self.chain[before as usize].jump;
        let second = self.chain[first as usize].jump;
        if count(before) - count(first) == count(first) - count(second) { second } else { before }
    }

    /// Returns true if a name is another one, or stands before it in its chain.
    fn is_before(&mut self, name: u32, mut last: u32) -> bool {
        let count = self.chain[name as usize].count;
        while self.chain[last as usize].count > count {
            self.steps += 1;
            let Name { jump, before, .. } = self.chain[last as usize];
            last = if self.chain[jump as usize].count >= count { jump } else { before };
        }
        last == name
    }

    /// Returns the last name that is seen with these bytes; with `in_scope`, if it stands in the innermost scope.
    fn find(&mut self, environment: u32, kind: KindId, bytes: &[u8], text: &[u8], in_scope: bool) -> Option<u32> {
        let seen = self.environments[environment as usize][kind.index()];
        let hash = self.hasher.hash_one((kind, bytes));
        self.steps += 1 + bytes.len() as u64 / 16;
        let visible = self.chain[seen.last as usize].count;
        if (visible as usize) < self.named.get(&(kind, hash))?.len() {
            return self.find_in_chain(seen, bytes, text, in_scope);
        }
        for place in (0..self.named.get(&(kind, hash))?.len()).rev() {
            self.steps += 1;
            let number = self.named.get(&(kind, hash))?[place];
            let name = self.chain[number as usize];
            if in_scope && name.at.1 <= seen.since {
                return None;
            }
            let is_same = text[name.at.0 as usize..name.at.1 as usize] == *bytes;
            if is_same && (!in_scope || name.count > seen.outside) && self.is_before(number, seen.last) {
                return Some(number);
            }
        }
        None
    }

    /// Returns what [`Names::find`] does, where few names are seen.
    fn find_in_chain(&mut self, seen: Seen, bytes: &[u8], text: &[u8], in_scope: bool) -> Option<u32> {
        let mut number = seen.last;
        while number != NOTHING {
            self.steps += 1;
            let name = self.chain[number as usize];
            if in_scope && name.count <= seen.outside {
                return None;
            }
            if text[name.at.0 as usize..name.at.1 as usize] == *bytes {
                return Some(number);
            }
            number = name.before;
        }
        None
    }

    /// Returns the number of names of a kind that are seen.
    pub fn count(&self, environment: u32, kind: KindId) -> u32 {
        self.chain[self.environments[environment as usize][kind.index()].last as usize].count
    }

    /// Returns the names that are seen with which a text goes on from a place, longest first: the number of each, where
    /// 0 is the nearest, and its length.
    pub fn next(
        &mut self,
        environment: u32,
        kind: KindId,
        (from, to): (usize, usize),
        text: &[u8],
    ) -> Vec<(u32, usize)> {
        let lengths: Vec<u32> = self.lengths[kind.index()].range(..=(to - from) as u32).rev().copied().collect();
        let mut found = Vec::new();
        for len in lengths {
            let bytes = &text[from..from + len as usize];
            if let Some(name) = self.find(environment, kind, bytes, text, false) {
                found.push((self.count(environment, kind) - self.chain[name as usize].count, len as usize));
            }
        }
        found
    }

    /// Returns the digits that make a name unique in the innermost scope.
    pub fn digits(&mut self, environment: u32, kind: KindId, name: &[u8], text: &[u8]) -> Vec<u8> {
        if self.find(environment, kind, name, text, true).is_none() {
            return Vec::new();
        }
        let seen = self.environments[environment as usize][kind.index()];
        let key = (kind, self.hasher.hash_one((kind, name)), seen.since);
        let (mut whole, mut number) = (name.to_vec(), 1u64);
        // Names of a scope stay, so what was taken where a name was seen that still is, is taken.
        if let Some(&(taken, last)) = self.taken.get(&key)
            && self.is_before(last, seen.last)
        {
            number = taken;
        }
        loop {
            whole.truncate(name.len());
            whole.extend_from_slice(number.to_string().as_bytes());
            if self.find(environment, kind, &whole, text, true).is_none() {
                break;
            }
            number += 1;
        }
        self.taken.insert(key, (number, seen.last));
        whole.split_off(name.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_their_scopes_and_branches() {
        let text = b"a b a ab b1";
        let kind = KindId::new(0);
        let mut names = Names::new(vec![true]);
        let one = names.add(0, kind, (0, 1), text);
        let two = names.add(one, kind, (2, 3), text);
        let other = names.add(one, kind, (6, 8), text);
        assert_eq!(names.next(two, kind, (9, 11), text), [(0, 1)]);
        assert_eq!(names.next(other, kind, (9, 11), text), []);
        assert_eq!(names.next(other, kind, (6, 8), text), [(0, 2), (1, 1)]);
        assert_eq!(names.digits(two, kind, b"a", text), b"1");
        let inner = names.begin_scope(two, &[kind], 4);
        assert_eq!(names.digits(inner, kind, b"a", text), b"");
        let inner = names.add(inner, kind, (4, 5), text);
        assert_eq!(names.digits(inner, kind, b"a", text), b"1");
        assert_eq!(names.next(inner, kind, (0, 2), text), [(0, 1)]);
        assert_eq!(names.end_scope(inner, &[kind], two), two);
        assert_eq!(names.count(two, kind), 2);
    }

    #[test]
    fn a_long_chain_is_searched_in_few_steps() {
        let text: Vec<u8> = (0..4000u32).flat_map(|number| format!("{number:04}").into_bytes()).collect();
        let kind = KindId::new(0);
        let mut names = Names::new(vec![true]);
        let mut last = 0;
        for number in 0..4000 {
            last = names.add(last, kind, (4 * number, 4 * number + 4), &text);
        }
        names.take_steps();
        assert_eq!(names.next(last, kind, (8, 12), &text), [(3997, 4)]);
        assert!(names.take_steps() < 100);
    }
}
