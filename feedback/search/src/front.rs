//! Trade-offs between several costs: the texts that no other text beats in all of them.

/// At most this many trade-offs are kept; of those that lie nearest to each other, one goes.
const MOST: usize = 128;

/// Items with several costs, none of which is beaten: no other costs at least as much by every measure.
#[derive(Clone, Debug)]
pub struct Front<T> {
    members: Vec<(Vec<u64>, T)>,
}

impl<T> Default for Front<T> {
    fn default() -> Front<T> {
        Front { members: Vec::new() }
    }
}

impl<T> Front<T> {
    /// Adds an item unless it is beaten. Returns the items that it replaces; `None` if it is beaten itself, or lies too
    /// near to others on a front that is full.
    pub fn add(&mut self, costs: &[u64], item: T) -> Option<Vec<T>> {
        if self.members.iter().any(|(known, _)| is_as_costly(known, costs)) {
            return None;
        }
        let beaten = self.members.extract_if(.., |(known, _)| is_as_costly(costs, known));
        let mut replaced: Vec<T> = beaten.map(|(_, item)| item).collect();
        self.members.push((costs.to_vec(), item));
        if self.members.len() > MOST {
            let crowded = self.crowded();
            let is_new = crowded == self.members.len() - 1;
            let (_, item) = self.members.remove(crowded);
            if is_new {
                return None;
            }
            replaced.push(item);
        }
        Some(replaced)
    }

    /// Returns the items with their costs, in no order that means anything.
    pub fn members(&self) -> impl Iterator<Item = (&[u64], &T)> {
        self.members.iter().map(|(costs, item)| (&costs[..], item))
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Returns true if there is none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Returns the item at a place below [`Front::len`].
    pub(crate) fn at(&self, place: usize) -> &T {
        &self.members[place].1
    }

    /// Returns the member with the least distance to the two that are nearest to it. Those that cost most by one
    /// measure are never taken.
    fn crowded(&self) -> usize {
        let costs = |place: usize| &self.members[place].0;
        let count = costs(0).len();
        let greatest = |cost: usize| self.members.iter().map(move |member| member.0[cost]).max();
        let is_extreme = |place: usize| (0..count).any(|cost| Some(costs(place)[cost]) == greatest(cost));
        let nearest = |place: usize| {
            let others = (0..self.members.len()).filter(|&other| other != place);
            let distances = others.map(|other| distance(costs(place), costs(other)));
            let least = distances.fold([f64::INFINITY; 2], |[one, two], next| [one.min(next), two.min(next.max(one))]);
            least[0] + least[1]
        };
        let inner = (0..self.members.len()).filter(|&place| !is_extreme(place));
        let distances = inner.map(|place| (nearest(place), place));
        distances.min_by(|one, other| one.0.total_cmp(&other.0)).map_or(self.members.len() - 1, |found| found.1)
    }
}

/// Returns true if the first costs at least as much as the second by every measure.
fn is_as_costly(one: &[u64], other: &[u64]) -> bool {
    one.iter().zip(other).all(|(one, other)| one >= other)
}

/// Returns the greatest difference by one measure, on a logarithmic scale.
fn distance(one: &[u64], other: &[u64]) -> f64 {
    let log = |cost: u64| (cost as f64 + 1.0).ln();
    one.iter().zip(other).map(|(&one, &other)| (log(one) - log(other)).abs()).fold(0.0, f64::max)
}

/// Returns one number for several costs, which guides searches: a thousand times their geometric mean, each counted
/// from one on. It rises with each of them, and twice as much by one measure counts the same as by another.
pub(crate) fn together(costs: &[u64]) -> u64 {
    let logs: f64 = costs.iter().map(|&cost| (cost as f64 + 1.0).ln()).sum();
    (1000.0 * (logs / costs.len().max(1) as f64).exp()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(front: &Front<char>) -> String {
        let mut names: Vec<char> = front.members().map(|member| *member.1).collect();
        names.sort_unstable();
        names.into_iter().collect()
    }

    #[test]
    fn what_is_beaten_by_every_measure_goes() {
        let mut front = Front::default();
        assert_eq!(front.add(&[5, 1], 'a'), Some(vec![]));
        assert_eq!(front.add(&[1, 5], 'b'), Some(vec![]));
        assert_eq!(front.add(&[5, 1], 'c'), None);
        assert_eq!(front.add(&[4, 1], 'd'), None);
        assert_eq!(front.add(&[3, 3], 'e'), Some(vec![]));
        assert_eq!(names(&front), "abe");
        assert_eq!(front.add(&[5, 3], 'f'), Some(vec!['a', 'e']));
        assert_eq!(names(&front), "bf");
    }

    #[test]
    fn a_full_front_loses_what_lies_near_to_others_and_keeps_the_extremes() {
        let mut front = Front::default();
        for step in 0..400u64 {
            front.add(&[1000 + step, 10_000_000 / (1000 + step)], step);
        }
        assert_eq!(front.len(), MOST);
        let steps: Vec<u64> = front.members().map(|member| *member.1).collect();
        assert!(steps.contains(&0) && steps.contains(&399));
        let mut steps = steps;
        steps.sort_unstable();
        let widest = steps.windows(2).map(|pair| pair[1] - pair[0]).max();
        assert!(widest < Some(40), "{steps:?}");
    }

    #[test]
    fn costs_together_rise_with_each() {
        assert_eq!(together(&[9]), 10_000);
        assert_eq!(together(&[99, 0]), 10_000);
        assert!(together(&[1000, 7]) < together(&[1001, 7]) && together(&[1000, 7]) < together(&[1000, 8]));
        assert_eq!(together(&[u64::MAX, u64::MAX]), u64::MAX);
    }
}
