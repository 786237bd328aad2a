//! One position of the text, from a configuration on: the steps of the machine, where lists are made of the registers
//! of the configuration, and all that is asked of the text is recorded.
//!
//! The steps are those of `machine.rs`, in the same order.

use std::collections::HashMap;

use super::configuration::{BASE, Configuration, Edge, Graph, RETURNING, Waiting};
use super::hash::Mixing;
use super::symbols::Sample;
use crate::arena::{EMPTY, NONE, Seen};
use crate::program::{NOT, Next, Program, State, StateId};

/// A question that was asked of the next symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Question {
    /// Question whether a state allows it.
    Allows(StateId),
    /// Question whether a state's own derivation can begin with it.
    Begins(StateId),
    /// Question whether it is this byte.
    Is(u8),
    /// Question whether it is in this class.
    In(u32),
    /// Question whether it has this number of bytes.
    Length(u8),
}

/// A list of choices: another list and a part after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub before: u32,
    pub part: Part,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// The list in a register.
    Register(u32),
    Choice {
        site: u32,
        option: u32,
    },
    /// The member of a class that stands at this position.
    Class(u32),
    Zeros(u32),
    /// A mark of the program, or [`MET`].
    Mark(u32),
    /// A place where other threads may have come to, by its number.
    Meeting(u32),
    List(u32),
}

/// The mark of a place that several derivations lead to, ...
pub(crate) const MET: u32 = u32::MAX;
/// ... and of one where none of them has marks at this position.
pub(crate) const MET_PLAINLY: u32 = u32::MAX - 1;

/// Lists of more parts are taken to have marks.
const MOST_PARTS: usize = 64;

/// The register of the frame that ended at this position.
pub(super) const RETURNED: u32 = (1 << 31) - 1;

/// The most steps of a trial, and the most threads and edges of its result.
const MOST_STEPS: u32 = 1 << 14;
const MOST: usize = 4000;

#[derive(Clone, Copy, Debug)]
struct Thread {
    state: StateId,
    count: u32,
    frame: u32,
    list: u32,
}

/// Memory that all trials use.
#[derive(Debug)]
pub(super) struct Scratch {
    seen: Seen,
    /// The number of the trial that called each callee, and the frame.
    called: Vec<(u32, u32)>,
    trial: u32,
    /// Memory for what trials find.
    found: Found,
    /// Memory for one of the configurations that a trial leads to, and for the lists of its registers.
    pub part: (Configuration, Vec<u32>),
}

/// Findings of a trial.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The frames, and the threads that wait for the next position.
    pub graph: Graph,
    pub lists: Vec<List>,
    pub questions: Vec<Question>,
    /// For each frame that is not of this position, the count with which it has ended first.
    ended: Vec<Option<u32>>,
    /// Frames that have ended with other counts, too.
    ended_again: Vec<(u32, u32)>,
    open: Vec<Thread>,
}

impl Found {
    fn clear(&mut self, from: &Configuration) {
        self.graph.clear(from.is_lowest);
        self.lists.clear();
        self.questions.clear();
        self.ended.clear();
        self.ended.resize(from.ends.len(), None);
        self.ended_again.clear();
        self.open.clear();
    }
}

impl Scratch {
    pub fn new(program: &Program) -> Scratch {
        let called = vec![(0, NONE); program.callees.len()];
        Scratch { seen: Seen::new(), called, trial: 0, found: Found::default(), part: Default::default() }
    }

    fn clear(&mut self) {
        self.seen.clear();
        self.trial = self.trial.wrapping_add(1);
        if self.trial == 0 {
            self.called.fill((0, NONE));
            self.trial = 1;
        }
    }
}

pub(super) struct Trial<'p, 's> {
    program: &'p Program,
    pub scratch: &'s mut Scratch,
    sample: Sample,
    pub found: Found,
    /// Number of frames that are not of this position.
    old: usize,
    is_start: bool,
    pub steps: u32,
    /// The list of the base if it ended, and whether it ended with another count too.
    base: Option<u32>,
    has_ended_again: bool,
    accepted: Option<u32>,
    pub meetings: Meetings,
}

/// The places that threads of a relaxed program came to, each with its number; the list of the first thread there, and
/// the mark of the place if others came to it later.
#[derive(Debug, Default)]
pub(super) struct Meetings {
    numbers: HashMap<(StateId, u32, u32), u32, Mixing>,
    places: Vec<(u32, Option<u32>)>,
    /// Whether there was one thread at the beginning, and whether one of several has come to a mark.
    is_certain: bool,
    pub has_marks: bool,
}

/// The state of a place that is the end of a frame.
const ENDED: StateId = NONE;

/// The result of a trial.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outcome {
    /// All threads have ended.
    Dead,
    /// The text is derived, by the choices in this list.
    Accepted(u32),
    /// The base has ended, with this list, and nothing else goes on.
    Ended(u32),
    /// The base has ended, and something else goes on, too.
    Mixed,
    /// Threads wait.
    Waits,
    /// The trial was given up.
    Large,
}

impl<'p, 's> Trial<'p, 's> {
    pub fn new(program: &'p Program, scratch: &'s mut Scratch, sample: Sample, from: &Configuration) -> Trial<'p, 's> {
        scratch.clear();
        let mut found = std::mem::take(&mut scratch.found);
        found.clear(from);
        let mut trial = Trial {
            program,
            scratch,
            sample,
            found,
            old: from.ends.len(),
            is_start: from.is_start,
            steps: 0,
            base: None,
            has_ended_again: false,
            accepted: None,
            meetings: Meetings { is_certain: from.registers() == 1, ..Meetings::default() },
        };
        let Found { graph, lists, .. } = &mut trial.found;
        graph.add_frames(from, |frame| frame, |register| add(lists, EMPTY, Part::Register(register)));
        trial
    }

    /// Gives the memory back.
    pub fn end_trial(self) {
        self.scratch.found = self.found;
    }

    /// Follows all threads of the configuration through this position.
    pub fn run(&mut self, from: &Configuration) -> Outcome {
        if self.is_start {
            self.scratch.called[self.program.start as usize] = (self.scratch.trial, BASE);
        }
        if from.threads.is_empty() {
            let list = self.register(RETURNED);
            self.end(RETURNING, 0, list);
            self.follow();
        }
        for (register, waiting) in (0..).zip(&from.threads).filter(|(_, waiting)| waiting.ahead > 0) {
            self.wait_on(register, waiting);
        }
        for (register, waiting) in (0..).zip(&from.threads).filter(|(_, waiting)| waiting.ahead == 0) {
            let Waiting { state, count, frame, .. } = *waiting;
            if self.allows(state) {
                let list = self.register(register);
                self.found.open.push(Thread { state, count, frame, list });
                self.follow();
            }
        }
        self.outcome()
    }

    fn outcome(&mut self) -> Outcome {
        self.mark_meetings();
        let registers = self.found.graph.frames.edges() + self.found.graph.threads.len();
        if self.steps > MOST_STEPS || registers > MOST {
            return Outcome::Large;
        }
        match (self.accepted, self.base, self.found.graph.threads.is_empty()) {
            (Some(list), ..) => Outcome::Accepted(list),
            (_, Some(list), true) if !self.has_ended_again => Outcome::Ended(list),
            (_, Some(_), _) => Outcome::Mixed,
            (_, None, true) => Outcome::Dead,
            (_, None, false) => {
                // Threads that waited for the same position come first.
                self.found.graph.threads.sort_by_key(|(thread, _)| thread.ahead);
                Outcome::Waits
            }
        }
    }

    fn follow(&mut self) {
        while let Some(thread) = self.found.open.pop() {
            self.steps += 1;
            if self.steps <= MOST_STEPS {
                self.step(thread);
            }
        }
    }

    fn register(&mut self, register: u32) -> u32 {
        add(&mut self.found.lists, EMPTY, Part::Register(register))
    }

    fn allows(&mut self, state: StateId) -> bool {
        self.found.questions.push(Question::Allows(state));
        self.program.lookahead.allows(state, self.sample.byte)
    }

    fn push(&mut self, state: StateId, thread: Thread) {
        if self.allows(state) {
            self.found.open.push(Thread { state, ..thread });
        }
    }

    fn choose(&mut self, thread: Thread, site: u32, option: u32) -> Thread {
        Thread { list: add(&mut self.found.lists, thread.list, Part::Choice { site, option }), ..thread }
    }

    /// Lets a waiting thread wait for one position less.
    fn wait_on(&mut self, register: u32, waiting: &Waiting) {
        let Waiting { ahead, literal, .. } = *waiting;
        if literal != NONE {
            let byte = self.program.bytes[literal as usize];
            self.found.questions.push(Question::Is(byte));
            if self.sample.byte != Some(byte) {
                return;
            }
        }
        if self.sample.byte.is_some() {
            let literal = if literal == NONE || ahead == 1 { NONE } else { literal + 1 };
            let list = self.register(register);
            self.found.graph.threads.push((Waiting { ahead: ahead - 1, literal, ..*waiting }, list));
        }
    }

    /// Lets a thread wait for the position after something of `len` bytes; the first one has been read.
    fn wait(&mut self, thread: Thread, next: StateId, len: u32, literal: u32) {
        let Thread { count, frame, list, .. } = thread;
        self.found.graph.threads.push((Waiting { ahead: len - 1, literal, state: next, count, frame }, list));
    }

    /// Notes that a thread is the first one that comes to a place. Returns its list.
    fn first_at(&mut self, state: StateId, count: u32, frame: u32, list: u32) -> u32 {
        if self.program.marks.is_none() {
            return list;
        }
        let number = self.meetings.places.len() as u32;
        self.meetings.places.push((list, None));
        self.meetings.numbers.insert((state, count, frame), number);
        add(&mut self.found.lists, list, Part::Meeting(number))
    }

    /// Notes that a thread comes to a place where another one was before.
    fn meet(&mut self, state: StateId, count: u32, frame: u32, list: u32) {
        let Some(&number) = self.meetings.numbers.get(&(state, count, frame)) else { return };
        let (first, met) = self.meetings.places[number as usize];
        let is_plain = met != Some(MET) && {
            let parting = self.parting(first, list);
            !self.has_marks_in(first, parting) && !self.has_marks_in(list, parting)
        };
        self.meetings.places[number as usize].1 = Some(if is_plain { MET_PLAINLY } else { MET });
    }

    /// Returns the list that two lists go on from. It is empty if none is found.
    fn parting(&self, first: u32, second: u32) -> u32 {
        let before = |&list: &u32| Some(self.found.lists[list as usize].before).filter(|&list| list != EMPTY);
        let chain = |list| std::iter::successors(Some(list).filter(|&list| list != EMPTY), before).take(MOST_PARTS);
        let first: Vec<u32> = chain(first).collect();
        chain(second).find(|list| first.contains(list)).unwrap_or(EMPTY)
    }

    /// Returns true if there are marks in a list after another one that it goes on from, or could be.
    fn has_marks_in(&self, list: u32, after: u32) -> bool {
        let mut open = vec![list];
        for _ in 0..MOST_PARTS {
            let Some(list) = open.pop() else { return false };
            if list == EMPTY || list == after {
                continue;
            }
            let List { before, part } = self.found.lists[list as usize];
            open.push(before);
            match part {
                Part::Mark(_) => return true,
                Part::List(list) => open.push(list),
                _ => {}
            }
        }
        true
    }

    /// Marks the places in lists that several threads came to: more than one derivation leads there.
    fn mark_meetings(&mut self) {
        for List { part, .. } in &mut self.found.lists {
            if let Part::Meeting(number) = *part
                && let (_, Some(mark)) = self.meetings.places[number as usize]
            {
                *part = Part::Mark(mark);
            }
        }
    }

    fn step(&mut self, mut thread: Thread) {
        let program = self.program;
        let Thread { state, count, frame, .. } = thread;
        if program.joins[state as usize] {
            if !self.scratch.seen.insert(state, count, frame) {
                return self.meet(state, count, frame, thread.list);
            }
            thread.list = self.first_at(state, count, frame, thread.list);
        }
        let list = thread.list;
        match program.states[state as usize] {
            State::Bytes { start, len, next } => {
                let byte = program.bytes[start as usize];
                self.found.questions.push(Question::Is(byte));
                if self.sample.byte == Some(byte) {
                    self.wait(thread, next, len, if len == 1 { NONE } else { start + 1 });
                }
            }
            State::Class { class, next } => self.class(thread, class, next),
            State::Choice { site, first, count } => {
                let from = self.found.open.len();
                for place in first..first + count {
                    let (option, target) = (program.options[place as usize], program.targets[place as usize]);
                    if self.allows(target) {
                        let thread = self.choose(thread, site, option);
                        self.found.open.push(Thread { state: target, ..thread });
                    }
                }
                self.found.open[from..].reverse();
                self.steps += count / 8;
            }
            State::Rounds { site, item, stop } => {
                for (option, target) in [(0, stop), (1, item)] {
                    if self.allows(target) {
                        let thread = self.choose(thread, site, option);
                        self.found.open.push(Thread { state: target, ..thread });
                    }
                }
            }
            State::Call { callee, next, skip } => self.call(thread, callee, next, skip),
            State::Count { repeat } => self.count(thread, repeat),
            State::Round { repeat } => {
                let repeat = &program.repeats[repeat as usize];
                self.push(repeat.count, Thread { count: repeat.after_one_more(count), ..thread });
            }
            State::Mark { mark, next } => {
                let is_only =
                    self.meetings.is_certain && self.found.open.is_empty() && self.found.graph.threads.is_empty();
                self.meetings.has_marks |= !is_only;
                let list = add(&mut self.found.lists, list, Part::Mark(mark));
                self.push(next, Thread { list, ..thread });
            }
            // Programs of threads with environments have no automaton.
            State::Operation { .. } => {}
            State::End => self.end(frame, count, list),
        }
    }

    fn class(&mut self, thread: Thread, number: u32, next: StateId) {
        self.found.questions.push(Question::In(number));
        if let Some(len) = member_len(self.program, number, &self.sample) {
            self.found.questions.push(Question::Length(self.sample.len()));
            let list = add(&mut self.found.lists, thread.list, Part::Class(number));
            self.wait(Thread { list, ..thread }, next, len, NONE);
        }
    }

    fn call(&mut self, thread: Thread, callee: u32, next: StateId, skip: bool) {
        let data = &self.program.callees[callee as usize];
        let Thread { count, frame, list, .. } = thread;
        if data.nullable && skip && self.allows(next) {
            let list = self.zeros(list, data.zeros);
            self.found.open.push(Thread { state: next, list, ..thread });
        }
        self.found.questions.push(Question::Begins(data.entry));
        if !self.program.lookahead.begins(data.entry, self.sample.byte) {
            return;
        }
        let (trial, at) = self.scratch.called[callee as usize];
        let to = if trial == self.scratch.trial {
            at
        } else {
            let to = self.found.graph.frames.len() as u32;
            self.found.graph.frames.add();
            self.found.graph.counted.push(matches!(self.program.states[data.entry as usize], State::Count { .. }));
            self.scratch.called[callee as usize] = (self.scratch.trial, to);
            self.found.open.push(Thread { state: data.entry, count: 0, frame: to, list: EMPTY });
            to
        };
        self.found.graph.frames.push(to, Edge { state: next, count, frame, list });
    }

    fn zeros(&mut self, mut list: u32, mut count: u64) -> u32 {
        while count > 0 {
            let some = u32::try_from(count).unwrap_or(u32::MAX);
            list = add(&mut self.found.lists, list, Part::Zeros(some));
            count -= u64::from(some);
        }
        list
    }

    fn count(&mut self, thread: Thread, repeat: u32) {
        let repeat = &self.program.repeats[repeat as usize];
        match repeat.next(thread.count) {
            Next::Round { zeros } => {
                if let Some(zeros) = zeros {
                    let list = self.zeros(thread.list, zeros);
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

    /// Ends a frame. Threads can come to its end by several states, as a caller can have taken its callee's place, and
    /// with several counts, if the frame is of a counted repetition.
    fn end(&mut self, frame: u32, count: u32, list: u32) {
        let is_new = frame as usize >= self.old || self.is_start;
        if is_new {
            return;
        }
        if !self.is_first_end(frame, count) {
            return self.meet(ENDED, count, frame, list);
        }
        let list = self.first_at(ENDED, count, frame, list);
        if frame == BASE && !self.found.graph.is_lowest {
            self.has_ended_again = self.base.is_some();
            self.base = self.base.or(Some(list));
            return;
        }
        if frame == BASE && self.sample.byte.is_none() && self.accepted.is_none() {
            self.accepted = Some(list);
        }
        let (top, before) = self.top(frame);
        if top != frame {
            let list = join(&mut self.found.lists, before, list);
            return self.end(top, 0, list);
        }
        let from = self.found.open.len();
        let mut place = self.found.graph.frames.first(frame);
        while place != NONE {
            let (caller, next) = self.found.graph.frames.at(place);
            place = next;
            self.steps += 1;
            if self.allows(caller.state) {
                let list = join(&mut self.found.lists, caller.list, list);
                self.found.open.push(Thread { state: caller.state, count: caller.count, frame: caller.frame, list });
            }
        }
        self.found.open[from..].reverse();
    }

    /// Notes that a frame ends with a count. Returns whether it does so for the first time.
    fn is_first_end(&mut self, frame: u32, count: u32) -> bool {
        match self.found.ended[frame as usize] {
            None => self.found.ended[frame as usize] = Some(count),
            Some(first) if first == count || self.found.ended_again.contains(&(frame, count)) => return false,
            Some(_) => self.found.ended_again.push((frame, count)),
        }
        true
    }

    /// Returns the frame at which a chain of ends ends, and the choices in it: the end of `frame` may be the end of its
    /// only caller, and so on.
    fn top(&mut self, frame: u32) -> (u32, u32) {
        let (mut top, mut list) = (frame, EMPTY);
        while top != BASE
            && let Some(edge) = self.found.graph.frames.only(top)
            && matches!(self.program.states[edge.state as usize], State::End)
        {
            list = join(&mut self.found.lists, edge.list, list);
            top = edge.frame;
        }
        (top, list)
    }
}

/// Returns how long the symbol is if it is in a class.
pub(super) fn member_len(program: &Program, class: u32, sample: &Sample) -> Option<u32> {
    let class = &program.classes[class as usize];
    match &class.places {
        Some(places) => sample.byte.filter(|&byte| places[usize::from(byte)] != NOT).map(|_| 1),
        None => {
            let (character, len) = sample.character?;
            class.place(character).map(|_| u32::from(len))
        }
    }
}

fn add(lists: &mut Vec<List>, before: u32, part: Part) -> u32 {
    lists.push(List { before, part });
    lists.len() as u32 - 1
}

/// Joins two lists, one after the other.
pub(super) fn join(lists: &mut Vec<List>, before: u32, after: u32) -> u32 {
    match (before, after) {
        (EMPTY, list) | (list, EMPTY) => list,
        _ => add(lists, before, Part::List(after)),
    }
}
