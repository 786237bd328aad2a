//! The study of a costly text of a search: how small it can be, which lines it makes hot, which of its parts do, and
//! how its cost grows when parts are repeated.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use gramjet_search::{Edge, EdgeGrowth, Effort, Ending, Family, Growth, Measured, Runs, prove};
use gramjet_session::decisions::{Derivation, Deriver};
use gramjet_session::{Language, Session, SpanKind};

use super::anew;
use super::behaviours::hottest;
use super::meter::Meter;
use crate::error::Error;
use crate::stop::Stop;
use crate::subject::Spot;

#[cfg(test)]
mod tests;

/// Facts that are known of a text in the end.
#[derive(Debug, Default)]
pub struct Study {
    /// Bytes of the text.
    pub text: Vec<u8>,
    /// Cost by the first objective.
    pub cost: u64,
    /// A smaller text that costs nearly as much, or more.
    pub smaller: Option<(Vec<u8>, u64)>,
    /// The edges that it executes most, with their places.
    pub hot: Vec<Hot>,
    /// The parts that cause most of the cost.
    pub causes: Vec<Cause>,
    /// Its derivation, a line for each instance of a rule, indented by depth.
    pub tree: String,
    /// Families in which its cost grows, the fastest growth first.
    pub families: Vec<Grown>,
    /// Whether it is not of the grammar: it has no parts then, so neither causes nor growth are known.
    pub is_foreign: bool,
    /// Edges that it executes, with their counts.
    pub(super) edges: Vec<Edge>,
}

impl Study {
    /// Returns true if a cost is proved to grow faster than n to this power.
    pub fn is_faster_than(&self, exponent: f64) -> bool {
        self.families
            .iter()
            .filter_map(|grown| grown.family.growth.as_ref())
            .any(|growth| growth.is_superlinear(exponent))
    }
}

/// An edge that is executed often.
#[derive(Clone, Debug)]
pub struct Hot {
    /// Place in the sources, if it is known.
    pub spot: Option<Spot>,
    /// Number of times that the text executes it.
    pub count: u64,
    /// Its share of all executed edges.
    pub share: f64,
}

/// A part of the text, and the share of the cost that goes when it is made as short as it can be.
#[derive(Clone, Debug)]
pub struct Cause {
    /// Place of the part in the text.
    pub bytes: std::ops::Range<usize>,
    /// Name of its rule.
    pub rule: String,
    /// Share of the cost that goes with it.
    pub share: f64,
    /// Place where most of the cost goes that it causes.
    pub spot: Option<Spot>,
}

/// A family with what is shown of it.
#[derive(Debug)]
pub struct Grown {
    /// Texts that differ in the number of copies, with their costs.
    pub family: Family,
    /// Words that say what is repeated.
    pub what: String,
    /// The edge whose count grows fastest; of several, the one that counts most.
    pub fastest: Option<EdgeLaw>,
    /// The edges that the largest text executes most.
    pub hottest: Vec<EdgeLaw>,
}

/// Law by which the count of an edge grows in a family.
#[derive(Debug)]
pub struct EdgeLaw {
    /// Place in the sources, if it is known.
    pub spot: Option<Spot>,
    /// In the largest text.
    pub count: u64,
    /// Law of its count in the number of copies.
    pub growth: Growth,
}

impl EdgeLaw {
    /// Returns the law, with its interval, in the number of copies.
    pub fn law(&self) -> String {
        if self.growth.is_unclear() { "unclear".to_string() } else { self.growth.law() }
    }
}

impl fmt::Display for EdgeLaw {
    /// Writes `file:line (function), n^2.0 (95 %: 1.99 to 2.01)`, as far as each is known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.spot {
            Some(spot) => spot.fmt(f)?,
            None => f.write_str("an edge without a place")?,
        }
        if self.growth.is_unclear() { Ok(()) } else { write!(f, ", {}", self.law()) }
    }
}

/// Returns all families of which at least two texts were measured, with what they are of, in the order of their
/// numbers.
pub fn families(studies: &[Study]) -> impl Iterator<Item = (&Study, &Grown)> {
    let all = studies.iter().flat_map(|study| study.families.iter().map(move |grown| (study, grown)));
    all.filter(|(_, grown)| grown.family.members.len() > 1)
}

/// The share of the cost that a smaller text keeps, in per cent.
const NEARLY: u128 = 95;
/// Longer texts are not made smaller: that takes long without runs, too.
const SMALL: usize = 2048;
/// At most this many runs make the text smaller, and at most this many find what its parts cause.
const SHRINKS: u32 = 400;
const COLLAPSES: usize = 100;
/// Edges and causes that are shown.
const HOT: usize = 10;
const CAUSES: usize = 12;
/// Lines of the derivation tree.
const TREE: usize = 400;
/// Edges of a family whose laws are shown, and how many of the hottest are looked at for them: many edges of a line
/// grow alike.
const LAWS: usize = 5;
const LOOKED: usize = 50;
/// Texts that are studied besides the best one, and how many are looked at for them.
const OTHERS: usize = 2;
const CANDIDATES: usize = 100;
/// The share of the time that each of them gets at most.
const OTHERS_TIME: f64 = 0.25;
/// Another behaviour executes its hottest edge this many times as often as the texts that were studied.
const TIMES: u64 = 2;

/// Measures texts.
pub trait Measure {
    /// Runs a text.
    fn read(&mut self, text: &[u8]) -> Result<&Measured, Error>;
    /// Returns the place of an edge.
    fn spot(&mut self, edge: u32) -> Option<Spot>;
    /// Ends the process that takes texts, so the next run knows nothing of those before it. Returns false if that is so
    /// for each run.
    fn renew(&mut self) -> Result<bool, Error> {
        Ok(false)
    }
}

impl Measure for Meter {
    fn read(&mut self, text: &[u8]) -> Result<&Measured, Error> {
        Meter::read(self, text)
    }

    fn spot(&mut self, edge: u32) -> Option<Spot> {
        self.tested.spot(edge)
    }

    fn renew(&mut self) -> Result<bool, Error> {
        Meter::renew(self)
    }
}

/// The runs of a proof.
struct Proof<'p, M> {
    meter: &'p mut M,
    stop: &'p Stop,
    failed: Option<Error>,
}

impl<M: Measure> Runs for Proof<'_, M> {
    fn run(&mut self, text: &[u8]) -> Option<Measured> {
        if self.stop.is_cut() {
            return None;
        }
        match self.meter.read(text) {
            Ok(measured) => Some(measured.clone()),
            Err(failure) => {
                self.fail(failure);
                None
            }
        }
    }

    fn can_repeat(&self) -> bool {
        true
    }

    fn renew(&mut self) -> bool {
        self.meter.renew().unwrap_or_else(|failure| {
            self.fail(failure);
            false
        })
    }
}

impl<M> Proof<'_, M> {
    /// Takes note of a failure. When the time is over, a program that has just been started ends, which says nothing.
    fn fail(&mut self, failure: Error) {
        if !self.stop.is_cut() {
            self.failed = Some(failure);
        }
    }
}

/// Looks at texts, at each for no longer than `time`.
pub struct Student<'s, M = Meter> {
    pub language: &'s Language,
    pub meter: &'s mut M,
    pub stop: &'s Stop,
    pub effort: Effort,
    pub time: Duration,
}

impl<M: Measure> Student<'_, M> {
    /// Looks at a text.
    pub fn study(&mut self, text: &[u8]) -> Result<Study, Error> {
        anew::begin(self.meter, self.language, text)?;
        let measured = self.meter.read(text)?;
        let measured = (measured.cost, measured.edges.to_vec());
        self.study_for(text, measured, None)
    }

    /// Looks at a text of which the cost and the edges are known. If it stands for what executes an edge, a smaller one
    /// executes that edge nearly as often.
    fn study_for(&mut self, text: &[u8], (cost, edges): (u64, Vec<Edge>), edge: Option<Edge>) -> Result<Study, Error> {
        let begin = Instant::now();
        let mut deriver = self.language.deriver(None);
        let Some(whole) = self.language.derivation(text, &mut deriver) else {
            return Ok(self.superficial(text, cost, edges));
        };
        // Each gets what the others leave.
        let smaller = self.smaller(text, (cost, edge), begin + self.time / 4)?;
        let causes = self.causes(&whole, (cost, &edges), begin + self.time / 2)?;
        let families = self.prove(&mut deriver, &whole, begin + self.time)?;
        let hot = self.hot(&edges);
        Ok(Study {
            text: whole.text.clone(),
            cost,
            smaller,
            hot,
            causes,
            tree: tree(&deriver, &whole),
            families,
            is_foreign: false,
            edges,
        })
    }

    /// Returns what is known of a text that is not of the grammar.
    fn superficial(&mut self, text: &[u8], cost: u64, edges: Vec<Edge>) -> Study {
        let hot = self.hot(&edges);
        Study { text: text.to_vec(), cost, hot, is_foreign: true, edges, ..Study::default() }
    }

    /// Studies more texts, of those that are given the first that behave in another way than all that were studied, in
    /// what is left until `end`. Each of them executes its hottest edge more often than it has bytes, and often in
    /// comparison with the others.
    pub fn study_others(&mut self, texts: &[Vec<u8>], studies: &mut Vec<Study>, end: Instant) -> Result<(), Error> {
        let time = self.time;
        let most = studies.len() + OTHERS;
        for text in texts.iter().take(CANDIDATES) {
            if studies.len() == most || self.is_over(end) {
                break;
            }
            let measured = self.meter.read(text)?;
            if measured.ending != Ending::Done || !is_other(text, &measured.edges, studies) {
                continue;
            }
            let measured = (measured.cost, measured.edges.to_vec());
            self.time = time.mul_f64(OTHERS_TIME).min(end.saturating_duration_since(Instant::now()));
            let edge = hottest(&measured.1);
            let study = self.study_for(text, measured, edge)?;
            // What is known of a text when the user has enough may be wrong.
            if !self.stop.is_cut() {
                studies.push(study);
            }
        }
        self.time = time;
        Ok(())
    }

    /// Returns what one run says of a text: its hot lines, and its derivation.
    pub fn glance(&mut self, text: &[u8]) -> Result<Study, Error> {
        let measured = self.meter.read(text)?;
        let (cost, edges) = (measured.cost, measured.edges.to_vec());
        let study = self.superficial(text, cost, edges);
        let mut deriver = self.language.deriver(None);
        let Some(whole) = self.language.derivation(text, &mut deriver) else { return Ok(study) };
        Ok(Study { tree: tree(&deriver, &whole), is_foreign: false, ..study })
    }

    /// Returns the families in which the cost of a text grows, without the rest of a study.
    pub fn families(&mut self, text: &[u8]) -> Result<Vec<Grown>, Error> {
        let end = Instant::now() + self.time;
        let mut deriver = self.language.deriver(None);
        let Some(whole) = self.language.derivation(text, &mut deriver) else { return Ok(Vec::new()) };
        self.prove(&mut deriver, &whole, end)
    }

    fn is_over(&self, end: Instant) -> bool {
        self.stop.is_cut() || Instant::now() >= end
    }

    /// Returns the smallest text that was found which costs nearly as much, and executes an edge nearly as often if one
    /// is given.
    fn smaller(
        &mut self,
        text: &[u8],
        (cost, edge): (u64, Option<Edge>),
        end: Instant,
    ) -> Result<Option<(Vec<u8>, u64)>, Error> {
        if text.len() > SMALL {
            return Ok(None);
        }
        let mut session = Session::new(self.language, 0);
        let Some(mut trim) = session.minimise(text) else { return Ok(None) };
        let is_near = |number: u64, to: u64| u128::from(number) * 100 >= u128::from(to) * NEARLY;
        let (mut found, mut failed) = (None, None);
        trim.run(SHRINKS, |proposed| {
            if self.is_over(end) {
                return None;
            }
            let measured = match self.meter.read(proposed) {
                Ok(measured) => measured,
                Err(failure) => {
                    failed = Some(failure);
                    return None;
                }
            };
            let is_hot = edge.is_none_or(|(edge, count)| is_near(count_of(&measured.edges, edge), count));
            let is_costly = measured.ending == Ending::Done && is_near(measured.cost, cost);
            let holds = is_costly && is_hot && proposed.len() <= text.len();
            if holds && proposed.len() < text.len() {
                found = Some((proposed.to_vec(), measured.cost));
            }
            Some(holds)
        });
        failed.map_or(Ok(found), Err)
    }

    fn prove(&mut self, deriver: &mut Deriver, whole: &Derivation, end: Instant) -> Result<Vec<Grown>, Error> {
        let effort = Effort { time: end.saturating_duration_since(Instant::now()), ..self.effort };
        let mut proof = Proof { meter: &mut *self.meter, stop: self.stop, failed: None };
        let families = prove(deriver, whole, effort, &mut proof);
        if let Some(failure) = proof.failed {
            return Err(failure);
        }
        let grown = |family: Family| {
            let mut edges = family.edges();
            let fastest = fastest(self.meter, &edges);
            edges.sort_by_key(|edge| (Reverse(edge.count), edge.edge));
            let hottest = self.laws(&edges);
            Grown { what: family.of.describe(deriver), family, fastest, hottest }
        };
        Ok(families.into_iter().map(grown).collect())
    }

    /// Returns the laws of the first edges. Of one line, each law is there once.
    fn laws(&mut self, edges: &[EdgeGrowth]) -> Vec<EdgeLaw> {
        let mut laws: Vec<EdgeLaw> = Vec::new();
        for edge in edges.iter().take(LOOKED).filter(|edge| edge.count > 0) {
            let law = law_of(self.meter, edge);
            let is_alike = |known: &EdgeLaw| known.spot == law.spot && known.law() == law.law();
            if law.spot.is_none() || !laws.iter().any(is_alike) {
                laws.push(law);
            }
            if laws.len() == LAWS {
                break;
            }
        }
        laws
    }

    /// Finds the parts that cause the cost: what goes when each is made as short as it can be.
    fn causes(&mut self, whole: &Derivation, (cost, edges): (u64, &[Edge]), end: Instant) -> Result<Vec<Cause>, Error> {
        let mut deriver = self.language.deriver(None);
        let is_long = |part: &gramjet_session::decisions::Part, deriver: &Deriver| {
            part.kind == SpanKind::Rule && part.len() as u64 > deriver.min_len_of(part.symbol)
        };
        let mut parts: Vec<_> = whole.parts.iter().skip(1).filter(|part| is_long(part, &deriver)).copied().collect();
        // Long parts can cause most. Of those with the same text, the outermost stands first.
        parts.sort_by_key(|part| (Reverse(part.len()), part.text.0));
        parts.dedup_by_key(|part| part.text);
        // Rules take turns: the rests of a list are longer than its items, and as many.
        let mut turns = BTreeMap::new();
        parts.sort_by_cached_key(|part| {
            let turn = turns.entry(part.symbol).or_insert(0);
            *turn += 1;
            *turn
        });
        parts.truncate(COLLAPSES);
        let mut causes: Vec<Cause> = Vec::new();
        let (mut short, mut made, mut options) = (Derivation::default(), Derivation::default(), Vec::new());
        for part in parts {
            if self.is_over(end) || cost == 0 {
                break;
            }
            let bytes = deriver.min_len_of(part.symbol);
            deriver.draw(
                part.symbol,
                part.depth,
                bytes,
                &mut |_: &gramjet_session::decisions::OpenSite<'_>| 0,
                &mut short,
            );
            whole.replaced(&part, short.options(), &mut options);
            deriver.replay(&options, &mut made);
            let measured = self.meter.read(&made.text)?;
            let share = 1.0 - measured.cost as f64 / cost as f64;
            let hottest = greatest_drop(edges, &measured.edges);
            if share > 0.0 {
                let bytes = part.text.0 as usize..part.text.1 as usize;
                let rule = deriver.rule_name(part.symbol).unwrap_or_default().to_string();
                let spot = hottest.and_then(|edge| self.meter.spot(edge));
                causes.push(Cause { bytes, rule, share, spot });
            }
        }
        let place = |cause: &Cause| (cause.bytes.start, Reverse(cause.bytes.end));
        causes.sort_by(|one, other| other.share.total_cmp(&one.share).then(place(one).cmp(&place(other))));
        causes.truncate(CAUSES);
        Ok(causes)
    }

    fn hot(&mut self, edges: &[Edge]) -> Vec<Hot> {
        shares(edges, |edge| self.meter.spot(edge))
    }
}

/// Returns the edges that are executed most, with their places and their shares of all.
pub(super) fn shares(edges: &[Edge], mut spot: impl FnMut(u32) -> Option<Spot>) -> Vec<Hot> {
    let sum: f64 = edges.iter().map(|edge| edge.1 as f64).sum();
    let mut edges = edges.to_vec();
    edges.sort_by_key(|&(edge, count)| (Reverse(count), edge));
    let hot = |&(edge, count): &Edge| Hot { spot: spot(edge), count, share: count as f64 / sum.max(1.0) };
    edges.iter().take(HOT).map(hot).collect()
}

/// Returns the law of the edge whose count grows fastest in a family; of several, that of the edge that counts most.
pub fn fastest(meter: &mut impl Measure, edges: &[EdgeGrowth]) -> Option<EdgeLaw> {
    edges.first().map(|edge| law_of(meter, edge))
}

fn law_of(meter: &mut impl Measure, edge: &EdgeGrowth) -> EdgeLaw {
    EdgeLaw { spot: meter.spot(edge.edge), count: edge.count, growth: edge.growth.clone() }
}

/// Returns true if a text behaves in another way than those that were studied.
fn is_other(text: &[u8], edges: &[Edge], studies: &[Study]) -> bool {
    let Some((edge, count)) = hottest(edges) else { return false };
    let is_hot = |study: &Study| count_of(&study.edges, edge).saturating_mul(TIMES) > count;
    count > text.len() as u64 && !studies.iter().any(is_hot)
}

/// Returns how often an edge is executed, of all edges in the order of their numbers.
fn count_of(edges: &[Edge], edge: u32) -> u64 {
    edges.binary_search_by_key(&edge, |known| known.0).map_or(0, |place| edges[place].1)
}

/// Returns the edge whose count falls most.
fn greatest_drop(before: &[Edge], after: &[Edge]) -> Option<u32> {
    before
        .iter()
        .map(|&(edge, count)| (count.saturating_sub(count_of(after, edge)), edge))
        .max()
        .filter(|drop| drop.0 > 0)
        .map(|drop| drop.1)
}

/// Returns the derivation, a line for each instance of a rule.
fn tree(deriver: &Deriver, whole: &Derivation) -> String {
    let rules = whole.parts.iter().filter(|part| part.kind == SpanKind::Rule).take(TREE);
    let line = |part: &gramjet_session::decisions::Part| {
        let indent = "  ".repeat(part.depth.min(60) as usize);
        let text = crate::words::one_line(whole.text_of(part), 60);
        format!("{indent}{}  {text}\n", deriver.rule_name(part.symbol).unwrap_or_default())
    };
    rules.map(line).collect()
}
