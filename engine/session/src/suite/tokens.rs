//! The tokens of a text that was led: its literals, its runs of members of classes, and the rules that they are in.

use gramjet::choices::SpanKind;
use gramjet_compiler::charset::CharSet;
use gramjet_compiler::ir::{Ir, NodeId};
use gramjet_engine::decisions::{Deriver, Part};

use super::lead::Led;

/// A stretch of a text.
pub(super) type Stretch = (usize, usize);

/// The tokens of a text, in order and apart from each other.
pub(super) struct Tokens {
    pub tokens: Vec<Stretch>,
    /// The members of classes: the place, and the class.
    pub members: Vec<(Stretch, NodeId)>,
    /// Instances of rules, outer ones first: the text, and the number of the rule.
    rules: Vec<(Stretch, u32)>,
}

impl Tokens {
    /// Returns the tokens of a text.
    pub fn new(ir: &Ir, led: &Led, deriver: &Deriver) -> Tokens {
        let len = led.derivation.text.len();
        let parts = &led.derivation.parts;
        let rules = parts.iter().filter(|part| part.kind == SpanKind::Rule);
        let rules = rules.filter_map(|part| Some((stretch(part), deriver.rule_of(part.symbol)? as u32))).collect();
        let members: Vec<(Stretch, NodeId)> = led
            .members
            .iter()
            .filter_map(|&(node, option, at)| {
                let node = NodeId::new(node as usize);
                let set = ir.node(node).class()?;
                let end = at as usize + encoded(set, set.nth(option)?).len();
                (end <= len).then_some(((at as usize, end), node))
            })
            .collect();
        // Tokens begin and end where rules and rounds do, and where classes and literals meet.
        let mut borders = vec![false; len + 1];
        let mut is_member = vec![false; len];
        for &((from, to), _) in &members {
            is_member[from..to].fill(true);
        }
        (1..len).filter(|&at| is_member[at - 1] != is_member[at]).for_each(|at| borders[at] = true);
        let bordered = parts.iter().filter(|part| matches!(part.kind, SpanKind::Rule | SpanKind::Choice));
        for at in bordered.map(stretch).flat_map(|(from, to)| [from, to]) {
            borders[at.min(len)] = true;
        }
        borders[len] = true;
        let ends = (1..).zip(&borders[1..]).filter(|(_, is_border)| **is_border).map(|(at, _)| at);
        let mut begin = 0;
        let tokens = ends.map(|end| (std::mem::replace(&mut begin, end), end)).collect();
        Tokens { tokens, members, rules }
    }

    /// Returns the innermost rule around a place: one that has the byte there, else one that ends there.
    pub fn rule_at(&self, at: usize) -> Option<u32> {
        let len = |((from, to), _): &&(Stretch, u32)| to - from;
        // Inner ones come later.
        let rules = || self.rules.iter().rev();
        let has_byte = rules().filter(|((from, to), _)| (*from..*to).contains(&at)).min_by_key(len);
        let ends = || rules().filter(|((_, to), _)| *to == at).min_by_key(len);
        has_byte.or_else(ends).map(|&(_, rule)| rule)
    }
}

/// Returns the text of a part.
pub(super) fn stretch(part: &Part) -> Stretch {
    (part.text.0 as usize, part.text.1 as usize)
}

/// Returns the bytes of a member.
pub(super) fn encoded(set: &CharSet, member: u32) -> Vec<u8> {
    set.encode(member).as_ref().to_vec()
}

/// Returns the neighbours of a class that it does not have, next to its ranges.
pub(super) fn outside(set: &CharSet) -> Vec<u32> {
    let edges = set.ranges().iter().flat_map(|&(low, high)| [low.checked_sub(1), high.checked_add(1)]);
    let is_of_unit =
        |member: &u32| *member <= set.unit().max() && (char::from_u32(*member).is_some() || *member < 0x100);
    edges.flatten().filter(is_of_unit).filter(|&member| !set.contains(member)).collect()
}
