//! The choices of one derivation, read backwards from the log of a run.

use super::trial::RETURNED;
use super::{Automaton, Item, Merged, Origin, Transition, TransitionId};
use crate::arena::make_room_for;
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
    /// Registers that replace others.
    sources: Vec<u32>,
    max_memory: usize,
}

/// The choices would take too much memory.
#[derive(Debug)]
pub(super) struct TooMuch;

impl<'a, 't> Trace<'a, 't> {
    pub fn new(
        program: &'a Program,
        automaton: &'a Automaton,
        text: &'t [u8],
        position: usize,
        level: usize,
        max_memory: usize,
    ) -> Trace<'a, 't> {
        let (open, sources) = (Vec::new(), Vec::new());
        Trace { program, automaton, text, position, level: level as u32, open, sources, max_memory }
    }

    /// Appends the choice bytes where each configuration has one register, the last byte first.
    pub fn of_only(mut self, log: &[TransitionId], choices: &mut Vec<u8>) -> Result<(), TooMuch> {
        self.open.extend((0..=self.level).map(|level| Register { level, number: 0 }));
        self.back(log, choices)
    }

    /// Appends the choice bytes of a text that is derived, the last byte first.
    pub fn of_accepted(mut self, origin: u32, log: &[TransitionId], choices: &mut Vec<u8>) -> Result<(), TooMuch> {
        let origin = self.automaton.origins[origin as usize];
        self.write(origin, choices)?;
        self.add_sources(origin, 0);
        self.back(log, choices)
    }

    fn back(&mut self, log: &[TransitionId], choices: &mut Vec<u8>) -> Result<(), TooMuch> {
        for &transition in log.iter().rev() {
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
                    self.returned(origin, choices)?;
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

    fn step(&mut self, origins: u32, choices: &mut Vec<u8>) -> Result<(), TooMuch> {
        let automaton = self.automaton;
        // Mostly each register is replaced by one other. Those that are done stay; the rest is done in the general way.
        for place in (0..self.open.len()).rev() {
            let register = &mut self.open[place];
            if register.level < self.level {
                return Ok(());
            }
            let origin = automaton.origins[(origins + register.number) as usize];
            if origin.sources != 1 {
                return self.replace(place + 1, choices, |_, register| origins + register.number);
            }
            register.number = automaton.sources[origin.first_source as usize];
            self.write(origin, choices)?;
        }
        Ok(())
    }

    fn steps(&mut self, first: u32, choices: &mut Vec<u8>) -> Result<(), TooMuch> {
        self.replace(self.open.len(), choices, |trace, register| {
            let part = first + (register.level - trace.level);
            trace.automaton.parts[part as usize].1 + register.number
        })
    }

    /// Replaces the registers of this level and of those above, up to the place `end`, by the registers that they come
    /// from.
    fn replace(
        &mut self,
        end: usize,
        choices: &mut Vec<u8>,
        origin_of: impl Fn(&Self, Register) -> u32,
    ) -> Result<(), TooMuch> {
        let start = self.open[..end].iter().rposition(|register| register.level < self.level).map_or(0, |last| last + 1);
        let mut sources = std::mem::take(&mut self.sources);
        // From the end to the beginning.
        for &register in self.open[start..end].iter().rev() {
            let origin = self.automaton.origins[origin_of(self, register) as usize];
            self.write(origin, choices)?;
            sources.extend(self.sources_of(origin));
        }
        let level = self.level;
        let replacement = sources.drain(..).rev().map(|number| Register { level, number });
        self.open.splice(start..end, replacement);
        self.sources = sources;
        Ok(())
    }

    fn returned(&mut self, origin: u32, choices: &mut Vec<u8>) -> Result<(), TooMuch> {
        if self.open.last().is_some_and(|register| register.number == RETURNED) {
            self.open.pop();
            let origin = self.automaton.origins[origin as usize];
            self.write(origin, choices)?;
            self.add_sources(origin, self.level);
        }
        Ok(())
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

    /// The registers that an origin names, the last one first.
    fn sources_of(&self, origin: Origin) -> &'a [u32] {
        &self.automaton.sources[origin.first_source as usize..][..usize::from(origin.sources)]
    }

    fn add_sources(&mut self, origin: Origin, level: u32) {
        let sources = self.sources_of(origin).iter().rev();
        self.open.extend(sources.map(|&number| Register { level, number }));
    }

    /// Appends the choices that are made at this position.
    #[inline]
    fn write(&self, origin: Origin, choices: &mut Vec<u8>) -> Result<(), TooMuch> {
        let items = &self.automaton.items[origin.first_item as usize..][..usize::from(origin.items)];
        for item in items {
            make_room_for(choices, 4);
            match *item {
                Item::Byte(byte) => choices.push(byte),
                Item::Class(class) => self.write_member(class, choices),
                Item::Zeros(count) => {
                    if choices.len() + count as usize > self.max_memory / 2 {
                        return Err(TooMuch);
                    }
                    make_room_for(choices, count as usize);
                    choices.resize(choices.len() + count as usize, 0);
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn write_member(&self, number: u32, choices: &mut Vec<u8>) {
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
