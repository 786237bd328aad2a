//! The choices of one derivation, read backwards from the log of a run.

use super::trial::RETURNED;
use super::{Automaton, MANY, Merged, Transition, TransitionId};
use crate::arena::{NONE, make_room_for};
use crate::machine::{encode, first_character};
use crate::program::Program;

/// A register of the configuration at a place of the log, or of one below. Its choices belong to the derivation.
#[derive(Clone, Copy, Debug)]
struct Register {
    /// The number of configurations below its own.
    level: u32,
    number: u32,
}

pub(super) struct Trace<'a, 't> {
    program: &'a Program,
    automaton: &'a Automaton,
    text: &'t [u8],
    /// The position and the level at the place of the log.
    position: usize,
    level: u32,
    /// The choices before this place are those of these registers, one after another.
    open: Vec<Register>,
}

impl<'a, 't> Trace<'a, 't> {
    pub fn new(
        program: &'a Program,
        automaton: &'a Automaton,
        text: &'t [u8],
        position: usize,
        level: usize,
    ) -> Trace<'a, 't> {
        Trace { program, automaton, text, position, level: level as u32, open: Vec::new() }
    }

    /// Appends the choice bytes where each configuration has one register, the last byte first.
    pub fn of_only(mut self, log: &[TransitionId], choices: &mut Vec<u8>) {
        self.open.extend((0..=self.level).map(|level| Register { level, number: 0 }));
        self.back(log, choices);
    }

    /// Appends the choice bytes of a text that is derived, the last byte first.
    pub fn of_accepted(mut self, origin: u32, log: &[TransitionId], choices: &mut Vec<u8>) {
        self.open.push(Register { level: 0, number: RETURNED });
        self.replace(0, origin, 0, choices);
        self.back(log, choices);
    }

    fn back(&mut self, log: &[TransitionId], choices: &mut Vec<u8>) {
        for &transition in log.iter().rev() {
            match self.automaton.transitions[transition as usize] {
                Transition::Step { origins, .. } => {
                    self.position -= 1;
                    self.step(origins, choices);
                }
                Transition::Steps { first, count } => {
                    self.position -= 1;
                    self.level -= count - 1;
                    self.steps(first, choices);
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
    }

    fn step(&mut self, origins: u32, choices: &mut Vec<u8>) {
        let mut place = self.open.len();
        while place > 0 && self.open[place - 1].level >= self.level {
            place -= 1;
            self.replace(place, origins + self.open[place].number, self.level, choices);
        }
    }

    fn steps(&mut self, first: u32, choices: &mut Vec<u8>) {
        let mut place = self.open.len();
        while place > 0 && self.open[place - 1].level >= self.level {
            place -= 1;
            let Register { level, number } = self.open[place];
            let part = first + (level - self.level);
            self.replace(place, self.automaton.parts[part as usize].1 + number, self.level, choices);
        }
    }

    fn returned(&mut self, origin: u32, choices: &mut Vec<u8>) {
        if let Some(last) = self.open.len().checked_sub(1)
            && self.open[last].number == RETURNED
        {
            self.replace(last, origin, self.level, choices);
        }
    }

    /// Replaces the register at a place by those that it comes from, and writes the choices made here.
    #[inline]
    fn replace(&mut self, place: usize, origin: u32, level: u32, choices: &mut Vec<u8>) {
        let origin = self.automaton.origins[origin as usize];
        if origin.class != NONE {
            self.write_member(origin.class, choices);
        }
        if origin.len > 0 {
            let bytes = &self.automaton.bytes[origin.first as usize..][..origin.len as usize];
            make_room_for(choices, bytes.len());
            choices.extend_from_slice(bytes);
        }
        if origin.source & MANY == 0 {
            self.open[place] = Register { level, number: origin.source };
        } else {
            self.replace_by_others(place, origin.source, level);
        }
    }

    /// The register comes from none, or from several.
    fn replace_by_others(&mut self, place: usize, source: u32, level: u32) {
        let automaton = self.automaton;
        let sources: &[u32] = if source == NONE { &[] } else { &automaton.sources[(source & !MANY) as usize] };
        let registers = sources.iter().rev().map(|&number| Register { level, number });
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
            *register = Register { level: level + u32::from(is_above), number };
        }
    }

    #[inline]
    fn write_member(&self, number: u32, choices: &mut Vec<u8>) {
        make_room_for(choices, 4);
        let byte = self.text[self.position];
        let code = &self.automaton.codes[number as usize];
        if let Some(code) = code
            && code.has(byte)
        {
            choices.extend_from_slice(code.of(byte));
            return;
        }
        let class = &self.program.classes[number as usize];
        if let Some(place) = first_character(&self.text[self.position..]).and_then(|(member, _)| class.place(member)) {
            encode(&self.program.sites[class.site as usize], place, choices);
        }
    }
}
