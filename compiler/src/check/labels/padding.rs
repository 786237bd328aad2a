//! Checks padding: it follows its part in the same sequence, once and without a label. So a longer part is never
//! shorter with its padding, and whatever contains the one contains the other.

use super::Checking;
use crate::ast::{Expr, Name, SeenLabel};
use crate::derived::Padding;
use crate::diagnostics::{Code, Diagnostic, Span};

/// Returns the label of the part that an item pads, and how, if it is padding.
fn padding(item: &Expr) -> Option<(&Name, Padding)> {
    item.unlabelled().as_derived().and_then(|derived| derived.padding())
}

impl<'e> Checking<'e, '_> {
    /// Reports padding of a part that is seen, unless it is an item of the part's sequence and comes after it.
    pub(super) fn padding(&mut self, expr: &'e Expr, label: &Name) {
        let is_after = self.scopes.last().is_some_and(|scope| {
            let is_before = |seen: &SeenLabel<'_>| seen.item < scope.item && !seen.is_in_group;
            scope.is_item && scope.labels.iter().any(|seen| seen.name.text == label.text && is_before(seen))
        });
        if !is_after {
            let message = format!("this does not follow the part `{}` in its sequence", label.text);
            self.misplaced(
                expr.span,
                message,
                "padding is an item of the sequence of its part, after it: `n:part $pad(n, 4)`",
            );
        }
    }

    /// Reports items of a sequence that pad a part which others pad, too, and padding with a label.
    pub(super) fn paddings(&mut self, items: &'e [Expr], labels: &[SeenLabel<'e>]) {
        let part_of = |label: &Name| labels.iter().find(|seen| seen.name.text == label.text).map(|seen| seen.item);
        let mut padded = Vec::new();
        for item in items {
            let Some((label, _)) = padding(item) else { continue };
            if let Some((name, _)) = item.labels().next() {
                let message = "padding has no label".to_string();
                self.misplaced(name.span, message, "give the label to a part that contains the padded part, too");
            }
            let Some(part) = part_of(label) else { continue };
            if padded.contains(&part) {
                let message = format!("the part `{}` is padded already", label.text);
                let help =
                    "pad a part that contains this one with its padding: `all:(n:part $pad(n, 4)) $pad(all, 16)`";
                self.misplaced(item.span, message, help);
            }
            padded.push(part);
        }
    }

    fn misplaced(&mut self, span: Span, message: String, help: &str) {
        self.report(Diagnostic::error(Code::MisplacedPadding, span, message).help(help));
    }
}
