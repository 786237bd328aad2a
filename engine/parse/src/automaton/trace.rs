//! The choices of one derivation, read backwards from the log of a run.

use super::origins::{MANY, Mark, NOTHING, Origin, SHORT};
use super::trial::RETURNED;
use super::views::{Change, Changed, Last, NO_REGISTERS, NO_VIEW, Register, UNNUMBERED, ViewId, push};
use super::{Automaton, MET, MET_PLAINLY, Merged, Place, Transition, TransitionId, code};
use crate::arena::{NONE, make_room_for};
use crate::machine::{encode, first_character};
use crate::program::Program;

/// A step goes through the registers of a view without a number. With more than this number that would take too long.
const MOST_OPEN: usize = 1 << 10;

/// There are more choice bytes or registers than can be.
#[derive(Debug)]
pub(super) struct TooMany;

pub(super) struct Trace<'a, 't> {
    program: &'a Program,
    automaton: &'a mut Automaton,
    text: &'t [u8],
    /// The position at the place of the log.
    position: usize,
    /// For each configuration at the place of the log, from the lowest one on, its registers. The choices before this
    /// place are those of these registers, one after another.
    levels: Vec<ViewId>,
    /// The registers of the views without numbers, in the same order.
    unnumbered: Vec<Vec<Register>>,
    /// The most choice bytes and memory for marks, and the most memory for views.
    most: usize,
    most_views: usize,
    choices: &'a mut Vec<u8>,
    marks: &'a mut Vec<Placed>,
    meetings: Meetings,
}

/// Marks of places that several derivations lead to, which differ behind the place of the log.
#[derive(Debug, Default)]
struct Meetings {
    /// The places in the list of marks.
    open: Vec<usize>,
    /// The number of marks that were looked at.
    looked_at: usize,
    /// The least number of configurations since the places.
    least: usize,
}

/// A mark of the program, at a place of the text and of the choice bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placed {
    pub mark: u32,
    pub position: u32,
    /// The number of choice bytes before it; while they are written backwards, after it.
    pub choice: usize,
}

/// The number of a view; its registers, if it has none.
type Level = (ViewId, Vec<Register>);

/// A change that is made for the first time.
#[derive(Debug, Default)]
struct First {
    view: Vec<Register>,
    above: Vec<Register>,
    /// The choices at this position, the last ones first, and how many times each is written in succession.
    written: Vec<(u32, u32)>,
}

impl<'a, 't> Trace<'a, 't> {
    /// Appends the choice bytes to `choices`, the last byte first, and so the marks to `marks`.
    pub fn new(
        program: &'a Program,
        automaton: &'a mut Automaton,
        text: &'t [u8],
        position: usize,
        [most, most_views]: [usize; 2],
        (choices, marks): (&'a mut Vec<u8>, &'a mut Vec<Placed>),
    ) -> Trace<'a, 't> {
        let (levels, unnumbered) = (Vec::new(), Vec::new());
        let meetings = Meetings { looked_at: marks.len(), ..Meetings::default() };
        Trace { program, automaton, text, position, levels, unnumbered, most, most_views, choices, marks, meetings }
    }

    /// Writes the choice bytes where each configuration has one register.
    pub fn of_only(mut self, log: &[TransitionId], levels: usize) -> Result<(), TooMany> {
        let level = self.number(vec![Register { number: 0, times: 1 }]);
        (0..levels).for_each(|_| self.push_level(level.clone()));
        self.back(log)
    }

    /// Writes the choice bytes of a text that is derived.
    pub fn of_accepted(mut self, origin: u32, log: &[TransitionId]) -> Result<(), TooMany> {
        let mut first = First::default();
        self.take_origin(Register { number: RETURNED, times: 1 }, origin, &mut first.view, &mut first.written)?;
        first.view.reverse();
        self.write_times(&first.written)?;
        let level = self.number(first.view);
        self.push_level(level);
        self.back(log)
    }

    fn back(&mut self, log: &[TransitionId]) -> Result<(), TooMany> {
        self.automaton.views.make_room(&self.automaton.transitions);
        if self.program.marks.is_none() {
            return self.back_by::<false>(log);
        }
        self.automaton.places.resize(self.automaton.transitions.len(), Place::default());
        self.look_at_meetings();
        self.back_by::<true>(log)
    }

    /// Goes back over transitions, of a relaxed program or not.
    fn back_by<const RELAXED: bool>(&mut self, log: &[TransitionId]) -> Result<(), TooMany> {
        for &transition in log.iter().rev() {
            if self.choices.len() > self.most {
                return Err(TooMany);
            }
            let Last { from, changed } = *self.automaton.views.last(transition);
            match self.levels.last_mut() {
                Some(view) if *view == from => {
                    // Only a step is a change of one configuration to one.
                    self.position -= usize::from(changed.above == NO_VIEW);
                    self.enter(changed);
                }
                _ => self.back_over(transition)?,
            }
            if RELAXED && (!self.meetings.open.is_empty() || self.meetings.looked_at < self.marks.len()) {
                self.follow_meetings(transition);
            }
        }
        Ok(())
    }

    /// Looks for derivations that part at a transition. The machine prefers the same one in the grammar itself if they
    /// meet again without a mark on any way: there only marked parts differ. Other places become [`MET`].
    fn follow_meetings(&mut self, transition: TransitionId) {
        let Place { is_certain, has_marks } = self.automaton.places[transition as usize];
        self.meetings.least = self.meetings.least.min(self.levels.len());
        if has_marks {
            self.meetings.open.drain(..).for_each(|place| self.marks[place].mark = MET);
        }
        self.look_at_meetings();
        // All ways since then come from the only register here.
        if is_certain && self.levels.len() <= self.meetings.least {
            self.meetings.open.clear();
        }
    }

    /// Looks at the marks that were added since the last call.
    fn look_at_meetings(&mut self) {
        for place in self.meetings.looked_at..self.marks.len() {
            if self.marks[place].mark == MET_PLAINLY {
                let are_first = self.meetings.open.is_empty();
                self.meetings.least = if are_first { self.levels.len() } else { self.meetings.least };
                self.meetings.open.push(place);
            }
        }
        self.meetings.looked_at = self.marks.len();
    }

    /// Goes back over one transition.
    fn back_over(&mut self, transition: TransitionId) -> Result<(), TooMany> {
        let change = match self.automaton.transitions[transition as usize] {
            Transition::Step { origins, .. } => {
                self.position -= 1;
                Change::Step { origins }
            }
            Transition::Steps { first, count } => {
                self.position -= 1;
                return self.steps(first, count);
            }
            Transition::Return { origin } => Change::Return { origin },
            Transition::Merge { first, .. } => Change::Merge { first },
            Transition::Accept { .. } | Transition::None => return Ok(()),
        };
        if let Some(last) = self.change(change)? {
            *self.automaton.views.last(transition) = last;
        }
        Ok(())
    }

    /// Changes the highest view. If the change adds a configuration, its view comes above. The result if views with
    /// numbers lead to each other.
    fn change(&mut self, change: Change) -> Result<Option<Last>, TooMany> {
        let from = self.levels.last().copied().unwrap_or(NO_REGISTERS);
        if let Some(changed) = self.automaton.views.changed(change, from) {
            self.enter(changed);
            return Ok(Some(Last { from, changed }));
        }
        self.change_first(change)?;
        Ok(None)
    }

    #[inline]
    fn enter(&mut self, Changed { view, above, written }: Changed) {
        if let Some(highest) = self.levels.last_mut() {
            *highest = view;
        }
        if above != NO_VIEW {
            make_room_for(&mut self.levels, 1);
            self.levels.push(above);
        }
        if written != NOTHING {
            self.write(written);
        }
    }

    fn change_first(&mut self, change: Change) -> Result<(), TooMany> {
        let from = self.pop_level();
        let registers = self.registers(&from);
        let First { view, above, written } = match change {
            Change::Step { origins } => self.stepped(registers, origins)?,
            Change::Return { origin } => self.returned(registers, origin)?,
            Change::Merge { first } => self.merged(registers, first),
        };
        self.write_times(&written)?;
        let is_step = matches!(change, Change::Step { .. });
        let view = self.number(view);
        let above = if is_step { (NO_VIEW, Vec::new()) } else { self.number(above) };
        if ![from.0, view.0, above.0].contains(&UNNUMBERED)
            && let Some(written) = self.automaton.origins.write_all(&written)
        {
            let changed = Changed { view: view.0, above: above.0, written };
            self.automaton.views.set_changed(change, from.0, changed, self.most_views);
        }
        self.push_level(view);
        if !is_step {
            self.push_level(above);
        }
        Ok(())
    }

    /// Goes back over a transition to several configurations: the views of all of them come from one.
    fn steps(&mut self, first: u32, count: u32) -> Result<(), TooMany> {
        let mut after = (NO_REGISTERS, Vec::new());
        for part in (first..first + count).rev() {
            self.change(Change::Step { origins: self.automaton.parts[part as usize].1 })?;
            let before = self.pop_level();
            after = self.join(before, after);
        }
        self.push_level(after);
        Ok(())
    }

    fn join(&mut self, before: Level, after: Level) -> Level {
        if let Some(view) = self.automaton.views.joined(before.0, after.0) {
            return (view, Vec::new());
        }
        let mut registers = self.registers(&before).to_vec();
        self.registers(&after).iter().for_each(|&register| push(&mut registers, register));
        let level = self.number(registers);
        if ![before.0, after.0, level.0].contains(&UNNUMBERED) {
            self.automaton.views.set_joined(before.0, after.0, level.0);
        }
        level
    }

    fn stepped(&self, registers: &[Register], origins: u32) -> Result<First, TooMany> {
        let mut first = First::default();
        for &register in registers.iter().rev() {
            self.take_origin(register, origins + register.number, &mut first.view, &mut first.written)?;
        }
        first.view.reverse();
        Ok(first)
    }

    fn returned(&self, registers: &[Register], origin: u32) -> Result<First, TooMany> {
        let mut first = First { view: registers.to_vec(), ..First::default() };
        if let Some(last) = first.view.pop_if(|last| last.number == RETURNED) {
            self.take_origin(last, origin, &mut first.above, &mut first.written)?;
            first.above.reverse();
        }
        Ok(first)
    }

    fn merged(&self, registers: &[Register], first: u32) -> First {
        let mut split = First::default();
        for &register in registers {
            if register.number == RETURNED {
                push(&mut split.above, register);
                continue;
            }
            let Merged { is_above, register: number } = self.automaton.merged[(first + register.number) as usize];
            push(if is_above { &mut split.above } else { &mut split.view }, Register { number, ..register });
        }
        split
    }

    /// Appends the registers that one comes from, and the choices made here; the last ones first.
    fn take_origin(
        &self,
        register: Register,
        origin: u32,
        registers: &mut Vec<Register>,
        written: &mut Vec<(u32, u32)>,
    ) -> Result<(), TooMany> {
        let origin: Origin = self.automaton.origins.list[origin as usize];
        if origin.written != NOTHING {
            written.push((origin.written, register.times));
        }
        if origin.source & MANY == 0 {
            push(registers, Register { number: origin.source, ..register });
        } else if origin.source != NONE {
            let sources = &self.automaton.origins.sources[(origin.source & !MANY) as usize];
            for _ in 0..register.times {
                sources.iter().for_each(|&number| push(registers, Register { number, times: 1 }));
                if registers.len() > MOST_OPEN {
                    return Err(TooMany);
                }
            }
        }
        if registers.len() > MOST_OPEN { Err(TooMany) } else { Ok(()) }
    }

    fn number(&mut self, registers: Vec<Register>) -> Level {
        match self.automaton.views.number(&registers, self.most_views) {
            UNNUMBERED => (UNNUMBERED, registers),
            view => (view, Vec::new()),
        }
    }

    fn registers<'l>(&'l self, (view, registers): &'l Level) -> &'l [Register] {
        if *view == UNNUMBERED { registers } else { self.automaton.views.registers(*view) }
    }

    fn push_level(&mut self, (view, registers): Level) {
        make_room_for(&mut self.levels, 1);
        self.levels.push(view);
        if view == UNNUMBERED {
            self.unnumbered.push(registers);
        }
    }

    fn pop_level(&mut self) -> Level {
        match self.levels.pop() {
            Some(UNNUMBERED) => (UNNUMBERED, self.unnumbered.pop().unwrap_or_default()),
            view => (view.unwrap_or(NO_REGISTERS), Vec::new()),
        }
    }

    /// Writes choices, each a number of times. Left recursion writes those of each level at one position, so there can
    /// be many times as many as bytes in the text.
    fn write_times(&mut self, written: &[(u32, u32)]) -> Result<(), TooMany> {
        for &(written, times) in written {
            for _ in 0..times {
                if self.choices.len() > self.most {
                    return Err(TooMany);
                }
                self.write(written);
            }
        }
        Ok(())
    }

    /// Writes the choices made at this position.
    #[inline]
    fn write(&mut self, place: u32) {
        let written = &self.automaton.origins.written[place as usize];
        make_room_for(self.choices, SHORT + code::MOST);
        if written.class != NONE {
            write_member(self.program, self.automaton, &self.text[self.position..], written.class, self.choices);
        }
        if written.len as usize <= SHORT {
            // A copy of a fixed length is faster.
            let end = self.choices.len() + written.len as usize;
            self.choices.extend_from_slice(&written.bytes);
            self.choices.truncate(end);
        } else {
            let (bytes, marks) = (self.automaton.origins.written_bytes(place), self.automaton.origins.marks_at(place));
            let taken = place_marks(marks, self.position, self.choices.len(), self.marks);
            self.most = self.most.saturating_sub(taken);
            make_room_for(self.choices, bytes.len());
            self.choices.extend_from_slice(bytes);
        }
    }
}

/// Places marks where so many choice bytes come after them. Returns the memory that they take, in bytes. Programs of
/// grammars without labels have none.
fn place_marks(marks: &[Mark], position: usize, choices: usize, placed: &mut Vec<Placed>) -> usize {
    make_room_for(placed, marks.len());
    let position = position as u32;
    placed.extend(marks.iter().map(|&(after, mark)| Placed { mark, position, choice: choices + after as usize }));
    marks.len() * size_of::<Placed>()
}

#[inline]
fn write_member(program: &Program, automaton: &Automaton, text: &[u8], number: u32, choices: &mut Vec<u8>) {
    if let Some(code) = &automaton.origins.codes[number as usize]
        && code.append(text[0], choices)
    {
        return;
    }
    let class = &program.classes[number as usize];
    if let Some(place) = first_character(text).and_then(|(member, _)| class.place(member)) {
        encode(&program.sites[class.site as usize], place, choices);
    }
}
