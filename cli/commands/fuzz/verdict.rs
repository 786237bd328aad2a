//! Whether a run is a failure, and which one.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;
use std::path::PathBuf;

use gramjet_harness::{Exception, Outcome, Run, Target, signal_name};
use gramjet_session::hash;
use regex_lite::Regex;

use super::gist::{Gist, gist};
use super::subject::{Surroundings, Tested};
use crate::failure::Failure;

/// Which runs are failures, besides signals, exceptions, reports of sanitizers and limits that are exceeded.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    pub(super) exits: Vec<RangeInclusive<i32>>,
    pub(super) stderr: Option<Regex>,
    /// Classes of exceptions that are none.
    pub(super) allowed: Vec<String>,
    pub(super) compare: Option<String>,
    pub(super) compare_output: bool,
    pub(super) normalise: Option<String>,
    pub(super) oracle: Option<String>,
}

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Failed {
    /// Runs that fail for the same reason have the same one; the name of a folder.
    pub(super) key: String,
    /// One line for the user.
    pub(super) what: String,
    /// Nothing but the outcome is known of the reason.
    pub(super) is_bare: bool,
}

/// What a run was.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) failed: Option<Failed>,
    /// How it behaved, as far as can be told from outside: runs that behave alike have the same number.
    pub(super) behaviour: u64,
    /// It exited with status 0, or returned.
    pub(super) is_valid: bool,
}

/// Judges runs. It has the programs that outputs are held against.
pub(super) struct Judge {
    rules: Rules,
    other: Option<Tested>,
    normalise: Option<Tested>,
    oracle: Option<Oracle>,
}

struct Oracle {
    program: Tested,
    /// The file with the output, which the command finds in `$GRAMJET_OUTPUT`.
    output: PathBuf,
}

impl Drop for Oracle {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.output);
    }
}

/// A part of a run that is held against another program's.
struct Seen {
    class: Class,
    stdout: Vec<u8>,
}

/// What differential testing tells apart.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Class {
    Success,
    Error,
    Abnormal(Outcome),
}

impl Judge {
    /// A judge for one worker; `number` tells workers apart.
    pub(super) fn new(rules: &Rules, surroundings: Surroundings, number: usize) -> Result<Judge, Failure> {
        let shell = |command: &Option<String>| {
            command.as_ref().map(|command| Tested::shell(command, surroundings, None)).transpose()
        };
        let oracle = rules.oracle.as_ref().map(|command| {
            let output = std::env::temp_dir().join(format!("gramjet-output-{}-{number}", std::process::id()));
            let program = Tested::shell(command, surroundings, Some(output.clone().into()))?;
            Ok::<_, Failure>(Oracle { program, output })
        });
        Ok(Judge {
            rules: rules.clone(),
            other: shell(&rules.compare)?,
            normalise: shell(&rules.normalise)?,
            oracle: oracle.transpose()?,
        })
    }

    /// Judges a run on this input.
    pub(super) fn judge(&mut self, input: &[u8], run: &Run<'_>) -> Result<Verdict, Failure> {
        let stderr = String::from_utf8_lossy(&run.stderr.bytes);
        let gist = gist(&stderr);
        let is_valid = run.outcome == Outcome::Exit(0);
        let behaviour = behaviour(run, &gist);
        let mut failed = self.by_itself(&run.outcome, &stderr, gist);
        if failed.is_none() && (self.other.is_some() || self.oracle.is_some()) {
            let seen = Seen { class: self.class(&run.outcome), stdout: run.stdout.bytes.clone() };
            failed = self.differs(input, &seen)?;
            if failed.is_none() {
                failed = self.refused(input, &seen)?;
            }
        }
        Ok(Verdict { failed, behaviour, is_valid })
    }

    /// A failure that the run shows by itself.
    fn by_itself(&self, outcome: &Outcome, stderr: &str, gist: Gist) -> Option<Failed> {
        let matches = |regex: &Regex| regex.is_match(stderr);
        let is_failure = match outcome {
            Outcome::Exit(status) => {
                gist.is_sanitizer
                    || self.rules.exits.iter().any(|range| range.contains(status))
                    || self.rules.stderr.as_ref().is_some_and(matches)
            }
            Outcome::Exception(exception) => !self.allows(exception),
            _ => true,
        };
        if !is_failure {
            return None;
        }
        // Where a limit ended the run, what it had written up to then depends on the clock.
        let Gist { message, frames, is_sanitizer } = match outcome {
            Outcome::Timeout | Outcome::Memory | Outcome::Processes | Outcome::Lost => Gist::default(),
            Outcome::Exception(Exception { class, frame }) => {
                Gist { message: class.clone(), frames: frame.iter().cloned().collect(), is_sanitizer: false }
            }
            _ => gist,
        };
        let kind = match outcome {
            _ if is_sanitizer => String::new(),
            Outcome::Exception(_) => String::new(),
            other => short(other),
        };
        let parts = [kind, message].into_iter().chain(frames).filter(|part| !part.is_empty());
        let parts: Vec<String> = parts.collect();
        let is_bare = parts.len() == 1 && matches!(outcome, Outcome::Signal(_) | Outcome::Timeout | Outcome::Memory);
        let what = match outcome {
            Outcome::Exception(_) => outcome.to_string(),
            _ if parts.len() > 1 => format!("{outcome}: {}", parts[usize::from(!is_sanitizer)..].join(", ")),
            _ => outcome.to_string(),
        };
        Some(Failed { key: key(&parts), what, is_bare })
    }

    fn allows(&self, exception: &Exception) -> bool {
        let short = exception.class.rsplit('.').next();
        self.rules.allowed.iter().any(|allowed| *allowed == exception.class || Some(allowed.as_str()) == short)
    }

    fn class(&self, outcome: &Outcome) -> Class {
        match outcome {
            Outcome::Exit(0) => Class::Success,
            Outcome::Exit(_) | Outcome::Exception(_) => Class::Error,
            abnormal => Class::Abnormal(abnormal.clone()),
        }
    }

    /// A failure that the other program shows.
    fn differs(&mut self, input: &[u8], seen: &Seen) -> Result<Option<Failed>, Failure> {
        let Some(other) = &mut self.other else { return Ok(None) };
        let (class, outcome, stdout) = {
            let run = other.run(input)?;
            let class = match &run.outcome {
                Outcome::Exit(0) => Class::Success,
                Outcome::Exit(_) => Class::Error,
                abnormal => Class::Abnormal(abnormal.clone()),
            };
            (class, run.outcome.clone(), run.stdout.bytes.clone())
        };
        if class != seen.class {
            let (one, two) = (called(&seen.class), called(&class));
            let key = key(&["differs".to_string(), one.clone(), two.clone()]);
            let what = format!("the program ends with {one}, the other one with {two} ({outcome})");
            return Ok(Some(Failed { key, what, is_bare: true }));
        }
        let compares = self.rules.compare_output || self.normalise.is_some();
        if class != Class::Success || !compares || self.normalised(&seen.stdout)? == self.normalised(&stdout)? {
            return Ok(None);
        }
        let key = key(&["differs".to_string(), "output".to_string()]);
        Ok(Some(Failed { key, what: "the programs write different output".to_string(), is_bare: true }))
    }

    fn normalised(&mut self, output: &[u8]) -> Result<Vec<u8>, Failure> {
        match &mut self.normalise {
            Some(filter) => Ok(filter.run(output)?.stdout.bytes.clone()),
            None => Ok(output.to_vec()),
        }
    }

    /// A failure that the oracle shows: exit status 1.
    fn refused(&mut self, input: &[u8], seen: &Seen) -> Result<Option<Failed>, Failure> {
        let Some(Oracle { program, output }) = &mut self.oracle else { return Ok(None) };
        fs::write(&*output, &seen.stdout).map_err(|source| Failure::writing(output, source))?;
        let run = program.run(input)?;
        match &run.outcome {
            Outcome::Exit(0) => Ok(None),
            Outcome::Exit(1) => {
                let gist = gist(&String::from_utf8_lossy(&run.stderr.bytes));
                let parts: Vec<String> = ["oracle".to_string(), gist.message.clone()].into();
                let what = format!("the oracle refuses the output: {}", gist.message);
                let what = what.trim_end_matches([':', ' ']).to_string();
                Ok(Some(Failed { key: key(&parts), what, is_bare: gist.message.is_empty() }))
            }
            other => Err(Failure::Usage(format!(
                "the oracle ends with {other}; 0 is for output that is right, 1 for output that is wrong"
            ))),
        }
    }
}

fn called(class: &Class) -> String {
    match class {
        Class::Success => "success".to_string(),
        Class::Error => "an error".to_string(),
        Class::Abnormal(outcome) => outcome.to_string(),
    }
}

/// The outcome in one word.
fn short(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Exit(status) => format!("exit-{status}"),
        Outcome::Signal(number) => signal_name(*number).map_or_else(|| format!("signal-{number}"), str::to_string),
        Outcome::Timeout => "timeout".to_string(),
        Outcome::Memory => "memory".to_string(),
        Outcome::Processes => "processes".to_string(),
        Outcome::Exception(Exception { class, .. }) => class.clone(),
        _ => "lost".to_string(),
    }
}

/// The name of a folder: as much of the parts as can be read, and a number for all of it.
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

/// The key of one of several failures of the same outcome, of which edges tell which it is.
pub(super) fn key_with(failed: &Failed, edges: impl Iterator<Item = u32>) -> String {
    let bytes: Vec<u8> = edges.flat_map(u32::to_le_bytes).collect();
    format!("{}-{:08x}", failed.key, hash(&bytes) as u32)
}

/// What can be seen of a run from outside: the outcome, the message, how much it wrote and how long it took, by powers
/// of two. Times below 16 ms are noise.
fn behaviour(run: &Run<'_>, gist: &Gist) -> u64 {
    let mut hasher = DefaultHasher::new();
    run.outcome.hash(&mut hasher);
    (&gist.message, &gist.frames).hash(&mut hasher);
    let log = |amount: u64| u64::BITS - amount.leading_zeros();
    (log(run.stdout.written), log(run.stderr.written)).hash(&mut hasher);
    let time = run.usage.cpu.map_or(run.usage.wall, |(user, kernel)| user + kernel);
    log(time.as_millis() as u64 / 16).hash(&mut hasher);
    hasher.finish()
}

/// Exit statuses: numbers and ranges with commas between, such as `1,3-5`; `any` for all but 0.
pub(super) fn parse_exits(text: &str) -> Result<Vec<RangeInclusive<i32>>, String> {
    let status = |text: &str| text.parse::<u8>().map(i32::from).map_err(|_| format!("`{text}` is no exit status"));
    if text == "any" {
        return Ok(vec![1..=255]);
    }
    let range = |part: &str| match part.split_once('-') {
        Some((first, last)) => Ok(status(first)?..=status(last)?),
        None => status(part).map(|status| status..=status),
    };
    text.split(',').map(range).collect()
}

/// The words of a command as a shell takes them.
pub(super) fn quoted(words: &[OsString]) -> String {
    let quoted = |word: &OsStr| {
        let word = word.to_string_lossy();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+=:,./@%".contains(&byte);
        match !word.is_empty() && word.bytes().all(is_plain) {
            true => word.into_owned(),
            false => format!("'{}'", word.replace('\'', r"'\''")),
        }
    };
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_statuses_are_numbers_and_ranges() {
        assert_eq!(parse_exits("1,3-5"), Ok(vec![1..=1, 3..=5]));
        assert_eq!(parse_exits("any"), Ok(vec![1..=255]));
        assert_eq!(parse_exits("1,x"), Err("`x` is no exit status".to_string()));
        assert!(parse_exits("256").is_err() && parse_exits("").is_err());
    }

    #[test]
    fn keys_are_names_of_folders() {
        let parts = |text: &str| [text.to_string(), "a/b: c".to_string()];
        let name = key(&parts("SIGSEGV"));
        assert!(name.starts_with("SIGSEGV-a-b-c-") && name.len() == "SIGSEGV-a-b-c-".len() + 8, "{name}");
        assert_ne!(key(&parts("x")), key(&parts("y")));
        assert!(key(&[".".repeat(300), "é".into()]).len() < 80);
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        let words = ["./a", "x y", "it's", "@@", ""].map(OsString::from);
        assert_eq!(quoted(&words), r"./a 'x y' 'it'\''s' @@ ''");
    }
}
