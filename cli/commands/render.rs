//! `gramjet render`: replays choice bytes.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use gramjet::choices::Header;
use gramjet::{Choices, Producer};

use crate::arguments::engine::EngineArgument;
use crate::arguments::grammar::GrammarArgs;
use crate::arguments::limits::LimitArgs;
use crate::engine::Engine;
use crate::failure::{Failure, say};
use crate::files;
use crate::output::separator::InputTooLong;
use crate::output::whole::write_output;
use crate::prepared::Prepared;
use crate::recorded::{self, Recorder};
use crate::source::Source;
use crate::tally::Tally;
use crate::units::plural;

/// Replay choice bytes: write the input that they stand for.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgs,

    /// The choice bytes, `-` for standard input.
    #[arg(value_name = "CHOICES-FILE", value_hint = ValueHint::FilePath)]
    choices: PathBuf,

    /// The engine that runs the grammar; the output does not depend on it.
    #[arg(long, value_enum, default_value_t = EngineArgument::AUTO)]
    engine: EngineArgument,

    /// Write to this file.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Take all of the file for choice bytes, also if it begins as a header does.
    #[arg(long)]
    raw: bool,

    /// Say how many choice bytes were read.
    #[arg(short, long)]
    verbose: bool,

    #[command(flatten)]
    limits: LimitArgs,
}

/// Writes the input that the choice bytes stand for.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    if args.grammar.grammar == "-" && args.choices.as_os_str() == "-" {
        return Err(Failure::Usage(
            "the grammar and the choice bytes cannot both come from standard input".to_string(),
        ));
    }
    let source = Source::load(&args.grammar)?;
    let file = files::read_bytes(&args.choices)?;
    let (header, bytes) = split(&file, args.raw)?;
    let engine = start(source, args, header.as_ref())?;
    let mut output = Vec::new();
    let consumed = engine.producer().produce(&mut Choices::replay(bytes), &mut output);
    let most = engine.limits().output();
    if output.len() as u64 > most {
        let reason = InputTooLong::Memory { most }.to_string();
        return Err(Failure::TooLong { reason, written: Tally::default() });
    }
    write_output(args.output.as_deref(), &output)?;
    if args.verbose {
        say!("gramjet: engine {}, {}", engine.name(), engine.applied());
        say!(
            "gramjet: read {consumed} of {}, wrote {}",
            plural(bytes.len() as u64, "choice byte"),
            plural(output.len() as u64, "byte")
        );
    }
    Ok(())
}

/// Returns the header and the choice bytes of a file.
fn split(file: &[u8], is_raw: bool) -> Result<(Option<Header>, &[u8]), Failure> {
    if is_raw {
        return Ok((None, file));
    }
    recorded::split(file).map_err(|failure| {
        Failure::Usage(format!("{failure}; `--raw` takes such bytes for choice bytes without a header"))
    })
}

/// Returns the engine that replays, under the limits of the header where the arguments leave them open.
fn start(source: Source, args: &Arguments, header: Option<&Header>) -> Result<Engine, Failure> {
    let Some(header) = header else {
        return Engine::start(&Prepared::new(source, &args.grammar, &args.limits)?, args.engine);
    };
    let prepared = recorded::prepare(source, &args.grammar, &args.limits, header)?;
    let compiled = prepared.compile().map_err(|failure| recorded::blame(failure, &args.grammar, header))?;
    Recorder::new(compiled, &prepared.options).check(header)?;
    Engine::start(&prepared, args.engine)
}
