//! Random texts of the grammar that is being made, with the generalisations that they use.

use std::collections::BTreeSet;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use crate::expr::{Expr, Undone};
use crate::set::Set;

/// The depth of rules beyond which the shortest way is taken.
const DEPTH: u32 = 12;

/// The length from which on the shortest way is taken.
const LEN: usize = 300;

/// Keys of white space begin with this.
pub(crate) const WHITE_SPACE: &str = "white space";

/// Makes texts.
pub(crate) struct Generator<'g> {
    rules: &'g [Expr],
    undone: &'g Undone,
    /// By rule, the least depth of its derivations.
    heights: Vec<u32>,
    random: Xoshiro256PlusPlus,
    /// Texts of named parts that are to be given again, the innermost last.
    given: Vec<Vec<u8>>,
    /// Text that is made.
    pub text: Vec<u8>,
    /// The generalisations that it uses.
    pub used: BTreeSet<String>,
}

impl<'g> Generator<'g> {
    pub fn new(rules: &'g [Expr], undone: &'g Undone) -> Generator<'g> {
        let random = Xoshiro256PlusPlus::seed_from_u64(0);
        let mut generator = Generator {
            rules,
            undone,
            heights: Vec::new(),
            random,
            given: Vec::new(),
            text: Vec::new(),
            used: BTreeSet::new(),
        };
        generator.heights = vec![u32::MAX; rules.len()];
        loop {
            let heights: Vec<u32> = rules.iter().map(|rule| generator.height(rule).saturating_add(1)).collect();
            if heights == generator.heights {
                return generator;
            }
            generator.heights = heights;
        }
    }

    /// Makes the text of this number, by a rule. Nearly equal grammars have nearly equal texts of a number.
    pub fn make(&mut self, rule: usize, number: u64) {
        self.random = Xoshiro256PlusPlus::seed_from_u64(number);
        self.text.clear();
        self.used.clear();
        self.given.clear();
        let rules = self.rules;
        self.expand(&rules[rule], 0);
    }

    /// Returns a number below the bound.
    fn below(&mut self, bound: usize) -> usize {
        ((self.random.next_u64() >> 33) as usize) % bound.max(1)
    }

    /// Returns the least depth of a derivation; the greatest number if there is none.
    fn height(&self, expr: &Expr) -> u32 {
        match expr {
            Expr::Rule(rule) => self.heights[*rule],
            Expr::Seq(parts) => parts.iter().map(|part| self.height(part)).max().unwrap_or(0),
            Expr::Alt(parts) => parts.iter().map(|part| self.height(part)).min().unwrap_or(u32::MAX),
            Expr::Plus(part) | Expr::Times(part, ..) | Expr::Named(part) => self.height(part),
            Expr::General(general) => self.height(self.active(general)),
            Expr::Literal(_) | Expr::Set(_) | Expr::Optional(_) | Expr::Star(_) | Expr::Again => 0,
        }
    }

    fn active<'e>(&self, general: &'e crate::expr::General) -> &'e Expr {
        if self.undone.contains(&general.key) { &general.plain } else { &general.general }
    }

    fn expand(&mut self, expr: &Expr, depth: u32) {
        let is_short = depth > DEPTH || self.text.len() > LEN;
        match expr {
            Expr::Literal(text) => self.text.extend(text),
            Expr::Set(set) => self.member(set),
            Expr::Rule(rule) => {
                let rules = self.rules;
                self.expand(&rules[*rule], depth + 1);
            }
            Expr::Seq(parts) => parts.iter().for_each(|part| self.expand(part, depth)),
            Expr::Alt(parts) => self.alternative(parts, is_short, depth),
            Expr::Optional(part) if !is_short => (0..self.below(2)).for_each(|_| self.expand(part, depth)),
            Expr::Star(part) if !is_short => (0..self.below(4)).for_each(|_| self.expand(part, depth)),
            Expr::Optional(_) | Expr::Star(_) => {}
            Expr::Plus(part) => {
                let rounds = if is_short { 1 } else { 1 + self.below(3) };
                (0..rounds).for_each(|_| self.expand(part, depth));
            }
            Expr::Times(part, min, max) => {
                let more = if is_short { 0 } else { self.below((max - min + 1) as usize) };
                (0..*min as usize + more).for_each(|_| self.expand(part, depth));
            }
            Expr::Named(part) => {
                let start = self.text.len();
                self.expand(part, depth);
                self.given.push(self.text[start..].to_vec());
            }
            Expr::Again => {
                let name = self.given.pop().unwrap_or_default();
                self.text.extend(name);
            }
            Expr::General(general) => {
                let before = self.text.len();
                // What follows does not depend on whether this is undone.
                let rest = self.random.next_u64();
                self.expand(self.active(general), depth);
                self.random = Xoshiro256PlusPlus::seed_from_u64(rest);
                // Where there is no white space, it did no harm.
                let is_used = self.text.len() > before || !general.key.starts_with(WHITE_SPACE);
                if is_used && !self.undone.contains(&general.key) {
                    self.used.insert(general.key.clone());
                }
            }
        }
    }

    fn alternative(&mut self, parts: &[Expr], is_short: bool, depth: u32) {
        let heights: Vec<u32> = parts.iter().map(|part| self.height(part)).collect();
        let bound = if is_short { heights.iter().min().copied().unwrap_or(u32::MAX) } else { u32::MAX - 1 };
        let possible: Vec<&Expr> =
            parts.iter().zip(&heights).filter(|(_, height)| **height <= bound).map(|(part, _)| part).collect();
        if !possible.is_empty() {
            let number = self.below(possible.len());
            self.expand(possible[number], depth);
        }
    }

    fn member(&mut self, set: &Set) {
        let ascii: Vec<u8> = set.ascii().collect();
        let others: Vec<&str> = set.others.examples();
        // Beyond ASCII, a few characters stand for all.
        if !others.is_empty() && (ascii.is_empty() || self.below(Set::RARE + 1) == 0) {
            let number = self.below(others.len());
            self.text.extend(others[number].bytes());
        } else if !ascii.is_empty() {
            let number = self.below(ascii.len());
            self.text.push(ascii[number]);
        }
    }
}
