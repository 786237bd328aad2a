//! Forms of numbers: as integers of some bytes, as text, as LEB128.

use std::fmt::{self, Display, Formatter};

use super::Amount;
use crate::coding::Bytes;

/// NumberForm in which a number is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberForm {
    /// An integer without a sign, of this many bytes, at most 8.
    Integer(u8, Order),
    /// An integer in two's complement, of this many bytes, at most 8. What follows from parts is not negative.
    Signed(u8, Order),
    /// Digits. With a width, zeros come before them; without one, there are as many as needed.
    Text(Radix, Option<u8>),
    /// Seven bits in a byte, the lowest first, and the highest bit set in all but the last byte (DWARF 5, section 7.6).
    Leb128,
    /// The bytes of a digest, as they are, of this number.
    Raw(u8),
}

/// Order of the bytes of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The highest byte first.
    Big,
    /// The lowest byte first.
    Little,
}

/// Digits of a number as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Radix {
    /// Base 10.
    Decimal,
    /// Base 16, with small letters.
    Hex,
    /// Base 16, with capital letters.
    UpperHex,
    /// Base 8.
    Octal,
}

/// The forms by their names. The width of digits is given apart.
const FORMS: [(&str, NumberForm); 24] = [
    ("u8", NumberForm::Integer(1, Order::Big)),
    ("u16be", NumberForm::Integer(2, Order::Big)),
    ("u16le", NumberForm::Integer(2, Order::Little)),
    ("u24be", NumberForm::Integer(3, Order::Big)),
    ("u24le", NumberForm::Integer(3, Order::Little)),
    ("u32be", NumberForm::Integer(4, Order::Big)),
    ("u32le", NumberForm::Integer(4, Order::Little)),
    ("u64be", NumberForm::Integer(8, Order::Big)),
    ("u64le", NumberForm::Integer(8, Order::Little)),
    ("i8", NumberForm::Signed(1, Order::Big)),
    ("i16be", NumberForm::Signed(2, Order::Big)),
    ("i16le", NumberForm::Signed(2, Order::Little)),
    ("i24be", NumberForm::Signed(3, Order::Big)),
    ("i24le", NumberForm::Signed(3, Order::Little)),
    ("i32be", NumberForm::Signed(4, Order::Big)),
    ("i32le", NumberForm::Signed(4, Order::Little)),
    ("i64be", NumberForm::Signed(8, Order::Big)),
    ("i64le", NumberForm::Signed(8, Order::Little)),
    ("dec", NumberForm::Text(Radix::Decimal, None)),
    ("hex", NumberForm::Text(Radix::Hex, None)),
    ("HEX", NumberForm::Text(Radix::UpperHex, None)),
    ("oct", NumberForm::Text(Radix::Octal, None)),
    ("leb128", NumberForm::Leb128),
    ("raw", NumberForm::Raw(0)),
];

impl Radix {
    /// Returns the base.
    pub fn base(self) -> u32 {
        match self {
            Radix::Decimal => 10,
            Radix::Hex | Radix::UpperHex => 16,
            Radix::Octal => 8,
        }
    }

    /// Returns a number as digits.
    fn digits(self, number: u64) -> String {
        match self {
            Radix::Decimal => format!("{number}"),
            Radix::Hex => format!("{number:x}"),
            Radix::UpperHex => format!("{number:X}"),
            Radix::Octal => format!("{number:o}"),
        }
    }

    /// Returns the number of digits of a number.
    fn len(self, number: u64) -> u64 {
        number.checked_ilog(u64::from(self.base())).map_or(1, |log| u64::from(log) + 1)
    }

    fn is_digit(self, byte: u8) -> bool {
        match self {
            Radix::Decimal => byte.is_ascii_digit(),
            Radix::Hex => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
            Radix::UpperHex => byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte),
            Radix::Octal => (b'0'..=b'7').contains(&byte),
        }
    }
}

impl NumberForm {
    /// Returns the form with this name. The widths of digits and of a digest are given apart.
    pub fn by_name(name: &str) -> Option<NumberForm> {
        FORMS.iter().find(|form| form.0 == name).map(|form| form.1)
    }

    /// Returns the names of all forms.
    pub fn names() -> impl Iterator<Item = &'static str> {
        FORMS.iter().map(|form| form.0)
    }

    /// Returns the name, without the width of digits.
    pub fn name(self) -> &'static str {
        let known = match self {
            NumberForm::Integer(1, _) => NumberForm::Integer(1, Order::Big),
            NumberForm::Signed(1, _) => NumberForm::Signed(1, Order::Big),
            NumberForm::Text(radix, _) => NumberForm::Text(radix, None),
            NumberForm::Raw(_) => NumberForm::Raw(0),
            NumberForm::Integer(..) | NumberForm::Signed(..) | NumberForm::Leb128 => self,
        };
        FORMS.iter().find(|form| form.1 == known).map_or("u64be", |form| form.0)
    }

    /// Returns the width of digits, if they have one.
    pub fn width_of_digits(self) -> Option<u8> {
        let NumberForm::Text(_, width) = self else { return None };
        width
    }

    /// Returns true if numbers are written as text.
    pub fn is_text(self) -> bool {
        matches!(self, NumberForm::Text(..))
    }

    /// Returns true if a number of free width may begin with this byte. Those of fixed width may begin with any.
    pub fn may_begin_with(self, byte: u8) -> bool {
        match self {
            NumberForm::Text(radix, None) => radix.is_digit(byte),
            NumberForm::Text(_, Some(_)) | NumberForm::Integer(..) | NumberForm::Signed(..) => true,
            NumberForm::Leb128 | NumberForm::Raw(_) => true,
        }
    }

    /// Returns the bytes that numbers can have.
    pub fn bytes(self) -> Bytes {
        match self {
            NumberForm::Text(radix, _) => (0..=255).filter(|&byte| radix.is_digit(byte)).collect(),
            NumberForm::Integer(..) | NumberForm::Signed(..) | NumberForm::Leb128 | NumberForm::Raw(_) => Bytes::ALL,
        }
    }

    /// Returns the greatest number that can be written.
    pub fn greatest(self) -> u64 {
        match self {
            NumberForm::Integer(bytes, _) => u64::MAX >> (64 - 8 * u32::from(bytes.clamp(1, 8))),
            NumberForm::Signed(bytes, _) => u64::MAX >> (65 - 8 * u32::from(bytes.clamp(1, 8))),
            NumberForm::Text(radix, Some(width)) => {
                u64::from(radix.base()).checked_pow(u32::from(width)).map_or(u64::MAX, |bound| bound - 1)
            }
            NumberForm::Text(_, None) | NumberForm::Leb128 | NumberForm::Raw(_) => u64::MAX,
        }
    }

    /// Returns the length in bytes if it is the same for all numbers.
    pub fn fixed_width(self) -> Option<u64> {
        match self {
            NumberForm::Integer(bytes, _) | NumberForm::Signed(bytes, _) | NumberForm::Raw(bytes) => Some(bytes.into()),
            NumberForm::Text(_, width) => width.map(u64::from),
            NumberForm::Leb128 => None,
        }
    }

    /// Returns the length in bytes of a number.
    pub fn width(self, number: u64) -> u64 {
        match self {
            NumberForm::Text(radix, None) => radix.len(number),
            NumberForm::Leb128 => u64::from(number.checked_ilog2().map_or(1, |log| log / 7 + 1)),
            NumberForm::Integer(..) | NumberForm::Signed(..) | NumberForm::Text(_, Some(_)) | NumberForm::Raw(_) => {
                self.fixed_width().unwrap_or(0)
            }
        }
    }

    /// Appends a number or a digest.
    pub fn write_amount(self, amount: &Amount, output: &mut Vec<u8>) {
        match (amount, self) {
            (Amount::Number(number), _) => self.write(*number, output),
            (Amount::Digest(bytes), NumberForm::Text(radix, _)) => {
                let pair = NumberForm::Text(radix, Some(2));
                bytes.iter().for_each(|&byte| pair.write(byte.into(), output));
            }
            (Amount::Digest(bytes), _) => output.extend(bytes),
        }
    }

    /// Appends a number. One that is too great is cut to its lowest digits.
    pub fn write(self, number: u64, output: &mut Vec<u8>) {
        match self {
            NumberForm::Integer(bytes, Order::Big) => output.extend(&number.to_be_bytes()[8 - usize::from(bytes)..]),
            NumberForm::Integer(bytes, Order::Little) => output.extend(&number.to_le_bytes()[..usize::from(bytes)]),
            NumberForm::Signed(bytes, order) => {
                NumberForm::Integer(bytes, order).write(number & self.greatest(), output);
            }
            NumberForm::Text(radix, width) => {
                let digits = radix.digits(number);
                let width = width.map_or(digits.len(), usize::from);
                output.extend(std::iter::repeat_n(b'0', width.saturating_sub(digits.len())));
                output.extend(&digits.as_bytes()[digits.len().saturating_sub(width)..]);
            }
            NumberForm::Leb128 => {
                let mut rest = number;
                while rest >= 0x80 {
                    output.push(rest as u8 | 0x80);
                    rest >>= 7;
                }
                output.push(rest as u8);
            }
            // A number is not written so. It would be an integer of these bytes.
            NumberForm::Raw(bytes) => {
                let number = number.to_be_bytes();
                let zeros = usize::from(bytes).saturating_sub(number.len());
                output.extend(std::iter::repeat_n(0, zeros));
                output.extend(&number[number.len() - (usize::from(bytes) - zeros)..]);
            }
        }
    }

    /// Returns the number that these bytes are, all of them, written as [`NumberForm::write`] does.
    pub fn read(self, bytes: &[u8]) -> Option<u64> {
        let number = match self {
            NumberForm::Integer(count, order) => {
                let has_all = bytes.len() == usize::from(count);
                let add = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
                match order {
                    _ if !has_all => return None,
                    Order::Big => bytes.iter().fold(0, add),
                    Order::Little => bytes.iter().rev().fold(0, add),
                }
            }
            NumberForm::Signed(count, order) => NumberForm::Integer(count, order).read(bytes)?,
            NumberForm::Text(radix, _) => {
                let text = std::str::from_utf8(bytes).ok().filter(|text| text.bytes().all(|byte| radix.is_digit(byte)));
                u64::from_str_radix(text?, radix.base()).ok()?
            }
            NumberForm::Raw(_) => return None,
            NumberForm::Leb128 if bytes.len() > 10 => return None,
            NumberForm::Leb128 => bytes.iter().rev().try_fold(0u64, |number, &byte| {
                let free = number.leading_zeros() >= 7;
                free.then_some(number << 7 | u64::from(byte & 0x7F))
            })?,
        };
        let mut written = Vec::with_capacity(bytes.len());
        self.write(number, &mut written);
        (written == bytes).then_some(number)
    }

    /// Returns the numbers that a text may begin with, each with its length in bytes.
    pub fn read_prefixes(self, text: &[u8]) -> Vec<(u64, usize)> {
        let lengths = match (self, self.fixed_width()) {
            (_, Some(width)) => width as usize..=width as usize,
            (NumberForm::Text(radix, _), None) => {
                let digits = text.iter().take(24).take_while(|&&byte| radix.is_digit(byte)).count();
                1..=digits
            }
            _ => 1..=10.min(text.len()),
        };
        lengths.filter_map(|length| Some((self.read(text.get(..length)?)?, length))).collect()
    }
}

impl Display for NumberForm {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERS: [u64; 14] = [0, 1, 7, 8, 9, 10, 99, 100, 127, 128, 255, 65_535, u32::MAX as u64 + 1, u64::MAX];

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for name in NumberForm::names().filter(|&name| name != "raw") {
            let form = NumberForm::by_name(name).expect("it has a form");
            assert_eq!(form.name(), name);
            for number in NUMBERS.into_iter().filter(|&number| number <= form.greatest()) {
                let mut text = Vec::new();
                form.write(number, &mut text);
                assert_eq!(text.len() as u64, form.width(number), "{name} {number}");
                assert_eq!(form.read(&text), Some(number), "{name} {number}");
                assert!(form.read_prefixes(&text).contains(&(number, text.len())), "{name} {number}");
            }
        }
    }

    #[test]
    fn a_width_fills_up_with_zeros() {
        let form = NumberForm::Text(Radix::Octal, Some(7));
        let mut text = Vec::new();
        form.write(0o755, &mut text);
        assert_eq!((&text[..], form.greatest()), (&b"0000755"[..], 0o7_777_777));
        assert_eq!((form.read(b"0000755"), form.read(b"755")), (Some(0o755), None));
    }

    #[test]
    fn other_spellings_are_not_read() {
        for (name, text) in
            [("dec", &b"007"[..]), ("dec", b"+7"), ("hex", b"FF"), ("leb128", b"\x80\x00"), ("dec", b"")]
        {
            assert_eq!(NumberForm::by_name(name).and_then(|form| form.read(text)), None, "{name} {text:?}");
        }
        // A negative number follows from no part.
        assert_eq!(NumberForm::Signed(2, Order::Big).read(b"\xFF\xFE"), None);
        let more = [&[0xFF; 9][..], &[0x02]].concat();
        assert_eq!(NumberForm::Leb128.read(&more), None);
    }
}
