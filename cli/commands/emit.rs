//! `gramjet emit`: the source code or the machine code of a producer.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use gramjet::{Limits, Producer};
use gramjet_compiler::backend::rust::{self, EmitOptions};
use gramjet_engine::Jit;

use crate::arguments::grammar::GrammarArgs;
use crate::arguments::limits::LimitArgs;
use crate::failure::{Failure, say};
use crate::output::whole::write_output;
use crate::prepared::Prepared;
use crate::units;

/// Print the source code or the machine code of a producer.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The language.
    #[arg(value_enum)]
    language: EmitLanguage,

    #[command(flatten)]
    grammar: GrammarArgs,

    /// Write to this file.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Emit code that compiles under `#![forbid(unsafe_code)]` (rust only).
    #[arg(long)]
    forbid_unsafe: bool,

    /// The path of the library in the code, for a dependency that has another name: `::gj` (rust only).
    #[arg(long, value_name = "PATH")]
    library: Option<String>,

    /// The depth limit that the producer begins with, in place of the grammar file's.
    ///
    /// There is code for this limit alone if it is small and the only one. Else `asm` knows only its kinds of limits:
    /// there is code for a depth, for a length, for both and for none.
    #[arg(long, value_name = "DEPTH")]
    max_depth: Option<u32>,

    /// The length limit that the producer begins with, in place of the grammar file's.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = units::parse_size)]
    max_len: Option<u64>,
}

/// The languages that `gramjet emit` can print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EmitLanguage {
    /// A Rust module that depends on the `gramjet` library.
    Rust,
    /// The machine code of the engine `jit`, disassembled.
    Asm,
}

/// Prints the code.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    let prepared = Prepared::load(&args.grammar, &LimitArgs::at(args.max_depth, args.max_len))?;
    let text = match args.language {
        EmitLanguage::Rust => rust(args, prepared.with_own_weights())?,
        EmitLanguage::Asm => asm(args, &prepared)?,
    };
    write_output(args.output.as_deref(), text.as_bytes())
}

/// Returns the Rust source of a producer, as `gramjet::grammar!` makes it.
fn rust(args: &Arguments, prepared: Prepared) -> Result<String, Failure> {
    let emit = EmitOptions {
        forbid_unsafe: args.forbid_unsafe,
        max_depth: args.max_depth,
        max_len: args.max_len,
        library: args.library.clone(),
    };
    let compiled = prepared.compile()?;
    emit.check(compiled).map_err(Failure::Usage)?;
    if let Some(warning) = emit.warning(compiled) {
        say!("gramjet: {warning}");
    }
    Ok(rust::emit(compiled, &emit))
}

/// Returns the machine code of a producer that keeps limits of these kinds, disassembled.
fn asm(args: &Arguments, prepared: &Prepared) -> Result<String, Failure> {
    let limits = Limits::with(args.max_depth, args.max_len);
    let compiled = prepared.compile_for_inputs()?;
    let is_limited = limits.depth().is_some() || limits.length().is_some();
    let jit = if is_limited { Jit::with_limits(compiled, limits) } else { Jit::new(compiled) };
    let mut jit = jit.map_err(|refusal| Failure::Usage(format!("there is no listing: {refusal}")))?;
    if is_limited {
        jit.set_limits(limits).map_err(|problem| Failure::Usage(problem.to_string()))?;
    }
    Ok(jit.listing())
}
