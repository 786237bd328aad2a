//! Weights learned from samples: what their derivations use is counted, and the counts become weights.
//!
//! Sources: Pavese, Soremekun, Havrikov, Grunske and Zeller, *Inputs from Hell* (2018, arXiv 1812.07525): probabilities
//! of alternatives from samples, and their inversion. The inversion by powers is that of the generator tribble, the
//! one by ranks that of *The Fuzzing Book*.

use crate::charset::CharSet;
use crate::ir::slots::largest_remainder;
use crate::ir::{Ir, NodeId};
use crate::machine::{DecidedSite, Kind, NONE, Part, Position, Recorder};
use crate::ordered::{Map, sort_by};
use crate::sources::{Source, Sources};

use super::weights::{Group, Law, MOST_RANGES, Weights};

mod rounds;

/// Rule by which counts become weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct How {
    /// This number is added to the count of each alternative (Laplace). With 0, alternatives that no sample has are
    /// hardly ever taken.
    pub smoothing: f64,
    /// Treatment of a learned probability.
    pub inversion: Inversion,
}

/// Treatment of learned probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inversion {
    /// `(p + damping)^similarity`, then divided by the sum. A similarity of 1 keeps them (if there is no damping), 0
    /// makes all equal, -1 inverts them.
    Power {
        /// The exponent, from -1 to 1.
        similarity: f64,
        /// Is added first; greater than 0 if the exponent is negative.
        damping: f64,
    },
    /// The most frequent alternative gets the least probability, the second the second least, and so on.
    Ranks,
}

impl How {
    /// Probabilities as in the samples.
    pub const COMMON: How = How { smoothing: 0.0, inversion: Inversion::Power { similarity: 1.0, damping: 0.0 } };
}

/// Counts of what derivations of a grammar have used, by the nodes of its lowered form.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// For choices, by option.
    options: Vec<Box<[u64]>>,
    /// For classes, by member in ascending order; the first [`FEW`] members.
    members: Vec<Box<[u64]>>,
    /// The other members.
    more: Map<(NodeId, u32), u64>,
    /// For repetitions, by the bin of the number of rounds beyond the minimum.
    rounds: Vec<Vec<u64>>,
    /// The open repetitions and their rounds.
    open: Vec<(NodeId, u32)>,
}

/// Further members of a class are counted in a map.
const FEW: u32 = 512;

/// The most members that are counted in the map.
const MOST: usize = 1 << 18;

/// Numbers of rounds from here on share bins, 64 for each power of two.
const EXACT: u32 = 1024;

/// The span of a round.
const ROUND: u32 = NONE - 1;

impl Counts {
    /// Returns the counts of a grammar before its first derivation.
    pub fn new(ir: &Ir) -> Counts {
        let nodes = || (0..ir.node_count()).map(NodeId::new);
        let options = |node| ir.node(node).choice().map_or(0, |choice| choice.options.len());
        let members = |node| ir.node(node).class().map_or(0, |set| set.len().min(FEW) as usize);
        Counts {
            options: nodes().map(|node| vec![0; options(node)].into()).collect(),
            members: nodes().map(|node| vec![0; members(node)].into()).collect(),
            rounds: vec![Vec::new(); ir.node_count()],
            ..Counts::default()
        }
    }

    /// Adds those of other derivations of the same grammar.
    pub fn add(&mut self, other: &Counts) {
        let add = |own: &mut [u64], other: &[u64]| own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        self.options.iter_mut().zip(&other.options).for_each(|(own, other)| add(own, other));
        self.members.iter_mut().zip(&other.members).for_each(|(own, other)| add(own, other));
        for (own, other) in self.rounds.iter_mut().zip(&other.rounds) {
            own.resize(own.len().max(other.len()), 0);
            add(own, other);
        }
        other.more.iter().for_each(|(&key, count)| *self.more.entry(key).or_insert(0) += count);
    }

    /// Returns how often each option of a choice was taken, in canonical order.
    pub fn of_choice(&self, choice: NodeId) -> &[u64] {
        &self.options[choice.index()]
    }

    /// Returns the numbers of rounds beyond the minimum that occurred, ascending, and how often. Large numbers are
    /// rounded.
    pub fn of_repetition(&self, node: NodeId) -> Vec<(u32, u64)> {
        let counts = self.rounds[node.index()].iter().copied();
        let middle = |bin| rounds_of(bin) + (rounds_of(bin + 1) - rounds_of(bin)) / 2;
        (0..).map(middle).zip(counts).filter(|&(_, count)| count > 0).collect()
    }

    /// Returns the members of a class that occurred, ascending, and how often.
    pub fn of_class(&self, node: NodeId, set: &CharSet) -> Vec<(u32, u64)> {
        let few = set.iter().zip(self.members[node.index()].iter().copied()).filter(|&(_, count)| count > 0);
        let more = self.more.iter().filter(|((of, _), _)| *of == node);
        few.chain(more.filter_map(|(&(_, place), &count)| Some((set.nth(place)?, count)))).collect()
    }
}

/// Returns the bin of a number of rounds.
fn bin(rounds: u32) -> usize {
    match rounds {
        0..EXACT => rounds as usize,
        _ => {
            let power = rounds.ilog2();
            (EXACT + (power - EXACT.ilog2()) * 64 + (rounds >> (power - 6) & 63)) as usize
        }
    }
}

/// Returns the least number of rounds of a bin.
fn rounds_of(bin: u32) -> u32 {
    match bin.checked_sub(EXACT) {
        None => bin,
        Some(further) => (64 + further % 64) << (EXACT.ilog2() - 6 + further / 64),
    }
}

impl Recorder for &mut Counts {
    const TEXT: bool = false;

    #[inline]
    fn begin(&mut self, kind: Kind, part: Part, _depth: u32, _at: Position) -> u32 {
        match (kind, part) {
            (Kind::Repetition, Part::Node(node)) => {
                self.open.push((node, 0));
                0
            }
            (Kind::Round, _) => {
                if let Some((_, rounds)) = self.open.last_mut() {
                    *rounds = rounds.saturating_add(1);
                }
                ROUND
            }
            _ => NONE,
        }
    }

    #[inline]
    fn end(&mut self, span: u32, _at: Position) {
        if span != ROUND
            && let Some((node, rounds)) = self.open.pop()
        {
            let (counts, bin) = (&mut self.rounds[node.index()], bin(rounds));
            counts.resize(counts.len().max(bin + 1), 0);
            counts[bin] += 1;
        }
    }

    #[inline]
    fn cancel(&mut self, _span: u32) {
        if let Some((_, rounds)) = self.open.last_mut() {
            *rounds -= 1;
        }
    }

    #[inline]
    fn site(&mut self, DecidedSite { node, option, .. }: DecidedSite) {
        let members = &mut self.members[node.index()];
        let is_class = !members.is_empty();
        match members.get_mut(option as usize) {
            Some(count) => *count += 1,
            None if !is_class => {}
            None if self.more.len() < MOST || self.more.contains_key(&(node, option)) => {
                *self.more.entry((node, option)).or_insert(0) += 1;
            }
            None => {}
        }
    }

    #[inline]
    fn option(&mut self, choice: NodeId, option: u32) {
        self.options[choice.index()][option as usize] += 1;
    }
}

/// Fineness with which weights follow the counts.
#[derive(Clone, Copy)]
struct Detail {
    /// The most ranges of rounds of a repetition, and of one that has choices or repetitions within: each range copies
    /// what is repeated.
    ranges: usize,
    nested_ranges: usize,
    /// The most members of a class with a weight of their own.
    groups: usize,
}

/// From fine to coarse.
const DETAILS: [Detail; 4] = [
    Detail { ranges: MOST_RANGES, nested_ranges: 4, groups: 256 },
    Detail { ranges: 8, nested_ranges: 2, groups: 64 },
    Detail { ranges: 4, nested_ranges: 0, groups: 16 },
    Detail { ranges: 0, nested_ranges: 0, groups: 16 },
];

/// Returns the weights that counts give to the places of a grammar. Places that no derivation has come to keep those of
/// the grammar. They are as fine as `fits` allows.
pub(crate) fn weights(
    ir: &Ir,
    sources: &Sources,
    counts: &Counts,
    how: &How,
    fits: &dyn Fn(&Weights) -> bool,
) -> Weights {
    let mut found = Weights::default();
    for detail in DETAILS {
        found = detailed(ir, sources, counts, how, detail);
        if fits(&found) {
            break;
        }
    }
    found
}

fn detailed(ir: &Ir, sources: &Sources, counts: &Counts, how: &How, detail: Detail) -> Weights {
    let mut weights = Weights::default();
    for (node, source) in sources.iter() {
        let Some(choice) = ir.node(node).choice() else { continue };
        let taken = counts.of_choice(node);
        let shares = how.shares(taken, |option| !choice.is_only_read(option));
        if let Some(law) = shares.map(|shares| of_alternatives(source, &shares)) {
            weights.set(source.rule.index(), source.place, law);
        }
    }
    for (node, repetition) in sources.repetitions() {
        let most = if repetition.is_nested { detail.nested_ranges } else { detail.ranges };
        if let Some(law) = how.rounds(&counts.of_repetition(node), repetition.room, most) {
            weights.set(repetition.rule.index(), repetition.place, law);
        }
    }
    for (node, rule, number) in sources.classes() {
        let Some(set) = ir.node(node).class() else { continue };
        if let Some(groups) = how.groups(&counts.of_class(node, set), set, detail.groups) {
            weights.set_class(rule.index(), number, groups);
        }
    }
    weights
}

/// Returns the weights of a choice, by alternative in source order. Alternatives that are no options have 0.
fn of_alternatives(source: &Source, shares: &[f64]) -> Law {
    let mut weights = vec![0; source.of as usize];
    for (&(alternative, _), weight) in source.alternatives.iter().zip(slots_of(shares)) {
        weights[alternative as usize] = weight;
    }
    Law::Choice(weights)
}

/// Returns whole numbers in proportion to the shares. Their sum is 65536 if no share is 0. Only shares of 0 become 0.
fn slots_of(shares: &[f64]) -> Vec<u32> {
    const TOTAL: u32 = 1 << 16;
    let positive = shares.iter().filter(|&&share| share > 0.0).count();
    slots_among(shares, if positive > TOTAL as usize / 16 { 1 << 24 } else { TOTAL })
}

/// Returns whole numbers in proportion to the shares, with the sum `total`. If all shares are 0, each number is 1.
fn slots_among(shares: &[f64], total: u32) -> Vec<u32> {
    let positive: Vec<f64> = shares.iter().copied().filter(|&share| share > 0.0).collect();
    if positive.is_empty() {
        return vec![1; shares.len()];
    }
    let mut slots = largest_remainder(&positive, total).unwrap_or_default().into_iter();
    shares.iter().map(|&share| if share > 0.0 { slots.next().unwrap_or(1) } else { 0 }).collect()
}

impl How {
    /// Returns the shares of options that were taken this often; `None` if none was. Options that are not generated are
    /// not smoothed.
    fn shares(&self, taken: &[u64], is_generated: impl Fn(usize) -> bool) -> Option<Vec<f64>> {
        if taken.iter().all(|&count| count == 0) {
            return None;
        }
        let smoothed = taken.iter().enumerate().map(|(option, &count)| {
            count as f64 + if count > 0 || is_generated(option) { self.smoothing } else { 0.0 }
        });
        let open: Vec<bool> = (0..taken.len()).map(|option| taken[option] > 0 || is_generated(option)).collect();
        Some(self.invert(&smoothed.collect::<Vec<_>>(), &open))
    }

    /// Inverts weights where the inversion says so. Only those that are open can become positive.
    fn invert(&self, weights: &[f64], open: &[bool]) -> Vec<f64> {
        let sum: f64 = weights.iter().sum();
        let shares = weights.iter().map(|weight| weight / sum);
        match self.inversion {
            Inversion::Power { similarity, damping } => {
                let powers =
                    shares.zip(open).map(|(share, &open)| if open { (share + damping).powf(similarity) } else { 0.0 });
                let powers: Vec<f64> = powers.collect();
                let sum: f64 = powers.iter().sum();
                powers.iter().map(|power| power / sum).collect()
            }
            Inversion::Ranks => {
                let mut order: Vec<usize> = (0..weights.len()).filter(|&option| open[option]).collect();
                sort_by(&mut order, |&a, &b| weights[b].total_cmp(&weights[a]));
                let mut swapped = vec![0.0; weights.len()];
                for (&to, &from) in order.iter().zip(order.iter().rev()) {
                    swapped[to] = weights[from] / sum;
                }
                swapped
            }
        }
    }

    /// Returns the weights of the members of a class, in groups: the most frequent members, the other ones, and those
    /// that did not occur.
    fn groups(&self, counts: &[(u32, u64)], set: &CharSet, most: usize) -> Option<Vec<Group>> {
        if counts.is_empty() {
            return None;
        }
        let mut frequent = counts.to_vec();
        sort_by(&mut frequent, |a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let rare = frequent.split_off(frequent.len().min(most));
        let mut parts: Vec<(CharSet, f64)> =
            frequent.iter().map(|&(member, count)| (CharSet::single(set.unit(), member), count as f64)).collect();
        if !rare.is_empty() {
            let ranges = rare.iter().map(|&(member, _)| (member, member));
            parts.push((CharSet::new(set.unit(), ranges), rare.iter().map(|&(_, count)| count as f64).sum()));
        }
        let found = CharSet::new(set.unit(), counts.iter().map(|&(member, _)| (member, member)));
        let rest = set.difference(&found);
        if !rest.is_empty() {
            parts.push((rest, 0.0));
        }
        let sizes: Vec<f64> = parts.iter().map(|(part, _)| f64::from(part.len())).collect();
        // The members of a part are equally probable, and each counts by itself.
        let each: Vec<f64> = parts.iter().zip(&sizes).map(|((_, count), size)| count / size + self.smoothing).collect();
        let shares = self.invert(&each, &vec![true; each.len()]);
        let shares: Vec<f64> = shares.iter().zip(&sizes).map(|(share, size)| share * size).collect();
        let sum: f64 = shares.iter().sum();
        let weights = slots_of(&shares.iter().map(|share| share / sum).collect::<Vec<_>>());
        let mut groups: Vec<Group> = parts
            .into_iter()
            .zip(weights)
            .map(|((part, _), weight)| Group { weight, ranges: part.ranges().to_vec() })
            .collect();
        sort_by(&mut groups, |a, b| a.ranges.cmp(&b.ranges));
        Some(groups)
    }
}

#[cfg(test)]
mod tests;
