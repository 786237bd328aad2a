//! A run of the automaton through a text.

use super::symbols::END;
use super::trace::{Placed, TooMany, Trace};
use super::{Automaton, ConfigurationId, DEAD, LARGE, MIXED, Purpose, START, Transition, TransitionId, UNKNOWN, most};
use crate::arena::{make_room, make_room_for};
use crate::program::Program;

/// Bound on the steps that make transitions for a text: this number, ...
const EFFORT: u64 = 1 << 15;
/// ... this number for each byte of the text, up to a number of bytes, ...
const EFFORT_AHEAD: u64 = 64;
const AHEAD: usize = 1 << 14;
/// ... and this number for each byte that was read.
const EFFORT_PER_BYTE: u64 = 6;

/// The log is looked at after this number of transitions.
const LOOKED_AT: usize = 1 << 16;

/// The automaton is not the way to parse this text.
#[derive(Debug)]
pub(crate) enum GaveUp {
    /// A text for which it would become too large, or that has several derivations.
    Costly,
    /// A text that does not conform. Threads say why.
    Refused,
}

pub(crate) struct Run<'p, 'a, 't> {
    program: &'p Program,
    automaton: &'a mut Automaton,
    text: &'t [u8],
    max_memory: usize,
    max_steps: u64,
    position: usize,
    at: ConfigurationId,
    /// The configurations below.
    below: Vec<ConfigurationId>,
    /// The transitions taken since the choices that are certain.
    log: Vec<TransitionId>,
    choices: Vec<u8>,
    /// The marks of a relaxed program among these choices.
    pub marks: Vec<Placed>,
    look_at: usize,
    /// The number of transitions taken.
    pub steps: u64,
    most_effort: u64,
}

impl<'p, 'a, 't> Run<'p, 'a, 't> {
    pub fn new(
        program: &'p Program,
        automaton: &'a mut Automaton,
        text: &'t [u8],
        max_memory: usize,
        max_steps: u64,
    ) -> Self {
        let most_effort = automaton.spent.effort + EFFORT + EFFORT_AHEAD * text.len().min(AHEAD) as u64;
        Run {
            program,
            automaton,
            text,
            max_memory,
            max_steps,
            position: 0,
            at: START,
            below: Vec::new(),
            log: Vec::new(),
            choices: Vec::new(),
            marks: Vec::new(),
            look_at: LOOKED_AT,
            steps: 0,
            most_effort,
        }
    }

    /// Returns the furthest position at which something was tried.
    pub fn furthest(&self) -> usize {
        self.position
    }

    /// Returns the choice bytes; `Ok(None)` if the text does not conform.
    pub fn run(&mut self) -> Result<Option<Vec<u8>>, GaveUp> {
        let Some(origin) = self.run_to_end()? else { return Ok(None) };
        self.decide(|trace, log, _| trace.of_accepted(origin, log))?;
        Ok(Some(std::mem::take(&mut self.choices)))
    }

    /// Returns true if the text conforms. The automaton is for checks.
    pub fn check(&mut self) -> Result<bool, GaveUp> {
        Ok(self.run_to_end()?.is_some())
    }

    /// Goes through the text. Returns the origin of its derivation; `Ok(None)` if it does not conform.
    fn run_to_end(&mut self) -> Result<Option<u32>, GaveUp> {
        loop {
            match self.automaton.purpose {
                Purpose::Derivation => self.run_steps::<true>(),
                Purpose::Check => self.run_steps::<false>(),
            }
            self.look()?;
            let symbol = self.automaton.symbols.at(self.text, self.position);
            let mut transition = self.automaton.transition(self.at, symbol);
            if transition == UNKNOWN {
                self.check_effort()?;
                transition = self.automaton.make(self.program, self.at, symbol);
            }
            match self.automaton.transitions[transition as usize] {
                Transition::Step { to, .. } => {
                    self.record(transition);
                    self.at = to;
                    self.position += 1;
                }
                Transition::Steps { first, count } => {
                    self.record(transition);
                    let parts = &self.automaton.parts[first as usize..][..count as usize];
                    make_room_for(&mut self.below, parts.len());
                    self.below.extend(parts[..parts.len() - 1].iter().map(|&(part, _)| part));
                    self.at = parts[parts.len() - 1].0;
                    self.position += 1;
                }
                Transition::Return { .. } => {
                    self.record(transition);
                    self.at = self.lower()?;
                }
                Transition::Accept { origin } => {
                    debug_assert_eq!(symbol, END);
                    self.count_steps()?;
                    return Ok(Some(origin));
                }
                _ => match transition {
                    MIXED => self.merge()?,
                    DEAD => return Ok(None),
                    LARGE => return Err(GaveUp::Costly),
                    _ => unreachable!("a merge is not in the table"),
                },
            }
        }
    }

    /// Goes on as long as the next symbol is of one byte and the transition leads to one configuration.
    #[inline]
    fn run_steps<const LOGS: bool>(&mut self) {
        let automaton = &*self.automaton;
        let (mut at, mut position) = (self.at, self.position);
        while self.log.len() < self.look_at
            && let Some(symbol) = self.text.get(position).and_then(|&byte| automaton.symbols.of_byte(byte))
            && let transition = automaton.transition(at, symbol)
            && let Transition::Step { to, .. } = automaton.transitions[transition as usize]
        {
            if LOGS {
                make_room(&mut self.log);
                self.log.push(transition);
            }
            at = to;
            position += 1;
        }
        if !LOGS {
            self.steps += (position - self.position) as u64;
        }
        (self.at, self.position) = (at, position);
    }

    #[inline]
    fn record(&mut self, transition: TransitionId) {
        match self.automaton.purpose {
            Purpose::Derivation => {
                make_room(&mut self.log);
                self.log.push(transition);
            }
            Purpose::Check => self.steps += 1,
        }
    }

    /// Returns the configuration below. There is one, as the base of the lowest one does not end.
    fn lower(&mut self) -> Result<ConfigurationId, GaveUp> {
        self.below.pop().ok_or(GaveUp::Costly)
    }

    fn merge(&mut self) -> Result<(), GaveUp> {
        self.check_effort()?;
        let below = self.lower()?;
        let transition = self.automaton.merge(below, self.at);
        if let Transition::Merge { to, .. } = self.automaton.transitions[transition as usize] {
            self.at = to;
        }
        self.record(transition);
        Ok(())
    }

    fn check_effort(&self) -> Result<(), GaveUp> {
        let effort = self.most_effort + EFFORT_PER_BYTE * self.position as u64;
        if self.automaton.spent.effort > effort || self.automaton.size() > most(self.max_memory) {
            Err(GaveUp::Costly)
        } else {
            Ok(())
        }
    }

    /// Ends the run once in a while if it takes too much memory. If there is one derivation, its choices are certain.
    fn look(&mut self) -> Result<(), GaveUp> {
        if self.automaton.purpose == Purpose::Check {
            return self.look_below();
        }
        // Where a frame returns, there are choices that are in no register.
        if self.log.len() < self.look_at || self.automaton.configurations[self.at as usize].threads.is_empty() {
            return Ok(());
        }
        if self.is_certain() {
            self.count_steps()?;
            self.decide(|trace, log, levels| trace.of_only(log, levels))?;
            self.log.clear();
        }
        self.look_at = self.log.len() + LOOKED_AT;
        self.check_memory()
    }

    /// Ends a check once in a while if it takes too many steps, or if what is open takes too much memory.
    fn look_below(&mut self) -> Result<(), GaveUp> {
        self.count_steps()?;
        if self.below.len() >= self.look_at {
            self.look_at = self.below.len() + LOOKED_AT;
            self.check_memory()?;
        }
        Ok(())
    }

    /// Returns true if each configuration has one register.
    fn is_certain(&self) -> bool {
        let configurations = &self.automaton.configurations;
        let mut open = self.below.iter().chain([&self.at]);
        open.all(|&configuration| configurations[configuration as usize].registers() == 1)
    }

    /// Counts the transitions in the log.
    fn count_steps(&mut self) -> Result<(), GaveUp> {
        self.steps += self.log.len() as u64;
        if self.steps > self.max_steps { Err(GaveUp::Costly) } else { Ok(()) }
    }

    /// Returns the memory that the choices may take.
    fn room(&self) -> Result<usize, GaveUp> {
        let log =
            self.log.capacity() * size_of::<TransitionId>() + self.below.capacity() * size_of::<ConfigurationId>();
        (self.max_memory / 8 * 7).checked_sub(self.automaton.size() + log).ok_or(GaveUp::Costly)
    }

    /// Returns the memory that is left beside these bytes of choices and marks.
    pub fn room_beside(&self, size: usize) -> usize {
        self.room().map_or(0, |room| room.saturating_sub(size))
    }

    fn check_memory(&self) -> Result<(), GaveUp> {
        let size = self.choices.capacity() + self.marks.capacity() * size_of::<Placed>();
        if size <= self.room()? { Ok(()) } else { Err(GaveUp::Costly) }
    }

    /// Appends the choices that the log leads to: `write` gets the log and the number of configurations.
    fn decide(
        &mut self,
        write: impl FnOnce(Trace<'_, 't>, &[TransitionId], usize) -> Result<(), TooMany>,
    ) -> Result<(), GaveUp> {
        let (start, first, most) = (self.choices.len(), self.marks.len(), [self.room()?, most(self.max_memory) / 8]);
        let written = (&mut self.choices, &mut self.marks);
        let trace = Trace::new(self.program, self.automaton, self.text, self.position, most, written);
        write(trace, &self.log, self.below.len() + 1).map_err(|TooMany| GaveUp::Costly)?;
        self.choices[start..].reverse();
        let marks = &mut self.marks[first..];
        marks.reverse();
        marks.iter_mut().for_each(|mark| mark.choice = start + self.choices.len() - mark.choice);
        Ok(())
    }
}
