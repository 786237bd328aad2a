//! A walk over the marks of a derivation by a relaxed program: compares what follows from parts, and makes the choice
//! bytes.

use gramjet_compiler::derived::{Measure, Term, Value};
use gramjet_compiler::ir::{KindId, Site};

use super::Compared;
use super::names::Names;
use crate::automaton::{MET, Placed};
use crate::program::Program;
use crate::program::operations::Place;
use crate::program::relaxed::Mark;

/// The most names that a site chooses from.
const MOST_SEEN: usize = (1 << 24) - 2;

/// Parts within parts that may each be a name are compared up to this number of bytes for each byte of the text.
const MOST_COMPARED: usize = 64;

/// The most digits of a number that makes a name unique.
const MOST_DIGITS: usize = 20;

/// A labelled part.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    from: u32,
    to: u32,
    rounds: u32,
    is_known: bool,
}

/// A part without choice bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Skipped {
    /// A copy of the part with the label at this place.
    Copy(u32),
    /// A name of a kind.
    Name(KindId),
}

/// A part without choice bytes that is open.
#[derive(Clone, Copy, Debug)]
struct Skipping {
    what: Skipped,
    from: u32,
    /// The number of such parts that are open within it.
    depth: u32,
    /// Whether several derivations led to a place in it since its text ended.
    is_met: bool,
}

/// Open parts, inner ones last.
#[derive(Debug, Default)]
struct Open<'p> {
    /// The labelled parts of the open scopes, and where those of each open scope's rule begin.
    parts: Vec<Part>,
    rules: Vec<usize>,
    /// The rounds done of repetitions that are counted.
    rounds: Vec<u32>,
    /// The places where names begin, and where the name of a unique one ends.
    names: Vec<(u32, u32)>,
    /// The kinds of open scopes of names.
    kinds: Vec<&'p [KindId]>,
    /// Parts that stand where no name is seen.
    others: Vec<Other>,
}

/// A part that stands where no name is seen, or could.
#[derive(Clone, Copy, Debug)]
struct Other {
    kind: KindId,
    /// The beginnings in the text and in the choice bytes.
    from: u32,
    written: usize,
    /// The number of names that were given before.
    given: usize,
}

pub(super) struct Walk<'p, 't> {
    marks: &'p [Mark],
    text: &'t [u8],
    /// The choice bytes of the relaxed program, and the number of those that are written or left out.
    choices: &'t [u8],
    done: usize,
    written: Vec<u8>,
    open: Open<'p>,
    names: Names<'t>,
    skipping: Option<Skipping>,
    /// The longest labelled part or name, and the most rounds.
    longest: u32,
    /// The bytes that may still be compared with names.
    left: usize,
    max_memory: usize,
}

impl<'p, 't> Walk<'p, 't> {
    pub fn new(program: &'p Program, text: &'t [u8], choices: &'t [u8], max_memory: usize) -> Walk<'p, 't> {
        Walk {
            marks: program.marks.as_deref().unwrap_or_default(),
            text,
            choices,
            done: 0,
            written: Vec::new(),
            open: Open::default(),
            names: Names::new(program.operations.kinds.len()),
            skipping: None,
            longest: 0,
            left: text.len().saturating_mul(MOST_COMPARED),
            max_memory,
        }
    }

    /// Returns the length of the longest labelled part or name, or the most rounds if they are more.
    pub fn longest(&self) -> u64 {
        self.longest.into()
    }

    /// Returns the choice bytes, after a walk over all marks.
    pub fn into_choices(mut self) -> Vec<u8> {
        self.write_up_to(self.choices.len());
        self.written
    }

    /// Goes over all marks.
    pub fn all(&mut self, marks: &[Placed]) -> Result<(), Compared> {
        if self.choices.len() > self.max_memory {
            return Err(Compared::Unclear);
        }
        // Only names add choice bytes.
        self.written.reserve_exact(self.choices.len());
        marks.iter().try_for_each(|&placed| self.go_over(placed))
    }

    fn go_over(&mut self, at: Placed) -> Result<(), Compared> {
        if let Some(skipping) = self.skipping.take() {
            return self.skip(skipping, at);
        }
        let Some(mark) = self.marks.get(at.mark as usize) else {
            return if at.mark == MET { Err(Compared::Unclear) } else { Ok(()) };
        };
        match mark {
            Mark::Scope { labels, outer } => {
                let first = self.open.parts.len() - *outer as usize;
                self.open.rules.push(first);
                self.open.parts.extend(std::iter::repeat_n(Part::default(), *labels as usize));
                self.check_memory()
            }
            Mark::LeaveScope(labels) => {
                self.open.rules.pop();
                self.open.parts.truncate(self.open.parts.len() - *labels as usize);
                Ok(())
            }
            Mark::Enter(place, rounds) => {
                *self.part(*place) = Part { from: at.position, to: 0, rounds: *rounds, is_known: false };
                Ok(())
            }
            Mark::Leave(place) => {
                let part = self.part(*place);
                (part.to, part.is_known) = (at.position, true);
                let len = part.to - part.from;
                self.longest = self.longest.max(len);
                Ok(())
            }
            Mark::Copy(place) => self.begin_skipped(Skipped::Copy(*place), at),
            Mark::Begin => {
                self.open.rounds.push(0);
                self.check_memory()
            }
            Mark::Round => {
                if let Some(rounds) = self.open.rounds.last_mut() {
                    *rounds += 1;
                }
                Ok(())
            }
            Mark::End(counted) => self.end_rounds(None, Some(*counted)),
            Mark::EndTimes(value, counted) => self.end_rounds(Some(value), *counted),
            Mark::BeginName => {
                self.open.names.push((at.position, 0));
                Ok(())
            }
            Mark::Digits => {
                self.write_up_to(at.choice);
                if let Some((_, to)) = self.open.names.last_mut() {
                    *to = at.position;
                }
                Ok(())
            }
            Mark::Name(kind) => {
                let (from, _) = self.open.names.pop().unwrap_or_default();
                self.give(*kind, (from, at.position))
            }
            Mark::Unique(kind) => self.unique(*kind, at),
            Mark::Declare(kind, place) => {
                let Part { from, to, is_known: true, .. } = *self.part(*place) else { return Err(Compared::Unclear) };
                self.give(*kind, (from, to))
            }
            Mark::Given(kind) => self.begin_skipped(Skipped::Name(*kind), at),
            Mark::Other(kind) => self.begin_other(*kind, at),
            Mark::Taken => self.end_other(at),
            Mark::Names(kinds) => {
                self.open.kinds.push(kinds);
                self.names.begin_scope(kinds);
                self.check_memory()
            }
            Mark::LeaveNames => {
                let kinds = self.open.kinds.pop().unwrap_or_default();
                self.names.end_scope(kinds);
                Ok(())
            }
            Mark::Counted => Ok(()),
            // These end what is skipped.
            Mark::Text | Mark::Copied => Err(Compared::Unclear),
        }
    }

    /// Goes on in a part without choice bytes.
    fn skip(&mut self, mut part: Skipping, at: Placed) -> Result<(), Compared> {
        match (part.what, self.marks.get(at.mark as usize)) {
            (_, None) => part.is_met |= at.mark == MET,
            // The text itself may have several derivations.
            (_, Some(Mark::Text)) if part.depth == 0 => part.is_met = false,
            (Skipped::Copy(_), Some(Mark::Copy(_))) | (Skipped::Name(_), Some(Mark::Given(_) | Mark::Other(_))) => {
                part.depth += 1
            }
            (Skipped::Copy(_), Some(Mark::Copied)) | (Skipped::Name(_), Some(Mark::Taken)) => {
                let Some(depth) = part.depth.checked_sub(1) else { return self.end_skipped(part, at) };
                part.depth = depth;
            }
            _ => {}
        }
        self.skipping = Some(part);
        Ok(())
    }

    /// Ends a part without choice bytes.
    fn end_skipped(&mut self, part: Skipping, at: Placed) -> Result<(), Compared> {
        self.done = at.choice;
        let (text, found) = (self.text, &self.text[part.from as usize..at.position as usize]);
        match part.what {
            _ if part.is_met => Err(Compared::Unclear),
            Skipped::Copy(place) => {
                let Part { from, to, is_known: true, .. } = *self.part(place) else { return Err(Compared::Unclear) };
                if text[from as usize..to as usize] == *found { Ok(()) } else { Err(Compared::Other) }
            }
            Skipped::Name(kind) => {
                let number = self.names.find(kind, found).ok_or(Compared::Other)?;
                self.write_name(kind, number);
                Ok(())
            }
        }
    }

    fn begin_skipped(&mut self, what: Skipped, at: Placed) -> Result<(), Compared> {
        self.write_up_to(at.choice);
        self.skipping = Some(Skipping { what, from: at.position, depth: 0, is_met: false });
        Ok(())
    }

    /// Returns the part with the label at a place of the innermost rule.
    fn part(&mut self, place: u32) -> &mut Part {
        let first = self.open.rules.last().copied().unwrap_or_default();
        &mut self.open.parts[first + place as usize]
    }

    /// Writes the choice bytes up to one of them.
    fn write_up_to(&mut self, choice: usize) {
        self.written.extend_from_slice(&self.choices[self.done..choice]);
        self.done = choice;
    }

    fn check_memory(&self) -> Result<(), Compared> {
        let open = &self.open;
        let parts = open.parts.capacity() * size_of::<Part>() + open.others.capacity() * size_of::<Other>();
        let scopes = (open.rules.capacity() + open.kinds.capacity() + open.names.capacity()) * size_of::<&[KindId]>();
        let names = self.names.given() * Names::SIZE;
        let size = self.written.capacity() + parts + scopes + names + open.rounds.capacity() * size_of::<u32>();
        if size > self.max_memory { Err(Compared::Unclear) } else { Ok(()) }
    }

    /// Ends rounds that were counted, which are as many as a value says, if there is one.
    fn end_rounds(&mut self, value: Option<&Value<Place>>, counted: Option<u32>) -> Result<(), Compared> {
        let rounds = self.open.rounds.pop().unwrap_or_default();
        self.longest = self.longest.max(rounds);
        if let Some(value) = value {
            let parts: Vec<Part> = value.terms.iter().map(|term| *self.part(term.label.place)).collect();
            if parts.iter().any(|part| !part.is_known) {
                return Err(Compared::Unclear);
            }
            let mut parts = parts.into_iter();
            let said = value.of(|term| parts.next().map_or(0, |part| measured(term, part)));
            if said.max(0).unsigned_abs() != u64::from(rounds) {
                return Err(Compared::Other);
            }
        }
        if let Some(place) = counted {
            self.part(place).rounds = rounds;
        }
        Ok(())
    }

    fn give(&mut self, kind: KindId, (from, to): (u32, u32)) -> Result<(), Compared> {
        self.longest = self.longest.max(to - from);
        self.names.add(kind, &self.text[from as usize..to as usize]);
        self.check_memory()
    }

    /// Ends a unique name after its digits.
    fn unique(&mut self, kind: KindId, at: Placed) -> Result<(), Compared> {
        let (from, end) = self.open.names.pop().unwrap_or_default();
        self.done = at.choice;
        let (name, digits) = self.text[from as usize..at.position as usize].split_at((end - from) as usize);
        if self.names.digits(kind, name) != digits {
            return Err(Compared::Other);
        }
        // Its last digits may be those that were appended to another name.
        let last = name.iter().rev().take(MOST_DIGITS).take_while(|byte| byte.is_ascii_digit()).count();
        let mut splits = name.len() - last..name.len();
        if digits.is_empty() && splits.any(|split| name[split] != b'0' && self.names.is_taken(kind, &name[..split])) {
            return Err(Compared::Unclear);
        }
        self.give(kind, (from, at.position))
    }

    /// Begins what stands where no name is seen.
    fn begin_other(&mut self, kind: KindId, at: Placed) -> Result<(), Compared> {
        self.write_up_to(at.choice);
        let (written, given) = (self.written.len(), self.names.given());
        self.open.others.push(Other { kind, from: at.position, written, given });
        self.write_name(kind, self.names.seen(kind));
        self.check_memory()
    }

    /// Ends what stands where no name is seen. If it is one, the name comes first.
    fn end_other(&mut self, at: Placed) -> Result<(), Compared> {
        let Some(Other { kind, from, written, given }) = self.open.others.pop() else { return Ok(()) };
        if given != self.names.given() {
            return Err(Compared::Unclear);
        }
        let name = &self.text[from as usize..at.position as usize];
        if name.len() > self.longest as usize {
            return Ok(());
        }
        self.left = self.left.checked_sub(name.len()).ok_or(Compared::Unclear)?;
        if let Some(number) = self.names.find(kind, name) {
            self.written.truncate(written);
            self.done = at.choice;
            self.write_name(kind, number);
        }
        Ok(())
    }

    /// Writes the choice bytes of the name with a number, or of what stands in place of names.
    fn write_name(&mut self, kind: KindId, number: usize) {
        let seen = self.names.seen(kind).min(MOST_SEEN) as u32;
        let site = Site::even(seen + 1);
        let width = site.width() as usize;
        self.written.extend_from_slice(&site.value_of((number as u32).min(seen)).to_le_bytes()[..width]);
    }
}

/// Returns a property of a part.
fn measured(term: &Term<Place>, part: Part) -> u64 {
    match term.measure {
        Measure::Len => (part.to - part.from).into(),
        Measure::Count => part.rounds.into(),
        Measure::Offset | Measure::Base => part.from.into(),
        // Rounds do not follow from content.
        Measure::Sum(_) | Measure::Digest(_) => 0,
    }
}
