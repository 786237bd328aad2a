//! The inverse of a producer: from a text to choice bytes that produce it (E5), for any context-free grammar, without a
//! lexer.
//!
//! ```
//! use gramjet_compiler::{Options, SourceFile, compile, reference};
//! use gramjet_parse::{Budget, Parser};
//!
//! let file = SourceFile::new("list.ebnf", "list ::= '[' (item (',' item)*)? ']'  item ::= [a-z] | list");
//! let (compiled, _) = compile(&file, &Options::default()).unwrap();
//! let parser = Parser::new(&compiled.lowered);
//! let parsed = parser.parse(b"[a,[b]]", &Budget::default())?;
//!
//! let limits = reference::Limits::default();
//! let run = reference::render(&compiled.lowered, &compiled.pools, limits, &parsed.choices);
//! assert_eq!(run.output, b"[a,[b]]");
//!
//! let error = parser.parse(b"[a b]", &Budget::default()).unwrap_err();
//! assert_eq!(error.to_string(), "byte 2: expected \",\" or \"]\", found the byte 0x20");
//! # Ok::<(), gramjet_parse::ParseError>(())
//! ```

#![forbid(unsafe_code)]

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use gramjet_compiler::ir::Ir;

mod arena;
mod automaton;
mod error;
mod labels;
mod lookahead;
mod machine;
mod pack;
mod program;
mod relaxed;

pub use error::{Expected, Mismatch, ParseError, place};
pub use labels::decoded;

use automaton::{Automaton, AutomatonCache, GaveUp, Placed, Run};
use machine::Machine;
use program::Program;
use relaxed::{Compared, Relaxed};

/// A grammar in the form for parsing.
#[derive(Debug)]
pub struct Parser {
    all: Reader,
    lowered: Arc<Ir>,
    /// The reader of texts without the options that are only read. `None` if the grammar has no such options. Made when
    /// it is first needed: checks hardly ever need it.
    generated: OnceLock<Option<Reader>>,
}

/// A clone learns anew.
impl Clone for Parser {
    fn clone(&self) -> Parser {
        let learning = |reader: &Reader| Reader {
            program: reader.program.clone(),
            automaton: Mutex::default(),
            checks: Mutex::new(AutomatonCache::of_checks()),
            labelled: reader.labelled.clone(),
            relaxed: reader.relaxed.clone(),
        };
        let known = self.generated.get().map(|known| known.as_ref().map(learning));
        let generated = known.map_or_else(OnceLock::new, OnceLock::from);
        Parser { all: learning(&self.all), lowered: Arc::clone(&self.lowered), generated }
    }
}

/// A program, with the automata that have learned it.
#[derive(Debug)]
struct Reader {
    program: Program,
    automaton: Mutex<AutomatonCache>,
    /// The automata of texts that are only checked.
    checks: Mutex<AutomatonCache>,
    /// The grammar, if it has labels, and the form that the automaton reads then, if there is one.
    labelled: Option<Arc<Ir>>,
    relaxed: Option<Arc<Relaxed>>,
}

/// Bounds on the cost of parsing a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The most memory in bytes, about, choice bytes included.
    pub max_memory: usize,
    /// The most steps; `None` for [`Budget::steps_for`].
    pub max_steps: Option<u64>,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { max_memory: 1 << 30, max_steps: None }
    }
}

impl Budget {
    /// Returns a bound on steps that grammars of programming languages do not come near: 2^26 and 2048 for each byte.
    pub fn steps_for(len: usize) -> u64 {
        (1 << 26) + 2048 * len as u64
    }
}

/// The work of parsing a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Steps of the automaton, or of threads where it gives the text up: linear in the length of the text on grammars
    /// that are LR(k) or near.
    pub steps: u64,
}

/// A text that conforms to the grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The choice bytes that produce the text, without limits on depth and length: for each choice the smallest that
    /// makes it. All of them are read.
    pub choices: Vec<u8>,
    /// The work done.
    pub work: Work,
}

impl Parser {
    /// The longest text in bytes.
    pub const MAX_TEXT: usize = u32::MAX as usize - 64;

    /// Texts of at most this many bytes are first read without the options that are only read: what a producer made
    /// gets the derivation that made it, or one like it. Longer ones come from elsewhere, and would be read twice.
    pub const MAX_GENERATED: usize = 1 << 16;

    /// Returns a parser for the language of the start rule of a lowered grammar.
    pub fn new(lowered: &Ir) -> Parser {
        let lowered = Arc::new(lowered.clone());
        let all = Reader::new(Program::new(&lowered), labelled(&lowered), false);
        Parser { all, lowered, generated: OnceLock::new() }
    }

    /// Finds choice bytes for a text.
    ///
    /// A text of several derivations gets the same one every time: one without options that are only read, if that is
    /// found within [`Parser::MAX_GENERATED`]; else threads are followed depth first, earlier options first, a further
    /// round of a repetition before none, and where two meet, the first stands.
    ///
    /// # Errors
    ///
    /// If the text does not conform, or costs more than the budget.
    pub fn parse(&self, text: &[u8], budget: &Budget) -> Result<Parsed, ParseError> {
        if text.len() > Parser::MAX_TEXT {
            return Err(ParseError::TooLong { len: text.len(), most: Parser::MAX_TEXT });
        }
        if text.len() <= Parser::MAX_GENERATED
            && let Some(generated) = self.generated()
            && let Ok(parsed) = generated.parse(text, budget, Rejection::Short)
        {
            return Ok(parsed);
        }
        self.all.parse(text, budget, Rejection::Explained)
    }

    /// Checks whether a text conforms, as [`Parser::parse`] does, but keeps nothing of its derivation. So the memory
    /// grows with what is open at a place of the text, not with its length. The exception are grammars in which
    /// something follows from other parts of a text: they are checked by their derivations.
    ///
    /// # Errors
    ///
    /// As for [`Parser::parse`].
    pub fn check(&self, text: &[u8], budget: &Budget) -> Result<Work, ParseError> {
        if text.is_empty() || text.len() > Parser::MAX_TEXT || self.has_labels() {
            return self.parse(text, budget).map(|parsed| parsed.work);
        }
        let checked = self.all.check(text, budget);
        // Where options that are only read make the text too ambiguous, it may conform without them.
        if let Err(ParseError::Steps { .. } | ParseError::Memory { .. }) = checked
            && text.len() <= Parser::MAX_GENERATED
            && let Some(generated) = self.generated()
            && let Ok(parsed) = generated.parse(text, budget, Rejection::Short)
        {
            return Ok(parsed.work);
        }
        checked
    }

    /// Returns the reader of texts without options that are only read.
    fn generated(&self) -> Option<&Reader> {
        let make = |program| Reader::new(program, labelled(&self.lowered), true);
        self.generated.get_or_init(|| Program::of_generated(&self.lowered).map(make)).as_ref()
    }

    /// Returns true if something in the grammar follows from other parts of a text.
    pub fn has_labels(&self) -> bool {
        self.all.labelled.is_some()
    }

    /// Finds choice bytes for a text in which copies, lengths, counts and checksums may be wrong. The choice bytes
    /// produce the text with the right ones. First lengths are believed, so that labelled parts keep their bytes. Where
    /// that leads nowhere, parts end where the grammar lets them. A text that conforms is parsed as it is.
    ///
    /// # Errors
    ///
    /// As for [`Parser::parse`], and if parts that were right would have to change, or the text with the right bytes is
    /// too long.
    pub fn repair(&self, text: &[u8], budget: &Budget) -> Result<Parsed, ParseError> {
        self.parse(text, budget).or_else(|error| match (&self.all.labelled, &error) {
            (Some(ir), ParseError::Mismatch(_)) => labels::repair((&self.all.program, ir), text, budget, error),
            _ => Err(error),
        })
    }

    /// Finds choice bytes for a text by the automaton alone, among all derivations; `None` if it gives the text up. For
    /// tests.
    #[doc(hidden)]
    pub fn parse_by_automaton(&self, text: &[u8], budget: &Budget) -> Option<Result<Parsed, ParseError>> {
        self.all.parse_by_automaton(text, budget, Rejection::Explained)
    }

    /// Finds choice bytes for a text by the machine alone, among all derivations. For tests.
    ///
    /// # Errors
    ///
    /// As for [`Parser::parse`].
    #[doc(hidden)]
    pub fn parse_by_threads(&self, text: &[u8], budget: &Budget) -> Result<Parsed, ParseError> {
        self.all.parse_by_threads(text, budget, Rejection::Explained)
    }

    /// Returns true if a text conforms, by the machine alone: for a grammar that reads few texts, whose automaton would
    /// take longer to learn.
    ///
    /// # Errors
    ///
    /// The budget, if it does not suffice.
    pub fn conforms_by_threads(&self, text: &[u8], budget: &Budget) -> Result<bool, ParseError> {
        match self.all.parse_by_threads(text, budget, Rejection::Short) {
            Ok(_) => Ok(true),
            Err(ParseError::Mismatch(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Returns a grammar with labels; `None` for one without.
fn labelled(lowered: &Arc<Ir>) -> Option<Arc<Ir>> {
    lowered.has_labels().then(|| Arc::clone(lowered))
}

/// Message about a text that does not conform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rejection {
    /// Place where it does not conform, and what was expected there.
    Explained,
    /// Only that it does not.
    Short,
}

impl Reader {
    fn new(program: Program, labelled: Option<Arc<Ir>>, only_generated: bool) -> Reader {
        let relaxed = labelled.as_ref().and_then(|ir| Relaxed::new(ir, only_generated)).map(Arc::new);
        let checks = Mutex::new(AutomatonCache::of_checks());
        Reader { program, automaton: Mutex::default(), checks, labelled, relaxed }
    }

    /// Returns the program that the automaton reads. `None` if there is none.
    fn read(&self) -> Option<&Program> {
        match (&self.labelled, &self.relaxed) {
            (None, _) => Some(&self.program),
            (Some(_), relaxed) => relaxed.as_ref().map(|relaxed| &relaxed.program),
        }
    }

    fn parse(&self, text: &[u8], budget: &Budget, rejection: Rejection) -> Result<Parsed, ParseError> {
        let by_threads = || match self.parse_by_threads(text, budget, rejection) {
            // Texts before can be the reason why no automaton, or a large one, was tried.
            Err(error @ (ParseError::Steps { .. } | ParseError::Memory { .. })) => {
                self.parse_by_new_automaton(text, budget, rejection).unwrap_or(Err(error))
            }
            result => result,
        };
        self.parse_by_automaton(text, budget, rejection).unwrap_or_else(by_threads)
    }

    /// Finds choice bytes for a text by the automaton; `None` if it gives the text up.
    fn parse_by_automaton(
        &self,
        text: &[u8],
        budget: &Budget,
        rejection: Rejection,
    ) -> Option<Result<Parsed, ParseError>> {
        // The machine knows the shortest derivation.
        let program = self.read().filter(|_| !text.is_empty())?;
        let mut automaton = self.cache().take(program)?;
        let result = self.run((program, &mut automaton), text, budget, rejection);
        let has_parsed = !matches!(result, Err(GaveUp::Costly));
        self.cache().give_back(automaton, automaton::most(budget.max_memory), has_parsed);
        result.ok()
    }

    /// Finds choice bytes for a text by an automaton that knows no text.
    fn parse_by_new_automaton(
        &self,
        text: &[u8],
        budget: &Budget,
        rejection: Rejection,
    ) -> Option<Result<Parsed, ParseError>> {
        let program = self.read().filter(|_| !text.is_empty())?;
        let mut automaton = self.cache().make(program)?;
        self.run((program, &mut automaton), text, budget, rejection).ok()
    }

    fn run(
        &self,
        (program, automaton): (&Program, &mut Automaton),
        text: &[u8],
        budget: &Budget,
        rejection: Rejection,
    ) -> Result<Result<Parsed, ParseError>, GaveUp> {
        let max_steps = budget.max_steps.unwrap_or(Budget::steps_for(text.len()));
        let mut run = Run::new(program, automaton, text, budget.max_memory, max_steps);
        let (choices, marks) = (run.run()?, std::mem::take(&mut run.marks));
        let size = choices.as_ref().map_or(0, Vec::capacity) + marks.capacity() * size_of::<Placed>();
        let (work, furthest, left) = (Work { steps: run.steps }, run.furthest(), run.room_beside(size));
        match (choices, &self.relaxed) {
            (Some(choices), None) => Ok(Ok(Parsed { choices, work })),
            (Some(choices), Some(relaxed)) => match relaxed.compare(text, &choices, &marks, left) {
                Compared::Same(choices) => Ok(Ok(Parsed { choices, work })),
                Compared::Other => Err(GaveUp::Refused),
                Compared::Unclear => Err(GaveUp::Costly),
            },
            // The threads say what was expected.
            (None, Some(_)) if rejection == Rejection::Explained => Err(GaveUp::Refused),
            (None, Some(_)) => Ok(Err(ParseError::Mismatch(error::mismatch(&self.program, text, furthest, &[])))),
            (None, None) => Ok(Err(self.mismatch(text, budget, furthest, rejection))),
        }
    }

    /// Checks a text that is not empty, for a grammar without labels.
    fn check(&self, text: &[u8], budget: &Budget) -> Result<Work, ParseError> {
        if let Some(checked) = self.check_by_automaton(&self.checks, text, budget) {
            return checked;
        }
        match self.check_by_threads(text, budget) {
            // Texts before can be the reason why no automaton, or a large one, was tried.
            Err(error @ (ParseError::Steps { .. } | ParseError::Memory { .. })) => {
                let new = Mutex::new(AutomatonCache::of_checks());
                self.check_by_automaton(&new, text, budget).unwrap_or(Err(error))
            }
            checked => checked,
        }
    }

    /// Checks a text by an automaton; `None` if it gives the text up.
    fn check_by_automaton(
        &self,
        cache: &Mutex<AutomatonCache>,
        text: &[u8],
        budget: &Budget,
    ) -> Option<Result<Work, ParseError>> {
        let cache = || cache.lock().unwrap_or_else(PoisonError::into_inner);
        let mut automaton = cache().take(&self.program)?;
        let max_steps = budget.max_steps.unwrap_or(Budget::steps_for(text.len()));
        let mut run = Run::new(&self.program, &mut automaton, text, budget.max_memory, max_steps);
        let (result, work, furthest) = (run.check(), Work { steps: run.steps }, run.furthest());
        cache().give_back(automaton, automaton::most(budget.max_memory), result.is_ok());
        let conforms = result.ok()?;
        Some(if conforms { Ok(work) } else { Err(self.mismatch(text, budget, furthest, Rejection::Explained)) })
    }

    /// Checks a text by the machine.
    fn check_by_threads(&self, text: &[u8], budget: &Budget) -> Result<Work, ParseError> {
        let mut machine = Machine::checking(&self.program, text, *budget);
        match machine.run()? {
            Some(_) => Ok(machine.work),
            None => Err(self.mismatch(text, budget, machine.furthest(), Rejection::Explained)),
        }
    }

    /// Finds choice bytes for a text by the machine.
    fn parse_by_threads(&self, text: &[u8], budget: &Budget, rejection: Rejection) -> Result<Parsed, ParseError> {
        if let Some(ir) = &self.labelled {
            return labels::parse((&self.program, ir), text, budget, rejection);
        }
        let mut machine = Machine::new(&self.program, text, *budget);
        if let Some(choices) = machine.run()? {
            return Ok(Parsed { choices, work: machine.work });
        }
        Err(self.mismatch(text, budget, machine.furthest(), rejection))
    }

    fn cache(&self) -> MutexGuard<'_, AutomatonCache> {
        self.automaton.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the error of a text that does not conform: parses once more, and records all attempts at the place where
    /// nothing goes on.
    fn mismatch(&self, text: &[u8], budget: &Budget, offset: usize, rejection: Rejection) -> ParseError {
        if rejection == Rejection::Short {
            return ParseError::Mismatch(error::mismatch(&self.program, text, offset, &[]));
        }
        let mut machine = Machine::recording(&self.program, text, *budget, offset);
        match machine.run() {
            Err(error) => error,
            Ok(_) => ParseError::Mismatch(error::mismatch(&self.program, text, offset, &machine.attempts())),
        }
    }
}
