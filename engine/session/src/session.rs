//! A session: texts in, valid variants out.

use std::ops::Range;

use gramjet::choices::{Mutator, Operation, Store, TracedInput};
use gramjet::{Choices, Producer};
use gramjet_engine::Tracer;
use gramjet_parse::Budget;

use crate::language::Language;
use crate::parsing::ParsingTracer;
use crate::trees::Trees;
use crate::trim::Trim;

mod derivations;

/// Way in which a variant was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// By this operation on the derivation of the text.
    Changed(Operation),
    /// By this operation. Its result was too long, so the variant is another text within the bound.
    Cut(Operation),
    /// At random, as the text has no known derivation or only one.
    Fresh,
}

impl Mutation {
    /// Returns a short name in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Mutation::Changed(operation) | Mutation::Cut(operation) => operation.name(),
            Mutation::Fresh => "fresh",
        }
    }
}

/// Counts of what a session has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Texts whose derivation was known.
    pub known: u64,
    /// Texts whose derivation was found by parsing.
    pub parsed: u64,
    /// Texts that do not conform or cost too much.
    pub unparsed: u64,
    /// Variants of derivations.
    pub changed: u64,
    /// Variants that were too long at first.
    pub cut: u64,
    /// Inputs made at random.
    pub fresh: u64,
}

/// Makes variants of texts and remembers their parts, for one thread.
///
/// The same calls with the same seed give the same variants on every machine. Texts from the caller may be nested more
/// deeply than the depth limit; then their variants may be, too.
pub struct Session {
    language: Language,
    seed: u64,
    /// Number of inputs that were made at random.
    fresh: u64,
    mutator: Mutator,
    store: Store,
    trees: Trees,
    /// These keep the depth limit, or the depth of the current text if it is deeper, and no length; outputs that are
    /// too long are not completed.
    tracer: Tracer,
    producer: Box<dyn Producer + Send>,
    depth: Option<u32>,
    /// A tracer without limits on choice bytes and depth. Outputs longer than the current text are not completed.
    unlimited: Tracer,
    /// A producer that also keeps a length limit.
    bounded: Box<dyn Producer + Send>,
    /// The current text.
    current: Looked,
    /// The last text that parts were taken from.
    other: Looked,
    made: Made,
    statistics: Statistics,
}

/// The last variant.
struct Made {
    choices: Vec<u8>,
    /// Length of its text.
    len: usize,
}

/// The parts of a text with one symbol, which can stand for each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The symbol.
    pub symbol: u32,
    /// Their places in the text, each once.
    pub ranges: Vec<Range<usize>>,
}

/// A text whose derivation was looked for.
#[derive(Default)]
struct Looked {
    /// The text, and whether its derivation is known.
    text: Option<(Vec<u8>, bool)>,
    input: TracedInput,
}

/// The number of random inputs whose parts are in the store from the beginning.
const RANDOM_INPUTS: u64 = 200;
/// The maximum number of choice bytes that a random input reads.
const FRESH_CHOICES: usize = 1024;
/// The maximum memory for derivations of texts, in bytes.
const TREES_BYTES: usize = 64 << 20;
/// A random input that parts are taken from is cut short after this number of bytes.
const RANDOM_BYTES: u64 = 1 << 20;
/// The number of attempts at a variant that is short enough and differs from the text.
const TRIES: usize = 4;

impl Session {
    /// The budget for parsing a text, after which it counts as one that does not conform. It suffices for some hundred
    /// kilobytes of a programming language, which takes up to twenty steps a byte.
    pub const BUDGET: Budget = Budget { max_memory: 256 << 20, max_steps: Some(1 << 23) };

    /// Returns a session on a language.
    pub fn new(language: &Language, seed: u64) -> Session {
        let depth_only = language.limits().max_len(None).max_output(RANDOM_BYTES);
        let mut tracer = language.tracer.clone();
        // The language's own limits can be kept.
        let _ = tracer.set_limits(depth_only);
        let mut session = Session {
            seed,
            fresh: 0,
            mutator: Mutator::new(seed),
            store: Store::default(),
            trees: Trees::new(TREES_BYTES),
            producer: bounded_producer(language, &tracer),
            depth: depth_only.depth(),
            bounded: language.producer(),
            unlimited: language.unlimited_tracer(),
            tracer,
            current: Looked::default(),
            other: Looked::default(),
            made: Made { choices: Vec::new(), len: usize::MAX },
            statistics: Statistics::default(),
            language: language.clone(),
        };
        for _ in 0..RANDOM_INPUTS {
            session.draw();
            session.other.input.retrace(&mut session.tracer, &session.made.choices, 2 * FRESH_CHOICES);
            session.store.add(&session.other.input);
        }
        session.made.choices.clear();
        session
    }

    /// Returns the language.
    pub fn language(&self) -> &Language {
        &self.language
    }

    /// Returns counts of what the session has done.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Returns the parts of all texts.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Lets variants be as deep as the current text is, if that is deeper than the limit.
    fn set_depth(&mut self) {
        let limit = self.language.limits().depth();
        let deepest = self.current.input.trace().spans.iter().map(|span| span.depth).max();
        self.depth = limit.max(limit.and(deepest));
    }

    /// Lets variants be made up to a length, which mutators keep; longer ones are cut off soon after it.
    fn set_limits(&mut self, most: usize) {
        let limits = self.language.limits();
        let limits = limits.max_len(None).max_depth(self.depth).max_output(limits.output().min(most as u64));
        if limits != self.producer.limits() {
            // Where the depth can be limited at all, it can be limited to this.
            let _ = self.tracer.set_limits(limits);
            let _ = self.producer.set_limits(limits);
        }
    }

    /// Returns the greatest length of a variant; `None` if every text is longer.
    fn most(&self, max_len: usize) -> Option<usize> {
        let own =
            self.language.limits().length().map_or(usize::MAX, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        Some(max_len.min(own)).filter(|&most| most as u64 >= self.producer.min_len())
    }

    /// Writes a variant of a text to `variant`, and says how it was made; `None`, and nothing is written, if every text
    /// of the language has more than `max_len` bytes.
    pub fn mutate(&mut self, text: &[u8], max_len: usize, variant: &mut Vec<u8>) -> Option<Mutation> {
        self.vary(text, None, max_len, variant)
    }

    /// Writes `text`, with a part of `other` in place of one of its own, to `variant`; if that is not possible, another
    /// variant. Finding the derivation of `other` takes longer than making a variant, unless it is the same text as in
    /// the call before.
    pub fn splice(&mut self, text: &[u8], other: &[u8], max_len: usize, variant: &mut Vec<u8>) -> Option<Mutation> {
        let mut input = std::mem::take(&mut self.other.input);
        let found = match &self.other.text {
            Some((text, found)) if text == other => *found,
            _ => {
                let found = self.find(other, &mut input);
                self.other.text = Some((other.to_vec(), found));
                found
            }
        };
        let mutation = self.vary(text, found.then_some(&input), max_len, variant);
        self.other.input = input;
        mutation
    }

    fn vary(
        &mut self,
        text: &[u8],
        other: Option<&TracedInput>,
        max_len: usize,
        variant: &mut Vec<u8>,
    ) -> Option<Mutation> {
        variant.clear();
        let most = self.most(max_len)?;
        if !self.remember(text) {
            return Some(self.make_fresh(most, variant));
        }
        // Mutators keep within the length of a text that is longer.
        self.set_limits(most.max(text.len()));
        let mut made_by = None;
        for _ in 0..TRIES {
            let crossed = other.filter(|other| {
                self.mutator.cross(&self.current.input, other, &mut self.tracer, &mut self.made.choices)
            });
            let operation = match crossed {
                Some(_) => Some(Operation::Splice),
                None => self.mutator.mutate(&self.current.input, &self.store, &mut self.tracer, &mut self.made.choices),
            };
            let Some(operation) = operation else { break };
            variant.clear();
            self.producer.produce(&mut Choices::replay(&self.made.choices), variant);
            made_by = Some(operation);
            if variant.len() <= most && variant != text {
                self.statistics.changed += 1;
                self.made.len = variant.len();
                return Some(Mutation::Changed(operation));
            }
        }
        let Some(operation) = made_by.filter(|_| variant.len() > most) else {
            return Some(self.make_fresh(most, variant));
        };
        self.statistics.cut += 1;
        self.cut(most, variant);
        Some(Mutation::Cut(operation))
    }

    /// Writes an input made at random to `variant`; `None`, and nothing is written, if every text of the language has
    /// more than `max_len` bytes.
    pub fn fresh(&mut self, max_len: usize, variant: &mut Vec<u8>) -> Option<Mutation> {
        variant.clear();
        let most = self.most(max_len)?;
        Some(self.make_fresh(most, variant))
    }

    /// Returns the length of the shortest text of the language, in bytes.
    pub fn min_len(&self) -> u64 {
        self.producer.min_len()
    }

    fn make_fresh(&mut self, most: usize, variant: &mut Vec<u8>) -> Mutation {
        self.statistics.fresh += 1;
        self.draw();
        self.cut(most, variant);
        Mutation::Fresh
    }

    /// Draws choice bytes, sometimes few, sometimes many.
    fn draw(&mut self) {
        let len = FRESH_CHOICES >> (self.fresh % 7);
        let mut source = Choices::of_block(self.seed, self.fresh);
        self.fresh += 1;
        self.made.choices.clear();
        self.made.choices.extend((0..len).map_while(|_| source.next_byte()));
    }

    /// Writes the input of the choice bytes within a length.
    fn cut(&mut self, most: usize, variant: &mut Vec<u8>) {
        let limits = self.language.limits().max_len(most as u64);
        if limits != self.bounded.limits() {
            // The shortest text is not longer.
            let _ = self.bounded.set_limits(limits);
        }
        variant.clear();
        let read = self.bounded.produce(&mut Choices::replay(&self.made.choices), variant);
        self.made.choices.truncate(usize::try_from(read).unwrap_or(usize::MAX));
        self.made.len = variant.len();
    }

    /// Returns a search for a shorter text, whose test the caller runs, at most `max_tests` times. Parts become as
    /// short as they can be, rounds of repetitions are removed, inner instances of a rule replace outer ones. `None` if
    /// the derivation of the text is not known. Nothing is parsed: the test is a run of some microseconds, as a
    /// fuzzer's is.
    pub fn trim(&mut self, text: &[u8], max_tests: u32) -> Option<Trim> {
        let (tracer, producer) = self.for_shorter(text)?;
        let tracer = ParsingTracer::without_parser(tracer, producer);
        Some(Trim::new(tracer, self.current.input.choices()).parts_only(max_tests))
    }

    /// Returns a search for a simpler text, whose test the caller runs, to the end; `None` if the derivation of the
    /// text is not known.
    pub fn minimise(&mut self, text: &[u8]) -> Option<Trim> {
        let (tracer, producer) = self.for_shorter(text)?;
        let tracer = ParsingTracer::new(tracer, producer, self.language.parser.clone());
        Some(Trim::new(tracer, self.current.input.choices()))
    }

    /// Returns a tracer and a producer that make texts no longer than this one; `None` if its derivation is not known.
    fn for_shorter(&mut self, text: &[u8]) -> Option<(Tracer, Box<dyn Producer + Send>)> {
        self.remember(text).then(|| {
            let mut tracer = self.unlimited.clone();
            // Longer candidates do not count.
            let _ = tracer.set_limits(tracer.limits().max_output(text.len() as u64));
            let producer = bounded_producer(&self.language, &tracer);
            (tracer, producer)
        })
    }
}

/// Returns a producer with the limits of a tracer. The tracer stands for an engine that has no bound on memory.
fn bounded_producer(language: &Language, tracer: &Tracer) -> Box<dyn Producer + Send> {
    if language.engine.kind().bounds_output() {
        language.producer_within(tracer.limits())
    } else {
        Box::new(tracer.clone())
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("engine", &self.language.engine_name())
            .field("store", &self.store.len())
            .field("statistics", &self.statistics)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use gramjet_compiler::SourceFile;

    use super::*;
    use crate::language::Settings;

    #[test]
    fn a_text_may_become_plainer_with_fewer_choices_and_the_same_length() {
        let file = SourceFile::new("g.ebnf", "text ::= part part part part\npart ::= 'xy' | [ab] [ab]");
        let language = Language::compile(&file, &Settings::default()).expect("a grammar");
        let mut trim = Session::new(&language, 1).minimise(b"bbbbbbbb").expect("a derivation");
        while trim.propose().is_some() {
            trim.judge(true);
        }
        assert_eq!(trim.text(), b"xyxyxyxy");
    }

    #[test]
    fn variants_without_a_maximum_keep_the_bound_on_outputs() {
        let file = SourceFile::new("g.ebnf", "text ::= 'x'*");
        let language = Language::compile(&file, &Settings::default()).expect("a grammar");
        let mut session = Session::new(&language, 1);
        for (most, bound) in [(usize::MAX, language.limits().output()), (5, 5)] {
            session.set_limits(most);
            assert_eq!(session.producer.limits().output(), bound);
        }
    }
}
