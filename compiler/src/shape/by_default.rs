//! What weights a grammar gets where nobody asks for any: its own, unless they make inputs that nobody wants.
//!
//! Equal probabilities make inputs of megabytes of one recursive grammar and mostly empty ones of another. A grammar without
//! weights gets the shape [`ByDefault::SHAPE`] where its [`Sizes`] are not sensible. The decision is a function of the grammar and
//! of the limits on depth and length, the same on every machine.

use crate::analysis::pools::Pools;
use crate::ast::{Expr, ExprKind};
use crate::check::{Checked, is_live};
use crate::ir::Ir;

use super::{DepthLimit, Shape, Weights, facts, shortest};

/// What inputs look like under a limit on the depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizes {
    /// The mean length in bytes; infinite if it has no bound.
    pub mean: f64,
    /// The share of inputs that are the shortest one.
    pub shortest: f64,
}

impl Sizes {
    /// Inputs that are shorter in the mean are too short, ...
    const LEAST: f64 = 16.0;
    /// ... and longer ones too long.
    const GREATEST: f64 = 16.0 * 1024.0;
    /// If more of them are the shortest one, they are too often the same.
    const SHORTEST: f64 = 0.2;

    /// The sizes of the inputs of a grammar that was lowered with `weights`.
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

    /// Whether inputs are neither too short nor too long nor too often the same.
    pub fn are_sensible(self) -> bool {
        (Sizes::LEAST..=Sizes::GREATEST).contains(&self.mean) && self.shortest <= Sizes::SHORTEST
    }

    /// What is wrong with them.
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

/// A length for people.
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

/// Where no weights come near to the shape, those that make inputs so many times shorter are worth it.
const MUCH: f64 = 4.0;

/// What was decided for a grammar without weights whose sizes are not sensible.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByDefault {
    /// The sizes with the grammar's own, equal probabilities.
    pub own: Sizes,
    /// The sizes with the weights that were found for the shape.
    pub found: Sizes,
    /// Whether their mean length is near to that of the shape.
    pub is_near: bool,
    /// Whether they are taken.
    pub is_shaped: bool,
}

impl ByDefault {
    /// The shape.
    pub const SHAPE: Shape = Shape::TargetSize(1000);

    /// Takes the weights that were found, if they are better: where none come near, the way to a length that is far off would make one
    /// input out of all, so a grammar of short inputs stays as it is.
    pub(crate) fn new(own: Sizes, found: Sizes, is_near: bool) -> ByDefault {
        let is_shorter = own.mean > Sizes::GREATEST && MUCH * found.mean < own.mean;
        // A mean can be made smaller by making the shortest input of nearly all.
        let is_varied = found.shortest <= own.shortest.max(Sizes::SHORTEST);
        ByDefault { own, found, is_near, is_shaped: (is_near || is_shorter) && is_varied }
    }

    /// Whether it is worth a line when inputs are made. That a grammar of dates makes short ones surprises nobody.
    pub fn is_surprising(&self) -> bool {
        self.is_shaped || self.own.mean > Sizes::GREATEST
    }
}

/// One line that says what was decided and why.
impl std::fmt::Display for ByDefault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (complaint, shape) = (self.own.complaint(), Self::SHAPE);
        match (self.is_shaped, self.is_near) {
            (true, true) => write!(f, "{complaint}: taking the shape {shape}")?,
            (true, false) => {
                let found = shown(self.found.mean);
                write!(f, "{complaint}: taking weights as near to the shape {shape} as there are, {found}")?;
            }
            (false, _) => {
                write!(
                    f,
                    "{complaint}; no weights come near the shape {shape}, so alternatives stay equally probable"
                )?;
            }
        }
        match self.is_shaped && self.found.shortest > Sizes::SHORTEST {
            true => write!(f, ", with which {:.0} % are the shortest one", 100.0 * self.found.shortest),
            false => Ok(()),
        }
    }
}

/// Whether a grammar has weights of its own. Weight 0 only switches an alternative off.
pub(crate) fn has_weights(checked: &Checked<'_>) -> bool {
    fn has(expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Bytes(_) | ExprKind::Class(_) | ExprKind::Rule(_) => false,
            ExprKind::Seq(items) => items.iter().any(has),
            ExprKind::Choice(alternatives) => {
                let live = alternatives.iter().filter(|one| is_live(one));
                live.into_iter().any(|one| one.weight.is_some() || has(&one.expr))
            }
            ExprKind::Repeat { item, .. } => has(item),
        }
    }
    let rules = checked.grammar.rules.iter().zip(&checked.reachable);
    rules.into_iter().any(|(rule, &is_reachable)| is_reachable && has(&rule.body))
}
