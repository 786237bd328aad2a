//! Bytes that do not follow from the parts that they should follow from, and what is said of them.

use gramjet_compiler::coding::Coding;
use gramjet_compiler::derived::{Measure, Padding};
use gramjet_compiler::ir::KindId;

use crate::arena::Frame;
use crate::error::{Expected, Mismatch};
use crate::program::Program;
use crate::program::operations::{Number, Place};

/// At most this many bytes of a copy are told.
const MOST_TOLD: usize = 64;

/// Bytes that do not follow from the parts that they should follow from.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    /// Beginning and end of the bytes.
    pub found: (u32, u32),
    pub right: Right,
    /// The frame of the innermost rule.
    pub within: Frame,
}

/// Bytes that should stand where there are others.
#[derive(Clone, Debug)]
pub(super) enum Right {
    /// The bytes of a part.
    Copy(Place, Box<[u8]>),
    /// The bytes of a number in the program.
    Number(u32, Box<[u8]>),
    /// Padding of a part, and its length.
    Padding(Place, Padding, u32),
    /// A unique name of a kind.
    Unique(KindId, Box<[u8]>),
    /// A name of a kind that is seen.
    Seen(KindId),
    /// Bytes within a text in a coding.
    Within(Coding, Mismatch),
}

impl Fault {
    /// Returns true if it concerns a checksum.
    pub fn is_sum(&self, program: &Program) -> bool {
        match self.right {
            Right::Copy(..) | Right::Padding(..) | Right::Unique(..) | Right::Seen(_) | Right::Within(..) => false,
            Right::Number(number, _) => program.operations.numbers[number as usize].is_sum,
        }
    }

    pub fn mismatch(&self, program: &Program, text: &[u8]) -> Mismatch {
        let part = |(from, to): (u32, u32)| &text[from as usize..to as usize];
        let found = Some(part(self.found).to_vec());
        let expected = match &self.right {
            Right::Copy(place, bytes) => program.expected_copy(*place, bytes, found),
            Right::Number(number, bytes) => {
                let number = &program.operations.numbers[*number as usize];
                program.expected_number(number, bytes.to_vec(), found)
            }
            Right::Padding(place, padding, width) => {
                let bytes = vec![padding.filler; (*width as usize).min(MOST_TOLD)];
                program.expected_padding(*place, *padding, bytes, found)
            }
            Right::Unique(kind, bytes) => program.expected_unique(*kind, bytes.to_vec(), found),
            Right::Seen(kind) => program.expected_name(*kind, found),
            Right::Within(coding, mismatch) => Expected::coded(*coding, mismatch),
        };
        let offset = self.found.0 as usize;
        let rule = program.callees[self.within.callee as usize].rule;
        let within = Some((program.rule_names[rule.index()].clone(), self.within.position as usize));
        Mismatch { offset, found: text.get(offset).copied(), expected: vec![expected], more: 0, within }
    }
}

impl Program {
    pub(super) fn name_of(&self, place: Place) -> &str {
        &self.operations.labels[place.label.index()].name
    }

    /// Returns the expectation of a copy.
    pub(super) fn expected_copy(&self, place: Place, bytes: &[u8], found: Option<Vec<u8>>) -> Expected {
        let origin = format!("the copy of part `{}`", self.name_of(place));
        let bytes = bytes[..bytes.len().min(MOST_TOLD)].to_vec();
        Expected::Derived { bytes, is_text: true, origin, found }
    }

    /// Returns the expectation of a unique name.
    pub(super) fn expected_unique(&self, kind: KindId, bytes: Vec<u8>, found: Option<Vec<u8>>) -> Expected {
        let origin = format!("a name of kind `{}` that is not taken", self.operations.kinds[kind.index()].name);
        Expected::Derived { bytes, is_text: true, origin, found }
    }

    /// Returns the expectation of a name that is seen.
    pub(super) fn expected_name(&self, kind: KindId, found: Option<Vec<u8>>) -> Expected {
        let origin = format!("a name of kind `{}` that is seen here", self.operations.kinds[kind.index()].name);
        Expected::Derived { bytes: Vec::new(), is_text: true, origin, found }
    }

    /// Returns the expectation of a number.
    pub(super) fn expected_number(&self, number: &Number, bytes: Vec<u8>, found: Option<Vec<u8>>) -> Expected {
        let mut origin = String::new();
        for term in &number.value.terms {
            let name = self.name_of(term.label);
            origin.push_str(if origin.is_empty() || term.measure == Measure::Base { "" } else { " plus " });
            if term.times > 1 && term.measure != Measure::Base {
                origin.push_str(&format!("{} times ", term.times));
            }
            origin.push_str(&match term.measure {
                Measure::Len => format!("the length of part `{name}`"),
                Measure::Count => format!("the number of rounds of part `{name}`"),
                Measure::Offset => format!("the offset of part `{name}`"),
                Measure::Base => format!(" from part `{name}`"),
                Measure::Sum(_) | Measure::Digest(_) => format!("the {} of part `{name}`", term.measure.name()),
            });
        }
        let plus = match number.value.plus {
            constant if number.value.terms.is_empty() => format!("the number {constant}"),
            0 => String::new(),
            plus if plus < 0 => format!(" minus {}", plus.unsigned_abs()),
            plus => format!(" plus {plus}"),
        };
        let is_text = number.form.is_text();
        origin.push_str(&plus);
        if number.value.divisor != 1 {
            origin.push_str(&format!(", divided by {}", number.value.divisor));
        }
        if let Some(place) = number.bits {
            origin.push_str(&format!(" in {} bits", place.width));
        }
        Expected::Derived { bytes, is_text, origin, found }
    }
}
