//! Codings that cut what they code into lines or chunks.

/// The most bytes of a chunk.
const CHUNK: usize = 64;

/// The most characters of a line, without the sign that ends it.
const LINE: usize = 75;

/// Appends bytes as chunks, and the last one, which is empty.
pub(super) fn chunked(bytes: &[u8], output: &mut Vec<u8>) {
    for chunk in bytes.chunks(CHUNK) {
        output.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        output.extend_from_slice(chunk);
        output.extend_from_slice(b"\r\n");
    }
    output.extend_from_slice(b"0\r\n\r\n");
}

/// Returns the length of this number of bytes in chunks.
pub(super) fn longest_chunked(len: u64) -> u64 {
    let (full, rest) = (len / CHUNK as u64, len % CHUNK as u64);
    // Digits and two ends of lines.
    let around = match rest {
        0 => 0,
        1..16 => 5,
        _ => 6,
    };
    full.saturating_mul(6).saturating_add(around).saturating_add(len).saturating_add(5)
}

/// Returns true if a byte stands for itself in any place.
pub(super) fn is_plain(byte: u8) -> bool {
    (b'!'..=b'~').contains(&byte) && byte != b'='
}

/// Appends bytes as quoted-printable.
pub(super) fn quoted_printable(bytes: &[u8], output: &mut Vec<u8>) {
    let mut width = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let is_inner_blank = matches!(byte, b' ' | b'\t') && at + 1 < bytes.len();
        let is_plain = is_plain(byte) || is_inner_blank;
        let wanted = if is_plain { 1 } else { 3 };
        if width + wanted > LINE {
            output.extend_from_slice(b"=\r\n");
            width = 0;
        }
        width += wanted;
        if is_plain {
            output.push(byte);
        } else {
            output.extend_from_slice(format!("={byte:02X}").as_bytes());
        }
    }
}

/// Returns the greatest length of this number of characters in lines.
pub(super) fn longest_quoted(characters: u64) -> u64 {
    // A line is ended where the next three characters would not fit.
    let ends = characters.saturating_sub(1) / (LINE as u64 - 2);
    characters.saturating_add(ends.saturating_mul(3))
}
