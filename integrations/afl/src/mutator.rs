//! The custom mutator, apart from its C interface.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use gramjet_session::{Bound, Language, LanguageError, Mutation, Session, Trim, streams};

use crate::configuration::Configuration;
use crate::seeds::{Seeds, instance};

/// The state of the custom mutator of an AFL++ instance.
#[derive(Debug)]
pub struct Mutator {
    session: Session,
    configuration: Configuration,
    /// Calls of [`Mutator::fuzz`] since the beginning.
    calls: u64,
    /// Another entry.
    other: Vec<u8>,
    last: Option<Mutation>,
    trim: Option<Trim>,
    /// The queue entry that is being fuzzed or trimmed.
    entry: PathBuf,
    /// Number of steps that were made of the trimming in progress.
    trim_steps: u32,
    trimmed: Vec<u8>,
    seeds: Seeds,
}

/// Mutants of an entry have no more bytes than this or than the entry, unless the user says otherwise. AFL++ would
/// allow 1 MiB, and texts that are repeated again and again get slow before they find anything.
const MAX_LEN: usize = 8192;
/// One call in this number takes a part from another entry that AFL++ hands over; the rest draw on the parts of all
/// entries.
const OTHER_ENTRY: u64 = 8;
/// The other entry is kept for this number of calls, as each new one has to be traced first.
const SAME_ENTRY: u64 = 64;
/// A text without derivation is replaced by random ones, of which fewer are made.
const UNPARSED_SHARE: u32 = 16;

impl Mutator {
    /// Returns a mutator as the environment asks for it. The same seed makes the same mutants of the same texts.
    ///
    /// # Errors
    ///
    /// If there is no such grammar or it does not compile, or if the settings cannot be used.
    pub fn new(configuration: Configuration, seed: u32) -> Result<Mutator, LanguageError> {
        let language = Language::load(&configuration.grammar, &configuration.settings)?;
        Ok(Mutator {
            session: Session::new(&language, seed.into()),
            configuration,
            calls: 0,
            other: Vec::new(),
            last: None,
            trim: None,
            entry: PathBuf::new(),
            trim_steps: 0,
            trimmed: Vec::new(),
            seeds: Seeds::default(),
        })
    }

    /// Returns the session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns how many mutants are to be made of a queue entry.
    pub fn fuzz_count(&mut self, text: &[u8]) -> u32 {
        if self.session.remember(text) {
            self.configuration.fuzz_count
        } else {
            (self.configuration.fuzz_count / UNPARSED_SHARE).max(1)
        }
    }

    /// Writes a mutant of `text` to `mutant`; nothing if every text of the language has more than `max_len` bytes.
    pub fn fuzz(&mut self, text: &[u8], other: Option<&[u8]>, max_len: usize, mutant: &mut Vec<u8>) {
        self.calls += 1;
        let max_len = match self.configuration.settings.max_len {
            Bound::Default if self.session.language().limits().length().is_none() => {
                let least = usize::try_from(self.session.min_len()).unwrap_or(usize::MAX);
                max_len.min(text.len().max(MAX_LEN).max(least))
            }
            Bound::Default => max_len,
            Bound::Unlimited | Bound::At(_) => max_len,
        };
        if let Some(other) = other.filter(|other| !other.is_empty() && self.calls.is_multiple_of(SAME_ENTRY)) {
            self.other.clear();
            self.other.extend_from_slice(other);
        }
        self.last = if self.calls.is_multiple_of(OTHER_ENTRY) && !self.other.is_empty() {
            self.session.splice(text, &self.other, max_len, mutant)
        } else {
            self.session.mutate(text, max_len, mutant)
        };
    }

    /// Returns how the last mutant was made, for the name of a queue entry.
    pub fn description(&self) -> &'static str {
        self.last.map_or("gramjet", Mutation::name)
    }

    /// Takes note of a queue entry that is about to be fuzzed: its choice bytes are looked up if they are not known.
    pub fn visit(&mut self, entry: &Path) {
        self.seeds.report(entry);
        self.entry = entry.to_path_buf();
        if let Some(text) = read_entry(entry) {
            self.recall(entry, &text);
        }
    }

    /// Takes note of a new queue entry: its choice bytes are written, and its parts are remembered.
    pub fn add(&mut self, entry: &Path) {
        let Some(text) = read_entry(entry) else { return };
        self.recall(entry, &text);
        self.keep(entry, &text);
        if self.seeds.are_coming() {
            self.add_seed(entry, &text);
        }
    }

    fn add_seed(&mut self, seed: &Path, text: &[u8]) {
        // Only a text that does not conform is parsed again, for the reason.
        let error = if self.session.remember(text) {
            None
        } else {
            self.session.language().parse_within(text, &Session::BUDGET).err()
        };
        self.seeds.add(seed, text, error.as_ref());
    }

    fn recall(&mut self, entry: &Path, text: &[u8]) {
        if !self.session.knows(text)
            && let Some(instance) = instance(entry)
            && let Some(choices) = streams::read_shared(self.session.language(), instance, text)
        {
            self.session.offer(text, &choices);
        }
    }

    fn keep(&mut self, entry: &Path, text: &[u8]) {
        if let Some(choices) = self.session.choices(text).map(<[u8]>::to_vec) {
            self.write(entry, text, &choices);
        }
    }

    fn write(&self, entry: &Path, text: &[u8], choices: &[u8]) {
        if let Some(instance) = instance(entry) {
            streams::write(self.session.language(), instance, text, choices);
        }
    }

    /// Begins to trim a queue entry; returns the greatest number of steps.
    pub fn begin_trim(&mut self, text: &[u8]) -> u32 {
        let steps = self.configuration.trim_count;
        self.trim_steps = 0;
        self.trim = if steps > 0 { self.session.trim(text, steps) } else { None };
        self.advance_trim()
    }

    /// Returns the text to be tested.
    pub fn trimmed(&self) -> &[u8] {
        &self.trimmed
    }

    /// Says whether the text that was tested takes the same path as the entry; returns the number of the next step, the
    /// greatest one at the end.
    pub fn end_step(&mut self, is_alike: bool) -> u32 {
        self.trim_steps += 1;
        if let Some(trim) = &mut self.trim {
            trim.judge(is_alike);
        }
        match self.advance_trim() {
            0 => self.configuration.trim_count,
            _ => self.trim_steps,
        }
    }

    /// Proposes the next step; returns the greatest number of steps, or 0 if there is no further one.
    fn advance_trim(&mut self) -> u32 {
        let proposed = self.trim.as_mut().and_then(Trim::propose);
        if let Some(text) = proposed {
            self.trimmed.clear();
            self.trimmed.extend_from_slice(text);
            return self.configuration.trim_count;
        }
        if let Some(trim) = self.trim.take() {
            // AFL++ does not report when an entry has a new text.
            self.session.offer(trim.text(), trim.choices());
            self.write(&self.entry, trim.text(), trim.choices());
        }
        0
    }

    /// Returns a line about what was done.
    pub fn summary(&self) -> String {
        let statistics = self.session.statistics();
        let mut line = String::new();
        // Writing to a string cannot fail.
        let _ = write!(
            line,
            "{} texts known, {} parsed, {} not parsed; {} mutants by their derivation, {} of them cut, {} at random; {} parts",
            statistics.known,
            statistics.parsed,
            statistics.unparsed,
            statistics.changed + statistics.cut,
            statistics.cut,
            statistics.fresh,
            self.session.store().len()
        );
        line
    }
}

/// Returns the text of a queue entry. AFL++ reports entries that it cannot read itself.
fn read_entry(entry: &Path) -> Option<Vec<u8>> {
    fs::read(entry).ok()
}
