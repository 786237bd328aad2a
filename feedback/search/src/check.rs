//! Searches in tests: for a property that all texts of a grammar must have, or a bound on their cost.

#[cfg(test)]
mod tests;

use std::any::Any;
use std::cell::Cell;
use std::ffi::OsStr;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;
use std::time::Duration;

use gramjet_session::decisions::{Derivation, Deriver};
use gramjet_session::{Bound, Language, LanguageError, Session, Settings};

use crate::fuzzer::{Fuzzer, Goal, Observation};
use crate::growth::Growth;
use crate::proof::{Effort, Family, prove};
use crate::random::Seed;
use crate::run::Budget;
use crate::search::Search;
use crate::strategies::STRATEGIES;
use crate::strategy::{Ending, Measured};

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
    cost_limit: Option<u64>,
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
    /// Returns a check on a grammar, which is a file or one that ships: 10 000 texts of at most 4 KiB.
    pub fn new(grammar: impl Into<String>) -> Check {
        Check {
            grammar: grammar.into(),
            settings: Settings::default(),
            seed: 0,
            texts: 10_000,
            time: None,
            max_len: 4096,
            shrinks: 2000,
            cost_limit: None,
        }
    }

    /// Sets the way in which the grammar is read and run.
    pub fn settings(mut self, settings: Settings) -> Check {
        self.settings = settings;
        self
    }

    /// Sets another seed than 0: the same seed gives the same texts, as long as the property behaves the same.
    pub fn seed(mut self, seed: u64) -> Check {
        self.seed = seed;
        self
    }

    /// Sets the number of texts.
    pub fn texts(mut self, texts: u64) -> Check {
        self.texts = texts;
        self
    }

    /// Ends the check after this time, however many texts are left. A run goes on until the subject returns: for costs
    /// see [`Check::cost_limit`].
    pub fn time(mut self, time: Duration) -> Check {
        self.time = Some(time);
        self
    }

    /// Sets the greatest number of bytes of a text.
    pub fn max_len(mut self, bytes: usize) -> Check {
        self.max_len = bytes;
        self
    }

    /// Sets the greatest number of runs to make a text smaller for which the property fails.
    pub fn shrinks(mut self, runs: u32) -> Check {
        self.shrinks = runs;
        self
    }

    /// Sets the cost at which the subject gives up and returns: a text with this cost or a greater one costs at least
    /// as much. A subject that may take exponentially many steps needs such a limit, as nothing else ends its runs. It
    /// has to be known here, because equal costs of all longer texts look like no growth at all.
    ///
    /// Where the limit leaves the cost or the growth of a text unknown, the check fails.
    ///
    /// ```
    /// use gramjet_search::Check;
    ///
    /// const LIMIT: u64 = 1_000_000;
    ///
    /// // A parser that gives up after many steps.
    /// fn steps(text: &[u8]) -> u64 {
    ///     LIMIT.min(20 * text.len() as u64)
    /// }
    /// Check::new("json").texts(300).max_len(60).cost_limit(LIMIT).grows_at_most(1.2, steps);
    /// ```
    pub fn cost_limit(mut self, cost: u64) -> Check {
        self.cost_limit = Some(cost);
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
    /// With the smallest text found that costs more, that reaches [`Check::cost_limit`] where `bound` allows as much,
    /// or for which `cost` panics; if the grammar cannot be used.
    #[track_caller]
    pub fn costs_at_most(&self, bound: impl Fn(usize) -> u64, mut cost: impl FnMut(&[u8]) -> u64) {
        let failed = self.search(Goal::Cost, |text| {
            let cost = caught(|| cost(text))?;
            let bound = bound(text.len());
            if cost > bound {
                return Err(format!("it costs {cost}, and for {} bytes {bound} are allowed", text.len()));
            }
            if self.reaches_limit(cost) {
                let len = text.len();
                return Err(format!("it reaches the limit on cost, {cost}, and for {len} bytes {bound} are allowed"));
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
    /// Repeated texts may reach [`Check::cost_limit`]; what is measured of a part ends there. A limit of some hundred
    /// times what the texts of the search are expected to cost leaves room to prove growth. The first text of the
    /// search that reaches it ends the search: it is made smaller, and parts of it are repeated from a few copies on.
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
    /// With the text and the law of growth, if the cost is proved to grow faster; with a text of the search that
    /// reaches [`Check::cost_limit`], made smaller; with what is repeated where repeated texts reach the limit, and no
    /// law of smaller ones explains it; with a text for which `cost` panics; if the grammar cannot be used.
    #[track_caller]
    pub fn grows_at_most(&self, exponent: f64, mut cost: impl FnMut(&[u8]) -> u64) {
        self.report(self.growth_within(exponent, &mut cost));
    }

    fn growth_within(&self, exponent: f64, cost: &mut impl FnMut(&[u8]) -> u64) -> Result<(), Failed> {
        let language = self.language(Goal::Cost).map_err(|error| Failed::Grammar(error.to_string()))?;
        let (best, stopped) = match self.costliest(&language, cost)? {
            Costliest::Ended(best) => (best, None),
            Costliest::Stopped { text, cost: least, number } => {
                let message = |cost| format!("it costs {cost} or more, as the limit is reached");
                let mut session = Session::new(&language, self.seed);
                let mut fails = |text: &[u8]| {
                    let cost = caught(|| cost(text)).ok()?;
                    self.reaches_limit(cost).then(|| message(cost))
                };
                let (text, message, runs) = self.shrink(&mut session, text, message(least), &mut fails);
                let derivation = language.derivation(&text, &mut language.deriver(None)).unwrap_or_default();
                (derivation, Some(Failed::Text { text, message, number, runs }))
            }
        };
        let mut measure = |text: &[u8]| {
            let measured = caught(|| cost(text));
            let ending = if measured.is_err() { Ending::Failed } else { Ending::Done };
            Some(Measured { ending, ..Measured::of(measured.unwrap_or(0), Vec::new()) })
        };
        let effort = Effort { cost_limit: self.cost_limit, ..Effort::default() };
        let mut deriver = language.deriver(None);
        let families = prove(&mut deriver, &best, effort, &mut measure);
        let is_faster = |family: &&Family| family.growth.as_ref().is_some_and(|growth| growth.is_superlinear(exponent));
        if let Some(family) = families.iter().find(is_faster) {
            return Err(Failed::Growth { text: best.text, law: law(family, &deriver) });
        }
        if let Some(stopped) = stopped {
            return Err(stopped);
        }
        let is_unknown = |family: &&Family| family.is_cut_short() && !family.is_slow(exponent);
        match families.iter().find(|family| self.cost_limit.is_some() && is_unknown(family)) {
            Some(family) => Err(Failed::Limit { text: best.text, law: law(family, &deriver) }),
            None => Ok(()),
        }
    }

    fn budget(&self) -> Budget {
        Budget::new(self.texts, self.time)
    }

    fn reaches_limit(&self, cost: u64) -> bool {
        self.cost_limit.is_some_and(|limit| cost >= limit)
    }

    /// Returns the most costly text that was found, or the first one that reaches the limit on cost.
    fn costliest(&self, language: &Language, cost: &mut impl FnMut(&[u8]) -> u64) -> Result<Costliest, Failed> {
        let strategy = STRATEGIES[0].make(false);
        let search = Search::new(language, strategy, self.max_len, Seed::new(self.seed));
        let mut search =
            search.ok_or_else(|| Failed::Grammar(format!("every text has more than {} bytes", self.max_len)))?;
        let ended = search.run(self.budget(), |text| match caught(|| cost(text)) {
            Ok(cost) if self.reaches_limit(cost) => Err((text.to_vec(), Ok(cost))),
            Ok(cost) => Ok(Measured::of(cost, Vec::new())),
            Err(message) => Err((text.to_vec(), Err(message))),
        });
        // The run that ended the search is not among those that it has learned from.
        let number = search.runs() + 1;
        match ended {
            Ok(()) => Ok(Costliest::Ended(search.best().map(|best| best.derivation.clone()).unwrap_or_default())),
            Err((text, Ok(cost))) => Ok(Costliest::Stopped { text, cost, number }),
            Err((text, Err(message))) => Err(Failed::Text { text, message, number, runs: 0 }),
        }
    }

    /// Runs the subject on texts; returns the smallest text for which it fails, and the reason.
    fn search(
        &self,
        goal: Goal,
        subject: impl FnMut(&[u8]) -> Result<Observation<'static>, String>,
    ) -> Result<(), Failed> {
        let language = self.language(goal).map_err(|error| Failed::Grammar(error.to_string()))?;
        self.run(&mut Fuzzer::new(&language, goal, self.max_len, Seed::new(self.seed)), goal, subject)
    }

    fn run(
        &self,
        fuzzer: &mut Fuzzer,
        goal: Goal,
        mut subject: impl FnMut(&[u8]) -> Result<Observation<'static>, String>,
    ) -> Result<(), Failed> {
        let (mut budget, mut number) = (self.budget(), 0);
        while budget.take() {
            number += 1;
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
                    let (text, mut fails) = (text.to_vec(), |text: &[u8]| subject(text).err());
                    let (text, message, runs) = self.shrink(fuzzer.session(), text, message, &mut fails);
                    return Err(Failed::Text { text, message, number, runs });
                }
            }
        }
        Ok(())
    }

    /// Returns a smaller text that fails, too, the reason, and the number of runs. `fails` gives the reason if a text
    /// fails.
    fn shrink(
        &self,
        session: &mut Session,
        text: Vec<u8>,
        message: String,
        fails: &mut impl FnMut(&[u8]) -> Option<String>,
    ) -> (Vec<u8>, String, u32) {
        let (mut smallest, mut reason) = (text.clone(), message);
        let Some(mut trim) = session.minimise(&text) else { return (smallest, reason, 0) };
        let runs = trim.run(self.shrinks, |text| {
            let failed = fails(text);
            if let Some(message) = &failed {
                smallest.clear();
                smallest.extend_from_slice(text);
                reason.clone_from(message);
            }
            Some(failed.is_some())
        });
        (smallest, reason, runs)
    }

    /// Returns the grammar. Costly texts are often deep, so only the length bounds the texts of a search for cost. Its
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
            Err(Failed::Limit { text, law }) => {
                panic!(
                    "the cost of a text of `{}` (seed {}) reaches the limit before its growth is known:\n{}\n{law}",
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
    Text {
        text: Vec<u8>,
        message: String,
        number: u64,
        runs: u32,
    },
    Growth {
        text: Vec<u8>,
        law: String,
    },
    /// Repeated parts of the text reach the limit on cost, and no law explains it.
    Limit {
        text: Vec<u8>,
        law: String,
    },
}

/// Result of a search for costly texts.
enum Costliest {
    Ended(Derivation),
    /// The first text that reaches the limit on cost.
    Stopped {
        text: Vec<u8>,
        cost: u64,
        number: u64,
    },
}

/// Returns how the cost of a family grows, and where the limit is reached.
fn law(family: &Family, deriver: &Deriver) -> String {
    let law = family.growth.as_ref().map(Growth::to_string);
    let stopped = family.stopped_at().map(|copies| format!("stopped at n = {copies}"));
    let known: Vec<String> = law.into_iter().chain(stopped).collect();
    format!("{} in the number of {}", known.join(", "), family.of.describe(deriver))
}

/// Returns the text itself if it is UTF-8, else with escapes.
fn shown(text: &[u8]) -> String {
    match std::str::from_utf8(text) {
        Ok(text) if !text.chars().any(|character| character.is_control() && character != '\n') => text.to_string(),
        _ => format!("b\"{}\"", text.escape_ascii()),
    }
}

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Returns the result, or the message of the panic, which is not printed.
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
