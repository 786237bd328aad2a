//! The fastest engine that takes a grammar at run time, and the short way to it from a grammar's text.

use std::sync::Arc;

use gramjet::{Batch, Choices, Limits, LimitsError, Producer};
use gramjet_compiler::formats::Format;
use gramjet_compiler::{Compiled, Options, SourceFile, compile};

use crate::directives::first_limits;
use crate::jit::{Jit, NotCompiled};
use crate::kind::Engine;

/// A producer on the fastest engine that takes its grammar: machine code, else the table interpreter. A clone shares
/// what was compiled.
#[derive(Clone, Debug)]
pub struct Fastest {
    engine: Engine,
    /// The compiler's warnings about the grammar, if they are known here.
    warnings: Option<Arc<str>>,
}

impl Fastest {
    /// Returns a producer with the limits that the grammar file asks for, else with the default depth limit.
    pub fn new(compiled: &Compiled) -> Fastest {
        Fastest::with_limits(compiled, first_limits(compiled))
    }

    /// Returns a producer with these limits; if the grammar cannot keep them, with those of [`Fastest::new`].
    pub fn with_limits(compiled: &Compiled, limits: Limits) -> Fastest {
        Fastest { engine: Engine::fastest(compiled, limits), warnings: None }
    }

    /// Returns the name of the engine: `jit` or `vm`.
    pub fn name(&self) -> &'static str {
        self.engine.kind().name()
    }

    /// Returns why it is not machine code, if it is not.
    pub fn refusal(&self) -> Option<&NotCompiled> {
        self.engine.refusal()
    }

    /// Returns warnings about a grammar that [`Grammar`] has compiled: rules that cannot be reached, parts of its
    /// notation beyond context-free grammars, and so on. A text of several lines, or empty if there are none.
    pub fn warnings(&self) -> &str {
        self.warnings.as_deref().unwrap_or_default()
    }

    /// Returns the machine code, if it is that.
    pub fn as_jit(&self) -> Option<&Jit> {
        self.engine.as_jit()
    }
}

impl Producer for Fastest {
    fn min_len(&self) -> u64 {
        self.engine.min_len()
    }

    fn limits(&self) -> Limits {
        self.engine.limits()
    }

    fn set_limits(&mut self, limits: Limits) -> Result<(), LimitsError> {
        self.engine.set_limits(limits)
    }

    fn produce(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>) -> u64 {
        self.engine.produce(choices, output)
    }

    fn produce_batch(&mut self, choices: &mut Choices<'_>, output: &mut Vec<u8>, batch: &mut Batch<'_>) -> u64 {
        self.engine.produce_batch(choices, output, batch)
    }
}

/// Grammars that come at run time.
///
/// ```
/// use gramjet::{Inputs, Limits, Producer};
/// use gramjet_engine::Grammar;
///
/// let mut sums = Grammar::compile("sum ::= number ('+' number)*  number ::= [1-9] [0-9]*")?;
/// sums.set_limits(Limits::new().max_len(20))?;
/// for input in Inputs::new(sums, 7).take(1000) {
///     assert!(!input.is_empty() && input.len() <= 20);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Grammar;

/// A grammar that does not compile; the text of several lines names the errors and their places.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GrammarError(String);

impl Grammar {
    /// Returns a producer for the grammar that `text` holds; its notation is found from the text. [`Fastest::warnings`]
    /// has what there is to say about it.
    ///
    /// # Errors
    ///
    /// If the grammar does not compile.
    pub fn compile(text: &str) -> Result<Fastest, GrammarError> {
        Grammar::compile_file(&SourceFile::new("grammar", text), None)
    }

    /// Returns a producer for the grammar in `file`, in the notation `format`; without that, the file's name and text
    /// decide.
    ///
    /// # Errors
    ///
    /// If the grammar does not compile.
    pub fn compile_file(file: &SourceFile, format: Option<&'static dyn Format>) -> Result<Fastest, GrammarError> {
        Grammar::compile_with(file, &Options { format, ..Options::default() })
    }

    /// Returns a producer for the grammar in `file`, with options: a shape or weights, a start rule, how the file is
    /// read.
    ///
    /// ```
    /// use gramjet::Inputs;
    /// use gramjet_engine::{Grammar, Options, Shape, SourceFile, Weighting};
    ///
    /// let file = SourceFile::new("list.ebnf", "list ::= '[' (list (',' list)*)? ']'");
    /// let options = Options { weighting: Weighting::Shape(Shape::TargetSize(200)), ..Options::default() };
    /// let lists = Grammar::compile_with(&file, &options)?;
    /// let bytes: usize = Inputs::new(lists, 7).take(1000).map(|input| input.len()).sum();
    /// assert!((150_000..250_000).contains(&bytes));
    /// # Ok::<(), gramjet_engine::GrammarError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the grammar does not compile.
    pub fn compile_with(file: &SourceFile, options: &Options) -> Result<Fastest, GrammarError> {
        match compile(file, options) {
            Ok((compiled, warnings)) => {
                let warnings = (!warnings.is_empty()).then(|| warnings.to_plain_text(file).into());
                Ok(Fastest { warnings, ..Fastest::new(&compiled) })
            }
            Err(diagnostics) => Err(GrammarError(diagnostics.to_plain_text(file))),
        }
    }
}
