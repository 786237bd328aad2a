//! Simpler texts of the same kind, one by one, for callers that run the test themselves.

use gramjet::choices::{ChoiceSource, Minimiser, Trace};
use gramjet::{Choices, Limits, LimitsError, Producer};
use gramjet_engine::Tracer;

/// Proposes simpler texts, each of which conforms; see [`Minimiser`].
pub struct Trim {
    minimiser: Minimiser,
    tracer: FastTracer,
    left: u64,
}

impl Trim {
    /// The tracer and the producer have the same limits.
    pub(crate) fn new(tracer: Tracer, producer: Box<dyn Producer + Send>, choices: &[u8]) -> Trim {
        let mut tracer = FastTracer { tracer, producer };
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

/// A tracer that leaves to a faster engine what need not be traced.
struct FastTracer {
    tracer: Tracer,
    producer: Box<dyn Producer + Send>,
}

impl Producer for FastTracer {
    fn min_len(&self) -> u64 {
        self.tracer.min_len()
    }

    fn limits(&self) -> Limits {
        self.tracer.limits()
    }

    fn set_limits(&mut self, limits: Limits) -> Result<(), LimitsError> {
        self.tracer.set_limits(limits)?;
        self.producer.set_limits(limits)
    }

    fn produce(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>) -> u64 {
        self.producer.produce(choices, output)
    }
}

impl gramjet::choices::Tracer for FastTracer {
    fn trace(&mut self, choices: &[u8], output: &mut Vec<u8>, trace: &mut Trace) -> u64 {
        self.tracer.trace(choices, output, trace)
    }

    fn draw(
        &mut self,
        symbol: u32,
        depth: u32,
        source: &mut dyn ChoiceSource,
        most: usize,
        choices: &mut Vec<u8>,
    ) -> u64 {
        self.tracer.draw(symbol, depth, source, most, choices)
    }

    fn shortest(&mut self, symbol: u32, depth: u32) -> usize {
        self.tracer.shortest(symbol, depth)
    }

    fn rule_name(&self, symbol: u32) -> Option<&str> {
        self.tracer.rule_name(symbol)
    }
}
