//! Failures that need depth, and those that need length: classes apart from others. Most failures of depth are stacks
//! that overflow. Where a stack overflows is chance, so nothing but the kind of the overflow tells them apart.

use std::sync::LazyLock;

use gramjet_harness::Outcome;
use regex_lite::Regex;

use super::verdict::Failed;

/// More levels than this are depth.
pub(crate) const DEEP: usize = 16;
/// Keys of failures begin with these where a rule has to contain itself often, and where a repetition has to have many
/// rounds.
const DEPTH: &str = "depth-";
const LENGTH: &str = "length-";

/// The least depth at which a text that was stretched makes the program fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depth {
    /// Number of levels.
    pub levels: usize,
    /// Rule that contains itself, or that has the repetition.
    pub rule: String,
    /// Whether the rule contains itself. Else the levels are rounds of a repetition.
    pub is_nested: bool,
}

impl Failed {
    /// Returns the failure as one of depth. Nothing of it is taken from the place where it happened.
    pub(crate) fn of_depth(self, what: &str) -> Failed {
        let kind = format!("{DEPTH}{what}");
        Failed { key: kind.clone(), kind, is_bare: false, ..self }
    }

    /// Returns the failure as one of a class, told from others as before.
    fn of_class(self, class: &str) -> Failed {
        Failed { key: format!("{class}{}", self.key), kind: format!("{class}{}", self.kind), ..self }
    }

    /// Returns the failure as one of the class that a key names, if it names one.
    pub(crate) fn of_class_of(self, key: &str) -> Failed {
        match [DEPTH, LENGTH].into_iter().find(|class| key.starts_with(class)) {
            Some(DEPTH) if self.is_signal() => self.clone().of_depth(&self.kind),
            Some(class) if !self.is_classed() => self.of_class(class),
            _ => self,
        }
    }

    /// Returns true if it is a failure of depth or length.
    fn is_classed(&self) -> bool {
        [DEPTH, LENGTH].iter().any(|class| self.key.starts_with(class))
    }

    /// Returns true if nothing but a signal or a status is known of it: a stack that overflows says no more.
    fn is_signal(&self) -> bool {
        self.is_bare && !self.is_classed()
    }

    /// Returns the kind without the class.
    pub(crate) fn plain_kind(&self) -> &str {
        let kind = &self.kind;
        kind.strip_prefix(DEPTH).or_else(|| kind.strip_prefix(LENGTH)).unwrap_or(kind)
    }

    /// Returns the failure as one of this depth.
    pub(crate) fn at_depth(self, depth: &Depth) -> Failed {
        let Depth { levels, rule, is_nested } = depth;
        let (class, levels) = match is_nested {
            true => (DEPTH, format!("{levels} levels of `{rule}`")),
            false => (LENGTH, format!("{levels} rounds in `{rule}`")),
        };
        let what = format!("{}, from {levels} on", self.what);
        Failed { what, ..self.of_class_of(class) }
    }
}

/// Returns the kind of the overflow, if a run says that its stack has overflowed, or that it has recursed too deeply.
pub(crate) fn overflow(outcome: &Outcome, stderr: &str) -> Option<&'static str> {
    /// Words of run-time systems, and names of what they mean.
    static SIGNS: LazyLock<[(Regex, &str); 3]> = LazyLock::new(|| {
        let regex = |pattern: &str| Regex::new(pattern).expect("a regular expression");
        [
            (regex(r"Sanitizer: stack-overflow|has overflowed its stack|[Ss]tack overflow"), "stack-overflow"),
            (regex(r"maximum recursion depth exceeded|stack level too deep|RecursionError"), "recursion"),
            (regex(r"Maximum call stack size exceeded|goroutine stack exceeds|StackOverflowError"), "call-stack"),
        ]
    });
    match outcome {
        Outcome::Exception(exception) if exception.is_a("RecursionError") => Some("RecursionError"),
        Outcome::Exception(exception) if exception.is_a("StackOverflowError") => Some("StackOverflowError"),
        Outcome::Exception(exception) if exception.is_a("RangeError") => {
            stderr.contains("Maximum call stack size exceeded").then_some("RangeError")
        }
        Outcome::Exit(0) | Outcome::Exception(_) => None,
        // The report of a sanitizer may take so long that a limit ends the run meanwhile.
        Outcome::Exit(_) | Outcome::Signal(_) | Outcome::Timeout | Outcome::Memory => {
            SIGNS.iter().find(|(sign, _)| sign.is_match(stderr)).map(|&(_, name)| name)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use gramjet_harness::Exception;

    use super::*;

    fn exception(class: &str) -> Outcome {
        Outcome::Exception(Exception { class: class.into(), frame: None, parents: Vec::new() })
    }

    #[test]
    fn overflows_are_told_from_other_failures() {
        let overflow = |outcome: Outcome, said: &str| super::overflow(&outcome, said);
        assert_eq!(overflow(exception("RecursionError"), ""), Some("RecursionError"));
        assert_eq!(overflow(exception("java.lang.StackOverflowError"), ""), Some("StackOverflowError"));
        assert_eq!(
            overflow(exception("RangeError"), "RangeError: Maximum call stack size exceeded\n"),
            Some("RangeError")
        );
        assert_eq!(overflow(exception("RangeError"), "RangeError: Invalid array length\n"), None);
        let rust = "\nthread 'main' has overflowed its stack\nfatal runtime error: stack overflow, aborting\n";
        assert_eq!(overflow(Outcome::Signal(6), rust), Some("stack-overflow"));
        let sanitizer = "==7==ERROR: AddressSanitizer: stack-overflow on address 0x7f (pc 0x5 bp 0x7 sp 0x7 T0)\n";
        assert_eq!(overflow(Outcome::Exit(1), sanitizer), Some("stack-overflow"));
        let python = "RecursionError: maximum recursion depth exceeded in comparison\n";
        assert_eq!(overflow(Outcome::Exit(1), python), Some("recursion"));
        assert_eq!(overflow(Outcome::Timeout, sanitizer), Some("stack-overflow"));
        assert_eq!(overflow(Outcome::Signal(11), ""), None);
        assert_eq!(overflow(Outcome::Exit(0), python), None);
    }

    #[test]
    fn failures_at_a_depth_have_a_key_of_their_kind_alone() {
        let failed = Failed {
            key: "SIGSEGV-f-0".into(),
            kind: "SIGSEGV-1".into(),
            what: "signal 11".into(),
            is_bare: true,
            is_limit: false,
        };
        let depth = |levels| Depth { levels, rule: "value".into(), is_nested: true };
        let deep = failed.clone().at_depth(&depth(2000));
        assert_eq!((deep.key.as_str(), deep.is_bare), ("depth-SIGSEGV-1", false));
        assert_eq!(deep.what, "signal 11, from 2000 levels of `value` on");
        assert_eq!(failed.clone().at_depth(&depth(7)).key, deep.key);
        let long = failed.at_depth(&Depth { is_nested: false, ..depth(4300) });
        assert_eq!((&*long.key, &*long.what), ("length-SIGSEGV-f-0", "signal 11, from 4300 rounds in `value` on"));
    }
}
