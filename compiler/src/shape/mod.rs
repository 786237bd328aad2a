//! The shape of the output: weights that make inputs neither trivial nor endless.
//!
//! A grammar with its probabilities is a branching process (`growth`). `model` describes its decisions and their
//! consequences. `boltzmann` and `solve` find probabilities, `quantise` makes slots of them, `file` saves and loads
//! them. The lowering applies them ([`crate::lower`]), so they hold on every engine.

use std::str::FromStr;

use crate::analysis::pools::Pools;
use crate::check::Checked;
use crate::diagnostics::SourceFile;
use crate::ir::Ir;

mod boltzmann;
mod by_default;
mod file;
mod flat;
mod growth;
pub mod learn;
mod levers;
mod model;
mod quantise;
mod shortest;
mod solve;
mod tape;
mod term;
mod weights;

pub(crate) use by_default::has_weights;
pub use by_default::{ByDefault, Sizes};
pub(crate) use file::fingerprint_number;
pub(crate) use file::{Demands, demands, write};
pub use file::{FileError, read};
pub use weights::{Group, Law, Range, Weights};
pub(crate) use weights::{classes, each_place, places, ranges};

use growth::Growth;
use model::Model;
use solve::{Measure, Solution};

/// The intended shape of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// All alternatives are equally probable. The weights of the grammar are ignored, except weight 0.
    Uniform,
    /// Derivations end, with a finite expected length, and reach every alternative. The weights of the grammar are
    /// priors.
    Balanced,
    /// Long chains of recursion that seldom branch, with a finite expected length.
    Deep,
    /// Inputs have this mean length in bytes, under the depth limit.
    TargetSize(u64),
}

impl Shape {
    /// The names of the shapes; `target-size` takes a number of bytes.
    pub const NAMES: &'static [&'static str] = &["uniform", "balanced", "deep", "target-size"];
}

impl std::fmt::Display for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Shape::Uniform => f.write_str("uniform"),
            Shape::Balanced => f.write_str("balanced"),
            Shape::Deep => f.write_str("deep"),
            Shape::TargetSize(bytes) => write!(f, "target-size={bytes}"),
        }
    }
}

impl FromStr for Shape {
    type Err = String;

    /// Reads `uniform`, `balanced`, `deep` or `target-size=BYTES`.
    fn from_str(text: &str) -> Result<Shape, String> {
        match text {
            "uniform" => return Ok(Shape::Uniform),
            "balanced" => return Ok(Shape::Balanced),
            "deep" => return Ok(Shape::Deep),
            _ => {}
        }
        let bytes = text.strip_prefix("target-size").and_then(|rest| rest.strip_prefix(['=', ':', ' ']));
        match bytes.map(|bytes| bytes.trim().parse::<u64>()) {
            Some(Ok(bytes)) if bytes > 0 => Ok(Shape::TargetSize(bytes)),
            Some(_) => Err("target-size needs a number of bytes, such as target-size=1000".to_string()),
            None => Err("a shape is uniform, balanced, deep or target-size=BYTES".to_string()),
        }
    }
}

/// The source of a grammar's weights.
#[derive(Clone, Debug, Default)]
pub enum Weighting {
    /// From the grammar itself.
    #[default]
    Own,
    /// From the grammar itself. If it has no weights and inputs would be far too long, too short or too often the same,
    /// from a shape ([`ByDefault`]). This is the default for users.
    ByDefault,
    /// Computed for a shape.
    Shape(Shape),
    /// From a file that [`crate::examine`] or [`crate::learned`] has written.
    File(SourceFile),
}

/// The source of the weights that a grammar was compiled with, so that they can be found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InForce {
    /// From the grammar itself.
    Own,
    /// Computed for a shape.
    Shape {
        /// The shape.
        shape: Shape,
        /// The depth limit under which lengths were computed.
        depth: Option<u32>,
    },
    /// From a file.
    File,
}

impl std::fmt::Display for InForce {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            InForce::Own => f.write_str("the grammar's own weights"),
            InForce::Shape { shape, depth: Some(depth) } => {
                write!(f, "weights of the shape {shape} at a maximum depth of {depth}")
            }
            InForce::Shape { shape: shape @ Shape::TargetSize(_), depth: None } => {
                write!(f, "weights of the shape {shape} without a maximum depth")
            }
            InForce::Shape { shape, depth: None } => write!(f, "weights of the shape {shape}"),
            InForce::File => f.write_str("weights of a file"),
        }
    }
}

/// The depth limit under which lengths are computed.
#[derive(Clone, Debug)]
pub struct DepthLimit {
    /// The greatest depth.
    pub depth: u32,
    /// For each rule, the mean length of the pool strings that replace it beyond the limit.
    pub pools: Vec<f64>,
}

impl DepthLimit {
    /// Returns the limit for a grammar with these pools. `None` if a reachable rule has no pool, so that no depth limit
    /// can be kept.
    pub fn new(depth: u32, ir: &Ir, pools: &Pools) -> Option<DepthLimit> {
        let mut means = vec![0.0; ir.rules().len()];
        for (rule, _) in ir.bodies() {
            let strings = &pools.get(rule)?.strings;
            let bytes: usize = strings.iter().map(|string| string.len()).sum();
            means[rule.index()] = bytes as f64 / strings.len().max(1) as f64;
        }
        Some(DepthLimit { depth, pools: means })
    }
}

/// The weights of a shape, and how far they reach it.
#[derive(Clone, Debug)]
pub struct Shaped {
    /// The weights.
    pub weights: Weights,
    /// The least and greatest mean length that weights can reach, if the target is not between them.
    pub reachable: Option<(f64, f64)>,
}

/// Computes the weights of a shape. The limit only affects [`Shape::TargetSize`].
pub fn solve(checked: &Checked<'_>, shape: Shape, limit: Option<DepthLimit>) -> Shaped {
    let mut model = Model::new(checked, shape != Shape::Uniform, &Weights::default());
    let measure = Measure { depth: limit.map(|limit| (limit.depth, limit.pools)) };
    let unlimited = Measure { depth: None };
    let Solution { laws, reachable } = match shape {
        Shape::Uniform => Solution { laws: model.priors(), reachable: None },
        Shape::Balanced => Solution { laws: solve::balanced(&model), reachable: None },
        Shape::Deep => Solution { laws: solve::deep(&model), reachable: None },
        Shape::TargetSize(bytes) => solve::target(&mut model, &measure, bytes as f64),
    };
    let measure = if matches!(shape, Shape::TargetSize(_)) { &measure } else { &unlimited };
    Shaped { weights: quantise::weights(&model, &laws, measure), reachable }
}

/// Computes the weights of [`Shape::TargetSize`] that are nearest to the balanced shape. For grammars on which
/// [`solve`] makes nearly all inputs the shortest one.
pub fn solve_near_balanced(checked: &Checked<'_>, bytes: u64, limit: Option<DepthLimit>) -> Shaped {
    let mut model = Model::new(checked, true, &Weights::default());
    let measure = Measure { depth: limit.map(|limit| (limit.depth, limit.pools)) };
    let Solution { laws, reachable } = solve::balanced_target(&mut model, &measure, bytes as f64);
    Shaped { weights: quantise::weights(&model, &laws, &measure), reachable }
}

/// The growth of a grammar with the weights that it is lowered with.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The greatest spectral radius of the mean matrix. If it is 1 or more, the expected length has no bound.
    pub radius: f64,
    /// The recursive rules whose component has that radius.
    pub critical: Vec<usize>,
    /// The expected length in bytes without a depth limit. `None` if it has no bound.
    pub length: Option<f64>,
    /// The expected length in bytes under the depth limit, if there is one.
    pub limited_length: Option<f64>,
    /// The number of alternatives in all choices.
    pub alternatives: usize,
}

/// Computes the growth of a grammar.
pub fn facts(checked: &Checked<'_>, weights: &Weights, limit: Option<&DepthLimit>) -> Facts {
    let mut model = Model::new(checked, true, weights);
    let laws = quantise::laws(&mut model, weights);
    let growth = Growth::new(&model, &laws);
    let (mut radius, mut critical) = (0.0, Vec::new());
    for component in model.components().filter(|component| model.recursion.is_recursive(component[0])) {
        let own = growth.radius_of(component);
        if own > radius {
            (radius, critical) = (own, component.iter().map(|rule| rule.index()).collect());
        }
    }
    critical.sort_unstable();
    let length = growth.length();
    Facts {
        radius,
        critical,
        length: length.is_finite().then_some(length),
        limited_length: limit.map(|limit| growth.length_within(limit.depth, &limit.pools)),
        alternatives: model.alternatives,
    }
}

#[cfg(test)]
mod tests;
