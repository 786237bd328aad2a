//! Derivations of a grammar that are led: along steps, and with what is forced where they end.

use std::collections::BTreeMap;

use gramjet_compiler::Compiled;
use gramjet_compiler::ir::Ir;
use gramjet_compiler::limits::Limits;
use gramjet_engine::Tracer;
use gramjet_engine::decisions::{Derivation, Deriver};

use super::paths::{Paths, TooMany};
use super::steps::{Measure, Steps, Ways};
use super::walk::{Members, Otherwise, Walk, Wishes};
use crate::random::Random;

/// A grammar whose derivations are led.
pub(super) struct Lead<'c> {
    pub ir: &'c Ir,
    pub steps: Steps,
    pub paths: Paths,
    pub deriver: Deriver,
    pub limits: Limits,
    pub random: Random,
    /// The ways that are short in bytes, and those that are short in references.
    pub ways: [Ways; 2],
    members: Members,
}

/// Demands on a derivation.
pub(super) struct Demands<'d> {
    /// The steps to take, each within the one before.
    pub spine: &'d [u32],
    /// For each path the number of texts that have it: others are wanted, ...
    pub covered: &'d [u32],
    /// ... as long as this many bytes are left for them.
    pub beside: u64,
    /// For each step the cost of the way from it to one that begins a path which is wanted; nothing if that does not
    /// matter.
    pub near: &'d [u64],
    /// For nodes of the instance in which the spine ends: the option, or the rounds beyond the fewest.
    pub forced: &'d BTreeMap<u32, u32>,
    /// Way of deciding all else.
    pub otherwise: Otherwise,
}

/// A text that was led, with its derivation.
pub(super) struct Led {
    pub derivation: Derivation,
    /// The members of classes: the node, the option, and the place in the text.
    pub members: Vec<(u32, u32, u64)>,
    /// Whether the whole spine was taken, and the text is within the limit on its length.
    pub is_led: bool,
}

impl<'c> Lead<'c> {
    /// Returns a grammar whose paths have at most `longest` steps.
    pub fn new(compiled: &'c Compiled, longest: usize, limits: Limits, seed: u64) -> Result<Lead<'c>, TooMany> {
        let steps = Steps::new(compiled);
        Ok(Lead {
            ir: &compiled.lowered,
            paths: Paths::new(&steps, longest)?,
            members: Members::new(&compiled.lowered),
            deriver: Tracer::new(compiled).deriver(limits.max_len),
            ways: [Measure::Bytes, Measure::Depth].map(|measure| steps.ways(measure)),
            random: Random::new(seed),
            steps,
            limits,
        })
    }

    /// Derives a text.
    pub fn derive(&mut self, demands: &Demands<'_>) -> Led {
        let Lead { ir, steps, paths, deriver, limits, random, members, .. } = self;
        let Demands { spine, covered, beside, near, forced, otherwise } = *demands;
        let own = vec![false; if beside > 0 { paths.len() } else { 0 }];
        let wishes = Wishes { covered, own, left: beside, near, otherwise, forced };
        let mut walk = Walk {
            ir,
            steps,
            paths,
            members,
            max_depth: limits.max_depth,
            spine,
            taken: 0,
            home: None,
            wishes,
            random,
            open: Vec::new(),
            members_taken: Vec::new(),
        };
        let mut derivation = Derivation::default();
        deriver.derive_with(&mut walk, &mut derivation);
        let is_short = limits.max_len.is_none_or(|most| derivation.text.len() as u64 <= most);
        Led { is_led: walk.taken == spine.len() && is_short, members: walk.members_taken, derivation }
    }

    /// Returns the name of a rule, by its number.
    pub fn rule_name(&self, rule: u32) -> String {
        self.ir.rules()[rule as usize].name.clone()
    }
}
