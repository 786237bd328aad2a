//! The choice of the text of the frontier that is changed next: each in turn, or by score.

use super::alias::Alias;
use super::member::Member;
use super::pedigree::Pedigree;
use gramjet_search::Ranks;
use gramjet_session::Random;

/// An order in which the members of the frontier are taken, sweep by sweep.
pub(super) trait Frontier: Default + Send {
    /// The strategy's name.
    const NAME: &'static str;

    /// Begins a sweep over the members.
    fn begin(&mut self, members: &[Member], ranks: &Ranks);

    /// Returns the next of `members` members; `None` at the end of the sweep.
    fn next(&mut self, members: usize, random: &mut Random) -> Option<u32>;

    /// Takes note that a member was added; its number is the next one.
    fn add(&mut self, _parent: Option<u32>) {}

    /// Takes note that a variant of a member was run: a success of this value, or 0 for a failure.
    fn credit(&mut self, _member: u32, _value: u64) {}

    /// Takes note that only these members stay, and have the numbers of their places.
    fn keep(&mut self, _stay: &[u32]) {}
}

/// `SimpleFrontier`: all members in turn, also those that are added in the sweep.
#[derive(Clone, Debug, Default)]
pub(super) struct InTurn {
    next: usize,
}

impl Frontier for InTurn {
    const NAME: &'static str = "slackline";

    fn begin(&mut self, _members: &[Member], _ranks: &Ranks) {
        self.next = 0;
    }

    fn next(&mut self, members: usize, _random: &mut Random) -> Option<u32> {
        let number = self.next;
        self.next += 1;
        (number < members).then_some(number as u32)
    }
}

/// Members with lower scores than this many others are not drawn.
const ELIGIBLE: usize = 1000;

/// `WeightedFrontier`: each new member at once, then members drawn by their scores at the beginning of the
/// sweep, as many as are eligible.
#[derive(Clone, Debug, Default)]
pub(super) struct ByScore {
    pedigree: Pedigree,
    /// For each member its node of the pedigree.
    nodes: Vec<u32>,
    /// New members, the newest last.
    fresh: Vec<u32>,
    eligible: Vec<u32>,
    shares: Alias,
    /// Draws that are left in the sweep.
    draws: usize,
}

impl ByScore {
    /// Returns the score of a member with a cost of this rank.
    pub(super) fn score(&self, member: u32, rank: f64) -> f64 {
        self.pedigree.score(self.nodes[member as usize], rank)
    }
}

impl Frontier for ByScore {
    const NAME: &'static str = "slackline-mc";

    fn begin(&mut self, members: &[Member], ranks: &Ranks) {
        let score = |(number, member): (u32, &Member)| self.score(number, ranks.rank(member.cost));
        let scores: Vec<f64> = (0..).zip(members).map(score).collect();
        self.eligible = highest(&scores, ELIGIBLE);
        let weights: Vec<f64> = self.eligible.iter().map(|&member| scores[member as usize]).collect();
        self.shares = Alias::new(&weights);
        self.draws = self.eligible.len();
    }

    fn next(&mut self, _members: usize, random: &mut Random) -> Option<u32> {
        if self.draws == 0 {
            return None;
        }
        let member = self.fresh.pop().unwrap_or_else(|| {
            self.draws -= 1;
            self.eligible[self.shares.draw(random) as usize]
        });
        self.pedigree.select(self.nodes[member as usize]);
        Some(member)
    }

    fn add(&mut self, parent: Option<u32>) {
        let parent = parent.map(|member| self.nodes[member as usize]);
        self.fresh.push(self.nodes.len() as u32);
        self.nodes.push(self.pedigree.add(parent));
    }

    fn credit(&mut self, member: u32, value: u64) {
        self.pedigree.credit(self.nodes[member as usize], value);
    }

    fn keep(&mut self, stay: &[u32]) {
        let nodes: Vec<u32> = stay.iter().map(|&member| self.nodes[member as usize]).collect();
        self.nodes = self.pedigree.keep(&nodes);
        self.fresh = (0..stay.len() as u32).collect();
        self.draws = 0;
    }
}

/// Returns the places of the `most` highest scores.
fn highest(scores: &[f64], most: usize) -> Vec<u32> {
    let mut places: Vec<u32> = (0..scores.len() as u32).collect();
    if places.len() > most {
        let score = |place: &u32| scores[*place as usize];
        places.select_nth_unstable_by(most - 1, |one, other| score(other).total_cmp(&score(one)).then(one.cmp(other)));
        places.truncate(most);
        // The order does not depend on the way of selection.
        places.sort_unstable();
    }
    places
}

#[cfg(test)]
mod tests {
    use super::super::member::tests::member;
    use super::*;

    #[test]
    fn new_members_have_their_turn_in_the_same_sweep() {
        let (mut frontier, mut random) = (InTurn::default(), Random::new(1));
        assert_eq!([2, 2, 3, 3].map(|members| frontier.next(members, &mut random)), [Some(0), Some(1), Some(2), None]);
        frontier.begin(&[], &Ranks::new());
        assert_eq!(frontier.next(3, &mut random), Some(0));
    }

    /// Returns a frontier with two members of no parent, of costs 1 and 3, in its first sweep.
    fn two() -> ByScore {
        let (members, mut ranks) = ([member(1, &[]), member(3, &[])], Ranks::new());
        let mut frontier = ByScore::default();
        for member in &members {
            frontier.add(None);
            ranks.insert(member.cost);
        }
        frontier.begin(&members, &ranks);
        frontier
    }

    #[test]
    fn new_members_come_first_and_are_no_draws() {
        let (mut frontier, mut random) = (two(), Random::new(1));
        assert_eq!([0; 2].map(|_| frontier.next(2, &mut random)), [Some(1), Some(0)]);
        assert!(frontier.next(2, &mut random).is_some());
        frontier.add(Some(1));
        frontier.add(Some(2));
        assert_eq!([0; 2].map(|_| frontier.next(4, &mut random)), [Some(3), Some(2)]);
        // The second of two draws.
        assert!(frontier.next(4, &mut random).is_some_and(|member| member < 2));
        assert_eq!(frontier.next(4, &mut random), None);
    }

    #[test]
    fn draws_are_in_proportion_to_scores() {
        // Mid-ranks 1/4 and 3/4: scores 5/4 and 7/4.
        let (mut frontier, mut random) = (two(), Random::new(1));
        frontier.fresh.clear();
        frontier.draws = 12_000;
        let second = (0..12_000).filter(|_| frontier.next(2, &mut random) == Some(1)).count();
        // The standard deviation is 54.
        assert!(second.abs_diff(7000) < 300, "{second}");
    }

    #[test]
    fn members_that_stay_are_visited_once_more_and_keep_their_counts() {
        let (mut frontier, mut random) = (two(), Random::new(1));
        frontier.add(Some(0));
        frontier.credit(2, 10);
        let before = frontier.score(2, 0.5);
        frontier.keep(&[2, 1]);
        assert_eq!(frontier.next(2, &mut random), None);
        assert_eq!(frontier.score(0, 0.5), before);
        frontier.begin(&[member(1, &[]), member(3, &[])], &Ranks::new());
        assert_eq!([0; 2].map(|_| frontier.next(2, &mut random)), [Some(1), Some(0)]);
    }

    #[test]
    fn the_highest_scores_are_eligible() {
        assert_eq!(highest(&[1.0, 5.0, 3.0, 5.0, 2.0], 3), [1, 2, 3]);
        assert_eq!(highest(&[2.0, 2.0, 2.0], 2), [0, 1]);
        assert_eq!(highest(&[2.0, 1.0], 3), [0, 1]);
    }
}
