//! The subjects and, for each, the engines that compete: those built with the benchmark and those made from the grammar
//! when it runs.

use std::path::Path;

use gramjet::Limits;
use gramjet_benches::candidate::{Candidate, in_bulk, replaying, textbook};
use gramjet_benches::remote::{self, Remote};
use gramjet_benches::textbook::flat::Flat;
use gramjet_benches::textbook::mean::mean_lengths;
use gramjet_compiler::{Diagnostics, Options, SourceFile, compile, formats};
use gramjet_engine::EngineKind;
use gramjet_engine::bulk::{Bulk, Effort, Framing};

include!(concat!(env!("OUT_DIR"), "/producers.rs"));

/// Makes a candidate for a depth limit.
type Make = fn(u32) -> Result<Box<dyn Candidate>, String>;

/// A grammar that is measured.
pub struct Subject {
    /// The name in the table.
    pub name: &'static str,
    path: &'static str,
    text: &'static str,
    /// The engines that the build script has made, the textbook producer first.
    built: &'static [Make],
}

impl Subject {
    fn file(&self) -> SourceFile {
        SourceFile::new(self.path, self.text)
    }

    /// Returns depth limits with the exact mean length in bytes of the textbook producer's outputs.
    pub fn mean_lengths(&self, max_depths: &[u32]) -> Result<Vec<(u32, f64)>, String> {
        let file = self.file();
        let mut diagnostics = Diagnostics::default();
        let flat = Flat::new(&formats::detect(&file).parse(&file, &mut diagnostics))?;
        Ok(max_depths.iter().copied().zip(mean_lengths(&flat, max_depths)).collect())
    }
}

/// Returns the candidates for a subject under a depth limit, the textbook producer first. Candidates that cannot be
/// made are reported.
pub fn candidates(subject: &Subject, max_depth: u32) -> Vec<Box<dyn Candidate>> {
    let mut made: Vec<Result<Box<dyn Candidate>, String>> = subject.built.iter().map(|make| make(max_depth)).collect();
    let file = subject.file();
    match compile(&file, &Options::default()) {
        Ok((compiled, _)) => {
            let limits = Limits::new().max_depth(max_depth);
            let bulk = Bulk::new(&compiled, limits, Framing::default(), Effort::default());
            made.push(bulk.map(in_bulk).map_err(|refusal| refusal.to_string()));
            for kind in EngineKind::ALL.into_iter().filter(|kind| *kind != EngineKind::Auto && kind.is_available()) {
                let engine = kind.make(&compiled).map_err(|refusal| refusal.to_string());
                made.push(engine.and_then(|engine| replaying(kind.name(), max_depth, engine)));
            }
        }
        Err(diagnostics) => made.push(Err(diagnostics.to_plain_text(&file))),
    }
    made.into_iter().filter_map(|made| reported(subject, made)).collect()
}

/// Returns the rivals that can use a subject.
pub fn rivals(subject: &Subject, max_depth: u32, program: &Path) -> Vec<Box<dyn Candidate>> {
    let start = |name: &'static str| {
        let remote = Remote::start(program, name, Path::new(subject.path), max_depth);
        remote.map(|remote| Box::new(remote) as Box<dyn Candidate>).map_err(|error| error.to_string())
    };
    remote::NAMES.into_iter().filter_map(|name| reported(subject, start(name))).collect()
}

fn reported<T>(subject: &Subject, made: Result<T, String>) -> Option<T> {
    made.inspect_err(|problem| eprintln!("{}: {problem}", subject.name)).ok()
}
