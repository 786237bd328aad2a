//! Files of weights: JSON, with the names of the rules, the numbers of the places, and a fingerprint of the grammar.

use serde::{Deserialize, Serialize};

use crate::analysis::fingerprint::Fnv;
use crate::ast::{Expr, ExprKind, Grammar};
use crate::charset::CharSet;
use crate::ordered::Map;

use super::weights::{Group, Law, MOST_RANGES, Weights, each_class, each_place};

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
    /// Whether alternatives of weight 0 in the grammar can have weights.
    #[serde(default, skip_serializing_if = "is_false")]
    keeps_zero_weights: bool,
    fingerprint: String,
    weights: Vec<Entry>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// What a file of weights says about the grammar that its weights are for.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
pub(crate) struct Demands {
    /// Each reference to a rule has a rule of its own.
    #[serde(default)]
    pub contexts: bool,
    /// Alternatives of weight 0 belong to the language.
    #[serde(default)]
    pub keeps_zero_weights: bool,
}

/// The demands of a file. A file that cannot be read has none; [`read`] reports it.
pub(crate) fn demands(text: &str) -> Demands {
    serde_json::from_str(text).unwrap_or_default()
}

#[derive(Serialize, Deserialize)]
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
    /// The weight and the ranges of each group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    members: Option<Members>,
}

/// The weight and the ranges of each group of members.
type Members = Vec<(u32, Vec<(u32, u32)>)>;

/// The reason why a file of weights cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// It is not a file of weights.
    #[error("{0}")]
    Invalid(String),
    /// It belongs to another grammar, or to another version of this one.
    #[error("it was made for another grammar: its fingerprint is {found}, that of this grammar is {expected}")]
    Stale {
        /// The fingerprint in the file.
        found: String,
        /// The fingerprint of the grammar.
        expected: String,
    },
}

/// The text of a file with these weights.
pub(crate) fn write(grammar: &Grammar, name: &str, shape: Option<&str>, weights: &Weights, demands: Demands) -> String {
    let entries = weights.iter().map(|(rule, place, law)| {
        let (alternatives, rounds) = match law {
            Law::Choice(weights) => (Some(weights.clone()), None),
            Law::Rounds { starts, weights } => {
                (None, Some(starts.iter().copied().zip(weights.iter().copied()).collect()))
            }
        };
        let rule = grammar.rules[rule].name.text.clone();
        Entry { rule, place: Some(place), class: None, alternatives, rounds, members: None }
    });
    let classes = weights.classes().map(|(rule, number, groups)| {
        let members = groups.iter().map(|group| (group.weight, group.ranges.clone())).collect();
        let rule = grammar.rules[rule].name.text.clone();
        Entry { rule, place: None, class: Some(number), alternatives: None, rounds: None, members: Some(members) }
    });
    let file = File {
        gramjet_weights: VERSION,
        grammar: name.to_string(),
        shape: shape.map(str::to_string),
        contexts: demands.contexts,
        keeps_zero_weights: demands.keeps_zero_weights,
        fingerprint: fingerprint(grammar),
        weights: entries.chain(classes).collect(),
    };
    lines(&file)
}

/// One line per entry: readable, and short in diffs.
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
    text += &format!("  \"fingerprint\": {},\n  \"weights\": [\n", json(&file.fingerprint.as_str().into()));
    for (number, entry) in file.weights.iter().enumerate() {
        let comma = if number + 1 < file.weights.len() { "," } else { "" };
        let entry = serde_json::to_string(entry).unwrap_or_default();
        text += &format!("    {entry}{comma}\n");
    }
    text + "  ]\n}\n"
}

/// The weights in a file's text, and the shape that they were computed for, if the file names it.
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
    let index: Map<&str, usize> =
        grammar.rules.iter().enumerate().rev().map(|(number, rule)| (rule.name.text.as_str(), number)).collect();
    let mut kinds: Map<(usize, u32), &Expr> = Map::new();
    let mut sets: Map<(usize, u32), &CharSet> = Map::new();
    for (number, rule) in grammar.rules.iter().enumerate() {
        each_place(&rule.body, &mut 0, &mut |place, expr| {
            kinds.insert((number, place), expr);
        });
        each_class(&rule.body, &mut 0, &mut |class, set| {
            sets.insert((number, class), set);
        });
    }
    let mut weights = Weights::default();
    for Entry { rule, place, class, alternatives, rounds, members } in file.weights {
        let number =
            *index.get(rule.as_str()).ok_or_else(|| invalid(format!("rule `{rule}`: there is no such rule")))?;
        if let (Some(class), Some(members), None) = (class, &members, place) {
            let at = format!("rule `{rule}`, class {class}");
            let set = sets.get(&(number, class)).ok_or_else(|| invalid(format!("{at}: there is no such class")))?;
            let groups = groups(set, members).map_err(|why| invalid(format!("{at}: {why}")))?;
            weights.set_class(number, class, groups);
            continue;
        }
        let place = match (place, class, members) {
            (Some(place), None, None) => place,
            _ => return Err(invalid(format!("rule `{rule}`: an entry has a place, or a class and its members"))),
        };
        let at = format!("rule `{rule}`, place {place}");
        let expr = kinds.get(&(number, place)).ok_or_else(|| invalid(format!("{at}: there is no such place")))?;
        if weights.get(number, place).is_some() {
            return Err(invalid(format!("{at}: this place has weights already")));
        }
        let law = match (&expr.kind, alternatives, rounds) {
            (ExprKind::Choice(all), Some(weights), None) => choice(all, weights).map_err(|why| format!("{at}: {why}")),
            (ExprKind::Repeat { min, max, .. }, None, Some(rounds)) => {
                repetition(max.map(|max| max.saturating_sub(*min)), rounds).map_err(|why| format!("{at}: {why}"))
            }
            (ExprKind::Choice(_), ..) => Err(format!("{at}: it is a choice and needs `alternatives` alone")),
            _ => Err(format!("{at}: it is a repetition and needs `rounds` alone")),
        };
        weights.set(number, place, law.map_err(invalid)?);
    }
    Ok((weights, file.shape))
}

fn choice(all: &[crate::ast::Alternative], weights: Vec<u32>) -> Result<Law, String> {
    if weights.len() != all.len() {
        return Err(format!("{} weights for {} alternatives", weights.len(), all.len()));
    }
    match all.iter().zip(&weights).position(|(alternative, &weight)| weight > 0 && !alternative.is_live()) {
        Some(at) => Err(format!("alternative {at} has weight 0 in the grammar, which switches it off")),
        None if weights.iter().all(|&weight| weight == 0) => Err("all weights are 0".to_string()),
        None => Ok(Law::Choice(weights)),
    }
}

/// The groups of a class. Each member is in one of them.
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

fn repetition(room: Option<u32>, rounds: Vec<(u32, u32)>) -> Result<Law, String> {
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
    Ok(Law::Rounds { starts, weights })
}

/// A number that changes with the rules, their alternatives and their contents. It does not change with weights above
/// 0, places in the text, comments and directives. 64 bits of FNV-1a in hexadecimal.
pub(crate) fn fingerprint(grammar: &Grammar) -> String {
    format!("{:016x}", fingerprint_number(grammar))
}

/// The same as a number.
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
        }
    }
}
