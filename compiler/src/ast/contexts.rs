//! Rules for contexts: each reference gets a rule of its own, so that what a rule derives can have other probabilities
//! at each place that refers to it.

use crate::ordered::Map;

use super::{Expr, Grammar, Name, Rule};

impl Grammar {
    /// Gives each reference to a rule a copy of that rule. References within copies of one rule share theirs, so there
    /// are as many rules as references, and the start rule. Returns the number of rules.
    ///
    /// Rules that do not exist or exist twice stay as they are; [`crate::check`] reports them.
    pub fn split_by_context(&mut self, start: Option<&str>) -> usize {
        let start = start.map(str::to_string).or_else(|| self.start.as_ref().map(|name| name.text.clone()));
        let start = start.or_else(|| self.rules.first().map(|rule| rule.name.text.clone())).unwrap_or_default();
        let mut splitting = Splitting::new(self);
        let bodies: Map<String, Expr> =
            self.rules.iter().map(|rule| (rule.name.text.clone(), splitting.body(&rule.body))).collect();
        let mut rules = Vec::new();
        for rule in &self.rules {
            let name = &rule.name;
            let copies = splitting.copies.get(&name.text).cloned().unwrap_or_default();
            let is_kept = name.text == start || self.class_rules.contains(&name.text);
            for text in is_kept.then(|| name.text.clone()).into_iter().chain(copies) {
                if text != name.text {
                    self.origins.insert(text.clone(), self.told(&name.text).to_string());
                }
                let name = Name { text, span: name.span };
                let (parameters, body) = (rule.parameters.clone(), bodies[&rule.name.text].clone());
                rules.push(Rule { name, parameters, body });
            }
        }
        self.rules = rules;
        self.rules.len()
    }
}

/// The new names of references.
struct Splitting {
    /// The names of the copies of each rule.
    copies: Map<String, Vec<String>>,
    /// The number that the next copy of a rule may have, for rules that exist.
    next: Map<String, u32>,
    taken: crate::ordered::Set<String>,
}

impl Splitting {
    fn new(grammar: &Grammar) -> Splitting {
        let names = || grammar.rules.iter().map(|rule| rule.name.text.clone());
        Splitting { copies: Map::new(), next: names().map(|name| (name, 1)).collect(), taken: names().collect() }
    }

    /// Returns a body whose references have new names.
    fn body(&mut self, expr: &Expr) -> Expr {
        let mut body = expr.clone();
        body.each_mut(&mut |expr| {
            if let Some(name) = expr.as_rule_mut() {
                *name = self.copy(name);
            }
        });
        body
    }

    /// Returns a new name for a reference to a rule.
    fn copy(&mut self, rule: &str) -> String {
        let Some(next) = self.next.get_mut(rule) else { return rule.to_string() };
        loop {
            let name = format!("{rule}.{next}");
            *next += 1;
            if self.taken.insert(name.clone()) {
                self.copies.entry(rule.to_string()).or_default().push(name.clone());
                return name;
            }
        }
    }
}
