//! The arguments of every command, as clap sees them; what they mean is decided in the modules of the commands.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use gramjet_compiler::limits::AssumedLimits;
use gramjet_compiler::shape::Shape;
use gramjet_compiler::tokens::Indent;

use crate::shard::ShardArgument;
use crate::units::{self, Bound};

/// Compiles context-free grammars to producers of valid inputs.
///
/// A grammar is a file, `-` for standard input, or the name of a grammar that ships with gramjet (`gramjet grammars`
/// lists them).
#[derive(Debug, Parser)]
#[command(name = "gramjet", version, propagate_version = true, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Generate inputs.
    Gen(Box<GenArgs>),
    /// Say what is wrong with a grammar, and what its inputs will look like.
    Check(CheckArgs),
    /// Find weights that give inputs a shape, and write them to a file.
    Weights(WeightsArgs),
    /// Replay choice bytes: write the input that they stand for.
    Render(RenderArgs),
    /// Say whether files conform to a grammar, and print their trees or the choice bytes that produce them.
    Parse(crate::parse::ParseArgs),
    /// Make valid variants of files that conform to a grammar.
    Mutate(crate::mutate::MutateArgs),
    /// Make a file smaller that a command fails on, within the grammar.
    #[command(visible_alias = "tmin")]
    Minimise(crate::minimise::MinimiseArgs),
    /// Print what a stage of the compiler makes of a grammar.
    Dump(DumpArgs),
    /// Print the source code or the machine code of a producer.
    Emit(EmitArgs),
    /// Write a grammar in another notation.
    Convert(ConvertArgs),
    /// List the grammars that ship with gramjet.
    Grammars,
    /// Print a completion script for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, in roff.
    Man {
        /// The command whose page to print; without it, the page of gramjet itself.
        command: Option<String>,
    },
}

impl Command {
    /// Tells the grammar's arguments which limits the command has.
    pub fn assume_limits(&mut self) {
        match self {
            Command::Gen(args) => args.grammar.how.limits = args.limits.assumed(),
            Command::Check(args) => args.how.limits = args.limits.assumed(),
            Command::Weights(args) => args.grammar.how.limits = args.limits.assumed(),
            Command::Render(args) => args.grammar.how.limits = args.limits.assumed(),
            Command::Emit(args) => {
                args.grammar.how.limits =
                    AssumedLimits { max_depth: args.max_depth.map(Some), max_len: args.max_len.map(Some) };
            }
            Command::Minimise(args) => args.assume_limits(),
            _ => {}
        }
    }
}

/// Which grammar, and how to read it.
#[derive(Clone, Debug, Default, Args)]
pub struct GrammarArgs {
    /// A grammar file, `-` for standard input, or the name of a shipped grammar.
    #[arg(value_name = "GRAMMAR", value_hint = ValueHint::FilePath)]
    pub grammar: OsString,

    #[command(flatten)]
    pub how: HowArgs,
}

/// How to read a grammar, and what its inputs should look like.
#[derive(Clone, Debug, Default, Args)]
pub struct HowArgs {
    /// The rule to start from, in place of the grammar's own start rule.
    #[arg(long, value_name = "RULE")]
    pub start: Option<String>,

    /// The notation of the grammar; by default the file's extension or its text decides.
    #[arg(long, value_name = "FORMAT", value_parser = crate::engines::format_names())]
    pub format: Option<String>,

    #[command(flatten)]
    pub reading: ReadingArgs,

    #[command(flatten)]
    pub shape: ShapeArgs,

    #[command(flatten)]
    pub end: EndOfHeadings,

    /// The limits of the command, under which lengths are computed.
    #[arg(skip)]
    pub limits: AssumedLimits,
}

/// The weights of alternatives and repetitions, in place of the grammar's own.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Shape of the inputs")]
pub struct ShapeArgs {
    /// What inputs should look like: uniform, balanced, deep, or target-size=SIZE.
    ///
    /// `uniform` makes all alternatives equally probable; `balanced` finds weights with which derivations end and everything is
    /// reached; `deep` prefers long recursion; `target-size=4k` finds weights for inputs of 4000 bytes in the mean. Without it
    /// the weights are the grammar's own; a grammar that has none, and no limit on the length, gets those of `target-size=1k` if its
    /// inputs had less than 16 bytes or more than 16 KiB in the mean, or if more than a fifth were the shortest one.
    #[arg(long, value_name = "SHAPE", value_parser = units::parse_shape, conflicts_with = "weights")]
    pub shape: Option<Shape>,

    /// Take the weights from this file, which `gramjet weights` has written.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub weights: Option<PathBuf>,

    /// Take the grammar's own weights, whatever inputs they make: what a header of choice bytes may say.
    #[arg(skip)]
    pub own: bool,
}

/// Clap's headings hold for all arguments behind them, also for those of the command that these are part of; this ends them.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = clap::builder::Resettable::Reset)]
pub struct EndOfHeadings {}

/// How a grammar is read, in the formats to which it matters.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Reading the grammar")]
pub struct ReadingArgs {
    /// Where separators stand between tokens, in formats with a lexer (ANTLR): auto, space, none, or any.
    ///
    /// `auto` puts one only where the lexer would else cut the text otherwise, `space` between all tokens, `none` nowhere; `any`
    /// takes whatever is hidden between any tokens. `parse`, `mutate` and `minimise` read grammars with `any` unless they are told
    /// otherwise, other commands with `auto`.
    #[arg(long, value_name = "POLICY", value_parser = crate::engines::separator_policies())]
    pub separator_policy: Option<String>,

    /// What sets that are written as complements draw from, in formats with a lexer (ANTLR).
    ///
    /// `readable`, the default, is printable ASCII and a few others; `ascii` is printable ASCII; `unicode` is all
    /// characters; `bytes` is those up to U+00FF; `all`, the default with `--separator-policy any`, is all characters, but mostly
    /// printable ASCII.
    #[arg(long, value_name = "ALPHABET", value_parser = crate::engines::alphabets())]
    pub alphabet: Option<String>,

    /// How tokens for indentation are read, in formats that leave them to code (ANTLR, Lark, tree-sitter): auto, none, or some of the settings below.
    ///
    /// `auto` finds them by their names, such as INDENT, _dedent and NEWLINE; with `none` they are read as any others. Else some of
    /// `unit=4` (spaces a level, or `tab`), `levels=8` (blocks within one another; deeper ones are left out) and
    /// `tokens=NEWLINE/INDENT/DEDENT` (the first may be empty), with commas between.
    #[arg(long, value_name = "HOW")]
    pub indent: Option<Indent>,

    /// What tokens derive, in formats that leave that to a lexer (yacc, Lark, tree-sitter, ANTLR): a grammar in any format with a rule for each.
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<PathBuf>,

    /// Refuse grammars that say something that a context-free grammar cannot, in place of leaving it out with a warning.
    #[arg(long)]
    pub strict: bool,
}

/// The limits of one input; each replaces the directive of the same name in the grammar file.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Limits of one input")]
pub struct LimitArgs {
    /// Rules more than this many references below the start rule are completed as briefly as possible; `none` for no limit.
    ///
    /// Where neither the grammar file nor the command line sets a depth or a length, the depth is 32.
    #[arg(long, value_name = "DEPTH", allow_negative_numbers = true, value_parser = units::parse_depth)]
    pub max_depth: Option<Bound<u32>>,

    /// No input is longer than this, in bytes (4096, 64KiB, 1MB); `none` for no limit.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = units::parse_size_bound)]
    pub max_len: Option<Bound<u64>>,

    /// An input reads at most this many choice bytes, and is completed as briefly as possible after them.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = units::parse_size)]
    pub max_choices: Option<u64>,
}

impl LimitArgs {
    /// What the compiler is to assume of them.
    pub fn assumed(&self) -> AssumedLimits {
        AssumedLimits { max_depth: self.max_depth.map(Bound::number), max_len: self.max_len.map(Bound::number) }
    }
}

/// What runs the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineArgument {
    /// The fastest engine that can run this grammar.
    Auto,
    /// The plain interpreter that the others are judged by.
    Reference,
    /// The table interpreter; runs every grammar.
    Vm,
    /// Compiled to machine code at once; on x86-64 under Unix.
    Jit,
    /// Compiled ahead of time; for shipped grammars that have a compiled producer, named without a path, from
    /// their own start rule.
    Rust,
    /// Tables for gigabytes, without a limit on the length. Its inputs are not those of the other engines. It draws with the
    /// grammar's own probabilities, which the others round to slots of 1/256; `auto` takes it without `--seed` where it was
    /// measured to be done first.
    Bulk,
}

/// `gramjet gen`.
#[derive(Debug, Args)]
#[command(after_long_help = GEN_EXAMPLES)]
pub struct GenArgs {
    #[command(flatten)]
    pub grammar: GrammarArgs,

    #[command(flatten)]
    pub amount: AmountArgs,

    /// The number that the whole run depends on: same seed, same output; decimal or 0x and hexadecimal.
    ///
    /// Without it the seed is random, and -v shows it.
    #[arg(short, long, value_name = "SEED", allow_negative_numbers = true, value_parser = units::parse_seed)]
    pub seed: Option<u64>,

    /// What runs the grammar; the output does not depend on it, except for `bulk`.
    #[arg(long, value_enum, default_value_t = EngineArgument::Auto)]
    pub engine: EngineArgument,

    /// Make the bulk engine's tables up to N times as large, with N times the work: more bytes a second for some grammars, for
    /// runs that are long enough. The inputs may be others.
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub optimise: u32,

    /// The number of threads, or `auto` for one per processor; the output does not depend on it.
    #[arg(short, long, value_name = "N", default_value = "1", allow_negative_numbers = true, value_parser = units::parse_jobs)]
    pub jobs: usize,

    /// Make only the I-th part (from 0) of a run that N processes share, or `auto`.
    ///
    /// With -n each shard makes a contiguous part, and all parts in order are byte for byte the run without --shard. With
    /// --bytes and --time shard I makes the blocks I, I+N, ... of 256 inputs each, and its N-th part of the bytes.
    /// `auto` reads SLURM_ARRAY_TASK_ID, _COUNT and _MIN, or JOB_COMPLETION_INDEX with JOB_COMPLETIONS or GRAMJET_SHARDS.
    #[arg(long, value_name = "I/N", requires = "seed")]
    pub shard: Option<ShardArgument>,

    /// Say what is done, and sum it up at the end.
    #[arg(short, long)]
    pub verbose: bool,

    /// Show no progress line.
    #[arg(long)]
    pub no_progress: bool,

    /// Say which rules and alternatives the inputs came to; as JSON, too, with --coverage=FILE.
    ///
    /// The inputs are made a second time for this, by a slow interpreter, until nothing is left to be reached.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, value_hint = ValueHint::FilePath)]
    pub coverage: Option<Option<PathBuf>>,

    #[command(flatten)]
    pub limits: LimitArgs,

    #[command(flatten)]
    pub output: OutputArgs,
}

/// How much to generate.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct AmountArgs {
    /// Generate this many inputs (100, 10k, 2M); 1 if no amount is given.
    #[arg(short = 'n', long = "count", value_name = "N", allow_negative_numbers = true, value_parser = units::parse_count)]
    pub count: Option<u64>,

    /// Generate until at least this many bytes are written, separators included; inputs are never cut.
    ///
    /// k, M, G, T (and kB, MB, ...) are powers of 1000; KiB, MiB, GiB, TiB are powers of 1024.
    #[arg(short, long, value_name = "SIZE", allow_negative_numbers = true, value_parser = units::parse_size)]
    pub bytes: Option<u64>,

    /// Generate for this long (500ms, 30s, 2m, 1h30m), up to the end of an input.
    #[arg(short, long, value_name = "DURATION", allow_negative_numbers = true, value_parser = units::parse_duration)]
    pub time: Option<Duration>,
}

/// Where the inputs go.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Write to this file; to one file per input if it is a directory, ends with a slash, or --ext is given.
    #[arg(short, long, value_name = "FILE|DIR/", value_hint = ValueHint::AnyPath)]
    pub output: Option<PathBuf>,

    /// The extension of the files in the output directory.
    #[arg(long, value_name = "EXT", requires = "output", value_parser = units::parse_extension)]
    pub ext: Option<String>,

    /// What stands between the inputs; newline by default, none for a directory.
    #[arg(long, value_enum, value_name = "KIND")]
    pub separator: Option<SeparatorArgument>,

    /// How a file is written.
    #[arg(long, value_enum, value_name = "MODE", default_value_t = WriteMode::Auto)]
    pub write_mode: WriteMode,

    /// Short for --write-mode mmap.
    #[arg(long, conflicts_with_all = ["write_mode", "no_mmap"])]
    pub mmap: bool,

    /// Short for --write-mode write.
    #[arg(long, conflicts_with = "write_mode")]
    pub no_mmap: bool,
}

/// What stands between inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SeparatorArgument {
    /// A line feed after each input; inputs may contain line feeds themselves.
    Newline,
    /// A zero byte after each input.
    Nul,
    /// Nothing.
    None,
    /// The length in bytes before each input, as 32 bits, little endian.
    Len32,
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WriteMode {
    /// The faster of the two, as measured.
    Auto,
    /// With write(2).
    Write,
    /// Through a memory map (regular files, on Linux).
    Mmap,
}

/// `gramjet check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// A grammar file, `-` for standard input, or the name of a shipped grammar.
    #[arg(value_name = "GRAMMAR", value_hint = ValueHint::FilePath, required_unless_present = "explain")]
    pub grammar: Option<OsString>,

    #[command(flatten)]
    pub how: HowArgs,

    /// Print what a code of a diagnostic means, with an example and a remedy, and do nothing else.
    #[arg(long, value_name = "CODE", exclusive = true, value_parser = crate::engines::code_names())]
    pub explain: Option<String>,

    /// Print diagnostics and facts as JSON on standard output; docs/lints.md describes it.
    #[arg(long)]
    pub json: bool,

    /// Take warnings with this code for errors; `warnings` stands for all. The help of `--explain` lists the codes.
    #[arg(long, value_name = "CODE", hide_possible_values = true, value_parser = crate::engines::code_names_or_warnings())]
    pub deny: Vec<String>,

    /// Leave warnings with this code out; `warnings` stands for all that are not denied. The help of `--explain` lists the codes.
    #[arg(long, value_name = "CODE", hide_possible_values = true, value_parser = crate::engines::code_names_or_warnings())]
    pub allow: Vec<String>,

    #[command(flatten)]
    pub limits: LimitArgs,
}

/// `gramjet weights`.
#[derive(Debug, Args)]
pub struct WeightsArgs {
    #[command(flatten)]
    pub grammar: GrammarArgs,

    /// Write to this file.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub limits: LimitArgs,
}

/// `gramjet render`.
#[derive(Debug, Args)]
pub struct RenderArgs {
    #[command(flatten)]
    pub grammar: GrammarArgs,

    /// The choice bytes, `-` for standard input.
    #[arg(value_name = "CHOICES-FILE", value_hint = ValueHint::FilePath)]
    pub choices: PathBuf,

    /// What runs the grammar; the output does not depend on it.
    #[arg(long, value_enum, default_value_t = EngineArgument::Auto)]
    pub engine: EngineArgument,

    /// Write to this file.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Take all of the file for choice bytes, also if it begins as a header does.
    #[arg(long)]
    pub raw: bool,

    /// Say how many choice bytes were read.
    #[arg(short, long)]
    pub verbose: bool,

    #[command(flatten)]
    pub limits: LimitArgs,
}

/// `gramjet dump`.
#[derive(Debug, Args)]
pub struct DumpArgs {
    /// The stage.
    #[arg(value_name = "STAGE", value_parser = crate::engines::stage_names())]
    pub stage: String,

    #[command(flatten)]
    pub grammar: GrammarArgs,

    /// The depth limit that is unfolded, in place of the grammar file's (`unfold` only).
    #[arg(long, value_name = "DEPTH")]
    pub max_depth: Option<u32>,
}

/// `gramjet emit`.
#[derive(Debug, Args)]
pub struct EmitArgs {
    /// The language.
    #[arg(value_enum)]
    pub language: EmitLanguage,

    #[command(flatten)]
    pub grammar: GrammarArgs,

    /// Write to this file.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,

    /// Emit code that compiles under `#![forbid(unsafe_code)]` (rust only).
    #[arg(long)]
    pub forbid_unsafe: bool,

    /// The path of the library in the code, for a dependency that has another name: `::gj` (rust only).
    #[arg(long, value_name = "PATH")]
    pub library: Option<String>,

    /// The depth limit that the producer begins with, in place of the grammar file's.
    ///
    /// There is code for this limit alone if it is small and the only one. Else `asm` knows only its kinds of limits: there is
    /// code for a depth, for a length, for both and for none.
    #[arg(long, value_name = "DEPTH")]
    pub max_depth: Option<u32>,

    /// The length limit that the producer begins with, in place of the grammar file's.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true, value_parser = units::parse_size)]
    pub max_len: Option<u64>,
}

/// `gramjet convert`.
#[derive(Debug, Args)]
pub struct ConvertArgs {
    #[command(flatten)]
    pub grammar: GrammarArgs,

    /// The file to write, `-` for standard output; its extension says which notation (ebnf, json, abnf, g4).
    #[arg(value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub output: PathBuf,

    /// The notation to write, whatever the extension.
    #[arg(long, value_name = "FORMAT", value_parser = crate::engines::printer_names())]
    pub to: Option<String>,

    /// Leave the weights out, for notations that have none; alternatives of weight 0 are left out, too.
    #[arg(long)]
    pub drop_weights: bool,
}

/// What `gramjet emit` can print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EmitLanguage {
    /// A Rust module that depends on the `gramjet` library.
    Rust,
    /// The machine code of the engine `jit`, disassembled.
    Asm,
}

const GEN_EXAMPLES: &str = "\
Examples:
  gramjet gen json                                 one JSON document
  gramjet gen my.ebnf -n 1000 --seed 7 -o corpus/ --ext txt
  gramjet gen json --bytes 10G --jobs auto -o big.json
  gramjet gen css --time 30s --separator nul | xargs -0 -n 1 ./my-parser
  gramjet gen json -n 1M --seed 7 --shard 2/8 -o part2.json";
