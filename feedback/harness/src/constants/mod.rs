//! Constants that a program compares parts of its input with, such as keywords and magic numbers: words that no random
//! text has.
//!
//! Functions of Python and Node tell them when they are loaded (`workers/constants.py`, `workers/constants.js`). Those
//! of programs are in their files. What is found is no more than a guess, and what a worker tells is not trusted.

mod native;

use std::path::Path;

/// At most this many words of at most this many bytes are taken, and at least as many bytes.
const MOST: usize = 512;
const LONGEST: usize = 32;
const SHORTEST: usize = 2;

/// Returns strings of the constants in a program's file which its input may have to contain, each once, at most 512 of
/// at most 32 bytes. There are none of a file that cannot be read or has another format than ELF, such as a script, and
/// none of an interpreter: its strings are not those of what it runs.
pub fn words_of(program: &Path) -> Vec<Vec<u8>> {
    native::words(program).unwrap_or_default()
}

/// Returns the words in a worker's message: the length of each in a byte before it. What else it contains is left out.
pub(crate) fn told(mut body: &[u8]) -> Vec<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    while let Some((&len, rest)) = body.split_first()
        && let Some((word, rest)) = rest.split_at_checked(usize::from(len))
        && words.len() < MOST
    {
        if (SHORTEST..=LONGEST).contains(&word.len()) {
            words.push(word.to_vec());
        }
        body = rest;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_worker_tells_is_bounded() {
        assert_eq!(told(b"\x03one\x01a\x04four"), [b"one".to_vec(), b"four".to_vec()]);
        assert_eq!(told(b"\x03one\x09four"), [b"one".to_vec()]);
        assert_eq!(told(&[&[33][..], &[b'a'; 33], b"\x02in"].concat()), [b"in".to_vec()]);
        assert_eq!(told(&b"\x02ab".repeat(1000)).len(), MOST);
        assert!(told(b"").is_empty());
    }
}
