//! The machine for machine code, which keeps pointers and limits in registers of its own: only windows and buffers are here,
//! and they are touched only where an input begins, ends, or needs more room.

use crate::choices::Choices;
use crate::rt::window::Windows;

use super::{READ_SLOP, STORE_SLOP};

/// Where machine code reads and writes, with the ends of what it may read and write.
#[derive(Clone, Copy, Debug)]
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

/// The choice bytes and the output of one input.
pub struct Input<'m, 's> {
    windows: Windows<'m, 's>,
    window_start: *const u8,
    output: &'m mut Vec<u8>,
}

impl<'m, 's> Input<'m, 's> {
    /// An input that reads at most `max_choices` choice bytes and is appended to `output`, and the cursor before its first
    /// choice.
    #[inline(always)]
    pub fn new(choices: &'m mut Choices<'s>, max_choices: u64, output: &'m mut Vec<u8>) -> (Input<'m, 's>, Cursor) {
        let mut input = Input { windows: Windows::new(choices, max_choices), window_start: std::ptr::null(), output };
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

    /// The cursor from which `choices` bytes may be read and `output` bytes be written, besides what may be looked at or
    /// overwritten behind them: [`READ_SLOP`] and [`STORE_SLOP`] bytes.
    ///
    /// # Safety
    ///
    /// `choice` and `next` must come from this input's last cursor, moved only over bytes within its ends, and all output
    /// before `next` must have been written.
    #[cold]
    pub unsafe fn replenish(&mut self, choice: *const u8, next: *mut u8, choices: usize, output: usize) -> Cursor {
        // SAFETY: the pointers are within the window and the output's capacity, and everything before them was written.
        let (used, len) = unsafe { self.position(choice, next) };
        if self.windows.window().len() - used < choices + READ_SLOP {
            self.windows.refill(used, choices + READ_SLOP);
            self.window_start = self.windows.window().as_ptr();
            return self.cursor(0, len, output);
        }
        self.cursor(used, len, output)
    }

    /// The cursor from which only zeros are read: from here on every site takes option 0.
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

    /// Ends the input; returns the number of choice bytes read.
    ///
    /// # Safety
    ///
    /// As for [`Input::replenish`].
    #[inline(always)]
    pub unsafe fn end(&mut self, choice: *const u8, next: *mut u8) -> u64 {
        // SAFETY: as for this function; all output before `next` was written.
        unsafe {
            let (used, len) = self.position(choice, next);
            self.output.set_len(len);
            self.windows.end(used)
        }
    }

    /// How much of the window was read, and the length of the output.
    #[inline(always)]
    unsafe fn position(&self, choice: *const u8, next: *mut u8) -> (usize, usize) {
        // SAFETY: the caller vouches that the pointers are within the window and the output's capacity.
        unsafe { (choice.offset_from_unsigned(self.window_start), next.offset_from_unsigned(self.output.as_ptr())) }
    }

    fn cursor(&mut self, used: usize, len: usize, room: usize) -> Cursor {
        // SAFETY: the bytes up to `len` are within the capacity and were written.
        unsafe { self.output.set_len(len) };
        if self.output.capacity() - len < room + STORE_SLOP {
            self.output.reserve(room + STORE_SLOP);
        }
        let window = self.windows.window().as_ptr_range();
        let free = self.output.spare_capacity_mut().as_mut_ptr_range();
        Cursor {
            choice: window.start.wrapping_add(used),
            choice_end: window.end,
            output: free.start.cast(),
            output_end: free.end.cast(),
        }
    }
}
