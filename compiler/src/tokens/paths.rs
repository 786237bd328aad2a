//! The modes in which expressions can end. Tokens, hidden matches, sequences and repetitions change them.

use super::flat::Flat;
use super::modes::{BOTTOM, ENDED, Flattening, MAX_OUTS, MAX_STACK, MAX_WORK, Paths, Stack};
use super::{Move, Syntax};
use crate::ordered::{Map, Set};

/// The most hidden matches before a mode in which a token can stand.
const MAX_HIDDEN: usize = 3;

impl Flattening<'_> {
    /// Returns the ends of `syntax` if it begins with `stack`, each with an expression that leads there. `origin` is
    /// its rule.
    pub(super) fn paths(&mut self, syntax: &Syntax, stack: &Stack, origin: usize) -> Paths {
        self.work += 1;
        if self.work > MAX_WORK {
            return Paths::new();
        }
        match syntax {
            Syntax::Token(token) => self.token(*token, stack, origin),
            Syntax::NotTokens(tokens) => self.not_tokens(tokens, stack, origin),
            Syntax::Expect(expectation) => self.expect(expectation, stack),
            Syntax::End if !self.may_end(stack) => Paths::new(),
            Syntax::End => {
                let stack = self.unmarked(stack);
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

    /// Appends `next` to each end of `first`.
    pub(super) fn append(
        &mut self,
        first: Paths,
        origin: usize,
        next: &mut dyn FnMut(&mut Self, &Stack) -> Paths,
    ) -> Paths {
        const MAX_COPIED: usize = 8;
        let mut options = Vec::new();
        for (stack, mut before) in first {
            let behind = next(self, &stack);
            if self.building && behind.len() > 1 && before.size() > MAX_COPIED {
                before = self.named(before, origin);
            }
            let last = behind.len().saturating_sub(1);
            options.push(if self.building {
                behind
                    .into_iter()
                    .enumerate()
                    .map(|(number, (out, flat))| {
                        let before = if number == last { std::mem::take(&mut before) } else { before.clone() };
                        (out, before.then(flat))
                    })
                    .collect()
            } else {
                behind
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
        // The usual case: the modes after a round are the same as before it.
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

    /// Returns the ends of any number of rounds.
    fn star(&mut self, stack: &Stack, origin: usize, round: &mut dyn FnMut(&mut Self, &Stack) -> Paths) -> Paths {
        let mut rounds: Map<Stack, Paths> = Map::new();
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
        let mut made = Map::new();
        let outs: Vec<Stack> = rounds.keys().cloned().collect();
        outs.into_iter()
            .map(|out| {
                let flat = self.rounds_to(stack, &out, &rounds, origin, &mut made);
                (out, flat)
            })
            .collect()
    }

    /// Returns rounds that lead from `from` to `to`.
    fn rounds_to(
        &mut self,
        from: &Stack,
        to: &Stack,
        rounds: &Map<Stack, Paths>,
        origin: usize,
        made: &mut Map<(Stack, Stack), usize>,
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

    /// Returns a token, in one match or several.
    pub(super) fn token(&mut self, token: usize, stack: &Stack, origin: usize) -> Paths {
        if self.is_marked(stack) {
            return self.expected_token(token, stack, origin);
        }
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

    /// Returns a single match of `token`.
    pub(super) fn match_of(&mut self, token: usize, stack: &Stack, via: &[usize]) -> Paths {
        let Some(&mode) = stack.last() else { return Paths::new() };
        let Some(rules) = self.by_mode.get(usize::from(mode)) else { return Paths::new() };
        let rules = rules.tokens.get(&token).cloned().unwrap_or_default();
        self.matches(rules, stack, via)
    }

    /// Returns a match that the next one continues.
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

    /// Returns the modes after a match of a lexer rule.
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

    /// Returns a token in another mode, after the hidden matches that lead there.
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

    pub(super) fn not_tokens(&mut self, tokens: &[usize], stack: &Stack, origin: usize) -> Paths {
        /// Larger choices become rules, because they often occur in several places.
        const MAX_INLINE: usize = 64;
        if self.is_marked(stack) {
            return self.expected_not_tokens(tokens, stack, origin);
        }
        let Some(&mode) = stack.last() else {
            self.underflow = true;
            return Paths::new();
        };
        let excluded: Set<usize> = tokens.iter().copied().collect();
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

/// Returns the ends of all `options`. Options with the same end become a choice.
pub(super) fn choice(options: Vec<Paths>) -> Paths {
    let mut by_out: Map<Stack, Vec<Flat>> = Map::new();
    for (out, flat) in options.into_iter().flatten() {
        by_out.entry(out).or_default().push(flat);
    }
    let one = |mut flats: Vec<Flat>| if flats.len() == 1 { flats.remove(0) } else { Flat::Choice(flats) };
    by_out.into_iter().map(|(out, flats)| (out, one(flats))).collect()
}
