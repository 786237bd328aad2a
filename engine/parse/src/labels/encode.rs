//! Decisions as bytes, and the second pass that makes choice bytes of them.
//!
//! A part that a field bounds offers fewer options than others even without limits, so the choice bytes of an option
//! depend on the text around it. The reference machine derives the text by the decisions and knows what is offered.

use gramjet_compiler::analysis::pools::Pools;
use gramjet_compiler::ir::{Ir, NodeId, Site};
use gramjet_compiler::limits::Limits;
use gramjet_compiler::machine::{Decide, Decided, Machine, Nothing, Part};

use crate::arena::make_room_for;
use crate::error::{Expected, Mismatch};

/// The kind of lists that are an option of a site, and of those that are the number of a fault.
pub(super) const OPTION: u32 = 0;
pub(super) const FAULT: u32 = 1;

/// Appends the bytes of a list, the last one first: LEB128 of twice the value, plus one for a fault.
pub(super) fn encode(kind: u32, value: u32, bytes: &mut Vec<u8>) {
    let number = u64::from(value) << 1 | u64::from(kind == FAULT);
    let groups = number.checked_ilog2().unwrap_or(0) / 7;
    make_room_for(bytes, groups as usize + 1);
    for group in (0..=groups).rev() {
        let more = if group < groups { 0x80 } else { 0 };
        bytes.push((number >> (7 * group)) as u8 & 0x7F | more);
    }
}

/// Returns the numbers in a text of LEB128.
pub(super) fn numbers(bytes: &[u8]) -> Numbers<'_> {
    Numbers { bytes }
}

/// The numbers in a text of LEB128.
pub(super) struct Numbers<'d> {
    bytes: &'d [u8],
}

impl Iterator for Numbers<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        // Most sites have few options.
        if first < 0x80 { Some(first.into()) } else { self.further(first) }
    }
}

impl Numbers<'_> {
    /// Returns a number of several bytes, the first of which was read.
    fn further(&mut self, first: u8) -> Option<u64> {
        let (mut number, mut shift) = (u64::from(first & 0x7F), 7);
        loop {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number);
            }
            shift = (shift + 7).min(56);
        }
    }
}

/// Returns the numbers of the faults among decisions.
pub(super) fn fault_of(decisions: &[u8]) -> impl Iterator<Item = u32> {
    numbers(decisions).filter(|number| number & 1 == 1).map(|number| (number >> 1) as u32)
}

/// Appends an element, with room for a quarter more.
pub(super) fn append<T>(list: &mut Vec<T>, element: T) {
    make_room_for(list, 1);
    list.push(element);
}

/// A text with its choice bytes, as decisions make it.
pub(super) struct Made {
    pub choices: Vec<u8>,
    pub text: Vec<u8>,
    /// Whether each decision was taken as it is, and no other one was needed.
    pub is_exact: bool,
}

/// Writes the choice bytes of decisions.
struct Writer<'d> {
    decisions: Numbers<'d>,
    choices: Vec<u8>,
    is_exact: bool,
}

impl Writer<'_> {
    /// Returns the next option.
    #[inline]
    fn next(&mut self) -> Option<u32> {
        loop {
            let number = self.decisions.next()?;
            if number & 1 == 0 {
                return Some((number >> 1) as u32);
            }
        }
    }
}

impl Decide for &mut Writer<'_> {
    const FORCED: bool = true;

    #[inline]
    fn decide(&mut self, _node: NodeId, site: Site<'_>) -> Decided {
        let wanted = self.next();
        let option = wanted.unwrap_or(0).min(site.options().saturating_sub(1));
        self.is_exact &= wanted == Some(option);
        let bytes = site.value_of(option).to_le_bytes();
        // A copy of a fixed length is faster.
        make_room_for(&mut self.choices, bytes.len());
        let end = self.choices.len() + site.width() as usize;
        self.choices.extend_from_slice(&bytes);
        self.choices.truncate(end);
        Decided { option, missing: 0 }
    }
}

/// Returns the choice bytes of decisions, and the text that they stand for. In a text of more than `most` bytes, the
/// decisions after them are the first options, and an option that is not offered is the last one that is.
pub(super) fn choices(ir: &Ir, decisions: &[u8], most: usize) -> Made {
    let decisions = numbers(decisions);
    let (mut writer, mut text) = (Writer { decisions, choices: Vec::new(), is_exact: true }, Vec::new());
    let pools = Pools::none();
    let machine = Machine::new(ir, &pools, Limits::default(), most as u64, &mut writer, &mut text, Nothing);
    machine.derive(Part::Rule(ir.start()), 0, &mut Vec::new());
    let is_exact = writer.is_exact && writer.next().is_none();
    Made { choices: writer.choices, text, is_exact }
}

/// Returns the place from which on a text is another one than the one made of its decisions.
pub(super) fn difference(text: &[u8], made: &[u8]) -> Mismatch {
    const SOME: usize = 16;
    let offset = text.iter().zip(made).take_while(|(a, b)| a == b).count();
    let expected = match &made[offset..] {
        [] => Expected::End,
        rest => Expected::Literal { bytes: rest[..rest.len().min(SOME)].to_vec(), read: 0 },
    };
    Mismatch { offset, found: text.get(offset).copied(), expected: vec![expected], more: 0, within: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_read_as_they_are_written() {
        let decisions = [(OPTION, 0), (FAULT, 0), (OPTION, 63), (OPTION, 64), (FAULT, 70_000), (OPTION, u32::MAX)];
        let mut bytes = Vec::new();
        decisions.iter().rev().for_each(|&(kind, value)| encode(kind, value, &mut bytes));
        bytes.reverse();
        let read = numbers(&bytes).map(|number| ((number & 1) as u32, (number >> 1) as u32));
        assert!(read.eq(decisions));
        assert!(fault_of(&bytes).eq([0, 70_000]));
    }
}
