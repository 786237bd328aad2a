//! Specialises the parser's rules to the lexer's modes at their beginning and end.
//!
//! The stack of modes is tracked relative to the beginning of a rule. An instance of a rule is identified by the
//! topmost modes at its beginning, as many as it needs, and by the modes in their place at its end. So pairs of pushes
//! and pops are exact at any depth. The end of the text is a mode without tokens.

use std::collections::VecDeque;

use super::flat::{Flat, FlatGrammar, FlatRule, Lexeme};
use super::states::Automata;
use super::{Expectation, Lexer, Outcome, SeparatorPolicy, TokenGrammar};
use crate::ordered::{Map, Set};

/// Modes. The topmost is the last.
pub(super) type Stack = Vec<u16>;

/// The place below the first mode.
pub(super) const BOTTOM: u16 = u16::MAX;
/// The mode after the end of the text.
pub(super) const ENDED: u16 = u16::MAX - 1;
/// The greatest height of the modes that a rule leaves on the stack.
pub(super) const MAX_STACK: usize = 8;
/// The most different stacks that a rule may end in.
pub(super) const MAX_OUTS: usize = 24;
/// The most instances of rules.
const MAX_INSTANCES: usize = 1 << 17;
/// The most visits to expressions.
pub(super) const MAX_WORK: usize = 1 << 23;
/// The greatest product of expressions and lexemes. For each expression, the lexemes to its left are kept as a set.
const MAX_SIZE: usize = 1 << 31;

/// Returns the grammar over lexemes. `None` if it would be too large.
pub(super) fn flatten(grammar: &TokenGrammar, automata: &Automata, separators: SeparatorPolicy) -> Option<FlatGrammar> {
    let lexer = &grammar.lexer;
    let mut by_mode: Vec<ModeRules> = (0..lexer.modes).map(|_| ModeRules::default()).collect();
    for (number, rule) in lexer.rules.iter().enumerate().filter(|&(number, _)| automata.is_possible(number)) {
        let mode = &mut by_mode[rule.mode];
        match rule.outcome {
            Outcome::Token(token) => mode.tokens.entry(token).or_default().push(number),
            Outcome::More => mode.more.push(number),
            // If a rule is taken to match more than it does, no text is certain to be its match.
            Outcome::Hidden if automata.is_widened(number) => {}
            Outcome::Hidden if !rule.moves.is_empty() => mode.hidden.push(number),
            Outcome::Hidden if mode.line_break.is_none() => {
                let breaks =
                    |text: &str| !text.is_empty() && text.chars().all(|character| matches!(character, '\r' | '\n'));
                mode.line_break = automata.shortest(number).is_some_and(|text| breaks(&text)).then_some(number);
            }
            Outcome::Hidden => {}
        }
    }
    let mut flattening = Flattening {
        grammar,
        lexer,
        by_mode,
        entries: Map::new(),
        pending: VecDeque::new(),
        current: None,
        underflow: false,
        building: false,
        flat: FlatGrammar::default(),
        lexemes: Map::new(),
        instances: Map::new(),
        to_build: VecDeque::new(),
        complements: Map::new(),
        variants: vec![0; grammar.rules.len()],
        expectations: Vec::new(),
        ignores_line_breaks: separators == SeparatorPolicy::Any,
        work: 0,
    };
    flattening.solve()?;
    flattening.build()
}

/// The lexer rules of a mode, by the use of their matches.
#[derive(Debug, Default)]
pub(super) struct ModeRules {
    pub(super) tokens: Map<usize, Vec<usize>>,
    pub(super) more: Vec<usize>,
    /// Hidden rules that change the mode.
    pub(super) hidden: Vec<usize>,
    /// A hidden rule whose shortest match is a line break, and that does not change the mode.
    pub(super) line_break: Option<usize>,
}

/// A rule and the topmost modes at its beginning.
pub(super) type Key = (usize, Stack);

/// The facts of a rule that begins with certain modes.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// The possible modes in their place at its end.
    pub(super) outs: Set<Stack>,
    /// Whether it needs to know more modes.
    pub(super) underflow: bool,
    /// The entries that depend on this one.
    users: Set<Key>,
    queued: bool,
}

/// The possible ends of an expression, each with an expression that leads there.
pub(super) type Paths = Map<Stack, Flat>;

pub(super) struct Flattening<'a> {
    grammar: &'a TokenGrammar,
    pub(super) lexer: &'a Lexer,
    pub(super) by_mode: Vec<ModeRules>,
    entries: Map<Key, Entry>,
    pending: VecDeque<Key>,
    /// The entry that is being solved.
    current: Option<Key>,
    pub(super) underflow: bool,
    pub(super) building: bool,
    pub(super) flat: FlatGrammar,
    pub(super) lexemes: Map<Lexeme, usize>,
    instances: Map<(Key, Stack), usize>,
    to_build: VecDeque<Key>,
    /// Large choices of all tokens except some. They become rules of the result during its construction.
    pub(super) complements: Map<(Set<usize>, Stack, bool), Paths>,
    /// The number of variants of each rule that have a name.
    variants: Vec<usize>,
    /// The expectations, by the numbers of their marks.
    pub(super) expectations: Vec<Expectation>,
    pub(super) ignores_line_breaks: bool,
    /// The number of visits to expressions so far.
    pub(super) work: usize,
}

impl<'a> Flattening<'a> {
    fn start_key(&self) -> Key {
        (self.grammar.start, vec![BOTTOM, 0])
    }

    /// Finds the ends of each rule: a least fixpoint.
    fn solve(&mut self) -> Option<()> {
        self.entry(&self.start_key());
        while let Some(key) = self.pending.pop_front() {
            if self.entries.len() > MAX_INSTANCES || self.work > MAX_WORK {
                return None;
            }
            if let Some(entry) = self.entries.get_mut(&key) {
                entry.queued = false;
            }
            self.underflow = false;
            self.current = Some(key.clone());
            let grammar = self.grammar;
            let outs: Vec<Stack> = self.paths(&grammar.rules[key.0].body, &key.1, key.0).into_keys().collect();
            let underflow = self.underflow;
            let Some(entry) = self.entries.get_mut(&key) else { continue };
            let (count, was) = (entry.outs.len(), entry.underflow);
            entry.underflow |= underflow;
            for out in outs {
                if entry.outs.len() < MAX_OUTS {
                    entry.outs.insert(out);
                }
            }
            if entry.outs.len() > count || entry.underflow != was {
                for user in entry.users.clone() {
                    self.queue(&user);
                }
            }
        }
        Some(())
    }

    fn queue(&mut self, key: &Key) {
        if let Some(entry) = self.entries.get_mut(key)
            && !std::mem::replace(&mut entry.queued, true)
        {
            self.pending.push_back(key.clone());
        }
    }

    /// Returns the facts of `key` known so far.
    pub(super) fn entry(&mut self, key: &Key) -> &Entry {
        if !self.entries.contains_key(key) {
            self.entries.insert(key.clone(), Entry::default());
            self.queue(key);
        }
        let current = if self.building { None } else { self.current.clone() };
        let entry = self.entries.entry(key.clone()).or_default();
        entry.users.extend(current);
        entry
    }

    fn build(mut self) -> Option<FlatGrammar> {
        self.building = true;
        let start = self.start_key();
        let outs: Vec<Stack> = self.entries[&start].outs.iter().filter(|out| self.may_end(out)).cloned().collect();
        let name = self.grammar.rules[start.0].name.clone();
        let span = self.grammar.rules[start.0].span;
        self.flat.rules.push(FlatRule { name, span, body: Flat::NEVER });
        self.variants[start.0] = 1;
        if let [out] = outs.as_slice() {
            self.instances.insert((start.clone(), out.clone()), 0);
            self.to_build.push_back(start);
        } else {
            let body = outs.iter().map(|out| Flat::Rule(self.instance(&start, out))).collect();
            self.flat.rules[0].body = Flat::Choice(body);
        }
        let mut built = Set::new();
        while let Some(key) = self.to_build.pop_front() {
            if !built.insert(key.clone()) {
                continue;
            }
            if self.flat.rules.len() > MAX_INSTANCES || self.work > MAX_WORK {
                return None;
            }
            let grammar = self.grammar;
            let mut paths = self.paths(&grammar.rules[key.0].body, &key.1, key.0);
            for out in self.entries[&key].outs.clone() {
                let body = paths.remove(&out).unwrap_or(Flat::NEVER);
                let id = self.instance(&key, &out);
                self.flat.rules[id].body = body;
            }
        }
        let nodes: usize = self.flat.rules.iter().map(|rule| 1 + rule.body.size()).sum();
        let size = nodes.saturating_mul(self.flat.lexemes.len());
        (self.work <= MAX_WORK && size <= MAX_SIZE).then_some(self.flat)
    }

    /// Returns the rule of the result for `key` ending in `out`.
    pub(super) fn instance(&mut self, key: &Key, out: &Stack) -> usize {
        if let Some(&id) = self.instances.get(&(key.clone(), out.clone())) {
            return id;
        }
        let id = self.new_rule(key.0);
        self.instances.insert((key.clone(), out.clone()), id);
        self.to_build.push_back(key.clone());
        id
    }

    /// Returns a new rule of the result, named after a rule of the grammar.
    pub(super) fn new_rule(&mut self, origin: usize) -> usize {
        let rule = &self.grammar.rules[origin];
        self.variants[origin] += 1;
        let name = match self.variants[origin] {
            1 => rule.name.clone(),
            number => format!("{}.{number}", rule.name),
        };
        self.flat.rules.push(FlatRule { name, span: rule.span, body: Flat::NEVER });
        self.flat.rules.len() - 1
    }

    pub(super) fn lexeme(&mut self, rule: usize, via: Vec<usize>) -> Flat {
        if !self.building {
            return Flat::EMPTY;
        }
        let lexemes = &mut self.flat.lexemes;
        Flat::Lexeme(*self.lexemes.entry(Lexeme { rule, via }).or_insert_with_key(|lexeme| {
            lexemes.push(lexeme.clone());
            lexemes.len() - 1
        }))
    }
}
