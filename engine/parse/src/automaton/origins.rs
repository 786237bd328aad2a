//! The origins of choices: for each register after a transition, the registers before it and the choices made there.

use std::collections::HashMap;
use std::hash::BuildHasher;

use super::code::Code;
use super::hash::Mixing;
use super::trial::{List, Part};
use crate::arena::{EMPTY, NONE};
use crate::machine::encode;
use crate::program::Program;

/// Origin of the choices in a register: those in other registers, and then some at this position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// The register; `NONE`, or the place of [`Origins::sources`] with [`MANY`].
    pub source: u32,
    /// The choices at this position: a place of [`Origins::written`], or `NOTHING`.
    pub written: u32,
}

/// Choices at a position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    /// The class of which a member is read, or `NONE`. It is the last choice.
    pub class: u32,
    /// The choice bytes before: their number, with [`MARKED`] if there are marks among them. If there are more than can
    /// be here, their place in [`Origins::bytes`]. The last one comes first.
    pub len: u32,
    pub first: u32,
    pub bytes: [u8; SHORT],
}

/// Beside a number of choice bytes: there are marks.
pub(super) const MARKED: u32 = 1 << 31;

/// A mark: the number of choice bytes here that come after it, and its number in the program.
pub(super) type Mark = (u32, u32);

/// The place of no choices.
pub(super) const NOTHING: u32 = 0;
/// This number of choice bytes is held in place.
pub(super) const SHORT: usize = 8;

/// More choices or choice bytes at one position are not joined.
const MOST_WRITTEN: usize = 256;

/// The source is a place of [`Origins::sources`], where several registers are.
pub(super) const MANY: u32 = 1 << 31;

/// More zeros at one position are left to the machine.
const MANY_ZEROS: u32 = 1 << 12;

/// The origins at all transitions.
#[derive(Debug)]
pub(super) struct Origins {
    pub list: Vec<Origin>,
    /// Registers, the last one first.
    pub sources: Vec<Box<[u32]>>,
    pub written: Vec<Written>,
    /// The last place in `written` by a hash of the class, the bytes and the marks, and for each place the one before
    /// with that hash.
    by_hash: HashMap<u64, u32, Mixing>,
    before: Vec<u32>,
    pub bytes: Vec<u8>,
    /// The marks of each place in `written`, the last one first. Places after the last one with marks are left out.
    marks: Vec<Box<[Mark]>>,
    /// For each class that was needed, the choice bytes of its members.
    pub codes: Vec<Option<Code>>,
    /// The memory that the choice bytes of members take.
    codes_size: usize,
    /// Whether an origin of the transition that is made has more zeros than can be.
    has_many_zeros: bool,
    /// Lists that are being read, and what was found in them.
    open: Vec<u32>,
    found: Found,
}

/// The content of a list, from its end to its beginning.
#[derive(Debug, Default)]
struct Found {
    registers: Vec<u32>,
    bytes: Vec<u8>,
    marks: Vec<Mark>,
}

impl Origins {
    pub fn new(program: &Program) -> Origins {
        let mut origins = Origins {
            list: Vec::new(),
            sources: Vec::new(),
            written: Vec::new(),
            by_hash: HashMap::default(),
            before: Vec::new(),
            bytes: Vec::new(),
            marks: Vec::new(),
            codes: vec![None; program.classes.len()],
            codes_size: 0,
            has_many_zeros: false,
            open: Vec::new(),
            found: Found::default(),
        };
        let nothing = origins.write(NONE, &[], &[]);
        debug_assert_eq!(nothing, NOTHING);
        origins
    }

    /// Returns the number of origins.
    pub fn len(&self) -> u32 {
        self.list.len() as u32
    }

    /// Returns the memory that they take, about, in bytes.
    pub fn size(&self) -> usize {
        self.codes_size
            + self.list.capacity() * size_of::<Origin>()
            + self.sources.capacity() * (size_of::<Box<[u32]>>() + 16)
            + self.written.capacity() * (size_of::<Written>() + 64)
            + self.bytes.capacity()
            + self.marks.iter().map(|marks| size_of_val(marks) + 2 * size_of_val(&**marks)).sum::<usize>()
            + self.codes.capacity() * size_of::<Option<Code>>()
    }

    /// Returns true if an origin that was added since the last call has more zeros than can be.
    pub fn take_many_zeros(&mut self) -> bool {
        std::mem::take(&mut self.has_many_zeros)
    }

    /// Adds the origin of the choices in a list; returns its place.
    pub fn add(&mut self, program: &Program, lists: &[List], list: u32) -> u32 {
        // Most registers stay as they are.
        if list != EMPTY
            && let List { before: EMPTY, part: Part::Register(source) } = lists[list as usize]
        {
            self.list.push(Origin { source, written: NOTHING });
            return self.list.len() as u32 - 1;
        }
        let mut class_read = NONE;
        let Found { mut registers, mut bytes, mut marks } = std::mem::take(&mut self.found);
        // From the end to the beginning.
        self.open.push(list);
        while let Some(list) = self.open.pop() {
            if list == EMPTY {
                continue;
            }
            let List { before, part } = lists[list as usize];
            self.open.push(before);
            // Nothing comes after a member of a class, and no choice before a register.
            debug_assert!(registers.is_empty() || matches!(part, Part::Register(_) | Part::List(_)));
            match part {
                Part::Register(register) => registers.push(register),
                Part::List(list) => self.open.push(list),
                Part::Class(class) => {
                    debug_assert!(bytes.is_empty());
                    if self.codes[class as usize].is_none() {
                        self.codes[class as usize] = Some(Code::new(program, class));
                        self.codes_size += Code::SIZE;
                    }
                    class_read = class;
                }
                Part::Zeros(count) => {
                    self.has_many_zeros |= count > MANY_ZEROS;
                    bytes.resize(bytes.len() + count.min(MANY_ZEROS) as usize, 0);
                }
                Part::Mark(mark) => marks.push((bytes.len() as u32, mark)),
                Part::Meeting(_) => {}
                Part::Choice { site, option } => encode(&program.sites[site as usize], option, &mut bytes),
            }
        }
        let written = self.write(class_read, &bytes, &marks);
        let source = self.source(&registers);
        self.list.push(Origin { source, written });
        registers.clear();
        bytes.clear();
        marks.clear();
        self.found = Found { registers, bytes, marks };
        self.list.len() as u32 - 1
    }

    fn source(&mut self, registers: &[u32]) -> u32 {
        match *registers {
            [] => NONE,
            [register] => register,
            _ => {
                self.sources.push(registers.into());
                MANY | (self.sources.len() as u32 - 1)
            }
        }
    }

    /// Returns the place of these choices.
    fn write(&mut self, class: u32, bytes: &[u8], marks: &[Mark]) -> u32 {
        if class == NONE && bytes.is_empty() && marks.is_empty() && !self.written.is_empty() {
            return NOTHING;
        }
        let place = self.written.len() as u32;
        let hash = hash(class, bytes, marks);
        let before = self.by_hash.get(&hash).copied().unwrap_or(NONE);
        let mut known = before;
        while known != NONE {
            let same = self.written[known as usize].class == class && self.written_bytes(known) == bytes;
            if same && self.marks_at(known) == marks {
                return known;
            }
            known = self.before[known as usize];
        }
        self.by_hash.insert(hash, place);
        let mut short = [0; SHORT];
        let first = self.bytes.len() as u32;
        match short.get_mut(..bytes.len()) {
            Some(short) => short.copy_from_slice(bytes),
            None => self.bytes.extend_from_slice(bytes),
        }
        let len = bytes.len() as u32 | if marks.is_empty() { 0 } else { MARKED };
        self.written.push(Written { class, len, first, bytes: short });
        self.before.push(before);
        if !marks.is_empty() {
            self.marks.resize(place as usize, Box::default());
            self.marks.push(marks.into());
        }
        place
    }

    /// Returns the place of several choices at once, each a number of times, the last ones first; `None` if that takes
    /// too much.
    pub fn write_all(&mut self, written: &[(u32, u32)]) -> Option<u32> {
        let count: u64 = written.iter().map(|&(_, times)| u64::from(times)).sum();
        if count > MOST_WRITTEN as u64 {
            return None;
        }
        let each = |&(place, times): &(u32, u32)| std::iter::repeat_n(place, times as usize);
        let places: Vec<u32> = written.iter().flat_map(each).collect();
        let (&last, before) = match &places[..] {
            [] => return Some(NOTHING),
            [place] => return Some(*place),
            [last, before @ ..] => (last, before),
        };
        // Only the last choice can be that of a class, and it comes from the end of the list.
        if before.iter().any(|&place| self.written[place as usize].class != NONE) {
            return None;
        }
        let (mut bytes, mut marks) = (Vec::new(), Vec::new());
        for &place in &places {
            let after = bytes.len() as u32;
            marks.extend(self.marks_at(place).iter().map(|&(bytes, mark)| (after + bytes, mark)));
            bytes.extend_from_slice(self.written_bytes(place));
        }
        (bytes.len() + marks.len() <= MOST_WRITTEN)
            .then(|| self.write(self.written[last as usize].class, &bytes, &marks))
    }

    /// Returns the choice bytes at a place of [`Origins::written`], but for those of a class.
    pub fn written_bytes(&self, place: u32) -> &[u8] {
        let written = &self.written[place as usize];
        let len = (written.len & !MARKED) as usize;
        match written.bytes.get(..len) {
            Some(bytes) => bytes,
            None => &self.bytes[written.first as usize..][..len],
        }
    }

    /// Returns the marks at a place of [`Origins::written`], the last one first.
    pub fn marks_at(&self, place: u32) -> &[Mark] {
        self.marks.get(place as usize).map_or(&[], |marks| marks)
    }
}

/// Returns a hash of choices at a position.
fn hash(class: u32, bytes: &[u8], marks: &[Mark]) -> u64 {
    Mixing::default().hash_one((class, bytes, marks))
}
