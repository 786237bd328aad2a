//! Names of rules in another notation: what is not allowed is replaced, and no two become one.

use crate::ast::Grammar;
use crate::ordered::{Map, Set};

/// The new name of each rule by its old one.
pub(super) struct Names {
    names: Map<String, String>,
    /// All names that were given, and a number that goes into the next new one.
    taken: Set<String>,
    next: usize,
}

impl Names {
    /// Names for the rules of `grammar`: `allowed` makes a name of the notation, which `key` maps to what must be unique
    /// (the same in lower case, where case does not matter). Those of `reserved` are not given.
    pub(super) fn new(
        grammar: &Grammar,
        allowed: impl Fn(&str) -> String,
        key: impl Fn(&str) -> String,
        reserved: &[&str],
    ) -> Names {
        let mut taken: Set<String> = reserved.iter().map(|name| key(name)).collect();
        let mut names = Map::new();
        // Rules that can keep their names do, whatever else would become the same.
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
        // Where counting begins for each stem, so that a thousand alike names take no million steps.
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

    /// The new name of a rule; a name that no rule has stays as it is.
    pub(super) fn get<'n>(&'n self, old: &'n str) -> &'n str {
        self.names.get(old).map_or(old, String::as_str)
    }

    /// A name, `stem` and a number, that no rule has and no other call has given; for notations in which case matters.
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
