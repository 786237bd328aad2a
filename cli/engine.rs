//! A grammar on the engine that runs it, under the limits in force.

use std::path::PathBuf;

use gramjet::{Limits, LimitsError, Producer};
use gramjet_compiler::Compiled;
use gramjet_compiler::backend::rust::EmitOptions;
use gramjet_engine::jit::Jit;
use gramjet_engine::kind::{self, EngineKind};
use gramjet_grammars::Shipped;

use crate::arguments::engine::EngineArgument;
use crate::failure::Failure;
use crate::limits::Applied;
use crate::prepared::Prepared;

/// The variable that asks for a map of the machine code for the profiler `perf`.
const PERF_MAP: &str = "GRAMJET_PERF_MAP";

/// A producer of any engine.
pub type AnyProducer = Box<dyn Producer + Send>;

/// An engine for a grammar: makes producers under limits that the grammar can keep.
pub struct Engine {
    kind: EngineArgument,
    /// The reason for this engine, where it is not obvious.
    reason: Option<String>,
    /// The machine code, if that runs it.
    jit: Option<Jit>,
    make: Box<dyn Fn() -> AnyProducer>,
    applied: Applied,
    limits: Limits,
}

impl Engine {
    /// Returns the grammar on the engine that is asked for.
    pub fn start(prepared: &Prepared, argument: EngineArgument) -> Result<Engine, Failure> {
        let shipped = prepared.source.shipped.filter(|_| prepared.is_unchanged());
        let generated = shipped.and_then(|shipped| gramjet_generated::producer(shipped.name));
        match (argument, generated) {
            (EngineArgument::Rust, Some(make)) => Engine::generated(make, prepared.wanted()),
            (EngineArgument::Rust, None) => Err(not_generated(shipped, prepared)?),
            // This saves a compilation.
            (EngineArgument::AUTO, Some(make)) if !prepared.is_compiled() => {
                let engine = Engine::generated(make, prepared.wanted())?;
                Ok(engine.because("compiled ahead of time, as the grammar ships with gramjet"))
            }
            (EngineArgument::Listed(kind), _) => {
                Engine::of_kind(prepared.compile_for_inputs()?, kind, prepared.wanted())
            }
            (EngineArgument::Bulk, _) => Engine::fastest(prepared.compile_for_inputs()?, prepared.wanted()),
        }
    }

    /// Returns a compiled grammar on the fastest engine that takes it.
    pub fn fastest(compiled: &Compiled, wanted: Applied) -> Result<Engine, Failure> {
        Engine::of(kind::Engine::fastest(compiled, wanted.limits()), wanted)
    }

    fn generated(make: fn() -> AnyProducer, wanted: Applied) -> Result<Engine, Failure> {
        Engine::new(EngineArgument::Rust, make, wanted)
    }

    fn of_kind(compiled: &Compiled, kind: EngineKind, wanted: Applied) -> Result<Engine, Failure> {
        let made = kind.make_with_limits(compiled, wanted.limits()).map_err(|refusal| {
            let kind = kind.name();
            Failure::Usage(format!("`--engine {kind}` is not possible: {refusal}; `--engine vm` takes every grammar"))
        })?;
        Engine::of(made, wanted)
    }

    fn of(made: kind::Engine, wanted: Applied) -> Result<Engine, Failure> {
        let (kind, jit) = (EngineArgument::Listed(made.kind()), made.as_jit().cloned());
        let reason = match &jit {
            Some(jit) => Some(code_size(jit)),
            None => made.refusal().map(ToString::to_string),
        };
        Ok(Engine { jit, reason, ..Engine::new(kind, move || Box::new(made.clone()), wanted)? })
    }

    fn new(kind: EngineArgument, make: impl Fn() -> AnyProducer + 'static, wanted: Applied) -> Result<Engine, Failure> {
        let mut trial = make();
        let applied = wanted.set(&mut |limits| trial.set_limits(limits))?;
        let limits = applied.limits();
        Ok(Engine { kind, reason: None, jit: None, make: Box::new(make), applied, limits })
    }

    fn because(self, reason: impl Into<String>) -> Engine {
        Engine { reason: Some(reason.into()), ..self }
    }

    /// Returns the engine with the same grammar and limits on this machine code.
    #[must_use]
    pub fn on(self, jit: Jit) -> Engine {
        let (size, code) = (code_size(&jit), jit.clone());
        let make = Box::new(move || Box::new(code.clone()) as AnyProducer);
        Engine { kind: EngineArgument::Listed(EngineKind::Jit), make, jit: Some(jit), ..self.because(size) }
    }

    /// Returns the engine's name, as `--engine` takes it.
    pub fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// Returns the engine's name, and why it was chosen if there is a reason to name.
    pub fn description(&self) -> String {
        match &self.reason {
            Some(reason) => format!("{} ({reason})", self.name()),
            None => self.name().to_string(),
        }
    }

    /// Returns true if it runs a producer that was compiled ahead of time.
    pub fn is_generated(&self) -> bool {
        self.kind == EngineArgument::Rust
    }

    /// Returns the limits that it was started with, and where they are from.
    pub fn applied(&self) -> Applied {
        self.applied
    }

    /// Returns the limits in force.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Sets other limits, if the grammar can keep them.
    pub fn set_limits(&mut self, limits: Limits) -> Result<(), LimitsError> {
        (self.make)().set_limits(limits)?;
        self.limits = limits;
        Ok(())
    }

    /// Names the machine code for the profiler `perf`, if there is any and the environment asks for it; returns the
    /// file.
    pub fn write_perf_map(&self) -> Result<Option<PathBuf>, Failure> {
        let is_asked = std::env::var_os(PERF_MAP).is_some_and(|value| !value.is_empty() && value != "0");
        let Some(mut jit) = self.jit.clone().filter(|_| is_asked) else { return Ok(None) };
        // These are the limits that the engine has taken.
        let _ = jit.set_limits(self.limits);
        jit.write_perf_map().map(Some).map_err(|source| Failure::Write { what: "the map for perf".to_string(), source })
    }

    /// Returns a new producer with the limits in force.
    pub fn producer(&self) -> AnyProducer {
        let mut producer = (self.make)();
        // These are the limits that a producer of this engine has taken before.
        let _ = producer.set_limits(self.limits);
        producer
    }
}

fn code_size(jit: &Jit) -> String {
    format!("{} KiB of machine code", jit.code_len().div_ceil(1024))
}

/// Returns why there is no code that was made ahead of time; `shipped` is read as it is.
fn not_generated(shipped: Option<&Shipped>, prepared: &Prepared) -> Result<Failure, Failure> {
    let Some(Shipped { name, .. }) = shipped else {
        let message = "`--engine rust` runs shipped grammars only, named without a path, from their own start rule \
                       and with their own weights";
        return Ok(Failure::Usage(message.to_string()));
    };
    let reason = match EmitOptions::default().check(prepared.compile_for_inputs()?) {
        Ok(()) => format!(
            "gramjet has no compiled producer of `{name}`; `gramjet emit rust {name}` writes one for your own crate, as \
             `gramjet::grammar!` does at build time"
        ),
        Err(refusal) => refusal,
    };
    Ok(Failure::Usage(format!("`--engine rust` is not possible: {reason}, and `--engine auto` runs the grammar here")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use clap::ValueEnum as _;
    use gramjet_compiler::SourceFile;
    use gramjet_compiler::formats::Loader;

    use super::*;
    use crate::arguments::grammar::GrammarArgs;
    use crate::arguments::limits::LimitArgs;
    use crate::source::Source;

    /// A loader of the files that a grammar refers to; counts how often one was read.
    struct Counting(Arc<AtomicUsize>);

    impl Loader for Counting {
        fn load(&self, name: &str) -> Result<SourceFile, String> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(SourceFile::new(name, "lexer grammar L; A: 'a'; B: 'b'+;"))
        }
    }

    fn prepared(source: Source) -> Prepared {
        let prepared = Prepared::new(source, &GrammarArgs::default(), &LimitArgs::default());
        prepared.unwrap_or_else(|failure| panic!("{failure}"))
    }

    #[test]
    fn a_grammar_is_compiled_once() {
        for &argument in EngineArgument::value_variants().iter().filter(|&&argument| argument != EngineArgument::Rust) {
            if matches!(argument, EngineArgument::Listed(kind) if !kind.is_available()) {
                continue;
            }
            let reads = Arc::new(AtomicUsize::new(0));
            let prepared = prepared(Source {
                file: SourceFile::new("P.g4", "parser grammar P; options { tokenVocab = L; } s: (A | B)* EOF;"),
                shipped: None,
                loader: Some(Arc::new(Counting(Arc::clone(&reads)))),
            });
            assert!(Engine::start(&prepared, argument).is_ok());
            // Compilation reads it, however often.
            let once = reads.load(Ordering::Relaxed);
            assert!(once > 0);
            for _ in 0..2 {
                // For the bulk engine and for the coverage.
                assert!(prepared.compiled().is_ok());
            }
            assert_eq!(reads.load(Ordering::Relaxed), once, "{argument:?}");
        }
    }

    #[test]
    fn a_shipped_grammar_is_compiled_when_it_is_needed() {
        let shipped = gramjet_grammars::by_name("expr").expect("it ships");
        let file = SourceFile::new("<expr>", shipped.text);
        let prepared = prepared(Source { file, shipped: Some(shipped), loader: None });
        let engine = Engine::start(&prepared, EngineArgument::AUTO);
        let engine = engine.unwrap_or_else(|failure| panic!("{failure}"));
        assert!(engine.is_generated() && !prepared.is_compiled());
        assert!(prepared.compiled().is_ok() && prepared.is_compiled());
    }
}
