//! The machine's steps, each made once: an automaton whose states are configurations of threads.
//!
//! The work of the machine at a position depends on its threads, their frames, and the next symbol, not on the position
//! and not on the choices made. So the steps at one position are a transition from a configuration to the next one,
//! which is made when it is first needed and kept (as in a lazy DFA, and in the ALL(*) of Parr, Harwell & Fisher 2014).
//! Where all ways from the threads to the start rule lead through one frame, the configuration is cut in two: a stack
//! holds what is below, and the same configurations serve at all depths.
//!
//! A transition does not make the choices. It says from which choices before it, and by which ones at its position, the
//! choices of each thread come. The transitions that were taken are logged, and the choices of the thread that derives
//! the text are read backwards from the log (as in Dubé & Feeley 2000).

mod answers;
mod cache;
mod code;
mod configuration;
mod hash;
mod run;
mod symbols;
mod trace;
mod trial;
mod views;

use std::collections::HashMap;
use std::sync::Arc;

use crate::arena::{EMPTY, NONE};
use crate::machine::encode;
use crate::program::{Program, State};
use answers::Answers;
pub(crate) use cache::Kept;
use code::Code;
use configuration::{Configuration, Graph, RETURNING, Waiting};
use hash::Mixing;
pub(crate) use run::{GaveUp, Run};
use symbols::{END, Symbol, Symbols};
use trial::{List, Outcome, Part, Question, Scratch, Trial, join};
use views::Views;

/// The number of a configuration.
type ConfigurationId = u32;
/// The number of a transition.
type TransitionId = u32;

/// The first configuration.
const START: ConfigurationId = 0;

/// A transition of these numbers is none: it is not made yet, ...
const UNKNOWN: TransitionId = 0;
/// ... there is no derivation, ...
const DEAD: TransitionId = 1;
/// ... it has to be made with the configuration below, ...
const MIXED: TransitionId = 2;
/// ... or it is too large.
const LARGE: TransitionId = 3;

/// With more questions than this, a transition is not compared for other symbols.
const MANY_QUESTIONS: usize = 1 << 11;

#[derive(Clone, Copy, Debug)]
enum Transition {
    /// Not a transition.
    None,
    /// Reads a byte and leads to another configuration.
    Step { to: ConfigurationId, origins: u32 },
    /// Reads a byte and leads to several configurations: these of [`Automaton::parts`].
    Steps { first: u32, count: u32 },
    /// The frame at the base ends: the configuration below goes on.
    Return { origin: u32 },
    /// The configuration and the one below are one. For each register, its place in [`Automaton::merged`].
    Merge { to: ConfigurationId, first: u32 },
    /// The text is derived.
    Accept { origin: u32 },
}

/// Origin of the choices in a register: those in other registers, and then some at this position.
#[derive(Clone, Copy, Debug)]
struct Origin {
    /// The register; `NONE`, or the place of [`Automaton::sources`] with [`MANY`].
    source: u32,
    /// The choices at this position: a place of [`Automaton::written`], or `NOTHING`.
    written: u32,
}

/// Choices at a position.
#[derive(Clone, Copy, Debug)]
struct Written {
    /// The class of which a member is read, or `NONE`. It is the last choice.
    class: u32,
    /// The choice bytes before: their number and, if there are more than can be here, their place in
    /// [`Automaton::bytes`]. The last one comes first.
    len: u32,
    first: u32,
    bytes: [u8; SHORT],
}

/// The place of no choices.
const NOTHING: u32 = 0;
/// This number of choice bytes is held in place.
const SHORT: usize = 8;

/// More choices or choice bytes at one position are not joined.
const MOST_WRITTEN: usize = 256;

/// The source is a place of [`Automaton::sources`], where several registers are.
const MANY: u32 = 1 << 31;

/// More zeros at one position are left to the machine.
const MANY_ZEROS: u32 = 1 << 12;

/// A register of the configuration below the merged one, or of the one above.
#[derive(Clone, Copy, Debug)]
struct Merged {
    is_above: bool,
    register: u32,
}

/// The transitions that are known.
#[derive(Debug)]
pub(crate) struct Automaton {
    symbols: Arc<Symbols>,
    scratch: Option<Scratch>,
    numbers: HashMap<Arc<Configuration>, ConfigurationId, Mixing>,
    configurations: Vec<Arc<Configuration>>,
    /// For each configuration and each symbol, a transition.
    table: Vec<TransitionId>,
    transitions: Vec<Transition>,
    merges: HashMap<(ConfigurationId, ConfigurationId), TransitionId, Mixing>,
    parts: Vec<(ConfigurationId, u32)>,
    origins: Vec<Origin>,
    /// Registers, the last one first.
    sources: Vec<Box<[u32]>>,
    written: Vec<Written>,
    /// The places in `written` by the class and the bytes.
    written_before: HashMap<(u32, Box<[u8]>), u32, Mixing>,
    bytes: Vec<u8>,
    merged: Vec<Merged>,
    /// For each class that was needed, the choice bytes of its members.
    codes: Vec<Option<Code>>,
    answers: Answers,
    /// Changes that traces make at the transitions.
    views: Views,
    /// The memory that the configurations take, about.
    size: usize,
    /// Whether an origin of the transition that is made has more zeros than can be.
    has_many_zeros: bool,
    /// Lists that are being read, and what was found in them.
    open: Vec<u32>,
    found: (Vec<u32>, Vec<u8>),
    /// The steps of all trials.
    effort: u64,
}

/// Returns the most memory that an automaton may take.
pub(crate) fn most(max_memory: usize) -> usize {
    max_memory / 8
}

impl Automaton {
    fn new(program: &Program, symbols: Arc<Symbols>) -> Automaton {
        let mut automaton = Automaton {
            symbols,
            scratch: None,
            numbers: HashMap::default(),
            configurations: Vec::new(),
            table: Vec::new(),
            transitions: vec![Transition::None; LARGE as usize + 1],
            merges: HashMap::default(),
            parts: Vec::new(),
            origins: Vec::new(),
            sources: Vec::new(),
            written: Vec::new(),
            written_before: HashMap::default(),
            bytes: Vec::new(),
            merged: Vec::new(),
            codes: vec![None; program.classes.len()],
            answers: Answers::default(),
            views: Views::new(),
            size: 0,
            has_many_zeros: false,
            open: Vec::new(),
            found: (Vec::new(), Vec::new()),
            effort: 0,
        };
        automaton.write(NONE, &[]);
        let entry = program.callees[program.start as usize].entry;
        let start = automaton.number(Configuration {
            is_lowest: true,
            is_start: true,
            threads: vec![Waiting { ahead: 0, literal: NONE, state: entry, count: 0, frame: 0 }],
            counted: vec![false],
            ends: vec![0],
            callers: Vec::new(),
        });
        debug_assert_eq!(start, START);
        automaton
    }

    /// Returns the memory that it takes, about, in bytes.
    pub fn size(&self) -> usize {
        self.size
            + self.table.capacity() * size_of::<TransitionId>()
            + self.transitions.capacity() * (size_of::<Transition>() + Views::SIZE_OF_LAST)
            + self.parts.capacity() * size_of::<(ConfigurationId, u32)>()
            + self.origins.capacity() * size_of::<Origin>()
            + self.sources.capacity() * (size_of::<Box<[u32]>>() + 16)
            + self.written.capacity() * (size_of::<Written>() + 64)
            + self.bytes.capacity()
            + self.merged.capacity() * size_of::<Merged>()
            + self.merges.capacity() * (size_of::<((ConfigurationId, ConfigurationId), TransitionId)>() + 1)
            + self.codes.capacity() * size_of::<Option<Code>>()
            + self.symbols.size()
            + self.answers.size()
            + self.views.size()
    }

    #[inline]
    fn transition(&self, from: ConfigurationId, symbol: Symbol) -> TransitionId {
        self.table[from as usize * self.symbols.len() + usize::from(symbol)]
    }

    fn number(&mut self, configuration: Configuration) -> ConfigurationId {
        if let Some(&number) = self.numbers.get(&configuration) {
            return number;
        }
        let number = self.configurations.len() as ConfigurationId;
        // The memory of the hash table, too.
        self.size += configuration.size() + 64;
        let configuration = Arc::new(configuration);
        self.configurations.push(configuration.clone());
        self.numbers.insert(configuration, number);
        self.table.resize(self.configurations.len() * self.symbols.len(), UNKNOWN);
        number
    }

    fn add(&mut self, transition: Transition) -> TransitionId {
        self.transitions.push(transition);
        self.transitions.len() as TransitionId - 1
    }

    /// Makes the transition from a configuration for a symbol, and for the symbols that are like it there.
    fn make(&mut self, program: &Program, from: ConfigurationId, symbol: Symbol) -> TransitionId {
        let configuration = self.configurations[from as usize].clone();
        let mut scratch = self.scratch.take().unwrap_or_else(|| Scratch::new(program));
        let sample = self.symbols.samples[usize::from(symbol)];
        let mut trial = Trial::new(program, &mut scratch, sample, &configuration);
        let outcome = trial.run(&configuration);
        self.effort += u64::from(trial.steps) + configuration.registers() as u64;
        let mut transition = self.add_outcome(program, outcome, &mut trial);
        if std::mem::take(&mut self.has_many_zeros) {
            transition = LARGE;
        }
        let questions = std::mem::take(&mut trial.questions);
        self.scratch = Some(scratch);
        self.set(program, from, symbol, &questions, transition);
        transition
    }

    fn add_outcome(&mut self, program: &Program, outcome: Outcome, trial: &mut Trial<'_, '_>) -> TransitionId {
        match outcome {
            Outcome::Dead => DEAD,
            Outcome::Mixed => MIXED,
            Outcome::Large => LARGE,
            Outcome::Accepted(list) => {
                let origin = self.add_origin(program, &trial.lists, list);
                self.add(Transition::Accept { origin })
            }
            Outcome::Ended(list) => {
                let origin = self.add_origin(program, &trial.lists, list);
                self.add(Transition::Return { origin })
            }
            Outcome::Waits => {
                let lists = &mut trial.lists;
                let is_end = |state| matches!(program.states[state as usize], State::End);
                trial.graph.contract(is_end, |before, after| join(lists, before, after));
                let parts = trial.graph.split();
                self.effort += trial.graph.effort;
                self.add_steps(program, parts, lists)
            }
        }
    }

    fn add_steps(&mut self, program: &Program, parts: Vec<(Configuration, Vec<u32>)>, lists: &[List]) -> TransitionId {
        let mut numbered = Vec::with_capacity(parts.len());
        for (configuration, registers) in parts {
            let to = self.number(configuration);
            let origins = self.origins.len() as u32;
            for list in registers {
                self.add_origin(program, lists, list);
            }
            numbered.push((to, origins));
        }
        if let [(to, origins)] = numbered[..] {
            return self.add(Transition::Step { to, origins });
        }
        let (first, count) = (self.parts.len() as u32, numbered.len() as u32);
        self.parts.extend(numbered);
        self.add(Transition::Steps { first, count })
    }

    fn add_origin(&mut self, program: &Program, lists: &[List], list: u32) -> u32 {
        let mut class_read = NONE;
        let (mut registers, mut bytes) = (std::mem::take(&mut self.found.0), std::mem::take(&mut self.found.1));
        // From the end to the beginning.
        self.open.push(list);
        while let Some(list) = self.open.pop() {
            if list == EMPTY {
                continue;
            }
            let List { before, part } = lists[list as usize];
            self.open.push(before);
            // Nothing comes after a member of a class, and no choice before a register.
            debug_assert!(registers.is_empty() || matches!(part, Part::Register(_) | Part::List(_)));
            match part {
                Part::Register(register) => registers.push(register),
                Part::List(list) => self.open.push(list),
                Part::Class(class) => {
                    debug_assert!(bytes.is_empty());
                    if self.codes[class as usize].is_none() {
                        self.codes[class as usize] = Some(Code::new(program, class));
                        self.size += Code::SIZE;
                    }
                    class_read = class;
                }
                Part::Zeros(count) => {
                    self.has_many_zeros |= count > MANY_ZEROS;
                    bytes.resize(bytes.len() + count.min(MANY_ZEROS) as usize, 0);
                }
                Part::Choice { site, option } => encode(&program.sites[site as usize], option, &mut bytes),
            }
        }
        let written = self.write(class_read, &bytes);
        let source = self.source(&registers);
        self.origins.push(Origin { source, written });
        registers.clear();
        bytes.clear();
        self.found = (registers, bytes);
        self.origins.len() as u32 - 1
    }

    fn source(&mut self, registers: &[u32]) -> u32 {
        match *registers {
            [] => NONE,
            [register] => register,
            _ => {
                self.sources.push(registers.into());
                MANY | (self.sources.len() as u32 - 1)
            }
        }
    }

    /// Returns the place of these choices.
    fn write(&mut self, class: u32, bytes: &[u8]) -> u32 {
        if class == NONE && bytes.is_empty() && !self.written.is_empty() {
            return NOTHING;
        }
        let place = self.written.len() as u32;
        let known = *self.written_before.entry((class, bytes.into())).or_insert(place);
        if known == place {
            let mut short = [0; SHORT];
            let first = self.bytes.len() as u32;
            match short.get_mut(..bytes.len()) {
                Some(short) => short.copy_from_slice(bytes),
                None => self.bytes.extend_from_slice(bytes),
            }
            self.written.push(Written { class, len: bytes.len() as u32, first, bytes: short });
        }
        known
    }

    /// Returns the place of several choices at once, each a number of times, the last ones first; `None` if that takes
    /// too much.
    fn write_all(&mut self, written: &[(u32, u32)]) -> Option<u32> {
        let count: u64 = written.iter().map(|&(_, times)| u64::from(times)).sum();
        if count > MOST_WRITTEN as u64 {
            return None;
        }
        let each = |&(place, times): &(u32, u32)| std::iter::repeat_n(place, times as usize);
        let places: Vec<u32> = written.iter().flat_map(each).collect();
        let (&last, before) = match &places[..] {
            [] => return Some(NOTHING),
            [place] => return Some(*place),
            [last, before @ ..] => (last, before),
        };
        // Only the last choice can be that of a class, and it comes from the end of the list.
        if before.iter().any(|&place| self.written[place as usize].class != NONE) {
            return None;
        }
        let bytes: Vec<u8> = places.iter().flat_map(|&place| self.written_bytes(place)).copied().collect();
        (bytes.len() <= MOST_WRITTEN).then(|| self.write(self.written[last as usize].class, &bytes))
    }

    fn written_bytes(&self, place: u32) -> &[u8] {
        let written = &self.written[place as usize];
        match written.bytes.get(..written.len as usize) {
            Some(bytes) => bytes,
            None => &self.bytes[written.first as usize..][..written.len as usize],
        }
    }

    /// Enters a transition for a symbol and for all symbols for which the answers are the same.
    fn set(
        &mut self,
        program: &Program,
        from: ConfigurationId,
        symbol: Symbol,
        questions: &[Question],
        transition: TransitionId,
    ) {
        let symbols = self.symbols.len();
        let row = &mut self.table[from as usize * symbols..][..symbols];
        row[usize::from(symbol)] = transition;
        if symbol == END || questions.len() > MANY_QUESTIONS {
            return;
        }
        for other in self.answers.alike(program, &self.symbols, questions, symbol) {
            if row[other] == UNKNOWN {
                row[other] = transition;
            }
        }
    }

    /// Returns the transition that makes one of a configuration and the one below.
    fn merge(&mut self, below: ConfigurationId, above: ConfigurationId) -> TransitionId {
        if let Some(&known) = self.merges.get(&(below, above)) {
            return known;
        }
        let (lower, upper) = (&self.configurations[below as usize], &self.configurations[above as usize]);
        let mut graph = Graph { is_lowest: lower.is_lowest, ..Graph::default() };
        // The list of a register is its number, and that of the configuration.
        graph.add_frames(lower, |frame| frame, |register| register * 2);
        let more = lower.ends.len() as u32 - 1;
        let moved = |frame| if frame == configuration::BASE { RETURNING } else { frame + more };
        graph.add_frames(upper, moved, |register| register * 2 + 1);
        for (register, thread) in (0..).zip(&upper.threads) {
            graph.threads.push((Waiting { frame: moved(thread.frame), ..*thread }, register * 2 + 1));
        }
        let returning = upper.threads.is_empty().then(|| moved(RETURNING));
        let (configuration, lists) = graph.number(configuration::BASE, returning);
        self.effort += configuration.registers() as u64;
        let to = self.number(configuration);
        let first = self.merged.len() as u32;
        self.merged.extend(lists.iter().map(|list| Merged { is_above: list % 2 == 1, register: list / 2 }));
        let transition = self.add(Transition::Merge { to, first });
        self.merges.insert((below, above), transition);
        transition
    }
}
