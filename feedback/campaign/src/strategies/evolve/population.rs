//! The texts of a generation: their fitness, and the selection among them.

use gramjet_session::SpanKind;
use gramjet_session::decisions::{Decision, Derivation};

use gramjet_search::Ending;
use gramjet_search::{Coverage, Novelty};
use gramjet_session::Random;

/// Texts that are selected for their fitness alone: 5 % of the published population.
pub(super) const ELITE: usize = 5;
/// Tournaments among the others, and the number of texts in each.
const TOURNAMENTS: usize = 10;
const CONTESTANTS: usize = 10;

/// A text of a generation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Member {
    pub(super) decisions: Vec<Decision>,
    /// Its cost, and its gain in coverage.
    pub(super) cost: f64,
    pub(super) gain: f64,
    /// The edges that it executes, in a search for coverage.
    pub(super) edges: Vec<u32>,
    pub(super) fitness: f64,
}

/// Returns the published fitness: lambda * exp(x)^2 / len(x), and infinite if the program failed. An instance of a rule
/// is an expansion. Lambda is the same for all texts and selects nothing, so it is 1.
pub(super) fn published(text: &Derivation, ending: Ending) -> f64 {
    let expansions = text.parts.iter().filter(|part| part.kind == SpanKind::Rule).count();
    match ending {
        Ending::Failed => f64::INFINITY,
        Ending::Done | Ending::Stopped => structure(expansions as f64, text.text.len() as f64),
    }
}

/// Returns exp(x)^2 / len(x), and 0 for the empty text.
fn structure(expansions: f64, len: f64) -> f64 {
    if len == 0.0 { 0.0 } else { expansions * expansions / len }
}

/// Returns the gain of a run in coverage: 1 for a new edge, and the share of the known edges whose maximum it has
/// raised.
pub(super) fn gain(novelty: Novelty, edges: usize) -> f64 {
    let is_new = f64::from(u8::from(novelty.coverage == Coverage::Edge));
    is_new + novelty.raised as f64 / edges.max(1) as f64
}

/// Sorts texts by fitness, the fittest first and earlier ones first among equals. Returns the numbers of those
/// selected: the elite, then the winner of each tournament among the others.
pub(super) fn select(members: &mut [Member], random: &mut Random) -> Vec<usize> {
    members.sort_by(|one, other| other.fitness.total_cmp(&one.fitness));
    let elite = ELITE.min(members.len());
    let others = members.len() - elite;
    let mut selected: Vec<usize> = (0..elite).collect();
    if others > 0 {
        let mut winner = || (0..CONTESTANTS).map(|_| random.below(others)).min().unwrap_or(0);
        selected.extend((0..TOURNAMENTS).map(|_| elite + winner()));
    }
    selected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::kit::language;

    fn members(fitness: impl IntoIterator<Item = f64>) -> Vec<Member> {
        fitness.into_iter().map(|fitness| Member { fitness, cost: fitness, ..Member::default() }).collect()
    }

    #[test]
    fn published_fitness_is_structure_and_failure() {
        assert_eq!([structure(4.0, 8.0), structure(3.0, 3.0), structure(5.0, 0.0)], [2.0, 3.0, 0.0]);
        // `(ab)` expands s, b, s, s, t and t.
        let mut deriver = language("s ::= b | t t  b ::= '(' s ')'  t ::= 'a'").deriver(Some(30));
        let mut text = Derivation::default();
        deriver.derive(&[], &mut |site: &gramjet_session::decisions::OpenSite<'_>| site.offered() - 1, &mut text);
        let expansions = text.parts.iter().filter(|part| part.kind == SpanKind::Rule).count() as f64;
        let fitness = [Ending::Done, Ending::Stopped, Ending::Failed].map(|ending| published(&text, ending));
        let expected = expansions * expansions / text.text.len() as f64;
        assert_eq!(fitness, [expected, expected, f64::INFINITY]);
    }

    #[test]
    fn a_gain_is_a_new_edge_and_the_raised_maxima() {
        let of = |coverage, raised| gain(Novelty { coverage, raised }, 8);
        assert_eq!([of(Coverage::Edge, 2), of(Coverage::Class, 2), of(Coverage::Known, 0)], [1.25, 0.25, 0.0]);
        assert_eq!(gain(Novelty::default(), 0), 0.0);
    }

    #[test]
    fn the_elite_is_selected_and_then_the_winners_among_the_others() {
        // Fitness 0 to 19: the elite is 19 to 15, and the number n of the sorted list has the fitness 19 - n.
        let mut all = members((0..20).map(f64::from));
        let (mut random, mut draws) = (Random::new(3), Random::new(3));
        let selected = select(&mut all, &mut random);
        assert_eq!(selected[..5], [0, 1, 2, 3, 4]);
        assert_eq!(
            all.iter().map(|member| member.fitness).collect::<Vec<_>>()[..6],
            [19.0, 18.0, 17.0, 16.0, 15.0, 14.0]
        );
        let winners: Vec<usize> = (0..10)
            .map(|_| {
                let contestants: Vec<usize> = (0..10).map(|_| 5 + draws.below(15)).collect();
                contestants.into_iter().max_by(|&one, &other| all[one].fitness.total_cmp(&all[other].fitness))
            })
            .map(|winner| winner.expect("ten contestants"))
            .collect();
        assert_eq!(selected[5..], winners);
    }

    #[test]
    fn few_texts_and_equal_ones_are_selected_in_order() {
        let mut random = Random::new(3);
        assert_eq!(select(&mut [], &mut random), [0; 0]);
        assert_eq!(select(&mut members([1.0, 2.0]), &mut random), [0, 1]);
        let mut six = members([1.0; 6]);
        six.iter_mut().zip(0..).for_each(|(member, number)| member.cost = f64::from(number));
        assert_eq!(select(&mut six, &mut random), [0, 1, 2, 3, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5]);
        assert!(six.iter().zip(0..).all(|(member, number)| member.cost == f64::from(number)));
        let mut failed = members([7.0, f64::INFINITY]);
        select(&mut failed, &mut random);
        assert_eq!(failed[0].fitness, f64::INFINITY);
    }
}
