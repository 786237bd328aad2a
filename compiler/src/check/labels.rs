//! Checks labels: each is seen where it is referred to, and what follows from a part can follow from it there.
//!
//! A label is seen in its sequence: by the items before it and after it, and by all that is in these.

mod blank;
mod calls;
mod mirrors;
mod padding;

use super::similar::closest;
use crate::ast::{Expr, Grammar, Name, SeenLabel};
use crate::derived::{Derived, Measure, Term, Value};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::ordered::Map;

use blank::Contents;
pub(super) use calls::check_parameters;

/// The most labels of a rule.
const MAX_LABELS: usize = 100;

/// Reports what is wrong with the labels of a grammar.
pub(super) fn check_labels(grammar: &Grammar, diagnostics: &mut Diagnostics) {
    for rule in grammar.rules.iter().filter(|rule| rule.body.has_labels()) {
        let mut all: Map<&str, Span> = rule.parameters.iter().map(|name| (name.text.as_str(), name.span)).collect();
        rule.body.each(&mut |expr| {
            if let Some((label, _)) = expr.as_label() {
                all.entry(label.text.as_str()).or_insert(label.span);
            }
        });
        let count = rule.body.label_count();
        if count > MAX_LABELS {
            let message = format!("rule `{}` has {count} labels", rule.name.text);
            diagnostics.push(
                Diagnostic::error(Code::TooLarge, rule.name.span, message)
                    .help(format!("the bound is {MAX_LABELS}; move parts into rules of their own")),
            );
            continue;
        }
        let contents = Contents::default();
        let parameters = &rule.parameters;
        let mut checking =
            Checking { all, parameters, scopes: Vec::new(), codings: 0, rounds: 0, contents, diagnostics };
        checking.sequence(&rule.body);
        checking.blanks();
    }
}

/// A sequence that is being looked at.
struct Scope<'e> {
    labels: Vec<SeenLabel<'e>>,
    /// The number of the item that is being looked at, and whether it is the item itself and nothing within it.
    item: usize,
    is_item: bool,
    /// The number of codings around the sequence.
    codings: usize,
    /// The number of open repetitions around it.
    rounds: usize,
    /// The number of the sequence of the repetition whose rounds it mirrors, that of its item, and whether a round is
    /// a rule.
    mirrored: Option<(usize, usize, bool)>,
}

struct Checking<'e, 'd> {
    /// All labels of the rule.
    all: Map<&'e str, Span>,
    /// The parameters of the rule. They stand for parts that are complete.
    parameters: &'e [Name],
    scopes: Vec<Scope<'e>>,
    /// The number of codings around what is being looked at.
    codings: usize,
    /// The number of open repetitions with more than one round.
    rounds: usize,
    contents: Contents<'e>,
    diagnostics: &'d mut Diagnostics,
}

/// Place of a labelled part, as seen from what refers to it.
#[derive(Clone, Copy, PartialEq)]
enum Stand {
    Before,
    Around,
    /// The part comes later; true if both are items of one sequence.
    After(bool),
}

/// Returns the labels of the parts from which the length of an expression itself follows.
fn follows_in_length(expr: &Expr) -> impl Iterator<Item = &Name> {
    let derived = expr.as_derived().filter(|derived| derived.fixed_width().is_none());
    let rounds = expr.as_times().into_iter().flat_map(|(_, rounds)| &rounds.terms).map(|term| &term.label);
    let arguments = expr.as_call().into_iter().flat_map(|(arguments, _)| arguments);
    derived.into_iter().flat_map(Derived::labels).chain(rounds).chain(arguments)
}

/// Returns true if a labelled part is a number of free width that measures a later part.
fn waits(scope: &Scope<'_>, seen: &SeenLabel<'_>) -> bool {
    let Some(Derived::Number(value, form)) = seen.part.unlabelled().as_derived() else { return false };
    let is_later =
        |label: &Name| scope.labels.iter().any(|other| other.name.text == label.text && other.item > seen.item);
    form.fixed_width().is_none() && value.terms.iter().any(|term| is_later(&term.label))
}

impl<'e> Checking<'e, '_> {
    fn sequence(&mut self, expr: &'e Expr) {
        let items = expr.sequence();
        let labels = expr.seen_labels();
        for (number, label) in labels.iter().enumerate() {
            let of_scopes = self.scopes.iter().flat_map(|scope| &scope.labels);
            // A label of an open group has been looked at in the sequence around the group.
            let is_other =
                |seen: &&SeenLabel<'_>| seen.name.text == label.name.text && !std::ptr::eq(seen.name, label.name);
            let first = of_scopes.chain(&labels[..number]).find(is_other).map(|first| first.name.span);
            let parameter = self.parameter(label.name).map(|parameter| parameter.span);
            if let Some(first) = first.or(parameter) {
                self.report(
                    Diagnostic::error(
                        Code::DuplicateLabel,
                        label.name.span,
                        format!("label `{}` is seen here already", label.name.text),
                    )
                    .related(first, "it is first given here")
                    .help("give the part another label"),
                );
            }
        }
        self.cycles(&labels);
        self.paddings(items, &labels);
        let (codings, rounds) = (self.codings, self.rounds);
        self.scopes.push(Scope { labels, item: 0, is_item: true, codings, rounds, mirrored: None });
        for (number, item) in items.iter().enumerate() {
            if let Some(scope) = self.scopes.last_mut() {
                (scope.item, scope.is_item) = (number, true);
            }
            let first = self.contents.count();
            self.expr(item.unlabelled(), !std::ptr::eq(item.unlabelled(), expr));
            for (_, part) in item.layers().flat_map(Expr::labels) {
                self.contents.add_part(part, first);
            }
        }
        self.scopes.pop();
    }

    /// Looks at an expression. `may_be_sequence` is false for the only item of a sequence, which has been opened.
    fn expr(&mut self, expr: &'e Expr, may_be_sequence: bool) {
        match expr.as_derived() {
            Some(Derived::Copy(label)) => {
                if let Some(Stand::After(_)) = self.stand(label, None) {
                    self.late(label, "a copy follows the part that it repeats");
                }
            }
            Some(Derived::Padding(label, _)) if self.stand(label, Some(Measure::Len)).is_some() => {
                self.widened(std::iter::once(label));
                self.padding(expr, label);
            }
            Some(Derived::Number(value, _)) if let Some(blank) = &value.blank => self.blank(expr, value, blank),
            Some(derived @ (Derived::Number(..) | Derived::Bits(_))) => {
                derived.values().for_each(|(value, _)| self.number(value, derived.fixed_width().is_none()));
            }
            Some(Derived::Padding(..)) | None => {}
        }
        if let Some((label, item)) = expr.as_mirror() {
            return self.mirror(label, item);
        }
        if let Some((arguments, _)) = expr.as_call() {
            self.call(expr, arguments);
        }
        if let Some((_, rounds)) = expr.as_times() {
            self.widened(rounds.labels());
            self.times(rounds);
        }
        if let Some(derived) = expr.as_derived() {
            self.content(expr, derived);
        }
        if let Some((_, part)) = expr.as_coded() {
            // The labels of the part are those of the sequence that it is in.
            self.codings += 1;
            self.within(|checking| checking.expr(part.unlabelled(), true));
            self.codings -= 1;
            return;
        }
        self.declared(expr);
        let is_repeated = expr.as_repeat().map_or(expr.as_times().is_some(), |rounds| rounds.max != Some(1));
        self.rounds += usize::from(is_repeated);
        self.parts_of(expr, may_be_sequence);
        self.rounds -= usize::from(is_repeated);
    }

    fn parts_of(&mut self, expr: &'e Expr, may_be_sequence: bool) {
        if expr.as_seq().is_some() && may_be_sequence {
            return self.within(|checking| checking.sequence(expr));
        }
        for child in expr.children().filter(|_| expr.as_seq().is_none()) {
            self.within(|checking| checking.sequence(child));
        }
    }

    /// Looks at a number, which may be one of free width.
    fn number(&mut self, value: &'e Value<Name>, is_free: bool) {
        self.bases(value);
        if is_free {
            self.widened(value.labels());
        }
        for Term { measure, label, .. } in &value.terms {
            let stand = self.stand(label, Some(*measure));
            if stand.is_some() && matches!(measure, Measure::Len | Measure::Count) {
                self.around(label);
            }
            if stand == Some(Stand::After(false)) && is_free {
                self.late(
                    label,
                    "a number of free width before the part that it measures is an item of the same sequence; with a \
                     fixed width it can stand anywhere before it",
                );
            }
        }
    }

    /// Reports labels of the texts of coded parts, if other bytes get longer or shorter with them.
    fn widened<'n>(&mut self, labels: impl Iterator<Item = &'n Name>) {
        for label in labels {
            if self.place(label).is_some_and(|(_, seen)| seen.codings > 0) {
                let help = "only numbers of fixed width follow from such a part, as `$u32be(len(part))` or `$dec(len(part), 5)`";
                let message =
                    format!("the length of this cannot follow from `{}`, which stands in a coding", label.text);
                self.report(Diagnostic::error(Code::CodedLabel, label.span, message).help(help));
            }
        }
    }

    /// Reports a name in a coded part that is a part outside it.
    fn declared(&mut self, expr: &'e Expr) {
        let part = expr.as_naming().filter(|(naming, _)| naming.is_silent()).map(|(_, part)| part);
        let Some(Derived::Copy(label)) = part.and_then(Expr::as_derived) else { return };
        if self.parameter(label).is_some() {
            let message = format!("the parameter `{}` cannot be declared as a name", label.text);
            let help = "declare the part where it has its label, before the rule";
            self.report(Diagnostic::error(Code::Parameters, label.span, message).help(help));
        }
        if self.place(label).is_some_and(|(scope, _)| scope.codings < self.codings) {
            let message = format!("the part `{}` stands outside what is coded here", label.text);
            let help = "names do not pass the borders of what is coded: declare a part within it";
            self.report(Diagnostic::error(Code::CodedLabel, label.span, message).help(help));
        }
    }

    /// Returns the part of a label, and the sequence that it is in.
    fn place(&self, label: &Name) -> Option<(&Scope<'e>, &SeenLabel<'e>)> {
        self.scopes.iter().rev().find_map(|scope| {
            let seen = scope.labels.iter().find(|seen| seen.name.text == label.text)?;
            Some((scope, seen))
        })
    }

    /// Reports what cannot follow across the border of a coding. Returns true if there is something.
    fn crosses(&mut self, label: &Name, measure: Option<Measure>, is_later: bool) -> bool {
        let Some((scope, seen)) = self.place(label) else { return false };
        let (is_inside, is_outer) = (seen.codings > 0, scope.codings < self.codings);
        let is_of_place = measure.is_some_and(Measure::is_of_place);
        let (message, help) = if is_inside && measure.is_none() {
            ("is coded: its text cannot be repeated", "let the label be that of all that is coded: `part:$base64(...)`")
        } else if (is_inside || is_outer) && is_of_place {
            ("has no place here: places count within one coded text", "let both stand on one side of the coding")
        } else if is_outer && is_later {
            ("comes later, and what is coded is complete before that", "put the part first, or the number outside")
        } else {
            return false;
        };
        let (place, message) = (seen.name.span, format!("the part `{}` {message}", label.text));
        let diagnostic = Diagnostic::error(Code::CodedLabel, label.span, message);
        self.report(diagnostic.related(place, "the part begins here").help(help));
        true
    }

    /// Reports offsets from the beginnings of parts that come later.
    fn bases(&mut self, value: &'e Value<Name>) {
        let bases = value.terms.windows(2).filter(|pair| pair[1].measure == Measure::Base);
        for (part, base) in bases.map(|pair| (&pair[0].label, &pair[1].label)) {
            if self.begins_before(part, base) {
                let message = format!("the part `{}` begins before the part `{}`", part.text, base.text);
                self.report(
                    Diagnostic::error(Code::LateLabel, base.span, message)
                        .help("an offset is counted from the beginning of an earlier part, or of the text"),
                );
            }
        }
    }

    /// Returns true if both parts are seen, and the first one begins before the other one.
    fn begins_before(&self, part: &Name, other: &Name) -> bool {
        let place = |name: &Name| {
            self.scopes.iter().enumerate().rev().find_map(|(number, scope)| {
                let seen = scope.labels.iter().find(|seen| seen.name.text == name.text)?;
                // Labels of one group stand in source order, after the beginning of the group.
                let within = seen.is_in_group.then_some(seen.name.span.start as usize);
                Some(self.path(number, seen.item).into_iter().chain(within).collect::<Vec<usize>>())
            })
        };
        // What has a label in an inner sequence is within an item of each outer one.
        place(part).zip(place(other)).is_some_and(|(part, other)| part < other)
    }

    /// Returns the number of the item in each sequence around an item of a sequence, outer ones first, and its own.
    fn path(&self, number: usize, item: usize) -> Vec<usize> {
        let Scope { mirrored, .. } = self.scopes[number];
        let mut path = match mirrored {
            Some((number, repetition, _)) => self.path(number, repetition),
            None => self.scopes[..number].iter().map(|scope| scope.item).collect(),
        };
        path.push(item);
        path
    }

    fn times(&mut self, rounds: &'e Value<Name>) {
        for Term { measure, label, .. } in &rounds.terms {
            if let Some(Stand::After(_)) = self.stand(label, Some(*measure)) {
                self.late(label, "the number of rounds follows from an earlier part");
            }
        }
    }

    /// Reports a number that measures a part which gets longer with a part around the number: it could not bound both.
    fn around(&mut self, label: &Name) {
        let (mut open, mut seen) = (vec![label.text.as_str()], Vec::new());
        while let Some(name) = open.pop() {
            if seen.contains(&name) {
                continue;
            }
            seen.push(name);
            let found = self.scopes.iter().rev().find_map(|scope| {
                let seen = scope.labels.iter().find(|seen| seen.name.text == name)?;
                Some((seen.item == scope.item, seen.part, seen.name.span))
            });
            let Some((is_around, part, place)) = found else { continue };
            if is_around {
                let message = format!("the part `{}` gets longer with the part `{name}` that this is in", label.text);
                self.report(
                    Diagnostic::error(Code::CyclicLabel, label.span, message)
                        .related(place, "the part begins here")
                        .help("let the label end before this, or begin after it"),
                );
                return;
            }
            part.each(&mut |expr| open.extend(follows_in_length(expr).map(|name| name.text.as_str())));
        }
    }

    /// Looks at what is within the item.
    fn within(&mut self, look: impl FnOnce(&mut Self)) {
        let before = self.scopes.last_mut().map(|scope| std::mem::replace(&mut scope.is_item, false));
        look(self);
        if let (Some(scope), Some(before)) = (self.scopes.last_mut(), before) {
            scope.is_item = before;
        }
    }

    /// Returns where the part of a label stands; `None` if it is not seen or cannot be referred to, which is reported.
    fn stand(&mut self, label: &Name, measure: Option<Measure>) -> Option<Stand> {
        let depth = self.scopes.len();
        let found = self.scopes.iter().enumerate().rev().find_map(|(number, scope)| {
            let seen = scope.labels.iter().find(|seen| seen.name.text == label.text)?;
            let stand = match seen.item.cmp(&scope.item) {
                std::cmp::Ordering::Less => Stand::Before,
                std::cmp::Ordering::Equal => Stand::Around,
                std::cmp::Ordering::Greater => Stand::After(number + 1 == depth && scope.is_item && !seen.is_in_group),
            };
            Some((stand, seen.part, seen.name.span, waits(scope, seen)))
        });
        let Some((stand, part, place, waits)) = found else {
            return self.stand_of_parameter(label, measure);
        };
        if self.crosses(label, measure, matches!(stand, Stand::After(_))) {
            return None;
        }
        // Where a part begins is known within it, and does not follow from its length.
        if measure.is_some_and(Measure::is_of_place) {
            return Some(stand);
        }
        if stand == Stand::Around {
            self.report(
                Diagnostic::error(
                    Code::CyclicLabel,
                    label.span,
                    format!("this follows from the part `{}` that it is in", label.text),
                )
                .related(place, "the part begins here")
                .help("let the label end before this, or begin after it"),
            );
            return None;
        }
        if waits {
            let message = format!("how long the part `{}` is follows from a later part", label.text);
            self.report(
                Diagnostic::error(Code::LateLabel, label.span, message)
                    .related(place, "this number has as many digits as it needs")
                    .help("give the number a width, such as `$dec(len(part), 4)`"),
            );
            return None;
        }
        let is_repetition = part.unlabelled().as_repeat().is_some() || part.unlabelled().as_times().is_some();
        if measure == Some(Measure::Count) && !is_repetition {
            self.report(
                Diagnostic::error(Code::NoRepetition, label.span, format!("the part `{}` has no rounds", label.text))
                    .related(place, "this is not a repetition")
                    .help("`count` asks for the rounds of a repetition such as `part:item*`; `len` is the length"),
            );
            return None;
        }
        Some(stand)
    }

    fn unseen(&mut self, label: &Name) {
        let diagnostic = match self.all.get(label.text.as_str()) {
            Some(&place) => {
                Diagnostic::error(Code::UndefinedLabel, label.span, format!("label `{}` is not seen here", label.text))
                    .related(place, "it is given here")
                    .help("a label is seen in its sequence alone: not outside its alternative, its round or its rule")
            }
            None => {
                let message = format!("no part has the label `{}`", label.text);
                let similar = closest(&label.text, self.all.keys().copied());
                let help = match similar {
                    _ if self.scopes.iter().any(|scope| scope.mirrored.is_some_and(|(.., is_rule)| is_rule)) => {
                        "the labels of a rule are not seen outside it: write the sequence that is repeated in place of \
                         the rule, in parentheses"
                            .to_string()
                    }
                    Some(similar) => format!("did you mean `{similar}`?"),
                    None => format!("a part gets a label by `{}:part`, in the same rule", label.text),
                };
                Diagnostic::error(Code::UndefinedLabel, label.span, message).help(help)
            }
        };
        self.report(diagnostic);
    }

    fn late(&mut self, label: &Name, help: &str) {
        let message = format!("the part `{}` comes later", label.text);
        self.report(Diagnostic::error(Code::LateLabel, label.span, message).help(help));
    }

    /// Reports parts of one sequence whose bytes or lengths follow from each other.
    fn cycles(&mut self, labels: &[SeenLabel<'e>]) {
        let of_content = |expr: &'e Expr, from: &mut Vec<&'e Name>| {
            // Checksums of parts around them are looked at by themselves.
            let derived = expr.as_derived().filter(|derived| derived.blank().is_none());
            from.extend(derived.into_iter().flat_map(Derived::labels_of_content));
            from.extend(expr.as_call().into_iter().flat_map(|(arguments, _)| arguments));
        };
        let of_length = |expr: &'e Expr, from: &mut Vec<&'e Name>| from.extend(follows_in_length(expr));
        let _ = self.cycle(labels, "bytes", of_content) || self.cycle(labels, "length", of_length);
    }

    /// Reports the first part whose property follows from itself, given what each expression follows from.
    fn cycle(&mut self, labels: &[SeenLabel<'e>], property: &str, from: impl Fn(&'e Expr, &mut Vec<&'e Name>)) -> bool {
        let place = |name: &Name| {
            let own = labels.iter().position(|seen| seen.name.text == name.text);
            // What a mirror sees of a round stands in the repetition.
            own.or_else(|| labels.iter().position(|seen| mirrors::has_in_round(seen.part, name)))
        };
        let follows: Vec<Vec<usize>> = labels
            .iter()
            .map(|label| {
                let mut names = Vec::new();
                label.part.each(&mut |expr| from(expr, &mut names));
                names.into_iter().filter_map(place).collect()
            })
            .collect();
        for (number, label) in labels.iter().enumerate() {
            let mut seen = vec![false; labels.len()];
            let mut open = follows[number].clone();
            while let Some(next) = open.pop() {
                if !std::mem::replace(&mut seen[next], true) {
                    open.extend(&follows[next]);
                }
            }
            // A part that follows from itself alone is reported where it does.
            if seen[number] && !follows[number].contains(&number) {
                let verb = if property == "bytes" { "follow from themselves" } else { "follows from itself" };
                let message = format!("the {property} of the part `{}` {verb}", label.name.text);
                self.report(
                    Diagnostic::error(Code::CyclicLabel, label.name.span, message)
                        .help("let one of the parts not contain what follows from the other"),
                );
                return true;
            }
        }
        false
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        // Alternatives of bit fields have their numbers in common.
        if !self.diagnostics.iter().any(|known| *known == diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }
}
