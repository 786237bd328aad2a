//! A derivation that is led along a path, and takes what is still wanted on the way.

use std::collections::BTreeMap;

use gramjet::choices::SpanKind;
use gramjet_compiler::ir::{Ir, NodeId};
use gramjet_engine::decisions::{Begun, Guide, OpenSite};

use super::paths::Paths;
use super::steps::{FEWEST, MORE, NONE, Place, Steps};
use crate::random::Random;

/// The most rounds of a repetition that are taken for what they may contain.
const MOST_ROUNDS: u32 = 64;

/// Leads a derivation. Where nothing is asked for, it takes the shortest way to the end, and beyond `max_depth` the
/// lowest.
pub(super) struct Walk<'w> {
    pub ir: &'w Ir,
    pub steps: &'w Steps,
    pub paths: &'w Paths,
    pub members: &'w Members,
    pub max_depth: Option<u32>,
    /// The steps to take, each within the one before, and the number of those that were taken.
    pub spine: &'w [u32],
    pub taken: usize,
    /// The innermost open instance of a rule at the end of the spine.
    pub home: Option<usize>,
    pub wishes: Wishes<'w>,
    pub random: &'w mut Random,
    pub open: Vec<Open>,
    /// The members of classes so far: the node, the option, and the place in the text.
    pub members_taken: Vec<(u32, u32, u64)>,
}

/// Steps that are taken beside the spine.
pub(super) struct Wishes<'w> {
    /// For each path the number of texts that have it.
    pub covered: &'w [u32],
    /// The paths that this text has.
    pub own: Vec<bool>,
    /// The bytes that may be spent.
    pub left: u64,
    /// For each step the cost of the way from it to one that begins a path which is wanted.
    pub near: &'w [u64],
    /// Way of deciding what nothing is asked for.
    pub otherwise: Otherwise,
    /// For nodes of the instance in which the spine ends: the option, or the rounds beyond the fewest.
    pub forced: &'w BTreeMap<u32, u32>,
}

/// Ways of deciding what nothing is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Otherwise {
    /// The shortest text.
    Shortest,
    /// The shortest text, but repetitions have a round more than they need.
    Lavish,
    /// By chance, with the grammar's own probabilities.
    Drawn,
}

/// An open part.
pub(super) struct Open {
    place: u32,
    kind: SpanKind,
    depth: u32,
    /// The paths that end with its step.
    paths: Vec<u32>,
    /// The innermost open part that is a step: it may be this one.
    step: Option<usize>,
    /// Whether the step is on the spine.
    is_spine: bool,
    /// The option of a repetition, and the rounds beyond the fewest that were taken.
    rounds: (u32, u32),
}

impl Walk<'_> {
    /// Returns the paths of the innermost step around what comes next.
    fn around(&self) -> &[u32] {
        let step = self.open.last().and_then(|part| part.step);
        step.map_or(&[], |step| &self.open[step].paths)
    }

    /// Returns the option that the spine has for a place, if it is the next one on it.
    fn spine_option(&self, place: Place) -> Option<u32> {
        let next = self.steps.get(*self.spine.get(self.taken)?);
        let around = self.open.last().and_then(|part| part.step);
        let is_within = match around {
            Some(step) => self.open[step].is_spine && self.taken > 0,
            None => self.taken == 0,
        };
        (next.place == place && is_within).then_some(next.option)
    }

    /// Opens the step of a part: its paths count from here on.
    fn open_step(&mut self, step: u32, is_spine: bool) {
        let mut paths = Vec::new();
        let number = self.open.len() - 1;
        let before = number.checked_sub(1).and_then(|before| self.open[before].step);
        self.paths.ending(before.map_or(&[], |before| &self.open[before].paths), step, &mut paths);
        if self.wishes.left > 0 {
            paths.iter().for_each(|&path| self.wishes.own[path as usize] = true);
        }
        let part = &mut self.open[number];
        (part.paths, part.step, part.is_spine) = (paths, Some(number), is_spine);
        if is_spine {
            self.taken += 1;
            let is_end = self.taken == self.spine.len();
            self.home = if is_end { self.instance() } else { None };
        }
    }

    /// Returns the innermost open instance of a rule.
    fn instance(&self) -> Option<usize> {
        self.open.iter().rposition(|part| part.kind == SpanKind::Rule)
    }

    /// Returns what is forced at a node here.
    fn forced(&self, node: u32) -> Option<u32> {
        let forced = self.wishes.forced.get(&node).copied();
        forced.filter(|_| self.home.is_some() && self.home == self.instance())
    }

    /// Returns true if a step after the paths `before` has a path that is still wanted.
    fn is_wanted(&self, before: &[u32], step: u32) -> bool {
        let mut paths = Vec::new();
        self.paths.ending(before, step, &mut paths);
        paths.iter().any(|&path| self.wishes.is_wanted(path))
    }

    /// Returns an option of a node that is still wanted, or leads to one, by a shortest way, if there is room for it.
    fn wanted_option(&mut self, node: u32, offered: u32, before: &[u32]) -> Option<u32> {
        if self.wishes.left == 0 {
            return None;
        }
        let mut best: Option<((bool, u64), u32)> = None;
        let mut same = 0;
        for option in 0..offered {
            let Some(step) = self.steps.of_node(node, option) else { continue };
            let is_wanted = self.is_wanted(before, step);
            let way = if is_wanted { 0 } else { self.wishes.near.get(step as usize).copied().unwrap_or(u64::MAX) };
            let cost = self.steps.get(step).extra.saturating_add(way);
            if cost > self.wishes.left || best.is_some_and(|(least, _)| (!is_wanted, cost) > least) {
                continue;
            }
            same = if best.is_some_and(|(least, _)| (!is_wanted, cost) == least) { same + 1 } else { 1 };
            if self.random.below(same) == 0 {
                best = Some(((!is_wanted, cost), option));
            }
        }
        let (_, option) = best?;
        let extra = self.steps.of_node(node, option).map_or(0, |step| self.steps.get(step).extra);
        self.wishes.left = self.wishes.left.saturating_sub(extra + 1);
        Some(option)
    }

    fn is_deep(&self, depth: u32) -> bool {
        self.max_depth.is_some_and(|most| depth > most)
    }

    /// Decides the option of a node that begins here; the boolean says whether it is on the spine.
    fn decide(&mut self, node: u32, offered: u32, depth: u32) -> (u32, bool) {
        if self.is_deep(depth) {
            return (self.lowest(node, offered), false);
        }
        if let Some(option) = self.spine_option(Place::Node(node)) {
            return (option, true);
        }
        let is_repetition = self.ir.node(NodeId::new(node as usize)).choice().is_none();
        if let Some(option) = self.forced(node) {
            return (if is_repetition { option.min(MORE) } else { option }, false);
        }
        let before = self.around().to_vec();
        let option = self.wanted_option(node, offered, &before).unwrap_or_else(|| self.otherwise(node, offered));
        (option.min(offered - 1), false)
    }

    /// Decides the option of a node for which nothing is asked.
    fn otherwise(&mut self, node: u32, offered: u32) -> u32 {
        match (self.ir.node(NodeId::new(node as usize)).choice(), self.wishes.otherwise) {
            (_, Otherwise::Shortest) | (Some(_), Otherwise::Lavish) => 0,
            (None, Otherwise::Lavish) => MORE,
            (None, Otherwise::Drawn) => self.random.below(2) as u32,
            (Some(choice), Otherwise::Drawn) => {
                let all: f64 = (0..offered).map(|option| choice.share(option as usize)).sum();
                let mut drawn = self.random.unit() * all;
                let mut falls = |&option: &u32| {
                    drawn -= choice.share(option as usize);
                    drawn < 0.0
                };
                (0..offered).find(&mut falls).unwrap_or(0)
            }
        }
    }

    /// Returns the option with the lowest derivation.
    fn lowest(&self, node: u32, offered: u32) -> u32 {
        let Some(choice) = self.ir.node(NodeId::new(node as usize)).choice() else { return FEWEST };
        let depth = |option: &u32| self.ir.facts(choice.options[*option as usize]).min_depth;
        (0..offered).min_by_key(depth).unwrap_or(0)
    }

    /// Decides on a round of the repetition that is open.
    fn round(&mut self, place: u32) -> u32 {
        let Some(number) = self.open.iter().rposition(|part| part.place == place && is_repetition(part.kind)) else {
            return FEWEST;
        };
        let (option, done) = self.open[number].rounds;
        if let Some(rounds) = self.forced(place) {
            self.open[number].rounds.1 += 1;
            return (done < rounds).into();
        }
        let goes_on = option == MORE && (done == 0 || done < MOST_ROUNDS && self.wants_round(number));
        self.open[number].rounds.1 += u32::from(goes_on);
        goes_on.into()
    }

    /// Returns true if something that is still wanted can be in another round.
    fn wants_round(&mut self, number: usize) -> bool {
        let before = &self.open[number].paths;
        let is_wanted = |&path: &u32| self.paths.longer(path).any(|longer| self.wishes.is_wanted(longer));
        let is_drawn = self.wishes.otherwise == Otherwise::Drawn && self.random.below(2) == 1;
        let step = self.steps.of_node(self.open[number].place, MORE).map(|step| step as usize);
        let way = step.and_then(|step| self.wishes.near.get(step)).copied().unwrap_or(u64::MAX);
        let is_near = way.saturating_add(step.map_or(0, |step| self.steps.get(step as u32).extra)) < self.wishes.left;
        let goes_on = is_drawn || self.wishes.left > 0 && (is_near || before.iter().any(is_wanted));
        let extra = step.filter(|_| goes_on).map_or(0, |step| 1 + self.steps.get(step as u32).extra);
        self.wishes.left = self.wishes.left.saturating_sub(extra);
        goes_on
    }
}

impl Wishes<'_> {
    fn is_wanted(&self, path: u32) -> bool {
        self.left > 0 && self.covered[path as usize] == 0 && !self.own[path as usize]
    }
}

fn is_repetition(kind: SpanKind) -> bool {
    matches!(kind, SpanKind::Repetition { .. })
}

impl Guide for Walk<'_> {
    fn begin(&mut self, Begun { kind, place, depth, .. }: Begun) {
        let step = self.open.last().and_then(|part| part.step);
        let (paths, is_spine) = (Vec::new(), false);
        let is_beyond = self.is_deep(depth);
        let rule = (kind == SpanKind::Rule && !is_beyond).then(|| self.steps.of_rule(place)).flatten();
        let on_spine = rule.is_some() && self.spine_option(Place::Rule(place)).is_some();
        let first = is_repetition(kind).then(|| self.steps.of_node(place, FEWEST)).flatten();
        let rounds = first.map(|_| self.decide(place, 2, depth));
        let option = rounds.map_or(FEWEST, |(option, _)| option);
        self.open.push(Open { place, kind, depth, paths, step, is_spine, rounds: (option, 0) });
        match (rule, rounds) {
            (Some(step), _) => self.open_step(step, on_spine),
            (None, Some((option, on_spine))) if !is_beyond => {
                self.open_step(first.unwrap_or(NONE) + option, on_spine);
            }
            (None, _) => {}
        }
    }

    fn end(&mut self) {
        self.open.pop();
        if self.home.is_some_and(|home| home >= self.open.len()) {
            self.home = None;
        }
    }

    fn taken(&mut self, place: u32, option: u32, at: u64) {
        if self.ir.node(NodeId::new(place as usize)).class().is_some() {
            self.members_taken.push((place, option, at));
        }
    }

    fn moved(&mut self, first: u64, moved: &dyn Fn(u64) -> u64) {
        let after = self.members_taken.iter_mut().filter(|(.., at)| *at >= first);
        after.for_each(|(.., at)| *at = moved(*at));
    }

    fn choose(&mut self, site: &OpenSite<'_>) -> u32 {
        let (place, offered) = (site.place(), site.offered());
        let Some(part) = self.open.last() else { return 0 };
        let depth = part.depth;
        match part.kind {
            SpanKind::Choice if part.place == place => {
                let (option, on_spine) = self.decide(place, offered, depth);
                if let Some(step) = self.steps.of_node(place, option).filter(|_| !self.is_deep(depth)) {
                    self.open_step(step, on_spine);
                }
                option
            }
            SpanKind::Round if part.place == place => self.round(place),
            _ => match self.forced(place) {
                Some(option) => option,
                None => self.members.draw(place, offered, self.random),
            },
        }
    }
}

/// The members of classes that are drawn: readable ones where there are some.
#[derive(Clone, Debug)]
pub(super) struct Members(Vec<Option<Box<[u32]>>>);

impl Members {
    /// Returns the members of the classes of a grammar.
    pub fn new(ir: &Ir) -> Members {
        let of_node = |node: NodeId| {
            let set = ir.node(node).class()?;
            let short = set.len_within(set.min_len());
            let is_readable = |&(_, member): &(u32, u32)| (0x21..0x7F).contains(&member);
            // Members ascend, so readable ones come early.
            let readable = (0..).zip(set.iter().take(0x7F).take(short as usize)).filter(is_readable);
            Some(readable.map(|(option, _)| option).collect())
        };
        Members((0..ir.node_count()).map(NodeId::new).map(of_node).collect())
    }

    /// Draws an option of a class, or of a name that is taken.
    pub fn draw(&self, place: u32, offered: u32, random: &mut Random) -> u32 {
        let readable = self.0.get(place as usize).and_then(Option::as_deref);
        match readable {
            Some([]) => 0,
            Some(options) => {
                let within = options.partition_point(|&option| option < offered);
                if within == 0 { 0 } else { options[random.below(within)] }
            }
            None => random.below(offered.max(1) as usize) as u32,
        }
    }
}
