//! A grammar by its path, its name or its text, with its parser and producer.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use gramjet::choices::{Header, HeaderError};
use gramjet::{Choices, Limits, LimitsError, Producer};
use gramjet_compiler::check::closest;
use gramjet_compiler::files::{Beside, GrammarFile, Named, Unreadable, look_up};
use gramjet_compiler::formats::ebnf::Ebnf;
use gramjet_compiler::formats::{self, Format, FormatOptions};
use gramjet_compiler::ir::{Ir, NodeId};
use gramjet_compiler::limits::AssumedLimits;
use gramjet_compiler::shape::{Shape, Weighting};
use gramjet_compiler::{Compiled, Fingerprints, Options, SourceFile, compile};
use gramjet_engine::Tracer;
use gramjet_engine::decisions::{Derivation, Deriver};
use gramjet_engine::kind::{Engine, EngineKind};
use gramjet_engine::recorded::{Foreign, Recipe};
use gramjet_parse::{Budget, ParseError, Parser};

use crate::parsing::ParsingTracer;

/// A limit that can be left to the grammar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bound {
    /// The limit of the grammar file; without one there, the usual depth, and no length.
    #[default]
    Default,
    /// No limit.
    Unlimited,
    /// This limit.
    At(u64),
}

/// Returns the limits of choice bytes that stand for their text whatever its depth and length.
fn unlimited() -> Limits {
    Limits::new().max_choices(u64::MAX)
}

/// Settings with which a grammar is read and run.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The notation, by its name; found from the file's extension and text if not given.
    pub format: Option<String>,
    /// The start rule, in place of the grammar's own.
    pub start: Option<String>,
    /// No rule more than this many references below the start rule is expanded in generated inputs.
    pub max_depth: Bound,
    /// No generated text is longer, in bytes.
    pub max_len: Bound,
    /// The engine that runs the grammar.
    pub engine: EngineKind,
    /// Reading of formats with a lexer. Choice bytes have a meaning only under the reading that they were made with. It
    /// is [`FormatOptions::default`] for the commands that generate, and [`FormatOptions::of_others`] for those that
    /// parse.
    pub reading: FormatOptions,
    /// The path of a file with the derivations of tokens that the grammar only names.
    pub tokens: Option<String>,
    /// The shape of inputs, in place of the grammar's own weights; without one, the usual shape of the grammar
    /// ([`Weighting::ByDefault`]).
    pub shape: Option<Shape>,
    /// Without a shape, the grammar's own weights, even if its inputs are far too long or too short. Searches choose
    /// lengths by themselves, and can repeat any part only if a repetition is not split by its number of rounds.
    pub own_weights: bool,
}

/// A grammar with its parser and producer. A clone shares them; it can be used from many threads.
#[derive(Clone, Debug)]
pub struct Language {
    pub(crate) parser: Arc<Parser>,
    pub(crate) tracer: Tracer,
    pub(crate) engine: Engine,
    tokens: Arc<[Box<[u8]>]>,
    limits: Limits,
    warnings: String,
    fingerprints: Fingerprints,
    recipe: Arc<Recipe>,
}

/// Reason why choice bytes with a header cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The header cannot be read.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// They belong to another grammar, or to one that was read in another way.
    #[error(transparent)]
    Foreign(#[from] Foreign),
    /// The limits of the recording cannot be kept.
    #[error(transparent)]
    Limits(#[from] LimitsError),
}

/// Reason why there is no language.
#[derive(Debug, thiserror::Error)]
pub enum LanguageError {
    /// There is no such file and no such shipped grammar.
    #[error("grammar `{name}` not found: neither a file nor one of the shipped grammars{hint}")]
    NotFound {
        /// The name that was asked for.
        name: String,
        /// Names that may have been meant, or the names of the grammars that ship.
        hint: String,
    },
    /// The file could not be read.
    #[error(transparent)]
    Unreadable(Box<Unreadable>),
    /// The grammar does not compile; the text of several lines says what is wrong and where.
    #[error("{0}")]
    Grammar(String),
    /// A setting cannot be used.
    #[error("{0}")]
    Setting(String),
    /// The limits cannot be kept.
    #[error(transparent)]
    Limits(#[from] LimitsError),
}

impl Language {
    /// Returns the grammar in a file, or the one that ships under this name.
    ///
    /// # Errors
    ///
    /// If it is not there or does not compile, or if the settings cannot be used.
    pub fn load(name: &OsStr, settings: &Settings) -> Result<Language, LanguageError> {
        match look_up(name, gramjet_grammars::by_name) {
            Named::Shipped(shipped) => {
                let format = settings.format.clone().or_else(|| Some(Ebnf.name().to_string()));
                let file = SourceFile::new(format!("<{}>", shipped.name), shipped.text);
                Language::compile(&file, &Settings { format, ..settings.clone() })
            }
            Named::File => {
                let file = GrammarFile::read(Path::new(name))
                    .map_err(|unreadable| LanguageError::Unreadable(Box::new(unreadable)))?;
                Language::compile_file(&file, settings)
            }
            Named::Nothing => {
                let names: Vec<&str> = gramjet_grammars::SHIPPED.iter().map(|shipped| shipped.name).collect();
                let name = Path::new(name).display().to_string();
                let hint = match closest(&name, names.iter().copied()) {
                    Some(similar) => format!("; did you mean `{similar}`?"),
                    None => format!(" ({})", names.join(", ")),
                };
                Err(LanguageError::NotFound { name, hint })
            }
        }
    }

    /// Returns the grammar that `file` holds; grammars of several files need [`Language::load`].
    ///
    /// # Errors
    ///
    /// If it does not compile, or if the settings cannot be used.
    pub fn compile(file: &SourceFile, settings: &Settings) -> Result<Language, LanguageError> {
        // A file of tokens is read where the settings say; the grammar itself has no place.
        let beside = settings.tokens.is_some().then(|| Arc::new(Beside::new("".into(), "".into())));
        Language::compile_file(&GrammarFile { source: file.clone(), beside }, settings)
    }

    fn compile_file(file: &GrammarFile, settings: &Settings) -> Result<Language, LanguageError> {
        let format = match &settings.format {
            None => None,
            Some(name) => Some(formats::by_name(name).ok_or_else(|| LanguageError::Setting(formats::unknown(name)))?),
        };
        let start = settings.start.clone();
        let weighting = match settings.shape {
            Some(shape) => Weighting::Shape(shape),
            None if settings.own_weights => Weighting::Own,
            None => Weighting::ByDefault,
        };
        let options = Options {
            format,
            start,
            reading: settings.reading,
            tokens: settings.tokens.as_ref().map(absolute),
            loader: file.loader(),
            weighting,
            limits: assumed(settings)?,
            ..Options::default()
        };
        let file = &file.source;
        let (compiled, warnings) =
            compile(file, &options).map_err(|diagnostics| LanguageError::Grammar(diagnostics.to_plain_text(file)))?;
        let engine = settings.engine.make(&compiled).map_err(|refusal| LanguageError::Setting(refusal.to_string()))?;
        let has_pools = compiled.rule_without_pool().is_none();
        let decided = options.limits.in_force(compiled.directives(), has_pools).limits;
        let limits = Limits::with(decided.max_depth, decided.max_len);
        limits.check(compiled.min_len(), compiled.rule_without_pool())?;
        let mut warnings = warnings.to_plain_text(file);
        if let Some(decision) = compiled.by_default.filter(|decision| decision.is_surprising()) {
            let otherwise = if decision.is_shaped { " (otherwise: the shape `uniform`)" } else { "" };
            let line_end = if warnings.is_empty() { "" } else { "\n" };
            warnings += &format!("{line_end}{decision}{otherwise}\n");
        }
        Ok(Language {
            parser: Arc::new(Parser::new(&compiled.lowered)),
            tracer: Tracer::new(&compiled),
            engine,
            tokens: tokens(&compiled.lowered),
            limits,
            warnings,
            fingerprints: compiled.fingerprints,
            recipe: Arc::new(Recipe::new(&compiled, &options)),
        })
    }

    /// Returns a grammar that was compiled with these options; its inputs have no limits on depth and length.
    pub fn unlimited(compiled: &Compiled, options: &Options) -> Language {
        Language {
            parser: Arc::new(Parser::new(&compiled.lowered)),
            tracer: Tracer::new(compiled),
            engine: Engine::fastest(compiled, unlimited()),
            tokens: tokens(&compiled.lowered),
            limits: unlimited(),
            warnings: String::new(),
            fingerprints: compiled.fingerprints,
            recipe: Arc::new(Recipe::new(compiled, options)),
        }
    }

    /// Returns the language with these limits on inputs.
    ///
    /// # Errors
    ///
    /// If they cannot be kept.
    pub fn with_limits(mut self, limits: Limits) -> Result<Language, LimitsError> {
        self.tracer.clone().set_limits(limits)?;
        self.limits = limits;
        Ok(self)
    }

    /// Returns the limits of inputs.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns warnings about the grammar; empty if there are none.
    pub fn warnings(&self) -> &str {
        &self.warnings
    }

    /// Returns the literal strings of the grammar, ascending: not the empty one, and none that is longer than 64 bytes.
    pub fn tokens(&self) -> &[Box<[u8]>] {
        &self.tokens
    }

    /// Returns a fingerprint: the same for grammars under which the same choice bytes have the same meaning.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprints.choices
    }

    /// Returns the name of the engine that runs it.
    pub fn engine_name(&self) -> &'static str {
        self.engine.kind().name()
    }

    /// Writes a header before choice bytes that stand for their text without limits on depth and length, as
    /// [`Language::parse`] finds them. The header says so.
    pub fn with_header(&self, choices: &[u8]) -> Vec<u8> {
        self.recipe.header(self.fingerprints, unlimited()).before(choices)
    }

    /// Returns the choice bytes of a file, and the limits under which they stand for their text if it has a header.
    ///
    /// # Errors
    ///
    /// If the header cannot be read or is not one for this grammar.
    pub fn without_header<'f>(&self, file: &'f [u8]) -> Result<(Option<Limits>, &'f [u8]), ReplayError> {
        let (header, choices) = Header::split(file)?;
        if let Some(header) = &header {
            self.recipe.check(self.fingerprints, header)?;
        }
        Ok((header.map(|header| header.limits), choices))
    }

    /// Writes the text that choice bytes stand for. Their header, if they have one, gives the limits; otherwise
    /// `producer`, which must be one of this language, does. Returns how many choice bytes were read.
    ///
    /// # Errors
    ///
    /// If the header cannot be read, is not one for this grammar, or has limits that cannot be kept.
    pub fn replay(&self, producer: &mut dyn Producer, file: &[u8], text: &mut Vec<u8>) -> Result<u64, ReplayError> {
        let (limits, choices) = self.without_header(file)?;
        match limits {
            Some(limits) if limits != producer.limits() => {
                let mut other = self.engine.clone();
                other.set_limits(limits)?;
                Ok(other.produce(&mut Choices::replay(choices), text))
            }
            _ => Ok(producer.produce(&mut Choices::replay(choices), text)),
        }
    }

    /// Returns a producer with these limits in force.
    pub fn producer(&self) -> Box<dyn Producer + Send> {
        self.producer_within(self.limits)
    }

    /// Returns a producer with other limits. If they cannot be kept, its initial limits stay in force.
    pub(crate) fn producer_within(&self, limits: Limits) -> Box<dyn Producer + Send> {
        let mut producer = self.engine.clone();
        let _ = producer.set_limits(limits);
        Box::new(producer)
    }

    /// Returns a tracer without limits on depth and length.
    pub fn unlimited_tracer(&self) -> Tracer {
        let mut tracer = self.tracer.clone();
        // A language can always do without limits.
        let _ = tracer.set_limits(unlimited());
        tracer
    }

    /// Returns the length of the shortest text, in bytes.
    pub fn min_len(&self) -> u64 {
        self.tracer.min_len()
    }

    /// Derives texts of at most `max_len` bytes from decisions.
    pub fn deriver(&self, max_len: Option<u64>) -> Deriver {
        self.tracer.deriver(max_len)
    }

    /// Returns a tracer for searches for simpler texts, without limits on depth and length.
    pub fn parsing_tracer(&self) -> ParsingTracer<Box<dyn Producer + Send>> {
        ParsingTracer::new(self.unlimited_tracer(), self.producer_within(unlimited()), self.parser.clone())
    }

    /// Returns the choice bytes that produce a text, without limits on depth and length.
    ///
    /// # Errors
    ///
    /// If the text does not conform, or costs more than [`Budget::default`].
    pub fn parse(&self, text: &[u8]) -> Result<Vec<u8>, ParseError> {
        self.parse_within(text, &Budget::default())
    }

    /// Returns the derivation of a text with its parts, without limits on depth and length, by a deriver of this
    /// language; `None` if [`Language::parse`] refuses the text.
    pub fn derivation(&self, text: &[u8], deriver: &mut Deriver) -> Option<Derivation> {
        let mut derivation = Derivation::default();
        deriver.decode(&self.parse(text).ok()?, &mut derivation);
        Some(derivation)
    }

    /// Returns the choice bytes of a text after a header, for a file beside the text; `None` if [`Language::parse`]
    /// refuses the text.
    pub fn choices_beside(&self, text: &[u8]) -> Option<Vec<u8>> {
        self.parse(text).ok().map(|choices| self.with_header(&choices))
    }

    /// Returns true if something in the grammar follows from other parts of a text.
    pub fn has_labels(&self) -> bool {
        self.parser.has_labels()
    }

    /// Returns the choice bytes that produce a text with the right copies, lengths, counts and checksums, where its own
    /// are wrong. A text that conforms is parsed as it is.
    ///
    /// # Errors
    ///
    /// If the text does not conform otherwise, or costs more than [`Budget::default`].
    pub fn repair(&self, text: &[u8]) -> Result<Vec<u8>, ParseError> {
        self.parser.repair(text, &Budget::default()).map(|parsed| parsed.choices)
    }

    /// Returns the choice bytes that produce a text, without limits on depth and length.
    ///
    /// # Errors
    ///
    /// If the text does not conform, or costs more than the budget.
    pub fn parse_within(&self, text: &[u8], budget: &Budget) -> Result<Vec<u8>, ParseError> {
        self.parser.parse(text, budget).map(|parsed| parsed.choices)
    }
}

/// The literals of a grammar that are neither empty nor longer than this, in bytes.
const LONGEST_TOKEN: usize = 64;

fn tokens(lowered: &Ir) -> Arc<[Box<[u8]>]> {
    let literals = (0..lowered.node_count()).filter_map(|number| lowered.node(NodeId::new(number)).literal());
    let tokens: BTreeSet<&[u8]> = literals.filter(|bytes| (1..=LONGEST_TOKEN).contains(&bytes.len())).collect();
    tokens.into_iter().map(Box::from).collect()
}

/// Returns the limits that are set, in place of the grammar file's.
fn assumed(settings: &Settings) -> Result<AssumedLimits, LanguageError> {
    fn given<T>(
        bound: Bound,
        at: impl Fn(u64) -> Result<T, LanguageError>,
    ) -> Result<Option<Option<T>>, LanguageError> {
        Ok(match bound {
            Bound::Default => None,
            Bound::Unlimited => Some(None),
            Bound::At(value) => Some(Some(at(value)?)),
        })
    }
    let depth = |depth| {
        u32::try_from(depth).map_err(|_| LanguageError::Setting(format!("a maximum depth of {depth} is too large")))
    };
    Ok(AssumedLimits { max_depth: given(settings.max_depth, depth)?, max_len: given(settings.max_len, Ok)? })
}

/// Returns the path from the root: a relative one begins in the current directory, not in the directory of the grammar.
fn absolute(path: &String) -> String {
    std::path::absolute(path).map_or_else(|_| path.clone(), |path| path.to_string_lossy().into_owned())
}
