//! The one place where the command line meets the compiler and the engines: compiles grammars and chooses what runs them.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser};
use gramjet::{Limits, LimitsError, Producer};
use gramjet_compiler::analysis::recursion::recursion;
use gramjet_compiler::backend::rust;
pub use gramjet_compiler::backend::rust::EmitOptions;
use gramjet_compiler::check::check;
use gramjet_compiler::diagnostics::Code;
use gramjet_compiler::formats::{self, FormatOptions, Surroundings};
use gramjet_compiler::print;
use gramjet_compiler::shape::{AssumedLimits, Weighting};
use gramjet_compiler::tokens::{Alphabet, SeparatorPolicy};
use gramjet_compiler::{Compiled, Diagnostics, Examined, Options};
use gramjet_engine::bulk::{Bulk, Effort, Framing, NotInBulk};
use gramjet_engine::coverage::Covering;
use gramjet_engine::jit::Jit;
use gramjet_engine::reference::Reference;
use gramjet_engine::vm::Vm;
use gramjet_engine::{Fastest, Tracer};
use gramjet_files::Unreadable;
use gramjet_generated::{SHIPPED, Shipped};
use gramjet_parse::Parser;

use crate::args::{EngineArgument, GrammarArgs, LimitArgs, ReadingArgs};
use crate::failure::{Failure, quoted, say};
use crate::grammar::{self, Source};
use crate::limits::wanted;
use crate::report;

/// The variable that asks for a map of the machine code for the profiler `perf`.
const PERF_MAP: &str = "GRAMJET_PERF_MAP";

/// A producer of any engine.
pub type AnyProducer = Box<dyn Producer + Send>;

/// A grammar on the engine that runs it, with limits.
pub struct Engine {
    name: &'static str,
    /// Why it is this engine, where that is not plain.
    reason: Option<String>,
    /// The machine code, if that runs it.
    jit: Option<Jit>,
    make: Box<dyn Fn() -> AnyProducer>,
    asked: Limits,
    limits: Limits,
}

impl Engine {
    /// The engine's name, as `--engine` takes it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The engine's name, with the reason why it was chosen, if there is one to tell.
    pub fn description(&self) -> String {
        match &self.reason {
            Some(reason) => format!("{} ({reason})", self.name),
            None => self.name.to_string(),
        }
    }

    fn new<P: Producer + Send + 'static>(name: &'static str, asked: Limits, make: impl Fn() -> P + 'static) -> Engine {
        Engine {
            name,
            reason: None,
            jit: None,
            limits: make().limits(),
            asked,
            make: Box::new(move || Box::new(make())),
        }
    }

    fn because(self, reason: impl Into<String>) -> Engine {
        Engine { reason: Some(reason.into()), ..self }
    }

    /// The limits that the grammar file asks for.
    pub fn asked(&self) -> Limits {
        self.asked
    }

    /// The limits in force.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Sets the limits, if the grammar can keep them.
    pub fn set_limits(&mut self, limits: Limits) -> Result<(), LimitsError> {
        (self.make)().set_limits(limits)?;
        self.limits = limits;
        Ok(())
    }

    /// Names the machine code for the profiler `perf`, if there is any and the environment asks for it; returns the file.
    pub fn write_perf_map(&self) -> Result<Option<PathBuf>, Failure> {
        let is_asked = std::env::var_os(PERF_MAP).is_some_and(|value| !value.is_empty() && value != "0");
        let Some(mut jit) = self.jit.clone().filter(|_| is_asked) else { return Ok(None) };
        // These are the limits that the engine has taken.
        let _ = jit.set_limits(self.limits);
        jit.write_perf_map().map(Some).map_err(|source| Failure::Write { what: "the map for perf".to_string(), source })
    }

    /// A new producer with the limits in force.
    pub fn producer(&self) -> AnyProducer {
        let mut producer = (self.make)();
        // These are the limits that a producer of this engine began with or has taken before.
        let _ = producer.set_limits(self.limits);
        producer
    }
}

/// A grammar that ships with gramjet.
pub type ShippedGrammar = &'static Shipped;

/// The shipped grammars.
pub fn shipped() -> impl Iterator<Item = ShippedGrammar> {
    SHIPPED.iter()
}

/// The shipped grammar called `name`.
pub fn shipped_by_name(name: &str) -> Option<ShippedGrammar> {
    gramjet_generated::by_name(name)
}

/// The values of `--format`.
pub fn format_names() -> PossibleValuesParser {
    PossibleValuesParser::new(formats::ALL.iter().map(|format| format.name()))
}

/// The notations that `gramjet convert` writes.
pub fn printer_names() -> PossibleValuesParser {
    PossibleValuesParser::new(print::ALL.iter().map(|printer| printer.name()))
}

/// The grammar in the notation `to`, or in the one that the extension of the file `output` asks for.
pub fn convert(source: &Source, args: &GrammarArgs, to: Option<&str>, output: &Path) -> Result<String, Failure> {
    let printer = match to {
        Some(name) => print::by_name(name),
        None => print::by_file_name(&output.to_string_lossy()),
    };
    if args.how.shape.shape.is_some() || args.how.shape.weights.is_some() {
        return Err(Failure::Usage(
            "a grammar is converted with its own weights; `gramjet weights` writes those of a shape".to_string(),
        ));
    }
    let printer = printer.ok_or_else(|| {
        let known: Vec<String> = print::ALL
            .iter()
            .flat_map(|printer| printer.extensions())
            .map(|extension| format!(".{extension}"))
            .collect();
        Failure::Usage(format!(
            "the extension of {} names no notation (known: {}); ask for one with `--to`",
            quoted(output),
            known.join(", ")
        ))
    })?;
    let options = options(source, args)?;
    let mut diagnostics = Diagnostics::default();
    let (start, tokens) = (options.start.as_deref(), options.tokens.as_deref());
    let surroundings = Surroundings { options: options.reading, start, tokens, ..Surroundings::default() };
    let surroundings = match &source.loader {
        Some(loader) => Surroundings { loader: loader.as_ref(), ..surroundings },
        None => surroundings,
    };
    let mut grammar = formats::read(source.format(&args.how), &source.file, &surroundings, &mut diagnostics);
    let start = check(&grammar, options.start.as_deref(), &mut diagnostics)
        .map(|checked| checked.grammar.rules[checked.start].name.clone());
    if options.start.is_some() {
        grammar.start = start;
    }
    let text = if diagnostics.has_errors() { None } else { printer.print(&grammar, &mut diagnostics) };
    diagnostics.sort();
    match text {
        Some(text) => {
            report::print(&source.file, &diagnostics);
            Ok(text)
        }
        None => Err(refuse(source, &diagnostics)),
    }
}

/// The values of `--separator-policy`.
pub fn separator_policies() -> PossibleValuesParser {
    PossibleValuesParser::new(SeparatorPolicy::ALL.iter().map(|&(name, _)| name))
}

/// The values of `--alphabet`.
pub fn alphabets() -> PossibleValuesParser {
    PossibleValuesParser::new(Alphabet::ALL.iter().map(|&(name, _)| name))
}

/// The stages of `gramjet dump`.
pub fn stage_names() -> PossibleValuesParser {
    let stages = gramjet_compiler::stages().into_iter();
    PossibleValuesParser::new(stages.map(|(name, about)| PossibleValue::new(name).help(about)))
}

/// Makes `source` ready to run on the engine that `argument` names, under limits that are still to be set.
pub fn prepare(
    source: &Source,
    args: &GrammarArgs,
    argument: EngineArgument,
    limits: &LimitArgs,
) -> Result<Engine, Failure> {
    let how = &args.how;
    let is_own =
        how.start.is_none() && how.shape.shape.is_none() && how.shape.weights.is_none() && how.reading.tokens.is_none();
    let generated = source.shipped.filter(|_| is_own).and_then(|shipped| shipped.producer);
    match (argument, generated) {
        (EngineArgument::Auto | EngineArgument::Rust, Some(producer)) => {
            // The directives are all that is needed of the text, so it is parsed only.
            let grammar = source.format(how).parse(&source.file, &mut Diagnostics::default());
            let asked = Limits::new().max_depth(grammar.max_depth).max_len(grammar.max_len);
            let engine = Engine::new("rust", asked, producer);
            Ok(match argument {
                EngineArgument::Auto => engine.because("compiled ahead of time, as the grammar ships with gramjet"),
                _ => engine,
            })
        }
        (EngineArgument::Rust, None) => Err(Failure::Usage(match source.shipped.filter(|_| is_own) {
            Some(Shipped { name, .. }) => format!(
                "`--engine rust` is not possible: gramjet has no compiled producer of `{name}`; `gramjet emit rust {name}` \
                 writes one for your own crate, as `gramjet::grammar!` does at build time, and `--engine auto` runs the \
                 grammar here"
            ),
            None => {
                "`--engine rust` runs shipped grammars only, named without a path, from their own start rule and with \
                     their own weights"
                    .to_string()
            }
        })),
        (EngineArgument::Auto, None) | (EngineArgument::Bulk, _) => {
            let compiled = compile(source, args)?;
            Ok(fastest(&compiled, limits))
        }
        (EngineArgument::Jit, _) => {
            let compiled = compile(source, args)?;
            let jit = Jit::with_limits(&compiled, first(&compiled, limits)).map_err(|refusal| {
                Failure::Usage(format!("`--engine jit` is not possible: {refusal}; `--engine vm` takes every grammar"))
            })?;
            Ok(native("jit", &compiled, jit))
        }
        (EngineArgument::Vm, _) => {
            let compiled = compile(source, args)?;
            let vm = Vm::with_limits(&compiled, first(&compiled, limits));
            Ok(Engine::new("vm", directives(&compiled), move || vm.clone()))
        }
        (EngineArgument::Reference, _) => {
            let compiled = compile(source, args)?;
            let reference = Reference::new(&compiled);
            Ok(Engine::new("reference", directives(&compiled), move || reference.clone()))
        }
    }
}

/// The bulk engine for `source`, if it takes the grammar and the limits; if it only is to be taken where it is worth it, it may
/// be a sketch that is not. What there is to say about the grammar was said when it was made ready to run.
pub fn in_bulk(
    source: &Source,
    args: &GrammarArgs,
    limits: Limits,
    framing: Framing,
    effort: Effort,
    worth: Option<f64>,
) -> Result<Result<Bulk, NotInBulk>, Failure> {
    match gramjet_compiler::compile(&source.file, &options(source, args)?) {
        Ok(_) if limits.choices() != Limits::DEFAULT_MAX_CHOICES => Ok(Err(NotInBulk::MaxChoices)),
        Ok((compiled, _)) => {
            if let Some(worth) = worth {
                // Full tables make up to two and a half times as many bytes a step.
                let sketch = Bulk::new(&compiled, limits, framing.clone(), Effort::SKETCH);
                if sketch.as_ref().is_ok_and(|sketch| 2.5 * sketch.mean_step() < worth) {
                    return Ok(sketch);
                }
            }
            Ok(Bulk::new(&compiled, limits, framing, effort))
        }
        Err(diagnostics) => Err(refuse(source, &diagnostics)),
    }
}

/// What is to be said of the bulk engine.
pub fn bulk_description(bulk: &Bulk) -> String {
    let kib = (bulk.table_bytes() / 1024).max(1);
    format!("bulk ({kib} KiB of tables, {:.1} bytes a step, blocks of {})", bulk.mean_step(), bulk.block_inputs())
}

/// What `gramjet check` says of a grammar's structure.
#[derive(Debug)]
pub struct Structure {
    /// The rule that inputs are derived from.
    pub start: String,
    /// How many rules can be reached.
    pub rules: usize,
    /// The names of those that derive themselves.
    pub recursive: Vec<String>,
    /// How many nodes the grammar has when it is lowered, and when it is optimised.
    pub nodes: (usize, usize),
    /// How many strings the pools hold, and how many bytes they have.
    pub pools: (usize, usize),
    /// A rule whose minimum-depth strings are too long to be kept.
    pub rule_without_pool: Option<String>,
    /// The length of the shortest input in bytes.
    pub min_len: u64,
}

/// Describes a grammar's structure, and makes it ready to run, under limits that are still to be set.
pub fn describe(examined: &Examined, limits: &LimitArgs) -> (Structure, Engine) {
    let compiled = &examined.compiled;
    let ir = &compiled.lowered;
    let components = recursion(ir);
    let recursive = ir.bodies().filter(|&(rule, _)| components.is_recursive(rule));
    let pools = ir.bodies().filter_map(|(rule, _)| compiled.pools.get(rule));
    let structure = Structure {
        start: ir.rule(ir.start()).name.clone(),
        rules: ir.bodies().count(),
        recursive: recursive.map(|(rule, _)| ir.rule(rule).name.clone()).collect(),
        nodes: (ir.node_count(), compiled.residual.node_count()),
        pools: pools.fold((0, 0), |(strings, bytes), pool| {
            (strings + pool.strings.len(), bytes + pool.strings.iter().map(|string| string.len()).sum::<usize>())
        }),
        rule_without_pool: compiled.rule_without_pool().map(str::to_string),
        min_len: compiled.min_len(),
    };
    (structure, fastest(compiled, limits))
}

/// Compiles `source` and looks at it closely; all that there is to say, and what was found if it compiles.
pub fn examine(source: &Source, args: &GrammarArgs) -> Result<(Option<Examined>, Diagnostics), Failure> {
    Ok(match gramjet_compiler::examine(&source.file, &options(source, args)?) {
        Ok((examined, diagnostics)) => (Some(examined), diagnostics),
        Err(diagnostics) => (None, diagnostics),
    })
}

/// What makes the inputs of a run again and says what they came to. What there is to say about the grammar was said when it
/// was made ready to run.
pub fn covering(source: &Source, args: &GrammarArgs, limits: Limits) -> Result<Covering, Failure> {
    let (compiled, _) = gramjet_compiler::compile(&source.file, &options(source, args)?)
        .map_err(|diagnostics| does_not_compile(source, &diagnostics))?;
    let mut covering = Covering::new(&compiled);
    covering.set_limits(limits).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(covering)
}

/// The values of `--explain`.
pub fn code_names() -> PossibleValuesParser {
    PossibleValuesParser::new(Code::ALL.iter().map(|code| PossibleValue::new(code.name()).help(code.explanation())))
}

/// The values of `--deny` and `--allow`.
pub fn code_names_or_warnings() -> PossibleValuesParser {
    // `--explain` lists them with what they mean.
    let codes = Code::ALL.iter().map(|code| PossibleValue::new(code.name()).hide(true));
    PossibleValuesParser::new([PossibleValue::new("warnings")].into_iter().chain(codes))
}

/// Compiles `source` to a parser of its language, and to what traces and produces its inputs without limits.
pub fn unlimited(source: &Source, args: &GrammarArgs) -> Result<(Parser, Tracer, Fastest), Failure> {
    let compiled = compile(source, &of_others(args))?;
    let limits = Limits::new().max_choices(u64::MAX);
    let (mut tracer, fastest) = (Tracer::new(&compiled), Fastest::with_limits(&compiled, limits));
    tracer.set_limits(limits).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok((Parser::new(&compiled.lowered), tracer, fastest))
}

/// Compiles `source` to a parser of its language; the limits of the engine are those that `gramjet render` begins with.
pub fn parser(source: &Source, args: &GrammarArgs) -> Result<(Parser, Compiled, Engine), Failure> {
    let compiled = compile(source, &of_others(args))?;
    let engine = fastest(&compiled, &LimitArgs::default());
    Ok((Parser::new(&compiled.lowered), compiled, engine))
}

/// What a stage of the compiler makes of `source`, and why the grammar does not compile, if a later stage found that out.
pub fn dump(source: &Source, args: &GrammarArgs, stage: &str, max_depth: Option<u32>) -> (String, Result<(), Failure>) {
    let options = match options(source, args) {
        Ok(options) => {
            Options { limits: AssumedLimits { max_depth: max_depth.map(Some), ..options.limits }, ..options }
        }
        Err(failure) => return (String::new(), Err(failure)),
    };
    let (text, diagnostics) = gramjet_compiler::dump(&source.file, &options, stage);
    let result = match (&text, diagnostics.has_errors()) {
        (_, true) => Err(refuse(source, &diagnostics)),
        (Some(_), false) => {
            report::print(&source.file, &diagnostics);
            Ok(())
        }
        // The names were checked against the list of stages.
        (None, false) => Err(Failure::Internal(format!("the compiler did not come by the stage {stage}"))),
    };
    (text.unwrap_or_default(), result)
}

/// The machine code of a producer for `source` that keeps limits of these kinds, disassembled.
pub fn emit_asm(source: &Source, args: &GrammarArgs, limits: Limits) -> Result<String, Failure> {
    let compiled = compile(source, args)?;
    let is_limited = limits.depth().is_some() || limits.length().is_some();
    let jit = if is_limited { Jit::with_limits(&compiled, limits) } else { Jit::new(&compiled) };
    let mut jit = jit.map_err(|refusal| Failure::Usage(format!("there is no listing: {refusal}")))?;
    if is_limited {
        jit.set_limits(limits).map_err(|problem| Failure::Usage(problem.to_string()))?;
    }
    Ok(jit.listing())
}

/// The Rust source of a producer for `source`.
pub fn emit_rust(source: &Source, args: &GrammarArgs, options: &EmitOptions) -> Result<String, Failure> {
    let compiled = compile(source, args)?;
    options.check(&compiled).map_err(Failure::Usage)?;
    if let Some(warning) = options.warning(&compiled) {
        say!("gramjet: {warning}");
    }
    Ok(rust::emit(&compiled, options))
}

fn options(source: &Source, args: &GrammarArgs) -> Result<Options, Failure> {
    let how = &args.how;
    let weighting = match (&how.shape.weights, how.shape.shape) {
        (Some(path), _) => {
            if path.as_os_str() == "-" && args.grammar == "-" {
                let both = "the grammar and the weights cannot both come from standard input";
                return Err(Unreadable::new("<stdin>", both).into());
            }
            Weighting::File(grammar::weights(path)?)
        }
        (None, Some(shape)) => Weighting::Shape(shape),
        (None, None) => Weighting::Own,
    };
    Ok(Options {
        format: how.format.as_deref().and_then(formats::by_name),
        start: how.start.clone(),
        reading: reading(&how.reading),
        // Other files are read beside the grammar; this one is where the user says.
        tokens: how
            .reading
            .tokens
            .as_ref()
            .map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()).to_string_lossy().into_owned()),
        loader: source.loader.clone(),
        weighting,
        limits: how.limits,
        ..Options::default()
    })
}

fn reading(args: &ReadingArgs) -> FormatOptions {
    FormatOptions {
        strict: args.strict,
        separators: args.separator_policy.as_deref().and_then(SeparatorPolicy::by_name).unwrap_or_default(),
        alphabet: args.alphabet.as_deref().and_then(Alphabet::by_name),
    }
}

/// The same grammar, read for texts that it did not make, unless the user says otherwise.
fn of_others(args: &GrammarArgs) -> GrammarArgs {
    let mut args = args.clone();
    args.how.reading.separator_policy.get_or_insert_with(|| "any".to_string());
    args
}

/// The options that other commands need for choice bytes of texts, where these were parsed without options: the policy that such
/// texts are read with is not that of inputs that are generated.
pub fn reading_of_others(source: &Source, args: &GrammarArgs) -> Option<&'static str> {
    let has_lexer = source.format(&args.how).has_lexer();
    (has_lexer && args.how.reading.separator_policy.is_none()).then_some("--separator-policy any")
}

fn fastest(compiled: &Compiled, limits: &LimitArgs) -> Engine {
    let fastest = Fastest::with_limits(compiled, first(compiled, limits));
    match (fastest.as_jit(), fastest.refusal()) {
        (Some(jit), _) => native("jit", compiled, jit.clone()),
        (None, refusal) => {
            let reason = refusal.map_or_else(String::new, ToString::to_string);
            let engine = Engine::new("vm", directives(compiled), move || fastest.clone());
            engine.because(reason)
        }
    }
}

/// The machine code of a grammar.
fn native(name: &'static str, compiled: &Compiled, jit: Jit) -> Engine {
    let size = format!("{} KiB of machine code", jit.code_len().div_ceil(1024));
    let code = jit.clone();
    Engine { jit: Some(jit), ..Engine::new(name, directives(compiled), move || code.clone()).because(size) }
}

/// The limits that an engine makes code for at once: those that will be set.
fn first(compiled: &Compiled, limits: &LimitArgs) -> Limits {
    wanted(directives(compiled), limits).0
}

fn directives(compiled: &Compiled) -> Limits {
    Limits::new().max_depth(compiled.max_depth).max_len(compiled.max_len)
}

/// Compiles `source` and prints what there is to say about it.
fn compile(source: &Source, args: &GrammarArgs) -> Result<Compiled, Failure> {
    match gramjet_compiler::compile(&source.file, &options(source, args)?) {
        Ok((compiled, warnings)) => {
            report::print(&source.file, &warnings);
            Ok(compiled)
        }
        Err(diagnostics) => Err(refuse(source, &diagnostics)),
    }
}

fn refuse(source: &Source, diagnostics: &Diagnostics) -> Failure {
    report::print(&source.file, diagnostics);
    does_not_compile(source, diagnostics)
}

/// The failure of a grammar whose diagnostics were printed.
pub fn does_not_compile(source: &Source, diagnostics: &Diagnostics) -> Failure {
    Failure::Grammar(format!("{} does not compile: {}", source.file.name(), report::summary(diagnostics)))
}
