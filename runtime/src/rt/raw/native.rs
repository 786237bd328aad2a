//! The machine as machine code sees it: the bounds of both windows in plain fields, and the slow paths that move them.

use super::Machine;
use super::State;

/// Where machine code reads and writes, with the ends of what it may read and write.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Cursor {
    /// The next choice byte.
    pub choice: *const u8,
    /// Behind the last choice byte of the window.
    pub choice_end: *const u8,
    /// The next output byte.
    pub output: *mut u8,
    /// Behind the last byte of the output's capacity.
    pub output_end: *mut u8,
}

impl Cursor {
    fn state(&self) -> State {
        State { c: self.choice, o: self.output }
    }
}

impl Machine<'_, '_> {
    /// The cursor before the first choice.
    pub fn cursor(&mut self) -> Cursor {
        let state = self.start();
        self.cursor_at(state)
    }

    fn cursor_at(&self, state: State) -> Cursor {
        Cursor { choice: state.c, choice_end: self.choice_end, output: state.o, output_end: self.output_end }
    }

    /// Makes `choices` bytes readable and `output` bytes writable at the cursor.
    ///
    /// # Safety
    ///
    /// The cursor must be this machine's, moved only over bytes within its ends, and everything before its output must have
    /// been written.
    pub unsafe fn replenish_cursor(&mut self, cursor: &mut Cursor, choices: usize, output: usize) {
        // SAFETY: as for this function.
        let state = unsafe { self.replenish(cursor.state(), choices, output) };
        *cursor = self.cursor_at(state);
    }

    /// Leaves only zeros to read: from here on every site takes option 0.
    ///
    /// # Safety
    ///
    /// As for [`Machine::replenish_cursor`].
    pub unsafe fn finish_cursor(&mut self, cursor: &mut Cursor) {
        // SAFETY: as for this function.
        let state = unsafe { self.finished(cursor.state()) };
        *cursor = self.cursor_at(state);
    }

    /// Ends the input; returns the number of choice bytes read.
    ///
    /// # Safety
    ///
    /// As for [`Machine::replenish_cursor`].
    pub unsafe fn end_at(self, cursor: &Cursor) -> u64 {
        // SAFETY: as for this function.
        unsafe { self.end(cursor.state()) }
    }
}
