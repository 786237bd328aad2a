//! Lowers labelled parts, and what refers to them.

use super::Lowering;
use crate::analysis::reach::reaching;
use crate::ast::{Expr, Name, SeenLabel};
use crate::coding::Coding;
use crate::derived::{Derived, Measure, Padding, Term, Value};
use crate::diagnostics::{Code, Diagnostic, Span};
use crate::ir::labels::least;
use crate::ir::{Codec, Count, Field, Known, LabelId, NodeId, Role, Scope};

/// A label that is seen.
#[derive(Clone)]
pub(super) struct Seen {
    name: String,
    known: Known,
    /// The number of the open scope that it is in, and the number of codings around it.
    scope: usize,
    codings: usize,
    /// Whether something depends on the number of its rounds.
    is_counted: bool,
}

/// The number of the scope of a parameter, whose part is in no scope of its rule.
const OUTSIDE: usize = usize::MAX;

impl Seen {
    /// Returns a parameter, which is seen in all of its rule.
    pub(super) fn parameter(name: &str, known: Known) -> Seen {
        Seen { name: name.to_string(), known, scope: OUTSIDE, codings: 0, is_counted: false }
    }
}

/// A repetition whose rounds are mirrored.
pub(super) struct Mirrored {
    label: LabelId,
    /// The address of the expression of a round.
    round: usize,
    /// The labels that mirrors refer to, and those whose rounds they count.
    used: Vec<String>,
    counted: Vec<String>,
    /// The labels that are seen in a round, and all labels of its scope, once it is lowered.
    seen: Vec<Seen>,
    labels: Vec<LabelId>,
}

/// A sequence that is being lowered, and is no open group.
pub(super) struct Owner {
    /// The labels of its scope, with the addresses of their parts.
    labels: Vec<(usize, Known)>,
    /// The labels that something refers to, and those whose rounds are counted.
    used: Vec<String>,
    counted: Vec<String>,
    /// The number of open groups around it.
    groups: usize,
}

/// Returns the labels that something in an expression refers to, and those of them whose rounds are counted.
fn references(expr: &Expr) -> (Vec<String>, Vec<String>) {
    let (mut used, mut counted) = (Vec::new(), Vec::new());
    expr.each_label_reference(&mut |label, measure| {
        used.push(label.text.clone());
        if measure == Some(Measure::Count) {
            counted.push(label.text.clone());
        }
    });
    (used, counted)
}

impl Lowering<'_, '_> {
    /// Returns the node of a sequence, or of an expression with a label that is in no sequence. `None` if it derives no
    /// finite string.
    pub(super) fn sequence(&mut self, expr: &Expr) -> Option<NodeId> {
        let repetition = self.labels.mirrored.iter().rposition(|mirrored| mirrored.round == expr.address());
        let (mut used, mut counted) = references(expr);
        let mut outside = Vec::new();
        if let Some(mirrored) = repetition.map(|repetition| &self.labels.mirrored[repetition]) {
            outside.clone_from(&mirrored.used);
            counted.extend(mirrored.counted.iter().cloned());
        }
        used.extend(outside.iter().cloned());
        let outside: Vec<&str> = outside.iter().map(String::as_str).collect();
        // The labels of an open group are those of the sequence around it.
        let is_open = self.labels.open_groups.contains(&expr.address());
        if !is_open {
            let groups = expr.open_groups(&outside);
            self.labels.owners.push(Owner { labels: Vec::new(), used, counted, groups: self.labels.open_groups.len() });
            self.labels.open_groups.extend(groups);
            self.labels.fields.push(Vec::new());
        }
        let (first, mirrored) = (self.labels.seen.len(), self.labels.mirrored.len());
        self.see_labels(expr, &outside);
        self.add_mirrored(expr, first);
        let all: Vec<Option<NodeId>> = expr.sequence().iter().map(|item| self.item(item)).collect();
        self.labels.mirrored.truncate(mirrored);
        let seen: Vec<Seen> = self.labels.seen.drain(first..).collect();
        let items = |lowering: &mut Self, items: Vec<Option<NodeId>>| {
            let items: Option<Vec<NodeId>> = items.into_iter().collect();
            Some(lowering.ir.seq(items?))
        };
        let Some(owner) = (!is_open).then(|| self.labels.owners.pop()).flatten() else { return items(self, all) };
        self.labels.open_groups.truncate(owner.groups);
        let labels: Vec<LabelId> = owner.labels.iter().map(|(_, known)| known.label).collect();
        let mut role = Role::Plain;
        let is_mirrored = |mirrored: &&mut Mirrored| !mirrored.used.is_empty();
        if let Some(mirrored) = repetition.map(|index| &mut self.labels.mirrored[index]).filter(is_mirrored) {
            role = Role::Round(mirrored.label);
            (mirrored.seen, mirrored.labels) = (seen, labels.clone());
        }
        let fields = self.labels.fields.pop().unwrap_or_default();
        let body = items(self, all)?;
        Some(self.scope(labels, fields, role, body))
    }

    /// Lets the labels of a sequence be seen, as far as something refers to them.
    fn see_labels(&mut self, expr: &Expr, outside: &[&str]) {
        let (scope, codings) = (self.labels.fields.len().saturating_sub(1), self.labels.codings);
        let mut labels = expr.seen_labels_with(outside);
        labels.retain(|seen| self.labels.owners.last().is_some_and(|owner| owner.used.contains(&seen.name.text)));
        // A part with several labels has one in the IR.
        for part in labels.chunk_by(|one, next| std::ptr::eq(one.part.unlabelled(), next.part.unlabelled())) {
            let known = self.known(part[0].name, part[0].part);
            let is_counted = |seen: &SeenLabel<'_>| {
                self.labels.owners.last().is_some_and(|owner| owner.counted.contains(&seen.name.text))
            };
            let is_counted = part.iter().any(is_counted);
            let seen = |name: &Name| Seen { name: name.text.clone(), known, scope, codings, is_counted };
            let seen: Vec<Seen> = part.iter().map(|part| seen(part.name)).collect();
            self.labels.seen.extend(seen);
        }
    }

    /// Returns a scope of some labels; the part itself without any.
    fn scope(&mut self, labels: Vec<LabelId>, fields: Vec<Field>, role: Role, body: NodeId) -> NodeId {
        if labels.is_empty() {
            return body;
        }
        self.ir.scope(Scope {
            labels: labels.into(),
            arguments: [].into(),
            longer: 0,
            fields: fields.into(),
            role,
            body,
        })
    }

    /// Notes the repetitions of a sequence whose rounds are mirrored. The labels of the sequence are those from `first`
    /// on.
    fn add_mirrored(&mut self, expr: &Expr, first: usize) {
        let mut mirrors = Vec::new();
        expr.each(&mut |expr| mirrors.extend(expr.as_mirror()));
        for (label, item) in mirrors {
            let own = self.labels.seen[first..].iter().find(|seen| seen.name == label.text);
            let all = expr.all_labels();
            let round = all.iter().filter(|seen| seen.name.text == label.text).find_map(|seen| seen.part.round());
            let (Some(own), Some(round)) = (own, round) else { continue };
            let (label, (used, counted)) = (own.known.label, references(item));
            // Labels outside the rounds have other names.
            let of_round = round.all_labels();
            let is_own = |name: &String| of_round.iter().any(|seen| seen.name.text == *name);
            let used = used.into_iter().filter(is_own);
            match self.labels.mirrored.iter_mut().find(|mirrored| mirrored.label == label) {
                Some(known) => {
                    known.used.extend(used);
                    known.counted.extend(counted);
                }
                None => {
                    let (round, used) = (round.address(), used.collect());
                    let (seen, labels) = (Vec::new(), Vec::new());
                    self.labels.mirrored.push(Mirrored { label, round, used, counted, seen, labels });
                }
            }
        }
    }

    /// Returns the node of an item of a sequence.
    fn item(&mut self, expr: &Expr) -> Option<NodeId> {
        if let Some((coding, inner)) = expr.as_coded() {
            return self.coded(coding, inner);
        }
        let Some((label, inner)) = expr.as_label() else { return self.expr(expr) };
        let Some(known) = self.seen(label) else { return self.item(inner) };
        let is_counted = self.labels.seen.iter().any(|seen| seen.known.label == known.label && seen.is_counted);
        let part = inner.unlabelled();
        let rounds = part.as_repeat();
        let body = match rounds {
            // Weights of rounds would make several repetitions of it.
            Some(rounds) if is_counted => self.repeat(part, rounds, false)?,
            _ => self.item(part)?,
        };
        let count = match rounds {
            _ if !is_counted => Count::Unused,
            Some(rounds) if rounds.max == Some(rounds.min) => Count::Fixed(rounds.min),
            _ => Count::Counted,
        };
        self.labels.measured.push((body, label.span));
        Some(self.ir.label(known.label, count, body))
    }

    /// Returns the node of a coded part. Its label is one of the sequence that the part is in.
    fn coded(&mut self, coding: Coding, part: &Expr) -> Option<NodeId> {
        let growth = self.alphabets.growth(self.rule, coding, part);
        self.labels.codings += 1;
        let body = self.item(part);
        self.labels.codings -= 1;
        Some(self.ir.coded(Codec { coding, growth }, body?))
    }

    /// Returns the label of a part with the least that the part can be.
    fn known(&mut self, label: &Name, item: &Expr) -> Known {
        let part = item.unlabelled().address();
        let labels = self.labels.owners.last().map_or(&[][..], |owner| &owner.labels);
        if let Some(&(_, known)) = labels.iter().find(|known| known.0 == part) {
            return known;
        }
        let known = self.new_label(label);
        if let Some(owner) = self.labels.owners.last_mut() {
            owner.labels.push((part, known));
        }
        known
    }

    pub(super) fn new_label(&mut self, label: &Name) -> Known {
        let len = self.labels.lengths.get(&(self.rule, label.span.start)).copied().unwrap_or(0);
        let rounds = self.labels.rounds.get(&(self.rule, label.span.start)).copied().unwrap_or(0);
        self.labels.count += 1;
        self.ir.name_label(&label.text);
        Known { label: LabelId::new(self.labels.count - 1), len, rounds }
    }

    pub(super) fn seen(&self, label: &Name) -> Option<Known> {
        self.labels.seen.iter().rev().find(|seen| seen.name == label.text).map(|seen| seen.known)
    }

    /// Returns a number with resolved labels.
    fn number(&self, value: &Value<Name>) -> Value<Known> {
        // The checks have found all labels.
        let nothing = Known { label: LabelId::new(0), len: 0, rounds: 0 };
        value.map(&mut |label| self.seen(label).unwrap_or(nothing))
    }

    /// Returns the node of bytes that follow from labelled parts.
    pub(super) fn derived(&mut self, expr: &Expr, derived: &Derived<Name>) -> Option<NodeId> {
        self.reach_across(derived);
        let derived = match derived {
            Derived::Copy(label) => Derived::Copy(self.seen(label)?),
            Derived::Padding(label, padding) => self.padding(expr, self.seen(label)?, *padding)?,
            Derived::Number(value, form) => {
                let number = self.number(value);
                self.measured_number(expr, &number, form.greatest(), form.fixed_width().is_some())?;
                Derived::Number(number, *form)
            }
            Derived::Bits(bits) => {
                let nothing = Known { label: LabelId::new(0), len: 0, rounds: 0 };
                let bits = bits.map(&mut |label| self.seen(label).unwrap_or(nothing));
                for (place, value) in bits.places().filter(|(_, value)| !value.terms.is_empty()) {
                    self.measured_number(expr, value, place.greatest(), true)?;
                }
                Derived::Bits(bits)
            }
        };
        Some(self.ir.derived(derived))
    }

    /// Checks that a number can fit where it is to be written, and notes it as a field if its width is fixed. `None` if
    /// it cannot.
    fn measured_number(&mut self, expr: &Expr, number: &Value<Known>, greatest: u64, is_fixed: bool) -> Option<()> {
        let shortest = least(number);
        if shortest > greatest {
            self.too_narrow(expr, format!("this number is at least {shortest}"), greatest);
            return None;
        }
        let shortest = self.ir.rule(self.ir.start()).facts.min_len;
        if number.longest_text(greatest).is_some_and(|longest| shortest > longest) {
            self.too_narrow(expr, format!("texts have at least {shortest} bytes"), greatest);
            return None;
        }
        // The length of the text bounds offsets.
        if is_fixed && !number.is_of_places() {
            self.add_field(number, greatest);
        }
        Some(())
    }

    /// Returns filler bytes after a part. Those up to a length bound the part.
    fn padding(&mut self, expr: &Expr, known: Known, padding: Padding) -> Option<Derived<Known>> {
        if known.len > padding.greatest() {
            self.failed = true;
            let message = format!("the part has at least {} bytes, but is filled up to {}", known.len, padding.to);
            self.diagnostics.push(
                Diagnostic::error(Code::NarrowField, expr.span, message)
                    .help("fill it up to a greater length, or let the part be shorter"),
            );
            return None;
        }
        if padding.is_exact {
            let length = Term { times: 1, measure: Measure::Len, label: known };
            self.add_field(&Value::sum(vec![length], 0), padding.greatest());
        }
        Some(Derived::Padding(known, padding))
    }

    /// Returns the node of a repetition whose number of rounds follows from labelled parts; of a mirror of the
    /// repetition with a label, if there is one.
    pub(super) fn times(&mut self, mirrored: Option<&Name>, item: &Expr, rounds: &Value<Name>) -> Option<NodeId> {
        let rounds = self.number(rounds);
        let span = item.span;
        let item = match mirrored.and_then(|label| self.seen(label)) {
            Some(known) => self.mirror(known.label, item)?,
            None => self.expr(item)?,
        };
        self.labels.measured.push((item, span));
        Some(self.ir.times(item, rounds))
    }

    /// Returns the node of what is derived for each round of a repetition.
    fn mirror(&mut self, label: LabelId, item: &Expr) -> Option<NodeId> {
        let (first, scope) = (self.labels.seen.len(), self.labels.fields.len());
        let found = self.labels.mirrored.iter().find(|mirrored| mirrored.label == label);
        let (seen, labels) = found.map(|found| (found.seen.clone(), found.labels.clone())).unwrap_or_default();
        self.labels.seen.extend(seen.iter().map(|seen| Seen { scope, ..seen.clone() }));
        self.labels.fields.push(Vec::new());
        let outer = if labels.is_empty() { self.labels.mirror } else { scope };
        let outer = std::mem::replace(&mut self.labels.mirror, outer);
        let body = self.expr(item);
        self.labels.mirror = outer;
        let fields = self.labels.fields.pop().unwrap_or_default();
        self.labels.seen.truncate(first);
        Some(self.scope(labels, fields, Role::Mirror(label), body?))
    }

    /// Notes parts on whose bytes something follows that is coded, where they are not in the same coding.
    fn reach_across(&mut self, derived: &Derived<Name>) {
        for label in derived.labels_of_content() {
            self.reach_label(label);
        }
    }

    /// Notes a part on whose bytes something follows that is coded, if it is not in the same coding.
    pub(super) fn reach_label(&mut self, label: &Name) {
        let seen = self.labels.seen.iter().rev().find(|seen| seen.name == label.text);
        if let Some(seen) = seen.filter(|seen| seen.codings < self.labels.codings) {
            self.labels.across.push((seen.known.label, label.span));
        }
    }

    /// Checks that parts which others follow from across the border of a coding are complete where they end.
    pub(super) fn check_across(&mut self) {
        let mut across = std::mem::take(&mut self.labels.across);
        if across.is_empty() {
            return;
        }
        // What is given for a parameter may itself be one.
        let mut next = 0;
        while let Some(&(label, span)) = across.get(next) {
            next += 1;
            let given = self.labels.calls.given.iter().filter(|(parameter, _)| *parameter == label);
            let more: Vec<(LabelId, Span)> = given.map(|&(_, given)| (given, span)).collect();
            across.extend(more.into_iter().filter(|more| !across.contains(more)).collect::<Vec<_>>());
        }
        let follows = reaching(&self.ir, |node| self.ir.node(node).leaf().is_some());
        for node in (0..self.ir.node_count()).map(NodeId::new) {
            let Some((label, ..)) = self.ir.node(node).label().filter(|(.., part)| follows[part.index()]) else {
                continue;
            };
            for (_, span) in across.iter().filter(|(referred, _)| *referred == label) {
                self.failed = true;
                let message = "the bytes of this part follow from other parts, so they are complete too late";
                self.diagnostics.push(
                    Diagnostic::error(Code::CodedLabel, *span, message)
                        .help("what is coded follows from parts in it, and from outer ones that follow from nothing"),
                );
            }
        }
    }

    /// Notes a field in each scope with a label that it measures.
    fn add_field(&mut self, value: &Value<Known>, greatest: u64) {
        let measured = value.terms.iter().filter(|term| !term.measure.is_of_content());
        let labels: Vec<LabelId> = measured.map(|term| term.label.label).collect();
        let mut scopes: Vec<usize> =
            self.labels.seen.iter().filter(|seen| labels.contains(&seen.known.label)).map(|seen| seen.scope).collect();
        // What is in a mirror bounds nothing where there are no rounds.
        scopes.retain(|scope| *scope >= self.labels.mirror && *scope != OUTSIDE);
        if self.labels.mirror > 0 && !labels.is_empty() {
            scopes.push(self.labels.mirror);
        }
        scopes.sort_unstable();
        scopes.dedup();
        for scope in scopes {
            let field = Field { value: value.clone(), greatest };
            // Alternatives of bit fields have the field in common.
            if self.labels.fields[scope].last() != Some(&field) {
                self.labels.fields[scope].push(field);
            }
        }
    }

    fn too_narrow(&mut self, expr: &Expr, message: String, greatest: u64) {
        self.failed = true;
        let message = format!("{message}, but the greatest that can be written here is {greatest}");
        let diagnostic = Diagnostic::error(Code::NarrowField, expr.span, message)
            .help("use a wider form, or let the part be shorter");
        // Alternatives of bit fields have the number in common.
        if !self.diagnostics.iter().any(|known| *known == diagnostic) {
            self.diagnostics.push(diagnostic);
        }
    }
}
