//! The options that the texts with the greatest cost take.

use gramjet_session::decisions::{Derivation, OpenSite};
use rustc_hash::FxHashMap;

use crate::random::Random;

/// How often each option of each node was taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Habits {
    counts: FxHashMap<u32, Vec<u32>>,
}

/// The share of choices that ignore habits.
const FREE: f64 = 0.2;

impl Habits {
    /// Those of some texts.
    pub(crate) fn of<'d>(derivations: impl Iterator<Item = &'d Derivation>) -> Habits {
        let mut habits = Habits::default();
        for decision in derivations.flat_map(|derivation| &derivation.decisions) {
            let counts = habits.counts.entry(decision.place).or_default();
            let option = decision.option as usize;
            if counts.len() <= option {
                counts.resize(option + 1, 0);
            }
            counts[option] += 1;
        }
        habits
    }

    /// An option, mostly in proportion to how often it was taken.
    pub(crate) fn choose(&self, site: &OpenSite<'_>, random: &mut Random) -> u32 {
        let offered = site.offered() as usize;
        if offered <= 1 {
            return 0;
        }
        let counts = self.counts.get(&site.place()).filter(|_| random.unit() >= FREE);
        let counts = counts.map_or(&[][..], |counts| &counts[..counts.len().min(offered)]);
        let sum: u32 = counts.iter().sum();
        if sum > 0 {
            let mut left = random.below(sum as usize) as u32;
            for (option, &count) in counts.iter().enumerate() {
                if left < count {
                    return option as u32;
                }
                left -= count;
            }
        }
        loop {
            let option = random.below(offered) as u32;
            if site.takes(option) {
                return option;
            }
        }
    }
}
