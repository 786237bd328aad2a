//! The steps of threads that do not concern labels: as the ordinary machine makes them, within a bound.

use super::Threads;
use super::context::Passed;
use crate::arena::{EMPTY, Frame, NONE, ROOT, Thread};
use crate::error::{Attempt, ParseError};
use crate::machine::first_character;
use crate::program::{NOT, Next, State};

impl Threads<'_, '_> {
    pub(super) fn step(&mut self, thread: Thread) -> Result<(), ParseError> {
        let program = self.program;
        let steps = 1 + self.contexts.take_steps();
        self.count_steps(steps)?;
        let Thread { state, count: context, frame, list } = thread;
        // At its end a callee has no environment any more but its names.
        let context = match program.states[state as usize] {
            State::End => self.contexts.names.alike(self.names(thread)),
            _ => self.contexts.alike(context),
        };
        if program.joins[state as usize] && !self.seen.insert(state, context, frame) {
            return Ok(());
        }
        match program.states[state as usize] {
            State::Bytes { start, len, next } => {
                let bytes = &program.bytes[start as usize..][..len as usize];
                if self.literal(bytes, |read, frame| Attempt::literal(bytes, read, frame), frame) {
                    self.read(bytes.len(), next, thread);
                }
            }
            State::Class { class, next } => self.class(thread, class, next),
            State::Choice { first, count, .. } => {
                let from = self.queue.open.len();
                for place in first..first + count {
                    let (option, target) = (program.options[place as usize], program.targets[place as usize]);
                    if self.allows(target) {
                        let thread = self.choose(thread, option);
                        self.queue.open.push(Thread { state: target, ..thread });
                    }
                }
                self.queue.open[from..].reverse();
                self.count_steps(u64::from(count / 8))?;
            }
            State::Rounds { item, stop, .. } => self.choose_round(thread, item, stop),
            State::Call { callee, next, skip } => {
                let data = &program.callees[callee as usize];
                if data.nullable && skip && !data.has_parameters && self.allows(next) {
                    let list = self.arena.zeros(list, data.zeros);
                    self.queue.open.push(Thread { state: next, list, ..thread });
                }
                self.call(thread, callee, next);
            }
            State::Count { repeat } => self.count(thread, repeat),
            State::Round { repeat } => {
                let repeat = &program.repeats[repeat as usize];
                let done = repeat.after_one_more(self.rounds_done(thread));
                let count = self.with_rounds_done(thread, done);
                self.push(repeat.count, Thread { count, ..thread });
            }
            State::Operation { operation, next } => {
                self.operation(thread, program.operations.operations[operation as usize], next)?;
            }
            // Relaxed programs alone have marks.
            State::Mark { .. } => {}
            State::End => self.end(thread)?,
        }
        Ok(())
    }

    /// Returns true if these bytes come next. Otherwise notes how far they do.
    pub(super) fn literal(&mut self, bytes: &[u8], attempt: impl Fn(usize, Frame) -> Attempt, frame: u32) -> bool {
        let rest = &self.text[self.position..];
        let alike = bytes.iter().zip(rest).take_while(|(a, b)| a == b).count();
        self.found.furthest = self.found.furthest.max(self.position + alike);
        if let Some(read) = self.found.recorded.as_ref().and_then(|&(target, _)| target.checked_sub(self.position))
            && read <= alike
            && read < bytes.len()
        {
            self.record(attempt(read, self.arena.frames[frame as usize]));
        }
        alike == bytes.len()
    }

    fn class(&mut self, thread: Thread, class: u32, next: u32) {
        let class = &self.program.classes[class as usize];
        let member = match &class.places {
            Some(places) => self
                .peek
                .map(|byte| places[usize::from(byte)])
                .filter(|&place| place != NOT)
                .map(|place| (u32::from(place), 1)),
            None => first_character(&self.text[self.position..])
                .and_then(|(character, len)| Some((class.place(character)?, len))),
        };
        if let Some((option, len)) = member
            && self.position + len <= self.bound(thread)
        {
            let chosen = self.choose(thread, option);
            self.read(len, next, chosen);
        }
        if self.records() {
            self.record(Attempt::class(&class.set, self.arena.frames[thread.frame as usize]));
        }
    }

    /// Goes on with another round, which comes first, or without one.
    fn choose_round(&mut self, thread: Thread, item: u32, stop: u32) {
        for (option, target) in [(0, stop), (1, item)] {
            if self.allows(target) {
                let chosen = self.choose(thread, option);
                self.queue.open.push(Thread { state: target, ..chosen });
            }
        }
    }

    /// Begins a callee that is not empty.
    pub(super) fn call(&mut self, thread: Thread, callee: u32, next: u32) {
        let data = &self.program.callees[callee as usize];
        let bound = self.bound(thread);
        let may_begin = self.program.lookahead.begins(data.entry, self.peek) && self.position < bound;
        let may_begin = may_begin || data.has_parameters && data.nullable;
        if !may_begin && !self.records() {
            return;
        }
        let (names, given) = (self.names(thread), self.contexts.get(thread.count).given);
        let passed = Passed { bound: bound as u32, names, given };
        let to = match self.called.frames.get(&(callee, passed)) {
            Some(&known) => {
                if let Some(&list) = self.called.empty.get(&known) {
                    let list = self.arena.join(thread.list, list);
                    self.push(next, Thread { list, ..thread });
                }
                known
            }
            None => {
                let to = self.arena.add_frame(callee, self.position as u32);
                self.called.frames.insert((callee, passed), to);
                let count = self.contexts.of_callee(passed);
                self.queue.open.push(Thread { state: data.entry, count, frame: to, list: EMPTY });
                to
            }
        };
        self.arena.add_edge(to, next, thread.count, thread.frame, thread.list);
        if self.records() && data.is_rule {
            self.record(Attempt::rule(callee, self.arena.frames[thread.frame as usize]));
        }
    }

    /// Goes on before a round of a counted repetition that is a callee.
    fn count(&mut self, thread: Thread, repeat: u32) {
        let repeat = &self.program.repeats[repeat as usize];
        match repeat.next(self.rounds_done(thread)) {
            Next::Round { zeros } => {
                if let Some(zeros) = zeros {
                    let list = self.arena.zeros(thread.list, zeros);
                    self.push(repeat.end, Thread { list, ..thread });
                }
                self.push(repeat.item, thread);
            }
            Next::End => self.push(repeat.end, thread),
            Next::Either => self.choose_round(thread, repeat.item, repeat.end),
        }
    }

    /// Ends a callee: goes on where it was called from.
    fn end(&mut self, thread: Thread) -> Result<(), ParseError> {
        let Thread { frame, list, .. } = thread;
        let data = self.arena.frames[frame as usize];
        if frame == ROOT {
            if self.position == self.text.len() && self.position > 0 && self.found.accepted.is_none() {
                self.found.accepted = Some(list);
            }
            if self.records() {
                self.record(Attempt::end(data));
            }
        }
        // Calls of callees that may be empty have gone on without them. With parameters that follows from the parts.
        if data.position as usize == self.position {
            if !self.program.callees[data.callee as usize].has_parameters || self.called.empty.contains_key(&frame) {
                return Ok(());
            }
            self.called.empty.insert(frame, list);
        }
        if data.single {
            let states = &self.program.states;
            let (top, before) = self.arena.top(frame, |state| matches!(states[state as usize], State::End));
            if top != frame {
                let list = self.arena.join(before, list);
                let callee = self.arena.frames[top as usize].callee;
                let state = self.program.callees[callee as usize].end;
                self.push(state, Thread { state, frame: top, list, ..thread });
                return Ok(());
            }
        }
        let from = self.queue.open.len();
        let names = self.names(thread);
        let mut edge = data.first_edge;
        while edge != NONE {
            let caller = self.arena.edges[edge as usize];
            if self.allows(caller.state) {
                // A wrong copy has no decisions.
                let list = if self.is_copied(caller.state) { caller.list } else { self.arena.join(caller.list, list) };
                let (state, frame) = (caller.state, caller.frame);
                let count = self.contexts.with_names(caller.count, names);
                self.queue.open.push(Thread { state, count, frame, list });
            }
            self.count_steps(1)?;
            edge = caller.next;
        }
        self.queue.open[from..].reverse();
        Ok(())
    }
}
