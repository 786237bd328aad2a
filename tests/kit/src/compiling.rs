//! From an Ast to every stage of the compiler.

use gramjet_compiler::analysis::pools::{Pools, pools};
use gramjet_compiler::ast::{self, Grammar};
use gramjet_compiler::check::check;
use gramjet_compiler::ir::Ir;
use gramjet_compiler::lower::lower;
use gramjet_compiler::passes::{Budget, optimise};
use gramjet_compiler::shape::InForce;
use gramjet_compiler::sources::Sources;
use gramjet_compiler::{Compiled, Diagnostics, Fingerprints, SourceFile};

/// A grammar after lowering and after each pass.
#[derive(Clone, Debug)]
pub struct Passes {
    /// The lowered form.
    pub lowered: Ir,
    /// The pools of its rules.
    pub pools: Pools,
    /// The result of each pass, with its name, in order.
    pub results: Vec<(&'static str, Ir)>,
}

/// Returns all stages of a grammar.
///
/// # Panics
///
/// If the grammar is not sound.
pub fn passes(grammar: &Grammar, budget: &Budget) -> Passes {
    let mut diagnostics = Diagnostics::default();
    let lowered = check(grammar, None, &mut diagnostics).and_then(|checked| lower(&checked, &mut diagnostics));
    let Some(lowered) = lowered else {
        let file = SourceFile::new("g", "");
        panic!("{}\n{}", diagnostics.to_plain_text(&file), ast::dump(grammar));
    };
    let pools = pools(&lowered);
    let mut results = Vec::new();
    optimise(&lowered, &pools, budget, &mut |name, ir| results.push((name, ir.clone())));
    Passes { lowered, pools, results }
}

/// Returns the lowered form of a grammar, and its pools; `None` if it is not sound.
pub fn lowered(grammar: &Grammar) -> Option<(Ir, Pools)> {
    let mut diagnostics = Diagnostics::default();
    let lowered = lower(&check(grammar, None, &mut diagnostics)?, &mut diagnostics)?;
    let pools = pools(&lowered);
    Some((lowered, pools))
}

/// Returns the grammar, ready for every engine; the same as `gramjet_compiler::compile` makes from its text.
///
/// # Panics
///
/// If the grammar is not sound.
pub fn compiled(grammar: &Grammar) -> Compiled {
    let Passes { lowered, pools, results } = passes(grammar, &Budget::default());
    let residual = results.last().map_or_else(|| lowered.clone(), |(_, ir)| ir.clone());
    Compiled {
        lowered: lowered.into(),
        pools,
        residual: residual.into(),
        sources: Sources::default().into(),
        max_depth: grammar.max_depth,
        max_len: grammar.max_len,
        origins: grammar.origins.clone().into(),
        fingerprints: Fingerprints::default(),
        has_lexer: false,
        weights: InForce::Own,
        by_default: None,
    }
}
