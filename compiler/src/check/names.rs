//! Checks names: each kind that is used is given, and unique names have a scope in which they are unique.
//!
//! Names are seen in other rules, too, so what is reached from a rule is a set of kinds, computed until nothing
//! changes.

use super::similar::closest;
use crate::ast::{Expr, Grammar, Name};
use crate::derived::Derived;
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::naming::Naming;
use crate::ordered::Map;

/// The most kinds of names: a set of them is a number.
const MAX_KINDS: usize = 64;

/// A set of kinds.
type Kinds = u64;

/// Reports what is wrong with the names of a grammar, seen from its start rule.
pub(super) fn check_names(
    grammar: &Grammar,
    index: &Map<&str, usize>,
    start: Option<usize>,
    diagnostics: &mut Diagnostics,
) {
    let (mut given, mut asked) = (Map::new(), Vec::new());
    each_naming(grammar, &mut |naming, _| match naming.given() {
        Some(kind) => given.entry(kind.text.as_str()).or_insert_with(Vec::new).push((kind, naming.unique().is_some())),
        None => asked.extend(naming.kinds()),
    });
    if given.is_empty() && asked.is_empty() {
        return;
    }
    for kind in asked.iter().filter(|kind| !given.contains_key(kind.text.as_str())) {
        diagnostics.push(undefined(kind, &given));
    }
    if given.len() > MAX_KINDS {
        let message = format!("the grammar has {} kinds of names", given.len());
        let help = format!("the bound is {MAX_KINDS}; let some be of the same kind");
        diagnostics.push(Diagnostic::error(Code::TooLarge, None, message).help(help));
        return;
    }
    given.values().filter_map(|all| mixed(all)).for_each(|diagnostic| diagnostics.push(diagnostic));
    let mut checking = Checking {
        index,
        kinds: given.keys().enumerate().map(|(number, &kind)| (kind, 1 << number)).collect(),
        loose: Vec::new(),
        dependent: Vec::new(),
        diagnostics,
    };
    checking.loose = checking.until_stable(grammar, Checking::loose);
    checking.dependent = checking.until_stable(grammar, Checking::dependent);
    for rule in &grammar.rules {
        checking.rule(&rule.body);
    }
    if let Some(start) = start {
        checking.start(grammar, start);
    }
}

/// Calls `visit` with all that is said of names, and its place.
fn each_naming<'g>(grammar: &'g Grammar, visit: &mut dyn FnMut(&'g Naming<Name>, Span)) {
    for rule in &grammar.rules {
        rule.body.each(&mut |expr| {
            if let Some((naming, _)) = expr.as_naming() {
                visit(naming, expr.span);
            }
        });
    }
}

fn undefined<T>(kind: &Name, given: &Map<&str, T>) -> Diagnostic {
    let message = format!("no part gives a name of kind `{}`", kind.text);
    let help = match closest(&kind.text, given.keys().copied()) {
        Some(similar) => format!("did you mean `{similar}`?"),
        None => format!("a part gives one by `$define({}, part)`", kind.text),
    };
    Diagnostic::error(Code::UndefinedKind, kind.span, message).help(help)
}

/// Reports a kind of which some names are unique and others are not.
fn mixed(given: &[(&Name, bool)]) -> Option<Diagnostic> {
    let (unique, _) = given.iter().find(|(_, is_unique)| *is_unique)?;
    let (other, _) = given.iter().find(|(_, is_unique)| !is_unique)?;
    let message = format!("this name of kind `{}` need not be unique, but others are", other.text);
    let diagnostic = Diagnostic::error(Code::MixedKind, other.span, message);
    Some(diagnostic.related(unique.span, "this one is").help("write `$unique` for all names of a kind, or for none"))
}

struct Checking<'c, 'd> {
    index: &'c Map<&'c str, usize>,
    /// The set of each kind alone.
    kinds: Map<&'c str, Kinds>,
    /// The kinds of unique names that each rule gives to scopes outside it.
    loose: Vec<Kinds>,
    /// For each rule 1 if something in it follows from other parts, gives a name, or takes one; 0 if not.
    dependent: Vec<Kinds>,
    diagnostics: &'d mut Diagnostics,
}

impl Checking<'_, '_> {
    /// Returns a set of each rule, where that of a rule follows from those of the rules that it refers to.
    fn until_stable(&self, grammar: &Grammar, of: impl Fn(&Self, &Expr, &[Kinds]) -> Kinds) -> Vec<Kinds> {
        let mut referring = vec![Vec::new(); grammar.rules.len()];
        for (number, rule) in grammar.rules.iter().enumerate() {
            rule.body.each_reference(&mut |name| {
                if let Some(&target) = self.index.get(name) {
                    referring[target].push(number);
                }
            });
        }
        let mut sets = vec![0; grammar.rules.len()];
        let mut open: Vec<usize> = (0..grammar.rules.len()).collect();
        while let Some(rule) = open.pop() {
            let set = of(self, &grammar.rules[rule].body, &sets);
            if set != sets[rule] {
                sets[rule] = set;
                open.extend(&referring[rule]);
            }
        }
        sets
    }

    fn of_kinds(&self, kinds: &[Name]) -> Kinds {
        kinds.iter().filter_map(|kind| self.kinds.get(kind.text.as_str())).fold(0, |set, kind| set | kind)
    }

    fn of_rule(&self, expr: &Expr, sets: &[Kinds]) -> Kinds {
        expr.as_rule().and_then(|name| self.index.get(name)).map_or(0, |&rule| sets[rule])
    }

    /// Returns the kinds of unique names that an expression gives to scopes outside it.
    fn loose(&self, expr: &Expr, of_rules: &[Kinds]) -> Kinds {
        let inner = expr.children().fold(self.of_rule(expr, of_rules), |set, child| set | self.loose(child, of_rules));
        let Some((naming, _)) = expr.as_naming() else { return inner };
        let own = naming.unique().map_or(0, |kind| self.of_kinds(std::slice::from_ref(kind)));
        (inner | own) & !self.of_kinds(naming.scoped())
    }

    /// Returns 1 if something in an expression follows from other parts, gives a name, or takes one; 0 if not.
    fn dependent(&self, expr: &Expr, of_rules: &[Kinds]) -> Kinds {
        let is_own = expr.as_label().is_some()
            || expr.as_derived().is_some()
            || expr.as_times().is_some()
            || expr.as_naming().is_some();
        let inner =
            expr.children().fold(self.of_rule(expr, of_rules), |set, child| set | self.dependent(child, of_rules));
        inner | Kinds::from(is_own)
    }

    /// Checks the names of a rule, and its parts that others follow from.
    fn rule(&mut self, body: &Expr) {
        let mut used = Vec::new();
        body.each_label_reference(&mut |label, _| used.push(label.text.as_str()));
        body.each(&mut |expr| {
            if let Some((naming, item)) = expr.as_naming()
                && naming.given().is_some()
            {
                self.given(body, naming, item);
            }
            let label = expr.as_label().filter(|(label, _)| used.contains(&label.text.as_str()));
            let part = label.map(|(_, part)| part).or(expr.as_times().map(|(item, _)| item));
            part.into_iter().for_each(|part| self.measured(part));
        });
    }

    /// Checks a part that gives a name, in the body of a rule.
    fn given(&mut self, body: &Expr, naming: &Naming<Name>, item: &Expr) {
        let mut parts = Vec::new();
        match item.as_derived() {
            Some(Derived::Copy(label)) if naming.is_silent() => body.each(&mut |expr| {
                let is_own = expr.as_label().is_some_and(|(own, _)| own.text == label.text);
                parts.extend(is_own.then(|| expr.unlabelled()));
            }),
            _ if naming.is_silent() => {
                let message = "a name that is declared stands elsewhere";
                let help = format!("write `$declare({}, $label)` with the label of a part", naming.kinds()[0].text);
                self.diagnostics.push(Diagnostic::error(Code::DependentName, item.span, message).help(help));
            }
            _ => parts.push(item),
        }
        parts.retain(|part| self.dependent(part, &self.dependent) != 0);
        for part in parts {
            let message = "this name follows from other parts, gives names, or takes some";
            let help = "a name is made of texts, sets, choices, repetitions and rules of such alone";
            self.diagnostics.push(Diagnostic::error(Code::DependentName, part.span, message).help(help));
        }
    }

    /// Checks a part that others follow from, or that is repeated as they say.
    fn measured(&mut self, item: &Expr) {
        let loose = self.loose(item, &self.loose);
        if let Some(kind) = self.first(loose) {
            let message = format!("unique names of kind `{kind}` in this part belong to a scope outside it");
            self.diagnostics.push(
                Diagnostic::error(Code::UnscopedName, item.span, message)
                    .help(format!("let the part have a scope of its own: `$scope({kind}, ...)`")),
            );
        }
    }

    /// Reports the unique names that belong to no scope.
    fn start(&mut self, grammar: &Grammar, start: usize) {
        while let Some(kind) = self.first(self.loose[start]) {
            self.loose[start] &= !self.kinds[kind.as_str()];
            let mut place = None;
            each_naming(grammar, &mut |naming, span| {
                if naming.unique().is_some_and(|unique| unique.text == kind) {
                    place.get_or_insert(span);
                }
            });
            let message = format!("unique names of kind `{kind}` are not within a scope");
            self.diagnostics.push(
                Diagnostic::error(Code::UnscopedName, place, message)
                    .help(format!("`$scope({kind}, part)` says in which part no two of them are equal")),
            );
        }
    }

    /// Returns the name of the first kind of a set.
    fn first(&self, set: Kinds) -> Option<String> {
        self.kinds.iter().find(|(_, kind)| set & **kind != 0).map(|(name, _)| name.to_string())
    }
}
