//! Choice bytes with their trace, indexed for mutation.

use crate::choices::trace::{Lifted, depends_on_max_len};
use crate::choices::{Span, SpanKind, Trace, Tracer};

/// Choice bytes, their input, and their structure. The places that mutators look for are found once, when this is made,
/// so that many mutants of one input cost little each.
#[derive(Clone, Debug, Default)]
pub struct TracedInput {
    choices: Vec<u8>,
    /// The choice bytes without the length limit, if they are others.
    without: Vec<u8>,
    meaning: Meaning,
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

/// Meaning without a length limit of choice bytes that were read under it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Meaning {
    /// Same choice bytes: there is no limit, or the input is so much shorter that all options are offered at every
    /// site.
    #[default]
    Same,
    /// Other choice bytes, for the same input.
    Other,
    /// No choice bytes: a tracer cannot tell, or under a depth limit no string of a pool was short enough.
    Absent,
}

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
        self.without.clear();
        self.meaning = match () {
            () if !depends_on_max_len(tracer, self.output.len()) => Meaning::Same,
            () if self.trace_without_max_len(tracer, most) => Meaning::Other,
            () => Meaning::Absent,
        };
        self.index();
    }

    /// Finds the choice bytes without the length limit and their trace. Says whether they make the same input.
    fn trace_without_max_len(&mut self, tracer: &mut (impl Tracer + ?Sized), most: usize) -> bool {
        if !tracer.without_max_len(&self.choices, &mut self.without) {
            return false;
        }
        let (mut output, mut trace) = (Vec::new(), Trace::default());
        Lifted::new(tracer, u64::MAX).trace(&self.without, &mut output, &mut trace);
        if output != self.output {
            return false;
        }
        let is_whole = self.choices.len() >= self.trace.read as usize;
        if !is_whole {
            let read = self.without.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            self.without.truncate(read.max(most));
        }
        self.trace = trace;
        true
    }

    /// Returns the choice bytes under the limits that were in force, all of which are read.
    pub fn choices(&self) -> &[u8] {
        &self.choices
    }

    /// Returns the choice bytes that make the same input without a length limit. They are others if the input is near
    /// the limit that was in force.
    #[inline]
    pub fn without_max_len(&self) -> &[u8] {
        if self.meaning == Meaning::Other { &self.without } else { &self.choices }
    }

    /// Returns true if the input is also made without the length limit that was in force. If it is not, then
    /// [`TracedInput::without_max_len`] makes another one.
    pub(super) fn exists_without_max_len(&self) -> bool {
        self.meaning != Meaning::Absent
    }

    /// Forgets the choice bytes under the length limit, and has those without in their place.
    pub(super) fn lift(&mut self) {
        if self.meaning == Meaning::Other {
            std::mem::swap(&mut self.choices, &mut self.without);
            self.meaning = Meaning::Same;
        }
    }

    /// Returns true if the choice bytes were not cut off.
    pub(super) fn is_whole(&self) -> bool {
        self.without_max_len().len() >= self.trace.read as usize
    }

    /// Returns the input.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// Returns the structure: which choice bytes derive which part of the input. They are those of
    /// [`TracedInput::without_max_len`].
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Drops what mutators do not need: the record of the sites.
    pub(super) fn drop_sites(&mut self) {
        self.trace.sites = Vec::new();
    }

    /// Returns about how many bytes of memory it keeps.
    pub(super) fn memory(&self) -> usize {
        use std::mem::size_of_val;
        let indices = size_of_val(&*self.parts) + size_of_val(&*self.long) + size_of_val(&*self.rounds);
        let trace = size_of_val(&*self.trace.spans) + size_of_val(&*self.trace.sites);
        let choices = self.choices.len() + self.without.len();
        choices + self.output.len() + trace + indices + size_of_val(&*self.nested) + size_of::<TracedInput>()
    }

    /// Returns a span.
    pub(super) fn span(&self, number: u32) -> &Span {
        &self.trace.spans[number as usize]
    }

    /// Returns the choice bytes of a span.
    pub(super) fn bytes(&self, span: &Span) -> &[u8] {
        &self.without_max_len()[span.choices()]
    }

    /// Returns the greatest length of a text in place of that of a span, in bytes, so that the whole has at most
    /// `most`; `None` if the whole is longer without any.
    pub(super) fn room(&self, span: &Span, most: usize) -> Option<usize> {
        most.checked_sub(self.output.len() - span.output().len())
    }

    fn index(&mut self) {
        let len = self.without_max_len().len();
        for list in [&mut self.parts, &mut self.long] {
            list.clear();
        }
        self.rounds.clear();
        self.nested.clear();
        // How many sites before each choice byte took another option than the first.
        let mut chosen_before: Vec<u32> = Vec::with_capacity(len + 1);
        let mut chosen = 0;
        for site in self.trace.sites.iter().take_while(|site| (site.at as usize) < len) {
            chosen_before.resize(site.at as usize + 1, chosen);
            chosen += u32::from(site.option != 0);
        }
        chosen_before.resize(len + 1, chosen);
        let end = len as u32;
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
