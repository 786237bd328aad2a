//! The matches of hidden rules, in a simpler form: the parser sees none of them, so their structure does not matter.

use super::Pattern;
use super::dfa::START;
use super::patterns::Writer;
use crate::charset::{CharSet, Unit};

/// A hidden rule, and one of its matches. `None` means all of them.
pub(super) type Match<'g> = (usize, Option<&'g Pattern>);

/// Returns the characters that are matches of hidden rules by themselves, and their other matches.
pub(super) fn options_of<'g>(writer: &Writer<'g>, hidden: &[usize]) -> (CharSet, Vec<Match<'g>>) {
    let mut blanks = CharSet::empty(Unit::Char);
    let mut others = Vec::new();
    for &rule in hidden {
        let parts = Parts::of(writer, rule);
        blanks = blanks.union(&parts.blanks);
        match parts.others {
            Some(patterns) => others.extend(patterns.into_iter().map(|pattern| (rule, Some(pattern)))),
            None => others.push((rule, None)),
        }
    }
    (blanks, others)
}

/// The matches of a hidden rule.
struct Parts<'g> {
    /// Characters that match alone and in any number.
    blanks: CharSet,
    /// The other matches. `None` means all matches of the rule.
    others: Option<Vec<&'g Pattern>>,
}

impl<'g> Parts<'g> {
    fn of(writer: &Writer<'g>, rule: usize) -> Parts<'g> {
        const MAX_PATTERNS: usize = 1 << 10;
        let automata = writer.automata;
        let mut blanks = CharSet::empty(Unit::Char);
        let Some(dfa) = automata.of_rule(rule).filter(|_| !automata.is_widened(rule)) else {
            return Parts { blanks, others: None };
        };
        let mut others = Vec::new();
        let mut is_loop = false;
        let mut pending = vec![&writer.lexer.rules[rule].pattern];
        for _ in 0..MAX_PATTERNS {
            let Some(pattern) = pending.pop() else { break };
            match pattern {
                _ if let Some(set) = automata.sets.set(pattern) => blanks = blanks.union(&set),
                Pattern::Repeat { item, min: 0 | 1, max: None, .. } => {
                    is_loop = true;
                    pending.push(item);
                }
                Pattern::Choice(items) => pending.extend(items),
                Pattern::Seq(items) if items.len() == 1 => pending.extend(items),
                Pattern::Fragment(fragment) => pending.push(&writer.lexer.fragments[*fragment].pattern),
                _ => others.push(pattern),
            }
        }
        // Only characters that are matches of the rule by themselves.
        let mut own = CharSet::empty(Unit::Char);
        for class in 0..automata.classes.len() {
            if dfa.winner(dfa.next(START, class)) == Some(rule) {
                own = own.union(automata.classes.members(class));
            }
        }
        blanks = blanks.intersection(&own);
        let is_known = pending.is_empty() && (others.is_empty() || is_loop && !automata.is_shaped(rule));
        Parts { blanks, others: is_known.then_some(others) }
    }
}
