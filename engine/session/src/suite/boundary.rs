//! Texts at the boundaries of a grammar: the fewest and the most rounds, the edges of classes, the ends of ranges, the
//! shortest and the longest texts; and texts just beyond, which are not in the language.

use std::collections::BTreeMap;

use gramjet::choices::SpanKind;
use gramjet_compiler::Compiled;
use gramjet_compiler::charset::CharSet;
use gramjet_compiler::ir::{NodeId, Rounds, RuleId};
use gramjet_compiler::limits::Limits;
use gramjet_parse::{Budget, ParseError, Parser};

use super::case::Case;
use super::counts::Counts;
use super::lead::{Demands, Lead, Led};
use super::pairs::classes_in;
use super::paths::TooMany;
use super::steps::{FEWEST, MORE, Place, taken};
use super::tokens::{encoded, outside, stretch};
use super::unique::{Known, Novelty};
use super::walk::Otherwise;

/// The most rounds of a repetition that are made.
const MOST_ROUNDS: u32 = 1 << 12;
/// The edges of at most this many ranges of a class are taken: the first and the last ones.
const MOST_RANGES: usize = 8;

/// Texts at boundaries, and beyond.
#[derive(Clone, Debug, Default)]
pub struct Boundary {
    /// The texts.
    pub cases: Vec<Case>,
    /// The boundaries of which no text was found within the limits, or of which the text is there already.
    pub left_out: usize,
}

struct Maker<'c> {
    lead: Lead<'c>,
    parser: &'c Parser,
    known: Known,
    made: Boundary,
}

/// Returns texts at the boundaries of a grammar. The parser says which texts beyond are not in the language; it may
/// accept more than the grammar makes.
///
/// # Errors
///
/// If the grammar is too large.
pub fn boundary(compiled: &Compiled, parser: &Parser, limits: Limits, seed: u64) -> Result<Boundary, TooMany> {
    let lead = Lead::new(compiled, 1, limits, seed)?;
    let mut maker = Maker { lead, parser, known: Known::new(Known::MOST), made: Boundary::default() };
    maker.lengths(compiled, limits.max_len);
    for step in 0..maker.lead.steps.len() as u32 {
        if maker.lead.ways[0].cost[step as usize] != u64::MAX {
            maker.rounds(step);
            maker.classes(step);
        }
    }
    Ok(maker.made)
}

/// Something at a boundary.
struct About {
    kind: &'static str,
    rule: Option<u32>,
    told: String,
}

impl Maker<'_> {
    /// Adds a text, if it is new, and if it is in the language as it should be.
    fn add(&mut self, text: Vec<u8>, is_valid: bool, about: &About, at: Option<usize>) {
        let is_as_told = is_valid || {
            let parsed = self.parser.parse(&text, &Budget::default());
            matches!(parsed, Err(ParseError::Mismatch(_)))
        };
        if !is_as_told || self.known.add(&text) != Novelty::New {
            self.made.left_out += 1;
            return;
        }
        let rule = about.rule.map(|rule| self.lead.rule_name(rule));
        let name = format!("{}-{}", about.kind, rule.as_deref().unwrap_or("text"));
        let why = match &rule {
            Some(rule) => format!("{} in {rule}: {}", about.kind, about.told),
            None => format!("{}: {}", about.kind, about.told),
        };
        let case = Case::valid(&name, text, why);
        self.made.cases.push(Case { is_valid, rule, kind: Some(about.kind), at, ..case });
    }

    /// Leads a text to a step, with what is forced there.
    fn led(&mut self, step: u32, forced: &BTreeMap<u32, u32>) -> Option<Led> {
        let spine = self.lead.ways[0].to(step);
        let otherwise = Otherwise::Shortest;
        let led = self.lead.derive(&Demands { spine: &spine, covered: &[], beside: 0, near: &[], forced, otherwise });
        self.made.left_out += usize::from(!led.is_led);
        led.is_led.then_some(led)
    }

    /// Adds the shortest texts and the longest one.
    fn lengths(&mut self, compiled: &Compiled, max_len: Option<u64>) {
        let Ok(mut counts) = Counts::new(compiled) else { return };
        let mut text = Vec::new();
        let mut lens: Vec<(u64, &'static str)> = vec![(compiled.min_len(), "shortest-text")];
        let is_some = |counts: &mut Counts<'_>, len: u64| counts.of(len).is_ok_and(|count| !count.is_zero());
        let second = (1..=64).map(|more| compiled.min_len() + more).find(|&len| is_some(&mut counts, len));
        lens.extend(second.map(|len| (len, "next-length")));
        let most = counts.longest().into_iter().chain(max_len).min();
        // Longer ones take too long to count.
        let most = most.filter(|&most| counts.of(most).is_ok());
        let longest = most.and_then(|most| (compiled.min_len()..=most).rev().find(|&len| is_some(&mut counts, len)));
        lens.extend(longest.map(|len| (len, "longest-text")));
        for (len, kind) in lens.into_iter().filter(|&(len, _)| max_len.is_none_or(|most| len <= most)) {
            if is_some(&mut counts, len) {
                counts.text(len, 0, &mut text);
                self.add(text.clone(), true, &About { kind, rule: None, told: format!("{len} bytes") }, None);
            }
        }
    }

    /// Adds texts with the fewest and most rounds of a repetition, and beyond.
    fn rounds(&mut self, step: u32) {
        let of = self.lead.steps.get(step).clone();
        let Place::Node(node) = of.place else { return };
        let Some(rounds) = self.lead.ir.node(NodeId::new(node as usize)).rounds() else { return };
        let Rounds { min, max, .. } = rounds;
        let about = |kind, further: u32| {
            let rounds = u64::from(min) + u64::from(further);
            About { kind, rule: Some(of.rule), told: format!("{} with {rounds} rounds", of.name) }
        };
        if of.option == FEWEST {
            if let Some(led) = self.led(step, &BTreeMap::new()) {
                self.add(led.derivation.text, true, &about("fewest-rounds", 0), None);
            }
            return;
        }
        if let Some(led) = self.led(step, &BTreeMap::from([(node, 1)])) {
            self.add(led.derivation.text, true, &about("one-round-more", 1), None);
        }
        let Some(further) = max.map(|max| max - min).filter(|&further| further <= MOST_ROUNDS) else { return };
        let Some(led) = self.led(step, &BTreeMap::from([(node, further)])) else { return };
        if let Some((text, at)) = self.round_again(&led, node, further) {
            self.add(text, false, &about("too-many-rounds", further + 1), Some(at));
        }
        self.add(led.derivation.text, true, &about("most-rounds", further), None);
    }

    /// Returns a text in which the last of these rounds of a repetition comes twice, and where.
    fn round_again(&self, led: &Led, node: u32, further: u32) -> Option<(Vec<u8>, usize)> {
        let parts = &led.derivation.parts;
        let is_it = |at: &usize| {
            let is_node = self.lead.deriver.node_of(parts[*at].symbol) == Some(node);
            let rounds = led.derivation.within(*at).filter(|part| part.kind == SpanKind::Round).count();
            is_node && matches!(parts[*at].kind, SpanKind::Repetition { .. }) && rounds == further as usize
        };
        let repetition = (0..parts.len()).find(is_it)?;
        let last = led.derivation.within(repetition).filter(|part| part.kind == SpanKind::Round).last()?;
        let ((from, to), text) = (stretch(last), &led.derivation.text);
        (from < to).then(|| ([&text[..to], &text[from..]].concat(), to))
    }

    /// Adds texts with members at the edges of the classes in a step, and beyond.
    fn classes(&mut self, step: u32) {
        let of = self.lead.steps.get(step).clone();
        let ir = self.lead.ir;
        let within = match of.place {
            Place::Rule(rule) => ir.body(RuleId::new(rule as usize)).into_iter().collect(),
            Place::Node(node) => taken(ir, NodeId::new(node as usize), of.option),
        };
        let sets: Vec<(NodeId, &CharSet)> = classes_in(ir, &self.lead, within)
            .into_iter()
            .filter_map(|node| Some((node, ir.node(node).class()?)))
            .collect();
        if sets.is_empty() {
            return;
        }
        let ends = [("lowest-members", 0), ("highest-members", 1)];
        for (kind, is_last) in ends {
            let edge = |&(node, set): &(NodeId, &CharSet)| (node.index() as u32, is_last * (set.len() - 1));
            let mut forced: BTreeMap<u32, u32> = sets.iter().map(edge).collect();
            self.force_round(&of.place, of.option, &mut forced);
            if let Some(led) = self.led(step, &forced) {
                let about = About { kind, rule: Some(of.rule), told: of.name.clone() };
                self.add(led.derivation.text, true, &about, None);
            }
        }
        for (node, set) in sets {
            self.edges(step, node, set);
        }
    }

    /// Lets a repetition have one round beyond its fewest, as its step says.
    fn force_round(&self, place: &Place, option: u32, forced: &mut BTreeMap<u32, u32>) {
        if let (Place::Node(node), MORE) = (*place, option) {
            let is_repetition = self.lead.ir.node(NodeId::new(node as usize)).rounds().is_some();
            forced.extend(is_repetition.then_some((node, 1)));
        }
    }

    /// Adds texts with the edges of the ranges of a class, and with their neighbours outside.
    fn edges(&mut self, step: u32, node: NodeId, set: &CharSet) {
        let of = self.lead.steps.get(step).clone();
        let number = node.index() as u32;
        let about =
            |kind, member: u32| About { kind, rule: Some(of.rule), told: format!("{} with U+{member:04X}", of.name) };
        let ranges = set.ranges().len();
        let is_taken = |at: &usize| *at < MOST_RANGES / 2 || *at + MOST_RANGES / 2 >= ranges;
        let mut before = 0;
        let mut edges = Vec::new();
        for (at, &(low, high)) in set.ranges().iter().enumerate() {
            if is_taken(&at) {
                edges.extend([(before, low), (before + high - low, high)]);
            }
            before += high - low + 1;
        }
        edges.dedup();
        let mut last = None;
        for (option, member) in edges {
            let mut forced = BTreeMap::from([(number, option)]);
            self.force_round(&of.place, of.option, &mut forced);
            let Some(led) = self.led(step, &forced) else { continue };
            let place = led.members.iter().find(|&&(taken, own, _)| (taken, own) == (number, option));
            let written = encoded(set, member);
            last = place.map(|&(.., at)| (led.derivation.text.clone(), at as usize, written.len()));
            // What is coded does not stand as it is.
            last = last.filter(|(text, at, _)| text.get(*at..).is_some_and(|rest| rest.starts_with(&written)));
            self.add(led.derivation.text, true, &about("class-edge", member), None);
        }
        let Some((text, at, len)) = last.filter(|(text, at, len)| at + len <= text.len()) else { return };
        let outside = outside(set);
        let is_taken = |&(number, _): &(usize, &u32)| number < MOST_RANGES || number + MOST_RANGES >= outside.len();
        for (_, &member) in outside.iter().enumerate().filter(is_taken) {
            let beyond = [&text[..at], &encoded(set, member), &text[at + len..]].concat();
            self.add(beyond, false, &about("beyond-class", member), Some(at));
        }
    }
}
