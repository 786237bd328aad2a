//! Choice bytes with their trace, indexed for mutation.

use crate::choices::{Span, SpanKind, Trace, Tracer};

/// Choice bytes, the input that they stand for, and their structure. What mutators look for is found once, when it is made,
/// so that many mutants of one input cost little each.
#[derive(Clone, Debug, Default)]
pub struct TracedInput {
    choices: Vec<u8>,
    output: Vec<u8>,
    trace: Trace,
    /// The spans that can be replaced by others of their symbol: not rounds, not the whole, not empty.
    pub(super) parts: Vec<u32>,
    /// The same, with their symbols, ascending.
    pub(super) by_symbol: Vec<(u32, u32)>,
    /// The parts that are not as short as they can be: one of their choice bytes is not 0.
    pub(super) long: Vec<u32>,
    /// The rounds behind the minimum of a repetition, with the spans of their repetitions.
    pub(super) rounds: Vec<(u32, u32)>,
    /// Instances of a rule with the nearest instance of the same rule around them, outer one first.
    pub(super) nested: Vec<(u32, u32)>,
}

impl TracedInput {
    /// Runs a producer on `choices` under the limits in force. Choice bytes that are not read are dropped; missing ones are
    /// written as the zeros that they are read as, up to `most` bytes in all.
    pub fn new(tracer: &mut (impl Tracer + ?Sized), choices: &[u8], most: usize) -> TracedInput {
        let mut input = TracedInput::default();
        input.retrace(tracer, choices, most);
        input
    }

    /// Makes this the traced input of other choice bytes, keeping its memory.
    pub fn retrace(&mut self, tracer: &mut (impl Tracer + ?Sized), choices: &[u8], most: usize) {
        self.output.clear();
        let read = tracer.trace(choices, &mut self.output, &mut self.trace) as usize;
        self.choices.clear();
        self.choices.extend_from_slice(&choices[..read.min(choices.len())]);
        let whole = (self.trace.read as usize).min(most);
        if whole > self.choices.len() {
            self.choices.resize(whole, 0);
        }
        self.index();
    }

    /// The choice bytes, all of which are read.
    pub fn choices(&self) -> &[u8] {
        &self.choices
    }

    /// The input.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// What derives what.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// A span.
    pub(super) fn span(&self, number: u32) -> &Span {
        &self.trace.spans[number as usize]
    }

    /// The choice bytes of a span.
    pub(super) fn bytes(&self, span: &Span) -> &[u8] {
        &self.choices[span.choices()]
    }

    fn index(&mut self) {
        for list in [&mut self.parts, &mut self.long] {
            list.clear();
        }
        self.by_symbol.clear();
        self.rounds.clear();
        self.nested.clear();
        // The end of the last run of non-zero bytes up to each place tells whether a span has one.
        let mut set_before: Vec<u32> = Vec::with_capacity(self.choices.len() + 1);
        set_before.push(0);
        let mut set = 0;
        for &byte in &self.choices {
            set += u32::from(byte != 0);
            set_before.push(set);
        }
        let end = self.choices.len() as u32;
        let mut open: Vec<u32> = Vec::new();
        for (number, span) in (0..).zip(&self.trace.spans) {
            while open.last().is_some_and(|&outer| self.trace.spans[outer as usize].next <= number) {
                open.pop();
            }
            // Where choice bytes were cut off there is nothing to change.
            let (from, to) = span.choices;
            let is_there = from < to && to <= end;
            match span.kind {
                SpanKind::Round if is_there => {
                    let mut around = open.iter().rev();
                    let repetition =
                        around.find(|&&o| matches!(self.trace.spans[o as usize].kind, SpanKind::Repetition { .. }));
                    self.rounds.extend(repetition.map(|&repetition| (number, repetition)));
                }
                SpanKind::Round => {}
                _ if is_there && number > 0 => {
                    self.parts.push(number);
                    self.by_symbol.push((span.symbol, number));
                    if set_before[from as usize] < set_before[to as usize] {
                        self.long.push(number);
                    }
                }
                _ => {}
            }
            if span.kind == SpanKind::Rule && is_there {
                let same = |&&outer: &&u32| self.trace.spans[outer as usize].symbol == span.symbol;
                // Chains are long only where rules nest deeply; the nearest few dozen levels hold the pair almost always.
                let outer = open.iter().rev().take(NEAR).find(same);
                self.nested.extend(outer.map(|&outer| (outer, number)));
            }
            open.push(number);
        }
        self.by_symbol.sort_unstable();
    }
}

/// So many enclosing spans are searched for one of the same rule.
const NEAR: usize = 64;
