//! Strings in the read-only data of programs in the format ELF.

use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use object::{Object, ObjectSection, ObjectSymbol, ReadCache, ReadRef};

use super::{LONGEST, MOST};

/// Strings of fewer bytes are mostly parts of tables.
const SHORTEST: usize = 3;
/// Bytes of all sections that are read.
const READ: u64 = 1 << 24;
/// Strings that are looked at.
const LOOKED_AT: usize = 1 << 16;
/// Beginnings of strings in the code that counts edges.
const OURS: [&[u8]; 6] = [b"##SIG_", b"__AFL_", b"AFL_", b"GRAMJET_", b"__gramjet", b"__sanitizer_"];
/// Ends of the names of sources, which assertions have.
const SOURCES: [&[u8]; 8] = [b".c", b".h", b".cc", b".hh", b".cpp", b".hpp", b".cxx", b".rs"];
/// Beginnings of the names of interpreters.
const INTERPRETERS: [&str; 16] = [
    "bash", "busybox", "dash", "env", "guile", "java", "ksh", "lua", "node", "perl", "php", "python", "ruby", "sh",
    "tclsh", "zsh",
];

/// Returns the words of a program; `None` if its file cannot be read.
pub(super) fn words(program: &Path) -> Option<Vec<Vec<u8>>> {
    if is_interpreter(program) {
        return None;
    }
    // A pipe would be waited for.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(program).ok()?;
    if !file.metadata().is_ok_and(|facts| facts.is_file()) {
        return None;
    }
    let cache = ReadCache::new(file);
    let file = object::File::parse(&cache).ok()?;
    let mut found = strings(&file);
    for symbol in file.dynamic_symbols().filter(|symbol| symbol.is_undefined()) {
        found.known.remove(symbol.name_bytes().unwrap_or_default());
    }
    let Found { mut words, known } = found;
    words.retain(|word| known.contains(word));
    if words.len() > MOST {
        // A run time that is linked into the program stands before its own strings, as a sanitizer does, or after them.
        let first = words.drain(..words.len() - MOST / 2).take(MOST / 2).collect::<Vec<_>>();
        words.reverse();
        words.extend(first);
    }
    Some(words)
}

/// Returns true if the program is known to run programs of its own language.
fn is_interpreter(program: &Path) -> bool {
    let names = [Some(program.to_path_buf()), program.canonicalize().ok()];
    let names = names.iter().flatten().filter_map(|path| path.file_name()?.to_str());
    // Such as `python3.11`.
    let plain = |name: &str| name.trim_end_matches(|end: char| end.is_ascii_digit() || end == '.').to_string();
    names.map(plain).any(|name| INTERPRETERS.contains(&&*name))
}

/// The strings of a file, in their order.
#[derive(Default)]
struct Found {
    words: Vec<Vec<u8>>,
    known: HashSet<Vec<u8>>,
}

/// Returns the strings of the sections for read-only data.
fn strings<'d, R: ReadRef<'d>>(file: &object::File<'d, R>) -> Found {
    let mut found = Found::default();
    let mut left = READ;
    for section in file.sections() {
        if !section.name_bytes().is_ok_and(|name| name.starts_with(b".rodata")) {
            continue;
        }
        let len = section.size().min(left);
        let Ok(Some(data)) = section.data_range(section.address(), len) else { continue };
        left -= len;
        found.add(data);
    }
    found
}

impl Found {
    /// Adds the strings that end with a zero byte.
    fn add(&mut self, data: &[u8]) {
        let end = data.iter().rposition(|&byte| byte == 0).unwrap_or(0);
        for word in data[..end].split(|&byte| byte == 0).filter(|word| is_word(word)) {
            if self.words.len() >= LOOKED_AT {
                return;
            }
            if self.known.insert(word.to_vec()) {
                self.words.push(word.to_vec());
            }
        }
    }
}

/// Returns true for printable strings that are neither messages nor the names of files.
fn is_word(word: &[u8]) -> bool {
    let is_printable = word.iter().all(|byte| byte.is_ascii_graphic());
    (SHORTEST..=LONGEST).contains(&word.len())
        && is_printable
        && !word.contains(&b'%')
        && !is_path(word)
        && !OURS.iter().any(|begin| word.starts_with(begin))
}

/// Returns true if it looks like the path of a file.
fn is_path(word: &[u8]) -> bool {
    let is_absolute = word.starts_with(b"/") && word.get(1).is_some_and(u8::is_ascii_alphanumeric);
    let folders = word.windows(2).filter(|pair| pair[0].is_ascii_alphanumeric() && pair[1] == b'/').count();
    let is_source = word.len() > 4 && SOURCES.iter().any(|end| word.ends_with(end));
    is_absolute || folders > 1 || is_source || word.starts_with(b"./") || word.starts_with(b"../")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn strings_that_are_no_words_are_left_out() {
        let mut found = Found::default();
        found
            .add(b"magic\0open sesame\0%d\0%5s%%\0ab\0abc\0magic\0/etc/passwd\0parser.c\0a/b/c\0</table>\0text/html\0");
        found.add(b"\x01bad\0__AFL_SHM_ID\0__proto__\0unended");
        let expected: [&[u8]; 5] = [b"magic", b"abc", b"</table>", b"text/html", b"__proto__"];
        assert_eq!(found.words, expected);
        found.add(b"");
        found.add(&[b'a'; 100]);
        assert_eq!(found.words, expected);
    }

    #[test]
    fn what_is_no_program_has_no_words() {
        let own = std::env::current_exe().expect("this test");
        assert!((1..=MOST).contains(&words(&own).map_or(1, |words| words.len().max(1))));
        for path in ["/dev/null", "/", "/proc/self/cmdline", "/no/such/file", "/bin/sh", "/usr/bin/python3.11"] {
            assert_eq!(words(&PathBuf::from(path)), None, "{path}");
        }
    }
}
