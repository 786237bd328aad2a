//! The machine without unsafe code: the same methods as [`super::raw`], every access checked.
//!
//! State is made of indices; reservations keep the window and the output long enough, and a generated producer that
//! reserved too little would panic instead of corrupting memory.

#![forbid(unsafe_code)]

use super::stack::{self, Helper, Level};
use super::tables::{CharClass, Star, Strings};
use super::window::Windows;
use super::{CREDIT_CHOICES, CREDIT_OUTPUT, Depth, RunEnd, entry_of, rounds, slack};
use crate::choices::Choices;
use crate::limits::Limits;
use crate::producer::Batch;

/// Place where the machine reads and writes next.
#[derive(Clone, Copy)]
pub struct State {
    /// Index of the next choice byte in the window.
    c: usize,
    /// Index of the next output byte.
    o: usize,
}

/// A residual rule: derives an instance with `depth` levels left.
pub type Rule = fn(&mut Machine<'_, '_>, State, Depth) -> State;

/// Everything about a run that is not in registers.
pub struct Machine<'m, 's> {
    /// Bound - (emitted + minimum of all that is pending), in bytes; meaningful only under a length limit.
    pub slack: u64,
    window: Vec<u8>,
    windows: Windows<'m, 's>,
    output: Output<'m>,
    /// The machine finishes once it needs room and has written more.
    max_output: u64,
    stack_limit: usize,
    level: Level,
    /// The thread for what does not fit the caller's stack, once it was needed.
    helper: Option<Box<Helper>>,
}

/// The caller's output: written up to the state's index, then zeros.
struct Output<'m> {
    bytes: &'m mut Vec<u8>,
    /// Place where this input begins.
    base: usize,
    /// The length to keep when the machine is done; without this input if its choice source panics.
    kept: usize,
}

impl Drop for Output<'_> {
    fn drop(&mut self) {
        self.bytes.truncate(self.kept);
    }
}

/// The instances of a start rule without limits, with a depth limit, and with a depth and a length limit.
pub type Entries = [Rule; 3];

/// The number of bytes that accesses may touch beyond a reservation, as in [`super::raw`].
const SLOP: usize = Strings::PADDING;

/// Number of choice bytes that the first window copies; later windows double up to [`MAX_WINDOW`], so that a short
/// input costs little.
const MIN_WINDOW: usize = 128;
const MAX_WINDOW: usize = 1 << 14;

/// Runs a start rule of minimum length `min_len`; returns the number of choice bytes read.
pub fn run(entries: &Entries, min_len: u64, limits: Limits, choices: &mut Choices<'_>, output: &mut Vec<u8>) -> u64 {
    let (entry, depth) = entry_of(entries, limits);
    let (mut machine, start) = Machine::new(min_len, limits, choices, output);
    let state = entry(&mut machine, start, depth);
    machine.output.kept = state.o;
    machine.windows.end(state.c)
}

/// Runs a start rule of minimum length `min_len` for each input of a batch; returns the number of choice bytes read.
pub fn run_batch(
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
        let (mut machine, mut s) = Machine::new(min_len, limits, choices, output);
        loop {
            s = entry(&mut machine, s, depth);
            s = machine.put_slice(s, batch.between());
            (machine.output.base, machine.output.kept) = (s.o, s.o);
            batch.close(s.o);
            if !batch.has_room(s.o) || !machine.next_input(s, min_len, limits) {
                break;
            }
        }
        read += machine.windows.end(s.c);
    }
    read
}

impl<'m, 's> Machine<'m, 's> {
    /// Returns a machine for inputs that are appended to `output`, and its state before the first choice.
    fn new(min_len: u64, limits: Limits, choices: &'m mut Choices<'s>, output: &'m mut Vec<u8>) -> (Self, State) {
        let start = State { c: 0, o: output.len() };
        let machine = Machine {
            slack: slack(min_len, limits),
            window: Vec::new(),
            windows: Windows::new(choices, limits.choices()),
            max_output: limits.output(),
            output: Output { base: start.o, kept: start.o, bytes: output },
            stack_limit: stack::stack_pointer().saturating_sub(stack::CALLER_STACK),
            level: Level::Caller,
            helper: None,
        };
        (machine, start)
    }

    /// Begins a further input, if that is possible without a new machine.
    fn next_input(&mut self, s: State, min_len: u64, limits: Limits) -> bool {
        self.slack = slack(min_len, limits);
        let goes_on = (self.window.len() - s.c) as u64 <= limits.choices() && self.windows.goes_on();
        if goes_on {
            self.windows.next_input(s.c, limits.choices());
        }
        goes_on
    }
}

impl Machine<'_, '_> {
    /// Fills the credit up; see [`super::raw::Machine::ensure`].
    #[inline(always)]
    #[must_use]
    pub fn ensure(&mut self, s: State) -> State {
        self.reserve(s, CREDIT_CHOICES, CREDIT_OUTPUT)
    }

    /// Returns true if the credit may have to be filled up before a rule begins; see [`super::raw::Machine::is_low`].
    #[inline(always)]
    pub fn is_low(&self, s: State) -> bool {
        self.is_short(s, CREDIT_CHOICES, CREDIT_OUTPUT)
    }

    /// Derives `rule` with the credit filled up; see [`super::raw::Machine::begin`].
    #[cold]
    #[inline(never)]
    pub fn begin(&mut self, s: State, depth: Depth, rule: Rule) -> State {
        let s = self.ensure(s);
        rule(self, s, depth)
    }

    /// Makes room for reading `choices` and writing `output` bytes.
    #[inline(always)]
    #[must_use]
    pub fn reserve(&mut self, s: State, choices: usize, output: usize) -> State {
        if self.is_short(s, choices, output) {
            return self.replenish(s, choices, output);
        }
        s
    }

    #[inline(always)]
    fn is_short(&self, s: State, choices: usize, output: usize) -> bool {
        self.window.len() < s.c + choices + SLOP || self.output.bytes.len() < s.o + output + SLOP
    }

    #[cold]
    #[inline(never)]
    fn replenish(&mut self, mut s: State, choices: usize, output: usize) -> State {
        let wanted = s.o + output + SLOP;
        if self.output.bytes.len() < wanted {
            if (s.o - self.output.base) as u64 > self.max_output {
                self.max_output = u64::MAX;
                s = self.finished(s);
            }
            // Doubling the bytes that this input wrote keeps the zeros in proportion to it; but not beyond the bound,
            // so that the machine stops there to check it.
            let bound = self.output.base.saturating_add(usize::try_from(self.max_output).unwrap_or(usize::MAX));
            let len = wanted.max(bound.saturating_add(output + SLOP).min(wanted + 256 + (s.o - self.output.base)));
            self.output.bytes.resize(len, 0);
        }
        if self.window.len() < s.c + choices + SLOP {
            self.windows.refill(s.c, choices + SLOP);
            s.c = 0;
            self.enter_window(choices + SLOP);
        }
        s
    }

    fn enter_window(&mut self, wanted: usize) {
        let window = self.windows.window();
        let copied = (2 * self.window.len()).clamp(MIN_WINDOW, MAX_WINDOW).max(wanted).min(window.len());
        self.window.clear();
        self.window.extend_from_slice(&window[..copied]);
    }

    /// Returns true if a rule must not recurse on this stack any more.
    #[inline(always)]
    pub fn stack_is_low(&self) -> bool {
        stack::stack_pointer() < self.stack_limit
    }

    /// Derives `rule` on another stack, or finishes if there is none.
    #[cold]
    #[inline(never)]
    pub fn deeper(&mut self, s: State, depth: Depth, rule: Rule) -> State {
        if self.level == Level::Caller
            && let Some(state) = self.on_helper(s, depth, rule)
        {
            return state;
        }
        let s = self.finished(s);
        self.stack_limit = 0;
        self.level = Level::Last;
        rule(self, s, depth)
    }

    /// Returns the state from which on every site takes option 0.
    fn finished(&mut self, s: State) -> State {
        self.windows.finish(s.c);
        self.enter_window(0);
        State { c: 0, ..s }
    }

    fn on_helper(&mut self, s: State, depth: Depth, rule: Rule) -> Option<State> {
        let helper = self.helper.take().or_else(|| Helper::new().map(Box::new))?;
        let caller = (self.stack_limit, self.level);
        let machine = &mut *self;
        let state = helper.run(move |stack_limit| {
            (machine.stack_limit, machine.level) = (stack_limit, Level::Helper);
            rule(machine, s, depth)
        });
        (self.stack_limit, self.level) = caller;
        self.helper = Some(helper);
        Some(state)
    }

    /// Emits one of `strings` (one site), or, if the length limit leaves none, the shortest string of the rule.
    #[must_use]
    pub fn string<const LEN: bool>(&mut self, mut s: State, strings: &'static Strings) -> State {
        let offered = if LEN { strings.offered(self.slack) } else { strings.count() };
        if offered == 0 {
            return self.put_slice(s, strings.shortest());
        }
        let index = self.pick(&mut s, offered as u32);
        if LEN {
            self.slack -= strings.cost(index);
        }
        self.put_string(s, strings, index)
    }

    /// Emits the string with this index, whose place is reserved, without a site.
    #[must_use]
    pub fn put_string(&mut self, mut s: State, strings: &'static Strings, index: usize) -> State {
        self.write(&mut s, strings.get(index));
        s
    }

    /// Emits bytes of any length, with their own reservation.
    #[must_use]
    pub fn put_slice(&mut self, s: State, bytes: &[u8]) -> State {
        let mut s = self.reserve(s, 0, bytes.len());
        self.write(&mut s, bytes);
        s
    }

    #[inline(always)]
    fn write(&mut self, s: &mut State, bytes: &[u8]) {
        self.output.bytes[s.o..s.o + bytes.len()].copy_from_slice(bytes);
        s.o += bytes.len();
    }

    /// Emits a member of a class (one site).
    #[must_use]
    pub fn member<const LEN: bool>(&mut self, mut s: State, class: &'static CharClass) -> State {
        let offered = if LEN { class.offered(self.slack) } else { class.count() };
        let index = self.pick(&mut s, offered);
        let (bytes, len) = class.encoded(index as u32);
        if LEN {
            self.slack -= class.cost(len);
        }
        self.write(&mut s, &bytes[..len]);
        s
    }

    /// Decides a site of equally probable options under the length limit: `costs` ascend from 0.
    pub fn pick_within(&mut self, s: &mut State, costs: &[u64]) -> usize {
        let offered = costs.partition_point(|&cost| cost <= self.slack);
        let option = self.pick(s, offered as u32);
        self.slack -= costs[option];
        option
    }

    /// Decides a weighted site of 2^`bits` slots under the length limit: `ends` as in the grammar, `costs` ascend from
    /// 0.
    pub fn pick_slot_within(&mut self, s: &mut State, bits: u32, ends: &[u32], costs: &[u64]) -> usize {
        let offered = costs.partition_point(|&cost| cost <= self.slack);
        let mut option = 0;
        if offered > 1 {
            let slot = ((u64::from(self.value(s, bits)) * u64::from(ends[offered - 1])) >> bits) as u32;
            option = ends.partition_point(|&end| end <= slot);
        }
        self.slack -= costs[option];
        option
    }

    /// Derives rounds of a repetition whose item is one byte; see [`super::raw::Machine::run`].
    pub fn run<const PLUS: bool>(
        &mut self,
        mut s: State,
        table: &[u8; 256],
        bound: u32,
        cap: u64,
    ) -> (State, RunEnd, u64) {
        let mut done = 0;
        while done < cap {
            s = self.ensure(s);
            let (go, member) = (self.window[s.c] >= 128, self.window[s.c + 1]);
            s.c += 1;
            if !go && !PLUS {
                return (s, RunEnd::Stopped, done);
            }
            if u32::from(member) >= bound {
                return (s, RunEnd::Other, done);
            }
            s.c += 1;
            self.put_byte(&mut s, table[usize::from(member)]);
            if !go {
                return (s, RunEnd::Stopped, done);
            }
            done += 1;
        }
        (s, RunEnd::Capped, done)
    }

    /// Derives a rule that is right recursion over single bytes; see [`super::raw::Machine::star`].
    #[must_use]
    pub fn star<const PLUS: bool, const DEPTH: bool, const LEN: bool>(
        &mut self,
        mut s: State,
        mut depth: Depth,
        star: &'static Star,
    ) -> State {
        while !DEPTH || depth >= 0 {
            s = self.ensure(s);
            let go = (!LEN || self.slack > 0) && self.pick8(&mut s, 2) == 1;
            if !go && !PLUS {
                return s;
            }
            self.slack -= u64::from(LEN && go);
            self.put_mapped(&mut s, if DEPTH && depth == 0 { &star.last } else { &star.table });
            if !go {
                return s;
            }
            depth -= 1;
        }
        self.string::<LEN>(s, star.pool)
    }

    /// Derives an instance of such a rule, or what stands for it; see [`super::raw::Machine::even_star`].
    #[must_use]
    pub fn even_star<const PLUS: bool, const DEPTH: bool, const LEN: bool>(
        &mut self,
        s: State,
        depth: Depth,
        star: &'static Star,
    ) -> State {
        self.star::<PLUS, DEPTH, LEN>(s, depth - 1, star)
    }

    /// Derives rounds of single bytes that are written out; see [`super::raw::Machine::closed_chain`].
    pub fn closed_chain<const N: usize, const PLUS: bool>(
        &mut self,
        s: &mut State,
        members: [&[u8; 256]; N],
        last: &[u8; 256],
    ) {
        if self.open_chain::<N, PLUS>(s, members) && PLUS {
            self.put_mapped(s, last);
        }
    }

    /// Derives rounds of single bytes after which further rounds may follow; see [`super::raw::Machine::open_chain`].
    pub fn open_chain<const N: usize, const PLUS: bool>(&mut self, s: &mut State, members: [&[u8; 256]; N]) -> bool {
        for table in members {
            let go = self.pick8(s, 2) == 1;
            if go || PLUS {
                self.put_mapped(s, table);
            }
            if !go {
                return false;
            }
        }
        true
    }

    /// Derives a repetition of single bytes: `min` rounds, then at most `further` ones, each with its site.
    #[must_use]
    pub fn repeat_bytes<const LEN: bool>(&mut self, s: State, table: &[u8; 256], min: u32, further: u64) -> State {
        let mut s = s;
        for _ in 0..min {
            s = self.ensure(s);
            self.put_mapped(&mut s, table);
        }
        let (s, _, done) = self.run::<false>(s, table, 256, rounds(None, LEN.then_some(self.slack), Some(further)));
        self.slack -= if LEN { done } else { 0 };
        s
    }

    /// Returns the next `bits` / 8 choice bytes, little endian; `bits` is 8, 16 or 24.
    #[inline(always)]
    pub fn value(&self, s: &mut State, bits: u32) -> u32 {
        let count = bits as usize / 8;
        let bytes = &self.window[s.c..s.c + count];
        s.c += count;
        bytes.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte))
    }

    /// Decides a site of `count` (2 to 256) equally probable options.
    #[inline(always)]
    pub fn pick8(&self, s: &mut State, count: u32) -> usize {
        let byte = u32::from(self.window[s.c]);
        s.c += 1;
        ((byte * count) >> 8) as usize
    }

    /// Decides a site of any number of equally probable options.
    #[inline(always)]
    pub fn pick(&self, s: &mut State, count: u32) -> usize {
        let bits = match count {
            0 | 1 => return 0,
            2..=256 => 8,
            257..=65536 => 16,
            _ => 24,
        };
        ((u64::from(self.value(s, bits)) * u64::from(count)) >> bits) as usize
    }

    /// Returns the option of a weighted site of 256 slots, from the table of its slots.
    #[inline(always)]
    pub fn pick_mapped(&self, s: &mut State, options: &[u8; 256]) -> usize {
        usize::from(options[self.value(s, 8) as usize])
    }

    /// Returns the option of a weighted site of 2^`bits` slots, from the ends of its options.
    pub fn pick_slot(&self, s: &mut State, bits: u32, ends: &[u32]) -> usize {
        let slot = self.value(s, bits);
        ends.partition_point(|&end| end <= slot)
    }

    /// Decides a site whose options may lead to a second site; see [`super::raw::Machine::pick_nested`].
    #[inline(always)]
    pub fn pick_nested(&self, s: &mut State, count: u32, entries: &[u32]) -> usize {
        let entry = entries[self.pick8(s, count)];
        let (first, leaves) = (entry & 0xFFFF, entry >> 16);
        first as usize + self.pick(s, leaves)
    }

    /// Decides a site whose options are one byte each: emits the byte that the choice byte leads to.
    #[inline(always)]
    pub fn put_mapped(&mut self, s: &mut State, table: &[u8; 256]) {
        let byte = self.value(s, 8);
        self.put_byte(s, table[byte as usize]);
    }

    /// Returns the choice byte of a site.
    #[inline(always)]
    pub fn byte(&self, s: &mut State) -> u8 {
        self.value(s, 8) as u8
    }

    /// Emits a literal.
    #[inline(always)]
    pub fn put<const N: usize>(&mut self, s: &mut State, bytes: &[u8; N]) {
        self.write(s, bytes);
    }

    /// Emits one byte.
    #[inline(always)]
    pub fn put_byte(&mut self, s: &mut State, byte: u8) {
        self.output.bytes[s.o] = byte;
        s.o += 1;
    }

    /// Emits a literal of up to seven bytes from a table: packed little endian with its length in the top byte.
    #[inline(always)]
    pub fn put_packed(&mut self, s: &mut State, table: &[u64], index: usize) {
        let packed = table[index];
        self.output.bytes[s.o..s.o + 8].copy_from_slice(&packed.to_le_bytes());
        s.o += (packed >> 56) as usize;
    }
}
