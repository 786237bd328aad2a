//! The machine for machine code, which keeps pointers and limits in registers of its own: only windows and buffers are
//! here, and they are touched only where an input begins, ends, or needs more room.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::choices::Choices;
use crate::limits::Limits;
use crate::rt::window::Windows;

use super::{READ_SLOP, STORE_SLOP};

/// Place where machine code reads and writes next, and the ends of its windows.
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    /// The next choice byte.
    pub choice: *const u8,
    /// The end of the choice bytes of the window.
    pub choice_end: *const u8,
    /// The next output byte.
    pub output: *mut u8,
    /// The end of the output's capacity.
    pub output_end: *mut u8,
}

/// The choice bytes and the output of one input.
pub struct Input<'m, 's> {
    windows: Windows<'m, 's>,
    window_start: *const u8,
    /// Its length does not change until the end, so that nothing remains if the choice source panics.
    output: &'m mut Vec<u8>,
    /// The input finishes once it needs room and has written more.
    max_output: u64,
    max_choices: u64,
    /// The panic of the choice source or of a slow path. Machine code cannot be unwound, so the input finishes first.
    panic: Option<Panic>,
}

/// The payload of a panic.
pub type Panic = Box<dyn Any + Send>;

impl<'m, 's> Input<'m, 's> {
    /// Returns an input within the bounds of `limits` on choice bytes and memory, which is appended to `output`, and
    /// the cursor before its first choice.
    #[inline(always)]
    pub fn new(choices: &'m mut Choices<'s>, limits: Limits, output: &'m mut Vec<u8>) -> (Input<'m, 's>, Cursor) {
        let windows = Windows::new(choices, limits.choices());
        let (max_output, max_choices) = (limits.output(), limits.choices());
        let mut input = Input { windows, window_start: std::ptr::null(), output, max_output, max_choices, panic: None };
        let window = input.windows.window().as_ptr_range();
        input.window_start = window.start;
        let room = input.output.spare_capacity_mut().as_mut_ptr_range();
        let cursor = Cursor {
            choice: window.start,
            choice_end: window.end,
            output: room.start.cast(),
            output_end: room.end.cast(),
        };
        (input, cursor)
    }

    /// Returns the cursor from which `choices` bytes may be read and `output` bytes be written, not counting the bytes
    /// after them that may be read or overwritten: [`READ_SLOP`] and [`STORE_SLOP`] bytes.
    ///
    /// # Safety
    ///
    /// `choice` and `next` must come from this input's last cursor, moved only over bytes within its ends, and all
    /// output before `next` must have been written.
    #[cold]
    pub unsafe fn replenish(&mut self, choice: *const u8, next: *mut u8, choices: usize, output: usize) -> Cursor {
        // SAFETY: the pointers are within the window and the output's capacity, and everything before them was written.
        let (mut used, len) = unsafe { self.position(choice, next) };
        if (len - self.output.len()) as u64 > self.max_output {
            self.max_output = u64::MAX;
            self.windows.finish(used);
            self.window_start = self.windows.window().as_ptr();
            used = 0;
        }
        if self.windows.window().len() - used < choices + READ_SLOP {
            let refill = AssertUnwindSafe(|| self.windows.refill(used, choices + READ_SLOP));
            if let Err(panic) = catch_unwind(refill) {
                // The bytes that were used are counted already.
                self.windows.finish(0);
                self.panic = Some(panic);
            }
            self.window_start = self.windows.window().as_ptr();
            return self.cursor(0, len, output);
        }
        self.cursor(used, len, output)
    }

    /// Returns the cursor from which only zeros are read: from here on every site takes option 0.
    ///
    /// # Safety
    ///
    /// As for [`Input::replenish`].
    #[cold]
    pub unsafe fn finish(&mut self, choice: *const u8, next: *mut u8) -> Cursor {
        // SAFETY: as for this function.
        let (used, len) = unsafe { self.position(choice, next) };
        self.windows.finish(used);
        self.window_start = self.windows.window().as_ptr();
        self.cursor(0, len, 0)
    }

    /// Lets a function append to the output, in which the input begins at its second argument. Returns the cursor from
    /// which `room` bytes may be written. If the function panics, the input finishes.
    ///
    /// # Safety
    ///
    /// As for [`Input::replenish`]; the input must have been told where it begins.
    pub unsafe fn append(
        &mut self,
        choice: *const u8,
        next: *mut u8,
        room: usize,
        change: impl FnOnce(&mut Vec<u8>, usize),
    ) -> Cursor {
        // SAFETY: as for this function.
        let (mut used, len) = unsafe { self.position(choice, next) };
        let base = self.output.len();
        // SAFETY: all output before `next` was written.
        unsafe { self.output.set_len(len) };
        let changed = catch_unwind(AssertUnwindSafe(|| change(self.output, base)));
        if let Err(panic) = changed {
            self.keep(used, panic);
            used = 0;
        }
        let len = self.output.len();
        self.output.truncate(base);
        self.cursor(used, len.max(self.output.len()), room)
    }

    /// Keeps a panic of a slow path, which [`Input::end`] passes on. Returns the cursor from which the input finishes.
    ///
    /// # Safety
    ///
    /// As for [`Input::replenish`]; the input must have been told where it begins.
    #[cold]
    pub unsafe fn stop(&mut self, choice: *const u8, next: *mut u8, panic: Panic) -> Cursor {
        // SAFETY: as for this function.
        let (used, len) = unsafe { self.position(choice, next) };
        self.keep(used, panic);
        self.cursor(0, len, 0)
    }

    #[cold]
    fn keep(&mut self, used: usize, panic: Panic) {
        self.windows.finish(used);
        self.window_start = self.windows.window().as_ptr();
        self.panic.get_or_insert(panic);
    }

    /// Returns the place where the input begins, if the input was told of it.
    #[inline(always)]
    pub fn beginning(&self) -> *const u8 {
        self.output.as_ptr_range().end
    }

    /// Ends the input; returns the number of choice bytes read, by all inputs of a batch.
    ///
    /// # Panics
    ///
    /// If the choice source did.
    ///
    /// # Safety
    ///
    /// As for [`Input::replenish`].
    #[inline(always)]
    pub unsafe fn end(&mut self, choice: *const u8, next: *mut u8) -> u64 {
        if let Some(panic) = self.panic.take() {
            resume_unwind(panic);
        }
        // SAFETY: as for this function; all output before `next` was written.
        unsafe {
            let (used, len) = self.position(choice, next);
            self.output.set_len(len);
            self.windows.end(used)
        }
    }

    /// Says that the inputs before these pointers have ended and that a further one begins there.
    ///
    /// # Safety
    ///
    /// As for [`Input::replenish`]; the pointers must be those of the last cursor's window and output.
    pub unsafe fn begin(&mut self, choice: *const u8, next: *mut u8) {
        // SAFETY: as for this function; all output before `next` was written.
        let used = unsafe {
            let (used, len) = self.position(choice, next);
            self.output.set_len(len);
            used
        };
        // Where the window is not choice bytes alone, no input begins: the one before was the last.
        if self.goes_on() {
            self.windows.next_input(used, self.max_choices);
        }
    }

    /// Returns true if a further input can begin after this one.
    #[inline(always)]
    pub fn goes_on(&self) -> bool {
        self.windows.goes_on()
    }

    /// Returns true if the choice source or a slow path has panicked in this input, which is then void.
    #[inline(always)]
    pub fn has_panicked(&self) -> bool {
        self.panic.is_some()
    }

    /// Returns the place where the output begins.
    #[inline(always)]
    pub fn base(&self) -> *const u8 {
        self.output.as_ptr()
    }

    /// Returns the cursor at the beginning of an input of a batch.
    ///
    /// # Safety
    ///
    /// As for [`Input::replenish`].
    #[cold]
    pub unsafe fn resume(&mut self, choice: *const u8, next: *mut u8) -> Cursor {
        // SAFETY: as for this function.
        let (used, len) = unsafe { self.position(choice, next) };
        self.cursor(used, len, 0)
    }

    /// Returns how much of the window was read, and the length of the output.
    #[inline(always)]
    unsafe fn position(&self, choice: *const u8, next: *mut u8) -> (usize, usize) {
        // SAFETY: the caller vouches that the pointers are within the window and the output's capacity.
        unsafe { (choice.offset_from_unsigned(self.window_start), next.offset_from_unsigned(self.output.as_ptr())) }
    }

    fn cursor(&mut self, used: usize, len: usize, room: usize) -> Cursor {
        let room = room + STORE_SLOP;
        if self.output.capacity() - len < room {
            let base = self.output.len();
            // SAFETY: the bytes up to `len` are within the capacity and were written.
            unsafe { self.output.set_len(len) };
            self.output.reserve(room);
            self.output.truncate(base);
        }
        // Not beyond the bound, so that the machine stops there to check it.
        let bound = usize::try_from(self.max_output).map_or(usize::MAX, |most| self.output.len().saturating_add(most));
        let end = self.output.capacity().min(bound.max(len).saturating_add(room));
        let window = self.windows.window().as_ptr_range();
        let start = self.output.as_mut_ptr();
        Cursor {
            choice: window.start.wrapping_add(used),
            choice_end: window.end,
            output: start.wrapping_add(len),
            output_end: start.wrapping_add(end),
        }
    }
}
