//! The initial limits of an engine: the grammar file's, as far as they can be kept.

use gramjet::Limits;
use gramjet_compiler::Compiled;
use gramjet_compiler::limits::AssumedLimits;

/// Returns the limits of the grammar file; where it has none, the default depth. Limits that cannot be kept are left
/// out.
pub(crate) fn first_limits(compiled: &Compiled) -> Limits {
    let has_pools = compiled.rule_without_pool().is_none();
    let decided = AssumedLimits::default().in_force(compiled.directives(), has_pools).limits;
    let asked = Limits::with(decided.max_depth, decided.max_len);
    let candidates = [asked, asked.max_len(None)];
    candidates.into_iter().find(|&limits| can_keep(compiled, limits)).unwrap_or_default()
}

/// Returns these limits; if the grammar cannot keep them, the first ones.
pub(crate) fn or_first(limits: Limits, compiled: &Compiled) -> Limits {
    if can_keep(compiled, limits) { limits } else { first_limits(compiled) }
}

fn can_keep(compiled: &Compiled, limits: Limits) -> bool {
    limits.check(compiled.min_len(), compiled.rule_without_pool()).is_ok()
}
