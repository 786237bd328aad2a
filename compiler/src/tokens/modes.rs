//! Specialises the parser's rules to the modes that the lexer is in where they begin and end.
//!
//! The stack of modes is followed relative to where a rule begins: an instance of a rule is known by the topmost modes
//! there, as many as it needs, and by what has become of them where it ends. So what pushes and pops in pairs is exact at
//! any depth. The end of the text is a mode in which there are no tokens.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::states::Automata;
use super::{Lexer, Move, Outcome, Syntax, TokenGrammar};
use crate::diagnostics::Span;

/// Modes, the topmost last.
type Stack = Vec<u16>;

/// Below the first mode.
const BOTTOM: u16 = u16::MAX;
/// Behind the end of the text.
const ENDED: u16 = u16::MAX - 1;
/// Modes that a rule leaves upon the stack are followed up to this height.
const MAX_STACK: usize = 8;
/// A rule ends in at most so many different stacks.
const MAX_OUTS: usize = 24;
/// At most so many hidden matches lead to a mode in which a token can stand.
const MAX_HIDDEN: usize = 3;
/// More instances of rules than this are not made.
const MAX_INSTANCES: usize = 1 << 17;
/// Expressions are looked at this often at most.
const MAX_WORK: usize = 1 << 23;
/// Expressions times lexemes: what may stand to the left of each is known as a set of lexemes.
const MAX_SIZE: usize = 1 << 31;

/// A terminal: a lexer rule, and the hidden rules before it that lead to its mode.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lexeme {
    pub(super) rule: usize,
    pub(super) via: Vec<usize>,
}

impl Lexeme {
    /// The lexer rule that it begins with.
    pub(super) fn entry(&self) -> usize {
        self.via.first().copied().unwrap_or(self.rule)
    }
}

/// A parser rule over lexemes.
#[derive(Clone, Debug)]
pub(super) struct FlatRule {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) body: Flat,
}

/// An expression over lexemes. An empty sequence derives nothing, an empty choice no text at all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Flat {
    Lexeme(usize),
    Rule(usize),
    Seq(Vec<Flat>),
    Choice(Vec<Flat>),
    Repeat { item: Box<Flat>, min: u32, max: Option<u32> },
}

impl Default for Flat {
    fn default() -> Flat {
        Flat::EMPTY
    }
}

impl Flat {
    pub(super) const EMPTY: Flat = Flat::Seq(Vec::new());
    pub(super) const NEVER: Flat = Flat::Choice(Vec::new());

    /// The number of nodes.
    pub(super) fn size(&self) -> usize {
        match self {
            Flat::Lexeme(_) | Flat::Rule(_) => 1,
            Flat::Seq(items) | Flat::Choice(items) => 1 + items.iter().map(Flat::size).sum::<usize>(),
            Flat::Repeat { item, .. } => 1 + item.size(),
        }
    }

    fn then(self, next: Flat) -> Flat {
        match (self, next) {
            (Flat::Seq(mut items), next) => match next {
                Flat::Seq(more) => {
                    items.extend(more);
                    Flat::Seq(items)
                }
                next => {
                    items.push(next);
                    Flat::Seq(items)
                }
            },
            (first, Flat::Seq(mut items)) => {
                items.insert(0, first);
                Flat::Seq(items)
            }
            (first, next) => Flat::Seq(vec![first, next]),
        }
    }
}

/// A parser over lexemes.
#[derive(Clone, Debug, Default)]
pub(super) struct FlatGrammar {
    pub(super) rules: Vec<FlatRule>,
    pub(super) start: usize,
    pub(super) lexemes: Vec<Lexeme>,
}

/// The grammar over lexemes; `None` if it would be too large.
pub(super) fn flatten(grammar: &TokenGrammar, automata: &Automata) -> Option<FlatGrammar> {
    let lexer = &grammar.lexer;
    let mut by_mode: Vec<ModeRules> = (0..lexer.modes).map(|_| ModeRules::default()).collect();
    for (number, rule) in lexer.rules.iter().enumerate().filter(|&(number, _)| automata.is_possible(number)) {
        let mode = &mut by_mode[rule.mode];
        match rule.outcome {
            Outcome::Token(token) => mode.tokens.entry(token).or_default().push(number),
            Outcome::More => mode.more.push(number),
            Outcome::Hidden if !rule.moves.is_empty() => mode.hidden.push(number),
            Outcome::Hidden => {}
        }
    }
    let mut flattening = Flattening {
        grammar,
        lexer,
        by_mode,
        entries: BTreeMap::new(),
        pending: VecDeque::new(),
        current: None,
        underflow: false,
        building: false,
        flat: FlatGrammar::default(),
        lexemes: BTreeMap::new(),
        instances: BTreeMap::new(),
        to_build: VecDeque::new(),
        complements: BTreeMap::new(),
        variants: vec![0; grammar.rules.len()],
        work: 0,
    };
    flattening.solve()?;
    flattening.build()
}

/// The lexer rules of a mode by what becomes of their matches.
#[derive(Debug, Default)]
struct ModeRules {
    tokens: BTreeMap<usize, Vec<usize>>,
    more: Vec<usize>,
    /// Hidden rules that change the mode.
    hidden: Vec<usize>,
}

/// A rule and the topmost modes where it begins.
type Key = (usize, Stack);

/// What is known of a rule that begins with certain modes.
#[derive(Debug, Default)]
struct Entry {
    /// What can have become of these modes where it ends.
    outs: BTreeSet<Stack>,
    /// Whether it needs to know more modes.
    underflow: bool,
    /// What depends on this.
    users: BTreeSet<Key>,
    queued: bool,
}

/// The ends of an expression and what derives them.
type Paths = BTreeMap<Stack, Flat>;

struct Flattening<'a> {
    grammar: &'a TokenGrammar,
    lexer: &'a Lexer,
    by_mode: Vec<ModeRules>,
    entries: BTreeMap<Key, Entry>,
    pending: VecDeque<Key>,
    /// What is being solved.
    current: Option<Key>,
    underflow: bool,
    building: bool,
    flat: FlatGrammar,
    lexemes: BTreeMap<Lexeme, usize>,
    instances: BTreeMap<(Key, Stack), usize>,
    to_build: VecDeque<Key>,
    /// Large choices of all tokens but some, which are rules of the result once that is built.
    complements: BTreeMap<(BTreeSet<usize>, Stack, bool), Paths>,
    /// How many variants of each rule have got a name.
    variants: Vec<usize>,
    /// How many expressions were looked at.
    work: usize,
}

impl<'a> Flattening<'a> {
    fn start_key(&self) -> Key {
        (self.grammar.start, vec![BOTTOM, 0])
    }

    /// Finds where each rule can end: a least fixpoint.
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

    /// What is known of `key` so far.
    fn entry(&mut self, key: &Key) -> &Entry {
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
        let outs: Vec<Stack> = self.entries[&start].outs.iter().cloned().collect();
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
        let mut built = BTreeSet::new();
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

    /// The rule of the result that derives what `key` does when it ends in `out`.
    fn instance(&mut self, key: &Key, out: &Stack) -> usize {
        if let Some(&id) = self.instances.get(&(key.clone(), out.clone())) {
            return id;
        }
        let id = self.new_rule(key.0);
        self.instances.insert((key.clone(), out.clone()), id);
        self.to_build.push_back(key.clone());
        id
    }

    /// A new rule of the result, named after a rule of the grammar.
    fn new_rule(&mut self, origin: usize) -> usize {
        let rule = &self.grammar.rules[origin];
        self.variants[origin] += 1;
        let name = match self.variants[origin] {
            1 => rule.name.clone(),
            number => format!("{}.{number}", rule.name),
        };
        self.flat.rules.push(FlatRule { name, span: rule.span, body: Flat::NEVER });
        self.flat.rules.len() - 1
    }

    fn lexeme(&mut self, rule: usize, via: Vec<usize>) -> Flat {
        if !self.building {
            return Flat::EMPTY;
        }
        let lexemes = &mut self.flat.lexemes;
        Flat::Lexeme(*self.lexemes.entry(Lexeme { rule, via }).or_insert_with_key(|lexeme| {
            lexemes.push(lexeme.clone());
            lexemes.len() - 1
        }))
    }

    /// Where `syntax` can end if it begins with `stack`, and what derives that. `origin` is the rule it stands in.
    fn paths(&mut self, syntax: &Syntax, stack: &Stack, origin: usize) -> Paths {
        self.work += 1;
        if self.work > MAX_WORK {
            return Paths::new();
        }
        match syntax {
            Syntax::Token(token) => self.token(*token, stack, origin),
            Syntax::NotTokens(tokens) => self.not_tokens(tokens, stack, origin),
            Syntax::End => {
                let mut ended = stack.clone();
                if ended.last() != Some(&ENDED) {
                    ended.push(ENDED);
                }
                Paths::from([(ended, Flat::EMPTY)])
            }
            Syntax::Rule(rule) => self.reference(*rule, stack),
            Syntax::Seq(items) => {
                let mut paths = Paths::from([(stack.clone(), Flat::EMPTY)]);
                for item in items {
                    paths = self.append(paths, origin, &mut |this, stack| this.paths(item, stack, origin));
                }
                paths
            }
            Syntax::Choice(items) => {
                let options = items.iter().map(|item| self.paths(item, stack, origin)).collect();
                choice(options)
            }
            Syntax::Repeat { item, min, max } => self.repeat(item, *min, *max, stack, origin),
        }
    }

    fn reference(&mut self, rule: usize, stack: &Stack) -> Paths {
        for depth in stack.len().min(1)..=stack.len() {
            let (below, top) = stack.split_at(stack.len() - depth);
            let key = (rule, top.to_vec());
            let entry = self.entry(&key);
            if entry.underflow {
                continue;
            }
            let outs: Vec<Stack> = entry.outs.iter().cloned().collect();
            let mut paths = Paths::new();
            for out in outs {
                let whole: Stack = below.iter().chain(&out).copied().collect();
                if whole.len() <= MAX_STACK + 2 {
                    let flat = if self.building { Flat::Rule(self.instance(&key, &out)) } else { Flat::EMPTY };
                    paths.insert(whole, flat);
                }
            }
            return paths;
        }
        self.underflow = true;
        Paths::new()
    }

    /// What `first` leads to when `next` follows.
    fn append(&mut self, first: Paths, origin: usize, next: &mut dyn FnMut(&mut Self, &Stack) -> Paths) -> Paths {
        const MAX_COPIED: usize = 8;
        let mut options = Vec::new();
        for (stack, mut before) in first {
            let behind = next(self, &stack);
            if behind.len() > 1 && before.size() > MAX_COPIED {
                before = self.named(before, origin);
            }
            let last = behind.len().saturating_sub(1);
            options.push(match self.building {
                true => behind
                    .into_iter()
                    .enumerate()
                    .map(|(number, (out, flat))| {
                        let before = if number == last { std::mem::take(&mut before) } else { before.clone() };
                        (out, before.then(flat))
                    })
                    .collect(),
                false => behind,
            });
        }
        choice(options)
    }

    fn named(&mut self, body: Flat, origin: usize) -> Flat {
        let id = self.new_rule(origin);
        self.flat.rules[id].body = body;
        Flat::Rule(id)
    }

    fn repeat(&mut self, item: &Syntax, min: u32, max: Option<u32>, stack: &Stack, origin: usize) -> Paths {
        let once = self.paths(item, stack, origin);
        if once.is_empty() {
            return if min == 0 { Paths::from([(stack.clone(), Flat::EMPTY)]) } else { once };
        }
        // The usual case: the modes are the same again after each round.
        if once.len() == 1
            && let Some(flat) = once.get(stack)
        {
            let item = Box::new(flat.clone());
            return Paths::from([(stack.clone(), Flat::Repeat { item, min, max })]);
        }
        let mut round = |this: &mut Self, stack: &Stack| this.paths(item, stack, origin);
        let mut paths = Paths::from([(stack.clone(), Flat::EMPTY)]);
        for _ in 0..min {
            if self.work > MAX_WORK {
                break;
            }
            paths = self.append(paths, origin, &mut round);
        }
        match max {
            None => self.append(paths, origin, &mut |this, stack| {
                this.star(stack, origin, &mut |this, stack| this.paths(item, stack, origin))
            }),
            Some(max) => {
                let mut options = vec![paths];
                for number in 0..max.saturating_sub(min).min(MAX_STACK as u32) {
                    let more = self.append(options[number as usize].clone(), origin, &mut round);
                    if more.is_empty() {
                        break;
                    }
                    options.push(more);
                }
                choice(options)
            }
        }
    }

    /// Any number of rounds.
    fn star(&mut self, stack: &Stack, origin: usize, round: &mut dyn FnMut(&mut Self, &Stack) -> Paths) -> Paths {
        let mut rounds: BTreeMap<Stack, Paths> = BTreeMap::new();
        let mut pending = vec![stack.clone()];
        while let Some(from) = pending.pop() {
            if rounds.len() >= MAX_OUTS || rounds.contains_key(&from) {
                continue;
            }
            let paths = round(self, &from);
            pending.extend(paths.keys().cloned());
            rounds.insert(from, paths);
        }
        if !self.building {
            return rounds.into_keys().map(|out| (out, Flat::EMPTY)).collect();
        }
        let mut made = BTreeMap::new();
        let outs: Vec<Stack> = rounds.keys().cloned().collect();
        outs.into_iter()
            .map(|out| {
                let flat = self.rounds_to(stack, &out, &rounds, origin, &mut made);
                (out, flat)
            })
            .collect()
    }

    /// Rounds that lead from `from` to `to`.
    fn rounds_to(
        &mut self,
        from: &Stack,
        to: &Stack,
        rounds: &BTreeMap<Stack, Paths>,
        origin: usize,
        made: &mut BTreeMap<(Stack, Stack), usize>,
    ) -> Flat {
        let Some(paths) = rounds.get(from) else { return Flat::NEVER };
        let staying = match paths.get(from) {
            Some(flat) => Flat::Repeat { item: Box::new(flat.clone()), min: 0, max: None },
            None => Flat::EMPTY,
        };
        let leaving: Vec<(&Stack, &Flat)> = paths.iter().filter(|(out, _)| *out != from).collect();
        if leaving.is_empty() {
            return if from == to { staying } else { Flat::NEVER };
        }
        if let Some(&id) = made.get(&(from.clone(), to.clone())) {
            return Flat::Rule(id);
        }
        let id = self.new_rule(origin);
        made.insert((from.clone(), to.clone()), id);
        let mut options = if from == to { vec![Flat::EMPTY] } else { Vec::new() };
        for (out, flat) in leaving {
            let behind = self.rounds_to(out, to, rounds, origin, made);
            if behind != Flat::NEVER {
                options.push(flat.clone().then(behind));
            }
        }
        self.flat.rules[id].body = staying.then(Flat::Choice(options));
        Flat::Rule(id)
    }

    /// A token, perhaps in several matches.
    fn token(&mut self, token: usize, stack: &Stack, origin: usize) -> Paths {
        let Some(&mode) = stack.last() else {
            self.underflow = true;
            return Paths::new();
        };
        let Some(rules) = self.by_mode.get(usize::from(mode)) else { return Paths::new() };
        if rules.more.is_empty() {
            let paths = self.match_of(token, stack, &[]);
            return if paths.is_empty() { self.token_behind_hidden(token, stack) } else { paths };
        }
        let begun = self.star(stack, origin, &mut |this, stack| this.more(stack));
        self.append(begun, origin, &mut |this, stack| this.match_of(token, stack, &[]))
    }

    /// One match that is `token`.
    fn match_of(&mut self, token: usize, stack: &Stack, via: &[usize]) -> Paths {
        let Some(&mode) = stack.last() else { return Paths::new() };
        let Some(rules) = self.by_mode.get(usize::from(mode)) else { return Paths::new() };
        let rules = rules.tokens.get(&token).cloned().unwrap_or_default();
        self.matches(rules, stack, via)
    }

    /// One match that the next one continues.
    fn more(&mut self, stack: &Stack) -> Paths {
        let Some(&mode) = stack.last() else { return Paths::new() };
        let rules = self.by_mode.get(usize::from(mode)).map(|rules| rules.more.clone()).unwrap_or_default();
        self.matches(rules, stack, &[])
    }

    fn matches(&mut self, rules: Vec<usize>, stack: &Stack, via: &[usize]) -> Paths {
        let mut options = Vec::new();
        self.work += rules.len();
        for rule in rules {
            if let Some(out) = self.moved(rule, stack) {
                options.push(Paths::from([(out, self.lexeme(rule, via.to_vec()))]));
            }
        }
        choice(options)
    }

    /// The modes after a match of a lexer rule.
    fn moved(&mut self, rule: usize, stack: &Stack) -> Option<Stack> {
        let mut stack = stack.clone();
        for step in &self.lexer.rules[rule].moves {
            match *step {
                Move::Push(mode) => stack.push(mode as u16),
                Move::Switch(mode) => match stack.last_mut() {
                    Some(top) => *top = mode as u16,
                    None => {
                        self.underflow = true;
                        return None;
                    }
                },
                Move::Pop => match stack.pop() {
                    Some(BOTTOM) => return None,
                    Some(_) if stack.last() == Some(&BOTTOM) => return None,
                    Some(_) => {}
                    None => {
                        self.underflow = true;
                        return None;
                    }
                },
            }
        }
        (stack.len() <= MAX_STACK + 2).then_some(stack)
    }

    /// A token in another mode that hidden matches lead to.
    fn token_behind_hidden(&mut self, token: usize, stack: &Stack) -> Paths {
        let mut reached: Vec<(Stack, Vec<usize>)> = vec![(stack.clone(), Vec::new())];
        for _ in 0..MAX_HIDDEN {
            let mut next = Vec::new();
            let mut options = Vec::new();
            for (stack, via) in &reached {
                let Some(&mode) = stack.last() else { continue };
                let Some(rules) = self.by_mode.get(usize::from(mode)) else { continue };
                self.work += rules.hidden.len();
                for rule in rules.hidden.clone() {
                    let Some(out) = self.moved(rule, stack) else { continue };
                    if out.is_empty() {
                        self.underflow = true;
                        continue;
                    }
                    let via: Vec<usize> = via.iter().copied().chain([rule]).collect();
                    options.push(self.match_of(token, &out, &via));
                    if next.len() < MAX_OUTS {
                        next.push((out, via));
                    }
                }
            }
            let paths = choice(options);
            if !paths.is_empty() {
                return paths;
            }
            reached = next;
        }
        Paths::new()
    }

    fn not_tokens(&mut self, tokens: &[usize], stack: &Stack, origin: usize) -> Paths {
        /// Larger choices become rules, since the same ones stand in many places.
        const MAX_INLINE: usize = 64;
        let Some(&mode) = stack.last() else {
            self.underflow = true;
            return Paths::new();
        };
        let excluded: BTreeSet<usize> = tokens.iter().copied().collect();
        self.work += excluded.len();
        let place = (excluded, stack.clone(), self.building);
        if let Some(paths) = self.complements.get(&place) {
            return paths.clone();
        }
        let Some(rules) = self.by_mode.get(usize::from(mode)) else { return Paths::new() };
        let rules: Vec<usize> = rules
            .tokens
            .iter()
            .filter(|(token, _)| !place.0.contains(token))
            .flat_map(|(_, rules)| rules.clone())
            .collect();
        self.work += rules.len();
        let is_large = rules.len() > MAX_INLINE;
        let mut paths = self.matches(rules, stack, &[]);
        if is_large {
            if self.building {
                paths = paths.into_iter().map(|(out, flat)| (out, self.named(flat, origin))).collect();
            }
            self.complements.insert(place, paths.clone());
        }
        paths
    }
}

/// The ends of all `options`; a choice where several end the same.
fn choice(options: Vec<Paths>) -> Paths {
    let mut by_out: BTreeMap<Stack, Vec<Flat>> = BTreeMap::new();
    for (out, flat) in options.into_iter().flatten() {
        by_out.entry(out).or_default().push(flat);
    }
    let one = |mut flats: Vec<Flat>| if flats.len() == 1 { flats.remove(0) } else { Flat::Choice(flats) };
    by_out.into_iter().map(|(out, flats)| (out, one(flats))).collect()
}
