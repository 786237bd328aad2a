//! The compiler that does the work.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use super::Language;
use crate::cache::Cache;
use crate::error::Error;
use crate::guard::find;

/// Kind of a compiler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CompilerKind {
    /// clang, with its major version.
    Clang(u32),
    Gcc,
}

/// A compiler that was found.
#[derive(Debug)]
pub(super) struct Compiler {
    pub(super) program: PathBuf,
    /// Arguments before all others: `ccache clang` has one.
    arguments: Vec<OsString>,
    pub(super) kind: CompilerKind,
    /// The text that it prints about its version.
    pub(super) version: String,
    /// Whether it has a linker of its own version.
    pub(super) has_lld: bool,
}

/// Versions of clang for which there may be a program of that name; older ones lack necessary features.
const CLANGS: std::ops::RangeInclusive<u32> = 11..=40;

/// Returns facts about a compiler. It is asked again when its file has changed.
fn facts_of(
    cache: &Cache,
    program: &Path,
    arguments: &[OsString],
    ask: impl FnOnce() -> Result<String, Error>,
) -> Result<String, Error> {
    let failed = |source| Error::Program { program: program.to_path_buf(), source };
    let facts = fs::metadata(program).map_err(failed)?;
    let facts = (program, arguments, facts.len(), facts.mtime(), facts.mtime_nsec(), facts.ino());
    let folder = cache.folder("facts", &facts, |folder| {
        let known = ask()?;
        fs::write(folder.join(FACTS), known).map_err(|source| cache.failed(source))
    })?;
    fs::read_to_string(folder.join(FACTS)).map_err(|source| cache.failed(source))
}

/// The file with the facts about a compiler.
const FACTS: &str = "facts";

impl Compiler {
    /// Returns the compiler that the environment names, else the newest clang, else gcc.
    pub(super) fn find(language: Language, cache: &Cache) -> Result<Compiler, Error> {
        let named = named(language).map(|words| Compiler::of(words, cache));
        named.unwrap_or_else(|| newest(language, cache))
    }

    fn of(mut words: Vec<OsString>, cache: &Cache) -> Result<Compiler, Error> {
        let arguments = words.split_off(1);
        let program = find(&words[0])?;
        let mut compiler =
            Compiler { program, arguments, kind: CompilerKind::Gcc, version: String::new(), has_lld: false };
        let known = facts_of(cache, &compiler.program, &compiler.arguments, || compiler.facts())?;
        let mut lines = known.lines();
        compiler.version = lines.next().unwrap_or_default().to_string();
        compiler.kind = clang_version(&compiler.version).map_or(CompilerKind::Gcc, CompilerKind::Clang);
        compiler.has_lld = lines.next().is_some_and(|lld| Path::new(lld).is_absolute());
        Ok(compiler)
    }

    /// Returns the first line of the compiler's text about its version, and the path of its linker.
    fn facts(&self) -> Result<String, Error> {
        let said = |argument: &str| {
            let output = self.command().arg(argument).env("LC_ALL", "C").output();
            let output = output.map_err(|source| self.failed(source))?;
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            Ok(text.lines().next().unwrap_or_default().to_string())
        };
        Ok(format!("{}\n{}\n", said("--version")?, said("-print-prog-name=ld.lld")?))
    }

    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command
    }

    pub(super) fn failed(&self, source: io::Error) -> Error {
        Error::Program { program: self.program.clone(), source }
    }
}

/// Returns the version of clang: `Debian clang version 19.1.7 (3)` has 19.
fn clang_version(text: &str) -> Option<u32> {
    let (_, version) = text.split_once("clang version ")?;
    version.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// Returns the compiler that the environment names, for this language or for the other one.
fn named(language: Language) -> Option<Vec<OsString>> {
    let words = |name: &str| {
        let value = std::env::var_os(name).filter(|value| !value.is_empty())?;
        // A path may have a blank in it.
        if Path::new(&value).is_file() {
            return Some(vec![value]);
        }
        let words = value.as_bytes().split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        Some(words.map(|word| OsStr::from_bytes(word).into()).collect::<Vec<OsString>>())
            .filter(|words| !words.is_empty())
    };
    let (own, other) = match language {
        Language::C => ("GRAMJET_CC", "GRAMJET_CXX"),
        Language::Cxx => ("GRAMJET_CXX", "GRAMJET_CC"),
    };
    words(own).or_else(|| {
        let mut words = words(other)?;
        let last = words.last_mut()?;
        *last = in_language(last, language)?;
        find(&words[0]).is_ok().then_some(words)
    })
}

/// Returns the compiler for the other language: `clang++-19` for `clang-19`, and the other way round.
fn in_language(compiler: &OsStr, language: Language) -> Option<OsString> {
    let path = Path::new(compiler);
    let name = path.file_name()?.to_str()?;
    let names = [("clang++", "clang"), ("g++", "gcc")];
    let name = names.iter().find_map(|&(cxx, c)| match language {
        Language::Cxx => name.contains(c).then(|| name.replacen(c, cxx, 1)),
        Language::C => name.contains(cxx).then(|| name.replacen(cxx, c, 1)),
    })?;
    Some(path.with_file_name(name).into_os_string())
}

fn newest(language: Language, cache: &Cache) -> Result<Compiler, Error> {
    let (clang, gcc) = match language {
        Language::C => ("clang", "gcc"),
        Language::Cxx => ("clang++", "g++"),
    };
    let of = |name: &str| find(OsStr::new(name)).ok().map(|path| Compiler::of(vec![path.into()], cache)).transpose();
    let plain = of(clang)?;
    let least = match &plain {
        Some(Compiler { kind: CompilerKind::Clang(version), .. }) => version + 1,
        _ => *CLANGS.start(),
    };
    for version in CLANGS.rev().take_while(|&version| version >= least) {
        if let Some(newer) = of(&format!("{clang}-{version}"))? {
            return Ok(newer);
        }
    }
    let found = plain.map_or_else(|| of(gcc), |plain| Ok(Some(plain)))?;
    found.ok_or_else(|| {
        Error::Build(format!("neither {clang} nor {gcc} is installed; GRAMJET_CC and GRAMJET_CXX name compilers"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_clang_are_known() {
        assert_eq!(clang_version("Debian clang version 19.1.7 (3~deb12u1)"), Some(19));
        assert_eq!(clang_version("gcc (Debian 12.2.0-14) 12.2.0"), None);
    }

    #[test]
    fn compilers_of_both_languages_have_like_names() {
        let cxx = |name: &str| in_language(OsStr::new(name), Language::Cxx);
        assert_eq!(cxx("/usr/bin/clang-19"), Some("/usr/bin/clang++-19".into()));
        assert_eq!(cxx("x86_64-linux-gnu-gcc"), Some("x86_64-linux-gnu-g++".into()));
        assert_eq!(in_language(OsStr::new("g++-12"), Language::C), Some("gcc-12".into()));
    }
}
