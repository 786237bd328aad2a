//! String and bytes literals of Python, for the formats that have them.

use super::scanner::Scanner;

/// The most letters before a quote.
const MAX_PREFIX: usize = 2;

/// The meaning of an escape.
pub(super) enum Escape {
    Char(char),
    /// A line end that is not part of the string.
    Continued,
    /// No escape. Nothing was taken.
    None,
}

/// Returns the escape after a backslash that has been taken. In bytes, only the escapes of bytes literals.
pub(super) fn escape(scan: &mut Scanner<'_>, in_bytes: bool) -> Escape {
    let start = scan.position;
    let simple = match scan.next() {
        Some('\n') => return Escape::Continued,
        Some(same @ ('\\' | '\'' | '"')) => same,
        Some('a') => '\x07',
        Some('b') => '\x08',
        Some('f') => '\x0C',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('v') => '\x0B',
        Some('x') => return digits(scan, start, 2, 16),
        Some('u') if !in_bytes => return digits(scan, start, 4, 16),
        Some('U') if !in_bytes => return digits(scan, start, 8, 16),
        Some('0'..='7') => {
            scan.position = start;
            let length = scan.rest().bytes().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
            return digits(scan, start, length, 8);
        }
        _ => {
            scan.position = start;
            return Escape::None;
        }
    };
    Escape::Char(simple)
}

fn digits(scan: &mut Scanner<'_>, start: usize, length: usize, radix: u32) -> Escape {
    let rest = scan.rest();
    let value = rest.get(..length).filter(|digits| digits.chars().all(|c| c.is_digit(radix)));
    match value.and_then(|digits| u32::from_str_radix(digits, radix).ok()).and_then(char::from_u32) {
        Some(character) => {
            scan.position += length;
            Escape::Char(character)
        }
        None => {
            scan.position = start;
            Escape::None
        }
    }
}

/// Returns a literal, or several that Python joins, if one comes next. `Err` if it is not closed or is computed
/// (`f"..."`).
pub(super) fn literal(scan: &mut Scanner<'_>) -> Option<Result<Vec<u8>, ()>> {
    let mut joined: Option<Vec<u8>> = None;
    loop {
        let before = scan.position;
        if joined.is_some() {
            skip_blanks(scan);
            if scan.eat("+") {
                skip_blanks(scan);
            }
        }
        let prefix = scan.rest().bytes().take(MAX_PREFIX + 1).position(|byte| matches!(byte, b'"' | b'\''));
        let prefix = prefix.map(|length| scan.rest()[..length].to_ascii_lowercase());
        let known = prefix
            .as_deref()
            .is_some_and(|prefix| matches!(prefix, "" | "r" | "u" | "b" | "br" | "rb" | "f" | "fr" | "rf"));
        let Some(prefix) = prefix.filter(|_| known) else {
            scan.position = before;
            return joined.map(Ok);
        };
        scan.position += prefix.len();
        match one(scan, prefix.contains('r'), prefix.contains('b')) {
            Some(bytes) if !prefix.contains('f') => joined.get_or_insert_default().extend(bytes),
            _ => return Some(Err(())),
        }
    }
}

/// Returns a single literal, at its opening quote. `None` if it is not closed.
fn one(scan: &mut Scanner<'_>, raw: bool, in_bytes: bool) -> Option<Vec<u8>> {
    let quote = scan.peek()?;
    let end = if scan.rest().starts_with(&quote.to_string().repeat(3)) {
        quote.to_string().repeat(3)
    } else {
        quote.to_string()
    };
    scan.eat(&end);
    let mut bytes = Vec::new();
    let mut push = |character: char| {
        // `\xFF` is a byte in bytes, a character in text.
        match u8::try_from(u32::from(character)) {
            Ok(byte) if in_bytes => bytes.push(byte),
            _ => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    };
    loop {
        if scan.eat(&end) {
            return Some(bytes);
        }
        match scan.next()? {
            '\n' if end.len() == 1 => return None,
            '\\' if raw => {
                push('\\');
                if let Some(behind) = scan.next() {
                    push(behind);
                }
            }
            '\\' => match escape(scan, in_bytes) {
                Escape::Char(character) => push(character),
                Escape::Continued => {}
                Escape::None => push('\\'),
            },
            character => push(character),
        }
    }
}

/// Skips blanks, line ends and comments.
pub(super) fn skip_blanks(scan: &mut Scanner<'_>) {
    loop {
        scan.take_while(char::is_whitespace);
        if !scan.sees("#") {
            if scan.sees("\\\n") {
                scan.eat("\\\n");
                continue;
            }
            return;
        }
        scan.take_line();
    }
}
