//! Whether a program accepts a text: answers are remembered, runs are counted, and an end is an answer, too.

use std::collections::HashMap;
use std::ffi::OsString;
use std::time::{Duration, Instant};

use gramjet_harness::{Outcome, Run, Target as _};
use gramjet_session::hash;
use regex_lite::Regex;

use crate::arguments::accept::OracleArgs;
use crate::failure::Failure;
use crate::refusal::{hint, usual_cause};
use crate::units::plural;
use gramjet_campaign::failing::Rejection;
use gramjet_campaign::one_line;
use gramjet_campaign::subject::{Surroundings, Tested};
use gramjet_campaign::{Stop, StopReason};

/// Bytes of each output stream that regular expressions see.
const JUDGED_OUTPUT: usize = 1 << 20;

/// A program is given up if this number of texts in a row exceed a limit.
const MOST_STOPPED: u32 = 16;

/// A run that took too long is repeated with this multiple of the time: the machine may have been busy.
const MORE_TIME: u32 = 4;

/// After this number of texts in a row that took too long, runs are repeated again only once one was in time.
const MOST_IN_VAIN: u32 = 3;

/// Texts that hardly any language has, to find out whether the program looks at its input at all.
const NONSENSE: [&[u8]; 6] = [
    b"\x00\x01\xFE\xFF",
    b"}])>\"'`\\\x07\x00",
    b"(((([[[[{{{{<<<<\"\"\"'''",
    b"\x7F)]}%$\x1B#@!^&*~ ?:;,|",
    b"\xC3\x28\xA0\xA1\x00<![\"\\",
    b"\\\x00(]{'\"[}>)<",
];

/// A program with the answers that it has given.
pub struct Oracle {
    tested: Tested,
    /// Program with more time, once a run has taken too long.
    patient: Option<Tested>,
    /// The texts in a row that took too long.
    in_vain: u32,
    command: Vec<OsString>,
    surroundings: Surroundings,
    acceptance: Acceptance,
    /// By the hash of the text; never iterated. There are no more than `most_runs`.
    known: HashMap<u64, bool>,
    most_runs: u64,
    counts: Counts,
    /// The texts in a row that exceeded a limit.
    stopped: u32,
    timeout: Duration,
    stop: Stop,
    end: Option<End>,
    failure: Option<Failure>,
}

/// The rule by which a program accepts: exit status 0, if no regular expression says otherwise.
struct Acceptance {
    accept: Option<Regex>,
    reject: Option<Regex>,
}

/// Counts of what was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Runs of the program.
    pub runs: u64,
    /// Questions whose answer was known.
    pub known: u64,
    /// Runs whose text was accepted.
    pub accepted: u64,
    /// Runs that exceeded a limit.
    pub stopped: u64,
    /// Time in the program.
    pub time: Duration,
}

impl Counts {
    /// Runs a second of the program's time.
    pub fn pace(&self) -> f64 {
        self.runs as f64 / self.time.as_secs_f64().max(1e-9)
    }
}

/// Reasons why nothing more is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The program was run as often as it may be.
    Runs,
    /// The time is over.
    Time,
    /// A signal: its name and number.
    Signal(&'static str, u8),
    /// Something failed: [`Oracle::finish`] says what.
    Failed,
}

impl Oracle {
    /// Returns an oracle that runs the program of the command line at most `most_runs` times, and not after a request
    /// to stop.
    pub fn new(args: &OracleArgs, most_runs: u64, stop: Stop) -> Result<Oracle, Failure> {
        let OracleArgs { accept, run, program } = args;
        let mut surroundings = run.surroundings(accept.timeout).on(run.cores(1).of(0));
        if accept.accept_regex.is_some() || accept.reject_regex.is_some() {
            surroundings.limits = surroundings.limits.with_kept_output(JUDGED_OUTPUT);
        }
        let tested = Tested::new(&program.command, surroundings)?;
        tested.stay_beside(surroundings);
        Ok(Oracle {
            tested,
            patient: None,
            in_vain: 0,
            command: program.command.clone(),
            surroundings,
            acceptance: Acceptance { accept: accept.accept_regex.clone(), reject: accept.reject_regex.clone() },
            known: HashMap::new(),
            most_runs,
            counts: Counts::default(),
            stopped: 0,
            timeout: accept.timeout,
            stop,
            end: None,
            failure: None,
        })
    }

    /// Returns how the program is run, for the user.
    pub fn describe(&self) -> &'static str {
        // No coverage guides here.
        self.tested.describe().split(',').next().unwrap_or_default()
    }

    /// Returns what counts as acceptance, and what to do if that is wrong.
    pub fn rule(&self) -> &'static str {
        self.acceptance.rule()
    }

    /// Returns what was asked up to now.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns true if the program accepts the text; `None` once there is an [`End`]. Answers that are known are given
    /// in any case.
    pub fn accepts(&mut self, text: &[u8]) -> Option<bool> {
        let key = hash(text);
        if let Some(&answer) = self.known.get(&key) {
            self.counts.known += 1;
            return Some(answer);
        }
        self.end = self.end.or_else(|| self.over());
        if self.end.is_some() {
            return None;
        }
        let answer = self.run(text).unwrap_or_else(|failure| {
            self.failure = Some(failure);
            self.end = Some(End::Failed);
            None
        });
        if let Some(answer) = answer {
            self.known.insert(key, answer);
        }
        answer
    }

    /// Returns the reason why the oracle is at its end before the next run, if it is.
    fn over(&self) -> Option<End> {
        match self.stop.is_requested().then(|| self.stop.reason()).flatten() {
            Some(StopReason::Time) => Some(End::Time),
            Some(StopReason::Signal(name, number)) => Some(End::Signal(name, number)),
            None => (self.counts.runs >= self.most_runs).then_some(End::Runs),
        }
    }

    /// Runs the program; `None` if a signal has ended the run, too.
    fn run(&mut self, text: &[u8]) -> Result<Option<bool>, Failure> {
        let begin = Instant::now();
        let (mut answer, mut outcome) = self.judged(text, false)?;
        if outcome == Outcome::Timeout && self.in_vain < MOST_IN_VAIN && !self.stop.is_requested() {
            (answer, outcome) = self.judged(text, true)?;
        }
        self.in_vain = if outcome == Outcome::Timeout { self.in_vain + 1 } else { 0 };
        self.counts.runs += 1;
        self.counts.time += begin.elapsed();
        // A terminal sends its signals to the program, too.
        if self.stop.is_cut() {
            self.end = self.over();
            return Ok(None);
        }
        self.counts.accepted += u64::from(answer);
        if matches!(
            outcome,
            Outcome::Timeout | Outcome::Stopped | Outcome::Memory | Outcome::Processes | Outcome::Disk | Outcome::Edges
        ) {
            self.counts.stopped += 1;
            self.stopped += 1;
            if self.stopped >= MOST_STOPPED {
                return Err(self.hangs(&outcome, text));
            }
        } else {
            self.stopped = 0;
        }
        Ok(Some(answer))
    }

    /// Runs the program on a text. Returns true if it accepts the text, and how the run ended.
    fn judged(&mut self, text: &[u8], has_more_time: bool) -> Result<(bool, Outcome), Failure> {
        let tested = if has_more_time {
            let patient = match self.patient.take() {
                Some(patient) => patient,
                None => {
                    let mut surroundings = self.surroundings;
                    surroundings.limits = surroundings.limits.with_time(self.timeout * MORE_TIME);
                    let patient = Tested::new(&self.command, surroundings)?;
                    patient.stay_beside(surroundings);
                    patient
                }
            };
            self.patient.insert(patient)
        } else {
            &mut self.tested
        };
        let run = tested.run(text)?;
        Ok((self.acceptance.judge(&run), run.outcome))
    }

    fn hangs(&self, outcome: &Outcome, text: &[u8]) -> Failure {
        let (limit, help) = match outcome {
            Outcome::Timeout => {
                (format!("{:?}", self.timeout), "raise `--timeout`, or see whether it waits for something else")
            }
            Outcome::Stopped => ("it stopped itself".to_string(), "see why it waits to be let go on"),
            Outcome::Memory => ("memory".to_string(), "raise `--memory`"),
            Outcome::Disk => ("files".to_string(), "raise `--disk`"),
            _ => ("processes".to_string(), "see what it starts"),
        };
        let text = one_line(text, 60);
        let what = format!("the program exceeded its limit ({limit}) on {MOST_STOPPED} texts in a row");
        Failure::Useless(format!("{what}, at last on `{text}`: {help}"))
    }

    /// Runs the program on a text that it has rejected once more. Returns what it says, and what the cause may be.
    pub fn why(&mut self, text: &[u8]) -> Option<String> {
        let run = self.tested.run(text).ok()?;
        let (said, confinement) = (Rejection::of(&run), hint(self.surroundings.confinement, &run));
        if self.acceptance.judge(&run) {
            return Some("it accepts the same text when it is run once more".to_string());
        }
        let cause = confinement.or_else(|| usual_cause(&said, self.surroundings.text).map(str::to_string));
        let cause = cause.unwrap_or_else(|| self.acceptance.rule().to_string());
        Some(format!("{said}\n  {cause}"))
    }

    /// Finds out whether the program tells texts apart: it is to accept one of `valid`, of which at most 64 are tried,
    /// and to reject some nonsense.
    ///
    /// # Errors
    ///
    /// If it does not, or if the program cannot be run.
    pub fn probe(&mut self, valid: &[Vec<u8>], valid_is: &str) -> Result<(), Failure> {
        let tried = &valid[..valid.len().min(64)];
        let accepts_one = tried.iter().any(|text| self.accepts(text) == Some(true));
        self.fail()?;
        if !accepts_one && self.end.is_none() {
            let first = tried.first().map_or(String::new(), |text| format!(", such as `{}`", one_line(text, 60)));
            let all = plural(tried.len() as u64, "text");
            let why =
                tried.first().and_then(|text| self.why(text)).unwrap_or_else(|| self.acceptance.rule().to_string());
            return Err(Failure::Useless(format!(
                "the program rejects all of {all} that are {valid_is}{first}: {why}"
            )));
        }
        if !accepts_one && matches!(self.end, Some(End::Time | End::Runs)) {
            let runs = plural(self.counts.runs, "text");
            return Err(Failure::Useless(format!(
                "`--time` or `--max-tests` ended before the program had accepted any text; it was run on {runs}"
            )));
        }
        let rejects_one = NONSENSE.iter().any(|text| self.accepts(text) == Some(false));
        self.fail()?;
        if !rejects_one && self.end.is_none() {
            return Err(Failure::Useless(format!(
                "the program accepts whatever it gets, also nonsense: {}",
                self.acceptance.rule()
            )));
        }
        Ok(())
    }

    /// Returns the error that has occurred, once.
    fn fail(&mut self) -> Result<(), Failure> {
        self.failure.take().map_or(Ok(()), Err)
    }

    /// Returns why there was an end.
    ///
    /// # Errors
    ///
    /// If something failed, or a signal came.
    pub fn finish(&mut self, written: &str) -> Result<Option<End>, Failure> {
        self.fail()?;
        match self.end {
            Some(End::Signal(name, signal)) => {
                let reached = format!("after {}; {written}", plural(self.counts.runs, "run"));
                Err(Failure::Stopped { name, signal, reached })
            }
            end => Ok(end),
        }
    }
}

impl Acceptance {
    /// Returns true if a run accepts its text. A run that a signal or a limit has ended does not.
    fn judge(&self, run: &Run<'_>) -> bool {
        let is_exception = matches!(run.outcome, Outcome::Exception(_));
        if run.outcome.is_abnormal() && !is_exception {
            return false;
        }
        let matches = |regex: &Regex| {
            [run.stdout, run.stderr].into_iter().any(|written| regex.is_match(&String::from_utf8_lossy(&written.bytes)))
        };
        match (&self.accept, &self.reject) {
            (None, None) => run.outcome == Outcome::Exit(0),
            (accept, reject) => accept.as_ref().is_none_or(matches) && !reject.as_ref().is_some_and(matches),
        }
    }

    /// Returns what counts as acceptance, and what to do if that is wrong.
    fn rule(&self) -> &'static str {
        match (&self.accept, &self.reject) {
            (None, None) => {
                "it accepts by exit status 0; if it says otherwise what it accepts, give `--accept-regex` or `--reject-regex`"
            }
            _ => "see whether the regular expressions match what it writes",
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Options {
        #[command(flatten)]
        oracle: OracleArgs,
    }

    fn oracle(options: &[&str], script: &str, most_runs: u64) -> Oracle {
        let command = ["--", "/bin/sh", "-c", script];
        let Options { oracle } = Options::parse_from(["test"].iter().chain(options).chain(&command));
        Oracle::new(&oracle, most_runs, Stop::default()).expect("a program")
    }

    #[test]
    fn exit_status_or_regular_expressions_decide() {
        let script = "read word; echo said $word; echo wrong >&2; test $word = good";
        let answers = |options: &[&str]| {
            let mut oracle = oracle(options, script, 100);
            [&b"good\n"[..], b"bad\n"].map(|text| oracle.accepts(text).expect("an answer"))
        };
        assert_eq!(answers(&[]), [true, false]);
        assert_eq!(answers(&["--accept-regex", "said (good|bad)"]), [true, true]);
        assert_eq!(answers(&["--reject-regex", "good"]), [false, true]);
        assert_eq!(answers(&["--accept-regex", "^said", "--reject-regex", "bad"]), [true, false]);
        assert_eq!(answers(&["--reject-regex", "wrong"]), [false, false]);
    }

    #[test]
    fn answers_are_remembered_and_runs_are_bounded() {
        let mut oracle = oracle(&[], "grep -q a", 2);
        assert_eq!(
            [oracle.accepts(b"a"), oracle.accepts(b"b"), oracle.accepts(b"a")],
            [Some(true), Some(false), Some(true)]
        );
        assert_eq!((oracle.counts().runs, oracle.counts().known, oracle.counts().accepted), (2, 1, 1));
        assert_eq!((oracle.accepts(b"c"), oracle.end), (None, Some(End::Runs)));
        assert_eq!(oracle.accepts(b"b"), Some(false));
        assert_eq!(oracle.finish("").expect("no failure"), Some(End::Runs));
    }

    #[test]
    fn a_program_that_tells_nothing_is_refused() {
        let probe = |script: &str, options: &[&str]| {
            let result = oracle(options, script, 1000).probe(&[b"a".to_vec(), b"b".to_vec()], "samples");
            result.err().map(|failure| failure.to_string()).unwrap_or_default()
        };
        assert_eq!(probe("grep -q b", &[]), "");
        let said = probe("cat > /dev/null", &[]);
        assert!(said.contains("accepts whatever it gets") && said.contains("`--reject-regex`"), "{said}");
        let said = probe("exit 1", &[]);
        assert!(said.contains("rejects all of 2 texts that are samples, such as `a`"), "{said}");
        let said = probe("echo > /no/such; cat /dev/null > /gramjet-test", &[]);
        assert!(said.contains("by confinement") && said.contains("--allow"), "{said}");
        let said = probe("cat > /dev/null", &["--reject-regex", "x"]);
        assert!(said.contains("regular expressions match"), "{said}");
        let early = oracle(&[], "exit 1", 1).probe(&[b"a".to_vec(), b"b".to_vec()], "samples");
        let said = early.expect_err("nothing was accepted").to_string();
        assert!(said.contains("ended before the program had accepted any text; it was run on 1 text"), "{said}");
    }

    #[test]
    fn a_program_that_hangs_is_given_up() {
        let mut oracle = oracle(&["--timeout", "5ms"], "sleep 10", 1000);
        let answers: Vec<_> = (0..20u8).map(|number| oracle.accepts(&[number])).collect();
        assert_eq!((answers[0], answers[19], oracle.end), (Some(false), None, Some(End::Failed)));
        let failure = oracle.finish("").expect_err("a failure").to_string();
        assert!(failure.contains("(5ms) on 16 texts in a row") && failure.contains("`--timeout`"), "{failure}");
    }

    #[test]
    fn a_run_that_took_too_long_gets_more_time() {
        // Each first run of a text leaves a file and takes long.
        let place = std::env::temp_dir().join(format!("gramjet-oracle-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir_all(&place).expect("a folder");
        let script = format!(
            "f={}/$(cat); if [ -e $f ]; then test $f != ${{f%a}}; else touch $f; sleep 60; fi",
            place.display()
        );
        let mut oracle = oracle(&["--timeout", "2s", "--unconfined"], &script, 100);
        assert_eq!([oracle.accepts(b"a"), oracle.accepts(b"b")], [Some(true), Some(false)]);
        assert_eq!(oracle.counts().stopped, 0);
        std::fs::remove_dir_all(place).expect("the folder");
    }

    #[test]
    fn a_request_to_stop_is_an_end() {
        let mut oracle = oracle(&[], "cat", 1000);
        oracle.stop.signal();
        assert_eq!((oracle.accepts(b"a"), oracle.end), (None, Some(End::Signal("SIGINT", 2))));
        assert!(oracle.finish("nothing is written").is_err());
    }
}
