//! Families of texts that repeat a part, with what was measured of them.

use std::rc::Rc;
use std::time::Duration;

use gramjet_session::decisions::{Derivation, Deriver, Fit, Stretch};

use super::comes_to;
use crate::growth::{EdgeGrowth, Growth, Measurement, edges_by_growth};
use crate::maxima::Edge;
use crate::pump::{Copies, Pump};
use crate::strategy::{Ending, Measured};

/// Number of runs of each member of which a law is.
pub const REPEATS: u32 = 3;
/// An edge is in at least this many members.
const LEAST_SIZES: usize = 5;
/// Shorter times are mostly those of starting and of clocks.
pub(super) const LEAST_TIME: f64 = 2e-3;
/// Times whose growth is slower say nothing: caches of processors make linear work look like n^1.2.
const HIDDEN: f64 = 1.4;

/// A measured member of a family.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// Number of rounds or nested instances that it has: those of the text that it was made of, and the copies.
    pub copies: u32,
    /// The text.
    pub text: Vec<u8>,
    /// Its least cost of all runs.
    pub cost: u64,
    /// Its least processor time of all runs, in seconds; 0 if that is not known.
    pub seconds: f64,
    /// Number of times that it was run. A law is of members that were run [`REPEATS`] times.
    pub runs: u32,
    /// The run was stopped at a limit, so the cost is at least this.
    pub is_stopped: bool,
    /// Edges with the number of times that each was executed.
    pub edges: Vec<Edge>,
}

impl Member {
    /// Returns how the cost of a family grows with the number of copies, which ascends; `None` if too little was
    /// measured.
    pub fn growth(members: &[Member]) -> Option<Growth> {
        Member::growth_of(members, |member| member.cost as f64)
    }

    /// Returns how the processor time of a family grows with the number of copies; `None` if it is not known, or too
    /// short to be measured.
    pub fn growth_of_time(members: &[Member]) -> Option<Growth> {
        let last = members.iter().rfind(|member| !member.is_stopped)?;
        if last.seconds >= LEAST_TIME {
            Member::growth_of(members, |member| (1e6 * member.seconds).round())
        } else {
            None
        }
    }

    fn growth_of(members: &[Member], cost: impl Fn(&Member) -> f64) -> Option<Growth> {
        let measurement = |member: &Member| {
            let stopped = member.is_stopped;
            let measured = Measurement { stopped, ..Measurement::new(f64::from(member.copies), cost(member)) };
            (measured, member.text.len())
        };
        let repeated = members.iter().filter(|member| member.runs >= REPEATS);
        Growth::of_texts(&repeated.map(measurement).collect::<Vec<_>>())
    }

    /// Returns the edges of a family, those whose counts grow fastest first, over the sizes for which its law holds.
    pub fn edges_by_growth(members: &[Member], growth: Option<&Growth>) -> Vec<EdgeGrowth> {
        let from = growth.and_then(Growth::from).unwrap_or(0.0);
        let ended = members.iter().filter(|member| !member.is_stopped);
        let runs = ended.map(|member| (f64::from(member.copies), &*member.edges));
        let runs: Vec<(f64, &[Edge])> = runs.filter(|run| run.0 >= from).collect();
        edges_by_growth(&runs, LEAST_SIZES)
    }
}

/// Parts or bytes that the texts of a family repeat.
#[derive(Clone, Debug)]
pub enum Repeated {
    /// Parts of a text of the language.
    Parts {
        /// The parts.
        pump: Pump,
        /// The text.
        whole: Rc<Derivation>,
    },
    /// Bytes of a text that need not be in the language.
    Bytes(Stretch),
}

impl Repeated {
    /// Returns true if copies add no bytes.
    pub fn is_empty(&self) -> bool {
        match self {
            Repeated::Parts { pump, .. } => pump.is_empty(),
            Repeated::Bytes(stretch) => stretch.each.is_empty(),
        }
    }

    /// Returns the number of bytes that a copy adds.
    pub(super) fn len(&self) -> usize {
        match self {
            Repeated::Parts { pump, .. } => pump.len(),
            Repeated::Bytes(stretch) => stretch.each.len(),
        }
    }

    /// Returns what is repeated, for people.
    pub fn describe(&self, deriver: &Deriver) -> String {
        match self {
            Repeated::Parts { pump, .. } => pump.describe(deriver),
            Repeated::Bytes(stretch) => describe(stretch),
        }
    }

    /// Returns what is repeated, as people are told, as a key.
    pub(super) fn topic(&self) -> impl Ord + use<> {
        match self {
            Repeated::Parts { pump, .. } => (Some(pump.topic()), None),
            Repeated::Bytes(stretch) => (None, Some(stretch.each.clone())),
        }
    }

    /// Returns the number of copies that the text has before any is added.
    pub(super) fn present(&self) -> u32 {
        match self {
            Repeated::Parts { pump, .. } => pump.present(),
            Repeated::Bytes(_) => 0,
        }
    }

    /// Returns how many copies can be added before they would be equal, if they are to be distinct.
    pub(super) fn capacity(&self, deriver: &Deriver) -> u64 {
        match self {
            Repeated::Parts { pump, whole } if pump.copies == Copies::Distinct => pump.capacity(whole, deriver),
            Repeated::Parts { .. } | Repeated::Bytes(_) => u64::MAX,
        }
    }

    /// Makes the text with this many more copies. Returns false if it cannot have as many.
    pub(super) fn write(&self, copies: u32, deriver: &mut Deriver, made: &mut Derivation) -> bool {
        match self {
            Repeated::Parts { pump, whole } => {
                let options = pump.options(whole, deriver, copies);
                deriver.replay(&options, made) == Fit::Exact
            }
            Repeated::Bytes(stretch) => {
                stretch.write(copies as usize, &mut made.text);
                true
            }
        }
    }
}

/// Bytes of a piece of text that are shown.
const SHOWN: usize = 24;

/// Returns what a text repeats, and between what.
fn describe(stretch: &Stretch) -> String {
    let shown = |bytes: &[u8]| {
        let cut = if bytes.len() > SHOWN { "..." } else { "" };
        format!("`{}{cut}`", bytes[..bytes.len().min(SHOWN)].escape_ascii())
    };
    let Stretch { around, each, inner, .. } = stretch;
    let mut what = format!("copies of {}", shown(&each.before));
    let mut add = |word: &str, bytes: &[u8]| {
        if !bytes.is_empty() {
            what.push_str(&format!(" {word} {}", shown(bytes)));
        }
    };
    add("after", &around.before);
    add("before", inner);
    if each.after.is_empty() {
        add("before", &around.after);
    } else {
        add("and as many of", &each.after);
        add("with", &around.after);
        what.push_str(if around.after.is_empty() { "" } else { " at the end" });
    }
    what
}

/// Texts that repeat the same, with their costs.
#[derive(Clone, Debug)]
pub struct Family {
    /// Parts or bytes that are repeated.
    pub of: Repeated,
    /// The texts, by the number of copies.
    pub members: Vec<Member>,
    /// Growth of the cost with the number of copies; `None` if too little was measured.
    pub growth: Option<Growth>,
    /// Growth of the processor time; `None` if it is not known, or too short.
    pub time: Option<Growth>,
    pub(super) cost_limit: Option<u64>,
}

impl Family {
    /// Returns the edges whose counts grow fastest.
    pub fn edges(&self) -> Vec<EdgeGrowth> {
        Member::edges_by_growth(&self.members, self.growth.as_ref())
    }

    /// Returns how many copies the first text has on which the program was stopped.
    pub fn stopped_at(&self) -> Option<u32> {
        self.members.iter().find(|member| member.is_stopped).map(|member| member.copies)
    }

    /// Returns true if it is stopped although nothing that was measured before grows faster than linearly: the growth
    /// that is known does not explain it. At a [limit on cost](Effort::cost_limit) it is explained by a law that is
    /// proved and comes to the limit there, however slow the growth is.
    pub fn is_cut_short(&self) -> bool {
        let explains = |growth: &Growth| match self.limit_reached() {
            Some(limit) => growth.proved() > f64::NEG_INFINITY && comes_to(growth, limit),
            None => growth.is_superlinear(1.0),
        };
        self.stopped_at().is_some() && !self.growth.as_ref().is_some_and(explains)
    }

    /// Returns true if it is stopped at a limit on cost to which its law comes, and all laws that the costs before do
    /// not rule out grow no faster than n^`exponent`.
    pub(crate) fn is_slow(&self, exponent: f64) -> bool {
        let known = self.growth.as_ref().zip(self.limit_reached());
        known.is_some_and(|(growth, limit)| growth.is_at_most(exponent) && comes_to(growth, limit))
    }

    /// Returns the number of copies at which it is stopped at the limit on cost, and that limit.
    pub(super) fn limit_reached(&self) -> Option<(u32, u64)> {
        let stopped = self.members.iter().find(|member| member.is_stopped)?;
        let limit = self.cost_limit.filter(|&limit| stopped.cost >= limit)?;
        Some((stopped.copies, limit))
    }

    /// Returns the power of n than which the processor time is proved to grow faster although the cost is not: the
    /// program works where nothing is counted. Times are less exact than counts.
    pub fn hidden(&self) -> Option<f64> {
        let time = self.time.as_ref().map(Growth::proved).filter(|&power| power > HIDDEN)?;
        let is_hidden = self.growth.as_ref().is_none_or(|growth| !growth.is_superlinear(1.0));
        is_hidden.then_some(time)
    }

    /// Takes other costs for those that were measured, with their edges: what `count` returns for each text. If it
    /// returns nothing for one, or that does not end, no cost is known, and all are 0.
    pub fn recount(&mut self, mut count: impl FnMut(&[u8]) -> Option<Measured>) {
        let mut is_over = false;
        for member in self.members.iter_mut().filter(|member| !member.is_stopped) {
            let counted = if is_over { None } else { count(&member.text) };
            let counted = counted.filter(|counted| counted.ending == Ending::Done);
            is_over |= counted.is_none();
            (member.cost, member.edges) =
                counted.map_or_else(Default::default, |counted| (counted.cost, counted.edges));
        }
        if is_over {
            self.members.iter_mut().for_each(|member| (member.cost, member.edges) = Default::default());
        }
        self.growth = Member::growth(&self.members);
    }

    pub(super) fn fit(&mut self) {
        self.growth = Member::growth(&self.members);
        self.time = Member::growth_of_time(&self.members);
    }
}

/// A program that is run for a proof, or a function that returns what a run measures.
pub trait Runs {
    /// Runs a text; returns nothing if no more runs are wanted.
    fn run(&mut self, text: &[u8]) -> Option<Measured>;

    /// Ends the process that takes texts, so the next run knows nothing of those before it. Returns false if that is
    /// so for each run, or if it cannot be done.
    fn renew(&mut self) -> bool {
        false
    }

    /// Returns true if a text costs as much when it is run again: each run, or each process that [`Runs::renew`]
    /// begins, knows nothing of runs before it. Else each text is run once, as a second run would find caches.
    fn can_repeat(&self) -> bool {
        false
    }
}

impl<F: FnMut(&[u8]) -> Option<Measured>> Runs for F {
    fn run(&mut self, text: &[u8]) -> Option<Measured> {
        self(text)
    }
}

/// Effort that is made for a proof.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// No text is longer, in bytes.
    pub max_len: usize,
    /// At most this many runs.
    pub runs: u32,
    /// No run begins after this long.
    pub time: Duration,
    /// A run that costs this much or more was stopped there.
    pub cost_limit: Option<u64>,
}

impl Default for Effort {
    /// Returns an effort of 16 KiB, 2000 runs and a minute, without a limit on cost.
    fn default() -> Effort {
        Effort { max_len: 16 << 10, runs: 2000, time: Duration::from_secs(60), cost_limit: None }
    }
}
