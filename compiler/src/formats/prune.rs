//! Removes the parts of an expression that need rules which derive nothing.

use crate::ast::Expr;

/// Removes everything that needs a rule for which `derives` does not hold. Returns false if nothing is left.
pub(super) fn prune(expr: &mut Expr, derives: &dyn Fn(&str) -> bool) -> bool {
    if let Some(name) = expr.as_rule() {
        return derives(name);
    }
    let is_optional = expr.as_repeat().is_some_and(|rounds| rounds.min == 0);
    if let Some(options) = expr.as_choice_mut() {
        options.retain_mut(|option| prune(&mut option.expr, derives));
        if options.len() == 1 && options[0].weight.is_none() {
            *expr = options.remove(0).expr;
            return true;
        }
        return !options.is_empty();
    }
    let is_left = expr.children_mut().all(|child| prune(child, derives));
    if !is_left && is_optional {
        *expr = Expr::empty(expr.span);
        return true;
    }
    is_left
}
