//! The options that say how the program is run and what a failure is, and the record of them.

use std::ops::RangeInclusive;
use std::time::Duration;

use clap::{Args, Parser};
use gramjet_harness::Permission;
use regex_lite::Regex;

use crate::arguments::run::{RunArgs, parse_regex, parse_timeout, permission_options};
use crate::units::Bound;
use gramjet_campaign::failing::{self, Rules};
use gramjet_campaign::subject::Surroundings;

/// Options that say what a failure is, besides signals, uncaught exceptions, reports of sanitizers, and limits of the
/// program that are exceeded.
#[derive(Debug, Args)]
#[command(next_help_heading = "What a failure is")]
pub(super) struct FailureArgs {
    /// A run that takes more processor time is a failure, and one that takes five times as much by the clock, and a
    /// second at least.
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = parse_timeout)]
    timeout: Duration,

    /// These exit statuses are failures: numbers and ranges with commas between, or `any` for all but 0.
    #[arg(long, value_name = "STATUSES", value_parser = parse_exits)]
    fail_exit: Option<Exits>,

    /// A match of this regular expression in standard error is a failure.
    #[arg(long, value_name = "REGEX", value_parser = parse_regex)]
    fail_stderr: Option<Regex>,

    /// Exceptions of these classes and their subclasses are no failures, as they say that an input is invalid; with
    /// commas between.
    #[arg(long, value_name = "CLASSES", value_delimiter = ',')]
    expect: Vec<String>,

    /// Command of the shell that is run on the same text: it is a failure if it succeeds where the program reports an
    /// error, or the other way round. It may also be a function, such as `python:json:loads`.
    #[arg(long, value_name = "COMMAND")]
    compare: Option<String>,

    /// With `--compare`, different output is a failure, too.
    #[arg(long, requires = "compare")]
    compare_output: bool,

    /// Compare the output of both programs after this command of the shell, a filter.
    #[arg(long, value_name = "COMMAND", requires = "compare")]
    normalise: Option<String>,

    /// Command of the shell that judges each run: it is a failure if it exits with 1. It gets the text as the program
    /// does, and the program's output in the file that `$GRAMJET_OUTPUT` names.
    #[arg(long, value_name = "COMMAND")]
    oracle: Option<String>,
}

/// Bytes of output that are kept where the output is judged.
const JUDGED_OUTPUT: usize = 16 << 20;

/// The usual limits of the program.
const TIMEOUT: Duration = Duration::from_secs(1);
const MEMORY: u64 = RunArgs::MEMORY;

/// Exit statuses.
#[derive(Clone, Debug)]
struct Exits(Vec<RangeInclusive<i32>>);

fn parse_exits(text: &str) -> Result<Exits, String> {
    failing::parse_exits(text).map(Exits)
}

/// Way of running the program, and rules that say what a failure is.
#[derive(Clone, Debug)]
pub(super) struct How {
    pub(super) rules: Rules,
    pub(super) surroundings: Surroundings,
}

/// The options that a failure was found with, as they are recorded.
#[derive(Debug, Parser)]
#[command(args_override_self = true)]
struct Recorded {
    #[command(flatten)]
    failures: FailureArgs,

    #[command(flatten)]
    run: RunArgs,
}

impl How {
    pub(super) fn new(failures: &FailureArgs, run: &RunArgs) -> How {
        let FailureArgs { timeout, fail_exit, fail_stderr, expect, compare, compare_output, normalise, oracle } =
            failures;
        let rules = Rules {
            exits: fail_exit.as_ref().map(|exits| exits.0.clone()).unwrap_or_default(),
            stderr: fail_stderr.clone(),
            expected: expect.clone(),
            compare: compare.clone(),
            compare_output: *compare_output,
            normalise: normalise.clone(),
            oracle: oracle.clone(),
        };
        let mut surroundings = run.surroundings(*timeout);
        if rules.reads_output() {
            surroundings.limits = surroundings.limits.with_kept_output(JUDGED_OUTPUT);
        }
        How { rules, surroundings }
    }

    /// Returns what recorded options say, the last of those of the same name; where they cannot be read, what is usual.
    pub(super) fn recorded(options: &[String]) -> How {
        let words = std::iter::once("fuzz".to_string()).chain(options.iter().map(|option| renamed(option)));
        let recorded = Recorded::try_parse_from(words).unwrap_or_else(|_| Recorded::parse_from(["fuzz"]));
        How::new(&recorded.failures, &recorded.run)
    }
}

/// Returns recorded options without those that give the program rights, unless they are `given` now, and those that are
/// left out: a folder of somebody else must not decide what the program may do here. Options that cannot be read are
/// none, as if nothing had been recorded.
pub(super) fn without_rights(recorded: &[String], given: &[String]) -> (Vec<String>, Vec<String>) {
    let words = std::iter::once("fuzz".to_string()).chain(recorded.iter().map(|option| renamed(option)));
    let Ok(read) = Recorded::try_parse_from(words) else { return Default::default() };
    let gives_rights = |option: &String| {
        let is_right = option == "--unconfined" || option.starts_with("--allow=");
        is_right && !given.contains(option) && !given.iter().any(|given| given == "--unconfined")
    };
    options(&read.failures, &read.run).into_iter().partition(|option| !gives_rights(option))
}

/// Returns a recorded option under its present name: `--allow` named the exceptions of `--expect` once.
fn renamed(option: &str) -> String {
    match option.strip_prefix("--allow=") {
        Some(value) if value.parse::<Permission>().is_err() => format!("--expect={value}"),
        _ => option.to_string(),
    }
}

impl FailureArgs {
    /// Returns true if failures are told by what only texts of the language can be expected to do.
    pub(super) fn judge_texts(&self) -> bool {
        self.fail_exit.is_some() || self.fail_stderr.is_some() || self.compare.is_some() || self.oracle.is_some()
    }

    /// Returns true if only gramjet sees such failures. Anyone sees a signal or an exit status.
    pub(super) fn need_us(&self) -> bool {
        self.fail_stderr.is_some() || self.compare.is_some() || self.oracle.is_some()
    }
}

/// Returns the options as they are recorded. Those with the usual values are left out.
pub(super) fn options(failures: &FailureArgs, run: &RunArgs) -> Vec<String> {
    let FailureArgs { timeout, fail_exit, fail_stderr, expect, compare, compare_output, normalise, oracle } = failures;
    let exits = |exits: &Exits| {
        let ranges = exits.0.iter().map(|range| format!("{}-{}", range.start(), range.end()));
        ranges.collect::<Vec<_>>().join(",")
    };
    let bound = |bound: Bound<u64>, usual| match bound {
        Bound::At(bytes) if bytes == usual => None,
        Bound::At(bytes) => Some(bytes.to_string()),
        Bound::Unlimited => Some("none".to_string()),
    };
    let valued = [
        ("--fail-exit", fail_exit.as_ref().map(exits)),
        ("--fail-stderr", fail_stderr.as_ref().map(|regex| regex.as_str().to_string())),
        ("--expect", (!expect.is_empty()).then(|| expect.join(","))),
        ("--compare", compare.clone()),
        ("--normalise", normalise.clone()),
        ("--oracle", oracle.clone()),
        ("--timeout", (*timeout != TIMEOUT).then(|| format!("{}ms", timeout.as_millis().max(1)))),
        ("--memory", bound(run.memory, MEMORY)),
        ("--disk", bound(run.disk, RunArgs::DISK)),
    ];
    let flags = [("--compare-output", *compare_output), ("--unconfined", run.unconfined), ("--text", run.text)];
    let valued = valued.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?)));
    let flags = flags.into_iter().filter(|&(_, is_set)| is_set).map(|(name, _)| name.to_string());
    valued.chain(permission_options(&run.allow)).chain(flags).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recorded_options_mean_what_was_asked_for() {
        let recorded = |words: &[&str]| {
            let words = std::iter::once("fuzz").chain(words.iter().copied());
            let Recorded { failures, run } = Recorded::try_parse_from(words).expect("options");
            options(&failures, &run)
        };
        assert_eq!(recorded(&[]), [""; 0]);
        let all = [
            "--fail-exit=3-3,7-9",
            "--fail-stderr=^a b",
            "--expect=A,B",
            "--compare=jq . @@",
            "--normalise=sort -u",
            "--oracle=exit 1",
            "--timeout=250ms",
            "--memory=none",
            "--disk=4096",
            "--allow=network",
            "--allow=write=/a,b",
            "--compare-output",
            "--unconfined",
            "--text",
        ];
        assert_eq!(recorded(&all), all);
        let how = How::recorded(&all.map(String::from));
        assert_eq!(how.rules.exits, [3..=3, 7..=9]);
        assert_eq!(how.surroundings.limits.time, Duration::from_millis(250));
        let later = ["--timeout=5ms", "--timeout=7ms"].map(String::from);
        assert_eq!(How::recorded(&later).surroundings.limits.time, Duration::from_millis(7));
        // Folders of before have the classes under another name.
        let old = How::recorded(&["--allow=ValueError,B".to_string(), "--allow=network".to_string()]);
        assert_eq!(
            (old.rules.expected, old.surroundings.allowed),
            (vec!["ValueError".into(), "B".into()], &[Permission::Network][..])
        );
        // Rights are not taken from a folder, in whatever form.
        let kept = |words: &[&str], given: &[&str]| {
            let [words, given] = [words, given].map(|words| words.iter().map(ToString::to_string).collect::<Vec<_>>());
            without_rights(&words, &given)
        };
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let recorded = ["--allow", "write=/", "--text", "--unconfined", "--allow", "network"];
        let rights = words(&["--allow=write=/", "--allow=network", "--unconfined"]);
        assert_eq!(kept(&recorded, &[]), (words(&["--text"]), rights));
        assert_eq!(kept(&["--allow=network"], &["--allow=network"]), (words(&["--allow=network"]), words(&[])));
        assert_eq!(kept(&["--allow", "network", "--nonsense"], &[]), (words(&[]), words(&[])));
        assert!(
            Recorded::try_parse_from(["fuzz", "--allow=ValueError"])
                .expect_err("a class")
                .to_string()
                .contains("--expect")
        );
        assert_eq!(How::recorded(&["--nonsense".to_string()]).surroundings.limits.time, TIMEOUT);
    }
}
