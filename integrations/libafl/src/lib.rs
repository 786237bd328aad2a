//! gramjet for LibAFL. The fuzzer's inputs are choice bytes, in LibAFL's own [`BytesInput`], so that all of its stages,
//! schedulers and corpora serve them; the target gets the text that they stand for.
//!
//! | LibAFL asks for | here |
//! |---|---|
//! | inputs | [`BytesInput`], from a text by [`Grammar::import`] |
//! | a generator | [`ChoicesGenerator`] |
//! | a mutator | [`StructureMutator`], for a stage of its own: it is not meant to be stacked by a scheduled mutator |
//! | a converter | [`Renderer`], for executors that send bytes to a process; in-process harnesses call [`Renderer::render`] |
//!
//! ```
//! use gramjet_libafl::Grammar;
//!
//! let grammar = Grammar::compile("list.ebnf", "list ::= '[' (item (',' item)*)? ']'  item ::= [a-z] | list")?;
//! let input = grammar.import(b"[a,[b]]")?;
//! assert_eq!(grammar.renderer().render(input.as_ref()), b"[a,[b]]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::Path;

use gramjet::{Limits, Producer};
use gramjet_compiler::files::GrammarFile;
use gramjet_compiler::{Compiled, compile};
use gramjet_engine::{Fastest, Tracer};
use gramjet_parse::{Budget, ParseError, Parser};
use libafl::inputs::BytesInput;

mod generator;
mod mutator;
mod renderer;

pub use generator::ChoicesGenerator;
/// Options with which a grammar is read.
pub use gramjet_compiler::{Options, formats::FormatOptions};
pub use mutator::StructureMutator;
pub use renderer::Renderer;

/// A grammar, from which the other parts are made. There are no limits on depth and length: inputs are bounded by the
/// number of their choice bytes, after which they are completed in the shortest way.
#[derive(Clone, Debug)]
pub struct Grammar {
    producer: Fastest,
    tracer: Tracer,
    parser: Parser,
    warnings: String,
}

/// Reason why there is no grammar.
#[derive(Debug, thiserror::Error)]
pub enum GrammarError {
    /// The file could not be read.
    #[error(transparent)]
    Unreadable(Box<gramjet_compiler::files::Unreadable>),
    /// Grammar that does not compile; the text of several lines says what is wrong and where.
    #[error("{0}")]
    Compile(String),
}

impl Grammar {
    /// Returns the grammar in a file. Files that it refers to are in the same directory.
    ///
    /// # Errors
    ///
    /// If it cannot be read or does not compile.
    pub fn load(path: &Path) -> Result<Grammar, GrammarError> {
        Grammar::load_with(path, Options::default())
    }

    /// Returns the grammar in a file with a start rule or a notation of your choice, or read for texts from elsewhere.
    /// [`Grammar::import`] accepts such texts of ANTLR grammars only with the reading [`FormatOptions::of_others`].
    ///
    /// # Errors
    ///
    /// If it cannot be read or does not compile.
    pub fn load_with(path: &Path, options: Options) -> Result<Grammar, GrammarError> {
        let file = GrammarFile::read(path).map_err(|unreadable| GrammarError::Unreadable(Box::new(unreadable)))?;
        let loader = options.loader.clone().or_else(|| file.loader());
        Grammar::of_file(&file, &Options { loader, ..options })
    }

    /// Returns the grammar that `text` holds, in the notation that the name's extension or the text tells.
    ///
    /// # Errors
    ///
    /// If it does not compile.
    pub fn compile(name: &str, text: &str) -> Result<Grammar, GrammarError> {
        Grammar::of_file(&GrammarFile::text(name, text), &Options::default())
    }

    fn of_file(file: &GrammarFile, options: &Options) -> Result<Grammar, GrammarError> {
        match compile(&file.source, options) {
            Ok((compiled, warnings)) => {
                Ok(Grammar { warnings: warnings.to_plain_text(&file.source), ..Grammar::of(&compiled) })
            }
            Err(diagnostics) => Err(GrammarError::Compile(diagnostics.to_plain_text(&file.source))),
        }
    }

    /// Returns a grammar that was compiled.
    pub fn of(compiled: &Compiled) -> Grammar {
        let (producer, mut tracer) = (Fastest::with_limits(compiled, Limits::new()), Tracer::new(compiled));
        // A grammar can always do without limits.
        let _ = tracer.set_limits(Limits::new());
        Grammar { producer, tracer, parser: Parser::new(&compiled.lowered), warnings: String::new() }
    }

    /// Returns warnings about the grammar, as text of several lines; empty if there are none.
    pub fn warnings(&self) -> &str {
        &self.warnings
    }

    /// Returns a renderer of inputs.
    pub fn renderer(&self) -> Renderer {
        Renderer::new(self.producer.clone())
    }

    /// Returns a generator of inputs of at most `max_choices` choice bytes.
    pub fn generator(&self, max_choices: usize) -> ChoicesGenerator {
        ChoicesGenerator::new(self.producer.clone(), max_choices)
    }

    /// Returns a mutator.
    pub fn mutator(&self) -> StructureMutator {
        StructureMutator::new(self.tracer.clone())
    }

    /// Returns the input for a text.
    ///
    /// # Errors
    ///
    /// If the text does not conform to the grammar, or costs too much to parse.
    pub fn import(&self, text: &[u8]) -> Result<BytesInput, ParseError> {
        self.parser.parse(text, &Budget::default()).map(|parsed| BytesInput::new(parsed.choices))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_kept() {
        let grammar = Grammar::compile("list.ebnf", "list ::= '[' list? ']'  other ::= 'x'").expect("it compiles");
        assert!(grammar.warnings().contains("rule `other` cannot be reached"), "{}", grammar.warnings());
    }

    #[test]
    fn grammars_come_with_the_files_beside_them() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/tests/grammars/NotesParser.g4");
        let grammar = Grammar::load(&path).expect("its lexer stands beside it");
        assert_eq!(grammar.renderer().render(&[]), b" <a a>");
        assert!(grammar.import(b"x<a   b>").is_err());
        let options = Options { reading: FormatOptions::of_others(), ..Options::default() };
        let others = Grammar::load_with(&path, options).expect("its lexer stands beside it");
        let input = others.import(b"x<a   b>").expect("the lexer hides blanks");
        assert_eq!(others.renderer().render(input.as_ref()), b"x<a   b>");
    }
}
