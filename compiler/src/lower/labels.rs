//! Lowers labelled parts, and what refers to them.

use super::Lowering;
use crate::analysis::reach::reaching;
use crate::ast::{Expr, Name};
use crate::coding::Coding;
use crate::derived::{Derived, Measure, Padding, Term, Value};
use crate::diagnostics::{Code, Diagnostic};
use crate::ir::labels::{least, least_rounds};
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

/// A repetition whose rounds are mirrored.
pub(super) struct Mirrored {
    label: LabelId,
    /// The address of the expression of a round.
    round: usize,
    /// The labels that mirrors refer to, those whose rounds they count, and all labels of a round once it is lowered.
    used: Vec<String>,
    counted: Vec<String>,
    seen: Vec<Seen>,
}

fn address(expr: &Expr) -> usize {
    std::ptr::from_ref(expr) as usize
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
        let (mut used, mut counted) = references(expr);
        let repetition = self.labels.mirrored.iter().rposition(|mirrored| mirrored.round == address(expr));
        if let Some(repetition) = repetition {
            used.extend(self.labels.mirrored[repetition].used.iter().cloned());
            counted.extend(self.labels.mirrored[repetition].counted.iter().cloned());
        }
        let (first, scope) = (self.labels.seen.len(), self.labels.fields.len());
        for item in expr.sequence().iter().flat_map(Expr::layers) {
            // A part with several labels has one in the IR.
            let names: Vec<&Name> = item.labels().map(|(label, _)| label).collect();
            let names: Vec<&Name> = names.into_iter().filter(|name| used.contains(&name.text)).collect();
            let Some(first) = names.first() else { continue };
            let known = self.known(first, item);
            let is_counted = names.iter().any(|name| counted.contains(&name.text));
            self.labels.seen.extend(names.iter().map(|name| Seen {
                name: name.text.clone(),
                known,
                scope,
                codings: self.labels.codings,
                is_counted,
            }));
        }
        self.labels.fields.push(Vec::new());
        let mirrored = self.labels.mirrored.len();
        self.add_mirrored(expr, first);
        let items: Vec<Option<NodeId>> = expr.sequence().iter().map(|item| self.item(item)).collect();
        self.labels.mirrored.truncate(mirrored);
        let seen: Vec<Seen> = self.labels.seen.drain(first..).collect();
        let mut role = Role::Plain;
        let is_mirrored = |mirrored: &&mut Mirrored| !mirrored.used.is_empty();
        if let Some(mirrored) = repetition.map(|index| &mut self.labels.mirrored[index]).filter(is_mirrored) {
            (role, mirrored.seen) = (Role::Round(mirrored.label), seen.clone());
        }
        let fields = self.labels.fields.pop().unwrap_or_default();
        let items: Option<Vec<NodeId>> = items.into_iter().collect();
        let body = self.ir.seq(items?);
        Some(self.scope(&seen, fields, role, body))
    }

    /// Returns a scope of some labels; the part itself without any.
    fn scope(&mut self, seen: &[Seen], fields: Vec<Field>, role: Role, body: NodeId) -> NodeId {
        let mut labels: Vec<LabelId> = seen.iter().map(|seen| seen.known.label).collect();
        labels.dedup();
        if labels.is_empty() {
            return body;
        }
        self.ir.scope(Scope { labels: labels.into(), fields: fields.into(), role, body })
    }

    /// Notes the repetitions of a sequence whose rounds are mirrored. The labels of the sequence are those from `first`
    /// on.
    fn add_mirrored(&mut self, expr: &Expr, first: usize) {
        let mut mirrors = Vec::new();
        expr.each(&mut |expr| mirrors.extend(expr.as_mirror()));
        for (label, item) in mirrors {
            let own = self.labels.seen[first..].iter().find(|seen| seen.name == label.text);
            let layers = expr.sequence().iter().flat_map(Expr::layers).flat_map(Expr::labels);
            let round = layers.filter(|(name, _)| name.text == label.text).find_map(|(_, part)| part.round());
            let (Some(own), Some(round)) = (own, round) else { continue };
            let (label, (used, counted)) = (own.known.label, references(item));
            // Labels outside the rounds have other names.
            let is_own = |name: &String| {
                let mut labels = round.sequence().iter().flat_map(Expr::layers).flat_map(Expr::labels);
                labels.any(|(label, _)| label.text == *name)
            };
            let used = used.into_iter().filter(is_own);
            match self.labels.mirrored.iter_mut().find(|mirrored| mirrored.label == label) {
                Some(known) => {
                    known.used.extend(used);
                    known.counted.extend(counted);
                }
                None => {
                    let (round, used) = (address(round), used.collect());
                    self.labels.mirrored.push(Mirrored { label, round, used, counted, seen: Vec::new() });
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

    /// Returns a new label with the least that its part can be.
    fn known(&mut self, label: &Name, item: &Expr) -> Known {
        let len = self.labels.lengths.get(&(self.rule, label.span.start)).copied().unwrap_or(0);
        let part = item.unlabelled();
        let least_of_times = part.as_times().map(|(_, rounds)| {
            let rounds = self.number(rounds);
            u64::from(least_rounds(&rounds))
        });
        let rounds = part.as_repeat().map(|rounds| u64::from(rounds.min)).or(least_of_times).unwrap_or(0);
        self.labels.count += 1;
        self.ir.name_label(&label.text);
        Known { label: LabelId::new(self.labels.count - 1), len, rounds }
    }

    fn seen(&self, label: &Name) -> Option<Known> {
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
        let seen: Vec<Seen> = found.map_or(&[][..], |found| &found.seen).to_vec();
        self.labels.seen.extend(seen.iter().map(|seen| Seen { scope, ..seen.clone() }));
        self.labels.fields.push(Vec::new());
        let body = self.expr(item);
        let fields = self.labels.fields.pop().unwrap_or_default();
        self.labels.seen.truncate(first);
        Some(self.scope(&seen, fields, Role::Mirror(label), body?))
    }

    /// Notes parts on whose bytes something follows that is coded, where they are not in the same coding.
    fn reach_across(&mut self, derived: &Derived<Name>) {
        for label in derived.labels_of_content() {
            let seen = self.labels.seen.iter().rev().find(|seen| seen.name == label.text);
            if let Some(seen) = seen.filter(|seen| seen.codings < self.labels.codings) {
                self.labels.across.push((seen.known.label, label.span));
            }
        }
    }

    /// Checks that parts which others follow from across the border of a coding are complete where they end.
    pub(super) fn check_across(&mut self) {
        let across = std::mem::take(&mut self.labels.across);
        if across.is_empty() {
            return;
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
