//! Turns references in tail position to an enclosing instance of the same rule into jumps back to it, so that right
//! recursion needs no stack and no longer counts as recursion.
//!
//! Law: a jump back is an instance one level deeper, like the reference that it replaces.

use crate::ir::{Ir, Node, NodeId, RuleId};

pub fn tail_loops(mut ir: Ir) -> Ir {
    for rule in ir.rule_ids() {
        if let Some(body) = ir.body(rule)
            && let Some(body) = tail(&mut ir, body, &mut vec![rule])
        {
            ir.set_body(rule, body);
        }
    }
    ir
}

/// The node with its tail references to `scopes` replaced; `None` if there are none.
fn tail(ir: &mut Ir, node: NodeId, scopes: &mut Vec<RuleId>) -> Option<NodeId> {
    match ir.node(node).clone() {
        Node::Rule(rule) => scopes.contains(&rule).then(|| ir.again(rule)),
        Node::Seq(items) => {
            let last = tail(ir, *items.last()?, scopes)?;
            let mut items = items.to_vec();
            items.pop();
            items.push(last);
            Some(ir.seq(items))
        }
        Node::Choice(choice) => {
            let options: Vec<Option<NodeId>> = choice.options.iter().map(|&option| tail(ir, option, scopes)).collect();
            if options.iter().all(Option::is_none) {
                return None;
            }
            let options: Vec<NodeId> =
                options.iter().zip(&choice.options).map(|(new, &old)| new.unwrap_or(old)).collect();
            Some(ir.choice(options, choice.slots))
        }
        Node::Inline { rule, body } => {
            scopes.push(rule);
            let body = tail(ir, body, scopes);
            scopes.pop();
            body.map(|body| ir.inline(rule, body))
        }
        Node::Bytes(_) | Node::Class(_) | Node::Repeat { .. } | Node::Again(_) => None,
    }
}
