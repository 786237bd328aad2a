//! Choice strings in files: a header names the choice map that gives the choice bytes their meaning, and the limits.
//!
//! `docs/choice-map.md` specifies the form. This module knows nothing of grammars: the fingerprints are numbers to it,
//! and the recipe is a text. The recipe says, for people and programs, how the grammar was read.

use crate::limits::Limits;

/// The contents of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The fingerprint of the choice map.
    pub choices: u64,
    /// The fingerprint of the grammar without what it was read with and without weights.
    pub grammar: u64,
    /// The limits on depth, length and choice bytes under which the choice bytes stand for their text.
    pub limits: Limits,
    /// Recipe that says how the grammar was read and where its weights are from: lines of `key=value`.
    pub recipe: String,
}

/// A header that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// Its version is unknown.
    #[error("the header of the choice bytes has version {0}, but only {known} is known", known = Header::VERSION)]
    Version(u8),
    /// Header that is incomplete, or not text where it must be.
    #[error("the header of the choice bytes is damaged or cut off")]
    Damaged,
}

/// The lengths in bytes of the fields before the recipe: magic, version, nothing, length, fingerprints, limits.
const FIXED: usize = 8 + 1 + 1 + 2 + 8 + 8 + 4 + 8 + 8;

impl Header {
    /// The beginning of files with a header. It is not text in any encoding, and changes if the file is converted as
    /// text.
    pub const MAGIC: [u8; 8] = *b"\x8aGJC\r\n\x1a\n";
    /// The version of the form.
    pub const VERSION: u8 = 1;

    /// Returns the header followed by the choice bytes.
    pub fn before(&self, choices: &[u8]) -> Vec<u8> {
        // A recipe that is too long for the header is left out: it would not help people either.
        let recipe = if self.recipe.len() + FIXED <= usize::from(u16::MAX) { self.recipe.as_bytes() } else { &[] };
        let len = (FIXED + recipe.len()) as u16;
        let mut file = Vec::with_capacity(usize::from(len) + choices.len());
        file.extend(Header::MAGIC);
        file.extend([Header::VERSION, 0]);
        file.extend(len.to_le_bytes());
        file.extend(self.choices.to_le_bytes());
        file.extend(self.grammar.to_le_bytes());
        file.extend(self.limits.depth().unwrap_or(u32::MAX).to_le_bytes());
        file.extend(self.limits.length().unwrap_or(u64::MAX).to_le_bytes());
        file.extend(self.limits.choices().to_le_bytes());
        file.extend(recipe);
        file.extend(choices);
        file
    }

    /// Returns the header of a file, if it has one, and the choice bytes after it.
    ///
    /// # Errors
    ///
    /// If it begins as a header, but cannot be read.
    pub fn split(file: &[u8]) -> Result<(Option<Header>, &[u8]), HeaderError> {
        let Some(rest) = file.strip_prefix(&Header::MAGIC) else { return Ok((None, file)) };
        match rest.first() {
            Some(&Header::VERSION) => {}
            Some(&version) => return Err(HeaderError::Version(version)),
            None => return Err(HeaderError::Damaged),
        }
        Header::read(file).ok_or(HeaderError::Damaged)
    }

    fn read(file: &[u8]) -> Option<(Option<Header>, &[u8])> {
        let mut rest = file.get(Header::MAGIC.len() + 2..)?;
        let len = usize::from(u16::from_le_bytes(take(&mut rest)?));
        let (choices, grammar) = (u64::from_le_bytes(take(&mut rest)?), u64::from_le_bytes(take(&mut rest)?));
        let depth = Some(u32::from_le_bytes(take(&mut rest)?)).filter(|&depth| depth != u32::MAX);
        let length = Some(u64::from_le_bytes(take(&mut rest)?)).filter(|&length| length != u64::MAX);
        let limits = Limits::with(depth, length).max_choices(u64::from_le_bytes(take(&mut rest)?));
        let recipe = std::str::from_utf8(file.get(FIXED..len)?).ok()?.to_string();
        Some((Some(Header { choices, grammar, limits, recipe }), &file[len..]))
    }
}

/// Returns the next bytes.
fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, behind) = rest.split_first_chunk::<N>()?;
    *rest = behind;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        let limits = Limits::with(Some(7), None).max_choices(1 << 40);
        Header { choices: 0x0123_4567_89ab_cdef, grammar: 42, limits, recipe: "weights=own\n".to_string() }
    }

    #[test]
    fn what_is_written_is_read() {
        for header in [header(), Header { limits: Limits::with(None, Some(9)), recipe: String::new(), ..header() }] {
            for choices in [&b""[..], b"\0\xff", &Header::MAGIC] {
                assert_eq!(Header::split(&header.before(choices)), Ok((Some(header.clone()), choices)));
            }
        }
        let long = Header { recipe: "x".repeat(1 << 16), ..header() };
        let without = Header { recipe: String::new(), ..header() };
        assert_eq!(Header::split(&long.before(b"abc")), Ok((Some(without), &b"abc"[..])));
    }

    /// The form as `docs/choice-map.md` specifies it.
    #[test]
    fn the_form_is_as_specified() {
        let bytes = header().before(b"\x01\x02");
        assert_eq!(
            bytes.escape_ascii().to_string(),
            "\\x8aGJC\\r\\n\\x1a\\n\\x01\\x00<\\x00\\xef\\xcd\\xab\\x89gE#\\x01*\\x00\\x00\\x00\\x00\\x00\\x00\\x00\
             \\x07\\x00\\x00\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\x00\\x00\\x00\\x00\\x01\\x00\\x00\
             weights=own\\n\\x01\\x02"
        );
    }

    #[test]
    fn other_bytes_are_choice_bytes() {
        for raw in [&b""[..], b"abc", &Header::MAGIC[..7], b"\x8aGJC\n\x1a\n and more"] {
            assert_eq!(Header::split(raw), Ok((None, raw)));
        }
    }

    #[test]
    fn damaged_headers_are_refused() {
        let whole = header().before(b"");
        for cut in Header::MAGIC.len()..whole.len() {
            assert_eq!(Header::split(&whole[..cut]), Err(HeaderError::Damaged), "{cut}");
        }
        let with = |at: usize, byte: u8| {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            Header::split(&bytes).map(|_| ())
        };
        assert_eq!(with(8, 2), Err(HeaderError::Version(2)));
        // The length, and bytes that are not text.
        assert_eq!((with(10, 3), with(11, 9)), (Err(HeaderError::Damaged), Err(HeaderError::Damaged)));
        assert_eq!(with(whole.len() - 1, 0xff), Err(HeaderError::Damaged));
    }
}
