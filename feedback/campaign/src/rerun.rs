//! Commands of the shell that run the program under test on a file again.
//!
//! Each is given in pieces. The name of the file stands between them, as a shell takes it.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use gramjet_harness::FILE;

use crate::subject::quoted;

/// Returns the command that runs a program by itself.
pub fn alone(command: &[OsString]) -> Vec<OsString> {
    let mut pieces = vec![OsString::new()];
    for (number, word) in command.iter().enumerate() {
        // The name of the program names no file.
        let parts = if number == 0 { vec![word.as_bytes()] } else { split(word.as_bytes(), FILE.as_bytes()) };
        add(&mut pieces, if number > 0 { " " } else { "" });
        for (number, part) in parts.iter().enumerate() {
            if number > 0 {
                pieces.push(OsString::new());
            }
            // An empty word has to be there.
            if !part.is_empty() || parts.len() == 1 {
                add(&mut pieces, quoted(&[OsString::from_vec(part.to_vec())]));
            }
        }
    }
    if pieces.len() == 1 {
        add(&mut pieces, " < ");
        pieces.push(OsString::new());
    }
    pieces
}

/// Returns the command that runs a program or a function as a search for failures does, under these options.
pub fn by_us(grammar: &OsStr, options: &[OsString], command: &[OsString]) -> Vec<OsString> {
    let begin = ["gramjet".into(), "fuzz".into(), grammar.to_os_string()];
    let mut before = quoted(&[&begin[..], options, &["--replay".into()]].concat());
    before.push(" ");
    let mut after = OsString::from(" -- ");
    after.push(quoted(command));
    vec![before, after]
}

/// Adds to the last piece.
fn add(pieces: &mut [OsString], text: impl AsRef<OsStr>) {
    if let Some(last) = pieces.last_mut() {
        last.push(text);
    }
}

/// Returns the parts of a word between all occurrences of another one.
fn split<'w>(mut word: &'w [u8], between: &[u8]) -> Vec<&'w [u8]> {
    let mut parts = Vec::new();
    while let Some(at) = word.windows(between.len()).position(|part| part == between) {
        parts.push(&word[..at]);
        word = &word[at + between.len()..];
    }
    parts.push(word);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&[u8]]) -> Vec<OsString> {
        words.iter().map(|word| OsString::from_vec(word.to_vec())).collect()
    }

    #[test]
    fn the_file_stands_where_the_program_takes_it() {
        let line =
            |command: &[&[u8]]| alone(&words(command)).join(OsStr::new("FILE")).as_bytes().escape_ascii().to_string();
        assert_eq!(line(&[b"./p", b"-x"]), "./p -x < FILE");
        assert_eq!(line(&[b"./p", b"a b=@@,", b"@@@@"]), r"./p \'a b=\'FILE, FILEFILE");
        assert_eq!(line(&[b"./p", b"\xff", b""]), r"./p \'\xff\' \'\' < FILE");
        assert_eq!(line(&[b"./@@", b"@@", b"it's"]), r"./@@ FILE \'it\'\\\'\'s\'");
    }

    #[test]
    fn functions_are_called_by_us() {
        let options = words(&[b"--timeout=2s", b"--text"]);
        let pieces = by_us(OsStr::new("a b.ebnf"), &options, &words(&[b"python:json:loads"]));
        let line = pieces.join(OsStr::new("FILE"));
        assert_eq!(line, "gramjet fuzz 'a b.ebnf' --timeout=2s --text --replay FILE -- python:json:loads");
    }
}
