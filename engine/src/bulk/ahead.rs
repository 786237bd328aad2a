//! The results of expanding frames up to the next text or choice, found once for all beginnings.

use std::sync::Arc;

use arrayvec::ArrayVec;
use rustc_hash::FxHashMap;

use super::frames::{Grammar, Item, Options, Step};
use super::unfold::FRAMES;

/// A frame that is expanded until there is a text, a choice, or an unknown.
pub(crate) struct Ahead {
    /// The frames in place of the original one; the first of them does what `next` says.
    pub(crate) items: ArrayVec<Item, FRAMES>,
    pub(crate) next: Next,
}

/// The next action of the first frame.
pub(crate) enum Next {
    /// There is none.
    Nothing,
    /// A text, from a byte on; its number.
    Text(Arc<[u8]>, u32, u32),
    /// A choice among this number of options.
    Choice(usize),
    End,
    /// Result that depends on the depth left, or that has too many frames.
    Unknown,
}

/// Options of a choice, and how many frames the longest has.
#[derive(Clone)]
pub(crate) struct Branches {
    pub(crate) options: Options,
    pub(crate) longest: usize,
}

/// More steps than this are left to the next beginning.
const MAX_STEPS: usize = 10_000;

/// The known results for items, by the item and the least depth left, and the work that was done.
#[derive(Default)]
pub(crate) struct Memo {
    ahead: FxHashMap<(Item, u32), Ahead>,
    branches: FxHashMap<(Item, u32), Branches>,
    /// The work done: beginnings that were made, and other steps that take as long as one.
    pub(crate) work: usize,
}

impl Memo {
    /// Returns the result of going on with an item.
    pub(crate) fn ahead(&mut self, grammar: &Grammar, item: Item, floor: u32) -> &Ahead {
        self.ahead.entry((item, floor)).or_insert_with(|| Ahead::of(grammar, item, floor))
    }

    /// Returns the options of an item that is a choice.
    pub(crate) fn branches(&mut self, grammar: &Grammar, item: Item, floor: u32) -> &Branches {
        self.branches.entry((item, floor)).or_insert_with(|| {
            let options = grammar.options(item, floor);
            let longest = options.iter().map(|(_, items)| items.len()).max().unwrap_or(0);
            Branches { options, longest }
        })
    }
}

impl Ahead {
    fn of(grammar: &Grammar, item: Item, floor: u32) -> Ahead {
        let mut items = ArrayVec::from_iter([item]);
        for _ in 0..MAX_STEPS {
            let Some(&first) = items.first() else { return Ahead { items, next: Next::Nothing } };
            let next = match grammar.step(first, floor) {
                Step::Text(text, from) => Next::Text(grammar.text(text), from, text),
                Step::Choice => Next::Choice(grammar.option_count(first.0)),
                Step::End => Next::End,
                Step::Unknown => Next::Unknown,
                Step::Push(pushed) => {
                    let pushed: ArrayVec<Item, 2> = pushed.into_iter().flatten().collect();
                    match in_place_of_first(&items, &pushed) {
                        Some(more) => {
                            items = more;
                            continue;
                        }
                        None => Next::Unknown,
                    }
                }
                Step::PushAll(pushed) => match in_place_of_first(&items, &pushed) {
                    Some(more) => {
                        items = more;
                        continue;
                    }
                    None => Next::Unknown,
                },
            };
            return Ahead { items, next };
        }
        Ahead { items, next: Next::Unknown }
    }
}

/// Returns the frames in place of the first one, unless there would be too many.
pub(crate) fn in_place_of_first(open: &[Item], items: &[Item]) -> Option<ArrayVec<Item, FRAMES>> {
    let mut replaced = ArrayVec::new();
    replaced.try_extend_from_slice(items).ok()?;
    replaced.try_extend_from_slice(&open[1..]).ok()?;
    Some(replaced)
}
