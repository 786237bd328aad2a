//! SAFFRON's adaptive generation, and GramRand, its baseline (Le, Pasareanu, Padhye, Lo, Visser & Sen, *SAFFRON:
//! Adaptive Grammar-Based Fuzzing for Worst-Case Analysis*, 2019, phase II).
//!
//! Texts are derived by a recursion of limited depth: an alternative is drawn, and if it leads beyond the limit,
//! another one. GramRand draws evenly. SAFFRON draws by tournaments on probability. After each batch of texts, it
//! takes those that cost more than all texts before the batch, and sets the probabilities to the shares of the
//! alternatives in them.
//!
//! The paper leaves open how many texts a batch has and how many of them count, how many alternatives are in a
//! tournament, whether new probabilities replace old ones, and the limit on depth. [`SaffronSettings`] has the numbers;
//! their defaults come from a sweep (`benches/search/saffron`):
//!
//! - 100 texts, of which at most 10 count: enough to see a share of a tenth.
//! - Tournaments of 3: with two alternatives, the more probable one wins in 7 of 8 draws, so a repetition that pays
//!   goes on for 7 rounds in the mean, and all else is still tried.
//! - New probabilities replace old ones, at the sites that the texts decide, with one use more for each option: the
//!   best texts so far tell more than earlier ones.
//! - Depth 32, the limit that gramjet uses elsewhere, or twice the depth of the shortest text if that is more. Texts
//!   of 60 bytes are deeper only if they recurse on one side; the limit on length, which the paper does not have,
//!   keeps the others below it.
//!
//! The ends of repetitions and the members of classes are alternatives, too. A text that was run before is not run
//! again and does not count in a batch, unless the constants are the published ones.

mod backtrack;
mod probabilities;

use gramjet_session::decisions::{Decision, Derivation, OpenSite};

use backtrack::Backtrack;
use gramjet_search::{Desk, Measured, Repeats, Strategy};
use probabilities::Probabilities;

/// Settings that the paper leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaffronSettings {
    /// The number of texts in a batch.
    pub batch: usize,
    /// At most this many of them set the probabilities.
    pub kept: usize,
    /// The number of alternatives in a tournament; one is an even draw.
    pub tournament: u32,
    /// The limit on depth, if twice the depth of the shortest text is not more.
    pub depth: u32,
}

impl Default for SaffronSettings {
    fn default() -> SaffronSettings {
        SaffronSettings { batch: 100, kept: 10, tournament: 3, depth: 32 }
    }
}

impl SaffronSettings {
    /// Parses settings such as `batch=50,depth=16`; what is not named has its default.
    ///
    /// # Errors
    ///
    /// In words, if a name is unknown or a value is no number above 0.
    pub fn parse(text: &str) -> Result<SaffronSettings, String> {
        let mut settings = SaffronSettings::default();
        for setting in text.split(',') {
            let (name, value) = setting.split_once('=').ok_or_else(|| format!("`{setting}` is no NAME=NUMBER"))?;
            let number = value.parse::<u32>().ok().filter(|&number| number > 0);
            let number = number.ok_or_else(|| format!("`{value}` is no number above 0"))?;
            match name {
                "batch" => settings.batch = number as usize,
                "kept" => settings.kept = number as usize,
                "tournament" => settings.tournament = number,
                "depth" => settings.depth = number,
                _ => return Err(format!("`{name}` is none of batch, kept, tournament, depth")),
            }
        }
        Ok(settings)
    }

    /// Returns SAFFRON with these settings.
    pub fn strategy(self, paper: bool) -> Box<dyn Strategy> {
        Box::new(Saffron::with(self, paper))
    }
}

/// Number of times that the depth of the shortest text must fit in the limit.
const TIMES: u32 = 2;

/// Texts of limited depth.
#[derive(Debug)]
pub(super) struct Saffron {
    name: &'static str,
    paper: bool,
    settings: SaffronSettings,
    /// Whether probabilities are learned.
    adapts: bool,
    /// The limit on depth, once the grammar is known.
    depth: Option<u32>,
    probabilities: Probabilities,
    backtrack: Backtrack,
    batch: Batch,
}

/// The texts since the probabilities were set last.
#[derive(Debug, Default)]
struct Batch {
    len: usize,
    /// The greatest cost before the batch.
    before: u64,
    best: u64,
    /// The texts that cost more, the cheapest first.
    kept: Vec<(u64, Vec<Decision>)>,
}

impl Batch {
    fn add(&mut self, most: usize, cost: u64, decisions: &[Decision]) {
        self.best = self.best.max(cost);
        let is_better = self.kept.len() < most || self.kept.first().is_some_and(|least| least.0 < cost);
        if cost <= self.before || !is_better {
            return;
        }
        if self.kept.len() >= most {
            self.kept.remove(0);
        }
        let place = self.kept.partition_point(|known| known.0 <= cost);
        self.kept.insert(place, (cost, decisions.to_vec()));
    }

    fn begin(&mut self) {
        self.kept.clear();
        self.before = self.best;
        self.len = 0;
    }
}

impl Saffron {
    /// Returns the baseline: all alternatives stay equally probable.
    pub(super) fn gramrand(paper: bool) -> Saffron {
        Saffron {
            name: "gramrand",
            paper,
            settings: SaffronSettings { tournament: 1, ..SaffronSettings::default() },
            adapts: false,
            depth: None,
            probabilities: Probabilities::default(),
            backtrack: Backtrack::default(),
            batch: Batch::default(),
        }
    }

    /// Returns the strategy whose probabilities follow costly texts.
    pub(super) fn adaptive(paper: bool) -> Saffron {
        Saffron::with(SaffronSettings::default(), paper)
    }

    fn with(settings: SaffronSettings, paper: bool) -> Saffron {
        Saffron { name: "saffron", settings, adapts: true, ..Saffron::gramrand(paper) }
    }
}

/// Returns the limit on depth for a grammar.
fn depth_for(desk: &mut Desk, least: u32, scratch: &mut Derivation) -> u32 {
    desk.deriver.replay(&[], scratch);
    let shortest = scratch.parts.iter().map(|part| part.depth).max().unwrap_or(0);
    least.max(shortest.saturating_mul(TIMES))
}

impl Strategy for Saffron {
    fn name(&self) -> &'static str {
        self.name
    }

    fn propose(&mut self, desk: &mut Desk, candidate: &mut Derivation) {
        let SaffronSettings { depth, tournament, .. } = self.settings;
        let depth = *self.depth.get_or_insert_with(|| depth_for(desk, depth, candidate));
        let (probabilities, random) = (&self.probabilities, &mut desk.random);
        let draw = |site: &OpenSite<'_>, tried: &[u32]| probabilities.draw(site, tried, tournament, random);
        self.backtrack.derive(depth, &mut desk.deriver, draw, candidate);
    }

    fn observe(&mut self, _desk: &mut Desk, candidate: &Derivation, measured: &Measured) {
        if !self.adapts {
            return;
        }
        if !measured.is_repeat {
            self.batch.len += 1;
            self.batch.add(self.settings.kept, measured.cost, &candidate.decisions);
        }
        if self.batch.len >= self.settings.batch {
            self.probabilities.learn(self.batch.kept.iter().map(|kept| &kept.1[..]));
            self.batch.begin();
        }
    }

    /// Counts a costly text from elsewhere in the batch.
    fn adopt(&mut self, _desk: &mut Desk, derivation: &Derivation, measured: &Measured) {
        if self.adapts {
            self.batch.add(self.settings.kept, measured.cost, &derivation.decisions);
        }
    }

    fn repeats(&self) -> Repeats {
        if self.paper { Repeats::Run } else { Repeats::Remember }
    }

    /// Returns true for the baseline, as it learns nothing.
    fn proposes_ahead(&self) -> bool {
        !self.adapts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::kit::{best_of, count_of, language, measured};
    use gramjet_session::Random;

    #[test]
    fn a_batch_keeps_the_costliest_beyond_the_best_before() {
        let mut batch = Batch { before: 5, best: 5, ..Batch::default() };
        for cost in (0..20).chain([3, 17]) {
            batch.add(10, cost, &[]);
        }
        let costs: Vec<u64> = batch.kept.iter().map(|kept| kept.0).collect();
        assert_eq!(costs, [11, 12, 13, 14, 15, 16, 17, 17, 18, 19]);
        batch.begin();
        assert_eq!((batch.before, batch.kept.len()), (19, 0));
        batch.add(10, 19, &[]);
        assert_eq!(batch.kept.len(), 0);
    }

    #[test]
    fn probabilities_after_a_batch_are_those_of_its_costly_texts() {
        let deriver = language("s ::= 'a' | 'b' | 'c'").deriver(Some(30));
        let mut desk = Desk::new(deriver, 30, Random::new(1));
        let (mut saffron, mut text) = (Saffron::adaptive(true), Derivation::default());
        let mut place = None;
        for run in 0..SaffronSettings::default().batch {
            saffron.propose(&mut desk, &mut text);
            let decision = *text.decisions.iter().find(|known| known.offered == 3).expect("a choice");
            place = Some(decision.place);
            assert_eq!(saffron.probabilities.of(decision.place, 1, 3), 1.0 / 3.0, "{run}");
            // Only `b` costs anything, so the ten texts that are kept are all `b`.
            let cost = u64::from(text.text == b"b");
            saffron.observe(&mut desk, &text, &measured(cost, &[]));
        }
        let place = place.expect("a site");
        assert_eq!(
            [0, 1, 2].map(|option| saffron.probabilities.of(place, option, 3)),
            [1.0, 11.0, 1.0].map(|n| n / 13.0)
        );
        // No text costs more than 1 from then on, so nothing changes.
        for _ in 0..SaffronSettings::default().batch {
            saffron.propose(&mut desk, &mut text);
            saffron.observe(&mut desk, &text, &measured(1, &[]));
        }
        assert_eq!(saffron.probabilities.of(place, 1, 3), 11.0 / 13.0);
    }

    #[test]
    fn settings_are_read_by_their_names() {
        let settings = SaffronSettings::parse("batch=50,depth=16").expect("settings");
        assert_eq!(settings, SaffronSettings { batch: 50, depth: 16, ..SaffronSettings::default() });
        for wrong in ["", "batch", "batch=0", "batch=x", "smoothing=1", "batch=5,"] {
            assert!(SaffronSettings::parse(wrong).is_err(), "{wrong}");
        }
        // Without a choice among alternatives nothing is favoured.
        let texts = |settings: &str| {
            let strategy = SaffronSettings::parse(settings).expect("settings").strategy(false);
            crate::strategies::kit::run(
                &mut crate::strategies::kit::search("s ::= [a-d]*", strategy, 30, 1),
                3000,
                count_of(b'a'),
            )
        };
        assert!(texts("tournament=3") > texts("tournament=1"));
    }

    #[test]
    fn the_limit_on_depth_suits_the_grammar() {
        let depth = |rules: u32| {
            let chain: Vec<String> = (0..rules).map(|rule| format!("r{rule} ::= r{} | 'x' 'y'", rule + 1)).collect();
            let deriver = language(&format!("{}\nr{rules} ::= 'a'", chain.join("\n"))).deriver(Some(30));
            let mut desk = Desk::new(deriver, 30, Random::new(1));
            depth_for(&mut desk, 32, &mut Derivation::default())
        };
        assert_eq!([depth(5), depth(16), depth(20)], [32, 32, 40]);
    }

    #[test]
    fn rounds_and_letters_that_pay_become_probable() {
        let grammar = ("s ::= [a-d]*", 30);
        let best = |name, paper| best_of((name, paper), grammar, (1, 3000), count_of(b'a'));
        let (adapted, published, random) = (best("saffron", false), best("saffron", true), best("random", false));
        assert!(adapted >= 15 && published >= 15 && random < 10, "{adapted} {published} {random}");
        assert!(best("gramrand", false) < 10, "it draws as evenly as texts at random");
    }
}
