//! The weights of a grammar if the user asks for none: its own, unless its inputs would be unsuitable.
//!
//! Equal probabilities make inputs of megabytes for one recursive grammar and mostly empty ones for another. A grammar
//! without weights gets the shape [`ByDefault::SHAPE`] if its [`Sizes`] are not sensible. The decision depends only on
//! the grammar and on the limits on depth and length. It is the same on every machine.

use crate::analysis::pools::Pools;
use crate::ast::{Alternative, Expr};
use crate::check::Checked;
use crate::ir::Ir;

use super::{DepthLimit, Shape, Weights, facts, shortest};

/// The sizes of inputs under a limit on the depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizes {
    /// The mean length in bytes. Infinite if it has no bound.
    pub mean: f64,
    /// The share of inputs that are equal to the shortest one.
    pub shortest: f64,
}

impl Sizes {
    /// The least sensible mean length, in bytes.
    const LEAST: f64 = 16.0;
    /// The greatest sensible mean length, in bytes.
    const GREATEST: f64 = 16.0 * 1024.0;
    /// The greatest sensible share of the shortest input.
    pub(crate) const SHORTEST: f64 = 0.2;

    /// Returns the sizes of the inputs of a grammar that was lowered with `weights`.
    pub(crate) fn new(
        checked: &Checked<'_>,
        weights: &Weights,
        ir: &Ir,
        pools: &Pools,
        limit: Option<&DepthLimit>,
    ) -> Sizes {
        let facts = facts(checked, weights, limit);
        let mean = facts.limited_length.or(facts.length.filter(|_| limit.is_none())).unwrap_or(f64::INFINITY);
        Sizes { mean, shortest: shortest::share(ir, pools, limit.map(|limit| limit.depth)) }
    }

    /// Returns true if inputs are neither too short nor too long nor too often the same.
    pub fn are_sensible(self) -> bool {
        (Sizes::LEAST..=Sizes::GREATEST).contains(&self.mean) && self.shortest <= Sizes::SHORTEST
    }

    /// Returns true if inputs are too long in the mean.
    pub(crate) fn are_too_long(self) -> bool {
        self.mean > Sizes::GREATEST
    }

    /// Returns the reason why the sizes are not sensible.
    fn complaint(self) -> String {
        match self.mean {
            mean if !(Sizes::LEAST..=Sizes::GREATEST).contains(&mean) => {
                format!("equally probable alternatives make inputs of {} in the mean", shown(mean))
            }
            _ => {
                let percent = 100.0 * self.shortest;
                format!("with equally probable alternatives {percent:.0} % of the inputs are the shortest one")
            }
        }
    }
}

/// Returns a length in a readable form.
fn shown(bytes: f64) -> String {
    match bytes {
        bytes if bytes < 1e4 => format!("{bytes:.1} bytes"),
        bytes if bytes < 1e6 => format!("{:.0} kB", bytes / 1e3),
        bytes if bytes < 1e9 => format!("{:.1} MB", bytes / 1e6),
        bytes if bytes < 1e15 => format!("{:.1} GB", bytes / 1e9),
        bytes if bytes.is_finite() => format!("{bytes:.0e} bytes"),
        _ => "unbounded length".to_string(),
    }
}

/// If no weights come near the shape, weights are still used if they make inputs this many times shorter.
const MUCH: f64 = 4.0;

/// The decision for a grammar without weights whose sizes are not sensible.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByDefault {
    /// The sizes with the grammar's own, equal probabilities.
    pub own: Sizes,
    /// The shape that weights were computed for.
    pub shape: Shape,
    /// The sizes with these weights.
    pub found: Sizes,
    /// Whether the mean length is near that of the shape.
    pub is_near: bool,
    /// Whether the weights for the shape are used.
    pub is_shaped: bool,
}

impl ByDefault {
    /// The default shape.
    pub const SHAPE: Shape = Shape::TargetSize(1000);

    /// The shape for grammars of too long inputs on which [`ByDefault::SHAPE`] does not do.
    pub const OTHER_SHAPE: Shape = Shape::Balanced;

    /// Uses the weights for the shape if they are better. If no weights come near the target, those nearest to it may
    /// make almost all inputs equal. So a grammar of short inputs keeps its own weights then.
    pub(crate) fn new(own: Sizes, shape: Shape, found: Sizes, is_near: bool) -> ByDefault {
        let is_shorter = own.are_too_long() && MUCH * found.mean < own.mean;
        // The mean can also become smaller because nearly all inputs are the shortest one.
        let is_varied = found.shortest <= own.shortest.max(Sizes::SHORTEST);
        // Only a target size comes with a range of lengths.
        let does = if shape == ByDefault::SHAPE { is_near || is_shorter } else { found.are_sensible() };
        ByDefault { own, shape, found, is_near, is_shaped: does && is_varied }
    }

    /// Returns true if users should be told when inputs are made. Short inputs, as of a grammar of dates, surprise no
    /// one.
    pub fn is_surprising(&self) -> bool {
        self.is_shaped || self.own.are_too_long()
    }
}

/// One line with the decision and its reason.
impl std::fmt::Display for ByDefault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (complaint, shape) = (self.own.complaint(), self.shape);
        match (self.is_shaped, self.is_near) {
            (true, true) => write!(f, "{complaint}: taking the shape {shape}")?,
            (true, false) => {
                let found = shown(self.found.mean);
                write!(f, "{complaint}: taking weights as near to the shape {shape} as there are, {found}")?;
            }
            (false, true) => {
                let percent = 100.0 * self.found.shortest;
                write!(f, "{complaint}; {percent:.0} % would be the shortest one in the shape {shape}, so ")?;
                f.write_str("alternatives stay equally probable")?;
            }
            (false, false) => {
                write!(
                    f,
                    "{complaint}; no weights come near the shape {shape}, so alternatives stay equally probable"
                )?;
            }
        }
        if self.is_shaped && self.found.shortest > Sizes::SHORTEST {
            write!(f, ", with which {:.0} % are the shortest one", 100.0 * self.found.shortest)
        } else {
            Ok(())
        }
    }
}

/// Returns true if a grammar has weights of its own. Weight 0 only switches an alternative off.
pub(crate) fn has_weights(checked: &Checked<'_>) -> bool {
    fn has(expr: &Expr) -> bool {
        let is_weighted = |one: &Alternative| one.is_generated() && one.weight.is_some();
        expr.as_choice().is_some_and(|all| all.iter().any(is_weighted))
            || expr.children_if(Alternative::is_generated).any(has)
    }
    let rules = checked.grammar.rules.iter().zip(&checked.reachable);
    rules.into_iter().any(|(rule, &is_reachable)| is_reachable && has(&rule.body))
}
