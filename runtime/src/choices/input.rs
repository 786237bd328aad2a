//! Choice bytes with their trace, indexed for mutation.

use crate::choices::{Span, SpanKind, Trace, Tracer};

/// Choice bytes, their input, and their structure. The places that mutators look for are found once, when this is made,
/// so that many mutants of one input cost little each.
#[derive(Clone, Debug, Default)]
pub struct TracedInput {
    choices: Vec<u8>,
    output: Vec<u8>,
    trace: Trace,
    /// The spans that can be replaced by others of their symbol: not rounds, not the whole, not empty.
    pub(super) parts: Vec<u32>,
    /// The parts that are not as short as they can be: one of their sites took another option than the first.
    pub(super) long: Vec<u32>,
    /// The rounds of a repetition after its minimum, with the spans of their repetitions.
    pub(super) rounds: Vec<(u32, u32)>,
    /// Instances of a rule with the nearest instance of the same rule around them, outer one first.
    pub(super) nested: Vec<(u32, u32)>,
    /// While the index is made: the innermost open instance of each rule; all [`NONE`] before and after.
    innermost: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl TracedInput {
    /// Runs a producer on `choices` under the limits in force. Choice bytes that are not read are dropped; missing ones
    /// are written as the zeros that they are read as, up to `most` bytes in all.
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

    /// The structure: which choice bytes derive which part of the input.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Drops what mutators do not need: the record of the sites.
    pub(super) fn drop_sites(&mut self) {
        self.trace.sites = Vec::new();
    }

    /// About how many bytes of memory it keeps.
    pub(super) fn memory(&self) -> usize {
        use std::mem::size_of_val;
        let indices = size_of_val(&*self.parts) + size_of_val(&*self.long) + size_of_val(&*self.rounds);
        let trace = size_of_val(&*self.trace.spans) + size_of_val(&*self.trace.sites);
        self.choices.len() + self.output.len() + trace + indices + size_of_val(&*self.nested) + size_of::<TracedInput>()
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
        self.rounds.clear();
        self.nested.clear();
        // How many sites before each choice byte took another option than the first.
        let mut chosen_before: Vec<u32> = Vec::with_capacity(self.choices.len() + 1);
        let mut chosen = 0;
        for site in self.trace.sites.iter().take_while(|site| (site.at as usize) < self.choices.len()) {
            chosen_before.resize(site.at as usize + 1, chosen);
            chosen += u32::from(site.option != 0);
        }
        chosen_before.resize(self.choices.len() + 1, chosen);
        let end = self.choices.len() as u32;
        // Open instances and repetitions, with the instance of their rule that was innermost before.
        let mut open: Vec<(u32, u32)> = Vec::new();
        let mut repetitions: Vec<u32> = Vec::new();
        let spans = &self.trace.spans;
        let ends_within = |number: u32| spans[number as usize].choices.1 <= end;
        let close = |innermost: &mut Vec<u32>, (number, before): (u32, u32)| {
            innermost[spans[number as usize].symbol as usize] = before;
        };
        for (number, span) in (0..).zip(spans) {
            while let Some(&instance) = open.last().filter(|(outer, _)| spans[*outer as usize].next <= number) {
                open.pop();
                close(&mut self.innermost, instance);
            }
            while repetitions.last().is_some_and(|&outer| spans[outer as usize].next <= number) {
                repetitions.pop();
            }
            // Where choice bytes were cut off there is nothing to change.
            let (from, to) = span.choices;
            let is_there = from < to && to <= end;
            if span.kind == SpanKind::Round {
                // Its own repetition is the innermost one, as it is within no other since.
                let whole = repetitions.last().filter(|&&outer| is_there && ends_within(outer));
                self.rounds.extend(whole.map(|&repetition| (number, repetition)));
                continue;
            }
            if is_there && number > 0 {
                self.parts.push(number);
                if chosen_before[from as usize] < chosen_before[to as usize] {
                    self.long.push(number);
                }
            }
            match span.kind {
                SpanKind::Rule => {
                    let symbol = span.symbol as usize;
                    if symbol >= self.innermost.len() {
                        self.innermost.resize(symbol + 1, NONE);
                    }
                    let outer = std::mem::replace(&mut self.innermost[symbol], number);
                    if outer != NONE && is_there && ends_within(outer) {
                        self.nested.push((outer, number));
                    }
                    open.push((number, outer));
                }
                SpanKind::Repetition { .. } => repetitions.push(number),
                SpanKind::Pool | SpanKind::Choice | SpanKind::Round => {}
            }
        }
        while let Some(instance) = open.pop() {
            close(&mut self.innermost, instance);
        }
    }
}
