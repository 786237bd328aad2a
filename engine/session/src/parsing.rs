//! A tracer with or without a parser at hand; with one, a search for simpler texts can change them as texts.

use std::sync::Arc;

use gramjet::choices::{ChoiceSource, Part, Refit, Trace};
use gramjet::{Choices, Limits, LimitsError, Producer};
use gramjet_engine::Tracer;
use gramjet_parse::{Budget, Parser};

/// A tracer that leaves untraced runs to a faster engine, and changes of known texts to a parser.
#[derive(Clone, Debug)]
pub struct ParsingTracer<P> {
    tracer: Tracer,
    producer: P,
    parser: Option<Arc<Parser>>,
}

impl<P: Producer> ParsingTracer<P> {
    /// The budget for parsing a candidate. A text that exceeds it counts as one that does not conform.
    const BUDGET: Budget = Budget { max_memory: 64 << 20, max_steps: Some(1 << 21) };

    /// Returns a tracer that parses with `parser`. All three are of the same grammar; the tracer and the producer have
    /// the same limits.
    pub fn new(tracer: Tracer, producer: P, parser: Arc<Parser>) -> ParsingTracer<P> {
        ParsingTracer { tracer, producer, parser: Some(parser) }
    }

    /// Returns a tracer without a parser: for searches whose tests take no longer than a parse.
    pub fn without_parser(tracer: Tracer, producer: P) -> ParsingTracer<P> {
        ParsingTracer { tracer, producer, parser: None }
    }
}

impl<P: Producer> Producer for ParsingTracer<P> {
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

impl<P: Producer> gramjet::choices::Tracer for ParsingTracer<P> {
    fn trace(&mut self, choices: &[u8], output: &mut Vec<u8>, trace: &mut Trace) -> u64 {
        self.tracer.trace(choices, output, trace)
    }

    fn draw(
        &mut self,
        symbol: u32,
        depth: u32,
        max_len: u64,
        source: &mut dyn ChoiceSource,
        most: usize,
        choices: &mut Vec<u8>,
    ) -> Option<u64> {
        self.tracer.draw(symbol, depth, max_len, source, most, choices)
    }

    fn shortest(&mut self, symbol: u32, depth: u32) -> usize {
        self.tracer.shortest(symbol, depth)
    }

    fn rule_name(&self, symbol: u32) -> Option<&str> {
        self.tracer.rule_name(symbol)
    }

    fn reads_more(&self) -> bool {
        self.tracer.reads_more()
    }

    fn options(&self, symbol: u32) -> u32 {
        self.tracer.options(symbol)
    }

    fn refit(&mut self, whole: Refit, parts: &[Part<'_>], kept: &mut Vec<usize>, choices: &mut Vec<u8>) -> bool {
        self.tracer.refit(whole, parts, kept, choices)
    }

    fn ample_room(&self) -> u64 {
        self.tracer.ample_room()
    }

    fn without_max_len(&mut self, choices: &[u8], without: &mut Vec<u8>) -> bool {
        self.tracer.without_max_len(choices, without)
    }

    fn within_max_len(&mut self, without: &[u8], choices: &mut Vec<u8>) -> bool {
        self.tracer.within_max_len(without, choices)
    }

    fn parses(&self) -> bool {
        self.parser.is_some()
    }

    fn parse(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        self.parser.as_ref()?.parse(text, &Self::BUDGET).ok().map(|parsed| parsed.choices)
    }
}
