//! Simpler texts of the same kind, one by one, for callers that run the test themselves.

use gramjet::Producer;
use gramjet::choices::Minimiser;

use crate::parsing::ParsingTracer;

/// Proposes simpler texts, each of which conforms; see [`Minimiser`].
pub struct Trim {
    minimiser: Minimiser,
    tracer: ParsingTracer<Box<dyn Producer + Send>>,
    left: u64,
}

impl Trim {
    pub(crate) fn new(mut tracer: ParsingTracer<Box<dyn Producer + Send>>, choices: &[u8]) -> Trim {
        Trim { minimiser: Minimiser::new(&mut tracer, choices), tracer, left: u64::MAX }
    }

    /// Only changes of whole parts, and only texts that are shorter, at most `tests` of them.
    pub(crate) fn parts_only(self, tests: u32) -> Trim {
        Trim { minimiser: self.minimiser.parts_only(), left: tests.into(), ..self }
    }

    /// The next text to be tested; `None` at the end.
    pub fn propose(&mut self) -> Option<&[u8]> {
        self.left = self.left.checked_sub(1)?;
        self.minimiser.propose(&mut self.tracer)
    }

    /// Says whether what was proposed last has what is asked for.
    pub fn judge(&mut self, holds: bool) {
        self.minimiser.judge(&mut self.tracer, holds);
    }

    /// The simplest text that has what is asked for.
    pub fn text(&self) -> &[u8] {
        self.minimiser.best().output()
    }

    /// Its choice bytes.
    pub fn choices(&self) -> &[u8] {
        self.minimiser.best().choices()
    }
}

impl std::fmt::Debug for Trim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trim").field("minimiser", &self.minimiser).field("left", &self.left).finish_non_exhaustive()
    }
}
