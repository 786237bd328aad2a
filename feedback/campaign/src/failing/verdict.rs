//! Whether a run is a failure, and which one.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;

use gramjet_harness::{Confinement, Exception, Outcome, Run, Target, refusal, signal_name};
use gramjet_session::hash;
use regex_lite::Regex;

use super::depth::overflow;
use super::loops::hottest;
use super::messages::{Gist, file_of, gist, normalised};
use super::rejection::Rejection;
use crate::error::Error;
use crate::subject::{Surroundings, Tested};

/// Rules that say which runs are failures, besides signals, exceptions, reports of sanitizers and limits that are
/// exceeded.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Exit statuses that are failures.
    pub exits: Vec<RangeInclusive<i32>>,
    /// Pattern of standard error that is a failure.
    pub stderr: Option<Regex>,
    /// Classes of exceptions that are no failures.
    pub expected: Vec<String>,
    /// Line of the program whose success and output are compared.
    pub compare: Option<String>,
    /// Whether different output is a failure, too.
    pub compare_output: bool,
    /// Filter through which both outputs go before they are compared.
    pub normalise: Option<String>,
    /// Command of the shell that refuses an output by exit status 1.
    pub oracle: Option<String>,
}

/// If none of this many first texts is valid, the program may lack something.
const FIRST: u32 = 8;

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Runs that fail for the same reason have the same one; the name of a folder.
    pub key: String,
    /// Key that a smaller text has to have in common, without a message that may repeat parts of the input.
    pub kind: String,
    /// One line for the user.
    pub what: String,
    /// Nothing but the outcome is known of the reason.
    pub is_bare: bool,
    /// Whether it is seen only where the same limits hold, and something sees to them.
    pub is_limit: bool,
}

/// Verdict on a run.
#[derive(Debug)]
pub struct Verdict {
    /// Failure, if the run is one.
    pub failed: Option<Failed>,
    /// Number of its behaviour, as far as can be told from outside: runs that behave alike have the same number.
    pub behaviour: u64,
    /// Whether it exited with status 0, or returned.
    pub is_valid: bool,
}

/// Advice to the user about the runs of a program. Each kind is given once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Some runs are not judged, for this reason.
    NotJudged(String),
    /// The program may have been refused something by confinement.
    Refused {
        /// Words of the program that say so.
        sign: String,
    },
    /// None of the first texts was valid, and the program said of all what it said of the last one.
    Rejected {
        /// Number of these texts.
        texts: u32,
        /// Whether each of them was a failure, which is reported as such.
        are_failures: bool,
        /// Words of the program.
        said: Rejection,
        /// Whether a function gets text, not bytes.
        gets_text: bool,
    },
}

/// Judges runs. It has the programs that outputs are held against.
pub struct Judge {
    rules: Rules,
    confinement: Confinement,
    /// Whether a function gets text, not bytes.
    gets_text: bool,
    /// Runs up to now, and whether one of them was valid.
    runs: u32,
    was_valid: bool,
    /// The words of the program on the first texts, while none of them was valid and all were alike, and whether they
    /// were failures.
    first: Option<(Rejection, bool)>,
    /// Advice that was given, and advice that was not taken yet.
    given: Vec<Advice>,
    advice: Vec<Advice>,
    other: Option<Tested>,
    normalise: Option<Tested>,
    /// The command that looks at outputs; it finds them in the file that `$GRAMJET_OUTPUT` names.
    oracle: Option<Tested>,
}

/// A part of a run that is held against another program's.
struct Seen {
    class: Class,
    stdout: Vec<u8>,
}

/// Classes of runs that differential testing tells apart.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Class {
    Success,
    Error,
    Abnormal(Outcome),
}

impl Rules {
    /// Returns true if what the program writes is looked at as a whole.
    pub fn reads_output(&self) -> bool {
        self.compare_output || self.normalise.is_some() || self.oracle.is_some()
    }
}

impl Judge {
    /// Returns a judge for one worker.
    pub fn new(rules: &Rules, surroundings: Surroundings) -> Result<Judge, Error> {
        // Edges of other programs say nothing.
        let surroundings = surroundings.counting(&[]);
        let other =
            |command: &Option<String>| command.as_ref().map(|command| Tested::line(command, surroundings)).transpose();
        let oracle = rules.oracle.as_ref().map(|command| Tested::shell(command, surroundings, Some("GRAMJET_OUTPUT")));
        Ok(Judge {
            rules: rules.clone(),
            confinement: surroundings.confinement,
            gets_text: surroundings.text,
            runs: 0,
            was_valid: false,
            first: None,
            given: Vec::new(),
            advice: Vec::new(),
            other: other(&rules.compare)?,
            normalise: other(&rules.normalise)?,
            oracle: oracle.transpose()?,
        })
    }

    /// Runs the commands of the shell on a text of the grammar once, to see whether they are there.
    pub fn try_out(&mut self, text: &[u8]) -> Result<(), Error> {
        let oracle = self.oracle.as_mut().map(|oracle| (oracle, "--oracle"));
        let others = [(&mut self.other, "--compare"), (&mut self.normalise, "--normalise")];
        let others = others.into_iter().filter_map(|(tested, option)| Some((tested.as_mut()?, option)));
        for (tested, option) in others.chain(oracle) {
            let run = tested.run(text)?;
            if let Outcome::Exit(126 | 127) = run.outcome {
                let said = String::from_utf8_lossy(&run.stderr.bytes);
                return Err(Error::Usage(format!("the command of `{option}` cannot be run: {}", said.trim())));
            }
        }
        Ok(())
    }

    /// Lets the programs that outputs are held against begin anew, too.
    pub fn renew(&mut self) -> Result<(), Error> {
        for tested in self.other.iter_mut().chain(&mut self.normalise) {
            tested.renew()?;
        }
        Ok(())
    }

    /// Gives advice to the user, unless it was given before.
    fn advise(&mut self, advice: Advice) {
        let is_known = |given: &Advice| std::mem::discriminant(given) == std::mem::discriminant(&advice);
        if !self.given.iter().any(is_known) {
            self.given.push(advice.clone());
            self.advice.push(advice);
        }
    }

    fn do_not_judge(&mut self, why: &str) {
        self.advise(Advice::NotJudged(why.to_string()));
    }

    /// Takes the advice that was given since the last call.
    pub fn advice(&mut self) -> Vec<Advice> {
        std::mem::take(&mut self.advice)
    }

    /// Gives advice if confinement may be the reason why a run failed.
    fn advise_of_refusal(&mut self, run: &Run<'_>) {
        let sign = refusal(&run.stderr.bytes).or_else(|| refusal(&run.stdout.bytes));
        if let Some(sign) = sign.filter(|_| self.confinement != Confinement::Unconfined) {
            self.advise(Advice::Refused { sign: sign.to_string() });
        }
    }

    /// Gives advice if the program has rejected all of the first texts in the same way, or has failed on all.
    fn compare_rejections(&mut self, run: &Run<'_>, has_failed: bool) {
        if self.was_valid {
            self.first = None;
            return;
        }
        let now = (Rejection::of(run), has_failed);
        let is_like = |first: &(Rejection, bool)| first.1 == has_failed && first.0.is_like(&now.0);
        let is_alike = self.runs == 1 || self.first.as_ref().is_some_and(is_like);
        self.first = is_alike.then_some(now);
        if self.runs == FIRST
            && let Some((said, are_failures)) = self.first.take()
        {
            self.advise(Advice::Rejected { texts: FIRST, are_failures, said, gets_text: self.gets_text });
        }
    }

    /// Judges a run on this input.
    pub fn judge(&mut self, input: &[u8], run: &Run<'_>) -> Result<Verdict, Error> {
        let stderr = String::from_utf8_lossy(&run.stderr.bytes);
        let gist = gist(&stderr);
        let is_valid = run.outcome == Outcome::Exit(0);
        let behaviour = behaviour(run, &gist);
        // An edge says more exactly in which loop a run hangs.
        let place = run.place.filter(|_| hottest(run).is_none());
        let mut failed = self.by_itself(&run.outcome, &stderr, gist, place);
        if failed.is_none() && (self.other.is_some() || self.oracle.is_some()) {
            if self.rules.reads_output() && run.stdout.written > run.stdout.bytes.len() as u64 {
                self.do_not_judge("the program writes more output than is kept");
                return Ok(Verdict { failed, behaviour, is_valid });
            }
            let seen = Seen { class: class(&run.outcome), stdout: run.stdout.bytes.clone() };
            failed = self.differs(input, &seen)?;
            if failed.is_none() {
                failed = self.refused(input, &seen)?;
            }
        }
        self.runs = self.runs.saturating_add(1);
        self.was_valid |= is_valid;
        if failed.is_some() || !self.was_valid && self.runs == FIRST {
            self.advise_of_refusal(run);
        }
        if self.runs <= FIRST {
            self.compare_rejections(run, failed.is_some());
        }
        Ok(Verdict { failed, behaviour, is_valid })
    }

    /// Returns a failure that the run shows by itself.
    fn by_itself(&self, outcome: &Outcome, stderr: &str, gist: Gist, place: Option<&str>) -> Option<Failed> {
        let matched = self.rules.stderr.as_ref().and_then(|regex| regex.find(stderr));
        let is_failure = match outcome {
            Outcome::Exit(status) => {
                gist.is_sanitizer || self.rules.exits.iter().any(|range| range.contains(status)) || matched.is_some()
            }
            Outcome::Exception(exception) => !self.expects(exception),
            _ => true,
        };
        if !is_failure {
            return None;
        }
        // Where a limit ended the run, what it had written up to then depends on the clock, unless it is the report of
        // a panic or a sanitizer: that says more than that the program took long to end after it.
        let is_ended = is_ended(outcome);
        let Gist { message, frames, is_known, .. } = match (outcome, matched) {
            (outcome, _) if is_ended && !gist.is_known => {
                let frames = place.filter(|_| *outcome == Outcome::Timeout).map(file_of).into_iter().collect();
                Gist { frames, ..Gist::default() }
            }
            (Outcome::Exception(Exception { class, frame, .. }), _) => {
                let frames = frame.iter().map(|frame| file_of(frame)).collect();
                Gist { message: class.clone(), frames, is_known: true, is_sanitizer: false }
            }
            (_, Some(matched)) if !gist.is_known => Gist { message: normalised(matched.as_str()), ..Gist::default() },
            _ => gist,
        };
        // A report that is known says all if the program ends as usual after it, or too late.
        let outcome_in_key = if is_known && !is_fault(outcome) { String::new() } else { short(outcome) };
        let said: Vec<String> = [message].into_iter().chain(frames).filter(|part| !part.is_empty()).collect();
        let parts = [&outcome_in_key].into_iter().chain(&said).filter(|part| !part.is_empty()).cloned();
        let parts: Vec<String> = parts.collect();
        let is_place = is_ended && !said.is_empty();
        let kind = match () {
            () if is_known => key(&parts),
            // In which line of a loop it was stopped is chance.
            () if is_place => key(&parts.iter().map(|part| without_line(part)).collect::<Vec<_>>()),
            () => key(&[outcome_in_key]),
        };
        let is_bare = said.is_empty()
            && matches!(
                outcome,
                Outcome::Exit(_) | Outcome::Signal(_) | Outcome::Timeout | Outcome::Stopped | Outcome::Memory
            );
        let what = match outcome {
            _ if said.is_empty() => outcome.to_string(),
            Outcome::Exception(_) => outcome.to_string(),
            _ if is_ended && is_known => format!("{}, then {outcome}", said.join(", ")),
            _ => format!("{outcome}: {}", said.join(", ")),
        };
        // A program that stops itself would stop a script, too.
        let is_limit =
            matches!(outcome, Outcome::Stopped | Outcome::Memory | Outcome::Processes | Outcome::Disk | Outcome::Edges);
        let failed = Failed { key: key(&parts), kind, what, is_bare, is_limit };
        Some(match overflow(outcome, stderr) {
            Some(how) => failed.of_depth(how),
            None => failed,
        })
    }

    fn expects(&self, exception: &Exception) -> bool {
        self.rules.expected.iter().any(|expected| exception.is_a(expected))
    }

    /// Returns a failure that the other program shows.
    fn differs(&mut self, input: &[u8], seen: &Seen) -> Result<Option<Failed>, Error> {
        let Some(other) = &mut self.other else { return Ok(None) };
        let run = other.run(input)?;
        let (class, outcome, stdout) = (class(&run.outcome), run.outcome, run.stdout.bytes.clone());
        if class != seen.class {
            let (one, two) = (called(&seen.class), called(&class));
            let key = key(&["differs".to_string(), one.clone(), two.clone()]);
            let what = format!("the program ends with {one}, the other one with {two} ({outcome})");
            return Ok(Some(Failed { kind: key.clone(), key, what, is_bare: true, is_limit: false }));
        }
        let compares = self.rules.compare_output || self.normalise.is_some();
        if class != Class::Success || !compares {
            return Ok(None);
        }
        let outputs = (self.normalised(&seen.stdout)?, self.normalised(&stdout)?);
        let (Some(one), Some(two)) = outputs else {
            self.do_not_judge("the command of `--normalise` fails");
            return Ok(None);
        };
        let key = key(&["differs".to_string(), "output".to_string()]);
        let what = "the programs write different output".to_string();
        Ok((one != two).then(|| Failed { kind: key.clone(), key, what, is_bare: true, is_limit: false }))
    }

    /// Returns the output after the filter; `None` if the filter fails.
    fn normalised(&mut self, output: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let Some(filter) = &mut self.normalise else { return Ok(Some(output.to_vec())) };
        let run = filter.run(output)?;
        Ok((run.outcome == Outcome::Exit(0)).then(|| run.stdout.bytes.clone()))
    }

    /// Returns a failure that the oracle shows: exit status 1.
    fn refused(&mut self, input: &[u8], seen: &Seen) -> Result<Option<Failed>, Error> {
        let Some(program) = &mut self.oracle else { return Ok(None) };
        program.hand(&seen.stdout);
        let run = program.run(input)?;
        match &run.outcome {
            Outcome::Exit(0) => Ok(None),
            Outcome::Exit(1) => {
                let gist = gist(&String::from_utf8_lossy(&run.stderr.bytes));
                let kind = key(&["oracle".to_string()]);
                let parts: Vec<String> = ["oracle".to_string(), gist.message.clone()].into();
                let what = format!("the oracle refuses the output: {}", gist.message);
                let what = what.trim_end_matches([':', ' ']).to_string();
                let is_bare = gist.message.is_empty();
                Ok(Some(Failed { key: key(&parts), kind, what, is_bare, is_limit: false }))
            }
            other => {
                let why =
                    format!("the oracle ends with {other}; 0 is for output that is right, 1 for output that is wrong");
                self.do_not_judge(&why);
                Ok(None)
            }
        }
    }
}

fn class(outcome: &Outcome) -> Class {
    match outcome {
        Outcome::Exit(0) => Class::Success,
        Outcome::Exit(_) | Outcome::Exception(_) => Class::Error,
        abnormal => Class::Abnormal(abnormal.clone()),
    }
}

fn called(class: &Class) -> String {
    match class {
        Class::Success => "success".to_string(),
        Class::Error => "an error".to_string(),
        Class::Abnormal(outcome) => outcome.to_string(),
    }
}

/// Returns true if a limit or the harness has ended the run, and not the program itself.
fn is_ended(outcome: &Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Timeout
            | Outcome::Stopped
            | Outcome::Memory
            | Outcome::Processes
            | Outcome::Disk
            | Outcome::Edges
            | Outcome::Lost
    )
}

/// Returns true if the processor or the kernel has ended the program for what it did.
fn is_fault(outcome: &Outcome) -> bool {
    let Outcome::Signal(number) = outcome else { return false };
    matches!(signal_name(*number), Some("SIGSEGV" | "SIGBUS" | "SIGILL" | "SIGFPE"))
}

/// Returns a place as `file (function)` that may be `file:line (function)`.
fn without_line(place: &str) -> String {
    match place.split_once(" (").and_then(|(place, function)| Some((place.rsplit_once(':')?.0, function))) {
        Some((file, function)) => format!("{file} ({function}"),
        None => place.to_string(),
    }
}

/// Returns the outcome in one word.
fn short(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Exit(status) => format!("exit-{status}"),
        Outcome::Signal(number) => signal_name(*number).map_or_else(|| format!("signal-{number}"), str::to_string),
        Outcome::Timeout => "timeout".to_string(),
        Outcome::Memory => "memory".to_string(),
        Outcome::Processes => "processes".to_string(),
        Outcome::Disk => "disk".to_string(),
        Outcome::Stopped => "stopped".to_string(),
        Outcome::Edges => "edges".to_string(),
        Outcome::Exception(Exception { class, .. }) => class.clone(),
        _ => "lost".to_string(),
    }
}

/// Returns the name of a folder: as much of the parts as can be read, and a number for all of it.
fn key(parts: &[String]) -> String {
    const LENGTH: usize = 60;
    let mut name = String::new();
    for character in parts.join("-").chars() {
        match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '.' if name.len() < LENGTH => name.push(character),
            _ if name.len() < LENGTH && !name.ends_with('-') => name.push('-'),
            _ => {}
        }
    }
    format!("{}-{:08x}", name.trim_matches(['-', '.']), hash(parts.join("\0").as_bytes()) as u32)
}

/// Returns the key of one of several failures of the same outcome, of which edges tell which it is.
pub fn key_with(failed: &Failed, edges: impl Iterator<Item = u64>) -> String {
    let bytes: Vec<u8> = edges.flat_map(u64::to_le_bytes).collect();
    format!("{}-{:08x}", failed.key, hash(&bytes) as u32)
}

/// Returns what can be seen of a run from outside: the outcome, the message, how much it wrote and how long it took, by
/// powers of two. Times below 16 ms are noise.
fn behaviour(run: &Run<'_>, gist: &Gist) -> u64 {
    let mut hasher = DefaultHasher::new();
    run.outcome.hash(&mut hasher);
    (&gist.message, &gist.frames).hash(&mut hasher);
    let log = |amount: u64| u64::BITS - amount.leading_zeros();
    (log(run.stdout.written), log(run.stderr.written)).hash(&mut hasher);
    let time = run.usage.cpu.unwrap_or(run.usage.wall);
    log(time.as_millis() as u64 / 16).hash(&mut hasher);
    hasher.finish()
}

/// Parses exit statuses: numbers and ranges with commas between, such as `1,3-5`; `any` for all but 0.
pub fn parse_exits(text: &str) -> Result<Vec<RangeInclusive<i32>>, String> {
    let status = |text: &str| text.parse::<u8>().map(i32::from).map_err(|_| format!("`{text}` is no exit status"));
    if text == "any" {
        return Ok(vec![1..=255]);
    }
    let range = |part: &str| match part.split_once('-') {
        Some((first, last)) => {
            let range = status(first)?..=status(last)?;
            if range.is_empty() { Err(format!("`{part}` has no exit status in it")) } else { Ok(range) }
        }
        None => status(part).map(|status| status..=status),
    };
    text.split(',').map(range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_statuses_are_numbers_and_ranges() {
        assert_eq!(parse_exits("1,3-5"), Ok(vec![1..=1, 3..=5]));
        assert_eq!(parse_exits("any"), Ok(vec![1..=255]));
        assert_eq!(parse_exits("1,x"), Err("`x` is no exit status".to_string()));
        assert_eq!(parse_exits("5-3"), Err("`5-3` has no exit status in it".to_string()));
        assert!(parse_exits("256").is_err() && parse_exits("").is_err());
    }

    /// Returns the failure that a run shows by itself.
    fn failed(outcome: Outcome, stderr: &str, place: Option<&str>) -> Failed {
        let rules = Rules { exits: vec![101..=101], ..Rules::default() };
        let judge = Judge::new(&rules, Surroundings::default()).expect("a judge");
        judge.by_itself(&outcome, stderr, gist(stderr), place).expect("a failure")
    }

    #[test]
    fn a_failure_that_was_reported_outranks_a_limit() {
        for said in [
            "thread 'main' (7) panicked at src/lib.rs:12:5:\nindex 7 out of 5\n",
            "==77==ERROR: AddressSanitizer: heap-use-after-free on address 0x602\n    #0 0x55 in eat /x.c:12:3\n",
        ] {
            let (ended, cut) =
                (failed(Outcome::Exit(101), said, None), failed(Outcome::Timeout, said, Some("a.py:1 (f)")));
            assert_eq!((&ended.key, &ended.kind, cut.is_bare), (&cut.key, &cut.kind, false), "{said}");
            assert!(cut.what.ends_with(", then timeout") && !ended.what.contains("timeout"), "{}", cut.what);
        }
        // Another failure may come after the report.
        let said = "thread 'main' (7) panicked at src/lib.rs:12:5:\nindex 7 out of 5\n";
        let [abort, bus, fault] = [6, 7, 11].map(|signal| failed(Outcome::Signal(signal), said, None).key);
        assert_eq!(abort, failed(Outcome::Exit(101), said, None).key);
        assert!(fault != abort && fault != bus);
        // What is not known to be a report may be cut anywhere.
        let (one, two) = (failed(Outcome::Timeout, "at 1", None), failed(Outcome::Timeout, "of x", None));
        assert_eq!((&one.key, one.is_bare, &*one.what), (&two.key, true, "timeout"));
    }

    #[test]
    fn hangs_are_told_apart_by_their_place() {
        let hang = |place: &str| failed(Outcome::Timeout, "", Some(place));
        let (one, two) = (hang("/a/x.py:3 (f)"), hang("/a/x.py:7 (f)"));
        assert_eq!((&*one.what, one.is_bare), ("timeout: x.py:3 (f)", false));
        assert!(one.key != two.key && one == hang("/b/x.py:3 (f)"));
        // Looks at one loop find several lines.
        assert!(one.kind == two.kind && one.kind == hang("/a/x.py (f)").kind && one.kind != hang("/a/x.py:3 (g)").kind);
    }

    #[test]
    fn keys_are_names_of_folders() {
        let parts = |text: &str| [text.to_string(), "a/b: c".to_string()];
        let name = key(&parts("SIGSEGV"));
        assert!(name.starts_with("SIGSEGV-a-b-c-") && name.len() == "SIGSEGV-a-b-c-".len() + 8, "{name}");
        assert_ne!(key(&parts("x")), key(&parts("y")));
        assert!(key(&[".".repeat(300), "é".into()]).len() < 80);
    }
}
