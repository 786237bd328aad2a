//! The IR verifier: checks every invariant that later stages rely on. Debug builds run it between passes.

use super::{Facts, Ir, NodeId, RuleId};
use crate::analysis::least;

/// The deepest nesting of nodes, so that stages may recurse over them.
pub const MAX_NESTING: u32 = 1500;

/// Checks all invariants.
///
/// # Errors
///
/// A description of the first violation.
pub fn verify(ir: &Ir) -> Result<(), String> {
    if ir.body(ir.start()).is_none() {
        return Err("the start rule has no body".into());
    }
    let recomputed = least::of_ir(ir);
    let mut reached = vec![false; ir.node_count()];
    for (rule, body) in ir.bodies() {
        let data = ir.rule(rule);
        let problem = |what: String| Err(format!("rule <{}>: {what}", data.name));
        // Erasing scopes makes derivations lower, not shorter.
        let holds = |found: Facts| {
            let Facts { min_len, height, min_depth } = data.facts;
            found.min_len == min_len && found.height <= height && found.min_depth <= min_depth
        };
        if !holds(ir.facts(body)) {
            return problem(format!("facts {:?} differ from the body's {:?}", data.facts, ir.facts(body)));
        }
        match recomputed[rule.index()] {
            Some(facts) if holds(facts) => {}
            Some(facts) => return problem(format!("facts {:?}, but the fixpoint is {facts:?}", data.facts)),
            None => return problem("derives no finite string".into()),
        }
        if ir.shape(body).nesting > MAX_NESTING {
            return problem("nested too deeply".into());
        }
        // An explicit stack of nodes, each with the scopes that a jump back may name.
        let mut stack: Vec<(NodeId, Vec<RuleId>)> = vec![(body, vec![rule])];
        while let Some((node, scopes)) = stack.pop() {
            let jumps = ir.node(node).in_place().is_some() || scopes.len() > 1;
            if std::mem::replace(&mut reached[node.index()], true) && !jumps {
                continue;
            }
            if let Err(what) = ir.node(node).verify(ir, &scopes) {
                return problem(what);
            }
            let mut inside = scopes;
            inside.extend(ir.node(node).in_place().map(|(rule, _)| rule));
            let tails = ir.tails(node);
            let (others, _) = ir.children(node).split_at(ir.children(node).len() - tails.len());
            stack.extend(others.iter().map(|&child| (child, Vec::new())));
            stack.extend(tails.iter().map(|&child| (child, inside.clone())));
        }
    }
    Ok(())
}
