//! The superclass of the lexers of ANTLR's own grammars. It makes two tokens of one, by the case of the first letter.
//! It also tracks which kind of rule the text is in, because a bracket begins a set of characters in the rules of a
//! lexer and arguments elsewhere. The tracked state has few values, so each mode of the lexer becomes one mode per
//! possible state. Nested brackets and braces end differently from the outermost ones, so their modes have a copy for
//! that too.

use super::conditions::{ADAPTOR, Special};
use super::escapes;
use super::sources::Sources;
use super::syntax::{Command, Rule};
use super::token_names::Tokens;
use crate::charset::{CharSet, Unit};
use crate::ordered::{Map, Set};
use crate::tokens::{Fragment, Lexer, LexerRule, MAX_MODES, Move, Outcome, Pattern};

/// The mode that a bracket in the rules of a lexer begins.
const SET_MODE: &str = "LexerCharSet";
/// The depth to which fragments are followed to find the first letter of an identifier.
const MAX_NESTING: u32 = 32;

/// The part of a grammar that the text is in.
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
    /// Returns the state after a token with this name that is not an identifier.
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

/// The changes that the class makes to a lexer.
pub(super) struct Adaptor {
    identifiers: Option<Identifiers>,
    /// The rules that begin arguments.
    begins: Set<String>,
    /// The rules that end a mode, with the token that they make where the mode is nested in itself.
    ends: Map<String, usize>,
}

/// The token that becomes two tokens.
struct Identifiers {
    all: usize,
    token: usize,
    rule: usize,
}

/// Returns the token of a bracket within brackets, where the grammar lacks the one that the class names: the token of
/// the rule of the same mode that begins the mode again.
fn nested_content<'s>(end: &Rule, rules: &'s [Rule]) -> Option<&'s str> {
    let mode = end.mode.as_ref()?;
    let commands = rules
        .iter()
        .filter(|rule| rule.mode.as_ref().is_some_and(|other| other.text == mode.text))
        .flat_map(|rule| &rule.alternatives)
        .map(|alternative| &alternative.commands);
    let argument = |commands: &'s [Command], name: &str| {
        let command = commands.iter().find(|command| command.name.text == name)?;
        command.argument.as_ref().map(|argument| argument.text.as_str())
    };
    let mut begins = commands.filter(|commands| argument(commands, "pushMode") == Some(mode.text.as_str()));
    begins.find_map(|commands| argument(commands, "type"))
}

impl Adaptor {
    /// Returns the changes that the class makes, if it is the superclass of the lexer.
    pub(super) fn of(sources: &Sources, tokens: &mut Tokens<'_>) -> Option<Adaptor> {
        const TOKEN: &str = "TOKEN_REF";
        const RULE: &str = "RULE_REF";
        const IDENTIFIER: &str = "ID";
        if sources.superclass.as_deref() != Some(ADAPTOR) {
            return None;
        }
        let known = |name: &str| tokens.by_name.get(name).copied();
        let identifiers = match (known(IDENTIFIER), known(TOKEN), known(RULE)) {
            (Some(all), Some(token), Some(rule)) if tokens.made.contains(IDENTIFIER) => {
                Some(Identifiers { all, token, rule })
            }
            _ => None,
        };
        let (mut begins, mut ends) = (Set::new(), Map::new());
        for rule in &sources.lexer {
            match rule.special() {
                Some(Special::Argument) => drop(begins.insert(rule.name.text.clone())),
                Some(Special::Nested(content)) => {
                    let content = known(content).or_else(|| known(nested_content(rule, &sources.lexer)?));
                    ends.extend(content.map(|content| (rule.name.text.clone(), content)));
                }
                None => {}
            }
        }
        if identifiers.is_some() {
            tokens.made.extend([TOKEN, RULE]);
        }
        Some(Adaptor { identifiers, begins, ends })
    }

    /// Divides identifiers, and gives each mode its states. If the lexer does not use its modes as the class expects,
    /// only identifiers are divided.
    pub(super) fn adapt(&self, lexer: &mut Lexer, modes: &Map<String, usize>) {
        if lexer.modes > MAX_MODES {
            // The expansion of tokens refuses this lexer.
            return;
        }
        let rules: Vec<(LexerRule, Option<State>)> =
            lexer.rules.iter().flat_map(|rule| self.divided(rule, lexer)).collect();
        let nests = |mode: usize| rules.iter().any(|(rule, _)| rule.mode == mode && self.ends.contains_key(&rule.name));
        let nesting: Set<usize> = (0..lexer.modes).filter(|&mode| nests(mode)).collect();
        let Some(below) = modes_below(&lexer.rules, lexer.modes, &nesting) else {
            lexer.rules = rules.into_iter().map(|(rule, _)| rule).collect();
            return;
        };
        let mut copies = Copies { ids: Map::new(), order: Vec::new(), below, nesting };
        copies.id(Place { mode: 0, state: State::Outside, is_nested: false });
        lexer.rules.clear();
        let mut done = 0;
        while let Some(&copy) = copies.order.get(done) {
            for (rule, kind) in rules.iter().filter(|(rule, _)| rule.mode == copy.mode) {
                let mut rule = rule.clone();
                if copy.state == State::LexerRule
                    && self.begins.contains(&rule.name)
                    && let Some(&set) = modes.get(SET_MODE)
                {
                    rule.outcome = Outcome::More;
                    rule.moves = vec![Move::Push(set)];
                }
                if copy.is_nested
                    && let Some(&content) = self.ends.get(&rule.name)
                {
                    rule.outcome = Outcome::Token(content);
                }
                let after = match (rule.outcome, kind) {
                    (Outcome::Hidden | Outcome::More, _) => copy.state,
                    (_, &Some(kind)) if copy.state == State::Outside => kind,
                    (_, Some(_)) => copy.state,
                    (Outcome::Token(token), None) => copy.state.after(&lexer.tokens[token]),
                };
                rule.moves = copies.moves(&rule.moves, copy, after);
                rule.mode = done;
                lexer.rules.push(rule);
            }
            done += 1;
        }
        lexer.modes = done;
    }

    /// Returns the rule itself, or for identifiers one rule for each kind, with the state after it.
    fn divided(&self, rule: &LexerRule, lexer: &Lexer) -> Vec<(LexerRule, Option<State>)> {
        let Some(Identifiers { all, token, rule: other }) = &self.identifiers else {
            return vec![(rule.clone(), None)];
        };
        if rule.outcome != Outcome::Token(*all) {
            return vec![(rule.clone(), None)];
        }
        let kind = |pattern, token: usize, kind| {
            let (name, outcome) = (lexer.tokens[token].clone(), Outcome::Token(token));
            (LexerRule { name, pattern, outcome, ..rule.clone() }, Some(kind))
        };
        let mut beginnings = Beginnings { set: &upper_case(), fragments: &lexer.fragments, left: MAX_PARTS };
        let Some(upper) = beginnings.of(&rule.pattern, 0) else {
            return vec![(rule.clone(), None)];
        };
        // The lexer takes the first rule for what both match, so the second pattern need not exclude it.
        vec![kind(upper, *token, State::LexerRule), kind(rule.pattern.clone(), *other, State::ParserRule)]
    }
}

/// A mode with a state. It is nested if it was pushed on the same mode.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    mode: usize,
    state: State,
    is_nested: bool,
}

/// The copies of the modes, one for each state that the mode can be in.
struct Copies {
    ids: Map<Place, usize>,
    order: Vec<Place>,
    /// For each mode, the mode below it, to which it returns. Not for nested modes.
    below: Vec<usize>,
    /// The modes that may be nested in themselves. The state does not change in them.
    nesting: Set<usize>,
}

impl Copies {
    fn id(&mut self, place: Place) -> usize {
        *self.ids.entry(place).or_insert_with(|| {
            self.order.push(place);
            self.order.len() - 1
        })
    }

    /// Returns the moves of a rule between the copies. Only the topmost mode has a state. A mode below gets one when it
    /// becomes the topmost.
    fn moves(&mut self, moves: &[Move], place: Place, after: State) -> Vec<Move> {
        let mut result = Vec::new();
        let mut top = place;
        // The modes on which this rule has pushed others.
        let mut under = Vec::new();
        for step in moves {
            match *step {
                Move::Push(next) => {
                    let is_nested = next == top.mode && self.nesting.contains(&next);
                    if !is_nested {
                        result.push(Move::Switch(self.id(Place { state: State::Outside, ..top })));
                    }
                    under.push(top);
                    top = Place { mode: next, state: after, is_nested };
                    result.push(Move::Push(self.id(top)));
                }
                Move::Pop if top.is_nested => result.push(Move::Pop),
                Move::Pop => {
                    let below = Place { mode: self.below[top.mode], state: after, is_nested: false };
                    top = Place { state: after, ..under.pop().unwrap_or(below) };
                    result.extend([Move::Pop, Move::Switch(self.id(top))]);
                }
                Move::Switch(next) => {
                    top = Place { mode: next, state: after, is_nested: false };
                    result.push(Move::Switch(self.id(top)));
                }
            }
        }
        if moves.is_empty() && after != place.state {
            result.push(Move::Switch(self.id(Place { state: after, ..top })));
        }
        result
    }
}

/// Returns for each mode the mode below it, if that is always the same. 0 for the first mode and for those that nothing
/// begins.
fn modes_below(rules: &[LexerRule], modes: usize, nesting: &Set<usize>) -> Option<Vec<usize>> {
    let mut below: Vec<Option<usize>> = vec![None; modes];
    for rule in rules {
        match *rule.moves.as_slice() {
            [] | [Move::Pop] => {}
            [Move::Push(next)] if next == rule.mode && nesting.contains(&next) => {}
            [Move::Push(next)]
                if !nesting.contains(&rule.mode) && *below[next].get_or_insert(rule.mode) == rule.mode => {}
            _ => return None,
        }
    }
    Some(below.into_iter().map(|mode| mode.unwrap_or(0)).collect())
}

/// Returns the letters that Java takes as upper-case. Java sees the first half of a surrogate pair, which is none.
fn upper_case() -> CharSet {
    let (set, _) = escapes::set(r"[\p{Uppercase}]", &mut escapes::Properties::new());
    let all = set.unwrap_or_else(|_| CharSet::empty(Unit::Char));
    all.difference(&CharSet::new(Unit::Char, [(0x1_0000, 0x10_FFFF)]))
}

/// Removes the texts that do not begin with a character of a set from a pattern.
struct Beginnings<'l> {
    set: &'l CharSet,
    fragments: &'l [Fragment],
    /// The number of parts that may still be examined or copied. Fragments that refer to others several times would
    /// take exponential time.
    left: u32,
}

/// The number of parts of patterns that are examined for an identifier.
const MAX_PARTS: u32 = 1 << 16;

impl Beginnings<'_> {
    /// Returns a pattern for the texts of `pattern` that begin with a character of the set. `None` if that takes too
    /// much work.
    fn of(&mut self, pattern: &Pattern, depth: u32) -> Option<Pattern> {
        if depth > MAX_NESTING {
            return None;
        }
        self.left = self.left.checked_sub(1)?;
        Some(match pattern {
            Pattern::Set { set: all, listed } => {
                let others = all.difference(self.set);
                Pattern::Set { set: all.difference(&others), listed: *listed }
            }
            Pattern::Fragment(place) => match self.fragments.get(*place) {
                Some(fragment) => self.of(&fragment.pattern, depth + 1)?,
                None => Pattern::Choice(Vec::new()),
            },
            Pattern::Choice(options) => {
                Pattern::Choice(options.iter().map(|option| self.of(option, depth + 1)).collect::<Option<_>>()?)
            }
            Pattern::Seq(items) => self.of_sequence(items, depth)?,
            Pattern::Repeat { max: Some(0), .. } => Pattern::Choice(Vec::new()),
            Pattern::Repeat { item, min, max, lazy } => {
                let (min, max) = (min.saturating_sub(1), max.map(|max| max - 1));
                let first = self.of(item, depth + 1)?;
                Pattern::Seq(vec![first, Pattern::Repeat { item: item.clone(), min, max, lazy: *lazy }])
            }
        })
    }

    fn of_sequence(&mut self, items: &[Pattern], depth: u32) -> Option<Pattern> {
        let mut options = Vec::new();
        for (place, item) in items.iter().enumerate() {
            let rest = &items[place + 1..];
            self.left = self.left.checked_sub(u32::try_from(rest.len()).ok()?)?;
            let mut sequence = vec![self.of(item, depth + 1)?];
            sequence.extend_from_slice(rest);
            options.push(Pattern::Seq(sequence));
            if !self.is_nullable(item, depth)? {
                break;
            }
        }
        Some(Pattern::Choice(options))
    }

    /// Returns `Some(true)` if a pattern matches the empty text. `None` if that takes too much work.
    fn is_nullable(&mut self, pattern: &Pattern, depth: u32) -> Option<bool> {
        if depth > MAX_NESTING {
            return None;
        }
        self.left = self.left.checked_sub(1)?;
        Some(match pattern {
            Pattern::Set { .. } => false,
            Pattern::Fragment(place) => match self.fragments.get(*place) {
                Some(fragment) => self.is_nullable(&fragment.pattern, depth + 1)?,
                None => false,
            },
            Pattern::Seq(items) => {
                for item in items {
                    if !self.is_nullable(item, depth + 1)? {
                        return Some(false);
                    }
                }
                true
            }
            Pattern::Choice(options) => {
                for option in options {
                    if self.is_nullable(option, depth + 1)? {
                        return Some(true);
                    }
                }
                false
            }
            Pattern::Repeat { item, min, .. } => *min == 0 || self.is_nullable(item, depth + 1)?,
        })
    }
}
