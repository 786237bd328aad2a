//! Tokens and comments that several rules make, such as the texts of `"` in a start condition of their own.

use super::rules::Draft;
use crate::tokens::{Move, Outcome};

/// Joins the matches in start conditions from which every token leads away: they are parts of that token, or of the
/// comment that ends there. `is_exclusive` tells the start conditions in which other rules do not apply.
pub(super) fn join_parts(rules: &mut [Draft], modes: usize, is_exclusive: impl Fn(usize) -> bool) {
    let joined: Vec<bool> = (0..modes).map(|mode| is_exclusive(mode) && ends_at_exits(rules, mode)).collect();
    for rule in rules.iter_mut().filter(|rule| rule.outcome == Outcome::Hidden) {
        let is_part = match rule.moves.last() {
            None => joined[rule.mode],
            Some(&(Move::Switch(to) | Move::Push(to))) => joined[to],
            Some(Move::Pop) => false,
        };
        if is_part {
            rule.outcome = Outcome::More;
        }
    }
}

/// Returns true if a mode can be left, and every token that is made in it leaves it.
fn ends_at_exits(rules: &[Draft], mode: usize) -> bool {
    let mut own = rules.iter().filter(|rule| rule.mode == mode && !rule.is_unread);
    let is_inside = |rule: &Draft| rule.moves.is_empty() && matches!(rule.outcome, Outcome::Token(_));
    let leaves = |rule: &Draft| !rule.moves.is_empty();
    own.clone().any(leaves) && !own.any(is_inside)
}
