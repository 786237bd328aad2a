//! Finds texts that may stand between tokens.

use std::collections::VecDeque;

use super::alphabet::Alphabet;
use super::dfa::{Dfa, START, StateId};
use super::states::Automata;
use super::{Lexer, Move, Outcome};
use crate::ordered::Set;

/// One or more matches of hidden rules that do not change the mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Separator {
    pub(super) text: String,
    /// The start of the last match.
    last: usize,
}

impl Separator {
    /// Returns the last match.
    pub(super) fn last(&self) -> &str {
        &self.text[self.last..]
    }
}

/// Some of the separators of a mode, as bits.
pub(super) type Which = u16;

/// The most separators that are single matches.
const MAX_ONE: usize = 6;
/// The most separators, including those for tokens that no other separator ends.
const MAX: usize = Which::BITS as usize - 1;
/// The number of places that are examined to find a text that ends one rule's matches.
const MAX_PLACES: usize = 1 << 12;
/// Number of places that are examined for all rules together, to find texts that end their matches.
const MAX_WORK: usize = 1 << 18;

/// Returns the separators of each mode, the usual ones first. `lefts` are the lexer rules of tokens.
pub(super) fn separators(automata: &Automata, lexer: &Lexer, lefts: &Set<usize>) -> Vec<Vec<Separator>> {
    let mut work = MAX_WORK;
    (0..lexer.modes)
        .map(|mode| {
            let rules = automata.rules_of(mode);
            let is_hidden = |number: usize| {
                let rule = &lexer.rules[number];
                let is_plain = rule.mode == mode && rule.outcome == Outcome::Hidden && rule.moves.is_empty();
                is_plain && !automata.is_widened(number)
            };
            let hidden: Vec<usize> = rules.iter().copied().filter(|&rule| is_hidden(rule)).collect();
            let Some(dfa) = automata.mode(mode) else {
                // Nothing is known except that something separates tokens. That is nearly always a space.
                let space = Separator { text: " ".to_string(), last: 0 };
                return if hidden.is_empty() { Vec::new() } else { vec![space] };
            };
            let matching = Matching { automata, dfa, hidden };
            let mut texts = matching.usual();
            for &left in lefts {
                if leads_to(lexer, left, mode) && texts.len() < MAX {
                    matching.add_ending(left, &mut texts, &mut work);
                }
            }
            texts
        })
        .collect()
}

/// Returns true if the lexer may be in a mode after a match of a rule.
fn leads_to(lexer: &Lexer, rule: usize, mode: usize) -> bool {
    let rule = &lexer.rules[rule];
    match rule.moves.last() {
        _ if rule.outcome == Outcome::More => false,
        None => rule.mode == mode,
        Some(Move::Switch(to) | Move::Push(to)) => *to == mode,
        Some(Move::Pop) => true,
    }
}

/// The matches of the hidden rules of a mode.
struct Matching<'a> {
    automata: &'a Automata,
    dfa: &'a Dfa,
    hidden: Vec<usize>,
}

impl Matching<'_> {
    fn is_hidden(&self, state: StateId) -> bool {
        self.dfa.winner(state).is_some_and(|rule| self.hidden.contains(&rule))
    }

    /// Returns true if a text is a single match.
    fn is_one(&self, text: &str) -> bool {
        !text.is_empty() && self.is_hidden(self.automata.run(self.dfa, text))
    }

    /// Returns true if the lexer continues after a text with a character.
    fn goes_on(&self, text: &str, character: char) -> bool {
        let state = self.automata.run(self.dfa, text);
        self.dfa.is_alive(self.dfa.next(state, self.automata.classes.of(character)))
    }

    /// Returns blanks, line breaks, and the shortest match of each rule. Two matches of a rule if different neighbours
    /// need different ones.
    fn usual(&self) -> Vec<Separator> {
        const MAX_WITH_PAIRS: usize = 8;
        let mut texts: Vec<String> = Vec::new();
        let usual = [" ", "\n", "\t", "\r\n"].into_iter().map(String::from);
        let own = self.hidden.iter().filter_map(|&rule| self.automata.shortest(rule));
        for text in usual.chain(own) {
            if self.is_one(&text) && !texts.contains(&text) && texts.len() < MAX_ONE {
                texts.push(text);
            }
        }
        // A text that ends one token may continue another. A blank before it ends that one.
        let is_blank = |text: &&String| text.trim().is_empty();
        let ends = |text: &&String| !is_blank(text) && !self.goes_on(text, ' ') && !self.goes_on(text, '\n');
        let pairs: Vec<Separator> = texts
            .iter()
            .filter(ends)
            .flat_map(|second| texts.iter().filter(is_blank).map(move |first| (first, second)))
            .filter(|(first, second)| second.chars().next().is_some_and(|begin| !self.goes_on(first, begin)))
            .map(|(first, second)| Separator { text: format!("{first}{second}"), last: first.len() })
            .collect();
        let one = texts.into_iter().map(|text| Separator { text, last: 0 });
        one.chain(pairs).take(MAX_WITH_PAIRS).collect()
    }

    /// Adds a separator after which no match of `left` continues, whatever follows. Does nothing if `texts` has one. If
    /// none is found, adds one for each kind of match of `left`.
    fn add_ending(&self, left: usize, texts: &mut Vec<Separator>, work: &mut usize) {
        const MAX_KINDS: usize = 4;
        let (Some(facts), Some(dfa)) = (self.automata.facts(left), self.automata.of_rule(left)) else { return };
        let open = Open { automata: self.automata, dfa };
        let is_ended = |ends: &[StateId]| texts.iter().any(|known| open.ends(ends, &known.text));
        if is_ended(&facts.ends) {
            return;
        }
        let mut hard: Vec<StateId> = facts.ends.iter().copied().filter(|&end| !is_ended(&[end])).collect();
        if hard.is_empty() {
            return;
        }
        if let Some(found) = self.ending(&open, &facts.ends, texts, work) {
            texts.push(found);
            return;
        }
        hard.truncate(MAX_KINDS);
        for end in hard {
            if texts.len() < MAX
                && !texts.iter().any(|known| open.ends(&[end], &known.text))
                && let Some(found) = self.ending(&open, &[end], texts, work)
            {
                texts.push(found);
            }
        }
    }

    /// Returns a short text after which a match in one of the states `ends` does not continue: one match between
    /// blanks.
    fn ending(&self, open: &Open<'_>, ends: &[StateId], known: &[Separator], work: &mut usize) -> Option<Separator> {
        let blanks: Vec<&str> = known
            .iter()
            .filter(|text| text.last == 0 && text.text.trim().is_empty())
            .map(|text| text.text.as_str())
            .collect();
        for first in [""].iter().chain(&blanks) {
            let Some(begun) = open.behind(ends, first) else { continue };
            if let Some((text, last)) = self.match_ending(open, begun, first, &blanks, work) {
                return Some(Separator { text: format!("{first}{text}"), last: first.len() + last });
            }
        }
        None
    }

    /// Returns a match after `first` that ends the matches in the states `begun`, perhaps with a blank after it. Also
    /// the start of the last match.
    fn match_ending(
        &self,
        open: &Open<'_>,
        begun: Vec<StateId>,
        first: &str,
        blanks: &[&str],
        work: &mut usize,
    ) -> Option<(String, usize)> {
        let classes = &self.automata.classes;
        let characters: Vec<(usize, char)> = (0..classes.len())
            .filter_map(|class| {
                let readable = Alphabet::Ascii.restrict(classes.members(class));
                Some((class, readable.nth(0).and_then(char::from_u32)?))
            })
            .collect();
        let mut seen = Set::new();
        let mut pending = VecDeque::from([(START, begun, String::new())]);
        while let Some((state, begun, text)) = pending.pop_front() {
            for &(class, character) in &characters {
                let next = self.dfa.next(state, class);
                if !self.dfa.is_alive(next) || text.is_empty() && !first.is_empty() && self.goes_on(first, character) {
                    continue;
                }
                *work = work.checked_sub(1 + begun.len())?;
                let Some(begun) = open.step(&begun, class) else { continue };
                if seen.len() >= MAX_PLACES || !seen.insert((next, begun.clone())) {
                    continue;
                }
                let text = format!("{text}{character}");
                if self.is_hidden(next) {
                    let closes = |blank: &&&str| {
                        let stops = blank.chars().all(|character| !self.goes_on(&text, character));
                        stops && open.behind(&begun, blank).is_some_and(|begun| begun.is_empty())
                    };
                    let goes_on = (0..classes.len()).any(|class| self.dfa.is_alive(self.dfa.next(next, class)));
                    if begun.is_empty() && !goes_on {
                        return Some((text, 0));
                    }
                    if let Some(blank) = blanks.iter().find(closes) {
                        return Some((format!("{text}{blank}"), text.len()));
                    }
                    if begun.is_empty() && blanks.is_empty() {
                        return Some((text, 0));
                    }
                }
                pending.push_back((next, begun, text));
            }
        }
        None
    }
}

/// Returns true if no match in one of the states `begun` continues after a text.
pub(super) fn ends(automata: &Automata, dfa: &Dfa, begun: &[StateId], text: &str) -> bool {
    Open { automata, dfa }.ends(begun, text)
}

/// Matches that may end here or continue.
struct Open<'a> {
    automata: &'a Automata,
    dfa: &'a Dfa,
}

impl Open<'_> {
    /// Returns the states of the matches that are still open after one more character, in ascending order. `None` if
    /// one of them would win.
    fn step(&self, begun: &[StateId], class: usize) -> Option<Vec<StateId>> {
        let next = begun.iter().map(|&state| self.dfa.next(state, class)).filter(|&state| self.dfa.is_alive(state));
        let next: Set<StateId> = next.collect();
        next.iter().all(|&state| self.dfa.winner(state).is_none()).then(|| next.into_iter().collect())
    }

    /// Returns the states of the matches that are still open after a text, in ascending order. `None` if one of them
    /// would win before its end.
    fn behind(&self, begun: &[StateId], text: &str) -> Option<Vec<StateId>> {
        text.chars().try_fold(begun.to_vec(), |begun, character| self.step(&begun, self.automata.classes.of(character)))
    }

    fn ends(&self, begun: &[StateId], text: &str) -> bool {
        self.behind(begun, text).is_some_and(|begun| begun.is_empty())
    }
}
