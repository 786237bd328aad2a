//! The passes, in order. Each is one file with a function from IR to IR that keeps the language *and* the choice map.

use crate::analysis::pools::Pools;
use crate::ir::{self, Ir, NodeId, RuleId};

mod dead;
mod fuse;
mod inline;
mod loops;
mod partial_eval;
mod scopes;
mod supercompile;
mod tails;
mod unfold;

pub use supercompile::Budget;
pub use unfold::{MAX_UNFOLDED_DEPTH, MAX_UNFOLDED_NODES};

/// Optimises a lowered IR into its residual form. Only some rules keep a body: the start rule, rules needed for
/// recursion, and rules that are too large to copy to every use. `observe` gets the name and the result of each pass.
pub fn optimise(lowered: &Ir, pools: &Pools, budget: &Budget, observe: &mut dyn FnMut(&'static str, &Ir)) -> Ir {
    let mut step = |name: &'static str, ir: Ir| -> Ir {
        let ir = verified(name, ir);
        observe(name, &ir);
        ir
    };
    // The variable is assigned, not shadowed, so that the older result is dropped. Passes that change the old form in
    // place, or that would need much memory beside it, take it by value.
    let mut ir = step("remove-dead", dead::remove_dead(lowered));
    ir = step("partial-eval", partial_eval::partial_eval(&ir));
    ir = step("fuse-literals", fuse::fuse_literals(&ir));
    ir = step("loops", loops::tail_loops(ir));
    ir = step("inline", inline::inline_trivial(ir));
    ir = step("supercompile", supercompile::supercompile(ir, budget));
    ir = step("residual-loops", loops::tail_loops(ir));
    ir = step("erase-scopes", scopes::erase_scopes(&ir, pools));
    ir = step("fuse-residual", fuse::fuse_literals(&ir));
    step("share-tails", tails::share_tails(&ir))
}

/// Returns the residual form of a lowered IR with an unfolded depth limit. It needs no pools and is run without limits.
/// `None` if a rule has no pool, if the unfolded form would have more than `max_nodes` nodes before optimisation (16
/// strings of a pool count as one), or if it would have too many bytes of literals and pools or ranges of classes.
pub fn optimise_unfolded(lowered: &Ir, pools: &Pools, max_depth: u32, max_nodes: u32) -> Option<Ir> {
    // A field bounds a part also where there is no limit on the length, which this form does not keep.
    if lowered.has_labels() {
        return None;
    }
    let mut ir = verified("unfold", unfold::unfold(lowered, pools, max_depth, max_nodes)?);
    ir = verified("partial-eval", partial_eval::partial_eval(&ir));
    ir = verified("fuse-literals", fuse::fuse_literals(&ir));
    ir = verified("inline", inline::inline_trivial(ir));
    ir = verified("supercompile", supercompile::supercompile(ir, &Budget::default()));
    ir = verified("erase-scopes", scopes::erase_all_scopes(&ir));
    ir = verified("fuse-residual", fuse::fuse_literals(&ir));
    Some(verified("share-tails", tails::share_tails(&ir)))
}

/// Returns the result of a pass, verified in debug builds.
fn verified(name: &'static str, ir: Ir) -> Ir {
    if cfg!(debug_assertions)
        && let Err(problem) = ir::verify(&ir)
    {
        panic!("pass {name} broke the IR: {problem}\n{}", ir::print(&ir));
    }
    ir
}

/// The names of the passes, in order, each with a description.
pub const NAMES: &[(&str, &str)] = &[
    ("remove-dead", "Rules that the start rule does not reach are gone"),
    ("partial-eval", "Repetitions of a fixed number of rounds are unrolled"),
    ("fuse-literals", "Neighbouring literals are one, nested sequences are flat"),
    ("loops", "References in tail position to an enclosing rule are jumps back"),
    ("inline", "Rules that are trivial or used once stand where they are used"),
    ("supercompile", "The start rule is expanded as far as the budget allows, recursion is folded"),
    ("residual-loops", "`loops` again, for recursion that became direct"),
    ("erase-scopes", "Inlined rules whose pool equals their body are plain bodies"),
    ("fuse-residual", "`fuse-literals` again"),
    ("share-tails", "What all options of a choice end with follows it; this is what the engines run"),
];

/// Rebuilds every body bottom-up. `build` gets the new IR, the old node and its rebuilt children, and returns the new
/// node. A shared node is rebuilt once.
fn rewrite(old: &Ir, build: impl FnMut(&mut Ir, NodeId, Vec<NodeId>) -> NodeId) -> Ir {
    rewrite_some(old, |_| true, build)
}

/// Rebuilds bodies as [`rewrite`] does, for the rules that are `kept`. The others lose their bodies.
fn rewrite_some(
    old: &Ir,
    kept: impl Fn(RuleId) -> bool,
    mut build: impl FnMut(&mut Ir, NodeId, Vec<NodeId>) -> NodeId,
) -> Ir {
    let mut new = old.same_rules();
    let mut done: Vec<Option<NodeId>> = vec![None; old.node_count()];
    for (rule, body) in old.bodies().filter(|&(rule, _)| kept(rule)) {
        let body = rewrite_node(old, body, &mut new, &mut done, &mut build);
        new.set_body(rule, body);
    }
    new
}

fn rewrite_node(
    old: &Ir,
    node: NodeId,
    new: &mut Ir,
    done: &mut Vec<Option<NodeId>>,
    build: &mut impl FnMut(&mut Ir, NodeId, Vec<NodeId>) -> NodeId,
) -> NodeId {
    if let Some(node) = done[node.index()] {
        return node;
    }
    let children = old.children(node).iter().map(|&child| rewrite_node(old, child, new, done, build)).collect();
    let rebuilt = build(new, node, children);
    done[node.index()] = Some(rebuilt);
    rebuilt
}
