//! The machine on bare pointers: reads and writes are not checked one by one, a reservation covers all up to the next.

use super::stack::{self, Helper, Level};
use super::tables::Strings;
use super::window::Windows;
use super::{CREDIT_CHOICES, CREDIT_OUTPUT, Depth, entry_of, slack};
use crate::choices::Choices;
use crate::limits::Limits;
use crate::producer::Batch;

mod data;
pub mod native;
mod runs;
mod sites;

/// Place where the machine reads and writes next. It is passed and returned by value so that both stay in registers.
#[derive(Clone, Copy)]
pub struct State {
    /// The next choice byte.
    c: *const u8,
    /// The next output byte.
    o: *mut u8,
}

/// A residual rule: derives an instance with `depth` levels left.
pub type Rule = unsafe fn(&mut Machine<'_, '_>, State, Depth) -> State;

/// Everything about a run that is not in registers.
pub struct Machine<'m, 's> {
    /// Up to here the credit of choice bytes is there; an address.
    choice_mark: usize,
    /// Up to here the credit of output bytes is there; an address.
    output_mark: usize,
    choice_end: *const u8,
    output_end: *mut u8,
    /// Bound - (emitted + minimum of all that is pending), in bytes; meaningful only under a length limit.
    pub slack: u64,
    stack_limit: usize,
    choice_start: *const u8,
    windows: Windows<'m, 's>,
    /// Its length does not change within an input, so that no part of the input remains if the choice source panics.
    output: &'m mut Vec<u8>,
    /// Place where the input of a batch began whose beginning neither the windows nor the output's length tell yet;
    /// null if they do.
    begun: State,
    max_choices: u64,
    /// The machine finishes once it needs room and has written more.
    max_output: u64,
    level: Level,
    /// The thread for what does not fit the caller's stack, once it was needed.
    helper: Option<Box<Helper>>,
    /// The reserved ends, which every access is checked against.
    #[cfg(debug_assertions)]
    reserved: (*const u8, *const u8),
}

/// The instances of a start rule without limits, with a depth limit, and with a depth and a length limit.
pub type Entries = [Rule; 3];

/// Every store may write this many bytes more than it advances by; reservations include it.
pub const STORE_SLOP: usize = Strings::PADDING;
/// Reads may look this many bytes beyond the reserved ones.
pub const READ_SLOP: usize = 8;

/// Returns the last address from which on `credit` bytes lie before `end`; below `start` if there is none.
#[inline(always)]
fn mark(start: usize, end: usize, credit: usize) -> usize {
    if end - start >= credit { end - credit } else { start - 1 }
}

/// Runs a start rule of minimum length `min_len`; returns the number of choice bytes read.
///
/// # Safety
///
/// The entries must keep the contract of [`Machine`]: read and write only what they reserved.
pub unsafe fn run(
    entries: &Entries,
    min_len: u64,
    limits: Limits,
    choices: &mut Choices<'_>,
    output: &mut Vec<u8>,
) -> u64 {
    let mut machine = Machine::new(min_len, limits, choices, output);
    let state = machine.start();
    let (entry, depth) = entry_of(entries, limits);
    // SAFETY: the caller vouches for the entries; the state is that of this machine.
    let state = unsafe { entry(&mut machine, state, depth) };
    // SAFETY: the entry returned a state of this machine.
    unsafe { machine.end(state) }
}

/// Runs a start rule of minimum length `min_len` for each input of a batch; returns the number of choice bytes read.
///
/// # Safety
///
/// As for [`run`].
pub unsafe fn run_batch(
    entries: &Entries,
    min_len: u64,
    limits: Limits,
    choices: &mut Choices<'_>,
    output: &mut Vec<u8>,
    batch: &mut Batch<'_>,
) -> u64 {
    let (entry, depth) = entry_of(entries, limits);
    let mut read = 0;
    while batch.has_room(output.len()) {
        let mut machine = Machine::new(min_len, limits, choices, output);
        let mut s = machine.start();
        loop {
            // SAFETY: the caller vouches for the entries; the state is that of this machine.
            let (behind, goes_on) = unsafe {
                s = entry(&mut machine, s, depth);
                machine.close(s, batch, min_len, limits)
            };
            s = behind;
            if !goes_on {
                break;
            }
        }
        // SAFETY: the state is this machine's.
        read += unsafe { machine.end(s) };
    }
    read
}

impl<'m, 's> Machine<'m, 's> {
    /// Returns a machine for one input, appending to `output`.
    pub fn new(min_len: u64, limits: Limits, choices: &'m mut Choices<'s>, output: &'m mut Vec<u8>) -> Self {
        let windows = Windows::new(choices, limits.choices());
        let window = windows.window().as_ptr_range();
        let room = output.spare_capacity_mut().as_mut_ptr_range();
        Machine {
            choice_mark: mark(window.start.addr(), window.end.addr(), CREDIT_CHOICES + READ_SLOP),
            output_mark: mark(room.start.addr(), room.end.addr(), CREDIT_OUTPUT + STORE_SLOP),
            choice_end: window.end,
            output_end: room.end.cast(),
            slack: slack(min_len, limits),
            stack_limit: stack::stack_pointer().saturating_sub(stack::CALLER_STACK),
            choice_start: window.start,
            windows,
            max_output: limits.output(),
            output,
            begun: State { c: std::ptr::null(), o: std::ptr::null_mut() },
            max_choices: limits.choices(),
            level: Level::Caller,
            helper: None,
            #[cfg(debug_assertions)]
            reserved: (std::ptr::null(), std::ptr::null()),
        }
    }

    /// Returns the state before the first choice.
    pub fn start(&mut self) -> State {
        State { c: self.choice_start, o: self.output.spare_capacity_mut().as_mut_ptr().cast() }
    }

    /// Ends an input of a batch: its separator, and where it ends. Says whether the next one can begin with this
    /// machine.
    ///
    /// # Safety
    ///
    /// `s` must be this machine's state.
    #[inline(always)]
    pub unsafe fn close(&mut self, s: State, batch: &mut Batch<'_>, min_len: u64, limits: Limits) -> (State, bool) {
        let mut s = s;
        if !batch.between().is_empty() {
            // SAFETY: as for this function.
            s = unsafe { self.separate(s, batch.between()) };
        }
        // SAFETY: the state points into the output's capacity.
        let len = unsafe { s.o.offset_from_unsigned(self.output.as_ptr()) };
        batch.close(len);
        // This runs for every input, so everything else waits until it is needed.
        self.begun = s;
        if limits.length().is_some() {
            self.slack = slack(min_len, limits);
        }
        (s, batch.has_room(len) && self.windows.goes_on())
    }

    /// Appends a separator. The choice source is not asked for one.
    #[inline(never)]
    unsafe fn separate(&mut self, s: State, separator: &[u8]) -> State {
        // SAFETY: all bytes up to the state's were written.
        unsafe { self.output.set_len(s.o.offset_from_unsigned(self.output.as_ptr())) };
        self.output.extend_from_slice(separator);
        let room = self.output.spare_capacity_mut().as_mut_ptr_range();
        if room.end.cast() != self.output_end {
            self.output_end = room.end.cast();
            self.output_mark = mark(room.start.addr(), room.end.addr(), CREDIT_OUTPUT + STORE_SLOP);
        }
        State { o: room.start.cast(), ..s }
    }

    /// Reports the beginning of the input in progress to the windows and the output.
    #[inline]
    unsafe fn settle(&mut self) {
        let State { c, o } = self.begun;
        if !c.is_null() {
            self.begun.c = std::ptr::null();
            // SAFETY: the input began within the window and the output, and all before it was written.
            unsafe {
                self.output.set_len(o.offset_from_unsigned(self.output.as_ptr()));
                // Where the window is not choice bytes alone, no input has begun: that one was the last.
                if self.windows.goes_on() {
                    self.windows.next_input(c.offset_from_unsigned(self.choice_start), self.max_choices);
                }
            }
        }
    }

    /// Ends the inputs; returns the number of choice bytes read.
    ///
    /// # Safety
    ///
    /// `s` must be this machine's state, with only reserved reads and writes after it.
    pub unsafe fn end(mut self, s: State) -> u64 {
        // SAFETY: the state points into the output's capacity, and everything before it was written.
        unsafe {
            self.settle();
            let len = s.o.offset_from_unsigned(self.output.as_ptr());
            self.output.set_len(len);
            self.windows.end(s.c.offset_from_unsigned(self.choice_start))
        }
    }

    /// Fills the credit up: makes room for reading [`CREDIT_CHOICES`] and writing [`CREDIT_OUTPUT`] bytes. Two
    /// comparisons, with whatever is needed between here and the next call.
    ///
    /// # Safety
    ///
    /// `s` must be this machine's state.
    #[inline(always)]
    #[must_use]
    pub unsafe fn ensure(&mut self, s: State) -> State {
        if s.c.addr() > self.choice_mark || s.o.addr() > self.output_mark {
            // SAFETY: as for this function.
            return unsafe { self.ensure_slowly(s) };
        }
        #[cfg(debug_assertions)]
        self.note_reserved(s, CREDIT_CHOICES, CREDIT_OUTPUT);
        s
    }

    /// Returns true if the credit may have to be filled up before a rule begins; [`Machine::begin`] does that.
    #[inline(always)]
    pub fn is_low(&mut self, s: State) -> bool {
        let low = s.c.addr() > self.choice_mark || s.o.addr() > self.output_mark;
        #[cfg(debug_assertions)]
        if !low {
            self.note_reserved(s, CREDIT_CHOICES, CREDIT_OUTPUT);
        }
        low
    }

    /// Derives `rule` with the credit filled up. A rule that ends with this call need not keep anything for later.
    ///
    /// # Safety
    ///
    /// As for calling `rule` itself.
    #[cold]
    #[inline(never)]
    pub unsafe fn begin(&mut self, s: State, depth: Depth, rule: Rule) -> State {
        // SAFETY: as for this function.
        unsafe {
            let s = self.ensure_slowly(s);
            rule(self, s, depth)
        }
    }

    #[cold]
    #[inline(never)]
    unsafe fn ensure_slowly(&mut self, s: State) -> State {
        // SAFETY: as for this function.
        unsafe { self.reserve(s, CREDIT_CHOICES, CREDIT_OUTPUT) }
    }

    /// Makes room for reading `choices` and writing `output` bytes.
    ///
    /// # Safety
    ///
    /// `s` must be this machine's state.
    #[inline(always)]
    #[must_use]
    pub unsafe fn reserve(&mut self, mut s: State, choices: usize, output: usize) -> State {
        let readable = self.choice_end as usize - s.c as usize;
        let writable = self.output_end as usize - s.o as usize;
        if readable < choices + READ_SLOP || writable < output + STORE_SLOP {
            // SAFETY: as for this function.
            let moved = unsafe { self.replenish(s, choices, output) };
            #[cfg(debug_assertions)]
            self.forget_reserved(moved.c != s.c, moved.o != s.o);
            s = moved;
        }
        #[cfg(debug_assertions)]
        self.note_reserved(s, choices, output);
        s
    }

    #[cfg(debug_assertions)]
    fn note_reserved(&mut self, s: State, choices: usize, output: usize) {
        self.reserved.0 = self.reserved.0.max(s.c.wrapping_add(choices));
        self.reserved.1 = self.reserved.1.max(s.o.wrapping_add(output).cast_const());
    }

    /// Forgets the reservations in a buffer that has moved.
    #[cfg(debug_assertions)]
    fn forget_reserved(&mut self, choices: bool, output: bool) {
        if choices {
            self.reserved.0 = std::ptr::null();
        }
        if output {
            self.reserved.1 = std::ptr::null();
        }
    }

    /// Checks, in debug builds, every access against the reservations; code must not rely on the slop after them.
    #[inline(always)]
    fn check(&self, s: State, choices: usize, output: usize) {
        #[cfg(debug_assertions)]
        {
            let read = choices == 0 || s.c.wrapping_add(choices) <= self.reserved.0;
            let written = output == 0 || s.o.wrapping_add(output).cast_const() <= self.reserved.1;
            assert!(read && written, "an access is not reserved: a defect of the code generator");
        }
        let _ = (s, choices, output);
    }

    #[cold]
    #[inline(never)]
    unsafe fn replenish(&mut self, mut s: State, choices: usize, output: usize) -> State {
        // SAFETY: the state points into the window and the output's capacity, and everything before it was written.
        unsafe {
            self.settle();
            if (self.output_end as usize - s.o as usize) < output + STORE_SLOP {
                let (base, len) = (self.output.len(), s.o.offset_from_unsigned(self.output.as_ptr()));
                if (len - base) as u64 > self.max_output {
                    self.max_output = u64::MAX;
                    s = self.finished(s);
                }
                let room = output + STORE_SLOP;
                self.output.set_len(len);
                self.output.reserve(room);
                s.o = self.output.as_mut_ptr().add(len);
                // Not beyond the bound, so that the machine stops there to check it.
                let bound = base.saturating_add(usize::try_from(self.max_output).unwrap_or(usize::MAX)).max(len);
                self.output_end = self.output.as_mut_ptr().add(self.output.capacity().min(bound.saturating_add(room)));
                self.output_mark = mark(s.o.addr(), self.output_end.addr(), CREDIT_OUTPUT + STORE_SLOP);
                self.output.set_len(base);
            }
            if (self.choice_end as usize - s.c as usize) < choices + READ_SLOP {
                let used = s.c.offset_from_unsigned(self.choice_start);
                self.windows.refill(used, choices + READ_SLOP);
                s.c = self.enter_window();
            }
        }
        s
    }

    /// Returns the number of bytes that the input has so far. Not for batches.
    ///
    /// # Safety
    ///
    /// `s` must be this machine's state.
    pub unsafe fn emitted(&self, s: State) -> u64 {
        // SAFETY: the state points into the output's capacity.
        unsafe { s.o.offset_from_unsigned(self.output.as_ptr()) as u64 - self.output.len() as u64 }
    }

    /// Lets a function append to the output, in which the input begins at its second argument. Not for batches.
    ///
    /// # Safety
    ///
    /// `s` must be this machine's state. Reservations must be made anew.
    pub unsafe fn append(&mut self, mut s: State, change: impl FnOnce(&mut Vec<u8>, usize)) -> State {
        /// Takes away what was appended if the function panics.
        struct Whole<'o>(&'o mut Vec<u8>, usize);
        impl Drop for Whole<'_> {
            fn drop(&mut self) {
                self.0.truncate(self.1);
            }
        }
        let base = self.output.len();
        // SAFETY: the state points into the output's capacity, and all before it was written.
        let len = unsafe { s.o.offset_from_unsigned(self.output.as_ptr()) };
        // SAFETY: as above.
        unsafe { self.output.set_len(len) };
        let whole = Whole(self.output, base);
        change(whole.0, base);
        let len = whole.0.len();
        drop(whole);
        let room = self.output.spare_capacity_mut().as_mut_ptr_range();
        let bound = usize::try_from(self.max_output).unwrap_or(usize::MAX).max(len - base);
        // Not beyond the bound, so that the machine stops there to check it.
        let end =
            room.end.addr().min(room.start.addr().saturating_add(bound).saturating_add(CREDIT_OUTPUT + STORE_SLOP));
        self.output_end = room.start.cast::<u8>().with_addr(end);
        s.o = room.start.cast::<u8>().wrapping_add(len - base);
        self.output_mark = mark(s.o.addr(), end, CREDIT_OUTPUT + STORE_SLOP);
        #[cfg(debug_assertions)]
        self.forget_reserved(false, true);
        s
    }

    fn enter_window(&mut self) -> *const u8 {
        let window = self.windows.window().as_ptr_range();
        (self.choice_start, self.choice_end) = (window.start, window.end);
        self.choice_mark = mark(window.start.addr(), window.end.addr(), CREDIT_CHOICES + READ_SLOP);
        window.start
    }

    /// Returns true if a rule must not recurse on this stack any more.
    #[inline(always)]
    pub fn stack_is_low(&self) -> bool {
        stack::stack_pointer() < self.stack_limit
    }

    /// Derives `rule` on another stack, or finishes if there is none.
    ///
    /// # Safety
    ///
    /// As for calling `rule` itself.
    #[cold]
    #[inline(never)]
    pub unsafe fn deeper(&mut self, s: State, depth: Depth, rule: Rule) -> State {
        if self.level == Level::Caller
            // SAFETY: as for this function.
            && let Some(state) = unsafe { self.on_helper(s, depth, rule) }
        {
            return state;
        }
        // SAFETY: the state is that of this machine; the rule is called as the caller may.
        unsafe {
            let s = self.finished(s);
            self.stack_limit = 0;
            self.level = Level::Last;
            rule(self, s, depth)
        }
    }

    unsafe fn on_helper(&mut self, s: State, depth: Depth, rule: Rule) -> Option<State> {
        /// Lets the helper borrow the machine while its owner waits.
        struct Lent<T>(T);
        // SAFETY: the owner blocks until the helper has ended, so only one thread uses the machine at a time; choice
        // sources are `Send`, and the rest is memory.
        unsafe impl<T> Send for Lent<T> {}
        impl<T> Lent<T> {
            fn into_inner(self) -> T {
                self.0
            }
        }
        let helper = self.helper.take().or_else(|| Helper::new().map(Box::new))?;
        let caller = (self.stack_limit, self.level);
        let lent = Lent((&mut *self, s));
        let state = helper.run(move |stack_limit| {
            let (machine, s) = lent.into_inner();
            (machine.stack_limit, machine.level) = (stack_limit, Level::Helper);
            // SAFETY: as for the function around.
            Lent(unsafe { rule(machine, s, depth) })
        });
        (self.stack_limit, self.level) = caller;
        self.helper = Some(helper);
        Some(state.into_inner())
    }

    /// Returns the state from which on every site takes option 0.
    ///
    /// # Safety
    ///
    /// `s` must be this machine's state. Reservations must be made anew.
    pub unsafe fn finished(&mut self, mut s: State) -> State {
        // SAFETY: the state points into the window.
        let used = unsafe {
            self.settle();
            s.c.offset_from_unsigned(self.choice_start)
        };
        self.windows.finish(used);
        s.c = self.enter_window();
        #[cfg(debug_assertions)]
        self.forget_reserved(true, false);
        s
    }
}
