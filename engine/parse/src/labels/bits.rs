//! The steps of threads at bit fields: numbers that share bytes.

use super::context::{Looked, Part, UNKNOWN, Waiting};
use super::faults::{Fault, Right};
use super::{Mode, Threads};
use crate::arena::Thread;
use crate::error::{Attempt, ParseError};

impl Threads<'_, '_> {
    /// Reads the numbers of the program from `first` to `end`, which share bytes.
    pub(super) fn bits(&mut self, thread: Thread, (first, end): (u32, u32), next: u32) -> Result<(), ParseError> {
        let (program, from) = (self.program, self.position);
        let numbers = &program.operations.numbers;
        let width = numbers[first as usize].form.fixed_width().unwrap_or(0) as usize;
        let mut context = self.context(thread);
        let (seen, to) = (context.parts.len() as u32, (from + width) as u32);
        let mut list = thread.list;
        if to > context.bound {
            self.record_number(first, thread);
            return Ok(());
        }
        self.count_steps(u64::from(end - first))?;
        for index in first..end {
            let number = &numbers[index as usize];
            let waiting = Waiting::new(index, number, (from as u32, to), seen);
            match context.look(number, waiting, self.texts(), self.mode != Mode::Free) {
                Looked::Solved => {}
                Looked::Nothing => context.waiting.push(waiting),
                Looked::Impossible => {
                    self.record_number(index, thread);
                    return Ok(());
                }
                Looked::Expected(bytes) => {
                    let expected = || program.expected_number(number, bytes.clone(), None);
                    if self.literal(&bytes, |read, frame| Attempt::derived(expected(), read, frame), thread.frame) {
                        continue;
                    }
                    if self.mode == Mode::Strict {
                        return Ok(());
                    }
                    let right = Right::Number(index, bytes.into());
                    list = self.fault(list, Fault { found: (from as u32, to), right, within: self.frame(thread) });
                }
            }
        }
        let left = context.outermost_bound() - to;
        let is_too_long = |part: &Part| part.from == UNKNOWN && part.len != UNKNOWN && part.len > left;
        if !context.parts.iter().any(is_too_long) {
            let count = self.contexts.number(context);
            self.read(width, next, Thread { count, list, ..thread });
        }
        Ok(())
    }
}
