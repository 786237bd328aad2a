//! The winnow: which texts stay on the frontier (Alsaeed & Young, ISSTA 2023).

use super::member::Member;
use gramjet_search::Maxima;
use gramjet_search::Ranks;

/// Texts that cost more than this share of the frontier stay.
const SHARE: f64 = 0.98;

/// Returns the numbers of the texts that stay, from the newest to the oldest: those that cost most, and those that add
/// coverage or a maximum to the newer ones. `maxima` is then what they add up to; `are_costly_counted` says whether
/// those that stay for their cost count in it.
pub(super) fn winnow(members: &[Member], maxima: &mut Maxima, are_costly_counted: bool) -> Vec<u32> {
    let mut costs = Ranks::new();
    for member in members {
        costs.insert(member.cost);
    }
    let cut = costs.quantile(SHARE);
    maxima.clear();
    let mut edges = Vec::new();
    let mut stays = |member: &Member| {
        let is_costly = member.cost > cut;
        if is_costly && !are_costly_counted {
            return true;
        }
        member.edges(&mut edges);
        maxima.add(&edges).is_any() || is_costly
    };
    let stay = (0..members.len()).rev().filter(|&number| stays(&members[number]));
    let mut stay: Vec<u32> = stay.map(|number| number as u32).collect();
    // Without counts of edges, and with a greatest cost that many share, none stands out.
    if stay.is_empty() {
        stay.extend((0..members.len() as u32).max_by_key(|&number| members[number as usize].cost));
    }
    stay
}

/// Leaves out the texts that cost least, until the rest have at most this many bytes, or one is left.
pub(super) fn shed(stay: &mut Vec<u32>, members: &[Member], most: usize) {
    let member = |number: u32| &members[number as usize];
    let mut bytes: usize = stay.iter().map(|&number| member(number).bytes()).sum();
    let mut cheap: Vec<u32> = stay.clone();
    cheap.sort_by_key(|&number| member(number).cost);
    cheap.pop();
    let mut dropped = vec![false; members.len()];
    for number in cheap {
        if bytes <= most {
            break;
        }
        bytes -= member(number).bytes();
        dropped[number as usize] = true;
    }
    stay.retain(|&number| !dropped[number as usize]);
}

#[cfg(test)]
mod tests {
    use super::super::member::tests::member;
    use super::*;

    #[test]
    fn new_and_costly_texts_stay_from_the_newest_to_the_oldest() {
        let members = [
            member(9, &[(1, 9)]),         // A maximum of edge 1.
            member(2, &[(1, 1), (2, 1)]), // A class of edge 1.
            member(1, &[(2, 1)]),         // Nothing that newer ones have not.
            member(4, &[(2, 1), (3, 4)]), // A new edge.
            member(3, &[(1, 3), (2, 1)]), // The newest.
        ];
        let mut maxima = Maxima::new();
        maxima.add(&[(7, 1)]);
        // At most one in fifty costs more than the cut: none here.
        assert_eq!(winnow(&members, &mut maxima, true), [4, 3, 1, 0]);
        assert_eq!([1, 2, 3, 7].map(|edge| maxima.of(edge)), [9, 1, 4, 0]);
    }

    #[test]
    fn costly_texts_count_unless_the_constants_are_the_published_ones() {
        // The quantile is 10; the cost of the newest is beyond it.
        let mut members: Vec<Member> = (0..99).map(|_| member(10, &[(1, 5)])).collect();
        members.push(member(11, &[(1, 5)]));
        let mut maxima = Maxima::new();
        assert_eq!(winnow(&members, &mut maxima, true), [99]);
        assert_eq!(maxima.of(1), 5);
        assert_eq!(winnow(&members, &mut maxima, false), [99, 98]);
    }

    #[test]
    fn the_cheapest_are_left_out_when_memory_is_short() {
        let members = [member(5, &[]), member(1, &[]), member(9, &[]), member(3, &[])];
        let size = members[0].bytes();
        let left = |most| {
            let mut stay = vec![3, 2, 1, 0];
            shed(&mut stay, &members, most);
            stay
        };
        assert_eq!(left(4 * size), [3, 2, 1, 0]);
        assert_eq!(left(3 * size), [3, 2, 0]);
        assert_eq!(left(2 * size + 1), [2, 0]);
        assert_eq!(left(0), [2]);
    }
}
