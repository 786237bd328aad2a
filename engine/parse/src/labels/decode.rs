//! The way back from coded bytes: all texts that a prefix of them stands for.
//!
//! Escapes and codes are read in each form that a decoder takes. A byte that must be escaped is not read as it is, so
//! that a coded text ends where such a byte comes.

use gramjet_compiler::coding::Coding;
use gramjet_compiler::derived::Sum;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

/// At most this many bytes are decoded for people.
const MOST_DECODED: usize = 1 << 26;

/// The bytes that coded ones stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Decoded {
    pub bytes: Vec<u8>,
    /// The places where it may end: the number of bytes, and of coded ones. Ascending.
    pub ends: Vec<(u32, u32)>,
    /// Whether there may be more bytes than there may be.
    pub is_cut: bool,
}

/// Decodes as much as there is, but no more than `most` bytes.
pub(super) fn decode(coding: Coding, coded: &[u8], most: usize) -> Decoded {
    match coding {
        Coding::Base16 | Coding::Base16Lower => units(coded, most, pair),
        Coding::Percent => units(coded, most, percent),
        Coding::JsonString => units(coded, most, json),
        Coding::XmlText => units(coded, most, xml),
        Coding::CString => units(coded, most, c),
        Coding::QuotedPrintable => units(coded, most, quoted),
        Coding::Base32 => groups(coded, most, Base { bits: 5, characters: 8, is_padded: true, value: base32 }),
        Coding::Base64 => groups(coded, most, Base { bits: 6, characters: 4, is_padded: true, value: base64 }),
        Coding::Base64Url => groups(coded, most, Base { bits: 6, characters: 4, is_padded: false, value: base64_url }),
        Coding::Chunked => whole(chunked(coded, most)),
        Coding::Deflate(_) => whole(inflate(coded, most, 0)),
        Coding::Zlib(_) => whole(inflate(coded, most, inflate_flags::TINFL_FLAG_PARSE_ZLIB_HEADER)),
        Coding::Gzip(_) => whole(gzip(coded, most)),
    }
}

/// Returns what bytes stand for that begin with a text in a coding, and how many of them do. Where they can end in
/// several places, they end where they stand for `usual`, or else as late as they can.
pub fn decoded(coding: Coding, coded: &[u8], usual: Option<&[u8]>) -> Option<(Vec<u8>, usize)> {
    let Decoded { mut bytes, ends, .. } = decode(coding, coded, MOST_DECODED);
    let is_usual = |&&(len, _): &&(u32, u32)| usual.is_some_and(|usual| bytes.get(..len as usize) == Some(usual));
    let &(len, read) = ends.iter().find(is_usual).or(ends.last())?;
    bytes.truncate(len as usize);
    Some((bytes, read as usize))
}

/// Reason why nothing is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bad {
    /// The bytes are not in the coding.
    Form,
    /// They stand for more bytes than there may be.
    TooLong,
}

/// Returns what ends in one place only.
fn whole(found: Result<(Vec<u8>, usize), Bad>) -> Decoded {
    let (bytes, len) = match found {
        Ok(found) => found,
        Err(bad) => return Decoded { is_cut: bad == Bad::TooLong, ..Decoded::default() },
    };
    let ends = vec![(bytes.len() as u32, len as u32)];
    Decoded { bytes, ends, is_cut: false }
}

/// Bytes that a few coded ones stand for.
#[derive(Default)]
struct Unit {
    bytes: [u8; 4],
    len: usize,
    /// The number of coded bytes.
    read: usize,
}

impl Unit {
    fn of(byte: u8, read: usize) -> Unit {
        Unit { bytes: [byte, 0, 0, 0], len: 1, read }
    }

    fn of_character(number: u32, read: usize) -> Option<Unit> {
        let mut bytes = [0; 4];
        let len = char::from_u32(number)?.encode_utf8(&mut bytes).len();
        Some(Unit { bytes, len, read })
    }
}

/// Decodes unit by unit.
fn units(coded: &[u8], most: usize, unit: impl Fn(&[u8]) -> Option<Unit>) -> Decoded {
    let mut found = Decoded { ends: vec![(0, 0)], ..Decoded::default() };
    let mut at = 0;
    while let Some(Unit { bytes, len, read }) = unit(&coded[at..]) {
        if found.bytes.len() + len > most {
            found.is_cut = true;
            break;
        }
        at += read;
        found.bytes.extend_from_slice(&bytes[..len]);
        found.ends.push((found.bytes.len() as u32, at as u32));
    }
    found
}

fn digit(byte: u8, radix: u32) -> Option<u32> {
    char::from(byte).to_digit(radix)
}

/// Returns the number that digits begin with, and how many they are.
fn number(coded: &[u8], radix: u32, most: usize) -> Option<(u32, usize)> {
    let digits = coded.iter().take(most).map_while(|&byte| digit(byte, radix));
    let (number, count) = digits
        .fold((0u32, 0), |(number, count), digit| (number.saturating_mul(radix).saturating_add(digit), count + 1));
    (count > 0).then_some((number, count))
}

fn pair(coded: &[u8]) -> Option<Unit> {
    number(coded, 16, 2).filter(|&(_, digits)| digits == 2).map(|(byte, _)| Unit::of(byte as u8, 2))
}

fn percent(coded: &[u8]) -> Option<Unit> {
    match coded {
        [b'%', rest @ ..] => pair(rest).map(|unit| Unit { read: 3, ..unit }),
        [byte, ..] if byte.is_ascii_alphanumeric() || b"-._~".contains(byte) => Some(Unit::of(*byte, 1)),
        _ => None,
    }
}

fn json(coded: &[u8]) -> Option<Unit> {
    match coded {
        [b'\\', b'u', rest @ ..] => {
            let four = |coded: &[u8]| number(coded, 16, 4).filter(|&(_, digits)| digits == 4).map(|(unit, _)| unit);
            let first = four(rest)?;
            match (first, rest.get(4..)) {
                (0xD800..0xDC00, Some([b'\\', b'u', rest @ ..])) => {
                    let second = four(rest).filter(|second| (0xDC00..0xE000).contains(second))?;
                    Unit::of_character(0x1_0000 + ((first - 0xD800) << 10) + second - 0xDC00, 12)
                }
                _ => Unit::of_character(first, 6),
            }
        }
        [b'\\', escape, ..] => {
            let byte = match escape {
                b'"' | b'\\' | b'/' => *escape,
                b'b' => 8,
                b't' => 9,
                b'n' => 10,
                b'f' => 12,
                b'r' => 13,
                _ => return None,
            };
            Some(Unit::of(byte, 2))
        }
        [b'"' | 0..=31, ..] | [] | [b'\\'] => None,
        [byte, ..] => Some(Unit::of(*byte, 1)),
    }
}

fn xml(coded: &[u8]) -> Option<Unit> {
    match coded {
        [b'&', b'#', rest @ ..] => {
            let (before, radix) = if rest.first() == Some(&b'x') { (1, 16) } else { (0, 10) };
            let (character, digits) = number(&rest[before..], radix, 8)?;
            let end = before + digits;
            (rest.get(end) == Some(&b';')).then(|| Unit::of_character(character, end + 3))?
        }
        [b'&', rest @ ..] => {
            let known: [(&[u8], u8); 5] =
                [(b"amp;", b'&'), (b"lt;", b'<'), (b"gt;", b'>'), (b"quot;", b'"'), (b"apos;", b'\'')];
            let (name, byte) = known.into_iter().find(|(name, _)| rest.starts_with(name))?;
            Some(Unit::of(byte, name.len() + 1))
        }
        [b'<' | b'>' | b'"' | b'\'', ..] | [] => None,
        [byte, ..] => Some(Unit::of(*byte, 1)),
    }
}

fn c(coded: &[u8]) -> Option<Unit> {
    match coded {
        // Hexadecimal digits have no end of their own.
        [b'\\', b'x', rest @ ..] => {
            let (byte, digits) = number(rest, 16, 9)?;
            Some(Unit::of(u8::try_from(byte).ok()?, digits + 2))
        }
        [b'\\', rest @ ..] if rest.first().is_some_and(|byte| (b'0'..=b'7').contains(byte)) => {
            let (byte, digits) = number(rest, 8, 3)?;
            Some(Unit::of(u8::try_from(byte).ok()?, digits + 1))
        }
        [b'\\', escape, ..] => {
            let byte = match escape {
                b'"' | b'\\' | b'\'' | b'?' => *escape,
                b'a' => 7,
                b'b' => 8,
                b't' => 9,
                b'n' => 10,
                b'v' => 11,
                b'f' => 12,
                b'r' => 13,
                _ => return None,
            };
            Some(Unit::of(byte, 2))
        }
        [b'"', ..] => None,
        [byte @ b' '..=b'~', ..] if *byte != b'\\' => Some(Unit::of(*byte, 1)),
        _ => None,
    }
}

fn quoted(coded: &[u8]) -> Option<Unit> {
    match coded {
        [b'=', b'\r', b'\n', ..] => Some(Unit { read: 3, ..Unit::default() }),
        [b'=', b'\n', ..] => Some(Unit { read: 2, ..Unit::default() }),
        [b'=', rest @ ..] => pair(rest).map(|unit| Unit { read: 3, ..unit }),
        [byte @ (b'!'..=b'~' | b' ' | b'\t'), ..] => Some(Unit::of(*byte, 1)),
        _ => None,
    }
}

/// A base of groups of characters.
struct Base {
    bits: usize,
    /// The number of characters of a group.
    characters: usize,
    is_padded: bool,
    value: fn(u8) -> Option<u8>,
}

fn base32(character: u8) -> Option<u8> {
    match character {
        b'A'..=b'Z' => Some(character - b'A'),
        b'a'..=b'z' => Some(character - b'a'),
        b'2'..=b'7' => Some(character - b'2' + 26),
        _ => None,
    }
}

fn base64(character: u8) -> Option<u8> {
    match character {
        b'+' => Some(62),
        b'/' => Some(63),
        b'-' | b'_' => None,
        _ => base64_url(character),
    }
}

fn base64_url(character: u8) -> Option<u8> {
    match character {
        b'A'..=b'Z' => Some(character - b'A'),
        b'a'..=b'z' => Some(character - b'a' + 26),
        b'0'..=b'9' => Some(character - b'0' + 52),
        b'-' => Some(62),
        b'_' => Some(63),
        _ => None,
    }
}

/// Decodes group by group.
fn groups(coded: &[u8], most: usize, base: Base) -> Decoded {
    let mut found = Decoded { ends: vec![(0, 0)], ..Decoded::default() };
    let all = base.characters * base.bits / 8;
    let mut at = 0;
    loop {
        let values: Vec<u8> =
            coded[at..].iter().take(base.characters).map_while(|&character| (base.value)(character)).collect();
        let value = values.iter().fold(0u64, |value, &bits| value << base.bits | u64::from(bits));
        let value = value << ((base.characters - values.len()) * base.bits);
        let bytes = &value.to_be_bytes()[8 - all..];
        if found.bytes.len() + all > most {
            found.is_cut = true;
            return found;
        }
        if values.len() == base.characters {
            at += base.characters;
            found.bytes.extend_from_slice(bytes);
            // A group may be cut where it needs no padding.
            if !base.is_padded {
                let begin = found.bytes.len() - all;
                cut(&mut found.ends, &base, (begin, at - base.characters), bytes, base.characters);
            }
            found.ends.push((found.bytes.len() as u32, at as u32));
            continue;
        }
        let padding = coded[at + values.len()..].iter().take_while(|&&byte| byte == b'=').count();
        let is_whole = base.is_padded && values.len() + padding >= base.characters && !values.is_empty();
        let len = values.len() * base.bits / 8;
        let is_short = (len * 8).div_ceil(base.bits) == values.len();
        let has_rest = bytes[len..].iter().any(|&byte| byte != 0);
        let begin = found.bytes.len();
        if is_whole && is_short && !has_rest {
            found.bytes.extend_from_slice(&bytes[..len]);
            found.ends.push((found.bytes.len() as u32, (at + base.characters) as u32));
        } else if !base.is_padded {
            found.bytes.extend_from_slice(&bytes[..len]);
            cut(&mut found.ends, &base, (begin, at), bytes, values.len() + 1);
        }
        return found;
    }
}

/// Adds the ends within a group of fewer than so many characters. The group has these bytes, and begins after so many
/// bytes and characters.
fn cut(ends: &mut Vec<(u32, u32)>, base: &Base, (before, characters): (usize, usize), bytes: &[u8], below: usize) {
    for count in 1..below.min(base.characters) {
        let len = count * base.bits / 8;
        let is_short = (len * 8).div_ceil(base.bits) == count;
        // The bits that are left are those of the next byte, and must be none.
        let rest = count * base.bits - len * 8;
        if is_short && (rest == 0 || bytes[len] >> (8 - rest) == 0) {
            ends.push(((before + len) as u32, (characters + count) as u32));
        }
    }
}

/// The most bytes of a line with the size of a chunk, and of a name in a gzip member.
const LINE: usize = 1 << 10;

fn chunked(coded: &[u8], most: usize) -> Result<(Vec<u8>, usize), Bad> {
    let (mut bytes, mut at) = (Vec::new(), 0);
    loop {
        let (size, digits) = number(&coded[at..], 16, 8).ok_or(Bad::Form)?;
        let size = size as usize;
        let after = &coded[at + digits..];
        // Only extensions stand between the size and the end of its line.
        let line = match after.first() {
            Some(b';') => after.iter().take(LINE).position(|&byte| byte == b'\r').ok_or(Bad::Form)?,
            _ => 0,
        };
        at += digits + line;
        let is_line = coded[at..].starts_with(b"\r\n");
        let chunk = coded.get(at + 2..at.saturating_add(2).saturating_add(size)).filter(|_| is_line);
        let chunk = chunk.ok_or(Bad::Form)?;
        if bytes.len() + size > most {
            return Err(Bad::TooLong);
        }
        bytes.extend_from_slice(chunk);
        at += 2 + size;
        if !coded[at..].starts_with(b"\r\n") {
            return Err(Bad::Form);
        }
        at += 2;
        if size == 0 {
            return Ok((bytes, at));
        }
    }
}

/// Inflates a stream. Returns its bytes and its length.
fn inflate(coded: &[u8], most: usize, flags: u32) -> Result<(Vec<u8>, usize), Bad> {
    let (mut inflater, mut bytes, mut read, mut written) = (DecompressorOxide::new(), Vec::new(), 0, 0);
    let flags = flags | inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    loop {
        bytes.resize((2 * written).max(256).min(most).max(written), 0);
        let (status, consumed, produced) = decompress(&mut inflater, &coded[read..], &mut bytes, written, flags);
        read += consumed;
        written += produced;
        match status {
            TINFLStatus::Done => {
                bytes.truncate(written);
                return Ok((bytes, read));
            }
            TINFLStatus::HasMoreOutput if bytes.len() < most => {}
            TINFLStatus::HasMoreOutput => return Err(Bad::TooLong),
            _ => return Err(Bad::Form),
        }
    }
}

fn gzip(coded: &[u8], most: usize) -> Result<(Vec<u8>, usize), Bad> {
    let at = after_header(coded).ok_or(Bad::Form)?;
    let (bytes, len) = inflate(coded.get(at..).ok_or(Bad::Form)?, most, 0)?;
    let end = at + len;
    let sums = [(Sum::Crc32.of(&bytes) as u32).to_le_bytes(), (bytes.len() as u32).to_le_bytes()];
    match coded.get(end..end + 8) {
        Some(last) if last == sums.concat() => Ok((bytes, end + 8)),
        _ => Err(Bad::Form),
    }
}

/// Returns where the stream of a gzip member begins.
fn after_header(coded: &[u8]) -> Option<usize> {
    let &[0x1F, 0x8B, 8, flags, ..] = coded else { return None };
    let mut at = 10;
    let string = |at: usize| Some(at + coded.get(at..)?.iter().take(LINE).position(|&byte| byte == 0)? + 1);
    if flags & 4 != 0 {
        at += 2 + usize::from(u16::from_le_bytes([*coded.get(at)?, *coded.get(at + 1)?]));
    }
    if flags & 8 != 0 {
        at = string(at)?;
    }
    if flags & 16 != 0 {
        at = string(at)?;
    }
    Some(if flags & 2 != 0 { at + 2 } else { at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_codings_are_read_as_they_are_written() {
        let texts: [&[u8]; 8] =
            [b"", b"a", b"ab", b"abc", b"a\"<&>\\'\x00\xFF =%.\t \r\n", &[0; 700], &[255; 131], b"~~~~~~"];
        for coding in Coding::ALL {
            for text in texts {
                let mut coded = Vec::new();
                coding.encode(text, &mut coded);
                let len = coded.len() as u32;
                coded.extend_from_slice(b"\"");
                let found = decode(coding, &coded, 1 << 20);
                assert!(found.ends.is_sorted(), "{coding:?} {found:?}");
                assert!(found.ends.contains(&(text.len() as u32, len)), "{coding:?} of {text:?}: {found:?}");
                assert_eq!(found.bytes[..text.len()], *text, "{coding:?}");
                // Each shorter end stands for a shorter text.
                for &(bytes, coded_len) in found.ends.iter().take(40) {
                    let again = decode(coding, &coded[..coded_len as usize], 1 << 20);
                    assert!(again.ends.contains(&(bytes, coded_len)), "{coding:?} of {text:?} at {coded_len}");
                    assert_eq!(again.bytes[..bytes as usize], found.bytes[..bytes as usize], "{coding:?}");
                }
                assert!(decode(coding, &coded, 2).bytes.len() <= 2, "{coding:?}");
                // No prefix of damaged bytes makes trouble.
                for at in 0..coded.len().min(60) {
                    let mut damaged = coded.clone();
                    damaged[at] ^= 0x15;
                    decode(coding, &damaged, 1 << 12);
                    decode(coding, &coded[..at], 1 << 12);
                }
            }
        }
    }

    #[test]
    fn other_forms_are_read() {
        for (coding, coded, text) in [
            (Coding::JsonString, r#"\u00e9\/\uD83D\ude00é"#, "é/😀é"),
            (Coding::XmlText, "&#65;&#x1F600;&apos;", "A😀'"),
            (Coding::CString, r"\x41\7\n\?", "A\x07\n?"),
            (Coding::Percent, "%c3%A9~", "é~"),
            (Coding::Chunked, "3;x=y\r\nabc\r\n1\r\nd\r\n0\r\n\r\n", "abcd"),
            (Coding::QuotedPrintable, "a=\r\nb=3d", "ab="),
        ] {
            let found = decode(coding, coded.as_bytes(), 100);
            assert_eq!(String::from_utf8_lossy(&found.bytes), text, "{coding:?}");
            assert_eq!(found.ends.last(), Some(&(text.len() as u32, coded.len() as u32)), "{coding:?}");
        }
    }
}
