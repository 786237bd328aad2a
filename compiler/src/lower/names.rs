//! Lowers what parts do with names, and checks their lengths.

use super::Lowering;
use crate::analysis::reach::reaching;
use crate::ast::{Expr, Name};
use crate::derived::Derived;
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::ir::{Ir, KindId, LabelId, NodeId};
use crate::naming::Naming;
use crate::ordered::Map;

impl Lowering<'_, '_> {
    /// Returns the node of a part that does something with names.
    pub(super) fn naming(&mut self, naming: &Naming<Name>, item: &Expr) -> Option<NodeId> {
        // The checks have found all kinds.
        let naming = naming.map(|kind| self.kinds.get(kind.text.as_str()).copied().unwrap_or(KindId::new(0)));
        let body = self.expr(item)?;
        if naming.is_silent() {
            let Some(Derived::Copy(known)) = self.ir.node(body).leaf().map(|leaf| &leaf.derived) else { return None };
            self.labels.declared.push((*known, item.span));
        }
        if naming.scoped().is_empty() && self.ir.facts(body).min_len == 0 {
            let message = match naming.given() {
                Some(_) => "this name can be empty",
                None => "what stands where no name is seen can be empty",
            };
            let help = "let it have at least one byte, such as `[a-z]+` in place of `[a-z]*`";
            self.refuse(Code::EmptyName, item.span, message, help);
            return None;
        }
        Some(self.ir.naming(naming, body))
    }

    /// Checks what can be said of names only once all is lowered.
    pub(super) fn check_lowered_names(&mut self) {
        if self.ir.kinds().is_empty() || self.failed {
            return;
        }
        self.check_measured();
        self.check_declared();
        self.check_rounds();
        let is_other = |(rule, body): (_, NodeId)| {
            self.ir.rule(rule).facts.min_len != self.ir.facts(body).min_len
                || self.ir.uniques_of_rule(rule) != self.ir.uniques(body)
        };
        if self.ir.bodies().any(is_other) {
            let message = "which texts are the shortest follows from how many unique names they have, in a circle";
            let help = "give rules with unique names fewer alternatives that are as short";
            self.refuse(Code::TooLarge, None, message, help);
        }
    }

    fn refuse(&mut self, code: Code, span: impl Into<Option<Span>>, message: &str, help: &str) {
        self.failed = true;
        self.diagnostics.push(Diagnostic::error(code, span, message).help(help));
    }

    /// Checks that parts which others follow from are no shorter than their shortest text is taken to be.
    fn check_measured(&mut self) {
        let measured = std::mem::take(&mut self.labels.measured);
        if measured.is_empty() {
            return;
        }
        let short = short_names(&self.ir);
        let roomy = reaching(&self.ir, |node| {
            let naming = self.ir.node(node).naming();
            naming.is_some_and(|(naming, body)| self.ir.uniques(body).room(naming) > 0)
        });
        for (part, span) in measured {
            if short[part.index()] {
                let message = "a name in this part can be shorter than what stands where none is seen";
                let help = "let what stands there be no longer than the shortest name: others follow from this part";
                self.refuse(Code::ShortName, span, message, help);
            } else if roomy[part.index()] {
                let message = "a scope in this part must have several unique names, which may need numbers or not";
                let help = "let all but one of them be optional, as in `(',' name)*`: others follow from this part";
                self.refuse(Code::ShortName, span, message, help);
            }
        }
    }

    /// Checks that parts which are declared as names follow from no others, and are not empty.
    fn check_declared(&mut self) {
        let declared = std::mem::take(&mut self.labels.declared);
        if declared.is_empty() {
            return;
        }
        let dependent = reaching(&self.ir, |node| self.ir.node(node).has_labels());
        let nodes = (0..self.ir.node_count()).map(NodeId::new);
        let parts: Map<LabelId, NodeId> =
            nodes.filter_map(|node| self.ir.node(node).label().map(|(label, _, body)| (label, body))).collect();
        for (known, span) in declared {
            if parts.get(&known.label).is_some_and(|part| dependent[part.index()]) {
                let message = "the part that is declared follows from other parts, gives names, or takes some";
                let help = "a name is made of texts, sets, choices, repetitions and rules of such alone";
                self.refuse(Code::DependentName, span, message, help);
            }
        }
    }

    /// Checks that rounds which can be empty declare nothing: there would be texts of any number of names.
    fn check_rounds(&mut self) {
        let rounds = std::mem::take(&mut self.labels.empty_rounds);
        for (item, span) in rounds {
            // Labels are seen in one rule, so what is declared without a text stands in the round itself.
            if self.declares_in_place(item) {
                let message = "a round of this repetition can be empty and declare a name";
                let help = "let each round have at least one byte, or declare the name outside";
                self.refuse(Code::EmptyName, span, message, help);
            }
        }
    }

    fn declares_in_place(&self, node: NodeId) -> bool {
        let kind = self.ir.node(node);
        kind.naming().is_some_and(|(naming, _)| naming.is_silent())
            || self.ir.children(node).iter().any(|&child| self.declares_in_place(child))
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
