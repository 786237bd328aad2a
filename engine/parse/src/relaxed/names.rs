//! The names that are seen at a place of a derivation.

use std::collections::HashMap;

use gramjet_compiler::ir::KindId;

/// The names of a kind.
#[derive(Debug, Default)]
struct Kind<'t> {
    names: Vec<&'t [u8]>,
    /// The number of names outside the innermost scope.
    first: usize,
    /// The numbers of each name, and a number from 1 on that may make it free.
    known: HashMap<&'t [u8], Vec<(usize, u64)>>,
}

/// The names of all kinds. Other texts can choose them, so they are hashed with a random key.
#[derive(Debug)]
pub(super) struct Names<'t> {
    kinds: Vec<Kind<'t>>,
    /// The number of names outside each open scope, for each of its kinds.
    outside: Vec<usize>,
    /// The number of names that were ever given.
    given: usize,
}

impl<'t> Names<'t> {
    /// The memory that a name takes, in bytes, about.
    pub const SIZE: usize = 192;

    pub fn new(kinds: usize) -> Names<'t> {
        Names { kinds: (0..kinds).map(|_| Kind::default()).collect(), outside: Vec::new(), given: 0 }
    }

    /// Returns the number of names that were given.
    pub fn given(&self) -> usize {
        self.given
    }

    pub fn begin_scope(&mut self, kinds: &[KindId]) {
        for kind in kinds {
            let own = &mut self.kinds[kind.index()];
            self.outside.push(own.first);
            own.first = own.names.len();
        }
    }

    pub fn end_scope(&mut self, kinds: &[KindId]) {
        for kind in kinds.iter().rev() {
            let own = &mut self.kinds[kind.index()];
            for name in own.names.drain(own.first..).rev() {
                if let Some(all) = own.known.get_mut(name) {
                    all.pop();
                    if all.is_empty() {
                        own.known.remove(name);
                    }
                }
            }
            own.first = self.outside.pop().unwrap_or_default();
        }
    }

    pub fn add(&mut self, kind: KindId, name: &'t [u8]) {
        let own = &mut self.kinds[kind.index()];
        own.known.entry(name).or_default().push((own.names.len(), 1));
        own.names.push(name);
        self.given += 1;
    }

    /// Returns the number of names that are seen.
    pub fn seen(&self, kind: KindId) -> usize {
        self.kinds[kind.index()].names.len()
    }

    /// Returns the number of a name that is seen: 0 is the nearest one.
    pub fn find(&self, kind: KindId, name: &[u8]) -> Option<usize> {
        let own = &self.kinds[kind.index()];
        let &(place, _) = own.known.get(name)?.last()?;
        Some(own.names.len() - 1 - place)
    }

    /// Returns true if the innermost scope has a name.
    pub fn is_taken(&self, kind: KindId, name: &[u8]) -> bool {
        let own = &self.kinds[kind.index()];
        own.known.get(name).and_then(|all| all.last()).is_some_and(|&(place, _)| place >= own.first)
    }

    /// Returns the digits that make a name free in the innermost scope: none if it is.
    pub fn digits(&mut self, kind: KindId, name: &[u8]) -> Vec<u8> {
        if !self.is_taken(kind, name) {
            return Vec::new();
        }
        let mut number = self.kinds[kind.index()].known[name].last().map_or(1, |&(_, number)| number);
        while self.is_taken(kind, &[name, number.to_string().as_bytes()].concat()) {
            number += 1;
        }
        // All before are taken, and stay so.
        if let Some((_, next)) = self.kinds[kind.index()].known.get_mut(name).and_then(|all| all.last_mut()) {
            *next = number;
        }
        number.to_string().into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_has_number_0_and_scopes_end_the_sight() {
        let kind = KindId::new(0);
        let mut names = Names::new(1);
        [&b"a"[..], b"b", b"a"].iter().for_each(|name| names.add(kind, name));
        assert_eq!([&b"a"[..], b"b", b"c"].map(|name| names.find(kind, name)), [Some(0), Some(1), None]);
        names.begin_scope(&[kind]);
        assert!(!names.is_taken(kind, b"a") && names.digits(kind, b"a").is_empty());
        names.add(kind, b"a");
        names.add(kind, b"a1");
        assert_eq!((names.digits(kind, b"a"), names.digits(kind, b"a")), (b"2".to_vec(), b"2".to_vec()));
        names.end_scope(&[kind]);
        assert_eq!((names.seen(kind), names.find(kind, b"a1"), names.find(kind, b"a")), (3, None, Some(0)));
        assert_eq!((names.digits(kind, b"b"), names.given()), (b"1".to_vec(), 5));
    }
}
