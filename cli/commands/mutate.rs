//! `gramjet mutate`: valid variants of files, by changes of their choice bytes along their structure.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use gramjet::choices::{Header, Mutator, Store, TracedInput};
use gramjet::{Choices, Producer};
use gramjet_engine::Tracer;
use gramjet_session::Language;

use crate::arguments::grammar::GrammarArgs;
use crate::arguments::limits::LimitArgs;
use crate::failure::{Failure, say};
use crate::files::{self, folder, read_stdin_once, shown};
use crate::output::separator::{Separator, SeparatorArgument};
use crate::output::whole::{standard_output, write_output};
use crate::prepared::Prepared;
use crate::recorded;
use crate::source::Source;
use crate::texts::describe;
use crate::units::{self, Bound};

/// Make valid variants of files that conform to a grammar.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgs,

    /// The files, `-` for standard input: texts, or choice bytes with the header that `gramjet parse --choices` writes.
    /// The first header says how the grammar is read, where no option does.
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,

    /// Take texts in which copies, lengths, counts and checksums of labelled parts are wrong. Their variants have the
    /// right ones.
    #[arg(long)]
    repair: bool,

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

    /// No variant is longer than this in bytes (4096, 64KiB, 1MB), unless its file is; `none` for no limit.
    #[arg(long, value_name = "SIZE", default_value = "none", allow_negative_numbers = true, value_parser = units::parse_size_bound)]
    max_len: Bound<u64>,

    /// Write to this file; to one file per variant if it is a directory or ends with a slash.
    #[arg(short, long, value_name = "FILE|DIR/", value_hint = ValueHint::AnyPath)]
    output: Option<PathBuf>,

    /// The separator after or before each variant; newline by default, none for a directory.
    #[arg(long, value_enum, value_name = "KIND", conflicts_with = "choices")]
    separator: Option<SeparatorArgument>,

    /// Write the choice bytes of the variants, which `gramjet render` takes, in place of their texts; more than one
    /// need a directory.
    #[arg(long)]
    choices: bool,

    /// Write the choice bytes without a header.
    #[arg(long, requires = "choices")]
    raw: bool,

    /// Say of each variant how it was made.
    #[arg(short, long)]
    verbose: bool,
}

/// Number of times that a variant is tried until it differs from its file.
const TRIES: usize = 16;

/// Random inputs that parts are taken from have at most this number of choice bytes.
const RANDOM_CHOICES: usize = 1024;

/// Makes variants.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    read_stdin_once(&args.grammar.grammar, &args.files)?;
    let source = Source::load(&args.grammar)?;
    let files: Vec<(&Path, Vec<u8>)> =
        args.files.iter().filter_map(|file| Some((file.as_path(), read(file)?))).collect();
    let header = files.iter().find_map(|(_, bytes)| recorded::split(bytes).ok()?.0);
    let language = language(source, args, header.as_ref())?;
    let mut tracer = language.unlimited_tracer();
    let mut store = Store::default();
    let inputs = trace(args, &files, &language, &mut tracer, &mut store);
    if inputs.is_empty() {
        return Err(Failure::Nonconforming("no file conforms to the grammar".to_string()));
    }
    add_random(args, &mut tracer, &mut store);
    let mut output = Output::open(args)?;
    vary(args, &language, &inputs, &store, &mut tracer, &mut output)?;
    output.finish()?;
    match (args.files.len() - inputs.len(), args.files.len()) {
        (0, _) => Ok(()),
        (unused, all) => Err(Failure::Nonconforming(format!("{unused} of {all} files were not used"))),
    }
}

/// Returns the bytes of a file; `None` if it cannot be read, which is reported.
fn read(file: &Path) -> Option<Vec<u8>> {
    files::read_bytes(file).map_err(|failure| say!("gramjet: {failure}")).ok()
}

/// Returns the grammar, read as the header says.
fn language(source: Source, args: &Arguments, header: Option<&Header>) -> Result<Language, Failure> {
    let limits = LimitArgs::default();
    let prepared = match header {
        None => Prepared::new(source, &args.grammar.for_texts(), &limits)?,
        Some(header) => recorded::prepare(source, &args.grammar, &limits, header)?,
    };
    let compiled = prepared.compile().map_err(|failure| match header {
        None => failure,
        Some(header) => recorded::blame(failure, &args.grammar, header),
    })?;
    Ok(Language::unlimited(compiled, &prepared.options))
}

/// Returns the derivations of the files, whose parts go to the store. Files without one are reported.
fn trace(
    args: &Arguments,
    files: &[(&Path, Vec<u8>)],
    language: &Language,
    tracer: &mut Tracer,
    store: &mut Store,
) -> Vec<TracedInput> {
    let parse = |text: &[u8]| if args.repair { language.repair(text) } else { language.parse(text) };
    let mut inputs = Vec::new();
    for (file, bytes) in files {
        let choices = match recorded_choices(bytes, language) {
            Ok(Recorded::Choices(choices)) => Ok(choices),
            Ok(Recorded::Text(text)) => parse(&text).map_err(|error| describe(file, &text, &error)),
            Err(failure) => Err(format!("gramjet: {}: {failure}", shown(file))),
        };
        match choices {
            Ok(choices) => {
                let input = TracedInput::new(tracer, &choices, choices.len());
                store.add(&input);
                inputs.push(input);
            }
            Err(message) => say!("{message}"),
        }
    }
    inputs
}

/// Adds the parts of random inputs.
fn add_random(args: &Arguments, tracer: &mut Tracer, store: &mut Store) {
    for number in 0..args.random {
        let mut source = Choices::of_block(args.seed, number);
        let choices: Vec<u8> = (0..RANDOM_CHOICES).map_while(|_| source.next_byte()).collect();
        store.add(&TracedInput::new(tracer, &choices, 2 * RANDOM_CHOICES));
    }
}

/// Makes the variants, in turn of each input.
fn vary(
    args: &Arguments,
    language: &Language,
    inputs: &[TracedInput],
    store: &Store,
    tracer: &mut Tracer,
    output: &mut Output<'_>,
) -> Result<(), Failure> {
    let max_choices = usize::try_from(args.max_choices).unwrap_or(usize::MAX);
    let mut mutator = Mutator::new(args.seed).max_choices(max_choices);
    let max_len = args.max_len.number();
    let mut producer = language.producer();
    let mut mutant = Vec::new();
    for number in 0..args.count {
        let input = &inputs[(number % inputs.len() as u64) as usize];
        let most = max_len.map(|most| most.max(input.output().len() as u64));
        if let Some(most) = most {
            // Mutators keep the bound on outputs; a language can do without a limit on depth.
            let _ = tracer.set_limits(tracer.limits().max_output(most));
        }
        let mut made = None;
        // A changed choice byte need not change the text, and may make it too long.
        for _ in 0..TRIES {
            let Some(operation) = mutator.mutate(input, store, tracer, &mut mutant) else { break };
            let mut text = Vec::new();
            producer.produce(&mut Choices::replay(&mutant), &mut text);
            if most.is_some_and(|most| text.len() as u64 > most) {
                continue;
            }
            let is_other = text != input.output();
            made = Some((operation, mutant.clone(), text));
            if is_other {
                break;
            }
        }
        let Some((operation, mutant, text)) = made else {
            let why = match max_len {
                None => "the grammar has one input only: nothing can be changed".to_string(),
                Some(most) => format!("nothing can be changed within {}", units::plural(most, "byte")),
            };
            return Err(Failure::Usage(why));
        };
        if args.verbose {
            say!("gramjet: variant {number}: {}, {} bytes", operation.name(), text.len());
        }
        let bytes = match (args.choices, args.raw) {
            (true, true) => mutant,
            (true, false) => language.with_header(&mutant),
            (false, _) => output.separator.around(text),
        };
        output.write(number, &bytes)?;
    }
    Ok(())
}

/// The contents of a file.
enum Recorded<'f> {
    /// Choice bytes that stand for their text without limits.
    Choices(Vec<u8>),
    /// A text.
    Text(Cow<'f, [u8]>),
}

/// Reads the contents of a file; choice bytes that keep limits are rendered.
fn recorded_choices<'f>(file: &'f [u8], language: &Language) -> Result<Recorded<'f>, Failure> {
    let (limits, choices) = language.without_header(file).map_err(recorded::refused)?;
    match limits {
        None => Ok(Recorded::Text(Cow::Borrowed(file))),
        Some(limits) if limits == recorded::unlimited() => Ok(Recorded::Choices(choices.to_vec())),
        Some(_) => {
            let mut text = Vec::new();
            language.replay(&mut *language.producer(), file, &mut text).map_err(recorded::refused)?;
            Ok(Recorded::Text(Cow::Owned(text)))
        }
    }
}

/// Destination of the variants.
struct Output<'a> {
    folder: Option<&'a Path>,
    together: Option<Together>,
    separator: Separator,
    /// The digits of the names of files.
    digits: usize,
}

impl<'a> Output<'a> {
    fn open(args: &'a Arguments) -> Result<Output<'a>, Failure> {
        let folder = folder(args.output.as_deref());
        if let Some(folder) = folder {
            fs::create_dir_all(folder).map_err(|error| Failure::writing(folder, error))?;
        }
        if args.choices && folder.is_none() && args.count > 1 {
            return Err(Failure::Usage("`--choices` of several variants needs a directory: `-o DIR/`".to_string()));
        }
        let separator = Separator::of(args.separator.unwrap_or(match folder {
            Some(_) => SeparatorArgument::None,
            None => SeparatorArgument::Newline,
        }));
        let together = match folder {
            Some(_) => None,
            None => Some(Together::new(args.output.as_deref())?),
        };
        Ok(Output { folder, together, separator, digits: args.count.saturating_sub(1).to_string().len() })
    }

    fn write(&mut self, number: u64, bytes: &[u8]) -> Result<(), Failure> {
        let digits = self.digits;
        match (self.folder, &mut self.together) {
            (Some(folder), _) => write_output(Some(&folder.join(format!("{number:0digits$}"))), bytes),
            (None, Some(together)) => together.write(bytes),
            (None, None) => Ok(()),
        }
    }

    fn finish(self) -> Result<(), Failure> {
        self.together.map_or(Ok(()), Together::finish)
    }
}

/// A single destination for all variants: a file or standard output.
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
