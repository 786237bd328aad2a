//! Response files: `@FILE` stands for the arguments in a file.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::runtime::Passing;
use crate::cache::Cache;
use crate::error::Error;

/// Greatest depth to which files may name files.
const DEPTH: usize = 16;
/// Bytes of arguments up to which no file is made for them. Linux takes two megabytes with the environment, 128 KiB in
/// one argument.
const MOST: usize = 1 << 17;

/// Returns the arguments, with response files replaced by their contents. A name of no file is an argument itself.
pub(super) fn expanded(arguments: &[OsString]) -> Vec<OsString> {
    let mut all = Vec::new();
    expand(arguments, DEPTH, &mut all);
    all
}

fn expand(arguments: &[OsString], depth: usize, all: &mut Vec<OsString>) {
    for argument in arguments {
        let file = argument.as_bytes().strip_prefix(b"@").filter(|_| depth > 0);
        match file.and_then(|file| fs::read(OsStr::from_bytes(file)).ok()) {
            Some(text) => expand(&words(&text), depth - 1, all),
            None => all.push(argument.clone()),
        }
    }
}

/// Returns the words of a response file, as GNU's tools read them: blanks separate, quotes hold together, a backslash
/// makes any byte plain.
fn words(text: &[u8]) -> Vec<OsString> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<Vec<u8>>, None);
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => word.get_or_insert_default().extend(bytes.next()),
            (_, Some(open)) if byte == open => quote = None,
            (b'"' | b'\'', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (_, None) if byte.is_ascii_whitespace() || byte == 0x0b => words.extend(word.take()),
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

/// Returns a response file with the arguments, as an argument, if they may be too many for the operating system.
pub(super) fn file_for(arguments: &[OsString], cache: &Cache) -> Result<Option<Passing>, Error> {
    if arguments.iter().map(|argument| argument.len() + 9).sum::<usize>() <= MOST {
        return Ok(None);
    }
    let mut text = Vec::new();
    for argument in arguments {
        text.push(b'"');
        for &byte in argument.as_bytes() {
            if matches!(byte, b'"' | b'\\') {
                text.push(b'\\');
            }
            text.push(byte);
        }
        text.extend_from_slice(b"\"\n");
    }
    Passing::new(cache, &text).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_gnu() {
        let text = b"-c a.c  'b c.c'\n\"d\\\"e\" f\\ g '' -D'X=\"1\"'\t";
        let expected = ["-c", "a.c", "b c.c", "d\"e", "f g", "", "-DX=\"1\""].map(OsString::from);
        assert_eq!(words(text), expected);
    }

    #[test]
    fn what_is_no_file_stays_an_argument() {
        let arguments = ["@no-such-file", "a.c"].map(OsString::from);
        assert_eq!(expanded(&arguments), arguments);
    }
}
