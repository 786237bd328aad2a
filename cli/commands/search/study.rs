//! What the best text of a search says: how small it can be, which lines it makes hot, which of its parts do, and how
//! its cost grows when parts are repeated.

use std::time::{Duration, Instant};

use gramjet_search::{Edge, Effort, Ending, Family, Reading, prove};
use gramjet_session::decisions::{Derivation, Deriver};
use gramjet_session::{Language, Session, SpanKind};

use super::meter::Meter;
use crate::failure::Failure;
use crate::stop::Stop;
use crate::subject::Spot;

/// What is known of the best text in the end.
#[derive(Debug, Default)]
pub(super) struct Study {
    /// A smaller text that costs nearly as much, or more.
    pub(super) smaller: Option<(Vec<u8>, u64)>,
    /// The edges that it executes most, with their places.
    pub(super) hot: Vec<Hot>,
    /// The parts that cause most of the cost.
    pub(super) causes: Vec<Cause>,
    /// Its derivation, a line for each instance of a rule, indented by depth.
    pub(super) tree: String,
    /// How its cost grows, the fastest growth first.
    pub(super) families: Vec<Grown>,
}

/// An edge that is executed often.
#[derive(Clone, Debug)]
pub(super) struct Hot {
    pub(super) spot: Option<Spot>,
    pub(super) count: u64,
    /// Its share of all executed edges.
    pub(super) share: f64,
}

/// A part of the text, and the share of the cost that goes when it is made as short as it can be.
#[derive(Clone, Debug)]
pub(super) struct Cause {
    pub(super) bytes: std::ops::Range<usize>,
    pub(super) rule: String,
    pub(super) share: f64,
    /// Where most of the cost goes that it causes.
    pub(super) spot: Option<Spot>,
}

/// A family with what is shown of it.
#[derive(Debug)]
pub(super) struct Grown {
    pub(super) family: Family,
    pub(super) what: String,
    /// Where the edge is whose count grows fastest.
    pub(super) spot: Option<Spot>,
}

/// The share of the cost that a smaller text keeps.
const NEARLY: f64 = 0.95;
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

/// Looks at texts, at each for no longer than `time`.
pub(super) struct Student<'s> {
    pub(super) language: &'s Language,
    pub(super) meter: &'s mut Meter,
    pub(super) stop: &'s Stop,
    pub(super) effort: Effort,
    pub(super) time: Duration,
}

impl Student<'_> {
    /// Looks at a text.
    pub(super) fn study(&mut self, text: &[u8]) -> Result<Study, Failure> {
        let begin = Instant::now();
        let mut deriver = self.language.deriver(None);
        let Ok(choices) = self.language.parse(text) else { return Ok(Study::default()) };
        let mut whole = Derivation::default();
        deriver.decode(&choices, &mut whole);
        let measured = self.meter.read(text)?;
        let (cost, edges) = (measured.cost, measured.edges.to_vec());
        // Each gets what the others leave.
        let smaller = self.smaller(text, cost, begin + self.time / 4)?;
        let causes = self.causes(&whole, (cost, &edges), begin + self.time / 2)?;
        let families = self.prove(&mut deriver, &whole, begin + self.time)?;
        let hot = self.hot(&edges);
        Ok(Study { smaller, hot, causes, tree: tree(&deriver, &whole), families })
    }

    /// What one run says of a text: its hot lines, and its derivation.
    pub(super) fn glance(&mut self, text: &[u8]) -> Result<Study, Failure> {
        let edges = self.meter.read(text)?.edges.to_vec();
        let hot = self.hot(&edges);
        let Ok(choices) = self.language.parse(text) else { return Ok(Study { hot, ..Study::default() }) };
        let (mut deriver, mut whole) = (self.language.deriver(None), Derivation::default());
        deriver.decode(&choices, &mut whole);
        Ok(Study { hot, tree: tree(&deriver, &whole), ..Study::default() })
    }

    /// How the cost of a text grows. Does nothing else.
    pub(super) fn families(&mut self, text: &[u8]) -> Result<Vec<Grown>, Failure> {
        let end = Instant::now() + self.time;
        let mut deriver = self.language.deriver(None);
        let Ok(choices) = self.language.parse(text) else { return Ok(Vec::new()) };
        let mut whole = Derivation::default();
        deriver.decode(&choices, &mut whole);
        self.prove(&mut deriver, &whole, end)
    }

    fn is_over(&self, end: Instant) -> bool {
        self.stop.is_signalled() || Instant::now() >= end
    }

    /// The smallest text that was found which costs nearly as much.
    fn smaller(&mut self, text: &[u8], cost: u64, end: Instant) -> Result<Option<(Vec<u8>, u64)>, Failure> {
        if text.len() > SMALL {
            return Ok(None);
        }
        let mut session = Session::new(self.language, 0);
        let Some(mut trim) = session.minimise(text) else { return Ok(None) };
        let least = (cost as f64 * NEARLY) as u64;
        let mut found = None;
        for _ in 0..SHRINKS {
            if self.is_over(end) {
                break;
            }
            let Some(proposed) = trim.propose() else { break };
            let proposed = proposed.to_vec();
            let measured = self.meter.read(&proposed)?;
            let holds = measured.ending == Ending::Done && measured.cost >= least && proposed.len() <= text.len();
            if holds && proposed.len() < text.len() {
                found = Some((proposed, measured.cost));
            }
            trim.judge(holds);
        }
        Ok(found)
    }

    fn prove(&mut self, deriver: &mut Deriver, whole: &Derivation, end: Instant) -> Result<Vec<Grown>, Failure> {
        let mut failed = None;
        let effort = Effort { time: end.saturating_duration_since(Instant::now()), ..self.effort };
        let mut measure = |text: &[u8]| {
            if self.stop.is_signalled() {
                return None;
            }
            match self.meter.read(text) {
                Ok(measured) => {
                    let is_stopped = measured.ending == Ending::Stopped;
                    let has_failed = measured.ending == Ending::Failed;
                    Some(Reading { cost: measured.cost, is_stopped, has_failed, edges: measured.edges.to_vec() })
                }
                Err(failure) => {
                    failed = Some(failure);
                    None
                }
            }
        };
        let families = prove(deriver, whole, effort, &mut measure);
        if let Some(failure) = failed {
            return Err(failure);
        }
        let grown = |family: Family| {
            // Of the edges that grow fastest, the one that counts most.
            let steepest = family.edges().into_iter().next();
            let spot = steepest.and_then(|edge| self.meter.tested.spot(edge.edge));
            Grown { what: family.pump.describe(deriver), family, spot }
        };
        Ok(families.into_iter().map(grown).collect())
    }

    /// What goes when a part is made as short as it can be.
    fn causes(
        &mut self,
        whole: &Derivation,
        (cost, edges): (u64, &[Edge]),
        end: Instant,
    ) -> Result<Vec<Cause>, Failure> {
        let mut deriver = self.language.deriver(None);
        let is_long = |part: &gramjet_session::decisions::Part, deriver: &Deriver| {
            part.kind == SpanKind::Rule && part.len() as u64 > deriver.min_len_of(part.symbol)
        };
        let parts: Vec<_> =
            whole.parts.iter().skip(1).filter(|part| is_long(part, &deriver)).take(COLLAPSES).copied().collect();
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
            let hottest = greatest_drop(edges, measured.edges);
            if share > 0.0 {
                let bytes = part.text.0 as usize..part.text.1 as usize;
                let rule = deriver.rule_name(part.symbol).unwrap_or_default().to_string();
                let spot = hottest.and_then(|edge| self.meter.tested.spot(edge));
                causes.push(Cause { bytes, rule, share, spot });
            }
        }
        causes.sort_by(|one, other| other.share.total_cmp(&one.share));
        // An instance that has the same text as the one around it says nothing more.
        let mut seen = Vec::new();
        causes.retain(|cause| {
            let is_new = !seen.contains(&cause.bytes);
            seen.push(cause.bytes.clone());
            is_new
        });
        causes.truncate(CAUSES);
        Ok(causes)
    }

    fn hot(&mut self, edges: &[Edge]) -> Vec<Hot> {
        let sum: f64 = edges.iter().map(|edge| edge.1 as f64).sum();
        let mut edges = edges.to_vec();
        edges.sort_by_key(|&(edge, count)| (std::cmp::Reverse(count), edge));
        let hot = |&(edge, count): &Edge| {
            let spot = self.meter.tested.spot(edge);
            Hot { spot, count, share: count as f64 / sum.max(1.0) }
        };
        edges.iter().take(HOT).map(hot).collect()
    }
}

/// The edge whose count falls most.
fn greatest_drop(before: &[Edge], after: &[Edge]) -> Option<u32> {
    let of = |edge: u32| after.binary_search_by_key(&edge, |known| known.0).map_or(0, |place| after[place].1);
    before
        .iter()
        .map(|&(edge, count)| (count.saturating_sub(of(edge)), edge))
        .max()
        .filter(|drop| drop.0 > 0)
        .map(|drop| drop.1)
}

/// The derivation, a line for each instance of a rule.
fn tree(deriver: &Deriver, whole: &Derivation) -> String {
    let rules = whole.parts.iter().filter(|part| part.kind == SpanKind::Rule).take(TREE);
    let line = |part: &gramjet_session::decisions::Part| {
        let indent = "  ".repeat(part.depth.min(60) as usize);
        let text = crate::seeds::one_line(whole.text_of(part), 60);
        format!("{indent}{}  {text}\n", deriver.rule_name(part.symbol).unwrap_or_default())
    };
    rules.map(line).collect()
}
