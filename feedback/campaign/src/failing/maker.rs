//! The maker of the texts of a worker: variants of kept texts, or a strategy.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use gramjet_harness::{Edges, Outcome, Run};
use gramjet_search::{
    Ending, Fuzzer, Goal, Kind, Measured, Observation, Operator, STOPPED, Search, Seed, Strategy, Words, count_class,
};
use gramjet_session::{Language, Session};

use super::recent::Recent;
use super::verdict::Verdict;
use crate::error::Error;

/// The strategy of [`Fuzzer`].
pub const GUIDED: &str = "guided";

/// The operator of the first texts of a search, which no seed changes.
pub const EXTREME: &str = "extreme";

/// The interval at which the last texts of a strategy are shown.
const SHOWN: Duration = Duration::from_secs(1);

/// Way of making texts.
#[derive(Clone, Copy, Debug)]
pub struct Making {
    /// `None` for variants of kept texts.
    pub kind: Option<&'static Kind>,
    /// Whether the constants of the publication are used.
    pub is_paper: bool,
    /// Whether variants may be texts that are not in the language.
    pub breaks: bool,
    /// Strategies by which some texts are drawn besides, such as [`crate::strategies::DRAWN`]. There are no limits on
    /// depth and choice bytes then.
    pub draws: Option<[&'static Kind; 2]>,
}

impl Making {
    /// Returns the strategy of a list, such as [`crate::strategies::FOR_COVERAGE`], or variants of kept texts.
    pub fn new(kind: Option<&'static Kind>, is_paper: bool) -> Making {
        Making { kind, is_paper, breaks: false, draws: None }
    }
}

/// Number of texts that each operator has made, and of those that were kept.
pub type Yields = Vec<(&'static str, u64, u64)>;

/// Makes texts.
pub struct Maker {
    /// Makes variants, and knows derivations for whoever needs one.
    fuzzer: Fuzzer,
    evolution: Option<Evolution>,
    /// Features of the last run, as far as they were asked for.
    features: Vec<u64>,
    /// Number of edges that the last run has executed, all together.
    work: u64,
}

/// A strategy, and the measurements of the last run for it.
struct Evolution {
    language: Language,
    search: Search,
    max_len: usize,
    measured: Measured,
    /// For programs that count no edges: what they can be seen to do, numbered as edges.
    behaviours: HashMap<u64, u32>,
    /// The last texts, for the weights that it has come to, and when they were shown.
    recent: Recent,
    shown: Instant,
    made: u64,
    kept: u64,
}

impl Maker {
    /// Returns a maker that puts these words into texts, and into broken ones besides the tokens of the grammar.
    pub fn new(language: &Language, making: Making, words: &Words, max_len: usize, seed: Seed) -> Result<Maker, Error> {
        let fuzzer = Fuzzer::new(language, Goal::New, max_len, seed);
        let words: Vec<Vec<u8>> = words.all().map(<[u8]>::to_vec).collect();
        let fuzzer = if making.breaks { fuzzer.with_broken(&words) } else { fuzzer }.with_words(&words);
        let strategy = making.kind.map(|kind| kind.make(making.is_paper));
        let evolution = strategy.map(|strategy| Evolution::new(language, strategy, max_len, seed)).transpose()?;
        let fuzzer = match (making.kind, making.draws) {
            (None, Some([common, evolve])) => fuzzer.with_drawings(common, evolve, seed),
            (None, None) | (Some(_), _) => fuzzer,
        };
        Ok(Maker { fuzzer, evolution, features: Vec::new(), work: 0 })
    }

    /// Makes and parses texts.
    pub fn session(&mut self) -> &mut Session {
        self.fuzzer.session()
    }

    /// Returns true if a text has a new derivation, as [`Fuzzer::is_new_derivation`] tells.
    pub fn is_new_derivation(&mut self, text: &[u8]) -> bool {
        self.fuzzer.is_new_derivation(text)
    }

    /// Returns the next text to run; `None` if every text of the language is too long.
    pub fn propose(&mut self) -> Option<&[u8]> {
        match &mut self.evolution {
            None => self.fuzzer.propose(),
            Some(evolution) => Some(evolution.propose()),
        }
    }

    /// Returns how the last text was made.
    pub fn operator(&self) -> &'static str {
        match &self.evolution {
            None => self.fuzzer.operator().name(),
            Some(evolution) => evolution.search.operator(),
        }
    }

    /// Returns true if the last text was made by changing bytes, so that it may not be in the language.
    pub fn has_broken(&self) -> bool {
        self.evolution.is_none() && self.fuzzer.breaks()
    }

    /// Takes over what a run did: the edges and their classes of counts.
    pub fn compare(&mut self, edges: Option<&Edges>, is_new: bool) {
        self.features.clear();
        self.work = edges.map_or(0, Edges::total);
        if let Some(edges) = edges.filter(|_| self.evolution.is_none() && (is_new || self.fuzzer.compares())) {
            let feature = |(edge, count)| u64::from(edge) << 8 | u64::from(count_class(count));
            self.features.extend(edges.counts().map(feature));
        }
    }

    /// Takes over the work of a run that failed. It has no features, as its text is not kept.
    pub fn count(&mut self, run: &Run<'_>) {
        self.work = match is_stopped(&run.outcome) {
            true => STOPPED,
            false => run.edges.map_or(0, Edges::total),
        };
    }

    /// Measures a run for the strategy, which hears of it by [`Maker::observe`] or [`Maker::add`].
    pub fn measure(&mut self, run: &Run<'_>, verdict: &Verdict) {
        if let Some(evolution) = &mut self.evolution {
            evolution.measure(run, verdict);
        }
    }

    /// Records the program's reaction to the text that was proposed last. Returns whether the text is kept.
    pub fn observe(&mut self, is_new: bool) -> bool {
        match &mut self.evolution {
            None => self.fuzzer.observe(Observation { is_new, cost: 0, features: &self.features, work: self.work }),
            Some(evolution) => evolution.observe(is_new),
        }
    }

    /// Says that all texts to begin with were added.
    pub fn begin(&mut self) {
        if let Some(evolution) = &mut self.evolution {
            evolution.search.begin();
        }
    }

    /// Learns from a text from elsewhere that was measured last. One on which the program fails is not varied, but it
    /// says what texts look like. Seeds are varied before anything else.
    pub fn add(&mut self, text: &[u8], has_failed: bool, is_seed: bool) {
        match &mut self.evolution {
            None if has_failed => {}
            None => {
                let observation = Observation { is_new: true, cost: 0, features: &self.features, work: 0 };
                let add = if is_seed { Fuzzer::add_seed } else { Fuzzer::add };
                add(&mut self.fuzzer, text, observation);
            }
            Some(evolution) => evolution.add(text),
        }
    }

    pub fn yields(&self) -> Yields {
        match &self.evolution {
            None => self.fuzzer.yields().map(|(operator, made, kept)| (operator.name(), made, kept)).collect(),
            Some(evolution) => vec![(self.operator(), evolution.made, evolution.kept)],
        }
    }

    /// Returns the last texts of a strategy, if they are due to be shown, or at the end.
    pub fn recent(&mut self, is_end: bool) -> Option<Recent> {
        let evolution = self.evolution.as_mut()?;
        if !is_end && evolution.shown.elapsed() < SHOWN {
            return None;
        }
        evolution.shown = Instant::now();
        Some(evolution.recent.clone())
    }
}

/// Returns true if a limit has ended a run.
fn is_stopped(outcome: &Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Timeout | Outcome::Stopped | Outcome::Memory | Outcome::Processes | Outcome::Disk | Outcome::Edges
    )
}

/// Returns what an operator has made so far: nothing, for each operator of variants.
pub fn no_yields(making: Making) -> Yields {
    match making.kind {
        None => {
            let operators = Operator::ALL.iter().map(|operator| operator.name());
            operators.chain([EXTREME]).map(|name| (name, 0, 0)).collect()
        }
        Some(kind) => vec![(kind.name, 0, 0)],
    }
}

impl Evolution {
    fn new(language: &Language, strategy: Box<dyn Strategy>, max_len: usize, seed: Seed) -> Result<Evolution, Error> {
        let search = Search::new(language, strategy, max_len, seed)
            .ok_or_else(|| Error::Usage(format!("every text of the grammar is longer than {max_len} bytes")))?;
        Ok(Evolution {
            language: language.clone(),
            search,
            max_len,
            measured: Measured::default(),
            behaviours: HashMap::new(),
            recent: Recent::default(),
            shown: Instant::now(),
            made: 0,
            kept: 0,
        })
    }

    fn propose(&mut self) -> &[u8] {
        let text = &self.search.propose().text;
        self.recent.push(text);
        text
    }

    fn measure(&mut self, run: &Run<'_>, verdict: &Verdict) {
        self.measured.edges.clear();
        match run.edges {
            Some(edges) => {
                self.measured.edges.extend(edges.counts());
            }
            None => {
                let next = self.behaviours.len() as u32;
                self.measured.edges.push((*self.behaviours.entry(verdict.behaviour).or_insert(next), 1));
            }
        }
        self.measured.ending = match run.outcome {
            _ if is_stopped(&run.outcome) => Ending::Stopped,
            _ if verdict.failed.is_some() => Ending::Failed,
            _ => Ending::Done,
        };
    }

    fn observe(&mut self, is_new: bool) -> bool {
        self.search.observe(&self.measured);
        self.made += 1;
        self.kept += u64::from(is_new);
        is_new
    }

    /// Adds a text. One that is too long to be made here is a sample all the same.
    fn add(&mut self, text: &[u8]) {
        let deriver = &mut self.search.desk().deriver;
        let Some(free) = self.language.derivation(text, deriver) else { return };
        let limited = if text.len() > self.max_len { None } else { deriver.limited(&free) };
        match limited {
            Some(limited) => drop(self.search.adopt(&limited, &self.measured)),
            None => self.search.learn(&free, &self.measured),
        }
    }
}
