//! Variants of rules: each is written when it is first referred to, or later.

use super::super::clean;
use super::super::tree::Rule;
use super::{Around, Key, MAX_DEPTH, MAX_SIZE, MAX_VARIANTS, Translator, Variant};
use crate::ast::{self, Expr, Name};
use crate::diagnostics::Span;
use crate::formats::prune::prune;

/// Returns true if two expressions are written the same.
fn are_alike(one: &Expr, other: &Expr) -> bool {
    let all = |one: &[Expr], other: &[Expr]| {
        one.len() == other.len() && one.iter().zip(other).all(|(one, other)| are_alike(one, other))
    };
    if let (Some(one), Some(other)) = (one.as_seq(), other.as_seq()) {
        return all(one, other);
    }
    if let (Some(one), Some(other)) = (one.as_choice(), other.as_choice()) {
        return one.len() == other.len() && one.iter().zip(other).all(|(one, other)| are_alike(&one.expr, &other.expr));
    }
    if let (Some(one), Some(other)) = (one.as_repeat(), other.as_repeat()) {
        return one.min == other.min && one.max == other.max && are_alike(one.item, other.item);
    }
    let leaf = |expr: &Expr| {
        (expr.as_bytes().map(<[u8]>::to_vec), expr.as_class().cloned(), expr.as_rule().map(str::to_string))
    };
    let (one, other) = (leaf(one), leaf(other));
    one != (None, None, None) && one == other
}

impl<'r> Translator<'r, '_, '_> {
    pub(super) fn add(&mut self, key: Key<'r>, name: String) {
        self.variants.insert(key, Variant { name, after: None, is_possible: true, is_assumed: true, is_used: false });
    }

    /// Writes a variant.
    pub(super) fn write(&mut self, key: Key<'r>) {
        let (rule, around) = key;
        let Some(&rule) = self.by_name.get(rule) else { return };
        let was_loose = std::mem::replace(&mut self.is_loose, self.walks >= super::MAX_WALKS);
        let assumptions = self.assumptions;
        let walked = self.walk(&rule.body, around);
        self.is_loose = was_loose;
        let is_assumed = self.assumptions > assumptions;
        let Ok(found) = walked else { return };
        let fact = self.edges.of_rule(key.0);
        let variant = self.variants.get_mut(&key);
        let Some(variant) = variant else { return };
        let name = Name { text: variant.name.clone(), span: rule.name.span };
        let is_base = around == Around::default();
        match found {
            Some((part, after)) => {
                variant.after = Some(after);
                variant.is_assumed = is_assumed;
                let bodies = self.bodies.entry(key.0).or_default();
                // A variant that turns out like another one is not written.
                let same = bodies.iter().find(|(body, _)| are_alike(body, &part.expr));
                match same.filter(|_| !is_base && !variant.is_used) {
                    Some((_, same)) => variant.name.clone_from(same),
                    None => {
                        bodies.push((part.expr.clone(), name.text.clone()));
                        self.done.push(ast::Rule::new(name, part.expr));
                    }
                }
            }
            None if is_base || variant.is_used => {
                variant.after = Some(fact.after);
                self.loosely(rule, name, is_base);
            }
            None => variant.is_possible = false,
        }
    }

    /// Writes a rule that has no texts as it is read. Some variants are referred to before that is known.
    fn loosely(&mut self, rule: &'r Rule, name: Name, is_base: bool) {
        let span = rule.name.span;
        if !is_base {
            let base = (rule.name.text.as_str(), Around::default());
            if !self.variants.contains_key(&base) {
                self.add(base, rule.name.text.clone());
                self.pending.push(base);
            }
            if let Ok(part) = self.builder.rule(rule.name.text.clone(), span) {
                self.done.push(ast::Rule::new(name, part.expr));
            }
            return;
        }
        let help = "in a PEG a repetition and an alternative take all they can, and give nothing back: `[a-z]* [a-z]` never \
                    matches; the rule is read as if they did";
        self.builder.approximate(span, "a rule never matches as it is written", help);
        let was_loose = std::mem::replace(&mut self.is_loose, true);
        let walked = self.walk(&rule.body, Around::default());
        self.is_loose = was_loose;
        let body = walked.ok().flatten().map_or(Expr::empty(span), |(part, _)| part.expr);
        self.done.push(ast::Rule::new(name, body));
    }

    /// Removes variants without texts, and what needs them. A rule that has none as it is read is read loosely.
    pub(super) fn clean(&mut self) {
        let found = clean::productive(&self.done);
        let by_name = self.by_name;
        let is_lost =
            |rule: &ast::Rule| by_name.contains_key(rule.name.text.as_str()) && !found.contains(&rule.name.text);
        let lost: Vec<Name> = self.done.iter().filter(|rule| is_lost(rule)).map(|rule| rule.name.clone()).collect();
        self.done.retain(|rule| !is_lost(rule));
        for name in lost {
            if let Some(&rule) = by_name.get(name.text.as_str()) {
                self.loosely(rule, name, true);
            }
        }
        let found = clean::productive(&self.done);
        // What the user has written without a finite text is reported by the check of the grammar.
        let derives = |name: &str| found.contains(name) || by_name.contains_key(name) || !name.contains('.');
        self.done.retain_mut(|rule| match found.contains(&rule.name.text) {
            true => prune(&mut rule.body, &derives),
            false => derives(&rule.name.text),
        });
    }

    /// Returns the key of a variant, which is written if that has not been done. Beyond the limits, that of the rule
    /// itself.
    pub(super) fn variant(&mut self, name: &'r str, around: Around) -> Key<'r> {
        let mut key = (name, around);
        if self.variants.contains_key(&key) {
            return key;
        }
        let count = self.counts.get(name).copied().unwrap_or(0);
        let is_base = around == Around::default();
        if !is_base && (count >= MAX_VARIANTS || self.builder.expressions() > MAX_SIZE) {
            key.1 = Around::default();
            let span = self.by_name.get(name).map_or(Span::default(), |rule| rule.name.span);
            let help = "what may follow differs between too many places; texts may run together there";
            self.builder.approximate(span, "a rule is read without regard to what stands around it", help);
            if self.variants.contains_key(&key) {
                return key;
            }
        }
        if key.1 == Around::default() {
            self.add(key, name.to_string());
        } else {
            self.counts.insert(name, count + 1);
            self.add(key, format!("{name}.{}", count + 1));
        }
        if self.depth < MAX_DEPTH {
            self.write(key);
        } else {
            self.pending.push(key);
        }
        key
    }
}
