//! Checks mirrors: what is derived once for each round of a repetition sees the labels of that round.

use super::{Checking, Scope, follows_in_length, labels_of};
use crate::ast::{Expr, Name};
use crate::diagnostics::{Code, Diagnostic};

/// Returns true if each round of a repetition has a part with this label.
pub(super) fn has_in_round(repetition: &Expr, name: &Name) -> bool {
    let labels = repetition.round().map(|round| labels_of(round.sequence()));
    labels.is_some_and(|labels| labels.iter().any(|seen| seen.name.text == name.text))
}

impl<'e> Checking<'e, '_> {
    /// Looks at what is derived once for each round of the repetition with a label, which has been looked at itself.
    pub(super) fn mirror(&mut self, label: &'e Name, item: &'e Expr) {
        if self.scopes.iter().any(|scope| scope.mirrored.is_some()) {
            let message = "this stands in another `$each`";
            let help = "move it into a rule of its own, with the repetition that it mirrors";
            self.report(Diagnostic::error(Code::LateLabel, label.span, message).help(help));
            return;
        }
        let found = self.scopes.iter().enumerate().rev().find_map(|(number, scope)| {
            let seen = scope.labels.iter().find(|seen| seen.name.text == label.text)?;
            Some((number, seen.item, scope.codings + seen.codings, seen.part))
        });
        let Some((number, repetition, codings, part)) = found else { return };
        let Some(round) = part.round() else { return };
        self.check_lengths((number, repetition), label, item);
        let labels = labels_of(round.sequence());
        for own in &labels {
            let mut seen = self.scopes.iter().flat_map(|scope| &scope.labels);
            if let Some(other) = seen.find(|seen| seen.name.text == own.name.text).map(|seen| seen.name.span) {
                let message = format!("`{}` is a label of the rounds, and of another part", own.name.text);
                let diagnostic = Diagnostic::error(Code::DuplicateLabel, label.span, message);
                self.report(
                    diagnostic.related(other, "it is given here, too").help("give one of the parts another label"),
                );
                return;
            }
        }
        let rounds = self.rounds + 1;
        // All of the round is complete.
        let mirrored = Some((number, repetition));
        self.scopes.push(Scope { labels, item: usize::MAX, is_item: false, codings, rounds, mirrored });
        self.rounds += 1;
        self.within(|checking| checking.sequence(item));
        self.rounds -= 1;
        self.scopes.pop();
    }

    /// Reports what makes a mirror longer once the rounds are complete: rounds keep room for their mirrors.
    fn check_lengths(&mut self, (number, repetition): (usize, usize), label: &Name, item: &'e Expr) {
        let mut names = Vec::new();
        item.each(&mut |expr| names.extend(follows_in_length(expr)));
        for name in names {
            let scopes = self.scopes[number..].iter().enumerate().rev();
            let found = scopes.flat_map(|(inner, scope)| scope.labels.iter().map(move |seen| (inner, seen)));
            let seen = found.filter(|(_, seen)| seen.name.text == name.text).map(|(inner, seen)| (inner > 0, seen));
            let later = seen.filter(|(is_inner, seen)| *is_inner || seen.item >= repetition);
            if let Some(place) = later.map(|(_, seen)| seen.name.span).next() {
                let message = format!("`{}` is complete after the rounds of `{}`", name.text, label.text);
                let help = "what a mirror repeats is a part of the round, or stands before the repetition; numbers of \
                            fixed width can measure later parts";
                let diagnostic = Diagnostic::error(Code::LateLabel, name.span, message);
                self.report(diagnostic.related(place, "the part begins here").help(help));
            }
        }
    }
}
