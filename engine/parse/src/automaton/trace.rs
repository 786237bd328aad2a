//! The choices of one derivation, read backwards from the log of a run.

use super::trial::RETURNED;
use super::{Automaton, MANY, Merged, NOTHING, Origin, SHORT, Transition, TransitionId, code};
use crate::arena::{NONE, make_room_for};
use crate::machine::{encode, first_character};
use crate::program::Program;

/// A register of the configuration at a place of the log, or of one below. Its choices belong to the derivation.
#[derive(Clone, Copy, Debug)]
struct Register {
    /// The number of configurations below its own.
    level: u32,
    number: u32,
    /// How many times it is here: left recursion leaves the register of its caller once for each level.
    times: u32,
}

impl Register {
    fn new(level: u32, number: u32) -> Register {
        Register { level, number, times: 1 }
    }
}

/// Each step goes through the registers of a configuration. With more than this number that would take too long.
const MOST_OPEN: usize = 1 << 10;

/// There are more choice bytes or registers than can be.
#[derive(Debug)]
pub(super) struct TooMany;

pub(super) struct Trace<'a, 't> {
    program: &'a Program,
    automaton: &'a Automaton,
    text: &'t [u8],
    /// The position and the level at the place of the log.
    position: usize,
    level: u32,
    /// The choices before this place are those of these registers, one after another.
    open: Vec<Register>,
    /// The most choice bytes.
    most: usize,
}

impl<'a, 't> Trace<'a, 't> {
    pub fn new(
        program: &'a Program,
        automaton: &'a Automaton,
        text: &'t [u8],
        position: usize,
        level: usize,
        most: usize,
    ) -> Trace<'a, 't> {
        Trace { program, automaton, text, position, level: level as u32, open: Vec::new(), most }
    }

    /// Appends the choice bytes where each configuration has one register, the last byte first.
    pub fn of_only(mut self, log: &[TransitionId], choices: &mut Vec<u8>) -> Result<(), TooMany> {
        self.open.extend((0..=self.level).map(|level| Register::new(level, 0)));
        self.back(log, choices)
    }

    /// Appends the choice bytes of a text that is derived, the last byte first.
    pub fn of_accepted(mut self, origin: u32, log: &[TransitionId], choices: &mut Vec<u8>) -> Result<(), TooMany> {
        self.open.push(Register::new(0, RETURNED));
        self.take_origin(0, origin, 0, choices);
        self.back(log, choices)
    }

    fn back(&mut self, log: &[TransitionId], choices: &mut Vec<u8>) -> Result<(), TooMany> {
        for &transition in log.iter().rev() {
            if choices.len() > self.most {
                return Err(TooMany);
            }
            match self.automaton.transitions[transition as usize] {
                Transition::Step { origins, .. } => {
                    self.position -= 1;
                    self.step(origins, choices)?;
                }
                Transition::Steps { first, count } => {
                    self.position -= 1;
                    self.level -= count - 1;
                    self.steps(first, choices)?;
                }
                Transition::Return { origin } => {
                    self.level += 1;
                    self.returned(origin, choices);
                }
                Transition::Merge { first, .. } => {
                    self.level += 1;
                    self.merged(first);
                }
                Transition::Accept { .. } | Transition::None => {}
            }
        }
        Ok(())
    }

    #[inline]
    fn step(&mut self, origins: u32, choices: &mut Vec<u8>) -> Result<(), TooMany> {
        let mut place = self.open.len();
        let before = place;
        while place > 0 && self.open[place - 1].level >= self.level {
            place -= 1;
            let register = self.open[place];
            let origin = self.automaton.origins[(origins + register.number) as usize];
            if origin.written != NOTHING {
                (0..register.times).for_each(|_| self.write(origin.written, choices));
            }
            self.replace(place, origin.source, self.level);
        }
        if self.open.len() > before { self.unite(place) } else { Ok(()) }
    }

    /// Makes one of equal registers that follow one another, from a place on.
    fn unite(&mut self, place: usize) -> Result<(), TooMany> {
        let mut kept = place;
        for next in place + 1..self.open.len() {
            let (register, last) = (self.open[next], &mut self.open[kept]);
            if (last.level, last.number) == (register.level, register.number) {
                last.times += register.times;
            } else {
                kept += 1;
                self.open[kept] = register;
            }
        }
        self.open.truncate(kept + 1);
        if self.open.len() - place > MOST_OPEN { Err(TooMany) } else { Ok(()) }
    }

    fn steps(&mut self, first: u32, choices: &mut Vec<u8>) -> Result<(), TooMany> {
        let mut place = self.open.len();
        let before = place;
        while place > 0 && self.open[place - 1].level >= self.level {
            place -= 1;
            let Register { level, number, .. } = self.open[place];
            let part = first + (level - self.level);
            self.take_origin(place, self.automaton.parts[part as usize].1 + number, self.level, choices);
        }
        if self.open.len() > before { self.unite(place) } else { Ok(()) }
    }

    fn returned(&mut self, origin: u32, choices: &mut Vec<u8>) {
        if let Some(last) = self.open.len().checked_sub(1)
            && self.open[last].number == RETURNED
        {
            self.take_origin(last, origin, self.level, choices);
        }
    }

    /// Replaces the register at a place by those that it comes from.
    #[inline]
    fn replace(&mut self, place: usize, source: u32, level: u32) {
        if source & MANY == 0 {
            let register = &mut self.open[place];
            (register.level, register.number) = (level, source);
        } else {
            self.replace_by_others(place, source, level);
        }
    }

    /// The same, and writes the choices made here.
    fn take_origin(&mut self, place: usize, origin: u32, level: u32, choices: &mut Vec<u8>) {
        let Origin { source, written } = self.automaton.origins[origin as usize];
        if written != NOTHING {
            (0..self.open[place].times).for_each(|_| self.write(written, choices));
        }
        self.replace(place, source, level);
    }

    /// The register comes from none, or from several.
    fn replace_by_others(&mut self, place: usize, source: u32, level: u32) {
        let automaton = self.automaton;
        let sources: &[u32] = if source == NONE { &[] } else { &automaton.sources[(source & !MANY) as usize] };
        let times = self.open[place].times as usize;
        let registers = sources.iter().rev().map(|&number| Register::new(level, number));
        let registers: Vec<Register> = registers.cycle().take(sources.len() * times).collect();
        self.open.splice(place..=place, registers);
    }

    fn merged(&mut self, first: u32) {
        let level = self.level - 1;
        for register in self.open.iter_mut().rev().take_while(|register| register.level == level) {
            if register.number == RETURNED {
                register.level += 1;
                continue;
            }
            let Merged { is_above, register: number } = self.automaton.merged[(first + register.number) as usize];
            (register.level, register.number) = (level + u32::from(is_above), number);
        }
    }

    /// Writes the choices made at this position.
    #[inline]
    fn write(&self, written: u32, choices: &mut Vec<u8>) {
        let written = &self.automaton.written[written as usize];
        make_room_for(choices, SHORT + code::MOST);
        if written.class != NONE {
            self.write_member(written.class, choices);
        }
        let end = choices.len() + written.len as usize;
        if written.len as usize <= SHORT {
            // A copy of a fixed length is faster.
            choices.extend_from_slice(&written.bytes);
            choices.truncate(end);
        } else {
            make_room_for(choices, written.len as usize);
            choices.extend_from_slice(&self.automaton.bytes[written.first as usize..][..written.len as usize]);
        }
    }

    #[inline]
    fn write_member(&self, number: u32, choices: &mut Vec<u8>) {
        if let Some(code) = &self.automaton.codes[number as usize]
            && code.append(self.text[self.position], choices)
        {
            return;
        }
        let class = &self.program.classes[number as usize];
        if let Some(place) = first_character(&self.text[self.position..]).and_then(|(member, _)| class.place(member)) {
            encode(&self.program.sites[class.site as usize], place, choices);
        }
    }
}
