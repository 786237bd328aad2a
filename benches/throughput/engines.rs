//! The subjects and, for each, the engines that compete: those built with the benchmark and those made from the grammar
//! when it runs.

use gramjet_benches::candidate::{Candidate, replaying, textbook};
use gramjet_benches::textbook::flat::Flat;
use gramjet_benches::textbook::mean::mean_lengths;
use gramjet_compiler::{Diagnostics, Options, SourceFile, compile, formats};
use gramjet_engine::reference::Reference;
use gramjet_engine::vm::Vm;

include!(concat!(env!("OUT_DIR"), "/producers.rs"));

/// A grammar that is measured.
pub struct Subject {
    /// The name in the table.
    pub name: &'static str,
    file_name: &'static str,
    text: &'static str,
    /// The engines that the build script has made, the textbook producer first.
    built: &'static [fn(u32) -> Result<Box<dyn Candidate>, String>],
}

impl Subject {
    fn file(&self) -> SourceFile {
        SourceFile::new(self.file_name, self.text)
    }

    /// Depth limits with the exact mean length in bytes of the textbook producer's outputs.
    pub fn mean_lengths(&self, max_depths: &[u32]) -> Result<Vec<(u32, f64)>, String> {
        let file = self.file();
        let mut diagnostics = Diagnostics::default();
        let flat = Flat::new(&formats::detect(&file).parse(&file, &mut diagnostics))?;
        Ok(max_depths.iter().copied().zip(mean_lengths(&flat, max_depths)).collect())
    }
}

/// The candidates for a subject under a depth limit, the textbook producer first. What cannot be made is reported.
pub fn candidates(subject: &Subject, max_depth: u32, names: &[String]) -> Vec<Box<dyn Candidate>> {
    let mut made: Vec<Result<Box<dyn Candidate>, String>> = subject.built.iter().map(|make| make(max_depth)).collect();
    let file = subject.file();
    match compile(&file, &Options::default()) {
        Ok((compiled, _)) => {
            made.push(Vm::new(&compiled).map_err(|error| error.to_string()).and_then(|vm| replaying("vm", max_depth, vm)));
            made.push(replaying("reference", max_depth, Reference::new(&compiled)));
        }
        Err(diagnostics) => made.push(Err(diagnostics.to_plain_text(&file))),
    }
    let mut candidates = Vec::new();
    for made in made {
        match made {
            Ok(candidate) => {
                let name = candidate.name();
                if names.is_empty() || name == "textbook" || names.iter().any(|wanted| wanted == name) {
                    candidates.push(candidate);
                }
            }
            Err(problem) => eprintln!("{}: {problem}", subject.name),
        }
    }
    candidates
}
