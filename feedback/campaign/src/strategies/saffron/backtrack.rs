//! Derivations of limited depth, by backtracking.
//!
//! An option is given up if it leads to an instance of a rule beyond the limit. Another one of the same site is tried
//! then; if there is none, the option around it is given up. The limit on length needs no backtracking, as sites offer
//! only what fits.

use gramjet_session::SpanKind;
use gramjet_session::decisions::{Derivation, Deriver, OpenSite};

/// Number of options that are given up before a text is completed by option 0 everywhere, whatever its depth.
const GIVEN_UP: usize = 200;

/// Options that were tried for a text.
#[derive(Clone, Debug, Default)]
pub(super) struct Backtrack {
    /// The options that are kept, from the first decision on.
    kept: Vec<u32>,
    /// Options that were given up: the number of the decision, ascending, with the options.
    tried: Vec<(u32, Vec<u32>)>,
}

impl Backtrack {
    /// Derives a text in which no instance of a rule is deeper than the limit; the start rule has depth 0. The function
    /// draws an option that is not among those tried.
    pub(super) fn derive(
        &mut self,
        limit: u32,
        deriver: &mut Deriver,
        mut draw: impl FnMut(&OpenSite<'_>, &[u32]) -> u32,
        text: &mut Derivation,
    ) {
        self.kept.clear();
        self.tried.clear();
        for _ in 0..GIVEN_UP {
            let mut tried = match self.tried.last() {
                Some((at, tried)) if *at as usize == self.kept.len() => &tried[..],
                _ => &[],
            };
            let mut choose = |site: &OpenSite<'_>| draw(site, std::mem::take(&mut tried));
            deriver.derive(&self.kept, &mut choose, text);
            let Some(deep) = first_beyond(text, limit) else { return };
            if !self.give_up(text, deep) {
                break;
            }
        }
        deriver.replay(&self.kept, text);
    }

    /// Gives up the innermost option around a part whose site has others; says whether there is one.
    fn give_up(&mut self, text: &Derivation, deep: usize) -> bool {
        let around = text.parts[..deep].iter().rev().filter(|part| part.next as usize > deep);
        for part in around.filter(|part| matches!(part.kind, SpanKind::Choice | SpanKind::Round)) {
            let at = part.decisions.0;
            let Some(decision) = text.decisions.get(at as usize) else { continue };
            while self.tried.last().is_some_and(|tried| tried.0 > at) {
                self.tried.pop();
            }
            if self.tried.last().is_none_or(|tried| tried.0 < at) {
                self.tried.push((at, Vec::new()));
            }
            let Some((_, tried)) = self.tried.last_mut() else { continue };
            tried.push(decision.option);
            if tried.len() < decision.offered as usize {
                self.kept.clear();
                self.kept.extend(text.options().take(at as usize));
                return true;
            }
        }
        false
    }
}

/// Returns the first instance of a rule beyond the limit.
fn first_beyond(text: &Derivation, limit: u32) -> Option<usize> {
    text.parts.iter().position(|part| part.depth > limit && part.kind == SpanKind::Rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::kit::language;
    use crate::strategies::saffron::probabilities::Probabilities;
    use gramjet_session::Random;

    fn depth(text: &Derivation) -> u32 {
        text.parts.iter().map(|part| part.depth).max().unwrap_or(0)
    }

    #[test]
    fn another_option_is_tried_where_one_is_too_deep() {
        // The last option first. `y` needs two levels below `s`, brackets one.
        let mut deriver = language("s ::= 'x' | '(' s ')' | '<<<' y '>>>'  y ::= z  z ::= '1'").deriver(Some(30));
        let (mut text, mut backtrack, mut asked) = (Derivation::default(), Backtrack::default(), Vec::new());
        let mut derive = |limit| {
            asked.clear();
            let draw = |site: &OpenSite<'_>, tried: &[u32]| {
                asked.push(tried.to_vec());
                (0..site.offered()).rev().find(|option| !tried.contains(option)).unwrap_or(0)
            };
            backtrack.derive(limit, &mut deriver, draw, &mut text);
            (String::from_utf8_lossy(&text.text).into_owned(), asked.clone())
        };
        assert_eq!(derive(2), ("<<<1>>>".into(), vec![vec![]]));
        let (found, asked) = derive(1);
        // `y` is given up for brackets. The `s` in them is at the limit: `y`, then brackets, then `x`. The site of the
        // third `s` is asked before it is seen to be too deep.
        assert_eq!(found, "(x)");
        assert_eq!(asked, [vec![], vec![2], vec![], vec![2], vec![], vec![2, 1]]);
        assert_eq!(derive(0).0, "x");
    }

    #[test]
    fn the_option_around_is_given_up_if_all_others_are_tried() {
        // All of `t` is too deep at the limit 2, so `s` cannot take it.
        let mut deriver = language("s ::= 't' t | 'a'*  t ::= u | '.' u  u ::= v  v ::= 'v'").deriver(Some(30));
        let (mut text, mut backtrack) = (Derivation::default(), Backtrack::default());
        let last = |site: &OpenSite<'_>, tried: &[u32]| {
            (0..site.offered()).rev().find(|option| !tried.contains(option)).unwrap_or(0)
        };
        backtrack.derive(3, &mut deriver, last, &mut text);
        assert_eq!(text.text, b"t.v");
        backtrack.derive(2, &mut deriver, last, &mut text);
        assert_eq!(String::from_utf8_lossy(&text.text), "a".repeat(30));
    }

    #[test]
    fn no_text_is_deeper_than_the_limit() {
        let mut deriver = language("s ::= '' | '(' s ')' s | [a-d] s").deriver(Some(60));
        let (mut text, mut backtrack, mut random) = (Derivation::default(), Backtrack::default(), Random::new(2));
        let probabilities = Probabilities::default();
        let mut deepest = 0;
        for _ in 0..1_000 {
            let draw = |site: &OpenSite<'_>, tried: &[u32]| probabilities.draw(site, tried, 1, &mut random);
            backtrack.derive(6, &mut deriver, draw, &mut text);
            deepest = deepest.max(depth(&text));
        }
        assert_eq!(deepest, 6);
    }

    #[test]
    fn a_limit_below_the_least_depth_gives_a_text_all_the_same() {
        let mut deriver = language("s ::= t  t ::= 'a' | 'b' t").deriver(Some(30));
        let mut text = Derivation::default();
        Backtrack::default().derive(0, &mut deriver, |site, _| site.offered() - 1, &mut text);
        assert_eq!(text.text, b"a");
    }
}
