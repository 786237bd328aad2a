//! Rounds of single bytes: repetitions and right recursion, up to four rounds at one look.

use super::{Machine, State};
use crate::rt::tables::Star;
use crate::rt::{Depth, RUN_CHOICES, RUN_OUTPUT, RunEnd, rounds};

/// Repetitions with more rounds without a site are done one by one.
const MAX_MIN: u32 = 8;

// The longest run: the rounds without a site, four rounds at one look, and the next site with its member.
const _: () = assert!(RUN_CHOICES >= MAX_MIN as usize + 2 * 4 + 2 && RUN_OUTPUT > MAX_MIN as usize + 4);

impl Machine<'_, '_> {
    /// Derives rounds of a repetition whose item is one byte: per round one site (stop, go on), then one site of a
    /// choice byte `b` below `bound`, which emits `table[b]`. Ends where the repetition stops, where `b` is not below
    /// `bound` (the round is chosen, `b` not yet read), or after `cap` rounds. Returns how many times it went on.
    ///
    /// With `PLUS`, the item is also derived in the round that stops, and `bound` must be 256.
    ///
    /// # Safety
    ///
    /// `s` must be this machine's state.
    #[inline]
    pub unsafe fn run<const PLUS: bool>(
        &mut self,
        mut s: State,
        table: &[u8; 256],
        bound: u32,
        cap: u64,
    ) -> (State, RunEnd, u64) {
        let mut done = 0;
        loop {
            // SAFETY: the credit covers the choice and output bytes of a turn: up to nine and five.
            unsafe {
                s = self.ensure(s);
                let batch = Batch::at(s);
                batch.emit(s, table);
                let (until_stop, until_other) = (batch.until_stop(), batch.until_other(bound));
                let rounds = until_stop.min(until_other);
                if rounds >= cap - done {
                    let rounds = cap - done;
                    s.o = s.o.add(rounds as usize);
                    s.c = s.c.add(2 * rounds as usize);
                    return (s, RunEnd::Capped, cap);
                }
                done += rounds;
                if rounds == 4 {
                    s.o = s.o.add(4);
                    s.c = s.c.add(8);
                    continue;
                }
                s.o = s.o.add(rounds as usize + usize::from(PLUS));
                s.c = s.c.add(2 * rounds as usize + 1 + usize::from(PLUS));
                let end = if until_stop <= until_other { RunEnd::Stopped } else { RunEnd::Other };
                return (s, end, done);
            }
        }
    }

    /// Derives the rounds of [`Machine::run`], if they end among the first four: then says whether the repetition chose
    /// to stop (if not, another member), and how many times it went on. `plus` is 1 if the item is also derived in the
    /// round that stops, else 0.
    ///
    /// # Safety
    ///
    /// Eight choice bytes and four output bytes must be reserved.
    #[inline(always)]
    pub unsafe fn short_run(
        &mut self,
        s: &mut State,
        table: &[u8; 256],
        bound: u32,
        plus: usize,
        cap: u64,
    ) -> Option<(bool, u64)> {
        // SAFETY: the eight choice bytes and four output bytes that are touched are reserved.
        unsafe {
            self.check(*s, 8, 4);
            let batch = Batch::at(*s);
            let (until_stop, until_other) = (batch.until_stop(), batch.until_other(bound));
            let rounds = until_stop.min(until_other);
            if rounds >= cap.min(4) {
                return None;
            }
            batch.emit(*s, table);
            s.o = s.o.add(rounds as usize + plus);
            s.c = s.c.add(2 * rounds as usize + 1 + plus);
            Some((until_stop <= until_other, rounds))
        }
    }

    /// Derives a rule that is right recursion over single bytes (with `PLUS` at least one); `depth` is what is left
    /// below the instance, which is within the limit. Uses no more of the credit than it needs itself, however long it
    /// goes on.
    ///
    /// # Safety
    ///
    /// [`RUN_CHOICES`] and [`RUN_OUTPUT`] bytes, and the site and a string of the pool must be reserved.
    #[inline(always)]
    #[must_use]
    pub unsafe fn star<const PLUS: bool, const DEPTH: bool, const LEN: bool>(
        &mut self,
        s: State,
        depth: Depth,
        star: &'static Star,
    ) -> State {
        // Most stop within four rounds: one look at eight choice bytes, and no branch that is hard to predict.
        // SAFETY: the choice bytes and output bytes that are touched are reserved.
        unsafe {
            let mut s = s;
            self.check(s, RUN_CHOICES + 1, RUN_OUTPUT + star.pool.max_len());
            let batch = Batch::at(s);
            let rounds = batch.until_stop();
            let mut most = 3;
            if DEPTH {
                most = most.min(depth as u64);
            }
            if LEN {
                most = most.min(self.slack.wrapping_sub(1));
            }
            if rounds <= most && !(LEN && self.slack == 0) {
                batch.emit(s, &star.table);
                if DEPTH && PLUS && rounds == depth as u64 {
                    *s.o.add(rounds as usize) = star.last[batch.member(rounds as usize)];
                }
                if LEN {
                    self.slack -= rounds;
                }
                s.o = s.o.add(rounds as usize + usize::from(PLUS));
                s.c = s.c.add(2 * rounds as usize + 1 + usize::from(PLUS));
                return s;
            }
            if DEPTH && !LEN && depth < 3 {
                // Every instance within the limit goes on, the last one with an item beyond it.
                batch.emit(s, &star.table);
                *s.o.add(depth as usize) = star.last[batch.member(depth as usize)];
                s.o = s.o.add(depth as usize + 1);
                s.c = s.c.add(2 * depth as usize + 2);
                return self.string::<LEN>(s, star.pool);
            }
            self.star_by_rounds::<PLUS, DEPTH, LEN>(s, depth, star)
        }
    }

    /// Derives an instance of such a rule, or its replacement beyond the limit; `depth` is the depth left below the
    /// instance around it. The replacement must be nothing or, with `PLUS`, one byte from one choice byte,
    /// `star.behind`.
    ///
    /// # Safety
    ///
    /// As for [`Machine::star`].
    #[inline(always)]
    #[must_use]
    pub unsafe fn even_star<const PLUS: bool, const DEPTH: bool, const LEN: bool>(
        &mut self,
        s: State,
        depth: Depth,
        star: &'static Star,
    ) -> State {
        // SAFETY: the choice bytes and output bytes that are touched are reserved.
        unsafe {
            if !DEPTH || LEN {
                return if DEPTH && depth < 1 {
                    self.string::<LEN>(s, star.pool)
                } else {
                    self.star::<PLUS, DEPTH, LEN>(s, depth - 1, star)
                };
            }
            self.check(s, RUN_CHOICES + 1, RUN_OUTPUT);
            debug_assert!(depth >= 0);
            let batch = Batch::at(s);
            let instances = depth as u64;
            let until_stop = batch.until_stop();
            let rounds = until_stop.min(instances);
            if rounds == 4 {
                return self.star_by_rounds::<PLUS, DEPTH, LEN>(s, depth - 1, star);
            }
            batch.emit(s, &star.table);
            // The byte for the depth limit is stored unconditionally: if the limit is not met, it is after the bytes
            // that count.
            let limit = instances.min(5) as usize;
            let last = limit.max(1) - 1;
            *s.o.add(last) = star.last[usize::from(*s.c.add(2 * last + 1))];
            if PLUS {
                *s.o.add(limit) = star.behind[usize::from(*s.c.add(2 * limit))];
            }
            // Each instance that goes on reads two choice bytes, the one that stops reads one and its item.
            let stopped = usize::from(until_stop < instances);
            State {
                c: s.c.add(2 * rounds as usize + stopped + usize::from(PLUS)),
                o: s.o.add(rounds as usize + usize::from(PLUS)),
            }
        }
    }

    #[inline(never)]
    unsafe fn star_by_rounds<const PLUS: bool, const DEPTH: bool, const LEN: bool>(
        &mut self,
        s: State,
        mut depth: Depth,
        star: &'static Star,
    ) -> State {
        // SAFETY: the state is this machine's, and each access is reserved before it.
        unsafe {
            let (mut s, end, done) =
                self.run::<PLUS>(s, &star.table, 256, rounds(DEPTH.then_some(depth), LEN.then_some(self.slack), None));
            self.slack -= if LEN { done } else { 0 };
            if end == RunEnd::Stopped {
                return s;
            }
            // The limits allow no more rounds of the plain kind: the last ones take the general path.
            depth -= done as Depth;
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
    }

    /// Derives up to `N` rounds (1 to 4) of single bytes, each with its site and members of its own: as many as go on
    /// before one stops. With `PLUS` the round that stops has its member, too, and where none stops a byte of `last`
    /// follows.
    ///
    /// # Safety
    ///
    /// [`RUN_CHOICES`] and [`RUN_OUTPUT`] bytes must be reserved.
    #[inline(always)]
    pub unsafe fn closed_chain<const N: usize, const PLUS: bool>(
        &self,
        s: &mut State,
        members: [&[u8; 256]; N],
        last: &[u8; 256],
    ) {
        self.check(*s, RUN_CHOICES, RUN_OUTPUT);
        // SAFETY: the choice bytes and output bytes that are touched are reserved.
        unsafe {
            let (read, rounds) = if N == 1 {
                let go = usize::from(*s.c >> 7);
                (1 + go, go)
            } else {
                // Where no round stops, one site less is read: the bit for this is eight places before the next stop.
                let stops = (Batch::at(*s).stops & Batch::lanes(N)) | 1 << (16 * N - 8);
                let place = stops.trailing_zeros() as usize;
                (place / 8 + 1, (place + 8) / 16)
            };
            Batch::emit_each(*s, members);
            if PLUS {
                *s.o.add(N) = last[usize::from(*s.c.add(2 * N))];
            }
            s.c = s.c.add(read + usize::from(PLUS));
            s.o = s.o.add(rounds + usize::from(PLUS));
        }
    }

    /// Derives `N` rounds (1 to 4) of single bytes as [`Machine::closed_chain`] does, but further rounds follow if none
    /// of these stops. Returns true in that case.
    ///
    /// # Safety
    ///
    /// As for [`Machine::closed_chain`].
    #[inline(always)]
    pub unsafe fn open_chain<const N: usize, const PLUS: bool>(&self, s: &mut State, members: [&[u8; 256]; N]) -> bool {
        self.check(*s, RUN_CHOICES, RUN_OUTPUT);
        // SAFETY: the choice bytes and output bytes that are touched are reserved.
        unsafe {
            let stops = Batch::at(*s).stops & Batch::lanes(N);
            Batch::emit_each(*s, members);
            if stops == 0 {
                s.c = s.c.add(2 * N);
                s.o = s.o.add(N);
                return true;
            }
            let rounds = stops.trailing_zeros() as usize / 16;
            s.c = s.c.add(2 * rounds + 1 + usize::from(PLUS));
            s.o = s.o.add(rounds + usize::from(PLUS));
            false
        }
    }

    /// Derives a repetition of single bytes: `min` rounds, then at most `further` ones, each with its site. Uses
    /// no more of the credit than it needs itself, however long it goes on.
    ///
    /// # Safety
    ///
    /// [`RUN_CHOICES`] and [`RUN_OUTPUT`] bytes must be reserved.
    #[inline(always)]
    #[must_use]
    pub unsafe fn repeat_bytes<const LEN: bool>(
        &mut self,
        s: State,
        table: &[u8; 256],
        min: u32,
        further: u64,
    ) -> State {
        // SAFETY: the choice and output bytes of the first rounds and of the batch after them are reserved.
        unsafe {
            if min > MAX_MIN {
                return self.repeat_by_rounds::<LEN>(s, table, min, further);
            }
            let mut s = s;
            self.check(s, RUN_CHOICES, RUN_OUTPUT);
            for _ in 0..min {
                self.put_mapped(&mut s, table);
            }
            let batch = Batch::at(s);
            let until_stop = batch.until_stop();
            let cap = if LEN { further.min(self.slack) } else { further };
            if cap > 4 && until_stop == 4 {
                return self.repeat_by_rounds::<LEN>(s, table, 0, further);
            }
            batch.emit(s, table);
            let rounds = until_stop.min(cap);
            if LEN {
                self.slack -= rounds;
            }
            s.o = s.o.add(rounds as usize);
            // There is no site after the last possible round.
            s.c = s.c.add(2 * rounds as usize + usize::from(rounds < cap));
            s
        }
    }

    /// Derives up to four single bytes, each from a site and a table of its own (the first `count` of `heads`), then a
    /// repetition of single bytes of at most `further` rounds.
    ///
    /// # Safety
    ///
    /// Twelve choice bytes and eight output bytes must be reserved.
    #[inline(always)]
    #[must_use]
    pub unsafe fn word<const LEN: bool>(
        &mut self,
        s: State,
        heads: [&[u8; 256]; 4],
        count: usize,
        tail: &[u8; 256],
        further: u64,
    ) -> State {
        debug_assert!(count <= 4);
        // All four heads are looked up and stored, and the batch after them, too: bytes that are not wanted are written
        // over, so there is no branch that is hard to predict.
        // SAFETY: the choice and output bytes of four heads and of the batch are reserved.
        unsafe {
            let mut s = s;
            self.check(s, 12, 8);
            let word = s.c.cast::<u32>().read_unaligned().to_le();
            let head = |at: usize| heads[at][(word >> (8 * at)) as usize & 0xFF];
            s.o.cast::<[u8; 4]>().write_unaligned([head(0), head(1), head(2), head(3)]);
            s.c = s.c.add(count);
            s.o = s.o.add(count);
            let batch = Batch::at(s);
            let until_stop = batch.until_stop();
            let cap = if LEN { further.min(self.slack) } else { further };
            if cap > 4 && until_stop == 4 {
                return self.repeat_by_rounds::<LEN>(s, tail, 0, further);
            }
            batch.emit(s, tail);
            let rounds = until_stop.min(cap);
            if LEN {
                self.slack -= rounds;
            }
            s.o = s.o.add(rounds as usize);
            // There is no site after the last possible round.
            s.c = s.c.add(2 * rounds as usize + usize::from(rounds < cap));
            s
        }
    }

    #[inline(never)]
    unsafe fn repeat_by_rounds<const LEN: bool>(
        &mut self,
        mut s: State,
        table: &[u8; 256],
        min: u32,
        further: u64,
    ) -> State {
        // SAFETY: the state is this machine's, and each access is reserved right before it.
        unsafe {
            for _ in 0..min {
                s = self.ensure(s);
                self.put_mapped(&mut s, table);
            }
            let (s, _, done) = self.run::<false>(s, table, 256, rounds(None, LEN.then_some(self.slack), Some(further)));
            self.slack -= if LEN { done } else { 0 };
            s
        }
    }
}

/// Four rounds of (go on or stop, member) at once: eight choice bytes in lanes of two.
#[derive(Clone, Copy)]
struct Batch {
    /// The choice bytes of the members, one a lane.
    members: u64,
    /// A bit in each lane whose round stops.
    stops: u64,
}

impl Batch {
    const LANES: u64 = 0x0001_0001_0001_0001;

    /// Returns the next four rounds.
    ///
    /// # Safety
    ///
    /// Eight choice bytes must be reserved.
    #[inline(always)]
    unsafe fn at(s: State) -> Batch {
        // SAFETY: as for this function.
        let word = unsafe { s.c.cast::<u64>().read_unaligned() }.to_le();
        Batch { members: (word >> 8) & (0x00FF * Batch::LANES), stops: !word & (0x0080 * Batch::LANES) }
    }

    /// Returns the lanes of the first rounds.
    #[inline(always)]
    const fn lanes(rounds: usize) -> u64 {
        u64::MAX >> (64 - 16 * rounds)
    }

    /// Stores a member of each of the next rounds, which have tables of their own.
    ///
    /// # Safety
    ///
    /// Two choice bytes and one output byte a round must be reserved.
    #[inline(always)]
    unsafe fn emit_each<const N: usize>(s: State, tables: [&[u8; 256]; N]) {
        for (round, table) in tables.into_iter().enumerate() {
            // SAFETY: as for this function.
            unsafe { *s.o.add(round) = table[usize::from(*s.c.add(2 * round + 1))] }
        }
    }

    /// Returns how many rounds there are before the first that stops; 4 if none does.
    #[inline(always)]
    fn until_stop(self) -> u64 {
        u64::from(self.stops.trailing_zeros() / 16)
    }

    /// Returns how many rounds there are before the first whose member is not below `bound` (at most 256); 4 if there
    /// is none.
    #[inline(always)]
    fn until_other(self, bound: u32) -> u64 {
        // Lane sums above 255 mark them.
        let others = (self.members + u64::from(256 - bound) * Batch::LANES) & (0x0100 * Batch::LANES);
        u64::from(others.trailing_zeros() / 16)
    }

    /// Returns the choice byte of a round's member; `round` is below 4.
    #[inline(always)]
    fn member(self, round: usize) -> usize {
        ((self.members >> (16 * round)) & 0xFF) as usize
    }

    /// Stores the members of all four rounds.
    ///
    /// # Safety
    ///
    /// Four output bytes must be reserved.
    #[inline(always)]
    unsafe fn emit(self, s: State, table: &[u8; 256]) {
        let text = [table[self.member(0)], table[self.member(1)], table[self.member(2)], table[self.member(3)]];
        // SAFETY: as for this function.
        unsafe { s.o.cast::<[u8; 4]>().write_unaligned(text) }
    }
}
