//! Writes the producers that the benchmarks run: per grammar the textbook producer and the Rust backend's.
//!
//! `GRAMJET_SUBJECTS` names a folder with the subjects of the published comparison; without it, and without the default
//! folder, they are left out. `GRAMJET_BENCH_GRAMMARS` names the grammars to build, separated by commas, instead of
//! all, or of expr alone in a build for tests.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use gramjet_compiler::ast::Grammar;
use gramjet_compiler::backend::rust::{self, EmitOptions};
use gramjet_compiler::{Diagnostics, Options, SourceFile, compile, formats};

// The build script uses half of it, the package the other half.
#[allow(dead_code)]
#[path = "src/textbook/mod.rs"]
mod textbook;

/// The shipped grammars that are measured.
const GRAMMARS: [&str; 4] = ["expr", "json", "html", "css"];

/// Safe producers with a longer text in bytes are left out: the price of safety shows on the others, and these take
/// minutes to compile.
const MAX_SAFE_TEXT: usize = 1 << 20;

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("..");
    println!("cargo::rerun-if-env-changed=GRAMJET_SUBJECTS");
    println!("cargo::rerun-if-env-changed=GRAMJET_BENCH_GRAMMARS");
    // Producers take long to compile; tests look at one.
    let is_for_tests = env::var("PROFILE").is_ok_and(|profile| profile == "debug");
    let wanted = env::var("GRAMJET_BENCH_GRAMMARS").ok().or(is_for_tests.then(|| "expr".to_string()));
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|wanted| wanted.split(',').any(|wanted| wanted == name));
    let subjects = env::var_os("GRAMJET_SUBJECTS").map_or(root.join("../shared/grammars"), |path| root.join(path));
    let shipped = GRAMMARS.iter().map(|name| (name.to_string(), root.join(format!("grammars/{name}.ebnf"))));
    let papers = GRAMMARS.iter().map(|name| (format!("paper-{name}"), subjects.join(format!("{name}.json"))));

    let mut build = Build { modules: String::new(), table: String::new() };
    for (name, path) in shipped.chain(papers) {
        println!("cargo::rerun-if-changed={}", path.display());
        if path.exists() && is_wanted(&name) {
            build.add(&name, &path)?;
        }
    }
    let text = format!(
        "{}\n/// Every grammar that is measured.\npub static SUBJECTS: &[Subject] = &[\n{}];\n",
        build.modules, build.table
    );
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("producers.rs"), text)?;
    let small = "src/textbook/small.ebnf";
    println!("cargo::rerun-if-changed={small}");
    let grammar = parsed(&SourceFile::new(small, fs::read_to_string(small)?)).map_err(io::Error::other)?;
    fs::write(out.join("small.rs"), textbook::emit(&grammar, "small").map_err(io::Error::other)?)
}

/// The text of `producers.rs`: modules of producers, and the members of the table of subjects.
struct Build {
    modules: String,
    table: String,
}

impl Build {
    fn add(&mut self, name: &str, path: &Path) -> io::Result<()> {
        let path = path.canonicalize()?;
        let path = path.display().to_string();
        let file = SourceFile::new(path.clone(), fs::read_to_string(&path)?);
        let module = name.replace('-', "_");
        let engines =
            [textbook_engine(&file, &module), rust_engine(&file, &module, false), rust_engine(&file, &module, true)];
        // Writing to a String cannot fail.
        let _ = writeln!(self.table, "    Subject {{\n        name: {name:?},\n        path: {path:?},");
        let _ = writeln!(self.table, "        text: include_str!({path:?}),");
        let _ = writeln!(self.table, "        built: &[");
        for engine in engines {
            match engine {
                Ok(Some((module, constructor))) => {
                    self.modules.push_str(&module);
                    let _ = writeln!(self.table, "            {constructor},");
                }
                Ok(None) => {}
                Err(problem) => println!("cargo::warning={name}: {problem}"),
            }
        }
        let _ = writeln!(self.table, "        ],\n    }},");
        Ok(())
    }
}

/// A module and an expression of type `fn(max_depth: u32) -> Result<Box<dyn Candidate>, String>`.
type Engine = Result<Option<(String, String)>, String>;

fn textbook_engine(file: &SourceFile, module: &str) -> Engine {
    let module = format!("textbook_{module}");
    let text = textbook::emit(&parsed(file)?, &module)?;
    Ok(Some((text, format!("|depth| Ok(textbook(depth, {module}::produce))"))))
}

/// The depth limit that is measured for which a producer with this limit as its default is emitted, too: it is small
/// enough to be unfolded.
const STATED_DEPTH: u32 = 8;

/// Returns the Rust backend's producer, with or without unsafe code.
fn rust_engine(file: &SourceFile, module: &str, forbid_unsafe: bool) -> Engine {
    let (name, module) =
        if forbid_unsafe { ("rust-safe", format!("rust_safe_{module}")) } else { ("rust", format!("rust_{module}")) };
    let compiled = compile(file, &Options::default());
    let (compiled, _) = compiled.map_err(|diagnostics| one_line(&diagnostics, file))?;
    let emit = |max_depth| rust::emit(&compiled, &EmitOptions { forbid_unsafe, max_depth, ..EmitOptions::default() });
    let (text, stated) = (emit(None), emit(Some(STATED_DEPTH)));
    if forbid_unsafe && text.len() > MAX_SAFE_TEXT {
        return Ok(None);
    }
    let lints = if forbid_unsafe {
        "#[forbid(unsafe_code)]\n#[allow(dead_code, missing_docs)]"
    } else {
        "#[allow(dead_code, missing_docs)]"
    };
    let mut modules = format!("{lints}\npub mod {module} {{\n{text}\n}}\n");
    let mut make = format!("replaying({name:?}, depth, {module}::Producer::new())");
    if stated.contains("mod unfolded") {
        let _ = writeln!(modules, "{lints}\npub mod {module}_stated {{\n{stated}\n}}");
        make = format!(
            "match depth {{ {STATED_DEPTH} => replaying({name:?}, depth, {module}_stated::Producer::new()), _ => {make} }}"
        );
    }
    Ok(Some((modules, format!("|depth| {make}"))))
}

fn parsed(file: &SourceFile) -> Result<Grammar, String> {
    let mut diagnostics = Diagnostics::default();
    let grammar = formats::detect(file).parse(file, &mut diagnostics);
    if diagnostics.has_errors() { Err(one_line(&diagnostics, file)) } else { Ok(grammar) }
}

fn one_line(diagnostics: &Diagnostics, file: &SourceFile) -> String {
    diagnostics.to_plain_text(file).replace('\n', " ")
}
