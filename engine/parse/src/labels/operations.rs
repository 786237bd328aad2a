//! The steps of threads that concern labelled parts.

use gramjet_compiler::derived::Term;
use gramjet_compiler::ir::KindId;

use super::OPTION;
use super::context::{Context, Looked, Part, Rounds, UNKNOWN, Waiting};
use super::faults::{Fault, Right};
use super::kept::Kept;
use super::texts::Texts;
use super::{Mode, Threads};
use crate::arena::{Frame, Thread};
use crate::error::{Attempt, ParseError};
use crate::program::operations::{LoopRounds, Number, Operation, Place};

/// Up to this many rounds of a counted repetition may be empty where their number is not known.
const MOST_EMPTY: u32 = 256;

/// Up to this many rounds of a counted repetition may be empty where their number is known.
const MOST_SAID_EMPTY: u64 = 4096;

impl Threads<'_, '_> {
    pub(super) fn context(&mut self, thread: Thread) -> Context {
        self.contexts.copy(thread.count)
    }

    fn go(&mut self, state: u32, context: Context, thread: Thread) {
        if self.allows(state) {
            let count = self.contexts.number(context);
            self.push(state, Thread { count, ..thread });
        }
    }

    /// Returns the rounds done of the innermost counted repetition.
    pub(super) fn rounds_done(&self, thread: Thread) -> u32 {
        self.contexts.get(thread.count).rounds.last().map_or(0, |rounds| rounds.number)
    }

    /// Returns the environment of a callee that is a counted repetition, after the rounds that are done.
    pub(super) fn with_rounds_done(&mut self, thread: Thread, number: u32) -> u32 {
        let mut context = self.context(thread);
        context.rounds = vec![Rounds { number, from: UNKNOWN }];
        self.contexts.number(context)
    }

    /// Returns true if a thread came back to this state from a wrong copy, or from a name that is not seen.
    pub(super) fn is_copied(&self, state: u32) -> bool {
        matches!(self.program.operation_at(state), Some(Operation::Copied(_) | Operation::Unseen(..)))
    }

    pub(super) fn operation(&mut self, thread: Thread, operation: Operation, next: u32) -> Result<(), ParseError> {
        let position = self.position as u32;
        match operation {
            Operation::Scope(labels) => {
                let mut context = self.context(thread);
                context.parts.extend(std::iter::repeat_n(Part::LATER, labels as usize));
                self.go(next, context, thread);
            }
            Operation::Mirror(place) => {
                let mut context = self.context(thread);
                // The rounds that are still to come tell which one this is.
                let left = context.rounds.last().map_or(0, |rounds| rounds.number);
                let Some(part) = context.known(place) else { return Ok(()) };
                let Some(parts) = self.contexts.kept.parts(part.kept, left) else { return Ok(()) };
                context.parts.extend(parts);
                self.go(next, context, thread);
            }
            Operation::Keep(place, labels) => {
                let mut context = self.context(thread);
                let parts = context.parts.split_off(context.parts.len().saturating_sub(labels as usize));
                if let Some(part) = context.part(place) {
                    part.kept = self.contexts.kept.add(part.kept, &parts);
                }
                context.parts.extend(parts);
                self.go(next, context, thread);
            }
            Operation::LeaveScope(labels, fields) => {
                let mut context = self.context(thread);
                let fields = &self.program.operations.fields[fields as usize];
                if fields
                    .iter()
                    .any(|(value, greatest)| context.value(value, Texts::NONE).is_some_and(|value| value > *greatest))
                {
                    return Ok(());
                }
                context.leave_scope(labels as usize, &self.program.operations);
                self.go(next, context, thread);
            }
            Operation::Enter(place, rounds) => {
                let mut context = self.context(thread);
                let bound = context.bound;
                let Some(part) = context.part(place) else { return Ok(()) };
                (part.from, part.to, part.rounds) = (position, bound, rounds);
                let mut list = thread.list;
                if self.program.operations.labels[place.label.index()].has_offset {
                    let Some(compared) = self.compare(&mut context, place, thread)? else { return Ok(()) };
                    list = compared;
                }
                let Some(part) = context.part(place).filter(|part| part.len != UNKNOWN) else {
                    self.go(next, context, Thread { list, ..thread });
                    return Ok(());
                };
                let Some(end) = position.checked_add(part.len).filter(|&end| end <= bound) else { return Ok(()) };
                context.bound = end;
                self.go(next, context, Thread { list, ..thread });
            }
            Operation::Leave(place) => self.leave(thread, place, next)?,
            Operation::Copy(place, copied) => self.copy(thread, place, next, copied)?,
            Operation::Copied(place) => self.copied(thread, place, next),
            Operation::Number(number) => self.number(thread, number, next)?,
            Operation::Bits(first, end) => self.bits(thread, (first, end), next)?,
            Operation::Padding(place, padding) => self.padding(thread, place, padding, next),
            Operation::Begin(number) => {
                let mut context = self.context(thread);
                let known = &self.program.operations.loops[number as usize];
                let number = match &known.rounds {
                    LoopRounds::Between { .. } => 0,
                    LoopRounds::Times(value) => {
                        let rounds = context.value(value, self.texts()).unwrap_or(0);
                        let left = u64::from(context.bound - position);
                        let fits = rounds.saturating_mul(known.min_len) <= left;
                        let Some(rounds) = u32::try_from(rounds).ok().filter(|_| fits) else { return Ok(()) };
                        rounds
                    }
                };
                context.rounds.push(Rounds { number, from: UNKNOWN });
                self.go(next, context, thread);
            }
            Operation::Round(number) => self.round(thread, number, next),
            Operation::AfterRound(number) => self.after_round(thread, number, next),
            Operation::End(number) => {
                let mut context = self.context(thread);
                let known = &self.program.operations.loops[number as usize];
                let mut rounds = context.rounds.pop().map_or(0, |rounds| rounds.number);
                if let LoopRounds::Times(value) = &known.rounds {
                    rounds = context.value(value, self.texts()).map_or(0, |rounds| rounds as u32);
                }
                if let Some(part) = known.counted.and_then(|place| context.part(place)) {
                    part.rounds = rounds;
                }
                self.go(next, context, thread);
            }
            Operation::Coded(coded) => self.coded(thread, coded, next)?,
            Operation::EndCode(coded) => self.end_code(thread, coded)?,
            Operation::BeginName => {
                let mut context = self.context(thread);
                context.rounds.push(Rounds { number: 0, from: position });
                self.go(next, context, thread);
            }
            Operation::Name(kind, is_unique) => self.name(thread, kind, is_unique, next)?,
            Operation::Declare(kind, place) => {
                let mut context = self.context(thread);
                let Some(part) = context.known(place) else { return Ok(()) };
                context.names = self.contexts.names.add(context.names, kind, (part.from, part.to), self.text);
                self.go(next, context, thread);
            }
            Operation::Use(kind, other, unseen) => self.take_name(thread, kind, (next, other, unseen))?,
            Operation::Unseen(kind, sites) => self.unseen(thread, kind, sites, next),
            Operation::Give(arguments) => {
                let mut context = self.context(thread);
                let places = &self.program.operations.arguments[arguments as usize];
                let parts = places.iter().map(|&place| context.known(place)).collect::<Option<Vec<Part>>>();
                let Some(parts) = parts else { return Ok(()) };
                context.given = self.contexts.kept.add(Kept::NONE, &parts);
                self.go(next, context, thread);
            }
            Operation::Given => {
                let context = Context { given: Kept::NONE, ..self.context(thread) };
                self.go(next, context, thread);
            }
            Operation::Names(scope) => {
                let kinds = &self.program.operations.scopes[scope as usize];
                let mut context = self.context(thread);
                context.outside.push(context.names);
                context.names = self.contexts.names.begin_scope(context.names, kinds, position);
                self.go(next, context, thread);
            }
            Operation::LeaveNames(scope) => {
                let kinds = &self.program.operations.scopes[scope as usize];
                let mut context = self.context(thread);
                let outside = context.outside.pop().unwrap_or_default();
                context.names = self.contexts.names.end_scope(context.names, kinds, outside);
                self.go(next, context, thread);
            }
        }
        Ok(())
    }

    /// Returns the names that a thread sees.
    pub(super) fn names(&self, thread: Thread) -> u32 {
        self.contexts.get(thread.count).names
    }

    /// Ends a part that gives a name. Reads the number that makes a unique one free.
    fn name(&mut self, thread: Thread, kind: KindId, is_unique: bool, next: u32) -> Result<(), ParseError> {
        let (text, position) = (self.text, self.position);
        let mut context = self.context(thread);
        let Some(Rounds { from, .. }) = context.rounds.pop() else { return Ok(()) };
        let (names, name) = (context.names, &text[from as usize..position]);
        let digits = if is_unique { self.contexts.names.digits(names, kind, name, text) } else { Vec::new() };
        let steps = self.contexts.names.take_steps();
        self.count_steps(steps)?;
        let (program, whole) = (self.program, [name, &digits].concat());
        let attempt = |_, frame| Attempt::derived(program.expected_unique(kind, whole.clone(), None), 0, frame);
        let mut list = thread.list;
        let mut len = digits.len();
        if !self.literal(&digits, attempt, thread.frame) {
            if self.mode == Mode::Strict {
                return Ok(());
            }
            len = 0;
            let right = Right::Unique(kind, whole.into());
            list = self.fault(list, Fault { found: (from, position as u32), right, within: self.frame(thread) });
        }
        if position + len > context.bound as usize {
            return Ok(());
        }
        context.names = self.contexts.names.add(names, kind, (from, (position + len) as u32), text);
        let count = self.contexts.number(context);
        self.read(len, next, Thread { count, list, ..thread });
        Ok(())
    }

    /// Takes each name that is seen with which the text goes on, and what stands where none is seen.
    fn take_name(
        &mut self,
        thread: Thread,
        kind: KindId,
        (next, other, unseen): (u32, u32, u32),
    ) -> Result<(), ParseError> {
        let (text, position, bound) = (self.text, self.position, self.bound(thread));
        let names = self.names(thread);
        let found = self.contexts.names.next(names, kind, (position, bound), text);
        let steps = self.contexts.names.take_steps();
        self.count_steps(steps)?;
        if self.records() {
            let expected = self.program.expected_name(kind, None);
            self.record(Attempt::derived(expected, 0, self.frame(thread)));
        }
        for (number, len) in found {
            let chosen = self.choose(thread, number);
            self.read(len, next, chosen);
        }
        let number = self.contexts.names.count(names, kind);
        let chosen = self.choose(thread, number);
        self.push(other, chosen);
        if self.mode != Mode::Strict {
            let program = self.program;
            let mut context = self.context(thread);
            context.rounds.push(Rounds { number: 0, from: position as u32 });
            let count = self.contexts.number(context);
            for &callee in &program.operations.kinds[kind.index()].callees {
                self.call(Thread { count, ..thread }, callee, unseen);
            }
        }
        Ok(())
    }

    /// Goes on after a name that is not seen. It becomes the nearest one. Where none is seen, it becomes the part that
    /// then stands, which has this number of sites.
    fn unseen(&mut self, thread: Thread, kind: KindId, sites: u64, next: u32) {
        let mut context = self.context(thread);
        let Some(Rounds { from, .. }) = context.rounds.pop() else { return };
        let (names, position) = (context.names, self.position);
        let name = &self.text[from as usize..position];
        // One that is seen is no fault.
        let found = self.contexts.names.next(names, kind, (from as usize, position), self.text);
        if found.iter().any(|&(_, len)| len == name.len()) {
            return;
        }
        let found = (from, position as u32);
        let mut list = self.fault(thread.list, Fault { found, right: Right::Seen(kind), within: self.frame(thread) });
        let is_any_seen = self.contexts.names.count(names, kind) > 0;
        list = self.arena.append(list, OPTION, 0);
        if !is_any_seen {
            list = self.arena.zeros(list, sites);
        }
        self.go(next, context, Thread { list, ..thread });
    }

    /// Ends a labelled part, and compares the numbers that waited for it.
    fn leave(&mut self, thread: Thread, place: Place, next: u32) -> Result<(), ParseError> {
        let position = self.position as u32;
        let Some(part) = self.contexts.get(thread.count).parts.get(place.place as usize) else { return Ok(()) };
        let is_as_long = part.len == UNKNOWN || part.len == position - part.from;
        if !is_as_long || (part.count != UNKNOWN && part.count != part.rounds) {
            return Ok(());
        }
        let mut context = self.context(thread);
        let Some(part) = context.part(place) else { return Ok(()) };
        let outside = std::mem::replace(&mut part.to, position);
        part.is_known = true;
        let range = (part.from, position);
        Context::forget(part, place, &self.program.operations);
        context.bound = outside;
        context.place_blanks(place, range, &self.program.operations);
        if let Some(list) = self.compare(&mut context, place, thread)? {
            self.go(next, context, Thread { list, ..thread });
        }
        Ok(())
    }

    /// Compares the numbers that waited for a part with what they should be. Returns the decisions with the faults that
    /// were found; `None` if the thread ends, as a number is wrong.
    pub(super) fn compare(
        &mut self,
        context: &mut Context,
        place: Place,
        thread: Thread,
    ) -> Result<Option<u32>, ParseError> {
        let mut list = thread.list;
        for waiting in std::mem::take(&mut context.waiting) {
            let number = &self.program.operations.numbers[waiting.number as usize];
            if number.value.terms.iter().any(|term| term.label.label == place.label) {
                self.count_steps(context.effort(number) / 16)?;
            }
            match context.look(number, waiting, self.texts(), self.mode != Mode::Free) {
                Looked::Nothing => context.waiting.push(waiting),
                Looked::Solved => {}
                Looked::Impossible => return Ok(None),
                Looked::Expected(bytes) => {
                    let found = (waiting.from, waiting.to);
                    if self.text[found.0 as usize..found.1 as usize] != bytes {
                        // Any bytes could be a wrong place, so places are right where numbers before their parts are.
                        let is_place = number.value.terms.iter().any(|term| term.measure.is_of_place());
                        if self.mode == Mode::Strict || is_place && self.mode == Mode::Bound {
                            return Ok(None);
                        }
                        let right = Right::Number(waiting.number, bytes.into());
                        list = self.fault(list, Fault { found, right, within: self.frame(thread) });
                    }
                }
            }
        }
        Ok(Some(list))
    }

    fn copy(&mut self, thread: Thread, place: Place, next: u32, copied: u32) -> Result<(), ParseError> {
        let Some(part) = self.contexts.get(thread.count).known(place) else { return Ok(()) };
        let bytes = self.texts().part(part.from, part.to).to_vec();
        self.count_steps(bytes.len() as u64 / 64)?;
        let program = self.program;
        let attempt = |read, frame| Attempt::derived(program.expected_copy(place, &bytes, None), read, frame);
        if self.literal(&bytes, attempt, thread.frame) {
            self.read(bytes.len(), next, thread);
        } else if self.mode != Mode::Strict {
            let mut context = self.context(thread);
            context.rounds.push(Rounds { number: 0, from: self.position as u32 });
            let count = self.contexts.number(context);
            let thread = Thread { count, ..thread };
            for callee in self.program.operations.copies(place.label) {
                if self.program.callees[callee as usize].nullable {
                    self.push(copied, thread);
                }
                self.call(thread, callee, copied);
            }
        }
        Ok(())
    }

    /// Goes on after a wrong copy.
    fn copied(&mut self, thread: Thread, place: Place, next: u32) {
        let mut context = self.context(thread);
        let (Some(part), Some(rounds)) = (context.known(place), context.rounds.pop()) else { return };
        let bytes: Box<[u8]> = self.texts().part(part.from, part.to).into();
        let found = (rounds.from, self.position as u32);
        let mut list = thread.list;
        if self.text[rounds.from as usize..self.position] != *bytes {
            let right = Right::Copy(place, bytes);
            list = self.fault(list, Fault { found, right, within: self.frame(thread) });
        }
        self.go(next, context, Thread { list, ..thread });
    }

    fn number(&mut self, thread: Thread, index: u32, next: u32) -> Result<(), ParseError> {
        let number = &self.program.operations.numbers[index as usize];
        let context = self.contexts.get(thread.count);
        let effort = context.effort(number);
        let is_known = number.value.terms.iter().all(|term| context.part_of(term).is_some());
        if is_known {
            let Some(bytes) = context.expected(number, self.texts()) else { return Ok(()) };
            self.count_steps(effort / 16)?;
            return self.number_after(thread, index, &bytes, next);
        }
        let from = self.position;
        let context = self.context(thread);
        let mut has_read = false;
        for width in self.widths(number, &context) {
            let (seen, to) = (context.parts.len() as u32, (from + width) as u32);
            let waiting = Waiting::new(index, number, (from as u32, to), seen);
            let mut with = context.clone();
            match with.look(number, waiting, self.texts(), self.mode != Mode::Free) {
                Looked::Impossible => continue,
                Looked::Solved => {}
                Looked::Nothing | Looked::Expected(_) => with.waiting.push(waiting),
            }
            // A part that comes later may stand after the open parts, but is no longer than what is left of the rule.
            let left = with.outermost_bound() - waiting.to;
            let is_too_long = |term: &Term<Place>| {
                let part = with.parts.get(term.label.place as usize);
                let is_coded = self.program.operations.labels[term.label.label.index()].is_coded;
                part.is_some_and(|part| part.from == UNKNOWN && part.len != UNKNOWN && part.len > left) && !is_coded
            };
            if number.value.terms.iter().any(is_too_long) {
                continue;
            }
            has_read = true;
            let count = self.contexts.number(with);
            self.read(width, next, Thread { count, ..thread });
        }
        if !has_read {
            self.record_number(index, thread);
        }
        Ok(())
    }

    /// Records that a number is not here, if attempts are recorded.
    pub(super) fn record_number(&mut self, index: u32, thread: Thread) {
        if self.records() {
            let number = &self.program.operations.numbers[index as usize];
            let expected = self.program.expected_number(number, Vec::new(), None);
            self.record(Attempt::derived(expected, 0, self.arena.frames[thread.frame as usize]));
        }
    }

    /// Returns the numbers of bytes that a number may have here.
    fn widths(&self, number: &Number, context: &Context) -> Vec<usize> {
        let rest = &self.text[self.position..context.bound as usize];
        let read = number.form.read_prefixes(rest);
        match number.form.fixed_width().filter(|&width| width <= rest.len() as u64) {
            // A digest is not read as a number: it is compared with the right one.
            Some(width) if read.is_empty() && (self.mode != Mode::Strict || number.value.digest().is_some()) => {
                vec![width as usize]
            }
            _ => read.into_iter().map(|(_, width)| width).collect(),
        }
    }

    /// Reads a number whose parts are complete.
    fn number_after(&mut self, thread: Thread, index: u32, bytes: &[u8], next: u32) -> Result<(), ParseError> {
        let program = self.program;
        let number = &program.operations.numbers[index as usize];
        let expected = || program.expected_number(number, bytes.to_vec(), None);
        if self.literal(bytes, |read, frame| Attempt::derived(expected(), read, frame), thread.frame) {
            self.read(bytes.len(), next, thread);
        } else if self.mode != Mode::Strict {
            let context = self.context(thread);
            for width in self.widths(number, &context) {
                let found = (self.position as u32, (self.position + width) as u32);
                let right = Right::Number(index, bytes.into());
                let list = self.fault(thread.list, Fault { found, right, within: self.frame(thread) });
                self.read(width, next, Thread { list, ..thread });
            }
        }
        Ok(())
    }

    /// Goes on before a round.
    fn round(&mut self, thread: Thread, index: u32, next: u32) {
        let known = &self.program.operations.loops[index as usize];
        let mut context = self.context(thread);
        let left = u64::from(context.bound - self.position as u32);
        let said = known.counted.and_then(|place| Some(context.part(place)?.count)).filter(|&said| said != UNKNOWN);
        let from = if known.min_len == 0 { self.position as u32 } else { UNKNOWN };
        let Some(rounds) = context.rounds.last_mut() else { return };
        rounds.from = from;
        let number = rounds.number;
        match &known.rounds {
            LoopRounds::Times(_) if number == 0 => self.push(next, thread),
            LoopRounds::Times(_) => {
                rounds.number -= 1;
                self.go(known.item, context, thread);
            }
            LoopRounds::Between { min, .. } if number < *min => self.go(known.item, context, thread),
            LoopRounds::Between { max, .. } if *max == Some(number) => self.push(next, thread),
            LoopRounds::Between { .. } => {
                let is_end = said.is_none_or(|said| said == number);
                let more = said.map_or(1, |said| said.saturating_sub(number));
                let is_short = u64::from(more).saturating_mul(known.min_len) <= left;
                let fits = more > 0 && is_short && u64::from(more) <= left + MOST_SAID_EMPTY;
                if is_end && self.allows(next) {
                    let chosen = self.choose(thread, 0);
                    self.push(next, chosen);
                }
                if fits && self.allows(known.item) {
                    let chosen = self.choose(thread, 1);
                    self.go(known.item, context, chosen);
                }
            }
        }
    }

    /// Goes on after a round. An empty one after the least number of rounds leads nowhere, unless rounds are counted.
    fn after_round(&mut self, thread: Thread, index: u32, next: u32) {
        let known = &self.program.operations.loops[index as usize];
        let mut context = self.context(thread);
        let said = known.counted.and_then(|place| Some(context.part(place)?.count)).filter(|&said| said != UNKNOWN);
        let Some(rounds) = context.rounds.last_mut() else { return };
        let is_empty = rounds.from == self.position as u32;
        rounds.from = UNKNOWN;
        if let LoopRounds::Between { min, max, .. } = known.rounds {
            let most = if known.counted.is_some() { MOST_EMPTY.max(min) } else { min };
            if is_empty && rounds.number >= most && said.is_none() {
                return;
            }
            rounds.number = match known.counted {
                Some(_) => rounds.number.saturating_add(1),
                None => rounds.number.saturating_add(1).min(max.unwrap_or(min)),
            };
        }
        self.go(next, context, thread);
    }

    pub(super) fn frame(&self, thread: Thread) -> Frame {
        self.arena.frames[thread.frame as usize]
    }
}
