//! `gramjet parse`: whether texts conform to a grammar, their trees, and the choice bytes that produce them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use gramjet::{Choices, Producer};
use gramjet_compiler::Compiled;
use gramjet_compiler::reference::{self, Trace};
use gramjet_parse::{Budget, Parsed, Parser};

use crate::annotation;
use crate::arguments::grammar::GrammarArgs;
use crate::arguments::limits::LimitArgs;
use crate::engine::Engine;
use crate::failure::{Failure, say};
use crate::files::{self, folder, read_stdin_once, shown};
use crate::output::whole::write_output;
use crate::prepared::Prepared;
use crate::recorded::{self, Recorder};
use crate::source::Source;
use crate::texts::describe;
use crate::units::{self, plural};

mod tree;

/// Say whether files conform to a grammar, and print their trees or the choice bytes that produce them.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgs,

    /// The files, `-` for standard input.
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    form: FormArgs,

    /// Accept wrong copies, lengths, counts, checksums and names. Trees and choice bytes are of the text
    /// with the right ones.
    #[arg(long)]
    repair: bool,

    /// Write the choice bytes without the header that says which grammar, options and limits they belong to.
    #[arg(long, requires = "choices")]
    raw: bool,

    /// Write to this file; to one file per input, with an extension of its own, if it is a directory or ends with a
    /// slash.
    #[arg(short, long, value_name = "FILE|DIR/", value_hint = ValueHint::AnyPath)]
    output: Option<PathBuf>,

    /// Give a file up that needs more memory than this.
    #[arg(long, value_name = "SIZE", default_value = "1GiB", allow_negative_numbers = true, value_parser = units::parse_size)]
    max_memory: u64,

    /// Give a file up that takes more steps than this; by default 2048 per byte, and 64 Mi.
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = units::parse_count)]
    max_steps: Option<u64>,

    /// Say of each file how large it is and what it took.
    #[arg(short, long)]
    verbose: bool,
}

/// The form in which a file that conforms is written; not at all by default.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct FormArgs {
    /// Print the tree, a line for each instance of a rule: its name, where it stands in bytes, its text.
    #[arg(long)]
    tree: bool,

    /// Print the tree as JSON.
    #[arg(long)]
    json: bool,

    /// Draw the tree as SVG: for each instance a line with its name and the beginning of its text. `--tree` does so if
    /// the output file is named `.svg`.
    #[arg(long)]
    svg: bool,

    /// Print a table of what stands where: offsets, bytes, rules and labels, numbers and texts. What a coded part
    /// stands for has offsets of its own, after a plus sign.
    #[arg(long)]
    annotate: bool,

    /// Write the choice bytes, which `gramjet render` takes.
    #[arg(long)]
    choices: bool,
}

impl Arguments {
    /// Returns true if derivations of texts are written or counted.
    fn needs_derivation(&self) -> bool {
        self.form().is_some() || self.repair || self.verbose
    }

    /// Refuses to write several files into one, if the form does not allow it.
    fn refuse_several(&self, form: Option<Form>) -> Result<(), Failure> {
        let message = match (form.and_then(Form::of_one_file), self.output.as_deref()) {
            (None, _) => return Ok(()),
            (Some(_), Some(picture)) if self.form.tree => {
                format!("{} can show the tree of one file: use `--svg -o DIR/` for several", shown(picture))
            }
            (Some(form), _) => format!("`{form}` of several files needs a directory: `-o DIR/`"),
        };
        Err(Failure::Usage(message))
    }

    /// Returns the form in which files are written, if they are.
    fn form(&self) -> Option<Form> {
        self.form.form(self.output.as_deref().filter(|_| folder(self.output.as_deref()).is_none()))
    }
}

/// Forms in which a file that conforms is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Tree,
    Json,
    Svg,
    Annotated,
    Choices,
}

impl FormArgs {
    /// Returns the form that is asked for, by name or by the extension of the output; `None` if nothing is written.
    fn form(&self, output: Option<&Path>) -> Option<Form> {
        let is_svg = output.and_then(Path::extension).is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
        match self {
            FormArgs { svg: true, .. } => Some(Form::Svg),
            FormArgs { tree: true, .. } => Some(if is_svg { Form::Svg } else { Form::Tree }),
            FormArgs { json: true, .. } => Some(Form::Json),
            FormArgs { annotate: true, .. } => Some(Form::Annotated),
            FormArgs { choices: true, .. } => Some(Form::Choices),
            _ => None,
        }
    }
}

impl Form {
    /// Returns the extension of output files.
    fn extension(self) -> &'static str {
        match self {
            Form::Choices => ".choices",
            Form::Tree => ".tree",
            Form::Annotated => ".parts",
            Form::Json => ".json",
            Form::Svg => ".svg",
        }
    }

    /// Returns the option of a form of which a file has one.
    fn of_one_file(self) -> Option<&'static str> {
        match self {
            Form::Choices => Some("--choices"),
            Form::Json => Some("--json"),
            Form::Svg => Some("--svg"),
            Form::Tree | Form::Annotated => None,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  gramjet parse my.ebnf corpus/*                         which files conform?
  gramjet parse json text.json --tree
  gramjet parse json text.json --svg -o tree.svg         the tree as a picture
  gramjet parse png image.png --annotate
  gramjet parse json text.json --choices | gramjet render json -
  gramjet parse my.ebnf corpus/* --choices -o streams/
  gramjet parse my.ebnf old.bin --repair --choices | gramjet render my.ebnf -

The exit code is 1 if a file does not conform or cannot be read; the others are done all the same.";

/// Returns the names of the output files: those of the files, with the extension of the form. Where files in several
/// directories have the same name, the later ones get a number.
fn output_names(files: &[PathBuf], extension: &str) -> Vec<PathBuf> {
    let mut taken = BTreeSet::new();
    let name_of = |file: &PathBuf| {
        let name =
            if file.as_os_str() == "-" { "stdin".into() } else { file.file_name().unwrap_or_default().to_os_string() };
        let numbered = (1..).map(|number| {
            let mut numbered = name.clone();
            if number > 1 {
                numbered.push(format!("-{number}"));
            }
            numbered.push(extension);
            PathBuf::from(numbered)
        });
        // There are more numbers than files.
        numbered.into_iter().find(|name| taken.insert(name.clone())).unwrap_or_default()
    };
    files.iter().map(name_of).collect()
}

/// Parses files.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    read_stdin_once(&args.grammar.grammar, &args.files)?;
    let folder = folder(args.output.as_deref());
    let form = args.form();
    if args.files.len() > 1 && folder.is_none() {
        args.refuse_several(form)?;
    }
    let prepared = Prepared::new(Source::load(&args.grammar)?, &args.grammar.for_texts(), &LimitArgs::default())?;
    let reader = Reader::new(args, &prepared)?;
    if let Some(folder) = folder {
        fs::create_dir_all(folder).map_err(|error| Failure::writing(folder, error))?;
    }
    let mut wrong = 0;
    let mut together = Vec::new();
    for (file, name) in args.files.iter().zip(output_names(&args.files, form.map_or("", Form::extension))) {
        match (reader.read(file), folder) {
            (None, _) => wrong += 1,
            (Some(None), _) => {}
            (Some(Some(bytes)), Some(folder)) => write_output(Some(&folder.join(name)), &bytes)?,
            (Some(Some(bytes)), None) => together.extend(bytes),
        }
    }
    if folder.is_none() && wrong < args.files.len() && form.is_some() {
        write_output(args.output.as_deref(), &together)?;
    }
    if args.form.choices && args.raw && wrong < args.files.len() {
        reader.advise(&prepared);
    }
    match (wrong, args.files.len()) {
        (0, _) => Ok(()),
        (1, 1) => Err(Failure::Nonconforming(format!("{} was not parsed", shown(&args.files[0])))),
        (wrong, all) => Err(Failure::Nonconforming(format!("{wrong} of {all} files were not parsed"))),
    }
}

/// Parses files, and makes the output of each.
struct Reader<'a> {
    args: &'a Arguments,
    compiled: &'a Compiled,
    parser: Parser,
    budget: Budget,
    recorder: Recorder,
    /// The engine under the limits that `gramjet render` begins with, where choice bytes are to be compared with it.
    engine: Option<Engine>,
}

impl<'a> Reader<'a> {
    fn new(args: &'a Arguments, prepared: &'a Prepared) -> Result<Reader<'a>, Failure> {
        let compiled = prepared.compile()?;
        let max_memory = usize::try_from(args.max_memory).unwrap_or(usize::MAX / 2);
        Ok(Reader {
            args,
            compiled,
            parser: Parser::new(&compiled.lowered),
            budget: Budget { max_memory, max_steps: args.max_steps },
            recorder: Recorder::new(compiled, &prepared.options),
            engine: args.raw.then(|| Engine::fastest(compiled, prepared.wanted())).transpose()?,
        })
    }

    /// Returns the output for a file, if there is any; `None` if it cannot be read or does not conform, which is
    /// reported.
    fn read(&self, file: &Path) -> Option<Option<Vec<u8>>> {
        let text = files::read_bytes(file).map_err(|failure| say!("gramjet: {failure}")).ok()?;
        if !self.args.needs_derivation() {
            let checked = self.parser.check(&text, &self.budget);
            return checked.map_err(|error| say!("{}", describe(file, &text, &error))).ok().map(|_| None);
        }
        let parsed = match self.args.repair {
            true => self.parser.repair(&text, &self.budget),
            false => self.parser.parse(&text, &self.budget),
        };
        let parsed = parsed.map_err(|error| say!("{}", describe(file, &text, &error))).ok()?;
        if self.args.verbose {
            report(file, &text, &parsed);
        }
        let compiled = self.compiled;
        let Some(form) = self.args.form() else { return Some(None) };
        // What is coded may be written in another way than in the file; the table shows the file.
        let is_other = self.args.repair || form != Form::Annotated && compiled.lowered.has_codes();
        let has_tree = matches!(form, Form::Tree | Form::Json | Form::Svg);
        let (trace, text) = match is_other || has_tree {
            true => trace(compiled, &parsed),
            false => (Trace::default(), text),
        };
        Some(Some(match form {
            Form::Choices if !self.args.raw => self.recorder.with_header(&parsed.choices, recorded::unlimited()),
            Form::Choices => {
                self.warn_of_limits(file, &text, &parsed.choices);
                parsed.choices
            }
            Form::Annotated => annotation::table(compiled, &parsed.choices, &text).into_bytes(),
            Form::Tree => tree::lines(compiled, &trace, &text),
            Form::Json => tree::json(compiled, &trace),
            Form::Svg => tree::svg(compiled, trace, text),
        }))
    }

    /// Reports choice bytes without a header if `gramjet render` would not make the text of them by default.
    fn warn_of_limits(&self, file: &Path, text: &[u8], choices: &[u8]) {
        let Some(engine) = &self.engine else { return };
        let mut output = Vec::new();
        engine.producer().produce(&mut Choices::replay(choices), &mut output);
        if output != text {
            say!(
                "gramjet: {} lies outside the limits that `gramjet render` keeps by itself: \
                 render it with `--max-depth none --max-len none --max-choices {}`",
                shown(file),
                choices.len()
            );
        }
    }

    /// Names the options under which choice bytes without a header mean this text.
    fn advise(&self, prepared: &Prepared) {
        if self.compiled.by_default.is_some_and(|decision| decision.is_shaped) {
            say!(
                "gramjet: the choice bytes mean this under {} alone, which `gramjet render` takes under the same limits only: leave out \
                 `--raw`, or give both commands `--shape uniform`",
                self.compiled.weights
            );
        }
        let how = &self.args.grammar.how;
        // Texts are read with another policy than inputs are generated with.
        if prepared.source.has_lexer(how) && how.reading.separator_policy.is_none() {
            let option = "--separator-policy any";
            say!("gramjet: texts of this grammar are parsed with `{option}`; `gramjet render` needs it, too");
        }
        let has_own_weights = how.shape.weights.is_none();
        if how.reading.zero_weights.is_none() && has_own_weights && self.compiled.lowered.reads_more() {
            let option = "--zero-weights keep";
            say!("gramjet: texts of this grammar are parsed with `{option}`; `gramjet render` needs it, too");
        }
    }
}

/// Returns the instances of rules that the choice bytes make, without limits, and their text.
fn trace(compiled: &Compiled, parsed: &Parsed) -> (Trace, Vec<u8>) {
    let mut trace = Trace::default();
    let mut bytes = parsed.choices.iter().copied();
    let limits = reference::Limits::default();
    let mut output = Vec::new();
    reference::run(&compiled.lowered, &compiled.pools, limits, &mut || bytes.next(), &mut output, Some(&mut trace));
    (trace, output)
}

fn report(file: &Path, text: &[u8], parsed: &Parsed) {
    say!(
        "gramjet: {} conforms: {}, {}, {}",
        shown(file),
        plural(text.len() as u64, "byte"),
        plural(parsed.choices.len() as u64, "choice byte"),
        plural(parsed.work.steps, "step")
    );
}
