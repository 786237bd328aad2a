//! Checks names: each kind that is used is given, and unique names have a scope in which they are unique.
//!
//! Names are seen in other rules, too, so what is reached from a rule is a set of kinds, computed until nothing
//! changes.

use super::Index;
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
pub(super) fn check_names(grammar: &Grammar, index: &Index<'_>, start: Option<usize>, diagnostics: &mut Diagnostics) {
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
    each_naming(grammar, &mut |naming, _| named_twice(naming).into_iter().for_each(|twice| diagnostics.push(twice)));
    given.values().filter_map(|all| mixed(all)).for_each(|diagnostic| diagnostics.push(diagnostic));
    let kinds = given.keys().enumerate().map(|(number, &kind)| (kind, 1 << number)).collect();
    let rules = grammar.rules.iter().map(|rule| Reached::of_rule(&rule.body, &kinds, index)).collect();
    let mut checking = Checking { kinds, index, rules, diagnostics };
    checking.spread();
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

/// Facts about a rule, and about the rules that it leads to.
struct Reached {
    /// The kinds of unique names that it gives to scopes outside it.
    loose: Kinds,
    /// Whether something in it follows from other parts, gives a name, or takes one.
    is_dependent: bool,
    /// The rules that it refers to, each with the kinds that are bounded around it.
    references: Vec<(usize, Kinds)>,
}

impl Reached {
    /// Returns what is reached in the body of a rule, without the rules that it refers to.
    fn of_rule(body: &Expr, kinds: &Map<&str, Kinds>, index: &Index<'_>) -> Reached {
        let mut found = Reached { loose: 0, is_dependent: body.has_labels(), references: Vec::new() };
        found.add(body, 0, kinds, index);
        found
    }

    fn add(&mut self, expr: &Expr, bounded: Kinds, kinds: &Map<&str, Kinds>, index: &Index<'_>) {
        if let Some(&rule) = expr.as_rule().and_then(|name| index.get(name)) {
            self.references.push((rule, bounded));
        }
        let naming = expr.as_naming().map(|(naming, _)| naming);
        self.loose |= naming.and_then(Naming::unique).map_or(0, |kind| of_kind(kinds, kind)) & !bounded;
        let scoped = naming.map_or(&[][..], Naming::scoped);
        let bounded = scoped.iter().fold(bounded, |set, kind| set | of_kind(kinds, kind));
        expr.children().for_each(|child| self.add(child, bounded, kinds, index));
    }
}

/// Returns the set of a kind alone.
fn of_kind(kinds: &Map<&str, Kinds>, kind: &Name) -> Kinds {
    kinds.get(kind.text.as_str()).copied().unwrap_or(0)
}

/// Reports a kind that a scope names twice.
fn named_twice(naming: &Naming<Name>) -> Option<Diagnostic> {
    let kinds = naming.kinds();
    let is_again = |(number, kind): &(usize, &Name)| kinds[..*number].iter().any(|before| before.text == kind.text);
    let (_, again) = kinds.iter().enumerate().find(is_again)?;
    let message = format!("the scope names the kind `{}` twice", again.text);
    Some(Diagnostic::error(Code::Syntax, again.span, message).help("leave the second one out"))
}

struct Checking<'c, 'd> {
    /// The set of each kind alone.
    kinds: Map<&'c str, Kinds>,
    index: &'c Index<'c>,
    rules: Vec<Reached>,
    diagnostics: &'d mut Diagnostics,
}

impl Checking<'_, '_> {
    /// Adds what is reached through references, until nothing changes.
    fn spread(&mut self) {
        let mut referring: Vec<Vec<(usize, Kinds)>> = vec![Vec::new(); self.rules.len()];
        for (number, rule) in self.rules.iter().enumerate() {
            rule.references.iter().for_each(|&(target, bounded)| referring[target].push((number, bounded)));
        }
        let mut open: Vec<usize> = (0..self.rules.len()).collect();
        while let Some(rule) = open.pop() {
            let (loose, is_dependent) = (self.rules[rule].loose, self.rules[rule].is_dependent);
            for &(referring, bounded) in &referring[rule] {
                let other = &mut self.rules[referring];
                let before = (other.loose, other.is_dependent);
                other.loose |= loose & !bounded;
                other.is_dependent |= is_dependent;
                if (other.loose, other.is_dependent) != before {
                    open.push(referring);
                }
            }
        }
    }

    /// Returns what is reached from an expression.
    fn reached(&self, expr: &Expr) -> Reached {
        let mut found = Reached::of_rule(expr, &self.kinds, self.index);
        for &(rule, bounded) in &found.references {
            found.loose |= self.rules[rule].loose & !bounded;
            found.is_dependent |= self.rules[rule].is_dependent;
        }
        found
    }

    /// Checks the names of a rule, and its parts that others follow from.
    fn rule(&mut self, body: &Expr) {
        let mut used = Vec::new();
        body.each_label_reference(&mut |label, _| used.push(label.text.as_str()));
        body.each(&mut |expr| {
            if let Some((naming, item)) = expr.as_naming()
                && naming.given().is_some()
            {
                self.given(naming, item);
            }
            if let Some((_, part)) = expr.as_coded() {
                self.measured(part);
            }
            let label = expr.as_label().filter(|(label, _)| used.contains(&label.text.as_str()));
            let part = label.map(|(_, part)| part).or(expr.as_times().map(|(item, _)| item));
            part.into_iter().for_each(|part| self.measured(part));
        });
    }

    /// Checks a part that gives a name.
    fn given(&mut self, naming: &Naming<Name>, item: &Expr) {
        let (message, help) = match item.as_derived() {
            // What it declares is known once labels are resolved.
            Some(Derived::Copy(_)) if naming.is_silent() => return,
            _ if naming.is_silent() => {
                let help = format!("write `$declare({}, $label)` with the label of a part", naming.kinds()[0].text);
                ("a name that is declared stands elsewhere", help)
            }
            _ if self.reached(item).is_dependent => {
                let help = "a name is made of texts, sets, choices, repetitions and rules of such alone";
                ("this name follows from other parts, gives names, or takes some", help.to_string())
            }
            _ => return,
        };
        self.diagnostics.push(Diagnostic::error(Code::DependentName, item.span, message).help(help));
    }

    /// Checks a part that others follow from, or that is repeated as they say.
    fn measured(&mut self, item: &Expr) {
        if let Some(kind) = self.first(self.reached(item).loose) {
            let message = format!("unique names of kind `{kind}` in this part belong to a scope outside it");
            self.diagnostics.push(
                Diagnostic::error(Code::UnscopedName, item.span, message)
                    .help(format!("let the part have a scope of its own: `$scope({kind}, ...)`")),
            );
        }
    }

    /// Reports the unique names that belong to no scope.
    fn start(&mut self, grammar: &Grammar, start: usize) {
        let mut loose = self.rules[start].loose;
        while let Some(kind) = self.first(loose) {
            loose &= !self.kinds[kind.as_str()];
            let place = self.loose_name(grammar, start, &kind);
            let message = format!("unique names of kind `{kind}` are not within a scope");
            self.diagnostics.push(
                Diagnostic::error(Code::UnscopedName, place, message)
                    .help(format!("`$scope({kind}, part)` says in which part no two of them are equal")),
            );
        }
    }

    /// Returns the place of a unique name to which references lead that no scope of the kind is around.
    fn loose_name(&self, grammar: &Grammar, start: usize, kind: &str) -> Option<Span> {
        let set = self.kinds.get(kind).copied()?;
        let (mut open, mut seen) = (vec![start], vec![false; self.rules.len()]);
        while let Some(rule) = open.pop() {
            if std::mem::replace(&mut seen[rule], true) || self.rules[rule].loose & set == 0 {
                continue;
            }
            if let Some(place) = own_loose_name(&grammar.rules[rule].body, kind) {
                return Some(place);
            }
            let references = self.rules[rule].references.iter().filter(|(_, bounded)| bounded & set == 0);
            open.extend(references.map(|(target, _)| target));
        }
        None
    }

    /// Returns the name of the first kind of a set.
    fn first(&self, set: Kinds) -> Option<String> {
        self.kinds.iter().find(|(_, kind)| set & **kind != 0).map(|(name, _)| name.to_string())
    }
}

/// Returns the place of a unique name in an expression that no scope of the kind is around.
fn own_loose_name(expr: &Expr, kind: &str) -> Option<Span> {
    if let Some((naming, _)) = expr.as_naming() {
        if naming.scoped().iter().any(|scoped| scoped.text == kind) {
            return None;
        }
        if naming.unique().is_some_and(|unique| unique.text == kind) {
            return Some(expr.span);
        }
    }
    expr.children().find_map(|child| own_loose_name(child, kind))
}
