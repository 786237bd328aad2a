//! The last words of a program that does not accept a text.

use std::fmt;

use gramjet_harness::{Outcome, Run};

use super::messages::normalised;
use crate::words::one_line;

/// Lines that are kept of what a program wrote.
const LINES: usize = 3;
/// Characters that are kept of a line.
const WIDTH: usize = 160;

/// The end of a run on a text that the program did not accept, and its last words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The outcome of the run, for people.
    ended: String,
    /// Whether a function threw an exception.
    is_exception: bool,
    /// The last lines that the program wrote to standard error, or to standard output if that is empty. They have
    /// escapes.
    lines: Vec<String>,
}

impl Rejection {
    /// Returns what a run says.
    pub fn of(run: &Run<'_>) -> Rejection {
        let is_exception = matches!(run.outcome, Outcome::Exception(_));
        Rejection { is_exception, ..Rejection::new(run.outcome.to_string(), &run.stdout.bytes, &run.stderr.bytes) }
    }

    fn new(ended: String, stdout: &[u8], stderr: &[u8]) -> Rejection {
        let error = last_lines(stderr);
        Rejection { ended, is_exception: false, lines: if error.is_empty() { last_lines(stdout) } else { error } }
    }

    /// Returns true if a function threw an exception.
    pub fn is_exception(&self) -> bool {
        self.is_exception
    }

    /// Returns the last lines that the program wrote.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Returns true if both runs ended alike, and said the same but for numbers, paths and what is quoted.
    pub fn is_like(&self, other: &Rejection) -> bool {
        let last = |rejection: &Rejection| rejection.lines.last().map(|line| normalised(line));
        self.ended == other.ended && last(self) == last(other)
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.lines[..] {
            [] => write!(f, "{}, and it wrote nothing", self.ended),
            [line] => write!(f, "{}; it wrote `{line}`", self.ended),
            lines => {
                write!(f, "{}; it wrote", self.ended)?;
                lines.iter().try_for_each(|line| write!(f, "\n    {line}"))
            }
        }
    }
}

/// Returns the last lines that are not blank, with escapes. What Node writes behind its message is left out: frames of
/// the stack, and its version.
fn last_lines(written: &[u8]) -> Vec<String> {
    let lines = written.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    let says_little = |line: &[u8]| line.is_empty() || line.starts_with(b"Node.js v") || line.starts_with(b"    at ");
    let mut last: Vec<String> =
        lines.rev().filter(|line| !says_little(line)).take(LINES).map(|line| one_line(line, WIDTH)).collect();
    last.reverse();
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejection(status: i32, stdout: &[u8], stderr: &[u8]) -> Rejection {
        Rejection::new(format!("exit status {status}"), stdout, stderr)
    }

    #[test]
    fn the_last_words_are_shown_with_escapes() {
        assert_eq!(rejection(1, b"", b"\n").to_string(), "exit status 1, and it wrote nothing");
        assert_eq!(rejection(1, b"a\nno\x1B[2J\n", b"").to_string().lines().last(), Some("    no\\u{1b}[2J"));
        assert_eq!(rejection(2, b"out", b"bad token\n\n").to_string(), "exit status 2; it wrote `bad token`");
        let long = rejection(2, b"", b"1\n2\n3\n4\r\n").to_string();
        assert_eq!(long, "exit status 2; it wrote\n    2\n    3\n    4");
        let node = b"SyntaxError: bad\n    at f (a.js:1:2)\n    at node:internal\n\nNode.js v20.1.0\n";
        assert_eq!(rejection(1, b"", node).to_string(), "exit status 1; it wrote `SyntaxError: bad`");
    }

    #[test]
    fn messages_that_differ_in_places_and_quotes_are_alike() {
        let at = |line: u8, word: &str| rejection(1, b"", format!("x:{line}: no `{word}`").as_bytes());
        assert!(at(1, "a").is_like(&at(7, "b")));
        assert!(!at(1, "a").is_like(&rejection(2, b"", b"x:1: no `a`")));
        assert!(!at(1, "a").is_like(&rejection(1, b"", b"x:1: yes `a`")));
    }
}
