//! Files of weights: JSON, with the names of the rules, the numbers of the places, and a fingerprint of the grammar.

use serde::{Deserialize, Serialize};

use crate::ast::{Alternative, Expr, ExprKind, Grammar, Name, Rounds};
use crate::charset::CharSet;
use crate::derived::{Derived, Value};
use crate::fnv::Fnv;
use crate::ordered::Map;

use super::weights::{Group, Law, MOST_RANGES, MOST_STEP, Range, Weights, each_class, each_place, ranges};

/// The version of the file format.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Marks the file as a file of weights.
    gramjet_weights: u32,
    /// The grammar's name, for people.
    grammar: String,
    /// The requested shape, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shape: Option<String>,
    /// Whether each reference to a rule has a rule of its own.
    #[serde(default, skip_serializing_if = "is_false")]
    contexts: bool,
    /// With contexts: the start rule, if it is not the grammar's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start: Option<String>,
    /// Whether alternatives of weight 0 in the grammar can have weights.
    #[serde(default, skip_serializing_if = "is_false")]
    keeps_zero_weights: bool,
    fingerprint: String,
    weights: Vec<Entry>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// Demands of a file of weights on the grammar that its weights are for.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
pub(crate) struct Demands {
    /// Each reference to a rule has a rule of its own.
    #[serde(default)]
    pub contexts: bool,
    /// With contexts: the start rule, if it is not the grammar's own. The rules depend on it.
    #[serde(default)]
    pub start: Option<String>,
    /// Alternatives of weight 0 belong to the language.
    #[serde(default)]
    pub keeps_zero_weights: bool,
}

/// Returns the demands of a file. A file that cannot be read has none; [`read`] reports it.
pub(crate) fn demands(text: &str) -> Demands {
    serde_json::from_str(text).unwrap_or_default()
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    rule: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    class: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alternatives: Option<Vec<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rounds: Option<Vec<(u32, u32)>>,
    /// The step of each range of rounds, if they are not all 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<u32>>,
    /// The weight and the ranges of each group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    members: Option<Members>,
}

/// The weight and the ranges of each group of members.
type Members = Vec<(u32, Vec<(u32, u32)>)>;

/// The reason why a file of weights cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// Text that is not a file of weights.
    #[error("{0}")]
    Invalid(String),
    /// File that belongs to another grammar, or to another version of this one.
    #[error("it was made for another grammar: its fingerprint is {found}, that of this grammar is {expected}")]
    Stale {
        /// The fingerprint in the file.
        found: String,
        /// The fingerprint of the grammar.
        expected: String,
    },
}

/// Returns the text of a file with these weights.
pub(crate) fn write(grammar: &Grammar, name: &str, shape: Option<&str>, weights: &Weights, demands: Demands) -> String {
    let entries = weights.iter().map(|(rule, place, law)| {
        let (alternatives, rounds, steps) = match law {
            Law::Choice(weights) => (Some(weights.clone()), None, None),
            Law::Rounds { starts, steps, weights } => {
                let steps = steps.iter().any(|&step| step > 1).then(|| steps.clone());
                (None, Some(starts.iter().copied().zip(weights.iter().copied()).collect()), steps)
            }
        };
        let rule = grammar.rules[rule].name.text.clone();
        Entry { rule, place: Some(place), alternatives, rounds, steps, ..Entry::default() }
    });
    let classes = weights.classes().map(|(rule, number, groups)| {
        let members = groups.iter().map(|group| (group.weight, group.ranges.clone())).collect();
        let rule = grammar.rules[rule].name.text.clone();
        Entry { rule, class: Some(number), members: Some(members), ..Entry::default() }
    });
    let file = File {
        gramjet_weights: VERSION,
        grammar: name.to_string(),
        shape: shape.map(str::to_string),
        contexts: demands.contexts,
        start: demands.start,
        keeps_zero_weights: demands.keeps_zero_weights,
        fingerprint: fingerprint(grammar),
        weights: entries.chain(classes).collect(),
    };
    lines(&file)
}

/// Returns the text of a file with one line per entry: readable, and short in diffs.
fn lines(file: &File) -> String {
    // Writing strings and numbers cannot fail.
    let json = |value: &serde_json::Value| value.to_string();
    let mut text =
        format!("{{\n  \"gramjet_weights\": {},\n  \"grammar\": {},\n", VERSION, json(&file.grammar.as_str().into()));
    if let Some(shape) = &file.shape {
        text += &format!("  \"shape\": {},\n", json(&shape.as_str().into()));
    }
    for (key, value) in [("contexts", file.contexts), ("keeps_zero_weights", file.keeps_zero_weights)] {
        if value {
            text += &format!("  \"{key}\": true,\n");
        }
    }
    if let Some(start) = &file.start {
        text += &format!("  \"start\": {},\n", json(&start.as_str().into()));
    }
    text += &format!("  \"fingerprint\": {},\n  \"weights\": [\n", json(&file.fingerprint.as_str().into()));
    for (number, entry) in file.weights.iter().enumerate() {
        let comma = if number + 1 < file.weights.len() { "," } else { "" };
        let entry = serde_json::to_string(entry).unwrap_or_default();
        text += &format!("    {entry}{comma}\n");
    }
    text + "  ]\n}\n"
}

/// Returns the weights in a file's text, and the shape that they were computed for, if the file names it.
///
/// # Errors
///
/// If it is not a file of weights, or is one for another grammar.
pub fn read(grammar: &Grammar, text: &str) -> Result<(Weights, Option<String>), FileError> {
    let invalid = |message: String| FileError::Invalid(message);
    let file: File =
        serde_json::from_str(text).map_err(|error| invalid(format!("it is no file of weights: {error}")))?;
    if file.gramjet_weights != VERSION {
        return Err(invalid(format!("its version is {}, but only {VERSION} is known", file.gramjet_weights)));
    }
    let expected = fingerprint(grammar);
    if file.fingerprint != expected {
        return Err(FileError::Stale { found: file.fingerprint, expected });
    }
    let places = Places::new(grammar);
    let mut weights = Weights::default();
    let count = file.weights.len();
    for (number, entry) in file.weights.into_iter().enumerate() {
        places.add(entry, file.keeps_zero_weights, &mut weights).map_err(|why| {
            let line = line_of(text, number, count).map_or(String::new(), |line| format!("line {line}: "));
            FileError::Invalid(format!("{line}{why}"))
        })?;
    }
    Ok((weights, file.shape))
}

/// Returns the line of an entry, if each entry has a line of its own.
fn line_of(text: &str, number: usize, count: usize) -> Option<usize> {
    let is_entry = |line: &str| serde_json::from_str::<Entry>(line.trim().trim_end_matches(',')).is_ok();
    let lines: Vec<usize> =
        text.lines().enumerate().filter(|(_, line)| is_entry(line)).map(|(line, _)| line + 1).collect();
    lines.get(number).copied().filter(|_| lines.len() == count)
}

/// Parts of a grammar that can have weights.
struct Places<'g> {
    rules: Map<&'g str, usize>,
    places: Map<(usize, u32), &'g Expr>,
    classes: Map<(usize, u32), &'g CharSet>,
}

impl<'g> Places<'g> {
    fn new(grammar: &'g Grammar) -> Places<'g> {
        let names = grammar.rules.iter().enumerate().rev().map(|(number, rule)| (rule.name.text.as_str(), number));
        let mut found = Places { rules: names.collect(), places: Map::new(), classes: Map::new() };
        for (number, rule) in grammar.rules.iter().enumerate() {
            each_place(&rule.body, &mut 0, &mut |place, expr| {
                found.places.insert((number, place), expr);
            });
            each_class(&rule.body, &mut 0, &mut |class, set| {
                found.classes.insert((number, class), set);
            });
        }
        found
    }

    /// Adds the weights of an entry. `drops_dead` says whether weights of alternatives that do not exist are left out.
    fn add(&self, entry: Entry, drops_dead: bool, weights: &mut Weights) -> Result<(), String> {
        let Entry { rule, place, class, alternatives, rounds, steps, members } = entry;
        let number = *self.rules.get(rule.as_str()).ok_or_else(|| format!("rule `{rule}`: there is no such rule"))?;
        match (place, class, members) {
            (None, Some(class), Some(members)) => {
                let at = |why: String| format!("rule `{rule}`, class {class}: {why}");
                let set = self.classes.get(&(number, class)).ok_or_else(|| at("there is no such class".to_string()))?;
                if weights.class(number, class).is_some() {
                    return Err(at("this class has weights already".to_string()));
                }
                weights.set_class(number, class, groups(set, &members).map_err(at)?);
            }
            (Some(place), None, None) => {
                let at = |why: String| format!("rule `{rule}`, place {place}: {why}");
                let expr = self.places.get(&(number, place)).ok_or_else(|| at("there is no such place".to_string()))?;
                if weights.get(number, place).is_some() {
                    return Err(at("this place has weights already".to_string()));
                }
                if let Some(law) = law(expr, alternatives, (rounds, steps), drops_dead).map_err(at)? {
                    weights.set(number, place, law);
                }
            }
            _ => return Err(format!("rule `{rule}`: an entry has a place, or a class and its members")),
        }
        Ok(())
    }
}

/// The first number of further rounds of each range, and its weight.
type Ranges = Vec<(u32, u32)>;

/// Returns the weights of a place. `None` if none are left.
fn law(
    expr: &Expr,
    alternatives: Option<Vec<u32>>,
    rounds: (Option<Ranges>, Option<Vec<u32>>),
    drops_dead: bool,
) -> Result<Option<Law>, String> {
    match (expr.as_choice(), expr.as_repeat(), alternatives, rounds) {
        (Some(all), _, Some(mut weights), (None, None)) => {
            if drops_dead && drop_dead(all, &mut weights) {
                return Ok(None);
            }
            choice(all, weights).map(Some)
        }
        (_, Some(Rounds { min, max, .. }), None, (Some(rounds), steps)) => {
            repetition(max.map(|max| max.saturating_sub(min)), rounds, steps).map(Some)
        }
        (Some(_), ..) => Err("it is a choice and needs `alternatives` alone".to_string()),
        (None, ..) => Err("it is a repetition and needs `rounds`, with or without `steps`, alone".to_string()),
    }
}

/// Takes the weights away from alternatives that the user drops. Whether only these had some.
fn drop_dead(all: &[Alternative], weights: &mut [u32]) -> bool {
    let mut is_dropped = false;
    for (_, weight) in all.iter().zip(weights.iter_mut()).filter(|(alternative, _)| !alternative.is_live()) {
        is_dropped |= std::mem::take(weight) > 0;
    }
    is_dropped && weights.iter().all(|&weight| weight == 0)
}

fn choice(all: &[Alternative], weights: Vec<u32>) -> Result<Law, String> {
    if weights.len() != all.len() {
        return Err(format!("{} weights for {} alternatives", weights.len(), all.len()));
    }
    match all.iter().zip(&weights).position(|(alternative, &weight)| weight > 0 && !alternative.is_live()) {
        Some(at) => Err(format!("alternative {at} has weight 0 in the grammar, which switches it off")),
        None if weights.iter().all(|&weight| weight == 0) => Err("all weights are 0".to_string()),
        None => Ok(Law::Choice(weights)),
    }
}

/// Returns the groups of a class. Each member is in one of them.
fn groups(set: &CharSet, members: &[(u32, Vec<(u32, u32)>)]) -> Result<Vec<Group>, String> {
    let mut rest = set.clone();
    for (_, ranges) in members {
        if ranges.is_empty() || ranges.iter().any(|(low, high)| low > high) {
            return Err("each group has at least one range, from its first to its last member".to_string());
        }
        let part = CharSet::new(set.unit(), ranges.iter().copied());
        let left = rest.difference(&part);
        if left.len() + part.len() != rest.len() {
            return Err("each group has members of the class that no other group has".to_string());
        }
        rest = left;
    }
    if !rest.is_empty() {
        return Err("each member of the class must be in a group".to_string());
    }
    if members.iter().all(|&(weight, _)| weight == 0) {
        return Err("all weights are 0".to_string());
    }
    Ok(members.iter().map(|(weight, ranges)| Group { weight: *weight, ranges: ranges.clone() }).collect())
}

fn repetition(room: Option<u32>, rounds: Vec<(u32, u32)>, steps: Option<Vec<u32>>) -> Result<Law, String> {
    let (starts, weights): (Vec<u32>, Vec<u32>) = rounds.into_iter().unzip();
    let ascending = starts.first() == Some(&0) && starts.is_sorted_by(|a, b| a < b);
    if !ascending || starts.last().is_some_and(|&last| room.is_some_and(|room| last > room)) {
        return Err("the numbers of rounds must ascend from 0 within the bounds of the repetition".to_string());
    }
    if starts.len() < 2 || starts.len() > MOST_RANGES {
        return Err(format!("a repetition has 2 to {MOST_RANGES} ranges of rounds"));
    }
    if weights.iter().all(|&weight| weight == 0) {
        return Err("all weights are 0".to_string());
    }
    let steps = steps.unwrap_or_else(|| vec![1; starts.len()]);
    let is_good = |range: Range| {
        let len = range.last.map(|last| last - range.start + 1);
        range.step.is_power_of_two() && range.step <= MOST_STEP && len.is_none_or(|len| len.is_multiple_of(range.step))
    };
    if steps.len() != starts.len() || !ranges(&starts, &steps, room).all(is_good) {
        return Err(format!(
            "there is a step for each range of rounds: a power of two up to {MOST_STEP}, of which the length of the range is a multiple"
        ));
    }
    Ok(Law::Rounds { starts, steps, weights })
}

/// Returns a number that changes with the rules, their alternatives and their contents. It does not change with weights
/// above 0, places in the text, comments and directives. 64 bits of FNV-1a in hexadecimal.
pub(crate) fn fingerprint(grammar: &Grammar) -> String {
    format!("{:016x}", fingerprint_number(grammar))
}

/// Returns the [`fingerprint`] of a grammar as a number.
pub(crate) fn fingerprint_number(grammar: &Grammar) -> u64 {
    let mut hash = Hash(Fnv::new());
    for rule in &grammar.rules {
        hash.text(rule.name.text.as_bytes());
        hash.expr(&rule.body);
    }
    hash.0.finish()
}

struct Hash(Fnv);

impl Hash {
    fn byte(&mut self, byte: u8) {
        self.0.byte(byte);
    }

    fn number(&mut self, number: u32) {
        number.to_le_bytes().into_iter().for_each(|byte| self.byte(byte));
    }

    fn text(&mut self, text: &[u8]) {
        self.number(text.len() as u32);
        text.iter().for_each(|&byte| self.byte(byte));
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Bytes(bytes) => {
                self.byte(0);
                self.text(bytes);
            }
            ExprKind::Class(set) => {
                self.byte(1);
                self.number(set.unit().max());
                self.number(set.ranges().len() as u32);
                for &(low, high) in set.ranges() {
                    self.number(low);
                    self.number(high);
                }
            }
            ExprKind::Rule(name) => {
                self.byte(2);
                self.text(name.as_bytes());
            }
            ExprKind::Seq(items) => {
                self.byte(3);
                self.number(items.len() as u32);
                items.iter().for_each(|item| self.expr(item));
            }
            ExprKind::Choice(alternatives) => {
                self.byte(4);
                self.number(alternatives.len() as u32);
                for alternative in alternatives {
                    self.byte(u8::from(alternative.is_generated()));
                    self.expr(&alternative.expr);
                }
            }
            ExprKind::Repeat { item, min, max } => {
                self.byte(5);
                self.number(*min);
                self.number(max.map_or(u32::MAX, |max| max.min(u32::MAX - 1)));
                self.expr(item);
            }
            ExprKind::Times { item, rounds, is_mirror } => {
                self.byte(if *is_mirror { 14 } else { 6 });
                self.value(rounds);
                self.expr(item);
            }
            ExprKind::Label { label, item } => {
                self.byte(7);
                self.text(label.text.as_bytes());
                self.expr(item);
            }
            ExprKind::Derived(Derived::Copy(label)) => {
                self.byte(8);
                self.text(label.text.as_bytes());
            }
            ExprKind::Derived(Derived::Number(value, form)) => {
                self.byte(9);
                self.text(form.name().as_bytes());
                self.number(form.width_of_digits().map_or(0, u32::from));
                self.value(value);
            }
            ExprKind::Coded { coding, item } => {
                self.byte(11);
                self.text(coding.name().as_bytes());
                self.expr(item);
            }
            ExprKind::Derived(Derived::Bits(bits)) => {
                self.byte(12);
                self.text(bits.word().as_bytes());
                self.number(bits.fields.len() as u32);
                for (width, value) in &bits.fields {
                    self.byte(*width);
                    self.value(value);
                }
            }
            ExprKind::Derived(Derived::Padding(label, padding)) => {
                self.byte(13);
                self.text(label.text.as_bytes());
                self.byte(padding.is_exact.into());
                self.number(padding.to);
                self.byte(padding.filler);
            }
            ExprKind::Call { arguments, item } => {
                self.byte(15);
                self.number(arguments.len() as u32);
                arguments.iter().for_each(|label| self.text(label.text.as_bytes()));
                self.expr(item);
            }
            ExprKind::Naming { naming, item } => {
                self.byte(10);
                self.text(naming.word().as_bytes());
                self.number(naming.kinds().len() as u32);
                naming.kinds().iter().for_each(|kind| self.text(kind.text.as_bytes()));
                self.expr(item);
            }
        }
    }

    fn value(&mut self, value: &Value<Name>) {
        value.plus.to_le_bytes().into_iter().for_each(|byte| self.byte(byte));
        if value.divisor != 1 {
            self.number(value.divisor);
        }
        if let Some(blank) = &value.blank {
            self.byte(blank.byte);
            self.text(blank.part.as_ref().map_or("", |part| &part.text).as_bytes());
        }
        self.number(value.terms.len() as u32);
        for term in &value.terms {
            self.number(term.times);
            self.text(term.measure.name().as_bytes());
            self.text(term.label.text.as_bytes());
        }
    }
}
