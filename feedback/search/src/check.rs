//! Searches in tests: for a property that all texts of a grammar must have, or a bound on their cost.

use std::any::Any;
use std::cell::Cell;
use std::ffi::OsStr;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;
use std::time::{Duration, Instant};

use gramjet_session::decisions::{Derivation, Deriver};
use gramjet_session::{Bound, Language, LanguageError, Settings};

use crate::fuzzer::{Fuzzer, Goal, Observation};
use crate::proof::{Effort, Reading, prove};
use crate::search::Search;
use crate::strategies::STRATEGIES;
use crate::strategy::Measured;

/// A search in a test, with its budget.
///
/// ```
/// use gramjet_search::Check;
///
/// // A parser that keeps to a bound on its steps.
/// fn steps(text: &[u8]) -> u64 {
///     text.len() as u64
/// }
/// Check::new("json").texts(2000).max_len(60).costs_at_most(|len| 2 * len as u64, steps);
/// ```
#[derive(Clone, Debug)]
pub struct Check {
    grammar: String,
    settings: Settings,
    seed: u64,
    texts: u64,
    time: Option<Duration>,
    max_len: usize,
    shrinks: u32,
}

/// Runs a property on texts of a grammar, a file or one that ships; see [`Check::holds`].
///
/// If the property overflows the stack or never returns, the test ends without a message of this crate; run such
/// subjects as programs of their own, with `gramjet-harness`.
///
/// ```
/// gramjet_search::check("json", |text| {
///     assert!(text.is_ascii() || std::str::from_utf8(text).is_ok());
/// });
/// ```
///
/// # Panics
///
/// With the smallest text found for which the property panics; if the grammar cannot be used.
#[track_caller]
pub fn check(grammar: &str, property: impl FnMut(&[u8])) {
    Check::new(grammar).holds(property);
}

impl Check {
    /// On a grammar, a file or one that ships: 10 000 texts of at most 4 KiB.
    pub fn new(grammar: impl Into<String>) -> Check {
        Check {
            grammar: grammar.into(),
            settings: Settings::default(),
            seed: 0,
            texts: 10_000,
            time: None,
            max_len: 4096,
            shrinks: 2000,
        }
    }

    /// With the grammar read and run in this way.
    pub fn settings(mut self, settings: Settings) -> Check {
        self.settings = settings;
        self
    }

    /// With another seed than 0: the same seed gives the same texts, as long as the property behaves the same.
    pub fn seed(mut self, seed: u64) -> Check {
        self.seed = seed;
        self
    }

    /// With this many texts.
    pub fn texts(mut self, texts: u64) -> Check {
        self.texts = texts;
        self
    }

    /// No longer than this, however many texts are left.
    pub fn time(mut self, time: Duration) -> Check {
        self.time = Some(time);
        self
    }

    /// With texts of at most this many bytes.
    pub fn max_len(mut self, bytes: usize) -> Check {
        self.max_len = bytes;
        self
    }

    /// With at most this many runs to make a text smaller for which the property fails.
    pub fn shrinks(mut self, runs: u32) -> Check {
        self.shrinks = runs;
        self
    }

    /// Runs a property, which fails by a panic.
    ///
    /// # Panics
    ///
    /// With the smallest text found for which the property panics; if the grammar cannot be used.
    #[track_caller]
    pub fn holds(&self, mut property: impl FnMut(&[u8])) {
        let failed = self.search(Goal::New, |text| match caught(|| property(text)) {
            Ok(()) => Ok(Observation::default()),
            Err(message) => Err(message),
        });
        self.report(failed);
    }

    /// Searches for a text that costs more than `bound` allows for its length, in the unit that `cost` returns: steps,
    /// comparisons, bytes allocated. A clock is a poor unit, as it differs on each run.
    ///
    /// # Panics
    ///
    /// With the smallest text found that costs more, or for which `cost` panics; if the grammar cannot be used.
    #[track_caller]
    pub fn costs_at_most(&self, bound: impl Fn(usize) -> u64, mut cost: impl FnMut(&[u8]) -> u64) {
        let failed = self.search(Goal::Cost, |text| {
            let cost = caught(|| cost(text))?;
            let bound = bound(text.len());
            if cost > bound {
                return Err(format!("it costs {cost}, and for {} bytes {bound} are allowed", text.len()));
            }
            Ok(Observation { cost, ..Observation::default() })
        });
        self.report(failed);
    }

    /// Searches for costly texts, and repeats parts of the most costly one. The cost must not be proved to grow faster
    /// than n to the power of `exponent`, where n counts how often a part is repeated: 1.2 allows linear growth and n
    /// log n. The unit is that of [`Check::costs_at_most`]. Lengths of some sixty bytes suffice; the repeated texts
    /// have up to 16 KiB. They take at most 2000 more runs and a minute, besides [`Check::time`]. If the time is over
    /// before the runs, less is proved, and the result depends on the machine.
    ///
    /// ```
    /// use gramjet_search::Check;
    ///
    /// fn steps(text: &[u8]) -> u64 {
    ///     text.len() as u64
    /// }
    /// Check::new("json").texts(300).max_len(60).grows_at_most(1.2, steps);
    /// ```
    ///
    /// # Panics
    ///
    /// With the text and the law of growth, if the cost is proved to grow faster; with a text for which `cost` panics;
    /// if the grammar cannot be used.
    #[track_caller]
    pub fn grows_at_most(&self, exponent: f64, mut cost: impl FnMut(&[u8]) -> u64) {
        let result = self.costliest(&mut cost).and_then(|(mut deriver, best)| {
            let mut measure = |text: &[u8]| {
                let measured = caught(|| cost(text));
                let has_failed = measured.is_err();
                Some(Reading { cost: measured.unwrap_or(0), has_failed, ..Reading::default() })
            };
            let families = prove(&mut deriver, &best, Effort::default(), &mut measure);
            let grown = families.iter().find_map(|family| {
                let growth = family.growth.as_ref().filter(|growth| growth.is_superlinear(exponent))?;
                Some(format!("{growth} in the number of {}", family.pump.describe(&deriver)))
            });
            match grown {
                Some(law) => Err(Failed::Growth { text: best.text, law }),
                None => Ok(()),
            }
        });
        self.report(result);
    }

    /// The most costly text that was found.
    fn costliest(&self, cost: &mut impl FnMut(&[u8]) -> u64) -> Result<(Deriver, Derivation), Failed> {
        let language = self.language(Goal::Cost).map_err(|error| Failed::Grammar(error.to_string()))?;
        let strategy = STRATEGIES[0].make(false);
        let search = Search::new(&language, strategy, self.max_len, self.seed);
        let mut search =
            search.ok_or_else(|| Failed::Grammar(format!("every text has more than {} bytes", self.max_len)))?;
        let begin = Instant::now();
        for number in 1..=self.texts {
            if self.time.is_some_and(|time| begin.elapsed() >= time) {
                break;
            }
            let text = search.propose().text.clone();
            if search.is_exhausted() {
                break;
            }
            let cost = caught(|| cost(&text));
            let cost = cost.map_err(|message| Failed::Text { text, message, number, runs: 0 })?;
            search.observe(&Measured { cost, ..Measured::default() });
        }
        let best = search.best().map(|best| best.derivation.clone()).unwrap_or_default();
        Ok((language.deriver(None), best))
    }

    /// Runs the subject on texts; returns the smallest text for which it fails, and the reason.
    fn search(
        &self,
        goal: Goal,
        subject: impl FnMut(&[u8]) -> Result<Observation<'static>, String>,
    ) -> Result<(), Failed> {
        let language = self.language(goal).map_err(|error| Failed::Grammar(error.to_string()))?;
        self.run(&mut Fuzzer::new(&language, goal, self.max_len, self.seed), goal, subject)
    }

    fn run(
        &self,
        fuzzer: &mut Fuzzer,
        goal: Goal,
        mut subject: impl FnMut(&[u8]) -> Result<Observation<'static>, String>,
    ) -> Result<(), Failed> {
        let begin = Instant::now();
        for number in 1..=self.texts {
            if self.time.is_some_and(|time| begin.elapsed() >= time) {
                break;
            }
            let Some(text) = fuzzer.propose() else {
                let what = format!("every text has more than {} bytes", self.max_len);
                return Err(Failed::Grammar(what));
            };
            match subject(text) {
                Ok(mut observation) => {
                    observation.is_new = goal == Goal::New && fuzzer.has_new_derivation();
                    fuzzer.observe(observation);
                }
                Err(message) => {
                    let text = text.to_vec();
                    let (text, message, runs) = self.shrink(fuzzer, text, message, &mut subject);
                    return Err(Failed::Text { text, message, number, runs });
                }
            }
        }
        Ok(())
    }

    /// A smaller text that fails, too.
    fn shrink(
        &self,
        fuzzer: &mut Fuzzer,
        text: Vec<u8>,
        message: String,
        subject: &mut impl FnMut(&[u8]) -> Result<Observation<'static>, String>,
    ) -> (Vec<u8>, String, u32) {
        let (mut smallest, mut reason, mut runs) = (text.clone(), message, 0);
        let Some(mut trim) = fuzzer.session().minimise(&text) else { return (smallest, reason, runs) };
        while runs < self.shrinks {
            let Some(text) = trim.propose() else { break };
            runs += 1;
            let failed = subject(text).err();
            if let Some(message) = &failed {
                smallest.clear();
                smallest.extend_from_slice(text);
                reason.clone_from(message);
            }
            trim.judge(failed.is_some());
        }
        (smallest, reason, runs)
    }

    /// The grammar. Costly texts are often deep, so only the length bounds the texts of a search for cost. Its
    /// repetitions are not split by weights.
    fn language(&self, goal: Goal) -> Result<Language, LanguageError> {
        let mut settings = self.settings.clone();
        if goal == Goal::Cost && settings.max_depth == Bound::Default {
            settings.max_depth = Bound::Unlimited;
        }
        settings.own_weights |= goal == Goal::Cost;
        Language::load(OsStr::new(&self.grammar), &settings)
    }

    #[track_caller]
    fn report(&self, result: Result<(), Failed>) {
        match result {
            Ok(()) => {}
            Err(Failed::Grammar(message)) => panic!("{}: {message}", self.grammar),
            Err(Failed::Growth { text, law }) => {
                panic!(
                    "the cost of a text of `{}` (seed {}) grows too fast:\n{}\n{law}",
                    self.grammar,
                    self.seed,
                    shown(&text)
                )
            }
            Err(Failed::Text { text, message, number, runs }) => panic!(
                "text {number} of `{}` (seed {}), made smaller in {runs} runs, fails:\n{}\n{message}",
                self.grammar,
                self.seed,
                shown(&text)
            ),
        }
    }
}

enum Failed {
    Grammar(String),
    Text { text: Vec<u8>, message: String, number: u64, runs: u32 },
    Growth { text: Vec<u8>, law: String },
}

/// The text itself if it is UTF-8, else with escapes.
fn shown(text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) if !text.chars().any(|character| character.is_control() && character != '\n') => text.to_string(),
        _ => format!("b\"{}\"", text.escape_ascii()),
    }
}

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The result, or the message of the panic, which is not printed.
fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_QUIET.get() {
                usual(info);
            }
        }));
    });
    let before = IS_QUIET.replace(true);
    // Only the closure itself sees the state that it leaves half done, in its next run.
    let result = panic::catch_unwind(AssertUnwindSafe(run));
    IS_QUIET.set(before);
    result.map_err(|payload| message_of(&*payload))
}

fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "it panics".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(run: impl FnOnce()) -> String {
        caught(run).expect_err("a panic")
    }

    /// How deep brackets nest, except for brackets in strings.
    fn depth(text: &[u8]) -> u64 {
        let (mut depth, mut deepest, mut is_string, mut is_escaped) = (0, 0, false, false);
        for byte in text {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => is_string = !is_string,
                b'[' | b'{' if !is_string => depth += 1,
                b']' | b'}' if !is_string => depth -= 1,
                _ => {}
            }
            deepest = deepest.max(depth);
        }
        deepest
    }

    #[test]
    fn a_failing_property_is_reported_with_a_small_text() {
        let failed = message(|| check("json", |text| assert!(depth(text) < 4, "too deep")));
        let lines: Vec<&str> = failed.lines().collect();
        assert!(lines[1].len() == 8 && lines[1].starts_with("[[[") && lines[2] == "too deep", "{failed}");
    }

    #[test]
    fn a_property_that_holds_is_no_failure() {
        Check::new("json").texts(500).holds(|text| assert!(text.len() <= 4096));
    }

    #[test]
    fn texts_with_something_new_in_them_are_varied() {
        let check = Check::new("json").texts(300);
        let language = check.language(Goal::New).expect("the grammar");
        let mut fuzzer = Fuzzer::new(&language, Goal::New, 1000, 0);
        assert!(check.run(&mut fuzzer, Goal::New, |_| Ok(Observation::default())).is_ok());
        assert!(fuzzer.yields().take(3).all(|(_, made, _)| made > 10), "{:?}", fuzzer.yields().collect::<Vec<_>>());
        assert!((10..200).contains(&fuzzer.corpus().entries().len()), "{}", fuzzer.corpus().entries().len());
    }

    #[test]
    fn texts_that_cost_most_are_kept_once() {
        let settings = Settings { max_depth: Bound::Unlimited, ..Settings::default() };
        let file = gramjet_compiler::SourceFile::new("g.ebnf", "s ::= [a-t]");
        let language = Language::compile(&file, &settings).expect("a grammar");
        let mut fuzzer = Fuzzer::new(&language, Goal::Cost, 10, 0);
        for _ in 0..500 {
            fuzzer.propose().expect("a text");
            fuzzer.observe(Observation { cost: 1, ..Observation::default() });
        }
        assert_eq!(fuzzer.corpus().entries().len(), 20);
    }

    #[test]
    fn the_same_seed_gives_the_same_texts() {
        let texts = |seed| {
            let mut texts = Vec::new();
            Check::new("json").seed(seed).texts(200).holds(|text| texts.push(text.to_vec()));
            texts
        };
        assert_eq!(texts(5), texts(5));
        assert_ne!(texts(5), texts(6));
    }

    #[test]
    fn a_bound_on_cost_is_searched_against() {
        // Random texts of this length are hardly ever as deep; a search for cost comes there step by step.
        let check = Check::new("json").texts(5000).max_len(60);
        let failed = message(|| check.costs_at_most(|_| 10, depth));
        assert!(failed.ends_with("it costs 11, and for 22 bytes 10 are allowed"), "{failed}");
        Check::new("json").texts(200).max_len(60).costs_at_most(|len| len as u64, depth);
    }

    #[test]
    fn growth_is_held_to_an_exponent() {
        let check = Check::new("json").texts(400).max_len(40);
        // Every comma is compared with all before it.
        let commas = |text: &[u8]| text.iter().filter(|&&byte| byte == b',').count() as u64;
        let failed = message(|| check.grows_at_most(1.5, |text| 20 + text.len() as u64 + commas(text).pow(2)));
        assert!(failed.contains("grows too fast") && failed.contains("cost ~ n^2.0 (95 %"), "{failed}");
        check.grows_at_most(1.2, |text| 20 + text.len() as u64 + commas(text));
        let failed = message(|| check.grows_at_most(1.2, |text| if commas(text) > 2 { panic!("three") } else { 1 }));
        assert!(failed.ends_with("three"), "{failed}");
    }

    /// The weights that such a grammar gets by default would split the repetition by its number of rounds.
    #[test]
    fn growth_is_found_in_grammars_without_weights() {
        let file = std::env::temp_dir().join(format!("gramjet-check-{}.ebnf", std::process::id()));
        std::fs::write(&file, "words ::= word (' ' word)*  word ::= [a-z]+").expect("a file");
        let check = Check::new(file.display().to_string()).texts(300).max_len(30);
        let words = |text: &[u8]| text.split(|&byte| byte == b' ').count() as u64;
        let failed = message(|| check.grows_at_most(1.5, |text| words(text).pow(2)));
        std::fs::remove_file(file).expect("the file");
        assert!(failed.contains("cost ~ n^2.0 (95 %") && failed.contains("a repetition in `words`"), "{failed}");
    }

    #[test]
    fn a_grammar_that_is_not_there_is_named() {
        let failed = message(|| check("jsn", |_| {}));
        assert!(failed.contains("did you mean `json`?"), "{failed}");
    }
}
