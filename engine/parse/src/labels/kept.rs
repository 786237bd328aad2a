//! The complete rounds of repetitions that are mirrored. Equal lists of rounds have one number.

use rustc_hash::FxHashMap;

use super::context::Part;

/// Lists of rounds, each one round longer than another.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    /// For each list, but for the empty one: the list without its last round, and the parts of that round.
    lists: Vec<(u32, Box<[Part]>)>,
    numbers: FxHashMap<(u32, Box<[Part]>), u32>,
    /// The rounds of the lists that were asked for, the last one first: the numbers of the lists that they end.
    rounds: FxHashMap<u32, Box<[u32]>>,
    size: usize,
    /// The steps of work that are not counted yet.
    steps: u64,
}

impl Kept {
    /// The list without rounds.
    pub const NONE: u32 = 0;

    /// Returns a list with one more round, of these parts.
    pub fn add(&mut self, list: u32, parts: &[Part]) -> u32 {
        let key = (list, parts.into());
        if let Some(&known) = self.numbers.get(&key) {
            return known;
        }
        self.size += 2 * (size_of::<(u32, Box<[Part]>)>() + size_of_val(parts)) + size_of::<u32>();
        self.lists.push(key.clone());
        let number = self.lists.len() as u32;
        self.numbers.insert(key, number);
        number
    }

    /// Returns the parts of the round of a list after which there are `left` others.
    pub fn parts(&mut self, list: u32, left: u32) -> Option<&[Part]> {
        if !self.rounds.contains_key(&list) {
            let last = |list: &u32| self.lists.get((*list as usize).checked_sub(1)?).map(|(before, _)| *before);
            let rounds: Box<[u32]> =
                std::iter::successors(Some(list), last).filter(|&list| list != Kept::NONE).collect();
            self.size += size_of_val(&*rounds) + size_of::<(u32, Box<[u32]>)>();
            self.steps += rounds.len() as u64 / 8;
            self.rounds.insert(list, rounds);
        }
        let round = *self.rounds.get(&list)?.get(left as usize)?;
        self.lists.get(round as usize - 1).map(|(_, parts)| &**parts)
    }

    /// Returns the parts of all rounds of a list, in order.
    pub fn rounds(&self, list: u32) -> Vec<&[Part]> {
        let of = |list: u32| self.lists.get((list as usize).checked_sub(1)?).map(|(before, parts)| (*before, &**parts));
        let mut rounds: Vec<&[Part]> =
            std::iter::successors(of(list), |&(before, _)| of(before)).map(|(_, parts)| parts).collect();
        rounds.reverse();
        rounds
    }

    /// Returns the steps of work since the last call.
    pub fn take_steps(&mut self) -> u64 {
        std::mem::take(&mut self.steps)
    }

    /// Returns the memory that they take in bytes, about.
    pub fn size(&self) -> usize {
        self.size
    }
}
