//! Grammars with significant layout: rules over characters in which three tokens have no text of their own, but
//! determine the indentation of the next line. [`lay_out`] turns them into rules without such tokens.
//!
//! A rule becomes one variant for each level of indentation with which it is reached, up to a bound. A line break is
//! written at its token, the blanks of the next line before the first text on it. So the result derives the texts in
//! which a lexer with a stack of indentations finds these tokens: an `INDENT` only at the beginning of a line and once,
//! a `DEDENT` only for an open level, and nothing but a `DEDENT` after an empty line, since lexers skip those. At the
//! last level nothing indents.
//!
//! Only rules that reach one of the tokens have variants (`facts`). `paths` follows the states through their bodies.
//! Rules without such tokens are used as they are. Gaps before tokens are left out at the beginning of a line
//! (`heads`).

use std::collections::VecDeque;

use super::patterns::Names;
use crate::ast::{Alternative, Expr, Grammar, Name, Rule};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::ordered::{Map, Set};
use facts::Facts;
use paths::{Line, Paths, Place};

mod facts;
mod heads;
mod lexer;
mod options;
mod paths;
#[cfg(test)]
mod tests;

pub(super) use lexer::with_rules;
pub use options::{Indent, Indentation, TokenName, TokenNames, Unit};

/// The name of the rule for the end of a line. No grammar can spell these names.
pub const NEWLINE: &str = "\0newline";
/// The name of the rule for the beginning of a block.
pub const INDENT: &str = "\0indent";
/// The name of the rule for the end of a block.
pub const DEDENT: &str = "\0dedent";

/// The greatest number of variants of rules.
const MAX_VARIANTS: usize = 1 << 15;
/// The most visits to expressions.
const MAX_WORK: usize = 1 << 23;

/// The parts of a grammar's lines besides its rules.
#[derive(Debug)]
pub struct Layout {
    /// The indentation of blocks.
    pub indentation: Indentation,
    /// The end of a line.
    pub line_end: Expr,
    /// The text that may stand on a first line without text of its own.
    pub blank_line: Expr,
    /// Rules that stand before tokens and are not part of them. They are left out at the beginning of a line.
    pub gaps: Set<String>,
}

/// Returns the grammar without references to [`NEWLINE`], [`INDENT`] and [`DEDENT`]. Its first rule is the start rule.
/// Uses fewer levels than asked for if there would be too many rules. A diagnostic says how the layout was read.
/// `None` if nothing can be derived, which is not reported, or if there are too many rules with one level.
pub fn lay_out(grammar: &Grammar, start: &Name, layout: &Layout, diagnostics: &mut Diagnostics) -> Option<Grammar> {
    let asked = layout.indentation.levels.clamp(1, Indentation::MAX_LEVELS);
    let mut levels = asked;
    if let Some(facts) = Facts::of(grammar, &layout.gaps) {
        while levels > 0 {
            match written(grammar, &facts, start, layout, levels) {
                Written::Grammar { grammar, indents } => {
                    report(start, layout, asked, levels, indents, diagnostics);
                    return Some(*grammar);
                }
                Written::Nothing => return None,
                Written::TooMuch => levels /= 2,
            }
        }
    }
    let message = "the rules are too many to be written for each level of indentation";
    let help = "leave out rules that the start rule does not need, or choose another one with `--start`";
    diagnostics.push(Diagnostic::error(Code::TooLarge, start.span, message).help(help));
    None
}

/// Returns the grammar with this many levels. If lines end with a token, an `INDENT` follows such a token. If that is
/// never so, it brings its own end of the line.
fn written(grammar: &Grammar, facts: &Facts<'_>, start: &Name, layout: &Layout, levels: u8) -> Written {
    let first = Writer::new(grammar, facts, layout, levels, false).write(&start.text);
    if matches!(first, Written::Grammar { indents: true, .. } | Written::TooMuch) {
        return first;
    }
    match Writer::new(grammar, facts, layout, levels, true).write(&start.text) {
        Written::Nothing => first,
        second => second,
    }
}

/// Reports how the layout tokens were read.
fn report(start: &Name, layout: &Layout, asked: u8, levels: u8, indents: bool, diagnostics: &mut Diagnostics) {
    let blocks = if indents {
        let plural = if levels == 1 { "" } else { "s" };
        format!("blocks are indented by {} a level, up to {levels} level{plural}", layout.indentation.unit)
    } else {
        "but no block can be derived".to_string()
    };
    let message = format!("tokens for indentation are read as the layout of lines: {blocks}");
    let help = if levels < asked {
        "the rules would be too many for more levels; deeper blocks are left out"
    } else {
        "deeper blocks are left out; `--indent` says how many levels there are, how they are indented, and which tokens are meant"
    };
    diagnostics.push(Diagnostic::warning(Code::Indentation, start.span, message).help(help));
}

/// The result for a number of levels.
enum Written {
    Grammar {
        grammar: Box<Grammar>,
        /// Whether anything is indented.
        indents: bool,
    },
    Nothing,
    TooMuch,
}

/// A rule and the state it begins in.
type Key = (usize, Place);

/// The facts of a rule that begins in a certain state.
#[derive(Default)]
struct Entry {
    /// The states that it can end in.
    outs: Set<Place>,
    users: Set<Key>,
    queued: bool,
}

struct Writer<'g> {
    grammar: &'g Grammar,
    facts: &'g Facts<'g>,
    layout: &'g Layout,
    levels: u8,
    brings_line_end: bool,
    entries: Map<Key, Entry>,
    pending: VecDeque<Key>,
    current: Option<Key>,
    building: bool,
    work: usize,
    names: Names,
    rules: Vec<Rule>,
    /// The names of the variants that are referred to, and the variants without a body.
    variants: Map<(Key, Place), String>,
    to_build: VecDeque<(Key, Place)>,
    heads: Map<usize, Option<String>>,
    heads_to_build: Vec<(usize, String)>,
    indents: bool,
}

impl<'g> Writer<'g> {
    fn new(
        grammar: &'g Grammar,
        facts: &'g Facts<'g>,
        layout: &'g Layout,
        levels: u8,
        brings_line_end: bool,
    ) -> Writer<'g> {
        let mut names = Names::default();
        for (rule, _) in grammar.rules.iter().zip(&facts.rules).filter(|(_, facts)| !facts.reaches) {
            names.fresh(&rule.name.text);
        }
        Writer {
            grammar,
            facts,
            layout,
            levels,
            brings_line_end,
            entries: Map::new(),
            pending: VecDeque::new(),
            current: None,
            building: false,
            work: 0,
            names,
            rules: Vec::new(),
            variants: Map::new(),
            to_build: VecDeque::new(),
            heads: Map::new(),
            heads_to_build: Vec::new(),
            indents: false,
        }
    }

    fn is_too_much(&self) -> bool {
        self.work > MAX_WORK || self.entries.len() > MAX_VARIANTS
    }

    fn write(mut self, start: &str) -> Written {
        let Some(start) = self.facts.number(start) else { return Written::Nothing };
        let key = (start, Place { level: 0, line: Line::First });
        self.entry(key);
        while let Some(key) = self.pending.pop_front() {
            self.solve(key);
            if self.is_too_much() {
                return Written::TooMuch;
            }
        }
        let outs: Vec<Place> = self.entries[&key].outs.iter().copied().filter(|out| out.level == 0).collect();
        if outs.is_empty() {
            return Written::Nothing;
        }
        self.building = true;
        self.current = None;
        let name = &self.grammar.rules[start].name;
        if let [out] = outs.as_slice() {
            self.variant(key, *out);
        } else {
            let text = self.names.fresh(&name.text);
            let options: Paths = outs.iter().map(|&out| (out, self.reference_to(key, out, name.span))).collect();
            let alternatives = options.into_values().map(|expr| Alternative { expr, weight: None }).collect();
            let body = Expr::choice(alternatives, name.span);
            self.rules.push(Rule::new(Name { text, span: name.span }, body));
        }
        self.build();
        if self.is_too_much() {
            return Written::TooMuch;
        }
        let indents = self.indents;
        Written::Grammar { grammar: Box::new(self.finish()), indents }
    }

    /// Finds the states in which a rule can end: a step of a least fixpoint.
    fn solve(&mut self, key: Key) {
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.queued = false;
        }
        self.current = Some(key);
        let grammar = self.grammar;
        let outs: Vec<Place> = self.paths(&grammar.rules[key.0].body, key.1).into_keys().collect();
        let Some(entry) = self.entries.get_mut(&key) else { return };
        let count = entry.outs.len();
        entry.outs.extend(outs);
        if entry.outs.len() > count {
            for user in entry.users.clone() {
                self.queue(user);
            }
        }
    }

    fn queue(&mut self, key: Key) {
        if let Some(entry) = self.entries.get_mut(&key)
            && !std::mem::replace(&mut entry.queued, true)
        {
            self.pending.push_back(key);
        }
    }

    /// Returns the end states of `key` that are known so far. A new key is queued.
    fn entry(&mut self, key: Key) -> Vec<Place> {
        let current = self.current;
        let is_new = !self.entries.contains_key(&key);
        let entry = self.entries.entry(key).or_default();
        entry.users.extend(current);
        let outs = entry.outs.iter().copied().collect();
        if is_new {
            self.queue(key);
        }
        outs
    }

    /// Returns the name of the variant of a rule that begins and ends in these states.
    fn variant(&mut self, key: Key, out: Place) -> String {
        if let Some(name) = self.variants.get(&(key, out)) {
            return name.clone();
        }
        let base = &self.grammar.rules[key.0].name.text;
        let name = match key.1.level {
            0 => self.names.fresh(base),
            level => self.names.fresh(&format!("{base}.{level}")),
        };
        self.variants.insert((key, out), name.clone());
        self.to_build.push_back((key, out));
        name
    }

    fn reference_to(&mut self, key: Key, out: Place, span: Span) -> Expr {
        Expr::rule(self.variant(key, out), span)
    }

    /// Writes the bodies of all variants. The variants of a rule for different ends are written at once, from the same
    /// paths.
    fn build(&mut self) {
        let grammar = self.grammar;
        let mut bodies: Map<Key, Paths> = Map::new();
        while !self.is_too_much() {
            if let Some((rule, text)) = self.heads_to_build.pop() {
                let rule = &grammar.rules[rule];
                let name = Name { text, span: rule.name.span };
                if let Some(body) = self.head(&rule.body) {
                    self.rules.push(Rule::new(name, body));
                }
                continue;
            }
            let Some((key, out)) = self.to_build.pop_front() else { return };
            let rule = &grammar.rules[key.0];
            let text = self.variants[&(key, out)].clone();
            let paths = bodies.entry(key).or_insert_with(|| self.paths(&rule.body, key.1));
            if let Some(body) = paths.remove(&out) {
                self.rules.push(Rule::new(Name { text, span: rule.name.span }, body));
            }
        }
    }

    /// Returns the needed variants, and the needed rules of the grammar that are used as they are.
    fn finish(self) -> Grammar {
        let own = &self.grammar.rules;
        let start = self.grammar.start.as_ref().and_then(|start| self.facts.number(&start.text)).unwrap_or(0);
        let before = reached(own.get(start).map(|rule| rule.name.text.as_str()), own, &[]);
        let after = reached(self.rules.first().map(|rule| rule.name.text.as_str()), &self.rules, own);
        let kept = own.iter().zip(&self.facts.rules).filter(|(rule, facts)| {
            // Rules that were not needed before are reported elsewhere.
            let name = rule.name.text.as_str();
            !facts.reaches && (after.contains(name) || !before.contains(name))
        });
        let rules = self.rules.iter().filter(|rule| after.contains(rule.name.text.as_str()));
        let rules: Vec<Rule> = rules.chain(kept.map(|(rule, _)| rule)).cloned().collect();
        let start = rules.first().map(|rule| rule.name.clone());
        let class_rules = self.grammar.class_rules.clone();
        Grammar { start, rules, class_rules, ..Grammar::default() }
    }
}

/// Returns the names that `start` needs, directly or through rules of the two lists.
fn reached<'g>(start: Option<&'g str>, rules: &'g [Rule], others: &'g [Rule]) -> Set<&'g str> {
    let index: Map<&str, &Expr> =
        others.iter().chain(rules).map(|rule| (rule.name.text.as_str(), &rule.body)).collect();
    let mut reached: Set<&str> = start.into_iter().collect();
    let mut pending: Vec<&Expr> = start.and_then(|start| index.get(start)).copied().into_iter().collect();
    while let Some(expr) = pending.pop() {
        if let Some(name) = expr.as_rule()
            && reached.insert(name)
            && let Some(&body) = index.get(name)
        {
            pending.push(body);
        }
        pending.extend(expr.children());
    }
    reached
}
