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

    /// Limits the search to changes of whole parts, to shorter texts, with at most `tests` tests.
    pub(crate) fn parts_only(self, tests: u32) -> Trim {
        Trim { minimiser: self.minimiser.parts_only(), left: tests.into(), ..self }
    }

    /// Returns the next text to be tested; `None` at the end.
    pub fn propose(&mut self) -> Option<&[u8]> {
        self.left = self.left.checked_sub(1)?;
        self.minimiser.propose(&mut self.tracer)
    }

    /// Says whether the last proposal passes the test.
    pub fn judge(&mut self, holds: bool) {
        self.minimiser.judge(&mut self.tracer, holds);
    }

    /// Tests simpler texts in turn, at most `most`, as long as `holds` says whether one passes. Returns their number.
    pub fn run(&mut self, most: u32, mut holds: impl FnMut(&[u8]) -> Option<bool>) -> u32 {
        let mut tests = 0;
        while tests < most {
            let Some(text) = self.propose() else { break };
            tests += 1;
            let Some(holds) = holds(text) else { break };
            self.judge(holds);
        }
        tests
    }

    /// Returns the simplest text that passes the test.
    pub fn text(&self) -> &[u8] {
        self.minimiser.best().output()
    }

    /// Returns the choice bytes of the simplest text.
    pub fn choices(&self) -> &[u8] {
        self.minimiser.best().choices()
    }
}

impl std::fmt::Debug for Trim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trim").field("minimiser", &self.minimiser).field("left", &self.left).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use gramjet::choices::Tracer as _;
    use gramjet_compiler::SourceFile;

    use crate::language::{Language, Settings};
    use crate::session::Session;

    #[test]
    fn only_a_search_to_the_end_parses() {
        let file = SourceFile::new("g.ebnf", "list ::= '[' list* ']'");
        let language = Language::compile(&file, &Settings::default()).expect("a grammar");
        let mut session = Session::new(&language, 1);
        let text = b"[[][[]]]";
        assert!(session.minimise(text).expect("it conforms").tracer.parses());
        let mut trim = session.trim(text, 100).expect("it conforms");
        assert!(!trim.tracer.parses());
        // The test of a fuzzer whose target counts to two.
        while let Some(text) = trim.propose() {
            let holds = text.iter().filter(|&&byte| byte == b'[').count() >= 2;
            trim.judge(holds);
        }
        assert_eq!(trim.text(), b"[[]]");
    }
}
