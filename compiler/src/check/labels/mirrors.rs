//! Checks mirrors: what is derived once for each round of a repetition sees the labels of that round.

use super::{Checking, Scope, Stand, follows_in_length};
use crate::ast::{Expr, Name};
use crate::derived::Measure;
use crate::diagnostics::{Code, Diagnostic};

/// Returns true if each round of a repetition has a part with this label.
pub(super) fn has_in_round(repetition: &Expr, name: &Name) -> bool {
    let labels = repetition.round().map(Expr::all_labels);
    labels.is_some_and(|labels| labels.iter().any(|seen| seen.name.text == name.text))
}

impl<'e> Checking<'e, '_> {
    /// Looks at what is derived once for each round of the repetition with a label.
    pub(super) fn mirror(&mut self, label: &'e Name, item: &'e Expr) {
        let mut inner = None;
        item.each(&mut |expr| inner = inner.or(expr.as_mirror().map(|(label, _)| label)));
        if let Some(inner) = inner {
            let message = "this stands in another `$each`";
            let help = "move it into a rule of its own, with the repetition that it mirrors";
            return self.report(Diagnostic::error(Code::LateLabel, inner.span, message).help(help));
        }
        let Some((number, repetition, codings, part)) = self.repetition(label) else { return };
        let Some(round) = part.round() else { return };
        self.check_lengths((number, repetition), label, item);
        let labels = round.all_labels();
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
        let mirrored = Some((number, repetition.0, round.as_rule().is_some()));
        self.scopes.push(Scope { labels, item: usize::MAX, is_item: false, codings, rounds, mirrored });
        self.rounds += 1;
        self.within(|checking| checking.sequence(item));
        self.rounds -= 1;
        self.scopes.pop();
    }

    /// Returns the number of the sequence of a repetition with this label, its place there, the number of codings
    /// around it, and the part; `None` if there is none before this, which is reported.
    fn repetition(&mut self, label: &'e Name) -> Option<(usize, (usize, u32), usize, &'e Expr)> {
        if self.parameter(label).is_some() {
            let message = format!("the rounds of the parameter `{}` are not seen", label.text);
            let help = "a mirror stands in the rule of the repetition; a rule sees how many rounds there were: `count`";
            self.report(Diagnostic::error(Code::Parameters, label.span, message).help(help));
            return None;
        }
        let found = self.scopes.iter().enumerate().rev().find_map(|(number, scope)| {
            let seen = scope.labels.iter().find(|seen| seen.name.text == label.text)?;
            Some((number, (seen.item, seen.name.span.start), scope.codings + seen.codings, seen.part))
        });
        if let Some((.., part)) = found.filter(|(.., part)| part.round().is_none()) {
            let message = format!("the part `{}` has no rounds", label.text);
            let diagnostic = Diagnostic::error(Code::NoRepetition, label.span, message);
            let help = "`$each` asks for the label of a repetition, such as `parts:('a' n:name)*`";
            self.report(diagnostic.related(part.span, "this is not a repetition").help(help));
            return None;
        }
        self.widened(std::iter::once(label));
        let is_before = match self.stand(label, Some(Measure::Count)) {
            Some(Stand::After(_)) => {
                self.late(label, "the rounds of a repetition are known after it");
                false
            }
            stand => stand.is_some(),
        };
        found.filter(|_| is_before)
    }

    /// Reports what makes a mirror longer once the rounds are complete: rounds keep room for their mirrors.
    fn check_lengths(&mut self, (number, repetition): (usize, (usize, u32)), label: &Name, item: &'e Expr) {
        let mut names = Vec::new();
        item.each(&mut |expr| names.extend(follows_in_length(expr)));
        for name in names {
            let scopes = self.scopes[number..].iter().enumerate().rev();
            let found = scopes.flat_map(|(inner, scope)| scope.labels.iter().map(move |seen| (inner, seen)));
            let seen = found.filter(|(_, seen)| seen.name.text == name.text).map(|(inner, seen)| (inner > 0, seen));
            let later = seen.filter(|(is_inner, seen)| *is_inner || (seen.item, seen.name.span.start) >= repetition);
            if let Some(place) = later.map(|(_, seen)| seen.name.span).next() {
                let message = format!("`{}` is complete after the rounds of `{}`", name.text, label.text);
                let help = "how long a mirror is must be known while the rounds are derived: let it follow from parts of the \
                            round, or give the number a width, as `$dec(count(parts), 3)`";
                let diagnostic = Diagnostic::error(Code::LateLabel, name.span, message);
                self.report(diagnostic.related(place, "the part begins here").help(help));
            }
        }
    }
}
