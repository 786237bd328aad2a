//! A grammar that is known at run time only: `run_time [FILE]` prints ten inputs, of a small grammar if no file is
//! named.

use std::io::Write;

use gramjet::{Inputs, Limits, Producer};
use gramjet_compiler::SourceFile;
use gramjet_engine::Grammar;

const LISTS: &str = "list ::= '[' (item (', ' item)*)? ']'
item ::= [0-9]{1,3} | list @ 0.5";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    run(std::env::args().nth(1), &mut std::io::stdout().lock())
}

/// Writes ten inputs of the grammar file, a line each.
pub fn run(path: Option<String>, output: &mut dyn Write) -> Result<(), Box<dyn std::error::Error>> {
    let mut producer = match path {
        Some(path) => Grammar::compile_file(&SourceFile::new(path.clone(), std::fs::read_to_string(path)?), None)?,
        None => Grammar::compile(LISTS)?,
    };
    eprintln!("engine {}", producer.name());
    producer.set_limits(Limits::new().max_depth(8).max_len(producer.min_len() + 60))?;
    for input in Inputs::new(producer, 1).take(10) {
        output.write_all(&input)?;
        output.write_all(b"\n")?;
    }
    Ok(())
}
