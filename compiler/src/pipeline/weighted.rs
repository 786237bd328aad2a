//! Lowers a grammar with the weights that the options ask for, including those of a shape and those that a grammar gets
//! by default.

use crate::analysis::pools::{Pools, pools};
use crate::check::Checked;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, SourceFile};
use crate::ir::Ir;
use crate::lower::lower_weighted;
use crate::shape::{
    self, ByDefault, DepthLimit, FileError, InForce, Shape, Shaped, Sizes, Weighting, Weights, has_weights,
};
use crate::sources::Sources;

use super::{Options, unbounded_derivation};

/// A lowered grammar with its weights.
pub(super) struct Lowered {
    pub ir: Ir,
    pub sources: Sources,
    pub weights: Weights,
    /// The shape that the weights were computed for, as in a file of weights.
    pub shape: Option<String>,
    pub in_force: InForce,
    pub by_default: Option<ByDefault>,
    pools: Option<Pools>,
}

impl Lowered {
    fn own(checked: &Checked<'_>, diagnostics: &mut Diagnostics) -> Option<Lowered> {
        Lowered::with(checked, Weights::default(), InForce::Own, diagnostics)
    }

    fn with(
        checked: &Checked<'_>,
        weights: Weights,
        in_force: InForce,
        diagnostics: &mut Diagnostics,
    ) -> Option<Lowered> {
        let (ir, sources) = lower_weighted(checked, &weights, diagnostics)?;
        Some(Lowered { ir, sources, weights, shape: None, in_force, by_default: None, pools: None })
    }

    /// Returns the pools of its rules.
    pub fn pools(&self) -> Pools {
        self.pools.clone().unwrap_or_else(|| pools(&self.ir))
    }

    /// Computes the pools, and with them the limit on the depth.
    fn limit(&mut self, depth: Option<u32>) -> Option<DepthLimit> {
        let depth = depth?;
        let pools = self.pools.get_or_insert_with(|| pools(&self.ir));
        DepthLimit::new(depth, &self.ir, pools)
    }

    fn sizes(&mut self, checked: &Checked<'_>, depth: Option<u32>) -> Sizes {
        let limit = self.limit(depth);
        let pools = self.pools.clone().unwrap_or_default();
        Sizes::new(checked, &self.weights, &self.ir, &pools, limit.as_ref())
    }
}

/// Lowers a grammar with the weights that the options ask for. `has_weights` says whether weights in the grammar come
/// from the user.
pub(super) fn lower_as_asked(
    checked: &Checked<'_>,
    options: &Options,
    are_weights_given: bool,
    diagnostics: &mut Diagnostics,
) -> Option<Lowered> {
    match &options.weighting {
        Weighting::Own => Lowered::own(checked, diagnostics),
        Weighting::ByDefault => lower_by_default(checked, options, are_weights_given, diagnostics),
        Weighting::Shape(shape) => {
            let mut own = Lowered::own(checked, diagnostics)?;
            // A grammar that is refused without weights is refused with them too. The caller reports it.
            if unbounded_derivation(&own.ir, checked.grammar).is_some() {
                return Some(own);
            }
            let depth = options.limits.or_default(checked.grammar.directives()).limits.max_depth;
            let (lowered, reachable) = lower_in_shape(checked, &mut own, *shape, depth, diagnostics)?;
            if let (Some(reachable), Shape::TargetSize(bytes)) = (reachable, *shape) {
                diagnostics.push(unreachable_size(bytes, depth, reachable));
            }
            Some(lowered)
        }
        Weighting::File(file) => match shape::read(checked.grammar, file.text()) {
            Ok((weights, shape)) => {
                let lowered = Lowered::with(checked, weights, InForce::File, diagnostics)?;
                Some(Lowered { shape, ..lowered })
            }
            Err(error) => {
                diagnostics.push(unusable_weights(options, file, &error));
                None
            }
        },
    }
}

/// Lowers a grammar with its own weights. If it has none, and there is no length limit, and its inputs would be too
/// long, too short or too often the same, uses those of a shape.
fn lower_by_default(
    checked: &Checked<'_>,
    options: &Options,
    are_weights_given: bool,
    diagnostics: &mut Diagnostics,
) -> Option<Lowered> {
    let grammar = checked.grammar;
    let mut own = Lowered::own(checked, diagnostics)?;
    let limits = options.limits.or_default(grammar.directives()).limits;
    let is_given = are_weights_given && has_weights(checked) || limits.max_len.is_some();
    // The model of sizes does not know what follows from labelled parts.
    if is_given || own.ir.has_labels() || unbounded_derivation(&own.ir, grammar).is_some() {
        return Some(own);
    }
    let depth = limits.max_depth;
    let sizes = own.sizes(checked, depth);
    if sizes.are_sensible() {
        return Some(own);
    }
    let mut better = |shape| lower_if_better(checked, (&mut own, sizes), shape, depth, diagnostics);
    let first = better(ByDefault::SHAPE)?;
    if first.by_default.is_some_and(|decision| decision.is_shaped) {
        return Some(first);
    }
    if sizes.are_too_long() {
        let other = better(ByDefault::OTHER_SHAPE)?;
        if other.by_default.is_some_and(|decision| decision.is_shaped) {
            return Some(other);
        }
    }
    Some(Lowered { by_default: first.by_default, ..own })
}

/// Lowers a grammar in a shape, with the decision whether that is better than its own weights. `own` is its lowered
/// form with these, and the sizes of its inputs.
fn lower_if_better(
    checked: &Checked<'_>,
    (own, sizes): (&mut Lowered, Sizes),
    shape: Shape,
    depth: Option<u32>,
    diagnostics: &mut Diagnostics,
) -> Option<Lowered> {
    let (mut found, reachable) = lower_in_shape(checked, own, shape, depth, diagnostics)?;
    let mut decision = ByDefault::new(sizes, shape, found.sizes(checked, depth), reachable.is_none());
    // A grammar must not be refused because of weights that the user has not asked for.
    decision.is_shaped &= unbounded_derivation(&found.ir, checked.grammar).is_none();
    Some(Lowered { by_default: Some(decision), ..found })
}

fn unusable_weights(options: &Options, file: &SourceFile, error: &FileError) -> Diagnostic {
    let (code, help) = match error {
        FileError::Invalid(_) => (
            Code::InvalidWeights,
            "`gramjet weights` writes such files; docs/weights-file.md has their form".to_string(),
        ),
        FileError::Stale { .. } => (Code::StaleWeights, remedy(options, file)),
    };
    Diagnostic::error(code, None, format!("the weights in `{}` cannot be used: {error}", file.name())).help(help)
}

/// Returns what to do about weights of another grammar.
fn remedy(options: &Options, file: &SourceFile) -> String {
    let demands = shape::demands(file.text());
    if demands.contexts && demands.start != options.start {
        let give = match &demands.start {
            Some(start) => format!("give `--start {start}`"),
            None => "leave `--start` out".to_string(),
        };
        return format!(
            "weights with contexts (`learn --context 1`) belong to a start rule: {give}, or learn them again with the start \
             rule that you need"
        );
    }
    if options.contexts && !demands.contexts {
        return "these weights have no contexts: leave the option for contexts out, or learn with `--context 1`"
            .to_string();
    }
    "make it again with `gramjet weights` or `gramjet learn`, with the options that the grammar is read with (`parse`, \
     `mutate`, `minimise` and `learn` read ANTLR grammars with `--separator-policy any`)"
        .to_string()
}

/// The most rounds of solving. New weights change the pools, which in turn change the solution.
const ROUNDS: u32 = 3;
/// The error of the mean size at which the rounds end, as a share of the size.
const NEAR: f64 = 0.02;

/// Lowers a grammar with the weights of a shape. `own` is its lowered form with its own weights. The depth limit only
/// affects [`Shape::TargetSize`]. Also returns the range of reachable mean lengths, if the target is not in it.
fn lower_in_shape(
    checked: &Checked<'_>,
    own: &mut Lowered,
    shape: Shape,
    depth: Option<u32>,
    diagnostics: &mut Diagnostics,
) -> Option<(Lowered, Option<(f64, f64)>)> {
    let depth = depth.filter(|_| matches!(shape, Shape::TargetSize(_)));
    let limit = own.limit(depth);
    let first = lower_solved(
        checked,
        limit.clone(),
        (shape, depth),
        &|limit| shape::solve(checked, shape, limit),
        diagnostics,
    )?;
    let Shape::TargetSize(bytes) = shape else { return Some(first) };
    let (mut found, reachable) = first;
    let shortest = found.sizes(checked, depth).shortest;
    if reachable.is_none() && shortest > Sizes::SHORTEST {
        let solve = |limit| shape::solve_near_balanced(checked, bytes, limit);
        let (mut varied, unreached) = lower_solved(checked, limit, (shape, depth), &solve, diagnostics)?;
        if unreached.is_none() && varied.sizes(checked, depth).shortest < shortest {
            return Some((varied, None));
        }
    }
    Some((found, reachable))
}

/// Lowers a grammar with the weights that `solve` finds for a shape, and for the depth for which it finds them.
fn lower_solved(
    checked: &Checked<'_>,
    limit: Option<DepthLimit>,
    (shape, depth): (Shape, Option<u32>),
    solve: &dyn Fn(Option<DepthLimit>) -> Shaped,
    diagnostics: &mut Diagnostics,
) -> Option<(Lowered, Option<(f64, f64)>)> {
    let in_force = InForce::Shape { shape, depth };
    let Shaped { mut weights, mut reachable } = solve(limit);
    let mut found = Lowered::with(checked, weights.clone(), in_force, diagnostics)?;
    if let (Shape::TargetSize(bytes), None) = (shape, reachable) {
        // Written-out rounds change the pools, which the solution depends on.
        for _ in 0..ROUNDS {
            if unbounded_derivation(&found.ir, checked.grammar).is_some() {
                break;
            }
            let Some(limit) = found.limit(depth) else { break };
            let length = shape::facts(checked, &weights, Some(&limit)).limited_length;
            if length.is_none_or(|length| (length - bytes as f64).abs() <= NEAR * bytes as f64) {
                break;
            }
            Shaped { weights, reachable } = solve(Some(limit));
            found = Lowered::with(checked, weights.clone(), in_force, diagnostics)?;
        }
    }
    Some((Lowered { shape: Some(shape.to_string()), ..found }, reachable))
}

fn unreachable_size(bytes: u64, depth: Option<u32>, (least, greatest): (f64, f64)) -> Diagnostic {
    let within = match depth {
        Some(depth) => format!(" within a maximum depth of {depth}"),
        None => String::new(),
    };
    let message = format!(
        "no weights give inputs of {bytes} bytes in the mean{within}: what was found is from {least:.1} to {greatest:.1}"
    );
    Diagnostic::warning(Code::UnreachableSize, None, message)
        .help("ask for a size in this range, or change `--max-depth`; the nearest weights are taken")
}
