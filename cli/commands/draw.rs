//! `gramjet draw`: railroad diagrams of a grammar, the graph of its rules, and sample inputs with their trees.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};
use gramjet_compiler::Diagnostics;
use gramjet_compiler::ast::Grammar;
use gramjet_compiler::reference::Instance;
use gramjet_parse::Budget;

use crate::arguments::grammar::GrammarArgs;
use crate::arguments::limits::LimitArgs;
use crate::draw::{Drawing, MOST_RULES, Rules, TooLarge, Usage, samples};
use crate::failure::{Failure, quoted, say};
use crate::output::whole::write_output;
use crate::prepared::Prepared;
use crate::report;
use crate::samples::{self as files, Reading};
use crate::source::Source;
use crate::units::{self, plural};

/// Draw the rules of a grammar as railroad diagrams.
///
/// The page has the diagrams, the graph of the rules, and sample inputs with their trees. It is one HTML file that
/// needs neither scripts nor a network.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    grammar: GrammarArgs,

    /// The rules to draw; all by default.
    #[arg(value_name = "RULE")]
    rules: Vec<String>,

    /// Draw also the rules that the named ones refer to, directly or through others.
    #[arg(long, requires = "rules")]
    reach: bool,

    /// Write to this file; its extension (.html or .svg) says what is drawn.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Draw a page or diagrams alone, whatever the extension. Without an output file, one rule is drawn as SVG, and
    /// several as a page.
    #[arg(long, value_enum, value_name = "FORM")]
    to: Option<Form>,

    /// Show the weights of alternatives. A page has a check box for them, too.
    #[arg(long)]
    show_weights: bool,

    /// Show this number of sample inputs with their trees; by default 4 if all rules are drawn, otherwise none.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=100))]
    samples: Option<u16>,

    /// Seed of the sample inputs.
    #[arg(long, value_name = "SEED", default_value = "0", value_parser = units::parse_seed)]
    seed: u64,

    /// Mark the alternatives that the files of this folder never use; may be a file, and may be given several times.
    #[arg(long, value_name = "DIR|FILE", value_hint = ValueHint::AnyPath)]
    corpus: Vec<PathBuf>,
}

/// Forms of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A page with diagrams, the graph of the rules, and samples.
    Html,
    /// Diagrams alone.
    Svg,
}

const EXAMPLES: &str = "\
Examples:
  gramjet draw my.ebnf -o my.html                      all rules, their graph, and samples
  gramjet draw json value -o value.svg                 one rule
  gramjet draw json object --reach --to html > object.html
  gramjet draw json --corpus texts/ -o json.html       which alternatives do the texts never use?

Exit status: 0 if the drawing is written; 1 if no file of the corpus conforms to the grammar; 2 if the arguments or the
grammar cannot be used.";

/// Draws.
pub fn run(args: &Arguments) -> Result<(), Failure> {
    let shape = &args.grammar.how.shape;
    if shape.shape.is_some() || shape.weights.is_some() {
        return Err(Failure::Usage(
            "a grammar is drawn with its own weights: leave out `--shape` and `--weights`".into(),
        ));
    }
    let source = Source::load(&args.grammar)?;
    // Texts of a corpus are read as `gramjet parse` reads them.
    let grammar = if args.corpus.is_empty() { args.grammar.clone() } else { args.grammar.for_texts() };
    let prepared = Prepared::new(source, &grammar, &LimitArgs::default())?.with_own_weights();
    let read = read(&prepared)?;
    let rules = Rules::new(&read);
    let shown = shown(args, &rules)?;
    let form = form(args, shown.len())?;
    if matches!(form, Form::Svg) && args.samples.is_some_and(|samples| samples > 0) {
        return Err(Failure::Usage("samples are on pages alone: use `--to html`, or leave out `--samples`".into()));
    }
    let usage = usage(args, &prepared, &rules)?;
    let usage = usage.as_ref().map(|(usage, corpus)| (usage, corpus.clone()));
    let drawing = Drawing { rules: &rules, shown: &shown, usage, has_weights: args.show_weights };
    let text = match form {
        Form::Svg => drawing.svg(),
        Form::Html => {
            let title = title(&prepared);
            drawing.html(&title, &sample_trees(args, &prepared, &drawing)?)
        }
    };
    let text = text.map_err(|TooLarge| {
        Failure::Usage("the drawing would have more than 64 MiB: name the rules to draw".to_string())
    })?;
    write_output(args.output.as_deref(), text.as_bytes())
}

/// Returns the grammar as it is written. Prints the warnings.
fn read(prepared: &Prepared) -> Result<Grammar, Failure> {
    let mut diagnostics = Diagnostics::default();
    let grammar = prepared.read(&mut diagnostics);
    diagnostics.sort();
    if diagnostics.has_errors() {
        return Err(prepared.refuse(&diagnostics));
    }
    report::print(&prepared.source.file, &diagnostics);
    Ok(grammar)
}

/// Returns the rules that are drawn, by number, ascending.
fn shown(args: &Arguments, rules: &Rules<'_>) -> Result<Vec<usize>, Failure> {
    let named: Result<BTreeSet<usize>, Failure> = args.rules.iter().map(|name| number(name, rules)).collect();
    let named: Vec<usize> = named?.into_iter().collect();
    let shown = match (named.is_empty(), args.reach) {
        (true, _) => (0..rules.count()).collect(),
        (false, false) => named,
        (false, true) => rules.reached_from(&named),
    };
    if shown.len() > MOST_RULES {
        let count = shown.len();
        let advice = match named_only(args) {
            true => "name fewer rules",
            false => "name the rules to draw, such as `gramjet draw GRAMMAR RULE`, without `--reach`",
        };
        return Err(Failure::Usage(format!(
            "{count} rules are too many for a drawing, at most {MOST_RULES} are: {advice}"
        )));
    }
    Ok(shown)
}

/// Returns true if just the rules are drawn that the arguments name.
fn named_only(args: &Arguments) -> bool {
    !args.rules.is_empty() && !args.reach
}

fn number(name: &str, rules: &Rules<'_>) -> Result<usize, Failure> {
    let inner = name.strip_prefix('<').and_then(|name| name.strip_suffix('>')).unwrap_or(name);
    rules.number(name).or_else(|| rules.number(inner)).ok_or_else(|| {
        let similar: Vec<String> = similar(rules, name).into_iter().map(quoted).collect();
        let similar = match similar.is_empty() {
            true => String::new(),
            false => format!("; did you mean {}?", similar.join(" or ")),
        };
        Failure::Usage(format!("the grammar has no rule {}{similar}", quoted(name)))
    })
}

/// Returns the names of rules that are most like a name.
fn similar<'g>(rules: &Rules<'g>, name: &str) -> Vec<&'g str> {
    let score = |known: &&str| (strsim::jaro_winkler(name, known) * 1000.0) as u32;
    let mut known: Vec<&str> = rules.names().collect();
    known.sort_by_key(|known| std::cmp::Reverse(score(known)));
    known.into_iter().take(3).filter(|known| score(known) > 800).collect()
}

/// Returns the form that is asked for: by name, by the extension of the output, or by the number of rules.
fn form(args: &Arguments, rules: usize) -> Result<Form, Failure> {
    let path = args.output.as_deref().filter(|path| path.as_os_str() != "-");
    match (args.to, path) {
        (Some(form), _) => Ok(form),
        // Samples are on pages alone.
        (None, None) => Ok(if rules == 1 && args.samples.is_none() { Form::Svg } else { Form::Html }),
        (None, Some(path)) => by_extension(path),
    }
}

fn by_extension(path: &Path) -> Result<Form, Failure> {
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase());
    match extension.as_deref() {
        Some("html" | "htm") => Ok(Form::Html),
        Some("svg") => Ok(Form::Svg),
        _ => Err(Failure::Usage(format!(
            "the extension of {} is neither .html nor .svg; ask for one with `--to`",
            quoted(path)
        ))),
    }
}

/// Returns what the corpus uses, and its description.
fn usage(args: &Arguments, prepared: &Prepared, rules: &Rules<'_>) -> Result<Option<(Usage, String)>, Failure> {
    if args.corpus.is_empty() {
        return Ok(None);
    }
    let texts = files::find(&args.corpus)?;
    let compiled = prepared.compile()?;
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let found = files::count(compiled, &texts, &Reading { budget: Budget::default(), jobs, is_strict: false })?;
    let (conform, all) = (found.parsed.0, plural(texts.len() as u64, "file"));
    if conform == 0 {
        return Err(Failure::Nonconforming(format!("nothing is drawn: none of {all} conforms to the grammar")));
    }
    let usage = Usage::new(rules, compiled, &found.counts);
    let (used, alternatives) = usage.totals();
    say!("gramjet: {conform} of {all} use {used} of {}", plural(alternatives as u64, "alternative"));
    Ok(Some((usage, plural(conform, "file"))))
}

/// Returns samples with their trees, as HTML.
fn sample_trees(args: &Arguments, prepared: &Prepared, drawing: &Drawing<'_>) -> Result<String, Failure> {
    let count = usize::from(args.samples.unwrap_or(if args.rules.is_empty() { 4 } else { 0 }));
    if count == 0 {
        return Ok(String::new());
    }
    let compiled = match prepared.compiled() {
        Ok(compiled) => compiled,
        // The diagrams show what the grammar says all the same.
        Err(failure) if args.samples.is_none() => {
            say!("gramjet: there are no samples: {failure}");
            return Ok(String::new());
        }
        Err(failure) => return Err(failure),
    };
    let depth = prepared.wanted().limits().depth().filter(|_| compiled.rule_without_pool().is_none());
    let number = |instance: &Instance| drawing.rules.number(&compiled.lowered.rule(instance.rule).name);
    let (name, link) = (|rule| drawing.name(rule), |rule| drawing.link(rule));
    let samples = samples::samples(compiled, depth, count, args.seed);
    Ok(samples.iter().map(|sample| samples::html(sample, &number, &name, &link)).collect())
}

fn title(prepared: &Prepared) -> String {
    let name = prepared.source.file.name();
    let name = name.strip_prefix('<').and_then(|name| name.strip_suffix('>')).unwrap_or(name);
    let name = Path::new(name).file_name().map_or(name.into(), |name| name.to_string_lossy());
    format!("Grammar {name}")
}
