//! Names in texts: parts give them, take them, and bound where they are seen.
//!
//! The kinds of names are names in a syntax tree and numbers in an IR.

/// The use that a part makes of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Naming<K> {
    /// Gives the bytes of the part as a name of a kind.
    Define(K),
    /// Gives the bytes of the part as a name of a kind. If its scope has that name, a number is appended.
    Unique(K),
    /// Gives the bytes that the part repeats as a name of a kind. The part itself is not written.
    Declare(K),
    /// Takes a name of a kind that is seen, or stands itself.
    Use(K),
    /// Ends the sight of names of these kinds that are given in the part.
    Scope(Vec<K>),
}

impl Naming<()> {
    /// The words of all, without the kinds.
    pub const WORDS: [&'static str; 5] = ["define", "unique", "declare", "use", "scope"];
}

impl<K> Naming<K> {
    /// Returns what has this word in a grammar, for these kinds. `None` for another word, or without a kind.
    pub fn by_word(word: &str, mut kinds: Vec<K>) -> Option<Naming<K>> {
        match word {
            "scope" => Some(Naming::Scope(kinds)).filter(|naming| !naming.kinds().is_empty()),
            "define" => kinds.pop().map(Naming::Define),
            "unique" => kinds.pop().map(Naming::Unique),
            "declare" => kinds.pop().map(Naming::Declare),
            "use" => kinds.pop().map(Naming::Use),
            _ => None,
        }
    }

    /// Returns the word that a grammar calls it by.
    pub fn word(&self) -> &'static str {
        match self {
            Naming::Define(_) => "define",
            Naming::Unique(_) => "unique",
            Naming::Declare(_) => "declare",
            Naming::Use(_) => "use",
            Naming::Scope(_) => "scope",
        }
    }

    /// Returns the kinds of names, in order.
    pub fn kinds(&self) -> &[K] {
        match self {
            Naming::Define(kind) | Naming::Unique(kind) | Naming::Declare(kind) | Naming::Use(kind) => {
                std::slice::from_ref(kind)
            }
            Naming::Scope(kinds) => kinds,
        }
    }

    /// Returns it with other kinds.
    pub fn map<L>(&self, mut kind: impl FnMut(&K) -> L) -> Naming<L> {
        match self {
            Naming::Define(own) => Naming::Define(kind(own)),
            Naming::Unique(own) => Naming::Unique(kind(own)),
            Naming::Declare(own) => Naming::Declare(kind(own)),
            Naming::Use(own) => Naming::Use(kind(own)),
            Naming::Scope(kinds) => Naming::Scope(kinds.iter().map(kind).collect()),
        }
    }

    /// Returns the kind of the names that it gives.
    pub fn given(&self) -> Option<&K> {
        match self {
            Naming::Define(kind) | Naming::Unique(kind) | Naming::Declare(kind) => Some(kind),
            Naming::Use(_) | Naming::Scope(_) => None,
        }
    }

    /// Returns true if the part is not written.
    pub fn is_silent(&self) -> bool {
        matches!(self, Naming::Declare(_))
    }

    /// Returns the kind of the unique names that it gives.
    pub fn unique(&self) -> Option<&K> {
        let Naming::Unique(kind) = self else { return None };
        Some(kind)
    }

    /// Returns the kinds whose sight it bounds.
    pub fn scoped(&self) -> &[K] {
        let Naming::Scope(kinds) = self else { return &[] };
        kinds
    }
}

/// Returns the number of digits that a name needs to differ from this many others: one of the numbers from 1 on is
/// free.
pub fn digits(others: u64) -> u64 {
    others.checked_ilog10().map_or(0, |log| u64::from(log) + 1)
}

/// Returns the number of digits that `names` names need one after the other, of which the first differs from `others`;
/// saturates.
pub fn room(others: u64, names: u64) -> u64 {
    if names <= 1 {
        return if names == 0 { 0 } else { digits(others) };
    }
    let to = others.saturating_add(names);
    let (mut sum, mut from) = (0u64, others);
    while from < to {
        let width = digits(from);
        // The numbers of others with as many digits.
        let end = 10u64.checked_pow(width as u32).unwrap_or(u64::MAX).min(to);
        let end = if from == 0 { 1 } else { end };
        sum = sum.saturating_add(width.saturating_mul(end - from));
        from = end;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_the_sum_of_digits() {
        assert_eq!([0, 1, 9, 10, 99, 100].map(digits), [0, 1, 1, 2, 2, 3]);
        for others in 0..130 {
            let mut sum = 0;
            for names in 0..130 {
                assert_eq!(room(others, names), sum, "{others} {names}");
                sum += digits(others + names);
            }
        }
        assert_eq!(room(0, 1), 0);
        assert_eq!(room(u64::MAX, 5), 0);
        assert_eq!(room(5, u64::MAX), u64::MAX);
    }
}
