//! Lowers what parts do with names, and checks their lengths.

use super::Lowering;
use crate::analysis::reach::reaching;
use crate::ast::{Expr, Name};
use crate::diagnostics::{Code, Diagnostic};
use crate::ir::{Ir, KindId, NodeId};
use crate::naming::Naming;

impl Lowering<'_, '_> {
    /// Returns the node of a part that does something with names.
    pub(super) fn naming(&mut self, naming: &Naming<Name>, item: &Expr) -> Option<NodeId> {
        // The checks have found all kinds.
        let naming = naming.map(|kind| self.kinds.get(kind.text.as_str()).copied().unwrap_or(KindId::new(0)));
        let body = self.expr(item)?;
        if naming.is_silent() && self.ir.node(body).leaf().is_none() {
            return None;
        }
        if naming.scoped().is_empty() && self.ir.facts(body).min_len == 0 {
            self.failed = true;
            let message = match naming.given() {
                Some(_) => "this name can be empty",
                None => "what stands where no name is seen can be empty",
            };
            self.diagnostics.push(
                Diagnostic::error(Code::EmptyName, item.span, message)
                    .help("let it have at least one byte, such as `[a-z]+` in place of `[a-z]*`"),
            );
            return None;
        }
        Some(self.ir.naming(naming, body))
    }

    /// Checks that parts which others follow from are not shorter with a name than without, and that the facts of rules
    /// hold.
    pub(super) fn check_names(&mut self) {
        if self.ir.kinds().is_empty() || self.failed {
            return;
        }
        let short = match self.labels.measured.is_empty() {
            true => Vec::new(),
            false => short_names(&self.ir),
        };
        for &(part, span) in &self.labels.measured {
            if short[part.index()] {
                self.failed = true;
                let message = "a name in this part can be shorter than what stands where none is seen";
                let help = "let what stands there be no longer than the shortest name: others follow from this part";
                self.diagnostics.push(Diagnostic::error(Code::ShortName, span, message).help(help));
            }
        }
        let is_other = |(rule, body): (_, NodeId)| {
            self.ir.rule(rule).facts.min_len != self.ir.facts(body).min_len
                || self.ir.uniques_of_rule(rule) != self.ir.uniques(body)
        };
        if self.ir.bodies().any(is_other) {
            self.failed = true;
            let message = "which texts are the shortest follows from how many unique names they have, in a circle";
            self.diagnostics.push(
                Diagnostic::error(Code::TooLarge, None, message)
                    .help("give rules with unique names fewer alternatives that are as short"),
            );
        }
    }
}

/// Returns for each node whether a name can be taken in it that is shorter than what stands where none is seen.
fn short_names(ir: &Ir) -> Vec<bool> {
    let mut least = vec![u64::MAX; ir.kinds().len()];
    for node in (0..ir.node_count()).map(NodeId::new) {
        let naming = ir.node(node).naming();
        if let Some((kind, body)) = naming.and_then(|(naming, body)| Some((naming.given()?, body))) {
            let least = &mut least[kind.index()];
            *least = ir.facts(body).min_len.min(*least);
        }
    }
    reaching(ir, |node| match ir.node(node).naming() {
        Some((Naming::Use(kind), other)) => least[kind.index()] < ir.facts(other).min_len,
        _ => false,
    })
}
