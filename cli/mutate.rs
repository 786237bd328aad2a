//! `gramjet mutate`: valid variants of files, by changes of their choice bytes along their structure.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use gramjet::choices::{Mutator, Store, TracedInput};
use gramjet::{Choices, Producer};
use gramjet_engine::Fastest;
use gramjet_parse::Budget;

use crate::args::{GrammarArgs, SeparatorArgument};
use crate::engines;
use crate::failure::{Failure, say};
use crate::grammar;
use crate::parse::{describe, ends_with_slash, read_stdin_once, shown};
use crate::recorded::{self, Recorder};
use crate::sinks::standard_output;
use crate::texts::write_output;
use crate::units;

/// `gramjet mutate`.
#[derive(Debug, Args)]
pub struct MutateArgs {
    #[command(flatten)]
    grammar: GrammarArgs,

    /// The files, `-` for standard input: texts, or choice bytes with the header that `gramjet parse --choices` writes. The first header
    /// says how the grammar is read, where no option does.
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,

    /// Make this many variants, in turn of each file.
    #[arg(short = 'n', long = "count", value_name = "N", default_value = "1", allow_negative_numbers = true, value_parser = units::parse_count)]
    count: u64,

    /// The number that the run depends on, with the files: same seed, same variants.
    #[arg(short, long, value_name = "SEED", default_value = "0", allow_negative_numbers = true, value_parser = units::parse_seed)]
    seed: u64,

    /// Take parts also from this many random inputs of the grammar.
    #[arg(long, value_name = "N", default_value = "200", allow_negative_numbers = true, value_parser = units::parse_count)]
    random: u64,

    /// No variant has more choice bytes, unless its file has more.
    #[arg(long, value_name = "SIZE", default_value = "64KiB", allow_negative_numbers = true, value_parser = units::parse_size)]
    max_choices: u64,

    /// Write to this file; to one file per variant if it is a directory or ends with a slash.
    #[arg(short, long, value_name = "FILE|DIR/", value_hint = ValueHint::AnyPath)]
    output: Option<PathBuf>,

    /// What follows each variant, or stands before it; newline by default, none for a directory.
    #[arg(long, value_enum, value_name = "KIND", conflicts_with = "choices")]
    separator: Option<SeparatorArgument>,

    /// Write the choice bytes of the variants, which `gramjet render` takes, in place of their texts; more than one need a directory.
    #[arg(long)]
    choices: bool,

    /// Write the choice bytes without a header.
    #[arg(long, requires = "choices")]
    raw: bool,

    /// Say of each variant how it was made.
    #[arg(short, long)]
    verbose: bool,
}

/// Random inputs of which parts are taken have at most so many choice bytes.
const RANDOM_CHOICES: usize = 1024;

/// Makes variants.
pub fn run(args: &MutateArgs) -> Result<(), Failure> {
    read_stdin_once(&args.grammar, &args.files)?;
    let source = grammar::load(&args.grammar)?;
    let files: Vec<(&Path, Vec<u8>)> =
        args.files.iter().filter_map(|file| Some((file.as_path(), read(file)?))).collect();
    let header = files.iter().find_map(|(_, bytes)| recorded::split(bytes).ok()?.0);
    let (parser, mut tracer, mut producer, recorder) = match &header {
        None => engines::unlimited_recorded(&source, &args.grammar)?,
        Some(header) => engines::unlimited_recorded(&source, &recorded::adopt(&args.grammar, header))
            .map_err(|failure| recorded::blame(failure, &args.grammar, header))?,
    };
    let parsed = |file: &Path, text: &[u8]| match parser.parse(text, &Budget::default()) {
        Ok(parsed) => Ok(parsed.choices),
        Err(error) => Err(describe(file, text, &error)),
    };
    let mut store = Store::default();
    let mut inputs = Vec::new();
    for (file, bytes) in &files {
        let choices = match recorded_choices(bytes, &recorder, &producer) {
            Ok(Recorded::Choices(choices)) => Ok(choices),
            Ok(Recorded::Text(text)) => parsed(file, &text),
            Err(failure) => Err(format!("gramjet: {}: {failure}", shown(file))),
        };
        match choices {
            Ok(choices) => {
                let input = TracedInput::new(&mut tracer, &choices, choices.len());
                store.add(&input);
                inputs.push(input);
            }
            Err(message) => say!("{message}"),
        }
    }
    if inputs.is_empty() {
        return Err(Failure::Nonconforming("no file conforms to the grammar".to_string()));
    }
    for number in 0..args.random {
        let mut source = Choices::of_block(args.seed, number);
        let choices: Vec<u8> = (0..RANDOM_CHOICES).map_while(|_| source.next_byte()).collect();
        store.add(&TracedInput::new(&mut tracer, &choices, 2 * RANDOM_CHOICES));
    }
    let folder = args.output.as_deref().filter(|output| output.is_dir() || ends_with_slash(output));
    if let Some(folder) = folder {
        fs::create_dir_all(folder).map_err(|error| Failure::writing(folder, error))?;
    }
    if args.choices && folder.is_none() && args.count > 1 {
        return Err(Failure::Usage("`--choices` of several variants needs a directory: `-o DIR/`".to_string()));
    }
    let separator = args.separator.unwrap_or(match folder {
        Some(_) => SeparatorArgument::None,
        None => SeparatorArgument::Newline,
    });
    let max_choices = usize::try_from(args.max_choices).unwrap_or(usize::MAX);
    let mut mutator = Mutator::new(args.seed).max_choices(max_choices);
    let mut mutant = Vec::new();
    let mut together = match folder {
        Some(_) => None,
        None => Some(Together::new(args.output.as_deref())?),
    };
    let digits = args.count.saturating_sub(1).to_string().len();
    for number in 0..args.count {
        let input = &inputs[(number % inputs.len() as u64) as usize];
        let Some(operation) = mutator.mutate(input, &store, &mut tracer, &mut mutant) else {
            return Err(Failure::Usage("the grammar has one input only: nothing can be changed".to_string()));
        };
        let mut output = Vec::new();
        producer.produce(&mut Choices::replay(&mutant), &mut output);
        if args.verbose {
            say!("gramjet: variant {number}: {}, {} bytes", operation.name(), output.len());
        }
        let bytes = match (args.choices, args.raw) {
            (true, true) => mutant.clone(),
            (true, false) => recorder.with_header(&mutant, recorded::unlimited()),
            (false, _) => separated(output, separator),
        };
        match (folder, &mut together) {
            (Some(folder), _) => write_output(Some(&folder.join(format!("{number:0digits$}"))), &bytes)?,
            (None, Some(together)) => together.write(&bytes)?,
            (None, None) => {}
        }
    }
    together.map_or(Ok(()), Together::finish)?;
    match (args.files.len() - inputs.len(), args.files.len()) {
        (0, _) => Ok(()),
        (unused, all) => Err(Failure::Nonconforming(format!("{unused} of {all} files were not used"))),
    }
}

/// The bytes of a file; `None` if it cannot be read, which is reported.
fn read(file: &Path) -> Option<Vec<u8>> {
    grammar::read_bytes(file).map_err(|failure| say!("gramjet: {failure}")).ok()
}

/// What a file holds.
enum Recorded<'f> {
    /// Choice bytes that stand for their text without limits.
    Choices(Vec<u8>),
    /// A text.
    Text(Cow<'f, [u8]>),
}

/// What a file holds; choice bytes that keep limits are rendered.
fn recorded_choices<'f>(file: &'f [u8], recorder: &Recorder, producer: &Fastest) -> Result<Recorded<'f>, Failure> {
    let (header, choices) = recorded::split(file)?;
    let Some(header) = header else { return Ok(Recorded::Text(Cow::Borrowed(file))) };
    recorder.check(&header)?;
    if header.limits == recorded::unlimited() {
        return Ok(Recorded::Choices(choices.to_vec()));
    }
    let (mut producer, mut text) = (producer.clone(), Vec::new());
    producer.set_limits(header.limits).map_err(|error| Failure::Usage(error.to_string()))?;
    producer.produce(&mut Choices::replay(choices), &mut text);
    Ok(Recorded::Text(Cow::Owned(text)))
}

/// Variants one behind the other, in a file or on standard output.
struct Together {
    writer: BufWriter<File>,
    path: Option<PathBuf>,
}

impl Together {
    fn new(path: Option<&Path>) -> Result<Together, Failure> {
        let path = path.filter(|path| path.as_os_str() != "-").map(Path::to_path_buf);
        let file = match &path {
            Some(path) => File::create(path),
            None => standard_output(),
        };
        match file {
            Ok(file) => Ok(Together { writer: BufWriter::new(file), path }),
            Err(error) => Err(failed(path.as_deref(), error)),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.writer.write_all(bytes).map_err(|error| failed(self.path.as_deref(), error))
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.writer.flush().map_err(|error| failed(self.path.as_deref(), error))
    }
}

fn failed(path: Option<&Path>, error: io::Error) -> Failure {
    match path {
        Some(path) => Failure::writing(path, error),
        None => Failure::Write { what: "standard output".to_string(), source: error },
    }
}

fn separated(mut output: Vec<u8>, separator: SeparatorArgument) -> Vec<u8> {
    match separator {
        SeparatorArgument::Newline => output.push(b'\n'),
        SeparatorArgument::Nul => output.push(0),
        SeparatorArgument::None => {}
        SeparatorArgument::Len32 => {
            // An output has at most 1 GiB.
            let len = output.len() as u32;
            output.splice(0..0, len.to_le_bytes());
        }
    }
    output
}
