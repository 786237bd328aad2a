//! The paths of a corpus, and a small part of it that has them.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use gramjet_parse::Budget;
use gramjet_session::suite::corpus::Corpus;

use crate::arguments::grammar::GrammarArgs;
use crate::arguments::limits::LimitArgs;
use crate::failure::{Failure, say};
use crate::files::{self, shown};
use crate::output::whole::write_output;
use crate::prepared::Prepared;
use crate::samples;
use crate::source::Source;
use crate::texts::describe;
use crate::units::plural;

/// At most this many paths and files are named.
const NAMED: usize = 12;
/// The index of a suite is none of its texts.
const INDEX: &str = "index.jsonl";

/// Options for a corpus.
#[derive(Debug, Args)]
#[command(next_help_heading = "Corpus")]
pub struct CorpusArgs {
    /// Report which paths of successive alternatives the files of this folder have, and which files add nothing.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with_all = ["json", "lengths", "deny", "allow", "explain"])]
    corpus: Option<PathBuf>,

    /// The greatest number of alternatives of a path.
    #[arg(long, value_name = "K", default_value_t = 2, requires = "corpus", value_parser = clap::value_parser!(u32).range(1..=16))]
    cover: u32,

    /// Copy a few files that have all paths of the corpus to this folder. None of them can be left out.
    #[arg(long, value_name = "DIR", requires = "corpus", value_hint = ValueHint::DirPath)]
    distil: Option<PathBuf>,
}

impl CorpusArgs {
    /// Returns true if a corpus is to be looked at.
    pub fn is_asked(&self) -> bool {
        self.corpus.is_some()
    }
}

/// Reports on a corpus.
pub fn run(args: &CorpusArgs, grammar: &GrammarArgs) -> Result<(), Failure> {
    let folder = args.corpus.clone().unwrap_or_default();
    if !folder.is_dir() {
        return Err(Failure::Usage(format!("`--corpus` needs a folder, and {} is none", shown(&folder))));
    }
    args.distil.as_deref().map_or(Ok(()), |out| check_distilled(out, &folder))?;
    let prepared = Prepared::new(Source::load(grammar)?, &grammar.for_texts(), &LimitArgs::default())?;
    let prepared = prepared.with_own_weights();
    let mut corpus =
        Corpus::new(prepared.compile()?, args.cover as usize).map_err(|error| Failure::Usage(error.to_string()))?;
    let mut found = samples::find(&[folder])?;
    found.retain(|file| file.file_name().is_none_or(|name| name != INDEX));
    let all = found.len();
    let files: Vec<PathBuf> = found.into_iter().filter(|file| add(&mut corpus, file)).collect();
    if files.is_empty() {
        return Err(Failure::Nonconforming(format!("none of {} conforms", plural(all as u64, "file"))));
    }
    let kept = corpus.distilled();
    write_output(None, report(&corpus, &files, all, kept.len(), args.cover).as_bytes())?;
    match &args.distil {
        Some(folder) => copy(&files, &kept, folder),
        None => Ok(()),
    }
}

/// Adds a file; returns false if it cannot be read or does not conform, which is reported.
fn add(corpus: &mut Corpus, file: &Path) -> bool {
    let text = match files::read_bytes(file) {
        Ok(text) => text,
        Err(failure) => {
            say!("gramjet: {failure}");
            return false;
        }
    };
    let added = corpus.add(&text, &Budget::default());
    added.as_ref().err().into_iter().for_each(|error| say!("{}", describe(file, &text, error)));
    added.is_ok()
}

fn report(corpus: &Corpus, files: &[PathBuf], all: usize, kept: usize, longest: u32) -> String {
    let (covered, paths, missing) = (corpus.covered(), corpus.all(), corpus.missing());
    let percent = if paths == 0 { 100.0 } else { (covered as f64 * 1000.0 / paths as f64).floor() / 10.0 };
    let steps = if longest == 1 { "1 alternative".to_string() } else { format!("up to {longest} alternatives") };
    let mut text = format!(
        "files      {} of {} conform\n\
         paths      {covered} of {paths} of {steps} ({percent:.1} %)\n",
        files.len(),
        plural(all as u64, "file"),
    );
    list(&mut text, "missing", missing.iter().map(String::as_str));
    let added = corpus.added();
    let idle = files.iter().zip(&added).filter(|(_, added)| **added == 0);
    let idle: Vec<String> = idle.map(|(file, _)| file.display().to_string().escape_debug().to_string()).collect();
    list(&mut text, "idle", idle.iter().map(String::as_str));
    text + &format!("distilled  {} have all paths of the corpus\n", plural(kept as u64, "file"))
}

/// Writes names, one a line.
fn list<'n>(text: &mut String, what: &str, names: impl ExactSizeIterator<Item = &'n str>) {
    let all = names.len();
    for (number, name) in names.take(NAMED).enumerate() {
        *text += &format!("{:10} {name}\n", if number == 0 { what } else { "" });
    }
    if all > NAMED {
        *text += &format!("{:10} and {} more\n", "", all - NAMED);
    }
}

/// Checks that files can be copied to a folder: it is new or empty, and no part of the corpus.
fn check_distilled(out: &Path, corpus: &Path) -> Result<(), Failure> {
    if fs::symlink_metadata(out).is_err() {
        return Ok(());
    }
    let is_empty = fs::read_dir(out).map_err(|source| Failure::writing(out, source))?.next().is_none();
    let place = |folder: &Path| fs::canonicalize(folder).ok();
    let is_within = place(out).zip(place(corpus)).is_some_and(|(out, corpus)| out.starts_with(corpus));
    if is_empty && !is_within {
        return Ok(());
    }
    let reason = if is_within { "is in the corpus" } else { "has files already" };
    Err(Failure::Usage(format!("{} {reason}: `--distil` needs a new or an empty folder", shown(out))))
}

/// Copies files under their own names; where several have one name, the later ones get a number. Nothing is written
/// over, and no link is followed.
fn copy(files: &[PathBuf], kept: &[usize], folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|source| Failure::writing(folder, source))?;
    let mut taken = std::collections::BTreeSet::new();
    for &number in kept {
        let name = files[number].file_name().unwrap_or_default().to_string_lossy().into_owned();
        let numbered = (1..).map(|count| if count == 1 { name.clone() } else { format!("{count}-{name}") });
        // There are more numbers than files.
        let name = numbered.into_iter().find(|name| taken.insert(name.clone())).unwrap_or_default();
        let to = folder.join(name);
        let text = files::read_bytes(&files[number])?;
        let file = fs::OpenOptions::new().write(true).create_new(true).open(&to);
        file.and_then(|mut file| file.write_all(&text)).map_err(|source| Failure::writing(&to, source))?;
    }
    Ok(())
}
