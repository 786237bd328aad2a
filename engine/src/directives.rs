//! The limits that an engine begins with: those that the grammar file asks for, as far as they can be kept.

use gramjet::Limits;
use gramjet_compiler::Compiled;

/// The limits of the grammar file; where it has none, the default depth. Limits that cannot be kept are left out.
pub(crate) fn first_limits(compiled: &Compiled) -> Limits {
    let asked = Limits::new().max_depth(compiled.max_depth).max_len(compiled.max_len);
    let asked = match (asked.depth(), asked.length()) {
        (None, None) => asked.max_depth(Limits::DEFAULT_MAX_DEPTH),
        _ => asked,
    };
    let without_depth = asked.max_depth(None);
    let candidates = [asked, without_depth, asked.max_len(None)];
    let kept = |limits: &Limits| limits.check(compiled.min_len(), compiled.rule_without_pool()).is_ok();
    candidates.into_iter().find(kept).unwrap_or_default()
}
