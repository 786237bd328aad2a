//! Expectations of the next token. An expectation lies on the stack of modes until a token or the end of the text meets
//! it. So a rule has a variant for the expectations at its beginning, and for those that remain at its end.

use super::flat::Flat;
use super::modes::{Flattening, Paths, Stack};
use crate::ordered::Set;

/// A condition on the next tokens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expectation {
    /// One of these tokens, or the end of the text.
    Next {
        /// The tokens.
        tokens: Set<usize>,
        /// Whether the text may end.
        end: bool,
    },
    /// None of these tokens. If `end`, not the end of the text either.
    NotNext {
        /// The tokens.
        tokens: Set<usize>,
        /// Whether the text must not end.
        end: bool,
    },
    /// Not `first` followed by one of `seconds`.
    NotPair {
        /// The next token.
        first: usize,
        /// The tokens that must not follow it.
        seconds: Set<usize>,
    },
    /// A token with a line break directly before it. For texts from other sources the line break is not required.
    LineBreak,
    /// No other expectation requires a line break before the next token.
    NoLineBreak,
}

/// Expectations are marks with numbers above those of the modes.
const FIRST_MARK: u16 = 1 << 14;
/// The most different expectations of a grammar. Further ones are never met.
const MAX_MARKS: usize = 1 << 12;
/// The most expectations on one stack.
const MAX_EXPECTED: usize = 4;

impl Expectation {
    /// Returns true if a token meets the expectation.
    fn allows(&self, token: usize) -> bool {
        match self {
            Expectation::Next { tokens, .. } => tokens.contains(&token),
            Expectation::NotNext { tokens, .. } => !tokens.contains(&token),
            Expectation::NotPair { .. } | Expectation::LineBreak | Expectation::NoLineBreak => true,
        }
    }

    /// Returns true if the end of the text meets the expectation.
    fn allows_end(&self) -> bool {
        match self {
            Expectation::Next { end, .. } => *end,
            Expectation::NotNext { end, .. } => !*end,
            Expectation::NotPair { .. } | Expectation::NoLineBreak => true,
            Expectation::LineBreak => false,
        }
    }
}

impl Flattening<'_> {
    /// Derives nothing and adds an expectation.
    pub(super) fn expect(&mut self, expectation: &Expectation, stack: &Stack) -> Paths {
        let mut stack = stack.clone();
        if *expectation == Expectation::LineBreak && self.ignores_line_breaks {
            return Paths::from([(stack, Flat::EMPTY)]);
        }
        if *expectation == Expectation::NoLineBreak {
            let is_asked = self.expected(&stack).any(|expected| *expected == Expectation::LineBreak);
            return if is_asked { Paths::new() } else { Paths::from([(stack, Flat::EMPTY)]) };
        }
        let known = self.expectations.iter().position(|known| known == expectation);
        let number = known.unwrap_or(self.expectations.len());
        if known.is_none() {
            if number == MAX_MARKS {
                return Paths::new();
            }
            self.expectations.push(expectation.clone());
        }
        let mark = FIRST_MARK + number as u16;
        let marks = self.marks(&stack);
        if !stack[stack.len() - marks..].contains(&mark) {
            if marks == MAX_EXPECTED {
                return Paths::new();
            }
            stack.push(mark);
        }
        Paths::from([(stack, Flat::EMPTY)])
    }

    /// Returns the number of expectations on a stack.
    fn marks(&self, stack: &Stack) -> usize {
        let last = FIRST_MARK + self.expectations.len() as u16;
        stack.iter().rev().take_while(|&&mark| (FIRST_MARK..last).contains(&mark)).count()
    }

    fn expected<'s>(&'s self, stack: &'s Stack) -> impl Iterator<Item = &'s Expectation> {
        let marks = &stack[stack.len() - self.marks(stack)..];
        marks.iter().map(|&mark| &self.expectations[usize::from(mark - FIRST_MARK)])
    }

    /// Returns the stack without its expectations.
    pub(super) fn unmarked(&self, stack: &Stack) -> Stack {
        stack[..stack.len() - self.marks(stack)].to_vec()
    }

    /// Returns true if the stack has expectations.
    pub(super) fn is_marked(&self, stack: &Stack) -> bool {
        self.marks(stack) > 0
    }

    /// Returns true if the expectations allow the end of the text.
    pub(super) fn may_end(&self, stack: &Stack) -> bool {
        self.expected(stack).all(Expectation::allows_end)
    }

    /// Returns a token after expectations.
    pub(super) fn expected_token(&mut self, token: usize, stack: &Stack, origin: usize) -> Paths {
        if !self.expected(stack).all(|expectation| expectation.allows(token)) {
            return Paths::new();
        }
        let needs_line_break = self.expected(stack).any(|expectation| *expectation == Expectation::LineBreak);
        let seconds: Set<usize> = self
            .expected(stack)
            .filter_map(|expectation| match expectation {
                Expectation::NotPair { first, seconds } if *first == token => Some(seconds),
                _ => None,
            })
            .flatten()
            .copied()
            .collect();
        let stack = self.unmarked(stack);
        let Some(&mode) = stack.last() else {
            self.underflow = true;
            return Paths::new();
        };
        let line_break = self.by_mode.get(usize::from(mode)).and_then(|rules| rules.line_break);
        let paths = match (needs_line_break, line_break) {
            (false, _) => self.token(token, &stack, origin),
            (true, Some(hidden)) => self.match_of(token, &stack, &[hidden]),
            (true, None) => Paths::new(),
        };
        if seconds.is_empty() {
            return paths;
        }
        let expectation = Expectation::NotNext { tokens: seconds, end: false };
        self.append(paths, origin, &mut |this, stack| this.expect(&expectation, stack))
    }

    /// Returns any token but some, after expectations.
    pub(super) fn expected_not_tokens(&mut self, excluded: &[usize], stack: &Stack, origin: usize) -> Paths {
        let mut excluded: Set<usize> = excluded.iter().copied().collect();
        let mut only: Option<Set<usize>> = None;
        for expectation in self.expected(stack) {
            match expectation {
                Expectation::NotNext { tokens, .. } => excluded.extend(tokens),
                Expectation::Next { tokens, .. } => {
                    only =
                        Some(only.map_or_else(|| tokens.clone(), |only| only.intersection(tokens).copied().collect()));
                }
                // A pair would need two steps, so its first token is left out.
                Expectation::NotPair { first, .. } => {
                    excluded.insert(*first);
                }
                Expectation::LineBreak => only = Some(Set::new()),
                Expectation::NoLineBreak => {}
            }
        }
        let stack = self.unmarked(stack);
        match only {
            None => self.not_tokens(&excluded.into_iter().collect::<Vec<_>>(), &stack, origin),
            Some(only) => {
                let options = only.difference(&excluded).map(|&token| self.token(token, &stack, origin)).collect();
                super::paths::choice(options)
            }
        }
    }
}
