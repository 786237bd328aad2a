//! Threads through the network, all at the same position of the text: generalised LL parsing with one byte of
//! look-ahead (Scott & Johnstone 2010) and Leo's chains for right recursion.
//!
//! A thread that comes to a place where another has been, at the same position and in the same frame, ends: the
//! derivation that came first stays. So the order in which threads are followed decides among derivations. It is depth
//! first, earlier options first, a further round before none.

use crate::arena::{Arena, EMPTY, NONE, ROOT, Seen, Thread, make_room_for};
use crate::error::{Attempt, ParseError};
use crate::lookahead::Peek;
use crate::program::{MAX_BYTES, NOT, Next, Program, SiteCode, State};
use crate::{Budget, Work};

/// Positions ahead at which threads may wait: more than the longest piece of a literal.
const AHEAD: usize = 64;
const _: () = assert!(MAX_BYTES < AHEAD);

/// The first size of the arena, in bytes, at which it is compacted.
const FIRST_COMPACTION: usize = 1 << 20;

/// The memory is checked once in this number of steps, ...
const LOOKED_AT: u64 = 1024;
/// ... and after a choice of more options than this.
const MANY: u32 = 1024;

pub(crate) struct Machine<'p, 't> {
    program: &'p Program,
    text: &'t [u8],
    bounds: Bounds,
    arena: Arena,
    seen: Seen,
    /// The frame of each callee and the position, plus one, at which it began.
    called: Vec<(u32, u32)>,
    threads: Threads,
    position: usize,
    peek: Peek,
    /// The choice bytes that are certain.
    choices: Vec<u8>,
    pub work: Work,
    /// The furthest position at which something was tried.
    furthest: usize,
    accepted: Option<u32>,
    /// The position whose attempts are recorded, and these attempts.
    recorded: Option<(usize, Vec<Attempt>)>,
}

/// The threads of a run.
struct Threads {
    /// The threads that wait at the next positions.
    ahead: [Vec<Thread>; AHEAD],
    /// The number of waiting threads.
    waiting: usize,
    /// The threads that are to be followed at this position; the last one is next.
    open: Vec<Thread>,
}

/// The bounds of a run.
struct Bounds {
    max_memory: usize,
    max_steps: u64,
    /// The size of the arena, in bytes, at which it is compacted next.
    compaction: usize,
}

/// A run ends early.
enum Stop {
    Budget(ParseError),
}

impl<'p, 't> Machine<'p, 't> {
    pub fn new(program: &'p Program, text: &'t [u8], budget: Budget) -> Machine<'p, 't> {
        let mut arena = Arena::default();
        let root = arena.add_frame(program.start, 0);
        debug_assert_eq!(root, ROOT);
        let mut called = vec![(0, NONE); program.callees.len()];
        called[program.start as usize] = (1, root);
        Machine {
            program,
            text,
            bounds: Bounds {
                max_memory: budget.max_memory,
                max_steps: budget.max_steps.unwrap_or(Budget::steps_for(text.len())),
                compaction: FIRST_COMPACTION.min(budget.max_memory / 4),
            },
            arena,
            seen: Seen::new(),
            called,
            threads: Threads { ahead: std::array::from_fn(|_| Vec::new()), waiting: 0, open: Vec::new() },
            position: 0,
            peek: None,
            choices: Vec::new(),
            work: Work::default(),
            furthest: 0,
            accepted: None,
            recorded: None,
        }
    }

    /// Returns a machine that records what is tried at `position`.
    pub fn recording(program: &'p Program, text: &'t [u8], budget: Budget, position: usize) -> Machine<'p, 't> {
        Machine { recorded: Some((position, Vec::new())), ..Machine::checking(program, text, budget) }
    }

    /// Returns a machine that keeps no choices, for texts that are not empty.
    pub fn checking(program: &'p Program, text: &'t [u8], budget: Budget) -> Machine<'p, 't> {
        let mut machine = Machine::new(program, text, budget);
        machine.arena.forgets = true;
        machine
    }

    /// Returns the choice bytes; `Ok(None)` if the text does not conform.
    pub fn run(&mut self) -> Result<Option<Vec<u8>>, ParseError> {
        let start = &self.program.callees[self.program.start as usize];
        if self.text.is_empty() && start.nullable && self.recorded.is_none() {
            if start.zeros > self.bounds.max_memory as u64 {
                return Err(self.out_of_memory());
            }
            return Ok(Some(vec![0; start.zeros as usize]));
        }
        let entry = start.entry;
        self.wait(0, Thread { state: entry, count: 0, frame: ROOT, list: EMPTY });
        match self.steps() {
            Err(Stop::Budget(error)) => Err(error),
            Ok(()) => match self.accepted {
                None => Ok(None),
                Some(list) => {
                    self.decide(&[list])?;
                    Ok(Some(std::mem::take(&mut self.choices)))
                }
            },
        }
    }

    /// Returns the furthest position at which something was tried.
    pub fn furthest(&self) -> usize {
        self.furthest
    }

    /// Returns the attempts at the recorded position.
    pub fn attempts(self) -> Vec<Attempt> {
        self.recorded.map_or_else(Vec::new, |(_, attempts)| attempts)
    }

    fn out_of_memory(&self) -> ParseError {
        ParseError::Memory { offset: self.position, limit: self.bounds.max_memory }
    }

    fn steps(&mut self) -> Result<(), Stop> {
        while self.threads.waiting > 0 && self.position <= self.text.len() {
            let mut threads = std::mem::take(&mut self.threads.ahead[self.position % AHEAD]);
            if !threads.is_empty() {
                self.threads.waiting -= threads.len();
                self.furthest = self.furthest.max(self.position);
                if self.arena.size() > self.bounds.compaction {
                    self.compact(&mut threads)?;
                }
                self.peek = self.text.get(self.position).copied();
                self.seen.clear();
                for thread in threads.drain(..) {
                    self.push(thread.state, thread);
                    while let Some(thread) = self.threads.open.pop() {
                        self.step(thread)?;
                    }
                }
                // Keeps the list's memory.
                self.threads.ahead[self.position % AHEAD] = threads;
            }
            if self.recorded.as_ref().is_some_and(|&(position, _)| position <= self.position) {
                return Ok(());
            }
            self.position += 1;
        }
        Ok(())
    }

    fn compact(&mut self, threads: &mut [Thread]) -> Result<(), Stop> {
        // All choices on the way to the only thread are certain.
        if let ([thread], 0) = (&mut *threads, self.threads.waiting)
            && let Some(edges) = self.arena.way_down(thread)
        {
            let take = |list: &mut u32| std::mem::replace(list, EMPTY);
            let mut lists: Vec<u32> =
                edges.iter().map(|&edge| take(&mut self.arena.edges[edge as usize].list)).collect();
            lists.push(take(&mut thread.list));
            self.decide(&lists).map_err(Stop::Budget)?;
        }
        let waiting = self.threads.ahead.iter_mut().flatten();
        let sites = &self.program.sites;
        self.arena.compact(threads.iter_mut().chain(waiting), |site, option, bytes| {
            encode(&sites[site as usize], option, bytes);
        });
        // The arena has grown by at least half since the last time, and during compaction there is room for the result.
        let size = self.arena.size();
        let room = self.room();
        if size > room / 6 || u32::try_from(self.arena.packed.len()).is_err() {
            return Err(Stop::Budget(self.out_of_memory()));
        }
        self.bounds.compaction = (size * 2).max(FIRST_COMPACTION).min(room / 4);
        Ok(())
    }

    /// Returns the memory left by the choice bytes that are certain.
    fn room(&self) -> usize {
        self.bounds.max_memory.saturating_sub(self.choices.capacity())
    }

    /// Returns the memory of the threads and of the data that they share, in bytes.
    fn memory(&self) -> usize {
        let threads = self.threads.ahead.iter().chain([&self.threads.open]).map(Vec::capacity).sum::<usize>();
        self.arena.capacity() + self.seen.size() + threads * size_of::<Thread>()
    }

    /// Ends the run if it takes too much memory. Within one position the memory can grow with the number of positions.
    fn check_memory(&self) -> Result<(), Stop> {
        if self.memory() > self.room() / 8 * 5 { Err(Stop::Budget(self.out_of_memory())) } else { Ok(()) }
    }

    /// Appends lists of choices to the choice bytes.
    fn decide(&mut self, lists: &[u32]) -> Result<(), ParseError> {
        let sites = &self.program.sites;
        let encode = |site: u32, option, bytes: &mut Vec<u8>| encode(&sites[site as usize], option, bytes);
        let fits = self.arena.write(lists, self.bounds.max_memory, &mut self.choices, encode);
        if fits { Ok(()) } else { Err(self.out_of_memory()) }
    }

    /// Returns true if this is the position at which all attempts are recorded.
    #[inline]
    fn records(&self) -> bool {
        self.recorded.as_ref().is_some_and(|&(position, _)| position == self.position)
    }

    /// Adds a thread to those to be followed, from `state` on, if the next byte allows that.
    #[inline]
    fn push(&mut self, state: u32, thread: Thread) {
        if self.program.lookahead.allows(state, self.peek) || self.records() {
            self.threads.open.push(Thread { state, ..thread });
        }
    }

    fn wait(&mut self, position: usize, thread: Thread) {
        self.threads.ahead[position % AHEAD].push(thread);
        self.threads.waiting += 1;
    }

    fn choose(&mut self, thread: Thread, site: u32, option: u32) -> Thread {
        Thread { list: self.arena.append(thread.list, site, option), ..thread }
    }

    fn count_step(&mut self) -> Result<(), Stop> {
        self.work.steps += 1;
        if self.work.steps > self.bounds.max_steps {
            return Err(Stop::Budget(ParseError::Steps { offset: self.position, steps: self.bounds.max_steps }));
        }
        if self.work.steps.is_multiple_of(LOOKED_AT) {
            self.check_memory()?;
        }
        Ok(())
    }

    fn step(&mut self, thread: Thread) -> Result<(), Stop> {
        let program = self.program;
        self.count_step()?;
        let Thread { state, count, frame, list } = thread;
        if program.joins[state as usize] && !self.seen.insert(state, count, frame) {
            return Ok(());
        }
        match program.states[state as usize] {
            State::Bytes { start, len, next } => {
                let bytes = &program.bytes[start as usize..][..len as usize];
                let rest = &self.text[self.position..];
                if rest.starts_with(bytes) {
                    self.wait(self.position + bytes.len(), Thread { state: next, ..thread });
                }
                let alike = bytes.iter().zip(rest).take_while(|(a, b)| a == b).count();
                self.furthest = self.furthest.max(self.position + alike);
                if let Some((target, attempts)) = &mut self.recorded
                    && *target >= self.position
                    && *target - self.position <= alike
                    && *target - self.position < bytes.len()
                {
                    let read = *target - self.position;
                    attempts.push(Attempt::literal(bytes, read, self.arena.frames[frame as usize]));
                }
            }
            State::Class { class, next } => self.class(thread, class, next),
            State::Choice { site, first, count } => {
                let from = self.threads.open.len();
                for place in first..first + count {
                    let (option, target) = (program.options[place as usize], program.targets[place as usize]);
                    if program.lookahead.allows(target, self.peek) || self.records() {
                        let thread = self.choose(thread, site, option);
                        self.threads.open.push(Thread { state: target, ..thread });
                    }
                }
                self.threads.open[from..].reverse();
                self.work.steps += u64::from(count / 8);
                if count > MANY {
                    self.check_memory()?;
                }
            }
            State::Rounds { site, item, stop } => {
                for (option, target) in [(0, stop), (1, item)] {
                    if program.lookahead.allows(target, self.peek) || self.records() {
                        let thread = self.choose(thread, site, option);
                        self.threads.open.push(Thread { state: target, ..thread });
                    }
                }
            }
            State::Call { callee, next, skip } => self.call(thread, callee, next, skip)?,
            State::Count { repeat } => self.count(thread, repeat),
            State::Round { repeat } => {
                let repeat = &program.repeats[repeat as usize];
                self.push(repeat.count, Thread { count: repeat.after_one_more(count), ..thread });
            }
            // Only grammars with labels have some, and these have a machine of their own.
            State::Operation { .. } | State::Mark { .. } => {}
            State::End => self.end(frame, list)?,
        }
        Ok(())
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
        if let Some((option, len)) = member {
            let chosen = self.choose(thread, class.site, option);
            self.wait(self.position + len, Thread { state: next, ..chosen });
        }
        if self.records()
            && let Some((_, attempts)) = &mut self.recorded
        {
            attempts.push(Attempt::class(&class.set, self.arena.frames[thread.frame as usize]));
        }
    }

    fn call(&mut self, thread: Thread, callee: u32, next: u32, skip: bool) -> Result<(), Stop> {
        let data = &self.program.callees[callee as usize];
        let Thread { count, frame, list, .. } = thread;
        if data.nullable && skip && (self.program.lookahead.allows(next, self.peek) || self.records()) {
            let list = self.arena.zeros(list, data.zeros);
            self.threads.open.push(Thread { state: next, list, ..thread });
        }
        if !self.program.lookahead.begins(data.entry, self.peek) && !self.records() {
            return Ok(());
        }
        let stamp = self.position as u32 + 1;
        let (known, at) = self.called[callee as usize];
        let to = if known == stamp {
            at
        } else {
            let to = self.arena.add_frame(callee, self.position as u32);
            self.called[callee as usize] = (stamp, to);
            self.threads.open.push(Thread { state: data.entry, count: 0, frame: to, list: EMPTY });
            to
        };
        self.arena.add_edge(to, next, count, frame, list);
        if self.records()
            && data.is_rule
            && let Some((_, attempts)) = &mut self.recorded
        {
            attempts.push(Attempt::rule(callee, self.arena.frames[frame as usize]));
        }
        Ok(())
    }

    /// Goes on before a round of a counted repetition.
    fn count(&mut self, thread: Thread, repeat: u32) {
        let repeat = &self.program.repeats[repeat as usize];
        match repeat.next(thread.count) {
            Next::Round { zeros } => {
                if let Some(zeros) = zeros {
                    let list = self.arena.zeros(thread.list, zeros);
                    self.push(repeat.end, Thread { list, ..thread });
                }
                self.push(repeat.item, thread);
            }
            Next::End => self.push(repeat.end, thread),
            Next::Either => {
                for (option, target) in [(0, repeat.end), (1, repeat.item)] {
                    let chosen = self.choose(thread, repeat.site, option);
                    self.push(target, chosen);
                }
            }
        }
    }

    /// Ends a callee: goes on where it was called from.
    fn end(&mut self, frame: u32, list: u32) -> Result<(), Stop> {
        let data = self.arena.frames[frame as usize];
        if frame == ROOT {
            if self.position == self.text.len() && (self.position > 0) && self.accepted.is_none() {
                self.accepted = Some(list);
            }
            if self.records()
                && let Some((_, attempts)) = &mut self.recorded
            {
                attempts.push(Attempt::end(data));
            }
        }
        // Calls of callees that may be empty have gone on without them.
        if data.position as usize == self.position {
            return Ok(());
        }
        if data.single {
            let states = &self.program.states;
            let (top, before) = self.arena.top(frame, |state| matches!(states[state as usize], State::End));
            if top != frame {
                let list = self.arena.join(before, list);
                let callee = self.arena.frames[top as usize].callee;
                let state = self.program.callees[callee as usize].end;
                self.push(state, Thread { state, count: 0, frame: top, list });
                return Ok(());
            }
        }
        let from = self.threads.open.len();
        let mut edge = data.first_edge;
        while edge != NONE {
            let caller = self.arena.edges[edge as usize];
            if self.program.lookahead.allows(caller.state, self.peek) || self.records() {
                let list = self.arena.join(caller.list, list);
                self.threads.open.push(Thread { state: caller.state, count: caller.count, frame: caller.frame, list });
            }
            self.count_step()?;
            edge = caller.next;
        }
        self.threads.open[from..].reverse();
        Ok(())
    }
}

/// Appends the choice bytes of an option, the last one first.
pub(crate) fn encode(site: &SiteCode, option: u32, bytes: &mut Vec<u8>) {
    let site = site.site();
    let (width, number) = (site.width() as usize, site.value_of(option));
    make_room_for(bytes, width);
    bytes.extend(number.to_le_bytes()[..width].iter().rev());
}

/// Returns the character that a text begins with in UTF-8, and its length in bytes.
pub(crate) fn first_character(text: &[u8]) -> Option<(u32, usize)> {
    let len = match *text.first()? {
        0..=0x7F => 1,
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return None,
    };
    let character = std::str::from_utf8(text.get(..len)?).ok()?.chars().next()?;
    Some((u32::from(character), len))
}
