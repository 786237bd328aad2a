//! Strings that are none of a few, for reading: a trie of the few, left at any place.

use super::Reader;
use super::make::Make;
use crate::ast::Expr;
use crate::ordered::Map;

/// Longer keys are not told from others.
const MAX_KEY: usize = 60;
/// With more characters in all keys, none is told from others.
const MAX_CHARACTERS: usize = 1 << 13;

/// The keys that begin alike, by what follows.
#[derive(Default)]
struct Trie {
    next: Map<char, Trie>,
    is_end: bool,
}

impl Reader<'_, '_> {
    /// Returns the strings that are none of `keys`. A key that is written with escapes counts as another one.
    pub(super) fn other_strings(&mut self, keys: &[&str], make: Make) -> Expr {
        let is_plain = |key: &&&str| key.len() <= MAX_KEY && !key.chars().any(|c| c < ' ' || c == '"' || c == '\\');
        let keys: Vec<&str> = keys.iter().filter(is_plain).copied().collect();
        if keys.is_empty() || keys.iter().map(|key| key.len()).sum::<usize>() > MAX_CHARACTERS {
            return make.rule(self.shared("string"));
        }
        let mut trie = Trie::default();
        for key in keys {
            let last = key.chars().fold(&mut trie, |trie, c| trie.next.entry(c).or_insert_with(Trie::default));
            last.is_end = true;
        }
        let rest = make.many(make.rule(self.shared("character")), 0, None);
        let escape = make.rule(self.shared("escape"));
        make.seq([make.text("\""), trie.left(&rest, &escape, make), make.text("\"")])
    }
}

impl Trie {
    /// Returns the texts that leave the trie, or end within it before a key does.
    fn left(&self, rest: &Expr, escape: &Expr, make: Make) -> Expr {
        let mut plain = vec![(0x20, 0x21), (0x23, 0x5B), (0x5D, 0x10_FFFF)];
        for &c in self.next.keys() {
            let c = u32::from(c);
            plain =
                plain.into_iter().flat_map(|(low, high)| [(low, high.min(c - 1)), (low.max(c + 1), high)]).collect();
            plain.retain(|(low, high)| low <= high);
        }
        let away = make.any([make.class(&plain), escape.clone()]);
        let end = (!self.is_end).then(|| make.empty());
        let along = self.next.iter().map(|(&c, next)| make.seq([make.text(c), next.left(rest, escape, make)]));
        make.any(end.into_iter().chain([make.seq([away, rest.clone()])]).chain(along))
    }
}
