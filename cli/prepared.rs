//! A grammar that a command has read: its text, its compile options, its limits, and the compiled form, which is made
//! once.

use std::cell::OnceCell;
use std::sync::Arc;

use gramjet_compiler::ast::Grammar;
use gramjet_compiler::check::check;
use gramjet_compiler::files::Unreadable;
use gramjet_compiler::formats::{self, FormatOptions, Loader, Surroundings, ZeroWeights};
use gramjet_compiler::shape::{ByDefault, Weighting};
use gramjet_compiler::tokens::{Alphabet, SeparatorPolicy};
use gramjet_compiler::{Compiled, Diagnostics, Examined, Options, SourceFile};
use gramjet_session::Language;

use crate::arguments::grammar::{GrammarArgs, ReadingArgs};
use crate::arguments::limits::LimitArgs;
use crate::failure::{Failure, say};
use crate::files;
use crate::limits::Applied;
use crate::report;
use crate::source::Source;

/// A grammar, and all that is asked for it.
pub struct Prepared {
    /// Its text.
    pub source: Source,
    /// Options that it is compiled with.
    pub options: Options,
    /// The limits that are asked for.
    pub limits: LimitArgs,
    compiled: OnceCell<Compiled>,
}

impl Prepared {
    /// Returns the grammar that the arguments name.
    pub fn load(args: &GrammarArgs, limits: &LimitArgs) -> Result<Prepared, Failure> {
        Prepared::new(Source::load(args)?, args, limits)
    }

    /// Returns a grammar as the arguments say that it is read. Lengths are computed under the limits.
    pub fn new(source: Source, args: &GrammarArgs, limits: &LimitArgs) -> Result<Prepared, Failure> {
        let options = options(&source, args, limits)?;
        Ok(Prepared { source, options, limits: *limits, compiled: OnceCell::new() })
    }

    /// Returns the grammar with its own weights, unless others are asked for.
    #[must_use]
    pub fn with_own_weights(mut self) -> Prepared {
        if let Weighting::ByDefault = self.options.weighting {
            self.options.weighting = Weighting::Own;
        }
        self
    }

    /// Returns true if it is compiled with the grammar's own weights.
    pub fn has_own_weights(&self) -> bool {
        matches!(self.options.weighting, Weighting::Own)
    }

    /// Returns the language with the grammar's own weights, whatever is asked for: other weights split repetitions by
    /// their numbers of rounds, and no part of such a repetition can be repeated any number of times.
    pub fn with_whole_repetitions(&self) -> Result<Language, Failure> {
        let mut options = Options { weighting: Weighting::Own, ..self.options.clone() };
        options.reading.zero_weights = self.options.zero_weights();
        let compiled = gramjet_compiler::compile(&self.source.file, &options);
        let (compiled, _) = compiled.map_err(|diagnostics| self.refuse(&diagnostics))?;
        Ok(Language::unlimited(&compiled, &options))
    }

    /// Returns the grammar with the weights of a file.
    #[must_use]
    pub fn with_weights(mut self, file: SourceFile) -> Prepared {
        self.options.weighting = Weighting::File(file);
        Prepared { compiled: OnceCell::new(), ..self }
    }

    /// Returns the compiled grammar. The first call prints the warnings.
    pub fn compile(&self) -> Result<&Compiled, Failure> {
        self.compile_and(|warnings| report::print(&self.source.file, warnings))
    }

    /// Returns the compiled grammar for commands that make random inputs. The first call prints the warnings. If the
    /// user asked for no weights and the default may surprise, it prints this default, too.
    pub fn compile_for_inputs(&self) -> Result<&Compiled, Failure> {
        let is_new = !self.is_compiled();
        let compiled = self.compile()?;
        if let (true, Some(decision)) = (is_new, compiled.by_default.filter(ByDefault::is_surprising)) {
            say!("gramjet: {}", report::weights_by_default(&decision));
        }
        Ok(compiled)
    }

    /// Returns the compiled grammar, without printing warnings.
    pub fn compiled(&self) -> Result<&Compiled, Failure> {
        self.compile_and(|_| {})
    }

    fn compile_and(&self, tell: impl Fn(&Diagnostics)) -> Result<&Compiled, Failure> {
        if let Some(compiled) = self.compiled.get() {
            return Ok(compiled);
        }
        let result = gramjet_compiler::compile(&self.source.file, &self.options);
        let (compiled, warnings) = result.map_err(|diagnostics| self.refuse(&diagnostics))?;
        tell(&warnings);
        Ok(self.compiled.get_or_init(|| compiled))
    }

    /// Returns true if it was compiled.
    pub fn is_compiled(&self) -> bool {
        self.compiled.get().is_some()
    }

    /// Returns true if it is read as it is, from its own start rule and with its own weights.
    pub fn is_unchanged(&self) -> bool {
        let Options { start, tokens, weighting, .. } = &self.options;
        start.is_none() && tokens.is_none() && matches!(weighting, Weighting::Own | Weighting::ByDefault)
    }

    /// Returns the setting for alternatives of weight 0, as `--zero-weights` names it.
    pub fn zero_weights(&self) -> &'static str {
        let setting = self.options.zero_weights();
        ZeroWeights::ALL.iter().find(|(_, one)| *one == setting).map_or("drop", |(name, _)| name)
    }

    /// Examines the grammar closely; all diagnostics, and the findings if it compiles.
    pub fn examine(&self) -> (Option<Examined>, Diagnostics) {
        match gramjet_compiler::examine(&self.source.file, &self.options) {
            Ok((examined, diagnostics)) => (Some(examined), diagnostics),
            Err(diagnostics) => (None, diagnostics),
        }
    }

    /// Returns the grammar as it is written, from the start rule that is asked for.
    pub fn read(&self, diagnostics: &mut Diagnostics) -> Grammar {
        read(&self.source.file, self.source.loader.as_ref(), &self.options, diagnostics)
    }

    /// Reads another text as this grammar was read; `None` if the text is no grammar.
    pub fn reader(&self) -> impl Fn(&str) -> Option<Grammar> + Send + Sync + 'static {
        let (name, loader) = (self.source.file.name().to_string(), self.source.loader.clone());
        let format = self.options.format.unwrap_or_else(|| formats::detect(&self.source.file));
        let options = Options { format: Some(format), ..self.options.clone() };
        move |text| {
            let mut diagnostics = Diagnostics::default();
            let grammar = read(&SourceFile::new(name.clone(), text), loader.as_ref(), &options, &mut diagnostics);
            (!diagnostics.has_errors()).then_some(grammar)
        }
    }

    /// Returns the limits in force: those of the arguments, otherwise those of the grammar file. A grammar that is not
    /// compiled yet is parsed for them.
    pub fn wanted(&self) -> Applied {
        let parsed = || {
            let format = self.options.format.unwrap_or_else(|| formats::detect(&self.source.file));
            format.parse(&self.source.file, &mut Diagnostics::default()).directives()
        };
        Applied::wanted(&self.limits, self.compiled.get().map_or_else(parsed, Compiled::directives))
    }

    /// Prints why the grammar does not compile.
    pub fn refuse(&self, diagnostics: &Diagnostics) -> Failure {
        report::print(&self.source.file, diagnostics);
        report::does_not_compile(&self.source.file, diagnostics)
    }
}

fn options(source: &Source, args: &GrammarArgs, limits: &LimitArgs) -> Result<Options, Failure> {
    let how = &args.how;
    let weighting = match (&how.shape.weights, how.shape.shape) {
        (Some(path), _) => {
            if path.as_os_str() == "-" && args.grammar == "-" {
                let both = "the grammar and the weights cannot both come from standard input";
                return Err(Unreadable::new("<stdin>", both).into());
            }
            Weighting::File(files::read_weights(path)?)
        }
        (None, Some(shape)) => Weighting::Shape(shape),
        (None, None) => Weighting::ByDefault,
    };
    Ok(Options {
        format: source.known_format(how),
        start: how.start.clone(),
        reading: reading(&how.reading),
        // Other files are looked for next to the grammar; this one is where the user says.
        tokens: how
            .reading
            .tokens
            .as_ref()
            .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()).to_string_lossy().into_owned()),
        loader: source.loader.clone(),
        weighting,
        limits: limits.assumed(),
        ..Options::default()
    })
}

/// Returns a grammar as it is written, from the start rule that is asked for.
fn read(
    file: &SourceFile,
    loader: Option<&Arc<dyn Loader + Send + Sync>>,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Grammar {
    let (start, tokens) = (options.start.as_deref(), options.tokens.as_deref());
    let surroundings = Surroundings { options: options.reading, start, tokens, ..Surroundings::default() };
    let surroundings = match loader {
        Some(loader) => Surroundings { loader: loader.as_ref(), ..surroundings },
        None => surroundings,
    };
    let (_, mut grammar) = formats::read_as(options.format, file, &surroundings, diagnostics);
    let start = check(&grammar, options.start.as_deref(), diagnostics)
        .map(|checked| checked.grammar.rules[checked.start].name.clone());
    if options.start.is_some() {
        grammar.start = start;
    }
    grammar
}

fn reading(args: &ReadingArgs) -> FormatOptions {
    FormatOptions {
        strict: args.strict,
        separators: args.separator_policy.as_deref().and_then(SeparatorPolicy::by_name).unwrap_or_default(),
        alphabet: args.alphabet.as_deref().and_then(Alphabet::by_name),
        indent: args.indent.unwrap_or_default(),
        zero_weights: args.zero_weights.as_deref().and_then(ZeroWeights::by_name).unwrap_or_default(),
    }
}
