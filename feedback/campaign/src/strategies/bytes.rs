//! Changed bytes, in the way of PerfFuzz: the baseline that knows no grammar (Lemieux, Padhye, Sen & Song, *PerfFuzz:
//! Automatically Generating Pathological Inputs*, ISSTA 2018, section 3; with AFL 2.52b's havoc and splice).
//!
//! A text is kept if it ended by itself, and reached new coverage or raised the maximum of an edge or of the total.
//! Kept texts have their turn one after another; those that hold no maximum are skipped 99 times of 100. A turn is 256
//! changed texts, and up to 15 splices with another text, with 32 changed texts each; each text that is kept doubles
//! the stage in which it is found, up to five times.
//!
//! Differences from the published program:
//!
//! - The first texts are ten random ones of the grammar, within the limit on length, not files; a space stands for an
//!   empty one.
//! - The score of a text is 100: its speed, coverage, age and depth are not counted.
//! - Kept texts are not run again for calibration, and not trimmed. Nor are there deterministic stages, a dictionary,
//!   or staleness, all of which the comparison of 2023 did without.
//! - Processor time stands for the clock in the rule that blocks are small in the first ten minutes. Afterwards they
//!   are up to a sixteenth, a quarter, or three quarters of the limit on length.
//! - If the queue takes more than 256 MiB, texts that hold no maximum are dropped.
//! - Without the published constants, texts that were run before are answered from memory.

mod queue;

use gramjet_session::decisions::Derivation;

use gramjet_search::Maxima;
use gramjet_search::{Blocks, havoc};
use gramjet_search::{Desk, Ending, Measured, Repeats, Strategy};
use gramjet_session::Random;
use queue::Queue;

/// Random texts at the beginning.
const SEEDS: usize = 10;
/// Changed texts in a stage.
const HAVOC: usize = 256;
/// Splices in a turn, and changed texts of each.
const SPLICES: usize = 15;
const SPLICED: usize = 32;
/// The fewest texts in a stage, for slow programs.
const LEAST: usize = 16;
/// The score of all texts, and the greatest one with which a stage is doubled.
const SCORE: u32 = 100;
const MOST_SCORE: u32 = 1600;
/// Seconds in which blocks are small.
const SMALL_BLOCKS: f64 = 600.0;

/// Texts that are made from one.
#[derive(Clone, Debug, Default)]
struct Stage {
    entry: Option<u32>,
    /// The text that is changed: the entry, or a splice of it.
    base: Vec<u8>,
    /// The number of texts, and how many of them are left.
    length: usize,
    left: usize,
    score: u32,
    splices: usize,
}

impl Stage {
    fn begin(&mut self, length: usize) {
        (self.length, self.left, self.score) = (length, length, SCORE);
    }

    /// Makes the stage longer, as a text was kept.
    fn find(&mut self) {
        if self.score <= MOST_SCORE {
            self.left += self.length;
            self.length *= 2;
            self.score *= 2;
        }
    }
}

/// PerfFuzz.
#[derive(Debug)]
pub(crate) struct Bytes {
    is_paper: bool,
    queue: Queue,
    maxima: Maxima,
    cost: u64,
    seeds: usize,
    is_seed: bool,
    seconds: f64,
    seed_seconds: f64,
    stage: Stage,
    drawn: Derivation,
}

impl Bytes {
    pub(crate) fn new(is_paper: bool) -> Bytes {
        Bytes {
            is_paper,
            queue: Queue::default(),
            maxima: Maxima::new(),
            cost: 0,
            seeds: 0,
            is_seed: false,
            seconds: 0.0,
            seed_seconds: 0.0,
            stage: Stage::default(),
            drawn: Derivation::default(),
        }
    }

    fn seed(&mut self, desk: &mut Desk, text: &mut Vec<u8>) {
        desk.draw_text(&mut self.drawn);
        text.extend_from_slice(&self.drawn.text);
        if text.is_empty() && desk.max_len > 0 {
            text.push(b' ');
        }
    }

    /// Returns the number by which stages are shortened for slow programs.
    fn divisor(&self) -> usize {
        match self.seed_seconds / self.seeds.max(1) as f64 {
            0.05.. => 10,
            0.02.. => 5,
            0.01.. => 2,
            _ => 1,
        }
    }

    /// Begins the next stage: a splice of the text whose turn it is, or the turn of another text.
    fn begin(&mut self, random: &mut Random) {
        if let Some(entry) = self.stage.entry
            && self.stage.splices < SPLICES
            && self.queue.len() > 1
        {
            self.stage.splices += 1;
            if let Some(text) = self.splice(entry, random) {
                self.stage.base = text;
                self.stage.begin((SPLICED / self.divisor()).max(LEAST));
            }
            return;
        }
        let Some(entry) = self.queue.next(random) else { return };
        self.stage.entry = Some(entry);
        self.stage.base = self.queue.text(entry).to_vec();
        self.stage.splices = 0;
        self.stage.begin((HAVOC / self.divisor()).max(LEAST));
    }

    /// Returns the beginning of a text with the end of another one; `None` if the two hardly differ.
    fn splice(&self, entry: u32, random: &mut Random) -> Option<Vec<u8>> {
        let step = 1 + random.below(self.queue.len() - 1);
        let other = (entry as usize + step) % self.queue.len();
        splice(self.queue.text(entry), self.queue.text(other as u32), random)
    }

    fn keep(&mut self, text: &[u8], measured: &Measured) {
        self.queue.add(text, measured.cost, &measured.edges);
        if self.queue.shrink() {
            self.stage = Stage::default();
        }
    }

    /// Adds a run that ended by itself; returns whether it is new.
    fn learn(&mut self, measured: &Measured) -> bool {
        let novelty = self.maxima.add(&measured.edges);
        let is_most = measured.cost > self.cost;
        self.cost = self.cost.max(measured.cost);
        novelty.is_any() || is_most
    }
}

/// Cuts two texts between their first and their last difference.
fn splice(text: &[u8], other: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    if text.len() < 2 || other.len() < 2 {
        return None;
    }
    let mut differences = text.iter().zip(other).enumerate().filter(|(_, (one, other))| one != other);
    let first = differences.next()?.0;
    let last = differences.next_back()?.0;
    if last < 2 {
        return None;
    }
    let cut = first + random.below(last - first);
    Some([&text[..cut], &other[cut..]].concat())
}

impl Strategy for Bytes {
    fn name(&self) -> &'static str {
        "bytes"
    }

    fn takes_any_text(&self) -> bool {
        true
    }

    fn propose(&mut self, desk: &mut Desk, candidate: &mut Derivation) {
        candidate.clear();
        self.is_seed = self.seeds < SEEDS || self.queue.len() == 0;
        if self.is_seed {
            self.seeds += 1;
            return self.seed(desk, &mut candidate.text);
        }
        while self.stage.left == 0 {
            self.begin(&mut desk.random);
        }
        self.stage.left -= 1;
        candidate.text.extend_from_slice(&self.stage.base);
        let ranges = if self.seconds < SMALL_BLOCKS { 1 } else { self.queue.cycle().min(3) };
        havoc(&mut candidate.text, Blocks { most: desk.max_len, ranges }, &mut desk.random);
    }

    fn observe(&mut self, _desk: &mut Desk, candidate: &Derivation, measured: &Measured) {
        self.seconds += measured.seconds;
        if self.is_seed {
            self.seed_seconds += measured.seconds;
        }
        if measured.ending != Ending::Done || candidate.text.is_empty() {
            return;
        }
        let is_new = self.learn(measured);
        let is_seed = self.is_seed && (!measured.is_repeat || self.queue.len() == 0);
        if is_seed || is_new {
            self.keep(&candidate.text, measured);
        }
        if is_new && !self.is_seed {
            self.stage.find();
        }
    }

    fn adopt(&mut self, desk: &mut Desk, derivation: &Derivation, measured: &Measured) {
        let is_fit = (1..=desk.max_len).contains(&derivation.text.len());
        if measured.ending == Ending::Done && is_fit && self.learn(measured) {
            self.keep(&derivation.text, measured);
        }
    }

    fn repeats(&self) -> Repeats {
        if self.is_paper { Repeats::Run } else { Repeats::Remember }
    }

    fn operator(&self) -> &'static str {
        match () {
            () if self.is_seed => "seed",
            () if self.stage.splices > 0 => "splice",
            () => "havoc",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::kit;
    use gramjet_search::Search;

    #[test]
    fn texts_are_cut_between_their_first_and_last_difference() {
        let mut random = Random::new(1);
        let mut spliced: Vec<Vec<u8>> = (0..100).filter_map(|_| splice(b"abcdef", b"aBcDefg", &mut random)).collect();
        spliced.sort();
        spliced.dedup();
        // Differences at 1 and 3: cut at 1 or 2.
        assert_eq!(spliced, [&b"aBcDefg"[..], b"abcDefg"]);
        for (text, other) in [("abc", "abc"), ("abc", "abd"), ("ab", "ba"), ("a", "b"), ("a", "bcd")] {
            assert_eq!(splice(text.as_bytes(), other.as_bytes(), &mut random), None, "{text} {other}");
        }
    }

    #[test]
    fn finds_double_a_stage_five_times() {
        let mut stage = Stage::default();
        stage.begin(256);
        stage.left = 200;
        stage.find();
        assert_eq!((stage.length, stage.left, stage.score), (512, 456, 200));
        for _ in 0..10 {
            stage.find();
        }
        assert_eq!((stage.length, stage.score), (256 << 5, 3200));
    }

    /// Runs texts that all cost the same; the share of each operator.
    fn operators(runs: usize, measured: &Measured) -> Vec<(&'static str, usize)> {
        let mut search = kit::search("s ::= [a-z] [a-z] [a-z] [a-z]", Box::new(Bytes::new(true)), 8, 1);
        let mut operators: Vec<(&str, usize)> = Vec::new();
        for _ in 0..runs {
            search.propose();
            search.observe(measured);
            let operator = search.strategy().operator();
            match operators.last_mut().filter(|last| last.0 == operator) {
                Some(last) => last.1 += 1,
                None => operators.push((operator, 1)),
            }
        }
        operators
    }

    #[test]
    fn a_turn_is_havoc_and_splices() {
        let edges = [(1, 1)];
        let turns = operators(10 + 256 + 15 * 32 + 256 + 1, &kit::measured(1, &edges));
        assert_eq!(turns, [("seed", 10), ("havoc", 256), ("splice", 480), ("havoc", 256), ("splice", 1)]);
        // 15 ms a run: half as many.
        let slow = Measured { seconds: 0.015, ..kit::measured(1, &edges) };
        assert_eq!(operators(10 + 128 + 15 * 16, &slow), [("seed", 10), ("havoc", 128), ("splice", 240)]);
    }

    #[test]
    fn only_texts_that_end_by_themselves_are_kept() {
        let mut search = kit::search("s ::= [a-z]+", Box::new(Bytes::new(false)), 8, 1);
        let stopped = Measured { ending: Ending::Stopped, ..kit::measured(9, &[(1, 9)]) };
        let proposed = |search: &mut Search, measured: &Measured| {
            search.propose();
            search.observe(measured);
            search.strategy().operator()
        };
        for _ in 0..30 {
            // The queue stays empty.
            assert_eq!(proposed(&mut search, &stopped), "seed");
        }
        assert_eq!(proposed(&mut search, &kit::measured(1, &[(1, 1)])), "seed");
        assert_eq!(proposed(&mut search, &stopped), "havoc");
    }

    #[test]
    fn bytes_climb_where_random_texts_do_not() {
        // It costs as much as one byte is repeated.
        let subject = |text: &[u8]| {
            let longest = text.chunk_by(u8::eq).map(|run| run.len() as u64).max().unwrap_or(0);
            (longest, vec![(0, longest)])
        };
        let best = |name, paper| kit::best_of((name, paper), (kit::WORDS, 60), (1, 4000), subject);
        for paper in [false, true] {
            assert!(best("bytes", paper) >= 8, "{paper} {}", best("bytes", paper));
        }
        assert!(best("random", false) < 6, "{}", best("random", false));
    }
}
