//! Names of rules in another notation. Invalid characters are replaced, and names stay distinct.

use crate::ast::Grammar;
use crate::ordered::{Map, Set};

/// The new name of each rule by its old one.
pub(super) struct Names {
    names: Map<String, String>,
    /// The keys of all names given so far, then the number for the next new name.
    taken: Set<String>,
    next: usize,
}

impl Names {
    /// Returns names for the rules of `grammar`. `allowed` makes a name valid in the notation. `key` maps a name to the
    /// form that must be unique (lower case if case does not matter). Names in `reserved` are not given to rules.
    pub(super) fn new(
        grammar: &Grammar,
        allowed: impl Fn(&str) -> String,
        key: impl Fn(&str) -> String,
        reserved: &[&str],
    ) -> Names {
        let mut taken: Set<String> = reserved.iter().map(|name| key(name)).collect();
        let mut names = Map::new();
        // Rules with valid names keep them. Other rules must avoid these.
        let mut others = Vec::new();
        for rule in &grammar.rules {
            let old = rule.name.text.as_str();
            if names.contains_key(old) {
                continue;
            }
            let new = allowed(old);
            if new == old && taken.insert(key(old)) {
                names.insert(old.to_string(), new);
            } else {
                others.push((old, new));
            }
        }
        // The next number for each stem, so that a thousand similar names do not take a million steps.
        let mut next: Map<String, usize> = Map::new();
        for (old, stem) in others {
            if names.contains_key(old) {
                continue;
            }
            let mut new = stem.clone();
            let count = next.entry(key(&stem)).or_insert(2);
            while !taken.insert(key(&new)) {
                new = allowed(&format!("{stem}-{count}"));
                *count += 1;
            }
            names.insert(old.to_string(), new);
        }
        Names { names, taken, next: 1 }
    }

    /// Returns the new name of a rule. A name that belongs to no rule stays as it is.
    pub(super) fn get<'n>(&'n self, old: &'n str) -> &'n str {
        self.names.get(old).map_or(old, String::as_str)
    }

    /// Returns a new name, `stem` and a number, that no rule has and no other call has returned. For notations in which
    /// case matters.
    pub(super) fn fresh(&mut self, stem: &str) -> String {
        loop {
            let name = format!("{stem}{}", self.next);
            self.next += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}
