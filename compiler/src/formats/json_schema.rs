//! JSON Schema, drafts 4 to 2020-12, as a grammar of the documents that are valid under it.
//!
//! Each value of a document is a *goal*: the schemas that it fulfils together. A goal is a rule. The keywords of its
//! schemas become facts, one set for each alternative, and facts become expressions. A keyword that cannot be
//! honoured is reported with its path. The reference is `docs/schemas.md`.

use std::collections::VecDeque;

use super::{Format, MAX_EXPRESSIONS, glance, json_text};
use crate::ast::{Expr, Grammar, MAX_NESTING, Name, Rule};
use crate::check::productive::productive_rules;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, SourceFile};
use crate::ordered::{Map, Set};

use document::{Document, Id};
use expand::Expansion;
use facts::{Facts, Goal, Types};
use make::Make;

mod arrays;
mod decimal;
mod document;
mod expand;
mod facts;
mod language;
mod list;
mod make;
mod negation;
mod numbers;
mod objects;
mod openapi;
mod others;
mod shared;
mod strings;
mod values;

pub use openapi::OpenApi;

/// The `jsonschema` format.
pub struct JsonSchema;

impl Format for JsonSchema {
    fn name(&self) -> &'static str {
        "jsonschema"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["json"]
    }

    fn is_called(&self, name: &str) -> bool {
        name.ends_with(".schema.json")
    }

    fn looks_like(&self, text: &str) -> bool {
        let Some(keys) = glance::outer_keys(text) else { return false };
        // The other formats of JSON have rules.
        let is_other = keys.iter().any(|(key, _)| key.starts_with('<') || ["rules", "pda"].contains(key));
        !is_other && keys.iter().any(|(key, value)| is_keyword(key, value))
    }

    fn parse(&self, file: &SourceFile, diagnostics: &mut Diagnostics) -> Grammar {
        if super::refuse_huge_file(file, diagnostics) {
            return Grammar::default();
        }
        let Some(json) = json_text::read(file.text(), diagnostics) else { return Grammar::default() };
        let doc = Document::new(file.text(), &json);
        Reader::new(doc, diagnostics).grammar()
    }
}

/// Returns true if a key and the text of its value are a keyword of a schema, and no rule of a grammar.
fn is_keyword(key: &str, value: &str) -> bool {
    match key {
        "$schema" | "$id" | "$ref" | "$defs" => true,
        "properties" | "definitions" => value.starts_with('{'),
        "oneOf" | "anyOf" | "allOf" => value.strip_prefix('[').is_some_and(|items| items.trim_start().starts_with('{')),
        "type" => {
            let name = value.strip_prefix('[').unwrap_or(value).trim_start().strip_prefix('"');
            name.and_then(|name| name.split('"').next()).is_some_and(|name| Types::by_name(name).is_some())
        }
        _ => false,
    }
}

/// A schema that is being read.
struct Reader<'j, 'd> {
    doc: Document<'j>,
    diagnostics: &'d mut Diagnostics,
    /// The names of the rules of goals.
    goals: Map<Goal, String>,
    /// The goals whose rules are not written yet.
    pending: VecDeque<(Goal, String)>,
    rules: Vec<Rule>,
    /// The number of rules with each stem of a name.
    taken: Map<String, usize>,
    shared: Set<&'static str>,
    /// Flags of two alternatives of `oneOf`: true if both may hold together.
    overlaps: Map<(Id, Id), bool>,
    /// Flags of goals of required properties: true if a value may fulfil them.
    held: Map<Goal, bool>,
    /// The keywords that were reported.
    reported: Set<Id>,
    /// The schemas because of which rules derive nothing, and why.
    conflicts: Map<String, (Id, String)>,
    /// Whether the alternatives of `oneOf` that were expanded last exclude each other by what they do not fulfil.
    is_narrowed: bool,
    /// The number of expressions in the rules.
    size: usize,
    /// The schema whose rule is being written.
    current: Id,
    /// The name of the rule that is being written.
    stem: String,
}

impl<'j, 'd> Reader<'j, 'd> {
    fn new(doc: Document<'j>, diagnostics: &'d mut Diagnostics) -> Reader<'j, 'd> {
        Reader {
            doc,
            diagnostics,
            goals: Map::new(),
            pending: VecDeque::new(),
            rules: Vec::new(),
            taken: Map::new(),
            shared: Set::new(),
            overlaps: Map::new(),
            held: Map::new(),
            reported: Set::new(),
            conflicts: Map::new(),
            is_narrowed: false,
            size: 0,
            current: 0,
            stem: String::new(),
        }
    }

    fn grammar(mut self) -> Grammar {
        let make = Make(self.doc.span(0));
        let value = self.value(values::only(0), "value");
        let blanks = make.rule(self.shared("blanks"));
        self.finish("document".to_string(), make.seq([blanks.clone(), value, blanks]))
    }

    /// Returns the grammar with a start rule, and the rules that it needs.
    fn finish(mut self, start: String, body: Expr) -> Grammar {
        let make = Make(self.doc.span(0));
        self.add(Rule::new(Name { text: start.clone(), span: make.0 }, body));
        self.add(Rule::new(Name { text: make::NEVER.to_string(), span: make.0 }, make.never()));
        while let Some((goal, name)) = self.pending.pop_front() {
            if self.is_too_large() {
                return Grammar::default();
            }
            self.rule(&goal, name);
        }
        if self.is_too_large() || self.diagnostics.has_errors() {
            return Grammar::default();
        }
        let grammar = Grammar { rules: self.rules_in_order(&start), ..Grammar::default() };
        let grammar = self.without_barren(grammar);
        let start = Name { text: start, span: make.0 };
        Grammar { start: Some(start), ..grammar }.with_own(|_| false)
    }

    /// Returns the rules, the start rule first.
    fn rules_in_order(&mut self, start: &str) -> Vec<Rule> {
        let rules = std::mem::take(&mut self.rules);
        let (mut first, others): (Vec<Rule>, Vec<Rule>) = rules.into_iter().partition(|rule| rule.name.text == start);
        first.extend(others);
        first
    }

    fn is_too_large(&mut self) -> bool {
        let is_too_large = self.size > MAX_EXPRESSIONS;
        if is_too_large && !self.diagnostics.has_errors() {
            let message = format!("the schema becomes more than {MAX_EXPRESSIONS} expressions of a grammar");
            let help = "its alternatives multiply; make a schema of the part that you need";
            self.diagnostics.push(Diagnostic::error(Code::TooLarge, self.doc.span(0), message).help(help));
        }
        is_too_large
    }

    /// Returns the values that fulfil a goal. `hint` is a word for what they are.
    fn value(&mut self, goal: Goal, hint: &str) -> Expr {
        let goal = self.resolved(goal);
        let make = Make(self.doc.span(goal.first().map_or(self.current, |literal| literal.schema)));
        if goal.is_empty() {
            return make.rule(self.shared("any"));
        }
        if goal.iter().any(|literal| self.doc.truth(literal.schema) == Some(!literal.holds)) {
            return make.never();
        }
        if let Some(name) = self.goals.get(&goal) {
            return make.rule(name.clone());
        }
        let word = self.doc.word(goal[0].schema);
        let word = if word == "value" { hint } else { word };
        let clean = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
        let word: String = word.chars().map(clean).take(40).collect();
        let name = self.fresh(word.trim_matches('-'));
        self.goals.insert(goal.clone(), name.clone());
        self.pending.push_back((goal, name.clone()));
        make.rule(name)
    }

    /// Returns a name for a rule that no other rule has.
    fn fresh(&mut self, stem: &str) -> String {
        let is_word = stem.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let stem = if is_word { stem.to_string() } else { format!("_{stem}") };
        let is_taken = shared::NAMES.contains(&stem.as_str());
        let number = self.taken.entry(stem.clone()).or_insert(usize::from(is_taken));
        *number += 1;
        let mut name = if *number == 1 { stem.clone() } else { format!("{stem}.{number}") };
        if stem.is_empty() {
            name = format!("_.{number}");
        }
        name
    }

    fn add(&mut self, rule: Rule) {
        self.size += rule.body.size() + rule.name.text.len() / 16 + 1;
        if rule.body.height() >= MAX_NESTING {
            let message = format!("`{}` becomes an expression of too many levels", self.doc.path(self.current));
            self.error(self.current, message, "split it into definitions");
            return;
        }
        self.rules.push(rule);
    }

    fn rule(&mut self, goal: &Goal, name: String) {
        self.current = goal[0].schema;
        self.stem.clone_from(&name);
        let make = Make(self.doc.span(self.current));
        let expansion = self.expand(goal);
        let is_narrowed = self.is_narrowed;
        let mut drawn = self.alternatives(expansion, &name, make);
        if drawn.is_empty() {
            drawn.push(make.never());
        }
        let read = if is_narrowed {
            let expansion = self.expanded(goal, true);
            self.alternatives(expansion, &name, make)
        } else {
            Vec::new()
        };
        let body = make.any_or_read(drawn, read);
        self.add(Rule::new(Name { text: name, span: make.0 }, body));
    }

    /// Returns the values of each alternative. Notes the conflict if there are none.
    fn alternatives(&mut self, expansion: Expansion<'j>, name: &str, make: Make) -> Vec<Expr> {
        let leaves = match expansion {
            Expansion::Goals(goals) => return goals.into_iter().map(|goal| self.value(goal, name)).collect(),
            Expansion::Facts(leaves) => leaves,
        };
        let conflict = leaves.iter().find_map(|facts| facts.conflict);
        let mut found = Vec::new();
        for facts in leaves.into_iter().filter(|facts| facts.conflict.is_none()) {
            found.extend(self.leaf(facts, make));
        }
        if found.is_empty() {
            let at = conflict.unwrap_or(self.current);
            let (current, path) = (self.doc.path(self.current), self.doc.path(at));
            let why = if at == self.current || self.doc.truth(at) == Some(false) {
                format!("no value is valid under `{path}`")
            } else {
                format!("no value is valid under `{current}`, because of `{path}`")
            };
            self.conflicts.entry(name.to_string()).or_insert((at, why));
        }
        found
    }

    /// Returns the values that fulfil facts, one expression for each type.
    fn leaf(&mut self, mut facts: Facts<'j>, make: Make) -> Vec<Expr> {
        for at in std::mem::take(&mut facts.loose) {
            self.loose(at, "is not honoured");
        }
        if let Some(listed) = self.listed(&facts) {
            return listed.into_iter().map(|text| make.text(text)).collect();
        }
        for (text, count) in [("[]", &mut facts.arrays.count), ("{}", &mut facts.objects.count)] {
            if facts.excluded.contains(text) {
                count.at_least(1);
            }
        }
        let types = facts.types;
        let words = [(Types::NULL, "null"), (Types::TRUTH, "true"), (Types::TRUTH, "false")];
        let words = words.into_iter().filter(|(of, word)| types.has(*of) && !facts.excluded.contains(*word));
        let mut found: Vec<Expr> = words.map(|(_, word)| make.text(word)).collect();
        if types.has(Types::NUMBER) {
            found.extend(self.number(types, &facts.numbers, &facts.excluded, make));
        }
        if types.has(Types::STRING) {
            found.extend(self.string(&facts.strings, &facts.excluded, make));
        }
        if types.has(Types::ARRAY) {
            found.extend(self.array(&facts, make));
        }
        if types.has(Types::OBJECT) {
            found.extend(self.object(&facts, make));
        }
        found
    }

    /// Returns the grammar without what derives nothing. Reports the cause if nothing is left.
    fn without_barren(&mut self, mut grammar: Grammar) -> Grammar {
        let places = grammar.rules.iter().enumerate().map(|(place, rule)| (rule.name.text.as_str(), place)).collect();
        let productive = productive_rules(&grammar, &places);
        let names = grammar.rules.iter().map(|rule| rule.name.text.clone());
        let barren: Set<String> = names.zip(productive).filter(|(_, is)| !is).map(|(name, _)| name).collect();
        let is_empty = grammar.rules.first().is_some_and(|start| barren.contains(&start.name.text));
        let goals: Vec<(Goal, String)> = self.goals.iter().map(|(goal, name)| (goal.clone(), name.clone())).collect();
        let mut causes: Vec<(Id, String)> = Vec::new();
        for (goal, name) in goals.into_iter().filter(|(_, name)| barren.contains(name)) {
            // Several schemas may contradict each other in one of many combinations.
            let is_said = is_empty || goal.len() == 1 && goal.iter().all(|literal| literal.holds);
            if let Some(cause) = self.conflicts.remove(&name).filter(|_| is_said) {
                causes.push(cause);
            }
        }
        if is_empty && causes.is_empty() {
            let path = self.doc.path(0);
            causes.push((0, format!("no finite value is valid under `{path}`: each needs another one within it")));
        }
        for (at, why) in causes {
            let (severity, help) = if is_empty {
                (Diagnostic::error as fn(_, _, _) -> _, "remove one of the keywords that contradict each other")
            } else {
                (Diagnostic::warning as fn(_, _, _) -> _, "values that need such a value are left out")
            };
            let diagnostic: Diagnostic = severity(Code::UnsatisfiableSchema, Some(self.doc.span(at)), why);
            self.diagnostics.push(diagnostic.help(help));
        }
        grammar.rules.retain(|rule| !barren.contains(&rule.name.text));
        for rule in &mut grammar.rules {
            prune(&mut rule.body, &barren);
        }
        grammar
    }

    fn error(&mut self, at: Id, message: impl Into<String>, help: &str) {
        let diagnostic = Diagnostic::error(Code::Syntax, self.doc.span(at), message);
        if self.reported.insert(at) {
            self.diagnostics.push(diagnostic.help(help));
        }
    }

    fn undefined(&mut self, at: Id, message: impl Into<String>) {
        if self.reported.insert(at) {
            let help =
                "a reference is `#`, `#/$defs/name` or another path from the beginning of the file, or an anchor";
            self.diagnostics.push(Diagnostic::error(Code::UndefinedRule, self.doc.span(at), message).help(help));
        }
    }

    fn report_cycle(&mut self, at: Id) {
        if self.reported.insert(at) {
            let path = self.doc.path(at);
            let message = format!("`{path}` needs itself, without a value in between");
            let help = "a schema may refer to itself for its properties or items";
            let diagnostic = Diagnostic::error(Code::UnsatisfiableSchema, self.doc.span(at), message);
            self.diagnostics.push(diagnostic.help(help));
        }
    }

    fn report_size(&mut self, at: Id) {
        if self.reported.insert(at) {
            let message = format!("`{}` is too large: too many schemas apply to one value", self.doc.path(at));
            let diagnostic = Diagnostic::error(Code::TooLarge, self.doc.span(at), message);
            self.diagnostics.push(diagnostic.help("make a schema of the part that you need"));
        }
    }

    /// Reports a keyword that is not honoured.
    fn loose(&mut self, at: Id, why: &str) {
        if self.reported.insert(at) {
            let message = format!("`{}` {why}", self.doc.path(at));
            let help = "more documents are generated and read than are valid";
            self.diagnostics.push(Diagnostic::warning(Code::LooseSchema, self.doc.span(at), message).help(help));
        }
    }

    /// Reports an object that has too few members.
    fn short(&mut self, least: u32, most: usize) {
        let at = self.doc.member(self.current, "minProperties").unwrap_or(self.current);
        let why = format!("asks for {least} properties, and no more than {most} can be drawn");
        if self.reported.insert(at) {
            let message = format!("`{}` {why}", self.doc.path(at));
            self.diagnostics.push(Diagnostic::warning(Code::LooseSchema, self.doc.span(at), message));
        }
    }
}

/// Removes the alternatives that derive nothing.
fn prune(expr: &mut Expr, barren: &Set<String>) {
    let span = expr.span;
    let derives = |expr: &Expr| !is_barren(expr, barren);
    if let Some(alternatives) = expr.as_choice_mut() {
        alternatives.retain(|one| derives(&one.expr));
        if let [only] = alternatives.as_mut_slice()
            && only.weight.is_none()
        {
            let only = std::mem::replace(&mut only.expr, Expr::empty(span));
            *expr = only;
            return prune(expr, barren);
        }
    } else if let Some(rounds) = expr.as_repeat()
        && !derives(rounds.item)
    {
        *expr = Expr::empty(expr.span);
    }
    expr.children_mut().for_each(|child| prune(child, barren));
}

/// Returns true if an expression derives nothing.
fn is_barren(expr: &Expr, barren: &Set<String>) -> bool {
    if let Some(name) = expr.as_rule() {
        return barren.contains(name);
    }
    if let Some(alternatives) = expr.as_choice() {
        return !alternatives.iter().any(|one| one.weight.is_none() && !is_barren(&one.expr, barren));
    }
    if let Some(rounds) = expr.as_repeat() {
        return rounds.min > 0 && is_barren(rounds.item, barren);
    }
    expr.children().any(|child| is_barren(child, barren))
}

#[cfg(test)]
mod tests;
