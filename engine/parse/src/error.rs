//! The reason why a text has no choice bytes: where it ceases to conform, and what was expected there.

use std::fmt;

use gramjet_compiler::charset::{CharSet, Unit};
use gramjet_compiler::coding::Coding;

use crate::arena::Frame;
use crate::program::Program;

/// Reason why there are no choice bytes for a text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// The text does not conform to the grammar.
    #[error("{0}")]
    Mismatch(Mismatch),
    /// The text has more derivations than can be distinguished within the bound on steps.
    #[error("byte {offset}: given up after {steps} steps, as the grammar is too ambiguous for this text")]
    Steps {
        /// Place in the text, in bytes.
        offset: usize,
        /// The bound.
        steps: u64,
    },
    /// The memory needed for the text exceeds the bound.
    #[error("byte {offset}: given up, as more than {limit} bytes of memory would be needed")]
    Memory {
        /// Place in the text, in bytes.
        offset: usize,
        /// The bound in bytes.
        limit: usize,
    },
    /// The text is too long.
    #[error("the text has {len} bytes, more than the {most} that can be parsed")]
    TooLong {
        /// Its length.
        len: usize,
        /// The greatest length.
        most: usize,
    },
}

impl ParseError {
    /// Returns the place in the text, as line and column from 1, columns in characters; `None` if the whole text is
    /// meant.
    pub fn place(&self, text: &[u8]) -> Option<(usize, usize)> {
        match self {
            ParseError::Mismatch(Mismatch { offset, .. })
            | ParseError::Steps { offset, .. }
            | ParseError::Memory { offset, .. } => Some(place(text, *offset)),
            ParseError::TooLong { .. } => None,
        }
    }
}

/// Returns the line and column of an offset in bytes, both from 1; columns count characters.
pub fn place(text: &[u8], offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    (line, String::from_utf8_lossy(&before[line_start..]).chars().count() + 1)
}

/// The furthest place that is reached of a text that does not conform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Place in the text, in bytes.
    pub offset: usize,
    /// The byte that stands there; `None` at the end of the text.
    pub found: Option<u8>,
    /// The expectations there, without duplicates, in the order in which they were tried; never more than
    /// [`Mismatch::MOST`].
    pub expected: Vec<Expected>,
    /// Number of further expectations there.
    pub more: usize,
    /// The innermost rule that has begun before, and where, in bytes.
    pub within: Option<(String, usize)>,
}

/// Something that a text could have at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// A literal, whose first `read` bytes match.
    Literal {
        /// The whole literal; of a long one, a part.
        bytes: Vec<u8>,
        /// Number of its bytes that have been read.
        read: usize,
    },
    /// A member of this set.
    Class(CharSet),
    /// A string of the rule with this name.
    Rule(String),
    /// Bytes that follow from a labelled part.
    Derived {
        /// The bytes.
        bytes: Vec<u8>,
        /// Whether they are a text rather than an integer.
        is_text: bool,
        /// Way in which they follow from parts, such as "the length of part `data`".
        origin: String,
        /// The bytes in their place, if they have been found to be others.
        found: Option<Vec<u8>>,
    },
    /// Nothing more.
    End,
}

impl Mismatch {
    /// At most this number of expectations is reported.
    pub const MOST: usize = 8;
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: ", self.offset)?;
        self.write_without_place(f)
    }
}

impl Mismatch {
    /// Returns the expectations and the byte found, without the place.
    pub fn message(&self) -> String {
        struct Message<'m>(&'m Mismatch);
        impl fmt::Display for Message<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.write_without_place(f)
            }
        }
        Message(self).to_string()
    }

    fn write_without_place(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected ")?;
        for (index, expected) in self.expected.iter().enumerate() {
            let last = index + 1 == self.expected.len() && self.more == 0;
            let between = if index == 0 {
                ""
            } else if last {
                " or "
            } else {
                ", "
            };
            write!(f, "{between}{expected}")?;
        }
        if self.expected.is_empty() {
            f.write_str("nothing")?;
        }
        if self.more > 0 {
            write!(f, " or one of {} more", self.more)?;
        }
        if let [Expected::Derived { is_text, found: Some(found), .. }] = &self.expected[..] {
            f.write_str(", found ")?;
            return derived(f, found, *is_text);
        }
        match self.found {
            None => f.write_str(", found the end of the text"),
            Some(byte @ 0x21..=0x7E) => write!(f, ", found `{}`", char::from(byte)),
            Some(byte) => write!(f, ", found the byte 0x{byte:02X}"),
        }
    }
}

impl Expected {
    /// Returns the expectation of a coded part, and what its text lacks.
    pub(crate) fn coded(coding: Coding, mismatch: &Mismatch) -> Expected {
        let (offset, message) = (mismatch.offset, mismatch.message());
        let origin = format!("a text in {} that conforms (at byte {offset} of it: {message})", coding.name());
        Expected::Derived { bytes: Vec::new(), is_text: true, origin, found: None }
    }

    /// Returns the expectation of a text that conforms but cannot be derived, as coded parts count more than they have.
    pub(crate) fn no_room() -> Expected {
        let origin =
            "a shorter text: under a field or a limit, a coded part needs room for the longest form of its bytes";
        Expected::Derived { bytes: Vec::new(), is_text: true, origin: origin.to_string(), found: None }
    }

    /// Returns the expectation of a coded part, given the number of its bytes that were read.
    pub(crate) fn coded_to(coding: Coding, read: usize) -> Expected {
        let read = if read > 0 { format!(", {read} bytes of which were read") } else { String::new() };
        let origin = format!("a text in {}{read}", coding.name());
        Expected::Derived { bytes: Vec::new(), is_text: true, origin, found: None }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Literal { bytes, read } => {
                let quoted = |bytes: &[u8]| String::from_utf8_lossy(bytes).escape_debug().to_string();
                write!(f, "\"{}\"", quoted(&bytes[*read..]))?;
                if *read > 0 {
                    write!(f, " of \"{}\"", quoted(bytes))?;
                }
                Ok(())
            }
            Expected::Class(set) => {
                const RANGES: usize = 6;
                f.write_str("[")?;
                for &(low, high) in set.ranges().iter().take(RANGES) {
                    member(f, set.unit(), low)?;
                    if low != high {
                        f.write_str("-")?;
                        member(f, set.unit(), high)?;
                    }
                }
                if set.ranges().len() > RANGES {
                    f.write_str("...")?;
                }
                f.write_str("]")
            }
            Expected::Rule(name) => write!(f, "<{name}>"),
            Expected::Derived { bytes, origin, .. } if bytes.is_empty() => f.write_str(origin),
            Expected::Derived { bytes, is_text, origin, .. } => {
                derived(f, bytes, *is_text)?;
                write!(f, ", {origin}")
            }
            Expected::End => f.write_str("the end of the text"),
        }
    }
}

/// Writes bytes that follow from a labelled part: a text as it is, an integer in hexadecimal digits.
fn derived(f: &mut fmt::Formatter<'_>, bytes: &[u8], is_text: bool) -> fmt::Result {
    const MOST: usize = 40;
    let some = &bytes[..bytes.len().min(MOST)];
    if is_text {
        write!(f, "`{}", String::from_utf8_lossy(some).escape_debug())?;
    } else {
        some.iter().try_for_each(|byte| write!(f, "{byte:02X}"))?;
    }
    let more = if some.len() < bytes.len() { "..." } else { "" };
    write!(f, "{more}{}", if is_text { "`" } else { "" })
}

/// Writes a member of a class as the EBNF writes it.
fn member(f: &mut fmt::Formatter<'_>, unit: Unit, member: u32) -> fmt::Result {
    match (unit, char::from_u32(member)) {
        (_, Some(character @ ('\\' | ']' | '[' | '^' | '-'))) => write!(f, "\\{character}"),
        (_, Some(character @ '!'..='~')) => write!(f, "{character}"),
        (Unit::Char, Some(character)) if character.is_alphanumeric() => write!(f, "{character}"),
        _ => write!(f, "#x{member:X}"),
    }
}

/// An attempt at the recorded place.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    what: What,
    frame: Frame,
    /// Whether it has begun before that place.
    begun: bool,
}

#[derive(Clone, Debug)]
enum What {
    Terminal(Expected),
    Rule(u32),
}

impl Attempt {
    fn new(what: What, frame: Frame) -> Attempt {
        Attempt { what, frame, begun: false }
    }

    pub fn literal(bytes: &[u8], read: usize, frame: Frame) -> Attempt {
        let literal = Expected::Literal { bytes: bytes.to_vec(), read };
        Attempt { begun: read > 0, ..Attempt::new(What::Terminal(literal), frame) }
    }

    pub fn class(set: &CharSet, frame: Frame) -> Attempt {
        Attempt::new(What::Terminal(Expected::Class(set.clone())), frame)
    }

    /// Returns an attempt at bytes that follow from a labelled part.
    pub fn derived(expected: Expected, read: usize, frame: Frame) -> Attempt {
        Attempt { begun: read > 0, ..Attempt::new(What::Terminal(expected), frame) }
    }

    pub fn rule(callee: u32, frame: Frame) -> Attempt {
        Attempt::new(What::Rule(callee), frame)
    }

    pub fn end(frame: Frame) -> Attempt {
        Attempt::new(What::Terminal(Expected::End), frame)
    }
}

/// Sums up the attempts at `offset`: the terminals if they are few, else the outermost rules that could begin there.
pub(crate) fn mismatch(program: &Program, text: &[u8], offset: usize, attempts: &[Attempt]) -> Mismatch {
    let mut terminals: Vec<Expected> = Vec::new();
    let mut outermost: Vec<Expected> = Vec::new();
    let add = |list: &mut Vec<Expected>, expected: Expected| {
        if !list.contains(&expected) {
            list.push(expected);
        }
    };
    // A bound, so that many alternatives are compared quickly.
    for attempt in attempts.iter().take(10_000) {
        let is_outermost = attempt.begun || (attempt.frame.position as usize) < offset || offset == 0;
        match &attempt.what {
            What::Terminal(expected) => {
                add(&mut terminals, expected.clone());
                if is_outermost && offset > 0 {
                    add(&mut outermost, expected.clone());
                }
            }
            What::Rule(callee) if is_outermost => {
                let name = &program.rule_names[program.callees[*callee as usize].rule.index()];
                add(&mut outermost, Expected::Rule(name.clone()));
            }
            What::Rule(_) => {}
        }
    }
    if offset == 0 {
        outermost = vec![Expected::Rule(program.rule_names[program.start as usize].clone())];
    }
    let mut expected = if terminals.len() <= Mismatch::MOST { terminals } else { outermost };
    let more = expected.len().saturating_sub(Mismatch::MOST);
    expected.truncate(Mismatch::MOST);
    let begun = attempts.iter().map(|attempt| attempt.frame).filter(|frame| (frame.position as usize) < offset);
    let innermost =
        begun.filter(|frame| program.callees[frame.callee as usize].is_rule).max_by_key(|frame| frame.position);
    let within = innermost.map(|frame| {
        let rule = program.callees[frame.callee as usize].rule;
        (program.rule_names[rule.index()].clone(), frame.position as usize)
    });
    Mismatch { offset, found: text.get(offset).copied(), expected, more, within }
}
