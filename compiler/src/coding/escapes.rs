//! Escapes of single bytes: in addresses, JSON, XML and C.

use super::Coding;

/// A byte, coded.
#[derive(Clone, Copy)]
pub(super) struct Escaped {
    bytes: [u8; 6],
    len: u8,
}

impl Escaped {
    fn new(text: &[u8]) -> Escaped {
        let mut bytes = [0; 6];
        bytes[..text.len()].copy_from_slice(text);
        Escaped { bytes, len: text.len() as u8 }
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// Returns a byte as a coding by escapes writes it.
pub(super) fn of(coding: Coding, byte: u8) -> Escaped {
    let known: Option<&[u8]> = match coding {
        Coding::Percent if is_unreserved(byte) => None,
        Coding::Percent => return hexadecimal(b"%", byte, *b"0123456789ABCDEF"),
        Coding::JsonString => match byte {
            b'"' => Some(b"\\\""),
            b'\\' => Some(b"\\\\"),
            8 => Some(b"\\b"),
            9 => Some(b"\\t"),
            10 => Some(b"\\n"),
            12 => Some(b"\\f"),
            13 => Some(b"\\r"),
            0..=31 => return hexadecimal(b"\\u00", byte, *b"0123456789abcdef"),
            _ => None,
        },
        Coding::XmlText => match byte {
            b'&' => Some(b"&amp;"),
            b'<' => Some(b"&lt;"),
            b'>' => Some(b"&gt;"),
            b'"' => Some(b"&quot;"),
            b'\'' => Some(b"&#39;"),
            // A parser of XML makes others of these.
            b'\t' => Some(b"&#9;"),
            b'\n' => Some(b"&#10;"),
            b'\r' => Some(b"&#13;"),
            _ => None,
        },
        // The next character may be a digit, so all three are written.
        _ => match byte {
            b'"' => Some(b"\\\""),
            b'\\' => Some(b"\\\\"),
            // Question marks begin trigraphs.
            b' '..=b'~' if byte != b'?' => None,
            _ => {
                let digit = |shift: u32| b'0' + (byte >> shift & 7);
                return Escaped::new(&[b'\\', digit(6), digit(3), digit(0)]);
            }
        },
    };
    known.map_or(Escaped::new(&[byte]), Escaped::new)
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn hexadecimal(before: &[u8], byte: u8, digits: [u8; 16]) -> Escaped {
    let mut text = before.to_vec();
    text.extend([digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
    Escaped::new(&text)
}
