//! Lists of members, each at most once and in order: commas right by construction, and no more rules than members.

use super::Reader;
use super::facts::Count;
use super::make::Make;
use crate::ast::{Expr, Name, Rule};
use crate::ordered::Map;

/// A member of an object, or an item of an array, with its blanks.
#[derive(Clone)]
pub(super) struct Member {
    pub(super) expr: Expr,
    pub(super) is_required: bool,
}

/// The greatest number of rules for one list whose members are counted.
const MAX_COUNTED: usize = 1 << 12;
/// The number of members that are drawn beyond the least one.
const MORE: usize = 6;

/// A list under work.
struct List {
    members: Vec<Member>,
    stem: String,
    separator: Expr,
    counted: Map<(usize, usize, usize), Option<Expr>>,
}

impl Reader<'_, '_> {
    /// Returns lists of some of the members, with commas. `None` if there is none.
    pub(super) fn list(&mut self, members: Vec<Member>, count: Count, make: Make) -> Option<Expr> {
        let separator = make.seq([make.text(","), make.rule(self.shared("blanks"))]);
        let required = members.iter().filter(|member| member.is_required).count();
        let all = members.len();
        let stem = self.stem.clone();
        let mut list = List { members, stem, separator, counted: Map::new() };
        let is_free = required >= count.min as usize && count.max.is_none_or(|max| max as usize >= all);
        if is_free {
            return Some(self.free(&list, make));
        }
        let least = required.max(count.min as usize);
        let most = count.max.map_or(all, |max| (max as usize).min(all));
        if least > most {
            return None;
        }
        let most = most.min(least + MORE);
        if all.saturating_mul(most) > MAX_COUNTED {
            return Some(self.first(list, least, most, make));
        }
        let end = list.members.len();
        let exact: Vec<Expr> =
            (least..=most).filter_map(|count| self.counted(&mut list, 0, end, count, make)).collect();
        (!exact.is_empty()).then(|| make.any(exact))
    }

    /// Returns the members that must be there, as many of the first others as the least number needs, and perhaps some
    /// more.
    fn first(&mut self, mut list: List, least: usize, most: usize, make: Make) -> Expr {
        let required = list.members.iter().filter(|member| member.is_required).count();
        let (mut forced, mut room) = (least - required, most - required);
        list.members.retain_mut(|member| {
            let stays = member.is_required || room > 0;
            if stays && !member.is_required {
                room -= 1;
                member.is_required = forced > 0;
                forced = forced.saturating_sub(1);
            }
            stays
        });
        self.free(&list, make)
    }

    /// Returns any of the members that need not be there, with the others.
    fn free(&mut self, list: &List, make: Make) -> Expr {
        let Some(first) = list.members.iter().position(|member| member.is_required) else {
            return match list.members.len() {
                0 => make.empty(),
                all => {
                    let some = self.some(list, 0, all, make);
                    make.maybe(some)
                }
            };
        };
        let parts = list.members.iter().enumerate().map(|(number, member)| {
            let (item, comma) = (member.expr.clone(), list.separator.clone());
            let (item, is_there) = match number.cmp(&first) {
                std::cmp::Ordering::Less => (make.seq([item, comma]), false),
                std::cmp::Ordering::Equal => (item, true),
                std::cmp::Ordering::Greater => (make.seq([comma, item]), member.is_required),
            };
            if is_there { item } else { make.maybe(item) }
        });
        make.seq(parts)
    }

    /// Returns one or more of the members of a range. Halves of it are rules, so that the depth is a logarithm.
    fn some(&mut self, list: &List, from: usize, to: usize, make: Make) -> Expr {
        if to - from == 1 {
            return list.members[from].expr.clone();
        }
        let middle = from.midpoint(to);
        let first = self.some(list, from, middle, make);
        let second = self.some(list, middle, to, make);
        let more = make.maybe(make.seq([list.separator.clone(), second.clone()]));
        let body = make.any([make.seq([first, more]), second]);
        if to - from == 2 && list.members.len() <= 2 { body } else { self.part(list, "of", (from, to), body, make) }
    }

    fn part(&mut self, list: &List, word: &str, (from, to): (usize, usize), body: Expr, make: Make) -> Expr {
        let name = self.fresh(&format!("{}-{word}-{}-{to}", list.stem, from + 1));
        self.add(Rule::new(Name { text: name.clone(), span: make.0 }, body));
        make.rule(name)
    }

    /// Returns exactly this many of the members of a range, but each required one. `None` if that is impossible.
    fn counted(&mut self, list: &mut List, from: usize, to: usize, count: usize, make: Make) -> Option<Expr> {
        let required = list.members[from..to].iter().filter(|member| member.is_required).count();
        if count < required || count > to - from {
            return None;
        }
        if count == 0 {
            return Some(make.empty());
        }
        if to - from == 1 {
            return Some(list.members[from].expr.clone());
        }
        if let Some(known) = list.counted.get(&(from, to, count)) {
            return known.clone();
        }
        let middle = from.midpoint(to);
        let mut options = Vec::new();
        for first in 0..=count {
            let Some(left) = self.counted(list, from, middle, first, make) else { continue };
            let Some(right) = self.counted(list, middle, to, count - first, make) else { continue };
            let is_both = first > 0 && first < count;
            let comma = is_both.then(|| list.separator.clone());
            options.push(make.seq([left].into_iter().chain(comma).chain([right])));
        }
        let found = (!options.is_empty()).then(|| make.any(options));
        let word = format!("{count}-of");
        let found = found.map(|body| self.part(list, &word, (from, to), body, make));
        list.counted.insert((from, to, count), found.clone());
        found
    }
}
