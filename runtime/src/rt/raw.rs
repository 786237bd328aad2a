//! The machine on bare pointers: reads and writes are not checked one by one, a reservation covers all up to the next.

use super::stack::{self, Helper, Level};
use super::tables::{CharClass, Strings};
use super::window::Windows;
use super::{CREDIT_CHOICES, CREDIT_OUTPUT, Depth};
use crate::choices::Choices;
use crate::limits::Limits;
use crate::producer::Batch;

mod data;
pub mod native;
mod runs;

/// Where the machine reads and writes next. It is passed and returned by value so that both stay in registers.
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
    /// Its length does not change until the input ends, so that a choice source that panics leaves nothing of it behind.
    output: &'m mut Vec<u8>,
    /// The machine finishes once it needs room and has written more.
    max_output: u64,
    level: Level,
    /// The thread for what does not fit the caller's stack, once it was needed.
    helper: Option<Box<Helper>>,
    /// What is reserved, to hold every access against it.
    #[cfg(debug_assertions)]
    reserved: (*const u8, *const u8),
}

/// The instances of a start rule without limits, with a depth limit, and with a depth and a length limit.
pub type Entries = [Rule; 3];

/// Every store may write this many bytes more than it advances by; reservations include it.
pub const STORE_SLOP: usize = Strings::PADDING;
/// Reads may look this many bytes ahead of what was reserved.
pub const READ_SLOP: usize = 8;

/// The last address from which on `credit` bytes lie before `end`; below `start` if there is none.
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

/// The instance of the start rule that keeps the limits, and the depth that it begins with.
#[inline(always)]
fn entry_of(entries: &Entries, limits: Limits) -> (Rule, Depth) {
    // A length limit alone runs with a depth that is never used up.
    let entry = match (limits.depth(), limits.length()) {
        (None, None) => entries[0],
        (Some(_), None) => entries[1],
        (_, Some(_)) => entries[2],
    };
    (entry, limits.depth().map_or(Depth::MAX, Depth::from))
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
    /// A machine for one input, appending to `output`.
    pub fn new(min_len: u64, limits: Limits, choices: &'m mut Choices<'s>, output: &'m mut Vec<u8>) -> Self {
        let windows = Windows::new(choices, limits.choices());
        let window = windows.window().as_ptr_range();
        let room = output.spare_capacity_mut().as_mut_ptr_range();
        Machine {
            choice_mark: mark(window.start.addr(), window.end.addr(), CREDIT_CHOICES + READ_SLOP),
            output_mark: mark(room.start.addr(), room.end.addr(), CREDIT_OUTPUT + STORE_SLOP),
            choice_end: window.end,
            output_end: room.end.cast(),
            slack: limits.length().map_or(u64::MAX, |bound| bound.saturating_sub(min_len)),
            stack_limit: stack::stack_pointer().saturating_sub(stack::CALLER_STACK),
            choice_start: window.start,
            windows,
            max_output: limits.output(),
            output,
            level: Level::Caller,
            helper: None,
            #[cfg(debug_assertions)]
            reserved: (std::ptr::null(), std::ptr::null()),
        }
    }

    /// The state before the first choice.
    pub fn start(&mut self) -> State {
        State { c: self.choice_start, o: self.output.spare_capacity_mut().as_mut_ptr().cast() }
    }

    /// Ends an input of a batch: its separator, and where it ends. Says whether the next one can begin with this machine.
    ///
    /// # Safety
    ///
    /// `s` must be this machine's state.
    #[inline(always)]
    pub unsafe fn close(&mut self, s: State, batch: &mut Batch<'_>, min_len: u64, limits: Limits) -> (State, bool) {
        let mut s = s;
        // SAFETY: all bytes up to the state's were written.
        unsafe {
            let len = s.o.offset_from_unsigned(self.output.as_ptr());
            self.output.set_len(len);
        }
        if !batch.between().is_empty() {
            // The choice source is not asked for a separator.
            self.output.extend_from_slice(batch.between());
            let room = self.output.spare_capacity_mut().as_mut_ptr_range();
            s.o = room.start.cast();
            if room.end.cast() != self.output_end {
                self.output_end = room.end.cast();
                self.output_mark = mark(room.start.addr(), room.end.addr(), CREDIT_OUTPUT + STORE_SLOP);
            }
        }
        let len = self.output.len();
        batch.close(len);
        // SAFETY: the state is this machine's, between two inputs.
        let goes_on = batch.has_room(len) && unsafe { self.next_input(s, min_len, limits) };
        (s, goes_on)
    }

    /// Begins a further input behind `s`, if that is possible without a new machine.
    ///
    /// # Safety
    ///
    /// `s` must be this machine's state, between two inputs.
    #[inline(always)]
    unsafe fn next_input(&mut self, s: State, min_len: u64, limits: Limits) -> bool {
        // SAFETY: the state points into the window.
        let (used, left) =
            unsafe { (s.c.offset_from_unsigned(self.choice_start), self.choice_end.offset_from_unsigned(s.c) as u64) };
        if left > limits.choices() || !self.windows.next_input(used, limits.choices()) {
            return false;
        }
        self.slack = limits.length().map_or(u64::MAX, |bound| bound.saturating_sub(min_len));
        true
    }

    /// Ends the inputs; returns the number of choice bytes read.
    ///
    /// # Safety
    ///
    /// `s` must be this machine's state, with only reserved reads and writes behind it.
    pub unsafe fn end(mut self, s: State) -> u64 {
        // SAFETY: the state points into the output's capacity, and everything before it was written.
        unsafe {
            let len = s.o.offset_from_unsigned(self.output.as_ptr());
            self.output.set_len(len);
            self.windows.end(s.c.offset_from_unsigned(self.choice_start))
        }
    }

    /// Fills the credit up: makes room for reading [`CREDIT_CHOICES`] and writing [`CREDIT_OUTPUT`] bytes. Two comparisons,
    /// with whatever is needed between here and the next call.
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

    /// What was reserved in a buffer that has moved is not there any more.
    #[cfg(debug_assertions)]
    fn forget_reserved(&mut self, choices: bool, output: bool) {
        if choices {
            self.reserved.0 = std::ptr::null();
        }
        if output {
            self.reserved.1 = std::ptr::null();
        }
    }

    /// Debug builds hold every access against what was reserved; the slop behind it is not for code to rely on.
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
                // No further than to the bound, so that it is looked at there.
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

    fn enter_window(&mut self) -> *const u8 {
        let window = self.windows.window().as_ptr_range();
        (self.choice_start, self.choice_end) = (window.start, window.end);
        self.choice_mark = mark(window.start.addr(), window.end.addr(), CREDIT_CHOICES + READ_SLOP);
        window.start
    }

    /// Whether a rule must not recurse on this stack any more.
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

    /// The state from which on every site takes option 0.
    ///
    /// # Safety
    ///
    /// `s` must be this machine's state. What was reserved must be reserved anew.
    pub unsafe fn finished(&mut self, mut s: State) -> State {
        // SAFETY: the state points into the window.
        let used = unsafe { s.c.offset_from_unsigned(self.choice_start) };
        self.windows.finish(used);
        s.c = self.enter_window();
        #[cfg(debug_assertions)]
        self.forget_reserved(true, false);
        s
    }

    /// Emits one of `strings` (one site), or, if the length limit leaves none, the shortest string of the rule.
    ///
    /// # Safety
    ///
    /// Three choice bytes and the longest string must be reserved.
    #[inline(always)]
    #[must_use]
    pub unsafe fn string<const LEN: bool>(&mut self, mut s: State, strings: &'static Strings) -> State {
        // SAFETY: the site and the longest string are reserved (the shortest string of the rule is shorter still); the
        // index is below the count of strings.
        unsafe {
            if LEN {
                let offered = strings.offered(self.slack);
                if offered == 0 {
                    return self.put_slice(s, strings.shortest());
                }
                let index = self.pick(&mut s, offered as u32);
                self.slack -= strings.cost(index);
                return self.put_string(s, strings, index);
            }
            let count = strings.count();
            let index = self.pick(&mut s, count as u32);
            self.put_string(s, strings, index)
        }
    }

    /// Emits the string with this index, whose place is reserved, without a site.
    ///
    /// # Safety
    ///
    /// Room for the string must be reserved, and `index` below the count of strings.
    #[inline(always)]
    #[must_use]
    pub unsafe fn put_string(&mut self, s: State, strings: &'static Strings, index: usize) -> State {
        self.check(s, 0, strings.get(index).len());
        // SAFETY: as for this function.
        unsafe { put_string(s, strings, index) }
    }

    /// Emits bytes of any length, with their own reservation.
    ///
    /// # Safety
    ///
    /// `s` must be this machine's state.
    #[must_use]
    #[inline]
    pub unsafe fn put_slice(&mut self, s: State, bytes: &[u8]) -> State {
        // SAFETY: the reservation covers the bytes, which do not overlap the output's spare capacity.
        unsafe {
            let mut s = self.reserve(s, 0, bytes.len());
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), s.o, bytes.len());
            s.o = s.o.add(bytes.len());
            s
        }
    }

    /// Emits a member of a class (one site).
    ///
    /// # Safety
    ///
    /// Three choice bytes and four output bytes must be reserved.
    #[inline]
    #[must_use]
    pub unsafe fn member<const LEN: bool>(&mut self, mut s: State, class: &'static CharClass) -> State {
        self.check(s, 0, 4);
        let offered = if LEN { class.offered(self.slack) } else { class.count() };
        // SAFETY: the site reads at most three bytes; four bytes are stored.
        unsafe {
            let index = self.pick(&mut s, offered);
            let (bytes, len) = class.encoded(index as u32);
            if LEN {
                self.slack -= class.cost(len);
            }
            s.o.cast::<[u8; 4]>().write_unaligned(bytes);
            s.o = s.o.add(len);
        }
        s
    }

    /// Decides a site of equally probable options under the length limit: `costs` ascend from 0.
    ///
    /// # Safety
    ///
    /// Three choice bytes must be reserved.
    pub unsafe fn pick_within(&mut self, s: &mut State, costs: &[u64]) -> usize {
        let offered = costs.partition_point(|&cost| cost <= self.slack);
        // SAFETY: a site reads at most three bytes.
        let option = unsafe { self.pick(s, offered as u32) };
        self.slack -= costs[option];
        option
    }

    /// Decides a weighted site of 2^`bits` slots under the length limit: `ends` as in the grammar, `costs` ascend from 0.
    ///
    /// # Safety
    ///
    /// Three choice bytes must be reserved.
    pub unsafe fn pick_slot_within(&mut self, s: &mut State, bits: u32, ends: &[u32], costs: &[u64]) -> usize {
        let offered = costs.partition_point(|&cost| cost <= self.slack);
        let option = if offered <= 1 {
            0
        } else {
            // SAFETY: a site reads at most three bytes.
            let value = unsafe { self.value(s, bits) };
            let slot = ((u64::from(value) * u64::from(ends[offered - 1])) >> bits) as u32;
            ends.partition_point(|&end| end <= slot)
        };
        self.slack -= costs[option];
        option
    }

    /// The next `bits` / 8 choice bytes, little endian; `bits` is 8, 16 or 24.
    ///
    /// # Safety
    ///
    /// They must be reserved.
    #[inline(always)]
    pub unsafe fn value(&self, s: &mut State, bits: u32) -> u32 {
        self.check(*s, bits as usize / 8, 0);
        // SAFETY: up to three bytes are reserved, and reading four is within the slop.
        unsafe {
            let word = s.c.cast::<u32>().read_unaligned().to_le();
            s.c = s.c.add(bits as usize / 8);
            word & ((1 << bits) - 1)
        }
    }

    /// Decides a site of `count` (2 to 256) equally probable options.
    ///
    /// # Safety
    ///
    /// One choice byte must be reserved.
    #[inline(always)]
    pub unsafe fn pick8(&self, s: &mut State, count: u32) -> usize {
        self.check(*s, 1, 0);
        // SAFETY: one byte is reserved.
        unsafe {
            let byte = u32::from(*s.c);
            s.c = s.c.add(1);
            ((byte * count) >> 8) as usize
        }
    }

    /// Decides a site of any number of equally probable options.
    ///
    /// # Safety
    ///
    /// As many choice bytes as the site reads (at most three) must be reserved.
    #[inline(always)]
    pub unsafe fn pick(&self, s: &mut State, count: u32) -> usize {
        let bits = match count {
            0 | 1 => return 0,
            2..=256 => 8,
            257..=65536 => 16,
            _ => 24,
        };
        // SAFETY: as for this function.
        let value = unsafe { self.value(s, bits) };
        ((u64::from(value) * u64::from(count)) >> bits) as usize
    }

    /// The choice byte of a site.
    ///
    /// # Safety
    ///
    /// It must be reserved.
    #[inline(always)]
    pub unsafe fn byte(&self, s: &mut State) -> u8 {
        // SAFETY: as for this function.
        unsafe { self.value(s, 8) as u8 }
    }

    /// Emits a literal.
    ///
    /// # Safety
    ///
    /// Its bytes must be reserved.
    #[inline(always)]
    pub unsafe fn put<const N: usize>(&self, s: &mut State, bytes: &[u8; N]) {
        self.check(*s, 0, N);
        // SAFETY: the bytes are reserved.
        unsafe {
            s.o.cast::<[u8; N]>().write_unaligned(*bytes);
            s.o = s.o.add(N);
        }
    }

    /// Emits one byte.
    ///
    /// # Safety
    ///
    /// It must be reserved.
    #[inline(always)]
    pub unsafe fn put_byte(&self, s: &mut State, byte: u8) {
        self.check(*s, 0, 1);
        // SAFETY: the byte is reserved.
        unsafe {
            *s.o = byte;
            s.o = s.o.add(1);
        }
    }

    /// Emits a literal of up to seven bytes from a table: packed little endian with its length in the top byte.
    ///
    /// # Safety
    ///
    /// Its bytes must be reserved, and `index` below the length of the table.
    #[inline(always)]
    pub unsafe fn put_packed(&self, s: &mut State, table: &[u64], index: usize) {
        debug_assert!(index < table.len());
        // SAFETY: the literal's bytes are reserved, and storing all eight is within the slop; the caller vouches for the index.
        unsafe {
            let packed = *table.get_unchecked(index);
            self.check(*s, 0, (packed >> 56) as usize);
            s.o.cast::<[u8; 8]>().write_unaligned(packed.to_le_bytes());
            s.o = s.o.add((packed >> 56) as usize);
        }
    }

    /// Decides a site of `count` (2 to 256) options that may lead to a second site: an option's entry holds the number of
    /// its first leaf in the lower half, and the number of its leaves in the upper half; one leaf needs no site.
    ///
    /// # Safety
    ///
    /// Two choice bytes must be reserved, and there must be `count` entries.
    #[inline(always)]
    pub unsafe fn pick_nested(&self, s: &mut State, count: u32, entries: &[u32]) -> usize {
        self.check(*s, 2, 0);
        // SAFETY: as for this function; reading the second byte where it is not part of a site is within the reservation.
        unsafe {
            let entry = *entries.get_unchecked(self.pick8(s, count));
            let (first, leaves) = (entry & 0xFFFF, entry >> 16);
            let byte = u32::from(*s.c);
            s.c = s.c.add(usize::from(leaves > 1));
            (first + ((byte * leaves) >> 8)) as usize
        }
    }

    /// A site whose options are one byte each: emits the byte that the choice byte leads to.
    ///
    /// # Safety
    ///
    /// One choice byte and one output byte must be reserved.
    #[inline(always)]
    pub unsafe fn put_mapped(&self, s: &mut State, table: &[u8; 256]) {
        // SAFETY: as for this function.
        unsafe {
            let byte = self.value(s, 8);
            self.put_byte(s, table[byte as usize]);
        }
    }

    /// Emits a literal of up to 15 bytes that holds its length in its last byte.
    ///
    /// # Safety
    ///
    /// Its bytes must be reserved.
    #[inline(always)]
    pub unsafe fn put_short(&self, s: &mut State, text: &[u8; 16]) {
        debug_assert!(text[15] <= 15);
        // SAFETY: the literal's bytes are reserved, and storing all sixteen is within the slop.
        unsafe {
            s.o.cast::<[u8; 16]>().write_unaligned(*text);
            s.o = s.o.add(usize::from(text[15]));
        }
    }

    /// The option of a weighted site of 256 slots, from the table of its slots.
    ///
    /// # Safety
    ///
    /// One choice byte must be reserved.
    #[inline(always)]
    pub unsafe fn pick_mapped(&self, s: &mut State, options: &[u8; 256]) -> usize {
        // SAFETY: as for this function.
        usize::from(options[unsafe { self.value(s, 8) } as usize])
    }

    /// The option of a weighted site of 2^`bits` slots, from the ends of its options.
    ///
    /// # Safety
    ///
    /// The site's choice bytes (`bits` / 8) must be reserved.
    #[inline]
    pub unsafe fn pick_slot(&self, s: &mut State, bits: u32, ends: &[u32]) -> usize {
        // SAFETY: as for this function.
        let slot = unsafe { self.value(s, bits) };
        ends.partition_point(|&end| end <= slot)
    }
}

/// Emits the string with this index.
///
/// # Safety
///
/// Its bytes must be reserved, and `index` below the count of strings.
#[inline(always)]
unsafe fn put_string(mut s: State, strings: &'static Strings, index: usize) -> State {
    // SAFETY: the string's bytes are reserved; what the last block reads beyond the string is its table's padding (or
    // the next string), what it writes beyond it is within the slop.
    unsafe {
        let (text, len) = strings.get_unchecked(index);
        if strings.max_len() <= 32 {
            s.o.cast::<[u8; 32]>().write_unaligned(text.cast::<[u8; 32]>().read_unaligned());
        } else if strings.max_len() <= Strings::PADDING {
            let block = text.cast::<[u8; Strings::PADDING]>().read_unaligned();
            s.o.cast::<[u8; Strings::PADDING]>().write_unaligned(block);
        } else {
            let mut at = 0;
            loop {
                let block = text.add(at).cast::<[u8; Strings::PADDING]>().read_unaligned();
                s.o.add(at).cast::<[u8; Strings::PADDING]>().write_unaligned(block);
                at += Strings::PADDING;
                if at >= len {
                    break;
                }
            }
        }
        s.o = s.o.add(len);
        s
    }
}
