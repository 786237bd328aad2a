//! Coverage: the rules and alternatives of a grammar that inputs come to.

use std::collections::BTreeMap;
use std::sync::Arc;

use gramjet::{Choices, Limits, LimitsError, Producer};
use gramjet_compiler::diagnostics::Span;
use gramjet_compiler::reference::{self, Reached};
use gramjet_compiler::{Compiled, ir::RuleId};

use crate::directives::first_limits;
use crate::reference::within;

/// The reference interpreter, which keeps in mind what its inputs came to. It makes the same inputs as the other
/// replaying engines, so that a run is covered by making it again. A clone shares the grammar.
#[derive(Clone, Debug)]
pub struct Covering {
    grammar: Arc<Compiled>,
    limits: Limits,
    reached: Reached,
}

/// The rules and alternatives that inputs have reached, in the words of the grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// The rules that the start rule reaches, in the order of the grammar.
    pub rules: Vec<CoveredRule>,
}

/// A rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveredRule {
    /// Its name.
    pub name: String,
    /// The name that the user knows it by: several rules that were made of one have that one's.
    pub told: String,
    /// Whether there was an instance of it.
    pub is_reached: bool,
    /// The choices in it by their places (see [`gramjet_compiler::shape::Weights`]).
    pub choices: Vec<CoveredChoice>,
}

/// A choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveredChoice {
    /// Its number in the rule.
    pub place: u32,
    /// Its alternatives that can be taken, in source order.
    pub alternatives: Vec<CoveredAlternative>,
}

/// An alternative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoveredAlternative {
    /// Its number in the choice, from 0.
    pub number: u32,
    /// Its place.
    pub span: Span,
    /// Whether it was taken.
    pub is_reached: bool,
}

impl Covering {
    /// Returns a producer with the limits that the grammar file asks for, else with the default depth limit.
    pub fn new(compiled: &Compiled) -> Covering {
        Covering {
            limits: first_limits(compiled),
            reached: Reached::none(&compiled.lowered),
            grammar: Arc::new(compiled.clone()),
        }
    }

    /// Adds the coverage of another one of the same grammar; returns whether any of it was new.
    pub fn add(&mut self, other: &Covering) -> bool {
        self.reached.add(&other.reached)
    }

    /// Returns the coverage of the inputs so far.
    pub fn coverage(&self) -> Coverage {
        let Compiled { lowered, sources, .. } = &*self.grammar;
        let mut rules: Vec<(RuleId, CoveredRule)> = lowered
            .bodies()
            .map(|(rule, _)| {
                let name = lowered.rule(rule).name.clone();
                let told = self.grammar.told(rule).to_string();
                (rule, CoveredRule { name, told, is_reached: self.reached.rule(rule), choices: Vec::new() })
            })
            .collect();
        for (node, source) in sources.iter() {
            let Ok(at) = rules.binary_search_by_key(&source.rule, |(rule, _)| *rule) else { continue };
            let taken = source.alternatives.iter().zip(self.reached.options(node));
            let mut alternatives: Vec<CoveredAlternative> =
                taken.map(|(&(number, span), &is_reached)| CoveredAlternative { number, span, is_reached }).collect();
            alternatives.sort_by_key(|alternative| alternative.number);
            let choices = &mut rules[at].1.choices;
            match choices.iter_mut().find(|choice| choice.place == source.place) {
                // Another copy of the same choice.
                Some(choice) => {
                    let both = choice.alternatives.iter_mut().zip(&alternatives);
                    both.for_each(|(own, other)| own.is_reached |= other.is_reached);
                }
                None => choices.push(CoveredChoice { place: source.place, alternatives }),
            }
        }
        let mut rules: Vec<CoveredRule> = rules.into_iter().map(|(_, rule)| rule).collect();
        rules.iter_mut().for_each(|rule| rule.choices.sort_by_key(|choice| choice.place));
        Coverage { rules }
    }
}

impl Coverage {
    /// Returns how many of the rules that the user knows were reached, of how many.
    pub fn rules(&self) -> (usize, usize) {
        let rules = self.by_told();
        (rules.values().filter(|is_reached| **is_reached).count(), rules.len())
    }

    /// Returns for each rule, by the name that the user knows, whether any of the rules that were made of it was
    /// reached.
    pub fn by_told(&self) -> BTreeMap<&str, bool> {
        let mut rules = BTreeMap::new();
        for rule in &self.rules {
            *rules.entry(rule.told.as_str()).or_default() |= rule.is_reached;
        }
        rules
    }

    /// Returns how many alternatives were taken, of how many.
    pub fn alternatives(&self) -> (usize, usize) {
        let all = self.rules.iter().flat_map(|rule| &rule.choices).flat_map(|choice| &choice.alternatives);
        (all.clone().filter(|alternative| alternative.is_reached).count(), all.count())
    }

    /// Returns true if nothing is left to be reached.
    pub fn is_complete(&self) -> bool {
        let alternatives = self.alternatives();
        self.rules.iter().all(|rule| rule.is_reached) && alternatives.0 == alternatives.1
    }
}

impl Producer for Covering {
    fn min_len(&self) -> u64 {
        self.grammar.min_len()
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn set_limits(&mut self, limits: Limits) -> Result<(), LimitsError> {
        limits.check(self.min_len(), self.grammar.rule_without_pool())?;
        self.limits = limits;
        Ok(())
    }

    fn produce(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>) -> u64 {
        let (limits, mut next_byte) = within(self.limits, choices);
        let Compiled { lowered, pools, .. } = &*self.grammar;
        reference::run_covering(lowered, pools, limits, &mut next_byte, output, &mut self.reached)
    }
}
