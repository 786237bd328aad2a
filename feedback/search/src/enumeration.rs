//! All texts of a language one after another: what a search falls back on when its strategy proposes nothing new.

use gramjet_session::decisions::{Derivation, Deriver, OpenSite};

/// Enumerates the derivations under the limit on length, in the order of their decisions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Every {
    /// The derivation that comes next, as the decisions that it begins with; none once all were given.
    next: Next,
}

#[derive(Clone, Debug)]
enum Next {
    Begins(Vec<u32>),
    Nothing,
}

impl Default for Next {
    fn default() -> Next {
        Next::Begins(Vec::new())
    }
}

impl Every {
    /// Writes the next derivation; false once all were given.
    pub(crate) fn next(&mut self, deriver: &mut Deriver, derivation: &mut Derivation) -> bool {
        let Next::Begins(options) = &self.next else { return false };
        deriver.derive(options, &mut |site: &OpenSite<'_>| first_from(site, 0).unwrap_or(0), derivation);
        self.next = after(derivation, deriver);
        true
    }
}

/// Returns the first option from this one on that generated inputs have.
fn first_from(site: &OpenSite<'_>, option: u32) -> Option<u32> {
    (option..site.offered()).find(|&option| !site.is_only_read(option))
}

/// Returns the derivation after this one: the last decision that has a further option takes it, and those after it
/// begin anew.
fn after(derivation: &Derivation, deriver: &Deriver) -> Next {
    let decisions = &derivation.decisions;
    let further = |at: &usize| {
        let decision = decisions[*at];
        (decision.option + 1..decision.offered).find(|&option| !deriver.is_only_read(decision.place, option))
    };
    let last = (0..decisions.len()).rev().find_map(|at| Some((at, further(&at)?)));
    last.map_or(Next::Nothing, |(at, option)| Next::Begins(derivation.options().take(at).chain([option]).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::kit;

    #[test]
    fn every_text_within_the_limit_is_given_once() {
        let language = kit::language("s ::= '' | '(' s ')' s | [ab] | 'zz' @ 0");
        let mut deriver = language.deriver(Some(4));
        let (mut every, mut derivation, mut texts) = (Every::default(), Derivation::default(), Vec::new());
        while every.next(&mut deriver, &mut derivation) {
            texts.push(String::from_utf8(derivation.text.clone()).expect("letters"));
        }
        texts.sort();
        let expected = ["", "(())", "()", "()()", "()a", "()b", "(a)", "(a)a", "(a)b", "(b)", "(b)a", "(b)b", "a", "b"];
        assert_eq!(texts, expected);
    }
}
