//! Compiles grammars to Rust producers from a build script.
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), gramjet_compiler::build::Error> {
//!     gramjet_compiler::build::Grammar::new("grammars/json.ebnf").max_depth(16).compile("json.rs")
//! }
//! ```
//!
//! ```ignore
//! // src/lib.rs
//! pub mod json {
//!     include!(concat!(env!("OUT_DIR"), "/json.rs"));
//! }
//! ```

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use crate::backend::rust::{EmitOptions, emit};
use crate::files::{GrammarFile, Unreadable, read_text};
use crate::formats::FormatOptions;
use crate::shape::{Shape, Weighting};
use crate::{Options, compile, formats};

/// A grammar file and the options to compile it with.
#[derive(Clone, Debug)]
pub struct Grammar {
    path: PathBuf,
    start: Option<String>,
    format: Option<String>,
    reading: FormatOptions,
    tokens: Option<String>,
    shape: Option<Shape>,
    weights: Option<PathBuf>,
    emit: EmitOptions,
}

/// Reason why a grammar was not compiled. Its `Debug` form is the message too: that is what a build script's `main`
/// prints.
#[derive(thiserror::Error)]
pub enum Error {
    /// The grammar, or the file of weights, cannot be read.
    #[error("{0}")]
    Unreadable(Box<Unreadable>),
    /// The result could not be written.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Error that the file gave.
        error: io::Error,
    },
    /// There is no such format.
    #[error("{}", formats::unknown(.0))]
    UnknownFormat(String),
    /// The grammar has errors; the text shows all of them.
    #[error("{0}")]
    Grammar(String),
    /// The function was not called from a build script.
    #[error("OUT_DIR is not set: call this from a build script")]
    NoOutDir,
}

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl From<Unreadable> for Error {
    fn from(unreadable: Unreadable) -> Error {
        Error::Unreadable(Box::new(unreadable))
    }
}

impl Grammar {
    /// Returns the grammar in this file; the path is relative to the package's manifest.
    pub fn new(path: impl AsRef<Path>) -> Grammar {
        Grammar {
            path: path.as_ref().to_path_buf(),
            start: None,
            format: None,
            reading: FormatOptions::default(),
            tokens: None,
            shape: None,
            weights: None,
            emit: EmitOptions::default(),
        }
    }

    /// Produces from this rule instead of the grammar's own start rule.
    #[must_use]
    pub fn start(self, rule: impl Into<String>) -> Grammar {
        Grammar { start: Some(rule.into()), ..self }
    }

    /// Reads the file in this format, whatever its extension.
    #[must_use]
    pub fn format(self, name: impl Into<String>) -> Grammar {
        Grammar { format: Some(name.into()), ..self }
    }

    /// Reads the file with these options: separators between tokens, alphabet, indentation, strictness.
    #[must_use]
    pub fn reading(self, options: FormatOptions) -> Grammar {
        Grammar { reading: options, ..self }
    }

    /// Reads the texts of tokens from this file, which stands beside the grammar. For formats that leave these texts
    /// out (yacc, Lark, tree-sitter, ANTLR).
    #[must_use]
    pub fn tokens(self, name: impl Into<String>) -> Grammar {
        Grammar { tokens: Some(name.into()), ..self }
    }

    /// Gives the alternatives weights so that inputs have this shape. Takes the place of a file of weights.
    #[must_use]
    pub fn shape(self, shape: Shape) -> Grammar {
        Grammar { shape: Some(shape), weights: None, ..self }
    }

    /// Takes the weights from this file, written by `gramjet weights`. The path is relative to the package's manifest.
    #[must_use]
    pub fn weights(self, path: impl AsRef<Path>) -> Grammar {
        Grammar { weights: Some(path.as_ref().to_path_buf()), shape: None, ..self }
    }

    /// Sets the depth limit of producers that get no other limit. For a limit up to 16, extra code that keeps only this
    /// limit is emitted, which is faster than the code for any limit.
    #[must_use]
    pub fn max_depth(mut self, depth: u32) -> Grammar {
        self.emit.max_depth = Some(depth);
        self
    }

    /// Sets the length limit in bytes of producers that get no other limit.
    #[must_use]
    pub fn max_len(mut self, bytes: u64) -> Grammar {
        self.emit.max_len = Some(bytes);
        self
    }

    /// Sets the path of the `gramjet` library in the code, where it is not `::gramjet`: `::gj` for a dependency called
    /// `gj`.
    #[must_use]
    pub fn library(mut self, path: impl Into<String>) -> Grammar {
        self.emit.library = Some(path.into());
        self
    }

    /// Emits no unsafe code.
    #[must_use]
    pub fn forbid_unsafe(mut self) -> Grammar {
        self.emit.forbid_unsafe = true;
        self
    }

    /// Returns the text of the producer's module. Warnings about the grammar are printed for Cargo to show.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or the grammar has errors.
    pub fn emit(&self) -> Result<String, Error> {
        let read = GrammarFile::read(&self.path)?;
        let format = match &self.format {
            Some(name) => Some(formats::by_name(name).ok_or_else(|| Error::UnknownFormat(name.clone()))?),
            None => None,
        };
        let weighting = match (&self.weights, self.shape) {
            (Some(path), _) => Weighting::File(read_text("weights", path, path)?),
            (None, Some(shape)) => Weighting::Shape(shape),
            (None, None) => Weighting::Own,
        };
        let options = Options {
            format,
            weighting,
            limits: self.emit.asked(),
            start: self.start.clone(),
            reading: self.reading,
            tokens: self.tokens.clone(),
            loader: read.loader(),
            ..Options::default()
        };
        let file = &read.source;
        let result = compile(file, &options);
        // The build script runs again when one of these files changes, or when a file appears that the grammar looked
        // for.
        for path in read.others().into_iter().chain(read.unread()) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        let (compiled, warnings) = result.map_err(|errors| Error::Grammar(errors.to_plain_text(file)))?;
        for warning in warnings.iter() {
            for line in warning.to_plain_text(file).lines() {
                println!("cargo::warning={line}");
            }
        }
        self.emit.check(&compiled).map_err(|problem| Error::Grammar(format!("{}: {problem}", file.name())))?;
        if let Some(warning) = self.emit.warning(&compiled) {
            println!("cargo::warning={}: {warning}", file.name());
        }
        Ok(emit(&compiled, &self.emit))
    }

    /// Writes the producer's module to the file `name` in the directory `OUT_DIR`. The build script runs again when the
    /// grammar changes.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, the grammar has errors, or the result cannot be written.
    pub fn compile(&self, name: impl AsRef<Path>) -> Result<(), Error> {
        for path in std::iter::once(&self.path).chain(&self.weights) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        let out = PathBuf::from(env::var_os("OUT_DIR").ok_or(Error::NoOutDir)?).join(name);
        fs::write(&out, self.emit()?).map_err(|error| Error::Io { path: out, error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_and_weights_change_what_is_emitted() {
        let folder = env::temp_dir().join(format!("gramjet-build-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary directory");
        let (grammar, weights) = (folder.join("t.ebnf"), folder.join("t.weights"));
        fs::write(&grammar, "t ::= 'a' | t t").expect("a file");
        fs::write(&weights, "{}").expect("a file");
        let emitted = |grammar: Grammar| grammar.emit().map_err(|error| error.to_string());
        let own = emitted(Grammar::new(&grammar)).expect("it compiles");
        let balanced = emitted(Grammar::new(&grammar).shape(Shape::Balanced)).expect("it compiles");
        assert!(own != balanced);
        let refused = emitted(Grammar::new(&grammar).weights(&weights)).expect_err("no weights");
        assert!(refused.contains("invalid-weights"), "{refused}");
        let missing = emitted(Grammar::new(&grammar).weights(folder.join("none"))).expect_err("no file");
        assert!(missing.contains("none"), "{missing}");
        fs::remove_dir_all(&folder).expect("it was made above");
    }
}
