//! The facts of trees, by plain iteration.

use std::cell::Cell;

use gramjet_compiler::derived::{Derived, Measure, Value};
use gramjet_compiler::ir::Facts;
use gramjet_compiler::naming::Naming;

use super::{Form, Kind, Part, UNKNOWN, Uniques};

/// The rules of a grammar, with the facts that are known of them.
pub(super) struct Rules<'r> {
    pub facts: &'r [(Facts, Uniques)],
    pub forms: &'r [Option<Form>],
    /// Number of references that are open, one within the other, and of those that were followed for a rule.
    pub depth: Cell<u32>,
    pub followed: Cell<u32>,
}

/// The most references within each other, and in all for a rule. Before the facts are final, a part can seem so long
/// that there is no end.
const MOST_DEPTH: u32 = 200;
const MOST_FOLLOWED: u32 = 20_000;

impl Rules<'_> {
    /// Returns the length of the shortest text of a rule whose parameters stand for parts of which this is known.
    fn len(&self, variable: usize, given: Vec<Part>) -> u64 {
        match &self.forms[variable] {
            Some(form) if form.facts.min_len < u64::MAX && self.may_follow() => {
                let mut form = form.clone();
                self.depth.set(self.depth.get() + 1);
                self.followed.set(self.followed.get() + 1);
                self.set_first(&mut form, &mut given.clone());
                self.depth.set(self.depth.get() - 1);
                form.facts.min_len
            }
            _ => u64::MAX,
        }
    }

    fn may_follow(&self) -> bool {
        self.depth.get() < MOST_DEPTH && self.followed.get() < MOST_FOLLOWED
    }

    /// Sets the facts of a form as [`set_facts`] does, where each choice has its first option alone.
    fn set_first(&self, form: &mut Form, parts: &mut Vec<Part>) {
        keep_first(form);
        set_facts(form, self, parts);
    }
}

/// Leaves the first option of each choice, and no rounds that need not be.
fn keep_first(form: &mut Form) {
    match &mut form.kind {
        Kind::Bytes(_) | Kind::Class(_) | Kind::Variable(..) | Kind::Derived(_) => {}
        Kind::Seq(items) => items.iter_mut().for_each(keep_first),
        Kind::Choice(options, _) => {
            options.iter_mut().for_each(keep_first);
            let cost = |option: &usize| (options[*option].facts.min_len, options[*option].facts.height);
            let first = (0..options.len()).min_by_key(cost).unwrap_or(0);
            options.swap(0, first);
            options.truncate(1);
        }
        Kind::Repeat(item, 0, _) => **item = Form::new(Kind::Bytes(Vec::new())),
        Kind::Repeat(item, ..) | Kind::Times(item, ..) | Kind::Scope(item, _) => keep_first(item),
        Kind::Label(_, item) | Kind::Naming(_, item) | Kind::Coded(_, item) => keep_first(item),
    }
}

/// Sets the facts of a form, given those of the rules and what is known of the parts with labels that it sees.
pub(super) fn set_facts(form: &mut Form, rules: &Rules<'_>, parts: &mut Vec<Part>) {
    form.facts = match &mut form.kind {
        Kind::Bytes(bytes) => Facts { min_len: bytes.len() as u64, height: 0, min_depth: 0 },
        Kind::Class(set) => {
            let lengths = set.ranges().iter().map(|&(low, _)| set.encode(low).as_ref().len() as u64);
            lengths.min().map_or(UNKNOWN, |min_len| Facts { min_len, height: 0, min_depth: 0 })
        }
        Kind::Variable(variable, given) => {
            let facts = rules.facts[*variable].0;
            let part = |(own, label): &(String, String)| {
                let (_, len, rounds) = known(parts, label);
                (own.clone(), len, rounds)
            };
            let given: Vec<Part> = given.iter().map(part).collect();
            // Empty parts make nothing longer.
            let is_longer = given.iter().any(|(_, len, rounds)| (len, rounds) != (&0, &0));
            Facts {
                min_len: if is_longer { rules.len(*variable, given) } else { facts.min_len },
                height: facts.height.saturating_add(1),
                min_depth: facts.min_depth.saturating_add(1),
            }
        }
        Kind::Seq(items) => {
            items.iter_mut().for_each(|item| set_facts(item, rules, parts));
            Facts {
                min_len: items.iter().fold(0, |sum: u64, item| sum.saturating_add(item.facts.min_len)),
                height: items.iter().map(|item| item.facts.height).max().unwrap_or(0),
                min_depth: items.iter().map(|item| item.facts.min_depth).max().unwrap_or(0),
            }
        }
        Kind::Choice(options, _) => {
            options.iter_mut().for_each(|option| set_facts(option, rules, parts));
            let shortest = options.iter().map(|option| (option.facts.min_len, option.facts.height)).min();
            let (min_len, height) = shortest.unwrap_or((u64::MAX, u32::MAX));
            let min_depth = options.iter().map(|option| option.facts.min_depth).min().unwrap_or(u32::MAX);
            Facts { min_len, height, min_depth }
        }
        Kind::Repeat(item, min, max) => {
            set_facts(item, rules, parts);
            match (*min, *max) {
                (0, _) | (_, Some(0)) => Facts { min_len: 0, height: 0, min_depth: 0 },
                _ => Facts { min_len: item.facts.min_len.saturating_mul(u64::from(*min)), ..item.facts },
            }
        }
        Kind::Times(item, rounds, mirror) => {
            let outer = parts.len();
            parts.extend(mirror.iter().flat_map(|mirror| mirror.parts.clone()));
            set_facts(item, rules, parts);
            parts.truncate(outer);
            match least(rounds, parts) {
                0 => Facts { min_len: 0, height: 0, min_depth: 0 },
                least => Facts { min_len: item.facts.min_len.saturating_mul(least), ..item.facts },
            }
        }
        Kind::Scope(items, labels) => {
            let outer = parts.len();
            parts.extend(labels.iter().map(|label| (label.clone(), u64::MAX, u64::MAX)));
            // Items see the parts after them, too.
            set_mirrors(items);
            loop {
                set_facts(items, rules, parts);
                let mut found = Vec::new();
                each_label(items, &mut |label, part| {
                    if labels.iter().any(|own| own == label) {
                        found.push((label.to_string(), part.facts.min_len, part.rounds));
                    }
                });
                let has_changed = set_mirrors(items);
                if found == parts[outer..] && !has_changed {
                    break;
                }
                parts.truncate(outer);
                parts.append(&mut found);
            }
            parts.truncate(outer);
            items.facts
        }
        Kind::Label(_, item) => {
            set_facts(item, rules, parts);
            item.rounds = least_rounds(item, parts);
            item.facts
        }
        Kind::Derived(derived) => {
            let min_len = match derived {
                Derived::Copy(label) => known(parts, label).1,
                Derived::Number(value, form) => form.width(least(value, parts)),
                Derived::Bits(bits) => crate::settled::bytes_of(bits),
                Derived::Padding(label, padding) => crate::settled::filler(known(parts, label).1, padding),
            };
            Facts { min_len, height: 0, min_depth: 0 }
        }
        Kind::Coded(codec, item) => {
            set_facts(item, rules, parts);
            // What derives nothing yet has no length.
            let min_len = item.facts.min_len;
            let longest = if min_len == u64::MAX { min_len } else { codec.coding.longest(min_len, codec.growth) };
            Facts { min_len: longest, ..item.facts }
        }
        Kind::Naming(Naming::Declare(_), _) => Facts { min_len: 0, height: 0, min_depth: 0 },
        Kind::Naming(naming, item) => {
            set_facts(item, rules, parts);
            // The first name of a scope needs no digits, the second one a digit, and so on.
            let room: u64 = naming
                .scoped()
                .iter()
                .flat_map(|kind| 0..item.uniques.get(kind).copied().unwrap_or(0))
                .map(digits)
                .sum();
            Facts { min_len: item.facts.min_len.saturating_add(room), ..item.facts }
        }
    };
    form.uniques = uniques(&form.kind, rules, parts);
}

/// Returns the number of digits of a number; none of 0.
pub fn digits(number: u64) -> u64 {
    if number == 0 { 0 } else { number.to_string().len() as u64 }
}

/// Returns the unique names of the shortest text of a tree.
fn uniques(kind: &Kind, rules: &Rules<'_>, parts: &[Part]) -> Uniques {
    let times = |item: &Form, times: u64| -> Uniques {
        let numbers = item.uniques.iter().map(|(kind, number)| (kind.clone(), number.saturating_mul(times)));
        numbers.filter(|(_, number)| *number > 0).collect()
    };
    match kind {
        Kind::Bytes(_) | Kind::Class(_) | Kind::Derived(_) => Uniques::new(),
        Kind::Variable(variable, _) => rules.facts[*variable].1.clone(),
        Kind::Seq(items) => {
            let mut sum = Uniques::new();
            for (kind, number) in items.iter().flat_map(|item| &item.uniques) {
                *sum.entry(kind.clone()).or_default() += number;
            }
            sum
        }
        Kind::Choice(options, _) => {
            let cost = |option: &&Form| (option.facts.min_len, option.facts.height);
            options.iter().min_by_key(cost).map_or_else(Uniques::new, |option| option.uniques.clone())
        }
        Kind::Repeat(_, _, Some(0)) => Uniques::new(),
        Kind::Repeat(item, min, _) => times(item, u64::from(*min)),
        Kind::Times(item, rounds, _) => times(item, least(rounds, parts)),
        Kind::Scope(item, _) | Kind::Label(_, item) => item.uniques.clone(),
        Kind::Naming(Naming::Declare(_), _) | Kind::Coded(..) => Uniques::new(),
        Kind::Naming(naming, item) => {
            let mut numbers = item.uniques.clone();
            numbers.retain(|kind, _| !naming.scoped().contains(kind));
            if let Some(kind) = naming.unique() {
                *numbers.entry(kind.clone()).or_default() += 1;
            }
            numbers
        }
    }
}

/// Returns what is known of the part with a label. What a parameter stands for counts as empty.
fn known(parts: &[Part], label: &str) -> Part {
    let found = parts.iter().rev().find(|part| part.0 == label).cloned();
    found.unwrap_or_else(|| (label.to_string(), 0, 0))
}

/// Returns a number if all parts are the shortest.
fn least(value: &Value<String>, parts: &[Part]) -> u64 {
    let least = value.of(|term| {
        let (_, min_len, rounds) = known(parts, &term.label);
        match term.measure {
            Measure::Len => min_len,
            Measure::Count => rounds,
            Measure::Offset | Measure::Base | Measure::Sum(_) | Measure::Digest(_) => 0,
        }
    });
    least.max(0) as u64
}

/// Returns the least number of rounds of a part.
fn least_rounds(part: &Form, parts: &[Part]) -> u64 {
    match &part.kind {
        Kind::Label(_, item) => least_rounds(item, parts),
        Kind::Repeat(_, _, Some(0)) => 0,
        Kind::Repeat(_, min, _) => u64::from(*min),
        Kind::Times(_, rounds, _) => least(rounds, parts),
        _ => 0,
    }
}

/// Tells the mirrors of repetitions that are items of a sequence what is known of the labels of a round. Returns true
/// if that is something else than before.
fn set_mirrors(items: &mut Form) -> bool {
    let mut rounds = Vec::new();
    each_label(items, &mut |label, part| {
        let mut part = part;
        while let Kind::Label(_, inner) = &part.kind {
            part = inner;
        }
        let (Kind::Repeat(round, ..) | Kind::Times(round, ..)) = &part.kind else { return };
        let Kind::Scope(round, _) = &round.kind else { return };
        let mut found = Vec::new();
        each_label(round, &mut |label, part| found.push((label.to_string(), part.facts.min_len, part.rounds)));
        rounds.push((label.to_string(), found));
    });
    rounds.into_iter().fold(false, |changed, (label, parts)| set_mirror(items, &label, &parts) | changed)
}

/// Tells the mirrors of the repetition with a label what is known of the labels of a round.
fn set_mirror(form: &mut Form, label: &str, parts: &[Part]) -> bool {
    match &mut form.kind {
        Kind::Bytes(_) | Kind::Class(_) | Kind::Variable(..) | Kind::Derived(_) => false,
        Kind::Seq(items) | Kind::Choice(items, _) => {
            items.iter_mut().fold(false, |changed, item| set_mirror(item, label, parts) | changed)
        }
        Kind::Times(_, _, Some(mirror)) if mirror.label == label => {
            let has_changed = mirror.parts != parts;
            mirror.parts = parts.to_vec();
            has_changed
        }
        Kind::Repeat(item, ..) | Kind::Times(item, ..) | Kind::Scope(item, _) => set_mirror(item, label, parts),
        Kind::Label(_, item) | Kind::Naming(_, item) | Kind::Coded(_, item) => set_mirror(item, label, parts),
    }
}

/// Calls `visit` with each label of the items of a sequence and of groups in it, and the part that has it.
fn each_label(items: &Form, visit: &mut dyn FnMut(&str, &Form)) {
    match &items.kind {
        Kind::Seq(items) => items.iter().for_each(|item| each_label_of(item, visit)),
        Kind::Scope(items, _) => each_label(items, visit),
        _ => each_label_of(items, visit),
    }
}

fn each_label_of(item: &Form, visit: &mut dyn FnMut(&str, &Form)) {
    match &item.kind {
        Kind::Label(label, part) => {
            visit(label, part);
            each_label_of(part, visit);
        }
        Kind::Coded(_, part) => each_label_of(part, visit),
        Kind::Seq(_) => each_label(item, visit),
        Kind::Scope(items, _) if matches!(items.kind, Kind::Seq(_)) => each_label(items, visit),
        _ => {}
    }
}
