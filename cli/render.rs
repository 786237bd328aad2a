//! `gramjet render`: replays choice bytes.

use gramjet::{Choices, Producer};

use crate::args::RenderArgs;
use crate::engines;
use crate::failure::{Failure, say};
use crate::generate::{InputTooLong, Tally};
use crate::grammar;
use crate::limits;
use crate::recorded;
use crate::texts::write_output;
use crate::units::plural;

/// Writes the input that the choice bytes stand for.
pub fn run(args: &RenderArgs) -> Result<(), Failure> {
    if args.grammar.grammar == "-" && args.choices.as_os_str() == "-" {
        return Err(Failure::Usage(
            "the grammar and the choice bytes cannot both come from standard input".to_string(),
        ));
    }
    let source = grammar::load(&args.grammar)?;
    let file = grammar::read_bytes(&args.choices)?;
    let (header, bytes) = match args.raw {
        true => (None, file.as_slice()),
        false => recorded::split(&file).map_err(|failure| {
            Failure::Usage(format!("{failure}; `--raw` takes such bytes for choice bytes without a header"))
        })?,
    };
    let (engine, limits) = match &header {
        None => {
            let mut engine = engines::prepare(&source, &args.grammar, args.engine, &args.limits)?;
            let limits = limits::apply(&mut engine, &args.limits)?;
            (engine, limits)
        }
        Some(header) => {
            let (grammar, limits) = (recorded::adopt(&args.grammar, header), recorded::limits(&args.limits, header));
            let mut engine = engines::prepare_recorded(&source, &grammar, args.engine, &limits, header)
                .map_err(|failure| recorded::blame(failure, &args.grammar, header))?;
            let limits = limits::apply(&mut engine, &limits)?;
            (engine, limits)
        }
    };
    let mut output = Vec::new();
    let consumed = engine.producer().produce(&mut Choices::replay(bytes), &mut output);
    let most = engine.limits().output();
    if output.len() as u64 > most {
        return Err(Failure::TooLong { reason: InputTooLong::Memory { most }, written: Tally::default() });
    }
    write_output(args.output.as_deref(), &output)?;
    if args.verbose {
        say!("gramjet: engine {}, {limits}", engine.name());
        say!(
            "gramjet: read {consumed} of {}, wrote {}",
            plural(bytes.len() as u64, "choice byte"),
            plural(output.len() as u64, "byte")
        );
    }
    Ok(())
}
