//! The native module of the Python package `gramjet`.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Mutex;

use gramjet::{Batch, Choices, Inputs as Run, Producer};
use gramjet_compiler::SourceFile;
use gramjet_session::{
    Alphabet, Bound, FormatOptions, Indent, Language, LanguageError, SeparatorPolicy, Settings, Shape, ZeroWeights,
};
use pyo3::create_exception;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

mod errors;
mod search;
mod texts;

use errors::{mismatch, unusable};
use texts::Text;

create_exception!(
    gramjet,
    GrammarError,
    PyValueError,
    "A grammar that does not compile, or settings that cannot be used."
);
create_exception!(
    gramjet,
    ChoicesError,
    PyValueError,
    "Choice bytes whose header cannot be read, or is another grammar's."
);
create_exception!(gramjet, ParseError, PyValueError, "A text that does not conform to its grammar, or costs too much.");

/// A limit as Python says it: a number, `None`, or `"grammar"`.
struct Limit(Bound);

impl<'py> FromPyObject<'_, 'py> for Limit {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Limit> {
        if object.is_none() {
            return Ok(Limit(Bound::Unlimited));
        }
        if object.extract::<&str>().is_ok_and(|word| word == "grammar") {
            return Ok(Limit(Bound::Default));
        }
        let message = "a limit is a number that is not negative, None, or \"grammar\"";
        object.extract::<u64>().map(|number| Limit(Bound::At(number))).map_err(|_| PyTypeError::new_err(message))
    }
}

/// A word that stands for a value of the compiler.
struct Named<T>(T);

impl<'py, T: FromStr<Err = String>> FromPyObject<'_, 'py> for Named<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Named<T>> {
        object.extract::<&str>()?.parse().map(Named).map_err(GrammarError::new_err)
    }
}

/// Returns how formats with a lexer are read.
fn reading(
    separator_policy: Named<SeparatorPolicy>,
    alphabet: Option<Named<Alphabet>>,
    indent: Named<Indent>,
    zero_weights: Named<ZeroWeights>,
) -> FormatOptions {
    FormatOptions {
        separators: separator_policy.0,
        alphabet: alphabet.map(|alphabet| alphabet.0),
        indent: indent.0,
        zero_weights: zero_weights.0,
        ..FormatOptions::default()
    }
}

#[pyfunction]
#[pyo3(signature = (
    text, *, format = None, start = None, max_depth = Limit(Bound::Default), max_len = Limit(Bound::Default),
    separator_policy = Named(SeparatorPolicy::Auto), alphabet = None, shape = None,
    indent = Named(Indent::default()), tokens = None, zero_weights = Named(ZeroWeights::Drop),
))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
fn compile(
    py: Python<'_>,
    text: String,
    format: Option<String>,
    start: Option<String>,
    max_depth: Limit,
    max_len: Limit,
    separator_policy: Named<SeparatorPolicy>,
    alphabet: Option<Named<Alphabet>>,
    shape: Option<Named<Shape>>,
    indent: Named<Indent>,
    tokens: Option<String>,
    zero_weights: Named<ZeroWeights>,
) -> PyResult<Grammar> {
    let reading = reading(separator_policy, alphabet, indent, zero_weights);
    let (max_depth, max_len, shape) = (max_depth.0, max_len.0, shape.map(|shape| shape.0));
    let settings = Settings { format, start, max_depth, max_len, reading, tokens, shape, ..Settings::default() };
    Grammar::of(py, Source::Text(SourceFile::new("<grammar>", text)), settings)
}

#[pyfunction]
#[pyo3(signature = (
    grammar, *, format = None, start = None, max_depth = Limit(Bound::Default), max_len = Limit(Bound::Default),
    separator_policy = Named(SeparatorPolicy::Auto), alphabet = None, shape = None,
    indent = Named(Indent::default()), tokens = None, zero_weights = Named(ZeroWeights::Drop),
))]
#[expect(clippy::too_many_arguments, reason = "they are named in Python")]
fn load(
    py: Python<'_>,
    grammar: PathBuf,
    format: Option<String>,
    start: Option<String>,
    max_depth: Limit,
    max_len: Limit,
    separator_policy: Named<SeparatorPolicy>,
    alphabet: Option<Named<Alphabet>>,
    shape: Option<Named<Shape>>,
    indent: Named<Indent>,
    tokens: Option<String>,
    zero_weights: Named<ZeroWeights>,
) -> PyResult<Grammar> {
    let reading = reading(separator_policy, alphabet, indent, zero_weights);
    let (max_depth, max_len, shape) = (max_depth.0, max_len.0, shape.map(|shape| shape.0));
    let settings = Settings { format, start, max_depth, max_len, reading, tokens, shape, ..Settings::default() };
    Grammar::of(py, Source::Named(grammar), settings)
}

/// A compiled grammar.
#[pyclass(frozen, module = "gramjet")]
struct Grammar {
    language: Language,
    /// For calls that make one input: most of the time there is one thread.
    producer: Mutex<Box<dyn Producer + Send>>,
    source: Source,
    settings: Settings,
}

/// The text of a grammar, or its file or name.
enum Source {
    Text(SourceFile),
    Named(PathBuf),
}

impl Source {
    fn compile(&self, settings: &Settings) -> Result<Language, LanguageError> {
        match self {
            Source::Text(file) => Language::compile(file, settings),
            Source::Named(name) => Language::load(name.as_os_str(), settings),
        }
    }
}

impl Grammar {
    fn of(py: Python<'_>, source: Source, settings: Settings) -> PyResult<Grammar> {
        let language = py.detach(|| source.compile(&settings)).map_err(unusable)?;
        Ok(Grammar { producer: Mutex::new(language.producer()), language, source, settings })
    }

    /// Returns the language for a search, which bounds lengths by itself: no weights split repetitions, and the depth
    /// has a limit only if one was asked for.
    fn searched(&self, py: Python<'_>) -> PyResult<Language> {
        let mut settings = Settings { shape: None, own_weights: true, ..self.settings.clone() };
        if settings.max_depth == Bound::Default {
            settings.max_depth = Bound::Unlimited;
        }
        py.detach(|| self.source.compile(&settings)).map_err(unusable)
    }

    fn check(&self, py: Python<'_>, text: &[u8]) -> PyResult<()> {
        py.detach(|| self.language.parse(text)).map(drop).map_err(|error| mismatch(py, text, &error))
    }
}

/// This number of bytes of output is made between two checks for signals.
const BATCH_BYTES: usize = 1 << 20;
/// Renderings of fewer choice bytes keep the GIL: to release it costs more than they do.
const SHORT: usize = 1 << 10;

#[pymethods]
impl Grammar {
    #[getter]
    fn min_len(&self) -> u64 {
        self.language.producer().min_len()
    }

    #[getter]
    fn engine(&self) -> &'static str {
        self.language.engine_name()
    }

    #[getter]
    fn warnings(&self) -> &str {
        self.language.warnings()
    }

    #[pyo3(signature = (n, *, seed = 0))]
    fn generate<'py>(&self, py: Python<'py>, n: u64, seed: u64) -> PyResult<Bound_<'py, PyList>> {
        let inputs = PyList::empty(py);
        let mut run = Run::new(self.language.producer(), seed);
        let (mut output, mut ends) = (Vec::new(), Vec::new());
        let mut left = n;
        while left > 0 {
            py.detach(|| {
                output.clear();
                ends.clear();
                run.append_batch(&mut output, Batch::new(left, &mut ends).until_full(BATCH_BYTES));
            });
            let mut from = 0;
            for &end in &ends {
                inputs.append(PyBytes::new(py, &output[from..end]))?;
                from = end;
            }
            left -= ends.len() as u64;
            py.check_signals()?;
        }
        Ok(inputs)
    }

    #[pyo3(signature = (*, seed = 0))]
    fn inputs(&self, seed: u64) -> Inputs {
        Inputs(Mutex::new(Run::new(self.language.producer(), seed)))
    }

    #[pyo3(signature = (choices, *, raw = false))]
    fn render<'py>(&self, py: Python<'py>, choices: Text<'_>, raw: bool) -> PyResult<Bound_<'py, PyBytes>> {
        let mut output = Vec::new();
        let mut with = |producer: &mut dyn Producer| {
            if raw {
                Ok(producer.produce(&mut Choices::replay(&choices), &mut output))
            } else {
                self.language.replay(producer, &choices, &mut output)
            }
        };
        let mut render = || match self.producer.try_lock() {
            Ok(mut producer) => with(&mut **producer),
            Err(_) => with(&mut *self.language.producer()),
        };
        let read = if choices.len() < SHORT { render() } else { py.detach(render) };
        read.map_err(|error| ChoicesError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &output))
    }

    #[pyo3(signature = (text, *, raw = false))]
    fn parse<'py>(&self, py: Python<'py>, text: Text<'_>, raw: bool) -> PyResult<Bound_<'py, PyBytes>> {
        match py.detach(|| self.language.parse(&text)) {
            Ok(choices) if raw => Ok(PyBytes::new(py, &choices)),
            Ok(choices) => Ok(PyBytes::new(py, &self.language.with_header(&choices))),
            Err(error) => Err(mismatch(py, &text, &error)),
        }
    }

    fn conforms(&self, py: Python<'_>, text: Text<'_>) -> PyResult<bool> {
        match py.detach(|| self.language.parse(&text)) {
            Ok(_) => Ok(true),
            Err(gramjet_session::ParseError::Mismatch(_)) => Ok(false),
            Err(error) => Err(mismatch(py, &text, &error)),
        }
    }

    #[pyo3(signature = (texts, n, *, seed = 0, max_len = None))]
    fn mutate<'py>(
        &self,
        py: Python<'py>,
        texts: texts::Texts<'_>,
        n: u64,
        seed: u64,
        max_len: Option<usize>,
    ) -> PyResult<Bound_<'py, PyList>> {
        let texts = texts.0;
        if texts.is_empty() && n > 0 {
            return Err(PyValueError::new_err("there are no texts to make variants of"));
        }
        let mut session = py.detach(|| gramjet_session::Session::new(&self.language, seed));
        for text in &texts {
            self.check(py, text)?;
            if !py.detach(|| session.remember(text)) {
                return Err(too_costly());
            }
        }
        let variants = PyList::empty(py);
        let mut variant = Vec::new();
        for number in 0..n {
            let text = &texts[(number % texts.len() as u64) as usize];
            let made = py.detach(|| session.mutate(text, max_len.unwrap_or(usize::MAX), &mut variant));
            made.ok_or_else(|| too_short(max_len, &self.language))?;
            variants.append(PyBytes::new(py, &variant))?;
            py.check_signals()?;
        }
        Ok(variants)
    }

    #[pyo3(signature = (text, test, *, max_tests = 10_000))]
    fn minimise<'py>(
        &self,
        py: Python<'py>,
        text: Text<'_>,
        test: &Bound_<'py, PyAny>,
        max_tests: u64,
    ) -> PyResult<Bound_<'py, PyBytes>> {
        self.check(py, &text)?;
        let holds = |text: &[u8]| test.call1((PyBytes::new(py, text),))?.is_truthy();
        if !holds(&text)? {
            return Err(PyValueError::new_err("the test is not true for the text itself"));
        }
        let mut session = py.detach(|| gramjet_session::Session::new(&self.language, 0));
        let Some(mut search) = py.detach(|| session.minimise(&text)) else { return Err(too_costly()) };
        for _ in 0..max_tests {
            let Some(proposed) = py.detach(|| search.propose().map(<[u8]>::to_vec)) else { break };
            let is_simpler = holds(&proposed)?;
            search.judge(is_simpler);
            py.check_signals()?;
        }
        Ok(PyBytes::new(py, search.text()))
    }

    fn __repr__(&self) -> String {
        format!("<gramjet.Grammar on {}>", self.language.engine_name())
    }
}

/// `Bound` of pyo3: the session has a `Bound`, too.
type Bound_<'py, T> = pyo3::Bound<'py, T>;

/// Returns the error of a text that conforms, but that a session takes too many steps to parse.
fn too_costly() -> PyErr {
    ParseError::new_err("the text takes too many steps to parse for variants to be made of it")
}

fn too_short(max_len: Option<usize>, language: &Language) -> PyErr {
    let min_len = language.producer().min_len();
    let most = max_len.unwrap_or(usize::MAX);
    PyValueError::new_err(format!("a maximum length of {most} is too small: the shortest input has {min_len} bytes"))
}

/// The inputs of a run.
#[pyclass(frozen, module = "gramjet")]
struct Inputs(Mutex<Run<Box<dyn Producer + Send>>>);

#[pymethods]
impl Inputs {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> Bound_<'py, PyBytes> {
        let mut output = Vec::new();
        py.detach(|| self.0.lock().unwrap_or_else(|broken| broken.into_inner()).append_to(&mut output));
        PyBytes::new(py, &output)
    }
}

/// Makes variants of texts one by one.
#[pyclass(frozen, module = "gramjet")]
struct Session(Mutex<gramjet_session::Session>);

impl Session {
    fn run<'py>(
        &self,
        py: Python<'py>,
        max_len: Option<usize>,
        make: impl FnOnce(&mut gramjet_session::Session, usize, &mut Vec<u8>) -> Option<gramjet_session::Mutation> + Send,
    ) -> PyResult<Bound_<'py, PyBytes>> {
        let mut variant = Vec::new();
        py.detach(|| {
            let mut session = self.0.lock().unwrap_or_else(|broken| broken.into_inner());
            let made = make(&mut session, max_len.unwrap_or(usize::MAX), &mut variant);
            made.map(|_| ()).ok_or_else(|| too_short(max_len, session.language()))
        })?;
        Ok(PyBytes::new(py, &variant))
    }
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (grammar, *, seed = 0))]
    fn new(py: Python<'_>, grammar: &Grammar, seed: u64) -> Session {
        Session(Mutex::new(py.detach(|| gramjet_session::Session::new(&grammar.language, seed))))
    }

    #[pyo3(signature = (text, *, max_len = None))]
    fn mutate<'py>(&self, py: Python<'py>, text: Text<'_>, max_len: Option<usize>) -> PyResult<Bound_<'py, PyBytes>> {
        self.run(py, max_len, |session, most, variant| session.mutate(&text, most, variant))
    }

    #[pyo3(signature = (text, other, *, max_len = None))]
    fn splice<'py>(
        &self,
        py: Python<'py>,
        text: Text<'_>,
        other: Text<'_>,
        max_len: Option<usize>,
    ) -> PyResult<Bound_<'py, PyBytes>> {
        self.run(py, max_len, |session, most, variant| session.splice(&text, &other, most, variant))
    }
}

#[pymodule]
fn _native(module: &Bound_<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("GrammarError", py.get_type::<GrammarError>())?;
    module.add("ChoicesError", py.get_type::<ChoicesError>())?;
    module.add("ParseError", py.get_type::<ParseError>())?;
    module.add_class::<Grammar>()?;
    module.add_class::<Inputs>()?;
    module.add_class::<Session>()?;
    module.add_class::<search::Search>()?;
    module.add("COUNTING", search::COUNTING)?;
    module.add_function(wrap_pyfunction!(compile, module)?)?;
    module.add_function(wrap_pyfunction!(load, module)?)
}
