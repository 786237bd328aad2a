//! Shorter texts of the same kind, one by one, for fuzzers that run the test themselves.

use gramjet::choices::Minimiser;
use gramjet_engine::Tracer;

/// Proposes shorter texts: with parts as short as they can be, without rounds of repetitions, with inner instances of a rule in
/// place of outer ones. Each conforms.
#[derive(Debug)]
pub struct Trim {
    minimiser: Minimiser,
    tracer: Tracer,
    left: u32,
}

impl Trim {
    pub(crate) fn parts(tracer: Tracer, choices: &[u8], max_tests: u32) -> Trim {
        let trim = Trim::whole(tracer, choices, max_tests);
        Trim { minimiser: trim.minimiser.parts_only(), ..trim }
    }

    pub(crate) fn whole(mut tracer: Tracer, choices: &[u8], max_tests: u32) -> Trim {
        Trim { minimiser: Minimiser::new(&mut tracer, choices), tracer, left: max_tests }
    }

    /// The next text to be tested; `None` at the end.
    pub fn propose(&mut self) -> Option<&[u8]> {
        self.left = self.left.checked_sub(1)?;
        self.minimiser.propose(&mut self.tracer)
    }

    /// Says whether what was proposed last has what is asked for.
    pub fn judge(&mut self, holds: bool) {
        self.minimiser.judge(holds);
    }

    /// The shortest text that has what is asked for.
    pub fn text(&self) -> &[u8] {
        self.minimiser.best().output()
    }

    /// Its choice bytes.
    pub fn choices(&self) -> &[u8] {
        self.minimiser.best().choices()
    }
}
