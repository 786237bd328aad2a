//! What must come next: an expectation stands upon the stack of modes until a token or the end of the text meets it. So a rule has a
//! variant for what is expected where it begins, and for what is still expected where it ends.

use super::flat::Flat;
use super::modes::{Flattening, Paths, Stack};
use crate::ordered::Set;

/// What must come next.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expectation {
    /// One of these tokens, or the end of the text.
    Next {
        /// The tokens.
        tokens: Set<usize>,
        /// Whether the text may end.
        end: bool,
    },
    /// None of these tokens, and maybe not the end of the text either.
    NotNext {
        /// The tokens.
        tokens: Set<usize>,
        /// Whether the text must not end.
        end: bool,
    },
    /// Not the first of these tokens and then one of the second ones.
    NotPair {
        /// The next token.
        first: usize,
        /// Those that must not follow it.
        seconds: Set<usize>,
    },
    /// A token with a line break right before it. In texts that others have made the line break is not looked for.
    LineBreak,
    /// No line break that something else has asked for stands before the next token.
    NoLineBreak,
}

/// Expectations are marks above the modes.
const FIRST_MARK: u16 = 1 << 14;
/// A grammar may have so many different ones; others are never met.
const MAX_MARKS: usize = 1 << 12;
/// So many may stand upon one another.
const MAX_EXPECTED: usize = 4;

impl Expectation {
    /// Whether a token meets it.
    fn allows(&self, token: usize) -> bool {
        match self {
            Expectation::Next { tokens, .. } => tokens.contains(&token),
            Expectation::NotNext { tokens, .. } => !tokens.contains(&token),
            Expectation::NotPair { .. } | Expectation::LineBreak | Expectation::NoLineBreak => true,
        }
    }

    /// Whether the end of the text does.
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
    /// Nothing, with something expected from then on.
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

    /// How many marks stand upon a stack.
    fn marks(&self, stack: &Stack) -> usize {
        let last = FIRST_MARK + self.expectations.len() as u16;
        stack.iter().rev().take_while(|&&mark| (FIRST_MARK..last).contains(&mark)).count()
    }

    fn expected<'s>(&'s self, stack: &'s Stack) -> impl Iterator<Item = &'s Expectation> {
        let marks = &stack[stack.len() - self.marks(stack)..];
        marks.iter().map(|&mark| &self.expectations[usize::from(mark - FIRST_MARK)])
    }

    /// The stack without what is expected.
    pub(super) fn unmarked(&self, stack: &Stack) -> Stack {
        stack[..stack.len() - self.marks(stack)].to_vec()
    }

    /// Whether anything is expected.
    pub(super) fn is_marked(&self, stack: &Stack) -> bool {
        self.marks(stack) > 0
    }

    /// Whether the text may end.
    pub(super) fn may_end(&self, stack: &Stack) -> bool {
        self.expected(stack).all(Expectation::allows_end)
    }

    /// A token where something is expected.
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

    /// Any token but some where something is expected.
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
                // What would have to be looked at in two steps is left out.
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
