//! The search for costly texts.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gramjet_campaign::strategies;
use gramjet_search::{Budget, Effort, Ending, Family, Growth, Law, Measured, Seed, prove};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::{Bound_, Grammar, too_short};

/// The Python code that counts what is executed; the harness runs functions with it, too.
pub(crate) const COUNTING: &str = include_str!("../../../feedback/harness/workers/counting.py");

/// A search for costly texts. It proposes texts, and the caller runs them.
#[pyclass(frozen, module = "gramjet._native")]
pub(crate) struct Search {
    search: Mutex<gramjet_search::Search>,
    language: gramjet_session::Language,
}

/// Report of a run of the function: its cost, the counts of edges, and whether it has returned: not if it raised,
/// unknown if it was stopped. Counts are numbers of 32 bits in the order of the machine.
type Report<'py> = (u64, Bound_<'py, PyBytes>, Option<bool>);

/// Returns the measurements of a run.
fn measured((cost, counts, has_returned): &Report<'_>) -> Measured {
    let counts = counts.as_bytes().as_chunks().0.iter().map(|&bytes| u64::from(u32::from_ne_bytes(bytes)));
    let edges = (0..).zip(counts).filter(|&(_, count)| count > 0).collect();
    let ending = match has_returned {
        Some(true) => Ending::Done,
        Some(false) => Ending::Failed,
        None => Ending::Stopped,
    };
    Measured { ending, ..Measured::of(*cost, edges) }
}

/// A text with the number of copies in it and its cost.
type Copied<'py> = (u32, Bound_<'py, PyBytes>, u64);

/// The exponent, the ends of its interval, and the power above which faster growth is not proved.
type Exponent = (f64, f64, f64, f64);

/// Growth of cost: the law, what is repeated, the exponent, the number of sizes that were measured, the size at which
/// the function was stopped, the texts, and the edge whose count grows fastest.
type Grown<'py> = (String, String, Exponent, usize, Option<u32>, Vec<Copied<'py>>, Option<u32>);

impl Search {
    fn locked(&self) -> MutexGuard<'_, gramjet_search::Search> {
        self.search.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Search {
    #[new]
    #[pyo3(signature = (grammar, *, strategy, max_len, seed))]
    fn new(py: Python<'_>, grammar: &Grammar, strategy: &str, max_len: usize, seed: u64) -> PyResult<Search> {
        let Some(kind) = strategies::by_name(strategy) else {
            let names = strategies::all().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
            return Err(PyValueError::new_err(format!("there is no strategy `{strategy}`; there are {names}")));
        };
        let language = grammar.searched(py)?;
        let search = gramjet_search::Search::new(&language, kind.make(false), max_len, Seed::new(seed));
        match search {
            Some(search) => Ok(Search { search: Mutex::new(search), language }),
            None => Err(too_short(Some(max_len), &language)),
        }
    }

    /// Runs `measure` on texts until this many have run, the time is over, or all texts of the grammar were run.
    #[pyo3(signature = (measure, *, runs, seconds))]
    fn run(
        &self,
        py: Python<'_>,
        measure: &Bound_<'_, PyAny>,
        runs: Option<u64>,
        seconds: Option<f64>,
    ) -> PyResult<()> {
        let time = seconds.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
        let (budget, measure) = (Budget::new(runs.unwrap_or(u64::MAX), time), measure.clone().unbind());
        // Other threads of Python go on while texts are made.
        py.detach(|| {
            self.locked().run(budget, |text| {
                Python::attach(|py| {
                    let begin = Instant::now();
                    let measured = run_on(py, measure.bind(py), text)?;
                    Ok(Measured { seconds: begin.elapsed().as_secs_f64(), ..measured })
                })
            })
        })
    }

    /// Returns the best text and its cost; `None` if every run has failed.
    fn best<'py>(&self, py: Python<'py>) -> Option<(Bound_<'py, PyBytes>, u64)> {
        let search = self.locked();
        search.best().map(|best| (PyBytes::new(py, &best.derivation.text), best.cost))
    }

    /// Returns how the cost of the best text grows when its parts are repeated: what stops the function first, then the
    /// fastest growth first. `measure` runs a text.
    fn prove<'py>(
        &self,
        py: Python<'py>,
        measure: &Bound_<'py, PyAny>,
        max_len: usize,
        runs: u32,
        seconds: f64,
        cost_limit: Option<u64>,
    ) -> PyResult<Vec<Grown<'py>>> {
        let Some(best) = self.locked().best().map(|best| best.derivation.text.clone()) else { return Ok(Vec::new()) };
        let mut deriver = self.language.deriver(None);
        // Strategies that change bytes have no derivation of their texts.
        let whole = py.detach(|| self.language.derivation(&best, &mut deriver));
        let Some(whole) = whole else { return Ok(Vec::new()) };
        let mut raised = None;
        let mut run = |text: &[u8]| match run_on(py, measure, text) {
            Ok(measured) => Some(measured),
            Err(error) => {
                raised = Some(error);
                None
            }
        };
        let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let effort = Effort { max_len, runs, time, cost_limit };
        let families = prove(&mut deriver, &whole, effort, &mut run);
        match raised {
            Some(error) => Err(error),
            None => Ok(families.iter().filter_map(|family| grown(py, family, family.of.describe(&deriver))).collect()),
        }
    }

    /// Returns how many texts were run.
    #[getter]
    fn runs(&self) -> u64 {
        self.locked().runs()
    }

    #[getter]
    fn repeats(&self) -> u64 {
        self.locked().repeats()
    }
}

/// Runs a text.
fn run_on(py: Python<'_>, measure: &Bound_<'_, PyAny>, text: &[u8]) -> PyResult<Measured> {
    let result = measure.call1((PyBytes::new(py, text),))?;
    py.check_signals()?;
    Ok(measured(&result.extract()?))
}

/// Returns what Python gets of a family; `None` if too little was measured for a law, and nothing was stopped.
fn grown<'py>(py: Python<'py>, family: &Family, what: String) -> Option<Grown<'py>> {
    let (growth, stopped) = (family.growth.as_ref(), family.stopped_at());
    if growth.is_none() && stopped.is_none() {
        return None;
    }
    let law = growth.map_or_else(String::new, Growth::to_string);
    let known = growth.filter(|growth| growth.checked().is_some());
    let exponent = known.map_or((f64::NAN, f64::NAN, f64::NAN, f64::NEG_INFINITY), exponent);
    let texts = family.members.iter().map(|member| (member.copies, PyBytes::new(py, &member.text), member.cost));
    let sizes = family.members.iter().filter(|member| !member.is_stopped).count();
    let fastest = family.edges().first().map(|growth| growth.edge);
    Some((law, what, exponent, growth.map_or(sizes, Growth::sizes), stopped, texts.collect(), fastest))
}

fn exponent(growth: &Growth) -> Exponent {
    let exact = |exponent| (exponent, exponent, exponent, growth.proved());
    match growth.best().law {
        Law::Constant | Law::Logarithmic => exact(0.0),
        Law::Linearithmic => exact(1.0),
        Law::Polynomial { exponent } => (exponent.value, exponent.low, exponent.high, growth.proved()),
        Law::Exponential { .. } => exact(f64::INFINITY),
    }
}
