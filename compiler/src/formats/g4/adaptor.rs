//! The superclass of the lexers of ANTLR's own grammars. It makes two tokens of one, by the case of the first letter, and follows which kind
//! of rule a text is in, since a bracket begins a set of characters in the rules of a lexer and arguments elsewhere. What it follows has few
//! states: each mode of the lexer becomes one mode for each state that it can be in.

use std::collections::{BTreeMap, BTreeSet};

use super::escapes;
use super::helpers::Special;
use super::meaning;
use super::sources::Sources;
use crate::charset::{CharSet, Unit};
use crate::tokens::{Fragment, Lexer, LexerRule, Move, Outcome, Pattern};

/// The name of the class.
pub(super) const SUPERCLASS: &str = "LexerAdaptor";

/// The mode that a bracket begins in the rules of a lexer.
const SET_MODE: &str = "LexerCharSet";
/// Fragments within fragments that an identifier may begin with.
const MAX_NESTING: u32 = 32;

/// Where in a grammar a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Outside,
    LexerRule,
    ParserRule,
    /// In the braces after `options`, `tokens` or `channels`.
    Prequel,
    /// In the options of a rule of the lexer.
    RuleOptions,
    /// In a named action.
    Action,
}

impl State {
    /// The state after a token, given the token's name, unless it is an identifier.
    fn after(self, token: &str) -> State {
        match (self, token) {
            (State::Outside, "OPTIONS" | "TOKENS" | "CHANNELS") => State::Prequel,
            (State::Outside, "AT") => State::Action,
            (State::LexerRule, "OPTIONS") => State::RuleOptions,
            (State::Prequel, "RBRACE") => State::Outside,
            (State::RuleOptions, "RBRACE") => State::LexerRule,
            (State::Action, "ACTION" | "END_ACTION") => State::Outside,
            (State::RuleOptions, "SEMI") => State::RuleOptions,
            (_, "SEMI") => State::Outside,
            (state, _) => state,
        }
    }
}

/// The tokens that the class speaks of.
pub(super) struct Tokens {
    identifier: usize,
    token: usize,
    rule: usize,
    /// The rules that begin arguments.
    begins: BTreeSet<String>,
}

impl Tokens {
    /// The tokens, if the class is the lexer's superclass and a rule makes identifiers.
    pub(super) fn of(sources: &Sources, tokens: &mut meaning::Tokens<'_>) -> Option<Tokens> {
        const TOKEN: &str = "TOKEN_REF";
        const RULE: &str = "RULE_REF";
        const IDENTIFIER: &str = "ID";
        if sources.superclass.as_deref() != Some(SUPERCLASS) || !tokens.made.contains(IDENTIFIER) {
            return None;
        }
        let known = |name: &str| tokens.by_name.get(name).copied();
        let (identifier, token, rule) = (known(IDENTIFIER)?, known(TOKEN)?, known(RULE)?);
        tokens.made.extend([TOKEN, RULE]);
        let begins = sources.lexer.iter().filter(|rule| rule.has(Special::Argument));
        Some(Tokens { identifier, token, rule, begins: begins.map(|rule| rule.name.text.clone()).collect() })
    }

    /// Divides identifiers, and gives each mode its states. If modes can be left for several others, brackets in rules of a lexer begin
    /// nothing.
    pub(super) fn adapt(&self, lexer: &mut Lexer, modes: &BTreeMap<String, usize>) {
        let rules: Vec<(LexerRule, Option<State>)> =
            lexer.rules.iter().flat_map(|rule| self.divided(rule, lexer)).collect();
        let Some(below) = modes_below(&lexer.rules, lexer.modes) else {
            lexer.rules = rules.into_iter().map(|(rule, _)| rule).collect();
            return;
        };
        let mut copies = Copies { ids: BTreeMap::new(), order: Vec::new(), below };
        copies.id(0, State::Outside);
        lexer.rules.clear();
        let mut done = 0;
        while let Some(&(mode, state)) = copies.order.get(done) {
            for (rule, kind) in rules.iter().filter(|(rule, _)| rule.mode == mode) {
                let mut rule = rule.clone();
                if state == State::LexerRule
                    && self.begins.contains(&rule.name)
                    && let Some(&set) = modes.get(SET_MODE)
                {
                    rule.outcome = Outcome::More;
                    rule.moves = vec![Move::Push(set)];
                }
                let after = match (rule.outcome, kind) {
                    (Outcome::Hidden | Outcome::More, _) => state,
                    (_, &Some(kind)) => {
                        if state == State::Outside {
                            kind
                        } else {
                            state
                        }
                    }
                    (Outcome::Token(token), None) => state.after(&lexer.tokens[token]),
                };
                rule.moves = copies.moves(&rule.moves, (mode, state), after);
                rule.mode = done;
                lexer.rules.push(rule);
            }
            done += 1;
        }
        lexer.modes = done;
    }

    /// The rule, or for identifiers one for each kind, with that kind.
    fn divided(&self, rule: &LexerRule, lexer: &Lexer) -> Vec<(LexerRule, Option<State>)> {
        if rule.outcome != Outcome::Token(self.identifier) {
            return vec![(rule.clone(), None)];
        }
        let kind = |pattern, token: usize, kind| {
            let (name, outcome) = (lexer.tokens[token].clone(), Outcome::Token(token));
            (LexerRule { name, pattern, outcome, ..rule.clone() }, Some(kind))
        };
        let upper = beginning(&rule.pattern, &upper_case(), &lexer.fragments, 0);
        // What the first of the two matches is not the second one's.
        vec![kind(upper, self.token, State::LexerRule), kind(rule.pattern.clone(), self.rule, State::ParserRule)]
    }
}

/// The modes in the states that they can be in.
struct Copies {
    ids: BTreeMap<(usize, State), usize>,
    order: Vec<(usize, State)>,
    /// For each mode the one that it is left for.
    below: Vec<usize>,
}

impl Copies {
    fn id(&mut self, mode: usize, state: State) -> usize {
        *self.ids.entry((mode, state)).or_insert_with(|| {
            self.order.push((mode, state));
            self.order.len() - 1
        })
    }

    /// The moves of a rule between the copies. The state goes with the topmost mode; those below have none until they are the topmost.
    fn moves(&mut self, moves: &[Move], (mode, state): (usize, State), after: State) -> Vec<Move> {
        let mut result = Vec::new();
        let mut top = mode;
        // The modes that were pushed upon.
        let mut under = Vec::new();
        for step in moves {
            match *step {
                Move::Push(next) => {
                    result.push(Move::Switch(self.id(top, State::Outside)));
                    under.push(top);
                    top = next;
                    result.push(Move::Push(self.id(top, after)));
                }
                Move::Pop => {
                    top = under.pop().unwrap_or(self.below[top]);
                    result.extend([Move::Pop, Move::Switch(self.id(top, after))]);
                }
                Move::Switch(next) => {
                    top = next;
                    result.push(Move::Switch(self.id(top, after)));
                }
            }
        }
        if moves.is_empty() && after != state {
            result.push(Move::Switch(self.id(top, after)));
        }
        result
    }
}

/// For each mode the one that is below it, if that is always the same; 0 for the first, and for those that nothing begins.
fn modes_below(rules: &[LexerRule], modes: usize) -> Option<Vec<usize>> {
    let mut below: Vec<Option<usize>> = vec![None; modes];
    for rule in rules {
        let mut top = rule.mode;
        for step in &rule.moves {
            match *step {
                Move::Push(next) if *below[next].get_or_insert(top) == top => top = next,
                Move::Pop => break,
                Move::Push(_) | Move::Switch(_) => return None,
            }
        }
    }
    Some(below.into_iter().map(|mode| mode.unwrap_or(0)).collect())
}

/// The letters that Java takes for upper-case ones. Of a pair of surrogates it sees the first, which is none.
fn upper_case() -> CharSet {
    let (set, _) = escapes::set(r"[\p{Uppercase}]", &mut escapes::Properties::new());
    let all = set.unwrap_or_else(|_| CharSet::empty(Unit::Char));
    all.difference(&CharSet::new(Unit::Char, [(0x1_0000, 0x10_FFFF)]))
}

/// What matches the texts of a pattern that begin with one of a set.
fn beginning(pattern: &Pattern, set: &CharSet, fragments: &[Fragment], depth: u32) -> Pattern {
    if depth > MAX_NESTING {
        return Pattern::Choice(Vec::new());
    }
    let inner = |pattern: &Pattern| beginning(pattern, set, fragments, depth + 1);
    match pattern {
        Pattern::Set { set: all, listed } => {
            let others = all.difference(set);
            Pattern::Set { set: all.difference(&others), listed: *listed }
        }
        Pattern::Fragment(place) => fragments.get(*place).map_or(Pattern::Choice(Vec::new()), |it| inner(&it.pattern)),
        Pattern::Choice(options) => Pattern::Choice(options.iter().map(inner).collect()),
        Pattern::Seq(items) => {
            let mut options = Vec::new();
            for (place, item) in items.iter().enumerate() {
                let mut sequence = vec![inner(item)];
                sequence.extend_from_slice(&items[place + 1..]);
                options.push(Pattern::Seq(sequence));
                if !is_nullable(item, fragments, depth) {
                    break;
                }
            }
            Pattern::Choice(options)
        }
        Pattern::Repeat { max: Some(0), .. } => Pattern::Choice(Vec::new()),
        Pattern::Repeat { item, min, max, lazy } => {
            let (min, max) = (min.saturating_sub(1), max.map(|max| max - 1));
            Pattern::Seq(vec![inner(item), Pattern::Repeat { item: item.clone(), min, max, lazy: *lazy }])
        }
    }
}

fn is_nullable(pattern: &Pattern, fragments: &[Fragment], depth: u32) -> bool {
    let inner = |pattern: &Pattern| depth <= MAX_NESTING && is_nullable(pattern, fragments, depth + 1);
    match pattern {
        Pattern::Set { .. } => false,
        Pattern::Fragment(place) => fragments.get(*place).is_some_and(|fragment| inner(&fragment.pattern)),
        Pattern::Seq(items) => items.iter().all(inner),
        Pattern::Choice(options) => options.iter().any(inner),
        Pattern::Repeat { item, min, .. } => *min == 0 || inner(item),
    }
}
