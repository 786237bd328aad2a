//! `gramjet evolve`: probabilities of a grammar that evolve towards what a program does.

use clap::Args;

use super::fuzz;
use crate::failure::Failure;

/// Evolve the weights of a grammar towards texts that make a program do new things, or fail.
///
/// This is `gramjet fuzz --strategy evolve`, after EvoGFuzz: a generation of texts is drawn by the probabilities of the
/// alternatives; the fittest are selected; the probabilities are learned from these, some are mutated, and the next
/// generation is drawn. The first probabilities are those of the samples. Failures are kept as `gramjet fuzz` keeps
/// them, and the weights that the search has come to are written to DIR/weights, for `--weights` of the other commands.
#[derive(Debug, Args)]
#[group(skip)]
#[command(
    after_long_help = EXAMPLES,
    mut_arg("strategy", |argument| argument.default_value("evolve")),
    mut_arg("output", |argument| argument.default_value("evolve-out")),
    mut_arg("seeds", |argument| argument.long("samples").alias("seeds").help(SAMPLES)),
)]
pub struct Arguments {
    #[command(flatten)]
    fuzz: fuzz::Arguments,
}

const SAMPLES: &str = "Learn the first probabilities from the files in this folder, and run them. Those that do not \
    conform to the grammar are run, but nothing is learned from them";

const EXAMPLES: &str = "\
Examples:
  gramjet evolve json --samples corpus/ --time 10m -- ./my-parser @@
  gramjet gen json --weights evolve-out/weights --engine bulk -n 1M -o inputs.txt
  gramjet evolve css --paper --time 10m -o published -- ./my-parser @@
  gramjet evolve css --strategy common --samples corpus/ --time 10m -o baseline -- ./my-parser @@

Exit status: 0 if nothing new failed; 1 if something did, or if the search could not go on;
2 if the arguments or the grammar cannot be used.";

/// Evolves.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    fuzz::run(&args.fuzz)
}
