//! The start rule of an RFC: the texts of RFCs do not name one.

use crate::ast::{Name, Rule};
use crate::ordered::Map;

/// The most rules that are visited to find the start. Rules that are not looked at by then are not taken.
const MAX_WORK: usize = 1 << 22;

/// Returns the name of the rule that reaches the most others. Of several, one that no other rule refers to is taken,
/// and the first of these. `None` if there are no rules.
pub(super) fn widest(rules: &[Rule]) -> Option<Name> {
    let index: Map<&str, usize> = rules.iter().enumerate().map(|(number, rule)| (&*rule.name.text, number)).collect();
    let references: Vec<Vec<usize>> = rules.iter().map(|rule| references(rule, &index)).collect();
    let mut is_used = vec![false; rules.len()];
    for (number, references) in references.iter().enumerate() {
        references.iter().filter(|&&other| other != number).for_each(|&other| is_used[other] = true);
    }
    let (mut best, mut most, mut work) = (0, 0, 0);
    let mut seen = vec![0; rules.len()];
    let (used, roots): (Vec<usize>, Vec<usize>) = (0..rules.len()).partition(|&number| is_used[number]);
    for root in roots.into_iter().chain(used) {
        let reached = reached(root, &references, &mut seen, &mut work);
        if reached > most {
            (best, most) = (root, reached);
        }
        if work > MAX_WORK {
            break;
        }
    }
    rules.get(best).map(|rule| rule.name.clone())
}

/// Returns the numbers of the rules that a rule refers to.
fn references(rule: &Rule, index: &Map<&str, usize>) -> Vec<usize> {
    let mut numbers = Vec::new();
    rule.body.each_reference(&mut |name| numbers.extend(index.get(name)));
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Returns the number of rules that a rule reaches. They are marked with its number. The work is added to `work`.
fn reached(root: usize, references: &[Vec<usize>], seen: &mut [usize], work: &mut usize) -> usize {
    let mark = root + 1;
    let mut pending = vec![root];
    seen[root] = mark;
    let mut count = 0;
    while let Some(rule) = pending.pop() {
        count += 1;
        *work += 1 + references[rule].len();
        let new = references[rule].iter().copied().filter(|&other| std::mem::replace(&mut seen[other], mark) != mark);
        pending.extend(new.collect::<Vec<_>>());
    }
    count
}
