//! Finds and reads the grammar that an argument names: a file, standard input, or a shipped grammar.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use gramjet_compiler::diagnostics::SourceFile;
use gramjet_compiler::formats::Loader;

use crate::engines::{self, ShippedGrammar};
use crate::failure::{Failure, quoted};

/// Larger grammar files are refused.
const MAX_BYTES: u64 = 256 << 20;
/// At most this many suggestions are made.
const SUGGESTIONS: usize = 3;
/// Directory entries looked at for suggestions.
const ENTRIES: usize = 1000;

/// A grammar's text and where it is from.
#[derive(Debug)]
pub struct Source {
    /// The text, under the name that diagnostics show.
    pub file: SourceFile,
    /// The shipped grammar that it is the text of.
    pub shipped: Option<ShippedGrammar>,
}

/// Reads the files that stand beside a grammar file.
#[derive(Debug)]
pub struct Beside {
    folder: PathBuf,
}

impl Beside {
    /// For the grammar file called `grammar`.
    pub fn new(grammar: &OsStr) -> Beside {
        Beside { folder: Path::new(grammar).parent().map_or_else(PathBuf::new, Path::to_path_buf) }
    }
}

impl Loader for Beside {
    fn load(&self, name: &str) -> Result<SourceFile, String> {
        let path = self.folder.join(name);
        let bytes = read_file(&path).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_string())?;
        Ok(SourceFile::new(path.display().to_string(), text))
    }
}

/// The grammar that an argument names.
pub fn load(name: &OsStr) -> Result<Source, Failure> {
    if name == "-" {
        let bytes = read_limited(io::stdin().lock())
            .map_err(|source| Failure::Read { what: "standard input".to_string(), source })?;
        return text_source("<stdin>".to_string(), bytes);
    }
    let path = Path::new(name);
    if !exists(path) || path.is_dir() {
        let word = name.to_str().filter(|name| is_word(name));
        match word.and_then(engines::shipped_by_name) {
            Some(shipped) => {
                let file = SourceFile::new(format!("<{}>", shipped.name), shipped.text);
                return Ok(Source { file, shipped: Some(shipped) });
            }
            None if !exists(path) => return Err(Failure::Usage(not_found(name))),
            // Reading it says what is wrong.
            None => {}
        }
    }
    let bytes =
        read_file(path).map_err(|source| Failure::Read { what: format!("grammar {}", quoted(path)), source })?;
    text_source(path.display().to_string(), bytes)
}

/// Everything from `path`, or from standard input if it is `-`.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    if path.as_os_str() == "-" {
        return read_limited(io::stdin().lock())
            .map_err(|source| Failure::Read { what: "standard input".to_string(), source });
    }
    read_file(path).map_err(|source| Failure::Read { what: quoted(path), source })
}

fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    if path.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
    }
    read_limited(File::open(path)?)
}

fn read_limited(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {} MiB", MAX_BYTES >> 20)));
    }
    Ok(bytes)
}

fn text_source(name: String, bytes: Vec<u8>) -> Result<Source, Failure> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Source { file: SourceFile::new(name, text), shipped: None }),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..valid].iter().filter(|&&byte| byte == b'\n').count() + 1;
            let byte = error.as_bytes().get(valid).copied().unwrap_or(0);
            Err(Failure::Usage(format!(
                "{} is not UTF-8 text: byte 0x{byte:02x} at offset {valid} (line {line})",
                quoted(name)
            )))
        }
    }
}

/// Whether something stands at `path`; what cannot be looked at is taken to exist, so that the error says why.
fn exists(path: &Path) -> bool {
    match fs::metadata(path) {
        Ok(_) => true,
        Err(error) => !matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::InvalidInput | io::ErrorKind::NotADirectory
        ),
    }
}

/// Whether `name` could be that of a shipped grammar rather than a path.
fn is_word(name: &str) -> bool {
    !name.contains(['/', '\\', '.'])
}

/// The message for a grammar that does not exist, with what it could have been.
fn not_found(name: &OsStr) -> String {
    let shown = quoted(name);
    let wanted = name.to_string_lossy();
    if wanted.is_empty() {
        return "the name of the grammar is empty".to_string();
    }
    let mut candidates: Vec<String> = Vec::new();
    if is_word(&wanted) {
        candidates.extend(engines::shipped().map(|grammar| grammar.name.to_string()));
    }
    let path = Path::new(name);
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Ok(entries) = fs::read_dir(folder.unwrap_or(Path::new("."))) {
        let names = entries.take(ENTRIES).flatten().map(|entry| entry.file_name());
        candidates.extend(names.map(|name| match folder {
            Some(folder) => folder.join(name).display().to_string(),
            None => name.display().to_string(),
        }));
    }
    let mut scored: Vec<(f64, String)> = candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&wanted, &candidate), candidate))
        .filter(|(score, _)| *score > 0.85)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let similar: Vec<String> = scored.into_iter().take(SUGGESTIONS).map(|(_, candidate)| quoted(candidate)).collect();
    let kind = if is_word(&wanted) { "neither a file nor a shipped grammar" } else { "no such file" };
    let mut message = format!("grammar {shown} not found: {kind}");
    if !similar.is_empty() {
        message += &format!("; did you mean {}?", similar.join(" or "));
    }
    if is_word(&wanted) {
        message += "\n`gramjet grammars` lists the shipped grammars";
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_utf8_says_where() {
        let message = match text_source("x.ebnf".to_string(), b"a = 'b';\nc = '\xff';".to_vec()) {
            Err(failure) => failure.to_string(),
            Ok(_) => String::new(),
        };
        assert_eq!(message, "`x.ebnf` is not UTF-8 text: byte 0xff at offset 14 (line 2)");
    }

    #[test]
    fn missing_grammars() {
        assert!(not_found(OsStr::new("./nowhere/x.ebnf")).contains("no such file"));
        assert!(not_found(OsStr::new("no-such-grammar")).contains("`gramjet grammars`"));
        assert!(is_word("json") && !is_word("json.ebnf") && !is_word("a/json"));
    }
}
