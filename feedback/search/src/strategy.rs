//! The contract of strategies, and what they work with.

use std::time::Duration;

use gramjet_session::decisions::{Chooser, Derivation, Deriver, Extent, OpenSite};

use crate::maxima::Edge;
use crate::random::Random;

/// Means that every strategy works with: the grammar, the limit on length, and random numbers.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Desk {
    /// Derives texts of at most [`Desk::max_len`] bytes.
    pub deriver: Deriver,
    /// The greatest length of a text, in bytes.
    pub max_len: usize,
    /// Random numbers of the search.
    pub random: Random,
    /// The cost of the empty text. A run that costs less measures nothing.
    pub empty_cost: u64,
    /// Texts with new coverage are varied more than those that cost most.
    pub(crate) explores: bool,
    /// A strategy may decide by the time of runs.
    pub(crate) uses_times: bool,
}

impl Desk {
    /// Returns the desk of a search among texts of at most `max_len` bytes, which are also the limit of the deriver.
    pub fn new(deriver: Deriver, max_len: usize, random: Random) -> Desk {
        Desk { deriver, max_len, random, empty_cost: 0, explores: false, uses_times: false }
    }

    /// Draws a random text without its parts: each option that is offered is equally probable.
    pub fn draw_text(&mut self, derivation: &mut Derivation) {
        self.deriver.derive_as(Extent::NoParts, &[], &mut Evenly(&mut self.random), derivation);
    }

    /// Draws a random text with its parts: each option that is offered is equally probable.
    pub fn draw(&mut self, derivation: &mut Derivation) {
        self.deriver.derive(&[], &mut Evenly(&mut self.random), derivation);
    }

    /// Returns a random number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound)
    }

    /// Draws a text that begins with the first `kept` decisions of `text`, and at random from then on.
    pub fn draw_after(&mut self, text: &Derivation, kept: usize, drawn: &mut Derivation) {
        let options: Vec<u32> = text.options().take(kept).collect();
        self.deriver.derive(&options, &mut Evenly(&mut self.random), drawn);
    }

    /// Draws a random part with this symbol, in an instance of this depth, and at most this many bytes.
    pub(crate) fn draw_part(&mut self, place: (u32, u32), bytes: usize, extent: Extent, part: &mut Derivation) {
        let mut evenly = Evenly(&mut self.random);
        self.deriver.draw_after(&[], place, bytes as u64, &mut evenly, extent, part);
    }
}

/// Each option that is offered is equally probable, whatever the weights of the grammar. Options that are only read
/// come from texts that were read, and are drawn only if no other is short enough.
#[derive(Debug)]
pub struct Evenly<'r>(pub &'r mut Random);

impl Chooser for Evenly<'_> {
    fn choose(&mut self, site: &OpenSite<'_>) -> u32 {
        match site.offered() {
            0 | 1 => 0,
            offered => {
                let option = self.0.below(offered as usize) as u32;
                if site.is_only_read(option) { self.among_generated(site).unwrap_or(option) } else { option }
            }
        }
    }
}

impl Evenly<'_> {
    /// Returns one of the options that generated inputs have, if any is offered.
    fn among_generated(&mut self, site: &OpenSite<'_>) -> Option<u32> {
        let generated = || (0..site.offered()).filter(|&option| !site.is_only_read(option));
        let count = generated().count();
        if count == 0 { None } else { generated().nth(self.0.below(count)) }
    }
}

/// End of a run, as far as a search is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// The program ended by itself.
    #[default]
    Done,
    /// The run was stopped at a limit of time or of edges. Its counts are those up to then.
    Stopped,
    /// The run failed in another way.
    Failed,
}

/// The measurements of one run.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The cost.
    pub cost: u64,
    /// All costs, of which `cost` is the first; may be empty if there is only that one. The search keeps the texts that
    /// no other beats in all of them. Strategies get one number for all as `cost`.
    pub costs: Vec<u64>,
    /// The greatest count of an edge; 0 if the text was run before.
    pub hottest: u64,
    /// Edges with the number of times that each was executed, ascending by the number of the edge; empty if the program
    /// counts nothing, or if the text was run before.
    pub edges: Vec<Edge>,
    /// Number of edges that were executed in all, each counted as often as it was executed; 0 if that is not known.
    pub executed: u64,
    /// End of the run.
    pub ending: Ending,
    /// Processor time in seconds, or time by the clock if that is not known.
    pub seconds: f64,
    /// Time by the clock, with all that measures a cost besides the program; 0 where that is not of use.
    pub took: Duration,
    /// Whether the text was run before, so that this is remembered.
    pub is_repeat: bool,
}

impl Measured {
    /// Returns the measurements of a run that ended by itself and executed these edges.
    pub fn of(cost: u64, edges: Vec<Edge>) -> Measured {
        let hottest = edges.iter().map(|edge| edge.1).max().unwrap_or(0);
        Measured { cost, hottest, edges, ..Measured::default() }
    }

    /// Returns all costs if there are several, else none.
    pub fn several(&self) -> &[u64] {
        if self.costs.len() > 1 { &self.costs } else { &[] }
    }

    /// Lowers each of the costs to at most the one at its place here.
    pub fn lower(&mut self, most: impl Iterator<Item = u64>) {
        self.costs.iter_mut().zip(most).for_each(|(cost, most)| *cost = most.min(*cost));
        self.cost = self.costs.first().copied().unwrap_or(self.cost);
    }
}

/// Ways of treating texts that were run before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// Run them again.
    Run,
    /// Tell the strategy their cost from memory.
    Remember,
}

/// Facts about a text that a strategy has proposed, which it has to know when it learns from its run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Making {
    /// The way in which it was made.
    pub(crate) way: usize,
    /// The text that it varies: its place, and its number among all that were kept.
    pub(crate) parent: Option<(usize, u64)>,
    /// Number of times that the strategy had begun anew.
    pub(crate) beginning: u32,
    /// Pool in which the text that it varies is kept.
    pub(crate) pool: Pool,
    /// The number of edges that the text that it varies has executed.
    pub(crate) parent_executed: Option<u64>,
}

/// The next text is made once the run of this one is known if the text that it varies has executed more than this many
/// edges. That takes a millisecond or two in compiled programs, which is much longer than to make a text.
const AWAITED: u64 = 1 << 20;

impl Making {
    /// Returns true if the text is likely to run long, so the next one is proposed once its run is known.
    pub(crate) fn is_awaited(&self) -> bool {
        self.parent_executed.is_some_and(|executed| executed > AWAITED)
    }
}

/// The texts that `portfolio` keeps, which are of three sorts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pool {
    /// The best texts since the search has begun anew.
    #[default]
    Recent,
    /// The champions of the whole search.
    Wide,
    /// The champions among quick texts.
    Quick,
}

/// A way to search.
///
/// The search calls [`Strategy::propose`] and [`Strategy::observe`] in turn, unless the strategy proposes ahead.
pub trait Strategy: Send {
    /// Returns its name, as on the command line.
    fn name(&self) -> &'static str;

    /// Writes the next text to try to `candidate`, whose previous contents are of no use. Strategies that change bytes
    /// leave decisions and parts empty.
    fn propose(&mut self, desk: &mut Desk, candidate: &mut Derivation);

    /// Learns from the run of the text that was proposed last, or of the one whose making was recalled.
    fn observe(&mut self, desk: &mut Desk, candidate: &Derivation, measured: &Measured);

    /// Takes note that the seeds are known: whatever is adopted from now on comes from other workers.
    fn begin(&mut self, _desk: &mut Desk) {}

    /// Learns from the run of a text from elsewhere: a seed, or the text of another worker.
    fn adopt(&mut self, _desk: &mut Desk, _derivation: &Derivation, _measured: &Measured) {}

    /// Returns true if it learns from texts that are not of the grammar, too, as it changes bytes alone.
    fn takes_any_text(&self) -> bool {
        false
    }

    /// Returns what to do with texts that were run before.
    fn repeats(&self) -> Repeats {
        Repeats::Remember
    }

    /// Returns what made the candidate that was proposed or recalled last: an operator, or the strategy itself.
    fn operator(&self) -> &'static str {
        self.name()
    }

    /// Returns true if it may propose the next text while one runs. Published strategies learn from each text before
    /// they propose the next.
    fn proposes_ahead(&self) -> bool {
        false
    }

    /// Returns how the candidate that was proposed last was made.
    fn making(&self) -> Making {
        Making::default()
    }

    /// Takes note that the text that is observed next is one that was made like this.
    fn recall(&mut self, _making: Making) {}
}

#[cfg(test)]
mod tests {
    use gramjet_compiler::SourceFile;
    use gramjet_session::{FormatOptions, Language, Settings};

    use super::*;

    #[test]
    fn options_that_are_only_read_are_not_drawn_if_others_fit() {
        let file = SourceFile::new("g.ebnf", "s ::= item+  item ::= 'aa' | 'bb' | 'c' @ 0");
        let settings = Settings { reading: FormatOptions::of_others(), ..Settings::default() };
        let language = Language::compile(&file, &settings).expect("a grammar");
        let (mut random, mut drawn) = (Random::new(1), Derivation::default());
        let mut deriver = language.deriver(Some(40));
        for _ in 0..200 {
            deriver.derive(&[], &mut Evenly(&mut random), &mut drawn);
            // A single byte that is left has room for nothing else.
            let read = drawn.text.iter().filter(|&&byte| byte == b'c').count();
            assert!(read == 0 || read == 1 && drawn.text.ends_with(b"c"), "{:?}", String::from_utf8_lossy(&drawn.text));
        }
        language.deriver(Some(1)).derive(&[], &mut Evenly(&mut random), &mut drawn);
        assert_eq!(drawn.text, b"c");
    }
}
