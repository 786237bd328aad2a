//! Objects: members in the order of the schema, keys that differ by construction.

use regex_syntax::hir::Hir;

use super::document::{Document, Id, quoted};
use super::facts::{Count, Facts, Goal, Literal, Objects, Strings};
use super::language::{self, Part, Texts};
use super::list::Member;
use super::make::Make;
use super::{Expansion, Reader, values};
use crate::ast::{Expr, Name, Rule};
use crate::formats::json_text::{Json, JsonKind};
use crate::formats::pattern;
use crate::ordered::Set;

/// The letters that further keys begin with, a range for each key.
const BEGINNINGS: [(u8, u8); 5] = [(b'a', b'd'), (b'e', b'i'), (b'j', b'n'), (b'o', b's'), (b't', b'z')];
/// The greatest number of declared keys that others are told from one by one.
const MAX_TOLD: usize = 100;

/// Facts that the names of further keys must have.
struct Names<'j> {
    patterns: Vec<(Hir, bool)>,
    strings: Vec<Strings<'j>>,
    /// The names, if they are listed.
    listed: Option<Vec<String>>,
}

impl<'j> Reader<'j, '_> {
    /// Returns the objects that fulfil the facts. `None` if there is none.
    pub(super) fn object(&mut self, facts: &Facts<'j>, make: Make) -> Option<Expr> {
        let objects = &facts.objects;
        let names = self.names(objects);
        let keys = declared(&self.doc, objects);
        let mut members = Vec::new();
        for &key in &keys {
            if objects.forbidden.contains(key) || !self.is_name(objects, key) {
                if objects.required.contains(key) {
                    return None;
                }
                continue;
            }
            let (goal, _) = self.property(objects, key);
            if objects.required.contains(key) {
                self.note_false(&goal, key);
            }
            let value = self.value(goal, key);
            let expr = self.member(make.text(quoted(key)), value, make);
            members.push(Member { expr, is_required: objects.required.contains(key) });
        }
        let mut read: Vec<Expr> = members.iter().map(|member| member.expr.clone()).collect();
        let told: Vec<&str> = keys.iter().copied().chain(objects.forbidden.iter().copied()).collect();
        let patterns = patterns(&self.doc, objects);
        self.pattern_members(objects, &patterns, (&told, &names), &mut members, &mut read, make);
        self.further_members(objects, &patterns, (&told, &names), &mut members, &mut read, make);
        let is_open_end = members.len();
        let list = self.list(members, objects.count, make);
        if list.is_none() && is_open_end < objects.count.min as usize {
            self.short(objects.count.min, is_open_end);
        }
        let ws = make.rule(self.shared("blanks"));
        let separator = make.seq([make.text(","), ws.clone()]);
        let read = (!read.is_empty() && list.is_some()).then(|| {
            let any = make.any(read);
            make.seq([any.clone(), make.many(make.seq([separator, any]), 0, None)])
        });
        let body = make.any_or_read([list?], read);
        Some(make.seq([make.text("{"), ws, body, make.text("}")]))
    }

    /// Notes that a required property has a schema that no value fulfils.
    fn note_false(&mut self, goal: &Goal, key: &str) {
        let is_false = |literal: &&Literal| self.doc.truth(literal.schema) == Some(!literal.holds);
        if let Some(literal) = goal.iter().find(is_false) {
            let (current, path) = (self.doc.path(self.current), self.doc.path(literal.schema));
            let key = key.escape_debug();
            let why =
                format!("no value is valid under `{current}`: it requires `{key}`, for which `{path}` allows none");
            self.conflicts.entry(self.stem.clone()).or_insert((literal.schema, why));
        }
    }

    /// Returns a member with its blanks.
    fn member(&mut self, key: Expr, value: Expr, make: Make) -> Expr {
        let ws = make.rule(self.shared("blanks"));
        make.seq([key, ws.clone(), make.text(":"), ws.clone(), value, ws])
    }

    /// Returns the schemas of a property, and whether a keyword is about it.
    pub(super) fn property(&self, objects: &Objects<'j>, key: &str) -> (Goal, bool) {
        let mut goal = Goal::new();
        for &layer in &objects.layers {
            let part = |name| self.doc.member(layer, name);
            let before = goal.len();
            goal.extend(part("properties").and_then(|id| self.doc.member(id, key)).map(Literal::of));
            let patterns = part("patternProperties").map(|id| self.doc.members(id)).unwrap_or_default();
            for (pattern, schema) in patterns {
                let fits = pattern::ecma(pattern).and_then(|hir| language::fits(&hir, key));
                if fits == Some(true) {
                    goal.push(Literal::of(*schema));
                }
            }
            if goal.len() == before {
                goal.extend(part("additionalProperties").map(Literal::of));
            }
        }
        let is_known = !goal.is_empty();
        if !is_known {
            goal.extend(&objects.unevaluated);
        }
        goal.extend(objects.further.iter().filter(|(own, _)| *own == key).map(|(_, literal)| *literal));
        (goal, is_known)
    }

    fn names(&mut self, objects: &Objects<'j>) -> Names<'j> {
        let mut names = Names { patterns: Vec::new(), strings: Vec::new(), listed: None };
        for literal in &objects.names {
            let Expansion::Facts(all) = self.expand(&vec![*literal]) else {
                self.loose(literal.schema, "has alternatives, which keys are not drawn from");
                continue;
            };
            if all.len() > 1 {
                self.loose(literal.schema, "has alternatives, which keys are not drawn from");
            }
            let Some(facts) = all.into_iter().next() else { continue };
            if let Some(listed) = &facts.values {
                let texts = listed.iter().filter_map(|json| match &json.kind {
                    JsonKind::String(text) => Some(text.clone()),
                    _ => None,
                });
                names.listed = Some(texts.collect());
            }
            let patterns = facts.strings.patterns.iter();
            names.patterns.extend(patterns.filter_map(|fits| Some((pattern::ecma(fits.pattern)?, fits.holds))));
            names.strings.push(facts.strings);
        }
        names
    }

    /// Returns true if a declared key fulfils what is asked of names.
    fn is_name(&mut self, objects: &Objects<'j>, key: &str) -> bool {
        let json = Json { kind: JsonKind::String(key.to_string()), span: Default::default() };
        objects.names.iter().all(|literal| match self.expand(&vec![*literal]) {
            Expansion::Facts(all) => all.iter().any(|facts| {
                let is_listed = facts.values.as_ref().is_none_or(|values| {
                    values.iter().any(|value| matches!(&value.kind, JsonKind::String(text) if text == key))
                });
                facts.conflict.is_none() && is_listed && values::fulfils(&json, facts, self)
            }),
            Expansion::Goals(_) => true,
        })
    }

    /// Adds the members whose keys fit a pattern.
    fn pattern_members(
        &mut self,
        objects: &Objects<'j>,
        patterns: &[&'j str],
        (told, names): (&[&str], &Names<'j>),
        members: &mut Vec<Member>,
        read: &mut Vec<Expr>,
        make: Make,
    ) {
        for (number, pattern) in patterns.iter().enumerate() {
            let mut goal = Goal::new();
            for &layer in &objects.layers {
                let of_pattern = self.doc.member(layer, "patternProperties");
                let own = of_pattern.and_then(|id| self.doc.member(id, pattern));
                let own = own.or_else(|| self.doc.member(layer, "additionalProperties"));
                goal.extend(own.map(Literal::of));
            }
            let hirs: Vec<Option<Hir>> = patterns.iter().map(|pattern| pattern::ecma(pattern)).collect();
            let Some(hir) = &hirs[number] else { continue };
            let value = self.value(goal, "entry");
            let mut parts = vec![Part::Found(hir, true)];
            let others = hirs.iter().enumerate().filter(|(other, _)| *other != number);
            parts.extend(others.filter_map(|(_, hir)| Some(Part::Found(hir.as_ref()?, false))));
            let slots = 2.max(objects.count.min.min(8));
            let mut words: Vec<Part<'_>> = parts.clone();
            let word = pattern::ecma("^[A-Za-z0-9_.-]*$");
            words.extend(word.iter().map(|hir| Part::Found(hir, true)));
            let mut keys = self.keys(words, (told, names), slots, make);
            if keys.is_empty() {
                keys = self.keys(parts, (told, names), slots, make);
            }
            for key in keys {
                let expr = self.member(key, value.clone(), make);
                members.push(Member { expr, is_required: false });
            }
            if let Some(found) = language::found(hir, make.0) {
                let key = self.encoded(&found, make);
                read.push(self.member(make.seq([make.text("\""), key, make.text("\"")]), value, make));
            }
        }
    }

    /// Returns keys that fulfil conditions and differ from each other.
    fn keys<'p>(
        &mut self,
        mut parts: Vec<Part<'p>>,
        (told, names): (&[&str], &'p Names<'j>),
        slots: u32,
        make: Make,
    ) -> Vec<Expr> {
        parts.extend(names.patterns.iter().map(|(hir, holds)| Part::Found(hir, *holds)));
        parts.extend(names.strings.iter().map(|strings| strings.length).filter(is_said).map(Part::Length));
        // A key that is told apart fits the other conditions.
        let is_possible = |key: &&str| {
            parts.iter().all(|part| match part {
                Part::Found(hir, holds) => language::fits(hir, key).is_none_or(|fits| fits == *holds),
                _ => true,
            })
        };
        let told: Vec<String> = told.iter().copied().filter(is_possible).map(str::to_string).collect();
        parts.push(Part::Except(told));
        let mut found = Vec::new();
        for slot in 0..slots {
            parts.push(Part::Rest(slot, slots));
            match language::texts(&parts, make.0) {
                Texts::Some(texts) => {
                    let texts = self.encoded(&texts, make);
                    found.push(make.seq([make.text("\""), texts, make.text("\"")]));
                }
                Texts::None => {}
                Texts::Unknown => {
                    self.loose(self.current, "has patterns of keys that are too large to be drawn together");
                    break;
                }
            }
            parts.pop();
        }
        found
    }

    /// Adds the members that no keyword names.
    fn further_members(
        &mut self,
        objects: &Objects<'j>,
        patterns: &[&'j str],
        (told, names): (&[&str], &Names<'j>),
        members: &mut Vec<Member>,
        read: &mut Vec<Expr>,
        make: Make,
    ) {
        let layers = objects.layers.iter();
        let additional: Vec<Id> = layers.filter_map(|&layer| self.doc.member(layer, "additionalProperties")).collect();
        let mut goal: Goal = additional.iter().copied().map(Literal::of).collect();
        if goal.is_empty() {
            goal.extend(&objects.unevaluated);
        }
        let is_closed = goal.iter().any(|literal| literal.holds && self.doc.truth(literal.schema) == Some(false));
        if is_closed {
            return;
        }
        let is_asked = !goal.is_empty() || members.is_empty() || members.len() < objects.count.min as usize;
        let value = self.value(goal, "entry");
        if is_asked {
            for key in self.further_keys(patterns, (told, names), objects.count.min, make) {
                let expr = self.member(key, value.clone(), make);
                members.push(Member { expr, is_required: false });
            }
        }
        let other = self.other_strings(told, make);
        let name = self.fresh(&format!("{}-key", self.stem));
        self.add(Rule::new(Name { text: name.clone(), span: make.0 }, other));
        read.push(self.member(make.rule(name), value, make));
    }

    fn further_keys(
        &mut self,
        patterns: &[&'j str],
        (told, names): (&[&str], &Names<'j>),
        least: u32,
        make: Make,
    ) -> Vec<Expr> {
        if let Some(listed) = &names.listed {
            let listed = listed.iter().filter(|name| !told.contains(&name.as_str()));
            return listed.map(|name| make.text(quoted(name))).collect();
        }
        if patterns.is_empty() && names.patterns.is_empty() && !names.strings.iter().any(|own| is_said(&own.length)) {
            return plain_keys(told, least, make);
        }
        let hirs: Vec<Hir> = patterns.iter().filter_map(|pattern| pattern::ecma(pattern)).collect();
        let parts = || hirs.iter().map(|hir| Part::Found(hir, false)).collect::<Vec<_>>();
        let word = pattern::ecma("^[A-Za-z_][A-Za-z0-9_]*$");
        let mut words = parts();
        words.extend(word.iter().map(|hir| Part::Found(hir, true)));
        let slots = 3.max(least.min(8));
        let found = self.keys(words, (told, names), slots, make);
        if found.is_empty() { self.keys(parts(), (told, names), slots, make) } else { found }
    }
}

fn is_said(count: &Count) -> bool {
    count.min > 0 || count.max.is_some()
}

/// Returns the keys that the schemas name, in order.
fn declared<'j>(doc: &Document<'j>, objects: &Objects<'j>) -> Vec<&'j str> {
    let (mut seen, mut keys) = (Set::new(), Vec::new());
    let properties = objects.layers.iter().filter_map(|&layer| doc.member(layer, "properties"));
    let named = properties.flat_map(|id| doc.members(id)).map(|(key, _)| *key);
    let further = objects.required.iter().copied().chain(objects.further.iter().map(|(key, _)| *key));
    for key in named.chain(further) {
        if seen.insert(key) {
            keys.push(key);
        }
    }
    keys
}

fn patterns<'j>(doc: &Document<'j>, objects: &Objects<'j>) -> Vec<&'j str> {
    let mut patterns = Vec::new();
    let all = objects.layers.iter().filter_map(|&layer| doc.member(layer, "patternProperties"));
    for (pattern, _) in all.flat_map(|id| doc.members(id)) {
        if !patterns.contains(pattern) {
            patterns.push(*pattern);
        }
    }
    patterns
}

/// Returns keys that differ from each other and from the declared ones.
fn plain_keys(told: &[&str], least: u32, make: Make) -> Vec<Expr> {
    let lower = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'_';
    let tail = [(0x30, 0x39), (0x5F, 0x5F), (0x61, 0x7A)];
    let mut found = Vec::new();
    for (first, last) in BEGINNINGS {
        let is_near = |key: &&&str| {
            let (Some(&begin), rest) = (key.as_bytes().first(), key.as_bytes().get(1..).unwrap_or_default()) else {
                return false;
            };
            (first..=last).contains(&begin) && rest.len() <= 7 && rest.iter().all(|&c| lower(c))
        };
        let near: Vec<&str> = told.iter().filter(is_near).copied().collect();
        let begin = make.class(&[(first.into(), last.into())]);
        let texts = if near.is_empty() {
            make.seq([begin, make.many(make.class(&tail), 0, Some(7))])
        } else if let Some(texts) = apart(&near, (first, last), make) {
            texts
        } else {
            // No declared key goes on with this many underscores.
            let run = told.iter().map(|key| longest_run(key)).max().unwrap_or(0) + 1;
            make.seq([begin, make.text("_".repeat(run)), make.many(make.class(&tail), 0, Some(6))])
        };
        found.push(make.seq([make.text("\""), texts, make.text("\"")]));
    }
    // More keys are numbered.
    let run = told.iter().map(|key| longest_run(key)).max().unwrap_or(0) + 1;
    for number in found.len()..(least as usize).min(200) {
        let stem = make.text(format!("\"x{}{number}", "_".repeat(run)));
        found.push(make.seq([stem, make.many(make.class(&[(0x61, 0x7A)]), 0, Some(4)), make.text("\"")]));
    }
    found
}

fn longest_run(key: &str) -> usize {
    key.split(|c| c != '_').map(str::len).max().unwrap_or(0)
}

/// Returns short keys that are none of a few. `None` if these are too many.
fn apart(near: &[&str], (first, last): (u8, u8), make: Make) -> Option<Expr> {
    if near.len() > MAX_TOLD {
        return None;
    }
    let keys = format!("^[{}-{}][a-z0-9_]*$", char::from(first), char::from(last));
    let hir = pattern::ecma(&keys)?;
    let except = Part::Except(near.iter().map(|key| (*key).to_string()).collect());
    match language::texts(&[Part::Found(&hir, true), except], make.0) {
        Texts::Some(texts) => Some(texts),
        Texts::None | Texts::Unknown => None,
    }
}
