//! Translates the rules of the lexer: their patterns and commands.

use super::conditions::Condition;
use super::folding::folded;
use super::syntax::{Alternative, Command, Element, ElementKind, Rule};
use crate::charset::{CharSet, Unit};
use crate::diagnostics::{Code, Diagnostic, Diagnostics, Span};
use crate::ordered::Map;
use crate::tokens::{Fragment, LexerRule, Move, Outcome, Pattern};

/// The greatest number of ranges of all sets together.
const MAX_RANGES: usize = 1 << 21;
/// The most changes of the mode that one match makes.
const MAX_MOVES: usize = 64;
/// The cost of folding a set, in ranges.
const FOLDING: usize = 128;

/// Returns all characters.
fn everything() -> CharSet {
    CharSet::new(Unit::Char, [(0, 0x10_FFFF)])
}

/// Returns a literal as a pattern.
pub(super) fn literal(text: &str, case_insensitive: bool) -> Pattern {
    if !case_insensitive {
        return Pattern::text(text);
    }
    let either = |character| {
        let set = folded(&CharSet::single(Unit::Char, u32::from(character)));
        Pattern::Set { set, listed: true }
    };
    Pattern::Seq(text.chars().map(either).collect())
}

/// The modes and tokens: their numbers by their names.
pub(super) struct Names<'n> {
    pub(super) modes: &'n Map<String, usize>,
    pub(super) tokens: &'n Map<String, usize>,
}

/// Translates the rules of a lexer.
pub(super) struct Lexical<'r, 'd> {
    rules: Map<&'r str, &'r Rule>,
    pub(super) fragments: Vec<Fragment>,
    /// The place of each rule that others refer to.
    places: Map<&'r str, usize>,
    pending: Vec<&'r Rule>,
    /// The sets of rules that are used after `~`. `None` for rules that are not sets, or that are being translated.
    sets: Map<&'r str, Option<CharSet>>,
    /// The number of ranges so far, against [`MAX_RANGES`].
    ranges: usize,
    /// The folded sets, by the ranges of the original sets.
    folded: Map<Vec<(u32, u32)>, CharSet>,
    pub(super) diagnostics: &'d mut Diagnostics,
}

impl<'r, 'd> Lexical<'r, 'd> {
    pub(super) fn new(rules: &'r [Rule], diagnostics: &'d mut Diagnostics) -> Lexical<'r, 'd> {
        Lexical {
            rules: rules.iter().map(|rule| (rule.name.text.as_str(), rule)).collect(),
            fragments: Vec::new(),
            places: Map::new(),
            pending: Vec::new(),
            sets: Map::new(),
            ranges: 0,
            folded: Map::new(),
            diagnostics,
        }
    }

    /// Adds the lexer rules that a rule becomes: one for each run of alternatives with the same commands.
    pub(super) fn rule(&mut self, rule: &'r Rule, names: &Names<'_>, rules: &mut Vec<LexerRule>) {
        let fold = rule.case_insensitive == Some(true);
        let mode = rule.mode.as_ref().map_or(0, |mode| names.modes.get(&mode.text).copied().unwrap_or(0));
        let mut first = 0;
        while first < rule.alternatives.len() {
            let commands = &rule.alternatives[first].commands;
            let count = rule.alternatives[first..].iter().take_while(|other| same(&other.commands, commands)).count();
            let pattern = self.alternatives(&rule.alternatives[first..first + count], fold);
            first += count;
            let token = names.tokens.get(&rule.name.text).copied().unwrap_or(0);
            let (outcome, moves) = self.commands(commands, token, names);
            let (name, span) = (rule.name.text.clone(), rule.name.span);
            rules.push(LexerRule { name, span, mode, pattern, outcome, moves });
        }
    }

    fn commands(&mut self, commands: &[Command], token: usize, names: &Names<'_>) -> (Outcome, Vec<Move>) {
        let mut outcome = Outcome::Token(token);
        let mut moves = Vec::new();
        for Command { name, argument } in commands {
            if moves.len() > MAX_MOVES {
                let message = format!("a match changes the mode more than {MAX_MOVES} times");
                let help = "write fewer commands such as `pushMode` and `popMode`";
                self.diagnostics.push(Diagnostic::error(Code::TooLarge, name.span, message).help(help));
                break;
            }
            let argument = argument.as_ref().map_or("", |argument| argument.text.as_str());
            let mut mode = || {
                let known = names.modes.get(argument).copied();
                if known.is_none() {
                    let message = format!("the mode `{argument}` is not defined");
                    let help = "a mode begins with `mode Name;` in the lexer";
                    self.diagnostics.push(Diagnostic::error(Code::UndefinedRule, name.span, message).help(help));
                }
                known.unwrap_or(0)
            };
            match command_name(&name.text).as_str() {
                "skip" => outcome = Outcome::Hidden,
                "more" => outcome = Outcome::More,
                "channel" if !matches!(argument, "0" | "DEFAULT_TOKEN_CHANNEL") => outcome = Outcome::Hidden,
                "channel" => {}
                "type" if outcome != Outcome::Hidden => {
                    if let Some(&token) = names.tokens.get(argument) {
                        outcome = Outcome::Token(token);
                    }
                }
                "type" => {}
                "mode" => moves.push(Move::Switch(mode())),
                "pushMode" => moves.push(Move::Push(mode())),
                "popMode" => moves.push(Move::Pop),
                other => {
                    let message = format!("unknown lexer command `{other}`");
                    let help = "known are skip, more, channel, type, mode, pushMode, popMode";
                    self.diagnostics.push(Diagnostic::error(Code::UnknownDirective, name.span, message).help(help));
                }
            }
        }
        (outcome, moves)
    }

    /// Translates the rules that others refer to, until none are left.
    pub(super) fn finish(mut self) -> Vec<Fragment> {
        while let Some(rule) = self.pending.pop() {
            let pattern = self.alternatives(&rule.alternatives, rule.case_insensitive == Some(true));
            let place = self.places[rule.name.text.as_str()];
            self.fragments[place].pattern = pattern;
        }
        self.fragments
    }

    fn alternatives(&mut self, alternatives: &'r [Alternative], fold: bool) -> Pattern {
        let mut options: Vec<Pattern> =
            alternatives.iter().map(|alternative| self.sequence(&alternative.elements, fold)).collect();
        if options.len() == 1 { options.remove(0) } else { Pattern::Choice(options) }
    }

    fn sequence(&mut self, elements: &'r [Element], fold: bool) -> Pattern {
        let mut items: Vec<Pattern> = Vec::with_capacity(elements.len());
        for element in elements {
            if let ElementKind::Predicate(Condition::Previous(allowed)) = &element.kind
                && let Some(Pattern::Set { set, .. }) = items.last_mut()
            {
                *set = set.intersection(allowed);
                continue;
            }
            items.push(self.element(element, fold));
        }
        if items.len() == 1 { items.remove(0) } else { Pattern::Seq(items) }
    }

    fn element(&mut self, element: &'r Element, fold: bool) -> Pattern {
        match &element.kind {
            ElementKind::Literal(text) => literal(text, fold),
            ElementKind::Set(set) => {
                let set = if fold { self.folded(set) } else { set.clone() };
                Pattern::Set { set: self.counted(set, element.span), listed: true }
            }
            // The text does not end between other characters.
            ElementKind::Name(name) if name == "EOF" => Pattern::Choice(Vec::new()),
            ElementKind::Name(name) => self.reference(name, element.span),
            ElementKind::Wildcard => Pattern::Set { set: everything(), listed: false },
            ElementKind::Not(inner) => {
                let set = self.set(inner, fold, 0).unwrap_or_else(|| {
                    let message = "`~` is not followed by a set of characters";
                    let help =
                        "`~` is followed by a set, a literal of one character, or several of them in parentheses";
                    self.diagnostics.push(Diagnostic::error(Code::ClassDifference, inner.span, message).help(help));
                    CharSet::empty(Unit::Char)
                });
                Pattern::Set { set: self.counted(everything().difference(&set), element.span), listed: false }
            }
            ElementKind::Predicate(Condition::Never) => Pattern::Choice(Vec::new()),
            ElementKind::Predicate(_) => Pattern::Seq(Vec::new()),
            ElementKind::Block(alternatives) => {
                if let Some(command) = alternatives.iter().find_map(|alternative| alternative.commands.first()) {
                    let message = format!("the command `{}` stands inside a block", command.name.text);
                    let help = "commands stand at the end of an alternative of the rule itself";
                    self.diagnostics.push(Diagnostic::error(Code::Syntax, command.name.span, message).help(help));
                }
                self.alternatives(alternatives, fold)
            }
            ElementKind::Repeat { item, min, max, lazy } => {
                let item = Box::new(self.element(item, fold));
                Pattern::Repeat { item, min: *min, max: *max, lazy: *lazy }
            }
        }
    }

    fn reference(&mut self, name: &str, span: Span) -> Pattern {
        let Some((&name, &rule)) = self.rules.get_key_value(name) else {
            let message = format!("the lexer rule `{}` is not defined", name.chars().take(80).collect::<String>());
            let help = "rules of the lexer refer to other rules of the lexer, whose names begin with a capital";
            self.diagnostics.push(Diagnostic::error(Code::UndefinedRule, span, message).help(help));
            return Pattern::Choice(Vec::new());
        };
        let fragments = &mut self.fragments;
        let pending = &mut self.pending;
        let place = *self.places.entry(name).or_insert_with(|| {
            let pattern = Pattern::Choice(Vec::new());
            fragments.push(Fragment { name: name.to_string(), span: rule.name.span, pattern });
            pending.push(rule);
            fragments.len() - 1
        });
        Pattern::Fragment(place)
    }

    /// Returns the set and counts its ranges. If all sets together are too large, reports that and returns the empty
    /// set.
    fn counted(&mut self, set: CharSet, span: Span) -> CharSet {
        let is_told = self.ranges > MAX_RANGES;
        self.ranges += set.ranges().len();
        if self.ranges <= MAX_RANGES {
            return set;
        }
        if !is_told {
            let message = format!("the sets of the lexer have more than {MAX_RANGES} ranges");
            let help = "write a large set once, as a fragment that others refer to";
            self.diagnostics.push(Diagnostic::error(Code::TooLarge, span, message).help(help));
        }
        CharSet::empty(Unit::Char)
    }

    /// Returns the set of an element after `~`.
    fn set(&mut self, element: &'r Element, fold: bool, depth: u32) -> Option<CharSet> {
        const MAX_DEPTH: u32 = 200;
        let set = match &element.kind {
            ElementKind::Literal(text) => {
                let mut characters = text.chars();
                let only = characters.next().filter(|_| characters.next().is_none())?;
                CharSet::single(Unit::Char, u32::from(only))
            }
            ElementKind::Set(set) => set.clone(),
            ElementKind::Wildcard => everything(),
            ElementKind::Name(name) if depth < MAX_DEPTH => {
                let (&name, &rule) = self.rules.get_key_value(name.as_str())?;
                if let Some(known) = self.sets.get(name) {
                    return known.clone();
                }
                self.sets.insert(name, None);
                let set = self.union(&rule.alternatives, rule.case_insensitive == Some(true), depth + 1);
                self.sets.insert(name, set.clone());
                return set;
            }
            ElementKind::Block(alternatives) if depth < MAX_DEPTH => {
                return self.union(alternatives, fold, depth + 1);
            }
            ElementKind::Not(inner) if depth < MAX_DEPTH => {
                return Some(everything().difference(&self.set(inner, fold, depth + 1)?));
            }
            _ => return None,
        };
        Some(if fold { self.folded(&set) } else { set })
    }

    /// Returns the set in both cases.
    fn folded(&mut self, set: &CharSet) -> CharSet {
        if let Some(known) = self.folded.get(set.ranges()) {
            return known.clone();
        }
        // Folding a set costs more than copying it.
        self.ranges += FOLDING;
        let result = if self.ranges > MAX_RANGES { set.clone() } else { folded(set) };
        self.folded.insert(set.ranges().to_vec(), result.clone());
        result
    }

    fn union(&mut self, alternatives: &'r [Alternative], fold: bool, depth: u32) -> Option<CharSet> {
        let mut ranges = Vec::new();
        for alternative in alternatives {
            let [element] = alternative.elements.as_slice() else { return None };
            ranges.extend(self.set(element, fold, depth)?.ranges());
            if ranges.len() > MAX_RANGES {
                return None;
            }
        }
        Some(CharSet::new(Unit::Char, ranges))
    }
}

/// Returns the name of a command as it is usually written. ANTLR also takes `Channel` for `channel`.
fn command_name(name: &str) -> String {
    let mut characters = name.chars();
    let first = characters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(characters).collect()
}

fn same(a: &[Command], b: &[Command]) -> bool {
    let text = |command: &Command| {
        (command.name.text.clone(), command.argument.as_ref().map(|argument| argument.text.clone()))
    };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| text(a) == text(b))
}
