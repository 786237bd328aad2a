//! The reference interpreter of the compiler as a producer: the oracle of every other engine, slow.

use std::sync::Arc;

use gramjet::{Choices, Limits, LimitsError, Producer};
use gramjet_compiler::analysis::pools::Pools;
use gramjet_compiler::ir::Ir;
use gramjet_compiler::{Compiled, reference};

use crate::directives::{first_limits, or_first};

/// Runs the lowered form of a grammar.
#[derive(Clone, Debug)]
pub struct Reference {
    grammar: Arc<Grammar>,
    limits: Limits,
}

#[derive(Debug)]
struct Grammar {
    lowered: Arc<Ir>,
    pools: Pools,
    min_len: u64,
    rule_without_pool: Option<String>,
}

impl Reference {
    /// Returns a producer with the limits that the grammar file asks for, else with the default depth limit.
    pub fn new(compiled: &Compiled) -> Reference {
        Reference::with_limits(compiled, first_limits(compiled))
    }

    /// Returns a producer with these limits; if the grammar cannot keep them, with those of [`Reference::new`].
    pub fn with_limits(compiled: &Compiled, limits: Limits) -> Reference {
        let grammar = Grammar {
            lowered: compiled.lowered.clone(),
            pools: compiled.pools.clone(),
            min_len: compiled.min_len(),
            rule_without_pool: compiled.rule_without_pool().map(str::to_string),
        };
        Reference { grammar: Arc::new(grammar), limits: or_first(limits, compiled) }
    }
}

impl Producer for Reference {
    fn min_len(&self) -> u64 {
        self.grammar.min_len
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn set_limits(&mut self, limits: Limits) -> Result<(), LimitsError> {
        limits.check(self.grammar.min_len, self.grammar.rule_without_pool.as_deref())?;
        self.limits = limits;
        Ok(())
    }

    fn produce(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>) -> u64 {
        let (limits, mut next_byte) = within(self.limits, choices);
        reference::run(&self.grammar.lowered, &self.grammar.pools, limits, &mut next_byte, output, None)
    }
}

/// Returns the limits as the reference interpreter takes them, and the choice bytes up to the limit on their number.
pub(crate) fn within<'c>(
    limits: Limits,
    choices: &'c mut Choices<'_>,
) -> (reference::Limits, impl FnMut() -> Option<u8> + 'c) {
    let mut left = limits.choices();
    let next_byte = move || {
        left = left.checked_sub(1)?;
        choices.next_byte()
    };
    (reference::Limits { max_depth: limits.depth(), max_len: limits.length() }, next_byte)
}
