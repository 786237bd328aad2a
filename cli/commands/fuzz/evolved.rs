//! The weights that a strategy has come to.

use std::time::{Duration, Instant};

use gramjet_campaign::State;
use gramjet_compiler::Learned;
use gramjet_compiler::shape::learn::How;

use crate::arguments::grammar::{GrammarArgs, ShapeArgs};
use crate::commands::learn;
use crate::failure::{Failure, say};
use crate::files::shown;
use crate::prepared::Prepared;
use crate::samples;
use crate::units::plural;
use gramjet_campaign::failing::{Campaign, Recent};

/// The file, in the folder of the search.
const WEIGHTS: &str = "weights";
/// The texts that it was learned from: a search that goes on adds to them.
const TEXTS: &str = "last-texts";

/// Is added to the count of each alternative, so that all stay possible.
const HOW: How = How { smoothing: 0.5, ..How::COMMON };

/// The intervals at which the file is written while the search runs double from this one on, up to a greatest one.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);

/// Writes the weights of the last texts that the strategy has made.
pub(super) struct Weights {
    grammar: GrammarArgs,
    prepared: Prepared,
    /// The last texts of earlier searches in the folder.
    earlier: Recent,
    threads: usize,
    written: Instant,
    interval: Duration,
}

impl Weights {
    /// Returns the weights of a grammar as the search reads it.
    pub(super) fn new(
        prepared: Prepared,
        mut grammar: GrammarArgs,
        state: &State,
        threads: usize,
    ) -> Result<Weights, Failure> {
        grammar.how.shape = ShapeArgs::default();
        let prepared = learn::prepare_source(prepared.source, &grammar, false)?;
        let mut earlier = Recent::of(threads);
        // Without them the weights are those of this search.
        earlier.read(&state.view().file(TEXTS).unwrap_or_default());
        Ok(Weights { grammar, prepared, earlier, threads, written: Instant::now(), interval: FIRST })
    }

    /// Writes them if it is time, for a search that is killed.
    pub(super) fn look(&mut self, campaign: &Campaign) {
        if self.written.elapsed() < self.interval || campaign.stop.is_requested() {
            return;
        }
        // What cannot be written now is reported if it cannot be written in the end.
        let _ = self.write(campaign);
        (self.written, self.interval) = (Instant::now(), LONGEST.min(2 * self.interval));
    }

    /// Writes them for the last time, and says where they are.
    pub(super) fn end(mut self, campaign: &Campaign) -> Result<(), Failure> {
        let Some((learned, texts)) = self.write(campaign)? else { return Ok(()) };
        let place = campaign.state.path().join(WEIGHTS);
        say!("gramjet: the weights of the last {} are in {}", plural(texts, "text"), shown(&place));
        learn::say_how_to_read(&self.prepared, &self.grammar);
        learn::describe(self.prepared, &learned)
    }

    /// Returns the weights, and the number of texts that they are learned from; `None` if there are no new texts.
    fn write(&mut self, campaign: &Campaign) -> Result<Option<(Learned, u64)>, Failure> {
        let recent = campaign.recent();
        if recent.is_empty() {
            return Ok(None);
        }
        let mut all = Recent::of(self.threads);
        all.extend(&self.earlier);
        recent.iter().for_each(|recent| all.extend(recent));
        let found = samples::count_texts(self.prepared.compiled()?, all.texts());
        if found.parsed.0 == 0 {
            return Ok(None);
        }
        let learned = learn::weigh(&self.prepared, &found, &HOW)?;
        campaign.state.write(TEXTS, &all.to_bytes())?;
        campaign.state.write(WEIGHTS, learned.weights.as_bytes())?;
        Ok(Some((learned, found.parsed.0)))
    }
}
