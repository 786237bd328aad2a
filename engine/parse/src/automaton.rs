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
mod origins;
mod run;
mod symbols;
mod trace;
mod trial;
mod views;

use std::collections::HashMap;
use std::sync::Arc;

use crate::arena::NONE;
use crate::program::{Program, State};
use answers::Answers;
pub(crate) use cache::AutomatonCache;
use configuration::{Configuration, Graph, RETURNING, Waiting};
use hash::Mixing;
use origins::Origins;
pub(crate) use run::{GaveUp, Run};
use symbols::{END, Symbol, Symbols};
pub(crate) use trace::Placed;
use trial::{Found, List, Outcome, Question, Scratch, Trial, join};
pub(crate) use trial::{MET, MET_PLAINLY};
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

/// A register of the configuration below the merged one, or of the one above.
#[derive(Clone, Copy, Debug)]
struct Merged {
    is_above: bool,
    register: u32,
}

/// The place that a transition comes from.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Whether its configuration has one register.
    is_certain: bool,
    /// Whether one of several threads comes to a mark there.
    has_marks: bool,
}

/// The use that is made of an automaton.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The choices of a derivation are found.
    #[default]
    Derivation,
    /// A text is only checked. Transitions have no origins, and runs no log.
    Check,
}

/// The transitions that are known.
#[derive(Debug)]
pub(crate) struct Automaton {
    purpose: Purpose,
    symbols: Arc<Symbols>,
    scratch: Option<Scratch>,
    numbers: HashMap<Arc<Configuration>, ConfigurationId, Mixing>,
    configurations: Vec<Arc<Configuration>>,
    /// For each configuration and each symbol, a transition.
    table: Vec<TransitionId>,
    transitions: Vec<Transition>,
    merges: HashMap<(ConfigurationId, ConfigurationId), TransitionId, Mixing>,
    parts: Vec<(ConfigurationId, u32)>,
    /// The places that the transitions of a relaxed program come from.
    places: Vec<Place>,
    origins: Origins,
    merged: Vec<Merged>,
    answers: Answers,
    /// Changes that traces make at the transitions.
    views: Views,
    spent: Spent,
}

/// Costs of an automaton up to now.
#[derive(Clone, Copy, Debug, Default)]
struct Spent {
    /// The memory that the configurations take, about.
    memory: usize,
    /// The steps of all trials.
    effort: u64,
}

/// Returns the most memory that an automaton may take.
pub(crate) fn most(max_memory: usize) -> usize {
    max_memory / 8
}

impl Automaton {
    fn new(program: &Program, symbols: Arc<Symbols>, purpose: Purpose) -> Automaton {
        let mut automaton = Automaton {
            purpose,
            symbols,
            scratch: None,
            numbers: HashMap::default(),
            configurations: Vec::new(),
            table: Vec::new(),
            transitions: vec![Transition::None; LARGE as usize + 1],
            merges: HashMap::default(),
            parts: Vec::new(),
            places: Vec::new(),
            origins: Origins::new(program),
            merged: Vec::new(),
            answers: Answers::default(),
            views: Views::new(),
            spent: Spent::default(),
        };
        let entry = program.callees[program.start as usize].entry;
        let start = automaton.number(&Configuration {
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
        self.spent.memory
            + self.table.capacity() * size_of::<TransitionId>()
            + self.transitions.capacity() * (size_of::<Transition>() + Views::SIZE_OF_LAST)
            + self.parts.capacity() * size_of::<(ConfigurationId, u32)>()
            + self.places.capacity() * size_of::<Place>()
            + self.origins.size()
            + self.merged.capacity() * size_of::<Merged>()
            + self.merges.capacity() * (size_of::<((ConfigurationId, ConfigurationId), TransitionId)>() + 1)
            + self.symbols.size()
            + self.answers.size()
            + self.views.size()
    }

    #[inline]
    fn transition(&self, from: ConfigurationId, symbol: Symbol) -> TransitionId {
        self.table[from as usize * self.symbols.len() + usize::from(symbol)]
    }

    fn number(&mut self, configuration: &Configuration) -> ConfigurationId {
        if let Some(&number) = self.numbers.get(configuration) {
            return number;
        }
        let number = self.configurations.len() as ConfigurationId;
        // The memory of the hash table, too.
        self.spent.memory += configuration.size() + 64;
        let configuration = Arc::new(configuration.clone());
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
        self.spent.effort += u64::from(trial.steps) + configuration.registers() as u64;
        let mut transition = self.add_outcome(program, outcome, &mut trial);
        if self.origins.take_many_zeros() {
            transition = LARGE;
        }
        if program.marks.is_some() && transition > LARGE {
            let (is_certain, has_marks) = (configuration.registers() == 1, trial.meetings.has_marks);
            self.places.resize(self.transitions.len(), Place::default());
            self.places[transition as usize] = Place { is_certain, has_marks };
        }
        self.set(program, from, symbol, &trial.found.questions, transition);
        trial.end_trial();
        self.scratch = Some(scratch);
        transition
    }

    fn add_outcome(&mut self, program: &Program, outcome: Outcome, trial: &mut Trial<'_, '_>) -> TransitionId {
        match outcome {
            Outcome::Dead => DEAD,
            Outcome::Mixed => MIXED,
            Outcome::Large => LARGE,
            Outcome::Accepted(list) => {
                let origin = self.add_origin(program, &trial.found.lists, list);
                self.add(Transition::Accept { origin })
            }
            Outcome::Ended(list) => {
                let origin = self.add_origin(program, &trial.found.lists, list);
                self.add(Transition::Return { origin })
            }
            Outcome::Waits => {
                let Found { graph, lists, .. } = &mut trial.found;
                let is_end = |state| matches!(program.states[state as usize], State::End);
                graph.contract(is_end, |before, after| join(lists, before, after));
                let bases = graph.bases();
                self.spent.effort += graph.effort;
                self.add_steps(program, &bases, trial)
            }
        }
    }

    /// Adds the origin of the choices in a list, if it is needed.
    fn add_origin(&mut self, program: &Program, lists: &[List], list: u32) -> u32 {
        match self.purpose {
            Purpose::Derivation => self.origins.add(program, lists, list),
            Purpose::Check => NONE,
        }
    }

    /// Adds the transition to the configurations above these frames.
    fn add_steps(&mut self, program: &Program, bases: &[u32], trial: &mut Trial<'_, '_>) -> TransitionId {
        let Found { graph, lists, .. } = &trial.found;
        let (configuration, registers) = &mut trial.scratch.part;
        let mut numbered = Vec::with_capacity(bases.len());
        for (part, &base) in bases.iter().enumerate() {
            graph.number(base, bases.get(part + 1).copied(), configuration, registers);
            let to = self.number(configuration);
            let origins = self.origins.len();
            for &list in &*registers {
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
        let (mut configuration, mut lists) = (Configuration::default(), Vec::new());
        graph.number(configuration::BASE, returning, &mut configuration, &mut lists);
        self.spent.effort += configuration.registers() as u64;
        let to = self.number(&configuration);
        let first = self.merged.len() as u32;
        self.merged.extend(lists.iter().map(|list| Merged { is_above: list % 2 == 1, register: list / 2 }));
        let transition = self.add(Transition::Merge { to, first });
        self.merges.insert((below, above), transition);
        transition
    }
}
