//! The one place where the command line meets the compiler and the engines: compiles grammars and chooses what runs them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use gramjet::choices::Header;
use gramjet::{Limits, LimitsError, Producer};
use gramjet_compiler::analysis::recursion::recursion;
use gramjet_compiler::backend::rust;
pub use gramjet_compiler::backend::rust::EmitOptions;
use gramjet_compiler::check::check;
use gramjet_compiler::diagnostics::Code;
use gramjet_compiler::formats::{self, FormatOptions, Surroundings};
use gramjet_compiler::limits::AssumedLimits;
use gramjet_compiler::print;
use gramjet_compiler::shape::{ByDefault, Weighting};
use gramjet_compiler::tokens::{Alphabet, SeparatorPolicy};
use gramjet_compiler::{Compiled, Diagnostics, Examined, Options};
use gramjet_engine::bulk::Bulk;
use gramjet_engine::coverage::Covering;
use gramjet_engine::jit::Jit;
use gramjet_engine::reference::Reference;
use gramjet_engine::vm::Vm;
use gramjet_engine::{Fastest, Tracer};
use gramjet_files::Unreadable;
use gramjet_grammars::{SHIPPED, Shipped};
use gramjet_parse::Parser;

use crate::args::{ConvertArgs, EngineArgument, GrammarArgs, LimitArgs, ReadingArgs};
use crate::failure::{Failure, quoted, say};
use crate::grammar::{self, Source};
use crate::limits::wanted;
use crate::recorded::Recorder;
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
    /// The grammar, once it was compiled.
    compiled: Option<Compiled>,
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
            compiled: None,
            limits: make().limits(),
            asked,
            make: Box::new(move || Box::new(make())),
        }
    }

    fn because(self, reason: impl Into<String>) -> Engine {
        Engine { reason: Some(reason.into()), ..self }
    }

    /// An engine that runs this grammar.
    fn of<P: Producer + Send + 'static>(
        name: &'static str,
        compiled: &Compiled,
        make: impl Fn() -> P + 'static,
    ) -> Engine {
        Engine { compiled: Some(compiled.clone()), ..Engine::new(name, directives(compiled), make) }
    }

    /// The grammar of `source`, which is compiled at most once. What there is to say about it was said when it was made ready to run.
    pub fn compiled(&mut self, source: &Source, args: &GrammarArgs) -> Result<Compiled, Failure> {
        if let Some(compiled) = &self.compiled {
            return Ok(compiled.clone());
        }
        let (compiled, _) = gramjet_compiler::compile(&source.file, &options(source, args)?)
            .map_err(|diagnostics| refuse(source, &diagnostics))?;
        Ok(self.compiled.insert(compiled).clone())
    }

    /// Whether it runs a producer that was compiled ahead of time.
    pub fn is_generated(&self) -> bool {
        self.name == "rust"
    }

    /// The same grammar and limits on this machine code.
    pub fn on(self, compiled: &Compiled, jit: Jit) -> Engine {
        Engine { limits: self.limits, ..native("jit", compiled, jit) }
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
    gramjet_grammars::by_name(name)
}

/// The values of `--format`.
pub fn format_names() -> PossibleValuesParser {
    PossibleValuesParser::new(formats::ALL.iter().map(|format| format.name()))
}

/// The notations that `gramjet convert` writes.
pub fn printer_names() -> PossibleValuesParser {
    PossibleValuesParser::new(print::ALL.iter().map(|printer| printer.name()))
}

/// The grammar in the notation that is asked for by name, or else by the extension of the output.
pub fn convert(source: &Source, conversion: &ConvertArgs) -> Result<String, Failure> {
    let ConvertArgs { grammar: args, output, to, drop_weights } = conversion;
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
    if *drop_weights {
        grammar.drop_weights();
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
    let generated = source.shipped.filter(|_| is_own).and_then(|shipped| gramjet_generated::producer(shipped.name));
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
        _ => run_by(&compile(source, args)?, argument, limits),
    }
}

/// The same for choice bytes with this header, which must be one of the grammar.
pub fn prepare_recorded(
    source: &Source,
    args: &GrammarArgs,
    argument: EngineArgument,
    limits: &LimitArgs,
    header: &Header,
) -> Result<Engine, Failure> {
    let options = options(source, args)?;
    let compiled = compile_with(source, &options)?;
    Recorder::new(&compiled, &options).check(header)?;
    match argument {
        EngineArgument::Rust => prepare(source, args, argument, limits),
        _ => run_by(&compiled, argument, limits),
    }
}

/// A compiled grammar on an engine that compiles or interprets it.
fn run_by(compiled: &Compiled, argument: EngineArgument, limits: &LimitArgs) -> Result<Engine, Failure> {
    match argument {
        EngineArgument::Jit => {
            let jit = Jit::with_limits(compiled, first(compiled, limits)).map_err(|refusal| {
                Failure::Usage(format!("`--engine jit` is not possible: {refusal}; `--engine vm` takes every grammar"))
            })?;
            Ok(native("jit", compiled, jit))
        }
        EngineArgument::Vm => {
            let vm = Vm::with_limits(compiled, first(compiled, limits));
            Ok(Engine::of("vm", compiled, move || vm.clone()))
        }
        EngineArgument::Reference => {
            let reference = Reference::new(compiled);
            Ok(Engine::of("reference", compiled, move || reference.clone()))
        }
        EngineArgument::Auto | EngineArgument::Bulk | EngineArgument::Rust => Ok(fastest(compiled, limits)),
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
    let recursive = ir.bodies().filter(|&(rule, _)| components.is_recursive(rule)).map(|(rule, _)| compiled.told(rule));
    let mut known = BTreeSet::new();
    let pools = ir.bodies().filter_map(|(rule, _)| compiled.pools.get(rule));
    let structure = Structure {
        start: compiled.told(ir.start()).to_string(),
        rules: ir.bodies().count(),
        recursive: recursive.filter(|name| known.insert(*name)).map(str::to_string).collect(),
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

/// What makes the inputs of a run again and says what they came to.
pub fn covering(engine: &mut Engine, source: &Source, args: &GrammarArgs) -> Result<Covering, Failure> {
    let mut covering = Covering::new(&engine.compiled(source, args)?);
    covering.set_limits(engine.limits()).map_err(|error| Failure::Usage(error.to_string()))?;
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

/// Compiles `source` to a parser of its language, and to what traces and produces its inputs without limits: for what makes no random
/// inputs, so that the grammar's own weights do.
pub fn unlimited(source: &Source, args: &GrammarArgs) -> Result<(Parser, Tracer, Fastest, Recorder), Failure> {
    let mut args = args.clone();
    args.how.shape.own = true;
    unlimited_recorded(source, &args)
}

/// The same with what headers of its choice bytes say.
pub fn unlimited_recorded(source: &Source, args: &GrammarArgs) -> Result<(Parser, Tracer, Fastest, Recorder), Failure> {
    unlimited_with(source, &options(source, &of_others(args))?)
}

/// The same for a fuzz target, which reads the grammar as `args` does with its own weights unless others are asked for, under limits; with
/// a producer that has these.
pub fn of_fuzz_target(
    source: &Source,
    args: &GrammarArgs,
    limits: &LimitArgs,
) -> Result<(Parser, Tracer, Fastest, AnyProducer), Failure> {
    let mut args = args.clone();
    let shape = &mut args.how.shape;
    shape.own = shape.shape.is_none() && shape.weights.is_none();
    let options = options(source, &args)?;
    let compiled = compile_with(source, &options)?;
    let (parser, tracer, producer, _) = unlimited_of(&compiled, &options)?;
    let mut engine = fastest(&compiled, limits);
    crate::limits::apply(&mut engine, limits)?;
    Ok((parser, tracer, producer, engine.producer()))
}

fn unlimited_with(source: &Source, options: &Options) -> Result<(Parser, Tracer, Fastest, Recorder), Failure> {
    unlimited_of(&compile_with(source, options)?, options)
}

fn unlimited_of(compiled: &Compiled, options: &Options) -> Result<(Parser, Tracer, Fastest, Recorder), Failure> {
    let limits = Limits::new().max_choices(u64::MAX);
    let (mut tracer, fastest) = (Tracer::new(compiled), Fastest::with_limits(compiled, limits));
    tracer.set_limits(limits).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok((Parser::new(&compiled.lowered), tracer, fastest, Recorder::new(compiled, options)))
}

/// Compiles `source` to a parser of its language; the limits of the engine are those that `gramjet render` begins with.
pub fn parser(source: &Source, args: &GrammarArgs) -> Result<(Parser, Compiled, Engine, Recorder), Failure> {
    let options = options(source, &of_others(args))?;
    let compiled = compile_with(source, &options)?;
    let (engine, recorder) = (fastest(&compiled, &LimitArgs::default()), Recorder::new(&compiled, &options));
    Ok((Parser::new(&compiled.lowered), compiled, engine, recorder))
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

/// The Rust source of a producer for `source`: what `gramjet::grammar!` makes of it.
pub fn emit_rust(source: &Source, args: &GrammarArgs, emit: &EmitOptions) -> Result<String, Failure> {
    let options = options(source, args)?;
    let weighting = match options.weighting {
        Weighting::ByDefault => Weighting::Own,
        given => given,
    };
    let compiled = compile_with(source, &Options { weighting, ..options })?;
    emit.check(&compiled).map_err(Failure::Usage)?;
    if let Some(warning) = emit.warning(&compiled) {
        say!("gramjet: {warning}");
    }
    Ok(rust::emit(&compiled, emit))
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
        (None, None) if how.shape.own => Weighting::Own,
        (None, None) => Weighting::ByDefault,
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
        indent: args.indent.unwrap_or_default(),
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
            Engine::of("vm", compiled, move || fastest.clone()).because(reason)
        }
    }
}

/// The machine code of a grammar.
fn native(name: &'static str, compiled: &Compiled, jit: Jit) -> Engine {
    let size = format!("{} KiB of machine code", jit.code_len().div_ceil(1024));
    let code = jit.clone();
    Engine { jit: Some(jit), ..Engine::of(name, compiled, move || code.clone()).because(size) }
}

/// The limits that an engine makes code for at once: those that will be set.
fn first(compiled: &Compiled, limits: &LimitArgs) -> Limits {
    wanted(directives(compiled), limits).0
}

fn directives(compiled: &Compiled) -> Limits {
    Limits::new().max_depth(compiled.max_depth).max_len(compiled.max_len)
}

/// Compiles `source` and prints what there is to say about it, and what weights were chosen if nobody asked for any.
fn compile(source: &Source, args: &GrammarArgs) -> Result<Compiled, Failure> {
    let compiled = compile_with(source, &options(source, args)?)?;
    if let Some(decision) = compiled.by_default.filter(ByDefault::is_surprising) {
        say!("gramjet: {}", describe_default(&decision));
    }
    Ok(compiled)
}

/// What was decided on the weights of a grammar that has none, and what undoes it.
pub fn describe_default(decision: &ByDefault) -> String {
    let otherwise = if decision.is_shaped { " (otherwise: `--shape uniform`)" } else { "" };
    format!("{decision}{otherwise}")
}

/// Compiles `source` and prints what there is to say about it.
fn compile_with(source: &Source, options: &Options) -> Result<Compiled, Failure> {
    match gramjet_compiler::compile(&source.file, options) {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use gramjet_compiler::SourceFile;
    use gramjet_compiler::formats::Loader;

    use super::*;

    /// Files beside a grammar, and how often one was read.
    struct Counting(Arc<AtomicUsize>);

    impl Loader for Counting {
        fn load(&self, name: &str) -> Result<SourceFile, String> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(SourceFile::new(name, "lexer grammar L; A: 'a'; B: 'b'+;"))
        }
    }

    #[test]
    fn a_grammar_is_compiled_once() {
        for argument in [EngineArgument::Auto, EngineArgument::Jit, EngineArgument::Vm, EngineArgument::Bulk] {
            let reads = Arc::new(AtomicUsize::new(0));
            let source = Source {
                file: SourceFile::new("P.g4", "parser grammar P; options { tokenVocab = L; } s: (A | B)* EOF;"),
                shipped: None,
                loader: Some(Arc::new(Counting(Arc::clone(&reads)))),
            };
            let args = GrammarArgs { grammar: "P.g4".into(), ..GrammarArgs::default() };
            let engine = prepare(&source, &args, argument, &LimitArgs::default());
            let mut engine = engine.unwrap_or_else(|failure| panic!("{failure}"));
            // Compilation reads it, however often.
            let once = reads.load(Ordering::Relaxed);
            assert!(once > 0);
            for _ in 0..2 {
                assert!(engine.compiled(&source, &args).is_ok() && covering(&mut engine, &source, &args).is_ok());
            }
            assert_eq!(reads.load(Ordering::Relaxed), once, "{argument:?}");
        }
    }

    #[test]
    fn a_shipped_grammar_is_compiled_when_it_is_needed() {
        let shipped = shipped_by_name("expr").expect("it ships");
        let source = Source { file: SourceFile::new("<expr>", shipped.text), shipped: Some(shipped), loader: None };
        let args = GrammarArgs { grammar: "expr".into(), ..GrammarArgs::default() };
        let engine = prepare(&source, &args, EngineArgument::Auto, &LimitArgs::default());
        let mut engine = engine.unwrap_or_else(|failure| panic!("{failure}"));
        assert!(engine.is_generated() && engine.compiled.is_none());
        assert!(engine.compiled(&source, &args).is_ok());
        assert!(engine.compiled.is_some());
    }
}
